// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/quality.h"

#include <math.h>
#include <string.h>

#include "core/engine/probe.h"
#include "core/engine/quality_hidden.h"
#include "core/engine/quality_leaving.h"
#include "core/engine/quality_sums.h"
#include "core/engine/quality_sure.h"
#include "core/engine/quality_unknown.h"
#include "core/engine/settled.h"
#include "core/engine/steadied.h"
#include "core/error.h"
#include "core/sort.h"
#include "core/text.h"

struct LithoJudge {
    LithoEngine *plain, *probed, *hidden;
    // Cubes made for the last question, kept for the next one.
    LithoSteadied steadied;       // the input less its steady noise, which all figures are of
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
    LithoCube *moved;    // f(y + e b) of the last question, as much of it counts as noise that
    double passing;      // passes; NULL = it had no noise level
    double quiet;        // LithoSimilarityNoise.quiet of the last question
    LithoBox area;
    LithoGrid survey; // of the last question
    gint64 shift[3];  // from the judged grid to that one
    guint64 timed;  // serial of the output that took `seconds`; 0 = none
    double seconds; // a question asked again finds its output ready
};

LithoJudge *litho_judge_new(LithoDevice device)
{
    LithoJudge *judge = g_new0(LithoJudge, 1);
    judge->plain = litho_engine_new(device);
    judge->probed = litho_engine_new(device);
    judge->hidden = litho_engine_new(device);
    litho_engine_expect_steadied(judge->plain);
    litho_engine_expect_steadied(judge->probed);
    litho_engine_expect_steadied(judge->hidden);
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
    litho_steadied_clear(&judge->steadied);
    g_clear_pointer(&judge->guesses, litho_cube_unref);
    g_clear_pointer(&judge->cut, litho_cube_unref);
    g_clear_pointer(&judge->in, litho_cube_unref);
    g_clear_pointer(&judge->out, litho_cube_unref);
    g_clear_pointer(&judge->shown, litho_cube_unref);
    g_clear_pointer(&judge->moved, litho_cube_unref);
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
    return litho_grid_matches(in, &walk->out) ||
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
static gboolean make_case(LithoJudge *judge, const LithoQualityAsk *ask, LithoRun *run,
                          LithoQualityCase *c, GError **error)
{
    LithoRun quiet = litho_run_quiet(run);
    const LithoBox area = litho_box_empty(ask->area) ? ask->in->held : ask->area;
    const gboolean local = litho_flow_is_local(ask->flow);
    LithoBox box = area;
    const LithoStep *first = litho_steadied_step(ask->flow);
    *c = (LithoQualityCase){.flow = ask->flow, .in = ask->in, .area = area};
    if (!litho_quality_check(ask->flow, &ask->in->grid, error) ||
        !litho_cube_host(ask->in, error) ||
        (first &&
         !(c->in = litho_steadied_take(&judge->steadied, first, ask->in, TRUE, &quiet, error))) ||
        !litho_quality_need(ask->flow, &ask->in->grid, area, &box, error))
        return FALSE;
    box = litho_box_intersect(box, ask->in->held);
    if (litho_box_equal(box, local ? ask->in->held : litho_box_full(&ask->in->grid)))
        return TRUE;
    if (!(c->in = cut_of(judge, c->in, box, local, error)))
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
    sums->yr += sums->guess_off + (double)sums->n_bursts * variance;
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

static void tell_removed(const LithoQualitySums *sums, LithoQuality *q)
{
    q->count = sums->n;
    q->removed = sums->energy > 0 ? sums->removed / sums->energy : NAN;
}

// Removed energy and gain are told against the input as it was recorded.
static void tell_recorded(const LithoJudge *judge, const LithoQualityAsk *ask,
                          const LithoQualityCase *c, LithoQuality *q)
{
    double energy = 0, removed = 0, steady = 0;
    gint64 n = 0;
    for (gint64 i = c->area.lo[0]; judge->steadied.cube && i < c->area.hi[0]; i++)
        for (gint64 j = c->area.lo[1]; j < c->area.hi[1]; j++) {
            const float *y = litho_quality_row(ask->in, i + c->shift[0], j + c->shift[1]);
            const float *less = litho_quality_row(c->in, i, j);
            const float *f = litho_quality_row(c->out, i, j);
            const gint64 hi = litho_cube_is_live(c->in, i, j) ? c->area.hi[2] : 0;
            for (gint64 t = c->area.lo[2]; t < hi; t++) {
                const double x = y[t + c->shift[2]];
                if (!isfinite(x) || !isfinite(f[t]) || x == 0)
                    continue;
                energy += x * x;
                removed += (x - f[t]) * (x - f[t]);
                steady += (x - less[t]) * (x - less[t]);
                n++;
            }
        }
    if (n == 0)
        return;
    q->removed = energy > 0 ? removed / energy : q->removed;
    const double variance = q->noise_sigma * q->noise_sigma;
    const double signal = variance * pow(10, q->input_snr_db / 10);
    q->input_snr_db = litho_quality_decibel(signal / (variance + steady / (double)n));
    q->noise_sigma = sqrt(variance + steady / (double)n);
    q->expected_gain_db += isfinite(q->input_snr_db)
                               ? litho_quality_decibel(signal / variance) - q->input_snr_db
                               : NAN;
}

// `noise` NULL = not known.
static gboolean judge_similarity(const LithoQualityAsk *ask, const LithoQualityCase *c,
                                 const LithoSimilarityNoise *noise, LithoRun *run, LithoQuality *q,
                                 GError **error)
{
    LithoRun quiet = {.cancel = run ? run->cancel : NULL, .threads = run ? run->threads : 0};
    if (!ask->similarity)
        return TRUE;
    q->widths = litho_similarity_widths_or_default(&ask->widths);
    if (!litho_similarity_leak(c->in, c->out, c->area, &ask->widths, noise, &quiet, &q->leak,
                               error))
        return FALSE;
    for (int axis = 0; axis < 3; axis++)
        q->leak.worst[axis] += c->shift[axis];
    return TRUE;
}

// A hundredth of the median of the output's energy, which pieces of 16 samples tell: below it lie
// parts without events, as above the first arrivals of a shot, where next to nothing leaves.
static double quiet_of(const LithoQualityCase *c)
{
    enum { PIECE = 16, MOST = 20000 };
    const gint64 nx = litho_box_size(c->area, 1), nt = MAX(litho_box_size(c->area, 2) / PIECE, 1);
    const gint64 all = litho_box_size(c->area, 0) * nx * nt, stride = MAX(all / MOST, 1) | 1;
    const gint64 tall = MIN(PIECE, litho_box_size(c->area, 2));
    g_autofree float *energy = g_new(float, all / stride + 1);
    gsize n = 0;
    for (gint64 k = 0; k < all; k += stride) {
        const gint64 i = c->area.lo[0] + k / nt / nx, j = c->area.lo[1] + k / nt % nx;
        const gint64 t = c->area.lo[2] + k % nt * PIECE;
        const float *o = litho_cube_trace(c->out, i, j) + (t - c->out->held.lo[2]);
        double sum = 0;
        for (gint64 m = 0; m < tall; m++)
            sum += (double)o[m] * o[m];
        if (isfinite(sum) && litho_cube_is_live(c->in, i, j))
            energy[n++] = (float)(sum / (double)tall);
    }
    qsort(energy, n, sizeof *energy, litho_compare_float);
    return n > 0 ? 0.01 * energy[n / 2] : 0;
}

// The noise that passes, as the last question's probe tells it.
static LithoSimilarityNoise passing_noise(const LithoJudge *judge)
{
    return (LithoSimilarityNoise){.probe = judge->probe,
                                  .moved = judge->moved,
                                  .step = LITHO_QUALITY_STEP,
                                  .passing = judge->passing,
                                  .quiet = judge->quiet};
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
    if (sums->n > 0) {
        litho_quality_expect(sums, ask->noise, q);
        litho_quality_tell_lost(sums, ask->noise, q);
    }
    if (!judge->steadied.cube && ask->noise->steady > 0)
        litho_quality_tell_steady(ask->noise, q);
    if (!*q->why)
        litho_quality_tell_reversed(ask->noise, c->flow, q);
    if (isfinite(q->expected_snr_db) && !*q->why)
        litho_quality_tell_gains(ask->noise, c->flow, q);
    // The error is no smaller than the noise that passes.
    const double pass = sums->pass / (double)MAX(sums->n, 1);
    judge->passing = q->mse > 0 ? MIN(1, q->mse / pass) : 1;
    judge->moved = g_steal_pointer(&moved);
    judge->quiet = quiet_of(c);
    const LithoSimilarityNoise noise = passing_noise(judge);
    return judge_similarity(ask, c, &noise, runs->whole, q, error);
}

// --- hidden traces ------------------------------------------------------------------------------

static gboolean ask_fold(LithoJudge *judge, const LithoQualityAsk *ask, const LithoQualityCase *c,
                         const LithoFlow *flow, guint fold, Runs *runs, LithoQualityHidden *h,
                         GError **error)
{
    g_autoptr(LithoCube) in = litho_quality_hide(ask, flow, c, fold, error);
    g_autoptr(LithoCube) out =
        in ? run_flow(judge->hidden, flow, in, region_of(c), runs, NULL, error) : NULL;
    if (out)
        litho_quality_hidden_add(ask, c, out, fold, h);
    return out != NULL;
}

static gboolean judge_hidden(LithoJudge *judge, const LithoQualityAsk *ask,
                             const LithoQualityCase *c, guint folds, Runs *runs, LithoQuality *q,
                             GError **error)
{
    g_autoptr(LithoFlow) flow = litho_quality_filling_flow(c->flow);
    LithoQualityHidden h = {0};
    for (guint fold = 0; fold < folds; fold++)
        if (!ask_fold(judge, ask, c, flow, fold, runs, &h, error))
            return FALSE;
    litho_quality_hidden_tell(ask, &h, q);
    return TRUE;
}

// --- the question -------------------------------------------------------------------------------

static gboolean judge_reference(const LithoJudge *judge, const LithoQualityAsk *ask,
                                const LithoQualityCase *c, LithoQuality *q, GError **error)
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
    // The gain is over the input as it was recorded.
    LithoQualityErrors errors;
    LithoQualityCase recorded = *c;
    g_autoptr(LithoCube) cut = NULL;
    if (judge->steadied.cube && litho_grid_same_shape(&c->in->grid, &ask->in->grid))
        recorded.in = ask->in;
    else if (judge->steadied.cube &&
             !(recorded.in = cut = litho_quality_cut(ask->in, judge->cut_box, error)))
        return FALSE;
    litho_quality_sum_errors(&recorded, ask->reference, q->fills_alone, &errors);
    q->snr_db = litho_quality_decibel(errors.ss / errors.ee);
    q->true_lost = errors.ss > 0 ? 1 - errors.sf / errors.ss : NAN;
    if (!q->fills_alone)
        q->gain_db = q->snr_db - litho_quality_decibel(errors.ss / errors.nn);
    else if (!(q->filled_traces = errors.traces))
        g_strlcpy(q->why, _("no trace of the area was missing and is filled: no SNR can be told"),
                  sizeof q->why);
    return TRUE;
}

gboolean litho_judge_similarity(LithoJudge *judge, const LithoSimilarityWidths *widths,
                                LithoRun *run, LithoCube **map, gboolean *is_beside, GError **error)
{
    const LithoSimilarityNoise noise = passing_noise(judge);
    LithoCube *made = NULL;
    *is_beside = judge->moved != NULL;
    if (*is_beside
            ? !litho_similarity_beside(judge->in, judge->out, judge->area, widths, &noise, run,
                                       &made, error)
            : !litho_similarity(judge->in, judge->out, judge->area, widths, run, &made, error))
        return FALSE;
    *map = litho_grid_same_shape(&made->grid, &judge->shown->grid)
               ? made
               : litho_quality_cut(made, judge->area, error);
    if (*map != made)
        litho_cube_unref(made);
    return *map != NULL;
}

LithoBeside *litho_judge_beside(const LithoJudge *judge)
{
    if (!judge->moved)
        return NULL;
    return litho_beside_new(
        &(LithoBesideMaker){.survey = &judge->survey,
                            .in = judge->in,
                            .out = judge->out,
                            .area = judge->area,
                            .shift = {judge->shift[0], judge->shift[1], judge->shift[2]},
                            .noise = passing_noise(judge)});
}

gboolean litho_judge_losses(LithoJudge *judge, LithoRun *run, LithoLosses *losses, GError **error)
{
    const LithoSimilarityNoise noise = passing_noise(judge);
    return litho_losses(judge->in, judge->out, judge->area, judge->moved ? &noise : NULL, run,
                        losses, error);
}

LithoQuality litho_quality_unknown(void)
{
    return (LithoQuality){
        .expected_snr_db = NAN,
        .expected_low_db = NAN,
        .expected_high_db = NAN,
        .lost = NAN,
        .lost_low = NAN,
        .lost_high = NAN,
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
        .true_lost = NAN,
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

// Takes `out` over; it and the input of `c` stay for litho_judge_output() and _losses().
static gboolean keep_result(LithoJudge *judge, const LithoGrid *survey, const LithoQualityCase *c,
                            LithoCube *out, GError **error)
{
    litho_cube_ref(c->in);
    g_clear_pointer(&judge->in, litho_cube_unref);
    g_clear_pointer(&judge->out, litho_cube_unref);
    g_clear_pointer(&judge->shown, litho_cube_unref);
    g_clear_pointer(&judge->moved, litho_cube_unref);
    judge->in = c->in;
    judge->out = out;
    judge->area = c->area;
    judge->survey = *survey;
    memcpy(judge->shift, c->shift, sizeof judge->shift);
    judge->shown = region_of(c) || litho_box_equal(c->area, out->held)
                       ? litho_cube_ref(out)
                       : litho_quality_cut(out, c->area, error);
    return judge->shown != NULL;
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
    if (!make_case(judge, ask, run, &c, error))
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
    c.out = out;
    if (!keep_result(judge, &ask->in->grid, &c, out, error))
        return FALSE;
    LithoQualitySums sums;
    if (!expected) { // else with the sums of the expected SNR
        litho_quality_sum(&c, NULL, NULL, run, &sums);
        tell_removed(&sums, &q);
    }
    if (((expected || folds > 0) && !find_bursts(judge, &c, run, error)) ||
        (expected && !judge_noise(judge, ask, &c, &runs, &sums, &q, error)) ||
        (folds > 0 && !judge_hidden(judge, ask, &c, folds, &runs, &q, error)) ||
        (!expected && !judge_similarity(ask, &c, NULL, run, &q, error)) ||
        !judge_reference(judge, ask, &c, &q, error))
        return FALSE;
    tell_recorded(judge, ask, &c, &q);
    *quality = q;
    return TRUE;
}
