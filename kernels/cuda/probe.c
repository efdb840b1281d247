// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/probe.h"

#include "kernels/cuda/cuda.h"

enum {
    REPEATS = 7,
    LINK_BYTES = 64 << 20, // a millisecond and more on the fastest link
};

// The work that is timed.
typedef enum { PROBE_COPY, PROBE_FMA, PROBE_UP, PROBE_DOWN } What;

typedef struct Probe {
    LithoCudaContext *context;
    LithoCudaArray from, to;
    void *pinned; // of the host, or NULL
    size_t bytes;
    int processors;
    cudaEvent_t start, stop;
} Probe;

static int launch(Probe *p, What what)
{
    cudaStream_t stream = litho_cuda_stream(p->context);
    switch (what) {
    case PROBE_UP:
        return cudaMemcpyAsync(p->to.data, p->pinned, p->bytes, cudaMemcpyHostToDevice, stream);
    case PROBE_DOWN:
        return cudaMemcpyAsync(p->pinned, p->to.data, p->bytes, cudaMemcpyDeviceToHost, stream);
    case PROBE_FMA: // 64 blocks a multiprocessor: eight full waves of eight
        return litho_probe_fma(p->to.data, 64 * p->processors, 0.5f, stream);
    case PROBE_COPY:
        break;
    }
    return litho_probe_copy(p->to.data, p->from.data, p->bytes, p->processors, stream);
}

// Best of REPEATS, the first left out: a roof is what the device can do at all.
static gboolean best_ms(Probe *p, What what, double *best, GError **error)
{
    cudaStream_t stream = litho_cuda_stream(p->context);
    *best = G_MAXDOUBLE;
    for (int k = 0; k <= REPEATS; k++) {
        float ms = 0;
        if (!LITHO_CUDA(cudaEventRecord(p->start, stream), error) ||
            !LITHO_CUDA(launch(p, what), error) ||
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

static void clear(Probe *p)
{
    if (p->start)
        cudaEventDestroy(p->start);
    if (p->stop)
        cudaEventDestroy(p->stop);
    if (p->pinned)
        cudaFreeHost(p->pinned);
    litho_cuda_release(p->context, &p->from);
    litho_cuda_release(p->context, &p->to);
    litho_cuda_context_free(p->context);
}

gboolean litho_cuda_probe_roof(int device, double *bytes_per_s, double *flops_per_s, GError **error)
{
    Probe p = {.context = litho_cuda_context_new(device, error)};
    if (!p.context)
        return FALSE;
    double copy_ms = 0, fma_ms = 0;
    gboolean ok = prepare(&p, error) && best_ms(&p, PROBE_COPY, &copy_ms, error) &&
                  best_ms(&p, PROBE_FMA, &fma_ms, error);
    if (ok) {
        const double flops = 2.0 * 8 * 4 * LITHO_PROBE_ROUNDS * 256 * 64 * p.processors;
        *bytes_per_s = 2.0 * p.bytes / (copy_ms * 1e-3);
        *flops_per_s = flops / (fma_ms * 1e-3);
    }
    clear(&p);
    return ok;
}

static gboolean prepare_link(Probe *p, GError **error)
{
    p->bytes = LINK_BYTES;
    return litho_cuda_reserve(p->context, &p->to, p->bytes, error) &&
           LITHO_CUDA(cudaMallocHost(&p->pinned, p->bytes), error) &&
           LITHO_CUDA(cudaEventCreate(&p->start), error) &&
           LITHO_CUDA(cudaEventCreate(&p->stop), error);
}

gboolean litho_cuda_probe_link(int device, double *up, double *down, GError **error)
{
    Probe p = {.context = litho_cuda_context_new(device, error)};
    if (!p.context)
        return FALSE;
    double up_ms = 0, down_ms = 0;
    const gboolean ok = prepare_link(&p, error) && best_ms(&p, PROBE_UP, &up_ms, error) &&
                        best_ms(&p, PROBE_DOWN, &down_ms, error);
    if (ok) {
        *up = p.bytes / (up_ms * 1e-3);
        *down = p.bytes / (down_ms * 1e-3);
    }
    clear(&p);
    return ok;
}
