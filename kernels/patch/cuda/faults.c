// SPDX-License-Identifier: GPL-3.0-or-later
//
// The pass for faults on a device: part by part, so that the spectra of a part fit.
#include <math.h>

#include "core/error.h"
#include "kernels/patch/cuda/plan.h"

// Spectra and sums of all windows of a part along time, and of one window.
#define ALL_BYTES ((guint64)512 << 20)
#define ONE_BYTES ((guint64)4 << 20)
enum { LEAST_BLOCKS = 2 };

// Bytes of a window along time over so many traces.
static guint64 window_bytes(const LithoPatchGeometry *small, gint64 inlines, gint64 xlines)
{
    const int more = 2 * LITHO_PATCH_FAULT_REACH;
    return 16 * (guint64)small->bins * (inlines + more) * (xlines + more);
}

// Whole blocks of windows make the part's traces and those beside them.
static gint64 part_inlines(const LithoPatchGeometry *small, LithoBox region)
{
    const gint64 block = LITHO_PATCH_FAULT_MADE, beside = 2 * LITHO_PATCH_FAULT_AROUND;
    const gint64 xlines = litho_box_size(region, 1);
    const gint64 fit =
        ONE_BYTES / (window_bytes(small, 1, xlines) - window_bytes(small, 0, xlines));
    const gint64 blocks = (fit - 2 * LITHO_PATCH_FAULT_REACH + beside) / block;
    return MIN(MAX(blocks, LEAST_BLOCKS) * block - beside, litho_box_size(region, 0));
}

// Windows of a part along time: never so few that those beside the samples are most of it.
static int part_windows(const LithoPatchGeometry *small, gint64 inlines, gint64 xlines)
{
    const guint64 fit = ALL_BYTES / window_bytes(small, inlines, xlines);
    return (int)CLAMP(fit, 16, 4096);
}

// The largest part: bytes of one of its windows along time, and how many it has.
static guint64 largest_part(const LithoPatchGeometry *small, LithoBox region, guint64 *windows)
{
    const gint64 inlines = part_inlines(small, region), xlines = litho_box_size(region, 1);
    *windows = MIN(part_windows(small, inlines, xlines), small->axis[2].count);
    return window_bytes(small, inlines, xlines);
}

guint64 patch_faults_bytes(const LithoPatchGeometry *g, const LithoPatchParams *params,
                           LithoBox region)
{
    const LithoPatchGeometry small = litho_patch_fault_geometry(g);
    guint64 windows;
    const guint64 one = largest_part(&small, region, &windows);
    return litho_patch_keeps_faults(g, params)
               ? windows * (one + one / small.bins) +
                     4 * litho_box_count(litho_patch_first_pass(g, params, region))
               : 0;
}

// Room for the largest part, before the ring of the first pass takes what is free.
static gboolean reserve_part(PatchPlan *p, const LithoPatchGeometry *small, LithoBox region,
                             GError **error)
{
    guint64 windows;
    const guint64 one = largest_part(small, region, &windows);
    const guint64 traces = one / (16 * (guint64)small->bins);
    return litho_cuda_reserve(p->context, &p->fault_spectra, windows * one / 2, error) &&
           litho_cuda_reserve(p->context, &p->fault_quiet, 4 * windows * traces, error) &&
           litho_cuda_reserve(p->context, &p->fault_limits, 4 * windows * traces, error) &&
           litho_cuda_reserve(p->context, &p->fault_sums, windows * one / 2, error) &&
           litho_cuda_reserve(p->context, &p->fault_energy, 4 * windows * traces, error) &&
           litho_cuda_reserve(p->context, &p->fault_gate, 4 * windows * traces, error);
}

// Taper and waves along time, and the shape of the noise's level in small windows.
static gboolean put_tables(PatchPlan *p, LithoPatchFaultTask *t, GError **error)
{
    const LithoPatchAxis time = t->small.axis[2];
    const int n = time.length, waves = 2 * n;
    const int k = LITHO_PATCH_FAULT_TRACES * LITHO_PATCH_FAULT_TRACES;
    g_autofree float *tables = g_new(float, 3 * n + t->small.bins * k);
    for (int i = 0; i < n; i++) {
        tables[2 * i] = (float)cos(2 * G_PI * i / n);
        tables[2 * i + 1] = (float)sin(2 * G_PI * i / n);
        tables[waves + i] = (float)litho_patch_taper(time, i);
    }
    if (p->levels.shape)
        litho_patch_fault_shape(p->levels.shape, p->levels.table.window, t->small.bins,
                                tables + 3 * n);
    if (!litho_cuda_put(p->context, &p->fault_tables, tables,
                        sizeof *tables * (3 * n + t->small.bins * k), error))
        return FALSE;
    const float *on_device = p->fault_tables.data;
    t->wave = (const float2 *)on_device;
    t->taper = on_device + waves;
    t->shape = p->levels.shape ? on_device + 3 * n : NULL;
    return TRUE;
}

// Samples [t->from, t->to) of the part's region.
static gboolean run_windows(PatchPlan *p, LithoPatchFaultTask *t, GError **error)
{
    const LithoPatchAxis time = t->small.axis[2];
    const guint64 traces = t->made.n[0] * t->made.n[1];
    const int more = 2 * LITHO_PATCH_FAULT_EDGE;
    const guint64 seen = (guint64)(t->made.n[0] + more) * (t->made.n[1] + more);
    cudaStream_t stream = litho_cuda_stream(p->context);
    int last;
    litho_patch_fault_windows(time, (int)t->from, (int)t->to, &t->first, &last);
    t->count = last - t->first + 1;
    const guint64 windows = (guint64)t->count * t->small.bins;
    if (!litho_cuda_reserve(p->context, &p->fault_spectra, 8 * windows * seen, error) ||
        !litho_cuda_reserve(p->context, &p->fault_quiet, 4 * t->count * seen, error) ||
        !litho_cuda_reserve(p->context, &p->fault_limits, 4 * t->count * seen, error) ||
        !litho_cuda_reserve(p->context, &p->fault_sums, 8 * windows * traces, error) ||
        !litho_cuda_reserve(p->context, &p->fault_energy, 4 * t->count * traces, error) ||
        !litho_cuda_reserve(p->context, &p->fault_gate,
                            4 * t->count * t->region.n[0] * t->region.n[1], error))
        return FALSE;
    t->spectra = p->fault_spectra.data;
    t->quiet = p->fault_quiet.data;
    t->limits = p->fault_limits.data;
    t->sums = p->fault_sums.data;
    t->energy = p->fault_energy.data;
    t->gate = p->fault_gate.data;
    litho_cuda_mark(p->context, "faults", LITHO_STAGE_COMPUTE, 16.0 * windows * (seen + traces),
                    litho_patch_fault_flops(&t->small, (double)traces * t->count * time.stride));
    return LITHO_CUDA(litho_patch_fault_sums(t, stream), error) &&
           LITHO_CUDA(litho_patch_fault_back(t, stream), error);
}

// The traces of the region and those beside them whose energies count, in the survey.
static void find_made(LithoPatchFaultTask *t)
{
    for (int a = 0; a < 2; a++) {
        const gint64 lo = t->region.lo[a] - LITHO_PATCH_FAULT_AROUND;
        const gint64 hi = t->region.lo[a] + t->region.n[a] + LITHO_PATCH_FAULT_AROUND;
        t->made.lo[a] = MAX(lo, 0);
        t->made.n[a] = MIN(hi, t->small.axis[a].n) - t->made.lo[a];
    }
}

static gboolean run_parts(PatchPlan *p, LithoPatchFaultTask task, LithoBox region, LithoRun *run,
                          GError **error)
{
    const LithoPatchAxis time = task.small.axis[2];
    const gint64 inlines = part_inlines(&task.small, region);
    const int windows = part_windows(&task.small, inlines, litho_box_size(region, 1));
    const gint64 samples = MAX((windows - 8) * time.stride, time.stride);
    gint64 done = 0;
    for (gint64 il = region.lo[0]; il < region.hi[0]; il += inlines)
        for (gint64 at = region.lo[2]; at < region.hi[2]; at += samples) {
            task.region.lo[0] = il;
            task.region.n[0] = MIN(inlines, region.hi[0] - il);
            task.from = at;
            task.to = MIN(at + samples, region.hi[2]);
            find_made(&task);
            if (!run_windows(p, &task, error))
                return FALSE;
            done += task.region.n[0] * litho_box_size(region, 1) * (task.to - task.from);
            if (!litho_cuda_step(p->context, run, done, litho_box_count(region), error))
                return FALSE;
        }
    return TRUE;
}

gboolean patch_sweep_with_faults(PatchSweep *sweep, const LithoPass *pass, GError **error)
{
    PatchPlan *p = sweep->p;
    const LithoPatchGeometry g = sweep->task.g;
    const LithoPatchBox out_held = sweep->task.out_held;
    float *out = sweep->task.out;
    const unsigned char *wanted = sweep->task.wanted;
    const LithoBox box = litho_patch_first_pass(&g, pass->params, pass->region);
    const LithoPatchGeometry small = litho_patch_fault_geometry(&g);
    if (!reserve_part(p, &small, pass->region, error) ||
        !litho_cuda_reserve(p->context, &p->removed, 4 * litho_box_count(box), error) ||
        !patch_upload_wanted(p, &p->recorded, pass->in, box, box, error))
        return FALSE;
    sweep->task.region = sweep->task.out_held = patch_box(box);
    sweep->task.out = p->removed.data;
    sweep->task.wanted = p->recorded.data;
    if (!patch_sweep(sweep, error))
        return FALSE;
    LithoPatchFaultTask task = {
        .small = small,
        .removed = p->removed.data,
        .held = patch_box(box),
        .region = patch_box(pass->region),
        .out = out,
        .out_held = out_held,
        .wanted = wanted,
        .levels = patch_device_levels(p),
        .limit = (float)litho_patch_fault_limit(&g, pass->params),
        .rank = litho_patch_fault_rank(g.bins),
    };
    litho_run_begin(sweep->run, "faults", "samples");
    return put_tables(p, &task, error) &&
           LITHO_CUDA(litho_patch_fault_split(&task, sweep->task.in, sweep->task.held,
                                              p->recorded.data, p->removed.data,
                                              litho_cuda_stream(p->context)),
                      error) &&
           run_parts(p, task, pass->region, sweep->run, error);
}
