// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/common/noise.h"

#include <fftw3.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "core/error.h"
#include "core/mute.h"
#include "kernels/common/balance.h"
#include "kernels/common/gaps.h"
#include "kernels/common/noise_job.h"
#include "kernels/common/offset.h"
#include "kernels/common/noise_share.h"
#include "kernels/common/select.h"

enum { WINDOWS_PER_STEP = 64 };
// Traces count in windows that are muted by no more than a fifth of their energy. With less of them
// the level was up to 2 % low.
#define UNMUTED 0.8

// The level as filters take it, the same without its interval, and as results are judged by.
typedef enum Kind { FILTERS, LEVEL_ALONE, JUDGED } Kind;

// --- windows -------------------------------------------------------------------------------------

gint64 noise_start_of(const NoiseJob *job, int axis, gint64 k)
{
    const gint64 free = litho_box_size(job->box, axis) - job->n[axis];
    if (job->beyond[axis])
        return job->box.lo[axis] + (k - 1) * (job->n[axis] / 2);
    return job->box.lo[axis] + (job->count[axis] > 1 ? k * free / (job->count[axis] - 1) : 0);
}

// FALSE where the samples of a trace are guesses.
static gboolean was_recorded(const NoiseJob *job, gint64 il, gint64 xl)
{
    return !job->recorded || job->recorded[litho_cube_trace_index(job->cube, il, xl)];
}

// Share of the taper's energy along a trace on samples that are not muted: there is no noise in a
// mute, and its zeros would make the noise seem weaker. Zeros at the ends of the window count as
// muted, too. 0 where too little is left: the noise of neighbouring frequencies would be alike.
static double unmuted_share(const NoiseJob *job, const float *trace)
{
    const int n = job->n[2];
    double seen = 0, whole = 0;
    for (int t = 0; t < n;) {
        const int begin = t;
        double energy = 0;
        for (; t < n && (trace[t] == 0) == (trace[begin] == 0); t++)
            energy += job->taper[2][t] * job->taper[2][t];
        const gboolean muted =
            trace[begin] == 0 && (begin == 0 || t == n || t - begin >= LITHO_MUTE_RUN);
        whole += energy;
        seen += muted ? 0 : energy;
    }
    return seen < job->least * whole ? 0 : seen / whole;
}

// One trace of a window into `to`; its share of the taper's energy, 0 when it is absent there or a
// guess, and in `known` also of a guess.
double noise_put_trace(const NoiseJob *job, const gint64 at[3], int i, int j, float *to,
                       double *known, gint64 *muted)
{
    const gint64 il = at[0] + i, xl = at[1] + j;
    int zeros = 0, finite = 0;
    *known = 0;
    memset(to, 0, job->n[2] * sizeof *to);
    if (il < job->box.lo[0] || il >= job->box.hi[0] || xl < job->box.lo[1] ||
        xl >= job->box.hi[1] || !litho_cube_is_live(job->cube, il, xl))
        return 0;
    const float *trace = litho_cube_trace(job->cube, il, xl) + at[2] - job->cube->held.lo[2];
    for (int t = 0; t < job->n[2]; t++) {
        zeros += trace[t] == 0;
        finite += fabsf(trace[t]) <= G_MAXFLOAT;
    }
    if (zeros == job->n[2] || finite < job->n[2])
        return 0;
    const double seen = job->judging ? unmuted_share(job, trace) : 1;
    if (!(seen > 0))
        return 0;
    *muted += zeros > 0 ? noise_count_muted(trace, job->n[2], LITHO_MUTE_RUN) : 0;
    const double w = job->taper[0][i] * job->taper[1][j];
    for (int t = 0; t < job->n[2]; t++)
        to[t] = (float)(w * job->taper[2][t] * trace[t]);
    *known = w * w * seen;
    return was_recorded(job, il, xl) ? *known : 0;
}

void noise_places_of(const NoiseJob *job, gint64 number, gint64 place[3])
{
    const gint64 places = job->count[0] * job->count[1] * job->count[2];
    const gint64 all = places == job->windows ? number : number * places / job->windows;
    const gint64 line = all / job->count[2];
    place[0] = line / job->count[1];
    place[1] = line - place[0] * job->count[1];
    place[2] = all - line * job->count[2];
}

gint64 noise_place_of(const NoiseJob *job, gint64 number, int axis)
{
    gint64 place[3];
    noise_places_of(job, number, place);
    return place[axis];
}

gboolean noise_holds_along(const NoiseJob *job, int axis, gint64 at)
{
    return MAX(at, job->box.lo[axis]) >= job->within.lo[axis] &&
           MIN(at + job->n[axis], job->box.hi[axis]) <= job->within.hi[axis];
}

// Leak of the taper where traces are missing: an event of one wavenumber stands at all of them,
// with the spectrum of the taper on the traces that are left. Its median over its mean is the share
// at a wavenumber far from the event. `in` and `out` are scratch.
static float leak_of(const NoiseJob *job, const gint64 at[3], float *in, fftwf_complex *out)
{
    const gint64 nk = noise_wavenumbers(job);
    g_autofree float *power = g_new(float, nk);
    double sum = 0;
    for (gint64 k = 0; k < nk; k++) {
        float *trace = in + k * job->n[2];
        double known;
        gint64 muted = 0;
        noise_put_trace(job, at, k / job->n[1], k % job->n[1], trace, &known, &muted);
        memset(trace, 0, job->n[2] * sizeof *trace);
        trace[0] = (float)sqrt(known);
    }
    fftwf_execute_dft_r2c(job->plan, in, out); // of a spike in time: alike at all frequencies
    for (gint64 k = 0; k < nk; k++) {
        const float *c = out[k * job->nf];
        power[k] = c[0] * c[0] + c[1] * c[1];
        sum += power[k];
    }
    return sum > 0 ? (float)(litho_select_kth(power, nk, nk / 2) * nk / sum) : 0;
}

static void measure_window(NoiseJob *job, gint64 number, float *in, fftwf_complex *out)
{
    gint64 at[3];
    for (int axis = 0; axis < 3; axis++)
        at[axis] = noise_start_of(job, axis, noise_place_of(job, number, axis));
    double energy = 0, time_energy = 0;
    gint64 present = 0, there = 0, inside = 1, muted = 0;
    for (int i = 0; i < job->n[0]; i++)
        for (int j = 0; j < job->n[1]; j++) {
            double known;
            const double share = noise_put_trace(
                job, at, i, j, in + ((gsize)i * job->n[1] + j) * job->n[2], &known, &muted);
            energy += share;
            present += share > 0;
            there += known > 0;
        }
    for (int axis = 0; axis < 2; axis++)
        inside *=
            MIN(at[axis] + job->n[axis], job->box.hi[axis]) - MAX(at[axis], job->box.lo[axis]);
    if ((job->judging ? LITHO_NOISE_JUDGED_ONE_IN : LITHO_NOISE_ONE_IN) * present < inside) {
        if (present > 0)
            g_atomic_int_inc(&job->sparse);
        return;
    }
    for (int t = 0; t < job->n[2]; t++)
        time_energy += job->taper[2][t] * job->taper[2][t];
    fftwf_execute_dft_r2c(job->plan, in, out);
    const float scale = (float)(1 / (energy * time_energy));
    for (int f = 0; f < job->nf; f++) {
        float *power = job->power + ((gsize)f * job->windows + number) * noise_wavenumbers(job);
        for (gint64 k = 0; k < noise_wavenumbers(job); k++) {
            const float *c = out[k * job->nf + f];
            power[k] = scale * (c[0] * c[0] + c[1] * c[1]);
        }
    }
    job->share[number] = (float)(energy / job->energy);
    job->muted[number] = (float)muted / (float)(there * job->n[2]);
    if (noise_has_neighbours(job) && there < inside)
        job->leak[number] = leak_of(job, at, in, out);
}

// --- the whole -----------------------------------------------------------------------------------

// Windows of the job's box: their size and their places, half a window apart.
static void set_places(NoiseJob *job, const int window[3], int most)
{
    gint64 places = 1;
    for (int a = 0; a < 3; a++)
        job->n[a] = (int)MIN(window[a], litho_box_size(job->box, a));
    for (int a = 0; a < 3; a++) {
        const gint64 half = MAX(job->n[a] / 2, 1);
        job->beyond[a] = noise_has_neighbours(job) && a < 2 && job->n[a] > 1;
        job->count[a] = 1 + (litho_box_size(job->box, a) - job->n[a] + half - 1) / half +
                        (job->beyond[a] ? 2 : 0);
        places *= job->count[a];
    }
    job->nf = job->n[2] / 2 + 1;
    job->windows = MIN(places, most);
}

static gsize count_powers(const NoiseJob *job)
{
    return (gsize)job->nf * job->windows * noise_wavenumbers(job);
}

// All but the memory for spectra on the host.
static gboolean job_init(NoiseJob *job, const LithoGrid *grid, LithoBox box, const int window[3],
                         int most, int dense, GError **error)
{
    *job = (NoiseJob){.box = box, .dt = fabs(grid->axis[2].step), .dense = dense};
    if (litho_box_empty(job->box) || litho_box_size(job->box, 2) < 4)
        return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                            "the noise level needs traces of 4 samples or more");
    set_places(job, window, most);
    for (int a = 0; a < 3; a++) {
        job->taper[a] = g_new(double, job->n[a]);
        for (int k = 0; k < job->n[a]; k++)
            job->taper[a][k] = sin(G_PI * (k + 0.5) / job->n[a]);
    }
    job->energy = 1;
    for (int a = 0; a < 2; a++)
        job->energy *= job->n[a] > 1 ? 0.5 * job->n[a] : 1;
    job->share = g_new0(float, job->windows);
    job->leak = g_new0(float, job->windows);
    job->muted = g_new0(float, job->windows);
    job->taken = g_malloc0(job->windows);
    return TRUE;
}

static gboolean job_reserve(NoiseJob *job, GError **error)
{
    const gsize samples = (gsize)noise_wavenumbers(job) * job->n[2];
    const gsize powers = count_powers(job);
    job->power = g_try_new(float, powers);
    job->smooth = noise_has_neighbours(job) ? g_try_new(float, powers) : NULL;
    float *in = fftwf_alloc_real(samples);
    fftwf_complex *out = fftwf_alloc_complex((gsize)noise_wavenumbers(job) * job->nf);
    if (in && out)
        job->plan = fftwf_plan_dft_r2c_3d(job->n[0], job->n[1], job->n[2], in, out, FFTW_ESTIMATE);
    fftwf_free(in);
    fftwf_free(out);
    if (job->plan && job->power && (job->smooth || !noise_has_neighbours(job)))
        return TRUE;
    return litho_refuse(error, LITHO_ERROR_MEMORY,
                        "there is no memory for %d windows of %d x %d x %d samples",
                        (int)job->windows, job->n[0], job->n[1], job->n[2]);
}

guint64 litho_noise_windows_memory(const LithoGrid *grid, const int window[3], int most)
{
    NoiseJob job = {.box = litho_box_full(grid)};
    set_places(&job, window, most);
    return (noise_has_neighbours(&job) ? 2 : 1) * sizeof(float) * count_powers(&job);
}

guint64 litho_noise_powers_memory(const LithoGrid *grid, const int window[3], int most)
{
    NoiseJob job = {.box = litho_box_full(grid)};
    set_places(&job, window, most);
    return sizeof(float) * count_powers(&job);
}

guint64 litho_noise_thread_memory(const LithoGrid *grid, const int window[3], int most)
{
    NoiseJob job = {.box = litho_box_full(grid)};
    set_places(&job, window, most);
    // One frequency's powers; in long windows, means of their neighbourhoods beside them.
    return (noise_has_neighbours(&job) ? 2 : 1) * sizeof(float) * (guint64)job.windows *
           noise_wavenumbers(&job);
}

static void job_clear(NoiseJob *job)
{
    for (int a = 0; a < 3; a++)
        g_free(job->taper[a]);
    g_free(job->share);
    g_free(job->leak);
    g_free(job->muted);
    g_free(job->taken);
    g_free(job->power);
    g_free(job->smooth);
    if (job->plan)
        fftwf_destroy_plan(job->plan);
}

gboolean noise_holds(const NoiseJob *job, gint64 number)
{
    gint64 place[3];
    noise_places_of(job, number, place);
    for (int axis = 0; axis < 3; axis++)
        if (!noise_holds_along(job, axis, noise_start_of(job, axis, place[axis])))
            return FALSE;
    return TRUE;
}

// Windows [first, last) that the part under way holds; their results do not depend on who computes
// them.
static void measure_windows(NoiseJob *job, gint64 first, gint64 last, const LithoRun *run)
{
#pragma omp parallel num_threads(litho_run_threads(run))
    {
        float *in = fftwf_alloc_real((gsize)noise_wavenumbers(job) * job->n[2]);
        fftwf_complex *out = fftwf_alloc_complex((gsize)noise_wavenumbers(job) * job->nf);
#pragma omp for schedule(static)
        for (gint64 w = first; w < last; w++)
            if (in && out && !job->taken[w] && noise_holds(job, w) && litho_run_checkpoint(run)) {
                measure_window(job, w, in, out);
                job->taken[w] = 1;
            }
        fftwf_free(in);
        fftwf_free(out);
    }
}

static NoiseJob *job_new(const LithoGrid *grid, const LithoBox *box, const int window[3], int most,
                         int dense, GError **error)
{
    NoiseJob *job = g_new0(NoiseJob, 1);
    const LithoBox all = litho_box_full(grid);
    if (job_init(job, grid, box ? litho_box_intersect(*box, all) : all, window, most, dense, error))
        return job;
    litho_noise_windows_free(job);
    return NULL;
}

// With memory for spectra on the host. Takes `job`, which may be NULL.
static NoiseJob *with_powers(NoiseJob *job, GError **error)
{
    if (job && job_reserve(job, error))
        return job;
    litho_noise_windows_free(job);
    return NULL;
}

NoiseJob *noise_places_new(const LithoGrid *grid, const LithoBox *box, const int window[3],
                           int most, GError **error)
{
    return job_new(grid, box, window, most, 0, error);
}

NoiseJob *noise_windows_dense(const LithoGrid *grid, const LithoBox *box, const int window[3],
                              int most, int dense, GError **error)
{
    return with_powers(job_new(grid, box, window, most, dense, error), error);
}

LithoNoiseWindows *litho_noise_windows_new(const LithoGrid *grid, const LithoBox *box,
                                           const int window[3], int most, GError **error)
{
    return with_powers(job_new(grid, box, window, most, 0, error), error);
}

gboolean litho_noise_windows_add(LithoNoiseWindows *job, const LithoCube *part,
                                 const guint8 *recorded, LithoBox within, LithoRun *run,
                                 GError **error)
{
    const double start = litho_now_ms();
    if (!litho_cube_host(part, error))
        return FALSE;
    job->cube = part;
    job->recorded = recorded;
    job->within = litho_box_intersect(within, part->held);
    for (gint64 w = 0; w < job->windows; w += WINDOWS_PER_STEP) {
        measure_windows(job, w, MIN(w + WINDOWS_PER_STEP, job->windows), run);
        if (!litho_run_step(run, MIN(w + WINDOWS_PER_STEP, job->windows), job->windows, error))
            return FALSE;
    }
    litho_run_time(run, "noise level", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 0, 0);
    return TRUE;
}

gboolean noise_too_few(int inlines, int xlines, GError **error)
{
    return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                        "no window of %d x %d traces has a quarter of them live: there is nothing "
                        "to measure the noise on",
                        inlines, xlines);
}

gboolean noise_has_enough(const NoiseJob *job, GError **error)
{
    gint64 there = 0;
    for (gint64 w = 0; w < job->windows; w++)
        there += job->share[w] > 0;
    if (there == 0 && !job->judging)
        return noise_too_few(job->n[0], job->n[1], error);
    return (there > 0 && (!job->judging || there >= job->sparse)) ||
           litho_refuse(error, LITHO_ERROR_GEOMETRY,
                        "too few windows of %d x %d traces have half of them live to judge the "
                        "noise on",
                        job->n[0], job->n[1]);
}

// `tenth`, `half`: room for the floors.
static void take_floor(const NoiseJob *job, int threads, float *tenth, float *half,
                       LithoNoise *noise)
{
    noise_floor(job, threads, tenth);
    if (!noise_holds_more(job, tenth, noise))
        return;
    noise_floor_by(job, 0.5, threads, half);
    noise_take_floor(job, tenth, half, noise);
}

static gboolean finish(LithoNoiseWindows *job, gboolean interval, LithoRun *run, LithoNoise *noise,
                       GError **error)
{
    const double start = litho_now_ms();
    if (!noise_has_enough(job, error))
        return FALSE;
    job->run = run;
    noise_fill(job, litho_run_threads(run), interval, noise);
    if (!job->flat && (!job->judging || noise->lumps > LITHO_NOISE_LUMPS)) {
        const gsize powers = (gsize)job->nf * noise_wavenumbers(job);
        g_autofree float *tenth = g_new0(float, powers), *half = g_new0(float, powers);
        take_floor(job, litho_run_threads(run), tenth, half, noise);
    }
    job->run = NULL;
    if (!litho_run_step(run, job->windows, job->windows, error)) {
        litho_noise_clear(noise);
        return FALSE;
    }
    const double samples = (double)job->windows * noise_wavenumbers(job) * job->n[2];
    litho_run_time(run, "noise level", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 4 * samples,
                   2.5 * samples * log2(noise_wavenumbers(job) * job->n[2]));
    return TRUE;
}

gboolean litho_noise_windows_finish(LithoNoiseWindows *job, LithoRun *run, LithoNoise *noise,
                                    GError **error)
{
    return finish(job, TRUE, run, noise, error);
}

gboolean litho_noise_windows_fill(LithoNoiseWindows *job, LithoRun *run)
{
    job->run = run;
    const gboolean fill = noise_has_enough(job, NULL) &&
                          noise_fills_clearly(job, litho_run_threads(run)) &&
                          litho_run_checkpoint(run);
    job->run = NULL;
    return fill;
}

gboolean litho_noise_windows_shape(LithoNoiseWindows *job, LithoRun *run, LithoNoise *noise,
                                   GError **error)
{
    const int threads = litho_run_threads(run);
    const gsize powers = (gsize)job->nf * noise_wavenumbers(job);
    if (!noise_has_enough(job, error))
        return FALSE;
    g_autofree float *tenth = g_new0(float, powers), *half = g_new0(float, powers);
    job->run = run;
    noise_fill(job, threads, FALSE, noise);
    g_autofree double *flat = g_memdup2(noise->sigma, job->nf * sizeof *flat);
    take_floor(job, threads, tenth, half, noise);
    if (noise->shape && !noise_is_shared(job, flat, tenth, half, noise))
        g_clear_pointer(&noise->shape, g_free);
    job->run = NULL;
    if (litho_run_step(run, job->windows, job->windows, error))
        return TRUE;
    litho_noise_clear(noise);
    return FALSE;
}

void litho_noise_windows_free(LithoNoiseWindows *job)
{
    if (!job)
        return;
    job_clear(job);
    g_free(job);
}

static gboolean measure(const LithoCube *cube, const guint8 *recorded, const LithoBox *box,
                        const int window[3], int most, Kind kind, LithoRun *run, LithoNoise *noise,
                        float *floor, GError **error)
{
    const LithoBox held = box ? litho_box_intersect(*box, cube->held) : cube->held;
    LithoNoiseWindows *job = litho_noise_windows_new(&cube->grid, &held, window, most, error);
    if (job) {
        job->judging = kind == JUDGED;
        job->flat = floor != NULL;
        job->least = UNMUTED;
    }
    litho_run_begin(run, "noise level", "windows");
    gboolean ok = job && litho_noise_windows_add(job, cube, recorded, held, run, error);
    if (ok && job->judging && !noise_has_windows(job)) { // mutes reach into all of them
        job->least = 0;
        job->sparse = 0;
        memset(job->taken, 0, job->windows);
        ok = litho_noise_windows_add(job, cube, recorded, held, run, error);
    }
    ok = ok && finish(job, kind != LEVEL_ALONE, run, noise, error);
    if (ok && floor)
        noise_floor(job, litho_run_threads(run), floor);
    litho_noise_windows_free(job);
    return ok;
}

// Even guesses without noise make the level too low where many traces are missing: by up to 0.8 %
// with a third, by nothing that shows with a tenth. The interval's upper end says so.
static void widen(LithoNoise *noise, const guint8 *recorded, gint64 traces)
{
    gint64 missing = 0;
    for (gint64 k = 0; k < traces; k++)
        missing += !recorded[k];
    noise->high += noise->total * 0.03 * fmax((double)missing / traces - 0.1, 0);
}

static gboolean measure_with_guesses(const LithoCube *cube, const LithoBox *box,
                                     const int window[3], int most, Kind kind, LithoRun *run,
                                     LithoNoise *noise, GError **error)
{
    const LithoBox held = box ? litho_box_intersect(*box, cube->held) : cube->held;
    if (!litho_cube_host(cube, error))
        return FALSE;
    if (litho_box_empty(held) || !litho_gaps_any(cube, held))
        return measure(cube, NULL, box, window, most, kind, run, noise, NULL, error);
    g_autoptr(LithoCube) guessed = litho_cube_copy_box(cube, held, error);
    if (!guessed)
        return FALSE;
    const gint64 traces = litho_box_size(held, 0) * litho_box_size(held, 1);
    g_autofree guint8 *recorded = g_memdup2(guessed->live, traces);
    const gboolean ok =
        (kind == JUDGED ? litho_gaps_guess_events(guessed, run, error)
                        : litho_gaps_guess(guessed, NULL, (LithoGapsRule){0}, run, error)) &&
        measure(guessed, recorded, NULL, window, most, kind, run, noise, NULL, error);
    if (ok)
        widen(noise, recorded, traces);
    return ok;
}

gboolean litho_noise_measure(const LithoCube *cube, const LithoBox *box, const int window[3],
                             int most, LithoRun *run, LithoNoise *noise, GError **error)
{
    return measure_with_guesses(cube, box, window, most, FILTERS, run, noise, error);
}

// The level as results are judged by, without an offset that is far above all else.
static gboolean measure_judged(const LithoCube *cube, const LithoBox *box, const int window[3],
                               int most, LithoRun *run, LithoNoise *noise, GError **error)
{
    const LithoBox held = box ? litho_box_intersect(*box, cube->held) : cube->held;
    GError *trouble = NULL;
    if (!litho_cube_host(cube, error))
        return FALSE;
    g_autoptr(LithoCube) without =
        litho_offset_without(cube, NULL, held, LITHO_OFFSET_FAR_ABOVE, &trouble);
    if (trouble) {
        g_propagate_error(error, trouble);
        return FALSE;
    }
    if (without && !litho_offset_leaves_any(without, NULL))
        return litho_refuse(error, LITHO_ERROR_GEOMETRY, "all samples are alike and hold no noise");
    return measure_with_guesses(without ? without : cube, box, window, most, JUDGED, run, noise,
                                error);
}

// Traces of reversed polarity spread events over all wavenumbers, where they pass for noise: the
// level is measured with these turned, which leaves the noise as it is.
gboolean litho_noise_measure_survey(const LithoCube *cube, const LithoBox *box, const int window[3],
                                    int most, LithoRun *run, LithoNoise *noise, GError **error)
{
    LithoScatter scatter;
    LithoNoise reversed = {0};
    const LithoBox held = box ? litho_box_intersect(*box, cube->held) : cube->held;
    if (!litho_cube_host(cube, error))
        return FALSE;
    g_autofree guint8 *marks = g_malloc0(litho_box_size(held, 0) * litho_box_size(held, 1));
    noise_find_reversed(cube, held, run, &reversed, marks);
    g_autoptr(LithoCube) turned =
        reversed.reversed > 0 ? noise_turn_reversed(cube, held, marks, error) : NULL;
    if (reversed.reversed > 0 && !turned)
        return FALSE;
    const LithoCube *even = turned ? turned : cube;
    if (!measure_judged(even, box, window, most, run, noise, error))
        return FALSE;
    if (!litho_balance_scatter_of(cube, run, &scatter, error)) {
        litho_noise_clear(noise);
        return FALSE;
    }
    noise->gains = scatter.gains;
    noise->noisy = scatter.noise;
    noise->offset = litho_offset_of(cube, held);
    noise->reversed = reversed.reversed;
    memcpy(noise->reversed_at, reversed.reversed_at, sizeof noise->reversed_at);
    noise_find_steep(even, held, run, noise);
    noise_find_shifts(even, held, run, noise);
    return TRUE;
}

gboolean litho_noise_measure_level(const LithoCube *cube, const guint8 *recorded,
                                   const LithoBox *box, const int window[3], int most,
                                   LithoRun *run, LithoNoise *noise, float *floor, GError **error)
{
    return measure(cube, recorded, box, window, most, LEVEL_ALONE, run, noise, floor, error);
}
