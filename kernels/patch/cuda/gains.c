// SPDX-License-Identifier: GPL-3.0-or-later
//
// Traces over their gains on a device. What the host asks of a cube there is read in parts, so that
// the cube gets no host samples.
#include <string.h>

#include "kernels/patch/cuda/plan.h"

LithoCube *patch_fetch_box(const LithoBox *box, LithoRun *run, gpointer data, GError **error)
{
    const PatchFetch *fetch = data;
    return litho_cuda_fetch_box(fetch->p->context, fetch->cube, *box, run, error);
}

// A PatchGainsDevice's divide(): a copy on the device, times 1 / gain.
static LithoCube *divide(const LithoCube *in, const float *gain, LithoRun *run, gpointer data,
                         GError **error)
{
    PatchPlan *p = ((const PatchFetch *)data)->p;
    cudaStream_t stream = litho_cuda_stream(p->context);
    const gsize traces = litho_grid_traces(&p->grid);
    const float *from = litho_cuda_input(p->context, in, run, error);
    g_autoptr(LithoCube) cube = from ? litho_cuda_cube_like(p->context, in, error) : NULL;
    float *to = cube ? litho_cuda_output(p->context, cube, error) : NULL;
    if (!to)
        return NULL;
    g_autofree float *by = g_new(float, traces);
    for (gsize k = 0; k < traces; k++)
        by[k] = 1 / gain[k];
    const LithoPatchTask task = {
        .region = patch_box(in->held), .out = to, .out_held = patch_box(in->held)};
    const gsize bytes = litho_box_count(in->held) * sizeof(float);
    if (!litho_cuda_put(p->context, &p->gain, by, traces * sizeof *by, error) ||
        !LITHO_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), error) ||
        !LITHO_CUDA(litho_patch_multiply(&task, p->gain.data, p->grid.axis[1].n, stream), error) ||
        !LITHO_CUDA(cudaStreamSynchronize(stream), error))
        return NULL;
    return g_steal_pointer(&cube);
}

const LithoCube *patch_over_gains(PatchPlan *p, const LithoPass *pass, LithoRun *run,
                                  GError **error)
{
    PatchFetch fetch = {p, pass->in};
    const LithoReader blocks = {.grid = &pass->in->grid, .read = patch_fetch_box, .data = &fetch};
    const PatchGainsDevice device = {
        .blocks = pass->in->samples ? NULL : &blocks, .divide = divide, .data = &fetch};
    return patch_gains_divide(&p->gains, pass->params, pass->in, &device, pass->measured, run,
                              error);
}

gboolean patch_times_gains(PatchSweep *s, GError **error)
{
    PatchPlan *p = s->p;
    const gsize bytes = sizeof(float) * litho_grid_traces(&p->grid);
    return litho_cuda_put(p->context, &p->gain, p->gains.of.gain, bytes, error) &&
           LITHO_CUDA(litho_patch_multiply(&s->task, p->gain.data, p->grid.axis[1].n,
                                           litho_cuda_stream(p->context)),
                      error);
}
