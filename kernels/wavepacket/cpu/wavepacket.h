// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/wavepacket/engine.h"
#include "kernels/wavepacket/cpu/fft3.h"
#include "kernels/wavepacket/cpu/taps.h"

// The CPU engine: FFTW, OpenMP, and the vectorised taps of taps.c.
typedef struct WpCpu {
    WpEngine engine;
    int threads;             // of the call under way
    const LithoRun *run;     // of the pass under way, asked between boxes; NULL = none. Borrowed
    WpGrid grid;             // the oversampled half spectrum
    WpFft fft;               // of the fine grid
    float *deconvolve[3];    // 1/p_a, with the sign that centres l = 0
    fftwf_plan *box_forward; // per box, shared by boxes of one size; borrowed from `plans`
    fftwf_plan *box_inverse;
    GPtrArray *plans;
    WpFft residual;         // plain FFT of the residual box, or empty
    float *residual_weight; // phi/n over its half spectrum
    float *residual_data;
} WpCpu;

// Filled in cpu/arrays.c: the operations on arrays.
extern const WpEngineClass wp_cpu_arrays;
// cpu/local.c: rule->local, from x to out of the residual box, another array; *kept = coefficients
// kept as a share of the box's number.
gboolean wp_cpu_local(const WpBox *box, const float *x, float *out, const WpRule *rule, int threads,
                      const LithoRun *run, guint64 *kept, GError **error);
// cpu/planes.c: WpEngineClass.planes and drop_plane.
gboolean wp_cpu_planes(WpEngine *engine, const float *c, const WpPlane *planes, int n,
                       LithoRun *run, GError **error);
gboolean wp_cpu_drop_plane(WpEngine *engine, const float *volume, const gint64 n[3],
                           const WpBlock *block, const float *part, const WpPlane *plane,
                           GError **error);
// cpu/fourier.c
gboolean wp_cpu_fourier(WpEngine *engine, const float *volume, const gint64 n[3], guint64 keep,
                        double *lost, LithoRun *run, GError **error);
