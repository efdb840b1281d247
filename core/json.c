// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/json.h"

char *litho_json_text(JsonNode *node)
{
    g_autofree char *text = json_to_string(node, TRUE);
    // Behind a colon, a comma, a bracket or white space and before the end of a value: a number,
    // not a part of a string that looks like one in the middle of a sentence.
    g_autoptr(GRegex) wrong =
        g_regex_new("(?<=[:\\[,\\s])(-?[0-9]+e[+-]?[0-9]+)\\.0(?=\\s*[,\\]}\\n])", 0, 0, NULL);
    return g_regex_replace(wrong, text, -1, 0, "\\1", 0, NULL);
}

char *litho_json_object_text(JsonObject *object)
{
    JsonNode *node = json_node_new(JSON_NODE_OBJECT);
    json_node_take_object(node, object);
    char *text = litho_json_text(node);
    json_node_unref(node);
    return text;
}
