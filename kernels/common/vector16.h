// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
// Vectors of 16 floats, for code inside a LITHO_CLONES function: an axis of a 16 x 16 x 16 window is
// 16 of them, one lane a trace, sample or wavenumber.
#include "kernels/common/clones.h"

typedef float LithoV16 __attribute__((vector_size(64)));
typedef int LithoM16 __attribute__((vector_size(64)));
typedef float LithoV16Unaligned __attribute__((vector_size(64), aligned(4)));

#define LITHO_EXCHANGE(a, b, ...)                                                                  \
    do {                                                                                           \
        const LithoV16 low = __builtin_shufflevector(a, b, __VA_ARGS__);                           \
        b = __builtin_shufflevector(a, b, LITHO_HIGH);                                             \
        a = low;                                                                                   \
    } while (0)

// Lane k of x[i] and lane i of x[k] change places.
LITHO_INLINE void litho_transpose16(LithoV16 x[16])
{
#define LITHO_HIGH 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31
    for (int i = 0; i < 16; i += 2)
        LITHO_EXCHANGE(x[i], x[i + 1], 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
#undef LITHO_HIGH
#define LITHO_HIGH 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
    for (int i = 0; i < 16; i += 4)
        for (int k = i; k < i + 2; k++)
            LITHO_EXCHANGE(x[k], x[k + 2], 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
#undef LITHO_HIGH
#define LITHO_HIGH 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31
    for (int i = 0; i < 16; i += 8)
        for (int k = i; k < i + 4; k++)
            LITHO_EXCHANGE(x[k], x[k + 4], 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
#undef LITHO_HIGH
#define LITHO_HIGH 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31
    for (int k = 0; k < 8; k++)
        LITHO_EXCHANGE(x[k], x[k + 8], 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
#undef LITHO_HIGH
}
#undef LITHO_EXCHANGE

LITHO_INLINE LithoV16 litho_load16(const float *from)
{
    return *(const LithoV16Unaligned *)from;
}

LITHO_INLINE LithoV16 litho_keep16(LithoM16 mask, LithoV16 x)
{
    return (LithoV16)((LithoM16)x & mask);
}
