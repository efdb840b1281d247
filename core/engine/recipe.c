// SPDX-License-Identifier: GPL-3.0-or-later
// Recipes: flows as JSON text (core/flow.h).
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/flow.h"
#include "core/io/output.h"
#include "core/json.h"
#include "core/text.h"

enum { MOST_STEPS = 1000 };

// The place where the members of a recipe are explained.
#define SCHEMA "'lithoscope-cli run --help'"

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
        if (litho_step_measured(step, NULL))
            json_object_set_member(object, "measured", litho_measured_to_json(step->measured));
        json_array_add_object_element(steps, object);
    }
    JsonObject *root = json_object_new();
    json_object_set_int_member(root, "lithoscope", 1);
    json_object_set_array_member(root, "flow", steps);
    if (flow->volume)
        json_object_set_string_member(root, "volume", flow->volume);
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

// Sentence about a key or a choice that older recipes hold; NULL = it is of today.
static const char *retired_note(const LithoOperator *op, const char *key, JsonNode *node)
{
    const LithoParam *row = litho_param_find(&op->params, key);
    if (!row)
        return litho_param_retired(key);
    const LithoRetiredChoice *choice =
        JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == G_TYPE_STRING
            ? litho_param_retired_choice(row, json_node_get_string(node))
            : NULL;
    return choice ? choice->why : NULL;
}

static gboolean read_params(LithoFlow *flow, LithoStep *step, JsonNode *node, const char *where,
                            GError **error)
{
    if (!node)
        return TRUE;
    if (!JSON_NODE_HOLDS_OBJECT(node))
        return litho_refuse(error, LITHO_ERROR_FORMAT, "%s.params must be an object { ... }",
                            where);
    JsonObject *params = json_node_get_object(node);
    g_autoptr(GList) keys = json_object_get_members(params);
    for (GList *k = keys; k; k = k->next) {
        const char *note = retired_note(step->op, k->data, json_object_get_member(params, k->data));
        flow->note = note ? note : flow->note;
    }
    if (litho_params_from_json(&step->op->params, step->params, params, error))
        return TRUE;
    g_prefix_error(error, "%s: ", step->op->key);
    return FALSE;
}

static gboolean read_measured(LithoStep *step, JsonNode *node, const char *where, GError **error)
{
    if (!node || (step->measured = litho_measured_from_json(node, error)))
        return TRUE;
    g_prefix_error(error, "%s: ", where);
    return FALSE;
}

static gboolean read_step(LithoFlow *flow, LithoJsonReader *r, GError **error)
{
    const char *key = litho_json_string(r, "operator", error);
    const LithoOperator *op = key ? litho_operator_find(key) : NULL;
    if (!key)
        return FALSE;
    if (!op) {
        g_autofree char *plain = litho_text_plain(key, 60);
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "the recipe names an operator '%s', which this program does not have",
                            plain);
    }
    LithoStep *step = litho_flow_step(flow, litho_flow_append(flow, op));
    return litho_json_boolean(r, "enabled", TRUE, &step->enabled, error) &&
           read_params(flow, step, litho_json_ask(r, "params"), r->where, error) &&
           read_measured(step, litho_json_ask(r, "measured"), r->where, error);
}

static gboolean read_steps(LithoFlow *flow, JsonArray *steps, GError **error)
{
    for (guint k = 0; k < json_array_get_length(steps); k++) {
        LithoJsonReader r;
        char where[24];
        g_snprintf(where, sizeof where, "flow[%u]", k);
        gboolean good = litho_json_open(&r, json_array_get_element(steps, k), where, NULL, error) &&
                        read_step(flow, &r, error);
        if (!litho_json_close(&r, good, SCHEMA, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean read_recipe(LithoFlow *flow, LithoJsonReader *r, GError **error)
{
    double version;
    if (!litho_json_number(r, "lithoscope", LITHO_JSON_REQUIRED, &version, error))
        return FALSE;
    if (version != 1)
        return litho_refuse(error, LITHO_ERROR_FORMAT,
                            "the recipe has \"lithoscope\": %g; version 1 is read", version);
    JsonArray *steps = litho_json_array(r, "flow", 0, MOST_STEPS, error);
    if (!steps || !read_steps(flow, steps, error))
        return FALSE;
    if (!litho_json_ask(r, "volume"))
        return TRUE;
    const char *volume = litho_json_string(r, "volume", error);
    return volume && litho_flow_set_volume(flow, volume, error);
}

LithoFlow *litho_flow_from_json(JsonNode *root, GError **error)
{
    g_autoptr(LithoFlow) flow = litho_flow_new();
    LithoJsonReader r;
    gboolean good =
        litho_json_open(&r, root, "", _("a recipe"), error) && read_recipe(flow, &r, error);
    return litho_json_close(&r, good, SCHEMA, error) ? g_steal_pointer(&flow) : NULL;
}

// A recipe that changes no sample says so to the person who chose it.
static void note_idle(LithoFlow *flow)
{
    const guint n = litho_flow_length(flow);
    guint working = 0;
    for (guint k = 0; k < n; k++)
        working += litho_flow_step(flow, k)->enabled != 0;
    if (working == 0 && !flow->note)
        flow->note = n > 0 ? _("all steps of the recipe are switched off: nothing is filtered")
                           : _("the recipe has no steps: nothing is filtered");
}

LithoFlow *litho_flow_parse(const char *text, GError **error)
{
    JsonNode *root = litho_json_parse(text, -1, error);
    LithoFlow *flow = root ? litho_flow_from_json(root, error) : NULL;
    g_clear_pointer(&root, json_node_unref);
    if (flow)
        note_idle(flow);
    return flow;
}

LithoFlow *litho_flow_load(const char *path, GError **error)
{
    JsonNode *root = litho_json_load(path, error);
    LithoFlow *flow = root ? litho_flow_from_json(root, error) : NULL;
    if (root && !flow)
        g_prefix_error(error, "%s: ", path);
    g_clear_pointer(&root, json_node_unref);
    if (flow)
        note_idle(flow);
    return flow;
}

gboolean litho_flow_save(const LithoFlow *flow, const char *path, GError **error)
{
    g_autofree char *text = litho_flow_print(flow);
    return litho_output_save(path, text, -1, LITHO_REPLACE_ANY, error);
}
