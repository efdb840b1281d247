// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/parts.h"

#include <math.h>

#include "core/text.h"
#include "ui/view/tooltip.h"

void litho_name_widget(GtkWidget *widget, const char *name)
{
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

void litho_name_choice(GtkWidget *drop_down, const char *name, const char *description)
{
    GtkWidget *named[] = {drop_down, gtk_widget_get_first_child(drop_down)};
    for (guint k = 0; k < G_N_ELEMENTS(named) && named[k]; k++)
        gtk_accessible_update_property(GTK_ACCESSIBLE(named[k]), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                       name, GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, description, -1);
}

static void short_setup(GtkSignalListItemFactory *factory, GtkListItem *item, gpointer chars)
{
    (void)factory;
    GtkWidget *label = litho_label_new(NULL, NULL);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    gtk_label_set_max_width_chars(GTK_LABEL(label), GPOINTER_TO_INT(chars));
    gtk_list_item_set_child(item, label);
}

static void short_bind(GtkSignalListItemFactory *factory, GtkListItem *item)
{
    (void)factory;
    gtk_label_set_text(GTK_LABEL(gtk_list_item_get_child(item)),
                       gtk_string_object_get_string(gtk_list_item_get_item(item)));
}

void litho_shorten_choice(GtkWidget *drop_down, int chars)
{
    GtkDropDown *choice = GTK_DROP_DOWN(drop_down);
    g_autoptr(GtkListItemFactory) factory = gtk_signal_list_item_factory_new();
    g_signal_connect(factory, "setup", G_CALLBACK(short_setup), GINT_TO_POINTER(chars));
    g_signal_connect(factory, "bind", G_CALLBACK(short_bind), NULL);
    gtk_drop_down_set_list_factory(choice, gtk_drop_down_get_factory(choice));
    gtk_drop_down_set_factory(choice, factory);
}

GtkWidget *litho_label_new(const char *text, const char *css)
{
    GtkWidget *label = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    if (css)
        gtk_widget_add_css_class(label, css);
    return label;
}

static gboolean is_right_to_left(GtkWidget *widget)
{
    return gtk_widget_get_direction(widget) == GTK_TEXT_DIR_RTL;
}

void litho_label_set_number(GtkWidget *label, const char *text)
{
    // An isolate keeps its own direction, and the line that of the window.
    g_autofree char *isolated =
        g_strdup_printf("\xe2\x81\xa6%s\xe2\x81\xa9", text); // U+2066, U+2069
    gtk_label_set_text(GTK_LABEL(label), is_right_to_left(label) ? isolated : text);
}

char *litho_words_below(const char *name, const char *words)
{
    return g_markup_printf_escaped("%s\n<small><span alpha=\"70%%\"><i>%s</i></span></small>", name,
                                   words);
}

void litho_label_keep_room(GtkWidget *label, const char *markup, int width)
{
    g_autoptr(PangoLayout) layout = gtk_widget_create_pango_layout(label, NULL);
    int height;
    pango_layout_set_markup(layout, markup, -1);
    pango_layout_set_width(layout, MAX(gtk_widget_get_width(label), width) * PANGO_SCALE);
    pango_layout_set_wrap(layout, PANGO_WRAP_WORD);
    pango_layout_get_pixel_size(layout, NULL, &height);
    gtk_widget_set_size_request(label, width, height);
}

void litho_field_of_numbers(GtkWidget *field)
{
    GtkEditable *text = gtk_editable_get_delegate(GTK_EDITABLE(field));
    if (!text || !is_right_to_left(GTK_WIDGET(text)))
        return;
    gtk_editable_set_alignment(text, 1 - gtk_editable_get_alignment(text));
    gtk_widget_set_direction(GTK_WIDGET(text), GTK_TEXT_DIR_LTR);
}

GtkWidget *litho_text_new(int chars)
{
    GtkWidget *label = litho_label_new(NULL, NULL);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_max_width_chars(GTK_LABEL(label), chars);
    return label;
}

void litho_label_set_unbroken(GtkWidget *label, const char *text)
{
    GString *whole = g_string_new(text);
    g_string_replace(whole, "\u2009", "\u202f", 0); // as thin, without a place to break
    gtk_label_set_text(GTK_LABEL(label), whole->str);
    g_string_free(whole, TRUE);
}

void litho_label_wrap_names(GtkWidget *label)
{
    g_autoptr(PangoAttrList) plain = pango_attr_list_new();
    pango_attr_list_insert(plain, pango_attr_insert_hyphens_new(FALSE));
    gtk_label_set_attributes(GTK_LABEL(label), plain);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
}

void litho_label_set_copyable(GtkWidget *label)
{
    gtk_label_set_selectable(GTK_LABEL(label), TRUE);
    gtk_widget_set_can_focus(label, FALSE);
}

GtkWidget *litho_icon_button_new(const char *icon, const char *name, const char *tooltip)
{
    GtkWidget *button = gtk_button_new_from_icon_name(icon);
    gtk_widget_add_css_class(button, "flat");
    gtk_widget_set_valign(button, GTK_ALIGN_CENTER);
    litho_name_widget(button, name);
    litho_set_tooltip(button, tooltip);
    return button;
}

GtkWidget *litho_popover_button_new(const char *icon, const char *name, GtkWidget *content)
{
    GtkWidget *popover = gtk_popover_new(), *button = gtk_menu_button_new();
    gtk_popover_set_child(GTK_POPOVER(popover), content);
    gtk_menu_button_set_popover(GTK_MENU_BUTTON(button), popover);
    gtk_menu_button_set_icon_name(GTK_MENU_BUTTON(button), icon);
    gtk_menu_button_set_has_frame(GTK_MENU_BUTTON(button), FALSE);
    litho_name_widget(button, name);
    litho_set_tooltip(button, name);
    return button;
}

GtkWidget *litho_panel_title_new(GtkWidget *title, GtkWidget *end)
{
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    gtk_widget_add_css_class(line, "litho-section");
    gtk_widget_add_css_class(title, "heading");
    gtk_label_set_xalign(GTK_LABEL(title), 0);
    gtk_label_set_ellipsize(GTK_LABEL(title), PANGO_ELLIPSIZE_END);
    gtk_widget_set_hexpand(title, TRUE);
    gtk_box_append(GTK_BOX(line), title);
    gtk_box_append(GTK_BOX(line), end);
    return line;
}

static void on_disclosed(GtkToggleButton *button, GtkWidget *content)
{
    gboolean open = gtk_toggle_button_get_active(button);
    GtkWidget *arrow = gtk_widget_get_first_child(gtk_button_get_child(GTK_BUTTON(button)));
    gtk_image_set_from_icon_name(GTK_IMAGE(arrow), open ? "pan-down-symbolic" : "pan-end-symbolic");
    gtk_widget_set_visible(content, open);
}

GtkWidget *litho_disclosure_new(const char *title, GtkWidget *content)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6), *button = gtk_toggle_button_new();
    gtk_box_append(GTK_BOX(line), gtk_image_new_from_icon_name("pan-end-symbolic"));
    gtk_box_append(GTK_BOX(line), litho_label_new(title, NULL));
    gtk_button_set_child(GTK_BUTTON(button), line);
    gtk_widget_add_css_class(button, "flat");
    gtk_widget_add_css_class(button, "litho-disclosure");
    gtk_widget_set_halign(button, GTK_ALIGN_START);
    litho_name_widget(button, title);
    gtk_widget_set_visible(content, FALSE);
    g_signal_connect_object(button, "toggled", G_CALLBACK(on_disclosed), content, 0);
    gtk_box_append(GTK_BOX(box), button);
    gtk_box_append(GTK_BOX(box), content);
    return box;
}

char *litho_format_decibels(double db, int decimals, gboolean change)
{
    const double unit = pow(10, -decimals), shown = rint(db / unit) * unit;
    return litho_text_printf("%s%.*f dB",
                             shown < 0             ? "−"
                             : change && shown > 0 ? "+"
                                                   : "",
                             decimals, fabs(shown));
}

char *litho_format_duration(double ms)
{
    if (ms < 10)
        return litho_text_printf("%.2f ms", ms);
    if (ms < 999.5)
        return litho_text_printf("%.0f ms", ms);
    if (ms < 99950)
        return litho_text_printf("%.*f s", ms < 9995 ? 2 : 1, ms / 1000);
    int seconds = (int)(ms / 1000 + 0.5);
    return g_strdup_printf(_("%d min %d s"), seconds / 60, seconds % 60);
}

// --- wheel --------------------------------------------------------------------------------------

static void set_scroll_phase(GtkWidget *widget, GtkPropagationPhase phase)
{
    g_autoptr(GListModel) controllers = gtk_widget_observe_controllers(widget);
    for (guint k = 0; k < g_list_model_get_n_items(controllers); k++) {
        g_autoptr(GtkEventController) c = g_list_model_get_item(controllers, k);
        if (GTK_IS_EVENT_CONTROLLER_SCROLL(c))
            gtk_event_controller_set_propagation_phase(c, phase);
    }
}

static void wheel_on(GtkEventControllerFocus *focus, gpointer widget)
{
    (void)focus;
    set_scroll_phase(widget, GTK_PHASE_BUBBLE);
}

static void wheel_off(GtkEventControllerFocus *focus, gpointer widget)
{
    (void)focus;
    set_scroll_phase(widget, GTK_PHASE_NONE);
}

void litho_wheel_needs_focus(GtkWidget *widget)
{
    GtkEventController *focus = gtk_event_controller_focus_new();
    g_signal_connect(focus, "enter", G_CALLBACK(wheel_on), widget);
    g_signal_connect(focus, "leave", G_CALLBACK(wheel_off), widget);
    gtk_widget_add_controller(widget, focus);
    set_scroll_phase(widget, GTK_PHASE_NONE);
}
