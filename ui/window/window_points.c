// SPDX-License-Identifier: GPL-3.0-or-later
//
// Points for a table: noted with a key, written as CSV.
#include "ui/window/window_private.h"

#include <math.h>

#include "ui/session/points.h"

// Under the pointer, or where the three slices cross.
void litho_window_note_point(LithoWindow *self)
{
    const LithoGrid *grid = litho_session_grid(self->session);
    const LithoDisplay *d = litho_session_display(self->session);
    gint64 at[3];
    for (int a = 0; grid && a < 3; a++)
        at[a] = d->has_cursor ? CLAMP(llround(d->cursor[a]), 0, grid->axis[a].n - 1) : d->slice[a];
    guint number = grid ? litho_points_add(litho_points_of(self->session), at) : 0;
    if (number > 0)
        litho_window_notice(self, "Point %u noted; Save points… in the menu writes the table.",
                            number);
    litho_window_actions_update(self);
}

void litho_window_forget_points(LithoWindow *self)
{
    litho_points_clear(litho_points_of(self->session));
    litho_window_actions_update(self);
}

void litho_window_save_points(LithoWindow *self, const char *path)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoInputs) inputs = litho_window_inputs(self); // never replaced
    g_autofree char *text = litho_points_csv(litho_points_of(self->session));
    // The chooser has asked about overwriting.
    if (litho_output_save(path, text, -1, LITHO_REPLACE_ANY, &error))
        litho_window_notice_saved(self, path);
    else
        litho_window_show_error(self, error->message, NULL);
}
