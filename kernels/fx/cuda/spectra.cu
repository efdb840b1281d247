// SPDX-License-Identifier: GPL-3.0-or-later
//
// Around the transforms: samples into padded time windows, spectra into planes of one frequency
// each (what the filter reads), filtered windows back into spectra of traces, and the blending in
// time. All of it moves bytes; pieces are small enough for cuFFT's side to stay in the L2 cache, so
// that device memory sees 4 (length / hop) bytes a sample read and 8 bins / hop written, and the
// reverse.
#include "kernels/fx/cuda/device.cuh"

enum { WARPS = 8, EDGE = 32, BLEND_THREADS = 256 };

// --- there --------------------------------------------------------------------------------------

// One warp a trace and time window.
__global__ void pad_kernel(LithoFxFrame f, float *padded, unsigned char *present, int *absent)
{
    const int lane = threadIdx.x, row = blockIdx.x * WARPS + threadIdx.y, window = blockIdx.y;
    if (row >= f.count)
        return;
    const long long trace = f.first + row;
    const float *from = f.in + trace * f.samples + f.start[window];
    float *to = padded + ((long long)window * f.count + row) * f.nfft;
    unsigned any = 0;
    bool broken = false;
    for (int t = lane; t < f.length; t += 32) {
        const float value = from[t];
        const unsigned bits = __float_as_uint(value);
        any |= bits & 0x7fffffffu;
        broken = broken || (bits & 0x7f800000u) == 0x7f800000u; // infinite or not a number
        to[t] = value;
    }
    const bool here =
        __any_sync(0xffffffffu, any != 0) && !__any_sync(0xffffffffu, broken) && f.live[trace];
    for (int t = here ? f.length + lane : lane; t < f.nfft; t += 32)
        to[t] = 0;
    if (lane == 0) {
        present[window * f.traces + trace] = here;
        if (!here)
            atomicAdd(absent + window, 1);
    }
}

// 32 traces x 32 bins through shared memory.
__global__ void transpose_kernel(LithoFxFrame f, const float2 *from, int bin_first, int bins,
                                 float2 *spectra)
{
    __shared__ float2 tile[EDGE][EDGE + 1];
    const int trace0 = blockIdx.x * EDGE, bin0 = blockIdx.y * EDGE, window = blockIdx.z;
    const int half = f.nfft / 2 + 1;
    for (int y = threadIdx.y; y < EDGE; y += WARPS) {
        const int trace = trace0 + y, bin = bin0 + threadIdx.x;
        if (trace < f.count && bin < bins)
            tile[y][threadIdx.x] =
                from[((long long)window * f.count + trace) * half + bin_first + bin];
    }
    __syncthreads();
    for (int y = threadIdx.y; y < EDGE; y += WARPS) {
        const int trace = trace0 + threadIdx.x, bin = bin0 + y;
        if (trace < f.count && bin < bins)
            spectra[((long long)window * bins + bin) * f.traces + f.first + trace] =
                tile[threadIdx.x][y];
    }
}

// --- and back -----------------------------------------------------------------------------------

// The spectrum of one trace at BINS neighbouring bins: the filtered windows that hold it, weighted,
// in ascending order.
template <int BINS>
__device__ static void blend_bins(const LithoFxBack &b, int il, int xl, int bin, float2 sum[BINS])
{
#pragma unroll
    for (int k = 0; k < BINS; k++)
        sum[k] = make_float2(0, 0);
    for (int i = litho_fx_first(b.il, il); i <= litho_fx_last(b.il, il); i++)
        for (int j = litho_fx_first(b.xl, xl); j <= litho_fx_last(b.xl, xl); j++) {
            const float weight = litho_fx_weight(b.il, i, il) * litho_fx_weight(b.xl, j, xl);
            const long long window = (long long)(i - b.w_il0) * b.w_nxl + j - b.w_xl0;
            const float2 *from = (const float2 *)b.out + (window * b.out_bins + bin) * b.out_pitch +
                                 (il - litho_fx_start(b.il, i)) * b.xl.length + xl -
                                 litho_fx_start(b.xl, j);
#pragma unroll
            for (int k = 0; k < BINS; k++)
                if (bin + k * WARPS < b.bins) {
                    const float2 v = from[(long long)k * WARPS * b.out_pitch];
                    sum[k].x = fmaf(weight, v.x, sum[k].x);
                    sum[k].y = fmaf(weight, v.y, sum[k].y);
                }
        }
}

__global__ void blend_bins_kernel(LithoFxBack b, float2 *blended)
{
    enum { BINS = EDGE / WARPS };
    __shared__ float2 tile[EDGE][EDGE + 1];
    const int row0 = blockIdx.x * EDGE, bin0 = blockIdx.y * EDGE;
    const long long trace = b.first + row0 + threadIdx.x;
    if (row0 + threadIdx.x < b.count) {
        float2 sum[BINS];
        blend_bins<BINS>(b, b.il0 + (int)(trace / b.n_xl), b.xl0 + (int)(trace % b.n_xl),
                         bin0 + threadIdx.y, sum);
#pragma unroll
        for (int k = 0; k < BINS; k++)
            tile[threadIdx.y + k * WARPS][threadIdx.x] = sum[k];
    }
    __syncthreads();
    for (int y = threadIdx.y; y < EDGE; y += WARPS) {
        const int bin = b.bin_first + bin0 + threadIdx.x;
        if (row0 + y >= b.count || bin0 + (int)threadIdx.x >= b.bins)
            continue;
        float2 value = tile[threadIdx.x][y];
        if (bin == 0 || 2 * bin == b.nfft)
            value.y = 0;
        blended[(b.first + row0 + y) * (b.nfft / 2 + 1) + bin] = value;
    }
}

// One warp a trace, one sample a lane. The result starts as the input at the first time window that
// holds a sample; absent traces stay, or give way to their prediction (fill_dead).
__global__ void blend_time_kernel(LithoFxBack b, const float *samples, float *result)
{
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= b.count)
        return;
    const long long trace = b.first + row;
    const int il = b.il0 + (int)(trace / b.n_xl), xl = b.xl0 + (int)(trace % b.n_xl);
    const long long held = (long long)(il - b.in_held.il0) * b.in_held.n_xl + xl - b.in_held.xl0;
    const bool present = b.present[held] != 0, use = present || b.fill_dead;
    const bool whole = !present || b.mute;
    const int start = litho_fx_start(b.time, b.window);
    const int lo = max(start, b.t0), hi = min(start + b.time.length, b.t0 + b.samples);
    const float *in = b.in + held * b.in_samples - b.in_t0;
    const float *share = samples + (long long)row * b.nfft - start;
    float *out = result + result_at(b, il, xl);
    const int seen = b.window > 0 ? litho_fx_start(b.time, b.window - 1) + b.time.length : 0;
    const float scale = 1.0f / b.nfft;
    for (int t = lo + threadIdx.x; t < hi; t += 32) {
        const bool fresh = t >= seen; // no earlier time window holds it
        const float from = fresh || whole ? in[t] : 0;
        float value = fresh ? (!b.fill_dead || isfinite(from) ? from : 0) : out[t];
        if (use) {
            const float old = whole && isfinite(from) ? from : 0;
            value = fmaf(b.weights[t - start], share[t] * scale - old, value);
        }
        out[t] = value;
    }
}

__global__ void weigh_kernel(LithoFxBack b, const unsigned char *live, const float *result,
                             double *sums, unsigned char *filled)
{
    __shared__ double parts[3][WARPS];
    double block[3] = {0, 0, 0};
    for (long long row = (long long)blockIdx.x * WARPS + threadIdx.y;
         row < (long long)b.n_il * b.n_xl; row += (long long)gridDim.x * WARPS) {
        const int il = b.il0 + (int)(row / b.n_xl), xl = b.xl0 + (int)(row % b.n_xl);
        const long long held =
            (long long)(il - b.in_held.il0) * b.in_held.n_xl + xl - b.in_held.xl0;
        const float *in = b.in + held * b.in_samples + b.t0 - b.in_t0;
        const float *out = result + result_at(b, il, xl) + b.t0;
        double s[3] = {0, 0, 0};
        bool any = false;
        for (int t = threadIdx.x; t < b.samples; t += 32) {
            const double x = in[t], y = out[t], gone = x - y;
            s[0] += x * x;
            s[1] += gone * gone;
            s[2] += gone * y;
            any = any || y != 0;
        }
        for (int k = 0; k < 3; k++)
            for (int i = 16; i > 0; i /= 2)
                s[k] += __shfl_xor_sync(0xffffffffu, s[k], i);
        any = __any_sync(0xffffffffu, any);
        if (threadIdx.x == 0)
            filled[row] = any;
        if (live[held] && isfinite(s[0] + s[1] + s[2]))
            for (int k = 0; k < 3; k++)
                block[k] += s[k];
    }
    if (threadIdx.x == 0)
        for (int k = 0; k < 3; k++)
            parts[k][threadIdx.y] = block[k];
    __syncthreads();
    if (threadIdx.y == 0 && threadIdx.x < 3) {
        double sum = 0;
        for (int w = 0; w < WARPS; w++)
            sum += parts[threadIdx.x][w];
        sums[3 * blockIdx.x + threadIdx.x] = sum;
    }
}

// A warp a trace.
__global__ void restore_kernel(LithoFxBack b, const unsigned char *recorded, float *result)
{
    const long long trace = (long long)blockIdx.x * WARPS + threadIdx.y;
    if (trace >= (long long)b.n_il * b.n_xl)
        return;
    const int il = b.il0 + (int)(trace / b.n_xl), xl = b.xl0 + (int)(trace % b.n_xl);
    const long long held = (long long)(il - b.in_held.il0) * b.in_held.n_xl + xl - b.in_held.xl0;
    const float *in = b.in + held * b.in_samples - b.in_t0;
    float *out = result + result_at(b, il, xl);
    if (!recorded[held])
        for (int t = b.t0 + threadIdx.x; t < b.t0 + b.samples; t += 32)
            out[t] = in[t];
}

// --- launchers ----------------------------------------------------------------------------------

static unsigned blocks_for(long long n, int each)
{
    return (unsigned)((n + each - 1) / each);
}

int litho_fx_pad(const LithoFxFrame *f, float *padded, unsigned char *present, int *absent,
                 cudaStream_t stream)
{
    pad_kernel<<<dim3(blocks_for(f->count, WARPS), f->windows), dim3(32, WARPS), 0, stream>>>(
        *f, padded, present, absent);
    return (int)cudaGetLastError();
}

int litho_fx_transpose(const LithoFxFrame *f, const LithoFxComplex *transformed, int bin_first,
                       int bins, LithoFxComplex *spectra, cudaStream_t stream)
{
    transpose_kernel<<<dim3(blocks_for(f->count, EDGE), blocks_for(bins, EDGE), f->windows),
                       dim3(EDGE, WARPS), 0, stream>>>(*f, (const float2 *)transformed, bin_first,
                                                       bins, (float2 *)spectra);
    return (int)cudaGetLastError();
}

int litho_fx_blend_bins(const LithoFxBack *b, LithoFxComplex *blended, cudaStream_t stream)
{
    const long long half = b->nfft / 2 + 1;
    if (b->clear) {
        cudaError_t status = cudaMemsetAsync(blended + b->first * half, 0,
                                             b->count * half * sizeof *blended, stream);
        if (status != cudaSuccess)
            return (int)status;
    }
    if (b->bins == 0)
        return (int)cudaSuccess;
    blend_bins_kernel<<<dim3(blocks_for(b->count, EDGE), blocks_for(b->bins, EDGE)),
                        dim3(EDGE, WARPS), 0, stream>>>(*b, (float2 *)blended);
    return (int)cudaGetLastError();
}

int litho_fx_blend_time(const LithoFxBack *b, const float *samples, float *result,
                        cudaStream_t stream)
{
    blend_time_kernel<<<blocks_for(b->count, WARPS), dim3(32, WARPS), 0, stream>>>(*b, samples,
                                                                                   result);
    return (int)cudaGetLastError();
}

int litho_fx_weigh(const LithoFxBack *b, const unsigned char *live, const float *result, int blocks,
                   double *sums, unsigned char *filled, cudaStream_t stream)
{
    weigh_kernel<<<blocks, dim3(32, WARPS), 0, stream>>>(*b, live, result, sums, filled);
    return (int)cudaGetLastError();
}

int litho_fx_restore(const LithoFxBack *b, const unsigned char *recorded, float *result,
                     cudaStream_t stream)
{
    restore_kernel<<<blocks_for((long long)b->n_il * b->n_xl, WARPS), dim3(32, WARPS), 0,
                     stream>>>(*b, recorded, result);
    return (int)cudaGetLastError();
}
