// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/flow.h"

// Undo and redo of a flow: whole copies, they are a few hundred bytes each. Main thread.
typedef struct LithoHistory LithoHistory;

LithoHistory *litho_history_new(void);
void litho_history_free(LithoHistory *history);

// Remembers `before`, the flow as it was, under the name of the change. Changes of one name that
// follow each other within 1.5 s (a drag) are one step. Forgets what could be redone.
void litho_history_push(LithoHistory *history, const LithoFlow *before, const char *name);
// While held, changes of one name are one step, however slowly they follow. Begins a step of its
// own, and so does the change behind the end.
void litho_history_hold(LithoHistory *history, gboolean held);
// The next change is a step of its own, however soon it comes.
void litho_history_seal(LithoHistory *history);
// The flow to go back (forward) to, owned by the caller, NULL when there is none; `now` is kept for
// the way back.
LithoFlow *litho_history_undo(LithoHistory *history, const LithoFlow *now);
LithoFlow *litho_history_redo(LithoHistory *history, const LithoFlow *now);
// How many steps can be undone (redone), and the name of step `k` of them, 0 = the next one.
guint litho_history_length(const LithoHistory *history, gboolean redo);
const char *litho_history_name(const LithoHistory *history, gboolean redo, guint k); // borrowed
// The flow that step `k` leads to when it is undone (redone). Borrowed until the history changes.
const LithoFlow *litho_history_flow(const LithoHistory *history, gboolean redo, guint k);
// [ { "name", "recipe" }, ... ] of what can be undone (redone), oldest first, the newest `most` at
// the most; and back, leaving out what makes no sense.
enum { LITHO_HISTORY_KEPT = 50 };
JsonArray *litho_history_to_json(const LithoHistory *history, gboolean redo, guint most);
void litho_history_from_json(LithoHistory *history, gboolean redo, JsonArray *array);
// Name of the change that undo (redo) would take back (repeat), NULL = none. Borrowed.
const char *litho_history_undo_name(const LithoHistory *history);
const char *litho_history_redo_name(const LithoHistory *history);
