// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli.h"
#include "app/cli_open.h"
#include "app/cli_page.h"
#include "app/cli_pipe.h"
#include "app/peers.h"
#include "app/progress.h"
#include "core/error.h"
#include "core/operator.h"
#include "core/json.h"
#include "core/text.h"
#include "core/words.h"

int litho_cli_fail(GError *error)
{
    const gboolean cancelled = litho_error_is_cancelled(error) || litho_cli_pipe_closed();
    const gboolean misused = g_error_matches(error, LITHO_ERROR, LITHO_ERROR_WORD);
    g_autofree char *words = litho_cli_pipe_words(error->message);
    g_autofree char *sentence = litho_text_visible(words);
    if (!litho_cli_pipe_closed())
        fprintf(stderr, "lithoscope-cli: %s\n", sentence);
    g_error_free(error);
    return cancelled ? LITHO_EXIT_CANCELLED : misused ? LITHO_EXIT_USAGE : LITHO_EXIT_FAILED;
}

int litho_cli_misused(const char *command, GError *error)
{
    if (error->domain == G_IO_ERROR) // the words are right, the machine refused
        return litho_cli_fail(error);
    const gboolean is_unknown =
        g_error_matches(error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION);
    const char *word = is_unknown ? strstr(error->message, "--") : NULL;
    g_autofree char *hint = word ? litho_cli_option_hint(word) : g_strdup("");
    g_autofree char *sentence = litho_text_visible(error->message);
    litho_peers_let_first_tell();
    if (!litho_cli_page_is_made())
        fprintf(stderr, _("lithoscope-cli %s: %s%s\nTry 'lithoscope-cli %s --help'.\n"), command,
                sentence, hint, command);
    g_error_free(error);
    return LITHO_EXIT_USAGE;
}

gboolean litho_cli_no_operator(const char *word, GError **error)
{
    g_autoptr(GPtrArray) keys = g_ptr_array_new();
    for (const LithoOperator *const *op = litho_operators(); *op; op++)
        g_ptr_array_add(keys, (gpointer)(*op)->key);
    g_ptr_array_add(keys, NULL);
    g_autofree char *known = litho_word_choices(word, (const char *const *)keys->pdata);
    return litho_refuse(error, LITHO_ERROR_PARAMETER, "there is no operator '%s'; %s", word, known);
}

static const char *const type_names[] = {"float", "int", "bool", "choice", "text", "file"};

static void add_string(JsonBuilder *b, const char *key, const char *value)
{
    json_builder_set_member_name(b, key);
    json_builder_add_string_value(b, value ? value : "");
}

static void add_param(JsonBuilder *b, const LithoParam *row, const void *defaults)
{
    json_builder_begin_object(b);
    add_string(b, "key", row->key);
    add_string(b, "label", row->label);
    add_string(b, "type", type_names[row->type]);
    add_string(b, "unit", row->unit);
    g_autofree char *def = litho_param_print(row, defaults);
    json_builder_set_member_name(b, "default");
    if (row->type == LITHO_PARAM_FLOAT || row->type == LITHO_PARAM_INT)
        json_builder_add_double_value(b, row->def);
    else if (row->type == LITHO_PARAM_BOOL)
        json_builder_add_boolean_value(b, row->def != 0);
    else
        json_builder_add_string_value(b, def);
    if (row->type == LITHO_PARAM_FLOAT || row->type == LITHO_PARAM_INT) {
        json_builder_set_member_name(b, "min");
        json_builder_add_double_value(b, row->min);
        json_builder_set_member_name(b, "max");
        json_builder_add_double_value(b, row->max);
        const gboolean own = row->soft_min != 0 || row->soft_max != 0;
        json_builder_set_member_name(b, "slider_min");
        json_builder_add_double_value(b, own ? row->soft_min : row->min);
        json_builder_set_member_name(b, "slider_max");
        json_builder_add_double_value(b, own ? row->soft_max : row->max);
    }
    if (row->special_text) {
        json_builder_set_member_name(b, "special");
        json_builder_add_double_value(b, row->special);
        add_string(b, "special_text", row->special_text);
    }
    if (row->type == LITHO_PARAM_CHOICE) {
        json_builder_set_member_name(b, "choices");
        json_builder_begin_array(b);
        for (guint i = 0; i < litho_param_n_choices(row); i++)
            json_builder_add_string_value(b, litho_param_choice(row, i));
        json_builder_end_array(b);
    }
    json_builder_set_member_name(b, "stage");
    json_builder_add_int_value(b, row->stage);
    json_builder_set_member_name(b, "advanced");
    json_builder_add_boolean_value(b, row->advanced);
    add_string(b, "when", row->when);
    add_string(b, "doc", row->doc);
    json_builder_end_object(b);
}

static void add_operator(JsonBuilder *b, const LithoOperator *op)
{
    g_autofree void *defaults = g_malloc0(op->params.size);
    litho_param_defaults(&op->params, defaults);
    json_builder_begin_object(b);
    add_string(b, "key", op->key);
    add_string(b, "title", op->title);
    add_string(b, "summary", op->summary);
    json_builder_set_member_name(b, "needs_input");
    json_builder_add_boolean_value(b, op->needs_input);
    json_builder_set_member_name(b, "stages");
    json_builder_begin_array(b);
    for (const char *const *s = op->stages; *s; s++)
        json_builder_add_string_value(b, *s);
    json_builder_end_array(b);
    json_builder_set_member_name(b, "presets");
    json_builder_begin_object(b);
    for (const LithoPreset *p = op->presets; p && p->name; p++)
        add_string(b, p->name, p->settings);
    json_builder_end_object(b);
    json_builder_set_member_name(b, "volumes");
    json_builder_begin_object(b);
    for (const LithoVolumeDoc *v = op->volumes; v && v->name; v++)
        add_string(b, v->name, v->doc);
    json_builder_end_object(b);
    json_builder_set_member_name(b, "params");
    json_builder_begin_array(b);
    for (guint k = 0; k < op->params.n; k++)
        add_param(b, &op->params.rows[k], defaults);
    json_builder_end_array(b);
    json_builder_end_object(b);
}

static void print_json(const char *only)
{
    JsonBuilder *b = json_builder_new();
    json_builder_begin_object(b);
    json_builder_set_member_name(b, "operators");
    json_builder_begin_array(b);
    for (const LithoOperator *const *op = litho_operators(); *op; op++)
        if (!only || strcmp(only, (*op)->key) == 0)
            add_operator(b, *op);
    json_builder_end_array(b);
    json_builder_end_object(b);
    JsonNode *root = json_builder_get_root(b);
    g_autofree char *text = litho_json_text(root);
    printf("%s\n", text);
    json_node_unref(root);
    g_object_unref(b);
}

enum { COLUMNS = 96 };

// Words of `text` in lines that start `indent` columns in.
static void print_wrapped(const char *text, int indent)
{
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    int at = 0;
    for (char **word = words; *word; word++) {
        int length = (int)g_utf8_strlen(*word, -1);
        if (at > 0 && at + 1 + length > COLUMNS) {
            printf("\n");
            at = 0;
        }
        at += at == 0 ? printf("%*s", indent, "") : printf(" ");
        printf("%s", *word);
        at += length;
    }
    printf("\n");
}

static void print_param(const LithoParam *row, const void *defaults)
{
    g_autofree char *def = litho_param_print(row, defaults);
    const char *special = litho_param_special(row, defaults);
    printf("  %-22s %s%s%s", row->key, def, row->unit ? " " : "", row->unit ? row->unit : "");
    if (special)
        printf(" = %s", special);
    if (row->type == LITHO_PARAM_CHOICE) {
        printf("  (");
        for (guint i = 0; i < litho_param_n_choices(row); i++)
            printf("%s%s", i ? ", " : "", litho_param_choice(row, i));
        printf(")");
    } else if (row->type == LITHO_PARAM_FLOAT || row->type == LITHO_PARAM_INT) {
        g_autofree char *min = litho_param_number_text(row->min),
                        *max = litho_param_number_text(row->max);
        printf("  (%s to %s%s%s)", min, max, row->unit ? " " : "", row->unit ? row->unit : "");
    }
    printf("\n");
    print_wrapped(litho_text(row->doc), 6);
}

static void print_operator(const LithoOperator *op)
{
    g_autofree void *defaults = g_malloc0(op->params.size);
    litho_param_defaults(&op->params, defaults);
    printf("%s: %s\n", op->key, litho_text(op->title));
    print_wrapped(litho_text(op->summary), 0);
    printf(_("\nParameters (key, default, legal values):\n"));
    for (guint k = 0; k < op->params.n; k++)
        print_param(&op->params.rows[k], defaults);
    if (op->presets)
        printf(_("\nPresets (preset=NAME):\n"));
    for (const LithoPreset *p = op->presets; p && p->name; p++)
        printf("  %-12s %s%s%s\n", p->name, p->settings, *p->settings ? "  " : "",
               p->doc ? litho_text(p->doc) : "");
    const LithoDemo *demo = op->demo;
    if (demo) {
        printf(_("\nTo see %s:\n"), litho_text(demo->doc));
        if (demo->survey)
            printf("  lithoscope-cli synth %s -o demo.sgy\n", demo->survey);
        printf("  lithoscope-cli run %s%s%s%s -o result.sgy\n", op->key, *demo->settings ? " " : "",
               demo->settings, demo->survey ? " -i demo.sgy" : "");
    }
    if (op->volumes)
        printf(_("\nVolumes beside the result (run --volume NAME=FILE):\n"));
    for (const LithoVolumeDoc *v = op->volumes; v && v->name; v++) {
        printf("  %s%s%s\n", v->name, *v->unit ? ", " : "", v->unit);
        print_wrapped(litho_text(v->doc), 6);
    }
    printf("\n");
}

int litho_cli_list(int argc, char **argv)
{
    gboolean json = FALSE;
    const GOptionEntry entries[] = {
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, _("One JSON object"), NULL},
        {NULL},
    };
    g_autoptr(GOptionContext) context = litho_cli_options(
        "[OPERATOR]", _("Lists operators, or the parameters of one."), entries, NULL);
    GError *error = NULL;
    if (!g_option_context_parse(context, &argc, &argv, &error))
        return litho_cli_misused("list", error);
    if (argc > 2) {
        litho_refuse(&error, LITHO_ERROR_PARAMETER, "'%s' is one word too many: one operator",
                     argv[2]);
        return litho_cli_misused("list", error);
    }
    const char *only = argc > 1 ? argv[1] : NULL;
    if (only && !litho_operator_find(only)) {
        litho_cli_no_operator(only, &error);
        return litho_cli_misused("list", error);
    }
    if (json) {
        print_json(only);
        return LITHO_EXIT_OK;
    }
    for (const LithoOperator *const *op = litho_operators(); *op; op++) {
        if (only && strcmp(only, (*op)->key) != 0)
            continue;
        if (only) {
            print_operator(*op);
        } else {
            printf("%-12s %s\n", (*op)->key, litho_text((*op)->title));
            print_wrapped(litho_text((*op)->summary), 13);
        }
    }
    if (!only)
        printf(_("\n'lithoscope-cli list OPERATOR' tells the parameters of one.\n"));
    return LITHO_EXIT_OK;
}
