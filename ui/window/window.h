// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/view/canvas.h"
#include "ui/panel/param_panel.h"
#include "ui/session/judgement.h"
#include "ui/session/session.h"
#include "ui/session/settings.h"
#include "ui/window/watchdog.h"

// The main window. Main thread only.
//
// Signal "job-done" (const char *what, gboolean ok): an opening ("open"), saving ("save"), picture
// ("picture") or report ("report") came to its end; a failure stands in the error bar.
#define LITHO_TYPE_WINDOW (litho_window_get_type())
G_DECLARE_FINAL_TYPE(LithoWindow, litho_window, LITHO, WINDOW, GtkApplicationWindow)

// `settings` is borrowed and outlives the window.
GtkWidget *litho_window_new(GtkApplication *app, LithoSettings *settings);

// Opens files as one survey, replacing what is there once they have been read. NULL-terminated.
void litho_window_open(LithoWindow *self, const char *const *paths);
void litho_window_open_demo(LithoWindow *self);
void litho_window_load_recipe(LithoWindow *self, const char *path);
// Whole result; waits for it when it is still being computed. `force`: replaces an existing file.
void litho_window_save(LithoWindow *self, const char *path, gboolean force);
// The views on screen as a picture; the suffix decides (.png, .pdf, .svg).
void litho_window_export(LithoWindow *self, const char *path);
// The page that the result is judged by, with the slices on screen (.pdf, .png, .svg), and its
// figures as JSON beside it, which replaces a file where the page does.
void litho_window_report(LithoWindow *self, const char *path);

// A sentence of the reader without its advice about command-line options ("; give --format 5"),
// which means nothing here; several lines are taken one by one. g_free().
char *litho_plain_sentence(const char *sentence);
// Shows one sentence; `details` may be NULL.
void litho_window_show_error(LithoWindow *self, const char *sentence, const char *details);
// A refused wish has succeeded since: the sentence goes, unless it is about the newest result.
void litho_window_clear_error(LithoWindow *self);
const char *litho_window_error(LithoWindow *self); // shown now, or NULL; borrowed
gboolean litho_window_is_busy(LithoWindow *self);  // opening, saving, drawing a picture

LithoSession *litho_window_session(LithoWindow *self);
LithoCanvas *litho_window_canvas(LithoWindow *self);
LithoJudgement *litho_window_judgement(LithoWindow *self);
LithoParamPanel *litho_window_params(LithoWindow *self);
LithoWatchdog *litho_window_watchdog(LithoWindow *self);
