// SPDX-License-Identifier: GPL-3.0-or-later
//
// Thresholds of the residual box in local Fourier windows, on the CPU: a vector holds the 16 samples
// of a trace.
#include "kernels/wavepacket/cpu/wavepacket.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "kernels/common/vector16.h"
#include "kernels/wavepacket/local.h"

enum { N = WP_LOCAL, HALF = N / 2, SPAN = N + HALF, COLOURS = 4 };

typedef LithoV16 V;
typedef LithoM16 M;
#define PATCH_T V
#define PATCH_FN LITHO_INLINE
#include "kernels/common/fft.h"

typedef struct Job {
    const int *n;
    const float *x;
    float *out;
    V limit[N][N]; // [k1][k3], a vector over k2
    float taper[N];
    gboolean soft;
    const LithoRun *run;
    int failed; // atomic: no memory
} Job;

typedef struct Scratch {
    V re[N][N], im[N][N]; // [inline][crossline] of samples; [k1][k3] of k2
} Scratch;

static gboolean inside(const int n[3], const int at[3], int i, int j)
{
    return at[0] + i >= 0 && at[0] + i < n[0] && at[1] + j >= 0 && at[1] + j < n[1];
}

// Samples of the pair at `at` that a trace has: from .. end - 1 of SPAN.
static void part_of(const Job *job, const int at[3], int *from, int *end)
{
    *from = MAX(-at[2], 0);
    *end = MIN(job->n[2] - at[2], SPAN);
}

LITHO_INLINE gint64 first_of(const Job *job, const int at[3], int i, int j)
{
    return ((gint64)(at[0] + i) * job->n[1] + at[1] + j) * job->n[2] + at[2];
}

LITHO_INLINE void load_pair(const Job *job, const int at[3], Scratch *s)
{
    int from, end;
    part_of(job, at, &from, &end);
    const V taper = litho_load16(job->taper);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float row[SPAN] = {0};
            if (inside(job->n, at, i, j) && end > from)
                memcpy(row + from, job->x + first_of(job, at, i, j) + from,
                       (end - from) * sizeof *row);
            const V w = taper * (job->taper[i] * job->taper[j]);
            s->re[i][j] = w * litho_load16(row);
            s->im[i][j] = w * litho_load16(row + HALF);
        }
}

LITHO_INLINE void add_pair(const Job *job, const int at[3], const Scratch *s)
{
    int from, end;
    part_of(job, at, &from, &end);
    const V taper = litho_load16(job->taper) * (1.0f / (N * N * N));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            if (!inside(job->n, at, i, j))
                continue;
            const V w = taper * (job->taper[i] * job->taper[j]);
            const V re = w * s->re[i][j], im = w * s->im[i][j];
            float row[SPAN] = {0};
            memcpy(row, &re, sizeof re);
            for (int t = 0; t < N; t++)
                row[HALF + t] += im[t];
            float *to = job->out + first_of(job, at, i, j);
            for (int t = from; t < end; t++)
                to[t] += row[t];
        }
}

LITHO_INLINE void along_inlines(V re[N][N], V im[N][N])
{
    for (int j = 0; j < N; j++) {
        V a[N], b[N];
        for (int i = 0; i < N; i++) {
            a[i] = re[i][j];
            b[i] = im[i][j];
        }
        patch_fft16(a, b);
        for (int i = 0; i < N; i++) {
            re[i][j] = a[i];
            im[i][j] = b[i];
        }
    }
}

// Crosslines, then samples, which change places; or, with the parts swapped, all of it back.
LITHO_INLINE void along_plane(V re[N], V im[N])
{
    patch_fft16(re, im);
    litho_transpose16(re);
    litho_transpose16(im);
    patch_fft16(re, im);
}

LITHO_INLINE gint64 threshold(const Job *job, Scratch *s)
{
    M count = {0};
    for (int i = 0; i < N; i++)
        for (int t = 0; t < N; t++) {
            const V re = s->re[i][t], im = s->im[i][t], power = re * re + im * im;
            const M keep = power >= job->limit[i][t];
            V factor = litho_keep16(keep, 1 - (V){0});
            if (job->soft)
                for (int k = 0; k < N; k++)
                    factor[k] *= keep[k] && power[k] > 0 ? 1 - sqrtf(job->limit[i][t][k] / power[k]) : 0;
            count -= keep;
            s->re[i][t] = factor * re;
            s->im[i][t] = factor * im;
        }
    gint64 kept = 0;
    for (int k = 0; k < N; k++)
        kept += count[k];
    return kept;
}

LITHO_CLONES static gint64 run_pair(const Job *job, const int at[3], Scratch *s)
{
    load_pair(job, at, s);
    along_inlines(s->re, s->im);
    for (int i = 0; i < N; i++)
        along_plane(s->re[i], s->im[i]);
    const gint64 kept = threshold(job, s);
    if (kept == 0)
        return 0;
    for (int i = 0; i < N; i++)
        along_plane(s->im[i], s->re[i]);
    along_inlines(s->im, s->re);
    add_pair(job, at, s);
    return kept;
}

// Windows of one colour share no trace, so that sums have one order on any number of threads.
static gint64 run_colour(Job *job, int colour, int threads)
{
    const int from[2] = {colour / 2, colour % 2};
    int count[2];
    gint64 kept = 0;
    for (int a = 0; a < 2; a++)
        count[a] = (wp_local_windows(job->n[a]) - from[a] + 1) / 2;
#pragma omp parallel num_threads(threads) reduction(+ : kept)
    {
        Scratch *s = aligned_alloc(sizeof(V), sizeof *s);
        if (!s)
            g_atomic_int_set(&job->failed, 1);
#pragma omp for schedule(dynamic)
        for (int c = 0; c < count[0] * count[1]; c++)
            for (int p = 0; s && p < wp_local_pairs(job->n[2]) && litho_run_checkpoint(job->run);
                 p++) {
                const int at[3] = {(from[0] + 2 * (c / count[1]) - 1) * HALF,
                                   (from[1] + 2 * (c % count[1]) - 1) * HALF, (2 * p - 1) * HALF};
                kept += run_pair(job, at, s);
            }
        free(s);
    }
    return kept;
}

gboolean wp_cpu_local(const WpBox *box, const float *x, float *out, const WpRule *rule, int threads,
                      const LithoRun *run, guint64 *kept, GError **error)
{
    Job *job = aligned_alloc(sizeof(V), sizeof *job);
    gint64 count = 0;
    if (!job)
        return litho_refuse(error, LITHO_ERROR_MEMORY, "there is no memory to denoise in windows");
    *job = (Job){.n = box->n, .x = x, .out = out, .soft = rule->soft, .run = run};
    wp_local_taper(job->taper);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int t = 0; t < N; t++)
                job->limit[i][t][j] = rule->local[(i * N + j) * N + t];
    memset(out, 0, box->floats * sizeof *out);
    for (int colour = 0; colour < COLOURS; colour++)
        count += run_colour(job, colour, threads);
    const gboolean ok = !job->failed;
    free(job);
    *kept = wp_local_share(box, (guint64)count);
    return ok || litho_refuse(error, LITHO_ERROR_MEMORY,
                              "there is no memory to denoise in windows");
}
