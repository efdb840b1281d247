// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli.h"
#include "app/cli_flow.h"
#include "app/cli_open.h"
#include "app/cli_trial.h"
#include "core/engine/find.h"
#include "core/error.h"
#include "core/json.h"
#include "core/suggest.h"
#include "core/text.h"

enum { SPECTRUM_TRACES = 2000 }; // as the window asks

typedef struct Options {
    LithoCliTrial trial;
    char *recipe;
    int step;
    double seconds;
    gboolean json;
    gboolean suggest; // and no more
} Options;

static void options_clear(Options *o)
{
    litho_cli_trial_clear(&o->trial);
    g_free(o->recipe);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

static char *value_text(const LithoParam *row, double value)
{
    if (row->type == LITHO_PARAM_CHOICE)
        return g_strdup(litho_param_choice(row, (guint)value));
    if (row->special_text && value == row->special)
        return g_strdup(row->special_text); // a word that the row takes, as keys and choices are
    return g_strdup_printf("%.6g%s%s", value, row->unit ? " " : "", row->unit ? row->unit : "");
}

static void print_find(const LithoFind *find, const LithoCliPart *part)
{
    printf("%-16s %-16s %-16s %s\n", _("parameter"), _("now"), _("found"), _("gain"));
    for (guint k = 0; k < find->n; k++) {
        const LithoFound *f = &find->item[k];
        g_autofree char *now = value_text(f->row, f->now), *found = value_text(f->row, f->found);
        printf("%-16s %-16s %-16s %+.2f dB\n", f->row->key, now, found, f->gain_db);
    }
    g_autofree char *area = litho_quality_area_text(&part->in->grid, find->area);
    g_autofree char *expected = litho_quality_expected_text(&find->found);
    g_autofree char *now = litho_quality_expected_text(&find->now);
    if (find->now.is_filtered || find->now.is_unsure)
        printf(_("expected SNR %s\n"), now);
    else if (isfinite(find->found.expected_snr_db))
        printf(_("expected SNR %s, found %s, input %.2f dB\n"), now, expected,
               find->found.input_snr_db);
    else if (isfinite(find->now.hidden_snr_db))
        printf(_("hidden traces %.2f dB, found %.2f dB\n"), find->now.hidden_snr_db,
               find->found.hidden_snr_db);
    if (isfinite(find->now.snr_db))
        printf(find->now.fills_alone ? _("true SNR of the filled traces %.2f dB, found %.2f dB\n")
                                     : _("true SNR %.2f dB, found %.2f dB\n"),
               find->now.snr_db, find->found.snr_db);
    if (!find->now.is_filtered || find->now.is_rough)
        printf(litho_text_plural("%u trial in %.1f s on %s\n", "%u trials in %.1f s on %s\n",
                                 find->trials),
               find->trials, find->seconds, area);
    if (*find->found.why)
        printf(_("note: %s\n"), find->found.why);
    if (*find->why)
        printf(_("note: %s\n"), find->why);
}

// Suggestions for the step's operator from the part that is read; g_array_unref().
static GArray *suggest(const LithoOperator *op, const LithoCube *in, LithoRun *run)
{
    LithoSpectrum spectrum = {0};
    const double traces = litho_box_size(in->held, 0) * (double)litho_box_size(in->held, 1);
    if (!litho_qc_spectrum(in, NULL, SPECTRUM_TRACES, run, &spectrum, NULL))
        litho_spectrum_clear(&spectrum);
    const LithoBand band = litho_suggest_band(&spectrum);
    const LithoEvents events = litho_suggest_events(in, &band);
    GArray *list = litho_suggest(op, &in->grid, &spectrum, &events,
                                 1 - litho_cube_count_live(in) / MAX(traces, 1));
    litho_spectrum_clear(&spectrum);
    return list;
}

static char *written_value(const LithoSuggestion *s)
{
    return s->row->type == LITHO_PARAM_CHOICE
               ? g_strdup(litho_param_choice(s->row, (guint)s->value))
               : g_strdup_printf("%.6g", s->value);
}

// Suggestions that differ from the step's values: as words of a command with their reasons.
static void print_suggestions(const GArray *list, gconstpointer params)
{
    for (guint k = 0; k < list->len; k++) {
        const LithoSuggestion *s = &g_array_index(list, LithoSuggestion, k);
        g_autofree char *value = written_value(s);
        if (litho_param_get(s->row, params) != s->value)
            printf(_("suggested: %s=%s (%s)\n"), s->row->key, value, s->why);
    }
}

static void add_suggestions(JsonObject *to, const GArray *list)
{
    JsonArray *array = json_array_new();
    for (guint k = 0; k < list->len; k++) {
        const LithoSuggestion *s = &g_array_index(list, LithoSuggestion, k);
        g_autofree char *value = written_value(s);
        JsonObject *item = json_object_new();
        json_object_set_string_member(item, "key", s->row->key);
        json_object_set_string_member(item, "value", value);
        json_object_set_string_member(item, "why", s->why);
        json_array_add_object_element(array, item);
    }
    json_object_set_array_member(to, "suggested", array);
}

// Reads what the largest values that are tried need, and the words that rows take.
static gboolean cover_values(LithoSurvey *survey, const LithoFlow *flow, guint at, LithoRun *run,
                             LithoCliPart *part, GError **error)
{
    g_autoptr(LithoFlow) largest = litho_flow_copy(flow);
    LithoStep *step = litho_flow_step(largest, at);
    for (const LithoFindRow *r = step->op->find; r && r->key; r++) {
        const LithoParam *row = litho_param_find(&step->op->params, r->key);
        if (!row || row->type == LITHO_PARAM_CHOICE)
            continue;
        const double now = litho_param_get(row, step->params);
        const double top = r->lo != r->hi ? r->hi : row->soft_max != 0 ? row->soft_max : row->max;
        const double tried[] = {MIN(top, row->max), row->special_text ? row->special : now};
        for (guint k = 0; k < G_N_ELEMENTS(tried); k++) {
            litho_param_set(row, step->params, tried[k], NULL);
            if (!litho_cli_part_cover(survey, largest, run, part, error))
                return FALSE;
        }
        litho_param_set(row, step->params, now, NULL);
    }
    return TRUE;
}

// The flow that is judged: without the steps behind the one that is tuned where the whole cannot
// be.
static LithoFlow *judged_flow(const LithoFlow *flow, const LithoGrid *grid, guint step)
{
    g_autoptr(GError) why = NULL;
    LithoFlow *judged = litho_flow_copy(flow);
    if (litho_quality_check(flow, grid, &why) || step + 1 == litho_flow_length(flow) ||
        !g_error_matches(why, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED))
        return judged;
    for (guint k = step + 1; k < litho_flow_length(judged); k++)
        litho_flow_step(judged, k)->enabled = FALSE;
    fprintf(stderr, _("note: the steps behind step %u are left out: %s\n"), step + 1, why->message);
    return judged;
}

// The search on the part that is read; its result goes to the step's parameters and is printed.
static gboolean search(LithoFlow *flow, const LithoFlow *judged, const Options *o,
                       const LithoCliPart *part, const GArray *suggested, LithoDevice device,
                       LithoRun *run, GError **error)
{
    LithoStep *step = litho_flow_step(flow, (guint)o->step - 1);
    LithoFindAsk ask = {.quality = litho_cli_ask(&o->trial.judge, part, judged),
                        .step = (guint)o->step - 1,
                        .seconds = o->seconds};
    LithoJudge *judge = litho_judge_new(device);
    LithoFind find;
    const gboolean ok = litho_find(judge, &ask, run, &find, error);
    litho_judge_free(judge);
    if (!ok)
        return FALSE;
    if (o->json) {
        JsonObject *object = litho_find_to_json(&find);
        add_suggestions(object, suggested);
        g_autofree char *text = litho_json_object_text(object);
        printf("%s\n", text);
    } else {
        print_find(&find, part);
    }
    litho_find_apply(&find, G_MAXUINT, step->op, step->params);
    if (!o->recipe)
        return TRUE;
    g_autofree char *recipe = litho_flow_print(flow);
    return litho_cli_save_text(o->recipe, recipe, o->trial.force, error);
}

static gboolean find_best(LithoFlow *flow, const Options *o, LithoRun *run, GError **error)
{
    const guint at = (guint)o->step - 1;
    if (at >= litho_flow_length(flow))
        return litho_refuse(error, LITHO_ERROR_PARAMETER, "--step %d: the flow has %u", o->step,
                            litho_flow_length(flow));
    LithoDevice device;
    g_autoptr(LithoSurvey) survey =
        litho_cli_trial_open(&o->trial, flow, o->recipe, run, &device, error);
    if (!survey)
        return FALSE;
    g_auto(LithoCliPart) part = {0};
    g_autoptr(LithoFlow) judged = judged_flow(flow, litho_survey_grid(survey), at);
    if (!litho_cli_part(survey, judged, &o->trial.judge, &o->trial.open, run, &part, error) ||
        !cover_values(survey, judged, at, run, &part, error))
        return FALSE;
    const LithoStep *step = litho_flow_step(flow, at);
    g_autoptr(GArray) suggested = suggest(step->op, part.in, run);
    if (!o->json)
        print_suggestions(suggested, step->params);
    if (!o->suggest)
        return search(flow, judged, o, &part, suggested, device, run, error);
    if (o->json) {
        JsonObject *object = json_object_new();
        add_suggestions(object, suggested);
        g_autofree char *text = litho_json_object_text(object);
        printf("%s\n", text);
    } else if (suggested->len == 0) {
        printf(_("nothing is suggested\n"));
    }
    return TRUE;
}

static gboolean check_numbers(const Options *o, GError **error)
{
    if (o->step < 1)
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "--step is %d; it must be a whole number from 1", o->step);
    return o->seconds >= 0 ||
           litho_refuse(error, LITHO_ERROR_PARAMETER, "--seconds is %g; it must be a number from 0",
                        o->seconds);
}

int litho_cli_find(int argc, char **argv)
{
    g_auto(Options) o = {.trial.judge.seed = 1, .step = 1, .seconds = 20};
    const GOptionEntry entries[] = {
        LITHO_CLI_INPUT(&o.trial.files, _("Survey to read; may be repeated")),
        {"step", 0, 0, G_OPTION_ARG_INT, &o.step, _("Step of a recipe (default 1)"), "N"},
        {"seconds", 0, 0, G_OPTION_ARG_DOUBLE, &o.seconds,
         _("The search ends within them, but for its first trial (default 20, 0 = no end)"), "S"},
        {"suggest", 0, 0, G_OPTION_ARG_NONE, &o.suggest,
         _("Only what the spectrum, the dips and the size of the data suggest; no search"), NULL},
        {"save", 0, 0, G_OPTION_ARG_FILENAME, &o.recipe, _("Write the recipe found"), "FILE.json"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &o.json, _("One JSON object"), NULL},
        LITHO_CLI_TRIAL(&o.trial, _("Overwrite FILE.json")),
        {NULL},
    };
    g_autoptr(GOptionContext) context = litho_cli_options(
        _("OPERATOR|RECIPE.json [key=value ...] -i IN"),
        _("Finds the best values of the operator's main parameters without knowing the truth: by "
          "the expected SNR (Monte-Carlo SURE with the noise level measured on the data), or by "
          "hidden traces where no noise level can be measured."),
        entries, litho_cli_open_group(&o.trial.open));
    g_option_context_set_description(
        context, _("Example: lithoscope-cli find fx -i survey.sgy --save tuned.json"));
    GError *error = NULL;
    if (!g_option_context_parse(context, &argc, &argv, &error))
        return litho_cli_misused("find", error);
    if (argc < 2) {
        g_set_error(&error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                    _("an operator (see 'lithoscope-cli list') or a recipe is needed"));
        return litho_cli_misused("find", error);
    }
    g_autoptr(LithoFlow) flow = litho_cli_trial_flow(argv + 1, &o.trial, FALSE, &error);
    if (flow && check_numbers(&o, &error) && !o.trial.files.in)
        litho_refuse(&error, LITHO_ERROR_PARAMETER, "-i IN is needed");
    if (error)
        return litho_cli_misused("find", error);
    if (o.json)
        litho_text_to_english();
    LithoRun run;
    LithoCliProgress progress;
    if (!litho_cli_trial_begin(&o.trial, &run, &progress, &error))
        return litho_cli_misused("find", error);
    const gboolean ok = find_best(flow, &o, &run, &error);
    litho_cli_progress_end(&progress);
    return ok ? LITHO_EXIT_OK : litho_cli_fail(error);
}
