// SPDX-License-Identifier: GPL-3.0-or-later
//
// Several degrees of Clenshaw's recursion in one pass over a plane, nothing but P, b's and slowness
// read from memory. Rows stream through the block like through a pipeline: degree l of the pass works
// 5 rows behind degree l-1, every thread owns four columns of one degree, and one barrier a row
// separates writers from readers.
//
//   arriving row r of b_(n+1)  ->  adds its share to the eight rows r-4 .. r+3 of b_n that are under
//                                  way in registers, closes row r-4, opens row r+4 with a_n P - b_(n+2)
//
// The y arms of the stencil therefore never touch memory; the x arms are three 16-byte shared loads
// for four points. Per point and degree: 38 fp32 instructions, 52 bytes of shared memory, and
// 24 / degrees .. 40 / degrees bytes of device memory.
//
// Time in the block is counted in steps t = 0, 1, ...; degree l takes row t - 4 - 5 l in step t. Its
// finished rows go to a link of four slots (t mod 4); the next degree reads what was written one step
// ago, the one after that what was written two steps ago. All slots are known at compile time because
// the loop is unrolled by eight, the number of rows under way.
#include <cuda_pipeline.h>

#include "kernels/migrate/migrate_kernels.h"

namespace {

enum {
    R = LITHO_STENCIL_RADIUS,
    LAG = R + 1,       // rows between neighbouring degrees
    AHEAD = 2,         // steps that loads are ahead of their use
    SIDE = 4,          // zeros on either side of a row with x neighbours
    SLOTS = 4,         // rows of a link
    MOST = 8,          // degrees a pass
    MAX_COLUMNS = 256, // of a block: 8 degrees of 64 threads of 128 registers fill a multiprocessor
};

// Shared memory for blocks of up to W columns: a ring of rows that all degrees read at their own
// pace (P and, four rows earlier, slowness squared), and the links: b_(top+2), b_(top+1), then one a
// degree.
template <int W> struct Shape {
    enum {
        HALF = W + 2 * SIDE,  // one component of a link's row
        LINK_ROW = 2 * HALF,
        LINK = SLOTS * LINK_ROW,
        RING_ROW = 3 * W,
    };
    static __host__ __device__ int ring_rows(int m) { return AHEAD + LAG * (m - 1) + 1; }
    static __host__ __device__ int floats(int m) { return ring_rows(m) * RING_ROW + (m + 2) * LINK; }
};

__device__ __forceinline__ float4 load4(const float *p)
{
    return *reinterpret_cast<const float4 *>(p);
}

__device__ __forceinline__ void store4(float *p, const float4 &v)
{
    *reinterpret_cast<float4 *>(p) = v;
}

struct Loader { // one thread's share of the rows that come from memory
    const float *from; // of row `row` at this thread's quad, NULL = nothing to do
    float *to, *begin, *end;
    int row, rows, pitch, stride; // rows: 0 beyond the grid's columns, so that zeros are loaded

    __device__ __forceinline__ void load()
    {
        if (from) {
            const bool here = (unsigned)row < (unsigned)rows;
            __pipeline_memcpy_async(to, here ? from + (long long)row * pitch : from, 16,
                                    here ? 0 : 16);
            row++;
            to += stride;
            if (to == end)
                to = begin;
        }
        __pipeline_commit();
    }
};

// Kinds of rows, a quad a thread: P re, P im, b1 re, b1 im, b2 re, b2 im, slowness squared.
template <int W> __device__ Loader make_loader(const LithoGpuFused &a, float *smem, int x0)
{
    typedef Shape<W> S;
    const int kind = threadIdx.x / a.quads, q = threadIdx.x % a.quads, x = x0 + 4 * q, c = kind & 1;
    const size_t im = (size_t)a.plane.ny * a.plane.pitch;
    const bool inside = x < a.plane.nx;
    float *links = smem + S::ring_rows(a.degrees) * S::RING_ROW;
    Loader load = {};
    load.pitch = a.plane.pitch;
    load.rows = inside ? a.plane.ny : 0;
    const float *base = kind < 2 ? a.p : kind < 4 ? a.b1 : kind < 6 ? a.b2 : nullptr;
    if (kind == 6)
        load.from = a.slow2;
    else if (base)
        load.from = base + blockIdx.y * a.plane.size + c * im;
    if (!load.from)
        return load;
    load.from += inside ? x : 0;
    // The row that the first degree opens (P, b2) or takes (b1, slowness) in step 0.
    load.row = kind < 2 || kind == 4 || kind == 5 ? 0 : -R;
    if (kind < 2 || kind == 6) {
        load.stride = S::RING_ROW;
        load.begin = smem + (kind == 6 ? 2 : c) * W + 4 * q;
        load.end = load.begin + S::ring_rows(a.degrees) * S::RING_ROW;
        load.to = load.begin;
    } else {
        // As if degrees -1 and -2 had written it one and two steps before.
        const int link = kind < 4 ? 1 : 0, slot = kind < 4 ? 3 : 2;
        load.stride = S::LINK_ROW;
        load.begin = links + link * S::LINK + c * S::HALF + SIDE + 4 * q;
        load.end = load.begin + S::LINK;
        load.to = load.begin + slot * S::LINK_ROW;
    }
    return load;
}

// One thread's degree and columns.
struct Level {
    float alpha, beta, hx[4], hy[4], ar, ai;
    float *out;              // its link at its columns; the links before lie below
    const float *ring, *ring_begin, *ring_end;
    int row;                 // that closes in this step
    int rows, stored;        // rows that are not zero; rows that go to memory (0: none)
    int columns;             // of the four that lie in the grid
    float *to;               // row 0 in memory
    size_t im;
    int pitch;
};

template <int W> __device__ Level make_level(const LithoGpuFused &a, float *smem, int first, int x0)
{
    typedef Shape<W> S;
    const int m = a.degrees, wave = blockIdx.y;
    const bool worker = threadIdx.x < m * a.quads;
    const int level = worker ? threadIdx.x / a.quads : 0, q = threadIdx.x % a.quads;
    const int x = x0 + 4 * q, n = a.top - level;
    const LithoGpuStep *step = a.steps + wave;
    const float half = n == 0 ? 0.5f : 1; // the last degree takes X, not 2 X
    const float *coef =
        a.coef + ((size_t)step->entry * a.targets + a.target) * 2 * LITHO_GPU_COEFS;
    Level v;
    v.alpha = half * step->stencil.alpha;
    v.beta = half * step->stencil.beta;
    for (int k = 0; k < 4; k++) {
        v.hx[k] = half * step->stencil.hx[k];
        v.hy[k] = half * step->stencil.hy[k];
    }
    if (!a.slow2) {
        v.alpha = fmaf(v.beta, a.slow2_value, v.alpha);
        v.beta = 0;
    }
    v.ar = coef[n];
    v.ai = a.conjugate ? -coef[LITHO_GPU_COEFS + n] : coef[LITHO_GPU_COEFS + n];
    const int ring_rows = S::ring_rows(m);
    v.out = smem + ring_rows * S::RING_ROW + (level + 2) * S::LINK + SIDE + 4 * q;
    v.ring_begin = smem + 4 * q;
    v.ring_end = v.ring_begin + ring_rows * S::RING_ROW;
    v.ring = v.ring_begin + (ring_rows - LAG * level) % ring_rows * S::RING_ROW;
    v.row = -2 * R - LAG * level;
    v.columns = min(max(a.plane.nx - x, 0), 4);
    v.rows = v.columns > 0 ? a.plane.ny : 0;
    float *target = level == m - 1 ? a.out1 : level == m - 2 ? a.out2 : nullptr;
    const bool mine = x >= first && x < first + a.strip; // not the overlap with other tiles
    v.stored = target && mine ? v.rows : 0;
    v.to = target + wave * a.plane.size + x;
    v.im = (size_t)a.plane.ny * a.plane.pitch;
    v.pitch = a.plane.pitch;
    return v;
}

__device__ __forceinline__ void add(float acc[4], float h, const float4 &v)
{
    acc[0] = fmaf(h, v.x, acc[0]);
    acc[1] = fmaf(h, v.y, acc[1]);
    acc[2] = fmaf(h, v.z, acc[2]);
    acc[3] = fmaf(h, v.w, acc[3]);
}

// x arms and centre of one component.
__device__ __forceinline__ void along_x(const Level &v, float acc[4], const float4 &l,
                                        const float4 &c, const float4 &r, const float centre[4])
{
    const float u[12] = {l.x, l.y, l.z, l.w, c.x, c.y, c.z, c.w, r.x, r.y, r.z, r.w};
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float sum = fmaf(centre[k], u[k + 4], acc[k]);
#pragma unroll
        for (int m = 1; m <= 4; m++)
            sum = fmaf(v.hx[m - 1], u[k + 4 - m] + u[k + 4 + m], sum);
        acc[k] = sum;
    }
}

// One row of one degree; acc[s] is the row opened in a step of phase s.
template <int W, int PHASE>
__device__ __forceinline__ void work(Level &v, float (&acc)[8][2][4], float4 out[2])
{
    typedef Shape<W> S;
    const float *arriving = v.out - S::LINK + ((PHASE + 3) & 3) * S::LINK_ROW;
    const float *before = v.out - 2 * S::LINK + ((PHASE + 2) & 3) * S::LINK_ROW;
    const float4 s2 = load4(v.ring + 2 * W);
    const float centre[4] = {fmaf(v.beta, s2.x, v.alpha), fmaf(v.beta, s2.y, v.alpha),
                             fmaf(v.beta, s2.z, v.alpha), fmaf(v.beta, s2.w, v.alpha)};
    const float4 pr = load4(v.ring), pi = load4(v.ring + W);
#pragma unroll
    for (int c = 0; c < 2; c++) {
        const float *row = arriving + c * S::HALF;
        const float4 l = load4(row - 4), m = load4(row), r = load4(row + 4);
        const float4 b2 = load4(before + c * S::HALF);
        float *close = acc[PHASE][c];
        add(close, v.hy[3], m);
        out[c] = make_float4(close[0], close[1], close[2], close[3]);
        // Opened: a_n P - b_(n+2), and the arriving row's share four rows further on.
        const float s = c ? v.ai : -v.ai;
        const float4 same = c ? pi : pr, cross = c ? pr : pi;
        close[0] = fmaf(v.ar, same.x, fmaf(s, cross.x, fmaf(v.hy[3], m.x, -b2.x)));
        close[1] = fmaf(v.ar, same.y, fmaf(s, cross.y, fmaf(v.hy[3], m.y, -b2.y)));
        close[2] = fmaf(v.ar, same.z, fmaf(s, cross.z, fmaf(v.hy[3], m.z, -b2.z)));
        close[3] = fmaf(v.ar, same.w, fmaf(s, cross.w, fmaf(v.hy[3], m.w, -b2.w)));
#pragma unroll
        for (int d = 1; d <= 3; d++) {
            add(acc[(PHASE + 4 + d) & 7][c], v.hy[d - 1], m);
            add(acc[(PHASE + 4 - d) & 7][c], v.hy[d - 1], m);
        }
        along_x(v, acc[(PHASE + 4) & 7][c], l, m, r, centre);
    }
    v.ring += S::RING_ROW;
    if (v.ring == v.ring_end)
        v.ring = v.ring_begin;
}

__device__ __noinline__ float4 masked(float4 v, int columns)
{
    return make_float4(v.x, columns > 1 ? v.y : 0, columns > 2 ? v.z : 0, 0);
}

// The closed row to the link (zeros outside the grid) and, for the last degrees, to memory.
template <int W, int PHASE> __device__ __forceinline__ void emit(Level &v, float4 out[2])
{
    typedef Shape<W> S;
    float *link = v.out + (PHASE & 3) * S::LINK_ROW;
    if ((unsigned)v.row < (unsigned)v.rows) {
        if (v.columns < 4) {
            out[0] = masked(out[0], v.columns);
            out[1] = masked(out[1], v.columns);
        }
        store4(link, out[0]);
        store4(link + S::HALF, out[1]);
        if (v.row < v.stored) {
            float *to = v.to + (size_t)v.row * v.pitch;
            store4(to, out[0]);
            store4(to + v.im, out[1]);
        }
    } else {
        store4(link, make_float4(0, 0, 0, 0));
        store4(link + S::HALF, make_float4(0, 0, 0, 0));
    }
    v.row++;
}

template <int W, int PHASE>
__device__ __forceinline__ void step(Loader &load, Level &v, bool worker, float (&acc)[8][2][4])
{
    __pipeline_wait_prior(AHEAD - 1);
    __syncthreads();
    load.load();
    if (worker) {
        float4 out[2];
        work<W, PHASE>(v, acc, out);
        emit<W, PHASE>(v, out);
    }
}

template <int W>
__global__ void __launch_bounds__(2 * W, 256 / W) fused_kernel(const __grid_constant__ LithoGpuFused a)
{
    extern __shared__ __align__(16) float smem[];
    const int first = blockIdx.x * a.strip, x0 = max(first - a.halo, 0);
    for (int k = threadIdx.x; k < Shape<W>::floats(a.degrees); k += blockDim.x)
        smem[k] = 0;
    __syncthreads();

    const bool worker = threadIdx.x < a.degrees * a.quads;
    Level v = make_level<W>(a, smem, first, x0);
    Loader load = make_loader<W>(a, smem, x0);
    for (int k = 0; k < AHEAD; k++)
        load.load();
    float acc[8][2][4] = {};
    const int steps = a.plane.ny + 2 * R + LAG * (a.degrees - 1);
    for (int t = 0; t < steps; t += 8) { // a few steps beyond the end write nothing
        step<W, 0>(load, v, worker, acc);
        step<W, 1>(load, v, worker, acc);
        step<W, 2>(load, v, worker, acc);
        step<W, 3>(load, v, worker, acc);
        step<W, 4>(load, v, worker, acc);
        step<W, 5>(load, v, worker, acc);
        step<W, 6>(load, v, worker, acc);
        step<W, 7>(load, v, worker, acc);
    }
}

// Smallest class of block that holds so many quads.
int class_of(int quads)
{
    return quads <= 16 ? 64 : quads <= 32 ? 128 : 256;
}

} // namespace

size_t litho_gpu_fused_shared(int degrees, int quads)
{
    const int w = class_of(quads);
    return sizeof(float) * (w == 64    ? Shape<64>::floats(degrees)
                            : w == 128 ? Shape<128>::floats(degrees)
                                       : Shape<256>::floats(degrees));
}

// Columns a block must hold so that `strips` of them cover the plane: neighbours overlap by four
// columns a degree.
static int width_of(int padded, int strips, int halo, int *strip)
{
    *strip = ((padded + strips - 1) / strips + 3) / 4 * 4;
    return *strip + (strips == 1 ? 0 : strips == 2 ? halo : 2 * halo);
}

// Work of all passes in degree-columns; a pass costs its memory traffic too, about as much as three
// degrees. A block pays for its registers and barriers, used or not.
static double cost_of(int strips, int width, int passes, int m)
{
    const double used = (double)(m * width) / (MOST * class_of(width / 4));
    return (double)strips * width * passes * (m + 3) * (used > 0.85 ? 1 : 0.85 / used);
}

void litho_gpu_fused_plan(int nx, int degrees, size_t shared, int *degrees_a_pass, int *quads,
                          int *strip)
{
    const int padded = (nx + 3) / 4 * 4;
    double best = 1e31;
    for (int m = 2; m <= MOST && m <= degrees; m++)
        for (int strips = 1; strips <= padded / 4; strips++) {
            int columns, width = width_of(padded, strips, 4 * m, &columns), q = width / 4;
            if (width > MAX_COLUMNS || litho_gpu_fused_shared(m, q) > shared)
                continue;
            double cost = cost_of(strips, width, (degrees + m - 1) / m, m);
            if (cost < best) {
                best = cost;
                *degrees_a_pass = m;
                *quads = q;
                *strip = columns;
            }
            if (columns <= 4)
                break;
        }
}

int litho_gpu_fused_prepare(size_t shared)
{
    const cudaFuncAttribute most = cudaFuncAttributeMaxDynamicSharedMemorySize;
    int status = (int)cudaFuncSetAttribute(fused_kernel<64>, most, (int)shared);
    status = status ? status : (int)cudaFuncSetAttribute(fused_kernel<128>, most, (int)shared);
    return status ? status : (int)cudaFuncSetAttribute(fused_kernel<256>, most, (int)shared);
}

int litho_gpu_fused(const LithoGpuFused *a, cudaStream_t stream)
{
    const int padded = (a->plane.nx + 3) / 4 * 4, w = class_of(a->quads);
    // The loader takes seven threads a quad.
    const int threads = ((a->degrees > 7 ? a->degrees : 7) * a->quads + 31) / 32 * 32;
    const size_t shared = litho_gpu_fused_shared(a->degrees, a->quads);
    const dim3 grid((padded + a->strip - 1) / a->strip, a->n_waves);
    if (w == 64)
        fused_kernel<64><<<grid, threads, shared, stream>>>(*a);
    else if (w == 128)
        fused_kernel<128><<<grid, threads, shared, stream>>>(*a);
    else
        fused_kernel<256><<<grid, threads, shared, stream>>>(*a);
    return (int)cudaGetLastError();
}
