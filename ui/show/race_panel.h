// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <cairo.h>
#include "core/cube.h"
#include "render/view.h"

// The picture of one lane of a race: the parts of a section in the order of their arrival, painted
// one over the other. Main thread.

// Section that all lanes show.
typedef struct LithoRaceSection {
    int axis; // LITHO_INLINE or LITHO_XLINE
    gint64 index;
    LithoLook look;
} LithoRaceSection;

typedef struct LithoRacePanel {
    GArray *pieces;           // parts of the section with their arrival times
    cairo_surface_t *picture; // painted pieces; NULL = none
    guint painted;            // pieces in it
} LithoRacePanel;

void litho_race_panel_init(LithoRacePanel *panel);
void litho_race_panel_clear(LithoRacePanel *panel); // without pieces, usable again
void litho_race_panel_free(LithoRacePanel *panel);  // frees the members
// Takes over `piece`, a part of the section that came `ms` after the clock of its lane started.
void litho_race_panel_add(LithoRacePanel *panel, LithoCube *piece, double ms);
// Paints anew at the next draw, from the first piece.
void litho_race_panel_repaint(LithoRacePanel *panel);
// Picture with all pieces that came by `ms`, `width` x `height` pixels; borrowed until the next
// change of the panel. `section` stays the same until litho_race_panel_clear().
cairo_surface_t *litho_race_panel_picture(LithoRacePanel *panel, const LithoRaceSection *section,
                                          int width, int height, double ms);
