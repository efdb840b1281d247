// SPDX-License-Identifier: GPL-3.0-or-later
//
// The session object, its input and its flow. Results: session_result.c, looks: session_display.c.
#include "ui/session/session_private.h"

#include <string.h>

#include "core/error.h"
#include "core/io/survey.h"
#include "core/text.h"

G_DEFINE_TYPE(LithoSession, litho_session, G_TYPE_OBJECT)

static guint signals[N_SIGNALS];
static const char *const signal_names[N_SIGNALS] = {
    "cube-changed",    "flow-changed",   "params-changed", "result",         "progress",
    "display-changed", "slices-changed", "cursor-changed", "device-changed", "stats-changed",
    "report-changed",  "memory-changed", "area-changed",
};

void litho_session_emit(LithoSession *self, int signal)
{
    g_signal_emit(self, signals[signal], 0);
}

static void litho_session_init(LithoSession *self)
{
    self->flow = litho_flow_new();
    self->history = litho_history_new();
    self->selected = -1;
    self->check = litho_flow_check_new();
    self->places = litho_places_new();
    self->depth_time = litho_depth_time_new();
    litho_session_display_init(self);
    litho_session_numbers_init(self);
    litho_session_area_init(self);
    litho_session_memory_init(self);
    litho_session_result_init(self);
}

static void dispose(GObject *object)
{
    LithoSession *self = LITHO_SESSION(object);
    litho_session_result_clear(self);
    g_clear_pointer(&self->numbers, litho_numbers_free);
    g_clear_pointer(&self->area, litho_area_tool_free);
    g_clear_pointer(&self->memory, litho_memory_question_free);
    litho_session_drop_pages(self);
    g_clear_pointer(&self->input, litho_cube_unref);
    g_clear_pointer(&self->preview, litho_cube_unref);
    g_clear_pointer(&self->reference, litho_cube_unref);
    G_OBJECT_CLASS(litho_session_parent_class)->dispose(object);
}

static void finalize(GObject *object)
{
    LithoSession *self = LITHO_SESSION(object);
    litho_flow_free(self->flow);
    litho_history_free(self->history);
    litho_flow_check_free(self->check);
    litho_results_free(self->results);
    litho_figures_free(self->figures);
    litho_places_free(self->places);
    litho_depth_time_free(self->depth_time);
    litho_ranges_free(self->ranges);
    g_free(self->reference_name);
    G_OBJECT_CLASS(litho_session_parent_class)->finalize(object);
}

static void litho_session_class_init(LithoSessionClass *klass)
{
    GObjectClass *object_class = G_OBJECT_CLASS(klass);
    object_class->dispose = dispose;
    object_class->finalize = finalize;
    for (int k = 0; k < N_SIGNALS; k++)
        signals[k] = g_signal_new(signal_names[k], LITHO_TYPE_SESSION, G_SIGNAL_RUN_LAST, 0, NULL,
                                  NULL, NULL, G_TYPE_NONE, 0);
}

LithoSession *litho_session_new(void)
{
    return g_object_new(LITHO_TYPE_SESSION, NULL);
}

// --- input --------------------------------------------------------------------------------------

LithoCube *litho_session_input(LithoSession *self)
{
    return self->preview ? self->preview : self->input;
}

gboolean litho_session_previews(LithoSession *self)
{
    return self->preview != NULL;
}

void litho_session_set_preview(LithoSession *self, LithoCube *cube, const LithoRange *range)
{
    if (!cube && !self->preview)
        return;
    g_clear_pointer(&self->preview, litho_cube_unref);
    if (cube) {
        litho_worker_cancel(self->worker);
        self->preview = litho_cube_ref(cube);
        litho_ranges_begin(self->ranges, LITHO_RANGE_PREVIEW, range);
        litho_ranges_apply(self->ranges, range, &self->display.look);
        litho_places_adopt(self->places, &cube->grid, self->depth_time, &self->display);
        litho_session_emit(self, SIGNAL_CUBE);
        return;
    }
    litho_places_forget(self->places);
    litho_session_emit(self, SIGNAL_CUBE);
    litho_session_flow_touched(self);
}

LithoCube *litho_session_against(LithoSession *self)
{
    return self->preview ? self->preview : self->reference ? self->reference : self->input;
}

void litho_session_set_reference(LithoSession *self, LithoCube *cube, const char *name)
{
    if (cube == self->reference)
        return;
    g_clear_pointer(&self->reference, litho_cube_unref);
    g_free(self->reference_name);
    self->reference = cube ? litho_cube_ref(cube) : NULL;
    self->reference_name = cube ? g_strdup(name) : NULL;
    self->display.look.reversed = cube != NULL; // the error, not what was removed
    litho_session_update_grid(self);
    litho_session_emit(self, SIGNAL_DISPLAY);
    litho_session_emit(self, SIGNAL_CURSOR);
}

const char *litho_session_reference_name(LithoSession *self)
{
    return self->reference_name;
}

const char *litho_session_path(LithoSession *self)
{
    return self->input && self->input->survey ? litho_survey_path(self->input->survey) : NULL;
}

void litho_session_set_input(LithoSession *self, LithoCube *cube)
{
    litho_session_drop_pages(self);
    litho_session_adopt_input(self, cube);
}

void litho_session_adopt_input(LithoSession *self, LithoCube *cube)
{
    litho_session_result_drop(self);
    litho_session_figures_forget(self); // also where the new input refuses the flow
    litho_numbers_forget(self->numbers, LITHO_NUMBERS_IN);
    litho_ranges_begin(self->ranges, LITHO_NUMBERS_IN,
                       self->preview ? litho_ranges_get(self->ranges, LITHO_RANGE_PREVIEW) : NULL);
    g_clear_pointer(&self->input, litho_cube_unref);
    g_clear_pointer(&self->preview, litho_cube_unref);
    self->input = cube ? litho_cube_ref(cube) : NULL;
    g_clear_pointer(&self->reference, litho_cube_unref); // of the input before
    g_clear_pointer(&self->reference_name, g_free);
    self->display.look.reversed = FALSE;
    litho_places_forget(self->places);
    if (cube) {
        litho_ranges_release(self->ranges, LITHO_NUMBERS_IN);
        litho_places_adopt(self->places, &cube->grid, self->depth_time, &self->display);
        litho_session_numbers_want(self, LITHO_NUMBERS_IN, cube);
    }
    litho_area_tool_set(self->area, NULL); // it was of another survey
    litho_session_area_forget(self);
    litho_session_emit(self, SIGNAL_CUBE);
    litho_session_flow_touched(self);
    litho_session_emit(self, SIGNAL_FLOW);
}

const LithoGrid *litho_session_grid(LithoSession *self)
{
    return litho_places_grid(self->places);
}

static gboolean has_own_amplitudes(const LithoFlow *flow)
{
    for (guint k = 0; k < litho_flow_length(flow); k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        if (step->enabled && step->op->own_amplitudes)
            return TRUE;
    }
    return FALSE;
}

gboolean litho_session_comparable(LithoSession *self)
{
    const LithoCube *against = self->reference ? self->reference : self->input;
    if (!against || self->preview || litho_flow_length(self->flow) == 0 ||
        litho_session_volume(self) || has_own_amplitudes(self->flow))
        return FALSE;
    // A flow that is refused leaves the last result on the screen, with the grid it had.
    return (!litho_session_flow_problem(self) || litho_session_result(self)) &&
           litho_grid_matches(&against->grid, litho_flow_check_out(self->check));
}

// --- flow ---------------------------------------------------------------------------------------

const LithoFlow *litho_session_flow(LithoSession *self)
{
    return self->flow;
}

int litho_session_selected(LithoSession *self)
{
    return self->selected;
}

LithoHistory *litho_session_history(LithoSession *self)
{
    return self->history;
}

const char *litho_session_flow_problem(LithoSession *self)
{
    return litho_flow_check_problem(self->check);
}

// Replaces the flow without a step in the history.
static void adopt_flow(LithoSession *self, LithoFlow *flow)
{
    litho_flow_free(self->flow);
    self->flow = flow;
    int n = litho_flow_length(flow);
    self->selected = n == 0 ? -1 : CLAMP(self->selected, 0, n - 1);
    litho_session_flow_touched(self);
    litho_session_emit(self, SIGNAL_FLOW);
    litho_session_emit(self, SIGNAL_PARAMS);
}

void litho_session_set_flow(LithoSession *self, const LithoFlow *flow, const char *why)
{
    litho_history_push(self->history, self->flow, why);
    adopt_flow(self, litho_flow_copy(flow));
}

void litho_session_restore_flow(LithoSession *self, const LithoFlow *flow, int selected,
                                LithoHistory *history)
{
    litho_history_free(self->history);
    self->history = history;
    self->selected = selected;
    adopt_flow(self, litho_flow_copy(flow));
}

void litho_session_set_volume(LithoSession *self, const char *name)
{
    if (g_strcmp0(litho_session_volume(self), name) == 0)
        return;
    LithoFlow *flow = litho_flow_copy(self->flow);
    if (!litho_flow_set_volume(flow, name, NULL))
        litho_flow_set_volume(flow, NULL, NULL);
    adopt_flow(self, flow);
}

const char *litho_session_volume(LithoSession *self)
{
    return litho_flow_volume_step(self->flow) >= 0 ? self->flow->volume : NULL;
}

void litho_session_select(LithoSession *self, int step)
{
    int n = litho_flow_length(self->flow);
    step = n == 0 ? -1 : CLAMP(step, 0, n - 1);
    if (step == self->selected)
        return;
    self->selected = step;
    litho_session_emit(self, SIGNAL_FLOW);
    litho_session_emit(self, SIGNAL_PARAMS);
}

// `step`: whose parameters change, as in a drag; -1: steps come, go, move or are switched, which is
// a change of its own.
static void remember(LithoSession *self, int step, const char *what, const LithoOperator *op,
                     const LithoParam *row)
{
    if (step < 0 || step != self->changed)
        litho_history_seal(self->history);
    self->changed = step;
    g_autofree char *name =
        row  ? g_strdup_printf("%s: %s", litho_text(op->title), litho_text(row->label))
        : op ? g_strdup_printf("%s %s", what, litho_text(op->title))
             : g_strdup(what);
    litho_history_push(self->history, self->flow, name);
}

void litho_session_add_step(LithoSession *self, const LithoOperator *op)
{
    remember(self, -1, _("Add"), op, NULL);
    LithoFlow *flow = litho_flow_copy(self->flow);
    self->selected = litho_flow_append(flow, op);
    adopt_flow(self, flow);
}

void litho_session_remove_step(LithoSession *self, guint step)
{
    remember(self, -1, _("Remove"), litho_flow_step(self->flow, step)->op, NULL);
    LithoFlow *flow = litho_flow_copy(self->flow);
    litho_flow_remove(flow, step);
    self->selected -= self->selected > (int)step; // it stays on its operator
    adopt_flow(self, flow);
}

void litho_session_move_step(LithoSession *self, guint from, guint to)
{
    if (from == to || MAX(from, to) >= litho_flow_length(self->flow))
        return;
    remember(self, -1, _("Move"), litho_flow_step(self->flow, from)->op, NULL);
    LithoFlow *flow = litho_flow_copy(self->flow);
    litho_flow_move(flow, from, to);
    self->selected = to;
    adopt_flow(self, flow);
}

void litho_session_enable_step(LithoSession *self, guint step, gboolean enabled)
{
    LithoStep *s = litho_flow_step(self->flow, step);
    if (s->enabled == enabled)
        return;
    remember(self, -1, enabled ? _("Switch on") : _("Switch off"), s->op, NULL);
    s->enabled = enabled;
    litho_session_flow_touched(self);
    litho_session_emit(self, SIGNAL_FLOW);
}

gboolean litho_session_set_param(LithoSession *self, guint step, const LithoParam *row,
                                 double value, const char *text, GError **error)
{
    LithoStep *s = litho_flow_step(self->flow, step);
    if (litho_param_find(&s->op->params, row->key) != row)
        return litho_refuse(error, LITHO_ERROR_PARAMETER, "%s has no parameter '%s'", s->op->key,
                            row->key);
    g_autofree void *params = g_memdup2(s->params, s->op->params.size);
    // "2.5km/s" as on the command line.
    gboolean ok = text ? litho_param_parse(&s->op->params, params, row->key, text, error)
                       : litho_param_set(row, params, value, error);
    if (!ok)
        return FALSE;
    if (litho_param_equal(row, params, s->params))
        return TRUE;
    remember(self, (int)step, NULL, s->op, row);
    memcpy(s->params, params, s->op->params.size);
    litho_session_flow_touched(self);
    litho_session_emit(self, SIGNAL_PARAMS);
    return TRUE;
}

void litho_session_set_params(LithoSession *self, guint step, gconstpointer params,
                              const char *what)
{
    LithoStep *s = litho_flow_step(self->flow, step);
    if (litho_params_first_stage(&s->op->params, params, s->params) == G_MAXINT)
        return;
    remember(self, (int)step, what, s->op, NULL);
    memcpy(s->params, params, s->op->params.size);
    litho_session_flow_touched(self);
    litho_session_emit(self, SIGNAL_PARAMS);
}

void litho_session_reset_step(LithoSession *self, guint step)
{
    const LithoOperator *op = litho_flow_step(self->flow, step)->op;
    g_autofree void *params = g_malloc0(op->params.size);
    litho_param_defaults(&op->params, params);
    litho_session_set_params(self, step, params, _("Reset"));
}

void litho_session_travel(LithoSession *self, int steps)
{
    g_autoptr(LithoFlow) at = NULL;
    for (int k = 0; k < ABS(steps); k++) {
        const LithoFlow *now = at ? at : self->flow;
        LithoFlow *next = steps < 0 ? litho_history_undo(self->history, now)
                                    : litho_history_redo(self->history, now);
        if (!next)
            break;
        litho_flow_free(at);
        at = next;
    }
    if (!at)
        return;
    // The volume looked at is no part of a change.
    if (!litho_flow_set_volume(at, litho_session_volume(self), NULL))
        litho_flow_set_volume(at, NULL, NULL);
    adopt_flow(self, g_steal_pointer(&at));
}

void litho_session_undo(LithoSession *self)
{
    litho_session_travel(self, -1);
}

void litho_session_redo(LithoSession *self)
{
    litho_session_travel(self, 1);
}
