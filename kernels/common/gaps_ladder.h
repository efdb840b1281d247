// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Thresholds of a pair of windows, pass by pass. Where little is missing a few passes give as good
// a guess as many; where half is missing, 28 passes are worth 0.5 to 1.8 dB of what a filter makes
// of the survey with 10; where three quarters are, 84 are worth 2 dB of what filling makes of clean
// events with 28. Plain types: the device's code reads the table, too.

enum { LITHO_GAPS_LADDERS = 6, LITHO_GAPS_MOST_PASSES = 84 };

typedef struct LithoGapsLadder {
    int above; // of a thousand samples of the pair that are held, more are missing
    int passes;
    float share[LITHO_GAPS_MOST_PASSES]; // of the largest |F|^2: the threshold
} LithoGapsLadder;

// Where gaps are regular, as where every second line is missing, an event and its images at other
// wavenumbers are alike, and all or none of them pass a threshold: the guess is zero. So thresholds
// rise with the wavenumber there, by so many times the square of its share of Nyquist on each axis,
// at first; in the last pass they do not: an event of little dip passes before its images. Plane
// and curved events at 10 dB with every second line missing: fx fills 18 dB, and packets gain 2 dB.
#define LITHO_GAPS_FLAT 10.0f
// LITHO_GAPS_FLAT with LithoGapsRule.faint: enough that traces are not zero.
#define LITHO_GAPS_FAINT 0.05f
// The part of LITHO_GAPS_FLAT that a pass has.
#define LITHO_GAPS_LEFT(pass, passes) (1 - (float)(pass) / (float)((passes)-1))
// Passes that measure the noise, from the median of |F|^2; it holds until the next one.
#define LITHO_GAPS_MEASURES(pass, passes) ((pass) == (passes) / 2 || (pass) == (passes)-2)
// The ladder for a pair with so many missing samples among those that are held, by number; ladders
// stand in the order of `above`, the first of which is 0.
#define LITHO_GAPS_LADDER(number, ladders, missing, held)                                          \
    for ((number) = LITHO_GAPS_LADDERS - 1;                                                        \
         (number) > 0 && 1000 * (missing) <= (ladders)[number].above * (held); (number)--) {       \
    }
