// SPDX-License-Identifier: GPL-3.0-or-later
//
// One leg on one GPU from what is stored: strips with cuBLAS, convolution with cuFFT.
#include "core/error.h"
#include "kernels/common/smooth.h"
#include "kernels/twsm/cuda/twsm.h"

enum { TURNS = 32 };      // frequencies of a strip that are summed in a launch
enum { STRIP_STEPS = 8 }; // launches between looks for a cancel, unless they have much to do
#define STEP_ELEMENTS 1e9 // times frequencies: some milliseconds

// --- stored strips ----------------------------------------------------------------------------

// State of a strip run; sizes in complex numbers.
typedef struct Strips {
    TwsmCard *card;
    const TwsmTask *task;
    TwsmGpuLeg leg;
    int width;
    int kept; // frequencies whose sums are kept until they are finished together
    float *p, *phase, *column, *sum;
    const float *u;
    float *y;
    int near_pass; // 0: far sums; with a near field the strips run twice
} Strips;

// Sums of one kind and frequency: [right-hand side][row].
static gint64 sums_step(const Strips *s)
{
    return (gint64)s->width * s->task->chain->n_rhs;
}

static gint64 columns_step(const Strips *s)
{
    return (gint64)s->leg.n_from * s->task->chain->n_rhs;
}

static float *column_of(const Strips *s, int k)
{
    return s->column + 2 * k * columns_step(s);
}

// Sums of the pass at frequency k of the band.
static float *sums_of(const Strips *s, int k)
{
    return s->sum + 2 * ((gint64)s->near_pass * s->kept + k % s->kept) * sums_step(s);
}

static gboolean strip_product(Strips *s, int rows, int k, GError **error)
{
    static const cuComplex one = {1, 0}, zero = {0, 0};
    int n = s->leg.n_from, rhs = s->task->chain->n_rhs;
    const cuComplex *p = (const cuComplex *)s->p, *x = (const cuComplex *)column_of(s, k);
    cuComplex *y = (cuComplex *)sums_of(s, k);
    if (rhs == 1)
        return LITHO_CUBLAS(
            cublasCgemv(s->card->blas, CUBLAS_OP_T, n, rows, &one, p, n, x, 1, &zero, y, 1), error);
    return LITHO_CUBLAS(cublasCgemm(s->card->blas, CUBLAS_OP_T, CUBLAS_OP_N, rows, rhs, n, &one, p,
                                    n, x, n, &zero, y, rows),
                        error);
}

// TRUE: our kernels sum several frequencies at a time; else each frequency has its own product.
static gboolean sums_together(const Strips *s)
{
    return s->task->how->algorithm == TWSM_MOD2 && s->task->chain->n_rhs == 1;
}

// Number of frequencies of the next launch, of `left`.
static int frequencies_together(const Strips *s, int left)
{
    if (!sums_together(s))
        return 1;
    if (s->leg.near)
        return left >= 16 ? 16 : left >= 4 ? 4 : 1;
    return MIN(left, TURNS);
}

// Strip `row` at `many` frequencies from k of the band on: elements and products.
static gboolean strip_together(Strips *s, int row, int rows, int k, int many, GError **error)
{
    cudaStream_t stream = litho_cuda_stream(s->card->context);
    const int kk = s->task->band.k0 + k;
    s->near_pass = 1;
    float *near_sums = sums_of(s, k);
    s->near_pass = 0;
    if ((k == 0 || s->leg.near) &&
        !LITHO_CUDA(litho_twsm_fill(&s->leg, row, rows, kk, 0, s->p, s->phase, stream), error))
        return FALSE;
    if (s->leg.near)
        return LITHO_CUDA(litho_twsm_near_products(&s->leg, s->p, row, rows, many, column_of(s, k),
                                                   columns_step(s), sums_of(s, k), near_sums,
                                                   sums_step(s), stream),
                          error);
    return LITHO_CUDA(litho_twsm_turn_products(s->p, s->phase, rows, s->leg.n_from, many, k > 0,
                                               column_of(s, k), columns_step(s), sums_of(s, k),
                                               sums_step(s), stream),
                      error);
}

// Strip `row` at frequency k of the band: elements and product.
static gboolean strip_frequency(Strips *s, int row, int rows, int k, gboolean fill, GError **error)
{
    cudaStream_t stream = litho_cuda_stream(s->card->context);
    const int kk = s->task->band.k0 + k;
    const gboolean steps = !fill && s->phase;
    for (s->near_pass = 0; s->near_pass <= s->leg.near; s->near_pass++) {
        gboolean ok =
            steps
                ? LITHO_CUDA(litho_twsm_turn(s->p, s->phase, (gint64)rows * s->leg.n_from, stream),
                             error)
                : LITHO_CUDA(litho_twsm_fill(&s->leg, row, rows, kk, s->near_pass, s->p,
                                             s->near_pass ? NULL : s->phase, stream),
                             error);
        if (!ok || !strip_product(s, rows, k, error))
            return FALSE;
    }
    return TRUE;
}

// The kept sums, up to frequency k of the band, go where they belong.
static gboolean finish_strip(const Strips *s, int row, int rows, int k, GError **error)
{
    const TwsmTask *task = s->task;
    const int first = k - k % s->kept, rhs = task->chain->n_rhs;
    for (int q = 0; q < rhs; q++) {
        const float *sum = s->sum + 2 * (gsize)q * rows;
        const float *near = s->leg.near ? sum + 2 * s->kept * sums_step(s) : NULL;
        if (!LITHO_CUDA(litho_twsm_finish(&s->leg, sum, near, sums_step(s), task->band.k0 + first,
                                          k + 1 - first, (float)task->chain->sig, row, rows,
                                          s->u + twsm_field_row(task, s->leg.n_from, q) + 2 * first,
                                          s->y + twsm_field_row(task, s->leg.n_to, q) + 2 * first,
                                          task->stride, litho_cuda_stream(s->card->context)),
                        error))
            return FALSE;
    }
    return TRUE;
}

// The field by frequency.
static gboolean turn_columns(const Strips *s, GError **error)
{
    const TwsmTask *task = s->task;
    const int n = s->leg.n_from;
    for (int q = 0; q < task->chain->n_rhs; q++)
        if (!LITHO_CUDA(litho_twsm_columns(s->u + twsm_field_row(task, n, q), task->stride, n,
                                           task->band.n, columns_step(s),
                                           s->column + 2 * (gsize)q * n,
                                           litho_cuda_stream(s->card->context)),
                        error))
            return FALSE;
    return TRUE;
}

static gboolean strips_open(Strips *s, GError **error)
{
    LithoCudaContext *c = s->card->context;
    const TwsmTask *task = s->task;
    gsize n = s->leg.n_from;
    // With a near field P is filled anew for it, so its phase cannot be stepped.
    gboolean phases = task->how->algorithm == TWSM_MOD2 && !s->leg.near;
    s->width = MIN(task->how->strip, s->leg.n_to);
    s->kept = task->how->algorithm == TWSM_ALG1 ? 1 : task->band.n;
    gsize bytes = 8 * (gsize)s->width * n;
    const gsize columns = 8 * task->band.n * columns_step(s), sums = 16 * s->kept * sums_step(s);
    double all = (phases ? 2.0 : 1.0) * bytes;
    guint64 free_bytes = 0, total;
    task->how->strip_bytes = MAX(task->how->strip_bytes, all);
    // Memory reserved by an earlier pass counts as free.
    if (!litho_cuda_memory(litho_cuda_device(c), &free_bytes, &total, error) ||
        !twsm_strips_fit(s->width, (int)n, all,
                         (double)free_bytes + s->card->partial.bytes + s->card->phase.bytes, error))
        return FALSE;
    if (!litho_cuda_reserve(c, &s->card->partial, bytes, error) ||
        (phases && !litho_cuda_reserve(c, &s->card->phase, bytes, error)) ||
        !litho_cuda_reserve(c, &s->card->column, columns, error) ||
        !litho_cuda_reserve(c, &s->card->sum, sums, error) ||
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
    if (!twsm_card_leg(card, task, &s.leg, error) || !strips_open(&s, error))
        return FALSE;
    // Algorithm 1 has frequencies outside, the others strips.
    gboolean outer_k = task->how->algorithm == TWSM_ALG1;
    int strips = (s.leg.n_to + s.width - 1) / s.width, n = task->band.n, launches = 0, many = 1;
    const int most = frequencies_together(&s, n);
    const gboolean together = sums_together(&s);
    double elements = (double)s.leg.n_from * s.leg.n_to, since = 0;
    const double chunks = (n + most - 1) / most;
    const double bytes = !together ? 32.0 * n : s.leg.near ? 16 * chunks : 16 + 24 * chunks;
    litho_cuda_mark(card->context, "strips", LITHO_STAGE_COMPUTE, bytes * elements,
                    14 * elements * n);
    if (!turn_columns(&s, error))
        return FALSE;
    for (gint64 at = 0; at < (gint64)strips * n; at += many) {
        int strip = (int)(outer_k ? at % strips : at / n),
            k = (int)(outer_k ? at / strips : at % n);
        int row = strip * s.width, rows = MIN(s.width, s.leg.n_to - row);
        gboolean fill = task->how->algorithm != TWSM_MOD2 || k == 0;
        many = frequencies_together(&s, n - k);
        if (!(together ? strip_together(&s, row, rows, k, many, error)
                       : strip_frequency(&s, row, rows, k, fill, error)) ||
            ((k + many) % s.kept == 0 && !finish_strip(&s, row, rows, k + many - 1, error)))
            return FALSE;
        since += (double)rows * s.leg.n_from * many;
        if (++launches % STRIP_STEPS != 0 && since < STEP_ELEMENTS)
            continue;
        since = 0;
        if (!twsm_card_step(card, task, (double)at / ((gint64)strips * n), error))
            return FALSE;
    }
    litho_cuda_mark_end(card->context);
    return TRUE;
}

// --- lattice ----------------------------------------------------------------------------------

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
                                          0, kk, 1, (float)task->chain->sig, 0, task->leg->to->n, u,
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
    int px = litho_smooth_length(2 * nx - 1, 1, 7), py = litho_smooth_length(2 * ny - 1, 1, 7);
    gint64 bins = (gint64)px * py;
    if (!twsm_card_leg(card, task, &leg, error) || !make_transforms(card, px, py, error) ||
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
