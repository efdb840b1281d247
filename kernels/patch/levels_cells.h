// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/patch/levels.h"

// Internal to the measurement of levels: the cells of a survey. They depend on the grid of the
// survey, the windows and the parameters alone. Any thread, one for each `levels`.

enum {
    PATCH_CELL_TRACES = 64,   // along inlines and crosslines, at most
    PATCH_CELL_WINDOWS = 256, // of a cell, at most
};

// Gives `levels`, whose parameters are set, its cells, their places and levels of 0.
void patch_cells_make(PatchLevels *levels, const LithoGrid *grid, const LithoPatchGeometry *g);
// The samples that cell `k` is measured on: half of a neighbour on either side.
LithoBox patch_cells_box(const PatchLevels *levels, const LithoGrid *grid, int k);
// Windows of a cell, at most.
int patch_cells_windows(const PatchLevels *levels);
// TRUE where cells have fewer traces than PATCH_CELL_TRACES along both axes.
gboolean patch_cells_are_small(const PatchLevels *levels);
// Tells louder noise from events in the levels of small cells (levels_places.c).
void patch_cells_settle(PatchLevels *levels);
