// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <string.h>

#include "kernels/common/noise_job.h"
#include "kernels/common/select.h"

enum { GROUPS = NOISE_GROUPS, CUT = 3, PASSES = 10 };

// --- medians -------------------------------------------------------------------------------------

// TRUE where F is real: its |F|^2 has one degree of freedom instead of two.
static gboolean is_real(const NoiseJob *job, int f, gint64 k)
{
    const int own[3] = {(int)(k / job->n[1]), (int)(k % job->n[1]), f};
    for (int a = 0; a < 3; a++)
        if (own[a] != 0 && 2 * own[a] != job->n[a])
            return FALSE;
    return TRUE;
}

int noise_real_wavenumbers(const NoiseJob *job, int f)
{
    int n = 0;
    for (gint64 k = 0; k < noise_wavenumbers(job); k++)
        n += is_real(job, f, k);
    return n < noise_wavenumbers(job) ? n : 0;
}

int noise_halved_axis(const NoiseJob *job)
{
    return job->count[0] > 1 ? 0 : job->count[1] > 1 ? 1 : 2;
}

int noise_half_of(const NoiseJob *job, gint64 w)
{
    const int axis = noise_halved_axis(job);
    return 2 * noise_place_of(job, w, axis) >= job->count[axis];
}

gboolean noise_may_choose(const NoiseJob *job, gint64 w, int half)
{
    const int axis = noise_halved_axis(job);
    const gint64 last = (job->count[axis] - 1) / 2; // place of half 0
    const gint64 at = noise_start_of(job, axis, noise_place_of(job, w, axis)), n = job->n[axis];
    const gint64 ends[2] = {noise_start_of(job, axis, last), noise_start_of(job, axis, last + 1)};
    if (noise_half_of(job, w) == half)
        return FALSE;
    if (noise_start_of(job, axis, 0) + n > ends[1] ||
        noise_start_of(job, axis, job->count[axis] - 1) < ends[0] + n)
        return TRUE;
    return half ? at + n <= ends[1] : at >= ends[0] + n;
}

// Marks the half of the wavenumbers that have the least power at `f`, to measure `half` in: events
// keep to their dips. Levels must be measured in other windows than these, for the least of random
// numbers are small.
static void mark_quiet(const NoiseJob *job, int f, int half, guint8 *quiet)
{
    const gint64 nk = noise_wavenumbers(job);
    g_autofree float *sum = g_new0(float, nk), *sorted = g_new(float, nk);
    for (gint64 w = 0; w < job->windows; w++) {
        const float *power = job->power + ((gsize)f * job->windows + w) * nk;
        if (!(job->share[w] > 0) || !noise_may_choose(job, w, half))
            continue;
        for (gint64 k = 0; k < nk; k++)
            sum[k] += power[k];
    }
    memcpy(sorted, sum, nk * sizeof *sum);
    const float middle = litho_select_kth(sorted, nk, nk / 2);
    // Opposite wavenumbers of a real plane are alike, but for rounding: of equal ones the first
    // count, so that as many have a mark on any machine.
    gint64 left = nk / 2 + 1;
    for (gint64 k = 0; k < nk; k++)
        left -= sum[k] < middle;
    for (gint64 k = 0; k < nk; k++)
        quiet[k] = sum[k] < middle || (sum[k] == middle && left-- > 0);
}

// |F|^2 of one frequency, of the windows of one group (of all: GROUPS) and one half (of both: -1),
// of the wavenumbers with a mark in `quiet` (NULL = all), real ones apart unless there are no
// others. Their number; `freedom` is 1 for real ones.
static gint64 gather(const NoiseJob *job, int f, int group, int half, const guint8 *quiet,
                     float *to, int *freedom)
{
    const gint64 nk = noise_wavenumbers(job);
    const gboolean some_real = noise_real_wavenumbers(job, f) > 0;
    g_autofree gint32 *taken = g_new(gint32, nk);
    gint64 n = 0, n_taken = 0;
    for (gint64 k = 0; k < nk; k++)
        if ((!quiet || quiet[k]) && !(some_real && is_real(job, f, k)))
            taken[n_taken++] = (gint32)k;
    *freedom = nk > 0 && !some_real && is_real(job, f, 0) ? 1 : 2;
    for (gint64 w = 0; w < job->windows; w++) {
        const float *power = job->power + ((gsize)f * job->windows + w) * nk;
        if (!(job->share[w] > 0) || (half >= 0 && noise_half_of(job, w) != half) ||
            (group < GROUPS && w % GROUPS != group))
            continue;
        if (!litho_run_checkpoint(job->run))
            return 0;
        for (gint64 k = 0; k < n_taken; k++)
            to[n++] = power[taken[k]];
    }
    return n;
}

// Share of the distribution of |F|^2 in units of its mean that lies below x: exponential, or chi^2
// with one degree of freedom; and its inverse.
static double below(int freedom, double x)
{
    return freedom == 2 ? 1 - exp(-x) : erf(sqrt(x / 2));
}

static double quantile(int freedom, double share)
{
    if (freedom == 2)
        return -log(1 - share);
    double lo = 0, hi = 40;
    for (int k = 0; k < 60; k++) {
        const double mid = (lo + hi) / 2;
        *(below(1, mid) < share ? &lo : &hi) = mid;
    }
    return (lo + hi) / 2;
}

// Share of the mean that lies below x: the integral behind below().
static double mean_below(int freedom, double x)
{
    return freedom == 2 ? 1 - (1 + x) * exp(-x)
                        : erf(sqrt(x / 2)) - sqrt(2 * x / G_PI) * exp(-x / 2);
}

NoiseConstants noise_constants(int freedom)
{
    return (NoiseConstants){.median = quantile(freedom, 0.5),
                            .share = mean_below(freedom, CUT) / below(freedom, CUT),
                            .cut = CUT,
                            .passes = PASSES};
}

// Mean of |F|^2 of the noise among n values: from their median, then from the mean of what is below
// CUT times the mean of the noise, where events are rare, until it rests: the maximum likelihood of
// a distribution that ends there, twice as exact as a median.
static double noise_power(float *x, gint64 n, int freedom)
{
    const NoiseConstants c = noise_constants(freedom);
    double mean = litho_select_kth(x, n, n / 2) / c.median;
    const double share = c.share;
    for (int pass = 0; pass < c.passes; pass++) {
        const double limit = c.cut * mean;
        double sum;
        const gint64 kept = litho_sum_below(x, n, limit, &sum);
        const double next = kept > 0 ? sum / kept / share : mean;
        if (next == mean)
            break; // it rests
        mean = next;
    }
    return mean;
}

// Standard deviation of the noise at frequency f over all wavenumbers.
static double level(const NoiseJob *job, int f, int group, float *scratch)
{
    int freedom;
    const gint64 n = gather(job, f, group, -1, NULL, scratch, &freedom);
    return n > 0 ? sqrt(noise_power(scratch, n, freedom)) : 0;
}

// The level at frequency f over the wavenumbers where the other half of the windows is quiet: for
// windows of few frequencies.
static double quiet_level(const NoiseJob *job, int f, int group, float *scratch)
{
    g_autofree guint8 *quiet = g_new(guint8, noise_wavenumbers(job));
    double sum = 0;
    gint64 count = 0;
    for (int half = 0; half < 2; half++) {
        int freedom;
        mark_quiet(job, f, half, quiet);
        const gint64 n = gather(job, f, group, half, quiet, scratch, &freedom);
        sum += n > 0 ? n * noise_power(scratch, n, freedom) : 0;
        count += n;
    }
    return count > 0 ? sqrt(sum / count) : 0;
}

// Level of a whole sample: frequencies but the first and the last of an even length stand for two.
static double total_of(const NoiseJob *job, const double *sigma)
{
    double sum = 0;
    for (int f = 0; f < job->nf; f++)
        sum += sigma[f] * sigma[f] * (f == 0 || 2 * f == job->n[2] ? 1 : 2);
    return sqrt(sum / job->n[2]);
}

typedef double (*LevelFunc)(const NoiseJob *job, int f, int group, float *scratch);

// Levels of all frequencies by group of windows; the first row is of all windows.
static void levels(const NoiseJob *job, LevelFunc func, int rows, int threads, double *sigma)
{
    const gsize most = (gsize)job->windows * noise_wavenumbers(job);
#pragma omp parallel num_threads(threads)
    {
        g_autofree float *scratch = g_new(float, most);
#pragma omp for schedule(dynamic)
        for (int k = 0; k < rows * job->nf; k++)
            if (litho_run_checkpoint(job->run))
                sigma[k] = func(job, k % job->nf, GROUPS - k / job->nf, scratch);
    }
}

static gboolean has_group(const NoiseJob *job, int group)
{
    for (gint64 w = group; w < job->windows; w += GROUPS)
        if (job->share[w] > 0)
            return TRUE;
    return FALSE;
}

gboolean noise_has_windows(const NoiseJob *job)
{
    for (int g = 0; g < GROUPS; g++)
        if (has_group(job, g))
            return TRUE;
    return FALSE;
}

// --- the result ----------------------------------------------------------------------------------

// Variation of the noise's power along the traces, relative to its mean.
static double variation(const LithoNoise *noise)
{
    double sum = 0;
    for (guint k = 0; k < noise->n_times; k++)
        sum += pow((double)noise->at_time[k] * noise->at_time[k] - 1, 2);
    return noise->n_times > 0 ? sqrt(sum / noise->n_times) : 0;
}

static double mean_power(const double *sigma, int from, int to)
{
    double sum = 0;
    for (int f = from; f < to; f++)
        sum += sigma[f] * sigma[f];
    return sum / MAX(to - from, 1);
}

// TRUE where the quiet wavenumbers hold nearly as much as all of them above half of Nyquist, and no
// less below it: the noise is flat and comes to all wavenumbers, and what the others hold more
// below are events.
static gboolean fills_top(const NoiseJob *job, const double *all, const double *quiet)
{
    const double nearly = 0.95, flat = 1.2;
    const int half = job->nf / 2;
    const double top = sqrt(mean_power(quiet, half, job->nf));
    const double below = sqrt(mean_power(quiet, 0, half));
    return top > nearly * sqrt(mean_power(all, half, job->nf)) && below > nearly * top &&
           below < flat * top;
}

// TRUE where the quiet wavenumbers hold nearly as much as all of them at the lowest frequencies,
// where events are weak and dips that noise keeps to (it was migrated, or its traces are mixed)
// leave most wavenumbers empty: what all hold more at other frequencies are events.
static gboolean fills_bottom(const NoiseJob *job, const double *all, const double *quiet)
{
    const double nearly = 0.9;
    const int few = MIN(3, job->nf);
    return sqrt(mean_power(quiet, 0, few)) > nearly * sqrt(mean_power(all, 0, few));
}

// TRUE where results are judged and all coefficients hold more than the quiet ones by dense and
// steep events, which differ from window to window, in noise of their own frequencies.
static gboolean are_events(const NoiseJob *job, const double *quiet, const double *all)
{
    return job->judging && noise_has_neighbours(job) && litho_run_checkpoint(job->run) &&
           !noise_keeps_to_some(job, litho_run_threads(job->run), quiet, all);
}

// Levels of the quiet coefficients over the one over all, a median: by no more than 1.1 in white
// noise of 0 to 10 dB, by 1.35 where noise keeps to the events' frequencies (a line with faults, 20
// dB). Short windows hold more leak of events, which wavepacket/leak.c asks for: up to 3.3.
enum { SHORT = 64 };
static const double MORE[2] = {1.4, 1.6}, MORE_SHORT[2] = {3.4, 4.5};

// Quiet coefficients of a line at single frequencies over the median, beyond what all hold more. A
// line with faults in noise of low frequency, 20 dB below, has 3.0, upright layers 3.6 to 35.
static const double MORE_AT[2] = {3, 4};

// The quiet ones' level over the median that a share of the frequencies does not exceed.
static double ratio_at(const NoiseJob *job, const double *all, const double *quiet, double share)
{
    g_autofree float *ratio = g_new(float, job->nf);
    for (int f = 0; f < job->nf; f++)
        ratio[f] = all[f] > 0 ? (float)(quiet[f] / all[f]) : 1;
    return litho_select_kth(ratio, job->nf, (int)(share * job->nf));
}

// noise_power() of noise of which the windows hold power[window], without scatter.
static double power_over_all(const NoiseJob *job, const float *power)
{
    const NoiseConstants c = noise_constants(2);
    double lo = 0, hi = 0;
    for (gint64 w = 0; w < job->windows; w++)
        hi = fmax(hi, power[w]);
    for (int k = 0; k < 40; k++) {
        const double mid = (lo + hi) / 2;
        double weight = 0, less = 0;
        for (gint64 w = 0; w < job->windows; w++)
            if (power[w] > 0) {
                weight++;
                less += below(2, mid / power[w]);
            }
        *(less < 0.5 * weight ? &lo : &hi) = mid;
    }
    double mean = lo / c.median;
    for (int pass = 0; pass < c.passes; pass++) {
        double kept = 0, sum = 0;
        for (gint64 w = 0; w < job->windows; w++)
            if (power[w] > 0) {
                kept += below(2, c.cut * mean / power[w]);
                sum += power[w] * mean_below(2, c.cut * mean / power[w]);
            }
        mean = kept > 0 ? sum / kept / c.share : mean;
    }
    return mean;
}

// Ratio of the level to the median, as the map has it: half of the windows may hold a hundredth of
// the power of the others. Events add to the median where they are and to nothing else, so that
// varying noise has this ratio at most, at all frequencies. Where nine in ten of them are beyond
// the map's by more, events vary.
static double ratio_of_map(const NoiseJob *job, const LithoNoise *noise, double most)
{
    const double more[2] = {1.2, 1.5};
    if (!noise->map.level)
        return 1;
    g_autofree float *power = noise_map_of_windows(job, &noise->map);
    double sum = 0, weight = 0;
    for (gint64 w = 0; w < job->windows; w++)
        if (power[w] > 0) {
            sum += job->share[w] * power[w];
            weight += job->share[w];
        }
    const double own = weight > 0 ? power_over_all(job, power) : 0;
    const double ratio = own > 0 ? fmax(sqrt(sum / weight / own), 1) : 1;
    return pow(ratio, CLAMP((more[1] - most / ratio) / (more[1] - more[0]), 0, 1));
}

// The quiet ones' level over the median as far as noise that varies from place to place makes it:
// at every frequency, and as its map tells.
static double ratio_of_places(const NoiseJob *job, const LithoNoise *noise, const double *all,
                              const double *quiet)
{
    const double least = job->n[2] < SHORT ? 1 : ratio_at(job, all, quiet, 0.1);
    return fmax(fmax(least, ratio_of_map(job, noise, ratio_at(job, all, quiet, 0.9))), 1);
}

// 0 at the lower end of a range, 1 at the upper one.
static double part_of(double ratio, const double range[2])
{
    return CLAMP(log(fmax(ratio, 1) / range[0]) / log(range[1] / range[0]), 0, 1);
}

// Windows that events fill, steep ones in few wavenumbers, seem to hold louder noise, and their
// loudness weighs what all of them hold: levels came out 1000 times too high, larger than the data.
// Noise that varies from place to place raises the quiet ones' level over the median, too, but at
// every frequency that holds it, events at their own alone. 0: the quiet ones are right, 1: all.
static double filled_by_events(const NoiseJob *job, const LithoNoise *noise, const double *all,
                               const double *quiet, double least)
{
    if (noise->local || !noise_has_neighbours(job))
        return 0;
    return part_of(total_of(job, quiet) / fmax(total_of(job, all), 1e-30) / least,
                   job->n[2] < SHORT ? MORE_SHORT : MORE);
}

// Parts at each frequency, and the levels to which they come down. Upright and steep dense events
// of a line fill single frequencies, at which no neighbour tells of them: dense layers that were
// turned by 90 degrees seemed 3 to 35 times as loud below 10 Hz. Where windows have more
// wavenumbers noise that varies at some frequencies alone would lose by it.
static void fill_parts(const NoiseJob *job, const double *all, const double *quiet, double filled,
                       double least, double *part, double *goal)
{
    const gboolean line = MIN(job->n[0], job->n[1]) == 1 && noise_has_neighbours(job);
    for (int f = 0; f < job->nf; f++) {
        const double own = line && all[f] > 0 ? part_of(quiet[f] / all[f] / least, MORE_AT) : 0;
        part[f] = fmax(own, filled);
        goal[f] = own > filled ? least * all[f] : all[f];
    }
}

// Rows of levels [frequency], of which those of the first that exceed goal[frequency] come down to
// it by `part`, and those of the others by as much.
static double *bring_down(const NoiseJob *job, const double *goal, const double *part,
                          const double *sigma, int rows)
{
    double *less = g_memdup2(sigma, (gsize)rows * job->nf * sizeof *sigma);
    for (int f = 0; f < job->nf; f++) {
        const double by = sigma[f] > goal[f] ? pow(goal[f] / sigma[f], part[f]) : 1;
        for (int row = 0; row < rows; row++)
            less[row * job->nf + f] *= by;
    }
    return less;
}

// Twice the standard error over the groups (Student's t for seven degrees of freedom: 2.365) and a
// part for events that nothing tells from noise: 0.3 % in quiet wavenumbers and a tenth of what all
// hold more, 2 % in all, and where traces are missing 15 % of their leak. Where noise varies,
// windows are compared after division by a loudness that is estimated too, and those told too loud
// seem quiet: up to 1.5 % of the variation.
//
// Where the quiet wavenumbers hold much less than all of them the noise itself keeps to some dips
// (it was migrated, or its traces are mixed): then all count, and the interval reaches down. Events
// of 20 dB look alike, but only below half of Nyquist, or where are_events() tells them apart.
void noise_conclude(const NoiseJob *job, gboolean interval, const double *all, const double *sigma,
                    const double *leaking, LithoNoise *noise)
{
    const double much_less = 0.95;
    const double least = ratio_of_places(job, noise, all, sigma);
    const double filled = filled_by_events(job, noise, all, sigma, least);
    g_autofree double *part = g_new(double, job->nf), *goal = g_new(double, job->nf);
    fill_parts(job, all, sigma, filled, least, part, goal);
    g_autofree double *less = bring_down(job, goal, part, sigma, interval ? GROUPS + 1 : 1);
    g_autofree double *less_leaking = bring_down(job, goal, part, leaking, 1);
    sigma = less;
    leaking = less_leaking;
    const double quiet = total_of(job, sigma), with_leak = total_of(job, leaking);
    const gboolean even = noise->local || filled > 0 ||
                          with_leak > much_less * total_of(job, all) ||
                          (noise_has_neighbours(job) &&
                           (fills_top(job, all, leaking) || fills_bottom(job, all, leaking))) ||
                          are_events(job, sigma, all);
    double totals[GROUPS], mean = 0, spread = 0;
    int groups = 0;
    for (int g = 0; interval && g < GROUPS; g++)
        if (has_group(job, g)) {
            totals[groups] = total_of(job, sigma + (gsize)(GROUPS - g) * job->nf);
            mean += totals[groups++];
        }
    mean /= MAX(groups, 1);
    for (int g = 0; g < groups; g++)
        spread += (totals[g] - mean) * (totals[g] - mean);
    noise->n = job->nf;
    noise->df = 1 / (job->n[2] * job->dt);
    noise->sigma = g_memdup2(even ? sigma : all, job->nf * sizeof(double));
    noise->total = total_of(job, noise->sigma);
    // One group alone tells nothing of its scatter: half and double.
    const double off = groups > 1 ? 2.365 * sqrt(spread / (groups - 1.0) / groups) : noise->total;
    noise->scatter = off;
    const double more = fmax(total_of(job, all) / quiet - 1, 0);
    const double events = (even ? 0.003 + 0.1 * more : 0.02) +
                          0.15 * fmax(with_leak / quiet - 1, 0) + 0.015 * fmin(variation(noise), 1);
    noise->low =
        fmax(MIN(quiet, (1 - events) * noise->total) - off, groups > 1 ? 0 : noise->total / 2);
    noise->high = (1 + events) * noise->total + off;
    if (noise->local && noise->levelled < 0) {
        noise->low -= 2 * noise->doubt * noise->total;
        noise->high += 2 * noise->doubt * noise->total;
    } else if (noise->local) { // whose groups differ by their places
        const double known = 0.001;
        noise->low = (1 - known - 2 * noise->doubt) * noise->total;
        noise->high = (1 + known + 2 * noise->doubt) * noise->total;
    }
}

void noise_fill(const NoiseJob *job, int threads, gboolean interval, LithoNoise *noise)
{
    const int rows = interval ? GROUPS + 1 : 1;
    g_autofree double *sigma = g_new0(double, (gsize)(GROUPS + 1) * job->nf);
    g_autofree double *all = g_new0(double, job->nf), *leaking = g_new0(double, job->nf);
    noise->n_times = 0;
    noise->lumps = 0;
    noise->shape = NULL;
    noise->local = NULL;
    noise->used = NULL;
    noise->map = noise->bands = (LithoNoiseMap){0};
    noise->ends = 1;
    noise->lines = noise->line_at = noise->levelled = noise->varies = noise->events = 0;
    noise_put_places(job, noise);
    levels(job, level, 1, threads, all);
    if (noise_has_neighbours(job)) {
        noise_quiet_levels(job, threads, all, sigma, leaking, noise);
    } else {
        levels(job, quiet_level, rows, threads, sigma);
        memcpy(leaking, sigma, job->nf * sizeof *sigma);
    }
    g_autofree float *quiet = NULL;
    if (noise_has_neighbours(job) && !job->judging && !job->flat &&
        litho_run_checkpoint(job->run)) {
        quiet = noise_map_quiet(job, threads);
        if (noise_map_is_even(job, quiet))
            g_clear_pointer(&quiet, g_free);
        else
            noise_map_common(job, quiet, noise);
    }
    noise_conclude(job, interval, all, sigma, leaking, noise);
    if (quiet)
        noise_map_find_bands(job, quiet, noise);
}
