// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/fx/cuda/device.cuh"

// Steps that both solvers of normal equations share.

// The lower factor of a 4 x 4 tile in registers, reciprocals on the diagonal.
struct Tile {
    float r0, r1, r2, r3, l10, l20, l30, l21, l31, l32;
};

__device__ static inline float reciprocal_root(float pivot, bool *good)
{
    *good = *good && pivot > 0;
    const float p = pivot > 0 ? pivot : 1.0f, r = rsqrtf(p);
    return r * fmaf(-0.5f * p * r, r, 1.5f); // one step of Newton: rsqrtf alone is two bits short
}

// From the tile's columns; the part above the diagonal is not read.
__device__ static inline Tile factor_tile(float4 c0, float4 c1, float4 c2, float4 c3, bool *good)
{
    Tile t;
    t.r0 = reciprocal_root(c0.x, good);
    t.l10 = c0.y * t.r0;
    t.l20 = c0.z * t.r0;
    t.l30 = c0.w * t.r0;
    t.r1 = reciprocal_root(c1.y - t.l10 * t.l10, good);
    t.l21 = (c1.z - t.l20 * t.l10) * t.r1;
    t.l31 = (c1.w - t.l30 * t.l10) * t.r1;
    t.r2 = reciprocal_root(c2.z - t.l20 * t.l20 - t.l21 * t.l21, good);
    t.l32 = (c2.w - t.l30 * t.l20 - t.l31 * t.l21) * t.r2;
    t.r3 = reciprocal_root(c3.w - t.l30 * t.l30 - t.l31 * t.l31 - t.l32 * t.l32, good);
    return t;
}

// x L^T = a for a row behind the tile.
__device__ static inline float4 behind_tile(Tile t, float4 a)
{
    a.x *= t.r0;
    a.y = (a.y - a.x * t.l10) * t.r1;
    a.z = (a.z - a.x * t.l20 - a.y * t.l21) * t.r2;
    a.w = (a.w - a.x * t.l30 - a.y * t.l31 - a.z * t.l32) * t.r3;
    return a;
}

// Factor that stretches a damped filter to least squares: h.b / (h.b - lambda h.h), 1 .. 3.
__device__ static inline float stretch(float hb, float hh, float lambda)
{
    const float left = hb - lambda * hh;
    return left > 0 ? fminf(fmaxf(hb / left, 1.0f), 3.0f) : 3.0f;
}

// Automatic prewhitening: litho_fx_second() or, `third`, _third(), of a design that left `left`.
__device__ static inline float share_after(const LithoFxSpot &spot, float left, float mean,
                                           float energy, int taps, bool third)
{
    const int points = (spot.c_il1 - spot.c_il0) * (spot.c_xl1 - spot.c_xl0) - spot.missing;
    return third ? litho_fx_third(left, mean, energy, taps, points)
                 : litho_fx_second(left, mean, taps, points);
}
