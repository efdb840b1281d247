// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/quality.h"
#include "core/engine/quality_sums.h"

// Hidden traces of core/engine/quality.h: a share of the live traces is declared absent, and what
// the flow writes there is held against what was recorded.

// Sums over hidden traces; start with zeros.
typedef struct LithoQualityHidden {
    gint64 n; // samples
    guint traces;
    double yy, ee, pp;   // recorded, misfit, predicted
    double yy2, ye, ee2; // products of the traces' energies and misfits, summed
} LithoQualityHidden;

// A copy of the flow in which every step that can writes missing traces. litho_flow_free().
LithoFlow *litho_quality_filling_flow(const LithoFlow *flow);
// A copy of what the area of `c` needs, without the traces of one fold. NULL: no memory, or the
// flow refuses the grid. litho_cube_unref().
LithoCube *litho_quality_hide(const LithoQualityAsk *ask, const LithoFlow *flow,
                              const LithoQualityCase *c, guint fold, GError **error);
// Adds the traces of a fold: `out` is what the flow made of litho_quality_hide(), host samples over
// the area. Samples of bursts do not count.
void litho_quality_hidden_add(const LithoQualityAsk *ask, const LithoQualityCase *c,
                              const LithoCube *out, guint fold, LithoQualityHidden *sums);
// Fills the figures of hidden traces; nothing is told where no trace was hidden or the flow left
// all of them empty.
void litho_quality_hidden_tell(const LithoQualityAsk *ask, const LithoQualityHidden *sums,
                               LithoQuality *quality);
