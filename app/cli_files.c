// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli_files.h"

#include <string.h>

#include "core/engine/inputs.h"
#include "core/error.h"
#include "core/io/output.h"
#include "core/text.h"

gboolean litho_cli_files_add(LithoCliFiles *files, char *const *words, guint most_in,
                             gboolean wants_out, GError **error)
{
    guint n = g_strv_length((char **)words), have = files->in ? g_strv_length(files->in) : 0;
    if (wants_out && !files->out && n > 0 && (n > 1 || have > 0 || most_in == 0))
        files->out = g_strdup(words[--n]);
    const char *last = n > 0 ? words[n - 1] : have > 0 ? files->in[have - 1] : NULL;
    if (have + n > most_in)
        return litho_refuse(error, LITHO_ERROR_PARAMETER, "'%s' is one file too many: %s", last,
                            most_in > 0 ? "one input is taken" : "no input is taken");
    if (n == 0)
        return TRUE;
    files->in = g_renew(char *, files->in, have + n + 1);
    for (guint k = 0; k < n; k++)
        files->in[have + k] = g_strdup(words[k]);
    files->in[have + n] = NULL;
    return TRUE;
}

// "window=20", "windw=20" and a lonely "window" are settings, right or wrong; "in=out.sgy" is one
// as well, and such a file takes -i.
static gboolean is_setting(const LithoParamTable *table, const char *word)
{
    return strchr(word, '=') || (table && litho_param_find(table, word)) ||
           strcmp(word, "preset") == 0;
}

char **litho_cli_settings(const LithoParamTable *table, char **words)
{
    char **files = g_new0(char *, g_strv_length(words) + 1), **file = files, **kept = words;
    for (char **word = words; *word; word++)
        *(is_setting(table, *word) ? kept++ : file++) = *word;
    *kept = NULL;
    return files;
}

void litho_cli_presets_first(char **words)
{
    for (guint k = 1, n = g_strv_length(words); k < n; k++)
        for (guint j = k; j > 0 && g_str_has_prefix(words[j], "preset=") &&
                          !g_str_has_prefix(words[j - 1], "preset=");
             j--) {
            char *before = words[j - 1];
            words[j - 1] = words[j];
            words[j] = before;
        }
}

static void add_params(const LithoParamTable *table, const void *params, GPtrArray *writes)
{
    for (guint k = 0; k < table->n; k++) {
        const LithoParam *row = &table->rows[k];
        if (litho_param_is_written(table, row, params))
            g_ptr_array_add(writes, litho_param_print(row, params));
    }
}

static void add_written(GPtrArray *writes, const char *path)
{
    g_ptr_array_add(writes, g_strdup(path));
    if (g_str_has_suffix(path, ".rsf")) // the samples lie beside the header
        g_ptr_array_add(writes, g_strconcat(path, "@", NULL));
}

// Names that no file can have, told before anything is read or computed.
static gboolean check_name(const char *path, const char *what, GError **error)
{
    if (!*path)
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "the name of %s is empty; the name of a file is needed", what);
    if (g_str_has_suffix(path, "/") && !g_file_test(path, G_FILE_TEST_IS_DIR))
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "%s ends with '/'; the name of a file is needed", path);
    return TRUE;
}

gboolean litho_cli_files_check(const LithoCliFiles *files, const LithoFlow *flow,
                               const char *const *reads, const char *const *writes, gboolean force,
                               GError **error)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(g_free);
    for (char **in = files->in; in && *in; in++)
        litho_input_hold_path(*in);
    for (; reads && *reads; reads++)
        litho_input_hold_path(*reads);
    if (files->out)
        add_written(all, files->out);
    for (; writes && *writes; writes++)
        add_written(all, *writes);
    for (guint k = 0; flow && k < litho_flow_length(flow); k++) {
        const LithoStep *step = &g_array_index(flow->steps, LithoStep, k);
        if (step->enabled)
            add_params(&step->op->params, step->params, all);
    }
    static LithoInputs *held; // until the process ends
    if (flow) {
        held = held ? held : litho_inputs_new();
        litho_inputs_add_flow(held, flow);
    }
    g_ptr_array_add(all, NULL);
    for (char **in = files->in; in && *in; in++)
        if (!check_name(*in, _("an input"), error))
            return FALSE;
    for (char **out = (char **)all->pdata; *out; out++)
        if (!check_name(*out, _("an output"), error))
            return FALSE;
    return litho_outputs_check((const char *const *)all->pdata,
                               force ? LITHO_REPLACE_ANY : LITHO_REPLACE_NONE, error);
}

gboolean litho_cli_save_text(const char *path, const char *text, gboolean force, GError **error)
{
    return litho_output_save(path, text, -1, force ? LITHO_REPLACE_ANY : LITHO_REPLACE_NONE, error);
}

void litho_cli_files_clear(LithoCliFiles *files)
{
    g_clear_pointer(&files->waiting, g_ptr_array_unref);
    g_clear_pointer(&files->in, g_strfreev);
    g_clear_pointer(&files->out, g_free);
}
