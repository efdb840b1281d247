// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/session/session.h"

// What the area tool finds: where the rectangle lies, its spectra and its f-k pictures of input,
// output and removed. Hidden while the tool is off.
#define LITHO_TYPE_AREA_PANEL (litho_area_panel_get_type())
G_DECLARE_FINAL_TYPE(LithoAreaPanel, litho_area_panel, LITHO, AREA_PANEL, GtkBox)

GtkWidget *litho_area_panel_new(LithoSession *session);
// What the area's diagonal measures on such a grid, in words; NULL = nothing. g_free().
char *litho_area_measure(const LithoGrid *grid, const LithoArea *area);
