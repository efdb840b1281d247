// SPDX-License-Identifier: GPL-3.0-or-later
//
// Generated cubes with their truth, and the judgement of a flow on them, shared by the tests of
// quality and of deciding.
#pragma once
#include "core/engine/quality.h"

typedef struct Cubes {
    LithoCube *noisy, *truth;
} Cubes;

void cubes_clear(Cubes *c);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Cubes, cubes_clear)

// A cube of 'lithoscope-cli synth': its kind and words like "inlines=64 snr=0".
Cubes quality_make(const char *kind, const char *settings);
// One step with words like "window=30"; litho_flow_free().
LithoFlow *quality_flow(const LithoOperator *op, const char *settings);
// Spectrum of the noise that was really added, by averaging periodograms (direct sums) of traces;
// litho_noise_clear().
LithoNoise quality_true_noise(const Cubes *c);
// Judges one run of the flow against the truth; hide = share of the traces that are held out.
LithoQuality quality_judge(const LithoFlow *flow, const Cubes *c, const LithoNoise *noise,
                           double hide);
// Judges one pass of `flow` over `in` by its measured noise level, against `truth` where it is not
// NULL; the output to `out` where it is not NULL.
LithoQuality quality_pass(const LithoFlow *flow, LithoCube *in, LithoCube *truth, LithoCube **out);
