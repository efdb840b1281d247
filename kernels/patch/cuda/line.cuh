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

// Transforms of M values in place: elements at, at + 1, .., at + M - 1.
template <int M> struct Short;

template <> struct Short<3> {
    template <int N> static __device__ __forceinline__ void run(Line<N> &z, int at)
    {
        const float h = 0.866025403784439f; // sin(pi / 3)
        const float sr = z.re[at + 1] + z.re[at + 2], si = z.im[at + 1] + z.im[at + 2];
        const float dr = h * (z.re[at + 1] - z.re[at + 2]), di = h * (z.im[at + 1] - z.im[at + 2]);
        const float mr = z.re[at] - 0.5f * sr, mi = z.im[at] - 0.5f * si;
        z.re[at] += sr;
        z.im[at] += si;
        z.re[at + 1] = mr + di;
        z.im[at + 1] = mi - dr;
        z.re[at + 2] = mr - di;
        z.im[at + 2] = mi + dr;
    }
};

template <> struct Short<5> {
    template <int N> static __device__ __forceinline__ void run(Line<N> &z, int at)
    {
        const float c1 = 0.309016994374947f, c2 = -0.809016994374947f; // of 2 pi / 5, 4 pi / 5
        const float s1 = 0.951056516295154f, s2 = 0.587785252292473f;
        const float ar = z.re[at + 1] + z.re[at + 4], ai = z.im[at + 1] + z.im[at + 4];
        const float br = z.re[at + 2] + z.re[at + 3], bi = z.im[at + 2] + z.im[at + 3];
        const float cr = z.re[at + 1] - z.re[at + 4], ci = z.im[at + 1] - z.im[at + 4];
        const float dr = z.re[at + 2] - z.re[at + 3], di = z.im[at + 2] - z.im[at + 3];
        const float er = z.re[at] + c1 * ar + c2 * br, ei = z.im[at] + c1 * ai + c2 * bi;
        const float fr = z.re[at] + c2 * ar + c1 * br, fi = z.im[at] + c2 * ai + c1 * bi;
        const float gr = s1 * cr + s2 * dr, gi = s1 * ci + s2 * di;
        const float hr = s2 * cr - s1 * dr, hi = s2 * ci - s1 * di;
        z.re[at] += ar + br;
        z.im[at] += ai + bi;
        z.re[at + 1] = er + gi;
        z.im[at + 1] = ei - gr;
        z.re[at + 2] = fr + hi;
        z.im[at + 2] = fi - hr;
        z.re[at + 3] = fr - hi;
        z.im[at + 3] = fi + hr;
        z.re[at + 4] = er - gi;
        z.im[at + 4] = ei + gr;
    }
};

// Six as two by three, without twiddles: n = 3 a + 2 b, k = 3 a' + 4 b' modulo 6.
template <> struct Short<6> {
    template <int N> static __device__ __forceinline__ void run(Line<N> &z, int at)
    {
        Line<6> y;
#pragma unroll
        for (int b = 0; b < 3; b++) {
            const int p = at + 2 * b, q = at + (3 + 2 * b) % 6;
            y.re[b] = z.re[p] + z.re[q];
            y.im[b] = z.im[p] + z.im[q];
            y.re[3 + b] = z.re[p] - z.re[q];
            y.im[3 + b] = z.im[p] - z.im[q];
        }
        Short<3>::run(y, 0);
        Short<3>::run(y, 3);
#pragma unroll
        for (int a = 0; a < 2; a++)
#pragma unroll
            for (int b = 0; b < 3; b++) {
                z.re[at + (3 * a + 4 * b) % 6] = y.re[3 * a + b];
                z.im[at + (3 * a + 4 * b) % 6] = y.im[3 * a + b];
            }
    }
};

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
        Short<M>::run(z, M * k1);
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
