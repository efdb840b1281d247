// SPDX-License-Identifier: GPL-3.0-or-later
//
// Several degrees of Clenshaw's recursion in one pass over a plane, nothing but P, b's and slowness
// read from memory. Rows stream through the block like through a pipeline: degree l of the pass
// works 5 rows behind degree l-1, every thread owns four columns of one degree, and one barrier a
// row separates writers from readers.
//
//   arriving row r of b_(n+1)  ->  adds its share to the eight rows r-4 .. r+3 of b_n that are
//   under
//                                  way in registers, closes row r-4, opens row r+4 with a_n P -
//                                  b_(n+2)
//
// The y arms of the stencil therefore never touch memory; the x arms are three 16-byte shared loads
// for four points. Per point and degree: 38 fp32 instructions, 52 bytes of shared memory, and
// 24 / degrees .. 40 / degrees bytes of device memory.
//
// Shared memory and arithmetic must overlap, or a row takes the sum of their times. So the x arms
// of a row wait in registers for the next step (a row closes four steps after it arrived): what
// needs no load is at hand right behind the barrier, while the loads of the y arms are on their
// way.
//
// One launch carries all waves through several depths. A task is one pass over one wave (one strip
// of it, where it is wider than a block); blocks take tasks by ticket, depth by depth, pass by
// pass, wave by wave. What a task builds on was given out earlier, usually so much earlier that it
// is done: nobody waits, and no multiprocessor is idle while the last waves of a depth are under
// way.
//
// Time in the block is counted in steps t = 0, 1, ...; degree l takes row t - 4 - 5 l in step t.
// Its finished rows go to a link of four slots (t mod 4); the next degree reads what was written
// one step ago, the one after that what was written two steps ago. All slots are known at compile
// time because the loop is unrolled by eight, the number of rows under way.
#include <cuda_pipeline.h>

#include "kernels/migrate/cuda/kernels.h"

namespace
{

enum {
    R = LITHO_STENCIL_RADIUS,
    LAG = R + 1,                         // rows between neighbouring degrees
    AHEAD = 2,                           // steps that loads are ahead of their use
    SIDE = 4,                            // zeros on either side of a row with x neighbours
    SLOTS = 4,                           // rows of a link
    MOST = 8,                            // degrees a pass
    RING = AHEAD + LAG * (MOST - 1) + 1, // rows from the first degree's newest to the last one's
    MAX_COLUMNS = 256, // of a block: 8 degrees of 64 threads of 128 registers fill a multiprocessor
};

// Shared memory for blocks of up to W columns: a ring of rows that all degrees read at their own
// pace (P and, four rows earlier, slowness squared), and the links: b_(top+2), b_(top+1), then one
// a degree.
template <int W> struct Shape {
    enum {
        HALF = W + 2 * SIDE, // one component of a link's row
        LINK_ROW = 2 * HALF,
        LINK = SLOTS * LINK_ROW,
        RING_ROW = 3 * W,
        LINKS_AT = RING * RING_ROW,
    };
    static __host__ __device__ int floats(int m)
    {
        return LINKS_AT + (m + 2) * LINK;
    }
};

__device__ __forceinline__ float4 load4(const float *p)
{
    return *reinterpret_cast<const float4 *>(p);
}

__device__ __forceinline__ void store4(float *p, const float4 &v)
{
    *reinterpret_cast<float4 *>(p) = v;
}

extern __shared__ __align__(16) unsigned char shared[]; // a Desk, then rows and links

// 16 bytes into shared memory (an address there), zeros where `here` is false; arrives by itself
// where the card can do that.
__device__ __forceinline__ void fetch4(unsigned to, const float *from, bool here)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(here ? 16 : 0)
                 : "memory");
#else
    *static_cast<float4 *>(__cvta_shared_to_generic(to)) =
        here ? __ldcg(reinterpret_cast<const float4 *>(from)) : float4{0, 0, 0, 0};
#endif
}

// --- tasks --------------------------------------------------------------------------------------

// One pass over one strip of one wave; lies in shared memory.
struct Pass {
    const float *p, *b1, *b2, *slow2; // NULL: zeros, or the same slowness everywhere
    float *out1, *out2; // b of the last degree and of the one before (NULL: not wanted)
    const MigGpuStep *step;
    const float *coef;
    float slow2_value;
    int top, degrees; // b_top is the first
    int first, x0;    // column that it writes first, that the block holds first
    bool sponge;
    int strip, stage, *done; // `done`: stages done of the wave's strips
};

struct alignas(16) Desk {
    Pass pass;
    int next; // ticket
};

__device__ __forceinline__ float *rows_of_block()
{
    return reinterpret_cast<float *>(shared + sizeof(Desk));
}

__device__ Pass pass_of(const MigGpuFused &a, int ticket)
{
    const int tiles = a.n_sets * a.n_waves * a.strips, tile = ticket % tiles,
              wave = tile / a.strips;
    const int set = wave / a.n_waves, f = wave % a.n_waves, targets = a.targets[1] - a.targets[0];
    Pass v = {};
    v.stage = ticket / tiles;
    v.strip = tile % a.strips;
    v.done = a.progress + 1 + wave * a.strips;
    const int step = v.stage / a.stages;
    int k = v.stage % a.stages, m = a.targets[0];
    while (k >= a.passes[m])
        k -= a.passes[m++];
    const int total = a.degree[m] + 1, n = a.passes[m], rest = total % n;
    v.degrees = total / n + (k < rest);
    v.top = a.degree[m] - (k * (total / n) + min(k, rest));
    float *const *planes = a.wave[set] + step * targets;
    v.p = planes[0] + f * a.plane.size;
    if (k > 0) {
        v.b1 = a.between[~k & 1][0] + wave * a.plane.size;
        v.b2 = a.between[~k & 1][1] + wave * a.plane.size;
    }
    const bool last = k == n - 1;
    v.out1 = last ? planes[1 + m - a.targets[0]] + f * a.plane.size
                  : a.between[k & 1][0] + wave * a.plane.size;
    v.out2 = last ? nullptr : a.between[k & 1][1] + wave * a.plane.size;
    v.sponge = last && m == a.targets[1] - 1 && a.sponge_x;
    v.slow2 = a.slow2 ? a.slow2 + (size_t)step * a.plane.ny * a.plane.pitch : nullptr;
    v.slow2_value = a.slow2_value[step];
    v.step = a.steps + (size_t)step * a.steps_stride + f;
    v.coef = a.coef + ((size_t)v.step->entry * a.all_targets + m) * 2 * MIG_GPU_COEFS;
    v.first = v.strip * a.strip;
    v.x0 = max(v.first - a.halo, 0);
    return v;
}

// Reads a count. Writes made before the count was raised are visible to a thread that has read it.
__device__ int done_by(const int *count)
{
    int n;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(n) : "l"(count) : "memory");
    return n;
}

__device__ void raise(int *count, int n)
{
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(count), "r"(n) : "memory");
}

// Waits for the earlier stages of the task's own and the neighbouring strips: they write the rows
// it reads, and read the rows it overwrites. No task waits for a later ticket, so the smallest
// unfinished one always runs.
__device__ void await(const MigGpuFused &a, const Pass &v)
{
    const int reach = a.strips > 1 ? (a.halo + a.strip - 1) / a.strip : 0;
    for (int k = max(v.strip - reach, 0); k <= min(v.strip + reach, a.strips - 1); k++)
        while (done_by(v.done + k) < v.stage)
            __nanosleep(200);
}

// --- a pass -------------------------------------------------------------------------------------

// One thread's share of the rows that come from memory: a quad of one kind of row a step.
struct Loader {
    const float *from; // of row `row` at this thread's quad
    unsigned to; // in shared memory, bytes: slot 0 of the ring or a link at this thread's quad
    int row;
    bool has, rings; // anything to load; into the ring, else into a link

    // `newest`: bytes from slot 0 of the ring to the rows loaded in this step.
    template <int W, int PHASE>
    __device__ __forceinline__ void load(const MigGpuPlane &plane, int &newest)
    {
        typedef Shape<W> S;
        // Rows outside the grid: zeros, and nothing is read.
        if (has)
            fetch4(to + (rings ? newest : ((PHASE + 1) & 3) * S::LINK_ROW * 4), from,
                   (unsigned)row < (unsigned)plane.ny);
        from += plane.pitch;
        row++;
        newest = newest == S::LINKS_AT * 4 - S::RING_ROW * 4 ? 0 : newest + S::RING_ROW * 4;
        __pipeline_commit();
    }
};

// Kinds of rows, a quad a thread: P re, P im, b1 re, b1 im, b2 re, b2 im, slowness squared. They
// lie as if degrees -1 and -2 had written b1 and b2; b2 is loaded a step earlier than the others,
// into the same slot.
template <int W> __device__ Loader make_loader(const MigGpuFused &a, const Pass &pass, float *smem)
{
    typedef Shape<W> S;
    const int kind = threadIdx.x / a.quads, q = threadIdx.x % a.quads, c = kind & 1;
    const int x = pass.x0 + 4 * q;
    const size_t im = (size_t)a.plane.ny * a.plane.pitch;
    const float *base = kind < 2   ? pass.p
                        : kind < 4 ? pass.b1
                        : kind < 6 ? pass.b2
                        : kind < 7 ? pass.slow2
                                   : nullptr;
    Loader load = {};
    load.has = base && x < a.plane.nx;
    load.rings = kind < 2 || kind == 6;
    // Three steps before the first, in which the first degree opens row 0 (P, b2) and takes row -4
    // (b1, slowness).
    load.row = kind < 2 ? -1 : kind == 4 || kind == 5 ? 0 : -R - 1;
    if (load.has)
        load.from = base + x + (kind < 6 ? c * im : 0) + load.row * a.plane.pitch;
    const int at = load.rings ? (kind == 6 ? 2 : c) * W
                              : S::LINKS_AT + (kind < 4 ? S::LINK : 0) + c * S::HALF + SIDE;
    load.to = (unsigned)__cvta_generic_to_shared(smem + at + 4 * q);
    return load;
}

// One thread's degree and columns.
struct Level {
    float alpha, beta, hx[4], hy[4], ar, ai;
    float *out; // its link at its columns; the links before lie below
    const float *ring;
    int row;    // that closes in this step; far above the plane: this thread has no degree
    int x;      // its first column
    int target; // 1, 2: goes to out1, out2; 3: out1 behind the sponge; 0: stays in the block
};

template <int W> __device__ Level make_level(const MigGpuFused &a, const Pass &pass, float *smem)
{
    typedef Shape<W> S;
    const int m = pass.degrees;
    const bool worker = threadIdx.x < m * a.quads;
    const int level = worker ? threadIdx.x / a.quads : 0, q = threadIdx.x % a.quads;
    const int x = pass.x0 + 4 * q, n = pass.top - level;
    const LithoStencil &stencil = pass.step->stencil;
    const float half = n == 0 ? 0.5f : 1; // the last degree takes X, not 2 X
    Level v;
    v.alpha = half * stencil.alpha;
    v.beta = half * stencil.beta;
    for (int k = 0; k < 4; k++) {
        v.hx[k] = half * stencil.hx[k];
        v.hy[k] = half * stencil.hy[k];
    }
    if (!pass.slow2) {
        v.alpha = fmaf(v.beta, pass.slow2_value, v.alpha);
        v.beta = 0;
    }
    v.ar = pass.coef[n];
    v.ai = a.conjugate ? -pass.coef[MIG_GPU_COEFS + n] : pass.coef[MIG_GPU_COEFS + n];
    v.out = smem + S::LINKS_AT + (level + 2) * S::LINK + SIDE + 4 * q;
    v.ring = smem + 4 * q;
    v.row = worker ? -2 * R - LAG * level : -(1 << 30);
    v.x = x;
    // Not the overlap with other tiles.
    const bool mine = x >= pass.first && x < pass.first + a.strip && x < a.plane.nx;
    v.target = !mine                         ? 0
               : level == m - 1              ? (pass.sponge ? 3 : 1)
               : level == m - 2 && pass.out2 ? 2
                                             : 0;
    return v;
}

__device__ __forceinline__ void add(float acc[4], float h, const float4 &v)
{
    acc[0] = fmaf(h, v.x, acc[0]);
    acc[1] = fmaf(h, v.y, acc[1]);
    acc[2] = fmaf(h, v.z, acc[2]);
    acc[3] = fmaf(h, v.w, acc[3]);
}

// A row that waits for its x arms, with four columns on either side.
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
}

__device__ __forceinline__ void mask(float4 &v, int columns)
{
    v.x = columns > 0 ? v.x : 0;
    v.y = columns > 1 ? v.y : 0;
    v.z = columns > 2 ? v.z : 0;
    v.w = columns > 3 ? v.w : 0;
}

__device__ __forceinline__ void damp(float4 &v, const float4 &g, float h)
{
    v.x *= h * g.x;
    v.y *= h * g.y;
    v.z *= h * g.z;
    v.w *= h * g.w;
}

// The closed row to the link (zeros outside the grid) and, for the last degrees, to memory.
template <int W, int PHASE>
__device__ __forceinline__ void emit(const MigGpuFused &a, const Pass &pass, Level &v,
                                     float4 out[2])
{
    typedef Shape<W> S;
    float *link = v.out + (PHASE & 3) * S::LINK_ROW;
    const bool here = (unsigned)v.row < (unsigned)a.plane.ny;
    if (!here || a.plane.nx - v.x < 4) {
        const int columns = here ? a.plane.nx - v.x : 0;
        mask(out[0], columns);
        mask(out[1], columns);
    }
    store4(link, out[0]);
    store4(link + S::HALF, out[1]);
    if (v.target && here) {
        if (v.target == 3) {
            const float4 g = load4(a.sponge_x + v.x);
            damp(out[0], g, a.sponge_y[v.row]);
            damp(out[1], g, a.sponge_y[v.row]);
        }
        // (A pointer out of shared memory may point anywhere, unless the store says that it does
        // not.)
        float *to = (v.target == 2 ? pass.out2 : pass.out1) + (size_t)v.row * a.plane.pitch + v.x;
        __stwb(reinterpret_cast<float4 *>(to), out[0]);
        __stwb(reinterpret_cast<float4 *>(to + (size_t)a.plane.ny * a.plane.pitch), out[1]);
    }
}

// A degree works from the step in which it opens row 0 until it has handed on four rows of zeros
// below the plane. While the pipeline fills and drains, the others have the multiprocessor for
// themselves.
template <int W, int PHASE>
__device__ __forceinline__ void step(const MigGpuFused &a, const Pass &pass, Loader &load,
                                     int &newest, Level &v, float (&acc)[8][2][4], Late &late)
{
    __pipeline_wait_prior(AHEAD - 1);
    __syncthreads();
    load.load<W, PHASE>(a.plane, newest);
    if ((unsigned)(v.row + 2 * R) < (unsigned)(a.plane.ny + 3 * R)) {
        float4 out[2];
        work<W, PHASE>(v, acc, late, out);
        emit<W, PHASE>(a, pass, v, out);
        v.ring += Shape<W>::RING_ROW;
        v.ring -= v.ring < rows_of_block() + Shape<W>::LINKS_AT ? 0 : Shape<W>::LINKS_AT;
    }
    v.row++;
}

// Shared memory holds zeros.
template <int W> __device__ void run_pass(const MigGpuFused &a, const Pass &pass, float *smem)
{
    Level v = make_level<W>(a, pass, smem);
    Loader load = make_loader<W>(a, pass, smem);
    int newest = (RING - 1) * Shape<W>::RING_ROW * 4;
    load.load<W, 5>(a.plane, newest);
    load.load<W, 6>(a.plane, newest);
    load.load<W, 7>(a.plane, newest);
    float acc[8][2][4] = {};
    Late late = {};
    // A few steps beyond the end write nothing.
    for (int left = a.plane.ny + 2 * R + LAG * (pass.degrees - 1); left > 0; left -= 8) {
        step<W, 0>(a, pass, load, newest, v, acc, late);
        step<W, 1>(a, pass, load, newest, v, acc, late);
        step<W, 2>(a, pass, load, newest, v, acc, late);
        step<W, 3>(a, pass, load, newest, v, acc, late);
        step<W, 4>(a, pass, load, newest, v, acc, late);
        step<W, 5>(a, pass, load, newest, v, acc, late);
        step<W, 6>(a, pass, load, newest, v, acc, late);
        step<W, 7>(a, pass, load, newest, v, acc, late);
    }
    __pipeline_wait_prior(0); // the next pass begins with zeros
}

template <int W>
__global__ void __launch_bounds__(2 * W, 256 / W)
    fused_kernel(const __grid_constant__ MigGpuFused a)
{
    Desk &desk = *reinterpret_cast<Desk *>(shared);
    float *smem = rows_of_block();
    if (threadIdx.x == 0)
        desk.next = atomicAdd(a.progress, 1);
    for (;;) {
        __syncthreads();
        const int ticket = desk.next;
        if (ticket >= a.n_tasks)
            return;
        __syncthreads();
        if (threadIdx.x == 0) {
            desk.next = atomicAdd(a.progress, 1);
            desk.pass = pass_of(a, ticket);
            await(a, desk.pass);
        }
        for (int k = 4 * threadIdx.x; k < Shape<W>::floats(a.degrees); k += 4 * blockDim.x)
            store4(smem + k, make_float4(0, 0, 0, 0));
        __syncthreads();
        run_pass<W>(a, desk.pass, smem);
        __syncthreads();
        if (threadIdx.x == 0)
            raise(desk.pass.done + desk.pass.strip, desk.pass.stage + 1);
    }
}

// Smallest class of block that holds so many quads.
int class_of(int quads)
{
    return quads <= 16 ? 64 : quads <= 32 ? 128 : 256;
}

} // namespace

size_t mig_gpu_fused_shared(int degrees, int quads)
{
    const int w = class_of(quads);
    return sizeof(Desk) + sizeof(float) * (w == 64    ? Shape<64>::floats(degrees)
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

void mig_gpu_fused_plan(int nx, int degrees, int beside, size_t shared, int *degrees_a_pass,
                        int *quads, int *strip)
{
    const int padded = (nx + 3) / 4 * 4;
    double best = 1e31;
    for (int m = 2; m <= MOST && m <= degrees; m++)
        for (int strips = 1; strips <= padded / 4; strips++) {
            int columns, width = width_of(padded, strips, 4 * m, &columns), q = width / 4;
            if (width > MAX_COLUMNS || mig_gpu_fused_shared(m, q) > shared)
                continue;
            double cost =
                cost_of(strips > beside ? strips : beside, width, (degrees + m - 1) / m, m);
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

int mig_gpu_fused_prepare(size_t shared)
{
    const cudaFuncAttribute most = cudaFuncAttributeMaxDynamicSharedMemorySize;
    int status = (int)cudaFuncSetAttribute(fused_kernel<64>, most, (int)shared);
    status = status ? status : (int)cudaFuncSetAttribute(fused_kernel<128>, most, (int)shared);
    return status ? status : (int)cudaFuncSetAttribute(fused_kernel<256>, most, (int)shared);
}

int mig_gpu_fused_blocks(int quads, int processors)
{
    return processors * (MAX_COLUMNS / class_of(quads));
}

int mig_gpu_fused(const MigGpuFused *args, int processors, cudaStream_t stream)
{
    MigGpuFused a = *args;
    const int w = class_of(a.quads), waves = a.n_sets * a.n_waves;
    a.stages = 0;
    for (int m = a.targets[0]; m < a.targets[1]; m++) {
        a.passes[m] = (a.degree[m] + a.degrees) / a.degrees;
        a.stages += a.passes[m];
    }
    a.n_tasks = waves * a.strips * a.stages * a.n_steps;
    const cudaError_t reset =
        cudaMemsetAsync(a.progress, 0, sizeof(int) * (1 + (size_t)waves * a.strips), stream);
    if (reset != cudaSuccess || a.n_tasks == 0)
        return (int)reset;
    // The loader takes seven threads a quad.
    const int threads = ((a.degrees > 7 ? a.degrees : 7) * a.quads + 31) / 32 * 32;
    // More than strips have nothing to do at the same time, and others may run on the card.
    const int room = mig_gpu_fused_blocks(a.quads, processors), tiles = waves * a.strips;
    const int blocks = tiles < room ? tiles : room;
    const size_t shared = mig_gpu_fused_shared(a.degrees, a.quads);
    if (w == 64)
        fused_kernel<64><<<blocks, threads, shared, stream>>>(a);
    else if (w == 128)
        fused_kernel<128><<<blocks, threads, shared, stream>>>(a);
    else
        fused_kernel<256><<<blocks, threads, shared, stream>>>(a);
    return (int)cudaGetLastError();
}
