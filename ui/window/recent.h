// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>

// Cubes opened by this program before, as the desktop's list of recent files keeps them. Main
// thread only.

void litho_recent_add(const char *uri); // a cube that has been opened
char *litho_recent_last_path(void);     // of the newest, NULL = none; g_free()
// At most `most` buttons that open one each into `box`, in place of its children; returns how many.
guint litho_recent_fill(GtkWidget *box, guint most, gboolean with_folder);
