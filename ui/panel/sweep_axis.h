// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/panel/sweep_run.h"

// A line of controls: which parameter is swept, from where to where, over how many values. Signal
// "chosen": another parameter, or none.
#define LITHO_TYPE_SWEEP_LINE (litho_sweep_line_get_type())
G_DECLARE_FINAL_TYPE(LithoSweepLine, litho_sweep_line, LITHO, SWEEP_LINE, GtkBox)

// A line for the numbers, choices and switches among the parameters that act in the step. Begins
// with the first number, or, where it is the `second`, with none chosen. `is_depth`: samples are
// depths, whose units some parameters take.
GtkWidget *litho_sweep_line_new(const LithoStep *step, gboolean second, gboolean is_depth);
const LithoParam *litho_sweep_line_row(LithoSweepLine *self); // NULL = none chosen
void litho_sweep_line_choose(LithoSweepLine *self, const LithoParam *row);
void litho_sweep_line_limit(LithoSweepLine *self, guint most);      // so many values at most
void litho_sweep_lines_align(LithoSweepLine *a, LithoSweepLine *b); // their controls in columns
void litho_sweep_line_set(LithoSweepLine *self, double from, double to, guint n);
// No more than `most` values. FALSE with a sentence when from or to is no number.
// `now`: a value that is among them where it lies between, NAN = none.
gboolean litho_sweep_line_fill(LithoSweepLine *self, guint most, double now, LithoSweepAxis *axis,
                               GError **error);
