// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/common/isa.h"
#include "kernels/fx/cpu/window.h"

// The filter's arithmetic on neighbouring frequencies at once: every number is a vector, one lane a
// frequency. All frequencies of a window need the same operations on the same traces, so nothing is
// ever shuffled, no lane idles in the small matrices (49 x 49), and sums run in the same order for
// any number of lanes, threads, and any region. Plain C with GCC's vectors.

// Vectors are passed between inlined functions only: how a call would pass them is of no concern.
#pragma GCC diagnostic ignored "-Wpsabi"

#if defined(__AVX512F__)
enum { FX_LANES = 16 };
#elif defined(__AVX__)
enum { FX_LANES = 8 };
#else
enum { FX_LANES = 4 };
#endif

typedef float FxV __attribute__((vector_size(4 * FX_LANES)));
typedef int32_t FxMask __attribute__((vector_size(4 * FX_LANES))); // all bits of a lane, or none

typedef struct FxC {
    FxV re, im;
} FxC;

#define FX_INLINE static inline __attribute__((always_inline, unused))

FX_INLINE FxV fx_splat(float x)
{
    return x - (FxV){0};
}

FX_INLINE FxV fx_select(FxMask mask, FxV yes, FxV no)
{
    return (FxV)((mask & (FxMask)yes) | (~mask & (FxMask)no));
}

FX_INLINE FxV fx_max(FxV a, FxV b)
{
    return fx_select(a > b, a, b);
}

FX_INLINE FxV fx_abs(FxV a)
{
    return (FxV)((FxMask)a & 0x7fffffff);
}

FX_INLINE FxV fx_sqrt(FxV a)
{
    for (int l = 0; l < FX_LANES; l++)
        a[l] = __builtin_sqrtf(a[l]);
    return a;
}

FX_INLINE int fx_count(FxMask mask)
{
    int n = 0;
    for (int l = 0; l < FX_LANES; l++)
        n -= mask[l];
    return n;
}

// The block of (2 il + 1) x (2 xl + 1) traces. Its numbers go row by row, the centre is `pairs`.
// Unknowns are real: with r = sqrt(1/2), pair q of traces s(+q), s(-q) gives
//     u_q = r (s(+q) + s(-q)),  v_q = i r (s(+q) - s(-q)),
// and the row of the equations is [u_1, v_1, u_2, v_2, ..., e], e = s(0): the centre comes last, so
// that the factor of the whole matrix holds the factor for the centred filter.
typedef struct FxShape {
    int il, xl; // half widths
    int pairs;  // 24 for 7 x 7
    int taps;   // 2 pairs
    int size;   // taps + 1: order of the matrix, traces of the block
} FxShape;

FX_INLINE FxShape fx_shape(int il, int xl)
{
    int taps = litho_fx_taps(il, xl);
    return (FxShape){il, xl, taps / 2, taps, taps + 1};
}

// Real symmetric matrices: lower triangles, row by row.
FX_INLINE size_t fx_packed(int row, int column)
{
    return (size_t)row * (row + 1) / 2 + column;
}

// A patch of one time window's spectra: row by row, `width` traces a row.
typedef struct FxPatch {
    const FxC *at;
    int width;
} FxPatch;

// States of a tile's traces; design points are live.
enum { ABSENT, FILLED, LIVE, OUTSIDE };

// A trace of the tile that took another value: old + by.
typedef struct FxChange {
    FxC by;
    int il, xl; // of the tile
} FxChange;

enum { FX_TOGETHER = 4 }; // equations that fx_matrix_add() takes at once

// Builds for several instruction sets name their functions apart.
#ifdef LITHO_ISA
#define fx_covariance LITHO_ISA_NAME(fx_covariance)
#define fx_autocorrelation LITHO_ISA_NAME(fx_autocorrelation)
#define fx_matrix LITHO_ISA_NAME(fx_matrix)
#define fx_matrix_add LITHO_ISA_NAME(fx_matrix_add)
#define fx_update_scratch LITHO_ISA_NAME(fx_update_scratch)
#define fx_covariance_update LITHO_ISA_NAME(fx_covariance_update)
#define fx_cholesky LITHO_ISA_NAME(fx_cholesky)
#define fx_solve_unit LITHO_ISA_NAME(fx_solve_unit)
#define fx_solve_centre LITHO_ISA_NAME(fx_solve_centre)
#define fx_solve LITHO_ISA_NAME(fx_solve)
#define fx_jacobi LITHO_ISA_NAME(fx_jacobi)
#endif

// --- cpu/design.c ------------------------------------------------------------------------------

// Covariance of the block, cov[a * size + b] = sum conj(s(p + a)) s(p + b) over the centres p of
// `centres`, for a <= b (block numbers). Blocks must lie inside the patch. `rows` is scratch for
// (4 il + 2) * (2 xl + 1)^2 numbers.
//
// Sums over shifted windows share all but their borders: per lag b - a (85 for 7 x 7) the products
// are formed once, and the sums of all shifts are put together from the common core and the
// borders, without subtraction. 4.5e4 complex products for a 20 x 20 window instead of the 4.9e5 of
// the product V^T V.
void fx_covariance(FxPatch patch, FxRect centres, FxShape shape, FxC *cov, FxC *rows);
// fx_covariance() from the biased autocorrelation over the traces of `window`: cov depends on b - a
// only.
void fx_autocorrelation(FxPatch patch, FxRect window, FxShape shape, FxC *cov);
// The real matrix M = Re(V^H V) of the equations (fx.md section 4), averaged forward and backward;
// `more`: is added to what is there.
void fx_matrix(const FxC *cov, FxShape shape, int more, FxV *matrix);
// Adds `sign` times the equations of n <= FX_TOGETHER centres, given by their place in the patch.
// `rows` is scratch for 2 * FX_TOGETHER * size vectors.
void fx_matrix_add(FxPatch patch, const ptrdiff_t *centres, int n, FxShape shape, float sign,
                   FxV *matrix, FxV *rows);

// --- cpu/update.c ------------------------------------------------------------------------------

// Bytes of scratch memory for up to `most` changes.
size_t fx_update_scratch(int most);
// By how much fx_covariance() of the live traces among `centres` changes. `mean`: the tile,
// `height` rows of it, with the mean of the old and new values at the changed traces; `changes`
// ascend by crossline. About 3 % of all traces' products for every 1 % that changed.
void fx_covariance_update(FxPatch mean, int height, FxRect centres, FxShape shape,
                          const uint8_t *state, const FxChange *changes, int n, void *scratch,
                          FxC *cov);

// --- cpu/solve.c -------------------------------------------------------------------------------

// L L^T = matrix + lambda I; the factor's diagonal holds reciprocals. Returns the lanes in which
// all pivots were positive; the others hold finite nonsense.
void fx_cholesky(const FxV *matrix, const FxV *lambda, int size, FxV *factor, FxMask *good);
// x = (L L^T)^{-1} e_unit.
void fx_solve_unit(const FxV *factor, int size, int unit, FxV *x);
// The centred filter: the first `size - 1` unknowns that predict the last.
void fx_solve_centre(const FxV *factor, int size, FxV *beta);
// x = (L L^T)^{-1} x of the first `size` unknowns.
void fx_solve(const FxV *factor, int size, FxV *x);
// Jacobi's iteration for the centred filter on the complex equations, from 0.01 until the largest
// change is below 1e-4, at most 100 steps; returns the lanes that got there. In the real unknowns
// it is Richardson's with the mean diagonal of every pair. `scratch`: size vectors.
void fx_jacobi(const FxV *matrix, const FxV *lambda, int size, FxV *beta, FxV *scratch,
               FxMask *good);
