// SPDX-License-Identifier: GPL-3.0-or-later
//
// The split-step engine's factors, on interleaved planes (real and imaginary part side by side, as
// the transform wants them). A thread takes two neighbouring points of four waves: what depends on
// the place alone is read once, and enough loads are under way to fill the memory's time.
#include "kernels/migrate/cuda/kernels.h"

namespace
{

enum { THREADS = 128, WAVES = 4 };

struct Place {
    int x, y, wave; // first of two columns, first of WAVES waves
    size_t at;      // float2's from the first wave's start
};

// Blocks that a row takes, of `columns` columns each. They are counted through all rows along one
// axis of the grid, since the others end at 65,535.
__host__ __device__ int blocks_across(const MigGpuPlane &p, int columns)
{
    return (p.nx + columns - 1) / columns;
}

__device__ Place place_of(const MigGpuPlane &p)
{
    const int across = blocks_across(p, 2 * THREADS);
    Place v;
    v.x = 2 * (blockIdx.x % across * THREADS + threadIdx.x);
    v.y = blockIdx.x / across;
    v.wave = blockIdx.z * WAVES;
    v.at = (size_t)v.wave * p.size / 2 + (size_t)v.y * p.pitch + v.x;
    return v;
}

__device__ float2 times(const float2 &v, float c, float s)
{
    return make_float2(c * v.x - s * v.y, c * v.y + s * v.x);
}

// The thread's points of its waves, all under way before the first is used.
__device__ __forceinline__ void load(float4 (&w)[WAVES], const float4 *at, size_t next, int wave,
                                     int n_waves)
{
#pragma unroll
    for (int k = 0; k < WAVES; k++)
        if (wave + k < n_waves)
            w[k] = at[k * next];
}

// Phase shift of a wave of kappa = omega mean at (kx, ky): the difference of squares in double, for
// it decides the angle of grazing waves.
__device__ float2 shift_of(double kappa2, double k2, float dz, float scale, bool adjoint)
{
    const float kz2 = (float)(kappa2 - k2);
    if (kz2 < 0)
        return make_float2(scale * expf(-dz * sqrtf(-kz2)), 0);
    float c, s;
    sincosf((adjoint ? -dz : dz) * sqrtf(kz2), &s, &c);
    return make_float2(scale * c, scale * s);
}

__global__ void __launch_bounds__(THREADS)
    phase_shift_kernel(MigGpuPlane p, float2 *waves, int n_waves, const double *omega, double mean,
                       float dz, const double *kx2, const double *ky2, int adjoint)
{
    const Place v = place_of(p);
    if (v.x >= p.nx)
        return;
    const double k2[2] = {kx2[v.x] + ky2[v.y], kx2[min(v.x + 1, p.nx - 1)] + ky2[v.y]};
    const float scale = 1 / ((float)p.nx * p.ny);
    float4 *at = reinterpret_cast<float4 *>(waves + v.at), w[WAVES];
    const size_t next = p.size / 4; // wave to wave
    load(w, at, next, v.wave, n_waves);
#pragma unroll
    for (int k = 0; k < WAVES; k++) {
        if (v.wave + k >= n_waves)
            break;
        const double kappa = omega[v.wave + k] * mean;
        const float2 a = shift_of(kappa * kappa, k2[0], dz, scale, adjoint);
        const float2 b = shift_of(kappa * kappa, k2[1], dz, scale, adjoint);
        const float2 left = times(make_float2(w[k].x, w[k].y), a.x, a.y);
        const float2 right = times(make_float2(w[k].z, w[k].w), b.x, b.y);
        at[k * next] = make_float4(left.x, left.y, right.x, right.y);
    }
}

__global__ void __launch_bounds__(THREADS)
    lens_kernel(MigGpuPlane p, float2 *waves, int n_waves, const double *omega, float dz,
                const float *slowness, double mean)
{
    const Place v = place_of(p);
    if (v.x >= p.nx)
        return;
    const float2 slow = *reinterpret_cast<const float2 *>(slowness + (size_t)v.y * p.pitch + v.x);
    const float delay[2] = {dz * (float)(slow.x - mean),
                            v.x + 1 < p.nx ? dz * (float)(slow.y - mean) : 0};
    float4 *at = reinterpret_cast<float4 *>(waves + v.at), w[WAVES];
    const size_t next = p.size / 4; // wave to wave
    load(w, at, next, v.wave, n_waves);
#pragma unroll
    for (int k = 0; k < WAVES; k++) {
        if (v.wave + k >= n_waves)
            break;
        const float f = (float)omega[v.wave + k];
        float c, s;
        sincosf(f * delay[0], &s, &c);
        const float2 left = times(make_float2(w[k].x, w[k].y), c, s);
        sincosf(f * delay[1], &s, &c);
        const float2 right = times(make_float2(w[k].z, w[k].w), c, s);
        at[k * next] = make_float4(left.x, left.y, right.x, right.y);
    }
}

// One kind of plane into the other.
__global__ void relay_kernel(MigGpuPlane from, const float *in, MigGpuPlane to, float *out)
{
    const int across = blocks_across(from, THREADS), y = blockIdx.x / across, wave = blockIdx.z;
    const int x = blockIdx.x % across * THREADS + threadIdx.x;
    if (x >= from.nx)
        return;
    const float *a = in + wave * from.size + ((size_t)y * from.pitch + x) * from.step;
    float *b = out + wave * to.size + ((size_t)y * to.pitch + x) * to.step;
    b[0] = a[0];
    b[to.im] = a[from.im];
}

dim3 pair_grid(const MigGpuPlane &p, int n_waves)
{
    return dim3((unsigned)blocks_across(p, 2 * THREADS) * p.ny, 1, (n_waves + WAVES - 1) / WAVES);
}

} // namespace

int mig_gpu_phase_shift(MigGpuPlane p, float *waves, int n_waves, const double *omega, double mean,
                        double dz, const double *kx2, const double *ky2, int adjoint,
                        cudaStream_t stream)
{
    phase_shift_kernel<<<pair_grid(p, n_waves), THREADS, 0, stream>>>(
        p, reinterpret_cast<float2 *>(waves), n_waves, omega, mean, (float)dz, kx2, ky2, adjoint);
    return (int)cudaGetLastError();
}

int mig_gpu_lens(MigGpuPlane p, float *waves, int n_waves, const double *omega, double dz,
                 const float *slowness, double mean, cudaStream_t stream)
{
    lens_kernel<<<pair_grid(p, n_waves), THREADS, 0, stream>>>(
        p, reinterpret_cast<float2 *>(waves), n_waves, omega, (float)dz, slowness, mean);
    return (int)cudaGetLastError();
}

int mig_gpu_relay(MigGpuPlane from, const float *in, MigGpuPlane to, float *out, int n_waves,
                  cudaStream_t stream)
{
    if (n_waves == 0)
        return 0;
    const dim3 grid((unsigned)blocks_across(from, THREADS) * from.ny, 1, n_waves);
    relay_kernel<<<grid, THREADS, 0, stream>>>(from, in, to, out);
    return (int)cudaGetLastError();
}
