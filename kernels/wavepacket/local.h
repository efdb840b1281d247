// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/qc_noise.h"
#include "kernels/wavepacket/boxes.h"

// The residual box in local Fourier windows. Its coefficients are samples: they hold positions and
// no direction, so that a steep event beyond |xi| = 0.43 is as spread as noise there. To denoise,
// windows of 16 x 16 x 16 samples, half a window apart, are transformed by themselves; their tapers'
// squares add up to one, so that windows and packets together are a tight frame as before. Two
// windows that follow each other along the traces are real and imaginary part of one transform.
//
// Windows begin half a window before the box, and zeros are beyond its faces.
//
// The coarse box is denoised in such windows, too, on its own lattice: its coefficients hold the
// lowest wavenumbers of all dips, so that a threshold on them could not tell events from noise.
// They are a few thousand and real but for a phase: the host does it for every engine (coarse.c).

enum {
    WP_LOCAL = 16,
    WP_LOCAL_LIMITS = WP_LOCAL * WP_LOCAL * WP_LOCAL,
    WP_LOCAL_FREQUENCIES = 8 * WP_LOCAL_LIMITS
};

// Taper of a window along an axis of n samples.
void wp_local_taper(int n, float taper[WP_LOCAL]);

// The noise's power at `f` cycles per sample, 0 to 1/2: the mean over the wavenumbers.
double wp_noise_power(const LithoNoise *noise, double f);
// Squares of the window of `box`, the residual or the coarse one, at twice as many frequencies
// along each axis as a local window has. Milliseconds; they serve any noise. g_free().
double *wp_local_window(const WpTiling *tiling, const WpBox *box, int threads);
// Mean |F|^2 [k1][k2][k3] of a window in noise that has passed the window of `box`, whose squares
// `window` holds: noise of the spectrum `noise`, or white with deviation 1 (NULL). g_free().
double *wp_local_powers(const double *window, const WpBox *box, const LithoNoise *noise,
                        int threads);
// |F|^2 of a pair of windows below which its coefficients are dropped: k^2 times their mean. g_free().
float *wp_local_limits(const double *powers, double k);

// Windows, and pairs of them, along an axis of n samples. Across a line there is one, whose taper is
// one: the line stands in its middle, and all wavenumbers across are alike.
static inline int wp_local_windows(int n)
{
    return n == 1 ? 1 : (n + WP_LOCAL / 2 - 1) / (WP_LOCAL / 2) + 1;
}
static inline int wp_local_pairs(int n)
{
    return (wp_local_windows(n) + 1) / 2;
}
// Coefficients kept in the windows, as a share of the box's own number.
static inline guint64 wp_local_share(const WpBox *box, guint64 kept)
{
    const double all = (double)wp_local_windows(box->n[0]) * wp_local_windows(box->n[1]) *
                       wp_local_pairs(box->n[2]) * (WP_LOCAL * WP_LOCAL * WP_LOCAL);
    return (guint64)((double)kept / all * (double)box->floats + 0.5);
}
