// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/state_store.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/error.h"
#include "core/flow.h"
#include "core/io/output.h"
#include "core/json.h"
#include "core/text.h"

enum { KEEP = 100 };

static const char suffix[] = ".json";

static char *folder(void)
{
    return g_build_filename(g_get_user_state_dir(), "lithoscope", "sessions", NULL);
}

static char *path_of(const char *key)
{
    g_autofree char *base = g_strconcat(key, suffix, NULL), *dir = folder();
    return g_build_filename(dir, base, NULL);
}

char *litho_state_key(const char *const *paths)
{
    if (!paths)
        return g_strdup("demo");
    // Names may hold the separator: it is doubled there, so that no two lists are one text.
    g_autoptr(GString) all = g_string_new(NULL);
    for (guint k = 0; paths[k]; k++) {
        g_autoptr(GString) path = g_string_new(paths[k]);
        g_string_replace(path, "\n", "\n\n", 0);
        g_string_append_printf(all, "%s%s", k > 0 ? "\n" : "", path->str);
    }
    return g_compute_checksum_for_string(G_CHECKSUM_SHA256, all->str, -1);
}

// --- the folder ---------------------------------------------------------------------------------

typedef struct Kept {
    char *key;
    gint64 modified_ns;
} Kept;

static void kept_clear(gpointer kept)
{
    g_free(((Kept *)kept)->key);
}

static int newest_first(const void *a, const void *b)
{
    gint64 x = ((const Kept *)a)->modified_ns, y = ((const Kept *)b)->modified_ns;
    return (x < y) - (x > y);
}

static GArray *list_kept(void)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(Kept));
    g_array_set_clear_func(list, kept_clear);
    g_autofree char *dir = folder();
    g_autoptr(GDir) open = g_dir_open(dir, 0, NULL);
    const char *name;
    while (open && (name = g_dir_read_name(open))) {
        g_autofree char *path = g_build_filename(dir, name, NULL);
        GStatBuf info;
        if (!g_str_has_suffix(name, suffix) || g_stat(path, &info) != 0)
            continue;
        Kept kept = {g_strndup(name, strlen(name) - strlen(suffix)),
                     info.st_mtim.tv_sec * G_GINT64_CONSTANT(1000000000) + info.st_mtim.tv_nsec};
        g_array_append_val(list, kept);
    }
    g_array_sort(list, newest_first);
    return list;
}

char *litho_state_newest(void)
{
    g_autoptr(GArray) list = list_kept();
    return list->len > 0 ? g_strdup(g_array_index(list, Kept, 0).key) : NULL;
}

void litho_state_remove(const char *key)
{
    g_autofree char *path = path_of(key);
    g_unlink(path);
}

// The session of `key` becomes the newest one, also where the clock was set back since others were
// written: it would be the first to go, and would not be opened again.
static void make_newest(const char *key, const GArray *list)
{
    const Kept *newest = list->len > 0 ? &g_array_index(list, Kept, 0) : NULL;
    if (!newest || strcmp(newest->key, key) == 0)
        return;
    g_autofree char *path = path_of(key);
    const gint64 ns = newest->modified_ns + 1000; // what file systems keep
    const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, {ns / 1000000000, ns % 1000000000}};
    (void)utimensat(AT_FDCWD, path, times, 0);
}

static void prune(const char *key)
{
    g_autoptr(GArray) written = list_kept();
    make_newest(key, written);
    g_autoptr(GArray) list = list_kept();
    for (guint k = KEEP; k < list->len; k++)
        litho_state_remove(g_array_index(list, Kept, k).key);
}

// --- one session --------------------------------------------------------------------------------

// FALSE when a later text of this key has been written. Call it with the lock held.
static gboolean is_newest(const char *key, gint64 stamp)
{
    static GHashTable *last; // key -> stamp
    if (!last)
        last = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    const gint64 *written = g_hash_table_lookup(last, key);
    if (written && *written > stamp)
        return FALSE;
    g_hash_table_replace(last, g_strdup(key), g_memdup2(&stamp, sizeof stamp));
    return TRUE;
}

static gboolean write_file(const char *key, const char *text, GError **error)
{
    g_autofree char *dir = folder(), *path = path_of(key);
    if (g_mkdir_with_parents(dir, 0700) != 0) {
        int code = errno;
        g_set_error(error, G_IO_ERROR, g_io_error_from_errno(code),
                    _("the session was not saved: %s: %s"), dir, g_strerror(code));
        return FALSE;
    }
    if (!litho_output_save(path, text, -1, LITHO_REPLACE_ANY, error)) {
        g_prefix_error(error, _("the session was not saved: "));
        return FALSE;
    }
    prune(key);
    return TRUE;
}

gboolean litho_state_write(const char *key, const char *text, gint64 stamp, GError **error)
{
    static GMutex lock;
    g_mutex_lock(&lock);
    gboolean ok = !is_newest(key, stamp) || write_file(key, text, error);
    g_mutex_unlock(&lock);
    return ok;
}

// --- reading one back ----------------------------------------------------------------------------

typedef enum { NUMBER, TEXT, OBJECT, LIST } Kind;

typedef struct Member {
    const char *object, *key; // object NULL = the root
    Kind kind;
} Member;

// Every member that the window reads, where it is there. Members of other versions pass.
static const Member members[] = {
    {NULL, "saved", NUMBER},        {NULL, "name", TEXT},
    {NULL, "paths", LIST},          {NULL, "open", OBJECT},
    {NULL, "recipe", OBJECT},       {NULL, "selected", NUMBER},
    {NULL, "show", TEXT},           {NULL, "look", OBJECT},
    {NULL, "views", OBJECT},        {NULL, "snapshots", LIST},
    {NULL, "past", LIST},           {NULL, "future", LIST},
    {"look", "colours", TEXT},      {"look", "colours_unsigned", TEXT},
    {"look", "gain", NUMBER},       {"look", "removed_gain", NUMBER},
    {"look", "split", NUMBER},      {"look", "wiggle", NUMBER},
    {"look", "clip", NUMBER},       {"look", "time_power", NUMBER},
    {"look", "agc", NUMBER},        {"look", "no_density", NUMBER},
    {"look", "range", LIST},        {"look", "result_range", LIST},
    {"views", "maximised", NUMBER},
};

static gboolean is_of_kind(JsonNode *node, Kind kind)
{
    double value;
    switch (kind) {
    case NUMBER:
        return litho_json_node_number(node, &value);
    case TEXT:
        return litho_json_node_string(node) != NULL;
    case OBJECT:
        return litho_json_node_object(node) != NULL;
    default:
        return litho_json_node_array(node) != NULL;
    }
}

static gboolean check_members(JsonObject *root, GError **error)
{
    const char *const kinds[] = {_("a number"), _("a text"), _("an object"), _("a list")};
    for (guint k = 0; k < G_N_ELEMENTS(members); k++) {
        const Member *m = &members[k];
        JsonObject *object = m->object ? litho_json_object_or_null(root, m->object) : root;
        JsonNode *node = object ? json_object_get_member(object, m->key) : NULL;
        if (node && !is_of_kind(node, m->kind))
            return litho_refuse(error, LITHO_ERROR_FORMAT, "%s%s%s must be %s",
                                m->object ? m->object : "", m->object ? "." : "", m->key,
                                kinds[m->kind]);
    }
    return TRUE;
}

static gboolean check_session(JsonNode *node, GError **error)
{
    JsonObject *root = litho_json_node_object(node);
    const double version = root ? litho_json_number_or(root, "lithoscope-session", 0) : 0;
    if (version > 1)
        return litho_refuse(error, LITHO_ERROR_FORMAT,
                            "a newer version of the program wrote it, in form %g; form 1 is read",
                            version);
    if (version != 1)
        return litho_refuse(error, LITHO_ERROR_FORMAT, "it is no session of this program");
    g_autoptr(LithoFlow) flow = NULL;
    return check_members(root, error) &&
           (flow = litho_flow_from_json(json_object_get_member(root, "recipe"), error));
}

char *litho_state_set_aside(const char *path)
{
    enum { MOST_ASIDE = 100 };
    g_autofree char *aside = g_strconcat(path, ".damaged", NULL);
    for (int k = 2; g_file_test(aside, G_FILE_TEST_EXISTS) && k <= MOST_ASIDE; k++) {
        g_free(aside);
        aside = g_strdup_printf("%s.damaged-%d", path, k);
    }
    if (g_file_test(aside, G_FILE_TEST_EXISTS))
        return NULL;
    return g_rename(path, aside) == 0 ? g_steal_pointer(&aside) : NULL;
}

// A session that cannot be used is renamed: it neither comes back at each start nor is written
// over.
static void set_aside(const char *path, const char *why, GError **error)
{
    g_autofree char *aside = litho_state_set_aside(path);
    const gboolean renamed = aside != NULL;
    if (g_str_has_prefix(why, path) && g_str_has_prefix(why + strlen(path), ": "))
        why += strlen(path) + 2; // the sentence has a name already
    litho_refuse(error, LITHO_ERROR_FORMAT,
                 "the session saved in %s cannot be read (%s) and was %s", renamed ? aside : path,
                 why, renamed ? "set aside under this name" : "left aside");
}

JsonNode *litho_state_read(const char *key, GError **error)
{
    g_autofree char *path = path_of(key);
    g_autoptr(GError) trouble = NULL;
    if (!g_file_test(path, G_FILE_TEST_EXISTS))
        return NULL;
    JsonNode *root = litho_json_load(path, &trouble);
    if (root && check_session(root, &trouble))
        return root;
    g_clear_pointer(&root, json_node_unref);
    set_aside(path, trouble->message, error);
    return NULL;
}
