// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/view/fk_view.h"

#include <math.h>
#include <string.h>

#include "render/colormap.h"
#include "render/ticks.h"
#include "ui/view/small_text.h"

enum { HEIGHT = 132 };
static const double decibels = 60;

struct _LithoFkView {
    GtkWidget parent;
    char *title;
    GdkTexture *picture; // NULL = nothing to show
    LithoFkAxes axes;
};

G_DEFINE_TYPE(LithoFkView, litho_fk_view, GTK_TYPE_WIDGET)

// --- the picture --------------------------------------------------------------------------------

// Wavenumbers to the right, frequencies upwards.
static GdkTexture *make_picture(const LithoFk *fk, double top)
{
    const LithoColormap *map = litho_colormap_find("ember");
    gsize stride = 4 * (gsize)fk->n_k;
    guint8 *rgba = g_malloc(stride * fk->n_f);
    for (guint f = 0; f < fk->n_f; f++)
        for (guint k = 0; k < fk->n_k; k++) {
            double a = fk->amplitude[(gsize)k * fk->n_f + f];
            double db = a > 0 && top > 0 ? 20 * log10(a / top) : -decibels;
            double t = CLAMP(1 + db / decibels, 0, 1);
            memcpy(&rgba[(fk->n_f - 1 - f) * stride + 4 * (gsize)k], map->rgba[lrint(255 * t)], 4);
        }
    g_autoptr(GBytes) bytes = g_bytes_new_take(rgba, stride * fk->n_f);
    return gdk_memory_texture_new((int)fk->n_k, (int)fk->n_f, GDK_MEMORY_R8G8B8A8, bytes, stride);
}

// --- drawing ------------------------------------------------------------------------------------

static void draw_axes(LithoFkView *self, GtkSnapshot *snapshot, double x, double y, double w,
                      double h, int line)
{
    GtkWidget *widget = GTK_WIDGET(self);
    GdkRGBA faint = {1, 1, 1, 0.16};
    char text[32];
    double k_max = self->axes.k_max, f_max = self->axes.f_max;
    LithoTicks ticks = litho_ticks(-k_max, k_max, w / (3.6 * line), FALSE);
    for (guint n = 0; n < ticks.n; n++) {
        double at = x + (ticks.value[n] / k_max + 1) / 2 * w;
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
    litho_small_text_draw(widget, snapshot, self->axes.k_unit, x + w, y + h + 1.55 * line, 1, 0.75);
    litho_small_text_draw(widget, snapshot, self->axes.f_unit, 0, 0.55 * line, 0, 0.75);
}

static void snapshot_view(GtkWidget *widget, GtkSnapshot *snapshot)
{
    LithoFkView *self = LITHO_FK_VIEW(widget);
    double width = gtk_widget_get_width(widget), height = gtk_widget_get_height(widget);
    int line = litho_small_text_height(widget);
    double x = 2.9 * line, y = line + 3, w = width - x - 6, h = height - y - 2.15 * line;
    litho_small_text_draw(widget, snapshot, self->title, width, 0.55 * line, 1, 0.9);
    if (w < 20 || h < 20)
        return;
    if (!self->picture) {
        litho_small_text_draw(widget, snapshot, "nothing here yet", width / 2, height / 2, 0.5,
                              0.55);
        return;
    }
    gtk_snapshot_append_texture(snapshot, self->picture, &GRAPHENE_RECT_INIT(x, y, w, h));
    draw_axes(self, snapshot, x, y, w, h, line);
}

// --- the widget ---------------------------------------------------------------------------------

static void measure(GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum,
                    int *natural, int *minimum_baseline, int *natural_baseline)
{
    (void)widget;
    (void)for_size;
    *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 160 : HEIGHT;
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

GtkWidget *litho_fk_view_new(const char *title)
{
    LithoFkView *self = g_object_new(LITHO_TYPE_FK_VIEW, NULL);
    self->title = g_strdup(title);
    g_autofree char *name = g_strdup_printf("Frequency and wavenumber, %s", title);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    return GTK_WIDGET(self);
}

// Where the strongest wave is, for those who do not see it.
static void describe(LithoFkView *self, const LithoFk *fk)
{
    gsize best = 0, n = (gsize)fk->n_k * fk->n_f;
    for (gsize k = 1; k < n; k++)
        best = fk->amplitude[k] > fk->amplitude[best] ? k : best;
    double f = (double)(best % fk->n_f) / (fk->n_f - 1) * self->axes.f_max;
    double k = ((double)(best / fk->n_f) / fk->n_k - 0.5) * 2 * self->axes.k_max;
    g_autofree char *text = g_strdup_printf("strongest at %.3g %s and %.3g %s", f,
                                            self->axes.f_unit, k, self->axes.k_unit);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text,
                                   -1);
}

void litho_fk_view_set(LithoFkView *self, const LithoFk *fk, double top, const LithoFkAxes *axes)
{
    g_clear_object(&self->picture);
    if (fk && fk->n_f > 1) {
        self->axes = *axes;
        self->picture = make_picture(fk, top);
        describe(self, fk);
    }
    gtk_widget_queue_draw(GTK_WIDGET(self));
}
