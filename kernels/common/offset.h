// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"

// An offset of the samples: tapers spread it over all frequencies and wavenumbers, where it passes
// for noise. 3.5 in every sample had a level of 0.39.

// From 200 times the deviation on an offset passes for noise that keeps to some wavenumbers where
// the level is told by neighbouring frequencies; from once on in the short windows of a filter.
#define LITHO_OFFSET_FAR_ABOVE 150
#define LITHO_OFFSET_ABOVE 0.5

// `cube` (host samples) without its offset: the mean of the live samples of `box` that are not
// zero, where it is more than `above` times what they stray from it (rms). Zeros, as of mutes,
// stay. NULL with *error as it was: there is no such offset. `recorded`: one byte a trace of
// cube->held, 0 = does not count; NULL = all that are live.
LithoCube *litho_offset_without(const LithoCube *cube, const guint8 *recorded, LithoBox box,
                                double above, GError **error);
// Mean of the live samples of `box` that are not zero over what they stray from it (rms), with its
// sign; 0 where there is none. `cube` has host samples.
double litho_offset_of(const LithoCube *cube, LithoBox box);
// TRUE where a live trace of `cube` (host samples) that was recorded, as above, holds a number
// other than zero.
gboolean litho_offset_leaves_any(const LithoCube *cube, const guint8 *recorded);
