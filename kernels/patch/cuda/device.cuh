// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/patch/cuda/kernels.h"

enum { THREADS = 256 };

__host__ static inline unsigned blocks_for(long long n)
{
    return (unsigned)((n + THREADS - 1) / THREADS);
}

__device__ static inline float finite_or_zero(float x)
{
    return x - x == 0 ? x : 0;
}

// Trace (il, xl) of a box.
__device__ static inline long long trace_at(const LithoPatchBox &b, long long il, long long xl)
{
    return (il - b.lo[0]) * b.n[1] + xl - b.lo[1];
}

// Beginning of a column's strip; row and column counted from the first places.
__device__ static inline float *strip_at(const LithoPatchTask &t, int row, int column)
{
    const long long traces = (long long)t.g.axis[0].length * t.g.axis[1].length;
    return t.ring + (((long long)(row % t.slots) * t.count[1] + column) * traces) * t.length;
}

// Square of the threshold of a window at frequency `bin`.
__device__ static inline float limit_of(const LithoPatchTask &t, int row, int column, int k,
                                        int bin, float share)
{
    const int place[3] = {t.first[0] + row, t.first[1] + column, k};
    float centre[3];
    litho_patch_centre(&t.g, place, centre);
    return litho_patch_limit(&t.g, &t.levels, centre, bin, t.threshold, t.least, share);
}
