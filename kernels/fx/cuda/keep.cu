// SPDX-License-Identifier: GPL-3.0-or-later
//
// Signal that leaves at faults, flips and ends of events is put back: rule 6 of geometry.h. One
// block of threads a piece of a window and bin finds the part of the removed that is beyond the
// noise; one a piece and group of bins compares it between neighbouring traces. Where there is
// none, as in most windows, the second leaves after it has read LITHO_FX_KEEP_BINS numbers.
#include "kernels/fx/cuda/device.cuh"

enum { THREADS = 128, WARPS = THREADS / 32 };
enum { MOST = LITHO_FX_KEEP_PIECE * LITHO_FX_KEEP_PIECE }; // traces of a piece

struct Piece {
    int il0, xl0, n_il, n_xl, n; // traces, within the window
    int by_il, by_xl;            // litho_fx_keep_around()
};

__device__ static Piece piece_of(const LithoFxSpot &s, int number)
{
    const int all_il = litho_fx_keep_pieces(s.n_il), all_xl = litho_fx_keep_pieces(s.n_xl);
    const int i = number / all_xl, j = number % all_xl;
    Piece p;
    p.il0 = s.n_il * i / all_il;
    p.xl0 = s.n_xl * j / all_xl;
    p.n_il = s.n_il * (i + 1) / all_il - p.il0;
    p.n_xl = s.n_xl * (j + 1) / all_xl - p.xl0;
    p.n = p.n_il * p.n_xl;
    p.by_il = litho_fx_keep_around(p.n_xl);
    p.by_xl = litho_fx_keep_around(p.n_il);
    return p;
}

// A trace of the piece: where it lies in `out` and `over`, and in the spectra.
struct Trace {
    int at;
    long long in;
};

// One spot's removed part and its share beyond the noise.
struct Removed {
    const LithoFxGroup *g;
    LithoFxSpot s;
    Piece p;
    float2 *out; // of bin 0
    float *over; // of bin 0: w of rule 6

    __device__ Removed(const LithoFxGroup &group, int spot, int piece)
    {
        g = &group;
        s = group.spots[spot];
        p = piece_of(s, piece);
        out = (float2 *)group.out + (long long)s.out * group.out_bins * group.out_pitch;
        over = group.over + (long long)spot * group.bins * group.out_pitch;
    }
    __device__ Trace trace(int il, int xl) const
    {
        Trace t;
        t.at = (p.il0 + il) * s.n_xl + p.xl0 + xl;
        t.in = (long long)(s.il0 + p.il0 + il - g->held.il0) * g->held.n_xl + s.xl0 + p.xl0 + xl -
               g->held.xl0;
        return t;
    }
    __device__ bool live(Trace t) const
    {
        return s.tile < 0 || g->present[t.in] != 0;
    }
    // Input less prediction of a live trace.
    __device__ float2 operator()(int bin, Trace t) const
    {
        const float2 v = out[(long long)bin * g->out_pitch + t.at];
        if (!g->mute)
            return make_float2(-v.x, -v.y);
        const float2 in = ((const float2 *)g->spectra)[bin * g->plane + t.in];
        return make_float2(in.x - v.x, in.y - v.y);
    }
    __device__ float2 excess(int bin, Trace t, float scale) const
    {
        const float w = scale * over[(long long)bin * g->out_pitch + t.at];
        if (w == 0)
            return make_float2(0, 0);
        const float2 r = (*this)(bin, t);
        return make_float2(w * r.x, w * r.y);
    }
};

// The power of two that brings `largest` to [1, 2).
__device__ static float scale_of(float largest)
{
    return __int_as_float((254 << 23) - (__float_as_int(largest) & 0x7f800000));
}

// The sum over all threads; `parts` belongs to this call and the one after the next.
__device__ static float2 sum_all(float2 v, float2 *parts)
{
    for (int i = 16; i > 0; i /= 2) {
        v.x += __shfl_xor_sync(0xffffffffu, v.x, i);
        v.y += __shfl_xor_sync(0xffffffffu, v.y, i);
    }
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = parts[0];
#pragma unroll
    for (int w = 1; w < WARPS; w++) {
        v.x += parts[w].x;
        v.y += parts[w].y;
    }
    return v;
}

// Live traces around trace (il, xl) of the piece.
__device__ static float around(const Removed &r, int il, int xl)
{
    const Piece &p = r.p;
    const int y0 = max(il - p.by_il, 0), y1 = min(il + p.by_il + 1, p.n_il);
    const int x0 = max(xl - p.by_xl, 0), x1 = min(xl + p.by_xl + 1, p.n_xl);
    if (r.s.tile < 0)
        return (y1 - y0) * (x1 - x0);
    int n = 0;
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++)
            n += r.live(r.trace(y, x));
    return max(n, 1);
}

// The level of the noise in `mean`, which holds the means around; of traces that are not live < 0.
template <int EACH> __device__ static float level(const float mean[EACH], float2 parts[2][WARPS])
{
    float n = 0, twice_over = 0;
    for (int pass = 0; pass <= LITHO_FX_KEEP_PASSES; pass++) {
        float2 sum = make_float2(0, 0);
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            const float weight =
                mean[k] < 0 ? 0 : fminf(fmaxf(3.5f - twice_over * mean[k], 0.0f), 1.0f);
            sum.x += weight * mean[k];
            sum.y += weight;
        }
        sum = sum_all(sum, parts[pass % 2]);
        n = sum.y > 0 ? sum.x / sum.y : 0;
        twice_over = n > 0 ? 2 / n : 0;
    }
    return n;
}

// EACH: traces of a thread.
template <int EACH> __global__ void __launch_bounds__(THREADS) excess_kernel(LithoFxGroup g)
{
    extern __shared__ float shared[];
    __shared__ float2 parts[2][WARPS];
    __shared__ float peaks[WARPS];
    const Removed r(g, blockIdx.x, blockIdx.z);
    const Piece p = r.p;
    const int bin = blockIdx.y;
    float *map = shared, *row = map + p.n, *over = r.over + (long long)bin * g.out_pitch;
    float *largest = g.largest + system_of(g, blockIdx.x, bin) * gridDim.z + blockIdx.z;
    float2 value[EACH];
    float mean[EACH], sure[EACH], most = 0;
    short place[EACH][2];
#pragma unroll
    for (int m = 0; m < EACH; m++) {
        const int k = threadIdx.x + m * THREADS, il = k / p.n_xl, xl = k - il * p.n_xl;
        place[m][0] = il;
        place[m][1] = xl;
        value[m] = make_float2(0, 0);
        mean[m] = -1;
        sure[m] = 0;
        if (k < p.n && r.live(r.trace(il, xl))) {
            value[m] = r(bin, r.trace(il, xl));
            mean[m] = 0;
        }
        most = fmaxf(most, fmaxf(fabsf(value[m].x), fabsf(value[m].y)));
    }
    most = block_max(most, peaks);
    if (!(most > 1e-30f)) {
        if (threadIdx.x == 0)
            *largest = 0;
        return;
    }
    const float scale = scale_of(most);
#pragma unroll
    for (int m = 0; m < EACH; m++) {
        const float re = scale * value[m].x, im = scale * value[m].y;
        if (threadIdx.x + m * THREADS < p.n)
            map[threadIdx.x + m * THREADS] = re * re + im * im;
    }
    __syncthreads();
#pragma unroll
    for (int m = 0; m < EACH; m++) {
        const int k = threadIdx.x + m * THREADS, xl = place[m][1];
        float sum = 0;
        if (k >= p.n)
            break;
        for (int x = max(-p.by_xl, -xl); x <= min(p.by_xl, p.n_xl - 1 - xl); x++)
            sum += map[k + x];
        row[k] = sum;
    }
    __syncthreads();
#pragma unroll
    for (int m = 0; m < EACH; m++) {
        const int k = threadIdx.x + m * THREADS, il = place[m][0];
        float sum = 0;
        if (mean[m] < 0)
            continue;
        for (int y = max(-p.by_il, -il); y <= min(p.by_il, p.n_il - 1 - il); y++)
            sum += row[k + y * p.n_xl];
        const float traces = around(r, il, place[m][1]);
        mean[m] = sum / traces;
        sure[m] = litho_fx_keep_sure(traces, p.by_il, p.by_xl);
    }
    const float noise = level<EACH>(mean, parts);
    float peak = 0;
#pragma unroll
    for (int m = 0; m < EACH; m++)
        peak = fmaxf(peak, sure[m] * (mean[m] - noise));
    const float rise = litho_fx_keep_rise(block_max(peak, peaks), noise);
    if (threadIdx.x == 0)
        *largest = rise > 0 ? most : 0;
    if (!(rise > 0))
        return;
#pragma unroll
    for (int m = 0; m < EACH; m++)
        if (threadIdx.x + m * THREADS < p.n)
            over[r.trace(place[m][0], place[m][1]).at] = mean[m] > noise ? rise * (1 - noise / mean[m]) : 0;
}

// Sums of a pair over bins [bin, bin + bins): of |sum conj(a) b|^2 and of independent noise.
__device__ static float2 multiply(const Removed &r, const float *largest, int pieces, float scale,
                                  Trace a, Trace b, int bin, int bins)
{
    float re = 0, im = 0, square = 0;
    for (int k = 0; k < bins; k++)
        if (largest[k * pieces] > 0) {
            const float2 x = r.excess(bin + k, a, scale);
            if (x.x == 0 && x.y == 0)
                continue;
            const float2 y = r.excess(bin + k, b, scale);
            re += x.x * y.x + x.y * y.y;
            im += x.x * y.y - x.y * y.x;
            square += (x.x * x.x + x.y * x.y) * (y.x * y.x + y.y * y.y);
        }
    return make_float2(re * re + im * im, r.g->padding * square);
}

__global__ void __launch_bounds__(THREADS) keep_kernel(LithoFxGroup g, int a_window)
{
    extern __shared__ float shared[];
    const int groups = (a_window + LITHO_FX_KEEP_BINS - 1) / LITHO_FX_KEEP_BINS;
    const int first = blockIdx.y % groups * LITHO_FX_KEEP_BINS;
    const int bins = min((int)LITHO_FX_KEEP_BINS, a_window - first);
    const int bin = blockIdx.y / groups * a_window + first, pieces = gridDim.z;
    const float *largest = g.largest + system_of(g, blockIdx.x, bin) * pieces + blockIdx.z;
    float most = 0;
    for (int b = 0; b < bins; b++)
        most = fmaxf(most, largest[b * pieces]);
    if (!(most > 0))
        return;
    const Removed r(g, blockIdx.x, blockIdx.z);
    const Piece p = r.p;
    const float scale = scale_of(most);
    float *whole = shared, *kept = whole + p.n, *map = kept + p.n;
    for (int k = threadIdx.x; k < p.n; k += THREADS) {
        const Trace t = r.trace(k / p.n_xl, k % p.n_xl);
        float sum = 0;
        for (int b = 0; b < bins; b++)
            if (largest[b * pieces] > 0) {
                const float2 x = r.excess(bin + b, t, scale);
                sum += x.x * x.x + x.y * x.y;
            }
        whole[k] = sum;
        kept[k] = 0;
    }
    __syncthreads();
    for (int d = 0; d < LITHO_FX_DIRECTIONS; d++) {
        const int d_il = litho_fx_direction(d, 0), d_xl = litho_fx_direction(d, 1);
        int any = 0;
        for (int k = threadIdx.x; k < p.n; k += THREADS) {
            const int il = k / p.n_xl, xl = k % p.n_xl, other = k + d_il * p.n_xl + d_xl;
            const bool inside = il + d_il < p.n_il && xl + d_xl >= 0 && xl + d_xl < p.n_xl;
            float2 alike = make_float2(0, 0);
            if (inside && whole[k] > 0 && whole[other] > 0)
                alike = multiply(r, largest, pieces, scale, r.trace(il, xl),
                                 r.trace(il + d_il, xl + d_xl), bin, bins);
            map[k] = alike.x;
            map[p.n + k] = inside ? litho_fx_keep_whole(whole[k], whole[other]) : 0;
            map[2 * p.n + k] = alike.y;
            any |= alike.x > 0;
        }
        any = __syncthreads_or(any);
        for (int k = threadIdx.x; k < p.n && any; k += THREADS) {
            const int il = k / p.n_xl, xl = k % p.n_xl;
            float sums[3] = {0, 0, 0};
            if (!(whole[k] > 0))
                continue;
            for (int y = max(il - p.by_il, 0); y < min(il + p.by_il + 1, p.n_il); y++)
                for (int x = max(xl - p.by_xl, 0); x < min(xl + p.by_xl + 1, p.n_xl); x++)
#pragma unroll
                    for (int m = 0; m < 3; m++)
                        sums[m] += map[m * p.n + y * p.n_xl + x];
            kept[k] = fmaxf(kept[k], litho_fx_kept(litho_fx_alike(sums[0], sums[1], g.alike.of[d]), sums[1],
                                                   sums[2]));
        }
        __syncthreads();
    }
    for (int k = threadIdx.x; k < p.n; k += THREADS) {
        const Trace t = r.trace(k / p.n_xl, k % p.n_xl);
        if (!(kept[k] > 0) || !g.recorded[t.in])
            continue;
        for (int b = 0; b < bins; b++)
            if (largest[b * pieces] > 0) {
                const float2 x = r.excess(bin + b, t, kept[k]);
                float2 *out = r.out + (long long)(bin + b) * g.out_pitch + t.at;
                out->x += x.x;
                out->y += x.y;
            }
    }
}

int litho_fx_keep(const LithoFxGroup *g, int a_window, cudaStream_t stream)
{
    const int n_il = g->tile_il - 4 * g->half_il, n_xl = g->tile_xl - 4 * g->half_xl;
    const int pieces_il = litho_fx_keep_pieces(n_il), pieces_xl = litho_fx_keep_pieces(n_xl);
    const int pieces = pieces_il * pieces_xl;
    const int n = (n_il + pieces_il - 1) / pieces_il * ((n_xl + pieces_xl - 1) / pieces_xl);
    const int groups = (a_window + LITHO_FX_KEEP_BINS - 1) / LITHO_FX_KEEP_BINS;
    const dim3 blocks(g->n_spots, g->bins, pieces);
    if (n <= 4 * THREADS)
        excess_kernel<4><<<blocks, THREADS, 8 * n, stream>>>(*g);
    else
        excess_kernel<MOST / THREADS><<<blocks, THREADS, 8 * n, stream>>>(*g);
    const cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess)
        return (int)status;
    keep_kernel<<<dim3(g->n_spots, g->bins / a_window * groups, pieces), THREADS, 20 * n,
                  stream>>>(*g, a_window);
    return (int)cudaGetLastError();
}
