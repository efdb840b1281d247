// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/common/balance_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "kernels/common/clones.h"
#include "kernels/common/mute_at.h"

enum { N = BALANCE_N, HALF = BALANCE_HALF, TRACES = BALANCE_TRACES, SAMPLES = BALANCE_SAMPLES };
enum { COLOURS = 4 };
enum { LANES = 64 }; // of a sum: registers enough that no addition waits for the one before
enum { MOST_FILLS = 12 };
static const float noise_times = 9; // its mean power; a coefficient is kept above that

BalanceScratch *balance_scratch_new(void)
{
    return aligned_alloc(64, (sizeof(BalanceScratch) + 63) / 64 * 64);
}

static gint64 mirror(gint64 n, gint64 i)
{
    i = i < 0 ? -1 - i : i;
    return i < n ? i : MAX(2 * n - 1 - i, 0);
}

// --- a window ------------------------------------------------------------------------------------

// Samples of a trace, tapered; zero where they are not finite.
LITHO_INLINE void taper_trace(const float *samples, const float *taper, float of_trace, float *to)
{
    for (int t = 0; t < N; t++) {
        const float value = of_trace * taper[t] * samples[t];
        to[t] = value - value == 0 ? value : 0;
    }
}

// [trace][sample] to [sample][trace].
LITHO_CLONES static void taper_all(const float *from, const float *taper, const float *of_trace,
                                   float *x)
{
    for (int k = 0; k < TRACES; k += N) {
        float part[N][N];
        for (int l = 0; l < N; l++)
            taper_trace(from + (k + l) * N, taper, of_trace[k + l], part[l]);
        for (int t = 0; t < N; t++)
            for (int l = 0; l < N; l++)
                x[t * TRACES + k + l] = part[l][t];
    }
}

float balance_known_gain(const BalanceJob *job, gint64 il, gint64 xl)
{
    const LithoBox *has = &job->has_gain;
    const gboolean known =
        job->gain && il >= has->lo[0] && il < has->hi[0] && xl >= has->lo[1] && xl < has->hi[1];
    return known ? job->gain[(il - has->lo[0]) * litho_box_size(*has, 1) + xl - has->lo[1]] : 1;
}

// A trace, of n samples, has muted ones among samples lo ... hi, a window's: a mute that begins or
// ends within goes on beyond.
static gboolean has_mute(const float *trace, gint64 n, gint64 lo, gint64 hi)
{
    return litho_mute_at(trace, n, lo) || litho_mute_at(trace, n, hi);
}

// The tapered samples; beyond the faces the survey is mirrored. `from`: as many floats. `missing`:
// all bits set for traces that are. Returns how many are.
static int load_window(const BalanceJob *job, const gint64 at[3], float *from, float *x,
                       int missing[TRACES])
{
    int n = 0;
    const LithoCube *in = job->in;
    float of_trace[TRACES];
    gint64 place[3][N];
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < N; k++)
            place[a][k] =
                job->all.lo[a] + mirror(litho_box_size(job->all, a), at[a] + k - job->all.lo[a]);
    const gboolean inside = place[2][0] == at[2] && place[2][N - 1] == at[2] + N - 1;
    gint64 lo = place[2][0], hi = lo;
    for (int t = 1; t < N; t++) {
        lo = MIN(lo, place[2][t]);
        hi = MAX(hi, place[2][t]);
    }
    for (int k = 0; k < TRACES; k++) {
        const gint64 trace = litho_cube_trace_index(in, place[0][k / N], place[1][k % N]);
        const float *samples = in->samples + trace * litho_box_size(in->held, 2) - in->held.lo[2];
        const gboolean there =
            in->live[trace] && !has_mute(samples + in->held.lo[2], litho_box_size(in->held, 2),
                                         lo - in->held.lo[2], hi - in->held.lo[2]);
        missing[k] = there ? 0 : -1;
        n -= missing[k];
        of_trace[k] = there ? job->taper[k / N] * job->taper[k % N] /
                                  balance_known_gain(job, place[0][k / N], place[1][k % N])
                            : 0;
        if (inside)
            memcpy(from + k * N, samples + at[2], N * sizeof *from);
        for (int t = 0; !inside && t < N; t++)
            from[k * N + t] = samples[place[2][t]];
    }
    taper_all(from, job->taper, of_trace, x);
    return n;
}

// Mean of the powers below `limit`.
LITHO_CLONES static float mean_below(const float *restrict power, float limit)
{
    float sum[LANES] = {0}, all = 0;
    int n[LANES] = {0}, count = 0;
    for (int k = 0; k < SAMPLES; k += LANES)
        for (int l = 0; l < LANES; l++) {
            sum[l] += power[k + l] < limit ? power[k + l] : 0;
            n[l] += power[k + l] < limit ? 1 : 0;
        }
    for (int l = 0; l < LANES; l++) {
        all += sum[l];
        count += n[l];
    }
    return count > 0 ? all / (float)count : 0;
}

LITHO_CLONES static float powers_of(const float *restrict re, const float *restrict im,
                                    float *restrict power)
{
    float most[LANES] = {0}, all = 0;
    for (int k = 0; k < SAMPLES; k += LANES)
        for (int l = 0; l < LANES; l++) {
            const float own = re[k + l] * re[k + l] + im[k + l] * im[k + l];
            power[k + l] = own;
            most[l] = most[l] > own ? most[l] : own;
        }
    for (int l = 0; l < LANES; l++)
        all = all > most[l] ? all : most[l];
    return all;
}

LITHO_CLONES static void keep(float *restrict re, float *restrict im, const float *restrict power,
                              float limit)
{
    for (int k = 0; k < SAMPLES; k++) {
        re[k] = power[k] >= limit ? re[k] : 0;
        im[k] = power[k] >= limit ? im[k] : 0;
    }
}

LITHO_CLONES static void add_products(const float *restrict x, const float *restrict f,
                                      float *restrict product, float *restrict kept)
{
    for (int t = 0; t < N; t++)
        for (int k = 0; k < TRACES; k++) {
            const float a = x[t * TRACES + k], b = f[t * TRACES + k] * (1.0f / SAMPLES);
            product[k] += a * b;
            kept[k] += b * b;
        }
}

LITHO_CLONES static void add_squares(const float *restrict x, float *restrict own)
{
    for (int t = 0; t < N; t++)
        for (int k = 0; k < TRACES; k++)
            own[k] += x[t * TRACES + k] * x[t * TRACES + k];
}

// Nothing for traces that are `missing` there. `all`: with all events kept; NULL: these are not
// asked for, or not known.
static void add_window(BalanceJob *job, const gint64 at[3], gint64 time, const int *missing,
                       const float *x, const float *f, const float *all)
{
    const LithoBox w = job->within;
    float sum[5][TRACES] = {0};
    add_products(x, f, sum[0], sum[1]);
    add_squares(x, sum[2]);
    if (all)
        add_products(x, all, sum[3], sum[4]);
    for (int k = 0; k < TRACES; k++) {
        const gint64 il = at[0] + k / N, xl = at[1] + k % N;
        if (missing[k] || il < w.lo[0] || il >= w.hi[0] || xl < w.lo[1] || xl >= w.hi[1])
            continue;
        BalanceSums *to = job->sums +
                          ((il - w.lo[0]) * litho_box_size(w, 1) + xl - w.lo[1]) * job->n_times +
                          time;
        to->product += sum[0][k];
        to->kept += sum[1][k];
        to->own += sum[2][k];
        to->all_product += sum[3][k];
        to->all_kept += sum[4][k];
        to->all_own += all ? sum[2][k] : 0;
    }
}

// Most events stand above the mean of all at first: a few steps find that of the noise.
static float noise_limit(const float *power)
{
    float mean = mean_below(power, INFINITY);
    for (int k = 0; k < 5; k++)
        mean = mean_below(power, noise_times * mean);
    return noise_times * mean;
}

// A window takes its recorded traces; `f`, times SAMPLES before, keeps the missing ones.
LITHO_CLONES static void fill_missing(const float *restrict x, const int *restrict missing,
                                      float *restrict f)
{
    for (int t = 0; t < N; t++)
        for (int k = 0; k < TRACES; k++)
            f[t * TRACES + k] =
                missing[k] ? f[t * TRACES + k] * (1.0f / SAMPLES) : x[t * TRACES + k];
}

// Repetitions after which a part of 0.02 of the missing traces is not filled, when those that are
// missing at random leave each repetition their share of it.
static int fills_of(int missing)
{
    const double share = fmin((double)missing / TRACES, 0.9);
    return missing > 0 ? MIN((int)ceil(log(0.02) / log(share)), MOST_FILLS) : 0;
}

// The transform of the pair in s->x to s->f, its powers to s->power. Missing traces are filled with
// what is kept: gaps spread events, and what is left of these differs from trace to trace by
// itself. FALSE: nothing there.
static gboolean transform_pair(const BalanceJob *job, int missing, BalanceScratch *s, float *most,
                               float *noise)
{
    const int fills = fills_of(missing);
    memcpy(s->f, s->x, sizeof s->f);
    for (int k = 0;; k++) {
        LITHO_ISA_PICK(litho_window16_forward)(s->f[0], s->f[1]);
        *most = powers_of(s->f[0], s->f[1], s->power);
        if (!(*most > 0))
            return FALSE;
        *noise = noise_limit(s->power);
        if (k >= fills)
            return TRUE;
        keep(s->f[0], s->f[1], s->power, MAX(job->least * *most, *noise));
        LITHO_ISA_PICK(litho_window16_backward)(s->f[0], s->f[1]);
        for (int part = 0; part < 2; part++)
            fill_missing(s->x[part], s->missing[part], s->f[part]);
    }
}

void balance_run_pair(BalanceJob *job, const gint64 place[2], const gint64 times[2],
                      BalanceScratch *s)
{
    gint64 at[2][3];
    int gaps[2], missing = 0;
    float most, noise;
    for (int part = 0; part < 2; part++) {
        const gint64 k = times[part] < job->n_times ? times[part] : times[0];
        at[part][0] = place[0];
        at[part][1] = place[1];
        at[part][2] = job->all.lo[2] + (job->times[k] - 1) * HALF;
        gaps[part] = load_window(job, at[part], s->power, s->x[part], s->missing[part]);
        missing = MAX(missing, gaps[part]);
    }
    if (!transform_pair(job, missing, s, &most, &noise))
        return;
    if (job->of_noise) {
        memcpy(s->all, s->f, sizeof s->all);
        keep(s->all[0], s->all[1], s->power, noise);
        LITHO_ISA_PICK(litho_window16_backward)(s->all[0], s->all[1]);
    }
    keep(s->f[0], s->f[1], s->power, MAX(job->least * most, noise));
    LITHO_ISA_PICK(litho_window16_backward)(s->f[0], s->f[1]);
    for (int part = 0; part < 2 && times[part] < job->n_times; part++)
        add_window(job, at[part], times[part], s->missing[part], s->x[part], s->f[part],
                   job->of_noise && gaps[part] <= BALANCE_GAPS_OF_NOISE * TRACES ? s->all[part]
                                                                                 : NULL);
}

gboolean balance_no_memory(GError **error)
{
    return litho_refuse(error, LITHO_ERROR_MEMORY, "there is no memory for the gains of traces");
}

// --- columns of windows --------------------------------------------------------------------------

// Columns of one colour share no trace, and a column has its colour in the survey: sums have one
// order on any number of threads, and in any part.
static gboolean run_columns(BalanceJob *job, GError **error)
{
    gint64 first[2], n[2];
    for (int a = 0; a < 2; a++) {
        first[a] = (job->within.lo[a] - job->all.lo[a]) / HALF;
        n[a] = (job->within.hi[a] - 1 - job->all.lo[a]) / HALF + 2 - first[a];
    }
    for (int colour = 0; colour < COLOURS; colour++) {
        const gint64 lo[2] = {(first[0] + colour / 2) % 2, (first[1] + colour % 2) % 2};
        const gint64 rows[2] = {(n[0] - lo[0] + 1) / 2, (n[1] - lo[1] + 1) / 2};
#pragma omp parallel num_threads(litho_run_threads(job->run))
        {
            BalanceScratch *s = balance_scratch_new();
            if (!s)
                g_atomic_int_set(&job->stop, 2);
#pragma omp for schedule(dynamic)
            for (gint64 k = 0; k < rows[0] * rows[1]; k++) {
                const gint64 number[2] = {first[0] + lo[0] + 2 * (k / rows[1]),
                                          first[1] + lo[1] + 2 * (k % rows[1])};
                const gint64 place[2] = {job->all.lo[0] + (number[0] - 1) * HALF,
                                         job->all.lo[1] + (number[1] - 1) * HALF};
                if (!litho_run_checkpoint(job->run))
                    g_atomic_int_set(&job->stop, 1);
                for (gint64 time = 0; !g_atomic_int_get(&job->stop) && time < job->n_times;
                     time += 2)
                    balance_run_pair(job, place, (const gint64[2]){time, time + 1}, s);
            }
            free(s);
        }
        if (job->stop == 2)
            return balance_no_memory(error);
        if (job->stop)
            return litho_run_stopped(error);
    }
    return TRUE;
}

void balance_set_taper(BalanceJob *job)
{
    for (int k = 0; k < N; k++)
        job->taper[k] = (float)sin(G_PI * (k + 0.5) / N);
}

gboolean balance_sum_up(BalanceJob *job, GError **error)
{
    const gint64 traces = litho_box_size(job->within, 0) * litho_box_size(job->within, 1);
    balance_set_taper(job);
    job->sums = g_try_new0(BalanceSums, traces * job->n_times);
    return job->sums ? run_columns(job, error) : balance_no_memory(error);
}
