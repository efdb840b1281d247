// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/ranges.h"

struct LithoRanges {
    LithoRange range[LITHO_N_RANGES];
    gboolean set[LITHO_N_RANGES];    // by somebody
    const LithoColormap *colours[2]; // of signed and of unsigned data
};

LithoRanges *litho_ranges_new(void)
{
    LithoRanges *ranges = g_new0(LithoRanges, 1);
    ranges->colours[FALSE] = litho_colormap_default();
    ranges->colours[TRUE] = litho_colormap_unsigned();
    return ranges;
}

void litho_ranges_free(LithoRanges *ranges)
{
    g_free(ranges);
}

const LithoRange *litho_ranges_get(const LithoRanges *ranges, int which)
{
    return &ranges->range[which];
}

void litho_ranges_begin(LithoRanges *ranges, int which, const LithoRange *range)
{
    ranges->range[which] = range ? *range : (LithoRange){0};
}

void litho_ranges_release(LithoRanges *ranges, int which)
{
    ranges->set[which] = FALSE;
}

void litho_ranges_set(LithoRanges *ranges, int which, double lo, double hi, LithoLook *look)
{
    look->lo = ranges->range[which].lo = lo;
    look->hi = ranges->range[which].hi = hi;
    ranges->set[which] = TRUE;
}

gboolean litho_ranges_is_set(const LithoRanges *ranges, int which)
{
    return ranges->set[which];
}

void litho_ranges_apply(const LithoRanges *ranges, const LithoRange *range, LithoLook *look)
{
    look->lo = range->lo;
    look->hi = range->hi;
    look->map = ranges->colours[range->is_unsigned];
}

gboolean litho_ranges_follow(LithoRanges *ranges, int which, const LithoCubeNumbers *numbers,
                             LithoLook *look)
{
    LithoRange *range = &ranges->range[which];
    if (numbers) {
        // A symmetric clip of data that turn out to have one sign is nobody's choice.
        if (!ranges->set[which] || (numbers->range.is_unsigned && range->lo < 0)) {
            *range = numbers->range;
            ranges->set[which] = FALSE;
        }
        range->is_unsigned = numbers->range.is_unsigned;
        range->unit = numbers->range.unit;
    }
    if (!(range->hi > range->lo))
        return FALSE;
    const LithoLook before = *look;
    litho_ranges_apply(ranges, range, look);
    return look->lo != before.lo || look->hi != before.hi || look->map != before.map;
}

double litho_ranges_inside(const LithoCubeNumbers *numbers, const LithoLook *look)
{
    if (!numbers || !(numbers->counted > 0))
        return -1;
    return 100 * litho_cube_numbers_share(numbers, look->lo, look->hi);
}

const LithoColormap *litho_ranges_colours(const LithoRanges *ranges, gboolean of_unsigned)
{
    return ranges->colours[of_unsigned];
}

void litho_ranges_set_colours(LithoRanges *ranges, gboolean of_unsigned, const LithoColormap *map)
{
    ranges->colours[of_unsigned] = map;
}
