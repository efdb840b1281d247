// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/common/noise.h"

#include <fftw3.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "core/error.h"
#include "kernels/common/select.h"

enum { GROUPS = 8, WINDOWS_PER_STEP = 64, CUT = 3, PASSES = 10 };

typedef struct LithoNoiseWindows Job;

struct LithoNoiseWindows {
    const LithoCube *cube; // the part under way
    LithoBox within;       // windows are taken from there
    double dt;             // samples are so far apart
    LithoBox box;
    int n[3];         // window
    int nf;           // frequencies
    gint64 count[3];  // places of windows per axis
    double *taper[3]; // per axis
    fftwf_plan plan;  // one window
    gint64 windows;   // taken
    float *power;     // [frequency][window][wavenumber], |F|^2 over the energy of the taper
    guint8 *good;     // per window
    guint8 *taken;    // per window
};

static gint64 wavenumbers(const Job *job)
{
    return (gint64)job->n[0] * job->n[1];
}

// --- windows -------------------------------------------------------------------------------------

// Start of the k-th of `count` windows, spread over the axis from end to end.
static gint64 start_of(const Job *job, int axis, gint64 k)
{
    gint64 free = litho_box_size(job->box, axis) - job->n[axis];
    return job->box.lo[axis] + (job->count[axis] > 1 ? k * free / (job->count[axis] - 1) : 0);
}

// One trace of a window into `to`; its share of the taper's energy, 0 when it is absent there.
static double put_trace(const Job *job, const gint64 at[3], int i, int j, float *to)
{
    const gint64 il = at[0] + i, xl = at[1] + j;
    gboolean any = FALSE, finite = TRUE;
    memset(to, 0, job->n[2] * sizeof *to);
    if (!litho_cube_is_live(job->cube, il, xl))
        return 0;
    const float *trace = litho_cube_trace(job->cube, il, xl) + at[2] - job->cube->held.lo[2];
    for (int t = 0; t < job->n[2]; t++) {
        any |= trace[t] != 0;
        finite &= isfinite(trace[t]) != 0;
    }
    if (!any || !finite)
        return 0;
    const double w = job->taper[0][i] * job->taper[1][j];
    for (int t = 0; t < job->n[2]; t++)
        to[t] = (float)(w * job->taper[2][t] * trace[t]);
    return w * w;
}

// Which of the places along `axis` the window has.
static gint64 place_of(const Job *job, gint64 number, int axis)
{
    const gint64 places = job->count[0] * job->count[1] * job->count[2];
    const gint64 place = number * places / job->windows;
    return axis == 0   ? place / (job->count[1] * job->count[2])
           : axis == 1 ? place / job->count[2] % job->count[1]
                       : place % job->count[2];
}

static void measure_window(Job *job, gint64 number, float *in, fftwf_complex *out)
{
    gint64 at[3];
    for (int axis = 0; axis < 3; axis++)
        at[axis] = start_of(job, axis, place_of(job, number, axis));
    double energy = 0, time_energy = 0;
    int present = 0;
    for (int i = 0; i < job->n[0]; i++)
        for (int j = 0; j < job->n[1]; j++) {
            double share = put_trace(job, at, i, j, in + ((gsize)i * job->n[1] + j) * job->n[2]);
            energy += share;
            present += share > 0;
        }
    if (2 * present < wavenumbers(job))
        return;
    for (int t = 0; t < job->n[2]; t++)
        time_energy += job->taper[2][t] * job->taper[2][t];
    fftwf_execute_dft_r2c(job->plan, in, out);
    const float scale = (float)(1 / (energy * time_energy));
    for (int f = 0; f < job->nf; f++) {
        float *power = job->power + ((gsize)f * job->windows + number) * wavenumbers(job);
        for (gint64 k = 0; k < wavenumbers(job); k++) {
            const float *c = out[k * job->nf + f];
            power[k] = scale * (c[0] * c[0] + c[1] * c[1]);
        }
    }
    job->good[number] = 1;
}

// --- medians -------------------------------------------------------------------------------------

// Whether F is real there: its |F|^2 has one degree of freedom instead of two.
static gboolean is_real(const Job *job, int f, gint64 k)
{
    const int own[3] = {(int)(k / job->n[1]), (int)(k % job->n[1]), f};
    for (int a = 0; a < 3; a++)
        if (own[a] != 0 && 2 * own[a] != job->n[a])
            return FALSE;
    return TRUE;
}

// Windows fall into two halves along the first axis that holds several. TRUE when window `w` may
// choose the wavenumbers in which `half` is measured: when it shares no sample with that half, or,
// in a cube too thin for that, when it is of the other half.
static int half_of(const Job *job, gint64 w)
{
    const int axis = job->count[0] > 1 ? 0 : job->count[1] > 1 ? 1 : 2;
    return 2 * place_of(job, w, axis) >= job->count[axis];
}

static gboolean may_choose(const Job *job, gint64 w, int half)
{
    const int axis = job->count[0] > 1 ? 0 : job->count[1] > 1 ? 1 : 2;
    const gint64 last = (job->count[axis] - 1) / 2; // place of half 0
    const gint64 at = start_of(job, axis, place_of(job, w, axis)), n = job->n[axis];
    const gint64 ends[2] = {start_of(job, axis, last), start_of(job, axis, last + 1)};
    if (half_of(job, w) == half)
        return FALSE;
    if (start_of(job, axis, 0) + n > ends[1] ||
        start_of(job, axis, job->count[axis] - 1) < ends[0] + n)
        return TRUE;
    return half ? at + n <= ends[1] : at >= ends[0] + n;
}

// Marks the half of the wavenumbers that have the least power at `f`, to measure `half` in: events
// keep to their dips. Levels must be measured in other windows than these, for the least of random
// numbers are small.
static void mark_quiet(const Job *job, int f, int half, guint8 *quiet)
{
    const gint64 nk = wavenumbers(job);
    g_autofree float *sum = g_new0(float, nk), *sorted = g_new(float, nk);
    for (gint64 w = 0; w < job->windows; w++) {
        const float *power = job->power + ((gsize)f * job->windows + w) * nk;
        if (!job->good[w] || !may_choose(job, w, half))
            continue;
        for (gint64 k = 0; k < nk; k++)
            sum[k] += power[k];
    }
    memcpy(sorted, sum, nk * sizeof *sum);
    const float middle = litho_select_kth(sorted, nk, nk / 2);
    for (gint64 k = 0; k < nk; k++)
        quiet[k] = sum[k] <= middle;
}

// |F|^2 of one frequency, of the windows of one group (of all: GROUPS) and one half (of both: -1),
// of the wavenumbers with a mark in `quiet` (NULL = all), real ones apart unless there are no
// others. Their number; `freedom` is 1 for real ones.
static gint64 gather(const Job *job, int f, int group, int half, const guint8 *quiet, float *to,
                     int *freedom)
{
    const gint64 nk = wavenumbers(job);
    gint64 n = 0;
    int n_real = 0;
    for (gint64 k = 0; k < nk; k++)
        n_real += is_real(job, f, k);
    const gboolean take_real = n_real == nk;
    *freedom = take_real ? 1 : 2;
    for (gint64 w = 0; w < job->windows; w++) {
        const float *power = job->power + ((gsize)f * job->windows + w) * nk;
        if (!job->good[w] || (half >= 0 && half_of(job, w) != half) ||
            (group < GROUPS && w % GROUPS != group))
            continue;
        for (gint64 k = 0; k < nk; k++)
            if ((!quiet || quiet[k]) && (take_real || n_real == 0 || !is_real(job, f, k)))
                to[n++] = power[k];
    }
    return n;
}

// Share of the distribution of |F|^2 in units of its mean that lies below x: exponential, or chi^2
// with one degree of freedom; and its inverse.
static double below(int freedom, double x)
{
    return freedom == 2 ? 1 - exp(-x) : erf(sqrt(x / 2));
}

static double quantile(int freedom, double share)
{
    if (freedom == 2)
        return -log(1 - share);
    double lo = 0, hi = 40;
    for (int k = 0; k < 60; k++) {
        const double mid = (lo + hi) / 2;
        *(below(1, mid) < share ? &lo : &hi) = mid;
    }
    return (lo + hi) / 2;
}

// Share of the mean that lies below x: the integral behind below().
static double mean_below(int freedom, double x)
{
    return freedom == 2 ? 1 - (1 + x) * exp(-x)
                        : erf(sqrt(x / 2)) - sqrt(2 * x / G_PI) * exp(-x / 2);
}

// Mean of |F|^2 of the noise among n values: from their median, then from the mean of what is below
// CUT times the mean of the noise, where events are rare, until it rests: the maximum likelihood of
// a distribution that ends there, twice as exact as a median.
static double noise_power(float *x, gint64 n, int freedom)
{
    double mean = litho_select_kth(x, n, n / 2) / quantile(freedom, 0.5);
    const double share = mean_below(freedom, CUT) / below(freedom, CUT);
    for (int pass = 0; pass < PASSES; pass++) {
        gint64 kept = 0;
        double sum = 0;
        for (gint64 k = 0; k < n; k++)
            if (x[k] <= CUT * mean) {
                sum += x[k];
                kept++;
            }
        mean = kept > 0 ? sum / kept / share : mean;
    }
    return mean;
}

// Standard deviation of the noise at frequency f over all wavenumbers.
static double level(const Job *job, int f, int group, float *scratch)
{
    int freedom;
    const gint64 n = gather(job, f, group, -1, NULL, scratch, &freedom);
    return n > 0 ? sqrt(noise_power(scratch, n, freedom)) : 0;
}

// The same over the wavenumbers where the other half of the windows is quiet.
static double quiet_level(const Job *job, int f, int group, float *scratch)
{
    g_autofree guint8 *quiet = g_new(guint8, wavenumbers(job));
    double sum = 0;
    gint64 count = 0;
    for (int half = 0; half < 2; half++) {
        int freedom;
        mark_quiet(job, f, half, quiet);
        const gint64 n = gather(job, f, group, half, quiet, scratch, &freedom);
        sum += n > 0 ? n * noise_power(scratch, n, freedom) : 0;
        count += n;
    }
    return count > 0 ? sqrt(sum / count) : 0;
}

// Of a whole sample: frequencies but the first and the last of an even length stand for two.
static double total_of(const Job *job, const double *sigma)
{
    double sum = 0;
    for (int f = 0; f < job->nf; f++)
        sum += sigma[f] * sigma[f] * (f == 0 || 2 * f == job->n[2] ? 1 : 2);
    return sqrt(sum / job->n[2]);
}

typedef double (*LevelFunc)(const Job *job, int f, int group, float *scratch);

// Levels of all frequencies by group of windows; the first row is of all windows.
static void levels(const Job *job, LevelFunc func, int rows, int threads, double *sigma)
{
    const gsize most = (gsize)job->windows * wavenumbers(job);
#pragma omp parallel num_threads(threads)
    {
        g_autofree float *scratch = g_new(float, most);
#pragma omp for schedule(dynamic)
        for (int k = 0; k < rows * job->nf; k++)
            sigma[k] = func(job, k % job->nf, GROUPS - k / job->nf, scratch);
    }
}

static gboolean has_windows(const Job *job, int group)
{
    for (gint64 w = group; w < job->windows; w += GROUPS)
        if (job->good[w])
            return TRUE;
    return FALSE;
}

// Twice the standard error over the groups (Student's t for seven degrees of freedom: 2.365) and a
// part for events that nothing tells from noise: 0.3 % in quiet wavenumbers, 2 % in all.
//
// Where the quiet wavenumbers hold much less than all of them the noise itself keeps to some dips
// (it was migrated, or its traces are mixed): then all count, and the interval reaches down.
static void fill_noise(const Job *job, int threads, LithoNoise *noise)
{
    g_autofree double *sigma = g_new0(double, (gsize)(GROUPS + 1) * job->nf);
    g_autofree double *all = g_new0(double, job->nf);
    const double much_less = 0.95;
    levels(job, level, 1, threads, all);
    levels(job, quiet_level, GROUPS + 1, threads, sigma);
    const double quiet = total_of(job, sigma);
    const gboolean even = quiet > much_less * total_of(job, all);
    double totals[GROUPS], mean = 0, spread = 0;
    int groups = 0;
    for (int g = 0; g < GROUPS; g++)
        if (has_windows(job, g)) {
            totals[groups] = total_of(job, sigma + (gsize)(GROUPS - g) * job->nf);
            mean += totals[groups++];
        }
    mean /= MAX(groups, 1);
    for (int g = 0; g < groups; g++)
        spread += (totals[g] - mean) * (totals[g] - mean);
    noise->n = job->nf;
    noise->df = 1 / (job->n[2] * job->dt);
    noise->sigma = g_memdup2(even ? sigma : all, job->nf * sizeof(double));
    noise->total = total_of(job, noise->sigma);
    // One group alone tells nothing of its scatter: half and double.
    const double off = groups > 1 ? 2.365 * sqrt(spread / (groups - 1.0) / groups) : noise->total;
    const double events = even ? 0.003 : 0.02;
    noise->low =
        fmax(MIN(quiet, (1 - events) * noise->total) - off, groups > 1 ? 0 : noise->total / 2);
    noise->high = (1 + events) * noise->total + off;
}

// --- the whole -----------------------------------------------------------------------------------

static gboolean job_init(Job *job, const LithoGrid *grid, LithoBox box, const int window[3],
                         int most, GError **error)
{
    *job = (Job){.box = box, .dt = fabs(grid->axis[2].step)};
    if (litho_box_empty(job->box) || litho_box_size(job->box, 2) < 4)
        return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                            "the noise level needs traces of 4 samples or more");
    gint64 places = 1;
    for (int a = 0; a < 3; a++) {
        job->n[a] = (int)MIN(window[a], litho_box_size(job->box, a));
        // Places half a window apart.
        const gint64 half = MAX(job->n[a] / 2, 1);
        job->count[a] = 1 + (litho_box_size(job->box, a) - job->n[a] + half - 1) / half;
        places *= job->count[a];
    }
    job->nf = job->n[2] / 2 + 1;
    job->windows = MIN(places, most);
    for (int a = 0; a < 3; a++) {
        job->taper[a] = g_new(double, job->n[a]);
        for (int k = 0; k < job->n[a]; k++)
            job->taper[a][k] = sin(G_PI * (k + 0.5) / job->n[a]);
    }
    const gsize samples = (gsize)wavenumbers(job) * job->n[2];
    job->good = g_malloc0(job->windows);
    job->taken = g_malloc0(job->windows);
    job->power = g_try_new(float, (gsize)job->nf * job->windows * wavenumbers(job));
    float *in = fftwf_alloc_real(samples);
    fftwf_complex *out = fftwf_alloc_complex((gsize)wavenumbers(job) * job->nf);
    if (in && out)
        job->plan = fftwf_plan_dft_r2c_3d(job->n[0], job->n[1], job->n[2], in, out, FFTW_ESTIMATE);
    fftwf_free(in);
    fftwf_free(out);
    if (job->plan && job->power)
        return TRUE;
    return litho_refuse(error, LITHO_ERROR_MEMORY,
                        "there is no memory for %d windows of %d x %d x %d samples",
                        (int)job->windows, job->n[0], job->n[1], job->n[2]);
}

static void job_clear(Job *job)
{
    for (int a = 0; a < 3; a++)
        g_free(job->taper[a]);
    g_free(job->good);
    g_free(job->taken);
    g_free(job->power);
    if (job->plan)
        fftwf_destroy_plan(job->plan);
}

static gboolean holds(const Job *job, gint64 number)
{
    for (int axis = 0; axis < 3; axis++) {
        const gint64 at = start_of(job, axis, place_of(job, number, axis));
        if (at < job->within.lo[axis] || at + job->n[axis] > job->within.hi[axis])
            return FALSE;
    }
    return TRUE;
}

// Windows [first, last) that the part under way holds; their results do not depend on who computes
// them.
static void measure_windows(Job *job, gint64 first, gint64 last, int threads)
{
#pragma omp parallel num_threads(threads)
    {
        float *in = fftwf_alloc_real((gsize)wavenumbers(job) * job->n[2]);
        fftwf_complex *out = fftwf_alloc_complex((gsize)wavenumbers(job) * job->nf);
#pragma omp for schedule(static)
        for (gint64 w = first; w < last; w++)
            if (in && out && !job->taken[w] && holds(job, w)) {
                measure_window(job, w, in, out);
                job->taken[w] = 1;
            }
        fftwf_free(in);
        fftwf_free(out);
    }
}

LithoNoiseWindows *litho_noise_windows_new(const LithoGrid *grid, const LithoBox *box,
                                           const int window[3], int most, GError **error)
{
    Job *job = g_new0(Job, 1);
    const LithoBox all = litho_box_full(grid);
    if (job_init(job, grid, box ? litho_box_intersect(*box, all) : all, window, most, error))
        return job;
    litho_noise_windows_free(job);
    return NULL;
}

gboolean litho_noise_windows_add(LithoNoiseWindows *job, const LithoCube *part,
                                 LithoBox within, LithoRun *run, GError **error)
{
    const int threads = litho_run_threads(run);
    const double start = litho_now_ms();
    if (!litho_cube_host(part, error))
        return FALSE;
    job->cube = part;
    job->within = litho_box_intersect(within, part->held);
    for (gint64 w = 0; w < job->windows; w += WINDOWS_PER_STEP) {
        measure_windows(job, w, MIN(w + WINDOWS_PER_STEP, job->windows), threads);
        if (!litho_run_step(run, MIN(w + WINDOWS_PER_STEP, job->windows), job->windows, error))
            return FALSE;
    }
    litho_run_time(run, "noise level", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 0, 0);
    return TRUE;
}

gboolean litho_noise_windows_finish(LithoNoiseWindows *job, LithoRun *run, LithoNoise *noise,
                                    GError **error)
{
    const double start = litho_now_ms();
    if (!memchr(job->good, 1, job->windows))
        return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                            "no window of %d x %d traces has half of them live: there is nothing "
                            "to measure the noise on",
                            job->n[0], job->n[1]);
    fill_noise(job, litho_run_threads(run), noise);
    const double samples = (double)job->windows * wavenumbers(job) * job->n[2];
    litho_run_time(run, "noise level", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 4 * samples,
                   2.5 * samples * log2(wavenumbers(job) * job->n[2]));
    return TRUE;
}

void litho_noise_windows_free(LithoNoiseWindows *job)
{
    if (!job)
        return;
    job_clear(job);
    g_free(job);
}

gboolean litho_noise_measure(const LithoCube *cube, const LithoBox *box, const int window[3],
                             int most, LithoRun *run, LithoNoise *noise, GError **error)
{
    const LithoBox held = box ? litho_box_intersect(*box, cube->held) : cube->held;
    LithoNoiseWindows *job = litho_noise_windows_new(&cube->grid, &held, window, most, error);
    litho_run_begin(run, "noise level", "windows");
    const gboolean ok = job && litho_noise_windows_add(job, cube, held, run, error) &&
                        litho_noise_windows_finish(job, run, noise, error);
    litho_noise_windows_free(job);
    return ok;
}
