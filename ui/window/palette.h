// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/window/window.h"

// Ctrl+Shift+P: finds commands, operators and parameters by typing. "prewhitening 20" sets the
// parameter; without a number it puts the keyboard on it.
void litho_palette_open(LithoWindow *window);

// The first thing that `text` would do, as shown in the list ("Prewhitening = 20 %"); NULL = nothing. For
// tests; g_free().
char *litho_palette_first(LithoWindow *window, const char *text);
// Does it. FALSE when nothing matches.
gboolean litho_palette_run(LithoWindow *window, const char *text);
