// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/migrate/model.h"

// The place of a velocity cube under an image.

typedef enum LithoPlace {
    LITHO_PLACE_COORDINATES, // both files state the coordinates of their traces
    LITHO_PLACE_NUMBERS,     // both state line numbers
    LITHO_PLACE_STRETCHED,   // first trace on first, last on last
} LithoPlace;

// Relates both grids by the best that they state: the lateral members of `map`, which is zero.
LithoPlace litho_migrate_place(const LithoGrid *model, const LithoGrid *image, LithoModelMap *map);
// FALSE when no cell of the image lies over the model.
gboolean litho_migrate_place_overlaps(const LithoGrid *model, const LithoGrid *image,
                                      const LithoModelMap *map);
// TRUE when a file or the user states the place of the traces, not their distances alone.
gboolean litho_migrate_place_stated(const LithoGrid *grid);
