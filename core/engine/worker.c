// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/worker.h"

#include <gio/gio.h>
#include <string.h>

#include "core/error.h"

// A whole pass that last took less than this is not worth computing visible slices for first.
#define QUICK_WHOLE_S 0.06
// Visible slices that together take longer are shown one by one, as they are ready.
#define QUICK_VIEWS_S 0.05

struct LithoWorker {
    GThread *thread;
    void (*wake)(gpointer data);
    gpointer wake_data;
    LithoTimings *timings;

    GMutex lock; // guards everything down to `quit`
    GCond cond;  // something to do
    GCond go_on; // a pause is over
    LithoWish *pending;
    double pending_ms;    // when `pending` was handed over
    GCancellable *cancel; // of the pass under way
    gint64 pass_us;       // its start, 0 = idle
    gint64 grace_us;      // how old it may get before newer parameters end it
    LithoResult *newest;  // unseen
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
    // How long the last finished passes took; 0 = not known.
    double view_s[LITHO_WORKER_MAX_VIEWS], whole_s;
    guint next_other; // of the views behind the first, 0 the second: whose turn is next
    double owed_s;    // to the first view, by the others
};

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

LithoResult *litho_result_ref(LithoResult *result)
{
    g_atomic_int_inc(&result->refs);
    return result;
}

void litho_result_unref(LithoResult *result)
{
    if (!result || !g_atomic_int_dec_and_test(&result->refs))
        return;
    g_ptr_array_unref(result->parts);
    g_clear_error(&result->error);
    litho_report_unref(result->report);
    g_free(result);
}

static LithoResult *result_new(const LithoWish *wish, double wish_ms)
{
    LithoResult *result = g_new0(LithoResult, 1);
    result->tag = wish->tag;
    result->parts = g_ptr_array_new_with_free_func((GDestroyNotify)litho_cube_unref);
    result->device = wish->device;
    result->wish_ms = wish_ms;
    result->seconds = (litho_now_ms() - wish_ms) * 1e-3;
    result->refs = 1;
    return result;
}

LithoResult *litho_result_of(LithoCube *whole, LithoReport *report, LithoDevice device)
{
    LithoResult *result = g_new0(LithoResult, 1);
    result->parts = g_ptr_array_new_with_free_func((GDestroyNotify)litho_cube_unref);
    g_ptr_array_add(result->parts, litho_cube_ref(whole));
    result->complete = result->all_views = TRUE;
    result->device = device;
    result->report = report ? litho_report_ref(report) : NULL;
    result->refs = 1;
    return result;
}

// TRUE when a part of an unseen result must not get lost behind `result`.
static gboolean is_needed(LithoCube *part, guint64 tag, const LithoResult *result)
{
    if (g_ptr_array_find(result->parts, part, NULL))
        return FALSE;
    for (guint k = 0; k < result->parts->len; k++) {
        const LithoCube *newer = g_ptr_array_index(result->parts, k);
        if (!litho_grid_same_shape(&newer->grid, &part->grid) ||
            (tag != result->tag && litho_box_contains(newer->held, part->held)))
            return FALSE;
    }
    return TRUE;
}

// Takes over `result`. An unseen incomplete result hands its parts on: a depth or a slice that
// nobody has drawn yet must not get lost behind the next one, nor behind another slice of newer
// parameters.
static void publish(LithoWorker *worker, LithoResult *result)
{
    g_mutex_lock(&worker->lock);
    result->generation = ++worker->generation;
    LithoResult *old = worker->newest;
    if (old && !old->complete && !result->complete && !result->error)
        for (guint k = 0, at = 0; k < old->parts->len; k++) {
            LithoCube *part = g_ptr_array_index(old->parts, k);
            if (is_needed(part, old->tag, result))
                g_ptr_array_insert(result->parts, at++, litho_cube_ref(part));
        }
    worker->newest = result;
    g_mutex_unlock(&worker->lock);
    litho_result_unref(old);
    worker->wake(worker->wake_data);
}

// --- one pass ---------------------------------------------------------------------------------

typedef struct Pass {
    LithoWorker *worker;
    const LithoWish *wish;
    double wish_ms;
    LithoReport *report;
} Pass;

// Asked at every step, by all threads of the pass: this is where a pause holds them.
static gboolean superseded(gpointer data)
{
    LithoWorker *worker = data;
    g_mutex_lock(&worker->lock);
    while (worker->paused)
        g_cond_wait(&worker->go_on, &worker->lock);
    gboolean give_up = worker->pending && worker->pass_us > 0 &&
                       g_get_monotonic_time() - worker->pass_us > worker->grace_us;
    g_mutex_unlock(&worker->lock);
    return give_up;
}

// While files are read: only a wish for other files ends that.
static gboolean superseded_files(gpointer data)
{
    const Pass *pass = data;
    LithoWorker *worker = pass->worker;
    g_mutex_lock(&worker->lock);
    const gboolean give_up =
        worker->pending && !litho_flow_same_files(worker->pending->flow, pass->wish->flow);
    g_mutex_unlock(&worker->lock);
    return give_up;
}

// TRUE with "cancelled" when newer parameters wait.
static gboolean give_way(LithoWorker *worker, GError **error)
{
    g_mutex_lock(&worker->lock);
    gboolean newer = worker->pending != NULL;
    g_mutex_unlock(&worker->lock);
    if (newer)
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "newer parameters wait");
    return newer;
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

static void on_partial(LithoCube *part, gpointer data)
{
    Pass *pass = data;
    LithoResult *result = result_new(pass->wish, pass->wish_ms);
    g_ptr_array_add(result->parts, litho_cube_ref(part));
    result->report = litho_report_ref(pass->report);
    publish(pass->worker, result);
}

// What view `k` needs of a survey that does not fit into memory: as read for the last wish, or read
// now. Borrowed until the next call.
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

// A pass begins whose like took `last_s`. What the screen waits for is let finish when it takes
// less than LITHO_WORKER_PATIENCE_MS: ending it at every event of a drag would leave the picture
// standing until the drag is over. The rest of the cube, which nobody sees, gives way at once:
// during a drag the visible slices follow as fast as they can be computed.
static void begin_pass(LithoWorker *worker, double last_s, gboolean awaited)
{
    gboolean patient = awaited && last_s * 1000 < LITHO_WORKER_PATIENCE_MS;
    g_mutex_lock(&worker->lock);
    worker->pass_us = g_get_monotonic_time();
    worker->grace_us = !awaited  ? 0
                       : patient ? 1000 * LITHO_WORKER_PATIENCE_MS
                                 : 1000 * LITHO_WORKER_GRACE_MS;
    g_mutex_unlock(&worker->lock);
}

// The views computed so far; takes no parts over.
static void publish_views(Pass *pass, const GPtrArray *parts)
{
    LithoResult *result = result_new(pass->wish, pass->wish_ms);
    for (guint k = 0; k < parts->len; k++)
        g_ptr_array_add(result->parts, litho_cube_ref(g_ptr_array_index(parts, k)));
    result->report = litho_report_ref(pass->report);
    result->all_views = parts->len == pass->wish->n_views;
    publish(pass->worker, result);
}

// View `k` of the wish. Returns a new reference, or NULL.
static LithoCube *compute_view(Pass *pass, guint k, LithoRun *run, GError **error)
{
    const LithoWish *wish = pass->wish;
    double start = litho_now_ms();
    begin_pass(pass->worker, pass->worker->view_s[k], TRUE);
    LithoCube *in = wish->survey ? read_for(pass, k, run, error) : wish->in;
    LithoCube *part = in || !wish->survey ? compute(pass, in, &wish->views[k], run, error) : NULL;
    if (part)
        pass->worker->view_s[k] = (litho_now_ms() - start) * 1e-3;
    return part;
}

// The most important view comes first, then the others in turn: when newer parameters wait after
// two of them, the next wish goes on with the one that was left out. During a drag the others
// together take no more time than the first: it follows closely, and none stands still.
static gboolean compute_views(Pass *pass, LithoRun *run, GError **error)
{
    LithoWorker *worker = pass->worker;
    const guint n = pass->wish->n_views, others = n - 1;
    double last_s = 0;
    for (guint k = 0; k < n; k++)
        last_s += worker->view_s[k] > 0 ? worker->view_s[k] : QUICK_VIEWS_S;
    const gboolean singly = last_s > QUICK_VIEWS_S;
    g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func((GDestroyNotify)litho_cube_unref);
    for (guint turn = 0; turn < n; turn++) {
        if (singly && (turn > 1 || (turn > 0 && worker->owed_s > 0)) && give_way(worker, error)) {
            litho_timings_drop_pass(worker->timings);
            return FALSE;
        }
        const guint other = turn > 0 ? worker->next_other % others : 0;
        if (turn > 0)
            worker->next_other = (other + 1) % others;
        const double start = litho_now_ms();
        LithoCube *part = compute_view(pass, turn > 0 ? 1 + other : 0, run, error);
        const double took_s = (litho_now_ms() - start) * 1e-3;
        worker->owed_s = turn > 0 ? worker->owed_s + took_s : MAX(worker->owed_s - took_s, 0);
        if (!part)
            return FALSE;
        g_ptr_array_add(parts, part);
        if (singly || parts->len == n)
            publish_views(pass, parts);
    }
    worker->owed_s = 0; // all are there
    // Times shown are of whole passes; those of the slices count when nothing else follows, and
    // where the whole pass finds a stage done.
    if (pass->wish->whole)
        litho_timings_hold_pass(worker->timings);
    else
        end_times(worker);
    return TRUE;
}

// `awaited`: nothing of this wish is on screen yet.
static gboolean compute_whole(Pass *pass, gboolean awaited, LithoRun *run, GError **error)
{
    double start = litho_now_ms();
    if (!awaited && give_way(pass->worker, error)) {
        litho_timings_drop_pass(pass->worker->timings);
        return FALSE;
    }
    begin_pass(pass->worker, pass->worker->whole_s, awaited);
    LithoCube *out = compute(pass, pass->wish->in, NULL, run, error);
    if (!out)
        return FALSE;
    end_times(pass->worker);
    pass->worker->whole_s = (litho_now_ms() - start) * 1e-3;
    LithoResult *result = result_new(pass->wish, pass->wish_ms);
    g_ptr_array_add(result->parts, out);
    result->complete = result->all_views = TRUE;
    result->report = litho_report_ref(pass->report);
    publish(pass->worker, result);
    return TRUE;
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
    memset(worker->view_s, 0, sizeof worker->view_s);
    worker->whole_s = worker->owed_s = 0;
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
        LithoResult *result = result_new(wish, pass->wish_ms);
        result->resolved = TRUE;
        publish(pass->worker, result);
    }
    return walk != NULL;
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
        }
    }
    if (!worker->engine)
        worker->engine = litho_engine_new(wish->device);

    if (!wish->survey)
        forget_read(worker);
    Pass pass = {.worker = worker, .wish = wish, .wish_ms = wish_ms};
    pass.report = litho_report_new();
    g_mutex_lock(&worker->lock);
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
        .on_progress = on_progress,
        .progress_data = worker,
        .on_partial = on_partial,
        .partial_data = &pass,
        .superseded = superseded,
        .superseded_data = worker,
    };
    gboolean views = wish->n_views > 0 && litho_flow_is_local(wish->flow) &&
                     (!wish->whole || (!sees_all(wish) &&
                                       (worker->whole_s == 0 || worker->whole_s > QUICK_WHOLE_S)));
    GError *error = NULL;
    const gboolean known = read_files(&pass, &run, &error);
    gboolean ok = known && (!views || compute_views(&pass, &run, &error));
    if (ok && (wish->whole || !views))
        ok = compute_whole(&pass, !views, &run, &error);
    if (!ok && !litho_error_is_cancelled(error)) {
        LithoResult *result = result_new(wish, wish_ms);
        result->error = g_steal_pointer(&error);
        result->refused = !known;
        publish(worker, result);
    }
    g_clear_error(&error);
    litho_report_unref(pass.report);
}

static gpointer worker_main(gpointer data)
{
    LithoWorker *worker = data;
    litho_thread_step_back(); // a window is in front of it
    g_mutex_lock(&worker->lock);
    while (!worker->quit) {
        if (!worker->pending) {
            g_cond_wait(&worker->cond, &worker->lock);
            continue;
        }
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
        worker->pass_us = 0;
        worker->busy = worker->pending != NULL;
        worker->paused = worker->was_paused = FALSE;
        g_mutex_unlock(&worker->lock);
        worker->wake(worker->wake_data);
        g_mutex_lock(&worker->lock);
    }
    g_mutex_unlock(&worker->lock);
    forget_read(worker);
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
    g_free(worker);
}

void litho_worker_submit(LithoWorker *worker, const LithoWish *wish)
{
    LithoWish *copy = wish_copy(wish);
    g_mutex_lock(&worker->lock);
    LithoWish *old = worker->pending;
    worker->pending = copy;
    worker->pending_ms = litho_now_ms();
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
    g_mutex_unlock(&worker->lock);
    wish_free(old);
}

void litho_worker_pause(LithoWorker *worker, gboolean pause)
{
    g_mutex_lock(&worker->lock);
    if (!pause) {
        end_pause(worker);
    } else if (worker->pass_us > 0 && !worker->pending && !worker->paused) {
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
    *progress = worker->progress;
    g_mutex_unlock(&worker->lock);
    return busy;
}

LithoTimings *litho_worker_timings(LithoWorker *worker)
{
    return worker->timings;
}
