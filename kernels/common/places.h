// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <stdint.h>

// Noise that varies from place to place is made alike before the transform: packets see the samples
// over the deviation that the noise has around them, and what they give is multiplied by it again.
// One level per box is right everywhere then, also within a packet. What varies beyond that, at
// some frequencies alone, is made alike behind the transform: each coefficient is divided by the
// deviation that the noise of its box has around its own place, over the box's level. The same
// lines for CPU and CUDA code; LithoNoiseMap (core/qc.h) has the deviation.

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

// Where the coefficients of a box lie: translation p is p_i step[i] from the middle, or so and a
// period `back`.
typedef struct WpPlacesBox {
    int n[3];
    float step[3][3], back[3][3]; // samples
} WpPlacesBox;

// The volume that a transform sees: samples of it, where its first one lies in the survey.
typedef struct WpPlacesVolume {
    float n[3], at[3];
} WpPlacesVolume;

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

// Neighbouring coefficients share a factor, WP_PLACES_ALIKE along the two axes across a packet.
enum { WP_PLACES_ALIKE = 2 };

// The place in the survey of coefficients around p: of the translations that a lattice has for one
// coefficient, the one inside the volume, or nearest to it.
WP_PLACES_INLINE void wp_places_of(const WpPlacesBox *box, const WpPlacesVolume *volume,
                                   const int p[3], float x[3])
{
    float least = 3e38f;
    for (int code = 0; code < 8; code++) {
        float at[3], far = 0;
        for (int a = 0; a < 3; a++) {
            float sum = (float)((int)volume->n[a] / 2);
            for (int i = 0; i < 3; i++) {
                const float half = i > 0 && box->n[i] > 1 ? 0.5f * (WP_PLACES_ALIKE - 1) : 0;
                const float q =
                    i > 0 ? (float)(p[i] / WP_PLACES_ALIKE * WP_PLACES_ALIKE) : (float)p[i];
                sum += (q + half) * box->step[i][a];
                sum -= code >> i & 1 ? box->back[i][a] : 0;
            }
            const float last = volume->n[a] - 1;
            const float out = sum < 0 ? -sum : sum > last ? sum - last : 0;
            far += out * out;
            at[a] = sum < 0 ? 0 : sum > last ? last : sum;
        }
        if (far < least) {
            least = far;
            for (int a = 0; a < 3; a++)
                x[a] = at[a] + volume->at[a];
        }
    }
}

// The factor on coefficients around p: the logarithm of the deviation there, of p->level.
WP_PLACES_INLINE float wp_places_factor(const WpPlaces *places, const WpPlacesBox *box,
                                        const WpPlacesVolume *volume, const int p[3])
{
    float x[3], share[3];
    int k[3];
    wp_places_of(box, volume, p, x);
    for (int a = 0; a < 3; a++)
        k[a] = wp_place(places->at[a], places->n[a], x[a], &share[a]);
    return wp_place_level(places, k, share);
}
