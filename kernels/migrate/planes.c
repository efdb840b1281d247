// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/planes.h"

#include <math.h>

// A tile is turned in the first-level cache: a trace's samples lie a plane apart, and a line of the
// cache would be fetched for each of them.
enum { TILE = 32 };

gboolean litho_migrate_normalise(const float *image, const float *illumination, gsize cells, int n,
                                 double eps, float *to, LithoRun *run, GError **error)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(litho_run_threads(run))
    for (int z = 0; z < n; z++) {
        if (!litho_run_checkpoint(run))
            continue;
        const float *i = image + cells * z, *l = illumination + cells * z;
        float largest = 0;
        for (gsize k = 0; k < cells; k++)
            largest = fmaxf(largest, l[k]);
        const float floor = fmaxf((float)eps * largest, 1e-30f);
        for (gsize k = 0; k < cells; k++)
            to[cells * z + k] = i[k] / (fmaxf(l[k], 0) + floor); // interpolation may undershoot
    }
    return litho_run_step(run, n, n, error);
}

// Crosslines j .. j + nj - 1 of inline i, all depths.
static void traces_from_planes(const float *planes, int first, int n, float scale, LithoCube *cube,
                               gint64 i, gint64 j, int nj)
{
    const gsize line = cube->grid.axis[1].n, plane = line * cube->grid.axis[0].n;
    const float *from = planes + line * i + j;
    float *trace[TILE];
    for (int k = 0; k < nj; k++)
        trace[k] = litho_cube_trace(cube, i, j + k) + (first - cube->held.lo[2]);
    for (int z = 0; z < n; z += TILE)
        for (int k = 0; k < nj; k++)
            for (int depth = z; depth < MIN(z + TILE, n); depth++)
                trace[k][depth] = scale * from[plane * depth + k];
}

gboolean litho_migrate_planes_to_cube(const float *planes, int first, int n, float scale,
                                      LithoCube *cube, LithoRun *run, GError **error)
{
    const gint64 ni = cube->grid.axis[0].n, nj = cube->grid.axis[1].n;
#pragma omp parallel for collapse(2) schedule(dynamic, 4) num_threads(litho_run_threads(run))
    for (gint64 i = 0; i < ni; i++)
        for (gint64 j = 0; j < nj; j += TILE)
            if (litho_run_checkpoint(run))
                traces_from_planes(planes, first, n, scale, cube, i, j, (int)MIN(TILE, nj - j));
    return litho_run_step(run, ni, ni, error);
}

static void traces_to_planes(const LithoCube *cube, gint64 i, gint64 j, int nj, float *planes)
{
    const gsize line = cube->grid.axis[1].n, plane = line * cube->grid.axis[0].n;
    const gint64 nz = cube->grid.axis[2].n;
    float *to = planes + line * i + j;
    for (gint64 z = 0; z < nz; z += TILE)
        for (int k = 0; k < nj; k++) {
            const float *trace = litho_cube_trace(cube, i, j + k);
            const gboolean live = litho_cube_is_live(cube, i, j + k);
            for (gint64 depth = z; depth < MIN(z + TILE, nz); depth++)
                to[plane * depth + k] = live && isfinite(trace[depth]) ? trace[depth] : 0;
        }
}

gboolean litho_migrate_cube_to_planes(const LithoCube *cube, float *planes, LithoRun *run,
                                      GError **error)
{
    const gint64 ni = cube->grid.axis[0].n, nj = cube->grid.axis[1].n;
#pragma omp parallel for collapse(2) schedule(dynamic, 4) num_threads(litho_run_threads(run))
    for (gint64 i = 0; i < ni; i++)
        for (gint64 j = 0; j < nj; j += TILE)
            if (litho_run_checkpoint(run))
                traces_to_planes(cube, i, j, (int)MIN(TILE, nj - j), planes);
    return litho_run_step(run, ni, ni, error);
}
