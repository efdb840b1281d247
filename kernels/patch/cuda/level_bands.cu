// SPDX-License-Identifier: GPL-3.0-or-later
//
// Quiet wavenumbers of the windows of a survey, for levels_bands.c. Ranks are exact, sums have a
// fixed order.
#include "kernels/patch/cuda/level.cuh"

namespace
{

// One block a window, one thread a trace at a time. Traces that are zero or not finite throughout
// the window are not there.
__global__ void __launch_bounds__(THREADS)
    muted_kernel(const LithoLevelTask t, const LithoLevelPlace *places, int mute_run, float *muted)
{
    __shared__ double parts[THREADS / 32];
    const LithoLevelPlace p = places[blockIdx.x];
    const int nk = (int)wavenumbers(t), n2 = t.n[2];
    int there = 0, zeros = 0;
    for (int k = threadIdx.x; k < nk; k += THREADS) {
        const long long trace = trace_at(t.held, p.at[0] + k / t.n[1], p.at[1] + k % t.n[1]);
        const float *x = t.in + trace * t.held.n[2] + p.at[2] - t.held.lo[2];
        bool any = false, finite = t.live[trace] != 0;
        for (int i = 0; finite && i < n2; i++) {
            any |= x[i] != 0;
            finite &= isfinite(x[i]) != 0;
        }
        if (any && finite) {
            there++;
            zeros += noise_count_muted(x, n2, mute_run);
        }
    }
    const double all = sum_of_block(there, parts), of_mutes = sum_of_block(zeros, parts);
    if (threadIdx.x == 0)
        muted[p.window] = all > 0 ? (float)(of_mutes / (all * n2)) : 0;
}

// One block a window and frequency. Powers are not negative, so that their bits have their order:
// halving the range of these finds the value that `rank` others come before.
__global__ void __launch_bounds__(THREADS)
    rank_kernel(const LithoLevelTask t, int windows, int rank, float *quiet)
{
    __shared__ double parts[THREADS / 32];
    const int w = blockIdx.x, f = blockIdx.y, nk = (int)wavenumbers(t);
    const float *power = power_of(t, 0, f, w);
    float *to = quiet + (long long)f * windows + w, *mean = to + (long long)bins(t) * windows;
    if (!(t.share[w] > 0)) { // no power is known there
        if (threadIdx.x == 0)
            *to = *mean = 0;
        return;
    }
    double sum = 0;
    for (int k = threadIdx.x; k < nk; k += THREADS)
        sum += power[k];
    sum = sum_of_block(sum, parts);
    unsigned lo = 0, hi = 0x7f800000;
    while (lo < hi) {
        const unsigned middle = lo + (hi - lo) / 2;
        int below = 0;
        for (int first = 0; first < nk; first += THREADS) {
            const int k = first + threadIdx.x;
            below += __syncthreads_count(k < nk && __float_as_uint(power[k]) <= middle);
        }
        if (below > rank)
            hi = middle;
        else
            lo = middle + 1;
    }
    if (threadIdx.x == 0) {
        *to = __uint_as_float(lo);
        *mean = (float)(sum / nk);
    }
}

} // namespace

int litho_level_muted(const LithoLevelTask *t, const LithoLevelPlace *places, int count,
                      int mute_run, float *muted, cudaStream_t stream)
{
    if (count > 0)
        muted_kernel<<<(unsigned)count, THREADS, 0, stream>>>(*t, places, mute_run, muted);
    return (int)cudaGetLastError();
}

int litho_level_ranks(const LithoLevelTask *t, int windows, int rank, float *quiet,
                      cudaStream_t stream)
{
    const dim3 each((unsigned)windows, (unsigned)(t->n[2] / 2 + 1));
    rank_kernel<<<each, THREADS, 0, stream>>>(*t, windows, rank, quiet);
    return (int)cudaGetLastError();
}
