// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
// When all ways between two boxes of elements stay inside their layer, so that no way needs to be
// looked at: the same decision on the CPU and on the device.
#include "kernels/twsm/pair.h"

enum { TWSM_MASK_SAMPLES = 16 }; // interior points of a way that are compared with the boundaries

// Upper bounds of a height grid over its cells, of squares of 2 x 2 of them, and so on up to one
// square, level after level. Of the layer's top the depth, of its bottom minus the depth: the way
// is clear where -z and z are above both.
typedef struct TwsmMaskBounds {
    int nx, ny;                // cells
    float x0, y0, dx, dy;      // m
    const float *top, *bottom; // NULL = open
} TwsmMaskBounds;

// An upright box around elements, m.
typedef struct TwsmBox {
    float lo[3], hi[3];
} TwsmBox;

// Largest bound over the cells ix[0]..ix[1], iy[0]..iy[1]: of at most 8 x 8 squares of one level,
// so that little beside the cells is in them.
TWSM_INLINE float twsm_mask_bound(const TwsmMaskBounds *m, const float *at, const int ix[2],
                                  const int iy[2])
{
    int level = 0, nx = m->nx, ny = m->ny;
    while ((ix[1] >> level) - (ix[0] >> level) > 7 || (iy[1] >> level) - (iy[0] >> level) > 7) {
        at += nx * ny;
        nx = (nx + 1) / 2, ny = (ny + 1) / 2;
        level++;
    }
    float upper = at[(iy[0] >> level) * nx + (ix[0] >> level)];
    for (int y = iy[0] >> level; y <= iy[1] >> level; y++)
        for (int x = ix[0] >> level; x <= ix[1] >> level; x++)
            upper = fmaxf(upper, at[y * nx + x]);
    return upper;
}

TWSM_INLINE int twsm_mask_cell(float x, float x0, float dx, int n)
{
    return (int)fminf(fmaxf((x - x0) / dx, 0.0f), n - 0.001f);
}

// Whether sample `k` (1..TWSM_MASK_SAMPLES) of every way from a point in `a` to one in `b` is
// inside the layer: it lies in the box of that sample of the boxes' corners.
TWSM_INLINE int twsm_mask_clear(const TwsmMaskBounds *m, const TwsmBox *a, const TwsmBox *b, int k)
{
    float f = k / (TWSM_MASK_SAMPLES + 1.0f), lo[3], hi[3];
    for (int c = 0; c < 3; c++) {
        lo[c] = a->lo[c] + f * (b->lo[c] - a->lo[c]);
        hi[c] = a->hi[c] + f * (b->hi[c] - a->hi[c]);
    }
    const int ix[2] = {twsm_mask_cell(lo[0], m->x0, m->dx, m->nx),
                       twsm_mask_cell(hi[0], m->x0, m->dx, m->nx)};
    const int iy[2] = {twsm_mask_cell(lo[1], m->y0, m->dy, m->ny),
                       twsm_mask_cell(hi[1], m->y0, m->dy, m->ny)};
    return (!m->top || twsm_mask_bound(m, m->top, ix, iy) <= lo[2]) &&
           (!m->bottom || twsm_mask_bound(m, m->bottom, ix, iy) <= -hi[2]);
}
