// SPDX-License-Identifier: GPL-3.0-or-later
//
// Geometry from a cube's grid: linked into the program and into the CUDA module.
#include "kernels/patch/erratic.h"

enum { BLOCK = 256, AROUND = 32 };

LithoPatchGeometry litho_patch_grid_geometry(const LithoGrid *grid, const LithoPatchParams *params)
{
    const int n[3] = {(int)grid->axis[0].n, (int)grid->axis[1].n, (int)grid->axis[2].n};
    return litho_patch_geometry(n, params);
}

LithoPatchBlocks litho_patch_blocks(const LithoGrid *grid)
{
    LithoPatchBlocks b;
    for (int a = 0; a < 2; a++)
        b.n[a] = (int)MAX((grid->axis[a].n + BLOCK / 2) / BLOCK, 1);
    return b;
}

LithoBox litho_patch_block(const LithoGrid *grid, int i, int j)
{
    const LithoPatchBlocks b = litho_patch_blocks(grid);
    const int at[2] = {i, j};
    LithoBox box = litho_box_full(grid);
    for (int a = 0; a < 2; a++) {
        box.lo[a] = grid->axis[a].n * at[a] / b.n[a];
        box.hi[a] = grid->axis[a].n * (at[a] + 1) / b.n[a];
    }
    return box;
}

LithoBox litho_patch_block_frame(const LithoGrid *grid, int i, int j)
{
    return litho_box_grow(grid, litho_patch_block(grid, i, j),
                          (const gint64[3]){AROUND, AROUND, 0});
}

double litho_patch_fill_level(const LithoPatchParams *params, int k)
{
    return params->iterations > 1 ? pow(params->floor, k / (params->iterations - 1.0))
                                  : params->floor;
}

static LithoBox fill_box(const LithoGrid *in, LithoBox region)
{
    const LithoPatchBlocks b = litho_patch_blocks(in);
    LithoBox box = {0};
    for (int i = 0; i < b.n[0]; i++)
        for (int j = 0; j < b.n[1]; j++)
            if (!litho_box_empty(litho_box_intersect(litho_patch_block(in, i, j), region)))
                box = litho_box_union(box, litho_patch_block_frame(in, i, j));
    return box;
}

LithoBox litho_patch_with_erratic(const LithoGrid *in, const LithoPatchParams *p, LithoBox box)
{
    const gint64 around[3] = {LITHO_PATCH_ERRATIC_TRACES, LITHO_PATCH_ERRATIC_TRACES,
                              LITHO_PATCH_ERRATIC_SAMPLES};
    return p->erratic > 0 && p->mode != LITHO_PATCH_FILL ? litho_box_grow(in, box, around) : box;
}

LithoBox litho_patch_input_box(const LithoGrid *in, const void *params, LithoBox region)
{
    const LithoPatchParams *p = params;
    const LithoPatchGeometry g = litho_patch_grid_geometry(in, p);
    LithoBox box = region;
    if (litho_box_empty(region))
        return box;
    if (p->mode != LITHO_PATCH_DENOISE)
        return litho_patch_with_erratic(in, p, fill_box(in, region));
    for (int a = 0; a < 3; a++) {
        int from, to;
        litho_patch_needs(g.axis[a], a == 2, (int)region.lo[a], (int)region.hi[a], &from, &to);
        box.lo[a] = from;
        box.hi[a] = to;
    }
    return litho_patch_with_erratic(in, p, box);
}
