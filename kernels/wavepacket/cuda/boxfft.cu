// SPDX-License-Identifier: GPL-3.0-or-later
//
// The transforms of all boxes, in place and without a plan of cuFFT for each of their sizes, which
// a move of the directions would wait for: of a box's planes (axes 2 and 3), then of its columns
// (axis 1). Memory sees the coefficients twice, and launches are few.
//
// Stockham's passes of radices 2 to 16: a thread reads R numbers, one product of the length apart,
// turns and transforms them, and writes them where the next pass finds them. The first pass of a
// kernel reads device memory and the last one writes it; what lies between passes lies in one of
// two pieces of shared memory in turn.
#include "kernels/wavepacket/cuda/dft.cuh"
#include "kernels/wavepacket/cuda/threshold.cuh"

namespace
{

// Radices of passes: dft<R>() knows them.
#define FOR_EACH_RADIX(DO)                                                                         \
    DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(12) DO(14) DO(15) DO(16)

enum { MOST_PASSES = 16 }; // of both axes of a plane

// One pass, as a block's threads find it in shared memory. x / by is the upper half of x times the
// factor of `by` where x * by < 2^32; a factor of 0 stands for 1.
struct Pass {
    int radix, done, each, turn; // its butterflies: turned by multiples of turn / n
    unsigned by_done, by_each;
};

DEV unsigned factor_of(unsigned by)
{
    return by == 1 ? 0 : 0xffffffffu / by + 1;
}

DEV unsigned quotient(unsigned x, unsigned factor)
{
    return factor ? __umulhi(x, factor) : x;
}

DEV int radix_at(uint32_t radices, int pass)
{
    return (int)(radices >> 4 * pass & 15) + 1;
}

// One thread a pass of an axis of n points; `to` has room for its passes.
DEV void describe_passes(uint32_t radices, int passes, int n, int thread, Pass *to)
{
    if (thread < 0 || thread >= passes)
        return;
    Pass p = {radix_at(radices, thread), 1, 0, 0, 0, 0};
    for (int k = 0; k < thread; k++)
        p.done *= radix_at(radices, k);
    p.each = n / p.radix;
    p.turn = p.each / p.done;
    p.by_done = factor_of(p.done);
    p.by_each = factor_of(p.each);
    to[thread] = p;
}

// The boxes of one size that block `block` works on. All threads together.
DEV const WpDevFft &find_boxes(const WpDevFft *list, int n, int block)
{
    int at = -1;
    for (int first = 0; first < n; first += WP_WARP) {
        const int i = first + (int)(threadIdx.x % WP_WARP);
        at += __popc(__ballot_sync(~0u, i < n && list[min(i, n - 1)].first_block <= block));
    }
    return list[at];
}

// roots[k] = exp(SIGN 2 pi i k / n).
template <int SIGN> DEV void make_roots(float2 *roots, int n)
{
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        sincospif(SIGN * 2.0f * k / n, &roots[k].y, &roots[k].x);
}

extern __shared__ float2 space[];

// Memory that a pass reads or writes: on the device, or (NULL) shared memory from `at` on; `pitch`
// from row to row.
struct End {
    float2 *memory;
    int at, pitch;
};

struct Ends {
    End from, to;
};

// A threshold of what is read from the device: its level (less than 0: none), and how many have
// stayed of what this thread has read.
struct Threshold {
    float level;
    bool drops;
    unsigned kept;
};

DEV float2 thresholded(float2 v, Threshold *t)
{
    const bool here = stays(v.x, v.y, t->level);
    t->kept += here && (v.x != 0 || v.y != 0);
    return here != t->drops ? v : make_float2(0, 0);
}

// R numbers, step_from from one to the next, turned by multiples of `root` and transformed.
template <int R, int SIGN, bool RULE>
DEV void butterfly(const Ends &e, int from, int step_from, int to, int step_to, int roots, int root,
                   Threshold *t)
{
    float2 x[R];
    if (e.from.memory) {
#pragma unroll
        for (int r = 0; r < R; r++)
            x[r] = e.from.memory[from + r * step_from];
        if (RULE && t->level >= 0) {
#pragma unroll
            for (int r = 0; r < R; r++)
                x[r] = thresholded(x[r], t);
        }
    } else {
#pragma unroll
        for (int r = 0; r < R; r++)
            x[r] = space[e.from.at + from + r * step_from];
    }
    if (root > 0) {
#pragma unroll
        for (int r = 1; r < R; r++)
            x[r] = times(x[r], space[roots + r * root]);
    }
    dft<R, SIGN>(x);
    if (e.to.memory) {
#pragma unroll
        for (int r = 0; r < R; r++)
            e.to.memory[to + r * step_to] = x[r];
    } else {
#pragma unroll
        for (int r = 0; r < R; r++)
            space[e.to.at + to + r * step_to] = x[r];
    }
}

// The ends of pass k of `passes` from `source` to `here` with rows of `length`, through two pieces
// of `size` at `at`.
DEV Ends ends_of(int k, int passes, float2 *source, float2 *here, int length, int at, int size,
                 int pitch)
{
    Ends e = {{NULL, at + (k + 1) % 2 * size, pitch}, {NULL, at + k % 2 * size, pitch}};
    if (k == 0)
        e.from = {source, 0, length};
    if (k == passes - 1)
        e.to = {here, 0, length};
    return e;
}

// --- planes --------------------------------------------------------------------------------------

// A block's planes, `planes` of them behind each other. In shared memory rows have an odd length,
// so that neighbouring rows lie in different banks.
struct Planes {
    int n2, n3, planes;
    unsigned by_n3, by_rows;
};

// Along axis 2: lanes take neighbouring samples of a row.
template <int R, int SIGN, bool RULE>
DEV void pass_down(const Planes &p, const Ends &e, const Pass &pass, int roots, Threshold *t)
{
    const int each = pass.each, done = pass.done, items = p.planes * each * p.n3;
    for (int b = threadIdx.x; b < items; b += blockDim.x) {
        const int at = quotient(b, p.by_n3), column = b - at * p.n3;
        const int plane = quotient(at, pass.by_each), j = at - plane * each;
        const int k = j - quotient(j, pass.by_done) * done;
        const int row = plane * p.n2;
        butterfly<R, SIGN, RULE>(e, (row + j) * e.from.pitch + column, each * e.from.pitch,
                                 (row + (j - k) * R + k) * e.to.pitch + column, done * e.to.pitch,
                                 roots, k * pass.turn, t);
    }
}

// Along axis 3. Lanes take neighbouring rows, in the last pass neighbouring samples: those of a
// butterfly lie apart there before and after it.
template <int R, int SIGN, bool RULE>
DEV void pass_along(const Planes &p, const Ends &e, const Pass &pass, int roots, Threshold *t)
{
    const int rows = p.planes * p.n2, each = pass.each, done = pass.done;
    const int inner = each == done ? each : rows;
    const unsigned by = each == done ? pass.by_each : p.by_rows;
    for (int b = threadIdx.x; b < rows * each; b += blockDim.x) {
        const int slow = quotient(b, by), fast = b - slow * inner;
        const int row = each == done ? slow : fast, j = each == done ? fast : slow;
        const int k = j - quotient(j, pass.by_done) * done;
        butterfly<R, SIGN, RULE>(e, row * e.from.pitch + j, each,
                                 row * e.to.pitch + (j - k) * R + k, done, roots, k * pass.turn, t);
    }
}

template <int R, int SIGN, bool RULE>
DEV void plane_pass(const Planes &p, bool down, const Ends &e, const Pass &pass, Threshold *t)
{
    if (down)
        pass_down<R, SIGN, RULE>(p, e, pass, 0, t);
    else
        pass_along<R, SIGN, RULE>(p, e, pass, p.n2, t);
}

template <int SIGN, bool RULE>
__global__ void __launch_bounds__(512, 2)
    planes_kernel(const WpDevFft *list, int n_list, float2 *data,
                  const __grid_constant__ WpDevRule rule)
{
    __shared__ Pass pass[MOST_PASSES];
    __shared__ unsigned factors[2];
    const WpDevFft &f = find_boxes(list, n_list, blockIdx.x);
    const int block = blockIdx.x - f.first_block, box = block / f.blocks;
    const int first = (block - box * f.blocks) * f.share, down = f.passes[1];
    const int passes = down + f.passes[2], pitch = f.n[2] | 1, size = f.share * f.n[1] * pitch;
    Planes p = {f.n[1], f.n[2], min(f.share, f.n[0] - first), 0, 0};
    const int64_t offset = f.at + (int64_t)box * f.distance + (int64_t)first * p.n2 * p.n3;
    const int number = f.first_box + box;
    const bool ruled = RULE && number >= rule.first;
    Threshold t = {ruled ? fmaxf(rule.level[number], 0) : -1, rule.drops != 0, 0};
    float2 *here = data + offset, *source = ruled ? const_cast<float2 *>(rule.x) + offset : here;
    make_roots<SIGN>(space, p.n2);
    make_roots<SIGN>(space + p.n2, p.n3);
    describe_passes(f.radices[1], down, p.n2, threadIdx.x, pass);
    describe_passes(f.radices[2], f.passes[2], p.n3, threadIdx.x - down, pass + down);
    if (threadIdx.x < 2)
        factors[threadIdx.x] = factor_of(threadIdx.x ? p.planes * p.n2 : p.n3);
    for (int k = 0; k < passes; k++) {
        const Ends e = ends_of(k, passes, source, here, p.n3, p.n2 + p.n3, size, pitch);
        __syncthreads();
        p.by_n3 = factors[0];
        p.by_rows = factors[1];
        switch (pass[k].radix) {
#define PASS(R)                                                                                    \
    case R:                                                                                        \
        plane_pass<R, SIGN, RULE>(p, k < down, e, pass[k], &t);                                    \
        break;
            FOR_EACH_RADIX(PASS)
#undef PASS
        }
    }
    if (RULE) {
        for (int d = WP_WARP / 2; d > 0; d /= 2)
            t.kept += __shfl_down_sync(~0u, t.kept, d);
        if (threadIdx.x % WP_WARP == 0 && t.kept > 0)
            atomicAdd(&rule.kept[number], (unsigned long long)t.kept);
    }
}

// --- columns -------------------------------------------------------------------------------------

// This thread's column, its first butterfly and from there to the next.
struct Column {
    int n, at, j, step;
};

template <int R, int SIGN> DEV void column_pass(const Column &c, const Ends &e, const Pass &pass)
{
    const int each = pass.each, done = pass.done;
    for (int j = c.j; j < each; j += c.step) {
        const int k = j - quotient(j, pass.by_done) * done;
        butterfly<R, SIGN, false>(e, j * e.from.pitch + c.at, each * e.from.pitch,
                                  ((j - k) * R + k) * e.to.pitch + c.at, done * e.to.pitch, 0,
                                  k * pass.turn, NULL);
    }
}

template <int SIGN>
__global__ void __launch_bounds__(512, 2)
    columns_kernel(const WpDevFft *list, int n_list, float2 *data,
                   const __grid_constant__ WpDevRule)
{
    __shared__ Pass pass[MOST_PASSES];
    const WpDevFft &f = find_boxes(list, n_list, blockIdx.x);
    const int block = blockIdx.x - f.first_block, box = block / f.blocks, width = f.share;
    const int first = (block - box * f.blocks) * width, all = f.n[1] * f.n[2];
    const int at = threadIdx.x & (width - 1), n = f.n[0];
    const Column c = {n, at, (int)threadIdx.x / width, (int)blockDim.x / width};
    float2 *here = data + f.at + (int64_t)box * f.distance + first;
    make_roots<SIGN>(space, n);
    describe_passes(f.radices[0], f.passes[0], n, threadIdx.x, pass);
    for (int k = 0; k < f.passes[0]; k++) {
        const Ends e = ends_of(k, f.passes[0], here, here, all, n, n * width, width);
        __syncthreads();
        switch (first + at < all ? pass[k].radix : 0) {
#define PASS(R)                                                                                    \
    case R:                                                                                        \
        column_pass<R, SIGN>(c, e, pass[k]);                                                       \
        break;
            FOR_EACH_RADIX(PASS)
#undef PASS
        }
    }
}

template <typename Kernel> int launch(Kernel kernel, const WpFftLaunch *l, const WpDevFft *list,
                                      const WpDevRule *rule, float2 *c, cudaStream_t stream)
{
    const WpDevRule none = {NULL, NULL, NULL, 0, 0};
    if (l->shared > 48 * 1024) {
        const cudaError_t status =
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, l->shared);
        if (status != cudaSuccess)
            return (int)status;
    }
    kernel<<<l->blocks, l->threads, l->shared, stream>>>(list + l->first, l->n, c,
                                                         rule ? *rule : none);
    return (int)cudaGetLastError();
}

} // namespace

int wp_cuda_box_fft(const WpFftLaunch *l, const WpDevFft *list, int sign, const WpDevRule *rule,
                    float2 *c, cudaStream_t stream)
{
    if (l->columns)
        return sign < 0 ? launch(columns_kernel<-1>, l, list, NULL, c, stream)
                        : launch(columns_kernel<1>, l, list, NULL, c, stream);
    if (rule && sign < 0)
        return launch(planes_kernel<-1, true>, l, list, rule, c, stream);
    return sign < 0 ? launch(planes_kernel<-1, false>, l, list, NULL, c, stream)
                    : launch(planes_kernel<1, false>, l, list, NULL, c, stream);
}
