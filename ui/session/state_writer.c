// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/state_writer.h"

#include "ui/session/newest.h"
#include "ui/session/state_store.h"

enum { SAVE_AFTER_MS = 1000 };

struct LithoStateWriter {
    const LithoStateWriterFuncs *funcs;
    gpointer owner;
    LithoNewest *newest;
    char *key;        // NULL = nothing is open
    gboolean dirty;   // changed since its text was taken
    gboolean writing; // in the thread
    gboolean failed;  // the last time
    guint timeout;
};

typedef struct Writing {
    char *key, *text;
    gint64 stamp;
} Writing;

static void writing_free(gpointer data)
{
    Writing *w = data;
    g_free(w->key);
    g_free(w->text);
    g_free(w);
}

// Not cancelled: a session that was begun to be written is written.
static gpointer write_text(LithoRun *run, gpointer data, GError **error)
{
    (void)run;
    const Writing *w = data;
    return litho_state_write(w->key, w->text, w->stamp, error) ? g_strdup(w->key) : NULL;
}

// A session that cannot be saved is told once, not once a second.
static void tell(LithoStateWriter *writer, const GError *error)
{
    if (error && !writer->failed)
        writer->funcs->failed(error, writer->owner);
    writer->failed = error != NULL;
}

static void written(gpointer answer, const GError *error, gpointer data, gpointer owner)
{
    LithoStateWriter *writer = owner;
    (void)data;
    g_free(answer);
    writer->writing = FALSE;
    tell(writer, error);
    if (writer->dirty)
        litho_state_writer_touched(writer);
}

static gboolean save_later(gpointer data)
{
    LithoStateWriter *writer = data;
    writer->timeout = 0;
    if (!writer->key || writer->writing || !writer->funcs->is_open(writer->owner))
        return G_SOURCE_REMOVE;
    Writing *w = g_new0(Writing, 1);
    *w = (Writing){g_strdup(writer->key), writer->funcs->text(writer->owner),
                   g_get_monotonic_time()};
    writer->dirty = FALSE;
    writer->writing = TRUE;
    litho_newest_ask(writer->newest, w);
    return G_SOURCE_REMOVE;
}

void litho_state_writer_touched(LithoStateWriter *writer)
{
    writer->dirty = writer->key != NULL;
    if (writer->dirty && !writer->timeout && !writer->writing)
        writer->timeout = g_timeout_add(SAVE_AFTER_MS, save_later, writer);
}

void litho_state_writer_flush(LithoStateWriter *writer)
{
    g_autoptr(GError) error = NULL;
    g_clear_handle_id(&writer->timeout, g_source_remove);
    if (!writer->key || !writer->dirty)
        return;
    g_autofree char *text = writer->funcs->text(writer->owner);
    if (litho_state_write(writer->key, text, g_get_monotonic_time(), &error))
        writer->dirty = FALSE;
    else // a window that closes shows it no more
        g_warning("%s", error->message);
    tell(writer, error);
    if (writer->dirty)
        litho_state_writer_touched(writer);
}

void litho_state_writer_set_key(LithoStateWriter *writer, const char *key)
{
    char *copy = g_strdup(key);
    g_free(writer->key);
    writer->key = copy;
}

gboolean litho_state_writer_is_dirty(const LithoStateWriter *writer)
{
    return writer->dirty;
}

gboolean litho_state_writer_is_settled(const LithoStateWriter *writer)
{
    return !writer->dirty && !writer->writing;
}

LithoStateWriter *litho_state_writer_new(const LithoStateWriterFuncs *funcs, gpointer owner)
{
    static const LithoNewestFuncs newest = {write_text, written, writing_free, g_free};
    LithoStateWriter *writer = g_new0(LithoStateWriter, 1);
    writer->funcs = funcs;
    writer->owner = owner;
    writer->newest = litho_newest_new(&newest, writer);
    return writer;
}

void litho_state_writer_free(LithoStateWriter *writer)
{
    if (!writer)
        return;
    g_clear_handle_id(&writer->timeout, g_source_remove);
    litho_newest_free(writer->newest);
    g_free(writer->key);
    g_free(writer);
}
