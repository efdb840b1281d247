// SPDX-License-Identifier: GPL-3.0-or-later
//
// Both ends of a chain on one GPU: the field on the first boundary, and the traces.
#include <string.h>

#include "core/memory.h"
#include "kernels/twsm/cuda/twsm.h"
#include "kernels/twsm/setup.h"

// --- source field -----------------------------------------------------------------------------

// Places of a table's parts in one array, bytes; each begins at a multiple of 16.
typedef struct Parts {
    gsize weight, guide, piece, all; // cosines come first
} Parts;

static Parts parts_of(const TwsmPieces *p)
{
    Parts at;
    at.weight = (p->n_cos * sizeof *p->cosine + 15) / 16 * 16;
    at.guide = at.weight + 4 * p->n_cos * sizeof *p->weight;
    at.piece = at.guide + ((TWSM_GUIDES + 1) * sizeof *p->guide + 15) / 16 * 16;
    at.all = at.piece + sizeof(float) * TWSM_PIECE * (gsize)p->n_cos * p->n_chi;
    return at;
}

// The table of effective coefficients on the card; uploaded when it is another than before.
static gboolean upload_pieces(TwsmCard *card, const TwsmEffective *table, TwsmPieces *out,
                              GError **error)
{
    const TwsmPieces own = twsm_effective_pieces(table);
    const Parts at = parts_of(&own);
    const guint64 serial = twsm_effective_serial(table);
    if (card->pieces_serial != serial) {
        g_autofree char *packed = litho_memory_new(at.all, 1, "a table of coefficients", error);
        if (!packed)
            return FALSE;
        memcpy(packed, own.cosine, own.n_cos * sizeof *own.cosine);
        memcpy(packed + at.weight, own.weight, 4 * own.n_cos * sizeof *own.weight);
        memcpy(packed + at.guide, own.guide, (TWSM_GUIDES + 1) * sizeof *own.guide);
        memcpy(packed + at.piece, own.piece, at.all - at.piece);
        card->pieces_serial = 0;
        if (!litho_cuda_reserve(card->context, &card->pieces, at.all, error) ||
            !LITHO_CUDA(cudaStreamSynchronize(litho_cuda_stream(card->context)), error) ||
            !litho_cuda_upload(litho_cuda_device(card->context), card->pieces.data,
                               (const float *)packed, at.all / sizeof(float), error))
            return FALSE;
        card->pieces_serial = serial;
    }
    char *data = card->pieces.data;
    *out = own;
    out->cosine = (const double *)data;
    out->weight = (const double *)(data + at.weight);
    out->guide = (const int *)(data + at.guide);
    out->piece = (const float *)(data + at.piece);
    return TRUE;
}

gboolean twsm_card_source(TwsmCard *card, const TwsmTask *task, const TwsmShot *shot,
                          GError **error)
{
    TwsmPieces pieces = {0};
    const int threads = litho_run_threads(task->run);
    const TwsmCardPoints *points = twsm_card_points(card, shot->mesh, threads, error);
    if (!points || (shot->effective && !upload_pieces(card, shot->effective, &pieces, error)))
        return FALSE;
    const int n_rhs = task->chain->n_rhs;
    litho_cuda_mark(card->context, "source", LITHO_STAGE_COMPUTE,
                    8.0 * n_rhs * points->padded * task->stride, 0);
    for (int q = 0; q < n_rhs; q++)
        if (!LITHO_CUDA(litho_twsm_source(&shot->rule[q], &pieces, points->place.data,
                                          points->normal.data, shot->mesh->n, points->padded,
                                          task->band.k0, task->band.n, task->stride,
                                          (float *)card->field[0].data +
                                              twsm_field_row(task, points->padded, q),
                                          litho_cuda_stream(card->context)),
                        error))
            return FALSE;
    litho_cuda_mark_end(card->context);
    return TRUE;
}

// --- traces -----------------------------------------------------------------------------------

static gboolean send(TwsmCard *card, LithoCudaArray *to, gsize at, const void *from, gsize bytes,
                     GError **error)
{
    return litho_cuda_upload(litho_cuda_device(card->context), (float *)((char *)to->data + at),
                             from, (gint64)(bytes / sizeof(float)), error);
}

gboolean twsm_card_traces(TwsmCard *card, const TwsmSetup *s, const TwsmValue *spectra,
                          LithoCube *out, LithoRun *run, GError **error)
{
    LithoCudaContext *c = card->context;
    const gint64 n_traces = litho_grid_traces(&out->grid);
    const gsize factors = (gsize)s->n_frequencies + s->n_time, size = sizeof(double complex);
    const gsize values = (gsize)n_traces * s->n_frequencies;
    g_autofree double complex *factor =
        litho_memory_new(factors, sizeof *factor, "factors of the traces", error);
    if (!factor || !litho_cuda_enter(c, error))
        return FALSE;
    float *to = litho_cuda_output(c, out, error);
    twsm_trace_factors(s, factor, factor + s->n_frequencies);
    if (!to || !litho_cuda_reserve(c, &card->spectra, sizeof *spectra * values, error) ||
        !litho_cuda_reserve(c, &card->factors, size * factors, error) ||
        !LITHO_CUDA(cudaStreamSynchronize(litho_cuda_stream(c)), error) ||
        !send(card, &card->spectra, 0, spectra, sizeof *spectra * values, error) ||
        !send(card, &card->factors, 0, factor, size * factors, error))
        return FALSE;
    const char *wavelet = card->factors.data;
    litho_cuda_mark(c, "traces", LITHO_STAGE_COMPUTE, 4.0 * n_traces * s->n_time,
                    4.0 * values * s->n_time);
    return LITHO_CUDA(litho_twsm_traces(card->spectra.data, n_traces, s->n_frequencies, wavelet,
                                        wavelet + size * s->n_frequencies, s->n_time, s->dw / G_PI,
                                        s->sig * s->dt, to, litho_cuda_stream(c)),
                      error) &&
           litho_cuda_finish(c, run, error);
}
