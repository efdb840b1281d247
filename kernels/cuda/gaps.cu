// SPDX-License-Identifier: GPL-3.0-or-later
//
// Guesses for missing samples: one block a pair of windows of 16 x 16 x 16 samples, which are real
// and imaginary part of one transform.
//
// A thread holds a line of 16 complex values in registers, along time, then inlines, then
// crosslines, as the windows of the local Fourier filter do; beside it the window's own samples, in
// the order of the first step. Lines are exchanged through shared memory with rows of 17, without
// bank conflicts. Threads 16 f .. 16 f + 15 hold frequency f in both space steps, so that the
// exchange between these is within half a warp.
//
// Floor: six passes (where little is missing) of 96 x 16 transforms of 16 a pair (about 2 MFLOP) and of 12 times 32 KB
// through shared memory.
#include "kernels/cuda/gaps_kernels.h"

#define PATCH_T float
#define PATCH_FN __device__ static __forceinline__
#include "kernels/common/fft.h"

namespace
{

enum { N = 16, HALF = N / 2, PITCH = N + 1, THREADS = N * N };
enum { BITS = 31 }; // of a float that is not negative
enum { BEYOND = 2 };

struct Line {
    float re[N], im[N];
};

struct Shared {
    float2 s[N * N * PITCH];
    int below[2][BITS]; // values below a trial, bit by bit
    float most[THREADS / 32];
    int here, gone;             // samples of the pair that are held, missing ones among them
};

// The trace of a thread.
struct Trace {
    long long at; // of the box
    int missing;  // BEYOND: of the survey or the box
    bool again;   // another thread has the same
    float w;      // of the taper
};

__device__ __forceinline__ void forward(Line &z)
{
    patch_fft16(z.re, z.im);
}

// 16 times the values: real and imaginary part change places.
__device__ __forceinline__ void inverse(Line &z)
{
    patch_fft16(z.im, z.re);
}

// Element e to and from s[base + e * step].
__device__ __forceinline__ void put(const Line &z, float2 *s, int base, int step)
{
#pragma unroll
    for (int e = 0; e < N; e++)
        s[base + e * step] = make_float2(z.re[e], z.im[e]);
}

__device__ __forceinline__ void get(Line &z, const float2 *s, int base, int step)
{
#pragma unroll
    for (int e = 0; e < N; e++) {
        const float2 v = s[base + e * step];
        z.re[e] = v.x;
        z.im[e] = v.y;
    }
}

__device__ Trace trace_of(const LithoGapsTask &t, long long column)
{
    const int k0 = threadIdx.x / N, k1 = threadIdx.x % N;
    const long long il = t.columns[2 * column] + (t.line[0] ? 0 : k0) - t.lo[0];
    const long long xl = t.columns[2 * column + 1] + (t.line[1] ? 0 : k1) - t.lo[1];
    Trace r;
    r.at = il * t.n[1] + xl;
    r.again = (t.line[0] && k0 > 0) || (t.line[1] && k1 > 0);
    r.w = t.taper[0][k0] * t.taper[1][k1];
    if (il < 0 || il >= t.n[0] || xl < 0 || xl >= t.n[1])
        r.missing = BEYOND;
    else
        r.missing = !t.live[r.at];
    return r;
}

// Whether sample `at` of the survey, which is held, is missing.
__device__ __forceinline__ bool is_bad(const LithoGapsTask &t, long long trace, long long at)
{
    return t.bad && t.bad[trace * t.pieces + (int)at / t.length - t.first];
}

// Sample e of a window that begins at `at`: tapered, and whether it is a hole.
__device__ __forceinline__ float load(const LithoGapsTask &t, const Trace &r, long long at, int e,
                                      unsigned *hole, bool *any, int *here, int *missing)
{
    const long long s = at + e - t.lo[2];
    const bool there = s >= 0 && s < t.n[2];
    const bool inside = at < t.lo[2] + t.n[2] && at + N > t.lo[2];
    const bool gone = r.missing || !there || is_bad(t, r.at, at + e);
    const float value = gone ? 0 : t.x[r.at * t.n[2] + s];
    *hole |= gone && inside ? 1u << e : 0;
    *here += there && r.missing < BEYOND;
    *missing += gone && there && r.missing < BEYOND;
    *any |= gone && there && (t.alone ? !r.missing : r.missing < BEYOND);
    return value - value == 0 ? r.w * t.taper[2][e] * value : 0;
}

// Threads (inline, crossline) with lines along time in, (frequency, inline wavenumber) with lines
// along crosslines out.
__device__ __forceinline__ void to_wavenumbers(Line &z, float2 *s)
{
    const int k0 = threadIdx.x / N, k1 = threadIdx.x % N;
    const int line = threadIdx.x * PITCH, across = k0 * N * PITCH + k1;
    forward(z);
    put(z, s, k1 * PITCH + k0, N * PITCH);
    __syncthreads();
    get(z, s, line, 1);
    forward(z);
    __syncwarp();
    put(z, s, across, PITCH);
    __syncwarp();
    get(z, s, line, 1);
    forward(z);
}

__device__ __forceinline__ void to_samples(Line &z, float2 *s)
{
    const int k0 = threadIdx.x / N, k1 = threadIdx.x % N;
    const int line = threadIdx.x * PITCH, across = k0 * N * PITCH + k1;
    inverse(z);
    __syncwarp();
    put(z, s, line, 1);
    __syncwarp();
    get(z, s, across, PITCH);
    inverse(z);
    __syncwarp();
    put(z, s, line, 1);
    __syncthreads();
    get(z, s, k1 * PITCH + k0, N * PITCH);
    inverse(z);
}

__device__ float largest(const Line &z, Shared &m)
{
    float most = 0;
#pragma unroll
    for (int e = 0; e < N; e++)
        most = fmaxf(most, z.re[e] * z.re[e] + z.im[e] * z.im[e]);
    for (int by = 16; by; by /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, by));
    if (threadIdx.x % 32 == 0)
        m.most[threadIdx.x / 32] = most;
    __syncthreads();
    for (int k = 0; k < THREADS / 32; k++)
        most = fmaxf(most, m.most[k]);
    return most;
}

// The median of |F|^2, its bits from the top: a bit is set where no more than half of the values
// are below. `below` is zero before.
__device__ float median(const Line &z, int *below)
{
    unsigned bits[N], found = 0;
#pragma unroll
    for (int e = 0; e < N; e++)
        bits[e] = __float_as_uint(z.re[e] * z.re[e] + z.im[e] * z.im[e]);
    for (int b = BITS - 1; b >= 0; b--) {
        const unsigned trial = found | 1u << b;
        int count = 0;
#pragma unroll
        for (int e = 0; e < N; e++)
            count += __popc(__ballot_sync(~0u, bits[e] < trial));
        if (threadIdx.x % 32 == 0)
            atomicAdd(&below[b], count);
        __syncthreads();
        if (below[b] <= N * N * N / 2)
            found = trial;
    }
    return __uint_as_float(found);
}

__device__ __forceinline__ void keep(Line &z, float limit)
{
#pragma unroll
    for (int e = 0; e < N; e++) {
        const bool above = z.re[e] * z.re[e] + z.im[e] * z.im[e] >= limit;
        z.re[e] = above ? z.re[e] : 0;
        z.im[e] = above ? z.im[e] : 0;
    }
}

// Transform, threshold, back, recorded samples again. FALSE: nothing is recorded.
__device__ __forceinline__ bool guess(const LithoGapsTask &t, Line &x, unsigned hole_a,
                                      unsigned hole_b, Shared &m)
{
    const float ln2 = 0.693147180559945309f, scale = 1.0f / (N * N * N);
    float first = 0, noise = 0;
    int number;
    LITHO_GAPS_LADDER(number, t.ladders, m.gone, m.here)
    const int passes = t.ladders[number].passes;
#pragma unroll 1
    for (int pass = 0; pass < passes; pass++) {
        Line z = x;
        to_wavenumbers(z, m.s);
        if (pass == 0)
            first = largest(z, m);
        else if (LITHO_GAPS_MEASURES(pass, passes))
            noise = median(z, m.below[pass > passes / 2]) / ln2;
        if (!(first > 0))
            return false;
        keep(z, fmaxf(t.ladders[number].share[pass] * first, t.noise * noise));
        to_samples(z, m.s);
#pragma unroll
        for (int e = 0; e < N; e++) {
            x.re[e] = hole_a >> e & 1 ? z.re[e] * scale : x.re[e];
            x.im[e] = hole_b >> e & 1 ? z.im[e] * scale : x.im[e];
        }
    }
    return true;
}

__device__ __forceinline__ void add(const LithoGapsTask &t, const Trace &r, long long at,
                                    unsigned hole, const float (&x)[N])
{
    float *to = t.x + r.at * t.n[2] + at - t.lo[2];
#pragma unroll
    for (int e = 0; e < N; e++)
        if (hole >> e & 1 && at + e >= t.lo[2] && at + e < t.lo[2] + t.n[2])
            to[e] += r.w * t.taper[2][e] * x[e];
}

__global__ void __launch_bounds__(THREADS, 2)
    columns_kernel(const LithoGapsTask t, long long from, long long pair0)
{
    __shared__ Shared m;
    const long long pair = pair0 + 2 * blockIdx.y;
    const long long at_a = t.line[2] ? 0 : (2 * pair - 1) * HALF;
    const long long at_b = t.line[2] ? 0 : at_a + HALF;
    const Trace r = trace_of(t, from + blockIdx.x);
    unsigned hole_a = 0, hole_b = 0;
    bool any = false;
    int here = 0, gone = 0;
    Line x;
    if (threadIdx.x < 2 * BITS)
        m.below[threadIdx.x / BITS][threadIdx.x % BITS] = 0;
    if (threadIdx.x == 0)
        m.here = m.gone = 0;
    __syncthreads();
#pragma unroll
    for (int e = 0; e < N; e++) {
        x.re[e] = load(t, r, at_a, e, &hole_a, &any, &here, &gone);
        x.im[e] = load(t, r, at_b, e, &hole_b, &any, &here, &gone);
    }
    // Of two numbers that fit 16 bits: the sum over 32 threads of 32 samples does, too.
    int both = here << 16 | gone;
    for (int by = 16; by; by /= 2)
        both += __shfl_xor_sync(~0u, both, by);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&m.here, both >> 16);
        atomicAdd(&m.gone, both & 0xffff);
    }
    if (!__syncthreads_or(any) || !guess(t, x, hole_a, hole_b, m) || r.missing == BEYOND ||
        r.again || (t.alone && r.missing))
        return;
    add(t, r, at_a, hole_a, x.re);
    add(t, r, at_b, hole_b, x.im);
}

// Sample k of the box, of trace `trace`, takes a guess.
__device__ __forceinline__ bool is_guessed(const LithoGapsTask &t, long long trace, long long k)
{
    return t.live[trace] ? is_bad(t, trace, t.lo[2] + k % t.n[2]) : !t.alone;
}

// One thread a sample.
__global__ void clear_kernel(const LithoGapsTask t, const float *in)
{
    const long long k = (long long)blockIdx.x * THREADS + threadIdx.x, trace = k / t.n[2];
    if (trace >= t.n[0] * t.n[1])
        return;
    t.x[k] = is_guessed(t, trace, k) ? 0 : in[k];
}

__global__ void normalise_kernel(const LithoGapsTask t)
{
    const long long k = (long long)blockIdx.x * THREADS + threadIdx.x, trace = k / t.n[2];
    if (trace >= t.n[0] * t.n[1])
        return;
    if (is_guessed(t, trace, k))
        t.x[k] = t.scale[trace] == 0 ? 0 : t.scale[trace] * t.x[k];
}

unsigned sample_blocks(const LithoGapsTask *t)
{
    return (unsigned)((t->n[0] * t->n[1] * t->n[2] + THREADS - 1) / THREADS);
}

} // namespace

int litho_gaps_clear(const LithoGapsTask *t, const float *in, cudaStream_t stream)
{
    clear_kernel<<<sample_blocks(t), THREADS, 0, stream>>>(*t, in);
    return (int)cudaGetLastError();
}

int litho_gaps_columns(const LithoGapsTask *t, long long from, long long to, int parity,
                       cudaStream_t stream)
{
    // Parity of the survey's pairs, not of the box's.
    const long long first = t->first_pair + ((t->first_pair + parity) & 1);
    const long long pairs = (t->first_pair + t->pairs - first + 1) / 2;
    if (pairs <= 0 || to <= from)
        return 0;
    const dim3 grid((unsigned)(to - from), (unsigned)pairs);
    columns_kernel<<<grid, THREADS, 0, stream>>>(*t, from, first);
    return (int)cudaGetLastError();
}

int litho_gaps_normalise(const LithoGapsTask *t, cudaStream_t stream)
{
    normalise_kernel<<<sample_blocks(t), THREADS, 0, stream>>>(*t);
    return (int)cudaGetLastError();
}
