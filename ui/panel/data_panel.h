// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/session/session.h"

// Curves of the data: spectra of input, output and removed on a fixed scale below the input's
// maximum, with the selected operator's band to be dragged; the histogram, with the ends of the
// colours to be dragged.
#define LITHO_TYPE_DATA_PANEL (litho_data_panel_get_type())
G_DECLARE_FINAL_TYPE(LithoDataPanel, litho_data_panel, LITHO, DATA_PANEL, GtkBox)

GtkWidget *litho_data_panel_new(LithoSession *session);
// The plot of the histogram, for tests. Borrowed.
GtkWidget *litho_data_panel_histogram(LithoDataPanel *self);
// Numbers of input and result that belong beside each other, NULL where there is none to show: of
// the result alone when the two are not of one kind (other axes, other amplitudes) and it is what
// is shown.
void litho_data_numbers(LithoSession *session, const LithoCubeNumbers *both[2]);
