// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>

// A small chart: curves over one axis, linear or logarithmic, round ticks, legend, upright marks.
// For the QC panel.
#define LITHO_TYPE_PLOT (litho_plot_get_type())
G_DECLARE_FINAL_TYPE(LithoPlot, litho_plot, LITHO, PLOT, GtkWidget)

typedef enum LithoPlotKind {
    LITHO_PLOT_LINE,
    LITHO_PLOT_FILLED, // line, filled down to the lower edge
    LITHO_PLOT_BARS,   // one bar per point, as wide as to the neighbours
} LithoPlotKind;

// `name` is what a screen reader says; `height` in pixels.
GtkWidget *litho_plot_new(const char *name, int height);
void litho_plot_set_axes(LithoPlot *self, const char *x_label, const char *y_label);
const char *litho_plot_x_label(LithoPlot *self); // borrowed
// Logarithmic axes; values of 0 and below are left out then.
void litho_plot_set_log(LithoPlot *self, gboolean log_x, gboolean log_y);
// Curve `k` (0 and up, any number): copies n points; n = 0 empties it. `label` for the legend, NULL
// = none. Curve 0 is drawn quiet (input), 1 in the accent colour, the following in others.
void litho_plot_set_curve(LithoPlot *self, guint k, guint n, const double *x, const double *y,
                          const char *label, LithoPlotKind kind);
void litho_plot_truncate(LithoPlot *self, guint n); // drops curve n and those behind
// Upright marks at these places; n <= 4.
void litho_plot_set_marks(LithoPlot *self, guint n, const double *x);
// The y axis from lo to hi whatever the curves hold, so that pictures compare; lo = hi: as the
// curves need.
void litho_plot_set_y_range(LithoPlot *self, double lo, double hi);
// The x axis likewise.
void litho_plot_set_x_range(LithoPlot *self, double lo, double hi);

// An upright line that can be taken with the mouse, or moved by the arrow keys while the plot has
// the keyboard (Page Up and Page Down choose the line): the clip, the edges of a band.
typedef struct LithoPlotHandle {
    const char *name; // what a screen reader calls it; static
    double x;
} LithoPlotHandle;

enum { LITHO_PLOT_HANDLES = 2 };

// Shows `n` handles (0 = none). While one is being dragged only the others follow. What lies
// outside the two is shaded when `band`. Signal "handle-moved" (guint k, gdouble x): a person moved
// handle k there; the receiver answers with the handles as they are then.
void litho_plot_set_handles(LithoPlot *self, guint n, const LithoPlotHandle *handles,
                            gboolean band);
guint litho_plot_n_handles(LithoPlot *self);
