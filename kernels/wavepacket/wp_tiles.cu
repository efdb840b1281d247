// SPDX-License-Identifier: GPL-3.0-or-later
//
// Interpolation between the fine grid and the lattices of all boxes, by tiles of the grid.
//
// Per point w^3 complex taps: 8 w^3 bytes of shared memory read (forward), 16 w^3 read and written
// (adjoint); 4 w^3 flops. Shared memory moves 128 B a clock per multiprocessor: that is the floor,
// 1.35 ms forward and 2.7 ms inverse for the 4.0e7 points of 256^3 on an H200.
//
// The points of a tile are laid out at plan time in steps of 32, one per lane. Each of the tile's 512
// cells (places of a first tap) belongs to one lane, and the cells of lane i and i + 16 are those
// that lie in bank i of the 16 banks of 8 bytes. So
//  - all lanes of a step have different first taps: while every lane adds to its tap (t1, t2, t3), no
//    two touch the same grid point, and a plain read-add-write by one warp is right without
//    atomics, always in the same order;
//  - no two lanes of a half warp ever meet in a bank, neither here nor in the gather.
// The price is idle lanes where the cells do not divide evenly: 11 % at 128^3.
#include "kernels/wavepacket/wp_cuda_kernels.h"

#define DEV __device__ __forceinline__

enum { COLUMNS = WP_TILE * WP_TILE, FRACTION_BITS = 18, FRACTION = 1 << FRACTION_BITS };

// Shared-memory strides, in complex numbers: the row stride is odd and the plane stride 8 modulo 16,
// so that the columns of a tile spread evenly over the 16 banks of 8 bytes.
template <int W> struct Tile {
    static const int side = WP_TILE + W - 1;
    static const int row = side | 1;
    static const int plane = (side * row + 7) / 16 * 16 + 8;
    static const int size = side * plane;
};

DEV int wrap(int l, int n)
{
    l %= n;
    return l < 0 ? l + n : l;
}

// --- plan -----------------------------------------------------------------------------------------

typedef struct Spot {
    int tile, cell, mirrored;
    double x[3];
} Spot;

// Where a point falls. The expression is the same in both passes of the plan.
DEV Spot locate(const WpDevGrid &g, const WpDevBox &b, uint32_t row, int j3)
{
    const int j1 = row / b.n[1], j2 = row % b.n[1];
    double at[3];
    for (int a = 0; a < 3; a++)
        at[a] = b.start[a] + j1 * b.step[0][a] + j2 * b.step[1][a] + j3 * b.step[2][a];
    Spot s;
    s.mirrored = at[2] < -WP_SNAP;
    int l[3];
    for (int a = 0; a < 3; a++) {
        double v = s.mirrored ? -at[a] : at[a], first = ceil(v - 0.5 * g.w - WP_SNAP);
        s.x[a] = v - first - 0.5 * (g.w - 1);
        l[a] = (int)first;
    }
    l[0] = wrap(l[0], g.nf[0]);
    l[1] = wrap(l[1], g.nf[1]);
    l[2] += g.offset3;
    s.tile = (l[0] / WP_TILE * g.tiles[1] + l[1] / WP_TILE) * g.tiles[2] + l[2] / WP_TILE;
    s.cell = (l[0] % WP_TILE * WP_TILE + l[1] % WP_TILE) * WP_TILE + l[2] % WP_TILE;
    return s;
}

// One warp a row.
static __global__ void count_points(WpDevGrid g, const WpDevBox *boxes, const WpDevRow *rows,
                             int64_t n_rows, const float *weights, uint32_t *counts)
{
    int64_t r = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / WP_WARP;
    if (r >= n_rows)
        return;
    const WpDevRow row = rows[r];
    for (int j = threadIdx.x % WP_WARP; j < row.count; j += WP_WARP) {
        if (weights[row.weight_at + j] == 0)
            continue;
        Spot s = locate(g, boxes[row.box], row.row, row.first + j);
        atomicAdd(&counts[(int64_t)s.tile * WP_TILE_CELLS + s.cell], 1u);
    }
}

// The cell (l1, l2) = column c whose first tap lies in `bank`, or -1. `row` is odd.
DEV int cell_in_bank(int c, int row, int bank)
{
    const int l3 = (bank - c % WP_TILE * row - 8 * (c / WP_TILE)) & 15;
    return l3 < WP_TILE ? c * WP_TILE + l3 : -1;
}

// One warp a tile, one lane a bank: shares the bank's 32 cells among lanes `bank` and `bank` + 16,
// the fullest first, each to the lane that has less. counts become the start of every cell in its
// lane's list.
static __global__ void assign_lanes(WpDevGrid g, uint32_t *counts, uint8_t *lanes, uint32_t *steps)
{
    const int bank = threadIdx.x, tile = blockIdx.x, row = (WP_TILE + g.w - 1) | 1;
    uint32_t *count = counts + (int64_t)tile * WP_TILE_CELLS, used[2] = {0, 0};
    uint8_t *lane = lanes + (int64_t)tile * WP_TILE_CELLS;
    if (bank < 16) {
        int cells[32], n = 0;
        for (int c = 0; c < COLUMNS; c++) {
            const int cell = cell_in_bank(c, row, bank);
            if (cell < 0)
                continue;
            int k = n++;
            for (; k > 0 && count[cell] > count[cells[k - 1]]; k--)
                cells[k] = cells[k - 1];
            cells[k] = cell;
        }
        for (int i = 0; i < n; i++) {
            const int half = used[1] < used[0];
            const uint32_t size = count[cells[i]];
            count[cells[i]] = used[half];
            lane[cells[i]] = (uint8_t)(bank + 16 * half);
            used[half] += size;
        }
    }
    uint32_t most = max(used[0], used[1]);
    for (int d = 16; d > 0; d /= 2)
        most = max(most, __shfl_xor_sync(~0u, most, d));
    if (threadIdx.x == 0)
        steps[tile] = most;
}

DEV uint64_t pack(const Spot &s)
{
    uint64_t place = (uint64_t)s.cell | (uint64_t)s.mirrored << 9;
    for (int a = 0; a < 3; a++) {
        int f = (int)rint((s.x[a] + 0.5) * FRACTION);
        f = min(max(f, 0), FRACTION - 1);
        place |= (uint64_t)f << (10 + FRACTION_BITS * a);
    }
    return place;
}

// After this pass a cursor stands behind its cell's last point.
static __global__ void place_points(WpDevGrid g, const WpDevBox *boxes, const WpDevRow *rows,
                             int64_t n_rows, const float *weights, uint32_t *cursors,
                             const uint8_t *lanes, const uint32_t *first_step, WpPoint *points)
{
    int64_t r = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / WP_WARP;
    if (r >= n_rows)
        return;
    const WpDevRow row = rows[r];
    const WpDevBox &b = boxes[row.box];
    for (int j = threadIdx.x % WP_WARP; j < row.count; j += WP_WARP) {
        const float weight = weights[row.weight_at + j];
        if (weight == 0)
            continue;
        Spot s = locate(g, b, row.row, row.first + j);
        uint32_t step = atomicAdd(&cursors[(int64_t)s.tile * WP_TILE_CELLS + s.cell], 1u);
        const int lane = lanes[(int64_t)s.tile * WP_TILE_CELLS + s.cell];
        WpPoint p = {b.at + row.row * (uint32_t)b.n[2] + row.first + j, weight, pack(s)};
        points[(int64_t)(first_step[s.tile] + step) * WP_WARP + lane] = p;
    }
}

// The points of a cell came in the order the atomics fell. Sorted by index the layout, and with it
// every sum, is the same each time the plan is made.
static __global__ void order_points(WpDevGrid g, const uint32_t *cursors, const uint8_t *lanes,
                             const uint32_t *first_step, WpPoint *points)
{
    const int tile = blockIdx.x, cell = threadIdx.x;
    const int lane = lanes[(int64_t)tile * WP_TILE_CELLS + cell];
    WpPoint *list = points + (int64_t)first_step[tile] * WP_WARP + lane;
    const uint32_t end = cursors[(int64_t)tile * WP_TILE_CELLS + cell];
    // Its first point: behind the last one of the cell before it in the lane's list. Walk back
    // while the points are of this cell.
    uint32_t start = end;
    while (start > 0 && (int)(list[(int64_t)(start - 1) * WP_WARP].place & 511) == cell)
        start--;
    for (uint32_t i = start + 1; i < end; i++) {
        WpPoint p = list[(int64_t)i * WP_WARP];
        uint32_t k = i;
        for (; k > start && list[(int64_t)(k - 1) * WP_WARP].index > p.index; k--)
            list[(int64_t)k * WP_WARP] = list[(int64_t)(k - 1) * WP_WARP];
        list[(int64_t)k * WP_WARP] = p;
    }
}

// --- taps -----------------------------------------------------------------------------------------

// psi at the W taps of one axis. psi is even, so taps t and W-1-t share their even and odd parts.
template <int W> DEV void taps(const WpDevKernel &k, float x, float v[W])
{
    const float q = x * x;
#pragma unroll
    for (int t = 0; t < (W + 1) / 2; t++) {
        float even = k.coef[WP_DEGREE - 1][t], odd = k.coef[WP_DEGREE][t];
#pragma unroll
        for (int d = WP_DEGREE - 3; d >= 0; d -= 2) {
            even = even * q + k.coef[d][t];
            odd = odd * q + k.coef[d + 1][t];
        }
        v[t] = 2 * t + 1 == W ? even : even + x * odd;
        v[W - 1 - t] = 2 * t + 1 == W ? even : even - x * odd;
    }
}

DEV float fraction(uint64_t place, int a)
{
    return (float)((place >> (10 + FRACTION_BITS * a)) & (FRACTION - 1)) * (1.0f / FRACTION) - 0.5f;
}

// Grid value under cell (i, j, k) of a tile; beyond the half spectrum U[-l] = conj U[l].
DEV float2 grid_value(const WpDevGrid &g, const float2 *u, int l1, int l2, int l3)
{
    const int mirrored = l3 < 0 || l3 >= g.half;
    if (mirrored) {
        l1 = l1 == 0 ? 0 : g.nf[0] - l1;
        l2 = l2 == 0 ? 0 : g.nf[1] - l2;
        l3 = l3 < 0 ? -l3 : g.nf[2] - l3;
    }
    // Corner tiles of a small grid reach further than any tap does.
    if (l3 < 0 || l3 >= g.half)
        return make_float2(0, 0);
    float2 v = u[((int64_t)l1 * g.nf[1] + l2) * g.half + l3];
    return mirrored ? make_float2(v.x, -v.y) : v;
}

// First grid point of a tile; l1, l2 in the grid, l3 may be negative.
DEV void tile_origin(const WpDevGrid &g, int tile, int o[3])
{
    o[0] = tile / (g.tiles[1] * g.tiles[2]) * WP_TILE;
    o[1] = tile / g.tiles[2] % g.tiles[1] * WP_TILE;
    o[2] = tile % g.tiles[2] * WP_TILE - g.offset3;
}

enum { GATHER_THREADS = 192 };

template <int W>
static __global__ void __launch_bounds__(GATHER_THREADS)
    gather_tiles(WpDevGrid g, const __grid_constant__ WpDevKernel kernel,
                 const float2 *__restrict__ u, const uint32_t *__restrict__ active,
                 const uint32_t *__restrict__ first_step, const WpPoint *__restrict__ points,
                 float2 *__restrict__ c)
{
    typedef Tile<W> T;
    extern __shared__ float2 s[];
    int o[3];
    tile_origin(g, active[blockIdx.x], o);
    for (int i = threadIdx.x; i < T::side * T::side * T::side; i += GATHER_THREADS) {
        const int i1 = i / (T::side * T::side), i2 = i / T::side % T::side, i3 = i % T::side;
        int l1 = o[0] + i1, l2 = o[1] + i2;
        l1 -= l1 >= g.nf[0] ? g.nf[0] : 0;
        l2 -= l2 >= g.nf[1] ? g.nf[1] : 0;
        s[i1 * T::plane + i2 * T::row + i3] = grid_value(g, u, l1, l2, o[2] + i3);
    }
    __syncthreads();
    const int64_t end = (int64_t)first_step[blockIdx.x + 1] * WP_WARP;
    for (int64_t i = (int64_t)first_step[blockIdx.x] * WP_WARP + threadIdx.x; i < end;
         i += GATHER_THREADS) {
        const WpPoint p = points[i];
        if (p.weight == 0)
            continue;
        float k1[W], k2[W], k3[W];
        taps<W>(kernel, fraction(p.place, 0), k1);
        taps<W>(kernel, fraction(p.place, 1), k2);
        taps<W>(kernel, fraction(p.place, 2), k3);
        const int cell = (int)(p.place & 511);
        const float2 *at = s + (cell >> 6) * T::plane + (cell >> 3 & 7) * T::row + (cell & 7);
        float re = 0, im = 0;
#pragma unroll
        for (int t1 = 0; t1 < W; t1++) {
            float re1 = 0, im1 = 0;
#pragma unroll
            for (int t2 = 0; t2 < W; t2++) {
                float re2 = 0, im2 = 0;
#pragma unroll
                for (int t3 = 0; t3 < W; t3++) {
                    const float2 v = at[t1 * T::plane + t2 * T::row + t3];
                    re2 += k3[t3] * v.x;
                    im2 += k3[t3] * v.y;
                }
                re1 += k2[t2] * re2;
                im1 += k2[t2] * im2;
            }
            re += k1[t1] * re1;
            im += k1[t1] * im1;
        }
        c[p.index] = make_float2(p.weight * re, (p.place >> 9 & 1 ? -p.weight : p.weight) * im);
    }
}

// A point's value with weight and, for the other half, conjugated.
DEV float2 weighted(const WpPoint &p, const float2 *c)
{
    if (p.weight == 0)
        return make_float2(0, 0);
    const float2 v = c[p.index];
    return make_float2(p.weight * v.x, (p.place >> 9 & 1 ? -p.weight : p.weight) * v.y);
}

// One warp a tile: its lanes never meet (see the head of the file), so nothing is atomic. The next
// step's point and value are on their way while this one is added.
template <int W>
static __global__ void __launch_bounds__(WP_WARP)
    spread_tiles(WpDevGrid g, const __grid_constant__ WpDevKernel kernel,
                 const float2 *__restrict__ c, const uint32_t *__restrict__ first_step,
                 const WpPoint *__restrict__ points, float2 *__restrict__ sums)
{
    typedef Tile<W> T;
    extern __shared__ float2 s[];
    const int lane = threadIdx.x;
    for (int i = lane; i < T::size; i += WP_WARP)
        s[i] = make_float2(0, 0);
    __syncwarp();
    const int first = first_step[blockIdx.x], end = first_step[blockIdx.x + 1];
    const WpPoint none = {0, 0, 0};
    WpPoint next = first < end ? points[(int64_t)first * WP_WARP + lane] : none;
    float2 next_value = weighted(next, c);
    WpPoint after = first + 1 < end ? points[(int64_t)(first + 1) * WP_WARP + lane] : none;
    for (int step = first; step < end; step++) {
        const WpPoint p = next;
        const float2 v = next_value;
        next = after;
        next_value = weighted(next, c);
        after = step + 2 < end ? points[(int64_t)(step + 2) * WP_WARP + lane] : none;
        float k1[W], k2[W], k3[W];
        taps<W>(kernel, fraction(p.place, 0), k1);
        taps<W>(kernel, fraction(p.place, 1), k2);
        taps<W>(kernel, fraction(p.place, 2), k3);
        const int cell = (int)(p.place & 511);
        float2 *at = s + (cell >> 6) * T::plane + (cell >> 3 & 7) * T::row + (cell & 7);
#pragma unroll
        for (int t1 = 0; t1 < W; t1++) {
            const float re = k1[t1] * v.x, im = k1[t1] * v.y;
#pragma unroll
            for (int t2 = 0; t2 < W; t2++) {
                float2 *row = at + t1 * T::plane + t2 * T::row;
                const float re2 = k2[t2] * re, im2 = k2[t2] * im;
#pragma unroll
                for (int t3 = 0; t3 < W; t3++) {
                    if (p.weight != 0) {
                        const float2 old = row[t3];
                        row[t3] = make_float2(old.x + k3[t3] * re2, old.y + k3[t3] * im2);
                    }
                    __syncwarp();
                }
            }
        }
    }
    float2 *out = sums + (int64_t)blockIdx.x * T::side * T::side * T::side;
    for (int i = lane; i < T::side * T::side * T::side; i += WP_WARP)
        out[i] = s[i / (T::side * T::side) * T::plane + i / T::side % T::side * T::row +
                   i % T::side];
}

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
                const float2 s = sums[(((int64_t)at * side + h1.local[a]) * side + h2.local[b]) *
                                          side + h3.local[k]];
                v.x += s.x;
                v.y += s.y;
            }
        }
    return v;
}

enum { COLLECT_L3 = 64, COLLECT_L2 = 4 };

template <int D>
static __global__ void __launch_bounds__(COLLECT_L3 *COLLECT_L2)
    collect_tiles(WpDevGrid g, const float2 *__restrict__ sums, const int32_t *__restrict__ slot,
                  float2 *__restrict__ u)
{
    const int l3 = blockIdx.x * COLLECT_L3 + threadIdx.x, l1 = blockIdx.z;
    const int l2 = blockIdx.y * COLLECT_L2 + threadIdx.y, side = WP_TILE + g.w - 1;
    if (l3 >= g.half || l2 >= g.nf[1])
        return;
    float2 v = sum_tiles<D>(g, sums, slot, Holders<D>(l1, g.nf[0], g.tiles[0], side, true),
                            Holders<D>(l2, g.nf[1], g.tiles[1], side, true), l3 + g.offset3);
    // What was added at -l, below the half spectrum or above it.
    const int below = g.offset3 - l3, above = g.nf[2] - l3 + g.offset3;
    if (below >= 0 || above < g.tiles[2] * WP_TILE + g.w - 1) {
        const Holders<D> h1(l1 ? g.nf[0] - l1 : 0, g.nf[0], g.tiles[0], side, true);
        const Holders<D> h2(l2 ? g.nf[1] - l2 : 0, g.nf[1], g.tiles[1], side, true);
        const float2 low = sum_tiles<D>(g, sums, slot, h1, h2, below);
        const float2 high = sum_tiles<D>(g, sums, slot, h1, h2, above);
        v.x += low.x + high.x;
        v.y -= low.y + high.y;
    }
    u[((int64_t)l1 * g.nf[1] + l2) * g.half + l3] = v;
}

// --- launchers --------------------------------------------------------------------------------------

enum { ROWS_PER_BLOCK = 8 };

static unsigned row_blocks(int64_t n_rows)
{
    return (unsigned)((n_rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK);
}

static unsigned tiles_of(const WpDevGrid *g)
{
    return (unsigned)g->tiles[0] * g->tiles[1] * g->tiles[2];
}

int wp_cuda_count(const WpDevGrid *g, const WpDevBox *boxes, const WpDevRow *rows, int64_t n_rows,
                  const float *weights, uint32_t *counts, cudaStream_t stream)
{
    count_points<<<row_blocks(n_rows), ROWS_PER_BLOCK * WP_WARP, 0, stream>>>(*g, boxes, rows,
                                                                               n_rows, weights,
                                                                               counts);
    return (int)cudaGetLastError();
}

int wp_cuda_assign(const WpDevGrid *g, uint32_t *counts, uint8_t *lanes, uint32_t *steps,
                   cudaStream_t stream)
{
    assign_lanes<<<tiles_of(g), WP_WARP, 0, stream>>>(*g, counts, lanes, steps);
    return (int)cudaGetLastError();
}

int wp_cuda_place(const WpDevGrid *g, const WpDevBox *boxes, const WpDevRow *rows, int64_t n_rows,
                  const float *weights, uint32_t *cursors, const uint8_t *lanes,
                  const uint32_t *first_step, WpPoint *points, cudaStream_t stream)
{
    place_points<<<row_blocks(n_rows), ROWS_PER_BLOCK * WP_WARP, 0, stream>>>(
        *g, boxes, rows, n_rows, weights, cursors, lanes, first_step, points);
    return (int)cudaGetLastError();
}

int wp_cuda_order(const WpDevGrid *g, const uint32_t *cursors, const uint8_t *lanes,
                  const uint32_t *first_step, WpPoint *points, cudaStream_t stream)
{
    order_points<<<tiles_of(g), WP_TILE_CELLS, 0, stream>>>(*g, cursors, lanes, first_step, points);
    return (int)cudaGetLastError();
}

template <int W>
static int gather(const WpDevGrid *g, const WpDevKernel *k, const float2 *u,
                  const uint32_t *active, const uint32_t *first_step, int n_active,
                  const WpPoint *points, float2 *c, cudaStream_t stream)
{
    const int bytes = Tile<W>::size * (int)sizeof(float2);
    cudaFuncSetAttribute(gather_tiles<W>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    gather_tiles<W><<<n_active, GATHER_THREADS, bytes, stream>>>(*g, *k, u, active, first_step,
                                                                 points, c);
    return (int)cudaGetLastError();
}

template <int W>
static int spread(const WpDevGrid *g, const WpDevKernel *k, const float2 *c,
                  const uint32_t *first_step, int n_active, const WpPoint *points, float2 *sums,
                  cudaStream_t stream)
{
    const int bytes = Tile<W>::size * (int)sizeof(float2);
    cudaFuncSetAttribute(spread_tiles<W>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    // All of the multiprocessor's memory as shared memory: the number of tiles in flight counts.
    cudaFuncSetAttribute(spread_tiles<W>, cudaFuncAttributePreferredSharedMemoryCarveout, 100);
    spread_tiles<W><<<n_active, WP_WARP, bytes, stream>>>(*g, *k, c, first_step, points, sums);
    return (int)cudaGetLastError();
}

#define EACH_WIDTH(call)                                                                           \
    switch (g->w) {                                                                                \
    case 4: return call(4);                                                                        \
    case 5: return call(5);                                                                        \
    case 6: return call(6);                                                                        \
    case 7: return call(7);                                                                        \
    case 8: return call(8);                                                                        \
    case 9: return call(9);                                                                        \
    case 10: return call(10);                                                                      \
    case 11: return call(11);                                                                      \
    default: return call(12);                                                                      \
    }

int wp_cuda_gather(const WpDevGrid *g, const WpDevKernel *k, const float2 *u,
                   const uint32_t *active, const uint32_t *first_step, int n_active,
                   const WpPoint *points, float2 *c, cudaStream_t stream)
{
#define GATHER(w) gather<w>(g, k, u, active, first_step, n_active, points, c, stream)
    EACH_WIDTH(GATHER)
}

int wp_cuda_spread(const WpDevGrid *g, const WpDevKernel *k, const float2 *c,
                   const uint32_t *first_step, int n_active, const WpPoint *points, float2 *sums,
                   cudaStream_t stream)
{
#define SPREAD(w) spread<w>(g, k, c, first_step, n_active, points, sums, stream)
    EACH_WIDTH(SPREAD)
}

int wp_cuda_collect(const WpDevGrid *g, const float2 *sums, const int32_t *slot, float2 *u,
                    cudaStream_t stream)
{
    const dim3 threads(COLLECT_L3, COLLECT_L2);
    const dim3 grid((g->half + COLLECT_L3 - 1) / COLLECT_L3, (g->nf[1] + COLLECT_L2 - 1) / COLLECT_L2,
                    g->nf[0]);
    // A grid that ends inside a tile has one more tile that wraps around to a point.
    if (g->w <= WP_TILE + 1 && g->nf[0] % WP_TILE == 0 && g->nf[1] % WP_TILE == 0)
        collect_tiles<2><<<grid, threads, 0, stream>>>(*g, sums, slot, u);
    else
        collect_tiles<4><<<grid, threads, 0, stream>>>(*g, sums, slot, u);
    return (int)cudaGetLastError();
}
