// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Writes the session of what is open (ui/session/state_store.h) a second after it changed, in a
// thread, and at once on leaving: neither a crash nor closing loses anything. Main thread only.
typedef struct LithoStateWriter LithoStateWriter;

typedef struct LithoStateWriterFuncs {
    char *(*text)(gpointer owner);       // the session as it stands; g_free()
    gboolean (*is_open)(gpointer owner); // FALSE: nothing is settled, to be written after a change
    void (*failed)(const GError *error, gpointer owner); // once, until writing has worked again
} LithoStateWriterFuncs;

// `funcs` must outlive it; `owner` is handed to its functions.
LithoStateWriter *litho_state_writer_new(const LithoStateWriterFuncs *funcs, gpointer owner);
// No call follows; a write under way is finished. NULL is fine.
void litho_state_writer_free(LithoStateWriter *writer);
// Name of the session from litho_state_key(); NULL = nothing is open. Copied.
void litho_state_writer_set_key(LithoStateWriter *writer, const char *key);
void litho_state_writer_touched(LithoStateWriter *writer); // the session changed
// Writes now, without a thread. What cannot be written is told, stays dirty and is tried again.
void litho_state_writer_flush(LithoStateWriter *writer);
gboolean
litho_state_writer_is_dirty(const LithoStateWriter *writer); // changed since it was written
gboolean litho_state_writer_is_settled(const LithoStateWriter *writer); // all of it is on disk
