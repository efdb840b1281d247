// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <glib.h>

// The end of a loop that several threads share: the first failure, or a caller who cancels, ends it
// for all of them. Every function but litho_team_end() may be called by any of the threads.
typedef struct LithoTeam {
    GError *failure; // of the thread that failed first
    gint64 next;     // item that nobody has taken
    int stopped;
} LithoTeam;

#define LITHO_TEAM_START                                                                           \
    {                                                                                              \
        NULL, 0, 0                                                                                 \
    }

// The next `step` of n items for the thread that asks: *from is the first of them. FALSE: no item
// is left, or the team was stopped.
gboolean litho_team_take(LithoTeam *team, gint64 step, gint64 n, gint64 *from);
// No thread takes a further item.
void litho_team_stop(LithoTeam *team);
// Stops the team; takes `failure`, which may be NULL: then nothing happens.
void litho_team_fail(LithoTeam *team, GError *failure);
// After the threads have met: FALSE with the first failure, or G_IO_ERROR_CANCELLED where the team
// was stopped without one.
gboolean litho_team_end(LithoTeam *team, GError **error);
