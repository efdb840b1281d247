// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/panel/preset_menu.h"

// The presets of the selected step: those of the operator and the user's in one choice, and the
// menu of the user's.
#define LITHO_TYPE_PRESET_LINE (litho_preset_line_get_type())
G_DECLARE_FINAL_TYPE(LithoPresetLine, litho_preset_line, LITHO, PRESET_LINE, GtkBox)

GtkWidget *litho_preset_line_new(LithoSession *session);
// Another operator, or other values.
void litho_preset_line_load(LithoPresetLine *self, const LithoStep *step);
LithoPresetMenu *litho_preset_line_menu(LithoPresetLine *self); // as long as the line
GtkDropDown *litho_preset_line_choice(LithoPresetLine *self);
