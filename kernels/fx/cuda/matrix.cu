// SPDX-License-Identifier: GPL-3.0-or-later
//
// The normal equations of every system: one block of threads a system (fx.md section 4).
//
// M = Re(V^H V) with 2 x 400 rows of 49 would cost 9.8e5 fused multiply-adds for a 20 x 20 window
// and a 7 x 7 block. Its entries are sums of conj(s(p + a)) s(p + b) over the design points p, and
// for a given lag b - a the sums of all shifts a are box sums of one set of products. So, per lag,
// products are formed once, columns of them are summed for all shifts along the inline (one thread
// a column, products in registers), then those sums along the crossline. Borders and core are
// added, never subtracted. 2.0e5 multiply-adds and 5e4 additions a system, 5.4 kB read, 4.9 kB
// written.
#include <cuda_pipeline.h>

#include "kernels/fx/cuda/equations.cuh"

// Design points along an axis of the default window, and beside the survey's edge.
enum { USUAL = 20, EDGE = 17 };

// --- box sums -----------------------------------------------------------------------------------

// Crossline lags in the order 0, -1, 1, -2, 2, ...: long columns first.
__device__ static inline int lag_number(int k)
{
    return k % 2 ? -(k + 1) / 2 : k / 2;
}

// Column `x` of the tile against column `x + lag`: for every inline lag l and shift j,
// sums[l, j] = sum over rows r = j .. j + n - 1 of conj(s(r, x)) s(r + l, x + lag).
// N: number of rows of the sums when known at compile time, else 0. The core is a loop, for the
// instructions of a column without one are more than a multiprocessor keeps near: warps waited for
// them.
template <int H, int N>
__device__ static void column_sums(const float2 *tile, int width, int any_n, int x, int lag,
                                   float2 *sums, int pitch)
{
    constexpr int M = 2 * H, UNROLL = M + 1; // M + 1 rows later the ring is where it was
    const int n = N ? N : any_n;
    const float2 *a = tile + x, *b = tile + x + lag;
    float2 out[(M + 1) * (M + 2) / 2], ring[M + 1], acc[M + 1];
    {
        float2 head_a[M], head_b[2 * M];
#pragma unroll
        for (int r = 0; r < M; r++)
            head_a[r] = a[r * width];
#pragma unroll
        for (int r = 0; r < 2 * M; r++)
            head_b[r] = b[r * width];
        int at = 0;
#pragma unroll
        for (int l = 0; l <= M; l++) { // rows before the common core, from its border outwards
            float2 run = make_float2(0, 0);
#pragma unroll
            for (int r = M - 1; r >= 0; r--) {
                run = correlate(run, head_a[r], head_b[r + l]);
                if (r <= M - l)
                    out[at + r] = run;
            }
            if (l == 0)
                out[at + M] = make_float2(0, 0);
            at += M + 1 - l;
        }
#pragma unroll
        for (int l = 0; l < M; l++)
            ring[l] = head_b[M + l];
    }
#pragma unroll
    for (int l = 0; l <= M; l++)
        acc[l] = make_float2(0, 0);
#pragma unroll UNROLL
    for (int r = M; r < n; r++) { // the core
        const float2 v = a[r * width];
        ring[M] = b[(r + M) * width];
#pragma unroll
        for (int l = 0; l <= M; l++)
            acc[l] = correlate(acc[l], v, ring[l]);
#pragma unroll
        for (int l = 0; l < M; l++)
            ring[l] = ring[l + 1];
    }
    int at = 0;
#pragma unroll
    for (int l = 0; l <= M; l++) {
        sums[at * pitch] = out[at] + acc[l];
        at += M + 1 - l;
    }
#pragma unroll
    for (int s = 0; s < M; s++) { // rows behind the core, one more a shift
        const float2 v = a[(n + s) * width];
        at = 0;
#pragma unroll
        for (int l = 0; l <= M; l++) {
            if (s + 1 <= M - l) {
                // ring[l] is row n + s + l: rows past the tile are never asked for.
                acc[l] = correlate(acc[l], v, ring[s + l]);
                sums[(at + s + 1) * pitch] = out[at + s + 1] + acc[l];
            }
            at += M + 1 - l;
        }
    }
}

// Sums of one inline lag and shift along the crossline, for the SHIFTS shifts there.
template <int SHIFTS, int N>
__device__ static void row_of(const float2 *sums, int any_n, float2 *cov)
{
    const int n = N ? N : any_n;
    float2 core = make_float2(0, 0), out[SHIFTS];
#pragma unroll
    for (int k = SHIFTS - 1; k < n; k++)
        core = core + sums[k];
    float2 run = make_float2(0, 0);
    out[SHIFTS - 1] = core;
#pragma unroll
    for (int s = SHIFTS - 2; s >= 0; s--) {
        run = run + sums[s];
        out[s] = core + run;
    }
    run = make_float2(0, 0);
    cov[0] = out[0];
#pragma unroll
    for (int s = 1; s < SHIFTS; s++) {
        run = run + sums[n + s - 1];
        cov[s] = out[s] + run;
    }
}

template <int N, int SHIFTS>
__device__ static void rows_of(int shifts, const float2 *sums, int n, float2 *cov)
{
    if (shifts == SHIFTS)
        row_of<SHIFTS, N>(sums, n, cov);
    else if constexpr (SHIFTS > 1)
        rows_of<N, SHIFTS - 1>(shifts, sums, n, cov);
}

// Shared memory of box_kernel, in the order of its layout; all but `pitch` in bytes.
struct BoxLayout {
    int tile, cov, sums, columns; // two tiles
    int pitch;                    // columns a round has room for
};

// Tables for the blocks of box_kernel, which would else work them out for every system.
template <int H> struct BoxTables {
    int from[4 * H + 2]; // first column of each crossline lag, and the end
    unsigned char shape[(2 * H + 1) * (2 * H + 2)]; // inline lag and shift of each sum of a column
    float most[THREADS / 32];
};

template <int H>
__device__ static void fill_tables(BoxTables<H> *tables, unsigned short *columns, int width)
{
    constexpr int M = 2 * H;
    int from = 0;
    for (int k = 0; k <= 2 * M; k++) {
        const int n = width - abs(lag_number(k));
        if (threadIdx.x == 0)
            tables->from[k] = from;
        for (int x = threadIdx.x; x < n; x += THREADS)
            columns[from + x] = (unsigned short)k;
        from += n;
    }
    if (threadIdx.x == 0) {
        tables->from[2 * M + 1] = from;
        for (int l = 0, at = 0; l <= M; l++)
            for (int j = 0; j <= M - l; j++, at++) {
                tables->shape[2 * at] = (unsigned char)l;
                tables->shape[2 * at + 1] = (unsigned char)j;
            }
    }
}

// Walks this thread's share of a box of height x width: number in the box, row, column.
struct Walk {
    int k, il, xl, down, across, width;

    __device__ Walk(int w)
        : k(threadIdx.x), il(threadIdx.x / w), xl(threadIdx.x % w), down(THREADS / w),
          across(THREADS % w), width(w)
    {
    }
    __device__ void next()
    {
        k += THREADS;
        il += down;
        xl += across;
        if (xl >= width) {
            xl -= width;
            il++;
        }
    }
};

// Sends for the traces of the blocks; each thread's own have arrived after
// __pipeline_wait_prior(0).
__device__ static void fetch_box(Source source, int il0, int xl0, int height, int width,
                                 float2 *tile)
{
    for (Walk w(width); w.k < height * width; w.next())
        __pipeline_memcpy_async(tile + w.k,
                                source.at + (long long)(il0 + w.il) * source.pitch + xl0 + w.xl,
                                sizeof(float2));
    __pipeline_commit();
}

// Waits for them, and scales them when their squares would leave the range of single precision. The
// scale.
__device__ static float await_box(int n, float2 *tile, float *most)
{
    float largest = 0;
    __pipeline_wait_prior(0);
    for (int k = threadIdx.x; k < n; k += THREADS)
        largest = fmaxf(largest, fmaxf(fabsf(tile[k].x), fabsf(tile[k].y)));
    largest = block_max(largest, most);
    if (largest > 1e-12f && largest < 1e12f)
        return 1;
    const float scale = scale_for(largest);
    for (int k = threadIdx.x; k < n; k += THREADS)
        tile[k] = make_float2(scale * tile[k].x, scale * tile[k].y);
    __syncthreads();
    return scale;
}

// All covariances: columns for as many crossline lags as have room, then rows.
template <int H>
__device__ static void box_sums(const float2 *tile, int n_il, int n_xl, const BoxTables<H> &tables,
                                const unsigned short *columns, float2 *sums, int pitch, float2 *cov)
{
    constexpr int M = 2 * H, W = M + 1, COMBOS = (M + 1) * (M + 2) / 2, SIZE = W * W;
    const int width = n_xl + M;
    for (int k = 0; k <= 2 * M;) {
        int last = k;
        while (last <= 2 * M && tables.from[last + 1] - tables.from[k] <= pitch)
            last++;
        const int first = tables.from[k], count = tables.from[last] - first;
        for (int task = threadIdx.x; task < count; task += THREADS) {
            const int number = columns[first + task], lag = lag_number(number);
            const int x = first + task - tables.from[number] + (lag < 0 ? -lag : 0);
            if (n_il == USUAL)
                column_sums<H, USUAL>(tile, width, n_il, x, lag, sums + task, pitch | 1);
            else if (n_il == EDGE)
                column_sums<H, EDGE>(tile, width, n_il, x, lag, sums + task, pitch | 1);
            else
                column_sums<H, 0>(tile, width, n_il, x, lag, sums + task, pitch | 1);
        }
        __syncthreads();
        // A lag a warp: all its rows have as many shifts. Inline lag 0 for lags >= 0 only: the other
        // half are conjugates.
        for (int number = k + threadIdx.x / 32; number < last; number += THREADS / 32) {
            const int lag = lag_number(number);
            for (int combo = threadIdx.x % 32 + (lag < 0 ? W : 0); combo < COMBOS; combo += 32) {
                const int l = tables.shape[2 * combo], j = tables.shape[2 * combo + 1];
                const float2 *own = sums + combo * (pitch | 1) + tables.from[number] - first;
                float2 *to = cov + lag_at(SIZE, l * W + lag) + j * W + (lag < 0 ? -lag : 0);
                if (n_xl == USUAL)
                    rows_of<USUAL, W>(W - abs(lag), own, n_xl, to);
                else
                    rows_of<0, W>(W - abs(lag), own, n_xl, to);
            }
        }
        __syncthreads();
        k = last;
    }
}

template <int H>
__global__ void __launch_bounds__(THREADS, H <= 3 ? 4 : 2)
    box_kernel(LithoFxGroup g, BoxLayout layout, int pass)
{
    constexpr int W = 2 * H + 1, SIZE = W * W;
    extern __shared__ float4 shared[];
    __shared__ BoxTables<H> tables;
    float2 *tile = (float2 *)shared, *next = (float2 *)((char *)shared + layout.tile);
    float2 *cov = (float2 *)((char *)next + layout.tile);
    float2 *sums = (float2 *)((char *)cov + layout.cov);
    unsigned short *columns = (unsigned short *)((char *)sums + layout.sums);
    constexpr int rounded = (SIZE + 3) / 4 * 4;
    float *matrix = (float *)sums, *scratch = matrix + litho_fx_packed_size(rounded);

    const int spot = blockIdx.x;
    const LithoFxSpot s = g.spots[spot];
    if (g.updates && pass > 0 && s.few > 0)
        return; // litho_fx_update()
    const int n_il = s.c_il1 - s.c_il0, n_xl = s.c_xl1 - s.c_xl0;
    const int height = n_il + 2 * H, width = n_xl + 2 * H;
    const int first = blockIdx.y * BINS, end = min(first + BINS, g.bins);
    fetch_box(source_of(g, s, first, pass), s.c_il0 - H, s.c_xl0 - H, height, width, tile);
    fill_tables<H>(&tables, columns, width);
    for (int bin = first; bin < end; bin++) {
        const float scale = await_box(height * width, tile, tables.most);
        if (threadIdx.x == 0 && (g.updates || g.lags))
            g.scales[system_of(g, spot, bin)] = scale;
        if (bin + 1 < end) // while this one is worked on
            fetch_box(source_of(g, s, bin + 1, pass), s.c_il0 - H, s.c_xl0 - H, height, width,
                      next);
        const bool poor = 2 * s.missing > n_il * n_xl;
        if (poor) {
            clear(matrix, rounded);
        } else {
            box_sums<H>(tile, n_il, n_xl, tables, columns, sums, layout.pitch, cov);
            assemble<SIZE>(Covariances{cov, SIZE}, SIZE, matrix);
            __syncthreads();
        }
        if (s.missing > 0) { // the equations that are there, or less those that are not
            const Source box = {tile - (s.c_il0 - H) * width - (s.c_xl0 - H), width};
            add_equations(g, s, box, 1, poor, poor ? 1 : -1, matrix, scratch);
        }
        __syncthreads();
        store(g, spot, bin, matrix);
        __syncthreads();
        float2 *const swap = tile;
        tile = next;
        next = swap;
    }
}

// --- any shape ----------------------------------------------------------------------------------

// Biased autocorrelation over the window, one warp a lag, as Autocorrelations has it.
__device__ static void autocorrelation(const LithoFxGroup &g, const LithoFxSpot &s, Source source,
                                       float scale, float2 *cov)
{
    const int width = 2 * g.half_xl + 1, height = 2 * g.half_il + 1;
    const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    const int lags = width + (height - 1) * (2 * width - 1);
    for (int k = threadIdx.x / 32; k < lags; k += warps) {
        const int l_il = k < width ? 0 : 1 + (k - width) / (2 * width - 1);
        const int l_xl = k < width ? k : (k - width) % (2 * width - 1) - (width - 1);
        const int first = l_xl < 0 ? -l_xl : 0, n = s.n_xl - abs(l_xl);
        float2 sum = make_float2(0, 0);
        for (int p = lane; p < (s.n_il - l_il) * n && n > 0; p += 32) {
            const int il = s.il0 + p / n, xl = s.xl0 + first + p % n;
            float2 a = source(il, xl), b = source(il + l_il, xl + l_xl);
            sum = correlate(sum, make_float2(scale * a.x, scale * a.y),
                            make_float2(scale * b.x, scale * b.y));
        }
        for (int i = 16; i > 0; i /= 2) {
            sum.x += __shfl_xor_sync(0xffffffffu, sum.x, i);
            sum.y += __shfl_xor_sync(0xffffffffu, sum.y, i);
        }
        if (lane == 0)
            cov[l_il * (2 * width - 1) + l_xl + width - 1] = sum;
    }
    __syncthreads();
}

__device__ static float largest_of(const LithoFxSpot &s, Source source, int il0, int il1, int xl0,
                                   int xl1, float *shared)
{
    float largest = 0;
    const int width = xl1 - xl0;
    for (int k = threadIdx.x; k < (il1 - il0) * width; k += blockDim.x) {
        const float2 v = source(il0 + k / width, xl0 + k % width);
        largest = fmaxf(largest, fmaxf(fabsf(v.x), fabsf(v.y)));
    }
    return block_max(largest, shared);
}

// Equation by equation: for blocks that are not square, windows narrower than two blocks, windows
// that outgrow shared memory, and the acf form. About eight times slower than box_kernel.
__global__ void __launch_bounds__(THREADS) any_kernel(LithoFxGroup g, int pass)
{
    extern __shared__ float4 shared[];
    __shared__ float most[THREADS / 32];
    float *matrix = (float *)shared;
    float *scratch = matrix + litho_fx_packed_size(litho_fx_round4(g.size));
    const int spot = blockIdx.x, bin = blockIdx.y;
    const LithoFxSpot s = g.spots[spot];
    const Source source = source_of(g, s, bin, pass);
    float scale;
    if (g.form == LITHO_FX_ACF) {
        float2 *cov = (float2 *)scratch;
        scale =
            scale_for(largest_of(s, source, s.il0, s.il0 + s.n_il, s.xl0, s.xl0 + s.n_xl, most));
        autocorrelation(g, s, source, scale, cov);
        assemble<0>(Autocorrelations{cov, 2 * g.half_xl + 1}, g.size, matrix);
    } else {
        scale =
            scale_for(largest_of(s, source, s.c_il0 - g.half_il, s.c_il1 + g.half_il,
                                 s.c_xl0 - g.half_xl, s.c_xl1 + g.half_xl, most));
        clear(matrix, litho_fx_round4(g.size));
        add_equations(g, s, source, scale, true, 1, matrix, scratch);
    }
    if (threadIdx.x == 0 && g.lags)
        g.scales[system_of(g, spot, bin)] = scale;
    __syncthreads();
    store(g, spot, bin, matrix);
}

// --- launchers ----------------------------------------------------------------------------------

static int round_up(int n, int to)
{
    return (n + to - 1) / to * to;
}

template <int H>
static int launch_box(const LithoFxGroup *g, BoxLayout layout, int pass, cudaStream_t stream)
{
    const int bytes = 2 * layout.tile + layout.cov + layout.sums + layout.columns;
    cudaError_t status =
        cudaFuncSetAttribute(box_kernel<H>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (status != cudaSuccess)
        return (int)status;
    box_kernel<H><<<dim3(g->n_spots, (g->bins + BINS - 1) / BINS), THREADS, bytes, stream>>>(
        *g, layout, pass);
    return (int)cudaGetLastError();
}

static int launch_any(const LithoFxGroup *g, int pass, cudaStream_t stream)
{
    const int rounded = litho_fx_round4(g->size);
    const int scratch =
        g->form == LITHO_FX_ACF ? 4 * g->size : equations_floats(rounded); // not 2 lags a trace
    const int bytes = 4 * (litho_fx_packed_size(rounded) + scratch);
    cudaError_t status =
        cudaFuncSetAttribute(any_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (status != cudaSuccess)
        return (int)status;
    any_kernel<<<dim3(g->n_spots, g->bins), THREADS, bytes, stream>>>(*g, pass);
    return (int)cudaGetLastError();
}

// Rounds of box_sums() for blocks of traces `width` wide.
static int rounds(int h, int width, int pitch)
{
    int n = 1, count = 0;
    for (int k = 0; k <= 4 * h; k++) {
        const int columns = width - (k + 1) / 2;
        n += count + columns > pitch;
        count = count + columns > pitch ? columns : count + columns;
    }
    return n;
}

static int layout_of(int h, int max_il, int max_xl, BoxLayout *layout)
{
    const int size = (2 * h + 1) * (2 * h + 1), packed = size * (size + 1) / 2;
    const int combos = (2 * h + 1) * (2 * h + 2) / 2, width = max_xl + 2 * h;
    layout->tile = round_up(8 * (max_il + 2 * h) * width, 16);
    layout->cov = round_up(8 * packed, 16);
    layout->pitch = width > THREADS ? width : THREADS;
    // The narrowest pitch that makes no further round leaves room for a fourth block.
    while (layout->pitch > width &&
           rounds(h, width, layout->pitch - 1) == rounds(h, width, layout->pitch))
        layout->pitch--;
    layout->sums = round_up(8 * combos * (layout->pitch | 1), 16);
    const int rounded = litho_fx_round4(size);
    const int least = 4 * (litho_fx_packed_size(rounded) + equations_floats(rounded));
    layout->sums = layout->sums > least ? layout->sums : round_up(least, 16);
    layout->columns = round_up(2 * (4 * h + 1) * width, 16);
    return 2 * layout->tile + layout->cov + layout->sums + layout->columns;
}

int litho_fx_box_serves(int half_il, int half_xl, int form, int max_il, int max_xl,
                        int shared_limit)
{
    BoxLayout layout;
    // 2 kB stay for what the kernel has beside this.
    return half_il == half_xl && max_il >= 0 && max_xl >= 0 && form != LITHO_FX_ACF &&
           layout_of(half_il, max_il, max_xl, &layout) + 2048 <= shared_limit;
}

// `max_il`, `max_xl`: largest numbers of design points along the axes in the group, negative when
// some window has fewer than 2 half + 1 of them.
int litho_fx_matrix(const LithoFxGroup *g, int max_il, int max_xl, int pass, int shared_limit,
                    cudaStream_t stream)
{
    const int h = g->half_il;
    BoxLayout layout;
    if (!litho_fx_box_serves(h, g->half_xl, g->form, max_il, max_xl, shared_limit))
        return launch_any(g, pass, stream);
    layout_of(h, max_il, max_xl, &layout);
    switch (h) {
    case 1:
        return launch_box<1>(g, layout, pass, stream);
    case 2:
        return launch_box<2>(g, layout, pass, stream);
    case 3:
        return launch_box<3>(g, layout, pass, stream);
    case 4:
        return launch_box<4>(g, layout, pass, stream);
    default:
        return launch_box<5>(g, layout, pass, stream);
    }
}
