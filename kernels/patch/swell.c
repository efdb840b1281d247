// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/patch/swell.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "core/error.h"
#include "kernels/common/select.h"
#include "kernels/patch/cpu/goes_on.h"
#include "kernels/patch/swell_split.h"

enum {
    ASKED = PATCH_SWELL_LOW + PATCH_SWELL_ABOVE,
    OVERLAP = 4,
    MOST = 2 * PATCH_SWELL_AROUND + 1
};
// Noise is swell from ONSET times the power of the others on, all of it from twice that.
static const float ONSET = 4;

// --- what it needs -------------------------------------------------------------------------------

void patch_swell_windows(const LithoGrid *grid, LithoPatchAxis axis[3])
{
    const double step = fabs(grid->axis[2].step);
    const int length = step > 0 ? OVERLAP * (int)lrint(PATCH_SWELL_S / step / OVERLAP) : 0;
    const gboolean few = MIN(grid->axis[0].n, grid->axis[1].n) < PATCH_SWELL_FEW;
    for (int a = 0; a < 2; a++)
        axis[a] =
            litho_patch_axis((int)grid->axis[a].n, few ? PATCH_SWELL_ALONG : PATCH_SWELL_TRACES, 2);
    axis[2] = (LithoPatchAxis){0};
    if (length >= PATCH_SWELL_LEAST && grid->axis[2].n >= 2 * (gint64)length)
        axis[2] = litho_patch_axis((int)grid->axis[2].n, length, OVERLAP);
}

gboolean patch_swell_asked(const LithoGrid *grid, const LithoPatchParams *params)
{
    LithoPatchAxis axis[3];
    if (params->swell != LITHO_PATCH_SWELL_AUTO || params->mode != LITHO_PATCH_DENOISE ||
        params->sigma > 0 || grid->is_depth ||
        MAX(grid->axis[0].n, grid->axis[1].n) < PATCH_SWELL_TRACES)
        return FALSE;
    patch_swell_windows(grid, axis);
    return axis[2].length > 0;
}

LithoBox patch_swell_box(const LithoGrid *grid, const LithoPatchParams *params, LithoBox box)
{
    LithoPatchAxis axis[3];
    if (!patch_swell_asked(grid, params) || litho_box_empty(box))
        return box;
    patch_swell_windows(grid, axis);
    return litho_box_grow(
        grid, box,
        (const gint64[3]){axis[0].length - 1, axis[1].length - 1,
                          axis[2].length - 1 + PATCH_SWELL_AROUND * axis[2].stride});
}

// --- spectra beside the events -------------------------------------------------------------------

typedef struct Job {
    const PatchSwell *swell;
    LithoCube *cube;
    LithoPatchAxis axis[3];
    int first[3], last[3]; // windows along the axes of which the cube holds all samples
    gint64 traces;         // that it holds
    PatchSplit split;
    float complex *low; // beside the events, [window along time][frequency][trace]
    float *event;       // powers of the events, likewise
    float *above;       // powers beside them at the frequencies above
    LithoRun *run;
    GError **error;
    gint64 done, total;
    gint stop; // atomic
} Job;

static gboolean holds(const Job *job, int a, int k)
{
    const LithoBox held = job->cube->held;
    for (int i = 0; i < job->axis[a].length; i++) {
        const int at = litho_patch_mirror(job->axis[a].n, litho_patch_start(job->axis[a], k) + i);
        if (at < held.lo[a] || at >= held.hi[a])
            return FALSE;
    }
    return TRUE;
}

// The windows that are held follow each other.
static void find_held(Job *job)
{
    for (int a = 0; a < 3; a++) {
        job->first[a] = 0;
        job->last[a] = job->axis[a].count - 1;
        while (job->first[a] <= job->last[a] && !holds(job, a, job->first[a]))
            job->first[a]++;
        while (job->last[a] >= job->first[a] && !holds(job, a, job->last[a]))
            job->last[a]--;
    }
}

static int windows_held(const Job *job)
{
    return MAX(job->last[2] - job->first[2] + 1, 0);
}

// Coefficient of window k along time at each trace; 0 where it is not live.
static void transform(const Job *job, int k, const float complex *wave, float complex *to)
{
    const LithoBox held = job->cube->held;
    const gint64 nt = litho_box_size(held, 2);
    const LithoPatchAxis time = job->axis[2];
    const int start = litho_patch_start(time, k);
    for (gint64 trace = 0; trace < job->traces; trace++) {
        const float *x = job->cube->samples + trace * nt - held.lo[2];
        float re = 0, im = 0;
        for (int t = 0; t < time.length && job->cube->live[trace]; t++) {
            const float value = x[litho_patch_mirror(time.n, start + t)];
            re += isfinite(value) ? value * crealf(wave[t]) : 0;
            im += isfinite(value) ? value * cimagf(wave[t]) : 0;
        }
        to[trace] = re + im * _Complex_I;
    }
}

static gint64 trace_of(const Job *job, gint64 il, gint64 xl)
{
    const LithoBox held = job->cube->held;
    return (il - held.lo[0]) * litho_box_size(held, 1) + xl - held.lo[1];
}

// Sums over windows at each trace: what is beside the events, their powers, and the squares of the
// taper, by which both are weighted.
typedef struct Sums {
    float complex *x, *beside; // `x`: the values that are split
    float *event, *weight;
} Sums;

static void add_window(const Job *job, int ka, int kb, PatchSplitRoom *room, Sums *sums)
{
    const PatchSplit *s = &job->split;
    const LithoBox held = job->cube->held;
    const int n = s->axis[1].length;
    const int il = litho_patch_start(s->axis[0], ka), xl = litho_patch_start(s->axis[1], kb);
    for (int k = 0; k < s->traces; k++)
        room->x[k] = sums->x[trace_of(job, litho_patch_mirror(s->axis[0].n, il + k / n),
                                      litho_patch_mirror(s->axis[1].n, xl + k % n))];
    if (!patch_split(s, room))
        return;
    for (int k = 0; k < s->traces; k++) {
        const int i = il + k / n, j = xl + k % n;
        if (i < held.lo[0] || i >= held.hi[0] || j < held.lo[1] || j >= held.hi[1])
            continue;
        const gint64 trace = trace_of(job, i, j);
        sums->beside[trace] += s->taper[k] * room->x[k];
        sums->event[trace] += patch_split_power(room->event[k]);
        sums->weight[trace] += s->taper[k] * s->taper[k];
    }
}

static gboolean sums_begin(Sums *sums, gint64 traces)
{
    sums->x = g_try_new(float complex, traces);
    sums->beside = g_try_new(float complex, traces);
    sums->event = g_try_new(float, traces);
    sums->weight = g_try_new(float, traces);
    return sums->x && sums->beside && sums->event && sums->weight;
}

static void sums_end(Sums *sums)
{
    g_free(sums->x);
    g_free(sums->beside);
    g_free(sums->event);
    g_free(sums->weight);
}

// One frequency of one time.
static void split_field(const Job *job, int task, PatchSplitRoom *room, Sums *sums)
{
    const int k = task / ASKED, f = task % ASKED, length = job->axis[2].length;
    g_autofree float complex *wave = g_new(float complex, length);
    g_autofree float *taper = g_new(float, length);
    patch_swell_wave(length, patch_swell_bin(f), wave, taper);
    transform(job, job->first[2] + k, wave, sums->x);
    memset(sums->beside, 0, job->traces * sizeof *sums->beside);
    memset(sums->event, 0, job->traces * sizeof *sums->event);
    memset(sums->weight, 0, job->traces * sizeof *sums->weight);
    for (int a = job->first[0]; a <= job->last[0]; a++)
        for (int b = job->first[1]; b <= job->last[1]; b++)
            add_window(job, a, b, room, sums);
    for (gint64 t = 0; t < job->traces; t++) {
        const float by = sums->weight[t] > 0 ? 1 / sums->weight[t] : 0;
        const gsize low = ((gsize)k * PATCH_SWELL_LOW + f) * job->traces + t;
        if (f < PATCH_SWELL_LOW) {
            job->low[low] = by * sums->beside[t];
            job->event[low] = by * sums->event[t];
        } else {
            job->above[((gsize)k * PATCH_SWELL_ABOVE + f - PATCH_SWELL_LOW) * job->traces + t] =
                patch_split_power(by * sums->beside[t]);
        }
    }
}

static gboolean split_all(Job *job)
{
    const int tasks = windows_held(job) * ASKED;
    gint lacks = 0;
    job->total = tasks;
#pragma omp parallel num_threads(MAX(MIN(litho_run_threads(job->run), tasks), 1))
    {
        PatchSplitRoom room;
        Sums sums;
        if (!patch_split_room(&job->split, &room) | !sums_begin(&sums, job->traces))
            g_atomic_int_set(&lacks, 1);
#pragma omp for schedule(dynamic)
        for (int k = 0; k < tasks; k++)
            if (!g_atomic_int_get(&lacks) &&
                patch_goes_on(job->run, &job->done, job->total, &job->stop, job->error)) {
                split_field(job, k, &room, &sums);
                __atomic_add_fetch(&job->done, 1, __ATOMIC_RELAXED);
            }
        patch_split_room_end(&room);
        sums_end(&sums);
    }
    if (lacks)
        return litho_refuse(job->error, LITHO_ERROR_MEMORY, "there is no memory to remove swell");
    return !job->stop;
}

// --- taking it off -------------------------------------------------------------------------------

// The windows around k whose median counts.
static int windows_around(const Job *job, int k, int *last)
{
    *last = MIN(k + PATCH_SWELL_AROUND, windows_held(job) - 1);
    return MAX(k - PATCH_SWELL_AROUND, 0);
}

// Mean power by that median.
static float power_of_above(const Job *job, int k, int f, gint64 trace)
{
    float power[MOST];
    int n = 0, last;
    for (int w = windows_around(job, k, &last); w <= last; w++)
        power[n++] = job->above[((gsize)w * PATCH_SWELL_ABOVE + f) * job->traces + trace];
    return litho_select_kth(power, n, n / 2) / patch_swell_median(PATCH_SWELL_LOW);
}

// So at a low frequency; *event: median power of the events there.
static float power_of_low(const Job *job, int k, int f, gint64 trace, float *event)
{
    float power[MOST], events[MOST];
    int n = 0, last;
    for (int w = windows_around(job, k, &last); w <= last; w++, n++) {
        const gsize at = ((gsize)w * PATCH_SWELL_LOW + f) * job->traces + trace;
        power[n] = patch_split_power(job->low[at]);
        events[n] = job->event[at];
    }
    *event = litho_select_kth(events, n, n / 2);
    return litho_select_kth(power, n, n / 2) / patch_swell_median(f);
}

// By how much a trace is louder than most at all frequencies.
static float louder_of(const Job *job, int k, gint64 trace)
{
    float louder = 1;
    for (int f = 0; f < PATCH_SWELL_ABOVE; f++)
        if (job->swell->above[f] > 0)
            louder = fmaxf(louder, power_of_above(job, k, f, trace) / job->swell->above[f]);
    return louder;
}

// The share that goes of what a trace has at frequency f beside its events; `louder`: louder_of().
static float share_of(const Job *job, int k, int f, gint64 trace, float louder)
{
    float event;
    const float power = power_of_low(job, k, f, trace, &event);
    const float most = job->swell->low[f] * louder;
    const float sure =
        most > 0 ? CLAMP(power / (ONSET * most) - 1, 0, 1) * patch_swell_is_no_event(power, event)
                 : 0;
    return sure > 0 ? sure * (1 - sqrtf(most / power)) : 0;
}

// Adds what goes of window k of a trace to `to`[sample of the survey]; the largest share that does.
static float gather(const Job *job, int k, gint64 trace, float complex *const *waves, float *to)
{
    const LithoPatchAxis time = job->axis[2];
    const int start = litho_patch_start(time, job->first[2] + k);
    const int from = (int)MAX(job->cube->held.lo[2] - start, 0);
    const int end = (int)MIN(job->cube->held.hi[2] - start, time.length);
    const float louder = louder_of(job, k, trace);
    float largest = 0;
    for (int f = 0; f < PATCH_SWELL_LOW; f++) {
        const float share = share_of(job, k, f, trace, louder);
        const float complex z = share * (f > 0 ? 2 : 1) *
                                job->low[((gsize)k * PATCH_SWELL_LOW + f) * job->traces + trace];
        for (int t = from; t < end && share > 0; t++)
            to[start + t] += crealf(z) * crealf(waves[f][t]) + cimagf(z) * cimagf(waves[f][t]);
        largest = fmaxf(largest, share);
    }
    return largest;
}

// A trace without its swell; TRUE where most of some went. `weight`: [sample of the survey], the
// sum of squares of the tapers.
static gboolean calm_trace(const Job *job, gint64 trace, float complex *const *waves,
                           const float *weight, float *swell)
{
    const LithoBox held = job->cube->held;
    float *x = job->cube->samples + trace * litho_box_size(held, 2) - held.lo[2];
    float largest = 0;
    memset(swell + held.lo[2], 0, litho_box_size(held, 2) * sizeof *swell);
    for (int k = 0; k < windows_held(job) && job->cube->live[trace]; k++)
        largest = fmaxf(largest, gather(job, k, trace, waves, swell));
    for (gint64 t = held.lo[2]; t < held.hi[2] && largest > 0; t++)
        if (x[t] != 0) // of a mute
            x[t] -= swell[t] / weight[t];
    return largest > 0.5f;
}

// Sums over all windows of the survey, of which a coefficient is a sum over `length` samples.
static float *weights_of(LithoPatchAxis time, const float *taper)
{
    float *weight = g_new(float, time.n);
    for (int t = 0; t < time.n; t++) {
        double sum = 0;
        for (int k = litho_patch_first(time, t); k <= litho_patch_last(time, t); k++)
            sum += taper[t - litho_patch_start(time, k)] * taper[t - litho_patch_start(time, k)];
        weight[t] = (float)(sum * time.length);
    }
    return weight;
}

// Number of traces that had swell.
static gint64 take_off(const Job *job)
{
    const int length = job->axis[2].length;
    g_autofree float *taper = g_new(float, length);
    float complex *waves[PATCH_SWELL_LOW];
    gint64 calmed = 0;
    for (int f = 0; f < PATCH_SWELL_LOW; f++) {
        waves[f] = g_new(float complex, length);
        patch_swell_wave(length, patch_swell_bin(f), waves[f], taper);
    }
    g_autofree float *weight = weights_of(job->axis[2], taper);
#pragma omp parallel num_threads(litho_run_threads(job->run)) reduction(+ : calmed)
    {
        g_autofree float *swell = g_new(float, job->axis[2].n);
#pragma omp for schedule(static)
        for (gint64 trace = 0; trace < job->traces; trace++)
            calmed += calm_trace(job, trace, waves, weight, swell);
    }
    for (int f = 0; f < PATCH_SWELL_LOW; f++)
        g_free(waves[f]);
    return calmed;
}

gboolean patch_swell_remove(const PatchSwell *swell, LithoCube *cube, double *part, LithoRun *run,
                            GError **error)
{
    const double start = litho_now_ms();
    const LithoBox held = cube->held;
    GError *trouble = NULL;
    Job job = {.swell = swell,
               .cube = cube,
               .traces = litho_box_size(held, 0) * litho_box_size(held, 1),
               .run = run,
               .error = &trouble};
    patch_swell_windows(&cube->grid, job.axis);
    find_held(&job);
    const gsize of_each = (gsize)windows_held(&job) * job.traces;
    job.low = g_try_new(float complex, MAX(of_each * PATCH_SWELL_LOW, 1));
    job.event = g_try_new(float, MAX(of_each * PATCH_SWELL_LOW, 1));
    job.above = g_try_new(float, MAX(of_each * PATCH_SWELL_ABOVE, 1));
    gboolean ok = job.low && job.event && job.above && patch_split_begin(&job.split, job.axis);
    if (!ok)
        litho_refuse(&trouble, LITHO_ERROR_MEMORY, "there is no memory to remove swell");
    litho_run_begin(run, "swell", "spectra");
    ok = ok && split_all(&job);
    if (ok) {
        const gint64 live = litho_cube_count_live(cube), calmed = take_off(&job);
        if (part)
            *part = live > 0 ? (double)calmed / (double)live : 0;
    } else if (!trouble) {
        litho_run_stopped(&trouble);
    }
    patch_split_end(&job.split);
    g_free(job.low);
    g_free(job.event);
    g_free(job.above);
    litho_run_time(run, "swell", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 0, 0);
    if (trouble)
        g_propagate_error(error, trouble);
    return ok;
}
