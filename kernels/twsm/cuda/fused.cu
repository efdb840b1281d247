// SPDX-License-Identifier: GPL-3.0-or-later
//
// The fused sum on the device. A warp owns 32 targets (one a lane) and 64 or 32 frequencies, whose
// sums stay in registers; the warps of a block share targets and own neighbouring frequencies. Per
// tile of sources the block first works out every pair once (distance, amplitude, coefficient,
// 2 cos(2 pi t)) and seeds each warp's beams: z at its first frequency and at the one before, into
// shared memory. Then the warps step them by z(k+1) = 2 cos(2 pi t) z(k) - z(k-1); the field is
// read as broadcasts of two complex numbers.
//
// Floor: 6 fp32 instructions per pair and frequency, 0.288 s for 112,000 x 112,000 pairs and 128
// frequencies on an H200 at 1.98 GHz. Broadcasts add 0.5, the pairs 0.9. The limit is the register
// file: two banks (even and odd numbers) give one operand a clock each, and the six instructions
// read 16 operands that the reuse cache does not hold: 8 clocks.
#include <cuda_pipeline.h>

#include "kernels/twsm/cuda/device.cuh"

namespace
{

enum { WARPS = 4, TILE = 16 };

// Terms that a pair may need: a real coefficient and nothing else (the usual leg between
// boundaries); any coefficient or none, damping; and a mask besides.
enum Pairs { LEAN, FULL, MASKED };

// Cut of a kernel: frequencies a warp keeps, warps that share targets, blocks a processor.
template <int KB_, int KW_, int BLOCKS_, bool NEAR_> struct Cut {
    static const int KB = KB_, KW = KW_, BLOCKS = BLOCKS_;
    static const bool NEAR = NEAR_;
    static const int GROUPS = WARPS / KW, THREADS = 32 * KW * GROUPS, TARGETS = 32 * GROUPS;
};

// Shared memory of a block. `step`: 2 cos(2 pi t), and 1 / (2 pi t) for the near field.
template <typename C> struct Shared {
    float4 to[C::TARGETS], to_normal[C::TARGETS];
    float4 from[TILE], from_normal[TILE];
    TwsmBox box; // around the targets
    float4 u[TILE][C::KW * C::KB / 2];
    float4 seed[C::KW][TILE][C::TARGETS]; // z(first), z(first - 1)
    float2 step[C::NEAR ? TILE + 1 : 1][C::NEAR ? C::TARGETS : 1];
    float twice[C::NEAR ? 1 : TILE + 1][C::NEAR ? 1 : C::TARGETS]; // one row more: read, not used
};

// cos and sin of 2 pi t and 2 cos(2 pi t) by half the angle, 2 - 4 sin^2(pi t): an error of the
// last grows with the square of the steps where t is near a whole number, and there this form keeps
// the small part whole. Taylor terms to x^11 and x^10, error 3e-8.
__device__ __forceinline__ void unit_step(float t, float *c, float *s, float *twice)
{
    float x = 3.14159265358979324f * (t - twsm_round(t)), x2 = x * x;
    float p = fmaf(x2, -2.5052108385e-8f, 2.7557319224e-6f);
    p = fmaf(p, x2, -1.9841269841e-4f);
    p = fmaf(p, x2, 8.3333333333e-3f);
    p = fmaf(p, x2, -1.6666666667e-1f);
    float q = fmaf(x2, -2.7557319224e-7f, 2.4801587302e-5f);
    q = fmaf(q, x2, -1.3888888889e-3f);
    q = fmaf(q, x2, 4.1666666667e-2f);
    q = fmaf(q, x2, -0.5f);
    float sine = fmaf(x * x2, p, x), cosine = fmaf(q, x2, 1.0f), d = -2.0f * sine;
    *c = fmaf(d, sine, 1.0f);
    *s = -d * cosine;
    *twice = fmaf(2 * d, sine, 2.0f);
}

// twsm_device_pair() without what LEAN pairs do not have, and with the signs moved so that nothing
// is multiplied twice.
__device__ __forceinline__ void lean_pair(const TwsmGpuLeg &leg, float4 s, float4 sn, float4 t,
                                          float4 tn, float *turns, float *amp)
{
    float dx = t.x - s.x, dy = t.y - s.y, dz = t.z - s.z;
    float r2 = dx * dx + dy * dy + dz * dz;
    float inv = rsqrtf(fmaxf(r2, 1e-6f));
    inv = inv * (1.5f - 0.5f * r2 * inv * inv);
    float out = leg.pair.side * (sn.x * dx + sn.y * dy + sn.z * dz);
    float cos_i = (tn.x * dx + tn.y * dy + tn.z * dz) * inv * leg.pair.arrive;
    float at = fmaxf(fminf(cos_i, 1.0f) * TWSM_TABLE, 0.0f);
    int k = (int)at;
    float4 c = ((const float4 *)leg.coef)[k];
    float a = fmaf(at - (float)k, c.z, c.x) * (out * inv) * (s.w * leg.pair.amp * inv);
    *turns = r2 * inv * leg.pair.turns;
    *amp = out > 0 && cos_i > 0 && r2 >= 0.25f * s.w ? a : 0.0f;
}

// Works out pair (q, i) of the tile and seeds its beams for all warps that share the targets.
template <typename C, Pairs P>
__device__ __forceinline__ void make_pair(const TwsmGpuLeg &leg, float k0, int q, int i, float4 t,
                                          float4 tn, bool seen, Shared<C> &sh)
{
    float turns, are, aim = 0, c, s, twice;
    if (P == LEAN)
        lean_pair(leg, sh.from[q], sh.from_normal[q], t, tn, &turns, &are);
    else if (P == FULL || seen)
        twsm_device_pair<false>(leg, sh.from[q], sh.from_normal[q], t, tn, &turns, &are, &aim);
    else
        twsm_device_pair<true>(leg, sh.from[q], sh.from_normal[q], t, tn, &turns, &are, &aim);
    unit_step(turns, &c, &s, &twice);
    if (C::NEAR)
        sh.step[q][i] = make_float2(twice, __fdividef(0.159154943f, turns));
    else
        sh.twice[q][i] = twice;
#pragma unroll
    for (int w = 0; w < C::KW; w++) {
        // Absolute error 6e-7: good for a seed, whose error stays what it is.
        float k = k0 + w * C::KB;
        float x = 6.28318530717958648f * fmaf(k, turns, -twsm_round(k * turns));
        float zc = __cosf(x), zs = __sinf(x);
        float re = P == LEAN ? are * zc : are * zc - aim * zs;
        float im = P == LEAN ? are * zs : are * zs + aim * zc;
        sh.seed[w][q][i] = make_float4(re, im, re * c + im * s, im * c - re * s);
    }
}

__device__ __forceinline__ TwsmBox box_of(const float4 *at, int n)
{
    TwsmBox box = twsm_box(&at[0].x, &at[n - 1].x);
    for (int k = 0; k < n; k++)
        twsm_box_add(&box, at[k].x, at[k].y, at[k].z);
    return box;
}

// TRUE when no way from the tile to the block's targets needs to be looked at. Also a barrier.
template <typename C>
__device__ __forceinline__ bool tile_seen(const TwsmGpuLeg &leg, const Shared<C> &sh)
{
    if (leg.absorb)
        return false;
    const TwsmBox from = box_of(sh.from, TILE);
    return __syncthreads_and(twsm_mask_clear(
        &leg.mask.bounds, &from, &sh.box, leg.pair.side > 0, threadIdx.x % TWSM_MASK_SAMPLES + 1,
        threadIdx.x / TWSM_MASK_SAMPLES, C::THREADS / TWSM_MASK_SAMPLES));
}

// A tile: fetches sources and field, works out all pairs. Each thread keeps one target.
template <typename C, Pairs P>
__device__ __forceinline__ void load_tile(const TwsmGpuLeg &leg, const float2 *u, int stride,
                                          float k0, int j, Shared<C> &sh)
{
    constexpr int ROW = C::KW * C::KB / 2;
    if (threadIdx.x < TILE)
        __pipeline_memcpy_async(&sh.from[threadIdx.x], (const float4 *)leg.from + j + threadIdx.x,
                                16);
    else if (threadIdx.x < 2 * TILE)
        __pipeline_memcpy_async(&sh.from_normal[threadIdx.x - TILE],
                                (const float4 *)leg.from_normal + j + threadIdx.x - TILE, 16);
    __pipeline_commit();
    for (int e = threadIdx.x; e < TILE * ROW; e += C::THREADS)
        __pipeline_memcpy_async(&sh.u[e / ROW][e % ROW],
                                u + (size_t)(j + e / ROW) * stride + 2 * (e % ROW), 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    const bool seen = P != MASKED || tile_seen(leg, sh);
    const int i = threadIdx.x % C::TARGETS;
    const float4 t = sh.to[i], tn = sh.to_normal[i];
    // The field arrives while the pairs are worked out.
#pragma unroll 2
    for (int q = threadIdx.x / C::TARGETS; q < TILE; q += C::THREADS / C::TARGETS)
        make_pair<C, P>(leg, k0, q, i, t, tn, seen, sh);
    __pipeline_wait_prior(0);
    __syncthreads();
}

struct Beam {
    float re, im, pre, pim, twice, far;
};

// Two frequencies of one beam: adds z u, steps z. (pre, pim) is z one frequency back, and after the
// first step one ahead. ptxas keeps enough of the order for it to matter: of 110 orders timed on an
// H200 this was the fastest, 480 ms for the case above; the middle one would take 520, the slowest
// 595.
__device__ __forceinline__ void two_steps(Beam &b, float4 u, float2 &first, float2 &second)
{
    first.y = fmaf(b.im, u.x, first.y);
    b.pre = fmaf(b.re, b.twice, -b.pre);
    second.y = fmaf(b.pre, u.w, second.y);
    first.y = fmaf(b.re, u.y, first.y);
    b.pim = fmaf(b.im, b.twice, -b.pim);
    second.x = fmaf(-b.pim, u.w, second.x);
    first.x = fmaf(b.re, u.x, first.x);
    second.y = fmaf(b.pim, u.z, second.y);
    first.x = fmaf(-b.im, u.y, first.x);
    b.im = fmaf(b.pim, b.twice, -b.im);
    b.re = fmaf(b.pre, b.twice, -b.re);
    second.x = fmaf(b.pre, u.z, second.x);
}

// One frequency with the near field beside.
__device__ __forceinline__ void near_step(Beam &b, float ure, float uim, float2 &sum, float2 &near)
{
    float pr = b.re * ure - b.im * uim, pi = b.re * uim + b.im * ure;
    sum.x += pr;
    sum.y += pi;
    near.x = fmaf(b.far, pr, near.x);
    near.y = fmaf(b.far, pi, near.y);
    float re = fmaf(b.twice, b.re, -b.pre), im = fmaf(b.twice, b.im, -b.pim);
    b.pre = b.re, b.pim = b.im;
    b.re = re, b.im = im;
}

// Beam of source q, read one source ahead (of the last, a row that is not used).
template <typename C>
__device__ __forceinline__ void load_beam(const Shared<C> &sh, int q, int wk, int i, Beam &b)
{
    // Behind the last row of the last warp's seeds lies `step` or `twice`.
    float4 z = (&sh.seed[wk][0][0])[q * C::TARGETS + i];
    b.re = z.x, b.im = z.y, b.pre = z.z, b.pim = z.w;
    if (C::NEAR) {
        float2 s = sh.step[q][i];
        b.twice = s.x, b.far = s.y;
    } else {
        b.twice = sh.twice[q][i];
    }
}

template <typename C, Pairs P>
__global__ void __launch_bounds__(C::THREADS, C::BLOCKS)
    fused_kernel(const TwsmGpuLeg leg, const float2 *__restrict__ u, int stride, int k0, int row,
                 int rows, float2 *__restrict__ partial)
{
    extern __shared__ float4 memory[];
    Shared<C> &sh = *(Shared<C> *)memory;
    constexpr int KB = C::KB, N_K = C::KW * KB;
    const int warp = threadIdx.x / 32, wk = warp % C::KW,
              mine = warp / C::KW * 32 + threadIdx.x % 32;
    const int first = blockIdx.x * C::TARGETS;
    float2 sum[KB], near[C::NEAR ? KB : 1];
#pragma unroll
    for (int m = 0; m < KB; m++) {
        sum[m] = make_float2(0, 0);
        if (C::NEAR)
            near[m] = make_float2(0, 0);
    }
    for (int e = threadIdx.x; e < C::TARGETS; e += C::THREADS) {
        int i = min(row + first + e, leg.n_to - 1);
        sh.to[e] = ((const float4 *)leg.to)[i];
        sh.to_normal[e] = ((const float4 *)leg.to_normal)[i];
    }
    if (P == MASKED) {
        __syncthreads();
        if (threadIdx.x == 0)
            sh.box = box_of(sh.to, C::TARGETS); // read behind the first tile's barrier
    }
    int j0 = blockIdx.y * TWSM_GPU_SLICE, j1 = min(j0 + TWSM_GPU_SLICE, leg.n_from);
    for (int j = j0; j < j1; j += TILE) {
        load_tile<C, P>(leg, u, stride, (float)k0, j, sh);
        Beam next;
        load_beam(sh, 0, wk, mine, next);
#pragma unroll 1
        for (int q = 0; q < TILE; q++) {
            Beam b = next;
            load_beam(sh, q + 1, wk, mine, next);
            const float4 *us = sh.u[q] + wk * (KB / 2);
#pragma unroll
            for (int m = 0; m < KB; m += 2) {
                float4 v = us[m / 2];
                if (C::NEAR) {
                    near_step(b, v.x, v.y, sum[m], near[C::NEAR ? m : 0]);
                    near_step(b, v.z, v.w, sum[m + 1], near[C::NEAR ? m + 1 : 0]);
                } else {
                    two_steps(b, v, sum[m], sum[m + 1]);
                }
            }
        }
        __syncthreads();
    }
    int at = first + mine;
    if (at >= rows)
        return;
    float2 *to = partial + ((size_t)blockIdx.y * rows + at) * N_K * (C::NEAR ? 2 : 1) + wk * KB;
#pragma unroll
    for (int m = 0; m < KB; m++) {
        to[m] = sum[m];
        if (C::NEAR)
            to[N_K + m] = near[m];
    }
}

// A field under way to the sums: what the launchers hand on.
struct Job {
    const TwsmGpuLeg *leg;
    const float2 *u;
    int stride, k0, row, rows;
    float2 *partial;
    cudaStream_t stream;
};

template <typename C, Pairs P> int launch(const Job &job)
{
    const TwsmGpuLeg *leg = job.leg;
    dim3 grid((job.rows + C::TARGETS - 1) / C::TARGETS,
              (leg->n_from + TWSM_GPU_SLICE - 1) / TWSM_GPU_SLICE);
    cudaError_t status = cudaFuncSetAttribute(
        fused_kernel<C, P>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(Shared<C>));
    if (status != cudaSuccess)
        return (int)status;
    fused_kernel<C, P><<<grid, C::THREADS, sizeof(Shared<C>), job.stream>>>(
        *leg, job.u, job.stride, job.k0, job.row, job.rows, job.partial);
    return (int)cudaGetLastError();
}

template <typename C> int launch_pairs(const Job &job)
{
    const TwsmGpuLeg *leg = job.leg;
    if (leg->has_mask)
        return launch<C, MASKED>(job);
    return leg->pair.coef == 1 && leg->pair.damp == 0 ? launch<C, LEAN>(job) : launch<C, FULL>(job);
}

} // namespace

int litho_twsm_fused(const TwsmGpuLeg *leg, const void *u, int stride, int k0, int n_k, int row,
                     int rows, void *partial, cudaStream_t stream)
{
    const Job job = {leg, (const float2 *)u, stride, k0, row, rows, (float2 *)partial, stream};
    switch (n_k / 32 + (leg->near ? 4 : 0)) {
    case 1:
        return launch_pairs<Cut<32, 1, 4, false>>(job);
    case 2:
        return launch_pairs<Cut<64, 1, 3, false>>(job);
    case 3:
        return launch_pairs<Cut<32, 3, 4, false>>(job);
    case 4:
        return launch_pairs<Cut<64, 2, 3, false>>(job);
    case 5:
        return launch_pairs<Cut<32, 1, 3, true>>(job);
    case 6:
        return launch_pairs<Cut<32, 2, 3, true>>(job);
    case 7:
        return launch_pairs<Cut<32, 3, 3, true>>(job);
    default:
        return launch_pairs<Cut<32, 4, 3, true>>(job);
    }
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

int litho_twsm_reduce(const TwsmGpuLeg *leg, const void *partial, int k0, int n_k, float sig,
                      int row, int rows, const void *u_row, void *y, int stride,
                      cudaStream_t stream)
{
    reduce_kernel<<<(unsigned)(((long long)rows * n_k + 255) / 256), 256, 0, stream>>>(
        *leg, (const float2 *)partial, k0, n_k, sig, row, rows, (const float2 *)u_row, (float2 *)y,
        stride);
    return (int)cudaGetLastError();
}
