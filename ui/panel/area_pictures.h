// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/session/session.h"
#include "ui/view/fk_view.h"

// Input, output and removed part of the area side by side or below each other, against frequency
// and wavenumber (f-k) or frequency and trace (f-x), on one scale. Follows the session.
#define LITHO_TYPE_AREA_PICTURES (litho_area_pictures_get_type())
G_DECLARE_FINAL_TYPE(LithoAreaPictures, litho_area_pictures, LITHO, AREA_PICTURES, GtkBox)

GtkWidget *litho_area_pictures_new(LithoSession *session, GtkOrientation orientation,
                                   gboolean by_trace);
void litho_area_pictures_show(LithoAreaPictures *self, gboolean by_trace);

// A window with both kinds as large as it is; it follows the area and closes with it. Asked for
// again it is the one that is open. Returns the window.
GtkWidget *litho_area_window_open(GtkWindow *parent, LithoSession *session);
