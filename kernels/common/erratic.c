// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/common/erratic.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/mute.h"
#include "kernels/common/clones.h"
#include "kernels/common/gaps.h"
#include "kernels/common/mute_at.h"

G_STATIC_ASSERT((int)LITHO_MUTE_AT_RUN == (int)LITHO_MUTE_RUN);

enum { NOISY = 128 }; // a bit of a piece that is not erratic itself
enum { PIECE = LITHO_ERRATIC_PIECE, REACH = LITHO_ERRATIC_NEAR };
// Neighbours that can tell: all of a line's; a corner's, where events are to be spared.
enum { LEAST_NEIGHBOURS = 4, CORNER_NEIGHBOURS = 8 };
// Marks of a piece: above the ratio, above half of it (of amplitudes), beside such pieces.
enum { FOUND = 1, WEAK = 2, GROWN = 4 };
enum { STEP_SAMPLES = 1 << 22 }; // between two looks at the cancel flag

typedef struct Job {
    const LithoCube *in;
    gint64 n[2];          // traces of `held`
    gint64 first, pieces; // of the survey's pieces that `held` touches
    float *energy;        // [trace][piece], the measure under way; 0 = absent
    float *strongest;     // [trace][piece], of the piece, the one before it and the one behind it;
                          // negative: the piece has muted samples
    guint8 *erratic;      // [trace][piece], marks
    float ratio;          // of energies
    int any_muted;        // some pieces have muted samples; atomic while they are measured
    LithoSpikes spikes;
    LithoCleanRule rule;
} Job;

// Mean square of the samples of a piece that are held and finite.
static float energy_of(const Job *job, const float *trace, gint64 piece)
{
    const LithoBox held = job->in->held;
    const gint64 lo = MAX(piece * PIECE, held.lo[2]), hi = MIN((piece + 1) * PIECE, held.hi[2]);
    double sum = 0;
    gint64 n = 0;
    for (gint64 t = lo; t < hi; t++) {
        const float x = trace[t - held.lo[2]];
        if (x - x == 0) {
            sum += (double)x * x;
            n++;
        }
    }
    return n > 0 ? (float)(sum / n) : 0;
}

// Largest square of the second difference at the samples of a piece, a trace's ends and the steps
// to its mutes left out.
static float bend_of(const Job *job, const float *trace, gint64 piece)
{
    const LithoBox held = job->in->held;
    const gint64 n = litho_box_size(held, 2);
    const gint64 lo = MAX(piece * PIECE - held.lo[2], 1);
    const gint64 hi = MIN((piece + 1) * PIECE - held.lo[2], n - 1);
    gboolean zeros = FALSE;
    float most = 0;
    for (gint64 t = lo - 1; t <= hi; t++)
        zeros |= trace[t] == 0;
    for (gint64 t = lo; t < hi; t++) {
        const float bend = (trace[t - 1] - trace[t]) + (trace[t + 1] - trace[t]);
        const float square = bend - bend == 0 ? bend * bend : 0;
        if (zeros && square > most &&
            (litho_mute_at(trace, n, t - 1) || litho_mute_at(trace, n, t) ||
             litho_mute_at(trace, n, t + 1)))
            continue;
        most = MAX(most, square);
    }
    return most;
}

// Samples of a piece that are not muted.
static int count_live(const Job *job, gint64 k, gint64 piece)
{
    const LithoBox held = job->in->held;
    const gint64 n = litho_box_size(held, 2);
    const float *trace = job->in->samples + k * n;
    const gint64 lo = MAX(piece * PIECE, held.lo[2]) - held.lo[2];
    const gint64 hi = MIN((piece + 1) * PIECE, held.hi[2]) - held.lo[2];
    return litho_mute_count_live(trace, n, lo, hi);
}

// The strongest of pieces with muted samples are negative: see heard().
static void compare_trace(Job *job, gint64 k)
{
    const float *e = job->energy + k * job->pieces;
    const gint64 n = litho_box_size(job->in->held, 2);
    float *most = job->strongest + k * job->pieces;
    for (gint64 p = 0; p < job->pieces; p++) {
        const float before = p > 0 ? e[p - 1] : 0, behind = p + 1 < job->pieces ? e[p + 1] : 0;
        const gint64 lo = MAX((job->first + p) * PIECE - job->in->held.lo[2], 0);
        const gint64 hi = MIN((job->first + p + 1) * PIECE - job->in->held.lo[2], n) - 1;
        const float *trace = job->in->samples + k * n;
        most[p] = MAX(e[p], MAX(before, behind));
        if (job->in->live[k] && (litho_mute_at(trace, n, lo) || litho_mute_at(trace, n, hi))) {
            most[p] = -most[p];
            g_atomic_int_set(&job->any_muted, TRUE);
        }
    }
}

// The strongest of a neighbour's pieces about piece p of trace k. A neighbour that is muted at
// more of the piece's samples says nothing (0): what lives on behind its end may begin there.
static float heard(const Job *job, gint64 k, gint64 neighbour, gint64 p)
{
    const float most = job->strongest[neighbour * job->pieces + p];
    if (!(most < 0))
        return most;
    return count_live(job, neighbour, job->first + p) >= count_live(job, k, job->first + p) ? -most
                                                                                            : 0;
}

static void find_spikes(Job *job, gint64 k)
{
    litho_spikes_find(&job->spikes, k);
}

static void measure_energy(Job *job, gint64 k)
{
    const gint64 nt = litho_box_size(job->in->held, 2);
    for (gint64 p = 0; job->in->live[k] && p < job->pieces; p++)
        job->energy[k * job->pieces + p] =
            energy_of(job, job->in->samples + k * nt, job->first + p);
    compare_trace(job, k);
}

// Out of the energy, a quarter of which it is at least: what rounding makes of smooth traces is no
// spike. Zeros have none.
static void measure_bend(Job *job, gint64 k)
{
    const gint64 nt = litho_box_size(job->in->held, 2);
    float *e = job->energy + k * job->pieces;
    for (gint64 p = 0; job->in->live[k] && p < job->pieces; p++) {
        const float bend = e[p] > 0 ? bend_of(job, job->in->samples + k * nt, job->first + p) : 0;
        e[p] = MAX(e[p] / 4, bend);
    }
    compare_trace(job, k);
}

// Counts, for each piece, neighbours that have any energy and those among them that are weaker.
LITHO_CLONES static void count_neighbour(const float *own, const float *other, float ratio,
                                         gint64 pieces, int *neighbours, int *weaker)
{
    for (gint64 p = 0; p < pieces; p++) {
        const int there = other[p] > 0;
        neighbours[p] += there;
        weaker[p] += there & (own[p] > ratio * other[p]);
    }
}

// Counts of a neighbour that has mutes, which count_neighbour() passes over.
static void count_muted_neighbour(const Job *job, gint64 k, gint64 neighbour, int *neighbours,
                                  int *weaker)
{
    const float *own = job->energy + k * job->pieces;
    for (gint64 p = 0; p < job->pieces; p++)
        if (own[p] > 0 && job->strongest[neighbour * job->pieces + p] < 0) {
            const float other = heard(job, k, neighbour, p);
            neighbours[p] += other > 0;
            weaker[p] += other > 0 && own[p] > job->ratio / 4 * other;
        }
}

// The energy about piece p of trace k is at least a quarter of `own`.
static gboolean is_strong(const Job *job, gint64 k, gint64 p, float own)
{
    return p >= 0 && p < job->pieces && 4 * fabsf(job->strongest[k * job->pieces + p]) >= own;
}

// On a survey of one line four neighbours say little: a piece with half of its amplitude on either
// trace beside, up to three pieces away, is the end or the apex of an event, such as the trace
// beside a source.
static gboolean is_end_of_event(const Job *job, gint64 k, gint64 p, float own)
{
    for (gint64 q = p - 2; q <= p + 2; q++)
        for (gint64 beside = k - 1; beside <= k + 1; beside += 2)
            if (beside >= 0 && beside < job->n[0] * job->n[1] && is_strong(job, beside, q, own))
                return TRUE;
    return FALSE;
}

// Trace (il, xl), or -1 where none was recorded.
static gint64 trace_at(const Job *job, gint64 il, gint64 xl)
{
    const gboolean held = il >= 0 && il < job->n[0] && xl >= 0 && xl < job->n[1];
    return held && job->in->live[il * job->n[1] + xl] ? il * job->n[1] + xl : -1;
}

// A piece of an event goes on at opposite places, `s` pieces up on one side and down on the other,
// or on the one side that there is: along two lines through the trace, one of them steep. Among few
// neighbours nothing is certain.
static gboolean is_event(const Job *job, gint64 il, gint64 xl, gint64 p, int neighbours)
{
    static const int lines[][2] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};
    const gint64 k = il * job->n[1] + xl;
    const float own = job->energy[k * job->pieces + p];
    const gboolean line = job->in->grid.axis[0].n == 1 || job->in->grid.axis[1].n == 1;
    int there = 0, flat = 0, steep = 0;
    if (line ? is_end_of_event(job, k, p, own) : neighbours < CORNER_NEIGHBOURS)
        return TRUE;
    for (guint l = 0; l < G_N_ELEMENTS(lines); l++) {
        const gint64 a = trace_at(job, il - lines[l][0], xl - lines[l][1]);
        const gint64 b = trace_at(job, il + lines[l][0], xl + lines[l][1]);
        gboolean level = FALSE, steeply = FALSE;
        if (a < 0 && b < 0)
            continue;
        for (int s = -LITHO_ERRATIC_STEEP; s <= LITHO_ERRATIC_STEEP; s++) {
            const gboolean goes_on = (a < 0 || is_strong(job, a, p - s, own)) &&
                                     (b < 0 || is_strong(job, b, p + s, own));
            level |= s == 0 && goes_on;
            steeply |= ABS(s) > 1 && goes_on;
        }
        there++;
        steep += steeply;
        flat += level && !steeply;
    }
    return steep > 0 && steep + flat >= MIN(there, 2);
}

// Piece p of trace (il, xl) is above the ratio to more than half of its neighbours.
static gboolean is_above(const Job *job, gint64 il, gint64 xl, gint64 p, int neighbours)
{
    const float own = job->energy[(il * job->n[1] + xl) * job->pieces + p];
    int weaker = 0;
    for (gint64 i = MAX(il - REACH, 0); i <= MIN(il + REACH, job->n[0] - 1); i++)
        for (gint64 j = MAX(xl - REACH, 0); j <= MIN(xl + REACH, job->n[1] - 1); j++) {
            const float other = heard(job, il * job->n[1] + xl, i * job->n[1] + j, p);
            weaker += (i != il || j != xl) && other > 0 && own > job->ratio * other;
        }
    return 2 * weaker > neighbours;
}

// Pieces above a quarter of the ratio are few: the others are told apart first.
static void judge_trace(Job *job, gint64 k)
{
    const gint64 il = k / job->n[1], xl = k % job->n[1], pieces = job->pieces;
    const float *own = job->energy + k * pieces;
    g_autofree int *neighbours = g_new0(int, 2 * pieces);
    int *weaker = neighbours + pieces;
    for (gint64 i = MAX(il - REACH, 0); i <= MIN(il + REACH, job->n[0] - 1); i++)
        for (gint64 j = MAX(xl - REACH, 0); j <= MIN(xl + REACH, job->n[1] - 1); j++)
            if (i != il || j != xl) {
                count_neighbour(own, job->strongest + (i * job->n[1] + j) * pieces, job->ratio / 4,
                                pieces, neighbours, weaker);
                if (job->any_muted)
                    count_muted_neighbour(job, k, i * job->n[1] + j, neighbours, weaker);
            }
    for (gint64 p = 0; p < pieces; p++) {
        if (!(own[p] > 0) || neighbours[p] < LEAST_NEIGHBOURS || 2 * weaker[p] <= neighbours[p])
            continue;
        const gboolean found = is_above(job, il, xl, p, neighbours[p]) &&
                               !(job->rule.spare_events && is_event(job, il, xl, p, neighbours[p]));
        job->erratic[k * pieces + p] |= found ? FOUND : WEAK;
    }
}

static gboolean has_mark(const guint8 *marks, gint64 pieces, gint64 p, guint8 mark)
{
    return p >= 0 && p < pieces && (marks[p] & mark);
}

// To pieces beside those found, and over a weak one to the next. What is zero stays.
static void grow_trace(Job *job, gint64 k)
{
    const gint64 n = job->pieces;
    const float *own = job->energy + k * n;
    guint8 *m = job->erratic + k * n;
    for (gint64 p = 0; p < n; p++)
        for (int by = -1; by <= 1; by += 2)
            if (own[p] > 0 && (has_mark(m, n, p + by, FOUND) ||
                               (has_mark(m, n, p + by, WEAK) && has_mark(m, n, p + 2 * by, FOUND))))
                m[p] |= GROWN;
    for (gint64 p = 0; p < n; p++)
        m[p] &= FOUND | GROWN;
}

static void judge_and_grow_trace(Job *job, gint64 k)
{
    judge_trace(job, k);
    grow_trace(job, k);
}

// Loops over all traces: spikes, then two measures, one after the other.
static void (*const passes[])(Job *, gint64) = {find_spikes, measure_energy, judge_trace,
                                                measure_bend, judge_and_grow_trace};
enum { SPIKES }; // the first of them

// Each of the loops a few inlines at a time: some ten milliseconds of one thread.
static gboolean run_traces(Job *job, int pass, LithoRun *run, GError **error)
{
    const int total = G_N_ELEMENTS(passes);
    const gint64 samples = job->n[1] * job->pieces * PIECE;
    const gint64 step = CLAMP(STEP_SAMPLES / samples, 1, job->n[0]);
    for (gint64 il = 0; il < job->n[0]; il += step) {
        const gint64 end = MIN(il + step, job->n[0]);
#pragma omp parallel for schedule(static) num_threads(litho_run_threads(run))
        for (gint64 k = il * job->n[1]; k < end * job->n[1]; k++)
            passes[pass](job, k);
        if (!litho_run_step(run, pass * job->n[0] + end, total * job->n[0], error))
            return FALSE;
    }
    return TRUE;
}

static void count(LithoClean *clean, const Job *job)
{
    clean->pieces = clean->spikes = clean->traces = 0;
    for (gint64 k = 0; k < job->n[0] * job->n[1]; k++) {
        gint64 pieces = 0, spikes = 0;
        for (gint64 p = k * job->pieces; p < (k + 1) * job->pieces; p++) {
            pieces += job->erratic[p] != 0;
            spikes += __builtin_popcount(job->spikes.at[p]);
        }
        clean->pieces += pieces;
        clean->spikes += spikes;
        clean->traces += pieces + spikes > 0;
    }
}

// A copy without its spikes, if there are any, which the measures of bursts and the guesses take.
static gboolean repair_spikes(LithoClean *clean, Job *job, GError **error)
{
    const gint64 nt = litho_box_size(job->in->held, 2);
    const gsize n = (gsize)job->n[0] * job->n[1] * job->pieces;
    gsize any = 0;
    while (any < n && job->spikes.at[any] == 0)
        any++;
    if (any == n)
        return TRUE;
    clean->cube = litho_cube_copy_box(job->in, job->in->held, error);
    if (!clean->cube)
        return FALSE;
    for (gint64 k = (gint64)any / job->pieces; k < job->n[0] * job->n[1]; k++)
        litho_spikes_repair(&job->spikes, k, clean->cube->samples + k * nt);
    job->in = clean->cube;
    return TRUE;
}

// Traces that are missing in `in`, as they were.
static void put_missing_back(LithoCube *cube, const LithoCube *in)
{
    const gint64 nt = litho_box_size(in->held, 2);
    for (gint64 k = 0; k < litho_box_size(in->held, 0) * litho_box_size(in->held, 1); k++)
        if (!in->live[k]) {
            memcpy(cube->samples + k * nt, in->samples + k * nt, nt * sizeof *cube->samples);
            cube->live[k] = 0;
        }
}

// The share of trace k of the cube.
static float share_of(const Job *job, gint64 k)
{
    const LithoBox held = job->in->held;
    const gint64 il = held.lo[0] + k / job->n[1], xl = held.lo[1] + k % job->n[1];
    return job->rule.share ? job->rule.share[il * job->in->grid.axis[1].n + xl] : 1;
}

// Pieces of traces that keep a share are guessed like erratic ones. The number of traces.
static gint64 mark_noisy(const Job *job)
{
    gint64 n = 0;
    for (gint64 k = 0; job->rule.share && k < job->n[0] * job->n[1]; k++)
        if (job->in->live[k] && share_of(job, k) < 1) {
            n++;
            for (gint64 p = 0; p < job->pieces; p++)
                job->erratic[k * job->pieces + p] |= NOISY;
        }
    return n;
}

// Guesses of such traces, and a share of what these have beside; erratic pieces and spikes keep
// their guesses.
static void keep_share(LithoCube *cube, const Job *job)
{
    const gint64 nt = litho_box_size(job->in->held, 2), t0 = job->in->held.lo[2];
    for (gint64 k = 0; k < job->n[0] * job->n[1]; k++) {
        const float share = share_of(job, k), *own = job->in->samples + k * nt;
        float *to = cube->samples + k * nt;
        if (!job->in->live[k] || share == 1)
            continue;
        for (gint64 t = 0; t < nt; t++) {
            const gint64 piece = (t0 + t) / PIECE - job->first;
            const float beside = own[t] - to[t];
            if (job->erratic[k * job->pieces + piece] == NOISY && beside - beside == 0 &&
                !litho_spikes_at(&job->spikes, k, t))
                to[t] += share * beside;
        }
    }
}

// Guesses where pieces are erratic and traces missing.
static gboolean make_guesses(LithoClean *clean, const Job *job, LithoRun *run, GError **error)
{
    const gboolean absent = job->rule.missing == LITHO_CLEAN_ABSENT;
    const LithoGapPieces pieces = {.bad = job->erratic,
                                   .first = job->first,
                                   .pieces = job->pieces,
                                   .length = PIECE,
                                   .alone = absent};
    const gboolean noisy = mark_noisy(job) > 0, erratic = clean->pieces > 0 || noisy;
    LithoGapsRule gaps = job->rule.gaps;
    gaps.regular = &clean->regular;
    if (!erratic &&
        (job->rule.missing != LITHO_CLEAN_GUESSED || !litho_gaps_any(job->in, job->in->held)))
        return TRUE;
    if (!clean->cube)
        clean->cube = litho_cube_copy_box(job->in, job->in->held, error);
    if (!clean->cube || !litho_gaps_guess(clean->cube, erratic ? &pieces : NULL, gaps, run, error))
        return FALSE;
    if (noisy)
        keep_share(clean->cube, job);
    if (absent)
        put_missing_back(clean->cube, job->in);
    return TRUE;
}

static gboolean find_erratic(LithoClean *clean, LithoCleanRule rule, const LithoCube *in,
                             LithoRun *run, GError **error)
{
    Job job = {.in = in, .ratio = (float)(rule.above * rule.above), .rule = rule};
    const double start = litho_now_ms();
    if (rule.above == 0 && !rule.share)
        return make_guesses(clean, &job, run, error);
    for (int a = 0; a < 2; a++)
        job.n[a] = litho_box_size(in->held, a);
    job.first = in->held.lo[2] / PIECE;
    job.pieces = (in->held.hi[2] - 1) / PIECE + 1 - job.first;
    const gsize n = (gsize)job.n[0] * job.n[1] * job.pieces;
    g_autofree float *energy = g_try_new0(float, n), *strongest = g_try_new(float, n);
    g_autofree guint8 *erratic = g_try_malloc0(n);
    g_autofree guint16 *spikes = g_try_new0(guint16, n);
    if (!energy || !strongest || !erratic || !spikes)
        return litho_refuse(error, LITHO_ERROR_MEMORY,
                            "there is no memory to look for erratic traces");
    job.energy = energy;
    job.strongest = strongest;
    job.erratic = erratic;
    job.spikes = (LithoSpikes){in, job.first, job.pieces, (float)rule.above, spikes};
    litho_run_begin(run, "erratic noise", "inlines");
    for (guint pass = 0; rule.above > 0 && pass < G_N_ELEMENTS(passes); pass++)
        if (!run_traces(&job, (int)pass, run, error) ||
            (pass == SPIKES && !repair_spikes(clean, &job, error)))
            return FALSE;
    count(clean, &job);
    job.in = in;
    litho_run_time(run, "erratic noise", LITHO_STAGE_COMPUTE, litho_now_ms() - start,
                   8.0 * litho_box_count(in->held), 7.0 * litho_box_count(in->held));
    return make_guesses(clean, &job, run, error);
}

gboolean litho_clean_is_of(const LithoClean *clean, LithoCleanRule rule, const LithoCube *in)
{
    return clean->serial == in->serial && clean->rule.above == rule.above &&
           clean->rule.missing == rule.missing && clean->rule.spare_events == rule.spare_events &&
           clean->rule.gaps.one_in == rule.gaps.one_in &&
           (clean->rule.gaps.faint == rule.gaps.faint || !clean->regular) &&
           clean->rule.share_of == rule.share_of;
}

const LithoCube *litho_clean(LithoClean *clean, LithoCleanRule rule, const LithoCube *in,
                             LithoRun *run, GError **error)
{
    if (rule.above == 0 && !rule.share &&
        (rule.missing != LITHO_CLEAN_GUESSED || !litho_gaps_any(in, in->held))) {
        litho_clean_clear(clean); // what was found before is not to be told
        return in;
    }
    if (!litho_clean_is_of(clean, rule, in)) {
        litho_clean_clear(clean);
        if (!find_erratic(clean, rule, in, run, error)) {
            litho_clean_clear(clean);
            return NULL;
        }
        clean->serial = in->serial;
        clean->rule = rule;
    }
    return clean->cube ? clean->cube : in;
}

LithoBox litho_clean_box(const LithoGrid *grid, LithoCleanRule rule, LithoBox box)
{
    const gboolean erratic = rule.above > 0;
    const gint64 along = rule.spare_events ? LITHO_ERRATIC_STEEP_SAMPLES : LITHO_ERRATIC_SAMPLES;
    const gint64 traces = LITHO_GAPS_TRACES + (erratic ? LITHO_ERRATIC_TRACES : 0);
    const gint64 samples = LITHO_GAPS_SAMPLES + (erratic ? along : 0);
    const gboolean guesses = erratic || rule.missing == LITHO_CLEAN_GUESSED;
    return guesses ? litho_box_grow(grid, box, (const gint64[3]){traces, traces, samples}) : box;
}

guint64 litho_clean_bytes(gint64 samples)
{
    const guint64 piece =
        2 * sizeof(float) + sizeof(guint16) + 1; // a piece may hold a sample of its 16
    return samples * sizeof(float) + (samples / PIECE + 1) * piece;
}

void litho_clean_clear(LithoClean *clean)
{
    litho_cube_unref(clean->cube);
    *clean = (LithoClean){0};
}

gboolean litho_clean_bursts(const LithoCube *cube, LithoRun *run, LithoCube **guesses,
                            GError **error)
{
    const LithoCleanRule rule = {.above = 4, .missing = LITHO_CLEAN_ABSENT, .spare_events = TRUE};
    LithoClean clean = {0};
    const gboolean ok = litho_clean(&clean, rule, cube, run, error) != NULL;
    *guesses = ok && clean.traces > 0 ? g_steal_pointer(&clean.cube) : NULL;
    litho_clean_clear(&clean);
    return ok;
}

void litho_clean_report(const LithoClean *clean, const LithoCube *in, LithoReport *report)
{
    const gint64 traces = litho_cube_count_live(in);
    if (clean->serial != in->serial || traces == 0)
        return;
    litho_report_number(report, "erratic", "traces with bursts or spikes", "%",
                        100.0 * clean->traces / traces);
}
