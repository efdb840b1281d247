// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/find.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"

enum { ALL_VALUES = 6, COARSE = 5, MOST_TRIALS = 160 };
// Time that is kept for the last trial, in times of the slowest one on as many samples.
#define SPARE 1.25
// No more is kept of the time that the first trial, which made plans and measured levels, too, has
// left, before another one was timed.
#define MOST_SPARE 0.5
// A change that gains less than this, in dB, is no reason to leave what the person has chosen.
#define WORTH_DB 0.05
// Where the noise varies from place to place less than this says nothing: patch was told to gain
// 0.14 dB where no setting gains against the truth.
#define UNSURE_DB 0.25
// Others have to gain this much for a parameter to be searched again.
#define AGAIN_DB 0.2
// A gain is told with its interval where this is wider, in dB.
#define OPEN_DB 0.5

typedef struct Trial {
    double value[LITHO_FIND_MOST], score;
} Trial;

typedef struct Present {
    double score, mse_ends[3];
    LithoLosses losses;
} Present;

typedef struct Search {
    LithoJudge *judge;
    const LithoFindAsk *ask;
    LithoQualityAsk question;
    LithoFlow *flow; // owned; the one that is tried
    LithoStep *step;
    const LithoFindRow *range[LITHO_FIND_MOST];
    LithoFind *find;
    GArray *trials; // of Trial: nothing is computed twice
    double now[LITHO_FIND_MOST]; // the present settings
    Present present;             // their judgement on the area that is asked
    double passed_over; // gain of the best setting with which events leave, dB
    char why[256];      // what was seen there
    LithoRun *run;
    double start_ms, end_ms; // end_ms: of the trials under way; INFINITY = none
    double until_ms;         // of the last trial; INFINITY = none
    double times;            // samples of the last trial over those of the trials under way; 0 =
                             // no time is kept
    double slowest_ms;       // of these trials
    gint late;               // atomic: a trial was given up at end_ms
    gboolean cancelled;
} Search;

// --- values -------------------------------------------------------------------------------------

// Rows are searched on a scale where equal steps matter alike: ratios where the slider moves in
// ratios.
static double to_scale(const LithoParam *row, double value)
{
    return row->log ? log(MAX(value, 1e-12)) : value;
}

static double from_scale(const LithoParam *row, double every, double x)
{
    double value = row->log ? exp(x) : x;
    const double whole = every > 0 ? every : row->type == LITHO_PARAM_INT ? MAX(row->step, 1) : 1;
    if (row->type != LITHO_PARAM_FLOAT) // a window may have to be even
        return CLAMP(rint(value / whole) * whole, row->min, row->max);
    // Three digits are plenty, and can be read.
    const double digit = pow(10, floor(log10(MAX(fabs(value), 1e-12))) - 2);
    value = rint(value / digit) * digit;
    return CLAMP(value, row->min, row->max);
}

static void ends(const Search *s, guint k, double *lo, double *hi)
{
    const LithoParam *row = s->find->item[k].row;
    const gboolean soft = row->soft_min != 0 || row->soft_max != 0;
    *lo = soft ? MAX(row->soft_min, row->min) : row->min;
    *hi = soft ? MIN(row->soft_max, row->max) : row->max;
    if (s->range[k]->lo != s->range[k]->hi) {
        *lo = s->range[k]->lo;
        *hi = s->range[k]->hi;
    }
    if (row->type == LITHO_PARAM_CHOICE) {
        *lo = 0;
        *hi = litho_param_n_choices(row) - 1.0;
    }
}

// --- trials -------------------------------------------------------------------------------------

// A level that is known at each place counts noise where it is; one at each wavenumber may be too
// low where events are, its third end.
static guint n_ends(const LithoQuality *q)
{
    return q->is_rough ? 3 : 2;
}

// Gain in dB, whatever the noise level within its interval.
static double least_gain(const double before[3], const LithoQuality *after, guint n)
{
    double least = INFINITY;
    for (guint k = 0; k < n; k++) {
        const double gain = 10 * log10(before[k] / after->mse_ends[k]);
        least = isfinite(gain) ? MIN(least, gain) : -INFINITY;
    }
    return least;
}

// Ranked by the error itself where it is known: the expected SNR ends where errors cannot be told
// from none. A rough level ranks settings at both ends of its interval.
static double score_of(const Search *s, const LithoQuality *q)
{
    if (!s->question.noise)
        return isfinite(q->hidden_snr_db) ? q->hidden_snr_db : -INFINITY;
    if (litho_quality_only_ranks(&s->find->now))
        return least_gain(s->present.mse_ends, q, n_ends(&s->find->now));
    return isfinite(q->mse) ? -q->mse : -INFINITY;
}

static double now_ms(const Search *s)
{
    return s->ask->now_ms ? s->ask->now_ms(s->ask->data) : litho_now_ms();
}

static gboolean time_is_up(Search *s)
{
    const gboolean up = now_ms(s) >= s->end_ms;
    if (up)
        s->find->is_out_of_time = TRUE;
    return up || s->cancelled || s->find->trials >= MOST_TRIALS;
}

// Asked at every step of a trial, by any thread.
static gboolean gives_up(gpointer data)
{
    Search *s = data;
    if (s->run && s->run->superseded && s->run->superseded(s->run->superseded_data))
        return TRUE;
    if (now_ms(s) < s->end_ms)
        return FALSE;
    g_atomic_int_set(&s->late, 1);
    return TRUE;
}

static const Trial *known(const Search *s, const double value[LITHO_FIND_MOST])
{
    for (guint k = 0; k < s->trials->len; k++) {
        const Trial *t = &g_array_index(s->trials, Trial, k);
        if (memcmp(t->value, value, s->find->n * sizeof *value) == 0)
            return t;
    }
    return NULL;
}

static gboolean set_values(Search *s, const double value[LITHO_FIND_MOST])
{
    for (guint k = 0; k < s->find->n; k++)
        if (!litho_param_set(s->find->item[k].row, s->step->params, value[k], NULL))
            return FALSE;
    return TRUE;
}

static double ratio_db(const Search *s, double before, double after)
{
    if (!s->question.noise || litho_quality_only_ranks(&s->find->now))
        return after - before;
    // Scores are errors with a minus; an error below zero is one that cannot be told from none.
    return before < 0 && after < 0 ? 10 * log10(before / after) : after > before ? 10 : 0;
}

static gboolean is_present(const Search *s, const double value[LITHO_FIND_MOST])
{
    return memcmp(value, s->now, sizeof s->now) == 0;
}

// FALSE: the values gain, but events leave with them that stay with the present ones. The present
// values' own losses are kept.
static gboolean keeps_events(Search *s, const Trial *trial, LithoRun *run, GError **error)
{
    LithoLosses losses;
    char why[sizeof s->why];
    const gboolean is_now = is_present(s, trial->value);
    if (!is_now && !(trial->score > s->present.score))
        return TRUE;
    if (!litho_judge_losses(s->judge, run, &losses, error))
        return FALSE;
    if (is_now) {
        s->present.losses = losses;
        s->present.score = trial->score;
        return TRUE;
    }
    if (!litho_losses_grow(&s->present.losses, &losses, &s->question.in->grid, why, sizeof why))
        return TRUE;
    const double gain = ratio_db(s, s->present.score, trial->score);
    if (gain > s->passed_over) {
        s->passed_over = gain;
        g_strlcpy(s->why, why, sizeof s->why);
    }
    return FALSE;
}

// Keeps time for the last trial, by what a trial has taken.
static void keep_time(Search *s, double trial_ms)
{
    if (!(s->times > 0))
        return;
    s->slowest_ms = MAX(s->slowest_ms, trial_ms);
    s->end_ms = s->until_ms - SPARE * s->times * s->slowest_ms;
}

// Score of these values; -INFINITY: refused, cancelled, no time, or events leave.
static double try_values(Search *s, const double value[LITHO_FIND_MOST], LithoQuality *quality,
                         GError **error)
{
    const Trial *before = known(s, value);
    if (before && !quality)
        return before->score;
    if (time_is_up(s) && !quality)
        return -INFINITY;
    Trial trial = {.score = -INFINITY};
    memcpy(trial.value, value, sizeof trial.value);
    const double began_ms = now_ms(s);
    LithoQuality q;
    g_autoptr(GError) refused = NULL;
    LithoRun quiet = {.superseded = gives_up, .superseded_data = s};
    if (s->run) {
        quiet.cancel = s->run->cancel;
        quiet.threads = s->run->threads;
    }
    g_atomic_int_set(&s->late, 0);
    s->question.reference = quality ? s->ask->quality.reference : NULL; // no setting is found by it
    if (set_values(s, value) && litho_judge_run(s->judge, &s->question, &quiet, &q, &refused)) {
        if (quality) // the first question tells how scores are made
            *quality = q;
        if (is_present(s, value))
            memcpy(s->present.mse_ends, q.mse_ends, sizeof q.mse_ends);
        trial.score = score_of(s, &q);
        if (trial.score > -INFINITY && !keeps_events(s, &trial, &quiet, &refused))
            trial.score = -INFINITY;
    }
    const gboolean late = litho_error_is_cancelled(refused) && g_atomic_int_get(&s->late);
    if (late)
        s->find->is_out_of_time = TRUE;
    else
        s->cancelled = litho_error_is_cancelled(refused);
    if (refused && !late && (quality || s->cancelled))
        g_propagate_error(error, g_steal_pointer(&refused));
    if (!s->cancelled && !late) {
        g_array_append_val(s->trials, trial);
        s->find->trials++;
        s->find->seconds = (now_ms(s) - s->start_ms) * 1e-3;
        keep_time(s, now_ms(s) - began_ms);
        if (s->ask->on_trial)
            s->ask->on_trial(s->find, s->ask->data);
        litho_run_step(s->run, s->find->trials, MAX(s->find->trials, 12 * s->find->n), NULL);
    }
    return trial.score;
}

// --- one parameter ------------------------------------------------------------------------------

typedef struct Line {
    Search *s;
    guint k;
    double value[LITHO_FIND_MOST]; // of all; [k] = the best so far
    double score;
    double inside, inside_score; // the best tried that is no word; -INFINITY = none was
    gboolean wide;               // over the whole range; else beside the value
} Line;

// A word such as "automatic" has no place among the numbers.
static gboolean is_word(const LithoParam *row, double value)
{
    return row->special_text && value == row->special;
}

static double try_on(Line *line, double value, GError **error)
{
    double all[LITHO_FIND_MOST];
    memcpy(all, line->value, sizeof all);
    all[line->k] = value;
    const double score = try_values(line->s, all, NULL, error);
    if (score > line->inside_score && !is_word(line->s->find->item[line->k].row, value)) {
        line->inside_score = score;
        line->inside = value;
    }
    if (score > line->score) {
        line->score = score;
        line->value[line->k] = value;
    }
    return score;
}

// The value at x on the scale.
static double try_at(Line *line, const LithoParam *row, double x, GError **error)
{
    const double every = line->s->range[line->k]->every;
    return try_on(line, from_scale(row, every, x), error);
}

// The middle of three values on the scale is the best of them: the top of the parabola through
// their errors where it promises to be worth its while, else the half step on the better side of a
// middle that is not the best.
static void refine(Line *line, const LithoParam *row, double at, double step, double lo, double hi,
                   GError **error)
{
    const double left = MAX(at - step, lo), right = MIN(at + step, hi);
    const double a = try_at(line, row, left, error);
    const double b = try_at(line, row, at, error);
    const double c = try_at(line, row, right, error);
    const double bend = a - 2 * b + c;
    if (isfinite(bend) && bend < 0 && right - at == at - left && b >= a && b >= c) {
        const double top = b - 0.125 * (a - c) * (a - c) / bend;
        if (ratio_db(line->s, b, top) >= WORTH_DB)
            try_at(line, row, at + 0.5 * step * (a - c) / bend, error);
        return;
    }
    try_at(line, row, a > c ? 0.5 * (left + at) : 0.5 * (at + right), error);
}

// A coarse row over the range first: the curve may have more than one hill.
static void search_range(Line *line, const LithoParam *row, double lo, double hi, GError **error)
{
    const double from = to_scale(row, lo), to = to_scale(row, hi);
    const double step = (to - from) / (COARSE - 1);
    for (int m = 0; line->wide && m < COARSE && !time_is_up(line->s); m++)
        try_at(line, row, from + m * step, error);
    if (time_is_up(line->s) || line->inside_score == -INFINITY)
        return;
    const double at = to_scale(row, line->inside);
    refine(line, row, at, line->wide ? step : 0.5 * step, from, to, error);
}

static void search_one(Line *line, GError **error)
{
    const LithoParam *row = line->s->find->item[line->k].row;
    double lo, hi;
    ends(line->s, line->k, &lo, &hi);
    if (line->wide && row->special_text && (row->special < lo || row->special > hi))
        try_on(line, row->special, error);
    if (row->type == LITHO_PARAM_FLOAT || hi - lo >= ALL_VALUES) {
        search_range(line, row, lo, hi, error);
        return;
    }
    for (double value = lo; value <= hi && !time_is_up(line->s); value++)
        try_on(line, value, error);
}

// --- the search ---------------------------------------------------------------------------------

static gboolean list_rows(Search *s, GError **error)
{
    const LithoOperator *op = s->step->op;
    LithoFind *find = s->find;
    for (const LithoFindRow *r = op->find; r && r->key && find->n < LITHO_FIND_MOST; r++) {
        const LithoParam *row = litho_param_find(&op->params, r->key);
        const LithoNoise *noise = s->question.noise;
        if (!row || !litho_param_applies(&op->params, row, s->step->params) ||
            (r->reversed && !(noise && noise->reversed > 0)))
            continue;
        s->range[find->n] = r;
        const double now = litho_param_get(row, s->step->params);
        find->item[find->n++] = (LithoFound){.row = row, .now = now, .found = now};
    }
    return find->n > 0 ||
           litho_refuse(error, LITHO_ERROR_UNSUPPORTED,
                        "%s names no parameter that could be found with these settings", op->key);
}

// One round over all parameters. since[k] is what was gained, in dB, since parameter k was searched:
// where the others have moved little, its best value has not moved.
static void search_round(Search *s, gboolean wide, double value[LITHO_FIND_MOST], double *score,
                         double since[LITHO_FIND_MOST], GError **error)
{
    for (guint k = 0; k < s->find->n && !time_is_up(s); k++) {
        if (!wide && since[k] < AGAIN_DB)
            continue;
        Line line = {.s = s, .k = k, .score = *score, .inside_score = -INFINITY, .wide = wide};
        memcpy(line.value, value, sizeof line.value);
        if (!is_word(s->find->item[k].row, value[k])) {
            line.inside = value[k];
            line.inside_score = *score;
        }
        search_one(&line, error);
        since[k] = 0;
        const double gain = ratio_db(s, *score, line.score);
        if (gain < WORTH_DB || s->cancelled)
            continue;
        for (guint other = 0; other < s->find->n; other++)
            since[other] += other == k ? 0 : gain;
        s->find->item[k].gain_db += gain;
        s->find->item[k].found = value[k] = line.value[k];
        *score = line.score;
    }
}

// Takes changes back without which as much is gained; each of the others is worth what would be
// lost without it.
static void prune(Search *s, const double now[LITHO_FIND_MOST], double value[LITHO_FIND_MOST],
                  double *score, GError **error)
{
    for (guint k = s->find->n; k-- > 0;) {
        if (value[k] == now[k])
            continue;
        double without[LITHO_FIND_MOST];
        memcpy(without, value, sizeof without);
        without[k] = now[k];
        const double other = try_values(s, without, NULL, error);
        const double gain = ratio_db(s, other, *score);
        if (other > -INFINITY && gain < WORTH_DB) {
            value[k] = now[k];
            *score = MAX(other, *score);
        }
        if (value[k] == now[k])
            s->find->item[k].gain_db = 0;
        else if (other > -INFINITY)
            s->find->item[k].gain_db = gain;
    }
    for (guint k = 0; k < s->find->n; k++)
        s->find->item[k].found = value[k];
}

// A round over the whole ranges and one beside the values found, then the changes that are
// worth it.
static void search_best(Search *s, const double now[LITHO_FIND_MOST], double value[LITHO_FIND_MOST],
                        GError **error)
{
    double score = try_values(s, value, NULL, error);
    if (score == -INFINITY)
        return;
    double since[LITHO_FIND_MOST] = {0};
    search_round(s, TRUE, value, &score, since, error);
    search_round(s, FALSE, value, &score, since, error);
    prune(s, now, value, &score, error);
}

// Gains of single values were told on a part of the area, and an error that cannot be told from
// none gains any number: none gains more than all of them, and one alone gains all of it.
static void bound_gains(LithoFind *find)
{
    guint n = 0;
    for (guint k = 0; k < find->n; k++)
        n += find->item[k].found != find->item[k].now;
    for (guint k = 0; k < find->n; k++)
        if (find->item[k].found != find->item[k].now)
            find->item[k].gain_db =
                n == 1 ? find->gain_db : MIN(find->item[k].gain_db, find->gain_db);
}

static void keep_now(LithoFind *find)
{
    for (guint k = 0; k < find->n; k++) {
        find->item[k].found = find->item[k].now;
        find->item[k].gain_db = 0;
    }
    find->found = find->now;
}

static double gain_of(const Search *s, const LithoFind *find)
{
    if (find->now.is_unsure)
        return least_gain(find->now.mse_ends, &find->found, n_ends(&find->now));
    return s->question.noise ? find->found.expected_snr_db - find->now.expected_snr_db
                             : find->found.hidden_snr_db - find->now.hidden_snr_db;
}

// Appends a note, behind a semicolon where one stands already.
static void add_why(LithoFind *find, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void add_why(LithoFind *find, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    g_autofree char *text = litho_text_vprintf(format, values);
    va_end(values);
    g_autofree char *before = g_strdup(find->why);
    g_snprintf(find->why, sizeof find->why, "%s%s%s", before, *before ? "; " : "", text);
}

// A level that is too high makes filters that remove little look worse than they are, or better:
// the gain with the levels at the ends of the interval.
static void tell_interval(const Search *s, LithoFind *find)
{
    find->gain_low_db = find->gain_high_db = s->question.noise ? find->gain_db : NAN;
    if (!(find->gain_db > 0))
        return;
    for (guint k = 0; k < n_ends(&find->now); k++) {
        const double gain = 10 * log10(find->now.mse_ends[k] / find->found.mse_ends[k]);
        if (!isfinite(gain))
            continue;
        find->gain_low_db = MIN(find->gain_low_db, gain);
        find->gain_high_db = MAX(find->gain_high_db, gain);
    }
    if (find->gain_high_db - find->gain_low_db > OPEN_DB)
        add_why(find,
                _("the gain lies between %.1f and %.1f dB: the noise level is not known better"),
                find->gain_low_db, find->gain_high_db);
}

// Samples that a trial on `area` computes over those of one on `part`.
static double times_of(const Search *s, LithoBox area, LithoBox part)
{
    const LithoGrid *grid = &s->question.in->grid;
    LithoBox of_area, of_part;
    if (!litho_quality_need(s->flow, grid, area, &of_area, NULL) ||
        !litho_quality_need(s->flow, grid, part, &of_part, NULL))
        return (double)litho_box_count(area) / (double)litho_box_count(part);
    return (double)litho_box_count(of_area) / (double)litho_box_count(of_part);
}

// The best values on the part of the area that time allows; a part leaves some for the whole.
static void search_part(Search *s, const double *now, double *value, GError **error)
{
    const LithoBox whole = s->question.area;
    const Present present = s->present;
    const double at_ms = now_ms(s), left_ms = MAX(s->until_ms - at_ms, 0);
    s->end_ms = s->until_ms - MIN(SPARE * (at_ms - s->start_ms), MOST_SPARE * left_ms);
    s->question.area = litho_quality_choosing(s->flow, whole);
    s->times = times_of(s, whole, s->question.area);
    const gboolean is_part = !litho_box_equal(s->question.area, whole);
    if (is_part)
        g_array_set_size(s->trials, 0);
    search_best(s, now, value, error);
    if (is_part)
        g_array_set_size(s->trials, 0);
    s->question.area = whole;
    s->times = 0;
    s->present = present;
}

// Says what qualifies the values found: time that ran out, settings that were passed over, an
// output worse than the input, a gain that the noise level leaves open.
static void tell(const Search *s, LithoFind *find)
{
    if (find->is_out_of_time)
        add_why(find, _("time was up (%u tried); a smaller area or more time tells of more"),
                find->trials);
    if (s->passed_over > find->gain_db + WORTH_DB)
        add_why(find,
                _("settings told to gain more were passed over, because events would leave: %s"),
                s->why);
    const double loss = litho_quality_loss_db(&find->found);
    if (loss > 0)
        add_why(find, _("with these values, too, the output is %.1f dB worse than the input"),
                loss);
    tell_interval(s, find);
}

// The present settings, on the area; on the part that tells settings apart, from here on, where two
// trials of the area would take more than half of the time.
static double try_present(Search *s, GError **error)
{
    const LithoBox whole = s->question.area, part = litho_quality_choosing(s->flow, whole);
    const double half_ms = 1000 * s->ask->seconds / 2, began_ms = now_ms(s);
    if (half_ms > 0 && s->ask->samples == 0 && !litho_box_equal(part, whole)) {
        s->question.area = part;
        const double score = try_values(s, s->now, &s->find->now, NULL);
        const double trial_ms = times_of(s, whole, part) * (now_ms(s) - began_ms);
        if (score > -INFINITY && 2 * trial_ms > half_ms) {
            s->find->area = part;
            return score;
        }
        s->question.area = whole;
        g_array_set_size(s->trials, 0);
    }
    return try_values(s, s->now, &s->find->now, error);
}

static gboolean search(Search *s, GError **error)
{
    LithoFind *find = s->find;
    double now[LITHO_FIND_MOST] = {0}, value[LITHO_FIND_MOST];
    for (guint k = 0; k < find->n; k++)
        s->now[k] = now[k] = find->item[k].now;
    s->until_ms = s->end_ms;
    s->end_ms = INFINITY; // without the present setting nothing can be told
    const double before = try_present(s, error);
    if (before == -INFINITY) {
        if (error && !*error)
            litho_refuse(error, LITHO_ERROR_NUMERICS,
                         "the area tells nothing about this operator: %s", find->now.why);
        return FALSE;
    }
    // Nothing tells one setting from another.
    if ((find->now.is_filtered && !find->now.is_rough) ||
        (s->question.noise && !isfinite(find->now.expected_snr_db) && !find->now.is_unsure)) {
        keep_now(find);
        return TRUE;
    }
    memcpy(value, now, sizeof value);
    search_part(s, now, value, error);
    if (s->cancelled)
        return FALSE;
    // Asked for in any case: the part may tell otherwise than the whole.
    g_autoptr(GError) refused = NULL;
    double after = before;
    s->end_ms = s->until_ms;
    if (memcmp(now, value, sizeof now) != 0)
        after = try_values(s, value, &find->found, &refused);
    if (s->cancelled) {
        g_propagate_error(error, g_steal_pointer(&refused));
        return FALSE;
    }
    if (refused)
        add_why(find, "%s", refused->message);
    if (!(after > before))
        keep_now(find);
    find->gain_db = gain_of(s, find);
    // Errors below what can be told from none, or be at all, rank settings, but nobody gains by them.
    if (!(find->gain_db > (find->now.is_unsure ? UNSURE_DB : 0)) || find->found.is_beyond) {
        keep_now(find);
        find->gain_db = 0;
    }
    bound_gains(find);
    tell(s, find);
    return TRUE;
}

gboolean litho_find(LithoJudge *judge, const LithoFindAsk *ask, LithoRun *run, LithoFind *find,
                    GError **error)
{
    *find = (LithoFind){.gain_low_db = NAN, .gain_high_db = NAN};
    Search s = {.judge = judge,
                .ask = ask,
                .question = ask->quality,
                .find = find,
                .run = run,
                .end_ms = INFINITY};
    s.start_ms = now_ms(&s);
    if (ask->seconds > 0)
        s.end_ms = s.start_ms + 1000 * ask->seconds;
    s.flow = litho_flow_copy(ask->quality.flow);
    s.step = litho_flow_step(s.flow, ask->step);
    s.question.flow = s.flow;
    if (litho_flow_fills_alone(s.flow)) // hidden traces decide
        s.question.noise = NULL;
    s.question.similarity = FALSE;
    const LithoBox area = litho_box_empty(s.question.area) ? s.question.in->held : s.question.area;
    find->area = s.question.area =
        ask->samples > 0 ? litho_quality_part(area, ask->samples) : litho_quality_area(s.flow, area);
    if (!s.question.noise && !(s.question.hide > 0))
        s.question.hide = 5;
    else if (s.question.noise)
        s.question.hide = 0;
    s.trials = g_array_new(FALSE, FALSE, sizeof(Trial));
    litho_run_begin(run, "finding", "trials");
    const gboolean ok = list_rows(&s, error) && search(&s, error);
    find->seconds = (now_ms(&s) - s.start_ms) * 1e-3;
    g_array_unref(s.trials);
    litho_flow_free(s.flow);
    return ok;
}

void litho_find_apply(const LithoFind *find, guint which, const LithoOperator *op, gpointer params)
{
    for (guint k = 0; k < find->n; k++)
        if (which & 1u << k && litho_param_find(&op->params, find->item[k].row->key))
            litho_param_set(find->item[k].row, params, find->item[k].found, NULL);
}
