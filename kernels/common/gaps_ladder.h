// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Thresholds of a pair of windows, pass by pass. Where little is missing a few passes give as good
// a guess as many; where half is missing, 28 passes are worth 0.5 to 1.8 dB of what a filter makes
// of the survey with 10. Plain types: the device's code reads the table, too.

enum { LITHO_GAPS_LADDERS = 5, LITHO_GAPS_MOST_PASSES = 28 };

typedef struct LithoGapsLadder {
    int above; // of a thousand samples of the pair that are held, more are missing
    int passes;
    float share[LITHO_GAPS_MOST_PASSES]; // of the largest |F|^2: the threshold
} LithoGapsLadder;

// Passes that measure the noise, from the median of |F|^2; it holds until the next one.
#define LITHO_GAPS_MEASURES(pass, passes) ((pass) == (passes) / 2 || (pass) == (passes)-2)
// The ladder for a pair with so many missing samples among those that are held, by number; ladders
// stand in the order of `above`, the first of which is 0.
#define LITHO_GAPS_LADDER(number, ladders, missing, held)                                          \
    for ((number) = LITHO_GAPS_LADDERS - 1;                                                        \
         (number) > 0 && 1000 * (missing) <= (ladders)[number].above * (held); (number)--) {       \
    }
