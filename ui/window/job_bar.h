// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/session/job.h"

// The line below the views that tells about opening, saving and drawing, with Cancel, and the one
// job that it tells about; and a save that waits for it. Main thread only.
typedef struct LithoJobBar LithoJobBar;

LithoJobBar *litho_job_bar_new(void);
void litho_job_bar_free(LithoJobBar *bar); // not before its job has ended; NULL is fine
GtkWidget *litho_job_bar_widget(const LithoJobBar *bar);
// Starts the job, as litho_job_start(); `what` (static) names it, `sentence` is shown until its
// first progress. There must be none under way.
void litho_job_bar_start(LithoJobBar *bar, const char *what, const char *sentence,
                         const LithoJobFuncs *funcs, gpointer data);
void litho_job_bar_wait(LithoJobBar *bar, const char *sentence); // shown without a job
void litho_job_bar_show(LithoJobBar *bar, const LithoProgress *progress);
void litho_job_bar_end(LithoJobBar *bar);    // from the job's done(): there is none any more
void litho_job_bar_hide(LithoJobBar *bar);   // its widget must still be there
void litho_job_bar_cancel(LithoJobBar *bar); // the job, if there is one; done() follows
// A save that waits for the job's end or for the whole result; `path` NULL = none waits any more.
void litho_job_bar_set_save(LithoJobBar *bar, const char *path, gboolean force);
const char *litho_job_bar_save(const LithoJobBar *bar); // its path; NULL = none waits
char *litho_job_bar_take_save(LithoJobBar *bar, gboolean *force); // none waits then; g_free()
gboolean litho_job_bar_is_at_work(const LithoJobBar *bar);
const char *litho_job_bar_what(const LithoJobBar *bar); // the newest job's; NULL = none so far
