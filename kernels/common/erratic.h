// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/report.h"
#include "core/run.h"

// Erratic noise: bursts and spikes on single traces. A piece of 16 samples of a trace is erratic
// when its energy is above `erratic`^2 times that of most of its neighbours, the traces within two
// inlines and crosslines (the strongest of the three pieces of a neighbour that lie above, beside
// and below counts, so that dipping events are not taken for bursts).
//
// Erratic pieces and missing traces read as guesses of their surroundings (kernels/common/gaps.h):
// holes would spread every event over all coefficients of a window.
//
// Pieces are anchored to the survey and depend on no more than LITHO_ERRATIC_TRACES and
// LITHO_ERRATIC_SAMPLES around them.

enum {
    LITHO_ERRATIC_PIECE = 16,
    LITHO_ERRATIC_TRACES = 2,
    LITHO_ERRATIC_SAMPLES = 3 * LITHO_ERRATIC_PIECE
};

// The input with guesses for its erratic pieces and missing traces, kept for the next pass with it.
typedef struct LithoClean {
    LithoCube *cube;       // NULL: nothing is erratic, no trace is missing
    guint64 serial;        // of the input it was made from; 0 = none
    double erratic;        // the parameter it was made with
    gint64 pieces, traces; // erratic ones
} LithoClean;

// Gives the cube that is to be filtered: `in` itself, which has host samples, when no piece is
// erratic and no trace is missing, else clean->cube, whose live traces that `in` has not are
// guesses. `erratic` is a ratio of amplitudes, 0 = no piece is. Borrowed. NULL: cancelled, or no
// memory.
const LithoCube *litho_clean(LithoClean *clean, double erratic, const LithoCube *in, LithoRun *run,
                             GError **error);
void litho_clean_clear(LithoClean *clean);
void litho_clean_report(const LithoClean *clean, const LithoCube *in, LithoReport *report);
