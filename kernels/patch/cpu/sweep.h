// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <fftw3.h>

#include "core/run.h"
#include "kernels/patch/geometry.h"

// One pass of thresholding over all windows that touch a region (rules 2 to 5 of geometry.h).

// Transforms of windows that fftwf makes (all but 16 x 16 x 16), shared by the threads.
typedef struct PatchTransforms {
    fftwf_plan forward, inverse; // one window, out of place; NULL where windows are 16^3
} PatchTransforms;

gboolean patch_transforms_init(PatchTransforms *t, const LithoPatchGeometry *g, GError **error);
void patch_transforms_clear(PatchTransforms *t);

typedef struct PatchSweep {
    LithoPatchGeometry g;
    const PatchTransforms *transforms;
    const float *in;    // dense samples of `held`
    LithoBox held;      // must hold what the region needs
    const guint8 *live; // traces of `held`; NULL = all
    LithoBox region;
    float *out; // dense samples of `out_held`; its region is overwritten
    LithoBox out_held;
    const guint8 *wanted; // traces of `out_held` that are to be made; NULL = all
    const LithoPatchLevels *levels;
    float threshold; // in standard deviations; 0: `least` alone
    float least;     // |F| below it become zero too, whatever the noise
    int rule;        // LITHO_PATCH_SINGLE, ...
    float *largest;  // NULL, or takes the largest |F|; nothing is written then
    const char *stage;
    gint64 windows; // counted while it runs
} PatchSweep;

// FALSE: cancelled, or no memory. Progress is told in columns of windows.
gboolean patch_sweep(PatchSweep *sweep, LithoRun *run, GError **error);
// Bytes of work memory for a region.
guint64 patch_sweep_bytes(const LithoPatchGeometry *g, LithoBox region);
