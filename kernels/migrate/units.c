// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/units.h"

#include "core/text.h"

gboolean litho_velocity_is_possible(double v)
{
    return v >= 10 && v <= 100000;
}

// From slow sediment to the fastest rock. A model without any rock slower than 4800 m/s is rare,
// and 4921 ft/s are water.
static gboolean are_rock(double low, double high)
{
    return low >= 300 && high <= 9000 && !(low > 4800 && high > 7000);
}

const char *litho_velocity_likely_unit(double low, double high, double *size)
{
    static const struct {
        const char *unit;
        double size;
    } known[] = {{"km/s", 1000}, {"ft/s", 0.3048}, {"kft/s", 304.8}};
    if (are_rock(low, high))
        return NULL;
    for (guint k = 0; k < G_N_ELEMENTS(known); k++)
        if (are_rock(low * known[k].size, high * known[k].size)) {
            *size = known[k].size;
            return known[k].unit;
        }
    return NULL;
}

void litho_velocity_add_likely(GError **error, double v)
{
    double size = 1;
    const char *unit = litho_velocity_likely_unit(v, v, &size);
    if (!error || !*error || !unit)
        return;
    g_autofree char *told = g_steal_pointer(&(*error)->message);
    (*error)->message =
        litho_text_printf(_("%s; it looks like %s, %.4g m/s"), told, unit, v * size);
}
