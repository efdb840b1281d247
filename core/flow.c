// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/flow.h"

#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "core/words.h"

static void step_clear(gpointer data)
{
    LithoStep *step = data;
    g_free(step->params);
    litho_measured_unref(step->measured);
}

LithoMeasured *litho_step_measured(const LithoStep *step, gboolean *needed)
{
    g_autofree char *key = litho_operator_measure_key(step->op, step->params);
    if (needed)
        *needed = key != NULL;
    return key && step->measured && strcmp(litho_measured_key(step->measured), key) == 0
               ? step->measured
               : NULL;
}

LithoFlow *litho_flow_new(void)
{
    LithoFlow *flow = g_new0(LithoFlow, 1);
    flow->steps = g_array_new(FALSE, TRUE, sizeof(LithoStep));
    g_array_set_clear_func(flow->steps, step_clear);
    return flow;
}

LithoFlow *litho_flow_copy(const LithoFlow *flow)
{
    LithoFlow *copy = litho_flow_new();
    for (guint k = 0; k < flow->steps->len; k++) {
        LithoStep step = g_array_index(flow->steps, LithoStep, k);
        step.params = g_memdup2(step.params, step.op->params.size);
        step.measured = step.measured ? litho_measured_ref(step.measured) : NULL;
        g_array_append_val(copy->steps, step);
    }
    copy->volume = g_strdup(flow->volume);
    return copy;
}

void litho_flow_free(LithoFlow *flow)
{
    if (!flow)
        return;
    g_array_unref(flow->steps);
    g_free(flow->volume);
    g_free(flow);
}

gboolean litho_flow_equal(const LithoFlow *a, const LithoFlow *b)
{
    if (a->steps->len != b->steps->len || g_strcmp0(a->volume, b->volume) != 0)
        return FALSE;
    for (guint k = 0; k < a->steps->len; k++) {
        const LithoStep *p = litho_flow_step(a, k), *q = litho_flow_step(b, k);
        if (p->op != q->op || p->enabled != q->enabled ||
            litho_params_first_stage(&p->op->params, p->params, q->params) != G_MAXINT)
            return FALSE;
    }
    return TRUE;
}

guint litho_flow_length(const LithoFlow *flow)
{
    return flow->steps->len;
}

LithoStep *litho_flow_step(const LithoFlow *flow, guint index)
{
    return &g_array_index(flow->steps, LithoStep, index);
}

gboolean litho_flow_has_work(const LithoFlow *flow)
{
    for (guint k = 0; k < litho_flow_length(flow); k++)
        if (litho_flow_step(flow, k)->enabled)
            return TRUE;
    return FALSE;
}

const LithoStep *litho_flow_source(const LithoFlow *flow)
{
    for (guint k = litho_flow_length(flow); k-- > 0;) {
        const LithoStep *step = litho_flow_step(flow, k);
        if (step->enabled && !step->op->needs_input)
            return step;
    }
    return NULL;
}

gboolean litho_flow_needs_input(const LithoFlow *flow)
{
    for (guint k = 0; k < litho_flow_length(flow); k++)
        if (litho_flow_step(flow, k)->enabled)
            return litho_flow_step(flow, k)->op->needs_input;
    return TRUE;
}

guint litho_flow_append(LithoFlow *flow, const LithoOperator *op)
{
    LithoStep step = {.op = op, .enabled = TRUE, .params = g_malloc0(op->params.size)};
    litho_param_defaults(&op->params, step.params);
    g_array_append_val(flow->steps, step);
    return flow->steps->len - 1;
}

void litho_flow_remove(LithoFlow *flow, guint index)
{
    g_array_remove_index(flow->steps, index);
}

void litho_flow_move(LithoFlow *flow, guint from, guint to)
{
    LithoStep step = *litho_flow_step(flow, from);
    litho_flow_step(flow, from)->params = NULL; // or removing would free what is moved
    litho_flow_step(flow, from)->measured = NULL;
    g_array_remove_index(flow->steps, from);
    g_array_insert_val(flow->steps, to, step);
}

const char **litho_flow_volumes(const LithoFlow *flow)
{
    GPtrArray *names = g_ptr_array_new();
    for (guint k = 0; k < flow->steps->len; k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        for (const LithoVolumeDoc *v = step->op->volumes; step->enabled && v && v->name; v++)
            if (!g_ptr_array_find_with_equal_func(names, v->name, g_str_equal, NULL))
                g_ptr_array_add(names, (gpointer)v->name);
    }
    g_ptr_array_add(names, NULL);
    return (const char **)g_ptr_array_free(names, FALSE);
}

int litho_flow_volume_step(const LithoFlow *flow)
{
    for (guint k = flow->steps->len; flow->volume && k-- > 0;) {
        const LithoStep *step = litho_flow_step(flow, k);
        if (step->enabled && litho_operator_volume(step->op, flow->volume))
            return (int)k;
    }
    return -1;
}

gboolean litho_flow_set_volume(LithoFlow *flow, const char *name, GError **error)
{
    g_free(flow->volume);
    flow->volume = g_strdup(name);
    if (!name || litho_flow_volume_step(flow) >= 0)
        return TRUE;
    g_clear_pointer(&flow->volume, g_free);
    g_autofree const char **names = litho_flow_volumes(flow);
    if (!names[0])
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "the flow has no volume '%s'; it has none beside its result", name);
    g_autofree char *known = litho_word_choices(name, names);
    return litho_refuse(error, LITHO_ERROR_PARAMETER, "the flow has no volume '%s'; %s", name,
                        known);
}

gboolean litho_flow_is_local(const LithoFlow *flow)
{
    for (guint k = 0; k < flow->steps->len; k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        if (step->enabled && !litho_operator_is_local(step->op, step->params))
            return FALSE;
    }
    return TRUE;
}

gboolean litho_flow_is_shared(const LithoFlow *flow)
{
    for (guint k = 0; k < flow->steps->len; k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        if (step->enabled && !litho_operator_split(step->op, NULL, step->params).one_process)
            return TRUE;
    }
    return FALSE;
}

gboolean litho_flow_fills(const LithoFlow *flow)
{
    for (guint k = 0; k < flow->steps->len; k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        const char *const when[] = {step->op->fills, step->op->fills_alone};
        for (guint w = 0; step->enabled && w < G_N_ELEMENTS(when); w++)
            if (when[w] && litho_params_hold(&step->op->params, when[w], step->params))
                return TRUE;
    }
    return FALSE;
}

gboolean litho_flow_fills_alone(const LithoFlow *flow)
{
    guint fills = 0;
    for (guint k = 0; k < flow->steps->len; k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        const char *when = step->op->fills_alone;
        if (!step->enabled)
            continue;
        if (!when || !litho_params_hold(&step->op->params, when, step->params))
            return FALSE;
        fills++;
    }
    return fills > 0;
}

gboolean litho_flow_same_files(const LithoFlow *a, const LithoFlow *b)
{
    if (a->steps->len != b->steps->len)
        return FALSE;
    for (guint k = 0; k < a->steps->len; k++) {
        const LithoStep *p = litho_flow_step(a, k), *q = litho_flow_step(b, k);
        if (p->op != q->op || p->enabled != q->enabled ||
            !litho_resolve_is_same(p->op, p->params, q->params))
            return FALSE;
    }
    return TRUE;
}

char *litho_flow_command(const LithoFlow *flow, const char *in, const char *out)
{
    g_autofree char *quoted_in = in ? g_shell_quote(in) : NULL;
    g_autofree char *quoted_out = out ? g_shell_quote(out) : NULL;
    g_autofree char *to = out ? g_strdup_printf(" -o %s", quoted_out) : g_strdup("");
    g_autofree char *source = quoted_in ? g_strdup_printf(" -i %s", quoted_in) : g_strdup("");
    if (flow->steps->len != 1)
        return g_strdup_printf("lithoscope-cli run recipe.json%s%s", source, to);

    const LithoStep *step = litho_flow_step(flow, 0);
    g_autofree void *defaults = g_malloc0(step->op->params.size);
    litho_param_defaults(&step->op->params, defaults);
    GString *command = g_string_new("lithoscope-cli run ");
    g_string_append(command, step->op->key);
    for (guint k = 0; k < step->op->params.n; k++) {
        const LithoParam *row = &step->op->params.rows[k];
        if (litho_param_equal(row, step->params, defaults))
            continue;
        g_autofree char *value = litho_param_print(row, step->params);
        g_autofree char *word = g_strdup_printf("%s=%s", row->key, value);
        g_autofree char *quoted = g_shell_quote(word); // always: a value may hold anything
        g_string_append_printf(command, " %s", quoted);
    }
    g_autofree char *volume =
        flow->volume ? g_strdup_printf("%s=%s", flow->volume, out ? out : "FILE") : NULL;
    g_autofree char *quoted = volume ? g_shell_quote(volume) : NULL;
    if (volume)
        g_string_append_printf(command, "%s --volume %s", source, quoted);
    else
        g_string_append_printf(command, "%s%s", source, to);
    return g_string_free(command, FALSE);
}
