// SPDX-License-Identifier: GPL-3.0-or-later
//
// Guesses for missing samples: one block a pair of windows of 16 x 16 x 16 samples, which are real
// and imaginary part of one transform.
//
// A thread holds a line of 16 complex values in registers, along time, then inlines, then
// crosslines, as the windows of the local Fourier filter do. Lines are exchanged through shared
// memory with rows of 17, without bank conflicts. Threads 16 f .. 16 f + 15 hold frequency f in
// both space steps, so that the exchange between these is within half a warp.
//
// Where traces are missing as a whole, passes stay among the frequencies: recorded traces keep
// their time transform, missing ones take the guess's. A thread then holds its line of frequency f
// along inlines from pass to pass, and no pass waits for another warp. Where parts of traces are
// missing it holds the window's own samples along time, and each pass transforms along time too.
//
// Floor of whole traces: six passes (where little is missing) of 64 x 16 transforms of 16 a pair
// (1.4 MFLOP) and of 4 times 32 KB through shared memory.
#include "kernels/cuda/gaps_kernels.h"

#define PATCH_T float
#define PATCH_FN __device__ static __forceinline__
#include "kernels/common/fft.h"

namespace
{

enum { N = 16, HALF = N / 2, PITCH = N + 1, THREADS = N * N };
enum { VALUES = N * N * N, MIDDLE = VALUES / 2 };
// Steps of the search for a median: after ROUNDS_BY_SHARE every second one halves what is left of
// the 2^31 floats that are not negative.
enum { ROUNDS_BY_SHARE = 8, ROUNDS = ROUNDS_BY_SHARE + 64 };
enum { BEYOND = 2 };
enum { ALL = (1 << N) - 1 }; // samples of a line

struct Line {
    float re[N], im[N];
};

struct Shared {
    float2 s[N * N * PITCH];
    int below[2][ROUNDS]; // values below a trial, step by step
    unsigned sum;         // of the values' upper bits
    unsigned only[2];   // the one value that is left
    float most[THREADS / 32];
    int here, gone;     // samples of the pair that are held, missing ones among them
    unsigned absent[N]; // of a crossline: bit k, trace k along inlines is missing as a whole
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
    const long long il = t.columns[3 * column] + (t.line[0] ? 0 : k0) - t.lo[0];
    const long long xl = t.columns[3 * column + 1] + (t.line[1] ? 0 : k1) - t.lo[1];
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

// The samples of a thread's trace in both windows, and which of them are missing.
struct Pair {
    Line x; // tapered, zeros where they are missing
    unsigned hole_a, hole_b;
    bool any;          // a guess is asked for
    int here, missing; // samples that are held, and missing ones among them
};

__device__ __forceinline__ float finite(float value)
{
    return value - value == 0 ? value : 0;
}

// Sample e of a window that begins at `at`.
__device__ __forceinline__ float load(const LithoGapsTask &t, const Trace &r, long long at, int e,
                                      unsigned *hole, Pair &p)
{
    const long long s = at + e - t.lo[2];
    const bool there = s >= 0 && s < t.n[2];
    const bool inside = at < t.lo[2] + t.n[2] && at + N > t.lo[2];
    const bool gone = r.missing || !there || is_bad(t, r.at, at + e);
    const float value = gone ? 0 : t.x[r.at * t.n[2] + s];
    *hole |= gone && inside ? 1u << e : 0;
    p.here += there && r.missing < BEYOND;
    p.missing += gone && there && r.missing < BEYOND;
    p.any |= gone && there && (t.alone ? !r.missing : r.missing < BEYOND);
    return r.w * t.taper[2][e] * finite(value);
}

// Windows that begin at at_a and at_b.
__device__ __forceinline__ void load_any(const LithoGapsTask &t, const Trace &r, long long at_a,
                                         long long at_b, Pair &p)
{
#pragma unroll
    for (int e = 0; e < N; e++) {
        p.x.re[e] = load(t, r, at_a, e, &p.hole_a, p);
        p.x.im[e] = load(t, r, at_b, e, &p.hole_b, p);
    }
}

// Whether all samples of a pair that begins at `at` are held, and traces are missing as a whole.
__device__ __forceinline__ bool is_plain(const LithoGapsTask &t, long long at)
{
    return !t.bad && !t.line[2] && at >= t.lo[2] && at + N + HALF <= t.lo[2] + t.n[2];
}

// The windows of a plain pair, half of which they share.
__device__ __forceinline__ void load_plain(const LithoGapsTask &t, const Trace &r, long long at,
                                           Pair &p)
{
    const float *from = t.x + r.at * t.n[2] + (at - t.lo[2]);
#pragma unroll
    for (int e = 0; e < N + HALF; e++) {
        const float value = r.missing ? 0 : finite(from[e]);
        if (e < N)
            p.x.re[e] = r.w * t.taper[2][e] * value;
        if (e >= HALF)
            p.x.im[e - HALF] = r.w * t.taper[2][e - HALF] * value;
    }
    p.hole_a = p.hole_b = r.missing ? ALL : 0;
    p.any = r.missing == 1 && !t.alone;
    p.here = r.missing < BEYOND ? 2 * N : 0;
    p.missing = r.missing == 1 ? 2 * N : 0;
}

// Threads (inline, crossline) with lines along time in, (frequency, crossline) with lines along
// inlines out, and back.
__device__ __forceinline__ void to_frequencies(Line &z, float2 *s)
{
    const int k0 = threadIdx.x / N, k1 = threadIdx.x % N;
    forward(z);
    put(z, s, k1 * PITCH + k0, N * PITCH);
    __syncthreads();
    get(z, s, threadIdx.x * PITCH, 1);
}

__device__ __forceinline__ void to_samples(Line &z, float2 *s)
{
    const int k0 = threadIdx.x / N, k1 = threadIdx.x % N;
    __syncwarp();
    put(z, s, threadIdx.x * PITCH, 1);
    __syncthreads();
    get(z, s, k1 * PITCH + k0, N * PITCH);
    inverse(z);
}

// Threads (frequency, crossline) with lines along inlines in, (frequency, inline wavenumber) with
// lines along crosslines out, and back.
__device__ __forceinline__ void to_wavenumbers(Line &z, float2 *s)
{
    const int across = threadIdx.x / N * N * PITCH + threadIdx.x % N;
    forward(z);
    __syncwarp();
    put(z, s, across, PITCH);
    __syncwarp();
    get(z, s, threadIdx.x * PITCH, 1);
    forward(z);
}

__device__ __forceinline__ void to_traces(Line &z, float2 *s)
{
    const int across = threadIdx.x / N * N * PITCH + threadIdx.x % N;
    inverse(z);
    __syncwarp();
    put(z, s, threadIdx.x * PITCH, 1);
    __syncwarp();
    get(z, s, across, PITCH);
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

__device__ __forceinline__ int sum_of_warp(int count)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(~0u, count);
#else
    for (int by = 16; by; by /= 2)
        count += __shfl_xor_sync(~0u, count, by);
    return count;
#endif
}

// Between which floats, as numbers, the median lies, and how many values are below each.
struct Bounds {
    unsigned lo, hi;
    int under, left; // at most MIDDLE; more
};

// The next trial, strictly between the bounds. With one bound, a step by the density that |F|^2 of
// noise has around its median, 0.24 an octave, and a little more; with both, by their shares.
__device__ __forceinline__ unsigned next_trial(const Bounds &b, int round, unsigned start)
{
    const float octave = 1 << 23, by = 1.3f / (0.24f * VALUES), more = 0.03f;
    const unsigned range = b.hi - b.lo;
    const bool open_below = b.lo == 0, open_above = b.hi == 1u << 31;
    float step = (float)(range / 2);
    if (round > ROUNDS_BY_SHARE && round % 2 == 0)
        return b.lo + range / 2;
    if (open_below && open_above)
        step = (float)start;
    else if (open_above)
        step = octave * (more + by * (MIDDLE + 1 - b.under));
    else if (open_below)
        step = (float)range - octave * (more + by * (b.left - MIDDLE));
    else
        step = (float)range * (MIDDLE + 0.5f - b.under) / (float)(b.left - b.under);
    return b.lo + min(max((unsigned)fmaxf(step, 1), 1u), range - 1);
}

// The median of |F|^2, number MIDDLE from below: trials close in on it until one value is left
// between them. `near`: a median close to it, 0 = none; then the mean of the values' bits, which
// are their logarithm but for a bend, tells where to begin. `below` is zero before.
__device__ float median(const Line &z, float near, Shared &m, int *below, unsigned *only)
{
    const unsigned from_mean = (unsigned)(0.276f * (1 << 23)); // of noise
    unsigned bits[N], start = __float_as_uint(near);
#pragma unroll
    for (int e = 0; e < N; e++)
        bits[e] = __float_as_uint(z.re[e] * z.re[e] + z.im[e] * z.im[e]);
    if (!(near > 0)) {
        unsigned sum = 0;
#pragma unroll
        for (int e = 0; e < N; e++)
            sum += bits[e] >> 12;
        sum = (unsigned)sum_of_warp((int)sum);
        if (threadIdx.x % 32 == 0)
            atomicAdd(&m.sum, sum);
        __syncthreads();
        start = (m.sum & ~0xfffu) + from_mean;
    }
    Bounds b = {0, 1u << 31, 0, VALUES};
    for (int round = 0; b.left - b.under > 1 && b.hi - b.lo > 1; round++) {
        const unsigned trial = next_trial(b, round, start);
        int count = 0;
#pragma unroll
        for (int e = 0; e < N; e++)
            count += bits[e] < trial;
        count = sum_of_warp(count);
        if (threadIdx.x % 32 == 0)
            atomicAdd(&below[round], count);
        __syncthreads();
        count = below[round];
        if (count <= MIDDLE) {
            b.lo = trial;
            b.under = count;
        } else {
            b.hi = trial;
            b.left = count;
        }
    }
    if (b.hi - b.lo == 1)
        return __uint_as_float(b.lo);
#pragma unroll
    for (int e = 0; e < N; e++)
        if (bits[e] >= b.lo && bits[e] < b.hi)
            *only = bits[e];
    __syncthreads();
    return __uint_as_float(*only);
}

// `flat`: LITHO_GAPS_FLAT as far as the pass has it.
__device__ __forceinline__ void keep(Line &z, float limit, float flat)
{
    const int k0 = threadIdx.x % N, a = min(k0, N - k0);
#pragma unroll
    for (int e = 0; e < N; e++) {
        const int b = e < HALF ? e : N - e;
        const float least = limit * (1 + flat * (float)(a * a + b * b) / (HALF * HALF));
        const bool above = z.re[e] * z.re[e] + z.im[e] * z.im[e] >= least;
        z.re[e] = above ? z.re[e] : 0;
        z.im[e] = above ? z.im[e] : 0;
    }
}

// Transform, threshold, back, what is recorded again. FALSE: nothing is recorded. `whole`: a trace
// is missing as a whole or not at all.
__device__ __forceinline__ bool guess(const LithoGapsTask &t, Line &x, unsigned hole_a,
                                      unsigned hole_b, bool whole, bool regular, Shared &m)
{
    const float ln2 = 0.693147180559945309f;
    const float scale = whole ? 1.0f / (N * N) : 1.0f / (N * N * N);
    float first = 0, middle = 0;
    int number;
    LITHO_GAPS_LADDER(number, t.ladders, m.gone, m.here)
    const int passes = t.ladders[number].passes;
    if (whole) {
        to_frequencies(x, m.s);
        hole_a = hole_b = m.absent[threadIdx.x % N];
    }
#pragma unroll 1
    for (int pass = 0; pass < passes; pass++) {
        Line z = x;
        if (!whole)
            to_frequencies(z, m.s);
        to_wavenumbers(z, m.s);
        if (pass == 0)
            first = largest(z, m);
        else if (LITHO_GAPS_MEASURES(pass, passes))
            middle = median(z, middle, m, m.below[pass > passes / 2], &m.only[pass > passes / 2]);
        if (!(first > 0))
            return false;
        keep(z, fmaxf(t.ladders[number].share[pass] * first, t.noise * (middle / ln2)),
             regular ? t.flat * LITHO_GAPS_LEFT(pass, passes) : 0);
        to_traces(z, m.s);
        if (!whole)
            to_samples(z, m.s);
#pragma unroll
        for (int e = 0; e < N; e++) {
            x.re[e] = hole_a >> e & 1 ? z.re[e] * scale : x.re[e];
            x.im[e] = hole_b >> e & 1 ? z.im[e] * scale : x.im[e];
        }
    }
    if (whole) {
        to_samples(x, m.s);
#pragma unroll
        for (int e = 0; e < N; e++) {
            x.re[e] *= 1.0f / N;
            x.im[e] *= 1.0f / N;
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

// add() of both windows of a plain pair.
__device__ __forceinline__ void add_plain(const LithoGapsTask &t, const Trace &r, long long at,
                                          const Line &x)
{
    float *to = t.x + r.at * t.n[2] + (at - t.lo[2]);
#pragma unroll
    for (int e = 0; e < N + HALF; e++) {
        float sum = to[e];
        if (e < N)
            sum += r.w * t.taper[2][e] * x.re[e];
        if (e >= HALF)
            sum += r.w * t.taper[2][e - HALF] * x.im[e - HALF];
        to[e] = sum;
    }
}

// Samples of the pair that are held, and missing ones, of all threads. Two numbers that fit 16
// bits: the sum over 32 threads of 32 samples does, too.
__device__ __forceinline__ void count(const Pair &p, Shared &m)
{
    const int both = sum_of_warp(p.here << 16 | p.missing);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&m.here, both >> 16);
        atomicAdd(&m.gone, both & 0xffff);
    }
}

__global__ void __launch_bounds__(THREADS, 2)
    columns_kernel(const LithoGapsTask t, long long from, long long pair0)
{
    __shared__ Shared m;
    const long long pair = pair0 + 2 * blockIdx.y;
    const long long at_a = t.line[2] ? 0 : (2 * pair - 1) * HALF;
    const long long at_b = t.line[2] ? 0 : at_a + HALF;
    const Trace r = trace_of(t, from + blockIdx.x);
    const bool plain = is_plain(t, at_a);
    Pair p = {};
    if (threadIdx.x < 2 * ROUNDS)
        m.below[threadIdx.x / ROUNDS][threadIdx.x % ROUNDS] = 0;
    if (threadIdx.x < N)
        m.absent[threadIdx.x] = 0;
    if (threadIdx.x == 0)
        m.here = m.gone = m.sum = 0;
    __syncthreads();
    if (plain)
        load_plain(t, r, at_a, p);
    else
        load_any(t, r, at_a, at_b, p);
    count(p, m);
    const bool all = p.hole_a == ALL && p.hole_b == ALL;
    if (all)
        atomicOr(&m.absent[threadIdx.x % N], 1u << threadIdx.x / N);
    if (!__syncthreads_or(p.any))
        return;
    const bool whole = plain || __syncthreads_and(all || !(p.hole_a | p.hole_b));
    const bool regular = t.columns[3 * (from + blockIdx.x) + 2] != 0;
    if (!guess(t, p.x, p.hole_a, p.hole_b, whole, regular, m) || r.missing == BEYOND || r.again ||
        (t.alone && r.missing))
        return;
    if (!plain) {
        add(t, r, at_a, p.hole_a, p.x.re);
        if (!t.line[2]) // else both are one window
            add(t, r, at_b, p.hole_b, p.x.im);
    } else if (r.missing) {
        add_plain(t, r, at_a, p.x);
    }
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
