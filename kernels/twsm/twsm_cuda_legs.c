// SPDX-License-Identifier: GPL-3.0-or-later
//
// One leg on one GPU: the fused sum, stored strips with cuBLAS, convolution with cuFFT.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "kernels/twsm/twsm_cuda.h"

// Pairs times frequencies of a chunk: about 33 ms, so that two in flight still stop within 100 ms.
static const double CHUNK = 1.1e11;

enum { STRIP_STEPS = 8 }; // frequencies of a strip between looks for a cancel

// --- geometry on the device -------------------------------------------------------------------

static gboolean upload_points(TwsmCard *card, const TwsmPoints *p, TwsmCardPoints *to,
                              GError **error)
{
    gsize bytes = 4 * sizeof(float) * p->padded;
    g_autofree float *place = g_malloc(bytes), *normal = g_malloc(bytes);
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

TwsmCardPoints *twsm_card_points(TwsmCard *card, const TwsmPoints *p, GError **error)
{
    TwsmCardPoints *at = g_hash_table_lookup(card->points, &p->serial);
    if (at)
        return at;
    at = g_new0(TwsmCardPoints, 1);
    g_hash_table_insert(card->points, g_memdup2(&p->serial, sizeof p->serial), at);
    if (upload_points(card, p, at, error))
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

gboolean twsm_card_leg(TwsmCard *card, const TwsmLeg *leg, TwsmGpuLeg *out, GError **error)
{
    // Tables and masks have one place: the leg before may still be reading them.
    if (!LITHO_CUDA(cudaStreamSynchronize(litho_cuda_stream(card->context)), error))
        return FALSE;
    const TwsmCardPoints *from = twsm_card_points(card, leg->from, error);
    const TwsmCardPoints *to = from ? twsm_card_points(card, leg->to, error) : NULL;
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

// A part of a sum: frequencies k .. k + n_k - 1 of targets row .. row + rows - 1.
typedef struct Chunk {
    int k, n_k, row, rows;
    const float *u; // of right-hand side and frequency k, row 0
    float *y;
} Chunk;

// The context's stream waits for the chunk, so what follows there may use it.
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
           LITHO_CUDA(cudaEventRecord(lane->done, lane->stream), error) &&
           LITHO_CUDA(cudaStreamWaitEvent(litho_cuda_stream(card->context), lane->done, 0), error);
}

gboolean twsm_card_fused(TwsmCard *card, const TwsmTask *task, int row0, int rows, const float *u,
                         float *y, GError **error)
{
    TwsmGpuLeg leg;
    if (rows <= 0)
        return TRUE;
    if (!twsm_card_leg(card, task->leg, &leg, error))
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

// --- matrix units -----------------------------------------------------------------------------

enum { MATRIX_RHS = 4 };

// The same for a launch with up to four right-hand sides: at most 35 ms.
static const double MATRIX_CHUNK = 3.6e10;

// Brings the largest beam there can be (two elements at the guard distance of pair.h, |coefficient|
// <= 2) to 16384, a quarter of float16's range.
static float beam_scale(const TwsmLeg *leg)
{
    float area = 0;
    for (int k = 0; k < leg->from->n; k++)
        area = MAX(area, leg->from->area[k]);
    return 16384 / (4 * fabsf(leg->pair.amp) * sqrtf(area));
}

// Right-hand sides q .. q + n_q - 1 of the whole band.
static gboolean matrix_part(TwsmCard *card, const TwsmTask *task, const TwsmGpuLeg *leg, int q,
                            int n_q, int row0, int rows, const float *u, float *y, GError **error)
{
    cudaStream_t stream = litho_cuda_stream(card->context);
    int slices = (leg->n_from + TWSM_GPU_SLICE - 1) / TWSM_GPU_SLICE;
    int n_k = task->stride, k0 = task->band.k0;
    int chunk = (int)MIN(MATRIX_CHUNK / n_k / leg->n_from, 1e6);
    chunk = MIN(MAX(chunk / TWSM_GPU_ROWS, 1) * TWSM_GPU_ROWS, rows);
    float scale = beam_scale(task->leg);
    const float *from = u + twsm_field_row(task, leg->n_from, q);
    if (!litho_cuda_reserve(card->context, &card->partial, 8 * (gsize)slices * chunk * n_k * n_q,
                            error) ||
        !litho_cuda_reserve(card->context, &card->halves, 6 * (gsize)n_q * leg->n_from * n_k,
                            error) ||
        !litho_cuda_reserve(card->context, &card->peak, sizeof(int), error) ||
        !LITHO_CUDA(litho_twsm_pack(from, leg->n_from, task->stride, n_k, n_q, card->peak.data,
                                    card->halves.data, stream),
                    error))
        return FALSE;
    for (int row = row0; row < row0 + rows; row += chunk) {
        int n = MIN(chunk, row0 + rows - row);
        if (!LITHO_CUDA(litho_twsm_matrix(leg, card->halves.data, k0, n_k, n_q, row, n, scale,
                                          card->peak.data, card->partial.data, stream),
                        error))
            return FALSE;
        for (int s = 0; s < n_q; s++) {
            const float *sums = (const float *)card->partial.data + 2 * (gsize)s * slices * n * n_k;
            if (!LITHO_CUDA(litho_twsm_reduce(leg, sums, k0, n_k, (float)task->chain->sig, row, n,
                                              from + twsm_field_row(task, leg->n_from, s),
                                              y + twsm_field_row(task, leg->n_to, q + s),
                                              task->stride, stream),
                            error))
                return FALSE;
        }
        double part = (q + n_q * (double)(row + n - row0) / rows) / task->chain->n_rhs;
        if (!twsm_card_step(card, task, part, error))
            return FALSE;
    }
    return TRUE;
}

gboolean twsm_card_matrix(TwsmCard *card, const TwsmTask *task, int row, int rows, const float *u,
                          float *y, GError **error)
{
    TwsmGpuLeg leg;
    int rhs = task->chain->n_rhs;
    if (rows <= 0)
        return TRUE;
    if (!twsm_card_leg(card, task->leg, &leg, error))
        return FALSE;
    double beams = (double)leg.n_from * rows * task->band.n * rhs;
    litho_cuda_mark(card->context, "beams", LITHO_STAGE_COMPUTE, 0, 12 * beams);
    for (int q = 0; q < rhs; q += MATRIX_RHS)
        if (!matrix_part(card, task, &leg, q, MIN(MATRIX_RHS, rhs - q), row, rows, u, y, error))
            return FALSE;
    litho_cuda_mark_end(card->context);
    return TRUE;
}

// --- stored strips ----------------------------------------------------------------------------

// What a strip run holds; sizes in complex numbers.
typedef struct Strips {
    TwsmCard *card;
    const TwsmTask *task;
    TwsmGpuLeg leg;
    int width;
    float *p, *phase, *column, *sum;
    const float *u;
    float *y;
    int near_pass; // 0: far sums; with a near field the strips run twice
} Strips;

static gboolean strip_product(Strips *s, int rows, GError **error)
{
    static const cuComplex one = {1, 0}, zero = {0, 0};
    int n = s->leg.n_from, rhs = s->task->chain->n_rhs;
    const cuComplex *p = (const cuComplex *)s->p, *x = (const cuComplex *)s->column;
    cuComplex *y = (cuComplex *)s->sum + (gsize)s->near_pass * s->width * rhs;
    if (rhs == 1)
        return LITHO_CUBLAS(
            cublasCgemv(s->card->blas, CUBLAS_OP_T, n, rows, &one, p, n, x, 1, &zero, y, 1), error);
    return LITHO_CUBLAS(cublasCgemm(s->card->blas, CUBLAS_OP_T, CUBLAS_OP_N, rows, rhs, n, &one, p,
                                    n, x, n, &zero, y, rows),
                        error);
}

// Strip `row` at frequency k of the band: elements, field at that frequency, product, result.
static gboolean strip_frequency(Strips *s, int row, int rows, int k, gboolean fill, GError **error)
{
    const TwsmTask *task = s->task;
    cudaStream_t stream = litho_cuda_stream(s->card->context);
    int kk = task->band.k0 + k, rhs = task->chain->n_rhs, n = s->leg.n_from;
    for (int q = 0; q < rhs; q++)
        if (!LITHO_CUDA(litho_twsm_column(s->u + twsm_field_row(task, n, q) + 2 * k, task->stride,
                                          n, s->column + 2 * (gsize)q * n, stream),
                        error))
            return FALSE;
    for (s->near_pass = 0; s->near_pass <= s->leg.near; s->near_pass++) {
        gboolean ok =
            fill || s->near_pass || !s->phase
                ? LITHO_CUDA(litho_twsm_fill(&s->leg, row, rows, kk, s->near_pass, s->p,
                                             s->near_pass ? NULL : s->phase, stream),
                             error)
                : LITHO_CUDA(litho_twsm_turn(s->p, s->phase, (gint64)rows * n, stream), error);
        if (!ok || !strip_product(s, rows, error))
            return FALSE;
    }
    for (int q = 0; q < rhs; q++) {
        const float *sum = s->sum + 2 * (gsize)q * rows;
        const float *near = s->leg.near ? sum + 2 * (gsize)s->width * rhs : NULL;
        if (!LITHO_CUDA(litho_twsm_finish(&s->leg, sum, near, kk, (float)task->chain->sig, row,
                                          rows, s->u + twsm_field_row(task, n, q) + 2 * k,
                                          s->y + twsm_field_row(task, s->leg.n_to, q) + 2 * k,
                                          task->stride, stream),
                        error))
            return FALSE;
    }
    return TRUE;
}

static gboolean strips_open(Strips *s, GError **error)
{
    LithoCudaContext *c = s->card->context;
    const TwsmTask *task = s->task;
    gsize rhs = task->chain->n_rhs, n = s->leg.n_from;
    // With a near field P is filled anew for it, so its phase cannot be stepped.
    gboolean phases = task->how->algorithm == TWSM_MOD2 && !s->leg.near;
    s->width = MIN(task->how->strip, s->leg.n_to);
    gsize bytes = 8 * (gsize)s->width * n;
    double all = (phases ? 2.0 : 1.0) * bytes;
    guint64 free_bytes = 0, total;
    task->how->strip_bytes = MAX(task->how->strip_bytes, all);
    // What an earlier pass reserved counts as free.
    if (!litho_cuda_memory(litho_cuda_device(c), &free_bytes, &total, error) ||
        !twsm_strips_fit(s->width, (int)n, all,
                         (double)free_bytes + s->card->partial.bytes + s->card->phase.bytes, error))
        return FALSE;
    if (!litho_cuda_reserve(c, &s->card->partial, bytes, error) ||
        (phases && !litho_cuda_reserve(c, &s->card->phase, bytes, error)) ||
        !litho_cuda_reserve(c, &s->card->column, 8 * rhs * n, error) ||
        !litho_cuda_reserve(c, &s->card->sum, 16 * rhs * s->width, error) ||
        (!s->card->blas && !LITHO_CUBLAS(cublasCreate(&s->card->blas), error)) ||
        !LITHO_CUBLAS(cublasSetStream(s->card->blas, litho_cuda_stream(c)), error))
        return FALSE;
    s->p = s->card->partial.data;
    s->phase = phases ? s->card->phase.data : NULL;
    s->column = s->card->column.data;
    s->sum = s->card->sum.data;
    return TRUE;
}

gboolean twsm_card_strips(TwsmCard *card, const TwsmTask *task, const float *u, float *y,
                          GError **error)
{
    Strips s = {.card = card, .task = task, .u = u, .y = y};
    if (!twsm_card_leg(card, task->leg, &s.leg, error) || !strips_open(&s, error))
        return FALSE;
    // Algorithm 1 has frequencies outside, the others strips.
    gboolean outer_k = task->how->algorithm == TWSM_ALG1;
    int strips = (s.leg.n_to + s.width - 1) / s.width, n = task->band.n;
    double elements = (double)s.leg.n_from * s.leg.n_to * n;
    litho_cuda_mark(card->context, "strips", LITHO_STAGE_COMPUTE, 32 * elements, 14 * elements);
    for (gint64 at = 0; at < (gint64)strips * n; at++) {
        int strip = (int)(outer_k ? at % strips : at / n),
            k = (int)(outer_k ? at / strips : at % n);
        int row = strip * s.width, rows = MIN(s.width, s.leg.n_to - row);
        gboolean fill = task->how->algorithm != TWSM_MOD2 || k == 0;
        if (!strip_frequency(&s, row, rows, k, fill, error))
            return FALSE;
        if (at % STRIP_STEPS == STRIP_STEPS - 1 &&
            !twsm_card_step(card, task, (double)at / ((gint64)strips * n), error))
            return FALSE;
    }
    litho_cuda_mark_end(card->context);
    return TRUE;
}

// --- lattice ----------------------------------------------------------------------------------

// Smallest 2^a 3^b 5^c 7^d >= n.
static int good_size(int n)
{
    static const int factors[] = {2, 3, 5, 7};
    for (;; n++) {
        int m = n;
        for (int f = 0; f < 4; f++)
            while (m % factors[f] == 0)
                m /= factors[f];
        if (m == 1)
            return n;
    }
}

static gboolean make_transforms(TwsmCard *card, int px, int py, GError **error)
{
    if (card->four && card->pad[0] == px && card->pad[1] == py)
        return TRUE;
    int n[2] = {py, px}, bins = px * py;
    if (card->four)
        cufftDestroy(card->four);
    if (card->two)
        cufftDestroy(card->two);
    card->four = card->two = 0;
    card->pad[0] = px, card->pad[1] = py;
    cudaStream_t stream = litho_cuda_stream(card->context);
    return LITHO_CUFFT(cufftPlanMany(&card->four, 2, n, NULL, 1, bins, NULL, 1, bins, CUFFT_C2C, 4),
                       error) &&
           LITHO_CUFFT(cufftPlanMany(&card->two, 2, n, NULL, 1, bins, NULL, 1, bins, CUFFT_C2C, 2),
                       error) &&
           LITHO_CUFFT(cufftSetStream(card->four, stream), error) &&
           LITHO_CUFFT(cufftSetStream(card->two, stream), error);
}

// One frequency of one right-hand side: sum (near = 0) or near sum into its place.
static gboolean convolve(TwsmCard *card, const TwsmTask *task, const TwsmGpuLeg *leg, int q, int k,
                         int near, const float *u, GError **error)
{
    cudaStream_t stream = litho_cuda_stream(card->context);
    int nx = task->leg->from->cells[0], ny = task->leg->from->cells[1];
    int px = card->pad[0], py = card->pad[1];
    gint64 bins = (gint64)px * py;
    float *field = card->lattice.data, *out = field + 4 * bins;
    float *sum = (float *)card->sum.data + 2 * (gsize)near * leg->n_to;
    return LITHO_CUDA(litho_twsm_spread(u + twsm_field_row(task, leg->n_from, q) + 2 * k,
                                        task->stride, nx, ny, px, py, field, stream),
                      error) &&
           LITHO_CUFFT(
               cufftExecC2C(card->two, (cufftComplex *)field, (cufftComplex *)field, CUFFT_FORWARD),
               error) &&
           LITHO_CUDA(litho_twsm_multiply(card->kernels.data, field, bins, out, stream), error) &&
           LITHO_CUFFT(
               cufftExecC2C(card->two, (cufftComplex *)out, (cufftComplex *)out, CUFFT_INVERSE),
               error) &&
           LITHO_CUDA(litho_twsm_gather(out, nx, ny, px, py, sum, stream), error);
}

static gboolean lattice_frequency(TwsmCard *card, const TwsmTask *task, const TwsmGpuLeg *leg,
                                  int k, const float *u, float *y, GError **error)
{
    cudaStream_t stream = litho_cuda_stream(card->context);
    gint64 bins = (gint64)card->pad[0] * card->pad[1];
    int kk = task->band.k0 + k;
    for (int q = 0; q < task->chain->n_rhs; q++) {
        for (int near = 0; near <= leg->near; near++)
            // One right-hand side: the kernels' transforms are made once a frequency.
            if (((q == 0 || leg->near) &&
                 (!LITHO_CUDA(litho_twsm_beams_at(card->beam_t.data, card->beam_a.data, 4 * bins,
                                                  kk, near, card->kernels.data, stream),
                              error) ||
                  !LITHO_CUFFT(cufftExecC2C(card->four, card->kernels.data, card->kernels.data,
                                            CUFFT_FORWARD),
                               error))) ||
                !convolve(card, task, leg, q, k, near, u, error))
                return FALSE;
        const float *sum = card->sum.data;
        if (!LITHO_CUDA(litho_twsm_finish(leg, sum, leg->near ? sum + 2 * (gsize)leg->n_to : NULL,
                                          kk, (float)task->chain->sig, 0, task->leg->to->n, u,
                                          y + twsm_field_row(task, leg->n_to, q) + 2 * k,
                                          task->stride, stream),
                        error))
            return FALSE;
    }
    return TRUE;
}

gboolean twsm_card_lattice(TwsmCard *card, const TwsmTask *task, const float *u, float *y,
                           GError **error)
{
    TwsmGpuLeg leg;
    LithoCudaContext *c = card->context;
    int nx = task->leg->from->cells[0], ny = task->leg->from->cells[1];
    int px = good_size(2 * nx - 1), py = good_size(2 * ny - 1);
    gint64 bins = (gint64)px * py;
    if (!twsm_card_leg(card, task->leg, &leg, error) || !make_transforms(card, px, py, error) ||
        !litho_cuda_reserve(c, &card->beam_t, 16 * bins, error) ||
        !litho_cuda_reserve(c, &card->beam_a, 32 * bins, error) ||
        !litho_cuda_reserve(c, &card->kernels, 32 * bins, error) ||
        !litho_cuda_reserve(c, &card->lattice, 32 * bins, error) ||
        !litho_cuda_reserve(c, &card->sum, 16 * (gsize)leg.n_to, error))
        return FALSE;
    litho_cuda_mark(c, "lattice", LITHO_STAGE_COMPUTE, 0, 0);
    if (!LITHO_CUDA(litho_twsm_beams(&leg, nx, ny, px, py, card->beam_t.data, card->beam_a.data,
                                     litho_cuda_stream(c)),
                    error))
        return FALSE;
    for (int k = 0; k < task->band.n; k++)
        if (!lattice_frequency(card, task, &leg, k, u, y, error) ||
            !twsm_card_step(card, task, (k + 1.0) / task->band.n, error))
            return FALSE;
    litho_cuda_mark_end(c);
    return TRUE;
}

// Meshes that no setup uses any more would pile up while a source is dragged.
static void drop_points(TwsmCard *card)
{
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, card->points);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        TwsmCardPoints *p = value;
        LithoCudaArray *const arrays[] = {&p->place, &p->normal, &p->square, &p->node, &p->weights};
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
        &card->column,         &card->sum,      &card->halves,
        &card->peak,           &card->list,     &card->start,
        &card->rays,           &card->beam_t,   &card->beam_a,
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
