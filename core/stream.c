// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stream.h"

#include "core/engine.h"
#include "core/error.h"
#include "core/memory.h"

// A device's engine is shared by two threads: while one computes, the other reads the next slab or
// writes the last one.
enum { THREADS_PER_DEVICE = 2 };

static guint device_count(const LithoStreamOptions *options)
{
    return MAX(options->n_devices, 1);
}

static LithoDevice device_at(const LithoStreamOptions *options, guint k)
{
    return options->n_devices > 0 ? options->devices[k] : litho_device_cpu();
}

static LithoBox slab_box(const LithoGrid *out, gint64 lo, gint64 hi)
{
    LithoBox box = litho_box_full(out);
    box.lo[0] = lo;
    box.hi[0] = MIN(hi, out->axis[0].n);
    return box;
}

// Bytes a slab of `n` inlines in the middle of the survey takes in all threads: input with halo and
// output, and as much again for the operator's own use unless it tells.
static gboolean slab_bytes(const LithoFlow *flow, const LithoGrid *in,
                           const LithoStreamOptions *options, LithoStreamPlan *plan, gint64 n,
                           GError **error)
{
    gint64 lo = MAX((plan->out.axis[0].n - n) / 2, 0);
    LithoBox region = slab_box(&plan->out, lo, lo + n), need = region;
    if (in && !litho_flow_input_box(flow, in, region, &need, error))
        return FALSE;
    guint64 input = in ? litho_box_count(need) * 4 : 0, output = litho_box_count(region) * 4;
    LithoEngine *engine = litho_engine_new(device_at(options, 0));
    guint64 operators = litho_engine_memory(engine, flow, in, region);
    litho_engine_free(engine);
    gboolean cpu = device_at(options, 0).backend == litho_backend_cpu();
    plan->halo = in ? litho_box_size(need, 0) - litho_box_size(region, 0) : 0;
    plan->device_bytes = cpu ? 0 : operators;
    // `operators` counts one input and one output already.
    plan->host_bytes = device_count(options) * THREADS_PER_DEVICE * (input + output);
    if (cpu)
        plan->host_bytes += operators > input + output ? operators - input - output : input + output;
    return TRUE;
}

// Inlines per slab must divide into whole spatial windows where an operator says so.
static gint64 slab_multiple(const LithoFlow *flow, const LithoGrid *in)
{
    gint64 multiple = 1;
    for (guint k = 0; k < litho_flow_length(flow); k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        if (step->enabled && step->op->slab && in)
            multiple = MAX(multiple, step->op->slab(in, step->params));
    }
    return multiple;
}

gboolean litho_stream_plan(const LithoFlow *flow, LithoSurvey *survey,
                           const LithoStreamOptions *options, LithoStreamPlan *plan,
                           GError **error)
{
    const LithoGrid *in = survey ? litho_survey_grid(survey) : NULL;
    *plan = (LithoStreamPlan){0};
    if (!litho_flow_check(flow, in, &plan->out, error))
        return FALSE;
    guint64 budget = options->memory ? options->memory : litho_memory_available() / 2;
    gint64 all = plan->out.axis[0].n, multiple = slab_multiple(flow, in), n = all;
    // More slabs than devices keep everybody busy; one is enough when there is nothing to share.
    if (litho_flow_is_local(flow) && device_count(options) > 1)
        n = MIN(n, (all + 4 * device_count(options) - 1) / (4 * device_count(options)));
    for (;; n = (n + 1) / 2) {
        if (n < all)
            n = MIN(MAX((n + multiple - 1) / multiple, 1) * multiple, all);
        if (!slab_bytes(flow, in, options, plan, n, error))
            return FALSE;
        if (plan->host_bytes <= budget || n <= multiple || !litho_flow_is_local(flow))
            break;
    }
    plan->slab = n;
    plan->n_slabs = (all + n - 1) / n;
    if (plan->host_bytes <= budget)
        return TRUE;
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY,
                "the smallest piece this flow can work on needs %.2f GiB; %.2f GiB may be used",
                plan->host_bytes / 1073741824.0, budget / 1073741824.0);
    return FALSE;
}

// --- running ----------------------------------------------------------------------------------

typedef struct Stream {
    const LithoFlow *flow;
    LithoSurvey *survey;
    const LithoStreamOptions *options;
    LithoStreamPlan plan;
    LithoWriter *writer;
    LithoRun *run;
    GCancellable *cancel; // ours: raised by the caller's cancel and by the first failure

    GMutex lock;
    GCond turn;     // the next slab has been written
    gint64 next;    // slab nobody has begun
    gint64 written; // slabs in the file
    GError *error;  // the first one
} Stream;

typedef struct Lane {
    Stream *stream;
    LithoEngine *engine;
    GMutex busy; // the engine
} Lane;

static void fail(Stream *s, GError *error)
{
    g_mutex_lock(&s->lock);
    if (!s->error)
        s->error = error;
    else
        g_error_free(error);
    g_cond_broadcast(&s->turn);
    g_mutex_unlock(&s->lock);
    g_cancellable_cancel(s->cancel);
}

static gint64 begin_slab(Stream *s)
{
    g_mutex_lock(&s->lock);
    gint64 slab = s->error || s->next == s->plan.n_slabs ? -1 : s->next++;
    g_mutex_unlock(&s->lock);
    return slab;
}

// Slabs are written in order whoever finishes first. FALSE when the run has failed meanwhile.
static gboolean wait_turn(Stream *s, gint64 slab)
{
    g_mutex_lock(&s->lock);
    while (s->written != slab && !s->error)
        g_cond_wait(&s->turn, &s->lock);
    gboolean ok = !s->error;
    g_mutex_unlock(&s->lock);
    return ok;
}

static void end_slab(Stream *s)
{
    g_mutex_lock(&s->lock);
    s->written++;
    g_cond_broadcast(&s->turn);
    g_mutex_unlock(&s->lock);
}

static LithoCube *read_slab(Stream *s, LithoBox region, LithoRun *run, GError **error)
{
    LithoBox need;
    if (!litho_flow_input_box(s->flow, litho_survey_grid(s->survey), region, &need, error))
        return NULL;
    // Files are read in whole traces.
    need.lo[2] = 0;
    need.hi[2] = litho_survey_grid(s->survey)->axis[2].n;
    double start = litho_now_ms();
    LithoCube *in = litho_survey_read(s->survey, &need, run, error);
    litho_run_time(run, "read", LITHO_STAGE_IO, litho_now_ms() - start,
                   4.0 * litho_box_count(need), 0);
    return in;
}

static gboolean do_slab(Lane *lane, gint64 slab, GError **error)
{
    Stream *s = lane->stream;
    LithoRun run = {.cancel = s->cancel, .threads = s->run ? s->run->threads : 0,
                    .timings = s->run ? s->run->timings : NULL,
                    .report = s->run ? s->run->report : NULL,
                    .device = litho_engine_device(lane->engine).index};
    LithoBox region = slab_box(&s->plan.out, slab * s->plan.slab, (slab + 1) * s->plan.slab);
    g_autoptr(LithoCube) in = s->survey ? read_slab(s, region, &run, error) : NULL;
    if (s->survey && !in)
        return FALSE;

    g_mutex_lock(&lane->busy);
    if (s->plan.n_slabs == 1 && s->run) { // the operator's own progress says more than "0 of 1"
        run.on_progress = s->run->on_progress;
        run.progress_data = s->run->progress_data;
    }
    g_autoptr(LithoCube) out = litho_engine_run(lane->engine, s->flow, in, &region, &run, error);
    gboolean ok = out && litho_cube_host(out, error);
    g_mutex_unlock(&lane->busy);
    g_clear_pointer(&in, litho_cube_unref);
    if (!ok || !wait_turn(s, slab))
        return ok; // somebody else's failure is reported by them
    double start = litho_now_ms();
    ok = litho_writer_put(s->writer, out, &run, error);
    litho_run_time(&run, "write", LITHO_STAGE_IO, litho_now_ms() - start,
                   4.0 * litho_box_count(region), 0);
    end_slab(s);
    return ok;
}

static gpointer lane_main(gpointer data)
{
    Lane *lane = data;
    for (gint64 slab; (slab = begin_slab(lane->stream)) >= 0;) {
        GError *error = NULL;
        if (!do_slab(lane, slab, &error)) {
            fail(lane->stream, error);
            break;
        }
    }
    return NULL;
}

// The caller's thread shows progress and passes its cancel on.
static void watch(Stream *s)
{
    litho_run_begin(s->run, "slabs", "inlines");
    for (;;) {
        g_mutex_lock(&s->lock);
        gint64 until = g_get_monotonic_time() + 30 * G_TIME_SPAN_MILLISECOND;
        if (s->written < s->plan.n_slabs && !s->error)
            g_cond_wait_until(&s->turn, &s->lock, until);
        gint64 written = s->written;
        gboolean over = s->error || written == s->plan.n_slabs;
        g_mutex_unlock(&s->lock);
        if (over)
            return;
        GError *error = NULL;
        gint64 total = s->plan.out.axis[0].n;
        gboolean ok = s->plan.n_slabs > 1
                          ? litho_run_step(s->run, MIN(written * s->plan.slab, total), total, &error)
                          : !litho_run_cancelled(s->run);
        if (!ok && !error)
            g_set_error_literal(&error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "cancelled");
        if (error)
            fail(s, error);
    }
}

static gboolean run_lanes(Stream *s, GError **error)
{
    guint n = device_count(s->options);
    g_autofree Lane *lanes = g_new0(Lane, n);
    g_autofree GThread **threads = g_new0(GThread *, n * THREADS_PER_DEVICE);
    for (guint k = 0; k < n; k++) {
        lanes[k].stream = s;
        lanes[k].engine = litho_engine_new(device_at(s->options, k));
        g_mutex_init(&lanes[k].busy);
    }
    guint used = (guint)MIN((gint64)n * THREADS_PER_DEVICE, s->plan.n_slabs);
    for (guint k = 0; k < used; k++)
        threads[k] = g_thread_new("litho-slab", lane_main, &lanes[k % n]);
    watch(s);
    for (guint k = 0; k < used; k++)
        g_thread_join(threads[k]);
    for (guint k = 0; k < n; k++) {
        litho_engine_free(lanes[k].engine);
        g_mutex_clear(&lanes[k].busy);
    }
    if (!s->error)
        return TRUE;
    g_propagate_error(error, g_steal_pointer(&s->error));
    return FALSE;
}

gboolean litho_stream_run(const LithoFlow *flow, LithoSurvey *survey, const char *path,
                          const LithoStreamOptions *options, LithoRun *run, GError **error)
{
    Stream s = {.flow = flow, .survey = survey, .options = options, .run = run};
    if (!litho_stream_plan(flow, survey, options, &s.plan, error))
        return FALSE;
    s.writer = litho_writer_new(path, &s.plan.out, survey, &options->save, error);
    if (!s.writer)
        return FALSE;
    s.cancel = g_cancellable_new();
    g_mutex_init(&s.lock);
    g_cond_init(&s.turn);
    gboolean ok = run_lanes(&s, error) && litho_writer_finish(s.writer, error);
    if (run && run->timings)
        litho_timings_end_pass(run->timings);
    litho_writer_free(s.writer);
    g_mutex_clear(&s.lock);
    g_cond_clear(&s.turn);
    g_object_unref(s.cancel);
    return ok;
}
