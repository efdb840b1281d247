// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/twsm/cuda/kernels.h"

// Device functions that the kernels share: one pair with coefficient, damping and mask.

static __device__ float twsm_device_depth(const TwsmGpuMask &m, const float *z, float x, float y)
{
    float u = fminf(fmaxf((x - m.x0) / m.dx, 0.0f), m.nx - 1.001f);
    float v = fminf(fmaxf((y - m.y0) / m.dy, 0.0f), m.ny - 1.001f);
    int ix = (int)u, iy = (int)v;
    const float *at = z + iy * m.nx + ix;
    u -= ix, v -= iy;
    return (1 - v) * ((1 - u) * at[0] + u * at[1]) + v * ((1 - u) * at[m.nx] + u * at[m.nx + 1]);
}

// twsm_mask_at() of chain.c.
static __device__ __noinline__ float twsm_device_mask(const TwsmGpuMask &m, float4 a, float4 b)
{
    float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z, deepest = -1e30f;
    for (int k = 1; k <= TWSM_MASK_SAMPLES; k++) {
        float f = k / (TWSM_MASK_SAMPLES + 1.0f), x = a.x + f * dx, y = a.y + f * dy,
              z = a.z + f * dz;
        if (m.top)
            deepest = fmaxf(deepest, twsm_device_depth(m, m.top, x, y) - z);
        if (m.bottom)
            deepest = fmaxf(deepest, z - twsm_device_depth(m, m.bottom, x, y));
    }
    float soft = m.soft * sqrtf(sqrtf(dx * dx + dy * dy + dz * dz));
    if (deepest <= 1e-3f || soft <= 0)
        return deepest > 1e-3f ? 0.0f : 1.0f;
    return deepest < soft ? 0.5f + 0.5f * cospif(deepest / soft) : 0.0f;
}

// Time in turns and complex amplitude of one pair.
template <bool MASK>
static __device__ __forceinline__ void twsm_device_pair(const TwsmGpuLeg &leg, float4 s, float4 sn,
                                                        float4 t, float4 tn, float *turns,
                                                        float *are, float *aim)
{
    float cos_i;
    twsm_pair(&leg.pair, s.x, s.y, s.z, sn.x, sn.y, sn.z, s.w, t.x, t.y, t.z, tn.x, tn.y, tn.z,
              turns, are, &cos_i);
    *aim = 0;
    if (leg.pair.coef) {
        // twsm_coefficient() with value and slope of an interval in one load.
        float at = fminf(cos_i, 1.0f) * TWSM_TABLE;
        int k = (int)fmaxf(at, 0.0f);
        float4 c = ((const float4 *)leg.coef)[k];
        float f = at - (float)k, lit = at > 0 ? *are : 0.0f;
        *are = lit * fmaf(f, c.z, c.x);
        *aim = lit * fmaf(f, c.w, c.y);
    }
    if (leg.pair.damp != 0) {
        float fall = expf(-leg.pair.damp * *turns / leg.pair.turns);
        *are *= fall;
        *aim *= fall;
    }
    if (MASK && (*are != 0 || *aim != 0)) {
        float seen = twsm_device_mask(leg.mask, s, t);
        if (leg.absorb)
            seen = 1 - seen;
        *are *= seen;
        *aim *= seen;
    }
}
