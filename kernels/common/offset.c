// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/common/offset.h"

#include <math.h>

typedef struct Sums {
    double n, sum, squares; // of samples less `from`
} Sums;

static gboolean counts(const LithoCube *cube, const guint8 *recorded, gint64 i, gint64 j)
{
    return litho_cube_is_live(cube, i, j) &&
           (!recorded || recorded[litho_cube_trace_index(cube, i, j)]);
}

static Sums sums_of(const LithoCube *cube, const guint8 *recorded, LithoBox box, double from)
{
    Sums s = {0};
    for (gint64 i = box.lo[0]; i < box.hi[0]; i++)
        for (gint64 j = box.lo[1]; j < box.hi[1]; j++) {
            const float *x = litho_cube_trace(cube, i, j) - cube->held.lo[2];
            if (!counts(cube, recorded, i, j))
                continue;
            for (gint64 t = box.lo[2]; t < box.hi[2]; t++) {
                const double off = x[t] - from;
                if (x[t] == 0 || !isfinite(x[t]))
                    continue;
                s.n++;
                s.sum += off;
                s.squares += off * off;
            }
        }
    return s;
}

LithoCube *litho_offset_without(const LithoCube *cube, const guint8 *recorded, LithoBox box,
                                double above, GError **error)
{
    const double strayed = fmax(1.1 / (above * above), 0.01); // differences are exact enough
    const Sums all = sums_of(cube, recorded, box, 0);
    const double squared = all.n > 0 ? all.sum / all.n * (all.sum / all.n) : 0;
    if (!(squared > 0) || all.squares / all.n > (1 + strayed) * squared)
        return NULL;
    const float offset = (float)(all.sum / all.n);
    const Sums rest = sums_of(cube, recorded, box, offset);
    if (!isfinite(offset) || rest.squares / rest.n * above * above > squared)
        return NULL;
    LithoCube *without = litho_cube_copy_box(cube, cube->held, error);
    const gint64 n = without ? litho_cube_held_samples(without) : 0;
    for (gint64 k = 0; k < n; k++)
        without->samples[k] -= without->samples[k] != 0 ? offset : 0;
    return without;
}

double litho_offset_of(const LithoCube *cube, LithoBox box)
{
    const Sums all = sums_of(cube, NULL, box, 0);
    const double mean = all.n > 0 ? all.sum / all.n : 0;
    const Sums rest = sums_of(cube, NULL, box, mean);
    return rest.squares > 0 ? mean / sqrt(rest.squares / rest.n) : 0;
}

gboolean litho_offset_leaves_any(const LithoCube *cube, const guint8 *recorded)
{
    const LithoBox held = cube->held;
    for (gint64 i = held.lo[0]; i < held.hi[0]; i++)
        for (gint64 j = held.lo[1]; j < held.hi[1]; j++) {
            const float *x = litho_cube_trace(cube, i, j);
            const gint64 n = counts(cube, recorded, i, j) ? litho_box_size(held, 2) : 0;
            for (gint64 t = 0; t < n; t++)
                if (x[t] != 0 && isfinite(x[t]))
                    return TRUE;
        }
    return FALSE;
}
