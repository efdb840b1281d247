// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>

// A small chart: up to four curves over one axis, round ticks, legend. For the QC panel.
#define LITHO_TYPE_PLOT (litho_plot_get_type())
G_DECLARE_FINAL_TYPE(LithoPlot, litho_plot, LITHO, PLOT, GtkWidget)

enum { LITHO_PLOT_CURVES = 4 };

// `name` is what a screen reader says; `height` in pixels.
GtkWidget *litho_plot_new(const char *name, int height);
void litho_plot_set_axes(LithoPlot *self, const char *x_label, const char *y_label);
// Copies n points; n = 0 removes the curve. `label` for the legend, NULL = none. `filled` down to
// the lower edge. Curve 0 is drawn quiet (input), 1 in the accent colour, 2 and 3 in others.
void litho_plot_set_curve(LithoPlot *self, guint k, guint n, const double *x, const double *y,
                          const char *label, gboolean filled);
// Fixed range of y; lo >= hi = from the data.
void litho_plot_set_y_range(LithoPlot *self, double lo, double hi);
// Upright marks at these places (the clip); n <= 4.
void litho_plot_set_marks(LithoPlot *self, guint n, const double *x);

// Last values of one stage as a line without axes; for tables.
#define LITHO_TYPE_SPARK (litho_spark_get_type())
G_DECLARE_FINAL_TYPE(LithoSpark, litho_spark, LITHO, SPARK, GtkWidget)
GtkWidget *litho_spark_new(void);
void litho_spark_set(LithoSpark *self, guint n, const float *values);
