// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/import/import_preview.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/axis_names.h"
#include "core/error.h"
#include "core/qc.h"
#include "core/io/sample_codec.h"
#include "core/text.h"
#include "render/raster.h"
#include "render/ticks.h"

enum { SCALE = 2 }; // device pixels per pixel of the picture

// --- the first traces ---------------------------------------------------------------------------

typedef struct First {
    LithoCube *line;
    GCancellable *enough; // the scan that would follow is not needed
} First;

static void on_first(LithoCube *line, gpointer data)
{
    First *first = data;
    first->line = litho_cube_ref(line);
    g_cancellable_cancel(first->enough);
}

// The first line as `options` decode it, without a scan of the file. NULL when it cannot be had.
static LithoCube *first_line(const char *const *paths, const LithoOpenOptions *options,
                             LithoRun *run)
{
    if (!litho_run_checkpoint(run))
        return NULL;
    First first = {.enough = g_cancellable_new()};
    LithoOpenOptions o = *options;
    LithoRun own = {.cancel = first.enough};
    o.on_first = on_first;
    o.first_data = &first;
    litho_survey_unref(litho_survey_open(paths, &o, &own, NULL));
    g_object_unref(first.enough);
    return first.line;
}

// RGB24 leaves the fourth byte open.
static GdkTexture *texture_of(cairo_surface_t *picture)
{
    int w = cairo_image_surface_get_width(picture), h = cairo_image_surface_get_height(picture);
    int stride = cairo_image_surface_get_stride(picture);
    guint8 *pixels = cairo_image_surface_get_data(picture);
    cairo_surface_flush(picture);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            pixels[y * stride + 4 * x + 3] = 255;
    g_autoptr(GBytes) bytes = g_bytes_new(pixels, (gsize)stride * h);
    return gdk_memory_texture_new(w, h, GDK_MEMORY_B8G8R8A8_PREMULTIPLIED, bytes, stride);
}

static LithoDecoding decode(const char *const *paths, const LithoOpenOptions *options, int format,
                            LithoRun *run)
{
    LithoOpenOptions o = *options;
    o.format = format;
    LithoDecoding d = {.format = format};
    g_autoptr(LithoCube) line = first_line(paths, &o, run);
    const char *name = format ? litho_text(litho_format_name(format)) : _("As stored");
    if (!line) {
        d.label = g_strdup_printf(_("%s: the traces cannot be read like this"), name);
        return d;
    }
    LithoRaster raster = {.input = line,
                          .grid = &line->grid,
                          .view = litho_slice_view(&line->grid, LITHO_INLINE, 0),
                          .look = litho_look_default(),
                          .show = LITHO_SHOW_INPUT,
                          .scale = SCALE};
    LithoStats stats;
    litho_qc_stats(line, run, &stats, NULL); // all zero when cancelled
    LithoRange range = litho_qc_range(line, &stats, LITHO_CLIP_AUTO);
    litho_look_set_range(&raster.look, &range);
    cairo_surface_t *picture =
        litho_raster_slice(&raster, LITHO_PREVIEW_WIDTH, LITHO_PREVIEW_HEIGHT, NULL);
    if (picture) {
        d.picture = texture_of(picture);
        cairo_surface_destroy(picture);
    }
    g_autofree char *amplitude = litho_format_amplitude(stats.p50);
    d.label = g_strdup_printf(_("%s, typical amplitude %s"), name, amplitude);
    return d;
}

// --- words --------------------------------------------------------------------------------------

static char *summarise(const LithoSurvey *survey)
{
    const LithoGrid *g = litho_survey_grid(survey);
    LithoSurveyCounts c = litho_survey_counts(survey);
    LithoAxisText how = litho_axis_text(g, LITHO_SAMPLE, LITHO_UNITS_MS);
    GString *text = g_string_new(NULL);
    g_autofree char *lines = litho_axis_counted(g, LITHO_INLINE);
    g_autofree char *traces = litho_axis_counted(g, LITHO_XLINE);
    litho_text_add(text, _("%s × %s × %" PRId64 " samples, %.4g %s\n"), lines, traces, g->axis[2].n,
                   g->axis[2].step * how.factor, how.unit);
    g_autofree char *all = g_strdup_printf(
        litho_text_plural("%" PRId64 " trace", "%" PRId64 " traces", c.traces), c.traces);
    g_autofree char *missing =
        g_strdup_printf(litho_text_plural("%" PRId64 " cell without a trace",
                                          "%" PRId64 " cells without a trace", c.missing),
                        c.missing);
    g_autofree char *duplicates = g_strdup_printf(
        litho_text_plural("%" PRId64 " duplicate", "%" PRId64 " duplicates", c.duplicates),
        c.duplicates);
    litho_text_add(text, _("%s, %s, %s; bins %.4g × %.4g m\n"), all, missing, duplicates,
                   litho_grid_spacing(g, LITHO_INLINE), litho_grid_spacing(g, LITHO_XLINE));
    g_string_append(text, litho_survey_format(survey));
    return g_string_free(text, FALSE);
}

static char *join_notes(const LithoSurvey *survey)
{
    const GPtrArray *notes = litho_survey_notes(survey);
    GString *text = g_string_new(NULL);
    for (guint k = 0; k < notes->len; k++) {
        g_autofree char *note = litho_text_begin(g_ptr_array_index(notes, k));
        g_string_append_printf(text, "%s• %s", k ? "\n" : "", note);
    }
    return g_string_free(text, FALSE);
}

// --- what it may be -----------------------------------------------------------------------------

static gboolean has_suffix(const char *path, const char *suffix)
{
    gsize n = strlen(path), m = strlen(suffix);
    return n > m && g_ascii_strcasecmp(path + n - m, suffix) == 0;
}

LithoImportKind litho_import_kind(const char *path)
{
    if (has_suffix(path, ".bin") || has_suffix(path, ".raw"))
        return LITHO_IMPORT_RAW;
    return has_suffix(path, ".npy") || has_suffix(path, ".rsf") ? LITHO_IMPORT_ARRAY
                                                                : LITHO_IMPORT_HEADED;
}

gboolean litho_import_shape_from_name(const char *path, gint64 samples, gint64 shape[3])
{
    g_autofree char *base = g_path_get_basename(path);
    for (const char *p = base; *p; p++) {
        long n[3];
        if (!g_ascii_isdigit(*p) || (p > base && g_ascii_isdigit(p[-1])) ||
            sscanf(p, "%9ld%*1[xX_,-]%9ld%*1[xX_,-]%9ld", &n[0], &n[1], &n[2]) != 3 ||
            (double)n[0] * n[1] * n[2] != (double)samples || samples < 1)
            continue;
        gboolean samples_first = n[0] > n[2]; // most traces are longer than lines are wide
        for (int a = 0; a < 3; a++)
            shape[a] = n[samples_first ? 2 - a : a];
        return TRUE;
    }
    return FALSE;
}

// --- all of it ----------------------------------------------------------------------------------

// Seismic Unix has one sample format: there is nothing to choose.
static gboolean is_su(const LithoImportPreview *p, const char *path)
{
    return p->survey ? g_str_has_prefix(litho_survey_format(p->survey), "SU")
                     : has_suffix(path, ".su");
}

static gboolean is_float(int format)
{
    return format == LITHO_FORMAT_IBM || format == LITHO_FORMAT_IEEE;
}

static void decode_all(LithoImportPreview *p, const char *const *paths,
                       const LithoOpenOptions *options, LithoRun *run)
{
    // A file that cannot be opened is shown in both floating-point formats: that is the usual
    // reason.
    gboolean headed = litho_import_kind(paths[0]) == LITHO_IMPORT_HEADED;
    int format = options->format      ? options->format
                 : p->survey          ? litho_survey_sample_format(p->survey)
                 : is_su(p, paths[0]) ? LITHO_FORMAT_IEEE
                 : headed             ? LITHO_FORMAT_IBM
                                      : 0;
    p->decoding[p->n++] = decode(paths, options, format, run);
    if (headed && is_float(format) && !is_su(p, paths[0]))
        p->decoding[p->n++] = decode(
            paths, options, format == LITHO_FORMAT_IBM ? LITHO_FORMAT_IEEE : LITHO_FORMAT_IBM, run);
}

LithoImportPreview *litho_import_preview_new(const char *const *paths,
                                             const LithoOpenOptions *options, LithoRun *run,
                                             GError **error)
{
    LithoImportPreview *p = g_new0(LithoImportPreview, 1);
    g_autoptr(GError) problem = NULL;
    p->survey = litho_survey_open(paths, options, run, &problem);
    if (p->survey) {
        p->summary = summarise(p->survey);
        p->notes = join_notes(p->survey);
    } else {
        p->problem = g_strdup(problem->message);
    }
    decode_all(p, paths, options, run);
    if (litho_run_checkpoint(run))
        return p;
    litho_import_preview_free(p);
    litho_run_stopped(error);
    return NULL;
}

void litho_import_preview_free(LithoImportPreview *p)
{
    if (!p)
        return;
    litho_survey_unref(p->survey);
    g_free(p->problem);
    g_free(p->summary);
    g_free(p->notes);
    for (guint k = 0; k < p->n; k++) {
        g_clear_object(&p->decoding[k].picture);
        g_free(p->decoding[k].label);
    }
    g_free(p);
}
