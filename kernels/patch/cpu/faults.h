// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/run.h"
#include "kernels/patch/faults.h"

// The pass over what was removed, which puts back what leaves at faults (kernels/patch/faults.h).

enum { PATCH_FAULT_BINS = LITHO_PATCH_MAX_WINDOW / 2 + 1 };

// Tables of transforms along time, shared by the threads: cos(2 pi f t / length) and -sin of it.
typedef struct PatchFaultTransforms {
    int length; // of the windows they are for; 0 = none
    float cosine[PATCH_FAULT_BINS][PATCH_FAULT_BINS], sine[PATCH_FAULT_BINS][PATCH_FAULT_BINS];
} PatchFaultTransforms;

void patch_fault_transforms_init(PatchFaultTransforms *t, int length);

typedef struct PatchFaults {
    LithoPatchGeometry small; // litho_patch_fault_geometry()
    const PatchFaultTransforms *transforms;
    const float *removed; // dense samples of `held`, 0 on traces that were not recorded
    LithoBox held;        // litho_patch_first_pass() of the region
    LithoBox region;
    float *out; // dense samples of `out_held`: takes what comes back, added
    LithoBox out_held;
    const guint8 *wanted; // traces of `out_held`
    const LithoPatchLevels *levels;
    float limit; // litho_patch_fault_limit()
} PatchFaults;

// FALSE: cancelled, or no memory.
gboolean patch_faults(const PatchFaults *faults, LithoRun *run, GError **error);
// Bytes of work memory for a region.
guint64 patch_faults_bytes(const LithoPatchGeometry *small, LithoBox region, int threads);
