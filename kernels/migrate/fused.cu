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
// Shared memory and arithmetic must overlap, or a row takes the sum of their times. So the x arms of a
// row wait in registers for the next step (a row closes four steps after it arrived): what needs no load
// is at hand right behind the barrier, while the loads of the y arms are on their way.
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
    RING = AHEAD + LAG * (MOST - 1) + 1, // rows from the first degree's newest to the last one's
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
        LINKS_AT = RING * RING_ROW,
    };
    static __host__ __device__ int floats(int m) { return LINKS_AT + (m + 2) * LINK; }
};

__device__ __forceinline__ float4 load4(const float *p)
{
    return *reinterpret_cast<const float4 *>(p);
}

__device__ __forceinline__ void store4(float *p, const float4 &v)
{
    *reinterpret_cast<float4 *>(p) = v;
}

// 16 bytes into shared memory (an address there), zeros where `here` is false; arrives by itself where
// the card can do that.
__device__ __forceinline__ void fetch4(unsigned to, const float *from, bool here)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(here ? 16 : 0)
                 : "memory");
#else
    *static_cast<float4 *>(__cvta_shared_to_generic(to)) = here ? load4(from) : float4{0, 0, 0, 0};
#endif
}

// One thread's share of the rows that come from memory: a quad of one kind of row a step.
struct Loader {
    const float *from; // of row `row` at this thread's quad
    unsigned to, end, span, stride; // in shared memory, bytes: where it goes, where its ring ends
    int row;
    bool has; // anything to load

    __device__ __forceinline__ void load(const LithoGpuFused &a)
    {
        // Rows outside the grid: zeros, and nothing is read.
        if (has)
            fetch4(to, from, (unsigned)row < (unsigned)a.plane.ny);
        from += a.plane.pitch;
        row++;
        to += stride;
        to = to == end ? to - span : to;
        __pipeline_commit();
    }
};

// Kinds of rows, a quad a thread: P re, P im, b1 re, b1 im, b2 re, b2 im, slowness squared.
template <int W> __device__ Loader make_loader(const LithoGpuFused &a, float *smem, int x0)
{
    typedef Shape<W> S;
    const int kind = threadIdx.x / a.quads, q = threadIdx.x % a.quads, x = x0 + 4 * q, c = kind & 1;
    const size_t im = (size_t)a.plane.ny * a.plane.pitch;
    Loader load = {};
    const float *base =
        kind < 2 ? a.p : kind < 4 ? a.b1 : kind < 6 ? a.b2 : kind < 7 ? a.slow2 : nullptr;
    load.has = base && x < a.plane.nx;
    if (!load.has)
        return load;
    load.from = base + x;
    if (kind < 6)
        load.from += blockIdx.y * a.plane.size + c * im;
    // The row that the first degree opens (P, b2) or takes (b1, slowness) in step 0.
    load.row = kind < 2 || kind == 4 || kind == 5 ? 0 : -R;
    load.from += load.row * a.plane.pitch;
    int begin, stride, slots, slot;
    if (kind < 2 || kind == 6) {
        stride = S::RING_ROW;
        begin = (kind == 6 ? 2 : c) * W + 4 * q;
        slots = RING;
        slot = 0;
    } else {
        // As if degrees -1 and -2 had written it one and two steps before.
        stride = S::LINK_ROW;
        begin = S::LINKS_AT + (kind < 4 ? S::LINK : 0) + c * S::HALF + SIDE + 4 * q;
        slots = SLOTS;
        slot = kind < 4 ? 3 : 2;
    }
    const unsigned at = (unsigned)__cvta_generic_to_shared(smem + begin);
    load.stride = stride * 4;
    load.span = load.stride * slots;
    load.end = at + load.span;
    load.to = at + load.stride * slot;
    return load;
}

// One thread's degree and columns.
struct Level {
    float alpha, beta, hx[4], hy[4], ar, ai;
    float *out;              // its link at its columns; the links before lie below
    const float *ring, *ring_begin;
    int row;                 // that closes in this step
    int x, columns;          // its first column; columns of the grid from there on
    int target;              // 1, 2: goes to out1, out2; 0: stays in the block
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
    v.out = smem + S::LINKS_AT + (level + 2) * S::LINK + SIDE + 4 * q;
    v.ring_begin = smem + 4 * q;
    v.ring = v.ring_begin + (RING - LAG * level) % RING * S::RING_ROW;
    v.row = -2 * R - LAG * level;
    v.x = x;
    v.columns = a.plane.nx - x;
    // Not the overlap with other tiles.
    const bool mine = x >= first && x < first + a.strip && x < a.plane.nx;
    v.target = !mine ? 0 : level == m - 1 ? 1 : level == m - 2 && a.out2 ? 2 : 0;
    return v;
}

__device__ __forceinline__ void add(float acc[4], float h, const float4 &v)
{
    acc[0] = fmaf(h, v.x, acc[0]);
    acc[1] = fmaf(h, v.y, acc[1]);
    acc[2] = fmaf(h, v.z, acc[2]);
    acc[3] = fmaf(h, v.w, acc[3]);
}

// What of a row waits for its x arms: the row with four columns on either side.
struct Late {
    float4 l[2], m[2], r[2];
};

// x arms of one component.
__device__ __forceinline__ void along_x(const Level &v, float acc[4], const float4 &l,
                                        const float4 &c, const float4 &r)
{
    const float u[12] = {l.x, l.y, l.z, l.w, c.x, c.y, c.z, c.w, r.x, r.y, r.z, r.w};
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float sum = acc[k];
#pragma unroll
        for (int m = 1; m <= 4; m++)
            sum = fmaf(v.hx[m - 1], u[k + 4 - m] + u[k + 4 + m], sum);
        acc[k] = sum;
    }
}

template <int W> __device__ __forceinline__ void advance(Level &v, int rows)
{
    typedef Shape<W> S;
    v.ring += rows * S::RING_ROW;
    if (v.ring >= v.ring_begin + S::LINKS_AT)
        v.ring -= S::LINKS_AT;
}

// One row of one degree; acc[s] is the row opened in a step of phase s.
template <int W, int PHASE>
__device__ __forceinline__ void work(Level &v, float (&acc)[8][2][4], Late &late, float4 out[2])
{
    typedef Shape<W> S;
    const float *arriving = v.out - S::LINK + ((PHASE + 3) & 3) * S::LINK_ROW;
    const float *before = v.out - 2 * S::LINK + ((PHASE + 2) & 3) * S::LINK_ROW;
    const float4 pr = load4(v.ring), pi = load4(v.ring + W);
    const float4 s2 = load4(v.ring + 2 * W);
    const float centre[4] = {fmaf(v.beta, s2.x, v.alpha), fmaf(v.beta, s2.y, v.alpha),
                             fmaf(v.beta, s2.z, v.alpha), fmaf(v.beta, s2.w, v.alpha)};
#pragma unroll
    for (int c = 0; c < 2; c++) {
        const float *row = arriving + c * S::HALF;
        along_x(v, acc[(PHASE + 3) & 7][c], late.l[c], late.m[c], late.r[c]);
        const float4 m = load4(row);
        const float4 b2 = load4(before + c * S::HALF);
        late.l[c] = load4(row - 4);
        late.m[c] = m;
        late.r[c] = load4(row + 4);
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
        float *same_row = acc[(PHASE + 4) & 7][c];
        same_row[0] = fmaf(centre[0], m.x, same_row[0]);
        same_row[1] = fmaf(centre[1], m.y, same_row[1]);
        same_row[2] = fmaf(centre[2], m.z, same_row[2]);
        same_row[3] = fmaf(centre[3], m.w, same_row[3]);
    }
    advance<W>(v, 1);
}

__device__ __forceinline__ void mask(float4 &v, int columns)
{
    v.x = columns > 0 ? v.x : 0;
    v.y = columns > 1 ? v.y : 0;
    v.z = columns > 2 ? v.z : 0;
    v.w = columns > 3 ? v.w : 0;
}

// The closed row to the link (zeros outside the grid) and, for the last degrees, to memory.
template <int W, int PHASE>
__device__ __forceinline__ void emit(const LithoGpuFused &a, Level &v, float4 out[2])
{
    typedef Shape<W> S;
    float *link = v.out + (PHASE & 3) * S::LINK_ROW;
    const bool here = (unsigned)v.row < (unsigned)a.plane.ny;
    if (!here || v.columns < 4) {
        const int columns = here ? v.columns : 0;
        mask(out[0], columns);
        mask(out[1], columns);
    }
    store4(link, out[0]);
    store4(link + S::HALF, out[1]);
    if (v.target && here) {
        float *to = (v.target == 1 ? a.out1 : a.out2) + blockIdx.y * a.plane.size +
                    (size_t)v.row * a.plane.pitch + v.x;
        store4(to, out[0]);
        store4(to + (size_t)a.plane.ny * a.plane.pitch, out[1]);
    }
    v.row++;
}

// The barrier with a count: warps that work and warps that only keep step meet at it from different places.
__device__ __forceinline__ void keep_step(const LithoGpuFused &a, Loader &load)
{
    __pipeline_wait_prior(AHEAD - 1);
    asm volatile("bar.sync 1, %0;" ::"r"(blockDim.x) : "memory");
    load.load(a);
}

template <int W, int PHASE>
__device__ __forceinline__ void step(const LithoGpuFused &a, Loader &load, Level &v,
                                     bool worker, float (&acc)[8][2][4], Late &late)
{
    keep_step(a, load);
    if (worker) {
        float4 out[2];
        work<W, PHASE>(v, acc, late, out);
        emit<W, PHASE>(a, v, out);
    }
}

// While the pipeline fills and drains, degrees that have no row yet or any more leave the multiprocessor to
// the others: before the first row opens, after four rows of zeros below the plane.
template <int W, int PHASE>
__device__ __forceinline__ void half(const LithoGpuFused &a, Loader &load, Level &v, bool worker,
                                     float (&acc)[8][2][4], Late &late)
{
    if (__any_sync(~0u, worker && v.row + 3 >= -2 * R && v.row < a.plane.ny + R)) {
        step<W, PHASE>(a, load, v, worker, acc, late);
        step<W, PHASE + 1>(a, load, v, worker, acc, late);
        step<W, PHASE + 2>(a, load, v, worker, acc, late);
        step<W, PHASE + 3>(a, load, v, worker, acc, late);
        return;
    }
#pragma unroll 1
    for (int k = 0; k < 4; k++)
        keep_step(a, load);
    v.row += 4;
    advance<W>(v, 4);
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
        load.load(a);
    float acc[8][2][4] = {};
    Late late = {};
    const int steps = a.plane.ny + 2 * R + LAG * (a.degrees - 1);
    for (int t = 0; t < steps; t += 8) { // a few steps beyond the end write nothing
        half<W, 0>(a, load, v, worker, acc, late);
        half<W, 4>(a, load, v, worker, acc, late);
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

void litho_gpu_fused_plan(int nx, int degrees, int beside, size_t shared, int *degrees_a_pass,
                          int *quads, int *strip)
{
    const int padded = (nx + 3) / 4 * 4;
    double best = 1e31;
    for (int m = 2; m <= MOST && m <= degrees; m++)
        for (int strips = 1; strips <= padded / 4; strips++) {
            int columns, width = width_of(padded, strips, 4 * m, &columns), q = width / 4;
            if (width > MAX_COLUMNS || litho_gpu_fused_shared(m, q) > shared)
                continue;
            double cost = cost_of(strips > beside ? strips : beside, width, (degrees + m - 1) / m, m);
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
