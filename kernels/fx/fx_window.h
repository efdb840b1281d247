// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/fx/fx_lanes.h"

// One spatial window, one time window, sixteen bins: what there is to filter.
typedef struct FxWindow {
    const LithoFxParams *params;
    int n_il, n_xl;         // of the survey
    FxRect held;            // traces that `spectra` and `present` cover, survey indices
    FxRect window;          // traces to predict, survey indices
    const FxC *spectra;     // held traces row by row; zero where absent
    const uint8_t *present; // 1 = recorded, 0 = absent
    FxC *out;               // traces of the window row by row: prediction (mute) or prediction minus
                            // input (pass); at absent traces the prediction
} FxWindow;

typedef struct FxCounts {
    int systems;   // bins that held anything and had a filter designed
    int fallbacks; // systems that CG or Jacobi gave up and Cholesky solved
    int failed;    // systems that had no solution; their bins pass unchanged
    int empty;     // 1 = the window has too few traces for any filter and passes unchanged
    double flops;  // real operations spent, lanes without data not counted
} FxCounts;

// Thread-private memory for windows of up to length_il x length_xl traces and a half width.
typedef struct FxScratch {
    void *memory; // one block, everything below points into it
    FxC *tile, *guess, *cov, *rows, *taps;
    FxV *matrix, *factor, *beta, *more, *magnitude;
    uint8_t *state, *done;
} FxScratch;

// Bytes of `memory` for such a scratch, and its division. Memory must be aligned to 64 bytes.
size_t fx_scratch_bytes(int length_il, int length_xl, int half);
void fx_scratch_divide(FxScratch *scratch, void *memory, int length_il, int length_xl, int half);

void fx_filter_window(const FxWindow *window, FxScratch *scratch, FxCounts *counts);
