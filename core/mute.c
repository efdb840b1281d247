// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/mute.h"

#include <math.h>
#include <string.h>

LithoBox litho_mute_box(const LithoGrid *grid, LithoBox region)
{
    return litho_box_grow(grid, region, (const gint64[3]){0, 0, LITHO_MUTE_RUN - 1});
}

static gboolean is_missing(const float *x, gint64 n)
{
    for (gint64 k = 0; k < n; k++)
        if (isfinite(x[k]) && x[k] != 0)
            return FALSE;
    return TRUE;
}

// One trace: samples [lo, hi) of `to`, which begins at sample lo, where `from`, which begins at
// sample `first`, is muted. Samples [near, far) are looked at, `n` are in the whole trace.
static void keep_trace(const float *from, gint64 first, float *to, gint64 lo, gint64 hi,
                       gint64 near, gint64 far, gint64 n)
{
    for (gint64 t = near; t < far;) {
        if (from[t - first] != 0) {
            t++;
            continue;
        }
        const gint64 begin = t;
        while (t < far && from[t - first] == 0)
            t++;
        // A run that is cut off by what is looked at is long enough where it meets [lo, hi).
        const gboolean muted = begin == 0 || t == n || t - begin >= LITHO_MUTE_RUN;
        const gint64 a = MAX(begin, lo), b = MIN(t, hi);
        if (muted && a < b)
            memset(to + (a - lo), 0, (gsize)(b - a) * sizeof *to);
    }
}

void litho_mute_trace(const float *from, gint64 n, float *to)
{
    keep_trace(from, 0, to, 0, n, 0, n, n);
}

void litho_mute_keep(const LithoCube *in, LithoCube *out, LithoBox region, int threads)
{
    const gint64 lo = region.lo[2], hi = region.hi[2], n = in->grid.axis[2].n;
    const gint64 n_xl = litho_box_size(region, 1), traces = n_xl * litho_box_size(region, 0);
    const gboolean whole = litho_box_size(in->held, 2) == n;
    const LithoBox looked_at = litho_mute_box(&in->grid, region);
#pragma omp parallel for num_threads(threads)
    for (gint64 k = 0; k < traces; k++) {
        const gint64 i = region.lo[0] + k / n_xl, j = region.lo[1] + k % n_xl;
        const float *from = litho_cube_trace(in, i, j);
        if (litho_cube_is_live(in, i, j) && !(whole && is_missing(from, n)))
            keep_trace(from, in->held.lo[2],
                       litho_cube_trace(out, i, j) + (lo - out->held.lo[2]), lo, hi,
                       looked_at.lo[2], looked_at.hi[2], n);
    }
}
