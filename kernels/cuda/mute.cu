// SPDX-License-Identifier: GPL-3.0-or-later
//
// Samples that are muted in the input stay zero in the result.
#include "kernels/cuda/mute.h"

enum { THREADS = 256, BLOCKS = 1 << 16 };

// Zeros of a trace that begin at sample t and go `step` (1 or -1) per sample, `run` at most; beyond
// the ends of the trace are as many as it takes. `trace` points at sample 0, which need not be held:
// the samples that are read are.
__device__ static int zeros(const float *trace, long long t, int step, long long all, int run)
{
    int n = 0;
    while (n < run) {
        if (t < 0 || t >= all)
            return run;
        if (trace[t] != 0)
            return n;
        n++;
        t += step;
    }
    return n;
}

__global__ void keep_mute(LithoMute m)
{
    const long long tiles = (m.region.n + THREADS - 1) / THREADS;
    for (long long k = blockIdx.x; k < m.traces * tiles; k += gridDim.x) {
        const long long trace = k / tiles;
        const long long t = m.region.at + k % tiles * THREADS + threadIdx.x;
        if (t >= m.region.at + m.region.n)
            continue;
        const long long il = m.region.il + trace / m.region.n_xl;
        const long long xl = m.region.xl + trace % m.region.n_xl;
        const long long from = (il - m.in_box.il) * m.in_box.n_xl + (xl - m.in_box.xl);
        const float *in = m.in + from * m.in_box.n - m.in_box.at;
        if (!m.live[from] || in[t] != 0)
            continue;
        // Sample t itself is counted in both directions.
        if (zeros(in, t, -1, m.all, m.run) + zeros(in, t, 1, m.all, m.run) - 1 >= m.run) {
            const long long to = (il - m.out_box.il) * m.out_box.n_xl + (xl - m.out_box.xl);
            m.out[to * m.out_box.n + (t - m.out_box.at)] = 0;
        }
    }
}

// A warp a trace.
__global__ void find_missing(LithoMute m)
{
    const int lane = threadIdx.x % 32;
    for (long long k = blockIdx.x * (long long)(THREADS / 32) + threadIdx.x / 32; k < m.in_traces;
         k += gridDim.x * (long long)(THREADS / 32)) {
        const float *in = m.in + k * m.all;
        bool found = false;
        for (long long t = 0; t < m.all && !found; t += 32) {
            const float x = t + lane < m.all ? in[t + lane] : 0;
            found = __any_sync(0xffffffffu, isfinite(x) && x != 0);
        }
        if (!found && lane == 0)
            m.live[k] = 0;
    }
}

int litho_mute_launch(const LithoMute *mute, cudaStream_t stream)
{
    const long long tiles = mute->traces * ((mute->region.n + THREADS - 1) / THREADS);
    const long long groups = (mute->in_traces + THREADS / 32 - 1) / (THREADS / 32);
    if (groups > 0 && mute->in_box.n == mute->all)
        find_missing<<<(unsigned)(groups < BLOCKS ? groups : BLOCKS), THREADS, 0, stream>>>(*mute);
    if (tiles > 0)
        keep_mute<<<(unsigned)(tiles < BLOCKS ? tiles : BLOCKS), THREADS, 0, stream>>>(*mute);
    return (int)cudaGetLastError();
}
