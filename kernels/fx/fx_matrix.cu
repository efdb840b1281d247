// SPDX-License-Identifier: GPL-3.0-or-later
//
// The normal equations of every system: one block of threads a system (fx.md section 4).
//
// M = Re(V^H V) with 2 x 400 rows of 49 would cost 9.8e5 fused multiply-adds for a 20 x 20 window
// and a 7 x 7 block. Its entries are sums of conj(s(p + a)) s(p + b) over the design points p, and
// for a given lag b - a the sums of all shifts a are box sums of one set of products. So, per lag,
// products are formed once, columns of them are summed for all shifts along the inline (one thread a
// column, products in registers), then those sums along the crossline. Borders and core are added,
// never subtracted. 2.0e5 multiply-adds and 5e4 additions a system, 5.4 kB read, 4.9 kB written.
#include "kernels/fx/fx_device.cuh"

enum { THREADS = 160, BATCH = 8, MAX_SIZE = (2 * LITHO_FX_MAX_HALF + 1) * (2 * LITHO_FX_MAX_HALF + 1) };

__device__ static inline float2 operator+(float2 a, float2 b)
{
    return make_float2(a.x + b.x, a.y + b.y);
}

// sum + conj(a) b
__device__ static inline float2 correlate(float2 sum, float2 a, float2 b)
{
    sum.x = fmaf(a.x, b.x, sum.x);
    sum.y = fmaf(a.x, b.y, sum.y);
    sum.x = fmaf(a.y, b.y, sum.x);
    sum.y = fmaf(-a.y, b.x, sum.y);
    return sum;
}

__device__ static inline int packed_rows(int a, int b) // a <= b
{
    return b * (b + 1) / 2 + a;
}

// --- shared pieces ------------------------------------------------------------------------------

__device__ static float block_max(float value, float *shared)
{
    for (int k = 16; k > 0; k /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, k));
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = value;
    __syncthreads();
    value = shared[0];
    for (int k = 1; k < (blockDim.x + 31) / 32; k++)
        value = fmaxf(value, shared[k]);
    __syncthreads();
    return value;
}

// The power of two that brings the largest spectrum to [1, 2); 0 when there is nothing.
__device__ static inline float scale_for(float largest)
{
    return largest > 1e-30f ? __uint_as_float((254u << 23) - (__float_as_uint(largest) & 0x7f800000u))
                            : 0.0f;
}

// From covariances cov[packed_rows(a, b)] to the real matrix in the unknowns u_1, v_1, ..., e.
__device__ static float2 both_ways(const float2 *cov, int size, int a, int b)
{
    float2 f = cov[packed_rows(a, b)], r = cov[packed_rows(size - 1 - b, size - 1 - a)];
    return make_float2(f.x + r.x, f.y + r.y);
}

__device__ static void assemble(const float2 *cov, int size, float *matrix)
{
    const int c = size / 2;
    for (int t = threadIdx.x; t < c * (c + 1) / 2; t += blockDim.x) {
        int q, p;
        triangle(t, &q, &p);
        const float2 near = both_ways(cov, size, c + p + 1, c + q + 1);
        const float2 far = both_ways(cov, size, c - q - 1, c + p + 1);
        matrix[litho_fx_packed(size, 2 * q, 2 * p)] = 0.5f * (near.x + far.x);
        matrix[litho_fx_packed(size, 2 * q + 1, 2 * p + 1)] = 0.5f * (near.x - far.x);
        matrix[litho_fx_packed(size, 2 * q + 1, 2 * p)] = -0.5f * (near.y + far.y);
        if (p < q)
            matrix[litho_fx_packed(size, 2 * q, 2 * p + 1)] = 0.5f * (near.y - far.y);
    }
    for (int q = threadIdx.x; q < c; q += blockDim.x) {
        const float2 d = both_ways(cov, size, c, c + q + 1);
        matrix[litho_fx_packed(size, size - 1, 2 * q)] = 0.70710678f * d.x;
        matrix[litho_fx_packed(size, size - 1, 2 * q + 1)] = -0.70710678f * d.y;
    }
    if (threadIdx.x == 0)
        matrix[litho_fx_packed(size, size - 1, size - 1)] = cov[packed_rows(c, c)].x;
}

// Adds `sign` times the equations of the design points that are present or not, BATCH at a time.
// `rows`: 2 * BATCH * size floats; `centres`: BATCH + 1 ints.
__device__ static void add_equations(const LithoFxGroup &g, const LithoFxSpot &s, Source source,
                                     float scale, bool live, float sign, float *matrix, float *rows,
                                     int *centres)
{
    const int n_xl = s.c_xl1 - s.c_xl0, n = (s.c_il1 - s.c_il0) * n_xl;
    const int size = g.size, c = size / 2, width = 2 * g.half_xl + 1;
    int next = 0;
    while (next < n) {
        __syncthreads();
        if (threadIdx.x == 0) { // few points, and every thread needs the same ones
            int found = 0;
            while (next < n && found < BATCH) {
                if (present_at(g, s.c_il0 + next / n_xl, s.c_xl0 + next % n_xl) == live)
                    centres[1 + found++] = next;
                next++;
            }
            centres[0] = found;
            centres[BATCH + 1] = next;
        }
        __syncthreads();
        const int found = centres[0];
        next = centres[BATCH + 1];
        for (int k = threadIdx.x; k < found * (c + 1); k += blockDim.x) {
            const int point = k / (c + 1), q = k % (c + 1);
            const int il = s.c_il0 + centres[1 + point] / n_xl;
            const int xl = s.c_xl0 + centres[1 + point] % n_xl;
            float *re = rows + 2 * point * size, *im = re + size;
            if (q == 0) {
                const float2 e = source(il, xl);
                re[size - 1] = scale * e.x;
                im[size - 1] = scale * e.y;
                continue;
            }
            const int d_il = (c + q) / width - g.half_il, d_xl = (c + q) % width - g.half_xl;
            const float2 a = source(il + d_il, xl + d_xl), b = source(il - d_il, xl - d_xl);
            const float r = 0.70710678f * scale;
            re[2 * q - 2] = r * (a.x + b.x);
            im[2 * q - 2] = r * (a.y + b.y);
            re[2 * q - 1] = -r * (a.y - b.y);
            im[2 * q - 1] = r * (a.x - b.x);
        }
        __syncthreads();
        for (int t = threadIdx.x; t < size * (size + 1) / 2; t += blockDim.x) {
            int i, j;
            triangle(t, &i, &j);
            float sum = 0;
            for (int k = 0; k < 2 * found; k++)
                sum = fmaf(rows[k * size + i], rows[k * size + j], sum);
            matrix[litho_fx_packed(size, i, j)] += sign * sum;
        }
    }
    __syncthreads();
}

__device__ static void store(const LithoFxGroup &g, int spot, int bin, const float *matrix)
{
    float *out = g.matrix + system_of(g, spot, bin) * g.matrix_pitch;
    const int n = g.size * (g.size + 1) / 2;
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        out[k] = matrix[k];
}

// --- box sums -----------------------------------------------------------------------------------

// Crossline lags in the order 0, -1, 1, -2, 2, ...: long columns first.
__device__ static inline int lag_number(int k)
{
    return k % 2 ? -(k + 1) / 2 : k / 2;
}

// Column `x` of the tile against column `x + lag`: for every inline lag l and shift j,
// sums[l, j] = sum over rows r = j .. j + n - 1 of conj(s(r, x)) s(r + l, x + lag).
template <int H>
__device__ static void column_sums(const float2 *tile, int width, int n, int x, int lag,
                                   float2 *sums, int pitch)
{
    constexpr int M = 2 * H;
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
#pragma unroll 7
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

// Sums of one inline lag and shift along the crossline, for all shifts there.
template <int H>
__device__ static void row_sums(const float2 *sums, int n, int lag, int l, int j, float2 *cov)
{
    constexpr int M = 2 * H, W = 2 * H + 1;
    const int m = W - abs(lag), first = lag < 0 ? -lag : 0;
    float2 core = make_float2(0, 0), run = make_float2(0, 0);
    for (int k = m - 1; k < n; k++)
        core = core + sums[k];
    const int a0 = j * W + first, step = l * W + lag;
    for (int s = m - 1; s >= 0; s--) {
        if (s < m - 1)
            run = run + sums[s];
        cov[packed_rows(a0 + s, a0 + s + step)] = core + run;
    }
    run = make_float2(0, 0);
    for (int s = 1; s < m; s++) {
        run = run + sums[n + s - 1];
        float2 *at = &cov[packed_rows(a0 + s, a0 + s + step)];
        *at = *at + run;
    }
    (void)M;
}

// Shared memory of box_kernel, in the order of its layout.
struct BoxLayout {
    int tile, cov, sums, pitch; // bytes of the first three; columns a round holds
};

template <int H>
__global__ void __launch_bounds__(THREADS, H <= 3 ? 3 : 2)
    box_kernel(LithoFxGroup g, BoxLayout layout, int pass)
{
    constexpr int M = 2 * H, W = M + 1, COMBOS = (M + 1) * (M + 2) / 2;
    extern __shared__ float4 shared[];
    __shared__ float most[THREADS / 32];
    __shared__ int centres[BATCH + 2];
    float2 *tile = (float2 *)shared;
    float2 *cov = (float2 *)((char *)shared + layout.tile);
    float2 *sums = (float2 *)((char *)shared + layout.tile + layout.cov);
    float *matrix = (float *)sums, *rows = matrix + g.size * (g.size + 1) / 2;

    const int spot = blockIdx.x, bin = blockIdx.y;
    const LithoFxSpot s = g.spots[spot];
    const Source source = source_of(g, s, bin, pass);
    const int n_il = s.c_il1 - s.c_il0, n_xl = s.c_xl1 - s.c_xl0;
    const int height = n_il + M, width = n_xl + M;

    float largest = 0;
    for (int k = threadIdx.x; k < height * width; k += THREADS) {
        const float2 v = source(s.c_il0 - H + k / width, s.c_xl0 - H + k % width);
        tile[k] = v;
        largest = fmaxf(largest, fmaxf(fabsf(v.x), fabsf(v.y)));
    }
    const float scale = scale_for(block_max(largest, most));
    for (int k = threadIdx.x; k < height * width; k += THREADS)
        tile[k] = make_float2(scale * tile[k].x, scale * tile[k].y);
    __syncthreads();

    if (2 * s.missing > n_il * n_xl) {
        for (int k = threadIdx.x; k < g.size * (g.size + 1) / 2; k += THREADS)
            matrix[k] = 0;
        add_equations(g, s, source, scale, true, 1, matrix, rows, centres);
        store(g, spot, bin, matrix);
        return;
    }
    for (int k = 0; k <= 2 * M;) { // as many crossline lags as have room
        int columns = 0, last = k;
        for (; last <= 2 * M && columns + width - abs(lag_number(last)) <= layout.pitch; last++)
            columns += width - abs(lag_number(last));
        for (int task = threadIdx.x; task < columns; task += THREADS) {
            int x = task, lag = k;
            while (x >= width - abs(lag_number(lag)))
                x -= width - abs(lag_number(lag++));
            lag = lag_number(lag);
            column_sums<H>(tile, width, n_il, x + (lag < 0 ? -lag : 0), lag, sums + task,
                           layout.pitch | 1);
        }
        __syncthreads();
        for (int task = threadIdx.x; task < (last - k) * COMBOS; task += THREADS) {
            int from = 0, l = 0, j = task % COMBOS;
            for (int i = k; i < k + task / COMBOS; i++)
                from += width - abs(lag_number(i));
            const int lag = lag_number(k + task / COMBOS);
            const int combo = j;
            while (j > M - l)
                j -= W - l++;
            if (l > 0 || lag >= 0) // the other half of inline lag 0 is its conjugate
                row_sums<H>(sums + combo * (layout.pitch | 1) + from, n_xl, lag, l, j, cov);
        }
        __syncthreads();
        k = last;
    }
    assemble(cov, g.size, matrix);
    if (s.missing > 0)
        add_equations(g, s, source, scale, false, -1, matrix, rows, centres);
    __syncthreads();
    store(g, spot, bin, matrix);
}

// --- any shape ----------------------------------------------------------------------------------

// Biased autocorrelation over the window, one warp a lag: cov depends on b - a only.
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
        const int across = width - abs(l_xl);
        for (int p = lane; p < (height - l_il) * across; p += 32) {
            const int a = p / across * width + first + p % across;
            cov[packed_rows(a, a + l_il * width + l_xl)] = sum;
        }
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
    __shared__ int centres[BATCH + 2];
    float *matrix = (float *)shared;
    float *rows = matrix + g.size * (g.size + 1) / 2;
    const int spot = blockIdx.x, bin = blockIdx.y;
    const LithoFxSpot s = g.spots[spot];
    const Source source = source_of(g, s, bin, pass);
    if (g.form == LITHO_FX_ACF) {
        float2 *cov = (float2 *)(rows + (g.size & 1));
        const float scale = scale_for(largest_of(s, source, s.il0, s.il0 + s.n_il, s.xl0,
                                                 s.xl0 + s.n_xl, most));
        autocorrelation(g, s, source, scale, cov);
        assemble(cov, g.size, matrix);
    } else {
        const float scale = scale_for(largest_of(s, source, s.c_il0 - g.half_il,
                                                 s.c_il1 + g.half_il, s.c_xl0 - g.half_xl,
                                                 s.c_xl1 + g.half_xl, most));
        for (int k = threadIdx.x; k < g.size * (g.size + 1) / 2; k += THREADS)
            matrix[k] = 0;
        add_equations(g, s, source, scale, true, 1, matrix, rows, centres);
    }
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
    const int bytes = layout.tile + layout.cov + layout.sums;
    cudaError_t status = cudaFuncSetAttribute(
        box_kernel<H>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (status != cudaSuccess)
        return (int)status;
    box_kernel<H><<<dim3(g->n_spots, g->bins), THREADS, bytes, stream>>>(*g, layout, pass);
    return (int)cudaGetLastError();
}

static int launch_any(const LithoFxGroup *g, int pass, cudaStream_t stream)
{
    const int packed = g->size * (g->size + 1) / 2;
    int bytes = 4 * (packed + 2 * BATCH * g->size);
    if (g->form == LITHO_FX_ACF)
        bytes = 4 * packed + 8 + 8 * packed;
    cudaError_t status =
        cudaFuncSetAttribute(any_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (status != cudaSuccess)
        return (int)status;
    any_kernel<<<dim3(g->n_spots, g->bins), THREADS, bytes, stream>>>(*g, pass);
    return (int)cudaGetLastError();
}

// `max_il`, `max_xl`: largest numbers of design points along the axes in the group, negative when
// some window has fewer than 2 half + 1 of them.
int litho_fx_matrix(const LithoFxGroup *g, int max_il, int max_xl, int pass, int shared_limit,
                    cudaStream_t stream)
{
    const int h = g->half_il, packed = g->size * (g->size + 1) / 2;
    if (h != g->half_xl || max_il < 0 || max_xl < 0 || g->form == LITHO_FX_ACF)
        return launch_any(g, pass, stream);
    const int combos = (2 * h + 1) * (2 * h + 2) / 2, width = max_xl + 2 * h;
    BoxLayout layout;
    layout.tile = round_up(8 * (max_il + 2 * h) * width, 16);
    layout.cov = round_up(8 * packed, 16);
    layout.pitch = width > THREADS ? width : THREADS;
    layout.sums = round_up(8 * combos * (layout.pitch | 1), 16);
    const int least = 4 * (packed + 2 * BATCH * g->size);
    layout.sums = layout.sums > least ? layout.sums : round_up(least, 16);
    if (layout.tile + layout.cov + layout.sums > shared_limit)
        return launch_any(g, pass, stream);
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
