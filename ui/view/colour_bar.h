// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/session/session.h"

// The colour bar under the hand: its ends are dragged for the clip, a click opens the maps by name.

// A drag that began on the bar in `rect` (pixels) at height y: the nearer end is held.
typedef struct LithoBarDrag {
    LithoRect rect;
    double y;
    gboolean upper; // end
    gboolean is_unsigned;
    double lo, hi; // of the look at the beginning
} LithoBarDrag;

LithoBarDrag litho_bar_drag_begin(LithoSession *session, LithoRect rect, double y);
// The amplitude that was `dy` pixels below (> 0) the place where the drag began gets the colour of
// the end; signed data keep zero in the middle, so both ends move.
void litho_bar_drag_to(const LithoBarDrag *drag, LithoSession *session, double dy);

// Opens a list of the maps over `at` of `parent` (pixels of it), those made for such data first;
// each activates "win.colours". It goes by itself.
void litho_colour_menu_open(GtkWidget *parent, LithoRect at, LithoSession *session);
