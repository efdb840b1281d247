// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "core/qc.h"
#include "render/view.h"

// Amplitude against frequency and wavenumber, or frequency and trace, as a picture in decibels
// below `top`, with a bar that says so.
#define LITHO_TYPE_FK_VIEW (litho_fk_view_get_type())
G_DECLARE_FINAL_TYPE(LithoFkView, litho_fk_view, LITHO, FK_VIEW, GtkWidget)

typedef struct LithoFkAxes {
    double f_max, x_lo, x_hi; // at the edges, in the units below
    int decibels;             // below the top, at the dark end of the colours
    const char *f_unit;       // "Hz"
    char x_unit[32];          // "1/km" of wavenumbers, "crossline" of traces
    gboolean by_line;         // x are numbers of lines: names, whose digits are not grouped
} LithoFkAxes;

// `amplitude`: n_x rows of n_f.
typedef struct LithoFkPicture {
    const float *amplitude;
    guint n_x, n_f;
} LithoFkPicture;

LithoFkPicture litho_fk_picture(const LithoFk *fk, gboolean by_trace);
// The largest amplitudes of groups of `by` columns and rows, `most` either way at most: a section of
// a thousand traces has a million cells, and a logarithm of each would take longer than many frames.
// g_free() the amplitudes.
LithoFkPicture litho_fk_reduced(const LithoFkPicture *picture, guint most, guint by[2]);
// Rectangle of the whole picture, cells of equal size, such that the middle of each cell lies at
// its own frequency and wavenumber of `data`, the rectangle of the axes: the first and the last
// frequency stand on its edges. Traces (`by_line`) have their cells between the edges.
LithoRect litho_fk_place(const LithoFkPicture *picture, gboolean by_line, LithoRect data);
double litho_fk_picture_top(const LithoFkPicture *picture); // largest amplitude

// `title` stands over the picture, `what` ("Frequency and wavenumber") is for a screen reader.
GtkWidget *litho_fk_view_new(const char *title, const char *what);
// Copies; NULL = nothing to show. `top`: the amplitude of 0 dB.
void litho_fk_view_set(LithoFkView *self, const LithoFkPicture *picture, double top,
                       const LithoFkAxes *axes);
