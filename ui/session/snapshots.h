// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <json-glib/json-glib.h>
#include "ui/session/session.h"

// Flows worth keeping beside the present one: A, B, C, ..., each with a name and, while memory
// allows, with its result, so that going back to it or comparing with it computes nothing. They are
// saved with the session without their results. Main thread.
//
// Signal "changed": another list, another name, a result arrived, or another one is compared with.
// Signal "progress": the one that is being computed has come further.
#define LITHO_TYPE_SNAPSHOTS (litho_snapshots_get_type())
G_DECLARE_FINAL_TYPE(LithoSnapshots, litho_snapshots, LITHO, SNAPSHOTS, GObject)

enum { LITHO_SNAPSHOTS_MAX = 26 };

typedef struct LithoSnapshot {
    char letter; // 'A'..'Z', never given twice at a time
    char *name;  // the user's, or what differs: of several steps from the one before, else from the
                 // defaults
    LithoFlow *flow;
    LithoResult *result; // whole, of the present input; or NULL
} LithoSnapshot;

// Follows `session`, which it references.
LithoSnapshots *litho_snapshots_new(LithoSession *session);
guint litho_snapshots_count(LithoSnapshots *snapshots);
const LithoSnapshot *litho_snapshots_get(LithoSnapshots *snapshots, guint k); // borrowed
// Keeps the flow as it stands; -1 when there is nothing to keep or the alphabet is used up. A flow
// that is kept already gives its index.
int litho_snapshots_take(LithoSnapshots *snapshots);
void litho_snapshots_remove(LithoSnapshots *snapshots, guint k);
void litho_snapshots_rename(LithoSnapshots *snapshots, guint k, const char *name);
// Its flow becomes the present one, as a step of the history.
void litho_snapshots_adopt(LithoSnapshots *snapshots, guint k);
// TRUE while there is a snapshot, or a flow that could become one.
gboolean litho_snapshots_useful(LithoSnapshots *snapshots);
// Index of the snapshot whose flow is the present one, -1 = none.
int litho_snapshots_present(LithoSnapshots *snapshots);
// The snapshot in the input's place in comparisons; -1 = the input. A snapshot without a result is
// computed first, in a thread; until then the input stays. Another choice ends that.
void litho_snapshots_compare(LithoSnapshots *snapshots, int k);
int litho_snapshots_compared(LithoSnapshots *snapshots);
// TRUE while litho_snapshots_compared() is being computed; `part` of it is done, NAN = not known.
gboolean litho_snapshots_is_computing(LithoSnapshots *snapshots, double *part);
// Another file: everything is forgotten.
void litho_snapshots_clear(LithoSnapshots *snapshots);
// [ { "letter", "name", "recipe" }, ... ]. Entries that make no sense are left out.
JsonArray *litho_snapshots_to_json(LithoSnapshots *snapshots);
void litho_snapshots_from_json(LithoSnapshots *snapshots, JsonArray *array);
