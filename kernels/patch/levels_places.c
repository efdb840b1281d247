// SPDX-License-Identifier: GPL-3.0-or-later
//
// Levels of cells that are smaller than PATCH_CELL_TRACES: how much louder the noise is at a place.
//
// A small cell has few wavenumbers and windows without events, and what faults and diffractions
// spread over all wavenumbers raises its level: a survey of 30 dB, 60 diffractions in it, came out
// with 29.6 dB, with cells of 64 x 64 traces with 33.8. But events raise the level at their own
// frequencies, louder noise at all of them. So a cell takes the spectrum of its surroundings, of 5
// x 5 cells at one time, times one factor: by how much it exceeds them around the lower quartile of
// the frequencies.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/sort.h"
#include "kernels/patch/levels_cells.h"
#include "kernels/common/clones.h"

#define NEARLY 1.1f
enum { REACH = 2, MOST = (2 * REACH + 1) * (2 * REACH + 1) };

static gsize cell_at(const PatchLevels *l, int i, int j, int t)
{
    return (((gsize)i * l->table.n[1] + j) * l->table.n[2] + t) * l->table.bins;
}

// Frequencies that are sorted at once.
enum { LANES = 4 };

// The cells of `list`, n of them, in ascending order at each of the frequencies.
LITHO_CLONES
static void sort_cells(float (*list)[LANES], int n)
{
    for (int k = 1; k < n; k++) {
        float own[LANES]; // the least of what is above its place, on its way down
        for (int lane = 0; lane < LANES; lane++)
            own[lane] = list[k][lane];
        for (int at = k; at > 0; at--)
            for (int lane = 0; lane < LANES; lane++) {
                const float x = own[lane], y = list[at - 1][lane];
                list[at][lane] = x < y ? y : x;
                own[lane] = x < y ? x : y;
            }
        for (int lane = 0; lane < LANES; lane++)
            list[0][lane] = own[lane];
    }
}

// Levels around (i, j, t) at frequencies [from, from + n) to to[]: the median over the cells, or
// NEARLY the tenth part, where that is less: events are in most of them. Cells without noise, as of
// mutes, tell nothing; 0: all are such.
static void around(const PatchLevels *l, const float *sigma, int i, int j, int t, int from, int n,
                   float *to)
{
    float list[MOST][LANES];
    int cells = 0, known[LANES] = {0};
    for (int a = MAX(i - REACH, 0); a <= MIN(i + REACH, l->table.n[0] - 1); a++)
        for (int b = MAX(j - REACH, 0); b <= MIN(j + REACH, l->table.n[1] - 1); b++, cells++)
            for (int f = 0; f < LANES; f++) {
                const float own = f < n ? sigma[cell_at(l, a, b, t) + from + f] : 0;
                list[cells][f] = own > 0 ? own : G_MAXFLOAT; // behind all others
                known[f] += own > 0;
            }
    sort_cells(list, cells);
    for (int f = 0; f < n; f++)
        to[f] = known[f] == 0 ? 0 : MIN(list[known[f] / 2][f], NEARLY * list[known[f] / 10][f]);
}

// The part of a factor that is no chance: factors of stationary noise scatter by 2 %.
static float certain(float louder)
{
    const float chance = 0.04f, sure = 0.2f, by = logf(MAX(louder, 1e-6f)), size = fabsf(by);
    const float part = CLAMP((size - chance) / (sure - chance), 0, 1);
    return expf(copysignf(size < sure ? part * sure : size, by));
}

// Around the lower quartile: the mean of the ratios between the eighth part and three of them, of
// which no single one decides.
static float lower_quartile(double *ratio, int n)
{
    double sum = 0;
    const int from = n / 8, upto = MAX(3 * n / 8 + 1, from + 1);
    if (n == 0)
        return 1;
    qsort(ratio, n, sizeof *ratio, litho_compare_double);
    for (int k = from; k < upto; k++)
        sum += ratio[k];
    return (float)(sum / (upto - from));
}

void patch_cells_settle(PatchLevels *l)
{
    const int bins = l->table.bins;
    const int window[3] = {l->table.window[0], l->table.window[1], 2 * (bins - 1)};
    const int told = patch_levels_told(window);
    const gsize bytes = sizeof(float) * patch_levels_cells(l) * bins;
    g_autofree float *own = g_memdup2(l->sigma, bytes);
    g_autofree double *ratio = g_new(double, bins);
    for (int i = 0; i < l->table.n[0]; i++)
        for (int j = 0; j < l->table.n[1]; j++)
            for (int t = 0; t < l->table.n[2]; t++) {
                float *to = l->sigma + cell_at(l, i, j, t);
                int n = 0;
                for (int f = 0; f < bins; f += LANES)
                    around(l, own, i, j, t, f, MIN(LANES, bins - f), to + f);
                for (int f = 0; f < told; f++)
                    if (to[f] > 0)
                        ratio[n++] = own[cell_at(l, i, j, t) + f] / to[f];
                const float louder = certain(lower_quartile(ratio, n));
                for (int f = 0; f < bins; f++)
                    to[f] *= louder;
            }
}
