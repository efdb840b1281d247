// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
//
// Cubic windows of N x N x N samples: one block walks down a column, two windows at a time as real
// and imaginary part.
//
// A thread holds a line of N complex values in registers, along time, then inlines, then
// crosslines; lines are exchanged through shared memory with rows of N + 1, without bank conflicts.
// Threads f * N .. f * N + N - 1 hold frequency f in both space steps; where N is 16 the exchange
// between these is within half a warp. Guided windows (geometry.h) keep the powers of half the
// wavenumbers and frequencies in shared memory; a thread sums up what guides its line in registers.
// Samples of the next pair are copied into a ring while the present one is transformed. Sums of
// windows stay in registers (N - S samples are carried from pair to pair) and leave for the strip
// in ascending order of windows.
//
// Floor, for N = 16: per pair 12 passes of 32 KB through shared memory, 96 transforms of 16 per 256
// threads (about 0.33 MFLOP), 8 S KB read from the second-level cache and written to the strip.
#include <cuda_pipeline_primitives.h>

#include "kernels/patch/cuda/device.cuh"
#include "kernels/patch/cuda/line.cuh"

namespace
{

// The rule `single`, guided: a rule of kernels beside LITHO_PATCH_SINGLE and LITHO_PATCH_ENERGY.
enum { GUIDED = LITHO_PATCH_ENERGY + 1 };

template <int N, int S> struct Shared {
    enum {
        BINS = N / 2 + 1,
        PITCH = N + 1,
        SPAN = N + S,
        RING = SPAN + 1 - SPAN % 2,
    };
    float2 s[N * N * PITCH];
    float x[N * N * RING]; // samples of the present pair, sample r at r modulo SPAN
    long long row[N * N];  // of the input's trace, -1 = absent
    float limit[2][BINS];  // of 4 |F|^2
    float taper[N];
    unsigned most;
};

// Behind Shared where windows are guided. N is a multiple of 4: halves of wavenumbers are -REACH to
// REACH, halves of frequencies 0 to REACH.
template <int N> struct Guides {
    enum { REACH = N / 4, WIDTH = 2 * REACH + 1 };
    float2 power[REACH + 1][WIDTH][WIDTH]; // |F|^2 of both windows: frequency, inline, crossline
    unsigned most[2][N / 2 + 1];           // bits of the largest guide of a frequency
};

// The taper along time: known to the compiler for 16, else from shared memory.
template <int N, int S> __device__ __forceinline__ float taper_of(const Shared<N, S> &m, int i)
{
    const float w[8] = {0.0980171403295606f, 0.290284677254462f, 0.471396736825998f,
                        0.634393284163645f,  0.773010453362737f, 0.881921264348355f,
                        0.956940335732209f,  0.995184726672197f};
    if (N == 16)
        return w[(i < 8 ? i : 15 - i) & 7];
    return m.taper[i];
}

// The lines of one frequency are within half a warp where N is 16.
template <int N> __device__ __forceinline__ void sync_frequency()
{
    if (N == 16)
        __syncwarp();
    else
        __syncthreads();
}

// Element e to and from s[base + e * step].
template <int N>
__device__ __forceinline__ void put(const Line<N> &z, float2 *s, int base, int step)
{
#pragma unroll
    for (int e = 0; e < N; e++)
        s[base + e * step] = make_float2(z.re[e], z.im[e]);
}

template <int N>
__device__ __forceinline__ void get(Line<N> &z, const float2 *s, int base, int step)
{
#pragma unroll
    for (int e = 0; e < N; e++) {
        const float2 v = s[base + e * step];
        z.re[e] = v.x;
        z.im[e] = v.y;
    }
}

// Samples [from, from + count) behind the first one of pair 0 into the ring: lanes along time.
template <int N, int S>
__device__ void fetch(const LithoPatchTask &t, Shared<N, S> &m, int t0, int from, int count)
{
    for (int e = threadIdx.x; e < N * N * count; e += N * N) {
        const int trace = e / count, r = from + e % count;
        const long long row = m.row[trace];
        float *to = &m.x[trace * Shared<N, S>::RING + r % Shared<N, S>::SPAN];
        const int at = litho_patch_mirror(t.g.axis[2].n, t0 + r);
        if (row < 0)
            *to = 0;
        else
            __pipeline_memcpy_async(to, t.in + row + at - t.held.lo[2], sizeof(float));
    }
    __pipeline_commit();
}

template <int N, int S>
__device__ void find_rows(const LithoPatchTask &t, Shared<N, S> &m, int il0, int xl0)
{
    const int il = litho_patch_mirror(t.g.axis[0].n, il0 + (int)threadIdx.x / N);
    const int xl = litho_patch_mirror(t.g.axis[1].n, xl0 + (int)threadIdx.x % N);
    const long long trace = trace_at(t.held, il, xl);
    m.row[threadIdx.x] = t.live && !t.live[trace] ? -1 : trace * t.held.n[2];
}

// |2 A|^2 and |2 B|^2 of the two windows at element e, from Z there and at the opposite place.
__device__ __forceinline__ float2 powers(float re, float im, float2 o)
{
    const float ar = re + o.x, ai = im - o.y, br = im + o.y, bi = o.x - re;
    return make_float2(ar * ar + ai * ai, br * br + bi * bi);
}

// 2 Z of what is kept of both.
__device__ __forceinline__ void join(float &re, float &im, float2 o, bool a, bool b)
{
    const float ar = a ? re + o.x : 0, ai = a ? im - o.y : 0;
    const float br = b ? im + o.y : 0, bi = b ? o.x - re : 0;
    re = ar - bi;
    im = ai + br;
}

// Limits of thread (f, k), whose line goes along crossline wavenumbers: of two windows, times the
// shape of the noise's level where there is one, and `least` in any case.
template <int N> struct Limits {
    float a, b, least;
    const float *shape; // of crossline wavenumber 0; NULL = all are alike
    bool turned;        // beyond the middle frequency stand the opposite wavenumbers

    template <int S> __device__ Limits(const LithoPatchTask &t, const Shared<N, S> &m, int f, int k)
    {
        turned = f > N / 2;
        const int bin = turned ? N - f : f, row = turned ? (N - k) % N : k;
        a = m.limit[0][bin];
        b = m.limit[1][bin];
        least = 4 * litho_patch_least(t.least);
        shape = t.levels.shape ? t.levels.shape + (bin * N + row) * N : nullptr;
    }

    // Of window a (x) and b (y) at crossline wavenumber e.
    __device__ __forceinline__ float2 at(int e) const
    {
        if (!shape)
            return make_float2(a, b);
        const float by = shape[turned ? (N - e) % N : e];
        return make_float2(fmaxf(a * by, least), fmaxf(b * by, least));
    }
};

// Threads (f, k): the line along crossline wavenumbers; s holds all lines at (f * 16 + k) * 17.
template <int N, int S>
__device__ __forceinline__ void threshold_single(const LithoPatchTask &t, Line<N> &z,
                                                 Shared<N, S> &m, int f, int k, int opposite)
{
    const Limits<N> limits(t, m, f, k);
#pragma unroll
    for (int e = 0; e < N; e++) {
        const float2 o = m.s[opposite + (N - e) % N], limit = limits.at(e);
        const float2 p = powers(z.re[e], z.im[e], o);
        join(z.re[e], z.im[e], o, p.x >= limit.x, p.y >= limit.y);
    }
}

// Powers in units of the limits are exchanged first; whether a coefficient is kept goes into two
// bits an element.
template <int N, int S>
__device__ __forceinline__ unsigned long long energetic(const LithoPatchTask &t, const Line<N> &z,
                                                        Shared<N, S> &m, int f, int k, int opposite)
{
    const Limits<N> limits(t, m, f, k);
    const float limit_a = 1 / limits.a, limit_b = 1 / limits.b;
    float2 own[N];
    unsigned long long keep = 0;
#pragma unroll
    for (int e = 0; e < N; e++) {
        own[e] = powers(z.re[e], z.im[e], m.s[opposite + (N - e) % N]);
        const float2 limit = limits.at(e);
        own[e].x *= limits.shape ? 1 / limit.x : limit_a;
        own[e].y *= limits.shape ? 1 / limit.y : limit_b;
    }
    __syncthreads();
    const int at = (f * N + k) * (N + 1);
#pragma unroll
    for (int e = 0; e < N; e++)
        m.s[at + e] = own[e];
    __syncthreads();
    const float2 *below = m.s + ((f + N - 1) % N * N + k) * (N + 1);
    const float2 *above = m.s + ((f + 1) % N * N + k) * (N + 1);
    const float2 *left = m.s + (f * N + (k + N - 1) % N) * (N + 1);
    const float2 *right = m.s + (f * N + (k + 1) % N) * (N + 1);
#pragma unroll
    for (int e = 0; e < N; e++) {
        const float2 p = own[(e + 1) % N], q = own[(e + N - 1) % N];
        const float2 b = below[e], a = above[e], l = left[e], r = right[e];
        const float sum_a = p.x + q.x + r.x + l.x + b.x + a.x;
        const float sum_b = p.y + q.y + r.y + l.y + b.y + a.y;
        keep |= (own[e].x + 0.5f * sum_a >= 4 ? 1ull : 0ull) << (2 * e);
        keep |= (own[e].y + 0.5f * sum_b >= 4 ? 2ull : 0ull) << (2 * e);
    }
    return keep;
}

template <int N, int S>
__device__ __forceinline__ void threshold_energy(const LithoPatchTask &t, Line<N> &z,
                                                 Shared<N, S> &m, int f, int k, int opposite)
{
    const unsigned long long keep = energetic(t, z, m, f, k, opposite);
    __syncthreads(); // all powers have been read
    put(z, m.s, (f * N + k) * (N + 1), 1);
    __syncthreads();
#pragma unroll
    for (int e = 0; e < N; e++)
        join(z.re[e], z.im[e], m.s[opposite + (N - e) % N], keep >> (2 * e) & 1,
             keep >> (2 * e) & 2);
}

// Lines (f, k) of half the frequencies leave the powers that guide others.
template <int N, int S>
__device__ __forceinline__ void keep_powers(const Line<N> &z, const Shared<N, S> &m, Guides<N> &g,
                                            int f, int k, int opposite)
{
    enum { REACH = Guides<N>::REACH, WIDTH = Guides<N>::WIDTH };
    const int row = (k <= REACH ? k : k - N) + REACH;
    if (f > REACH || row < 0)
        return;
#pragma unroll
    for (int c = 0; c < WIDTH; c++) {
        const int e = (c - REACH + N) % N;
        const float2 p = powers(z.re[e], z.im[e], m.s[opposite + (N - e) % N]);
        g.power[f][row][c] = make_float2(0.25f * p.x, 0.25f * p.y);
    }
}

// litho_patch_halves() from -n / 4 to n / 4, for a k known to the compiler or not.
template <int N> __device__ __forceinline__ int lower_half(int k)
{
    return 2 * k <= N ? k / 2 : -((N - k) / 2);
}

template <int N> __device__ __forceinline__ int upper_half(int k)
{
    return 2 * k < N ? (k + 1) / 2 : -((N - k + 1) / 2);
}

// Guides of thread (f, k): sums of powers around half of its frequency and its inline wavenumber,
// at crossline wavenumbers -REACH to REACH. Beyond the middle frequency they are the opposite
// line's, term by term, so that both keep the same.
template <int N> struct Guide {
    enum { REACH = Guides<N>::REACH, WIDTH = Guides<N>::WIDTH };
    float2 half[WIDTH], least; // least: LITHO_PATCH_GUIDE of the largest

    __device__ __forceinline__ Guide(const Guides<N> &g, int f, int k)
    {
        const bool turned = f > N / 2;
        const int bin = turned ? N - f : f, row = turned ? (N - k) % N : k;
        // The last frequency is its own opposite: its second half is that of the opposite line.
        const int sign = bin < N / 2 ? 1 : -1, upper = (bin + 1) / 2;
        const int step = turned ? -1 : 1, from = -REACH * step;
        const int a = lower_half<N>(row), b = upper_half<N>(row);
        const float2 *la = &g.power[bin / 2][REACH + a][REACH + from];
        const float2 *lb = &g.power[bin / 2][REACH + b][REACH + from];
        const float2 *ua = &g.power[upper][REACH + sign * a][REACH + sign * from];
        const float2 *ub = &g.power[upper][REACH + sign * b][REACH + sign * from];
#pragma unroll
        for (int c = 0; c < WIDTH; c++) {
            const float2 p = la[c * step], q = lb[c * step];
            const float2 r = ua[c * step * sign], s = ub[c * step * sign];
            half[c] = make_float2((p.x + q.x) + (r.x + s.x), (p.y + q.y) + (r.y + s.y));
        }
    }

    // At crossline wavenumber e, known to the compiler.
    __device__ __forceinline__ float2 at(int e) const
    {
        const float2 p = half[REACH + lower_half<N>(e)], q = half[REACH + upper_half<N>(e)];
        return make_float2(p.x + q.x, p.y + q.y);
    }

    // The largest of the frequency, from all of its threads.
    __device__ __forceinline__ void find_least(Guides<N> &g, int f)
    {
        float2 most = make_float2(0, 0);
#pragma unroll
        for (int e = 0; e < N; e++) {
            const float2 v = at(e);
            most = make_float2(fmaxf(most.x, v.x), fmaxf(most.y, v.y));
        }
        if (N == 16) {
#pragma unroll
            for (int by = 8; by; by /= 2) {
                most.x = fmaxf(most.x, __shfl_xor_sync(~0u, most.x, by));
                most.y = fmaxf(most.y, __shfl_xor_sync(~0u, most.y, by));
            }
        } else {
            const int bin = f > N / 2 ? N - f : f;
            atomicMax(&g.most[0][bin], __float_as_uint(most.x));
            atomicMax(&g.most[1][bin], __float_as_uint(most.y));
            __syncthreads();
            most.x = __uint_as_float(g.most[0][bin]);
            most.y = __uint_as_float(g.most[1][bin]);
        }
        least.x = LITHO_PATCH_GUIDE * most.x + 1e-30f;
        least.y = LITHO_PATCH_GUIDE * most.y + 1e-30f;
    }
};

// litho_patch_guide_factor() with a quotient that is right within two units of its last place.
__device__ __forceinline__ float guided(float power, float guide, float least)
{
    const float w = __fdividef(guide, guide + least);
    return power * (w * w);
}

template <int N, int S>
__device__ __forceinline__ void threshold_guided(const LithoPatchTask &t, Line<N> &z,
                                                 Shared<N, S> &m, Guides<N> &g, int f, int k,
                                                 int opposite)
{
    const float2 *line = m.s + (f * N + k) * (N + 1); // leaves registers to the guide
    keep_powers(z, m, g, f, k, opposite);
    __syncthreads();
    Guide<N> guide(g, f, k);
    guide.find_least(g, f);
    const Limits<N> limits(t, m, f, k);
#pragma unroll
    for (int e = 0; e < N; e++) {
        const float2 o = m.s[opposite + (N - e) % N], limit = limits.at(e);
        z.re[e] = line[e].x;
        z.im[e] = line[e].y;
        const float2 p = powers(z.re[e], z.im[e], o), by = guide.at(e);
        join(z.re[e], z.im[e], o, guided(p.x, by.x, guide.least.x) >= limit.x,
             guided(p.y, by.y, guide.least.y) >= limit.y);
    }
}

template <int N, int S>
__device__ __forceinline__ float largest(const Line<N> &z, Shared<N, S> &m, int opposite)
{
    float most = 0;
#pragma unroll
    for (int e = 0; e < N; e++) {
        const float2 p = powers(z.re[e], z.im[e], m.s[opposite + (N - e) % N]);
        most = fmaxf(most, fmaxf(p.x, p.y));
    }
    return most / 4;
}

// The pair's samples of this thread's trace, tapered: first window real, second imaginary.
template <int N, int S>
__device__ __forceinline__ void load(Line<N> &z, const Shared<N, S> &m, int base, float w)
{
    const float *x = m.x + threadIdx.x * Shared<N, S>::RING;
#pragma unroll
    for (int i = 0; i < N; i++) {
        z.re[i] = 0;
        z.im[i] = 0;
    }
#pragma unroll
    for (int i = 0; i < N + S; i++) {
        const int at = base + i < N + S ? base + i : base + i - (N + S);
        const float v = finite_or_zero(x[at]);
        if (i < N)
            z.re[i < N ? i : 0] = v * (taper_of(m, i < N ? i : 0) * w);
        if (i >= S)
            z.im[i >= S ? i - S : 0] = v * (taper_of(m, i >= S ? i - S : 0) * w);
    }
}

// Adds the pair to the sums and writes the 2 S samples that no later window reaches.
template <int N, int S>
__device__ __forceinline__ void unload(const Line<N> &z, const Shared<N, S> &m,
                                       float (&carry)[N - S], float w, float *to, bool writes)
{
    float sum[N + S];
#pragma unroll
    for (int i = 0; i < N + S; i++) {
        sum[i] = i < N - S ? carry[i < N - S ? i : 0] : 0;
        if (i < N)
            sum[i] += z.re[i < N ? i : 0] * (taper_of(m, i < N ? i : 0) * w);
        if (i >= S)
            sum[i] += z.im[i >= S ? i - S : 0] * (taper_of(m, i >= S ? i - S : 0) * w);
    }
#pragma unroll
    for (int i = 0; i < N - S; i++)
        carry[i] = sum[i + 2 * S];
    if (!writes)
        return;
    // Lengths of strips are multiples of 4.
    if (S % 2 == 0) {
#pragma unroll
        for (int i = 0; i + 3 < 2 * S; i += 4)
            *(float4 *)(to + i) = make_float4(sum[i], sum[i + 1], sum[i + 2], sum[i + 3]);
    } else {
#pragma unroll
        for (int i = 0; i + 1 < 2 * S; i += 2)
            *(float2 *)(to + i) = make_float2(sum[i], sum[i + 1]);
    }
}

// All that happens in wavenumbers: threads (f, xl) in, threads (f, xl) out. FALSE: only the largest
// was asked for.
template <int N, int S, int RULE>
__device__ __forceinline__ bool filter(const LithoPatchTask &t, Line<N> &z, Shared<N, S> &m,
                                       Guides<N> &g)
{
    const int f = threadIdx.x / N, k = threadIdx.x % N;
    const int line = threadIdx.x * (N + 1), across = f * N * (N + 1) + k;
    const int opposite = ((N - f) % N * N + (N - k) % N) * (N + 1);
    forward(z); // along inlines
    sync_frequency<N>();
    put(z, m.s, across, (N + 1));
    sync_frequency<N>();
    get(z, m.s, line, 1);
    forward(z); // along crosslines; now thread (f, wavenumber k along inlines)
    sync_frequency<N>();
    put(z, m.s, line, 1);
    __syncthreads();
    if (t.largest) {
        const float most = largest(z, m, opposite);
        atomicMax(&m.most, __float_as_uint(most));
        return false;
    }
    if (RULE == LITHO_PATCH_ENERGY)
        threshold_energy(t, z, m, f, k, opposite);
    else if (RULE == GUIDED)
        threshold_guided(t, z, m, g, f, k, opposite);
    else
        threshold_single(t, z, m, f, k, opposite);
    __syncthreads();
    inverse(z);
    put(z, m.s, line, 1);
    sync_frequency<N>();
    get(z, m.s, across, (N + 1));
    inverse(z);
    sync_frequency<N>();
    return true;
}

template <int N, int S, int RULE>
__global__ void __launch_bounds__(N *N, N <= 16   ? 3
                                        : N <= 20 ? 2
                                                  : 1)
    columns_kernel(const LithoPatchTask t, int row0)
{
    extern __shared__ __align__(16) unsigned char memory[];
    Shared<N, S> &m = *(Shared<N, S> *)memory;
    Guides<N> &g = *(Guides<N> *)(memory + sizeof(Shared<N, S>));
    const int column = blockIdx.x, row = row0 + blockIdx.y;
    const float share = t.share[(long long)row * t.count[1] + column];
    if (share <= 0)
        return;
    const int il = threadIdx.x / N, xl = threadIdx.x % N;
    const int il0 = litho_patch_start(t.g.axis[0], t.first[0] + row);
    const int xl0 = litho_patch_start(t.g.axis[1], t.first[1] + column);
    const long long di = il0 + il - t.region.lo[0], dj = xl0 + xl - t.region.lo[1];
    const bool writes = di >= 0 && di < t.region.n[0] && dj >= 0 && dj < t.region.n[1];
    const float w = t.taper[0][il] * t.taper[1][xl], back = w / (2.0f * N * N * N * share);
    const int t0 = litho_patch_start(t.g.axis[2], 2 * t.pair0);
    float *strip =
        t.largest ? nullptr : strip_at(t, row, column) + threadIdx.x * (long long)t.length;
    find_rows(t, m, il0, xl0);
    if (threadIdx.x < N)
        m.taper[threadIdx.x] = t.taper[2][threadIdx.x];
    if (threadIdx.x == 0)
        m.most = 0;
    __syncthreads();
    fetch<N, S>(t, m, t0, 0, N + S);
    float carry[N - S];
#pragma unroll
    for (int i = 0; i < N - S; i++)
        carry[i] = 0;
    int base = 0;
    for (int p = 0; p < t.pairs; p++) {
        Line<N> z;
        __pipeline_wait_prior(0);
        if (RULE == GUIDED && threadIdx.x < 2 * (N / 2 + 1))
            g.most[threadIdx.x / (N / 2 + 1)][threadIdx.x % (N / 2 + 1)] = 0;
        if (threadIdx.x < 2 * (N / 2 + 1))
            m.limit[threadIdx.x / (N / 2 + 1)][threadIdx.x % (N / 2 + 1)] =
                4 * limit_of(t, row, column, 2 * (t.pair0 + p) + threadIdx.x / (N / 2 + 1),
                             threadIdx.x % (N / 2 + 1), share);
        __syncthreads();
        load<N, S>(z, m, base, w);
        forward(z); // along time
        put(z, m.s, xl * (N + 1) + il, N * (N + 1));
        __syncthreads();
        if (p + 1 < t.pairs)
            fetch<N, S>(t, m, t0, N + S + p * 2 * S, 2 * S);
        get(z, m.s, threadIdx.x * (N + 1), 1); // now thread (f, xl), along inlines
        if (!filter<N, S, RULE>(t, z, m, g)) {
            __syncthreads();
            base = (base + 2 * S) % (N + S);
            continue;
        }
        put(z, m.s, threadIdx.x * (N + 1), 1);
        __syncthreads();
        get(z, m.s, xl * (N + 1) + il, N * (N + 1)); // thread (il, xl), frequencies
        inverse(z);
        unload<N, S>(z, m, carry, back, strip + (long long)p * 2 * S, writes);
        base = (base + 2 * S) % (N + S);
    }
    if (t.largest) {
        __syncthreads();
        if (threadIdx.x == 0)
            atomicMax(t.largest, m.most);
    } else if (writes) {
#pragma unroll
        for (int i = 0; i < N - S; i++)
            strip[(long long)t.pairs * 2 * S + i] = carry[i];
    }
}

template <int N, int S, int RULE>
int launch(const LithoPatchTask *t, int row, int rows, cudaStream_t stream)
{
    const int bytes = sizeof(Shared<N, S>) + (RULE == GUIDED ? sizeof(Guides<N>) : 0);
    const cudaError_t status = cudaFuncSetAttribute(
        columns_kernel<N, S, RULE>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (status != cudaSuccess)
        return (int)status;
    const dim3 grid((unsigned)t->count[1], (unsigned)rows);
    columns_kernel<N, S, RULE><<<grid, N * N, bytes, stream>>>(*t, row);
    return (int)cudaGetLastError();
}

template <int N, int S>
int launch_rule(const LithoPatchTask *t, int row, int rows, cudaStream_t stream)
{
    if (t->guided)
        return launch<N, S, GUIDED>(t, row, rows, stream);
    return t->rule == LITHO_PATCH_ENERGY ? launch<N, S, LITHO_PATCH_ENERGY>(t, row, rows, stream)
                                         : launch<N, S, LITHO_PATCH_SINGLE>(t, row, rows, stream);
}

} // namespace
