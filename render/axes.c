// SPDX-License-Identifier: GPL-3.0-or-later
#include "render/axes.h"

#include <math.h>
#include <string.h>

enum { TICK = 5, MINOR_TICK = 3, PAD = 4, BAR_WIDTH = 12, BAR_GAP = 12 };

static double font_size(const LithoAxesStyle *style)
{
    return style->font_size > 0 ? style->font_size : 11;
}

void litho_axes_set_font(cairo_t *cr, const LithoAxesStyle *style, double factor, gboolean bold)
{
    cairo_select_font_face(cr, style->font ? style->font : "sans", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr, font_size(style) * factor);
    // Metrics without hinting: the same layout at every scale and on paper.
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_get_font_options(cr, options);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_SLIGHT);
    cairo_set_font_options(cr, options);
    cairo_font_options_destroy(options);
}

static void set_ink(cairo_t *cr, const LithoAxesStyle *style, double alpha)
{
    const double *c = style->ink;
    if (c[3] > 0)
        cairo_set_source_rgba(cr, c[0], c[1], c[2], c[3] * alpha);
    else
        cairo_set_source_rgba(cr, 0, 0, 0, alpha);
}

static double text_width(cairo_t *cr, const char *text)
{
    cairo_text_extents_t e;
    cairo_text_extents(cr, text, &e);
    return e.x_advance;
}

// A context to measure with where there is nothing to draw on.
static cairo_t *measuring(void)
{
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
    cairo_t *cr = cairo_create(surface);
    cairo_surface_destroy(surface);
    return cr;
}

// --- layout -------------------------------------------------------------------------------------

enum { FEW = 16 }; // samples of an axis between which numbers stand

// Widest number an axis can show at any zoom: a few samples have numbers between them, and half a
// sample above the first one.
static double number_width(cairo_t *cr, const LithoAxesStyle *style, const LithoGrid *grid,
                           int axis)
{
    LithoAxisText text = litho_axis_text(grid, axis, style->units);
    const LithoAxis *a = &grid->axis[axis];
    const double step = fabs(a->step * text.factor), beyond = !text.whole && a->n < FEW ? 0.5 : 0;
    double finest = text.whole ? 1 : CLAMP(step * fmin(0.5, 0.1 * a->n), 0.1, 1), width = 0;
    if (!text.whole && text.factor == 1 && a->n * fabs(a->step) < 100)
        finest = 0.01; // seconds
    for (int end = 0; end < 2; end++) {
        char number[64];
        double value = litho_axis_shown(&text, a, end ? a->n - 1 + beyond : -beyond);
        litho_format_number(number, sizeof number, value, finest);
        width = MAX(width, text_width(cr, number));
    }
    return width;
}

// Colour bar numbers are scaled by a power of 1000 to at most this.
static const char widest_bar_number[] = "\u2212888.8";

static double bar_column(cairo_t *cr)
{
    return BAR_GAP + BAR_WIDTH + TICK + PAD + text_width(cr, widest_bar_number);
}

static LithoFrame frame_in(const LithoAxesStyle *style, LithoRect area, double left, double top,
                           double right, double bottom, double column)
{
    double size = font_size(style), title = 1.7 * size;
    LithoFrame frame = {
        .data = {area.x + left, area.y + title + top, area.w - left - MAX(right, column),
                 area.h - title - top - bottom},
        .title = {area.x + left, area.y, area.w - left - MAX(right, column), title},
    };
    frame.data.w = MAX(frame.data.w, 1);
    frame.data.h = MAX(frame.data.h, 1);
    // Whole pixels: the picture's edge and the frame's stroke agree.
    frame.data = (LithoRect){rint(frame.data.x), rint(frame.data.y), floor(frame.data.w),
                             floor(frame.data.h)};
    if (column > 0)
        frame.bar = (LithoRect){frame.data.x + frame.data.w + BAR_GAP, frame.data.y,
                                column - BAR_GAP, frame.data.h};
    return frame;
}

LithoFrame litho_axes_layout(const LithoAxesStyle *style, const LithoGrid *grid, int slice_axis,
                             LithoRect area, gboolean with_bar)
{
    LithoSliceView view = litho_slice_view(grid, slice_axis, 0);
    LithoSliceMap map = litho_slice_map(grid, &view, area);
    cairo_t *cr = measuring();
    litho_axes_set_font(cr, style, 1, FALSE);
    double size = font_size(style), line = 1.3 * size;
    double left =
        PAD + TICK + (style->beside ? 0 : number_width(cr, style, grid, map.v_axis) + PAD);
    double top = line + TICK + 1;
    if (!style->compact) {
        left += style->beside ? 0 : line;
        top += line;
    }
    // The last number on top reaches half its width over the corner.
    double right = PAD + number_width(cr, style, grid, map.h_axis) / 2;
    double column = with_bar ? bar_column(cr) + PAD : 0;
    cairo_destroy(cr);
    return frame_in(style, area, left, top, right, MAX(PAD, size * 0.6), column);
}

LithoFrame litho_axes_layout_scene(const LithoAxesStyle *style, LithoRect area, gboolean with_bar)
{
    cairo_t *cr = measuring();
    litho_axes_set_font(cr, style, 1, FALSE);
    double column = with_bar ? bar_column(cr) + PAD : 0, size = font_size(style);
    cairo_destroy(cr);
    LithoFrame frame = frame_in(style, area, 0, 0, 0, 0, column);
    if (with_bar) { // shorter than the picture: its end labels need room
        frame.bar.y += 2.2 * size;
        frame.bar.h = MAX(frame.bar.h - 3 * size, 1);
    }
    return frame;
}

// --- axes ---------------------------------------------------------------------------------------

// One axis on one edge: ticks of displayed numbers and where they lie in pixels.
typedef struct Edge {
    LithoTicks ticks;
    LithoAxisText text;
    double from, to;  // displayed numbers at the rectangle's left/top and right/bottom
    double low, high; // and where the survey begins and ends in between
    double start, length;
} Edge;

static Edge edge_of(const LithoAxesStyle *style, const LithoGrid *grid, const LithoSliceMap *map,
                    gboolean vertical)
{
    int axis = vertical ? map->v_axis : map->h_axis;
    const LithoAxis *a = &grid->axis[axis];
    Edge edge = {.text = litho_axis_text(grid, axis, style->units),
                 .start = vertical ? map->rect.y : map->rect.x,
                 .length = vertical ? map->rect.h : map->rect.w};
    double first = vertical ? map->top : map->left, last = vertical ? map->bottom : map->right;
    edge.from = litho_axis_shown(&edge.text, a, first);
    edge.to = litho_axis_shown(&edge.text, a, last);
    double size = font_size(style), apart = vertical ? 3.4 * size : 6 * size, least = apart / 1.7;
    // Numbers beyond the survey mean nothing: ticks only where there are data.
    double low = litho_axis_shown(&edge.text, a, CLAMP(MIN(first, last), -0.5, a->n - 0.5));
    double high = litho_axis_shown(&edge.text, a, CLAMP(MAX(first, last), -0.5, a->n - 0.5));
    edge.low = MIN(low, high);
    edge.high = MAX(low, high);
    double share = edge.to != edge.from ? fabs((high - low) / (edge.to - edge.from)) : 1;
    double room = edge.length * share;
    edge.ticks = litho_ticks(low, high, room / apart, edge.text.whole);
    if (edge.ticks.n < 2) // one number alone gives no scale: closer, if they still fit
        edge.ticks = litho_ticks(low, high, room / least, edge.text.whole);
    return edge;
}

static double edge_pixel(const Edge *edge, double value)
{
    return edge->start + (value - edge->from) / (edge->to - edge->from) * edge->length;
}

guint litho_axes_grid_positions(const LithoAxesStyle *style, const LithoGrid *grid,
                                const LithoSliceMap *map, gboolean vertical, double *at, guint max)
{
    Edge edge = edge_of(style, grid, map, vertical);
    guint n = MIN(edge.ticks.n, max);
    for (guint k = 0; k < n; k++)
        at[k] = edge_pixel(&edge, edge.ticks.value[k]);
    return n;
}

// Middle of a pixel, so that a stroke of one pixel is sharp.
static double crisp(double x)
{
    return floor(x) + 0.5;
}

static void tick_mark(cairo_t *cr, const LithoSliceMap *map, gboolean vertical, double at,
                      double length)
{
    if (vertical) {
        cairo_move_to(cr, map->rect.x - length, crisp(at));
        cairo_line_to(cr, map->rect.x, crisp(at));
    } else {
        cairo_move_to(cr, crisp(at), map->rect.y - length);
        cairo_line_to(cr, crisp(at), map->rect.y);
    }
}

static void minor_ticks(cairo_t *cr, const LithoSliceMap *map, const Edge *edge, gboolean vertical)
{
    const LithoTicks *t = &edge->ticks;
    double step = t->step / MAX(t->minor, 1);
    if (t->n == 0 || step / fabs(edge->to - edge->from) * edge->length < 4)
        return;
    double low = MIN(edge->from, edge->to), high = MAX(edge->from, edge->to);
    low = MAX(low, edge->low);
    high = MIN(high, edge->high);
    // Counted apart from `k`, which no longer grows by 1 beyond 2^53.
    const double first = ceil(low / step - 1e-9), most = edge->length / 4 + 2;
    for (int n = 0; n < most && (first + n) * step <= high; n++)
        tick_mark(cr, map, vertical, edge_pixel(edge, (first + n) * step), MINOR_TICK);
}

// Returns where the first number on top begins; none begins left of `room`.
static double tick_numbers(cairo_t *cr, const LithoAxesStyle *style, const LithoSliceMap *map,
                           const Edge *edge, gboolean vertical, double room)
{
    double size = font_size(style), free_from = -1e9, last = -1e9, first = G_MAXDOUBLE;
    for (guint k = 0; k < edge->ticks.n; k++) {
        char number[64];
        double value = edge->ticks.value[k], at = edge_pixel(edge, value);
        if (edge->text.whole)
            g_snprintf(number, sizeof number, "%s%.0f", value < 0 ? "\u2212" : "", fabs(value));
        else
            litho_format_number(number, sizeof number, value, edge->ticks.step);
        double width = text_width(cr, number);
        if (vertical) {
            if (fabs(at - last) < 1.2 * size) // a few lines, seen from above
                continue;
            last = at;
            cairo_move_to(cr, map->rect.x - TICK - PAD - width, at + 0.36 * size);
        } else {
            if (at - width / 2 < room || (edge->to > edge->from && at - width / 2 < free_from))
                continue;
            free_from = at + width / 2 + 0.8 * size;
            first = MIN(first, at - width / 2);
            cairo_move_to(cr, at - width / 2, map->rect.y - TICK - 0.35 * size);
        }
        cairo_show_text(cr, number);
    }
    return first;
}

// Between a unit in the corner and the first number on top: "ms 875" reads as 875 ms.
static double unit_gap(const LithoAxesStyle *style)
{
    return 0.6 * font_size(style);
}

// Where numbers on top may begin: behind the unit of the upright axis in the corner, which gives
// way to them as far as the column of its own numbers goes.
static double room_on_top(cairo_t *cr, const LithoAxesStyle *style, const LithoGrid *grid,
                          const LithoSliceMap *map)
{
    if (!style->compact || style->beside)
        return -1e9;
    const LithoAxisText upright = litho_axis_text(grid, map->v_axis, style->units);
    const double numbers = number_width(cr, style, grid, map->v_axis);
    const double left_out = MAX(numbers - text_width(cr, upright.unit) - unit_gap(style), 0);
    return map->rect.x - TICK - left_out;
}

// Small panels have no room for titles: the units alone, that of the upright axis in the corner
// above its numbers and left of `before`, that of the other one behind its numbers.
static void axis_unit(cairo_t *cr, const LithoAxesStyle *style, const LithoSliceMap *map,
                      const Edge *edge, gboolean vertical, double before)
{
    const char *unit = edge->text.unit;
    double size = font_size(style), width = text_width(cr, unit);
    double y = map->rect.y - TICK - 0.35 * size;
    double last = 0; // where the numbers end
    for (guint k = 0; k < edge->ticks.n; k++)
        last = MAX(last, edge_pixel(edge, edge->ticks.value[k]) + 1.8 * size);
    if (vertical)
        cairo_move_to(cr, MIN(map->rect.x - TICK, before - unit_gap(style)) - PAD - width, y);
    else if (last + width < map->rect.x + map->rect.w)
        cairo_move_to(cr, map->rect.x + map->rect.w - width, y);
    else
        return;
    set_ink(cr, style, 0.7);
    cairo_show_text(cr, unit);
}

static void axis_title(cairo_t *cr, const LithoAxesStyle *style, const LithoSliceMap *map,
                       const Edge *edge, gboolean vertical, double numbers)
{
    double size = font_size(style);
    g_autofree char *title = *edge->text.unit
                                 ? g_strdup_printf("%s (%s)", edge->text.label, edge->text.unit)
                                 : g_strdup(edge->text.label);
    double width = text_width(cr, title);
    cairo_save(cr);
    if (vertical) {
        cairo_move_to(cr, map->rect.x - TICK - 2 * PAD - numbers - 0.3 * size,
                      map->rect.y + map->rect.h / 2 + width / 2);
        cairo_rotate(cr, -G_PI / 2);
    } else {
        cairo_move_to(cr, map->rect.x + map->rect.w / 2 - width / 2,
                      map->rect.y - TICK - 1.65 * size);
    }
    cairo_show_text(cr, title);
    cairo_restore(cr);
}

void litho_axes_draw(cairo_t *cr, const LithoAxesStyle *style, const LithoGrid *grid,
                     const LithoSliceMap *map)
{
    cairo_save(cr);
    litho_axes_set_font(cr, style, 1, FALSE);
    cairo_set_line_width(cr, 1);
    const double room = room_on_top(cr, style, grid, map);
    double before = G_MAXDOUBLE;
    for (int vertical = 0; vertical < 2; vertical++) {
        Edge edge = edge_of(style, grid, map, vertical);
        set_ink(cr, style, 0.75);
        for (guint k = 0; k < edge.ticks.n; k++)
            tick_mark(cr, map, vertical, edge_pixel(&edge, edge.ticks.value[k]), TICK);
        minor_ticks(cr, map, &edge, vertical);
        cairo_stroke(cr);
        if (vertical && style->beside)
            continue;
        set_ink(cr, style, 1);
        const double first = tick_numbers(cr, style, map, &edge, vertical, room);
        before = vertical ? before : first;
        if (style->compact)
            axis_unit(cr, style, map, &edge, vertical, before);
        else {
            int axis = vertical ? map->v_axis : map->h_axis;
            axis_title(cr, style, map, &edge, vertical, number_width(cr, style, grid, axis));
        }
    }
    set_ink(cr, style, 0.75);
    cairo_rectangle(cr, map->rect.x - 0.5, map->rect.y - 0.5, map->rect.w + 1, map->rect.h + 1);
    cairo_stroke(cr);
    cairo_restore(cr);
}

void litho_axes_draw_grid(cairo_t *cr, const LithoAxesStyle *style, const LithoGrid *grid,
                          const LithoSliceMap *map)
{
    double at[LITHO_TICKS_MAX];
    cairo_save(cr);
    cairo_rectangle(cr, map->rect.x, map->rect.y, map->rect.w, map->rect.h);
    cairo_clip(cr);
    cairo_set_line_width(cr, 1);
    guint n = litho_axes_grid_positions(style, grid, map, FALSE, at, LITHO_TICKS_MAX);
    for (guint k = 0; k < n; k++) {
        cairo_move_to(cr, crisp(at[k]), map->rect.y);
        cairo_rel_line_to(cr, 0, map->rect.h);
    }
    n = litho_axes_grid_positions(style, grid, map, TRUE, at, LITHO_TICKS_MAX);
    for (guint k = 0; k < n; k++) {
        cairo_move_to(cr, map->rect.x, crisp(at[k]));
        cairo_rel_line_to(cr, map->rect.w, 0);
    }
    if (style->vector) {
        cairo_set_source_rgba(cr, 0, 0, 0, 0.12);
    } else {
        // d + s - 2ds moves every colour 12 % towards its inverse, dark or bright.
        cairo_set_operator(cr, CAIRO_OPERATOR_EXCLUSION);
        cairo_set_source_rgb(cr, 0.12, 0.12, 0.12);
    }
    cairo_stroke(cr);
    cairo_restore(cr);
}

// --- title --------------------------------------------------------------------------------------

char *litho_axes_fit(cairo_t *cr, const char *text, double width)
{
    if (text_width(cr, text) <= width)
        return g_strdup(text);
    for (glong n = g_utf8_strlen(text, -1) - 1; n > 0; n--) {
        g_autofree char *head = g_utf8_substring(text, 0, n);
        g_autofree char *cut = g_strconcat(g_strchomp(head), "…", NULL);
        if (text_width(cr, cut) <= width)
            return g_steal_pointer(&cut);
    }
    return g_strdup("");
}

void litho_axes_draw_title(cairo_t *cr, const LithoAxesStyle *style, LithoRect rect,
                           const char *title, const char *note)
{
    cairo_save(cr);
    double size = font_size(style), base = rect.y + rect.h / 2 + 0.36 * size, free_width = rect.w;
    set_ink(cr, style, 1);
    if (note && *note) {
        litho_axes_set_font(cr, style, 1, FALSE);
        double width = text_width(cr, note);
        if (width < 0.6 * rect.w) {
            cairo_move_to(cr, rect.x + rect.w - width, base);
            set_ink(cr, style, 0.85);
            cairo_show_text(cr, note);
            free_width -= width + size;
        }
    }
    set_ink(cr, style, 1);
    litho_axes_set_font(cr, style, 1, TRUE);
    g_autofree char *fitted = litho_axes_fit(cr, title ? title : "", free_width);
    cairo_move_to(cr, rect.x, base);
    cairo_show_text(cr, fitted);
    cairo_restore(cr);
}

// Bytes of `text` that fit `width`: whole words, one at least.
static gsize words_that_fit(cairo_t *cr, const char *text, double width)
{
    gsize fits = 0;
    for (const char *end = text; *end;) {
        end += strspn(end, " ");
        end += strcspn(end, " ");
        g_autofree char *head = g_strndup(text, (gsize)(end - text));
        if (fits > 0 && text_width(cr, head) > width)
            break;
        fits = (gsize)(end - text);
    }
    return fits;
}

char **litho_axes_wrap_caption(cairo_t *cr, const LithoAxesStyle *style, const char *text,
                               double width, guint most)
{
    g_autoptr(GPtrArray) lines = g_ptr_array_new();
    cairo_save(cr);
    litho_axes_set_font(cr, style, 1, FALSE);
    while (*text && lines->len + 1 < most && text_width(cr, text) > width) {
        const gsize n = words_that_fit(cr, text, width);
        g_autofree char *line = g_strndup(text, n);
        g_ptr_array_add(lines, litho_axes_fit(cr, line, width));
        text += n + strspn(text + n, " ");
    }
    if (*text)
        g_ptr_array_add(lines, litho_axes_fit(cr, text, width));
    cairo_restore(cr);
    g_ptr_array_add(lines, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&lines), FALSE);
}

void litho_axes_draw_caption(cairo_t *cr, const LithoAxesStyle *style, LithoRect rect,
                             const char *text)
{
    cairo_save(cr);
    set_ink(cr, style, 0.85);
    litho_axes_set_font(cr, style, 1, FALSE);
    g_autofree char *fitted = litho_axes_fit(cr, text, rect.w);
    cairo_move_to(cr, rect.x, rect.y + rect.h / 2 + 0.36 * font_size(style));
    cairo_show_text(cr, fitted);
    cairo_restore(cr);
}

// --- colour bar ---------------------------------------------------------------------------------

// Thousands to divide by so that the larger end reads 0.1 to 999; plain from 0.01 to 99 999.
static int bar_exponent(double lo, double hi)
{
    double top = MAX(fabs(lo), fabs(hi));
    if (!(top > 0) || !isfinite(top) || (top >= 0.1 && top < 1e5))
        return 0;
    return 3 * (int)floor(log10(top) / 3);
}

static char *power_text(int exponent, const char *unit)
{
    static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    GString *s = g_string_new(NULL);
    if (exponent != 0) {
        g_string_append(s, "×10");
        g_string_append(s, exponent < 0 ? "⁻" : "");
        char digits[16];
        g_snprintf(digits, sizeof digits, "%d", ABS(exponent));
        for (const char *d = digits; *d; d++)
            g_string_append(s, raised[*d - '0']);
    }
    if (unit && *unit)
        g_string_append_printf(s, "%s%s", s->len ? " " : "", unit);
    return g_string_free(s, FALSE);
}

// A clip value with 3 significant digits, 4 from 1000 on.
static void bar_number(char *out, gsize size, double value, double top)
{
    double power = top > 0 ? pow(10, floor(log10(top)) - 2) : 1;
    litho_format_number(out, size, value, MIN(power, 1));
    litho_trim_zeros(out);
}

static void bar_gradient(cairo_t *cr, LithoRect bar, const LithoColormap *map)
{
    // An image, not a gradient with 256 stops: every viewer of PDF and SVG shows it alike.
    cairo_surface_t *strip = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1, LITHO_COLORMAP_SIZE);
    guint8 *data = cairo_image_surface_get_data(strip);
    int stride = cairo_image_surface_get_stride(strip);
    cairo_surface_flush(strip);
    for (int k = 0; k < LITHO_COLORMAP_SIZE; k++) {
        const guint8 *c = map->rgba[LITHO_COLORMAP_SIZE - 1 - k];
        *(guint32 *)(data + k * stride) = (guint32)c[0] << 16 | (guint32)c[1] << 8 | c[2];
    }
    cairo_surface_mark_dirty(strip);
    cairo_save(cr);
    cairo_rectangle(cr, bar.x, bar.y, bar.w, bar.h);
    cairo_clip(cr);
    cairo_translate(cr, bar.x, bar.y);
    cairo_scale(cr, bar.w, bar.h / LITHO_COLORMAP_SIZE);
    cairo_set_source_surface(cr, strip, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_NEAREST);
    cairo_pattern_set_extend(cairo_get_source(cr), CAIRO_EXTEND_PAD);
    cairo_paint(cr);
    cairo_restore(cr);
    cairo_surface_destroy(strip);
}

static void bar_label(cairo_t *cr, double size, LithoRect bar, double y, const char *number,
                      double shift)
{
    cairo_move_to(cr, bar.x + bar.w, CLAMP(crisp(y), bar.y + 0.5, bar.y + bar.h - 0.5));
    cairo_rel_line_to(cr, TICK, 0);
    cairo_stroke(cr);
    cairo_move_to(cr, bar.x + bar.w + TICK + PAD, y + (0.36 + shift) * size);
    cairo_show_text(cr, number);
}

void litho_colorbar_draw(cairo_t *cr, const LithoAxesStyle *style, LithoRect rect,
                         const LithoLook *look, LithoShow show, const char *unit)
{
    double lo, hi, size = font_size(style);
    litho_look_range(look, show, &lo, &hi);
    if (look->agc > 1 && litho_look_is_signed(look)) {
        hi = 1 / LITHO_GAIN_LEVEL;
        lo = -hi;
        unit = "RMS";
    }
    LithoRect bar = {rect.x, rect.y, BAR_WIDTH, rect.h};
    int exponent = bar_exponent(lo, hi);
    double scale = pow(10, -exponent), top = MAX(fabs(lo), fabs(hi)) * scale;
    lo *= scale;
    hi *= scale;

    cairo_save(cr);
    litho_axes_set_font(cr, style, 1, FALSE);
    cairo_set_line_width(cr, 1);
    bar_gradient(cr, bar, litho_look_map(look, show));
    set_ink(cr, style, 0.75);
    cairo_rectangle(cr, bar.x - 0.5, bar.y - 0.5, bar.w + 1, bar.h + 1);
    cairo_stroke(cr);

    set_ink(cr, style, 1);
    char number[64];
    bar_number(number, sizeof number, hi, top);
    bar_label(cr, size, bar, bar.y, number, 0.2);
    bar_number(number, sizeof number, lo, top);
    bar_label(cr, size, bar, bar.y + bar.h, number, -0.2);
    LithoTicks ticks = litho_ticks(lo, hi, MAX(bar.h / (4 * size), 1.01), FALSE);
    for (guint k = 0; k < ticks.n; k++) {
        double y = bar.y + bar.h * (hi - ticks.value[k]) / (hi - lo);
        if (y < bar.y + 1.7 * size || y > bar.y + bar.h - 1.7 * size)
            continue; // the clip values have that place
        litho_format_number(number, sizeof number, ticks.value[k], ticks.step);
        bar_label(cr, size, bar, y, number, 0);
    }
    g_autofree char *above = power_text(exponent, unit);
    cairo_move_to(cr, bar.x, bar.y - 0.7 * size);
    cairo_show_text(cr, above);
    cairo_restore(cr);
}

// --- cross-hair ---------------------------------------------------------------------------------
