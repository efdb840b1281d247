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

// A box around elements, m, and their range of z - slope x: neighbours on a dipping boundary fill
// little of an upright box. A straight way stays straight when z is sheared.
typedef struct TwsmBox {
    float lo[3], hi[3];
    float slope, sheared[2];
} TwsmBox;

// A box of no elements, for some of which `a` and `b` are far apart.
TWSM_INLINE TwsmBox twsm_box(const float a[3], const float b[3])
{
    float dx = b[0] - a[0], slope = fabsf(dx) > 1e-3f ? (b[2] - a[2]) / dx : 0.0f;
    TwsmBox box = {{1e30f, 1e30f, 1e30f},
                   {-1e30f, -1e30f, -1e30f},
                   fabsf(slope) < 2.0f ? slope : 0.0f,
                   {1e30f, -1e30f}};
    return box;
}

TWSM_INLINE void twsm_box_add(TwsmBox *box, float x, float y, float z)
{
    float sheared = z - box->slope * x;
    box->lo[0] = fminf(box->lo[0], x), box->hi[0] = fmaxf(box->hi[0], x);
    box->lo[1] = fminf(box->lo[1], y), box->hi[1] = fmaxf(box->hi[1], y);
    box->lo[2] = fminf(box->lo[2], z), box->hi[2] = fmaxf(box->hi[2], z);
    box->sheared[0] = fminf(box->sheared[0], sheared);
    box->sheared[1] = fmaxf(box->sheared[1], sheared);
}

// Range of z - slope x.
TWSM_INLINE void twsm_box_shear(const TwsmBox *box, float slope, float range[2])
{
    float p = slope * box->lo[0], q = slope * box->hi[0];
    range[0] = slope == box->slope ? box->sheared[0] : box->lo[2] - fmaxf(p, q);
    range[1] = slope == box->slope ? box->sheared[1] : box->hi[2] - fminf(p, q);
}

// Cells that a sample may lie in, and the columns of them that are this thread's: part, part +
// parts, ...
typedef struct TwsmMaskCells {
    int x[2], y[2], part, parts;
} TwsmMaskCells;

// Largest bound + rise x over the cells: of at most 8 x 8 squares of one level, so that little
// beside the cells is in them.
TWSM_INLINE float twsm_mask_bound(const TwsmMaskBounds *m, const float *at, const TwsmMaskCells *c,
                                  float rise)
{
    int level = 0, nx = m->nx, ny = m->ny;
    while ((c->x[1] >> level) - (c->x[0] >> level) > 7 ||
           (c->y[1] >> level) - (c->y[0] >> level) > 7) {
        at += nx * ny;
        nx = (nx + 1) / 2, ny = (ny + 1) / 2;
        level++;
    }
    float upper = -1e30f, side = rise * m->dx * (float)(1 << level);
    for (int x = (c->x[0] >> level) + c->part; x <= c->x[1] >> level; x += c->parts) {
        float most = rise * m->x0 + side * (float)x + fmaxf(side, 0.0f);
        for (int y = c->y[0] >> level; y <= c->y[1] >> level; y++)
            upper = fmaxf(upper, at[y * nx + x] + most);
    }
    return upper;
}

TWSM_INLINE int twsm_mask_cell(float x, float x0, float dx, int n)
{
    return (int)fminf(fmaxf((x - x0) / dx, 0.0f), n - 0.001f);
}

// TRUE when sample `k` (1..TWSM_MASK_SAMPLES) of every way from a point in `a` to one in `b` is
// inside the layer: it lies in the box of that sample of the boxes' corners. `down`: `a` is on the
// layer's top. The answers of all `parts` together are the answer.
TWSM_INLINE int twsm_mask_clear(const TwsmMaskBounds *m, const TwsmBox *a, const TwsmBox *b,
                                int down, int k, int part, int parts)
{
    float f = k / (TWSM_MASK_SAMPLES + 1.0f), from[2], to[2];
    TwsmMaskCells c;
    c.part = part, c.parts = parts;
    c.x[0] = twsm_mask_cell(a->lo[0] + f * (b->lo[0] - a->lo[0]), m->x0, m->dx, m->nx);
    c.x[1] = twsm_mask_cell(a->hi[0] + f * (b->hi[0] - a->hi[0]), m->x0, m->dx, m->nx);
    c.y[0] = twsm_mask_cell(a->lo[1] + f * (b->lo[1] - a->lo[1]), m->y0, m->dy, m->ny);
    c.y[1] = twsm_mask_cell(a->hi[1] + f * (b->hi[1] - a->hi[1]), m->y0, m->dy, m->ny);
    // Beyond the grid its edge goes on level: there a shear would bound nothing.
    float inside = fminf(a->lo[0], b->lo[0]) >= m->x0 &&
                   fmaxf(a->hi[0], b->hi[0]) <= m->x0 + (float)m->nx * m->dx;
    if (m->top) {
        float slope = inside * (down ? a->slope : b->slope);
        twsm_box_shear(a, slope, from);
        twsm_box_shear(b, slope, to);
        if (twsm_mask_bound(m, m->top, &c, -slope) > from[0] + f * (to[0] - from[0]))
            return 0;
    }
    if (m->bottom) {
        float slope = inside * (down ? b->slope : a->slope);
        twsm_box_shear(a, slope, from);
        twsm_box_shear(b, slope, to);
        if (twsm_mask_bound(m, m->bottom, &c, slope) > -(from[1] + f * (to[1] - from[1])))
            return 0;
    }
    return 1;
}
