// SPDX-License-Identifier: GPL-3.0-or-later
//
// The local Fourier filter on CUDA: plan, exec, and the numbers beside the result.
#include <string.h>

#include "core/error.h"
#include "kernels/patch/alone.h"
#include "kernels/patch/cuda/plan.h"

enum { WEIGH_BLOCKS = 1024 };

static void destroy(gpointer data)
{
    PatchPlan *p = data;
    LithoCudaArray *const arrays[] = {&p->sigma,
                                      &p->shape,
                                      &p->gain,
                                      &p->live,
                                      &p->known,
                                      &p->wanted,
                                      &p->tables,
                                      &p->share,
                                      &p->ring,
                                      &p->largest,
                                      &p->sums,
                                      &p->filled,
                                      &p->counted,
                                      &p->x,
                                      &p->y,
                                      &p->z,
                                      &p->missing,
                                      &p->windows,
                                      &p->spectra,
                                      &p->kept,
                                      &p->fits,
                                      &p->products,
                                      &p->across,
                                      &p->removed,
                                      &p->recorded,
                                      &p->fault_tables,
                                      &p->fault_spectra,
                                      &p->fault_quiet,
                                      &p->fault_limits,
                                      &p->fault_sums,
                                      &p->fault_energy,
                                      &p->fault_gate,
                                      &p->level_tapers,
                                      &p->level_jobs,
                                      &p->level_places,
                                      &p->level_flags,
                                      &p->level_recorded,
                                      &p->level_spectra,
                                      &p->level_quiet,
                                      &p->level_means,
                                      &p->level_floor,
                                      &p->level_below,
                                      &p->level_muted,
                                      &p->level_ranks,
                                      &p->powers[0].share,
                                      &p->powers[0].scale,
                                      &p->powers[0].power,
                                      &p->powers[1].share,
                                      &p->powers[1].scale,
                                      &p->powers[1].power};
    if (p->context && litho_cuda_enter(p->context, NULL)) {
        for (gsize k = 0; k < G_N_ELEMENTS(arrays); k++)
            litho_cuda_release(p->context, arrays[k]);
        litho_cuda_erratic_release(p->context, &p->erratic);
        if (p->have_forward)
            cufftDestroy(p->forward);
        if (p->have_inverse)
            cufftDestroy(p->inverse);
    }
    litho_cuda_context_free(p->context);
    patch_levels_clear(&p->levels);
    litho_clean_clear(&p->clean);
    litho_gains_clear(&p->gains);
    patch_swell_clear(&p->calm);
    g_free(p);
}

static gpointer plan(const LithoGrid *in, const void *params, LithoResolved *known, LithoRun *run,
                     GError **error)
{
    (void)known;
    (void)params;
    LithoCudaContext *context = litho_cuda_context_new(run ? run->device : 0, error);
    if (!context)
        return NULL;
    PatchPlan *p = g_new0(PatchPlan, 1);
    p->grid = *in;
    p->context = context;
    int ordinal = 0;
    if (LITHO_CUDA(cudaGetDevice(&ordinal), error) &&
        LITHO_CUDA(cudaDeviceGetAttribute(&p->processors, cudaDevAttrMultiProcessorCount, ordinal),
                   error) &&
        LITHO_CUDA(
            cudaDeviceGetAttribute(&p->shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal),
            error))
        return p;
    destroy(p);
    return NULL;
}

// --- inputs of a sweep ---------------------------------------------------------------------------

// The levels are measured once a cube, and stay on the device.
static gboolean update_levels(PatchPlan *p, const LithoPass *pass, const LithoCube *in,
                              LithoRun *run, GError **error)
{
    const LithoPatchParams *params = pass->params;
    const LithoPatchGeometry g = litho_patch_grid_geometry(&p->grid, params);
    const PatchMeter meter = patch_meter(p);
    if (!patch_levels_update(&p->levels, &g, params, in, pass->in->live, pass->measured, &meter, run,
                             error))
        return FALSE;
    if (p->stamp == p->levels.stamp)
        return TRUE;
    const gsize bytes =
        sizeof(float) * p->levels.table.n[0] * p->levels.table.n[1] * p->levels.table.n[2] * g.bins;
    const gsize shape = sizeof(float) * g.axis[0].length * g.axis[1].length * g.bins;
    p->stamp = 0;
    if (!litho_cuda_put(p->context, &p->sigma, p->levels.sigma, bytes, error) ||
        (p->levels.shape && !litho_cuda_put(p->context, &p->shape, p->levels.shape, shape, error)))
        return FALSE;
    p->stamp = p->levels.stamp;
    return TRUE;
}

LithoPatchLevels patch_device_levels(const PatchPlan *p)
{
    LithoPatchLevels levels = p->levels.table;
    levels.sigma = p->sigma.data;
    levels.shape = p->levels.shape ? p->shape.data : NULL;
    return levels;
}

static gboolean upload_live(PatchPlan *p, LithoCudaArray *to, const LithoCube *in, GError **error)
{
    const gint64 traces = litho_box_size(in->held, 0) * litho_box_size(in->held, 1);
    return litho_cuda_put(p->context, to, in->live, traces, error);
}

gboolean patch_upload_live(PatchPlan *p, const LithoCube *in, GError **error)
{
    return upload_live(p, &p->live, in, error);
}

gboolean patch_upload_wanted(PatchPlan *p, LithoCudaArray *to, const LithoCube *in, LithoBox held,
                             LithoBox region, GError **error)
{
    const gint64 nx = litho_box_size(held, 1), traces = litho_box_size(held, 0) * nx;
    g_autofree guint8 *wanted = g_malloc0(traces);
    for (gint64 il = region.lo[0]; il < region.hi[0]; il++)
        memcpy(wanted + (il - held.lo[0]) * nx + region.lo[1] - held.lo[1],
               in->live + litho_cube_trace_index(in, il, region.lo[1]), litho_box_size(region, 1));
    return litho_cuda_put(p->context, to, wanted, traces, error);
}

static PatchSweep sweep_of(PatchPlan *p, const LithoPass *pass, const float *in, float *out,
                           LithoRun *run)
{
    const LithoPatchParams *params = pass->params;
    PatchSweep s = {.p = p, .stage = "windows", .run = run};
    s.task.g = litho_patch_grid_geometry(&p->grid, params);
    s.task.in = in;
    s.task.held = patch_box(pass->in->held);
    s.task.live = p->live.data;
    s.task.region = patch_box(pass->region);
    s.task.out = out;
    s.task.out_held = patch_box(pass->out->held);
    s.task.wanted = p->wanted.data;
    s.task.levels = patch_device_levels(p);
    s.task.threshold = (float)litho_patch_threshold(&s.task.g, params);
    s.task.rule = params->rule;
    return s;
}

// Windows take guesses for traces (`clean` has them) that are not live in the input; dead traces
// that hold samples keep them.
static gboolean denoise(PatchSweep *s, const LithoPass *pass, const LithoCube *clean,
                        GError **error)
{
    const gboolean guessed = clean != pass->in;
    PatchSweep windows = *s;
    LithoPatchTask dead = s->task;
    if (guessed)
        dead.in = litho_cuda_input(s->p->context, pass->in, s->run, error);
    if (!dead.in ||
        !LITHO_CUDA(litho_patch_copy_dead(&dead, litho_cuda_stream(s->p->context)), error) ||
        (guessed && !upload_live(s->p, &s->p->known, clean, error)))
        return FALSE;
    if (guessed)
        windows.task.live = s->p->known.data;
    return litho_patch_keeps_faults(&s->task.g, pass->params)
               ? patch_sweep_with_faults(&windows, pass, error)
               : patch_sweep(&windows, error);
}

// --- exec ----------------------------------------------------------------------------------------

// Windows that the pass filters are counted on the device.
static gboolean begin_counting(PatchSweep *s, GError **error)
{
    PatchPlan *p = s->p;
    if (!s->run || !s->run->report)
        return TRUE;
    if (!litho_cuda_reserve(p->context, &p->counted, sizeof(guint64), error))
        return FALSE;
    s->task.windows = p->counted.data;
    return LITHO_CUDA(
        cudaMemsetAsync(p->counted.data, 0, sizeof(guint64), litho_cuda_stream(p->context)), error);
}

static gboolean report(PatchSweep *s, const LithoPass *pass, GError **error)
{
    PatchPlan *p = s->p;
    LithoReport *to = s->run->report;
    const LithoPatchParams *params = pass->params;
    cudaStream_t stream = litho_cuda_stream(p->context);
    const gsize bytes = 2 * WEIGH_BLOCKS * sizeof(double);
    g_autofree double *sums = g_malloc(bytes);
    double input = 0, removed = 0;
    guint64 windows = 0;
    LithoPatchTask task = s->task;
    task.in = litho_cuda_input(p->context, pass->in, s->run, error); // bursts count as removed
    if (!task.in || !litho_cuda_reserve(p->context, &p->sums, bytes, error) ||
        !LITHO_CUDA(litho_patch_weigh(&task, WEIGH_BLOCKS, p->sums.data, stream), error) ||
        !LITHO_CUDA(cudaMemcpyAsync(sums, p->sums.data, bytes, cudaMemcpyDeviceToHost, stream),
                    error) ||
        !LITHO_CUDA(cudaMemcpyAsync(&windows, p->counted.data, sizeof windows,
                                    cudaMemcpyDeviceToHost, stream),
                    error) ||
        !LITHO_CUDA(cudaStreamSynchronize(stream), error))
        return FALSE;
    for (int k = 0; k < WEIGH_BLOCKS; k++) {
        input += sums[2 * k];
        removed += sums[2 * k + 1];
    }
    if (params->mode == LITHO_PATCH_DENOISE)
        litho_report_number(to, "windows", "windows", "", (double)windows);
    patch_levels_report(&p->levels, &p->grid, params, to);
    litho_gains_report(&p->gains, "patch", &p->grid, to);
    const LithoCube *calm = p->calm.cube ? p->calm.cube : pass->in;
    litho_clean_report(&p->clean, p->gains.cube ? p->gains.cube : calm, to);
    patch_swell_report(&p->calm, to);
    if (input > 0)
        litho_report_number(to, "removed", "energy removed", "%", 100 * removed / input);
    return TRUE;
}

// Recorded traces that stand alone take the samples of the pass's input.
static gboolean leave_alone(PatchSweep *s, const LithoPass *pass, GError **error)
{
    PatchPlan *p = s->p;
    const LithoBox held = pass->in->held;
    LithoPatchTask task = s->task;
    g_autofree guint8 *alone = NULL;
    if (!patch_alone(pass, &alone, s->run, error))
        return FALSE;
    if (!alone)
        return TRUE;
    task.in = litho_cuda_input(p->context, pass->in, s->run, error);
    return task.in &&
           litho_cuda_put(p->context, &p->known, alone,
                          litho_box_size(held, 0) * litho_box_size(held, 1), error) &&
           LITHO_CUDA(litho_patch_leave(&task, p->known.data, litho_cuda_stream(p->context)),
                      error);
}

// Input without bursts, once a cube, and its level. NULL: cancelled, or no memory.
static const LithoCube *prepare(PatchPlan *p, const LithoPass *pass, LithoRun *run, GError **error)
{
    const LithoPatchParams *params = pass->params;
    const LithoCleanRule rule = patch_gains_clean_rule(&p->gains, params);
    const LithoCube *clean =
        litho_cuda_clean(p->context, &p->erratic, &p->clean, rule, pass->in, run, error);
    return clean && update_levels(p, pass, clean, run, error) ? clean : NULL;
}

// `pass`: with traces over their gains, `calm`: without swell, `raw`: as they are.
static gboolean run_balanced(PatchPlan *p, const LithoPass *raw, const LithoCube *calm,
                             const LithoPass *pass, LithoRun *run, GError **error)
{
    const LithoPatchParams *params = pass->params;
    const LithoCube *clean = prepare(p, pass, run, error);
    if (!clean)
        return FALSE;
    const float *in = litho_cuda_input(p->context, clean, run, error);
    float *out = in ? litho_cuda_output(p->context, pass->out, error) : NULL;
    if (!out || !patch_upload_live(p, pass->in, error))
        return FALSE;
    if (params->mode == LITHO_PATCH_DENOISE &&
        !patch_upload_wanted(p, &p->wanted, pass->in, pass->out->held, pass->region, error))
        return FALSE;
    PatchSweep s = sweep_of(p, pass, in, out, run);
    if (!begin_counting(&s, error))
        return FALSE;
    if (params->mode == LITHO_PATCH_FILL) // recorded traces are the input's, bursts and all
        s.task.in = litho_cuda_input(p->context, pass->in, run, error);
    const gboolean ok = s.task.in && (params->mode == LITHO_PATCH_DENOISE
                                          ? denoise(&s, pass, clean, error)
                                          : patch_fill(p, pass, in, s.task.in, out, run, error));
    return ok && (pass->in == calm || patch_times_gains(&s, error)) &&
           leave_alone(&s, raw, error) && litho_cuda_finish(p->context, run, error) &&
           (!run || !run->report || report(&s, raw, error));
}

// `raw`: the input with its swell.
static gboolean run_pass(PatchPlan *p, const LithoPass *pass, const LithoCube *raw, LithoRun *run,
                         GError **error)
{
    LithoPass balanced = *pass, as_it_is = *pass;
    as_it_is.in = raw;
    balanced.in = patch_over_gains(p, pass, run, error);
    return balanced.in && run_balanced(p, &as_it_is, pass->in, &balanced, run, error);
}

// The table of the levels is small, and made on the host.
static gboolean level_volume(PatchPlan *p, const LithoPass *pass, LithoRun *run, GError **error)
{
    const LithoPatchParams *params = pass->params;
    const LithoPatchGeometry g = litho_patch_grid_geometry(&p->grid, params);
    g_autoptr(LithoCube) level = litho_cube_new_box(&pass->out->grid, pass->out->held, error);
    LithoPass balanced = *pass;
    balanced.in = patch_over_gains(p, pass, run, error);
    if (!level || !balanced.in || !prepare(p, &balanced, run, error) ||
        !patch_levels_are_there(&p->levels, &g, error) ||
        !patch_levels_volume(&p->levels, pass->region, level, run, error))
        return FALSE;
    if (balanced.in != pass->in)
        litho_balance_multiply_level(level, pass->region, p->gains.of.gain, run);
    if (run)
        patch_levels_report(&p->levels, &p->grid, params, run->report);
    return litho_cuda_finish(p->context, run, error) &&
           litho_cuda_buffer_upload(pass->out->device, 0, level->samples,
                                    litho_box_count(level->held), error);
}

// Structure of the result, which is made with the region's surroundings; mutes are zero in it, and
// filled traces are live.
static gboolean structure_volume(PatchPlan *p, const LithoPass *pass, const LithoCube *raw,
                                 int volume, LithoRun *run, GError **error)
{
    LithoPass result = *pass;
    result.volume = NULL;
    result.region = litho_patch_structure_box(&p->grid, pass->region);
    LithoBuffer *buffer = litho_cuda_buffer_alloc(litho_cuda_device(p->context),
                                                  litho_box_count(result.region), error);
    if (!buffer)
        return FALSE;
    g_autoptr(LithoCube) out = litho_cube_new_device(&p->grid, result.region, buffer, error);
    if (!out) {
        litho_cuda_buffer_free(buffer);
        return FALSE;
    }
    result.out = out;
    litho_cube_inherit(out, pass->in);
    const gboolean ok = run_pass(p, &result, raw, run, error) &&
                        litho_cuda_keep_mute(pass->in, out, result.region, error) &&
                        patch_structure(p, pass, out, volume, run, error);
    if (ok)
        litho_patch_take_live(pass->out, out);
    else // launches that read the result must be over
        cudaStreamSynchronize(litho_cuda_stream(p->context));
    return ok;
}

// The pass's parameters with the window and the rule in use.
static gboolean settle(PatchPlan *p, const LithoPass *pass, LithoPatchParams *params, LithoRun *run,
                       GError **error)
{
    if (patch_choice_known(&p->choice, &p->grid, pass, params))
        return TRUE;
    const LithoCube *clean =
        litho_cuda_clean(p->context, &p->erratic, &p->clean, litho_patch_clean_rule(pass->params),
                         pass->in, run, error);
    PatchFetch fetch = {p, clean};
    const LithoReader reader = {.grid = &p->grid, .read = patch_fetch_box, .data = &fetch};
    return clean && patch_choice_make(&p->choice, pass, &reader, run, params, error);
}

// The pass's input without its swell, which the host takes off where there is some. NULL:
// cancelled, or no memory.
static const LithoCube *calm(PatchPlan *p, const LithoPass *pass, LithoRun *run, GError **error)
{
    PatchFetch fetch = {p, pass->in};
    const LithoReader blocks = {.grid = &pass->in->grid, .read = patch_fetch_box, .data = &fetch};
    return patch_swell_calm(&p->calm, pass->params, pass->in, pass->in->samples ? NULL : &blocks,
                            pass->measured, run, error);
}

static gboolean exec(gpointer data, const LithoPass *asked, LithoRun *run, GError **error)
{
    PatchPlan *p = data;
    LithoPatchParams params;
    LithoPass settled = *asked, *pass = &settled;
    const int volume = litho_patch_structure_volume(pass->volume);
    if (!litho_cuda_enter(p->context, error))
        return FALSE;
    if (litho_box_empty(pass->region))
        return TRUE;
    settled.in = calm(p, asked, run, error);
    const gboolean known = settled.in && settle(p, pass, &params, run, error);
    settled.params = &params;
    if (known && run)
        patch_choice_report(asked->params, &params, run->report);
    if (known && volume >= 0)
        return structure_volume(p, pass, asked->in, volume, run, error);
    if (known && pass->volume)
        return level_volume(p, pass, run, error);
    const gboolean ok = known && run_pass(p, pass, asked->in, run, error);
    if (!ok) // launches that read this call's memory must be over
        cudaStreamSynchronize(litho_cuda_stream(p->context));
    return ok;
}

static guint64 memory(const LithoGrid *in, const void *params, LithoResolved *known,
                      LithoBox region, int threads)
{
    (void)threads;
    (void)known;
    const LithoPatchParams most = litho_patch_at_most(in, params), *p = &most;
    const LithoBox need = litho_patch_input_box(in, params, region);
    const LithoPatchGeometry g = litho_patch_grid_geometry(in, p);
    guint64 bytes =
        4 * (litho_box_count(need) + litho_box_count(region)) + litho_grid_traces(in) + (1 << 20);
    bytes += litho_clean_bytes(litho_box_count(need)); // the input without holes and bursts
    bytes += MAX(patch_gains_bytes(in, p, need), patch_swell_copy_bytes(in, params, need));
    if (p->sigma == 0)
        bytes += patch_meter_bytes(&g);
    if (p->mode == LITHO_PATCH_DENOISE)
        return bytes + patch_faults_bytes(&g, p, region) +
               patch_sweep_bytes(&g, FALSE, litho_patch_first_pass(&g, p, region));
    const LithoBox frame = litho_patch_largest_frame(in);
    return bytes + 12 * litho_box_count(frame) + patch_sweep_bytes(&g, TRUE, frame);
}

static guint64 volume_memory(const LithoGrid *in, const void *params, const LithoVolumeDoc *volume,
                             LithoBox region)
{
    (void)params;
    const gboolean structure = litho_patch_structure_volume(volume) >= 0;
    return structure && !litho_box_empty(region) ? patch_structure_bytes(in, region) : 0;
}

// Part by part, each on the device while it is measured.
static LithoMeasured *measure(const void *params, const LithoReader *reader, LithoRun *run,
                              GError **error)
{
    guint64 unused = 0, total = 0;
    LithoReader parts = *reader;
    PatchPlan *p = plan(reader->grid, params, NULL, run, error);
    LithoMeasured *measured = NULL;
    if (!p)
        return NULL;
    if (litho_cuda_enter(p->context, error) &&
        litho_cuda_memory(litho_cuda_device(p->context), &unused, &total, error)) {
        // A part, its copy without bursts, and as much again for the spectra.
        parts.bytes = MAX(MIN(reader->bytes ? reader->bytes : G_MAXUINT64, unused / 3), 1);
        const PatchMeter meter = patch_meter(p);
        measured = patch_measure_with(params, &parts, &meter, run, error);
    }
    destroy(p);
    return measured;
}

const LithoImpl litho_cuda_patch = {.plan = plan,
                                    .exec = exec,
                                    .destroy = destroy,
                                    .memory = memory,
                                    .volume_memory = volume_memory,
                                    .measure = measure};
