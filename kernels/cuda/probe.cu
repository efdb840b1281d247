// SPDX-License-Identifier: GPL-3.0-or-later
//
// The two roofs of a device that every stage is quoted against.
#include "kernels/cuda/probe.h"

enum { THREADS = 256, LOADS = 4 };

// 16 bytes a load and LOADS loads in flight per thread: what it takes to fill the memory's queue.
__global__ void copy_kernel(uint4 *__restrict__ to, const uint4 *__restrict__ from, size_t n)
{
    const size_t step = (size_t)gridDim.x * THREADS;
    size_t k = (size_t)blockIdx.x * THREADS + threadIdx.x;
    for (; k + (LOADS - 1) * step < n; k += LOADS * step) {
        uint4 v[LOADS];
#pragma unroll
        for (int i = 0; i < LOADS; i++)
            v[i] = __ldcs(from + k + i * step);
#pragma unroll
        for (int i = 0; i < LOADS; i++)
            __stcs(to + k + i * step, v[i]);
    }
    for (; k < n; k += step)
        to[k] = from[k];
}

// 8 independent chains: an FMA takes 4 cycles and 4 warps share a scheduler's unit.
__global__ void fma_kernel(float *sink, float seed)
{
    float x[8];
#pragma unroll
    for (int i = 0; i < 8; i++)
        x[i] = seed * (threadIdx.x + i);
    for (int r = 0; r < LITHO_PROBE_ROUNDS; r++) {
#pragma unroll
        for (int u = 0; u < 4; u++) {
#pragma unroll
            for (int i = 0; i < 8; i++)
                x[i] = fmaf(x[i], seed, 1.0f);
        }
    }
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 8; i++)
        sum += x[i];
    if (sum == 12345.678f) // never: keeps the loop alive without a store per thread
        sink[blockIdx.x] = sum;
}

int litho_probe_copy(void *to, const void *from, size_t bytes, int processors, cudaStream_t stream)
{
    copy_kernel<<<processors * 16, THREADS, 0, stream>>>((uint4 *)to, (const uint4 *)from,
                                                         bytes / sizeof(uint4));
    return (int)cudaGetLastError();
}

int litho_probe_fma(float *sink, int blocks, float seed, cudaStream_t stream)
{
    fma_kernel<<<blocks, THREADS, 0, stream>>>(sink, seed);
    return (int)cudaGetLastError();
}
