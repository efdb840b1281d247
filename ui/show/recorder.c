// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/show/recorder.h"

#include <math.h>

#include "core/error.h"
#include "core/text.h"
#include "ui/window/window_private.h"

enum { SETTLE_MS = 700 }; // what follows sooner belongs to the same step

struct LithoRecorder {
    LithoWindow *window; // a reference
    LithoScript *script;
    gint64 began_us; // the last step, or the recording
    guint timeout;
    gulong handlers[4];
    gulong layout;
};

// --- what the window shows ----------------------------------------------------------------------

static gboolean tell_cube(LithoWindow *window, LithoScriptCube *cube, GError **error)
{
    LithoCube *input = litho_session_input(window->session);
    if (!input)
        return TRUE; // a source, or nothing
    char **paths = litho_open_file_paths(window->file);
    if (paths && !paths[1]) {
        cube->file = g_strdup(paths[0]);
        return TRUE;
    }
    if (g_strcmp0(litho_open_file_key(window->file), "demo") != 0)
        return litho_refuse(
            error, LITHO_ERROR_UNSUPPORTED,
            "a script can name one file or the demo cube, and something else is open");
    cube->synth = litho_synths()[0]; // the demo is the first generator's default
    cube->params = g_malloc0(cube->synth->params.size);
    litho_param_defaults(&cube->synth->params, cube->params);
    return TRUE;
}

static LithoScriptStep *present_step(LithoWindow *window, const LithoScriptStep *before,
                                     GError **error)
{
    LithoSession *session = window->session;
    const LithoDisplay *d = litho_session_display(session);
    const LithoGrid *grid = litho_session_grid(session);
    LithoScriptStep *step = litho_script_step_after(before);
    litho_script_cube_clear(&step->cube);
    if (!tell_cube(window, &step->cube, error)) {
        litho_script_step_free(step);
        return NULL;
    }
    litho_flow_free(step->flow);
    step->flow = litho_flow_copy(litho_session_flow(session));
    step->show = (LithoScriptShow)d->show;
    step->view = (LithoScriptView)litho_canvas_maximised(litho_window_canvas(window));
    for (int k = 0; k < 2; k++) {
        step->split[k] = round(d->look.split * 1000) / 1000;
        for (int a = 0; grid && a < 3; a++)
            step->slice[a][k] =
                grid->axis[a].n > 1
                    ? round(1000.0 * (double)d->slice[a] / (double)(grid->axis[a].n - 1)) / 1000
                    : 0.5;
    }
    return step;
}

// --- steps --------------------------------------------------------------------------------------

static LithoScriptStep *last_step(LithoRecorder *r)
{
    return r->script->steps->len > 0
               ? g_ptr_array_index(r->script->steps, r->script->steps->len - 1)
               : NULL;
}

// One number of one step that changed and nothing else of the flow: a ramp, so that it is played
// as it was dragged.
static void find_ramp(LithoScriptStep *step, const LithoFlow *before)
{
    LithoScriptRamp ramp = {0};
    guint n = 0;
    if (litho_flow_length(before) != litho_flow_length(step->flow))
        return;
    for (guint k = 0; k < litho_flow_length(before); k++) {
        const LithoStep *a = litho_flow_step(before, k), *b = litho_flow_step(step->flow, k);
        if (a->op != b->op || a->enabled != b->enabled)
            return;
        for (guint i = 0; i < a->op->params.n; i++) {
            const LithoParam *row = &a->op->params.rows[i];
            if (litho_param_equal(row, a->params, b->params))
                continue;
            ramp = (LithoScriptRamp){k, row, litho_param_get(row, a->params),
                                     litho_param_get(row, b->params)};
            n++;
        }
    }
    if (n != 1 || (ramp.row->type != LITHO_PARAM_FLOAT && ramp.row->type != LITHO_PARAM_INT))
        return;
    litho_flow_free(step->flow);
    step->flow = litho_flow_copy(before);
    g_array_append_val(step->ramps, ramp);
}

static gboolean differs(const LithoScriptStep *a, const LithoScriptStep *before)
{
    gboolean same = litho_script_cube_equal(&a->cube, &before->cube) &&
                    litho_flow_equal(a->flow, before->flow) && a->show == before->show &&
                    a->view == before->view && a->split[0] == before->split[0];
    for (int k = 0; k < 3; k++)
        same &= a->slice[k][0] == before->slice[k][0];
    return !same;
}

// Lets split and slices move evenly from the step before, where both show one cube.
static void find_movement(LithoScriptStep *step, const LithoScriptStep *before)
{
    if (!litho_script_cube_equal(&step->cube, &before->cube))
        return;
    step->split[0] = before->split[0];
    for (int a = 0; a < 3; a++)
        step->slice[a][0] = before->slice[a][0];
}

static double seconds_since(gint64 us)
{
    const double s = (double)(g_get_monotonic_time() - us) * 1e-6;
    return CLAMP(round(10 * s) / 10, 1, LITHO_SCRIPT_SECONDS);
}

static gboolean look(gpointer data)
{
    LithoRecorder *r = data;
    r->timeout = 0;
    LithoScriptStep *before = last_step(r);
    LithoScriptStep *inherited = litho_script_step_after(before);
    LithoScriptStep *step = present_step(r->window, before, NULL);
    if (step && differs(step, inherited) && r->script->steps->len < LITHO_SCRIPT_STEPS) {
        find_ramp(step, inherited->flow);
        find_movement(step, inherited);
        before->dwell = seconds_since(r->began_us);
        r->began_us = g_get_monotonic_time();
        g_ptr_array_add(r->script->steps, step);
    } else if (step)
        litho_script_step_free(step);
    litho_script_step_free(inherited);
    return G_SOURCE_REMOVE;
}

static void look_soon(LithoRecorder *r)
{
    g_clear_handle_id(&r->timeout, g_source_remove);
    r->timeout = g_timeout_add(SETTLE_MS, look, r);
}

// --- life ---------------------------------------------------------------------------------------

LithoRecorder *litho_recorder_start(LithoWindow *window, GError **error)
{
    static const char *const told[] = {"flow-changed", "params-changed", "display-changed",
                                       "slices-changed"};
    LithoScriptStep *first = present_step(window, NULL, error);
    if (!first)
        return NULL;
    if (!litho_session_grid(window->session)) {
        litho_script_step_free(first);
        litho_refuse(error, LITHO_ERROR_UNSUPPORTED, "nothing is open that could be recorded");
        return NULL;
    }
    LithoRecorder *r = g_new0(LithoRecorder, 1);
    r->window = g_object_ref(window);
    r->script = litho_script_new(_("Recorded"));
    r->began_us = g_get_monotonic_time();
    g_ptr_array_add(r->script->steps, first);
    for (guint k = 0; k < G_N_ELEMENTS(told); k++)
        r->handlers[k] =
            g_signal_connect_swapped(window->session, told[k], G_CALLBACK(look_soon), r);
    r->layout =
        g_signal_connect_swapped(litho_window_canvas(window), "layout-changed", G_CALLBACK(look_soon), r);
    return r;
}

LithoScript *litho_recorder_stop(LithoRecorder *r)
{
    const gboolean alive = r->window->session != NULL;
    if (alive && r->timeout) {
        g_clear_handle_id(&r->timeout, g_source_remove);
        look(r);
    }
    g_clear_handle_id(&r->timeout, g_source_remove);
    for (guint k = 0; alive && k < G_N_ELEMENTS(r->handlers); k++)
        g_signal_handler_disconnect(r->window->session, r->handlers[k]);
    if (alive)
        g_signal_handler_disconnect(litho_window_canvas(r->window), r->layout);
    last_step(r)->dwell = seconds_since(r->began_us);
    LithoScript *script = r->script;
    g_object_unref(r->window);
    g_free(r);
    return script;
}
