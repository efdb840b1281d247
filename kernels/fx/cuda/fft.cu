// SPDX-License-Identifier: GPL-3.0-or-later
//
// The transforms of the time windows in one kernel each way, for the lengths below: 32 traces, each
// with as many time windows as make up 256 samples, share a block, and what stands on either side
// (padding and transposition; blending in space and in time) happens while the numbers are in
// shared memory. Device memory sees the samples once, then 8 bins / hop bytes a sample, once each;
// time windows that overlap meet in registers. Other lengths go through cuFFT (cuda/spectra.cu).
//
// A real trace of N samples is a complex transform of M = N / 2 and an untangling pass, so that its
// spectrum depends on nothing else: neighbours that shared a transform would change its last bits,
// and a part of a cube would not be the part of the whole. Transform: Stockham, radix 4, then 2, 3
// and 5, in place: a thread reads its butterflies, all wait, it writes them where the next pass
// finds them.
#include "kernels/fx/cuda/device.cuh"

// Windows of 0.16 s are 40, 80 and 160 samples of 4, 2 and 1 ms: lengths between powers of two save
// a quarter of the frequencies.
#define OWN_LENGTHS(X)                                                                             \
    X(40)                                                                                          \
    X(48)                                                                                          \
    X(54)                                                                                          \
    X(60) X(64) X(80) X(96) X(120) X(128) X(160) X(192) X(240) X(256) X(320) X(384) X(512) X(1024)

enum {
    THREADS = 256,
    WARPS = THREADS / 32,
    TRACES = 32, // of a block
    HELD = 16,   // numbers a thread holds in registers during a pass
    MOST = 8,    // windows along an axis that may hold one trace
    AT_ONCE = 4, // bins a thread blends side by side
};

__device__ static inline float2 times(float2 a, float2 b)
{
    return make_float2(fmaf(a.x, b.x, -a.y * b.y), fmaf(a.x, b.y, a.y * b.x));
}

// Time windows of a trace that a block transforms side by side.
__host__ __device__ constexpr int windows_of(int n)
{
    return n <= 64 ? 4 : n <= 128 ? 2 : 1;
}

// From transform to transform in shared memory: odd, so that neighbouring transforms lie in
// different banks.
__host__ __device__ constexpr int pitch_of(int n)
{
    return (n / 2 + 1) | 1;
}

__host__ __device__ constexpr int shared_bytes(int n)
{
    return 8 * (TRACES * windows_of(n) * pitch_of(n) + n);
}

// Blocks that are to share a multiprocessor on the way back: registers spilled into local memory
// cost more than a fourth block gains.
__host__ __device__ constexpr int blocks_of(int n)
{
    return n > 512 ? 1 : n % 5 == 0 || n % 27 == 0 || n == 192 || n == 256 ? 3 : 4;
}

// Samples that a lane of a warp loads before it uses the first: a warp's cover the time windows
// above in one turn.
__host__ __device__ constexpr int samples_of(int n)
{
    return n <= 128 ? 4 : 5;
}

// --- transform -----------------------------------------------------------------------------------

// roots[k] = exp(SIGN 2 pi i k / N), k < N.
template <int N, int SIGN> __device__ static void make_roots(float2 *roots)
{
    for (int k = threadIdx.x; k < N; k += THREADS)
        sincospif(SIGN * 2.0f * k / N, &roots[k].y, &roots[k].x);
}

// to[r * STEP] = sum over q of x[q] exp(SIGN 2 pi i q r / R).
template <int R, int SIGN, int STEP>
__device__ static inline void butterfly(const float2 *x, float2 *to)
{
    if constexpr (R == 2) {
        to[0] = make_float2(x[0].x + x[1].x, x[0].y + x[1].y);
        to[STEP] = make_float2(x[0].x - x[1].x, x[0].y - x[1].y);
    } else if constexpr (R == 3) {
        constexpr float S = SIGN * 0.866025404f;
        const float2 a = make_float2(x[1].x + x[2].x, x[1].y + x[2].y);
        const float2 d = make_float2(S * (x[1].x - x[2].x), S * (x[1].y - x[2].y));
        const float2 m = make_float2(fmaf(-0.5f, a.x, x[0].x), fmaf(-0.5f, a.y, x[0].y));
        to[0] = make_float2(x[0].x + a.x, x[0].y + a.y);
        to[STEP] = make_float2(m.x - d.y, m.y + d.x);
        to[2 * STEP] = make_float2(m.x + d.y, m.y - d.x);
    } else if constexpr (R == 4) {
        const float2 a = make_float2(x[0].x + x[2].x, x[0].y + x[2].y);
        const float2 c = make_float2(x[0].x - x[2].x, x[0].y - x[2].y);
        const float2 d = make_float2(x[1].x + x[3].x, x[1].y + x[3].y);
        const float2 e = make_float2(SIGN * (x[1].x - x[3].x), SIGN * (x[1].y - x[3].y));
        to[0] = make_float2(a.x + d.x, a.y + d.y);
        to[STEP] = make_float2(c.x - e.y, c.y + e.x); // SIGN i times the difference
        to[2 * STEP] = make_float2(a.x - d.x, a.y - d.y);
        to[3 * STEP] = make_float2(c.x + e.y, c.y - e.x);
    } else {
        constexpr float C1 = 0.309016994f, C2 = -0.809016994f;
        constexpr float S1 = SIGN * 0.951056516f, S2 = SIGN * 0.587785252f;
        const float2 a = make_float2(x[1].x + x[4].x, x[1].y + x[4].y);
        const float2 b = make_float2(x[2].x + x[3].x, x[2].y + x[3].y);
        const float2 d = make_float2(x[1].x - x[4].x, x[1].y - x[4].y);
        const float2 e = make_float2(x[2].x - x[3].x, x[2].y - x[3].y);
        const float2 m =
            make_float2(fmaf(C1, a.x, fmaf(C2, b.x, x[0].x)), fmaf(C1, a.y, fmaf(C2, b.y, x[0].y)));
        const float2 n =
            make_float2(fmaf(C2, a.x, fmaf(C1, b.x, x[0].x)), fmaf(C2, a.y, fmaf(C1, b.y, x[0].y)));
        const float2 s = make_float2(fmaf(S1, d.x, S2 * e.x), fmaf(S1, d.y, S2 * e.y));
        const float2 t = make_float2(fmaf(S2, d.x, -S1 * e.x), fmaf(S2, d.y, -S1 * e.y));
        to[0] = make_float2(x[0].x + a.x + b.x, x[0].y + a.y + b.y);
        to[STEP] = make_float2(m.x - s.y, m.y + s.x);
        to[2 * STEP] = make_float2(n.x - t.y, n.y + t.x);
        to[3 * STEP] = make_float2(n.x + t.y, n.y - t.x);
        to[4 * STEP] = make_float2(m.x + s.y, m.y - s.x);
    }
}

// One pass of radix R over COUNT transforms of M numbers, DONE being the product of the radices
// before.
template <int N, int SIGN, int R, int DONE, int COUNT>
__device__ static void pass(float2 *z, const float2 *roots)
{
    constexpr int M = N / 2, EACH = M / R, PITCH = pitch_of(N);
    constexpr int BUTTERFLIES = COUNT * EACH, TURNS = (BUTTERFLIES + THREADS - 1) / THREADS;
    float2 v[TURNS][R];
#pragma unroll
    for (int h = 0; h < TURNS; h++) {
        const int b = threadIdx.x + h * THREADS;
        const int j = b % EACH, k = j % DONE;
        const float2 *from = z + b / EACH * PITCH + j;
        if (TURNS * THREADS > BUTTERFLIES && b >= BUTTERFLIES)
            continue;
        v[h][0] = from[0];
#pragma unroll
        for (int r = 1; r < R; r++)
            v[h][r] =
                DONE == 1 ? from[r * EACH] : times(from[r * EACH], roots[r * k * (N / (R * DONE))]);
    }
    __syncthreads();
#pragma unroll
    for (int h = 0; h < TURNS; h++) {
        const int b = threadIdx.x + h * THREADS;
        const int j = b % EACH, k = j % DONE;
        if (TURNS * THREADS > BUTTERFLIES && b >= BUTTERFLIES)
            continue;
        butterfly<R, SIGN, DONE>(v[h], z + b / EACH * PITCH + (j - k) * R + k);
    }
    __syncthreads();
}

template <int N, int SIGN, int DONE, int COUNT>
__device__ static void passes(float2 *z, const float2 *roots)
{
    constexpr int LEFT = N / 2 / DONE;
    constexpr int R = LEFT % 4 == 0   ? 4
                      : LEFT % 2 == 0 ? 2
                      : LEFT % 3 == 0 ? 3
                      : LEFT % 5 == 0 ? 5
                                      : 1;
    if constexpr (R > 1) {
        pass<N, SIGN, R, DONE, COUNT>(z, roots);
        passes<N, SIGN, DONE * R, COUNT>(z, roots);
    }
}

// Transforms that the threads can hold at once, a power of two.
__host__ __device__ constexpr int count_of(int n, int rows)
{
    const int held = n / 2 % 3 == 0 || n / 2 % 5 == 0 ? HELD - 1 : HELD; // radices divide it
    int count = 1;
    while (2 * count <= rows && 2 * count * (n / 2) <= held * THREADS)
        count *= 2;
    return count;
}

// All the block's transforms of N / 2, as many at a time as the threads can hold. All threads
// together before and after.
template <int N, int SIGN> __device__ static void transform(float2 *z, const float2 *roots)
{
    constexpr int ROWS = TRACES * windows_of(N), COUNT = count_of(N, ROWS);
    for (int first = 0; first < ROWS; first += COUNT)
        passes<N, SIGN, 1, COUNT>(z + first * pitch_of(N), roots);
}

// --- forward -------------------------------------------------------------------------------------

// Samples of one trace in `windows` time windows that begin at `start` (beyond the last window its
// start is repeated), padded: window k TRACES transforms behind window k - 1 from `to` on; zeros
// where the trace is absent. Bit k of the result: present in window k.
template <int N>
__device__ static unsigned load_trace(const LithoFxFrame &f, long long trace, const int *start,
                                      int windows, float *to, bool valid)
{
    constexpr int W = windows_of(N), LOADS = samples_of(N), STEP = 2 * TRACES * pitch_of(N);
    const int lane = threadIdx.x % 32;
    const float *from = f.in + trace * f.samples;
    const int end = start[W - 1] + f.length;
    unsigned flags = 0; // from bit W on: broken
    for (int t0 = start[0] + lane; valid && t0 < end; t0 += 32 * LOADS) {
        float value[LOADS];
#pragma unroll
        for (int m = 0; m < LOADS; m++)
            value[m] = t0 + 32 * m < end ? from[t0 + 32 * m] : 0;
#pragma unroll
        for (int m = 0; m < LOADS; m++) {
            const unsigned bits = __float_as_uint(value[m]);
            const unsigned any = (bits & 0x7fffffffu) != 0;
            const unsigned broken = (bits & 0x7f800000u) == 0x7f800000u; // infinite or not a number
#pragma unroll
            for (int k = 0; k < W; k++) {
                const int t = t0 + 32 * m - start[k];
                if (k >= windows || t < 0 || t >= f.length)
                    continue;
                flags |= any << k | broken << (W + k);
                to[k * STEP + t] = value[m];
            }
        }
    }
    for (int k = 16; k > 0; k /= 2)
        flags |= __shfl_xor_sync(0xffffffffu, flags, k);
    __syncwarp(); // the zeros below lie over samples that other lanes stored
    const unsigned here = valid && f.live[trace] ? flags & ~(flags >> W) & ((1u << W) - 1) : 0;
#pragma unroll
    for (int k = 0; k < W; k++)
        for (int t = here >> k & 1 ? f.length + lane : lane; t < N; t += 32)
            to[k * STEP + t] = 0;
    return here;
}

// With Z the transform of x(2n) + i x(2n + 1): X(k) = E + w^k O, where E = (Z(k) + conj Z(-k)) / 2
// and O = -i (Z(k) - conj Z(-k)) / 2 are the spectra of the even and odd samples.
template <int N>
__device__ static inline float2 untangle(const float2 *z, const float2 *roots, int k)
{
    const float2 a = z[k % (N / 2)], b = z[(N / 2 - k) % (N / 2)];
    const float2 even = make_float2(0.5f * (a.x + b.x), 0.5f * (a.y - b.y));
    const float2 odd = times(roots[k], make_float2(0.5f * (a.y + b.y), 0.5f * (b.x - a.x)));
    return make_float2(even.x + odd.x, even.y + odd.y);
}

template <int N>
__global__ void __launch_bounds__(THREADS, N <= 512 ? 4 : 1)
    forward_kernel(LithoFxFrame f, int bin_first, int bins, float2 *spectra, unsigned char *present,
                   int *absent)
{
    extern __shared__ float2 z[];
    constexpr int PITCH = pitch_of(N), W = windows_of(N);
    const int first = blockIdx.y * W, windows = min(W, f.windows - first);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float2 *roots = z + TRACES * W * PITCH;
    make_roots<N, -1>(roots);
    int start[W];
#pragma unroll
    for (int k = 0; k < W; k++)
        start[k] = f.start[min(first + k, f.windows - 1)];
    for (int k = warp; k < TRACES; k += WARPS) {
        const int row = blockIdx.x * TRACES + k;
        const long long trace = f.first + row;
        const unsigned here =
            load_trace<N>(f, trace, start, windows, (float *)(z + k * PITCH), row < f.count);
        if (lane >= windows || row >= f.count)
            continue;
        present[(first + lane) * f.traces + trace] = here >> lane & 1;
        if (!(here >> lane & 1))
            atomicAdd(absent + first + lane, 1);
    }
    __syncthreads();
    transform<N, -1>(z, roots);
    const int row = blockIdx.x * TRACES + lane;
    if (row >= f.count)
        return;
    float2 *to = spectra + (long long)first * bins * f.traces + f.first + row;
    for (int k = warp; k < windows * bins; k += WARPS) {
        const int window = W > 1 ? k / bins : 0;
        to[k * f.traces] =
            untangle<N>(z + (window * TRACES + lane) * PITCH, roots, bin_first + k - window * bins);
    }
}

// --- inverse -------------------------------------------------------------------------------------

// Windows along one axis that hold one trace: weights, and where the trace lies in the filtered
// windows (the two axes' places add up).
struct Holders {
    int count;
    float weight[MOST];
    long long place[MOST];
};

__device__ static void find_holders(const LithoFxBack &b, int axis_number, int at, Holders *h)
{
    const LithoFxAxis axis = axis_number == 0 ? b.il : b.xl;
    const int first = litho_fx_first(axis, at);
    h->count = litho_fx_last(axis, at) - first + 1;
    for (int k = 0; k < h->count; k++) {
        const int inside = at - litho_fx_start(axis, first + k);
        const long long window =
            axis_number == 0 ? (long long)(first + k - b.w_il0) * b.w_nxl : first + k - b.w_xl0;
        h->weight[k] = litho_fx_weight(axis, first + k, at);
        h->place[k] =
            window * b.out_bins * b.out_pitch + (axis_number == 0 ? inside * b.xl.length : inside);
    }
}

// Bins `bin`, bin + WARPS, ... below `end` of one trace: the filtered windows that hold it,
// weighted, in ascending order. Bins of later time windows follow those of the first.
__device__ static inline void blend(const LithoFxBack &b, const Holders &v, const Holders &h,
                                    int bin, int end, float2 sum[AT_ONCE])
{
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
        sum[k] = make_float2(0, 0);
    for (int i = 0; i < v.count; i++)
        for (int j = 0; j < h.count; j++) {
            const float weight = v.weight[i] * h.weight[j];
            const float2 *from =
                (const float2 *)b.out + v.place[i] + h.place[j] + (long long)bin * b.out_pitch;
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
                if (bin + k * WARPS < end) {
                    const float2 value = from[(long long)k * WARPS * b.out_pitch];
                    sum[k].x = fmaf(weight, value.x, sum[k].x);
                    sum[k].y = fmaf(weight, value.y, sum[k].y);
                }
        }
}

// The reverse of untangle(), without its halves (the transform back is not normalised): from
// X(0..M) to Z = X(k) + conj X(M - k) + i w^-k (X(k) - conj X(M - k)), in place, k and M - k
// together.
template <int N> __device__ static void tangle(float2 *z, const float2 *roots)
{
    constexpr int M = N / 2, PITCH = pitch_of(N), EACH = M / 2 + 1;
    for (int t = threadIdx.x; t < TRACES * windows_of(N) * EACH; t += THREADS) {
        float2 *x = z + t / EACH * PITCH;
        const int k = t % EACH;
        const float2 a = x[k], b = x[M - k], w = roots[k];
        const float2 sum = make_float2(a.x + b.x, a.y - b.y);
        const float2 turned = times(w, make_float2(a.x - b.x, a.y + b.y));
        x[k] = make_float2(sum.x - turned.y, sum.y + turned.x);
        if (k > 0 && k < M - k) // i w^-(M - k) conj(...) is the conjugate's mirror
            x[M - k] = make_float2(sum.x + turned.y, turned.x - sum.y);
    }
}

// Blends one trace's `windows` time windows from number `first` of the launch on, in shared memory
// TRACES transforms apart, as blend_time_kernel of cuda/spectra.cu does one after the other.
template <int N>
__device__ static void add_trace(const LithoFxBack &b, int first, int windows, long long trace,
                                 const float *from, float *result)
{
    constexpr int W = windows_of(N), SAMPLES = samples_of(N), STEP = 2 * TRACES * pitch_of(N);
    const int il = b.il0 + (int)(trace / b.n_xl), xl = b.xl0 + (int)(trace % b.n_xl);
    const long long traces = (long long)b.in_held.n_il * b.in_held.n_xl;
    const long long held = (long long)(il - b.in_held.il0) * b.in_held.n_xl + xl - b.in_held.xl0;
    int start[W];
    unsigned present = 0;
#pragma unroll
    for (int k = 0; k < W; k++) {
        const int window = first + min(k, windows - 1);
        start[k] = litho_fx_start(b.time, b.window + window);
        present |= (b.present[window * traces + held] != 0) << k;
    }
    const unsigned use = b.fill_dead ? ~0u : present, whole = b.mute ? ~0u : ~present;
    const bool any = (whole & ((1u << windows) - 1)) != 0;
    const int number = b.window + first;
    const int seen = number > 0 ? litho_fx_start(b.time, number - 1) + b.time.length : 0;
    const int lo = max(start[0], b.t0);
    const int hi = min(start[W - 1] + b.time.length, b.t0 + b.samples);
    const float *in = b.in + held * b.in_samples - b.in_t0;
    const float *weights = b.weights + (long long)first * b.time.length;
    float *out = result + result_at(b, il, xl);
    const float scale = 1.0f / b.nfft;
    for (int t0 = lo + threadIdx.x % 32; t0 < hi; t0 += 32 * SAMPLES) {
        float sample[SAMPLES], value[SAMPLES]; // all loads are under way before the first store
#pragma unroll
        for (int m = 0; m < SAMPLES; m++) {
            const int t = t0 + 32 * m;
            const bool fresh = t >= seen; // no earlier launch or turn holds it
            sample[m] = t < hi && (fresh || any) ? in[t] : 0;
            value[m] = t >= hi                               ? 0
                       : !fresh                              ? out[t]
                       : !b.fill_dead || isfinite(sample[m]) ? sample[m]
                                                             : 0;
        }
#pragma unroll
        for (int m = 0; m < SAMPLES; m++) {
            const int t = t0 + 32 * m;
            const float finite = isfinite(sample[m]) ? sample[m] : 0;
#pragma unroll
            for (int k = 0; k < W; k++) {
                const int at = t - start[k];
                if (k >= windows || at < 0 || at >= b.time.length || !(use >> k & 1))
                    continue;
                value[m] =
                    fmaf(weights[k * b.time.length + at],
                         from[k * STEP + at] * scale - (whole >> k & 1 ? finite : 0), value[m]);
            }
            if (t < hi)
                out[t] = value[m];
        }
    }
}

// Filtered bins of the time windows [first, first + windows) of the launch, to Z of each transform.
template <int N>
__device__ static void gather(const LithoFxBack &b, const float2 *blended, const Holders *holders,
                              int first, int windows, long long trace, float2 *z)
{
    constexpr int M = N / 2, PITCH = pitch_of(N);
    const int warp = threadIdx.x / 32, n = windows * b.bins, before = first * b.bins;
    for (int bin = warp; bin < n; bin += WARPS * AT_ONCE) {
        float2 x[AT_ONCE];
        if (!blended)
            blend(b, holders[0], holders[TRACES], before + bin, before + n, x);
#pragma unroll
        for (int m = 0; m < AT_ONCE; m++) {
            const int at = bin + m * WARPS, window = windows_of(N) > 1 ? at / b.bins : 0;
            const int k = b.bin_first + at - window * b.bins;
            if (at >= n)
                continue;
            if (blended)
                x[m] = blended[trace * (M + 1) + k];
            if (k == 0 || k == M)
                x[m].y = 0; // zero frequency and Nyquist: the real part
            z[window * TRACES * PITCH + k] = x[m];
        }
    }
}

template <int N>
__global__ void __launch_bounds__(THREADS, blocks_of(N))
    inverse_kernel(LithoFxBack b, const float2 *blended, float *result)
{
    extern __shared__ float2 z[];
    constexpr int M = N / 2, PITCH = pitch_of(N), W = windows_of(N), ROWS = TRACES * W;
    __shared__ Holders holders[2 * TRACES];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float2 *roots = z + ROWS * PITCH;
    const long long first = b.first + (long long)blockIdx.x * TRACES, trace = first + lane;
    const long long end = b.first + b.count;
    make_roots<N, 1>(roots);
    if (!blended && warp < 2 && trace < end)
        find_holders(b, warp,
                     warp == 0 ? b.il0 + (int)(trace / b.n_xl) : b.xl0 + (int)(trace % b.n_xl),
                     &holders[warp * TRACES + lane]);
    for (int window = 0; window < b.windows; window += W) {
        const int windows = min(W, b.windows - window);
        for (int k = threadIdx.x; b.bins <= M && k < ROWS * PITCH; k += THREADS) {
            const int bin = k % PITCH - b.bin_first;
            if (bin < 0 || bin >= b.bins)
                z[k] = make_float2(0, 0);
        }
        __syncthreads();
        if (trace < end)
            gather<N>(b, blended, holders + lane, window, windows, trace, z + lane * PITCH);
        __syncthreads();
        tangle<N>(z, roots);
        __syncthreads();
        transform<N, 1>(z, roots);
        for (int k = warp; k < TRACES && first + k < end; k += WARPS)
            add_trace<N>(b, window, windows, first + k, (const float *)(z + k * PITCH), result);
        __syncthreads(); // the transforms and the samples so far
    }
}

// --- launchers -----------------------------------------------------------------------------------

int litho_fx_own_length(int nfft)
{
#define SAME(N) nfft == N ||
    return OWN_LENGTHS(SAME) 0;
#undef SAME
}

int litho_fx_can_blend(LithoFxAxis axis)
{
    return (axis.length + axis.stride - 1) / axis.stride + 1 <= MOST;
}

template <int N>
static int forward(const LithoFxFrame *f, int bin_first, int bins, LithoFxComplex *spectra,
                   unsigned char *present, int *absent, cudaStream_t stream)
{
    cudaError_t status = cudaFuncSetAttribute(
        forward_kernel<N>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes(N));
    if (status != cudaSuccess)
        return (int)status;
    forward_kernel<N>
        <<<dim3((f->count + TRACES - 1) / TRACES, (f->windows + windows_of(N) - 1) / windows_of(N)),
           THREADS, shared_bytes(N), stream>>>(*f, bin_first, bins, (float2 *)spectra, present,
                                               absent);
    return (int)cudaGetLastError();
}

template <int N>
static int inverse(const LithoFxBack *b, const LithoFxComplex *blended, float *result,
                   cudaStream_t stream)
{
    cudaError_t status = cudaFuncSetAttribute(
        inverse_kernel<N>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes(N));
    if (status != cudaSuccess)
        return (int)status;
    inverse_kernel<N><<<(b->count + TRACES - 1) / TRACES, THREADS, shared_bytes(N), stream>>>(
        *b, (const float2 *)blended, result);
    return (int)cudaGetLastError();
}

int litho_fx_forward(const LithoFxFrame *f, int bin_first, int bins, LithoFxComplex *spectra,
                     unsigned char *present, int *absent, cudaStream_t stream)
{
    switch (f->nfft) {
#define CASE(N)                                                                                    \
    case N:                                                                                        \
        return forward<N>(f, bin_first, bins, spectra, present, absent, stream);
        OWN_LENGTHS(CASE)
#undef CASE
    default:
        return (int)cudaErrorInvalidValue;
    }
}

int litho_fx_inverse(const LithoFxBack *b, const LithoFxComplex *blended, float *result,
                     cudaStream_t stream)
{
    switch (b->nfft) {
#define CASE(N)                                                                                    \
    case N:                                                                                        \
        return inverse<N>(b, blended, result, stream);
        OWN_LENGTHS(CASE)
#undef CASE
    default:
        return (int)cudaErrorInvalidValue;
    }
}
