// SPDX-License-Identifier: GPL-3.0-or-later
#include <string.h>

#include "core/error.h"
#include "core/io/npy.h"
#include "core/io/survey_private.h"
#include "core/text.h"

// NumPy's .npy and raw samples: a regular box of samples behind a small header or none.

static gboolean type_code(const char *type, int *format, LithoOrder *order)
{
    static const struct {
        const char *name;
        int format;
    } types[] = {
        {"f4", LITHO_FORMAT_IEEE},       {"f8", LITHO_FORMAT_DOUBLE},
        {"i2", LITHO_FORMAT_INT16},      {"i4", LITHO_FORMAT_INT32},
        {"i1", LITHO_FORMAT_INT8},       {"u1", LITHO_FORMAT_UINT8},
        {"u2", LITHO_FORMAT_UINT16},     {"u4", LITHO_FORMAT_UINT32},
        {"float32", LITHO_FORMAT_IEEE},  {"float64", LITHO_FORMAT_DOUBLE},
        {"int16", LITHO_FORMAT_INT16},   {"int32", LITHO_FORMAT_INT32},
        {"int8", LITHO_FORMAT_INT8},     {"uint8", LITHO_FORMAT_UINT8},
        {"uint16", LITHO_FORMAT_UINT16}, {"uint32", LITHO_FORMAT_UINT32},
        {"ibm", LITHO_FORMAT_IBM},
    };
    *order = litho_order_native();
    if (*type == '>')
        *order = LITHO_ORDER_BIG;
    if (*type == '<')
        *order = LITHO_ORDER_LITTLE;
    if (strchr("<>|=", *type) && *type)
        type++;
    for (guint k = 0; k < G_N_ELEMENTS(types); k++)
        if (strcmp(type, types[k].name) == 0) {
            *format = types[k].format;
            return TRUE;
        }
    return FALSE;
}

gboolean litho_regular_finish(LithoSurvey *survey, LithoTraceFile *file, const gint64 n[3],
                              const LithoOpenOptions *options, GError **error)
{
    LithoGrid *g = &survey->grid;
    LithoGrid fresh = litho_grid_new(n[0], n[1], n[2]);
    if (g->axis[2].step == 0) // the format gave no axes of its own
        *g = fresh;
    for (int k = 0; k < 3; k++)
        g->axis[k].n = n[k];
    if (!litho_grid_check(g, error))
        return FALSE;
    int bytes = litho_format_bytes(file->format);
    gint64 samples = litho_grid_samples(g); // checked above: no overflow, even times 8
    if (samples > (file->size - file->first) / bytes) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                    _("%s holds %" PRId64 " %s samples, %" PRId64 " x %" PRId64 " x %" PRId64
                      " need %" PRId64),
                    file->path, (file->size - file->first) / bytes,
                    litho_text(litho_format_name(file->format)), n[0], n[1], n[2], samples);
        return FALSE;
    }
    if (samples * bytes < file->size - file->first &&
        !litho_survey_repair(survey, options->strict, error,
                             "%" PRId64 " bytes after the last sample were ignored",
                             file->size - file->first - samples * bytes))
        return FALSE;
    file->ns = n[2];
    file->stride = n[2] * bytes;
    file->traces = survey->traces = n[0] * n[1];
    survey->inline_stride = n[1];
    survey->xline_stride = 1;
    survey->counts.offsets = 1;
    survey->state = g_try_malloc0(survey->traces);
    if (!survey->state) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY,
                    _("no memory for a mask of %" PRId64 " traces"), survey->traces);
        return FALSE;
    }
    LithoAxis *t = &g->axis[2];
    if (options->domain) {
        g->is_depth = options->domain == 2;
        g_strlcpy(t->unit, g->is_depth ? "m" : "s", sizeof t->unit);
    }
    if (options->dt > 0) {
        t->step = options->dt;
        t->source = LITHO_FROM_USER;
        g_strlcpy(t->evidence, _("given"), sizeof t->evidence);
    } else if (t->source == LITHO_FROM_ASSUMED && g->is_depth) {
        t->step = 4;
        litho_survey_note(survey, "the file states no sample interval; %s is assumed, give --dt",
                          "4 m");
    } else if (t->source == LITHO_FROM_ASSUMED) {
        litho_survey_note(survey, "the file states no sample interval; 4 ms is assumed, give --dt");
    }
    litho_survey_judge_interval(survey);
    litho_grid_apply_spacing(survey, options);
    return TRUE;
}

// --- .npy -------------------------------------------------------------------------------------

enum { MAX_NPY_HEADER = 65536, LONGEST_SHAPE = 60 };

static char *read_header(LithoTraceFile *file, GError **error)
{
    guint8 lead[12];
    gint64 got = litho_file_read(file, lead, sizeof lead, 0, error);
    if (got < 0)
        return NULL;
    int version = got == sizeof lead && memcmp(lead, "\x93NUMPY", 6) == 0 ? lead[6] : 0;
    if (version < 1 || version > 3) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT, _("%s is not a NumPy file"),
                    file->path);
        return NULL;
    }
    gint64 start = version == 1 ? 10 : 12;
    gint64 length = version == 1 ? litho_get_u16(lead + 8, LITHO_ORDER_LITTLE)
                                 : (guint32)litho_get_i32(lead + 8, LITHO_ORDER_LITTLE);
    if (length > MAX_NPY_HEADER || start + length > file->size) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                    _("%s has a NumPy header of %" PRId64 " bytes, longer than the file or "
                      "than any real one"),
                    file->path, length);
        return NULL;
    }
    char *header = g_malloc0(length + 1);
    file->first = start + length;
    if (!litho_file_read_all(file, header, length, start, error))
        g_clear_pointer(&header, g_free);
    return header;
}

// The value after 'key': in the header's Python dictionary.
static const char *value_of(const char *header, const char *key)
{
    g_autofree char *quoted = g_strdup_printf("'%s'", key);
    const char *p = strstr(header, quoted);
    if (!p)
        return "";
    p += strlen(quoted);
    while (*p == ' ' || *p == ':')
        p++;
    return p;
}

// (a, b, c) with `axes` = up to three numbers, missing leading ones = 1. FALSE for more or none.
static gboolean parse_shape(const char *text, gint64 n[3], int *axes)
{
    gint64 found[3];
    int count = 0;
    if (*text != '(')
        return FALSE;
    for (text++; *text && *text != ')';) {
        if (!g_ascii_isdigit(*text)) {
            if (!strchr(", L", *text))
                return FALSE;
            text++;
            continue;
        }
        char *end;
        guint64 value = g_ascii_strtoull(text, &end, 10);
        if (count == 3 || value < 1 || value > G_MAXINT64 / 16)
            return FALSE;
        found[count++] = (gint64)value;
        text = end;
    }
    n[0] = n[1] = n[2] = 1;
    for (int k = 0; k < count; k++)
        n[3 - count + k] = found[k];
    *axes = count;
    return count > 0;
}

// The survey takes over `file`, whose format is known now. FALSE: it is still the caller's.
static gboolean take(LithoSurvey *survey, LithoTraceFile *file, const char *kind, const gint64 n[3],
                     const LithoOpenOptions *options, GError **error)
{
    if (!litho_regular_finish(survey, file, n, options, error))
        return FALSE;
    survey->format =
        g_strdup_printf("%s, %s, %s", kind, litho_text(litho_format_name(file->format)),
                        litho_text(litho_order_name(file->sample_order)));
    g_array_append_val(survey->files, *file);
    return TRUE;
}

// Element type and shape from the header; what follows it begins at file->first.
static gboolean read_kind(LithoTraceFile *file, gint64 n[3], int *axes, GError **error)
{
    g_autofree char *header = read_header(file, error);
    char type[16] = "";
    if (!header)
        return FALSE;
    const char *descr = value_of(header, "descr");
    if (*descr == '\'')
        for (guint k = 0; k < sizeof type - 1 && descr[1 + k] && descr[1 + k] != '\''; k++)
            type[k] = descr[1 + k];
    if (!type_code(type, &file->format, &file->sample_order))
        return litho_refuse(error, LITHO_ERROR_UNSUPPORTED,
                            "%s holds NumPy type '%s'; float32, float64 and integers of 8, 16 "
                            "and 32 bits are read",
                            file->path, type);
    const char *shape = value_of(header, "shape");
    if (!parse_shape(shape, n, axes)) {
        const gsize length = strcspn(shape, ")");
        g_autofree char *own = g_strndup(shape, length + (shape[length] == ')'));
        g_autofree char *shown = litho_text_plain(own, LONGEST_SHAPE);
        return litho_refuse(error, LITHO_ERROR_GEOMETRY,
                            "%s has the shape %s; 1 to 3 dimensions with samples in them are "
                            "needed, (inline, crossline, time)",
                            file->path, shown);
    }
    gboolean flat = (n[0] == 1) + (n[1] == 1) + (n[2] == 1) >= 2;
    if (g_str_has_prefix(value_of(header, "fortran_order"), "True") && !flat)
        return litho_refuse(error, LITHO_ERROR_UNSUPPORTED,
                            "%s is in Fortran order; save numpy.ascontiguousarray(array)",
                            file->path);
    return TRUE;
}

gboolean litho_npy_open(LithoSurvey *survey, const char *path, const LithoOpenOptions *options,
                        GError **error)
{
    LithoTraceFile file;
    gint64 n[3];
    int axes;
    if (litho_file_open(&file, path, error) && read_kind(&file, n, &axes, error) &&
        take(survey, &file, "NumPy", n, options, error))
        return TRUE;
    litho_file_close(&file);
    return FALSE;
}

// --- arrays that are no cubes -------------------------------------------------------------------

// A number that float32 would round; `single` is its value as one.
static double exact(const LithoTraceFile *file, const guint8 *raw, float single)
{
    switch (file->format) {
    case LITHO_FORMAT_DOUBLE:
        return litho_get_f64(raw, file->sample_order);
    case LITHO_FORMAT_INT32:
        return litho_get_i32(raw, file->sample_order);
    case LITHO_FORMAT_UINT32:
        return (guint32)litho_get_i32(raw, file->sample_order);
    default:
        return single;
    }
}

// The numbers behind the header, a part at a time.
static gboolean read_doubles(const LithoTraceFile *file, double *out, gint64 count, GError **error)
{
    enum { PART = 8192 };
    guint8 raw[PART * 8];
    float single[PART];
    const int bytes = litho_format_bytes(file->format);
    for (gint64 at = 0; at < count; at += PART) {
        const gint64 n = MIN(count - at, PART);
        if (!litho_file_read_all(file, raw, n * bytes, file->first + at * bytes, error))
            return FALSE;
        litho_decode(raw, file->format, file->sample_order, single, n);
        for (gint64 k = 0; k < n; k++)
            out[at + k] = exact(file, raw + bytes * k, single[k]);
    }
    return TRUE;
}

// Counts the array's numbers; 0 with a sentence when they are too many or not all there.
static gint64 count_array(const LithoTraceFile *file, const gint64 n[3], gint64 most,
                          GError **error)
{
    const gint64 held = (file->size - file->first) / litho_format_bytes(file->format);
    gint64 count = 1;
    for (int k = 0; k < 3; k++) {
        if (n[k] > most / count) { // before the product, which could wrap
            litho_refuse(error, LITHO_ERROR_GEOMETRY,
                         "%s says it holds more than %" PRId64
                         " numbers, the most that are read of a file of this kind",
                         file->path, most);
            return 0;
        }
        count *= n[k];
    }
    if (count <= held)
        return count;
    litho_refuse(error, LITHO_ERROR_FORMAT,
                 "%s says it holds %" PRId64 " numbers and ends after %" PRId64, file->path, count,
                 held);
    return 0;
}

static double *read_array(LithoTraceFile *file, int axes, gint64 most, gint64 *shape,
                          GError **error)
{
    gint64 n[3];
    int found;
    if (!read_kind(file, n, &found, error))
        return NULL;
    if (found != axes) {
        litho_refuse(error, LITHO_ERROR_GEOMETRY,
                     "the number of axes of the array in %s is %d; %d are needed", file->path,
                     found, axes);
        return NULL;
    }
    const gint64 count = count_array(file, n, most, error);
    double *out = count > 0 ? g_try_new(double, count) : NULL;
    if (count > 0 && !out)
        litho_refuse(error, LITHO_ERROR_MEMORY, "no memory for the %" PRId64 " numbers of %s",
                     count, file->path);
    if (out && !read_doubles(file, out, count, error))
        g_clear_pointer(&out, g_free);
    memcpy(shape, n + 3 - axes, axes * sizeof *n);
    return out;
}

double *litho_npy_read(const char *path, int axes, gint64 most, gint64 *shape, GError **error)
{
    LithoTraceFile file;
    double *out =
        litho_file_open(&file, path, error) ? read_array(&file, axes, most, shape, error) : NULL;
    litho_file_close(&file);
    return out;
}

// --- raw --------------------------------------------------------------------------------------

gboolean litho_raw_open(LithoSurvey *survey, const char *path, const LithoOpenOptions *options,
                        GError **error)
{
    LithoTraceFile file;
    if (!litho_file_open(&file, path, error))
        goto fail;
    const char *type = options->dtype ? options->dtype : "float32";
    if (!type_code(type, &file.format, &file.sample_order)) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                    _("--dtype %s is not known; float32, float64, ibm, int8, int16, int32, uint8, "
                      "uint16 and uint32 are"),
                    type);
        goto fail;
    }
    if (options->endian)
        file.sample_order = options->endian == 1 ? LITHO_ORDER_BIG : LITHO_ORDER_LITTLE;
    if (options->shape[0] < 1 || options->shape[1] < 1 || options->shape[2] < 1) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                    _("%s holds %" PRId64 " samples of %s and nothing that says how they are "
                      "arranged; give --shape N1,N2,N3 (inlines, crosslines, samples)"),
                    path, file.size / litho_format_bytes(file.format), type);
        goto fail;
    }
    if (take(survey, &file, "raw", options->shape, options, error))
        return TRUE;
fail:
    litho_file_close(&file);
    return FALSE;
}
