// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/session/medium.h"

// The velocity (or another property) that the flow assumes: its picture on the inline in front, its
// range, and how strongly it lies over the sections. Hidden while no operator tells one.
GtkWidget *litho_medium_panel_new(LithoSession *session);
