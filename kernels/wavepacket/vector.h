// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <string.h>

// Sixteen floats that the compiler maps on whatever vector registers the target has (one AVX-512,
// two AVX, four SSE). Written out where the automatic vectoriser gives up.
typedef float WpVec __attribute__((vector_size(64)));
typedef int WpVecInt __attribute__((vector_size(64)));

// Vectors never cross a call here, so how they would be passed does not matter.
#pragma GCC diagnostic ignored "-Wpsabi"

enum { WP_VEC = 16 };

static inline __attribute__((always_inline)) WpVec wp_vec_load(const float *p)
{
    WpVec v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline __attribute__((always_inline)) void wp_vec_store(float *p, WpVec v)
{
    memcpy(p, &v, sizeof v);
}

// The positive part, element by element.
static inline __attribute__((always_inline)) WpVec wp_vec_positive(WpVec v)
{
    return (WpVec)((v > 0) & (WpVecInt)v);
}
