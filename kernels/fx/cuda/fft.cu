// SPDX-License-Identifier: GPL-3.0-or-later
//
// The transforms of the time windows in one kernel each way, for lengths that are powers of two: 32
// traces share a block, and what stands on either side (padding and transposition; blending in
// space and in time) happens while the numbers are in shared memory. Device memory sees 4 length /
// hop bytes a sample and 8 bins / hop, once each. Other lengths go through cuFFT (cuda/spectra.cu).
//
// A real trace of N samples is a complex transform of M = N / 2 and an untangling pass, so that its
// spectrum depends on nothing else: neighbours that shared a transform would change its last bits,
// and a part of a cube would not be the part of the whole. Transform: Stockham, radix 4 (and once
// 2), in place: a thread reads its butterflies, all wait, it writes them where the next pass finds
// them.
#include "kernels/fx/cuda/device.cuh"

enum {
    THREADS = 256,
    WARPS = THREADS / 32,
    TRACES = 32, // of a block
    HELD = 16,   // numbers a thread holds in registers during a pass
    MOST = 8,    // windows along an axis that may hold one trace
    AT_ONCE = 4, // bins a thread blends side by side
    SAMPLES = 5, // samples a thread adds to side by side: 160 a warp, a time window and a bit
};

__device__ static inline float2 times(float2 a, float2 b)
{
    return make_float2(fmaf(a.x, b.x, -a.y * b.y), fmaf(a.x, b.y, a.y * b.x));
}

// --- transform -----------------------------------------------------------------------------------

// roots[k] = exp(SIGN 2 pi i k / N), k < N.
template <int N, int SIGN> __device__ static void make_roots(float2 *roots)
{
    for (int k = threadIdx.x; k < N; k += THREADS)
        sincospif(SIGN * 2.0f * k / N, &roots[k].y, &roots[k].x);
}

// One pass of radix R over COUNT transforms of M numbers, DONE being the product of the radices
// before.
template <int N, int SIGN, int R, int DONE, int COUNT>
__device__ static void pass(float2 *z, const float2 *roots)
{
    constexpr int M = N / 2, EACH = M / R, PITCH = M + 1, TURNS = HELD / R;
    constexpr int BUTTERFLIES = COUNT * EACH;
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
        float2 *to = z + b / EACH * PITCH + (j - k) * R + k;
        const float2 *x = v[h];
        if constexpr (R == 2) {
            to[0] = make_float2(x[0].x + x[1].x, x[0].y + x[1].y);
            to[DONE] = make_float2(x[0].x - x[1].x, x[0].y - x[1].y);
        } else {
            const float2 a = make_float2(x[0].x + x[2].x, x[0].y + x[2].y);
            const float2 c = make_float2(x[0].x - x[2].x, x[0].y - x[2].y);
            const float2 d = make_float2(x[1].x + x[3].x, x[1].y + x[3].y);
            const float2 e = make_float2(SIGN * (x[1].x - x[3].x), SIGN * (x[1].y - x[3].y));
            to[0] = make_float2(a.x + d.x, a.y + d.y);
            to[DONE] = make_float2(c.x - e.y, c.y + e.x); // SIGN i times the difference
            to[2 * DONE] = make_float2(a.x - d.x, a.y - d.y);
            to[3 * DONE] = make_float2(c.x + e.y, c.y - e.x);
        }
    }
    __syncthreads();
}

template <int N, int SIGN, int DONE, int COUNT>
__device__ static void passes(float2 *z, const float2 *roots)
{
    if constexpr (DONE * 4 <= N / 2) {
        pass<N, SIGN, 4, DONE, COUNT>(z, roots);
        passes<N, SIGN, DONE * 4, COUNT>(z, roots);
    } else if constexpr (DONE * 2 <= N / 2) {
        pass<N, SIGN, 2, DONE, COUNT>(z, roots);
    }
}

// TRACES transforms of N / 2, as many at a time as the threads can hold. All threads together
// before and after.
template <int N, int SIGN> __device__ static void transform(float2 *z, const float2 *roots)
{
    constexpr int FIT = HELD * THREADS / (N / 2), COUNT = FIT < TRACES ? FIT : TRACES;
    for (int first = 0; first < TRACES; first += COUNT)
        passes<N, SIGN, 1, COUNT>(z + first * (N / 2 + 1), roots);
}

constexpr int shared_bytes(int n)
{
    return 8 * (TRACES * (n / 2 + 1) + n);
}

// --- forward -------------------------------------------------------------------------------------

// Samples of one trace, padded; zeros when it is absent.
template <int N>
__device__ static bool load_trace(const LithoFxFrame &f, long long trace, int window, float *to,
                                  bool valid)
{
    const int lane = threadIdx.x % 32;
    const float *from = f.in + trace * f.samples + f.start[window];
    unsigned any = 0;
    bool broken = false;
    for (int t = lane; valid && t < f.length; t += 32) {
        const float value = from[t];
        const unsigned bits = __float_as_uint(value);
        any |= bits & 0x7fffffffu;
        broken = broken || (bits & 0x7f800000u) == 0x7f800000u; // infinite or not a number
        to[t] = value;
    }
    const bool here = valid && __any_sync(0xffffffffu, any != 0) &&
                      !__any_sync(0xffffffffu, broken) && f.live[trace];
    for (int t = here ? f.length + lane : lane; t < N; t += 32)
        to[t] = 0;
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
    constexpr int PITCH = N / 2 + 1;
    const int window = blockIdx.y, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float2 *roots = z + TRACES * PITCH;
    make_roots<N, -1>(roots);
#pragma unroll
    for (int k = warp; k < TRACES; k += WARPS) {
        const int row = blockIdx.x * TRACES + k;
        const long long trace = f.first + row;
        const bool here = load_trace<N>(f, trace, window, (float *)(z + k * PITCH), row < f.count);
        if (lane == 0 && row < f.count) {
            present[window * f.traces + trace] = here;
            if (!here)
                atomicAdd(absent + window, 1);
        }
    }
    __syncthreads();
    transform<N, -1>(z, roots);
    const int row = blockIdx.x * TRACES + lane;
    float2 *to = spectra + (long long)window * bins * f.traces + f.first + row;
    for (int bin = warp; bin < bins && row < f.count; bin += WARPS)
        to[bin * f.traces] = untangle<N>(z + lane * PITCH, roots, bin_first + bin);
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
            window * b.bins * b.out_pitch + (axis_number == 0 ? inside * b.xl.length : inside);
    }
}

// Bins `bin`, bin + WARPS, ... of one trace: the filtered windows that hold it, weighted, in
// ascending order.
__device__ static inline void blend(const LithoFxBack &b, const Holders &v, const Holders &h,
                                    int bin, float2 sum[AT_ONCE])
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
                if (bin + k * WARPS < b.bins) {
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
    constexpr int M = N / 2, PITCH = M + 1, EACH = M / 2 + 1;
    for (int t = threadIdx.x; t < TRACES * EACH; t += THREADS) {
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

// Blends one trace in shared memory as blend_time_kernel of cuda/spectra.cu does.
__device__ static void add_trace(const LithoFxBack &b, long long trace, const float *from,
                                 float *result)
{
    const int il = b.il0 + (int)(trace / b.n_xl), xl = b.xl0 + (int)(trace % b.n_xl);
    const long long held = (long long)(il - b.in_held.il0) * b.in_held.n_xl + xl - b.in_held.xl0;
    const bool present = b.present[held] != 0, use = present || b.fill_dead;
    const bool whole = !present || b.mute;
    const int start = litho_fx_start(b.time, b.window);
    const int seen = b.window > 0 ? litho_fx_start(b.time, b.window - 1) + b.time.length : 0;
    const int lo = max(start, b.t0), hi = min(start + b.time.length, b.t0 + b.samples);
    const float *in = b.in + held * b.in_samples - b.in_t0;
    float *out = result + result_at(b, il, xl);
    const float scale = 1.0f / b.nfft;
    for (int t0 = lo + threadIdx.x % 32; t0 < hi; t0 += 32 * SAMPLES) {
        float sample[SAMPLES], value[SAMPLES]; // all loads are under way before the first store
#pragma unroll
        for (int k = 0; k < SAMPLES; k++) {
            const int t = t0 + 32 * k;
            const bool fresh = t >= seen; // no earlier time window holds it
            sample[k] = t < hi && (fresh || whole) ? in[t] : 0;
            value[k] = t >= hi                               ? 0
                       : !fresh                              ? out[t]
                       : !b.fill_dead || isfinite(sample[k]) ? sample[k]
                                                             : 0;
        }
#pragma unroll
        for (int k = 0; k < SAMPLES; k++) {
            const int t = t0 + 32 * k;
            const float old = whole && isfinite(sample[k]) ? sample[k] : 0;
            if (t < hi)
                out[t] = use ? fmaf(b.weights[t - start], from[t - start] * scale - old, value[k])
                             : value[k];
        }
    }
}

template <int N>
__global__ void __launch_bounds__(THREADS, N <= 512 ? 4 : 1)
    inverse_kernel(LithoFxBack b, const float2 *blended, float *result)
{
    extern __shared__ float2 z[];
    constexpr int M = N / 2, PITCH = M + 1;
    __shared__ Holders holders[2][TRACES];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float2 *roots = z + TRACES * PITCH;
    const long long first = b.first + (long long)blockIdx.x * TRACES, trace = first + lane;
    const long long end = b.first + b.count;
    make_roots<N, 1>(roots);
    if (!blended && warp < 2 && trace < end)
        find_holders(b, warp,
                     warp == 0 ? b.il0 + (int)(trace / b.n_xl) : b.xl0 + (int)(trace % b.n_xl),
                     &holders[warp][lane]);
    for (int k = threadIdx.x; k < TRACES * PITCH; k += THREADS) {
        const int bin = k % PITCH - b.bin_first;
        if (bin < 0 || bin >= b.bins || first + k / PITCH >= end)
            z[k] = make_float2(0, 0);
    }
    __syncthreads();
    for (int bin = warp; bin < b.bins && trace < end; bin += WARPS * AT_ONCE) {
        float2 x[AT_ONCE];
        if (!blended)
            blend(b, holders[0][lane], holders[1][lane], bin, x);
#pragma unroll
        for (int m = 0; m < AT_ONCE; m++) {
            const int k = b.bin_first + bin + m * WARPS;
            if (bin + m * WARPS >= b.bins)
                continue;
            if (blended)
                x[m] = blended[trace * PITCH + k];
            if (k == 0 || k == M)
                x[m].y = 0; // zero frequency and Nyquist: the real part
            z[lane * PITCH + k] = x[m];
        }
    }
    __syncthreads();
    tangle<N>(z, roots);
    __syncthreads();
    transform<N, 1>(z, roots);
    for (int k = warp; k < TRACES && first + k < end; k += WARPS)
        add_trace(b, first + k, (const float *)(z + k * PITCH), result);
}

// --- launchers -----------------------------------------------------------------------------------

int litho_fx_own_length(int nfft)
{
    return nfft == 64 || nfft == 128 || nfft == 256 || nfft == 512 || nfft == 1024;
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
        <<<dim3((f->count + TRACES - 1) / TRACES, f->windows), THREADS, shared_bytes(N), stream>>>(
            *f, bin_first, bins, (float2 *)spectra, present, absent);
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
    case 64:
        return forward<64>(f, bin_first, bins, spectra, present, absent, stream);
    case 128:
        return forward<128>(f, bin_first, bins, spectra, present, absent, stream);
    case 256:
        return forward<256>(f, bin_first, bins, spectra, present, absent, stream);
    case 512:
        return forward<512>(f, bin_first, bins, spectra, present, absent, stream);
    case 1024:
        return forward<1024>(f, bin_first, bins, spectra, present, absent, stream);
    default:
        return (int)cudaErrorInvalidValue;
    }
}

int litho_fx_inverse(const LithoFxBack *b, const LithoFxComplex *blended, float *result,
                     cudaStream_t stream)
{
    switch (b->nfft) {
    case 64:
        return inverse<64>(b, blended, result, stream);
    case 128:
        return inverse<128>(b, blended, result, stream);
    case 256:
        return inverse<256>(b, blended, result, stream);
    case 512:
        return inverse<512>(b, blended, result, stream);
    case 1024:
        return inverse<1024>(b, blended, result, stream);
    default:
        return (int)cudaErrorInvalidValue;
    }
}
