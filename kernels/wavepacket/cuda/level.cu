// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/common/noise_share.h"
#include "kernels/wavepacket/cuda/level.h"

namespace
{

enum { THREADS = 256, DIGITS = 2048, WARP = 32 };

__device__ int wavenumbers(const WpLevelTask &t)
{
    return t.n[0] * t.n[1];
}

// First value of a window at a frequency of a field.
__device__ long long at_window(const WpLevelTask &t, int f, int w)
{
    return ((long long)f * t.windows + w) * wavenumbers(t);
}

__device__ bool is_real(const WpLevelTask &t, int f, int k)
{
    const int own[3] = {k / t.n[1], k % t.n[1], f};
    for (int a = 0; a < 3; a++)
        if (own[a] != 0 && 2 * own[a] != t.n[a])
            return false;
    return true;
}

// Real coefficients at a frequency: none, some (4, 2 or 1), or all of them.
__device__ int count_real(const WpLevelTask &t, int f)
{
    int n = f == 0 || 2 * f == t.n[2];
    for (int a = 0; a < 2; a++)
        n *= t.n[a] % 2 == 0 ? 2 : 1;
    return n;
}

__device__ double sum_of_warp(double x)
{
    for (int by = WARP / 2; by; by /= 2)
        x += __shfl_xor_sync(~0u, x, by);
    return x;
}

// Sums over a block of N threads in a fixed order, known to all of them.
template <int N> __device__ double sum_of_block(double x)
{
    __shared__ double parts[N / WARP];
    x = sum_of_warp(x);
    __syncthreads();
    if (threadIdx.x % WARP == 0)
        parts[threadIdx.x / WARP] = x;
    __syncthreads();
    double sum = 0;
    for (int k = 0; k < N / WARP; k++)
        sum += parts[k];
    return sum;
}

// --- spectra -------------------------------------------------------------------------------------

// Marks of a trace: it is there, it was recorded.
enum { THERE = 1, COUNTS = 2 };

// A trace of a window, by one warp: its tapered samples, and its flags and muted samples.
__device__ void load_trace(const WpLevelTask &t, const long long *at, int k, float *to,
                           unsigned char *flags, short *muted)
{
    const int lane = threadIdx.x % WARP, n = t.n[2];
    const long long il = at[0] + k / t.n[1], xl = at[1] + k % t.n[1];
    const bool inside = il >= t.box_lo[0] && il < t.box_hi[0] && xl >= t.box_lo[1] &&
                        xl < t.box_hi[1];
    const long long trace = (il - t.lo[0]) * t.size[1] + xl - t.lo[1];
    const float *from = t.in + trace * t.size[2] + at[2] - t.lo[2];
    const bool live = inside && t.live[trace];
    bool any = false, zero = false, finite = live;
    for (int i = lane; live && i < n; i += WARP) {
        const float x = from[i];
        any |= x != 0;
        zero |= x == 0;
        finite &= isfinite(x) != 0;
    }
    const bool there = __all_sync(~0u, finite) && __any_sync(~0u, any);
    const bool zeros = __any_sync(~0u, zero);
    const double taper = t.taper[0][k / t.n[1]] * t.taper[1][k % t.n[1]];
    for (int i = lane; i < n; i += WARP)
        to[i] = there ? (float)(taper * t.taper[2][i] * from[i]) : 0;
    if (lane == 0) {
        const bool counts = there && (!t.recorded || t.recorded[trace]);
        *flags = (there ? THERE : 0) | (counts ? COUNTS : 0);
        *muted = there && zeros ? noise_count_muted(from, n, t.mute_run) : 0;
    }
}

// One block a window, one warp a trace.
__global__ void __launch_bounds__(THREADS) load_kernel(const WpLevelTask t)
{
    __shared__ unsigned char flags[THREADS];
    __shared__ short mutes[THREADS];
    const int w = blockIdx.x, k = threadIdx.x, nk = wavenumbers(t);
    const long long *at = t.at + 3 * (long long)w;
    float *to = t.samples + (long long)w * nk * t.n[2];
    for (int trace = k / WARP; trace < nk; trace += THREADS / WARP)
        load_trace(t, at, trace, to + (long long)trace * t.n[2], &flags[trace], &mutes[trace]);
    __syncthreads();
    double energy = 0;
    int there = 0, counts = 0, muted = 0;
    if (k < nk) {
        const double taper = t.taper[0][k / t.n[1]] * t.taper[1][k % t.n[1]];
        there = (flags[k] & THERE) != 0;
        counts = (flags[k] & COUNTS) != 0;
        muted = mutes[k];
        energy = counts ? taper * taper : 0;
    }
    energy = sum_of_block<THREADS>(energy);
    const int present = (int)sum_of_block<THREADS>(counts);
    const int known = (int)sum_of_block<THREADS>(there);
    const int zeros = (int)sum_of_block<THREADS>(muted);
    if (k > 0)
        return;
    long long inside = 1;
    for (int a = 0; a < 2; a++)
        inside *= min(at[a] + t.n[a], t.box_hi[a]) - max(at[a], t.box_lo[a]);
    const bool enough = present > 0 && LITHO_NOISE_ONE_IN * present >= inside;
    t.share[w] = enough ? (float)(energy / t.energy) : 0;
    t.scale[w] = enough ? (float)(1 / (energy * t.time_energy)) : 0;
    t.leak[w] = 0;
    t.holes[w] = enough && known < inside;
    t.muted[w] = enough ? (float)zeros / (float)(known * t.n[2]) : 0;
}

// One block a window: its power, transposed to a field.
__global__ void __launch_bounds__(THREADS) power_kernel(const WpLevelTask t)
{
    __shared__ float tile[WARP][WARP + 1];
    const int w = blockIdx.x, nk = wavenumbers(t), x = threadIdx.x % WARP, y = threadIdx.x / WARP;
    const float2 *from = t.spectra + (long long)w * nk * t.nf;
    const float scale = t.scale[w];
    for (int k0 = 0; k0 < nk; k0 += WARP)
        for (int f0 = 0; f0 < t.nf; f0 += WARP) {
            __syncthreads();
            for (int i = y; i < WARP; i += THREADS / WARP)
                if (k0 + i < nk && f0 + x < t.nf) {
                    const float2 z = from[(long long)(k0 + i) * t.nf + f0 + x];
                    tile[i][x] = scale * (z.x * z.x + z.y * z.y);
                }
            __syncthreads();
            for (int i = y; i < WARP; i += THREADS / WARP)
                if (f0 + i < t.nf && k0 + x < nk)
                    t.power[at_window(t, f0 + i, w) + k0 + x] = tile[x][i];
        }
}

// exp(-2 pi i k / n)
__device__ float2 on_circle(int k, int n)
{
    double s, c;
    sincospi(-2.0 * (k % n) / n, &s, &c);
    return make_float2((float)c, (float)s);
}

// leak_of() of noise.c. One block a window, one thread a trace, then a wavenumber.
__global__ void __launch_bounds__(THREADS) leak_kernel(const WpLevelTask t)
{
    __shared__ float2 z[THREADS];
    __shared__ float power[THREADS], middle;
    __shared__ float2 circle[2][THREADS];
    const int w = blockIdx.x, k = threadIdx.x, nk = wavenumbers(t);
    if (!t.holes[w])
        return;
    for (int a = 0; a < 2; a++)
        if (k < t.n[a])
            circle[a][k] = on_circle(k, t.n[a]);
    float known = 0;
    if (k < nk) { // a trace that is there has a sample that is not zero
        const float *x = t.samples + ((long long)w * nk + k) * t.n[2];
        bool any = false;
        for (int i = 0; i < t.n[2]; i++)
            any |= x[i] != 0;
        known = any ? (float)(t.taper[0][k / t.n[1]] * t.taper[1][k % t.n[1]]) : 0;
    }
    z[k] = make_float2(known, 0);
    __syncthreads();
    const int i = k / t.n[1], j = k % t.n[1];
    float2 sum = make_float2(0, 0);
    for (int y = 0; k < nk && y < t.n[1]; y++) {
        const float2 c = circle[1][y * j % t.n[1]];
        sum.x += c.x * z[i * t.n[1] + y].x;
        sum.y += c.y * z[i * t.n[1] + y].x;
    }
    __syncthreads();
    z[k] = sum;
    __syncthreads();
    sum = make_float2(0, 0);
    for (int x = 0; k < nk && x < t.n[0]; x++) {
        const float2 c = circle[0][x * i % t.n[0]], v = z[x * t.n[1] + j];
        sum.x += c.x * v.x - c.y * v.y;
        sum.y += c.x * v.y + c.y * v.x;
    }
    power[k] = k < nk ? sum.x * sum.x + sum.y * sum.y : 0;
    const double all = sum_of_block<THREADS>(power[k]);
    int smaller = 0, same = 0;
    for (int m = 0; m < nk; m++) {
        smaller += power[m] < power[k];
        same += power[m] == power[k];
    }
    if (k < nk && smaller <= nk / 2 && nk / 2 < smaller + same)
        middle = power[k]; // whoever finds it finds the same
    __syncthreads();
    if (k == 0)
        t.leak[w] = all > 0 ? (float)(middle * nk / all) : 0;
}

// --- selection -----------------------------------------------------------------------------------

// Bits whose order is that of the numbers.
__device__ unsigned ordered(float x)
{
    const unsigned bits = __float_as_uint(x);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ float from_ordered(unsigned bits)
{
    return __uint_as_float(bits & 0x80000000u ? bits & 0x7fffffffu : ~bits);
}

__device__ int digits_of(int pass)
{
    return pass < 2 ? 2048 : 1024;
}

__device__ int shift_of(int pass)
{
    return pass == 0 ? 21 : pass == 1 ? 10 : 0;
}

// Counts the digits of a chunk of windows (by frequency) or of frequencies (by window).
__global__ void __launch_bounds__(THREADS) digits_kernel(const WpLevelTask t, const WpSelect s,
                                                         int pass, int chunk)
{
    __shared__ unsigned count[DIGITS];
    const int segment = blockIdx.x, first = blockIdx.y * chunk, nk = wavenumbers(t);
    const int end = min(first + chunk, s.by_window ? t.nf : t.windows), shift = shift_of(pass);
    const unsigned prefix = s.prefix[segment];
    int some_real = 0;
    if (s.without_real && (segment == 0 || 2 * segment == t.n[2]))
        some_real = count_real(t, segment) < nk;
    for (int d = threadIdx.x; d < DIGITS; d += THREADS)
        count[d] = 0;
    __syncthreads();
    for (int e = first; e < end; e++) {
        const int f = s.by_window ? e : segment, w = s.by_window ? segment : e;
        if (!(t.share[w] > 0))
            continue;
        const float *values = s.values + at_window(t, f, w);
        for (int k = threadIdx.x; k < nk; k += THREADS) {
            const unsigned bits = ordered(values[k]);
            if (some_real && is_real(t, f, k))
                continue;
            if (pass > 0 && bits >> shift_of(pass - 1) != prefix >> shift_of(pass - 1))
                continue;
            atomicAdd(&count[bits >> shift & (digits_of(pass) - 1)], 1u);
        }
    }
    __syncthreads();
    for (int d = threadIdx.x; d < DIGITS; d += THREADS)
        if (count[d] > 0)
            atomicAdd(&s.counts[(long long)segment * DIGITS + d], count[d]);
}

// The digit in which the rank falls, by one warp; the counts are cleared for the next pass.
__global__ void find_kernel(const WpSelect s, int pass)
{
    const int segment = blockIdx.x, lane = threadIdx.x, own = DIGITS / WARP;
    unsigned *count = s.counts + (long long)segment * DIGITS + lane * own;
    unsigned sum = 0;
    for (int d = 0; d < own; d++)
        sum += count[d];
    unsigned before = sum;
    for (int by = 1; by < WARP; by *= 2) {
        const unsigned other = __shfl_up_sync(~0u, before, by);
        before += lane >= by ? other : 0;
    }
    const unsigned long long rank = s.rank[segment];
    before -= sum;
    __syncwarp();
    if (rank >= before && rank < (unsigned long long)before + sum) {
        unsigned long long left = rank - before;
        int d = 0;
        while (left >= count[d])
            left -= count[d++];
        const unsigned prefix = s.prefix[segment] | (unsigned)(lane * own + d) << shift_of(pass);
        s.prefix[segment] = prefix;
        s.rank[segment] = left;
        s.result[segment] = from_ordered(prefix);
    }
    __syncwarp();
    for (int d = 0; d < own; d++)
        count[d] = 0;
}

// --- neighbourhoods ------------------------------------------------------------------------------

// One block a frequency and window, one thread a wavenumber.
__global__ void __launch_bounds__(THREADS) smooth_kernel(const WpLevelTask t, const float *median)
{
    __shared__ float p[THREADS];
    const int w = blockIdx.x, f = blockIdx.y, k = threadIdx.x, nk = wavenumbers(t);
    const float scale = median[f] > 0 ? 1 / median[f] : 0;
    const long long at = at_window(t, f, w);
    if (!(t.share[w] > 0))
        return;
    if (k < nk)
        p[k] = t.power[at + k];
    __syncthreads();
    if (k >= nk)
        return;
    const int n0 = t.n[0], n1 = t.n[1], i = k / n1, j = k % n1;
    const int before = (j + n1 - 1) % n1, after = (j + 1) % n1;
    float sum = 0;
    for (int r = -1; r <= 1; r++) {
        const float *row = p + (i + r + n0) % n0 * n1;
        sum += row[before] + row[j] + row[after];
    }
    t.smooth[at + k] = scale * sum / 9;
}

__global__ void __launch_bounds__(THREADS) near_kernel(const WpLevelTask t, int nearest,
                                                       int farthest)
{
    const int w = blockIdx.x, f = blockIdx.y, k = threadIdx.x, nk = wavenumbers(t);
    const int i = k / t.n[1], j = k % t.n[1], last = t.nf - 1;
    if (k >= nk || !(t.share[w] > 0))
        return;
    const int mirrored = (t.n[0] - i) % t.n[0] * t.n[1] + (t.n[1] - j) % t.n[1];
    float sum = 0;
    for (int off = -farthest; off <= farthest; off++) {
        if (abs(off) < nearest)
            continue;
        const int g = f + off, from = g < 0 ? -g : g > last ? t.n[2] - g : g;
        sum += t.smooth[at_window(t, from, w) + (from == g ? k : mirrored)];
    }
    t.near[at_window(t, f, w) + k] = sum;
}

// to += factor sum loud[x, y] by0[i - x] by1[j - y], indices periodic; all threads of the block.
__device__ float convolve(const WpLevelTask &t, const float *loud, const float *by0,
                          const float *by1, float factor, float *scratch, float to)
{
    const int n0 = t.n[0], n1 = t.n[1], k = threadIdx.x, i = k / n1, j = k % n1;
    float sum = 0;
    __syncthreads();
    for (int y = 0; k < n0 * n1 && y < n1; y++)
        sum += loud[i * n1 + y] * by1[(j - y + n1) % n1];
    scratch[k] = sum;
    __syncthreads();
    for (int x = 0; k < n0 * n1 && x < n0; x++)
        to += factor * by0[(i - x + n0) % n0] * scratch[x * n1 + j];
    return to;
}

__global__ void __launch_bounds__(THREADS) spread_kernel(const WpLevelTask t, const WpLevelSpread s)
{
    __shared__ float loud[THREADS], scratch[THREADS];
    const int w = blockIdx.x, f = blockIdx.y, k = threadIdx.x, nk = wavenumbers(t);
    const float unit = s.median[f] * s.loud[w];
    const long long at = at_window(t, f, w);
    if (!(t.share[w] > 0))
        return;
    const float power = k < nk ? t.power[at + k] : 0;
    float near = k < nk ? t.near[at + k] / s.loud[w] : 0;
    loud[k] = power > s.loudest * unit ? power / unit - 1 : 0;
    if (__syncthreads_or(loud[k] > 0) && unit > 0) {
        const int p0 = s.place[2 * w] * t.n[0], p1 = s.place[2 * w + 1] * t.n[1];
        near = convolve(t, loud, s.far[0] + p0, s.far[1] + p1, s.counts, scratch, near);
        near = convolve(t, loud, s.close[0] + p0, s.close[1] + p1, -s.counts, scratch, near);
    }
    if (k < nk)
        t.near[at + k] = near;
}

// --- classes -------------------------------------------------------------------------------------

__global__ void __launch_bounds__(THREADS) parts_kernel(const WpLevelTask t, const WpLevelClasses c)
{
    __shared__ double sums[THREADS / WARP][WP_LEVEL_CLASSES];
    __shared__ int counts[THREADS / WARP][WP_LEVEL_CLASSES];
    const int w = blockIdx.x, f = blockIdx.y, k = threadIdx.x, nk = wavenumbers(t);
    const long long at = at_window(t, f, w);
    if (!(t.share[w] > 0))
        return;
    const float power = k < nk ? t.power[at + k] : 0, near = k < nk ? t.near[at + k] : 0;
    int own = 0;
    while (own < WP_LEVEL_CLASSES && near > c.edge[own] * c.limit[f])
        own++;
    for (int i = 0; i < WP_LEVEL_CLASSES; i++) {
        const unsigned members = __ballot_sync(~0u, k < nk && own == i);
        const double sum = members ? sum_of_warp(k < nk && own == i ? power : 0) : 0;
        if (k % WARP == 0) {
            sums[k / WARP][i] = sum;
            counts[k / WARP][i] = __popc(members);
        }
    }
    const double all = sum_of_block<THREADS>(power);
    if (k == 0)
        c.mean[(long long)f * t.windows + w] = all / nk;
    if (k >= WP_LEVEL_CLASSES)
        return;
    WpLevelPart part = {0, 0};
    for (int i = 0; i < THREADS / WARP; i++) {
        part.power += sums[i][k];
        part.count += counts[i][k];
    }
    c.parts[((long long)f * t.windows + w) * WP_LEVEL_CLASSES + k] = part;
}

// One block a frequency and half, one thread a class and group.
__global__ void sums_kernel(const WpLevelTask t, const WpLevelClasses c)
{
    __shared__ double leaky[WP_LEVEL_GROUPS][WP_LEVEL_CLASSES];
    __shared__ double leaky_weight[WP_LEVEL_GROUPS][WP_LEVEL_CLASSES];
    const int f = blockIdx.x, half = blockIdx.y, own = threadIdx.x % WP_LEVEL_CLASSES;
    const int group = threadIdx.x / WP_LEVEL_CLASSES;
    double power = 0, weight = 0, whole = 0, whole_weight = 0;
    for (int w = group; w < t.windows; w += WP_LEVEL_GROUPS) {
        const double share = t.share[w], leak = t.leak[w];
        if (!(share > 0) || c.half[w] != half)
            continue;
        const long long at = (long long)f * t.windows + w;
        const WpLevelPart part = c.parts[at * WP_LEVEL_CLASSES + own];
        power += share * (part.power - part.count * (leak > 0 ? leak * c.mean[at] : 0));
        weight += share * (1 - leak) * c.loud[w] * part.count;
        whole += share * part.power;
        whole_weight += share * c.loud[w] * part.count;
    }
    WpLevelSums *to = c.sums + ((long long)f * 2 + half) * WP_LEVEL_CLASSES + own;
    to->power[group] = power;
    to->weight[group] = weight;
    leaky[group][own] = whole;
    leaky_weight[group][own] = whole_weight;
    __syncthreads();
    if (group > 0)
        return;
    to->leaky = to->leaky_weight = 0;
    for (int g = 0; g < WP_LEVEL_GROUPS; g++) {
        to->leaky += leaky[g][own];
        to->leaky_weight += leaky_weight[g][own];
    }
}

// --- all wavenumbers -----------------------------------------------------------------------------

// A block takes a slice of the windows; the last one of a frequency adds up what all have found.
__global__ void __launch_bounds__(THREADS) all_kernel(const WpLevelTask t, const WpLevelAll a)
{
    __shared__ bool last;
    const int f = blockIdx.y, nk = wavenumbers(t), real = count_real(t, f);
    const int freedom = real == nk ? 1 : 2, slices = gridDim.x;
    WpLevelSlice *parts = a.slices + (long long)f * slices;
    const double mean = a.mean[f], limit = a.cut * mean;
    double sum = 0, kept = 0;
    if (a.rests[f])
        return;
    for (int w = blockIdx.x * (THREADS / WARP) + threadIdx.x / WARP; w < t.windows;
         w += slices * (THREADS / WARP)) {
        const float *p = t.power + at_window(t, f, w);
        if (!(t.share[w] > 0))
            continue;
#pragma unroll 8
        for (int k = threadIdx.x % WARP; k < nk; k += WARP) {
            const float x = p[k];
            const bool below = x <= limit && (real == 0 || real == nk || !is_real(t, f, k));
            sum += below ? x : 0;
            kept += below;
        }
    }
    sum = sum_of_block<THREADS>(sum);
    kept = sum_of_block<THREADS>(kept);
    if (threadIdx.x == 0) {
        parts[blockIdx.x].sum = sum;
        parts[blockIdx.x].n = kept;
        __threadfence();
        last = atomicAdd(&a.arrived[f], 1u) + 1 == (unsigned)slices;
    }
    __syncthreads();
    if (!last || threadIdx.x > 0)
        return;
    __threadfence();
    sum = kept = 0;
    for (int k = 0; k < slices; k++) {
        sum += __ldcg(&parts[k].sum);
        kept += __ldcg(&parts[k].n);
    }
    const double next = kept > 0 ? sum / kept / a.below[freedom - 1] : mean;
    a.arrived[f] = 0;
    a.rests[f] = next == mean;
    a.mean[f] = next;
}

__global__ void begin_all_kernel(const WpLevelTask t, const WpLevelAll a)
{
    const int f = threadIdx.x, freedom = count_real(t, f) == wavenumbers(t) ? 1 : 2;
    a.mean[f] = a.median[f] / a.of_median[freedom - 1];
    a.arrived[f] = a.rests[f] = 0;
}

// One block a window and band: the value that so many wavenumbers come before.
__global__ void __launch_bounds__(THREADS)
    quiet_kernel(const WpLevelTask t, int rank, float *quiet)
{
    const int w = blockIdx.x, band = blockIdx.y, k = threadIdx.x, nk = wavenumbers(t);
    float *to = quiet + (long long)band * t.windows + w;
    float *mean = to + (long long)gridDim.y * t.windows;
    if (!(t.share[w] > 0)) {
        if (k == 0)
            *to = *mean = 0;
        return;
    }
    const float power = k < nk ? t.power[at_window(t, noise_map_frequency(band), w) + k] : 0;
    const double all = sum_of_block<THREADS>(power);
    if (k == 0)
        *mean = (float)(all / nk);
    // Bit by bit the largest number that no more than `rank` of them are smaller than: the bits of
    // powers, which are not negative, have their order.
    const unsigned own = k < nk ? __float_as_uint(power) : ~0u;
    unsigned found = 0;
    for (unsigned bit = 1u << 30; bit; bit >>= 1)
        if (__syncthreads_count(own < (found | bit)) <= rank)
            found |= bit;
    if (k == 0)
        *to = __uint_as_float(found);
}

dim3 each_window(const WpLevelTask *t)
{
    return dim3((unsigned)t->windows, (unsigned)t->nf);
}

} // namespace

int wp_level_load(const WpLevelTask *t)
{
    load_kernel<<<(unsigned)t->windows, THREADS, 0, t->stream>>>(*t);
    return (int)cudaGetLastError();
}

int wp_level_power(const WpLevelTask *t)
{
    power_kernel<<<(unsigned)t->windows, THREADS, 0, t->stream>>>(*t);
    leak_kernel<<<(unsigned)t->windows, THREADS, 0, t->stream>>>(*t);
    return (int)cudaGetLastError();
}

int wp_level_quiet(const WpLevelTask *t, int bands, int rank, float *quiet)
{
    const dim3 blocks((unsigned)t->windows, (unsigned)bands);
    quiet_kernel<<<blocks, THREADS, 0, t->stream>>>(*t, rank, quiet);
    return (int)cudaGetLastError();
}

int wp_level_select(const WpLevelTask *t, const WpSelect *s)
{
    const int segments = s->by_window ? t->windows : t->nf;
    const int all = s->by_window ? t->nf : t->windows, chunk = s->by_window ? all : 32;
    const dim3 blocks((unsigned)segments, (unsigned)((all + chunk - 1) / chunk));
    cudaMemsetAsync(s->counts, 0, sizeof(unsigned) * DIGITS * (size_t)segments, t->stream);
    cudaMemsetAsync(s->prefix, 0, sizeof(unsigned) * (size_t)segments, t->stream);
    cudaMemsetAsync(s->result, 0, sizeof(float) * (size_t)segments, t->stream);
    for (int pass = 0; pass < 3; pass++) {
        digits_kernel<<<blocks, THREADS, 0, t->stream>>>(*t, *s, pass, chunk);
        find_kernel<<<(unsigned)segments, WARP, 0, t->stream>>>(*s, pass);
    }
    return (int)cudaGetLastError();
}

int wp_level_smooth(const WpLevelTask *t, const float *median)
{
    smooth_kernel<<<each_window(t), THREADS, 0, t->stream>>>(*t, median);
    return (int)cudaGetLastError();
}

int wp_level_near(const WpLevelTask *t, int nearest, int farthest)
{
    near_kernel<<<each_window(t), THREADS, 0, t->stream>>>(*t, nearest, farthest);
    return (int)cudaGetLastError();
}

int wp_level_spread(const WpLevelTask *t, const WpLevelSpread *s)
{
    spread_kernel<<<each_window(t), THREADS, 0, t->stream>>>(*t, *s);
    return (int)cudaGetLastError();
}

int wp_level_classes(const WpLevelTask *t, const WpLevelClasses *c)
{
    const dim3 halves((unsigned)t->nf, 2);
    parts_kernel<<<each_window(t), THREADS, 0, t->stream>>>(*t, *c);
    sums_kernel<<<halves, WP_LEVEL_CLASSES * WP_LEVEL_GROUPS, 0, t->stream>>>(*t, *c);
    return (int)cudaGetLastError();
}

int wp_level_all(const WpLevelTask *t, const WpLevelAll *a)
{
    const dim3 grid(WP_LEVEL_SLICES, (unsigned)t->nf);
    begin_all_kernel<<<1, (unsigned)t->nf, 0, t->stream>>>(*t, *a);
    for (int pass = 0; pass < a->passes; pass++)
        all_kernel<<<grid, THREADS, 0, t->stream>>>(*t, *a);
    return (int)cudaGetLastError();
}
