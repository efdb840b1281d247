// SPDX-License-Identifier: GPL-3.0-or-later
//
// The fused sum on the device. A warp owns 64 targets (two a lane) and 32 frequencies, whose sums
// stay in registers; the warps of a block own the same targets and up to four neighbouring blocks of
// frequencies. Per tile of sources the block first works out every pair once (distance, amplitude,
// coefficient, 2 cos(2 pi t)) into shared memory; then each warp seeds the beams at its own first
// frequency with two fast sines and cosines and steps them by z(k+1) = 2 cos(2 pi t) z(k) - z(k-1).
// The field is read as broadcasts of two complex numbers, each of which serves both targets.
//
// Floor: 6 fp32 instructions per pair and frequency. Seeds add about 15 per pair and block of 32
// frequencies, the shared work about 60 per pair and 128 frequencies. Device memory is touched
// little: the field is read once per 64 targets, from L2.
#include "kernels/twsm/twsm_device.cuh"

enum { TILE = 16, KB = TWSM_GPU_BLOCK, MAX_WARPS = TWSM_GPU_BAND / TWSM_GPU_BLOCK };

// cos and sin of 2 pi k t, absolute error 6e-7: good for a seed, whose error stays what it is.
static __device__ __forceinline__ void seed_turn(float k, float t, float *c, float *s)
{
    float x = 6.28318530717958648f * fmaf(k, t, -twsm_round(k * t));
    *c = __cosf(x);
    *s = __sinf(x);
}

// 2 cos(2 pi t) as 2 - 4 sin^2(pi t): an error here grows with the square of the steps where t is
// near a whole number, and there this form keeps the small part whole.
static __device__ __forceinline__ float twice_cosine(float t)
{
    float x = 3.14159265358979324f * (t - twsm_round(t)), x2 = x * x;
    float p = fmaf(x2, -2.5052108385e-8f, 2.7557319224e-6f);
    p = fmaf(p, x2, -1.9841269841e-4f);
    p = fmaf(p, x2, 8.3333333333e-3f);
    p = fmaf(p, x2, -1.6666666667e-1f);
    float s = fmaf(x * x2, p, x);
    return fmaf(-4.0f * s, s, 2.0f);
}

struct Beam {
    float re, im, pre, pim, twice, far;
};

// `pair`: t, amplitude (complex), 2 cos(2 pi t).
template <bool NEAR> static __device__ __forceinline__ Beam seed(float4 pair, float k0)
{
    Beam b;
    float c, s;
    seed_turn(k0, pair.x, &c, &s);
    b.re = pair.y * c - pair.z * s;
    b.im = pair.y * s + pair.z * c;
    seed_turn(k0 - 1.0f, pair.x, &c, &s);
    b.pre = pair.y * c - pair.z * s;
    b.pim = pair.y * s + pair.z * c;
    b.twice = pair.w;
    b.far = NEAR ? __fdividef(0.159154943f, pair.x) : 0.0f;
    return b;
}

// One frequency of one beam: adds z u, steps z.
template <bool NEAR>
static __device__ __forceinline__ void step(Beam &b, float ure, float uim, float2 &sum, float2 &near)
{
    if (NEAR) {
        float pr = b.re * ure - b.im * uim, pi = b.re * uim + b.im * ure;
        sum.x += pr;
        sum.y += pi;
        near.x = fmaf(b.far, pr, near.x);
        near.y = fmaf(b.far, pi, near.y);
    } else {
        sum.x = fmaf(b.re, ure, sum.x);
        sum.y = fmaf(b.re, uim, sum.y);
        sum.x = fmaf(-b.im, uim, sum.x);
        sum.y = fmaf(b.im, ure, sum.y);
    }
    float nre = fmaf(b.twice, b.re, -b.pre), nim = fmaf(b.twice, b.im, -b.pim);
    b.pre = b.re, b.pim = b.im;
    b.re = nre, b.im = nim;
}

// What a block shares: the field of TILE sources, and all pairs of its targets with them.
template <int ROWS> struct Shared {
    float4 u[TILE][TWSM_GPU_BAND / 2];
    float4 pair[TILE][32 * ROWS];
    float4 from[TILE], normal[TILE];
};

template <int ROWS, bool MASK>
static __device__ __forceinline__ void load_tile(const TwsmGpuLeg &leg, const float2 *u, int stride,
                                                 int j, int row, Shared<ROWS> &sh)
{
    int half = blockDim.x / 2; // pairs of frequencies: 16 a warp
    for (int e = threadIdx.x; e < TILE * half; e += blockDim.x)
        sh.u[e / half][e % half] =
            *(const float4 *)(u + (size_t)(j + e / half) * stride + 2 * (e % half));
    for (int e = threadIdx.x; e < TILE; e += blockDim.x) {
        sh.from[e] = ((const float4 *)leg.from)[j + e];
        sh.normal[e] = ((const float4 *)leg.from_normal)[j + e];
    }
    __syncthreads();
    for (int e = threadIdx.x; e < TILE * 32 * ROWS; e += blockDim.x) {
        int q = e / (32 * ROWS), r = e % (32 * ROWS), i = min(row + r, leg.n_to - 1);
        float4 p;
        twsm_device_pair<MASK>(leg, sh.from[q], sh.normal[q], ((const float4 *)leg.to)[i],
                               ((const float4 *)leg.to_normal)[i], &p.x, &p.y, &p.z);
        p.w = twice_cosine(p.x);
        sh.pair[q][r] = p;
    }
    __syncthreads();
}

template <int ROWS, bool NEAR, bool MASK>
__global__ void __launch_bounds__(32 * MAX_WARPS, 3)
    fused_kernel(const TwsmGpuLeg leg, const float2 *__restrict__ u, int stride, int k0, int row,
                 int rows, float2 *__restrict__ partial)
{
    __shared__ Shared<ROWS> sh;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = blockIdx.x * 32 * ROWS;
    const float k = (float)(k0 + warp * KB);
    float2 sum[ROWS][KB], near[NEAR ? ROWS : 1][NEAR ? KB : 1];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int m = 0; m < KB; m++) {
            sum[r][m] = make_float2(0, 0);
            if (NEAR)
                near[r][m] = make_float2(0, 0);
        }
    int j0 = blockIdx.y * TWSM_GPU_SLICE, j1 = min(j0 + TWSM_GPU_SLICE, leg.n_from);
    for (int j = j0; j < j1; j += TILE) {
        load_tile<ROWS, MASK>(leg, u, stride, j, row + first, sh);
        for (int q = 0; q < TILE; q++) {
            Beam b[ROWS];
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                b[r] = seed<NEAR>(sh.pair[q][r * 32 + lane], k);
            const float4 *us = sh.u[q] + warp * (KB / 2);
#pragma unroll
            for (int m = 0; m < KB; m += 2) {
                float4 v = us[m / 2];
#pragma unroll
                for (int r = 0; r < ROWS; r++) {
                    step<NEAR>(b[r], v.x, v.y, sum[r][m], near[NEAR ? r : 0][NEAR ? m : 0]);
                    step<NEAR>(b[r], v.z, v.w, sum[r][m + 1], near[NEAR ? r : 0][NEAR ? m + 1 : 0]);
                }
            }
        }
        __syncthreads();
    }
    const int width = blockDim.x * (NEAR ? 2 : 1); // float2 a row: 32 frequencies a warp
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        int mine = first + r * 32 + lane;
        if (mine >= rows)
            continue;
        float2 *to = partial + ((size_t)blockIdx.y * rows + mine) * width + warp * KB;
#pragma unroll
        for (int m = 0; m < KB; m++) {
            to[m] = sum[r][m];
            if (NEAR)
                to[blockDim.x + m] = near[r][m];
        }
    }
}

template <int ROWS, bool NEAR>
static void launch_fused(const TwsmGpuLeg *leg, const void *u, int stride, int k0, int n_k, int row,
                         int rows, void *partial, cudaStream_t stream)
{
    dim3 grid((rows + ROWS * 32 - 1) / (ROWS * 32),
              (leg->n_from + TWSM_GPU_SLICE - 1) / TWSM_GPU_SLICE);
    if (leg->has_mask)
        fused_kernel<ROWS, NEAR, true><<<grid, n_k, 0, stream>>>(
            *leg, (const float2 *)u, stride, k0, row, rows, (float2 *)partial);
    else
        fused_kernel<ROWS, NEAR, false><<<grid, n_k, 0, stream>>>(
            *leg, (const float2 *)u, stride, k0, row, rows, (float2 *)partial);
}

int litho_twsm_fused(const TwsmGpuLeg *leg, const void *u, int stride, int k0, int n_k, int row,
                     int rows, void *partial, cudaStream_t stream)
{
    if (leg->near)
        launch_fused<1, true>(leg, u, stride, k0, n_k, row, rows, partial, stream);
    else
        launch_fused<2, false>(leg, u, stride, k0, n_k, row, rows, partial, stream);
    return (int)cudaGetLastError();
}

// One thread a row and frequency; slices in order, in float64. Reads each partial sum once.
__global__ void reduce_kernel(const TwsmGpuLeg leg, const float2 *__restrict__ partial, int k0,
                              int n_k, float sig, int row, int rows, const float2 *__restrict__ u,
                              float2 *y, int stride)
{
    long long e = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    int r = (int)(e / n_k), k = (int)(e % n_k);
    if (r >= rows)
        return;
    int parts = leg.near ? 2 : 1, slices = (leg.n_from + TWSM_GPU_SLICE - 1) / TWSM_GPU_SLICE;
    double re = 0, im = 0, nre = 0, nim = 0;
    for (int s = 0; s < slices; s++) {
        const float2 *p = partial + ((size_t)s * rows + r) * n_k * parts + k;
        re += p[0].x, im += p[0].y;
        if (leg.near)
            nre += p[n_k].x, nim += p[n_k].y;
    }
    float kk = (float)(k0 + k), taper = ((const float4 *)leg.to_normal)[row + r].w;
    float vre = (float)(-sig * re - kk * im - nre), vim = (float)(kk * re - sig * im - nim);
    size_t at = (size_t)(row + r) * stride + k;
    if (leg.absorb)
        y[at] = make_float2(u[at].x - vre, u[at].y - vim);
    else
        y[at] = make_float2(taper * vre, taper * vim);
}

int litho_twsm_reduce(const TwsmGpuLeg *leg, const void *partial, int k0, int n_k, float sig, int row,
                      int rows, const void *u_row, void *y, int stride, cudaStream_t stream)
{
    reduce_kernel<<<(unsigned)(((long long)rows * n_k + 255) / 256), 256, 0, stream>>>(
        *leg, (const float2 *)partial, k0, n_k, sig, row, rows, (const float2 *)u_row, (float2 *)y,
        stride);
    return (int)cudaGetLastError();
}
