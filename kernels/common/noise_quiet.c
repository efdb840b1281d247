// SPDX-License-Identifier: GPL-3.0-or-later
//
// Level of the noise from the quiet coefficients of windows of 32 samples and more.
#include <math.h>
#include <string.h>

#include "kernels/common/noise_job.h"
#include "kernels/common/select.h"

// Events are local in place, wavenumber and frequency. Whether there is one at a coefficient is
// told by the mean power of its neighbourhood at other frequencies, whose noise is independent, and
// by the loud wavenumbers of its own frequency, which the taper spreads. Coefficients are sorted
// into classes by that, and the quiet classes count that hold the noise alone. Nothing is assumed
// of the noise's distribution, and windows overlap so that every sample counts alike: on most of
// the coefficients the estimate is the energy of this noise, not that of its ensemble.

// Frequencies to either side that tell together which classes hold the noise alone.
enum { GROUPS = NOISE_GROUPS, CLASSES = NOISE_CLASSES, NEARBY = 3 };
// Windows of MANY wavenumbers seem louder or quieter by so much in noise that is alike everywhere.
#define EVEN 0.06
enum { MANY = 256 };

const float noise_class_edge[NOISE_CLASSES] = {1,    1.03f, 1.06f, 1.1f, 1.15f, 1.2f,
                                               1.3f, 1.4f,  1.6f,  2,    3,     INFINITY};
// Edges where results are judged: strong events are in more than half of the coefficients of
// some frequencies, and only the quietest few hold the noise alone. Guesses of missing traces make
// the noise of neighbouring frequencies alike: the quietest few would be 2 % too weak.
static const float judge_edge[NOISE_CLASSES] = {0.15f, 0.25f, 0.4f, 0.6f, 0.8f, 1,
                                                1.06f, 1.15f, 1.3f, 1.6f, 3,    INFINITY};

static const float *edges_of(const NoiseJob *job)
{
    return job->judging && !job->recorded ? judge_edge : noise_class_edge;
}

// Classes that hold the quietest NOISE_QUIET of the coefficients.
static int quietest_of(const NoiseJob *job)
{
    int n = 0;
    while (edges_of(job)[n] <= 1)
        n++;
    return n;
}

// Mean over 3 x 3 wavenumbers (they are periodic) of one window's power at one frequency.
static void smooth(const NoiseJob *job, const float *power, float scale, float *to)
{
    const int n0 = job->n[0], n1 = job->n[1];
    for (int i = 0; i < n0; i++) {
        const float *rows[3] = {power + (i + n0 - 1) % n0 * n1, power + i * n1,
                                power + (i + 1) % n0 * n1};
        for (int j = 0; j < n1; j++) {
            const int before = (j + n1 - 1) % n1, after = (j + 1) % n1;
            float sum = 0;
            for (int r = 0; r < 3; r++)
                sum += rows[r][before] + rows[r][j] + rows[r][after];
            to[i * n1 + j] = scale * sum / 9;
        }
    }
}

// Power of all windows in units of the frequency's median, smoothed, to job->smooth; the medians.
static void smooth_all(const NoiseJob *job, int threads, float *medians)
{
    const gint64 nk = noise_wavenumbers(job), all = job->windows * nk;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int f = 0; f < job->nf; f++) {
        if (!litho_run_checkpoint(job->run))
            continue;
        const float *power = job->power + all * f;
        g_autofree float *sorted = g_new(float, all);
        gint64 n = 0;
        for (gint64 w = 0; w < job->windows; w++)
            for (gint64 k = 0; job->share[w] > 0 && k < nk; k++)
                sorted[n++] = power[w * nk + k];
        const float median = n > 0 ? litho_select_kth(sorted, n, n / 2) : 0;
        medians[f] = median;
        for (gint64 w = 0; w < job->windows && litho_run_checkpoint(job->run); w++)
            if (job->share[w] > 0)
                smooth(job, power + w * nk, median > 0 ? 1 / median : 0,
                       job->smooth + all * f + w * nk);
    }
}

// Mean of the neighbourhood of window w at frequency f. Beyond the ends of the axis stand the
// conjugates: wavenumber -k.
static void neighbourhood(const NoiseJob *job, const float *smooth, int f, gint64 w, float *to)
{
    const gint64 nk = noise_wavenumbers(job), all = job->windows * nk;
    const int n1 = job->n[1], last = job->nf - 1;
    memset(to, 0, nk * sizeof *to);
    for (int off = -NOISE_FAR; off <= NOISE_FAR; off++) {
        if (abs(off) < NOISE_NEAR)
            continue;
        const int g = f + off, from = g < 0 ? -g : g > last ? job->n[2] - g : g;
        const float *s = smooth + all * from + w * nk;
        for (gint64 k = 0; k < nk; k++) {
            const gint64 i = k / n1, j = k % n1;
            to[k] += from == g ? s[k] : s[(job->n[0] - i) % job->n[0] * n1 + (n1 - j) % n1];
        }
    }
}

// Loudness relative to its mean, as far as it scatters more than noise that is alike everywhere.
static void settle(const NoiseJob *job, double scatter, float *loud)
{
    double weight = 0, mean = 0, spread = 0;
    for (gint64 w = 0; w < job->windows; w++) {
        weight += job->share[w];
        mean += job->share[w] * loud[w];
    }
    mean /= weight;
    for (gint64 w = 0; w < job->windows; w++)
        spread += job->share[w] * (loud[w] / mean - 1) * (loud[w] / mean - 1);
    const double part = CLAMP(sqrt(spread / weight) / scatter - 1, 0, 1);
    for (gint64 w = 0; w < job->windows; w++)
        loud[w] = (float)fmax(1 + part * (loud[w] / mean - 1), 1e-6);
}

void noise_settle_loudness(const NoiseJob *job, float *loud)
{
    settle(job, EVEN, loud);
}

// Loudness of each window: a quantile of its neighbourhoods over all coefficients, which events
// leave alone, relative to their mean. Where they scatter by less than noise that is alike
// everywhere would (6 %), all are one.
static float *loudness(const NoiseJob *job, const float *smooth, int threads)
{
    const gint64 nk = noise_wavenumbers(job);
    const gsize n = (gsize)nk * job->nf;
    float *loud = g_new0(float, job->windows);
#pragma omp parallel num_threads(threads)
    {
        g_autofree float *near = g_new(float, n);
#pragma omp for schedule(dynamic)
        for (gint64 w = 0; w < job->windows; w++) {
            if (!litho_run_checkpoint(job->run))
                continue;
            for (int f = 0; job->share[w] > 0 && f < job->nf; f++)
                neighbourhood(job, smooth, f, w, near + f * nk);
            if (job->share[w] > 0)
                loud[w] = litho_select_kth(near, n, (gint64)(NOISE_QUIET * n));
        }
    }
    noise_settle_loudness(job, loud);
    return loud;
}

// A quantile of the smoothed power over the wavenumbers at one frequency: of each window, in units
// of the median over the windows. How far windows differ: the ratio of the 32nd loudest in a
// thousand to the 32nd quietest. `row` is scratch.
static float loudness_at(const NoiseJob *job, const float *smooth, float *row, float *each)
{
    const gint64 nk = noise_wavenumbers(job);
    gint64 n = 0;
    for (gint64 w = 0; w < job->windows; w++)
        if (job->share[w] > 0) {
            memcpy(row, smooth + w * nk, nk * sizeof *row);
            each[w] = litho_select_kth(row, nk, (gint64)(NOISE_QUIET * nk));
        }
    for (gint64 w = 0; w < job->windows; w++)
        if (job->share[w] > 0)
            row[n++] = each[w];
    const float middle = litho_select_kth(row, n, n / 2);
    const float low = litho_select_kth(row, n, n / 32);
    const float high = litho_select_kth(row, n, n - 1 - n / 32);
    for (gint64 w = 0; w < job->windows; w++)
        each[w] = middle > 0 ? each[w] / middle : 1;
    return low > 0 ? high / low : INFINITY;
}

// Loudness where results are judged. Strong events make windows seem loud at their own
// frequencies, noise makes them loud at all: the frequencies tell at which windows differ least,
// within a tenth. Fewer than nine of them scatter more, and so do the few wavenumbers of a line.
static float *steady_loudness(const NoiseJob *job, const float *smooth, int threads)
{
    const gint64 nk = noise_wavenumbers(job), all = job->windows * nk;
    const double enough = 9, fewer = sqrt(fmax(1, MANY / (double)nk)), steady = 1 + 0.1 * fewer;
    float *loud = g_new0(float, job->windows), least = INFINITY;
    g_autofree float *each = g_new0(float, (gsize)job->nf * job->windows);
    g_autofree float *differ = g_new0(float, job->nf);
#pragma omp parallel num_threads(threads)
    {
        g_autofree float *row = g_new(float, MAX(nk, job->windows));
#pragma omp for schedule(dynamic)
        for (int f = 0; f < job->nf; f++)
            if (litho_run_checkpoint(job->run))
                differ[f] = loudness_at(job, smooth + all * f, row, each + f * job->windows);
    }
    int n = 0;
    for (int f = 0; f < job->nf; f++)
        least = MIN(least, differ[f]);
    for (int f = 0; f < job->nf; f++) {
        if (!(differ[f] <= steady * least))
            continue;
        for (gint64 w = 0; w < job->windows; w++)
            loud[w] += each[f * job->windows + w];
        n++;
    }
    settle(job, EVEN * fewer * sqrt(fmax(1, enough / n)), loud);
    return loud;
}

// Mean power of one window at one frequency.
static double window_power(const NoiseJob *job, int f, gint64 w)
{
    const gint64 nk = noise_wavenumbers(job);
    const float *power = job->power + (job->windows * f + w) * nk;
    double sum = 0;
    for (gint64 k = 0; k < nk; k++)
        sum += power[k];
    return sum / nk;
}

// --- what the taper spreads ----------------------------------------------------------------------

// The traces of a window at a place that lie in the box: first, and behind the last.
static void ends_of_place(const NoiseJob *job, int axis, gint64 place, int ends[2])
{
    const gint64 at = noise_start_of(job, axis, place);
    ends[0] = (int)MAX(job->box.lo[axis] - at, 0);
    ends[1] = (int)MIN(job->box.hi[axis] - at, job->n[axis]);
}

static void spread_of_place(const NoiseJob *job, int axis, gint64 place, float *far, float *near)
{
    enum { BETWEEN = 8 };
    const int n = job->n[axis];
    double sum = 0;
    int ends[2];
    ends_of_place(job, axis, place, ends);
    for (int k = 0; k < n * BETWEEN; k++) {
        double re = 0, im = 0;
        for (int i = ends[0]; i < ends[1]; i++) {
            const double angle = 2 * G_PI * i * ((k + 0.5) / BETWEEN - 0.5) / n;
            re += job->taper[axis][i] * cos(angle);
            im += job->taper[axis][i] * sin(angle);
        }
        far[k / BETWEEN] += (float)(re * re + im * im);
        sum += re * re + im * im;
    }
    for (int d = 0; d < n; d++) {
        far[d] = sum > 0 ? (float)(far[d] / sum) : 0;
        near[d] = d <= 1 || d == n - 1 ? far[d] : 0;
    }
}

// FALSE where no place before it has the same: nearly all windows lie wholly in the box.
static gboolean take_same(const NoiseJob *job, int axis, gint64 place, NoiseSpread *s)
{
    const gsize n = job->n[axis];
    int own[2], other[2];
    ends_of_place(job, axis, place, own);
    for (gint64 p = 0; p < place; p++) {
        ends_of_place(job, axis, p, other);
        if (own[0] == other[0] && own[1] == other[1]) {
            memcpy(s->far[axis] + place * n, s->far[axis] + p * n, n * sizeof(float));
            memcpy(s->near[axis] + place * n, s->near[axis] + p * n, n * sizeof(float));
            return TRUE;
        }
    }
    return FALSE;
}

NoiseSpread noise_spread_new(const NoiseJob *job)
{
    NoiseSpread s;
    for (int axis = 0; axis < 2; axis++) {
        const gsize n = (gsize)job->count[axis] * job->n[axis];
        s.far[axis] = g_new0(float, n);
        s.near[axis] = g_new0(float, n);
        for (gint64 p = 0; p < job->count[axis]; p++)
            if (!take_same(job, axis, p, &s))
                spread_of_place(job, axis, p, s.far[axis] + p * job->n[axis],
                                s.near[axis] + p * job->n[axis]);
    }
    return s;
}

void noise_spread_clear(NoiseSpread *s)
{
    for (int axis = 0; axis < 2; axis++) {
        g_free(s->far[axis]);
        g_free(s->near[axis]);
    }
}

// to[i, j] += factor sum loud[x, y] by0[i - x] by1[j - y], indices periodic.
static void convolve(const NoiseJob *job, const float *loud, const float *by0, const float *by1,
                     float factor, float *scratch, float *to)
{
    const int n0 = job->n[0], n1 = job->n[1];
    memset(scratch, 0, noise_wavenumbers(job) * sizeof *scratch);
    for (int x = 0; x < n0; x++)
        for (int y = 0; y < n1; y++)
            for (int j = 0; loud[x * n1 + y] > 0 && j < n1; j++)
                scratch[x * n1 + j] += loud[x * n1 + y] * by1[(j - y + n1) % n1];
    for (int i = 0; i < n0; i++)
        for (int x = 0; x < n0; x++) {
            const float by = factor * by0[(i - x + n0) % n0];
            for (int j = 0; by != 0 && j < n1; j++)
                to[i * n1 + j] += by * scratch[x * n1 + j];
        }
}

// Adds what loud coefficients of window w, which noise alone is not, spread over wavenumbers beyond
// their neighbours, in units of `median`.
void noise_add_spread(const NoiseJob *job, const NoiseSpread *s, int f, gint64 w, float median,
                      float *scratch, float *to)
{
    const gint64 nk = noise_wavenumbers(job);
    const float *power = job->power + (job->windows * f + w) * nk;
    float *loud = scratch + nk;
    gboolean any = FALSE;
    for (gint64 k = 0; k < nk; k++) {
        loud[k] = power[k] > NOISE_LOUD * median ? power[k] / median - 1 : 0;
        any |= loud[k] > 0;
    }
    if (!any || !(median > 0))
        return;
    const gint64 p0 = noise_place_of(job, w, 0) * job->n[0];
    const gint64 p1 = noise_place_of(job, w, 1) * job->n[1];
    convolve(job, loud, s->far[0] + p0, s->far[1] + p1, NOISE_SPREAD_COUNTS, scratch, to);
    convolve(job, loud, s->near[0] + p0, s->near[1] + p1, -NOISE_SPREAD_COUNTS, scratch, to);
}

// --- classes -------------------------------------------------------------------------------------

// Properties of the power that all frequencies share.
typedef struct Measure {
    float *smooth, *loud, *median;
    NoiseSpread spread;
} Measure;

// Mean square of a power and its mean.
typedef struct Lumps {
    double weight, power, squares;
} Lumps;

// Where traces are missing, the share `leak` of the events' power, which is the window's mean less
// the noise, stands in quiet coefficients too: quiet = noise + leak (mean - noise) gives the noise.
static void class_sums(const NoiseJob *job, const Measure *m, int f, float *near, float *sorted,
                       NoiseClassSums *sums, Lumps *lumps)
{
    const gint64 nk = noise_wavenumbers(job);
    const float *power = job->power + job->windows * nk * f;
    gint64 n = 0;
    for (gint64 w = 0; w < job->windows; w++) {
        if (!litho_run_checkpoint(job->run)) // windows of 64^3 take a second a frequency
            return;
        if (!(job->share[w] > 0))
            continue;
        neighbourhood(job, m->smooth, f, w, near + w * nk);
        for (gint64 k = 0; k < nk; k++)
            near[w * nk + k] /= m->loud[w];
        noise_add_spread(job, &m->spread, f, w, m->median[f] * m->loud[w], sorted + n,
                         near + w * nk);
        memcpy(sorted + n, near + w * nk, nk * sizeof *near);
        n += nk;
    }
    const float limit = litho_select_kth(sorted, n, (gint64)(NOISE_QUIET * n));
    const float *edge = edges_of(job);
    const int quietest = quietest_of(job);
    for (gint64 w = 0; w < job->windows; w++) {
        const double leak = job->leak[w], spread = leak > 0 ? leak * window_power(job, f, w) : 0;
        for (gint64 k = 0; job->share[w] > 0 && k < nk; k++) {
            int c = 0;
            while (c < CLASSES && near[w * nk + k] > edge[c] * limit)
                c++;
            if (c == CLASSES)
                continue;
            NoiseClassSums *to = &sums[noise_half_of(job, w) * CLASSES + c];
            to->power[w % GROUPS] += job->share[w] * (power[w * nk + k] - spread);
            to->weight[w % GROUPS] += job->share[w] * (1 - leak) * m->loud[w];
            to->leaky += (double)job->share[w] * power[w * nk + k];
            to->leaky_weight += (double)job->share[w] * m->loud[w];
            if (c < quietest) {
                const double own = power[w * nk + k] / m->loud[w];
                lumps->weight += job->share[w];
                lumps->power += job->share[w] * own;
                lumps->squares += job->share[w] * own * own;
            }
        }
    }
}

static double sum_of(const double group[GROUPS])
{
    double sum = 0;
    for (int g = 0; g < GROUPS; g++)
        sum += group[g];
    return sum;
}

// How often windows hold a sample, as far as the scatter of classes is concerned: filters' levels
// take lines for surveys.
static double held_times(const NoiseJob *job)
{
    return job->judging ? noise_overlap(job) : 8;
}

// Classes of one frequency and half, all groups together, and the level of the quietest.
typedef struct Classes {
    double power[CLASSES], weight[CLASSES], level;
} Classes;

// [frequency][half]; g_free().
static Classes *sum_groups(const NoiseJob *job, const NoiseClassSums *sums)
{
    Classes *all = g_new(Classes, 2 * job->nf);
    for (int i = 0; i < 2 * job->nf; i++) {
        const NoiseClassSums *own = sums + (gsize)i * CLASSES;
        Classes *to = &all[i];
        double level = 0, unit = 0;
        for (int k = 0; k < CLASSES; k++) {
            to->power[k] = sum_of(own[k].power);
            to->weight[k] = sum_of(own[k].weight);
        }
        for (int k = 0; k < quietest_of(job); k++) {
            level += to->power[k];
            unit += to->weight[k];
        }
        to->level = level / fmax(unit, 1e-30);
    }
    return all;
}

// Mean of class c of one half over the frequencies near f, in units of the quietest coefficients;
// its weight is 0 where there is none.
static double class_mean(const NoiseJob *job, const Classes *all, int f, int half, int c,
                         double *weight)
{
    double power = 0;
    *weight = 0;
    for (int g = MAX(f - NEARBY, 0); g <= MIN(f + NEARBY, job->nf - 1); g++) {
        const Classes *own = &all[2 * g + half];
        if (own->level > 0) {
            power += own->power[c] / own->level;
            *weight += own->weight[c];
        }
    }
    return *weight > 0 ? power / *weight : 0;
}

// TRUE where frequency f shows no event and some windows merely seem louder than they are, because
// of events at other frequencies. Such windows fill the quiet classes, whose level is then too low,
// and the others stand above it as one plain. All classes together hold every window alike, so that
// the loudnesses cancel. Events raise the loudest tenth above the plain; where next to nothing is
// three times the quiet ones' neighbourhood, a rise up to 15 % is the windows' own (broad events of
// 20 dB: 11 to 14 %).
static gboolean is_plain(const NoiseJob *job, const Classes *classes, int f, int half)
{
    const double top = 0.1, nothing = 0.005, times = held_times(job);
    double mean[CLASSES], weight[CLASSES], whole = 0;
    for (int c = 0; c < CLASSES; c++) {
        mean[c] = class_mean(job, classes, f, half, c, &weight[c]);
        whole += weight[c];
    }
    double loud = 0, loud_weight = 0, rest = 0, rest_weight = 0;
    const int quietest = quietest_of(job);
    int c = CLASSES;
    while (--c >= quietest && loud_weight < top * whole) {
        loud += weight[c] * mean[c];
        loud_weight += weight[c];
    }
    for (; c >= quietest; c--) {
        rest += weight[c] * mean[c];
        rest_weight += weight[c];
    }
    if (!(loud_weight > 0 && rest_weight > 0))
        return FALSE;
    const double rise = weight[CLASSES - 1] < nothing * whole ? 0.15 : 0.03;
    const double scatter = sqrt(times / loud_weight + times / rest_weight);
    return loud / loud_weight < rest / rest_weight * (1 + rise + 2 * scatter);
}

// How many classes of frequency f hold no more than the noise, as one half of the windows tells:
// all where each has the power of the quietest within twice its scatter, or where windows of
// unequal loudness show no event; else the first ones whose power does not exceed that of the
// quieter ones, among the quietest coefficients by more than its scatter. The first `few` are taken
// for noise: fewer tell nothing.
static int quiet_classes(const NoiseJob *job, const Classes *classes, int f, int half,
                         gboolean unequal)
{
    double below = 0, below_weight = 0, whole = 0, mean[CLASSES], weight[CLASSES];
    const double few = 0.03, times = held_times(job);
    const int quietest = quietest_of(job);
    gboolean all = TRUE;
    int n = 0;
    for (int c = 0; c < CLASSES; c++) {
        mean[c] = class_mean(job, classes, f, half, c, &weight[c]);
        whole += weight[c];
    }
    for (int c = 0; c < CLASSES && all; c++) {
        if (!(weight[c] > 0)) {
            n += n == c;
            continue;
        }
        if (below_weight > few * whole) {
            const double scatter = sqrt(times / weight[c] + times / below_weight);
            const double more = mean[c] - below / below_weight;
            all &= more < 2 * scatter;
            if (n == c && more < (c < quietest ? scatter : 0))
                n = c + 1;
        } else {
            n = c + 1;
        }
        below += weight[c] * mean[c];
        below_weight += weight[c];
    }
    return all || (unequal && is_plain(job, classes, f, half)) ? CLASSES : n;
}

static void quiet_level_of(const NoiseJob *job, const NoiseClassSums *sums, const Classes *classes,
                           int f, gboolean unequal, double *sigma, double *leaking, float *used)
{
    double power[GROUPS] = {0}, weight[GROUPS] = {0}, leaky = 0, leaky_weight = 0, every = 0;
    for (int half = 0; half < 2; half++) {
        // The other half chooses: classes that end below a large mean would be small by choice.
        const int n = quiet_classes(job, classes, f, !half, unequal);
        const NoiseClassSums *own = sums + ((gsize)2 * f + half) * CLASSES;
        for (int c = 0; c < CLASSES; c++)
            every += sum_of(own[c].weight);
        for (int c = 0; c < n; c++) {
            for (int g = 0; g < GROUPS; g++) {
                power[g] += own[c].power[g];
                weight[g] += own[c].weight[g];
            }
            leaky += own[c].leaky;
            leaky_weight += own[c].leaky_weight;
        }
    }
    const double whole = sum_of(weight);
    if (used && every > 0)
        used[f] = (float)(whole / every);
    leaking[f] = leaky_weight > 0 ? sqrt(leaky / leaky_weight) : 0;
    sigma[f] = whole > 0 ? sqrt(fmax(sum_of(power), 0) / whole) : 0;
    for (int g = 0; g < GROUPS; g++)
        sigma[(GROUPS - g) * job->nf + f] =
            weight[g] > 0 ? sqrt(fmax(power[g], 0) / weight[g]) : sigma[f];
}

// RMS over the windows at each place along the traces.
static void level_of_time(const NoiseJob *job, const float *loud, LithoNoise *noise)
{
    const gint64 places = job->count[2], n = MIN(places, LITHO_NOISE_TIMES);
    double power[LITHO_NOISE_TIMES] = {0}, weight[LITHO_NOISE_TIMES] = {0};
    for (gint64 w = 0; w < job->windows; w++) {
        const gint64 k = noise_place_of(job, w, 2) * n / places;
        power[k] += (double)job->share[w] * loud[w];
        weight[k] += job->share[w];
    }
    noise->n_times = (guint)n;
    const double first = noise_start_of(job, 2, 0) + 0.5 * (job->n[2] - 1);
    const double last = noise_start_of(job, 2, places - 1) + 0.5 * (job->n[2] - 1);
    const double bin = n > 0 ? (last - first) / MAX(places - 1, 1) * places / n : 0;
    noise->time_step = bin;
    noise->first_time = first + 0.5 * (n < places ? bin : 0);
    for (gint64 k = 0; k < n; k++)
        noise->at_time[k] = weight[k] > 0 ? (float)sqrt(power[k] / weight[k]) : 1;
}

// LithoNoise.lumps: the median over the frequencies with complex coefficients.
static double lumps_of(const NoiseJob *job, const Lumps *lumps)
{
    g_autofree float *each = g_new(float, job->nf);
    int n = 0;
    for (int f = 1; f < job->nf; f++) {
        const Lumps *l = &lumps[f];
        if (2 * f != job->n[2] && l->power > 0)
            each[n++] = (float)(l->squares * l->weight / (2 * l->power * l->power));
    }
    return n > 0 ? litho_select_kth(each, n, n / 2) : 0;
}

void noise_quiet_conclude(const NoiseJob *job, const NoiseClassSums *sums, const float *loud,
                          double *sigma, double *leaking, LithoNoise *noise)
{
    g_autofree Classes *classes = sum_groups(job, sums);
    gboolean unequal = FALSE;
    for (gint64 w = 0; w < job->windows; w++)
        unequal |= job->share[w] > 0 && loud[w] != 1;
    level_of_time(job, loud, noise);
    noise->used = job->judging && !unequal ? g_new0(float, job->nf) : NULL;
    for (int f = 0; f < job->nf; f++)
        quiet_level_of(job, sums, classes, f, unequal, sigma, leaking, noise->used);
    noise->ends = unequal ? noise_energy_at_ends(job, loud) : 1;
    const double ends = sqrt(noise->ends);
    for (int k = 0; k < (GROUPS + 1) * job->nf; k++)
        sigma[k] *= ends;
    for (int f = 0; f < job->nf; f++)
        leaking[f] *= ends;
    for (guint k = 0; k < noise->n_times; k++)
        noise->at_time[k] /= (float)ends;
}

// Levels by windows of this loudness.
static void levels_by_classes(const NoiseJob *job, const Measure *m, int threads, double *sigma,
                              double *leaking, LithoNoise *noise)
{
    const gsize nk = noise_wavenumbers(job), powers = (gsize)job->windows * nk;
    g_autofree NoiseClassSums *sums = g_new0(NoiseClassSums, (gsize)2 * job->nf * CLASSES);
    g_autofree Lumps *lumps = g_new0(Lumps, job->nf);
#pragma omp parallel num_threads(threads)
    {
        g_autofree float *near = g_new(float, powers), *sorted = g_new(float, powers + 2 * nk);
#pragma omp for schedule(dynamic)
        for (int f = 0; f < job->nf; f++)
            if (litho_run_checkpoint(job->run))
                class_sums(job, m, f, near, sorted, sums + (gsize)2 * f * CLASSES, lumps + f);
    }
    noise->lumps = lumps_of(job, lumps);
    noise_quiet_conclude(job, sums, m->loud, sigma, leaking, noise);
}

// Events that fill windows at all frequencies but where there is no noise make them seem loud, and
// fill the quiet classes with what is then too little. Ranks within windows tell that the noise is
// alike: they need no loudness.
static void take_as_alike(const NoiseJob *job, Measure *m, int threads, double *sigma,
                          double *leaking, LithoNoise *noise)
{
    for (gint64 w = 0; w < job->windows; w++)
        m->loud[w] = 1;
    g_clear_pointer(&noise->used, g_free);
    levels_by_classes(job, m, threads, sigma, leaking, noise);
}

// Levels of all frequencies: rows of all windows and of the groups, as levels() has them, and with
// the leak of missing traces. FALSE: there is no memory.
void noise_quiet_levels(const NoiseJob *job, int threads, const double *all, double *sigma,
                        double *leaking, LithoNoise *noise)
{
    g_autofree float *median = g_new0(float, job->nf);
    smooth_all(job, threads, median);
    g_autofree float *loud = job->judging ? steady_loudness(job, job->smooth, threads)
                                          : loudness(job, job->smooth, threads);
    Measure m = {
        .smooth = job->smooth, .loud = loud, .median = median, .spread = noise_spread_new(job)};
    levels_by_classes(job, &m, threads, sigma, leaking, noise);
    // Filtered data have an uneven floor of their own; few wavenumbers scatter like uneven noise.
    const gsize enough = 32;
    if (job->judging && (gsize)noise_wavenumbers(job) >= enough &&
        noise->lumps <= LITHO_NOISE_LUMPS && litho_run_checkpoint(job->run)) {
        NoiseLocal local = noise_local_new(job, median, threads);
        if (litho_run_checkpoint(job->run) &&
            noise_local_matters(job, &local, all, sigma, !noise->used))
            noise_local_conclude(job, &local, sigma, leaking, threads, noise);
        else if (!noise->used && litho_run_checkpoint(job->run) &&
                 noise_local_is_alike(job, &local, sigma))
            take_as_alike(job, &m, threads, sigma, leaking, noise);
        noise_local_clear(&local);
    }
    noise_spread_clear(&m.spread);
}
