// SPDX-License-Identifier: GPL-3.0-or-later
//
// Gains that follow the events: automatic gain control (AGC) divides each trace by its own running
// amplitude, so that the noise is weakest where events are strongest. No other noise is: events
// that pass for noise make it seem stronger there, and noise of its own ways has nothing to do with
// them. Classes of coefficients over all windows (noise_quiet.c) would take the windows of strong
// events for the quiet ones, with a level up to 6 % off.
#include <math.h>

#include "kernels/common/noise_job.h"

typedef struct Pair {
    double level, events; // of one window
    double rank[2];       // of both among all windows
} Pair;

static int by_level(gconstpointer a, gconstpointer b)
{
    const double x = ((const Pair *)a)->level, y = ((const Pair *)b)->level;
    return (x > y) - (x < y);
}

static int by_events(gconstpointer a, gconstpointer b)
{
    const double x = ((const Pair *)a)->events, y = ((const Pair *)b)->events;
    return (x > y) - (x < y);
}

// Energy of the window at frequency f above that of the noise.
static double events_at(const NoiseJob *job, const NoiseLocal *local, int f, gint64 w)
{
    const gint64 nk = noise_wavenumbers(job);
    const float *power = job->power + (job->windows * f + w) * nk;
    double sum = 0;
    for (gint64 k = 0; k < nk; k++)
        sum += power[k];
    return sum / (double)nk - local->leaky[job->windows * f + w];
}

// Ranks are alike in any unit, and a few windows of strange power do not make them (Spearman 1904).
static double rank_correlation(Pair *pairs, gint64 n)
{
    double sum = 0, squares = 0;
    const double middle = 0.5 * (double)(n - 1);
    qsort(pairs, n, sizeof *pairs, by_level);
    for (gint64 k = 0; k < n; k++)
        pairs[k].rank[0] = (double)k - middle;
    qsort(pairs, n, sizeof *pairs, by_events);
    for (gint64 k = 0; k < n; k++)
        pairs[k].rank[1] = (double)k - middle;
    for (gint64 k = 0; k < n; k++) {
        sum += pairs[k].rank[0] * pairs[k].rank[1];
        squares += pairs[k].rank[0] * pairs[k].rank[0];
    }
    return squares > 0 ? sum / squares : 0;
}

// The rank correlation where the ranks of `n` places run against each other, as many as `apart` of
// which share no sample, else 0. In alike noise they scatter by 0.4 over the root of these (0.05 of
// 64 windows, 0.1 of 16 columns of windows; seven kinds of cubes, -6 to 20 dB); behind gain control
// they give -0.3 to -0.98.
static double run_against(Pair *pairs, gint64 n, double apart)
{
    const double least = 0.3, scatter = 0.4, times = 3.5;
    const double r = rank_correlation(pairs, n);
    return r < -fmax(least, times * scatter / sqrt(apart)) ? r : 0;
}

// Rank correlation of windows at one time, [n] in the order of the job's: noise that grows along
// traces whose events fade runs against them, too, and behind gains of a window's length and less
// this one is -0.4 to -0.85.
static double at_one_time(const NoiseJob *job, const Pair *windows, gint64 n)
{
    const gint64 times = job->count[2];
    g_autofree Pair *mean = g_new0(Pair, times), *pairs = g_memdup2(windows, n * sizeof *windows);
    g_autofree gint64 *place = g_new(gint64, n), *count = g_new0(gint64, times);
    gint64 at = 0;
    for (gint64 w = 0; w < job->windows; w++)
        if (job->share[w] > 0) {
            pairs[at].level = log(fmax(pairs[at].level, 1e-30));
            pairs[at].events = log(fmax(pairs[at].events, 1e-30));
            place[at] = noise_place_of(job, w, 2);
            mean[place[at]].level += pairs[at].level;
            mean[place[at]].events += pairs[at].events;
            count[place[at++]]++;
        }
    for (at = 0; at < n; at++) {
        pairs[at].level -= mean[place[at]].level / (double)count[place[at]];
        pairs[at].events -= mean[place[at]].events / (double)count[place[at]];
    }
    return rank_correlation(pairs, n);
}

// Gains that change within a window leave less than SHORT_GAIN, also at one time; noise that grows
// leaves more than GROWTH there.
static const double SHORT_GAIN = -0.75, GROWTH = -0.3;

// Scatter of the windows' noise at the frequencies [from, to), relative.
static double spread_of(const NoiseJob *job, const NoiseLocal *local, int from, int to)
{
    double sum = 0, squares = 0;
    gint64 n = 0;
    for (gint64 w = 0; w < job->windows; w++) {
        double level = 0;
        if (!(job->share[w] > 0))
            continue;
        for (int f = from; f < to; f++)
            level += local->level[job->windows * f + w];
        sum += level;
        squares += level * level;
        n++;
    }
    return sum > 0 ? sqrt(fmax(squares * (double)n / (sum * sum) - 1, 0)) : 0;
}

// Gains change noise of all frequencies alike: it scatters between windows by 0.97 to 1.05 times as
// much below three quarters of Nyquist as above. Dense and steep events, which pass for noise,
// reach above half of Nyquist, but less above three quarters: by 2.2 times there.
static gboolean scatters_alike(const NoiseJob *job, const NoiseLocal *local)
{
    const double alike = 1.4;
    const int half = job->nf / 2, top = 3 * job->nf / 4;
    return spread_of(job, local, half, top) < alike * spread_of(job, local, top, job->nf);
}

double noise_levelled(const NoiseJob *job, const NoiseLocal *local)
{
    // The noise of the upper half of the frequencies and events of the lower one: they share no
    // coefficient, whose scatter would be in both.
    const int half = job->nf / 2;
    const gint64 columns = job->count[0] * job->count[1];
    g_autofree Pair *windows = g_new0(Pair, job->windows), *traces = g_new0(Pair, columns);
    double apart[3];
    gint64 n = 0, n_traces = 0;
    for (gint64 w = 0; w < job->windows; w++) {
        if (!(job->share[w] > 0))
            continue;
        Pair *p = &windows[n++];
        for (int f = half; f < job->nf; f++)
            p->level += local->level[job->windows * f + w];
        for (int f = 1; f <= half - NOISE_NEAR; f++)
            p->events += events_at(job, local, f, w);
        gint64 place[3];
        noise_places_of(job, w, place);
        Pair *column = &traces[place[0] * job->count[1] + place[1]];
        column->level += job->share[w] * p->level;
        column->events += job->share[w] * p->events;
        column->rank[0] += job->share[w];
    }
    for (gint64 c = 0; c < columns; c++)
        if (traces[c].rank[0] > 0)
            traces[n_traces++] = (Pair){.level = traces[c].level / traces[c].rank[0],
                                        .events = traces[c].events / traces[c].rank[0]};
    for (int a = 0; a < 3; a++)
        apart[a] = (double)litho_box_size(job->box, a) / job->n[a];
    // Gains over long times are those of whole traces. They do not change within a window, which
    // is what a rank correlation near -1 tells: half of theirs.
    const double times = at_one_time(job, windows, n);
    const double r = run_against(windows, n, apart[0] * apart[1] * apart[2]);
    if ((r < SHORT_GAIN && times > GROWTH) || !scatters_alike(job, local))
        return 0;
    return r < 0 ? r : 0.5 * run_against(traces, n_traces, apart[0] * apart[1]);
}
