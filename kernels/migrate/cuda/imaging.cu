// SPDX-License-Identifier: GPL-3.0-or-later
//
// From waves to image and back. All sums run in a fixed order: the samples are the same every time.
#include "kernels/migrate/cuda/kernels.h"

namespace
{

enum { LANES = 32, SLICES = 8, THREADS = 256 };

__device__ float sponge_at(const MigGpuFrame &f, int x, int y)
{
    float g = f.sponge_x ? f.sponge_x[x] : 1;
    return f.sponge_y ? g * f.sponge_y[y] : g;
}

// Blocks that a row takes. They are counted through all rows along one axis of the grid, since the
// others end at 65,535.
__host__ __device__ int blocks_across(const MigGpuFrame &f)
{
    return (f.plane.nx + LANES - 1) / LANES;
}

// Factor that undoes the sponge on a wave; nothing of the wave is left below 1e-18.
__device__ float undone(int sponge, float g)
{
    return sponge != MIG_GPU_SPONGE_DONE ? 1 : g > 1e-18f ? 1 / g : 0;
}

// Cell under the image, or -1.
__device__ int data_cell(const MigGpuFrame &f, int x, int y)
{
    const int i = x - f.pad_x, j = y - f.pad_y;
    return i >= 0 && j >= 0 && i < f.data_nx && j < f.data_ny ? j * f.data_nx + i : -1;
}

// Sums of the block's eight slices of frequencies, first to last, by the threads of slice 0.
__device__ float slices_sum(float (&part)[SLICES][LANES], float mine)
{
    part[threadIdx.y][threadIdx.x] = mine;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < SLICES; k++)
        sum += part[k][threadIdx.x];
    __syncthreads();
    return sum;
}

// 4 bytes read a point and frequency, 12 more written and read where the sponge is.
__global__ void image_kernel(const __grid_constant__ MigGpuFrame f, float *waves, float scale,
                             float *sum, int sponge)
{
    __shared__ float part[SLICES][LANES];
    const int across = blocks_across(f), y = blockIdx.x / across;
    const int x = blockIdx.x % across * LANES + threadIdx.x;
    const size_t im = f.plane.im;
    const bool inside = x < f.plane.nx;
    const float g = sponge && inside ? sponge_at(f, x, y) : 1;
    const bool apply = sponge == MIG_GPU_SPONGE && g != 1;
    float mine = 0;
    if (inside) {
        float *p = waves + ((size_t)y * f.plane.pitch + x) * f.plane.step;
#pragma unroll 4
        for (int k = threadIdx.y; k < f.n_waves; k += SLICES) {
            float *w = p + k * f.plane.size;
            const float re = w[0];
            mine += re;
            if (apply) {
                w[0] = g * re;
                w[im] *= g;
            }
        }
    }
    const float total = slices_sum(part, mine);
    const int cell = inside ? data_cell(f, x, y) : -1;
    if (sum && cell >= 0 && threadIdx.y == 0)
        sum[cell] += scale * total * undone(sponge, g);
}

__global__ void correlate_kernel(const __grid_constant__ MigGpuFrame f, float *up, float *down,
                                 int n_plain, float *sum, float *light, int sponge)
{
    __shared__ float part[SLICES][LANES];
    const int across = blocks_across(f), y = blockIdx.x / across;
    const int x = blockIdx.x % across * LANES + threadIdx.x;
    const size_t im = f.plane.im;
    const bool inside = x < f.plane.nx;
    const float g = sponge && inside ? sponge_at(f, x, y) : 1;
    const bool apply = sponge == MIG_GPU_SPONGE && g != 1;
    float mine = 0, lit = 0;
    if (inside) {
        const size_t at = ((size_t)y * f.plane.pitch + x) * f.plane.step;
#pragma unroll 2
        for (int k = threadIdx.y; k < f.n_waves; k += SLICES) {
            float *u = up + at + k * f.plane.size, *d = down + at + k * f.plane.size;
            const float ur = u[0], ui = u[im], dr = d[0], di = d[im];
            if (k < n_plain) {
                mine += ur * dr - ui * di;
                lit += dr * dr + di * di;
            }
            if (apply) {
                u[0] = g * ur;
                u[im] = g * ui;
                d[0] = g * dr;
                d[im] = g * di;
            }
        }
    }
    const float total = slices_sum(part, mine), light_total = slices_sum(part, lit);
    const int cell = inside ? data_cell(f, x, y) : -1;
    if (sum && cell >= 0 && threadIdx.y == 0) {
        const float u = undone(sponge, g);
        sum[cell] += u * u * total;
        light[cell] += u * u * light_total;
    }
}

__global__ void inject_kernel(const __grid_constant__ MigGpuFrame f, float *waves,
                              const float *plane, float scale, int sponge)
{
    const int across = blocks_across(f), y = blockIdx.x / across;
    const int x = blockIdx.x % across * LANES + threadIdx.x;
    const size_t im = f.plane.im;
    if (x >= f.plane.nx)
        return;
    const float g = sponge ? sponge_at(f, x, y) : 1;
    const int cell = data_cell(f, x, y);
    const float value = plane && cell >= 0 ? scale * plane[cell] : 0;
    if (g == 1 && value == 0)
        return;
    float *p = waves + ((size_t)y * f.plane.pitch + x) * f.plane.step;
    for (int k = threadIdx.y + SLICES * blockIdx.z; k < f.n_waves; k += SLICES * gridDim.z) {
        float *w = p + k * f.plane.size;
        w[0] = g * w[0] + value;
        w[im] *= g;
    }
}

// A tile of 32 x 32 turned in shared memory; both sides read and written in rows.
__global__ void planes_to_traces_kernel(const float *planes, const float *light,
                                        const float *largest, float eps, float scale,
                                        size_t cells, int nz, float *out)
{
    __shared__ float tile[32][33];
    const size_t cell0 = (size_t)blockIdx.x * 32;
    const int z0 = blockIdx.y * 32;
    for (int k = threadIdx.y; k < 32; k += 8) {
        const size_t cell = cell0 + threadIdx.x;
        if (z0 + k < nz && cell < cells) {
            const size_t at = (size_t)(z0 + k) * cells + cell;
            float v = scale * planes[at];
            if (light)
                v /= fmaxf(light[at], 0) + fmaxf(eps * largest[z0 + k], 1e-30f);
            tile[k][threadIdx.x] = v;
        }
    }
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8)
        if (cell0 + k < cells && z0 + threadIdx.x < nz)
            out[(cell0 + k) * nz + z0 + threadIdx.x] = tile[threadIdx.x][k];
}

__global__ void traces_to_planes_kernel(const float *traces, const unsigned char *live,
                                        size_t cells, int nz, float *planes)
{
    __shared__ float tile[32][33];
    const size_t cell0 = (size_t)blockIdx.x * 32;
    const int z0 = blockIdx.y * 32;
    for (int k = threadIdx.y; k < 32; k += 8)
        if (cell0 + k < cells && z0 + threadIdx.x < nz) {
            const float v = traces[(cell0 + k) * nz + z0 + threadIdx.x];
            tile[threadIdx.x][k] = live[cell0 + k] && isfinite(v) ? v : 0;
        }
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8)
        if (z0 + k < nz && cell0 + threadIdx.x < cells)
            planes[(size_t)(z0 + k) * cells + cell0 + threadIdx.x] = tile[k][threadIdx.x];
}

__global__ void plane_max_kernel(const float *planes, size_t cells, float *largest)
{
    __shared__ float part[THREADS];
    float m = 0;
    for (size_t k = threadIdx.x; k < cells; k += THREADS)
        m = fmaxf(m, planes[blockIdx.x * cells + k]);
    part[threadIdx.x] = m;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        largest[blockIdx.x] = part[0];
}

__global__ void square_kernel(float *v, size_t n)
{
    const size_t k = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (k < n)
        v[k] *= v[k];
}

__global__ void add_kernel(float *a, const float *b, size_t n)
{
    const size_t k = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (k < n)
        a[k] += b[k];
}

__global__ void energy_kernel(MigGpuPlane plane, const float *waves, double *energy)
{
    __shared__ double part[THREADS];
    const float *w = waves + blockIdx.x * plane.size;
    double e = 0;
    for (size_t k = threadIdx.x; k < plane.size; k += THREADS)
        e += (double)w[k] * w[k];
    part[threadIdx.x] = e;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        energy[blockIdx.x] = part[0];
}

__global__ void growth_kernel(const double *energy, double *floor, double *grown, double limit,
                              int n)
{
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k >= n)
        return;
    if (energy[k] <= limit * floor[k])
        floor[k] = fmin(floor[k], energy[k]);
    else if (grown[k] == 0)
        grown[k] = energy[k] / floor[k];
}

__global__ void taps_kernel(MigGpuTaps t, size_t outer, size_t inner, const float *in, float *out,
                            int add)
{
    const size_t k = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (k >= outer * t.n_out * inner)
        return;
    const size_t x = k % inner, a = k / inner / t.n_out;
    const int o = k / inner % t.n_out, count = t.count[o];
    const float *weight = t.weight + (size_t)o * t.width;
    in += (a * t.n_in + t.first[o]) * inner + x;
    float sum = add ? out[k] : 0;
    for (int n = 0; n < count; n++)
        sum += weight[n] * in[n * inner];
    out[k] = sum;
}

unsigned blocks_for(size_t n)
{
    return (unsigned)((n + THREADS - 1) / THREADS);
}

dim3 frame_grid(const MigGpuFrame *f)
{
    return dim3((unsigned)blocks_across(*f) * f->plane.ny);
}

} // namespace

int mig_gpu_image(const MigGpuFrame *f, float *waves, float scale, float *sum, int sponge,
                  cudaStream_t stream)
{
    image_kernel<<<frame_grid(f), dim3(LANES, SLICES), 0, stream>>>(*f, waves, scale, sum, sponge);
    return (int)cudaGetLastError();
}

int mig_gpu_correlate(const MigGpuFrame *f, float *up, float *down, int n_plain, float *sum,
                      float *light, int sponge, cudaStream_t stream)
{
    correlate_kernel<<<frame_grid(f), dim3(LANES, SLICES), 0, stream>>>(*f, up, down, n_plain, sum,
                                                                        light, sponge);
    return (int)cudaGetLastError();
}

int mig_gpu_inject(const MigGpuFrame *f, float *waves, const float *plane, float scale, int sponge,
                   cudaStream_t stream)
{
    dim3 grid = frame_grid(f);
    grid.z = (f->n_waves + 63) / 64;
    inject_kernel<<<grid, dim3(LANES, SLICES), 0, stream>>>(*f, waves, plane, scale, sponge);
    return (int)cudaGetLastError();
}

int mig_gpu_planes_to_traces(const float *planes, const float *light, const float *largest,
                             float eps, float scale, size_t cells, int nz, float *out,
                             cudaStream_t stream)
{
    const dim3 grid((unsigned)((cells + 31) / 32), (nz + 31) / 32);
    planes_to_traces_kernel<<<grid, dim3(32, 8), 0, stream>>>(planes, light, largest, eps, scale,
                                                              cells, nz, out);
    return (int)cudaGetLastError();
}

int mig_gpu_traces_to_planes(const float *traces, const unsigned char *live, size_t cells, int nz,
                             float *planes, cudaStream_t stream)
{
    const dim3 grid((unsigned)((cells + 31) / 32), (nz + 31) / 32);
    traces_to_planes_kernel<<<grid, dim3(32, 8), 0, stream>>>(traces, live, cells, nz, planes);
    return (int)cudaGetLastError();
}

int mig_gpu_plane_max(const float *planes, size_t cells, int nz, float *largest,
                      cudaStream_t stream)
{
    plane_max_kernel<<<nz, THREADS, 0, stream>>>(planes, cells, largest);
    return (int)cudaGetLastError();
}

int mig_gpu_square(float *values, size_t n, cudaStream_t stream)
{
    square_kernel<<<blocks_for(n), THREADS, 0, stream>>>(values, n);
    return (int)cudaGetLastError();
}

int mig_gpu_add(float *a, const float *b, size_t n, cudaStream_t stream)
{
    add_kernel<<<blocks_for(n), THREADS, 0, stream>>>(a, b, n);
    return (int)cudaGetLastError();
}

int mig_gpu_energy(const MigGpuPlane *plane, const float *waves, int n_waves, double *energy,
                   cudaStream_t stream)
{
    energy_kernel<<<n_waves, THREADS, 0, stream>>>(*plane, waves, energy);
    return (int)cudaGetLastError();
}

int mig_gpu_growth(const double *energy, double *floor, double *grown, double limit, int n_waves,
                   cudaStream_t stream)
{
    growth_kernel<<<blocks_for(n_waves), THREADS, 0, stream>>>(energy, floor, grown, limit,
                                                               n_waves);
    return (int)cudaGetLastError();
}

int mig_gpu_taps(const MigGpuTaps *taps, size_t outer, size_t inner, const float *in, float *out,
                 int add, cudaStream_t stream)
{
    taps_kernel<<<blocks_for(outer * taps->n_out * inner), THREADS, 0, stream>>>(
        *taps, outer, inner, in, out, add);
    return (int)cudaGetLastError();
}
