// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>

// gtk_widget_set_tooltip_text() for text of a sentence or more: broken into lines short enough to
// read, so that the tooltip does not lie over half the data. Newlines in `text` stay; NULL takes it
// away.
void litho_set_tooltip(GtkWidget *widget, const char *text);
// Likewise for a few words, which stay in one line. The tooltip does not show while a menu of the
// widget is open, which it would lie over. Both do nothing where the text is there
// already: at every call GTK asks the display server where the pointer is, and waits for the
// answer.
void litho_set_short_tooltip(GtkWidget *widget, const char *text);
