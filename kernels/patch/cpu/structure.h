// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"
#include "core/run.h"

// Dips or coherence of `in` (host samples of all that `region` needs: LITHO_PATCH_DIP_TRACES and
// LITHO_PATCH_DIP_SAMPLES around it) by the rules of kernels/patch/structure.h, into `out`. Dips
// are multiplied by `unit`. FALSE: cancelled, or no memory.
gboolean patch_structure(const LithoCube *in, LithoBox region, int volume, float unit,
                         LithoCube *out, LithoRun *run, GError **error);
// Bytes for that, the volume itself included, the result not.
guint64 patch_structure_bytes(const LithoGrid *grid, LithoBox region);
