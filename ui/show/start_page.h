// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/session/settings.h"

// The page in place of the views while nothing is open: the program's purpose, four pictures that
// open four demonstrations, and the ways to one's own data. At the first start a tour of three
// steps is offered first.

// Its buttons activate actions of the window. Main thread only; it lives as long as its widget.
typedef struct LithoStartPage LithoStartPage;

LithoStartPage *litho_start_page_new(void);
GtkWidget *litho_start_page_widget(const LithoStartPage *page);
// Recent files, the greeting as the settings say, and where one left off: `about` (NULL = nowhere)
// is the session saved last, `name` its cube's.
void litho_start_page_update(LithoStartPage *page, LithoSettings *settings, const char *name,
                             const char *about);
// The focus goes to the framed way, or to one's own data: Enter takes it.
void litho_start_page_focus(const LithoStartPage *page);
// The first start is over: the tour was taken, or a cube opened. `settings` NULL: nothing is kept.
void litho_start_page_greeted(LithoSettings *settings);
GtkWidget *litho_start_page_continue(const LithoStartPage *page); // its button, for tests
