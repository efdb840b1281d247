// SPDX-License-Identifier: GPL-3.0-or-later
//
// Host <-> device through pinned buffers. cudaMemcpy from pageable memory copies with one thread
// and reaches 6-12 GB/s; a few threads that fill a ring of pinned pieces keep the bus (50 GB/s)
// busy. One ring per device and direction, so that an upload and a download run side by side.
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "core/error.h"
#include "kernels/cuda/cuda.h"

enum {
    PIECES = 4,
    PIECE = 4 << 20, // floats; 16 MiB: 0.3 ms on the bus, long beside a copy's fixed 10 us
    THREADS = 16,    // 8, 12, 16 on a host of 16: 33, 46, 51 GB/s of the link's 55
};

typedef struct Ring {
    GMutex lock; // held for a whole transfer: the bus is one
    cudaStream_t stream;
    float *pinned[PIECES];
    cudaEvent_t done[PIECES];
    gboolean ready;
} Ring;

static Ring rings[LITHO_CUDA_DEVICES][2]; // [device][0 up, 1 down]

static gboolean ring_prepare(Ring *ring, GError **error)
{
    if (ring->ready)
        return TRUE;
    if (!ring->stream &&
        !LITHO_CUDA(cudaStreamCreateWithFlags(&ring->stream, cudaStreamNonBlocking), error))
        return FALSE;
    for (int k = 0; k < PIECES; k++) {
        if (!ring->pinned[k] &&
            !LITHO_CUDA(cudaMallocHost((void **)&ring->pinned[k], PIECE * sizeof(float)), error))
            return FALSE;
        if (!ring->done[k] &&
            !LITHO_CUDA(cudaEventCreateWithFlags(&ring->done[k], cudaEventDisableTiming), error))
            return FALSE;
    }
    ring->ready = TRUE;
    return TRUE;
}

// memcpy() past the caches. A result that memcpy() writes is first read, line by line, to be
// overwritten: two thirds of the link's speed, where this reaches 95 %.
static void stream_out(float *to, const float *from, gint64 count)
{
#ifdef __SSE2__
    enum { LINE = 16 }; // floats of a cache line
    const gint64 head = MIN(count, (gint64)(-((guintptr)to / sizeof(float)) % LINE));
    memcpy(to, from, head * sizeof(float));
    gint64 k = head;
    for (; k + LINE <= count; k += LINE)
        for (int q = 0; q < LINE; q += 4)
            _mm_stream_ps(to + k + q, _mm_loadu_ps(from + k + q));
    _mm_sfence(); // before anyone is told that the samples are there
    memcpy(to + k, from + k, (count - k) * sizeof(float));
#else
    memcpy(to, from, count * sizeof(float));
#endif
}

static void copy_in(float *to, const float *from, gint64 count)
{
    memcpy(to, from, count * sizeof(float));
}

// By several threads.
static void copy(float *to, const float *from, gint64 count,
                 void (*share_of)(float *to, const float *from, gint64 count))
{
    const gint64 share = 1 << 18; // 1 MiB: below this a thread costs more than it saves
    gint64 n = (count + share - 1) / share;
    int threads = CLAMP((int)n, 1, MIN(THREADS, litho_run_threads(NULL)));
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (gint64 k = 0; k < n; k++)
        share_of(to + k * share, from + k * share, MIN(share, count - k * share));
}

gboolean litho_cuda_upload_pieces(int device, float *to, const float *from, gint64 count,
                                  LithoCudaSent sent, gpointer data, GError **error)
{
    if (!litho_cuda_use(device, error))
        return FALSE;
    Ring *ring = &rings[device][0];
    g_mutex_lock(&ring->lock);
    gboolean ok = ring_prepare(ring, error);
    for (gint64 at = 0, k = 0; ok && at < count; at += PIECE, k++) {
        const int slot = k % PIECES;
        const gint64 n = MIN(PIECE, count - at);
        ok = LITHO_CUDA(cudaEventSynchronize(ring->done[slot]), error);
        if (!ok)
            break;
        copy(ring->pinned[slot], from + at, n, copy_in);
        ok = LITHO_CUDA(cudaMemcpyAsync(to + at, ring->pinned[slot], n * sizeof(float),
                                        cudaMemcpyHostToDevice, ring->stream),
                        error) &&
             LITHO_CUDA(cudaEventRecord(ring->done[slot], ring->stream), error) &&
             (!sent || sent(at + n, ring->done[slot], data, error));
    }
    // Also after a failure: nobody may reuse `to` while a piece is under way.
    cudaError_t last = ring->stream ? cudaStreamSynchronize(ring->stream) : cudaSuccess;
    ok = ok && LITHO_CUDA(last, error);
    g_mutex_unlock(&ring->lock);
    return ok;
}

gboolean litho_cuda_upload(int device, float *to, const float *from, gint64 count, GError **error)
{
    return litho_cuda_upload_pieces(device, to, from, count, NULL, NULL, error);
}

// All the work is the bus's.
static gboolean download_pinned(Ring *ring, float *to, const float *from, gint64 count,
                                GError **error)
{
    return LITHO_CUDA(cudaMemcpyAsync(to, from, count * sizeof(float), cudaMemcpyDeviceToHost,
                                      ring->stream),
                      error) &&
           LITHO_CUDA(cudaStreamSynchronize(ring->stream), error);
}

static gboolean is_pinned(const void *memory)
{
    struct cudaPointerAttributes is = {0};
    const gboolean known = cudaPointerGetAttributes(&is, memory) == cudaSuccess;
    cudaGetLastError();
    return known && is.type == cudaMemoryTypeHost;
}

static gint pinned_by; // device of the last pin(), atomic: unpin() is to wake no other

gboolean litho_cuda_pin(int device, gpointer memory, gsize bytes)
{
    const gboolean ok = litho_cuda_use(device, NULL) &&
                        cudaHostRegister(memory, bytes, cudaHostRegisterPortable) == cudaSuccess;
    g_atomic_int_set(&pinned_by, device);
    cudaGetLastError();
    return ok;
}

void litho_cuda_unpin(gpointer memory)
{
    if (litho_cuda_use(g_atomic_int_get(&pinned_by), NULL))
        cudaHostUnregister(memory);
    cudaGetLastError();
}

gboolean litho_cuda_download(int device, float *to, const float *from, gint64 count, GError **error)
{
    if (!litho_cuda_use(device, error))
        return FALSE;
    Ring *ring = &rings[device][1];
    g_mutex_lock(&ring->lock);
    gboolean ok = ring_prepare(ring, error);
    if (ok && is_pinned(to)) {
        ok = download_pinned(ring, to, from, count, error);
        g_mutex_unlock(&ring->lock);
        return ok;
    }
    const gint64 pieces = (count + PIECE - 1) / PIECE;
    // Piece k is asked for while piece k - PIECES + 1 is copied out of its pinned buffer.
    for (gint64 k = 0; ok && k < pieces + PIECES - 1; k++) {
        if (k < pieces)
            ok = LITHO_CUDA(cudaMemcpyAsync(ring->pinned[k % PIECES], from + k * PIECE,
                                            MIN(PIECE, count - k * PIECE) * sizeof(float),
                                            cudaMemcpyDeviceToHost, ring->stream),
                            error) &&
                 LITHO_CUDA(cudaEventRecord(ring->done[k % PIECES], ring->stream), error);
        const gint64 out = k - (PIECES - 1);
        if (!ok || out < 0 || out >= pieces)
            continue;
        ok = LITHO_CUDA(cudaEventSynchronize(ring->done[out % PIECES]), error);
        if (ok)
            copy(to + out * PIECE, ring->pinned[out % PIECES], MIN(PIECE, count - out * PIECE),
                 stream_out);
    }
    if (ring->stream)
        cudaStreamSynchronize(ring->stream);
    g_mutex_unlock(&ring->lock);
    return ok;
}

gboolean litho_cuda_copy_between(int to_device, float *to, int from_device, const float *from,
                                 gint64 count, GError **error)
{
    litho_cuda_link(to_device, from_device);
    if (!litho_cuda_use(to_device, error))
        return FALSE;
    Ring *ring = &rings[to_device][0];
    g_mutex_lock(&ring->lock);
    gboolean ok = ring_prepare(ring, error) &&
                  LITHO_CUDA_SAYING(cudaMemcpyPeerAsync(to, litho_cuda_ordinal(to_device), from,
                                                        litho_cuda_ordinal(from_device),
                                                        count * sizeof(float), ring->stream),
                                    error, "from GPU %d to %d", from_device, to_device) &&
                  LITHO_CUDA(cudaStreamSynchronize(ring->stream), error);
    g_mutex_unlock(&ring->lock);
    return ok;
}
