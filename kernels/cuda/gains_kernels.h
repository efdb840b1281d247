// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <driver_types.h>

#ifdef __cplusplus
extern "C" {
#endif

// Samples of whole or part traces: the first of each axis, and how many.
typedef struct LithoGainsBox {
    long long lo[3], n[3];
} LithoGainsBox;

// out, dense over `held`: samples of `region` times gain[il * nx + xl] of the survey. Returns
// cudaGetLastError().
int litho_gains_multiply(float *out, LithoGainsBox held, LithoGainsBox region, const float *gain,
                         long long nx, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
