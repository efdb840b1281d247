// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/common/gaps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "kernels/common/select.h"
#include "kernels/common/vector16.h"

enum { N = LITHO_GAPS_WINDOW, HALF = N / 2, VECTORS = N * N, SAMPLES = N * N * N };
enum { PASSES = 10, COLOURS = 4 };
enum { LEAST_SHARE = 4 }; // a column is used when one in so many of its traces is live

// Thresholds fall from the first to the last share of the largest coefficient, and end at so many
// standard deviations of the noise, which some passes measure.
static const float first_share = 0.7f, last_share = 0.01f, noise_times = 2.5f;

typedef LithoV16 V;
typedef LithoM16 M;
#define PATCH_T V
#define PATCH_FN LITHO_INLINE
#include "kernels/common/fft.h"

typedef struct Job {
    LithoCube *cube;
    guint8 *live; // of the traces, before guesses were put in
    const LithoGapPieces *pieces;
    gint64 first[3], count[3]; // columns of windows, pairs along time, that touch what is held
    float taper[3][N];
    float *weight; // per trace: sum of w^2 over the columns of windows that were used
    LithoRun *run;
    int stop; // atomic: 1 = cancelled, 2 = no memory
} Job;

// Two windows, half a window apart in time, are real and imaginary part of one signal, which is as
// sparse as either. A trace fills a row of 16 samples in files; here a vector holds 16 crosslines.
typedef struct Scratch {
    V x[2][N][N], f[2][N][N]; // [part][sample][inline]; f also [part][frequency][crossline]
    M hole[2][N][N];
    float power[SAMPLES];
    const float *rows[VECTORS];
    guint8 missing[VECTORS]; // per trace of the window; 2 = beyond the survey or not held
} Scratch;

static gboolean is_line(const Job *job, int axis)
{
    return job->cube->grid.axis[axis].n == 1;
}

// An axis of one trace is one window, in which that trace stands everywhere.
static gint64 start_of(const Job *job, int axis, gint64 k)
{
    return is_line(job, axis) ? 0 : (k - 1) * HALF;
}

// --- a pair of windows ---------------------------------------------------------------------------

// Which pieces of a trace are bad, by number in the survey; NULL = none is marked.
static const guint8 *marks_of(const Job *job, gint64 trace)
{
    const LithoGapPieces *p = job->pieces;
    return p ? p->bad + trace * p->pieces - p->first : NULL;
}

// Trace k of the window at `at`, in the survey.
static gint64 line_of(const Job *job, const gint64 at[2], int axis, int k)
{
    return at[axis] + (is_line(job, axis) ? 0 : axis == 0 ? k / N : k % N);
}

static gint64 trace_of(const Job *job, const gint64 at[2], int k)
{
    return litho_cube_trace_index(job->cube, line_of(job, at, 0, k), line_of(job, at, 1, k));
}

// Recorded samples, tapered, and the holes. A window without a recorded sample reads as zeros.
// FALSE: there is no hole in what is held.
static gboolean load_window(const Job *job, const gint64 at[3], int part, Scratch *s)
{
    const LithoBox held = job->cube->held;
    const gboolean inside = at[2] < held.hi[2] && at[2] + N > held.lo[2];
    gboolean any = FALSE, there[N];
    gint64 piece[N];
    for (int t = 0; t < N; t++) {
        there[t] = at[2] + t >= held.lo[2] && at[2] + t < held.hi[2];
        piece[t] = job->pieces && there[t] ? (at[2] + t) / job->pieces->length : 0;
    }
    for (int k = 0; k < VECTORS; k++) {
        float *x = (float *)&s->x[part][0][k / N] + k % N;
        int *hole = (int *)&s->hole[part][0][k / N] + k % N;
        const guint8 *bad = s->missing[k] ? NULL : marks_of(job, trace_of(job, at, k));
        const float w = job->taper[0][k / N] * job->taper[1][k % N];
        for (int t = 0; t < N; t++, x += VECTORS, hole += VECTORS) {
            const gboolean gone = s->missing[k] || !there[t] || (bad && bad[piece[t]]);
            const float value = gone ? 0 : s->rows[k][at[2] + t - held.lo[2]];
            *hole = gone && inside ? -1 : 0;
            *x = value - value == 0 ? w * job->taper[2][t] * value : 0;
            any |= gone && there[t] && s->missing[k] < 2;
        }
    }
    return any;
}

LITHO_INLINE void along_time(V re[N][N], V im[N][N])
{
    for (int i = 0; i < N; i++) {
        V a[N], b[N];
        for (int t = 0; t < N; t++) {
            a[t] = re[t][i];
            b[t] = im[t][i];
        }
        patch_fft16(a, b);
        for (int t = 0; t < N; t++) {
            re[t][i] = a[t];
            im[t][i] = b[t];
        }
    }
}

// Inline, then crossline; the plane comes out as [crossline wavenumber] of inline wavenumbers.
LITHO_INLINE void along_plane(V re[N], V im[N])
{
    patch_fft16(re, im);
    litho_transpose16(re);
    litho_transpose16(im);
    patch_fft16(re, im);
}

LITHO_CLONES static void forward(Scratch *s)
{
    memcpy(s->f, s->x, sizeof s->f);
    along_time(s->f[0], s->f[1]);
    for (int t = 0; t < N; t++)
        along_plane(s->f[0][t], s->f[1][t]);
}

// Keeps |F|^2 >= limit, transforms back and takes the holes.
LITHO_CLONES static void keep_and_take(Scratch *s, float limit)
{
    const float scale = 1.0f / SAMPLES;
    for (int t = 0; t < N; t++) {
        V *re = s->f[0][t], *im = s->f[1][t];
        for (int i = 0; i < N; i++) {
            const M keep = re[i] * re[i] + im[i] * im[i] >= limit;
            re[i] = litho_keep16(keep, re[i]);
            im[i] = litho_keep16(keep, im[i]);
        }
        along_plane(im, re);
    }
    along_time(s->f[1], s->f[0]);
    for (int part = 0; part < 2; part++)
        for (int t = 0; t < N; t++)
            for (int i = 0; i < N; i++) {
                const M hole = s->hole[part][t][i];
                s->x[part][t][i] = litho_keep16(hole, s->f[part][t][i] * scale) +
                                   litho_keep16(~hole, s->x[part][t][i]);
            }
}

LITHO_CLONES static void powers(Scratch *s)
{
    const float *re = (const float *)s->f[0], *im = (const float *)s->f[1];
    for (int k = 0; k < SAMPLES; k++)
        s->power[k] = re[k] * re[k] + im[k] * im[k];
}

static float largest_power(const Scratch *s)
{
    float most = 0;
    for (int k = 0; k < SAMPLES; k++)
        most = MAX(most, s->power[k]);
    return most;
}

static void guess_pair(Scratch *s)
{
    float first = 0, noise = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        forward(s);
        if (pass == 0 || pass == PASSES / 2 || pass == PASSES - 2)
            powers(s);
        if (pass == 0)
            first = largest_power(s);
        else if (pass == PASSES / 2 || pass == PASSES - 2) // mean of the noise, from its median
            noise = litho_select_kth(s->power, SAMPLES, SAMPLES / 2) / (float)G_LN2;
        if (!(first > 0))
            return;
        const float share =
            first_share * powf(last_share / first_share, (float)pass / (PASSES - 1));
        keep_and_take(s, fmaxf(share * share * first, noise_times * noise_times * noise));
    }
}

static void add_window(const Job *job, const gint64 at[3], int part, const Scratch *s)
{
    const LithoBox held = job->cube->held;
    const int t0 = (int)MAX(held.lo[2] - at[2], 0), t1 = (int)MIN(held.hi[2] - at[2], N);
    for (int k = 0; k < VECTORS; k++) {
        const gboolean again = (is_line(job, 0) && k / N > 0) || (is_line(job, 1) && k % N > 0);
        if (s->missing[k] == 2 || again)
            continue;
        const float w = job->taper[0][k / N] * job->taper[1][k % N];
        const int *hole = (const int *)&s->hole[part][0][k / N] + k % N;
        const float *x = (const float *)&s->x[part][0][k / N] + k % N;
        float *to = litho_cube_trace(job->cube, line_of(job, at, 0, k), line_of(job, at, 1, k)) +
                    at[2] - held.lo[2];
        for (int t = t0; t < t1; t++)
            if (hole[t * VECTORS])
                to[t] += w * job->taper[2][t] * x[t * VECTORS];
    }
}

// --- columns of windows --------------------------------------------------------------------------

// Traces of the column at `at`; TRUE when it is to be used: something is missing and enough is
// there.
static gboolean find_traces(const Job *job, const gint64 at[2], Scratch *s)
{
    const LithoBox held = job->cube->held;
    int live = 0, missing = 0;
    for (int k = 0; k < VECTORS; k++) {
        const gint64 il = line_of(job, at, 0, k), xl = line_of(job, at, 1, k);
        s->missing[k] = 2;
        if (il < held.lo[0] || il >= held.hi[0] || xl < held.lo[1] || xl >= held.hi[1])
            continue;
        s->missing[k] = !job->live[trace_of(job, at, k)];
        s->rows[k] = litho_cube_trace(job->cube, il, xl);
        live += !s->missing[k];
        missing += s->missing[k];
    }
    return (missing > 0 || job->pieces) && live > 0 && LEAST_SHARE * live >= live + missing;
}

static void run_column(Job *job, gint64 k0, gint64 k1, Scratch *s)
{
    gint64 at[3] = {start_of(job, 0, k0), start_of(job, 1, k1)};
    if (!find_traces(job, at, s))
        return;
    for (gint64 pair = job->first[2]; pair < job->first[2] + job->count[2]; pair++) {
        if (!litho_run_checkpoint(job->run)) {
            g_atomic_int_set(&job->stop, 1);
            return;
        }
        gboolean any = FALSE;
        for (int part = 0; part < 2; part++) {
            at[2] = start_of(job, 2, 2 * pair + part);
            any |= load_window(job, at, part, s);
        }
        if (any)
            guess_pair(s);
        for (int part = 0; any && part < 2; part++) {
            at[2] = start_of(job, 2, 2 * pair + part);
            add_window(job, at, part, s);
        }
    }
    for (int k = 0; k < VECTORS; k++)
        if (s->missing[k] < 2) {
            const float w = job->taper[0][k / N] * job->taper[1][k % N];
            const gboolean again = (is_line(job, 0) && k / N > 0) || (is_line(job, 1) && k % N > 0);
            job->weight[trace_of(job, at, k)] += again ? 0 : w * w;
        }
}

// Columns of one colour share no trace, so that sums have one order on any number of threads.
static void run_colour(Job *job, int colour, int threads)
{
    // Columns are numbered in the survey, not in the box: sums have one order, that of the whole.
    const gint64 from0 = job->first[0] + ((job->first[0] + colour / 2) & 1);
    const gint64 from1 = job->first[1] + ((job->first[1] + colour % 2) & 1);
    const gint64 n0 = (job->first[0] + job->count[0] - from0 + 1) / 2;
    const gint64 n1 = (job->first[1] + job->count[1] - from1 + 1) / 2;
#pragma omp parallel num_threads(threads)
    {
        Scratch *s = aligned_alloc(sizeof(V), sizeof *s); // which holds a whole number of V
        if (!s)
            g_atomic_int_set(&job->stop, 2);
#pragma omp for schedule(dynamic)
        for (gint64 k = 0; k < n0 * n1; k++)
            if (s && !g_atomic_int_get(&job->stop))
                run_column(job, from0 + 2 * (k / n1), from1 + 2 * (k % n1), s);
        free(s);
    }
}

// --- the whole -----------------------------------------------------------------------------------

static gboolean job_init(Job *job, GError **error)
{
    const LithoBox held = job->cube->held;
    const gint64 traces = litho_box_size(held, 0) * litho_box_size(held, 1);
    for (int a = 0; a < 3; a++) {
        const gint64 n = job->cube->grid.axis[a].n;
        job->first[a] = n == 1 ? 0 : held.lo[a] / HALF;
        job->count[a] = n == 1 ? 1 : (held.hi[a] - 1) / HALF + 2 - job->first[a];
        for (int k = 0; k < N; k++)
            job->taper[a][k] = n == 1 ? 1 : (float)sin(G_PI * (k + 0.5) / N);
    }
    job->count[2] = (job->first[2] + job->count[2] + 1) / 2 - job->first[2] / 2;
    job->first[2] /= 2;
    job->live = g_try_malloc(traces);
    job->weight = g_try_new0(float, traces);
    if (!job->live || !job->weight)
        return litho_refuse(error, LITHO_ERROR_MEMORY,
                            "there is no memory for guesses of missing traces");
    memcpy(job->live, job->cube->live, traces);
    return TRUE;
}

static void job_clear(Job *job)
{
    g_free(job->live);
    g_free(job->weight);
}

// Multiplies the samples of trace k that are guessed: all of a missing one, the bad pieces of a
// live one.
static void scale_guesses(const Job *job, gint64 k, float by)
{
    const LithoBox held = job->cube->held;
    const gint64 nt = litho_box_size(held, 2);
    float *trace = job->cube->samples + k * nt;
    if (!job->live[k]) {
        for (gint64 t = 0; t < nt; t++)
            trace[t] = by == 0 ? 0 : by * trace[t];
        return;
    }
    const LithoGapPieces *p = job->pieces;
    for (gint64 n = 0; p && n < p->pieces; n++) {
        if (!p->bad[k * p->pieces + n])
            continue;
        const gint64 from = MAX((p->first + n) * p->length, held.lo[2]);
        const gint64 to = MIN((p->first + n + 1) * p->length, held.hi[2]);
        for (gint64 t = from - held.lo[2]; t < to - held.lo[2]; t++)
            trace[t] = by == 0 ? 0 : by * trace[t];
    }
}

// Windows add to the guesses: zeros at first.
static void clear_guesses(const Job *job)
{
    const gint64 traces = litho_box_size(job->cube->held, 0) * litho_box_size(job->cube->held, 1);
    for (gint64 k = 0; k < traces; k++)
        scale_guesses(job, k, 0);
}

// Where windows were left out for want of live traces, the others' weights count as one.
static void normalise(Job *job)
{
    const gint64 traces = litho_box_size(job->cube->held, 0) * litho_box_size(job->cube->held, 1);
    const float least = 0.02f;
    for (gint64 k = 0; k < traces; k++) {
        const float scale = job->weight[k] > least ? 1 / job->weight[k] : 0;
        scale_guesses(job, k, scale);
        job->cube->live[k] |= scale > 0;
    }
}

gboolean litho_gaps_any(const LithoCube *cube, LithoBox box)
{
    gboolean live = FALSE, missing = FALSE;
    for (gint64 il = box.lo[0]; il < box.hi[0] && !(live && missing); il++)
        for (gint64 xl = box.lo[1]; xl < box.hi[1]; xl++) {
            const gboolean here = litho_cube_is_live(cube, il, xl);
            live |= here;
            missing |= !here;
        }
    return live && missing;
}

gboolean litho_gaps_guess(LithoCube *cube, const LithoGapPieces *pieces, LithoRun *run,
                          GError **error)
{
    Job job = {.cube = cube, .pieces = pieces, .run = run};
    const double start = litho_now_ms();
    litho_run_begin(run, "missing traces", "passes");
    gboolean ok = job_init(&job, error);
    if (ok)
        clear_guesses(&job);
    for (int colour = 0; ok && colour < COLOURS; colour++) {
        run_colour(&job, colour, litho_run_threads(run));
        if (job.stop == 2)
            ok = litho_refuse(error, LITHO_ERROR_MEMORY,
                              "there is no memory for guesses of missing traces");
        else
            ok = litho_run_step(run, colour + 1, COLOURS, error);
    }
    if (ok)
        normalise(&job);
    job_clear(&job);
    litho_run_time(run, "missing traces", LITHO_STAGE_COMPUTE, litho_now_ms() - start,
                   8.0 * litho_box_count(cube->held),
                   PASSES * 2 * 5 * 12 * 4.0 * litho_box_count(cube->held));
    return ok;
}
