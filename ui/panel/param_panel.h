// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/session/session.h"

// Parameters of the selected step, made from the operator's declaration: presets, rows, advanced
// rows folded, under them what the operators say of the result, and why the combination cannot run.
#define LITHO_TYPE_PARAM_PANEL (litho_param_panel_get_type())
G_DECLARE_FINAL_TYPE(LithoParamPanel, litho_param_panel, LITHO, PARAM_PANEL, GtkBox)

GtkWidget *litho_param_panel_new(LithoSession *session);
// "needs 0.4 of 6.1 GiB", "" when that is not known. Borrowed until the next change.
const char *litho_param_panel_memory(LithoParamPanel *self);
// Remarks of the operators on the result, a line a sentence; "" = none. Borrowed until "result".
const char *litho_param_panel_remarks(LithoParamPanel *self);
// Keyboard on the number of row `key`, unfolding what hides it. FALSE when there is no such row.
gboolean litho_param_panel_focus(LithoParamPanel *self, const char *key);
// Row of `key`, for tests and the palette; NULL when there is none. Borrowed.
GtkWidget *litho_param_panel_row(LithoParamPanel *self, const char *key);
