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

// Point l3 of row (l1, l2): its own sum, and those of the half beyond the spectrum's faces.
template <int D>
DEV float2 with_mirrored(const WpDevGrid &g, const float2 *__restrict__ sums,
                         const int32_t *__restrict__ slot, int l1, int l2, int l3, float2 v)
{
    const int side = WP_TILE + g.w - 1;
    const int below = g.offset3 - l3, above = g.nf[2] - l3 + g.offset3;
    if (below < 0 && above >= g.tiles[2] * WP_TILE + g.w - 1)
        return v;
    const Holders<D> h1(l1 ? g.nf[0] - l1 : 0, g.nf[0], g.tiles[0], side, true);
    const Holders<D> h2(l2 ? g.nf[1] - l2 : 0, g.nf[1], g.tiles[1], side, true);
    const float2 low = sum_tiles<D>(g, sums, slot, h1, h2, below);
    const float2 high = sum_tiles<D>(g, sums, slot, h1, h2, above);
    return make_float2(v.x + low.x + high.x, v.y - low.y - high.y);
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
        u[((int64_t)l1 * g.nf[1] + l2) * g.half + l3] =
            with_mirrored<D>(g, sums, slot, l1, l2, l3, v[h]);
    }
}

// --- grids of whole tiles ------------------------------------------------------------------------

enum { PAIRS = WP_TILE / 2, TILE_THREADS = WP_TILE * WP_TILE * PAIRS };

// The sum at `at` and the `second` one behind it. Tiles and their rows begin at multiples of 16
// bytes where a tile's side is EVEN, and then its halo ends behind a pair.
template <bool EVEN> DEV float4 pair_at(const float2 *at, bool second)
{
    if (EVEN)
        return *(const float4 *)at;
    const float2 next = second ? at[1] : make_float2(0, 0);
    return make_float4(at[0].x, at[0].y, next.x, next.y);
}

// A block has the grid points of tile (blockIdx.z, blockIdx.y, blockIdx.x), a thread two neighbours
// along axis 3 of them, local numbers i, j, k and k + 1. The tile itself holds their sums, and the
// halos of the seven before it do where they reach so far: every byte is read once. HOLDERS are
// asked for together, and then their sums are: one after the other they would wait 16 times.
enum { HOLDERS = 8 };

// Places of both points among the sums of holder `h`; -1 = it does not reach them.
DEV int64_t place_in(const WpDevGrid &g, const int32_t *__restrict__ slot, int h, int i, int j,
                     int k)
{
    const int a = h >> 2, b = h >> 1 & 1, c = h & 1, side = WP_TILE + g.w - 1;
    const int halo = g.w - 1;
    const int t1 = blockIdx.z >= (unsigned)a ? (int)blockIdx.z - a : g.tiles[0] - 1;
    const int t2 = blockIdx.y >= (unsigned)b ? (int)blockIdx.y - b : g.tiles[1] - 1;
    const int t3 = (int)blockIdx.x - c;
    const bool near = (a == 0 || (i < halo && g.tiles[0] > 1)) &&
                      (b == 0 || (j < halo && g.tiles[1] > 1)) && (c == 0 || k < halo) &&
                      t3 >= 0 && t3 < g.tiles[2];
    const int at = near ? slot[(t1 * g.tiles[1] + t2) * g.tiles[2] + t3] : -1;
    return at < 0 ? -1
                  : (((int64_t)at * side + i + a * WP_TILE) * side + j + b * WP_TILE) * side + k +
                        c * WP_TILE;
}

template <bool EVEN>
DEV float4 sum_tile(const WpDevGrid &g, const float2 *__restrict__ sums,
                    const int32_t *__restrict__ slot, int i, int j, int k)
{
    int64_t at[HOLDERS];
    float4 s[HOLDERS], v = make_float4(0, 0, 0, 0);
#pragma unroll
    for (int h = 0; h < HOLDERS; h++)
        at[h] = place_in(g, slot, h, i, j, k);
#pragma unroll
    for (int h = 0; h < HOLDERS; h++)
        s[h] = at[h] >= 0 ? pair_at<EVEN>(sums + at[h], h % 2 == 0 || k + 1 < g.w - 1)
                          : make_float4(0, 0, 0, 0);
#pragma unroll
    for (int h = 0; h < HOLDERS; h++)
        v = make_float4(v.x + s[h].x, v.y + s[h].y, v.z + s[h].z, v.w + s[h].w);
    return v;
}

template <bool EVEN>
static __global__ void __launch_bounds__(TILE_THREADS)
    collect_tiles(WpDevGrid g, const float2 *__restrict__ sums, const int32_t *__restrict__ slot,
                  const WpSpan *__restrict__ spans, float2 *__restrict__ u)
{
    const int k = 2 * (threadIdx.x % PAIRS), j = threadIdx.x / PAIRS % WP_TILE;
    const int i = threadIdx.x / PAIRS / WP_TILE;
    const int l1 = blockIdx.z * WP_TILE + i, l2 = blockIdx.y * WP_TILE + j;
    const int l3 = (int)blockIdx.x * WP_TILE + k - g.offset3;
    const int64_t row = (int64_t)l1 * g.nf[1] + l2;
    WpSpan span = {0, (uint16_t)g.half};
    if (spans)
        span = spans[row];
    if (l3 + 1 < span.lo || l3 >= span.hi)
        return;
    const float4 v = sum_tile<EVEN>(g, sums, slot, i, j, k);
    if (l3 >= span.lo)
        u[row * g.half + l3] =
            with_mirrored<2>(g, sums, slot, l1, l2, l3, make_float2(v.x, v.y));
    if (l3 + 1 < span.hi)
        u[row * g.half + l3 + 1] =
            with_mirrored<2>(g, sums, slot, l1, l2, l3 + 1, make_float2(v.z, v.w));
}

static void launch_tiles(const WpDevGrid *g, const float2 *sums, const int32_t *slot,
                         const WpSpan *spans, float2 *u, cudaStream_t stream)
{
    const dim3 grid((g->half + g->offset3 + WP_TILE - 1) / WP_TILE, g->nf[1] / WP_TILE,
                    g->nf[0] / WP_TILE);
    (g->w % 2 ? collect_tiles<true>
              : collect_tiles<false>)<<<grid, TILE_THREADS, 0, stream>>>(*g, sums, slot, spans, u);
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
        launch_tiles(g, sums, slot, spans, u, stream);
    else
        collect_pairs<4><<<grid, threads, 0, stream>>>(*g, sums, slot, spans, u);
    return (int)cudaGetLastError();
}
