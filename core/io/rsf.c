// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <string.h>

#include "core/axis_names.h"
#include "core/error.h"
#include "core/io/rsf_labels.h"
#include "core/io/survey_private.h"
#include "core/io/units.h"
#include "core/text.h"

// Madagascar's RSF: key=value text, of which the last mention of a key counts, and the samples in
// another file or behind the text after form feed, form feed, end of transmission.

enum { MAX_RSF_HEADER = 1 << 20 };
// Seconds: no record has samples so far apart.
#define LONGEST 0.1

static GHashTable *parse_keys(const char *text, gsize n)
{
    GHashTable *keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (gsize k = 0; k < n;) {
        gsize start = k;
        while (k < n && (g_ascii_isalnum(text[k]) || text[k] == '_' || text[k] == '-'))
            k++;
        if (k == start || k >= n || text[k] != '=') { // not a key: skip this word
            while (k < n && !g_ascii_isspace(text[k]))
                k++;
            while (k < n && g_ascii_isspace(text[k]))
                k++;
            continue;
        }
        char *key = g_strndup(text + start, k - start);
        char quote = ++k < n && (text[k] == '"' || text[k] == '\'') ? text[k++] : 0;
        gsize from = k;
        while (k < n && (quote ? text[k] != quote : !g_ascii_isspace(text[k])))
            k++;
        g_hash_table_replace(keys, key, g_strndup(text + from, k - from));
        k += quote && k < n;
        while (k < n && g_ascii_isspace(text[k]))
            k++;
    }
    return keys;
}

static const char *get(GHashTable *keys, const char *name, int axis)
{
    char key[32];
    if (axis)
        g_snprintf(key, sizeof key, "%s%d", name, axis);
    else
        g_strlcpy(key, name, sizeof key);
    return g_hash_table_lookup(keys, key);
}

static gboolean get_number(GHashTable *keys, const char *name, int axis, double *value)
{
    const char *text = get(keys, name, axis);
    char *end;
    double v = text ? g_ascii_strtod(text, &end) : 0;
    if (!text || end == text || !isfinite(v))
        return FALSE;
    *value = v;
    return TRUE;
}

// litho_file_unit() of an axis, with a note of a unit that is not known.
static double unit_of(LithoSurvey *survey, GHashTable *keys, int rsf_axis, gboolean *is_length)
{
    const char *unit = get(keys, "unit", rsf_axis);
    const double factor = litho_file_unit(unit, is_length);
    g_autofree char *plain = litho_text_plain(unit ? unit : "", 30);
    if (factor == 0 && *plain)
        litho_survey_note(survey, "unit%d=%s is not known and was not used", rsf_axis, plain);
    return factor;
}

static void sample_axis(LithoSurvey *survey, GHashTable *keys)
{
    LithoGrid *g = &survey->grid;
    LithoAxis *axis = &g->axis[2];
    const char *label = get(keys, "label", 1);
    gboolean is_length = FALSE;
    double factor = unit_of(survey, keys, 1, &is_length), d = 0;
    g->is_depth = factor > 0 ? is_length : label && g_ascii_strncasecmp(label, "depth", 5) == 0;
    survey->counted.in_feet = g->is_depth && factor == LITHO_FOOT;
    if (factor == 0)
        factor = 1;
    g_strlcpy(axis->unit, g->is_depth ? "m" : "s", sizeof axis->unit);
    if (get_number(keys, "d", 1, &d) && d != 0) {
        axis->step = d * factor;
        axis->source = LITHO_FROM_FILE;
        g_strlcpy(axis->evidence, "d1", sizeof axis->evidence);
        if (!g->is_depth && fabs(axis->step) >= LONGEST)
            litho_survey_note(
                survey,
                "d1=%g makes a sample interval of %g s: unit1=ms or a depth was probably meant", d,
                axis->step);
    }
    if (get_number(keys, "o", 1, &axis->first))
        axis->first *= factor;
}

static gboolean is_sample_label(const char *label)
{
    return label && (g_ascii_strncasecmp(label, "depth", 5) == 0 ||
                     g_ascii_strncasecmp(label, "time", 4) == 0 ||
                     g_ascii_strcasecmp(label, "z") == 0 || g_ascii_strcasecmp(label, "t") == 0);
}

// Tells axes in another order: their labels name time or depth elsewhere than on the first one.
static void tell_order(LithoSurvey *survey, GHashTable *keys)
{
    const char *first = get(keys, "label", 1);
    for (int axis = 2; axis <= 3; axis++) {
        const char *label = get(keys, "label", axis);
        if (!first || is_sample_label(first) || !is_sample_label(label))
            continue;
        survey->is_turned = TRUE;
        g_autofree char *one = litho_text_plain(first, 30), *other = litho_text_plain(label, 30);
        litho_survey_note(survey,
                          "label1 is %s and label%d is %s: traces run along axis 1, and along time "
                          "or depth they should; 'sftransp plane=1%d' turns the file",
                          one, axis, other, axis);
        return;
    }
}

// The distance of an offset itself numbers its trace, in metres, or in feet where the file is. It
// is no place: the traces of a gather lie anywhere.
static void offset_axis(LithoGrid *g, int axis, double d, double o, double factor)
{
    const gboolean feet = factor == LITHO_FOOT;
    const double scale = factor == 0 || feet ? 1 : factor;
    g->axis[axis].first = o * scale;
    g->axis[axis].step = d * scale;
    g->axis[axis].source = LITHO_FROM_FILE;
    g_strlcpy(g->axis[axis].unit, factor == 0 ? "" : feet ? "ft" : "m", sizeof g->axis[axis].unit);
}

// One of Madagascar's axes 2 and 3 becomes `axis` of the grid; xy = 0 for x, 1 for y. With a unit
// of length they are distances, without one line numbers; our own files say both.
static void line_axis(LithoSurvey *survey, GHashTable *keys, int rsf_axis, int axis_of_grid, int xy)
{
    LithoGrid *g = &survey->grid;
    LithoAxis *axis = &g->axis[axis_of_grid];
    double *move = axis_of_grid == LITHO_INLINE ? g->inline_step : g->xline_step;
    gboolean is_length = FALSE;
    double factor = unit_of(survey, keys, rsf_axis, &is_length), d = 0, o = 0;
    litho_rsf_label_read(get(keys, "label", rsf_axis), &axis->counts);
    get_number(keys, "o", rsf_axis, &o);
    if (get_number(keys, "d", rsf_axis, &d) && d != 0) {
        const gboolean offsets = axis->counts == LITHO_COUNTS_OFFSETS;
        if (factor > 0 && is_length) {
            move[xy] = offsets ? fabs(d * factor) : d * factor;
            move[1 - xy] = 0;
            g->origin[xy] = offsets ? 0 : o * factor;
            g->has_no_place |= offsets;
            g->xy_source = LITHO_FROM_FILE;
            g_snprintf(g->xy_evidence, sizeof g->xy_evidence, _("d2, d3 with units"));
        } else if (d == rint(d) && o == rint(o)) {
            axis->first = o;
            axis->step = d;
            axis->source = LITHO_FROM_FILE;
        }
        if (offsets && (factor == 0 || is_length))
            offset_axis(g, axis_of_grid, d, o, factor);
    }
    if (get_number(keys, "line_first", rsf_axis, &axis->first))
        axis->source = LITHO_FROM_FILE;
    double line_step = 0;
    if (get_number(keys, "line_step", rsf_axis, &line_step) && line_step != 0)
        axis->step = line_step;
}

// Axis 2 is the crossline (j) and axis 3 the inline (i), unless their labels say the opposite:
// TRUE.
static gboolean is_by_crosslines(GHashTable *keys)
{
    LithoAxisCounts counts;
    return litho_rsf_label_read(get(keys, "label", 2), &counts) == LITHO_LABEL_INLINE &&
           litho_rsf_label_read(get(keys, "label", 3), &counts) == LITHO_LABEL_XLINE;
}

static void tell_labels(LithoSurvey *survey, GHashTable *keys)
{
    for (int axis = 2; axis <= 3; axis++) {
        LithoAxisCounts counts = LITHO_COUNTS_LINES;
        const char *label = get(keys, "label", axis);
        const LithoRsfLabel kind = litho_rsf_label_read(label, &counts);
        if (survey->grid.axis[3 - axis].n == 1)
            continue;
        g_autofree char *plain = litho_text_plain(label ? label : "", 30);
        if (counts == LITHO_COUNTS_OFFSETS)
            litho_survey_note(survey,
                              "label%d is %s: this is prestack data; filters and zero-offset "
                              "migration take stacks",
                              axis, plain);
        else if (kind == LITHO_LABEL_UNKNOWN && !is_sample_label(label))
            litho_survey_note(survey, "label%d=%s is not known; the axis is called %s", axis, plain,
                              litho_axis_name(&survey->grid, 3 - axis));
    }
}

static void own_coordinates(GHashTable *keys, LithoGrid *g)
{
    static const char *const names[6] = {"x_origin",      "y_origin",     "x_inline_step",
                                         "y_inline_step", "x_xline_step", "y_xline_step"};
    double v[6];
    for (int k = 0; k < 6; k++)
        if (!get_number(keys, names[k], 0, &v[k]))
            return;
    memcpy(g->origin, v, 2 * sizeof *v);
    memcpy(g->inline_step, v + 2, 2 * sizeof *v);
    memcpy(g->xline_step, v + 4, 2 * sizeof *v);
    g->xy_source = LITHO_FROM_FILE;
}

static gboolean sizes(GHashTable *keys, const char *path, gint64 n[3], GError **error)
{
    gint64 rest = 1;
    double v;
    n[0] = n[1] = n[2] = 1;
    for (int axis = 1; axis <= 9; axis++) {
        const char *text = get(keys, "n", axis);
        if (!text)
            continue;
        if (!get_number(keys, "n", axis, &v) || v < 1 || v > 9e15 || v != rint(v))
            return litho_refuse(error, LITHO_ERROR_FORMAT, "%s: n%d=%s is no size", path, axis,
                                text);
        if (axis <= 3)
            n[3 - axis] = (gint64)v;
        else
            rest = v > 1 ? (gint64)v : rest;
    }
    if (!get(keys, "n", 1)) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT, _("%s has no n1: it is not RSF"), path);
        return FALSE;
    }
    if (rest == 1)
        return TRUE;
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED,
                _("%s has more than three dimensions; window it down first"), path);
    return FALSE;
}

static gboolean sample_type(GHashTable *keys, const char *path, LithoTraceFile *file,
                            GError **error)
{
    const char *format = get(keys, "data_format", 0);
    double esize = 4;
    get_number(keys, "esize", 0, &esize);
    if (!format)
        format = "native_float";
    const char *type = strchr(format, '_');
    file->sample_order = g_str_has_prefix(format, "xdr_") ? LITHO_ORDER_BIG : litho_order_native();
    if (type && strcmp(type, "_float") == 0 && esize == 4)
        file->format = LITHO_FORMAT_IEEE;
    else if (type && (strcmp(type, "_double") == 0 || strcmp(type, "_float") == 0) && esize == 8)
        file->format = LITHO_FORMAT_DOUBLE;
    else if (type && strcmp(type, "_int") == 0 && esize == 4)
        file->format = LITHO_FORMAT_INT32;
    else if (type && strcmp(type, "_short") == 0 && esize == 2)
        file->format = LITHO_FORMAT_INT16;
    if (file->format && !g_str_has_prefix(format, "ascii"))
        return TRUE;
    litho_refuse(error, LITHO_ERROR_UNSUPPORTED,
                 "%s holds data_format=\"%s\" with esize=%g; native and xdr samples of the types "
                 "float, double, int and short are read",
                 path, format, esize);
    return FALSE;
}

// The path as written. A header and its data that were moved together are told: the file of that
// name beside the header; no other one is ever taken for it.
static char *find_data(LithoSurvey *survey, const char *path, const char *in, gboolean strict,
                       GError **error)
{
    g_autofree char *folder = g_path_get_dirname(path), *base = g_path_get_basename(in);
    g_autofree char *written =
        g_path_is_absolute(in) ? g_strdup(in) : g_build_filename(folder, in, NULL);
    g_autofree char *beside = g_build_filename(folder, base, NULL);
    if (g_file_test(written, G_FILE_TEST_EXISTS))
        return g_steal_pointer(&written);
    if (!g_file_test(beside, G_FILE_TEST_IS_REGULAR)) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                    _("%s points to %s, which is not there"), path, in);
        return NULL;
    }
    return litho_survey_repair(survey, strict, error,
                               "%s is not there; the samples were read from %s beside the header",
                               in, base)
               ? g_steal_pointer(&beside)
               : NULL;
}

// Text of the header; *data = byte of inline samples or 0.
static char *read_text(LithoTraceFile *file, gint64 *data, GError **error)
{
    gint64 n = MIN(file->size, MAX_RSF_HEADER);
    char *text = g_malloc0(n + 1);
    if (!litho_file_read_all(file, text, n, 0, error)) {
        g_free(text);
        return NULL;
    }
    const char *mark = memmem(text, n, "\014\014\004", 3);
    *data = mark ? mark + 3 - text : 0;
    if (mark)
        text[mark - text] = 0;
    return text;
}

gboolean litho_rsf_open(LithoSurvey *survey, const char *path, const LithoOpenOptions *options,
                        GError **error)
{
    LithoTraceFile header, file = {.fd = -1};
    g_autofree char *text = NULL, *data = NULL;
    g_autoptr(GHashTable) keys = NULL;
    gint64 inline_data, n[3];
    if (!litho_file_open(&header, path, error) || !(text = read_text(&header, &inline_data, error)))
        goto fail;
    keys = parse_keys(text, strlen(text));
    const char *in = get(keys, "in", 0);
    if (!sizes(keys, path, n, error))
        goto fail;
    gboolean here =
        inline_data > 0 && (!in || strcmp(in, "stdin") == 0 || strcmp(in, "stdout") == 0);
    if (!here && !in) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                    _("%s names no data (in=) and holds none itself"), path);
        goto fail;
    }
    if (!here && !(data = find_data(survey, path, in, options->strict, error)))
        goto fail;
    if (!litho_file_open(&file, here ? path : data, error))
        goto fail;
    file.first = here ? inline_data : 0;
    const gboolean turned = is_by_crosslines(keys);
    const gint64 n_inline = n[turned ? LITHO_XLINE : LITHO_INLINE];
    n[LITHO_XLINE] = n[turned ? LITHO_INLINE : LITHO_XLINE];
    n[LITHO_INLINE] = n_inline;
    survey->grid = litho_grid_new(n[0], n[1], n[2]);
    sample_axis(survey, keys);
    line_axis(survey, keys, 2, turned ? LITHO_INLINE : LITHO_XLINE, 0);
    line_axis(survey, keys, 3, turned ? LITHO_XLINE : LITHO_INLINE, 1);
    own_coordinates(keys, &survey->grid);
    tell_order(survey, keys);
    tell_labels(survey, keys);
    if (!sample_type(keys, path, &file, error) ||
        !litho_regular_finish(survey, &file, n, options, error))
        goto fail;
    if (turned) {
        survey->inline_stride = 1;
        survey->xline_stride = n[LITHO_INLINE];
    }
    survey->format = g_strdup_printf("RSF, %s, %s", litho_text(litho_format_name(file.format)),
                                     litho_text(litho_order_name(file.sample_order)));
    survey->text = g_strdup(g_utf8_validate(text, -1, NULL) ? text : "");
    litho_file_close(&header);
    g_array_append_val(survey->files, file);
    return TRUE;
fail:
    litho_file_close(&header);
    litho_file_close(&file);
    return FALSE;
}
