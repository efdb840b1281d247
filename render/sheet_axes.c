// SPDX-License-Identifier: GPL-3.0-or-later
//
// Ticks, numbers, titles and the colour bar of one picture of a sheet.
#include <math.h>

#include "render/sheet.h"
#include "render/axes.h"
#include "render/ticks.h"

enum { TICK = 4, BAR_GAP = 8 };

// Pixels from the start of the axis to `value`, of `length` of them.
static double place_of(const LithoSheetAxis *axis, double value, double length)
{
    return length * (value - axis->from) / (axis->to - axis->from);
}

static LithoTicks ticks_of(const LithoSheetAxis *axis, double length, double apart)
{
    const double lo = fmin(axis->from, axis->to), hi = fmax(axis->from, axis->to);
    return litho_ticks(lo, hi, fmax(length / apart, 2), axis->whole);
}

// Line numbers are names: no space between thousands.
static void format_tick(const LithoSheetAxis *axis, char *text, gsize size, double value,
                        double step)
{
    if (axis->whole)
        g_snprintf(text, size, "%.0f", value);
    else
        litho_format_number(text, size, value, step);
}

static void draw_number(cairo_t *cr, double x, double y, double align, const char *text)
{
    cairo_text_extents_t extents;
    cairo_text_extents(cr, text, &extents);
    cairo_move_to(cr, x - align * extents.x_advance, y);
    cairo_show_text(cr, text);
}

static void draw_across(cairo_t *cr, const LithoSheetAxis *axis, LithoRect data)
{
    const LithoTicks ticks = ticks_of(axis, data.w, 60);
    for (guint k = 0; k < ticks.n; k++) {
        char text[32];
        const double x = data.x + place_of(axis, ticks.value[k], data.w);
        cairo_move_to(cr, x, data.y - TICK);
        cairo_line_to(cr, x, data.y);
        cairo_stroke(cr);
        format_tick(axis, text, sizeof text, ticks.value[k], ticks.step);
        // The last one leaves room for the colour bar's unit.
        const gboolean at_end = x > data.x + data.w - 12;
        draw_number(cr, at_end ? data.x + data.w : x, data.y - TICK - 3, at_end ? 1 : 0.5, text);
    }
    draw_number(cr, data.x + data.w / 2, data.y - TICK - 16, 0.5, axis->title);
}

static void draw_down(cairo_t *cr, const LithoSheetAxis *axis, LithoRect data)
{
    const LithoTicks ticks = ticks_of(axis, data.h, 36);
    for (guint k = 0; k < ticks.n; k++) {
        char text[32];
        const double y = data.y + place_of(axis, ticks.value[k], data.h);
        cairo_move_to(cr, data.x - TICK, y);
        cairo_line_to(cr, data.x, y);
        cairo_stroke(cr);
        format_tick(axis, text, sizeof text, ticks.value[k], ticks.step);
        draw_number(cr, data.x - TICK - 2, y + 4, 1, text);
    }
    cairo_save(cr);
    cairo_translate(cr, data.x - LITHO_SHEET_LEFT + 10, data.y + data.h / 2);
    cairo_rotate(cr, -G_PI / 2);
    draw_number(cr, 0, 0, 0.5, axis->title);
    cairo_restore(cr);
}

void litho_sheet_draw_axes(cairo_t *cr, const LithoSheetAxes *axes, LithoRect data)
{
    static const LithoAxesStyle style = {.font_size = 10};
    cairo_save(cr);
    litho_axes_set_font(cr, &style, 1, FALSE);
    cairo_set_source_rgb(cr, 0, 0, 0);
    cairo_set_line_width(cr, 1);
    draw_across(cr, &axes->across, data);
    draw_down(cr, &axes->down, data);
    const LithoRect bar = {data.x + data.w + BAR_GAP, data.y, LITHO_SHEET_RIGHT - BAR_GAP, data.h};
    litho_colorbar_draw(cr, &style, bar, &axes->look, LITHO_SHOW_OUTPUT, axes->unit);
    cairo_restore(cr);
}
