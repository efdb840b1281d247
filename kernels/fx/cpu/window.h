// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "kernels/fx/geometry.h"

// One spatial window, one time window, a batch of neighbouring bins: design and application of the
// filter, rules 3 and 4 of geometry.h. The arithmetic is compiled for several vector units
// (FxIsa), each with as many bins a batch as its vectors hold floats, its `lanes`.

// Rows and columns, half-open.
typedef struct FxRect {
    int il0, il1, xl0, xl1;
} FxRect;

// Spectra are `lanes` real parts and `lanes` imaginary parts a trace and batch, aligned to them.
typedef struct FxWindow {
    const LithoFxParams *params;
    int n_il, n_xl;         // of the survey
    FxRect held;            // traces that `spectra` and `present` cover, survey indices
    FxRect window;          // traces to predict, survey indices
    const float *spectra;   // held traces row by row; zero where absent
    const uint8_t *present; // 1 = recorded, 0 = absent
    float *out; // traces of the window row by row: prediction (mute) or prediction minus
                // input (pass); at absent traces the prediction
    // Covariance of noise that neighbouring traces share: per lane its power in a spectrum (and a
    // vector of zeros), then numbers as fx_shared_bins() has the lags, for blocks of half widths
    // reach_il, reach_xl. NULL = there is none.
    const float *shared;
    int reach_il, reach_xl;
    LithoFxAlike alike;
    float padding; // samples of the transform over those of the time window
    int anew;   // 1: every fill pass forms all equations again (the rule itself, slowly)
    int (*go_on)(
        void *data); // asked every few milliseconds: 0 = leave, `out` is not wanted any more
    void *go_on_data;
} FxWindow;

// Steps of a window's filter, timed apart.
typedef enum { FX_MATRIX, FX_SOLVE, FX_APPLY, FX_STEPS } FxStep;

typedef struct FxCounts {
    int systems;   // bins that held anything and had a filter designed
    int fallbacks; // systems that Jacobi gave up and Cholesky solved
    int failed;    // systems that had no solution; their bins pass unchanged
    int octaves;   // sum of litho_fx_octaves() over the systems, of automatic prewhitening
    int empty;     // 1 = the window has too few traces for any filter and passes unchanged
    double flops;  // real operations spent, lanes without data not counted
    double seconds[FX_STEPS]; // of the thread that had it
} FxCounts;

// Neighbouring batches of a window that litho_fx_kept() judges together, as many as hold
// LITHO_FX_KEEP_BINS or the rest of the band; `first` is the first batch.
typedef struct FxKeep {
    FxWindow first;
    size_t spectra_pitch, out_pitch; // floats from one batch to the next
    int batches;
    const uint8_t *recorded;  // from the window's first trace on; 0 = missing, a guess at most
    ptrdiff_t recorded_pitch; // from one inline to the next
} FxKeep;

// Arithmetic for one kind of vector unit. No function allocates or fails.
typedef struct FxIsa {
    int lanes;
    // Bytes of scratch memory, aligned to 64, for windows of up to that many traces.
    size_t (*scratch_bytes)(int length_il, int length_xl, int half);
    // `scratch` belongs to the calling thread and to windows no larger than promised. 0 when
    // go_on() ended it.
    int (*filter)(const FxWindow *window, void *scratch, FxCounts *counts);
    // Rule 6 of geometry.h, on what filter() left in `out`; the same scratch.
    void (*keep)(const FxKeep *keep, void *scratch);
} FxIsa;

// The instruction set that this program was built for. Builds for any x86-64 have the other two as
// well; in builds for another one they are NULL where the weak symbols are missing.
extern const FxIsa fx_isa;
extern const FxIsa fx_isa_avx2 __attribute__((weak));
extern const FxIsa fx_isa_avx512 __attribute__((weak));
