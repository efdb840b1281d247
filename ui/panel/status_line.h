// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/session/session.h"

// The bottom line: where the pointer is, the samples there, clip, time to pixel.
#define LITHO_TYPE_STATUS_LINE (litho_status_line_get_type())
G_DECLARE_FINAL_TYPE(LithoStatusLine, litho_status_line, LITHO, STATUS_LINE, GtkBox)

GtkWidget *litho_status_line_new(LithoSession *session);
