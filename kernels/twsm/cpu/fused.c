// SPDX-License-Identifier: GPL-3.0-or-later
//
// The fused sum: nothing is stored. A vector of targets meets four sources at a time; the beam of
// each pair is seeded once (geometry, two cosines and sines) and stepped through the block of
// frequencies by the three-term recurrence z(k+1) = 2 cos(2 pi t) z(k) - z(k-1), two fused
// operations, against four for a complex product. With the product z u a pair and frequency
// costs 6.
#include <omp.h>
#include <string.h>

#include "core/memory.h"
#include "core/peers.h"
#include "kernels/twsm/chain.h"

// Width and depth of the register tile: five vectors of state per source, two sums.
#ifdef __AVX512F__
enum { LANES = 16, DEEP = 4 };
#else
enum { LANES = 8, DEEP = 2 };
#endif
typedef float Lanes __attribute__((vector_size(LANES * sizeof(float))));

enum {
    TILE = 4096,     // sources summed in float32 before the sum goes to float64
    MAX_RHS = 4,     // sources of the model that share one pass over the beams
    FEW_GROUPS = 64, // fewer vectors of targets than this: share out the sources as well
};

// Beams of LANES targets with DEEP sources at the first frequency and the one before.
typedef struct Seeds {
    Lanes re[DEEP], im[DEEP], pre[DEEP], pim[DEEP];
    Lanes twice[DEEP]; // 2 cos(2 pi t)
    Lanes far[DEEP];   // 1 / (2 pi t), for the near field
} Seeds;

static void seed(const TwsmLeg *leg, int i, int j, int k0, Seeds *s)
{
    for (int d = 0; d < DEEP; d++) {
        float t[LANES], are[LANES], aim[LANES];
        float *re = (float *)&s->re[d], *im = (float *)&s->im[d];
        float *pre = (float *)&s->pre[d], *pim = (float *)&s->pim[d];
        float *twice = (float *)&s->twice[d], *far = (float *)&s->far[d];
        twsm_pair_rows(leg, i, LANES, j + d, t, are, aim);
        for (int l = 0; l < LANES; l++) {
            float c, sn, c1, s1;
            twsm_turn_times((float)k0, t[l], &c, &sn);
            twsm_turn_times(1.0f, t[l], &c1, &s1);
            re[l] = are[l] * c - aim[l] * sn;
            im[l] = are[l] * sn + aim[l] * c;
            pre[l] = re[l] * c1 + im[l] * s1;
            pim[l] = im[l] * c1 - re[l] * s1;
            twice[l] = 2 * c1;
            far[l] = 0.159154943f / t[l];
        }
    }
}

// Adds DEEP sources to the sums [k][rhs] of LANES targets; u[rhs] points to source j, [d][k].
static inline __attribute__((always_inline)) void
add_sources(const Seeds *s, int n, int n_rhs, const TwsmValue *const *u, Lanes *sum, Lanes *near)
{
    Lanes re[DEEP], im[DEEP], pre[DEEP], pim[DEEP];
    for (int d = 0; d < DEEP; d++)
        re[d] = s->re[d], im[d] = s->im[d], pre[d] = s->pre[d], pim[d] = s->pim[d];
    for (int k = 0; k < n; k++) {
        for (int r = 0; r < n_rhs; r++) {
            Lanes *at = sum + 2 * (k * n_rhs + r),
                  *close = near ? near + 2 * (k * n_rhs + r) : NULL;
            Lanes sre = at[0], sim = at[1], nre = {0}, nim = {0};
#pragma GCC unroll 4
            for (int d = 0; d < DEEP; d++) {
                const float *v = (const float *)(u[r] + d * n + k);
                if (near) {
                    Lanes pr = re[d] * v[0] - im[d] * v[1], pi = re[d] * v[1] + im[d] * v[0];
                    sre += pr;
                    sim += pi;
                    nre += s->far[d] * pr;
                    nim += s->far[d] * pi;
                } else {
                    sre += re[d] * v[0];
                    sim += re[d] * v[1];
                    sre -= im[d] * v[1];
                    sim += im[d] * v[0];
                }
            }
            at[0] = sre;
            at[1] = sim;
            if (near) {
                close[0] += nre;
                close[1] += nim;
            }
        }
#pragma GCC unroll 4
        for (int d = 0; d < DEEP; d++) {
            Lanes nre = s->twice[d] * re[d] - pre[d], nim = s->twice[d] * im[d] - pim[d];
            pre[d] = re[d], pim[d] = im[d];
            re[d] = nre, im[d] = nim;
        }
    }
}

// Sums of LANES targets over sources j0..j1 (a multiple of DEEP of them, padding included).
static void sum_tile(const TwsmLeg *leg, int i, int j0, int j1, TwsmBand band, int n_rhs,
                     const TwsmValue *const *u, Lanes *sum, Lanes *near)
{
    for (int j = j0; j < j1; j += DEEP) {
        Seeds s;
        const TwsmValue *at[MAX_RHS];
        for (int r = 0; r < n_rhs; r++)
            at[r] = u[r] + (gsize)j * band.n;
        seed(leg, i, j, band.k0, &s);
        if (near)
            add_sources(&s, band.n, n_rhs, at, sum, near);
        else if (n_rhs == 1)
            add_sources(&s, band.n, 1, at, sum, NULL);
        else
            add_sources(&s, band.n, n_rhs, at, sum, NULL);
    }
}

// One group of right-hand sides.
typedef struct Work {
    const TwsmLeg *leg;
    const TwsmHow *how;
    TwsmBand band;
    int n_rhs, groups, slices; // vectors of targets, tiles of sources
    const TwsmValue *u[MAX_RHS];
    TwsmValue *sum[MAX_RHS], *near[MAX_RHS];
    gsize size; // doubles of the sums of one group: [k][rhs][2][LANES]
    int rank, ranks; // tasks are dealt out in turn
    gint64 done, tasks;
    gint stop;
} Work;

// Adds tile `slice` of group `group` to float64 sums.
static void run_tile(const Work *w, int group, int slice, double *sum, double *near)
{
    Lanes acc[2 * TWSM_BLOCK * MAX_RHS] = {0}, acc_near[2 * TWSM_BLOCK * MAX_RHS] = {0};
    int j0 = slice * TILE, j1 = MIN(j0 + TILE, w->leg->from->padded);
    sum_tile(w->leg, group * LANES, j0, j1, w->band, w->n_rhs, w->u, acc,
             w->leg->near ? acc_near : NULL);
    for (gsize r = 0; r < w->size; r++)
        sum[r] += ((float *)acc)[r];
    for (gsize r = 0; w->leg->near && r < w->size; r++)
        near[r] += ((float *)acc_near)[r];
}

static void store_group(const Work *w, int group, const double *sum, TwsmValue *const *to)
{
    int n = w->band.n;
    for (int l = 0; l < LANES && group * LANES + l < w->leg->to->n; l++)
        for (int r = 0; r < w->n_rhs; r++)
            for (int k = 0; k < n; k++) {
                const double *at = sum + (gsize)2 * (k * w->n_rhs + r) * LANES + l;
                to[r][(gsize)(group * LANES + l) * n + k] = (float)at[0] + I * (float)at[LANES];
            }
}

// After a task: counts it and looks for a cancel; the job's thread also shows progress.
static void task_done(Work *w, LithoRun *run, gboolean master)
{
    gint64 done;
#pragma omp atomic capture
    done = ++w->done;
    if (master ? !twsm_step(w->how, (double)done / w->tasks, run, NULL)
               : !litho_run_checkpoint(run))
        g_atomic_int_set(&w->stop, 1);
}

// Many targets: a task is a vector of them against all sources.
static void run_groups(Work *w, LithoRun *run)
{
    w->tasks = (w->groups + w->ranks - 1) / w->ranks;
#pragma omp parallel num_threads(litho_run_threads(run))
    {
        g_autofree double *sum = g_new(double, 2 * w->size);
#pragma omp for schedule(dynamic)
        for (int g = w->rank; g < w->groups; g += w->ranks) {
            if (g_atomic_int_get(&w->stop))
                continue;
            memset(sum, 0, 2 * w->size * sizeof *sum);
            for (int s = 0; s < w->slices; s++)
                run_tile(w, g, s, sum, sum + w->size);
            store_group(w, g, sum, w->sum);
            if (w->leg->near)
                store_group(w, g, sum + w->size, w->near);
            task_done(w, run, omp_get_thread_num() == 0);
        }
    }
}

// Few targets: a task is one tile. Every partial sum has its place, so that the result does not
// depend on the number of threads.
static gboolean run_slices(Work *w, LithoRun *run, GError **error)
{
    const gint64 tasks = (gint64)w->groups * w->slices;
    w->tasks = (tasks + w->ranks - 1) / w->ranks;
    g_autofree double *sum =
        litho_memory_new(2 * tasks * w->size, sizeof *sum, "sums of beams", error);
    if (!sum)
        return FALSE;
#pragma omp parallel for schedule(dynamic) num_threads(litho_run_threads(run))
    for (gint64 task = w->rank; task < tasks; task += w->ranks) {
        double *at = sum + 2 * task * w->size;
        if (g_atomic_int_get(&w->stop))
            continue;
        run_tile(w, task / w->slices, task % w->slices, at, at + w->size);
        task_done(w, run, omp_get_thread_num() == 0);
    }
    if (!twsm_stopped(w->stop, error) ||
        !litho_run_sum_doubles(run, sum, 2 * tasks * w->size, error))
        return FALSE;
    for (int g = 0; g < w->groups; g++) {
        double *total = sum + 2 * (gsize)g * w->slices * w->size;
        for (int s = 1; s < w->slices; s++)
            for (gsize k = 0; k < 2 * w->size; k++)
                total[k] += total[2 * s * w->size + k];
        store_group(w, g, total, w->sum);
        if (w->leg->near)
            store_group(w, g, total + w->size, w->near);
    }
    return TRUE;
}

// A copy of u with zeros for the padding sources: their beams are 0, but 0 * garbage may be NaN.
static TwsmValue *padded_copy(const TwsmLeg *leg, int n, const TwsmValue *u, GError **error)
{
    TwsmValue *copy =
        litho_memory_new((gsize)leg->from->padded * n, sizeof *copy, "a boundary's field", error);
    if (copy)
        memcpy(copy, u, sizeof *copy * leg->from->n * n);
    return copy;
}

gboolean LITHO_ISA_NAME(twsm_cpu_fused)(const TwsmLeg *leg, int n_rhs, TwsmBand band, TwsmHow *how,
                                        const TwsmValue *u, TwsmValue *sum, TwsmValue *near,
                                        LithoRun *run, GError **error)
{
    gboolean ok = TRUE;
    for (int r0 = 0; r0 < n_rhs && ok; r0 += MAX_RHS) {
        Work w = {.leg = leg, .how = how, .band = band, .n_rhs = MIN(n_rhs - r0, MAX_RHS),
                  .rank = litho_run_rank(run), .ranks = litho_run_ranks(run)};
        w.size = (gsize)band.n * w.n_rhs * 2 * LANES;
        TwsmValue *copy[MAX_RHS] = {NULL};
        w.groups = (leg->to->n + LANES - 1) / LANES;
        w.slices = (leg->from->padded + TILE - 1) / TILE;
        for (int r = 0; r < w.n_rhs && ok; r++) {
            gsize to = (gsize)(r0 + r) * leg->to->n * band.n;
            w.u[r] = copy[r] =
                padded_copy(leg, band.n, u + (gsize)(r0 + r) * leg->from->n * band.n, error);
            ok = copy[r] != NULL;
            w.sum[r] = sum + to;
            w.near[r] = near ? near + to : NULL;
        }
        const gboolean few = w.groups < FEW_GROUPS;
        if (ok && few)
            ok = run_slices(&w, run, error);
        else if (ok)
            run_groups(&w, run);
        // Rows of other processes are zeros here.
        const gsize values = 2 * (gsize)w.n_rhs * leg->to->n * band.n;
        ok = ok && twsm_stopped(w.stop, error) &&
             (few || (litho_run_sum_floats(run, (float *)w.sum[0], values, error) &&
                      (!near || litho_run_sum_floats(run, (float *)w.near[0], values, error)))) &&
             twsm_step(how, (double)MIN(r0 + MAX_RHS, n_rhs) / n_rhs, run, error);
        for (int r = 0; r < w.n_rhs; r++)
            g_free(copy[r]);
    }
    return ok;
}
