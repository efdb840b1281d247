// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli_flow.h"

#include <stdio.h>
#include <string.h>

#include "app/cli.h"
#include "core/error.h"
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

// The settings and files of one step: words up to the next "+" or the end. `op` is NULL for a
// recipe of several steps, which takes files only. Files are appended to `bare`.
static gboolean read_step(const LithoOperator *op, gpointer params, char **words, guint n,
                          GPtrArray *bare, GError **error)
{
    g_autofree char **own = g_memdup2(words, (n + 1) * sizeof *words);
    own[n] = NULL;
    g_autofree char **files = litho_cli_settings(op ? &op->params : NULL, own);
    for (char **file = files; *file; file++)
        g_ptr_array_add(bare, *file);
    for (char **word = own; *word; word++) {
        if (!op)
            return litho_refuse(error, LITHO_ERROR_PARAMETER,
                                "settings such as %s can change a recipe of one step; this one has "
                                "another number of them",
                                *word);
        if (!litho_operator_set(op, params, *word, error))
            return FALSE;
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
    if (flow->note)
        fprintf(stderr, "note: %s\n", flow->note);
    for (char **at = words + 1;; at++) {
        guint n = 0, last = litho_flow_length(flow);
        while (at[n] && strcmp(at[n], "+") != 0)
            n++;
        const gboolean one = at != words + 1 || last == 1;
        LithoStep *step = one && last > 0 ? litho_flow_step(flow, last - 1) : NULL;
        if (!read_step(step ? step->op : NULL, step ? step->params : NULL, at, n, bare, error))
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
    const LithoOperator *op = litho_flow_length(flow) ? litho_flow_step(flow, 0)->op : NULL;
    if (!litho_cli_files_add(files, (char **)bare->pdata, op && !op->needs_input ? 0 : G_MAXUINT,
                             wants_out, error))
        return NULL;
    return g_steal_pointer(&flow);
}

gboolean litho_cli_device(const char *backend, LithoDevice *device, GError **error)
{
    return litho_device_parse(backend ? backend : "auto", device, error);
}
