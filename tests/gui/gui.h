// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/window/application.h"
#include "ui/panel/param_editor.h"
#include "ui/panel/quality_panel.h"

// Driving the real window in a test: an application of its own settings, loops with a time limit,
// pictures of what is on the screen.

typedef struct Gui {
    GtkApplication *app;
    LithoSettings *settings;
    LithoWindow *window;
    LithoSession *session;
    GdkPaintable *mirror; // what the window drew last
    char *folder;         // for files of this test, removed at the end
} Gui;

// Ends the test program with status 77 (skip) and a reason when there is no display.
void gui_init(int *argc, char ***argv);
// One more operator beside the program's own and the example.
void gui_register(const LithoOperator *op);
void gui_open(Gui *gui, int width, int height);
void gui_open_sized(Gui *gui); // 1280 x 800; 2560 x 1440 with LITHO_WINDOW_SIZE=large
void gui_close(Gui *gui);
void gui_reopen(Gui *gui); // closes the window as a person does and opens another one
// Runs the main loop until `done` is TRUE; FALSE after `seconds`.
gboolean gui_wait(gboolean (*done)(Gui *gui), Gui *gui, double seconds);
// For gui_wait(): a cube is open; its whole result is there; nothing is opened or saved.
gboolean gui_has_input(Gui *gui);
gboolean gui_has_output(Gui *gui);
gboolean gui_is_free(Gui *gui);
// A sample of the output, which is there.
float gui_output_at(Gui *gui, gint64 i, gint64 j, gint64 k);
// The first widget of a type at or below `widget`, NULL when there is none.
GtkWidget *gui_find_type(GtkWidget *widget, GType type);
// The label at or below `widget` that says `text` and nothing else, NULL when there is none.
GtkLabel *gui_find_label(GtkWidget *widget, const char *text);
// TRUE when a label below `widget` has `text` in it.
gboolean gui_label_says(GtkWidget *widget, const char *text);
// Runs the main loop for so long, and until every window has drawn in the second half of it.
void gui_spin(Gui *gui, double seconds);
// Waits until nothing is opened, computed or drawn any more.
void gui_settle(Gui *gui);
void gui_remove_tree(const char *path);     // a folder and all that is in it
char *gui_path(Gui *gui, const char *name); // in the folder; g_free()
// Picture of the window. The caller frees it.
GdkTexture *gui_picture(Gui *gui);
// Writes the window's picture to $LITHO_SCREENSHOTS/NAME.png, if that folder is set.
void gui_screenshot(Gui *gui, const char *name);
void gui_screenshot_of(Gui *gui, GtkWidget *window, const char *name); // of another window
// Fraction of pixels of the canvas that differ between two pictures of the same size.
double gui_difference(Gui *gui, GdkTexture *a, GdkTexture *b);
void gui_activate(Gui *gui, const char *action); // "win.split", "win.show('side')"
// Both cubes hold the same samples, bit by bit, at the traces that are live in `a`.
void gui_assert_same(const LithoCube *a, const LithoCube *b);

// A flow of this operator alone, in the place of the one there was.
void gui_use_operator(Gui *gui, const LithoOperator *op);
// A value of the first step, whose operator is `op`; the test ends where it is refused.
void gui_set_param(Gui *gui, const LithoOperator *op, const char *key, double value);
// A flow of this operator alone with words like "window=8", NULL behind the last, at once.
void gui_use_flow(Gui *gui, const char *key, const char *const *words);

LithoQualityPanel *gui_quality_panel(Gui *gui);
gboolean gui_is_judged(Gui *gui); // the figures of the result as it stands are there
