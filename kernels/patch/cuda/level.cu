// SPDX-License-Identifier: GPL-3.0-or-later
//
// The level of the noise: spectra of windows, the quiet wavenumbers, and the mean below three times
// the noise from an exact median. Sums have a fixed order; histograms count whole numbers.
#include "kernels/patch/cuda/device.cuh"
#include "kernels/patch/cuda/level.h"

namespace
{

enum {
    TILE = 128, // traces at a time
    TIME = LITHO_LEVEL_MAX_TIME,
    GROUPS = LITHO_LEVEL_GROUPS,
    MANY = 1024, // threads of a mean
    DIGITS = 2048,
};

__device__ long long wavenumbers(const LithoLevelTask &t)
{
    return (long long)t.n[0] * t.n[1];
}

__device__ int bins(const LithoLevelTask &t)
{
    return t.n[2] / 2 + 1;
}

__device__ float *power_of(const LithoLevelTask &t, int job, int f, int window)
{
    const LithoLevelJob j = t.jobs[job];
    return t.power +
           ((long long)j.first * bins(t) + (long long)f * j.windows + window) * wavenumbers(t);
}

__device__ float2 turned(float2 w, float2 z)
{
    return make_float2(w.x * z.x - w.y * z.y, w.x * z.y + w.y * z.x);
}

// exp(-2 pi i k / n), k = threadIdx.x.
__device__ void make_circle(float2 *circle, int n)
{
    if ((int)threadIdx.x < n) {
        double s, c;
        sincospi(-2.0 * threadIdx.x / n, &s, &c);
        circle[threadIdx.x] = make_float2((float)c, (float)s);
    }
}

// --- spectra -------------------------------------------------------------------------------------

// A trace that is live, finite and not zero throughout the window.
__device__ bool is_there(const float *x, int n)
{
    bool any = false, finite = true;
    for (int k = 0; k < n; k++) {
        any |= x[k] != 0;
        finite &= isfinite(x[k]);
    }
    return any && finite;
}

// The taper's energy on the traces of a window, added in their order, and what follows from it.
__device__ void weigh_window(const LithoLevelTask &t, int window, const unsigned char *there)
{
    double energy = 0;
    int present = 0;
    for (int k = 0; k < wavenumbers(t); k++)
        if (there[k]) {
            const double w = t.taper[0][k / t.n[1]] * t.taper[1][k % t.n[1]];
            energy += w * w;
            present++;
        }
    const bool enough = 2 * present >= wavenumbers(t) && present > 0;
    t.share[window] = enough ? (float)(energy / t.energy) : 0;
    t.scale[window] = enough ? (float)(1 / (energy * t.time_energy)) : 0;
}

// One block a window: its traces, tapered, along time. Floor: 4 bytes read a sample, 8 written a
// coefficient.
__global__ void __launch_bounds__(TILE)
    time_kernel(const LithoLevelTask t, const LithoLevelPlace *places)
{
    __shared__ float x[TILE][TIME + 1];
    __shared__ float2 circle[TIME];
    __shared__ unsigned char there[LITHO_LEVEL_MAX_WAVENUMBERS];
    const LithoLevelPlace p = places[blockIdx.x];
    const int nk = (int)wavenumbers(t), nf = bins(t), n2 = t.n[2];
    float2 *to = (float2 *)t.spectra + (long long)blockIdx.x * nf * nk;
    make_circle(circle, n2);
    for (int first = 0; first < nk; first += TILE) {
        const int traces = nk - first < TILE ? nk - first : TILE;
        __syncthreads();
        for (int e = threadIdx.x; e < traces * n2; e += TILE) {
            const int k = first + e / n2;
            const long long trace = trace_at(t.held, p.at[0] + k / t.n[1], p.at[1] + k % t.n[1]);
            x[e / n2][e % n2] =
                t.live[trace] ? t.in[trace * t.held.n[2] + p.at[2] - t.held.lo[2] + e % n2] : 0;
        }
        __syncthreads();
        const int k = first + threadIdx.x;
        if (k >= nk)
            continue;
        float *own = x[threadIdx.x];
        const bool counts = is_there(own, n2);
        const double w = t.taper[0][k / t.n[1]] * t.taper[1][k % t.n[1]];
        const long long trace = trace_at(t.held, p.at[0] + k / t.n[1], p.at[1] + k % t.n[1]);
        there[k] = counts && t.recorded[trace];
        for (int i = 0; i < n2; i++)
            own[i] = counts ? (float)(w * t.taper[2][i] * own[i]) : 0;
        for (int f = 0; f < nf; f++) {
            float2 sum = make_float2(0, 0);
            for (int i = 0, at = 0; i < n2; i++) {
                sum.x += circle[at].x * own[i];
                sum.y += circle[at].y * own[i];
                at = at + f < n2 ? at + f : at + f - n2;
            }
            to[(long long)f * nk + k] = sum;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0)
        weigh_window(t, t.jobs[p.job].first + p.window, there);
}

// One block a window and frequency: both space axes, then the power.
__global__ void __launch_bounds__(THREADS)
    space_kernel(const LithoLevelTask t, const LithoLevelPlace *places)
{
    extern __shared__ float2 z[]; // the plane, then the plane along crosslines
    __shared__ float2 circle[2][LITHO_PATCH_MAX_WINDOW];
    const LithoLevelPlace p = places[blockIdx.x];
    const int n0 = t.n[0], n1 = t.n[1], nk = n0 * n1, f = blockIdx.y;
    const float2 *from = (const float2 *)t.spectra + ((long long)blockIdx.x * bins(t) + f) * nk;
    const float scale = t.scale[t.jobs[p.job].first + p.window];
    float2 *across = z + nk;
    float *to = power_of(t, p.job, f, p.window);
    make_circle(circle[0], n0);
    make_circle(circle[1], n1);
    for (int e = threadIdx.x; e < nk; e += THREADS)
        z[e] = from[e];
    __syncthreads();
    for (int e = threadIdx.x; e < nk; e += THREADS) {
        const int row = e / n1 * n1, k = e % n1;
        float2 sum = make_float2(0, 0);
        for (int i = 0, at = 0; i < n1; i++) {
            const float2 y = turned(circle[1][at], z[row + i]);
            sum.x += y.x;
            sum.y += y.y;
            at = at + k < n1 ? at + k : at + k - n1;
        }
        across[e] = sum;
    }
    __syncthreads();
    for (int e = threadIdx.x; e < nk; e += THREADS) {
        const int column = e % n1, k = e / n1;
        float2 sum = make_float2(0, 0);
        for (int i = 0, at = 0; i < n0; i++) {
            const float2 y = turned(circle[0][at], across[i * n1 + column]);
            sum.x += y.x;
            sum.y += y.y;
            at = at + k < n0 ? at + k : at + k - n0;
        }
        to[e] = scale * (sum.x * sum.x + sum.y * sum.y);
    }
}

// --- quiet wavenumbers ---------------------------------------------------------------------------

// One block a job, frequency and half: sums over the windows in ascending order, and the marks of
// those that do not exceed their median.
__global__ void __launch_bounds__(THREADS) quiet_kernel(const LithoLevelTask t)
{
    extern __shared__ float sums[];
    __shared__ float middle;
    const int f = blockIdx.x, half = blockIdx.y, job = blockIdx.z, nk = (int)wavenumbers(t);
    const LithoLevelJob j = t.jobs[job];
    const int chooses = half ? LITHO_LEVEL_CHOOSES_1 : LITHO_LEVEL_CHOOSES_0;
    unsigned char *quiet = t.quiet + (((long long)job * bins(t) + f) * 2 + half) * nk;
    for (int k = threadIdx.x; k < nk; k += THREADS) {
        float sum = 0;
#pragma unroll 8
        for (int w = 0; w < j.windows; w++)
            if (t.share[j.first + w] > 0 && (t.flags[j.first + w] & chooses))
                sum += power_of(t, job, f, w)[k];
        sums[k] = sum;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < nk; k += THREADS) {
        int smaller = 0, same = 0;
        for (int i = 0; i < nk; i++) {
            smaller += sums[i] < sums[k];
            same += sums[i] == sums[k];
        }
        if (smaller <= nk / 2 && nk / 2 < smaller + same)
            middle = sums[k]; // whoever finds it finds the same
    }
    __syncthreads();
    for (int k = threadIdx.x; k < nk; k += THREADS)
        quiet[k] = sums[k] <= middle;
}

// --- means ---------------------------------------------------------------------------------------

__device__ bool is_real(const LithoLevelTask &t, int f, int k)
{
    const int own[3] = {k / t.n[1], k % t.n[1], f};
    for (int a = 0; a < 3; a++)
        if (own[a] != 0 && 2 * own[a] != t.n[a])
            return false;
    return true;
}

// One set of coefficients: windows `w` that are taken, and wavenumbers with a mark.
struct Set {
    const float *power; // of window 0
    const float *share;
    const unsigned char *flags, *marks;
    int windows, nk, half, group;

    __device__ bool takes(int w) const
    {
        return share[w] > 0 && (half < 0 || (flags[w] & LITHO_LEVEL_HALF) == half) &&
               (group == GROUPS || w % GROUPS == group);
    }

    // Calls visit(value, takes it) for all lanes of a warp alike.
    template <class Visit> __device__ void each(Visit visit) const
    {
        for (int w = threadIdx.x / 32; w < windows; w += MANY / 32) {
            if (!takes(w))
                continue;
            const float *p = power + (long long)w * nk;
            for (int k = threadIdx.x % 32; k < (nk + 31) / 32 * 32; k += 32) {
                const bool there = k < nk && marks[k];
                visit(there ? p[k] : 0, there);
            }
        }
    }
};

// Sums over the block in a fixed order, known to all threads.
__device__ double sum_of_block(double x, double *parts)
{
    for (int by = 16; by; by /= 2)
        x += __shfl_xor_sync(~0u, x, by);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = x;
    __syncthreads();
    double sum = 0;
    for (int k = 0; k < MANY / 32; k++)
        sum += parts[k];
    return sum;
}

// Adds one to count[digit] for each lane that has one.
__device__ void count_digit(int *count, unsigned digit, bool there)
{
    const unsigned peers = __match_any_sync(~0u, there ? digit : ~0u);
    if (there && (threadIdx.x % 32) == __ffs(peers) - 1)
        atomicAdd(&count[digit], __popc(peers));
}

// The digit in which `rank` falls, and the rank within it: by thread 0.
__device__ void find_digit(const int *count, int digits, long long *rank, unsigned *digit)
{
    long long left = *rank;
    int d = 0;
    while (d < digits - 1 && left >= count[d])
        left -= count[d++];
    *rank = left;
    *digit = (unsigned)d;
}

// Value number `rank` in ascending order, by its bits from the top: 11, 11 and 10 of them. Values
// are not negative.
__device__ float select(const Set &s, long long rank, int *count)
{
    __shared__ long long left;
    __shared__ unsigned digit;
    const int shifts[3] = {21, 10, 0}, digits[3] = {2048, 2048, 1024};
    unsigned prefix = 0;
    if (threadIdx.x == 0)
        left = rank;
    for (int pass = 0; pass < 3; pass++) {
        const int shift = shifts[pass], above = pass == 0 ? 32 : shifts[pass - 1];
        for (int d = threadIdx.x; d < DIGITS; d += MANY)
            count[d] = 0;
        __syncthreads();
        s.each([&](float x, bool there) {
            const unsigned bits = __float_as_uint(x);
            const bool fits = there && (above == 32 || bits >> above == prefix >> above);
            count_digit(count, bits >> shift & (digits[pass] - 1), fits);
        });
        __syncthreads();
        if (threadIdx.x == 0)
            find_digit(count, digits[pass], &left, &digit);
        __syncthreads();
        prefix |= digit << shift;
        __syncthreads();
    }
    return __uint_as_float(prefix);
}

// noise_power() of noise_level.c.
__device__ double mean_of(const LithoLevelTask &t, const Set &s, long long n, int freedom,
                          int *count, double *parts)
{
    double mean = select(s, n / 2, count) / t.median[freedom - 1];
    for (int pass = 0; pass < t.passes; pass++) {
        const double limit = t.cut * mean;
        double sum = 0;
        int kept = 0;
        s.each([&](float x, bool there) {
            const bool below = there && x <= limit;
            sum += below ? x : 0;
            kept += below;
        });
        const double all = sum_of_block(sum, parts), number = sum_of_block(kept, parts);
        const double next = number > 0 ? all / number / t.below[freedom - 1] : mean;
        if (next == mean)
            break;
        mean = next;
    }
    return mean;
}

// One block a set. Floor: the powers of the set read once for each of at most thirteen passes, from
// the caches.
__global__ void __launch_bounds__(MANY) means_kernel(const LithoLevelTask t, LithoLevelMean *means)
{
    __shared__ unsigned char marks[LITHO_LEVEL_MAX_WAVENUMBERS];
    __shared__ int count[DIGITS];
    __shared__ double parts[MANY / 32];
    const int set = blockIdx.x, f = blockIdx.y, job = blockIdx.z, nk = (int)wavenumbers(t);
    const LithoLevelJob j = t.jobs[job];
    const int half = set == 0 ? -1 : (set - 1) % 2;
    const int group = set == 0 ? GROUPS : GROUPS - (set - 1) / 2;
    const unsigned char *quiet = t.quiet + (((long long)job * bins(t) + f) * 2 + (half > 0)) * nk;
    int real = 0, marked = 0, windows = 0;
    for (int k = threadIdx.x; k < nk; k += MANY)
        real += is_real(t, f, k);
    const int n_real = (int)sum_of_block(real, parts);
    for (int k = threadIdx.x; k < nk; k += MANY) {
        marks[k] = (half < 0 || quiet[k]) && (n_real == nk || n_real == 0 || !is_real(t, f, k));
        marked += marks[k];
    }
    const Set s = {power_of(t, job, f, 0),
                   t.share + j.first,
                   t.flags + j.first,
                   marks,
                   j.windows,
                   nk,
                   half,
                   group};
    for (int w = threadIdx.x; w < j.windows; w += MANY)
        windows += s.takes(w);
    const long long n =
        (long long)sum_of_block(marked, parts) * (long long)sum_of_block(windows, parts);
    __syncthreads();
    const int freedom = n_real == nk ? 1 : 2;
    const double mean = n > 0 ? mean_of(t, s, n, freedom, count, parts) : 0;
    if (threadIdx.x == 0) {
        LithoLevelMean *to = means + ((long long)job * bins(t) + f) * gridDim.x + set;
        to->mean = mean;
        to->n = n;
    }
}

} // namespace

int litho_level_spectra(const LithoLevelTask *t, const LithoLevelPlace *places, int count,
                        cudaStream_t stream)
{
    const unsigned plane = 2 * sizeof(float2) * t->n[0] * t->n[1];
    const dim3 planes((unsigned)count, (unsigned)(t->n[2] / 2 + 1));
    // With the circles the largest planes take more than the 48 kB that a block has unasked.
    const cudaError_t status =
        cudaFuncSetAttribute(space_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)plane);
    if (status != cudaSuccess)
        return (int)status;
    time_kernel<<<(unsigned)count, TILE, 0, stream>>>(*t, places);
    space_kernel<<<planes, THREADS, plane, stream>>>(*t, places);
    return (int)cudaGetLastError();
}

int litho_level_quiet(const LithoLevelTask *t, cudaStream_t stream)
{
    const dim3 grid((unsigned)(t->n[2] / 2 + 1), 2, (unsigned)t->n_jobs);
    quiet_kernel<<<grid, THREADS, sizeof(float) * t->n[0] * t->n[1], stream>>>(*t);
    return (int)cudaGetLastError();
}

int litho_level_means(const LithoLevelTask *t, int interval, LithoLevelMean *means,
                      cudaStream_t stream)
{
    const dim3 grid(LITHO_LEVEL_SETS(interval), (unsigned)(t->n[2] / 2 + 1), (unsigned)t->n_jobs);
    means_kernel<<<grid, MANY, 0, stream>>>(*t, means);
    return (int)cudaGetLastError();
}
