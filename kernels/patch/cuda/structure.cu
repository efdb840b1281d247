// SPDX-License-Identifier: GPL-3.0-or-later
//
// Dips and coherence (rules of structure.h). Floor: the cube read once and written once; products
// and their sums over crosslines are 12 more passes through memory each way.
#include "kernels/patch/cuda/device.cuh"
#include "kernels/patch/structure.h"

namespace
{

enum {
    FIT = LITHO_PATCH_FIT,
    WIDTH = LITHO_PATCH_FIT_WIDTH,
    FIT_TRACES = LITHO_PATCH_FIT_TRACES,
    TRACES = LITHO_PATCH_TENSOR_TRACES,
    SAMPLES = LITHO_PATCH_TENSOR_SAMPLES,
    PRODUCTS = LITHO_PATCH_PRODUCTS,
    PLANES = THREADS + 2 * (FIT + SAMPLES), // samples of a block with those around
    GRADIENTS = THREADS + 2 * SAMPLES,
};

__device__ __forceinline__ bool is_live(const LithoPatchDips &t, long long il, long long xl)
{
    return il >= 0 && il < t.n[0] && xl >= 0 && xl < t.n[1] && t.live[trace_at(t.held, il, xl)];
}

// One thread a trace; a trace that is not live has no fit.
__global__ void fits_kernel(const LithoPatchDips t)
{
    const long long k = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (k >= t.sums.n[0] * t.sums.n[1])
        return;
    const long long il = t.sums.lo[0] + k / t.sums.n[1], xl = t.sums.lo[1] + k % t.sums.n[1];
    unsigned char there[FIT_TRACES];
    if (!is_live(t, il, xl))
        return;
    for (int i = 0; i < FIT_TRACES; i++)
        there[i] = is_live(t, il + i / WIDTH - FIT, xl + i % WIDTH - FIT);
    litho_patch_fit_plane(there, (LithoPatchFit *)t.fits + k);
}

// Height or slope at sample `at` of the survey, `middle` within x.
__device__ float fit_line(const float *x, int middle, long long at, long long total, bool slope)
{
    float values[WIDTH], slopes[WIDTH], sum = 0;
    const int below = at < FIT ? (int)at : FIT;
    const int above = total - 1 - at < FIT ? (int)(total - 1 - at) : FIT;
    litho_patch_fit_line(below, above, values, slopes);
    for (int i = -below; i <= above; i++)
        sum += (slope ? slopes : values)[FIT + i] * x[middle + i];
    return sum;
}

// A block: 256 samples of one trace of `sums`.
__global__ void products_kernel(const LithoPatchDips t)
{
    __shared__ float plane[3][PLANES], gradient[3][GRADIENTS], fit[3][FIT_TRACES];
    __shared__ float line[2][WIDTH], spread[2 * SAMPLES + 1];
    __shared__ long long row[FIT_TRACES]; // of the input, -1 = absent
    const long long tiles = (t.region.n[2] + THREADS - 1) / THREADS;
    const long long j = blockIdx.x / tiles, tile = blockIdx.x % tiles * THREADS;
    const long long trace = (long long)blockIdx.y * t.sums.n[1] + j;
    const long long il = t.sums.lo[0] + blockIdx.y, xl = t.sums.lo[1] + j;
    const long long size = t.sums.n[0] * t.sums.n[1] * t.region.n[2];
    const bool writes = tile + threadIdx.x < t.region.n[2];
    float *to = t.products + trace * t.region.n[2] + tile + threadIdx.x;
    if (!is_live(t, il, xl)) {
        for (int c = 0; writes && c < PRODUCTS; c++)
            to[c * size] = 0;
        return;
    }
    for (int k = threadIdx.x; k < FIT_TRACES; k += THREADS) {
        const long long i = il + k / WIDTH - FIT, x = xl + k % WIDTH - FIT;
        const LithoPatchFit *own = (const LithoPatchFit *)t.fits + trace;
        row[k] = is_live(t, i, x) ? trace_at(t.held, i, x) * t.held.n[2] - t.held.lo[2] : -1;
        fit[0][k] = own->inl[k];
        fit[1][k] = own->xl[k];
        fit[2][k] = own->value[k];
    }
    if (threadIdx.x == 0)
        litho_patch_fit_line(FIT, FIT, line[0], line[1]);
    if (threadIdx.x <= 2 * SAMPLES)
        spread[threadIdx.x] = litho_patch_tensor_samples((int)threadIdx.x - SAMPLES);
    __syncthreads();
    const long long first = t.region.lo[2] + tile - SAMPLES; // sample of gradient[.][0]
    for (int s = threadIdx.x; s < PLANES; s += THREADS) {
        const long long at = first - FIT + s;
        float sums[3] = {0, 0, 0};
        // No sample is read that no sample of the region depends on.
        if (at >= 0 && at < t.n[2] && at < t.held.lo[2] + t.held.n[2] && at >= t.held.lo[2])
            for (int k = 0; k < FIT_TRACES; k++)
                if (row[k] != -1) {
                    const float x = t.in[row[k] + at];
                    for (int c = 0; c < 3; c++)
                        sums[c] += fit[c][k] * x;
                }
        for (int c = 0; c < 3; c++)
            plane[c][s] = sums[c];
    }
    __syncthreads();
    for (int s = threadIdx.x; s < GRADIENTS; s += THREADS) {
        const long long at = first + s;
        for (int c = 0; c < 3; c++) {
            float sum = 0;
            if (at >= FIT && at < t.n[2] - FIT)
                for (int i = 0; i < WIDTH; i++)
                    sum += line[c == 2][i] * plane[c][s + i];
            else if (at >= 0 && at < t.n[2])
                sum = fit_line(plane[c], s + FIT, at, t.n[2], c == 2);
            gradient[c][s] = sum;
        }
    }
    __syncthreads();
    if (!writes)
        return;
    float sums[PRODUCTS] = {0};
    for (int i = 0; i <= 2 * SAMPLES; i++) {
        const float w = spread[i], a = gradient[0][threadIdx.x + i],
                    b = gradient[1][threadIdx.x + i], c = gradient[2][threadIdx.x + i];
        sums[LITHO_PATCH_II] += w * (a * a);
        sums[LITHO_PATCH_IJ] += w * (a * b);
        sums[LITHO_PATCH_JJ] += w * (b * b);
        sums[LITHO_PATCH_IT] += w * (a * c);
        sums[LITHO_PATCH_JT] += w * (b * c);
        sums[LITHO_PATCH_TT] += w * (c * c);
    }
    for (int c = 0; c < PRODUCTS; c++)
        to[c * size] = sums[c];
}

// A block: 256 samples of one trace of the region's crosslines.
__global__ void across_kernel(const LithoPatchDips t)
{
    const long long tiles = (t.region.n[2] + THREADS - 1) / THREADS;
    const long long j = blockIdx.x / tiles, s = blockIdx.x % tiles * THREADS + threadIdx.x;
    const long long xl = t.region.lo[1] + j, end = t.sums.lo[1] + t.sums.n[1];
    if (s >= t.region.n[2])
        return;
    float sums[PRODUCTS] = {0};
    for (long long x = xl - TRACES > t.sums.lo[1] ? xl - TRACES : t.sums.lo[1];
         x <= xl + TRACES && x < end; x++) {
        const float w = litho_patch_tensor_traces((int)(x - xl));
        const long long at =
            ((long long)blockIdx.y * t.sums.n[1] + x - t.sums.lo[1]) * t.region.n[2] + s;
        for (int c = 0; c < PRODUCTS; c++)
            sums[c] += w * t.products[c * t.sums.n[0] * t.sums.n[1] * t.region.n[2] + at];
    }
    for (int c = 0; c < PRODUCTS; c++)
        t.across[((c * t.sums.n[0] + blockIdx.y) * t.region.n[1] + j) * t.region.n[2] + s] =
            sums[c];
}

// A block: 256 samples of one trace of the region.
__global__ void dips_kernel(const LithoPatchDips t)
{
    const long long tiles = (t.region.n[2] + THREADS - 1) / THREADS;
    const long long j = blockIdx.x / tiles, s = blockIdx.x % tiles * THREADS + threadIdx.x;
    const long long il = t.region.lo[0] + blockIdx.y, end = t.sums.lo[0] + t.sums.n[0];
    if (s >= t.region.n[2])
        return;
    float sums[PRODUCTS] = {0};
    for (long long i = il - TRACES > t.sums.lo[0] ? il - TRACES : t.sums.lo[0];
         i <= il + TRACES && i < end; i++) {
        const float w = litho_patch_tensor_traces((int)(i - il));
        for (int c = 0; c < PRODUCTS; c++)
            sums[c] += w * t.across[((c * t.sums.n[0] + i - t.sums.lo[0]) * t.region.n[1] + j) *
                                        t.region.n[2] +
                                    s];
    }
    const float unit = t.volume == LITHO_PATCH_COHERENCE ? 1 : t.unit;
    t.out[trace_at(t.out_held, il, t.region.lo[1] + j) * t.out_held.n[2] + t.region.lo[2] + s -
          t.out_held.lo[2]] = unit * litho_patch_structure(sums, t.volume);
}

dim3 grid_of(const LithoPatchDips *t, long long inlines, long long crosslines)
{
    const long long tiles = (t->region.n[2] + THREADS - 1) / THREADS;
    return dim3((unsigned)(crosslines * tiles), (unsigned)inlines);
}

} // namespace

int litho_patch_fits(const LithoPatchDips *t, cudaStream_t stream)
{
    fits_kernel<<<blocks_for(t->sums.n[0] * t->sums.n[1]), THREADS, 0, stream>>>(*t);
    return (int)cudaGetLastError();
}

int litho_patch_products(const LithoPatchDips *t, cudaStream_t stream)
{
    products_kernel<<<grid_of(t, t->sums.n[0], t->sums.n[1]), THREADS, 0, stream>>>(*t);
    return (int)cudaGetLastError();
}

int litho_patch_across(const LithoPatchDips *t, cudaStream_t stream)
{
    across_kernel<<<grid_of(t, t->sums.n[0], t->region.n[1]), THREADS, 0, stream>>>(*t);
    return (int)cudaGetLastError();
}

int litho_patch_dips(const LithoPatchDips *t, cudaStream_t stream)
{
    dips_kernel<<<grid_of(t, t->region.n[0], t->region.n[1]), THREADS, 0, stream>>>(*t);
    return (int)cudaGetLastError();
}
