// SPDX-License-Identifier: GPL-3.0-or-later
//
// Shifts of single traces in time, as statics that were not corrected: no filter finds a shifted
// trace among its neighbours, and the events lose what the shifts scatter.
//
// The mean of a trace's neighbours on both sides has its events, whatever their dip, and what the
// trace has more, r = y - p, holds the derivative p' where it is shifted. Its product with p', over
// that of both derivatives, is the shift. Noise scatters it by more than shifts do; but the shift
// of a trace is one at all times, and noise is not. So the products of two halves of the trace,
// pieces by turns, tell the shifts' variance without noise; and shifts there are where both halves
// agree in their sign on many more traces than chance lets them. A fault shifts its few traces
// alone.
#include <math.h>

#include "kernels/common/noise_job.h"
#include "kernels/common/select.h"

// Traces along an axis that has neighbours to compare with, and in all.
enum { AXIS_TRACES = 8, FEWEST = 64 };
// Samples of a piece of a trace, an eighth of it where that is between.
enum { SHORTEST = 16, LONGEST = 64 };
// Halves that agree by chance: no more than so many standard deviations. Clean data, whose
// curvature is alike at many times, agree in any number, and shift by less than COUNTS.
#define CHANCE 6
// Radians of the events' mean frequency: they scatter a hundredth of the energy, which leaves 20
// dB.
#define COUNTS 0.1
// Share of the products at either end that count as the next ones do: faults, single bad traces.
#define TRIM 0.02

typedef struct Shifts {
    gint64 n;
    double *of[2]; // r . p' of the traces' halves
    // Sums over the traces: of y' . p', of the product of both halves' y' . p', and of y . p.
    double slopes, products, events;
} Shifts;

const float *noise_trace_at(const LithoCube *cube, LithoBox box, gint64 i, gint64 j)
{
    if (i < box.lo[0] || i >= box.hi[0] || j < box.lo[1] || j >= box.hi[1] ||
        !litho_cube_is_live(cube, i, j))
        return NULL;
    const float *x = litho_cube_trace(cube, i, j) + box.lo[2] - cube->held.lo[2];
    double sum = 0;
    for (gint64 t = 0; t < litho_box_size(box, 2); t++)
        sum += (double)x[t] * x[t];
    return sum > 0 && isfinite(sum) ? x : NULL;
}

// FALSE where a neighbour is missing on either side.
static gboolean mean_of_neighbours(const LithoCube *cube, LithoBox box, gint64 i, gint64 j,
                                   float *mean)
{
    const gint64 n = litho_box_size(box, 2);
    const float *beside[4];
    int sides = 0;
    for (int a = 0; a < 2; a++)
        for (int s = -1; s <= 1 && litho_box_size(box, a) >= AXIS_TRACES; s += 2) {
            beside[sides] = noise_trace_at(cube, box, i + (a == 0 ? s : 0), j + (a == 1 ? s : 0));
            if (!beside[sides++])
                return FALSE;
        }
    for (gint64 t = 0; t < n; t++) {
        float sum = 0;
        for (int s = 0; s < sides; s++)
            sum += beside[s][t];
        mean[t] = sum / (float)MAX(sides, 1);
    }
    return sides > 0;
}

static void add_trace(const float *y, const float *p, gint64 n, Shifts *s)
{
    const gint64 piece = CLAMP(n / 8, SHORTEST, LONGEST);
    double found[2] = {0}, slopes[2] = {0};
    for (gint64 t = 1; t + 1 < n; t++) {
        const int half = (int)((t / piece) % 2);
        const double dp = 0.5 * ((double)p[t + 1] - p[t - 1]);
        const double dy = 0.5 * ((double)y[t + 1] - y[t - 1]);
        found[half] += ((double)y[t] - p[t]) * dp;
        slopes[half] += dy * dp;
        s->events += (double)y[t] * p[t];
    }
    s->slopes += slopes[0] + slopes[1];
    s->products += slopes[0] * slopes[1];
    s->of[0][s->n] = found[0];
    s->of[1][s->n++] = found[1];
}

// Mean product of the halves, without the ends of its distribution; the traces whose halves agree.
static double mean_product(const Shifts *s, gint64 *agree)
{
    g_autofree float *product = g_new(float, s->n), *sorted = g_new(float, s->n);
    const double unit = s->products / (double)s->n;
    const gint64 trim = (gint64)(TRIM * (double)s->n);
    double sum = 0;
    *agree = 0;
    for (gint64 k = 0; k < s->n; k++) {
        product[k] = sorted[k] = (float)(s->of[0][k] * s->of[1][k] / unit);
        *agree += product[k] > 0;
    }
    const float least = litho_select_kth(sorted, s->n, trim);
    const float most = litho_select_kth(sorted, s->n, s->n - 1 - trim);
    for (gint64 k = 0; k < s->n; k++)
        sum += CLAMP(product[k], least, most);
    return sum / (double)s->n;
}

static void read_shifts(const Shifts *s, int sides, LithoNoise *noise)
{
    if (s->n < FEWEST || !(s->slopes > 0) || !(s->products > 0) || !(s->events > 0))
        return;
    gint64 agree;
    const double n = (double)s->n, mean = mean_product(s, &agree);
    if (!(mean > 0) || 2 * (double)agree - n < CHANCE * sqrt(n))
        return;
    // A phase d of variance D gives sin d, of variance (1 - exp(-2 D)) / 2, over the mean of cos d,
    // exp(-D / 2): the squares' ratio is sinh D. Neighbours are shifted, too, their mean by less.
    const double frequency = sqrt(s->slopes / s->events); // radians a sample; sine, by differences
    const double phase = sqrt(asinh(mean * frequency * frequency) / (1 + 1.0 / sides));
    if (phase > COUNTS)
        noise->shifts = phase / asin(fmin(frequency, 1));
}

void noise_find_shifts(const LithoCube *cube, LithoBox box, const LithoRun *run, LithoNoise *noise)
{
    const gint64 n = litho_box_size(box, 2);
    const gint64 traces = litho_box_size(box, 0) * litho_box_size(box, 1);
    int sides = 0;
    noise->shifts = 0;
    for (int a = 0; a < 2; a++)
        sides += litho_box_size(box, a) >= AXIS_TRACES ? 2 : 0;
    if (litho_box_empty(box) || n < 4 * SHORTEST || sides == 0 || traces < FEWEST)
        return;
    g_autofree float *mean = g_new(float, n);
    g_autofree double *first = g_new(double, traces), *second = g_new(double, traces);
    Shifts s = {.of = {first, second}};
    for (gint64 i = box.lo[0]; i < box.hi[0] && litho_run_checkpoint(run); i++)
        for (gint64 j = box.lo[1]; j < box.hi[1]; j++) {
            const float *y = noise_trace_at(cube, box, i, j);
            if (y && mean_of_neighbours(cube, box, i, j, mean))
                add_trace(y, mean, n, &s);
        }
    if (litho_run_checkpoint(run))
        read_shifts(&s, sides, noise);
}
