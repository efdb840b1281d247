// SPDX-License-Identifier: GPL-3.0-or-later
//
// Missing traces by projection onto convex sets: threshold the frame, put recorded traces back,
// with a threshold that falls from the largest coefficient to a small share of it. Block by block.
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "kernels/patch/cpu/plan.h"

enum { TOGETHER = 64 }; // missing traces between two looks at a cancel

// Result of one block: samples of its box (without the surrounding ones).
struct PatchFilled {
    PatchFilled *next;
    LithoBox box;
    float *samples;
};

static void drop(PatchPlan *p, PatchFilled **at)
{
    PatchFilled *block = *at;
    *at = block->next;
    p->filled_bytes -= litho_box_count(block->box) * sizeof(float);
    free(block->samples);
    g_free(block);
}

void patch_fill_forget(PatchPlan *p)
{
    while (p->filled)
        drop(p, &p->filled);
}

static void forget_oldest(PatchPlan *p)
{
    PatchFilled **at = &p->filled;
    while ((*at)->next)
        at = &(*at)->next;
    drop(p, at);
}

// Regions of one input come in ascending order: blocks beyond this one are not needed again.
static void forget_others(PatchPlan *p, LithoBox region)
{
    for (PatchFilled **at = &p->filled; *at;)
        if (litho_box_empty(litho_box_intersect((*at)->box, region)))
            drop(p, at);
        else
            at = &(*at)->next;
}

// A look at a cancel from any thread of a loop, whose `stop` is one for all of them.
static gboolean goes_on(const LithoRun *run, gint *stop)
{
    if (!g_atomic_int_get(stop) && !litho_run_checkpoint(run))
        g_atomic_int_set(stop, 1);
    return !g_atomic_int_get(stop);
}

// --- one block -----------------------------------------------------------------------------------

typedef struct Frame {
    LithoBox box; // in the survey
    LithoGrid grid;
    float *x;        // the estimate so far
    guint8 *missing; // one byte a trace
    gint64 *gaps;    // numbers of the missing traces, ascending
    gint64 n_gaps;
} Frame;

static void frame_clear(Frame *f)
{
    free(f->x);
    g_free(f->missing);
    g_free(f->gaps);
}

static gboolean all_finite(const float *trace, gint64 n)
{
    for (gint64 t = 0; t < n; t++)
        if (!(trace[t] - trace[t] == 0))
            return FALSE;
    return TRUE;
}

// A trace that was not recorded or holds a sample that is not finite is missing.
static void frame_inline(Frame *f, const LithoCube *in, const guint8 *recorded, gint64 i)
{
    const LithoBox box = f->box;
    const gint64 nx = litho_box_size(box, 1), nt = litho_box_size(box, 2);
    for (gint64 k = i * nx; k < (i + 1) * nx; k++) {
        const gint64 il = box.lo[0] + i, xl = box.lo[1] + k - i * nx;
        const float *from = litho_cube_trace(in, il, xl) + box.lo[2] - in->held.lo[2];
        f->missing[k] = !recorded[litho_cube_trace_index(in, il, xl)] || !all_finite(from, nt);
        if (f->missing[k])
            memset(f->x + k * nt, 0, nt * sizeof(float));
        else
            memcpy(f->x + k * nt, from, nt * sizeof(float));
    }
}

static gboolean frame_init(Frame *f, const LithoCube *in, const guint8 *recorded, LithoBox box,
                           LithoRun *run, GError **error)
{
    *f = (Frame){.box = box, .grid = in->grid};
    const gint64 traces = litho_box_size(box, 0) * litho_box_size(box, 1);
    gint stop = 0;
    for (int a = 0; a < 3; a++)
        f->grid.axis[a].n = litho_box_size(box, a);
    f->x = malloc(litho_box_count(box) * sizeof(float));
    f->missing = g_try_malloc0(traces);
    f->gaps = g_try_new(gint64, traces);
    if (!f->x || !f->missing || !f->gaps)
        return litho_refuse(error, LITHO_ERROR_MEMORY,
                            "there is no memory for a block of %d x %d traces to fill",
                            (int)litho_box_size(box, 0), (int)litho_box_size(box, 1));
#pragma omp parallel for schedule(dynamic) num_threads(litho_run_threads(run))
    for (gint64 i = 0; i < litho_box_size(box, 0); i++)
        if (goes_on(run, &stop))
            frame_inline(f, in, recorded, i);
    for (gint64 k = 0; k < traces; k++)
        if (f->missing[k])
            f->gaps[f->n_gaps++] = k;
    return !stop || litho_run_stopped(error);
}

static void move_trace(float *x, const float *y, float *z, gint64 n)
{
    if (!z) {
        memcpy(x, y, n * sizeof *x);
        return;
    }
    for (gint64 t = 0; t < n; t++) {
        z[t] = LITHO_PATCH_MOMENTUM * z[t] + LITHO_PATCH_STEP * (y[t] - x[t]);
        x[t] += z[t];
    }
}

// Moves missing traces (geometry.h). `z`, their last move, holds them one behind the other; NULL =
// they take y.
static gboolean move(const Frame *f, const float *y, float *z, LithoRun *run, GError **error)
{
    const gint64 nt = f->grid.axis[2].n;
    gint stop = 0;
#pragma omp parallel for schedule(dynamic) num_threads(litho_run_threads(run))
    for (gint64 first = 0; first < f->n_gaps; first += TOGETHER)
        for (gint64 g = first; goes_on(run, &stop) && g < MIN(first + TOGETHER, f->n_gaps); g++)
            move_trace(f->x + f->gaps[g] * nt, y + f->gaps[g] * nt, z ? z + g * nt : NULL, nt);
    return !stop || litho_run_stopped(error);
}

static gboolean run_frame(PatchPlan *p, Frame *f, const LithoPatchParams *params, LithoRun *run,
                          GError **error)
{
    const gboolean both = params->mode == LITHO_PATCH_BOTH;
    const LithoPatchGeometry g = litho_patch_grid_geometry(&f->grid, params);
    const LithoPatchLevels levels = litho_patch_levels_of(
        p->levels.table, &g, (const long long[3]){f->box.lo[0], f->box.lo[1], f->box.lo[2]});
    LithoPatchLevels even = levels; // levels.c: has_shape()
    even.shape = NULL;
    float largest = 0;
    PatchRoom room = {0};
    PatchSweep sweep = {
        .g = g,
        .transforms = &p->transforms,
        .in = f->x,
        .held = litho_box_full(&f->grid),
        .region = litho_box_full(&f->grid),
        .out_held = litho_box_full(&f->grid),
        .wanted = f->missing,
        .levels = &even,
        .threshold =
            (float)litho_patch_fill_threshold(&g, params, litho_grid_traces(&f->grid), f->n_gaps),
        .rule = LITHO_PATCH_SINGLE,
        .guided = litho_patch_is_regular(f->missing, (int)litho_box_size(f->box, 0),
                                         (int)litho_box_size(f->box, 1)),
        .largest = &largest,
        .room = &room,
        .stage = "filling",
        .passes = 1 + params->iterations,
    };
    if (!patch_plan_transforms(p, &g, error) ||
        (f->n_gaps > 0 && !patch_sweep(&sweep, run, error))) {
        patch_room_clear(&room);
        return FALSE;
    }
    sweep.largest = NULL;
    float *y = malloc(litho_grid_samples(&f->grid) * sizeof *y);
    float *z = calloc(MAX(f->n_gaps * f->grid.axis[2].n, 1), sizeof *z);
    sweep.out = y;
    gboolean ok = (y && z) ||
                  litho_refuse(error, LITHO_ERROR_MEMORY, "there is no memory for a block to fill");
    for (int k = 0; ok && f->n_gaps > 0 && k < params->iterations; k++) {
        sweep.pass = k + 1;
        sweep.least = largest * (float)litho_patch_fill_level(params, k);
        ok = patch_sweep(&sweep, run, error) &&
             move(f, y, k + 1 < params->iterations ? z : NULL, run, error);
    }
    free(z);
    if (ok && both) {
        sweep.levels = &levels;
        sweep.wanted = NULL;
        sweep.least = 0;
        sweep.threshold = (float)litho_patch_threshold(&g, params);
        sweep.rule = params->rule;
        sweep.guided = FALSE;
        sweep.pass = sweep.passes = 0;
        sweep.stage = "windows";
        ok = patch_sweep(&sweep, run, error);
        float *x = f->x;
        f->x = y;
        y = x;
    }
    free(y);
    patch_room_clear(&room);
    return ok;
}

// --- blocks --------------------------------------------------------------------------------------

static const PatchFilled *find(const PatchPlan *p, LithoBox box)
{
    for (const PatchFilled *b = p->filled; b; b = b->next)
        if (litho_box_equal(b->box, box))
            return b;
    return NULL;
}

// Keeps the block's own traces for regions to come, and as many of the last blocks beside it as the
// budget allows; without memory, or cancelled, it does not.
static void keep(PatchPlan *p, const Frame *f, LithoBox box, const LithoRun *run)
{
    const guint64 bytes = litho_box_count(box) * sizeof(float);
    const gint64 nx = litho_box_size(box, 1), nt = litho_box_size(box, 2);
    gint stop = 0;
    while (p->filled && p->filled_bytes + bytes > p->budget)
        forget_oldest(p);
    float *samples = malloc(bytes);
    if (!samples)
        return;
#pragma omp parallel for schedule(dynamic) num_threads(litho_run_threads(run))
    for (gint64 i = 0; i < litho_box_size(box, 0); i++)
        if (goes_on(run, &stop))
            memcpy(samples + i * nx * nt,
                   f->x + ((box.lo[0] - f->box.lo[0] + i) * litho_box_size(f->box, 1) + box.lo[1] -
                           f->box.lo[1]) *
                              nt,
                   nx * nt * sizeof(float));
    if (stop) {
        free(samples);
        return;
    }
    PatchFilled *b = g_new(PatchFilled, 1);
    *b = (PatchFilled){.next = p->filled, .box = box, .samples = samples};
    p->filled = b;
    p->filled_bytes += bytes;
}

// TRUE where a region holds a part of a block: a neighbouring one holds the rest.
static gboolean cuts_blocks(const LithoGrid *grid, LithoBox region)
{
    const LithoPatchBlocks blocks = litho_patch_blocks(grid);
    for (int a = 0; a < 2; a++)
        if (region.lo[a] % blocks.traces[a] != 0 ||
            (region.hi[a] % blocks.traces[a] != 0 && region.hi[a] != grid->axis[a].n))
            return TRUE;
    return region.lo[2] != 0 || region.hi[2] != grid->axis[2].n;
}

guint64 patch_fill_kept_bytes(const LithoGrid *grid, LithoBox region, guint64 budget)
{
    const LithoPatchBlocks blocks = litho_patch_blocks(grid);
    guint64 sum = 0, newest = 0;
    if (!cuts_blocks(grid, region))
        return 0;
    for (int i = 0; i < blocks.n[0]; i++)
        for (int j = 0; j < blocks.n[1]; j++) {
            const LithoBox box = litho_patch_block(grid, i, j);
            if (litho_box_empty(litho_box_intersect(box, region)))
                continue;
            newest = litho_box_count(box) * sizeof(float);
            sum += newest;
        }
    return MIN(sum, MAX(budget, newest));
}

// The whole trace as it was recorded; NULL: it was not, or holds a sample that is not finite.
static const float *recorded_trace(const LithoCube *in, gint64 il, gint64 xl)
{
    const float *trace = litho_cube_trace(in, il, xl) - in->held.lo[2];
    return litho_cube_is_live(in, il, xl) && all_finite(trace, in->grid.axis[2].n) ? trace : NULL;
}

// The region's part of `block` from whole traces of `held`, with mode=fill the recorded traces from
// the input; a trace is live when anything of it is not zero.
static void write_inline(const float *samples, LithoBox held, LithoBox block, const LithoPass *pass,
                         gint64 il)
{
    const gboolean fill = ((const LithoPatchParams *)pass->params)->mode == LITHO_PATCH_FILL;
    const LithoBox r = litho_box_intersect(pass->region, block);
    const gint64 nx = litho_box_size(held, 1), nt = litho_box_size(held, 2);
    for (gint64 xl = r.lo[1]; xl < r.hi[1]; xl++) {
        const float *recorded = fill ? recorded_trace(pass->in, il, xl) : NULL;
        const float *trace =
            recorded ? recorded : samples + ((il - held.lo[0]) * nx + xl - held.lo[1]) * nt;
        float *to = litho_cube_trace(pass->out, il, xl) + r.lo[2] - pass->out->held.lo[2];
        guint8 *live = &pass->out->live[litho_cube_trace_index(pass->out, il, xl)];
        memcpy(to, trace + r.lo[2], litho_box_size(r, 2) * sizeof *to);
        for (gint64 t = 0; t < nt && !*live; t++)
            *live = trace[t] != 0;
    }
}

static gboolean write_block(const float *samples, LithoBox held, LithoBox block,
                            const LithoPass *pass, LithoRun *run, GError **error)
{
    const LithoBox r = litho_box_intersect(pass->region, block);
    gint stop = 0;
#pragma omp parallel for schedule(dynamic) num_threads(litho_run_threads(run))
    for (gint64 il = r.lo[0]; il < r.hi[0]; il++)
        if (goes_on(run, &stop))
            write_inline(samples, held, block, pass, il);
    return !stop || litho_run_stopped(error);
}

// `in`: the input without bursts. A block that the region holds is not needed a second time, except
// by the next of several regions of one input that overlap.
static gboolean fill_block(PatchPlan *p, const LithoPass *pass, const LithoCube *in, int i, int j,
                           LithoRun *run, GError **error)
{
    const LithoBox block = litho_patch_block(&p->grid, i, j);
    const PatchFilled *done = find(p, block);
    Frame f;
    if (litho_box_empty(litho_box_intersect(block, pass->region)))
        return TRUE;
    if (done)
        return write_block(done->samples, block, block, pass, run, error);
    const gboolean ok =
        frame_init(&f, in, pass->in->live, litho_patch_block_frame(&p->grid, i, j), run, error) &&
        run_frame(p, &f, pass->params, run, error) &&
        write_block(f.x, f.box, block, pass, run, error);
    const gboolean overlap = pass->in->source != 0 && cuts_blocks(&p->grid, pass->region);
    if (ok && (overlap || !litho_box_contains(pass->region, block)))
        keep(p, &f, block, run);
    frame_clear(&f);
    return ok;
}

static void update_filled(PatchPlan *p, const LithoPass *pass)
{
    const LithoParamTable *table = &litho_operator_patch.params;
    const gboolean one_input = pass->in->source != 0 && p->source == pass->in->source;
    if ((p->serial != pass->in->serial && !one_input) || p->stamp != p->levels.stamp ||
        litho_params_first_stage(table, &p->params, pass->params) != G_MAXINT)
        patch_fill_forget(p);
    if (one_input)
        forget_others(p, pass->region);
    p->serial = pass->in->serial;
    p->source = pass->in->source;
    p->stamp = p->levels.stamp;
    p->params = *(const LithoPatchParams *)pass->params;
}

gboolean patch_fill(PatchPlan *p, const LithoPass *pass, LithoRun *run, GError **error)
{
    const LithoPatchParams *params = pass->params;
    const LithoPatchGeometry g = litho_patch_grid_geometry(&p->grid, params);
    const LithoPatchBlocks blocks = litho_patch_blocks(&p->grid);
    // Where the level is known, nothing but bursts asks for guesses: missing traces begin at zero.
    LithoCleanRule rule = patch_gains_clean_rule(&p->gains, params);
    if (pass->measured || params->sigma > 0)
        rule.missing = LITHO_CLEAN_BESIDE;
    const LithoCube *in = litho_clean(&p->clean, rule, pass->in, run, error);
    if (!in || !patch_levels_update(&p->levels, &g, params, in, pass->in->live, pass->measured,
                                    NULL, run, error))
        return FALSE;
    update_filled(p, pass);
    for (int i = 0; i < blocks.n[0]; i++)
        for (int j = 0; j < blocks.n[1]; j++)
            if (!fill_block(p, pass, in, i, j, run, error))
                return FALSE;
    return TRUE;
}
