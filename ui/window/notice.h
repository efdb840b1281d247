// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>

// A sentence over the foot of the views that goes by itself after some seconds: something was saved
// or copied. A sentence that needs an answer is a bar (ui/window/bar.h). Main thread only.
typedef struct LithoNotice LithoNotice;

LithoNotice *litho_notice_new(void);
void litho_notice_free(LithoNotice *notice); // before its widget; NULL is fine
GtkWidget *litho_notice_widget(const LithoNotice *notice);
void litho_notice_tell(LithoNotice *notice, const char *sentence);
