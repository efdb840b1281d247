// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <json-glib/json-glib.h>

// Where sessions are kept: one JSON file for each file (or set of files) that was worked on, in the
// user's state folder (XDG_STATE_HOME/lithoscope/sessions). Written to a temporary name and
// renamed, so that a crash leaves the former one. The functions read and write files: any thread.

// Name of the session of `paths` (absolute); NULL = of the demo cube. g_free().
char *litho_state_key(const char *const *paths);
// Writes `text`, made at `stamp` (monotonic time), unless a later one has been written already: a
// thread may come late. The session is the newest one then, whatever the clock says. Forgets the
// oldest sessions beyond a hundred.
gboolean litho_state_write(const char *key, const char *text, gint64 stamp, GError **error);
// NULL without an error = there is none. A file that is no session, whose recipe cannot be used or
// that has a member of another type gives LITHO_ERROR_FORMAT with a sentence and is renamed to
// KEY.json.damaged, or .damaged-2 and so on: it neither comes back at each start nor is written
// over. json_node_unref().
JsonNode *litho_state_read(const char *key, GError **error);
// Key of the session written last, NULL = none. g_free().
char *litho_state_newest(void);
void litho_state_remove(const char *key);
// Renames a file that cannot be used to the first free one of PATH.damaged, PATH.damaged-2, ...;
// the name, g_free(), or NULL where that fails.
char *litho_state_set_aside(const char *path);
