// SPDX-License-Identifier: GPL-3.0-or-later
//
// Device memory. Everything comes from the device's default pool, told to keep what is given back:
// while a slider is dragged every pass makes an output cube and drops an older one, and cudaMalloc
// and cudaFree would each wait for the whole device.
#include <string.h>

#include "core/error.h"
#include "kernels/cuda/cuda.h"

enum { MAX_DEVICES = 64 };

// Allocation order: one stream per device that nothing else uses.
typedef struct Heap {
    GMutex lock;
    cudaStream_t stream; // NULL until the first allocation
    cudaMemPool_t pool;
} Heap;

static Heap heaps[MAX_DEVICES];

// Current device = `device` on success.
static Heap *heap_of(int device, GError **error)
{
    if (!litho_cuda_use(device, error))
        return NULL;
    Heap *heap = &heaps[device];
    g_mutex_lock(&heap->lock);
    gboolean ready = heap->stream != NULL;
    if (!ready) {
        int ordinal = 0;
        guint64 keep = G_MAXUINT64;
        ready =
            LITHO_CUDA(cudaGetDevice(&ordinal), error) &&
            LITHO_CUDA(cudaDeviceGetDefaultMemPool(&heap->pool, ordinal), error) &&
            LITHO_CUDA(cudaMemPoolSetAttribute(heap->pool, cudaMemPoolAttrReleaseThreshold, &keep),
                       error) &&
            LITHO_CUDA(cudaStreamCreateWithFlags(&heap->stream, cudaStreamNonBlocking), error);
    }
    g_mutex_unlock(&heap->lock);
    return ready ? heap : NULL;
}

gboolean litho_cuda_memory(int device, guint64 *free_bytes, guint64 *total, GError **error)
{
    Heap *heap = heap_of(device, error);
    size_t unused = 0, all = 0;
    guint64 reserved = 0, used = 0;
    if (!heap || !LITHO_CUDA(cudaMemGetInfo(&unused, &all), error) ||
        !LITHO_CUDA(
            cudaMemPoolGetAttribute(heap->pool, cudaMemPoolAttrReservedMemCurrent, &reserved),
            error) ||
        !LITHO_CUDA(cudaMemPoolGetAttribute(heap->pool, cudaMemPoolAttrUsedMemCurrent, &used),
                    error))
        return FALSE;
    *free_bytes = unused + (reserved - used);
    *total = all;
    return TRUE;
}

// One try; FALSE without an error when there is no room.
static gboolean try_alloc(Heap *heap, void **data, size_t bytes, gboolean *full, GError **error)
{
    cudaError_t status = cudaMallocAsync(data, bytes, heap->stream);
    if (status == cudaSuccess)
        status = cudaStreamSynchronize(heap->stream);
    *full = status == cudaErrorMemoryAllocation;
    if (*full) {
        cudaGetLastError();
        *data = NULL;
        return FALSE;
    }
    return LITHO_CUDA_SAYING(status, error, "%zu bytes", bytes);
}

gboolean litho_cuda_alloc(int device, void **data, size_t bytes, GError **error)
{
    *data = NULL;
    Heap *heap = heap_of(device, error);
    if (!heap)
        return FALSE;
    gboolean full = FALSE;
    bytes = MAX(bytes, 1);
    if (try_alloc(heap, data, bytes, &full, error))
        return TRUE;
    if (full && cudaMemPoolTrimTo(heap->pool, 0) == cudaSuccess && // pieces of the wrong size
        try_alloc(heap, data, bytes, &full, error))
        return TRUE;
    if (!full)
        return FALSE;
    guint64 unused = 0, total = 0;
    if (litho_cuda_memory(device, &unused, &total, error)) {
        const double gib = 1 << 30;
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY,
                    "%.2f GiB of memory are needed on the GPU and %.2f of its %.2f GiB are free",
                    bytes / gib, unused / gib, total / gib);
    }
    return FALSE;
}

void litho_cuda_free(int device, void *data)
{
    Heap *heap = data ? heap_of(device, NULL) : NULL;
    if (heap)
        cudaFreeAsync(data, heap->stream);
}

LithoBuffer *litho_cuda_buffer_alloc(int device, gint64 count, GError **error)
{
    void *data = NULL;
    if (!litho_cuda_alloc(device, &data, (size_t)MAX(count, 0) * sizeof(float), error))
        return NULL;
    LithoBuffer *buffer = g_new0(LithoBuffer, 1);
    *buffer = (LithoBuffer){
        .backend = litho_cuda_backend(), .device = device, .count = count, .data = data};
    return buffer;
}

void litho_cuda_buffer_free(LithoBuffer *buffer)
{
    if (!buffer)
        return;
    litho_cuda_free(buffer->device, buffer->data);
    g_free(buffer);
}

static gboolean inside(const LithoBuffer *buffer, gint64 at, gint64 count, GError **error)
{
    if (at >= 0 && count >= 0 && count <= buffer->count && at <= buffer->count - count)
        return TRUE;
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
                "samples %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                " do not lie inside a buffer of %" G_GINT64_FORMAT,
                at, at + count, buffer->count);
    return FALSE;
}

gboolean litho_cuda_buffer_upload(LithoBuffer *buffer, gint64 at, const float *from, gint64 count,
                                  GError **error)
{
    return inside(buffer, at, count, error) &&
           litho_cuda_upload(buffer->device, (float *)buffer->data + at, from, count, error);
}

gboolean litho_cuda_buffer_download(const LithoBuffer *buffer, gint64 at, float *to, gint64 count,
                                    GError **error)
{
    return inside(buffer, at, count, error) &&
           litho_cuda_download(buffer->device, to, (const float *)buffer->data + at, count, error);
}
