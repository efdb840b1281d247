// SPDX-License-Identifier: GPL-3.0-or-later
//
// Power of the noise at each wavenumber, for noise that does not come to all of them alike.
#include <math.h>
#include <string.h>

#include "kernels/common/noise_job.h"
#include "kernels/common/select.h"

// Traces of a window along an axis, at most.
#define LITHO_NOISE_ROW 64
// reach() of them.
#define REACH 8

// The mean of exponentially distributed values over the mean of the one number `rank` of n in
// ascending order (Renyi 1953).
static float scale_of(gint64 rank, gint64 n)
{
    double sum = 0;
    for (gint64 k = 0; k <= rank; k++)
        sum += 1.0 / (double)(n - k);
    return (float)(1 / sum);
}

void noise_floor(const NoiseJob *job, int threads, float *floor)
{
    noise_floor_by(job, NOISE_FLOOR_PART, threads, floor);
}

void noise_floor_by(const NoiseJob *job, double part, int threads, float *floor)
{
    const gint64 nk = noise_wavenumbers(job);
    gint64 n = 0;
    for (gint64 w = 0; w < job->windows; w++)
        n += job->share[w] > 0;
    const gint64 rank = (gint64)(part * (double)n);
    const float scale = n < NOISE_FLOOR_WINDOWS ? 0 : scale_of(rank, n);
#pragma omp parallel num_threads(threads)
    {
        g_autofree const float **row = g_new(const float *, job->windows);
#pragma omp for schedule(dynamic)
        for (int f = 0; f < job->nf; f++) {
            float *to = floor + f * nk;
            memset(to, 0, nk * sizeof *to);
            if (n < NOISE_FLOOR_WINDOWS || !litho_run_checkpoint(job->run))
                continue;
            noise_take_rows(job, f, row);
            litho_select_columns(row, n, rank, nk, to);
            for (gint64 k = 0; k < nk; k++)
                to[k] *= scale;
        }
    }
}

gint64 noise_take_rows(const NoiseJob *job, int f, const float **row)
{
    gint64 n = 0;
    for (gint64 w = 0; w < job->windows; w++)
        if (job->share[w] > 0)
            row[n++] = job->power + (f * job->windows + w) * noise_wavenumbers(job);
    return n;
}

double noise_mean(const float *x, gint64 n)
{
    double sum = 0;
    for (gint64 k = 0; k < n; k++)
        sum += x[k];
    return sum / (double)n;
}

// --- below the events ----------------------------------------------------------------------------

// Half widths: an event stands at one wavenumber, which the taper spreads to the next one; where
// events bend, and windows are long, it is wider.
static int reach(int n)
{
    return n < 4 ? 0 : (n + 4) / 8;
}

static float smaller(float a, float b)
{
    return a < b ? a : b;
}

static float larger(float a, float b)
{
    return a > b ? a : b;
}

// Row i of a plane, and `by` columns beyond either end; both periodic.
static void put_row(const int n[2], const float *plane, int i, int by, float *to)
{
    const float *row = plane + (i + n[0]) % n[0] * n[1];
    memcpy(to, row + n[1] - by, by * sizeof *to);
    memcpy(to + by, row, n[1] * sizeof *to);
    memcpy(to + by + n[1], row, by * sizeof *to);
}

// The smaller of each pair to a, the larger to b.
static void sort_pair(int n, float *restrict a, float *restrict b)
{
    for (int j = 0; j < n; j++) {
        const float x = smaller(a[j], b[j]), y = larger(a[j], b[j]);
        a[j] = x;
        b[j] = y;
    }
}

// The middle one of the first `count` rows, 1, 3 or 9 of them, by exchanges (Paeth 1990, Graphics
// Gems); where it stands.
static int sort_rows(int n, int count, float (*row)[LITHO_NOISE_ROW])
{
    static const guint8 three[][2] = {{0, 1}, {1, 2}, {0, 1}};
    static const guint8 nine[][2] = {{1, 2}, {4, 5}, {7, 8}, {0, 1}, {3, 4}, {6, 7}, {1, 2},
                                     {4, 5}, {7, 8}, {0, 3}, {5, 8}, {4, 7}, {3, 6}, {1, 4},
                                     {2, 5}, {4, 7}, {4, 2}, {6, 4}, {4, 2}};
    const int pairs = count == 9 ? G_N_ELEMENTS(nine) : count == 3 ? G_N_ELEMENTS(three) : 0;
    for (int k = 0; k < pairs; k++) {
        const guint8 *pair = count == 9 ? nine[k] : three[k];
        sort_pair(n, row[pair[0]], row[pair[1]]);
    }
    return count / 2;
}

static void median_of_neighbours(const int n[2], const float *from, float *to)
{
    const int r[2] = {n[0] < 4 ? 0 : 1, n[1] < 4 ? 0 : 1};
    float row[9][LITHO_NOISE_ROW], wide[LITHO_NOISE_ROW + 2];
    for (int i = 0; i < n[0]; i++) {
        int count = 0;
        for (int a = -r[0]; a <= r[0]; a++) {
            put_row(n, from, i + a, r[1], wide);
            for (int b = 0; b <= 2 * r[1]; b++)
                memcpy(row[count++], wide + b, n[1] * sizeof *wide);
        }
        memcpy(to + i * n[1], row[sort_rows(n[1], count, row)], n[1] * sizeof *to);
    }
}

static void take_extreme(int n, gboolean least, const float *other, float *own)
{
    if (least)
        for (int j = 0; j < n; j++)
            own[j] = smaller(own[j], other[j]);
    else
        for (int j = 0; j < n; j++)
            own[j] = larger(own[j], other[j]);
}

// Least or largest of the neighbours along one axis.
static void extreme_along(const int n[2], int axis, gboolean least, const float *from, float *to)
{
    const int r = reach(n[axis]);
    float wide[LITHO_NOISE_ROW + 2 * REACH];
    memcpy(to, from, sizeof *to * n[0] * n[1]);
    for (int i = 0; i < n[0]; i++) {
        put_row(n, from, i, axis == 1 ? r : 0, wide);
        for (int d = -r; d <= r; d++)
            take_extreme(n[1], least,
                         axis == 1 ? wide + r + d : from + (i + d + n[0]) % n[0] * n[1],
                         to + i * n[1]);
    }
}

void noise_below_events(const int n[2], const float *power, float *below)
{
    float scratch[LITHO_NOISE_ROW * LITHO_NOISE_ROW];
    median_of_neighbours(n, power, below);
    extreme_along(n, 0, TRUE, below, scratch);
    extreme_along(n, 1, TRUE, scratch, below);
    extreme_along(n, 0, FALSE, below, scratch);
    extreme_along(n, 1, FALSE, scratch, below);
}

// --- what the opening takes of broad hills ------------------------------------------------------

// Waves along an axis of a window that a hill of noise is made of, at most: half a wave is no
// narrower than an event is with the taper.
static int most_waves(int n)
{
    return MIN(n / 4, 4);
}

// The part of periodic values that is made of the longest waves: dirichlet[d] is the response at a
// distance of d.
static void dirichlet_new(int n, float *dirichlet)
{
    for (int d = 0; d < n; d++) {
        double sum = 1;
        for (int wave = 1; wave <= most_waves(n); wave++)
            sum += 2 * cos(2 * G_PI * wave * d / n);
        dirichlet[d] = (float)(sum / n);
    }
}

static void smooth_along(const int n[2], int axis, const float *from, float *to)
{
    float dirichlet[LITHO_NOISE_ROW];
    dirichlet_new(n[axis], dirichlet);
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < n[1]; j++) {
            float sum = 0;
            for (int k = 0; k < n[axis]; k++) {
                const int d = abs(k - (axis == 0 ? i : j));
                sum += dirichlet[d] * from[axis == 0 ? k * n[1] + j : i * n[1] + k];
            }
            to[i * n[1] + j] = sum;
        }
}

// The opening takes less of noise: 1.0 to 1.7 times as much is left of mixed and of migrated noise,
// and 4 to 10 times where there is no noise and events spread over the wavenumbers.
#define STEEP 2

void noise_refine_below(const int n[2], const float *power, float *below)
{
    enum { FAINT = 1000000 }; // below the mean
    const gint64 nk = (gint64)n[0] * n[1];
    const double opened = noise_mean(below, nk);
    const float least = (float)(opened / FAINT);
    float hill[LITHO_NOISE_ROW * LITHO_NOISE_ROW], other[LITHO_NOISE_ROW * LITHO_NOISE_ROW];
    if (!(least > 0))
        return;
    for (gint64 k = 0; k < nk; k++)
        hill[k] = logf(larger(below[k], least));
    smooth_along(n, 0, hill, other);
    smooth_along(n, 1, other, hill);
    for (gint64 k = 0; k < nk; k++)
        hill[k] = expf(hill[k]);
    float above[LITHO_NOISE_ROW * LITHO_NOISE_ROW];
    for (gint64 k = 0; k < nk; k++)
        other[k] = power[k] / hill[k];
    noise_below_events(n, other, above);
    for (gint64 k = 0; k < nk; k++)
        above[k] *= hill[k];
    if (noise_mean(above, nk) < STEEP * opened)
        memcpy(below, above, nk * sizeof *below);
}

void noise_make_even(const int n[2], float *plane)
{
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < n[1]; j++) {
            float *a = &plane[i * n[1] + j];
            float *b = &plane[(n[0] - i) % n[0] * n[1] + (n[1] - j) % n[1]];
            *a = *b = fmaxf(*a, *b);
        }
}

// --- the level -----------------------------------------------------------------------------------

// In long windows events that are 20 dB louder raise many wavenumbers by half. Where the noise
// comes to all of them, the faintest tenth still holds more than this part of the middle one: 0.7
// to 0.9, and 0.5 below events of 35 dB. Mixed traces leave 0.02 to 0.25.
#define FILLED 0.4

void noise_add_filling(NoiseFilling *to, double times, gint64 nk, float *below)
{
    to->middle += times * litho_select_kth(below, nk, nk / 2);
    to->faint += times * litho_select_kth(below, nk, nk / 10);
}

// White noise in a hundred windows leaves the faintest tenth 0.84 of the middle wavenumber, by
// chance. Noise that keeps to some wavenumbers leaves 0.5 and less.
#define FILLED_CLEARLY 0.7

gboolean noise_fills_clearly(const NoiseJob *job, int threads)
{
    const gint64 nk = noise_wavenumbers(job);
    g_autofree float *floor = g_new0(float, job->nf *nk), *sum = g_new0(float, nk);
    noise_floor(job, threads, floor);
    for (int f = 0; f < job->nf; f++) {
        const double mean = noise_mean(floor + f * nk, nk);
        for (gint64 k = 0; k < nk && mean > 0; k++)
            sum[k] += (float)(floor[f * nk + k] / mean);
    }
    const double middle = litho_select_kth(sum, nk, nk / 2);
    double faint = 0;
    litho_select_kth(sum, nk, nk / 10); // the faintest come first
    for (gint64 k = 0; k <= nk / 10; k++)
        faint += sum[k];
    return faint > FILLED_CLEARLY * middle * (double)(nk / 10 + 1);
}

// Below the events of frequency f, [wavenumber].
static void below_at(const NoiseJob *job, int f, gboolean refined, const float *floor, float *below)
{
    const float *power = floor + noise_wavenumbers(job) * f;
    noise_below_events(job->n, power, below);
    if (refined)
        noise_refine_below(job->n, power, below);
    if (f == 0 || 2 * f == job->n[2])
        noise_make_even(job->n, below);
}

gboolean noise_holds_more(const NoiseJob *job, const float *floor, const LithoNoise *noise)
{
    const gint64 nk = noise_wavenumbers(job);
    g_autofree float *below = g_new(float, nk);
    double flat = 0, shaped = 0;
    NoiseFilling filling = {0};
    int n_more = 0;
    if (!noise_tells_shape(job->n))
        return FALSE;
    for (int f = 0; f < job->nf; f++) {
        const double times = f == 0 || 2 * f == job->n[2] ? 1 : 2;
        const double own = noise->sigma[f] * noise->sigma[f];
        below_at(job, f, FALSE, floor, below);
        const double power = noise_mean(below, nk);
        flat += times * own;
        shaped += times * power;
        n_more += power > NOISE_CLEARLY_MORE * own;
        noise_add_filling(&filling, times, nk, below);
    }
    return shaped > NOISE_CLEARLY_MORE * flat && 2 * n_more >= job->nf &&
           !(noise_has_neighbours(job) && filling.faint > FILLED * filling.middle);
}

void noise_add_likeness(double times, const float *plane, double own, const float *tenth,
                        const float *half, gint64 n, double *like, double *all)
{
    for (gint64 k = 0; k < n; k++) {
        const double a = tenth[k], b = half[k], more = times * fmax(plane[k] - own, 0);
        *all += more;
        *like += a > 0 && b > 0 ? more * fmin(a / b, b / a) : 0;
    }
}

// The part that both floors tell of what wavenumbers hold above the levels `sigma` [frequency].
static double likeness(const NoiseJob *job, const float *tenth, const float *half,
                       const double *sigma)
{
    const gint64 nk = noise_wavenumbers(job);
    g_autofree float *below = g_new(float, nk);
    double like = 0, all = 0;
    for (int f = 0; f < job->nf; f++) {
        const double times = f == 0 || 2 * f == job->n[2] ? 1 : 2;
        below_at(job, f, TRUE, tenth, below);
        noise_add_likeness(times, below, sigma[f] * sigma[f], tenth + f * nk, half + f * nk, nk,
                           &like, &all);
    }
    return all > 0 ? like / all : 0;
}

// Mean power over all wavenumbers and frequencies, times the samples of a window.
static double energy_of(const NoiseJob *job, const float *floor)
{
    const gint64 nk = noise_wavenumbers(job);
    double sum = 0;
    for (int f = 0; f < job->nf; f++)
        sum += noise_times_of(job, f) * noise_mean(floor + f * nk, nk);
    return sum;
}

// Both parts of the windows tell 0.85 to 0.9 of mixed traces alike, and their floor is the level
// over all coefficients: 1.2 times its power. Dense and steep layers in noise of their own
// frequencies leave 0.66, and 14 times that power.
#define KEEPS_ALIKE 0.75
#define KEEPS_AS_MUCH 1.5

gboolean noise_keeps_to_some(const NoiseJob *job, int threads, const double *quiet,
                             const double *all)
{
    const gsize powers = (gsize)job->nf * noise_wavenumbers(job);
    gint64 windows = 0;
    double level = 0;
    for (gint64 w = 0; w < job->windows; w++)
        windows += job->share[w] > 0;
    if (!noise_tells_shape(job->n) || windows < NOISE_FLOOR_WINDOWS)
        return TRUE;
    for (int f = 0; f < job->nf; f++)
        level += noise_times_of(job, f) * all[f] * all[f];
    g_autofree float *tenth = g_new0(float, powers), *half = g_new0(float, powers);
    noise_floor(job, threads, tenth);
    noise_floor_by(job, 0.5, threads, half);
    return likeness(job, tenth, half, quiet) > KEEPS_ALIKE ||
           energy_of(job, tenth) < KEEPS_AS_MUCH * level;
}

void noise_take_floor(const NoiseJob *job, const float *floor, const float *half, LithoNoise *noise)
{
    const gint64 nk = noise_wavenumbers(job);
    double shaped = 0, samples = 0;
    if (!noise_holds_more(job, floor, noise) ||
        likeness(job, floor, half, noise->sigma) <= NOISE_ALIKE)
        return;
    noise->shape = g_new(float, job->nf *nk);
    for (int f = 0; f < job->nf; f++) {
        const double times = f == 0 || 2 * f == job->n[2] ? 1 : 2;
        float *shape = noise->shape + f * nk;
        below_at(job, f, TRUE, floor, shape);
        const double power = noise_mean(shape, nk);
        noise->sigma[f] = sqrt(power);
        for (gint64 k = 0; k < nk; k++)
            shape[k] = power > 0 ? larger((float)(shape[k] / power), 1e-12f) : 1;
        shaped += times * power;
        samples += times;
    }
    noise->total = sqrt(shaped / samples);
    noise->low = NOISE_FLOOR_LOW * noise->total;
    noise->high = NOISE_FLOOR_HIGH * noise->total;
    noise->window[0] = job->n[0];
    noise->window[1] = job->n[1];
}

// --- noise, or leak of events --------------------------------------------------------------------

// Steep and bent events of a cube without noise leave up to -34 dB of their energy in the quietest
// tenth of the windows, at the wavenumbers that most of them have, those of a line up to -14 dB.
#define FAINTEST 0.002
#define FAINTEST_ON_LINES 0.05
// The tenth of the wavenumbers that is faintest holds this part of the middle one, and more, where
// white noise stands behind events: 0.82 and more in cubes, 0.6 on lines at 13 dB and less. Noise
// that keeps to some wavenumbers leaves 0.01 to 0.45, 0.5 where traces are missing.
#define FILLED_ALL 0.6
#define FILLED_LINES 0.55
// Mean power of the windows.
static double power_of(const NoiseJob *job)
{
    const gint64 nk = noise_wavenumbers(job);
    double sum = 0, n = 0;
    for (gint64 w = 0; w < job->windows; w++)
        n += job->share[w] > 0;
    for (int f = 0; f < job->nf; f++) {
        const double times = f == 0 || 2 * f == job->n[2] ? 1 : 2;
        for (gint64 w = 0; w < job->windows; w++) {
            const float *power = job->power + ((gsize)f * job->windows + w) * nk;
            if (job->share[w] > 0)
                sum += times * noise_mean(power, nk);
        }
    }
    return n > 0 ? sum / (n * MAX(job->n[2], 1)) : 0;
}

gboolean noise_is_shared(const NoiseJob *job, const double *flat, const float *tenth,
                         const float *half, const LithoNoise *noise)
{
    const gint64 nk = noise_wavenumbers(job);
    const gboolean line = job->n[0] == 1 || job->n[1] == 1;
    g_autofree float *plane = g_new(float, nk);
    NoiseFilling filling = {0};
    double all = 0, like = 0;
    for (int f = 0; f < job->nf; f++) {
        const double times = f == 0 || 2 * f == job->n[2] ? 1 : 2;
        const double power = noise->sigma[f] * noise->sigma[f], own = flat[f] * flat[f];
        for (gint64 k = 0; k < nk; k++)
            plane[k] = (float)(noise->shape[f * nk + k] * power);
        noise_add_likeness(times, plane, own, tenth + f * nk, half + f * nk, nk, &like, &all);
        noise_add_filling(&filling, times, nk, plane);
    }
    return like > NOISE_ALIKE * all &&
           filling.faint < (line ? FILLED_LINES : FILLED_ALL) * filling.middle &&
           noise->total * noise->total > (line ? FAINTEST_ON_LINES : FAINTEST) * power_of(job);
}
