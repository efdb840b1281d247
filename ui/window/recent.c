// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/recent.h"

#include "ui/panel/parts.h"

// Group of the items that are cubes: a file dialog adds files that are chosen in it as well, before
// it is known whether they can be read, and pictures that are written.
static char cube_group[] = "lithoscope-cube";

static gboolean is_ours(GtkRecentInfo *info)
{
    return gtk_recent_info_has_application(info, g_get_application_name()) &&
           gtk_recent_info_has_group(info, cube_group) && gtk_recent_info_exists(info);
}

void litho_recent_add(const char *uri)
{
    char *groups[] = {cube_group, NULL};
    char type[] = "application/x-segy";
    g_autofree char *run = g_strdup_printf("%s %%u", g_get_prgname());
    g_autofree char *name = g_strdup(g_get_application_name());
    GtkRecentData data = {.mime_type = type, .app_name = name, .app_exec = run, .groups = groups};
    gtk_recent_manager_add_full(gtk_recent_manager_get_default(), uri, &data);
}

static int newest_first(gconstpointer a, gconstpointer b)
{
    return g_date_time_compare(gtk_recent_info_get_modified((GtkRecentInfo *)b),
                               gtk_recent_info_get_modified((GtkRecentInfo *)a));
}

// Ours, newest first; g_list_free_full() with gtk_recent_info_unref().
static GList *recent_files(void)
{
    GList *ours = NULL, *items = gtk_recent_manager_get_items(gtk_recent_manager_get_default());
    for (GList *k = items; k; k = k->next) {
        if (is_ours(k->data))
            ours = g_list_prepend(ours, k->data);
        else
            gtk_recent_info_unref(k->data);
    }
    g_list_free(items);
    return g_list_sort(ours, newest_first);
}

char *litho_recent_last_path(void)
{
    GList *items = recent_files();
    char *path =
        items ? g_filename_from_uri(gtk_recent_info_get_uri(items->data), NULL, NULL) : NULL;
    g_list_free_full(items, (GDestroyNotify)gtk_recent_info_unref);
    return path;
}

static GtkWidget *recent_button(GtkRecentInfo *info, gboolean with_folder)
{
    g_autofree char *path = g_filename_from_uri(gtk_recent_info_get_uri(info), NULL, NULL);
    g_autofree char *folder = path ? g_path_get_dirname(path) : g_strdup("");
    GtkWidget *button = gtk_button_new(), *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    GtkWidget *name = litho_label_new(gtk_recent_info_get_display_name(info), NULL);
    gtk_label_set_ellipsize(GTK_LABEL(name),
                            PANGO_ELLIPSIZE_MIDDLE); // begin and end tell files apart
    gtk_label_set_max_width_chars(GTK_LABEL(name), 60);
    gtk_box_append(GTK_BOX(line), name);
    if (with_folder) {
        GtkWidget *where = litho_label_new(folder, "dim-label");
        gtk_label_set_ellipsize(GTK_LABEL(where), PANGO_ELLIPSIZE_START);
        gtk_label_set_max_width_chars(GTK_LABEL(where), 40);
        gtk_box_append(GTK_BOX(line), where);
    }
    gtk_button_set_child(GTK_BUTTON(button), line);
    gtk_widget_add_css_class(button, "flat");
    gtk_widget_set_tooltip_text(button, path);
    litho_name_widget(button, gtk_recent_info_get_display_name(info));
    gtk_actionable_set_action_name(GTK_ACTIONABLE(button), "win.open-path");
    gtk_actionable_set_action_target(GTK_ACTIONABLE(button), "s", path ? path : "");
    return button;
}

guint litho_recent_fill(GtkWidget *box, guint most, gboolean with_folder)
{
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(box)))
        gtk_box_remove(GTK_BOX(box), child);
    GList *items = recent_files();
    guint n = 0;
    for (GList *k = items; k && n < most; k = k->next, n++)
        gtk_box_append(GTK_BOX(box), recent_button(k->data, with_folder));
    g_list_free_full(items, (GDestroyNotify)gtk_recent_info_unref);
    return n;
}
