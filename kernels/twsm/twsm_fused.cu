// SPDX-License-Identifier: GPL-3.0-or-later
//
// The fused sum on the device. A warp owns 32 targets (one a lane) and 64 or 32 frequencies, whose
// sums stay in registers; the warps of a block share targets and own neighbouring frequencies. Per
// tile of sources the block first works out every pair once (distance, amplitude, coefficient,
// 2 cos(2 pi t)) into shared memory; then each warp seeds the beams at its own first frequency with
// two fast sines and cosines and steps them by z(k+1) = 2 cos(2 pi t) z(k) - z(k-1). The field is read
// as broadcasts of two complex numbers.
//
// Floor: 6 fp32 instructions per pair and frequency. Seeds add about 15 per pair and warp, the shared
// work about 120 per pair and block. Device memory is touched little: the field is read once per 64
// targets, from L2.
#include "kernels/twsm/twsm_device.cuh"

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

// How a kernel is cut: targets a lane, frequencies a warp keeps, sources a tile, blocks a processor.
template <int ROWS_, int KB_, int TILE_, int BLOCKS_> struct Cut {
    static const int ROWS = ROWS_, KB = KB_, TILE = TILE_, BLOCKS = BLOCKS_;
    static const int WARPS = 4;
};

// What a block shares: a tile of sources with their field, and all pairs of its targets with them.
struct Shared {
    float4 *from, *normal; // [TILE]
    float4 *u;             // [TILE][n_k / 2]
    float4 *pair;          // [TILE][targets]: t, amplitude (complex), 2 cos(2 pi t)
};

template <typename C> static __host__ __device__ size_t shared_bytes(int n_k, int targets)
{
    return sizeof(float4) * C::TILE * (2 + n_k / 2 + targets);
}

template <typename C>
static __device__ __forceinline__ Shared cut_shared(float4 *memory, int n_k)
{
    return {memory, memory + C::TILE, memory + 2 * C::TILE,
            memory + C::TILE * (2 + n_k / 2)};
}

// `targets` is a power of 2 and n_k a multiple of 32: no division here, this runs once per pair.
template <typename C, bool MASK>
static __device__ __forceinline__ void load_tile(const TwsmGpuLeg &leg, const float2 *u, int stride,
                                                 int n_k, int j, int row, int targets,
                                                 const Shared &sh)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int q = warp; q < C::TILE; q += warps)
        for (int h = lane; h < n_k / 2; h += 32)
            sh.u[q * (n_k / 2) + h] = *(const float4 *)(u + (size_t)(j + q) * stride + 2 * h);
    if (threadIdx.x < C::TILE) {
        sh.from[threadIdx.x] = ((const float4 *)leg.from)[j + threadIdx.x];
        sh.normal[threadIdx.x] = ((const float4 *)leg.from_normal)[j + threadIdx.x];
    }
    __syncthreads();
    const int shift = 31 - __clz(targets);
    for (int e = threadIdx.x; e < C::TILE << shift; e += blockDim.x) {
        int q = e >> shift, i = min(row + (e & (targets - 1)), leg.n_to - 1);
        float4 p;
        twsm_device_pair<MASK>(leg, sh.from[q], sh.normal[q], ((const float4 *)leg.to)[i],
                               ((const float4 *)leg.to_normal)[i], &p.x, &p.y, &p.z);
        p.w = twice_cosine(p.x);
        sh.pair[e] = p;
    }
    __syncthreads();
}

template <typename C, bool NEAR, bool MASK>
__global__ void __launch_bounds__(32 * C::WARPS, C::BLOCKS)
    fused_kernel(const TwsmGpuLeg leg, const float2 *__restrict__ u, int stride, int k0, int n_k,
                 int row, int rows, float2 *__restrict__ partial)
{
    extern __shared__ float4 memory[];
    const Shared sh = cut_shared<C>(memory, n_k);
    constexpr int ROWS = C::ROWS, KB = C::KB;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int k_warps = n_k / KB, targets = blockDim.x / k_warps * ROWS;
    const int wk = warp % k_warps, mine = warp / k_warps * 32 * ROWS + lane;
    const int first = blockIdx.x * targets;
    const float k = (float)(k0 + wk * KB);
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
    for (int j = j0; j < j1; j += C::TILE) {
        load_tile<C, MASK>(leg, u, stride, n_k, j, row + first, targets, sh);
        // The next source's beams are seeded while the present one's are stepped.
        Beam next[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            next[r] = seed<NEAR>(sh.pair[mine + 32 * r], k);
        for (int q = 0; q < C::TILE; q++) {
            Beam b[ROWS];
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                b[r] = next[r];
                next[r] = seed<NEAR>(sh.pair[min(q + 1, C::TILE - 1) * targets + mine + 32 * r], k);
            }
            const float4 *us = sh.u + q * (n_k / 2) + wk * (KB / 2);
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
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        int at = first + mine + 32 * r;
        if (at >= rows)
            continue;
        float2 *to = partial + ((size_t)blockIdx.y * rows + at) * n_k * (NEAR ? 2 : 1) + wk * KB;
#pragma unroll
        for (int m = 0; m < KB; m++) {
            to[m] = sum[r][m];
            if (NEAR)
                to[n_k + m] = near[r][m];
        }
    }
}

template <typename C, bool NEAR, bool MASK>
static int launch(const TwsmGpuLeg *leg, const void *u, int stride, int k0, int n_k, int row,
                  int rows, void *partial, cudaStream_t stream)
{
    int k_warps = n_k / C::KB, groups = C::WARPS / k_warps, targets = 32 * C::ROWS * groups;
    dim3 grid((rows + targets - 1) / targets,
              (leg->n_from + TWSM_GPU_SLICE - 1) / TWSM_GPU_SLICE);
    size_t bytes = shared_bytes<C>(n_k, targets);
    cudaError_t status = cudaFuncSetAttribute(
        fused_kernel<C, NEAR, MASK>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (status != cudaSuccess)
        return (int)status;
    fused_kernel<C, NEAR, MASK><<<grid, 32 * k_warps * groups, bytes, stream>>>(
        *leg, (const float2 *)u, stride, k0, n_k, row, rows, (float2 *)partial);
    return (int)cudaGetLastError();
}

// Measured on an H200 for 112,000 x 112,000 pairs and 128 frequencies: one target and 64 frequencies
// 547 ms, two and 32 595 ms, one and 32 582 ms. The register file's ports, not the arithmetic, are the
// limit ("dispatch stall"): most multiply-adds read three fresh registers.
typedef Cut<1, 64, 16, 3> Wide;
typedef Cut<1, 32, 16, 4> Narrow;
typedef Cut<1, 32, 16, 3> Near;

template <typename C, bool NEAR>
static int launch_masked(const TwsmGpuLeg *leg, const void *u, int stride, int k0, int n_k, int row,
                         int rows, void *partial, cudaStream_t stream)
{
    return leg->has_mask
               ? launch<C, NEAR, true>(leg, u, stride, k0, n_k, row, rows, partial, stream)
               : launch<C, NEAR, false>(leg, u, stride, k0, n_k, row, rows, partial, stream);
}

int litho_twsm_fused(const TwsmGpuLeg *leg, const void *u, int stride, int k0, int n_k, int row,
                     int rows, void *partial, cudaStream_t stream)
{
    if (leg->near)
        return launch_masked<Near, true>(leg, u, stride, k0, n_k, row, rows, partial, stream);
    if (n_k % 64 == 0)
        return launch_masked<Wide, false>(leg, u, stride, k0, n_k, row, rows, partial, stream);
    return launch_masked<Narrow, false>(leg, u, stride, k0, n_k, row, rows, partial, stream);
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
