// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/view/fk_view.h"

#include <math.h>
#include <string.h>

#include "core/text.h"
#include "render/colormap.h"
#include "render/ticks.h"
#include "ui/view/small_text.h"

enum { HEIGHT = 132, BAR = 8, MOST = 512 }; // MOST: pixels of a picture either way

struct _LithoFkView {
    GtkWidget parent;
    char *title;
    GdkTexture *picture; // NULL = nothing to show
    LithoFkPicture shape; // of what it shows, without samples
    guint by[2];          // columns and rows of that in one pixel
    LithoFkAxes axes;
};

G_DEFINE_TYPE(LithoFkView, litho_fk_view, GTK_TYPE_WIDGET)

// --- the picture --------------------------------------------------------------------------------

LithoFkPicture litho_fk_picture(const LithoFk *fk, gboolean by_trace)
{
    return by_trace ? (LithoFkPicture){fk->by_trace, fk->n_x, fk->n_f}
                    : (LithoFkPicture){fk->amplitude, fk->n_k, fk->n_f};
}

// Wavenumber of column `k` in cycles a trace.
static double wavenumber(guint k, guint n)
{
    return ((double)k - n / 2) / n;
}

LithoRect litho_fk_place(const LithoFkPicture *p, gboolean by_line, LithoRect data)
{
    const double high = data.h / (p->n_f - 1), wide = data.w / p->n_x;
    const double left = by_line ? 0 : (wavenumber(0, p->n_x) + 0.5) * data.w - wide / 2;
    return (LithoRect){data.x + left, data.y - high / 2, data.w, data.h + high};
}

double litho_fk_picture_top(const LithoFkPicture *p)
{
    double top = 0;
    for (gsize k = 0; k < (gsize)p->n_x * p->n_f; k++)
        top = MAX(top, p->amplitude[k]);
    return top;
}

LithoFkPicture litho_fk_reduced(const LithoFkPicture *p, guint most, guint by[2])
{
    by[0] = (p->n_x + most - 1) / most;
    by[1] = (p->n_f + most - 1) / most;
    const guint n_x = (p->n_x + by[0] - 1) / by[0], n_f = (p->n_f + by[1] - 1) / by[1];
    float *largest = g_new0(float, (gsize)n_x * n_f);
    for (guint k = 0; k < p->n_x; k++) {
        const float *from = p->amplitude + (gsize)k * p->n_f;
        float *to = largest + (gsize)(k / by[0]) * n_f;
        for (guint f = 0; f < p->n_f; to++)
            for (const guint end = MIN(f + by[1], p->n_f); f < end; f++)
                *to = MAX(*to, from[f]);
    }
    return (LithoFkPicture){largest, n_x, n_f};
}

// Wavenumbers or traces to the right, frequencies upwards.
static GdkTexture *make_picture(const LithoFkPicture *p, double top, int decibels)
{
    const LithoColormap *map = litho_colormap_find("ember");
    const float scale = 20 / (float)decibels, zero = top > 0 ? log10f((float)top) : 0;
    gsize stride = 4 * (gsize)p->n_x;
    guint8 *rgba = g_malloc(stride * p->n_f);
    for (guint k = 0; k < p->n_x; k++)
        for (guint f = 0; f < p->n_f; f++) {
            const float a = p->amplitude[(gsize)k * p->n_f + f];
            const float t = a > 0 && top > 0 ? 1 + scale * (log10f(a) - zero) : 0;
            memcpy(&rgba[(p->n_f - 1 - f) * stride + 4 * (gsize)k],
                   map->rgba[lrintf(255 * CLAMP(t, 0, 1))], 4);
        }
    g_autoptr(GBytes) bytes = g_bytes_new_take(rgba, stride * p->n_f);
    return gdk_memory_texture_new((int)p->n_x, (int)p->n_f, GDK_MEMORY_R8G8B8A8, bytes, stride);
}

// --- drawing ------------------------------------------------------------------------------------

// Behind the largest wavenumber the most negative one comes again.
static void draw_picture(LithoFkView *self, GtkSnapshot *snapshot, LithoRect data)
{
    const LithoRect r = litho_fk_place(&self->shape, self->axes.by_line, data);
    // The last pixels stand for cells beyond the last ones, too.
    const double w = r.w * gdk_texture_get_width(self->picture) * self->by[0] / self->shape.n_x;
    const double h = r.h * gdk_texture_get_height(self->picture) * self->by[1] / self->shape.n_f;
    gtk_snapshot_push_clip(snapshot, &GRAPHENE_RECT_INIT(data.x, data.y, data.w, data.h));
    for (int turn = 0; turn < (self->axes.by_line ? 1 : 2); turn++)
        gtk_snapshot_append_texture(snapshot, self->picture,
                                    &GRAPHENE_RECT_INIT(r.x + turn * r.w, r.y + r.h - h, w, h));
    gtk_snapshot_pop(snapshot);
}

static void draw_axes(LithoFkView *self, GtkSnapshot *snapshot, double x, double y, double w,
                      double h, int line)
{
    GtkWidget *widget = GTK_WIDGET(self);
    GdkRGBA faint = {1, 1, 1, 0.16};
    char text[32];
    double lo = self->axes.x_lo, hi = self->axes.x_hi, f_max = self->axes.f_max;
    LithoTicks ticks = litho_ticks(lo, hi, w / (3.6 * line), self->axes.by_line);
    if (ticks.n < 2) // one number alone gives no scale: closer, where they still fit
        ticks = litho_ticks(lo, hi, w / (2.1 * line), self->axes.by_line);
    for (guint n = 0; n < ticks.n; n++) {
        double at = x + (ticks.value[n] - lo) / (hi - lo) * w;
        if (self->axes.by_line)
            g_snprintf(text, sizeof text, "%.0f", ticks.value[n]);
        else
            litho_format_number(text, sizeof text, ticks.value[n], ticks.step);
        gtk_snapshot_append_color(snapshot, &faint, &GRAPHENE_RECT_INIT(floor(at), y, 1, h));
        litho_small_text_draw(widget, snapshot, text, at, y + h + 0.6 * line, 0.5, 0.75);
    }
    ticks = litho_ticks(0, f_max, h / (1.8 * line), FALSE);
    for (guint n = 0; n < ticks.n; n++) {
        double at = y + h - ticks.value[n] / f_max * h;
        litho_format_number(text, sizeof text, ticks.value[n], ticks.step);
        gtk_snapshot_append_color(snapshot, &faint, &GRAPHENE_RECT_INIT(x, floor(at), w, 1));
        litho_small_text_draw(widget, snapshot, text, x - 4, at, 1, 0.75);
    }
    litho_small_text_draw(widget, snapshot, self->axes.x_unit, x + w, y + h + 1.55 * line, 1, 0.75);
    litho_small_text_draw(widget, snapshot, self->axes.f_unit, 0, 0.55 * line, 0, 0.75);
}

// 0 dB at the top, upright beside the picture.
static void draw_bar(LithoFkView *self, GtkSnapshot *snapshot, double x, double y, double h,
                     int line)
{
    const LithoColormap *map = litho_colormap_find("ember");
    for (int k = 0; k < (int)h; k++) {
        const guint8 *c = map->rgba[(int)(255 * (1 - k / h))];
        gtk_snapshot_append_color(snapshot, &(GdkRGBA){c[0] / 255.f, c[1] / 255.f, c[2] / 255.f, 1},
                                  &GRAPHENE_RECT_INIT(x, y + k, BAR, 1));
    }
    const int decibels = self->axes.decibels;
    const int step = (h > 12 * line ? 10 : 20) * (decibels > 80 ? 2 : 1);
    for (int db = 0; db <= decibels; db += step) {
        char text[8];
        g_snprintf(text, sizeof text, db ? "−%d" : "0", db);
        litho_small_text_draw(GTK_WIDGET(self), snapshot, text, x + BAR + 3,
                              y + CLAMP((double)db / decibels * h, 0.4 * line, h - 0.4 * line), 0,
                              0.75);
    }
    litho_small_text_draw(GTK_WIDGET(self), snapshot, "dB", x, y + h + 1.55 * line, 0, 0.75);
}

static void snapshot_view(GtkWidget *widget, GtkSnapshot *snapshot)
{
    LithoFkView *self = LITHO_FK_VIEW(widget);
    double width = gtk_widget_get_width(widget), height = gtk_widget_get_height(widget);
    int line = litho_small_text_height(widget);
    double x = 2.9 * line, y = line + 3, w = width - x - 6 - BAR - 2.3 * line,
           h = height - y - 2.15 * line;
    litho_small_text_draw(widget, snapshot, self->title, width, 0.55 * line, 1, 0.9);
    if (w < 20 || h < 20)
        return;
    if (!self->picture) {
        litho_small_text_draw(widget, snapshot, _("nothing here yet"), width / 2, height / 2, 0.5,
                              0.55);
        return;
    }
    draw_picture(self, snapshot, (LithoRect){x, y, w, h});
    draw_axes(self, snapshot, x, y, w, h, line);
    draw_bar(self, snapshot, x + w + 6, y, h, line);
}

// --- the widget ---------------------------------------------------------------------------------

static void measure(GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum,
                    int *natural, int *minimum_baseline, int *natural_baseline)
{
    (void)for_size;
    const double high = HEIGHT * MAX(litho_text_scale(widget), 1); // of letters, too
    *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 160 : (int)ceil(high);
    *minimum_baseline = *natural_baseline = -1;
}

static void finalize(GObject *object)
{
    LithoFkView *self = LITHO_FK_VIEW(object);
    g_clear_object(&self->picture);
    g_free(self->title);
    G_OBJECT_CLASS(litho_fk_view_parent_class)->finalize(object);
}

static void litho_fk_view_init(LithoFkView *self)
{
    gtk_widget_set_direction(GTK_WIDGET(self), GTK_TEXT_DIR_LTR); // in every language
    gtk_widget_set_hexpand(GTK_WIDGET(self), TRUE);
}

static void litho_fk_view_class_init(LithoFkViewClass *klass)
{
    G_OBJECT_CLASS(klass)->finalize = finalize;
    GTK_WIDGET_CLASS(klass)->snapshot = snapshot_view;
    GTK_WIDGET_CLASS(klass)->measure = measure;
    gtk_widget_class_set_css_name(GTK_WIDGET_CLASS(klass), "plot");
    gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(klass), GTK_ACCESSIBLE_ROLE_IMG);
}

GtkWidget *litho_fk_view_new(const char *title, const char *what)
{
    LithoFkView *self = g_object_new(LITHO_TYPE_FK_VIEW, NULL);
    self->title = g_strdup(title);
    g_autofree char *name = g_strdup_printf("%s, %s", what, title);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    return GTK_WIDGET(self);
}

// Names the place of the strongest wave, for a person who does not see it.
static void describe(LithoFkView *self, const LithoFkPicture *p)
{
    gsize best = 0, n = (gsize)p->n_x * p->n_f;
    for (gsize k = 1; k < n; k++)
        best = p->amplitude[k] > p->amplitude[best] ? k : best;
    double f = (double)(best % p->n_f) / (p->n_f - 1) * self->axes.f_max;
    const guint k = (guint)(best / p->n_f);
    const double share =
        self->axes.by_line ? (k + 0.5) / p->n_x : wavenumber(k, p->n_x) + 0.5; // of the axis
    double x = self->axes.x_lo + share * (self->axes.x_hi - self->axes.x_lo);
    g_autofree char *place = litho_text_printf(self->axes.by_line ? "%.10g" : "%.4g", x);
    g_autofree char *text = litho_text_printf(_("strongest at %.3g %s and %s %s"), f,
                                              self->axes.f_unit, place, self->axes.x_unit);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text,
                                   -1);
}

void litho_fk_view_set(LithoFkView *self, const LithoFkPicture *picture, double top,
                       const LithoFkAxes *axes)
{
    g_clear_object(&self->picture);
    if (picture && picture->n_f > 1 && picture->n_x > 0) {
        self->axes = *axes;
        self->shape = (LithoFkPicture){NULL, picture->n_x, picture->n_f};
        const LithoFkPicture reduced = litho_fk_reduced(picture, MOST, self->by);
        self->picture = make_picture(&reduced, top, axes->decibels);
        g_free((gpointer)reduced.amplitude);
        describe(self, picture);
    }
    gtk_widget_queue_draw(GTK_WIDGET(self));
}
