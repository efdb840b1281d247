// SPDX-License-Identifier: GPL-3.0-or-later
//
// Level of noise that varies from place to place or stands in lines of the spectrum.
//
// Classes of coefficients with one edge for all windows (noise_quiet.c) need to know how loud each
// window is, better than a window tells it: windows whose noise is told too loud fill the quiet
// classes. Ranks within one window and one frequency need no loudness: each window counts with the
// same part of its wavenumbers, whatever its noise. Neighbourhoods are sums of frequencies in units
// of the same window's own quantile, so that they say nothing of its loudness.
//
// A line, as of a hum, reaches other frequencies through the taper, and they are no independent
// witnesses of it. Frequencies that a line reaches count the less for its own: where too few are
// left, windows beside it tell where events are.
#include <math.h>
#include <string.h>

#include "kernels/common/noise_job.h"
#include "kernels/common/select.h"

enum { CLASSES = NOISE_CLASSES };
// Classes are of equal size; the first ones, the quietest 40 %, are taken for noise as long as none
// exceeds the ones before by more than its scatter.
enum { QUIETEST = 5 };
// Frequencies from 2 to so many bins away tell how many classes hold the noise alone.
enum { CHOOSE = 4, CHOOSE_BESIDE_LINES = 9 };
// A line reaches a frequency where it gives more than this part of its power.
#define REACHED 0.03
// A line is a maximum that falls to less than this part of its power within so many bins.
#define NARROW 0.06
enum { LINE_REACH = 3 };

typedef struct Local {
    const NoiseJob *job;
    const float *median;
    NoiseSpread spread;
    float *unit;    // [frequency][window]: quantile of the smoothed power
    float *power;   // [frequency][window][class], sums
    float *squares; // [frequency][window], of the QUIETEST classes
    float *mean;    // [frequency][window][class]: of the windows around, in units of the QUIETEST
    gint64 *number; // of the window at a place; -1 = none
    int *near;      // [window]: bins to the nearest frequency that tells of events
    int edge[CLASSES + 1];
    gboolean *peak, *line; // [frequency]: of a line, and no further than LINE_REACH from one
} Local;

// --- neighbourhoods ------------------------------------------------------------------------------

// Power that a line leaves `bins` away, in units of its own, behind the taper.
static double leak(int bins)
{
    return 1 / pow(1 - 4.0 * bins * bins, 2);
}

// Lines are narrower than any spectrum of noise that has one source.
static void find_lines(const Local *l)
{
    const int last = l->job->nf - 1;
    for (int f = 0; f <= last; f++) {
        const float own = l->median[f];
        const gboolean top =
            (f == 0 || own >= l->median[f - 1]) && (f == last || own >= l->median[f + 1]);
        const gboolean falls = (f >= LINE_REACH && l->median[f - LINE_REACH] < NARROW * own) ||
                               (f + LINE_REACH <= last && l->median[f + LINE_REACH] < NARROW * own);
        for (int g = MAX(f - LINE_REACH, 0); top && falls && g <= MIN(f + LINE_REACH, last); g++) {
            l->line[g] = TRUE;
            l->peak[g] |= abs(g - f) <= 1;
        }
    }
}

static gboolean reaches(const Local *l, int from, int to)
{
    if (!l->peak[from])
        return FALSE;
    return abs(from - to) >= NOISE_NEAR &&
           l->median[from] * leak(to - from) > REACHED * l->median[to];
}

// TRUE where a line gives a part of the power at both frequencies.
static gboolean share_line(const Local *l, int f, int other)
{
    const int far = 2 * NOISE_FAR;
    for (int g = MAX(f - far, 0); g <= MIN(f + far, l->job->nf - 1); g++)
        if ((abs(g - f) <= 1 || reaches(l, g, f)) && reaches(l, g, other))
            return TRUE;
    return FALSE;
}

static int mirrored(const NoiseJob *job, int g)
{
    return g < 0 ? -g : g > job->nf - 1 ? job->n[2] - g : g;
}

// The frequencies around f that tell where events are.
static gboolean set_tells(const Local *l, int f, int near, gboolean *tells)
{
    gboolean any = FALSE;
    for (int off = -NOISE_FAR; off <= NOISE_FAR; off++) {
        const int g = mirrored(l->job, f + off);
        tells[off + NOISE_FAR] = abs(off) >= near && g >= 0 && !share_line(l, f, g);
        any |= tells[off + NOISE_FAR];
    }
    return any;
}

static void around_in_frequency(const Local *l, const gboolean *tells, int f, gint64 w, float *to)
{
    const NoiseJob *job = l->job;
    const gint64 nk = noise_wavenumbers(job), all = job->windows * nk;
    const int n1 = job->n[1];
    for (int off = -NOISE_FAR; off <= NOISE_FAR; off++) {
        if (!tells[off + NOISE_FAR])
            continue;
        const int g = f + off, from = mirrored(job, g);
        const float *s = job->smooth + all * from + w * nk;
        const float by = 1 / fmaxf(l->unit[from * job->windows + w], 1e-30f);
        for (gint64 k = 0; k < nk; k++) {
            const gint64 i = k / n1, j = k % n1;
            to[k] += by * (from == g ? s[k] : s[(job->n[0] - i) % job->n[0] * n1 + (n1 - j) % n1]);
        }
    }
}

// Windows that share no trace with this one. FALSE: there is none.
static gboolean around_in_place(const Local *l, int f, gint64 w, float *to)
{
    const NoiseJob *job = l->job;
    const gint64 nk = noise_wavenumbers(job), all = job->windows * nk;
    gint64 place[3];
    gboolean any = FALSE;
    noise_places_of(job, w, place);
    for (int side = 0; side < 9; side++) {
        const gint64 at[3] = {place[0] + 2 * (side / 3 - 1), place[1] + 2 * (side % 3 - 1),
                              place[2]};
        if (side == 4 || at[0] < 0 || at[0] >= job->count[0] || at[1] < 0 || at[1] >= job->count[1])
            continue;
        const gint64 other = l->number[noise_place_index(job, at)];
        if (other < 0)
            continue;
        any = TRUE;
        for (int g = MAX(f - 1, 0); g <= MIN(f + 1, job->nf - 1); g++) {
            const float *s = job->smooth + all * g + other * nk;
            const float by = 1 / fmaxf(l->unit[g * job->windows + other], 1e-30f);
            for (gint64 k = 0; k < nk; k++)
                to[k] += by * s[k];
        }
    }
    return any;
}

static double loudness_of(const Local *l, gint64 w)
{
    double sum = 0;
    for (int f = 0; f < l->job->nf; f++)
        sum += noise_times_of(l->job, f) * l->unit[f * l->job->windows + w];
    return sum;
}

// Noise that swells within a window is alike at frequencies NOISE_NEAR bins apart, which are no
// independent witnesses of it.
static int nearest_witness(const Local *l, gint64 w)
{
    const double much = 2.5;
    const NoiseJob *job = l->job;
    gint64 place[3];
    noise_places_of(job, w, place);
    const double own = loudness_of(l, w);
    for (int side = -1; side <= 1; side += 2) {
        const gint64 at[3] = {place[0], place[1], place[2] + side};
        const gint64 other =
            at[2] < 0 || at[2] >= job->count[2] ? -1 : l->number[noise_place_index(job, at)];
        const double beside = other < 0 ? own : loudness_of(l, other);
        if (beside > much * own || own > much * beside)
            return NOISE_NEAR + 1;
    }
    return NOISE_NEAR;
}

// --- classes -------------------------------------------------------------------------------------

// Sums of a frequency's power by rank of its neighbourhood. `scratch` holds 4 planes.
static void sum_classes(const Local *l, int f, float *scratch, guint8 *quiet)
{
    const NoiseJob *job = l->job;
    const gint64 nk = noise_wavenumbers(job);
    float *near = scratch, *sorted = scratch + nk, *two = scratch + 2 * nk;
    gboolean tells[2][2 * NOISE_FAR + 1];
    const gboolean any = set_tells(l, f, NOISE_NEAR, tells[0]);
    set_tells(l, f, NOISE_NEAR + 1, tells[1]);
    for (gint64 w = 0; w < job->windows; w++) {
        if (!(job->share[w] > 0) || !litho_run_checkpoint(job->run))
            continue;
        memset(near, 0, nk * sizeof *near);
        if (!(l->line[f] || !any) || !around_in_place(l, f, w, near))
            around_in_frequency(l, tells[l->near[w] > NOISE_NEAR], f, w, near);
        noise_add_spread(job, &l->spread, f, w, l->median[f] * l->unit[f * job->windows + w], two,
                         near);
        memcpy(sorted, near, nk * sizeof *near);
        float limit[CLASSES];
        for (int c = 0; c + 1 < CLASSES; c++)
            limit[c] = litho_select_kth(sorted + l->edge[c], nk - l->edge[c],
                                        MAX(l->edge[c + 1] - l->edge[c] - 1, 0));
        const float *power = job->power + (job->windows * f + w) * nk;
        float *sums = l->power + (job->windows * f + w) * CLASSES,
              *squares = l->squares + job->windows * f + w;
        int n[CLASSES] = {0};
        for (gint64 k = 0; k < nk; k++) {
            int c = 0;
            while (c + 1 < CLASSES && near[k] > limit[c])
                c++;
            sums[c] += power[k];
            n[c]++;
            quiet[w * nk + k] = c < QUIETEST;
            *squares += c < QUIETEST ? power[k] * power[k] : 0;
        }
        for (int c = 0; c < CLASSES; c++) // equal ranks
            sums[c] *= n[c] > 0 ? (float)(l->edge[c + 1] - l->edge[c]) / (float)n[c] : 0;
    }
}

// Means of the classes over the windows around, of one frequency, in units of the quietest ones'.
static void mean_around(const Local *l, int f)
{
    const NoiseJob *job = l->job;
    for (gint64 w = 0; w < job->windows; w++) {
        gint64 place[3];
        double sum[CLASSES] = {0}, quiet = 0;
        noise_places_of(job, w, place);
        for (int side = 0; side < 27; side++) {
            const gint64 at[3] = {place[0] + side / 9 - 1, place[1] + side / 3 % 3 - 1,
                                  place[2] + side % 3 - 1};
            gboolean there = TRUE;
            for (int a = 0; a < 3; a++)
                there &= at[a] >= 0 && at[a] < job->count[a];
            const gint64 other = there ? l->number[noise_place_index(job, at)] : -1;
            for (int c = 0; other >= 0 && c < CLASSES; c++)
                sum[c] +=
                    (double)job->share[other] * l->power[(job->windows * f + other) * CLASSES + c];
        }
        for (int c = 0; c < QUIETEST; c++)
            quiet += sum[c];
        quiet /= l->edge[QUIETEST];
        for (int c = 0; c < CLASSES; c++)
            l->mean[(job->windows * f + w) * CLASSES + c] = (float)(quiet > 0 ? sum[c] / quiet : 0);
    }
}

// How many classes of window w at frequency f hold the noise alone, as other frequencies tell.
static double class_means(const Local *l, int f, gint64 w, gboolean beside, double mean[CLASSES])
{
    const NoiseJob *job = l->job;
    double frequencies = 0;
    const int far = l->line[f] ? CHOOSE_BESIDE_LINES : CHOOSE;
    for (int off = -far; off <= far; off++) {
        const int g = f + off;
        if (abs(off) < NOISE_NEAR || g < 0 || g >= job->nf ||
            (beside && (share_line(l, f, g) || (l->line[f] && l->line[g]))))
            continue;
        frequencies++;
        for (int c = 0; c < CLASSES; c++)
            mean[c] += l->mean[(job->windows * g + w) * CLASSES + c];
    }
    return frequencies;
}

static int quiet_classes(const Local *l, int f, gint64 w)
{
    const NoiseJob *job = l->job;
    double mean[CLASSES] = {0}, below = 0, below_weight = 0;
    const double around = job->n[0] > 1 && job->n[1] > 1 ? 27 : 9;
    double frequencies = class_means(l, f, w, TRUE, mean);
    if (frequencies < 1)
        frequencies = class_means(l, f, w, FALSE, mean);
    for (int c = 0; c < CLASSES; c++) {
        const double n = l->edge[c + 1] - l->edge[c];
        // Three windows along each axis, which hold every sample twice.
        const double weight = frequencies * n * around / noise_overlap(job);
        const double own = n > 0 ? mean[c] / (frequencies * n) : 0;
        if (n > 0 && below_weight > 0) {
            const double scatter = sqrt(1 / weight + 1 / below_weight);
            if (own - below / below_weight > (c < QUIETEST ? scatter : 0.5 * scatter))
                return c;
        }
        below += weight * own;
        below_weight += weight;
    }
    return CLASSES;
}

// --- the whole -----------------------------------------------------------------------------------

static void set_units(const Local *l, int f, float *row)
{
    const NoiseJob *job = l->job;
    const gint64 nk = noise_wavenumbers(job);
    for (gint64 w = 0; w < job->windows; w++)
        if (job->share[w] > 0) {
            memcpy(row, job->smooth + (job->windows * f + w) * nk, nk * sizeof *row);
            l->unit[f * job->windows + w] = litho_select_kth(row, nk, (gint64)(NOISE_QUIET * nk));
        }
}

static double window_mean(const Local *l, int f, gint64 w)
{
    double sum = 0;
    for (int c = 0; c < CLASSES; c++)
        sum += l->power[(l->job->windows * f + w) * CLASSES + c];
    return sum / l->edge[CLASSES];
}

// Levels of one frequency, and what the quietest classes tell of lumps.
static void set_levels(const Local *l, int f, NoiseLocal *to)
{
    const NoiseJob *job = l->job;
    double squares = 0, weight = 0;
    for (gint64 w = 0; w < job->windows; w++) {
        if (!(job->share[w] > 0))
            continue;
        const float *power = l->power + (job->windows * f + w) * CLASSES;
        const int n = MAX(quiet_classes(l, f, w), 1);
        double sum = 0, quiet = 0;
        for (int c = 0; c < n; c++)
            sum += power[c];
        for (int c = 0; c < QUIETEST; c++)
            quiet += power[c];
        const double leaky = sum / MAX(l->edge[n], 1), spread = job->leak[w];
        const double own = (leaky - spread * window_mean(l, f, w)) / (1 - spread);
        to->leaky[job->windows * f + w] = (float)leaky;
        to->level[job->windows * f + w] = (float)fmax(own, 0);
        to->used[job->windows * f + w] = (float)l->edge[n];
        to->mean[job->windows * f + w] = (float)window_mean(l, f, w);
        quiet /= l->edge[QUIETEST];
        if (quiet > 0) {
            squares += job->share[w] * l->squares[job->windows * f + w] / (quiet * quiet);
            weight += 2 * job->share[w] * l->edge[QUIETEST];
        }
    }
    to->lumps[f] = weight > 0 ? (float)(squares / weight) : 0;
    to->line[f] = l->line[f];
}

NoiseLocal noise_local_new(const NoiseJob *job, const float *median, int threads)
{
    const gint64 nk = noise_wavenumbers(job), windows = job->windows;
    const gsize all = (gsize)job->nf * windows;
    Local l = {.job = job,
               .median = median,
               .spread = noise_spread_new(job),
               .unit = g_new0(float, all),
               .power = g_new0(float, all *CLASSES),
               .squares = g_new0(float, all),
               .mean = g_new0(float, all *CLASSES),
               .number = g_new(gint64, job->count[0] * job->count[1] * job->count[2]),
               .near = g_new0(int, windows),
               .peak = g_new0(gboolean, job->nf),
               .line = g_new0(gboolean, job->nf)};
    NoiseLocal to = {.level = g_new0(float, all),
                     .leaky = g_new0(float, all),
                     .used = g_new0(float, all),
                     .mean = g_new0(float, all),
                     .lumps = g_new0(float, job->nf),
                     .line = g_new0(gboolean, job->nf),
                     .quiet = g_new0(guint8, all * nk)};
    for (int c = 0; c <= CLASSES; c++)
        l.edge[c] = (int)(nk * c / CLASSES);
    for (gint64 p = 0; p < job->count[0] * job->count[1] * job->count[2]; p++)
        l.number[p] = -1;
    for (gint64 w = 0; w < windows; w++) {
        gint64 place[3];
        noise_places_of(job, w, place);
        if (job->share[w] > 0)
            l.number[noise_place_index(job, place)] = w;
    }
    find_lines(&l);
#pragma omp parallel num_threads(threads)
    {
        g_autofree float *scratch = g_new(float, 4 * nk);
#pragma omp for schedule(dynamic)
        for (int f = 0; f < job->nf; f++)
            if (litho_run_checkpoint(job->run))
                set_units(&l, f, scratch);
#pragma omp for schedule(static)
        for (gint64 w = 0; w < windows; w++)
            l.near[w] = nearest_witness(&l, w);
#pragma omp for schedule(dynamic)
        for (int f = 0; f < job->nf; f++)
            if (litho_run_checkpoint(job->run))
                sum_classes(&l, f, scratch, to.quiet + f * windows * nk);
#pragma omp for schedule(dynamic)
        for (int f = 0; f < job->nf; f++)
            mean_around(&l, f);
#pragma omp for schedule(dynamic)
        for (int f = 0; f < job->nf; f++)
            set_levels(&l, f, &to);
    }
    to.levelled = litho_run_checkpoint(job->run) ? noise_levelled(job, &to) : 0;
    noise_spread_clear(&l.spread);
    g_free(l.unit);
    g_free(l.power);
    g_free(l.squares);
    g_free(l.mean);
    g_free(l.number);
    g_free(l.near);
    g_free(l.peak);
    g_free(l.line);
    return to;
}

void noise_local_clear(NoiseLocal *local)
{
    g_clear_pointer(&local->level, g_free);
    g_clear_pointer(&local->leaky, g_free);
    g_clear_pointer(&local->used, g_free);
    g_clear_pointer(&local->mean, g_free);
    g_clear_pointer(&local->lumps, g_free);
    g_clear_pointer(&local->line, g_free);
    g_clear_pointer(&local->quiet, g_free);
}
