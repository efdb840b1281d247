// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/panel/param_editor.h"

// The row of a parameter, for the files that it is made of: param_editor.c has the row and the
// kinds that are no numbers, param_number.c the number with its slider. Main thread.

// Letters of a numeric row's name in one line; long names take two.
enum { LITHO_PARAM_NAME_CHARS = 11 };

struct _LithoParamEditor {
    GtkBox parent;
    const LithoParam *row;
    gboolean loading; // values are being shown, not edited

    GtkWidget *dot, *name, *spin, *slider, *toggle, *choice, *text;
    LithoAxis axis; // of the samples; step 0 = nothing is open
    gboolean is_depth;
    double used;      // that a special value stands for at present; NAN = not known
    char written[64]; // into the number field by the row itself, not typed
    char told[128];   // value as a screen reader hears it
    char note[96];    // in small letters under the name; "" = none
    GtkWidget *complaint;
};

// Emits "edited", unless a value is being shown. `text`: of rows that have one, else NULL.
void litho_param_editor_edited(LithoParamEditor *self, double value, const char *text);
// After a value that was typed and taken the keys belong to the views again, where B, D and K are
// no letters of a number.
void litho_param_editor_leave(LithoParamEditor *self);
// Names a control after the row, for screen readers.
void litho_param_editor_describe(LithoParamEditor *self, GtkWidget *control);
// Unit of the row as the axis is now; "" = none. Static.
const char *litho_param_editor_unit(const LithoParamEditor *self);
// The value with that unit; `out` gets at most `size` bytes.
void litho_param_editor_with_unit(const LithoParamEditor *self, double value, char *out,
                                  gsize size);

// Makes slider and number field at the end of the row's `line`.
void litho_param_number_fill(LithoParamEditor *self, GtkWidget *line);
// Shows a value, or the number that a special one stands for. `loading` is set.
void litho_param_number_show(LithoParamEditor *self, double value);
// Writes the field's text anew: the unit, or what a special value stands for, may be another.
void litho_param_number_write(LithoParamEditor *self);
