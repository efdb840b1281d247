// SPDX-License-Identifier: GPL-3.0-or-later
//
// Dips of a cube's events and how plane they are, from a bounded number of places.
#include "core/suggest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    REACH = LITHO_EVENTS_TRACES / 2, // traces to either side of a place's middle
    TRACES = LITHO_EVENTS_TRACES,
    INNER = 4,   // traces to either side that tell an event
    RING = 8,    // traces from here to REACH tell whether it goes on
    LENGTH = 32, // samples of a place
    STEPS = 8,   // dips tried of a sample a trace
    STEEPEST = 3,
    MOST_BENT = 6, // samples at REACH
    PAD = STEEPEST * REACH + MOST_BENT + 1,
    ACROSS = 12, // places along the other axis of traces, along this one and along time, at most
    ALONG = 4,
    DOWN = 8,
    PERIOD = 8, // samples of a period; longer ones are thinned out
};
// Dips below hold this part of the events' energy.
#define MOST_OF_IT 0.9
// Part of the energy that neighbours have in common where there are events: the best of all dips
// finds 0.03 in noise alone.
#define LEAST_ALIKE 0.08
// Parts of the events' energy that parabolas gain on planes, and dips, from which events are bent
// and dip.
#define BENT 0.05
#define DIPPING 0.08 // periods a trace
// A place tells nothing where more of its traces are missing.
#define MOST_MISSING 0.2

typedef float Place[TRACES][LENGTH + 2 * PAD];
typedef float Aligned[TRACES][LENGTH];

typedef struct Sums {
    double all;         // energy of the inner traces
    double inner, ring; // energy that even and odd traces have in common
    double plane, bent; // of odd traces: common to inner and ring, as planes and as parabolas
    double by_dip[STEEPEST * STEPS + 1]; // energy common to inner and ring, by the dip's magnitude
} Sums;

// --- a place ------------------------------------------------------------------------------------

// Samples by linear interpolation along t = dip k + bend (k / REACH)^2, k traces from the middle.
static void align(Place place, int n, double dip, double bend, Aligned to)
{
    for (int k = -REACH; k <= REACH; k++) {
        const double shift = dip * k + bend * k * k / (REACH * REACH), whole = floor(shift);
        const float w = (float)(shift - whole);
        const float *from = place[REACH + k] + PAD + (int)whole;
        for (int t = 0; t < n; t++)
            to[REACH + k][t] = from[t] * (1 - w) + from[t + 1] * w;
    }
}

// Mean of every `step`-th trace whose distance from the middle is `least` to `most`.
static void mean(Aligned x, int n, int least, int most, int first, int step, float *to)
{
    int count = 0;
    memset(to, 0, LENGTH * sizeof *to);
    for (int k = first; k < TRACES; k += step) {
        if (abs(k - REACH) < least || abs(k - REACH) > most)
            continue;
        count++;
        for (int t = 0; t < n; t++)
            to[t] += x[k][t];
    }
    for (int t = 0; t < n; t++)
        to[t] /= (float)count;
}

static double product(const float *a, const float *b, int n)
{
    double sum = 0;
    for (int t = 0; t < n; t++)
        sum += (double)a[t] * b[t];
    return sum;
}

static double energy_of_mean(Aligned x, int n, int first, int step)
{
    float all[LENGTH];
    mean(x, n, 0, REACH, first, step, all);
    return product(all, all, n);
}

// Energy that the odd traces within INNER and beyond RING have in common.
static double goes_on(Aligned x, int n)
{
    float inner[LENGTH], ring[LENGTH];
    mean(x, n, 0, INNER, 1, 2, inner);
    mean(x, n, RING, REACH, 1, 2, ring);
    return product(inner, ring, n);
}

static int best_dip(Place place, int n, Aligned to)
{
    double most = -1;
    int best = 0;
    for (int dip = -STEEPEST * STEPS; dip <= STEEPEST * STEPS; dip++) {
        align(place, n, (double)dip / STEPS, 0, to);
        const double energy = energy_of_mean(to, n, 0, 1);
        best = energy > most ? dip : best;
        most = MAX(most, energy);
    }
    align(place, n, (double)best / STEPS, 0, to);
    return best;
}

// Even traces choose the parabola, odd ones judge it: noise gains nothing.
static double best_bend(Place place, int n, int dip)
{
    Aligned x;
    double most = -1;
    int best = 0;
    for (int bend = -MOST_BENT; bend <= MOST_BENT; bend++) {
        align(place, n, (double)dip / STEPS, bend, x);
        const double energy = energy_of_mean(x, n, 0, 2);
        best = energy > most ? bend : best;
        most = MAX(most, energy);
    }
    align(place, n, (double)dip / STEPS, best, x);
    return goes_on(x, n);
}

static void add_place(Place place, int n, Sums *sums)
{
    Aligned x;
    float even[LENGTH], odd[LENGTH], inner[LENGTH], ring[LENGTH];
    const int dip = best_dip(place, n, x);
    mean(x, n, 0, INNER, 0, 2, even);
    mean(x, n, 0, INNER, 1, 2, odd);
    sums->inner += product(even, odd, n);
    mean(x, n, RING, REACH, 0, 2, even);
    mean(x, n, RING, REACH, 1, 2, odd);
    sums->ring += product(even, odd, n);
    for (int k = REACH - INNER; k <= REACH + INNER; k++)
        sums->all += product(x[k], x[k], n) / (2 * INNER + 1);
    mean(x, n, 0, INNER, 0, 1, inner);
    mean(x, n, RING, REACH, 0, 1, ring);
    sums->by_dip[abs(dip)] += MAX(product(inner, ring, n), 0);
    sums->plane += goes_on(x, n);
    sums->bent += best_bend(place, n, dip);
}

// --- the cube -----------------------------------------------------------------------------------

// Begin of piece `k` of `n` of `length`, spread evenly over `all`.
static gint64 piece_at(gint64 all, gint64 length, int k, int n)
{
    return n > 1 ? (all - length) * k / (n - 1) : (all - length) / 2;
}

// A place along `axis` from trace `along` and sample `from` of the cube; `thin` samples are one.
// FALSE where it tells nothing.
static gboolean take(const LithoCube *cube, int axis, gint64 across, gint64 along, gint64 from,
                     int thin, int n, Place to)
{
    int missing = 0;
    const gint64 nt = litho_box_size(cube->held, 2);
    memset(to, 0, sizeof(Place));
    for (int k = 0; k < TRACES; k++) {
        const gint64 il = cube->held.lo[0] + (axis == 0 ? along + k : across);
        const gint64 xl = cube->held.lo[1] + (axis == 0 ? across : along + k);
        if (!litho_cube_is_live(cube, il, xl)) {
            missing++;
            continue;
        }
        const float *trace = litho_cube_trace(cube, il, xl);
        for (int t = -PAD; t < n + PAD; t++)
            for (int i = 0; i < thin; i++) {
                const gint64 at = from + (gint64)t * thin + i;
                if (at >= 0 && at < nt && isfinite(trace[at]))
                    to[k][PAD + t] += trace[at] / (float)thin;
            }
    }
    return missing <= MOST_MISSING * TRACES;
}

static void add_axis(const LithoCube *cube, int axis, int thin, Sums *sums)
{
    const gint64 across = litho_box_size(cube->held, 1 - axis);
    const gint64 along = litho_box_size(cube->held, axis);
    const gint64 nt = litho_box_size(cube->held, 2) / thin;
    const int n = (int)MIN(nt, LENGTH), lines = (int)MIN(across, ACROSS);
    const int rows = (int)CLAMP(along / TRACES, 1, ALONG), down = (int)CLAMP(nt / n, 1, DOWN);
    g_autofree Place *place = g_new(Place, 1);
    for (int l = 0; l < lines; l++)
        for (int r = 0; r < rows; r++)
            for (int d = 0; d < down; d++)
                if (take(cube, axis, piece_at(across, 1, l, lines),
                         piece_at(along, TRACES, r, rows), piece_at(nt, n, d, down) * thin, thin, n,
                         *place))
                    add_place(*place, n, sums);
}

static double dip_of_most(const Sums *sums)
{
    double all = 0, so_far = 0;
    int dip = 0;
    for (gsize k = 0; k < G_N_ELEMENTS(sums->by_dip); k++)
        all += sums->by_dip[k];
    while (dip < STEEPEST * STEPS && (so_far += sums->by_dip[dip]) < MOST_OF_IT * all)
        dip++;
    return (double)dip / STEPS;
}

LithoEvents litho_suggest_events(const LithoCube *cube, const LithoBand *band)
{
    LithoEvents events = {.axis = {{0}}};
    const double step = fabs(cube->grid.axis[2].step);
    const double period = band->known ? 2 / ((band->low + band->high) * step) : PERIOD;
    const int thin = (int)CLAMP(period / PERIOD, 1, 64);
    if (litho_box_size(cube->held, 2) < 16 * thin)
        return events;
    for (int axis = 0; axis < 2; axis++) {
        Sums sums = {0};
        if (litho_box_size(cube->held, axis) < TRACES)
            continue;
        add_axis(cube, axis, thin, &sums);
        if (!(sums.inner > LEAST_ALIKE * sums.all) || !(sums.ring > 0))
            continue;
        const double dip = dip_of_most(&sums) * thin;
        events.axis[axis] =
            (LithoEventsAlong){.known = TRUE,
                               .dip = dip,
                               .dips = dip >= DIPPING * period,
                               .share = sums.inner / sums.all,
                               .bend = (sums.bent - sums.plane) / sqrt(sums.inner * sums.ring)};
    }
    return events;
}

// --- reading ------------------------------------------------------------------------------------

double litho_events_dip(const LithoEvents *events)
{
    double dip = 0;
    for (int axis = 0; axis < 2; axis++)
        dip = MAX(dip, events->axis[axis].dip);
    return dip;
}

double litho_events_share(const LithoEvents *events)
{
    double share = 1;
    for (int axis = 0; axis < 2; axis++)
        if (events->axis[axis].known)
            share = MIN(share, events->axis[axis].share);
    return share;
}

LithoEventsKind litho_events_kind(const LithoEvents *events)
{
    gboolean known = FALSE;
    for (int axis = 0; axis < 2; axis++) {
        known |= events->axis[axis].known;
        if (events->axis[axis].known && events->axis[axis].bend > BENT)
            return LITHO_EVENTS_BENT;
    }
    return !known                                         ? LITHO_EVENTS_UNKNOWN
           : events->axis[0].dips || events->axis[1].dips ? LITHO_EVENTS_DIPPING
                                                          : LITHO_EVENTS_FLAT;
}
