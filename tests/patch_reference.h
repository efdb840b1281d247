// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"
#include "kernels/patch/faults.h"

// The local Fourier filter as kernels/patch/geometry.h states it, window after window in double
// precision, with a level `sigma` that is the same everywhere. `shape` is that of LithoPatchLevels,
// or NULL; `recorded`, one byte a trace, tells recorded traces from guesses, NULL = all that are
// live. With kernels/patch/faults.h where `faults` is on. A new cube; dead traces are zero.
LithoCube *patch_reference(const LithoCube *in, const LithoPatchParams *params, double sigma,
                           const float *shape, const guint8 *recorded);
// Powers are judged times the factors of half the frequencies (LITHO_PATCH_GUIDE).
LithoCube *patch_reference_guided(const LithoCube *in, const LithoPatchParams *params,
                                  double sigma);
// |a - b| / |a| over all samples.
double patch_distance(const LithoCube *a, const LithoCube *b);
