// SPDX-License-Identifier: GPL-3.0-or-later
//
// The F-X filter on CUDA: plan, exec, and the numbers beside the result. The spectra of the whole
// input stay on the device while there is room, so that moving a slider of the filter costs no FFT.
#include <string.h>

#include "core/error.h"
#include "kernels/fx/cuda/fx.h"
#include "kernels/fx/report.h"

enum { WEIGH_BLOCKS = 1024 };

// --- memory --------------------------------------------------------------------------------------

// Arrays whose size depends on how many time windows are kept and how many bins are worked on at
// once. The k-th of them, NULL behind the last.
static LithoCudaArray *elastic(FxPlan *p, gsize k)
{
    LithoCudaArray *const arrays[] = {
        &p->live,     &p->starts,    &p->absent,    &p->present,  &p->spectra, &p->blended,
        &p->spots,    &p->matrix,    &p->taps,      &p->good,     &p->scales,  &p->tiles[0],
        &p->tiles[1], &p->states[0], &p->states[1], &p->filtered, &p->over,    &p->largest};
    return k < G_N_ELEMENTS(arrays) ? arrays[k] : NULL;
}

guint64 fx_elastic_bytes(FxPlan *p)
{
    guint64 bytes = 0;
    for (gsize k = 0; elastic(p, k); k++)
        bytes += elastic(p, k)->bytes;
    return bytes;
}

static void give_back(FxPlan *p)
{
    p->serial = 0;
    for (gsize k = 0; elastic(p, k); k++)
        litho_cuda_release(p->context, elastic(p, k));
}

// Room: free memory and the memory a smaller plan would free, less the input when it is to come.
static gboolean measure_room(const FxJob *job, guint64 *room, GError **error)
{
    FxPlan *p = job->p;
    guint64 unused = 0, total = 0;
    if (!litho_cuda_memory(litho_cuda_device(p->context), &unused, &total, error))
        return FALSE;
    const guint64 all = unused + fx_elastic_bytes(p);
    const guint64 coming = litho_cuda_is_here(p->context, job->pass->in)
                               ? 0
                               : sizeof(float) * litho_box_count(job->pass->in->held);
    // A sixteenth is lost where the pool rounds and pieces do not fit.
    *room = all > coming ? (all - coming) / 16 * 15 : 0;
    return TRUE;
}

// --- plan ----------------------------------------------------------------------------------------

static void destroy(gpointer data)
{
    FxPlan *p = data;
    LithoCudaArray *const arrays[] = {&p->weights,  &p->padded, &p->transformed, &p->recorded,
                                      &p->counters, &p->sums,   &p->filled,      &p->level,
                                      &p->lags,     &p->gain};
    if (p->context && litho_cuda_enter(p->context, NULL)) {
        give_back(p);
        for (gsize k = 0; k < G_N_ELEMENTS(arrays); k++)
            litho_cuda_release(p->context, arrays[k]);
        litho_cuda_erratic_release(p->context, &p->erratic);
        if (p->have_forward)
            cufftDestroy(p->forward);
        if (p->have_inverse)
            cufftDestroy(p->inverse);
    }
    litho_cuda_context_free(p->context);
    litho_clean_clear(&p->clean);
    litho_gains_clear(&p->gains);
    fx_shared_clear(&p->shared);
    g_free(p->host_present);
    g_free(p->host_absent);
    g_free(p);
}

static gboolean make_transforms(FxPlan *p, GError **error)
{
    cudaStream_t stream = litho_cuda_stream(p->context);
    p->own = litho_fx_own_length(p->nfft);
    if (p->own)
        return TRUE;
    const gsize real = (gsize)p->batch * p->nfft * sizeof(float);
    const gsize complex = (gsize)p->batch * (p->nfft / 2 + 1) * sizeof(LithoFxComplex);
    // Batches are always whole: what a small job leaves unused must at least be numbers.
    if (!litho_cuda_reserve(p->context, &p->padded, real, error) ||
        !litho_cuda_reserve(p->context, &p->transformed, complex, error) ||
        !LITHO_CUDA(cudaMemsetAsync(p->padded.data, 0, real, stream), error) ||
        !LITHO_CUDA(cudaMemsetAsync(p->transformed.data, 0, complex, stream), error))
        return FALSE;
    if (p->nfft == 1) // spectra.c
        return TRUE;
    p->have_forward = LITHO_CUFFT(cufftPlan1d(&p->forward, p->nfft, CUFFT_R2C, p->batch), error);
    p->have_inverse = p->have_forward &&
                      LITHO_CUFFT(cufftPlan1d(&p->inverse, p->nfft, CUFFT_C2R, p->batch), error);
    return p->have_inverse && LITHO_CUFFT(cufftSetStream(p->forward, stream), error) &&
           LITHO_CUFFT(cufftSetStream(p->inverse, stream), error);
}

static gboolean upload_weights(FxPlan *p, LithoFxAxis axis, GError **error)
{
    g_autofree float *weights = litho_fx_weights(axis, error);
    return weights && litho_cuda_put(p->context, &p->weights, weights,
                                     sizeof(float) * axis.count * axis.length, error);
}

static gpointer plan(const LithoGrid *in, const void *params, LithoResolved *known, LithoRun *run,
                     GError **error)
{
    (void)known;
    LithoCudaContext *context = litho_cuda_context_new(run ? run->device : 0, error);
    if (!context)
        return NULL;
    FxPlan *p = g_new0(FxPlan, 1);
    p->grid = *in;
    p->context = context;
    p->nfft = litho_fx_grid_geometry(in, params).nfft;
    p->batch = MAX(FX_BATCH_SAMPLES / p->nfft, 1);
    int ordinal = 0;
    if (LITHO_CUDA(cudaGetDevice(&ordinal), error) &&
        LITHO_CUDA(cudaDeviceGetAttribute(&p->shared_limit, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                          ordinal),
                   error) &&
        LITHO_CUDA(cudaDeviceGetAttribute(&p->processors, cudaDevAttrMultiProcessorCount, ordinal),
                   error) &&
        make_transforms(p, error) &&
        upload_weights(p, litho_fx_grid_geometry(in, params).axis[2], error))
        return p;
    destroy(p);
    return NULL;
}

// --- numbers beside the result -------------------------------------------------------------------

// Energies of the region and, after fill_dead, which traces are there now.
static gboolean weigh(FxJob *job, FxTotals *totals, GError **error)
{
    FxPlan *p = job->p;
    cudaStream_t stream = litho_cuda_stream(p->context);
    const gint64 traces = fx_region_traces(job);
    LithoFxBack back = fx_back(job, 0, 0, 0);
    g_autofree double *sums = g_new(double, 3 * WEIGH_BLOCKS);
    g_autofree guint8 *filled = g_malloc(traces);
    if (job->recorded) // the removed part counts the bursts
        back.in = job->recorded;
    if (!LITHO_CUDA(litho_fx_weigh(&back, p->recorded.data, job->out, WEIGH_BLOCKS, p->sums.data,
                                   p->filled.data, stream),
                    error) ||
        !LITHO_CUDA(cudaMemcpyAsync(sums, p->sums.data, 3 * WEIGH_BLOCKS * sizeof(double),
                                    cudaMemcpyDeviceToHost, stream),
                    error) ||
        !LITHO_CUDA(cudaMemcpyAsync(filled, p->filled.data, traces, cudaMemcpyDeviceToHost, stream),
                    error) ||
        !LITHO_CUDA(cudaStreamSynchronize(stream), error))
        return FALSE;
    for (int k = 0; k < WEIGH_BLOCKS; k++) {
        totals->input += sums[3 * k];
        totals->removed += sums[3 * k + 1];
        totals->product += sums[3 * k + 2];
    }
    for (gint64 k = 0; k < traces && job->params->fill_dead; k++) {
        const gint64 il = job->region.lo[0] + k / back.n_xl, xl = job->region.lo[1] + k % back.n_xl;
        guint8 *live = &job->pass->out->live[litho_cube_trace_index(job->pass->out, il, xl)];
        *live |= filled[k];
    }
    return TRUE;
}

// Which traces of the input are recorded, on the device; `missing`: some are not.
static gboolean upload_recorded(FxJob *job, gboolean *missing, GError **error)
{
    FxPlan *p = job->p;
    const gsize traces = fx_held_traces(job);
    *missing = memchr(job->raw->live, 0, traces) != NULL;
    return litho_cuda_put(p->context, &p->recorded, job->raw->live, traces, error);
}

// Missing traces have guesses no longer (unless they are filled), and traces that are alone the
// samples that were recorded.
static gboolean restore(FxJob *job, gboolean missing, GError **error)
{
    FxPlan *p = job->p;
    const gsize traces = fx_held_traces(job);
    const gboolean guessed = missing && job->recorded && !job->params->fill_dead;
    if (!job->alone && !guessed)
        return TRUE;
    g_autofree guint8 *changed = g_malloc(traces);
    for (gsize k = 0; k < traces; k++)
        changed[k] = job->raw->live[k] ? !job->alone || !job->alone[k] : !guessed;
    LithoFxBack back = fx_back(job, 0, 0, 0);
    if (job->recorded)
        back.in = job->recorded;
    return litho_cuda_put(p->context, &p->recorded, changed, traces, error) &&
           LITHO_CUDA(
               litho_fx_restore(&back, p->recorded.data, job->out, litho_cuda_stream(p->context)),
               error) &&
           LITHO_CUDA(cudaStreamSynchronize(litho_cuda_stream(p->context)), error) &&
           litho_cuda_put(p->context, &p->recorded, job->raw->live, traces, error);
}

// Windows and how their systems fared.
static void count(const FxJob *job, const gint64 counters[LITHO_FX_COUNTERS], FxTotals *totals)
{
    const LithoFxAxis time = job->g.axis[2];
    const LithoBox r = job->region;
    totals->windows = fx_windows(job) * (litho_fx_last(time, (int)r.hi[2] - 1) -
                                         litho_fx_first(time, (int)r.lo[2]) + 1);
    totals->systems = counters[LITHO_FX_SYSTEMS];
    totals->empty = job->empty;
    totals->failed = counters[LITHO_FX_FAILED];
    totals->octaves = counters[LITHO_FX_OCTAVES];
    totals->fallbacks = counters[LITHO_FX_FALLBACKS];
}

// --- exec ----------------------------------------------------------------------------------------

static FxJob job_of(FxPlan *p, const LithoPass *pass, LithoRun *run)
{
    const LithoBox held = pass->in->held, r = pass->region;
    LithoFxGeometry g = litho_fx_grid_geometry(&p->grid, pass->params);
    return (FxJob){
        .p = p,
        .pass = pass,
        .params = pass->params,
        .g = g,
        .region = r,
        .held = {(int)held.lo[0], (int)held.lo[1], (int)litho_box_size(held, 0),
                 (int)litho_box_size(held, 1)},
        .in_t0 = (int)held.lo[2],
        .in_samples = (int)litho_box_size(held, 2),
        .windows = {litho_fx_first(g.axis[0], (int)r.lo[0]),
                    litho_fx_last(g.axis[0], (int)r.hi[0] - 1) + 1,
                    litho_fx_first(g.axis[1], (int)r.lo[1]),
                    litho_fx_last(g.axis[1], (int)r.hi[1] - 1) + 1},
        .first = litho_fx_first(g.axis[2], (int)r.lo[2]),
        .last = litho_fx_last(g.axis[2], (int)r.hi[2] - 1),
        .run = run,
    };
}

// All time windows at once when their spectra fit, else as many at a time as do.
static gboolean run_parts(FxJob *job, GError **error)
{
    const int last = job->last;
    for (; job->first <= last; job->first = job->last + 1) {
        job->last = MIN(last, job->first + fx_windows_at_once(job) - 1);
        if (!fx_forward(job, error) || !fx_filter(job, error))
            return FALSE;
    }
    return TRUE;
}

// One try with job->room bytes.
static gboolean run_within(FxJob *job, gint64 counters[LITHO_FX_COUNTERS], GError **error)
{
    FxPlan *p = job->p;
    cudaStream_t stream = litho_cuda_stream(p->context);
    const gsize bytes = LITHO_FX_COUNTERS * sizeof(gint64);
    return LITHO_CUDA(cudaMemsetAsync(p->counters.data, 0, bytes, stream), error) &&
           run_parts(job, error) &&
           LITHO_CUDA(
               cudaMemcpyAsync(counters, p->counters.data, bytes, cudaMemcpyDeviceToHost, stream),
               error) &&
           litho_cuda_finish(p->context, job->run, error);
}

// The sums are planned to fit; where the card says no all the same (pieces, other programs), the
// pass begins again with half, down to one time window and one bin.
static gboolean run_smaller_and_smaller(FxJob *job, gint64 counters[LITHO_FX_COUNTERS],
                                        GError **error)
{
    const FxJob fresh = *job;
    guint64 room = 0, most = G_MAXUINT64;
    for (;;) {
        g_autoptr(GError) why = NULL;
        *job = fresh;
        if (!measure_room(job, &room, error))
            return FALSE;
        job->room = MIN(room, most);
        if (run_within(job, counters, &why))
            return TRUE;
        const gboolean smallest = fx_windows_at_once(job) == 1 && job->step_bins <= 1;
        if (smallest || !g_error_matches(why, LITHO_ERROR, LITHO_ERROR_MEMORY) ||
            !litho_cuda_enter(job->p->context, NULL)) {
            g_propagate_error(error, g_steal_pointer(&why));
            return FALSE;
        }
        most = job->room / 2;
        give_back(job->p);
    }
}

static gboolean times_gains(FxJob *job, GError **error)
{
    FxPlan *p = job->p;
    return !job->over_gains ||
           litho_cuda_times_gains(p->context, &p->gain, &p->grid, p->gains.of.gain, job->out,
                                  job->pass->out->held, job->region, error);
}

static gboolean run_job(FxJob *job, GError **error)
{
    FxPlan *p = job->p;
    gint64 counters[LITHO_FX_COUNTERS] = {0};
    FxTotals totals = {0};
    const gboolean asked = job->run && job->run->report;
    gboolean missing = FALSE;
    if (!litho_cuda_reserve(p->context, &p->counters, sizeof counters, error) ||
        !litho_cuda_reserve(p->context, &p->sums, 3 * WEIGH_BLOCKS * sizeof(double), error) ||
        !litho_cuda_reserve(p->context, &p->filled, fx_region_traces(job), error) ||
        !upload_recorded(job, &missing, error) || !run_smaller_and_smaller(job, counters, error) ||
        !times_gains(job, error) || !restore(job, missing, error))
        return FALSE;
    const gboolean fills = job->params->fill_dead && (missing || p->host_present);
    if ((asked || fills) && !weigh(job, &totals, error))
        return FALSE;
    count(job, counters, &totals);
    totals.shared = p->shared.noise.total;
    totals.alone = job->alone != NULL;
    totals.gaps = fills && litho_fx_leaves_gaps(job->pass->out, job->region);
    if (asked) {
        fx_report(job->run->report, &totals, &p->grid, job->params);
        litho_gains_report(&p->gains, "fx", &p->grid, job->run->report);
        litho_clean_report(&p->clean, job->raw, job->run->report);
    }
    return TRUE;
}

static const LithoCube *over_gains(FxPlan *p, const LithoPass *pass, LithoRun *run, GError **error)
{
    LithoCudaGains here;
    litho_cuda_gains_set(&here, p->context, &p->gain, pass->in);
    return fx_gains_divide(&p->gains, pass, &here.device, run, error);
}

static const LithoCube *clean(FxPlan *p, const LithoPass *pass, LithoRun *run, GError **error)
{
    const LithoCleanRule rule = fx_gains_clean_rule(p->gains.of, p->gains.stamp, pass->params);
    return litho_cuda_clean(p->context, &p->erratic, &p->clean, rule, pass->in, run, error);
}

typedef const LithoCube *(*Prepare)(FxPlan *p, const LithoPass *pass, LithoRun *run,
                                    GError **error);

// The pass with what `prepare` makes of its input.
static gboolean prepare_pass(FxPlan *p, Prepare prepare, const LithoPass *pass, LithoPass *prepared,
                             LithoRun *run, GError **error)
{
    g_autoptr(GError) why = NULL;
    *prepared = *pass;
    prepared->in = prepare(p, pass, run, &why);
    // Spectra of the pass before may hold all the memory.
    if (!prepared->in && g_error_matches(why, LITHO_ERROR, LITHO_ERROR_MEMORY) &&
        fx_elastic_bytes(p) > 0 && litho_cuda_enter(p->context, NULL)) {
        g_clear_error(&why);
        give_back(p);
        prepared->in = prepare(p, pass, run, &why);
    }
    if (why)
        g_propagate_error(error, g_steal_pointer(&why));
    return prepared->in != NULL;
}

typedef struct Fetch {
    FxPlan *p;
    const LithoCube *clean, *raw;
} Fetch;

static LithoCube *fetch_column(const LithoBox *box, LithoRun *run, gpointer data, guint8 **recorded,
                               GError **error)
{
    const Fetch *from = data;
    *recorded = from->clean != from->raw ? fx_shared_recorded(from->raw, box) : NULL;
    return litho_cuda_fetch_box(from->p->context, from->clean, *box, run, error);
}

// The needs of rule 8. `pass`: with the input as it came; `over`: that over its gains.
static gboolean know_shared(FxPlan *p, const LithoPass *pass, const LithoCube *over,
                            const LithoCube *clean, const LithoFxGeometry *g, LithoRun *run,
                            GError **error)
{
    g_autoptr(GError) why = NULL;
    Fetch from = {p, clean, over};
    const FxColumns columns = {&p->grid, fetch_column, &from};
    if (!fx_shared_known(&p->shared, pass, &why) &&
        (why || !fx_shared_find(&p->shared, pass, &columns, run, &why))) {
        g_propagate_error(error, g_steal_pointer(&why));
        return FALSE;
    }
    if (!p->shared.noise.shape || g->bins == 0)
        return TRUE;
    const gsize numbers = 2 * (gsize)fx_shared_lags(g->half) * g->bins;
    g_autofree float *level = g_new(float, g->bins), *lags = g_new(float, numbers);
    fx_shared_bins(&p->shared, g, level, lags);
    return litho_cuda_put(p->context, &p->level, level, g->bins * sizeof *level, error) &&
           litho_cuda_put(p->context, &p->lags, lags, numbers * sizeof *lags, error);
}

static gboolean exec(gpointer data, const LithoPass *pass, LithoRun *run, GError **error)
{
    FxPlan *p = data;
    LithoPass over, clean_pass;
    if (!litho_cuda_enter(p->context, error))
        return FALSE;
    if (litho_box_empty(pass->region))
        return TRUE;
    // No launch is under way: the cube with guesses of another input may go.
    if (!prepare_pass(p, over_gains, pass, &over, run, error) ||
        !prepare_pass(p, clean, &over, &clean_pass, run, error))
        return FALSE;
    FxJob job = job_of(p, &clean_pass, run);
    if (!know_shared(p, pass, over.in, clean_pass.in, &job.g, run, error))
        return FALSE;
    job.raw = pass->in;
    job.over_gains = over.in != pass->in;
    if (clean_pass.in != pass->in) // before the room for everything else is measured
        job.recorded = litho_cuda_input(p->context, pass->in, run, error);
    gboolean ok = clean_pass.in == pass->in || job.recorded;
    ok = ok && litho_fx_alone(pass->in, &job.g, pass->region, &job.alone, error);
    job.out = ok ? litho_cuda_output(p->context, pass->out, error) : NULL;
    ok = job.out && run_job(&job, error);
    if (!ok) // launches that read this call's memory must be over
        cudaStreamSynchronize(litho_cuda_stream(p->context));
    g_free(job.alone);
    return ok;
}

// Cubes, one time window, and bins in chunks: below this a pass still runs, with fewer bins at a
// time, down to about an eighth of the filter's share.
static guint64 memory(const LithoGrid *in, const void *params, LithoResolved *known,
                      LithoBox region, int threads)
{
    (void)threads;
    (void)known;
    const LithoFxGeometry g = litho_fx_grid_geometry(in, params);
    const LithoBox need = litho_fx_input_box(in, params, region);
    const guint64 traces = litho_box_size(need, 0) * litho_box_size(need, 1);
    const guint64 out = litho_box_size(region, 0) * litho_box_size(region, 1);
    const guint64 taps = litho_fx_taps(g.half[0], g.half[1]) + 1;
    const guint64 windows = (guint64)(litho_fx_last(g.axis[0], (int)region.hi[0] - 1) -
                                      litho_fx_first(g.axis[0], (int)region.lo[0]) + 1) *
                            (litho_fx_last(g.axis[1], (int)region.hi[1] - 1) -
                             litho_fx_first(g.axis[1], (int)region.lo[1]) + 1);
    const LithoFxParams *p = params;
    const guint64 bin =
        windows * ((p->faults ? 12 : 8) * (guint64)g.axis[0].length * g.axis[1].length +
                   4 * litho_fx_packed_size(litho_fx_round4((int)taps)) + 8 * taps);
    const int fewest = p->faults ? MIN(LITHO_FX_KEEP_BINS, MAX(g.bins, 1)) : 1;
    const gboolean guesses = p->erratic > 0 || p->fill_passes > 0;
    return 4 * litho_box_count(need) + (guesses ? litho_clean_bytes(litho_box_count(need)) : 0) +
           fx_gains_bytes(in, p, need) + 4 * litho_box_count(region) + traces * (8 * g.bins + 1) +
           8 * out * (g.nfft / 2 + 1) + MAX(MIN(g.bins * bin, FX_CHUNK_BYTES / 24), fewest * bin) +
           4 * (guint64)g.axis[2].count * g.axis[2].length + // blending weights
           (litho_fx_own_length(g.nfft) ? 0 : 12 * FX_BATCH_SAMPLES) + traces + (1 << 20);
}

const LithoImpl litho_cuda_fx = {
    .plan = plan, .exec = exec, .destroy = destroy, .memory = memory, .rivals = fx_rivals};
