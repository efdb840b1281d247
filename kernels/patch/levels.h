// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/patch/erratic.h"
#include "kernels/patch/patch.h"

// The noise's level per frequency on a coarse grid of cells, of both backends.
typedef struct PatchLevels {
    LithoPatchLevels table; // its sigma is `sigma`
    float *sigma;
    double total, low, high; // of the whole input, as in LithoNoise
    guint64 serial;          // of the cube it was measured on
    LithoMeasured *measured; // that it was taken from; NULL = none. A reference
    guint stamp;             // another one for other numbers
    LithoPatchParams params;
} PatchLevels;

// Takes `measured`, or params->sigma, or measures `in`, which is the whole survey then, unless
// `levels` is of those already. Cells of 1 s and 64 x 64 traces; each reads half a cell beyond its
// border.
gboolean patch_levels_update(PatchLevels *levels, const LithoPatchGeometry *g,
                             const LithoPatchParams *params, const LithoCube *in,
                             LithoMeasured *measured, LithoRun *run, GError **error);
// The level at every sample of `out`'s region, of all frequencies together: the standard deviation of
// the noise there.
void patch_levels_volume(const PatchLevels *levels, LithoBox region, LithoCube *out);
// Measures or takes the level first. Refused where only missing traces are filled.
gboolean patch_levels_exec(PatchLevels *levels, PatchClean *clean, const LithoGrid *grid,
                           const LithoPass *pass, LithoRun *run, LithoCube *out, GError **error);
void patch_levels_clear(PatchLevels *levels);
void patch_levels_report(const PatchLevels *levels, const LithoGrid *grid,
                         const LithoPatchParams *params, LithoReport *report);
