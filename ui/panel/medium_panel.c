// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/medium_panel.h"

#include "core/text.h"
#include "render/ticks.h"
#include "ui/panel/parts.h"
#include "ui/view/medium_picture.h"

enum { PICTURE_H = 110, PLAIN_H = 12 }; // PLAIN_H: of one value everywhere

typedef struct MediumPanel {
    LithoSession *session;
    GtkWidget *box, *title, *picture, *range, *opacity;
} MediumPanel;

static void refresh(MediumPanel *self)
{
    LithoMedium *medium = litho_medium_of(self->session);
    const LithoLayer *layer = litho_medium_layer(medium);
    double lo, hi;
    g_autoptr(GdkTexture) texture = litho_medium_picture(medium, self->session, LITHO_INLINE);
    gtk_widget_set_visible(self->box, layer != NULL && texture != NULL);
    if (!layer || !texture)
        return;
    litho_medium_range(medium, &lo, &hi);
    g_autofree char *low = litho_format_amplitude(lo), *high = litho_format_amplitude(hi);
    g_autofree char *range =
        lo < hi ? g_strdup_printf(_("%s (dark) to %s (light) %s"), low, high, layer->unit)
                : g_strdup_printf(_("%s %s everywhere"), low, layer->unit);
    g_autofree char *name =
        g_strdup_printf(_("%s under the inline in front, %s"), litho_text(layer->label), range);
    gtk_label_set_text(GTK_LABEL(self->title), litho_text(layer->label));
    litho_label_set_unbroken(self->range, range);
    gtk_widget_set_size_request(self->picture, -1, lo < hi ? PICTURE_H : PLAIN_H);
    gtk_picture_set_paintable(GTK_PICTURE(self->picture), GDK_PAINTABLE(texture));
    litho_name_widget(self->picture, name);
    gtk_range_set_value(GTK_RANGE(self->opacity), 100 * litho_medium_opacity(medium));
}

static void on_opacity(GtkRange *range, MediumPanel *self)
{
    litho_medium_set_opacity(litho_medium_of(self->session), gtk_range_get_value(range) / 100);
}

static void on_signal(GObject *source, GtkWidget *box)
{
    (void)source;
    refresh(g_object_get_data(G_OBJECT(box), "litho-medium-panel"));
}

GtkWidget *litho_medium_panel_new(LithoSession *session)
{
    MediumPanel *self = g_new0(MediumPanel, 1);
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    self->session = session; // lives as long as the window's widgets
    self->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 3);
    self->title = litho_label_new(NULL, "heading");
    self->picture = gtk_picture_new();
    litho_name_widget(self->picture, _("Section through the velocity"));
    self->range = litho_label_new(NULL, "numeric");
    self->opacity = gtk_scale_new_with_range(GTK_ORIENTATION_HORIZONTAL, 0, 100, 5);
    gtk_picture_set_content_fit(GTK_PICTURE(self->picture), GTK_CONTENT_FIT_FILL);
    gtk_picture_set_can_shrink(GTK_PICTURE(self->picture), TRUE);
    gtk_label_set_wrap(GTK_LABEL(self->range), TRUE);
    gtk_widget_set_hexpand(self->opacity, TRUE);
    litho_wheel_needs_focus(self->opacity);
    litho_name_widget(self->opacity, _("Opacity over the sections in percent"));
    gtk_widget_set_tooltip_text(self->opacity, _("How strongly it lies over the sections (O)"));
    gtk_box_append(GTK_BOX(line), gtk_label_new(_("Over the image")));
    gtk_box_append(GTK_BOX(line), self->opacity);
    GtkWidget *parts[] = {self->title, self->picture, self->range, line};
    for (guint k = 0; k < G_N_ELEMENTS(parts); k++)
        gtk_box_append(GTK_BOX(self->box), parts[k]);
    g_object_set_data_full(G_OBJECT(self->box), "litho-medium-panel", self, g_free);
    g_signal_connect(self->opacity, "value-changed", G_CALLBACK(on_opacity), self);
    g_signal_connect_object(litho_medium_of(session), "changed", G_CALLBACK(on_signal), self->box,
                            0);
    static const char *const signals[] = {"slices-changed", "cube-changed", "result"};
    for (guint k = 0; k < G_N_ELEMENTS(signals); k++)
        g_signal_connect_object(session, signals[k], G_CALLBACK(on_signal), self->box, 0);
    refresh(self);
    return self->box;
}
