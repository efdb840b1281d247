// SPDX-License-Identifier: GPL-3.0-or-later
#include <gio/gio.h>

#include "core/io/team.h"

gboolean litho_team_take(LithoTeam *team, gint64 step, gint64 n, gint64 *from)
{
    if (__atomic_load_n(&team->stopped, __ATOMIC_RELAXED))
        return FALSE;
    *from = __atomic_fetch_add(&team->next, step, __ATOMIC_RELAXED);
    return *from < n;
}

void litho_team_stop(LithoTeam *team)
{
    __atomic_store_n(&team->stopped, 1, __ATOMIC_RELAXED);
}

void litho_team_fail(LithoTeam *team, GError *failure)
{
    if (!failure)
        return;
    litho_team_stop(team);
    GError *none = NULL;
    if (!__atomic_compare_exchange_n(&team->failure, &none, failure, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        g_error_free(failure);
}

gboolean litho_team_end(LithoTeam *team, GError **error)
{
    if (team->failure) {
        g_propagate_error(error, g_steal_pointer(&team->failure));
        return FALSE;
    }
    // Asked once: a caller who has changed their mind since must not get half a result.
    if (team->stopped)
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "cancelled");
    return !team->stopped;
}
