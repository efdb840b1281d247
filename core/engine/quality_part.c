// SPDX-License-Identifier: GPL-3.0-or-later
//
// Parts of a survey that figures are told of, and the samples that they depend on.
#include <string.h>

#include "core/engine/quality.h"
#include "core/error.h"
#include "core/walk.h"

// The grid of the samples in `box`: axes and coordinates begin there.
static LithoGrid grid_of_box(const LithoGrid *grid, LithoBox box)
{
    LithoGrid part = *grid;
    for (int a = 0; a < 3; a++) {
        part.axis[a].n = litho_box_size(box, a);
        part.axis[a].first = litho_axis_value(&grid->axis[a], (double)box.lo[a]);
    }
    for (int c = 0; c < 2; c++)
        part.origin[c] += box.lo[0] * grid->inline_step[c] + box.lo[1] * grid->xline_step[c];
    return part;
}

LithoCube *litho_quality_cut(const LithoCube *cube, LithoBox box, GError **error)
{
    if (!litho_box_contains(cube->held, box)) {
        litho_refuse(error, LITHO_ERROR_GEOMETRY, "the cube does not hold the area");
        return NULL;
    }
    g_autoptr(LithoCube) part = litho_cube_copy_box(cube, box, error);
    if (!part)
        return NULL;
    const LithoGrid grid = grid_of_box(&cube->grid, box);
    LithoCube *cut = litho_cube_new(&grid, error);
    if (!cut)
        return NULL;
    memcpy(cut->samples, part->samples, (gsize)litho_box_count(box) * sizeof(float));
    memcpy(cut->live, part->live, (gsize)litho_grid_traces(&grid));
    g_strlcpy(cut->name, cube->name, sizeof cut->name);
    return cut;
}

// An area of a flow that takes a survey as a whole, and the lines beside it. The faces of a cut are
// not those of the survey: packets of 24 x 28 traces at 10 dB came out with 1.1 to 4.1 dB less than
// in the whole survey, with these lines with 0.1 less.
static LithoBox with_edges(LithoBox area, LithoBox within)
{
    enum { EDGE = 12 };
    for (int a = 0; a < 3; a++) {
        area.lo[a] -= EDGE;
        area.hi[a] += EDGE;
    }
    return litho_box_intersect(area, within);
}

// Whole blocks: a slightly larger halo does not ask for others.
gboolean litho_quality_need(const LithoFlow *flow, const LithoGrid *grid, LithoBox area,
                            LithoBox *need, GError **error)
{
    enum { BLOCK = 32 };
    *need = area;
    if (!litho_flow_is_local(flow)) {
        *need = with_edges(area, litho_box_full(grid));
        return TRUE;
    }
    if (!litho_walk_input_box(flow, grid, area, NULL, need, error))
        return FALSE;
    *need = litho_box_union(*need, area);
    for (int a = 0; a < 3; a++) {
        need->lo[a] = need->lo[a] < 0 ? 0 : need->lo[a] / BLOCK * BLOCK;
        need->hi[a] = (need->hi[a] + BLOCK - 1) / BLOCK * BLOCK;
    }
    *need = litho_box_intersect(*need, litho_box_full(grid));
    return TRUE;
}

// The largest part of at most `most` samples that is at most `computed` with its edges: noise of a
// part is known the better, the more samples it has.
static LithoBox with_room(LithoBox area, gint64 most, gint64 computed)
{
    enum { TRIES = 20 };
    if (litho_box_count(area) <= computed)
        return area;
    double low = (double)most / 4, high = (double)most;
    for (int k = 0; k < TRIES; k++) {
        const double middle = (low + high) / 2;
        const LithoBox part = litho_quality_part(area, (gint64)middle);
        const gboolean fits = litho_box_count(with_edges(part, area)) <= computed;
        *(fits ? &low : &high) = middle;
    }
    return litho_quality_part(area, (gint64)low);
}

// The energy of white noise scatters by 0.07 % on four million samples, by 0.28 % on a quarter of a
// million: where a filter leaves 2 % of it that is 0.15 and 0.6 dB.
LithoBox litho_quality_area(const LithoFlow *flow, LithoBox area)
{
    enum { MOST = 1 << 22, COMPUTED = 5 << 20 };
    return litho_flow_is_local(flow) ? litho_quality_part(area, MOST)
                                     : with_room(area, MOST, COMPUTED);
}

LithoBox litho_quality_choosing(const LithoFlow *flow, LithoBox area)
{
    enum { MOST = 1 << 20, COMPUTED = 5 << 18, PART = 4, LEAST = 1 << 17 };
    if (!litho_flow_is_local(flow))
        return with_room(area, MOST, COMPUTED);
    const LithoBox part = litho_quality_part(area, MIN(litho_box_count(area), MOST) / PART);
    const gboolean small =
        litho_box_count(part) < LEAST || 2 * litho_box_count(part) > litho_box_count(area);
    return small ? area : part;
}

LithoBox litho_quality_part(LithoBox area, gint64 samples)
{
    enum { SIDE = 16 };
    while (litho_box_count(area) > samples) {
        // Halve the widest of the three, the time axis only when the others are thin.
        int axis = litho_box_size(area, 0) >= litho_box_size(area, 1) ? 0 : 1;
        if (litho_box_size(area, axis) <= SIDE)
            axis = LITHO_SAMPLE;
        const gint64 n = litho_box_size(area, axis), other = litho_box_count(area) / n;
        const gint64 least = axis == LITHO_SAMPLE ? 64 : SIDE;
        const gint64 keep = MAX(MAX(n / 2, MIN(samples / other, n - 1)), least);
        if (keep >= n)
            break;
        area.lo[axis] += (n - keep) / 2;
        area.hi[axis] = area.lo[axis] + keep;
    }
    return area;
}
