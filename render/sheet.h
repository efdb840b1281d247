// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <cairo.h>
#include "core/cube.h"
#include "render/view.h"

// Pictures of slices side by side with lines of text below each: contact sheets and reports.

// Room for axes around a picture, in logical pixels.
enum { LITHO_SHEET_LEFT = 52, LITHO_SHEET_TOP = 34, LITHO_SHEET_RIGHT = 62 };

typedef struct LithoSheetAxis {
    double from, to; // at the picture's edges: left and right, top and bottom
    gboolean whole;  // line numbers
    char title[48];  // "crossline", "time, s"
} LithoSheetAxis;

// Ticks on top and at the left, a colour bar at the right.
typedef struct LithoSheetAxes {
    LithoSheetAxis across, down;
    LithoLook look;   // of the colour bar
    const char *unit; // above it, or NULL; static
} LithoSheetAxes;

typedef struct LithoSheetCell {
    cairo_surface_t *picture; // NULL = none: the second line says why, in its place; owned
    char *lines[4];           // below it, the first bold; NULL = none; owned by the sheet
    LithoSheetAxes *axes;     // or NULL; owned by the sheet; room for them where `with_axes`
    gboolean marked;          // framed: the present value, the best one
} LithoSheetCell;

typedef struct LithoSheet {
    guint columns, rows;
    gboolean with_axes;
    double cell_width, cell_height; // of a picture, in logical pixels
    char *title, *caption;          // owned
    char **notes;                   // lines above the caption, NULL-terminated; owned; NULL = none
    LithoSheetCell *cells;          // rows of columns
} LithoSheet;

LithoSheet *litho_sheet_new(guint columns, guint rows);
void litho_sheet_free(LithoSheet *sheet); // NULL is fine
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LithoSheet, litho_sheet_free)
// Slice `index` of `axis` of a cube that is held as a whole, with the colours of `look`.
cairo_surface_t *litho_sheet_slice(const LithoSheet *sheet, const LithoCube *cube, int axis,
                                   gint64 index, const LithoLook *look, GError **error);
// TRUE where `path` names a kind of picture that litho_sheet_save() writes.
gboolean litho_sheet_check_name(const char *path, GError **error);
// .png; one page of .pdf or .svg. Temporary name, then rename.
gboolean litho_sheet_save(const LithoSheet *sheet, const char *path, gboolean force,
                          GError **error);
// Draws the sheet at the origin; its size.
void litho_sheet_draw(const LithoSheet *sheet, cairo_t *cr);
void litho_sheet_size(const LithoSheet *sheet, double *width, double *height);
// The axes of a picture at `data`.
void litho_sheet_draw_axes(cairo_t *cr, const LithoSheetAxes *axes, LithoRect data);
