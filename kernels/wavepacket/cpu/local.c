// SPDX-License-Identifier: GPL-3.0-or-later
//
// Thresholds of the residual box in local Fourier windows, on the CPU.
#include "kernels/wavepacket/cpu/wavepacket.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "kernels/common/clones.h"
#include "kernels/common/window16.h"
#include "kernels/wavepacket/local.h"

enum { N = WP_LOCAL, HALF = N / 2, SPAN = N + HALF, SAMPLES = N * N * N, COLOURS = 4 };

typedef struct Job {
    const int *n;
    const float *x;
    float *out;
    float limit[SAMPLES] __attribute__((aligned(64))); // [k1][k3][k2]
    float taper[3][N];
    gboolean soft, drops;
    const LithoRun *run;
    int failed; // atomic: no memory
} Job;

typedef struct Scratch {
    // [inline][crossline][sample]; [k1][k3][k2]
    float re[SAMPLES] __attribute__((aligned(64))), im[SAMPLES];
} Scratch;

LITHO_INLINE gboolean inside(const int n[3], const int at[3], int i, int j)
{
    return at[0] + i >= 0 && at[0] + i < n[0] && at[1] + j >= 0 && at[1] + j < n[1];
}

// Samples of the pair at `at` that a trace has: from .. end - 1 of SPAN.
LITHO_INLINE void part_of(const Job *job, const int at[3], int *from, int *end)
{
    *from = MAX(-at[2], 0);
    *end = MIN(job->n[2] - at[2], SPAN);
}

LITHO_INLINE gint64 first_of(const Job *job, const int at[3], int i, int j)
{
    return ((gint64)(at[0] + i) * job->n[1] + at[1] + j) * job->n[2] + at[2];
}

LITHO_CLONES static void load_pair(const Job *job, const int at[3], Scratch *s)
{
    int from, end;
    part_of(job, at, &from, &end);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float row[SPAN] = {0}, *re = s->re + (i * N + j) * N, *im = s->im + (i * N + j) * N;
            if (inside(job->n, at, i, j) && end > from)
                memcpy(row + from, job->x + first_of(job, at, i, j) + from,
                       (end - from) * sizeof *row);
            for (int t = 0; t < N; t++) {
                const float w = job->taper[2][t] * (job->taper[0][i] * job->taper[1][j]);
                re[t] = w * row[t];
                im[t] = w * row[HALF + t];
            }
        }
}

LITHO_CLONES static void add_pair(const Job *job, const int at[3], const Scratch *s)
{
    const float scale = (job->drops ? -1.0f : 1.0f) / SAMPLES;
    int from, end;
    part_of(job, at, &from, &end);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            if (!inside(job->n, at, i, j))
                continue;
            const float *re = s->re + (i * N + j) * N, *im = s->im + (i * N + j) * N;
            float w[N], row[SPAN] = {0};
            for (int t = 0; t < N; t++) {
                w[t] = job->taper[2][t] * scale * (job->taper[0][i] * job->taper[1][j]);
                row[t] = w[t] * re[t];
            }
            for (int t = 0; t < N; t++)
                row[HALF + t] += w[t] * im[t];
            float *to = job->out + first_of(job, at, i, j);
            for (int t = from; t < end; t++)
                to[t] += row[t];
        }
}

LITHO_INLINE gint64 threshold(const float *limit, gboolean soft, float *restrict re,
                              float *restrict im)
{
    int kept = 0;
    for (int k = 0; k < SAMPLES; k++) {
        const float power = re[k] * re[k] + im[k] * im[k];
        const gboolean keep = power >= limit[k];
        const float factor = !soft ? 1 : power > 0 ? 1 - sqrtf(limit[k] / power) : 0;
        kept += keep;
        re[k] = keep ? factor * re[k] : 0;
        im[k] = keep ? factor * im[k] : 0;
    }
    return kept;
}

LITHO_CLONES static gint64 threshold_pair(const Job *job, Scratch *s)
{
    return job->soft ? threshold(job->limit, TRUE, s->re, s->im)
                     : threshold(job->limit, FALSE, s->re, s->im);
}

static gint64 run_pair(const Job *job, const int at[3], Scratch *s)
{
    load_pair(job, at, s);
    LITHO_ISA_PICK(litho_window16_forward)(s->re, s->im);
    const gint64 kept = threshold_pair(job, s);
    if (kept == 0)
        return 0;
    LITHO_ISA_PICK(litho_window16_backward)(s->re, s->im);
    add_pair(job, at, s);
    return kept;
}

// Threads for a volume of pairs: waking many of them takes longer than a few windows.
static int threads_for(const int n[3], int most)
{
    enum { PAIRS = 32 }; // a few tenths of a millisecond
    const gint64 pairs =
        (gint64)wp_local_windows(n[0]) * wp_local_windows(n[1]) * wp_local_pairs(n[2]);
    return (int)CLAMP(pairs / PAIRS, 1, most);
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
        Scratch *s = aligned_alloc(64, sizeof *s);
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
    Job *job = aligned_alloc(64, sizeof *job);
    gint64 count = 0;
    if (!job)
        return litho_refuse(error, LITHO_ERROR_MEMORY, "there is no memory to denoise in windows");
    *job = (Job){
        .n = box->n, .x = x, .out = out, .soft = rule->soft, .drops = rule->drops, .run = run};
    for (int a = 0; a < 3; a++)
        wp_local_taper(box->n[a], job->taper[a]);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int t = 0; t < N; t++)
                job->limit[(i * N + t) * N + j] = rule->local[(i * N + j) * N + t];
    if (rule->drops)
        memcpy(out, x, box->floats * sizeof *out);
    else
        memset(out, 0, box->floats * sizeof *out);
    for (int colour = 0; colour < COLOURS; colour++)
        count += run_colour(job, colour, threads_for(box->n, threads));
    const gboolean ok = !job->failed;
    free(job);
    *kept = wp_local_share(box, (guint64)count);
    return ok ||
           litho_refuse(error, LITHO_ERROR_MEMORY, "there is no memory to denoise in windows");
}
