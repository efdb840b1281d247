// SPDX-License-Identifier: GPL-3.0-or-later
//
// Single traces of reversed polarity: their events stand against those of their neighbours, and a
// filter loses them and a part of the neighbours'.
//
// The mean p of a trace's neighbours on both sides has its events, whatever their dip, so that y .
// p is positive, and negative where the trace is reversed; so it is where events move by more than
// a quarter of a period from trace to trace. The neighbours of one axis, two traces apart, tell:
// where their product is positive events move by less than an eighth. A trace is reversed where its
// product is below minus half of what its neighbours have in common, in two halves of the trace,
// pieces by turns, and far below that of the other traces. Where many are, or neighbours are as
// well, it is something else, as waves that are steeper than three eighths of a period.
#include <math.h>
#include <string.h>

#include "kernels/common/noise_job.h"
#include "kernels/common/select.h"

// Traces along an axis that has neighbours to compare with, and in all.
enum { AXIS_TRACES = 8, FEWEST = 64 };
enum { SHORTEST = 16, LONGEST = 64 }; // samples of a piece of a trace
// Standard deviations, by the median, from the middle of all traces.
#define FAR 5
// More than this part of the traces are no exceptions.
#define MOST 0.1

typedef struct Traces {
    const LithoCube *cube;
    LithoBox box;
    float *alike;  // correlation with the neighbours' mean; NAN = not known
    guint8 *marks; // against its neighbours in both halves, which are alike
} Traces;

static gsize at(const Traces *t, gint64 i, gint64 j)
{
    return (gsize)((i - t->box.lo[0]) * litho_box_size(t->box, 1) + j - t->box.lo[1]);
}

// Neighbours on both sides along the axes that have them, in pairs; 0 where one is missing.
static int neighbours(const Traces *t, gint64 i, gint64 j, const float *beside[4])
{
    int sides = 0;
    for (int a = 0; a < 2; a++)
        for (int s = -1; s <= 1 && litho_box_size(t->box, a) >= AXIS_TRACES; s += 2) {
            beside[sides] =
                noise_trace_at(t->cube, t->box, i + (a == 0 ? s : 0), j + (a == 1 ? s : 0));
            if (!beside[sides++])
                return 0;
        }
    return sides;
}

static void look(Traces *t, gint64 i, gint64 j)
{
    const gint64 n = litho_box_size(t->box, 2), piece = CLAMP(n / 8, SHORTEST, LONGEST);
    const float *y = noise_trace_at(t->cube, t->box, i, j), *beside[4];
    const int sides = y ? neighbours(t, i, j, beside) : 0;
    double own = 0, mean = 0, product[2] = {0}, common[2] = {0};
    for (gint64 k = 0; sides > 0 && k < n; k++) {
        const int half = (int)(k / piece % 2);
        double p = 0;
        for (int s = 0; s < sides; s += 2) {
            p += ((double)beside[s][k] + beside[s + 1][k]) / sides;
            common[half] += 2.0 * beside[s][k] * beside[s + 1][k] / sides;
        }
        own += (double)y[k] * y[k];
        mean += p * p;
        product[half] += y[k] * p;
    }
    const gboolean known = own > 0 && mean > 0;
    t->alike[at(t, i, j)] = known ? (float)((product[0] + product[1]) / sqrt(own * mean)) : NAN;
    t->marks[at(t, i, j)] = known && common[0] > 0 && common[1] > 0 &&
                            product[0] < -0.5 * common[0] && product[1] < -0.5 * common[1];
}

// Middle of all correlations and what they stray from it; FALSE where too few are known.
static gboolean spread_of(const Traces *t, gsize traces, float *middle, float *off)
{
    g_autofree float *known = g_new(float, traces);
    gint64 n = 0;
    for (gsize k = 0; k < traces; k++)
        if (isfinite(t->alike[k]))
            known[n++] = t->alike[k];
    if (n < FEWEST)
        return FALSE;
    *middle = litho_select_kth(known, n, n / 2);
    for (gint64 k = 0; k < n; k++)
        known[k] = fabsf(known[k] - *middle);
    *off = 1.4826f * litho_select_kth(known, n, n / 2);
    return TRUE;
}

static gboolean is_alone(const Traces *t, gint64 i, gint64 j)
{
    int marked = 0;
    for (int a = 0; a < 2; a++)
        for (int s = -1; s <= 1; s += 2) {
            const gint64 k = i + (a == 0 ? s : 0), m = j + (a == 1 ? s : 0);
            if (k >= t->box.lo[0] && k < t->box.hi[0] && m >= t->box.lo[1] && m < t->box.hi[1])
                marked += t->marks[at(t, k, m)];
        }
    return marked < 2;
}

// Numbers and places to `noise`; which ones to `reversed`.
static void tell(const Traces *t, LithoNoise *noise, guint8 *reversed)
{
    for (gint64 i = t->box.lo[0]; i < t->box.hi[0]; i++)
        for (gint64 j = t->box.lo[1]; j < t->box.hi[1]; j++) {
            if (!t->marks[at(t, i, j)] || !is_alone(t, i, j))
                continue;
            reversed[at(t, i, j)] = 1;
            if (noise->reversed < LITHO_NOISE_NAMED) {
                double *to = noise->reversed_at[noise->reversed];
                to[0] = litho_axis_value(&t->cube->grid.axis[0], (double)i);
                to[1] = litho_axis_value(&t->cube->grid.axis[1], (double)j);
            }
            noise->reversed++;
        }
}

void noise_find_reversed(const LithoCube *cube, LithoBox box, const LithoRun *run,
                         LithoNoise *noise, guint8 *reversed)
{
    const gint64 traces = litho_box_size(box, 0) * litho_box_size(box, 1);
    float middle, off;
    gint64 marked = 0;
    noise->reversed = 0;
    memset(reversed, 0, traces);
    if (litho_box_empty(box) || litho_box_size(box, 2) < 4 * SHORTEST || traces < FEWEST)
        return;
    g_autofree float *alike = g_new(float, traces);
    g_autofree guint8 *marks = g_new0(guint8, traces);
    Traces t = {cube, box, alike, marks};
    for (gint64 i = box.lo[0]; i < box.hi[0] && litho_run_checkpoint(run); i++)
        for (gint64 j = box.lo[1]; j < box.hi[1]; j++)
            look(&t, i, j);
    if (!litho_run_checkpoint(run) || !spread_of(&t, (gsize)traces, &middle, &off) || !(middle > 0))
        return;
    for (gint64 k = 0; k < traces; k++) {
        marks[k] = marks[k] && alike[k] < -0.25f * middle && alike[k] < middle - FAR * off;
        marked += marks[k];
    }
    if (marked <= MOST * (double)traces)
        tell(&t, noise, reversed);
}

LithoCube *noise_turn_reversed(const LithoCube *cube, LithoBox box, const guint8 *reversed,
                               GError **error)
{
    LithoCube *turned = litho_cube_copy_box(cube, box, error);
    const gint64 traces = litho_box_size(box, 0) * litho_box_size(box, 1);
    const gint64 n = litho_box_size(box, 2);
    for (gint64 k = 0; turned && k < traces; k++)
        for (gint64 t = 0; reversed[k] && t < n; t++)
            turned->samples[k * n + t] = -turned->samples[k * n + t];
    return turned;
}
