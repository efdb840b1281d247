// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <string.h>

// Sixteen floats that the compiler maps on whatever vector registers the target has (one AVX-512,
// two AVX, four SSE). Written out where the automatic vectoriser gives up. Vectors are handed over by
// address: how they would be passed by value depends on the target, and nothing here may.
typedef float WpVec __attribute__((vector_size(64)));
typedef int WpVecInt __attribute__((vector_size(64)));

enum { WP_VEC = 16 };

// In front of an entry point whose helpers are all WP_INLINE: it is compiled for the vector units of
// newer processors too, and the loader takes what the machine has. A build for this machine alone
// needs none of it; sanitizers do not bear the loader's early choice.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__AVX512F__) &&    \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WP_CLONES                                                                                  \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WP_CLONES
#endif
#define WP_INLINE static inline __attribute__((always_inline))

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
