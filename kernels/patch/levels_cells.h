// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/patch/levels.h"

// Internal to the measurement of levels: the cells of a survey. They depend on the grid of the
// survey, the windows and the parameters alone. Any thread, one for each `levels`.

enum {
    PATCH_ALL_WINDOWS = 2048, // of the whole survey, for its own level
    // A longer window has frequencies enough to tell the level by (noise_has_neighbours()).
    PATCH_LONG_WINDOW = 32,
    PATCH_DEVICE_BYTES = 128 << 20, // powers of the cells that a device measures at a time
    PATCH_CELL_TRACES = 64,         // along inlines and crosslines, at most
    PATCH_CELL_WINDOWS = 256,       // of a cell, at most
};

// Gives `levels`, whose parameters are set, its cells, their places and levels of 0.
void patch_cells_make(PatchLevels *levels, const LithoGrid *grid, const LithoPatchGeometry *g);
// The samples that cell `k` is measured on: half of a neighbour on either side.
LithoBox patch_cells_box(const PatchLevels *levels, const LithoGrid *grid, int k);
// Windows of the whole survey, and of a cell, at most. Windows that are larger along all axes, or
// longer as samples are closer together, are fewer: they hold as many samples together.
int patch_all_windows(const int window[3]);
int patch_cells_windows(const PatchLevels *levels);
// TRUE where cells have fewer traces than PATCH_CELL_TRACES along both axes.
gboolean patch_cells_are_small(const PatchLevels *levels);
// Threads that take a cell each, of `n`; 1: all work at one cell after the other, and each takes a
// frequency. levels_bytes.c.
int patch_cells_together(const PatchLevels *levels, const LithoGrid *grid, const int window[3],
                         int threads, int n);
// Measures the survey that `in` holds into `levels`, whose cells are made (levels.c).
gboolean patch_levels_measure(PatchLevels *levels, const LithoPatchGeometry *g, const LithoCube *in,
                              const guint8 *recorded, const PatchMeter *meter, LithoRun *run,
                              GError **error);
// TRUE where the noise may have a level at each wavenumber (levels_keep.c).
gboolean patch_levels_have_shape(const LithoPatchParams *params);
// TRUE where the level is told behind other tapers than the floor (levels.c).
gboolean patch_levels_have_cubes(const int window[3]);
// Frequencies of such windows, from 0 on, that may hold noise: those above do where samples are
// closer together than frequencies need.
int patch_levels_told(const int window[3]);
// Tells louder noise from events in the levels of small cells (levels_places.c).
void patch_cells_settle(PatchLevels *levels);
