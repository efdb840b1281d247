// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/fx/cuda/device.cuh"

// The normal equations of one system (fx.md section 4) in shared memory: from covariances, or
// equation by equation. All functions are for a block of THREADS threads, all of which call them.

enum { THREADS = 160, BATCH = 16, BINS = 4 };

__device__ static inline float2 operator+(float2 a, float2 b)
{
    return make_float2(a.x + b.x, a.y + b.y);
}

// sum + conj(a) b
__device__ static inline float2 correlate(float2 sum, float2 a, float2 b)
{
    sum.x = fmaf(a.x, b.x, sum.x);
    sum.y = fmaf(a.x, b.y, sum.y);
    sum.x = fmaf(a.y, b.y, sum.x);
    sum.y = fmaf(-a.y, b.x, sum.y);
    return sum;
}

// Covariances of blocks of `size` traces, a <= b, lie by lag: (a, b) at lag_at(size, b - a) + a.
__device__ static inline int lag_at(int size, int lag)
{
    return lag * size - lag * (lag - 1) / 2;
}

// The power of two that brings the largest spectrum to [1, 2); 0 when there is nothing.
__device__ static inline float scale_for(float largest)
{
    return largest > 1e-30f
               ? __uint_as_float((254u << 23) - (__float_as_uint(largest) & 0x7f800000u))
               : 0.0f;
}

// C(a, a + lag).
struct Covariances {
    const float2 *cov;
    int size;

    __device__ float2 operator()(int lag, int a) const
    {
        return cov[lag_at(size, lag) + a];
    }
};

// C(a, a + lag) of a block whose rows have `width` traces, where it depends on the distance along
// both axes alone, il >= 0 and xl: at il * (2 width - 1) + xl + width - 1.
struct Autocorrelations {
    const float2 *cov;
    int width;

    __device__ float2 operator()(int lag, int a) const
    {
        const int b = a + lag, il = b / width - a / width, xl = b % width - a % width;
        return cov[il * (2 * width - 1) + xl + width - 1];
    }
};

// C(a, b) + conj C(-a, -b), forward plus backward: entries a and size - 1 - b of a lag.
template <class Cov>
__device__ static inline float2 both_ways(const Cov &cov, int lag, int a, int mirrored)
{
    const float2 f = cov(lag, a), r = cov(lag, mirrored);
    return make_float2(f.x + r.x, f.y + r.y);
}

__device__ static void clear(float *matrix, int rounded)
{
    for (int k = threadIdx.x; k < litho_fx_packed_size(rounded) / 4; k += THREADS)
        ((float4 *)matrix)[k] = make_float4(0, 0, 0, 0);
    __syncthreads();
}

// From covariances to the real matrix in the unknowns u_1, v_1, ..., e. Pairs p <= q are walked two
// rows at a time, a long one and a short one, which together have c + 1 entries. SIZE 0:
// `any_size`.
template <int SIZE, class Cov>
__device__ static void assemble(const Cov &cov, int any_size, float *matrix)
{
    const int size = SIZE ? SIZE : any_size, c = size / 2, rounded = litho_fx_round4(size);
    clear(matrix, rounded);
    for (int t = threadIdx.x; t < (c + 1) / 2 * (c + 1); t += THREADS) {
        const int r = t / (c + 1), column = t % (c + 1);
        const int q = column < c - r ? c - 1 - r : r, p = column < c - r ? column : column - c + r;
        if (column >= c - r && c - 1 - r == r)
            continue; // the middle row of an odd number is there once
        const float2 near = both_ways(cov, q - p, c + p + 1, c - q - 1);
        const float2 far = both_ways(cov, p + q + 2, c - q - 1, c - p - 1);
        float *at = matrix + litho_fx_packed(rounded, 2 * q, 2 * p); // u_q, u_p
        const int next = rounded - 2 * p / 4 * 4;                    // to the next column
        at[0] = 0.5f * (near.x + far.x);
        at[1] = -0.5f * (near.y + far.y);
        at[next + 1] = 0.5f * (near.x - far.x);
        if (p < q)
            at[next] = 0.5f * (near.y - far.y);
    }
    for (int q = threadIdx.x; q < c; q += THREADS) {
        const float2 d = both_ways(cov, q + 1, c, c - q - 1);
        matrix[litho_fx_packed(rounded, size - 1, 2 * q)] = 0.70710678f * d.x;
        matrix[litho_fx_packed(rounded, size - 1, 2 * q + 1)] = -0.70710678f * d.y;
    }
    if (threadIdx.x == 0)
        matrix[litho_fx_packed(rounded, size - 1, size - 1)] = cov(0, c).x;
}

// Appends those of the design points [from, from + THREADS) that are present or not, in order; how
// many are in the list now.
__device__ static int list_points(const LithoFxGroup &g, const LithoFxSpot &s, int from, bool live,
                                  int found, int *list, int *counts)
{
    const int n_xl = s.c_xl1 - s.c_xl0, n = (s.c_il1 - s.c_il0) * n_xl;
    const int point = from + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const bool mine =
        point < n && present_at(g, s.c_il0 + point / n_xl, s.c_xl0 + point % n_xl) == live;
    const unsigned ballot = __ballot_sync(0xffffffffu, mine);
    __syncthreads(); // the list of the last round has been used
    if (lane == 0)
        counts[warp] = __popc(ballot);
    __syncthreads();
    int before = found, all = found;
    for (int w = 0; w < THREADS / 32; w++) {
        before += w < warp ? counts[w] : 0;
        all += counts[w];
    }
    if (mine)
        list[before + __popc(ballot & ((1u << lane) - 1))] = point;
    __syncthreads();
    return all;
}

// The equation of one design point: real and imaginary row of `rounded` numbers.
__device__ static void equation(const LithoFxGroup &g, const LithoFxSpot &s, Source source,
                                float scale, int point, int q, float *re, float *im)
{
    const int n_xl = s.c_xl1 - s.c_xl0, c = g.size / 2, width = 2 * g.half_xl + 1;
    const int il = s.c_il0 + point / n_xl, xl = s.c_xl0 + point % n_xl;
    if (q == 0) {
        const float2 e = source(il, xl);
        re[g.size - 1] = scale * e.x;
        im[g.size - 1] = scale * e.y;
        return;
    }
    const int d_il = (c + q) / width - g.half_il, d_xl = (c + q) % width - g.half_xl;
    const float2 a = source(il + d_il, xl + d_xl), b = source(il - d_il, xl - d_xl);
    const float r = 0.70710678f * scale;
    re[2 * q - 2] = r * (a.x + b.x);
    im[2 * q - 2] = r * (a.y + b.y);
    re[2 * q - 1] = -r * (a.y - b.y);
    im[2 * q - 1] = r * (a.x - b.x);
}

// matrix += sign * rows^T rows by tiles of 4 x 4 in registers.
__device__ static void add_rows(const float *rows, int n, int rounded, float sign, float *matrix)
{
    const int blocks = rounded / 4;
    for (int t = threadIdx.x; t < blocks * (blocks + 1) / 2; t += THREADS) {
        int i, j;
        triangle(t, &i, &j);
        float sum[4][4] = {};
        for (int k = 0; k < n; k++) {
            const float4 a = *(const float4 *)(rows + k * rounded + 4 * i);
            const float4 b = *(const float4 *)(rows + k * rounded + 4 * j);
            const float x[4] = {a.x, a.y, a.z, a.w}, y[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
            for (int c = 0; c < 4; c++)
#pragma unroll
                for (int r = 0; r < 4; r++)
                    sum[c][r] = fmaf(x[r], y[c], sum[c][r]);
        }
#pragma unroll
        for (int c = 0; c < 4; c++) {
            float4 *to = (float4 *)(matrix + litho_fx_packed(rounded, 4 * i, 4 * j + c));
            float4 v = *to;
            v.x += sign * sum[c][0];
            v.y += sign * sum[c][1];
            v.z += sign * sum[c][2];
            v.w += sign * sum[c][3];
            *to = v;
        }
    }
}

// Scratch of add_equations: rows, then a list of points, then one count a warp.
__host__ __device__ static inline int equations_floats(int rounded)
{
    return 2 * BATCH * rounded + 2 * THREADS + THREADS / 32;
}

// Adds `sign` times the equations of the design points that are present or not, BATCH at a time.
__device__ static void add_equations(const LithoFxGroup &g, const LithoFxSpot &s, Source source,
                                     float scale, bool live, float sign, float *matrix,
                                     float *scratch)
{
    const int n = (s.c_il1 - s.c_il0) * (s.c_xl1 - s.c_xl0), c = g.size / 2;
    const int rounded = litho_fx_round4(g.size);
    float *rows = scratch;
    int *list = (int *)(rows + 2 * BATCH * rounded), *counts = list + 2 * THREADS;
    for (int k = threadIdx.x; k < 2 * BATCH * rounded; k += THREADS)
        rows[k] = 0; // what rounding up adds stays zero
    for (int from = 0, found = 0; from < n; from += THREADS) {
        found = list_points(g, s, from, live, found, list, counts);
        if (found <= THREADS && from + THREADS < n)
            continue; // another round fits
        for (int at = 0; at < found; at += BATCH) {
            const int batch = min(found - at, BATCH);
            for (int k = threadIdx.x; k < batch * (c + 1); k += THREADS) {
                const int point = k / (c + 1);
                float *re = rows + 2 * point * rounded;
                equation(g, s, source, scale, list[at + point], k % (c + 1), re, re + rounded);
            }
            __syncthreads();
            add_rows(rows, 2 * batch, rounded, sign, matrix);
            __syncthreads();
        }
        found = 0;
    }
}

__device__ static void store(const LithoFxGroup &g, int spot, int bin, const float *matrix)
{
    float *out = g.matrix + system_of(g, spot, bin) * g.matrix_pitch;
    const int n = litho_fx_packed_size(litho_fx_round4(g.size)) / 4;
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        ((float4 *)out)[k] = ((const float4 *)matrix)[k];
}
