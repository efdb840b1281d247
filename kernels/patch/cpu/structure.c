// SPDX-License-Identifier: GPL-3.0-or-later
//
// Dips and coherence on the CPU (rules of structure.h): inline after inline, with the products of
// the inlines around kept in a ring.
#include "kernels/patch/cpu/structure.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "kernels/common/clones.h"
#include "kernels/patch/structure.h"

enum {
    FIT = LITHO_PATCH_FIT,
    WIDTH = LITHO_PATCH_FIT_WIDTH,
    TRACES = LITHO_PATCH_TENSOR_TRACES,
    SAMPLES = LITHO_PATCH_TENSOR_SAMPLES,
    PRODUCTS = LITHO_PATCH_PRODUCTS,
    RING = 2 * TRACES + 1,
};

typedef struct Job {
    const LithoCube *in;
    LithoBox region;
    LithoBox sums; // region with the traces and samples whose products it takes
    int volume;
    float unit;
    gint64 n; // samples of the region
    float weight[RING];
    float *scratch; // of each thread
    gsize scratch_floats;
    float *plane; // [product][crossline of sums][n], of one inline
    float *ring;  // [inline modulo RING][product][crossline of region][n]
    LithoRun *run;
    gint stop; // atomic
} Job;

// A look at a cancel, from any thread, every trace: an inline may take a second.
static gboolean goes_on(Job *job)
{
    if (!g_atomic_int_get(&job->stop) && !litho_run_checkpoint(job->run))
        g_atomic_int_set(&job->stop, 1);
    return !g_atomic_int_get(&job->stop);
}

// --- one trace -----------------------------------------------------------------------------------

// Height and slopes of the planes at `n` samples.
LITHO_CLONES static void fit_planes(const float *const rows[LITHO_PATCH_FIT_TRACES],
                                    const LithoPatchFit *fit, gint64 n, float *value, float *inl,
                                    float *xl)
{
    memset(value, 0, n * sizeof *value);
    memset(inl, 0, n * sizeof *inl);
    memset(xl, 0, n * sizeof *xl);
    for (int k = 0; k < LITHO_PATCH_FIT_TRACES; k++) {
        const float *x = rows[k], a = fit->value[k], b = fit->inl[k], c = fit->xl[k];
        for (gint64 t = 0; x && t < n; t++) {
            value[t] += a * x[t];
            inl[t] += b * x[t];
            xl[t] += c * x[t];
        }
    }
}

// Sums of weights[i] x[t + i], ascending.
LITHO_CLONES static void filter(const float *x, const float *weights, int count, gint64 n,
                                float *to)
{
    memset(to, 0, n * sizeof *to);
    for (int i = 0; i < count; i++)
        for (gint64 t = 0; t < n; t++)
            to[t] += weights[i] * x[t + i];
}

// Heights or slopes along time at samples [lo, hi) of the survey's `total`; x[0] is sample `first`.
static void fit_lines(const float *x, gint64 first, gint64 lo, gint64 hi, gint64 total,
                      gboolean slopes, float *to)
{
    float value[WIDTH], slope[WIDTH];
    const gint64 from = CLAMP(FIT, lo, hi), upto = CLAMP(total - FIT, from, hi);
    litho_patch_fit_line(FIT, FIT, value, slope);
    if (upto > from)
        filter(x + from - FIT - first, slopes ? slope : value, WIDTH, upto - from, to + from - lo);
    for (gint64 t = lo; t < hi; t++) {
        if (t == from && upto > from)
            t = upto;
        if (t >= hi)
            break;
        const int below = (int)MIN(t, FIT), above = (int)MIN(total - 1 - t, FIT);
        litho_patch_fit_line(below, above, value, slope);
        float sum = 0;
        for (int i = -below; i <= above; i++)
            sum += (slopes ? slope : value)[FIT + i] * x[t + i - first];
        to[t - lo] = sum;
    }
}

// Live traces within FIT of (il, xl); their samples from t on.
static void find_traces(const Job *job, gint64 il, gint64 xl, gint64 t, unsigned char *there,
                        const float **rows)
{
    const LithoGrid *grid = &job->in->grid;
    for (int k = 0; k < LITHO_PATCH_FIT_TRACES; k++) {
        const gint64 i = il + k / WIDTH - FIT, j = xl + k % WIDTH - FIT;
        there[k] = i >= 0 && i < grid->axis[0].n && j >= 0 && j < grid->axis[1].n &&
                   litho_cube_is_live(job->in, i, j);
        rows[k] = there[k] ? litho_cube_trace(job->in, i, j) + t - job->in->held.lo[2] : NULL;
    }
}

LITHO_CLONES static void multiply(const float *a, const float *b, gint64 n, float *to)
{
    for (gint64 t = 0; t < n; t++)
        to[t] = a[t] * b[t];
}

// The products of trace (il, xl), added along time: to[product * step + sample of the region].
static void sum_trace(const Job *job, gint64 il, gint64 xl, float *scratch, float *to, gsize step)
{
    const gint64 total = job->in->grid.axis[2].n, lo = job->sums.lo[2], hi = job->sums.hi[2];
    const gint64 first = MAX(lo - FIT, 0), n = MIN(hi + FIT, total) - first;
    const gint64 padded = job->n + 2 * SAMPLES, at = lo - (job->region.lo[2] - SAMPLES);
    float *plane[3], *gradient[3], *product = scratch + 3 * n + 3 * (hi - lo);
    unsigned char there[LITHO_PATCH_FIT_TRACES];
    const float *rows[LITHO_PATCH_FIT_TRACES];
    LithoPatchFit fit;
    float weights[2 * SAMPLES + 1];
    for (int a = 0; a < 3; a++) {
        plane[a] = scratch + a * n;
        gradient[a] = scratch + 3 * n + a * (hi - lo);
    }
    for (int i = -SAMPLES; i <= SAMPLES; i++)
        weights[SAMPLES + i] = litho_patch_tensor_samples(i);
    find_traces(job, il, xl, first, there, rows);
    litho_patch_fit_plane(there, &fit);
    fit_planes(rows, &fit, n, plane[2], plane[0], plane[1]);
    for (int a = 0; a < 3; a++)
        fit_lines(plane[a], first, lo, hi, total, a == 2, gradient[a]);
    static const int pair[PRODUCTS][2] = {{0, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}, {2, 2}};
    memset(product, 0, padded * sizeof *product);
    for (int c = 0; c < PRODUCTS; c++) {
        multiply(gradient[pair[c][0]], gradient[pair[c][1]], hi - lo, product + at);
        filter(product, weights, 2 * SAMPLES + 1, job->n, to + c * step);
    }
}

// --- an inline -----------------------------------------------------------------------------------

static float *ring_of(const Job *job, gint64 il, int product, gint64 xl)
{
    const gint64 nx = litho_box_size(job->region, 1);
    return job->ring + (((il % RING) * PRODUCTS + product) * nx + xl - job->region.lo[1]) * job->n;
}

LITHO_CLONES static void add(const float *x, float weight, gint64 n, float *to)
{
    for (gint64 t = 0; t < n; t++)
        to[t] += weight * x[t];
}

// Products of an inline, added along time and crosslines, into its place of the ring.
static void sum_inline(Job *job, gint64 il, int threads)
{
    const LithoBox s = job->sums, r = job->region;
    const gint64 nx = litho_box_size(s, 1);
    const gsize step = nx * job->n;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (gint64 j = 0; j < nx; j++) {
        float *to = job->plane + j * job->n;
        if (!goes_on(job))
            continue;
        if (litho_cube_is_live(job->in, il, s.lo[1] + j))
            sum_trace(job, il, s.lo[1] + j,
                      job->scratch + omp_get_thread_num() * job->scratch_floats, to, step);
        else
            for (int c = 0; c < PRODUCTS; c++)
                memset(to + c * step, 0, job->n * sizeof *to);
    }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (gint64 xl = r.lo[1]; xl < r.hi[1]; xl++)
        for (int c = 0; goes_on(job) && c < PRODUCTS; c++) {
            float *to = ring_of(job, il, c, xl);
            memset(to, 0, job->n * sizeof *to);
            for (gint64 j = MAX(xl - TRACES, s.lo[1]); j < MIN(xl + TRACES + 1, s.hi[1]); j++)
                add(job->plane + c * step + (j - s.lo[1]) * job->n, job->weight[j - xl + TRACES],
                    job->n, to);
        }
}

static void write_trace(const Job *job, gint64 il, gint64 xl, float *scratch, float *to)
{
    memset(scratch, 0, PRODUCTS * job->n * sizeof *scratch);
    for (int c = 0; c < PRODUCTS; c++)
        for (gint64 i = MAX(il - TRACES, job->sums.lo[0]);
             i < MIN(il + TRACES + 1, job->sums.hi[0]); i++)
            add(ring_of(job, i, c, xl), job->weight[i - il + TRACES], job->n, scratch + c * job->n);
    const float unit = job->volume == LITHO_PATCH_COHERENCE ? 1 : job->unit;
    for (gint64 t = 0; t < job->n; t++) {
        float sums[PRODUCTS];
        for (int c = 0; c < PRODUCTS; c++)
            sums[c] = scratch[c * job->n + t];
        to[t] = unit * litho_patch_structure(sums, job->volume);
    }
}

static void write_inline(Job *job, gint64 il, LithoCube *out, int threads)
{
    const LithoBox r = job->region;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (gint64 xl = r.lo[1]; xl < r.hi[1]; xl++)
        if (goes_on(job))
            write_trace(job, il, xl, job->scratch + omp_get_thread_num() * job->scratch_floats,
                        litho_cube_trace(out, il, xl) + r.lo[2] - out->held.lo[2]);
}

// --- the whole -----------------------------------------------------------------------------------

guint64 patch_structure_bytes(const LithoGrid *grid, LithoBox region)
{
    const LithoBox sums = litho_box_grow(grid, region, (const gint64[3]){TRACES, TRACES, SAMPLES});
    const guint64 rows = MIN(RING, litho_box_size(sums, 0));
    const guint64 lines = litho_box_size(sums, 1) + rows * litho_box_size(region, 1);
    return 4 * (litho_box_count(region) + PRODUCTS * lines * litho_box_size(region, 2));
}

static gboolean job_memory(Job *job, int threads, GError **error)
{
    const gsize longest = job->n + 2 * (SAMPLES + FIT);
    job->scratch_floats = 8 * longest; // planes, gradients, a product; or all sums
    job->scratch = g_try_new(float, threads * job->scratch_floats);
    job->plane = g_try_new(float, PRODUCTS *litho_box_size(job->sums, 1) * job->n);
    job->ring = g_try_new(float, (gsize)RING *PRODUCTS *litho_box_size(job->region, 1) * job->n);
    return (job->scratch && job->plane && job->ring) ||
           litho_refuse(error, LITHO_ERROR_MEMORY, "there is no memory for the dips of %d inlines",
                        RING);
}

static void job_clear(Job *job)
{
    g_free(job->scratch);
    g_free(job->plane);
    g_free(job->ring);
}

static gboolean run_job(Job *job, LithoCube *out, int threads, GError **error)
{
    const LithoBox s = job->sums, r = job->region;
    gint64 next = r.lo[0];
    litho_run_begin(job->run, "dips", "inlines");
    for (gint64 il = s.lo[0]; il < s.hi[0]; il++) {
        if (!litho_run_step(job->run, il - s.lo[0], litho_box_size(s, 0), error))
            return FALSE;
        sum_inline(job, il, threads);
        for (; next < r.hi[0] && (next + TRACES <= il || il == s.hi[0] - 1); next++)
            write_inline(job, next, out, threads);
    }
    return !job->stop || litho_run_stopped(error);
}

gboolean patch_structure(const LithoCube *in, LithoBox region, int volume, float unit,
                         LithoCube *out, LithoRun *run, GError **error)
{
    const double start = litho_now_ms();
    const int threads = litho_run_threads(run);
    Job job = {.in = in, .region = region, .volume = volume, .unit = unit, .run = run};
    job.sums = litho_box_grow(&in->grid, region, (const gint64[3]){TRACES, TRACES, SAMPLES});
    job.n = litho_box_size(region, 2);
    for (int i = -TRACES; i <= TRACES; i++)
        job.weight[TRACES + i] = litho_patch_tensor_traces(i);
    const gboolean ok = job_memory(&job, threads, error) && run_job(&job, out, threads, error);
    job_clear(&job);
    if (ok)
        litho_run_time(
            run, "dips", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 8.0 * litho_box_count(region),
            2.0 * litho_box_count(region) *
                (3 * LITHO_PATCH_FIT_TRACES + 3 * WIDTH + PRODUCTS * (2 * SAMPLES + 2 + 2 * RING)));
    return ok;
}
