// SPDX-License-Identifier: GPL-3.0-or-later
//
// Geometry from a cube's grid: linked into the program and into the CUDA module.
#include "kernels/common/erratic.h"
#include "kernels/patch/choice_dense.h"
#include "kernels/patch/choice_lines.h"
#include "kernels/patch/faults.h"
#include "kernels/patch/patch.h"
#include "kernels/patch/structure.h"

enum { BLOCK = 256, AROUND = 32 };
// Narrow surveys have fewer lines along an axis. LONGEST: the level of longer windows is told
// otherwise (kernels/common/noise.h), and is too high below dense events of a line.
enum { NARROW = 8, LONGEST = 30 };
// Events of lines are too few coefficients for windows of 16 traces and 16 samples of 4 ms: windows
// of narrow surveys have half as many again. Along time, of each of the samples of `window`: 96 ms
// of 16.
static const double SAMPLE_S = 0.006, MORE = 1.5;

static int even(double x)
{
    return 2 * (int)(x / 2 + 0.5);
}

int litho_patch_grid_window(const LithoGrid *grid, const LithoPatchParams *p, int axis)
{
    const int asked[] = {p->window_il, p->window_xl, p->window_t};
    const int own = litho_patch_window_length(p, axis);
    const double step = fabs(grid->axis[2].step);
    if (asked[axis] > 0 || MIN(grid->axis[0].n, grid->axis[1].n) >= NARROW)
        return own;
    if (axis < 2)
        return grid->axis[axis].n < NARROW ? own : MIN(even(own * MORE), LITHO_PATCH_MAX_WINDOW);
    const double more = grid->is_depth || !(step > 0) ? MORE : SAMPLE_S / step;
    return MAX(own, even(fmin(own * more, LONGEST)));
}

LithoPatchParams litho_patch_at_most(const LithoGrid *grid, const LithoPatchParams *params)
{
    LithoPatchParams own = *params;
    if (litho_patch_may_be_wide(grid, params)) {
        own.window = LITHO_PATCH_WIDE;
        const int dense = patch_dense_most(grid);
        if (dense > 1)
            own.window_t = litho_patch_dense_length(LITHO_PATCH_WIDE, dense);
    }
    if (patch_lines_choose(grid, params))
        own = patch_lines_at_most(grid, params);
    return own;
}

LithoPatchGeometry litho_patch_grid_geometry(const LithoGrid *grid, const LithoPatchParams *params)
{
    const int n[3] = {(int)grid->axis[0].n, (int)grid->axis[1].n, (int)grid->axis[2].n};
    LithoPatchParams own = *params;
    own.window_il = litho_patch_grid_window(grid, params, 0);
    own.window_xl = litho_patch_grid_window(grid, params, 1);
    own.window_t = litho_patch_grid_window(grid, params, 2);
    return litho_patch_geometry(n, &own);
}

LithoPatchBlocks litho_patch_blocks(const LithoGrid *grid)
{
    LithoPatchBlocks b;
    for (int a = 0; a < 2; a++) {
        const gint64 n = grid->axis[a].n, about = MAX((n + BLOCK / 2) / BLOCK, 1);
        b.traces[a] = MAX((n + about - 1) / about, 1);
        b.n[a] = (int)((n + b.traces[a] - 1) / b.traces[a]);
    }
    return b;
}

LithoBox litho_patch_block(const LithoGrid *grid, int i, int j)
{
    const LithoPatchBlocks b = litho_patch_blocks(grid);
    const int at[2] = {i, j};
    LithoBox box = litho_box_full(grid);
    for (int a = 0; a < 2; a++) {
        box.lo[a] = b.traces[a] * at[a];
        box.hi[a] = MIN(box.lo[a] + b.traces[a], grid->axis[a].n);
    }
    return box;
}

LithoBox litho_patch_block_frame(const LithoGrid *grid, int i, int j)
{
    return litho_box_grow(grid, litho_patch_block(grid, i, j),
                          (const gint64[3]){AROUND, AROUND, 0});
}

LithoBox litho_patch_largest_frame(const LithoGrid *grid)
{
    const LithoPatchBlocks b = litho_patch_blocks(grid);
    return litho_patch_block_frame(grid, b.n[0] > 2 ? 1 : 0, b.n[1] > 2 ? 1 : 0);
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

LithoCleanRule litho_patch_clean_rule(const LithoPatchParams *p)
{
    return (LithoCleanRule){
        .above = p->erratic, .missing = LITHO_CLEAN_GUESSED, .spare_events = TRUE};
}

LithoBox litho_patch_with_erratic(const LithoGrid *in, const LithoPatchParams *p, LithoBox box)
{
    return litho_clean_box(in, litho_patch_clean_rule(p), box);
}

LithoBox litho_patch_first_pass(const LithoPatchGeometry *g, const LithoPatchParams *p,
                                LithoBox region)
{
    const LithoPatchGeometry small = litho_patch_fault_geometry(g);
    LithoBox box = region;
    for (int a = 0; a < 3 && litho_patch_keeps_faults(g, p); a++) {
        int from, to;
        litho_patch_fault_needs(&small, a, (int)region.lo[a], (int)region.hi[a], &from, &to);
        box.lo[a] = from;
        box.hi[a] = to;
    }
    return box;
}

LithoBox litho_patch_input_box(const LithoGrid *in, const void *params, LithoBox region)
{
    const LithoPatchParams most = litho_patch_at_most(in, params), *p = &most;
    const LithoPatchGeometry g = litho_patch_grid_geometry(in, p);
    LithoBox box = region;
    if (litho_box_empty(region))
        return box;
    if (p->mode != LITHO_PATCH_DENOISE)
        return litho_patch_with_erratic(in, p, fill_box(in, region));
    region = litho_patch_first_pass(&g, p, region);
    for (int a = 0; a < 3; a++) {
        int from, to;
        litho_patch_needs(g.axis[a], a == 2, (int)region.lo[a], (int)region.hi[a], &from, &to);
        box.lo[a] = from;
        box.hi[a] = to;
    }
    return litho_patch_with_erratic(in, p, box);
}

int litho_patch_structure_volume(const LithoVolumeDoc *volume)
{
    static const char *const names[] = {[LITHO_PATCH_DIP_INLINE] = LITHO_PATCH_DIP_IL,
                                        [LITHO_PATCH_DIP_XLINE] = LITHO_PATCH_DIP_XL,
                                        [LITHO_PATCH_COHERENCE] = LITHO_PATCH_COHERENT};
    for (guint k = 0; volume && k < G_N_ELEMENTS(names); k++)
        if (g_str_equal(volume->name, names[k]))
            return (int)k;
    return -1;
}

float litho_patch_dip_unit(const LithoGrid *grid)
{
    return (float)(grid->axis[2].step * (grid->is_depth ? 1 : 1000));
}

LithoBox litho_patch_structure_box(const LithoGrid *grid, LithoBox region)
{
    return litho_box_grow(
        grid, region,
        (const gint64[3]){LITHO_PATCH_DIP_TRACES, LITHO_PATCH_DIP_TRACES, LITHO_PATCH_DIP_SAMPLES});
}

void litho_patch_take_live(LithoCube *to, const LithoCube *from)
{
    for (gint64 il = to->held.lo[0]; il < to->held.hi[0]; il++)
        for (gint64 xl = to->held.lo[1]; xl < to->held.hi[1]; xl++)
            to->live[litho_cube_trace_index(to, il, xl)] = litho_cube_is_live(from, il, xl);
}
