// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

#include "kernels/twsm/mask_rule.h"

// Obstacles between two boundaries: a straight way is blocked where it leaves the layer. Heights of
// the layer's two ends on common regular grids, metres relative to the model's centre.
typedef struct TwsmMask {
    int nx, ny;
    float x0, y0, dx, dy;
    float *top, *bottom;   // [iy][ix]; owned; NULL = the layer is open there
    float soft;            // width of the shadow's edge is soft * sqrt(R), sqrt(m); 0 = sharp
    TwsmMaskBounds bounds; // of both; owned
    gsize n_bounds;        // floats of each
    guint64 serial;
} TwsmMask;

// Fills the bounds from the heights: once those are there.
void twsm_mask_finish(TwsmMask *mask);
void twsm_mask_free(TwsmMask *mask); // NULL is fine

// Visibility 0..1 of the straight way between two points, from TWSM_MASK_SAMPLES interior points.
float twsm_mask_at(const TwsmMask *mask, const float a[3], const float b[3]);
// TRUE: every way between the two boxes is seen (twsm_mask_at() is 1). FALSE says nothing. `down`:
// the first box lies on the layer's top, the second below.
gboolean twsm_mask_box_clear(const TwsmMask *mask, const TwsmBox *a, const TwsmBox *b,
                             gboolean down);
