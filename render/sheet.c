// SPDX-License-Identifier: GPL-3.0-or-later
#include "render/sheet.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <math.h>

#include "core/error.h"
#include "core/io/output.h"
#include "core/text.h"
#include "render/axes.h"
#include "render/picture.h"
#include "render/raster.h"

enum { MARGIN = 16, GAP = 14, LINE = 15, HEAD = 30 };

LithoSheet *litho_sheet_new(guint columns, guint rows)
{
    LithoSheet *sheet = g_new0(LithoSheet, 1);
    sheet->columns = columns;
    sheet->rows = rows;
    sheet->cell_width = 260;
    sheet->cell_height = 200;
    sheet->cells = g_new0(LithoSheetCell, (gsize)columns * rows);
    return sheet;
}

void litho_sheet_free(LithoSheet *sheet)
{
    if (!sheet)
        return;
    for (guint k = 0; k < sheet->columns * sheet->rows; k++) {
        g_clear_pointer(&sheet->cells[k].picture, cairo_surface_destroy);
        g_free(sheet->cells[k].axes);
        for (guint n = 0; n < G_N_ELEMENTS(sheet->cells[k].lines); n++)
            g_free(sheet->cells[k].lines[n]);
    }
    g_free(sheet->cells);
    g_free(sheet->title);
    g_free(sheet->caption);
    g_strfreev(sheet->notes);
    g_free(sheet);
}

cairo_surface_t *litho_sheet_slice(const LithoSheet *sheet, const LithoCube *cube, int axis,
                                   gint64 index, const LithoLook *look, GError **error)
{
    LithoRaster raster = {.output = cube,
                          .grid = &cube->grid,
                          .view = litho_slice_view(&cube->grid, axis, index),
                          .look = *look,
                          .show = LITHO_SHOW_OUTPUT,
                          .scale = 1};
    raster.view.keep_aspect = FALSE;
    return litho_raster_slice(&raster, sheet->cell_width, sheet->cell_height, error);
}

// --- drawing ------------------------------------------------------------------------------------

static double notes_height(const LithoSheet *sheet)
{
    return sheet->notes ? LINE * (g_strv_length(sheet->notes) + 1.0) : 0;
}

static guint n_lines(const LithoSheet *sheet)
{
    guint most = 0;
    for (guint k = 0; k < sheet->columns * sheet->rows; k++)
        for (guint n = 0; n < G_N_ELEMENTS(sheet->cells[k].lines); n++)
            if (sheet->cells[k].lines[n])
                most = MAX(most, n + 1);
    return most;
}

// A picture with its axes and lines, and the gap to the next one.
static double column_width(const LithoSheet *sheet)
{
    const double axes = sheet->with_axes ? LITHO_SHEET_LEFT + LITHO_SHEET_RIGHT : 0;
    return sheet->cell_width + axes + GAP;
}

static double row_height(const LithoSheet *sheet)
{
    return sheet->cell_height + (sheet->with_axes ? LITHO_SHEET_TOP : 0) + 6 +
           n_lines(sheet) * LINE + GAP;
}

void litho_sheet_size(const LithoSheet *sheet, double *width, double *height)
{
    *width = 2 * MARGIN + sheet->columns * column_width(sheet) - GAP;
    *height = 2 * MARGIN + sheet->rows * row_height(sheet) - GAP + (sheet->title ? HEAD : 0) +
              (sheet->caption ? HEAD : 0) + notes_height(sheet);
}

// Says why there is no picture, in its place: a sentence is longer than one line below it.
static void draw_reason(const LithoSheetCell *cell, cairo_t *cr, LithoRect frame)
{
    static const LithoAxesStyle style = {0};
    enum { INSIDE = 8 };
    const double most = MAX((frame.h - 2 * INSIDE) / LINE, 1);
    g_auto(GStrv) lines =
        litho_axes_wrap_caption(cr, &style, cell->lines[1], frame.w - 2 * INSIDE, (guint)most);
    for (guint n = 0; lines[n]; n++) {
        const LithoRect line = {frame.x + INSIDE, frame.y + INSIDE + n * LINE, frame.w - 2 * INSIDE,
                                LINE};
        litho_axes_draw_caption(cr, &style, line, lines[n]);
    }
}

static void draw_cell(const LithoSheet *sheet, const LithoSheetCell *cell, cairo_t *cr, double x,
                      double y)
{
    static const LithoAxesStyle style = {0};
    const double w = sheet->cell_width, h = sheet->cell_height;
    if (!cell->picture && !cell->lines[0])
        return;
    if (sheet->with_axes) {
        x += LITHO_SHEET_LEFT;
        y += LITHO_SHEET_TOP;
    }
    if (cell->picture) {
        cairo_set_source_surface(cr, cell->picture, x, y);
        cairo_paint(cr);
    }
    cairo_set_source_rgb(cr, cell->marked ? 0.0 : 0.6, cell->marked ? 0.35 : 0.6,
                         cell->marked ? 0.75 : 0.6);
    cairo_set_line_width(cr, cell->marked ? 4 : 1);
    cairo_rectangle(cr, x, y, w, h);
    cairo_stroke(cr);
    if (cell->axes)
        litho_sheet_draw_axes(cr, cell->axes, (LithoRect){x, y, w, h});
    const gboolean refused = !cell->picture && cell->lines[1];
    const double wide = w + (sheet->with_axes ? LITHO_SHEET_RIGHT : 0); // below the colour bar, too
    if (refused)
        draw_reason(cell, cr, (LithoRect){x, y, w, h});
    for (guint n = 0; n < G_N_ELEMENTS(cell->lines); n++) {
        const LithoRect line = {x, y + h + 6 + n * LINE, wide, LINE};
        if (cell->lines[n] && n == 0)
            litho_axes_draw_title(cr, &style, line, cell->lines[n],
                                  cell->marked ? _("\342\227\200 best") : NULL);
        else if (cell->lines[n] && !refused)
            litho_axes_draw_caption(cr, &style, line, cell->lines[n]);
    }
}

void litho_sheet_draw(const LithoSheet *sheet, cairo_t *cr)
{
    static const LithoAxesStyle large = {.font_size = 14}, small = {0};
    double width, height, y = MARGIN;
    litho_sheet_size(sheet, &width, &height);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_rectangle(cr, 0, 0, width, height);
    cairo_fill(cr);
    if (sheet->title) {
        const LithoRect line = {MARGIN, y, width - 2 * MARGIN, 20};
        litho_axes_draw_title(cr, &large, line, sheet->title, NULL);
        y += HEAD;
    }
    for (guint k = 0; k < sheet->columns * sheet->rows; k++) {
        draw_cell(sheet, &sheet->cells[k], cr, MARGIN + k % sheet->columns * column_width(sheet),
                  y + k / sheet->columns * row_height(sheet));
    }
    const double notes = height - MARGIN - (sheet->caption ? HEAD : 0) - notes_height(sheet) + LINE;
    for (guint n = 0; sheet->notes && sheet->notes[n]; n++) {
        const LithoRect line = {MARGIN, notes + n * LINE, width - 2 * MARGIN, LINE};
        litho_axes_draw_caption(cr, &small, line, sheet->notes[n]);
    }
    if (sheet->caption) {
        const LithoRect line = {MARGIN, height - MARGIN - 18, width - 2 * MARGIN, 18};
        litho_axes_draw_caption(cr, &small, line, sheet->caption);
    }
}

// --- files --------------------------------------------------------------------------------------

static cairo_status_t append(void *bytes, const unsigned char *data, unsigned int n)
{
    g_byte_array_append(bytes, data, n);
    return CAIRO_STATUS_SUCCESS;
}

gboolean litho_sheet_check_name(const char *path, GError **error)
{
    return g_str_has_suffix(path, ".pdf") || g_str_has_suffix(path, ".svg") ||
           g_str_has_suffix(path, ".png") ||
           litho_refuse(error, LITHO_ERROR_PARAMETER, "%s: .png, .pdf or .svg is needed", path);
}

gboolean litho_sheet_save(const LithoSheet *sheet, const char *path, gboolean force, GError **error)
{
    double width, height;
    litho_sheet_size(sheet, &width, &height);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    const gboolean pdf = g_str_has_suffix(path, ".pdf"), svg = g_str_has_suffix(path, ".svg");
    if (!litho_sheet_check_name(path, error))
        return FALSE;
    cairo_surface_t *surface =
        pdf   ? cairo_pdf_surface_create_for_stream(append, bytes, width, height)
        : svg ? cairo_svg_surface_create_for_stream(append, bytes, width, height)
              : cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(width), (int)ceil(height));
    cairo_t *cr = cairo_create(surface);
    litho_sheet_draw(sheet, cr);
    cairo_destroy(cr);
    if (!pdf && !svg)
        cairo_surface_write_to_png_stream(surface, append, bytes);
    cairo_surface_finish(surface);
    const cairo_status_t status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    if (status != CAIRO_STATUS_SUCCESS && status != CAIRO_STATUS_SURFACE_FINISHED)
        return litho_refuse(error, LITHO_ERROR_MEMORY, "%s cannot be drawn: %s", path,
                            cairo_status_to_string(status));
    return litho_output_save(path, (const char *)bytes->data, bytes->len,
                             force ? LITHO_REPLACE_ANY : LITHO_REPLACE_NONE, error);
}
