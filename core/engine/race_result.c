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
    g_autofree char *size = size_text(race);
    g_autofree char *apart =
        isnan(two[1]->difference) ? g_strdup("")
        : two[1]->difference == 0
            ? g_strdup(_("the results are equal; "))
            : litho_text_printf(_("the results differ by %.1e of their norm; "),
                                two[1]->difference);
    const gboolean copies =
        two[0]->device.backend != litho_backend_cpu() ||
                            two[1]->device.backend != litho_backend_cpu();
    return g_strdup_printf(copies
                               ? _("%s is faster; %s%s, copies to and from the device included, %s")
                               : _("%s is faster; %s%s, %s"),
                           fast->label, apart, size,
                           fast->runs > 1 ? _("median of three runs") : _("one run"));
}
