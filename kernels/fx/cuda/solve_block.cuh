// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/fx/cuda/solve.cuh"

// One system a block of threads: Cholesky in shared memory with panels of four columns, and the
// filters of survey edges from columns of the inverse.

enum { SMALL = 32, LARGE = 128, RIGHT = 32, CENTRE = 2 };

// A tile of the trailing matrix: its place and its rows' and columns' offsets in a panel.
struct TileAt {
    unsigned short place, pitch, row, column;
};

// State of a system's threads. SIZE: order of the matrix when known at compile time, else 0.
template <int SIZE> struct Shared {
    float *a;      // the matrix
    float *x;      // RIGHT right-hand sides of pitch(); CENTRE vectors when no edge needs more
    float *part;   // one float a warp
    TileAt *tiles; // of the whole triangle but its first block column, last rows first
    int n;

    __device__ int size() const
    {
        return SIZE ? SIZE : n;
    }
    __device__ int pitch() const
    {
        return litho_fx_round4(size());
    }
    __device__ float *at(int row, int column) const
    {
        return a + litho_fx_packed(pitch(), row, column);
    }
};

// Sum over the system's threads, the same in every thread and in the same order every time.
__device__ static float block_sum(float value, float *part)
{
    for (int k = 16; k > 0; k /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, k);
    if (blockDim.x == 32)
        return value;
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0;
    for (int k = 0; k < blockDim.x / 32; k++)
        value += part[k];
    return value;
}

// Copies the triangle, `lambda` added; the rows that rounding up adds become the unit matrix.
template <int SIZE>
__device__ static void load(Shared<SIZE> s, const float *matrix, float lambda)
{
    const int n = litho_fx_packed_size(s.pitch()) / 4;
#pragma unroll 6
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        ((float4 *)s.a)[k] = ((const float4 *)matrix)[k];
    __syncthreads();
    for (int k = threadIdx.x; k < s.pitch(); k += blockDim.x)
        *s.at(k, k) += k < s.size() ? lambda : 1.0f;
    __syncthreads();
}

// --- Cholesky -----------------------------------------------------------------------------------

__device__ static inline void store_tile(float *at, int pitch, Tile t)
{
    *(float4 *)at = make_float4(t.r0, t.l10, t.l20, t.l30);
    *(float4 *)(at + pitch) = make_float4(0, t.r1, t.l21, t.l31);
    *(float4 *)(at + 2 * pitch) = make_float4(0, 0, t.r2, t.l32);
    *(float4 *)(at + 3 * pitch) = make_float4(0, 0, 0, t.r3);
}

__device__ static inline void subtract_outer(float4 *to, float4 a, float b)
{
    to->x = fmaf(-a.x, b, to->x);
    to->y = fmaf(-a.y, b, to->y);
    to->z = fmaf(-a.z, b, to->z);
    to->w = fmaf(-a.w, b, to->w);
}

// One tile behind the panel: a -= panel rows * panel columns^T. `panel` is the panel's row 0.
__device__ static inline void update_tile(float *a, const float *panel, int pitch, TileAt t)
{
    float4 rows[4], columns[4], to[4];
#pragma unroll
    for (int m = 0; m < 4; m++) {
        rows[m] = *(const float4 *)(panel + m * pitch + t.row);
        columns[m] = *(const float4 *)(panel + m * pitch + t.column);
    }
    float *at = a + t.place;
#pragma unroll
    for (int k = 0; k < 4; k++)
        to[k] = *(float4 *)(at + k * t.pitch);
#pragma unroll
    for (int m = 0; m < 4; m++) {
        subtract_outer(&to[0], rows[m], columns[m].x);
        subtract_outer(&to[1], rows[m], columns[m].y);
        subtract_outer(&to[2], rows[m], columns[m].z);
        subtract_outer(&to[3], rows[m], columns[m].w);
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
        *(float4 *)(at + k * t.pitch) = to[k];
}

// Tiles of the trailing triangle, from its end: those behind any panel come first, and threads that
// follow one another take rows that do.
template <int SIZE> __device__ static void list_tiles(Shared<SIZE> s)
{
    const int blocks = s.pitch() / 4 - 1;
    for (int t = threadIdx.x; t < blocks * (blocks + 1) / 2; t += blockDim.x) {
        int up, left;
        triangle(t, &up, &left);
        const int row = s.pitch() - 4 - 4 * left, column = s.pitch() - 4 - 4 * up;
        s.tiles[t] = {(unsigned short)litho_fx_packed(s.pitch(), row, column),
                      (unsigned short)(s.pitch() - column), (unsigned short)row,
                      (unsigned short)column};
    }
}

// Tiles behind the panels that one thread of a warp keeps in registers while panels pass; they
// return to shared memory when they become a panel themselves.
template <int SIZE> struct Kept {
    enum {
        BLOCKS = (SIZE + 3) / 4 - 1,
        TILES = BLOCKS * (BLOCKS + 1) / 2,
        OWN = (TILES + SMALL - 1) / SMALL,
    };
    float4 tile[OWN][4];

    __device__ void load(Shared<SIZE> s)
    {
#pragma unroll
        for (int j = 0; j < OWN; j++) {
            const int k = threadIdx.x + SMALL * j;
            if (k < TILES) {
                const TileAt t = s.tiles[k];
#pragma unroll
                for (int c = 0; c < 4; c++)
                    tile[j][c] = *(const float4 *)(s.a + t.place + c * t.pitch);
            }
        }
    }

    // a -= panel rows * panel columns^T for the tiles behind the panel, `behind` of them.
    __device__ void update(Shared<SIZE> s, const float *panel, int pitch, int next,
                           int behind)
    {
#pragma unroll
        for (int j = 0; j < OWN; j++) {
            const int k = threadIdx.x + SMALL * j;
            if (k >= behind)
                continue;
            const TileAt t = s.tiles[k];
#pragma unroll
            for (int m = 0; m < 4; m++) {
                const float4 row = *(const float4 *)(panel + m * pitch + t.row);
                const float4 column = *(const float4 *)(panel + m * pitch + t.column);
                subtract_outer(&tile[j][0], row, column.x);
                subtract_outer(&tile[j][1], row, column.y);
                subtract_outer(&tile[j][2], row, column.z);
                subtract_outer(&tile[j][3], row, column.w);
            }
            if (t.column != next)
                continue;
#pragma unroll
            for (int c = 0; c < 4; c++)
                *(float4 *)(s.a + t.place + c * t.pitch) = tile[j][c];
        }
    }
};

// Sizes that the compiler does not know stay in shared memory.
template <> struct Kept<0> {
    __device__ void load(Shared<0>)
    {
    }
    __device__ void update(Shared<0> s, const float *panel, int pitch, int, int behind)
    {
        for (int k = threadIdx.x; k < behind; k += blockDim.x)
            update_tile(s.a, panel, pitch, s.tiles[k]);
    }
};

// a = L L^T in place, reciprocals on the diagonal. FALSE: a pivot was not positive.
template <int SIZE> __device__ static bool cholesky(Shared<SIZE> s)
{
    bool good = true;
    Kept<SIZE> kept;
    kept.load(s);
    for (int panel = 0; panel < s.pitch(); panel += 4) {
        const int pitch = s.pitch() - panel; // from column to column of the panel
        float *first = s.at(panel, panel) - panel;
        const float *at = first + panel;
        const Tile t = factor_tile(*(const float4 *)at, *(const float4 *)(at + pitch),
                                   *(const float4 *)(at + 2 * pitch),
                                   *(const float4 *)(at + 3 * pitch), &good);
        for (int r = panel + 4 + threadIdx.x; r < s.pitch(); r += blockDim.x) {
            float *x = first + r;
            const float4 y =
                behind_tile(t, make_float4(x[0], x[pitch], x[2 * pitch], x[3 * pitch]));
            x[0] = y.x;
            x[pitch] = y.y;
            x[2 * pitch] = y.z;
            x[3 * pitch] = y.w;
        }
        __syncthreads();
        if (threadIdx.x == 0)
            store_tile(first + panel, pitch, t);
        const int blocks = pitch / 4 - 1;
        kept.update(s, first, pitch, panel + 4, blocks * (blocks + 1) / 2);
        __syncthreads();
    }
    return good;
}

// --- substitution -------------------------------------------------------------------------------

// L^T y = x for four unknowns from a diagonal tile; those from `unknowns` on are zero.
__device__ static inline float4 back_tile(const float *at, int pitch, float4 y, int unknowns)
{
    const float4 c0 = *(const float4 *)at, c1 = *(const float4 *)(at + pitch);
    const float4 c2 = *(const float4 *)(at + 2 * pitch);
    y.w = unknowns > 3 ? y.w * at[3 * pitch + 3] : 0;
    y.z = unknowns > 2 ? (y.z - c2.w * y.w) * c2.z : 0;
    y.y = unknowns > 1 ? (y.y - c1.z * y.z - c1.w * y.w) * c1.y : 0;
    y.x = (y.x - c0.y * y.y - c0.z * y.z - c0.w * y.w) * c0.x;
    return y;
}

__device__ static inline float dot4(float4 a, float4 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

// The centred filter: the factor's last row, which is L^{-1} g, backwards through L^T; into s.x.
template <int SIZE> __device__ static void solve_centre(Shared<SIZE> s)
{
    const int n = s.size() - 1;
    float *left = s.x + s.pitch(); // what is still to be solved
    for (int k = threadIdx.x; k < s.pitch(); k += blockDim.x)
        left[k] = k < n ? *s.at(n, k) : 0;
    __syncthreads();
    for (int panel = (n - 1) / 4 * 4; panel >= 0; panel -= 4) {
        const float4 y =
            back_tile(s.at(panel, panel), s.pitch() - panel, *(float4 *)(left + panel), n - panel);
        if (threadIdx.x == 0)
            *(float4 *)(s.x + panel) = y;
        for (int j = threadIdx.x; j < panel; j += blockDim.x)
            left[j] -= dot4(*(const float4 *)s.at(panel, j), y);
        __syncthreads();
    }
}

// L X = B and L^T X = B for n right-hand sides x[k * pitch]. Eight of them side by side, so that
// the factor's numbers are read once for all.
template <int SIZE> __device__ static void forward(Shared<SIZE> s, int n)
{
    for (int panel = 0; panel < s.pitch(); panel += 4) {
        const int pitch = s.pitch() - panel;
        const float *first = s.at(panel, panel) - panel;
        for (int k = threadIdx.x; k < n; k += blockDim.x) {
            float4 *x = (float4 *)(s.x + k * s.pitch() + panel), y = *x;
            const float *at = first + panel;
            y.x = y.x * at[0];
            y.y = (y.y - at[1] * y.x) * at[pitch + 1];
            y.z = (y.z - at[2] * y.x - at[pitch + 2] * y.y) * at[2 * pitch + 2];
            y.w = (y.w - at[3] * y.x - at[pitch + 3] * y.y - at[2 * pitch + 3] * y.z) *
                  at[3 * pitch + 3];
            *x = y;
        }
        __syncthreads();
        for (int k = threadIdx.x % 8; k < n; k += 8)
            for (int row = panel + 4 + threadIdx.x / 8 * 4; row < s.pitch();
                 row += (int)blockDim.x / 2) {
                float *x = s.x + k * s.pitch();
                const float4 b = *(const float4 *)(x + panel);
                float4 to = *(float4 *)(x + row);
                subtract_outer(&to, *(const float4 *)(first + row), b.x);
                subtract_outer(&to, *(const float4 *)(first + pitch + row), b.y);
                subtract_outer(&to, *(const float4 *)(first + 2 * pitch + row), b.z);
                subtract_outer(&to, *(const float4 *)(first + 3 * pitch + row), b.w);
                *(float4 *)(x + row) = to;
            }
        __syncthreads();
    }
}

template <int SIZE> __device__ static void backward(Shared<SIZE> s, int n)
{
    for (int panel = s.pitch() - 4; panel >= 0; panel -= 4) {
        for (int k = threadIdx.x; k < n; k += blockDim.x) {
            float4 *x = (float4 *)(s.x + k * s.pitch() + panel);
            *x = back_tile(s.at(panel, panel), s.pitch() - panel, *x, s.size() - panel);
        }
        __syncthreads();
        for (int k = threadIdx.x % 8; k < n; k += 8)
            for (int j = threadIdx.x / 8 * 4; j < panel; j += (int)blockDim.x / 2) {
                float *x = s.x + k * s.pitch();
                const float4 b = *(const float4 *)(x + panel);
                const float *column = s.at(panel, j);
                const int pitch = s.pitch() - j;
                float4 to = *(float4 *)(x + j);
                to.x -= dot4(*(const float4 *)column, b);
                to.y -= dot4(*(const float4 *)(column + pitch), b);
                to.z -= dot4(*(const float4 *)(column + 2 * pitch), b);
                to.w -= dot4(*(const float4 *)(column + 3 * pitch), b);
                *(float4 *)(x + j) = to;
            }
        __syncthreads();
    }
}

// --- filters ------------------------------------------------------------------------------------

// Taps of the centred filter from the real unknowns in s.x.
template <int SIZE>
__device__ static void write_centre(const LithoFxGroup &g, Shared<SIZE> s,
                                    const float *matrix, float lambda, float2 *taps)
{
    const int c = s.size() / 2;
    float alpha = 0.70710678f;
    if (g.post) {
        float hb = 0, hh = 0;
        for (int k = threadIdx.x; k < s.size() - 1; k += blockDim.x) {
            hb = fmaf(s.x[k], matrix[litho_fx_packed(s.pitch(), s.size() - 1, k)], hb);
            hh = fmaf(s.x[k], s.x[k], hh);
        }
        hb = block_sum(hb, s.part);
        hh = block_sum(hh, s.part);
        alpha *= stretch(hb, hh, lambda);
    }
    for (int q = threadIdx.x; q < c; q += blockDim.x) {
        const float2 beta = *(const float2 *)(s.x + 2 * q);
        taps[c + q + 1] = make_float2(alpha * beta.x, alpha * beta.y);
        taps[c - q - 1] = make_float2(alpha * beta.x, -alpha * beta.y);
    }
    if (threadIdx.x == 0)
        taps[c] = make_float2(0, 0);
}

// Block number that the spot's filter `slot` predicts.
__device__ static inline int place_of(const LithoFxGroup &g, const LithoFxSpot &spot, int slot)
{
    const int across = spot.d_xl1 - spot.d_xl0 + 1;
    return g.size / 2 + (spot.d_il0 + slot / across) * (2 * g.half_xl + 1) + spot.d_xl0 +
           slot % across;
}

// Column `place` of K = Q (M + lambda I)^{-1} Q^H over -K[place, place], with x, y the columns of
// the inverse for the place's u and v.
struct EdgeFilter {
    const float *x, *y;
    float over, sign;
};

__device__ static EdgeFilter edge_filter(int size, int pitch, int place, const float *x)
{
    const int c = size / 2, q = abs(place - c) - 1;
    EdgeFilter f = {x, x + pitch, 0, place > c ? -1.0f : 1.0f};
    const float k_tt = 0.5f * (f.x[2 * q] + f.y[2 * q + 1]);
    f.over = -1 / (k_tt > 0 ? k_tt : 1.0f);
    return f;
}

__device__ static inline float2 edge_tap(EdgeFilter f, int size, int number)
{
    const int c = size / 2, p = abs(number - c) - 1;
    if (number == c)
        return make_float2(0.70710678f * f.x[size - 1] * f.over,
                           0.70710678f * f.sign * f.y[size - 1] * f.over);
    const float u_re = 0.5f * f.x[2 * p], u_im = 0.5f * f.sign * f.y[2 * p];
    const float v_re = 0.5f * f.x[2 * p + 1], v_im = 0.5f * f.sign * f.y[2 * p + 1];
    return number > c ? make_float2((u_re - v_im) * f.over, (u_im + v_re) * f.over)
                      : make_float2((u_re + v_im) * f.over, (u_im - v_re) * f.over);
}

__device__ static float edge_stretch(int size, int pitch, EdgeFilter f, int place,
                                     const float *matrix, float lambda)
{
    const int u = 2 * (abs(place - size / 2) - 1);
    float hh = 0;
    for (int n = 0; n < size; n++) {
        const float2 h = n == place ? make_float2(0, 0) : edge_tap(f, size, n);
        hh += h.x * h.x + h.y * h.y;
    }
    const float hb = 0.5f * (matrix[litho_fx_packed(pitch, u, u)] +
                             matrix[litho_fx_packed(pitch, u + 1, u + 1)]) +
                     lambda + f.over;
    return stretch(hb, hh, lambda);
}

// Tap at the filter's own place: 1 where there is nothing to predict it from.
__device__ static float edge_own(int size, int pitch, int place, const float *matrix)
{
    const int u = 2 * (abs(place - size / 2) - 1);
    const float r_tt = 0.5f * (matrix[litho_fx_packed(pitch, u, u)] +
                               matrix[litho_fx_packed(pitch, u + 1, u + 1)]);
    return r_tt < LITHO_FX_NOTHING * matrix[litho_fx_packed(pitch, size - 1, size - 1)] ? 1 : 0;
}

// Filters for the places that traces near the survey's edge take, RIGHT / 2 at a time.
template <int SIZE>
__device__ static void edge_filters(const LithoFxGroup &g, const LithoFxSpot &spot,
                                    Shared<SIZE> s, const float *matrix, float lambda,
                                    float2 *taps)
{
    const int size = s.size(), pitch = s.pitch(), c = size / 2;
    const int slots = (spot.d_il1 - spot.d_il0 + 1) * (spot.d_xl1 - spot.d_xl0 + 1);
    for (int first = 0; first < slots; first += RIGHT / 2) {
        const int n = min(slots - first, RIGHT / 2);
        __syncthreads();
        for (int t = threadIdx.x; t < 2 * n * pitch; t += blockDim.x)
            s.x[t] = 0;
        __syncthreads();
        for (int k = threadIdx.x; k < 2 * n; k += blockDim.x) {
            const int place = place_of(g, spot, first + k / 2);
            if (place != c)
                s.x[k * pitch + 2 * (abs(place - c) - 1) + k % 2] = 1;
        }
        __syncthreads();
        forward(s, 2 * n);
        backward(s, 2 * n);
        for (int slot = 0; slot < n; slot++) {
            const int place = place_of(g, spot, first + slot);
            if (place == c)
                continue; // the centred filter
            const EdgeFilter f = edge_filter(size, pitch, place, s.x + 2 * slot * pitch);
            const float alpha = g.post ? edge_stretch(size, pitch, f, place, matrix, lambda) : 1.0f;
            const float own = edge_own(size, pitch, place, matrix);
            for (int number = threadIdx.x; number < size; number += blockDim.x) {
                const float2 h = number == place ? make_float2(0, 0) : edge_tap(f, size, number);
                taps[(first + slot) * size + number] =
                    number == place ? make_float2(own, 0) : make_float2(alpha * h.x, alpha * h.y);
            }
        }
    }
}

// Where a block's system lies, and its threads' shared memory.
template <int SIZE>
__device__ static Shared<SIZE> shared_of(const LithoFxGroup &g, float *memory, int vectors)
{
    Shared<SIZE> s;
    s.n = g.size;
    s.a = memory;
    s.x = s.a + litho_fx_packed_size(s.pitch());
    s.tiles = (TileAt *)(s.x + vectors * s.pitch());
    const int blocks = s.pitch() / 4 - 1;
    s.part = (float *)(s.tiles + blocks * (blocks + 1) / 2);
    list_tiles(s);
    __syncthreads();
    return s;
}

__device__ static inline float2 *taps_of(const LithoFxGroup &g, const LithoFxSpot &spot, int bin)
{
    return (float2 *)g.taps + ((long long)bin * g.n_slots + spot.slot) * g.size;
}

// Counts of one system, added to the counters.
__device__ static inline void count_system(const LithoFxGroup &g, bool fell_back, bool good,
                                           float share)
{
    atomicAdd(g.counters + LITHO_FX_SYSTEMS, 1ull);
    if (fell_back)
        atomicAdd(g.counters + LITHO_FX_FALLBACKS, 1ull);
    if (!good)
        atomicAdd(g.counters + LITHO_FX_FAILED, 1ull);
    if (g.automatic)
        atomicAdd(g.counters + LITHO_FX_OCTAVES,
                  (unsigned long long)(long long)litho_fx_octaves(share));
}

// Bytes of shared memory of a block with so many vectors.
static int shared_bytes(const LithoFxGroup *g, int vectors)
{
    const int pitch = litho_fx_round4(g->size), blocks = pitch / 4 - 1;
    return 4 * (litho_fx_packed_size(pitch) + vectors * pitch + LARGE / 32) +
           (int)sizeof(TileAt) * blocks * (blocks + 1) / 2;
}
