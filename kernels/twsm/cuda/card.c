// SPDX-License-Identifier: GPL-3.0-or-later
//
// Memory of a card between passes: geometry, tables, masks; and giving it back.
#include <string.h>

#include "kernels/twsm/cuda/twsm.h"

static gboolean upload_points(TwsmCard *card, const TwsmPoints *p, int threads, TwsmCardPoints *to,
                              GError **error)
{
    gsize bytes = 4 * sizeof(float) * p->padded;
    g_autofree float *place = g_malloc(bytes), *normal = g_malloc(bytes);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int k = 0; k < p->padded; k++) {
        const float a[4] = {p->x[k], p->y[k], p->z[k], p->area[k]};
        const float b[4] = {p->nx[k], p->ny[k], p->nz[k], p->taper[k]};
        memcpy(place + 4 * k, a, sizeof a);
        memcpy(normal + 4 * k, b, sizeof b);
    }
    int device = litho_cuda_device(card->context);
    to->padded = p->padded;
    return litho_cuda_reserve(card->context, &to->place, bytes, error) &&
           litho_cuda_reserve(card->context, &to->normal, bytes, error) &&
           litho_cuda_upload(device, to->place.data, place, 4l * p->padded, error) &&
           litho_cuda_upload(device, to->normal.data, normal, 4l * p->padded, error);
}

TwsmCardPoints *twsm_card_points(TwsmCard *card, const TwsmPoints *p, int threads, GError **error)
{
    TwsmCardPoints *at = g_hash_table_lookup(card->points, &p->serial);
    if (at)
        return at;
    at = g_new0(TwsmCardPoints, 1);
    g_hash_table_insert(card->points, g_memdup2(&p->serial, sizeof p->serial), at);
    if (upload_points(card, p, threads, at, error))
        return at;
    litho_cuda_release(card->context, &at->place);
    litho_cuda_release(card->context, &at->normal);
    g_hash_table_remove(card->points, &p->serial);
    return NULL;
}

// One array of the card: heights and bounds of the top, then of the bottom.
static gboolean upload_mask(TwsmCard *card, const TwsmMask *mask, TwsmGpuMask *to, GError **error)
{
    const gsize n = (gsize)mask->nx * mask->ny, side = n + mask->n_bounds;
    int device = litho_cuda_device(card->context);
    if (!litho_cuda_reserve(card->context, &card->mask, 2 * side * sizeof(float), error))
        return FALSE;
    float *top = card->mask.data, *bottom = top + side;
    *to = (TwsmGpuMask){mask->nx,
                        mask->ny,
                        mask->x0,
                        mask->y0,
                        mask->dx,
                        mask->dy,
                        mask->soft,
                        mask->top ? top : NULL,
                        mask->bottom ? bottom : NULL,
                        mask->bounds};
    to->bounds.top = mask->top ? top + n : NULL;
    to->bounds.bottom = mask->bottom ? bottom + n : NULL;
    return (!mask->top ||
            (litho_cuda_upload(device, top, mask->top, n, error) &&
             litho_cuda_upload(device, top + n, mask->bounds.top, mask->n_bounds, error))) &&
           (!mask->bottom ||
            (litho_cuda_upload(device, bottom, mask->bottom, n, error) &&
             litho_cuda_upload(device, bottom + n, mask->bounds.bottom, mask->n_bounds, error)));
}

static gboolean upload_coefficients(TwsmCard *card, const float *table, GError **error)
{
    float packed[4 * (TWSM_TABLE + 1)];
    for (int k = 0; k <= TWSM_TABLE; k++)
        for (int part = 0; part < 2; part++) {
            packed[4 * k + part] = table[2 * k + part];
            packed[4 * k + 2 + part] = table[2 * k + 2 + part] - table[2 * k + part];
        }
    return litho_cuda_reserve(card->context, &card->coef, sizeof packed, error) &&
           litho_cuda_upload(litho_cuda_device(card->context), card->coef.data, packed,
                             G_N_ELEMENTS(packed), error);
}

gboolean twsm_card_leg(TwsmCard *card, const TwsmTask *task, TwsmGpuLeg *out, GError **error)
{
    const TwsmLeg *leg = task->leg;
    const int threads = litho_run_threads(task->run);
    // Tables and masks have one place: the leg before may still be reading them.
    if (!LITHO_CUDA(cudaStreamSynchronize(litho_cuda_stream(card->context)), error))
        return FALSE;
    const TwsmCardPoints *from = twsm_card_points(card, leg->from, threads, error);
    const TwsmCardPoints *to = from ? twsm_card_points(card, leg->to, threads, error) : NULL;
    if (!to)
        return FALSE;
    *out = (TwsmGpuLeg){.from = from->place.data,
                        .from_normal = from->normal.data,
                        .to = to->place.data,
                        .to_normal = to->normal.data,
                        .n_from = from->padded,
                        .n_to = to->padded,
                        .pair = leg->pair,
                        .absorb = leg->absorb,
                        .near = leg->near,
                        .has_mask = leg->mask != NULL};
    if (leg->coef && !upload_coefficients(card, leg->coef, error))
        return FALSE;
    out->coef = leg->coef ? card->coef.data : NULL;
    return !leg->mask || upload_mask(card, leg->mask, &out->mask, error);
}

gboolean twsm_card_step(TwsmCard *card, const TwsmTask *task, double part, GError **error)
{
    const TwsmHow *how = task->how;
    return litho_cuda_step(card->context, task->run, (gint64)(how->done + part * how->leg),
                           (gint64)how->total + 1, error);
}

gsize twsm_field_row(const TwsmTask *task, int padded, int rhs)
{
    return 2 * (gsize)rhs * padded * task->stride;
}

// Meshes that no setup uses any more would pile up while a source is dragged.
static void drop_points(TwsmCard *card)
{
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, card->points);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        TwsmCardPoints *p = value;
        LithoCudaArray *const arrays[] = {&p->place, &p->normal,  &p->square,
                                          &p->node,  &p->weights, &p->smooth};
        for (gsize k = 0; k < G_N_ELEMENTS(arrays); k++)
            litho_cuda_release(card->context, arrays[k]);
    }
    g_hash_table_remove_all(card->points);
}

void twsm_card_trim(TwsmCard *card)
{
    if (g_hash_table_size(card->points) > 2 * TWSM_MAX_LAYERS)
        drop_points(card);
}

static void close_lanes(TwsmCard *card)
{
    for (int k = 0; k < 2; k++) {
        TwsmLane *lane = &card->lane[k];
        if (lane->stream) {
            cudaStreamSynchronize(lane->stream);
            cudaStreamDestroy(lane->stream);
        }
        if (lane->done)
            cudaEventDestroy(lane->done);
    }
    if (card->ready)
        cudaEventDestroy(card->ready);
}

void twsm_card_clear(TwsmCard *card)
{
    LithoCudaContext *c = card->context;
    LithoCudaArray *const arrays[] = {
        &card->field[0],       &card->field[1], &card->partial,
        &card->coef,           &card->mask,     &card->phase,
        &card->column,         &card->sum,      &card->clustered,
        &card->direct,           &card->list,     &card->start,
        &card->pieces,         &card->spectra,
        &card->factors,        &card->beam_t,   &card->beam_a,
        &card->kernels,        &card->lattice,  &card->lane[0].partial,
        &card->lane[1].partial};
    if (card->worker)
        g_thread_pool_free(card->worker, FALSE, TRUE);
    if (c && litho_cuda_enter(c, NULL)) {
        drop_points(card);
        close_lanes(card);
        for (gsize k = 0; k < G_N_ELEMENTS(arrays); k++)
            litho_cuda_release(c, arrays[k]);
        if (card->blas)
            cublasDestroy(card->blas);
        if (card->four)
            cufftDestroy(card->four);
        if (card->two)
            cufftDestroy(card->two);
    }
    g_clear_pointer(&card->points, g_hash_table_unref);
    litho_cuda_context_free(c);
    *card = (TwsmCard){0};
}
