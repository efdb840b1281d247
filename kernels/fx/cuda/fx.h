// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <cufft.h>

#include "kernels/cuda/cuda.h"
#include "kernels/cuda/erratic.h"
#include "kernels/cuda/gains.h"
#include "kernels/fx/cuda/layout.h"
#include "kernels/fx/gains.h"
#include "kernels/fx/shared.h"

// The plan and one call of the F-X filter on CUDA, shared by its host files.

enum { FX_BATCH_SAMPLES = 1 << 22 }; // of one batch of transforms: 16 MiB, well inside an L2 cache

#define FX_CHUNK_BYTES ((guint64)3 << 29) // of the filter stage's arrays
#define FX_BATCH_SYSTEMS (1 << 17) // of several time windows at once: 20 rounds of a card's blocks
#define FX_CHUNK_FLOPS 1.6e9       // per multiprocessor: a chunk of about 10 ms
#define FX_LAUNCH_FLOPS 0.4e9      // likewise, of one launch: about 3 ms
#define FX_LOOK_FLOPS 0.1e9 // likewise, before a look at the cancel flag pays: 0.7 ms or more

typedef struct FxPlan {
    LithoGrid grid;
    LithoCudaContext *context;
    LithoGains gains;
    LithoCudaArray gain; // of the traces of the survey
    LithoClean clean; // the input without bursts, found once a cube
    LithoCudaErratic erratic;
    FxShared shared;
    LithoCudaArray level, lags; // fx_shared_bins() of the pass
    int nfft, batch; // transforms of `nfft` a call
    gboolean own;    // the length is one that cuda/fft.cu transforms; else cuFFT does
    cufftHandle forward, inverse;
    gboolean have_forward, have_inverse;
    int shared_limit; // bytes of shared memory a block may take
    int processors;
    LithoCudaArray live, starts, absent, weights, padded, transformed;
    LithoCudaArray present; // [time window][trace of the input]
    LithoCudaArray spectra; // [time window][bin][trace of the input]
    LithoCudaArray blended; // [trace of the region][nfft / 2 + 1], one time window
    LithoCudaArray spots, matrix, taps, good, scales, tiles[2], states[2], filtered, counters;
    LithoCudaArray over, largest;          // LithoFxGroup has them
    LithoCudaArray sums, filled, recorded; // the last: traces that are not missing
    // The input and the parameters that `spectra` and `present` stand for.
    guint64 serial; // of the cube; 0: nothing
    LithoBox held;
    int bin, bins, first, last; // time windows, inclusive
    guint8 *host_present;       // NULL: nothing is absent
    int *host_absent;           // per time window
} FxPlan;

// One exec(), or a part of it in time.
typedef struct FxJob {
    FxPlan *p;
    const LithoPass *pass; // its input has guesses for bursts and missing traces
    const LithoCube *raw;  // the input as it came
    const float *recorded; // its samples on the device where they are not the pass's; else NULL
    gboolean over_gains;   // the result is to be multiplied by the gains
    guint8 *alone;         // litho_fx_alone()
    const LithoFxParams *params;
    LithoFxGeometry g;
    LithoBox region;
    LithoFxHeld held; // of the input, as the kernels see it
    int in_t0, in_samples;
    FxWindows windows;  // spatial ones that touch the region
    int first, last;    // time windows of this part, inclusive
    const float *in;    // device; set by fx_forward()
    float *out;         // device
    FxLayout *clean;    // of the time windows without absent traces; NULL when not needed
    FxLayout **layouts; // per time window of the part
    int *spots_at;      // where its spots begin on the device
    // Memory: what the plan's elastic arrays may take in all, and what was made of it.
    guint64 room;
    int chunk_bins;     // that go back to time together
    int step_bins;      // of them, that are filtered together; 0 until chosen
    int batch;          // time windows that are worked on at once, at most
    gint64 empty;       // windows passed unchanged so far
    gint64 done, total; // bins of the time windows of this part
    LithoRun *run;
} FxJob;

static inline gint64 fx_held_traces(const FxJob *job)
{
    return (gint64)job->held.n_il * job->held.n_xl;
}

static inline gint64 fx_region_traces(const FxJob *job)
{
    return litho_box_size(job->region, 0) * litho_box_size(job->region, 1);
}

static inline gint64 fx_windows(const FxJob *job)
{
    return (gint64)(job->windows.il1 - job->windows.il0) * (job->windows.xl1 - job->windows.xl0);
}

static inline int fx_out_pitch(const FxJob *job)
{
    return job->g.axis[0].length * job->g.axis[1].length;
}

// Bytes of the arrays that a smaller plan would make smaller.
guint64 fx_elastic_bytes(FxPlan *p);

// cuda/spectra.c. Spectra and presence of the part's time windows, from the plan when they are
// there already.
gboolean fx_forward(FxJob *job, GError **error);
// Number of the job's time windows that fit the device at once, at least 1.
int fx_windows_at_once(const FxJob *job);
LithoFxBack fx_back(const FxJob *job, int k, int bin, int bins);
// Filtered bins [bin, bin + bins) of time window first + k; after the last bin back to time.
gboolean fx_inverse(FxJob *job, int k, int bin, int bins, GError **error);
gboolean fx_inverse_all(FxJob *job, int k, int n, GError **error);
// Bytes of `blended` when the bins come in chunks.
gsize fx_blended_bytes(const FxPlan *p, gint64 traces);
// TRUE when the inverse can read the filtered windows itself, without `blended`.
gboolean fx_blends_itself(const FxJob *job, int bins);

// cuda/filter.c. Design, application and inverse of the part's time windows.
gboolean fx_filter(FxJob *job, GError **error);

// cuda/rival.c. LithoImpl.rivals.
gboolean fx_rivals(const LithoGrid *in, const void *params, int repeat, LithoRun *run, GArray *rows,
                   GError **error);
