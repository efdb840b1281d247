// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/common/gaps.h"
#include "kernels/common/gaps_ladder.h"

// Where windows of guesses stand, and how much they weigh: worked out from the live traces alone,
// once for both backends.
//
// A column is all windows at one place of the inline and crossline axes. Columns of one colour
// share no trace; colours take turns, so that sums have one order on any number of threads. Columns
// and pairs of windows are numbered in the survey, not in the box.

//
// Windows go in pairs, half a window apart in time: real and imaginary part of one transform. The
// more of a pair is missing, the more passes it takes (kernels/common/gaps_ladder.h).

enum { LITHO_GAPS_COLOURS = 4 };

typedef struct LithoGapsColumn {
    gint64 at[2];   // its first traces
    gint64 regular; // 1: its gaps are regular
} LithoGapsColumn;

typedef struct LithoGapsPlan {
    LithoBox held;
    gboolean line[3]; // an axis of one trace is one window, in which that trace stands everywhere
    gint64 first_pair, pairs;
    float taper[3][LITHO_GAPS_WINDOW];
    LithoGapsLadder ladders[LITHO_GAPS_LADDERS];
    gboolean regular; // gaps of a column are
    float flat;       // LITHO_GAPS_FLAT or LITHO_GAPS_FAINT
    float noise;     // a threshold is at least so many times the noise's mean |F|^2
    guint8 *live;    // per trace of `held`, before guesses are put in
    float *scale;    // per trace: 1 / the sum of its windows' weights, 0 = no guess
    GArray *columns; // of LithoGapsColumn that have something to guess
    guint colour[LITHO_GAPS_COLOURS + 1]; // the first column of each, and their number
    double passes;                        // of all columns, as far as missing traces tell
} LithoGapsPlan;

// `pieces`: samples of live traces are missing, too. LITHO_ERROR_MEMORY.
gboolean litho_gaps_plan(LithoGapsPlan *plan, const LithoCube *cube, gboolean pieces,
                         LithoGapsRule rule, GError **error);
// Flops of all transforms.
double litho_gaps_flops(const LithoGapsPlan *plan);
void litho_gaps_plan_clear(LithoGapsPlan *plan);

// First sample of window `part` (0, 1) of a pair.
gint64 litho_gaps_start(const LithoGapsPlan *plan, gint64 pair, int part);
// Trace k of 256 of a column; FALSE where `held` has none. `again`: an axis of one trace repeats it
// there.
gboolean litho_gaps_trace(const LithoGapsPlan *plan, const LithoGapsColumn *column, int k,
                          gint64 *trace, gboolean *again);
