// SPDX-License-Identifier: GPL-3.0-or-later
//
// Local similarity of output and removed part: core/similarity.c on a device, its sums in the order
// of the host's. A slice of n samples moves about 8 (2 half + 1) n bytes in the first pass, which
// reads both cubes across the slice, and 12 (2 half + 1) n in the others, most of them from the
// caches: 0.1 ms for a million samples.
#include "kernels/cuda/similarity.h"

enum { THREADS = 256, BLOCKS = 1 << 16 };

__device__ static long long offset(const LithoSimilarityBox &box, const long long at[3])
{
    return ((at[0] - box.lo[0]) * box.n[1] + (at[1] - box.lo[1])) * box.n[2] + (at[2] - box.lo[2]);
}

__device__ static void place(const LithoSimilarityBox &box, long long k, long long at[3])
{
    at[2] = box.lo[2] + k % box.n[2];
    at[1] = box.lo[1] + k / box.n[2] % box.n[1];
    at[0] = box.lo[0] + k / box.n[2] / box.n[1];
}

__device__ static bool is_present(const LithoSimilarityPass &p, const long long at[3])
{
    return p.present[(at[0] - p.reach.lo[0]) * p.reach.n[1] + (at[1] - p.reach.lo[1])] != 0;
}

// Samples that are not finite are left out.
__device__ static void add_product(const LithoSimilarityPass &p, const long long at[3],
                                   float weight, float sum[LITHO_SIMILARITY_SUMS])
{
    if (!is_present(p, at))
        return;
    const float a = p.in[offset(p.in_box, at)], b = p.out[offset(p.out_box, at)];
    if (!isfinite(fabsf(a) + fabsf(b)))
        return;
    const float r = a - b;
    sum[0] += weight * b * b;
    sum[1] += weight * r * r;
    sum[2] += weight * b * r;
}

__global__ void sum_products(LithoSimilarityPass p)
{
    const long long count = p.to_box.n[0] * p.to_box.n[1] * p.to_box.n[2];
    const long long lo = p.reach.lo[p.axis], hi = lo + p.reach.n[p.axis];
    for (long long k = blockIdx.x * (long long)THREADS + threadIdx.x; k < count;
         k += gridDim.x * (long long)THREADS) {
        long long at[3];
        place(p.to_box, k, at);
        const long long middle = at[p.axis];
        float sum[LITHO_SIMILARITY_SUMS] = {0, 0, 0};
        for (int m = -p.half; m <= p.half; m++) {
            at[p.axis] = middle + m;
            if (at[p.axis] >= lo && at[p.axis] < hi)
                add_product(p, at, p.weights[m + p.half], sum);
        }
        for (int q = 0; q < LITHO_SIMILARITY_SUMS; q++)
            p.to[q][k] = sum[q];
    }
}

// The sums of `from` along the axis around `at`, which is changed.
__device__ static void sum_around(const LithoSimilarityPass &p, long long at[3],
                                  float sum[LITHO_SIMILARITY_SUMS])
{
    const long long lo = p.from_box.lo[p.axis], hi = lo + p.from_box.n[p.axis];
    const long long middle = at[p.axis];
    for (int q = 0; q < LITHO_SIMILARITY_SUMS; q++)
        sum[q] = 0;
    for (int m = -p.half; m <= p.half; m++) {
        at[p.axis] = middle + m;
        if (at[p.axis] < lo || at[p.axis] >= hi)
            continue;
        const long long from = offset(p.from_box, at);
        for (int q = 0; q < LITHO_SIMILARITY_SUMS; q++)
            sum[q] += p.weights[m + p.half] * p.from[q][from];
    }
    at[p.axis] = middle;
}

__global__ void sum_sums(LithoSimilarityPass p)
{
    const long long count = p.to_box.n[0] * p.to_box.n[1] * p.to_box.n[2];
    for (long long k = blockIdx.x * (long long)THREADS + threadIdx.x; k < count;
         k += gridDim.x * (long long)THREADS) {
        long long at[3];
        float sum[LITHO_SIMILARITY_SUMS];
        place(p.to_box, k, at);
        sum_around(p, at, sum);
        for (int q = 0; q < LITHO_SIMILARITY_SUMS; q++)
            p.to[q][k] = sum[q];
    }
}

// 0 in absent traces, in a mute, and where the output or the removed part is nothing.
__global__ void sum_map(LithoSimilarityPass p)
{
    const long long count = p.to_box.n[0] * p.to_box.n[1] * p.to_box.n[2];
    for (long long k = blockIdx.x * (long long)THREADS + threadIdx.x; k < count;
         k += gridDim.x * (long long)THREADS) {
        long long at[3];
        float sum[LITHO_SIMILARITY_SUMS], c = 0;
        place(p.to_box, k, at);
        const bool there = is_present(p, at) &&
                           (p.in[offset(p.in_box, at)] != 0 || p.out[offset(p.out_box, at)] != 0);
        sum_around(p, at, sum);
        const double energy = (double)sum[0] * sum[1];
        if (there && energy > 0)
            c = (float)fmin(fabs((double)sum[2]) / sqrt(energy), 1.0);
        p.map[k] = c;
    }
}

static unsigned blocks_for(const LithoSimilarityBox *box)
{
    const long long blocks = (box->n[0] * box->n[1] * box->n[2] + THREADS - 1) / THREADS;
    return (unsigned)(blocks < BLOCKS ? blocks : BLOCKS);
}

int litho_similarity_products_launch(const LithoSimilarityPass *pass, cudaStream_t stream)
{
    sum_products<<<blocks_for(&pass->to_box), THREADS, 0, stream>>>(*pass);
    return (int)cudaGetLastError();
}

int litho_similarity_sums_launch(const LithoSimilarityPass *pass, cudaStream_t stream)
{
    sum_sums<<<blocks_for(&pass->to_box), THREADS, 0, stream>>>(*pass);
    return (int)cudaGetLastError();
}

int litho_similarity_map_launch(const LithoSimilarityPass *pass, cudaStream_t stream)
{
    sum_map<<<blocks_for(&pass->to_box), THREADS, 0, stream>>>(*pass);
    return (int)cudaGetLastError();
}
