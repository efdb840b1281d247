// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/patch/choice_fill.h"

#include <math.h>

enum {
    COLUMNS = 4, // along an axis of traces, at most,
    TRACES = 16, // and traces of one
    PIECES = 8,  // of time, at most,
    LENGTH = 16, // and samples of one, at least
};
// Pieces of ten cubes of layers, a third of them sparse, differed by 0.7 to 3.1 halvings without
// decay; single places of sparse ones by 10, for they are between layers.
#define ALIKE 3.5

gboolean patch_floor_asked(const LithoPatchParams *p)
{
    return p->mode != LITHO_PATCH_DENOISE && p->floor == 0 && !(p->sigma > 0);
}

void patch_floor_take(LithoPatchParams *p, int steps)
{
    if (p->floor > 0)
        return;
    p->floor = ldexp(LITHO_PATCH_FLOOR, -steps);
    if (steps > 0)
        p->iterations = (int)lround(p->iterations * log(p->floor) / log(LITHO_PATCH_FLOOR));
}

static gint64 traces_along(const LithoGrid *grid, int axis)
{
    return MIN(grid->axis[axis].n, TRACES);
}

static int columns_along(const LithoGrid *grid, int axis)
{
    return (int)CLAMP(grid->axis[axis].n / TRACES, 1, COLUMNS);
}

// Column k of n along an axis: the first and the last touch the faces.
static void place(const LithoGrid *grid, int axis, int n, int k, LithoBox *box)
{
    const gint64 free = grid->axis[axis].n - traces_along(grid, axis);
    box->lo[axis] = n > 1 ? free * k / (n - 1) : free / 2;
    box->hi[axis] = box->lo[axis] + traces_along(grid, axis);
}

// Root mean square of the samples [from, to) that are not zero, as those of mutes and of traces
// without a guess are. 0: all are.
static double loudness(const LithoCube *column, gint64 from, gint64 to)
{
    const LithoBox held = column->held;
    double squares = 0;
    gint64 n = 0;
    for (gint64 il = held.lo[0]; il < held.hi[0]; il++)
        for (gint64 xl = held.lo[1]; xl < held.hi[1]; xl++) {
            const float *x = litho_cube_trace(column, il, xl) - held.lo[2];
            for (gint64 t = from; t < to; t++) {
                const double sample = isfinite(x[t]) ? x[t] : 0;
                squares += sample * sample;
                n += sample != 0;
            }
        }
    return n > 0 ? sqrt(squares / (double)n) : 0;
}

// `loud`: of each piece of time, in the column where it is loudest; 0 where all columns are empty.
static int steps_of(const double *loud, int pieces)
{
    double most = 0, least = G_MAXDOUBLE;
    for (int k = 0; k < pieces; k++)
        if (loud[k] > 0) {
            most = fmax(most, loud[k]);
            least = fmin(least, loud[k]);
        }
    const double ratio = most > 0 ? log2(most / least) : 0;
    return ratio > ALIKE ? CLAMP((int)floor(ratio) - 1, 0, PATCH_FLOOR_STEPS) : 0;
}

gboolean patch_floor_find(const LithoReader *clean, LithoRun *run, int *steps, GError **error)
{
    const LithoGrid *grid = clean->grid;
    const int n0 = columns_along(grid, 0), n1 = columns_along(grid, 1);
    const gint64 nt = grid->axis[2].n;
    const int pieces = (int)CLAMP(nt / LENGTH, 1, PIECES);
    double loud[PIECES] = {0};
    for (int c = 0; c < n0 * n1; c++) {
        LithoBox box = litho_box_full(grid);
        place(grid, 0, n0, c / n1, &box);
        place(grid, 1, n1, c % n1, &box);
        g_autoptr(LithoCube) column = clean->read(&box, run, clean->data, error);
        if (!column)
            return FALSE;
        for (int k = 0; k < pieces; k++)
            loud[k] = fmax(loud[k], loudness(column, nt * k / pieces, nt * (k + 1) / pieces));
        if (!litho_run_step(run, c + 1, n0 * n1, error))
            return FALSE;
    }
    *steps = steps_of(loud, pieces);
    return TRUE;
}
