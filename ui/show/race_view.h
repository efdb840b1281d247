// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/race.h"
#include "core/show/script.h"
#include "ui/window/window.h"

// The race in the section itself: each lane fills a panel with the section as its pictures come,
// clocks run, and at the end the ratio stands above with the error between the results. It covers
// the views while it is shown. Main thread.
//
// Signal "over": the race has ended, also by a failure or a cancel.
#define LITHO_TYPE_RACE_VIEW (litho_race_view_get_type())
G_DECLARE_FINAL_TYPE(LithoRaceView, litho_race_view, LITHO, RACE_VIEW, GtkBox)

// Hidden until it is opened. `window` is borrowed: it holds the view.
GtkWidget *litho_race_view_new(LithoWindow *window);
// Shows it and starts the flow as it stands. `lanes` (of LithoScriptLane): who runs; NULL or empty
// = what the choices below the panels say. FALSE with a sentence when the flow cannot run.
gboolean litho_race_view_open(LithoRaceView *self, const GArray *lanes, GError **error);
void litho_race_view_close(LithoRaceView *self); // ends a race under way
gboolean litho_race_view_is_running(LithoRaceView *self);
// Both halves again as they came, side by side in time.
void litho_race_view_replay(LithoRaceView *self);
// The text of the clock of lane `k` while it runs, g_free(), NULL without such a lane; and
// the parts of its picture that have come.
char *litho_race_view_clock(LithoRaceView *self, guint k);
guint litho_race_view_pieces(LithoRaceView *self, guint k);
// The race that was run last, whole; NULL before the first and while one runs. Borrowed.
const LithoRace *litho_race_view_result(LithoRaceView *self);
// Slowest of the first two lanes that ran over the other; NAN without a result.
double litho_race_view_ratio(LithoRaceView *self);
