// SPDX-License-Identifier: GPL-3.0-or-later
//
// The session's side of the worker: wishes out, results in, latency, device.
#include "ui/session/session_private.h"

#include <string.h>

#include "core/error.h"
#include "core/phases.h"

// --- another kind -------------------------------------------------------------------------------

// Figures of another operator, mode or file.
void litho_session_figures_forget(LithoSession *self)
{
    litho_timings_reset(litho_session_timings(self));
    litho_latency_restart(&self->latency);
    litho_numbers_forget(self->numbers, LITHO_NUMBERS_OUT);
    litho_session_report_drop(self);
    litho_session_area_forget(self);
    litho_session_emit(self, SIGNAL_STATS);
}

// --- asking -------------------------------------------------------------------------------------

static void submit(LithoSession *self)
{
    gboolean other_label;
    LithoWish wish = {
        .flow = self->flow,
        .in = self->input,
        .device = litho_device_choice_take(self->device, self->flow, &other_label),
        .whole = TRUE,
        .tag = litho_results_next_tag(self->results),
        .kind = litho_results_kind(self->results),
    };
    if (other_label)
        litho_session_emit(self, SIGNAL_DEVICE);
    const LithoGrid *out = litho_flow_check_out(self->check);
    guint n;
    const int *axes = litho_places_visible(self->places, &n);
    for (guint k = 0; k < n && !litho_flow_check_waits(self->check); k++) {
        // Whole slices, although a zoomed section shows less: the 3-D scene shows all of them.
        gint64 index = MIN(self->display.slice[axes[k]], out->axis[axes[k]].n - 1);
        wish.views[wish.n_views++] = litho_box_slice(out, axes[k], index);
    }
    if (self->pages && self->input && !litho_session_paged_wish(self, &wish)) {
        litho_worker_cancel(self->worker);
        litho_session_emit(self, SIGNAL_RESULT);
        return;
    }
    litho_worker_submit(self->worker, &wish);
    litho_session_emit(self, SIGNAL_PROGRESS);
}

// The grid the views show follows what is shown: an input of another shape than the result has its
// own slices.
void litho_session_update_grid(LithoSession *self)
{
    const LithoCube *against = litho_session_against(self);
    const LithoGrid *grid = against ? &against->grid : NULL;
    const LithoGrid *out = litho_flow_check_out(self->check);
    const gboolean known = !litho_session_flow_problem(self) || litho_session_result(self);
    if (litho_session_shown(self) != LITHO_SHOW_INPUT && known && out->axis[0].n > 0)
        grid = out;
    const LithoGrid *shown = litho_session_grid(self);
    if (!grid || (shown && litho_grid_equal(grid, shown)))
        return;
    litho_places_adopt(self->places, grid, self->depth_time, &self->display);
    litho_session_auto_clip(self);
    litho_session_emit(self, SIGNAL_SLICES);
}

static void check_flow(LithoSession *self)
{
    const LithoGrid *in = self->input ? &self->input->grid : NULL;
    if (litho_flow_check_look(self->check, self->flow, in))
        litho_session_result_drop(self);
}

void litho_session_flow_touched(LithoSession *self)
{
    check_flow(self);
    litho_results_set_problem(self->results, NULL);
    if (self->preview)
        return; // set_input() or set_preview(NULL) comes here again
    const gboolean runs = !litho_session_flow_problem(self);
    // A flow that is refused leaves result and figures as they are: nothing has taken their place.
    if (runs && litho_results_note_kind(self->results, self->flow, self->input))
        litho_session_figures_forget(self);
    if (litho_flow_check_is_hopeless(self->check) || !litho_flow_has_work(self->flow)) {
        litho_worker_cancel(self->worker);
        if (runs)
            litho_session_result_drop(self);
        litho_memory_question_forget(self->memory);
        litho_results_next_tag(self->results);
        litho_session_update_grid(self);
        litho_session_emit(self, SIGNAL_RESULT);
        return;
    }
    litho_session_update_grid(self);
    submit(self);
    if (self->pages)
        litho_memory_question_forget(self->memory); // a whole result is never computed here
    else
        litho_session_memory_want(self);
}

void litho_session_slices_moved(LithoSession *self)
{
    const gboolean runs = !litho_session_flow_problem(self) && litho_flow_has_work(self->flow);
    if (self->pages && self->input && !self->preview) {
        litho_session_pages_moved(self);
        litho_results_set_problem(self->results, NULL);
        if (runs)
            submit(self); // nothing else would compute these slices
        return;
    }
    gboolean waiting = runs && !litho_session_output(self) && !litho_session_problem(self);
    if (waiting && litho_flow_is_local(self->flow) && litho_session_progress(self, NULL))
        submit(self);
}

void litho_session_recompute(LithoSession *self)
{
    litho_session_flow_touched(self);
}

void litho_session_cancel(LithoSession *self)
{
    litho_worker_cancel(self->worker);
}

void litho_session_pause(LithoSession *self, gboolean pause)
{
    litho_worker_pause(self->worker, pause);
    litho_session_emit(self, SIGNAL_PROGRESS);
}

gboolean litho_session_is_paused(LithoSession *self)
{
    return litho_worker_is_paused(self->worker);
}

// --- results ------------------------------------------------------------------------------------

// Takes over `result`, which has parts.
static void take_result(LithoSession *self, LithoResult *result)
{
    LithoCube *whole;
    litho_results_take(self->results, result, litho_flow_check_out(self->check), &whole);
    if (whole)
        litho_session_numbers_want(self, LITHO_NUMBERS_OUT, whole);
}

void litho_session_adopt_result(LithoSession *self, LithoResult *known)
{
    litho_worker_cancel(self->worker);
    take_result(self, litho_results_repeat(self->results, known));
    litho_session_report_adopt(self, known->report);
    litho_session_update_grid(self);
    litho_session_auto_clip(self);
    litho_session_emit(self, SIGNAL_RESULT);
    litho_session_emit(self, SIGNAL_PROGRESS);
}

// The wish has failed: `refused` by a check or a file of the flow.
static void take_failure(LithoSession *self, const LithoResult *result)
{
    if (result->tag != litho_results_tag(self->results))
        return;
    if (result->refused)
        litho_flow_check_refuse(self->check, result->error);
    else
        litho_results_set_problem(self->results, result->error);
}

static gboolean fetch(gpointer data)
{
    LithoSession *self = data;
    const char *around = litho_phase_begin("result taken");
    g_atomic_int_set(&self->wake_posted, 0); // first: what comes from here on posts again
    LithoResult *result = litho_worker_take(self->worker);
    const gboolean news = result != NULL;
    if (result)
        result->taken_ms = litho_now_ms();
    if (result && litho_flow_check_waits(self->check) && !result->error) {
        check_flow(self); // its files have been read
        if (!litho_flow_check_waits(self->check) && !self->pages)
            litho_session_memory_want(self);
    }
    if (result && result->error)
        take_failure(self, result);
    else if (result && result->parts->len > 0)
        take_result(self, g_steal_pointer(&result));
    litho_result_unref(result);
    litho_session_report_look(self);
    if (news) {
        litho_session_update_grid(self); // a first result may have another shape than the input
        litho_session_auto_clip(self);
        litho_session_area_look(self);
        litho_session_numbers_glance(self);
        litho_session_emit(self, SIGNAL_RESULT);
    }
    litho_session_emit(self, SIGNAL_PROGRESS);
    litho_phase_end(around);
    return G_SOURCE_REMOVE;
}

// From the worker's thread: many wakes, one idle.
static void wake(gpointer data)
{
    LithoSession *self = data;
    if (g_atomic_int_compare_and_exchange(&self->wake_posted, 0, 1))
        g_idle_add_full(G_PRIORITY_DEFAULT, fetch, self, NULL);
}

static void device_known(gpointer owner)
{
    LithoSession *self = owner;
    litho_session_emit(self, SIGNAL_DEVICE);
    if (self->input || litho_flow_length(self->flow) > 0)
        litho_session_flow_touched(self);
}

void litho_session_result_init(LithoSession *self)
{
    self->device = litho_device_choice_new(device_known, self);
    self->results = litho_results_new();
    self->display_timings = litho_timings_new();
    self->figures = litho_figures_new();
    self->worker = litho_worker_new(wake, self);
}

void litho_session_result_drop(LithoSession *self)
{
    litho_results_drop(self->results);
    litho_ranges_release(self->ranges, LITHO_NUMBERS_OUT);
    litho_numbers_forget(self->numbers, LITHO_NUMBERS_OUT);
}

void litho_session_result_clear(LithoSession *self)
{
    g_clear_pointer(&self->device, litho_device_choice_free);
    g_clear_pointer(&self->worker, litho_worker_free);
    while (g_source_remove_by_user_data(self)) // fetches on their way
        ;
    litho_results_drop(self->results);
    g_clear_pointer(&self->display_timings, litho_timings_unref);
}

LithoCube *litho_session_output(LithoSession *self)
{
    if (self->pages)
        return NULL;
    if (!litho_session_flow_problem(self) && !litho_flow_has_work(self->flow))
        return self->input;
    return litho_results_whole(self->results);
}

LithoCube *litho_session_holding(LithoSession *self, LithoBox box)
{
    const gboolean any = !self->pages && !self->preview && litho_flow_has_work(self->flow);
    return any ? litho_results_holding(self->results, box) : NULL;
}

const LithoResult *litho_session_result(LithoSession *self)
{
    return litho_results_newest(self->results);
}

const GError *litho_session_problem(LithoSession *self)
{
    return litho_results_problem(self->results);
}

gboolean litho_session_shows_earlier(LithoSession *self)
{
    const LithoResult *result = litho_session_result(self);
    if (self->preview || !result || !litho_flow_has_work(self->flow))
        return FALSE;
    return litho_session_flow_problem(self) ||
           (litho_session_problem(self) && result->tag < litho_results_tag(self->results));
}

gboolean litho_session_sample(LithoSession *self, gboolean output, const gint64 at[3], float *value)
{
    if (!self->preview && output && litho_flow_has_work(self->flow))
        return litho_results_sample(self->results, at, value);
    LithoCube *page = self->pages ? litho_pager_find(litho_pages_pager(self->pages), at) : NULL;
    return litho_results_sample_of(page, at, value) ||
           litho_results_sample_of(litho_session_against(self), at, value);
}

gboolean litho_session_progress(LithoSession *self, LithoProgress *progress)
{
    LithoProgress unused;
    return litho_worker_progress(self->worker, progress ? progress : &unused);
}

LithoTimings *litho_session_timings(LithoSession *self)
{
    return litho_worker_timings(self->worker);
}

LithoTimings *litho_session_display_timings(LithoSession *self)
{
    return self->display_timings;
}

// --- latency ------------------------------------------------------------------------------------

void litho_session_drawn(LithoSession *self, const LithoResult *result,
                         const LithoFrameTimes *frame)
{
    litho_timings_add(self->display_timings, "draw", LITHO_STAGE_DISPLAY,
                      frame->painted_ms - frame->begin_ms, 0, 0);
    litho_timings_end_pass(self->display_timings);
    if (!result)
        return;
    litho_worker_shown(self->worker, result->generation);
    if (litho_latency_drawn(&self->latency, result, frame))
        litho_session_emit(self, SIGNAL_PROGRESS);
}

guint64 litho_session_slices_drawn(LithoSession *self, int axis)
{
    return self->latency.n_slices[axis];
}

void litho_session_latency(LithoSession *self, double *last, double *median)
{
    litho_latency_get(&self->latency, last, median);
}

guint litho_session_latencies(LithoSession *self, float ms[LITHO_LATENCY_RING])
{
    return litho_latency_ring(&self->latency, ms);
}

const float *litho_session_latency_way(LithoSession *self)
{
    return self->latency.way;
}

// --- device -------------------------------------------------------------------------------------

void litho_session_set_device(LithoSession *self, const char *wanted)
{
    litho_device_choice_ask(self->device, wanted);
}

LithoDevice litho_session_device(LithoSession *self)
{
    return litho_device_choice_for(self->device, self->flow);
}

const char *litho_session_wanted_device(LithoSession *self)
{
    return litho_device_choice_wanted(self->device);
}

int litho_session_gpus(LithoSession *self)
{
    return litho_device_choice_gpus(self->device);
}

const char *litho_session_device_label(LithoSession *self, const char **why)
{
    return litho_device_choice_label(self->device, why);
}
