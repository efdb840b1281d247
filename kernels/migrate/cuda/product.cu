// SPDX-License-Identifier: GPL-3.0-or-later
//
// The product of two waves on a grid twice as fine, filtered and taken at every second sample:
// product.c on a tile of the image. Interpolation is per frequency; products are added up over the
// frequencies where they arise, between the cells, and the filter's transpose is applied once at
// the end.
//
// Per cell and frequency about 400 multiply-adds, as many 4-byte reads of shared memory, and 16
// bytes (33 with the tile's border) read from the cache or device memory.
#include "kernels/migrate/cuda/kernels.h"
#include "kernels/migrate/half_sample.h"

namespace
{

enum {
    TX = 32,
    TY = 16,
    THREADS = 256, // cells of a tile
    R = LITHO_HALF_REACH,
    BORDER = 2 * R - 1, // cells that a tile's image looks at beyond it
    WX = TX + 2 * BORDER + 1,
    WY = TY + 2 * BORDER + 1, // waves: from -BORDER on
    HX = TX + 2 * R - 1,
    HY = TY + 2 * R - 1, // places between: -R + 1/2 .. TX + R - 3/2
    CELLS = TY * TX,
    ACROSS = TY * HX,
    BELOW = HY * TX,
    CORNER = HY * HX,
    PLACES = CELLS + ACROSS + BELOW + CORNER,
};

// Everything a block keeps in shared memory.
struct Tile {
    float wave[4][WY][WX]; // up re, im, down re, im
    float half[4][WY][HX]; // between the cells of a row
    float sum[2][PLACES];  // products and |down|^2: cells, between columns, between rows, both
};

__device__ float half_sample(int j)
{
    constexpr float c[R] = LITHO_HALF_SAMPLE;
    return c[j];
}

// Factor that undoes the sponge on a wave; nothing of the wave is left below 1e-18.
__device__ float undone(const MigGpuFrame &f, int x, int y)
{
    const float g = (f.sponge_x ? f.sponge_x[x] : 1) * (f.sponge_y ? f.sponge_y[y] : 1);
    return g > 1e-18f ? 1 / g : 0;
}

// x0, y0: cell of the plane at wave[.][0][0]. `undo`: the sponge was applied.
__device__ void load_waves(Tile &t, const MigGpuFrame &f, const float *up, const float *down,
                           int x0, int y0, bool undo)
{
    const size_t im = f.plane.im;
    for (int k = threadIdx.x; k < WY * WX; k += THREADS) {
        const int i = k / WX, j = k % WX, x = x0 + j, y = y0 + i;
        const bool inside = x >= 0 && x < f.plane.nx && y >= 0 && y < f.plane.ny;
        const size_t at = inside ? ((size_t)y * f.plane.pitch + x) * f.plane.step : 0;
        const float g = !inside ? 0 : undo ? undone(f, x, y) : 1;
        t.wave[0][i][j] = g * up[at];
        t.wave[1][i][j] = g * up[at + im];
        t.wave[2][i][j] = g * down[at];
        t.wave[3][i][j] = g * down[at + im];
    }
}

__device__ void fill_half(Tile &t)
{
    for (int k = threadIdx.x; k < 4 * WY * HX; k += THREADS) {
        const int c = k / (WY * HX), i = k / HX % WY, j = k % HX;
        float v = 0;
#pragma unroll
        for (int m = 0; m < R; m++)
            v += half_sample(m) * (t.wave[c][i][j + R - 1 - m] + t.wave[c][i][j + R + m]);
        t.half[c][i][j] = v;
    }
}

// The four parts at one place: column of `from`, row i of the waves, or between rows i and i + 1.
template <int WIDTH>
__device__ void add_place(Tile &t, const float (&from)[4][WY][WIDTH], int i, int j, bool between,
                          int place)
{
    float v[4];
#pragma unroll
    for (int c = 0; c < 4; c++) {
        v[c] = between ? 0 : from[c][i][j];
        if (between)
#pragma unroll
            for (int m = 0; m < R; m++)
                v[c] += half_sample(m) * (from[c][i - m][j] + from[c][i + 1 + m][j]);
    }
    t.sum[0][place] += v[0] * v[2] - v[1] * v[3];
    t.sum[1][place] += v[2] * v[2] + v[3] * v[3];
}

// Places outside half a cell of the plane's edge stay 0, as on the CPU.
__device__ void add_products(Tile &t, const MigGpuFrame &f, int x0, int y0)
{
    for (int k = threadIdx.x; k < PLACES; k += THREADS) {
        if (k < CELLS) {
            add_place(t, t.wave, k / TX + BORDER, k % TX + BORDER, false, k);
        } else if (k < CELLS + ACROSS) {
            const int i = (k - CELLS) / HX, j = (k - CELLS) % HX, x = x0 + j + R - 1;
            if (x >= -1 && x < f.plane.nx)
                add_place(t, t.half, i + BORDER, j, false, k);
        } else if (k < CELLS + ACROSS + BELOW) {
            const int i = (k - CELLS - ACROSS) / TX, j = (k - CELLS - ACROSS) % TX,
                      y = y0 + i + R - 1;
            if (y >= -1 && y < f.plane.ny)
                add_place(t, t.wave, i + R - 1, j + BORDER, true, k);
        } else {
            const int n = k - CELLS - ACROSS - BELOW, i = n / HX, j = n % HX;
            const int x = x0 + j + R - 1, y = y0 + i + R - 1;
            if (x >= -1 && x < f.plane.nx && y >= -1 && y < f.plane.ny)
                add_place(t, t.half, i + R - 1, j, true, k);
        }
    }
}

// A row's places: its cells and, filtered, those between them.
__device__ float row_at(const float *cells, const float *between, int j, bool along_x)
{
    float v = cells[j];
    if (!along_x)
        return v;
#pragma unroll
    for (int m = 0; m < R; m++)
        v += half_sample(m) * (between[j + R + m] + between[j + R - 1 - m]);
    return 0.5f * v;
}

__device__ float filtered(const float *sum, int i, int j, bool along_x, bool along_y)
{
    const float *across = sum + CELLS, *below = across + ACROSS, *corner = below + BELOW;
    float v = row_at(sum + i * TX, across + i * HX, j, along_x);
    if (!along_y)
        return v;
    for (int m = 0; m < R; m++)
        for (int side = 0; side < 2; side++) {
            const int r = side ? i + R - 1 - m : i + R + m;
            v += half_sample(m) * row_at(below + r * TX, corner + r * HX, j, along_x);
        }
    return 0.5f * v;
}

__global__ void __launch_bounds__(THREADS)
    protect_kernel(const __grid_constant__ MigGpuFrame f, const float *up, const float *down,
                   int first, float *sum, float *light, int undo)
{
    extern __shared__ float memory[];
    Tile &t = *reinterpret_cast<Tile *>(memory);
    const int i0 = blockIdx.y * TY, j0 = blockIdx.x * TX;
    const int x0 = f.pad_x + j0 - BORDER, y0 = f.pad_y + i0 - BORDER;
    for (int k = threadIdx.x; k < 2 * PLACES; k += THREADS)
        t.sum[k / PLACES][k % PLACES] = 0;
    __syncthreads();
    for (int w = first; w < f.n_waves; w++) {
        load_waves(t, f, up + w * f.plane.size, down + w * f.plane.size, x0, y0, undo);
        __syncthreads();
        fill_half(t);
        __syncthreads();
        add_products(t, f, x0, y0);
        __syncthreads();
    }
    for (int k = threadIdx.x; k < CELLS; k += THREADS) {
        const int i = k / TX, j = k % TX;
        if (i0 + i >= f.data_ny || j0 + j >= f.data_nx)
            continue;
        const size_t cell = (size_t)(i0 + i) * f.data_nx + j0 + j;
        const bool along_x = f.plane.nx > 1, along_y = f.plane.ny > 1;
        sum[cell] += filtered(t.sum[0], i, j, along_x, along_y);
        light[cell] += filtered(t.sum[1], i, j, along_x, along_y);
    }
}

} // namespace

int mig_gpu_protect(const MigGpuFrame *f, const float *up, const float *down, int first, float *sum,
                    float *light, int sponge, cudaStream_t stream)
{
    const cudaError_t set = cudaFuncSetAttribute(
        protect_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(Tile));
    if (set != cudaSuccess)
        return (int)set;
    const dim3 grid((f->data_nx + TX - 1) / TX, (f->data_ny + TY - 1) / TY);
    protect_kernel<<<grid, THREADS, sizeof(Tile), stream>>>(*f, up, down, first, sum, light,
                                                            sponge == MIG_GPU_SPONGE_DONE);
    return (int)cudaGetLastError();
}
