// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/wavepacket/cuda/tiles.cuh"

// Transforms of 2 to 10, 12, 14, 15 and 16 numbers in registers:
// x[r] = sum over q of x[q] exp(SIGN 2 pi i q r / R).

DEV float2 times(float2 a, float2 b)
{
    return make_float2(fmaf(a.x, b.x, -a.y * b.y), fmaf(a.x, b.y, a.y * b.x));
}

DEV float2 sum(float2 a, float2 b)
{
    return make_float2(a.x + b.x, a.y + b.y);
}

DEV float2 difference(float2 a, float2 b)
{
    return make_float2(a.x - b.x, a.y - b.y);
}

// SIGN i times a.
template <int SIGN> DEV float2 turned(float2 a)
{
    return make_float2(-SIGN * a.y, SIGN * a.x);
}

DEV void dft2(float2 &a, float2 &b)
{
    const float2 d = difference(a, b);
    a = sum(a, b);
    b = d;
}

template <int SIGN> DEV void dft4(float2 &x0, float2 &x1, float2 &x2, float2 &x3)
{
    dft2(x0, x2);
    dft2(x1, x3);
    const float2 e = turned<SIGN>(x3), odd = x2;
    x2 = difference(x0, x1);
    x0 = sum(x0, x1);
    x1 = sum(odd, e);
    x3 = difference(odd, e);
}

// An odd prime: sums and differences of the numbers q and P - q have real factors.
template <int P, int SIGN> DEV void dft_odd(float2 *x)
{
    constexpr int H = (P - 1) / 2;
    const float cos3[] = {1, -0.5f}, sin3[] = {0, 0.866025404f};
    const float cos5[] = {1, 0.309016994f, -0.809016994f}, sin5[] = {0, 0.951056516f, 0.587785252f};
    const float cos7[] = {1, 0.623489802f, -0.222520934f, -0.900968868f};
    const float sin7[] = {0, 0.781831482f, 0.974927912f, 0.433883739f};
    const float *c = P == 3 ? cos3 : P == 5 ? cos5 : cos7;
    const float *s = P == 3 ? sin3 : P == 5 ? sin5 : sin7;
    float2 a[H], d[H], first = x[0];
#pragma unroll
    for (int q = 0; q < H; q++) {
        a[q] = sum(x[q + 1], x[P - 1 - q]);
        d[q] = difference(x[q + 1], x[P - 1 - q]);
        x[0] = sum(x[0], a[q]);
    }
#pragma unroll
    for (int r = 1; r <= H; r++) {
        float2 m = first, n = make_float2(0, 0);
#pragma unroll
        for (int q = 0; q < H; q++) {
            const int k = (q + 1) * r % P, at = k > H ? P - k : k;
            const float sine = SIGN * (k > H ? -s[at] : s[at]);
            m = make_float2(fmaf(c[at], a[q].x, m.x), fmaf(c[at], a[q].y, m.y));
            n = make_float2(fmaf(sine, d[q].x, n.x), fmaf(sine, d[q].y, n.y));
        }
        x[r] = make_float2(m.x - n.y, m.y + n.x);
        x[P - r] = make_float2(m.x + n.y, m.y - n.x);
    }
}

template <int SIGN> DEV void dft8(float2 *x)
{
    const float h = 0.707106781f;
    dft4<SIGN>(x[0], x[2], x[4], x[6]);
    dft4<SIGN>(x[1], x[3], x[5], x[7]);
    const float2 odd[] = {x[1], times(x[3], make_float2(h, SIGN * h)), turned<SIGN>(x[5]),
                          times(x[7], make_float2(-h, SIGN * h))};
    const float2 even[] = {x[0], x[2], x[4], x[6]};
#pragma unroll
    for (int r = 0; r < 4; r++) {
        x[r] = sum(even[r], odd[r]);
        x[r + 4] = difference(even[r], odd[r]);
    }
}

template <int SIGN> DEV void dft9(float2 *x)
{
    const float2 root[] = {{1, 0}, {0.766044443f, SIGN * 0.642787610f},
                           {0.173648178f, SIGN * 0.984807753f}, {0, 0},
                           {-0.939692621f, SIGN * 0.342020143f}};
    float2 y[3][3];
#pragma unroll
    for (int q = 0; q < 3; q++) {
        y[q][0] = x[q];
        y[q][1] = x[q + 3];
        y[q][2] = x[q + 6];
        dft_odd<3, SIGN>(y[q]);
    }
#pragma unroll
    for (int r = 0; r < 3; r++) {
        float2 z[] = {y[0][r], times(y[1][r], root[r]), times(y[2][r], root[2 * r])};
        dft_odd<3, SIGN>(z);
#pragma unroll
        for (int k = 0; k < 3; k++)
            x[r + 3 * k] = z[k];
    }
}

template <int SIGN> DEV void dft16(float2 *x)
{
    const float c = 0.923879533f, s = 0.382683432f, h = 0.707106781f;
    const float2 root[] = {{1, 0},  {c, SIGN * s},  {h, SIGN * h}, {s, SIGN * c}, {0, SIGN},
                           {0, 0},  {-h, SIGN * h}, {0, 0},        {0, 0},        {-c, -SIGN * s}};
#pragma unroll
    for (int q = 0; q < 4; q++)
        dft4<SIGN>(x[q], x[q + 4], x[q + 8], x[q + 12]);
#pragma unroll
    for (int r = 1; r < 4; r++)
#pragma unroll
        for (int q = 1; q < 4; q++)
            x[q + 4 * r] =
                q * r == 4 ? turned<SIGN>(x[q + 4 * r]) : times(x[q + 4 * r], root[q * r]);
    float2 y[16];
#pragma unroll
    for (int r = 0; r < 4; r++) {
        dft4<SIGN>(x[4 * r], x[1 + 4 * r], x[2 + 4 * r], x[3 + 4 * r]);
#pragma unroll
        for (int k = 0; k < 4; k++)
            y[r + 4 * k] = x[k + 4 * r];
    }
#pragma unroll
    for (int k = 0; k < 16; k++)
        x[k] = y[k];
}

template <int R, int SIGN> DEV void dft(float2 *x);

// A product of coprime numbers: nothing is turned between the two (Good and Thomas).
template <int A, int B, int SIGN> DEV void dft_product(float2 *x)
{
    float2 y[A][B];
#pragma unroll
    for (int q = 0; q < B; q++) {
        float2 z[A];
#pragma unroll
        for (int k = 0; k < A; k++)
            z[k] = x[(B * k + A * q) % (A * B)];
        dft<A, SIGN>(z);
#pragma unroll
        for (int k = 0; k < A; k++)
            y[k][q] = z[k];
    }
#pragma unroll
    for (int k = 0; k < A; k++)
        dft<B, SIGN>(y[k]);
#pragma unroll
    for (int r = 0; r < A * B; r++)
        x[r] = y[r % A][r % B];
}

template <int R, int SIGN> DEV void dft(float2 *x)
{
    if constexpr (R == 2)
        dft2(x[0], x[1]);
    else if constexpr (R == 4)
        dft4<SIGN>(x[0], x[1], x[2], x[3]);
    else if constexpr (R == 8)
        dft8<SIGN>(x);
    else if constexpr (R == 9)
        dft9<SIGN>(x);
    else if constexpr (R == 16)
        dft16<SIGN>(x);
    else if constexpr (R == 6 || R == 10 || R == 14)
        dft_product<2, R / 2, SIGN>(x);
    else if constexpr (R == 12)
        dft_product<3, 4, SIGN>(x);
    else if constexpr (R == 15)
        dft_product<3, 5, SIGN>(x);
    else
        dft_odd<R, SIGN>(x);
}
