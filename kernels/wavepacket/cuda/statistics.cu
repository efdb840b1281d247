// SPDX-License-Identifier: GPL-3.0-or-later
//
// Energies, peaks and magnitudes of all coefficients, in one reading of them: 4 bytes a float. A warp
// has a piece of a box at a time and its sums for itself, so that no block waits for its last warp
// and all sums have one order.
#include "kernels/wavepacket/cuda/padding.cuh"

enum { RESIDUAL = 2 }; // WpBoxKind
// AHEAD: reads of a lane that are under way.
enum { BINS = 1 << 15, LOOK_THREADS = 1024, AHEAD = 4 };

// Magnitude of a complex coefficient, also where its square is no float.
DEV float magnitude(float re, float im)
{
    const float m2 = re * re + im * im;
    return m2 > 1e-30f && m2 < 1e30f ? sqrtf(m2) : hypotf(re, im);
}

typedef struct Counter {
    uint32_t *bins; // NULL: nothing is counted
    float scale;
    int prefix;
} Counter;

DEV void count_one(const Counter &to, float m)
{
    const unsigned bits = __float_as_uint(to.scale * m);
    if (bits == 0)
        return;
    if (to.prefix < 0)
        atomicAdd(&to.bins[bits >> 16], 1u);
    else if ((int)(bits >> 16) == to.prefix)
        atomicAdd(&to.bins[(bits & 0xffff) >> 1], 1u);
}

// Two complex or four real coefficients.
DEV void count_all(const Counter &to, float4 v, int complex)
{
    if (!to.bins)
        return;
    if (complex) {
        count_one(to, magnitude(v.x, v.y));
        count_one(to, magnitude(v.z, v.w));
    } else {
        count_one(to, fabsf(v.x));
        count_one(to, fabsf(v.y));
        count_one(to, fabsf(v.z));
        count_one(to, fabsf(v.w));
    }
}

typedef struct Sums {
    double energy, peak; // of |c|^2
} Sums;

DEV void sum_pair(Sums *s, float a, float b, int complex)
{
    const double a2 = (double)a * a, b2 = (double)b * b, both = a2 + b2;
    const double larger = complex ? both : a2 > b2 ? a2 : b2;
    s->energy += both;
    s->peak = larger > s->peak ? larger : s->peak;
}

// The box that piece `i` of all boxes' pieces is of.
DEV int box_of_piece(const WpDevBox *boxes, int n, int64_t i)
{
    int lo = 0, hi = n;
    while (hi - lo > 1) {
        const int middle = (lo + hi) / 2;
        if (boxes[middle].first_piece <= i)
            lo = middle;
        else
            hi = middle;
    }
    return lo;
}

// A box begins at a multiple of 16 floats and is followed by zeros up to one, so whole float4 do.
DEV Sums look_at(const float4 *__restrict__ from, int n, int complex, const Counter &to)
{
    Sums s = {0, 0};
    for (int i = threadIdx.x % WP_WARP; i < n; i += AHEAD * WP_WARP) {
        float4 v[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; a++)
            v[a] = i + a * WP_WARP < n ? from[i + a * WP_WARP] : make_float4(0, 0, 0, 0);
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            sum_pair(&s, v[a].x, v[a].y, complex);
            sum_pair(&s, v[a].z, v[a].w, complex);
            count_all(to, v[a], complex);
        }
    }
    for (int d = WP_WARP / 2; d > 0; d /= 2) {
        s.energy += __shfl_down_sync(~0u, s.energy, d);
        s.peak = fmax(s.peak, __shfl_down_sync(~0u, s.peak, d));
    }
    return s;
}

// Magnitudes gather in few bins, so counters of the device would be fought over: a block counts in
// shared memory (128 KB, one block a multiprocessor) and adds its bins up at the end. `bins` serves
// as the counters where there is not that much of it (own_bins 0). pieces NULL: no sums.
static __global__ void __launch_bounds__(LOOK_THREADS)
    look(const WpDevBox *boxes, int n_boxes, int64_t n_pieces, const float *scale, int prefix,
         const float *c, double *pieces, uint32_t *bins, int own_bins)
{
    extern __shared__ uint32_t shared_bins[];
    for (int i = threadIdx.x; i < BINS && own_bins; i += LOOK_THREADS)
        shared_bins[i] = 0;
    __syncthreads();
    const int64_t warps = (int64_t)gridDim.x * (LOOK_THREADS / WP_WARP);
    for (int64_t i = threadIdx.x / WP_WARP * (int64_t)gridDim.x + blockIdx.x; i < n_pieces;
         i += warps) {
        const int b = box_of_piece(boxes, n_boxes, i);
        const WpDevBox &box = boxes[b];
        const int64_t first = (i - box.first_piece) * WP_PIECE;
        const int64_t floats = min(box.floats - first, (int64_t)WP_PIECE);
        const float s = bins ? scale[b] : 0;
        const Counter to = {s > 0 ? own_bins ? shared_bins : bins : NULL, s, prefix};
        const Sums sums = look_at((const float4 *)(c + box.at_float + first), (int)(floats + 3) / 4,
                                  box.kind != RESIDUAL, to);
        if (pieces && threadIdx.x % WP_WARP == 0) {
            pieces[2 * i] = sums.energy;
            pieces[2 * i + 1] = sums.peak;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < BINS && own_bins; i += LOOK_THREADS)
        if (shared_bins[i])
            atomicAdd(&bins[i], shared_bins[i]);
}

// One warp a box, always in the same order.
static __global__ void sum_pieces(const WpDevBox *boxes, const double *pieces, double *per_box)
{
    const WpDevBox &box = boxes[blockIdx.x];
    const double *of_box = pieces + 2 * box.first_piece;
    const int n = wp_pieces_of(box.floats);
    double energy = 0, peak = 0;
    for (int k = threadIdx.x; k < n; k += WP_WARP) {
        energy += of_box[2 * k];
        peak = fmax(peak, of_box[2 * k + 1]);
    }
    for (int d = WP_WARP / 2; d > 0; d /= 2) {
        energy += __shfl_down_sync(~0u, energy, d);
        peak = fmax(peak, __shfl_down_sync(~0u, peak, d));
    }
    if (threadIdx.x == 0) {
        per_box[2 * blockIdx.x] = energy;
        per_box[2 * blockIdx.x + 1] = peak;
    }
}

// Blocks of a launch, of which a multiprocessor holds one.
static int blocks_of_card(void)
{
    int device = 0, n = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
        return 128;
    return n;
}

int wp_cuda_look(const WpDevBox *boxes, int n_boxes, int64_t n_pieces, const float *scale,
                 int prefix, const float *c, uint32_t *bins, double *pieces, double *per_box,
                 cudaStream_t stream)
{
    const int bytes = bins ? BINS * (int)sizeof(uint32_t) : 0;
    const int own = bins && cudaFuncSetAttribute(look, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                 bytes) == cudaSuccess;
    cudaGetLastError(); // that there is not so much is no failure
    look<<<blocks_of_card(), LOOK_THREADS, own ? bytes : 0, stream>>>(
        boxes, n_boxes, n_pieces, scale, prefix, c, pieces, bins, own);
    if (pieces)
        sum_pieces<<<n_boxes, WP_WARP, 0, stream>>>(boxes, pieces, per_box);
    return (int)cudaGetLastError();
}
