// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>

// The dialog about the program: version, licence, authors of the libraries. Main thread.
void litho_about_open(GtkWindow *window);
