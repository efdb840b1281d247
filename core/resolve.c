// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/resolve.h"

#include "core/error.h"
#include "core/operator.h"
#include "core/stamp.h"

// Time that a thread waiting for another's reading sleeps before it asks whether it is cancelled.
enum { WAIT_MS = 20 };

typedef struct File {
    char *path;
    LithoStamp stamp;
} File;

struct LithoResolved {
    gint refs;     // guarded by `lock`, like the table
    char *key;     // in the table; NULL before
    GArray *files; // of File
    gpointer data;
    GDestroyNotify destroy;
    guint64 bytes;
};

// An answer known under one key. An entry lives while it is read or its answer is alive.
typedef struct Entry {
    LithoResolved *resolved; // not a reference: unref takes it out
    gboolean reading;        // by one thread; others wait for `changed`
} Entry;

static GMutex lock;
static GCond changed;
static GHashTable *table;                           // key -> Entry
static GQueue kept = G_QUEUE_INIT;                  // references, newest first
static guint64 limit = G_GUINT64_CONSTANT(1) << 30; // bytes of `kept` without the first

// --- one answer -------------------------------------------------------------------------------

static void file_clear(gpointer data)
{
    g_free(((File *)data)->path);
}

LithoResolved *litho_resolved_new(void)
{
    LithoResolved *r = g_new0(LithoResolved, 1);
    r->refs = 1;
    r->files = g_array_new(FALSE, FALSE, sizeof(File));
    g_array_set_clear_func(r->files, file_clear);
    return r;
}

gboolean litho_resolved_add_file(LithoResolved *r, const char *path, GError **error)
{
    File file;
    if (!litho_stamp_take(path, &file.stamp, error))
        return FALSE;
    file.path = g_strdup(path);
    g_array_append_val(r->files, file);
    return TRUE;
}

char **litho_resolved_files(const LithoResolved *r)
{
    char **paths = g_new0(char *, r->files->len + 1);
    for (guint k = 0; k < r->files->len; k++)
        paths[k] = g_strdup(g_array_index(r->files, File, k).path);
    return paths;
}

void litho_resolved_set(LithoResolved *r, gpointer data, GDestroyNotify destroy, guint64 bytes)
{
    r->data = data;
    r->destroy = destroy;
    r->bytes = bytes;
}

gpointer litho_resolved_data(const LithoResolved *r)
{
    return r ? r->data : NULL;
}

static gboolean is_unchanged(const LithoResolved *r)
{
    for (guint k = 0; k < r->files->len; k++) {
        const File *file = &g_array_index(r->files, File, k);
        LithoStamp now;
        if (!litho_stamp_take(file->path, &now, NULL) || !litho_stamp_equal(&now, &file->stamp))
            return FALSE;
    }
    return TRUE;
}

LithoResolved *litho_resolved_ref(LithoResolved *r)
{
    g_mutex_lock(&lock);
    r->refs++;
    g_mutex_unlock(&lock);
    return r;
}

// Lock held. The entry goes with its answer, unless somebody is reading a new one.
static void forget(LithoResolved *r)
{
    Entry *entry = r->key ? g_hash_table_lookup(table, r->key) : NULL;
    if (!entry || entry->resolved != r)
        return;
    entry->resolved = NULL;
    if (!entry->reading)
        g_hash_table_remove(table, r->key);
}

void litho_resolved_unref(LithoResolved *r)
{
    if (!r)
        return;
    g_mutex_lock(&lock);
    const gboolean last = --r->refs == 0;
    if (last)
        forget(r);
    g_mutex_unlock(&lock);
    if (!last)
        return;
    if (r->destroy)
        r->destroy(r->data);
    g_array_unref(r->files);
    g_free(r->key);
    g_free(r);
}

// --- what is kept -----------------------------------------------------------------------------

// Lock held. Moves `r` to the front of what is kept and gives what that pushes out, to be unreffed
// without the lock.
static GSList *keep(LithoResolved *r)
{
    GSList *out = NULL;
    guint64 bytes = 0;
    GList *link = g_queue_find(&kept, r);
    if (link) {
        g_queue_unlink(&kept, link);
        g_queue_push_head_link(&kept, link);
        return NULL;
    }
    r->refs++;
    g_queue_push_head(&kept, r);
    for (const GList *l = kept.head->next; l; l = l->next)
        bytes += ((LithoResolved *)l->data)->bytes;
    while (bytes > limit && kept.length > 1) {
        LithoResolved *oldest = g_queue_pop_tail(&kept);
        bytes -= oldest->bytes;
        out = g_slist_prepend(out, oldest);
    }
    return out;
}

static void unref_item(gpointer data)
{
    litho_resolved_unref(data);
}

void litho_resolve_keep(guint64 bytes)
{
    GSList *out = NULL;
    g_mutex_lock(&lock);
    limit = bytes;
    while (kept.length > 1)
        out = g_slist_prepend(out, g_queue_pop_tail(&kept));
    g_mutex_unlock(&lock);
    g_slist_free_full(out, unref_item);
}

// --- asking -----------------------------------------------------------------------------------

static char *key_of(const LithoOperator *op, const void *params)
{
    g_autofree char *text = op->resolve && op->resolve_key ? op->resolve_key(params) : NULL;
    return text ? g_strconcat(op->key, "\n", text, NULL) : NULL;
}

gboolean litho_resolve_is_needed(const LithoOperator *op, const void *params)
{
    g_autofree char *key = key_of(op, params);
    return key != NULL;
}

gboolean litho_resolve_is_same(const LithoOperator *op, const void *a, const void *b)
{
    g_autofree char *p = key_of(op, a), *q = key_of(op, b);
    return g_strcmp0(p, q) == 0;
}

// Lock held; made when there is none.
static Entry *entry_at(const char *key)
{
    if (!table)
        table = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    Entry *entry = g_hash_table_lookup(table, key);
    if (!entry) {
        entry = g_new0(Entry, 1);
        g_hash_table_insert(table, g_strdup(key), entry);
    }
    return entry;
}

LithoResolved *litho_resolve_known(const LithoOperator *op, const void *params)
{
    g_autofree char *key = key_of(op, params);
    if (!key)
        return NULL;
    g_mutex_lock(&lock);
    const Entry *entry = table ? g_hash_table_lookup(table, key) : NULL;
    LithoResolved *known = entry ? entry->resolved : NULL;
    if (known)
        known->refs++;
    g_mutex_unlock(&lock);
    return known;
}

// Lock held on call and return. TRUE: this thread is to read, `*known` (a new reference) is what
// was known before, or NULL. FALSE: cancelled.
static gboolean take_turn(const char *key, LithoRun *run, LithoResolved **known, GError **error)
{
    Entry *entry = entry_at(key);
    while (entry->reading) {
        g_cond_wait_until(&changed, &lock, g_get_monotonic_time() + 1000 * WAIT_MS);
        g_mutex_unlock(&lock);
        const gboolean go_on = litho_run_step(run, 0, 1, error);
        g_mutex_lock(&lock);
        if (!go_on)
            return FALSE;
        entry = entry_at(key);
    }
    entry->reading = TRUE;
    *known = entry->resolved;
    if (*known)
        (*known)->refs++;
    return TRUE;
}

// Lock held. Ends this thread's turn with `r`; NULL: it was cancelled, and the answer known before
// stays, or the files can no longer be read, and it is forgotten.
static GSList *end_turn(const char *key, LithoResolved *r, gboolean cancelled)
{
    Entry *entry = entry_at(key);
    GSList *out = NULL;
    entry->reading = FALSE;
    if (r) {
        if (!r->key)
            r->key = g_strdup(key);
        entry->resolved = r;
        out = keep(r);
    } else if (!cancelled) {
        entry->resolved = NULL;
    }
    if (!entry->resolved)
        g_hash_table_remove(table, key);
    g_cond_broadcast(&changed);
    return out;
}

gboolean litho_resolve(const LithoOperator *op, const void *params, LithoRun *run,
                       LithoResolved **resolved, GError **error)
{
    g_autofree char *key = key_of(op, params);
    g_autoptr(LithoResolved) known = NULL;
    *resolved = NULL;
    if (!key)
        return TRUE;
    g_mutex_lock(&lock);
    const gboolean turn = take_turn(key, run, &known, error);
    g_mutex_unlock(&lock);
    if (!turn)
        return FALSE;
    GError *inner = NULL;
    LithoResolved *answer =
        known && is_unchanged(known) ? g_steal_pointer(&known) : op->resolve(params, run, &inner);
    g_mutex_lock(&lock);
    GSList *out = end_turn(key, answer, litho_error_is_cancelled(inner));
    g_mutex_unlock(&lock);
    g_slist_free_full(out, unref_item);
    if (inner)
        g_propagate_error(error, inner);
    *resolved = answer;
    return answer != NULL;
}
