// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/quality.h"
#include "core/engine/quality_sums.h"

// Fills `lost` and its interval in `quality` from the sums of a probe and the noise level that the
// question was asked with, behind litho_quality_expect(): the formula of core/engine/quality.h.
// Pure, any thread.
void litho_quality_tell_lost(const LithoQualitySums *sums, const LithoNoise *noise,
                             LithoQuality *quality);
