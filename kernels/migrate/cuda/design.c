// SPDX-License-Identifier: GPL-3.0-or-later
//
// Design of polynomials on the card (design.cu): all of a pass in one launch, those that take
// longest first.
#include <stdlib.h>
#include <string.h>

#include "kernels/migrate/cuda/engine.h"

// Designs that the card can make.
typedef struct Batch {
    guint n;
    size_t shared, room; // bytes that the largest needs
    LithoPoly *poly[];   // borrowed
} Batch;

static gboolean is_real(const LithoPoly *poly)
{
    return poly->spec.stop > 0;
}

static int longest_first(const void *a, const void *b)
{
    const LithoPoly *p = *(LithoPoly *const *)a, *q = *(LithoPoly *const *)b;
    const size_t left = mig_gpu_design_shared(p->spec.degree, is_real(p)),
                 right = mig_gpu_design_shared(q->spec.degree, is_real(q));
    return (left < right) - (left > right);
}

// A card with little shared memory leaves high degrees to the host.
static Batch *batch_of(const MigGpu *card, LithoPoly *const *polys, guint n)
{
    Batch *batch = g_malloc0(sizeof *batch + n * sizeof *batch->poly);
    for (guint k = 0; k < n; k++) {
        const int degree = polys[k]->spec.degree;
        const size_t shared = mig_gpu_design_shared(degree, is_real(polys[k]));
        if (shared > card->shared)
            continue;
        batch->shared = MAX(batch->shared, shared);
        batch->room = MAX(batch->room, mig_gpu_design_bytes(degree, is_real(polys[k])));
        batch->poly[batch->n++] = polys[k];
    }
    qsort(batch->poly, batch->n, sizeof *batch->poly, longest_first);
    return batch;
}

static void fill_specs(const Batch *batch, MigGpuPolySpec *specs)
{
    for (guint k = 0; k < batch->n; k++) {
        const LithoPolySpec *from = &batch->poly[k]->spec;
        specs[k] = (MigGpuPolySpec){.kap = from->kap,
                                    .rho = from->rho,
                                    .theta = from->theta,
                                    .w0 = from->w0,
                                    .tol = from->tol,
                                    .stop = from->stop,
                                    .transition = LITHO_POLY_TRANSITION,
                                    .degree = from->degree};
    }
}

// Scratch of the waves serves as rooms: none are under way yet.
static gboolean run_batch(MigGpu *card, const Batch *batch, GError **error)
{
    const gsize specs_bytes = batch->n * sizeof(MigGpuPolySpec),
                polys_bytes = batch->n * sizeof(MigGpuPoly);
    const int most = MAX((int)(MIG_GPU_DESIGN_ROOM / batch->room), 1),
              blocks = MIN(MIN(most, (int)batch->n), 8 * card->processors);
    cudaStream_t stream = litho_cuda_stream(card->context);
    g_autofree MigGpuPolySpec *specs = g_new(MigGpuPolySpec, batch->n);
    g_autofree MigGpuPoly *polys = g_new(MigGpuPoly, batch->n);
    fill_specs(batch, specs);
    // Specs, designs, and the launch's number behind them.
    if (!litho_cuda_reserve(card->context, &card->specs, specs_bytes + polys_bytes + sizeof(double),
                            error) ||
        !litho_cuda_reserve(card->context, &card->scratch, batch->room * blocks, error))
        return FALSE;
    MigGpuPolySpec *from = card->specs.data;
    MigGpuPoly *to = (MigGpuPoly *)((char *)card->specs.data + specs_bytes);
    if (!LITHO_CUDA(cudaMemcpyAsync(from, specs, specs_bytes, cudaMemcpyHostToDevice, stream),
                    error) ||
        !LITHO_CUDA(mig_gpu_design(from, (int)batch->n, batch->shared, card->scratch.data,
                                   batch->room, blocks, (int *)(to + batch->n), to, stream),
                    error) ||
        !LITHO_CUDA(cudaMemcpyAsync(polys, to, polys_bytes, cudaMemcpyDeviceToHost, stream),
                    error) ||
        !LITHO_CUDA(cudaStreamSynchronize(stream), error))
        return FALSE;
    for (guint k = 0; k < batch->n; k++) {
        LithoPoly *poly = batch->poly[k];
        poly->tau = polys[k].tau;
        memcpy(poly->re, polys[k].re, sizeof poly->re);
        memcpy(poly->im, polys[k].im, sizeof poly->im);
    }
    return TRUE;
}

gboolean mig_gpu_design_polys(gpointer engine, LithoPoly *const *polys, guint n, LithoRun *run,
                              GError **error)
{
    MigGpu *card = engine;
    g_autofree Batch *batch = batch_of(card, polys, n);
    return (batch->n == 0 || run_batch(card, batch, error)) && litho_run_step(run, 0, n, error);
}
