// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/worker.h"

#include <gio/gio.h>
#include <string.h>

#include "core/engine/measure.h"
#include "core/error.h"
#include "core/memory.h"

struct LithoWorker {
    GThread *thread;
    void (*wake)(gpointer data);
    gpointer wake_data;
    LithoTimings *timings;

    GMutex lock; // guards everything down to `quit`
    GCond cond;  // something to do
    GCond go_on; // a pause is over
    GCond drawn; // a result is on the screen
    LithoWish *pending;
    double pending_ms;      // when `pending` was handed over
    GCancellable *cancel;   // of the pass under way
    LithoSchedule schedule; // what comes next, and when it gives way
    LithoResult *newest;    // unseen
    guint64 generation;
    LithoReport *report; // of the pass under way, or the last one
    guint64 report_tag;  // of its wish
    LithoProgress progress;
    gboolean busy;
    gboolean paused;
    gint64 paused_us;    // since when
    gint64 held_us;      // by earlier pauses, in the present stage
    gboolean was_paused; // so the pass's times mean nothing
    gboolean quit;

    // The worker thread's own.
    LithoEngine *engine;
    LithoCube *read[LITHO_WORKER_KEPT]; // for the views of a survey; a drag needs them again
    guint64 kind;                       // of the last wish
    LithoFlow *measured;                // the last flow on `measured_of`, with its numbers; or NULL
    LithoSurvey *measured_of;
};

typedef struct Pass {
    LithoWorker *worker;
    const LithoWish *wish;
    double wish_ms, begun_ms;
    LithoReport *report;
    GPtrArray *views; // of LithoCube, computed so far
} Pass;

static double now_s(void)
{
    return g_get_monotonic_time() * 1e-6;
}

static LithoWish *wish_copy(const LithoWish *wish)
{
    LithoWish *copy = g_memdup2(wish, sizeof *wish);
    copy->flow = litho_flow_copy(wish->flow);
    copy->in = wish->in ? litho_cube_ref(wish->in) : NULL;
    copy->survey = wish->survey ? litho_survey_ref(wish->survey) : NULL;
    return copy;
}

static void wish_free(LithoWish *wish)
{
    if (!wish)
        return;
    litho_flow_free(wish->flow);
    litho_cube_unref(wish->in);
    litho_survey_unref(wish->survey);
    g_free(wish);
}

static LithoResult *result_new(const Pass *pass)
{
    LithoResult *result = litho_result_new(pass->wish->device);
    result->tag = pass->wish->tag;
    result->wish_ms = pass->wish_ms;
    result->begun_ms = pass->begun_ms;
    result->seconds = (litho_now_ms() - pass->wish_ms) * 1e-3;
    return result;
}

// Takes over `result`.
static void publish(LithoWorker *worker, LithoResult *result)
{
    g_mutex_lock(&worker->lock);
    result->generation = ++worker->generation;
    result->ready_ms = litho_now_ms();
    if (result->parts->len > 0)
        litho_schedule_published(&worker->schedule, now_s(),
                                 1e-3 * (result->ready_ms - result->begun_ms));
    LithoResult *old = worker->newest;
    if (old)
        litho_result_follow(result, old);
    worker->newest = result;
    g_mutex_unlock(&worker->lock);
    litho_result_unref(old);
    worker->wake(worker->wake_data);
}

// --- one pass ---------------------------------------------------------------------------------

// Asked at every step, by all threads of the pass: this is where a pause holds them. Lock held.
static void stand_still(LithoWorker *worker)
{
    while (worker->paused)
        g_cond_wait(&worker->go_on, &worker->lock);
}

static gboolean superseded(gpointer data)
{
    LithoWorker *worker = data;
    g_mutex_lock(&worker->lock);
    stand_still(worker);
    gboolean give_up =
        litho_schedule_gives_way(&worker->schedule, now_s(), worker->pending != NULL);
    g_mutex_unlock(&worker->lock);
    return give_up;
}

// While a survey is measured: only a wish that needs other numbers ends that.
static gboolean superseded_measures(gpointer data)
{
    const Pass *pass = data;
    LithoWorker *worker = pass->worker;
    g_mutex_lock(&worker->lock);
    stand_still(worker);
    const LithoWish *next = worker->pending;
    const gboolean give_up = next && (next->survey != pass->wish->survey ||
                                      !litho_measure_is_same(pass->wish->flow, next->flow));
    g_mutex_unlock(&worker->lock);
    return give_up;
}

// While files are read: only a wish for other files ends that.
static gboolean superseded_files(gpointer data)
{
    const Pass *pass = data;
    LithoWorker *worker = pass->worker;
    g_mutex_lock(&worker->lock);
    stand_still(worker);
    const gboolean give_up =
        worker->pending && !litho_flow_same_files(worker->pending->flow, pass->wish->flow);
    g_mutex_unlock(&worker->lock);
    return give_up;
}

// Lock held.
static void end_pause(LithoWorker *worker)
{
    if (worker->paused)
        worker->held_us += g_get_monotonic_time() - worker->paused_us;
    worker->paused = FALSE;
    g_cond_broadcast(&worker->go_on);
}

// Speed and time left as if the stage had not stood still for `held` seconds.
static void forget_pauses(LithoProgress *progress, double held)
{
    if (held <= 0 || progress->per_second <= 0)
        return;
    const double seconds = progress->done / progress->per_second - held;
    progress->per_second = seconds > 0.05 ? progress->done / seconds : 0;
    progress->seconds_left =
        progress->per_second > 0 ? (progress->total - progress->done) / progress->per_second : -1;
}

static void on_progress(const LithoProgress *progress, gpointer data)
{
    LithoWorker *worker = data;
    g_mutex_lock(&worker->lock);
    if (progress->what != worker->progress.what)
        worker->held_us = 0;
    worker->progress = *progress;
    forget_pauses(&worker->progress, worker->held_us * 1e-6);
    g_mutex_unlock(&worker->lock);
    worker->wake(worker->wake_data);
}

typedef double (*RestFunc)(const LithoSchedule *schedule, double now_s);

// Lock held: while a slider moves, nothing is begun that nobody sees.
static void let_rest(LithoWorker *worker, RestFunc left)
{
    double left_s;
    while (!worker->pending && !worker->quit && !g_cancellable_is_cancelled(worker->cancel) &&
           (left_s = left(&worker->schedule, now_s())) > 0)
        g_cond_wait_until(&worker->cond, &worker->lock,
                          g_get_monotonic_time() + (gint64)(1e6 * left_s));
}

// All that is visible has been shown: from now on the pass gives way at once.
static void on_first_look(gpointer data)
{
    LithoWorker *worker = ((Pass *)data)->worker;
    g_mutex_lock(&worker->lock);
    litho_schedule_shown(&worker->schedule);
    let_rest(worker, litho_schedule_look_rest_s);
    g_mutex_unlock(&worker->lock);
}

static void on_partial(LithoCube *part, gpointer data)
{
    Pass *pass = data;
    LithoResult *result = result_new(pass);
    g_ptr_array_add(result->parts, litho_cube_ref(part));
    result->report = litho_report_ref(pass->report);
    publish(pass->worker, result);
}

// Input of view `k`, cut from a survey that does not fit into memory: as read for the last wish, or
// read now. Borrowed until the next call.
static LithoCube *read_for(Pass *pass, guint k, LithoRun *run, GError **error)
{
    LithoWorker *worker = pass->worker;
    LithoBox need = pass->wish->needs[k];
    const guint place = MIN(k, LITHO_WORKER_KEPT - 1);
    for (guint r = 0; r < LITHO_WORKER_KEPT; r++) {
        LithoCube *cube = worker->read[r];
        if (cube && cube->survey == pass->wish->survey && litho_box_equal(cube->held, need)) {
            worker->read[r] = worker->read[place];
            worker->read[place] = cube;
            return cube;
        }
    }
    g_clear_pointer(&worker->read[place], litho_cube_unref); // first: there is room for one only
    worker->read[place] = litho_survey_read(pass->wish->survey, &need, run, error);
    return worker->read[place];
}

static void forget_measured(LithoWorker *worker)
{
    g_clear_pointer(&worker->measured, litho_flow_free);
    g_clear_pointer(&worker->measured_of, litho_survey_unref);
}

static void forget_read(LithoWorker *worker)
{
    for (guint r = 0; r < LITHO_WORKER_KEPT; r++)
        g_clear_pointer(&worker->read[r], litho_cube_unref);
}

// The times of a pass count unless it stood still.
static void end_times(LithoWorker *worker)
{
    g_mutex_lock(&worker->lock);
    const gboolean stood = worker->was_paused;
    worker->was_paused = FALSE;
    g_mutex_unlock(&worker->lock);
    if (stood)
        litho_timings_drop_pass(worker->timings);
    else
        litho_timings_end_pass(worker->timings);
}

static LithoCube *compute(Pass *pass, LithoCube *in, const LithoBox *region, LithoRun *run,
                          GError **error)
{
    LithoCube *out =
        litho_engine_run(pass->worker->engine, pass->wish->flow, in, region, run, error);
    if (!out)
        litho_timings_drop_pass(pass->worker->timings);
    return out;
}

// The views computed so far; takes no parts over.
static void publish_views(Pass *pass, const GPtrArray *parts)
{
    LithoResult *result = result_new(pass);
    for (guint k = 0; k < parts->len; k++)
        g_ptr_array_add(result->parts, litho_cube_ref(g_ptr_array_index(parts, k)));
    result->report = litho_report_ref(pass->report);
    result->all_views = litho_schedule_has_all_views(&pass->worker->schedule);
    publish(pass->worker, result);
}

// View `k` of the wish. Returns a new reference, or NULL.
static LithoCube *compute_view(Pass *pass, guint k, LithoRun *run, GError **error)
{
    const LithoWish *wish = pass->wish;
    LithoCube *in = wish->survey ? read_for(pass, k, run, error) : wish->in;
    return in || !wish->survey ? compute(pass, in, &wish->views[k], run, error) : NULL;
}

// Shown when the schedule says so; takes the view over. Times on show are of whole passes: those of
// the views count when nothing else follows, and where the whole pass finds a stage done.
static void view_done(Pass *pass, LithoCube *view)
{
    const LithoSchedule *schedule = &pass->worker->schedule; // no task is under way
    g_ptr_array_add(pass->views, view);
    if (litho_schedule_shows(schedule))
        publish_views(pass, pass->views);
    if (!litho_schedule_has_all_views(schedule))
        return;
    if (pass->wish->whole)
        litho_timings_hold_pass(pass->worker->timings);
    else
        end_times(pass->worker);
}

static void whole_done(Pass *pass, LithoCube *whole)
{
    end_times(pass->worker);
    LithoResult *result = result_new(pass);
    g_ptr_array_add(result->parts, whole);
    result->complete = result->all_views = TRUE;
    result->report = litho_report_ref(pass->report);
    publish(pass->worker, result);
}

static LithoTask next_task(LithoWorker *worker)
{
    g_mutex_lock(&worker->lock);
    let_rest(worker, litho_schedule_rest_s);
    LithoTask task = litho_schedule_next(&worker->schedule, now_s(), worker->pending != NULL);
    g_mutex_unlock(&worker->lock);
    return task;
}

static void end_task(LithoWorker *worker, gboolean finished)
{
    g_mutex_lock(&worker->lock);
    litho_schedule_end(&worker->schedule, now_s(), finished);
    g_mutex_unlock(&worker->lock);
}

// Task after task, as the schedule says. FALSE with `error` when one has failed, or was given up.
static gboolean run_tasks(Pass *pass, LithoRun *run, GError **error)
{
    for (;;) {
        const LithoTask task = next_task(pass->worker);
        if (task.what == LITHO_TASK_GIVE_WAY)
            litho_timings_drop_pass(pass->worker->timings);
        if (task.what == LITHO_TASK_GIVE_WAY || task.what == LITHO_TASK_NONE)
            return TRUE;
        LithoCube *out = task.what == LITHO_TASK_VIEW
                             ? compute_view(pass, task.view, run, error)
                             : compute(pass, pass->wish->in, NULL, run, error);
        end_task(pass->worker, out != NULL);
        if (!out)
            return FALSE;
        if (task.what == LITHO_TASK_VIEW)
            view_done(pass, out);
        else
            whole_done(pass, out);
    }
}

// Slices come before the whole where they take less time. A survey beyond memory is read for local
// steps alone.
static gboolean shows_slices(const LithoWish *wish)
{
    const LithoGrid *in = wish->in ? &wish->in->grid : NULL;
    return wish->survey ? litho_flow_is_local(wish->flow)
                        : litho_engine_shows_slices(wish->device, wish->flow, in);
}

// One view may be all there is, as the only inline of a 2-D line: nothing is left to come after it.
static gboolean sees_all(const LithoWish *wish)
{
    for (guint k = 0; wish->in && k < wish->n_views; k++)
        if (litho_box_equal(wish->views[k], litho_box_full(&wish->in->grid)))
            return TRUE;
    return FALSE;
}

// Times of another device, or of another kind of wish, say nothing about the next pass.
static void forget_times(LithoWorker *worker)
{
    litho_timings_reset(worker->timings);
    g_mutex_lock(&worker->lock);
    litho_schedule_forget(&worker->schedule);
    g_mutex_unlock(&worker->lock);
}

// Reads what the flow's steps need and checks the flow with it. Who asked while files were not
// known is told when they are.
static gboolean read_files(Pass *pass, LithoRun *run, GError **error)
{
    const LithoWish *wish = pass->wish;
    const LithoGrid *in = wish->survey ? litho_survey_grid(wish->survey)
                          : wish->in   ? &wish->in->grid
                                       : NULL;
    LithoRun reading = *run;
    reading.superseded = superseded_files;
    reading.superseded_data = pass;
    g_autoptr(LithoWalk) before = litho_walk_look(wish->flow, in, NULL);
    g_autoptr(LithoWalk) walk = litho_walk_resolve(wish->flow, in, &reading, error);
    if (walk && before && before->waits) {
        LithoResult *result = result_new(pass);
        result->resolved = TRUE;
        publish(pass->worker, result);
    }
    return walk != NULL;
}

// Measures for steps that need numbers of the whole input, when the survey is beyond memory and
// only parts of it are computed. The numbers are kept for later wishes.
static gboolean measure(Pass *pass, LithoRun *run, GError **error)
{
    LithoWorker *worker = pass->worker;
    const LithoWish *wish = pass->wish;
    if (!wish->survey)
        return TRUE;
    if (worker->measured && worker->measured_of == wish->survey)
        litho_measure_take(wish->flow, worker->measured);
    if (!litho_measure_is_needed(wish->flow))
        return TRUE;
    LithoRun measuring = *run;
    measuring.superseded = superseded_measures;
    measuring.superseded_data = pass;
    const gboolean ok = litho_measure_flow(wish->flow, wish->survey, wish->device,
                                           litho_memory_available() / 4, &measuring, error);
    forget_measured(worker); // what was measured before a cancel is good as well
    worker->measured = litho_flow_copy(wish->flow);
    worker->measured_of = litho_survey_ref(wish->survey);
    return ok;
}

static void run_wish(LithoWorker *worker, const LithoWish *wish, double wish_ms,
                     GCancellable *cancel)
{
    if (wish->kind != worker->kind)
        forget_times(worker);
    worker->kind = wish->kind;
    if (worker->engine) {
        LithoDevice now = litho_engine_device(worker->engine);
        if (now.backend != wish->device.backend || now.index != wish->device.index) {
            g_clear_pointer(&worker->engine, litho_engine_free);
            forget_times(worker);
        } else if (!litho_device_is_same(now, wish->device)) {
            litho_engine_share(worker->engine, wish->device.count);
            forget_times(worker);
        }
    }
    if (!worker->engine)
        worker->engine = litho_engine_new(wish->device);

    if (!wish->survey)
        forget_read(worker);
    Pass pass = {.worker = worker, .wish = wish, .wish_ms = wish_ms, .begun_ms = litho_now_ms()};
    pass.report = litho_report_new();
    pass.views = g_ptr_array_new_with_free_func((GDestroyNotify)litho_cube_unref);
    const gboolean local = litho_flow_is_local(wish->flow);
    const guint n_views = shows_slices(wish) ? wish->n_views : 0;
    g_mutex_lock(&worker->lock);
    litho_schedule_share(&worker->schedule, !local);
    litho_schedule_begin(&worker->schedule, n_views, wish->whole, sees_all(wish));
    litho_report_unref(worker->report);
    worker->report = litho_report_ref(pass.report);
    worker->report_tag = wish->tag;
    g_mutex_unlock(&worker->lock);
    LithoRun run = {
        .cancel = cancel,
        .timings = worker->timings,
        .report = pass.report,
        .threads = wish->threads,
        .device = wish->device.index,
        .writes = TRUE,
        .on_progress = on_progress,
        .progress_data = worker,
        .on_partial = on_partial,
        .on_first_look = on_first_look,
        .partial_data = &pass,
        .views = wish->views,
        .n_views = n_views,
        .superseded = superseded,
        .superseded_data = worker,
    };
    GError *error = NULL;
    const gboolean known = read_files(&pass, &run, &error);
    const gboolean ok = known && measure(&pass, &run, &error) && run_tasks(&pass, &run, &error);
    if (!ok && !litho_error_is_cancelled(error)) {
        LithoResult *result = result_new(&pass);
        result->error = g_steal_pointer(&error);
        result->refused = !known;
        publish(worker, result);
    }
    g_clear_error(&error);
    litho_report_unref(pass.report);
    g_ptr_array_unref(pass.views);
}

// Lock held: until the schedule lets the next wish begin.
static void let_draw(LithoWorker *worker)
{
    const gboolean shares = worker->engine && litho_engine_device(worker->engine).backend->gl;
    while (shares && worker->pending && !worker->quit) {
        const double left_s = litho_schedule_hold_s(&worker->schedule, now_s());
        if (left_s <= 0)
            return;
        g_cond_wait_until(&worker->drawn, &worker->lock,
                          g_get_monotonic_time() + (gint64)(1e6 * left_s));
    }
}

// Lock held: nothing is asked for or under way any more.
static void tell_idle(LithoWorker *worker)
{
    worker->busy = worker->pending != NULL;
    worker->paused = worker->was_paused = FALSE;
    g_mutex_unlock(&worker->lock);
    worker->wake(worker->wake_data);
    g_mutex_lock(&worker->lock);
}

static gpointer worker_main(gpointer data)
{
    LithoWorker *worker = data;
    litho_thread_step_back(); // a window is in front of it
    g_mutex_lock(&worker->lock);
    while (!worker->quit) {
        if (!worker->pending) {
            if (worker->busy) // the wish was cancelled before it was begun
                tell_idle(worker);
            else
                g_cond_wait(&worker->cond, &worker->lock);
            continue;
        }
        let_draw(worker);
        if (worker->quit || !worker->pending)
            continue;
        LithoWish *wish = g_steal_pointer(&worker->pending);
        double wish_ms = worker->pending_ms;
        g_set_object(&worker->cancel, NULL);
        worker->cancel = g_cancellable_new();
        GCancellable *cancel = g_object_ref(worker->cancel);
        worker->busy = TRUE;
        worker->progress = (LithoProgress){.what = "starting", .seconds_left = -1};
        g_mutex_unlock(&worker->lock);

        run_wish(worker, wish, wish_ms, cancel);
        wish_free(wish);
        g_object_unref(cancel);

        g_mutex_lock(&worker->lock);
        tell_idle(worker);
    }
    g_mutex_unlock(&worker->lock);
    forget_read(worker);
    forget_measured(worker);
    g_clear_pointer(&worker->engine, litho_engine_free); // device memory goes in its own thread
    return NULL;
}

// --- the other side ---------------------------------------------------------------------------

LithoWorker *litho_worker_new(void (*wake)(gpointer data), gpointer data)
{
    LithoWorker *worker = g_new0(LithoWorker, 1);
    worker->wake = wake;
    worker->wake_data = data;
    worker->timings = litho_timings_new();
    g_mutex_init(&worker->lock);
    g_cond_init(&worker->cond);
    g_cond_init(&worker->go_on);
    g_cond_init(&worker->drawn);
    worker->thread = g_thread_new("litho-worker", worker_main, worker);
    return worker;
}

void litho_worker_free(LithoWorker *worker)
{
    if (!worker)
        return;
    g_mutex_lock(&worker->lock);
    worker->quit = TRUE;
    if (worker->cancel)
        g_cancellable_cancel(worker->cancel);
    end_pause(worker);
    g_cond_signal(&worker->cond);
    g_cond_signal(&worker->drawn);
    g_mutex_unlock(&worker->lock);
    g_thread_join(worker->thread);

    wish_free(worker->pending);
    litho_result_unref(worker->newest);
    litho_report_unref(worker->report);
    g_clear_object(&worker->cancel);
    litho_timings_unref(worker->timings);
    g_mutex_clear(&worker->lock);
    g_cond_clear(&worker->cond);
    g_cond_clear(&worker->go_on);
    g_cond_clear(&worker->drawn);
    g_free(worker);
}

void litho_worker_submit(LithoWorker *worker, const LithoWish *wish)
{
    LithoWish *copy = wish_copy(wish);
    g_mutex_lock(&worker->lock);
    LithoWish *old = worker->pending;
    worker->pending = copy;
    worker->pending_ms = litho_now_ms();
    litho_schedule_asked(&worker->schedule, now_s());
    worker->busy = TRUE;
    end_pause(worker);
    g_cond_signal(&worker->cond);
    g_mutex_unlock(&worker->lock);
    wish_free(old);
}

void litho_worker_cancel(LithoWorker *worker)
{
    g_mutex_lock(&worker->lock);
    LithoWish *old = g_steal_pointer(&worker->pending);
    if (worker->cancel)
        g_cancellable_cancel(worker->cancel);
    end_pause(worker);
    g_cond_signal(&worker->cond);
    g_cond_signal(&worker->drawn);
    g_mutex_unlock(&worker->lock);
    wish_free(old);
}

void litho_worker_pause(LithoWorker *worker, gboolean pause)
{
    g_mutex_lock(&worker->lock);
    if (!pause) {
        end_pause(worker);
    } else if (worker->busy && !worker->pending && !worker->paused) {
        worker->paused = worker->was_paused = TRUE;
        worker->paused_us = g_get_monotonic_time();
    }
    g_mutex_unlock(&worker->lock);
}

gboolean litho_worker_is_paused(LithoWorker *worker)
{
    g_mutex_lock(&worker->lock);
    gboolean paused = worker->paused;
    g_mutex_unlock(&worker->lock);
    return paused;
}

LithoResult *litho_worker_take(LithoWorker *worker)
{
    g_mutex_lock(&worker->lock);
    LithoResult *result = g_steal_pointer(&worker->newest);
    g_mutex_unlock(&worker->lock);
    return result;
}

void litho_worker_shown(LithoWorker *worker, guint64 generation)
{
    g_mutex_lock(&worker->lock);
    if (generation <= worker->generation) // else not of this worker
        litho_schedule_drawn(&worker->schedule, generation == worker->generation);
    g_cond_signal(&worker->drawn);
    g_mutex_unlock(&worker->lock);
}

LithoReport *litho_worker_report(LithoWorker *worker, guint64 *tag)
{
    g_mutex_lock(&worker->lock);
    if (tag)
        *tag = worker->report_tag;
    LithoReport *report = worker->report ? litho_report_ref(worker->report) : NULL;
    g_mutex_unlock(&worker->lock);
    return report;
}

gboolean litho_worker_progress(LithoWorker *worker, LithoProgress *progress)
{
    g_mutex_lock(&worker->lock);
    gboolean busy = worker->busy;
    if (progress)
        *progress = worker->progress;
    g_mutex_unlock(&worker->lock);
    return busy;
}

LithoTimings *litho_worker_timings(LithoWorker *worker)
{
    return worker->timings;
}
