// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/view/small_text.h"

#include <math.h>

double litho_text_scale(GtkWidget *widget)
{
    int dpi = -1; // 1024 times that
    g_object_get(gtk_widget_get_settings(widget), "gtk-xft-dpi", &dpi, NULL);
    return dpi > 0 ? CLAMP(dpi / (96.0 * 1024), 0.75, 2.5) : 1;
}

static PangoLayout *layout_new(GtkWidget *widget, const char *text)
{
    PangoLayout *layout = gtk_widget_create_pango_layout(widget, text);
    PangoContext *context = pango_layout_get_context(layout);
    PangoFontDescription *font =
        pango_font_description_copy(pango_context_get_font_description(context));
    gint size = (gint)(0.8 * pango_font_description_get_size(font));
    if (pango_font_description_get_size_is_absolute(font))
        pango_font_description_set_absolute_size(font, size);
    else
        pango_font_description_set_size(font, size);
    pango_layout_set_font_description(layout, font);
    pango_font_description_free(font);
    return layout;
}

int litho_small_text_width(GtkWidget *widget, const char *text)
{
    int w;
    g_autoptr(PangoLayout) layout = layout_new(widget, text);
    pango_layout_get_pixel_size(layout, &w, NULL);
    return w;
}

int litho_small_text_height(GtkWidget *widget)
{
    int h;
    g_autoptr(PangoLayout) layout = layout_new(widget, "0");
    pango_layout_get_pixel_size(layout, NULL, &h);
    return h;
}

void litho_small_text_draw(GtkWidget *widget, GtkSnapshot *snapshot, const char *text, double x,
                           double y, double align, double alpha)
{
    int w, h;
    GdkRGBA ink;
    g_autoptr(PangoLayout) layout = layout_new(widget, text);
    pango_layout_get_pixel_size(layout, &w, &h);
    gtk_style_context_get_color(gtk_widget_get_style_context(widget), &ink);
    ink.alpha *= alpha;
    double left = CLAMP(x - align * w, 0, MAX(gtk_widget_get_width(widget) - w, 0));
    gtk_snapshot_save(snapshot);
    gtk_snapshot_translate(snapshot, &GRAPHENE_POINT_INIT(floor(left), floor(y - h / 2.0)));
    gtk_snapshot_append_layout(snapshot, layout, &ink);
    gtk_snapshot_restore(snapshot);
}
