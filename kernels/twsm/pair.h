// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
// The tip-wave beam of one pair of elements, the same arithmetic for the CPU and for CUDA.
//
// A beam from element j to point i, at frequency number k (angular frequency k * dw):
//     TWB(k) = i * a * k * E^k,   E = exp(2 pi i t),   t = R / (c T)   (in turns)
//     a = -dw / (2 pi c) * cosE * dS / R * coefficient          (Rayleigh-Sommerfeld, far field)
// and with the near field TWB(k) = i * a * (k + i / (2 pi t)) * E^k. The factors i and k leave the
// sum over j.
#include <math.h>

#ifdef __CUDACC__
#define TWSM_INLINE static __host__ __device__ __forceinline__
#else
#define TWSM_INLINE static inline __attribute__((always_inline))
#endif

enum { TWSM_TABLE = 1024 }; // intervals of a coefficient table over cosI in 0..1

// Constants that all pairs of a leg share. Plain data: copied to the device as it is.
typedef struct TwsmPairScale {
    float turns;  // 1 / (c T), 1/m
    float amp;    // -dw / (2 pi c), 1/m
    float side;   // +1: the field leaves the sending boundary downward, -1 upward
    float arrive; // +1: it arrives from above, -1 from below
    float damp;   // sig / c, 1/m; 0 = no damping
    int coef;     // 0 = none, 1 = real table, 2 = complex table
} TwsmPairScale;

// Nearest whole number for |x| < 2^22, without a call and in any rounding-aware compiler.
TWSM_INLINE float twsm_round(float x)
{
    return (x + 12582912.0f) - 12582912.0f;
}

// cos and sin of 2 pi f for |f| <= 1/2 + tiny: folded to an eighth of a turn, Taylor terms up to
// theta^9 (error 3e-8 at theta = pi/4, below float32 rounding).
TWSM_INLINE void twsm_turn(float f, float *c, float *s)
{
    float q = twsm_round(4.0f * f);
    float x = 6.28318530717958648f * (f - 0.25f * q);
    float x2 = x * x;
    float sine =
        x *
        (1.0f + x2 * (-1.6666666667e-1f +
                      x2 * (8.3333333333e-3f + x2 * (-1.9841269841e-4f + x2 * 2.7557319224e-6f))));
    float cosine =
        1.0f +
        x2 * (-0.5f + x2 * (4.1666666667e-2f + x2 * (-1.3888888889e-3f + x2 * 2.4801587302e-5f)));
    int quarter = (int)q;
    float a = (quarter & 1) ? sine : cosine;
    float b = (quarter & 1) ? cosine : sine;
    *c = ((quarter + 1) & 2) ? -a : a;
    *s = (quarter & 2) ? -b : b;
}

// cos and sin of 2 pi k t. The product is exact up to one fused rounding; t's own rounding rules.
TWSM_INLINE void twsm_turn_times(float k, float t, float *c, float *s)
{
    float whole = twsm_round(k * t);
    twsm_turn(k * t - whole, c, s);
}

// Travel time in turns and real amplitude of the pair; *cos_i is the cosine of arrival at the
// target (NaN-free, may be negative), to be looked up by twsm_coefficient().
TWSM_INLINE void twsm_pair(const TwsmPairScale *p, float sx, float sy, float sz, float snx,
                           float sny, float snz, float area, float tx, float ty, float tz,
                           float tnx, float tny, float tnz, float *t, float *a, float *cos_i)
{
    float dx = tx - sx, dy = ty - sy, dz = tz - sz;
    float r2 = dx * dx + dy * dy + dz * dz;
    // Elements that touch: the far-field beam does not hold within half an element.
    float dead = r2 < 0.25f * area ? 0.0f : 1.0f;
    r2 = r2 > 1e-6f ? r2 : 1e-6f;
#ifdef __CUDA_ARCH__
    float inv = rsqrtf(r2);
    inv = inv * (1.5f - 0.5f * r2 * inv * inv); // the approximation is good to 2 ulp: to 1
#else
    float inv = 1.0f / sqrtf(r2);
#endif
    float cos_e = p->side * (snx * dx + sny * dy + snz * dz) * inv;
    cos_e = cos_e > 0.0f ? cos_e : 0.0f;
    *cos_i = p->arrive * (tnx * dx + tny * dy + tnz * dz) * inv;
    *t = r2 * inv * p->turns;
    *a = dead * p->amp * cos_e * area * inv;
}

// Coefficient at cosine cos_i from `table` (TWSM_TABLE + 2 pairs re, im; the last repeats), linear.
// Arrival from the wrong side gives 0.
TWSM_INLINE void twsm_coefficient(const float *table, float cos_i, float *re, float *im)
{
    float at = (cos_i < 1.0f ? cos_i : 1.0f) * TWSM_TABLE;
    float lit = at > 0.0f ? 1.0f : 0.0f;
    at = at > 0.0f ? at : 0.0f;
    int k = (int)at;
    float f = at - (float)k;
    *re = lit * (table[2 * k] + f * (table[2 * k + 2] - table[2 * k]));
    *im = lit * (table[2 * k + 1] + f * (table[2 * k + 3] - table[2 * k + 1]));
}
