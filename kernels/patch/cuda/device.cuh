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
    for (int a = 0; a < 3; a++)
        centre[a] = litho_patch_start(t.g.axis[a], place[a]) + 0.5f * (t.g.axis[a].length - 1);
    const float sigma = t.threshold > 0 ? litho_patch_level(&t.levels, centre, bin) : 0;
    const float factor = t.threshold * t.threshold * share * (float)t.g.energy;
    return fmaxf(factor * sigma * sigma, fmaxf(t.least * t.least, 1e-30f));
}
