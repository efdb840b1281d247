// SPDX-License-Identifier: GPL-3.0-or-later
//
// Transforms along time of traces side by side, for cpu/faults.c. A trace is real and a window has
// at most 64 samples of it, of any number: sums with a table, folded twice, take no more operations
// than FFTW's transforms of one trace at a time, which fill one lane of a vector.
#define LITHO_SIDE_BY_SIDE
#include "kernels/patch/cpu/faults_rows.h"

#include "kernels/common/isa.h"
#include "kernels/common/vector_rows.h"

typedef LithoPart V;

enum { ABREAST = 4 }; // sums that read a sample together

typedef const float (*Table)[PATCH_FAULT_BINS];

// Sums over samples t0 .. t1 - 1 of table[k][t] x[t], to number k of `to`, for every `step`th k
// from k0 on.
LITHO_INLINE void multiply(Table table, int k0, int step, int k1, const V *x, int t0, int t1, V *to)
{
    int k = k0;
    for (; k + (ABREAST - 1) * step < k1; k += ABREAST * step) {
        V a = {0}, b = {0}, c = {0}, d = {0};
        for (int t = t0; t < t1; t++) {
            a += table[k][t] * x[t];
            b += table[k + step][t] * x[t];
            c += table[k + 2 * step][t] * x[t];
            d += table[k + 3 * step][t] * x[t];
        }
        to[k] = a;
        to[k + step] = b;
        to[k + 2 * step] = c;
        to[k + 3 * step] = d;
    }
    for (; k < k1; k += step) {
        V a = {0};
        for (int t = t0; t < t1; t++)
            a += table[k][t] * x[t];
        to[k] = a;
    }
}

// x[t] + x[n - t] to even[t], x[t] - x[n - t] to odd[t].
LITHO_INLINE void fold(const V *x, int n, V *even, V *odd)
{
    even[0] = x[0];
    odd[0] = (V){0};
    for (int t = 1; 2 * t < n; t++) {
        even[t] = x[t] + x[n - t];
        odd[t] = x[t] - x[n - t];
    }
    if (n > 1 && n % 2 == 0)
        even[n / 2] = x[n / 2];
}

// A spectrum of n samples. Where n is even, cosines and sines at n / 2 - t are those at t but for
// a sign, one for even and one for odd frequencies.
LITHO_INLINE void spectrum(const PatchFaultTransforms *of, const V *x, V *re, V *im)
{
    const int n = of->length, half = n / 2, bins = half + 1, less = (half + 1) / 2;
    V even[BINS], odd[BINS], plus[BINS / 2 + 1], minus[BINS / 2 + 1];
    fold(x, n, even, odd);
    if (n % 2 == 1) {
        multiply(of->cosine, 0, 1, bins, even, 0, bins, re);
        multiply(of->sine, 0, 1, bins, odd, 1, bins, im);
        return;
    }
    const int more = half / 2 + 1; // with the middle, where there is one
    plus[more - 1] = even[half / 2];
    for (int t = 0; t < less; t++) {
        plus[t] = even[t] + even[half - t];
        minus[t] = even[t] - even[half - t];
    }
    multiply(of->cosine, 0, 2, bins, plus, 0, more, re);
    multiply(of->cosine, 1, 2, bins, minus, 0, less, re);
    plus[more - 1] = odd[half / 2];
    for (int t = 1; t < less; t++) {
        plus[t] = odd[t] + odd[half - t];
        minus[t] = odd[t] - odd[half - t];
    }
    multiply(of->sine, 0, 2, bins, minus, 1, less, im);
    multiply(of->sine, 1, 2, bins, plus, 1, more, im);
}

void LITHO_ISA_NAME(patch_fault_forward)(const PatchFaultTransforms *of, const float *taper,
                                         const float *const *traces, int lanes, float *re,
                                         float *im, gsize apart)
{
    const int n = of->length;
    for (int l0 = 0; l0 < lanes; l0 += LITHO_LANES) {
        V x[LITHO_PATCH_MAX_WINDOW], a[BINS], b[BINS];
        x[0] = (V){0}; // that n is 1 at least the compiler cannot know
        for (int t0 = 0; t0 < n; t0 += LITHO_LANES) {
            V square[LITHO_LANES];
            for (int l = 0; l < LITHO_LANES; l++)
                square[l] = litho_load_part(traces[l0 + l] + t0);
            litho_transpose_square(square);
            for (int t = 0; t < LITHO_LANES && t0 + t < n; t++)
                x[t0 + t] = square[t] * taper[t0 + t];
        }
        spectrum(of, x, a, b);
        for (int f = 0; f <= n / 2; f++) {
            *(V *)(re + f * apart + l0) = a[f];
            *(V *)(im + f * apart + l0) = b[f];
        }
    }
}

void LITHO_ISA_NAME(patch_fault_inverse)(const PatchFaultTransforms *of, const Lane *re,
                                         const Lane *im, int lanes,
                                         float (*to)[LITHO_PATCH_MAX_WINDOW])
{
    const int n = of->length, bins = n / 2 + 1;
    for (int l0 = 0; l0 < lanes; l0 += LITHO_LANES) {
        V x[LITHO_PATCH_MAX_WINDOW], a[BINS], b[BINS], cosines[BINS], sines[BINS];
        for (int f = 0; f < bins; f++) {
            const float twice = f == 0 || 2 * f == n ? 1 : 2;
            a[f] = twice * *(const V *)(re[f] + l0);
            b[f] = twice * *(const V *)(im[f] + l0);
        }
        multiply(of->cosine, 0, 1, bins, a, 0, bins, cosines);
        multiply(of->sine, 0, 1, bins, b, 0, bins, sines);
        for (int t = 0; t < bins; t++)
            x[t] = cosines[t] + sines[t];
        for (int t = bins; t < n; t++)
            x[t] = cosines[n - t] - sines[n - t];
        for (int t0 = 0; t0 < n; t0 += LITHO_LANES) {
            V square[LITHO_LANES];
            for (int t = 0; t < LITHO_LANES; t++)
                square[t] = t0 + t < n ? x[t0 + t] : (V){0};
            litho_transpose_square(square);
            for (int l = 0; l < LITHO_LANES; l++)
                *(LithoPartAnywhere *)(to[l0 + l] + t0) = square[l];
        }
    }
}
