// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/race_result.h"
#include "core/text.h"

#include <math.h>

gboolean litho_race_pair(const LithoRace *race, const LithoRaceLane *two[2])
{
    guint n = 0;
    for (guint k = 0; race && k < race->lanes->len && n < 2; k++) {
        const LithoRaceLane *lane = g_ptr_array_index(race->lanes, k);
        if (lane->ms > 0)
            two[n++] = lane;
    }
    return n == 2;
}

double litho_race_ratio(const LithoRace *race)
{
    const LithoRaceLane *two[2];
    if (!litho_race_pair(race, two))
        return NAN;
    return MAX(two[0]->ms, two[1]->ms) / MIN(two[0]->ms, two[1]->ms);
}

static char *size_text(const LithoRace *race)
{
    const LithoRaceLane *lane = g_ptr_array_index(race->lanes, 0);
    const LithoCube *cube = race->in ? race->in : lane->out;
    return cube ? g_strdup_printf(_("%" PRId64 " × %" PRId64 " × %" PRId64 " samples"),
                                  cube->grid.axis[0].n, cube->grid.axis[1].n, cube->grid.axis[2].n)
                : g_strdup("");
}

char *litho_race_sentence(const LithoRace *race)
{
    const LithoRaceLane *two[2];
    if (!litho_race_pair(race, two))
        return g_strdup(_("One lane ran: there is nothing to compare."));
    const LithoRaceLane *fast = two[0]->ms <= two[1]->ms ? two[0] : two[1];
    const double apart = two[1]->difference;
    const gboolean copies = two[0]->device.backend != litho_backend_cpu() ||
                            two[1]->device.backend != litho_backend_cpu();
    g_autofree char *size = size_text(race);
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(text, _("%s is faster"), fast->label);
    if (apart == 0)
        g_string_append_printf(text, "; %s", _("the results are equal"));
    else if (!isnan(apart)) {
        g_autofree char *differ =
            litho_text_printf(_("the results differ by %.1e of their norm"), apart);
        g_string_append_printf(text, "; %s", differ);
    }
    g_string_append_printf(text, "; %s", size);
    if (copies)
        g_string_append_printf(text, ", %s", _("copies to and from the device included"));
    g_string_append_printf(text, ", %s", fast->runs > 1 ? _("median of three runs") : _("one run"));
    return g_string_free(g_steal_pointer(&text), FALSE);
}
