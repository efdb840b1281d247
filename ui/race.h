// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/window.h"

// The flow on the whole cube, on the processor and on the graphics card, one after the other: two
// bars, the ratio, and how far the two results are apart.
void litho_race_open(LithoWindow *window);
