// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>

// Popovers over a view: they point into its pixels, give the keyboard back and go when they close.
// Main thread.

// Takes over `popover`, floating, and opens it over `parent` when the main loop is idle.
void litho_popover_open_at(GtkWidget *popover, GtkWidget *parent, const GdkRectangle *at);
// The menu of the view of `axis` (LITHO_INLINE, ..., LITHO_VIEW_SCENE), its corner at (x, y).
void litho_view_menu_open(GtkWidget *view, int axis, double x, double y);
