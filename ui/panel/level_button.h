// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>
#include "ui/session/judgement.h"

// A button that opens the noise level which the expected SNR rests on: the measured one with its
// interval, and a field to type another one. References both; the main thread's.
GtkWidget *litho_level_button_new(LithoSession *session, LithoJudgement *judgement);
