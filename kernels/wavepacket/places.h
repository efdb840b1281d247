// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <stdint.h>

// Noise that varies from place to place is made alike before the transform: packets see the samples
// over the deviation that the noise has around them, and what they give is multiplied by it again.
// One level per box is right everywhere then, also within a packet. The same lines for CPU and CUDA
// code; LithoNoiseMap (core/qc.h) has the deviation.

#ifdef __CUDACC__
#define WP_PLACES_INLINE static __host__ __device__ inline
#else
#define WP_PLACES_INLINE static inline
#endif

typedef struct WpPlaces {
    int n[3];
    const float *at[3]; // knots along the axes, ascending, in samples of the survey
    const float *level; // [n[0]][n[1]][n[2]]
} WpPlaces;

// The knot before sample `x`, and how far the next one counts: below 0 and above 1 beyond the ends,
// by one step at most.
WP_PLACES_INLINE int wp_place(const float *at, int n, float x, float *share)
{
    int k = 0;
    *share = 0;
    if (n < 2)
        return 0;
    while (k < n - 2 && x >= at[k + 1])
        k++;
    const float part = (x - at[k]) / (at[k + 1] - at[k]);
    *share = part < -1 ? -1 : part > 2 ? 2 : part;
    return k;
}

// The level between the eight knots around a sample.
WP_PLACES_INLINE float wp_place_level(const WpPlaces *p, const int k[3], const float share[3])
{
    float sum = 0;
    for (int corner = 0; corner < 8; corner++) {
        int at = 0;
        float weight = 1;
        for (int a = 0; a < 3; a++) {
            const int up = corner >> a & 1;
            weight *= up ? share[a] : 1 - share[a];
            at = at * p->n[a] + (up && p->n[a] > 1 ? k[a] + 1 : k[a]);
        }
        if (weight != 0)
            sum += weight * p->level[at];
    }
    return sum;
}
