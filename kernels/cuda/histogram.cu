// SPDX-License-Identifier: GPL-3.0-or-later
//
// Samples in bins of one width. Each block counts by itself, in its own memory, and adds its counts
// at the end: 4 bytes are read a sample.
#include "kernels/cuda/histogram.h"

enum { THREADS = 256, BLOCKS = 1024, OWN_BINS = 8192 }; // 32 KB of counts a block

__global__ void count_samples(LithoHistogram h, bool own)
{
    extern __shared__ unsigned counts[];
    for (unsigned k = threadIdx.x; own && k < h.bins; k += THREADS)
        counts[k] = 0;
    __syncthreads();
    for (long long t = blockIdx.x; t < h.traces; t += gridDim.x) {
        if (!h.live[t])
            continue;
        const float *trace = h.samples + t * h.length;
        for (long long k = threadIdx.x; k < h.length; k += THREADS) {
            const double at = (trace[k] - h.lo) * h.scale;
            if (!(at >= 0 && at <= h.bins))
                continue;
            const unsigned bin = at < h.bins ? (unsigned)at : h.bins - 1;
            if (own)
                atomicAdd(&counts[bin], 1u);
            else
                atomicAdd(&h.counts[bin], 1ull);
        }
    }
    __syncthreads();
    for (unsigned k = threadIdx.x; own && k < h.bins; k += THREADS)
        if (counts[k] > 0)
            atomicAdd(&h.counts[k], (unsigned long long)counts[k]);
}

int litho_histogram_launch(const LithoHistogram *histogram, cudaStream_t stream)
{
    const bool own = histogram->bins <= OWN_BINS;
    const long long blocks = histogram->traces < BLOCKS ? histogram->traces : BLOCKS;
    if (blocks <= 0)
        return 0;
    count_samples<<<(unsigned)blocks, THREADS, own ? histogram->bins * sizeof(unsigned) : 0,
                    stream>>>(*histogram, own);
    return (int)cudaGetLastError();
}
