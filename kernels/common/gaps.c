// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/common/gaps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "kernels/common/clones.h"
#include "kernels/common/gaps_plan.h"
#include "kernels/common/window16.h"

enum { N = LITHO_GAPS_WINDOW, TRACES = N * N, SAMPLES = N * N * N };

typedef struct Job {
    LithoGapsPlan plan;
    LithoCube *cube;
    const LithoGapPieces *pieces;
    LithoRun *run;
    int stop; // atomic: 1 = cancelled, 2 = no memory
} Job;

// Two windows, half a window apart in time, are real and imaginary part of one signal, which is as
// sparse as either. [part][sample][inline][crossline]; of f, wavenumbers, the last two exchanged.
typedef struct Scratch {
    float x[2][SAMPLES] __attribute__((aligned(64))), f[2][SAMPLES];
    int hole[2][SAMPLES] __attribute__((aligned(64))); // of x: all bits set
    float limit[TRACES] __attribute__((aligned(64)));
    int power[SAMPLES] __attribute__((aligned(64)));
    gint64 trace[TRACES];
    guint8 missing[TRACES]; // per trace of the window; 2 = beyond the survey or not held
    gboolean again[TRACES]; // another one of the window's is the same
    int here, gone;         // samples of the pair that are held, and missing ones among them
    int holes[TRACES];      // of a trace, in both windows
} Scratch;

// --- a pair of windows ---------------------------------------------------------------------------

// Which pieces of a trace are bad, by number in the survey; NULL = none is marked.
static const guint8 *marks_of(const Job *job, gint64 trace)
{
    const LithoGapPieces *p = job->pieces;
    return p ? p->bad + trace * p->pieces - p->first : NULL;
}

// Where the samples of a window stand in the survey.
typedef struct Place {
    gint64 at;
    gboolean inside;    // some of its samples are held
    gboolean all_there; // all are
    gboolean there[N];  // this one is
    gint64 piece[N];
} Place;

static Place place_of(const Job *job, gint64 at)
{
    const LithoBox held = job->plan.held;
    Place p = {.at = at, .inside = at < held.hi[2] && at + N > held.lo[2]};
    p.all_there = at >= held.lo[2] && at + N <= held.hi[2];
    for (int t = 0; t < N; t++) {
        p.there[t] = at + t >= held.lo[2] && at + t < held.hi[2];
        p.piece[t] = job->pieces && p.there[t] ? (at + t) / job->pieces->length : 0;
    }
    return p;
}

// Samples of trace k, zeros where they are missing, and which are: TRUE when a guess is asked for.
// Guesses are for traces that are recorded (0) and, unless bad pieces are all, missing (1).
static gboolean load_trace(const Job *job, const Place *p, int k, float x[N], int hole[N],
                           Scratch *s)
{
    const LithoBox held = job->plan.held;
    const int kinds = job->pieces && job->pieces->alone ? 1 : 2;
    const guint8 *bad = s->missing[k] ? NULL : marks_of(job, s->trace[k]);
    const gint64 first = s->missing[k] ? 0 : s->trace[k] * litho_box_size(held, 2);
    const float *row = job->cube->samples + first + p->at - held.lo[2];
    if (p->all_there && !bad) { // most of them
        const gboolean gone = s->missing[k] != 0;
        if (gone)
            memset(x, 0, N * sizeof *x);
        else
            memcpy(x, row, N * sizeof *x);
        memset(hole, gone ? 0xff : 0, N * sizeof *hole);
        s->holes[k] += gone ? N : 0;
        s->here += s->missing[k] < 2 ? N : 0;
        s->gone += s->missing[k] == 1 ? N : 0;
        return gone && s->missing[k] < kinds;
    }
    int count[2] = {0}, holes = 0;
    gboolean any = FALSE;
    for (int t = 0; t < N; t++) {
        const gboolean gone = s->missing[k] || !p->there[t] || (bad && bad[p->piece[t]]);
        const gboolean is_hole = gone && p->inside;
        hole[t] = is_hole ? -1 : 0;
        x[t] = gone ? 0 : row[t];
        holes += is_hole;
        any |= gone && p->there[t] && s->missing[k] < kinds;
        count[gone] += p->there[t] && s->missing[k] < 2;
    }
    s->holes[k] += holes;
    s->here += count[0] + count[1];
    s->gone += count[1];
    return any;
}

// Recorded samples, tapered, and the holes, a row of traces after the other. A window without a
// recorded sample reads as zeros. FALSE: there is no hole in what is held.
static gboolean load_window(const Job *job, gint64 at, int part, Scratch *s)
{
    const Place place = place_of(job, at);
    const float(*taper)[N] = job->plan.taper;
    gboolean any = FALSE;
    for (int row = 0; row < N; row++) {
        float x[TRACES] __attribute__((aligned(64)));
        int hole[TRACES] __attribute__((aligned(64)));
        for (int lane = 0; lane < N; lane++)
            any |= load_trace(job, &place, row * N + lane, x + lane * N, hole + lane * N, s);
        LITHO_ISA_PICK(litho_window16_turn)(hole, s->hole[part] + row * N);
        LITHO_ISA_PICK(litho_window16_load)
        (x, taper[0][row], taper[1], taper[2], s->x[part] + row * N);
    }
    return any;
}

// TRUE: a trace is missing as a whole or not at all.
static gboolean are_holes_whole(const Scratch *s)
{
    for (int k = 0; k < TRACES; k++)
        if (s->holes[k] != 0 && s->holes[k] != 2 * N)
            return FALSE;
    return TRUE;
}

// Limits of the wavenumbers of a pass: `flat` is LITHO_GAPS_FLAT as far as the pass has it.
static void make_limits(float limit, float flat, float limits[TRACES])
{
    for (int k = 0; k < TRACES; k++) {
        const int a = MIN(k / N, N - k / N), b = MIN(k % N, N - k % N);
        limits[k] = limit * (1 + flat * (float)(a * a + b * b) / (N / 2 * (N / 2)));
    }
}

LITHO_CLONES static void take_holes(const float *restrict f, const int *restrict hole, float scale,
                                    float *restrict x)
{
    for (int k = 0; k < SAMPLES; k++)
        x[k] = hole[k] ? f[k] * scale : x[k];
}

LITHO_CLONES static void scale_by(float *restrict x, float by)
{
    for (int k = 0; k < SAMPLES; k++)
        x[k] *= by;
}

static float of_bits(int bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void guess_pair(const LithoGapsPlan *plan, gboolean regular, Scratch *s)
{
    float first = 0, noise = 0;
    int number;
    LITHO_GAPS_LADDER(number, plan->ladders, s->gone, s->here)
    const LithoGapsLadder *ladder = &plan->ladders[number];
    // Where traces are missing as a whole, passes stay among the frequencies: recorded traces keep
    // their time transform, missing ones take the guess's. A hole of a sample is one of a
    // frequency.
    const gboolean whole = are_holes_whole(s);
    __typeof__(litho_window16_forward) *forward =
        whole ? LITHO_ISA_PICK(litho_window16_others_forward)
              : LITHO_ISA_PICK(litho_window16_forward);
    __typeof__(litho_window16_forward) *backward =
        whole ? LITHO_ISA_PICK(litho_window16_others_backward)
              : LITHO_ISA_PICK(litho_window16_backward);
    if (whole)
        LITHO_ISA_PICK(litho_window16_first_forward)(s->x[0], s->x[1]);
    for (int pass = 0; pass < ladder->passes; pass++) {
        const gboolean measures = LITHO_GAPS_MEASURES(pass, ladder->passes);
        const float flat = regular ? plan->flat * LITHO_GAPS_LEFT(pass, ladder->passes) : 0;
        if (whole && pass > 0 && !measures) {
            make_limits(fmaxf(ladder->share[pass] * first, plan->noise * noise), flat, s->limit);
            LITHO_ISA_PICK(litho_window16_others_keep)(s->x[0], s->x[1], s->hole[0], s->limit);
            continue;
        }
        memcpy(s->f, s->x, sizeof s->f);
        forward(s->f[0], s->f[1]);
        const int most = pass == 0 || measures
                             ? LITHO_ISA_PICK(litho_window16_powers)(s->f[0], s->f[1], s->power)
                             : 0;
        if (pass == 0)
            first = of_bits(most);
        else if (measures) // mean of the noise, from its median
            noise = of_bits(LITHO_ISA_PICK(litho_window16_median)(s->power)) / (float)G_LN2;
        if (!(first > 0))
            return;
        make_limits(fmaxf(ladder->share[pass] * first, plan->noise * noise), flat, s->limit);
        LITHO_ISA_PICK(litho_window16_keep)(s->f[0], s->f[1], s->limit);
        backward(s->f[0], s->f[1]);
        for (int part = 0; part < 2; part++)
            take_holes(s->f[part], s->hole[part], 1.0f / (whole ? TRACES : SAMPLES), s->x[part]);
    }
    if (whole) {
        LITHO_ISA_PICK(litho_window16_first_backward)(s->x[0], s->x[1]);
        for (int part = 0; part < 2; part++)
            scale_by(s->x[part], 1.0f / N);
    }
}

static void add_window(const Job *job, gint64 at, int part, const Scratch *s)
{
    const LithoBox held = job->plan.held;
    const float(*taper)[N] = job->plan.taper;
    const int t0 = (int)MAX(held.lo[2] - at, 0), t1 = (int)MIN(held.hi[2] - at, N);
    for (int k = 0; k < TRACES; k++) {
        if (s->missing[k] == 2 || s->again[k] || s->holes[k] == 0)
            continue;
        const float w = taper[0][k / N] * taper[1][k % N];
        const int *hole = s->hole[part] + k;
        const float *x = s->x[part] + k;
        float *to = job->cube->samples + s->trace[k] * litho_box_size(held, 2) + at - held.lo[2];
        for (int t = t0; t < t1; t++)
            if (hole[t * TRACES])
                to[t] += w * taper[2][t] * x[t * TRACES];
    }
}

// --- columns of windows --------------------------------------------------------------------------

static void run_column(Job *job, const LithoGapsColumn *column, Scratch *s)
{
    const LithoGapsPlan *plan = &job->plan;
    for (int k = 0; k < TRACES; k++)
        s->missing[k] = litho_gaps_trace(plan, column, k, &s->trace[k], &s->again[k])
                            ? !plan->live[s->trace[k]]
                            : 2;
    for (gint64 pair = plan->first_pair; pair < plan->first_pair + plan->pairs; pair++) {
        if (!litho_run_checkpoint(job->run)) {
            g_atomic_int_set(&job->stop, 1);
            return;
        }
        gboolean any = FALSE;
        s->here = s->gone = 0;
        memset(s->holes, 0, sizeof s->holes);
        for (int part = 0; part < 2; part++)
            any |= load_window(job, litho_gaps_start(plan, pair, part), part, s);
        if (any)
            guess_pair(plan, column->regular, s);
        // An axis of one sample has one window: both parts are that.
        for (int part = 0; any && part < (plan->line[2] ? 1 : 2); part++)
            add_window(job, litho_gaps_start(plan, pair, part), part, s);
    }
}

static void run_colour(Job *job, int colour, int threads)
{
    const LithoGapsColumn *columns = (const LithoGapsColumn *)(void *)job->plan.columns->data;
#pragma omp parallel num_threads(threads)
    {
        Scratch *s = aligned_alloc(64, (sizeof *s + 63) / 64 * 64);
        if (!s)
            g_atomic_int_set(&job->stop, 2);
#pragma omp for schedule(dynamic)
        for (guint k = job->plan.colour[colour]; k < job->plan.colour[colour + 1]; k++)
            if (s && !g_atomic_int_get(&job->stop))
                run_column(job, &columns[k], s);
        free(s);
    }
}

// --- the whole -----------------------------------------------------------------------------------

// Multiplies the samples of trace k that are guessed: all of a missing one, the bad pieces of a
// live one.
static void scale_guesses(const Job *job, gint64 k, float by)
{
    const LithoBox held = job->cube->held;
    const gint64 nt = litho_box_size(held, 2);
    float *trace = job->cube->samples + k * nt;
    if (!job->plan.live[k]) {
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

static void normalise(Job *job)
{
    const gint64 traces = litho_box_size(job->cube->held, 0) * litho_box_size(job->cube->held, 1);
    for (gint64 k = 0; k < traces; k++) {
        scale_guesses(job, k, job->plan.scale[k]);
        job->cube->live[k] |= job->plan.scale[k] > 0;
    }
}

gboolean litho_gaps_any(const LithoCube *cube, LithoBox box)
{
    const gint64 n = litho_box_size(box, 1);
    gboolean live = FALSE, missing = FALSE;
    for (gint64 il = box.lo[0]; il < box.hi[0] && n > 0 && !(live && missing); il++) {
        const guint8 *row = cube->live + litho_cube_trace_index(cube, il, box.lo[1]);
        for (gint64 k = 0; k < n && !live; k++)
            live = row[k] != 0;
        missing = missing || memchr(row, 0, n) != NULL;
    }
    return live && missing;
}

// `floor`: thresholds end at so many standard deviations of the noise; 0 = as the plan says.
static gboolean guess(LithoCube *cube, const LithoGapPieces *pieces, LithoGapsRule rule,
                      float floor, LithoRun *run, GError **error)
{
    Job job = {.cube = cube, .pieces = pieces, .run = run};
    const double start = litho_now_ms();
    litho_run_begin(run, "missing traces", "passes");
    gboolean ok = litho_gaps_plan(&job.plan, cube, pieces != NULL, rule, error);
    if (ok && floor > 0)
        job.plan.noise = floor * floor;
    if (ok)
        clear_guesses(&job);
    for (int colour = 0; ok && colour < LITHO_GAPS_COLOURS; colour++) {
        run_colour(&job, colour, litho_run_threads(run));
        if (job.stop == 2)
            ok = litho_refuse(error, LITHO_ERROR_MEMORY,
                              "there is no memory for guesses of missing traces");
        else
            ok = litho_run_step(run, colour + 1, LITHO_GAPS_COLOURS, error);
    }
    if (ok)
        normalise(&job);
    litho_run_time(run, "missing traces", LITHO_STAGE_COMPUTE, litho_now_ms() - start,
                   8.0 * litho_box_count(cube->held), litho_gaps_flops(&job.plan));
    litho_gaps_plan_clear(&job.plan);
    return ok;
}

gboolean litho_gaps_guess(LithoCube *cube, const LithoGapPieces *pieces, LithoGapsRule rule,
                          LithoRun *run, GError **error)
{
    return guess(cube, pieces, rule, 0, run, error);
}

gboolean litho_gaps_guess_events(LithoCube *cube, LithoRun *run, GError **error)
{
    return guess(cube, NULL, (LithoGapsRule){0}, 4, run, error);
}
