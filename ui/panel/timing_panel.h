// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/session/session.h"

// Shows the computing device, the time of each stage, and the time from a change to its picture.
// Emits "copied" when its figures have gone to the clipboard.
#define LITHO_TYPE_TIMING_PANEL (litho_timing_panel_get_type())
G_DECLARE_FINAL_TYPE(LithoTimingPanel, litho_timing_panel, LITHO, TIMING_PANEL, GtkBox)

GtkWidget *litho_timing_panel_new(LithoSession *session);
// One sentence that says who draws ("llvmpipe ..., OpenGL 4.5").
void litho_timing_panel_set_gl(LithoTimingPanel *self, const char *name);
// Everything for the clipboard; g_free().
char *litho_timing_panel_text(LithoTimingPanel *self);
char *litho_timing_panel_json(LithoTimingPanel *self);
