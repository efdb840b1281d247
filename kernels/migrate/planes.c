// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/planes.h"

#include <math.h>

void litho_migrate_normalise(const float *image, const float *illumination, gsize cells, int n,
                             double eps, float *to)
{
    for (int z = 0; z < n; z++) {
        const float *i = image + cells * z, *l = illumination + cells * z;
        float largest = 0;
        for (gsize k = 0; k < cells; k++)
            largest = fmaxf(largest, l[k]);
        const float floor = fmaxf((float)eps * largest, 1e-30f);
        for (gsize k = 0; k < cells; k++)
            to[cells * z + k] = i[k] / (fmaxf(l[k], 0) + floor); // interpolation may undershoot
    }
}

void litho_migrate_planes_to_cube(const float *planes, int first, int n, LithoCube *cube)
{
    const gint64 ni = cube->grid.axis[0].n, nj = cube->grid.axis[1].n;
    for (gint64 i = 0; i < ni; i++)
        for (gint64 j = 0; j < nj; j++) {
            float *trace = litho_cube_trace(cube, i, j) - cube->held.lo[2];
            for (int z = 0; z < n; z++)
                trace[first + z] = planes[((gsize)z * ni + i) * nj + j];
        }
}

void litho_migrate_cube_to_planes(const LithoCube *cube, float *planes)
{
    const gint64 ni = cube->grid.axis[0].n, nj = cube->grid.axis[1].n, nz = cube->grid.axis[2].n;
    for (gint64 i = 0; i < ni; i++)
        for (gint64 j = 0; j < nj; j++) {
            const float *trace = litho_cube_trace(cube, i, j);
            gboolean live = litho_cube_is_live(cube, i, j);
            for (gint64 z = 0; z < nz; z++)
                planes[((gsize)z * ni + i) * nj + j] = live && isfinite(trace[z]) ? trace[z] : 0;
        }
}
