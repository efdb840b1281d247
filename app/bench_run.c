// SPDX-License-Identifier: GPL-3.0-or-later
//
// Timed runs of one operator on one device. The implementation is called directly, not through an
// engine: a plan is made once, and every run after it starts at stage 1, as for a new input.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/bench.h"
#include "core/error.h"

typedef struct Timer {
    const Bench *bench;
    BenchRun *result;
    const LithoImpl *impl;
    gpointer plan;
    gpointer params; // as the next run sees them
    LithoCube *in;   // NULL for sources
    LithoGrid out_grid;
    LithoRun run;
} Timer;

static int compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static BenchTimes times_of(GArray *ms)
{
    double *v = (double *)ms->data;
    const guint n = ms->len;
    if (n == 0)
        return (BenchTimes){0};
    qsort(v, n, sizeof *v, compare_double);
    return (BenchTimes){.n = n,
                        .median = n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]),
                        .p25 = v[n / 4],
                        .p75 = v[MIN(3 * n / 4, n - 1)],
                        .min = v[0]};
}

static LithoCube *new_output(const Timer *t, GError **error)
{
    const LithoBackend *backend = t->result->device.backend;
    const LithoBox box = litho_box_full(&t->out_grid);
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

// One exec() from stage `first`; its wall clock in *ms. NULL = failed.
static LithoCube *run_once(Timer *t, int first, gboolean download, double *ms, GError **error)
{
    LithoCube *out = new_output(t, error);
    if (!out)
        return NULL;
    if (t->in && first <= 1)
        litho_cube_touch(t->in); // caches must not know the input
    const LithoPass pass = {.params = t->params,
                            .first_stage = first,
                            .in = t->in,
                            .region = litho_box_full(&t->out_grid),
                            .out = out};
    const double start = litho_now_ms();
    gboolean ok = t->impl->exec(t->plan, &pass, &t->run, error);
    if (ok && download) {
        const double begun = litho_now_ms();
        ok = litho_cube_host(out, error) != NULL;
        litho_run_time(&t->run, "download", LITHO_STAGE_TRANSFER, litho_now_ms() - begun,
                       4.0 * litho_box_count(out->held), 0);
    }
    *ms = litho_now_ms() - start;
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
        const double value = litho_param_get(row, t->bench->params);
        double other = row->type == LITHO_PARAM_BOOL ? 1 - value : value * 1.001;
        if (row->stage != stage || value == other ||
            (row->type != LITHO_PARAM_BOOL && row->type != LITHO_PARAM_FLOAT))
            continue;
        if (litho_param_set(row, t->params, turn % 2 == 0 ? other : value, NULL))
            return TRUE;
    }
    return FALSE;
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

// --- error
// ----------------------------------------------------------------------------------------

enum { BLOCK_TRACES = 32, BLOCK_SAMPLES = 128 };

// Adds block at (i, j): sums over slices of BLOCK_SAMPLES go to sums[slice][2].
static void add_trace(const float *x, const float *ref, gint64 n, double (*sums)[2])
{
    for (gint64 k = 0; k < n; k++) {
        if (!isfinite(x[k]) || !isfinite(ref[k])) {
            if (isfinite(x[k]) != isfinite(ref[k]))
                sums[k / BLOCK_SAMPLES][0] = INFINITY;
            continue;
        }
        double d = (double)x[k] - ref[k];
        sums[k / BLOCK_SAMPLES][0] += d * d;
        sums[k / BLOCK_SAMPLES][1] += (double)ref[k] * ref[k];
    }
}

// Relative L2 over all, and of the worst block of 32 x 32 traces x 128 samples (a block counts with
// a hundredth of the mean amplitude at least, so that silence is no excuse).
static void measure_error(const LithoCube *x, const LithoCube *ref, BenchRun *run)
{
    const gint64 n1 = ref->grid.axis[0].n, n2 = ref->grid.axis[1].n, nt = ref->grid.axis[2].n;
    const gint64 slices = (nt + BLOCK_SAMPLES - 1) / BLOCK_SAMPLES;
    const gint64 across = (n2 + BLOCK_TRACES - 1) / BLOCK_TRACES;
    const gint64 blocks = (n1 + BLOCK_TRACES - 1) / BLOCK_TRACES * across;
    double(*sums)[2] = (double(*)[2])g_new0(double, 2 * blocks * slices);
#pragma omp parallel for schedule(dynamic)
    for (gint64 b = 0; b < blocks; b++)
        for (gint64 i = b / across * BLOCK_TRACES; i < MIN((b / across + 1) * BLOCK_TRACES, n1);
             i++)
            for (gint64 j = b % across * BLOCK_TRACES; j < MIN((b % across + 1) * BLOCK_TRACES, n2);
                 j++)
                add_trace(x->samples + (i * n2 + j) * nt, ref->samples + (i * n2 + j) * nt, nt,
                          sums + b * slices);
    double difference = 0, norm = 0, worst = 0;
    for (gint64 k = 0; k < blocks * slices; k++) {
        difference += sums[k][0];
        norm += sums[k][1];
    }
    const double floor = 1e-4 * norm / (blocks * slices);
    for (gint64 k = 0; k < blocks * slices; k++)
        if (sums[k][0] > 0)
            worst = MAX(worst, sqrt(sums[k][0] / MAX(sums[k][1], floor)));
    run->relative = difference > 0 ? sqrt(difference / norm) : 0;
    run->worst = worst;
    run->has_error = TRUE;
    g_free(sums);
}

static gboolean compare(Timer *t, LithoCube *out, LithoCube **reference, GError **error)
{
    if (!litho_cube_host(out, error))
        return FALSE;
    if (*reference)
        measure_error(out, *reference, t->result);
    else
        *reference = litho_cube_ref(out);
    return TRUE;
}

// --- all runs of a device
// ---------------------------------------------------------------------------

static gboolean time_all(Timer *t, LithoCube **reference, GError **error)
{
    BenchRun *r = t->result;
    const gboolean device = r->device.backend->alloc != NULL;
    LithoCube *out = NULL;
    double ms = 0;
    out = run_once(t, 1, FALSE, &ms, error); // warm-up: libraries, caches, first touch
    if (!out)
        return FALSE;
    litho_timings_reset(t->run.timings);
    gboolean ok = ms > 1e3 * t->bench->seconds // slow enough to count as it is
                      ? TRUE
                      : repeat(t, 1, FALSE, &out, &r->compute, error);
    if (ok && r->compute.n == 0)
        r->compute = (BenchTimes){1, ms, ms, ms, ms};
    r->n_stages = litho_timings_snapshot(t->run.timings, r->stages, BENCH_MAX_STAGES);
    ok = ok && compare(t, out, reference, error);
    litho_cube_unref(out);
    for (int s = 2; ok && t->bench->op->stages[s] && s < BENCH_MAX_STAGES; s++) {
        BenchTimes times;
        ok = repeat(t, s, FALSE, NULL, &times, error);
        r->from_stage_ms[s] = times.median;
        memcpy(t->params, t->bench->params, t->bench->op->params.size);
    }
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

static gboolean measure_roof(BenchRun *r, GError **error)
{
    const LithoBackend *backend = r->device.backend;
    if (backend == litho_backend_cpu())
        r->roof = bench_cpu_roof(r->threads);
    else if (backend->probe_roof)
        return backend->probe_roof(r->device.index, &r->roof.bytes_per_s, &r->roof.flops_per_s,
                                   error);
    return TRUE;
}

gboolean bench_backend(const Bench *bench, LithoCube *in, BenchRun *r, LithoCube **reference,
                       GError **error)
{
    Timer t = {
        .bench = bench,
        .result = r,
        .in = in,
        .params = g_memdup2(bench->params, bench->op->params.size),
        .run = {.threads = r->threads, .device = r->device.index, .timings = litho_timings_new()}};
    const LithoGrid *grid = bench->op->needs_input ? &bench->grid : NULL;
    t.impl = litho_device_impl(r->device, bench->op, error);
    gboolean ok = t.impl && r->device.backend->device_info(r->device.index, &r->info, error) &&
                  measure_roof(r, error) &&
                  litho_operator_output_grid(bench->op, grid, bench->params, &t.out_grid, error);
    if (ok) {
        const double start = litho_now_ms();
        t.plan = t.impl->plan(grid, t.params, &t.run, error);
        r->plan_ms = litho_now_ms() - start;
        ok = t.plan && time_all(&t, reference, error);
    }
    if (t.plan)
        t.impl->destroy(t.plan);
    litho_timings_unref(t.run.timings);
    g_free(t.params);
    return ok;
}
