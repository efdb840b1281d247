// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/floor.h"

namespace
{

enum { WAVENUMBERS = 32, SLICES = 16, BITS = 3, DIGITS = 1 << BITS };

// The mean of number `rank` of n exponentially distributed values of mean 1 (Renyi 1953).
__device__ double mean_of_rank(int rank, int n)
{
    double sum = 0;
    for (int i = 0; i <= rank; i++)
        sum += 1.0 / (n - i);
    return sum;
}

// One block a job, a frequency and 32 wavenumbers: the value of the rank among the windows' powers,
// three of its bits at a time from the top. 16 threads a wavenumber count the digits of every 16th
// window each. Floor: the powers read once for each of 11 digits.
__global__ void __launch_bounds__(WAVENUMBERS *SLICES)
    floor_kernel(const float *power, const float *share, const LithoFloorJob *jobs, int wavenumbers,
                 double part, int least, float *floor)
{
    __shared__ int counts[WAVENUMBERS][DIGITS + 1], live;
    __shared__ double mean;
    const int f = blockIdx.x, frequencies = gridDim.x, lane = threadIdx.x;
    const int k = blockIdx.y * WAVENUMBERS + lane, thread = threadIdx.y * WAVENUMBERS + lane;
    const int windows = jobs[blockIdx.z].windows, first = jobs[blockIdx.z].first;
    const float *own =
        power + ((long long)first * frequencies + (long long)f * windows) * wavenumbers + k;
    share += first;
    if (thread == 0)
        live = 0;
    __syncthreads();
    int mine = 0;
    for (int w = thread; w < windows; w += WAVENUMBERS * SLICES)
        mine += share[w] > 0;
    if (mine > 0)
        atomicAdd(&live, mine);
    __syncthreads();
    int rank = (int)(part * live);
    if (thread == 0)
        mean = mean_of_rank(rank, live);
    unsigned bits = 0;
    for (int last = 30; last >= 0; last -= BITS) { // powers are not negative
        int count[DIGITS] = {0};
        if (threadIdx.y == 0)
            for (int d = 0; d < DIGITS; d++)
                counts[lane][d] = 0;
        __syncthreads();
#pragma unroll 4
        for (int w = threadIdx.y; w < windows && k < wavenumbers; w += SLICES) {
            const unsigned x = __float_as_uint(own[(long long)w * wavenumbers]) >> last;
            const bool here = share[w] > 0 && x >> BITS == bits >> last >> BITS;
#pragma unroll
            for (int d = 0; d < DIGITS; d++)
                count[d] += here && (x & (DIGITS - 1)) == d;
        }
#pragma unroll
        for (int d = 0; d < DIGITS; d++)
            if (count[d] > 0)
                atomicAdd(&counts[lane][d], count[d]);
        __syncthreads();
        int digit = 0;
        while (digit < DIGITS - 1 && rank >= counts[lane][digit])
            rank -= counts[lane][digit++];
        bits |= (unsigned)digit << last;
        __syncthreads();
    }
    if (threadIdx.y == 0 && k < wavenumbers)
        floor[((long long)blockIdx.z * frequencies + f) * wavenumbers + k] =
            live < least ? 0 : (float)(1 / mean) * __uint_as_float(bits);
}

} // namespace

int litho_noise_floor_launch(const float *power, const float *share, const LithoFloorJob *jobs,
                             int n_jobs, int frequencies, int wavenumbers, double part, int least,
                             float *floor, cudaStream_t stream)
{
    const dim3 threads(WAVENUMBERS, SLICES);
    const unsigned groups = (unsigned)((wavenumbers + WAVENUMBERS - 1) / WAVENUMBERS);
    const dim3 grid((unsigned)frequencies, groups, (unsigned)n_jobs);
    floor_kernel<<<grid, threads, 0, stream>>>(power, share, jobs, wavenumbers, part, least, floor);
    return (int)cudaGetLastError();
}
