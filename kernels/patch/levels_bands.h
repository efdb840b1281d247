// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/common/noise_job.h"
#include "kernels/patch/levels.h"

// Noise that is louder in places for a short time or at some frequencies, as swell, wind, traffic
// and surface waves are: cells of a quarter of a second are too long for it, and the lower quartile
// of the frequencies says nothing of it. On lines and surveys of few lines, where dense events
// reach all wavenumbers, as noise does, what all frequencies have in common counts alone.
typedef struct PatchBands {
    NoiseCells cells, times; // `times`: of all windows that begin at one time
    guint8 *found; // [frequency]: the noise is clearly louder somewhere there, or at one beside it
    gboolean known; // it was asked
    gboolean vary;  // at enough frequencies and cells
} PatchBands;

// From noise_map_quiet() of the windows of the whole survey. Clear it with patch_bands_clear().
PatchBands patch_bands_find(const LithoNoiseWindows *whole, const float *quiet);
void patch_bands_clear(PatchBands *bands);
// Gives `levels`, which have no shape, cells as fine as those of `bands`, and there the levels that
// the noise has: of each frequency its own, or, where there are few lines, one for all; then those
// of patch_times_settle().
gboolean patch_bands_settle(const PatchBands *bands, gboolean few, PatchLevels *levels,
                            GError **error);
// Moves `levels`, which have no shape, up and down in time by as much as the windows that begin at
// one time exceed them, of all cells and frequencies alike; they get a cell for each such time.
gboolean patch_times_settle(const PatchBands *bands, PatchLevels *levels, GError **error);
// Gives `levels` cells at least as fine as those of `cells` along all axes, and there the levels
// that they have by exp(by[frequency][cell]).
// LITHO_ERROR_MEMORY.
gboolean patch_levels_refine(const NoiseCells *cells, const float *by, PatchLevels *levels,
                             GError **error);
// Bytes that finding and settling take, at most.
guint64 patch_bands_bytes(const LithoPatchGeometry *g);
