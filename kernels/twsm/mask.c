// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/twsm/mask.h"

#include <math.h>

void twsm_mask_free(TwsmMask *mask)
{
    if (!mask)
        return;
    g_free(mask->top);
    g_free(mask->bottom);
    g_free((float *)mask->bounds.top);
    g_free((float *)mask->bounds.bottom);
    g_free(mask);
}

// --- bounds -----------------------------------------------------------------------------------

static gsize bounds_size(int nx, int ny)
{
    gsize n = (gsize)nx * ny;
    for (; nx > 1 || ny > 1; n += (gsize)nx * ny)
        nx = (nx + 1) / 2, ny = (ny + 1) / 2;
    return n;
}

// Level 0 from the four corners of every cell, each further level from the one before.
static float *bounds_of(const TwsmMask *mask, const float *z, float sign)
{
    int nx = mask->nx - 1, ny = mask->ny - 1;
    float *all = g_new(float, bounds_size(nx, ny)), *at = all;
    for (int iy = 0; iy < ny; iy++)
        for (int ix = 0; ix < nx; ix++) {
            const float *c = z + (gsize)iy * mask->nx + ix, *d = c + mask->nx;
            at[iy * nx + ix] = MAX(MAX(sign * c[0], sign * c[1]), MAX(sign * d[0], sign * d[1]));
        }
    while (nx > 1 || ny > 1) {
        int half_x = (nx + 1) / 2, half_y = (ny + 1) / 2;
        float *next = at + (gsize)nx * ny;
        for (int iy = 0; iy < half_y; iy++)
            for (int ix = 0; ix < half_x; ix++) {
                int x1 = MIN(2 * ix + 1, nx - 1), y0 = 2 * iy, y1 = MIN(2 * iy + 1, ny - 1);
                next[iy * half_x + ix] = MAX(MAX(at[y0 * nx + 2 * ix], at[y0 * nx + x1]),
                                             MAX(at[y1 * nx + 2 * ix], at[y1 * nx + x1]));
            }
        at = next, nx = half_x, ny = half_y;
    }
    return all;
}

void twsm_mask_finish(TwsmMask *mask)
{
    mask->n_bounds = bounds_size(mask->nx - 1, mask->ny - 1);
    mask->bounds = (TwsmMaskBounds){mask->nx - 1,
                                    mask->ny - 1,
                                    mask->x0,
                                    mask->y0,
                                    mask->dx,
                                    mask->dy,
                                    mask->top ? bounds_of(mask, mask->top, 1) : NULL,
                                    mask->bottom ? bounds_of(mask, mask->bottom, -1) : NULL};
}

gboolean twsm_mask_box_clear(const TwsmMask *mask, const TwsmBox *a, const TwsmBox *b,
                             gboolean down)
{
    for (int k = 1; k <= TWSM_MASK_SAMPLES; k++)
        if (!twsm_mask_clear(&mask->bounds, a, b, down, k, 0, 1))
            return FALSE;
    return TRUE;
}

// --- one way ----------------------------------------------------------------------------------

static float mask_depth(const TwsmMask *mask, const float *z, float x, float y)
{
    float u = (x - mask->x0) / mask->dx, v = (y - mask->y0) / mask->dy;
    u = CLAMP(u, 0, mask->nx - 1.001f), v = CLAMP(v, 0, mask->ny - 1.001f);
    int ix = (int)u, iy = (int)v;
    const float *at = z + iy * mask->nx + ix;
    u -= ix, v -= iy;
    return (1 - v) * ((1 - u) * at[0] + u * at[1]) +
           v * ((1 - u) * at[mask->nx] + u * at[mask->nx + 1]);
}

float twsm_mask_at(const TwsmMask *mask, const float a[3], const float b[3])
{
    float d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    float deepest = -INFINITY; // how far the segment leaves the layer; negative: how clear it is
    for (int k = 1; k <= TWSM_MASK_SAMPLES; k++) {
        float f = k / (TWSM_MASK_SAMPLES + 1.0f), x = a[0] + f * d[0], y = a[1] + f * d[1],
              z = a[2] + f * d[2];
        if (mask->top)
            deepest = MAX(deepest, mask_depth(mask, mask->top, x, y) - z);
        if (mask->bottom)
            deepest = MAX(deepest, z - mask_depth(mask, mask->bottom, x, y));
    }
    // Every way begins and ends on a boundary, so clearance says nothing: only a way that does
    // leave the layer fades, over `soft`. A millimetre is rounding.
    float soft = mask->soft * sqrtf(sqrtf(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
    if (deepest <= 1e-3f || soft <= 0)
        return deepest > 1e-3f ? 0 : 1;
    return deepest < soft ? 0.5f + 0.5f * cosf((float)G_PI * deepest / soft) : 0;
}
