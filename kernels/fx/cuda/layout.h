// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/fx/fx.h"
#include "kernels/fx/cuda/kernels.h"

// The host's share of the filter on a device: which block every window can bear, which windows have
// absent traces, and who is launched with whom (rule 3 of geometry.h). Belongs to one thread.

// Windows of one time window that share a block shape and are all with or all without absent
// traces.
typedef struct FxGroup {
    int first, count;     // in the layout's spots; those with one filter come first
    int edged;            // how many have more
    int half_il, half_xl; // both 0: too few traces for any filter
    gboolean holed;
    int few; // largest of its spots
    int n_slots;
    int max_il, max_xl; // most design points along the axes; -1 when a window has fewer than
                        // 2 half + 1 of them
} FxGroup;

typedef struct FxLayout {
    GArray *spots;  // of LithoFxSpot
    GArray *groups; // of FxGroup
    gint64 empty;   // windows too poor for a filter
} FxLayout;

// Windows of the job: [il0, il1) x [xl0, xl1), numbers along the two axes.
typedef struct FxWindows {
    int il0, il1, xl0, xl1;
} FxWindows;

// `present` covers `held` (survey indices); NULL = every trace is there. Frees with
// fx_layout_free().
FxLayout *fx_layout_new(const LithoFxParams *params, const LithoFxGeometry *g, FxWindows windows,
                        LithoFxHeld held, const guint8 *present);
void fx_layout_free(FxLayout *layout); // NULL is fine
