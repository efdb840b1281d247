// SPDX-License-Identifier: GPL-3.0-or-later
//
// The pass for faults (kernels/patch/faults.h): spectra along time, once a trace; windows of 4 x 4
// traces of them; the share that comes back; and the samples. Sums have the CPU's order.
#include "kernels/patch/cuda/device.cuh"

namespace
{

enum {
    W = LITHO_PATCH_FAULT_TRACES,
    K = W * W,
    BESIDE = LITHO_PATCH_FAULT_BESIDE,
    EDGE = LITHO_PATCH_FAULT_EDGE,
    LANES = 32,                  // crosslines of a block of windows
    ROWS = 16,                   // its inlines
    WINDOWS = LANES * ROWS,
    MADE_XL = LANES - 2 * W + 2, // of which all windows are in the block
    MADE_IL = ROWS - W + 1,
    WHOLE_XL = LANES - W + 1, // windows of a row of which all traces are in the block
    DOWN = 8, // windows along time, or samples, of the other blocks
};
static_assert((int)MADE_IL == (int)LITHO_PATCH_FAULT_MADE, "parts are whole blocks");
const float OUTER = 0.382683432365090f, INNER = 0.923879532511287f; // the taper

// --- the removed part ----------------------------------------------------------------------------

// One block a trace of `held`.
__global__ void split_kernel(const LithoPatchFaultTask t, const float *in, LithoPatchBox in_held,
                             const unsigned char *recorded, float *made)
{
    const long long il = t.held.lo[0] + blockIdx.y, xl = t.held.lo[1] + blockIdx.x;
    const long long trace = trace_at(t.held, il, xl), n = t.held.n[2];
    const long long di = il - t.region.lo[0], dj = xl - t.region.lo[1];
    const bool written = di >= 0 && di < t.region.n[0] && dj >= 0 && dj < t.region.n[1];
    const float *x = in + trace_at(in_held, il, xl) * in_held.n[2] + t.held.lo[2] - in_held.lo[2];
    float *y = made + trace * n;
    float *out = t.out + (written ? trace_at(t.out_held, il, xl) * t.out_held.n[2] : 0) +
                 t.held.lo[2] - t.out_held.lo[2];
    const long long lo = t.region.lo[2] - t.held.lo[2];
    for (long long k = threadIdx.x; k < n; k += THREADS) {
        if (!recorded[trace]) {
            y[k] = 0;
            continue;
        }
        if (written && k >= lo && k < lo + t.region.n[2])
            out[k] = y[k];
        y[k] = isfinite(x[k]) ? x[k] - y[k] : 0;
    }
}

// --- spectra along time --------------------------------------------------------------------------

// Element (k, f, il, xl) of spectra, which reach EDGE traces beyond what is made.
__device__ __forceinline__ long long spectrum_at(const LithoPatchFaultTask &t, int k, int f,
                                                 long long il, long long xl)
{
    const long long n0 = t.made.n[0] + 2 * EDGE, n1 = t.made.n[1] + 2 * EDGE;
    return (((long long)k * t.small.bins + f) * n0 + il) * n1 + xl;
}

__device__ __forceinline__ long long sum_at(const LithoPatchFaultTask &t, int k, int f,
                                            long long il, long long xl)
{
    return (((long long)k * t.small.bins + f) * t.made.n[0] + il) * t.made.n[1] + xl;
}

// A block: 32 traces of an inline, DOWN windows, of LENGTH samples where this is not 0. Floor: 4 bytes read a sample, 8 written a
// coefficient.
template <int LENGTH> __global__ void time_kernel(const LithoPatchFaultTask t)
{
    extern __shared__ float shared[];
    const LithoPatchAxis time = t.small.axis[2];
    const int length = LENGTH ? LENGTH : time.length, span = (DOWN - 1) * time.stride + length;
    float *x = shared;                                 // [trace][span + 1]
    float2 *wave = (float2 *)(x + LANES * (span + 1)); // taper of sample i is behind it
    float *taper = (float *)(wave + length);
    const int me = threadIdx.y * LANES + threadIdx.x, k0 = blockIdx.z * DOWN;
    const long long il = t.made.lo[0] - EDGE + blockIdx.y;
    const long long xl0 = t.made.lo[1] - EDGE + (long long)blockIdx.x * LANES;
    const int start = litho_patch_start(time, t.first + k0);
    const int row = litho_patch_mirror(t.small.axis[0].n, (int)il);
    for (int e = me; e < length; e += LANES * DOWN) {
        wave[e] = t.wave[e];
        taper[e] = t.taper[e];
    }
    for (int e = me; e < LANES * span; e += LANES * DOWN) {
        const int trace = e / span, s = e % span;
        const int xl = litho_patch_mirror(t.small.axis[1].n, (int)(xl0 + trace));
        const int at = litho_patch_mirror(time.n, start + s);
        const bool there = row >= t.held.lo[0] && row < t.held.lo[0] + t.held.n[0] &&
                           xl >= t.held.lo[1] && xl < t.held.lo[1] + t.held.n[1] &&
                           at >= t.held.lo[2] && at < t.held.lo[2] + t.held.n[2];
        x[trace * (span + 1) + s] =
            there ? t.removed[trace_at(t.held, row, xl) * t.held.n[2] + at - t.held.lo[2]] : 0;
    }
    __syncthreads();
    const int k = k0 + threadIdx.y;
    const long long xl = (long long)blockIdx.x * LANES + threadIdx.x;
    if (k >= t.count || xl >= t.made.n[1] + 2 * EDGE)
        return;
    const float *own = x + threadIdx.x * (span + 1) + threadIdx.y * time.stride;
    float kept[LENGTH ? LENGTH : 1];
#pragma unroll
    for (int i = 0; i < LENGTH; i++)
        kept[LENGTH ? i : 0] = taper[i] * own[i];
    for (int f = 0; f < t.small.bins; f++) {
        float re = 0, im = 0;
        int phase = 0;
#pragma unroll
        for (int i = 0; i < length; i++) {
            const float v = LENGTH ? kept[LENGTH ? i : 0] : taper[i] * own[i];
            re += v * wave[phase].x;
            im -= v * wave[phase].y;
            phase += f;
            phase = phase >= length ? phase - length : phase;
        }
        t.spectra[spectrum_at(t, k, f, blockIdx.y, xl)] = make_float2(re, im);
    }
}

// --- windows -------------------------------------------------------------------------------------

__device__ __forceinline__ float2 add(float2 a, float2 b)
{
    return make_float2(a.x + b.x, a.y + b.y);
}

__device__ __forceinline__ float2 scaled(float2 a, float w)
{
    return make_float2(a.x * w, a.y * w);
}

__device__ __forceinline__ void forward4(float2 x[W])
{
    const float2 a = scaled(x[0], OUTER), b = scaled(x[1], INNER);
    const float2 c = scaled(x[2], INNER), d = scaled(x[3], OUTER);
    x[0] = make_float2((a.x + c.x) + (b.x + d.x), (a.y + c.y) + (b.y + d.y));
    x[1] = make_float2((a.x - c.x) + (b.y - d.y), (a.y - c.y) - (b.x - d.x));
    x[2] = make_float2((a.x + c.x) - (b.x + d.x), (a.y + c.y) - (b.y + d.y));
    x[3] = make_float2((a.x - c.x) - (b.y - d.y), (a.y - c.y) + (b.x - d.x));
}

__device__ __forceinline__ void inverse4(float2 x[W], float scale)
{
    const float2 e = add(x[0], x[2]), f = make_float2(x[0].x - x[2].x, x[0].y - x[2].y);
    const float2 g = add(x[1], x[3]), h = make_float2(x[1].x - x[3].x, x[1].y - x[3].y);
    const float outer = OUTER * scale, inner = INNER * scale;
    x[0] = make_float2(outer * (e.x + g.x), outer * (e.y + g.y));
    x[1] = make_float2(inner * (f.x - h.y), inner * (f.y + h.x));
    x[2] = make_float2(inner * (e.x - g.x), inner * (e.y - g.y));
    x[3] = make_float2(outer * (f.x + h.y), outer * (f.y - h.x));
}

__device__ __forceinline__ float2 shifted_down(float2 v, int by)
{
    return make_float2(__shfl_down_sync(~0u, v.x, by), __shfl_down_sync(~0u, v.y, by));
}

__device__ __forceinline__ float2 shifted_up(float2 v, int by)
{
    return make_float2(__shfl_up_sync(~0u, v.x, by), __shfl_up_sync(~0u, v.y, by));
}

// One window, whose first trace is the thread's: 0 is the first window that what is made takes part
// in; BESIDE more, whose quartiles count, are before it and behind the last one.
struct Window {
    const LithoPatchFaultTask &t;
    int k;
    long long il, xl;
    float *stored; // 1 / mean |F|^2 of the noise: [frequency][window]

    __device__ Window(const LithoPatchFaultTask &task, int window, long long row, long long column,
                      float *noise)
        : t(task), k(window), il(row), xl(column), stored(noise)
    {
    }

    // Interpolates the noise of all frequencies once.
    __device__ void find_noise() const
    {
        const LithoPatchAxis time = t.small.axis[2];
        const float middle = 0.5f * (W - 1) - (W - 1);
        const float centre[3] = {(float)(t.made.lo[0] + il) + middle,
                                 (float)(t.made.lo[1] + xl) + middle,
                                 litho_patch_start(time, t.first + k) + 0.5f * (time.length - 1)};
        const LithoPatchCorners corners = litho_patch_corners(&t.levels, centre);
        for (int f = 0; f < t.small.bins; f++) {
            const float sigma = litho_patch_level_at(&t.levels, &corners, f);
            stored[f * WINDOWS] = 1 / fmaxf(sigma * sigma * (float)t.small.energy, 1e-30f);
        }
    }

    __device__ __forceinline__ float noise(int f) const
    {
        return stored[f * WINDOWS];
    }

    __device__ __forceinline__ void traces(int f, float2 x[W]) const
    {
#pragma unroll
        for (int i = 0; i < W; i++) {
            const long long row = il + i + BESIDE, lane = xl + BESIDE;
            const bool in = row < t.made.n[0] + 2 * EDGE && lane < t.made.n[1] + 2 * EDGE;
            x[i] = in ? t.spectra[spectrum_at(t, k, f, row, lane)] : make_float2(0, 0);
        }
    }

    // z[inline wavenumber][crossline wavenumber].
    __device__ __forceinline__ void spectrum(int f, float2 z[K]) const
    {
        float2 along[W];
        traces(f, along);
        forward4(along);
#pragma unroll
        for (int i = 0; i < W; i++) {
            float2 x[W];
#pragma unroll
            for (int j = 0; j < W; j++)
                x[j] = shifted_down(along[i], j);
            forward4(x);
#pragma unroll
            for (int j = 0; j < W; j++)
                z[i * W + j] = x[j];
        }
    }

    // Mean |F|^2 over the noise's, without the transforms.
    __device__ __forceinline__ float mean_power(int f) const
    {
        float2 x[W];
        traces(f, x);
        float own = 0, sum = 0;
#pragma unroll
        for (int i = 0; i < W; i++) {
            const float w = i == 0 || i == W - 1 ? OUTER : INNER;
            own += w * w * (x[i].x * x[i].x + x[i].y * x[i].y);
        }
#pragma unroll
        for (int j = 0; j < W; j++) {
            const float w = j == 0 || j == W - 1 ? OUTER : INNER;
            sum += w * w * __shfl_down_sync(~0u, own, j);
        }
        return sum * noise(f);
    }

    __device__ __forceinline__ void powers(int f, const float2 z[K], float p[K]) const
    {
        const float by = noise(f);
#pragma unroll
        for (int e = 0; e < K; e++) {
            p[e] = (z[e].x * z[e].x + z[e].y * z[e].y) * by;
            if (t.shape)
                p[e] *= 1 / t.shape[f * K + e];
        }
    }
};

__device__ __forceinline__ constexpr int opposite(int e)
{
    return (W - e / W) % W * W + (W - e % W) % W;
}

// A coefficient's power and half of those beside it at its frequency.
__device__ __forceinline__ float with_beside(const float p[K], int e)
{
    const int row = e / W * W;
    const float near = ((p[(e + W) % K] + p[(e + K - W) % K]) +
                        (p[row + (e + 1) % W] + p[row + (e + W - 1) % W]));
    return p[e] + 0.5f * near;
}

// Inlines and crosslines of windows whose quartiles count.
__device__ __forceinline__ long long quiet_windows(const LithoPatchFaultTask &t, int axis)
{
    return t.made.n[axis] + W - 1 + 2 * BESIDE;
}

__device__ __forceinline__ long long quiet_at(const LithoPatchFaultTask &t, int k, long long il,
                                              long long xl)
{
    return (k * quiet_windows(t, 0) + il + BESIDE) * quiet_windows(t, 1) + xl + BESIDE;
}

// The window's mean power at the quartile of its frequencies, least first.
template <int RANKS> __device__ __forceinline__ float quiet_of_window(const Window &w)
{
    float least[RANKS], quiet = 0;
#pragma unroll
    for (int r = 0; r < RANKS; r++)
        least[r] = INFINITY;
    for (int f = 0; f < w.t.small.bins; f++) {
        float v = w.mean_power(f);
#pragma unroll
        for (int r = 0; r < RANKS; r++) {
            const float a = least[r];
            least[r] = fminf(a, v);
            v = fmaxf(a, v);
        }
    }
#pragma unroll
    for (int r = 0; r < RANKS; r++)
        quiet = r == w.t.rank ? least[r] : quiet;
    return quiet;
}

// A block of 32 x 16 windows, of which 29 x 16 are whole. Floor: 4 coefficients read a window and
// frequency.
template <int RANKS>
__global__ void __launch_bounds__(WINDOWS, 2) quiet_kernel(const LithoPatchFaultTask t)
{
    extern __shared__ float shared[]; // noise of all windows
    const int lane = threadIdx.x, p = threadIdx.y, k = blockIdx.z;
    const long long il = (long long)blockIdx.y * ROWS + p - BESIDE;
    const long long xl = (long long)blockIdx.x * WHOLE_XL + lane - BESIDE;
    const Window w(t, k, il, xl, shared + p * LANES + lane);
    w.find_noise();
    const float quiet = quiet_of_window<RANKS>(w);
    const bool begins =
        litho_patch_fault_begins(t.small.axis[0].n, t.made.lo[0] - (W - 1) + il) &&
        litho_patch_fault_begins(t.small.axis[1].n, t.made.lo[1] - (W - 1) + xl);
    if (lane < WHOLE_XL && il + BESIDE < quiet_windows(t, 0) && xl + BESIDE < quiet_windows(t, 1))
        t.quiet[quiet_at(t, k, il, xl)] = begins ? quiet : 0;
}

// Inlines and crosslines of windows that what is made takes part in.
__device__ __forceinline__ long long part_windows(const LithoPatchFaultTask &t, int axis)
{
    return t.made.n[axis] + W - 1;
}

// Limits of the windows that what is made takes part in. A thread a window.
__global__ void limit_kernel(const LithoPatchFaultTask t)
{
    const long long n0 = part_windows(t, 0), n1 = part_windows(t, 1);
    const long long e = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (e >= n0 * n1 * t.count)
        return;
    const int k = (int)(e / (n0 * n1));
    const long long il = e / n1 % n0, xl = e % n1;
    const int n = litho_patch_fault_beside(t.small.axis[0].n, t.made.lo[0] - (W - 1) + il) *
                  litho_patch_fault_beside(t.small.axis[1].n, t.made.lo[1] - (W - 1) + xl);
    float sum = 0;
#pragma unroll
    for (int a = -BESIDE; a <= BESIDE; a++)
#pragma unroll
        for (int b = -BESIDE; b <= BESIDE; b++)
            sum += t.quiet[quiet_at(t, k, il + a, xl + b)];
    t.limits[e] = 4 * t.limit * t.limit *
                  litho_patch_fault_louder(t.quiet[quiet_at(t, k, il, xl)], sum / (float)n);
}

// Puts the kept part of frequency f to the rows of windows of the block: `rows`[row][trace][lane].
__device__ __forceinline__ void to_rows(float2 z[K], float2 (*rows)[W][LANES])
{
    float2 column[W];
#pragma unroll
    for (int i = 0; i < W; i++) {
        float2 x[W];
#pragma unroll
        for (int j = 0; j < W; j++)
            x[j] = z[i * W + j];
        inverse4(x, 1.0f / (K * W));
        column[i] = x[0];
#pragma unroll
        for (int j = 1; j < W; j++)
            column[i] = add(column[i], shifted_up(x[j], j));
    }
    inverse4(column, 1);
#pragma unroll
    for (int i = 0; i < W; i++)
        rows[threadIdx.y][i][threadIdx.x] = column[i];
}

// A block of 32 x 16 windows. Per window and frequency: 4 coefficients read, one written of two
// thirds of them, about 600 operations and 50 exchanges between lanes.
__global__ void __launch_bounds__(WINDOWS, 1) windows_kernel(const LithoPatchFaultTask t)
{
    extern __shared__ float shared[]; // noise of all windows
    __shared__ float2 rows[ROWS][W][LANES];
    const int lane = threadIdx.x, p = threadIdx.y, k = blockIdx.z, bins = t.small.bins;
    const long long il = (long long)blockIdx.y * MADE_IL + p;
    const long long xl = (long long)blockIdx.x * MADE_XL + lane;
    const Window w(t, k, il, xl, shared + p * LANES + lane);
    w.find_noise();
    const bool whole = lane < WHOLE_XL && il < part_windows(t, 0) && xl < part_windows(t, 1);
    const float limit =
        whole ? t.limits[(k * part_windows(t, 0) + il) * part_windows(t, 1) + xl] : 0;
    const long long made_il = il - (W - 1), made_xl = xl - (W - 1);
    const bool makes = p >= W - 1 && lane >= W - 1 && lane <= LANES - W &&
                       made_il < t.made.n[0] && made_xl < t.made.n[1];
    const int length = t.small.axis[2].length;
    float2 now[K], next[K];
    float sum[K], energy = 0;
    {
        float own[K], above[K];
        w.spectrum(0, now);
        w.powers(0, now, own);
        w.spectrum(1, next);
        w.powers(1, next, above);
#pragma unroll
        for (int e = 0; e < K; e++)
            sum[e] = with_beside(own, e) + 0.5f * above[opposite(e)];
    }
    for (int f = 0; f < bins; f++) {
        float power[K];
        if (f < bins - 1) {
            w.spectrum(f + 1, next);
            w.powers(f + 1, next, power);
        } else { // the opposite wavenumbers, one frequency below
            float below[K];
            w.spectrum(f - 1, next);
            w.powers(f - 1, next, below);
#pragma unroll
            for (int e = 0; e < K; e++)
                power[e] = below[opposite(e)];
        }
        float own[K];
        w.powers(f, now, own);
#pragma unroll
        for (int e = 0; e < K; e++) {
            const bool keep = whole && sum[e] + 0.5f * power[e] >= limit;
            now[e] = keep ? now[e] : make_float2(0, 0);
            sum[e] = with_beside(power, e) + 0.5f * own[e];
        }
        to_rows(now, rows);
        __syncthreads();
        if (makes) {
            float2 z = rows[p - 3][3][lane];
            z = add(add(add(z, rows[p - 2][2][lane]), rows[p - 1][1][lane]), rows[p][0][lane]);
            const float by = f == 0 || 2 * f == length ? 1 : 2;
            energy += by * (z.x * z.x + z.y * z.y) * w.noise(f);
            t.sums[sum_at(t, k, f, made_il, made_xl)] = z;
        }
        __syncthreads();
#pragma unroll
        for (int e = 0; e < K; e++)
            now[e] = next[e];
    }
    if (makes)
        t.energy[((long long)k * t.made.n[0] + made_il) * t.made.n[1] + made_xl] =
            energy * (float)(t.small.energy / (0.5 * length * length));
}

// --- back ----------------------------------------------------------------------------------------

// A thread a trace of the region and a window: the share that comes back.
__global__ void gate_kernel(const LithoPatchFaultTask t)
{
    const long long e = (long long)blockIdx.x * THREADS + threadIdx.x;
    const long long traces = t.region.n[0] * t.region.n[1];
    if (e >= traces * t.count)
        return;
    const int k = (int)(e / traces), around = LITHO_PATCH_FAULT_AROUND;
    const long long il = t.region.lo[0] + e % traces / t.region.n[1] - t.made.lo[0];
    const long long xl = t.region.lo[1] + e % traces % t.region.n[1] - t.made.lo[1];
    float sum = 0, largest = 0;
    int beside = 0, windows = 0;
    for (long long i = il - around; i <= il + around; i++)
        for (long long j = xl - around; j <= xl + around; j++) {
            if (i < 0 || i >= t.made.n[0] || j < 0 || j >= t.made.n[1])
                continue;
            float own = 0;
            windows = 0;
            for (int w = k - around; w <= k + around; w++)
                if (w >= 0 && w < t.count) {
                    own += t.energy[((long long)w * t.made.n[0] + i) * t.made.n[1] + j];
                    windows++;
                }
            sum += own;
            largest = fmaxf(largest, own);
            beside++;
        }
    t.gate[e] = litho_patch_fault_gate(sum, largest, beside, windows);
}

// Lanes are crosslines, so that most of them read zeros of the gate side by side and are done.
__global__ void back_kernel(const LithoPatchFaultTask t, long long il0)
{
    const LithoPatchAxis time = t.small.axis[2];
    const long long il = il0 + blockIdx.z;
    const long long xl = t.region.lo[1] + (long long)blockIdx.x * LANES + threadIdx.x;
    const long long at = t.from + (long long)blockIdx.y * DOWN + threadIdx.y;
    if (xl >= t.region.lo[1] + t.region.n[1] || at >= t.to)
        return;
    const long long trace = trace_at(t.out_held, il, xl);
    if (!t.wanted[trace])
        return;
    const long long own = trace_at(t.region, il, xl), traces = t.region.n[0] * t.region.n[1];
    float sum = 0;
    for (int w = litho_patch_first(time, (int)at); w <= litho_patch_last(time, (int)at); w++) {
        const int k = w - t.first, i = (int)at - litho_patch_start(time, w);
        const float gate = t.gate[(long long)k * traces + own];
        if (!(gate > 0))
            continue;
        float x = 0;
        for (int f = 0; f < t.small.bins; f++) {
            const float2 z = t.sums[sum_at(t, k, f, il - t.made.lo[0], xl - t.made.lo[1])];
            const float2 c = t.wave[f * i % time.length];
            x += (f == 0 || 2 * f == time.length ? 1.0f : 2.0f) * (z.x * c.x - z.y * c.y);
        }
        sum += gate * x * t.taper[i];
    }
    if (sum != 0)
        t.out[trace * t.out_held.n[2] + at - t.out_held.lo[2]] +=
            sum / (float)(time.length * litho_patch_weight(time, (int)at));
}

// A kernel of WINDOWS threads a block, which keep their noise in shared memory.
int launch(void (*kernel)(const LithoPatchFaultTask), const LithoPatchFaultTask *t, dim3 grid,
           cudaStream_t stream)
{
    const dim3 threads(LANES, ROWS);
    const int bytes = (int)sizeof(float) * t->small.bins * WINDOWS;
    const cudaError_t status = cudaFuncSetAttribute(
        (const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (status != cudaSuccess)
        return (int)status;
    kernel<<<grid, threads, bytes, stream>>>(*t);
    return (int)cudaGetLastError();
}

unsigned blocks_of(long long n, int each)
{
    return (unsigned)((n + each - 1) / each);
}

int launch_windows(const LithoPatchFaultTask *t, cudaStream_t stream)
{
    const int more = W - 1 + 2 * BESIDE;
    const dim3 quiet(blocks_of(t->made.n[1] + more, WHOLE_XL), blocks_of(t->made.n[0] + more, ROWS),
                     (unsigned)t->count);
    const dim3 windows(blocks_of(t->made.n[1], MADE_XL), blocks_of(t->made.n[0], MADE_IL),
                       (unsigned)t->count);
    const long long all = (t->made.n[0] + W - 1) * (t->made.n[1] + W - 1) * t->count;
    const int status =
        launch(t->rank < 4 ? quiet_kernel<4> : quiet_kernel<LITHO_PATCH_FAULT_RANKS>, t, quiet,
               stream);
    if (status)
        return status;
    limit_kernel<<<blocks_for(all), THREADS, 0, stream>>>(*t);
    return launch(windows_kernel, t, windows, stream);
}

} // namespace

int litho_patch_fault_split(const LithoPatchFaultTask *t, const float *in, LithoPatchBox in_held,
                            const unsigned char *recorded, float *made, cudaStream_t stream)
{
    for (long long il = 0; il < t->held.n[0]; il += 65535) {
        LithoPatchFaultTask part = *t;
        const long long traces = il * t->held.n[1];
        part.held.lo[0] += il;
        part.held.n[0] = t->held.n[0] - il < 65535 ? t->held.n[0] - il : 65535;
        const dim3 grid((unsigned)part.held.n[1], (unsigned)part.held.n[0]);
        split_kernel<<<grid, THREADS, 0, stream>>>(part, in, in_held, recorded + traces,
                                                   made + traces * t->held.n[2]);
    }
    return (int)cudaGetLastError();
}

int litho_patch_fault_sums(const LithoPatchFaultTask *t, cudaStream_t stream)
{
    const LithoPatchAxis time = t->small.axis[2];
    const int span = (DOWN - 1) * time.stride + time.length;
    const size_t bytes = sizeof(float) * (LANES * (span + 1) + 3 * time.length);
    const dim3 threads(LANES, DOWN);
    const dim3 grid(blocks_of(t->made.n[1] + 2 * EDGE, LANES),
                    (unsigned)(t->made.n[0] + 2 * EDGE), blocks_of(t->count, DOWN));
    if (time.length == 16)
        time_kernel<16><<<grid, threads, bytes, stream>>>(*t);
    else
        time_kernel<0><<<grid, threads, bytes, stream>>>(*t);
    const int status = (int)cudaGetLastError();
    return status ? status : launch_windows(t, stream);
}

int litho_patch_fault_back(const LithoPatchFaultTask *t, cudaStream_t stream)
{
    const dim3 threads(LANES, DOWN);
    gate_kernel<<<blocks_for(t->region.n[0] * t->region.n[1] * t->count), THREADS, 0, stream>>>(*t);
    const dim3 grid((unsigned)((t->region.n[1] + LANES - 1) / LANES),
                    (unsigned)((t->to - t->from + DOWN - 1) / DOWN), (unsigned)t->region.n[0]);
    back_kernel<<<grid, threads, 0, stream>>>(*t, t->region.lo[0]);
    return (int)cudaGetLastError();
}
