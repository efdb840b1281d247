// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli.h"
#include "app/cli_flow.h"
#include "app/cli_open.h"
#include "app/cli_trial.h"
#include "core/error.h"
#include "core/io/open_options.h"
#include "core/text.h"
#include "render/report_page.h"

enum { JUDGED_SAMPLES = 1 << 22 };

typedef struct Options {
    LithoCliTrial trial;
    char *json;
    gboolean force;
} Options;

static void options_clear(Options *o)
{
    litho_cli_trial_clear(&o->trial);
    g_free(o->json);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

typedef struct Report {
    const Options *o;
    LithoFlow *flow;
    LithoCliPart part;
    LithoQuality quality;
    LithoCube *in, *out; // of the area, each a cube of its own
    LithoSheet *sheet;
} Report;

static gboolean make_cubes(Report *r, LithoCube *out, GError **error)
{
    const gboolean whole = litho_box_equal(out->held, litho_box_full(&out->grid));
    r->in = litho_quality_cut(r->part.in, r->part.area, error);
    r->out = whole ? litho_cube_ref(out) : litho_quality_cut(out, r->part.area, error);
    return r->in && r->out;
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
    g_autofree char *caption = g_strdup_printf(_("lithoscope %s; %s%s"), LITHO_VERSION,
                                               r->part.is_all ? "" : _("a part: "), area);
    g_autofree char *told = command_of(r);
    g_autofree char *command = g_utf8_make_valid(told, -1); // a page has text only
    g_autofree char *file = g_utf8_make_valid(litho_survey_path(survey), -1);
    LithoReportPage page = {.in = r->in,
                            .out = r->out,
                            .flow = r->flow,
                            .quality = &r->quality,
                            .slice = {-1, -1, -1},
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
    const char *const reads[] = {o->trial.judge.reference, NULL}, *const writes[] = {o->json, NULL};
    LithoDevice device;
    if (!litho_cli_device(o->trial.backend, r->flow, &device, error) ||
        !litho_cli_files_check(&o->trial.files, r->flow, reads, writes, o->force, error))
        return FALSE;
    g_autoptr(LithoSurvey) survey =
        litho_survey_open((const char *const *)o->trial.files.in, &o->trial.open, run, error);
    if (!survey ||
        !litho_cli_flow_settle(r->flow, &o->trial.files, litho_survey_grid(survey), error) ||
        !litho_cli_part(survey, r->flow, &o->trial.judge, &o->trial.open, JUDGED_SAMPLES, run,
                        &r->part, error))
        return FALSE;
    LithoJudge *judge = litho_judge_new(device);
    LithoQualityAsk ask = litho_cli_ask(&o->trial.judge, &r->part, r->flow);
    gboolean ok = litho_judge_run(judge, &ask, run, &r->quality, error) &&
                  make_cubes(r, litho_judge_output(judge), error) && draw(r, survey, run, error);
    litho_judge_free(judge);
    litho_cli_progress_erase();
    if (ok)
        litho_cli_print_quality(stdout, &r->quality, &r->part);
    ok = ok &&
         (!o->trial.files.out || litho_sheet_save(r->sheet, o->trial.files.out, o->force, error));
    if (!ok || !o->json)
        return ok;
    g_autofree char *command = command_of(r);
    JsonObject *figures = litho_cli_quality_json(&r->quality, &r->part, &o->trial.judge, r->flow,
                                                 litho_survey_name(survey), command);
    return litho_cli_save_json(figures, o->json, o->force, error);
}

static void report_clear(Report *r)
{
    litho_cube_unref(r->in);
    litho_cube_unref(r->out);
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
        LITHO_CLI_TRIAL(&o.trial),
        {"force", 0, 0, G_OPTION_ARG_NONE, &o.force, _("Overwrite files"), NULL},
        {NULL},
    };
    g_autoptr(GOptionContext) context = litho_cli_options(
        _("OPERATOR|RECIPE.json [key=value ...] -i IN -o REPORT.pdf"),
        _("One page: slices through the middle of input, output, removed part and similarity, f-k "
          "of the output in dB below the input, the figures, the command that repeats it."),
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
