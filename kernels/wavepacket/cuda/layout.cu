// SPDX-License-Identifier: GPL-3.0-or-later
//
// The points of all boxes laid out by tiles of the fine grid, once per plan.
//
// A tile's points come in steps of 32, one per lane of a warp. Each of the tile's 512 cells (places
// of a first tap) belongs to one lane, and the cells of lanes i and i + 16 are those that lie in
// bank i of the 16 banks of 8 bytes. A lane takes its cells one after the other, the fullest first,
// all lanes at the same time: round r of a tile is every lane's r-th cell, as many steps as the
// fullest of them has points. So
//  - all lanes of a step have different first taps: while every lane adds to its tap (t1, t2, t3),
//  no
//    two touch the same grid point, and a plain read-add-write by one warp is right without
//    atomics, always in the same order;
//  - no two lanes of a half warp ever meet in a bank;
//  - a lane's points within a round are of one cell (3.2 of them at 256^3), so that what they add
//  to
//    a grid point can be summed first, and what they read of it is read once.
// The price is idle lanes where cells hold fewer points than the fullest: 18 % at 256^3.
#include "kernels/wavepacket/cuda/tiles.cuh"

enum { COLUMNS = WP_TILE * WP_TILE };

DEV int wrap(int l, int n)
{
    l %= n;
    return l < 0 ? l + n : l;
}

typedef struct Spot {
    int tile, cell, mirrored;
    double x[3];
} Spot;

// Place of a point. The expression is the same in both passes of the plan.
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
static __global__ void count_points(WpDevGrid g, const WpDevBox *boxes, int n_boxes,
                                    int64_t n_rows, const float *weights, uint32_t *counts)
{
    int64_t r = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / WP_WARP;
    if (r >= n_rows)
        return;
    const WpDevBox &b = boxes[box_of_row(boxes, n_boxes, r)];
    const uint32_t row = (uint32_t)(r - b.first_row), first = b.at + row * (uint32_t)b.n[2];
    for (int j = threadIdx.x % WP_WARP; j < b.n[2]; j += WP_WARP) {
        if (weights[first + j] == 0)
            continue;
        Spot s = locate(g, b, row, j);
        atomicAdd(&counts[(int64_t)s.tile * WP_TILE_CELLS + s.cell], 1u);
    }
}

// The cell (l1, l2) = column c whose first tap lies in `bank`, or -1. `row` is odd.
DEV int cell_in_bank(int c, int row, int bank)
{
    const int l3 = (bank - c % WP_TILE * row - 8 * (c / WP_TILE)) & 15;
    return l3 < WP_TILE ? c * WP_TILE + l3 : -1;
}

// One warp a tile, one lane a bank: the bank's 32 cells, the fullest first, go in turns to lanes
// `bank` and `bank` + 16. Round r of a tile is every lane's r-th cell, rounds[tile][r] the most
// points any of them has; rounds lie behind each other, and counts become the step each cell begins
// with.
static __global__ void assign_lanes(WpDevGrid g, uint32_t *counts, uint8_t *lanes, uint32_t *steps,
                                    uint32_t *rounds)
{
    __shared__ uint32_t count[WP_TILE_CELLS];
    __shared__ uint16_t sorted[2 * WP_ROUNDS][16];
    const int bank = threadIdx.x, tile = blockIdx.x, row = (WP_TILE + g.w - 1) | 1;
    uint32_t *counted = counts + (int64_t)tile * WP_TILE_CELLS, at = 0;
    uint8_t *lane = lanes + (int64_t)tile * WP_TILE_CELLS;
    uint32_t any = 0;
    for (int c = bank; c < WP_TILE_CELLS; c += WP_WARP)
        any |= count[c] = counted[c];
    __syncwarp();
    if (!__any_sync(~0u, any)) { // everything begins with step 0
        for (int r = bank; r < WP_ROUNDS; r += WP_WARP)
            rounds[(int64_t)tile * WP_ROUNDS + r] = 0;
        if (bank == 0)
            steps[tile] = 0;
        return;
    }
    int n = 0;
    for (int c = 0; bank < 16 && c < COLUMNS; c++) {
        const int cell = cell_in_bank(c, row, bank);
        if (cell < 0)
            continue;
        int k = n++;
        for (; k > 0 && count[cell] > count[sorted[k - 1][bank]]; k--)
            sorted[k][bank] = sorted[k - 1][bank];
        sorted[k][bank] = (uint16_t)cell;
    }
    for (int r = 0; r < WP_ROUNDS; r++) {
        uint32_t most = bank < 16 ? count[sorted[2 * r][bank]] : 0;
        for (int d = 16; d > 0; d /= 2)
            most = max(most, __shfl_xor_sync(~0u, most, d));
        for (int h = 0; bank < 16 && h < 2; h++) {
            counted[sorted[2 * r + h][bank]] = at;
            lane[sorted[2 * r + h][bank]] = (uint8_t)(bank + 16 * h);
        }
        if (bank == 0)
            rounds[(int64_t)tile * WP_ROUNDS + r] = most;
        at += most;
    }
    if (bank == 0)
        steps[tile] = at;
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
static __global__ void place_points(WpDevGrid g, const WpDevBox *boxes, int n_boxes,
                                    int64_t n_rows, const float *weights, uint32_t *cursors,
                                    const uint8_t *lanes, const uint32_t *first_step,
                                    WpPoint *points)
{
    int64_t r = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / WP_WARP;
    if (r >= n_rows)
        return;
    const WpDevBox &b = boxes[box_of_row(boxes, n_boxes, r)];
    const uint32_t row = (uint32_t)(r - b.first_row), first = b.at + row * (uint32_t)b.n[2];
    for (int j = threadIdx.x % WP_WARP; j < b.n[2]; j += WP_WARP) {
        const float weight = weights[first + j];
        if (weight == 0)
            continue;
        Spot s = locate(g, b, row, j);
        uint32_t step = atomicAdd(&cursors[(int64_t)s.tile * WP_TILE_CELLS + s.cell], 1u);
        const int lane = lanes[(int64_t)s.tile * WP_TILE_CELLS + s.cell];
        WpPoint p = {first + j, weight, pack(s)};
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
    // The cell's first point: walk back while the points are of this cell.
    uint32_t start = end;
    for (; start > 0; start--) {
        const WpPoint &p = list[(int64_t)(start - 1) * WP_WARP];
        if (p.weight == 0 || (int)(p.place & 511) != cell)
            break;
    }
    for (uint32_t i = start + 1; i < end; i++) {
        WpPoint p = list[(int64_t)i * WP_WARP];
        uint32_t k = i;
        for (; k > start && list[(int64_t)(k - 1) * WP_WARP].index > p.index; k--)
            list[(int64_t)k * WP_WARP] = list[(int64_t)(k - 1) * WP_WARP];
        list[(int64_t)k * WP_WARP] = p;
    }
}

// --- launchers -----------------------------------------------------------------------------------

enum { ROWS_PER_BLOCK = 8 };

static unsigned row_blocks(int64_t n_rows)
{
    return (unsigned)((n_rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK);
}

static unsigned tiles_of(const WpDevGrid *g)
{
    return (unsigned)g->tiles[0] * g->tiles[1] * g->tiles[2];
}

int wp_cuda_count(const WpDevGrid *g, const WpDevBox *boxes, int n_boxes, int64_t n_rows,
                  const float *weights, uint32_t *counts, cudaStream_t stream)
{
    count_points<<<row_blocks(n_rows), ROWS_PER_BLOCK * WP_WARP, 0, stream>>>(
        *g, boxes, n_boxes, n_rows, weights, counts);
    return (int)cudaGetLastError();
}

int wp_cuda_assign(const WpDevGrid *g, uint32_t *counts, uint8_t *lanes, uint32_t *steps,
                   uint32_t *rounds, cudaStream_t stream)
{
    assign_lanes<<<tiles_of(g), WP_WARP, 0, stream>>>(*g, counts, lanes, steps, rounds);
    return (int)cudaGetLastError();
}

int wp_cuda_place(const WpDevGrid *g, const WpDevBox *boxes, int n_boxes, int64_t n_rows,
                  const float *weights, uint32_t *cursors, const uint8_t *lanes,
                  const uint32_t *first_step, WpPoint *points, cudaStream_t stream)
{
    place_points<<<row_blocks(n_rows), ROWS_PER_BLOCK * WP_WARP, 0, stream>>>(
        *g, boxes, n_boxes, n_rows, weights, cursors, lanes, first_step, points);
    return (int)cudaGetLastError();
}

int wp_cuda_order(const WpDevGrid *g, const uint32_t *cursors, const uint8_t *lanes,
                  const uint32_t *first_step, WpPoint *points, cudaStream_t stream)
{
    order_points<<<tiles_of(g), WP_TILE_CELLS, 0, stream>>>(*g, cursors, lanes, first_step, points);
    return (int)cudaGetLastError();
}
