// SPDX-License-Identifier: GPL-3.0-or-later
//
// The F-X filter on the CPU: plan, the filter stage, and how a region is divided.
//
// Spectra and filtered windows stay in the plan while they fit its budget (litho_memory_to_keep()),
// so that a change of the prewhitening costs no FFT and the rest of the cube after the visible
// slices costs no window twice. What does not fit is computed piece by piece and forgotten; the
// samples are the same.
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "kernels/common/weigh.h"
#include "kernels/fx/cpu/plan.h"
#include "kernels/fx/report.h"

static const FxIsa *best_isa(void)
{
#ifdef __x86_64__
    if (&fx_isa_avx512 && __builtin_cpu_supports("avx512f"))
        return &fx_isa_avx512;
    if (&fx_isa_avx2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &fx_isa_avx2;
#endif
    return &fx_isa;
}

// FFTW_ESTIMATE: quick, and the same plan in every process, so that previews, command line and the
// ranks of a cluster agree bit for bit. Planning is made thread-safe by litho_kernels_init().
static gpointer plan(const LithoGrid *in, const void *params, LithoResolved *known, LithoRun *run,
                     GError **error)
{
    (void)known;
    (void)run;
    int nfft = litho_fx_grid_geometry(in, params).nfft;
    float *trace = fftwf_alloc_real(nfft);
    fftwf_complex *spectrum = fftwf_alloc_complex(nfft / 2 + 1);
    FxPlan *p = g_new0(FxPlan, 1);
    p->grid = *in;
    p->nfft = nfft;
    p->budget = litho_memory_to_keep();
    p->isa = best_isa();
    if (trace && spectrum) {
        p->forward = fftwf_plan_dft_r2c_1d(nfft, trace, spectrum, FFTW_ESTIMATE);
        p->inverse = fftwf_plan_dft_c2r_1d(nfft, spectrum, trace, FFTW_ESTIMATE);
    }
    fftwf_free(trace);
    fftwf_free(spectrum);
    if (p->forward && p->inverse)
        return p;
    litho_fx_cpu.destroy(p);
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY,
                _("there is no memory for transforms of %d samples"), nfft);
    return NULL;
}

static void free_threads(FxPlan *p)
{
    for (int t = 0; t < p->n_threads; t++) {
        fftwf_free(p->threads[t].trace);
        fftwf_free(p->threads[t].spectrum);
        free(p->threads[t].sum);
        free(p->threads[t].scratch);
    }
    g_clear_pointer(&p->threads, g_free);
    p->n_threads = 0;
}

static void destroy(gpointer data)
{
    FxPlan *p = data;
    for (int k = 0; k < FX_MAX_WORKS; k++)
        fx_work_free(p->works[k]);
    free_threads(p);
    g_free(p->alone);
    fx_shared_clear(&p->shared);
    litho_gains_clear(&p->gains);
    free(p->lags);
    litho_clean_clear(&p->clean);
    if (p->forward)
        fftwf_destroy_plan(p->forward);
    if (p->inverse)
        fftwf_destroy_plan(p->inverse);
    g_free(p);
}

// --- threads ----------------------------------------------------------------------------------

static gboolean ready_thread(FxThread *t, int nfft, const FxIsa *isa, const FxWork *w,
                             GError **error)
{
    const LithoFxAxis *a = w->g.axis;
    gsize bytes = isa->scratch_bytes(a[0].length, a[1].length, w->params.half_width);
    if (!t->trace)
        t->trace = fftwf_alloc_real(nfft);
    if (!t->spectrum)
        t->spectrum = fftwf_alloc_complex(nfft / 2 + 1);
    if (t->scratch_bytes < bytes) {
        free(t->scratch);
        t->scratch = fx_alloc(bytes, NULL);
        t->scratch_bytes = t->scratch ? bytes : 0;
    }
    const gsize sums = fx_sum_count(&w->g, w->lanes);
    if (t->sum_count < sums) {
        free(t->sum);
        t->sum = fx_alloc(sums * sizeof *t->sum, NULL);
        t->sum_count = t->sum ? sums : 0;
    }
    if (!t->trace || !t->spectrum || !t->scratch || !t->sum) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY,
                    _("there is no memory for a window of %d x %d traces"), a[0].length,
                    a[1].length);
        return FALSE;
    }
    return TRUE;
}

static gboolean ready_threads(FxPart *part, GError **error)
{
    FxPlan *p = part->plan;
    if (p->n_threads < part->n_threads) {
        free_threads(p);
        p->threads = g_new0(FxThread, part->n_threads);
        p->n_threads = part->n_threads;
    }
    for (int t = 0; t < part->n_threads; t++)
        if (!ready_thread(&p->threads[t], p->nfft, p->isa, part->work, error))
            return FALSE;
    return TRUE;
}

// --- stage 2 ----------------------------------------------------------------------------------

// A window and a batch of bins that are still to be computed.
typedef struct Task {
    int k, w_il, w_xl, batch;
} Task;

static FxRect window_rect(const LithoFxGeometry *g, int w_il, int w_xl)
{
    int il = litho_fx_start(g->axis[0], w_il), xl = litho_fx_start(g->axis[1], w_xl);
    return (FxRect){il, il + g->axis[0].length, xl, xl + g->axis[1].length};
}

// Memory for the part's windows that have none yet, in one block.
static gboolean get_filtered(FxPart *part, GError **error)
{
    FxWork *w = part->work;
    const gsize count = fx_cell(w) * w->batches * w->g.axis[0].length * w->g.axis[1].length;
    g_autoptr(GPtrArray) missing = g_ptr_array_new();
    for (int k = part->first; k <= part->last; k++)
        for (int i = part->windows.il0; i < part->windows.il1; i++)
            for (int j = part->windows.xl0; j < part->windows.xl1; j++) {
                float **unit = &w->filtered[fx_unit(&w->g, k, i, j)];
                if (!*unit)
                    g_ptr_array_add(missing, unit);
            }
    if (missing->len == 0)
        return TRUE;
    float *block = fx_alloc(sizeof(float) * count * missing->len, error);
    if (!block)
        return FALSE;
    g_ptr_array_add(w->blocks, block);
    for (guint n = 0; n < missing->len; n++)
        *(float **)missing->pdata[n] = block + count * n;
    return TRUE;
}

// Tasks not done yet, with memory for their results. NULL sets the error.
static GArray *list_tasks(FxPart *part, GError **error)
{
    FxWork *w = part->work;
    if (!get_filtered(part, error))
        return NULL;
    GArray *tasks = g_array_new(FALSE, FALSE, sizeof(Task));
    for (int k = part->first; k <= part->last; k++)
        for (int i = part->windows.il0; i < part->windows.il1; i++)
            for (int j = part->windows.xl0; j < part->windows.xl1; j++) {
                gsize unit = fx_unit(&w->g, k, i, j);
                for (int b = 0; b < w->batches; b++) {
                    Task task = {k, i, j, b};
                    if (!w->ready[unit * w->batches + b])
                        g_array_append_val(tasks, task);
                }
            }
    return tasks;
}

static FxWindow window_of(const FxPart *part, const Task *task, FxLoop *loop)
{
    const FxWork *w = part->work;
    const gsize traces = fx_area(w->held), unit = fx_unit(&w->g, task->k, task->w_il, task->w_xl);
    return (FxWindow){
        .params = part->params,
        .n_il = w->g.axis[0].n,
        .n_xl = w->g.axis[1].n,
        .held = w->held,
        .window = window_rect(&w->g, task->w_il, task->w_xl),
        .spectra = w->spectra[task->k] + traces * task->batch * fx_cell(w),
        .present = w->present + traces * task->k,
        .padding = (float)w->g.nfft / (float)w->g.axis[2].length,
        .shared = part->plan->lags ? part->plan->lags + fx_lags_pitch(w) * task->batch : NULL,
        .alike = part->plan->alike,
        .reach_il = w->g.half[0],
        .reach_xl = w->g.half[1],
        .out = w->filtered[unit] +
               fx_cell(w) * w->g.axis[0].length * w->g.axis[1].length * task->batch,
        .go_on = fx_go_on,
        .go_on_data = loop,
    };
}

static void run_task(const FxPart *part, FxLoop *loop, const Task *task, void *scratch)
{
    FxWork *w = part->work;
    const gsize cell = fx_unit(&w->g, task->k, task->w_il, task->w_xl) * w->batches + task->batch;
    const FxWindow window = window_of(part, task, loop);
    // The filter looks at a cancel, too: 100 x 100 traces with many absent take a hundred times the
    // usual.
    w->ready[cell] = part->plan->isa->filter(&window, scratch, &w->counts[cell]) != 0;
}

// Rule 6, on the windows that it has not been over.
static void keep_unit(const FxPart *part, const Task *task, void *scratch)
{
    FxWork *w = part->work;
    const gsize unit = fx_unit(&w->g, task->k, task->w_il, task->w_xl);
    const int together = LITHO_FX_KEEP_BINS / w->lanes;
    const FxRect r = window_rect(&w->g, task->w_il, task->w_xl);
    Task first = *task;
    for (first.batch = 0; first.batch < w->batches; first.batch += together) {
        const FxKeep keep = {
            .first = window_of(part, &first, NULL),
            .spectra_pitch = fx_area(w->held) * fx_cell(w),
            .out_pitch = fx_cell(w) * w->g.axis[0].length * w->g.axis[1].length,
            .batches = MIN(together, w->batches - first.batch),
            .recorded = part->raw->live + litho_cube_trace_index(part->raw, r.il0, r.xl0),
            .recorded_pitch = litho_box_size(part->raw->held, 1),
        };
        part->plan->isa->keep(&keep, scratch);
    }
    w->kept[unit] = 1;
}

static GArray *list_units(const FxPart *part)
{
    const FxWork *w = part->work;
    GArray *units = g_array_new(FALSE, FALSE, sizeof(Task));
    for (int k = part->first; k <= part->last && part->params->faults; k++)
        for (int i = part->windows.il0; i < part->windows.il1; i++)
            for (int j = part->windows.xl0; j < part->windows.xl1; j++) {
                const Task task = {k, i, j, 0};
                if (!w->kept[fx_unit(&w->g, k, i, j)])
                    g_array_append_val(units, task);
            }
    return units;
}

static void time_filter(FxPart *part, const GArray *tasks, double start_ms)
{
    const FxWork *w = part->work;
    double flops = 0;
    for (guint n = 0; n < tasks->len; n++) {
        const Task *t = &g_array_index(tasks, Task, n);
        flops += w->counts[fx_unit(&w->g, t->k, t->w_il, t->w_xl) * w->batches + t->batch].flops;
    }
    double tile =
        (double)(w->g.axis[0].length + 2 * w->g.half[0]) * (w->g.axis[1].length + 2 * w->g.half[1]);
    double window = (double)w->g.axis[0].length * w->g.axis[1].length;
    litho_run_time(part->run, "design + filter", LITHO_STAGE_COMPUTE, litho_now_ms() - start_ms,
                   tasks->len * sizeof(float) * fx_cell(w) * (tile + window), flops);
}

gboolean fx_stage_filter(FxPart *part, GError **error)
{
    g_autoptr(GArray) tasks = list_tasks(part, error);
    double start = litho_now_ms();
    if (!tasks)
        return FALSE;
    FxLoop loop = {.run = part->run, .n = tasks->len, .error = error};
    litho_run_begin(part->run, "design + filter", "windows");
#pragma omp parallel for schedule(dynamic) num_threads(part->n_threads)
    for (gint64 k = 0; k < loop.n; k++)
        if (fx_go_on(&loop)) {
            run_task(part, &loop, &g_array_index(tasks, Task, k),
                     part->plan->threads[omp_get_thread_num()].scratch);
            __atomic_add_fetch(&loop.done, 1, __ATOMIC_RELAXED);
        }
    if (!fx_go_on(&loop))
        return litho_run_stopped(error);
    g_autoptr(GArray) units = list_units(part);
#pragma omp parallel for schedule(dynamic) num_threads(part->n_threads)
    for (guint k = 0; k < units->len; k++)
        if (fx_go_on(&loop))
            keep_unit(part, &g_array_index(units, Task, k),
                      part->plan->threads[omp_get_thread_num()].scratch);
    if (!fx_go_on(&loop))
        return litho_run_stopped(error);
    if (loop.n > 0)
        time_filter(part, tasks, start);
    return TRUE;
}

// --- report -----------------------------------------------------------------------------------

static void count_part(const FxPart *part, FxTotals *totals)
{
    const FxWork *w = part->work;
    for (int k = part->first; k <= part->last; k++)
        for (int i = part->windows.il0; i < part->windows.il1; i++)
            for (int j = part->windows.xl0; j < part->windows.xl1; j++) {
                const FxCounts *c = &w->counts[fx_unit(&w->g, k, i, j) * w->batches];
                totals->windows++;
                totals->empty += w->batches > 0 && c->empty;
                for (int b = 0; b < w->batches; b++) {
                    totals->systems += c[b].systems;
                    totals->fallbacks += c[b].fallbacks;
                    totals->failed += c[b].failed;
                    totals->octaves += c[b].octaves;
                    for (int n = 0; n < FX_STEPS; n++)
                        totals->seconds[n] += c[b].seconds[n];
                }
            }
}

// --- shared noise -----------------------------------------------------------------------------

typedef struct Cleaned {
    const LithoCube *clean, *raw;
} Cleaned;

static LithoCube *copy_column(const LithoBox *box, LithoRun *run, gpointer data, guint8 **recorded,
                              GError **error)
{
    const Cleaned *from = data;
    (void)run;
    *recorded = from->clean != from->raw ? fx_shared_recorded(from->raw, box) : NULL;
    return litho_cube_copy_box(from->clean, *box, error);
}

// The covariance of the pass's geometry by batches, in vectors of `lanes` bins.
static gboolean spread_lags(FxPlan *p, const LithoFxGeometry *g, GError **error)
{
    const int lanes = p->isa->lanes, n = fx_shared_lags(g->half);
    const gsize batches = (g->bins + lanes - 1) / lanes, pitch = 2 * (gsize)lanes * (1 + n);
    g_autofree float *level = g_new0(float, g->bins + 1);
    g_autofree float *lags = g_new(float, 2 * (gsize)n * g->bins + 1);
    g_clear_pointer(&p->lags, free);
    p->alike = fx_shared_alike(&p->shared);
    if (!p->shared.noise.shape || g->bins == 0)
        return TRUE;
    p->lags = fx_alloc(sizeof(float) * batches * pitch, error);
    if (!p->lags)
        return FALSE;
    memset(p->lags, 0, sizeof(float) * batches * pitch);
    fx_shared_bins(&p->shared, g, level, lags);
    for (int b = 0; b < g->bins; b++) {
        float *to = p->lags + pitch * (b / lanes) + b % lanes;
        to[0] = level[b];
        for (int k = 0; k < 2 * n; k++)
            to[(gsize)lanes * (2 + k)] = lags[2 * (gsize)n * b + k];
    }
    return TRUE;
}

// The needs of rule 8. `pass`: with the input as it came; `over`: that over its gains.
static gboolean know_shared(FxPlan *p, const LithoPass *pass, const LithoCube *over,
                            const LithoCube *clean, const LithoFxGeometry *g, LithoRun *run,
                            GError **error)
{
    g_autoptr(GError) why = NULL;
    Cleaned from = {clean, over};
    const FxColumns columns = {&p->grid, copy_column, &from};
    if (!fx_shared_known(&p->shared, pass, &why) &&
        (why || !fx_shared_find(&p->shared, pass, &columns, run, &why))) {
        g_propagate_error(error, g_steal_pointer(&why));
        return FALSE;
    }
    return spread_lags(p, g, error);
}

// --- exec -------------------------------------------------------------------------------------

static gboolean run_part(FxPart *part, FxTotals *totals, GError **error)
{
    if (!ready_threads(part, error) || !fx_stage_fft(part, error) ||
        !fx_stage_filter(part, error) || !fx_stage_inverse(part, error))
        return FALSE;
    count_part(part, totals);
    return TRUE;
}

// A region too large to keep: bands of inlines, and in each as many time windows at a time as fit.
static gboolean run_pieces(FxPlan *p, const LithoPass *pass, const LithoCube *raw, LithoRun *run,
                           FxTotals *totals, GError **error)
{
    LithoFxGeometry g = litho_fx_grid_geometry(&p->grid, pass->params);
    const gint64 stride = g.axis[0].stride;
    gint64 rows = litho_box_size(pass->region, 0) + stride;
    LithoBox band = pass->region;
    while (rows > stride) {
        band.hi[0] = MIN(band.lo[0] + rows, pass->region.hi[0]);
        if (fx_part_bytes(&g, p->isa->lanes, band, 1) <= p->budget)
            break;
        rows = MAX(rows / 2 / stride, 1) * stride;
    }
    for (; band.lo[0] < pass->region.hi[0]; band.lo[0] = band.hi[0]) {
        band.hi[0] = MIN((band.lo[0] / stride) * stride + rows, pass->region.hi[0]);
        FxPart all = fx_part(p, pass, raw, band, run);
        int at_once = (int)CLAMP(p->budget / MAX(fx_part_bytes(&g, p->isa->lanes, band, 1), 1), 1,
                                 G_MAXINT / 2);
        for (int k = all.first; k <= all.last; k += at_once) {
            FxPart part = all;
            part.first = k;
            part.last = MIN(k + at_once - 1, all.last);
            part.fresh = k == all.first;
            part.work =
                fx_work_new(&g, p->isa->lanes, pass->params, pass->in->serial, part.traces, error);
            gboolean ok = part.work && run_part(&part, totals, error);
            fx_work_free(part.work);
            if (!ok)
                return FALSE;
        }
    }
    return TRUE;
}

// The result times the gains; traces that are alone have none.
static void times_gains(const FxPlan *p, const LithoPass *pass, LithoRun *run)
{
    const LithoBox r = pass->region;
    const LithoFxParams *params = pass->params;
    litho_balance_multiply(pass->out, r, p->gains.of.gain, run);
    for (gint64 il = r.lo[0]; p->alone && il < r.hi[0]; il++)
        for (gint64 xl = r.lo[1]; xl < r.hi[1]; xl++) {
            const float *from = litho_cube_trace(pass->in, il, xl) - pass->in->held.lo[2];
            float *to = litho_cube_trace(pass->out, il, xl) - pass->out->held.lo[2];
            const gboolean stays = p->alone[litho_cube_trace_index(pass->in, il, xl)];
            for (gint64 t = r.lo[2]; stays && t < r.hi[2]; t++)
                to[t] = !params->fill_dead || isfinite(from[t]) ? from[t] : 0;
        }
}

// `over`: the pass with traces over their gains. FALSE: cancelled, or no memory.
static gboolean filter(FxPlan *p, const LithoPass *pass, const LithoPass *over, LithoRun *run,
                       FxTotals *totals, GError **error)
{
    const LithoFxParams *params = pass->params;
    const LithoCleanRule rule = fx_gains_clean_rule(p->gains.of, p->gains.stamp, params);
    const LithoFxGeometry g = litho_fx_grid_geometry(&p->grid, params);
    LithoPass clean = *over;
    GError *trouble = NULL;
    clean.in = litho_clean(&p->clean, rule, over->in, run, error);
    g_clear_pointer(&p->alone, g_free);
    if (!clean.in || !litho_fx_alone(over->in, &g, pass->region, &p->alone, error))
        return FALSE;
    if (!know_shared(p, pass, over->in, clean.in, &g, run, error))
        return FALSE;
    totals->shared = p->shared.noise.total;
    totals->alone = p->alone != NULL;
    FxPart part = fx_part(p, &clean, over->in, pass->region, run);
    part.fresh = TRUE;
    part.work = fx_work_find(p, &part, &trouble);
    const gboolean ok = trouble     ? FALSE
                        : part.work ? run_part(&part, totals, &trouble)
                                    : run_pieces(p, &clean, over->in, run, totals, &trouble);
    if (!ok)
        g_propagate_error(error, trouble);
    else if (over->in != pass->in)
        times_gains(p, pass, run);
    return ok;
}

static gboolean exec(gpointer data, const LithoPass *pass, LithoRun *run, GError **error)
{
    FxPlan *p = data;
    FxTotals totals = {0};
    const LithoFxParams *params = pass->params;
    LithoPass over = *pass;
    if (!litho_cube_host(pass->in, error))
        return FALSE;
    if (litho_box_empty(pass->region))
        return TRUE;
    over.in = fx_gains_divide(&p->gains, pass, NULL, run, error);
    if (!over.in || !filter(p, pass, &over, run, &totals, error))
        return FALSE;
    if (run && run->report) {
        LithoWeights weights;
        if (!litho_weigh(pass, run, &weights, error))
            return FALSE;
        totals.gaps = params->fill_dead && litho_fx_leaves_gaps(pass->out, pass->region);
        totals.input = weights.input;
        totals.removed = weights.removed;
        totals.product = weights.product;
        fx_report(run->report, &totals, &pass->in->grid, pass->params);
        litho_gains_report(&p->gains, "fx", &p->grid, run->report);
        litho_clean_report(&p->clean, over.in, run->report);
    }
    return TRUE;
}

static guint64 thread_bytes(const LithoFxGeometry *g, const LithoFxParams *params)
{
    enum { BESIDE = 256 << 10 }; // its stack, and gaps of its heap
    const FxIsa *isa = best_isa();
    return isa->scratch_bytes(g->axis[0].length, g->axis[1].length, params->half_width) +
           sizeof(float) * (fx_sum_count(g, isa->lanes) + 2 * (guint64)g->nfft) + BESIDE;
}

static guint64 memory(const LithoGrid *in, const void *params, LithoResolved *known,
                      LithoBox region, int threads)
{
    (void)known;
    LithoFxGeometry g = litho_fx_grid_geometry(in, params);
    LithoBox need = litho_fx_input_box(in, params, region);
    int count = litho_fx_last(g.axis[2], (int)region.hi[2] - 1) -
                litho_fx_first(g.axis[2], (int)region.lo[2]) + 1;
    const guint64 part = fx_part_bytes(&g, best_isa()->lanes, region, count);
    const guint64 keep = litho_memory_to_keep(), work = MIN(part, keep);
    const LithoFxParams *p = params;
    const guint64 clean =
        p->erratic > 0 || p->fill_passes > 0 ? litho_clean_bytes(litho_box_count(need)) : 0;
    return 4 * (litho_box_count(need) + litho_box_count(region)) + clean +
           fx_gains_bytes(in, p, need) + work + fx_kept_bytes(&g, best_isa()->lanes) +
           threads * thread_bytes(&g, p);
}

const LithoImpl litho_fx_cpu = {.plan = plan, .exec = exec, .destroy = destroy, .memory = memory};
