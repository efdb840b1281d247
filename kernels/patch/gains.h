// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/common/gains.h"
#include "kernels/patch/patch.h"

// Gains and noise of single traces (kernels/common/gains.h) of the local Fourier filter, for both
// backends: bursts are sought, the noise is measured and windows are filtered on traces over their
// gains, or with a share of what noisy traces have beside the guess of their neighbours. Missing
// traces are filled from such traces, and have the gain 1; recorded ones that filling alone leaves
// as they are come from the input, as a product of a quotient is not the same to the bit.
typedef LithoGains PatchGains;
typedef LithoGainsDevice PatchGainsDevice;

// TRUE where gains are asked for: the level of the noise is measured.
gboolean patch_gains_asked(const LithoPatchParams *params);
// Bytes of the input's copy over its gains, of a box; 0 where none can come.
guint64 patch_gains_bytes(const LithoGrid *grid, const LithoPatchParams *params, LithoBox box);
// The input, or a cube of it over its gains, which are taken from `measured` or measured on `in`.
// `device`: where the input and that cube are; NULL = on the host. Borrowed. NULL: cancelled, or
// no memory.
const LithoCube *patch_gains_divide(PatchGains *gains, const LithoPatchParams *params,
                                    const LithoCube *in, const PatchGainsDevice *device,
                                    LithoMeasured *measured, LithoRun *run, GError **error);
// The rule by which the input is cleaned, with the traces that are noisier than others.
LithoCleanRule patch_gains_clean_rule(const PatchGains *gains, const LithoPatchParams *params);
// levels_recipe.c: numbers that stand in `measured`.
LithoUneven patch_gains_from_measured(const LithoGrid *grid, const LithoMeasured *measured);
