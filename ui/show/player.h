// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/show/script.h"
#include "ui/show/race_view.h"
#include "ui/window/window.h"

// Plays a script in the window: opens its cubes, moves its sliders, waits until each picture is
// whole, and brings everything back at the end. Main thread.
//
// Signal "changed": another step, pause, a sentence, the end.
#define LITHO_TYPE_PLAYER (litho_player_get_type())
G_DECLARE_FINAL_TYPE(LithoPlayer, litho_player, LITHO, PLAYER, GObject)

// `window` and `race` are borrowed and outlive the player's playing.
LithoPlayer *litho_player_new(LithoWindow *window, LithoRaceView *race);
// Takes `script` over and begins. A script that plays already is ended first.
void litho_player_play(LithoPlayer *self, LithoScript *script);
// Ends; the window shows what it showed before.
void litho_player_end(LithoPlayer *self);
gboolean litho_player_is_playing(LithoPlayer *self); // also while it is paused or at its end
void litho_player_pause(LithoPlayer *self, gboolean pause);
gboolean litho_player_is_paused(LithoPlayer *self);
void litho_player_go(LithoPlayer *self, int by); // to another step; beyond the last one: nothing
// The script that plays and its present step; step 0 is the first. NULL = none plays.
const LithoScript *litho_player_script(LithoPlayer *self, guint *step);
gboolean litho_player_is_at_end(LithoPlayer *self); // the last step's time is over
// Work under way beside the caption ("finding, 8 trials", "opening"), or a failure; "" = nothing.
const char *litho_player_note(LithoPlayer *self);
