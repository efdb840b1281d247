// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/show/player.h"
#include "ui/show/race_view.h"
#include "ui/window/window.h"

// Everything that shows the program to others: presenter mode, scripts played and recorded, the
// race. One per window, made with it; it adds its own actions and keys. Main thread.
typedef struct LithoPodium LithoPodium;

// `column` holds the views from top to bottom, `overlay` (in it) lies over them: the strip of the
// presenter goes above, the caption below, the race over the views.
LithoPodium *litho_podium_new(LithoWindow *window, GtkBox *column, GtkOverlay *overlay);
void litho_podium_free(LithoPodium *podium); // NULL is fine; the widgets live on with the window
// Actions "present", "race", "demo-play" (s), "demo-open", "demo-next", "demo-back", "demo-pause",
// "demo-end" and "record" of the window, and their keys.
void litho_podium_add_actions(LithoPodium *podium);

void litho_podium_present(LithoPodium *podium, gboolean on);
gboolean litho_podium_is_presenting(const LithoPodium *podium);
// By name, or a path that ends in .json; a failure stands in the error bar.
void litho_podium_play(LithoPodium *podium, const char *name);
// Begins to record, or ends it and asks for a file.
void litho_podium_record(LithoPodium *podium);
void litho_podium_race(LithoPodium *podium);
LithoPlayer *litho_podium_player(LithoPodium *podium);
LithoRaceView *litho_podium_race_view(LithoPodium *podium);
// Title and name of each script that comes with the program: entries of a menu; g_object_unref().
GMenu *litho_podium_menu(void);
