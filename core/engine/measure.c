// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/measure.h"

#include "core/engine/engine.h"
#include "core/memory.h"
#include "core/qc_steady.h"

gboolean litho_measure_is_needed(const LithoFlow *flow)
{
    for (guint k = 0; k < litho_flow_length(flow); k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        gboolean needed;
        if (step->enabled && !litho_step_measured(step, &needed) && needed)
            return TRUE;
    }
    return FALSE;
}

static gboolean same_step(const LithoStep *a, const LithoStep *b)
{
    return a->op == b->op && a->enabled == b->enabled &&
           litho_params_first_stage(&a->op->params, a->params, b->params) == G_MAXINT;
}

// TRUE if both flows measure equal numbers at step `index`.
static gboolean measures_same(const LithoFlow *a, const LithoFlow *b, guint index)
{
    if (index >= litho_flow_length(a) || index >= litho_flow_length(b))
        return FALSE;
    for (guint k = 0; k < index; k++)
        if (!same_step(litho_flow_step(a, k), litho_flow_step(b, k)))
            return FALSE;
    const LithoStep *x = litho_flow_step(a, index), *y = litho_flow_step(b, index);
    if (x->op != y->op || !x->op->measure_key)
        return FALSE;
    g_autofree char *p = litho_operator_measure_key(x->op, x->params);
    g_autofree char *q = litho_operator_measure_key(y->op, y->params);
    return g_strcmp0(p, q) == 0;
}

gboolean litho_measure_is_same(const LithoFlow *flow, const LithoFlow *other)
{
    for (guint k = 0; k < litho_flow_length(flow); k++) {
        gboolean needed;
        litho_step_measured(litho_flow_step(flow, k), &needed);
        if (litho_flow_step(flow, k)->enabled && needed && !measures_same(flow, other, k))
            return FALSE;
    }
    return TRUE;
}

void litho_measure_take(LithoFlow *flow, const LithoFlow *from)
{
    for (guint k = 0; k < litho_flow_length(flow); k++) {
        LithoStep *step = litho_flow_step(flow, k);
        LithoMeasured *measured = measures_same(flow, from, k)
                                      ? litho_step_measured(litho_flow_step(from, k), NULL)
                                      : NULL;
        if (!measured || step->measured == measured)
            continue;
        litho_measured_unref(step->measured);
        step->measured = litho_measured_ref(measured);
    }
}

// Input of a step: the survey or what steps have made of it, and the steps from there on.
typedef struct Input {
    LithoSurvey *survey;
    const LithoBefore *before; // read instead of the survey; NULL = none
    LithoFlow *flow;           // the steps from there on
    LithoEngine *engine;
} Input;

static LithoCube *read_survey(LithoSurvey *survey, LithoBox box, LithoRun *run, GError **error)
{
    box.lo[2] = 0; // files are read in whole traces
    box.hi[2] = litho_survey_grid(survey)->axis[2].n;
    return litho_survey_read(survey, &box, run, error);
}

static LithoCube *read_input(const Input *from, LithoBox box, LithoRun *run, GError **error)
{
    return from->before ? litho_before_read(from->before, box, error)
                        : read_survey(from->survey, box, run, error);
}

static const LithoGrid *input_grid(const Input *from)
{
    return from->before   ? litho_before_grid(from->before)
           : from->survey ? litho_survey_grid(from->survey)
                          : NULL;
}

static LithoCube *read_part(const LithoBox *box, LithoRun *run, gpointer data, GError **error)
{
    const Input *from = data;
    if (litho_flow_length(from->flow) == 0)
        return read_input(from, *box, run, error);
    g_autoptr(LithoCube) in = NULL;
    if (input_grid(from)) {
        LithoBox need;
        if (!litho_walk_input_box(from->flow, input_grid(from), *box, run, &need, error) ||
            !(in = read_input(from, need, run, error)))
            return NULL;
    }
    g_autoptr(LithoCube) out = litho_engine_run(from->engine, from->flow, in, box, run, error);
    return out && litho_cube_host(out, error) ? g_steal_pointer(&out) : NULL;
}

// A survey less its steady noise.
typedef struct Steadied {
    const LithoReader *survey;
    LithoSteady steady;
} Steadied;

static LithoCube *read_steadied(const LithoBox *box, LithoRun *run, gpointer data, GError **error)
{
    const Steadied *from = data;
    LithoBox whole = *box; // traces
    whole.lo[2] = 0;
    whole.hi[2] = from->survey->grid->axis[2].n;
    g_autoptr(LithoCube) part = from->survey->read(&whole, run, from->survey->data, error);
    return part && litho_cube_host(part, error)
               ? litho_qc_steady_without(part, &from->steady, run, NULL, error)
               : NULL;
}

static LithoMeasured *measure_by(const LithoStep *step, LithoDevice device,
                                 const LithoReader *reader, LithoRun *run, GError **error)
{
    const LithoImpl *impl = litho_device_impl(device, step->op, NULL);
    LithoRun here = run ? *run : (LithoRun){0};
    here.device = device.index;
    return impl && impl->measure ? impl->measure(step->params, reader, &here, error)
                                 : step->op->measure(step->params, reader, run, error);
}

// The step's numbers, by its key and with those of the steady noise, of an input that has some.
static LithoMeasured *measure_steadied(const LithoStep *step, LithoDevice device,
                                       const LithoReader *reader, gboolean is_first, LithoRun *run,
                                       GError **error)
{
    Steadied from = {.survey = reader};
    const LithoReader steadied = {
        .grid = reader->grid, .bytes = reader->bytes, .read = read_steadied, .data = &from};
    if (is_first && litho_operator_is_steadied(step->op, step->params) &&
        !litho_qc_steady_find(reader, run, &from.steady, error))
        return NULL;
    const gboolean is_none = litho_steady_is_none(&from.steady);
    g_autoptr(LithoMeasured) own =
        measure_by(step, device, is_none ? reader : &steadied, run, error);
    g_autofree char *key = litho_operator_measure_key(step->op, step->params);
    if (!own || (is_none && g_strcmp0(litho_measured_key(own), key) == 0))
        return g_steal_pointer(&own);
    const LithoAxis *time = &reader->grid->axis[2];
    g_autofree char *text =
        litho_steady_text(&from.steady, reader->grid->is_depth ? 0 : time->step);
    return litho_measured_with_steady(own, key, text, is_none ? NULL : &from.steady,
                                      is_none ? 0 : sizeof from.steady);
}

gboolean litho_measure_step(LithoFlow *flow, guint index, LithoSurvey *survey,
                            const LithoBefore *before, LithoDevice device, guint64 bytes,
                            LithoRun *run, GError **error)
{
    LithoStep *step = litho_flow_step(flow, index);
    g_autoptr(LithoFlow) steps =
        litho_before_part(flow, before ? litho_before_steps(before) : 0, index);
    Input from = {.survey = survey, .before = before, .flow = steps};
    g_autoptr(LithoWalk) walk = litho_walk_resolve(steps, input_grid(&from), run, error);
    if (!walk)
        return FALSE;
    from.engine = litho_engine_new(device);
    if (before)
        litho_engine_expect_steadied(from.engine);
    const LithoReader reader = {
        .grid = &walk->out, .bytes = bytes, .read = read_part, .data = &from};
    const gboolean is_first = !before && litho_flow_length(steps) == 0;
    LithoMeasured *measured = measure_steadied(step, device, &reader, is_first, run, error);
    litho_engine_free(from.engine);
    litho_memory_return();
    if (!measured)
        return FALSE;
    litho_measured_unref(step->measured);
    step->measured = measured;
    return TRUE;
}

gboolean litho_measure_flow(LithoFlow *flow, LithoSurvey *survey, LithoDevice device, guint64 bytes,
                            LithoRun *run, GError **error)
{
    for (guint k = 0; k < litho_flow_length(flow); k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        gboolean needed;
        if (step->enabled && !litho_step_measured(step, &needed) && needed &&
            !litho_measure_step(flow, k, survey, NULL, device, bytes, run, error))
            return FALSE;
    }
    return TRUE;
}
