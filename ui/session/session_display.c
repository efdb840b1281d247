// SPDX-License-Identifier: GPL-3.0-or-later
//
// How the data are looked at: slices, cursor, visible window. Clip and colours: session_numbers.c.
#include "core/text.h"
#include "ui/session/session_private.h"

#include <string.h>

const char *const litho_show_keys[5] = {"input", "output", "removed", "split", "side"};

void litho_session_display_init(LithoSession *self)
{
    self->display.show = LITHO_SHOW_OUTPUT;
    self->display.look = litho_look_default();
    self->display.look.grid_lines = TRUE;
    self->display.decibels = 60;
}

const LithoDisplay *litho_session_display(LithoSession *self)
{
    return &self->display;
}

void litho_session_show(LithoSession *self, LithoShow show)
{
    if (self->display.show == show)
        return;
    self->display.show = show;
    litho_session_update_grid(self);
    litho_session_emit(self, SIGNAL_DISPLAY);
}

LithoShow litho_session_shown(LithoSession *self)
{
    const LithoDisplay *d = &self->display;
    if (self->preview)
        return LITHO_SHOW_INPUT;
    // Until the first result is there the input is better than an empty view.
    gboolean output = litho_session_result(self) != NULL;
    if (litho_session_against(self) && (d->hold_input || !output))
        return LITHO_SHOW_INPUT;
    if (d->show == LITHO_SHOW_SIDE && litho_session_side_by_side(self))
        return d->show;
    if (d->show != LITHO_SHOW_OUTPUT && !litho_session_comparable(self))
        return d->show == LITHO_SHOW_INPUT && litho_session_against(self) ? LITHO_SHOW_INPUT
                                                                          : LITHO_SHOW_OUTPUT;
    return d->show;
}

void litho_session_hold_input(LithoSession *self, gboolean hold)
{
    if (self->display.hold_input == hold)
        return;
    self->display.hold_input = hold;
    litho_session_update_grid(self);
    litho_session_emit(self, SIGNAL_DISPLAY);
}

char *litho_volume_title(const char *name)
{
    return litho_text_begin(litho_text(name));
}

// The label of what is shown as though the newest wish had its result.
static char *plain_label(LithoSession *self, LithoShow show)
{
    const char *name = self->preview ? NULL : self->reference_name;
    if (show == LITHO_SHOW_SPLIT)
        return g_strdup_printf(_("%s | Output"), name ? name : _("Input"));
    if (name && show == LITHO_SHOW_INPUT)
        return g_strdup(name);
    if (name && show == LITHO_SHOW_REMOVED)
        return g_strdup_printf(_("Output − %s"), name);
    const char *volume = self->preview ? NULL : litho_session_volume(self);
    if (volume && show == LITHO_SHOW_OUTPUT && // once it is on the screen
        litho_results_is_own(self->results, litho_session_result(self)))
        return litho_volume_title(volume);
    return g_strdup(litho_show_name(show));
}

char *litho_session_show_label(LithoSession *self, LithoShow show)
{
    g_autofree char *label = plain_label(self, show);
    if (show == LITHO_SHOW_INPUT || !litho_session_shows_earlier(self))
        return g_steal_pointer(&label);
    // TRANSLATORS: what a view shows ("Output") while the flow as it stands has no result.
    return g_strdup_printf(_("%s before the change"), label);
}

void litho_session_set_units(LithoSession *self, LithoUnits units)
{
    if (self->display.units == units)
        return;
    self->display.units = units;
    litho_session_emit(self, SIGNAL_DISPLAY);
}

void litho_session_set_decibels(LithoSession *self, int decibels)
{
    if (self->display.decibels == decibels)
        return;
    self->display.decibels = decibels;
    litho_session_emit(self, SIGNAL_DISPLAY);
}

void litho_session_set_look(LithoSession *self, const LithoLook *look)
{
    LithoLook old = self->display.look;
    self->display.look = *look;
    self->display.look.reversed = old.reversed;
    if (look->map && look->map != old.map) // a choice for all data of that kind
        litho_ranges_set_colours(self->ranges, litho_session_is_unsigned(self), look->map);
    if (look->lo != old.lo || look->hi != old.hi) {
        self->display.look.lo = old.lo;
        self->display.look.hi = old.hi;
        litho_session_set_range(self, look->lo, look->hi);
    }
    litho_session_emit(self, SIGNAL_DISPLAY);
}

void litho_session_set_slice(LithoSession *self, int axis, gint64 index)
{
    const LithoGrid *grid = litho_session_grid(self);
    if (!grid)
        return;
    index = CLAMP(index, 0, grid->axis[axis].n - 1);
    if (index == self->display.slice[axis])
        return;
    self->display.slice[axis] = index;
    if (axis == litho_area_tool_area(self->area)->axis)
        litho_session_area_look(self);
    litho_session_emit(self, SIGNAL_SLICES);
    litho_session_slices_moved(self);
}

LithoSliceView litho_session_slice_view(LithoSession *self, int axis)
{
    static const LithoGrid none = {0};
    const LithoGrid *grid = litho_session_grid(self);
    LithoSliceView view = litho_slice_view(grid ? grid : &none, axis, self->display.slice[axis]);
    memcpy(view.lo, self->display.lo, sizeof view.lo);
    memcpy(view.hi, self->display.hi, sizeof view.hi);
    return view;
}

void litho_session_set_window(LithoSession *self, const double lo[3], const double hi[3])
{
    LithoDisplay *d = &self->display;
    if (!litho_session_grid(self) ||
        (memcmp(lo, d->lo, sizeof d->lo) == 0 && memcmp(hi, d->hi, sizeof d->hi) == 0))
        return;
    memcpy(d->lo, lo, sizeof d->lo);
    memcpy(d->hi, hi, sizeof d->hi);
    litho_session_emit(self, SIGNAL_SLICES);
}

void litho_session_fit(LithoSession *self)
{
    const LithoGrid *grid = litho_session_grid(self);
    if (!grid)
        return;
    LithoSliceView whole = litho_slice_view(grid, LITHO_INLINE, 0);
    LithoSceneView scene = litho_scene_view(grid);
    self->display.scene.camera = scene.camera;
    litho_session_set_window(self, whole.lo, whole.hi);
    litho_session_emit(self, SIGNAL_SLICES);
}

void litho_session_set_scene(LithoSession *self, const LithoSceneView *scene)
{
    self->display.scene = *scene;
    litho_session_emit(self, SIGNAL_SLICES);
}

void litho_session_set_cursor(LithoSession *self, const double *at)
{
    LithoDisplay *d = &self->display;
    if (!at && !d->has_cursor)
        return;
    d->has_cursor = at != NULL;
    if (at)
        memcpy(d->cursor, at, sizeof d->cursor);
    litho_session_emit(self, SIGNAL_CURSOR);
}

void litho_session_set_visible(LithoSession *self, guint n, const int *axes)
{
    if (litho_places_set_visible(self->places, n, axes))
        litho_session_slices_moved(self);
}
