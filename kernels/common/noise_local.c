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

enum { CLASSES = NOISE_CLASSES, GROUPS = NOISE_GROUPS };
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

static gint64 place_index(const NoiseJob *job, const gint64 place[3])
{
    return (place[0] * job->count[1] + place[1]) * job->count[2] + place[2];
}

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
        const gint64 other = l->number[place_index(job, at)];
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
            at[2] < 0 || at[2] >= job->count[2] ? -1 : l->number[place_index(job, at)];
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
            const gint64 other = there ? l->number[place_index(job, at)] : -1;
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
            l.number[place_index(job, place)] = w;
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

// --- does it vary --------------------------------------------------------------------------------

// Mean level of a frequency over the windows.
static double mean_of(const NoiseJob *job, const float *level, int f)
{
    double sum = 0, weight = 0;
    for (gint64 w = 0; w < job->windows; w++) {
        sum += (double)job->share[w] * level[job->windows * f + w];
        weight += job->share[w];
    }
    return weight > 0 ? sum / weight : 0;
}

// Variation of the power over the windows at the frequencies [from, to), in units of its mean,
// which is `energy`.
static double variation_at(const NoiseJob *job, const NoiseLocal *local, int from, int to,
                           double *energy)
{
    double squares = 0, weight = 0;
    *energy = 0;
    for (int f = from; f < to; f++)
        *energy += noise_times_of(job, f) * mean_of(job, local->level, f);
    for (gint64 w = 0; *energy > 0 && w < job->windows; w++) {
        double sum = 0;
        for (int f = from; f < to; f++)
            sum += noise_times_of(job, f) * local->level[job->windows * f + w];
        squares += job->share[w] > 0 ? job->share[w] * pow(sum / *energy - 1, 2) : 0;
        weight += job->share[w];
    }
    return weight > 0 ? sqrt(squares / weight) : 0;
}

// Strong events make bands vary that they are in; noise that varies does so in all bands that hold
// some. The least of these, and their mean by energy.
static double variation_of(const NoiseJob *job, const NoiseLocal *local, double *least)
{
    enum { BAND = 4 };
    const double some = 0.03;
    double squares = 0, all = 0, energy;
    *least = INFINITY;
    variation_at(job, local, 0, job->nf, &all);
    for (int from = 0; from < job->nf; from += BAND) {
        const double own = variation_at(job, local, from, MIN(from + BAND, job->nf), &energy);
        squares += energy * own * own;
        if (energy > some * all)
            *least = fmin(*least, own);
    }
    return all > 0 ? sqrt(squares / all) : 0;
}

static double energy_of_lines(const NoiseJob *job, const NoiseLocal *local)
{
    double lines = 0, all = 0;
    for (int f = 0; f < job->nf; f++) {
        const double energy = noise_times_of(job, f) * mean_of(job, local->level, f);
        lines += local->line[f] ? energy : 0;
        all += energy;
    }
    return all > 0 ? lines / all : 0;
}

// The band that varies least of noise that is alike everywhere does so by 0.08, also below events
// of 30 dB; the others by up to 1.8 there.
#define VARIES 0.2
// Of windows of fewer wavenumbers, as those of lines, it varies by up to 0.2.
#define VARIES_FEW 0.3
enum { FEW_WAVENUMBERS = 128 };
// Strong events raise levels of windows by some percent. Classes of coefficients leave them out,
// and follow noise that varies by no more than so much.
#define EVENTS 0.04
#define MUCH 0.75

// In few wavenumbers strong steep events fill all ranks of a window, and make the level vary: it is
// then beyond that of the classes (by 2 to 6 times in gathers, by 1.25 at most in noise of eight
// times the amplitude at one end), or both are beyond the median of all coefficients (70 times, 3).
static gboolean holds_noise(const NoiseJob *job, const NoiseLocal *local, const double *all,
                            const double *quiet)
{
    const double most = 1.4 * 1.4, most_beyond = 4 * 4;
    double own = 0, classes = 0, median = 0;
    for (int f = 0; f < job->nf; f++) {
        own += noise_times_of(job, f) * mean_of(job, local->level, f);
        classes += noise_times_of(job, f) * quiet[f] * quiet[f];
        median += noise_times_of(job, f) * all[f] * all[f];
    }
    return own < most * classes && classes < most_beyond * median;
}

gboolean noise_local_matters(const NoiseJob *job, const NoiseLocal *local, const double *all,
                             const double *quiet)
{
    double least;
    const gboolean few = noise_wavenumbers(job) < FEW_WAVENUMBERS;
    if (few && !holds_noise(job, local, all, quiet))
        return FALSE;
    const double varies = variation_of(job, local, &least);
    const gboolean events = varies * varies - least * least > EVENTS && least < MUCH;
    return (least > (few ? VARIES_FEW : VARIES) && !events) ||
           energy_of_lines(job, local) > LITHO_NOISE_LINES || local->levelled < 0;
}

// --- the result ----------------------------------------------------------------------------------

// Places that no window was taken from, or none with enough traces, get the mean of those beside.
static void fill_places(const int n[3], gint64 places, float *power)
{
    const gint64 step[3] = {(gint64)n[1] * n[2], n[2], 1};
    g_autofree float *next = g_new(float, places);
    for (int pass = 0; pass < n[0] + n[1] + n[2]; pass++) {
        memcpy(next, power, places * sizeof *next);
        for (gint64 p = 0; p < places; p++) {
            const gint64 at[3] = {p / step[0], p / step[1] % n[1], p % n[2]};
            double sum = 0;
            int count = 0;
            for (int side = 0; power[p] < 0 && side < 6; side++) {
                const int a = side / 2;
                const gint64 to = at[a] + (side % 2 ? 1 : -1);
                const gint64 other = p + (side % 2 ? step[a] : -step[a]);
                if (to >= 0 && to < n[a] && power[other] >= 0) {
                    sum += power[other];
                    count++;
                }
            }
            if (count > 0)
                next[p] = (float)(sum / count);
        }
        memcpy(power, next, places * sizeof *next);
    }
}

void noise_put_places(const NoiseJob *job, LithoNoise *noise)
{
    for (int a = 0; a < 3; a++) {
        const double first = (double)noise_start_of(job, a, 0), n = (double)job->count[a];
        noise->n_places[a] = (int)job->count[a];
        noise->first_place[a] = first + 0.5 * (job->n[a] - 1);
        noise->place_step[a] =
            n > 1 ? ((double)noise_start_of(job, a, job->count[a] - 1) - first) / (n - 1) : 0;
    }
}

static void put_local(const NoiseJob *job, const NoiseLocal *local, LithoNoise *noise)
{
    const gint64 places = job->count[0] * job->count[1] * job->count[2];
    noise->window[0] = job->n[0];
    noise->window[1] = job->n[1];
    noise->local = g_new(float, places * job->nf);
    for (int f = 0; f < job->nf; f++) {
        float *to = noise->local + f * places;
        const double mean = mean_of(job, local->level, f);
        for (gint64 p = 0; p < places; p++)
            to[p] = -1;
        for (gint64 w = 0; w < job->windows; w++) {
            gint64 place[3];
            noise_places_of(job, w, place);
            if (job->share[w] > 0)
                to[place_index(job, place)] = local->level[job->windows * f + w];
        }
        fill_places(noise->n_places, places, to);
        for (gint64 p = 0; p < places; p++)
            to[p] = mean > 0 && to[p] >= 0 ? to[p] / (float)mean : 1;
    }
    for (gint64 p = 0; p < places; p++) {
        double own = 0, all = 0;
        for (int f = 0; f < job->nf; f++) {
            const double power = noise_times_of(job, f) * mean_of(job, local->level, f);
            own += power * noise->local[f * places + p];
            all += power;
        }
        for (int f = 0; own > 0 && f < job->nf; f++)
            noise->local[f * places + p] *= (float)(all / own);
    }
}

// The strongest line, in bins: the mean of the frequencies beside it by their power.
static double strongest_line(const NoiseJob *job, const NoiseLocal *local)
{
    enum { BESIDE = 2 }; // the taper spreads a line so far
    double most = 0, sum = 0, weight = 0;
    int at = 0;
    for (int f = 0; f < job->nf; f++)
        if (local->line[f] && mean_of(job, local->level, f) > most) {
            most = mean_of(job, local->level, f);
            at = f;
        }
    for (int f = MAX(at - BESIDE, 0); f <= MIN(at + BESIDE, job->nf - 1); f++) {
        const double power = noise_times_of(job, f) * mean_of(job, local->level, f);
        sum += f * power;
        weight += power;
    }
    return weight > 0 ? sum / weight : at;
}

// Variance of the energy by chance, relative: coefficients that are not quiet hold another energy
// than those that are.
static double chance_of(const NoiseJob *job, const NoiseLocal *local)
{
    const double all = (double)noise_wavenumbers(job);
    double sum = 0, squares = 0;
    for (int f = 0; f < job->nf; f++)
        for (gint64 w = 0; w < job->windows; w++) {
            const gsize at = (gsize)job->windows * f + w;
            const double own = noise_times_of(job, f) * job->share[w] * local->level[at];
            sum += own;
            squares += own * own * (1 / fmax(local->used[at], 1) - 1 / all);
        }
    return sum > 0 ? noise_overlap(job) * squares / (sum * sum) : 0;
}

// Standard deviation of the level by events that leak into quiet coefficients, relative: by what
// some bands vary more than others, and by no more than a part of the events' energy.
static double events_of(const NoiseJob *job, const NoiseLocal *local)
{
    const double by_bands = 0.26, by_energy = 0.00075;
    double least, noise = 0, all = 0;
    const double varies = variation_of(job, local, &least);
    for (int f = 0; f < job->nf; f++) {
        noise += noise_times_of(job, f) * mean_of(job, local->level, f);
        all += noise_times_of(job, f) * mean_of(job, local->mean, f);
    }
    const double bands = fmax(varies * varies - 1.02 * least * least, 0); // 0.02: scatter
    if (local->levelled < 0) // gains spread events, too
        return by_bands * bands;
    return noise > 0 ? fmin(by_bands * bands, by_energy * fmax(all / noise - 1, 0)) : 0;
}

// Standard deviation of the level by what else nothing tells, relative: by chance; by lines, which
// have few independent coefficients, two in a trace; and of gain control over so short a time that
// the gains change within windows.
static double doubt_of(const NoiseJob *job, const NoiseLocal *local)
{
    const double own = 0.0013, lines = 0.3, contrasts = 0.3, short_gain = -0.75;
    const double seen = local->levelled < short_gain ? 0.5 : 1.2;
    const gint64 traces = litho_box_size(job->box, 0) * litho_box_size(job->box, 1);
    double least;
    const double varies = variation_of(job, local, &least);
    const double chance = hypot(own, 0.5 * sqrt(chance_of(job, local)));
    return (local->levelled < 0 ? own + contrasts * fmax(varies - seen, 0) : chance) +
           lines * sqrt(energy_of_lines(job, local) / (double)MAX(traces, 1));
}

// Noise that decays so steeply at an end of the traces that windows see less than two thirds of its
// energy: it is guessed. Amplitudes of 1 / (1 + t / 50 ms)^2 held 3.6 times what was told, 3.4
// times what windows saw.
#define MUCH_AT_ENDS 1.5

void noise_local_conclude(const NoiseJob *job, const NoiseLocal *local, double *sigma,
                          double *leaking, int threads, LithoNoise *noise)
{
    const double ends = noise_local_ends(job, local), of_ends = 0.2;
    g_autofree float *lumps = g_new(float, job->nf);
    int n = 0;
    for (int f = 0; f < job->nf; f++) {
        double power[GROUPS] = {0}, weight[GROUPS] = {0};
        for (gint64 w = 0; w < job->windows; w++) {
            power[w % GROUPS] += (double)job->share[w] * local->level[job->windows * f + w];
            weight[w % GROUPS] += job->share[w];
        }
        sigma[f] = sqrt(ends * mean_of(job, local->level, f));
        leaking[f] = sqrt(ends * mean_of(job, local->leaky, f));
        for (int g = 0; g < GROUPS; g++)
            sigma[(GROUPS - g) * job->nf + f] =
                weight[g] > 0 ? sqrt(ends * power[g] / weight[g]) : sigma[f];
        if (f > 0 && 2 * f != job->n[2] && local->lumps[f] > 0)
            lumps[n++] = local->lumps[f];
    }
    noise->lumps = n > 0 ? litho_select_kth(lumps, n, n / 2) : 0;
    noise->n_times = 0;
    noise->ends = ends;
    noise->events = events_of(job, local);
    noise->doubt = doubt_of(job, local) + noise->events + of_ends * fmax(ends - MUCH_AT_ENDS, 0);
    noise->lines = energy_of_lines(job, local);
    noise->line_at = strongest_line(job, local) / (job->n[2] * job->dt);
    noise->levelled = local->levelled;
    variation_of(job, local, &noise->varies);
    put_local(job, local, noise);
    noise_put_fine(job, local, threads, noise);
}
