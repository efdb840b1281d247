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

} // namespace
