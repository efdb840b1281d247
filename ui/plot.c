// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plot.h"

#include <math.h>
#include <string.h>

#include "render/ticks.h"

typedef struct Curve {
    guint n;
    double *x, *y;
    char *label;
    gboolean filled;
} Curve;

struct _LithoPlot {
    GtkWidget parent;
    int height;
    char *x_label, *y_label;
    Curve curve[LITHO_PLOT_CURVES];
    double y_lo, y_hi;
    guint n_marks;
    double mark[4];
};

G_DEFINE_TYPE(LithoPlot, litho_plot, GTK_TYPE_WIDGET)

typedef struct Area {
    double x, y, w, h;     // pixels
    double x0, x1, y0, y1; // values
} Area;

static double px(const Area *a, double x)
{
    return a->x + (x - a->x0) / (a->x1 - a->x0) * a->w;
}

static double py(const Area *a, double y)
{
    return a->y + a->h - (CLAMP(y, a->y0, a->y1) - a->y0) / (a->y1 - a->y0) * a->h;
}

// --- colours ------------------------------------------------------------------------------------

static GdkRGBA ink_of(GtkWidget *widget, double alpha)
{
    GdkRGBA ink;
    gtk_style_context_get_color(gtk_widget_get_style_context(widget), &ink);
    ink.alpha *= alpha;
    return ink;
}

// Input quiet, result in the accent colour; the others stay apart in luminance, not in hue alone.
static GdkRGBA curve_colour(GtkWidget *widget, guint k)
{
    static const GdkRGBA others[] = {{0.80, 0.42, 0.16, 1}, {0.48, 0.36, 0.70, 1}};
    if (k == 0)
        return ink_of(widget, 0.45);
    if (k > 1)
        return others[MIN(k - 2, 1)];
    GdkRGBA accent = {0.21, 0.52, 0.89, 1}, ink = ink_of(widget, 1);
    gtk_style_context_lookup_color(gtk_widget_get_style_context(widget), "theme_selected_bg_color",
                                   &accent);
    // The dark theme's accent is made for surfaces; as a thin line it needs more light.
    if (ink.red + ink.green + ink.blue > 1.5)
        accent = (GdkRGBA){0.4 + 0.6 * accent.red, 0.4 + 0.6 * accent.green,
                           0.4 + 0.6 * accent.blue, 1};
    return accent;
}

// --- range --------------------------------------------------------------------------------------

static gboolean data_range(LithoPlot *self, Area *a)
{
    a->x0 = a->y0 = INFINITY;
    a->x1 = a->y1 = -INFINITY;
    for (guint k = 0; k < LITHO_PLOT_CURVES; k++)
        for (guint i = 0; i < self->curve[k].n; i++) {
            double x = self->curve[k].x[i], y = self->curve[k].y[i];
            if (!isfinite(x) || !isfinite(y))
                continue;
            a->x0 = MIN(a->x0, x);
            a->x1 = MAX(a->x1, x);
            a->y0 = MIN(a->y0, y);
            a->y1 = MAX(a->y1, y);
        }
    if (!(a->x1 > a->x0))
        return FALSE;
    if (self->y_hi > self->y_lo) {
        a->y0 = self->y_lo;
        a->y1 = self->y_hi;
    }
    if (!(a->y1 > a->y0)) {
        a->y0 -= 0.5;
        a->y1 += 0.5;
    }
    return TRUE;
}

// --- drawing ------------------------------------------------------------------------------------

static void draw_text(LithoPlot *self, GtkSnapshot *snapshot, const char *text, double x, double y,
                      double align, double alpha)
{
    g_autoptr(PangoLayout) layout = gtk_widget_create_pango_layout(GTK_WIDGET(self), text);
    PangoFontDescription *font = pango_font_description_new();
    pango_font_description_set_absolute_size(font, 10 * PANGO_SCALE);
    pango_layout_set_font_description(layout, font);
    pango_font_description_free(font);
    int w, h;
    pango_layout_get_pixel_size(layout, &w, &h);
    GdkRGBA ink = ink_of(GTK_WIDGET(self), alpha);
    double left = CLAMP(x - align * w, 0, MAX(gtk_widget_get_width(GTK_WIDGET(self)) - w, 0));
    gtk_snapshot_save(snapshot);
    gtk_snapshot_translate(snapshot, &GRAPHENE_POINT_INIT(left, y - h / 2.0));
    gtk_snapshot_append_layout(snapshot, layout, &ink);
    gtk_snapshot_restore(snapshot);
}

static void draw_axes(LithoPlot *self, GtkSnapshot *snapshot, const Area *a)
{
    GdkRGBA faint = ink_of(GTK_WIDGET(self), 0.12);
    LithoTicks xs = litho_ticks(a->x0, a->x1, a->w / 46, FALSE);
    LithoTicks ys = litho_ticks(a->y0, a->y1, a->h / 24, FALSE);
    char text[32];
    for (guint k = 0; k < xs.n; k++) {
        double x = px(a, xs.value[k]);
        gtk_snapshot_append_color(snapshot, &faint, &GRAPHENE_RECT_INIT(floor(x), a->y, 1, a->h));
        litho_format_number(text, sizeof text, xs.value[k], xs.step);
        draw_text(self, snapshot, text, x, a->y + a->h + 8, 0.5, 0.75);
    }
    for (guint k = 0; k < ys.n; k++) {
        double y = py(a, ys.value[k]);
        gtk_snapshot_append_color(snapshot, &faint, &GRAPHENE_RECT_INIT(a->x, floor(y), a->w, 1));
        litho_format_number(text, sizeof text, ys.value[k], ys.step);
        draw_text(self, snapshot, text, a->x - 4, y, 1, 0.75);
    }
    if (self->x_label)
        draw_text(self, snapshot, self->x_label, a->x + a->w, a->y + a->h + 20, 1, 0.75);
    if (self->y_label)
        draw_text(self, snapshot, self->y_label, 0, 7, 0, 0.75);
}

static void draw_curve(LithoPlot *self, cairo_t *cr, const Area *a, guint k)
{
    const Curve *c = &self->curve[k];
    GdkRGBA colour = curve_colour(GTK_WIDGET(self), k);
    cairo_new_path(cr);
    for (guint i = 0; i < c->n; i++)
        cairo_line_to(cr, px(a, c->x[i]), py(a, c->y[i]));
    if (c->filled) {
        cairo_path_t *line = cairo_copy_path(cr);
        cairo_line_to(cr, px(a, c->x[c->n - 1]), a->y + a->h);
        cairo_line_to(cr, px(a, c->x[0]), a->y + a->h);
        cairo_set_source_rgba(cr, colour.red, colour.green, colour.blue, colour.alpha * 0.25);
        cairo_fill(cr);
        cairo_append_path(cr, line);
        cairo_path_destroy(line);
    }
    gdk_cairo_set_source_rgba(cr, &colour);
    cairo_set_line_width(cr, 1.5);
    cairo_stroke(cr);
}

static void draw_legend(LithoPlot *self, GtkSnapshot *snapshot)
{
    double right = gtk_widget_get_width(GTK_WIDGET(self));
    for (guint k = LITHO_PLOT_CURVES; k-- > 0;) {
        const Curve *c = &self->curve[k];
        if (c->n == 0 || !c->label)
            continue;
        GdkRGBA colour = curve_colour(GTK_WIDGET(self), k);
        double width = 5.6 * g_utf8_strlen(c->label, -1) + 20;
        right -= width;
        gtk_snapshot_append_color(snapshot, &colour, &GRAPHENE_RECT_INIT(right + 2, 6, 10, 2));
        draw_text(self, snapshot, c->label, right + 15, 7, 0, 0.9);
    }
}

static void snapshot_plot(GtkWidget *widget, GtkSnapshot *snapshot)
{
    LithoPlot *self = LITHO_PLOT(widget);
    double w = gtk_widget_get_width(widget), h = gtk_widget_get_height(widget);
    Area a = {.x = 36, .y = 16, .w = w - 42, .h = h - 16 - (self->x_label ? 28 : 16)};
    if (a.w < 20 || a.h < 20)
        return;
    if (!data_range(self, &a)) {
        draw_text(self, snapshot, "no data yet", w / 2, h / 2, 0.5, 0.55);
        return;
    }
    draw_axes(self, snapshot, &a);
    cairo_t *cr = gtk_snapshot_append_cairo(snapshot, &GRAPHENE_RECT_INIT(a.x, a.y, a.w, a.h));
    for (guint k = 0; k < LITHO_PLOT_CURVES; k++)
        if (self->curve[k].n > 1)
            draw_curve(self, cr, &a, k);
    cairo_destroy(cr);
    GdkRGBA ink = ink_of(widget, 0.8);
    for (guint k = 0; k < self->n_marks; k++)
        if (self->mark[k] >= a.x0 && self->mark[k] <= a.x1)
            gtk_snapshot_append_color(
                snapshot, &ink, &GRAPHENE_RECT_INIT(floor(px(&a, self->mark[k])), a.y, 1, a.h));
    draw_legend(self, snapshot);
}

// --- the widget ---------------------------------------------------------------------------------

static void measure(GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum,
                    int *natural, int *minimum_baseline, int *natural_baseline)
{
    (void)for_size;
    gboolean across = orientation == GTK_ORIENTATION_HORIZONTAL;
    *minimum = *natural = across ? 160 : LITHO_PLOT(widget)->height;
    *minimum_baseline = *natural_baseline = -1;
}

static void curve_clear(Curve *c)
{
    g_free(c->x);
    g_free(c->y);
    g_free(c->label);
    memset(c, 0, sizeof *c);
}

static void finalize(GObject *object)
{
    LithoPlot *self = LITHO_PLOT(object);
    for (guint k = 0; k < LITHO_PLOT_CURVES; k++)
        curve_clear(&self->curve[k]);
    g_free(self->x_label);
    g_free(self->y_label);
    G_OBJECT_CLASS(litho_plot_parent_class)->finalize(object);
}

static void litho_plot_init(LithoPlot *self)
{
    gtk_widget_set_hexpand(GTK_WIDGET(self), TRUE);
}

static void litho_plot_class_init(LithoPlotClass *klass)
{
    G_OBJECT_CLASS(klass)->finalize = finalize;
    GTK_WIDGET_CLASS(klass)->snapshot = snapshot_plot;
    GTK_WIDGET_CLASS(klass)->measure = measure;
    gtk_widget_class_set_css_name(GTK_WIDGET_CLASS(klass), "plot");
    gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(klass), GTK_ACCESSIBLE_ROLE_IMG);
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
    gtk_widget_queue_draw(GTK_WIDGET(self));
}

void litho_plot_set_curve(LithoPlot *self, guint k, guint n, const double *x, const double *y,
                          const char *label, gboolean filled)
{
    Curve *c = &self->curve[k];
    curve_clear(c);
    *c = (Curve){n, g_memdup2(x, n * sizeof *x), g_memdup2(y, n * sizeof *y), g_strdup(label),
                 filled};
    gtk_widget_queue_draw(GTK_WIDGET(self));
}

void litho_plot_set_y_range(LithoPlot *self, double lo, double hi)
{
    self->y_lo = lo;
    self->y_hi = hi;
    gtk_widget_queue_draw(GTK_WIDGET(self));
}

void litho_plot_set_marks(LithoPlot *self, guint n, const double *x)
{
    self->n_marks = MIN(n, G_N_ELEMENTS(self->mark));
    memcpy(self->mark, x, self->n_marks * sizeof *x);
    gtk_widget_queue_draw(GTK_WIDGET(self));
}

// --- sparkline ----------------------------------------------------------------------------------

enum { SPARK_MAX = 64 };

struct _LithoSpark {
    GtkWidget parent;
    guint n;
    float value[SPARK_MAX];
};

G_DEFINE_TYPE(LithoSpark, litho_spark, GTK_TYPE_WIDGET)

static void spark_snapshot(GtkWidget *widget, GtkSnapshot *snapshot)
{
    LithoSpark *self = LITHO_SPARK(widget);
    double w = gtk_widget_get_width(widget), h = gtk_widget_get_height(widget);
    float top = 0;
    for (guint k = 0; k < self->n; k++)
        top = MAX(top, self->value[k]);
    if (self->n < 2 || !(top > 0))
        return;
    cairo_t *cr = gtk_snapshot_append_cairo(snapshot, &GRAPHENE_RECT_INIT(0, 0, w, h));
    for (guint k = 0; k < self->n; k++)
        cairo_line_to(cr, 1 + (w - 2) * k / (self->n - 1),
                      h - 2 - (h - 4) * self->value[k] / top);
    GdkRGBA ink = ink_of(widget, 0.8);
    gdk_cairo_set_source_rgba(cr, &ink);
    cairo_set_line_width(cr, 1);
    cairo_stroke(cr);
    cairo_destroy(cr);
}

static void spark_measure(GtkWidget *widget, GtkOrientation orientation, int for_size,
                          int *minimum, int *natural, int *minimum_baseline, int *natural_baseline)
{
    (void)widget;
    (void)for_size;
    *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 48 : 16;
    *minimum_baseline = *natural_baseline = -1;
}

static void litho_spark_init(LithoSpark *self)
{
    gtk_accessible_update_state(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_STATE_HIDDEN, TRUE, -1);
}

static void litho_spark_class_init(LithoSparkClass *klass)
{
    GTK_WIDGET_CLASS(klass)->snapshot = spark_snapshot;
    GTK_WIDGET_CLASS(klass)->measure = spark_measure;
    gtk_widget_class_set_css_name(GTK_WIDGET_CLASS(klass), "spark");
}

GtkWidget *litho_spark_new(void)
{
    return g_object_new(LITHO_TYPE_SPARK, NULL);
}

void litho_spark_set(LithoSpark *self, guint n, const float *values)
{
    self->n = MIN(n, SPARK_MAX);
    memcpy(self->value, values + (n - self->n), self->n * sizeof *values);
    gtk_widget_queue_draw(GTK_WIDGET(self));
}
