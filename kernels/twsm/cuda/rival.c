// SPDX-License-Identifier: GPL-3.0-or-later
//
// The fused sum of the largest leg beside cuBLAS on stored elements: one product a frequency, or
// those of many frequencies in one call. Its elements are made before and not counted. Where all do
// not fit into memory, fewer rows are taken on both sides, and the library takes the frequencies it
// has over and over, which costs the same.
#include <complex.h>
#include <math.h>

#include "core/error.h"
#include "core/text.h"
#include "kernels/twsm/cuda/twsm.h"
#include "kernels/twsm/setup.h"

typedef double complex Complex;

enum { ROWS = 24, FREQUENCIES = 6 };                // compared
static const guint64 MOST_BYTES = (guint64)8 << 30; // of stored elements

typedef struct Duel {
    TwsmCard card;
    TwsmSetup *setup;
    const TwsmChain *chain;
    TwsmTask task;
    TwsmHow how;
    TwsmGpuLeg leg;
    int n, rows, rhs; // elements that send (padded), targets, sources
    int kept;         // frequencies whose elements are stored
    gboolean batched; // many frequencies in one call
    float *u;         // host: [rhs][n][stride] pairs
    LithoCudaArray field, result, columns, matrix, sums;
    cublasHandle_t blas;
} Duel;

// --- the problem ---------------------------------------------------------------------------------

static gboolean open_setup(Duel *d, const TwsmParams *from, LithoRun *run, GError **error)
{
    TwsmParams p = *from;
    p.near_field = TWSM_NEAR_OFF;
    p.mask = TWSM_MASK_NONE;
    p.absorption = false;
    g_autoptr(LithoResolved) known = NULL;
    if (!litho_resolve(&litho_operator_twsm, &p, run, &known, error))
        return FALSE;
    d->setup = twsm_setup_open(&p, known, error);
    return d->setup && twsm_setup_build(d->setup, &p, run, error);
}

static void largest_leg(Duel *d)
{
    double most = 0;
    for (int c = 0; c < TWSM_MAX_CODES; c++)
        for (int m = 0; m < d->setup->chain[c].n_legs; m++) {
            const TwsmLeg *leg = &d->setup->chain[c].leg[m];
            const double pairs = (double)leg->from->n * leg->to->n;
            if (pairs <= most)
                continue;
            most = pairs;
            d->chain = &d->setup->chain[c];
            d->task.leg = leg;
        }
}

// Rows and frequencies that fit.
static gboolean choose_size(Duel *d, GError **error)
{
    guint64 there = 0, total = 0;
    const TwsmLeg *leg = d->task.leg;
    if (!litho_cuda_memory(litho_cuda_device(d->card.context), &there, &total, error))
        return FALSE;
    d->n = leg->from->padded;
    d->rhs = d->chain->n_rhs;
    d->task.band = (TwsmBand){1, MIN(d->setup->n_frequencies, TWSM_GPU_BAND)};
    d->task.stride = (d->task.band.n + TWSM_GPU_BLOCK - 1) / TWSM_GPU_BLOCK * TWSM_GPU_BLOCK;
    const guint64 room = MIN(there / 2, MOST_BYTES) / 8 / d->n;
    d->rows = leg->to->n;
    if ((guint64)d->rows > room)
        d->rows = (int)(room / TWSM_GPU_ROWS) * TWSM_GPU_ROWS;
    if (d->rows == 0)
        return litho_refuse(error, LITHO_ERROR_MEMORY,
                            _("the GPU has no memory for %d rows of %d stored elements"),
                            TWSM_GPU_ROWS, d->n);
    d->kept = (int)CLAMP(room / d->rows, 1, (guint64)d->task.band.n);
    return TRUE;
}

static gsize field_floats(const Duel *d, int elements)
{
    return 2 * (gsize)d->rhs * elements * d->task.stride;
}

static gboolean reserve(Duel *d, GError **error)
{
    LithoCudaContext *c = d->card.context;
    const gsize matrix = 8 * (gsize)d->kept * d->rows * d->n;
    const gsize band = d->task.band.n, sources = d->rhs;
    d->u = g_try_new(float, field_floats(d, d->n));
    if (!d->u)
        return litho_refuse(error, LITHO_ERROR_MEMORY, "there is no memory for the field");
    litho_cuda_noise(d->u, field_floats(d, d->n), 7);
    return litho_cuda_reserve(c, &d->field, 4 * field_floats(d, d->n), error) &&
           litho_cuda_reserve(c, &d->result, 4 * field_floats(d, d->task.leg->to->padded), error) &&
           litho_cuda_reserve(c, &d->columns, 8 * band * sources * d->n, error) &&
           litho_cuda_reserve(c, &d->sums, 8 * band * sources * d->rows, error) &&
           litho_cuda_reserve(c, &d->matrix, matrix, error) &&
           litho_cuda_send(c, d->field.data, d->u, 4 * field_floats(d, d->n), error);
}

// Elements of frequencies 0 .. kept - 1 of the band, row major, one matrix behind the other.
static gboolean fill(gpointer data, GError **error)
{
    Duel *d = data;
    for (int k = 0; k < d->kept; k++)
        if (!LITHO_CUDA(litho_twsm_fill(&d->leg, 0, d->rows, d->task.band.k0 + k, 0,
                                        (float *)d->matrix.data + 2 * (gsize)k * d->rows * d->n,
                                        NULL, litho_cuda_stream(d->card.context)),
                        error))
            return FALSE;
    return TRUE;
}

// The field by frequency: [frequency][source][element].
static gboolean turn_columns(Duel *d, GError **error)
{
    for (int q = 0; q < d->rhs; q++)
        if (!LITHO_CUDA(
                litho_twsm_columns((const float *)d->field.data + twsm_field_row(&d->task, d->n, q),
                                   d->task.stride, d->n, d->task.band.n, (gint64)d->n * d->rhs,
                                   (float *)d->columns.data + 2 * (gsize)q * d->n,
                                   litho_cuda_stream(d->card.context)),
                error))
            return FALSE;
    return TRUE;
}

// --- the two sides -------------------------------------------------------------------------------

static gboolean our_work(gpointer data, GError **error)
{
    Duel *d = data;
    return twsm_card_fused(&d->card, &d->task, 0, d->rows, d->field.data, d->result.data, error);
}

static const cuComplex one = {1, 0}, zero = {0, 0};

// Frequencies k .. k + n - 1 of the band with the stored elements from the first on.
static gboolean products(Duel *d, int k, int n, GError **error)
{
    const cuComplex *p = d->matrix.data;
    const cuComplex *x = (const cuComplex *)d->columns.data + (gsize)k * d->n * d->rhs;
    cuComplex *y = (cuComplex *)d->sums.data + (gsize)k * d->rows * d->rhs;
    const gint64 a = (gint64)d->rows * d->n, b = (gint64)d->n * d->rhs,
                 c = (gint64)d->rows * d->rhs;
    if (d->batched)
        return LITHO_CUBLAS(cublasCgemmStridedBatched(d->blas, CUBLAS_OP_T, CUBLAS_OP_N, d->rows,
                                                      d->rhs, d->n, &one, p, d->n, a, x, d->n, b,
                                                      &zero, y, d->rows, c, n),
                            error);
    for (int m = 0; m < n; m++)
        if (d->rhs == 1
                ? !LITHO_CUBLAS(cublasCgemv(d->blas, CUBLAS_OP_T, d->n, d->rows, &one, p + m * a,
                                            d->n, x + m * b, 1, &zero, y + m * c, 1),
                                error)
                : !LITHO_CUBLAS(cublasCgemm(d->blas, CUBLAS_OP_T, CUBLAS_OP_N, d->rows, d->rhs,
                                            d->n, &one, p + m * a, d->n, x + m * b, d->n, &zero,
                                            y + m * c, d->rows),
                                error))
            return FALSE;
    return TRUE;
}

static gboolean their_work(gpointer data, GError **error)
{
    Duel *d = data;
    for (int k = 0; k < d->task.band.n; k += d->kept)
        if (!products(d, k, MIN(d->kept, d->task.band.n - k), error))
            return FALSE;
    return TRUE;
}

// --- float64 -------------------------------------------------------------------------------------

// Time in turns and amplitude of source j at target i (pair.h).
static Complex amplitude(const TwsmLeg *leg, int i, int j, double *turns)
{
    const TwsmPoints *s = leg->from, *t = leg->to;
    const TwsmPairScale *p = &leg->pair;
    const double dx = (double)t->x[i] - s->x[j], dy = (double)t->y[i] - s->y[j],
                 dz = (double)t->z[i] - s->z[j], area = s->area[j];
    const double r2 = fmax(dx * dx + dy * dy + dz * dz, 1e-6), r = sqrt(r2);
    const double sent = p->side * (s->nx[j] * dx + s->ny[j] * dy + s->nz[j] * dz) / r;
    const double cosine = p->arrive * (t->nx[i] * dx + t->ny[i] * dy + t->nz[i] * dz) / r;
    *turns = r * p->turns;
    if (r2 < 0.25 * area || sent <= 0)
        return 0;
    Complex a = p->amp * sent * area / r * exp(-p->damp * r);
    if (p->coef) {
        const double at = fmin(cosine, 1) * TWSM_TABLE;
        const int k = (int)fmax(at, 0);
        const float *c = leg->coef + 2 * k;
        const double f = at - k;
        a = at > 0 ? a * (c[0] + f * (c[2] - c[0]) + I * (c[1] + f * (c[3] - c[1]))) : 0;
    }
    return a;
}

// Sums of target i and the first source at frequencies number k[] of the band.
static void exact(const Duel *d, int i, const int k[FREQUENCIES], Complex sum[FREQUENCIES])
{
    for (int m = 0; m < FREQUENCIES; m++)
        sum[m] = 0;
    for (int j = 0; j < d->task.leg->from->n; j++) {
        double turns;
        const Complex a = amplitude(d->task.leg, i, j, &turns);
        const float *u = d->u + 2 * (gsize)j * d->task.stride;
        for (int m = 0; m < FREQUENCIES && a != 0; m++)
            sum[m] += a * cexp(2 * G_PI * I * (d->task.band.k0 + k[m]) * turns) *
                      (u[2 * k[m]] + I * u[2 * k[m] + 1]);
    }
}

static gboolean measure(Duel *d, LithoRival *row, GError **error)
{
    int k[FREQUENCIES], at[ROWS];
    Complex want[ROWS][FREQUENCIES];
    double wrong[2] = {0}, norm = 0;
    for (int m = 0; m < FREQUENCIES; m++)
        k[m] = (int)((gint64)m * (d->kept - 1) / (FREQUENCIES - 1));
    for (int r = 0; r < ROWS; r++)
        at[r] = (int)((gint64)r * (d->rows - 1) / (ROWS - 1));
#pragma omp parallel for schedule(dynamic) num_threads(litho_run_threads(d->task.run))
    for (int r = 0; r < ROWS; r++)
        exact(d, at[r], k, want[r]);
    for (int r = 0; r < ROWS; r++)
        for (int m = 0; m < FREQUENCIES; m++) {
            float ours[2], theirs[2];
            const Complex factor =
                d->task.leg->to->taper[at[r]] * (I * (d->task.band.k0 + k[m]) - d->chain->sig);
            if (!litho_cuda_fetch(d->card.context, ours,
                                  (float *)d->result.data +
                                      2 * ((gsize)at[r] * d->task.stride + k[m]),
                                  8, error) ||
                !litho_cuda_fetch(
                    d->card.context, theirs,
                    (float *)d->sums.data + 2 * ((gsize)k[m] * d->rows * d->rhs + at[r]), 8, error))
                return FALSE;
            wrong[0] += pow(cabs(ours[0] + I * ours[1] - factor * want[r][m]), 2);
            wrong[1] += pow(cabs(factor * (theirs[0] + I * theirs[1] - want[r][m])), 2);
            norm += pow(cabs(factor * want[r][m]), 2);
        }
    row->ours_error = sqrt(wrong[0] / norm);
    row->theirs_error = sqrt(wrong[1] / norm);
    return TRUE;
}

// --- the row -------------------------------------------------------------------------------------

// The faster of the two ways to call the library.
static gboolean choose_way(Duel *d, GError **error)
{
    double ms[2];
    for (int k = 0; k < 2; k++) {
        d->batched = k;
        if (!litho_cuda_in_turn(d->card.context, &(LithoCudaSide){NULL, their_work, d}, 1, 3,
                                &ms[k], error))
            return FALSE;
    }
    d->batched = ms[1] < ms[0];
    return TRUE;
}

static gboolean duel(Duel *d, const TwsmParams *p, int repeat, LithoRival *row, GError **error)
{
    double ms[2], fill_ms = 0;
    const LithoCudaSide sides[] = {{NULL, our_work, d}, {NULL, their_work, d}};
    LithoCudaContext *c = d->card.context;
    if (!choose_size(d, error) || !reserve(d, error) ||
        !twsm_card_leg(&d->card, &d->task, &d->leg, error) ||
        !LITHO_CUBLAS(cublasCreate(&d->blas), error) ||
        !LITHO_CUBLAS(cublasSetStream(d->blas, litho_cuda_stream(c)), error) ||
        !turn_columns(d, error) ||
        !litho_cuda_in_turn(c, &(LithoCudaSide){NULL, fill, d}, 1, 3, &fill_ms, error) ||
        !choose_way(d, error) || !litho_cuda_in_turn(c, sides, 2, repeat, ms, error) ||
        !measure(d, row, error))
        return FALSE;
    const double a_matrix = 8.0 * d->rows * d->n, band = d->task.band.n;
    row->runs = repeat;
    row->ours_ms = ms[0];
    row->theirs_ms = ms[1];
    g_snprintf(row->problem, sizeof row->problem,
               _("%d targets, %d elements that send, %d frequencies, sources: %d"), d->rows,
               d->task.leg->from->n, d->task.band.n, d->rhs);
    g_snprintf(row->settings, sizeof row->settings,
               d->batched    ? "cublasCgemmStridedBatched"
               : d->rhs == 1 ? "cublasCgemv"
                             : "cublasCgemm");
    g_snprintf(
        row->note, sizeof row->note,
        _("its elements, not counted, are made in %.1f ms and take %.3g MB a frequency, %.3g "
          "MB in all; strips of %d rows (mod2) take %.3g MB, ours none"),
        fill_ms * band / d->kept, a_matrix * 1e-6, band * a_matrix * 1e-6, p->strip_width,
        16e-6 * MIN(p->strip_width, d->rows) * d->n);
    return TRUE;
}

static void close_duel(Duel *d)
{
    LithoCudaArray *const arrays[] = {&d->field, &d->result, &d->columns, &d->matrix, &d->sums};
    if (d->card.context) {
        cudaStreamSynchronize(litho_cuda_stream(d->card.context));
        for (gsize k = 0; k < G_N_ELEMENTS(arrays); k++)
            litho_cuda_release(d->card.context, arrays[k]);
        if (d->blas)
            cublasDestroy(d->blas);
        twsm_card_clear(&d->card);
    }
    twsm_setup_free(d->setup);
    g_free(d->u);
}

gboolean twsm_card_rivals(const LithoGrid *in, const void *params, int repeat, LithoRun *run,
                          GArray *rows, GError **error)
{
    (void)in;
    g_autofree Duel *d = g_new0(Duel, 1);
    LithoRival row = {.stage = "beams", .peer = "cuBLAS"};
    d->how = (TwsmHow){.algorithm = TWSM_FUSED, .leg = 1, .total = 1};
    d->task.how = &d->how;
    d->task.run = run;
    gboolean ok = open_setup(d, params, run, error);
    if (ok) {
        largest_leg(d);
        d->task.chain = d->chain;
        d->card.context = litho_cuda_context_new(run ? run->device : 0, error);
        d->card.points = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
        ok = d->card.context && litho_cuda_enter(d->card.context, error) &&
             duel(d, params, repeat, &row, error);
    }
    if (!d->card.context)
        g_clear_pointer(&d->card.points, g_hash_table_unref);
    close_duel(d);
    if (ok)
        g_array_append_val(rows, row);
    return ok;
}
