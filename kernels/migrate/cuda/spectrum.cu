// SPDX-License-Identifier: GPL-3.0-or-later
//
// Around the Fourier transforms: traces in time to frequency planes and back.
#include "kernels/migrate/cuda/kernels.h"

namespace
{

enum { THREADS = 256 };

unsigned blocks_for(size_t n)
{
    return (unsigned)((n + THREADS - 1) / THREADS);
}

__global__ void load_lines_kernel(const float *traces, const long long *list,
                                  const unsigned char *live, const float *taper, size_t first,
                                  size_t n, int nt, int nfft, float *lines)
{
    const size_t k = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (k >= n)
        return;
    const size_t place = first + k / nfft, trace = list ? list[place] : place;
    const int t = k % nfft;
    float v = t < nt && (!live || live[trace]) ? traces[trace * nt + t] : 0;
    lines[k] = isfinite(v) && t < nt ? v * taper[t] : 0;
}

__global__ void store_lines_kernel(const float *lines, const float *taper, size_t first, size_t n,
                                   int nt, int nfft, float *traces)
{
    const size_t k = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (k >= n)
        return;
    const int t = k % nt;
    traces[(first + k / nt) * nt + t] += taper[t] * lines[k / nt * nfft + t];
}

// Turns 32 traces x 32 frequencies in shared memory. Cells that several traces share are added up
// atomically; two addends give the same sum in either order.
__global__ void scatter_kernel(const float2 *spectrum, int n, int n_bins, int k_first, int k_stride,
                               int nf, const float *turn, const int *cell, MigGpuPlane plane,
                               float *waves)
{
    __shared__ float2 tile[32][33];
    const int trace0 = blockIdx.x * 32, f0 = blockIdx.y * 32;
    for (int k = threadIdx.y; k < 32; k += 8)
        if (trace0 + k < n && f0 + threadIdx.x < nf)
            tile[k][threadIdx.x] =
                spectrum[(size_t)(trace0 + k) * n_bins + k_first + k_stride * (f0 + threadIdx.x)];
    __syncthreads();
    const int trace = trace0 + threadIdx.x;
    const int at = trace < n ? cell[trace] : -1;
    const size_t im = (size_t)plane.ny * plane.pitch;
    for (int k = threadIdx.y; k < 32 && at >= 0; k += 8) {
        const int f = f0 + k;
        if (f >= nf)
            break;
        const float2 v = tile[threadIdx.x][k];
        const float tr = turn[2 * f], ti = turn[2 * f + 1];
        float *w = waves + f * plane.size + at;
        atomicAdd(w, tr * v.x - ti * v.y);
        atomicAdd(w + im, tr * v.y + ti * v.x);
    }
}

__global__ void gather_kernel(const float *waves, MigGpuPlane plane, const int *cell,
                              const float *turn, int n, int n_bins, int k_first, int k_stride,
                              int nf, float2 *spectrum)
{
    __shared__ float2 tile[32][33];
    const int trace0 = blockIdx.x * 32, bin0 = blockIdx.y * 32;
    const int trace = trace0 + threadIdx.x;
    const int at = trace < n ? cell[trace] : -1;
    const size_t im = (size_t)plane.ny * plane.pitch;
    for (int k = threadIdx.y; k < 32; k += 8) {
        const int past = bin0 + k - k_first, f = past / k_stride;
        float2 v = make_float2(0, 0);
        if (at >= 0 && past >= 0 && past % k_stride == 0 && f < nf) {
            const float *w = waves + f * plane.size + at;
            const float tr = turn[2 * f], ti = turn[2 * f + 1], re = w[0], i = w[im];
            v = make_float2(tr * re + ti * i, tr * i - ti * re);
        }
        tile[k][threadIdx.x] = v;
    }
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8)
        if (trace0 + k < n && bin0 + threadIdx.x < n_bins)
            spectrum[(size_t)(trace0 + k) * n_bins + bin0 + threadIdx.x] = tile[threadIdx.x][k];
}

__global__ void source_kernel(float *waves, MigGpuPlane plane, MigGpuSource s, const float *wavelet,
                              int nf)
{
    const int f = blockIdx.x * THREADS + threadIdx.x;
    if (f >= nf)
        return;
    const size_t im = (size_t)plane.ny * plane.pitch;
    float *w = waves + f * plane.size + s.first;
    for (int j = 0; j < s.ny; j++)
        for (int i = 0; i < s.nx; i++) {
            const float weight = s.x[i] * s.y[j];
            w[(size_t)j * plane.pitch + i] += weight * wavelet[2 * f];
            w[(size_t)j * plane.pitch + i + im] -= weight * wavelet[2 * f + 1];
        }
}

} // namespace

int mig_gpu_load_lines(const float *traces, const long long *list, const unsigned char *live,
                       const float *taper, size_t first, int n, int nt, int nfft, float *lines,
                       cudaStream_t stream)
{
    const size_t count = (size_t)n * nfft;
    load_lines_kernel<<<blocks_for(count), THREADS, 0, stream>>>(traces, list, live, taper, first,
                                                                 count, nt, nfft, lines);
    return (int)cudaGetLastError();
}

int mig_gpu_store_lines(const float *lines, const float *taper, size_t first, int n, int nt,
                        int nfft, float *traces, cudaStream_t stream)
{
    const size_t count = (size_t)n * nt;
    store_lines_kernel<<<blocks_for(count), THREADS, 0, stream>>>(lines, taper, first, count, nt,
                                                                  nfft, traces);
    return (int)cudaGetLastError();
}

int mig_gpu_scatter(const float2 *spectrum, int n, int n_bins, int k_first, int k_stride, int nf,
                    const float *turn, const int *cell, MigGpuPlane plane, float *waves,
                    cudaStream_t stream)
{
    scatter_kernel<<<dim3((n + 31) / 32, (nf + 31) / 32), dim3(32, 8), 0, stream>>>(
        spectrum, n, n_bins, k_first, k_stride, nf, turn, cell, plane, waves);
    return (int)cudaGetLastError();
}

int mig_gpu_gather(const float *waves, MigGpuPlane plane, const int *cell, const float *turn, int n,
                   int n_bins, int k_first, int k_stride, int nf, float2 *spectrum,
                   cudaStream_t stream)
{
    gather_kernel<<<dim3((n + 31) / 32, (n_bins + 31) / 32), dim3(32, 8), 0, stream>>>(
        waves, plane, cell, turn, n, n_bins, k_first, k_stride, nf, spectrum);
    return (int)cudaGetLastError();
}

int mig_gpu_source(float *waves, MigGpuPlane plane, const MigGpuSource *source,
                   const float *wavelet, int nf, cudaStream_t stream)
{
    source_kernel<<<blocks_for(nf), THREADS, 0, stream>>>(waves, plane, *source, wavelet, nf);
    return (int)cudaGetLastError();
}
