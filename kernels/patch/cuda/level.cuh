// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
//
// Functions that the kernels of the level share.
#include "kernels/common/noise_share.h"
#include "kernels/patch/cuda/device.cuh"
#include "kernels/patch/cuda/level.h"

namespace
{

__device__ long long wavenumbers(const LithoLevelTask &t)
{
    return (long long)t.n[0] * t.n[1];
}

__device__ int bins(const LithoLevelTask &t)
{
    return t.n[2] / 2 + 1;
}

__device__ float *power_of(const LithoLevelTask &t, int job, int f, int window)
{
    const LithoLevelJob j = t.jobs[job];
    return t.power +
           ((long long)j.first * bins(t) + (long long)f * j.windows + window) * wavenumbers(t);
}

// Sums over a block of whole warps in a fixed order, known to all threads. `parts`: one a warp.
__device__ double sum_of_block(double x, double *parts)
{
    for (int by = 16; by; by /= 2)
        x += __shfl_xor_sync(~0u, x, by);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = x;
    __syncthreads();
    double sum = 0;
    for (int k = 0; k < (int)blockDim.x / 32; k++)
        sum += parts[k];
    return sum;
}

// From the taper's energy on the traces of a window; gives its scale. By all threads of a block.
__device__ float weigh_window(const LithoLevelTask &t, int window, double energy, int present)
{
    const bool enough = LITHO_NOISE_ONE_IN * present >= wavenumbers(t) && present > 0;
    const float scale = enough ? (float)(1 / (energy * t.time_energy)) : 0;
    if (threadIdx.x == 0) {
        t.share[window] = enough ? (float)(energy / t.energy) : 0;
        t.scale[window] = scale;
    }
    return scale;
}

} // namespace

// level_lines.cu: litho_level_spectra() of cubic windows whose lines a thread's registers hold.
bool litho_level_takes_lines(const LithoLevelTask *task);
int litho_level_lines(const LithoLevelTask *task, const LithoLevelPlace *places, int count,
                      cudaStream_t stream);
