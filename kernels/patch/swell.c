// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/patch/swell.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "core/error.h"
#include "kernels/common/select.h"
#include "kernels/patch/cpu/goes_on.h"
#include "kernels/patch/swell_split.h"

enum { ASKED = PATCH_SWELL_ASKED, OVERLAP = 4, MOST = 2 * PATCH_SWELL_AROUND + 1 };
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

// Sums over the windows of a trace at a frequency of a time: what it has beside the events, the
// power of these, and the squares of the taper, by which both are weighted.
typedef struct Cell {
    float complex beside;
    float event, weight;
} Cell;

// Windows go along one axis, row by row. A trace that no later row reads is done with, so that few
// rows are held at a time.
typedef struct Job {
    const PatchSwell *swell;
    LithoCube *cube;
    LithoBox held;
    LithoPatchAxis axis[3];
    int first[3], last[3]; // windows along the axes of which the box holds all samples
    int along, across;     // axes: rows follow each other along the first one
    int ring;              // places along it that are held at a time
    int *done;             // [row + 1]: places below are done with before a row; last: all are
    gint64 lines;          // held across
    PatchSplit split;
    Cell *cell;       // [window along time][frequency][place mod ring][across]
    float complex *x; // of a row, [window along time][frequency][place in its windows][across]
    float *waves;     // patch_swell_waves()
    LithoRun *run;
    GError **error;
    gint64 ready, total; // steps of the progress
    gint64 calmed;       // traces; atomic
    gint stop, lacks;    // atomic
} Job;

static gboolean holds(const Job *job, int a, int k)
{
    for (int i = 0; i < job->axis[a].length; i++) {
        const int at = litho_patch_mirror(job->axis[a].n, litho_patch_start(job->axis[a], k) + i);
        if (at < job->held.lo[a] || at >= job->held.hi[a])
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

static int count_held(const Job *job, int a)
{
    return MAX(job->last[a] - job->first[a] + 1, 0);
}

static int rows_of(const Job *job)
{
    return MIN(count_held(job, job->across), 1) * count_held(job, job->along);
}

// The first place that row r reads, and the end of what it adds to.
static int begin_of(const Job *job, int r)
{
    const LithoPatchAxis axis = job->axis[job->along];
    int least = G_MAXINT;
    for (int i = 0; i < axis.length; i++)
        least = MIN(least, litho_patch_mirror(
                               axis.n, litho_patch_start(axis, job->first[job->along] + r) + i));
    return least;
}

static int end_of(const Job *job, int r)
{
    const LithoPatchAxis axis = job->axis[job->along];
    const int start = litho_patch_start(axis, job->first[job->along] + r);
    return (int)MIN(start + axis.length, job->held.hi[job->along]);
}

static void set_rows(Job *job)
{
    const int rows = rows_of(job);
    job->done = g_new(int, rows + 1);
    job->done[rows] = rows > 0 ? end_of(job, rows - 1) : (int)job->held.lo[job->along];
    job->ring = 1;
    for (int r = rows - 1; r >= 0; r--) {
        job->done[r] = MIN(begin_of(job, r), job->done[r + 1]);
        job->ring = MAX(job->ring, end_of(job, r) - job->done[r]);
    }
}

// Rows go along crosslines, as runs cut surveys along inlines; where there are few of these along
// the others. The survey says so, and no part of it.
static Job job_of(const LithoGrid *grid, LithoBox held)
{
    Job job = {.held = held};
    patch_swell_windows(grid, job.axis);
    job.along =
        grid->axis[1].n <= 2 * job.axis[1].length && grid->axis[0].n > grid->axis[1].n ? 0 : 1;
    job.across = 1 - job.along;
    job.lines = litho_box_size(held, job.across);
    find_held(&job);
    set_rows(&job);
    return job;
}

static gsize cells_of(const Job *job)
{
    return (gsize)count_held(job, 2) * ASKED * job->ring * job->lines;
}

static gsize spectra_of(const Job *job)
{
    return (gsize)count_held(job, 2) * ASKED * job->axis[job->along].length * job->lines;
}

guint64 patch_swell_copy_bytes(const LithoGrid *grid, const LithoPatchParams *params, LithoBox box)
{
    return patch_swell_asked(grid, params) ? 4 * litho_box_count(box) : 0;
}

guint64 patch_swell_bytes(const LithoGrid *grid, const LithoPatchParams *params, LithoBox box)
{
    if (!patch_swell_asked(grid, params) || litho_box_empty(box))
        return 0;
    Job job = job_of(grid, box);
    g_free(job.done);
    return sizeof(Cell) * cells_of(&job) + sizeof(float complex) * spectra_of(&job);
}

static gint64 trace_of(const Job *job, int place, gint64 line)
{
    const gint64 at[2] = {job->along == 0 ? place : line, job->along == 0 ? line : place};
    return (at[0] - job->held.lo[0]) * litho_box_size(job->held, 1) + at[1] - job->held.lo[1];
}

static gsize cell_at(const Job *job, int k, int f, int place, gint64 line)
{
    return (((gsize)k * ASKED + f) * job->ring + place % job->ring) * job->lines + line -
           job->held.lo[job->across];
}

// Spectra of row r at window k along time; 0 where a trace is not live. `part`: scratch, a window.
static void transform_row(const Job *job, int r, int k, float *part)
{
    const gint64 nt = litho_box_size(job->held, 2);
    const LithoPatchAxis time = job->axis[2], along = job->axis[job->along];
    const int start = litho_patch_start(time, job->first[2] + k);
    const int first = litho_patch_start(along, job->first[job->along] + r);
    const gsize plane = (gsize)along.length * job->lines;
    for (gsize i = 0; i < plane; i++) {
        float sum[2 * ASKED] = {0};
        const gint64 trace =
            trace_of(job, litho_patch_mirror(along.n, first + (int)(i / job->lines)),
                     job->held.lo[job->across] + (gint64)i % job->lines);
        const float *x = job->cube->samples + trace * nt - job->held.lo[2];
        for (int t = 0; t < time.length && job->cube->live[trace]; t++)
            part[t] = x[litho_patch_mirror(time.n, start + t)];
        if (job->cube->live[trace])
            patch_swell_transform(part, time.length, job->waves, sum);
        for (int f = 0; f < ASKED; f++)
            job->x[((gsize)k * ASKED + f) * plane + i] = sum[2 * f] + sum[2 * f + 1] * _Complex_I;
    }
}

// Number of the trace in a split window of place i of the row and line j of its lines.
static int number_in(const Job *job, int i, int j)
{
    return job->along == 0 ? i * job->split.axis[1].length + j : j * job->split.axis[1].length + i;
}

static void add_window(const Job *job, int r, int q, int k, int f, PatchSplitRoom *room)
{
    const PatchSplit *s = &job->split;
    const LithoPatchAxis along = job->axis[job->along], across = job->axis[job->across];
    const int place = litho_patch_start(along, job->first[job->along] + r);
    const int line = litho_patch_start(across, job->first[job->across] + q);
    const gint64 from = job->held.lo[job->across], end = job->held.hi[job->across];
    const float complex *x = job->x + ((gsize)k * ASKED + f) * along.length * job->lines;
    for (int i = 0; i < along.length; i++)
        for (int j = 0; j < across.length; j++)
            room->x[number_in(job, i, j)] =
                x[i * job->lines + litho_patch_mirror(across.n, line + j) - from];
    if (!patch_split(s, room))
        return;
    for (int i = 0; i < along.length; i++)
        for (int j = 0; j < across.length; j++) {
            const int n = number_in(job, i, j);
            if (place + i < job->held.lo[job->along] || place + i >= job->held.hi[job->along] ||
                line + j < from || line + j >= end)
                continue;
            Cell *cell = &job->cell[cell_at(job, k, f, place + i, line + j)];
            cell->beside += s->taper[n] * room->x[n];
            cell->event += patch_split_power(room->event[n]);
            cell->weight += s->taper[n] * s->taper[n];
        }
}

// --- taking it off -------------------------------------------------------------------------------

typedef struct Trace {
    int place;
    gint64 line;
} Trace;

static Cell *cell_of(const Job *job, int k, int f, Trace trace)
{
    return &job->cell[cell_at(job, k, f, trace.place, trace.line)];
}

// Sums of a trace become means; 0 where no window told any.
static void weigh_cells(const Job *job, Trace trace)
{
    for (int k = 0; k < count_held(job, 2); k++)
        for (int f = 0; f < ASKED; f++) {
            Cell *cell = cell_of(job, k, f, trace);
            const float by = cell->weight > 0 ? 1 / cell->weight : 0;
            cell->beside *= by;
            cell->event *= by;
        }
}

static void clear_cells(const Job *job, Trace trace)
{
    for (int k = 0; k < count_held(job, 2); k++)
        for (int f = 0; f < ASKED; f++)
            *cell_of(job, k, f, trace) = (Cell){0};
}

// The windows around k whose median counts.
static int windows_around(const Job *job, int k, int *last)
{
    *last = MIN(k + PATCH_SWELL_AROUND, count_held(job, 2) - 1);
    return MAX(k - PATCH_SWELL_AROUND, 0);
}

// Mean power by that median.
static float power_of_above(const Job *job, int k, int f, Trace trace)
{
    float power[MOST];
    int n = 0, last;
    for (int w = windows_around(job, k, &last); w <= last; w++)
        power[n++] = patch_split_power(cell_of(job, w, PATCH_SWELL_LOW + f, trace)->beside);
    return litho_select_kth(power, n, n / 2) / patch_swell_median(PATCH_SWELL_LOW);
}

// So at a low frequency; *event: median power of the events there.
static float power_of_low(const Job *job, int k, int f, Trace trace, float *event)
{
    float power[MOST], events[MOST];
    int n = 0, last;
    for (int w = windows_around(job, k, &last); w <= last; w++, n++) {
        const Cell *cell = cell_of(job, w, f, trace);
        power[n] = patch_split_power(cell->beside);
        events[n] = cell->event;
    }
    *event = litho_select_kth(events, n, n / 2);
    return litho_select_kth(power, n, n / 2) / patch_swell_median(f);
}

// By how much a trace is louder than most at all frequencies.
static float louder_of(const Job *job, int k, Trace trace)
{
    float louder = 1;
    for (int f = 0; f < PATCH_SWELL_ABOVE; f++)
        if (job->swell->above[f] > 0)
            louder = fmaxf(louder, power_of_above(job, k, f, trace) / job->swell->above[f]);
    return louder;
}

// The share that goes of what a trace has at frequency f beside its events; `louder`: louder_of().
static float share_of(const Job *job, int k, int f, Trace trace, float louder)
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
static float gather(const Job *job, int k, Trace trace, float complex *const *waves, float *to)
{
    const LithoPatchAxis time = job->axis[2];
    const int start = litho_patch_start(time, job->first[2] + k);
    const int from = (int)MAX(job->held.lo[2] - start, 0);
    const int end = (int)MIN(job->held.hi[2] - start, time.length);
    const float louder = louder_of(job, k, trace);
    float largest = 0;
    for (int f = 0; f < PATCH_SWELL_LOW; f++) {
        const float share = share_of(job, k, f, trace, louder);
        const float complex z = share * (f > 0 ? 2 : 1) * cell_of(job, k, f, trace)->beside;
        for (int t = from; t < end && share > 0; t++)
            to[start + t] += crealf(z) * crealf(waves[f][t]) + cimagf(z) * cimagf(waves[f][t]);
        largest = fmaxf(largest, share);
    }
    return largest;
}

// A trace without its swell; TRUE where most of some went. `weight`: [sample of the survey], the
// sum of squares of the tapers.
static gboolean calm_trace(const Job *job, Trace trace, float complex *const *waves,
                           const float *weight, float *swell)
{
    const LithoBox held = job->held;
    const gint64 number = trace_of(job, trace.place, trace.line);
    float *x = job->cube->samples + number * litho_box_size(held, 2) - held.lo[2];
    float largest = 0;
    weigh_cells(job, trace);
    memset(swell + held.lo[2], 0, litho_box_size(held, 2) * sizeof *swell);
    for (int k = 0; k < count_held(job, 2) && job->cube->live[number]; k++)
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

// Factors by which traces of a row are calmed.
typedef struct Calm {
    float complex *waves[PATCH_SWELL_LOW];
    float *weight; // weights_of()
} Calm;

static Calm calm_of(const Job *job)
{
    const int length = job->axis[2].length;
    g_autofree float *taper = g_new(float, length);
    Calm calm = {0};
    for (int f = 0; f < PATCH_SWELL_LOW; f++) {
        calm.waves[f] = g_new(float complex, length);
        patch_swell_wave(length, patch_swell_bin(f), calm.waves[f], taper);
    }
    calm.weight = weights_of(job->axis[2], taper);
    return calm;
}

static void calm_clear(Calm *calm)
{
    for (int f = 0; f < PATCH_SWELL_LOW; f++)
        g_free(calm->waves[f]);
    g_free(calm->weight);
}

static gboolean goes_on(Job *job)
{
    return !g_atomic_int_get(&job->lacks) &&
           patch_goes_on(job->run, &job->ready, job->total, &job->stop, job->error);
}

// Row r, by all threads of a team; `room` and `swell` are a thread's own.
static void work_at_row(Job *job, int r, const Calm *calm, PatchSplitRoom *room, float *swell)
{
    const int times = count_held(job, 2), tasks = times * ASKED;
    gint64 calmed = 0;
#pragma omp for schedule(static)
    for (int k = 0; k < times; k++)
        if (goes_on(job))
            transform_row(job, r, k, swell);
#pragma omp for schedule(dynamic)
    for (int k = 0; k < tasks; k++)
        if (goes_on(job)) {
            for (int q = 0; q < count_held(job, job->across); q++)
                add_window(job, r, q, k / ASKED, k % ASKED, room);
            __atomic_add_fetch(&job->ready, 1, __ATOMIC_RELAXED);
        }
    const int from = MAX(job->done[r], (int)job->held.lo[job->along]);
    const gint64 traces = (job->done[r + 1] - from) * job->lines;
#pragma omp for schedule(static)
    for (gint64 k = 0; k < traces; k++)
        if (goes_on(job)) {
            const Trace trace = {from + (int)(k / job->lines),
                                 job->held.lo[job->across] + k % job->lines};
            calmed += calm_trace(job, trace, calm->waves, calm->weight, swell);
            clear_cells(job, trace);
        }
    __atomic_add_fetch(&job->calmed, calmed, __ATOMIC_RELAXED);
}

static void work(Job *job)
{
    const int rows = rows_of(job);
    Calm calm = calm_of(job);
    job->total = (gint64)rows * count_held(job, 2) * ASKED;
#pragma omp parallel num_threads(litho_run_threads(job->run))
    {
        PatchSplitRoom room;
        float *swell = g_try_new(float, MAX(job->axis[2].n, job->axis[2].length));
        if (!patch_split_room(&job->split, &room) || !swell)
            g_atomic_int_set(&job->lacks, 1);
        for (int r = 0; r < rows; r++)
            work_at_row(job, r, &calm, &room, swell);
        patch_split_room_end(&room);
        g_free(swell);
    }
    calm_clear(&calm);
}

gboolean patch_swell_remove(const PatchSwell *swell, LithoCube *cube, double *part, LithoRun *run,
                            GError **error)
{
    const double start = litho_now_ms();
    GError *trouble = NULL;
    Job job = job_of(&cube->grid, cube->held);
    job.swell = swell;
    job.cube = cube;
    job.run = run;
    job.error = &trouble;
    job.cell = g_try_new0(Cell, MAX(cells_of(&job), 1));
    job.x = g_try_new(float complex, MAX(spectra_of(&job), 1));
    job.waves = patch_swell_waves(job.axis[2].length);
    job.lacks = !patch_split_begin(&job.split, job.axis) || !job.cell || !job.x;
    litho_run_begin(run, "swell", "spectra");
    if (!job.lacks)
        work(&job);
    if (job.lacks)
        litho_refuse(&trouble, LITHO_ERROR_MEMORY, "there is no memory to remove swell");
    else if (job.stop && !trouble)
        litho_run_stopped(&trouble);
    const gint64 live = part ? litho_cube_count_live(cube) : 0;
    if (part)
        *part = live > 0 ? (double)job.calmed / (double)live : 0;
    patch_split_end(&job.split);
    g_free(job.done);
    g_free(job.cell);
    g_free(job.x);
    g_free(job.waves);
    litho_run_time(run, "swell", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 0, 0);
    const gboolean ok = !trouble;
    if (trouble)
        g_propagate_error(error, trouble);
    return ok;
}
