// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/io/rsf_labels.h"
#include "core/io/writer_private.h"
#include "core/text.h"

// Heads of files without trace headers: NumPy's dictionary, RSF's key=value text, nothing for raw.

static const char *npy_type(const LithoWriter *w)
{
    gboolean big = w->sample_order == LITHO_ORDER_BIG;
    switch (w->format) {
    case LITHO_FORMAT_DOUBLE:
        return big ? ">f8" : "<f8";
    case LITHO_FORMAT_INT16:
        return big ? ">i2" : "<i2";
    default:
        return big ? ">f4" : "<f4";
    }
}

static GByteArray *npy_head(const LithoWriter *w)
{
    const LithoAxis *a = w->grid.axis;
    GString *text = g_string_new(NULL);
    g_string_printf(text,
                    "{'descr': '%s', 'fortran_order': False, 'shape': (%" G_GINT64_FORMAT
                    ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT "), }",
                    npy_type(w), a[0].n, a[1].n, a[2].n);
    // Magic, version and length are 10 bytes; the samples start at a multiple of 64.
    while ((10 + text->len + 1) % 64 != 0)
        g_string_append_c(text, ' ');
    g_string_append_c(text, '\n');
    guint8 lead[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    litho_put_16(lead + 8, LITHO_ORDER_LITTLE, (guint16)text->len);
    GByteArray *head = g_byte_array_new();
    g_byte_array_append(head, lead, sizeof lead);
    g_byte_array_append(head, (const guint8 *)text->str, text->len);
    g_string_free(text, TRUE);
    return head;
}

// Quotation mark around the name of the samples' file in the header; '\0' = the name holds both
// kinds.
static char quote_for(const char *name)
{
    return !strchr(name, '"') ? '"' : !strchr(name, '\'') ? '\'' : '\0';
}

GByteArray *litho_regular_head(LithoWriter *w, GError **error)
{
    w->header_bytes = 0;
    if (w->kind == LITHO_FILE_RSF && !quote_for(w->data_path)) {
        litho_refuse(error, LITHO_ERROR_PARAMETER,
                     "%s: RSF cannot name a file with both kinds of quotation marks; choose "
                     "another name",
                     w->path);
        return NULL;
    }
    if (w->kind == LITHO_FILE_NPY)
        return npy_head(w);
    if (w->kind == LITHO_FILE_RSF && w->format != LITHO_FORMAT_IEEE) {
        litho_refuse(error, LITHO_ERROR_PARAMETER, "RSF is written as float32 only, not as %s",
                     litho_text(litho_format_name(w->format)));
        return NULL;
    }
    return g_byte_array_new();
}

static void add_number(GString *text, const char *key, double value)
{
    char digits[G_ASCII_DTOSTR_BUF_SIZE];
    // 15 digits: 0.004 stays 0.004.
    g_string_append_printf(text, "\t%s=%s\n", key,
                           g_ascii_formatd(digits, sizeof digits, "%.15g", value));
}

static void add_indexed(GString *text, const char *name, int rsf_axis, double value)
{
    char key[24];
    g_snprintf(key, sizeof key, "%s%d", name, rsf_axis);
    add_number(text, key, value);
}

// One axis of traces: distances, or the offsets themselves, which are its numbers.
static void add_traces(GString *text, const LithoGrid *g, int axis, gboolean stated)
{
    const LithoAxis *a = &g->axis[axis];
    const int rsf = 3 - axis;
    const gboolean offsets = a->counts == LITHO_COUNTS_OFFSETS;
    const char *unit = offsets ? a->unit : stated ? "m" : "";
    add_indexed(text, "o", rsf, offsets ? a->first : 0);
    add_indexed(text, "d", rsf, offsets ? a->step : litho_grid_spacing(g, axis));
    g_string_append_printf(text, "\tlabel%d=\"%s\"", rsf, litho_rsf_label(g, axis));
    if (*unit)
        g_string_append_printf(text, " unit%d=\"%s\"", rsf, unit);
    g_string_append_c(text, '\n');
    if (offsets)
        return;
    add_indexed(text, "line_first", rsf, a->first);
    add_indexed(text, "line_step", rsf, a->step);
}

// Distances on axes 2 and 3, as Madagascar's programs want them, without a unit where nobody has
// stated them; line numbers and map coordinates in keys of our own, which they carry along.
char *litho_rsf_text(const LithoWriter *w)
{
    static const char *const xy[6] = {"x_origin",      "y_origin",     "x_inline_step",
                                      "y_inline_step", "x_xline_step", "y_xline_step"};
    const LithoGrid *g = &w->grid;
    const gboolean stated = g->has_xy && g->xy_source != LITHO_FROM_ASSUMED;
    GString *text = g_string_new("# written by Lithoscope\n");
    for (const char *p = w->note; p && *p;) { // no line of the note may become a key
        gsize n = strcspn(p, "\n");
        g_string_append(text, "# ");
        for (gsize k = 0; k < n; k++)
            g_string_append_c(text, p[k] == '=' ? ':' : p[k]);
        g_string_append_c(text, '\n');
        p += n + (p[n] == '\n');
    }
    for (int k = 0; k < 3; k++)
        g_string_append_printf(text, "\tn%d=%" G_GINT64_FORMAT "\n", k + 1, g->axis[2 - k].n);
    add_number(text, "o1", g->axis[2].first);
    add_number(text, "d1", g->axis[2].step);
    g_string_append_printf(text, "\tlabel1=\"%s\" unit1=\"%s\"\n", g->is_depth ? "Depth" : "Time",
                           g->is_depth ? "m" : "s");
    for (int axis = 1; axis >= 0; axis--)
        add_traces(text, g, axis, stated);
    const double v[6] = {g->origin[0],      g->origin[1],     g->inline_step[0],
                         g->inline_step[1], g->xline_step[0], g->xline_step[1]};
    for (int k = 0; k < 6 && litho_grid_is_placed(g); k++)
        add_number(text, xy[k], v[k]);
    g_autofree char *base = g_path_get_basename(w->data_path);
    const char *prefix = w->sample_order == LITHO_ORDER_BIG ? "xdr" : "native";
    const char quote = quote_for(base);
    g_string_append_printf(text, "\tesize=4 data_format=\"%s_float\"\n\tin=%c%s%c\n", prefix, quote,
                           base, quote);
    return g_string_free(text, FALSE);
}

// --- what is lost -----------------------------------------------------------------------------

static gboolean differs(double a, double b)
{
    return fabs(a - b) > 1e-6 * fabs(b);
}

static void add_option(GString *options, const char *format, double value)
{
    g_string_append_c(options, ' ');
    litho_text_add(options, format, value);
}

// Options without which the file is read with other axes.
static void add_axes(GString *options, const LithoGrid *g)
{
    static const char *const spacing[2] = {"--dx %.6g", "--dy %.6g"};
    const LithoAxis *t = &g->axis[LITHO_SAMPLE];
    if (g->is_depth)
        g_string_append(options, " --depth");
    if (differs(t->step, g->is_depth ? 4 : 0.004))
        add_option(options, g->is_depth ? "--dt %.6g" : "--dt %.6gms",
                   g->is_depth ? t->step : 1e3 * t->step);
    for (int k = 0; k < 2; k++)
        // Spacings worked out from rounded coordinates are a thousandth off.
        if (g->axis[k].n > 1 && g->has_xy && fabs(litho_grid_spacing(g, k) - 25) > 0.025)
            add_option(options, spacing[k], litho_grid_spacing(g, k));
}

char *litho_regular_note(const LithoWriter *w)
{
    const LithoGrid *g = &w->grid;
    g_autoptr(GString) options = g_string_new(NULL);
    if (w->kind != LITHO_FILE_NPY && w->kind != LITHO_FILE_RAW)
        return NULL;
    if (w->kind == LITHO_FILE_RAW)
        g_string_append_printf(options, " --shape %" PRId64 ",%" PRId64 ",%" PRId64 "%s%s",
                               g->axis[0].n, g->axis[1].n, g->axis[2].n,
                               w->format == LITHO_FORMAT_DOUBLE  ? " --dtype float64"
                               : w->format == LITHO_FORMAT_INT16 ? " --dtype int16"
                                                                 : "",
                               w->sample_order == LITHO_ORDER_BIG ? " --endian big" : "");
    add_axes(options, g);
    const double start = g->axis[LITHO_SAMPLE].first;
    g_autofree char *first =
        start == 0 ? g_strdup("")
                   : litho_text_printf(g->is_depth ? _(", and depth starts at 0 (here %g m)")
                                                   : _(", and time starts at 0 (here %g s)"),
                                       start);
    if (options->len == 0 && start == 0)
        return NULL;
    const char *lost = w->kind == LITHO_FILE_RAW ? _("a raw file states no sizes and no axes")
                       : g->is_depth ? _("a NumPy file does not state that its samples are depths")
                                     : _("a NumPy file states no axes");
    return options->len == 0 ? g_strdup_printf("%s%s", lost, first)
                             : g_strdup_printf(_("%s%s; give --%s when it is read"), lost, first,
                                               options->str + 3);
}
