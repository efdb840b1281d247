// SPDX-License-Identifier: GPL-3.0-or-later
//
// Spectra of cubic windows of 12, 16, 20 or 24 samples for the level of the noise: one block a
// window, lines of it in registers, exchanged through shared memory.
#include "kernels/patch/cuda/level.cuh"
#include "kernels/patch/cuda/line.cuh"

namespace
{

template <int N> struct Plane {
    enum {
        BINS = N / 2 + 1,
        PITCH = N + 1,
        LINES = BINS * N, // of all frequencies
        BLOCK = (N * N + 31) / 32 * 32,
        BYTES = LINES * PITCH * sizeof(float2),
    };
};

// The tapered trace of a window in `z`; TRUE where it counts.
template <int N>
__device__ bool load_trace(const LithoLevelTask &t, const LithoLevelPlace &p, long long trace,
                           double w, Line<N> &z)
{
    const float *x = t.in + trace * t.held.n[2] + p.at[2] - t.held.lo[2];
    const bool live = t.live[trace];
    bool any = false, finite = true;
#pragma unroll
    for (int e = 0; e < N; e++) {
        z.re[e] = live ? x[e] : 0;
        z.im[e] = 0;
    }
#pragma unroll
    for (int e = 0; e < N; e++) {
        any |= z.re[e] != 0;
        finite &= isfinite(z.re[e]);
    }
#pragma unroll
    for (int e = 0; e < N; e++)
        z.re[e] = any && finite ? (float)(w * t.taper[2][e] * z.re[e]) : 0;
    return any && finite;
}

// Threads take traces, then lines (frequency, inline) along crosslines, then lines (frequency,
// crossline wavenumber) along inlines. Floor: 4 bytes read a sample, 4 written a coefficient.
template <int N>
__global__ void __launch_bounds__(Plane<N>::BLOCK)
    lines_kernel(const LithoLevelTask t, const LithoLevelPlace *places)
{
    typedef Plane<N> P;
    extern __shared__ float2 s[]; // [frequency][inline][crossline], rows of PITCH
    __shared__ double parts[P::BLOCK / 32];
    const LithoLevelPlace p = places[blockIdx.x];
    const int k = threadIdx.x, row = k / N, column = k % N;
    const int window = t.jobs[p.job].first + p.window;
    double energy = 0;
    int present = 0;
    Line<N> z;
    if (k < N * N) {
        const long long trace = trace_at(t.held, p.at[0] + row, p.at[1] + column);
        const double w = t.taper[0][row] * t.taper[1][column];
        if (load_trace(t, p, trace, w, z) && t.recorded[trace]) {
            energy = w * w;
            present = 1;
        }
        forward(z);
#pragma unroll
        for (int f = 0; f < P::BINS; f++)
            s[(f * N + row) * P::PITCH + column] = make_float2(z.re[f], z.im[f]);
    }
    energy = sum_of_block(energy, parts);
    present = (int)sum_of_block(present, parts);
    const float scale = weigh_window(t, window, energy, present);
    __syncthreads();
    if (k < P::LINES) {
#pragma unroll
        for (int e = 0; e < N; e++) {
            const float2 v = s[k * P::PITCH + e];
            z.re[e] = v.x;
            z.im[e] = v.y;
        }
        forward(z);
#pragma unroll
        for (int e = 0; e < N; e++)
            s[k * P::PITCH + e] = make_float2(z.re[e], z.im[e]);
    }
    __syncthreads();
    if (k < P::LINES) { // row: the frequency
#pragma unroll
        for (int e = 0; e < N; e++) {
            const float2 v = s[(row * N + e) * P::PITCH + column];
            z.re[e] = v.x;
            z.im[e] = v.y;
        }
        forward(z);
        float *to = power_of(t, p.job, row, p.window) + column;
#pragma unroll
        for (int e = 0; e < N; e++)
            to[e * N] = scale * (z.re[e] * z.re[e] + z.im[e] * z.im[e]);
    }
}

template <int N>
int launch(const LithoLevelTask *t, const LithoLevelPlace *places, int count, cudaStream_t stream)
{
    const cudaError_t status = cudaFuncSetAttribute(
        lines_kernel<N>, cudaFuncAttributeMaxDynamicSharedMemorySize, Plane<N>::BYTES);
    if (status != cudaSuccess)
        return (int)status;
    lines_kernel<N><<<(unsigned)count, Plane<N>::BLOCK, Plane<N>::BYTES, stream>>>(*t, places);
    return (int)cudaGetLastError();
}

} // namespace

bool litho_level_takes_lines(const LithoLevelTask *t)
{
    const int n = t->n[0];
    return n == t->n[1] && n == t->n[2] && (n == 12 || n == 16 || n == 20 || n == 24);
}

int litho_level_lines(const LithoLevelTask *t, const LithoLevelPlace *places, int count,
                      cudaStream_t stream)
{
    switch (t->n[0]) {
    case 12:
        return launch<12>(t, places, count, stream);
    case 16:
        return launch<16>(t, places, count, stream);
    case 20:
        return launch<20>(t, places, count, stream);
    default:
        return launch<24>(t, places, count, stream);
    }
}
