// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli.h"
#include "app/cli_flow.h"
#include "app/cli_open.h"
#include "app/cli_trial.h"
#include "core/engine/engine.h"
#include "render/sheet.h"
#include "render/ticks.h"
#include "core/error.h"
#include "core/text.h"

enum { MOST_VALUES = 5 };
enum { HIDE = 5 }; // percent of the traces, where nothing else tells settings apart

typedef struct Swept {
    const LithoParam *row;
    char **words; // values as written
    guint n;
} Swept;

typedef struct Options {
    LithoCliTrial trial;
    char *json, *show;
    Swept swept[2]; // across, down
    guint n_swept;
} Options;

static void options_clear(Options *o)
{
    litho_cli_trial_clear(&o->trial);
    g_free(o->json);
    g_free(o->show);
    for (guint k = 0; k < o->n_swept; k++)
        g_strfreev(o->swept[k].words);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

// --- words --------------------------------------------------------------------------------------

// A name that a choice does not have is mistyped in every setting: it is refused before any work.
// Numbers have their place on the sheet, with the reason why they are refused.
static gboolean check_names(const Swept *s, const LithoOperator *op, GError **error)
{
    if (s->row->type != LITHO_PARAM_CHOICE && s->row->type != LITHO_PARAM_BOOL)
        return TRUE;
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, op);
    for (guint k = 0; k < s->n; k++)
        if (!litho_param_parse(&op->params, litho_flow_step(flow, 0)->params, s->row->key,
                               s->words[k], error))
            return FALSE;
    return TRUE;
}

static gboolean add_swept(Options *o, const LithoOperator *op, const char *word, GError **error)
{
    g_auto(GStrv) pair = g_strsplit(word, "=", 2);
    const LithoParam *row = litho_param_find(&op->params, pair[0]);
    if (!row) // refused with the names there are
        return litho_param_parse(&op->params, NULL, pair[0], "", error);
    if (o->n_swept == G_N_ELEMENTS(o->swept))
        return litho_refuse(error, LITHO_ERROR_PARAMETER, "one or two parameters can be swept");
    if (o->n_swept == 1 && o->swept[0].row == row)
        return litho_refuse(error, LITHO_ERROR_PARAMETER, "%s is swept twice", pair[0]);
    Swept *s = &o->swept[o->n_swept++];
    s->row = row;
    s->words = g_strsplit(pair[1], ",", -1);
    s->n = g_strv_length(s->words);
    if (g_strv_contains((const char *const *)s->words, ""))
        return litho_refuse(error, LITHO_ERROR_PARAMETER, "%s: a value is missing", word);
    if (s->n > MOST_VALUES * (o->n_swept == 1 ? MOST_VALUES : 1))
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "%s has %u values; a sheet takes 25 of one parameter or 5 x 5 of two",
                            pair[0], s->n);
    return check_names(s, op, error);
}

// Takes the words with lists of values out of `words`.
static gboolean take_swept(Options *o, char **words, GError **error)
{
    const LithoOperator *op = litho_operator_find(words[0]);
    if (!op)
        return litho_cli_no_operator(words[0], error);
    char **kept = words + 1;
    for (char **word = words + 1; *word; word++) {
        const char *value = strchr(*word, '=');
        if (!value || !strchr(value, ','))
            *kept++ = *word;
        else if (!add_swept(o, op, *word, error))
            return FALSE;
    }
    *kept = NULL;
    if (o->n_swept == 2 && o->swept[0].n > MOST_VALUES)
        return litho_refuse(error, LITHO_ERROR_PARAMETER, "a sheet of two parameters is 5 x 5");
    return o->n_swept > 0 ||
           litho_refuse(error, LITHO_ERROR_PARAMETER,
                        "values to be tried are needed, such as %s=1,2,3", op->params.rows[0].key);
}

// --- one setting --------------------------------------------------------------------------------

typedef struct Sweep {
    const Options *o;
    LithoSurvey *survey;
    LithoCliPart part;
    LithoFlow *flow;
    LithoJudge *judge;
    LithoSheet *sheet;
    LithoLook look;
    JsonArray *runs;
    LithoQuality *told; // of each cell that gave a result
    gboolean *gave;
    LithoEngine *engine; // of images; NULL: filters, which are judged
    int best;        // the cell that is marked; -1 = none is better than another
    guint judged;    // settings that gave a result
    GError *refused; // why the first of the others gave none
} Sweep;

static gboolean is_shown(const Sweep *s, const char *what)
{
    return strcmp(s->o->show ? s->o->show : "output", what) == 0;
}

// The last question's cube, as one of the area alone. Takes it over; NULL is fine.
static LithoCube *of_area(const Sweep *s, LithoCube *cube, GError **error)
{
    const gboolean whole = cube && litho_box_equal(cube->held, litho_box_full(&cube->grid));
    LithoCube *own = whole || !cube ? cube : litho_quality_cut(cube, s->part.area, error);
    if (own != cube)
        litho_cube_unref(cube);
    return own;
}

static LithoCube *similarity_of(const Sweep *s, LithoLook *look, GError **error)
{
    LithoCube *map = NULL;
    gboolean unused;
    const LithoRange range = {.lo = 0, .hi = 1, .is_unsigned = TRUE};
    litho_look_set_range(look, &range);
    const LithoSimilarityWidths widths = litho_cli_widths(&s->o->trial.judge);
    return litho_judge_similarity(s->judge, &widths, NULL, &map, &unused, error)
               ? of_area(s, map, error)
               : NULL;
}

// The picture drawn: output, removed part or similarity, as a cube of the area.
static LithoCube *shown_cube(const Sweep *s, LithoLook *look, GError **error)
{
    if (is_shown(s, "similarity"))
        return similarity_of(s, look, error);
    g_autoptr(LithoCube) out = of_area(s, litho_cube_ref(litho_judge_output(s->judge)), error);
    g_autoptr(LithoCube) in = out ? litho_quality_cut(s->part.in, s->part.area, error) : NULL;
    LithoCube *cube = in ? litho_cube_copy_box(out, out->held, error) : NULL;
    const gint64 n = cube && is_shown(s, "removed") ? litho_box_count(cube->held) : 0;
    for (gint64 k = 0; k < n; k++)
        cube->samples[k] = in->samples[k] - cube->samples[k];
    return cube;
}

// The pictures are of the middle inline of the area, or of the line.
static int axis_of(const LithoGrid *grid)
{
    return grid->axis[0].n > 1 && grid->axis[1].n == 1 ? LITHO_XLINE : LITHO_INLINE;
}

// "F-X prediction filter, output, inline 1051: survey.sgy"; a map has its range.
static char *title_of(const Sweep *s)
{
    const char *title = litho_text(litho_flow_step(s->flow, 0)->op->title);
    const gboolean is_beside = s->part.noise.n > 0 && !litho_flow_fills_alone(s->flow);
    const LithoGrid *grid = &s->part.in->grid;
    if (s->engine) // an image has slices of its own
        return g_strdup_printf("%s: %s", title, litho_survey_name(s->survey));
    const int axis = axis_of(grid);
    const gint64 size = litho_box_size(s->part.area, axis);
    g_autofree char *slice =
        litho_slice_label(grid, axis, s->part.area.lo[axis] + size / 2, LITHO_UNITS_AUTO);
    const char *kind = is_shown(s, "removed")       ? _("removed")
                       : !is_shown(s, "similarity") ? _("output")
                       : is_beside                  ? _("similarity beside the noise, 0 to 1")
                                   : _("similarity 0 to 1, noise that stays included");
    return g_strdup_printf("%s, %s, %s: %s", title, kind, slice, litho_survey_name(s->survey));
}

static cairo_surface_t *draw_slice(const Sweep *s, const LithoCube *shown, const LithoLook *look,
                                   GError **error)
{
    const int axis = axis_of(&shown->grid);
    return litho_sheet_slice(s->sheet, shown, axis, shown->grid.axis[axis].n / 2, look, error);
}

static cairo_surface_t *draw(Sweep *s, GError **error)
{
    LithoLook look = s->look;
    g_autoptr(LithoCube) shown = shown_cube(s, &look, error);
    return shown ? draw_slice(s, shown, &look, error) : NULL;
}

static void tell(LithoSheetCell *cell, const LithoQuality *q)
{
    g_autofree char *expected = litho_quality_expected_text(q);
    // A misfit below the noise level tells a bound: the error is no larger than the misfit.
    g_autofree char *hidden =
        isfinite(q->hidden_snr_db) ? g_strdup_printf(_("hidden traces %.2f dB"), q->hidden_snr_db)
        : isfinite(q->hidden_recorded_db)
            ? g_strdup_printf(_("hidden traces at least %.2f dB"), q->hidden_recorded_db)
            : NULL;
    g_autofree char *truth =
        !isfinite(q->snr_db) ? NULL
        : q->fills_alone ? g_strdup_printf(_("true SNR of the filled traces %.2f dB"), q->snr_db)
                         : g_strdup_printf(_("true SNR %.2f dB"), q->snr_db);
    if (isfinite(q->expected_snr_db))
        cell->lines[1] = g_strdup_printf(_("expected SNR %s"), expected);
    else // what settings are ranked by
        cell->lines[1] = g_steal_pointer(&hidden);
    cell->lines[2] = // nothing is a share of an input of zeros
        isfinite(q->removed)
            ? g_strdup_printf(_("leaving %.1f %%, removed %.1f %%, %.0f ms"),
                              100 * litho_quality_leaving(q), 100 * q->removed, 1e3 * q->seconds)
            : g_strdup_printf(_("%.0f ms"), 1e3 * q->seconds);
    cell->lines[3] = truth && hidden ? g_strdup_printf("%s, %s", truth, hidden)
                     : truth         ? g_steal_pointer(&truth)
                                     : g_steal_pointer(&hidden);
}

// The measure that ranks settings: the error by SURE where it can be told of all, else hidden
// traces.
static double score(const LithoQuality *q, gboolean by_hidden)
{
    const gboolean told = isfinite(q->mse) && !q->is_filtered && !q->is_clean;
    return !by_hidden && told                ? -q->mse
           : isfinite(q->hidden_recorded_db) ? q->hidden_recorded_db
                                             : -INFINITY;
}

// The best of the settings; -1: none is better than the others, or they have no measure in common.
static int best_of(const Sweep *s, guint n)
{
    int best = -1;
    gboolean by_hidden = FALSE;
    double most = -INFINITY, least = INFINITY;
    for (guint k = 0; k < n; k++)
        by_hidden |= s->gave[k] && s->told[k].fills_alone;
    for (guint k = 0; k < n; k++) {
        if (!s->gave[k])
            continue;
        const double own = score(&s->told[k], by_hidden);
        least = MIN(least, own);
        if (own > most) {
            most = own;
            best = (int)k;
        }
    }
    const gboolean common = !by_hidden || least > -INFINITY;
    return n == 1 || (most > least && common) ? best : -1;
}

static gboolean choose_look(Sweep *s, const LithoCube *cube, LithoRun *run, GError **error)
{
    LithoStats stats;
    if (!litho_qc_stats(cube, run, &stats, error))
        return FALSE;
    const LithoRange range = litho_qc_range(cube, &stats, LITHO_CLIP_AUTO);
    s->look = litho_look_default();
    litho_look_set_range(&s->look, &range);
    return TRUE;
}

// The image of one setting, which no noise judges. All have the clip of the first one. FALSE: the
// setting is refused, or the run is cancelled.
static gboolean image_cell(Sweep *s, LithoSheetCell *cell, JsonObject *object, LithoRun *run,
                           GError **error)
{
    const double start = litho_now_ms();
    g_autoptr(LithoCube) out = litho_engine_run(s->engine, s->flow, s->part.in, NULL, run, error);
    const double ms = litho_now_ms() - start;
    if (!out || !litho_cube_host(out, error) ||
        (s->judged == 0 && !choose_look(s, out, run, error)) ||
        !(cell->picture = draw_slice(s, out, &s->look, error)))
        return FALSE;
    json_object_set_double_member(object, "seconds", 1e-3 * ms);
    cell->lines[1] = g_strdup_printf(_("%.0f ms"), ms);
    s->judged++;
    return TRUE;
}

static gboolean filter_cell(Sweep *s, guint number, JsonObject *object, LithoRun *run,
                            GError **error)
{
    LithoQualityAsk ask = litho_cli_ask(&s->o->trial.judge, &s->part, s->flow);
    LithoQuality q;
    if (litho_flow_fills_alone(s->flow) && !(ask.hide > 0))
        ask.hide = HIDE;
    if (!litho_judge_run(s->judge, &ask, run, &q, error) ||
        !(s->sheet->cells[number].picture = draw(s, error)))
        return FALSE;
    litho_quality_to_json(&q, object);
    tell(&s->sheet->cells[number], &q);
    s->judged++;
    s->told[number] = q;
    s->gave[number] = TRUE;
    return TRUE;
}

// "threshold 2.5", "threshold 0 (automatic)". `params`: NULL where the word was refused.
static void add_label(GString *label, const LithoParam *row, const char *word, const void *params)
{
    const char *special = params ? litho_param_special(row, params) : NULL;
    g_string_append_printf(label, "%s%s %s", label->len ? ", " : "", row->key, word);
    if (special && strcmp(litho_text(special), word) != 0 && strcmp(special, word) != 0)
        g_string_append_printf(label, " (%s)", litho_text(special));
}

static gboolean try_cell(Sweep *s, guint column, guint row, LithoRun *run, GError **error)
{
    const guint at[2] = {column, row}, number = row * s->sheet->columns + column;
    LithoSheetCell *cell = &s->sheet->cells[number];
    LithoStep *step = litho_flow_step(s->flow, 0);
    JsonObject *object = json_object_new(), *values = json_object_new();
    g_autoptr(GString) label = g_string_new(NULL);
    g_autoptr(GError) refused = NULL;
    gboolean ok = TRUE;
    json_array_add_object_element(s->runs, object);
    json_object_set_object_member(object, "values", values);
    for (guint k = 0; k < s->o->n_swept; k++) {
        const Swept *swept = &s->o->swept[k];
        const char *word = swept->words[k == 0 && s->o->n_swept == 1 ? number : at[k]];
        json_object_set_string_member(values, swept->row->key, word);
        const gboolean taken =
            ok && litho_param_parse_along(&step->op->params, step->params, swept->row->key, word,
                                          &s->part.in->grid.axis[LITHO_SAMPLE], &refused);
        add_label(label, swept->row, word, taken ? step->params : NULL);
        ok = taken;
    }
    cell->lines[0] = g_strdup(label->str);
    if (ok && !s->engine && !litho_cli_part_cover(s->survey, s->flow, run, &s->part, error))
        return FALSE;
    ok = ok && (s->engine ? image_cell(s, cell, object, run, &refused)
                          : filter_cell(s, number, object, run, &refused));
    if (!ok && litho_error_is_cancelled(refused)) {
        g_propagate_error(error, g_steal_pointer(&refused));
        return FALSE;
    }
    if (!ok) { // a setting that makes no sense has its place on the sheet all the same
        cell->lines[1] = g_strdup(refused->message);
        json_object_set_string_member(object, "refused", refused->message);
        if (!s->refused)
            s->refused = g_steal_pointer(&refused);
    }
    return TRUE;
}

// --- the sheet ----------------------------------------------------------------------------------

static gboolean save_json(const Sweep *s, const char *input, GError **error)
{
    JsonObject *object = json_object_new();
    JsonArray *keys = json_array_new();
    g_autofree char *area = litho_quality_area_text(&s->part.in->grid, s->part.area);
    for (guint k = 0; k < s->o->n_swept; k++)
        json_array_add_string_element(keys, s->o->swept[k].row->key);
    json_object_set_string_member(object, "operator", litho_flow_step(s->flow, 0)->op->key);
    json_object_set_array_member(object, "parameters", keys);
    json_object_set_string_member(object, "input", input);
    json_object_set_string_member(object, "area", area);
    if (s->best >= 0)
        json_object_set_int_member(object, "best", s->best);
    json_object_set_array_member(object, "runs", json_array_ref(s->runs));
    return litho_cli_save_json(object, s->o->json, s->o->trial.force, error);
}

static gboolean fill_sheet(Sweep *s, LithoRun *run, GError **error)
{
    const Options *o = s->o;
    const guint n = o->n_swept == 1 ? o->swept[0].n : o->swept[0].n * o->swept[1].n;
    litho_run_begin(run, "sweeping", "settings");
    for (guint k = 0; k < n; k++) {
        LithoRun one = {.cancel = run->cancel, .threads = run->threads};
        if (!litho_run_step(run, k, n, error) ||
            !try_cell(s, k % s->sheet->columns, k / s->sheet->columns, &one, error))
            return FALSE;
    }
    if (s->judged == 0) { // a sheet without a picture is of no use
        g_propagate_error(error, g_steal_pointer(&s->refused));
        return FALSE;
    }
    s->best = best_of(s, n);
    if (s->best >= 0)
        s->sheet->cells[s->best].marked = TRUE;
    return TRUE;
}

static void print_cell(const LithoSheetCell *cell)
{
    if (!cell->lines[0])
        return;
    printf("%c %-40s", cell->marked ? '*' : ' ', cell->lines[0]);
    for (guint k = 1; k < G_N_ELEMENTS(cell->lines); k++)
        if (cell->lines[k])
            printf("%s%s", k == 1 ? " " : "  ", cell->lines[k]);
    printf("\n");
}

// TRUE when the flow's output has a grid of its own, as an image of a record has, and nothing is
// asked that only filters have.
static gboolean makes_images(const Sweep *s, LithoRun *run)
{
    const LithoCliJudge *judge = &s->o->trial.judge;
    const gboolean asks = judge->reference || judge->hide > 0 || judge->area ||
                          (s->o->show && strcmp(s->o->show, "output") != 0);
    const LithoGrid *grid = litho_survey_grid(s->survey);
    g_autoptr(LithoWalk) walk = asks ? NULL : litho_walk_resolve(s->flow, grid, run, NULL);
    return walk && !litho_grid_matches(grid, &walk->out);
}

// Every setting is shown the part of the survey that is judged, or all of it.
static gboolean prepare(Sweep *s, LithoDevice device, LithoRun *run, GError **error)
{
    const LithoCliTrial *trial = &s->o->trial;
    if (!makes_images(s, run))
        return litho_cli_part(s->survey, s->flow, &trial->judge, &trial->open, run, &s->part,
                              error) &&
               choose_look(s, s->part.in, run, error);
    s->engine = litho_engine_new(device);
    s->part.area = litho_box_full(litho_survey_grid(s->survey));
    s->part.in = litho_survey_read(s->survey, NULL, run, error);
    return s->part.in != NULL;
}

static gboolean sweep(LithoFlow *flow, const Options *o, LithoRun *run, GError **error)
{
    LithoDevice device;
    g_autoptr(LithoSurvey) survey =
        litho_cli_trial_open(&o->trial, flow, o->json, run, &device, error);
    if (!survey)
        return FALSE;
    const guint columns = o->n_swept == 2 ? o->swept[0].n : MIN(o->swept[0].n, MOST_VALUES);
    const guint rows = o->n_swept == 2 ? o->swept[1].n : (o->swept[0].n + columns - 1) / columns;
    Sweep s = {.o = o,
               .survey = survey,
               .flow = flow,
               .best = -1,
               .told = g_new0(LithoQuality, columns * rows),
               .gave = g_new0(gboolean, columns * rows),
               .runs = json_array_new()};
    s.sheet = litho_sheet_new(columns, rows);
    s.judge = litho_judge_new(device);
    gboolean ok = prepare(&s, device, run, error) && fill_sheet(&s, run, error);
    if (ok) {
        g_autofree char *area = litho_quality_area_text(&s.part.in->grid, s.part.area);
        s.sheet->title = title_of(&s);
        s.sheet->caption =
            s.engine ? g_steal_pointer(&area)
            : s.part.noise.n > 0
                ? g_strdup_printf(_("%s; noise level %.4g"), area, s.part.noise.total)
                : g_strdup_printf(_("%s; noise level not known"), area);
        ok = (!o->trial.files.out ||
              litho_sheet_save(s.sheet, o->trial.files.out, o->trial.force, error)) &&
             (!o->json || save_json(&s, litho_survey_name(survey), error));
    }
    litho_cli_progress_erase();
    for (guint k = 0; ok && k < columns * rows; k++)
        print_cell(&s.sheet->cells[k]);
    g_free(s.told);
    g_free(s.gave);
    g_clear_error(&s.refused);
    litho_judge_free(s.judge);
    if (s.engine)
        litho_engine_free(s.engine);
    litho_sheet_free(s.sheet);
    litho_cli_part_clear(&s.part);
    json_array_unref(s.runs);
    return ok;
}

static gboolean check(const Options *o, GError **error)
{
    static const char *const shows[] = {"output", "removed", "similarity", NULL};
    if (!o->trial.files.in || (!o->trial.files.out && !o->json))
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "-i IN and -o SHEET.png or --json FILE are needed");
    if (o->trial.files.out && !litho_sheet_check_name(o->trial.files.out, error))
        return FALSE;
    return !o->show || g_strv_contains(shows, o->show) ||
           litho_refuse(error, LITHO_ERROR_PARAMETER,
                        "--show is '%s'; it must be output, removed or similarity", o->show);
}

int litho_cli_sweep(int argc, char **argv)
{
    g_auto(Options) o = {.trial.judge.seed = 1};
    const GOptionEntry entries[] = {
        LITHO_CLI_INPUT(&o.trial.files, _("Survey to read; may be repeated")),
        LITHO_CLI_OUTPUT(&o.trial.files, _("Contact sheet: .png, .pdf or .svg")),
        {"json", 0, 0, G_OPTION_ARG_FILENAME, &o.json, _("Write all figures"), "FILE"},
        {"show", 0, 0, G_OPTION_ARG_STRING, &o.show, _("output, removed or similarity"), "WHICH"},
        LITHO_CLI_SIMILARITY(&o.trial.judge),
        LITHO_CLI_TRIAL(&o.trial, _("Overwrite files")),
        {NULL},
    };
    g_autoptr(GOptionContext) context = litho_cli_options(
        _("OPERATOR key=A,B,C [key=A,B,C] [key=value ...] -i IN -o SHEET.png"),
        _("Tries values of one parameter or two and puts a slice of each result on one sheet, with "
          "expected SNR, leaving signal, removed energy and time below. Images of a migration have "
          "their time alone."),
        entries, litho_cli_open_group(&o.trial.open));
    g_option_context_set_description(
        context, _("Example: lithoscope-cli sweep fx prewhitening=1,10,100 "
                   "half_width=2,3 -i survey.sgy -o sheet.png --json sheet.json"));
    GError *error = NULL;
    if (!g_option_context_parse(context, &argc, &argv, &error))
        return litho_cli_misused("sweep", error);
    if (argc < 2) {
        litho_refuse(&error, LITHO_ERROR_PARAMETER, "an operator is needed");
        return litho_cli_misused("sweep", error);
    }
    if (!take_swept(&o, argv + 1, &error))
        return litho_cli_misused("sweep", error);
    g_autoptr(LithoFlow) flow = litho_cli_trial_flow(argv + 1, &o.trial, TRUE, &error);
    if (!flow || !check(&o, &error))
        return litho_cli_misused("sweep", error);
    LithoRun run;
    LithoCliProgress progress;
    if (!litho_cli_trial_begin(&o.trial, &run, &progress, &error))
        return litho_cli_misused("sweep", error);
    const gboolean ok = sweep(flow, &o, &run, &error);
    litho_cli_progress_end(&progress);
    if (ok && o.trial.files.out)
        litho_cli_wrote(&progress, o.trial.files.out);
    return ok ? LITHO_EXIT_OK : litho_cli_fail(error);
}
