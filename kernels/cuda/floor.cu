// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/floor.h"

namespace
{

enum { THREADS = 256 };

// One block a job, a frequency and 256 wavenumbers: the value of the rank among the windows' powers,
// by its bits from the top. Floor: the powers read once for each of 31 bits, from the caches.
__global__ void __launch_bounds__(THREADS)
    floor_kernel(const float *power, const float *share, const LithoFloorJob *jobs, int wavenumbers,
                 double part, int least, float *floor)
{
    const int f = blockIdx.x, k = blockIdx.y * THREADS + threadIdx.x, frequencies = gridDim.x;
    const int windows = jobs[blockIdx.z].windows, first = jobs[blockIdx.z].first;
    const float *own =
        power + ((long long)first * frequencies + (long long)f * windows) * wavenumbers + k;
    share += first;
    int live = 0;
    if (k >= wavenumbers)
        return;
    for (int w = 0; w < windows; w++)
        live += share[w] > 0;
    int rank = (int)(part * live);
    double sum = 0; // mean of the value of this rank, of exponentially distributed ones of mean 1
    for (int i = 0; i <= rank; i++)
        sum += 1.0 / (live - i);
    unsigned bits = 0;
    for (int bit = 30; bit >= 0; bit--) { // powers are not negative
        int below = 0;
#pragma unroll 8
        for (int w = 0; w < windows; w++) {
            const unsigned x = __float_as_uint(own[(long long)w * wavenumbers]);
            below += share[w] > 0 && x >> bit == bits >> bit;
        }
        if (rank >= below) {
            rank -= below;
            bits |= 1u << bit;
        }
    }
    floor[((long long)blockIdx.z * frequencies + f) * wavenumbers + k] =
        live < least ? 0 : (float)(1 / sum) * __uint_as_float(bits);
}

} // namespace

int litho_noise_floor_launch(const float *power, const float *share, const LithoFloorJob *jobs,
                             int n_jobs, int frequencies, int wavenumbers, double part, int least,
                             float *floor, cudaStream_t stream)
{
    const dim3 grid((unsigned)frequencies, (unsigned)((wavenumbers + THREADS - 1) / THREADS),
                    (unsigned)n_jobs);
    floor_kernel<<<grid, THREADS, 0, stream>>>(power, share, jobs, wavenumbers, part, least, floor);
    return (int)cudaGetLastError();
}
