// SPDX-License-Identifier: GPL-3.0-or-later
//
// The paper's stored strips, and the lattice's convolution kernels: everything here moves more
// bytes than it computes.
#include "kernels/twsm/cuda/device.cuh"

enum { THREADS = 256 };

static unsigned blocks_for(long long n)
{
    return (unsigned)((n + THREADS - 1) / THREADS);
}

template <bool MASK>
__global__ void fill_kernel(const TwsmGpuLeg leg, int row, int rows, int k, int near, float2 *p,
                            float2 *phase)
{
    long long e = (long long)blockIdx.x * THREADS + threadIdx.x;
    int r = (int)(e / leg.n_from), j = (int)(e % leg.n_from);
    if (r >= rows)
        return;
    float t, are, aim, c, s;
    int i = row + r;
    twsm_device_pair<MASK>(leg, ((const float4 *)leg.from)[j], ((const float4 *)leg.from_normal)[j],
                           ((const float4 *)leg.to)[i], ((const float4 *)leg.to_normal)[i], &t,
                           &are, &aim);
    if (near) {
        are *= 0.159154943f / t;
        aim *= 0.159154943f / t;
    }
    twsm_turn_times((float)k, t, &c, &s);
    p[e] = make_float2(are * c - aim * s, are * s + aim * c);
    if (phase) {
        twsm_turn_times(1.0f, t, &c, &s);
        phase[e] = make_float2(c, s);
    }
}

int litho_twsm_fill(const TwsmGpuLeg *leg, int row, int rows, int k, int near, void *p, void *phase,
                    cudaStream_t stream)
{
    unsigned blocks = blocks_for((long long)rows * leg->n_from);
    if (leg->has_mask)
        fill_kernel<true><<<blocks, THREADS, 0, stream>>>(*leg, row, rows, k, near, (float2 *)p,
                                                          (float2 *)phase);
    else
        fill_kernel<false><<<blocks, THREADS, 0, stream>>>(*leg, row, rows, k, near, (float2 *)p,
                                                           (float2 *)phase);
    return (int)cudaGetLastError();
}

// Two elements a thread: 32 bytes read, 16 written; n is even (rows are padded).
__global__ void turn_kernel(float4 *p, const float4 *phase, long long pairs)
{
    long long e = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (e >= pairs)
        return;
    float4 a = p[e], b = __ldcs(phase + e);
    p[e] = make_float4(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x, a.z * b.z - a.w * b.w,
                       a.z * b.w + a.w * b.z);
}

int litho_twsm_turn(void *p, const void *phase, long long n, cudaStream_t stream)
{
    turn_kernel<<<blocks_for(n / 2), THREADS, 0, stream>>>((float4 *)p, (const float4 *)phase,
                                                           n / 2);
    return (int)cudaGetLastError();
}

// Sums over the block of TURNS values a thread: over each warp, then over the warps in their order.
template <int TURNS>
__device__ void sum_block(float re[TURNS], float im[TURNS], float2 part[][TURNS])
{
#pragma unroll
    for (int f = 0; f < TURNS; f++) {
        for (int by = 16; by; by /= 2) {
            re[f] += __shfl_xor_sync(~0u, re[f], by);
            im[f] += __shfl_xor_sync(~0u, im[f], by);
        }
        if (threadIdx.x % 32 == 0)
            part[threadIdx.x / 32][f] = make_float2(re[f], im[f]);
    }
    __syncthreads();
}

// The sum over all warps of value threadIdx.x.
template <int TURNS> __device__ float2 sum_warps(const float2 part[][TURNS])
{
    float2 sum = part[0][threadIdx.x];
    for (int w = 1; w < THREADS / 32; w++) {
        sum.x += part[w][threadIdx.x].x;
        sum.y += part[w][threadIdx.x].y;
    }
    return sum;
}

// A block a row, two elements a thread. An element and its phase stay in registers while it turns
// from frequency to frequency, so that a row is read and written once for TURNS of them; the field
// comes from a cache.
template <int TURNS>
__global__ void __launch_bounds__(THREADS, 2)
    turn_products_kernel(float4 *p, const float4 *phase, int pairs, bool turn_first,
                         const float2 *x, long long x_step, float2 *y, long long y_step)
{
    __shared__ float2 part[THREADS / 32][TURNS];
    const size_t row = (size_t)blockIdx.x * pairs;
    float re[TURNS], im[TURNS];
#pragma unroll
    for (int f = 0; f < TURNS; f++)
        re[f] = im[f] = 0;
    for (int e = threadIdx.x; e < pairs; e += THREADS) {
        const float4 b = __ldcs(phase + row + e);
        float4 z = p[row + e];
#pragma unroll
        for (int f = 0; f < TURNS; f++) {
            const float4 a = z, u = ((const float4 *)(x + f * x_step))[e];
            if (f > 0 || turn_first)
                z = make_float4(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x, a.z * b.z - a.w * b.w,
                                a.z * b.w + a.w * b.z);
            re[f] += z.x * u.x - z.y * u.y + z.z * u.z - z.w * u.w;
            im[f] += z.x * u.y + z.y * u.x + z.z * u.w + z.w * u.z;
        }
        p[row + e] = z;
    }
    sum_block<TURNS>(re, im, part);
    if (threadIdx.x < TURNS)
        y[threadIdx.x * y_step + blockIdx.x] = sum_warps<TURNS>(part);
}

int litho_twsm_turn_products(void *p, const void *phase, int rows, int n, int n_k, int turn_first,
                             const void *x, long long x_step, void *y, long long y_step,
                             cudaStream_t stream)
{
    const float2 *from = (const float2 *)x;
    float2 *to = (float2 *)y;
    for (int done = 0; done < n_k;) {
        const bool turns = done > 0 || turn_first;
        const int left = n_k - done, now = left >= 32 ? 32 : left >= 8 ? 8 : 1;
        auto kernel = now == 32  ? turn_products_kernel<32>
                      : now == 8 ? turn_products_kernel<8>
                                 : turn_products_kernel<1>;
        kernel<<<rows, THREADS, 0, stream>>>((float4 *)p, (const float4 *)phase, n / 2, turns,
                                             from + done * x_step, x_step, to + done * y_step,
                                             y_step);
        done += now;
    }
    return (int)cudaGetLastError();
}

// With a near field: its beams are the stored ones divided by 2 pi t, so that one pass makes both
// sums. Times and phases are computed anew; the elements stay as they are.
template <int TURNS>
__global__ void __launch_bounds__(THREADS, 2)
    near_products_kernel(const TwsmGpuLeg leg, const float4 *p, int first, const float2 *x,
                         long long x_step, float2 *y, float2 *y_near, long long y_step)
{
    __shared__ float2 part[THREADS / 32][TURNS], part_near[THREADS / 32][TURNS];
    const int pairs = leg.n_from / 2, i = first + blockIdx.x;
    const size_t row = (size_t)blockIdx.x * pairs;
    const float4 to = ((const float4 *)leg.to)[i], normal = ((const float4 *)leg.to_normal)[i];
    float re[TURNS], im[TURNS], near_re[TURNS], near_im[TURNS];
#pragma unroll
    for (int f = 0; f < TURNS; f++)
        re[f] = im[f] = near_re[f] = near_im[f] = 0;
    for (int e = threadIdx.x; e < pairs; e += THREADS) {
        float4 z = p[row + e];
        float2 turn[2];
        float w[2];
#pragma unroll
        for (int q = 0; q < 2; q++) {
            const int j = 2 * e + q;
            float t, are, aim;
            twsm_device_pair<false>(leg, ((const float4 *)leg.from)[j],
                                    ((const float4 *)leg.from_normal)[j], to, normal, &t, &are,
                                    &aim);
            twsm_turn_times(1.0f, t, &turn[q].x, &turn[q].y);
            w[q] = 0.159154943f / t;
        }
#pragma unroll
        for (int f = 0; f < TURNS; f++) {
            const float4 a = z, u = ((const float4 *)(x + f * x_step))[e];
            if (f > 0)
                z = make_float4(
                    a.x * turn[0].x - a.y * turn[0].y, a.x * turn[0].y + a.y * turn[0].x,
                    a.z * turn[1].x - a.w * turn[1].y, a.z * turn[1].y + a.w * turn[1].x);
            const float r0 = z.x * u.x - z.y * u.y, i0 = z.x * u.y + z.y * u.x;
            const float r1 = z.z * u.z - z.w * u.w, i1 = z.z * u.w + z.w * u.z;
            re[f] += r0 + r1;
            im[f] += i0 + i1;
            near_re[f] += w[0] * r0 + w[1] * r1;
            near_im[f] += w[0] * i0 + w[1] * i1;
        }
    }
    sum_block<TURNS>(re, im, part);
    sum_block<TURNS>(near_re, near_im, part_near);
    if (threadIdx.x < TURNS) {
        y[threadIdx.x * y_step + blockIdx.x] = sum_warps<TURNS>(part);
        y_near[threadIdx.x * y_step + blockIdx.x] = sum_warps<TURNS>(part_near);
    }
}

int litho_twsm_near_products(const TwsmGpuLeg *leg, const void *p, int row, int rows, int n_k,
                             const void *x, long long x_step, void *y, void *y_near,
                             long long y_step, cudaStream_t stream)
{
    auto kernel = n_k == 16  ? near_products_kernel<16>
                  : n_k == 4 ? near_products_kernel<4>
                             : near_products_kernel<1>;
    kernel<<<rows, THREADS, 0, stream>>>(*leg, (const float4 *)p, row, (const float2 *)x, x_step,
                                         (float2 *)y, (float2 *)y_near, y_step);
    return (int)cudaGetLastError();
}

// A block has THREADS elements of one frequency; the frequencies of an element lie side by side,
// and the cache serves those that follow. Blocks are counted along one axis: the others end at
// 65,535.
__global__ void columns_kernel(const float2 *u, int stride, int n, int n_k, long long step,
                               float2 *columns)
{
    const int j = blockIdx.x / n_k * THREADS + threadIdx.x, k = blockIdx.x % n_k;
    if (j < n)
        columns[k * step + j] = u[(size_t)j * stride + k];
}

int litho_twsm_columns(const void *u, int stride, int n, int n_k, long long step, void *columns,
                       cudaStream_t stream)
{
    columns_kernel<<<n_k * blocks_for(n), THREADS, 0, stream>>>((const float2 *)u, stride, n, n_k,
                                                                step, (float2 *)columns);
    return (int)cudaGetLastError();
}

__global__ void finish_kernel(const TwsmGpuLeg leg, const float2 *sum, const float2 *near_sum,
                              long long step, int k0, int n_k, float sig, int row, int rows,
                              const float2 *u, float2 *y, int stride)
{
    const int r = blockIdx.x / n_k * THREADS + threadIdx.x, i = blockIdx.x % n_k, k = k0 + i;
    if (r >= rows)
        return;
    float2 s = sum[i * step + r], n = near_sum ? near_sum[i * step + r] : make_float2(0, 0);
    float taper = ((const float4 *)leg.to_normal)[row + r].w;
    float vre = -sig * s.x - k * s.y - n.x, vim = k * s.x - sig * s.y - n.y;
    size_t at = (size_t)(row + r) * stride + i;
    if (leg.absorb)
        y[at] = make_float2(u[at].x - vre, u[at].y - vim);
    else
        y[at] = make_float2(taper * vre, taper * vim);
}

int litho_twsm_finish(const TwsmGpuLeg *leg, const void *sum, const void *near_sum, long long step,
                      int k, int n_k, float sig, int row, int rows, const void *u, void *y,
                      int stride, cudaStream_t stream)
{
    finish_kernel<<<n_k * blocks_for(rows), THREADS, 0, stream>>>(
        *leg, (const float2 *)sum, (const float2 *)near_sum, step, k, n_k, sig, row, rows,
        (const float2 *)u, (float2 *)y, stride);
    return (int)cudaGetLastError();
}

// --- lattice ----------------------------------------------------------------------------------

__global__ void beams_kernel(const TwsmGpuLeg leg, int nx, int ny, int px, int py, float *t,
                             float2 *a)
{
    long long e = (long long)blockIdx.x * THREADS + threadIdx.x, bins = (long long)px * py;
    if (e >= 4 * bins)
        return;
    int kind = (int)(e / bins), x = (int)(e % px), y = (int)(e % bins / px);
    int dx = x < nx ? x : x - px, dy = y < ny ? y : y - py;
    t[e] = -1;
    a[e] = make_float2(0, 0);
    if (dx <= -nx || dy <= -ny)
        return;
    int j = 2 * (max(-dy, 0) * nx + max(-dx, 0)) + (kind & 1);
    int i = 2 * (max(dy, 0) * nx + max(dx, 0)) + (kind >> 1);
    twsm_device_pair<false>(leg, ((const float4 *)leg.from)[j],
                            ((const float4 *)leg.from_normal)[j], ((const float4 *)leg.to)[i],
                            ((const float4 *)leg.to_normal)[i], &t[e], &a[e].x, &a[e].y);
}

int litho_twsm_beams(const TwsmGpuLeg *leg, int nx, int ny, int px, int py, float *t, void *a,
                     cudaStream_t stream)
{
    beams_kernel<<<blocks_for(4LL * px * py), THREADS, 0, stream>>>(*leg, nx, ny, px, py, t,
                                                                    (float2 *)a);
    return (int)cudaGetLastError();
}

__global__ void beams_at_kernel(const float *t, const float2 *a, long long n, int k, int near,
                                float2 *out)
{
    long long e = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (e >= n)
        return;
    float c, s, w = near ? (t[e] > 0 ? 0.159154943f / t[e] : 0.0f) : 1.0f;
    twsm_turn_times((float)k, t[e], &c, &s);
    out[e] = make_float2(w * (a[e].x * c - a[e].y * s), w * (a[e].x * s + a[e].y * c));
}

int litho_twsm_beams_at(const float *t, const void *a, long long n, int k, int near, void *out,
                        cudaStream_t stream)
{
    beams_at_kernel<<<blocks_for(n), THREADS, 0, stream>>>(t, (const float2 *)a, n, k, near,
                                                           (float2 *)out);
    return (int)cudaGetLastError();
}

__global__ void spread_kernel(const float2 *u, int stride, int nx, int ny, int px, int py,
                              float2 *out)
{
    long long e = (long long)blockIdx.x * THREADS + threadIdx.x, bins = (long long)px * py;
    if (e >= 2 * bins)
        return;
    int kind = (int)(e / bins), x = (int)(e % px), y = (int)(e % bins / px);
    out[e] = x < nx && y < ny ? u[(size_t)(2 * (y * nx + x) + kind) * stride] : make_float2(0, 0);
}

int litho_twsm_spread(const void *u, int stride, int nx, int ny, int px, int py, void *out,
                      cudaStream_t stream)
{
    spread_kernel<<<blocks_for(2LL * px * py), THREADS, 0, stream>>>((const float2 *)u, stride, nx,
                                                                     ny, px, py, (float2 *)out);
    return (int)cudaGetLastError();
}

__global__ void multiply_kernel(const float2 *k, const float2 *f, long long bins, float2 *out)
{
    long long e = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (e >= 2 * bins)
        return;
    long long b = e % bins, kind = e / bins;
    float2 p = k[2 * kind * bins + b], q = k[(2 * kind + 1) * bins + b], x = f[b], y = f[bins + b];
    out[e] = make_float2(p.x * x.x - p.y * x.y + q.x * y.x - q.y * y.y,
                         p.x * x.y + p.y * x.x + q.x * y.y + q.y * y.x);
}

int litho_twsm_multiply(const void *kernels, const void *fields, long long bins, void *out,
                        cudaStream_t stream)
{
    multiply_kernel<<<blocks_for(2 * bins), THREADS, 0, stream>>>(
        (const float2 *)kernels, (const float2 *)fields, bins, (float2 *)out);
    return (int)cudaGetLastError();
}

__global__ void gather_kernel(const float2 *lattice, int nx, int ny, int px, int py, float2 *sum)
{
    int e = blockIdx.x * THREADS + threadIdx.x;
    if (e >= 2 * nx * ny)
        return;
    int kind = e % 2, x = e / 2 % nx, y = e / 2 / nx;
    float2 v = lattice[(size_t)kind * px * py + (size_t)y * px + x];
    float scale = 1.0f / ((float)px * py);
    sum[e] = make_float2(scale * v.x, scale * v.y);
}

int litho_twsm_gather(const void *lattice, int nx, int ny, int px, int py, void *sum,
                      cudaStream_t stream)
{
    gather_kernel<<<blocks_for(2LL * nx * ny), THREADS, 0, stream>>>((const float2 *)lattice, nx,
                                                                     ny, px, py, (float2 *)sum);
    return (int)cudaGetLastError();
}
