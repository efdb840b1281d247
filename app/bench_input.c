// SPDX-License-Identifier: GPL-3.0-or-later
//
// The input cube of bench, and the measurement of the CPU's roof.
#include <math.h>
#include <omp.h>
#include <string.h>

#include "app/bench.h"

enum { EVENTS = 8 };

// --- input --------------------------------------------------------------------------------------

static guint64 mix(guint64 x) // splitmix64's finaliser
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

static double uniform(guint64 seed, guint64 k)
{
    return (mix(seed * 0x9e3779b97f4a7c15ULL + k) >> 11) * 0x1p-53;
}

// Four uniform numbers of one hash, centred: close enough to normal noise, variance 1/3.
static float noise(guint64 seed, guint64 k)
{
    guint64 h = mix(seed * 0x9e3779b97f4a7c15ULL + k);
    float sum = -2;
    for (int i = 0; i < 4; i++, h >>= 16)
        sum += (h & 0xffff) * (1.0f / 65536);
    return sum;
}

// Event `e` on a trace: a Ricker wavelet of 20-35 Hz (on depth axes, of 150 samples' length).
static void add_event(const LithoGrid *grid, guint64 seed, int e, gint64 i, gint64 j, float *trace)
{
    const LithoAxis *axis = grid->axis;
    const double step = grid->is_depth ? 0.004 : fabs(axis[2].step), length = axis[2].n * step;
    const double frequency = 20 + 15 * uniform(seed, 5 * e);
    const double time = length * (0.1 + 0.8 * uniform(seed, 5 * e + 1)) +
                        0.004 * (uniform(seed, 5 * e + 2) - 0.5) * (i - axis[0].n / 2.0) +
                        0.004 * (uniform(seed, 5 * e + 3) - 0.5) * (j - axis[1].n / 2.0);
    const double amplitude = uniform(seed, 5 * e + 4) < 0.5 ? -1 : 1, reach = 1.5 / frequency;
    const gint64 lo = MAX((gint64)((time - reach) / step), 0);
    const gint64 hi = MIN((gint64)((time + reach) / step) + 1, axis[2].n);
    for (gint64 t = lo; t < hi; t++) {
        double a = pow(G_PI * frequency * (t * step - time), 2);
        trace[t] += (float)(amplitude * (1 - 2 * a) * exp(-a));
    }
}

LithoCube *bench_input(const LithoGrid *grid, guint32 seed, double missing, GError **error)
{
    LithoCube *cube = litho_cube_new(grid, error);
    if (!cube)
        return NULL;
    const gint64 n2 = grid->axis[1].n, nt = grid->axis[2].n, traces = litho_grid_traces(grid);
#pragma omp parallel for schedule(static)
    for (gint64 k = 0; k < traces; k++) {
        float *trace = cube->samples + k * nt;
        if (uniform(seed + 1, k) < missing) {
            cube->live[k] = 0;
            continue;
        }
        for (gint64 t = 0; t < nt; t++)
            trace[t] = 0.5f * noise(seed, k * nt + t);
        for (int e = 0; e < EVENTS; e++)
            add_event(grid, seed, e, k / n2, k % n2, trace);
    }
    g_strlcpy(cube->name, "bench", sizeof cube->name);
    return cube;
}

// --- roofs of the CPU ----------------------------------------------------------------------------

enum { CHAINS = 12, ROUNDS = 1 << 20, COPY_REPEATS = 5 };

// CHAINS independent multiply-adds of vectors hide the latency of the two units a core has. One
// function per instruction set, so that the roof is the machine's and not the build's.
#define MULTIPLY_ADD(name, bytes, attribute)                                                       \
    typedef float Vector_##name __attribute__((vector_size(bytes)));                               \
    attribute static float multiply_add_##name(float seed)                                         \
    {                                                                                              \
        Vector_##name x[CHAINS], a = (Vector_##name){0} + 0.5f, b = (Vector_##name){0} + seed;     \
        _Pragma("GCC unroll 12") for (int c = 0; c < CHAINS; c++) x[c] = b * (float)c;             \
        for (int r = 0; r < ROUNDS; r++) {                                                         \
            _Pragma("GCC unroll 12") for (int c = 0; c < CHAINS; c++) x[c] = x[c] * a + b;         \
        }                                                                                          \
        float sum = 0;                                                                             \
        _Pragma("GCC unroll 12") for (int c = 0; c < CHAINS; c++) sum += x[c][0];                  \
        return sum;                                                                                \
    }

MULTIPLY_ADD(plain, 16, )
#if defined(__x86_64__)
MULTIPLY_ADD(avx2, 32, __attribute__((target("avx2,fma"))))
MULTIPLY_ADD(avx512, 64, __attribute__((target("avx512f,fma"))))
#endif

typedef struct MultiplyAdd {
    float (*run)(float seed);
    int lanes;
} MultiplyAdd;

static MultiplyAdd widest(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return (MultiplyAdd){multiply_add_avx512, 16};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return (MultiplyAdd){multiply_add_avx2, 8};
#endif
    return (MultiplyAdd){multiply_add_plain, 4};
}

static double flops_per_s(int threads)
{
    const MultiplyAdd unit = widest();
    volatile float sink = 0;
    double best = 0;
    for (int k = 0; k < 3; k++) {
        float sum = 0;
        double start = litho_now_ms();
#pragma omp parallel num_threads(threads) reduction(+ : sum)
        sum += unit.run(1.0f + omp_get_thread_num());
        double seconds = (litho_now_ms() - start) * 1e-3;
        sink += sum;
        best = MAX(best, 2.0 * CHAINS * ROUNDS * unit.lanes * threads / seconds);
    }
    return best;
}

// 256 MiB each way, beyond any cache; every thread copies what it touched first.
static double bytes_per_s(int threads)
{
    const gint64 n = 64 << 20;
    g_autofree float *from = g_try_malloc(n * sizeof(float));
    g_autofree float *to = g_try_malloc(n * sizeof(float));
    double best = 0;
    for (int k = 0; k <= COPY_REPEATS && from && to; k++) {
        double start = litho_now_ms();
#pragma omp parallel for num_threads(threads) schedule(static)
        for (gint64 i = 0; i < n; i++) {
            if (k == 0)
                from[i] = (float)i;
            to[i] = from[i];
        }
        if (k > 0)
            best = MAX(best, 2.0 * n * sizeof(float) / ((litho_now_ms() - start) * 1e-3));
    }
    return best;
}

BenchRoof bench_cpu_roof(int threads)
{
    return (BenchRoof){.bytes_per_s = bytes_per_s(threads), .flops_per_s = flops_per_s(threads)};
}
