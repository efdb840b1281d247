// SPDX-License-Identifier: GPL-3.0-or-later
//
// Traces over their gains on a device. What the host asks of a cube there is read in parts, so that
// the cube gets no host samples.
#include <string.h>

#include "kernels/patch/cuda/plan.h"

LithoCube *patch_fetch_box(const LithoBox *box, LithoRun *run, gpointer data, GError **error)
{
    const PatchFetch *fetch = data;
    LithoCudaContext *context = fetch->p->context;
    const LithoBox held = fetch->cube->held;
    const gsize line = litho_box_size(held, 1) * litho_box_size(held, 2) * sizeof(float);
    const gsize wanted = litho_box_size(*box, 1) * litho_box_size(*box, 2) * sizeof(float);
    const float *from = litho_cuda_input(context, fetch->cube, run, error);
    g_autoptr(LithoCube) cube = litho_cube_new_box(&fetch->cube->grid, *box, error);
    cudaStream_t stream = litho_cuda_stream(context);
    if (!from || !cube)
        return NULL;
    from += litho_cube_trace_index(fetch->cube, box->lo[0], box->lo[1]) * litho_box_size(held, 2);
    for (gint64 il = box->lo[0]; il < box->hi[0]; il++)
        memcpy(cube->live + litho_cube_trace_index(cube, il, box->lo[1]),
               fetch->cube->live + litho_cube_trace_index(fetch->cube, il, box->lo[1]),
               litho_box_size(*box, 1));
    if (!LITHO_CUDA(cudaMemcpy2DAsync(cube->samples, wanted, from, line, wanted,
                                      litho_box_size(*box, 0), cudaMemcpyDeviceToHost, stream),
                    error) ||
        !LITHO_CUDA(cudaStreamSynchronize(stream), error))
        return NULL;
    return g_steal_pointer(&cube);
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
