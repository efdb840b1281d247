// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/probe.h"

#include "kernels/cuda/cuda.h"

enum { REPEATS = 7 };

typedef struct Probe {
    LithoCudaContext *context;
    LithoCudaArray from, to;
    size_t bytes;
    int processors;
    cudaEvent_t start, stop;
} Probe;

static int launch(Probe *p, gboolean fma)
{
    cudaStream_t stream = litho_cuda_stream(p->context);
    if (fma) // 64 blocks a multiprocessor: eight full waves of eight
        return litho_probe_fma(p->to.data, 64 * p->processors, 0.5f, stream);
    return litho_probe_copy(p->to.data, p->from.data, p->bytes, p->processors, stream);
}

// Best of REPEATS, the first left out: a roof is what the device can do at all.
static gboolean best_ms(Probe *p, gboolean fma, double *best, GError **error)
{
    cudaStream_t stream = litho_cuda_stream(p->context);
    *best = G_MAXDOUBLE;
    for (int k = 0; k <= REPEATS; k++) {
        float ms = 0;
        if (!LITHO_CUDA(cudaEventRecord(p->start, stream), error) ||
            !LITHO_CUDA(launch(p, fma), error) ||
            !LITHO_CUDA(cudaEventRecord(p->stop, stream), error) ||
            !LITHO_CUDA(cudaEventSynchronize(p->stop), error) ||
            !LITHO_CUDA(cudaEventElapsedTime(&ms, p->start, p->stop), error))
            return FALSE;
        if (k > 0)
            *best = MIN(*best, ms);
    }
    return TRUE;
}

static gboolean prepare(Probe *p, GError **error)
{
    guint64 unused = 0, total = 0;
    int ordinal = 0;
    if (!litho_cuda_memory(litho_cuda_device(p->context), &unused, &total, error))
        return FALSE;
    // 1 GiB is many times any L2; a quarter of what is free on a small or busy card.
    p->bytes = MIN((guint64)1 << 30, unused / 4) / 4096 * 4096;
    return LITHO_CUDA(cudaGetDevice(&ordinal), error) &&
           LITHO_CUDA(
               cudaDeviceGetAttribute(&p->processors, cudaDevAttrMultiProcessorCount, ordinal),
               error) &&
           litho_cuda_reserve(p->context, &p->from, p->bytes, error) &&
           litho_cuda_reserve(p->context, &p->to, p->bytes, error) &&
           LITHO_CUDA(cudaMemsetAsync(p->from.data, 0x3c, p->bytes, litho_cuda_stream(p->context)),
                      error) &&
           LITHO_CUDA(cudaEventCreate(&p->start), error) &&
           LITHO_CUDA(cudaEventCreate(&p->stop), error);
}

gboolean litho_cuda_probe_roof(int device, double *bytes_per_s, double *flops_per_s, GError **error)
{
    Probe p = {.context = litho_cuda_context_new(device, error)};
    if (!p.context)
        return FALSE;
    double copy_ms = 0, fma_ms = 0;
    gboolean ok = prepare(&p, error) && best_ms(&p, FALSE, &copy_ms, error) &&
                  best_ms(&p, TRUE, &fma_ms, error);
    if (ok) {
        const double flops = 2.0 * 8 * 4 * LITHO_PROBE_ROUNDS * 256 * 64 * p.processors;
        *bytes_per_s = 2.0 * p.bytes / (copy_ms * 1e-3);
        *flops_per_s = flops / (fma_ms * 1e-3);
    }
    if (p.start)
        cudaEventDestroy(p.start);
    if (p.stop)
        cudaEventDestroy(p.stop);
    litho_cuda_release(p.context, &p.from);
    litho_cuda_release(p.context, &p.to);
    litho_cuda_context_free(p.context);
    return ok;
}
