// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>

// A window beside the main one: above its parent, closed with it, and by Escape or Ctrl+W. Not yet
// shown.
GtkWidget *litho_dialog_new(GtkWindow *parent, const char *title, int width, int height);
