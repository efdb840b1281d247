// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/preset_menu.h"

#include "core/text.h"
#include "ui/panel/parts.h"
#include "ui/session/presets.h"
#include "ui/view/tooltip.h"

struct LithoPresetMenu {
    LithoSession *session;
    const LithoOperator *op; // whose sets are listed, NULL = none
    void (*changed)(gpointer owner);
    gpointer owner;
    GtkWidget *button, *popover, *name, *save, *complaint, *list, *removal, *removal_text, *undo;
    char *asked;     // name that Save replaces when it is pressed again, NULL = none
    char *removed;   // name of the set that Undo brings back, NULL = none
    GBytes *content; // of its file
};

static const char name_key[] = "litho-name";

static void name_row(gpointer part, const char *name)
{
    g_object_set_data_full(G_OBJECT(part), name_key, g_strdup(name), g_free);
}

// --- what the popover says ----------------------------------------------------------------------

static void complain(LithoPresetMenu *menu, const char *sentence)
{
    gtk_label_set_text(GTK_LABEL(menu->complaint), sentence ? sentence : "");
    gtk_widget_set_visible(menu->complaint, sentence != NULL);
}

// `name`, NULL = nothing is asked: Save saves.
static void ask(LithoPresetMenu *menu, const char *name)
{
    g_autofree char *sentence =
        name ? g_strdup_printf(_("There is a preset '%s'. Replace gives it the present values."),
                               name)
             : NULL;
    g_autofree char *spoken = name ? g_strdup_printf(_("Replace the preset %s"), name) : NULL;
    g_free(menu->asked);
    menu->asked = g_strdup(name);
    complain(menu, sentence);
    gtk_button_set_label(GTK_BUTTON(menu->save), name ? _("Replace") : _("Save"));
    litho_name_widget(menu->save, name ? spoken : _("Save"));
    if (name)
        gtk_widget_grab_focus(menu->save);
}

// `name` takes over the bytes, NULL = nothing can be brought back.
static void remember_removed(LithoPresetMenu *menu, const char *name, GBytes *content)
{
    g_autofree char *sentence = name ? g_strdup_printf(_("'%s' is removed"), name) : g_strdup("");
    g_autofree char *spoken =
        name ? g_strdup_printf(_("Bring back the preset %s"), name) : g_strdup(_("Undo"));
    g_free(menu->removed);
    g_clear_pointer(&menu->content, g_bytes_unref);
    menu->removed = g_strdup(name);
    menu->content = content;
    gtk_label_set_text(GTK_LABEL(menu->removal_text), sentence);
    litho_name_widget(menu->undo, spoken);
    gtk_widget_set_visible(menu->removal, name != NULL);
}

// --- saving, renaming, removing -----------------------------------------------------------------

static gboolean finish(LithoPresetMenu *menu, gboolean ok, const GError *error)
{
    ask(menu, NULL);
    complain(menu, error ? error->message : NULL);
    if (ok)
        menu->changed(menu->owner);
    return ok;
}

gboolean litho_preset_menu_save(LithoPresetMenu *menu, const char *name)
{
    g_autoptr(GError) error = NULL;
    const int k = litho_session_selected(menu->session);
    if (k < 0)
        return FALSE;
    const LithoStep *step = litho_flow_step(litho_session_flow(menu->session), k);
    if (!litho_preset_bad_name(step->op, name) && litho_preset_exists(step->op, name) &&
        g_strcmp0(menu->asked, name) != 0) {
        ask(menu, name);
        return FALSE;
    }
    const gboolean ok = litho_preset_save(step, name, &error);
    return finish(menu, ok, error);
}

gboolean litho_preset_menu_rename(LithoPresetMenu *menu, const char *from, const char *to)
{
    g_autoptr(GError) error = NULL;
    const gboolean ok = g_str_equal(from, to) || litho_preset_rename(menu->op, from, to, &error);
    return finish(menu, ok, error);
}

gboolean litho_preset_menu_remove(LithoPresetMenu *menu, const char *name)
{
    g_autoptr(GError) error = NULL;
    GBytes *content = litho_preset_remove(menu->op, name, &error);
    if (content)
        remember_removed(menu, name, content);
    return finish(menu, content != NULL, error);
}

gboolean litho_preset_menu_undo(LithoPresetMenu *menu)
{
    g_autoptr(GError) error = NULL;
    if (!menu->removed)
        return FALSE;
    const gboolean ok = litho_preset_restore(menu->op, menu->removed, menu->content, &error);
    if (ok)
        remember_removed(menu, NULL, NULL);
    return finish(menu, ok, error);
}

// --- buttons ------------------------------------------------------------------------------------

static void on_save(LithoPresetMenu *menu)
{
    g_autofree char *name = g_strstrip(g_strdup(gtk_editable_get_text(GTK_EDITABLE(menu->name))));
    if (!litho_preset_menu_save(menu, name))
        return;
    gtk_editable_set_text(GTK_EDITABLE(menu->name), "");
    gtk_popover_popdown(GTK_POPOVER(menu->popover));
}

static void on_typed(LithoPresetMenu *menu)
{
    if (menu->asked)
        ask(menu, NULL);
}

static void on_remove(GtkButton *button, LithoPresetMenu *menu)
{
    if (litho_preset_menu_remove(menu, g_object_get_data(G_OBJECT(button), name_key)))
        gtk_widget_grab_focus(menu->undo); // the button is gone
}

static void on_undo(LithoPresetMenu *menu)
{
    if (litho_preset_menu_undo(menu))
        gtk_widget_grab_focus(menu->name);
}

// --- rows ---------------------------------------------------------------------------------------

// A row is the set's label, a field that takes its place while it is renamed, and two buttons.
static GtkWidget *row_label(GtkWidget *row)
{
    return gtk_widget_get_first_child(row);
}

static GtkWidget *row_field(GtkWidget *row)
{
    return gtk_widget_get_next_sibling(row_label(row));
}

static GtkWidget *row_rename(GtkWidget *row)
{
    return gtk_widget_get_next_sibling(row_field(row));
}

static void show_field(GtkWidget *row, gboolean shown)
{
    GtkWidget *field = row_field(row);
    gtk_editable_set_text(GTK_EDITABLE(field), g_object_get_data(G_OBJECT(row), name_key));
    gtk_widget_set_visible(row_label(row), !shown);
    gtk_widget_set_visible(field, shown);
}

static void on_closed(LithoPresetMenu *menu)
{
    GtkWidget *row = gtk_widget_get_first_child(menu->list);
    ask(menu, NULL);
    remember_removed(menu, NULL, NULL);
    for (; row; row = gtk_widget_get_next_sibling(row))
        show_field(row, FALSE);
}

static void on_rename(GtkButton *button, LithoPresetMenu *menu)
{
    GtkWidget *row = gtk_widget_get_parent(GTK_WIDGET(button));
    const gboolean shown = gtk_widget_get_visible(row_field(row));
    ask(menu, NULL);
    show_field(row, !shown);
    if (!shown)
        gtk_widget_grab_focus(row_field(row));
}

static void on_renamed(GtkEntry *field, LithoPresetMenu *menu)
{
    GtkWidget *row = gtk_widget_get_parent(GTK_WIDGET(field));
    g_autofree char *to = g_strstrip(g_strdup(gtk_editable_get_text(GTK_EDITABLE(field))));
    if (!litho_preset_menu_rename(menu, g_object_get_data(G_OBJECT(row), name_key), to))
        return;
    for (row = gtk_widget_get_first_child(menu->list); row; row = gtk_widget_get_next_sibling(row))
        if (g_str_equal(g_object_get_data(G_OBJECT(row), name_key), to))
            gtk_widget_grab_focus(row_rename(row));
}

static gboolean on_field_key(GtkEventControllerKey *keys, guint key, guint code,
                             GdkModifierType state, LithoPresetMenu *menu)
{
    (void)code;
    (void)state;
    GtkWidget *row =
        gtk_widget_get_parent(gtk_event_controller_get_widget(GTK_EVENT_CONTROLLER(keys)));
    if (key != GDK_KEY_Escape)
        return FALSE;
    complain(menu, NULL);
    show_field(row, FALSE);
    gtk_widget_grab_focus(row_rename(row));
    return TRUE;
}

static GtkWidget *make_field(LithoPresetMenu *menu, const char *name)
{
    GtkWidget *field = gtk_entry_new();
    g_autofree char *spoken = g_strdup_printf(_("New name of the preset %s"), name);
    GtkEventController *keys = gtk_event_controller_key_new();
    litho_name_widget(field, spoken);
    gtk_widget_set_hexpand(field, TRUE);
    gtk_widget_set_visible(field, FALSE);
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_field_key), menu);
    g_signal_connect(field, "activate", G_CALLBACK(on_renamed), menu);
    gtk_widget_add_controller(field, keys);
    return field;
}

static void add_row(LithoPresetMenu *menu, const char *name, const char *shown)
{
    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *label = litho_label_new(shown, NULL);
    g_autofree char *renames = g_strdup_printf(_("Rename the preset %s"), name);
    g_autofree char *removes = g_strdup_printf(_("Remove the preset %s"), name);
    GtkWidget *rename = litho_icon_button_new("document-edit-symbolic", renames, renames);
    GtkWidget *remove = litho_icon_button_new("window-close-symbolic", removes, removes);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    litho_set_short_tooltip(label, shown);
    gtk_widget_set_hexpand(label, TRUE);
    name_row(row, name);
    name_row(remove, name);
    g_signal_connect(rename, "clicked", G_CALLBACK(on_rename), menu);
    g_signal_connect(remove, "clicked", G_CALLBACK(on_remove), menu);
    gtk_box_append(GTK_BOX(row), label);
    gtk_box_append(GTK_BOX(row), make_field(menu, name));
    gtk_box_append(GTK_BOX(row), rename);
    gtk_box_append(GTK_BOX(row), remove);
    gtk_box_append(GTK_BOX(menu->list), row);
}

void litho_preset_menu_list(LithoPresetMenu *menu, const LithoOperator *op, const GPtrArray *names,
                            const GPtrArray *unreadable)
{
    GtkWidget *row;
    if (op != menu->op)
        remember_removed(menu, NULL, NULL);
    menu->op = op;
    while ((row = gtk_widget_get_first_child(menu->list)))
        gtk_box_remove(GTK_BOX(menu->list), row);
    for (guint k = 0; k < names->len; k++)
        add_row(menu, g_ptr_array_index(names, k), g_ptr_array_index(names, k));
    for (guint k = 0; k < unreadable->len; k++) {
        const char *name = g_ptr_array_index(unreadable, k);
        g_autofree char *shown = g_strdup_printf(_("%s, which cannot be read"), name);
        add_row(menu, name, shown);
    }
}

// --- the widget ---------------------------------------------------------------------------------

static GtkWidget *make_saving(LithoPresetMenu *menu)
{
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    menu->name = gtk_entry_new();
    gtk_entry_set_placeholder_text(GTK_ENTRY(menu->name), _("Name for these parameters"));
    gtk_editable_set_width_chars(GTK_EDITABLE(menu->name), 24);
    litho_name_widget(menu->name, _("Name of a preset for the present parameters"));
    menu->save = gtk_button_new_with_label(_("Save"));
    g_signal_connect_swapped(menu->name, "activate", G_CALLBACK(on_save), menu);
    g_signal_connect_swapped(menu->name, "changed", G_CALLBACK(on_typed), menu);
    g_signal_connect_swapped(menu->save, "clicked", G_CALLBACK(on_save), menu);
    gtk_widget_set_hexpand(menu->name, TRUE);
    gtk_box_append(GTK_BOX(line), menu->name);
    gtk_box_append(GTK_BOX(line), menu->save);
    return line;
}

static GtkWidget *make_removal(LithoPresetMenu *menu)
{
    menu->removal = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    menu->removal_text = litho_label_new(NULL, "dim-label");
    gtk_label_set_ellipsize(GTK_LABEL(menu->removal_text), PANGO_ELLIPSIZE_MIDDLE);
    gtk_widget_set_hexpand(menu->removal_text, TRUE);
    menu->undo = gtk_button_new_with_label(_("Undo"));
    g_signal_connect_swapped(menu->undo, "clicked", G_CALLBACK(on_undo), menu);
    gtk_box_append(GTK_BOX(menu->removal), menu->removal_text);
    gtk_box_append(GTK_BOX(menu->removal), menu->undo);
    gtk_widget_set_visible(menu->removal, FALSE);
    return menu->removal;
}

static void menu_free(gpointer data)
{
    LithoPresetMenu *menu = data;
    g_clear_object(&menu->session);
    g_clear_pointer(&menu->content, g_bytes_unref);
    g_free(menu->asked);
    g_free(menu->removed);
    g_free(menu);
}

LithoPresetMenu *litho_preset_menu_new(LithoSession *session, void (*changed)(gpointer owner),
                                       gpointer owner)
{
    LithoPresetMenu *menu = g_new0(LithoPresetMenu, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    menu->session = g_object_ref(session);
    menu->changed = changed;
    menu->owner = owner;
    gtk_box_append(GTK_BOX(box), make_saving(menu));
    menu->complaint = litho_text_new(36);
    gtk_widget_add_css_class(menu->complaint, "litho-complaint");
    gtk_widget_set_visible(menu->complaint, FALSE);
    gtk_box_append(GTK_BOX(box), menu->complaint);
    menu->list = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_box_append(GTK_BOX(box), menu->list);
    gtk_box_append(GTK_BOX(box), make_removal(menu));
    menu->button = gtk_menu_button_new();
    menu->popover = gtk_popover_new();
    gtk_popover_set_child(GTK_POPOVER(menu->popover), box);
    g_signal_connect_swapped(menu->popover, "closed", G_CALLBACK(on_closed), menu);
    gtk_menu_button_set_popover(GTK_MENU_BUTTON(menu->button), menu->popover);
    gtk_menu_button_set_icon_name(GTK_MENU_BUTTON(menu->button), "view-more-symbolic");
    gtk_widget_add_css_class(menu->button, "flat");
    litho_set_short_tooltip(menu->button,
                            _("Save these parameters as a preset, rename or remove yours"));
    litho_name_widget(menu->button, _("Presets of your own"));
    g_object_set_data_full(G_OBJECT(menu->button), "litho-preset-menu", menu, menu_free);
    return menu;
}

GtkWidget *litho_preset_menu_button(const LithoPresetMenu *menu)
{
    return menu->button;
}
