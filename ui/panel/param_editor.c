// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/param_editor_private.h"

#include <math.h>
#include <string.h>

#include "core/text.h"
#include "ui/panel/parts.h"
#include "ui/view/tooltip.h"

G_DEFINE_TYPE(LithoParamEditor, litho_param_editor, GTK_TYPE_BOX)

static guint edited_signal;

const char *litho_param_editor_unit(const LithoParamEditor *self)
{
    return litho_param_unit(self->row, self->is_depth);
}

void litho_param_editor_with_unit(const LithoParamEditor *self, double value, char *out, gsize size)
{
    litho_param_format_unit(self->row, value, self->is_depth, out, size);
}

void litho_param_editor_edited(LithoParamEditor *self, double value, const char *text)
{
    if (!self->loading)
        g_signal_emit(self, edited_signal, 0, value, text);
}

void litho_param_editor_leave(LithoParamEditor *self)
{
    if (!gtk_widget_get_visible(self->complaint))
        gtk_widget_activate_action(GTK_WIDGET(self), "win.focus-view", NULL);
}

// --- other kinds --------------------------------------------------------------------------------

static void on_toggle(GtkSwitch *toggle, GParamSpec *spec, LithoParamEditor *self)
{
    (void)spec;
    litho_param_editor_edited(self, gtk_switch_get_active(toggle), NULL);
}

static void on_choice(GtkDropDown *choice, GParamSpec *spec, LithoParamEditor *self)
{
    (void)spec;
    litho_param_editor_edited(self, gtk_drop_down_get_selected(choice), NULL);
}

static void on_text(GtkWidget *text, LithoParamEditor *self)
{
    litho_param_editor_edited(self, NAN, gtk_editable_get_text(GTK_EDITABLE(text)));
}

static void on_text_done(GtkWidget *text, LithoParamEditor *self)
{
    on_text(text, self);
    litho_param_editor_leave(self);
}

static void on_text_left(GtkEventControllerFocus *focus, LithoParamEditor *self)
{
    (void)focus;
    on_text(self->text, self);
}

static void file_chosen(GtkNativeDialog *dialog, int response, LithoParamEditor *self)
{
    if (response == GTK_RESPONSE_ACCEPT) {
        g_autoptr(GFile) file = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog));
        g_autofree char *path = g_file_get_path(file);
        gtk_editable_set_text(GTK_EDITABLE(self->text), path ? path : "");
        on_text(self->text, self);
    }
    gtk_native_dialog_destroy(dialog);
    g_object_unref(dialog);
}

static void on_browse(GtkButton *button, LithoParamEditor *self)
{
    GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(button));
    GtkFileChooserNative *dialog =
        gtk_file_chooser_native_new(litho_text(self->row->label), GTK_WINDOW(root),
                                    GTK_FILE_CHOOSER_ACTION_OPEN, _("_Choose"), _("_Cancel"));
    gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(dialog), TRUE);
    g_signal_connect_object(dialog, "response", G_CALLBACK(file_chosen), self, 0);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

static GtkWidget *make_choice(LithoParamEditor *self)
{
    GtkStringList *names = gtk_string_list_new(NULL);
    for (guint k = 0; k < litho_param_n_choices(self->row); k++)
        gtk_string_list_append(names, litho_param_choice_shown(self->row, k));
    GtkWidget *choice = gtk_drop_down_new(G_LIST_MODEL(names), NULL);
    g_signal_connect(choice, "notify::selected", G_CALLBACK(on_choice), self);
    return choice;
}

static GtkWidget *make_text(LithoParamEditor *self)
{
    GtkWidget *text = gtk_entry_new();
    gtk_widget_set_hexpand(text, TRUE);
    gtk_editable_set_width_chars(GTK_EDITABLE(text), 8);
    g_signal_connect(text, "activate", G_CALLBACK(on_text_done), self);
    GtkEventController *focus = gtk_event_controller_focus_new();
    g_signal_connect(focus, "leave", G_CALLBACK(on_text_left), self);
    gtk_widget_add_controller(text, focus);
    return text;
}

// --- the row ------------------------------------------------------------------------------------

static void on_dot(GtkButton *button, LithoParamEditor *self)
{
    (void)button;
    const LithoParam *row = self->row;
    gboolean text = row->type == LITHO_PARAM_TEXT || row->type == LITHO_PARAM_FILE;
    litho_param_editor_edited(self, row->def, text ? (row->def_text ? row->def_text : "") : NULL);
}

void litho_param_editor_describe(LithoParamEditor *self, GtkWidget *control)
{
    const LithoParam *row = self->row;
    const char *unit = litho_param_editor_unit(self);
    g_autofree char *label = *unit ? g_strdup_printf(_("%s in %s"), litho_text(row->label), unit)
                                   : g_strdup(litho_text(row->label));
    gtk_accessible_update_property(GTK_ACCESSIBLE(control), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                   GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                   row->doc ? litho_text(row->doc) : "", -1);
}

static char *tooltip_of(const LithoParamEditor *self)
{
    const LithoParam *row = self->row;
    const char *doc = row->doc ? litho_text(row->doc) : "";
    if (row->type != LITHO_PARAM_FLOAT && row->type != LITHO_PARAM_INT)
        return g_strdup(doc);
    double lo, hi;
    char def[48];
    litho_param_slider_range(row, &lo, &hi);
    litho_param_editor_with_unit(self, row->def, def, sizeof def);
    g_autofree char *typical = litho_param_format_range(row, lo, hi, self->is_depth);
    g_autofree char *possible = litho_param_format_range(row, row->min, row->max, self->is_depth);
    return row->special_text
               ? g_strdup_printf(_("%s\nTypical %s, default %s; possible %s, or %s."), doc, typical,
                                 def, possible, litho_text(row->special_text))
               : g_strdup_printf(_("%s\nTypical %s, default %s; possible %s."), doc, typical, def,
                                 possible);
}

// On the name and on what is clicked or typed into, not on the slider: it would lie over the next
// rows while a hand moves the knob.
static void set_help(LithoParamEditor *self)
{
    g_autofree char *tooltip = tooltip_of(self);
    GtkWidget *const places[] = {self->name, self->spin, self->toggle, self->choice, self->text};
    for (guint k = 0; k < G_N_ELEMENTS(places); k++)
        if (places[k])
            litho_set_tooltip(places[k], tooltip);
}

static GtkWidget *make_dot(LithoParamEditor *self)
{
    GtkWidget *dot = gtk_button_new();
    GtkWidget *mark = gtk_label_new("●");
    gtk_button_set_child(GTK_BUTTON(dot), mark);
    gtk_widget_add_css_class(dot, "flat");
    gtk_widget_add_css_class(dot, "litho-dot");
    gtk_widget_set_valign(dot, GTK_ALIGN_CENTER);
    g_autofree char *label = g_strdup_printf(_("Reset %s"), litho_text(self->row->label));
    litho_name_widget(dot, label);
    g_signal_connect(dot, "clicked", G_CALLBACK(on_dot), self);
    return dot;
}

static void fill_text(LithoParamEditor *self)
{
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    self->text = make_text(self);
    gtk_box_append(GTK_BOX(line), self->text);
    if (self->row->type == LITHO_PARAM_FILE) {
        g_autofree char *name =
            g_strdup_printf(_("Choose a file: %s"), litho_text(self->row->label));
        GtkWidget *browse = gtk_button_new_from_icon_name("document-open-symbolic");
        litho_name_widget(browse, name);
        gtk_widget_set_tooltip_text(browse, _("Choose a file"));
        g_signal_connect(browse, "clicked", G_CALLBACK(on_browse), self);
        gtk_box_append(GTK_BOX(line), browse);
    }
    gtk_widget_add_css_class(line, "litho-text-line");
    gtk_box_append(GTK_BOX(self), line);
    litho_param_editor_describe(self, self->text);
}

static void fill(LithoParamEditor *self)
{
    const LithoParam *row = self->row;
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    self->dot = make_dot(self);
    gtk_box_append(GTK_BOX(line), self->dot);
    // At any size of text the panel is as wide as the names need; long ones take two lines.
    gboolean number = row->type == LITHO_PARAM_FLOAT || row->type == LITHO_PARAM_INT;
    self->name = litho_label_new(litho_text(row->label), NULL);
    gtk_label_set_wrap(GTK_LABEL(self->name), TRUE);
    gtk_label_set_width_chars(
        GTK_LABEL(self->name),
        MIN((int)g_utf8_strlen(litho_text(row->label), -1), number ? LITHO_PARAM_NAME_CHARS : 15));
    gtk_widget_set_hexpand(self->name, TRUE);
    gtk_box_append(GTK_BOX(line), self->name);
    gtk_box_append(GTK_BOX(self), line);
    if (number) {
        litho_param_number_fill(self, line);
    } else if (row->type == LITHO_PARAM_BOOL) {
        self->toggle = gtk_switch_new();
        gtk_widget_set_valign(self->toggle, GTK_ALIGN_CENTER);
        g_signal_connect(self->toggle, "notify::active", G_CALLBACK(on_toggle), self);
        gtk_box_append(GTK_BOX(line), self->toggle);
        litho_param_editor_describe(self, self->toggle);
    } else if (row->type == LITHO_PARAM_CHOICE) {
        self->choice = make_choice(self);
        gtk_box_append(GTK_BOX(line), self->choice);
        litho_name_choice(self->choice, litho_text(row->label),
                          row->doc ? litho_text(row->doc) : "");
    } else {
        fill_text(self);
    }
    self->complaint = gtk_label_new(NULL);
    gtk_label_set_wrap(GTK_LABEL(self->complaint), TRUE);
    gtk_label_set_xalign(GTK_LABEL(self->complaint), 0);
    gtk_widget_add_css_class(self->complaint, "litho-complaint");
    gtk_widget_set_visible(self->complaint, FALSE);
    gtk_box_append(GTK_BOX(self), self->complaint);
    set_help(self);
}

void litho_param_editor_set_axis(LithoParamEditor *self, const LithoAxis *axis, gboolean is_depth)
{
    self->axis = axis ? *axis : (LithoAxis){0};
    if (self->is_depth == is_depth || !self->row->depth_unit)
        return;
    self->is_depth = is_depth;
    litho_param_number_write(self);
    set_help(self);
    litho_param_editor_describe(self, self->spin);
    litho_param_editor_describe(self, self->slider);
}

static void litho_param_editor_init(LithoParamEditor *self)
{
    gtk_orientable_set_orientation(GTK_ORIENTABLE(self), GTK_ORIENTATION_VERTICAL);
    gtk_widget_add_css_class(GTK_WIDGET(self), "litho-param-row");
}

static void litho_param_editor_class_init(LithoParamEditorClass *klass)
{
    edited_signal = g_signal_new("edited", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                 NULL, NULL, G_TYPE_NONE, 2, G_TYPE_DOUBLE, G_TYPE_STRING);
}

GtkWidget *litho_param_editor_new(const LithoParam *row)
{
    LithoParamEditor *self = g_object_new(LITHO_TYPE_PARAM_EDITOR, NULL);
    self->row = row;
    self->used = NAN;
    fill(self);
    return GTK_WIDGET(self);
}

const LithoParam *litho_param_editor_declaration(LithoParamEditor *self)
{
    return self->row;
}

void litho_param_editor_load(LithoParamEditor *self, const void *params, const void *defaults)
{
    const LithoParam *row = self->row;
    double value = litho_param_get(row, params);
    self->loading = TRUE;
    if (self->spin)
        litho_param_number_show(self, value);
    else if (self->toggle)
        gtk_switch_set_active(GTK_SWITCH(self->toggle), value != 0);
    else if (self->choice)
        gtk_drop_down_set_selected(GTK_DROP_DOWN(self->choice), (guint)value);
    else {
        const LithoText *text = (const void *)((const char *)params + row->offset);
        if (strcmp(gtk_editable_get_text(GTK_EDITABLE(self->text)), text->text) != 0)
            gtk_editable_set_text(GTK_EDITABLE(self->text), text->text);
    }
    self->loading = FALSE;
    litho_param_editor_complain(self, NULL);

    gboolean changed = !litho_param_equal(row, params, defaults);
    const char *unit =
        litho_param_special(row, defaults) ? "" : litho_text(litho_param_editor_unit(self));
    g_autofree char *def = litho_param_shown(row, defaults);
    g_autofree char *tip = g_strdup_printf(_("Changed; click to go back to %s%s%s"),
                                           *def ? def : _("nothing"), *unit ? " " : "", unit);
    litho_set_short_tooltip(self->dot, changed ? tip : NULL);
    gtk_widget_set_sensitive(self->dot, changed);
    gtk_widget_set_opacity(self->dot, changed ? 1 : 0);
}

// The sentence stands where the tooltip of the field above it would lie.
void litho_param_editor_complain(LithoParamEditor *self, const char *sentence)
{
    GtkWidget *field = self->spin ? self->spin : self->text;
    if (field && gtk_widget_get_visible(self->complaint) != (sentence != NULL))
        gtk_widget_set_has_tooltip(field, sentence == NULL);
    gtk_label_set_text(GTK_LABEL(self->complaint), sentence ? sentence : "");
    gtk_widget_set_visible(self->complaint, sentence != NULL);
}

void litho_param_editor_grab(LithoParamEditor *self)
{
    GtkWidget *control = self->spin     ? self->spin
                         : self->toggle ? self->toggle
                         : self->choice ? self->choice
                                        : self->text;
    gtk_widget_grab_focus(control);
}
