// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>

// Text of charts: smaller than the widget's own font and growing with it.

// Factor by which a person wants text larger than usual, 1 = as usual: for text drawn in pixels of
// its own.
double litho_text_scale(GtkWidget *widget);

int litho_small_text_width(GtkWidget *widget, const char *text);
int litho_small_text_height(GtkWidget *widget);
// `align` 0: left edge at x, 0.5 middle, 1 right edge; kept inside the widget. `y` is the middle of
// the line, `alpha` of the widget's own text colour.
void litho_small_text_draw(GtkWidget *widget, GtkSnapshot *snapshot, const char *text, double x,
                           double y, double align, double alpha);
