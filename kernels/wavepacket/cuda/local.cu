// SPDX-License-Identifier: GPL-3.0-or-later
//
// Thresholds of the residual box in local Fourier windows: a block of threads is a pair of windows
// in shared memory, a thread one line of 16 values at a time.
#include "kernels/wavepacket/cuda/kernels.h"

#define PATCH_T float
#define PATCH_FN __device__ static __forceinline__
#include "kernels/common/fft.h"

enum { N = 16, HALF = N / 2, LINES = N * N, LINES_OF_HALF = LINES / 2, PAD = N + 1 };

typedef struct Windows {
    int n[3];
    WpLocalRows rows; // those that are written
    int first, end;   // windows along inlines from `first` on; those from `end` on are not counted
    int colour[3];
    float taper[3][N];
    float scale; // of the sums: 1 / N^3, or less than 0 where what is kept is taken away
} Windows;

// One value of the pair at inline i, crossline j, sample t.
static __device__ __forceinline__ float2 &value_of(float2 *s, int i, int j, int t)
{
    return s[(i * N + j) * PAD + t];
}

// The line of values `from`, `from` + step, ... in registers.
static __device__ __forceinline__ void read_line(const float2 *from, int step, float re[N],
                                                 float im[N])
{
#pragma unroll
    for (int k = 0; k < N; k++) {
        re[k] = from[k * step].x;
        im[k] = from[k * step].y;
    }
}

static __device__ __forceinline__ void write_line(float2 *to, int step, const float re[N],
                                                  const float im[N])
{
#pragma unroll
    for (int k = 0; k < N; k++)
        to[k * step] = make_float2(re[k], im[k]);
}

template <bool BACK> static __device__ __forceinline__ void transform(float2 *line, int step)
{
    float re[N], im[N];
    read_line(line, step, re, im);
    if (BACK)
        patch_fft16(im, re);
    else
        patch_fft16(re, im);
    write_line(line, step, re, im);
}

// A thread has crossline j and sample t of all inlines: what it asks about them it asks once.
static __device__ __forceinline__ void load_pair(const Windows &w, const int at[3],
                                                 const float taper[3][N],
                                                 const float *__restrict__ x, float2 *s)
{
    const int t = threadIdx.x % N, j = threadIdx.x / N, q = at[1] + j, r = at[2] + t;
    const bool row = q >= 0 && q < w.n[1];
    const bool first = row && r >= 0 && r < w.n[2];
    const bool second = row && r + HALF >= 0 && r + HALF < w.n[2];
    const float *from = x + ((int64_t)at[0] * w.n[1] + q) * w.n[2] + r;
    const int64_t step = (int64_t)w.n[1] * w.n[2];
#pragma unroll
    for (int i = 0; i < N; i++) {
        const bool here = at[0] + i >= 0 && at[0] + i < w.n[0];
        const float f = taper[0][i] * taper[1][j] * taper[2][t];
        float2 v = make_float2(0, 0);
        if (here && first)
            v.x = f * from[i * step];
        if (here && second)
            v.y = f * from[i * step + HALF];
        value_of(s, i, j, t) = v;
    }
}

// Adds to AHEAD inlines, `step` apart: all are read before the first is written.
enum { AHEAD = 8 };
static __device__ __forceinline__ void add_to(float *to, int64_t step, const float add[AHEAD],
                                              int from, int end)
{
    float old[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; k++)
        if (k >= from && k < end)
            old[k] = to[k * step];
#pragma unroll
    for (int k = 0; k < AHEAD; k++)
        if (k >= from && k < end)
            to[k * step] = old[k] + add[k];
}

// No other block of the launch has these samples: those of the first window, which the second one
// overlaps from HALF on, then the last ones, of the second one alone.
template <bool PART>
static __device__ __forceinline__ void add_pair(const Windows &w, const int at[3],
                                                const float taper[3][N], float2 *s,
                                                float *__restrict__ out)
{
    const float scale = w.scale;
    const int64_t step = (int64_t)w.n[1] * w.n[2];
    const int from = (PART ? w.rows.from : 0) - at[0], end = (PART ? w.rows.to : w.n[0]) - at[0];
    const int t = threadIdx.x % N, j = threadIdx.x / N, q = at[1] + j, r = at[2] + t;
    if (q >= 0 && q < w.n[1] && r >= 0 && r < w.n[2]) {
        float *to = out + ((int64_t)at[0] * w.n[1] + q) * w.n[2] + r;
#pragma unroll
        for (int i = 0; i < N; i += AHEAD) {
            float add[AHEAD];
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                float sum = taper[2][t] * value_of(s, i + k, j, t).x;
                if (t >= HALF)
                    sum = fmaf(taper[2][t - HALF], value_of(s, i + k, j, t - HALF).y, sum);
                add[k] = scale * taper[0][i + k] * taper[1][j] * sum;
            }
            add_to(to + i * step, step, add, from - i, end - i);
        }
    }
    const int t2 = threadIdx.x % HALF, j2 = threadIdx.x / HALF % N;
    const int half = threadIdx.x / LINES_OF_HALF * (N / 2), q2 = at[1] + j2, r2 = at[2] + N + t2;
    if (q2 >= 0 && q2 < w.n[1] && r2 >= 0 && r2 < w.n[2]) {
        float *to = out + ((int64_t)at[0] * w.n[1] + q2) * w.n[2] + r2;
#pragma unroll
        for (int i = half; i < half + N / 2; i += AHEAD) {
            float add[AHEAD];
#pragma unroll
            for (int k = 0; k < AHEAD; k++)
                add[k] = scale * taper[0][i + k] * taper[1][j2] *
                         (taper[2][HALF + t2] * value_of(s, i + k, j2, HALF + t2).y);
            add_to(to + i * step, step, add, from - i, end - i);
        }
    }
}

// The last transform forward, along the inlines, the threshold, and the first one back.
static __device__ __forceinline__ unsigned threshold(float2 *line, const float *__restrict__ limit,
                                                     int soft)
{
    float re[N], im[N];
    unsigned kept = 0;
    read_line(line, N * PAD, re, im);
    patch_fft16(re, im);
#pragma unroll
    for (int k = 0; k < N; k++) {
        const float power = re[k] * re[k] + im[k] * im[k], least = limit[k * LINES];
        const bool keep = power >= least;
        const float f = !keep ? 0.0f : soft && power > 0 ? 1 - sqrtf(least / power) : 1.0f;
        kept += keep;
        re[k] *= f;
        im[k] *= f;
    }
    patch_fft16(im, re);
    write_line(line, N * PAD, re, im);
    return kept;
}

// PART: some of the box's rows.
template <bool PART>
static __global__ void __launch_bounds__(LINES, 4)
    local(Windows w, const float *__restrict__ x, float *__restrict__ out,
          const float *__restrict__ limit, int soft, unsigned long long *kept)
{
    __shared__ float2 s[LINES * PAD];
    __shared__ float taper[3][N]; // threads read different places of it
    const int a = threadIdx.x / N, b = threadIdx.x % N;
    const int window = (PART ? w.first : 0) + (int)(2 * blockIdx.z + w.colour[0]);
    const int at[3] = {window * HALF - HALF, (int)(2 * blockIdx.y + w.colour[1]) * HALF - HALF,
                       (int)(2 * blockIdx.x + w.colour[2]) * N - HALF};
    if (threadIdx.x < 3 * N)
        taper[a][b] = w.taper[a][b];
    __syncthreads();
    load_pair(w, at, taper, x, s);
    __syncthreads();
    transform<false>(&value_of(s, a, b, 0), 1);
    __syncthreads();
    transform<false>(&value_of(s, a, 0, b), PAD);
    __syncthreads();
    unsigned count = threshold(&value_of(s, 0, a, b), limit + threadIdx.x, soft);
    if (!__syncthreads_or(count > 0))
        return;
    for (int d = 16; d > 0; d /= 2)
        count += __shfl_down_sync(~0u, count, d);
    if (threadIdx.x % 32 == 0 && count > 0 && (!PART || window < w.end))
        atomicAdd(kept, (unsigned long long)count);
    transform<true>(&value_of(s, a, 0, b), PAD);
    __syncthreads();
    transform<true>(&value_of(s, a, b, 0), 1);
    __syncthreads();
    add_pair<PART>(w, at, taper, s, out);
}

// Places 0 .. n-1 that are `colour` modulo 2.
static unsigned of_colour(int n, int colour)
{
    return (unsigned)((n - colour + 1) / 2);
}

// Windows of one colour share no sample: eight launches, whose order is that of the sums. A row
// that two ranges' windows reach gets all of them in either range.
int wp_cuda_local(const int n[3], const int count[3], const WpLocalRows *rows, const float *taper,
                  const float *x, float *out, const float *limit, int soft, int drops,
                  unsigned long long *kept, cudaStream_t stream)
{
    Windows w = {{n[0], n[1], n[2]}, *rows, rows->from / HALF, 0, {0, 0, 0}, {{0}}, 0};
    const int end = rows->to / HALF + 1; // windows behind it begin behind the rows
    w.scale = (drops ? -1.0f : 1.0f) / (N * N * N);
    w.end = rows->to < n[0] ? end - 1 : count[0];
    const bool part = rows->from > 0 || rows->to < n[0];
    const int along[3] = {(rows->to < n[0] ? end : count[0]) - w.first, count[1], count[2]};
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < N; k++)
            w.taper[a][k] = taper[a * N + k];
    for (int c = 0; c < 8; c++) {
        unsigned places[3];
        for (int a = 0; a < 3; a++) {
            w.colour[a] = c >> a & 1;
            places[a] = of_colour(along[a], w.colour[a]);
        }
        if (places[0] == 0 || places[1] == 0 || places[2] == 0)
            continue;
        (part ? local<true>
              : local<false>)<<<dim3(places[2], places[1], places[0]), LINES, 0, stream>>>(
            w, x, out, limit, soft, kept);
    }
    return (int)cudaGetLastError();
}
