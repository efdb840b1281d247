// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <glib.h>

// A loop that several threads share.
//
// These threads sleep while they have nothing to do. Those of OpenMP spin for milliseconds after a
// loop, and where a slab is read while another one is written, computed and copied, that took half
// of the reader's time. OpenMP is for loops that compute.

// Takes items until none is left; `caller` is TRUE in the thread that called litho_team_run().
typedef void (*LithoTeamShare)(gpointer data, gboolean caller);

// `share` in this thread and beside it in at most threads - 1 others; returns when all that have
// begun are done. A thread that comes late, or cannot be made, is not waited for: a share must do
// nothing where no item is left.
void litho_team_run(int threads, LithoTeamShare share, gpointer data);

// The end of such a loop: the first failure, or a caller who cancels, ends it
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
