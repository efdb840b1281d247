// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <json-glib/json-glib.h>

// `node` as indented JSON text; g_free(). What json-glib writes is not always JSON: it puts ".0"
// behind a number without a point, so 1e+30 becomes 1e+30.0 (json-glib 1.6). That is taken back.
char *litho_json_text(JsonNode *node);
// The same of an object, which it takes over.
char *litho_json_object_text(JsonObject *object);
