// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <string.h>

#include "kernels/common/clones.h"

// Sixteen floats that the compiler maps on whatever vector registers the target has (one AVX-512,
// two AVX, four SSE). Written out where the automatic vectoriser gives up. Vectors are handed over
// by address: how they would be passed by value depends on the target, and nothing here may.
typedef float WpVec __attribute__((vector_size(64)));
// Where registers hold eight floats, GCC 12 compares and moves the lanes of WpVec one by one: such
// steps take halves.
typedef float WpHalf __attribute__((vector_size(32)));
typedef int WpHalfInt __attribute__((vector_size(32)));

enum { WP_VEC = 16 };

#define WP_CLONES LITHO_CLONES
#define WP_INLINE LITHO_INLINE

WP_INLINE void wp_vec_load(WpVec *v, const float *p)
{
    memcpy(v, p, sizeof *v);
}

WP_INLINE void wp_vec_store(float *p, const WpVec *v)
{
    memcpy(p, v, sizeof *v);
}

// The positive part, element by element.
WP_INLINE void wp_vec_positive(WpVec *v)
{
    WpHalf half[2];
    memcpy(half, v, sizeof half);
    for (int k = 0; k < 2; k++)
        half[k] = (WpHalf)((half[k] > 0) & (WpHalfInt)half[k]);
    memcpy(v, half, sizeof half);
}

WP_INLINE int wp_vec_any_positive(const WpVec *v)
{
    WpHalf half[2];
    unsigned long long four[4];
    memcpy(half, v, sizeof half);
    const WpHalfInt positive = (half[0] > 0) | (half[1] > 0);
    memcpy(four, &positive, sizeof four);
    return (four[0] | four[1] | four[2] | four[3]) != 0;
}
