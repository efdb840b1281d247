// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/common/balance.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "kernels/common/balance_trace.h"
#include "kernels/common/select.h"

enum { HALF = BALANCE_HALF, MEAN = 4 };
// Parts of the largest coefficient that windows keep in the first pass and in the next. What gains
// that scatter by 0.3 spread is 34 dB below their events, but a reversed trace is found less surely
// beside many coefficients.
#define FIRST 0.15f
#define NEXT 0.05f
enum { PART_INLINES = 64 }; // of a cube on a device, read at a time

static void logs_of(const BalanceJob *job, float *log, float *variance)
{
    const gint64 traces = litho_box_size(job->within, 0) * litho_box_size(job->within, 1);
#pragma omp parallel num_threads(litho_run_threads(job->run))
    {
        g_autofree BalancePiece *pieces = g_new(BalancePiece, job->n_times);
        g_autofree float *off = g_new(float, job->n_times);
#pragma omp for schedule(static)
        for (gint64 k = 0; k < traces; k++) {
            const float gain = balance_gain_of(job->sums + k * job->n_times, job->n_times, 1,
                                               pieces, off, &variance[k]);
            log[k] = gain > 0 ? logf(gain) : NAN;
        }
    }
}

// Sums of all windows of `within` and the traces around.
static gboolean sum_around(BalanceJob *job, const LithoCube *cube, const LithoBox *part,
                           LithoBox within, int around, LithoRun *run, GError **error)
{
    const LithoBox all = part ? *part : litho_box_full(&cube->grid);
    const LithoBox grown =
        litho_box_grow(&cube->grid, within, (const gint64[3]){around, around, 0});
    const gint64 n_times = (litho_box_size(all, 2) - 1) / HALF + 2;
    g_autofree gint64 *times = g_new(gint64, n_times);
    for (gint64 k = 0; k < n_times; k++)
        times[k] = k;
    job->in = cube;
    job->all = all;
    job->within = litho_box_intersect(all, grown);
    job->times = times;
    job->n_times = n_times;
    job->run = run;
    const gboolean ok = balance_sum_up(job, error);
    job->times = NULL;
    if (!ok)
        g_clear_pointer(&job->sums, g_free);
    return ok;
}

// -1 for reversed traces, whose products are turned, 1 for others; g_free().
static float *turn_reversed(const BalanceJob *job, gint64 traces)
{
    float *sign = g_new(float, MAX(traces, 1));
    for (gint64 k = 0; k < traces; k++) {
        BalanceSums *s = job->sums + k * job->n_times;
        sign[k] = balance_is_reversed(s, job->n_times) ? -1 : 1;
        for (gint64 t = 0; sign[k] < 0 && t < job->n_times; t++)
            s[t].product = -s[t].product;
    }
    return sign;
}

// Adds the gains by which the samples were divided, and their signs.
static void add_known(const BalanceJob *job, float *log, float *sign)
{
    const gint64 nx = litho_box_size(job->within, 1), n = nx * litho_box_size(job->within, 0);
    for (gint64 k = 0; job->gain && k < n; k++) {
        const gint64 il = job->within.lo[0] + k / nx, xl = job->within.lo[1] + k % nx;
        const float known = balance_known_gain(job, il, xl);
        log[k] += logf(fabsf(known));
        sign[k] *= known < 0 ? -1 : 1;
    }
}

// Gains of the traces of `box` from the sums of job->within, which has MEAN more around; g_free().
static float *gains_of(BalanceJob *job, LithoBox box, double scatter)
{
    const gint64 n[2] = {litho_box_size(job->within, 0), litho_box_size(job->within, 1)};
    const gint64 nx = litho_box_size(box, 1);
    float *gain = g_new(float, MAX(litho_box_size(box, 0) * nx, 1));
    g_autofree float *log = g_new(float, n[0] * n[1]), *rest = g_new(float, n[0] * n[1]);
    g_autofree float *variance = g_new(float, n[0] * n[1]);
    g_autofree float *sign = turn_reversed(job, n[0] * n[1]);
    logs_of(job, log, variance);
    add_known(job, log, sign);
    balance_less_mean(log, n, MEAN, rest);
    for (gint64 il = box.lo[0]; il < box.hi[0]; il++)
        for (gint64 xl = box.lo[1]; xl < box.hi[1]; xl++) {
            const gint64 k = (il - job->within.lo[0]) * n[1] + xl - job->within.lo[1];
            const double own = scatter * scatter;
            const double weight = own > 0 ? own / (own + variance[k]) : 0;
            gain[(il - box.lo[0]) * nx + xl - box.lo[1]] =
                sign[k] * (isfinite(rest[k]) ? (float)exp(weight * rest[k]) : 1);
        }
    return gain;
}

// The first pass: gains of the traces of `box`; g_free(). NULL with `error`.
static float *gains_around(const LithoCube *cube, const LithoBox *part, LithoBox box,
                           double scatter, LithoRun *run, GError **error)
{
    BalanceJob job = {.least = FIRST * FIRST};
    if (!sum_around(&job, cube, part, box, MEAN, run, error))
        return NULL;
    float *gain = gains_of(&job, box, scatter);
    g_free(job.sums);
    return gain;
}

static gboolean find_gains(const LithoCube *cube, const LithoBox *part, LithoBox within,
                           double scatter, float *gain, LithoRun *run, GError **error)
{
    BalanceJob job = {.least = NEXT * NEXT};
    const gint64 around = MEAN + BALANCE_N - 1;
    job.has_gain = litho_box_intersect(
        part ? *part : litho_box_full(&cube->grid),
        litho_box_grow(&cube->grid, within, (const gint64[3]){around, around, 0}));
    g_autofree float *first = gains_around(cube, part, job.has_gain, scatter, run, error);
    job.gain = first;
    if (!first || !sum_around(&job, cube, part, within, MEAN, run, error))
        return FALSE;
    g_autofree float *own = gains_of(&job, within, scatter);
    g_free(job.sums);
    const gint64 nx = litho_box_size(within, 1);
    for (gint64 il = within.lo[0]; il < within.hi[0]; il++)
        memcpy(gain + il * cube->grid.axis[1].n + within.lo[1], own + (il - within.lo[0]) * nx,
               nx * sizeof *gain);
    return TRUE;
}

// The share of a trace whose noise is `own` times that of most around and `of_events` times its
// events (logarithms). Guesses miss curved events and faults by a few percent: where the noise is
// as weak, little is gained, and what is missed stays.
static float share_of(float own, float of_events)
{
    const float missed = 0.1f, most = 0.6f;
    const float least = 1 / (1 + expf(2 * of_events) / (missed * missed));
    const gboolean noisy = own > logf(LITHO_BALANCE_NOISY);
    return noisy && least < most ? MAX(expf(-1.5f * own), least) : 1;
}

// Median of the logarithms within REACH traces; NAN = none is known.
static float median_around(const float *log, const gint64 n[2], gint64 i, gint64 j)
{
    enum { REACH = 3, MOST = (2 * REACH + 1) * (2 * REACH + 1) };
    float list[MOST];
    gint64 m = 0;
    for (gint64 a = MAX(i - REACH, 0); a <= MIN(i + REACH, n[0] - 1); a++)
        for (gint64 b = MAX(j - REACH, 0); b <= MIN(j + REACH, n[1] - 1); b++)
            if (isfinite(log[a * n[1] + b]))
                list[m++] = log[a * n[1] + b];
    return m > 0 ? litho_select_kth(list, m, m / 2) : NAN;
}

enum { PIECE = 16 }; // samples of which fourth differences are summed

// Logarithm of the amplitude of the fourth difference of a trace, in which events are faint: that of
// the median piece. NAN: not known. `list`: a float for each piece.
static float sharp_of(const LithoCube *cube, gint64 il, gint64 xl, float *list)
{
    enum { TAPS = 5 };
    const float *x = litho_cube_trace(cube, il, xl);
    const gint64 nt = litho_box_size(cube->held, 2);
    gint64 m = 0;
    for (gint64 from = 0; litho_cube_is_live(cube, il, xl) && from + PIECE <= nt; from += PIECE) {
        float sum = 0;
        for (gint64 t = from; t + TAPS <= from + PIECE; t++) {
            const float d = x[t] - 4 * x[t + 1] + 6 * x[t + 2] - 4 * x[t + 3] + x[t + 4];
            sum += d * d;
        }
        if (sum > 0 && isfinite(sum))
            list[m++] = sum;
    }
    return m > 0 ? 0.5f * logf(litho_select_kth(list, m, m / 2)) : NAN;
}

static gboolean find_sharp(const LithoCube *cube, LithoBox within, float *to, LithoRun *run,
                           GError **error)
{
    const gint64 nx = litho_box_size(within, 1), traces = nx * litho_box_size(within, 0);
    int stop = 0; // atomic
#pragma omp parallel num_threads(litho_run_threads(run))
    {
        g_autofree float *list = g_new(float, litho_box_size(cube->held, 2) / PIECE + 1);
#pragma omp for schedule(static)
        for (gint64 k = 0; k < traces; k++) {
            if (!litho_run_checkpoint(run))
                g_atomic_int_set(&stop, 1);
            if (!g_atomic_int_get(&stop))
                to[k] = sharp_of(cube, within.lo[0] + k / nx, within.lo[1] + k % nx, list);
        }
    }
    return !stop || litho_run_stopped(error);
}

// Faults leave much of a trace beside its events, too, and no guess is right there; but fourth
// differences are no stronger than in the traces around. The least of both counts.
static gboolean find_shares(const LithoCube *cube, const LithoBox *part, LithoBox within,
                            float *share, LithoRun *run, GError **error)
{
    BalanceJob job = {.of_noise = TRUE};
    if (!sum_around(&job, cube, part, within, MEAN, run, error))
        return FALSE;
    const gint64 n[2] = {litho_box_size(job.within, 0), litho_box_size(job.within, 1)};
    g_autofree float *log = g_new(float, n[0] * n[1]), *list = g_new(float, job.n_times);
    g_autofree float *events = g_new(float, n[0] * n[1]), *sharp = g_new(float, n[0] * n[1]);
    for (gint64 k = 0; k < n[0] * n[1]; k++)
        log[k] = balance_level_of(job.sums + k * job.n_times, job.n_times, 1, list, &events[k]);
    g_free(job.sums);
    if (!find_sharp(cube, job.within, sharp, run, error))
        return FALSE;
    for (gint64 il = within.lo[0]; il < within.hi[0]; il++)
        for (gint64 xl = within.lo[1]; xl < within.hi[1]; xl++) {
            const gint64 i = il - job.within.lo[0], j = xl - job.within.lo[1];
            const float around = median_around(log, n, i, j), left = log[i * n[1] + j] - around;
            const float more = fminf(left, sharp[i * n[1] + j] - median_around(sharp, n, i, j));
            share[il * cube->grid.axis[1].n + xl] =
                isfinite(left) ? share_of(more, more + around - events[i * n[1] + j]) : 1;
        }
    return TRUE;
}

gboolean litho_balance_find(const LithoCube *cube, const LithoBox *part, LithoBox within,
                            LithoScatter scatter, LithoUneven uneven, LithoRun *run, GError **error)
{
    return (!uneven.gain ||
            find_gains(cube, part, within, scatter.gains, uneven.gain, run, error)) &&
           (!uneven.share || find_shares(cube, part, within, uneven.share, run, error));
}

// Numbers of the traces of a cube that `blocks` reads, some inlines at a time.
static gboolean find_in_parts(const LithoCube *cube, const LithoReader *blocks,
                              LithoScatter scatter, LithoUneven uneven, LithoRun *run,
                              GError **error)
{
    const LithoBox held = cube->held;
    for (gint64 il = held.lo[0]; il < held.hi[0]; il += PART_INLINES) {
        LithoBox within = held, need = held;
        within.lo[0] = il;
        within.hi[0] = MIN(il + PART_INLINES, held.hi[0]);
        need.lo[0] = MAX(within.lo[0] - LITHO_BALANCE_TRACES, held.lo[0]);
        need.hi[0] = MIN(within.hi[0] + LITHO_BALANCE_TRACES, held.hi[0]);
        g_autoptr(LithoCube) part = blocks->read(&need, run, blocks->data, error);
        if (!part || !litho_cube_host(part, error) ||
            !litho_balance_find(part, &held, within, scatter, uneven, run, error))
            return FALSE;
    }
    return TRUE;
}

gboolean litho_balance_measure(const LithoCube *cube, const LithoReader *blocks, LithoRun *run,
                               LithoUneven *uneven, GError **error)
{
    const double start = litho_now_ms();
    LithoScatter scatter;
    *uneven = (LithoUneven){0};
    if (!(blocks ? litho_balance_scatter(blocks, &cube->held, run, &scatter, error)
                 : litho_balance_scatter_of(cube, run, &scatter, error)))
        return FALSE;
    if (scatter.gains > 0 || scatter.noise > 0 || scatter.reversed) {
        litho_uneven_begin(uneven, scatter, litho_grid_traces(&cube->grid));
        if (blocks ? !find_in_parts(cube, blocks, scatter, *uneven, run, error)
                   : !litho_balance_find(cube, &cube->held, cube->held, scatter, *uneven, run,
                                         error)) {
            litho_uneven_clear(uneven);
            return FALSE;
        }
    }
    litho_run_time(run, "gains of traces", LITHO_STAGE_COMPUTE, litho_now_ms() - start,
                   4.0 * litho_box_count(cube->held), 0);
    return TRUE;
}
