// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/wavepacket/cuda/kernels.h"

// Functions that the kernels on tiles share. cuda/layout.cu describes the layout of the points.

#define DEV __device__ __forceinline__

enum { FRACTION_BITS = 18, FRACTION = 1 << FRACTION_BITS };

// Shared-memory strides, in complex numbers: the row stride is odd and the plane stride 8 modulo
// 16, so that the columns of a tile spread evenly over the 16 banks of 8 bytes.
template <int W> struct Tile {
    static const int side = WP_TILE + W - 1;
    static const int row = side | 1;
    static const int plane = (side * row + 7) / 16 * 16 + 8;
    static const int size = side * plane;
};

// psi at the W taps of one axis. psi is even, so taps t and W-1-t share their even and odd parts.
template <int W> DEV void taps(const WpDevKernel &k, float x, float v[W])
{
    const float q = x * x;
#pragma unroll
    for (int t = 0; t < (W + 1) / 2; t++) {
        float even = k.coef[WP_DEGREE - 1][t], odd = k.coef[WP_DEGREE][t];
#pragma unroll
        for (int d = WP_DEGREE - 3; d >= 0; d -= 2) {
            even = even * q + k.coef[d][t];
            odd = odd * q + k.coef[d + 1][t];
        }
        v[t] = 2 * t + 1 == W ? even : even + x * odd;
        v[W - 1 - t] = 2 * t + 1 == W ? even : even - x * odd;
    }
}

DEV float fraction(uint64_t place, int a)
{
    return (float)((place >> (10 + FRACTION_BITS * a)) & (FRACTION - 1)) * (1.0f / FRACTION) - 0.5f;
}

// The complex box that row `r` of all their rows belongs to.
DEV int box_of_row(const WpDevBox *boxes, int n, int64_t r)
{
    int lo = 0, hi = n;
    while (hi - lo > 1) {
        const int middle = (lo + hi) / 2;
        if (boxes[middle].first_row <= r)
            lo = middle;
        else
            hi = middle;
    }
    return lo;
}
