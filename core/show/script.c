// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/show/script.h"

#include <math.h>
#include <string.h>

#include "core/io/survey.h"

const char *const litho_script_shows[6] = {"input", "output", "removed", "split", "side", NULL};

// --- cubes --------------------------------------------------------------------------------------

void litho_script_cube_clear(LithoScriptCube *cube)
{
    g_clear_pointer(&cube->params, g_free);
    g_clear_pointer(&cube->file, g_free);
    cube->synth = NULL;
}

LithoScriptCube litho_script_cube_copy(const LithoScriptCube *cube)
{
    return (LithoScriptCube){
        .synth = cube->synth,
        .params = cube->synth ? g_memdup2(cube->params, cube->synth->params.size) : NULL,
        .file = g_strdup(cube->file),
    };
}

gboolean litho_script_cube_equal(const LithoScriptCube *a, const LithoScriptCube *b)
{
    if (a->synth != b->synth || g_strcmp0(a->file, b->file) != 0)
        return FALSE;
    return !a->synth ||
           litho_params_first_stage(&a->synth->params, a->params, b->params) == G_MAXINT;
}

LithoCube *litho_script_cube_open(const LithoScriptCube *cube, LithoRun *run, GError **error)
{
    if (cube->file) {
        const char *paths[] = {cube->file, NULL};
        const LithoOpenOptions none = {0};
        g_autoptr(LithoSurvey) survey = litho_survey_open(paths, &none, run, error);
        return survey ? litho_survey_read(survey, NULL, run, error) : NULL;
    }
    LithoCube *made = NULL;
    return cube->synth->make(cube->params, run, &made, NULL, NULL, error) ? made : NULL;
}

// --- steps --------------------------------------------------------------------------------------

static void lane_clear(gpointer data)
{
    LithoScriptLane *lane = data;
    g_free(lane->label);
    g_free(lane->device);
    g_free(lane->settings);
}

static void step_free(gpointer step)
{
    litho_script_step_free(step);
}

void litho_script_step_free(LithoScriptStep *step)
{
    g_free(step->caption);
    litho_script_cube_clear(&step->cube);
    litho_flow_free(step->flow);
    g_array_unref(step->ramps);
    g_array_unref(step->lanes);
    g_free(step);
}

LithoScriptStep *litho_script_step_after(const LithoScriptStep *before)
{
    LithoScriptStep *step = g_new0(LithoScriptStep, 1);
    step->caption = g_strdup("");
    step->ramps = g_array_new(FALSE, TRUE, sizeof(LithoScriptRamp));
    step->lanes = g_array_new(FALSE, TRUE, sizeof(LithoScriptLane));
    g_array_set_clear_func(step->lanes, lane_clear);
    step->flow = before ? litho_script_flow_at(before, 1) : litho_flow_new();
    step->show = before ? before->show : LITHO_SCRIPT_OUTPUT;
    step->view = before ? before->view : LITHO_SCRIPT_ALL;
    step->dwell = before ? before->dwell : 5;
    if (before)
        step->cube = litho_script_cube_copy(&before->cube);
    for (int k = 0; k < 2; k++) {
        step->split[k] = before ? before->split[1] : 0.5;
        for (int a = 0; a < 3; a++)
            step->slice[a][k] = before ? before->slice[a][1] : 0.5;
    }
    return step;
}

LithoScript *litho_script_new(const char *title)
{
    LithoScript *script = g_new0(LithoScript, 1);
    script->title = g_strdup(title);
    script->summary = g_strdup("");
    script->steps = g_ptr_array_new_with_free_func(step_free);
    return script;
}

void litho_script_free(LithoScript *script)
{
    if (!script)
        return;
    g_free(script->title);
    g_free(script->summary);
    g_ptr_array_unref(script->steps);
    g_free(script);
}

// --- a moment of a step -------------------------------------------------------------------------

static double ramp_value(const LithoScriptRamp *ramp, double part)
{
    const gboolean ratios = ramp->row->log && ramp->from > 0 && ramp->to > 0;
    double value = ratios ? ramp->from * pow(ramp->to / ramp->from, part)
                          : ramp->from + part * (ramp->to - ramp->from);
    if (part <= 0 || part >= 1)
        value = part <= 0 ? ramp->from : ramp->to;
    else if (value != 0) { // three digits are read, more only fill the caption
        char digits[G_ASCII_DTOSTR_BUF_SIZE];
        value = g_ascii_strtod(g_ascii_formatd(digits, sizeof digits, "%.3g", value), NULL);
    }
    return ramp->row->type == LITHO_PARAM_FLOAT ? value : rint(value);
}

LithoFlow *litho_script_flow_at(const LithoScriptStep *step, double part)
{
    LithoFlow *flow = litho_flow_copy(step->flow);
    for (guint k = 0; k < step->ramps->len; k++) {
        const LithoScriptRamp *ramp = &g_array_index(step->ramps, LithoScriptRamp, k);
        // Both ends are legal values and so is all between them.
        litho_param_set(ramp->row, litho_flow_step(flow, ramp->step)->params,
                        ramp_value(ramp, CLAMP(part, 0, 1)), NULL);
    }
    return flow;
}

static double between(const double ends[2], double part)
{
    return ends[0] + CLAMP(part, 0, 1) * (ends[1] - ends[0]);
}

double litho_script_split_at(const LithoScriptStep *step, double part)
{
    return between(step->split, part);
}

gint64 litho_script_slice_at(const LithoScriptStep *step, const LithoGrid *grid, int axis,
                             double part)
{
    const gint64 last = grid->axis[axis].n - 1;
    return CLAMP((gint64)rint(between(step->slice[axis], part) * (double)last), 0, last);
}
