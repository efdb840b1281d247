// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/bar.h"

#include "core/text.h"
#include "ui/panel/parts.h"

struct LithoBar {
    GtkWidget *bar, *label, *details, *details_button, *remedy;
};

GtkWidget *litho_action_button(const char *icon, const char *label, const char *action,
                               const char *tooltip)
{
    GtkWidget *button =
        icon ? gtk_button_new_from_icon_name(icon) : gtk_button_new_with_label(label);
    gtk_actionable_set_detailed_action_name(GTK_ACTIONABLE(button), action);
    gtk_widget_set_tooltip_text(button, tooltip);
    if (icon)
        litho_name_widget(button, label);
    return button;
}

static GtkWidget *make_details(LithoBar *bar)
{
    GtkWidget *popover = gtk_popover_new(), *button = gtk_menu_button_new();
    bar->details = litho_label_new(NULL, NULL);
    litho_label_wrap_names(bar->details);
    gtk_label_set_max_width_chars(GTK_LABEL(bar->details), 72);
    litho_label_set_copyable(bar->details);
    gtk_popover_set_child(GTK_POPOVER(popover), bar->details);
    gtk_menu_button_set_label(GTK_MENU_BUTTON(button), _("Details"));
    gtk_menu_button_set_popover(GTK_MENU_BUTTON(button), popover);
    gtk_widget_set_valign(button, GTK_ALIGN_CENTER);
    gtk_widget_set_visible(button, FALSE);
    bar->details_button = button;
    return button;
}

static void on_response(LithoBar *bar)
{
    litho_bar_hide(bar);
}

LithoBar *litho_bar_new(GtkMessageType type, const char *remedy, const char *action)
{
    LithoBar *bar = g_new0(LithoBar, 1);
    bar->bar = gtk_info_bar_new();
    GtkInfoBar *info = GTK_INFO_BAR(bar->bar);
    g_object_set_data_full(G_OBJECT(info), "litho-bar", bar, g_free);
    gtk_info_bar_set_message_type(info, type);
    gtk_info_bar_set_show_close_button(info, TRUE);
    GtkWidget *icon = gtk_image_new_from_icon_name(
        type == GTK_MESSAGE_ERROR ? "dialog-error-symbolic" : "dialog-information-symbolic");
    gtk_widget_set_margin_end(icon, 6);
    gtk_info_bar_add_child(info, icon);
    bar->label = litho_label_new(NULL, NULL);
    litho_label_wrap_names(bar->label);
    litho_label_set_copyable(bar->label);
    gtk_widget_set_hexpand(bar->label, TRUE);
    gtk_info_bar_add_child(info, bar->label);
    gtk_info_bar_add_child(info, make_details(bar));
    bar->remedy = litho_action_button(NULL, remedy, action, NULL);
    gtk_widget_set_valign(bar->remedy, GTK_ALIGN_CENTER);
    gtk_widget_set_visible(bar->remedy, FALSE);
    gtk_info_bar_add_child(info, bar->remedy);
    gtk_widget_set_visible(bar->bar, FALSE);
    g_signal_connect_swapped(info, "response", G_CALLBACK(on_response), bar);
    return bar;
}

GtkWidget *litho_bar_widget(const LithoBar *bar)
{
    return bar->bar;
}

void litho_bar_tell(LithoBar *bar, const char *sentence, const char *details)
{
    gtk_label_set_text(GTK_LABEL(bar->label), sentence);
    gtk_label_set_text(GTK_LABEL(bar->details), details ? details : "");
    gtk_widget_set_visible(bar->details_button, details != NULL);
    gtk_widget_set_visible(bar->bar, TRUE);
}

void litho_bar_set_remedy(LithoBar *bar, gboolean on)
{
    gtk_widget_set_visible(bar->remedy, on);
}

gboolean litho_bar_has_remedy(const LithoBar *bar)
{
    return gtk_widget_get_visible(bar->remedy);
}

void litho_bar_hide(LithoBar *bar)
{
    gtk_widget_set_visible(bar->bar, FALSE);
}

const char *litho_bar_text(const LithoBar *bar)
{
    return gtk_widget_get_visible(bar->bar) ? gtk_label_get_text(GTK_LABEL(bar->label)) : NULL;
}
