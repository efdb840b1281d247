// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"

// Energies of a filter's pass on the host, summed over the region's live traces whose samples are
// finite.
typedef struct LithoWeights {
    double input, removed; // removed = input - output
    double product;        // of the removed part and the output
} LithoWeights;

// Threads share the inlines; their sums are added in the order of the inlines, so that the figures
// depend on no number of threads. Input and output lie on the host. FALSE: cancelled.
gboolean litho_weigh(const LithoPass *pass, const LithoRun *run, LithoWeights *weights,
                     GError **error);
