// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/view/view_menu.h"

#include "core/text.h"

static gboolean drop(gpointer popover)
{
    gtk_widget_unparent(popover);
    g_object_unref(popover);
    return G_SOURCE_REMOVE;
}

// Not at once: what was chosen is still on its way through the popover.
static void on_closed(GtkWidget *popover)
{
    GtkRoot *root = gtk_widget_get_root(popover);
    GtkWidget *focus = root ? gtk_root_get_focus(root) : NULL;
    if (focus && gtk_widget_is_ancestor(focus, popover))
        gtk_widget_grab_focus(gtk_widget_get_parent(popover));
    g_idle_add(drop, g_object_ref(popover));
}

static gboolean popup(gpointer popover)
{
    if (gtk_widget_get_root(popover))
        gtk_popover_popup(popover);
    g_object_unref(popover);
    return G_SOURCE_REMOVE;
}

void litho_popover_open_at(GtkWidget *popover, GtkWidget *parent, const GdkRectangle *at)
{
    gtk_widget_set_parent(popover, parent);
    gtk_popover_set_pointing_to(GTK_POPOVER(popover), at);
    g_signal_connect(popover, "closed", G_CALLBACK(on_closed), NULL);
    // GTK gives menus their separators when it is idle, and popovers that are open do not grow.
    g_idle_add(popup, g_object_ref(popover));
}

typedef struct Item {
    const char *title, *action, *key;
} Item;

static const Item looks[] = {{N_("Colour maps…"), "win.colours-menu", "v"},
                             {N_("Wiggles"), "win.wiggle", "w"},
                             {N_("Automatic gain"), "win.agc", "g"},
                             {NULL}};
static const Item studies[] = {{N_("Frequencies of an area"), "win.area", "f"},
                               {N_("Export picture…"), "win.picture", "<Control>e"},
                               {NULL}};

static void append(GMenu *section, const char *title, const char *action, const char *key)
{
    g_autoptr(GMenuItem) item = g_menu_item_new(title, action);
    if (key)
        g_menu_item_set_attribute(item, "accel", "s", key);
    g_menu_append_item(section, item);
}

static void append_section(GMenu *menu, const Item *item)
{
    g_autoptr(GMenu) section = g_menu_new();
    for (; item->title; item++)
        append(section, litho_text(item->title), item->action, item->key);
    g_menu_append_section(menu, NULL, G_MENU_MODEL(section));
}

void litho_view_menu_open(GtkWidget *view, int axis, double x, double y)
{
    g_autoptr(GMenu) menu = g_menu_new(), room = g_menu_new();
    g_autofree char *maximise = g_strdup_printf("win.maximise(%d)", axis);
    const char key[] = {(char)('1' + axis), 0};
    append(room, _("Maximise or restore"), maximise, key);
    append(room, _("Fit to window"), "win.fit", "0");
    g_menu_append_section(menu, NULL, G_MENU_MODEL(room));
    append_section(menu, looks);
    append_section(menu, studies);
    GtkWidget *popover = gtk_popover_menu_new_from_model(G_MENU_MODEL(menu));
    gtk_popover_set_has_arrow(GTK_POPOVER(popover), FALSE);
    gtk_widget_set_halign(popover, GTK_ALIGN_START);
    litho_popover_open_at(popover, view, &(GdkRectangle){(int)x, (int)y, 1, 1});
}
