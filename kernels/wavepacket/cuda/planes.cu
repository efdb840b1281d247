// SPDX-License-Identifier: GPL-3.0-or-later
//
// Single planes of the adjoint. Along the axis that a plane lies across the inverse transform is a
// sum with phases at one sample. Every tile is summed up by itself, from its side^3 values to side^2
// a plane, and the tiles of a column then are: all sums have one order. Bytes: the tiles' sums
// once, a twelfth of them a plane written and read (w = 5).
#include "kernels/wavepacket/cuda/padding.cuh"

enum { REDUCE_THREADS = 128, COLLECT_THREADS = 64, CROP_THREADS = 128 };

DEV void add_turned(float2 &sum, float2 v, float2 turn)
{
    sum.x += v.x * turn.x - v.y * turn.y;
    sum.y += v.x * turn.y + v.y * turn.x;
}

// --- tiles ---------------------------------------------------------------------------------------

// Value number o of the tile's part of a plane across axis a. `row` is odd: threads whose rows
// differ meet in no bank.
DEV float2 sum_tile_across(const float2 *s, int side, int row, int a, int o, const float2 *turn)
{
    const int first = o / side, second = o % side, plane = side * row;
    const float2 *at = a == 0   ? s + first * row + second
                       : a == 1 ? s + first * plane + second
                                : s + first * plane + second * row;
    const int step = a == 0 ? plane : a == 1 ? row : 1;
    float2 sum = make_float2(0, 0);
    for (int m = 0; m < side; m++)
        add_turned(sum, at[m * step], turn[m]);
    return sum;
}

// A block a tile. Shared memory: the tile, and the phases of all planes along it.
static __global__ void __launch_bounds__(REDUCE_THREADS)
    reduce_tiles(WpDevGrid g, const __grid_constant__ WpDevPlanes planes,
                 const uint32_t *__restrict__ active, const float2 *__restrict__ sums,
                 float2 *__restrict__ reduced)
{
    extern __shared__ float2 s[];
    const int side = WP_TILE + g.w - 1, row = side | 1, all = side * side * side;
    const int tile = active[blockIdx.x];
    const int t[3] = {tile / (g.tiles[1] * g.tiles[2]), tile / g.tiles[2] % g.tiles[1],
                      tile % g.tiles[2]};
    const float2 *from = sums + (int64_t)blockIdx.x * all;
    float2 *turns = s + side * side * row;
    for (int i = threadIdx.x; i < all; i += REDUCE_THREADS)
        s[i / side * row + i % side] = from[i];
    for (int i = threadIdx.x; i < planes.n * side; i += REDUCE_THREADS) {
        const int k = i / side, a = planes.axis[k];
        turns[i] = planes.turn[k][(a == 0 ? t[0] : a == 1 ? t[1] : t[2]) * WP_TILE + i % side];
    }
    __syncthreads();
    float2 *to = reduced + (int64_t)blockIdx.x * planes.n * side * side;
    for (int k = 0; k < planes.n; k++)
        for (int o = threadIdx.x; o < side * side; o += REDUCE_THREADS)
            to[k * side * side + o] =
                sum_tile_across(s, side, row, planes.axis[k], o, turns + k * side);
}

int wp_cuda_reduce_tiles(const WpDevGrid *g, const WpDevPlanes *planes, const uint32_t *active,
                         int n_active, const float2 *sums, float2 *reduced, cudaStream_t stream)
{
    const int side = WP_TILE + g->w - 1;
    const int bytes = (side * side * (side | 1) + planes->n * side) * (int)sizeof(float2);
    cudaFuncSetAttribute(reduce_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    reduce_tiles<<<n_active, REDUCE_THREADS, bytes, stream>>>(*g, *planes, active, sums, reduced);
    return (int)cudaGetLastError();
}

// --- columns of tiles ----------------------------------------------------------------------------

// A plane's tiles: along its rows and columns, and from one to the next along the axis across.
typedef struct Columns {
    int rows, columns;            // grid points
    int row_tiles, column_tiles;  // along them
    int row_step, column_step;    // in `slot`
    int across, across_step;      // tiles along the axis, in `slot`
    int offset;                   // first grid point of the columns' first tile is -offset
    int wraps;                    // the columns' tiles go around
} Columns;

// Tiles that hold grid point l of an axis: number d before the one that it lies in; -1 = none.
// *local: where in the tile.
DEV int holder(int l, int d, int n, int tiles, int side, int wraps, int *local)
{
    int at = l / WP_TILE - d;
    if (l < 0 || d >= tiles)
        return -1;
    at += at < 0 && wraps ? tiles : 0;
    *local = l - at * WP_TILE;
    *local += *local < 0 ? n : 0;
    return at >= 0 && at < tiles && *local < side ? at : -1;
}

// Sum over the tiles of a column; `place`: of the value in a tile's part.
DEV float2 sum_column(const Columns &c, const float2 *__restrict__ reduced,
                      const int32_t *__restrict__ slot, int first, int64_t part, int place)
{
    float2 v = make_float2(0, 0);
#pragma unroll 4
    for (int t = 0; t < c.across; t++) {
        const int at = slot[first + t * c.across_step];
        if (at < 0)
            continue;
        const float2 x = reduced[at * part + place];
        v.x += x.x;
        v.y += x.y;
    }
    return v;
}

// A thread a grid point of the plane. The kernel reaches over at most this many tiles.
enum { HOLDERS = 4 };

static __global__ void __launch_bounds__(COLLECT_THREADS)
    collect_plane(Columns c, int side, int n_planes, int k, const float2 *__restrict__ reduced,
                  const int32_t *__restrict__ slot, float2 *__restrict__ spectrum)
{
    const int column = blockIdx.x * COLLECT_THREADS + threadIdx.x, row = blockIdx.y;
    const int64_t part = (int64_t)n_planes * side * side;
    float2 v = make_float2(0, 0);
    if (column >= c.columns)
        return;
    for (int a = 0; a < HOLDERS; a++) {
        int i, j;
        const int row_tile = holder(row, a, c.rows, c.row_tiles, side, 1, &i);
        if (row_tile < 0)
            continue;
        // Along axis 3 the tiles lie around zero, and the other half of the spectrum is empty but
        // for halos.
        for (int turn = c.wraps ? 0 : -1; turn <= (c.wraps ? 0 : 1); turn++)
            for (int b = 0; b < HOLDERS; b++) {
                const int column_tile = holder(column + c.offset + turn * c.columns, b, c.columns,
                                               c.column_tiles, side, c.wraps, &j);
                if (column_tile < 0)
                    continue;
                const float2 x =
                    sum_column(c, reduced, slot, row_tile * c.row_step + column_tile * c.column_step,
                               part, (k * side + i) * side + j);
                v.x += x.x;
                v.y += x.y;
            }
    }
    spectrum[(int64_t)row * c.columns + column] = v;
}

int wp_cuda_collect_plane(const WpDevGrid *g, const WpDevPlanes *planes, int k,
                          const float2 *reduced, const int32_t *slot, float2 *spectrum,
                          cudaStream_t stream)
{
    const int a = planes->axis[k], rows = a == 0 ? 1 : 0, columns = a == 2 ? 1 : 2;
    const int step[3] = {g->tiles[1] * g->tiles[2], g->tiles[2], 1};
    const Columns c = {g->nf[rows],
                       g->nf[columns],
                       g->tiles[rows],
                       g->tiles[columns],
                       step[rows],
                       step[columns],
                       g->tiles[a],
                       step[a],
                       columns == 2 ? g->offset3 : 0,
                       columns != 2};
    const dim3 grid((c.columns + COLLECT_THREADS - 1) / COLLECT_THREADS, c.rows);
    collect_plane<<<grid, COLLECT_THREADS, 0, stream>>>(c, WP_TILE + g->w - 1, planes->n, k,
                                                        reduced, slot, spectrum);
    return (int)cudaGetLastError();
}

// --- the residual box ----------------------------------------------------------------------------

enum { SUM_THREADS = 128 };

// Of real values half the spectrum is stored: what stands for two counts twice in the real part.
DEV float times_counted(int k, int n)
{
    return k == 0 || 2 * k == n ? 1 : 2;
}

// Across axis 1 or 2, a thread a value: numbers m = 0 .. across-1 lie `step` apart, rows `row`.
// What lies beyond the half stays empty.
static __global__ void __launch_bounds__(SUM_THREADS)
    sum_residual(int n, int across, int64_t step, int64_t row, const float2 *__restrict__ u,
                 const float2 *__restrict__ turn, float2 *__restrict__ spectrum)
{
    const int k = blockIdx.x * SUM_THREADS + threadIdx.x, half = n / 2 + 1;
    float2 sum = make_float2(0, 0);
    if (k >= n)
        return;
    if (k < half) {
        const float2 *from = u + blockIdx.y * row + k;
#pragma unroll 8
        for (int m = 0; m < across; m++)
            add_turned(sum, from[m * step], turn[m]);
        sum.x *= times_counted(k, n);
        sum.y *= times_counted(k, n);
    }
    spectrum[(int64_t)blockIdx.y * n + k] = sum;
}

// Across axis 3, a warp a row.
static __global__ void __launch_bounds__(SUM_THREADS)
    sum_residual_rows(int n, int64_t rows, const float2 *__restrict__ u,
                      const float2 *__restrict__ turn, float2 *__restrict__ spectrum)
{
    const int lane = threadIdx.x % WP_WARP, half = n / 2 + 1;
    const int64_t at = (int64_t)blockIdx.x * (SUM_THREADS / WP_WARP) + threadIdx.x / WP_WARP;
    float2 sum = make_float2(0, 0);
    if (at >= rows)
        return;
    for (int k = lane; k < half; k += WP_WARP) {
        const float2 t = turn[k];
        const float f = times_counted(k, n);
        add_turned(sum, u[at * half + k], make_float2(f * t.x, f * t.y));
    }
    for (int d = WP_WARP / 2; d > 0; d /= 2) {
        sum.x += __shfl_down_sync(~0u, sum.x, d);
        sum.y += __shfl_down_sync(~0u, sum.y, d);
    }
    if (lane == 0)
        spectrum[at] = sum;
}

int wp_cuda_sum_residual(const int n[3], const WpDevPlanes *planes, int k, const float2 *u,
                         float2 *spectrum, cudaStream_t stream)
{
    const int a = planes->axis[k], half = n[2] / 2 + 1;
    const int64_t rows = (int64_t)n[0] * n[1], plane = (int64_t)n[1] * half;
    const int warps = SUM_THREADS / WP_WARP;
    if (a == 2)
        sum_residual_rows<<<(unsigned)((rows + warps - 1) / warps), SUM_THREADS, 0, stream>>>(
            n[2], rows, u, planes->residual_turn[k], spectrum);
    else
        sum_residual<<<dim3((n[2] + SUM_THREADS - 1) / SUM_THREADS, n[1 - a]), SUM_THREADS, 0,
                       stream>>>(n[2], n[a], a == 0 ? plane : half, a == 0 ? half : plane, u,
                                 planes->residual_turn[k], spectrum);
    return (int)cudaGetLastError();
}

// --- samples -------------------------------------------------------------------------------------

typedef struct Sizes {
    int n[3], m[3];
} Sizes;

typedef struct Scales {
    const float *axis[3];
} Scales;

// Axes of a plane's rows and columns.
DEV int rows_of(int axis)
{
    return axis == 0 ? 1 : 0;
}

DEV int columns_of(int axis)
{
    return axis == 2 ? 1 : 2;
}

static __global__ void crop_plane(Sizes s, int axis, int at, Scales scale,
                                  const float2 *__restrict__ from, float *__restrict__ to)
{
    const int rows = rows_of(axis), columns = columns_of(axis);
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j >= s.n[columns])
        return;
    const float v = from[(int64_t)padded_index(i, s.n[rows], s.m[rows]) * s.m[columns] +
                         padded_index(j, s.n[columns], s.m[columns])]
                        .x;
    const int64_t place = (int64_t)i * s.n[columns] + j;
    if (scale.axis[0])
        to[place] = v * scale.axis[axis][at] * scale.axis[rows][i] * scale.axis[columns][j];
    else
        to[place] += v;
}

static Sizes sizes_of(const int n[3], const int m[3])
{
    const Sizes s = {{n[0], n[1], n[2]}, {m[0], m[1], m[2]}};
    return s;
}

static dim3 blocks_of_plane(const int n[3], int axis)
{
    return dim3((n[axis == 2 ? 1 : 2] + CROP_THREADS - 1) / CROP_THREADS, n[axis == 0 ? 1 : 0]);
}

int wp_cuda_crop_plane(const int n[3], const int m[3], int axis, int at,
                       const float *const scale[3], const float2 *from, float *to,
                       cudaStream_t stream)
{
    Scales scales = {{0, 0, 0}};
    for (int a = 0; a < 3 && scale; a++)
        scales.axis[a] = scale[a];
    crop_plane<<<blocks_of_plane(n, axis), CROP_THREADS, 0, stream>>>(sizes_of(n, m), axis, at,
                                                                      scales, from, to);
    return (int)cudaGetLastError();
}

// n, m: the volume's and the block's sizes, which begins at `first`.
static __global__ void drop_plane(Sizes s, int axis, int at, const float *__restrict__ volume,
                                  int first_row, int first_column, const float *__restrict__ part,
                                  float *__restrict__ to)
{
    const int rows = rows_of(axis), columns = columns_of(axis);
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j >= s.n[columns])
        return;
    const int x[3] = {axis == 0 ? at : i, axis == 1 ? at : axis == 0 ? i : j, axis == 2 ? at : j};
    float v = volume[((int64_t)x[0] * s.n[1] + x[1]) * s.n[2] + x[2]];
    if (part)
        v -= part[(int64_t)(i - first_row) * s.m[columns] + j - first_column];
    to[(int64_t)i * s.n[columns] + j] = v;
}

int wp_cuda_drop_plane(const int n[3], int axis, int at, const float *volume, const int m[3],
                       const int first[3], const float *part, float *to, cudaStream_t stream)
{
    drop_plane<<<blocks_of_plane(n, axis), CROP_THREADS, 0, stream>>>(
        sizes_of(n, m), axis, at, volume, first[axis == 0 ? 1 : 0], first[axis == 2 ? 1 : 2], part,
        to);
    return (int)cudaGetLastError();
}
