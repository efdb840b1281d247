// SPDX-License-Identifier: GPL-3.0-or-later
//
// Traces times a factor each.
#include "kernels/cuda/gains_kernels.h"

enum { THREADS = 256, MOST_ROWS = 65535 };

// A block a trace: 8 bytes are moved a sample.
__global__ void multiply_kernel(float *out, LithoGainsBox held, LithoGainsBox region,
                                const float *gain, long long nx)
{
    const long long il = region.lo[0] + blockIdx.y, xl = region.lo[1] + blockIdx.x;
    const long long trace = (il - held.lo[0]) * held.n[1] + xl - held.lo[1];
    const float by = gain[il * nx + xl];
    float *to = out + trace * held.n[2] + region.lo[2] - held.lo[2];
    for (long long k = threadIdx.x; by != 1 && k < region.n[2]; k += THREADS)
        to[k] *= by;
}

int litho_gains_multiply(float *out, LithoGainsBox held, LithoGainsBox region, const float *gain,
                         long long nx, cudaStream_t stream)
{
    for (long long il = 0; il < region.n[0]; il += MOST_ROWS) {
        LithoGainsBox part = region;
        part.lo[0] += il;
        part.n[0] = region.n[0] - il < MOST_ROWS ? region.n[0] - il : MOST_ROWS;
        const dim3 grid((unsigned)part.n[1], (unsigned)part.n[0]);
        multiply_kernel<<<grid, THREADS, 0, stream>>>(out, held, part, gain, nx);
    }
    return (int)cudaGetLastError();
}
