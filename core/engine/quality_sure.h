// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/quality.h"
#include "core/engine/quality_sums.h"

// Fills the expected SNR with its interval, the mean squared errors and what they lack in `quality`
// from the sums of a probe, at least one sample, and the noise level that the question was asked
// with: the formulas of core/engine/quality.h. Pure, any thread.
void litho_quality_expect(const LithoQualitySums *sums, const LithoNoise *noise,
                          LithoQuality *quality);
