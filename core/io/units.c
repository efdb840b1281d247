// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/units.h"

#include <string.h>

typedef struct Unit {
    const char *word;
    double factor;
    gboolean is_length;
} Unit;

static const Unit whole[] = {
    {"s", 1, FALSE},
    {"sec", 1, FALSE},
    {"secs", 1, FALSE},
    {"ms", 1e-3, FALSE},
    {"us", 1e-6, FALSE},
    {"usec", 1e-6, FALSE},
    {"\xc2\xb5s", 1e-6, FALSE}, // the micro sign
    {"\xce\xbcs", 1e-6, FALSE}, // the Greek letter
    {"ns", 1e-9, FALSE},
    {"m", 1, TRUE},
    {"km", 1e3, TRUE},
    {"cm", 0.01, TRUE},
    {"mm", 1e-3, TRUE},
    {"ft", LITHO_FOOT, TRUE},
    {"kft", 1e3 * LITHO_FOOT, TRUE},
};

static const Unit begun[] = {
    {"second", 1, FALSE},
    {"millis", 1e-3, FALSE},
    {"msec", 1e-3, FALSE},
    {"microsec", 1e-6, FALSE},
    {"nanosec", 1e-9, FALSE},
    {"meter", 1, TRUE},
    {"metre", 1, TRUE},
    {"kilomet", 1e3, TRUE},
    {"centimet", 0.01, TRUE},
    {"millimet", 1e-3, TRUE},
    {"foot", LITHO_FOOT, TRUE},
    {"feet", LITHO_FOOT, TRUE},
    {"kilof", 1e3 * LITHO_FOOT, TRUE},
};

double litho_file_unit(const char *unit, gboolean *is_length)
{
    const Unit *found = NULL;
    for (guint k = 0; unit && k < G_N_ELEMENTS(whole) && !found; k++)
        if (g_ascii_strcasecmp(unit, whole[k].word) == 0)
            found = &whole[k];
    for (guint k = 0; unit && k < G_N_ELEMENTS(begun) && !found; k++)
        if (g_ascii_strncasecmp(unit, begun[k].word, strlen(begun[k].word)) == 0)
            found = &begun[k];
    if (!found)
        return 0;
    *is_length = found->is_length;
    return found->factor;
}
