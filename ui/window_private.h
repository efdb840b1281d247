// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/job.h"
#include "ui/timing_panel.h"
#include "ui/window.h"

struct _LithoWindow {
    GtkApplicationWindow parent;
    LithoSession *session;
    LithoSettings *settings;
    LithoWatchdog *watchdog;

    // Header.
    GtkWidget *title, *subtitle, *badge, *badge_label, *compare[5];
    // Below it.
    GtkWidget *progress; // thin line
    GtkWidget *error_bar, *error_label, *error_details, *error_details_button;
    gboolean shows_problem; // the error bar tells about the newest result
    GtkWidget *notes_bar, *notes_label, *notes_details, *notes_details_button;
    GtkWidget *left, *right, *stack, *status;
    GtkWidget *canvas, *params, *timings;
    GtkWidget *start_recent;
    GtkWidget *work_bar, *work_label, *work_progress; // opening and saving, with Cancel
    GtkWidget *busy_box, *busy_label;                 // the worker's progress in the status line
    gint64 busy_since; // when the worker began to be busy, 0 = idle
    guint busy_timeout, blink_timeout;

    LithoJob *job; // opening, saving, picture: one at a time
    const char *job_what;
    char *save_path; // a save that waits for the whole result
    gboolean save_force;
};

// window_actions.c
void litho_window_actions_init(LithoWindow *self);
void litho_window_actions_update(LithoWindow *self); // what is possible now

// window_layout.c
void litho_window_build(LithoWindow *self);
void litho_window_update_recent(LithoWindow *self);
char *litho_window_last_path(void); // of the newest recent file, NULL = none; g_free()

// window_dialogs.c
void litho_window_choose_open(LithoWindow *self);
void litho_window_choose_save(LithoWindow *self);
void litho_window_choose_picture(LithoWindow *self);
void litho_window_choose_recipe(LithoWindow *self, gboolean save);
// window_file.c
void litho_window_cancel_job(LithoWindow *self);
void litho_window_result_arrived(LithoWindow *self); // a waiting save may go on
