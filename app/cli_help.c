// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli_help.h"

#include <stdio.h>

#include "app/cli_open.h"
#include "core/error.h"
#include "core/json.h"
#include "core/operator.h"

// --- the recipe's schema ------------------------------------------------------------------------

static void set_words(JsonObject *object, const char *key, const char *const *words)
{
    JsonArray *array = json_array_new();
    for (; *words; words++)
        json_array_add_string_element(array, *words);
    json_object_set_array_member(object, key, array);
}

// Texts are taken for numbers too: "30%", "600 ms" or the name of the special value.
static void describe_number(JsonObject *object, const LithoParam *row)
{
    const gboolean is_int = row->type == LITHO_PARAM_INT;
    const char *const types[] = {is_int ? "integer" : "number", "string", NULL};
    set_words(object, "type", types);
    json_object_set_double_member(object, "minimum", row->min);
    json_object_set_double_member(object, "maximum", row->max);
    json_object_set_double_member(object, "default", row->def);
}

static void describe_choice(JsonObject *object, const LithoParam *row)
{
    JsonArray *names = json_array_new();
    for (guint k = 0; k < litho_param_n_choices(row); k++)
        json_array_add_string_element(names, litho_param_choice(row, k));
    json_object_set_array_member(object, "enum", names);
    json_object_set_string_member(object, "default", litho_param_choice(row, (guint)row->def));
}

static JsonObject *describe_param(const LithoParam *row)
{
    static const char *const switch_types[] = {"boolean", "string", NULL};
    JsonObject *object = json_object_new();
    g_autoptr(GString) doc = g_string_new(row->doc);
    if (row->unit)
        g_string_append_printf(doc, " In %s.", row->unit);
    g_autofree char *special = litho_param_number_text(row->special);
    if (row->special_text)
        g_string_append_printf(doc, " %s = %s.", special, row->special_text);
    json_object_set_string_member(object, "title", row->label);
    json_object_set_string_member(object, "description", doc->str);
    switch (row->type) {
    case LITHO_PARAM_FLOAT:
    case LITHO_PARAM_INT:
        describe_number(object, row);
        break;
    case LITHO_PARAM_BOOL:
        set_words(object, "type", switch_types);
        json_object_set_boolean_member(object, "default", row->def != 0);
        break;
    case LITHO_PARAM_CHOICE:
        describe_choice(object, row);
        break;
    default:
        json_object_set_string_member(object, "type", "string");
        json_object_set_string_member(object, "default", row->def_text ? row->def_text : "");
    }
    return object;
}

static JsonObject *closed_object(JsonObject *members)
{
    JsonObject *object = json_object_new();
    json_object_set_string_member(object, "type", "object");
    json_object_set_boolean_member(object, "additionalProperties", FALSE);
    json_object_set_object_member(object, "properties", members);
    return object;
}

// LithoStep.measured: texts, of which "bytes" is base64.
static JsonObject *describe_measured(void)
{
    static const char *const keys[] = {"key", "text", "bytes", NULL};
    JsonObject *members = json_object_new();
    for (guint k = 0; keys[k]; k++) {
        JsonObject *text = json_object_new();
        json_object_set_string_member(text, "type", "string");
        json_object_set_object_member(members, keys[k], text);
    }
    JsonObject *steady = json_object_new();
    json_object_set_string_member(steady, "type", "string");
    json_object_set_object_member(members, "steady", steady);
    JsonObject *object = closed_object(members);
    json_object_set_string_member(object, "description",
                                  "Numbers of the whole survey that 'run --save-recipe' wrote; "
                                  "without them they are measured.");
    set_words(object, "required", keys);
    return object;
}

static JsonObject *describe_volume(void)
{
    JsonArray *names = json_array_new();
    for (const LithoOperator *const *op = litho_operators(); *op; op++)
        for (const LithoVolumeDoc *v = (*op)->volumes; v && v->name; v++)
            json_array_add_string_element(names, v->name);
    JsonObject *object = json_object_new();
    json_object_set_array_member(object, "enum", names);
    json_object_set_string_member(object, "description",
                                  "A volume that a step gives beside its result, instead of it.");
    return object;
}

static JsonObject *describe_step(const LithoOperator *op)
{
    static const char *const required[] = {"operator", NULL};
    JsonObject *members = json_object_new(), *key = json_object_new();
    JsonObject *enabled = json_object_new(), *params = json_object_new();
    json_object_set_string_member(key, "const", op->key);
    json_object_set_string_member(enabled, "type", "boolean");
    json_object_set_boolean_member(enabled, "default", TRUE);
    for (guint k = 0; k < op->params.n; k++)
        json_object_set_object_member(params, op->params.rows[k].key,
                                      describe_param(&op->params.rows[k]));
    json_object_set_object_member(members, "operator", key);
    json_object_set_object_member(members, "enabled", enabled);
    json_object_set_object_member(members, "params", closed_object(params));
    if (op->measure_key)
        json_object_set_object_member(members, "measured", describe_measured());
    JsonObject *step = closed_object(members);
    json_object_set_string_member(step, "title", op->title);
    json_object_set_string_member(step, "description", op->summary);
    set_words(step, "required", required);
    return step;
}

static gboolean in_digits(const GMatchInfo *match, GString *out, G_GNUC_UNUSED gpointer none)
{
    g_autofree char *number = g_match_info_fetch(match, 0);
    g_autofree char *text = litho_param_number_text(g_ascii_strtod(number, NULL));
    g_string_append_printf(out, " %s", text);
    return FALSE;
}

// Limits as people write them: the JSON library writes 1.0000000000000001e-05 and
// 0.10000000000000001.
static char *numbers_in_digits(const char *json)
{
    g_autoptr(GRegex) regex =
        g_regex_new(" -?[0-9.]+(e[+-][0-9]+)?(?=,?$)", G_REGEX_MULTILINE, 0, NULL);
    return g_regex_replace_eval(regex, json, -1, 0, 0, in_digits, NULL, NULL);
}

char *litho_cli_recipe_schema(void)
{
    static const char *const required[] = {"lithoscope", "flow", NULL};
    JsonArray *steps = json_array_new();
    for (const LithoOperator *const *op = litho_operators(); *op; op++)
        json_array_add_object_element(steps, describe_step(*op));
    JsonObject *one_of = json_object_new(), *flow = json_object_new();
    JsonObject *version = json_object_new(), *members = json_object_new();
    json_object_set_array_member(one_of, "oneOf", steps);
    json_object_set_string_member(flow, "type", "array");
    json_object_set_object_member(flow, "items", one_of);
    json_object_set_int_member(version, "const", 1);
    json_object_set_object_member(members, "lithoscope", version);
    json_object_set_object_member(members, "flow", flow);
    json_object_set_object_member(members, "volume", describe_volume());
    JsonObject *root = closed_object(members);
    json_object_set_string_member(root, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_object_set_string_member(root, "title", "Lithoscope recipe");
    json_object_set_string_member(root, "description",
                                  "Operators and their parameters, applied in this order. What is "
                                  "left out has its default.");
    set_words(root, "required", required);
    g_autofree char *text = litho_json_object_text(root);
    g_autofree char *plain = numbers_in_digits(text);
    return g_strconcat(plain, "\n", NULL);
}

// --- the command --------------------------------------------------------------------------------

static char *completion(const LithoCommand *commands, const char *shell, GError **error)
{
    if (g_str_equal(shell, "bash"))
        return litho_cli_completion_bash(commands);
    if (g_str_equal(shell, "zsh"))
        return litho_cli_completion_zsh(commands);
    if (g_str_equal(shell, "fish"))
        return litho_cli_completion_fish(commands);
    litho_refuse(error, LITHO_ERROR_PARAMETER, "--completion is '%s'; it must be bash, zsh or fish",
                 shell);
    return NULL;
}

int litho_cli_help(const LithoCommand *commands, int argc, char **argv)
{
    gboolean man = FALSE, operators = FALSE, schema = FALSE;
    g_autofree char *shell = NULL;
    const GOptionEntry entries[] = {
        {"man", 0, 0, G_OPTION_ARG_NONE, &man, "The manual page of this program", NULL},
        {"man-operators", 0, 0, G_OPTION_ARG_NONE, &operators, "The manual page of the operators",
         NULL},
        {"completion", 0, 0, G_OPTION_ARG_STRING, &shell, "Completion for bash, zsh or fish",
         "SHELL"},
        {"recipe-schema", 0, 0, G_OPTION_ARG_NONE, &schema, "The JSON schema of a recipe", NULL},
        {NULL},
    };
    g_autoptr(GOptionContext) context =
        litho_cli_options("", "Prints a text that the program makes of itself.", entries, NULL);
    GError *error = NULL;
    if (!g_option_context_parse(context, &argc, &argv, &error))
        return litho_cli_misused("help", error);
    g_autofree char *text = man         ? litho_cli_man(commands)
                            : operators ? litho_cli_man_operators()
                            : schema    ? litho_cli_recipe_schema()
                            : shell     ? completion(commands, shell, &error)
                                        : NULL;
    if (!text && !error)
        litho_refuse(&error, LITHO_ERROR_PARAMETER, "an option is needed");
    if (!text)
        return litho_cli_misused("help", error);
    fputs(text, stdout);
    return LITHO_EXIT_OK;
}
