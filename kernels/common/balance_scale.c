// SPDX-License-Identifier: GPL-3.0-or-later
//
// Numbers of the traces, traces over their gains, and times them.
#include <math.h>

#include "kernels/common/balance.h"

static float *new_numbers(gint64 n)
{
    float *to = g_new(float, MAX(n, 1));
    for (gint64 k = 0; k < n; k++)
        to[k] = 1;
    return to;
}

void litho_uneven_begin(LithoUneven *uneven, LithoScatter scatter, gint64 traces)
{
    *uneven =
        (LithoUneven){.gain = scatter.gains > 0 || scatter.reversed ? new_numbers(traces) : NULL,
                      .share = scatter.noise > 0 ? new_numbers(traces) : NULL};
}

void litho_uneven_clear(LithoUneven *uneven)
{
    g_free(uneven->gain);
    g_free(uneven->share);
    *uneven = (LithoUneven){0};
}

static void scale(LithoCube *cube, LithoBox box, const float *gain, gboolean divide,
                  G_GNUC_UNUSED LithoRun *run)
{
    const gint64 nx = cube->grid.axis[1].n;
#pragma omp parallel for schedule(static) num_threads(litho_run_threads(run))
    for (gint64 il = box.lo[0]; il < box.hi[0]; il++)
        for (gint64 xl = box.lo[1]; xl < box.hi[1]; xl++) {
            const float own = gain[il * nx + xl], by = divide ? 1 / own : own;
            float *trace = litho_cube_trace(cube, il, xl) - cube->held.lo[2];
            for (gint64 t = box.lo[2]; own != 1 && t < box.hi[2]; t++)
                trace[t] *= by;
        }
}

LithoCube *litho_balance_divide(const LithoCube *cube, const float *gain, LithoRun *run,
                                GError **error)
{
    LithoCube *copy = litho_cube_copy_box(cube, cube->held, error);
    if (copy)
        scale(copy, copy->held, gain, TRUE, run);
    return copy;
}

void litho_balance_multiply(LithoCube *cube, LithoBox box, const float *gain, LithoRun *run)
{
    scale(cube, box, gain, FALSE, run);
}

void litho_balance_multiply_level(LithoCube *cube, LithoBox box, const float *gain, LithoRun *run)
{
    const gint64 n = litho_grid_traces(&cube->grid);
    g_autofree float *magnitude = g_new(float, n);
    for (gint64 k = 0; k < n; k++)
        magnitude[k] = fabsf(gain[k]);
    scale(cube, box, magnitude, FALSE, run);
}
