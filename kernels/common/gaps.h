// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"
#include "core/run.h"

// Guesses for missing samples, so that local spectra hold the events and not the holes.
//
// A window with missing traces spreads every event over all wavenumbers: a noise level measured
// there is too high, and a threshold removes signal with the noise. A guess need not be good to
// mend that: each window of 16 x 16 traces and 16 samples by itself repeats "transform, keep the
// coefficients above a threshold, transform back, put the recorded samples in again" with a falling
// threshold (projection onto convex sets, Abma & Kabir 2006, doi:10.1190/1.2356088) that ends at
// the noise; half-overlapping windows are added with weights whose sum is one.
//
// Windows are anchored to the survey: a guess depends on no sample further away than
// LITHO_GAPS_TRACES and LITHO_GAPS_SAMPLES, and neither on the box that is held nor on threads.

enum {
    LITHO_GAPS_WINDOW = 16,
    LITHO_GAPS_TRACES = LITHO_GAPS_WINDOW - 1,      // reach of a guess across traces
    LITHO_GAPS_SAMPLES = 3 * LITHO_GAPS_WINDOW / 2, // and along them: windows go in pairs
};

// Samples of live traces that count as missing too: pieces of `length` samples, anchored to sample
// 0 of the survey. `bad[trace * pieces + k]` tells of piece first + k of a trace of cube->held.
typedef struct LithoGapPieces {
    const guint8 *bad;
    gint64 first, pieces;
    int length;
    gboolean alone; // guesses of missing traces are not asked for: where no piece is bad they stay
                    // zero
} LithoGapPieces;

// TRUE where `box`, which the cube holds, has both live and missing traces.
gboolean litho_gaps_any(const LithoCube *cube, LithoBox box);

// Choices; those of zeros suit most.
typedef struct LithoGapsRule {
    int one_in; // a window is guessed in where one in so many of its traces is live; 0 = where one
    gboolean faint;    // regular gaps take next to nothing, see LITHO_GAPS_FLAT
    gboolean *regular; // takes TRUE where there are such gaps, FALSE where not; NULL = is not told
} LithoGapsRule;

// Puts guesses into `cube` (host samples, the caller's own copy), in place of its missing traces
// and of the `pieces` (NULL = none); such traces become live. Traces too far from live ones stay as
// they are. LITHO_ERROR_MEMORY, LITHO_ERROR_CANCELLED; the cube's samples are of no use then.
gboolean litho_gaps_guess(LithoCube *cube, const LithoGapPieces *pieces, LithoGapsRule rule,
                          LithoRun *run, GError **error);
// Filling of missing traces alone, with a threshold that ends higher, at four standard deviations
// of the noise: next to no noise passes. A coefficient of the noise that passes is fitted to the
// recorded samples, and the others seem 0.1 to 0.5 % too weak; weak events matter less to a level
// than to a filter.
gboolean litho_gaps_guess_events(LithoCube *cube, LithoRun *run, GError **error);
