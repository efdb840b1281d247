// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/migrate/job.h"

// One frequency's wave on the CPU: a step of the Chebyshev recursion and its adjoint.
//
// A wave is stored row by row, real parts of a row, then imaginary parts, each row behind at least
// 16 zeros: neighbours outside the grid are read as 0 without a branch. The recursion runs as a
// wavefront: degree n works four rows behind degree n+1, so only 4 N rows of two planes are live
// (0.7 MB at N = 23, nx = 256) and stay in the second-level cache through all degrees.

typedef struct LithoWaves {
    int nx, ny;
    int stride; // floats from a row's real parts to its imaginary parts; a row is 2 stride
    gsize size; // floats of one wave
} LithoWaves;

LithoWaves litho_waves_layout(int nx, int ny);
// Zeroed memory for `count` waves, aligned; free with free(). NULL when there is none.
float *litho_waves_alloc(const LithoWaves *layout, gsize count);
// Memory for `count` waves as it comes, for waves that are filled one by one: nothing is touched.
float *litho_waves_room(const LithoWaves *layout, gsize count);
static inline float *litho_wave_row(const LithoWaves *w, float *wave, int y)
{
    return wave + 2 * (gsize)w->stride * y + 16;
}

// Planes one thread works in. NULL: no memory.
typedef struct LithoWaveScratch LithoWaveScratch;
LithoWaveScratch *litho_wave_scratch_new(const LithoWaves *layout);
void litho_wave_scratch_free(LithoWaveScratch *scratch); // NULL is fine
gsize litho_wave_scratch_bytes(const LithoWaves *layout);

// Coefficients of one step of one frequency, ready to apply.
typedef struct LithoWaveStep {
    LithoStencil stencil;
    int degree, targets;                     // targets: image planes the step crosses
    const float *re[LITHO_MIGRATE_MAX_STEP]; // [target][0..degree]; operator form
    const float *im[LITHO_MIGRATE_MAX_STEP];
    const float *slowness; // [ny][nx]
    gboolean one_row;      // slowness is [nx], the same for all rows
    const LithoRun *run;   // asked every few rows; NULL: never
    // Pointwise form: table[target][n][entry][re, im], else NULL.
    const float *table[LITHO_MIGRATE_MAX_STEP];
    int n_table;
    float table_scale, table_offset; // entry = slowness * scale - offset
} LithoWaveStep;

// wave <- G wave at the step's bottom; planes[m] (targets - 1 of them, may be NULL when there is
// one target) <- the wave at the depths between. FALSE: told to stop, the wave is of no use.
gboolean litho_wave_forward(const LithoWaves *layout, LithoWaveScratch *scratch,
                            const LithoWaveStep *step, float *wave, float *const *planes);
// The exact adjoint: wave <- sum over targets of G_m^H planes[m], the last target being wave
// itself. FALSE: told to stop.
gboolean litho_wave_adjoint(const LithoWaves *layout, LithoWaveScratch *scratch,
                            const LithoWaveStep *step, float *wave, float *const *planes);
// wave *= gx(x) gy(y); NULL factors are 1.
void litho_wave_sponge(const LithoWaves *layout, float *wave, const float *gx, const float *gy);
// Sum of |wave|^2.
double litho_wave_energy(const LithoWaves *layout, const float *wave);

// Split-step Fourier on the same waves: phase shift in (kx, ky) with the step's mean slowness, then
// the rest of the slowness in (x, y). Exact dispersion, periodic in x and y. FFT plans are shared
// by all threads. NULL: no memory.
typedef struct LithoSplitStep LithoSplitStep;
LithoSplitStep *litho_split_step_new(const LithoWaves *layout, const LithoCells *cells);
void litho_split_step_free(LithoSplitStep *split); // NULL is fine
// Per-thread complex plane; free with litho_split_step_scratch_free(). NULL: no memory.
gpointer litho_split_step_scratch(const LithoSplitStep *split);
void litho_split_step_scratch_free(gpointer scratch);
// One image plane down (or its adjoint, up): thickness dz, slowness plane (NULL: it is the mean
// everywhere) and its mean. FALSE: `run` (may be NULL) says to stop, the wave is of no use.
gboolean litho_split_step_apply(const LithoSplitStep *split, gpointer scratch, double omega,
                                double dz, const float *slowness, double mean, gboolean adjoint,
                                float *wave, const LithoRun *run);
