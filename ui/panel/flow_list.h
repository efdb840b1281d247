// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/session/session.h"

// The chain of operators: add, remove, switch, reorder (drag, or Alt+Up and Alt+Down), select.
#define LITHO_TYPE_FLOW_LIST (litho_flow_list_get_type())
G_DECLARE_FINAL_TYPE(LithoFlowList, litho_flow_list, LITHO, FLOW_LIST, GtkBox)

GtkWidget *litho_flow_list_new(LithoSession *session);
