// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/grid.h"

// A few boxes that say which samples have arrived. A value; no ownership.

enum { LITHO_COVER_MAX = 48 };

typedef struct LithoCover {
    guint n;
    LithoBox box[LITHO_COVER_MAX];
} LithoCover;

// Adds a box: swallows boxes it contains, joins it with neighbours that make an exact box. When the
// list is full the smallest box is forgotten (it will be filled again; never the other way round).
void litho_cover_add(LithoCover *cover, LithoBox box);
// TRUE when the boxes together contain `box`.
gboolean litho_cover_contains(const LithoCover *cover, LithoBox box);
// Removes the samples of `box` from every box of the list.
void litho_cover_subtract(LithoCover *cover, LithoBox box);
void litho_cover_clear(LithoCover *cover);
