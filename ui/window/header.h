// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/session/session.h"

// The header of the window: open, name and sizes, the choice of what is compared, the device, undo
// and redo, the menu. Its buttons activate actions of the window. Main thread only; it lives as
// long as its widget.
typedef struct LithoHeader LithoHeader;

LithoHeader *litho_header_new(GtkWindow *window, LithoSession *session);
GtkWidget *litho_header_widget(const LithoHeader *header);
// The device's name once more, for the bottom line: shown while the window fills the screen, since
// it has no header then.
GtkWidget *litho_header_full_badge(const LithoHeader *header);
void litho_header_open_menu(const LithoHeader *header);
// Name and sizes of the open cube; `files`: how many it was read from. Names the window, too.
void litho_header_show_title(LithoHeader *header, guint files);
const char *litho_header_title(const LithoHeader *header); // borrowed
void litho_header_show_device(LithoHeader *header);
void litho_header_show_compare(LithoHeader *header); // names, what is possible, volumes
// Shortens what is long, so that the file's name is whole, and leaves out what has keys or stands
// elsewhere, when all of it needs more than `width`.
void litho_header_fit(LithoHeader *header, int width);
gboolean litho_header_is_whole(const LithoHeader *header); // nothing is left out
