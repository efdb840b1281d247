// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/io/segy_geometry.h"
#include "core/io/xy_fit.h"
#include "core/sort.h"
#include "core/text.h"

// --- sample interval --------------------------------------------------------------------------

static int read_interval(LithoSurvey *survey, guint16 word)
{
    const int negated = 65536 - word;
    if (survey->grid.is_depth || !litho_interval_negated(word))
        return word;
    survey->mended_dt = TRUE;
    litho_survey_note(survey, "a sample interval of %d was read as %d", -negated, negated);
    return negated;
}

// Intervals that the traces state at byte 117.
typedef struct Vote {
    guint16 word, other; // the most frequent one, and the next; 0 = none
    guint n, most, next; // traces that state one; those that state `word`; those that state `other`
} Vote;

static gboolean is_dead(const LithoHeads *heads, guint k)
{
    const int id = litho_head_i16(heads, k, 29);
    return id == 2 || (heads->apart && id == LITHO_DUMMY);
}

// Dead traces have a vote where no other has one; headers of zeros, noise and a word of 0 have
// none.
static Vote count_votes(const LithoHeads *heads, gboolean with_dead)
{
    g_autofree gint32 *words = g_new(gint32, heads->n + 1);
    Vote vote = {0};
    for (guint k = 0; k < heads->n; k++) {
        const guint16 dt = (guint16)litho_head_i16(heads, k, 117);
        if (dt != 0 && !heads->foreign[k] && !litho_head_empty(heads, k) &&
            (with_dead || !is_dead(heads, k)))
            words[vote.n++] = dt;
    }
    qsort(words, vote.n, sizeof *words, litho_compare_int32);
    for (guint k = 0, from = 0; k < vote.n; k++) {
        if (k + 1 < vote.n && words[k + 1] == words[k])
            continue;
        const guint count = k + 1 - from;
        from = k + 1;
        if (count > vote.most) {
            vote.other = vote.word;
            vote.next = vote.most;
            vote.word = (guint16)words[k];
            vote.most = count;
        } else if (count > vote.next) {
            vote.other = (guint16)words[k];
            vote.next = count;
        }
    }
    return vote;
}

static Vote vote_interval(const LithoHeads *heads)
{
    const Vote living = count_votes(heads, FALSE);
    return living.n > 0 ? living : count_votes(heads, TRUE);
}

static gboolean mentions(const char *text, const char *word)
{
    g_autofree char *upper = text ? g_ascii_strup(text, -1) : g_strdup("");
    return strstr(upper, word) != NULL;
}

// The text's last statement that a processing step changed the axis to `what`; NULL = none.
static const char *last_change(const char *text, const char *what)
{
    g_autofree char *words = g_strconcat(LITHO_TEXT_AXIS, what, NULL);
    return text ? g_strrstr(text, words) : NULL;
}

// The first head of a trace that lives: programs that put dead traces into gaps leave their start
// at 0, which says nothing. The lead where all are dead.
static guint first_alive(const LithoHeads *heads)
{
    for (guint k = litho_heads_lead(heads); k < heads->n; k++)
        if (!is_dead(heads, k) && !heads->foreign[k] && !litho_head_empty(heads, k))
            return k;
    return litho_heads_lead(heads);
}

// A file's word that its axis is depth is believed when the file was written by a step that changed
// the axis, or the text lists a depth range and no time range; other words ("PSDM") only earn a
// hint, as text headers are copied from file to file. SU has a trace identification for it.
static gboolean says_depth(const LithoSurvey *survey, const LithoHeads *heads)
{
    const guint lead = first_alive(heads);
    if (survey->kind == LITHO_FILE_SU && lead < heads->n)
        return litho_head_i16(heads, lead, 29) == LITHO_SU_DEPTH;
    const char *depth = last_change(survey->text, "DEPTH"),
               *time = last_change(survey->text, "TIME");
    if (depth || time)
        return depth > time; // NULL is before everything
    return mentions(survey->text, "DEPTH MIN") && !mentions(survey->text, "TIME MIN");
}

static void set_interval(LithoSurvey *survey, LithoAxis *axis, double field, const char *where)
{
    const LithoTraceFile *file = &g_array_index(survey->files, LithoTraceFile, 0);
    if (survey->grid.is_depth) {
        // Most writers store millimetres, some whole metres; 0.2 m is finer than any of them.
        axis->step = field >= LITHO_LEAST_THOUSANDTHS ? field / 1000 : field;
        if (file->measurement == 2)
            axis->step *= LITHO_FOOT;
    } else {
        axis->step = field / 1e6;
    }
    axis->source = LITHO_FROM_FILE;
    g_strlcpy(axis->evidence, where, sizeof axis->evidence);
}

// Tells what the traces disagree about and which interval is taken.
static void tell_vote(LithoSurvey *survey, const Vote *vote)
{
    const LithoAxis *axis = &survey->grid.axis[LITHO_SAMPLE];
    survey->mended_dt = TRUE;
    litho_survey_note(survey,
                      "sample intervals differ from trace to trace: byte 117 is %d in %u and %d in "
                      "%u of %u traces looked at; %.10g %s is taken for all (--dt)",
                      vote->word, vote->most, vote->other, vote->next, vote->n, axis->step,
                      survey->grid.is_depth ? "m" : "s");
}

static void tell_unusual(LithoSurvey *survey)
{
    const LithoAxis *axis = &survey->grid.axis[LITHO_SAMPLE];
    if (axis->step < 50e-6)
        litho_survey_note(survey,
                          "a sample interval of %g us is unusually short; %g ms may be "
                          "meant (--dt %g)",
                          axis->step * 1e6, axis->step * 1e6, axis->step * 1e3);
    else if (axis->step >= 0.0095 || mentions(survey->text, "PSDM"))
        litho_survey_note(survey,
                          "read as two-way time every %g ms; it may be depth, every %g m "
                          "(--depth)",
                          axis->step * 1e3, axis->step * 1e3);
}

// The interval of the traces, which is taken in place of another one of the binary header.
static gboolean take_traces(LithoSurvey *survey, const Vote *vote, int in_binary, int in_traces,
                            gboolean strict, GError **error)
{
    set_interval(survey, &survey->grid.axis[LITHO_SAMPLE], in_traces, "trace header byte 117");
    if (!in_binary)
        return TRUE;
    survey->mended_dt = TRUE;
    if (vote->most == vote->n)
        return litho_survey_repair(survey, strict, error,
                                   "sample interval %d in the binary header, %d in all traces; the "
                                   "traces' was taken",
                                   in_binary, in_traces);
    return litho_survey_repair(survey, strict, error,
                               "sample interval %d in the binary header, %d in nearly all traces; "
                               "the traces' was taken",
                               in_binary, in_traces);
}

// An interval that was assumed when the file was made is still assumed.
static gboolean is_still_assumed(LithoSurvey *survey)
{
    LithoAxis *axis = &survey->grid.axis[LITHO_SAMPLE];
    const double assumed = litho_text_assumed_step(survey->text);
    if (axis->source != LITHO_FROM_FILE || fabs(axis->step - assumed) > 1e-6 * axis->step)
        return FALSE;
    axis->source = LITHO_FROM_ASSUMED;
    *axis->evidence = '\0';
    litho_survey_note(
        survey, "the sample interval of %g %s was assumed when the file was written; give --dt",
        axis->step, survey->grid.is_depth ? "m" : "s");
    return TRUE;
}

// Interval of the first file whose binary header states one; 0 = none does.
static guint16 binary_interval(const LithoSurvey *survey)
{
    guint16 dt = 0;
    for (guint f = 0; dt == 0 && f < survey->files->len; f++)
        dt = g_array_index(survey->files, LithoTraceFile, f).dt_binary;
    return dt;
}

static gboolean choose_interval(LithoSurvey *survey, const LithoHeads *heads,
                                const LithoOpenOptions *options, GError **error)
{
    LithoAxis *axis = &survey->grid.axis[LITHO_SAMPLE];
    const LithoTraceFile *file = &g_array_index(survey->files, LithoTraceFile, 0);
    const Vote vote = vote_interval(heads);
    // A few words that differ are errors of their traces; of many the binary header is the judge.
    const gboolean agree = (gint64)vote.most * 100 >= (gint64)vote.n * 99;
    const guint16 word = binary_interval(survey);
    const int in_binary = word ? read_interval(survey, word) : 0;
    const int in_traces =
        vote.n > 0 && (agree || !in_binary) ? read_interval(survey, vote.word) : 0;
    if (options->dt > 0) {
        axis->step = options->dt;
        axis->source = LITHO_FROM_USER;
        g_strlcpy(axis->evidence, _("given"), sizeof axis->evidence);
    } else if (file->dt_extended > 0) {
        set_interval(survey, axis, file->dt_extended, "binary header byte 3273");
    } else if (in_traces > 0 && in_traces != in_binary) {
        if (!take_traces(survey, &vote, in_binary, in_traces, options->strict, error))
            return FALSE;
    } else if (in_binary) {
        set_interval(survey, axis, in_binary, "binary header byte 3217");
    } else if (heads->su[0] > 0) {
        axis->step = heads->su[0];
        axis->first = heads->su[1];
        axis->source = LITHO_FROM_FILE;
        g_strlcpy(axis->evidence, _("d1 of SU, byte 181"), sizeof axis->evidence);
    } else {
        axis->step = survey->grid.is_depth ? 4 : 0.004;
        axis->source = LITHO_FROM_ASSUMED;
        litho_survey_note(survey, "the file states no sample interval; %s is assumed, give --dt",
                          survey->grid.is_depth ? "4 m" : "4 ms");
        return TRUE;
    }
    if (vote.most < vote.n)
        tell_vote(survey, &vote);
    if (!is_still_assumed(survey) && !survey->grid.is_depth && !options->dt)
        tell_unusual(survey);
    return TRUE;
}

// --- start of the axis ------------------------------------------------------------------------

double litho_segy_delay_unit(const LithoSurvey *survey, const LithoHeads *heads)
{
    const LithoTraceFile *file = &g_array_index(survey->files, LithoTraceFile, 0);
    const double depth = file->measurement == 2 ? LITHO_FOOT : 1; // metres
    const guint lead = litho_heads_lead(heads);
    if (lead == heads->n)
        return 0;
    const int s = litho_head_i16(heads, lead, 215);
    // Line numbers stand there too (213 is a habit of theirs): those are no scalar.
    const gboolean scales =
        !heads->numbered && litho_scalar_standard(s) && !litho_heads_vary(heads, 215, FALSE);
    return litho_scaled(survey->grid.is_depth ? depth : 1e-3, scales ? s : 1);
}

// No survey starts later than 1000 s or deeper than 100 km: such a word is something else.
static gboolean start_is_true(const LithoGrid *grid, double start)
{
    return fabs(start) <= (grid->is_depth ? 1e5 : 1e3);
}

static void choose_start(LithoSurvey *survey, const LithoHeads *heads)
{
    LithoGrid *grid = &survey->grid;
    const guint lead = first_alive(heads);
    if (lead == heads->n)
        return;
    const int delay = litho_head_i16(heads, lead, 109), lag = litho_head_i16(heads, lead, 105);
    const double start = delay * litho_segy_delay_unit(survey, heads);
    if (start_is_true(grid, start))
        grid->axis[LITHO_SAMPLE].first += start;
    else
        litho_survey_note(survey,
                          "a start at %g %s (delay %d at byte 109, scalar %d at byte 215) cannot "
                          "be true and is ignored; the axis starts at 0",
                          start, grid->is_depth ? "m" : "s", delay,
                          litho_head_i16(heads, lead, 215));
    if (delay == 0 && lag != 0)
        litho_survey_note(survey,
                          "byte 105 holds %d while the delay at 109 is 0; if it is a start "
                          "time, shift the axis",
                          lag);
}

static void note_weight(LithoSurvey *survey, const LithoHeads *heads)
{
    const LithoTraceFile *file = &g_array_index(survey->files, LithoTraceFile, 0);
    const guint lead = litho_heads_lead(heads);
    const int weight = lead < heads->n ? litho_head_i16(heads, lead, 169) : 0;
    if (weight != 0 && file->format != LITHO_FORMAT_IBM && file->format != LITHO_FORMAT_IEEE)
        litho_survey_note(survey, "traces carry a weighting factor of 2^%d, which is not applied",
                          weight);
}

gboolean litho_segy_sample_axis(LithoSurvey *survey, const LithoHeads *heads,
                                const LithoOpenOptions *options, GError **error)
{
    const LithoTraceFile *file = &g_array_index(survey->files, LithoTraceFile, 0);
    LithoGrid *grid = &survey->grid;
    LithoAxis *axis = &grid->axis[LITHO_SAMPLE];
    survey->says_depth = says_depth(survey, heads);
    grid->is_depth = options->domain ? options->domain == 2 : survey->says_depth;
    g_strlcpy(axis->unit, grid->is_depth ? "m" : "s", sizeof axis->unit);
    axis->n = file->ns;
    if (!choose_interval(survey, heads, options, error))
        return FALSE;
    litho_survey_judge_interval(survey);
    choose_start(survey, heads);
    note_weight(survey, heads);
    return TRUE;
}

static gboolean has_start(const LithoScan *scan, gint64 t)
{
    return !(scan->flags[t] & (LITHO_SCAN_OUT | LITHO_SCAN_DEAD));
}

gboolean litho_segy_apply_delays(LithoSurvey *survey, const LithoScan *scan, GError **error)
{
    LithoAxis *axis = &survey->grid.axis[LITHO_SAMPLE];
    gint16 low = G_MAXINT16, high = G_MININT16;
    if (!scan->delay)
        return TRUE;
    for (gint64 t = 0; t < scan->n; t++) {
        if (!has_start(scan, t))
            continue;
        low = MIN(low, scan->delay[t]);
        high = MAX(high, scan->delay[t]);
    }
    double first = axis->first, factor = scan->delay_unit;
    if (low >= high)
        return TRUE;
    double longest = (high - low) * factor / axis->step;
    if ((survey->kind == LITHO_FILE_SEGY && longest > 4.0 * axis->n) || longest > G_MAXINT32) {
        litho_survey_note(survey,
                          "delays at byte 109 vary from %d to %d, more than four trace "
                          "lengths; they are ignored",
                          low, high);
        survey->starts_ignored = TRUE;
        return TRUE;
    }
    if (!start_is_true(&survey->grid, low * factor) ||
        !start_is_true(&survey->grid, high * factor)) {
        litho_survey_note(survey,
                          "delays at byte 109 of %g to %g %s cannot be true and are ignored",
                          low * factor, high * factor, axis->unit);
        survey->starts_ignored = TRUE;
        return TRUE;
    }
    gint64 cells = litho_grid_traces(&survey->grid), n2 = survey->grid.axis[1].n;
    survey->shift = g_try_new0(gint32, cells);
    if (!survey->shift) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY, _("no memory for delays"));
        return FALSE;
    }
    gint64 most = 0;
    for (gint64 c = 0; c < cells; c++) {
        gint64 t = litho_survey_trace_of(survey, c / n2, c % n2);
        if (t >= 0 && has_start(scan, t))
            survey->shift[c] = (gint32)lrint((scan->delay[t] - low) * factor / axis->step);
        most = MAX(most, survey->shift[c]);
    }
    axis->first = low * factor;
    axis->n += most;
    litho_survey_note(survey,
                      "traces start between %g and %g %s; they were moved by whole samples "
                      "to a common axis (first seen: %g)",
                      low * factor, high * factor, axis->unit, first);
    return TRUE;
}

// --- coordinates ------------------------------------------------------------------------------

gboolean litho_segy_xy_bytes(const LithoHeads *heads, const LithoOpenOptions *options, int *x_byte,
                             int *y_byte)
{
    // All traces of a shot have one source: where offsets vary, receivers tell traces apart.
    static const int pairs[2][3][2] = {{{181, 185}, {73, 77}, {81, 85}},
                                       {{181, 185}, {81, 85}, {73, 77}}};
    enum { OFFSET = 37 };
    const int(*pair)[2] = pairs[litho_heads_vary(heads, OFFSET, TRUE) ? 1 : 0];
    *x_byte = options->x_byte;
    *y_byte = options->y_byte;
    if (*x_byte && *y_byte)
        return TRUE;
    for (guint k = 0; k < G_N_ELEMENTS(pairs[0]); k++)
        if (litho_heads_vary(heads, pair[k][0], TRUE) ||
            litho_heads_vary(heads, pair[k][1], TRUE)) {
            *x_byte = pair[k][0];
            *y_byte = pair[k][1];
            return TRUE;
        }
    return FALSE;
}

void litho_grid_take_fit(const LithoXyFit *fit, LithoGrid *grid)
{
    gboolean have_i = hypot(fit->di[0], fit->di[1]) > 0, have_j = hypot(fit->dj[0], fit->dj[1]) > 0;
    for (int c = 0; c < 2; c++) {
        int turn = c == 0 ? -1 : 1;
        grid->origin[c] = fit->origin[c];
        grid->inline_step[c] = have_i ? fit->di[c] : turn * fit->dj[1 - c];
        grid->xline_step[c] = have_j ? fit->dj[c] : -turn * fit->di[1 - c];
    }
    grid->has_xy = TRUE;
    grid->has_no_place = FALSE;
    grid->xy_source = LITHO_FROM_FILE;
}

typedef struct Place {
    int inline_byte, xline_byte, x_byte, y_byte;
} Place;

// Mean distance between neighbours in the file, jumps from line to line left out; 0 when none can
// be told.
static double neighbour_distance(const LithoHeads *heads, const Place *at)
{
    const double far = litho_segy_far_apart(heads, at->x_byte, at->y_byte);
    double sum = 0;
    guint n = 0;
    for (guint k = 1; k < heads->n; k++) {
        if (!heads->follows[k] || litho_head_empty(heads, k) || litho_head_empty(heads, k - 1))
            continue;
        double unit = litho_scaled(1, litho_head_scalar(heads, k));
        double dx =
            (double)litho_head_i32(heads, k, at->x_byte) - litho_head_i32(heads, k - 1, at->x_byte);
        double dy =
            (double)litho_head_i32(heads, k, at->y_byte) - litho_head_i32(heads, k - 1, at->y_byte);
        if (hypot(dx, dy) * unit > far)
            continue;
        sum += hypot(dx, dy) * unit;
        n++;
    }
    return n ? sum / n : 0;
}

static gboolean on_axis(const LithoAxis *axis, double index)
{
    return index > -0.5 && index < axis->n - 0.5;
}

static void add_heads(LithoXyFit *fit, const LithoHeads *heads, const LithoGrid *grid,
                      const Place *at, const LithoXyFit *before)
{
    for (guint k = 0; k < heads->n; k++) {
        if (litho_head_empty(heads, k))
            continue;
        int scalar = litho_head_scalar(heads, k);
        double i = at->inline_byte
                       ? litho_axis_index(&grid->axis[0], litho_head_i32(heads, k, at->inline_byte))
                       : 0;
        double j = at->xline_byte
                       ? litho_axis_index(&grid->axis[1], litho_head_i32(heads, k, at->xline_byte))
                       : heads->trace[k];
        const gint32 file_x = litho_head_i32(heads, k, at->x_byte);
        const gint32 file_y = litho_head_i32(heads, k, at->y_byte);
        double x = litho_scaled(file_x, scalar), y = litho_scaled(file_y, scalar);
        if ((at->inline_byte && !on_axis(&grid->axis[0], i)) ||
            (at->xline_byte && !on_axis(&grid->axis[1], j)))
            continue; // a stray that was left out of the grid: one would turn the whole fit
        if (litho_xy_nowhere(file_x, file_y))
            continue;
        if (before) { // later rounds: points far off the first fit (dead traces, typing errors) go
            double dx = before->origin[0] + i * before->di[0] + j * before->dj[0] - x;
            double dy = before->origin[1] + i * before->di[1] + j * before->dj[1] - y;
            if (hypot(dx, dy) > 3 * before->rms + 1e-6)
                continue;
        }
        litho_xy_fit_add(fit, i, j, x, y);
    }
    litho_xy_fit_solve(fit);
}

void litho_segy_fit_xy(LithoSurvey *survey, const LithoHeads *heads,
                       const LithoOpenOptions *options, int inline_byte, int xline_byte)
{
    Place at = {.inline_byte = inline_byte, .xline_byte = xline_byte};
    LithoGrid *grid = &survey->grid;
    if (!litho_segy_xy_bytes(heads, options, &at.x_byte, &at.y_byte))
        return;
    LithoXyFit fit = {0};
    add_heads(&fit, heads, grid, &at, NULL);
    for (int round = 0; round < 3 && fit.n > 2; round++) {
        LithoXyFit before = fit;
        fit = (LithoXyFit){0};
        add_heads(&fit, heads, grid, &at, &before);
    }
    if (fit.n < 2 || fit.rank == 0)
        return;
    double bin = hypot(fit.dj[0], fit.dj[1]);
    if (bin == 0)
        bin = hypot(fit.di[0], fit.di[1]);
    if (bin == 0)
        return;
    if (fit.rms > 0.5 * bin) {
        // A bent line still has a spacing; a grid whose coordinates contradict it has none.
        double distance = neighbour_distance(heads, &at);
        if ((grid->axis[0].n == 1 || grid->axis[1].n == 1) && distance > 0) {
            grid->has_xy = grid->has_no_place = TRUE;
            grid->inline_step[1] = grid->xline_step[0] = distance;
            grid->xy_source = LITHO_FROM_FILE;
            g_snprintf(grid->xy_evidence, sizeof grid->xy_evidence,
                       _("bytes %d/%d, mean distance of neighbours"), at.x_byte, at.y_byte);
        } else {
            litho_survey_note(survey,
                              "coordinates at bytes %d/%d do not follow the line numbers "
                              "(residual %.1f bins) and are not used",
                              at.x_byte, at.y_byte, fit.rms / bin);
        }
        return;
    }
    survey->xy_byte[0] = at.x_byte;
    survey->xy_byte[1] = at.y_byte;
    litho_grid_take_fit(&fit, grid);
    litho_text_put(grid->xy_evidence, sizeof grid->xy_evidence,
                   _("bytes %d/%d, residual %.2f of a bin"), at.x_byte, at.y_byte, fit.rms / bin);
}

static void scale_vector(double v[2], double wanted, double fx, double fy)
{
    double l = hypot(v[0], v[1]);
    v[0] = l > 0 ? v[0] * wanted / l : fx * wanted;
    v[1] = l > 0 ? v[1] * wanted / l : fy * wanted;
}

void litho_grid_apply_spacing(LithoSurvey *survey, const LithoOpenOptions *options)
{
    LithoGrid *g = &survey->grid;
    if (!g->has_xy) {
        g->has_xy = TRUE;
        scale_vector(g->inline_step, 25, 0, 1);
        scale_vector(g->xline_step, 25, 1, 0);
        g->xy_source = LITHO_FROM_ASSUMED;
    }
    g->has_no_place |= g->xy_source == LITHO_FROM_ASSUMED;
    if (options->dx > 0)
        scale_vector(g->inline_step, options->dx, 0, 1);
    if (options->dy > 0)
        scale_vector(g->xline_step, options->dy, 1, 0);
    if (options->dx > 0 || options->dy > 0) {
        g->xy_source = LITHO_FROM_USER;
        g_strlcpy(g->xy_evidence, _("given"), sizeof g->xy_evidence);
    } else if (g->xy_source == LITHO_FROM_ASSUMED) {
        litho_survey_note(survey, "the file gives no coordinates; bins of 25 m are assumed, give "
                                  "--dx and --dy");
    }
}
