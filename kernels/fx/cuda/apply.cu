// SPDX-License-Identifier: GPL-3.0-or-later
//
// Predictions from the filters (fx.md section 5), one block of threads a system (a part of it for
// windows beyond 32 x 32 traces). A thread predicts ROWS traces of a column: it keeps the column of
// the tile in registers while the taps pass by. 400 x 48 complex multiply-adds a system of 20 x 20
// traces and 48 taps; 5.4 kB read, 3.2 kB written.
#include "kernels/fx/cuda/device.cuh"

enum { THREADS = 96, ROWS = 5, PART = 32, FILL_THREADS = 128, FILL_BINS = 4 };

// A rectangle of traces in shared memory, with their states when they are not all live.
struct Tile {
    const float2 *at;
    const unsigned char *states; // NULL: live inside the survey
    int il0, xl0, width, n_il, n_xl;

    __device__ float2 value(int il, int xl) const
    {
        return at[(long long)(il - il0) * width + xl - xl0];
    }
    __device__ int state(int il, int xl) const
    {
        if (il < 0 || il >= n_il || xl < 0 || xl >= n_xl)
            return LITHO_FX_OUTSIDE;
        return states ? states[(il - il0) * width + xl - xl0] : LITHO_FX_LIVE;
    }
};

// All that the spot may ask for, in device memory: blocks moved inside the survey may leave the
// part of a window that a block of threads holds.
__device__ static Tile everything(const LithoFxGroup &g, const LithoFxSpot &s, int bin, int pass)
{
    Tile tile = {(const float2 *)g.spectra + bin * g.plane,
                 NULL,
                 g.held.il0,
                 g.held.xl0,
                 g.held.n_xl,
                 g.n_il,
                 g.n_xl};
    if (s.tile >= 0) {
        tile.at = (const float2 *)g.tiles[pass % 2] + tile_at(g, s, bin);
        tile.states = g.states[pass % 2] + (long long)s.tile * g.tile_il * g.tile_xl;
        tile.il0 = s.il0 - 2 * g.half_il;
        tile.xl0 = s.xl0 - 2 * g.half_xl;
        tile.width = g.tile_xl;
    }
    return tile;
}

// TRUE when a neighbour takes part; outside the survey counts as zeros when edges are zeros.
__device__ static inline bool there(const LithoFxGroup &g, int state)
{
    return state == LITHO_FX_LIVE || state == LITHO_FX_FILLED ||
           (state == LITHO_FX_OUTSIDE && g.edge == LITHO_FX_ZERO);
}

// Factor of a prediction over some of the neighbours: sum |h| over the sum of the present ones.
__device__ static float rescale(const LithoFxGroup &g, const Tile &tile, const float2 *taps, int il,
                                int xl)
{
    float all = 0, present = 0;
    int n = 0;
    for (int y = -g.half_il; y <= g.half_il; y++)
        for (int x = -g.half_xl; x <= g.half_xl; x++, n++) {
            const float magnitude = sqrtf(taps[n].x * taps[n].x + taps[n].y * taps[n].y);
            all += magnitude;
            if (there(g, tile.state(il + y, xl + x)))
                present += magnitude;
        }
    return 8 * present <= all ? 8.0f : all / present;
}

// Place `number` of the block centred at (il, xl) from the neighbours that are there, and from
// itself where its filter says so. FALSE: fewer than an eighth of them are.
__device__ static bool predict(const LithoFxGroup &g, const Tile &tile, const float2 *taps, int il,
                               int xl, int number, float2 *out)
{
    float2 sum = make_float2(0, 0);
    int found = 0, n = 0;
    for (int y = -g.half_il; y <= g.half_il; y++)
#pragma unroll 4
        for (int x = -g.half_xl; x <= g.half_xl; x++, n++) {
            if (!there(g, tile.state(il + y, xl + x)))
                continue;
            const float2 h = taps[n], d = tile.value(il + y, xl + x);
            sum.x = fmaf(h.x, d.x, sum.x);
            sum.x = fmaf(-h.y, d.y, sum.x);
            sum.y = fmaf(h.x, d.y, sum.y);
            sum.y = fmaf(h.y, d.x, sum.y);
            found += n != number;
        }
    if (found < g.size - 1 && 8 * found >= g.size - 1) {
        const float ratio = rescale(g, tile, taps, il, xl);
        sum.x *= ratio;
        sum.y *= ratio;
    }
    *out = sum;
    return 8 * found >= g.size - 1;
}

// The filter and the centre of the block that predicts (il, xl).
__device__ static inline const float2 *filter_at(const LithoFxGroup &g, const LithoFxSpot &s,
                                                 const float2 *taps, int il, int xl, int *c_il,
                                                 int *c_xl, int *number)
{
    int d_il = 0, d_xl = 0;
    if (g.edge == LITHO_FX_FIT) {
        d_il = il - min(max(il, g.half_il), g.n_il - 1 - g.half_il);
        d_xl = xl - min(max(xl, g.half_xl), g.n_xl - 1 - g.half_xl);
    }
    *c_il = il - d_il;
    *c_xl = xl - d_xl;
    *number = g.size / 2 + d_il * (2 * g.half_xl + 1) + d_xl;
    return taps + ((d_il - s.d_il0) * (s.d_xl1 - s.d_xl0 + 1) + d_xl - s.d_xl0) * g.size;
}

__device__ static inline const float2 *taps_of(const LithoFxGroup &g, const LithoFxSpot &s, int bin)
{
    return (const float2 *)g.taps + ((long long)bin * g.n_slots + s.slot) * g.size;
}

// --- centred predictions ------------------------------------------------------------------------

// ROWS traces below one another, the first at `at` (its block's corner), from taps in shared
// memory.
template <int H>
__device__ static void predict_rows(const float2 *at, int pitch, const float2 *taps, float2 *out)
{
    constexpr int W = 2 * H + 1;
#pragma unroll
    for (int k = 0; k < ROWS; k++)
        out[k] = make_float2(0, 0);
    for (int x = 0; x < W; x++) {
        float2 column[ROWS + 2 * H];
#pragma unroll
        for (int k = 0; k < ROWS + 2 * H; k++)
            column[k] = at[k * pitch + x];
#pragma unroll
        for (int y = 0; y < W; y++) {
            const float2 h = taps[y * W + x];
#pragma unroll
            for (int k = 0; k < ROWS; k++) {
                out[k].x = fmaf(h.x, column[k + y].x, out[k].x);
                out[k].y = fmaf(h.x, column[k + y].y, out[k].y);
                out[k].x = fmaf(-h.y, column[k + y].y, out[k].x);
                out[k].y = fmaf(h.y, column[k + y].x, out[k].y);
            }
        }
    }
}

// predict_rows() for blocks that are not square.
template <>
__device__ void predict_rows<0>(const float2 *at, int pitch, const float2 *taps, float2 *out)
{
    const int height = (int)taps[-1].x, width = (int)taps[-1].y; // left there by load_taps()
    for (int k = 0; k < ROWS; k++)
        out[k] = make_float2(0, 0);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const float2 h = taps[y * width + x];
#pragma unroll
            for (int k = 0; k < ROWS; k++) {
                const float2 d = at[(k + y) * pitch + x];
                out[k].x += h.x * d.x - h.y * d.y;
                out[k].y += h.x * d.y + h.y * d.x;
            }
        }
}

// --- one system ---------------------------------------------------------------------------------

// A part of a spot's window: traces [il0, il1) x [xl0, xl1).
struct Part {
    int il0, il1, xl0, xl1;
};

__device__ static Part part_of(const LithoFxSpot &s, int number)
{
    const int across = (s.n_xl + PART - 1) / PART;
    Part p;
    p.il0 = s.il0 + number / across * PART;
    p.xl0 = s.xl0 + number % across * PART;
    p.il1 = min(p.il0 + PART, s.il0 + s.n_il);
    p.xl1 = min(p.xl0 + PART, s.xl0 + s.n_xl);
    return p;
}

__device__ static void load_tile(const LithoFxGroup &g, const LithoFxSpot &s, int bin, int pass,
                                 Part p, int height, Tile *tile, float2 *values,
                                 unsigned char *states)
{
    const Source source = source_of(g, s, bin, pass);
    tile->at = values;
    tile->states = s.tile >= 0 ? states : NULL;
    tile->il0 = p.il0 - g.half_il;
    tile->xl0 = p.xl0 - g.half_xl;
    tile->width = p.xl1 - p.xl0 + 2 * g.half_xl;
    tile->n_il = g.n_il;
    tile->n_xl = g.n_xl;
    const unsigned char *from =
        g.states[pass % 2] + (long long)max(s.tile, 0) * g.tile_il * g.tile_xl;
    const int valid = p.il1 - p.il0 + 2 * g.half_il;
    for (int k = threadIdx.x; k < height * tile->width; k += THREADS) {
        const int il = tile->il0 + k / tile->width, xl = tile->xl0 + k % tile->width;
        const bool inside =
            k / tile->width < valid && il >= 0 && il < g.n_il && xl >= 0 && xl < g.n_xl;
        values[k] = inside ? source(il, xl) : make_float2(0, 0);
        if (s.tile >= 0)
            states[k] =
                inside ? from[(il - s.il0 + 2 * g.half_il) * g.tile_xl + xl - s.xl0 + 2 * g.half_xl]
                       : LITHO_FX_OUTSIDE;
    }
}

// FxWindow.out of the CPU: prediction or prediction minus input; the prediction alone where
// nothing was recorded; no change without a filter.
__device__ static inline float2 result_of(const LithoFxGroup &g, const Tile &tile, int il, int xl,
                                          bool use, float2 prediction)
{
    float2 s = tile.value(il, xl);
    if (tile.state(il, xl) != LITHO_FX_LIVE)
        s = make_float2(0, 0);
    const float2 value = use ? prediction : s;
    return g.mute ? value : make_float2(value.x - s.x, value.y - s.y);
}

// Trace number k of those of part `p` that lie outside rectangle `r`.
__device__ static void outside_at(Part p, Part r, int k, int *il, int *xl)
{
    const int width = p.xl1 - p.xl0, above = (r.il0 - p.il0) * width;
    const int sides = width - (r.xl1 - r.xl0);
    if (k < above) {
        *il = p.il0 + k / width;
        *xl = p.xl0 + k % width;
        return;
    }
    k -= above;
    if (k < (r.il1 - r.il0) * sides) {
        *il = r.il0 + k / sides;
        k %= sides;
        *xl = k < r.xl0 - p.xl0 ? p.xl0 + k : r.xl1 + k - (r.xl0 - p.xl0);
        return;
    }
    k -= (r.il1 - r.il0) * sides;
    *il = r.il1 + k / width;
    *xl = p.xl0 + k % width;
}

template <int H> __global__ void __launch_bounds__(THREADS) apply_kernel(LithoFxGroup g, int pass)
{
    extern __shared__ float4 shared[];
    const LithoFxSpot s = g.spots[blockIdx.x];
    const int bin = blockIdx.y;
    if ((int)blockIdx.z >= (s.n_il + PART - 1) / PART * ((s.n_xl + PART - 1) / PART))
        return;
    const Part p = part_of(s, blockIdx.z);
    const int groups = (p.il1 - p.il0 + ROWS - 1) / ROWS, columns = p.xl1 - p.xl0;
    const int height = groups * ROWS + 2 * g.half_il;
    float2 *taps = (float2 *)shared + 1, *values = taps + g.size;
    Tile tile;
    load_tile(g, s, bin, pass, p, height, &tile, values,
              (unsigned char *)(values + height * (columns + 2 * g.half_xl)));
    const float2 *all_taps = taps_of(g, s, bin);
    const float2 *from = all_taps + (-s.d_il0 * (s.d_xl1 - s.d_xl0 + 1) - s.d_xl0) * g.size;
    for (int k = threadIdx.x; k < g.size; k += THREADS)
        taps[k] = from[k];
    if (threadIdx.x == 0)
        taps[-1] = make_float2(2 * g.half_il + 1, 2 * g.half_xl + 1);
    int absent = 0;
    if (s.tile >= 0) { // a trace still absent in the window's box spoils the fast way
        const unsigned char *states =
            g.states[pass % 2] + (long long)s.tile * g.tile_il * g.tile_xl;
        for (int k = threadIdx.x; k < g.tile_il * g.tile_xl; k += THREADS) {
            const int il = k / g.tile_xl - g.half_il, xl = k % g.tile_xl - g.half_xl;
            absent |= il >= 0 && il < s.n_il + 2 * g.half_il && xl >= 0 &&
                      xl < s.n_xl + 2 * g.half_xl && states[k] == LITHO_FX_ABSENT;
        }
    }
    absent = __syncthreads_or(absent);

    const bool good = g.good[system_of(g, blockIdx.x, bin)] != 0;
    float2 *out = (float2 *)g.out + ((long long)s.out * g.out_bins + bin) * g.out_pitch;
    Part centred = p; // with zeros outside the survey every trace is like any other
    if (g.edge != LITHO_FX_ZERO) {
        centred.il0 = min(max(p.il0, s.c_il0), p.il1);
        centred.xl0 = min(max(p.xl0, s.c_xl0), p.xl1);
        centred.il1 = max(min(p.il1, s.c_il1), centred.il0);
        centred.xl1 = max(min(p.xl1, s.c_xl1), centred.xl0);
    }
    if (absent)
        centred.il1 = centred.il0;
    for (int task = threadIdx.x; task < groups * columns && !absent; task += THREADS) {
        const int row = task / columns * ROWS, xl = p.xl0 + task % columns;
        float2 prediction[ROWS];
        predict_rows<H>(values + row * tile.width + task % columns, tile.width, taps, prediction);
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            const int il = p.il0 + row + k;
            if (il >= centred.il0 && il < centred.il1 && xl >= centred.xl0 && xl < centred.xl1)
                out[(il - s.il0) * s.n_xl + xl - s.xl0] =
                    result_of(g, tile, il, xl, good, prediction[k]);
        }
    }
    const int rest =
        (p.il1 - p.il0) * columns - (centred.il1 - centred.il0) * (centred.xl1 - centred.xl0);
    const Tile wide = rest > 0 ? everything(g, s, bin, pass) : tile;
    for (int k = threadIdx.x; k < rest; k += THREADS) {
        int il, xl, c_il, c_xl, number;
        outside_at(p, centred, k, &il, &xl);
        const float2 *h = filter_at(g, s, all_taps, il, xl, &c_il, &c_xl, &number);
        float2 prediction;
        const bool done = predict(g, wide, h, c_il, c_xl, number, &prediction);
        out[(il - s.il0) * s.n_xl + xl - s.xl0] =
            result_of(g, tile, il, xl, good && done, prediction);
    }
}

// --- windows with absent traces -----------------------------------------------------------------

__global__ void open_kernel(LithoFxGroup g)
{
    const LithoFxSpot s = g.spots[blockIdx.x];
    const int bin = blockIdx.y, n = g.tile_il * g.tile_xl;
    const long long at = tile_at(g, s, bin);
    const float2 *from = (const float2 *)g.spectra + bin * g.plane;
    for (int k = threadIdx.x; k < n; k += FILL_THREADS) {
        const int il = s.il0 - 2 * g.half_il + k / g.tile_xl;
        const int xl = s.xl0 - 2 * g.half_xl + k % g.tile_xl;
        // Tiles have room for the largest window; what lies beyond a smaller one's reach is unused.
        const bool inside = il >= 0 && il < g.n_il && xl >= 0 && xl < g.n_xl &&
                            il < s.il0 + s.n_il + 2 * g.half_il &&
                            xl < s.xl0 + s.n_xl + 2 * g.half_xl;
        const long long trace = (long long)(il - g.held.il0) * g.held.n_xl + xl - g.held.xl0;
        const float2 value = inside ? from[trace] : make_float2(0, 0);
        ((float2 *)g.tiles[0])[at + k] = value;
        ((float2 *)g.tiles[1])[at + k] = value;
        if (bin == 0) {
            const unsigned char state = !inside            ? LITHO_FX_OUTSIDE
                                        : g.present[trace] ? LITHO_FX_LIVE
                                                           : LITHO_FX_ABSENT;
            g.states[0][(long long)s.tile * n + k] = state;
            g.states[1][(long long)s.tile * n + k] = state;
        }
    }
}

// Appends the absent traces among [from, from + FILL_THREADS) of the box to `list`, in order; the
// new length. All threads together.
__device__ static int append_absent(const Tile &tile, int il0, int xl0, int width, int n, int from,
                                    int *list, int length, int *counts)
{
    const int k = from + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int state = k < n ? tile.state(il0 + k / width, xl0 + k % width) : LITHO_FX_OUTSIDE;
    const bool mine = state == LITHO_FX_ABSENT || state == LITHO_FX_FILLED;
    const unsigned ballot = __ballot_sync(0xffffffffu, mine);
    __syncthreads(); // the last counts have been read
    if (lane == 0)
        counts[warp] = __popc(ballot);
    __syncthreads();
    int before = length, all = length;
    for (int w = 0; w < FILL_THREADS / 32; w++) {
        before += w < warp ? counts[w] : 0;
        all += counts[w];
    }
    if (mine)
        list[before + __popc(ballot & ((1u << lane) - 1))] = k;
    return all;
}

// One absent trace at one bin, from the tiles of this pass to those of the next.
__device__ static void guess(const LithoFxGroup &g, const LithoFxSpot &s, const Tile &tile,
                             const float2 *taps, int bin, int pass, int il, int xl)
{
    int c_il, c_xl, number;
    const float2 *h = filter_at(g, s, taps, il, xl, &c_il, &c_xl, &number);
    float2 prediction;
    const bool done = predict(g, tile, h, c_il, c_xl, number, &prediction);
    if (!g.good[system_of(g, blockIdx.x, bin)])
        prediction = make_float2(0, 0);
    const long long area = g.tile_il * g.tile_xl, to = (il - tile.il0) * g.tile_xl + xl - tile.xl0;
    ((float2 *)g.tiles[1 - pass % 2])[tile_at(g, s, bin) + to] =
        done ? prediction : tile.value(il, xl);
    if (bin == 0)
        g.states[1 - pass % 2][s.tile * area + to] = done ? LITHO_FX_FILLED : tile.state(il, xl);
}

// Few traces of a box are absent: the block lists them before it predicts them at FILL_BINS bins,
// so that its threads have one each instead of waiting for a neighbour that has. `close`: shared
// memory takes the tiles, their states and the centred filters, which neighbouring threads read at
// places far apart.
__global__ void __launch_bounds__(FILL_THREADS)
    guess_kernel(LithoFxGroup g, int pass, int close)
{
    extern __shared__ float4 shared[];
    __shared__ int list[4 * FILL_THREADS], counts[FILL_THREADS / 32];
    const LithoFxSpot s = g.spots[blockIdx.x];
    const int bin = blockIdx.y * FILL_BINS, bins = min(g.bins - bin, (int)FILL_BINS);
    const int area = g.tile_il * g.tile_xl;
    const bool single = s.d_il0 == s.d_il1 && s.d_xl0 == s.d_xl1;
    float2 *values = (float2 *)shared, *taps = values + FILL_BINS * area;
    unsigned char *states = (unsigned char *)(taps + FILL_BINS * g.size);
    Tile tile = everything(g, s, bin, pass);
    if (close) {
        for (int k = threadIdx.x; k < bins * area; k += FILL_THREADS)
            values[k] = tile.at[k]; // bins of a tile lie behind one another
        for (int k = threadIdx.x; k < area; k += FILL_THREADS)
            states[k] = tile.states[k];
        for (int k = threadIdx.x; k < bins * g.size && single; k += FILL_THREADS)
            taps[k] = taps_of(g, s, bin + k / g.size)[k % g.size];
        tile.states = states;
        __syncthreads();
    }
    const int il0 = max(s.il0 - g.half_il, 0), il1 = min(s.il0 + s.n_il + g.half_il, g.n_il);
    const int xl0 = max(s.xl0 - g.half_xl, 0), xl1 = min(s.xl0 + s.n_xl + g.half_xl, g.n_xl);
    const int n = (il1 - il0) * (xl1 - xl0), width = xl1 - xl0;
    for (int from = 0; from < n;) {
        int length = 0;
        for (; from < n && length <= 3 * FILL_THREADS; from += FILL_THREADS)
            length = append_absent(tile, il0, xl0, width, n, from, list, length, counts);
        __syncthreads();
        for (int k = threadIdx.x; k < length * bins; k += FILL_THREADS) {
            const int at = list[k % length], m = k / length;
            Tile from = tile;
            from.at = (close ? values : tile.at) + m * area;
            guess(g, s, from, close && single ? taps + m * g.size : taps_of(g, s, bin + m), bin + m,
                  pass, il0 + at / width, xl0 + at % width);
        }
        __syncthreads();
    }
}

// --- launchers ----------------------------------------------------------------------------------

int litho_fx_open(const LithoFxGroup *g, cudaStream_t stream)
{
    open_kernel<<<dim3(g->n_spots, g->bins), FILL_THREADS, 0, stream>>>(*g);
    return (int)cudaGetLastError();
}

int litho_fx_guess(const LithoFxGroup *g, int pass, cudaStream_t stream)
{
    // 48 kB are what a block has without asking.
    const int area = g->tile_il * g->tile_xl, bytes = FILL_BINS * 8 * (area + g->size) + area;
    const int close = bytes <= 44 << 10;
    guess_kernel<<<dim3(g->n_spots, (g->bins + FILL_BINS - 1) / FILL_BINS), FILL_THREADS,
                   close ? bytes : 0, stream>>>(*g, pass, close);
    return (int)cudaGetLastError();
}

template <int H> static int launch_apply(const LithoFxGroup *g, int pass, cudaStream_t stream)
{
    const int n_il = g->tile_il - 4 * g->half_il, n_xl = g->tile_xl - 4 * g->half_xl;
    const int part_il = n_il < PART ? n_il : PART, part_xl = n_xl < PART ? n_xl : PART;
    const int height = (part_il + ROWS - 1) / ROWS * ROWS + 2 * g->half_il;
    const int bytes = 8 * (1 + g->size) + 9 * height * (part_xl + 2 * g->half_xl);
    const int parts = (n_il + PART - 1) / PART * ((n_xl + PART - 1) / PART);
    cudaError_t status =
        cudaFuncSetAttribute(apply_kernel<H>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (status != cudaSuccess)
        return (int)status;
    apply_kernel<H><<<dim3(g->n_spots, g->bins, parts), THREADS, bytes, stream>>>(*g, pass);
    return (int)cudaGetLastError();
}

int litho_fx_apply(const LithoFxGroup *g, int pass, cudaStream_t stream)
{
    switch (g->half_il == g->half_xl ? g->half_il : 0) {
    case 1:
        return launch_apply<1>(g, pass, stream);
    case 2:
        return launch_apply<2>(g, pass, stream);
    case 3:
        return launch_apply<3>(g, pass, stream);
    case 4:
        return launch_apply<4>(g, pass, stream);
    case 5:
        return launch_apply<5>(g, pass, stream);
    default:
        return launch_apply<0>(g, pass, stream);
    }
}
