// SPDX-License-Identifier: GPL-3.0-or-later
//
// Missing traces on a device: the frame of a block stays there from the first threshold to the
// last.
#include "core/error.h"
#include "kernels/patch/cuda/plan.h"

// A block's frame and the sweep over it.
typedef struct Frame {
    LithoBox box;
    LithoPatchBox whole; // of the frame in its own indices
    gint64 traces, samples;
    gint64 missing; // traces
    gboolean regular; // they repeat themselves
} Frame;

static gboolean reserve(PatchPlan *p, const Frame *f, GError **error)
{
    return litho_cuda_reserve(p->context, &p->x, f->samples * sizeof(float), error) &&
           litho_cuda_reserve(p->context, &p->y, f->samples * sizeof(float), error) &&
           litho_cuda_reserve(p->context, &p->z, f->samples * sizeof(float), error) &&
           litho_cuda_reserve(p->context, &p->missing, f->traces, error) &&
           litho_cuda_reserve(p->context, &p->largest, sizeof(unsigned), error);
}

static PatchSweep sweep_of(PatchPlan *p, const Frame *f, const LithoPatchParams *params,
                           LithoRun *run)
{
    LithoGrid grid = p->grid;
    for (int a = 0; a < 3; a++)
        grid.axis[a].n = litho_box_size(f->box, a);
    PatchSweep s = {.p = p, .stage = "filling", .run = run};
    s.task.g = litho_patch_grid_geometry(&grid, params);
    s.task.in = p->x.data;
    s.task.out = p->y.data;
    s.task.held = s.task.region = s.task.out_held = f->whole;
    s.task.wanted = p->missing.data;
    s.task.threshold = (float)litho_patch_fill_threshold(&s.task.g, params, f->traces, f->missing);
    s.task.rule = LITHO_PATCH_SINGLE;
    s.passes = 1 + params->iterations;
    s.task.levels =
        litho_patch_levels_of(patch_device_levels(p), &s.task.g,
                              (const long long[3]){f->box.lo[0], f->box.lo[1], f->box.lo[2]});
    return s;
}

static gboolean find_largest(PatchSweep *s, float *largest, GError **error)
{
    PatchPlan *p = s->p;
    cudaStream_t stream = litho_cuda_stream(p->context);
    float power = 0;
    s->task.largest = p->largest.data;
    if (!LITHO_CUDA(cudaMemsetAsync(p->largest.data, 0, sizeof power, stream), error) ||
        !patch_sweep(s, error) ||
        !LITHO_CUDA(
            cudaMemcpyAsync(&power, p->largest.data, sizeof power, cudaMemcpyDeviceToHost, stream),
            error) ||
        !LITHO_CUDA(cudaStreamSynchronize(stream), error))
        return FALSE;
    s->task.largest = NULL;
    *largest = sqrtf(power);
    return TRUE;
}

static gboolean run_frame(PatchPlan *p, const Frame *f, const LithoPatchParams *params,
                          LithoRun *run, GError **error)
{
    cudaStream_t stream = litho_cuda_stream(p->context);
    PatchSweep s = sweep_of(p, f, params, run);
    const float *shape = s.task.levels.shape;
    float largest = 0;
    s.task.levels.shape = NULL; // levels.c: has_shape()
    if (!find_largest(&s, &largest, error) ||
        !LITHO_CUDA(cudaMemsetAsync(p->z.data, 0, f->samples * sizeof(float), stream), error))
        return FALSE;
    s.task.guided = f->regular;
    for (int k = 0; k < params->iterations; k++) {
        s.pass = k + 1;
        s.task.least = largest * (float)litho_patch_fill_level(params, k);
        if (!patch_sweep(&s, error) ||
            !LITHO_CUDA(litho_patch_move(f->whole, p->missing.data, p->y.data,
                                         k + 1 < params->iterations ? p->z.data : NULL, p->x.data,
                                         stream),
                        error))
            return FALSE;
    }
    if (params->mode != LITHO_PATCH_BOTH)
        return TRUE;
    s.task.levels.shape = shape;
    s.task.wanted = NULL;
    s.task.least = 0;
    s.task.threshold = (float)litho_patch_threshold(&s.task.g, params);
    s.task.rule = params->rule;
    s.task.guided = 0;
    s.pass = s.passes = 0;
    s.stage = "windows";
    return patch_sweep(&s, error);
}

// Traces of the block to `x`, and how many of them are missing.
static gboolean begin_frame(PatchPlan *p, Frame *f, const LithoCube *in, const float *samples,
                            GError **error)
{
    cudaStream_t stream = litho_cuda_stream(p->context);
    g_autofree guint8 *missing = g_malloc(f->traces);
    if (!LITHO_CUDA(litho_patch_frame(samples, patch_box(in->held), p->live.data, patch_box(f->box),
                                      p->x.data, p->missing.data, stream),
                    error) ||
        !LITHO_CUDA(
            cudaMemcpyAsync(missing, p->missing.data, f->traces, cudaMemcpyDeviceToHost, stream),
            error) ||
        !LITHO_CUDA(cudaStreamSynchronize(stream), error))
        return FALSE;
    f->missing = 0;
    for (gint64 k = 0; k < f->traces; k++)
        f->missing += missing[k] != 0;
    f->regular = litho_patch_is_regular(missing, (int)f->whole.n[0], (int)f->whole.n[1]);
    return TRUE;
}

static gboolean fill_block(PatchPlan *p, const LithoPass *pass, LithoBox block, LithoBox around,
                           const float *in, const float *raw, float *out, LithoRun *run,
                           GError **error)
{
    const LithoPatchParams *params = pass->params;
    cudaStream_t stream = litho_cuda_stream(p->context);
    Frame f = {.box = around};
    const LithoBox part = litho_box_intersect(block, pass->region);
    const gint64 nx = litho_box_size(part, 1), traces = litho_box_size(part, 0) * nx;
    for (int a = 0; a < 3; a++)
        f.whole.n[a] = litho_box_size(around, a);
    f.traces = f.whole.n[0] * f.whole.n[1];
    f.samples = f.traces * f.whole.n[2];
    g_autofree guint8 *filled = g_malloc(traces);
    if (!reserve(p, &f, error) || !litho_cuda_reserve(p->context, &p->filled, traces, error))
        return FALSE;
    litho_cuda_mark(p->context, "filling", LITHO_STAGE_COMPUTE, 8.0 * f.samples, 0);
    if (!begin_frame(p, &f, pass->in, in, error) || !run_frame(p, &f, params, run, error))
        return FALSE;
    const gboolean both = params->mode == LITHO_PATCH_BOTH;
    if (!LITHO_CUDA(litho_patch_write(patch_box(around), both ? p->y.data : p->x.data,
                                      both ? NULL : raw, patch_box(pass->in->held), p->live.data,
                                      patch_box(part), out, patch_box(pass->out->held),
                                      p->filled.data, stream),
                    error) ||
        !LITHO_CUDA(cudaMemcpyAsync(filled, p->filled.data, traces, cudaMemcpyDeviceToHost, stream),
                    error) ||
        !LITHO_CUDA(cudaStreamSynchronize(stream), error))
        return FALSE;
    for (gint64 k = 0; k < traces; k++)
        pass->out
            ->live[litho_cube_trace_index(pass->out, part.lo[0] + k / nx, part.lo[1] + k % nx)] |=
            filled[k];
    return TRUE;
}

gboolean patch_fill(PatchPlan *p, const LithoPass *pass, const float *in, const float *raw,
                    float *out, LithoRun *run, GError **error)
{
    const LithoPatchBlocks blocks = litho_patch_blocks(&p->grid);
    for (int i = 0; i < blocks.n[0]; i++)
        for (int j = 0; j < blocks.n[1]; j++) {
            const LithoBox block = litho_patch_block(&p->grid, i, j);
            if (!litho_box_empty(litho_box_intersect(block, pass->region)) &&
                !fill_block(p, pass, block, litho_patch_block_frame(&p->grid, i, j), in, raw, out,
                            run, error))
                return FALSE;
        }
    return TRUE;
}
