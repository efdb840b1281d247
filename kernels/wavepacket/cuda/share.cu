// SPDX-License-Identifier: GPL-3.0-or-later
//
// Exchange between the grids of several GPUs that share a volume. Every GPU has the whole fine grid
// in memory, filled where it needs it, and reads the others' over the link; nobody writes another's
// grid. A warp takes a row of the half spectrum at a time.
//
// Over the link into each of n GPUs, each way, at 256^3 (counted): planes to columns 32 MB with two
// GPUs, 19 to 28 MB with four; what tiles touch of the others' columns 23 to 36 and 16 to 44 MB. At
// the 310 GB/s that such reads reach between two H200 (copies: 370) that is 0.2 ms for either
// number.
#include "kernels/wavepacket/cuda/padding.cuh"

enum { WARP = 32, THREADS = 512, BLOCKS = 264, AHEAD = 4 };

// Rows 0 .. n-1, one a warp.
#define EACH_ROW(r, n)                                                                             \
    for (int r = (blockIdx.x * blockDim.x + threadIdx.x) / WARP; r < (n);                          \
         r += gridDim.x * blockDim.x / WARP)

// The share that has item i of n.
DEV int share_of(int i, int n, int shares)
{
    return (int)((((int64_t)i + 1) * shares - 1) / n);
}

DEV int64_t row_at(const WpDevGrid &g, int l1, int l2)
{
    return ((int64_t)l1 * g.nf[1] + l2) * g.half;
}

// Several loads are under way before the first is waited for: the link answers late.
DEV void copy_row(float2 *__restrict__ to, const float2 *__restrict__ from, int lo, int hi)
{
    for (int i = lo + threadIdx.x % WARP; i < hi; i += AHEAD * WARP) {
        float2 v[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            if (i + WARP * k < hi)
                v[k] = from[i + WARP * k];
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            if (i + WARP * k < hi)
                to[i + WARP * k] = v[k];
    }
}

DEV void clear_row(float2 *to, int lo, int hi)
{
    for (int i = lo + threadIdx.x % WARP; i < hi; i += WARP)
        to[i] = make_float2(0, 0);
}

DEV void copy_span(float2 *to, const float2 *from, WpSpan span, int half)
{
    clear_row(to, 0, span.lo);
    copy_row(to, from, span.lo, span.hi);
    clear_row(to, span.hi, half);
}

static __global__ void __launch_bounds__(THREADS)
    pull_planes(WpDevGrid g, WpShare s, int n1, const WpSpan *__restrict__ spans, WpPeers peers,
                float2 *u)
{
    EACH_ROW(r, g.nf[0] * s.columns)
    {
        // Neighbouring warps ask different GPUs.
        const int l1 = r % g.nf[0], l2 = s.column + r / g.nf[0], i = sample_of(l1, n1, g.nf[0]);
        const int64_t at = row_at(g, l1, l2);
        const int owner = i < 0 ? -1 : share_of(i, n1, s.of);
        if (owner < 0)
            clear_row(u + at, 0, g.half);
        else if (owner != s.k)
            copy_span(u + at, peers.u[owner] + at, spans[l2], g.half);
    }
}

static __global__ void __launch_bounds__(THREADS)
    pull_spans(WpDevGrid g, WpShare s, const WpSpan *__restrict__ spans, WpPeers peers, float2 *u)
{
    EACH_ROW(r, g.nf[0] * g.nf[1])
    {
        const int owner = share_of(r % g.nf[1], g.nf[1], s.of);
        const int64_t at = (int64_t)r * g.half;
        if (owner != s.k)
            copy_row(u + at, peers.u[owner] + at, spans[r].lo, spans[r].hi);
    }
}

static __global__ void __launch_bounds__(THREADS)
    sum_spans(WpDevGrid g, WpShare s, const WpSpan *__restrict__ spans, WpPeers peers, float2 *u)
{
    const int rows = g.nf[0] * g.nf[1];
    EACH_ROW(r, g.nf[0] * s.columns)
    {
        const int l1 = r / s.columns, l2 = s.column + r % s.columns;
        const int64_t at = row_at(g, l1, l2);
        for (int l3 = threadIdx.x % WARP; l3 < g.half; l3 += WARP) {
            float2 v = make_float2(0, 0);
#pragma unroll 4
            for (int k = 0; k < s.of; k++) {
                const WpSpan span = spans[(int64_t)k * rows + l1 * g.nf[1] + l2];
                const float2 x =
                    l3 >= span.lo && l3 < span.hi ? peers.u[k][at + l3] : make_float2(0, 0);
                v.x += x.x;
                v.y += x.y;
            }
            u[at + l3] = v;
        }
    }
}

static __global__ void __launch_bounds__(THREADS)
    pull_columns(WpDevGrid g, WpShare s, int n1, const WpSpan *__restrict__ spans, WpPeers peers,
                 float2 *u)
{
    EACH_ROW(r, s.samples * g.nf[1])
    {
        const int l2 = r % g.nf[1], owner = share_of(l2, g.nf[1], s.of);
        const int64_t at = row_at(g, padded_index(s.sample + r / g.nf[1], n1, g.nf[0]), l2);
        if (owner != s.k)
            copy_span(u + at, peers.u[owner] + at, spans[l2], g.half);
    }
}

// --- launchers -----------------------------------------------------------------------------------

int wp_cuda_pull_planes(const WpDevGrid *g, const WpShare *share, int n1, const WpSpan *spans,
                        const WpPeers *peers, float2 *u, cudaStream_t stream)
{
    pull_planes<<<BLOCKS, THREADS, 0, stream>>>(*g, *share, n1, spans, *peers, u);
    return (int)cudaGetLastError();
}

int wp_cuda_pull_spans(const WpDevGrid *g, const WpShare *share, const WpSpan *spans,
                       const WpPeers *peers, float2 *u, cudaStream_t stream)
{
    pull_spans<<<BLOCKS, THREADS, 0, stream>>>(*g, *share, spans, *peers, u);
    return (int)cudaGetLastError();
}

int wp_cuda_sum_spans(const WpDevGrid *g, const WpShare *share, const WpSpan *spans,
                      const WpPeers *peers, float2 *u, cudaStream_t stream)
{
    sum_spans<<<BLOCKS, THREADS, 0, stream>>>(*g, *share, spans, *peers, u);
    return (int)cudaGetLastError();
}

int wp_cuda_pull_columns(const WpDevGrid *g, const WpShare *share, int n1, const WpSpan *spans,
                         const WpPeers *peers, float2 *u, cudaStream_t stream)
{
    pull_columns<<<BLOCKS, THREADS, 0, stream>>>(*g, *share, n1, spans, *peers, u);
    return (int)cudaGetLastError();
}
