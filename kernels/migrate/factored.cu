// SPDX-License-Identifier: GPL-3.0-or-later
//
// The step polynomial as a product of its roots, p(X) = c prod (X - z_j), eight factors on chip. A
// factor needs nothing but the rows of the factor before, where Clenshaw's recursion also needs P and
// the factor two before: per point and factor 36 fp32 instructions, 28 bytes of shared memory and
// 2.5 bytes of device memory (Clenshaw: 38, 44 and 3.7). The order of the roots keeps every partial
// product near 1 (see roots.c).
//
// A block is eight levels, one a factor, of one or two warps each. A lane owns 4 columns. Rows stream
// through: in step t level l takes row t - 5 l, adds its share to the eight rows of its output that are
// under way in registers, closes the row four above and hands it to the next level. One barrier a row
// separates writers from readers.
//
// The rows under way move up by one register each step, for nothing: every one of them is the sum of an
// FMA, which may write where its neighbour was. So the loop needs no unrolling by eight and stays in the
// instruction cache.
//
// One wave's rows follow the other's with some rows of zeros between, which are the lower edge of the
// one and the upper edge of the other: the pipeline fills once a block, not once a wave. Passes and
// depths of one wave follow each other in the same way when one block holds its whole width.
#include <cuda_pipeline.h>

#include "kernels/migrate/migrate_kernels.h"

namespace {

enum {
    R = LITHO_STENCIL_RADIUS,
    LEVELS = LITHO_GPU_FACTORS, // factors a pass
    LAG = R + 1,                // rows between neighbouring levels
    SLOTS = 2,                  // rows of a link: the one being written and the one being read
    AHEAD = 4,                  // rows that loads are ahead of their use
    FIRST_SLOTS = 8,            // rows of the link that loads fill
    RING = 64,                  // rows of slowness: the last level reads what the first read long ago
    WARP = 32,
    CHAIN_PERIOD = RING,        // see rows_of_segment()
};

// G warps a level, 4 columns a lane. A row of one component with a quad of zeros on either side.
template <int G> struct Shape {
    enum {
        LANES = WARP * G, // of a level
        THREADS = LEVELS * LANES,
        COLUMNS = LANES * 4,
        HALF = COLUMNS + 8,
        SLOT = 2 * HALF,
        LINK = SLOTS * SLOT,
        LINKS_AT = FIRST_SLOTS * SLOT, // link into level 1; the last level's ends in memory
        RING_AT = LINKS_AT + (LEVELS - 1) * LINK,
        SPONGE_AT = RING_AT + RING * COLUMNS,
        FLOATS = SPONGE_AT + COLUMNS,
    };
};

__device__ __forceinline__ float4 load4(const float *p)
{
    return *reinterpret_cast<const float4 *>(p);
}

__device__ __forceinline__ void store4(float *p, const float v[4])
{
    *reinterpret_cast<float4 *>(p) = make_float4(v[0], v[1], v[2], v[3]);
}

__device__ __forceinline__ void store4_global(float *p, const float v[4])
{
    __stwb(reinterpret_cast<float4 *>(p), make_float4(v[0], v[1], v[2], v[3]));
}

// --- what a block works through -----------------------------------------------------------------

// One pass of one wave through one depth.
struct Segment {
    int wave, depth, pass;
};

__device__ Segment segment_at(const LithoGpuFactored &a, int first_wave, int index)
{
    const int passes = a.last_pass - a.first_pass;
    Segment s;
    s.pass = a.first_pass + index % passes;
    s.depth = index / passes % a.depths;
    s.wave = first_wave + index / passes / a.depths;
    return s;
}

// Rows from one segment's first to the next one's, with zeros between. Where a segment reads what the
// one before wrote: row k is asked for when the last level has stored row k - 44, see load_row().
__device__ int rows_of_segment(const LithoGpuFactored &a)
{
    const int rows = a.plane.ny + LAG;
    const bool chained = a.depths * (a.last_pass - a.first_pass) > 1;
    return chained && rows < CHAIN_PERIOD ? CHAIN_PERIOD : rows;
}

__device__ int factors_before(const LithoGpuFactored &a, int pass)
{
    return (int)((long long)a.degree * pass / a.passes);
}

__device__ const float *source_of(const LithoGpuFactored &a, const Segment &s)
{
    const int set = s.wave / a.n_frequencies, f = s.wave % a.n_frequencies;
    return s.pass == 0 ? a.wave[set][s.depth] + f * a.plane.size
                       : a.between[(s.pass - 1) & 1] + s.wave * a.plane.size;
}

__device__ float *target_of(const LithoGpuFactored &a, const Segment &s)
{
    const int set = s.wave / a.n_frequencies, f = s.wave % a.n_frequencies;
    return s.pass == a.passes - 1 ? a.wave[set][s.depth + 1] + f * a.plane.size
                                  : a.between[s.pass & 1] + s.wave * a.plane.size;
}

struct Work {
    int first_wave, segments, rows; // of the block; rows of a segment
    int steps;
    int x0, first;                  // first column in the block, first column written
};

template <int G> __device__ __forceinline__ int level_of()
{
    return threadIdx.x / (WARP * G);
}

template <int G> __device__ __forceinline__ int lane_of() // of the level
{
    return threadIdx.x % (WARP * G);
}

// --- loading ------------------------------------------------------------------------------------

// The warps of the first three levels load one quad a lane and row each: real parts, imaginary parts,
// slowness. Row t + 4 in step t: the last level, whose row closes 39 steps after it was read, has then
// stored row t - 40.
struct Loader {
    const float *from; // of row `row` at this lane's quad; NULL = has nothing to load
    float *to;         // slot 0
    int k, row, segment;
    int rows;          // of the ring or link
    int stride;        // of a row in it
    bool inside;       // this lane's quad lies in the grid
};

template <int G>
__device__ __forceinline__ void load_segment(const LithoGpuFactored &a, const Work &w, Loader &l)
{
    const int kind = level_of<G>(), x = w.x0 + 4 * lane_of<G>();
    if (kind > (a.slow2 ? 2 : 1) || !l.inside || l.segment >= w.segments)
        return;
    const Segment s = segment_at(a, w.first_wave, l.segment);
    l.from = kind == 2 ? a.slow2 + s.depth * a.slow2_stride + x
                       : source_of(a, s) + kind * (size_t)a.plane.ny * a.plane.pitch + x;
}

template <int G>
__device__ __forceinline__ Loader make_loader(const LithoGpuFactored &a, const Work &w, float *smem)
{
    typedef Shape<G> S;
    const int kind = level_of<G>();
    Loader l = {};
    l.inside = w.x0 + 4 * lane_of<G>() < a.plane.nx;
    l.to = kind == 2 ? smem + S::RING_AT + 4 * lane_of<G>()
                     : smem + kind * S::HALF + 4 + 4 * lane_of<G>();
    l.rows = kind == 2 ? RING : FIRST_SLOTS;
    l.stride = kind == 2 ? S::COLUMNS : S::SLOT;
    load_segment<G>(a, w, l);
    return l;
}

template <int G>
__device__ __forceinline__ void load_row(const LithoGpuFactored &a, const Work &w, Loader &l)
{
    if (l.from) {
        const bool here = l.segment < w.segments && l.row < a.plane.ny;
        __pipeline_memcpy_async(l.to + (l.k & (l.rows - 1)) * l.stride, l.from, 16, here ? 0 : 16);
        l.k++;
        l.from += here ? a.plane.pitch : 0;
        if (++l.row == w.rows) {
            l.row = 0;
            l.segment++;
            load_segment<G>(a, w, l);
        }
    }
    __pipeline_commit();
}

// --- one factor ---------------------------------------------------------------------------------

struct Level {
    // The factor r (X - z): centre alpha + beta slowness^2, arms, and -r Im z.
    float alpha, beta, hx[4], hy[4], zi;
};

// Last level: where a finished row goes, and what it is multiplied by.
struct Target {
    float *to;
    float turn_re, turn_im;
    int last_pass;
};

template <int G>
__device__ __forceinline__ void take_factor(const LithoGpuFactored &a, const Work &w, int segment,
                                            Level &v)
{
    const Segment s = segment_at(a, w.first_wave, segment);
    const int from = factors_before(a, s.pass), n = factors_before(a, s.pass + 1) - from;
    const int j = level_of<G>() - (LEVELS - n);
    if (j < 0) { // fewer factors than levels: hands its rows on
        v = Level();
        v.alpha = 1;
        return;
    }
    const LithoGpuStep *step = a.steps + (size_t)s.depth * a.steps_stride + s.wave % a.n_frequencies;
    const float *roots = a.roots + ((size_t)step->entry * a.targets + a.target) * LITHO_GPU_ROOTS;
    const float scale = roots[2 * LITHO_GPU_COEFS], half = 0.5f * scale; // X = Y / 2
    const float slow2 = a.slow2 ? 0 : a.slow2_value[s.depth];
    v.beta = a.slow2 ? half * step->stencil.beta : 0;
    v.alpha = half * (step->stencil.alpha + step->stencil.beta * slow2) - roots[from + j];
    for (int k = 0; k < 4; k++) {
        v.hx[k] = half * step->stencil.hx[k];
        v.hy[k] = half * step->stencil.hy[k];
    }
    const float z = roots[LITHO_GPU_COEFS + from + j];
    v.zi = a.conjugate ? -z : z;
}

__device__ __forceinline__ Target take_target(const LithoGpuFactored &a, const Work &w, int segment)
{
    const Segment s = segment_at(a, w.first_wave, segment);
    const LithoGpuStep *step = a.steps + (size_t)s.depth * a.steps_stride + s.wave % a.n_frequencies;
    const float *roots = a.roots + ((size_t)step->entry * a.targets + a.target) * LITHO_GPU_ROOTS;
    Target t;
    t.to = target_of(a, s);
    t.last_pass = s.pass == a.passes - 1;
    t.turn_re = roots[2 * LITHO_GPU_COEFS + 1];
    t.turn_im = a.conjugate ? -roots[2 * LITHO_GPU_COEFS + 2] : roots[2 * LITHO_GPU_COEFS + 2];
    return t;
}

// The arriving row's share of the rows under way: before the step acc[d] is the row d - 4 below it, after
// it the row d - 3. `in` is the row one quad left of this lane's columns, `ring` its slowness squared.
template <int G>
__device__ __forceinline__ void apply(const Level &v, float (&acc)[2][8][4], float (&out)[2][4],
                                      const float *in, const float *ring)
{
    const float4 s2 = load4(ring);
    const float centre[4] = {fmaf(v.beta, s2.x, v.alpha), fmaf(v.beta, s2.y, v.alpha),
                             fmaf(v.beta, s2.z, v.alpha), fmaf(v.beta, s2.w, v.alpha)};
#pragma unroll
    for (int c = 0; c < 2; c++) {
        const float *row = in + c * Shape<G>::HALF;
        const float4 l = load4(row), m4 = load4(row + 4), r = load4(row + 8);
        const float u[12] = {l.x, l.y, l.z, l.w, m4.x, m4.y, m4.z, m4.w, r.x, r.y, r.z, r.w};
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const float m = u[k + 4];
            out[c][k] = fmaf(v.hy[3], m, acc[c][0][k]);
            acc[c][0][k] = fmaf(v.hy[2], m, acc[c][1][k]);
            acc[c][1][k] = fmaf(v.hy[1], m, acc[c][2][k]);
            acc[c][2][k] = fmaf(v.hy[0], m, acc[c][3][k]);
            float sum = fmaf(centre[k], m, acc[c][4][k]);
#pragma unroll
            for (int d = 1; d <= 4; d++)
                sum = fmaf(v.hx[d - 1], u[k + 4 - d] + u[k + 4 + d], sum);
            acc[c][3][k] = sum;
            acc[c][4][k] = fmaf(v.hy[0], m, acc[c][5][k]);
            acc[c][5][k] = fmaf(v.hy[1], m, acc[c][6][k]);
            acc[c][6][k] = fmaf(v.hy[2], m, acc[c][7][k]);
            acc[c][7][k] = v.hy[3] * m;
            // The other component's arriving row: still to be moved up, or moved already.
            float *other = c == 0 ? &acc[1][4][k] : &acc[0][3][k];
            *other = fmaf(c == 0 ? -v.zi : v.zi, m, *other);
        }
    }
}

// After the last factor: times the product's scale and the sponge.
__device__ __forceinline__ void finish(const Target &t, float gy, const float *sponge_x,
                                       float (&out)[2][4])
{
    const float4 gx = load4(sponge_x);
    const float g[4] = {gy * gx.x, gy * gx.y, gy * gx.z, gy * gx.w};
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const float u = g[k] * out[0][k], v = g[k] * out[1][k];
        out[0][k] = t.turn_re * u - t.turn_im * v;
        out[1][k] = t.turn_re * v + t.turn_im * u;
    }
}

// Where a level is: its row that arrives, `row` of `segment`.
struct Place {
    int segment, row;
    int columns;  // of this lane, from its first on, that lie in the grid; may exceed 4 or be negative
    bool stores;  // last level: this lane's columns are the block's own
    float sponge; // of the row that closes next
    // Offsets in shared memory, at this lane: of the arriving row (one quad left), of its slowness, of the
    // row to fill; each runs round.
    int in, in_begin, in_end, ring, out, out_begin;
};

template <int G> __device__ __forceinline__ Place make_place(const LithoGpuFactored &a, const Work &w)
{
    typedef Shape<G> S;
    const int level = level_of<G>(), lane = lane_of<G>(), x = w.x0 + 4 * lane;
    Place at = {};
    at.row = -LAG * level;
    at.columns = a.plane.nx - x;
    at.stores = x >= w.first && x < w.first + a.strip && x < a.plane.nx;
    at.sponge = 1;
    at.in_begin = (level == 0 ? 0 : S::LINKS_AT + (level - 1) * S::LINK) + 4 * lane;
    at.in_end = at.in_begin + (level == 0 ? FIRST_SLOTS : SLOTS) * S::SLOT;
    at.in = at.in_begin + (level == 0 ? 0 : S::SLOT); // what was filled in step -1
    at.ring = S::RING_AT + (RING - LAG * level) % RING * S::COLUMNS + 4 * lane;
    at.out_begin = S::LINKS_AT + level * S::LINK + 4 + 4 * lane;
    at.out = at.out_begin;
    return at;
}

// A step of a level: one row.
template <int G>
__device__ __forceinline__ void step(const LithoGpuFactored &a, const Work &w, const Level &v, Place &at,
                                     const Target &target, float *smem, float (&acc)[2][8][4],
                                     int level)
{
    typedef Shape<G> S;
    float out[2][4];
    apply<G>(v, acc, out, smem + at.in, smem + at.ring);
    at.in += S::SLOT;
    at.in = at.in == at.in_end ? at.in_begin : at.in;
    at.ring += S::COLUMNS;
    at.ring -= at.ring >= S::SPONGE_AT ? RING * S::COLUMNS : 0;
    const int closed = at.row - R;
    const bool here = (unsigned)closed < (unsigned)a.plane.ny && at.segment < w.segments;
    if (!here || at.columns < 4) {
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (!here || k >= at.columns)
                out[0][k] = out[1][k] = 0;
    }
    if (level < LEVELS - 1) {
        store4(smem + at.out, out[0]);
        store4(smem + at.out + S::HALF, out[1]);
        at.out = at.out == at.out_begin ? at.out_begin + S::SLOT : at.out_begin;
    } else if (here) {
        const int lane = lane_of<G>();
        if (target.last_pass)
            finish(target, at.sponge, smem + S::SPONGE_AT + 4 * lane, out);
        if (at.stores) {
            float *to = target.to + (size_t)closed * a.plane.pitch + w.x0 + 4 * lane;
            store4_global(to, out[0]);
            store4_global(to + (size_t)a.plane.ny * a.plane.pitch, out[1]);
        }
    }
}

template <int G>
__device__ __forceinline__ void run_level(const LithoGpuFactored &a, const Work &w, float *smem)
{
    const int level = level_of<G>();
    Place at = make_place<G>(a, w);
    Level v = {};
    Target target = {};
    take_factor<G>(a, w, 0, v);
    if (level == LEVELS - 1)
        target = take_target(a, w, 0);
    Loader load = make_loader<G>(a, w, smem);
    for (int k = 0; k < AHEAD; k++)
        load_row<G>(a, w, load);
    float acc[2][8][4] = {};
#pragma unroll 1
    for (int t = 0; t < w.steps; t++) {
        __pipeline_wait_prior(AHEAD - 1);
        __syncthreads();
        load_row<G>(a, w, load);
        // Zeros arrive from here on, then zeros close: time to change.
        const bool more = at.segment + 1 < w.segments;
        if (at.row == a.plane.ny && more)
            take_factor<G>(a, w, at.segment + 1, v);
        if (level == LEVELS - 1 && at.row == a.plane.ny + R && more)
            target = take_target(a, w, at.segment + 1);
        step<G>(a, w, v, at, target, smem, acc, level);
        if (level == LEVELS - 1 && a.sponge_y) {
            const int next = at.row + 1 - R; // closes in the next step
            at.sponge = (unsigned)next < (unsigned)a.plane.ny ? a.sponge_y[next] : 1;
        }
        if (++at.row == w.rows) {
            at.row = 0;
            at.segment++;
        }
    }
}

template <int G>
__global__ void __launch_bounds__(Shape<G>::THREADS, 3 - G)
    factored_kernel(const __grid_constant__ LithoGpuFactored a)
{
    typedef Shape<G> S;
    extern __shared__ __align__(16) float smem[];
    Work w;
    w.first_wave = blockIdx.y * a.waves_a_block;
    const int waves = min(a.waves_a_block, a.n_sets * a.n_frequencies - w.first_wave);
    w.segments = waves * a.depths * (a.last_pass - a.first_pass);
    w.rows = rows_of_segment(a);
    // The last level's last row closes four steps after it arrives.
    w.steps = w.segments * w.rows + LAG * (LEVELS - 1);
    w.first = blockIdx.x * a.strip;
    w.x0 = max(w.first - R * LEVELS, 0);
    for (int k = threadIdx.x; k < S::SPONGE_AT; k += S::THREADS)
        smem[k] = 0;
    for (int k = threadIdx.x; k < S::COLUMNS; k += S::THREADS)
        smem[S::SPONGE_AT + k] = a.sponge_x && w.x0 + k < a.plane.nx ? a.sponge_x[w.x0 + k] : 1;
    __syncthreads();
    run_level<G>(a, w, smem);
}

} // namespace

static size_t shared_of(int warps)
{
    return sizeof(float) * (warps == 1 ? (size_t)Shape<1>::FLOATS : (size_t)Shape<2>::FLOATS);
}

// Columns a block writes when `strips` blocks share a plane: neighbours overlap by four columns a
// factor. 0: too many for the width.
static int strip_of(int nx, int strips, int columns)
{
    const int strip = ((nx + strips - 1) / strips + 3) / 4 * 4; // whole lanes
    const int sides = strips == 1 ? 0 : strips == 2 ? 1 : 2;
    return strip + sides * R * LEVELS <= columns ? strip : 0;
}

void litho_gpu_factored_plan(int nx, int *warps, int *strip, int *strips)
{
    int best = 0;
    for (int q = 2; q >= 1; q--)
        for (int n = 1;; n++) {
            const int columns = 128 * q, found = strip_of(nx, n, columns);
            if (!found)
                continue;
            if (!best || n * columns < best) {
                best = n * columns;
                *warps = q;
                *strip = found;
                *strips = (nx + found - 1) / found;
            }
            break;
        }
}

int litho_gpu_factored_prepare(size_t shared)
{
    const cudaFuncAttribute most = cudaFuncAttributeMaxDynamicSharedMemorySize;
    if (shared < shared_of(2))
        return (int)cudaErrorInvalidConfiguration;
    const int status = (int)cudaFuncSetAttribute(factored_kernel<1>, most, (int)shared_of(1));
    return status ? status : (int)cudaFuncSetAttribute(factored_kernel<2>, most, (int)shared_of(2));
}

int litho_gpu_factored(const LithoGpuFactored *a, cudaStream_t stream)
{
    const int waves = a->n_sets * a->n_frequencies;
    const dim3 grid((a->plane.nx + a->strip - 1) / a->strip,
                    (waves + a->waves_a_block - 1) / a->waves_a_block);
    if (a->warps == 1)
        factored_kernel<1><<<grid, Shape<1>::THREADS, shared_of(1), stream>>>(*a);
    else
        factored_kernel<2><<<grid, Shape<2>::THREADS, shared_of(2), stream>>>(*a);
    return (int)cudaGetLastError();
}
