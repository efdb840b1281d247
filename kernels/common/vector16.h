// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
// Rows of 16 floats, in parts as wide as a register of the processor that a file is compiled for:
// an axis of a 16 x 16 x 16 window is 16 rows, one lane a trace, sample or wavenumber. A vector
// type of 16 floats would be simpler to write, but where registers hold 8, GCC 12 compares and
// moves its lanes one by one, ten times as slowly. Files that include this are compiled for several
// instruction sets (isa.h).
#include "kernels/common/clones.h"

#if defined(__AVX512F__)
#define LITHO_LANES 16
#elif defined(__AVX__)
#define LITHO_LANES 8
#else
#define LITHO_LANES 4
#endif
enum { LITHO_PARTS = 16 / LITHO_LANES };

// Parts are passed between inlined functions only: how a call would pass them is of no concern.
#pragma GCC diagnostic ignored "-Wpsabi"

typedef float LithoPart __attribute__((vector_size(4 * LITHO_LANES)));
typedef int LithoMask __attribute__((vector_size(4 * LITHO_LANES))); // all bits of a lane, or none
typedef float LithoPartAnywhere
    __attribute__((vector_size(4 * LITHO_LANES), may_alias, aligned(4)));
typedef LithoPart LithoRow[LITHO_PARTS];

#define PATCH_T LithoPart
#define PATCH_FN LITHO_INLINE
#include "kernels/common/fft.h"
#undef PATCH_T
#undef PATCH_FN

#define LITHO_EXCHANGE(a, b, ...)                                                                  \
    do {                                                                                           \
        const LithoPart low = __builtin_shufflevector(a, b, __VA_ARGS__);                          \
        b = __builtin_shufflevector(a, b, LITHO_HIGH);                                             \
        a = low;                                                                                   \
    } while (0)

// Lane k of x[i] and lane i of x[k] change places, in a square of LITHO_LANES.
LITHO_INLINE void litho_transpose_square(LithoPart x[LITHO_LANES])
{
#if LITHO_LANES == 16
#define LITHO_HIGH 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31
    for (int i = 0; i < 16; i += 2)
        LITHO_EXCHANGE(x[i], x[i + 1], 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
#undef LITHO_HIGH
#define LITHO_HIGH 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
    for (int i = 0; i < 16; i += 4)
        for (int k = i; k < i + 2; k++)
            LITHO_EXCHANGE(x[k], x[k + 2], 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28,
                           29);
#undef LITHO_HIGH
#define LITHO_HIGH 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31
    for (int i = 0; i < 16; i += 8)
        for (int k = i; k < i + 4; k++)
            LITHO_EXCHANGE(x[k], x[k + 4], 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26,
                           27);
#undef LITHO_HIGH
#define LITHO_HIGH 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31
    for (int k = 0; k < 8; k++)
        LITHO_EXCHANGE(x[k], x[k + 8], 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
#undef LITHO_HIGH
#elif LITHO_LANES == 8
#define LITHO_HIGH 1, 9, 3, 11, 5, 13, 7, 15
    for (int i = 0; i < 8; i += 2)
        LITHO_EXCHANGE(x[i], x[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
#undef LITHO_HIGH
#define LITHO_HIGH 2, 3, 10, 11, 6, 7, 14, 15
    for (int i = 0; i < 8; i += 4)
        for (int k = i; k < i + 2; k++)
            LITHO_EXCHANGE(x[k], x[k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
#undef LITHO_HIGH
#define LITHO_HIGH 4, 5, 6, 7, 12, 13, 14, 15
    for (int k = 0; k < 4; k++)
        LITHO_EXCHANGE(x[k], x[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
#undef LITHO_HIGH
#else
#define LITHO_HIGH 1, 5, 3, 7
    for (int i = 0; i < 4; i += 2)
        LITHO_EXCHANGE(x[i], x[i + 1], 0, 4, 2, 6);
#undef LITHO_HIGH
#define LITHO_HIGH 2, 3, 6, 7
    for (int k = 0; k < 2; k++)
        LITHO_EXCHANGE(x[k], x[k + 2], 0, 1, 4, 5);
#undef LITHO_HIGH
#endif
}
#undef LITHO_EXCHANGE

// Lane k of x[i] and lane i of x[k] change places: squares on the diagonal by themselves, the
// others in pairs.
LITHO_INLINE void litho_transpose16(LithoRow x[16])
{
    for (int i = 0; i < LITHO_PARTS; i++)
        for (int k = 0; k <= i; k++) {
            LithoRow *below = x + i * LITHO_LANES, *above = x + k * LITHO_LANES;
            LithoPart a[LITHO_LANES], b[LITHO_LANES];
            for (int l = 0; l < LITHO_LANES; l++) {
                a[l] = below[l][k];
                b[l] = above[l][i];
            }
            litho_transpose_square(a);
            if (i != k)
                litho_transpose_square(b);
            for (int l = 0; l < LITHO_LANES; l++) {
                if (i != k)
                    below[l][k] = b[l];
                above[l][i] = a[l];
            }
        }
}

// Over rows 0, step, .. 15 step, lane by lane. Backward with re and im exchanged: 16 times the
// samples.
LITHO_INLINE void litho_fft16(LithoRow *re, LithoRow *im, int step)
{
    for (int p = 0; p < LITHO_PARTS; p++) {
        LithoPart a[16], b[16];
        for (int k = 0; k < 16; k++) {
            a[k] = re[k * step][p];
            b[k] = im[k * step][p];
        }
        patch_fft16(a, b);
        for (int k = 0; k < 16; k++) {
            re[k * step][p] = a[k];
            im[k * step][p] = b[k];
        }
    }
}

// First axis, then second; the plane comes out as [second wavenumber] of first wavenumbers.
LITHO_INLINE void litho_fft16_plane(LithoRow re[16], LithoRow im[16])
{
    litho_fft16(re, im, 1);
    litho_transpose16(re);
    litho_transpose16(im);
    litho_fft16(re, im, 1);
}

LITHO_INLINE LithoPart litho_load_part(const float *from)
{
    return *(const LithoPartAnywhere *)from;
}

LITHO_INLINE LithoPart litho_keep(LithoMask mask, LithoPart x)
{
    return (LithoPart)((LithoMask)x & mask);
}
