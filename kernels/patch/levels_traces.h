// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/patch/levels.h"

// Noise that differs from trace to trace, or within a few, as towards the edges of a survey, where
// its fold decreases: cells of 16 traces and more see their mean. A window's noise is the mean over
// its traces, each weighted by the taper. So levels get cells about a quarter of a window apart,
// and there the level times what that mean is more than the mean over the cell that it came from.
//
// powers[trace of the survey]: noise_traces_powers(). Nothing changes where windows differ from
// their cells by less than a tenth. LITHO_ERROR_MEMORY.
gboolean patch_traces_settle(const float *powers, const LithoGrid *grid, const int window[3],
                             int threads, PatchLevels *levels, GError **error);
// Bytes that settling takes, at most.
guint64 patch_traces_bytes(const LithoGrid *grid, const LithoPatchGeometry *g);
