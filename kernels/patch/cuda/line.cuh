// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
//
// Fourier transforms of one line of 12, 16, 20 or 24 complex values in a thread's registers.
#define PATCH_T float
#define PATCH_FN __device__ static __forceinline__
#include "kernels/common/fft.h"

namespace
{

// A line of one thread.
template <int N> struct Line {
    float re[N], im[N];
};

// cos(2 pi j / N), N = 12, 20 or 24; j is known to the compiler.
template <int N> __device__ __forceinline__ float cosine(int j)
{
    const float c20[6] = {
        1, 0.951056516295154f, 0.809016994374947f, 0.587785252292473f, 0.309016994374947f, 0};
    const float c24[7] = {
        1, 0.965925826289068f, 0.866025403784439f, 0.707106781186548f, 0.5f, 0.258819045102521f, 0};
    const int quarter = N == 20 ? 5 : 6, of = 4 * quarter;
    int at = (N == 12 ? 2 * j : j) % of;
    at = at > of / 2 ? of - at : at;
    const float c =
        N == 20 ? c20[at <= quarter ? at : of / 2 - at] : c24[at <= quarter ? at : of / 2 - at];
    return at <= quarter ? c : -c;
}

// Transforms of M neighbouring values in place.
template <int M> __device__ __forceinline__ void transform(float *re, float *im)
{
    if constexpr (M == 3)
        patch_dft3(re, im);
    else if constexpr (M == 5)
        patch_dft5(re, im);
    else
        patch_dft6(re, im);
}

// N = 4 M: n = M n1 + n2, k = k1 + 4 k2. Four transforms over n1, twiddles W^(n2 k1), M over n2.
template <int N> __device__ __forceinline__ void forward(Line<N> &z)
{
    enum { M = N / 4 };
#pragma unroll
    for (int n2 = 0; n2 < M; n2++) {
        patch_dft4(&z.re[n2], &z.im[n2], &z.re[n2 + M], &z.im[n2 + M], &z.re[n2 + 2 * M],
                   &z.im[n2 + 2 * M], &z.re[n2 + 3 * M], &z.im[n2 + 3 * M]);
#pragma unroll
        for (int k1 = 1; k1 < 4; k1++)
            if (n2 > 0) // sin(a) = cos(a - pi / 2)
                patch_turn(&z.re[n2 + M * k1], &z.im[n2 + M * k1], cosine<N>(n2 * k1),
                           cosine<N>(n2 * k1 + 3 * M));
    }
    Line<N> y;
#pragma unroll
    for (int k1 = 0; k1 < 4; k1++) {
        transform<M>(z.re + M * k1, z.im + M * k1);
#pragma unroll
        for (int k2 = 0; k2 < M; k2++) {
            y.re[k1 + 4 * k2] = z.re[M * k1 + k2];
            y.im[k1 + 4 * k2] = z.im[M * k1 + k2];
        }
    }
    z = y;
}

template <> __device__ __forceinline__ void forward<16>(Line<16> &z)
{
    patch_fft16(z.re, z.im);
}

// Not divided by N: real and imaginary part change places.
template <int N> __device__ __forceinline__ void inverse(Line<N> &z)
{
    Line<N> y;
#pragma unroll
    for (int e = 0; e < N; e++) {
        y.re[e] = z.im[e];
        y.im[e] = z.re[e];
    }
    forward(y);
#pragma unroll
    for (int e = 0; e < N; e++) {
        z.re[e] = y.im[e];
        z.im[e] = y.re[e];
    }
}

} // namespace
