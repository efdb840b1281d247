// SPDX-License-Identifier: GPL-3.0-or-later
//
// The session's side of the worker: wishes out, results in, latency, device.
#include "ui/session/session_private.h"

#include <string.h>

#include "core/error.h"

// --- wishes -------------------------------------------------------------------------------------

static gboolean flow_has_work(const LithoFlow *flow)
{
    for (guint k = 0; k < litho_flow_length(flow); k++)
        if (litho_flow_step(flow, k)->enabled)
            return TRUE;
    return FALSE;
}

// --- another kind -------------------------------------------------------------------------------

// Operators, switches, choices and texts of the flow, and the input. While these stay as they are
// and only numbers move, figures of the last pass may stand until the next has told its own.
static char *describe_kind(LithoSession *self)
{
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%" G_GUINT64_FORMAT, self->input ? self->input->serial : 0);
    const char *volume = litho_session_volume(self);
    g_string_append_printf(text, " %s", volume ? volume : "");
    for (guint k = 0; k < litho_flow_length(self->flow); k++) {
        const LithoStep *step = litho_flow_step(self->flow, k);
        if (!step->enabled)
            continue;
        g_string_append_printf(text, "\n%s", step->op->key);
        for (guint r = 0; r < step->op->params.n; r++) {
            const LithoParam *row = &step->op->params.rows[r];
            if (row->type == LITHO_PARAM_FLOAT || row->type == LITHO_PARAM_INT)
                continue;
            g_autofree char *value = litho_param_print(row, step->params);
            g_string_append_printf(text, " %s=%s", row->key, value);
        }
    }
    return g_string_free(text, FALSE);
}

// Figures of another operator, mode or file go at once: numbers, curves, histogram, timings, the
// area's spectra. The picture stays until there is another one.
static void forget_figures(LithoSession *self)
{
    self->kind++;
    self->first_tag = self->tag + 1;
    litho_timings_reset(litho_session_timings(self));
    litho_latency_restart(&self->latency);
    litho_numbers_forget(self->numbers, LITHO_NUMBERS_OUT);
    litho_session_report_drop(self);
    litho_session_area_forget(self);
    litho_session_emit(self, SIGNAL_STATS);
}

// The flow as it stands will be computed, or is not to be: are the figures of its kind?
static void note_kind(LithoSession *self)
{
    g_autofree char *text = describe_kind(self);
    if (g_strcmp0(text, self->kind_text) == 0)
        return;
    g_free(self->kind_text);
    self->kind_text = g_steal_pointer(&text);
    forget_figures(self);
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
        .tag = ++self->tag,
        .kind = self->kind,
    };
    if (other_label)
        litho_session_emit(self, SIGNAL_DEVICE);
    for (guint k = 0; k < self->n_visible && !self->waits; k++) {
        // Whole slices, although a zoomed section shows less: the 3-D scene shows all of them.
        int axis = self->visible[k];
        gint64 index = MIN(self->display.slice[axis], self->out_grid.axis[axis].n - 1);
        wish.views[wish.n_views++] = litho_box_slice(&self->out_grid, axis, index);
    }
    if (self->pager && self->input && !litho_session_paged_wish(self, &wish)) {
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
    const gboolean known = (!self->flow_problem || self->result) && self->out_grid.axis[0].n > 0;
    if (litho_session_shown(self) != LITHO_SHOW_INPUT && known)
        grid = &self->out_grid;
    const LithoGrid *shown = litho_session_grid(self);
    if (!grid || (shown && litho_grid_equal(grid, shown)))
        return;
    litho_places_adopt(self->places, grid, self->depth_time, &self->display);
    litho_session_auto_clip(self);
    litho_session_emit(self, SIGNAL_SLICES);
}

static void set_flow_problem(LithoSession *self, const GError *error, gboolean of_file)
{
    g_free(self->flow_problem);
    self->flow_problem = error ? g_strdup(error->message) : NULL;
    self->file_problem = error && of_file;
}

// Opens no file: while one that the flow names is not read, the sentence about it stays, and the
// grid of the flow before.
static void check_flow(LithoSession *self)
{
    g_autoptr(GError) error = NULL;
    const LithoGrid *in = self->input ? &self->input->grid : NULL;
    g_autoptr(LithoWalk) walk = litho_walk_look(self->flow, in, &error);
    self->waits = walk && walk->waits;
    if (self->waits && self->file_problem)
        return;
    set_flow_problem(self, error, FALSE);
    if (!walk || self->waits)
        return;
    if (!litho_grid_same_shape(&walk->out, &self->out_grid))
        litho_session_result_drop(self);
    self->out_grid = walk->out;
}

void litho_session_flow_touched(LithoSession *self)
{
    check_flow(self);
    g_clear_error(&self->problem);
    if (self->preview)
        return; // set_input() or set_preview(NULL) comes here again
    // A flow that is refused leaves result and figures as they are: nothing has taken their place.
    if (!self->flow_problem)
        note_kind(self);
    if ((self->flow_problem && !self->file_problem) || !flow_has_work(self->flow)) {
        litho_worker_cancel(self->worker);
        if (!self->flow_problem)
            litho_session_result_drop(self);
        litho_memory_question_forget(self->memory);
        self->tag++;
        litho_session_update_grid(self);
        litho_session_emit(self, SIGNAL_RESULT);
        return;
    }
    litho_session_update_grid(self);
    submit(self);
    if (self->pager)
        litho_memory_question_forget(self->memory); // a whole result is never computed here
    else
        litho_session_memory_want(self);
}

void litho_session_slices_moved(LithoSession *self)
{
    if (self->pager && self->input && !self->preview) {
        litho_session_pages_moved(self);
        g_clear_error(&self->problem);
        if (!self->flow_problem && flow_has_work(self->flow))
            submit(self); // nothing else would compute these slices
        return;
    }
    gboolean waiting = !self->flow_problem && flow_has_work(self->flow) &&
                       !litho_session_output(self) && !self->problem;
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

static void adopt_result(LithoSession *self, LithoResult *result)
{
    LithoCube *last = g_ptr_array_index(result->parts, result->parts->len - 1);
    if (result->tag < self->first_tag || !litho_grid_same_shape(&last->grid, &self->out_grid)) {
        litho_result_unref(result); // of a flow or a file that has gone since
        return;
    }
    if (result->complete) {
        litho_result_unref(self->backdrop);
        self->backdrop = litho_result_ref(result);
        if (result->tag == self->tag)
            litho_session_numbers_want(self, LITHO_NUMBERS_OUT, last);
    }
    litho_result_unref(self->result);
    self->result = result;
}

void litho_session_adopt_result(LithoSession *self, LithoResult *known)
{
    // Numbers above all the worker's own: a view tells results apart by them.
    enum { ABOVE_BITS = 62 };
    litho_worker_cancel(self->worker);
    LithoResult *result =
        litho_result_of(g_ptr_array_index(known->parts, 0), known->report, known->device);
    result->tag = ++self->tag;
    result->generation = (G_GUINT64_CONSTANT(1) << ABOVE_BITS) + ++self->n_adopted;
    result->seconds = known->seconds;
    result->wish_ms = litho_now_ms();
    adopt_result(self, result);
    litho_session_report_adopt(self, known->report);
    litho_session_update_grid(self);
    litho_session_auto_clip(self);
    litho_session_emit(self, SIGNAL_RESULT);
    litho_session_emit(self, SIGNAL_PROGRESS);
}

static gboolean fetch(gpointer data)
{
    LithoSession *self = data;
    g_atomic_int_set(&self->wake_posted, 0); // first: what comes from here on posts again
    LithoResult *result = litho_worker_take(self->worker);
    if (result && self->waits && !result->error) {
        check_flow(self); // its files have been read
        if (!self->waits && !self->pager)
            litho_session_memory_want(self);
    }
    if (result && result->error) {
        if (result->tag == self->tag && result->refused) {
            set_flow_problem(self, result->error, TRUE);
        } else if (result->tag == self->tag) {
            g_clear_error(&self->problem);
            self->problem = g_error_copy(result->error);
        }
        litho_result_unref(result);
    } else if (result && self->result && result->tag < self->result->tag) {
        g_clear_pointer(&result, litho_result_unref); // overtaken by one that was kept
    } else if (result && result->parts->len > 0) {
        adopt_result(self, result);
    } else {
        litho_result_unref(result);
    }
    litho_session_report_look(self);
    if (result) {
        litho_session_update_grid(self); // a first result may have another shape than the input
        litho_session_auto_clip(self);
        litho_session_area_look(self);
        litho_session_emit(self, SIGNAL_RESULT);
    }
    litho_session_emit(self, SIGNAL_PROGRESS);
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
    self->display_timings = litho_timings_new();
    self->figures = litho_figures_new();
    self->worker = litho_worker_new(wake, self);
}

void litho_session_result_drop(LithoSession *self)
{
    g_clear_pointer(&self->result, litho_result_unref);
    g_clear_pointer(&self->backdrop, litho_result_unref);
    g_clear_error(&self->problem);
    litho_ranges_release(self->ranges, LITHO_NUMBERS_OUT);
    litho_numbers_forget(self->numbers, LITHO_NUMBERS_OUT);
}

void litho_session_result_clear(LithoSession *self)
{
    g_clear_pointer(&self->device, litho_device_choice_free);
    g_clear_pointer(&self->worker, litho_worker_free);
    while (g_source_remove_by_user_data(self)) // fetches on their way
        ;
    g_clear_pointer(&self->result, litho_result_unref);
    g_clear_pointer(&self->backdrop, litho_result_unref);
    g_clear_pointer(&self->display_timings, litho_timings_unref);
    g_clear_error(&self->problem);
}

LithoCube *litho_session_output(LithoSession *self)
{
    if (self->pager)
        return NULL;
    if (!self->flow_problem && !flow_has_work(self->flow))
        return self->input;
    const LithoResult *result = self->result;
    if (!result || !result->complete || result->tag != self->tag)
        return NULL;
    return g_ptr_array_index(result->parts, 0);
}

const LithoResult *litho_session_result(LithoSession *self)
{
    return self->result;
}

const GError *litho_session_problem(LithoSession *self)
{
    return self->problem;
}

static gboolean sample_of(LithoCube *cube, const gint64 at[3], float *value)
{
    LithoBox box = {{at[0], at[1], at[2]}, {at[0] + 1, at[1] + 1, at[2] + 1}};
    // A cube that is on a device only is not fetched for one number: it would stop the window.
    if (!cube || !g_atomic_pointer_get(&cube->samples) || !litho_box_contains(cube->held, box) ||
        !litho_cube_is_live(cube, at[0], at[1]))
        return FALSE;
    *value = litho_cube_trace(cube, at[0], at[1])[at[2] - cube->held.lo[2]];
    return TRUE;
}

gboolean litho_session_sample(LithoSession *self, gboolean output, const gint64 at[3], float *value)
{
    if (self->preview || !output || !flow_has_work(self->flow))
        return (self->pager && sample_of(litho_pager_find(self->pager, at), at, value)) ||
               sample_of(litho_session_against(self), at, value);
    const GPtrArray *parts = self->result ? self->result->parts : NULL;
    for (guint k = parts ? parts->len : 0; k-- > 0;)
        if (sample_of(g_ptr_array_index(parts, k), at, value))
            return TRUE;
    return self->backdrop && sample_of(g_ptr_array_index(self->backdrop->parts, 0), at, value);
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

void litho_session_drawn(LithoSession *self, const LithoResult *result, double draw_ms)
{
    litho_timings_add(self->display_timings, "draw", LITHO_STAGE_DISPLAY, draw_ms, 0, 0);
    litho_timings_end_pass(self->display_timings);
    if (!result)
        return;
    if (litho_latency_drawn(&self->latency, result))
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
