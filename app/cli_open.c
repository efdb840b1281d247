// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli_open.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli_page.h"
#include "core/error.h"
#include "core/param.h"
#include "core/text.h"

enum {
    LARGEST_SPACING = 1000000, // of lines, m
    LARGEST_SCALAR = 32767,    // a header holds 16 bits
};

gboolean litho_cli_endian(const char *word, int *endian, GError **error)
{
    *endian = g_ascii_strcasecmp(word, "big") == 0      ? 1
              : g_ascii_strcasecmp(word, "little") == 0 ? 2
                                                        : 0;
    if (*endian)
        return TRUE;
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                _("'%s' is no byte order: big or little"), word);
    return FALSE;
}

gboolean litho_cli_format(const char *word, int *format, GError **error)
{
    static const struct {
        const char *name;
        int code;
    } names[] = {{"ibm", 1},     {"int32", 2},   {"int16", 3},   {"ieee", 5},  {"float32", 5},
                 {"float", 5},   {"float64", 6}, {"double", 6},  {"int24", 7}, {"int8", 8},
                 {"uint32", 10}, {"uint16", 11}, {"uint24", 15}, {"uint8", 16}};
    char *end;
    for (guint k = 0; k < G_N_ELEMENTS(names); k++)
        if (g_ascii_strcasecmp(word, names[k].name) == 0) {
            *format = names[k].code;
            return TRUE;
        }
    const gint64 code = g_ascii_strtoll(word, &end, 10);
    if (end != word && *end == '\0' && code >= 1 && code <= 16) {
        *format = (int)code;
        return TRUE;
    }
    return litho_refuse(error, LITHO_ERROR_PARAMETER,
                        "'%s' is no sample format: ibm, ieee (float32), float64, int8, int16, "
                        "int24, int32, uint8, uint16, uint24, uint32 or SEG-Y's code is needed",
                        word);
}

gboolean litho_cli_threads(int threads, GError **error)
{
    enum { MOST = 1024 };
    return (threads >= 0 && threads <= MOST) ||
           litho_refuse(error, LITHO_ERROR_PARAMETER,
                        "--threads is %d; it must be a whole number from 0 (all) to %d", threads,
                        MOST);
}

gboolean litho_cli_seed(int seed, GError **error)
{
    return seed >= 0 || litho_refuse(error, LITHO_ERROR_PARAMETER,
                                     "--seed is %d; it must be a whole number from 0", seed);
}

static gboolean on_format(const char *name, const char *value, gpointer data, GError **error)
{
    (void)name;
    return litho_cli_format(value, &((LithoOpenOptions *)data)->format, error);
}

gboolean litho_cli_interval(const char *value, double *dt, gboolean *is_bare, GError **error)
{
    static const LithoParam row = {.key = "--dt",
                                   .unit = "s",
                                   .depth_unit = "m",
                                   .min = LITHO_LEAST_INTERVAL,
                                   .max = LITHO_LARGEST_INTERVAL};
    double number;
    if (!litho_param_number(&row, value, NULL, &number, error))
        return FALSE;
    if (!litho_interval_possible(number))
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "%s is %s; it must lie between %g and %g s (m on depth axes)", row.key,
                            value, LITHO_LEAST_INTERVAL, LITHO_LARGEST_INTERVAL);
    *dt = number;
    *is_bare = !g_str_has_suffix(value, "s"); // s, ms, us: a number of metres is none of seconds
    return TRUE;
}

void litho_cli_note_interval(double dt, const char *option)
{
    g_autofree char *note = litho_interval_note(dt, option);
    if (note)
        fprintf(stderr, _("note: %s\n"), note);
}

static gboolean on_interval(const char *name, const char *value, gpointer data, GError **error)
{
    (void)name;
    LithoOpenOptions *open = data;
    return litho_cli_interval(value, &open->dt, &open->dt_is_bare, error);
}

// --dx, --dy: metres, or what the coordinates are in.
static gboolean on_spacing(const char *name, const char *value, gpointer data, GError **error)
{
    LithoOpenOptions *open = data;
    char *end;
    const double number = g_ascii_strtod(value, &end);
    if (end == value || *end != '\0' || !(number > 0 && number <= LARGEST_SPACING))
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "%s is %s; it must be a number above 0, up to %d", name, value,
                            LARGEST_SPACING);
    *(name[3] == 'x' ? &open->dx : &open->dy) = number;
    return TRUE;
}

// --inline-byte and the like: the first of four bytes of a trace header.
static gboolean on_byte(const char *name, const char *value, gpointer data, GError **error)
{
    LithoOpenOptions *open = data;
    char *end;
    const gint64 byte = g_ascii_strtoll(value, &end, 10);
    if (end == value || *end != '\0' || byte < 1 || byte > LITHO_LAST_BYTE)
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "%s is %s; it must be a byte of the trace header, 1 to %d", name, value,
                            LITHO_LAST_BYTE);
    int *const bytes[] = {&open->inline_byte, &open->xline_byte, &open->x_byte, &open->y_byte};
    static const char *const names[] = {"--inline-byte", "--xline-byte", "--x-byte", "--y-byte"};
    for (guint k = 0; k < G_N_ELEMENTS(names); k++)
        if (strcmp(name, names[k]) == 0)
            *bytes[k] = (int)byte;
    return TRUE;
}

// Scalar 0 stands for the one of byte 71, and is no choice.
static gboolean on_xy_scalar(const char *name, const char *value, gpointer data, GError **error)
{
    char *end;
    const gint64 scalar = g_ascii_strtoll(value, &end, 10);
    if (end == value || *end != '\0' || scalar == 0 || ABS(scalar) > LARGEST_SCALAR)
        return litho_refuse(error, LITHO_ERROR_PARAMETER,
                            "%s is %s; it must be a whole number other than 0, up to %d either way",
                            name, value, LARGEST_SCALAR);
    ((LithoOpenOptions *)data)->xy_scalar = (int)scalar;
    return TRUE;
}

static gboolean on_endian(const char *name, const char *value, gpointer data, GError **error)
{
    (void)name;
    LithoOpenOptions *open = data;
    return litho_cli_endian(value, &open->endian, error);
}

static gboolean on_shape(const char *name, const char *value, gpointer data, GError **error)
{
    (void)name;
    LithoOpenOptions *open = data;
    g_auto(GStrv) words = g_strsplit_set(value, ",x", -1);
    guint n = g_strv_length(words);
    gboolean good = n == 2 || n == 3;
    for (guint k = 0; good && k < n; k++) {
        char *end;
        open->shape[k] = g_ascii_strtoll(words[k], &end, 10);
        good = end != words[k] && *end == 0 && open->shape[k] > 0;
    }
    if (good)
        return TRUE;
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                _("--shape %s: N1,N2,N3 (inlines, crosslines, samples) is needed"), value);
    return FALSE;
}

static gboolean on_dtype(const char *name, const char *value, gpointer data, GError **error)
{
    (void)name, (void)error;
    LithoOpenOptions *open = data;
    open->dtype = g_intern_string(value);
    return TRUE;
}

static gboolean on_duplicates(const char *name, const char *value, gpointer data, GError **error)
{
    (void)name;
    static const char *const words[] = {"first", "last", "mean"};
    LithoOpenOptions *open = data;
    for (guint k = 0; k < G_N_ELEMENTS(words); k++)
        if (strcmp(value, words[k]) == 0) {
            open->duplicates = (int)k;
            return TRUE;
        }
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                _("--duplicates %s: first, last or mean"), value);
    return FALSE;
}

static gboolean on_domain(const char *name, const char *value, gpointer data, GError **error)
{
    (void)value, (void)error;
    LithoOpenOptions *open = data;
    open->domain = strcmp(name, "--depth") == 0 ? 2 : 1;
    return TRUE;
}

static GOptionGroup *make_group(LithoOpenOptions *open, const char *format, const char *endian)
{
    const GOptionEntry entries[] = {
        {"dt", 0, 0, G_OPTION_ARG_CALLBACK, on_interval,
         _("Sample interval (s, or with its unit: 2ms; m with --depth)"), "DT"},
        {"dx", 0, 0, G_OPTION_ARG_CALLBACK, on_spacing, _("Distance from inline to inline (m)"),
         "DX"},
        {"dy", 0, 0, G_OPTION_ARG_CALLBACK, on_spacing,
         _("Distance from crossline to crossline (m)"), "DY"},
        {"shape", 0, 0, G_OPTION_ARG_CALLBACK, on_shape,
         _("Raw files: inlines, crosslines, samples; SEG-Y without line numbers: N1,N2"),
         "N1,N2,N3"},
        {"dtype", 0, 0, G_OPTION_ARG_CALLBACK, on_dtype,
         _("Raw files: float32, float64, ibm, int8 to int32, uint8 to uint32 (float32 when not "
           "given)"),
         "TYPE"},
        {"inline-byte", 0, 0, G_OPTION_ARG_CALLBACK, on_byte,
         _("Trace header byte of the inline number"), "BYTE"},
        {"xline-byte", 0, 0, G_OPTION_ARG_CALLBACK, on_byte,
         _("Trace header byte of the crossline number"), "BYTE"},
        {"x-byte", 0, 0, G_OPTION_ARG_CALLBACK, on_byte, _("Trace header byte of X"), "BYTE"},
        {"y-byte", 0, 0, G_OPTION_ARG_CALLBACK, on_byte, _("Trace header byte of Y"), "BYTE"},
        {"xy-scalar", 0, 0, G_OPTION_ARG_CALLBACK, on_xy_scalar,
         _("Scalar of the coordinates instead of byte 71 (-100 divides by 100)"), "N"},
        {endian, 0, 0, G_OPTION_ARG_CALLBACK, on_endian, _("Byte order of the input: big, little"),
         "ORDER"},
        {format, 0, 0, G_OPTION_ARG_CALLBACK, on_format,
         _("SEG-Y sample format of the input: ibm, ieee, int16, ... or its code"), "FORMAT"},
        {"file-order", 0, 0, G_OPTION_ARG_NONE, &open->file_order,
         _("No geometry: one line of traces in file order"), NULL},
        {"duplicates", 0, 0, G_OPTION_ARG_CALLBACK, on_duplicates,
         _("Of traces with equal line numbers take the first, the last or the mean"), "WHICH"},
        {"keep-zero-traces", 0, 0, G_OPTION_ARG_NONE, &open->keep_zero_traces,
         _("Traces of zeros are data"), NULL},
        {"depth", 0, G_OPTION_FLAG_NO_ARG, G_OPTION_ARG_CALLBACK, on_domain,
         _("The sample axis is depth"), NULL},
        {"time", 0, G_OPTION_FLAG_NO_ARG, G_OPTION_ARG_CALLBACK, on_domain,
         _("The sample axis is time"), NULL},
        {"ignore-outliers", 0, 0, G_OPTION_ARG_NONE, &open->ignore_outliers,
         _("Leave out traces whose line numbers lie far from all others (up to a quarter)"), NULL},
        {"strict", 0, 0, G_OPTION_ARG_NONE, &open->strict, _("Repairs are errors"), NULL},
        {NULL},
    };
    GOptionGroup *group = g_option_group_new("input", _("Reading input files:"),
                                             _("How input files are read"), open, NULL);
    g_option_group_add_entries(group, entries);
    litho_cli_page_note(entries, TRUE);
    return group;
}

GOptionGroup *litho_cli_open_group(LithoOpenOptions *open)
{
    return make_group(open, "format", "endian");
}

GOptionGroup *litho_cli_input_group(LithoOpenOptions *open)
{
    return make_group(open, "in-format", "in-endian");
}

GOptionContext *litho_cli_options(const char *words, const char *summary,
                                  const GOptionEntry *entries, GOptionGroup *input)
{
    GOptionContext *context = g_option_context_new(words);
    g_option_context_set_summary(context, summary);
    g_option_context_add_main_entries(context, entries, NULL);
    if (input)
        g_option_context_add_group(context, input);
    litho_cli_page_note(entries, FALSE);
    litho_cli_page_ask(context, words, summary);
    return context;
}

void litho_cli_tell_far(const LithoSurvey *survey)
{
    enum { REACH = 16 }; // the usual window: none that holds such a trace holds a recorded one
    const LithoGrid *grid = litho_survey_grid(survey);
    const gint64 missing = litho_grid_traces(grid) - litho_survey_counts(survey).live;
    const gint64 far = litho_survey_far_cells(survey, REACH);
    if (far > 0)
        fprintf(stderr,
                _("note: %.0f of %.0f missing traces lie more than %d lines from any recorded one; "
                  "values there are guesses\n"),
                (double)far, (double)missing, REACH);
}

void litho_cli_tell_masked(const LithoSurvey *survey)
{
    g_autofree char *zero = litho_survey_zero_traces(survey);
    g_autofree char *bad = litho_survey_bad_samples(survey);
    g_autofree char *left_out = litho_survey_left_out(survey);
    if (zero)
        fprintf(stderr, _("note: %s\n"), zero);
    if (bad)
        fprintf(stderr, _("note: %s\n"), bad);
    if (left_out)
        fprintf(stderr, _("note: %s\n"), left_out);
}
