// SPDX-License-Identifier: GPL-3.0-or-later
//
// algorithm=fast on the device: beams are seeded and stepped in float32 as in cuda/fused.cu, then
// rounded to float16 and multiplied with the field on the matrix units, sums in float32. A warp
// owns 16 targets and KB frequencies; one product covers 16 targets, 16 sources and up to four
// right-hand sides (columns re, im of each). Rounding errors of neighbouring beams are independent
// and average out: 1e-5 to 1e-4 of the field, bounded by 2^-11.
//
// Per pair and frequency: 2 fp32 instructions to step, half a conversion to pack, and 1/128 of a
// matrix instruction twice; four sources cost what one does.
#include <cuda_fp16.h>

#include "kernels/twsm/cuda/device.cuh"

enum { KB = 32, TILE = 16, WARPS = 4, BLOCKS = 2, PITCH = 17, TRIPLE = 3 * TILE };

// --- fields as float16 ------------------------------------------------------------------------

// Largest component of n complex numbers, as the bits of a non-negative float.
__global__ void peak_kernel(const float2 *u, long long n, int *peak)
{
    float most = 0;
    for (long long e = (long long)blockIdx.x * blockDim.x + threadIdx.x; e < n;
         e += (long long)gridDim.x * blockDim.x)
        most = fmaxf(most, fmaxf(fabsf(u[e].x), fabsf(u[e].y)));
    for (int d = 16; d > 0; d /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    if (threadIdx.x % 32 == 0)
        atomicMax(peak, __float_as_int(most));
}

static __device__ __forceinline__ float field_scale(const int *peak)
{
    return 64.0f / fmaxf(__int_as_float(*peak), 1e-30f);
}

// u [rhs][n][stride] -> [tile of 16 sources][k][rhs][re, im, -im][16], scaled to a peak of 64.
__global__ void pack_kernel(const float2 *u, int n, int stride, int n_k, int rhs, const int *peak,
                            __half *out)
{
    long long e = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    int k = (int)(e % n_k), j = (int)(e / n_k % n), q = (int)(e / n_k / n);
    if (q >= rhs)
        return;
    float2 v = u[((size_t)q * n + j) * stride + k];
    float s = field_scale(peak);
    __half *to = out + (((size_t)(j / TILE) * n_k + k) * rhs + q) * TRIPLE + j % TILE;
    to[0] = __float2half_rn(s * v.x);
    to[TILE] = __float2half_rn(s * v.y);
    to[2 * TILE] = __float2half_rn(-s * v.y);
}

int litho_twsm_pack(const void *u, int n, int stride, int n_k, int rhs, void *peak, void *out,
                    cudaStream_t stream)
{
    long long values = (long long)rhs * n * n_k;
    cudaMemsetAsync(peak, 0, sizeof(int), stream);
    // The frequencies of a row lie within its stride: rows are scanned whole, padding is 0.
    peak_kernel<<<1024, 256, 0, stream>>>((const float2 *)u, (long long)rhs * n * stride,
                                          (int *)peak);
    pack_kernel<<<(unsigned)((values + 255) / 256), 256, 0, stream>>>(
        (const float2 *)u, n, stride, n_k, rhs, (const int *)peak, (__half *)out);
    return (int)cudaGetLastError();
}

// --- sums -------------------------------------------------------------------------------------

static __device__ __forceinline__ unsigned pack2(float a, float b)
{
    __half2 h = __floats2half2_rn(a, b);
    return *(unsigned *)&h;
}

static __device__ __forceinline__ void multiply(float4 &d, const unsigned a[4], uint2 b)
{
#if __CUDA_ARCH__ < 800 // one half of the depth after the other
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
        "{%0,%1,%2,%3};"
        : "+f"(d.x), "+f"(d.y), "+f"(d.z), "+f"(d.w)
        : "r"(a[0]), "r"(a[1]), "r"(b.x));
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
        "{%0,%1,%2,%3};"
        : "+f"(d.x), "+f"(d.y), "+f"(d.z), "+f"(d.w)
        : "r"(a[2]), "r"(a[3]), "r"(b.y));
#else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(d.x), "+f"(d.y), "+f"(d.z), "+f"(d.w)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y));
#endif
}

static __device__ __forceinline__ void turn(float k, float t, float *c, float *s)
{
    float x = 6.28318530717958648f * fmaf(k, t, -twsm_round(k * t));
    *c = __cosf(x);
    *s = __sinf(x);
}

// The eight pairs of a lane: targets g, g + 8 and sources 4 t .. 4 t + 3 of the tile, lane = 4 g +
// t.
struct Beams {
    float re[8], im[8], pre[8], pim[8], twice[8];
};

static __device__ __forceinline__ void seed(const float4 *pair, int g, int t, float k, Beams &b)
{
#pragma unroll
    for (int e = 0; e < 8; e++) {
        float4 p = pair[(4 * t + e % 4) * PITCH + g + 8 * (e / 4)];
        float c, s;
        turn(k, p.x, &c, &s);
        b.re[e] = p.y * c - p.z * s;
        b.im[e] = p.y * s + p.z * c;
        turn(k - 1.0f, p.x, &c, &s);
        b.pre[e] = p.y * c - p.z * s;
        b.pim[e] = p.y * s + p.z * c;
        b.twice[e] = p.w;
    }
}

static __device__ __forceinline__ void advance(float *z, float *last, const float *twice)
{
#pragma unroll
    for (int e = 0; e < 8; e++) {
        float next = fmaf(twice[e], z[e], -last[e]);
        last[e] = z[e];
        z[e] = next;
    }
}

static __device__ __forceinline__ void fragment(const float *z, unsigned a[4])
{
    a[0] = pack2(z[0], z[1]);
    a[1] = pack2(z[4], z[5]);
    a[2] = pack2(z[2], z[3]);
    a[3] = pack2(z[6], z[7]);
}

static __device__ __forceinline__ float twice_cosine(float t)
{
    float c, s;
    twsm_turn(t - twsm_round(t), &c, &s);
    return 2.0f * c;
}

__global__ void __launch_bounds__(32 * WARPS, BLOCKS)
    matrix_kernel(const TwsmGpuLeg leg, const uint4 *__restrict__ field, int k0, int n_k, int rhs,
                  int row, int rows, float scale, const int *peak, float2 *__restrict__ partial)
{
    extern __shared__ uint4 shared[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int k_warps = n_k / KB, groups = blockDim.x / 32 / k_warps, targets = 16 * groups;
    const int wk = warp % k_warps, group = warp / k_warps, first = blockIdx.x * targets;
    const int tile_words = n_k * rhs * TRIPLE / 8; // uint4 of a tile's field
    float4 *pair = (float4 *)(shared + tile_words);
    float4 sum[KB];
#pragma unroll
    for (int m = 0; m < KB; m++)
        sum[m] = make_float4(0, 0, 0, 0);
    // Columns beyond the right-hand sides repeat one of them; nobody reads their sums.
    const int source = g / 2 % rhs;
    const __half *mine = (const __half *)shared + ((size_t)wk * KB * rhs + source) * TRIPLE + 4 * t;
    const int own = g % 2 ? TILE : 0, other = g % 2 ? 0 : 2 * TILE; // (re, im) and (-im, re)
    int j0 = blockIdx.y * TWSM_GPU_SLICE, j1 = min(j0 + TWSM_GPU_SLICE, leg.n_from);
    for (int j = j0; j < j1; j += TILE) {
        const uint4 *from = field + (size_t)(j / TILE) * tile_words;
        for (int e = threadIdx.x; e < tile_words; e += blockDim.x)
            shared[e] = from[e];
        for (int e = threadIdx.x; e < TILE * targets; e += blockDim.x) {
            int q = e % TILE, r = e / TILE, i = min(row + first + r, leg.n_to - 1);
            float4 p;
            twsm_device_pair<false>(
                leg, ((const float4 *)leg.from)[j + q], ((const float4 *)leg.from_normal)[j + q],
                ((const float4 *)leg.to)[i], ((const float4 *)leg.to_normal)[i], &p.x, &p.y, &p.z);
            p.y *= scale;
            p.z *= scale;
            p.w = twice_cosine(p.x);
            pair[(r / 16 * TILE + q) * PITCH + r % 16] = p;
        }
        __syncthreads();
        Beams b;
        seed(pair + group * TILE * PITCH, g, t, (float)(k0 + wk * KB), b);
#pragma unroll
        for (int m = 0; m < KB; m++) {
            unsigned a[4];
            const __half *at = mine + m * rhs * TRIPLE;
            fragment(b.re, a);
            multiply(sum[m], a, *(const uint2 *)(at + own));
            fragment(b.im, a);
            multiply(sum[m], a, *(const uint2 *)(at + other));
            advance(b.re, b.pre, b.twice);
            advance(b.im, b.pim, b.twice);
        }
        __syncthreads();
    }
    if (t >= rhs)
        return;
    // Columns 2 t, 2 t + 1 of rows g and g + 8 are this lane's: right-hand side t.
    const float back = 1.0f / (scale * field_scale(peak));
#pragma unroll
    for (int half = 0; half < 2; half++) {
        int at = first + group * 16 + g + 8 * half;
        if (at >= rows)
            continue;
        float2 *to = partial + (((size_t)t * gridDim.y + blockIdx.y) * rows + at) * n_k + wk * KB;
#pragma unroll
        for (int m = 0; m < KB; m++)
            to[m] = half ? make_float2(back * sum[m].z, back * sum[m].w)
                         : make_float2(back * sum[m].x, back * sum[m].y);
    }
}

int litho_twsm_matrix(const TwsmGpuLeg *leg, const void *field, int k0, int n_k, int rhs, int row,
                      int rows, float scale, const void *peak, void *partial, cudaStream_t stream)
{
    int k_warps = n_k / KB, groups = WARPS / k_warps;
    dim3 grid((rows + 16 * groups - 1) / (16 * groups),
              (leg->n_from + TWSM_GPU_SLICE - 1) / TWSM_GPU_SLICE);
    size_t bytes = (size_t)n_k * rhs * TRIPLE * 2 + (size_t)groups * TILE * PITCH * sizeof(float4);
    cudaError_t status = cudaFuncSetAttribute(
        matrix_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (status != cudaSuccess)
        return (int)status;
    matrix_kernel<<<grid, 32 * k_warps * groups, bytes, stream>>>(
        *leg, (const uint4 *)field, k0, n_k, rhs, row, rows, scale, (const int *)peak,
        (float2 *)partial);
    return (int)cudaGetLastError();
}
