// SPDX-License-Identifier: GPL-3.0-or-later
//
// Windows of any size: cut, thresholded and added around cuFFT's transforms of a batch of them.
#include "kernels/patch/cuda/device.cuh"

namespace
{

// Place of window number `w` of the sweep.
struct Place {
    int row, column, k; // row and column counted from the first places, k along time
    float share;
};

__device__ Place place_of(const LithoPatchTask &t, int row0, long long w)
{
    const int down = 2 * t.pairs;
    Place p;
    p.k = 2 * t.pair0 + (int)(w % down);
    p.column = (int)(w / down % t.count[1]);
    p.row = row0 + (int)(w / down / t.count[1]);
    p.share = t.share[(long long)p.row * t.count[1] + p.column];
    return p;
}

__device__ long long window_samples(const LithoPatchTask &t)
{
    return (long long)t.g.axis[0].length * t.g.axis[1].length * t.g.axis[2].length;
}

// One block a window. Floor: 4 bytes read and 4 written a sample of a window.
__global__ void load_kernel(const LithoPatchTask t, int row0, long long first, long long last,
                            float *windows)
{
    const long long n = window_samples(t), w = first + blockIdx.x;
    const int n1 = t.g.axis[1].length, n2 = t.g.axis[2].length;
    float *to = windows + blockIdx.x * n;
    Place p;
    p.share = 0;
    if (w < last)
        p = place_of(t, row0, w);
    const bool there = p.share > 0;
    const int start[3] = {there ? litho_patch_start(t.g.axis[0], t.first[0] + p.row) : 0,
                          there ? litho_patch_start(t.g.axis[1], t.first[1] + p.column) : 0,
                          there ? litho_patch_start(t.g.axis[2], p.k) : 0};
    for (long long e = threadIdx.x; e < n; e += THREADS) {
        float x = 0;
        if (there) {
            const int i = (int)(e / n2 / n1), j = (int)(e / n2 % n1), k = (int)(e % n2);
            const long long trace =
                trace_at(t.held, litho_patch_mirror(t.g.axis[0].n, start[0] + i),
                         litho_patch_mirror(t.g.axis[1].n, start[1] + j));
            const int at = litho_patch_mirror(t.g.axis[2].n, start[2] + k);
            if (!t.live || t.live[trace])
                x = finite_or_zero(t.in[trace * t.held.n[2] + at - t.held.lo[2]]) *
                    (t.taper[0][i] * t.taper[1][j] * t.taper[2][k]);
        }
        to[e] = x;
    }
}

__device__ float power_at(const LithoPatchTask &t, const float2 *z, int i, int j, int f)
{
    const int n0 = t.g.axis[0].length, n1 = t.g.axis[1].length, n2 = t.g.axis[2].length;
    if (n2 == 1) {
        f = 0;
    } else if (f < 0 || f >= t.g.bins) { // the opposite coefficient
        f = f < 0 ? -f : n2 - f;
        i = -i;
        j = -j;
    }
    const float2 v = z[((long long)((i + n0) % n0) * n1 + (j + n1) % n1) * t.g.bins + f];
    return v.x * v.x + v.y * v.y;
}

// Square of the threshold of coefficient (i, j, f) from that of its frequency.
__device__ float limit_at(const LithoPatchTask &t, float limit, int i, int j, int f)
{
    const int n0 = t.g.axis[0].length, n1 = t.g.axis[1].length, bins = t.g.bins;
    if (!t.levels.shape)
        return limit;
    if (t.g.axis[2].length == 1) {
        f = 0;
    } else if (f < 0 || f >= bins) { // the opposite coefficient
        f = f < 0 ? -f : t.g.axis[2].length - f;
        i = -i;
        j = -j;
    }
    const long long k = ((long long)f * n0 + (i + n0) % n0) * n1 + (j + n1) % n1;
    return fmaxf(limit * t.levels.shape[k], litho_patch_least(t.least));
}

// |F|^2 at (i, j, f) over the square of its threshold; `limit` is that of its frequency.
__device__ float relative(const LithoPatchTask &t, const float2 *z, float limit, int i, int j,
                          int f)
{
    return power_at(t, z, i, j, f) / limit_at(t, limit, i, j, f);
}

// Frequencies of half_sums(): halves of all frequencies.
__device__ int half_bins(const LithoPatchTask &t)
{
    return t.g.bins / 2 + 1;
}

// sums[inline wavenumber][crossline wavenumber][frequency]: energy around half of the wavenumbers.
__device__ void half_sums(const LithoPatchTask &t, const float2 *z, float *sums)
{
    const int n1 = t.g.axis[1].length, bins = half_bins(t), n = t.g.axis[0].length * n1 * bins;
    for (int e = threadIdx.x; e < n; e += THREADS) {
        const int f = e % bins;
        int il[2], xl[2];
        litho_patch_halves(t.g.axis[0].length, e / bins / n1, il);
        litho_patch_halves(n1, e / bins % n1, xl);
        sums[e] = (power_at(t, z, il[0], xl[0], f) + power_at(t, z, il[0], xl[1], f)) +
                  (power_at(t, z, il[1], xl[0], f) + power_at(t, z, il[1], xl[1], f));
    }
    __syncthreads();
}

// The last frequency is its own opposite: its wavenumbers are judged two by two.
__device__ float guide_at(const LithoPatchTask &t, const float *sums, int i, int j, int f)
{
    const int n0 = t.g.axis[0].length, n1 = t.g.axis[1].length, bins = half_bins(t);
    const float *own = sums + (i * n1 + j) * bins;
    if (f < t.g.bins - 1 || t.g.axis[2].length == 1)
        return own[f / 2] + own[(f + 1) / 2];
    const float *other = sums + ((n0 - i) % n0 * n1 + (n1 - j) % n1) * bins;
    return 0.5f * ((own[f / 2] + own[(f + 1) / 2]) + (other[f / 2] + other[(f + 1) / 2]));
}

// Largest guide of each frequency: bits of floats that are not negative.
__device__ void find_most(const LithoPatchTask &t, const float *sums, unsigned *most)
{
    const int n1 = t.g.axis[1].length, bins = t.g.bins, n = t.g.axis[0].length * n1 * bins;
    for (int f = threadIdx.x; f < bins; f += THREADS)
        most[f] = 0;
    __syncthreads();
    for (int e = threadIdx.x; e < n; e += THREADS) {
        const int f = e % bins;
        atomicMax(&most[f], __float_as_uint(guide_at(t, sums, e / bins / n1, e / bins % n1, f)));
    }
    __syncthreads();
}

// One block a window; limits of its frequencies in shared memory. Floor: 8 bytes read, 8 written a
// coefficient, 4 more written and 8 read where windows are guided.
__global__ void threshold_kernel(const LithoPatchTask t, int row0, long long first, long long last,
                                 const float2 *spectra, float *all_sums, float2 *kept)
{
    __shared__ float limit[LITHO_PATCH_MAX_WINDOW / 2 + 1];
    __shared__ unsigned most[LITHO_PATCH_MAX_WINDOW / 2 + 1];
    const int n1 = t.g.axis[1].length, bins = t.g.bins;
    const long long n = (long long)t.g.axis[0].length * n1 * bins, w = first + blockIdx.x;
    const float2 *z = spectra + blockIdx.x * n;
    float2 *to = kept + blockIdx.x * n;
    float *sums = all_sums + blockIdx.x * window_samples(t);
    if (w >= last)
        return;
    const Place p = place_of(t, row0, w);
    if (p.share <= 0)
        return;
    for (int f = threadIdx.x; f < bins; f += THREADS)
        limit[f] = limit_of(t, p.row, p.column, p.k, f, p.share);
    __syncthreads();
    if (t.guided) {
        half_sums(t, z, sums);
        find_most(t, sums, most);
    }
    for (long long e = threadIdx.x; e < n; e += THREADS) {
        const int f = (int)(e % bins), j = (int)(e / bins % n1), i = (int)(e / bins / n1);
        const float2 v = z[e];
        bool keep;
        if (t.rule == LITHO_PATCH_ENERGY) {
            const float below = f > 0 ? limit[f - 1] : limit[bins > 1 ? 1 : 0];
            const float above = f < bins - 1 ? limit[f + 1] : limit[bins > 1 ? bins - 2 : 0];
            const float near = relative(t, z, limit[f], i + 1, j, f) +
                               relative(t, z, limit[f], i - 1, j, f) +
                               relative(t, z, limit[f], i, j + 1, f) +
                               relative(t, z, limit[f], i, j - 1, f) +
                               relative(t, z, above, i, j, f + 1) +
                               relative(t, z, below, i, j, f - 1);
            keep = relative(t, z, limit[f], i, j, f) + 0.5f * near >= 4;
        } else {
            const float factor =
                t.guided ? litho_patch_guide_factor(guide_at(t, sums, i, j, f),
                                                    __uint_as_float(most[f]))
                         : 1;
            keep = (v.x * v.x + v.y * v.y) * factor >= limit_at(t, limit[f], i, j, f);
        }
        to[e] = keep ? v : make_float2(0, 0);
    }
}

// One block a window.
__global__ void largest_kernel(const LithoPatchTask t, int row0, long long first, long long last,
                               const float2 *spectra)
{
    const long long n = (long long)t.g.axis[0].length * t.g.axis[1].length * t.g.bins;
    const long long w = first + blockIdx.x;
    const float2 *z = spectra + blockIdx.x * n;
    float most = 0;
    if (w >= last || place_of(t, row0, w).share <= 0)
        return;
    for (long long e = threadIdx.x; e < n; e += THREADS)
        most = fmaxf(most, z[e].x * z[e].x + z[e].y * z[e].y);
    for (int by = 16; by; by /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, by));
    if (threadIdx.x % 32 == 0)
        atomicMax(t.largest, __float_as_uint(most));
}

// A few blocks a column that has windows in the batch, a thread a sample of its strip: adds the
// column's windows in ascending order. Floor: 4 bytes read a sample of a window, 8 a sample of a
// strip.
__global__ void add_kernel(const LithoPatchTask t, int row0, long long first, long long last,
                           const float *windows)
{
    const int down = 2 * t.pairs, n1 = t.g.axis[1].length, n2 = t.g.axis[2].length;
    const long long number = first / down + blockIdx.x;
    const Place p = place_of(t, row0, number * down);
    if (number * down >= last || p.share <= 0)
        return;
    const int k0 = (int)(first > number * down ? first - number * down : 0);
    const int k1 = (int)(last < (number + 1) * down ? last - number * down : down);
    const long long n = window_samples(t);
    const float scale = 1 / ((float)n * p.share);
    float *strip = strip_at(t, p.row, p.column);
    const int at0 = k0 * t.g.axis[2].stride, at1 = (k1 - 1) * t.g.axis[2].stride + n2;
    const long long traces = (long long)t.g.axis[0].length * n1;
    for (long long e = (long long)blockIdx.y * THREADS + threadIdx.x; e < traces * (at1 - at0);
         e += (long long)gridDim.y * THREADS) {
        const int trace = (int)(e / (at1 - at0)), at = at0 + (int)(e % (at1 - at0));
        const float w = scale * t.taper[0][trace / n1] * t.taper[1][trace % n1];
        int k = at < n2 ? 0 : (at - n2) / t.g.axis[2].stride + 1;
        float sum = strip[(long long)trace * t.length + at];
        for (k = k > k0 ? k : k0; k < k1 && k * t.g.axis[2].stride <= at; k++) {
            const int i = at - k * t.g.axis[2].stride;
            sum += w * t.taper[2][i] *
                   windows[(number * down + k - first) * n + (long long)trace * n2 + i];
        }
        strip[(long long)trace * t.length + at] = sum;
    }
}

long long end_of(const LithoPatchTask *t, int rows, long long first, int count)
{
    const long long all = (long long)rows * t->count[1] * 2 * t->pairs;
    return first + count < all ? first + count : all;
}

} // namespace

int litho_patch_load(const LithoPatchTask *t, int row, int rows, long long first, int count,
                     float *windows, cudaStream_t stream)
{
    load_kernel<<<(unsigned)count, THREADS, 0, stream>>>(*t, row, first,
                                                         end_of(t, rows, first, count), windows);
    return (int)cudaGetLastError();
}

int litho_patch_threshold_windows(const LithoPatchTask *t, int row, int rows, long long first,
                                  int count, const float *spectra, float *sums, float *kept,
                                  cudaStream_t stream)
{
    const long long last = end_of(t, rows, first, count);
    if (t->largest)
        largest_kernel<<<(unsigned)count, THREADS, 0, stream>>>(*t, row, first, last,
                                                                (const float2 *)spectra);
    else
        threshold_kernel<<<(unsigned)count, THREADS, 0, stream>>>(
            *t, row, first, last, (const float2 *)spectra, sums, (float2 *)kept);
    return (int)cudaGetLastError();
}

int litho_patch_add(const LithoPatchTask *t, int row, int rows, long long first, int count,
                    const float *windows, cudaStream_t stream)
{
    const long long last = end_of(t, rows, first, count), down = 2 * t->pairs;
    const unsigned columns = (unsigned)((last - 1) / down - first / down + 1);
    const dim3 grid(columns, 64);
    add_kernel<<<grid, THREADS, 0, stream>>>(*t, row, first, last, windows);
    return (int)cudaGetLastError();
}
