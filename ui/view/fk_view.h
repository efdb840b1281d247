// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "core/qc.h"

// Amplitude against frequency and wavenumber as a picture in decibels, 60 below `top`.
#define LITHO_TYPE_FK_VIEW (litho_fk_view_get_type())
G_DECLARE_FINAL_TYPE(LithoFkView, litho_fk_view, LITHO, FK_VIEW, GtkWidget)

typedef struct LithoFkAxes {
    double f_max, k_max;         // at the edges, in the units below
    const char *f_unit, *k_unit; // "Hz", "1/km"
} LithoFkAxes;

GtkWidget *litho_fk_view_new(const char *title);
// Copies; NULL = nothing to show. `top`: the amplitude of 0 dB.
void litho_fk_view_set(LithoFkView *self, const LithoFk *fk, double top, const LithoFkAxes *axes);
