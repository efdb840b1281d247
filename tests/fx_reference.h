// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <complex.h>
#include <stdbool.h>

// The F-X filter straight from its definition, in double precision and without any of the program's
// code: discrete Fourier sums, complex covariance by summing over the design points, one complex
// linear system by Gaussian elimination for every place in the block that has to be predicted.
// Slow.

typedef struct FxRef {
    int time_window, time_overlap, nfft, window_il, window_xl, stride, half, fill_passes;
    double prewhitening, fmin, fmax; // %, Hz; fmax in Hz, no automatic value
    bool acf, mute, post;
    enum { FX_REF_FIT, FX_REF_RENORM, FX_REF_ZERO } edge;
} FxRef;

// The operator's defaults for traces sampled at dt.
FxRef fx_ref_defaults(double dt);

// One frequency slice [n1][n2]: `present` 0/1 per trace (values of absent ones are ignored);
// `out` gets the blended prediction.
void fx_ref_slice(const FxRef *p, int n1, int n2, const double complex *s, const char *present,
                  double complex *out);
// A cube [n1][n2][nt]; absent traces of `present` (and of each time window: all zero or not finite)
// keep their samples.
void fx_ref_cube(const FxRef *p, int n1, int n2, int nt, double dt, const float *in,
                 const char *present, double *out);

// Filter of the autocorrelation form for the window [n1][n2] at `s` with row length `pitch`, by
// Jacobi's iteration on the complex system as the paper gives it (start 0.01, largest change below
// 1e-4 within 100 steps). Whether it converged.
bool fx_ref_jacobi(int n1, int n2, int pitch, const double complex *s, int half,
                   double prewhitening);
