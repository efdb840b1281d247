// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli.h"
#include "app/cli_flow.h"
#include "app/cli_open.h"
#include "app/cli_slices.h"
#include "app/cli_trial.h"
#include "core/axis_names.h"
#include "core/error.h"
#include "core/io/open_options.h"
#include "core/text.h"
#include "render/report_page.h"
#include "render/ticks.h"

enum { DRAWN_SAMPLES = 1 << 22 };

typedef struct Options {
    LithoCliTrial trial;
    LithoCliSlices slices;
    char *json;
} Options;

static void options_clear(Options *o)
{
    litho_cli_trial_clear(&o->trial);
    litho_cli_slices_clear(&o->slices);
    g_free(o->json);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

typedef struct Report {
    const Options *o;
    LithoFlow *flow;
    LithoCliPart part; // the figures are of
    LithoQuality quality;
    LithoBox drawn;      // the pictures are of
    gint64 slice[3];     // of the survey's grid
    LithoCube *held;     // what the flow needs to compute them
    LithoCube *in, *out; // of `drawn`, each a cube of its own
    LithoCube *beside;   // likewise, the map of the similarity beside the noise; NULL = no level
    LithoSheet *sheet;
} Report;

// --- pictures -----------------------------------------------------------------------------------

// The page of a line has one section.
static gboolean has_slice(const LithoGrid *grid, int axis)
{
    const LithoAxis *a = grid->axis;
    return (a[0].n > 1 && a[1].n > 1) || axis == (a[0].n > 1 ? LITHO_XLINE : LITHO_INLINE);
}

// The middle of what is asked for, with the slices that were chosen.
static gboolean choose_drawn(Report *r, const LithoGrid *grid, GError **error)
{
    const LithoBox asked = r->part.asked;
    g_autoptr(GArray) slices = litho_cli_slices_find(&r->o->slices, grid, error);
    if (!slices)
        return FALSE;
    r->drawn = litho_quality_part(asked, DRAWN_SAMPLES);
    for (int a = 0; a < 3; a++)
        r->slice[a] = r->drawn.lo[a] + litho_box_size(r->drawn, a) / 2;
    for (guint k = 0; k < slices->len; k++) {
        const LithoCliSlice s = g_array_index(slices, LithoCliSlice, k);
        const gint64 size = litho_box_size(r->drawn, s.axis);
        g_autofree char *name = litho_slice_label(grid, s.axis, s.index, LITHO_UNITS_AUTO);
        if (s.index < asked.lo[s.axis] || s.index >= asked.hi[s.axis])
            return litho_refuse(error, LITHO_ERROR_PARAMETER, "%s lies outside --area %s", name,
                                r->o->trial.judge.area);
        if (!has_slice(grid, s.axis))
            return litho_refuse(error, LITHO_ERROR_PARAMETER,
                                "the survey is a line, whose page has no %s", name);
        r->slice[s.axis] = s.index;
        r->drawn.lo[s.axis] = MIN(r->drawn.lo[s.axis], s.index);
        r->drawn.lo[s.axis] = MAX(r->drawn.lo[s.axis], s.index + 1 - size);
        r->drawn.hi[s.axis] = r->drawn.lo[s.axis] + size;
    }
    return TRUE;
}

// A cube of the judge's last question as one of what is drawn alone.
static LithoCube *of_drawn(const Report *r, LithoCube *cube, GError **error)
{
    return litho_box_equal(cube->held, litho_box_full(&cube->grid))
               ? litho_cube_ref(cube)
               : litho_quality_cut(cube, r->drawn, error);
}

static gboolean make_map(Report *r, LithoJudge *judge, LithoRun *run, GError **error)
{
    g_autoptr(LithoCube) map = NULL;
    const LithoSimilarityWidths widths = litho_cli_widths(&r->o->trial.judge);
    gboolean is_beside;
    if (r->part.noise.n == 0 || litho_flow_fills_alone(r->flow))
        return TRUE;
    if (!litho_judge_similarity(judge, &widths, run, &map, &is_beside, error))
        return FALSE;
    r->beside = is_beside ? of_drawn(r, map, error) : NULL;
    return r->beside || !is_beside;
}

// Input and output of what is drawn: of the judge's last question where it was of the same box.
static gboolean make_cubes(Report *r, LithoSurvey *survey, LithoJudge *judge, LithoRun *run,
                           GError **error)
{
    r->held = litho_cube_ref(r->part.in);
    if (!litho_box_equal(r->drawn, r->part.area)) {
        LithoQuality unused;
        LithoBox need;
        g_clear_pointer(&r->held, litho_cube_unref);
        if (!litho_quality_need(r->flow, litho_survey_grid(survey), r->drawn, &need, error) ||
            !(r->held = litho_survey_read(survey, &need, run, error)))
            return FALSE;
        const LithoQualityAsk ask = {.flow = r->flow,
                                     .in = r->held,
                                     .area = r->drawn,
                                     .noise = r->part.noise.n > 0 ? &r->part.noise : NULL,
                                     .seed = (guint32)r->o->trial.judge.seed};
        if (!litho_judge_run(judge, &ask, run, &unused, error))
            return FALSE;
    }
    r->in = litho_quality_cut(r->held, r->drawn, error);
    r->out = of_drawn(r, litho_judge_output(judge), error);
    return r->in && r->out && make_map(r, judge, run, error);
}

// The command that repeats the run on the whole survey, read as it was read here.
static char *command_of(const Report *r)
{
    char *const *in = r->o->trial.files.in;
    g_autofree char *command = litho_flow_command(r->flow, in[0], "OUT");
    g_autofree char *reading = litho_open_options_words(&r->o->trial.open);
    g_autoptr(GString) text = g_string_new(command);
    for (char *const *other = in + 1; *other; other++) {
        g_autofree char *quoted = g_shell_quote(*other);
        g_string_append_printf(text, " -i %s", quoted);
    }
    g_string_append(text, reading);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static gboolean draw(Report *r, LithoSurvey *survey, LithoRun *run, GError **error)
{
    LithoStats stats;
    if (!litho_qc_stats(r->in, run, &stats, error))
        return FALSE;
    const LithoRange range = litho_qc_range(r->in, &stats, LITHO_CLIP_AUTO);
    g_autofree char *area = litho_quality_area_text(&r->part.in->grid, r->part.area);
    g_autofree char *caption =
        g_strdup_printf(r->part.is_all ? _("lithoscope %s; figures of %s")
                                       : _("lithoscope %s; figures of a part: %s"),
                        LITHO_VERSION, area);
    g_autofree char *told = command_of(r);
    g_autofree char *command = g_utf8_make_valid(told, -1); // a page has text only
    g_autofree char *file = g_utf8_make_valid(litho_survey_path(survey), -1);
    LithoReportPage page = {.in = r->in,
                            .out = r->out,
                            .beside = {r->beside, r->beside, r->beside},
                            .flow = r->flow,
                            .quality = &r->quality,
                            .slice = {r->slice[0] - r->drawn.lo[0], r->slice[1] - r->drawn.lo[1],
                                      r->slice[2] - r->drawn.lo[2]},
                            .look = litho_look_default(),
                            .title = litho_survey_name(survey),
                            .caption = caption,
                            .file = file,
                            .survey = litho_survey_grid(survey),
                            .command = command};
    litho_look_set_range(&page.look, &range);
    r->sheet = litho_report_page_draw(&page, run, error);
    return r->sheet != NULL;
}

static gboolean make(Report *r, LithoRun *run, GError **error)
{
    const Options *o = r->o;
    LithoDevice device;
    g_autoptr(LithoSurvey) survey =
        litho_cli_trial_open(&o->trial, r->flow, o->json, run, &device, error);
    if (!survey ||
        !litho_cli_part(survey, r->flow, &o->trial.judge, &o->trial.open, run, &r->part, error) ||
        !choose_drawn(r, litho_survey_grid(survey), error))
        return FALSE;
    LithoJudge *judge = litho_judge_new(device);
    LithoQualityAsk ask = litho_cli_ask(&o->trial.judge, &r->part, r->flow);
    const gboolean draws = o->trial.files.out != NULL;
    gboolean ok =
        litho_judge_run(judge, &ask, run, &r->quality, error) &&
        (!draws || (make_cubes(r, survey, judge, run, error) && draw(r, survey, run, error)));
    litho_judge_free(judge);
    litho_cli_progress_erase();
    if (ok)
        litho_cli_print_quality(stdout, &r->quality, &r->part);
    ok = ok && (!draws || litho_sheet_save(r->sheet, o->trial.files.out, o->trial.force, error));
    if (!ok || !o->json)
        return ok;
    g_autofree char *command = command_of(r);
    JsonObject *figures =
        litho_cli_quality_json(&r->quality, &r->part, &o->trial.judge, r->flow,
                               litho_survey_name(survey), command, draws ? r->slice : NULL);
    return litho_cli_save_json(figures, o->json, o->trial.force, error);
}

static void report_clear(Report *r)
{
    litho_cube_unref(r->held);
    litho_cube_unref(r->in);
    litho_cube_unref(r->out);
    litho_cube_unref(r->beside);
    litho_sheet_free(r->sheet);
    litho_cli_part_clear(&r->part);
}

int litho_cli_report(int argc, char **argv)
{
    g_auto(Options) o = {.trial.judge.seed = 1};
    const GOptionEntry entries[] = {
        LITHO_CLI_INPUT(&o.trial.files, _("Survey to read; may be repeated")),
        LITHO_CLI_OUTPUT(&o.trial.files, _("Report: .pdf, .svg or .png")),
        {"json", 0, 0, G_OPTION_ARG_FILENAME, &o.json, _("Write the figures"), "FILE"},
        LITHO_CLI_SLICES(&o.slices, _("Inline section")),
        LITHO_CLI_SIMILARITY(&o.trial.judge),
        LITHO_CLI_TRIAL(&o.trial, _("Overwrite files")),
        {NULL},
    };
    g_autoptr(GOptionContext) context = litho_cli_options(
        _("OPERATOR|RECIPE.json [key=value ...] -i IN -o REPORT.pdf"),
        _("One page: slices of input, output, removed part and similarity, through the middle "
          "unless "
          "chosen, f-k of the output in dB below the input, the figures, the command that repeats "
          "it."),
        entries, litho_cli_open_group(&o.trial.open));
    GError *error = NULL;
    if (!g_option_context_parse(context, &argc, &argv, &error))
        return litho_cli_misused("report", error);
    if (argc < 2) {
        litho_refuse(&error, LITHO_ERROR_PARAMETER, "an operator or a recipe is needed");
        return litho_cli_misused("report", error);
    }
    g_autoptr(LithoFlow) flow = litho_cli_trial_flow(argv + 1, &o.trial, TRUE, &error);
    if (flow && (!o.trial.files.in || (!o.trial.files.out && !o.json)))
        litho_refuse(&error, LITHO_ERROR_PARAMETER,
                     "-i IN and -o REPORT.pdf or --json FILE are needed");
    else if (flow && o.trial.files.out)
        litho_sheet_check_name(o.trial.files.out, &error);
    if (!error)
        litho_cli_slices_check(&o.slices, 1, &error);
    if (error)
        return litho_cli_misused("report", error);
    LithoRun run;
    LithoCliProgress progress;
    if (!litho_cli_trial_begin(&o.trial, &run, &progress, &error))
        return litho_cli_misused("report", error);
    Report report = {.o = &o, .flow = flow};
    const gboolean ok = make(&report, &run, &error);
    report_clear(&report);
    litho_cli_progress_end(&progress);
    if (ok && o.trial.files.out)
        litho_cli_wrote(&progress, o.trial.files.out);
    return ok ? LITHO_EXIT_OK : litho_cli_fail(error);
}
