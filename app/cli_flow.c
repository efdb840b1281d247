// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli_flow.h"

#include <stdio.h>
#include <string.h>

#include "app/cli.h"
#include "app/cli_files.h"
#include "core/error.h"
#include "core/io/survey.h"
#include "core/text.h"
#include "core/words.h"

static LithoFlow *named_flow(const char *word, GError **error)
{
    const LithoOperator *op = litho_operator_find(word);
    if (op) {
        LithoFlow *flow = litho_flow_new();
        litho_flow_append(flow, op);
        return flow;
    }
    if (word[0] == '{')
        return litho_flow_parse(word, error);
    if (litho_survey_is_name(word)) { // the operator was forgotten
        litho_refuse(error, LITHO_ERROR_PARAMETER,
                     "'%s' stands where an operator (see 'lithoscope-cli list') or a recipe is "
                     "needed, as 'fx' in 'fx %s'",
                     word, word);
        return NULL;
    }
    if (g_file_test(word, G_FILE_TEST_EXISTS))
        return litho_flow_load(word, error);
    g_autoptr(GPtrArray) keys = g_ptr_array_new();
    for (const LithoOperator *const *o = litho_operators(); *o; o++)
        g_ptr_array_add(keys, (gpointer)(*o)->key);
    g_ptr_array_add(keys, NULL);
    g_autofree char *hint = litho_word_hint(word, (const char *const *)keys->pdata);
    litho_refuse(error, LITHO_ERROR_PARAMETER,
                 "'%s' is neither an operator (see 'lithoscope-cli list') nor a recipe file%s",
                 word, hint);
    return NULL;
}

typedef struct Waiting {
    guint step;
    char *key, *value;
} Waiting;

static void waiting_free(gpointer data)
{
    Waiting *w = data;
    g_free(w->key);
    g_free(w->value);
    g_free(w);
}

static gboolean set_or_wait(const LithoOperator *op, gpointer params, const char *word, guint step,
                            LithoCliFiles *files, GError **error)
{
    const char *equals = strchr(word, '=');
    g_autofree char *key = equals ? g_strndup(word, equals - word) : NULL;
    if (!key || !litho_param_needs_axis(&op->params, key, equals + 1))
        return litho_operator_set(op, params, word, error);
    if (!files->waiting)
        files->waiting = g_ptr_array_new_with_free_func(waiting_free);
    Waiting *w = g_new0(Waiting, 1);
    *w = (Waiting){step, g_steal_pointer(&key), g_strdup(equals + 1)};
    g_ptr_array_add(files->waiting, w);
    return TRUE;
}

// The settings and files of step `number`: words up to the next "+" or the end. `op` is NULL for a
// recipe of several steps, which takes files only. Files are appended to `bare`.
static gboolean read_step(const LithoOperator *op, gpointer params, guint number, char **words,
                          guint n, LithoCliFiles *files, GPtrArray *bare, GError **error)
{
    g_autofree char **own = g_memdup2(words, (n + 1) * sizeof *words);
    own[n] = NULL;
    g_autofree char **paths = litho_cli_settings(op ? &op->params : NULL, own);
    for (char **path = paths; *path; path++)
        g_ptr_array_add(bare, *path);
    litho_cli_presets_first(own);
    for (char **word = own; *word; word++) {
        if (!op)
            return litho_refuse(error, LITHO_ERROR_PARAMETER,
                                "settings such as %s can change a recipe of one step; this one has "
                                "another number of them",
                                *word);
        if (!set_or_wait(op, params, *word, number, files, error))
            return FALSE;
    }
    return TRUE;
}

// Steps that a run can go through: one at least, and none that would throw its input away.
static gboolean check_steps(const LithoFlow *flow, const char *word, GError **error)
{
    const guint n = litho_flow_length(flow);
    const LithoStep *before = NULL;
    if (n == 0)
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "%s has no steps; one at least is needed ('lithoscope-cli convert' "
                            "copies a survey)",
                            word[0] == '{' ? _("the recipe") : word);
    for (guint k = 0; k < n; k++) {
        const LithoStep *step = litho_flow_step((LithoFlow *)flow, k);
        if (step->enabled && before && !step->op->needs_input)
            return litho_refuse(error, LITHO_ERROR_PARAMETER,
                                "%s makes its own data and can be the first step only; it stands "
                                "behind %s",
                                step->op->key, before->op->key);
        before = step->enabled ? step : before;
    }
    return TRUE;
}

// Steps are parted by "+": "fx window=30 + migrate velocity=2500".
LithoFlow *litho_cli_flow(char **words, LithoCliFiles *files, gboolean wants_out, GError **error)
{
    g_autoptr(LithoFlow) flow = named_flow(words[0], error);
    g_autoptr(GPtrArray) bare = g_ptr_array_new();
    if (!flow)
        return NULL;
    if (flow->note && litho_flow_length(flow) > 0)
        fprintf(stderr, _("note: %s\n"), flow->note);
    for (char **at = words + 1;; at++) {
        guint n = 0, last = litho_flow_length(flow);
        while (at[n] && strcmp(at[n], "+") != 0)
            n++;
        const gboolean one = at != words + 1 || last == 1;
        LithoStep *step = one && last > 0 ? litho_flow_step(flow, last - 1) : NULL;
        if (!read_step(step ? step->op : NULL, step ? step->params : NULL, last - 1, at, n, files,
                       bare, error))
            return NULL;
        at += n;
        if (!*at)
            break;
        const LithoOperator *next = at[1] ? litho_operator_find(at[1]) : NULL;
        if (!next) {
            if (at[1])
                litho_cli_no_operator(at[1], error);
            else
                litho_refuse(error, LITHO_ERROR_PARAMETER, "an operator is needed behind '+'");
            return NULL;
        }
        litho_flow_append(flow, next);
        at++;
    }
    g_ptr_array_add(bare, NULL);
    if (!check_steps(flow, words[0], error))
        return NULL;
    const LithoOperator *op = litho_flow_length(flow) ? litho_flow_step(flow, 0)->op : NULL;
    if (!litho_cli_files_add(files, (char **)bare->pdata, op && !op->needs_input ? 0 : G_MAXUINT,
                             wants_out, error))
        return NULL;
    return g_steal_pointer(&flow);
}

// The grid that step `number` reads.
static gboolean grid_before(const LithoFlow *flow, guint number, LithoGrid *grid, GError **error)
{
    for (guint k = 0; k < number; k++) {
        const LithoStep *step = litho_flow_step((LithoFlow *)flow, k);
        const LithoGrid in = *grid;
        if (step->enabled &&
            !litho_operator_output_grid(step->op, &in, step->params, NULL, grid, error))
            return FALSE;
    }
    return TRUE;
}

gboolean litho_cli_flow_settle(LithoFlow *flow, const LithoCliFiles *files, const LithoGrid *grid,
                               GError **error)
{
    for (guint k = 0; files->waiting && k < files->waiting->len; k++) {
        const Waiting *w = files->waiting->pdata[k];
        LithoStep *step = litho_flow_step(flow, w->step);
        LithoGrid own;
        if (grid)
            own = *grid;
        if ((grid && !grid_before(flow, w->step, &own, error)) ||
            !litho_param_parse_along(&step->op->params, step->params, w->key, w->value,
                                     grid ? &own.axis[LITHO_SAMPLE] : NULL, error))
            return FALSE;
    }
    return TRUE;
}

gboolean litho_cli_device(const char *backend, const LithoFlow *flow, LithoDevice *device,
                          GError **error)
{
    if (!litho_device_parse(backend ? backend : "auto", device, error))
        return FALSE;
    for (guint k = 0; flow && k < litho_flow_length(flow); k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        if (!step->enabled || litho_device_impl(*device, step->op, error))
            continue;
        if (backend && strcmp(backend, "auto") != 0)
            return FALSE;
        g_clear_error(error);
        *device = litho_device_cpu();
    }
    return TRUE;
}
