// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/state_store.h"

#include <glib/gstdio.h>
#include <string.h>

#include "core/error.h"

enum { KEEP = 100, LARGEST_BYTES = 16 << 20 };

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
    g_autofree char *all = g_strjoinv("\n", (char **)paths);
    return g_compute_checksum_for_string(G_CHECKSUM_SHA256, all, -1);
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

static void prune(void)
{
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
                    "the session was not saved: %s: %s", dir, g_strerror(code));
        return FALSE;
    }
    if (!g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, error)) {
        g_prefix_error(error, "the session was not saved: ");
        return FALSE;
    }
    prune();
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

static JsonNode *refuse(const char *path, const char *why, GError **error)
{
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                "the session saved in %s cannot be read (%s) and was left aside", path, why);
    return NULL;
}

JsonNode *litho_state_read(const char *key, GError **error)
{
    g_autofree char *path = path_of(key), *text = NULL;
    g_autoptr(GError) trouble = NULL;
    GStatBuf info;
    if (g_stat(path, &info) != 0)
        return NULL;
    if (info.st_size > LARGEST_BYTES)
        return refuse(path, "it is far too large", error);
    gsize length;
    if (!g_file_get_contents(path, &text, &length, &trouble))
        return refuse(path, trouble->message, error);
    g_autoptr(JsonParser) parser = json_parser_new();
    if (strlen(text) != length || !g_utf8_validate(text, -1, NULL))
        return refuse(path, "it is no text", error);
    if (!json_parser_load_from_data(parser, text, -1, &trouble))
        return refuse(path, trouble->message, error);
    JsonNode *root = json_parser_get_root(parser);
    if (!root || !JSON_NODE_HOLDS_OBJECT(root) ||
        json_object_get_int_member_with_default(json_node_get_object(root), "lithoscope-session",
                                                0) != 1)
        return refuse(path, "it is no session of this program", error);
    return json_parser_steal_root(parser);
}
