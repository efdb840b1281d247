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
    const double r = run_against(windows, n, apart[0] * apart[1] * apart[2]);
    return r < 0 ? r : 0.5 * run_against(traces, n_traces, apart[0] * apart[1]);
}
