// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/common/erratic.h"
#include "kernels/patch/cpu/faults.h"
#include "kernels/patch/cpu/sweep.h"
#include "kernels/patch/gains.h"
#include "kernels/patch/levels.h"
#include "kernels/patch/choice.h"
#include "kernels/patch/swell.h"

// Everything that outlives one exec() on the CPU.
typedef struct PatchFilled PatchFilled;

enum { PATCH_LEVELS_KEPT = 7 };

typedef struct PatchPlan {
    LithoGrid grid;
    PatchLevels levels, kept[PATCH_LEVELS_KEPT]; // of the last pass, and of those before
    PatchChoice choice;
    PatchCalm calm;
    PatchGains gains;
    LithoClean clean;
    LithoPatchGeometry planned; // geometry `transforms` are for
    PatchTransforms transforms;
    gboolean have_transforms;
    PatchFaultTransforms fault_transforms;
    // Blocks that are filled already, for the cube, level and parameters below.
    PatchFilled *filled; // list
    guint64 filled_bytes, budget;
    guint64 serial, source;
    guint stamp; // of the levels
    LithoPatchParams params;
} PatchPlan;

// Transforms for windows of geometry `g`, made when there are none of that size.
gboolean patch_plan_transforms(PatchPlan *p, const LithoPatchGeometry *g, GError **error);

// cpu/fill.c. The pass with mode fill or both.
gboolean patch_fill(PatchPlan *p, const LithoPass *pass, LithoRun *run, GError **error);
void patch_fill_forget(PatchPlan *p);
// Bytes of blocks that stay behind a pass over `region`: those of which it holds a part alone.
guint64 patch_fill_kept_bytes(const LithoGrid *grid, LithoBox region, guint64 budget);
