// SPDX-License-Identifier: GPL-3.0-or-later
//
// The paper's three algorithms: the propagation matrix is stored strip by strip, M rows of N
// complex numbers, and multiplied by the field with BLAS.
//     algorithm 1: frequencies outside, strips inside, every element from its formula
//     algorithm 2: strips outside, frequencies inside, every element from its formula
//     modified algorithm 2: as 2, with the elements' phase stored beside: P(k+1) = P(k) * Pha
// The factor k of the paper's eq. (2) is taken out of the sum (chain.h), so P needs no k / (k - 1).
#include <cblas.h>
#include <omp.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/peers.h"
#include "core/text.h"
#include "kernels/twsm/chain.h"

enum { ROWS = 4 }; // rows of a strip that one thread fills and multiplies at a time

typedef struct Strips {
    const TwsmLeg *leg;
    const TwsmHow *how;
    TwsmBand band;
    int n, n_rhs, width;
    TwsmValue *p, *pha; // [width][n]; pha for mod2 only
    TwsmValue *p_near;  // [width][n] when the near field is wanted
    float *far;         // [width][n], 1 / (2 pi t), likewise
    TwsmValue *column;  // u at one frequency, [rhs][n]
    const TwsmValue *u; // [rhs][n][band.n]
    TwsmValue *sum, *near;
    gint64 done, total;           // tasks
    double refill_ms, product_ms; // of all threads
    gint stop;
} Strips;

// Asked between rows: masks make one of a large boundary take ten milliseconds.
static gboolean stopped(Strips *s, const LithoRun *run)
{
    if (!litho_run_checkpoint(run))
        g_atomic_int_set(&s->stop, 1);
    return g_atomic_int_get(&s->stop);
}

// Rows r0.. of the strip from their formula at frequency k: P = a E^k; also Pha when it is stored.
static void fill_rows(Strips *s, int first, int r0, int r1, int k, const LithoRun *run)
{
    int n = s->n;
    g_autofree float *t = g_new(float, 3 * (gsize)n);
    float *are = t + n, *aim = t + 2 * n;
    for (int r = r0; r < r1 && !stopped(s, run); r++) {
        TwsmValue *p = s->p + (gsize)r * n;
        twsm_pair_columns(s->leg, first + r, 0, n, t, are, aim);
        for (int j = 0; j < n; j++) {
            float c, sn;
            twsm_turn_times((float)k, t[j], &c, &sn);
            ((float *)p)[2 * j] = are[j] * c - aim[j] * sn;
            ((float *)p)[2 * j + 1] = are[j] * sn + aim[j] * c;
        }
        for (int j = 0; s->pha && j < n; j++) {
            float *e = (float *)(s->pha + (gsize)r * n + j);
            twsm_turn_times(1.0f, t[j], &e[0], &e[1]);
        }
        for (int j = 0; s->far && j < n; j++)
            s->far[(gsize)r * n + j] = 0.159154943f / t[j];
    }
}

// P *= Pha, the paper's second listing without its factor.
static void turn_rows(Strips *s, int r0, int r1)
{
    float *p = (float *)(s->p + (gsize)r0 * s->n);
    const float *e = (const float *)(s->pha + (gsize)r0 * s->n);
    for (gsize at = 0; at < 2 * (gsize)(r1 - r0) * s->n; at += 2) {
        float re = p[at] * e[at] - p[at + 1] * e[at + 1];
        p[at + 1] = p[at] * e[at + 1] + p[at + 1] * e[at];
        p[at] = re;
    }
}

// Rows r0.. of the strip times the field at one frequency, into the place of frequency `k`.
static void multiply_rows(const Strips *s, const TwsmValue *p, int first, int r0, int r1, int k,
                          TwsmValue *to)
{
    static const TwsmValue one = 1, zero = 0;
    int rows = r1 - r0, n = s->n;
    TwsmValue y[ROWS * TWSM_MAX_SOURCES];
    p += (gsize)r0 * n;
    if (s->n_rhs == 1)
        cblas_cgemv(CblasRowMajor, CblasNoTrans, rows, n, &one, p, n, s->column, 1, &zero, y, 1);
    else
        cblas_cgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, s->n_rhs, n, &one, p, n,
                    s->column, n, &zero, y, s->n_rhs);
    for (int r = 0; r < rows; r++)
        for (int q = 0; q < s->n_rhs; q++)
            to[((gsize)q * s->leg->to->n + first + r0 + r) * s->band.n + k] = y[r * s->n_rhs + q];
}

static void near_rows(Strips *s, int r0, int r1)
{
    for (gsize at = (gsize)r0 * s->n; at < (gsize)r1 * s->n; at++)
        s->p_near[at] = s->p[at] * s->far[at];
}

static void take_column(Strips *s, int k)
{
    for (gsize j = 0; j < (gsize)s->n_rhs * s->n; j++)
        s->column[j] = s->u[j * s->band.n + k];
}

// One strip at one frequency. `fill`: elements from their formula, else by the stored phase.
static void run_strip(Strips *s, int first, int k, gboolean fill, LithoRun *run)
{
    int rows = MIN(s->width, s->leg->to->n - first);
    double refill_ms = 0, product_ms = 0;
    take_column(s, k);
#pragma omp parallel for schedule(dynamic) num_threads(litho_run_threads(run))                     \
    reduction(+ : refill_ms, product_ms)
    for (int r0 = ROWS * litho_run_rank(run); r0 < rows; r0 += ROWS * litho_run_ranks(run)) {
        int r1 = MIN(r0 + ROWS, rows);
        if (g_atomic_int_get(&s->stop))
            continue;
        const double start = litho_now_ms();
        if (fill)
            fill_rows(s, first, r0, r1, s->band.k0 + k, run);
        else
            turn_rows(s, r0, r1);
        const double filled = litho_now_ms();
        if (stopped(s, run))
            continue;
        multiply_rows(s, s->p, first, r0, r1, k, s->sum);
        if (s->near) {
            near_rows(s, r0, r1);
            multiply_rows(s, s->p_near, first, r0, r1, k, s->near);
        }
        refill_ms += filled - start;
        product_ms += litho_now_ms() - filled;
        gint64 done;
#pragma omp atomic capture
        done = s->done += (gint64)(r1 - r0) * litho_run_ranks(run);
        if (omp_get_thread_num() == 0 ? !twsm_step(s->how, (double)done / s->total, run, NULL)
                                      : !litho_run_checkpoint(run))
            g_atomic_int_set(&s->stop, 1);
    }
    s->refill_ms += refill_ms;
    s->product_ms += product_ms;
}

static void run_algorithm(Strips *s, TwsmAlgorithm algorithm, LithoRun *run)
{
    int n = s->leg->to->n;
    if (algorithm == TWSM_ALG1) {
        for (int k = 0; k < s->band.n && !s->stop; k++)
            for (int first = 0; first < n && !s->stop; first += s->width)
                run_strip(s, first, k, TRUE, run);
        return;
    }
    for (int first = 0; first < n && !s->stop; first += s->width)
        for (int k = 0; k < s->band.n && !s->stop; k++)
            run_strip(s, first, k, algorithm == TWSM_ALG2 || k == 0, run);
}

gboolean LITHO_ISA_NAME(twsm_cpu_strips)(const TwsmLeg *leg, int n_rhs, TwsmBand band, TwsmHow *how,
                                         const TwsmValue *u, TwsmValue *sum, TwsmValue *near,
                                         LithoRun *run, GError **error)
{
    Strips s = {.leg = leg,
                .how = how,
                .band = band,
                .n = leg->from->n,
                .n_rhs = n_rhs,
                .width = MIN(how->strip, leg->to->n),
                .u = u,
                .sum = sum,
                .near = near,
                .total = (gint64)leg->to->n * band.n};
    gsize cells = (gsize)s.width * s.n;
    gboolean phases = how->algorithm == TWSM_MOD2;
    double bytes = cells * (8.0 + (phases ? 8 : 0) + (near ? 12 : 0));
    // malloc() promises more than there is: asked before.
    if (!twsm_strips_fit(s.width, s.n, bytes, (double)litho_memory_available(), error))
        return FALSE;
    s.p = g_try_new(TwsmValue, cells);
    s.pha = phases ? g_try_new(TwsmValue, cells) : NULL;
    s.p_near = near ? g_try_new(TwsmValue, cells) : NULL;
    s.far = near ? g_try_new(float, cells) : NULL;
    s.column = g_try_new(TwsmValue, (gsize)n_rhs * s.n);
    // A cancel waits for the system to take the strip back.
    litho_memory_large_pages(s.p, cells * sizeof *s.p);
    litho_memory_large_pages(s.pha, phases ? cells * sizeof *s.pha : 0);
    litho_memory_large_pages(s.p_near, near ? cells * sizeof *s.p_near : 0);
    litho_memory_large_pages(s.far, near ? cells * sizeof *s.far : 0);
    how->strip_bytes = MAX(how->strip_bytes, bytes);
    gboolean ok = s.p && s.column && (s.pha || !phases) && (!near || (s.p_near && s.far));
    if (ok) {
        run_algorithm(&s, how->algorithm, run);
        // Rows of other processes are zeros here.
        const gsize values = 2 * (gsize)n_rhs * leg->to->n * band.n;
        ok = twsm_stopped(s.stop, error) &&
             litho_run_sum_floats(run, (float *)sum, values, error) &&
             (!near || litho_run_sum_floats(run, (float *)near, values, error));
    } else {
        litho_refuse(
            error, LITHO_ERROR_MEMORY,
            "no memory for a strip of %d x %d elements (%.0f MB); use a smaller strip_width",
            s.width, s.n, 1e-6 * bytes);
    }
    how->refill_ms += s.refill_ms;
    how->product_ms += s.product_ms;
    g_free(s.p);
    g_free(s.pha);
    g_free(s.p_near);
    g_free(s.far);
    g_free(s.column);
    return ok;
}
