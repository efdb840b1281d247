// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "render/ticks.h"
#include "ui/session/session.h"

// Findings of the area tool: where the rectangle lies, its spectra and its f-k pictures of input,
// output and removed. Hidden while the tool is off.
#define LITHO_TYPE_AREA_PANEL (litho_area_panel_get_type())
G_DECLARE_FINAL_TYPE(LithoAreaPanel, litho_area_panel, LITHO, AREA_PANEL, GtkBox)

GtkWidget *litho_area_panel_new(LithoSession *session);
// "Inline 1051, crossline 2010 to 2040, time 200 to 600 ms": the area on slice `index` of its axis.
// g_free().
char *litho_area_place(const LithoGrid *grid, const LithoArea *area, gint64 index,
                       LithoUnits units);
// Measure of the area's diagonal on such a grid, in words; NULL = nothing. g_free().
char *litho_area_measure(const LithoGrid *grid, const LithoArea *area);
// Slope of the diagonal, down to the right > 0: s (m in depth) a trace; NAN = there is no diagonal.
double litho_area_slope(const LithoGrid *grid, const LithoArea *area);
// Slopes of a diagonal on an inline and one on a crossline as two dips, and the apparent velocity
// (in depth the dip) of the plane through both; NULL while one is NAN. g_free().
char *litho_area_dips(const LithoGrid *grid, const double slope[2]);
