// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli.h"
#include "app/cli_files.h"
#include "app/cli_open.h"
#include "app/cli_pipe.h"
#include "app/progress.h"
#include "core/axis_names.h"
#include "core/memory.h"
#include "core/error.h"
#include "core/qc.h"
#include "core/io/survey.h"
#include "core/json.h"
#include "core/text.h"

// Keys of JSON, which are words for people, too.
static const char *const sources[] = {N_("assumed"), N_("file"), N_("user"), N_("computed")};

typedef struct Info {
    LithoSurvey *survey;
    LithoStats stats;
    gboolean have_stats;
    const char *unit;  // of the amplitudes, where they are velocities; else NULL
    gint64 lines_read; // inlines the numbers come from
} Info;

// The amplitudes of the whole survey, or of the inlines in its middle that memory has room for.
static gboolean read_stats(Info *info, LithoRun *run, GError **error)
{
    const LithoGrid *g = litho_survey_grid(info->survey);
    gint64 line = g->axis[1].n * g->axis[2].n * 4;
    const gint64 room = (gint64)(litho_memory_available() / 2);
    LithoBox box = litho_box_full(g);
    gint64 n = info->lines_read = CLAMP(room / line, 1, g->axis[0].n);
    box.lo[0] = (g->axis[0].n - n) / 2;
    box.hi[0] = box.lo[0] + n;
    g_autoptr(LithoCube) cube = litho_survey_read(info->survey, &box, run, error);
    info->have_stats = cube && litho_qc_stats(cube, run, &info->stats, error);
    if (info->have_stats)
        info->unit = litho_qc_range(cube, &info->stats, LITHO_CLIP_AUTO).unit;
    return info->have_stats;
}

// --- for people -------------------------------------------------------------------------------

static void print_axis(const LithoAxis *a, const char *name)
{
    printf(_("  %-10s %8" PRId64 "   %.10g to %.10g step %.10g %s  [%s%s%s]\n"), name, a->n,
           a->first, litho_axis_value(a, (double)(a->n - 1)), a->step, a->unit,
           litho_text(sources[a->source]), a->evidence[0] ? ": " : "", a->evidence);
}

// Coordinates to a micrometre: a fitted origin is off by rounding, 1e-13 m, and is told as 0.
static double micrometres(double metres)
{
    const double rounded = round(metres * 1e6) / 1e6;
    return isfinite(rounded) ? rounded + 0.0 : metres; // + 0.0: no minus in front of a zero
}

static void print_geometry(const Info *info)
{
    const LithoGrid *g = litho_survey_grid(info->survey);
    printf(_("axes\n"));
    for (int k = 0; k < 3; k++) {
        g_autofree char *name = litho_axis_word(g, k);
        print_axis(&g->axis[k], name);
    }
    printf(_("bins         %.6g m by %.6g m  [%s%s%s]\n"), litho_grid_spacing(g, 0),
           litho_grid_spacing(g, 1), litho_text(sources[g->xy_source]),
           g->xy_evidence[0] ? ": " : "", g->xy_evidence);
    if (g->has_xy && g->xy_source != LITHO_FROM_ASSUMED && !g->has_no_place)
        printf(_("origin       x %.10g  y %.10g m\n"), micrometres(g->origin[0]),
               micrometres(g->origin[1]));
    const LithoCandidate *c;
    guint n = litho_survey_candidates(info->survey, &c);
    for (guint k = 0; k < MIN(n, 3); k++)
        printf(_("%s %d/%d  score %.2f  (%s)\n"), k == 0 ? _("line bytes  ") : "            ",
               c[k].inline_byte, c[k].xline_byte, c[k].score, c[k].evidence);
}

static void print_counts(const Info *info)
{
    LithoSurveyCounts c = litho_survey_counts(info->survey);
    g_autofree char *duplicates = g_strdup_printf(
        litho_text_plural("%" PRId64 " duplicate", "%" PRId64 " duplicates", c.duplicates),
        c.duplicates);
    g_autofree char *offsets = g_strdup_printf(
        litho_text_plural("%" PRId64 " offset", "%" PRId64 " offsets", c.offsets), c.offsets);
    printf(_("traces       %" PRId64 " in the file; cells: %" PRId64 " live, %" PRId64
             " missing, %" PRId64 " dead, %" PRId64 " zero; %s, %" PRId64
             " with bad samples, %s\n"),
           c.traces, c.live, c.missing, c.dead, c.zero, duplicates, c.bad, offsets);
    if (c.flat > 0)
        printf(_("             %" PRId64 " of one value repeated\n"), c.flat);
}

// Samples that are not believed, as far as they were read, and their fate, which 'run' tells, too.
static void print_masked(const LithoSurvey *survey)
{
    g_autofree char *zero = litho_survey_zero_traces(survey);
    g_autofree char *bad = litho_survey_bad_samples(survey);
    if (zero)
        printf(_("note         %s\n"), zero);
    if (bad)
        printf(_("note         %s\n"), bad);
}

static void print_text(const Info *info)
{
    const LithoGrid *g = litho_survey_grid(info->survey);
    const LithoStats *s = &info->stats;
    const double bytes = 4.0 * (double)litho_grid_samples(g);
    g_autofree char *words = litho_cli_pipe_words(litho_survey_path(info->survey));
    g_autofree char *name = litho_text_visible(words);
    printf(_("file         %s\nformat       %s\nsize         %" PRId64 " x %" PRId64 " x %" PRId64
             " (%.4g %s as float32)\n"),
           name, litho_survey_format(info->survey), g->axis[0].n, g->axis[1].n, g->axis[2].n,
           bytes * (bytes < 1e8 ? 1e-6 : 1e-9), bytes < 1e8 ? "MB" : "GB");
    print_geometry(info);
    print_counts(info);
    if (info->have_stats) {
        printf(_("amplitudes   min %.6g  max %.6g  mean %.6g  rms %.6g\n"
                 "|amplitude|  p50 %.6g  p90 %.6g  p95 %.6g  p99 %.6g\n"),
               s->min, s->max, s->mean, s->rms, s->p50, s->p90, s->p95, s->p99);
        if (info->unit)
            printf(_("             in %s, as its name says velocity\n"), info->unit);
        if (info->lines_read < g->axis[0].n)
            printf(litho_text_plural("             (of %" PRId64 " inline in the middle)\n",
                                     "             (of %" PRId64 " inlines in the middle)\n",
                                     info->lines_read),
                   info->lines_read);
    }
    const GPtrArray *notes = litho_survey_notes(info->survey);
    for (guint k = 0; k < notes->len; k++)
        printf(_("note         %s\n"), (const char *)g_ptr_array_index(notes, k));
    print_masked(info->survey);
}

// --- for programs -----------------------------------------------------------------------------

static void add_string(JsonBuilder *b, const char *key, const char *value)
{
    json_builder_set_member_name(b, key);
    json_builder_add_string_value(b, value);
}

static void add_int(JsonBuilder *b, const char *key, gint64 value)
{
    json_builder_set_member_name(b, key);
    json_builder_add_int_value(b, value);
}

static void add_double(JsonBuilder *b, const char *key, double value)
{
    json_builder_set_member_name(b, key);
    json_builder_add_double_value(b, value);
}

// Places and distances, m.
static void add_pair(JsonBuilder *b, const char *key, const double v[2])
{
    json_builder_set_member_name(b, key);
    json_builder_begin_array(b);
    json_builder_add_double_value(b, micrometres(v[0]));
    json_builder_add_double_value(b, micrometres(v[1]));
    json_builder_end_array(b);
}

static void add_grid(JsonBuilder *b, const LithoGrid *g)
{
    json_builder_set_member_name(b, "axes");
    json_builder_begin_array(b);
    for (int k = 0; k < 3; k++) {
        const LithoAxis *a = &g->axis[k];
        json_builder_begin_object(b);
        add_string(b, "name", litho_axis_key(g, k));
        add_int(b, "n", a->n);
        add_double(b, "first", a->first);
        add_double(b, "step", a->step);
        add_double(b, "last", litho_axis_value(a, (double)(a->n - 1)));
        add_string(b, "unit", a->unit);
        add_string(b, "source", sources[a->source]);
        add_string(b, "evidence", a->evidence);
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
    add_string(b, "domain", g->is_depth ? "depth" : "time");
    json_builder_set_member_name(b, "coordinates");
    json_builder_begin_object(b);
    add_pair(b, "origin", g->origin);
    add_pair(b, "inline_step", g->inline_step);
    add_pair(b, "xline_step", g->xline_step);
    add_double(b, "inline_spacing", litho_grid_spacing(g, 0));
    add_double(b, "xline_spacing", litho_grid_spacing(g, 1));
    add_string(b, "source", sources[g->xy_source]);
    add_string(b, "evidence", g->xy_evidence);
    json_builder_end_object(b);
}

static void add_candidates(JsonBuilder *b, LithoSurvey *survey)
{
    const LithoCandidate *c;
    guint n = litho_survey_candidates(survey, &c);
    json_builder_set_member_name(b, "header_bytes");
    json_builder_begin_array(b);
    for (guint k = 0; k < n; k++) {
        json_builder_begin_object(b);
        add_int(b, "inline", c[k].inline_byte);
        add_int(b, "xline", c[k].xline_byte);
        add_double(b, "score", c[k].score);
        add_string(b, "evidence", c[k].evidence);
        json_builder_end_object(b);
    }
    json_builder_end_array(b);
}

static void add_counts(JsonBuilder *b, LithoSurvey *survey)
{
    LithoSurveyCounts c = litho_survey_counts(survey);
    json_builder_set_member_name(b, "traces");
    json_builder_begin_object(b);
    add_int(b, "file", c.traces);
    add_int(b, "live", c.live);
    add_int(b, "missing", c.missing);
    add_int(b, "dead", c.dead);
    add_int(b, "zero", c.zero);
    add_int(b, "flat", c.flat);
    add_int(b, "duplicates", c.duplicates);
    add_int(b, "bad", c.bad);
    add_int(b, "offsets", c.offsets);
    json_builder_end_object(b);
}

static void add_stats(JsonBuilder *b, const Info *info)
{
    const LithoStats *s = &info->stats;
    json_builder_set_member_name(b, "amplitude");
    json_builder_begin_object(b);
    add_double(b, "min", s->min);
    add_double(b, "max", s->max);
    add_double(b, "mean", s->mean);
    add_double(b, "rms", s->rms);
    add_double(b, "p50", s->p50);
    add_double(b, "p90", s->p90);
    add_double(b, "p95", s->p95);
    add_double(b, "p99", s->p99);
    if (info->unit)
        add_string(b, "unit", info->unit);
    add_int(b, "samples", s->count);
    add_int(b, "inlines", info->lines_read);
    json_builder_end_object(b);
}

static void print_json(const Info *info)
{
    g_autoptr(JsonBuilder) b = json_builder_new();
    const LithoGrid *g = litho_survey_grid(info->survey);
    json_builder_begin_object(b);
    g_autofree char *name = litho_cli_pipe_words(litho_survey_path(info->survey));
    add_string(b, "file", name);
    add_string(b, "format", litho_survey_format(info->survey));
    json_builder_set_member_name(b, "shape");
    json_builder_begin_array(b);
    for (int k = 0; k < 3; k++)
        json_builder_add_int_value(b, g->axis[k].n);
    json_builder_end_array(b);
    add_grid(b, g);
    add_candidates(b, info->survey);
    add_counts(b, info->survey);
    if (info->have_stats)
        add_stats(b, info);
    json_builder_set_member_name(b, "notes");
    json_builder_begin_array(b);
    const GPtrArray *notes = litho_survey_notes(info->survey);
    for (guint k = 0; k < notes->len; k++)
        json_builder_add_string_value(b, g_ptr_array_index(notes, k));
    json_builder_end_array(b);
    add_string(b, "text", litho_survey_text(info->survey));
    json_builder_end_object(b);
    JsonNode *root = json_builder_get_root(b);
    g_autofree char *text = litho_json_text(root);
    printf("%s\n", text);
    json_node_unref(root);
}

// --- several files ------------------------------------------------------------------------------

static void print_line(const char *path, LithoSurvey *survey)
{
    const LithoGrid *g = litho_survey_grid(survey);
    g_autofree char *name = litho_text_visible(path);
    printf(_("%s: %" PRId64 " x %" PRId64 " x %" PRId64 ", every %g %s, %s\n"), name, g->axis[0].n,
           g->axis[1].n, g->axis[2].n, g->axis[2].step, g->axis[2].unit,
           litho_survey_format(survey));
}

static void add_file(JsonBuilder *b, const char *path, LithoSurvey *survey, const GError *error)
{
    json_builder_begin_object(b);
    add_string(b, "file", path);
    if (survey) {
        const LithoGrid *g = litho_survey_grid(survey);
        add_string(b, "format", litho_survey_format(survey));
        json_builder_set_member_name(b, "shape");
        json_builder_begin_array(b);
        for (int k = 0; k < 3; k++)
            json_builder_add_int_value(b, g->axis[k].n);
        json_builder_end_array(b);
        add_grid(b, g);
        add_counts(b, survey);
    } else {
        add_string(b, "error", error->message);
    }
    json_builder_end_object(b);
}

// A line for each file, by their headers; those that cannot be read are told and do not end the
// list.
static int list_files(char **paths, const LithoOpenOptions *open, gboolean json, LithoRun *run)
{
    int status = LITHO_EXIT_OK;
    g_autoptr(JsonBuilder) b = json_builder_new();
    json_builder_begin_object(b);
    json_builder_set_member_name(b, "files");
    json_builder_begin_array(b);
    for (; *paths && status != LITHO_EXIT_CANCELLED; paths++) {
        GError *error = NULL;
        const char *const one[] = {*paths, NULL};
        LithoSurvey *survey = litho_survey_open(one, open, run, &error);
        g_autofree char *name = litho_cli_pipe_words(*paths);
        litho_cli_progress_erase();
        add_file(b, name, survey, error);
        if (!survey)
            status = litho_cli_fail(error);
        else if (!json)
            print_line(name, survey);
        litho_survey_unref(survey);
    }
    json_builder_end_array(b);
    json_builder_end_object(b);
    JsonNode *root = json_builder_get_root(b);
    g_autofree char *text = litho_json_text(root);
    json_node_unref(root);
    if (json)
        printf("%s\n", text);
    return status;
}

int litho_cli_info(int argc, char **argv)
{
    LithoOpenOptions open = {0};
    g_auto(LithoCliFiles) files = {0};
    gboolean json = FALSE, headers = FALSE, text = FALSE;
    const GOptionEntry entries[] = {
        LITHO_CLI_INPUT(&files, _("A file of a survey of several; may be repeated")),
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, _("One JSON object"), NULL},
        {"headers", 0, 0, G_OPTION_ARG_NONE, &headers, _("Headers only: do not read the samples"),
         NULL},
        {"text", 0, 0, G_OPTION_ARG_NONE, &text, _("Print the text header too"), NULL},
        {NULL},
    };
    g_autoptr(GOptionContext) context =
        litho_cli_options(_("FILE [FILE ...]"),
                          _("What a survey holds; of several files a line each. The files of one "
                            "survey are given by -i."),
                          entries, litho_cli_open_group(&open));
    GError *error = NULL;
    gboolean parsed = g_option_context_parse(context, &argc, &argv, &error);
    const gboolean several = parsed && argc > 2 && !files.in;
    if (!parsed || !litho_cli_files_add(&files, argv + 1, G_MAXUINT, FALSE, &error))
        return litho_cli_misused("info", error);
    if (!files.in) {
        g_set_error(&error, LITHO_ERROR, LITHO_ERROR_PARAMETER, _("a file is needed"));
        return litho_cli_misused("info", error);
    }
    if (!litho_cli_pipe_begin(&files, &error)) // "-"
        return litho_cli_fail(error);
    if (json)
        litho_text_to_english();
    LithoRun run = {0};
    LithoCliProgress progress;
    if (!litho_cli_progress_init(&progress, "auto", &run, &error))
        return litho_cli_misused("info", error);
    if (several) {
        int status = list_files(files.in, &open, json, &run);
        litho_cli_progress_end(&progress);
        return status;
    }
    Info info = {.survey = litho_survey_open((const char *const *)files.in, &open, &run, &error)};
    gboolean good = info.survey && (headers || read_stats(&info, &run, &error));
    litho_cli_progress_end(&progress);
    if (good && json)
        print_json(&info);
    else if (good)
        print_text(&info);
    if (good && text && !json)
        printf("\n%s", litho_survey_text(info.survey));
    litho_survey_unref(info.survey);
    return good ? LITHO_EXIT_OK : litho_cli_fail(error);
}
