// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/quality.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/engine/probe.h"
#include "core/engine/quality_sums.h"
#include "core/engine/quality_unknown.h"
#include "core/engine/settled.h"
#include "core/error.h"
#include "core/text.h"

struct LithoJudge {
    LithoEngine *plain, *probed, *hidden;
    // Cubes made for the last question, kept for the next one.
    LithoCube *cut;               // what the area depends on, or the area as a cube of its own
    guint64 cut_of;               // serial of the input it was cut out of
    LithoBox cut_box;             // and where
    LithoCube *probe, *sum;       // b, and y + e b
    guint64 probe_of, guesses_of; // serials of y; 0 = none
    guint32 probe_seed;
    LithoNoise probe_noise;
    LithoCube *guesses;  // of y where it bursts; NULL = nowhere
    LithoCube *in, *out; // of the last question, and its area on their grid
    LithoCube *shown;    // the output over the area alone
    LithoBox area;
    guint64 timed;  // serial of the output that took `seconds`; 0 = none
    double seconds; // a question asked again finds its output ready
};

LithoJudge *litho_judge_new(LithoDevice device)
{
    LithoJudge *judge = g_new0(LithoJudge, 1);
    judge->plain = litho_engine_new(device);
    judge->probed = litho_engine_new(device);
    judge->hidden = litho_engine_new(device);
    return judge;
}

static void drop_probe(LithoJudge *judge)
{
    g_clear_pointer(&judge->probe, litho_cube_unref);
    g_clear_pointer(&judge->sum, litho_cube_unref);
    litho_noise_clear(&judge->probe_noise);
}

void litho_judge_free(LithoJudge *judge)
{
    if (!judge)
        return;
    drop_probe(judge);
    g_clear_pointer(&judge->guesses, litho_cube_unref);
    g_clear_pointer(&judge->cut, litho_cube_unref);
    g_clear_pointer(&judge->in, litho_cube_unref);
    g_clear_pointer(&judge->out, litho_cube_unref);
    g_clear_pointer(&judge->shown, litho_cube_unref);
    litho_engine_free(judge->plain);
    litho_engine_free(judge->probed);
    litho_engine_free(judge->hidden);
    g_free(judge);
}

LithoCube *litho_judge_output(const LithoJudge *judge)
{
    return judge->shown;
}

// --- progress -----------------------------------------------------------------------------------

// Runs of the flow as parts of one job.
typedef struct Runs {
    LithoRun *whole;
    gint64 done, total;
    const char *stage; // of the run under way; NULL = it has not begun
    double before;     // part of that run, as far as told, in front of the stage
} Runs;

enum { PARTS = 1000 }; // of one run

static void on_progress(const LithoProgress *progress, gpointer data)
{
    Runs *runs = data;
    // The number of stages is not known: each takes a half of what is left, so that nothing falls
    // back.
    if (runs->stage && g_strcmp0(runs->stage, progress->what) != 0)
        runs->before += (1 - runs->before) / 2;
    runs->stage = progress->what;
    const double stage = progress->total > 0 ? (double)progress->done / progress->total : 0;
    const double part = runs->before + (1 - runs->before) / 2 * stage;
    litho_run_step(runs->whole, runs->done * PARTS + (gint64)(part * PARTS), runs->total * PARTS,
                   NULL);
}

static LithoCube *run_flow(LithoEngine *engine, const LithoFlow *flow, const LithoCube *in,
                           const LithoBox *area, Runs *runs, LithoReport *report, GError **error)
{
    LithoRun one = {.report = report};
    if (runs->whole) {
        one.cancel = runs->whole->cancel;
        one.threads = runs->whole->threads;
        one.superseded = runs->whole->superseded;
        one.superseded_data = runs->whole->superseded_data;
        one.on_progress = runs->whole->on_progress ? on_progress : NULL;
        one.progress_data = runs;
    }
    LithoCube *out = litho_engine_run(engine, flow, in, area, &one, error);
    if (out && !litho_cube_host(out, error))
        g_clear_pointer(&out, litho_cube_unref);
    runs->done++;
    runs->stage = NULL;
    runs->before = 0;
    return out;
}

// The region of the output that is asked for: NULL = all of it, of flows that make no less.
static const LithoBox *region_of(const LithoQualityCase *c)
{
    return litho_flow_is_local(c->flow) ? &c->area : NULL;
}

// --- the cube that is judged --------------------------------------------------------------------

gboolean litho_quality_check(const LithoFlow *flow, const LithoGrid *in, GError **error)
{
    for (guint k = 0; k < litho_flow_length(flow); k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        if (step->enabled && !step->op->needs_input)
            return litho_refuse(error, LITHO_ERROR_UNSUPPORTED,
                                "%s makes its own data; there is no noise to judge it by",
                                step->op->key);
        if (step->enabled && step->op->own_amplitudes)
            return litho_refuse(error, LITHO_ERROR_UNSUPPORTED,
                                "%s gives amplitudes of its own; what it removes cannot be judged",
                                step->op->key);
    }
    g_autoptr(LithoWalk) walk = litho_walk_resolve(flow, in, NULL, error);
    if (!walk)
        return FALSE;
    return litho_grid_same_shape(in, &walk->out) ||
           litho_refuse(error, LITHO_ERROR_UNSUPPORTED,
                        "the output lies on another grid than the input; only filters of one grid "
                        "can be judged by their noise");
}

// The cube of the last question, kept while it is of this input and box.
static LithoCube *cut_of(LithoJudge *judge, const LithoCube *in, LithoBox box, gboolean whole_grid,
                         GError **error)
{
    if (judge->cut && judge->cut_of == in->serial && litho_box_equal(judge->cut_box, box) &&
        whole_grid == litho_grid_same_shape(&judge->cut->grid, &in->grid))
        return judge->cut;
    g_clear_pointer(&judge->cut, litho_cube_unref);
    judge->cut =
        whole_grid ? litho_cube_copy_box(in, box, error) : litho_quality_cut(in, box, error);
    judge->cut_of = in->serial;
    judge->cut_box = box;
    return judge->cut;
}

// A flow that measures its input, or is loaded to a device, is shown what the area depends on and
// no more: of a flow that is local a part of the same grid, else the area and what lies beside it
// as a cube of its own.
static gboolean make_case(LithoJudge *judge, const LithoQualityAsk *ask, LithoQualityCase *c,
                          GError **error)
{
    const LithoBox area = litho_box_empty(ask->area) ? ask->in->held : ask->area;
    const gboolean local = litho_flow_is_local(ask->flow);
    LithoBox box = area;
    *c = (LithoQualityCase){.flow = ask->flow, .in = ask->in, .area = area};
    if (!litho_quality_check(ask->flow, &ask->in->grid, error) ||
        !litho_cube_host(ask->in, error) ||
        !litho_quality_need(ask->flow, &ask->in->grid, area, &box, error))
        return FALSE;
    box = litho_box_intersect(box, ask->in->held);
    if (litho_box_equal(box, local ? ask->in->held : litho_box_full(&ask->in->grid)))
        return TRUE;
    if (!(c->in = cut_of(judge, ask->in, box, local, error)))
        return FALSE;
    if (local)
        return TRUE;
    for (int axis = 0; axis < 3; axis++) {
        c->area.lo[axis] -= box.lo[axis];
        c->area.hi[axis] -= box.lo[axis];
        c->shift[axis] = box.lo[axis];
    }
    // The cut may be too small for the operator.
    return litho_quality_check(ask->flow, &c->in->grid, error);
}

// A burst is no signal, however well it is kept. Where the input bursts, the output is held against
// the guess, which has no noise of its own: as if noise of the level lay upon it and were removed.
static void count_bursts(LithoQualitySums *sums, double variance)
{
    sums->yy += sums->guessed + (double)sums->n_bursts * variance;
    sums->rr += sums->off + (double)sums->n_bursts * variance;
}

static gboolean find_bursts(LithoJudge *judge, LithoQualityCase *c, LithoRun *run, GError **error)
{
    if (judge->guesses_of != c->in->serial) {
        LithoRun search = {.cancel = run ? run->cancel : NULL, .threads = run ? run->threads : 0};
        g_clear_pointer(&judge->guesses, litho_cube_unref);
        judge->guesses_of = 0;
        if (!litho_qc_bursts(c->in, &search, &judge->guesses, error))
            return FALSE;
        judge->guesses_of = c->in->serial;
    }
    c->guesses = judge->guesses;
    return TRUE;
}

// --- expected SNR -------------------------------------------------------------------------------

static gboolean same_noise(const LithoNoise *a, const LithoNoise *b)
{
    return a->n == b->n && a->total == b->total && !a->shape == !b->shape &&
           !a->local == !b->local &&
           (a->n == 0 || memcmp(a->sigma, b->sigma, a->n * sizeof *a->sigma) == 0);
}

// b over everything the area depends on, and y + e b.
static gboolean make_probe(LithoJudge *judge, const LithoQualityAsk *ask, const LithoQualityCase *c,
                           LithoRun *run, GError **error)
{
    LithoBox need;
    if (!litho_walk_input_box(ask->flow, &c->in->grid, c->area, NULL, &need, error))
        return FALSE;
    need = litho_box_intersect(litho_box_union(need, c->area), c->in->held);
    if (judge->probe && judge->probe_of == c->in->serial && judge->probe_seed == ask->seed &&
        same_noise(&judge->probe_noise, ask->noise) && litho_box_contains(judge->probe->held, need))
        return TRUE;
    drop_probe(judge);
    LithoNoise noise = *ask->noise;
    noise.first_time -= c->shift[2];
    for (int axis = 0; axis < 3; axis++)
        noise.first_place[axis] -= c->shift[axis];
    noise.map = litho_noise_map_copy(&ask->noise->map);
    for (int axis = 0, knot = 0; axis < 3; axis++)
        for (int k = 0; k < noise.map.n[axis]; k++)
            noise.map.at[knot++] -= (float)c->shift[axis];
    judge->probe = litho_probe_new(c->in, need, &noise, ask->seed, run, error);
    litho_noise_map_clear(&noise.map);
    judge->sum = judge->probe ? litho_cube_copy_box(c->in, need, error) : NULL;
    if (!judge->sum)
        return FALSE;
    const gint64 n = litho_box_count(need);
    for (gint64 k = 0; k < n; k++)
        judge->sum->samples[k] += (float)LITHO_QUALITY_STEP * judge->probe->samples[k];
    judge->probe_of = c->in->serial;
    judge->probe_seed = ask->seed;
    judge->probe_noise = litho_noise_copy(ask->noise);
    return TRUE;
}

static double decibel(double ratio)
{
    return ratio > 0 ? 10 * log10(ratio) : NAN;
}

// Where a threshold jumps, the probe moves up to two thirds more than the noise that passes.
#define PASSING 0.6

// SURE with a noise level `factor` times the given one: mean squared error of the output. The level
// is the energy of this noise as its windows see it, which end with the traces: so the error is
// that of samples as they are seen, and of all samples by the noise that passes, which passes where
// events are, as errors do. Of a local level the error is known less well, and its share at the
// ends, where noise may be many times as loud, not at all: there the noise alone is added, no more
// than there is.
static double sure(const LithoQualitySums *s, const LithoNoise *noise, double factor)
{
    const double variance = noise->total * noise->total;
    if (!(s->seen > 0))
        return (s->rr + factor * factor * 2 * s->div) / s->n - factor * factor * variance;
    const double mse = (s->seen_rr + factor * factor * 2 * s->seen_div) / s->seen -
                       factor * factor * variance / noise->ends;
    const double pass = s->pass / s->n, seen = s->seen_pass / s->seen;
    if (noise->local)
        return mse +
               PASSING * fmin(pass - seen, factor * factor * variance * (1 - 1 / noise->ends));
    return seen > 0 ? mse * pass / seen : mse;
}

// Scatter of the estimate by its own randomness: the noise that hides in n . (s - f), the scatter
// of the probe and, where the level was given, |n|^2 instead of tr C. A level that was measured on
// this noise follows |n|^2 as well as its interval says.
//
// Noise that varies within four traces and eight samples moves the probe's products.
static double sure_deviation(const LithoQualitySums *s, const LithoNoise *noise, double mse)
{
    const double within = noise->local ? 0.04 * noise->varies * 2 * s->div / (double)s->n : 0;
    const double energy = noise->high > noise->low ? 0 : 2 * litho_noise_fourth(noise);
    const double own = energy + 4 * noise->total * noise->total * mse;
    return sqrt(own / s->n + 4 * s->scatter / ((double)s->n * s->n) + within * within);
}

// The error n - (y - f) is no smaller than what its two parts differ by.
static double error_at_least(const LithoQualitySums *s, double sigma)
{
    const double off = sigma - sqrt(s->rr / s->n);
    return off * off;
}

// The least error worth telling. No output is better than the noise that passes: |J b|^2, exact for
// linear filters, PASSING of it where thresholds jump. A filter that is
// designed on the data follows the probe, so that at least two decibels are left above the
// estimate: of packets 1.7 were needed where one decibel had been left.
static double least_error(const LithoQualitySums *s, double mse)
{
    return MIN(PASSING * s->pass / s->n, 0.63 * mse);
}

// The error n - (y - f) is no larger than its two parts together.
static double error_at_most(const LithoQualitySums *s, double sigma)
{
    const double both = sigma + sqrt(s->rr / s->n);
    return both * both;
}

// Where events are, a level that is known beside them alone may be too low by so much.
#define MORE_NOISE 1.5

// Half of its amplitude from trace to trace: the probe's noise, alike everywhere, is another one.
#define UNEVEN 0.5

static void expect(const LithoQualitySums *s, const LithoNoise *noise, LithoQuality *q)
{
    const double variance = noise->total * noise->total;
    const double signal = s->yy / s->n - variance, bound = error_at_least(s, noise->total);
    const double mse = sure(s, noise, 1);
    const double deviation = sure_deviation(s, noise, MAX(mse, bound));
    const double told = MAX(MAX(mse, bound), deviation), least = least_error(s, told);
    q->mse = mse;
    q->input_snr_db = decibel(signal / variance);
    if (!(signal > 0)) {
        g_strlcpy(q->why,
                  _("the noise level is as large as the data: nothing is left of the signal"),
                  sizeof q->why);
        return;
    }
    // Below its own deviation an error cannot be told from none.
    q->expected_snr_db = decibel(signal / told);
    q->expected_is_bound = deviation > MAX(mse, bound);
    q->is_beyond = bound > MAX(mse, deviation);
    if (q->is_beyond)
        g_strlcpy(q->why,
                  _("the flow removes so much less than the noise level that no higher SNR is "
                    "possible; the level may be too high"),
                  sizeof q->why);
    if (q->expected_is_bound)
        g_strlcpy(
            q->why,
            _("the error is too small to be told beside this noise level: the expected SNR is "
              "a lower bound"),
            sizeof q->why);
    q->expected_gain_db = q->expected_snr_db - q->input_snr_db;
    // A larger level means less error and less signal, so that its ends are tried as they are.
    double low = INFINITY, high = -INFINITY;
    const double ends[] = {noise->low / noise->total, noise->high / noise->total};
    for (int k = 0; k < 2; k++) {
        const double level = isfinite(ends[k]) && ends[k] > 0 ? ends[k] : 1;
        const double left = MAX(s->yy / s->n - level * level * variance, 0.01 * signal);
        const double error = sure(s, noise, level);
        const double end = MAX(error_at_least(s, level * noise->total), least);
        q->mse_ends[k] = MAX(error, end);
        low = MIN(low, decibel(left / MAX(error + 2 * deviation, end)));
        high = MAX(high, decibel(left / MAX(error - 2 * deviation, end)));
    }
    q->mse_ends[2] = MAX(mse + (MORE_NOISE - 1) * 2 * s->div / s->n, MAX(bound, least));
    q->expected_low_db = MIN(low, q->expected_snr_db);
    q->expected_high_db = MAX(high, q->expected_snr_db);
    const double sure_of = decibel(signal / error_at_most(s, MAX(noise->high, noise->total)));
    q->is_clean = sure_of > LITHO_QUALITY_CLEAN_DB;
    const gboolean is_uneven =
        noise->gains > UNEVEN ||
        (noise->gains > 0 && (q->is_beyond || s->rr / s->n < 0.8 * variance));
    if (noise->lumps > LITHO_NOISE_LUMPS)
        litho_quality_tell_filtered(noise, q);
    else if (is_uneven)
        litho_quality_tell_uneven(noise, q);
    else if (noise->local &&
             (q->is_beyond || q->expected_is_bound || litho_quality_is_doubtful(noise, told)))
        litho_quality_tell_varying(noise, q);
    else if (noise->noisy > 0)
        litho_quality_tell_noisy(noise, q);
    else if (!noise->local && litho_quality_is_doubtful(noise, told))
        litho_quality_tell_small(noise, q);
    else if (noise->steep > 0)
        litho_quality_tell_steep(noise, q);
    // Shifts from trace to trace pass for gains that differ by 10 to 16 %.
    if (noise->shifts > 0 && (is_uneven || !*q->why) && !(noise->lumps > LITHO_NOISE_LUMPS))
        litho_quality_tell_shifts(noise, q);
    if (fabs(noise->offset) > LITHO_QUALITY_OFFSET && !*q->why)
        litho_quality_tell_offset(noise, q);
}

static void tell_removed(const LithoQualitySums *sums, LithoQuality *q)
{
    q->count = sums->n;
    q->removed = sums->energy > 0 ? sums->removed / sums->energy : NAN;
}

static gboolean judge_noise(LithoJudge *judge, const LithoQualityAsk *ask,
                            const LithoQualityCase *c, Runs *runs, LithoQualitySums *sums,
                            LithoQuality *q, GError **error)
{
    if (!make_probe(judge, ask, c, runs->whole, error))
        return FALSE;
    g_autoptr(LithoCube) moved =
        run_flow(judge->probed, c->flow, judge->sum, region_of(c), runs, NULL, error);
    if (!moved)
        return FALSE;
    LithoQualityCase weighted = *c;
    g_autofree double *weight = litho_quality_weights(ask->noise, c);
    weighted.weight = weight;
    litho_quality_sum(&weighted, judge->probe, moved, runs->whole, sums);
    tell_removed(sums, q);
    litho_quality_scale_probe(ask->noise, sums);
    count_bursts(sums, ask->noise->total * ask->noise->total);
    if (sums->n > 0)
        expect(sums, ask->noise, q);
    if (isfinite(q->expected_snr_db) && !*q->why)
        litho_quality_tell_gains(ask->noise, c->flow, q);
    return TRUE;
}

// --- hidden traces ------------------------------------------------------------------------------

// The flow with missing traces written by every step that can.
static LithoFlow *filling_flow(const LithoFlow *flow, gboolean *fills)
{
    LithoFlow *copy = litho_flow_copy(flow);
    *fills = FALSE;
    for (guint k = 0; k < litho_flow_length(copy); k++) {
        LithoStep *step = litho_flow_step(copy, k);
        const char *alone = step->op->fills_alone;
        if (!step->enabled || !step->op->fills ||
            (alone && litho_params_hold(&step->op->params, alone, step->params)))
            continue;
        *fills |= *step->op->fills == '\0';
        g_auto(GStrv) words = g_strsplit(step->op->fills, " ", -1);
        for (char **word = words; *word; word++)
            *fills |= litho_operator_set(step->op, step->params, *word, NULL);
    }
    return copy;
}

// A copy of what the area needs without the traces of one fold.
static LithoCube *hide_traces(const LithoQualityAsk *ask, const LithoFlow *flow,
                              const LithoQualityCase *c, guint fold, GError **error)
{
    LithoBox need;
    if (!litho_walk_input_box(flow, &c->in->grid, c->area, NULL, &need, error))
        return NULL;
    need = litho_box_intersect(litho_box_union(need, c->area), c->in->held);
    LithoCube *cube = litho_cube_copy_box(c->in, need, error);
    for (gint64 i = need.lo[0]; cube && i < need.hi[0]; i++)
        for (gint64 j = need.lo[1]; j < need.hi[1]; j++) {
            if (!litho_probe_hides(i + c->shift[0], j + c->shift[1], ask->hide, fold, ask->seed))
                continue;
            cube->live[litho_cube_trace_index(cube, i, j)] = 0;
            memset(litho_cube_trace(cube, i, j), 0, litho_box_size(need, 2) * sizeof(float));
        }
    return cube;
}

typedef struct Hidden {
    gint64 n;
    guint traces;
    double yy, ee, pp; // recorded, misfit, predicted
    double yy2, ye, ee2; // products of the traces' energies and misfits, summed
} Hidden;

static void add_trace(const float *y, const float *p, const float *guess, gint64 from, gint64 to,
                      Hidden *h)
{
    double misfit = 0, energy = 0;
    for (gint64 t = from; t < to; t++) {
        const double e = (double)y[t] - p[t];
        if (!isfinite(e) || guess[t] != y[t])
            continue;
        h->n++;
        energy += (double)y[t] * y[t];
        h->pp += (double)p[t] * p[t];
        misfit += e * e;
    }
    h->traces++;
    h->yy += energy;
    h->ee += misfit;
    h->yy2 += energy * energy;
    h->ye += energy * misfit;
    h->ee2 += misfit * misfit;
}

static void add_hidden(const LithoQualityAsk *ask, const LithoQualityCase *c, const LithoCube *out,
                       guint fold, Hidden *h)
{
    for (gint64 i = c->area.lo[0]; i < c->area.hi[0]; i++)
        for (gint64 j = c->area.lo[1]; j < c->area.hi[1]; j++) {
            gint64 from, to;
            if (!litho_probe_hides(i + c->shift[0], j + c->shift[1], ask->hide, fold, ask->seed) ||
                !litho_trace_span(c->in, i, j, c->area.lo[2], c->area.hi[2], &from, &to))
                continue;
            const float *y = litho_quality_row(c->in, i, j), *p = litho_quality_row(out, i, j);
            add_trace(y, p, c->guesses ? litho_quality_row(c->guesses, i, j) : y, from, to, h);
        }
}

static void tell_hidden(const LithoQualityAsk *ask, const Hidden *h, LithoQuality *q)
{
    q->hidden_traces = h->traces;
    if (h->n == 0 || h->pp == 0)
        return;
    const double variance = ask->noise ? ask->noise->total * ask->noise->total : 0;
    const double signal = h->yy - h->n * variance, error = h->ee - h->n * variance;
    q->hidden_recorded_db = decibel(h->yy / h->ee);
    q->hidden_snr_db = signal > 0 && error > 0 ? decibel(signal / error) : NAN;
    if (!isfinite(q->hidden_snr_db) && !*q->why)
        g_strlcpy(q->why,
                  _("the energy of hidden traces, or of their misfit, is below that of the noise "
                    "level, which may be too high"),
                  sizeof q->why);
    // Scatter of what each trace adds to the logarithm of the ratio.
    const double sum = h->yy / signal - h->ee / error;
    const double squares = h->yy2 / (signal * signal) - 2 * h->ye / (signal * error) +
                           h->ee2 / (error * error) - sum * sum / h->traces;
    q->hidden_off_db =
        h->traces > 1 && signal > 0 && error > 0 ? 10 / G_LN10 * 2 * sqrt(MAX(squares, 0)) : NAN;
}

static gboolean ask_fold(LithoJudge *judge, const LithoQualityAsk *ask, const LithoQualityCase *c,
                         const LithoFlow *flow, guint fold, Runs *runs, Hidden *h, GError **error)
{
    g_autoptr(LithoCube) in = hide_traces(ask, flow, c, fold, error);
    g_autoptr(LithoCube) out =
        in ? run_flow(judge->hidden, flow, in, region_of(c), runs, NULL, error) : NULL;
    if (out)
        add_hidden(ask, c, out, fold, h);
    return out != NULL;
}

static gboolean judge_hidden(LithoJudge *judge, const LithoQualityAsk *ask,
                             const LithoQualityCase *c, guint folds, Runs *runs, LithoQuality *q,
                             GError **error)
{
    gboolean fills;
    g_autoptr(LithoFlow) flow = filling_flow(c->flow, &fills);
    Hidden h = {0};
    for (guint fold = 0; fold < folds; fold++)
        if (!ask_fold(judge, ask, c, flow, fold, runs, &h, error))
            return FALSE;
    tell_hidden(ask, &h, q);
    if (h.n == 0 || h.pp == 0)
        g_strlcpy(q->why,
                  h.n == 0 ? _("no live trace was hidden: the area or the share is too small")
                           : _("this flow leaves missing traces empty: hidden ones tell nothing"),
                  sizeof q->why);
    return TRUE;
}

// --- the question -------------------------------------------------------------------------------

static gboolean judge_similarity(const LithoQualityAsk *ask, const LithoQualityCase *c,
                                 LithoRun *run, LithoQuality *q, GError **error)
{
    LithoRun quiet = {.cancel = run ? run->cancel : NULL, .threads = run ? run->threads : 0};
    if (!ask->similarity)
        return TRUE;
    if (!litho_similarity(c->in, c->out, c->area, NULL, &quiet, NULL, &q->leak, error))
        return FALSE;
    for (int axis = 0; axis < 3; axis++)
        q->leak.worst[axis] += c->shift[axis];
    return TRUE;
}

static gboolean judge_reference(const LithoQualityAsk *ask, const LithoQualityCase *c,
                                LithoQuality *q, GError **error)
{
    if (!ask->reference)
        return TRUE;
    const LithoBox area = litho_box_empty(ask->area) ? ask->in->held : ask->area;
    if (!litho_grid_same_shape(&ask->reference->grid, &ask->in->grid) ||
        !litho_box_contains(ask->reference->held, area))
        return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                            "the reference has another shape than the input");
    if (!litho_cube_host(ask->reference, error))
        return FALSE;
    LithoQualityErrors errors;
    litho_quality_sum_errors(c, ask->reference, q->fills_alone, &errors);
    q->snr_db = decibel(errors.ss / errors.ee);
    if (!q->fills_alone)
        q->gain_db = q->snr_db - decibel(errors.ss / errors.nn);
    else if (!(q->filled_traces = errors.traces))
        g_strlcpy(q->why, _("no trace of the area was missing and is filled: no SNR can be told"),
                  sizeof q->why);
    return TRUE;
}

gboolean litho_judge_losses(LithoJudge *judge, LithoRun *run, LithoLosses *losses, GError **error)
{
    return litho_losses(judge->in, judge->out, judge->area, run, losses, error);
}

LithoQuality litho_quality_unknown(void)
{
    return (LithoQuality){
        .expected_snr_db = NAN,
        .expected_low_db = NAN,
        .expected_high_db = NAN,
        .mse = NAN,
        .mse_ends = {NAN, NAN, NAN},
        .input_snr_db = NAN,
        .expected_gain_db = NAN,
        .noise_sigma = NAN,
        .hidden_snr_db = NAN,
        .hidden_off_db = NAN,
        .hidden_recorded_db = NAN,
        .removed = NAN,
        .snr_db = NAN,
        .gain_db = NAN,
    };
}

// The flow as it is; what the data chose in it stays so in the runs behind it, which take *settled.
static LithoCube *run_plain(LithoJudge *judge, LithoQualityCase *c, Runs *runs, LithoFlow **settled,
                            GError **error)
{
    LithoReport *report = litho_flow_has_choices(c->flow) ? litho_report_new() : NULL;
    LithoCube *out = run_flow(judge->plain, c->flow, c->in, region_of(c), runs, report, error);
    if (out && report)
        c->flow = *settled = litho_flow_settled(c->flow, report);
    if (report)
        litho_report_unref(report);
    return out;
}

gboolean litho_judge_run(LithoJudge *judge, const LithoQualityAsk *ask, LithoRun *run,
                         LithoQuality *quality, GError **error)
{
    LithoQualityCase c;
    LithoQuality q = litho_quality_unknown();
    q.fills_alone = litho_flow_fills_alone(ask->flow);
    q.noise_sigma = ask->noise ? ask->noise->total : NAN;
    if (q.fills_alone && !(ask->hide > 0) && !ask->reference)
        g_strlcpy(q.why,
                  _("the flow fills missing traces and leaves recorded ones as they are: hidden "
                    "traces tell how well"),
                  sizeof q.why);
    *quality = q;
    if (!make_case(judge, ask, &c, error))
        return FALSE;
    const guint fit = ask->hide > 0 ? (guint)MAX(100 / ask->hide, 1) : 0;
    const guint folds = MIN(ask->folds > 0 ? ask->folds : 2, fit);
    // Recorded traces that stay as they are tell nothing of a flow that fills.
    const gboolean expected = ask->noise && !q.fills_alone;
    const guint others = ask->only_hidden ? 0 : 1 + expected;
    Runs runs = {.whole = run, .total = others + folds};
    litho_run_begin(run, "judging", NULL);
    if (ask->only_hidden) {
        if (folds > 0 && (!find_bursts(judge, &c, run, error) ||
                          !judge_hidden(judge, ask, &c, folds, &runs, &q, error)))
            return FALSE;
        *quality = q;
        return TRUE;
    }
    g_autoptr(LithoFlow) settled = NULL;
    const double start = litho_now_ms();
    LithoCube *out = run_plain(judge, &c, &runs, &settled, error);
    if (!out)
        return FALSE;
    if (out->serial != judge->timed)
        judge->seconds = (litho_now_ms() - start) * 1e-3;
    judge->timed = out->serial;
    q.seconds = judge->seconds;
    g_clear_pointer(&judge->out, litho_cube_unref);
    judge->out = c.out = out;
    litho_cube_ref(c.in);
    g_clear_pointer(&judge->in, litho_cube_unref);
    judge->in = c.in;
    judge->area = c.area;
    g_clear_pointer(&judge->shown, litho_cube_unref);
    judge->shown = region_of(&c) || litho_box_equal(c.area, out->held)
                       ? litho_cube_ref(out)
                       : litho_quality_cut(out, c.area, error);
    if (!judge->shown)
        return FALSE;
    LithoQualitySums sums;
    if (!expected) { // else with the sums of the expected SNR
        litho_quality_sum(&c, NULL, NULL, run, &sums);
        tell_removed(&sums, &q);
    }
    if (((expected || folds > 0) && !find_bursts(judge, &c, run, error)) ||
        (expected && !judge_noise(judge, ask, &c, &runs, &sums, &q, error)) ||
        (folds > 0 && !judge_hidden(judge, ask, &c, folds, &runs, &q, error)) ||
        !judge_similarity(ask, &c, run, &q, error) || !judge_reference(ask, &c, &q, error))
        return FALSE;
    *quality = q;
    return TRUE;
}
