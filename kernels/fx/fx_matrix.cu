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

enum { THREADS = 160, BATCH = 8, BINS = 4 };

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

// Covariances of blocks of `size` traces, a <= b, lie by lag: (a, b) at lag_at(size, b - a) + a.
__device__ static inline int lag_at(int size, int lag)
{
    return lag * size - lag * (lag - 1) / 2;
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

// C(a, b) + conj C(-a, -b), forward plus backward: entries a and size - 1 - b of a lag.
__device__ static inline float2 both_ways(const float2 *cov, int a, int mirrored)
{
    const float2 f = cov[a], r = cov[mirrored];
    return make_float2(f.x + r.x, f.y + r.y);
}

__device__ static void clear(float *matrix, int rounded)
{
    for (int k = threadIdx.x; k < litho_fx_packed_size(rounded) / 4; k += THREADS)
        ((float4 *)matrix)[k] = make_float4(0, 0, 0, 0);
    __syncthreads();
}

// From covariances to the real matrix in the unknowns u_1, v_1, ..., e. Pairs p <= q are walked two
// rows at a time, a long one and a short one, which together have c + 1 entries. SIZE 0: `any_size`.
template <int SIZE>
__device__ static void assemble(const float2 *cov, int any_size, float *matrix)
{
    const int size = SIZE ? SIZE : any_size, c = size / 2, rounded = litho_fx_round4(size);
    clear(matrix, rounded);
    for (int t = threadIdx.x; t < (c + 1) / 2 * (c + 1); t += THREADS) {
        const int r = t / (c + 1), column = t % (c + 1);
        const int q = column < c - r ? c - 1 - r : r, p = column < c - r ? column : column - c + r;
        if (column >= c - r && c - 1 - r == r)
            continue; // the middle row of an odd number is there once
        const float2 *lag = cov + lag_at(size, q - p);
        const float2 near = both_ways(lag, c + p + 1, c - q - 1);
        lag = cov + lag_at(size, p + q + 2);
        const float2 far = both_ways(lag, c - q - 1, c - p - 1);
        float *at = matrix + litho_fx_packed(rounded, 2 * q, 2 * p); // u_q, u_p
        const int next = rounded - 2 * p / 4 * 4;                    // to the next column
        at[0] = 0.5f * (near.x + far.x);
        at[1] = -0.5f * (near.y + far.y);
        at[next + 1] = 0.5f * (near.x - far.x);
        if (p < q)
            at[next] = 0.5f * (near.y - far.y);
    }
    for (int q = threadIdx.x; q < c; q += THREADS) {
        const float2 d = both_ways(cov + lag_at(size, q + 1), c, c - q - 1);
        matrix[litho_fx_packed(rounded, size - 1, 2 * q)] = 0.70710678f * d.x;
        matrix[litho_fx_packed(rounded, size - 1, 2 * q + 1)] = -0.70710678f * d.y;
    }
    if (threadIdx.x == 0)
        matrix[litho_fx_packed(rounded, size - 1, size - 1)] = cov[c].x;
}

// Design points [from, from + THREADS) that are present or not, in order; how many.
__device__ static int list_points(const LithoFxGroup &g, const LithoFxSpot &s, int from, bool live,
                                  int *list, int *counts)
{
    const int n_xl = s.c_xl1 - s.c_xl0, n = (s.c_il1 - s.c_il0) * n_xl;
    const int point = from + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const bool mine = point < n &&
                      present_at(g, s.c_il0 + point / n_xl, s.c_xl0 + point % n_xl) == live;
    const unsigned ballot = __ballot_sync(0xffffffffu, mine);
    __syncthreads(); // the list of the last round has been used
    if (lane == 0)
        counts[warp] = __popc(ballot);
    __syncthreads();
    int before = 0, all = 0;
    for (int w = 0; w < THREADS / 32; w++) {
        before += w < warp ? counts[w] : 0;
        all += counts[w];
    }
    if (mine)
        list[before + __popc(ballot & ((1u << lane) - 1))] = point;
    __syncthreads();
    return all;
}

// The equation of one design point: real and imaginary row of `rounded` numbers.
__device__ static void equation(const LithoFxGroup &g, const LithoFxSpot &s, Source source,
                                float scale, int point, int q, float *re, float *im)
{
    const int n_xl = s.c_xl1 - s.c_xl0, c = g.size / 2, width = 2 * g.half_xl + 1;
    const int il = s.c_il0 + point / n_xl, xl = s.c_xl0 + point % n_xl;
    if (q == 0) {
        const float2 e = source(il, xl);
        re[g.size - 1] = scale * e.x;
        im[g.size - 1] = scale * e.y;
        return;
    }
    const int d_il = (c + q) / width - g.half_il, d_xl = (c + q) % width - g.half_xl;
    const float2 a = source(il + d_il, xl + d_xl), b = source(il - d_il, xl - d_xl);
    const float r = 0.70710678f * scale;
    re[2 * q - 2] = r * (a.x + b.x);
    im[2 * q - 2] = r * (a.y + b.y);
    re[2 * q - 1] = -r * (a.y - b.y);
    im[2 * q - 1] = r * (a.x - b.x);
}

// matrix += sign * rows^T rows by tiles of 4 x 4 in registers.
__device__ static void add_rows(const float *rows, int n, int rounded, float sign, float *matrix)
{
    const int blocks = rounded / 4;
    for (int t = threadIdx.x; t < blocks * (blocks + 1) / 2; t += THREADS) {
        int i, j;
        triangle(t, &i, &j);
        float sum[4][4] = {};
        for (int k = 0; k < n; k++) {
            const float4 a = *(const float4 *)(rows + k * rounded + 4 * i);
            const float4 b = *(const float4 *)(rows + k * rounded + 4 * j);
            const float x[4] = {a.x, a.y, a.z, a.w}, y[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
            for (int c = 0; c < 4; c++)
#pragma unroll
                for (int r = 0; r < 4; r++)
                    sum[c][r] = fmaf(x[r], y[c], sum[c][r]);
        }
#pragma unroll
        for (int c = 0; c < 4; c++) {
            float4 *to = (float4 *)(matrix + litho_fx_packed(rounded, 4 * i, 4 * j + c));
            float4 v = *to;
            v.x += sign * sum[c][0];
            v.y += sign * sum[c][1];
            v.z += sign * sum[c][2];
            v.w += sign * sum[c][3];
            *to = v;
        }
    }
}

// Scratch of add_equations: rows, then a list of points, then one count a warp.
__host__ __device__ static inline int equations_floats(int rounded)
{
    return 2 * BATCH * rounded + THREADS + THREADS / 32;
}

// Adds `sign` times the equations of the design points that are present or not, BATCH at a time.
__device__ static void add_equations(const LithoFxGroup &g, const LithoFxSpot &s, Source source,
                                     float scale, bool live, float sign, float *matrix,
                                     float *scratch)
{
    const int n = (s.c_il1 - s.c_il0) * (s.c_xl1 - s.c_xl0), c = g.size / 2;
    const int rounded = litho_fx_round4(g.size);
    float *rows = scratch;
    int *list = (int *)(rows + 2 * BATCH * rounded), *counts = list + THREADS;
    for (int k = threadIdx.x; k < 2 * BATCH * rounded; k += THREADS)
        rows[k] = 0; // what rounding up adds stays zero
    for (int from = 0; from < n; from += THREADS) {
        const int found = list_points(g, s, from, live, list, counts);
        for (int at = 0; at < found; at += BATCH) {
            const int batch = min(found - at, BATCH);
            for (int k = threadIdx.x; k < batch * (c + 1); k += THREADS) {
                const int point = k / (c + 1);
                float *re = rows + 2 * point * rounded;
                equation(g, s, source, scale, list[at + point], k % (c + 1), re, re + rounded);
            }
            __syncthreads();
            add_rows(rows, 2 * batch, rounded, sign, matrix);
            __syncthreads();
        }
    }
}

__device__ static void store(const LithoFxGroup &g, int spot, int bin, const float *matrix)
{
    float *out = g.matrix + system_of(g, spot, bin) * g.matrix_pitch;
    const int n = litho_fx_packed_size(litho_fx_round4(g.size)) / 4;
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        ((float4 *)out)[k] = ((const float4 *)matrix)[k];
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

// Sums of one inline lag and shift along the crossline, for all `m` shifts there: to cov[0 .. m - 1].
__device__ static void row_sums(const float2 *sums, int n, int m, float2 *cov)
{
    float2 core = make_float2(0, 0), run = make_float2(0, 0);
#pragma unroll 4
    for (int k = m - 1; k < n; k++)
        core = core + sums[k];
    cov[m - 1] = core;
    for (int s = m - 2; s >= 0; s--) {
        run = run + sums[s];
        cov[s] = core + run;
    }
    run = make_float2(0, 0);
    for (int s = 1; s < m; s++) {
        run = run + sums[n + s - 1];
        cov[s] = cov[s] + run;
    }
}

// Shared memory of box_kernel, in the order of its layout; all but `pitch` in bytes.
struct BoxLayout {
    int tile, cov, sums, columns;
    int pitch; // columns a round has room for
};

// What the blocks of box_kernel look up instead of working it out for every system.
template <int H>
struct BoxTables {
    int from[4 * H + 2];                           // first column of each crossline lag, and the end
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

// Loads the traces of the blocks. Returns the factor they were scaled by: 1 unless their squares would
// leave the range of single precision.
__device__ static float load_box(Source source, int il0, int xl0, int height, int width, float2 *tile,
                                 float *most)
{
    const int down = THREADS / width, across = THREADS % width;
    float largest = 0;
    int il = threadIdx.x / width, xl = threadIdx.x % width;
    for (int k = threadIdx.x; k < height * width; k += THREADS) {
        const float2 v = source(il0 + il, xl0 + xl);
        tile[k] = v;
        largest = fmaxf(largest, fmaxf(fabsf(v.x), fabsf(v.y)));
        il += down;
        xl += across;
        if (xl >= width) {
            xl -= width;
            il++;
        }
    }
    largest = block_max(largest, most);
    if (largest > 1e-12f && largest < 1e12f)
        return 1;
    const float scale = scale_for(largest);
    for (int k = threadIdx.x; k < height * width; k += THREADS)
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
            column_sums<H>(tile, width, n_il, x, lag, sums + task, pitch | 1);
        }
        __syncthreads();
        for (int task = threadIdx.x; task < (last - k) * COMBOS; task += THREADS) {
            const int combo = task % COMBOS, number = k + task / COMBOS, lag = lag_number(number);
            const int l = tables.shape[2 * combo], j = tables.shape[2 * combo + 1];
            if (l == 0 && lag < 0)
                continue; // the conjugates of the other half
            row_sums(sums + combo * (pitch | 1) + tables.from[number] - first, n_xl, W - abs(lag),
                     cov + lag_at(SIZE, l * W + lag) + j * W + (lag < 0 ? -lag : 0));
        }
        __syncthreads();
        k = last;
    }
}

template <int H>
__global__ void __launch_bounds__(THREADS, H <= 3 ? 3 : 2)
    box_kernel(LithoFxGroup g, BoxLayout layout, int pass)
{
    constexpr int W = 2 * H + 1, SIZE = W * W;
    extern __shared__ float4 shared[];
    __shared__ BoxTables<H> tables;
    float2 *tile = (float2 *)shared;
    float2 *cov = (float2 *)((char *)shared + layout.tile);
    float2 *sums = (float2 *)((char *)cov + layout.cov);
    unsigned short *columns = (unsigned short *)((char *)sums + layout.sums);
    constexpr int rounded = (SIZE + 3) / 4 * 4;
    float *matrix = (float *)sums, *scratch = matrix + litho_fx_packed_size(rounded);

    const int spot = blockIdx.x;
    const LithoFxSpot s = g.spots[spot];
    const int n_il = s.c_il1 - s.c_il0, n_xl = s.c_xl1 - s.c_xl0;
    fill_tables<H>(&tables, columns, n_xl + 2 * H);
    for (int bin = blockIdx.y * BINS; bin < min((int)(blockIdx.y + 1) * BINS, g.bins); bin++) {
        const Source source = source_of(g, s, bin, pass);
        const float scale = load_box(source, s.c_il0 - H, s.c_xl0 - H, n_il + 2 * H, n_xl + 2 * H,
                                     tile, tables.most);
        const bool poor = 2 * s.missing > n_il * n_xl;
        if (poor) {
            clear(matrix, rounded);
        } else {
            box_sums<H>(tile, n_il, n_xl, tables, columns, sums, layout.pitch, cov);
            assemble<SIZE>(cov, SIZE, matrix);
            __syncthreads();
        }
        if (s.missing > 0) // the equations that are there, or less those that are not
            add_equations(g, s, source, scale, poor, poor ? 1 : -1, matrix, scratch);
        __syncthreads();
        store(g, spot, bin, matrix);
        __syncthreads();
    }
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
            cov[lag_at(g.size, l_il * width + l_xl) + a] = sum;
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
    float *matrix = (float *)shared;
    float *scratch = matrix + litho_fx_packed_size(litho_fx_round4(g.size));
    const int spot = blockIdx.x, bin = blockIdx.y;
    const LithoFxSpot s = g.spots[spot];
    const Source source = source_of(g, s, bin, pass);
    if (g.form == LITHO_FX_ACF) {
        float2 *cov = (float2 *)scratch;
        const float scale = scale_for(largest_of(s, source, s.il0, s.il0 + s.n_il, s.xl0,
                                                 s.xl0 + s.n_xl, most));
        autocorrelation(g, s, source, scale, cov);
        assemble<0>(cov, g.size, matrix);
    } else {
        const float scale = scale_for(largest_of(s, source, s.c_il0 - g.half_il,
                                                 s.c_il1 + g.half_il, s.c_xl0 - g.half_xl,
                                                 s.c_xl1 + g.half_xl, most));
        clear(matrix, litho_fx_round4(g.size));
        add_equations(g, s, source, scale, true, 1, matrix, scratch);
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
    const int bytes = layout.tile + layout.cov + layout.sums + layout.columns;
    cudaError_t status = cudaFuncSetAttribute(
        box_kernel<H>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (status != cudaSuccess)
        return (int)status;
    box_kernel<H><<<dim3(g->n_spots, (g->bins + BINS - 1) / BINS), THREADS, bytes, stream>>>(*g, layout, pass);
    return (int)cudaGetLastError();
}

static int launch_any(const LithoFxGroup *g, int pass, cudaStream_t stream)
{
    const int rounded = litho_fx_round4(g->size);
    const int scratch = g->form == LITHO_FX_ACF ? g->size * (g->size + 1) : equations_floats(rounded);
    const int bytes = 4 * (litho_fx_packed_size(rounded) + scratch);
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
    const int rounded = litho_fx_round4(g->size);
    const int least = 4 * (litho_fx_packed_size(rounded) + equations_floats(rounded));
    layout.sums = layout.sums > least ? layout.sums : round_up(least, 16);
    layout.columns = round_up(2 * (4 * h + 1) * width, 16);
    // 2 kB stay for what the kernel has beside this.
    if (layout.tile + layout.cov + layout.sums + layout.columns + 2048 > shared_limit)
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
