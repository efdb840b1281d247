// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/json.h"

#include <math.h>
#include <string.h>

#include "core/contents.h"
#include "core/error.h"
#include "core/text.h"

// Fewest digits that read back as the same number, and a point or an exponent, so that it stays a
// real one: 2.6, not 2.6000000000000001.
static void append_real(GString *text, double value)
{
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    for (int digits = 15; digits <= 17; digits++) {
        const char format[] = {'%', '.', '1', (char)('0' + digits - 10), 'g', '\0'};
        g_ascii_formatd(number, sizeof number, format, value);
        if (g_ascii_strtod(number, NULL) == value)
            break;
    }
    g_string_append(text, number);
    if (!strpbrk(number, ".e"))
        g_string_append(text, ".0");
}

// The parser's library writes 17 digits, and 1e+30.0, which is no JSON. Texts stay as they are.
static char *shorten_reals(const char *text)
{
    GString *to = g_string_sized_new(strlen(text) + 1);
    for (const char *p = text; *p;) {
        const char *first = p;
        if (*p == '"') {
            for (p++; *p && *p != '"'; p++)
                p += *p == '\\' && p[1];
            p += *p == '"';
            g_string_append_len(to, first, p - first);
        } else if (g_ascii_isdigit(*p) || *p == '-') {
            p += strspn(p, "+-.0123456789e");
            g_autofree char *number = g_strndup(first, (gsize)(p - first));
            if (strpbrk(number, ".e")) // strtod() stops before the ".0" of e+30.0
                append_real(to, g_ascii_strtod(number, NULL));
            else
                g_string_append(to, number);
        } else {
            g_string_append_c(to, *p++);
        }
    }
    return g_string_free(to, FALSE);
}

static char *node_text(JsonNode *node, gboolean indented)
{
    g_autofree char *written = json_to_string(node, indented);
    // Names of files need not be text.
    g_autofree char *text = g_utf8_make_valid(written, -1);
    return shorten_reals(text);
}

char *litho_json_text(JsonNode *node)
{
    return node_text(node, TRUE);
}

static char *object_text(JsonObject *object, gboolean indented)
{
    JsonNode *node = json_node_new(JSON_NODE_OBJECT);
    json_node_take_object(node, object);
    char *text = node_text(node, indented);
    json_node_unref(node);
    return text;
}

char *litho_json_object_line(JsonObject *object)
{
    return object_text(object, FALSE);
}

char *litho_json_object_text(JsonObject *object)
{
    return object_text(object, TRUE);
}

// --- reading ------------------------------------------------------------------------------------

static gboolean refuse_at(const char *text, const char *at, const char *what, GError **error)
{
    guint line = 1;
    for (const char *p = text; p < at; p++)
        line += *p == '\n';
    return litho_refuse(error, LITHO_ERROR_FORMAT, "line %u %s", line, what);
}

// One reading of a text from its begin to its end, before the parser.
typedef struct Scan {
    const char *text, *at, *end;
    guint level;
    GHashTable *keys[LITHO_JSON_LEVELS + 1]; // of the object at each level; NULL = an array
    const char *string; // begin of the last text, behind its quote; NULL = something came after it
    gsize string_bytes;
    GArray *large; // gsize; where whole numbers end that fit into 64 bits without a sign only
} Scan;

// A text from its opening quote on. FALSE: the parser would cut it at a 0.
static gboolean scan_string(Scan *s, GError **error)
{
    const char *first = ++s->at;
    while (s->at < s->end && *s->at != '"') {
        if (*s->at == '\\' && s->end - s->at > 5 && strncmp(s->at, "\\u0000", 6) == 0)
            return refuse_at(s->text, s->at, _("has a text with a zero character"), error);
        s->at += *s->at == '\\' ? 2 : 1; // what it escapes is skipped
    }
    if (s->at >= s->end)
        return refuse_at(s->text, s->end, _("ends within a text: the rest is cut off"), error);
    s->string = first;
    s->string_bytes = (gsize)(s->at++ - first);
    return TRUE;
}

// A number. FALSE: the parser would make another one of it.
static gboolean scan_number(Scan *s, GError **error)
{
    const char *first = s->at;
    while (s->at < s->end && (g_ascii_isalnum(*s->at) || strchr("+-.", *s->at)) && *s->at)
        s->at++;
    g_autofree char *number = g_strndup(first, (gsize)(s->at - first));
    if (g_ascii_string_to_unsigned(number, 10, (guint64)G_MAXINT64 + 1, G_MAXUINT64, NULL, NULL)) {
        const gsize end = (gsize)(s->at - s->text);
        g_array_append_val(s->large, end);
        return TRUE;
    }
    if (strspn(number + (*number == '-'), "0123456789") == strlen(number + (*number == '-')) &&
        !g_ascii_string_to_signed(number, 10, G_MININT64, G_MAXINT64, NULL, NULL) && number[1])
        return refuse_at(s->text, first, _("has a whole number that is too large"), error);
    return TRUE;
}

// The parser takes the last of several members of one name in silence.
static gboolean scan_colon(Scan *s, GError **error)
{
    GHashTable *keys = s->level > 0 ? s->keys[s->level] : NULL;
    if (!keys || !s->string)
        return TRUE;
    char *key = g_strndup(s->string, s->string_bytes);
    g_autofree char *plain = litho_text_plain(key, 60);
    if (g_hash_table_add(keys, key))
        return TRUE;
    g_autofree char *what = g_strdup_printf(_("has a second member '%s' in one object"), plain);
    return refuse_at(s->text, s->at, what, error);
}

static gboolean scan_bracket(Scan *s, GError **error)
{
    if (*s->at == '}' || *s->at == ']') {
        if (s->level > 0)
            g_clear_pointer(&s->keys[s->level--], g_hash_table_unref);
        return TRUE;
    }
    if (s->level == LITHO_JSON_LEVELS)
        return refuse_at(s->text, s->at,
                         _("is nested too deep: 32 arrays and objects in one another "
                           "are the limit"),
                         error);
    s->level++;
    if (*s->at == '{')
        s->keys[s->level] = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return TRUE;
}

static gboolean scan(Scan *s, GError **error)
{
    gboolean begun = FALSE;
    while (s->at < s->end) {
        const char c = *s->at;
        if (c && strchr(" \t\r\n", c)) {
            s->at++;
            continue;
        }
        if (s->level == 0 && (begun || (c != '{' && c != '[')))
            return refuse_at(s->text, s->at,
                             begun ? _("has text behind the end of the JSON value")
                                   : _("does not begin with { or [, as JSON of this kind does"),
                             error);
        begun = TRUE;
        if (c == '"') {
            if (!scan_string(s, error))
                return FALSE;
            continue;
        }
        if (g_ascii_isdigit(c) || c == '-') {
            if (!scan_number(s, error))
                return FALSE;
        } else if (c && strchr("{}[]", c)) {
            if (!scan_bracket(s, error))
                return FALSE;
            s->at++;
        } else if (c && (g_ascii_isalpha(c) || strchr(",:+.", c))) {
            if (c == ':' && !scan_colon(s, error))
                return FALSE;
            s->at++;
        } else {
            return refuse_at(s->text, s->at,
                             _("has a character that JSON does not have outside of strings"),
                             error);
        }
        s->string = NULL;
    }
    return s->level == 0 ||
           refuse_at(s->text, s->end, _("ends within an object or a list: the rest is cut off"),
                     error);
}

// The parser behind calls itself for every level, takes comments, single quotes and one value after
// another (the first of which it loses), and stops at a 0: none of these may reach it, so that
// brackets counted here are the brackets it sees. Whole numbers from 2^63 on, which it would make
// negative, get a ".0". The text for the parser, NULL with `error`.
static GString *check_text(const char *text, gsize length, GError **error)
{
    g_autoptr(GArray) large = g_array_new(FALSE, FALSE, sizeof(gsize));
    Scan s = {.text = text, .at = text, .end = text + length, .large = large};
    const gboolean good = scan(&s, error);
    for (guint k = 0; k < G_N_ELEMENTS(s.keys); k++)
        g_clear_pointer(&s.keys[k], g_hash_table_unref);
    if (!good)
        return NULL;
    GString *checked = g_string_sized_new(length + 2 * large->len);
    gsize done = 0;
    for (guint k = 0; k < large->len; k++) {
        const gsize end = g_array_index(large, gsize, k);
        g_string_append_len(checked, text + done, (gssize)(end - done));
        g_string_append(checked, ".0");
        done = end;
    }
    return g_string_append_len(checked, text + done, (gssize)(length - done));
}

JsonNode *litho_json_parse(const char *text, gssize length, GError **error)
{
    const gsize n = length < 0 ? strlen(text) : (gsize)length;
    g_autoptr(JsonParser) parser = json_parser_new();
    g_autoptr(GError) why = NULL;
    if (n > LITHO_JSON_BYTES) {
        litho_refuse(error, LITHO_ERROR_FORMAT, "%zu bytes of JSON; at most %d are read", n,
                     LITHO_JSON_BYTES);
        return NULL;
    }
    if (!g_utf8_validate_len(text, n, NULL)) {
        litho_refuse(error, LITHO_ERROR_FORMAT, "not text (UTF-8)");
        return NULL;
    }
    // A byte order mark, which some editors write, is no part of the text.
    const gsize mark = litho_contents_mark(text, n);
    g_autoptr(GString) checked = check_text(text + mark, n - mark, error);
    if (!checked)
        return NULL;
    if (!json_parser_load_from_data(parser, checked->str, (gssize)checked->len, &why)) {
        litho_refuse(error, LITHO_ERROR_FORMAT, "not JSON: %s", why->message);
        return NULL;
    }
    if (!json_parser_get_root(parser)) {
        litho_refuse(error, LITHO_ERROR_FORMAT, "not JSON: the text is empty");
        return NULL;
    }
    return json_parser_steal_root(parser);
}

JsonNode *litho_json_load(const char *path, GError **error)
{
    gsize length = 0;
    g_autofree char *text = litho_contents_load(path, LITHO_JSON_BYTES, &length, error);
    JsonNode *root = text ? litho_json_parse(text, length, error) : NULL;
    if (text && !root)
        g_prefix_error(error, "%s: ", path);
    return root;
}

gboolean litho_json_complain(const LithoJsonReader *r, const char *key, const char *what,
                             GError **error)
{
    return litho_refuse(error, LITHO_ERROR_FORMAT, "%s%s%s %s", r->where, *r->where ? "." : "", key,
                        what);
}

gboolean litho_json_open(LithoJsonReader *r, JsonNode *node, const char *where, const char *root,
                         GError **error)
{
    *r = (LithoJsonReader){.object = litho_json_node_object(node)};
    g_strlcpy(r->where, where, sizeof r->where);
    if (!r->object && !node && *where)
        return litho_refuse(error, LITHO_ERROR_FORMAT, "%s is missing", where);
    if (!r->object)
        return litho_refuse(error, LITHO_ERROR_FORMAT, "%s must be an object { ... }",
                            *where ? where : root);
    r->asked = g_hash_table_new(g_str_hash, g_str_equal);
    return TRUE;
}

gboolean litho_json_close(LithoJsonReader *r, gboolean ok, const char *schema, GError **error)
{
    if (!r->object)
        return ok;
    g_autoptr(GList) members = json_object_get_members(r->object);
    for (GList *m = members; m && ok; m = m->next)
        if (!g_hash_table_contains(r->asked, m->data)) {
            g_autofree char *what =
                g_strconcat(_("is not known here"), schema ? _("; see ") : "", schema, NULL);
            ok = litho_json_complain(r, m->data, what, error);
        }
    g_clear_pointer(&r->asked, g_hash_table_unref);
    return ok;
}

JsonNode *litho_json_ask(LithoJsonReader *r, const char *key)
{
    g_hash_table_add(r->asked, (gpointer)key);
    return json_object_get_member(r->object, key);
}

gboolean litho_json_number(LithoJsonReader *r, const char *key, double def, double *value,
                           GError **error)
{
    JsonNode *node = litho_json_ask(r, key);
    *value = def;
    if (!node)
        return !isnan(def) || litho_json_complain(r, key, _("is missing"), error);
    return litho_json_node_number(node, value) ||
           litho_json_complain(r, key, _("must be a number"), error);
}

gboolean litho_json_numbers(LithoJsonReader *r, const char *key, guint n, double *value,
                            GError **error)
{
    JsonNode *node = litho_json_ask(r, key);
    JsonArray *array = litho_json_node_array(node);
    gboolean good = array && json_array_get_length(array) == n;
    for (guint k = 0; good && k < n; k++)
        good = litho_json_node_number(json_array_get_element(array, k), &value[k]);
    g_autofree char *what = g_strdup_printf(_("must be a list of %u numbers"), n);
    return good || litho_json_complain(r, key, node ? what : _("is missing"), error);
}

gboolean litho_json_boolean(LithoJsonReader *r, const char *key, gboolean def, gboolean *value,
                            GError **error)
{
    JsonNode *node = litho_json_ask(r, key);
    *value = def;
    if (!node)
        return TRUE;
    if (!JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != G_TYPE_BOOLEAN)
        return litho_json_complain(r, key, _("must be true or false"), error);
    *value = json_node_get_boolean(node);
    return TRUE;
}

const char *litho_json_string(LithoJsonReader *r, const char *key, GError **error)
{
    JsonNode *node = litho_json_ask(r, key);
    const char *text = litho_json_node_string(node);
    if (!text)
        litho_json_complain(r, key, node ? _("must be a text") : _("is missing"), error);
    return text;
}

JsonArray *litho_json_array(LithoJsonReader *r, const char *key, guint min, guint max,
                            GError **error)
{
    JsonNode *node = litho_json_ask(r, key);
    JsonArray *array = litho_json_node_array(node);
    const guint n = array ? json_array_get_length(array) : 0;
    if (array && n >= min && n <= max)
        return array;
    g_autofree char *what =
        min == max ? g_strdup_printf(_("must be a list of entries; %u needed, %u found"), min, n)
                   : g_strdup_printf(_("must be a list of %u to %u entries"), min, max);
    litho_json_complain(r, key, node ? what : _("is missing"), error);
    return NULL;
}

gboolean litho_json_node_number(JsonNode *node, double *value)
{
    const GType type =
        node && JSON_NODE_HOLDS_VALUE(node) ? json_node_get_value_type(node) : G_TYPE_INVALID;
    if (type != G_TYPE_INT64 && type != G_TYPE_DOUBLE)
        return FALSE;
    *value = json_node_get_double(node);
    return isfinite(*value);
}

const char *litho_json_node_string(JsonNode *node)
{
    return node && JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == G_TYPE_STRING
               ? json_node_get_string(node)
               : NULL;
}

JsonObject *litho_json_node_object(JsonNode *node)
{
    return node && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}

JsonArray *litho_json_node_array(JsonNode *node)
{
    return node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
}

double litho_json_number_or(JsonObject *object, const char *key, double fallback)
{
    double value;
    return litho_json_node_number(json_object_get_member(object, key), &value) ? value : fallback;
}

const char *litho_json_string_or(JsonObject *object, const char *key, const char *fallback)
{
    const char *text = litho_json_node_string(json_object_get_member(object, key));
    return text ? text : fallback;
}

JsonObject *litho_json_object_or_null(JsonObject *object, const char *key)
{
    return litho_json_node_object(json_object_get_member(object, key));
}

JsonArray *litho_json_array_or_null(JsonObject *object, const char *key)
{
    return litho_json_node_array(json_object_get_member(object, key));
}
