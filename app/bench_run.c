// SPDX-License-Identifier: GPL-3.0-or-later
//
// Timed runs of one operator on one device. The implementation is called directly, not through an
// engine: a plan is made once, and every run after it starts at stage 1, as for a new input.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/bench.h"
#include "core/error.h"
#include "core/sort.h"

typedef struct Timer {
    const Bench *bench;
    gconstpointer settings; // of the variant
    BenchRun *result;
    const LithoImpl *impl;
    gpointer plan;
    gpointer params; // as the next run sees them
    LithoCube *in;   // NULL for sources
    LithoGrid out_grid;
    LithoResolved *known; // what the operator's files say
    LithoBox boxes[3]; // of the output that a run computes one after the other: all of it, or the
    guint n_boxes;     // middle slices
    LithoRun run;
} Timer;

static BenchTimes times_of(GArray *ms)
{
    double *v = (double *)ms->data;
    const guint n = ms->len;
    if (n == 0)
        return (BenchTimes){0};
    qsort(v, n, sizeof *v, litho_compare_double);
    return (BenchTimes){.n = n,
                        .median = n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]),
                        .p25 = v[n / 4],
                        .p75 = v[MIN(3 * n / 4, n - 1)],
                        .min = v[0]};
}

static LithoCube *new_output(const Timer *t, LithoBox box, GError **error)
{
    const LithoBackend *backend = t->result->device.backend;
    LithoCube *out = NULL;
    if (!backend->alloc) {
        out = litho_cube_new_box(&t->out_grid, box, error);
    } else {
        LithoBuffer *buffer = backend->alloc(t->result->device.index, litho_box_count(box), error);
        out = buffer ? litho_cube_new_device(&t->out_grid, box, buffer, error) : NULL;
        if (buffer && !out)
            backend->free(buffer);
    }
    if (out && t->in && litho_grid_same_shape(&t->in->grid, &t->out_grid))
        litho_cube_inherit(out, t->in);
    return out;
}

// Adds what box `k` takes to *ms.
static gboolean run_box(Timer *t, guint k, int first, LithoCube *out, double *ms, GError **error)
{
    const LithoPass pass = {.params = t->params,
                            .known = t->known,
                            .first_stage = k == 0 ? first : G_MAXINT,
                            .in = t->in,
                            .region = t->boxes[k],
                            .out = out};
    const double start = litho_now_ms();
    const gboolean ok = t->impl->exec(t->plan, &pass, &t->run, error);
    *ms += litho_now_ms() - start;
    return ok;
}

// exec() of all boxes from stage `first`; its wall clock in *ms. The last one; NULL = failed.
static LithoCube *run_once(Timer *t, int first, gboolean download, double *ms, GError **error)
{
    gboolean ok = TRUE;
    LithoCube *out = NULL;
    *ms = 0;
    if (t->in && first <= 1)
        litho_cube_touch(t->in); // caches must not know the input
    for (guint k = 0; ok && k < t->n_boxes; k++) {
        litho_cube_unref(out);
        out = new_output(t, t->boxes[k], error);
        ok = out && run_box(t, k, first, out, ms, error);
    }
    if (ok && download) {
        const double begun = litho_now_ms();
        ok = litho_cube_host(out, error) != NULL;
        litho_run_time(&t->run, "download", LITHO_STAGE_TRANSFER, litho_now_ms() - begun,
                       4.0 * litho_box_count(out->held), 0);
        *ms += litho_now_ms() - begun;
    }
    litho_timings_end_pass(t->run.timings);
    if (ok)
        return out;
    litho_cube_unref(out);
    return NULL;
}

// Another value for one parameter of stage `stage`, so that caches cannot answer: back and forth
// between two values. FALSE: the stage has none that can be nudged.
static gboolean nudge(Timer *t, int stage, guint turn)
{
    const LithoParamTable *table = &t->bench->op->params;
    for (guint k = 0; k < table->n; k++) {
        const LithoParam *row = &table->rows[k];
        const double value = litho_param_get(row, t->settings);
        double other = row->type == LITHO_PARAM_BOOL ? 1 - value : value * 1.001;
        if (row->stage != stage || value == other ||
            (row->type != LITHO_PARAM_BOOL && row->type != LITHO_PARAM_FLOAT))
            continue;
        if (litho_param_set(row, t->params, turn % 2 == 0 ? other : value, NULL))
            return TRUE;
    }
    return FALSE;
}

static double process_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1e3 + now.tv_nsec * 1e-6;
}

// Runs until there are enough or the time is up. `last`, if not NULL, gets the last result.
static gboolean repeat(Timer *t, int first, gboolean transfers, LithoCube **last, BenchTimes *times,
                       GError **error)
{
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(double));
    const double start = litho_now_ms();
    for (guint k = 0; k < t->bench->repeat; k++) {
        double ms = 0;
        if (first > 1 && !nudge(t, first, k))
            break;
        if (transfers && t->in)
            litho_cube_leave_device(t->in);
        LithoCube *out = run_once(t, first, transfers, &ms, error);
        if (!out)
            return FALSE;
        g_array_append_val(all, ms);
        if (last) {
            litho_cube_unref(*last);
            *last = out;
        } else {
            litho_cube_unref(out);
        }
        if (litho_now_ms() - start > 1e3 * t->bench->seconds)
            break;
    }
    *times = times_of(all);
    return TRUE;
}

// --- error ---------------------------------------------------------------------------------------

typedef struct Sums {
    double difference, norm; // squares
} Sums;

// Adds a trace to its blocks, one every BENCH_BLOCK_SAMPLES samples.
static void add_trace(const float *x, const float *ref, gint64 n, Sums *sums)
{
    for (gint64 k = 0; k < n; k++) {
        Sums *sum = &sums[k / BENCH_BLOCK_SAMPLES];
        if (!isfinite(x[k]) || !isfinite(ref[k])) {
            if (isfinite(x[k]) != isfinite(ref[k]))
                sum->difference = INFINITY;
            continue;
        }
        double d = (double)x[k] - ref[k];
        sum->difference += d * d;
        sum->norm += (double)ref[k] * ref[k];
    }
}

static void add_column(const LithoCube *x, const LithoCube *ref, gint64 i0, gint64 j0, Sums *sums)
{
    const gint64 n1 = ref->grid.axis[0].n, n2 = ref->grid.axis[1].n, nt = ref->grid.axis[2].n;
    for (gint64 i = i0; i < MIN(i0 + BENCH_BLOCK_TRACES, n1); i++)
        for (gint64 j = j0; j < MIN(j0 + BENCH_BLOCK_TRACES, n2); j++)
            add_trace(x->samples + (i * n2 + j) * nt, ref->samples + (i * n2 + j) * nt, nt, sums);
}

// A block counts with a hundredth of the mean amplitude at least, so that silence is no excuse.
double bench_difference(const LithoCube *x, const LithoCube *ref, double *worst, gint64 worst_at[3])
{
    const gint64 n1 = ref->grid.axis[0].n, n2 = ref->grid.axis[1].n, nt = ref->grid.axis[2].n;
    const gint64 slices = (nt + BENCH_BLOCK_SAMPLES - 1) / BENCH_BLOCK_SAMPLES;
    const gint64 across = (n2 + BENCH_BLOCK_TRACES - 1) / BENCH_BLOCK_TRACES;
    const gint64 columns = (n1 + BENCH_BLOCK_TRACES - 1) / BENCH_BLOCK_TRACES * across;
    const gint64 blocks = columns * slices;
    g_autofree Sums *sums = g_new0(Sums, blocks);
#pragma omp parallel for schedule(dynamic)
    for (gint64 c = 0; c < columns; c++)
        add_column(x, ref, c / across * BENCH_BLOCK_TRACES, c % across * BENCH_BLOCK_TRACES,
                   sums + c * slices);
    Sums all = {0};
    for (gint64 k = 0; k < blocks; k++) {
        all.difference += sums[k].difference;
        all.norm += sums[k].norm;
    }
    double most = 0;
    for (gint64 k = 0; worst && k < blocks; k++) {
        const double error =
            sums[k].difference > 0
                ? sqrt(sums[k].difference / MAX(sums[k].norm, 1e-4 * all.norm / blocks))
                : 0;
        if (k > 0 && error <= most)
            continue;
        most = *worst = error;
        worst_at[0] = k / slices / across * BENCH_BLOCK_TRACES;
        worst_at[1] = k / slices % across * BENCH_BLOCK_TRACES;
        worst_at[2] = k % slices * BENCH_BLOCK_SAMPLES;
    }
    return all.difference > 0 ? sqrt(all.difference / all.norm) : 0;
}

static gboolean compare(Timer *t, LithoCube *out, LithoCube **reference, GError **error)
{
    if (!litho_cube_host(out, error))
        return FALSE;
    BenchRun *r = t->result;
    r->has_error = *reference != NULL;
    if (r->has_error)
        r->relative = bench_difference(out, *reference, &r->worst, r->worst_at);
    else
        *reference = litho_cube_ref(out);
    return TRUE;
}

// --- slices --------------------------------------------------------------------------------------

static void compute_all(Timer *t)
{
    t->boxes[0] = litho_box_full(&t->out_grid);
    t->n_boxes = 1;
    t->run.n_views = 0;
}

// TRUE when the operator computes single slices: the runs to come do, in the middle.
static gboolean compute_slices(Timer *t)
{
    const LithoOperator *op = t->bench->op;
    const gboolean planes =
        t->impl->planes && t->in && t->impl->planes(&t->in->grid, t->params, t->run.devices);
    if (!t->in || (!planes && !litho_operator_is_local(op, t->params)))
        return FALSE;
    for (int a = 0; a < 3; a++)
        t->boxes[a] = litho_box_slice(&t->out_grid, a, t->out_grid.axis[a].n / 2);
    t->n_boxes = t->run.n_views = 3;
    t->run.views = t->boxes;
    return TRUE;
}

// From each stage on that has a parameter, all of the output and then the slices.
static gboolean time_moves(Timer *t, GError **error)
{
    BenchRun *r = t->result;
    BenchTimes times;
    gboolean ok = TRUE;
    for (int s = 2; ok && t->bench->op->stages[s] && s < BENCH_MAX_STAGES; s++) {
        ok = repeat(t, s, FALSE, NULL, &times, error);
        r->from_stage_ms[s] = times.median;
        litho_timings_reset(t->run.timings);
        if (ok && times.n > 0 && compute_slices(t)) {
            ok = repeat(t, s, FALSE, NULL, &times, error);
            r->slices_ms[s] = times.median;
            if (r->n_slice_stages == 0)
                r->n_slice_stages =
                    litho_timings_snapshot(t->run.timings, r->slice_stages, BENCH_MAX_STAGES);
        }
        compute_all(t);
        memcpy(t->params, t->settings, t->bench->op->params.size);
    }
    return ok;
}

// --- all runs of a device ------------------------------------------------------------------------

static gboolean time_all(Timer *t, LithoCube **reference, GError **error)
{
    BenchRun *r = t->result;
    const gboolean device = r->device.backend->alloc != NULL;
    LithoCube *out = NULL;
    double ms = 0;
    double busy = process_ms(), wall = litho_now_ms();
    compute_all(t);
    t->run.report = litho_report_new();
    out = run_once(t, 1, FALSE, &ms, error); // warm-up: libraries, caches, first touch
    r->numbers = litho_report_numbers(t->run.report);
    bench_beside_zfp(t->in, r->numbers);
    g_clear_pointer(&t->run.report, litho_report_unref);
    if (!out)
        return FALSE;
    gboolean ok = TRUE;
    if (ms > 1e3 * t->bench->seconds) { // slow enough to count as it is
        r->compute = (BenchTimes){1, ms, ms, ms, ms};
    } else {
        litho_timings_reset(t->run.timings);
        busy = process_ms();
        wall = litho_now_ms();
        ok = repeat(t, 1, FALSE, &out, &r->compute, error);
    }
    r->cores = (process_ms() - busy) / (litho_now_ms() - wall);
    r->n_stages = litho_timings_snapshot(t->run.timings, r->stages, BENCH_MAX_STAGES);
    ok = ok && compare(t, out, reference, error);
    litho_cube_unref(out);
    ok = ok && time_moves(t, error);
    if (!ok || !device)
        return ok;
    if (t->in)
        litho_cube_leave_device(t->in);
    out = run_once(t, 1, TRUE, &ms, error); // pinned buffers are made at the first transfer
    litho_cube_unref(out);
    litho_timings_reset(t->run.timings);
    ok = out && repeat(t, 1, TRUE, NULL, &r->transfers, error);
    r->n_transfer_stages =
        litho_timings_snapshot(t->run.timings, r->transfer_stages, BENCH_MAX_STAGES);
    if (t->in)
        litho_cube_leave_device(t->in);
    return ok;
}

// One plan with its stages.
static gboolean time_plan(Timer *t, const LithoGrid *grid, double *ms, LithoStage *stages, guint *n,
                          GError **error)
{
    litho_timings_reset(t->run.timings);
    const double start = litho_now_ms();
    t->plan = t->impl->plan(grid, t->params, t->known, &t->run, error);
    *ms = litho_now_ms() - start;
    litho_timings_end_pass(t->run.timings);
    *n = litho_timings_snapshot(t->run.timings, stages, BENCH_MAX_STAGES);
    litho_timings_reset(t->run.timings);
    return t->plan != NULL;
}

// The plan, and the plan again after it was thrown away: what the first one has left behind counts
// for a slider that goes back and for a file that is opened twice.
static gboolean time_plans(Timer *t, const LithoGrid *grid, GError **error)
{
    BenchRun *r = t->result;
    if (!time_plan(t, grid, &r->plan_ms, r->plan_stages, &r->n_plan_stages, error))
        return FALSE;
    if (r->plan_ms > 1e3 * t->bench->seconds)
        return TRUE;
    t->impl->destroy(t->plan);
    return time_plan(t, grid, &r->again_ms, r->again_stages, &r->n_again_stages, error);
}

static gboolean measure_roof(BenchRun *r, GError **error)
{
    const LithoBackend *backend = r->device.backend;
    BenchRoof *roof = &r->roof;
    const int device = r->device.index;
    if (backend == litho_backend_cpu())
        *roof = bench_cpu_roof(r->threads);
    return (!backend->probe_roof ||
            backend->probe_roof(device, &roof->bytes_per_s, &roof->flops_per_s, error)) &&
           (!backend->probe_link ||
            backend->probe_link(device, &roof->up_per_s, &roof->down_per_s, error));
}

gboolean bench_backend(const Bench *bench, LithoCube *in, BenchRun *r, LithoCube **reference,
                       GError **error)
{
    const void *settings = bench_variant(bench, r->variant)->params;
    Timer t = {.bench = bench,
               .settings = settings,
               .result = r,
               .in = in,
               .params = g_memdup2(settings, bench->op->params.size),
               .run = {.threads = r->threads,
                       .device = r->device.index,
                       .writes = TRUE,
                       .timings = litho_timings_new()}};
    const LithoGrid *grid = bench->op->needs_input ? &bench->grid : NULL;
    t.run.devices = litho_device_sharing(r->device, bench->op, grid, settings);
    t.impl = litho_device_impl(r->device, bench->op, error);
    gboolean ok =
        t.impl && r->device.backend->device_info(r->device.index, &r->info, error) &&
        measure_roof(r, error) && litho_resolve(bench->op, settings, &t.run, &t.known, error) &&
        litho_operator_output_grid(bench->op, grid, settings, t.known, &t.out_grid, error);
    ok = ok && time_plans(&t, grid, error) && time_all(&t, reference, error);
    if (t.plan)
        t.impl->destroy(t.plan);
    litho_resolved_unref(t.known);
    litho_timings_unref(t.run.timings);
    g_free(t.params);
    return ok;
}
