// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <cairo.h>
#include "render/ticks.h"
#include "render/view.h"

// Axes, colour bar, titles and cross-hair with cairo: one code for the screen overlay, PNG, PDF and
// SVG. All positions in logical pixels (points in PDF); the caller scales the context for HiDPI.
// Thread-safety: each call works on the caller's cairo context only.

typedef struct LithoAxesStyle {
    double font_size; // logical pixels; 0 = 11
    const char *font; // family; NULL = "sans"
    double ink[4];    // text, ticks, frame; alpha 0 everywhere = black
    LithoUnits units;
    gboolean vector;  // PDF and SVG: grid lines as plain translucent strokes
    gboolean compact; // no axis titles, only numbers: small panels
    gboolean beside;  // ticks alone on the upright axis: its numbers stand in the panel on the left
} LithoAxesStyle;

typedef struct LithoFrame {
    LithoRect data;  // where the slice is drawn; hand it to litho_slice_map() and the renderer
    LithoRect title; // one line above
    LithoRect bar;   // colour bar with its labels; w = 0 when there was none asked for
} LithoFrame;

// Selects the style's font times `factor` on `cr`, with unhinted metrics: the same layout at every
// scale and on paper.
void litho_axes_set_font(cairo_t *cr, const LithoAxesStyle *style, double factor, gboolean bold);

// Divides `area` so that every label fits, whatever the zoom: widths do not change while
// scrubbing or zooming. `with_bar`: room for a colour bar at the right.
LithoFrame litho_axes_layout(const LithoAxesStyle *style, const LithoGrid *grid, int slice_axis,
                             LithoRect area, gboolean with_bar);
// litho_axes_layout() for a rectangle with nothing but a title (and a colour bar): 3-D scene.
LithoFrame litho_axes_layout_scene(const LithoAxesStyle *style, LithoRect area, gboolean with_bar);

// Frame, ticks with numbers left and on top, axis titles with units.
void litho_axes_draw(cairo_t *cr, const LithoAxesStyle *style, const LithoGrid *grid,
                     const LithoSliceMap *map);
// Grid lines at the ticks, 12 % contrast. The GL renderer draws its own when look.grid_lines.
void litho_axes_draw_grid(cairo_t *cr, const LithoAxesStyle *style, const LithoGrid *grid,
                          const LithoSliceMap *map);
// `text` in the font that is set, shortened with an ellipsis until it fits `width`; g_free().
char *litho_axes_fit(cairo_t *cr, const char *text, double width);
// One line of bold text, cut with an ellipsis to fit; `note` (may be NULL) right-aligned, plain:
// "clip 99 % = 1.83", "x4".
void litho_axes_draw_title(cairo_t *cr, const LithoAxesStyle *style, LithoRect rect,
                           const char *title, const char *note);
// `text` in at most `most` lines that fit `width`, broken at spaces; the last one is cut with an
// ellipsis where the rest does not fit. Free with g_strfreev().
char **litho_axes_wrap_caption(cairo_t *cr, const LithoAxesStyle *style, const char *text,
                               double width, guint most);
// One line of plain text, cut with an ellipsis to fit.
void litho_axes_draw_caption(cairo_t *cr, const LithoAxesStyle *style, LithoRect rect,
                             const char *text);
// Colour bar, upright, clip values at its ends, zero (signed data) or round ticks between; `unit`
// may be NULL ("amplitude as in the file" has none) and is written above it. Under automatic gain
// it counts in the RMS of the gain's window; a time slice has none, so that its look has no such
// gain.
void litho_colorbar_draw(cairo_t *cr, const LithoAxesStyle *style, LithoRect rect,
                         const LithoLook *look, LithoShow show, const char *unit);

// Tick positions of the slice's two axes, in pixels of map->rect; returns how many of at most
// `max`. For renderers that draw grid lines themselves.
guint litho_axes_grid_positions(const LithoAxesStyle *style, const LithoGrid *grid,
                                const LithoSliceMap *map, gboolean vertical, double *at, guint max);
