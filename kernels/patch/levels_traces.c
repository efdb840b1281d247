// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/patch/levels_traces.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "kernels/common/noise_job.h"
#include "kernels/common/noise_traces.h"
#include "kernels/patch/levels_bands.h"
#include "kernels/patch/levels_cells.h"

// A window's level differs by so much, a logarithm of amplitudes: below the lower end it may be
// chance, from the upper one on it counts as it is. Nothing is done where none differs by that.
// Both are of windows in which MANY traces are known, as those of 16 x 16 have; fewer tell less.
static const double CHANCE = 0.03, SURE = 0.1, MANY = 100;
enum { MOST_LEVELS = 1 << 21 }; // of all cells and frequencies

// Mean of the known powers of a window's traces about its centre, each weighted by the taper; 0:
// none is known. To *traces the number of traces alike that tell as much.
static double power_of_window(const float *powers, const LithoGrid *grid, const int window[2],
                              const double centre[2], double *traces)
{
    double sum = 0, weight = 0, squares = 0, taper[2][LITHO_PATCH_MAX_WINDOW + 2];
    gint64 lo[2], hi[2];
    for (int a = 0; a < 2; a++) {
        lo[a] = MAX((gint64)ceil(centre[a] - window[a] / 2.0), 0);
        hi[a] = MIN((gint64)floor(centre[a] + window[a] / 2.0) + 1, grid->axis[a].n);
        for (gint64 k = lo[a]; k < hi[a]; k++) {
            const double c = cos(G_PI * ((double)k - centre[a]) / (window[a] + 1));
            taper[a][k - lo[a]] = c * c;
        }
    }
    for (gint64 i = lo[0]; i < hi[0]; i++)
        for (gint64 j = lo[1]; j < hi[1]; j++) {
            const double p = powers[i * grid->axis[1].n + j];
            const double w = p > 0 ? taper[0][i - lo[0]] * taper[1][j - lo[1]] : 0;
            sum += w * p;
            weight += w;
            squares += w * w;
        }
    *traces = squares > 0 ? weight * weight / squares : 0;
    return weight > 0 ? sum / weight : 0;
}

// Places of windows inside a cell's box along an axis, half a window apart, from end to end.
static int places_along(const LithoBox *box, int axis, int window)
{
    const gint64 room = box->hi[axis] - box->lo[axis] - window;
    return room > 0 && window > 1 ? (int)(2 * room / window) + 2 : 1;
}

// Mean power of the windows that a cell is measured on.
static double power_of_cell(const float *powers, const LithoGrid *grid, const int window[2],
                            const LithoBox *box)
{
    const int n[2] = {places_along(box, 0, window[0]), places_along(box, 1, window[1])};
    double sum = 0;
    int known = 0;
    for (int k = 0; k < n[0] * n[1]; k++) {
        const int at[2] = {k / n[1], k % n[1]};
        double centre[2];
        for (int a = 0; a < 2; a++) {
            const double room = (double)(box->hi[a] - box->lo[a]) - window[a];
            centre[a] = (double)box->lo[a] + (window[a] - 1) / 2.0 +
                        room * (n[a] > 1 ? (double)at[a] / (n[a] - 1) : 0.5);
        }
        double traces;
        const double power = power_of_window(powers, grid, window, centre, &traces);
        sum += power;
        known += power > 0;
    }
    return known > 0 ? sum / known : 0;
}

// Levels that the cells of `l` have seen, all cells along time alike; free its sigma.
static LithoPatchLevels seen_by_cells(const float *powers, const LithoGrid *grid,
                                      const int window[2], int threads, const PatchLevels *l)
{
    LithoPatchLevels seen = l->table;
    float *sigma = g_new(float, (gsize)seen.n[0] * seen.n[1]);
#pragma omp parallel for num_threads(threads)
    for (int k = 0; k < seen.n[0] * seen.n[1]; k++) {
        const LithoBox box = patch_cells_box(l, grid, k * l->table.n[2]);
        const double power = power_of_cell(powers, grid, window, &box);
        sigma[k] = power > 0 ? (float)sqrt(power) : 1; // the middle of all
    }
    seen.n[2] = 1;
    seen.bins = 1;
    seen.sigma = sigma;
    seen.shape = NULL;
    return seen;
}

// Cells about a quarter of a window apart, fewer where all levels would be too many.
static void count_knots(const LithoGrid *grid, const int window[3], const PatchLevels *l, int n[3])
{
    for (double apart = 1;; apart *= 1.25) {
        for (int a = 0; a < 2; a++) {
            const double step = MAX(apart * window[a] / 4, 1);
            n[a] = (int)MAX(ceil((double)grid->axis[a].n / step), l->table.n[a]);
        }
        n[2] = 1;
        if ((double)n[0] * n[1] * l->table.n[2] * l->table.bins <= MOST_LEVELS ||
            (n[0] == l->table.n[0] && n[1] == l->table.n[1]))
            return;
    }
}

// The part of a logarithm that is no chance, where so many traces are known.
static double certain(double by, double traces)
{
    const double size = fabs(by) / fmax(sqrt(MANY / traces), 1);
    return by * CLAMP((size - CHANCE) / (SURE - CHANCE), 0, 1);
}

// Windows begin before the survey, and the outermost knot is that of all that lie further out.
static double outward(double x, gint64 n, int window)
{
    const double room = window / 4.0;
    return x < room / 2 ? x - room : x > (double)n - 1 - room / 2 ? x + room : x;
}

// Logarithm by which the noise of a window about a knot exceeds what its cells have seen.
static double exceeds(const float *powers, const LithoGrid *grid, const int window[3],
                      const LithoPatchLevels *seen, float x, float y)
{
    const double centre[2] = {outward(x, grid->axis[0].n, window[0]),
                              outward(y, grid->axis[1].n, window[1])};
    const float place[3] = {x, y, 0};
    double traces;
    const double own = power_of_window(powers, grid, window, centre, &traces);
    const double old = litho_patch_level(seen, place, 0);
    return own > 0 && old > 0 ? certain(0.5 * log(own) - log(old), traces) : 0;
}

gboolean patch_traces_settle(const float *powers, const LithoGrid *grid, const int window[3],
                             int threads, PatchLevels *l, GError **error)
{
    NoiseCells c = {.nf = l->table.bins};
    count_knots(grid, window, l, c.n);
    c.all = c.n[0] * c.n[1];
    g_autofree float *at = g_new0(float, c.n[0] + c.n[1] + 1);
    g_autofree float *by =
        litho_memory_new((gsize)c.all * c.nf, sizeof *by, "levels of the noise", error);
    double most = 0;
    if (!by)
        return FALSE;
    const LithoPatchLevels seen = seen_by_cells(powers, grid, window, threads, l);
    for (int a = 0, k = 0; a < 2; a++)
        for (int i = 0; i < c.n[a]; i++)
            at[k++] = (float)((i + 0.5) * grid->axis[a].n / c.n[a] - 0.5);
#pragma omp parallel for num_threads(threads) reduction(max : most)
    for (int k = 0; k < c.all; k++) {
        by[k] =
            (float)exceeds(powers, grid, window, &seen, at[k / c.n[1]], at[c.n[0] + k % c.n[1]]);
        most = fmax(most, fabsf(by[k]));
    }
    for (int f = 1; f < c.nf; f++)
        memcpy(by + (gsize)f * c.all, by, c.all * sizeof *by);
    c.at = at;
    g_free((gpointer)seen.sigma);
    return most <= SURE || patch_levels_refine(&c, by, l, error);
}

guint64 patch_traces_bytes(const LithoGrid *grid, const LithoPatchGeometry *g)
{
    const int window[3] = {g->axis[0].length, g->axis[1].length, g->axis[2].length};
    PatchLevels l = {.params.level = LITHO_PATCH_LOCAL};
    int n[3];
    patch_cells_make(&l, grid, g);
    count_knots(grid, window, &l, n);
    const guint64 levels = (guint64)n[0] * n[1] * l.table.n[2] * l.table.bins;
    g_free(l.sigma);
    return noise_traces_bytes(grid) + 2 * levels * sizeof(float);
}
