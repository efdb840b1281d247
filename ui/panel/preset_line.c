// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/preset_line.h"

#include <string.h>

#include "core/text.h"
#include "ui/panel/parts.h"
#include "ui/session/presets.h"
#include "ui/view/tooltip.h"

struct _LithoPresetLine {
    GtkBox parent;
    LithoSession *session;
    const LithoOperator *op; // whose sets are listed, NULL = none
    GPtrArray *sets;         // of Set, in the order of the choice
    GPtrArray *unreadable;   // names of own sets that no choice can offer
    GtkWidget *choice, *popover, *name, *save, *list, *complaint;
    gboolean loading;
};

G_DEFINE_TYPE(LithoPresetLine, litho_preset_line, GTK_TYPE_BOX)

typedef struct Set {
    char *name;
    gboolean own;
    void *params;
} Set;

static void set_free(gpointer data)
{
    Set *set = data;
    g_free(set->name);
    g_free(set->params);
    g_free(set);
}

// --- the sets -----------------------------------------------------------------------------------

// Sets that cannot be read any more (other versions, edited by hand) cannot be chosen.
static void add_set(LithoPresetLine *self, const char *name, gboolean own)
{
    g_autofree void *params = g_malloc0(self->op->params.size);
    if (!(own ? litho_preset_load(self->op, name, params, NULL)
              : litho_operator_preset(self->op, name, params, NULL))) {
        if (own)
            g_ptr_array_add(self->unreadable, g_strdup(name));
        return;
    }
    Set *set = g_new(Set, 1);
    *set = (Set){g_strdup(name), own, g_steal_pointer(&params)};
    g_ptr_array_add(self->sets, set);
}

static void read_sets(LithoPresetLine *self)
{
    g_ptr_array_set_size(self->sets, 0);
    g_ptr_array_set_size(self->unreadable, 0);
    for (guint k = 0; self->op->presets && self->op->presets[k].name; k++)
        add_set(self, self->op->presets[k].name, FALSE);
    g_auto(GStrv) own = litho_presets_of(self->op);
    for (char **name = own; *name; name++)
        add_set(self, *name, TRUE);
}

// Index of the set that the parameters equal, or the one behind the last ("custom").
static guint matching(LithoPresetLine *self, const LithoStep *step)
{
    for (guint k = 0; k < self->sets->len; k++) {
        const Set *set = g_ptr_array_index(self->sets, k);
        if (litho_params_first_stage(&step->op->params, set->params, step->params) == G_MAXINT)
            return k;
    }
    return self->sets->len;
}

static void on_remove(GtkButton *button, LithoPresetLine *self);

static GtkWidget *make_own_row(LithoPresetLine *self, const char *name, const char *shown)
{
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *label = litho_label_new(shown, NULL);
    g_autofree char *what = g_strdup_printf(_("Remove the preset %s"), name);
    GtkWidget *remove = litho_icon_button_new("window-close-symbolic", what, what);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    litho_set_short_tooltip(label, shown);
    gtk_widget_set_hexpand(label, TRUE);
    g_object_set_data_full(G_OBJECT(remove), "litho-name", g_strdup(name), g_free);
    g_signal_connect(remove, "clicked", G_CALLBACK(on_remove), self);
    gtk_box_append(GTK_BOX(line), label);
    gtk_box_append(GTK_BOX(line), remove);
    return line;
}

static void show_sets(LithoPresetLine *self)
{
    g_autoptr(GtkStringList) names = gtk_string_list_new(NULL);
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(self->list)))
        gtk_box_remove(GTK_BOX(self->list), child);
    for (guint k = 0; k < self->sets->len; k++) {
        const Set *set = g_ptr_array_index(self->sets, k);
        gtk_string_list_append(names, set->own ? set->name : litho_text(set->name));
        if (set->own)
            gtk_box_append(GTK_BOX(self->list), make_own_row(self, set->name, set->name));
    }
    for (guint k = 0; k < self->unreadable->len; k++) {
        const char *name = g_ptr_array_index(self->unreadable, k);
        g_autofree char *shown = g_strdup_printf(_("%s, which cannot be read"), name);
        gtk_box_append(GTK_BOX(self->list), make_own_row(self, name, shown));
    }
    gtk_string_list_append(names, _("custom"));
    gtk_drop_down_set_model(GTK_DROP_DOWN(self->choice), G_LIST_MODEL(names));
}

static void reload(LithoPresetLine *self)
{
    int k = litho_session_selected(self->session);
    self->loading = TRUE;
    read_sets(self);
    show_sets(self);
    self->loading = FALSE;
    if (k >= 0)
        litho_preset_line_load(self, litho_flow_step(litho_session_flow(self->session), k));
}

void litho_preset_line_load(LithoPresetLine *self, const LithoStep *step)
{
    if (step->op != self->op) {
        self->op = step->op;
        reload(self);
        return;
    }
    self->loading = TRUE;
    gtk_drop_down_set_selected(GTK_DROP_DOWN(self->choice), matching(self, step));
    self->loading = FALSE;
}

// --- what is done with them ---------------------------------------------------------------------

static void on_choice(GtkDropDown *choice, GParamSpec *spec, LithoPresetLine *self)
{
    (void)spec;
    guint k = gtk_drop_down_get_selected(choice);
    int step = litho_session_selected(self->session);
    if (self->loading || step < 0)
        return;
    if (k >= self->sets->len) { // "custom" is what the parameters are, no set that could be taken
        litho_preset_line_load(self, litho_flow_step(litho_session_flow(self->session), step));
        return;
    }
    const Set *set = g_ptr_array_index(self->sets, k);
    g_autofree char *what =
        g_strdup_printf(_("Preset %s of"), set->own ? set->name : litho_text(set->name));
    litho_session_set_params(self->session, step, set->params, what);
}

static void complain(LithoPresetLine *self, const GError *error)
{
    gtk_label_set_text(GTK_LABEL(self->complaint), error ? error->message : "");
    gtk_widget_set_visible(self->complaint, error != NULL);
}

gboolean litho_preset_line_save(LithoPresetLine *self, const char *name)
{
    g_autoptr(GError) error = NULL;
    int k = litho_session_selected(self->session);
    if (k < 0)
        return FALSE;
    gboolean ok =
        litho_preset_save(litho_flow_step(litho_session_flow(self->session), k), name, &error);
    complain(self, error);
    if (ok)
        reload(self);
    return ok;
}

static void on_save(LithoPresetLine *self)
{
    g_autofree char *name = g_strstrip(g_strdup(gtk_editable_get_text(GTK_EDITABLE(self->name))));
    if (!litho_preset_line_save(self, name))
        return;
    gtk_editable_set_text(GTK_EDITABLE(self->name), "");
    gtk_popover_popdown(GTK_POPOVER(self->popover));
}

static void on_remove(GtkButton *button, LithoPresetLine *self)
{
    g_autoptr(GError) error = NULL;
    litho_preset_remove(self->op, g_object_get_data(G_OBJECT(button), "litho-name"), &error);
    complain(self, error);
    gtk_widget_grab_focus(self->name); // the button goes
    reload(self);
}

// --- the widget ---------------------------------------------------------------------------------

static GtkWidget *make_menu(LithoPresetLine *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *button = gtk_menu_button_new();
    self->name = gtk_entry_new();
    gtk_entry_set_placeholder_text(GTK_ENTRY(self->name), _("Name for these parameters"));
    gtk_editable_set_width_chars(GTK_EDITABLE(self->name), 24);
    litho_name_widget(self->name, _("Name of a preset for the present parameters"));
    self->save = gtk_button_new_with_label(_("Save"));
    g_signal_connect_swapped(self->name, "activate", G_CALLBACK(on_save), self);
    g_signal_connect_swapped(self->save, "clicked", G_CALLBACK(on_save), self);
    gtk_widget_set_hexpand(self->name, TRUE);
    gtk_box_append(GTK_BOX(line), self->name);
    gtk_box_append(GTK_BOX(line), self->save);
    self->complaint = litho_text_new(36);
    gtk_widget_add_css_class(self->complaint, "litho-complaint");
    gtk_widget_set_visible(self->complaint, FALSE);
    self->list = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_box_append(GTK_BOX(box), line);
    gtk_box_append(GTK_BOX(box), self->complaint);
    gtk_box_append(GTK_BOX(box), self->list);
    self->popover = gtk_popover_new();
    gtk_popover_set_child(GTK_POPOVER(self->popover), box);
    gtk_menu_button_set_popover(GTK_MENU_BUTTON(button), self->popover);
    gtk_menu_button_set_icon_name(GTK_MENU_BUTTON(button), "view-more-symbolic");
    gtk_widget_add_css_class(button, "flat");
    litho_set_short_tooltip(button, _("Save these parameters as a preset, remove yours"));
    litho_name_widget(button, _("Presets of your own"));
    return button;
}

static void litho_preset_line_init(LithoPresetLine *self)
{
    GtkWidget *label = litho_label_new(_("Preset"), NULL);
    gtk_box_set_spacing(GTK_BOX(self), 6);
    gtk_widget_add_css_class(GTK_WIDGET(self), "litho-preset");
    gtk_widget_set_hexpand(label, TRUE);
    self->sets = g_ptr_array_new_with_free_func(set_free);
    self->unreadable = g_ptr_array_new_with_free_func(g_free);
    self->choice = gtk_drop_down_new(NULL, NULL);
    litho_name_choice(self->choice, _("Preset"),
                      _("Sets of parameters for common cases, and your own"));
    litho_shorten_choice(self->choice, 18);
    g_signal_connect(self->choice, "notify::selected", G_CALLBACK(on_choice), self);
    gtk_box_append(GTK_BOX(self), label);
    gtk_box_append(GTK_BOX(self), self->choice);
    gtk_box_append(GTK_BOX(self), make_menu(self));
}

static void dispose(GObject *object)
{
    LithoPresetLine *self = LITHO_PRESET_LINE(object);
    g_clear_pointer(&self->sets, g_ptr_array_unref);
    g_clear_pointer(&self->unreadable, g_ptr_array_unref);
    g_clear_object(&self->session);
    G_OBJECT_CLASS(litho_preset_line_parent_class)->dispose(object);
}

static void litho_preset_line_class_init(LithoPresetLineClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = dispose;
}

GtkDropDown *litho_preset_line_choice(LithoPresetLine *self)
{
    return GTK_DROP_DOWN(self->choice);
}

GtkWidget *litho_preset_line_new(LithoSession *session)
{
    LithoPresetLine *self = g_object_new(LITHO_TYPE_PRESET_LINE, NULL);
    self->session = g_object_ref(session);
    return GTK_WIDGET(self);
}
