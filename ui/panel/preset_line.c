// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/preset_line.h"

#include "core/text.h"
#include "ui/panel/parts.h"
#include "ui/session/presets.h"

struct _LithoPresetLine {
    GtkBox parent;
    LithoSession *session;
    const LithoOperator *op; // whose sets are listed, NULL = none
    GPtrArray *sets;         // of Set, in the order of the choice
    GPtrArray *unreadable;   // names of own sets that no choice can offer
    GtkWidget *choice;
    LithoPresetMenu *menu;
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

static void show_sets(LithoPresetLine *self)
{
    g_autoptr(GtkStringList) names = gtk_string_list_new(NULL);
    g_autoptr(GPtrArray) own = g_ptr_array_new();
    for (guint k = 0; k < self->sets->len; k++) {
        const Set *set = g_ptr_array_index(self->sets, k);
        gtk_string_list_append(names, set->own ? set->name : litho_text(set->name));
        if (set->own)
            g_ptr_array_add(own, set->name);
    }
    litho_preset_menu_list(self->menu, self->op, own, self->unreadable);
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

// --- the widget ---------------------------------------------------------------------------------

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

LithoPresetMenu *litho_preset_line_menu(LithoPresetLine *self)
{
    return self->menu;
}

GtkDropDown *litho_preset_line_choice(LithoPresetLine *self)
{
    return GTK_DROP_DOWN(self->choice);
}

static void on_changed(gpointer line)
{
    reload(line);
}

GtkWidget *litho_preset_line_new(LithoSession *session)
{
    LithoPresetLine *self = g_object_new(LITHO_TYPE_PRESET_LINE, NULL);
    self->session = g_object_ref(session);
    self->menu = litho_preset_menu_new(session, on_changed, self);
    gtk_box_append(GTK_BOX(self), litho_preset_menu_button(self->menu));
    return GTK_WIDGET(self);
}
