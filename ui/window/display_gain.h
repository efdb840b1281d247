// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/window/window.h"

// Gain for the eye: amplitudes times a power of the time, automatic gain, wiggles without the
// section under them. The data stay as they are; the titles of the views say it.

// Adds the window's actions "display-gain" ("none", "t", "t1.5", "t2", "t3", "agc50", "agc100",
// "agc250": samples of the window), "agc" (on and off), "time-gain" (none, t, t^2 in turn) and
// "density"; they follow the session.
void litho_display_gain_init(GActionMap *window, LithoSession *session);
