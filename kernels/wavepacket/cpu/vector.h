// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <string.h>

#include "kernels/common/clones.h"

// Sixteen floats that the compiler maps on whatever vector registers the target has (one AVX-512,
// two AVX, four SSE). Written out where the automatic vectoriser gives up. Vectors are handed over
// by address: how they would be passed by value depends on the target, and nothing here may.
typedef float WpVec __attribute__((vector_size(64)));
typedef int WpVecInt __attribute__((vector_size(64)));

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
    *v = (WpVec)((*v > 0) & (WpVecInt)*v);
}
