// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/operator.h"

#include <string.h>

#include "core/error.h"
#include "core/mute.h"
#include "core/text.h"
#include "core/words.h"

static const LithoOperator *const no_operators[] = {NULL};
static const LithoOperator *const *registered = no_operators;

const LithoOperator *const *litho_operators(void)
{
    return registered;
}

void litho_operators_register(const LithoOperator *const *table)
{
    registered = table;
}

static GPtrArray *added; // `registered` when something was added to the first table

void litho_operators_add(const LithoOperator *op)
{
    if (!added || registered != (const LithoOperator *const *)added->pdata) {
        added = g_ptr_array_new();
        for (const LithoOperator *const *at = registered; *at; at++)
            g_ptr_array_add(added, (gpointer)*at);
    } else {
        g_ptr_array_set_size(added, (gint)added->len - 1); // its NULL
    }
    g_ptr_array_add(added, (gpointer)op);
    g_ptr_array_add(added, NULL);
    registered = (const LithoOperator *const *)added->pdata;
}

static GPtrArray *problems; // of char *, ends with a NULL; or NULL

const char *const *litho_operators_problems(void)
{
    static const char *const none[] = {NULL};
    return problems ? (const char *const *)problems->pdata : none;
}

void litho_operators_refused(char *sentence)
{
    if (!problems)
        problems = g_ptr_array_new();
    else
        g_ptr_array_set_size(problems, (gint)problems->len - 1);
    g_ptr_array_add(problems, sentence);
    g_ptr_array_add(problems, NULL);
}

const LithoOperator *litho_operator_find(const char *key)
{
    for (const LithoOperator *const *op = registered; *op; op++)
        if (strcmp((*op)->key, key) == 0)
            return *op;
    return NULL;
}

static gboolean apply_settings(const LithoOperator *op, const char *settings, void *params,
                               GError **error)
{
    g_auto(GStrv) words = g_strsplit(settings, " ", -1);
    for (char **word = words; *word; word++) {
        char *equals = strchr(*word, '=');
        if (!equals)
            continue;
        *equals = '\0';
        if (!litho_param_parse(&op->params, params, *word, equals + 1, error))
            return FALSE;
    }
    return TRUE;
}

const char *litho_operator_number_doc(const LithoOperator *op, const char *key)
{
    for (const LithoNumberDoc *n = op->numbers; n && n->key; n++)
        if (strcmp(n->key, key) == 0)
            return n->doc;
    return NULL;
}

const LithoVolumeDoc *litho_operator_volume(const LithoOperator *op, const char *name)
{
    for (const LithoVolumeDoc *v = op->volumes; v && v->name; v++)
        if (strcmp(v->name, name) == 0)
            return v;
    return NULL;
}

LithoBox litho_volume_box(const LithoVolumeDoc *volume, const LithoGrid *grid, LithoBox region)
{
    return volume && !litho_box_empty(region) ? litho_box_grow(grid, region, volume->reach)
                                              : region;
}

gboolean litho_operator_preset(const LithoOperator *op, const char *name, void *params,
                               GError **error)
{
    for (const LithoPreset *p = op->presets; p && p->name; p++)
        if (strcmp(p->name, name) == 0) {
            litho_param_defaults(&op->params, params);
            return apply_settings(op, p->settings, params, error);
        }
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (const LithoPreset *p = op->presets; p && p->name; p++)
        g_ptr_array_add(names, (gpointer)p->name);
    g_ptr_array_add(names, NULL);
    if (!names->pdata[0])
        return litho_refuse(error, LITHO_ERROR_PARAMETER, "%s has no preset '%s'; it has none",
                            op->key, name);
    g_autofree char *known = litho_word_choices(name, (const char *const *)names->pdata);
    return litho_refuse(error, LITHO_ERROR_PARAMETER, "%s has no preset '%s'; %s", op->key, name,
                        known);
}

gboolean litho_operator_set(const LithoOperator *op, void *params, const char *word, GError **error)
{
    const char *equals = strchr(word, '=');
    if (!equals)
        return litho_refuse(error, LITHO_ERROR_PARAMETER, "'%s' is no setting; key=value is needed",
                            word);
    g_autofree char *key = g_strndup(word, equals - word);
    if (strcmp(key, "preset") == 0)
        return litho_operator_preset(op, equals + 1, params, error);
    return litho_param_parse(&op->params, params, key, equals + 1, error);
}

gboolean litho_operator_settings(const LithoOperator *op, void *params, const char *settings,
                                 GError **error)
{
    g_auto(GStrv) words = g_strsplit(settings, " ", -1);
    for (char **word = words; *word; word++)
        if (**word && !litho_operator_set(op, params, *word, error))
            return FALSE;
    return TRUE;
}

const LithoOperator *litho_operator_first_choice(void)
{
    for (const LithoOperator *const *op = litho_operators(); op && *op; op++)
        if ((*op)->first_choice)
            return *op;
    return NULL;
}

gboolean litho_operator_check(const LithoOperator *op, const LithoGrid *in, const void *params,
                              LithoResolved *known, GError **error)
{
    if (op->needs_input && !in) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY, _("%s needs an input cube"),
                    litho_text(op->title));
        return FALSE;
    }
    return !op->check || op->check(in, params, known, error);
}

gboolean litho_operator_output_grid(const LithoOperator *op, const LithoGrid *in,
                                    const void *params, LithoResolved *known, LithoGrid *out,
                                    GError **error)
{
    if (op->output_grid)
        return op->output_grid(in, params, known, out, error) && litho_grid_check(out, error);
    *out = *in;
    return TRUE;
}

LithoSplit litho_operator_split(const LithoOperator *op, const LithoGrid *in, const void *params)
{
    if (op->split)
        return op->split(in, params);
    return op->input_box ? (LithoSplit){.kind = LITHO_SPLIT_REGION}
                         : (LithoSplit){.kind = LITHO_SPLIT_NONE, .one_process = TRUE};
}

gboolean litho_operator_is_local(const LithoOperator *op, const void *params)
{
    return op->input_box && litho_operator_split(op, NULL, params).kind == LITHO_SPLIT_REGION;
}

// The row that says whether steady noise goes; NULL = it has none, or it does not matter here.
static const LithoParam *steady_row(const LithoOperator *op, const void *params)
{
    for (guint r = 0; r < op->params.n; r++)
        if (op->params.rows[r].role == LITHO_ROLE_STEADY)
            return litho_param_applies(&op->params, &op->params.rows[r], params)
                       ? &op->params.rows[r]
                       : NULL;
    return NULL;
}

gboolean litho_operator_is_steadied(const LithoOperator *op, const void *params)
{
    const LithoParam *row = steady_row(op, params);
    g_autofree char *key = row && op->measure_key ? op->measure_key(params) : NULL;
    return key && litho_param_get(row, params) == 0;
}

char *litho_operator_measure_key(const LithoOperator *op, const void *params)
{
    g_autofree char *key = op->measure_key ? op->measure_key(params) : NULL;
    const LithoParam *row = key ? steady_row(op, params) : NULL;
    return row && litho_param_get(row, params) != 0 ? g_strconcat(key, ", steady noise kept", NULL)
                                                    : g_steal_pointer(&key);
}

LithoBox litho_operator_input_box(const LithoOperator *op, const LithoGrid *in, const void *params,
                                  gboolean measured, LithoBox region)
{
    const gboolean local = litho_operator_is_local(op, params);
    if (!local || litho_box_empty(region))
        return local ? region : litho_box_full(in);
    g_autofree char *key = !measured && op->measure_key ? op->measure_key(params) : NULL;
    if (key)
        return litho_box_full(in);
    const LithoBox box = op->input_box(in, params, region);
    return op->keeps_mute ? litho_box_union(box, litho_mute_box(in, region)) : box;
}
