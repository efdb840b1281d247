// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/patch/patch.h"

// Erratic noise: bursts and spikes on single traces. A piece of 16 samples of a trace is erratic
// when its energy is above `erratic`^2 times that of most of its neighbours, the traces within two
// inlines and crosslines (the strongest of the three pieces of a neighbour that lie above, beside
// and below counts, so that dipping events are not taken for bursts).
//
// Erratic pieces and missing traces read as guesses of their surroundings (kernels/common/gaps.h):
// holes would spread every event over all coefficients of a window.
//
// Pieces are anchored to the survey and depend on no more than LITHO_PATCH_ERRATIC_TRACES and
// LITHO_PATCH_ERRATIC_SAMPLES around them.

enum {
    LITHO_PATCH_PIECE = 16,
    LITHO_PATCH_ERRATIC_TRACES = 2,
    LITHO_PATCH_ERRATIC_SAMPLES = 3 * LITHO_PATCH_PIECE
};

// The input with guesses for its erratic pieces and missing traces, kept for the next pass with it.
typedef struct PatchClean {
    LithoCube *cube;       // NULL: nothing is erratic, no trace is missing
    guint64 serial;        // of the input it was made from; 0 = none
    double erratic;        // the parameter it was made with
    gint64 pieces, traces; // erratic ones
} PatchClean;

// Gives the cube that is to be filtered: `in` itself when no piece is erratic and no trace is
// missing, and in mode=fill, else clean->cube, whose live traces that `in` has not are guesses.
// Borrowed. NULL: cancelled, or no memory. `in` has host samples where patch_clean_reads() is TRUE.
const LithoCube *patch_clean(PatchClean *clean, const LithoPatchParams *params, const LithoCube *in,
                             LithoRun *run, GError **error);
// TRUE when patch_clean() looks at the samples.
gboolean patch_clean_reads(const LithoPatchParams *params, const LithoCube *in);
void patch_clean_clear(PatchClean *clean);
void patch_clean_report(const PatchClean *clean, const LithoCube *in, LithoReport *report);
