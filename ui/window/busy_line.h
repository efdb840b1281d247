// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/session/session.h"

// The worker's progress: a thin line below the header, and words with Pause and Cancel in the
// bottom line. A pass quicker than 300 ms shows neither: it would only flicker. Main thread only.
typedef struct LithoBusyLine LithoBusyLine;

// Follows `session`. `changed`: the worker began, ended, or went on after a pause.
LithoBusyLine *litho_busy_line_new(LithoSession *session, void (*changed)(gpointer owner),
                                   gpointer owner);
void litho_busy_line_free(LithoBusyLine *line);            // before its session goes; NULL is fine
GtkWidget *litho_busy_line_bar(const LithoBusyLine *line); // the thin line
GtkWidget *litho_busy_line_words(const LithoBusyLine *line); // words and buttons
