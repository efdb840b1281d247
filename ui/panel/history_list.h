// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/session/session.h"

// A button that opens the list of changes: those that can be repeated, the flow as it stands, those
// that can be taken back, newest first. A click on a change goes to the flow right behind it.
GtkWidget *litho_history_button_new(LithoSession *session);
