// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/history_list.h"

#include "core/text.h"
#include "ui/panel/parts.h"

static const char steps_key[] = "litho-steps", list_key[] = "litho-list";

static void on_step(GtkButton *button, LithoSession *session)
{
    GtkWidget *popover = gtk_widget_get_ancestor(GTK_WIDGET(button), GTK_TYPE_POPOVER);
    int steps = GPOINTER_TO_INT(g_object_get_data(G_OBJECT(button), steps_key));
    gtk_popover_popdown(GTK_POPOVER(popover));
    litho_session_travel(session, steps);
}

// `steps` from the flow as it stands; 0 = that itself.
static void append(GtkWidget *list, LithoSession *session, const char *name, int steps)
{
    GtkWidget *button = gtk_button_new();
    GtkWidget *label = litho_label_new(name, steps > 0    ? "dim-label"
                                             : steps == 0 ? "heading"
                                                          : NULL);
    g_autofree char *said = steps == 0  ? g_strdup_printf(_("%s, now"), name)
                            : steps < 0 ? g_strdup_printf(_("%s, go back to it"), name)
                                        : g_strdup_printf(_("%s, undone; repeat up to it"), name);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    gtk_label_set_max_width_chars(GTK_LABEL(label), 40);
    gtk_button_set_child(GTK_BUTTON(button), label);
    gtk_widget_add_css_class(button, "flat");
    litho_name_widget(button, said);
    g_object_set_data(G_OBJECT(button), steps_key, GINT_TO_POINTER(steps));
    g_signal_connect_object(button, "clicked", G_CALLBACK(on_step), session, 0);
    gtk_box_append(GTK_BOX(list), button);
}

// Lists the states of the past: k further undo steps give entry k, and the newest is now.
static void fill(GtkWidget *popover, LithoSession *session)
{
    const LithoHistory *history = litho_session_history(session);
    GtkWidget *list = g_object_get_data(G_OBJECT(popover), list_key), *child;
    while ((child = gtk_widget_get_first_child(list)))
        gtk_box_remove(GTK_BOX(list), child);
    for (guint k = litho_history_length(history, TRUE); k-- > 0;)
        append(list, session, litho_history_name(history, TRUE, k), (int)k + 1);
    guint n = litho_history_length(history, FALSE);
    for (guint k = 0; k < n; k++)
        append(list, session, litho_history_name(history, FALSE, k), -(int)k);
    append(list, session, _("Beginning"), -(int)n);
}

GtkWidget *litho_history_button_new(LithoSession *session)
{
    GtkWidget *button = gtk_menu_button_new(), *popover = gtk_popover_new();
    GtkWidget *list = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0), *scroll = gtk_scrolled_window_new();
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroll), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(scroll), TRUE);
    // Else it is as narrow as names that are cut to their dots.
    gtk_scrolled_window_set_propagate_natural_width(GTK_SCROLLED_WINDOW(scroll), TRUE);
    gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(scroll), 420);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), list);
    gtk_popover_set_child(GTK_POPOVER(popover), scroll);
    g_object_set_data(G_OBJECT(popover), list_key, list);
    g_signal_connect_object(popover, "show", G_CALLBACK(fill), session, 0);
    gtk_menu_button_set_popover(GTK_MENU_BUTTON(button), popover);
    gtk_menu_button_set_icon_name(GTK_MENU_BUTTON(button), "pan-down-symbolic");
    gtk_widget_set_tooltip_text(button, _("History: the changes by name"));
    litho_name_widget(button, _("History"));
    return button;
}
