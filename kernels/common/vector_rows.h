// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
// Rows of LITHO_ROW floats (12, 16, 20, 24, 28, 32, 48 or 64; 16 unless the includer defines it),
// in parts as wide as a register of the processor that a file is compiled for, or the widest that
// divide a row: an axis of a window is LITHO_ROW rows, one lane a trace, sample or wavenumber. A
// vector type of a whole row would be simpler to write, but where registers hold less, GCC 12
// compares and moves its lanes one by one, ten times as slowly. Files that include this are
// compiled for several instruction sets (isa.h).
//
// With LITHO_SIDE_BY_SIDE a row is one part as wide as a register, of whatever lanes stand side by
// side; an axis still is LITHO_ROW rows.
#include "kernels/common/clones.h"

#ifndef LITHO_ROW
#define LITHO_ROW 16
#endif
#ifdef LITHO_SIDE_BY_SIDE
#define LITHO_DIVIDES(lanes) 1
#else
#define LITHO_DIVIDES(lanes) (LITHO_ROW % (lanes) == 0)
#endif
#if defined(__AVX512F__) && LITHO_DIVIDES(16)
#define LITHO_LANES 16
#elif defined(__AVX__) && LITHO_DIVIDES(8)
#define LITHO_LANES 8
#else
#define LITHO_LANES 4
#endif
#ifdef LITHO_SIDE_BY_SIDE
enum { LITHO_PARTS = 1 };
#else
enum { LITHO_PARTS = LITHO_ROW / LITHO_LANES };
#endif

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

#ifndef LITHO_SIDE_BY_SIDE
// Lane k of x[i] and lane i of x[k] change places: squares on the diagonal by themselves, the
// others in pairs.
LITHO_INLINE void litho_transpose(LithoRow x[LITHO_ROW])
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
#endif

// --- transforms --------------------------------------------------------------------------------

// cos(2 pi j / N), j up to N / 4, and the short transform of N / 4 values.
#if LITHO_ROW == 12
#define LITHO_COSINES 1, 0.866025404f, 0.5f, 0
#define LITHO_SHORT patch_dft3
#elif LITHO_ROW == 20
#define LITHO_COSINES 1, 0.951056516f, 0.809016994f, 0.587785252f, 0.309016994f, 0
#define LITHO_SHORT patch_dft5
#elif LITHO_ROW == 24
#define LITHO_COSINES 1, 0.965925826f, 0.866025404f, 0.707106781f, 0.5f, 0.258819045f, 0
#define LITHO_SHORT patch_dft6
#elif LITHO_ROW == 28
#define LITHO_COSINES                                                                              \
    1, 0.974927912f, 0.900968868f, 0.781831482f, 0.623489802f, 0.433883739f, 0.222520934f, 0
#define LITHO_SHORT patch_dft7
#elif LITHO_ROW == 32
#define LITHO_COSINES                                                                              \
    1, 0.98078528f, 0.923879533f, 0.831469612f, 0.707106781f, 0.555570233f, 0.382683432f,          \
        0.195090322f, 0
#define LITHO_SHORT patch_dft8
#elif LITHO_ROW == 48
#define LITHO_COSINES                                                                              \
    1, 0.991444861f, 0.965925826f, 0.923879533f, 0.866025404f, 0.79335334f, 0.707106781f,          \
        0.608761429f, 0.5f, 0.382683432f, 0.258819045f, 0.130526192f, 0
#define LITHO_SHORT patch_dft12
#elif LITHO_ROW == 64
#define LITHO_COSINES                                                                              \
    1, 0.995184727f, 0.98078528f, 0.956940336f, 0.923879533f, 0.881921264f, 0.831469612f,          \
        0.773010453f, 0.707106781f, 0.634393284f, 0.555570233f, 0.471396737f, 0.382683432f,        \
        0.290284677f, 0.195090322f, 0.0980171403f, 0
#define LITHO_SHORT patch_fft16
#endif

#if LITHO_ROW != 16
LITHO_INLINE float litho_cosine(int j)
{
    static const float quarter[] = {LITHO_COSINES};
    const int at = j % LITHO_ROW, near = at > LITHO_ROW / 2 ? LITHO_ROW - at : at;
    return near <= LITHO_ROW / 4 ? quarter[near] : -quarter[LITHO_ROW / 2 - near];
}

// N = 4 M: n = M n1 + n2, k = k1 + 4 k2. Transforms of four over n1 and twiddles W^(n2 k1) into r
// and i, transforms of M over n2 out of them.
LITHO_INLINE void litho_fft_first(LithoRow *re, LithoRow *im, int step, int p,
                                  LithoPart r[LITHO_ROW], LithoPart i[LITHO_ROW])
{
    enum { M = LITHO_ROW / 4 };
#pragma GCC unroll 16
    for (int n = 0; n < M; n++) {
        LithoPart x[4], y[4];
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) {
            x[k] = re[(n + k * M) * step][p];
            y[k] = im[(n + k * M) * step][p];
        }
        patch_dft4(&x[0], &y[0], &x[1], &y[1], &x[2], &y[2], &x[3], &y[3]);
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) {
            if (n > 0 && k > 0) // sin(a) = cos(a - pi / 2)
                patch_turn(&x[k], &y[k], litho_cosine(n * k), litho_cosine(n * k + 3 * M));
            r[n + k * M] = x[k];
            i[n + k * M] = y[k];
        }
    }
}

LITHO_INLINE void litho_fft_second(const LithoPart r[LITHO_ROW], const LithoPart i[LITHO_ROW],
                                   LithoRow *re, LithoRow *im, int step, int p)
{
    enum { M = LITHO_ROW / 4 };
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        LithoPart x[M], y[M];
#pragma GCC unroll 16
        for (int n = 0; n < M; n++) {
            x[n] = r[k * M + n];
            y[n] = i[k * M + n];
        }
        LITHO_SHORT(x, y);
#pragma GCC unroll 16
        for (int n = 0; n < M; n++) {
            re[(k + 4 * n) * step][p] = x[n];
            im[(k + 4 * n) * step][p] = y[n];
        }
    }
}
#endif

// Over rows 0, step, 2 step, .., lane by lane. Backward with re and im exchanged: LITHO_ROW times
// the samples.
LITHO_INLINE void litho_fft_rows(LithoRow *re, LithoRow *im, int step)
{
    for (int p = 0; p < LITHO_PARTS; p++) {
        LithoPart a[LITHO_ROW], b[LITHO_ROW];
#if LITHO_ROW == 16
        for (int k = 0; k < 16; k++) {
            a[k] = re[k * step][p];
            b[k] = im[k * step][p];
        }
        patch_fft16(a, b);
        for (int k = 0; k < 16; k++) {
            re[k * step][p] = a[k];
            im[k * step][p] = b[k];
        }
#else
        litho_fft_first(re, im, step, p, a, b);
        litho_fft_second(a, b, re, im, step, p);
#endif
    }
}

#ifndef LITHO_SIDE_BY_SIDE
// First axis, then second; the plane comes out as [second wavenumber] of first wavenumbers.
LITHO_INLINE void litho_fft_plane(LithoRow re[LITHO_ROW], LithoRow im[LITHO_ROW])
{
    litho_fft_rows(re, im, 1);
    litho_transpose(re);
    litho_transpose(im);
    litho_fft_rows(re, im, 1);
}
#endif

LITHO_INLINE LithoPart litho_load_part(const float *from)
{
    return *(const LithoPartAnywhere *)from;
}

LITHO_INLINE LithoPart litho_keep(LithoMask mask, LithoPart x)
{
    return (LithoPart)((LithoMask)x & mask);
}
