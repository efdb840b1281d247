// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/common/gaps.h"
#include "kernels/cuda/cuda.h"

// litho_gaps_guess() on a device: the same windows, thresholds and order of sums along the survey,
// but for the rounding of the transforms.

typedef struct LithoCudaGaps {
    LithoCudaArray live, scale, columns;
} LithoCudaGaps;

// Gives a cube on the context's device: `in` with guesses in place of its missing traces and of the
// `pieces` (NULL = none), whose `bad` is device memory; where these are all that is asked for,
// missing traces stay missing with the samples that they have. The stream is at rest on return.
// `gaps` is scratch memory. NULL: LITHO_ERROR_MEMORY, LITHO_ERROR_CANCELLED.
LithoCube *litho_cuda_gaps_guess(LithoCudaContext *context, LithoCudaGaps *gaps,
                                 const LithoCube *in, const LithoGapPieces *pieces,
                                 LithoGapsRule rule, LithoRun *run, GError **error);
// Likewise in `cube` itself, which is on the device and the caller's own.
gboolean litho_cuda_gaps_fill(LithoCudaContext *context, LithoCudaGaps *gaps, LithoCube *cube,
                              const LithoGapPieces *pieces, LithoGapsRule rule, LithoRun *run,
                              GError **error);
void litho_cuda_gaps_release(LithoCudaContext *context, LithoCudaGaps *gaps);
