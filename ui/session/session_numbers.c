// SPDX-License-Identifier: GPL-3.0-or-later
//
// The session's side of numbers and ranges: which of them belong to the pictures on screen.
#include "ui/session/session_private.h"

#include <math.h>

// A result of another shape has amplitudes of its own.
int litho_session_numbers_shown(LithoSession *self)
{
    gboolean output = litho_session_shown(self) != LITHO_SHOW_INPUT;
    return output && !litho_session_comparable(self) ? LITHO_NUMBERS_OUT : LITHO_NUMBERS_IN;
}

const LithoCubeNumbers *litho_session_numbers(LithoSession *self, int which)
{
    // While a file is being opened the numbers are of the file before.
    return self->preview ? NULL : litho_numbers_get(self->numbers, which);
}

void litho_session_auto_clip(LithoSession *self)
{
    int which = litho_session_numbers_shown(self);
    const LithoCubeNumbers *numbers = litho_numbers_get(self->numbers, which);
    if (litho_ranges_follow(self->ranges, which, numbers, &self->display.look))
        litho_session_emit(self, SIGNAL_DISPLAY);
}

// The histogram follows what the sections show of a result.
void litho_session_numbers_glance(LithoSession *self)
{
    const LithoGrid *grid = litho_flow_check_out(self->check);
    LithoCube *part[3];
    for (int a = 0; a < 3; a++)
        part[a] =
            self->display.slice[a] < grid->axis[a].n
                ? litho_session_holding(self, litho_box_slice(grid, a, self->display.slice[a]))
                : NULL;
    if (part[0] || part[1] || part[2])
        litho_numbers_glance(self->numbers, part, self->display.slice);
}

// --- numbers ------------------------------------------------------------------------------------

static void arrived(int which, gpointer owner)
{
    (void)which;
    litho_session_auto_clip(owner);
    litho_session_emit(owner, SIGNAL_STATS);
}

static void found(int which, const LithoRange *range, gpointer owner)
{
    if (which == litho_session_numbers_shown(owner))
        litho_session_set_range(owner, range->lo, range->hi);
}

void litho_session_numbers_init(LithoSession *self)
{
    static const LithoNumbersFuncs funcs = {arrived, found};
    self->ranges = litho_ranges_new();
    self->numbers = litho_numbers_new(&funcs, self);
}

void litho_session_numbers_want(LithoSession *self, int which, LithoCube *cube)
{
    LithoCube *from = which == LITHO_NUMBERS_OUT && self->input &&
                              litho_grid_matches(&self->input->grid, &cube->grid)
                          ? self->input
                          : NULL;
    litho_numbers_want(self->numbers, which, cube, from);
}

gboolean litho_session_set_clip_percent(LithoSession *self, double percent)
{
    int which = litho_session_numbers_shown(self);
    LithoCube *cube = which == LITHO_NUMBERS_IN ? self->input : litho_session_output(self);
    return cube && litho_numbers_find_range(self->numbers, which, cube, percent);
}

double litho_session_clip_percent(LithoSession *self)
{
    const LithoCubeNumbers *numbers =
        litho_numbers_get(self->numbers, litho_session_numbers_shown(self));
    return litho_ranges_inside(numbers, &self->display.look);
}

// --- ranges -------------------------------------------------------------------------------------

static const LithoRange *shown_range(LithoSession *self)
{
    return litho_ranges_get(self->ranges, self->preview ? LITHO_RANGE_PREVIEW
                                                        : litho_session_numbers_shown(self));
}

gboolean litho_session_is_unsigned(LithoSession *self)
{
    return shown_range(self)->is_unsigned;
}

const char *litho_session_unit(LithoSession *self)
{
    return shown_range(self)->unit;
}

double litho_session_clip(LithoSession *self)
{
    return self->display.look.hi;
}

gboolean litho_session_clip_is_automatic(LithoSession *self)
{
    return !litho_ranges_is_set(self->ranges, litho_session_numbers_shown(self));
}

gboolean litho_session_range_set(LithoSession *self, int which, double range[2])
{
    const LithoRange *own = litho_ranges_get(self->ranges, which);
    range[0] = own->lo;
    range[1] = own->hi;
    return litho_ranges_is_set(self->ranges, which);
}

gboolean litho_session_shows_own_range(LithoSession *self)
{
    return litho_session_numbers_shown(self) == LITHO_NUMBERS_OUT;
}

void litho_session_set_range(LithoSession *self, double lo, double hi)
{
    LithoLook *look = &self->display.look;
    if (!(hi > lo) || !isfinite(lo) || !isfinite(hi) || (lo == look->lo && hi == look->hi))
        return;
    litho_ranges_set(self->ranges, litho_session_numbers_shown(self), lo, hi, look);
    litho_session_emit(self, SIGNAL_DISPLAY);
}

void litho_session_set_clip(LithoSession *self, double clip)
{
    litho_session_set_range(self, -clip, clip);
}

void litho_session_scale_clip(LithoSession *self, double factor)
{
    const LithoLook *look = &self->display.look;
    double middle = (look->lo + look->hi) / 2, half = (look->hi - look->lo) / 2 * factor;
    if (!litho_session_is_unsigned(self))
        litho_session_set_clip(self, look->hi * factor);
    else
        litho_session_set_range(self, MAX(middle - half, 0), middle + half);
}

const LithoColormap *litho_session_colours(LithoSession *self, gboolean of_unsigned)
{
    return litho_ranges_colours(self->ranges, of_unsigned);
}

void litho_session_set_colours(LithoSession *self, gboolean of_unsigned, const LithoColormap *map)
{
    litho_ranges_set_colours(self->ranges, of_unsigned, map);
    if (litho_session_is_unsigned(self) == of_unsigned && self->display.look.map != map) {
        self->display.look.map = map;
        litho_session_emit(self, SIGNAL_DISPLAY);
    }
}
