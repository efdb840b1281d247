// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/window/window.h"

// The page in place of the views while nothing is open: the program's purpose, four pictures that
// open four demonstrations, and the ways to one's own data. At the first start a tour of three
// steps is offered first.

// Main thread; sets the window's `start_...` widgets.
GtkWidget *litho_start_page_new(LithoWindow *window);
// The first start is over: the tour was taken, or a cube opened.
void litho_start_page_greeted(LithoWindow *window);
// Shows or hides the greeting as the settings say.
void litho_start_page_update(LithoWindow *window);
