// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/import/import_profile.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "core/error.h"
#include "core/io/output.h"
#include "core/json.h"
#include "core/io/open_options.h"
#include "core/text.h"

// Two text headers of one origin share their wording and differ in names, dates and numbers; of
// different origins they share little more than "client" and "line".
#define LEAST_SHARED 0.5
enum { LEAST_WORDS = 5 };

static const char suffix[] = ".json";

static char *folder(void)
{
    return g_build_filename(g_get_user_config_dir(), "lithoscope", "import", NULL);
}

static char *path_of(const char *name)
{
    g_autofree char *base = g_strconcat(name, suffix, NULL), *dir = folder();
    return g_build_filename(dir, base, NULL);
}

const char *litho_profile_bad_name(const char *name)
{
    if (!*name)
        return _("A profile needs a name.");
    if (*name == '.' || strpbrk(name, "/\\") || strlen(name) > 100)
        return _(
            "The name of a profile has no slashes, does not begin with a dot and is not longer "
            "than 100 letters.");
    return NULL;
}

static int compare_names(const void *a, const void *b)
{
    return g_utf8_collate(*(char *const *)a, *(char *const *)b);
}

char **litho_profiles(void)
{
    g_autofree char *dir = folder();
    g_autoptr(GDir) open = g_dir_open(dir, 0, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    const char *name;
    while (open && (name = g_dir_read_name(open)))
        if (g_str_has_suffix(name, suffix) && g_utf8_validate(name, -1, NULL))
            g_ptr_array_add(names, g_strndup(name, strlen(name) - strlen(suffix)));
    g_ptr_array_sort(names, compare_names);
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_steal(names, NULL);
}

// --- words --------------------------------------------------------------------------------------

// Words of three letters and more, folded; each once.
static GHashTable *words_of(const char *text)
{
    GHashTable *words = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (const char *p = text; *p;) {
        const char *start = p;
        while (g_ascii_isalpha(*p))
            p++;
        if (p - start >= 3)
            g_hash_table_add(words, g_ascii_strdown(start, p - start));
        p += p == start;
    }
    return words;
}

// Shared words over all words.
static double likeness(GHashTable *words, JsonArray *array)
{
    guint shared = 0, n = json_array_get_length(array), mine = g_hash_table_size(words);
    for (guint k = 0; k < n; k++) {
        const char *word = litho_json_node_string(json_array_get_element(array, k));
        shared += word && g_hash_table_contains(words, word);
    }
    return shared >= LEAST_WORDS ? (double)shared / (n + mine - shared) : 0;
}

// --- files --------------------------------------------------------------------------------------

// The root object's node; json_node_unref().
static JsonNode *load(const char *name, GError **error)
{
    g_autofree char *path = path_of(name);
    g_autoptr(GError) why = NULL;
    JsonNode *root = litho_json_load(path, &why);
    if (litho_json_node_object(root))
        return root;
    g_clear_pointer(&root, json_node_unref);
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                _("the import profile '%s' cannot be read: %s"), name,
                why ? why->message : _("it is no JSON object"));
    return NULL;
}

gboolean litho_profile_save(const char *name, const LithoOpenOptions *options, const char *text,
                            GError **error)
{
    g_autofree char *dir = folder(), *path = path_of(name);
    const char *bad = litho_profile_bad_name(name);
    if (bad) {
        g_set_error_literal(error, LITHO_ERROR, LITHO_ERROR_PARAMETER, bad);
        return FALSE;
    }
    if (g_mkdir_with_parents(dir, 0700) != 0) {
        int code = errno;
        g_set_error(error, G_IO_ERROR, g_io_error_from_errno(code), _("cannot make %s: %s"), dir,
                    g_strerror(code));
        return FALSE;
    }
    g_autoptr(GHashTable) words = words_of(text);
    JsonArray *array = json_array_new();
    GHashTableIter iter;
    gpointer word;
    g_hash_table_iter_init(&iter, words);
    while (g_hash_table_iter_next(&iter, &word, NULL))
        json_array_add_string_element(array, word);
    JsonObject *root = json_object_new();
    json_object_set_object_member(root, "open", litho_open_options_to_json(options));
    json_object_set_array_member(root, "words", array);
    JsonNode *node = json_node_init_object(json_node_alloc(), root);
    g_autofree char *json = litho_json_text(node);
    json_object_unref(root);
    json_node_unref(node);
    return litho_output_save(path, json, -1, LITHO_REPLACE_ANY, error);
}

// Members of a profile edited by hand that are not taken as written would be left out in silence.
static gboolean check_taken(JsonObject *given, const LithoOpenOptions *options, const char *name,
                            GError **error)
{
    JsonObject *taken = litho_open_options_to_json(options);
    g_autoptr(GList) members = json_object_get_members(given);
    gboolean good = TRUE;
    for (GList *m = members; m && good; m = m->next) {
        JsonNode *a = json_object_get_member(given, m->data);
        JsonNode *b = json_object_get_member(taken, m->data);
        double x = 0, y = 0;
        const gboolean is_flag =
            JSON_NODE_HOLDS_VALUE(a) && json_node_get_value_type(a) == G_TYPE_BOOLEAN;
        if (is_flag)
            x = json_node_get_boolean(a);
        if (is_flag || litho_json_node_number(a, &x))
            good = (!b || litho_json_node_number(b, &y)) && x == y;
        else
            good = b && json_node_equal(a, b);
        g_autofree char *plain = litho_text_plain(m->data, 60);
        if (!good)
            litho_refuse(error, LITHO_ERROR_FORMAT,
                         "the import profile '%s' cannot be used: its member '%s' is not known "
                         "here, or has a value of another kind",
                         name, plain);
    }
    json_object_unref(taken);
    return good;
}

gboolean litho_profile_load(const char *name, LithoOpenOptions *options, GError **error)
{
    JsonNode *node = load(name, error);
    JsonObject *open = node ? litho_json_object_or_null(json_node_get_object(node), "open") : NULL;
    if (node && !open)
        litho_refuse(error, LITHO_ERROR_FORMAT,
                     "the import profile '%s' cannot be used: it has no object 'open'", name);
    const LithoOpenOptions read = litho_open_options_from_json(open);
    const gboolean good = open && check_taken(open, &read, name, error);
    if (good)
        *options = read;
    g_clear_pointer(&node, json_node_unref);
    return good;
}

gboolean litho_profile_delete(const char *name, GError **error)
{
    g_autofree char *path = path_of(name);
    if (g_unlink(path) == 0)
        return TRUE;
    int code = errno;
    g_set_error(error, G_IO_ERROR, g_io_error_from_errno(code), _("cannot remove %s: %s"), path,
                g_strerror(code));
    return FALSE;
}

char *litho_profile_match(const char *text)
{
    g_autoptr(GHashTable) words = words_of(text);
    g_auto(GStrv) names = litho_profiles();
    const char *best = NULL;
    double most = LEAST_SHARED;
    for (char **name = names; *name; name++) {
        JsonNode *node = load(*name, NULL);
        JsonArray *list =
            node ? litho_json_array_or_null(json_node_get_object(node), "words") : NULL;
        double like = list ? likeness(words, list) : 0;
        if (like >= most) {
            most = like;
            best = *name;
        }
        g_clear_pointer(&node, json_node_unref);
    }
    return g_strdup(best);
}
