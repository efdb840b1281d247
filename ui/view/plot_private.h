// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/view/plot.h"

// Shared by plot.c (curves, axes, legend) and plot_handles.c (lines that a hand moves); private.

typedef struct LithoPlotCurve {
    guint n;
    double *x, *y;
    char *label;
    LithoPlotKind kind;
} LithoPlotCurve;

struct _LithoPlot {
    GtkWidget parent;
    int height;
    char *x_label, *y_label;
    gboolean log_x, log_y;
    GArray *curves; // of LithoPlotCurve
    guint n_marks;
    double mark[4];
    double x_range[2], y_range[2]; // given; equal = as the curves need
    guint n_handles;
    LithoPlotHandle handle[LITHO_PLOT_HANDLES];
    gboolean band;
    int dragged, chosen; // handle under the hand, -1 = none; that the keys move
};

// The rectangle of the data, and what its edges stand for: values, or their decimal logarithms.
typedef struct LithoPlotArea {
    double x, y, w, h;
    double x0, x1, y0, y1;
    gboolean log_x, log_y;
} LithoPlotArea;

// Position on an axis; NAN where a logarithmic one has none.
double litho_plot_on_axis(double value, gboolean log);
double litho_plot_px(const LithoPlotArea *a, double x); // pixels
GdkRGBA litho_plot_ink(GtkWidget *widget, double alpha);
GdkRGBA litho_plot_colour(GtkWidget *widget, guint k); // of curve k
// Area of the curves now; FALSE: there is no room, or nothing to show.
gboolean litho_plot_area(LithoPlot *self, LithoPlotArea *a);
void litho_plot_changed(LithoPlot *self); // says it in words and draws again

// plot_handles.c
void litho_plot_handles_init(LithoPlot *self);
void litho_plot_draw_handles(LithoPlot *self, GtkSnapshot *snapshot, const LithoPlotArea *a);
