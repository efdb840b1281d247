// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"
#include "kernels/common/erratic.h"
#include "kernels/fx/geometry.h"

// F-X (F-XY) prediction filter: random noise is not predictable from neighbouring traces, locally
// plane events are. Noncausal, conjugate-symmetric filter of up to 11 x 11 traces per window and
// frequency. Yang, Gui, Fu, J. Computer Applications 41(2), 2021; Canales 1984. See docs/fx.md.
extern const LithoOperator litho_operator_fx;

// The CPU backend's implementation (cpu/fx.c).
extern const LithoImpl litho_fx_cpu;

// The parameters with numbers of samples in place of an automatic time window and overlap.
LithoFxParams litho_fx_in_use(const LithoGrid *grid, const LithoFxParams *params);
// Geometry for a cube's grid; the operator's check() has accepted both.
LithoFxGeometry litho_fx_grid_geometry(const LithoGrid *grid, const LithoFxParams *params);
// litho_fx_weight() of all windows of an axis, [window][position in it]; g_free().
// LITHO_ERROR_MEMORY.
float *litho_fx_weights(LithoFxAxis axis, GError **error);
// Bursts are guessed, missing traces stay missing.
LithoCleanRule litho_fx_clean_rule(const LithoFxParams *params);
// Recorded traces of the region that have fewer than litho_fx_fewest() recorded ones in their
// block: what is said of them would be made of guesses, and they stay as they are. *alone[trace
// that `raw` holds] is 1 for them; NULL: there are none; g_free(). LITHO_ERROR_MEMORY.
gboolean litho_fx_alone(const LithoCube *raw, const LithoFxGeometry *geometry, LithoBox region,
                        guint8 **alone, GError **error);
// TRUE where a trace of the region is still missing in the output.
gboolean litho_fx_leaves_gaps(const LithoCube *out, LithoBox region);
// The operator's suggest().
void litho_fx_suggest(const LithoEvidence *evidence, GArray *list);
// The operator's input_box().
LithoBox litho_fx_input_box(const LithoGrid *in, const void *params, LithoBox region);
