// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli_judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli_files.h"
#include "app/cli_open.h"
#include "app/progress.h"
#include "core/axis_names.h"
#include "core/engine/probe.h"
#include "core/error.h"
#include "core/json.h"
#include "core/text.h"

void litho_cli_judge_clear(LithoCliJudge *judge)
{
    g_free(judge->reference);
    g_free(judge->area);
    g_free(judge->similarity);
}

void litho_cli_part_clear(LithoCliPart *part)
{
    litho_cube_unref(part->in);
    litho_cube_unref(part->reference);
    litho_noise_clear(&part->noise);
}

// Two numbers, or nothing: whatever the survey holds.
static gboolean is_range(const char *text)
{
    char *end;
    if (*text == 0)
        return TRUE;
    const double a = g_ascii_strtod(text, &end);
    if (end == text || *end != ':' || !isfinite(a))
        return FALSE;
    const char *second = end + 1;
    const double b = g_ascii_strtod(second, &end);
    return end != second && *end == 0 && isfinite(b);
}

static gboolean check_area(const char *text, GError **error)
{
    g_auto(GStrv) words = g_strsplit(text, ",", -1);
    for (char **word = words; *word; word++)
        if (!is_range(*word))
            return litho_refuse(error, LITHO_ERROR_PARAMETER,
                                "--area %s: '%s' is no range; FROM:TO is needed", text, *word);
    return g_strv_length(words) <= 3 ||
           litho_refuse(error, LITHO_ERROR_PARAMETER,
                        "--area %s: three ranges, I:I,X:X,T:T, are needed", text);
}

gboolean litho_cli_judge_numbers(const LithoCliJudge *judge, GError **error)
{
    LithoSimilarityWidths widths;
    if (judge->area && !check_area(judge->area, error))
        return FALSE;
    if (judge->similarity && !litho_similarity_widths_parse(judge->similarity, &widths, error)) {
        g_prefix_error(error, "--similarity: ");
        return FALSE;
    }
    if (!(judge->sigma >= 0 && isfinite(judge->sigma)))
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "--sigma is %g; it must be a number above 0 (0 = estimated)",
                            judge->sigma);
    if (!litho_cli_seed(judge->seed, error))
        return FALSE;
    return (judge->hide >= 0 && judge->hide < 100) ||
           litho_refuse(error, LITHO_ERROR_PARAMETER,
                        "--hide is %g; it must be percent from 0, below 100", judge->hide);
}

// --- the area -----------------------------------------------------------------------------------

// "LO:HI" in units of the axis, both ends included; "" = all. litho_cli_judge_numbers() has passed
// it. FALSE: the axis has none of it.
static gboolean find_range(const LithoAxis *axis, const char *text, gint64 *lo, gint64 *hi)
{
    if (*text == 0)
        return TRUE;
    char *end;
    const double a = g_ascii_strtod(text, &end), b = g_ascii_strtod(end + 1, NULL);
    const double x = litho_axis_index(axis, a), y = litho_axis_index(axis, b);
    *lo = (gint64)MAX(ceil(MIN(x, y) - 1e-6), 0);
    *hi = (gint64)MIN(floor(MAX(x, y) + 1e-6) + 1, (double)axis->n);
    return *lo < *hi;
}

static gboolean parse_area(const LithoGrid *grid, const char *text, LithoBox *area, GError **error)
{
    g_auto(GStrv) words = g_strsplit(text, ",", -1);
    *area = litho_box_full(grid);
    const guint n = g_strv_length(words);
    for (guint axis = 0; axis < n && axis < 3; axis++)
        if (!find_range(&grid->axis[axis], words[axis], &area->lo[axis], &area->hi[axis]))
            return litho_refuse(error, LITHO_ERROR_PARAMETER,
                                "--area %s: the survey has nothing of '%s'", text, words[axis]);
    return TRUE;
}

// --- the part of the survey ---------------------------------------------------------------------

static gboolean read_reference(const LithoCliJudge *judge, const LithoOpenOptions *open,
                               LithoRun *run, LithoCliPart *part, GError **error)
{
    if (!judge->reference)
        return TRUE;
    const char *paths[] = {judge->reference, NULL};
    g_autoptr(LithoSurvey) survey = litho_survey_open(paths, open, run, error);
    if (!survey)
        return FALSE;
    if (!litho_grid_same_shape(litho_survey_grid(survey), &part->in->grid)) {
        g_autofree char *theirs = litho_grid_size_text(litho_survey_grid(survey)),
                        *ours = litho_grid_size_text(&part->in->grid);
        return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                            "%s has another shape than the input: %s samples, and not %s",
                            judge->reference, theirs, ours);
    }
    g_autofree char *axes = litho_axes_tell_others(&part->in->grid, litho_survey_grid(survey));
    if (axes) {
        litho_cli_progress_erase();
        fprintf(stderr, _("note: %s\n"), axes);
    }
    part->reference = litho_survey_read(survey, &part->area, run, error);
    return part->reference != NULL;
}

static gboolean measure_noise(const LithoCliJudge *judge, LithoRun *run, LithoCliPart *part,
                              GError **error)
{
    g_autoptr(GError) unknown = NULL;
    if (judge->sigma > 0)
        part->noise = litho_noise_white(judge->sigma, judge->sigma, judge->sigma);
    else if (!litho_quality_noise(part->in, &part->area, run, &part->noise, &unknown)) {
        part->noise.n = 0;
        g_strlcpy(part->why_not, unknown->message, sizeof part->why_not);
        if (litho_error_is_cancelled(unknown)) {
            g_propagate_error(error, g_steal_pointer(&unknown));
            return FALSE;
        }
    }
    return TRUE;
}

gboolean litho_cli_judge_check(const LithoCliJudge *judge, const LithoGrid *grid, GError **error)
{
    LithoBox area;
    return !judge->area || parse_area(grid, judge->area, &area, error);
}

gboolean litho_cli_part(LithoSurvey *survey, const LithoFlow *flow, const LithoCliJudge *judge,
                        const LithoOpenOptions *open, LithoRun *run, LithoCliPart *part,
                        GError **error)
{
    const LithoGrid *grid = litho_survey_grid(survey);
    LithoBox need;
    memset(part, 0, sizeof *part);
    part->asked = litho_box_full(grid);
    if (judge->area && !parse_area(grid, judge->area, &part->asked, error))
        return FALSE;
    part->area = litho_quality_area(flow, part->asked);
    part->is_all = litho_box_equal(part->area, litho_box_full(grid));
    if (!litho_quality_need(flow, grid, part->area, &need, error))
        return FALSE;
    part->in = litho_survey_read(survey, &need, run, error);
    return part->in && read_reference(judge, open, run, part, error) &&
           measure_noise(judge, run, part, error);
}

gboolean litho_cli_part_cover(LithoSurvey *survey, const LithoFlow *flow, LithoRun *run,
                              LithoCliPart *part, GError **error)
{
    LithoBox need;
    if (!litho_quality_need(flow, &part->in->grid, part->area, &need, NULL) ||
        litho_box_contains(part->in->held, need))
        return TRUE;
    need = litho_box_union(need, part->in->held);
    LithoCube *in = litho_survey_read(survey, &need, run, error);
    if (!in)
        return FALSE;
    litho_cube_unref(part->in);
    part->in = in;
    return TRUE;
}

LithoSimilarityWidths litho_cli_widths(const LithoCliJudge *judge)
{
    LithoSimilarityWidths widths = {.seconds = 0};
    if (judge->similarity)
        litho_similarity_widths_parse(judge->similarity, &widths, NULL);
    return widths;
}

LithoQualityAsk litho_cli_ask(const LithoCliJudge *judge, const LithoCliPart *part,
                              const LithoFlow *flow)
{
    return (LithoQualityAsk){.flow = flow,
                             .in = part->in,
                             .area = part->area,
                             .noise = part->noise.n > 0 ? &part->noise : NULL,
                             .reference = part->reference,
                             .hide = judge->hide,
                             .seed = (guint32)judge->seed,
                             .similarity = TRUE,
                             .widths = litho_cli_widths(judge)};
}

// --- telling ------------------------------------------------------------------------------------

void litho_cli_print_quality(FILE *to, const LithoQuality *q, const LithoCliPart *part)
{
    g_autofree char *expected = litho_quality_expected_text(q);
    const gboolean is_known = isfinite(q->expected_snr_db) && !q->is_filtered;
    const gboolean is_asked = isfinite(q->noise_sigma) && !q->fills_alone;
    if (isfinite(q->expected_snr_db) || (is_asked && *q->why))
        fprintf(to, !is_known ? _("expected SNR   %s\n") : _("expected SNR   %s, input %.2f dB\n"),
                expected, q->input_snr_db);
    if (isfinite(q->noise_sigma))
        fprintf(to, _("noise level    %.4g\n"), q->noise_sigma);
    if (isfinite(litho_quality_leaving(q))) {
        g_autofree char *leaving = litho_quality_leaving_text(q);
        fprintf(to,
                isfinite(q->lost) ? _("signal leaving %s of its amplitude: %s")
                                  : _("signal leaving %s of what is removed: %s"),
                leaving, litho_quality_leak_sentence(q));
        const LithoAxis *a = part->in->grid.axis;
        g_autofree char *line = litho_axis_word(&part->in->grid, LITHO_INLINE);
        g_autofree char *trace = litho_axis_word(&part->in->grid, LITHO_XLINE);
        if (litho_quality_leak_has_place(q))
            fprintf(to, _("; look at %s %.10g, %s %.10g, %.4g %s"), line,
                    litho_axis_value(&a[0], (double)q->leak.worst[0]), trace,
                    litho_axis_value(&a[1], (double)q->leak.worst[1]),
                    litho_axis_value(&a[2], (double)q->leak.worst[2]), a[2].unit);
        fprintf(to, "\n");
    }
    const double noise = litho_quality_noise_part(q);
    g_autofree char *removed = litho_quality_removed_text(q);
    if (isfinite(q->removed) && isfinite(noise))
        fprintf(to,
                litho_quality_noise_stays(q)
                    ? _("removed        %s of the energy; most of the noise, %.1f %%, stays\n")
                    : _("removed        %s of the energy; the noise has %.1f %%\n"),
                removed, 100 * noise);
    else if (isfinite(q->removed))
        fprintf(to, _("removed        %s of the energy\n"), removed);
    if (isfinite(q->hidden_snr_db) && isfinite(q->hidden_off_db))
        fprintf(to,
                litho_text_plural("hidden traces  %.2f dB, give or take %.2f (%u trace)\n",
                                  "hidden traces  %.2f dB, give or take %.2f (%u traces)\n",
                                  q->hidden_traces),
                q->hidden_snr_db, q->hidden_off_db, q->hidden_traces);
    else if (isfinite(q->hidden_snr_db))
        fprintf(to,
                litho_text_plural("hidden traces  %.2f dB (%u trace)\n",
                                  "hidden traces  %.2f dB (%u traces)\n", q->hidden_traces),
                q->hidden_snr_db, q->hidden_traces);
    if (isfinite(q->snr_db) && q->fills_alone)
        fprintf(to,
                litho_text_plural("true SNR of the filled traces %.2f dB (%u trace)\n",
                                  "true SNR of the filled traces %.2f dB (%u traces)\n",
                                  q->filled_traces),
                q->snr_db, q->filled_traces);
    else if (isfinite(q->snr_db) && isfinite(q->gain_db))
        fprintf(to, _("true SNR       %.2f dB, gain %.2f dB\n"), q->snr_db, q->gain_db);
    else if (isfinite(q->snr_db))
        fprintf(to, _("true SNR       %.2f dB; the input has no error against the reference\n"),
                q->snr_db);
    if (isfinite(q->true_lost) && !q->fills_alone)
        fprintf(to, _("truly leaving  %.1f %% of the amplitude\n"), 100 * q->true_lost);
    const double loss = litho_quality_loss_db(q);
    if (loss > 0)
        fprintf(to, _("note: the output is %.1f dB worse than the input\n"), loss);
    const char *sentences[] = {q->why, part->why_not, litho_quality_disagreement(q)};
    for (guint k = 0; k < G_N_ELEMENTS(sentences); k++)
        if (*sentences[k])
            fprintf(to, _("note: %s\n"), sentences[k]);
    if (!part->is_all) {
        g_autofree char *area = litho_quality_area_text(&part->in->grid, part->area);
        fprintf(to, _("These figures are of a part: %s.\n"), area);
    }
}

JsonObject *litho_cli_quality_json(const LithoQuality *quality, const LithoCliPart *part,
                                   const LithoCliJudge *judge, const LithoFlow *flow,
                                   const char *input, const char *command, const gint64 *slice)
{
    const LithoQualityRecord record = {.quality = quality,
                                       .grid = &part->in->grid,
                                       .area = part->area,
                                       .noise = &part->noise,
                                       .noise_unknown = part->why_not,
                                       .hide = judge->hide,
                                       .seed = judge->seed,
                                       .input = input,
                                       .reference = judge->reference,
                                       .flow = flow,
                                       .command = command,
                                       .slice = slice};
    return litho_quality_record_json(&record);
}

gboolean litho_cli_save_json(JsonObject *object, const char *path, gboolean force, GError **error)
{
    g_autofree char *text = litho_json_object_text(object);
    return litho_cli_save_text(path, text, force, error);
}
