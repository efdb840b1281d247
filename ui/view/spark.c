// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/view/spark.h"

#include <string.h>

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
        cairo_line_to(cr, 1 + (w - 2) * k / (self->n - 1), h - 2 - (h - 4) * self->value[k] / top);
    GdkRGBA ink;
    gtk_style_context_get_color(gtk_widget_get_style_context(widget), &ink);
    ink.alpha *= 0.8f;
    gdk_cairo_set_source_rgba(cr, &ink);
    cairo_set_line_width(cr, 1);
    cairo_stroke(cr);
    cairo_destroy(cr);
}

static void spark_measure(GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum,
                          int *natural, int *minimum_baseline, int *natural_baseline)
{
    (void)widget;
    (void)for_size;
    *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 28 : 16;
    *minimum_baseline = *natural_baseline = -1;
}

static void litho_spark_init(LithoSpark *self)
{
    gtk_widget_set_direction(GTK_WIDGET(self), GTK_TEXT_DIR_LTR); // in every language
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
