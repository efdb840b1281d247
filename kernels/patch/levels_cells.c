// SPDX-License-Identifier: GPL-3.0-or-later
//
// Cells of a survey, each of which has a level: how many, how large, and where.
#include "kernels/patch/levels_cells.h"

#include <math.h>

enum {
    FINEST_TRACES = 16,
    FINE_CELLS = 128,   // at most, of FINEST_TRACES; of twice that as many again
    FINE_BOX = 32 * 32, // traces that their boxes hold at least
    SHORTEST = 64,
    CELL_SAMPLES = 32 * 32 * SHORTEST,
    LEAST_WINDOWS = 40,
    WINDOWS = 4096, // of all cells together, while each has LEAST_WINDOWS
};

// Samples of a cell along the traces: a quarter of a second, which follows noise that grows with
// time, and 64 at least. Cells of few traces or long windows are longer, up to a second: they hold
// as many samples as one of 32 x 32 traces, and four windows. On depth axes, and where a second is
// fewer than 64 samples, a second stands for 256.
static gint64 cell_samples(const LithoGrid *grid, const LithoPatchGeometry *g, gint64 traces)
{
    const double axis = 1 / fabs(grid->axis[2].step);
    const gint64 second = grid->is_depth || axis < 64 ? 256 : (gint64)(axis + 0.5);
    const gint64 held = MIN(grid->axis[0].n, traces) * MIN(grid->axis[1].n, traces);
    gint64 least = MAX(second / 4, SHORTEST);
    if (traces == PATCH_CELL_TRACES)
        least = MAX(least, CELL_SAMPLES / MAX(held, 1));
    return MIN(MAX(least, 4 * g->axis[2].length), MAX(second, SHORTEST));
}

// Cells along the axes, of so many traces along both of theirs.
static void count_cells(const LithoGrid *grid, const LithoPatchGeometry *g, gint64 traces, int n[3])
{
    const gint64 wish[3] = {traces, traces, cell_samples(grid, g, traces)};
    for (int a = 0; a < 3; a++) {
        const gint64 length = grid->axis[a].n, most = a == 2 ? length / SHORTEST : length;
        n[a] = (int)MAX(MIN((length + wish[a] / 2) / wish[a], most), 1);
    }
}

// Noise that is three times as loud in a part of 24 x 24 traces passes where cells are wider: 64 x
// 64 traces at 3 dB came out with 8.7 dB, with cells of 16 traces with 17.1. So cells are as small
// as leaves FINE_CELLS of them, no smaller than windows, which leaves these room beside the faces,
// and their boxes, half a cell wider on all sides, FINE_BOX traces.
static gint64 cell_traces(const LithoGrid *grid, const LithoPatchGeometry *g)
{
    for (gint64 traces = FINEST_TRACES; traces < PATCH_CELL_TRACES; traces *= 2) {
        int n[3];
        count_cells(grid, g, traces, n);
        const gint64 held = MIN(grid->axis[0].n, 2 * traces) * MIN(grid->axis[1].n, 2 * traces);
        if (held >= FINE_BOX && MAX(g->axis[0].length, g->axis[1].length) <= traces &&
            (gint64)n[0] * n[1] * n[2] <= FINE_CELLS * traces / FINEST_TRACES)
            return traces;
    }
    return PATCH_CELL_TRACES;
}

// The number of cells along an axis changes their places, not what they cover.
void patch_levels_divide(PatchLevels *l, int axis, int n)
{
    const float all = l->table.step[axis] * l->table.n[axis];
    l->table.n[axis] = n;
    l->table.step[axis] = all / n;
    l->table.first[axis] = 0.5f * l->table.step[axis] - 0.5f;
}

void patch_cells_make(PatchLevels *l, const LithoGrid *grid, const LithoPatchGeometry *g)
{
    int n[3] = {1, 1, 1};
    if (l->params.level == LITHO_PATCH_LOCAL)
        count_cells(grid, g, cell_traces(grid, g), n);
    for (int a = 0; a < 3; a++) {
        l->table.n[a] = 1;
        l->table.step[a] = (float)grid->axis[a].n;
        patch_levels_divide(l, a, n[a]);
    }
    l->table.bins = g->bins;
    for (int a = 0; a < 2; a++)
        l->table.window[a] = g->axis[a].length;
    l->sigma = g_new0(float, (gsize)patch_levels_cells(l) * g->bins);
    l->table.sigma = l->sigma;
}

LithoBox patch_cells_box(const PatchLevels *l, const LithoGrid *grid, int k)
{
    const int *n = l->table.n;
    const int cell[3] = {k / (n[1] * n[2]), k / n[2] % n[1], k % n[2]};
    LithoBox box;
    for (int a = 0; a < 3; a++) {
        box.lo[a] = (gint64)((cell[a] - 0.5f) * l->table.step[a]);
        box.hi[a] = (gint64)((cell[a] + 1.5f) * l->table.step[a]);
    }
    return litho_box_intersect(box, litho_box_full(grid));
}

gboolean patch_cells_are_small(const PatchLevels *l)
{
    return MAX(l->table.step[0], l->table.step[1]) < 0.75f * PATCH_CELL_TRACES;
}

// `n` windows, or fewer that are larger along all axes, or longer as samples are closer together,
// and hold as many samples together.
static int as_many(int n, const int window[3])
{
    const double more = fmin(window[0], fmin(window[1], window[2])) / LITHO_PATCH_WINDOW;
    return (int)(more > 1 ? n / (more * more * more) : n) / litho_patch_dense_of(window);
}

int patch_levels_told(const int window[3])
{
    const int dense = litho_patch_dense_of(window);
    return window[2] / 2 / dense + (dense == 1);
}

int patch_all_windows(const int window[3])
{
    return as_many(PATCH_ALL_WINDOWS, window);
}

// All cells share the shape over wavenumbers, so that each of many needs fewer.
int patch_cells_windows(const PatchLevels *l)
{
    const int window[3] = {l->table.window[0], l->table.window[1], 2 * (l->table.bins - 1)};
    return CLAMP(as_many(WINDOWS, window) / patch_levels_cells(l), LEAST_WINDOWS,
                 PATCH_CELL_WINDOWS);
}
