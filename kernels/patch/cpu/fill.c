// SPDX-License-Identifier: GPL-3.0-or-later
//
// Missing traces by projection onto convex sets: threshold the frame, put recorded traces back,
// with a threshold that falls from the largest coefficient to a small share of it. Block by block.
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "kernels/patch/cpu/plan.h"

// Result of one block: samples of its box (without the surrounding ones).
struct PatchFilled {
    PatchFilled *next;
    LithoBox box;
    float *samples;
};

void patch_fill_forget(PatchPlan *p)
{
    while (p->filled) {
        PatchFilled *next = p->filled->next;
        free(p->filled->samples);
        g_free(p->filled);
        p->filled = next;
    }
    p->filled_bytes = 0;
}

// --- one block -----------------------------------------------------------------------------------

typedef struct Frame {
    LithoBox box; // in the survey
    LithoGrid grid;
    float *x;        // the estimate so far
    guint8 *missing; // one byte a trace
    gint64 n_missing;
} Frame;

static void frame_clear(Frame *f)
{
    free(f->x);
    g_free(f->missing);
}

static gboolean all_finite(const float *trace, gint64 n)
{
    for (gint64 t = 0; t < n; t++)
        if (!(trace[t] - trace[t] == 0))
            return FALSE;
    return TRUE;
}

// A trace that was not recorded or holds a sample that is not finite is missing.
static gboolean frame_init(Frame *f, const LithoCube *in, const guint8 *recorded, LithoBox box,
                           GError **error)
{
    *f = (Frame){.box = box, .grid = in->grid};
    const gint64 nx = litho_box_size(box, 1), nt = litho_box_size(box, 2);
    const gint64 traces = litho_box_size(box, 0) * nx;
    for (int a = 0; a < 3; a++)
        f->grid.axis[a].n = litho_box_size(box, a);
    f->x = malloc(traces * nt * sizeof(float));
    f->missing = g_try_malloc0(traces);
    if (!f->x || !f->missing)
        return litho_refuse(error, LITHO_ERROR_MEMORY,
                            "there is no memory for a block of %d x %d traces to fill",
                            (int)litho_box_size(box, 0), (int)nx);
    for (gint64 k = 0; k < traces; k++) {
        const gint64 il = box.lo[0] + k / nx, xl = box.lo[1] + k % nx;
        const float *from = litho_cube_trace(in, il, xl) + box.lo[2] - in->held.lo[2];
        f->missing[k] = !recorded[litho_cube_trace_index(in, il, xl)] || !all_finite(from, nt);
        f->n_missing += f->missing[k];
        if (f->missing[k])
            memset(f->x + k * nt, 0, nt * sizeof(float));
        else
            memcpy(f->x + k * nt, from, nt * sizeof(float));
    }
    return TRUE;
}

// Levels of the survey as the frame's windows see them.
static LithoPatchLevels shifted(const LithoPatchLevels *levels, LithoBox box)
{
    LithoPatchLevels l = *levels;
    for (int a = 0; a < 3; a++)
        l.first[a] -= (float)box.lo[a];
    return l;
}

// Moves missing traces (patch.h). `z`, their last move, holds them one behind the other; NULL =
// they take y.
static void move(const Frame *f, const float *y, float *z)
{
    const gint64 nt = f->grid.axis[2].n, traces = litho_grid_traces(&f->grid);
    for (gint64 k = 0; k < traces; k++) {
        float *x = f->x + k * nt;
        const float *to = y + k * nt;
        if (!f->missing[k])
            continue;
        if (!z) {
            memcpy(x, to, nt * sizeof *x);
            continue;
        }
        for (gint64 t = 0; t < nt; t++) {
            z[t] = LITHO_PATCH_MOMENTUM * z[t] + LITHO_PATCH_STEP * (to[t] - x[t]);
            x[t] += z[t];
        }
        z += nt;
    }
}

static gboolean run_frame(PatchPlan *p, Frame *f, const LithoPatchParams *params, LithoRun *run,
                          GError **error)
{
    const gboolean both = params->mode == LITHO_PATCH_BOTH;
    const LithoPatchGeometry g = litho_patch_grid_geometry(&f->grid, params);
    const LithoPatchLevels levels = shifted(&p->levels.table, f->box);
    float largest = 0;
    PatchSweep sweep = {
        .g = g,
        .transforms = &p->transforms,
        .in = f->x,
        .held = litho_box_full(&f->grid),
        .region = litho_box_full(&f->grid),
        .out_held = litho_box_full(&f->grid),
        .wanted = f->missing,
        .levels = &levels,
        .threshold = (float)litho_patch_threshold(&g, params),
        .rule = LITHO_PATCH_SINGLE,
        .largest = &largest,
        .stage = "filling",
    };
    if (f->n_missing > 0 && !patch_sweep(&sweep, run, error))
        return FALSE;
    sweep.largest = NULL;
    const gsize samples = litho_grid_samples(&f->grid);
    float *y = malloc(samples * sizeof *y);
    float *z = calloc(MAX(f->n_missing * f->grid.axis[2].n, 1), sizeof *z);
    sweep.out = y;
    gboolean ok = (y && z) ||
                  litho_refuse(error, LITHO_ERROR_MEMORY, "there is no memory for a block to fill");
    for (int k = 0; ok && f->n_missing > 0 && k < params->iterations; k++) {
        sweep.least = largest * (float)litho_patch_fill_level(params, k);
        ok = patch_sweep(&sweep, run, error);
        if (ok)
            move(f, y, k + 1 < params->iterations ? z : NULL);
    }
    free(z);
    if (ok && both) {
        sweep.wanted = NULL;
        sweep.least = 0;
        sweep.rule = params->rule;
        sweep.stage = "windows";
        ok = patch_sweep(&sweep, run, error);
        if (ok)
            memcpy(f->x, y, samples * sizeof *y);
    }
    free(y);
    return ok;
}

// --- blocks --------------------------------------------------------------------------------------

static PatchFilled *find(const PatchPlan *p, LithoBox box)
{
    for (PatchFilled *b = p->filled; b; b = b->next)
        if (litho_box_equal(b->box, box))
            return b;
    return NULL;
}

// The block's own traces, kept while the budget allows (the newest always).
static PatchFilled *keep(PatchPlan *p, const Frame *f, LithoBox box, GError **error)
{
    const guint64 bytes = litho_box_count(box) * sizeof(float);
    if (p->filled_bytes + bytes > p->budget)
        patch_fill_forget(p);
    float *samples = malloc(bytes);
    if (!samples) {
        litho_refuse(error, LITHO_ERROR_MEMORY, "there is no memory for a filled block");
        return NULL;
    }
    const gint64 nx = litho_box_size(box, 1), nt = litho_box_size(box, 2);
    for (gint64 i = 0; i < litho_box_size(box, 0); i++)
        memcpy(samples + i * nx * nt,
               f->x + ((box.lo[0] - f->box.lo[0] + i) * litho_box_size(f->box, 1) + box.lo[1] -
                       f->box.lo[1]) *
                          nt,
               nx * nt * sizeof(float));
    PatchFilled *b = g_new(PatchFilled, 1);
    *b = (PatchFilled){.next = p->filled, .box = box, .samples = samples};
    p->filled = b;
    p->filled_bytes += bytes;
    return b;
}

static PatchFilled *fill_block(PatchPlan *p, const LithoPass *pass, const guint8 *recorded, int i,
                               int j, LithoRun *run, GError **error)
{
    const LithoBox box = litho_patch_block(&p->grid, i, j);
    PatchFilled *done = find(p, box);
    Frame f;
    if (done)
        return done;
    if (frame_init(&f, pass->in, recorded, litho_patch_block_frame(&p->grid, i, j), error) &&
        run_frame(p, &f, pass->params, run, error))
        done = keep(p, &f, box, error);
    frame_clear(&f);
    return done;
}

// The whole trace as it was recorded; NULL: it was not, or holds a sample that is not finite.
static const float *recorded_trace(const LithoCube *in, gint64 il, gint64 xl)
{
    const float *trace = litho_cube_trace(in, il, xl) - in->held.lo[2];
    return litho_cube_is_live(in, il, xl) && all_finite(trace, in->grid.axis[2].n) ? trace : NULL;
}

// Writes the block's part of the region, with mode=fill the recorded traces from the input; a trace
// is live when anything of it is not zero.
static void write_block(const PatchFilled *b, const LithoPass *pass)
{
    const gboolean fill = ((const LithoPatchParams *)pass->params)->mode == LITHO_PATCH_FILL;
    const LithoBox r = litho_box_intersect(pass->region, b->box);
    const gint64 nx = litho_box_size(b->box, 1), nt = litho_box_size(b->box, 2);
    const gint64 n = litho_box_size(r, 2);
    for (gint64 il = r.lo[0]; il < r.hi[0]; il++)
        for (gint64 xl = r.lo[1]; xl < r.hi[1]; xl++) {
            const float *recorded = fill ? recorded_trace(pass->in, il, xl) : NULL;
            const float *trace =
                recorded ? recorded
                         : b->samples + ((il - b->box.lo[0]) * nx + xl - b->box.lo[1]) * nt;
            float *to = litho_cube_trace(pass->out, il, xl) + r.lo[2] - pass->out->held.lo[2];
            guint8 *live = &pass->out->live[litho_cube_trace_index(pass->out, il, xl)];
            memcpy(to, trace + r.lo[2], n * sizeof *to);
            for (gint64 t = 0; t < nt && !*live; t++)
                *live = trace[t] != 0;
        }
}

static void update_filled(PatchPlan *p, const LithoPass *pass)
{
    const LithoParamTable *table = &litho_operator_patch.params;
    if (p->serial != pass->in->serial ||
        litho_params_first_stage(table, &p->params, pass->params) != G_MAXINT)
        patch_fill_forget(p);
    p->serial = pass->in->serial;
    p->params = *(const LithoPatchParams *)pass->params;
}

gboolean patch_fill(PatchPlan *p, const LithoPass *pass, LithoRun *run, GError **error)
{
    const LithoPatchParams *params = pass->params;
    const LithoPatchGeometry g = litho_patch_grid_geometry(&p->grid, params);
    const LithoPatchBlocks blocks = litho_patch_blocks(&p->grid);
    LithoPass clean = *pass;
    clean.in = patch_clean(&p->clean, params, pass->in, run, error);
    if (!clean.in || !patch_levels_update(&p->levels, &g, params, clean.in, pass->in->live,
                                          pass->measured, NULL, run, error))
        return FALSE;
    update_filled(p, pass);
    for (int i = 0; i < blocks.n[0]; i++)
        for (int j = 0; j < blocks.n[1]; j++) {
            const LithoBox box = litho_patch_block(&p->grid, i, j);
            if (litho_box_empty(litho_box_intersect(box, pass->region)))
                continue;
            const LithoPatchGeometry own = litho_patch_geometry(
                (const int[3]){(int)litho_box_size(litho_patch_block_frame(&p->grid, i, j), 0),
                               (int)litho_box_size(litho_patch_block_frame(&p->grid, i, j), 1),
                               (int)p->grid.axis[2].n},
                params);
            if (!patch_plan_transforms(p, &own, error))
                return FALSE;
            const PatchFilled *b = fill_block(p, &clean, pass->in->live, i, j, run, error);
            if (!b)
                return FALSE;
            write_block(b, pass);
        }
    return TRUE;
}
