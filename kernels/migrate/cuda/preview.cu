// SPDX-License-Identifier: GPL-3.0-or-later
//
// A first look at a stack's image (preview.h): waves go down in wavenumbers. A thread owns one
// wavenumber of EACH frequencies, with their multipliers in registers; GROUPS of threads have the
// frequencies of a block's 32 wavenumbers, and their sums meet in shared memory, PLANES depths at a
// time. All sums run in a fixed order.
#include "kernels/migrate/cuda/kernels.h"

namespace
{

enum { LANES = 32, GROUPS = 16, EACH = 8, PLANES = 8, THREADS = 256 };

__device__ __forceinline__ float2 times(const float2 &a, const float2 &b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

__device__ __forceinline__ float4 row_of(const float *a, int n)
{
    return __ldg(reinterpret_cast<const float4 *>(a + n));
}

__device__ __forceinline__ void clenshaw(float a, float y, float &b1, float &b2)
{
    const float b = fmaf(y, b1, a - b2);
    b2 = b1;
    b1 = b;
}

// sum a_n T_n(y / 2), n = 0 .. degree; coefficients beyond are 0 up to the next multiple of 4.
__device__ __noinline__ float series(const float *a, int degree, float y)
{
    float b1 = 0, b2 = 0;
    for (int n = degree & ~3; n > 0; n -= 4) {
        const float4 c = row_of(a, n);
        clenshaw(c.w, y, b1, b2);
        clenshaw(c.z, y, b1, b2);
        clenshaw(c.y, y, b1, b2);
        clenshaw(c.x, y, b1, b2);
    }
    const float4 c = row_of(a, 0);
    clenshaw(c.w, y, b1, b2);
    clenshaw(c.z, y, b1, b2);
    clenshaw(c.y, y, b1, b2);
    return fmaf(0.5f * y, b1, c.x - b2);
}

// One thread's wavenumber.
struct Number {
    float x[4], y[4]; // 2 cos((m + 1) k d) along both axes
};

__device__ float symbol(const Number &k, const LithoStencil &stencil, float slow2)
{
    float y = fmaf(stencil.beta, slow2, stencil.alpha);
#pragma unroll
    for (int m = 0; m < 4; m++)
        y = fmaf(stencil.hx[m], k.x[m], fmaf(stencil.hy[m], k.y[m], y));
    return y;
}

// Sums of depths that wait for the other groups of threads.
struct Waiting {
    int first, n; // planes
};

__device__ void store(const MigGpuPreview &a, float2 (&part)[PLANES][GROUPS][LANES], Waiting &wait,
                      int at, bool add)
{
    __syncthreads();
    if ((int)threadIdx.y < wait.n && at < a.nx * a.ny) {
        float2 sum = make_float2(0, 0);
        for (int g = 0; g < GROUPS; g++) {
            const float2 v = part[threadIdx.y][g][threadIdx.x];
            sum.x += v.x;
            sum.y += v.y;
        }
        float2 *to = reinterpret_cast<float2 *>(a.image) +
                     (size_t)(wait.first + threadIdx.y) * a.nx * a.ny + at;
        *to = add ? make_float2(to->x + sum.x, to->y + sum.y) : sum;
    }
    __syncthreads();
    wait.first += wait.n;
    wait.n = 0;
}

template <int TARGETS>
__global__ void __launch_bounds__(LANES *GROUPS)
    down_kernel(const __grid_constant__ MigGpuPreview a)
{
    __shared__ float2 part[PLANES][GROUPS][LANES];
    const int n = a.nx * a.ny, at = blockIdx.x * LANES + threadIdx.x;
    const int kx = min(at, n - 1) % a.nx, ky = min(at, n - 1) / a.nx;
    Number k;
    for (int m = 0; m < 4; m++) {
        k.x[m] = 2 * cospif(2 * (float)((m + 1) * kx % a.nx) / a.nx);
        k.y[m] = 2 * cospif(2 * (float)((m + 1) * ky % a.ny) / a.ny);
    }
    for (int base = 0; base < a.nf; base += GROUPS * EACH) {
        float2 wave[EACH], g[TARGETS][EACH], sum = make_float2(0, 0);
        Waiting wait = {0, 0};
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            const int f = base + j * GROUPS + threadIdx.y;
            wave[j] = f < a.nf && at < n
                          ? reinterpret_cast<const float2 *>(a.waves)[(size_t)f * n + at]
                          : make_float2(0, 0);
            sum.x += wave[j].x;
            sum.y += wave[j].y;
            for (int m = 0; m < TARGETS; m++)
                g[m][j] = make_float2(0, 0);
        }
        part[wait.n++][threadIdx.y][threadIdx.x] = sum;
        for (int s = 0; s < a.n_steps; s++) {
            const int flags = a.flags[s];
            const float slow2 = a.slow2[s];
            if (flags)
#pragma unroll
                for (int j = 0; j < EACH; j++) {
                    const int f = base + j * GROUPS + threadIdx.y;
                    if (f >= a.nf)
                        continue;
                    const MigGpuStep *step = a.steps + (size_t)s * a.nf + f;
                    const float y = symbol(k, step->stencil, slow2);
                    const size_t entry = step->entry;
                    if (flags & MIG_GPU_PREVIEW_STOP) {
                        const float pass =
                            series(a.stop + entry * 2 * MIG_GPU_COEFS, a.stop_degree, y);
                        wave[j].x *= pass;
                        wave[j].y *= pass;
                    }
                    if (!(flags & MIG_GPU_PREVIEW_NEW))
                        continue;
#pragma unroll
                    for (int m = 0; m < TARGETS; m++) {
                        const float *c = a.coef + (entry * TARGETS + m) * 2 * MIG_GPU_COEFS;
                        g[m][j].x = series(c, a.degree[m], y);
                        g[m][j].y = series(c + MIG_GPU_COEFS, a.degree[m], y);
                    }
                }
#pragma unroll
            for (int m = 0; m < TARGETS; m++) {
                if (s * TARGETS + m + 1 >= a.nz)
                    break;
                sum = make_float2(0, 0);
#pragma unroll
                for (int j = 0; j < EACH; j++) {
                    const float2 v = times(g[m][j], wave[j]);
                    sum.x += v.x;
                    sum.y += v.y;
                    if (m == TARGETS - 1)
                        wave[j] = v;
                }
                part[wait.n++][threadIdx.y][threadIdx.x] = sum;
                if (wait.n == PLANES)
                    store(a, part, wait, at, base > 0);
            }
        }
        store(a, part, wait, at, base > 0);
    }
}

__global__ void load_kernel(MigGpuPlane p, const float *waves, int pad_x, int pad_y, int data_nx,
                            int data_ny, int nx, int ny, float2 *out)
{
    const int across = (nx + THREADS - 1) / THREADS, y = blockIdx.x / across;
    const int x = blockIdx.x % across * THREADS + threadIdx.x;
    if (x >= nx)
        return;
    float2 v = make_float2(0, 0);
    if (x < data_nx && y < data_ny) {
        const float *from = waves + blockIdx.z * p.size + (size_t)(y + pad_y) * p.pitch + x + pad_x;
        v = make_float2(from[0], from[p.im]);
    }
    out[((size_t)blockIdx.z * ny + y) * nx + x] = v;
}

// Planes of the image; with `time`, where the cell's own vertical time says.
__global__ void planes_kernel(const __grid_constant__ MigGpuPreviewImage a, int some)
{
    const size_t cells = (size_t)a.data_nx * a.data_ny;
    const size_t cell = (size_t)blockIdx.x * THREADS + threadIdx.x, plane = (size_t)a.nx * a.ny;
    if (cell >= cells)
        return;
    const int x = cell % a.data_nx, y = cell / a.data_nx;
    const float2 *from = reinterpret_cast<const float2 *>(a.image) + (size_t)y * a.nx + x;
    if (!a.time) {
        const int end = min((int)(blockIdx.y + 1) * some, a.nz);
        for (int z = blockIdx.y * some; z < end; z++)
            a.planes[cells * z + cell] = a.scale * from[plane * z].x;
        return;
    }
    const float *slow = a.slow + (size_t)(y + a.pad_y) * a.pitch + x + a.pad_x;
    float time = 0;
    int at = 0;
    for (int z = 0; z < a.nz; z++) {
        while (at + 2 < a.nz && a.time[at + 1] < time)
            at++;
        const float part = (time - a.time[at]) / (a.time[at + 1] - a.time[at]);
        const float v0 = from[plane * at].x, v1 = from[plane * (at + 1)].x;
        a.planes[cells * z + cell] = part > 1 ? 0 : a.scale * (v0 + part * (v1 - v0));
        const float s = slow[a.slow_plane * min(z / a.step, a.n_steps - 1)];
        time += (a.squared ? sqrtf(s) : s) / a.step;
    }
}

} // namespace

int mig_gpu_preview_load(MigGpuPlane plane, const float *waves, int pad_x, int pad_y, int data_nx,
                         int data_ny, int nx, int ny, int nf, float *out, cudaStream_t stream)
{
    // Rows along the first axis: the others end at 65,535 blocks.
    const dim3 grid((unsigned)((nx + THREADS - 1) / THREADS) * ny, 1, nf);
    load_kernel<<<grid, THREADS, 0, stream>>>(plane, waves, pad_x, pad_y, data_nx, data_ny, nx, ny,
                                              reinterpret_cast<float2 *>(out));
    return (int)cudaGetLastError();
}

int mig_gpu_preview_down(const MigGpuPreview *a, cudaStream_t stream)
{
    const dim3 grid((a->nx * a->ny + LANES - 1) / LANES), block(LANES, GROUPS);
    switch (a->targets) {
    case 1:
        down_kernel<1><<<grid, block, 0, stream>>>(*a);
        break;
    case 2:
        down_kernel<2><<<grid, block, 0, stream>>>(*a);
        break;
    case 3:
        down_kernel<3><<<grid, block, 0, stream>>>(*a);
        break;
    default:
        down_kernel<4><<<grid, block, 0, stream>>>(*a);
    }
    return (int)cudaGetLastError();
}

int mig_gpu_preview_planes(const MigGpuPreviewImage *a, cudaStream_t stream)
{
    enum { SOME = 16 }; // planes a thread, where each stands by itself
    const unsigned blocks = (unsigned)(((size_t)a->data_nx * a->data_ny + THREADS - 1) / THREADS);
    planes_kernel<<<dim3(blocks, a->time ? 1 : (a->nz + SOME - 1) / SOME), THREADS, 0, stream>>>(
        *a, SOME);
    return (int)cudaGetLastError();
}
