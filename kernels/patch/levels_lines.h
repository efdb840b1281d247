// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/common/noise_job.h"
#include "kernels/patch/levels.h"

// Powers of a cell's windows at a frequency: the mean of the noise, by the faintest ones, and of
// all. Zeros: nothing is told.
typedef struct PatchFaint {
    float noise, mean;
} PatchFaint;

// TRUE where a survey has so few lines that an event may fill its cells.
gboolean patch_lines_are_few(const LithoGrid *grid);
// faint[frequency] of the windows of a cell, which are zeros before.
void patch_lines_tell(const PatchLevels *levels, int cell, const LithoNoiseWindows *windows,
                      PatchFaint *faint);
// Where cells are louder than the whole survey, whole[frequency], gives them the part of it that
// is noise by faint[cell][frequency]. `levels` have no shape.
void patch_lines_settle(PatchLevels *levels, const PatchFaint *faint, const float *whole);
