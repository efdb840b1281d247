// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/window/window.h"

// A person's place before a demonstration began: the open cube, its flow with undo, snapshots, the
// compared results, slices and panels. Main thread.
typedef struct LithoPlace LithoPlace;

LithoPlace *litho_place_remember(LithoWindow *window);
// Brings all of it back, and frees.
void litho_place_return(LithoPlace *place);
void litho_place_free(LithoPlace *place); // NULL is fine

// Shows `cube` in place of what is open; nothing is remembered of it between two starts.
void litho_place_show(LithoWindow *window, LithoCube *cube);
