// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/migrate/engine.h"
#include "kernels/migrate/cpu/spectrum.h"
#include "kernels/migrate/cpu/step.h"

// The CPU's way through the depths: all frequencies of a job, a slab of depths at a time, threads
// over groups of frequencies. Sums are taken group by group in a fixed order, so that samples do
// not depend on the number of threads.

// A job with what the CPU keeps for it.
typedef struct LithoSweep {
    LithoMigrateJob *job; // borrowed
    LithoWaves waves;
    LithoSplitStep *split;                // engine = splitstep, else NULL
    float *table[LITHO_MIGRATE_MAX_STEP]; // pointwise form
    double *energy_floor;                 // [nf] smallest energy so far, for the growth test
    // Wave that grew: frequency index, step, energy ratio; f = -1: none.
    int grown_f, grown_step;
    double grown_by;
} LithoSweep;

// NULL: no memory.
LithoSweep *litho_sweep_new(LithoMigrateJob *job, GError **error);
void litho_sweep_free(LithoSweep *sweep); // NULL is fine
// Bytes that a sweep of `n_waves` (1 or 2) waves a frequency takes beside the waves and the
// image: sums of the groups of frequencies, and what the threads work in.
gsize litho_sweep_bytes(const LithoMigrateJob *job, int n_waves, int threads);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LithoSweep, litho_sweep_free)

// Takes `up` (and `down`, NULL in zero-offset mode), nf waves each at the surface, down to the last
// plane, and adds to image[nz][data_ny][data_nx]: 2 / nfft Re sum up, or Re sum up * down with
// |down|^2 added to illumination. The waves are used up. `slab` is called in the caller's thread,
// and may be NULL.
gboolean litho_sweep_down(LithoSweep *sweep, float *up, float *down, float *image,
                          float *illumination, MigSlab slab, gpointer data, LithoRun *run,
                          GError **error);
// The adjoint of the zero-offset sweep: image planes upward into nf waves at the surface,
// whatever they held.
gboolean litho_sweep_up(LithoSweep *sweep, const float *image, float *up, LithoRun *run,
                        GError **error);
