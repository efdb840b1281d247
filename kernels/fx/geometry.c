// SPDX-License-Identifier: GPL-3.0-or-later
//
// Geometry from a cube's grid: linked into the program and into the CUDA module.
#include "kernels/fx/fx.h"

LithoFxGeometry litho_fx_grid_geometry(const LithoGrid *grid, const LithoFxParams *params)
{
    const int n[3] = {(int)grid->axis[0].n, (int)grid->axis[1].n, (int)grid->axis[2].n};
    double step = fabs(grid->axis[2].step);
    return litho_fx_geometry(n, grid->is_depth ? step / 1000 : step, params);
}

LithoCleanRule litho_fx_clean_rule(const LithoFxParams *p)
{
    return (LithoCleanRule){
        .above = p->erratic,
        .missing = p->fill_passes > 0 ? LITHO_CLEAN_GUESSED : LITHO_CLEAN_ABSENT,
        .spare_events = TRUE};
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
