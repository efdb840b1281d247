// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <fftw3.h>

#include "core/run.h"
#include "kernels/patch/geometry.h"

// One pass of thresholding over all windows that touch a region (rules 2 to 5 of geometry.h).

// Transforms of windows by FFTW, shared by the threads; windows of 16 x 16 x 16 have their own.
typedef struct PatchTransforms {
    fftwf_plan forward, inverse; // one window, out of place
} PatchTransforms;

gboolean patch_transforms_init(PatchTransforms *t, const LithoPatchGeometry *g, GError **error);
void patch_transforms_clear(PatchTransforms *t);

// Work memory that sweeps of one thread keep for the next: what is not written again takes no new
// pages. Zero before the first sweep; the caller clears it.
typedef struct PatchRoom {
    struct {
        void *data;
        gsize bytes;
    } scratch, ring, empty;
} PatchRoom;

void patch_room_clear(PatchRoom *room);

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
    gboolean guided; // by half the frequencies (geometry.h)
    float *largest;  // NULL, or takes the largest |F|; nothing is written then
    PatchRoom *room; // NULL = the sweep's own
    const char *stage;
    int pass, passes; // sweeps over one region that are one stage: numbers from 0; passes 0 = alone
    gint64 windows;   // counted while it runs
} PatchSweep;

// FALSE: cancelled, or no memory. Progress is told in columns of windows of all passes.
gboolean patch_sweep(PatchSweep *sweep, LithoRun *run, GError **error);
// Bytes of work memory for a region.
guint64 patch_sweep_bytes(const LithoPatchGeometry *g, LithoBox region);
