// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/dialog.h"

GtkWidget *litho_dialog_new(GtkWindow *parent, const char *title, int width, int height)
{
    GtkWidget *dialog = gtk_window_new();
    gtk_widget_add_css_class(dialog, "lithoscope");
    gtk_window_set_title(GTK_WINDOW(dialog), title);
    gtk_window_set_transient_for(GTK_WINDOW(dialog), parent);
    gtk_window_set_destroy_with_parent(GTK_WINDOW(dialog), TRUE);
    gtk_window_set_default_size(GTK_WINDOW(dialog), width, height);
    GtkEventController *keys = gtk_shortcut_controller_new();
    static const char *const closing[] = {"Escape", "<Control>w"};
    for (guint k = 0; k < G_N_ELEMENTS(closing); k++)
        gtk_shortcut_controller_add_shortcut(
            GTK_SHORTCUT_CONTROLLER(keys),
            gtk_shortcut_new(gtk_shortcut_trigger_parse_string(closing[k]),
                             gtk_named_action_new("window.close")));
    gtk_widget_add_controller(dialog, keys);
    return dialog;
}
