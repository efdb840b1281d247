// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/fx/cuda/kernels.h"

// Source of a spot's traces: the spectra, or its private tile. Valid for survey indices inside the
// held area (the tile).
struct Source {
    const float2 *at;
    int pitch;

    __device__ float2 operator()(int il, int xl) const
    {
        return at[(long long)il * pitch + xl];
    }
};

__device__ static inline long long tile_at(const LithoFxGroup &g, const LithoFxSpot &s, int bin)
{
    return ((long long)s.tile * g.bins + bin) * g.tile_il * g.tile_xl;
}

__device__ static inline Source source_of(const LithoFxGroup &g, const LithoFxSpot &s, int bin,
                                          int pass)
{
    Source source;
    if (s.tile >= 0) {
        source.pitch = g.tile_xl;
        source.at = (const float2 *)g.tiles[pass % 2] + tile_at(g, s, bin) -
                    (long long)(s.il0 - 2 * g.half_il) * g.tile_xl - (s.xl0 - 2 * g.half_xl);
    } else {
        source.pitch = g.held.n_xl;
        source.at = (const float2 *)g.spectra + bin * g.plane -
                    (long long)g.held.il0 * g.held.n_xl - g.held.xl0;
    }
    return source;
}

__device__ static inline bool present_at(const LithoFxGroup &g, int il, int xl)
{
    return g.present[(il - g.held.il0) * g.held.n_xl + xl - g.held.xl0] != 0;
}

__device__ static inline long long system_of(const LithoFxGroup &g, int spot, int bin)
{
    return (long long)spot * g.bins + bin;
}

// (row, column), row >= column, of number t in a triangle walked row by row.
__device__ static inline void triangle(int t, int *row, int *column)
{
    int r = (int)((sqrtf(8.0f * t + 1) - 1) * 0.5f);
    r -= r * (r + 1) / 2 > t;
    r += (r + 1) * (r + 2) / 2 <= t;
    *row = r;
    *column = t - r * (r + 1) / 2;
}

// Index of a trace's sample 0 in the result.
__device__ static inline long long result_at(const LithoFxBack &b, int il, int xl)
{
    return ((long long)(il - b.out_held.il0) * b.out_held.n_xl + xl - b.out_held.xl0) *
               b.out_samples -
           b.out_t0;
}

// The largest value of a block's threads. `shared`: one number a warp.
__device__ static inline float block_max(float value, float *shared)
{
    for (int k = 16; k > 0; k /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, k));
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = value;
    __syncthreads();
    value = shared[0];
    for (int k = 1; k < (blockDim.x + 31) / 32; k++)
        value = fmaxf(value, shared[k]);
    __syncthreads();
    return value;
}
