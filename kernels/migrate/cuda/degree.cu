// SPDX-License-Identifier: GPL-3.0-or-later
//
// One launch a degree with a tile in shared memory: the published shape of the program (GPU Gems 3,
// listing 38-4), for both forms, several depths a step, and the adjoint. Where the publication
// reads its table of coefficients through the texture unit, whose interpolation has eight bits,
// this reads it through the read-only cache and interpolates in full precision.
//
// Per point and degree: 34 fp32 instructions for the stencil, 4 (8 with look-up) a target; 32 bytes
// of device memory for T's and 16 a target.
#include "kernels/migrate/cuda/kernels.h"

namespace
{

enum {
    TILE_X = 32,
    TILE_Y = 24,
    ROWS = 3,
    R = LITHO_STENCIL_RADIUS,
    WIDE = TILE_X + 2 * R,
    HIGH = TILE_Y + 2 * R
};

struct Coef {
    float re, im;
};

// a_n of target m at a point: the plane's polynomial, or the table at the local slowness.
__device__ Coef coefficient(const MigGpuDegree &a, const MigGpuStep *step, int wave, int m, int n,
                            float slowness)
{
    if (!a.table) {
        const float *c = a.coef + ((size_t)step->entry * a.targets + m) * 2 * MIG_GPU_COEFS + n;
        return {c[0], c[MIG_GPU_COEFS]};
    }
    const float2 *row = (const float2 *)a.table + ((size_t)m * a.n_coefs + n) * a.n_table;
    float at = fminf(fmaxf(slowness * a.table_scale[wave] - a.table_offset, 0), a.n_table - 1);
    const int k = min((int)at, a.n_table - 2);
    const float f = at - k;
    const float2 lo = __ldg(row + k), hi = __ldg(row + k + 1);
    return {lo.x + f * (hi.x - lo.x), lo.y + f * (hi.y - lo.y)};
}

__device__ void load_tile(const MigGpuDegree &a, int wave, int x0, int y0,
                          float (&tile)[2][HIGH][WIDE])
{
    const size_t im = (size_t)a.plane.ny * a.plane.pitch;
    const float *now = a.now + wave * a.plane.size;
    for (int k = threadIdx.y * TILE_X + threadIdx.x; k < HIGH * WIDE; k += TILE_X * TILE_Y / ROWS) {
        const int i = k % WIDE, j = k / WIDE, x = x0 + i - R, y = y0 + j - R;
        const bool inside = x >= 0 && x < a.plane.nx && y >= 0 && y < a.plane.ny;
        const size_t at = (size_t)y * a.plane.pitch + x;
        tile[0][j][i] = inside ? now[at] : 0;
        tile[1][j][i] = inside ? now[im + at] : 0;
    }
}

__device__ float stencil(const LithoStencil &s, float centre, const float (&tile)[HIGH][WIDE],
                         int i, int j)
{
    float v = centre * tile[j][i];
#pragma unroll
    for (int m = 1; m <= R; m++) {
        v = fmaf(s.hx[m - 1], tile[j][i - m] + tile[j][i + m], v);
        v = fmaf(s.hy[m - 1], tile[j - m][i] + tile[j + m][i], v);
    }
    return v;
}

// T_n = Y T_(n-1) - T_(n-2) into `other`; W_m += a_n T_n. The first degree also makes a_0 T_0.
__device__ void forward_point(const MigGpuDegree &a, const MigGpuStep *step, int wave, size_t at,
                              float slowness, float yr, float yi, float nr, float ni)
{
    const size_t im = (size_t)a.plane.ny * a.plane.pitch, base = wave * a.plane.size + at;
    const float tr = a.n == 1 ? 0.5f * yr : yr - a.other[base];
    const float ti = a.n == 1 ? 0.5f * yi : yi - a.other[base + im];
    a.other[base] = tr;
    a.other[base + im] = ti;
    for (int m = 0; m < a.targets; m++) {
        const Coef c = coefficient(a, step, wave, m, a.n, slowness);
        float wr = c.re * tr - c.im * ti, wi = c.re * ti + c.im * tr;
        if (a.n == 1) {
            const Coef z = coefficient(a, step, wave, m, 0, slowness);
            wr += z.re * nr - z.im * ni;
            wi += z.re * ni + z.im * nr;
        } else {
            wr += a.sum[m][base];
            wi += a.sum[m][base + im];
        }
        a.sum[m][base] = wr;
        a.sum[m][base + im] = wi;
    }
}

// b_n = sum_m conj(a_n^m) in_m + Y b_(n+1) - b_(n+2).
__device__ void adjoint_point(const MigGpuDegree &a, const MigGpuStep *step, int wave, size_t at,
                              float slowness, float yr, float yi)
{
    const size_t im = (size_t)a.plane.ny * a.plane.pitch, base = wave * a.plane.size + at;
    float br = 0, bi = 0;
    if (a.n < a.degree) {
        const float half = a.n == 0 ? 0.5f : 1;
        br = half * yr;
        bi = half * yi;
        if (a.n < a.degree - 1) {
            br -= a.other[base];
            bi -= a.other[base + im];
        }
    }
    for (int m = 0; m < a.targets; m++) {
        const Coef c = coefficient(a, step, wave, m, a.n, slowness);
        const float pr = a.in[m][base], pi = a.in[m][base + im];
        br += c.re * pr + c.im * pi;
        bi += c.re * pi - c.im * pr;
    }
    a.other[base] = br;
    a.other[base + im] = bi;
}

__global__ void degree_kernel(const __grid_constant__ MigGpuDegree a)
{
    __shared__ float tile[2][HIGH][WIDE];
    const int x0 = blockIdx.x * TILE_X, y0 = blockIdx.y * TILE_Y, wave = blockIdx.z;
    if (a.now)
        load_tile(a, wave, x0, y0, tile);
    __syncthreads();
    const MigGpuStep *step = a.steps + wave;
    const LithoStencil s = step->stencil;
    const int x = x0 + threadIdx.x;
    if (x >= a.plane.nx)
        return;
    for (int k = 0; k < ROWS; k++) {
        const int j = threadIdx.y * ROWS + k, y = y0 + j;
        if (y >= a.plane.ny)
            return;
        const size_t at = (size_t)y * a.plane.pitch + x;
        const float slowness = a.slowness ? a.slowness[at] : a.slow_value;
        const float centre = fmaf(s.beta, slowness * slowness, s.alpha);
        const int i = threadIdx.x + R;
        float yr = 0, yi = 0, nr = 0, ni = 0;
        if (a.now) {
            nr = tile[0][j + R][i];
            ni = tile[1][j + R][i];
            yr = stencil(s, centre, tile[0], i, j + R);
            yi = stencil(s, centre, tile[1], i, j + R);
        }
        if (a.adjoint)
            adjoint_point(a, step, wave, at, slowness, yr, yi);
        else
            forward_point(a, step, wave, at, slowness, yr, yi, nr, ni);
    }
}

} // namespace

int mig_gpu_degree(const MigGpuDegree *a, cudaStream_t stream)
{
    const dim3 grid((a->plane.nx + TILE_X - 1) / TILE_X, (a->plane.ny + TILE_Y - 1) / TILE_Y,
                    a->n_waves);
    degree_kernel<<<grid, dim3(TILE_X, TILE_Y / ROWS), 0, stream>>>(*a);
    return (int)cudaGetLastError();
}
