// SPDX-License-Identifier: GPL-3.0-or-later
//
// From the sums of the tiles to the fine grid: every grid point adds up what the tiles that reach
// it hold. Bytes: the sums once (their halos overlap: (12/8)^3 = 3.4 times the grid's active part),
// the half spectrum once.
#include "kernels/wavepacket/cuda/tiles.cuh"

// Tiles along one axis that hold grid point l, and where in them: the tile it lies in and those
// before it whose halo reaches it. D bounds their number; -1 = none.
template <int D> struct Holders {
    int tile[D], local[D];
    DEV Holders(int l, int n, int tiles, int side, bool periodic)
    {
        const int t = l / WP_TILE;
#pragma unroll
        for (int d = 0; d < D; d++) {
            int at = t - d;
            at += at < 0 && periodic ? tiles : 0;
            local[d] = l - at * WP_TILE;
            local[d] += local[d] < 0 ? n : 0;
            tile[d] = at >= 0 && at < tiles && d < tiles && local[d] < side ? at : -1;
        }
    }
};

// G at grid point l (l3 with its offset): the sum over the tiles that reach it.
template <int D>
DEV float2 sum_tiles(const WpDevGrid &g, const float2 *__restrict__ sums,
                     const int32_t *__restrict__ slot, const Holders<D> &h1, const Holders<D> &h2,
                     int l3)
{
    const int side = WP_TILE + g.w - 1;
    float2 v = make_float2(0, 0);
    if (l3 < 0 || l3 >= g.tiles[2] * WP_TILE + g.w - 1)
        return v;
    const Holders<D> h3(l3, 0, g.tiles[2], side, false);
#pragma unroll
    for (int a = 0; a < D; a++)
#pragma unroll
        for (int b = 0; b < D; b++) {
            if (h1.tile[a] < 0 || h2.tile[b] < 0)
                continue;
            const int32_t *row = slot + (h1.tile[a] * g.tiles[1] + h2.tile[b]) * g.tiles[2];
#pragma unroll
            for (int k = 0; k < D; k++) {
                const int at = h3.tile[k] < 0 ? -1 : row[h3.tile[k]];
                if (at < 0)
                    continue;
                const float2 s =
                    sums[(((int64_t)at * side + h1.local[a]) * side + h2.local[b]) * side +
                         h3.local[k]];
                v.x += s.x;
                v.y += s.y;
            }
        }
    return v;
}

enum { COLLECT_L3 = 64, COLLECT_L2 = 4 };

// Two neighbours along axis 3 a thread, both in the same tiles: half the look-ups.
template <int D>
DEV void sum_pair(const WpDevGrid &g, const float2 *__restrict__ sums,
                  const int32_t *__restrict__ slot, const Holders<D> &h1, const Holders<D> &h2,
                  int q, float2 v[2])
{
    const int side = WP_TILE + g.w - 1;
    v[0] = v[1] = make_float2(0, 0);
    const Holders<D> h3(q, 0, g.tiles[2], side + 1, false);
#pragma unroll
    for (int a = 0; a < D; a++)
#pragma unroll
        for (int b = 0; b < D; b++) {
            if (h1.tile[a] < 0 || h2.tile[b] < 0)
                continue;
            const int32_t *row = slot + (h1.tile[a] * g.tiles[1] + h2.tile[b]) * g.tiles[2];
#pragma unroll
            for (int k = 0; k < D; k++) {
                const int at = h3.tile[k] < 0 ? -1 : row[h3.tile[k]];
                if (at < 0)
                    continue;
                const int local = h3.local[k];
                const float2 *s =
                    sums + (((int64_t)at * side + h1.local[a]) * side + h2.local[b]) * side + local;
                if (local < side) {
                    const float2 x = s[0];
                    v[0].x += x.x;
                    v[0].y += x.y;
                }
                if (local + 1 < side) {
                    const float2 x = s[1];
                    v[1].x += x.x;
                    v[1].y += x.y;
                }
            }
        }
}

template <int D>
static __global__ void __launch_bounds__(COLLECT_L3 *COLLECT_L2)
    collect_pairs(WpDevGrid g, const float2 *__restrict__ sums, const int32_t *__restrict__ slot,
                  const WpSpan *__restrict__ spans, float2 *__restrict__ u)
{
    // q counts from the first tile's first grid point, so that pairs never straddle tiles.
    const int q = 2 * (blockIdx.x * COLLECT_L3 + threadIdx.x) + (g.offset3 & ~1), l1 = blockIdx.z;
    const int l2 = blockIdx.y * COLLECT_L2 + threadIdx.y, side = WP_TILE + g.w - 1;
    if (q - g.offset3 >= g.half || l2 >= g.nf[1])
        return;
    WpSpan span = {0, (uint16_t)g.half};
    if (spans)
        span = spans[l1 * g.nf[1] + l2];
    if (q + 1 - g.offset3 < span.lo || q - g.offset3 >= span.hi)
        return;
    float2 v[2];
    sum_pair<D>(g, sums, slot, Holders<D>(l1, g.nf[0], g.tiles[0], side, true),
                Holders<D>(l2, g.nf[1], g.tiles[1], side, true), q, v);
    for (int h = 0; h < 2; h++) {
        const int l3 = q + h - g.offset3;
        if (l3 < span.lo || l3 >= span.hi)
            continue;
        const int below = g.offset3 - l3, above = g.nf[2] - l3 + g.offset3;
        if (below >= 0 || above < g.tiles[2] * WP_TILE + g.w - 1) {
            const Holders<D> h1(l1 ? g.nf[0] - l1 : 0, g.nf[0], g.tiles[0], side, true);
            const Holders<D> h2(l2 ? g.nf[1] - l2 : 0, g.nf[1], g.tiles[1], side, true);
            const float2 low = sum_tiles<D>(g, sums, slot, h1, h2, below);
            const float2 high = sum_tiles<D>(g, sums, slot, h1, h2, above);
            v[h].x += low.x + high.x;
            v[h].y -= low.y + high.y;
        }
        u[((int64_t)l1 * g.nf[1] + l2) * g.half + l3] = v[h];
    }
}

// --- launcher ------------------------------------------------------------------------------------

int wp_cuda_collect(const WpDevGrid *g, const float2 *sums, const int32_t *slot,
                    const WpSpan *spans, float2 *u, cudaStream_t stream)
{
    const dim3 threads(COLLECT_L3, COLLECT_L2);
    const dim3 grid((g->half / 2 + 1 + COLLECT_L3) / COLLECT_L3,
                    (g->nf[1] + COLLECT_L2 - 1) / COLLECT_L2, g->nf[0]);
    // A grid that ends inside a tile has one more tile that wraps around to a point.
    if (g->w <= WP_TILE + 1 && g->nf[0] % WP_TILE == 0 && g->nf[1] % WP_TILE == 0)
        collect_pairs<2><<<grid, threads, 0, stream>>>(*g, sums, slot, spans, u);
    else
        collect_pairs<4><<<grid, threads, 0, stream>>>(*g, sums, slot, spans, u);
    return (int)cudaGetLastError();
}
