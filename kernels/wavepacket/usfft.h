// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
// The interpolation kernel psi of the unequally spaced FFT, for CPU and CUDA code alike: psi is
// zero beyond w/2 fine-grid cells, and tap t of a point is a polynomial in the point's place
// between the grid points, so no Bessel function is ever evaluated in a loop.
//
// A point g (fine-grid units) touches l = l0 .. l0+w-1 with l0 = ceil(g - w/2 - WP_SNAP): points
// that lie on a border but for rounding fall on the same side on every machine. With
//   x = g - l0 - (w-1)/2   in (-1/2, 1/2],   tap t has   psi(x + (w-1)/2 - t).
//
// Source: Kaiser-Bessel with Beatty, Nishimura, Pauly (2005) beta; Gaussian of Dutt, Rokhlin (1993)
// and Beylkin (1995), which the wave-packet papers use.

#include <stdint.h>

enum { WP_MAX_WIDTH = 12, WP_LANES = 16, WP_DEGREE = 7 };

#define WP_SNAP 1e-9

typedef enum { WP_KAISER, WP_GAUSSIAN } WpKernelKind;

typedef struct WpKernel {
    WpKernelKind kind;
    int width;    // w, taps per axis
    double sigma; // oversampling the shape was chosen for
    double shape; // beta of Kaiser-Bessel, lambda of the Gaussian
    // psi at tap t = sum_d coef[d][t] x^d; zero for t >= width
    float coef[WP_DEGREE + 1][WP_LANES];
} WpKernel;

#ifdef __cplusplus
extern "C" {
#endif

void wp_kernel_init(WpKernel *kernel, WpKernelKind kind, int width, double sigma);
double wp_kernel_value(const WpKernel *kernel, double z);
// factor[i] = 1 / p(i - n/2) of samples i = 0 .. n-1 on a fine grid of nf points, where p(x) =
// integral of psi(z) cos(2 pi x z/nf) dz is what interpolation does to sample position x.
void wp_kernel_deconvolution(const WpKernel *kernel, int64_t n, int nf, double *factor);

#ifdef __cplusplus
}
#endif
