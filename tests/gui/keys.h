// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "tests/gui/gui.h"

// Keys that go through the display server, as a person's do: xdotool types them.

gboolean gui_can_type(void); // FALSE: there is no xdotool
// Types `words` ("key d", "keydown space") with xdotool while `window`, NULL = the main one, has
// the keyboard; then the main loop runs for so long.
void gui_type_into(Gui *gui, GtkWindow *window, const char *words, double seconds);
void gui_type(Gui *gui, const char *words); // into the main window, long enough for one frame
