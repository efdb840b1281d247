// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/view/colour_bar.h"
#include "core/text.h"
#include "ui/view/view_menu.h"

#include <math.h>

enum { STRIP_W = 96, STRIP_H = 14 };

// --- ends ---------------------------------------------------------------------------------------

LithoBarDrag litho_bar_drag_begin(LithoSession *session, LithoRect rect, double y)
{
    const LithoLook *look = &litho_session_display(session)->look;
    return (LithoBarDrag){.rect = rect,
                          .y = y,
                          .upper = y < rect.y + rect.h / 2,
                          .is_unsigned = litho_session_is_unsigned(session),
                          .lo = look->lo,
                          .hi = look->hi};
}

void litho_bar_drag_to(const LithoBarDrag *d, LithoSession *session, double dy)
{
    const double least = 0.02; // of the range: an end does not pass the other
    // The pull of the end inwards, as a part of the bar.
    double inwards = (d->upper ? dy : -dy) / MAX(d->rect.h, 1);
    double width = d->hi - d->lo;
    if (!d->is_unsigned) {
        litho_session_set_clip(session, d->hi * MAX(1 - 2 * inwards, least));
        return;
    }
    double by = MIN(inwards, 1 - least) * width;
    litho_session_set_range(session, d->upper ? d->lo : d->lo + by, d->upper ? d->hi - by : d->hi);
}

// --- maps ---------------------------------------------------------------------------------------

static GtkWidget *make_strip(const LithoColormap *map)
{
    guint8 *rgba = g_malloc(4 * STRIP_W * STRIP_H);
    for (int y = 0; y < STRIP_H; y++)
        for (int x = 0; x < STRIP_W; x++)
            for (int c = 0; c < 4; c++)
                rgba[4 * (y * STRIP_W + x) + c] =
                    map->rgba[x * (LITHO_COLORMAP_SIZE - 1) / (STRIP_W - 1)][c];
    g_autoptr(GBytes) bytes = g_bytes_new_take(rgba, 4 * STRIP_W * STRIP_H);
    g_autoptr(GdkTexture) texture =
        gdk_memory_texture_new(STRIP_W, STRIP_H, GDK_MEMORY_R8G8B8A8, bytes, 4 * STRIP_W);
    GtkWidget *strip = gtk_picture_new_for_paintable(GDK_PAINTABLE(texture));
    gtk_accessible_update_property(GTK_ACCESSIBLE(strip), GTK_ACCESSIBLE_PROPERTY_LABEL, map->title,
                                   -1);
    gtk_picture_set_can_shrink(GTK_PICTURE(strip), FALSE);
    gtk_widget_set_valign(strip, GTK_ALIGN_CENTER);
    gtk_widget_set_halign(strip, GTK_ALIGN_START);
    // A picture of this shape asks for more width in a high line, and names would stand at the
    // right.
    GtkWidget *frame = gtk_overlay_new(), *room = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    gtk_widget_set_size_request(room, STRIP_W, STRIP_H);
    gtk_overlay_set_child(GTK_OVERLAY(frame), room);
    gtk_overlay_add_overlay(GTK_OVERLAY(frame), strip);
    return frame;
}

static void append_map(GtkWidget *box, const LithoColormap *map, const LithoColormap *now)
{
    GtkWidget *button = gtk_toggle_button_new(), *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 9);
    GtkWidget *label = gtk_label_new(map->title);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_widget_set_hexpand(label, TRUE);
    gtk_box_append(GTK_BOX(line), make_strip(map));
    gtk_box_append(GTK_BOX(line), label);
    gtk_button_set_child(GTK_BUTTON(button), line);
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(button), map == now);
    gtk_widget_add_css_class(button, "flat");
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   map->title, -1);
    g_object_set_data(G_OBJECT(button), "litho-map", (gpointer)map->name);
    gtk_box_append(GTK_BOX(box), button);
}

static void on_map(GtkButton *button, GtkWidget *popover)
{
    gtk_widget_activate_action(GTK_WIDGET(button), "win.colours", "s",
                               g_object_get_data(G_OBJECT(button), "litho-map"));
    gtk_popover_popdown(GTK_POPOVER(popover));
}

void litho_colour_menu_open(GtkWidget *parent, LithoRect at, LithoSession *session)
{
    GtkWidget *popover = gtk_popover_new(), *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    const gboolean is_unsigned = litho_session_is_unsigned(session);
    const LithoColormap *now = litho_session_colours(session, is_unsigned);
    for (int fits = TRUE; fits >= FALSE; fits--)
        for (const LithoColormap *const *map = litho_colormaps(); *map; map++)
            if (((*map)->diverging != is_unsigned) == fits)
                append_map(box, *map, now);
    for (GtkWidget *c = gtk_widget_get_first_child(box); c; c = gtk_widget_get_next_sibling(c))
        g_signal_connect(c, "clicked", G_CALLBACK(on_map), popover);
    GtkWidget *load = gtk_button_new_with_label(_("Load colour map…"));
    gtk_widget_add_css_class(load, "flat");
    gtk_actionable_set_action_name(GTK_ACTIONABLE(load), "win.colours-load");
    gtk_box_append(GTK_BOX(box), load);
    gtk_popover_set_child(GTK_POPOVER(popover), box);
    gtk_popover_set_position(GTK_POPOVER(popover), GTK_POS_LEFT);
    litho_popover_open_at(popover, parent,
                          &(GdkRectangle){(int)at.x, (int)at.y, (int)at.w, (int)at.h});
}
