// SPDX-License-Identifier: GPL-3.0-or-later
//
// Geometry from a cube's grid: linked into the program and into the CUDA module.
#include <string.h>

#include "core/memory.h"
#include "kernels/common/alone.h"
#include "kernels/fx/fx.h"

// Few events with few dips lie in a short window, and filters of the window's own suit these
// events; the window's spectrum must still tell a period of the signal from the next. A depth axis
// has as many periods in 0.25 km, at 3 km/s.
#define TIME_WINDOW 0.16  // s
#define DEPTH_WINDOW 0.25 // km

static double step_of(const LithoGrid *grid)
{
    return fabs(grid->axis[2].step) / (grid->is_depth ? 1000 : 1);
}

LithoFxParams litho_fx_in_use(const LithoGrid *grid, const LithoFxParams *params)
{
    LithoFxParams p = *params;
    const double samples = (grid->is_depth ? DEPTH_WINDOW : TIME_WINDOW) / step_of(grid);
    if (p.time_window == 0)
        p.time_window = isfinite(samples) ? (int)CLAMP(rint(samples), 16, 1 << 20) : 40;
    if (p.time_overlap == LITHO_FX_HALF)
        p.time_overlap = p.time_window / 2;
    return p;
}

LithoFxGeometry litho_fx_grid_geometry(const LithoGrid *grid, const LithoFxParams *params)
{
    const int n[3] = {(int)grid->axis[0].n, (int)grid->axis[1].n, (int)grid->axis[2].n};
    const LithoFxParams p = litho_fx_in_use(grid, params);
    return litho_fx_geometry(n, step_of(grid), &p);
}

// Ramps are summed once a sample, not once a window that holds it: windows that overlap by all but
// a sample are as many as there are samples.
float *litho_fx_weights(LithoFxAxis axis, GError **error)
{
    const gsize n = (gsize)axis.count * axis.length;
    float *weights = litho_memory_new(n, sizeof *weights, "blending weights", error);
    g_autofree float *sums =
        weights ? litho_memory_new(axis.n, sizeof *sums, "blending weights", error) : NULL;
    if (!sums) {
        g_free(weights);
        return NULL;
    }
    for (int i = 0; i < axis.n; i++)
        sums[i] = litho_fx_ramps(axis, i);
    for (int k = 0; k < axis.count; k++) {
        const int start = litho_fx_start(axis, k);
        for (int t = 0; t < axis.length; t++)
            weights[(gsize)k * axis.length + t] =
                litho_fx_ramp(axis, k, start + t) / sums[start + t];
    }
    return weights;
}

LithoCleanRule litho_fx_clean_rule(const LithoFxParams *p)
{
    return (LithoCleanRule){.above = p->erratic,
                            .missing =
                                p->fill_passes > 0 ? LITHO_CLEAN_GUESSED : LITHO_CLEAN_ABSENT,
                            .spare_events = TRUE,
                            // One recorded trace in a window serves a guess: filters fitted to a
                            // few recorded traces alone predict worse than guesses, on a noisy line
                            // worse than zeros. Regular gaps are guessed to be filled.
                            .gaps = {.faint = !p->fill_dead}};
}

gboolean litho_fx_alone(const LithoCube *raw, const LithoFxGeometry *g, LithoBox region,
                        guint8 **alone, GError **error)
{
    const LithoAround around = {.half = {g->half[0], g->half[1]},
                                .inside = {g->axis[0].n, g->axis[1].n},
                                .fewest = litho_fx_fewest(g)};
    *alone = NULL;
    return around.fewest == 0 || litho_alone(raw, region, around, alone, error);
}

gboolean litho_fx_leaves_gaps(const LithoCube *out, LithoBox region)
{
    for (gint64 il = region.lo[0]; il < region.hi[0]; il++)
        if (memchr(out->live + litho_cube_trace_index(out, il, region.lo[1]), 0,
                   litho_box_size(region, 1)))
            return TRUE;
    return FALSE;
}

LithoBox litho_fx_input_box(const LithoGrid *in, const void *params, LithoBox region)
{
    const LithoFxParams *p = params;
    LithoFxGeometry g = litho_fx_grid_geometry(in, params);
    LithoBox box = region;
    if (litho_box_empty(region))
        return box;
    for (int a = 0; a < 3; a++) {
        int from, to;
        litho_fx_needs(g.axis[a], a < 2 ? g.halo : 0, (int)region.lo[a], (int)region.hi[a], &from,
                       &to);
        box.lo[a] = from;
        box.hi[a] = to;
    }
    return litho_clean_box(in, litho_fx_clean_rule(p), box);
}
