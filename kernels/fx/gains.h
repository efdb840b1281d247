// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"
#include "kernels/common/erratic.h"
#include "kernels/common/gains.h"
#include "kernels/fx/geometry.h"

// Gains and noise of single traces (kernels/common/gains.h) of the F-X filter, for both backends:
// rule 9 of geometry.h.

// TRUE where gains are asked for.
gboolean fx_gains_asked(const LithoFxParams *params);
// Bytes of the input's copy over its gains, of a box; 0 where none can come.
guint64 fx_gains_bytes(const LithoGrid *grid, const LithoFxParams *params, LithoBox box);
// The pass's input, or a cube of it over its gains: those that stand in pass->measured, else those
// of the input where it is the whole survey. `device`: where both are; NULL = on the host.
// Borrowed. NULL: cancelled, or no memory.
const LithoCube *fx_gains_divide(LithoGains *gains, const LithoPass *pass,
                                 const LithoGainsDevice *device, LithoRun *run, GError **error);
// The rule by which the input is cleaned, with the traces that are noisier than others; `stamp`
// tells one list of them from another.
LithoCleanRule fx_gains_clean_rule(LithoUneven of, guint64 stamp, const LithoFxParams *params);
// shared.c: numbers that stand in `measured`.
LithoUneven fx_gains_from_measured(const LithoGrid *grid, const LithoMeasured *measured);
