// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>

// The button of the window's menu; its items activate actions of the window and of the application.
// Main thread.
GtkWidget *litho_main_menu_new(void);
