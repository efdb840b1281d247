// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/common/gains.h"
#include "kernels/cuda/cuda.h"

// Traces over their gains on a device, and a result times them. Gains are measured on the host, in
// boxes that are read from the device, so that the cube gets no host samples.
typedef struct LithoCudaGains {
    LithoGainsDevice device; // for litho_gains_divide(), while this lives where it was set
    LithoReader blocks;
    LithoCudaContext *context;
    LithoCudaArray *gain; // of the traces of the survey: the plan's, which releases it
    const LithoCube *in;
} LithoCudaGains;

// Sets all of it for the input `in` of a pass on the context's device; borrows everything.
void litho_cuda_gains_set(LithoCudaGains *gains, LithoCudaContext *context, LithoCudaArray *gain,
                          const LithoCube *in);
// Device samples `out`, dense over `held`: those of `region` times the gains of their traces, in
// the context's stream.
gboolean litho_cuda_times_gains(LithoCudaContext *context, LithoCudaArray *array,
                                const LithoGrid *grid, const float *gain, float *out, LithoBox held,
                                LithoBox region, GError **error);
