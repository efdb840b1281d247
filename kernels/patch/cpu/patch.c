// SPDX-License-Identifier: GPL-3.0-or-later
//
// The local Fourier filter on the CPU: plan, exec, and the numbers beside the result.
//
// Spectra are not kept between passes: 64 windows cover a sample, so that the spectra of a cube are
// 64 times its size, and reading them back takes as long as making them.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/mute.h"
#include "kernels/common/weigh.h"
#include "kernels/patch/alone.h"
#include "kernels/patch/cpu/plan.h"
#include "kernels/patch/cpu/structure.h"

static gpointer plan(const LithoGrid *in, const void *params, LithoResolved *known, LithoRun *run,
                     GError **error)
{
    (void)known;
    (void)params;
    (void)run;
    (void)error;
    PatchPlan *p = g_new0(PatchPlan, 1);
    p->grid = *in;
    p->budget = litho_memory_to_keep();
    return p;
}

static void destroy(gpointer data)
{
    PatchPlan *p = data;
    patch_levels_clear(&p->levels);
    for (int k = 0; k < PATCH_LEVELS_KEPT; k++)
        patch_levels_clear(&p->kept[k]);
    litho_clean_clear(&p->clean);
    litho_gains_clear(&p->gains);
    patch_swell_clear(&p->calm);
    patch_transforms_clear(&p->transforms);
    patch_fill_forget(p);
    g_free(p);
}

gboolean patch_plan_transforms(PatchPlan *p, const LithoPatchGeometry *g, GError **error)
{
    gboolean same = p->have_transforms;
    for (int a = 0; a < 3; a++)
        same &= p->planned.axis[a].length == g->axis[a].length;
    if (same)
        return TRUE;
    patch_transforms_clear(&p->transforms);
    p->have_transforms = patch_transforms_init(&p->transforms, g, error);
    p->planned = *g;
    return p->have_transforms;
}

// --- denoise -------------------------------------------------------------------------------------

// Traces that are not live pass as they are.
static void copy_dead(const LithoPass *pass)
{
    const LithoBox r = pass->region;
    for (gint64 il = r.lo[0]; il < r.hi[0]; il++)
        for (gint64 xl = r.lo[1]; xl < r.hi[1]; xl++)
            if (!litho_cube_is_live(pass->in, il, xl))
                memcpy(litho_cube_trace(pass->out, il, xl) + r.lo[2] - pass->out->held.lo[2],
                       litho_cube_trace(pass->in, il, xl) + r.lo[2] - pass->in->held.lo[2],
                       litho_box_size(r, 2) * sizeof(float));
}

// One byte a trace of `held`: whether it is in `region` and the input's trace is live.
static guint8 *live_in(const LithoCube *in, LithoBox held, LithoBox region)
{
    const gint64 nx = litho_box_size(held, 1);
    guint8 *live = g_malloc0(litho_box_size(held, 0) * nx);
    for (gint64 il = region.lo[0]; il < region.hi[0]; il++)
        for (gint64 xl = region.lo[1]; xl < region.hi[1]; xl++)
            live[(il - held.lo[0]) * nx + xl - held.lo[1]] = litho_cube_is_live(in, il, xl);
    return live;
}

// The first pass over `region`; the caller says where it goes.
static PatchSweep first_pass(PatchPlan *p, const LithoPatchGeometry *g,
                             const LithoPatchParams *params, const LithoCube *in, LithoBox region)
{
    return (PatchSweep){
        .g = *g,
        .transforms = &p->transforms,
        .in = in->samples,
        .held = in->held,
        .live = in->live,
        .region = region,
        .levels = &p->levels.table,
        .threshold = (float)litho_patch_threshold(g, params),
        .rule = params->rule,
        .stage = "windows",
    };
}

// `made`, the first pass in `box`: its traces in the pass's region to the output, and what they
// removed in their place; zeros where nothing was made.
static void split_removed(const LithoPass *pass, const LithoCube *in, LithoBox box,
                          const guint8 *recorded, float *made, int threads)
{
    const LithoBox r = pass->region;
    const gint64 nx = litho_box_size(box, 1), nt = litho_box_size(box, 2);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (gint64 k = 0; k < litho_box_size(box, 0) * nx; k++) {
        const gint64 il = box.lo[0] + k / nx, xl = box.lo[1] + k % nx;
        float *x = made + k * nt;
        const float *from = litho_cube_trace(in, il, xl) + box.lo[2] - in->held.lo[2];
        if (!recorded[k]) {
            memset(x, 0, nt * sizeof *x);
            continue;
        }
        if (il >= r.lo[0] && il < r.hi[0] && xl >= r.lo[1] && xl < r.hi[1])
            memcpy(litho_cube_trace(pass->out, il, xl) + r.lo[2] - pass->out->held.lo[2],
                   x + r.lo[2] - box.lo[2], litho_box_size(r, 2) * sizeof *x);
        for (gint64 t = 0; t < nt; t++)
            x[t] = isfinite(from[t]) ? from[t] - x[t] : 0;
    }
}

// The first pass reaches beyond the region, and what it removed passes again.
static gboolean sweep_with_faults(PatchPlan *p, const LithoPass *pass, PatchSweep *sweep,
                                  const LithoCube *in, const guint8 *wanted, LithoRun *run,
                                  GError **error)
{
    const LithoBox box = sweep->region;
    g_autofree guint8 *recorded = live_in(pass->in, box, box);
    g_autofree float *made = g_try_malloc(litho_box_count(box) * sizeof *made);
    if (!made)
        return litho_refuse(error, LITHO_ERROR_MEMORY,
                            "there is no memory for what the first pass removes");
    sweep->out = made;
    sweep->out_held = box;
    sweep->wanted = recorded;
    patch_fault_transforms_init(&p->fault_transforms, sweep->g.axis[2].length);
    if (!patch_sweep(sweep, run, error))
        return FALSE;
    split_removed(pass, in, box, recorded, made, litho_run_threads(run));
    const PatchFaults faults = {
        .small = litho_patch_fault_geometry(&sweep->g),
        .transforms = &p->fault_transforms,
        .removed = made,
        .held = box,
        .region = pass->region,
        .out = pass->out->samples,
        .out_held = pass->out->held,
        .wanted = wanted,
        .levels = sweep->levels,
        .limit = (float)litho_patch_fault_limit(&sweep->g, pass->params),
    };
    return patch_faults(&faults, run, error);
}

static gboolean denoise(PatchPlan *p, const LithoPass *pass, LithoRun *run, GError **error)
{
    const LithoPatchParams *params = pass->params;
    const LithoPatchGeometry g = litho_patch_grid_geometry(&p->grid, params);
    const LithoCube *in =
        litho_clean(&p->clean, patch_gains_clean_rule(&p->gains, params), pass->in, run, error);
    if (!in)
        return FALSE;
    patch_levels_recall(&p->levels, p->kept, PATCH_LEVELS_KEPT, &g, params, in, pass->measured);
    if (!patch_levels_update(&p->levels, &g, params, in, pass->in->live, pass->measured, NULL, run,
                             error) ||
        !patch_plan_transforms(p, &g, error))
        return FALSE;
    g_autofree guint8 *wanted = live_in(pass->in, pass->out->held, pass->region);
    PatchSweep sweep =
        first_pass(p, &g, params, in, litho_patch_first_pass(&g, params, pass->region));
    copy_dead(pass);
    if (litho_patch_keeps_faults(&g, params)) {
        if (!sweep_with_faults(p, pass, &sweep, in, wanted, run, error))
            return FALSE;
    } else {
        sweep.out = pass->out->samples;
        sweep.out_held = pass->out->held;
        sweep.wanted = wanted;
        if (!patch_sweep(&sweep, run, error))
            return FALSE;
    }
    if (run)
        litho_report_number(run->report, "windows", "windows", "", sweep.windows);
    return TRUE;
}

// --- exec ----------------------------------------------------------------------------------------

static gboolean report_energy(const LithoPass *pass, LithoRun *run, GError **error)
{
    LithoWeights weights;
    if (!litho_weigh(pass, run, &weights, error))
        return FALSE;
    if (weights.input > 0)
        litho_report_number(run->report, "removed", "energy removed", "%",
                            100 * weights.removed / weights.input);
    return TRUE;
}

// Recorded traces that stand alone; a sample that is not finite stays out.
static gboolean leave_alone(const LithoPass *pass, const LithoCube *raw, LithoRun *run,
                            GError **error)
{
    const LithoBox r = pass->region;
    g_autofree guint8 *alone = NULL;
    if (!patch_alone(pass, &alone, run, error))
        return FALSE;
    for (gint64 il = r.lo[0]; alone && il < r.hi[0]; il++)
        for (gint64 xl = r.lo[1]; xl < r.hi[1]; xl++) {
            const float *from = litho_cube_trace(raw, il, xl) - raw->held.lo[2];
            float *to = litho_cube_trace(pass->out, il, xl) - pass->out->held.lo[2];
            const gboolean stays = alone[litho_cube_trace_index(pass->in, il, xl)];
            for (gint64 t = r.lo[2]; stays && t < r.hi[2]; t++)
                to[t] = isfinite(from[t]) ? from[t] : 0;
        }
    return TRUE;
}

// Traces over their gains are filtered, and multiplied by them again. `raw`: the input with its
// swell.
static gboolean filter(PatchPlan *p, const LithoPass *pass, const LithoCube *raw, LithoRun *run,
                       GError **error)
{
    const LithoPatchParams *params = pass->params;
    LithoPass balanced = *pass;
    balanced.in = patch_gains_divide(&p->gains, params, pass->in, NULL, pass->measured, run, error);
    if (!balanced.in ||
        !(params->mode == LITHO_PATCH_DENOISE ? denoise : patch_fill)(p, &balanced, run, error))
        return FALSE;
    if (balanced.in != pass->in)
        litho_balance_multiply(pass->out, pass->region, p->gains.of.gain, run);
    const gboolean left = params->mode == LITHO_PATCH_FILL && balanced.in == pass->in;
    return left || leave_alone(pass, raw, run, error);
}

// Structure of the result, which is made with the region's surroundings; mutes are zero in it, and
// filled traces are live.
static gboolean structure(PatchPlan *p, const LithoPass *pass, const LithoCube *raw, int volume,
                          LithoRun *run, GError **error)
{
    LithoPass result = *pass;
    result.volume = NULL;
    result.region = litho_patch_structure_box(&p->grid, pass->region);
    g_autoptr(LithoCube) out = litho_cube_new_box(&p->grid, result.region, error);
    if (!out)
        return FALSE;
    result.out = out;
    litho_cube_inherit(out, pass->in);
    if (!filter(p, &result, raw, run, error))
        return FALSE;
    litho_mute_keep(pass->in, out, result.region, litho_run_threads(run));
    if (!patch_structure(out, pass->region, volume, litho_patch_dip_unit(&p->grid), pass->out, run,
                         error))
        return FALSE;
    litho_patch_take_live(pass->out, out);
    return TRUE;
}

// The level of traces over their gains, times these.
static gboolean level_volume(PatchPlan *p, const LithoPass *pass, LithoRun *run, GError **error)
{
    LithoPass balanced = *pass;
    balanced.in =
        patch_gains_divide(&p->gains, pass->params, pass->in, NULL, pass->measured, run, error);
    if (!balanced.in ||
        !patch_levels_exec(&p->levels, &p->clean, patch_gains_clean_rule(&p->gains, pass->params),
                           &p->grid, &balanced, run, pass->out, error))
        return FALSE;
    if (balanced.in != pass->in)
        litho_balance_multiply_level(pass->out, pass->region, p->gains.of.gain, run);
    return TRUE;
}

static LithoCube *copy_box(const LithoBox *box, LithoRun *run, gpointer data, GError **error)
{
    (void)run;
    return litho_cube_copy_box(data, *box, error);
}

// The pass's parameters with the window and the rule in use.
static gboolean settle(PatchPlan *p, const LithoPass *pass, LithoPatchParams *params, LithoRun *run,
                       GError **error)
{
    if (patch_choice_known(&p->choice, &p->grid, pass, params))
        return TRUE;
    const LithoCube *clean =
        litho_clean(&p->clean, litho_patch_clean_rule(pass->params), pass->in, run, error);
    const LithoReader reader = {.grid = &p->grid, .read = copy_box, .data = (gpointer)clean};
    return clean && patch_choice_make(&p->choice, pass, &reader, run, params, error);
}

static gboolean exec(gpointer data, const LithoPass *asked, LithoRun *run, GError **error)
{
    PatchPlan *p = data;
    LithoPatchParams params;
    LithoPass settled = *asked, *pass = &settled;
    const int volume = litho_patch_structure_volume(pass->volume);
    if (!litho_cube_host(pass->in, error))
        return FALSE;
    if (litho_box_empty(pass->region))
        return TRUE;
    settled.in =
        patch_swell_calm(&p->calm, asked->params, asked->in, NULL, asked->measured, run, error);
    if (!settled.in || !settle(p, pass, &params, run, error))
        return FALSE;
    settled.params = &params;
    if (volume >= 0)
        return structure(p, pass, asked->in, volume, run, error);
    if (pass->volume)
        return level_volume(p, pass, run, error);
    if (!filter(p, pass, asked->in, run, error))
        return FALSE;
    if (!run || !run->report)
        return TRUE;
    patch_choice_report(asked->params, &params, run->report);
    patch_levels_report(&p->levels, &p->grid, &params, run->report);
    litho_gains_report(&p->gains, "patch", &p->grid, run->report);
    litho_clean_report(&p->clean, p->gains.cube ? p->gains.cube : pass->in, run->report);
    patch_swell_report(&p->calm, run->report);
    return report_energy(asked, run, error);
}

// Result and sweep. The one block of a small survey is put into the result, and kept, when it is
// filled and its strips are freed.
static guint64 filter_bytes(const LithoGrid *in, const LithoPatchParams *p, LithoBox region,
                            int threads)
{
    const LithoPatchGeometry g = litho_patch_grid_geometry(in, p);
    const guint64 result = 4 * litho_box_count(region);
    if (litho_patch_keeps_faults(&g, p)) {
        const LithoPatchGeometry small = litho_patch_fault_geometry(&g);
        const LithoBox box = litho_patch_first_pass(&g, p, region);
        return result + 4 * litho_box_count(box) +
               MAX(patch_sweep_bytes(&g, box, p->rule, FALSE, threads),
                   patch_faults_bytes(&small, region, threads));
    }
    if (p->mode == LITHO_PATCH_DENOISE)
        return result + patch_sweep_bytes(&g, region, p->rule, FALSE, threads);
    const LithoPatchBlocks blocks = litho_patch_blocks(in);
    const LithoBox frame = litho_patch_largest_frame(in);
    const guint64 more = result + patch_fill_kept_bytes(in, region, litho_memory_to_keep());
    return (blocks.n[0] * blocks.n[1] > 1 ? more : 0) + 12 * litho_box_count(frame) +
           patch_sweep_bytes(&g, frame, p->rule, TRUE, threads);
}

// A survey in one piece is measured first, and what stays on the threads' heaps stays; of slabs it
// was measured in a pass before, by other threads. There is a copy of the input, with guesses,
// where a piece is erratic or a trace is missing: half of one is counted in one piece, so that what
// is told is near either. A copy over the gains of traces, or without swell, is counted where there
// may be one; few surveys need both.
static guint64 memory(const LithoGrid *in, const void *params, LithoResolved *known,
                      LithoBox region, int threads)
{
    (void)known;
    const LithoPatchParams most = litho_patch_at_most(in, params), *p = &most;
    const LithoBox need = litho_patch_input_box(in, params, region);
    const gboolean whole = litho_box_equal(region, litho_box_full(in));
    const guint64 input = 4 * litho_box_count(need), filter = filter_bytes(in, p, region, threads);
    const guint64 guesses = whole && p->mode != LITHO_PATCH_FILL ? input / 2 : input;
    const guint64 copy =
        guesses + MAX(patch_gains_bytes(in, p, need), patch_swell_copy_bytes(in, params, need));
    guint64 peak = 0, kept = 0;
    if (p->sigma <= 0) {
        const LithoPatchGeometry g = litho_patch_grid_geometry(in, p);
        patch_levels_bytes(in, &g, p, threads, &peak, &kept);
    }
    const guint64 work = whole ? MAX(peak, kept + filter) : filter;
    return input + copy + MAX(work, patch_swell_bytes(in, params, need));
}

// The filter's memory is free by the time that dips are made.
static guint64 volume_memory(const LithoGrid *in, const void *params, const LithoVolumeDoc *volume,
                             LithoBox region)
{
    const LithoBox box = litho_patch_structure_box(in, region);
    if (litho_patch_structure_volume(volume) < 0 || litho_box_empty(region))
        return 0;
    const LithoPatchParams most = litho_patch_at_most(in, params);
    const guint64 filter = filter_bytes(in, &most, box, (int)g_get_num_processors());
    const guint64 dips = 4 * litho_box_count(box) + patch_structure_bytes(in, region) +
                         patch_fill_kept_bytes(in, box, litho_memory_to_keep());
    return dips > filter ? dips - filter : 0;
}

static guint64 measure_memory(const LithoGrid *in, const void *params, guint64 part, int threads)
{
    const LithoPatchParams most = litho_patch_at_most(in, params);
    const LithoPatchGeometry g = litho_patch_grid_geometry(in, &most);
    const guint64 bytes = patch_levels_part_bytes(in, part);
    guint64 peak, kept;
    patch_levels_bytes(in, &g, &most, threads, &peak, &kept);
    const guint64 told = peak + 3 * bytes / 4; // half of a copy, as above
    // A part, what of it is measured, and that over its gains, before it is measured.
    const gboolean balanced = patch_gains_bytes(in, params, litho_box_full(in)) > 0;
    return balanced ? MAX(told, 3 * bytes / 2) : told;
}

const LithoImpl litho_patch_cpu = {.plan = plan,
                                   .exec = exec,
                                   .destroy = destroy,
                                   .memory = memory,
                                   .volume_memory = volume_memory,
                                   .measure_memory = measure_memory};
