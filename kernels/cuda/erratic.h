// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/common/erratic.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/gaps.h"

// litho_clean() on a device: the same pieces; their guesses but for the rounding of the transforms.

// Scratch memory of one plan.
typedef struct LithoCudaErratic {
    LithoCudaArray live, energy, bad, marks, counts, share;
    LithoCudaGaps gaps;
} LithoCudaErratic;

// litho_clean() whose cube is on the context's device, where `in` is too afterwards. The stream is
// at rest when another cube was made. litho_clean_bytes() tells what it takes beside `in`.
const LithoCube *litho_cuda_clean(LithoCudaContext *context, LithoCudaErratic *scratch,
                                  LithoClean *clean, LithoCleanRule rule, const LithoCube *in,
                                  LithoRun *run, GError **error);
void litho_cuda_erratic_release(LithoCudaContext *context, LithoCudaErratic *scratch);
