// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/cuda/erratic_kernels.h"

// Parts of the kernels that look for bursts (erratic.cu) and spikes (spikes.cu).

namespace
{

enum { THREADS = 256 };

unsigned blocks_for(long long n)
{
    return (unsigned)((n + THREADS - 1) / THREADS);
}

__device__ long long max_of(long long a, long long b)
{
    return a > b ? a : b;
}

__device__ long long min_of(long long a, long long b)
{
    return a < b ? a : b;
}

// a / b of numbers that are not negative: of 64 bits it takes ten times the instructions.
__device__ long long quotient(long long a, long long b)
{
    return (a | b) >> 32 == 0 ? (long long)((unsigned)a / (unsigned)b) : a / b;
}

// Sample of the held box at which piece p of its traces begins; may lie before it.
__device__ long long start_of(const LithoErraticTask &t, long long p)
{
    return (t.first + p) * LITHO_ERRATIC_CUDA_PIECE - t.t0;
}

// Samples of a trace from `start` on, a piece of them, and `beside` on either side; zeros beyond
// the trace. A thread that asks for them one by one, as often as its sums need them, waits for the
// cache: its warp's lie in as many lines as it has threads.
template <int beside>
__device__ void load_piece(const float *trace, long long n, long long start,
                           float x[LITHO_ERRATIC_CUDA_PIECE + 2 * beside])
{
    const int piece = LITHO_ERRATIC_CUDA_PIECE;
    const float *from = trace + start;
    if (start >= 0 && start + piece <= n && (size_t)from % sizeof(float4) == 0) {
#pragma unroll
        for (int q = 0; q < piece / 4; q++) {
            const float4 v = ((const float4 *)from)[q];
            x[beside + 4 * q] = v.x;
            x[beside + 4 * q + 1] = v.y;
            x[beside + 4 * q + 2] = v.z;
            x[beside + 4 * q + 3] = v.w;
        }
    } else {
#pragma unroll
        for (int i = 0; i < piece; i++)
            x[beside + i] = start + i >= 0 && start + i < n ? from[i] : 0;
    }
#pragma unroll
    for (int i = 0; i < beside; i++) {
        const long long before = start - beside + i, behind = start + piece + i;
        x[i] = before >= 0 && before < n ? trace[before] : 0;
        x[beside + piece + i] = behind >= 0 && behind < n ? trace[behind] : 0;
    }
}

} // namespace
