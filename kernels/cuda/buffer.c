// SPDX-License-Identifier: GPL-3.0-or-later
//
// Device memory. Everything comes from the device's default pool, told to keep what is given back:
// while a slider is dragged every pass makes an output cube and drops an older one, and cudaMalloc
// and cudaFree would each wait for the whole device.
#include <string.h>

#include "core/error.h"
#include "core/phases.h"
#include "core/text.h"
#include "kernels/cuda/cuda.h"

// Allocation order: one stream per device that nothing else uses.
typedef struct Heap {
    GMutex lock;
    cudaStream_t stream; // NULL until the first allocation
    cudaMemPool_t pool;
} Heap;

static Heap heaps[LITHO_CUDA_DEVICES];
static guint64 limit; // bytes that all jobs together may take of a device, 0 = all; atomic

void litho_cuda_limit_memory(guint64 bytes)
{
    __atomic_store_n(&limit, bytes, __ATOMIC_RELAXED);
}

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

// Bytes the driver counts as free, the pool's beyond those in use, the pool's in use, and all.
typedef struct Room {
    guint64 unused, kept, used, total;
} Room;

static gboolean measure(const Heap *heap, Room *room, GError **error)
{
    size_t unused = 0, all = 0;
    guint64 reserved = 0;
    // Freed memory counts as used until the stream has got there.
    if (!LITHO_CUDA(cudaStreamSynchronize(heap->stream), error) ||
        !LITHO_CUDA(cudaMemGetInfo(&unused, &all), error) ||
        !LITHO_CUDA(
            cudaMemPoolGetAttribute(heap->pool, cudaMemPoolAttrReservedMemCurrent, &reserved),
            error) ||
        !LITHO_CUDA(cudaMemPoolGetAttribute(heap->pool, cudaMemPoolAttrUsedMemCurrent, &room->used),
                    error))
        return FALSE;
    room->unused = unused;
    room->total = all;
    room->kept = reserved - MIN(reserved, room->used);
    const guint64 cap = __atomic_load_n(&limit, __ATOMIC_RELAXED);
    if (cap > 0 && cap < room->total) {
        const guint64 left = cap - MIN(cap, room->used);
        room->total = cap;
        room->kept = MIN(room->kept, left);
        room->unused = MIN(room->unused, left - room->kept);
    }
    return TRUE;
}

gboolean litho_cuda_memory(int device, guint64 *free_bytes, guint64 *total, GError **error)
{
    const Heap *heap = heap_of(device, error);
    Room room;
    if (!heap || !measure(heap, &room, error))
        return FALSE;
    *free_bytes = room.unused + room.kept;
    *total = room.total;
    return TRUE;
}

static gboolean refuse(const Heap *heap, size_t bytes, GError **error)
{
    const double gib = 1 << 30;
    Room room;
    if (measure(heap, &room, error))
        litho_refuse(error, LITHO_ERROR_MEMORY,
                     "%.3f GiB more are needed on the GPU and %.3f of its %.3f GiB are free",
                     bytes / gib, (room.unused + room.kept) / gib, room.total / gib);
    return FALSE;
}

// One try; FALSE without an error when there is no room.
static gboolean try_alloc(const Heap *heap, void **data, size_t bytes, gboolean *full,
                          GError **error)
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

// The cap is looked at before the allocation, without a lock: two jobs that allocate in the same
// instant may pass it by the smaller of the two.
gboolean litho_cuda_alloc(int device, void **data, size_t bytes, GError **error)
{
    *data = NULL;
    Heap *heap = heap_of(device, error);
    if (!heap)
        return FALSE;
    gboolean full = FALSE;
    bytes = MAX(bytes, 1);
    if (__atomic_load_n(&limit, __ATOMIC_RELAXED) > 0) {
        Room room;
        if (!measure(heap, &room, error))
            return FALSE;
        if (bytes > room.unused + room.kept)
            return refuse(heap, bytes, error);
    }
    if (try_alloc(heap, data, bytes, &full, error))
        return TRUE;
    if (full && cudaMemPoolTrimTo(heap->pool, 0) == cudaSuccess && // pieces of the wrong size
        try_alloc(heap, data, bytes, &full, error))
        return TRUE;
    return full ? refuse(heap, bytes, error) : FALSE;
}

void litho_cuda_free(int device, void *data)
{
    Heap *heap = data ? heap_of(device, NULL) : NULL;
    if (heap)
        cudaFreeAsync(data, heap->stream);
}

void litho_cuda_link(int reader, int owner)
{
    static guint8 asked[LITHO_CUDA_DEVICES][LITHO_CUDA_DEVICES];
    if (__atomic_exchange_n(&asked[reader][owner], 1, __ATOMIC_RELAXED))
        return;
    Heap *heap = heap_of(owner, NULL);
    int linked = 0;
    if (!heap || cudaDeviceCanAccessPeer(&linked, litho_cuda_ordinal(reader),
                                         litho_cuda_ordinal(owner)) != cudaSuccess)
        linked = 0;
    const struct cudaMemAccessDesc access = {
        .location = {.type = cudaMemLocationTypeDevice, .id = litho_cuda_ordinal(reader)},
        .flags = cudaMemAccessFlagsProtReadWrite};
    if (linked)
        cudaMemPoolSetAccess(heap->pool, &access, 1);
    cudaGetLastError();
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
    const char *around = litho_phase_begin("device memory goes back");
    Heap *heap = heap_of(buffer->device, NULL);
    if (heap)
        litho_cuda_gl_free_after(buffer->data, heap->stream);
    litho_cuda_free(buffer->device, buffer->data);
    litho_phase_end(around);
    g_free(buffer);
}

static gboolean inside(const LithoBuffer *buffer, gint64 at, gint64 count, GError **error)
{
    if (at >= 0 && count >= 0 && count <= buffer->count && at <= buffer->count - count)
        return TRUE;
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
                _("samples %" PRId64 " to %" PRId64 " do not lie inside a buffer of %" PRId64), at,
                at + count, buffer->count);
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

const float *litho_cuda_samples_on(int device, const LithoCube *cube, void **copy, GError **error)
{
    const LithoDevice here = {.backend = litho_cuda_backend(), .index = device};
    const gint64 count = litho_box_count(cube->held);
    *copy = NULL;
    if (!litho_device_upload(here, (LithoCube *)cube, error))
        return NULL;
    if (cube->device->device == device)
        return cube->device->data;
    if (!litho_cuda_alloc(device, copy, (size_t)count * sizeof(float), error))
        return NULL;
    return litho_cuda_copy_between(device, *copy, cube->device->device, cube->device->data, count,
                                   error)
               ? *copy
               : NULL;
}
