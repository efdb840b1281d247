// SPDX-License-Identifier: GPL-3.0-or-later
//
// Volumes and coefficient arrays on the device. All of these move memory and compute next to
// nothing: their floor is their bytes.
#include "kernels/wavepacket/cuda/padding.cuh"
#include "kernels/wavepacket/cuda/threshold.cuh"

enum { THREADS = 256 };
enum { RESIDUAL = 2 }; // WpBoxKind

static unsigned blocks_for(int64_t n)
{
    const int64_t blocks = (n + THREADS - 1) / THREADS;
    return (unsigned)(blocks < 65535 * 16 ? (blocks > 0 ? blocks : 1) : 65535 * 16);
}

#define EACH(i, n)                                                                                 \
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < (n);                      \
         i += (int64_t)gridDim.x * blockDim.x)

typedef struct Scales {
    const float *axis[3];
} Scales;

static Scales scales_of(const float *const scale[3])
{
    Scales s = {{scale[0], scale[1], scale[2]}};
    return s;
}

DEV float scale_at(const Scales &s, int i, int j, int k)
{
    return (s.axis[0] ? s.axis[0][i] : 1) * (s.axis[1] ? s.axis[1][j] : 1) *
           (s.axis[2] ? s.axis[2][k] : 1);
}

typedef struct Sizes {
    int n[3], m[3], row;
} Sizes;

// --- padding: 4 bytes read per sample, 4 written per grid point ----------------------------------

enum { PAD_THREADS = 64, PAD_ROWS = 4 };

// Two neighbouring padded samples a thread; rows without samples are only cleared.
static __global__ void __launch_bounds__(PAD_THREADS *PAD_ROWS)
    pad(Sizes s, int first, Scales scale, const float *__restrict__ u, float2 *__restrict__ to)
{
    const int j = blockIdx.y * PAD_ROWS + threadIdx.y, i = first + blockIdx.z;
    if (j >= s.m[1])
        return;
    const int a = sample_of(i, s.n[0], s.m[0]), b = sample_of(j, s.n[1], s.m[1]);
    const float *from = a >= 0 && b >= 0 ? u + ((int64_t)a * s.n[1] + b) * s.n[2] : NULL;
    const float f = from ? (scale.axis[0] ? scale.axis[0][a] * scale.axis[1][b] : 1) : 0;
    for (int k = threadIdx.x; k < s.row / 2; k += PAD_THREADS) {
        float2 v = make_float2(0, 0);
        for (int h = 0; h < 2 && from; h++) {
            const int p = 2 * k + h, c = p < s.m[2] ? sample_of(p, s.n[2], s.m[2]) : -1;
            const float x = c >= 0 ? f * (scale.axis[2] ? scale.axis[2][c] : 1) * from[c] : 0;
            v.x = h == 0 ? x : v.x;
            v.y = h == 1 ? x : v.y;
        }
        to[((int64_t)i * s.m[1] + j) * (s.row / 2) + k] = v;
    }
}

static __global__ void crop(Sizes s, int first, Scales scale, float factor,
                            const float *__restrict__ from, Sizes t,
                            const float *__restrict__ second, float *__restrict__ u)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y, i = first + blockIdx.z;
    if (k >= s.n[2])
        return;
    const int64_t at =
        ((int64_t)padded_index(i, s.n[0], s.m[0]) * s.m[1] + padded_index(j, s.n[1], s.m[1])) *
            s.row +
        padded_index(k, s.n[2], s.m[2]);
    float v = factor * from[at] * scale_at(scale, i, j, k);
    if (second)
        v += second[((int64_t)padded_index(i, s.n[0], t.m[0]) * t.m[1] +
                     padded_index(j, s.n[1], t.m[1])) *
                        t.row +
                    padded_index(k, s.n[2], t.m[2])];
    u[((int64_t)i * s.n[1] + j) * s.n[2] + k] = v;
}

static Sizes sizes_of(const int n[3], const int m[3], int row)
{
    Sizes s = {{n[0], n[1], n[2]}, {m[0], m[1], m[2]}, row};
    return s;
}

int wp_cuda_pad(const int n[3], const int m[3], int row, int first, int planes,
                const float *const scale[3], const float *u, float *to, cudaStream_t stream)
{
    const dim3 grid(1, (m[1] + PAD_ROWS - 1) / PAD_ROWS, planes), threads(PAD_THREADS, PAD_ROWS);
    pad<<<grid, threads, 0, stream>>>(sizes_of(n, m, row), first, scales_of(scale), u,
                                      (float2 *)to);
    return (int)cudaGetLastError();
}

int wp_cuda_crop(const int n[3], const int m[3], int row, const WpShare *share,
                 const float *const scale[3], float factor, const float *from, const int m2[3],
                 const float *second, float *u, cudaStream_t stream)
{
    dim3 grid((n[2] + 127) / 128, n[1], share->samples);
    const Sizes other = second ? sizes_of(n, m2, m2[2]) : sizes_of(n, n, n[2]);
    crop<<<grid, 128, 0, stream>>>(sizes_of(n, m, row), share->sample, scales_of(scale), factor,
                                   from, other, second, u);
    return (int)cudaGetLastError();
}

// --- volumes -------------------------------------------------------------------------------------

static __global__ void scale_complex(float2 *u, const float *weight, int64_t n)
{
    EACH(i, n)
    {
        const float2 v = u[i];
        u[i] = make_float2(weight[i] * v.x, weight[i] * v.y);
    }
}

int wp_cuda_scale_complex(float2 *u, const float *weight, int64_t n, cudaStream_t stream)
{
    scale_complex<<<blocks_for(n), THREADS, 0, stream>>>(u, weight, n);
    return (int)cudaGetLastError();
}

static __global__ void blend(float a, const float *x, float b, float *y, int64_t n)
{
    EACH(i, n)
    y[i] = a * x[i] + (b == 0 ? 0 : b * y[i]);
}

int wp_cuda_blend(double a, const float *x, double b, float *y, int64_t n, cudaStream_t stream)
{
    blend<<<blocks_for(n), THREADS, 0, stream>>>((float)a, x, (float)b, y, n);
    return (int)cudaGetLastError();
}

// Sum over the block, in an order that does not change.
DEV double block_sum(double v, double *shared)
{
    shared[threadIdx.x] = v;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (threadIdx.x < d)
            shared[threadIdx.x] += shared[threadIdx.x + d];
        __syncthreads();
    }
    const double sum = shared[0];
    __syncthreads();
    return sum;
}

static __global__ void dot(const float *x, const float *y, int64_t n, double *parts)
{
    __shared__ double shared[THREADS];
    double sum = 0;
    EACH(i, n)
    sum += (double)x[i] * y[i];
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = sum;
}

static __global__ void distance(const float *x, const float *y, const float *m, int64_t traces,
                                int64_t n3, double *parts)
{
    __shared__ double shared[THREADS];
    double sum = 0;
    EACH(i, traces * n3)
    {
        const double d = x[i] - y[i];
        sum += (m ? m[i / n3] : 1.0f) * d * d;
    }
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = sum;
}

int wp_cuda_distance(const float *x, const float *y, const float *m, int64_t traces, int64_t n3,
                     double *parts, cudaStream_t stream)
{
    distance<<<WP_PARTS, THREADS, 0, stream>>>(x, y, m, traces, n3, parts);
    return (int)cudaGetLastError();
}

int wp_cuda_dot(const float *x, const float *y, int64_t n, double *parts, cudaStream_t stream)
{
    dot<<<WP_PARTS, THREADS, 0, stream>>>(x, y, n, parts);
    return (int)cudaGetLastError();
}

static __global__ void insert(const float *x, const float *m, float *y, int64_t traces, int64_t n3)
{
    EACH(i, traces * n3)
    {
        const float f = m[i / n3];
        y[i] = y[i] * (1 - f) + (x ? f * x[i] : 0);
    }
}

int wp_cuda_insert(const float *x, const float *m, float *y, int64_t traces, int64_t n3,
                   cudaStream_t stream)
{
    insert<<<blocks_for(traces * n3), THREADS, 0, stream>>>(x, m, y, traces, n3);
    return (int)cudaGetLastError();
}

typedef struct Cube {
    int64_t at[3], n[3];
} Cube;

static __global__ void scale(const WpPlaces p, int over, const Cube c, float *volume)
{
    EACH(i, c.n[0] * c.n[1] * c.n[2])
    {
        const int64_t line = i / c.n[2];
        const int64_t own[3] = {line / c.n[1], line % c.n[1], i - line * c.n[2]};
        int k[3];
        float share[3];
        for (int a = 0; a < 3; a++)
            k[a] = wp_place(p.at[a], p.n[a], (float)(c.at[a] + own[a]), &share[a]);
        const float level = wp_place_level(&p, k, share);
        volume[i] *= expf(over ? -level : level);
    }
}

int wp_cuda_scale(const WpPlaces *places, int over, const int64_t at[3], const int64_t n[3],
                  float *volume, cudaStream_t stream)
{
    Cube c;
    for (int a = 0; a < 3; a++) {
        c.at[a] = at[a];
        c.n[a] = n[a];
    }
    scale<<<blocks_for(n[0] * n[1] * n[2]), THREADS, 0, stream>>>(*places, over, c, volume);
    return (int)cudaGetLastError();
}

typedef struct Weigh {
    const WpDevBox *boxes;
    const WpPlacesBox *lattices;
    WpPlaces places; // of the first box
    int cells, over;
    WpPlacesVolume volume;
} Weigh;

// One row of blocks a box.
static __global__ void __launch_bounds__(THREADS) weigh(const Weigh w, int first, float *c)
{
    const int b = first + blockIdx.y;
    const WpDevBox &box = w.boxes[b];
    const WpPlacesBox lattice = w.lattices[b];
    const int step = box.kind == RESIDUAL ? 1 : 2;
    WpPlaces places = w.places;
    places.level += (int64_t)b * w.cells;
    EACH(i, box.floats / step)
    {
        const int64_t row = i / lattice.n[2];
        const int p[3] = {(int)(row / lattice.n[1]), (int)(row % lattice.n[1]),
                          (int)(i - row * lattice.n[2])};
        const float level = wp_places_factor(&places, &lattice, &w.volume, p);
        const float factor = expf(w.over ? -level : level);
        float *to = c + box.at_float + i * step;
        to[0] *= factor;
        if (step == 2)
            to[1] *= factor;
    }
}

// The residual box, the last one, is a hundred times as large as the others: its own launch.
int wp_cuda_weigh(const WpDevBox *boxes, const WpPlacesBox *lattices, int n_complex, int n_residual,
                  const WpPlaces *places, const WpPlacesVolume *volume, int over, float *c,
                  cudaStream_t stream)
{
    enum { PARTS = 32, RESIDUAL_PARTS = 2048 };
    const Weigh w = {
        boxes, lattices, *places, places->n[0] * places->n[1] * places->n[2], over, *volume};
    if (n_residual > 0)
        weigh<<<dim3(RESIDUAL_PARTS, n_residual), THREADS, 0, stream>>>(w, n_complex, c);
    if (n_complex > 0)
        weigh<<<dim3(PARTS, n_complex), THREADS, 0, stream>>>(w, 0, c);
    return (int)cudaGetLastError();
}

typedef struct Part {
    int64_t n[3], at[3], m[3];
    int mirror;
} Part;

static Part part_of(const int64_t n[3], const int64_t at[3], int mirror, const int64_t m[3])
{
    Part p;
    p.mirror = mirror;
    for (int a = 0; a < 3; a++) {
        p.n[a] = n[a];
        p.at[a] = at[a];
        p.m[a] = m[a];
    }
    return p;
}

// A part sticks out of the whole where that is mirrored or thin.
DEV bool within(const Part &p, int axis, int64_t i)
{
    return p.at[axis] + i >= 0 && p.at[axis] + i < p.n[axis];
}

DEV int64_t place_in_whole(const Part &p, int64_t a, int64_t b, int64_t c)
{
    return ((p.at[0] + a) * p.n[1] + p.at[1] + b) * p.n[2] + p.at[2] + c;
}

// Sample of the whole that sample i of the part along an axis is, or mirrors; -1 = none.
DEV int64_t source(const Part &p, int axis, int64_t i)
{
    const int64_t at = p.at[axis] + i, n = p.n[axis];
    if (at < -p.mirror || at >= n + p.mirror)
        return -1;
    return at < 0 ? -1 - at : at >= n ? 2 * n - 1 - at : at;
}

// Blocks along y and z of a launch, at most.
enum { PART_THREADS = 128, MOST_LINES = 65535 };

// One thread a sample of the part: axis 3 by blocks of PART_THREADS, y and z the other two, whose
// lines beyond MOST_LINES come in further rounds.
#define EACH_LINE(a, b, m)                                                                             for (int64_t a = blockIdx.z; a < (m)[0]; a += gridDim.z)                                               for (int64_t b = blockIdx.y; b < (m)[1]; b += gridDim.y)

DEV int64_t along_part()
{
    return blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
}

static __global__ void cut(Part p, Scales taper, const float *volume, float *u)
{
    const int64_t c = along_part();
    if (c >= p.m[2])
        return;
    const int64_t z = source(p, 2, c);
    EACH_LINE(a, b, p.m)
    {
        const int64_t x = source(p, 0, a), y = source(p, 1, b);
        u[(a * p.m[1] + b) * p.m[2] + c] =
            x >= 0 && y >= 0 && z >= 0
                ? scale_at(taper, (int)a, (int)b, (int)c) * volume[(x * p.n[1] + y) * p.n[2] + z]
                : 0;
    }
}

static __global__ void paste(Part p, Scales taper, const float *u, float *volume)
{
    const int64_t c = along_part();
    if (c >= p.m[2] || !within(p, 2, c))
        return;
    EACH_LINE(a, b, p.m)
    if (within(p, 0, a) && within(p, 1, b))
        volume[place_in_whole(p, a, b, c)] +=
            scale_at(taper, (int)a, (int)b, (int)c) * u[(a * p.m[1] + b) * p.m[2] + c];
}

static dim3 blocks_of_part(const int64_t m[3])
{
    return dim3((unsigned)((m[2] + PART_THREADS - 1) / PART_THREADS),
                (unsigned)(m[1] < MOST_LINES ? m[1] : MOST_LINES),
                (unsigned)(m[0] < MOST_LINES ? m[0] : MOST_LINES));
}

int wp_cuda_cut(const int64_t n[3], const int64_t at[3], int mirror, const int64_t m[3],
                const float *const taper[3], const float *volume, float *u, cudaStream_t stream)
{
    cut<<<blocks_of_part(m), PART_THREADS, 0, stream>>>(part_of(n, at, mirror, m),
                                                        scales_of(taper), volume, u);
    return (int)cudaGetLastError();
}

int wp_cuda_paste(const int64_t n[3], const int64_t at[3], const int64_t m[3],
                  const float *const taper[3], const float *u, float *volume, cudaStream_t stream)
{
    paste<<<blocks_of_part(m), PART_THREADS, 0, stream>>>(part_of(n, at, 0, m), scales_of(taper), u,
                                                          volume);
    return (int)cudaGetLastError();
}

static __global__ void load(const float *in, const uint8_t *live, int64_t traces, int64_t n3,
                            float *out, unsigned *bad)
{
    EACH(i, traces * n3)
    {
        const float v = live[i / n3] ? in[i] : 0;
        if (!isfinite(v))
            atomicAdd(bad, 1u);
        out[i] = v;
    }
}

int wp_cuda_load(const float *in, const uint8_t *live, int64_t traces, int64_t n3, float *out,
                 unsigned *bad, cudaStream_t stream)
{
    load<<<blocks_for(traces * n3), THREADS, 0, stream>>>(in, live, traces, n3, out, bad);
    return (int)cudaGetLastError();
}

static __global__ void magnitudes(const float2 *u, float *m2, int64_t n, float scale)
{
    EACH(i, n)
    {
        const float re = scale * u[i].x, im = scale * u[i].y;
        m2[i] = re * re + im * im;
    }
}

int wp_cuda_magnitudes(const float2 *u, float *m2, int64_t n, float scale, cudaStream_t stream)
{
    magnitudes<<<blocks_for(n), THREADS, 0, stream>>>(u, m2, n, scale);
    return (int)cudaGetLastError();
}

// --- coefficients: 8 bytes read per complex one, and as many written -----------------------------

// Factor of a coefficient; `count` those that stay and are not zero, however small their squares.
DEV float share_left(float re, float im, float t, int soft, unsigned *count)
{
    const bool here = stays(re, im, t);
    const float f = !here ? 0.0f : soft && t > 0 ? 1 - t / sqrtf(re * re + im * im) : 1.0f;
    *count += f != 0 && (re != 0 || im != 0);
    return f;
}

enum { SHRINK_PARTS = 16, SHRINK_RESIDUAL_PARTS = 1024, SHRINK_AHEAD = 4 };

// Two complex or four real coefficients.
DEV float4 shrunk(float4 k, float4 x, int step, float t, int soft, int drops, unsigned *count)
{
    float4 f;
    if (step == 2) {
        f.x = f.y = share_left(k.x, k.y, t, soft, count);
        f.z = f.w = share_left(k.z, k.w, t, soft, count);
    } else {
        f.x = share_left(k.x, 0, t, soft, count);
        f.y = share_left(k.y, 0, t, soft, count);
        f.z = share_left(k.z, 0, t, soft, count);
        f.w = share_left(k.w, 0, t, soft, count);
    }
    if (drops)
        f = make_float4(1 - f.x, 1 - f.y, 1 - f.z, 1 - f.w);
    return make_float4(f.x * x.x, f.y * x.y, f.z * x.z, f.w * x.w);
}

// A box begins at a multiple of 16 floats and is followed by zeros up to one, so whole float4 do.
// Several are read before the first is written: key, x and out may be one array, which the compiler
// cannot know to be harmless.
static __global__ void __launch_bounds__(THREADS)
    shrink(const WpDevBox *boxes, const float *level, int soft, int drops, const float *key,
           const float *x, float *out, unsigned long long *kept)
{
    const WpDevBox &box = boxes[blockIdx.y];
    const int step = box.kind == RESIDUAL ? 1 : 2;
    const float t = level[blockIdx.y];
    const float4 *key4 = (const float4 *)(key + box.at_float),
                 *x4 = (const float4 *)(x + box.at_float);
    float4 *out4 = (float4 *)(out + box.at_float);
    const int64_t n = (box.floats + 3) / 4;
    unsigned count = 0;
    for (int64_t i = blockIdx.x * (int64_t)(SHRINK_AHEAD * THREADS) + threadIdx.x; i < n;
         i += gridDim.x * (int64_t)(SHRINK_AHEAD * THREADS)) {
        float4 k[SHRINK_AHEAD], v[SHRINK_AHEAD];
#pragma unroll
        for (int a = 0; a < SHRINK_AHEAD; a++)
            if (i + a * THREADS < n)
                k[a] = key4[i + a * THREADS];
#pragma unroll
        for (int a = 0; a < SHRINK_AHEAD; a++)
            if (i + a * THREADS < n)
                v[a] = key == x ? k[a] : x4[i + a * THREADS];
#pragma unroll
        for (int a = 0; a < SHRINK_AHEAD; a++)
            if (i + a * THREADS < n)
                out4[i + a * THREADS] = shrunk(k[a], v[a], step, t, soft, drops, &count);
    }
    for (int d = 16; d > 0; d /= 2)
        count += __shfl_down_sync(~0u, count, d);
    if (threadIdx.x % 32 == 0 && count)
        atomicAdd(&kept[blockIdx.y], (unsigned long long)count);
}

// The residual box, the last one, is a hundred times as large as the others: its own launch.
int wp_cuda_shrink(const WpDevBox *boxes, int n_complex, int n_residual, const float *level,
                   int soft, int drops, const float *key, const float *x, float *out,
                   unsigned long long *kept, cudaStream_t stream)
{
    if (n_residual > 0)
        shrink<<<dim3(SHRINK_RESIDUAL_PARTS, n_residual), THREADS, 0, stream>>>(
            boxes + n_complex, level + n_complex, soft, drops, key, x, out, kept + n_complex);
    if (n_complex > 0)
        shrink<<<dim3(SHRINK_PARTS, n_complex), THREADS, 0, stream>>>(boxes, level, soft, drops,
                                                                      key, x, out, kept);
    return (int)cudaGetLastError();
}
