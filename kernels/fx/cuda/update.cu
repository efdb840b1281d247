// SPDX-License-Identifier: GPL-3.0-or-later
//
// The normal equations after absent traces took other predictions, without summing the others
// again. A product of two traces with change E = new - old and mean S = (new + old) / 2 changes by
//     conj(E(t)) S(u) + conj(S(t)) E(u),
// both parts exact. A thread takes one lag and one inline place a in the block: each changed trace
// t counts for all crossline places whose centre t - a is a design point, which a row of bits per
// trace and inline place tells. 27 changed traces of 26 x 26 make 1.7e4 products and 1e5 additions,
// where forming all equations takes 2e5 and 5e4; 10 kB read and 5 kB written a system.
#include "kernels/fx/cuda/equations.cuh"

enum { UPDATE_BINS = 8 };

// Shared memory of update_kernel, in bytes.
struct UpdateLayout {
    int tile, cov, matrix, changes, places, rows; // one after the other
    int most;                                     // changed traces
};

// One lag and one inline place of its first trace.
struct Task {
    unsigned char a_il, lag_il;
    signed char lag_xl;
};

// Lags along the crossline alone, and all others.
template <int H> struct Tasks {
    enum { W = 2 * H + 1, N = W * W + H * W * (2 * W - 1) };
    Task list[N];
};

// Places in order: threads that follow one another have the same rows of bits.
template <int H> __device__ static void list_tasks(Tasks<H> *tasks)
{
    constexpr int W = 2 * H + 1, M = 2 * H;
    for (int k = threadIdx.x; k < Tasks<H>::N; k += THREADS) {
        int a = 0, left = k;
        while (left >= W + (M - a) * (2 * W - 1))
            left -= W + (M - a++) * (2 * W - 1);
        tasks->list[k].a_il = (unsigned char)a;
        tasks->list[k].lag_il = (unsigned char)(left < W ? 0 : 1 + (left - W) / (2 * W - 1));
        tasks->list[k].lag_xl =
            (signed char)(left < W ? left : (left - W) % (2 * W - 1) - M);
    }
}

// Traces of the box that have a new prediction, as places in the tile, in order; how many.
__device__ static int list_changes(const LithoFxGroup &g, const LithoFxSpot &s, int pass, int il0,
                                   int xl0, int height, int width, int most, int *places,
                                   int *counts)
{
    const unsigned char *states =
        g.states[pass % 2] + (long long)s.tile * g.tile_il * g.tile_xl +
        (il0 - s.il0 + 2 * g.half_il) * g.tile_xl + xl0 - s.xl0 + 2 * g.half_xl;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int length = 0;
    for (int from = 0; from < height * width; from += THREADS) {
        const int k = from + threadIdx.x;
        const bool mine = k < height * width &&
                          states[k / width * g.tile_xl + k % width] == LITHO_FX_FILLED;
        const unsigned ballot = __ballot_sync(0xffffffffu, mine);
        __syncthreads(); // the last counts have been read
        if (lane == 0)
            counts[warp] = __popc(ballot);
        __syncthreads();
        int before = length;
        for (int w = 0; w < THREADS / 32; w++) {
            before += w < warp ? counts[w] : 0;
            length += counts[w];
        }
        before += __popc(ballot & ((1u << lane) - 1));
        if (mine && before < most)
            places[before] = k;
    }
    __syncthreads();
    return min(length, most);
}

// rows[change][inline place]: bit a of the crossline places is set where the centre is a design
// point.
template <int H>
__device__ static void fill_rows(const LithoFxGroup &g, const LithoFxSpot &s, int width, int n,
                                 const int *places, unsigned short *rows)
{
    constexpr int W = 2 * H + 1;
    for (int k = threadIdx.x; k < n * W; k += THREADS) {
        const int place = places[k / W];
        const int il = s.c_il0 + place / width - k % W; // of the centre
        unsigned bits = 0;
        for (int a = 0; a < W && il >= s.c_il0 && il < s.c_il1; a++) {
            const int xl = s.c_xl0 + place % width - a;
            if (xl >= s.c_xl0 && xl < s.c_xl1 && present_at(g, il, xl))
                bits |= 1u << a;
        }
        rows[k] = (unsigned short)bits;
    }
}

// Adds a product to the sums of the places in `bits`; `all`: those the lag has.
template <int W>
__device__ static inline void add_product(float2 w, unsigned bits, unsigned all, float2 *core,
                                          float2 (&sums)[W])
{
    if (bits == all) {
        *core = *core + w;
        return;
    }
#pragma unroll
    for (int a = 0; a < W; a++)
        if (bits >> a & 1)
            sums[a] = sums[a] + w;
}

template <int H>
__device__ static void update_lag(Task task, const float2 *tile, int width, int n,
                                  const int *places, const float2 *changes,
                                  const unsigned short *rows, float2 *cov)
{
    constexpr int W = 2 * H + 1;
    const int lag_xl = task.lag_xl, step = task.lag_il * width + lag_xl;
    const unsigned whole = (1u << W) - 1;
    const unsigned all = lag_xl >= 0 ? whole >> lag_xl : whole << -lag_xl & whole;
    const float2 none = make_float2(0, 0);
    float2 core = none, sums[W];
#pragma unroll
    for (int a = 0; a < W; a++)
        sums[a] = none;
    for (int k = 0; k < n; k++) {
        const unsigned row = rows[k * W + task.a_il + task.lag_il];
        const unsigned first = rows[k * W + task.a_il] & all;
        const unsigned second = (lag_xl >= 0 ? row >> lag_xl : row << -lag_xl) & all;
        if (first)
            add_product<W>(correlate(none, changes[k], tile[places[k] + step]), first, all, &core,
                           sums);
        if (second)
            add_product<W>(correlate(none, tile[places[k] - step], changes[k]), second, all, &core,
                           sums);
    }
    float2 *to = cov + lag_at(W * W, task.lag_il * W + lag_xl) + task.a_il * W;
#pragma unroll
    for (int a = 0; a < W; a++)
        if (all >> a & 1)
            to[a] = core + sums[a];
}

// The tile holds means where traces changed.
__device__ static void load_means(const LithoFxGroup &g, const LithoFxSpot &s, int bin, int pass,
                                  float scale, int il0, int xl0, int height, int width, int n,
                                  const int *places, float2 *tile, float2 *changes)
{
    const Source now = source_of(g, s, bin, pass), before = source_of(g, s, bin, pass + 1);
    for (int k = threadIdx.x; k < height * width; k += THREADS) {
        const float2 v = now(il0 + k / width, xl0 + k % width);
        tile[k] = make_float2(scale * v.x, scale * v.y);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += THREADS) {
        const int place = places[k];
        const float2 v = before(il0 + place / width, xl0 + place % width);
        const float2 a = make_float2(scale * v.x, scale * v.y), b = tile[place];
        changes[k] = make_float2(b.x - a.x, b.y - a.y);
        tile[place] = make_float2(0.5f * (a.x + b.x), 0.5f * (a.y + b.y));
    }
    __syncthreads();
}

template <int H>
__global__ void __launch_bounds__(THREADS, H <= 3 ? 6 : 2)
    update_kernel(LithoFxGroup g, UpdateLayout layout, int pass)
{
    constexpr int W = 2 * H + 1, SIZE = W * W, ROUNDED = (SIZE + 3) / 4 * 4;
    extern __shared__ float4 shared[];
    __shared__ Tasks<H> tasks;
    __shared__ int counts[THREADS / 32];
    char *at = (char *)shared;
    float *matrix = (float *)at;
    float2 *tile = (float2 *)(at += layout.matrix), *cov = (float2 *)(at += layout.tile);
    float2 *changes = (float2 *)(at += layout.cov);
    int *places = (int *)(at += layout.changes);
    unsigned short *rows = (unsigned short *)(at += layout.places);
    const LithoFxSpot s = g.spots[blockIdx.x];
    if (s.few == 0)
        return;
    const int il0 = s.c_il0 - H, xl0 = s.c_xl0 - H;
    const int height = s.c_il1 - s.c_il0 + 2 * H, width = s.c_xl1 - s.c_xl0 + 2 * H;
    list_tasks<H>(&tasks);
    const int n = list_changes(g, s, pass, il0, xl0, height, width, layout.most, places, counts);
    fill_rows<H>(g, s, width, n, places, rows);
    const int first = blockIdx.y * UPDATE_BINS, end = min(first + UPDATE_BINS, g.bins);
    for (int bin = first; bin < end && n > 0; bin++) {
        const long long system = system_of(g, blockIdx.x, bin);
        load_means(g, s, bin, pass, g.scales[system], il0, xl0, height, width, n, places, tile,
                   changes);
        for (int k = threadIdx.x; k < Tasks<H>::N; k += THREADS)
            update_lag<H>(tasks.list[k], tile, width, n, places, changes, rows, cov);
        __syncthreads();
        assemble<SIZE>(Covariances{cov, SIZE}, SIZE, matrix);
        __syncthreads();
        float4 *to = (float4 *)(g.matrix + system * g.matrix_pitch);
        for (int k = threadIdx.x; k < litho_fx_packed_size(ROUNDED) / 4; k += THREADS) {
            const float4 a = to[k], b = ((const float4 *)matrix)[k];
            to[k] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
        }
        __syncthreads();
    }
}

// --- launchers ----------------------------------------------------------------------------------

static int round_up(int n, int to)
{
    return (n + to - 1) / to * to;
}

static UpdateLayout layout_of(int h, int max_il, int max_xl, int most)
{
    const int width = 2 * h + 1, size = width * width;
    UpdateLayout l;
    l.matrix = round_up(4 * litho_fx_packed_size(litho_fx_round4(size)), 16);
    l.tile = round_up(8 * (max_il + 2 * h) * (max_xl + 2 * h), 16);
    l.cov = round_up(8 * (size * (size + 1) / 2), 16);
    l.changes = round_up(8 * most, 16);
    l.places = round_up(4 * most, 16);
    l.rows = round_up(2 * width * most, 16);
    l.most = most;
    return l;
}

template <int H>
static int launch(const LithoFxGroup *g, UpdateLayout l, int pass, cudaStream_t stream)
{
    const int bytes = l.matrix + l.tile + l.cov + l.changes + l.places + l.rows;
    cudaError_t status = cudaFuncSetAttribute(update_kernel<H>,
                                              cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (status != cudaSuccess)
        return (int)status;
    update_kernel<H>
        <<<dim3(g->n_spots, (g->bins + UPDATE_BINS - 1) / UPDATE_BINS), THREADS, bytes, stream>>>(
            *g, l, pass);
    return (int)cudaGetLastError();
}

int litho_fx_update(const LithoFxGroup *g, int max_il, int max_xl, int most, int pass,
                    cudaStream_t stream)
{
    const UpdateLayout l = layout_of(g->half_il, max_il, max_xl, most);
    switch (g->half_il) {
    case 1:
        return launch<1>(g, l, pass, stream);
    case 2:
        return launch<2>(g, l, pass, stream);
    case 3:
        return launch<3>(g, l, pass, stream);
    case 4:
        return launch<4>(g, l, pass, stream);
    default:
        return launch<5>(g, l, pass, stream);
    }
}
