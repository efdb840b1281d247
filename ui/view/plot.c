// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/view/plot_private.h"

#include <math.h>
#include <string.h>

#include "core/text.h"
#include "render/ticks.h"
#include "ui/view/small_text.h"

// Below its largest value a logarithmic axis shows this many decades at most: rounding errors at
// 1e-17 would press everything else together.
enum { DECADES = 12 };

G_DEFINE_TYPE(LithoPlot, litho_plot, GTK_TYPE_WIDGET)

static LithoPlotCurve *curve_at(LithoPlot *self, guint k)
{
    return &g_array_index(self->curves, LithoPlotCurve, k);
}

// --- places -------------------------------------------------------------------------------------

// Position on an axis; NAN where a logarithmic one has none.
double litho_plot_on_axis(double value, gboolean log)
{
    return !log ? value : value > 0 ? log10(value) : NAN;
}

double litho_plot_px(const LithoPlotArea *a, double x)
{
    return a->x + (litho_plot_on_axis(x, a->log_x) - a->x0) / (a->x1 - a->x0) * a->w;
}

static double py(const LithoPlotArea *a, double y)
{
    double at = litho_plot_on_axis(y, a->log_y);
    if (!isfinite(at) && a->log_y)
        at = a->y0;
    return a->y + a->h - (CLAMP(at, a->y0, a->y1) - a->y0) / (a->y1 - a->y0) * a->h;
}

static gboolean is_usable(const LithoPlotArea *a, double x, double y)
{
    return isfinite(litho_plot_on_axis(x, a->log_x)) && isfinite(y);
}

static gboolean data_range(LithoPlot *self, LithoPlotArea *a)
{
    gboolean bars = FALSE;
    a->x0 = a->y0 = INFINITY;
    a->x1 = a->y1 = -INFINITY;
    for (guint k = 0; k < self->curves->len; k++) {
        const LithoPlotCurve *c = curve_at(self, k);
        bars = bars || (c->kind == LITHO_PLOT_BARS && c->n > 0);
        for (guint i = 0; i < c->n; i++) {
            double x = litho_plot_on_axis(c->x[i], a->log_x),
                   y = litho_plot_on_axis(c->y[i], a->log_y);
            if (!isfinite(x) || !isfinite(y))
                continue;
            a->x0 = MIN(a->x0, x);
            a->x1 = MAX(a->x1, x);
            a->y0 = MIN(a->y0, y);
            a->y1 = MAX(a->y1, y);
        }
    }
    if (!(a->x1 >= a->x0))
        return FALSE;
    if (a->log_y)
        a->y0 = MAX(a->y0, a->y1 - DECADES);
    if (bars && !a->log_y)
        a->y0 = MIN(a->y0, 0);      // a bar's length is its value
    if (bars || !(a->x1 > a->x0)) { // half a bar more on either side
        double half = a->x1 > a->x0 ? (a->x1 - a->x0) / 40 : 0.5;
        a->x0 -= half;
        a->x1 += half;
    }
    if (!(a->y1 > a->y0)) {
        a->y0 -= 0.5;
        a->y1 += 0.5;
    } else if (a->log_y) {
        a->y0 -= 0.03 * (a->y1 - a->y0); // the lowest bar is seen
    }
    if (self->y_range[1] > self->y_range[0]) {
        a->y0 = self->y_range[0];
        a->y1 = self->y_range[1];
    }
    if (self->x_range[1] > self->x_range[0]) {
        a->x0 = self->x_range[0];
        a->x1 = self->x_range[1];
    }
    return TRUE;
}

// --- colours ------------------------------------------------------------------------------------

GdkRGBA litho_plot_ink(GtkWidget *widget, double alpha)
{
    GdkRGBA ink;
    gtk_style_context_get_color(gtk_widget_get_style_context(widget), &ink);
    ink.alpha *= alpha;
    return ink;
}

// Colours made for surfaces; as thin lines on a dark ground they need more light, those of a high
// contrast theme much more. The hue stays.
static GdkRGBA on_dark(GdkRGBA c)
{
    const float enough = 0.48f;
    float luminance = 0.21f * c.red + 0.72f * c.green + 0.07f * c.blue;
    float lift = luminance < enough ? (enough - luminance) / (1 - luminance) : 0;
    lift = MAX(lift, 0.25f);
    return (GdkRGBA){lift + (1 - lift) * c.red, lift + (1 - lift) * c.green,
                     lift + (1 - lift) * c.blue, 1};
}

// Input quiet, result in the accent colour; the others stay apart in luminance, not in hue alone.
GdkRGBA litho_plot_colour(GtkWidget *widget, guint k)
{
    static const GdkRGBA others[] = {{0.80, 0.42, 0.16, 1}, {0.48, 0.36, 0.70, 1},
                                     {0.16, 0.56, 0.46, 1}, {0.75, 0.24, 0.42, 1},
                                     {0.62, 0.55, 0.12, 1}, {0.36, 0.44, 0.52, 1}};
    GdkRGBA colour = {0.21, 0.52, 0.89, 1}, ink = litho_plot_ink(widget, 1);
    if (k == 0)
        return litho_plot_ink(widget, 0.45);
    if (k > 1)
        colour = others[(k - 2) % G_N_ELEMENTS(others)];
    else
        gtk_style_context_lookup_color(gtk_widget_get_style_context(widget),
                                       "theme_selected_bg_color", &colour);
    return ink.red + ink.green + ink.blue > 1.5 ? on_dark(colour) : colour;
}

// --- numbers ------------------------------------------------------------------------------------

// "0.01", "100", "10⁻⁶": a power of ten as short as it can be read.
static void format_decade(char *out, gsize size, int power)
{
    static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    if (power >= -2 && power <= 3) {
        litho_text_put(out, size, "%.*f", MAX(-power, 0), pow(10, power));
        return;
    }
    g_autofree char *number = g_strdup_printf("%d", ABS(power));
    g_strlcpy(out, power < 0 ? "10⁻" : "10", size);
    for (const char *c = number; *c; c++)
        g_strlcat(out, digits[*c - '0'], size);
}

// --- axes ---------------------------------------------------------------------------------------

typedef struct Tick {
    double at; // on the axis: a value, or its logarithm
    char text[32];
} Tick;

// Powers of ten where there are two or more of them, else round numbers of the values between.
static guint log_ticks(double lo, double hi, double room, Tick ticks[LITHO_TICKS_MAX])
{
    int first = (int)ceil(lo - 1e-9), last = (int)floor(hi + 1e-9);
    guint n = 0;
    if (last > first) {
        int step = MAX((int)ceil((last - first + 1) / MAX(room, 2)), 1);
        for (int power = first; power <= last && n < LITHO_TICKS_MAX; power++)
            if (power % step == 0) {
                ticks[n].at = power;
                format_decade(ticks[n].text, sizeof ticks[n].text, power);
                n++;
            }
        return n;
    }
    LithoTicks plain = litho_ticks(pow(10, lo), pow(10, hi), room, FALSE);
    for (guint k = 0; k < plain.n; k++) {
        if (!(plain.value[k] > 0))
            continue;
        ticks[n].at = log10(plain.value[k]);
        litho_format_number(ticks[n].text, sizeof ticks[n].text, plain.value[k], plain.step);
        n++;
    }
    return n;
}

static guint plain_ticks(double lo, double hi, double room, int power, Tick ticks[LITHO_TICKS_MAX])
{
    const double unit = pow(10, power);
    LithoTicks plain = litho_ticks(lo / unit, hi / unit, room, FALSE);
    for (guint k = 0; k < plain.n; k++) {
        ticks[k].at = plain.value[k] * unit;
        litho_format_number(ticks[k].text, sizeof ticks[k].text, plain.value[k], plain.step);
    }
    return plain.n;
}

// Power of ten, in thousands, that stands once beside the axis' name and not in each number, as on
// the colour bar: three of "-1.0e-4" have no room side by side.
static int x_power(const LithoPlotArea *a)
{
    const double top = MAX(fabs(a->x0), fabs(a->x1));
    if (a->log_x || !(top > 0) || !isfinite(top) || (top >= 0.01 && top < 1e5))
        return 0;
    return 3 * (int)floor(log10(top) / 3);
}

static char *x_name(const LithoPlot *self, int power)
{
    char decade[32];
    if (power == 0)
        return g_strdup(self->x_label);
    format_decade(decade, sizeof decade, power);
    return g_strdup_printf("%s%s×%s", self->x_label ? self->x_label : "", self->x_label ? " " : "",
                           power == 3 ? "10³" : decade);
}

static void draw_axes(LithoPlot *self, GtkSnapshot *snapshot, const LithoPlotArea *a, int line)
{
    GdkRGBA faint = litho_plot_ink(GTK_WIDGET(self), 0.12);
    Tick ticks[LITHO_TICKS_MAX];
    const int power = x_power(a);
    guint n = a->log_x ? log_ticks(a->x0, a->x1, a->w / (3.6 * line), ticks)
                       : plain_ticks(a->x0, a->x1, a->w / (3.6 * line), power, ticks);
    for (guint k = 0; k < n; k++) {
        double x = a->x + (ticks[k].at - a->x0) / (a->x1 - a->x0) * a->w;
        gtk_snapshot_append_color(snapshot, &faint, &GRAPHENE_RECT_INIT(floor(x), a->y, 1, a->h));
        litho_small_text_draw(GTK_WIDGET(self), snapshot, ticks[k].text, x,
                              a->y + a->h + 0.6 * line, 0.5, 0.75);
    }
    n = a->log_y ? log_ticks(a->y0, a->y1, a->h / (1.8 * line), ticks)
                 : plain_ticks(a->y0, a->y1, a->h / (1.8 * line), 0, ticks);
    for (guint k = 0; k < n; k++) {
        double y = a->y + a->h - (ticks[k].at - a->y0) / (a->y1 - a->y0) * a->h;
        gtk_snapshot_append_color(snapshot, &faint, &GRAPHENE_RECT_INIT(a->x, floor(y), a->w, 1));
        litho_small_text_draw(GTK_WIDGET(self), snapshot, ticks[k].text, a->x - 4, y, 1, 0.75);
    }
    g_autofree char *name = x_name(self, power);
    if (name)
        litho_small_text_draw(GTK_WIDGET(self), snapshot, name, a->x + a->w,
                              a->y + a->h + 1.55 * line, 1, 0.75);
}

// --- curves -------------------------------------------------------------------------------------

// Half-way to the neighbours, in pixels; the outer bars are as wide as their inner half says.
static void bar_edges(const LithoPlotArea *a, const LithoPlotCurve *c, guint i, double *left,
                      double *right)
{
    double here = litho_plot_px(a, c->x[i]);
    double before = i > 0 ? litho_plot_px(a, c->x[i - 1]) : NAN;
    double after = i + 1 < c->n ? litho_plot_px(a, c->x[i + 1]) : NAN;
    double half_left = isfinite(before) ? (here - before) / 2 : NAN;
    double half_right = isfinite(after) ? (after - here) / 2 : NAN;
    if (!isfinite(half_left))
        half_left = isfinite(half_right) ? half_right : a->w / 4;
    if (!isfinite(half_right))
        half_right = half_left;
    double gap = MIN(0.5, 0.1 * (half_left + half_right));
    *left = here - half_left + gap;
    *right = here + half_right - gap;
}

static void draw_bars(cairo_t *cr, const LithoPlotArea *a, const LithoPlotCurve *c,
                      const GdkRGBA *colour)
{
    for (guint i = 0; i < c->n; i++) {
        if (!is_usable(a, c->x[i], c->y[i]) || (a->log_y && !(c->y[i] > 0)))
            continue;
        double left, right, top = py(a, c->y[i]), base = py(a, a->log_y ? pow(10, a->y0) : 0);
        bar_edges(a, c, i, &left, &right);
        cairo_rectangle(cr, left, MIN(top, base), MAX(right - left, 0.5), fabs(base - top));
    }
    cairo_set_source_rgba(cr, colour->red, colour->green, colour->blue, colour->alpha * 0.75);
    cairo_fill(cr);
}

// One unbroken piece of a line, points [from, to).
static void draw_piece(cairo_t *cr, const LithoPlotArea *a, const LithoPlotCurve *c,
                       const GdkRGBA *colour, guint from, guint to)
{
    cairo_new_path(cr);
    for (guint i = from; i < to; i++)
        cairo_line_to(cr, litho_plot_px(a, c->x[i]), py(a, c->y[i]));
    if (c->kind == LITHO_PLOT_FILLED) {
        cairo_path_t *line = cairo_copy_path(cr);
        cairo_line_to(cr, litho_plot_px(a, c->x[to - 1]), a->y + a->h);
        cairo_line_to(cr, litho_plot_px(a, c->x[from]), a->y + a->h);
        cairo_set_source_rgba(cr, colour->red, colour->green, colour->blue, colour->alpha * 0.25);
        cairo_fill(cr);
        cairo_append_path(cr, line);
        cairo_path_destroy(line);
    }
    if (to - from == 1) // a point alone is a dot
        cairo_close_path(cr);
    gdk_cairo_set_source_rgba(cr, colour);
    cairo_set_line_width(cr, to - from == 1 ? 4 : 1.5);
    cairo_stroke(cr);
}

static void draw_curve(LithoPlot *self, cairo_t *cr, const LithoPlotArea *a, guint k)
{
    const LithoPlotCurve *c = curve_at(self, k);
    GdkRGBA colour = litho_plot_colour(GTK_WIDGET(self), k);
    if (c->kind == LITHO_PLOT_BARS) {
        draw_bars(cr, a, c, &colour);
        return;
    }
    cairo_set_line_cap(cr, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    for (guint from = 0; from < c->n;) {
        guint to = from;
        while (to < c->n && is_usable(a, c->x[to], c->y[to]))
            to++;
        if (to > from)
            draw_piece(cr, a, c, &colour, from, to);
        from = to + 1;
    }
}

// --- legend -------------------------------------------------------------------------------------

enum { LEGEND_MAX = 32, SWATCH = 10, LEGEND_GAP = 9 };

typedef struct LegendItem {
    guint curve, row;
    double x;
} LegendItem;

// Items from left to right in rows that end at the right edge; returns the number of rows (1 also
// without items: the y axis' name stands in the first).
static guint lay_out_legend(LithoPlot *self, LegendItem items[LEGEND_MAX], guint *n)
{
    double width = gtk_widget_get_width(GTK_WIDGET(self));
    double free_from =
        self->y_label ? litho_small_text_width(GTK_WIDGET(self), self->y_label) + LEGEND_GAP : 0;
    double x = free_from;
    guint row = 0, begin = 0;
    *n = 0;
    for (guint k = 0; k < self->curves->len && *n < LEGEND_MAX; k++) {
        const LithoPlotCurve *c = curve_at(self, k);
        if (c->n == 0 || !c->label || !*c->label)
            continue;
        double w = SWATCH + 4 + litho_small_text_width(GTK_WIDGET(self), c->label) + LEGEND_GAP;
        if (x + w > width + LEGEND_GAP && x > (row == 0 ? free_from : 0)) {
            for (guint m = begin; m < *n; m++) // this row to the right
                items[m].x += width - x + LEGEND_GAP;
            begin = *n;
            row++;
            x = 0;
        }
        items[(*n)++] = (LegendItem){k, row, x};
        x += w;
    }
    for (guint m = begin; m < *n; m++)
        items[m].x += MAX(width - x + LEGEND_GAP, 0);
    return row + 1;
}

static void draw_legend(LithoPlot *self, GtkSnapshot *snapshot, const LegendItem *items, guint n,
                        int line)
{
    for (guint k = 0; k < n; k++) {
        GdkRGBA colour = litho_plot_colour(GTK_WIDGET(self), items[k].curve);
        double y = line * (items[k].row + 0.55);
        gtk_snapshot_append_color(snapshot, &colour,
                                  &GRAPHENE_RECT_INIT(items[k].x, floor(y) - 1, SWATCH, 3));
        litho_small_text_draw(GTK_WIDGET(self), snapshot, curve_at(self, items[k].curve)->label,
                              items[k].x + SWATCH + 4, y, 0, 0.9);
    }
}

// --- drawing ------------------------------------------------------------------------------------

static void draw_marks(LithoPlot *self, GtkSnapshot *snapshot, const LithoPlotArea *a)
{
    GdkRGBA ink = litho_plot_ink(GTK_WIDGET(self), 0.8);
    for (guint k = 0; k < self->n_marks; k++) {
        double at = litho_plot_on_axis(self->mark[k], a->log_x);
        if (at >= a->x0 && at <= a->x1)
            gtk_snapshot_append_color(
                snapshot, &ink,
                &GRAPHENE_RECT_INIT(floor(litho_plot_px(a, self->mark[k])), a->y, 1, a->h));
    }
}

// Area of the curves; FALSE: there is no room, or nothing to show yet (then *empty).
static gboolean area_of(LithoPlot *self, guint rows, LithoPlotArea *a, gboolean *empty)
{
    GtkWidget *widget = GTK_WIDGET(self);
    double w = gtk_widget_get_width(widget), h = gtk_widget_get_height(widget);
    int line = litho_small_text_height(widget);
    double top = line * rows + 3, left = 2.9 * line;
    *a = (LithoPlotArea){.x = left,
                         .y = top,
                         .w = w - left - 6,
                         .h = h - top - line * (self->x_label ? 2.15 : 1.2),
                         .log_x = self->log_x,
                         .log_y = self->log_y};
    *empty = FALSE;
    if (a->w < 20 || a->h < 20)
        return FALSE;
    *empty = !data_range(self, a);
    return !*empty;
}

gboolean litho_plot_area(LithoPlot *self, LithoPlotArea *a)
{
    LegendItem items[LEGEND_MAX];
    guint n_items;
    gboolean empty;
    return area_of(self, lay_out_legend(self, items, &n_items), a, &empty);
}

static void snapshot_plot(GtkWidget *widget, GtkSnapshot *snapshot)
{
    LithoPlot *self = LITHO_PLOT(widget);
    double w = gtk_widget_get_width(widget), h = gtk_widget_get_height(widget);
    LegendItem items[LEGEND_MAX];
    guint n_items, rows = lay_out_legend(self, items, &n_items);
    int line = litho_small_text_height(GTK_WIDGET(self));
    LithoPlotArea a;
    gboolean empty, fits = area_of(self, rows, &a, &empty);
    if (!fits && !empty)
        return;
    if (empty) {
        litho_small_text_draw(GTK_WIDGET(self), snapshot, _("no data"), w / 2, h / 2, 0.5,
                              0.55);
        return;
    }
    draw_axes(self, snapshot, &a, line);
    cairo_t *cr = gtk_snapshot_append_cairo(
        snapshot, &GRAPHENE_RECT_INIT(a.x - 1, a.y - 1, a.w + 2, a.h + 2));
    cairo_rectangle(cr, a.x - 1, a.y - 1, a.w + 2, a.h + 2);
    cairo_clip(cr); // a given range may end before the curves do
    for (guint k = 0; k < self->curves->len; k++)
        if (curve_at(self, k)->n > 0)
            draw_curve(self, cr, &a, k);
    cairo_destroy(cr);
    draw_marks(self, snapshot, &a);
    litho_plot_draw_handles(self, snapshot, &a);
    if (self->y_label)
        litho_small_text_draw(GTK_WIDGET(self), snapshot, self->y_label, 0, 0.55 * line, 0, 0.75);
    draw_legend(self, snapshot, items, n_items, line);
}

// --- in words -----------------------------------------------------------------------------------

static void describe(LithoPlot *self)
{
    LithoPlotArea a = {.log_x = FALSE};
    GString *text = g_string_new(NULL);
    if (!data_range(self, &a)) {
        g_string_append(text, _("no data"));
    } else {
        char x0[32], x1[32], y0[32], y1[32];
        litho_format_number(x0, sizeof x0, a.x0, (a.x1 - a.x0) / 20);
        litho_format_number(x1, sizeof x1, a.x1, (a.x1 - a.x0) / 20);
        litho_format_number(y0, sizeof y0, a.y0, (a.y1 - a.y0) / 20);
        litho_format_number(y1, sizeof y1, a.y1, (a.y1 - a.y0) / 20);
        g_string_append_printf(text, _("%s %s to %s, %s %s to %s"),
                               self->x_label ? self->x_label : "x", x0, x1,
                               self->y_label ? self->y_label : "y", y0, y1);
    }
    for (guint k = 0; k < self->curves->len; k++)
        if (curve_at(self, k)->n > 0 && curve_at(self, k)->label)
            g_string_append_printf(text, ", %s", curve_at(self, k)->label);
    for (guint k = 0; k < self->n_handles; k++)
        litho_text_add(text, _("; %s at %.4g"), self->handle[k].name, self->handle[k].x);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                   text->str, -1);
    g_string_free(text, TRUE);
}

void litho_plot_changed(LithoPlot *self)
{
    describe(self);
    gtk_widget_queue_draw(GTK_WIDGET(self));
}

// --- the widget ---------------------------------------------------------------------------------

static void measure(GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum,
                    int *natural, int *minimum_baseline, int *natural_baseline)
{
    (void)for_size;
    gboolean across = orientation == GTK_ORIENTATION_HORIZONTAL;
    // Larger letters take room around the curves: these keep theirs.
    const double scale = MAX(litho_text_scale(widget), 1);
    *minimum = *natural = across ? 160 : (int)ceil(LITHO_PLOT(widget)->height * scale);
    *minimum_baseline = *natural_baseline = -1;
}

static void curve_clear(gpointer data)
{
    LithoPlotCurve *c = data;
    g_free(c->x);
    g_free(c->y);
    g_free(c->label);
}

static void finalize(GObject *object)
{
    LithoPlot *self = LITHO_PLOT(object);
    g_array_unref(self->curves);
    g_free(self->x_label);
    g_free(self->y_label);
    G_OBJECT_CLASS(litho_plot_parent_class)->finalize(object);
}

static void litho_plot_init(LithoPlot *self)
{
    gtk_widget_set_direction(GTK_WIDGET(self), GTK_TEXT_DIR_LTR); // in every language
    self->curves = g_array_new(FALSE, TRUE, sizeof(LithoPlotCurve));
    g_array_set_clear_func(self->curves, curve_clear);
    self->dragged = -1;
    litho_plot_handles_init(self);
    g_signal_connect(self, "notify::has-focus", G_CALLBACK(gtk_widget_queue_draw), NULL);
    gtk_widget_set_hexpand(GTK_WIDGET(self), TRUE);
}

static void litho_plot_class_init(LithoPlotClass *klass)
{
    G_OBJECT_CLASS(klass)->finalize = finalize;
    GTK_WIDGET_CLASS(klass)->snapshot = snapshot_plot;
    GTK_WIDGET_CLASS(klass)->measure = measure;
    gtk_widget_class_set_css_name(GTK_WIDGET_CLASS(klass), "plot");
    gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(klass), GTK_ACCESSIBLE_ROLE_IMG);
    g_signal_new("handle-moved", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                 G_TYPE_NONE, 2, G_TYPE_UINT, G_TYPE_DOUBLE);
}

GtkWidget *litho_plot_new(const char *name, int height)
{
    LithoPlot *self = g_object_new(LITHO_TYPE_PLOT, NULL);
    self->height = height;
    gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    return GTK_WIDGET(self);
}

void litho_plot_set_axes(LithoPlot *self, const char *x_label, const char *y_label)
{
    g_free(self->x_label);
    g_free(self->y_label);
    self->x_label = x_label && *x_label ? g_strdup(x_label) : NULL;
    self->y_label = y_label && *y_label ? g_strdup(y_label) : NULL;
    litho_plot_changed(self);
}

void litho_plot_set_log(LithoPlot *self, gboolean log_x, gboolean log_y)
{
    self->log_x = log_x;
    self->log_y = log_y;
    litho_plot_changed(self);
}

void litho_plot_set_curve(LithoPlot *self, guint k, guint n, const double *x, const double *y,
                          const char *label, LithoPlotKind kind)
{
    if (k >= self->curves->len)
        g_array_set_size(self->curves, k + 1);
    LithoPlotCurve *c = curve_at(self, k);
    curve_clear(c);
    *c = (LithoPlotCurve){n, g_memdup2(x, n * sizeof *x), g_memdup2(y, n * sizeof *y),
                          g_strdup(label), kind};
    litho_plot_changed(self);
}

void litho_plot_truncate(LithoPlot *self, guint n)
{
    if (n >= self->curves->len)
        return;
    g_array_set_size(self->curves, n);
    litho_plot_changed(self);
}

void litho_plot_set_marks(LithoPlot *self, guint n, const double *x)
{
    self->n_marks = MIN(n, G_N_ELEMENTS(self->mark));
    memcpy(self->mark, x, self->n_marks * sizeof *x);
    litho_plot_changed(self);
}

const char *litho_plot_x_label(LithoPlot *self)
{
    return self->x_label;
}

void litho_plot_set_y_range(LithoPlot *self, double lo, double hi)
{
    self->y_range[0] = lo;
    self->y_range[1] = hi;
    litho_plot_changed(self);
}

void litho_plot_set_x_range(LithoPlot *self, double lo, double hi)
{
    self->x_range[0] = lo;
    self->x_range[1] = hi;
    litho_plot_changed(self);
}
