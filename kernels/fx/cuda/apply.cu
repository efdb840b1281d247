// SPDX-License-Identifier: GPL-3.0-or-later
//
// Predictions from the filters (fx.md section 5), one block of threads for a window's next BINS
// bins (for a part of it where windows are beyond 32 x 32 traces). A thread predicts ROWS traces of
// a column: it keeps the column of the tile in registers while the taps pass by. 400 x 48 complex
// multiply-adds a system of 20 x 20 traces and 48 taps; 5.4 kB read, 3.2 kB written.
#include <cuda_pipeline.h>

#include "kernels/fx/cuda/device.cuh"

enum { THREADS = 128, BINS = 3, PART = 32, FILL_THREADS = 128, FILL_BINS = 4 };

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

// Predictions with blocks that are not square; load_taps() has left their shape before the taps.
template <int ROWS>
__device__ static void predict_any(const float2 *at, int pitch, const float2 *taps, float2 *out)
{
    const int height = (int)taps[-1].x, width = (int)taps[-1].y;
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

// ROWS traces below one another, the first at `at` (its block's corner), from taps in shared
// memory.
template <int H, int ROWS>
__device__ static inline void predict_rows(const float2 *at, int pitch, const float2 *taps,
                                           float2 *out)
{
    if constexpr (H == 0) {
        predict_any<ROWS>(at, pitch, taps, out);
        return;
    }
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

// The part with the traces around it for several bins, `area` numbers from one to the next, and
// its states. Each thread's own traces have arrived after __pipeline_wait_prior(0).
__device__ static Tile load_tile(const LithoFxGroup &g, const LithoFxSpot &s, int bin, int bins,
                                 int pass, Part p, int height, float2 *values, int area,
                                 unsigned char *states)
{
    const Source source = source_of(g, s, bin, pass);
    const long long plane = s.tile >= 0 ? g.tile_il * g.tile_xl : g.plane;
    const int width = p.xl1 - p.xl0 + 2 * g.half_xl, valid = p.il1 - p.il0 + 2 * g.half_il;
    const Tile tile = {values, s.tile >= 0 ? states : NULL, p.il0 - g.half_il, p.xl0 - g.half_xl,
                       width,  g.n_il,                      g.n_xl};
    const unsigned char *from =
        g.states[pass % 2] + (long long)max(s.tile, 0) * g.tile_il * g.tile_xl;
    for (int k = threadIdx.x; k < height * width; k += THREADS) {
        const int il = tile.il0 + k / width, xl = tile.xl0 + k % width;
        const bool inside =
            k / width < valid && il >= 0 && il < g.n_il && xl >= 0 && xl < g.n_xl;
        const float2 *at = source.at + (inside ? (long long)il * source.pitch + xl : 0);
        for (int b = 0; b < bins; b++)
            if (inside)
                __pipeline_memcpy_async(values + b * area + k, at + b * plane, sizeof(float2));
            else
                values[b * area + k] = make_float2(0, 0);
        if (s.tile >= 0)
            states[k] =
                inside ? from[(il - s.il0 + 2 * g.half_il) * g.tile_xl + xl - s.xl0 + 2 * g.half_xl]
                       : LITHO_FX_OUTSIDE;
    }
    return tile;
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

// TRUE when blocks of traces [lo, hi) that are moved inside a survey of n lie in a tile that goes
// from lo - half to hi + half.
__device__ static inline bool close(int lo, int hi, int n, int half)
{
    const int first = min(max(lo, half), n - 1 - half), last = min(max(hi - 1, half), n - 1 - half);
    return first >= lo && last < hi;
}

// predict() where all neighbours are there; `at`: the block's corner in shared memory.
template <int H>
__device__ static inline float2 predict_whole(const LithoFxGroup &g, const float2 *at, int pitch,
                                              const float2 *taps)
{
    const int height = H ? 2 * H + 1 : 2 * g.half_il + 1, width = H ? 2 * H + 1 : 2 * g.half_xl + 1;
    float2 sum = make_float2(0, 0);
    for (int y = 0; y < height; y++)
#pragma unroll
        for (int x = 0; x < width; x++) {
            const float2 h = taps[y * width + x], d = at[y * pitch + x];
            sum.x = fmaf(h.x, d.x, sum.x);
            sum.x = fmaf(-h.y, d.y, sum.x);
            sum.y = fmaf(h.x, d.y, sum.y);
            sum.y = fmaf(h.y, d.x, sum.y);
        }
    return sum;
}

// A still absent trace in the window's box.
__device__ static bool finds_absent(const LithoFxGroup &g, const LithoFxSpot &s, int pass)
{
    int absent = 0;
    const unsigned char *states =
        g.states[pass % 2] + (long long)max(s.tile, 0) * g.tile_il * g.tile_xl;
    for (int k = threadIdx.x; k < g.tile_il * g.tile_xl && s.tile >= 0; k += THREADS) {
        const int il = k / g.tile_xl - g.half_il, xl = k % g.tile_xl - g.half_xl;
        absent |= il >= 0 && il < s.n_il + 2 * g.half_il && xl >= 0 &&
                  xl < s.n_xl + 2 * g.half_xl && states[k] == LITHO_FX_ABSENT;
    }
    return __syncthreads_or(absent) != 0;
}

// Traces whose block is centred on them: none when a trace is absent still, all when what lies
// outside the survey is zero.
__device__ static Part centred_part(const LithoFxGroup &g, const LithoFxSpot &s, Part p,
                                    bool absent)
{
    Part r = p;
    if (g.edge != LITHO_FX_ZERO) {
        r.il0 = min(max(p.il0, s.c_il0), p.il1);
        r.xl0 = min(max(p.xl0, s.c_xl0), p.xl1);
        r.il1 = max(min(p.il1, s.c_il1), r.il0);
        r.xl1 = max(min(p.xl1, s.c_xl1), r.xl0);
    }
    if (absent)
        r.il1 = r.il0;
    return r;
}

template <int H, int ROWS>
__global__ void __launch_bounds__(THREADS) apply_kernel(LithoFxGroup g, int pass)
{
    extern __shared__ float4 shared[];
    const LithoFxSpot s = g.spots[blockIdx.x];
    const int first = blockIdx.y * BINS, bins = min(g.bins - first, (int)BINS);
    if ((int)blockIdx.z >= (s.n_il + PART - 1) / PART * ((s.n_xl + PART - 1) / PART))
        return;
    const Part p = part_of(s, blockIdx.z);
    const int groups = (p.il1 - p.il0 + ROWS - 1) / ROWS, columns = p.xl1 - p.xl0;
    const int height = groups * ROWS + 2 * g.half_il, area = height * (columns + 2 * g.half_xl);
    float2 *taps = (float2 *)shared + 1, *values = taps + BINS * (g.size + 1);
    Tile tile = load_tile(g, s, first, bins, pass, p, height, values, area,
                          (unsigned char *)(values + BINS * area));
    const int centre = (-s.d_il0 * (s.d_xl1 - s.d_xl0 + 1) - s.d_xl0) * g.size;
    for (int b = 0; b < bins; b++) {
        const float2 *from = taps_of(g, s, first + b) + centre;
        for (int k = threadIdx.x; k < g.size; k += THREADS)
            __pipeline_memcpy_async(taps + b * (g.size + 1) + k, from + k, sizeof(float2));
        if (threadIdx.x == 0)
            taps[b * (g.size + 1) - 1] = make_float2(2 * g.half_il + 1, 2 * g.half_xl + 1);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    const bool absent = finds_absent(g, s, pass);
    const Part centred = centred_part(g, s, p, absent);
    float2 *out = (float2 *)g.out + ((long long)s.out * g.out_bins + first) * g.out_pitch;
    const int each = groups * columns;
    for (int task = threadIdx.x; task < bins * each && !absent; task += THREADS) {
        const int b = task / each, row = task % each / columns * ROWS, xl = task % each % columns;
        float2 prediction[ROWS];
        tile.at = values + b * area;
        predict_rows<H, ROWS>(tile.at + row * tile.width + xl, tile.width,
                              taps + b * (g.size + 1), prediction);
        const bool good = g.good[system_of(g, blockIdx.x, first + b)] != 0;
        const bool column = p.xl0 + xl >= centred.xl0 && p.xl0 + xl < centred.xl1;
        float2 *to = out + b * g.out_pitch + (p.il0 - s.il0 + row) * s.n_xl + p.xl0 - s.xl0 + xl;
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            const int il = p.il0 + row + k;
            if (column && il >= centred.il0 && il < centred.il1)
                to[k * s.n_xl] = result_of(g, tile, il, p.xl0 + xl, good, prediction[k]);
        }
    }
    const int rest =
        (p.il1 - p.il0) * columns - (centred.il1 - centred.il0) * (centred.xl1 - centred.xl0);
    const bool whole = g.edge == LITHO_FX_FIT && s.tile < 0 &&
                       close(p.il0, p.il1, g.n_il, g.half_il) &&
                       close(p.xl0, p.xl1, g.n_xl, g.half_xl);
    for (int k = threadIdx.x; k < bins * rest; k += THREADS) {
        const int b = k / rest;
        int il, xl, c_il, c_xl, number;
        outside_at(p, centred, k % rest, &il, &xl);
        const float2 *h =
            filter_at(g, s, taps_of(g, s, first + b), il, xl, &c_il, &c_xl, &number);
        float2 prediction;
        bool use = g.good[system_of(g, blockIdx.x, first + b)] != 0;
        tile.at = values + b * area;
        if (whole)
            prediction = predict_whole<H>(g,
                                          tile.at + (c_il - g.half_il - tile.il0) * tile.width +
                                              c_xl - g.half_xl - tile.xl0,
                                          tile.width, h);
        else
            use = predict(g, everything(g, s, first + b, pass), h, c_il, c_xl, number,
                          &prediction) &&
                  use;
        out[b * g.out_pitch + (il - s.il0) * s.n_xl + xl - s.xl0] =
            result_of(g, tile, il, xl, use, prediction);
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

template <int H, int ROWS>
static int launch_rows(const LithoFxGroup *g, int pass, cudaStream_t stream)
{
    const int n_il = g->tile_il - 4 * g->half_il, n_xl = g->tile_xl - 4 * g->half_xl;
    const int part_il = n_il < PART ? n_il : PART, part_xl = n_xl < PART ? n_xl : PART;
    const int height = (part_il + ROWS - 1) / ROWS * ROWS + 2 * g->half_il;
    const int area = height * (part_xl + 2 * g->half_xl);
    const int bytes = 8 * (1 + BINS * (1 + g->size)) + (8 * BINS + 1) * area;
    const int parts = (n_il + PART - 1) / PART * ((n_xl + PART - 1) / PART);
    cudaError_t status = cudaFuncSetAttribute(
        apply_kernel<H, ROWS>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (status != cudaSuccess)
        return (int)status;
    apply_kernel<H, ROWS><<<dim3(g->n_spots, (g->bins + BINS - 1) / BINS, parts), THREADS, bytes,
                            stream>>>(*g, pass);
    return (int)cudaGetLastError();
}

// Ten rows a thread read less, five leave fewer of them idle.
template <int H> static int launch_apply(const LithoFxGroup *g, int pass, cudaStream_t stream)
{
    const int n = g->tile_il - 4 * g->half_il, length = n < PART ? n : PART;
    return length > 5 && (length - 1) % 10 >= 5 ? launch_rows<H, 10>(g, pass, stream)
                                                : launch_rows<H, 5>(g, pass, stream);
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
