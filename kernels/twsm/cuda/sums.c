// SPDX-License-Identifier: GPL-3.0-or-later
//
// One leg on one GPU with nothing stored: the fused sum.
#include <math.h>

#include "kernels/twsm/cuda/twsm.h"

// Pairs times frequencies of a chunk: about 33 ms, so that two in flight still stop within 100 ms.
static const double CHUNK = 1.1e11;

// --- fused ------------------------------------------------------------------------------------

static gboolean open_lanes(TwsmCard *card, gsize bytes, GError **error)
{
    const unsigned quiet = cudaEventDisableTiming;
    if (!card->ready && !LITHO_CUDA(cudaEventCreateWithFlags(&card->ready, quiet), error))
        return FALSE;
    for (int k = 0; k < 2; k++) {
        TwsmLane *lane = &card->lane[k];
        if ((!lane->stream &&
             !LITHO_CUDA(cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking), error)) ||
            (!lane->done && !LITHO_CUDA(cudaEventCreateWithFlags(&lane->done, quiet), error)) ||
            !litho_cuda_reserve(card->context, &lane->partial, bytes, error))
            return FALSE;
    }
    cudaStream_t stream = litho_cuda_stream(card->context);
    return LITHO_CUDA(cudaEventRecord(card->ready, stream), error) &&
           LITHO_CUDA(cudaStreamWaitEvent(card->lane[0].stream, card->ready, 0), error) &&
           LITHO_CUDA(cudaStreamWaitEvent(card->lane[1].stream, card->ready, 0), error);
}

// The context's stream waits for what the lane has, so what follows there may use it.
static gboolean close_chunk(TwsmCard *card, TwsmLane *lane, GError **error)
{
    return LITHO_CUDA(cudaEventRecord(lane->done, lane->stream), error) &&
           LITHO_CUDA(cudaStreamWaitEvent(litho_cuda_stream(card->context), lane->done, 0), error);
}

// A part of a sum: frequencies k .. k + n_k - 1 of targets row .. row + rows - 1.
typedef struct Chunk {
    int k, n_k, row, rows;
    const float *u; // of right-hand side and frequency k, row 0
    float *y;
} Chunk;

static gboolean fused_chunk(TwsmCard *card, const TwsmTask *task, const TwsmGpuLeg *leg,
                            TwsmLane *lane, const Chunk *c, GError **error)
{
    int k0 = task->band.k0 + c->k;
    return LITHO_CUDA(litho_twsm_fused(leg, c->u, task->stride, k0, c->n_k, c->row, c->rows,
                                       lane->partial.data, lane->stream),
                      error) &&
           LITHO_CUDA(litho_twsm_reduce(leg, lane->partial.data, k0, c->n_k,
                                        (float)task->chain->sig, c->row, c->rows, c->u, c->y,
                                        task->stride, lane->stream),
                      error) &&
           close_chunk(card, lane, error);
}

gboolean twsm_card_fused(TwsmCard *card, const TwsmTask *task, int row0, int rows, const float *u,
                         float *y, GError **error)
{
    TwsmGpuLeg leg;
    if (rows <= 0)
        return TRUE;
    if (!twsm_card_leg(card, task, &leg, error))
        return FALSE;
    int slices = (leg.n_from + TWSM_GPU_SLICE - 1) / TWSM_GPU_SLICE;
    double heavy = leg.has_mask ? 12 : leg.near ? 2 : 1;
    int n_k = MIN(task->stride, TWSM_GPU_BAND), parts = leg.near ? 2 : 1;
    int size = (int)MIN(CHUNK / heavy / n_k / leg.n_from, 1e6);
    size = MIN(MAX(size / TWSM_GPU_ROWS, 1) * TWSM_GPU_ROWS, rows);
    if (!open_lanes(card, 8 * (gsize)slices * size * n_k * parts, error))
        return FALSE;
    double beams = (double)leg.n_from * rows * task->band.n * task->chain->n_rhs;
    litho_cuda_mark(card->context, "beams", LITHO_STAGE_COMPUTE, 0, 12 * beams);
    gint64 done = 0, total = (gint64)task->chain->n_rhs * task->stride * rows, turn = 0;
    for (int q = 0; q < task->chain->n_rhs; q++)
        for (int k = 0; k < task->stride; k += n_k)
            for (int row = row0; row < row0 + rows; row += size) {
                const Chunk chunk = {k,
                                     MIN(n_k, task->stride - k),
                                     row,
                                     MIN(size, row0 + rows - row),
                                     u + twsm_field_row(task, leg.n_from, q) + 2 * k,
                                     y + twsm_field_row(task, leg.n_to, q) + 2 * k};
                done += (gint64)chunk.rows * chunk.n_k;
                if (!fused_chunk(card, task, &leg, &card->lane[turn++ % 2], &chunk, error) ||
                    !twsm_card_step(card, task, (double)done / total, error))
                    return FALSE;
            }
    litho_cuda_mark_end(card->context);
    return TRUE;
}
