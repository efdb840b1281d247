// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/session/judgement.h"

// A button that opens the half widths of the local similarity: two in traces, one in ms, in samples
// on depth axes. References both; the main thread's.
GtkWidget *litho_widths_button_new(LithoSession *session, LithoJudgement *judgement);
