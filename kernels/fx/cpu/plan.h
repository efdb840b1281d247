// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <fftw3.h>

#include "kernels/common/erratic.h"
#include "kernels/fx/fx.h"
#include "kernels/fx/gains.h"
#include "kernels/fx/cpu/window.h"
#include "kernels/fx/shared.h"

// The CPU's plan: FFTs, memory of the threads, and works, which hold what survives between passes.

// Spectra and filtered windows of one cube for the traces of a rectangle. Layout of the spectra:
// [time window][batch][inline][crossline][re, im][lane]; of a filtered window:
// [batch][inline][crossline][re, im][lane]. A batch is `lanes` bins of the band.
typedef struct FxWork {
    guint64 serial; // of the cube it belongs to
    LithoFxParams params;
    LithoFxGeometry g;
    int lanes, batches;
    FxRect held;      // traces
    int first, last;  // time windows that `bytes` stands for, inclusive
    float *weights;   // [time window][sample]: blending
    float **spectra;  // per time window; NULL until needed
    guint8 *known;    // [time window][trace]: spectra and presence are there
    guint8 *present;  // [time window][trace]
    float **filtered; // per unit, within `blocks`; NULL until needed
    GPtrArray *blocks; // one for the units of a pass: large ones go back to the system when freed
    guint8 *ready;    // [unit][batch]
    guint8 *kept;     // [unit]: rule 6 has been over it
    FxCounts *counts; // [unit][batch]
    guint64 shared;   // FxShared.version
    guint64 bytes;    // when filled completely
    guint64 used;     // clock of the last use
} FxWork;

enum { FX_RUN = 64 }; // neighbouring traces that go back to time together

typedef struct FxThread {
    float *trace;            // nfft
    fftwf_complex *spectrum; // nfft / 2 + 1
    float *sum;              // [FX_RUN traces][batch][re, im][lane]
    void *scratch;
    gsize scratch_bytes, sum_count;
} FxThread;

enum { FX_MAX_WORKS = 4 };

typedef struct FxPlan {
    LithoGrid grid;
    int nfft;
    fftwf_plan forward, inverse;
    const FxIsa *isa;
    FxThread *threads;
    int n_threads;
    LithoGains gains;
    LithoClean clean; // the input with guesses for bursts and missing traces
    guint8 *alone;    // litho_fx_alone() of the pass
    FxShared shared;
    LithoFxAlike alike; // fx_shared_alike()
    float *lags; // FxWindow.shared of all batches of the pass; NULL = there is no shared noise
    FxWork *works[FX_MAX_WORKS];
    guint64 budget, clock; // bytes that works may keep in all
} FxPlan;

// Work of one call: part of the region in space, a range of time windows.
typedef struct FxPart {
    FxPlan *plan;
    FxWork *work;
    const LithoPass *pass; // its input has guesses for bursts and missing traces
    const LithoCube *raw;  // the input as it came, over its gains
    const LithoFxParams *params;
    LithoBox region;
    int first, last; // time windows, inclusive
    FxRect windows;  // spatial windows that touch the region
    FxRect traces;   // traces these need
    gboolean fresh;  // the region's samples are still to be copied from the input
    LithoRun *run;
    int n_threads;
} FxPart;

// A unit is one spatial window in one time window.
static inline gsize fx_unit(const LithoFxGeometry *g, int k, int w_il, int w_xl)
{
    return ((gsize)k * g->axis[0].count + w_il) * g->axis[1].count + w_xl;
}

static inline gint64 fx_width(FxRect r)
{
    return r.xl1 - r.xl0;
}

static inline gint64 fx_area(FxRect r)
{
    return (gint64)(r.il1 - r.il0) * (r.xl1 - r.xl0);
}

// Floats of one trace and batch.
static inline gsize fx_cell(const FxWork *w)
{
    return 2 * (gsize)w->lanes;
}

// Memory aligned to 64 bytes, not cleared; free(). NULL sets the error.
gpointer fx_alloc(guint64 bytes, GError **error);

// cpu/work.c: the parts of `traces` that `region` needs, and bytes to work on it. `raw`: the input
// as it came.
FxPart fx_part(FxPlan *plan, const LithoPass *pass, const LithoCube *raw, LithoBox region,
               LithoRun *run);
guint64 fx_part_bytes(const LithoFxGeometry *g, int lanes, LithoBox region, int time_windows);
// Bookkeeping of all units of a grid, and the blending weights.
guint64 fx_kept_bytes(const LithoFxGeometry *g, int lanes);
gsize fx_sum_count(const LithoFxGeometry *g, int lanes);    // floats of FxThread.sum
FxWork *fx_work_new(const LithoFxGeometry *g, int lanes, const LithoFxParams *params,
                    guint64 serial, FxRect held, GError **error);
void fx_work_free(FxWork *work);
// The plan's work for this part, made when it fits the budget, with everything dropped that no
// longer holds; NULL without an error when it does not fit.
FxWork *fx_work_find(FxPlan *plan, const FxPart *part, GError **error);

// Floats of plan->lags for one batch.
static inline gsize fx_lags_pitch(const FxWork *w)
{
    return fx_cell(w) * (1 + fx_shared_lags(w->g.half));
}

// State that the threads of a loop share.
typedef struct FxLoop {
    LithoRun *run;
    gint64 done, n; // atomic
    gint stop;      // atomic
    GError **error;
} FxLoop;

// cpu/spectra.c: stages 1 and 3. cpu/fx.c: stage 2. Each is one parallel loop. FALSE: cancelled or
// no memory; what is done stays valid.
int fx_go_on(void *loop); // progress and cancel, from any thread, also within a turn: 0 = leave
gboolean fx_stage_fft(FxPart *part, GError **error);
gboolean fx_stage_filter(FxPart *part, GError **error);
gboolean fx_stage_inverse(FxPart *part, GError **error);
