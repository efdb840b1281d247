// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/settled.h"

static gboolean is_open(const LithoParam *row, const LithoStep *step)
{
    return step->enabled && row->by_data && litho_param_get(row, step->params) == row->special;
}

gboolean litho_flow_has_choices(const LithoFlow *flow)
{
    for (guint k = 0; k < litho_flow_length(flow); k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        for (guint r = 0; r < step->op->params.n; r++)
            if (is_open(&step->op->params.rows[r], step))
                return TRUE;
    }
    return FALSE;
}

static guint steps_of(const LithoFlow *flow, const LithoOperator *op)
{
    guint n = 0;
    for (guint k = 0; k < litho_flow_length(flow); k++)
        n += litho_flow_step(flow, k)->enabled && litho_flow_step(flow, k)->op == op;
    return n;
}

LithoFlow *litho_flow_settled(const LithoFlow *flow, LithoReport *report)
{
    LithoFlow *copy = litho_flow_copy(flow);
    g_autoptr(GArray) numbers = litho_report_numbers(report);
    for (guint k = 0; k < litho_flow_length(copy); k++) {
        LithoStep *step = litho_flow_step(copy, k);
        for (guint r = 0; r < step->op->params.n && steps_of(copy, step->op) == 1; r++) {
            const LithoParam *row = &step->op->params.rows[r];
            for (guint n = 0; n < numbers->len && is_open(row, step); n++) {
                const LithoNumber *number = &g_array_index(numbers, LithoNumber, n);
                if (litho_number_is_used(number, step->op->key, row->key))
                    litho_param_set(row, step->params, number->value, NULL);
            }
        }
    }
    return copy;
}
