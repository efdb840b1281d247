// SPDX-License-Identifier: GPL-3.0-or-later
//
// Interpolation between the fine grid and the lattices of all boxes, by tiles of the grid that sit
// in shared memory with their halo; cuda/layout.cu describes in which order the points come.
//
// Per point w^3 complex taps, 4 w^3 flops. One point at a time that would be 8 w^3 bytes of shared
// memory read (forward), 16 w^3 read and written (adjoint), at 128 B a clock per
// multiprocessor 1.35 and 2.7 ms for the 4.2e7 points of 256^3 on an H200. Points of one cell are
// taken up to four at a time, which divides the adjoint's bytes by 2.4. What bounds it then is the
// chain of read, add and write behind each other; the gather issues an instruction in 69 of 100
// clocks.
#include "kernels/wavepacket/cuda/tiles.cuh"

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

// A point's value with weight and, for the other half, conjugated.
DEV float2 weighted(const WpPoint &p, const float2 *c)
{
    if (p.weight == 0)
        return make_float2(0, 0);
    const float2 v = c[p.index];
    return make_float2(p.weight * v.x, (p.place >> 9 & 1 ? -p.weight : p.weight) * v.y);
}

// Walks a tile's rounds in groups of at most P steps: all points a lane has in a group are of one
// cell. The same in all lanes of a warp.
struct Walk {
    int mine; // lane r: steps of round r
    int round, left, step;
    DEV Walk(const uint32_t *rounds, uint32_t first)
        : mine(rounds[threadIdx.x % WP_ROUNDS]), round(-1), left(0), step((int)first)
    {
    }
    // Steps of the next group, which begins with step *at; 0 = that was all. Rounds are never
    // longer than the ones before.
    template <int P> DEV int take(int *at)
    {
        if (left == 0) {
            if (++round >= WP_ROUNDS)
                return 0;
            left = __shfl_sync(~0u, mine, round);
        }
        *at = step;
        if (left == 0) {
            round = WP_ROUNDS;
            return 0;
        }
        const int groups = (left + P - 1) / P, n = (left + groups - 1) / groups;
        step += n;
        left -= n;
        return n;
    }
};

template <int P>
DEV void load_points(const WpPoint *__restrict__ points, int at, int n, WpPoint p[P])
{
    const int lane = threadIdx.x % WP_WARP;
    const WpPoint none = {0, 0, 0};
#pragma unroll
    for (int j = 0; j < P; j++)
        p[j] = j < n ? points[(int64_t)(at + j) * WP_WARP + lane] : none;
}

// Tap t of an axis, t the same in all lanes.
DEV float one_tap(const WpDevKernel &k, float x, int t)
{
    float v = k.coef[WP_DEGREE][t];
#pragma unroll
    for (int d = WP_DEGREE - 1; d >= 0; d--)
        v = v * x + k.coef[d][t];
    return v;
}

// Adds N points of one cell to the tile: what would be N visits to a grid point is one.
template <int W, int N>
DEV void add_group(const WpDevKernel &kernel, const uint64_t place[], const float2 v[], bool here,
                   float2 *s)
{
    typedef Tile<W> T;
    float k2[N][W], k3[N][W], x1[N];
#pragma unroll
    for (int j = 0; j < N; j++) {
        x1[j] = fraction(place[j], 0);
        taps<W>(kernel, fraction(place[j], 1), k2[j]);
        taps<W>(kernel, fraction(place[j], 2), k3[j]);
    }
    const int cell = (int)(place[0] & 511);
    float2 *at = s + (cell >> 6) * T::plane + (cell >> 3 & 7) * T::row + (cell & 7);
#pragma unroll 1
    for (int t1 = 0; t1 < W; t1++, at += T::plane) {
        float re[N], im[N];
#pragma unroll
        for (int j = 0; j < N; j++) {
            const float k1 = one_tap(kernel, x1[j], t1);
            re[j] = k1 * v[j].x;
            im[j] = k1 * v[j].y;
        }
#pragma unroll
        for (int t2 = 0; t2 < W; t2++) {
            float re2[N], im2[N];
#pragma unroll
            for (int j = 0; j < N; j++) {
                re2[j] = k2[j][t2] * re[j];
                im2[j] = k2[j][t2] * im[j];
            }
#pragma unroll
            for (int t3 = 0; t3 < W; t3++) {
                float a = k3[0][t3] * re2[0], b = k3[0][t3] * im2[0];
#pragma unroll
                for (int j = 1; j < N; j++) {
                    a += k3[j][t3] * re2[j];
                    b += k3[j][t3] * im2[j];
                }
                if (here) {
                    const float2 old = at[t2 * T::row + t3];
                    at[t2 * T::row + t3] = make_float2(old.x + a, old.y + b);
                }
                __syncwarp();
            }
        }
    }
}

template <int W, int N>
DEV void add_groups(int n, const WpDevKernel &kernel, const uint64_t place[], const float2 v[],
                    bool here, float2 *s)
{
    if constexpr (N > 1) {
        if (n < N) {
            add_groups<W, N - 1>(n, kernel, place, v, here, s);
            return;
        }
    }
    add_group<W, N>(kernel, place, v, here, s);
}

template <int W, int P>
static __global__ void __launch_bounds__(WP_WARP)
    spread_groups(WpDevGrid g, const __grid_constant__ WpDevKernel kernel,
                  const float2 *__restrict__ c, const uint32_t *__restrict__ active,
                  const uint32_t *__restrict__ first_step, const uint32_t *__restrict__ rounds,
                  const WpPoint *__restrict__ points, float2 *__restrict__ sums)
{
    typedef Tile<W> T;
    extern __shared__ float2 s[];
    const int lane = threadIdx.x;
    for (int i = lane; i < T::size; i += WP_WARP)
        s[i] = make_float2(0, 0);
    __syncwarp();
    Walk walk(rounds + (int64_t)active[blockIdx.x] * WP_ROUNDS, first_step[blockIdx.x]);
    WpPoint after[P];
    uint64_t next_place[P];
    float2 next[P];
    bool next_here;
    int step, n_next = walk.take<P>(&step);
    load_points<P>(points, step, n_next, after);
#define FETCH_VALUES                                                                               \
    next_here = after[0].weight != 0;                                                              \
    _Pragma("unroll") for (int j = 0; j < P; j++)                                                  \
    {                                                                                              \
        next[j] = weighted(after[j], c);                                                           \
        next_place[j] = after[j].place;                                                            \
    }
    FETCH_VALUES
    int n_after = walk.take<P>(&step);
    load_points<P>(points, step, n_after, after);
    while (n_next > 0) {
        uint64_t place[P];
        float2 v[P];
        const bool here = next_here;
        const int n = n_next;
#pragma unroll
        for (int j = 0; j < P; j++) {
            place[j] = next_place[j];
            v[j] = next[j];
        }
        FETCH_VALUES
        n_next = n_after;
        n_after = n_after > 0 ? walk.take<P>(&step) : 0;
        load_points<P>(points, step, n_after, after);
        add_groups<W, P>(n, kernel, place, v, here, s);
    }
#undef FETCH_VALUES
    float2 *out = sums + (int64_t)blockIdx.x * T::side * T::side * T::side;
    for (int i = lane; i < T::side * T::side * T::side; i += WP_WARP)
        out[i] =
            s[i / (T::side * T::side) * T::plane + i / T::side % T::side * T::row + i % T::side];
}

// N points of one cell: every grid value is read once for all of them.
template <int W, int N>
DEV void read_group(const WpDevKernel &kernel, const WpPoint p[], const float2 *s, float2 *c)
{
    typedef Tile<W> T;
    float k2[N][W], k3[N][W], re[N], im[N];
#pragma unroll
    for (int j = 0; j < N; j++) {
        taps<W>(kernel, fraction(p[j].place, 1), k2[j]);
        taps<W>(kernel, fraction(p[j].place, 2), k3[j]);
        re[j] = im[j] = 0;
    }
    const int cell = (int)(p[0].place & 511);
    const float2 *at = s + (cell >> 6) * T::plane + (cell >> 3 & 7) * T::row + (cell & 7);
#pragma unroll 1
    for (int t1 = 0; t1 < W; t1++, at += T::plane) {
        float re1[N], im1[N];
#pragma unroll
        for (int j = 0; j < N; j++)
            re1[j] = im1[j] = 0;
#pragma unroll
        for (int t2 = 0; t2 < W; t2++) {
            float re2[N], im2[N];
#pragma unroll
            for (int j = 0; j < N; j++)
                re2[j] = im2[j] = 0;
#pragma unroll
            for (int t3 = 0; t3 < W; t3++) {
                const float2 v = at[t2 * T::row + t3];
#pragma unroll
                for (int j = 0; j < N; j++) {
                    re2[j] += k3[j][t3] * v.x;
                    im2[j] += k3[j][t3] * v.y;
                }
            }
#pragma unroll
            for (int j = 0; j < N; j++) {
                re1[j] += k2[j][t2] * re2[j];
                im1[j] += k2[j][t2] * im2[j];
            }
        }
#pragma unroll
        for (int j = 0; j < N; j++) {
            const float k1 = one_tap(kernel, fraction(p[j].place, 0), t1);
            re[j] += k1 * re1[j];
            im[j] += k1 * im1[j];
        }
    }
#pragma unroll
    for (int j = 0; j < N; j++)
        if (p[j].weight != 0)
            c[p[j].index] = make_float2(p[j].weight * re[j],
                                        (p[j].place >> 9 & 1 ? -p[j].weight : p[j].weight) * im[j]);
}

template <int W, int N>
DEV void read_groups(int n, const WpDevKernel &kernel, const WpPoint p[], const float2 *s,
                     float2 *c)
{
    if constexpr (N > 1) {
        if (n < N) {
            read_groups<W, N - 1>(n, kernel, p, s, c);
            return;
        }
    }
    read_group<W, N>(kernel, p, s, c);
}

enum { GATHER_THREADS = 128, GATHER_WARPS = GATHER_THREADS / WP_WARP };

// This warp's next group: every GATHER_WARPS-th. `turn` = groups of others before it.
template <int P> DEV int take_own(Walk &walk, int &turn, int *at)
{
    int n;
    do
        n = walk.take<P>(at);
    while (n > 0 && turn-- > 0);
    turn = GATHER_WARPS - 1;
    return n;
}

// The warps of a block share a tile's groups in turns. The next group's points are on their way
// while this one is summed.
template <int W, int P>
static __global__ void __launch_bounds__(GATHER_THREADS)
    gather_groups(WpDevGrid g, const __grid_constant__ WpDevKernel kernel,
                  const float2 *__restrict__ u, const uint32_t *__restrict__ active,
                  const uint32_t *__restrict__ first_step, const uint32_t *__restrict__ rounds,
                  const WpPoint *__restrict__ points, float2 *__restrict__ c)
{
    typedef Tile<W> T;
    extern __shared__ float2 s[];
    int o[3];
    const int tile = active[blockIdx.x];
    tile_origin(g, tile, o);
    for (int i = threadIdx.x; i < T::side * T::side * T::side; i += GATHER_THREADS) {
        const int i1 = i / (T::side * T::side), i2 = i / T::side % T::side, i3 = i % T::side;
        int l1 = o[0] + i1, l2 = o[1] + i2;
        l1 -= l1 >= g.nf[0] ? g.nf[0] : 0;
        l2 -= l2 >= g.nf[1] ? g.nf[1] : 0;
        s[i1 * T::plane + i2 * T::row + i3] = grid_value(g, u, l1, l2, o[2] + i3);
    }
    Walk walk(rounds + (int64_t)tile * WP_ROUNDS, first_step[blockIdx.x]);
    int step, turn = threadIdx.x / WP_WARP, n = take_own<P>(walk, turn, &step);
    WpPoint next[P];
    load_points<P>(points, step, n, next);
    __syncthreads();
    while (n > 0) {
        WpPoint p[P];
        const int now = n;
#pragma unroll
        for (int j = 0; j < P; j++)
            p[j] = next[j];
        n = take_own<P>(walk, turn, &step);
        load_points<P>(points, step, n, next);
        read_groups<W, P>(now, kernel, p, s, c);
    }
}

// --- launchers -----------------------------------------------------------------------------------

template <typename K> static int allow_shared(K kernel, int bytes)
{
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    // All of the multiprocessor's memory as shared memory: the number of tiles in flight counts.
    cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100);
    return bytes;
}

// Points of a cell that are taken at a time: as many as the registers hold without fewer warps in
// flight. With 1 .. 6 at W = 5 the
// adjoint takes 4.0, 2.9, 2.4, 2.3, 2.8, 4.0 ms at 256^3 on an H200, the gather 2.2, 1.8, 1.8 ms
// with 1 .. 3.
template <int W> struct Group {
    static const int spread = W <= 6 ? 4 : W <= 8 ? 3 : 2;
    static const int gather = 2;
};

template <int W>
static int gather(const WpDevGrid *g, const WpDevKernel *k, const float2 *u, const uint32_t *active,
                  const uint32_t *first_step, const uint32_t *rounds, int n_active,
                  const WpPoint *points, float2 *c, cudaStream_t stream)
{
    const int bytes = Tile<W>::size * (int)sizeof(float2);
    allow_shared(gather_groups<W, Group<W>::gather>, bytes);
    gather_groups<W, Group<W>::gather><<<n_active, GATHER_THREADS, bytes, stream>>>(
        *g, *k, u, active, first_step, rounds, points, c);
    return (int)cudaGetLastError();
}

template <int W>
static int spread(const WpDevGrid *g, const WpDevKernel *k, const float2 *c, const uint32_t *active,
                  const uint32_t *first_step, const uint32_t *rounds, int n_active,
                  const WpPoint *points, float2 *sums, cudaStream_t stream)
{
    const int bytes = Tile<W>::size * (int)sizeof(float2);
    allow_shared(spread_groups<W, Group<W>::spread>, bytes);
    spread_groups<W, Group<W>::spread>
        <<<n_active, WP_WARP, bytes, stream>>>(*g, *k, c, active, first_step, rounds, points, sums);
    return (int)cudaGetLastError();
}

#define EACH_WIDTH(call)                                                                           \
    switch (g->w) {                                                                                \
    case 4:                                                                                        \
        return call(4);                                                                            \
    case 5:                                                                                        \
        return call(5);                                                                            \
    case 6:                                                                                        \
        return call(6);                                                                            \
    case 7:                                                                                        \
        return call(7);                                                                            \
    case 8:                                                                                        \
        return call(8);                                                                            \
    case 9:                                                                                        \
        return call(9);                                                                            \
    case 10:                                                                                       \
        return call(10);                                                                           \
    case 11:                                                                                       \
        return call(11);                                                                           \
    default:                                                                                       \
        return call(12);                                                                           \
    }

int wp_cuda_gather(const WpDevGrid *g, const WpDevKernel *k, const float2 *u,
                   const uint32_t *active, const uint32_t *first_step, const uint32_t *rounds,
                   int n_active, const WpPoint *points, float2 *c, cudaStream_t stream)
{
#define GATHER(w) gather<w>(g, k, u, active, first_step, rounds, n_active, points, c, stream)
    EACH_WIDTH(GATHER)
}

int wp_cuda_spread(const WpDevGrid *g, const WpDevKernel *k, const float2 *c,
                   const uint32_t *active, const uint32_t *first_step, const uint32_t *rounds,
                   int n_active, const WpPoint *points, float2 *sums, cudaStream_t stream)
{
#define SPREAD(w) spread<w>(g, k, c, active, first_step, rounds, n_active, points, sums, stream)
    EACH_WIDTH(SPREAD)
}
