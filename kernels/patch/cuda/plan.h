// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <cufft.h>

#include "kernels/cuda/cuda.h"
#include "kernels/cuda/erratic.h"
#include "kernels/patch/cuda/kernels.h"
#include "kernels/patch/gains.h"
#include "kernels/patch/swell.h"
#include "kernels/patch/levels.h"
#include "kernels/patch/choice.h"

// The plan and one sweep of the local Fourier filter on CUDA, shared by its host files.

// Spectra of windows that tell the level.
typedef struct PatchPowers {
    LithoCudaArray share, scale, power;
} PatchPowers;

typedef struct PatchPlan {
    LithoGrid grid;
    LithoCudaContext *context;
    int processors, shared; // shared: bytes that a block can have
    PatchLevels levels;
    PatchChoice choice;
    PatchCalm calm;
    PatchGains gains;
    LithoCudaArray gain; // of the traces of the survey
    LithoClean clean;
    LithoCudaArray sigma, shape; // of the levels
    guint stamp;                 // of the levels that both hold; 0 = none
    LithoCudaArray live, known, wanted;
    LithoCudaArray tables; // tapers and norms
    LithoCudaArray share, ring, largest, sums, filled, counted;
    LithoCudaArray x, y, z, missing; // of a frame
    // Transforms of windows that have no kernel of their own, `batch` at a time.
    int lengths[3], batch;
    cufftHandle forward, inverse;
    gboolean have_forward, have_inverse;
    LithoCudaArray windows, spectra, kept;
    LithoCudaArray fits, products, across; // of dips
    LithoCudaArray removed, recorded;      // of the first pass, where faults are kept
    LithoCudaArray fault_tables, fault_spectra, fault_quiet, fault_limits, fault_sums, fault_energy;
    LithoCudaArray fault_gate;
    LithoCudaErratic erratic;
    // Buffers for the level of the noise (level.h).
    PatchPowers powers[2]; // of cells, of the whole
    LithoCudaArray level_tapers, level_jobs, level_places, level_flags, level_recorded;
    LithoCudaArray level_spectra, level_quiet, level_means, level_floor, level_below;
    LithoCudaArray level_muted, level_ranks;
} PatchPlan;

// One sweep: the caller fills in all but the last group of the task, `stage`, and the passes.
typedef struct PatchSweep {
    PatchPlan *p;
    LithoPatchTask task; // g, in, held, live, region, out, out_held, wanted, levels, threshold, ...
    const char *stage;
    int pass, passes; // `stage` is told once for all of them; 0 = one
    LithoRun *run;
    gint64 done, total; // samples of all passes: patch_sweep() fills in both
} PatchSweep;

// cuda/sweep.c. One pass over all windows that touch the region (rules 2 to 5 of geometry.h), which
// is split across crosslines or along time where its strips do not fit.
gboolean patch_sweep(PatchSweep *sweep, GError **error);
// Bytes of strips and windows for a region, at least, split where that is large. `guided`: the
// sweep may be.
guint64 patch_sweep_bytes(const LithoPatchGeometry *g, gboolean guided, LithoBox region);
LithoPatchBox patch_box(LithoBox box);

// cuda/faults.c. The first pass beyond the region, and what leaves at faults into the sweep's
// output.
gboolean patch_sweep_with_faults(PatchSweep *sweep, const LithoPass *pass, GError **error);
// Bytes of a device for that.
guint64 patch_faults_bytes(const LithoPatchGeometry *g, const LithoPatchParams *params,
                           LithoBox region);

// cuda/level.c. Bursts and the level of the noise on the plan's device; the plan must outlive it.
PatchMeter patch_meter(PatchPlan *p);
// cuda/patch.c. The levels, whose arrays are on the device.
LithoPatchLevels patch_device_levels(const PatchPlan *p);
// The live mask of `in` to p->live.
gboolean patch_upload_live(PatchPlan *p, const LithoCube *in, GError **error);
// One byte a trace of `held` to `to`: whether it is in `region` and the input's trace is live.
gboolean patch_upload_wanted(PatchPlan *p, LithoCudaArray *to, const LithoCube *in, LithoBox held,
                             LithoBox region, GError **error);

// cuda/gains.c. A box of whole traces of a cube on the device; a LithoReader's read(), whose data
// is a PatchFetch.
typedef struct PatchFetch {
    PatchPlan *p;
    const LithoCube *cube;
} PatchFetch;
LithoCube *patch_fetch_box(const LithoBox *box, LithoRun *run, gpointer data, GError **error);

// The pass's input, or a cube of it over its gains on the plan's device. Borrowed.
// NULL: cancelled, or no memory.
const LithoCube *patch_over_gains(PatchPlan *p, const LithoPass *pass, LithoRun *run,
                                  GError **error);
// The sweep's result times the gains.
gboolean patch_times_gains(PatchSweep *s, GError **error);

// cuda/structure.c. Dips or coherence of `result`, which holds on this device all that the pass's
// region needs, into pass->out.
gboolean patch_structure(PatchPlan *p, const LithoPass *pass, const LithoCube *result, int volume,
                         LithoRun *run, GError **error);

// Bytes of a device for that, the volume itself included, the result not.
guint64 patch_structure_bytes(const LithoGrid *grid, LithoBox region);

// cuda/fill.c. The pass with mode fill or both. `in`: without bursts; `raw`: the pass's input, from
// which mode=fill takes recorded traces.
gboolean patch_fill(PatchPlan *p, const LithoPass *pass, const float *in, const float *raw,
                    float *out, LithoRun *run, GError **error);
