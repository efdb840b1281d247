// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/steadied.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/report.h"
#include "core/text.h"

static gboolean is_whole(const LithoCube *cube)
{
    return litho_box_equal(cube->held, litho_box_full(&cube->grid));
}

static gboolean find(LithoSteadied *s, LithoMeasured *measured, const LithoCube *in, gboolean part,
                     LithoRun *run, LithoSteady *steady, GError **error)
{
    *steady = litho_steady_of(measured);
    if (measured || !(part || is_whole(in)))
        return TRUE;
    if (s->of == in->serial && !s->measured) {
        *steady = s->steady;
        return TRUE;
    }
    return litho_qc_steady_in(in, run, steady, error);
}

// Parts of one input less the same noise are parts of one cube.
static void tell_source(LithoSteadied *s, const LithoSteady *steady, const LithoCube *in)
{
    if (in->source == 0)
        s->source = 0;
    else if (s->in_source != in->source || memcmp(&s->steady, steady, sizeof *steady) != 0)
        s->source = s->cube->serial;
    s->in_source = in->source;
    s->cube->source = s->source;
}

LithoCube *litho_steadied_take(LithoSteadied *s, const LithoStep *step, const LithoCube *in,
                               gboolean part, LithoRun *run, GError **error)
{
    LithoSteady steady = {0};
    LithoMeasured *measured = litho_step_measured(step, NULL);
    const gboolean asked = litho_operator_is_steadied(step->op, step->params);
    if (asked && !find(s, measured, in, part, run, &steady, error))
        return NULL;
    const gboolean same = s->of == in->serial && memcmp(&s->steady, &steady, sizeof steady) == 0;
    if (!same) {
        g_clear_pointer(&s->cube, litho_cube_unref);
        s->of = 0;
        s->taken = (LithoSteadyTaken){0};
    }
    if (!same && !litho_steady_is_none(&steady)) {
        if (!part && litho_box_size(in->held, 2) < in->grid.axis[2].n)
            return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                                "the input holds less of the survey than the operator needs"),
                   NULL;
        if (!litho_cube_host(in, error) ||
            !(s->cube = litho_qc_steady_without(in, &steady, run, &s->taken, error)))
            return NULL;
        tell_source(s, &steady, in);
    }
    s->steady = steady;
    s->of = in->serial;
    litho_measured_unref(s->measured);
    s->measured = asked && measured ? litho_measured_ref(measured) : NULL;
    return s->cube ? s->cube : (LithoCube *)in;
}

void litho_steadied_clear(LithoSteadied *s)
{
    litho_cube_unref(s->cube);
    litho_measured_unref(s->measured);
    *s = (LithoSteadied){0};
}

const LithoStep *litho_steadied_step(const LithoFlow *flow)
{
    for (guint k = 0; k < litho_flow_length(flow); k++)
        if (litho_flow_step(flow, k)->enabled)
            return litho_flow_step(flow, k);
    return NULL;
}

double litho_steadied_rms(const LithoSteadyTaken *taken)
{
    const double squares = taken->offset + taken->drift + taken->hum_squares;
    return taken->samples > 0 ? sqrt(squares / taken->samples) : 0;
}

void litho_steadied_report(const LithoSteadied *s, const char *key, const LithoGrid *grid,
                           LithoReport *report)
{
    gint64 hum = 0;
    if (!report || !s->cube)
        return;
    const LithoAxis *time = &grid->axis[2];
    g_autofree char *what = litho_steady_text(&s->steady, grid->is_depth ? 0 : time->step);
    for (int k = 0; k < s->steady.n; k++)
        hum = MAX(hum, s->taken.hum[k]);
    litho_report_number(report, "steady_rms", "offsets and hum taken off (rms)", "",
                        litho_steadied_rms(&s->taken));
    if (s->steady.n > 0)
        litho_report_number(report, "hum_traces", "traces with hum", "%",
                            100.0 * (double)hum / (double)MAX(s->taken.traces, 1));
    litho_report_remark(report, "%s: taken off before the filter: %s", key, what);
}
