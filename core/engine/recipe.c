// SPDX-License-Identifier: GPL-3.0-or-later
// Recipes: flows as JSON text (core/flow.h).
#include <string.h>

#include "core/error.h"
#include "core/flow.h"
#include "core/json.h"

JsonNode *litho_flow_to_json(const LithoFlow *flow)
{
    JsonArray *steps = json_array_new();
    for (guint k = 0; k < litho_flow_length(flow); k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        JsonObject *object = json_object_new();
        json_object_set_string_member(object, "operator", step->op->key);
        json_object_set_boolean_member(object, "enabled", step->enabled);
        json_object_set_object_member(object, "params",
                                      litho_params_to_json(&step->op->params, step->params));
        json_array_add_object_element(steps, object);
    }
    JsonObject *root = json_object_new();
    json_object_set_int_member(root, "lithoscope", 1);
    json_object_set_array_member(root, "flow", steps);
    JsonNode *node = json_node_new(JSON_NODE_OBJECT);
    json_node_take_object(node, root);
    return node;
}

char *litho_flow_print(const LithoFlow *flow)
{
    JsonNode *node = litho_flow_to_json(flow);
    g_autofree char *text = litho_json_text(node);
    json_node_unref(node);
    return g_strconcat(text, "\n", NULL);
}

// Every member of `object` must be one of `known` (NULL-terminated).
static gboolean known_members(JsonObject *object, const char *const *known, const char *where,
                              GError **error)
{
    g_autoptr(GList) keys = json_object_get_members(object);
    for (GList *k = keys; k; k = k->next)
        if (!g_strv_contains(known, k->data)) {
            g_autofree char *list = g_strjoinv(", ", (char **)known);
            g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                        "%s has a key '%s'; known keys are %s", where, (char *)k->data, list);
            return FALSE;
        }
    return TRUE;
}

static gboolean parse_step(LithoFlow *flow, JsonNode *node, GError **error)
{
    static const char *const known[] = {"operator", "enabled", "params", NULL};
    if (!JSON_NODE_HOLDS_OBJECT(node)) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                    "a step of the recipe is not an object with \"operator\" and \"params\"");
        return FALSE;
    }
    JsonObject *object = json_node_get_object(node);
    if (!known_members(object, known, "a step of the recipe", error))
        return FALSE;
    const char *key = json_object_get_string_member_with_default(object, "operator", "");
    const LithoOperator *op = litho_operator_find(key);
    if (!op) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                    "the recipe names an operator '%s', which this program does not have", key);
        return FALSE;
    }
    LithoStep *step = litho_flow_step(flow, litho_flow_append(flow, op));
    step->enabled = json_object_get_boolean_member_with_default(object, "enabled", TRUE);
    if (!json_object_has_member(object, "params"))
        return TRUE;
    JsonNode *params = json_object_get_member(object, "params");
    if (!JSON_NODE_HOLDS_OBJECT(params)) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT, "\"params\" of %s is not an object",
                    key);
        return FALSE;
    }
    if (litho_params_from_json(&op->params, step->params, json_node_get_object(params), error))
        return TRUE;
    g_prefix_error(error, "%s: ", key);
    return FALSE;
}

static gboolean parse_root(LithoFlow *flow, JsonNode *root, GError **error)
{
    static const char *const known[] = {"lithoscope", "flow", NULL};
    if (!root || !JSON_NODE_HOLDS_OBJECT(root)) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                    "not a recipe: a JSON object with \"lithoscope\" and \"flow\" is needed");
        return FALSE;
    }
    JsonObject *object = json_node_get_object(root);
    if (!known_members(object, known, "the recipe", error))
        return FALSE;
    gint64 version = json_object_get_int_member_with_default(object, "lithoscope", 0);
    JsonNode *steps = json_object_get_member(object, "flow");
    if (version != 1 || !steps || !JSON_NODE_HOLDS_ARRAY(steps)) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                    "the recipe has \"lithoscope\": %" G_GINT64_FORMAT
                    "; version 1 with an array \"flow\" is needed",
                    version);
        return FALSE;
    }
    JsonArray *array = json_node_get_array(steps);
    for (guint k = 0; k < json_array_get_length(array); k++)
        if (!parse_step(flow, json_array_get_element(array, k), error))
            return FALSE;
    return TRUE;
}

LithoFlow *litho_flow_from_json(JsonNode *root, GError **error)
{
    LithoFlow *flow = litho_flow_new();
    if (parse_root(flow, root, error))
        return flow;
    litho_flow_free(flow);
    return NULL;
}

LithoFlow *litho_flow_parse(const char *text, GError **error)
{
    g_autoptr(JsonParser) parser = json_parser_new();
    if (!json_parser_load_from_data(parser, text, -1, error))
        return NULL;
    return litho_flow_from_json(json_parser_get_root(parser), error);
}

LithoFlow *litho_flow_load(const char *path, GError **error)
{
    g_autofree char *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, error))
        return NULL;
    LithoFlow *flow = litho_flow_parse(text, error);
    if (!flow)
        g_prefix_error(error, "%s: ", path);
    return flow;
}

gboolean litho_flow_save(const LithoFlow *flow, const char *path, GError **error)
{
    g_autofree char *text = litho_flow_print(flow);
    return g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0666, error);
}
