// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/positions.h"

#include "core/text.h"

// The row of a step that says where the source of its input is; NULL = it asks for none, or has no
// choice of a geometry.
static const LithoParam *source_row(const LithoStep *step)
{
    const LithoParamTable *table = &step->op->params;
    const LithoParam *row = litho_param_find(table, "source_x");
    const gboolean has_choice =
        step->enabled && step->op->needs_input && litho_param_find(table, "geometry");
    return row && has_choice && litho_param_applies(table, row, step->params) ? row : NULL;
}

// Source of the first trace, m. FALSE: the file names none.
static gboolean first_source(LithoSurvey *survey, double xy[2])
{
    const LithoGrid *grid = litho_survey_grid(survey);
    const gint64 traces = litho_grid_traces(grid), nj = grid->axis[1].n;
    guint8 header[240];
    gint64 k = 0;
    while (k < traces && !litho_survey_has_trace(survey, k / nj, k % nj))
        k++;
    if (k == traces || !litho_survey_trace_header(survey, k / nj, k % nj, header, NULL))
        return FALSE;
    litho_survey_place(survey, header, FALSE, xy);
    return xy[0] != 0 || xy[1] != 0;
}

char *litho_positions_note(const LithoFlow *flow, LithoSurvey *survey)
{
    double xy[2];
    for (guint k = 0; survey && k < litho_flow_length(flow); k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        const LithoParam *row = source_row(step);
        if (row && first_source(survey, xy))
            return litho_text_printf(
                _("%s: the source is placed by source_x = %g m, counted from the first trace; the "
                  "sources of the trace headers, %.10g and %.10g m at the first trace, are not "
                  "used: "
                  "geometry = headers uses them"),
                step->op->key, litho_param_get(row, step->params), xy[0], xy[1]);
    }
    return NULL;
}
