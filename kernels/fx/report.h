// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/run.h"
#include "kernels/fx/geometry.h"

// Counts that both backends make while they filter, and the numbers reported from them.
typedef struct FxTotals {
    gint64 windows, empty, systems, fallbacks, failed;
    gint64 octaves; // sum of litho_fx_octaves() over the systems, of automatic prewhitening
    double input, removed, product; // energies of the region, and <output, removed>
    double shared;                  // level of shared noise; 0 = there is none
    gboolean alone;                 // some recorded traces stay as they are: litho_fx_alone()
    gboolean gaps;                  // what was to be filled is not: litho_fx_leaves_gaps()
    double seconds[3]; // of all threads: equations, filters, predictions; 0 = not measured (GPU)
} FxTotals;

// NULL report is fine. `grid` and `params`: what was filtered, and how.
void fx_report(LithoReport *report, const FxTotals *totals, const LithoGrid *grid,
               const LithoFxParams *params);
