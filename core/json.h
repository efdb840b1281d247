// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <json-glib/json-glib.h>

// JSON written and read: recipes, sessions, TWSM models, import profiles. Any thread.

// `node` as indented JSON text; g_free(). What json-glib writes is not always JSON: it puts ".0"
// behind a number without a point, so 1e+30 becomes 1e+30.0 (json-glib 1.6). That is taken back.
// Bytes that are no UTF-8, as a file name may have, become U+FFFD.
char *litho_json_text(JsonNode *node);
// `object` as JSON text of one line; takes the object over.
char *litho_json_object_line(JsonObject *object);
// `object` as indented JSON text; takes the object over.
char *litho_json_object_text(JsonObject *object);

// --- reading ------------------------------------------------------------------------------------

enum {
    LITHO_JSON_BYTES = 16 << 20, // the largest session has 0.3 MB
    LITHO_JSON_LEVELS = 32,      // a session has 8; json-glib's parser calls itself once a level
};

// The root of a JSON text (`length` bytes, -1 = up to its 0); json_node_unref(). Refused before
// anything is parsed: more than LITHO_JSON_BYTES, more than LITHO_JSON_LEVELS arrays and objects in
// one another, everything outside of strings that JSON does not have (json-glib takes comments and
// single quotes), two members of one name, whole numbers beyond 64 bits and texts with a zero.
// LITHO_ERROR_FORMAT.
JsonNode *litho_json_parse(const char *text, gssize length, GError **error);
// The root of a regular JSON file; the sentence begins with its path.
JsonNode *litho_json_load(const char *path, GError **error);

// Typed members of one object. Every member is asked for by name, so that what is left over is a
// spelling mistake, and every sentence names the member: "boundaries[1].depth must be a number".
typedef struct LithoJsonReader {
    JsonObject *object; // borrowed from the node
    char where[64];     // path of the object, "" = the root
    GHashTable *asked;  // members asked for so far; of const char *, not owned
} LithoJsonReader;

#define LITHO_JSON_REQUIRED NAN // as a default: the member must be there

// FALSE when `node` (NULL = missing) is no object. `root` names the whole where `where` is "":
// "the model".
gboolean litho_json_open(LithoJsonReader *r, JsonNode *node, const char *where, const char *root,
                         GError **error);
// Frees the reader; with `ok` TRUE complains about a member that nobody asked for. `schema` says
// where the members are told, or is NULL. Returns the verdict.
gboolean litho_json_close(LithoJsonReader *r, gboolean ok, const char *schema, GError **error);
// "WHERE.KEY WHAT"; always FALSE.
gboolean litho_json_complain(const LithoJsonReader *r, const char *key, const char *what,
                             GError **error);
// The member, NULL when there is none; marks it as asked for.
JsonNode *litho_json_ask(LithoJsonReader *r, const char *key);
// A finite number; `def` where there is none.
gboolean litho_json_number(LithoJsonReader *r, const char *key, double def, double *value,
                           GError **error);
// Exactly `n` finite numbers.
gboolean litho_json_numbers(LithoJsonReader *r, const char *key, guint n, double *value,
                            GError **error);
// true or false; `def` where there is none.
gboolean litho_json_boolean(LithoJsonReader *r, const char *key, gboolean def, gboolean *value,
                            GError **error);
// A text that must be there; owned by the node.
const char *litho_json_string(LithoJsonReader *r, const char *key, GError **error);
// An array of `min` to `max` entries that must be there.
JsonArray *litho_json_array(LithoJsonReader *r, const char *key, guint min, guint max,
                            GError **error);

// One value, whatever it is: FALSE or NULL when `node` (may be NULL) is of another type.
gboolean litho_json_node_number(JsonNode *node, double *value); // finite
const char *litho_json_node_string(JsonNode *node);
JsonObject *litho_json_node_object(JsonNode *node);
JsonArray *litho_json_node_array(JsonNode *node);
// Members that may be missing or of another type, both of which give the fallback (or NULL).
double litho_json_number_or(JsonObject *object, const char *key, double fallback);
const char *litho_json_string_or(JsonObject *object, const char *key, const char *fallback);
JsonObject *litho_json_object_or_null(JsonObject *object, const char *key);
JsonArray *litho_json_array_or_null(JsonObject *object, const char *key);
