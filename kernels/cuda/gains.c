// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/gains.h"

#include "kernels/cuda/gains_kernels.h"

static LithoGainsBox gains_box(LithoBox box)
{
    LithoGainsBox to;
    for (int a = 0; a < 3; a++) {
        to.lo[a] = box.lo[a];
        to.n[a] = litho_box_size(box, a);
    }
    return to;
}

static LithoCube *fetch(const LithoBox *box, LithoRun *run, gpointer data, GError **error)
{
    const LithoCudaGains *g = data;
    return litho_cuda_fetch_box(g->context, g->in, *box, run, error);
}

gboolean litho_cuda_times_gains(LithoCudaContext *context, LithoCudaArray *array,
                                const LithoGrid *grid, const float *gain, float *out, LithoBox held,
                                LithoBox region, GError **error)
{
    return litho_cuda_put(context, array, gain, litho_grid_traces(grid) * sizeof *gain, error) &&
           LITHO_CUDA(litho_gains_multiply(out, gains_box(held), gains_box(region), array->data,
                                           grid->axis[1].n, litho_cuda_stream(context)),
                      error);
}

// A LithoGainsDevice's divide(): a copy on the device, times 1 / gain.
static LithoCube *divide(const LithoCube *in, const float *gain, LithoRun *run, gpointer data,
                         GError **error)
{
    const LithoCudaGains *g = data;
    cudaStream_t stream = litho_cuda_stream(g->context);
    const gsize traces = litho_grid_traces(&in->grid);
    const float *from = litho_cuda_input(g->context, in, run, error);
    g_autoptr(LithoCube) cube = from ? litho_cuda_cube_like(g->context, in, error) : NULL;
    float *to = cube ? litho_cuda_output(g->context, cube, error) : NULL;
    if (!to)
        return NULL;
    g_autofree float *by = g_new(float, traces);
    for (gsize k = 0; k < traces; k++)
        by[k] = 1 / gain[k];
    const gsize bytes = litho_box_count(in->held) * sizeof(float);
    if (!LITHO_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), error) ||
        !litho_cuda_times_gains(g->context, g->gain, &in->grid, by, to, in->held, in->held,
                                error) ||
        !LITHO_CUDA(cudaStreamSynchronize(stream), error))
        return NULL;
    return g_steal_pointer(&cube);
}

void litho_cuda_gains_set(LithoCudaGains *g, LithoCudaContext *context, LithoCudaArray *gain,
                          const LithoCube *in)
{
    g->context = context;
    g->gain = gain;
    g->in = in;
    g->blocks = (LithoReader){.grid = &in->grid, .read = fetch, .data = g};
    g->device =
        (LithoGainsDevice){.blocks = in->samples ? NULL : &g->blocks, .divide = divide, .data = g};
}
