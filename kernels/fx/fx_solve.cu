// SPDX-License-Identifier: GPL-3.0-or-later
//
// From normal equations to filters, one block of threads a system: Cholesky in shared memory with
// panels of four columns, conjugate gradients, Jacobi, and the one-sided filters of survey edges from
// columns of the inverse (fx.md sections 4 and 5).
//
// The matrix lies by columns with a pitch of a multiple of four floats: four rows are one 16-byte
// load, and neighbouring threads take neighbouring rows. 4.9 kB read and 0.4 kB written a system;
// 49^3 / 3 operations for the factor and 2 * 49^2 a right-hand side.
#include "kernels/fx/fx_device.cuh"

enum { SMALL = 32, LARGE = 128, RIGHT = 32, MAX_STEPS = 100 };

// What the threads of a block share.
struct Shared {
    float *a;    // [column][pitch]: lower triangle, or both while iterating
    float *x;    // RIGHT right-hand sides of `pitch`, or vectors of the iterations
    float *part; // one float a warp
    int size, pitch;
};

// Sum over the block, the same in every thread and in the same order every time.
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

// Loads the triangle, `lambda` added, padded by the unit matrix; `both`: the upper half too.
__device__ static void load(Shared s, const float *matrix, float lambda, bool both)
{
    for (int t = threadIdx.x; t < s.pitch * s.pitch; t += blockDim.x) {
        const int column = t / s.pitch, row = t % s.pitch;
        float value = row == column ? 1.0f : 0.0f;
        if (row < s.size && column < s.size && row >= column)
            value = matrix[litho_fx_packed(s.size, row, column)] + (row == column ? lambda : 0.0f);
        else if (both && row < s.size && column < s.size)
            value = matrix[litho_fx_packed(s.size, column, row)];
        s.a[t] = value;
    }
    __syncthreads();
}

// --- Cholesky -----------------------------------------------------------------------------------

// The lower factor of a 4 x 4 tile in registers, reciprocals on the diagonal.
struct Tile {
    float r0, r1, r2, r3, l10, l20, l30, l21, l31, l32;
};

__device__ static inline float reciprocal_root(float pivot, bool *good)
{
    *good = *good && pivot > 0;
    return pivot > 0 ? 1.0f / sqrtf(pivot) : 1.0f;
}

__device__ static inline Tile factor_tile(const float *at, int pitch, bool *good)
{
    const float4 c0 = *(const float4 *)at, c1 = *(const float4 *)(at + pitch);
    const float4 c2 = *(const float4 *)(at + 2 * pitch), c3 = *(const float4 *)(at + 3 * pitch);
    Tile t;
    t.r0 = reciprocal_root(c0.x, good);
    t.l10 = c0.y * t.r0;
    t.l20 = c0.z * t.r0;
    t.l30 = c0.w * t.r0;
    t.r1 = reciprocal_root(c1.y - t.l10 * t.l10, good);
    t.l21 = (c1.z - t.l20 * t.l10) * t.r1;
    t.l31 = (c1.w - t.l30 * t.l10) * t.r1;
    t.r2 = reciprocal_root(c2.z - t.l20 * t.l20 - t.l21 * t.l21, good);
    t.l32 = (c2.w - t.l30 * t.l20 - t.l31 * t.l21) * t.r2;
    t.r3 = reciprocal_root(c3.w - t.l30 * t.l30 - t.l31 * t.l31 - t.l32 * t.l32, good);
    return t;
}

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

// Tile (i, j) of the rows and columns behind the panel: a -= panel rows * panel columns^T.
__device__ static inline void update_tile(float *a, int pitch, int panel, int i, int j)
{
    float4 rows[4], columns[4];
#pragma unroll
    for (int m = 0; m < 4; m++) {
        const float *column = a + (panel + m) * pitch;
        rows[m] = *(const float4 *)(column + i);
        columns[m] = *(const float4 *)(column + j);
    }
    float4 to[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        to[k] = *(float4 *)(a + (j + k) * pitch + i);
#pragma unroll
    for (int m = 0; m < 4; m++) {
        subtract_outer(&to[0], rows[m], columns[m].x);
        subtract_outer(&to[1], rows[m], columns[m].y);
        subtract_outer(&to[2], rows[m], columns[m].z);
        subtract_outer(&to[3], rows[m], columns[m].w);
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
        *(float4 *)(a + (j + k) * pitch + i) = to[k];
}

// a = L L^T in place, reciprocals on the diagonal. FALSE: a pivot was not positive.
__device__ static bool cholesky(Shared s)
{
    bool good = true;
    for (int panel = 0; panel < s.pitch; panel += 4) {
        float *at = s.a + panel * s.pitch + panel;
        const Tile t = factor_tile(at, s.pitch, &good);
        for (int r = panel + 4 + threadIdx.x; r < s.pitch; r += blockDim.x) {
            float *x = s.a + panel * s.pitch + r;
            const float y0 = x[0] * t.r0;
            const float y1 = (x[s.pitch] - y0 * t.l10) * t.r1;
            const float y2 = (x[2 * s.pitch] - y0 * t.l20 - y1 * t.l21) * t.r2;
            const float y3 = (x[3 * s.pitch] - y0 * t.l30 - y1 * t.l31 - y2 * t.l32) * t.r3;
            x[0] = y0;
            x[s.pitch] = y1;
            x[2 * s.pitch] = y2;
            x[3 * s.pitch] = y3;
        }
        __syncthreads();
        if (threadIdx.x == 0)
            store_tile(at, s.pitch, t);
        const int blocks = (s.pitch - panel) / 4 - 1, tiles = blocks * (blocks + 1) / 2;
        for (int k = threadIdx.x; k < tiles; k += blockDim.x) {
            int up, left; // walked by columns from the end, so that threads share no bank
            triangle(tiles - 1 - k, &up, &left);
            update_tile(s.a, s.pitch, panel, s.pitch - 4 - 4 * left, s.pitch - 4 - 4 * up);
        }
        __syncthreads();
    }
    return good;
}

// --- substitution -------------------------------------------------------------------------------

// L x = b for `n` right-hand sides, x[k * pitch]; unknowns before `first` (a multiple of 4) are zero.
__device__ static void forward(Shared s, int n, int first)
{
    for (int panel = first; panel < s.pitch; panel += 4) {
        const float *at = s.a + panel * s.pitch + panel;
        for (int k = threadIdx.x; k < n; k += blockDim.x) {
            float4 *x = (float4 *)(s.x + k * s.pitch + panel), y = *x;
            const float4 c0 = *(const float4 *)at, c1 = *(const float4 *)(at + s.pitch);
            const float4 c2 = *(const float4 *)(at + 2 * s.pitch);
            y.x = y.x * c0.x;
            y.y = (y.y - c0.y * y.x) * c1.y;
            y.z = (y.z - c0.z * y.x - c1.z * y.y) * c2.z;
            y.w = (y.w - c0.w * y.x - c1.w * y.y - c2.w * y.z) * at[3 * s.pitch + 3];
            *x = y;
        }
        __syncthreads();
        const int rest = (s.pitch - panel) / 4 - 1;
        for (int k = threadIdx.x; k < n * rest; k += blockDim.x) {
            const int row = panel + 4 + k % rest * 4;
            float *x = s.x + k / rest * s.pitch;
            const float4 b = *(const float4 *)(x + panel);
            const float *column = s.a + panel * s.pitch + row;
            float4 to = *(float4 *)(x + row);
            subtract_outer(&to, *(const float4 *)column, b.x);
            subtract_outer(&to, *(const float4 *)(column + s.pitch), b.y);
            subtract_outer(&to, *(const float4 *)(column + 2 * s.pitch), b.z);
            subtract_outer(&to, *(const float4 *)(column + 3 * s.pitch), b.w);
            *(float4 *)(x + row) = to;
        }
        __syncthreads();
    }
}

// L^T x = b, the first `unknowns` of them; entries behind are taken as zero.
__device__ static void backward(Shared s, int n, int unknowns)
{
    for (int panel = (unknowns - 1) / 4 * 4; panel >= 0; panel -= 4) {
        const float *at = s.a + panel * s.pitch + panel;
        for (int k = threadIdx.x; k < n; k += blockDim.x) {
            float4 *x = (float4 *)(s.x + k * s.pitch + panel), y = *x;
            const float4 c0 = *(const float4 *)at, c1 = *(const float4 *)(at + s.pitch);
            const float4 c2 = *(const float4 *)(at + 2 * s.pitch);
            y.w = panel + 3 < unknowns ? y.w * at[3 * s.pitch + 3] : 0;
            y.z = panel + 2 < unknowns ? (y.z - c2.w * y.w) * c2.z : 0;
            y.y = panel + 1 < unknowns ? (y.y - c1.z * y.z - c1.w * y.w) * c1.y : 0;
            y.x = (y.x - c0.y * y.y - c0.z * y.z - c0.w * y.w) * c0.x;
            *x = y;
        }
        __syncthreads();
        for (int k = threadIdx.x; k < n * panel; k += blockDim.x) {
            const int j = k % panel;
            float *x = s.x + k / panel * s.pitch;
            const float4 b = *(const float4 *)(x + panel);
            const float4 l = *(const float4 *)(s.a + j * s.pitch + panel);
            x[j] -= l.x * b.x + l.y * b.y + l.z * b.z + l.w * b.w;
        }
        __syncthreads();
    }
}

// --- iterations ---------------------------------------------------------------------------------

__device__ static float product_row(Shared s, const float *x, int row, int n)
{
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum = fmaf(s.a[k * s.pitch + row], x[k], sum);
    return sum;
}

__device__ static float dot(Shared s, const float *x, const float *y, int n)
{
    float sum = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        sum = fmaf(x[k], y[k], sum);
    return block_sum(sum, s.part);
}

// The centred filter in s.x, from the whole matrix in s.a. FALSE: not within MAX_STEPS.
__device__ static bool conjugate_gradients(Shared s)
{
    const int n = s.size - 1;
    float *beta = s.x, *residual = beta + s.pitch, *direction = residual + s.pitch;
    float *image = direction + s.pitch;
    for (int k = threadIdx.x; k < n; k += blockDim.x) {
        beta[k] = 0;
        residual[k] = direction[k] = s.a[k * s.pitch + n];
    }
    __syncthreads();
    float energy = dot(s, residual, residual, n);
    const float goal = 1e-8f * energy;
    for (int step = 0; step < MAX_STEPS && energy > goal; step++) {
        for (int k = threadIdx.x; k < n; k += blockDim.x)
            image[k] = product_row(s, direction, k, n);
        __syncthreads();
        const float curvature = dot(s, direction, image, n);
        if (!(curvature > 0))
            break;
        const float alpha = energy / curvature;
        for (int k = threadIdx.x; k < n; k += blockDim.x) {
            beta[k] += alpha * direction[k];
            residual[k] -= alpha * image[k];
        }
        __syncthreads();
        const float now = dot(s, residual, residual, n), ratio = now / energy;
        for (int k = threadIdx.x; k < n; k += blockDim.x)
            direction[k] = residual[k] + ratio * direction[k];
        energy = now;
        __syncthreads();
    }
    return energy <= goal;
}

// Jacobi on the complex equations, as the paper has it: Richardson's iteration in the real unknowns
// with the mean diagonal of every pair.
__device__ static bool jacobi(Shared s)
{
    const int n = s.size - 1;
    float *beta = s.x, *image = beta + s.pitch;
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        beta[k] = k % 2 == 0 ? 0.02f * 0.70710678f : 0;
    __syncthreads();
    for (int step = 0; step < MAX_STEPS; step++) {
        for (int k = threadIdx.x; k < n; k += blockDim.x)
            image[k] = product_row(s, beta, k, n);
        __syncthreads();
        float change = 0;
        bool finite = true;
        for (int k = 2 * threadIdx.x; k < n; k += 2 * blockDim.x) {
            const float *at = s.a + k * s.pitch + k;
            const float scale = 1 / fmaxf(0.5f * (at[0] + at[s.pitch + 1]), 1e-30f);
            const float u = (s.a[k * s.pitch + n] - image[k]) * scale;
            const float v = (s.a[(k + 1) * s.pitch + n] - image[k + 1]) * scale;
            beta[k] += u;
            beta[k + 1] += v;
            change = fmaxf(change, u * u + v * v); // twice the square of the taps' change
            finite = finite && u * u + v * v < 1e12f;
        }
        const int small = __syncthreads_and(change < 2e-8f);
        if (!__syncthreads_and(finite))
            return false;
        if (small)
            return true;
    }
    return false;
}

// --- filters ------------------------------------------------------------------------------------

// What stretches a damped filter to least squares: h.b / (h.b - lambda h.h), 1 .. 3.
__device__ static float stretch(float hb, float hh, float lambda)
{
    const float left = hb - lambda * hh;
    return left > 0 ? fminf(fmaxf(hb / left, 1.0f), 3.0f) : 3.0f;
}

// Taps of the centred filter from the real unknowns in s.x.
__device__ static void write_centre(const LithoFxGroup &g, Shared s, const float *matrix,
                                    float lambda, float2 *taps)
{
    const int c = s.size / 2;
    float alpha = 0.70710678f;
    if (g.post) {
        float hb = 0, hh = 0;
        for (int k = threadIdx.x; k < s.size - 1; k += blockDim.x) {
            hb = fmaf(s.x[k], matrix[litho_fx_packed(s.size, s.size - 1, k)], hb);
            hh = fmaf(s.x[k], s.x[k], hh);
        }
        hb = block_sum(hb, s.part);
        hh = block_sum(hh, s.part);
        alpha *= stretch(hb, hh, lambda);
    }
    for (int q = threadIdx.x; q < c; q += blockDim.x) {
        const float re = alpha * s.x[2 * q], im = alpha * s.x[2 * q + 1];
        taps[c + q + 1] = make_float2(re, im);
        taps[c - q - 1] = make_float2(re, -im);
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

// One tap pair of the filter for block number `place`: column `place` of K = Q (M + lambda I)^{-1} Q^H
// over -K[place, place], with x, y the columns of the inverse for the place's u and v.
struct EdgeFilter {
    const float *x, *y;
    float over, sign;
};

__device__ static EdgeFilter edge_filter(Shared s, int place, const float *x)
{
    const int c = s.size / 2, q = abs(place - c) - 1;
    EdgeFilter f = {x, x + s.pitch, 0, place > c ? -1.0f : 1.0f};
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

__device__ static float edge_stretch(Shared s, EdgeFilter f, int place, const float *matrix,
                                     float lambda)
{
    const int u = 2 * (abs(place - s.size / 2) - 1);
    float hh = 0;
    for (int n = 0; n < s.size; n++) {
        const float2 h = n == place ? make_float2(0, 0) : edge_tap(f, s.size, n);
        hh += h.x * h.x + h.y * h.y;
    }
    const float hb = 0.5f * (matrix[litho_fx_packed(s.size, u, u)] +
                             matrix[litho_fx_packed(s.size, u + 1, u + 1)]) +
                     lambda + f.over;
    return stretch(hb, hh, lambda);
}

// Filters for the places that traces near the survey's edge take, RIGHT / 2 at a time.
__device__ static void edge_filters(const LithoFxGroup &g, const LithoFxSpot &spot, Shared s,
                                    const float *matrix, float lambda, float2 *taps)
{
    const int c = s.size / 2;
    const int slots = (spot.d_il1 - spot.d_il0 + 1) * (spot.d_xl1 - spot.d_xl0 + 1);
    for (int first = 0; first < slots; first += RIGHT / 2) {
        const int n = min(slots - first, RIGHT / 2);
        __syncthreads();
        for (int t = threadIdx.x; t < 2 * n * s.pitch; t += blockDim.x) {
            const int right = t / s.pitch, place = place_of(g, spot, first + right / 2);
            const int unit = 2 * (abs(place - c) - 1) + right % 2;
            s.x[t] = place != c && t % s.pitch == unit ? 1.0f : 0.0f;
        }
        __syncthreads();
        forward(s, 2 * n, 0);
        backward(s, 2 * n, s.size);
        for (int t = threadIdx.x; t < n * s.size; t += blockDim.x) {
            const int slot = t / s.size, number = t % s.size;
            const int place = place_of(g, spot, first + slot);
            if (place == c)
                continue; // the centred filter
            const EdgeFilter f = edge_filter(s, place, s.x + 2 * slot * s.pitch);
            float2 h = number == place ? make_float2(0, 0) : edge_tap(f, s.size, number);
            if (g.post) {
                const float alpha = edge_stretch(s, f, place, matrix, lambda);
                h = make_float2(alpha * h.x, alpha * h.y);
            }
            taps[(first + slot) * s.size + number] = h;
        }
    }
}

__global__ void solve_kernel(LithoFxGroup g, int first, int edges, int last)
{
    extern __shared__ float4 shared[];
    Shared s;
    s.size = g.size;
    s.pitch = (g.size + 3) / 4 * 4;
    s.a = (float *)shared;
    s.x = s.a + s.pitch * s.pitch;
    s.part = s.x + (edges ? RIGHT : 4) * s.pitch;
    const int number = first + blockIdx.x, bin = blockIdx.y;
    const LithoFxSpot spot = g.spots[number];
    const float *matrix = g.matrix + system_of(g, number, bin) * g.matrix_pitch;
    float2 *taps = (float2 *)g.taps + ((long long)bin * g.n_slots + spot.slot) * g.size;
    const int across = spot.d_xl1 - spot.d_xl0 + 1;
    float2 *centre = taps + (-spot.d_il0 * across - spot.d_xl0) * g.size;

    float trace = 0;
    for (int k = threadIdx.x; k < s.size; k += blockDim.x)
        trace += matrix[litho_fx_packed(s.size, k, k)];
    trace = block_sum(trace, s.part);
    const bool alive = trace > 0;
    const float lambda = alive ? g.share * trace : 1.0f;
    bool done = false;
    if (g.solver != LITHO_FX_CHOLESKY) {
        load(s, matrix, lambda, true);
        done = g.solver == LITHO_FX_CG ? conjugate_gradients(s) : jacobi(s);
        if (done)
            write_centre(g, s, matrix, lambda, centre);
        __syncthreads();
    }
    load(s, matrix, lambda, false);
    const bool factored = cholesky(s);
    if (!done) {
        for (int k = threadIdx.x; k < s.pitch; k += blockDim.x) // the last row is L^{-1} g already
            s.x[k] = k < s.size - 1 ? s.a[k * s.pitch + s.size - 1] : 0;
        __syncthreads();
        backward(s, 1, s.size - 1);
        write_centre(g, s, matrix, lambda, centre);
    }
    if (edges)
        edge_filters(g, spot, s, matrix, lambda, taps);
    if (threadIdx.x > 0)
        return;
    const bool good = alive && (done || factored);
    g.good[system_of(g, number, bin)] = good;
    if (last && alive) {
        atomicAdd(g.counters + LITHO_FX_SYSTEMS, 1);
        if (g.solver != LITHO_FX_CHOLESKY && !done)
            atomicAdd(g.counters + LITHO_FX_FALLBACKS, 1);
        if (!good)
            atomicAdd(g.counters + LITHO_FX_FAILED, 1);
    }
}

int litho_fx_solve(const LithoFxGroup *g, int first, int count, int edges, int last,
                   cudaStream_t stream)
{
    if (count == 0)
        return (int)cudaSuccess;
    const int pitch = (g->size + 3) / 4 * 4;
    const int bytes = 4 * (pitch * pitch + (edges ? RIGHT : 4) * pitch + LARGE / 32);
    cudaError_t status =
        cudaFuncSetAttribute(solve_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (status != cudaSuccess)
        return (int)status;
    solve_kernel<<<dim3(count, g->bins), pitch <= 64 ? SMALL : LARGE, bytes, stream>>>(*g, first,
                                                                                      edges, last);
    return (int)cudaGetLastError();
}
