// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/panel/param_format.h"

// One parameter of the declaration as a row: mark of change, name, slider, number with unit; or a
// switch, a choice, a text, a file. It knows the declaration and nothing else.
//
// Signal "edited" (gdouble value, const char *text): the person changed it; text is NULL but for
// texts and files. The receiver answers with litho_param_editor_complain() when it refuses.
#define LITHO_TYPE_PARAM_EDITOR (litho_param_editor_get_type())
G_DECLARE_FINAL_TYPE(LithoParamEditor, litho_param_editor, LITHO, PARAM_EDITOR, GtkBox)

GtkWidget *litho_param_editor_new(const LithoParam *row); // `row` is borrowed for the widget's life
const LithoParam *litho_param_editor_declaration(LithoParamEditor *self);
// Shows what `params` holds; says nothing. Clears a complaint.
void litho_param_editor_load(LithoParamEditor *self, const void *params, const void *defaults);
// Tells the row what the samples lie along, NULL = nothing is open: some units differ for depths,
// and a number of samples may be typed as a time or a depth ("600ms").
void litho_param_editor_set_axis(LithoParamEditor *self, const LithoAxis *axis, gboolean is_depth);
// The number that the row's special value ("automatic") stands for at present: shown in its place,
// with the knob there, as long as the special value is set. NAN = not known.
void litho_param_editor_set_used(LithoParamEditor *self, double value);
double litho_param_editor_used(LithoParamEditor *self);
// A few words in small letters under the name, such as what a length stands for on these data; "" =
// none. Rows without a special value only; passed over by the others.
void litho_param_editor_set_note(LithoParamEditor *self, const char *words);
// One sentence under the row; NULL = none.
void litho_param_editor_complain(LithoParamEditor *self, const char *sentence);
// Puts the keyboard on the row's number.
void litho_param_editor_grab(LithoParamEditor *self);
