// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "tests/gui/gui.h"
#include "tests/segy_make.h"

// Helpers that the tests of the window's files share: cubes to open, the example operator as a flow
// whose every change can be told from the samples, and a way to other windows and their buttons.

// Writes a cube of which every sample tells where it belongs into the test's folder. Returns its
// path; g_free().
char *gui_write_cube(Gui *gui, const char *name, gint64 n1, gint64 n2, gint64 n3);
// Writes bytes made by segy_make.h, with a text header as a company writes it; gui_odd_make() has
// line numbers at bytes nobody looks at and no coordinates. Returns the path; g_free().
char *gui_write_odd(Gui *gui, const char *name, const Make *make, const char *client);
Make gui_odd_make(void);
// Opens a file as the command line does and waits until it is there, or refused.
void gui_open_file(Gui *gui, const char *path);

void gui_forget_flow(Gui *gui); // and its history
// The panel of one operator alone, without its result.
void gui_show_operator(Gui *gui, const LithoOperator *op);
double gui_gain(Gui *gui);      // of the first step, which is the example operator
void gui_set_gain(Gui *gui, double value);
// Opens a file, makes the example operator with this gain the flow, waits for the result.
void gui_open_with_gain(Gui *gui, const char *path, double value);

GtkWindow *gui_window_titled(const char *title);
GtkWindow *gui_window_of(GType type); // likewise by its type // NULL = there is none
// The n-th widget of a type below `widget` in the order of the tree, NULL when there is none.
GtkWidget *gui_find_nth(GtkWidget *widget, GType type, int *n);
GtkWidget *gui_nth(GtkWindow *dialog, GType type, int n); // must be there
GtkWidget *gui_button(GtkWindow *dialog, const char *label);
void gui_click(GtkWindow *dialog, const char *label); // the button must be sensitive
// Waits until a label of that window contains `text`; fails after 20 s.
void gui_await_label(Gui *gui, const char *title, const char *text);
