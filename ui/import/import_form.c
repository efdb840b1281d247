// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <string.h>

#include "core/io/sample_codec.h"
#include "core/param.h"
#include "core/text.h"
#include "ui/import/import_private.h"
#include "ui/import/import_profile.h"
#include "ui/panel/parts.h"
#include "ui/view/tooltip.h"

static const char *const types[] = {"float32", "float64", "int16", NULL};
static const int formats[] = {0, 1, 5, 2, 3, 8, 6, 7, 10, 11, 15, 16};

// --- the form -----------------------------------------------------------------------------------

static void show_row(GtkWidget *widget, gboolean visible)
{
    gtk_widget_set_visible(widget, visible);
    gtk_widget_set_visible(g_object_get_data(G_OBJECT(widget), "litho-name"), visible);
}

// Only what can change how this kind of file is read.
static void show_rows(LithoImport *self)
{
    const LithoOpenOptions *o = &self->options;
    gboolean headed = self->kind == LITHO_IMPORT_HEADED, raw = self->kind == LITHO_IMPORT_RAW;
    GtkWidget *of_headers[] = {self->lines, self->bytes[2], self->bytes[3], self->scalar,
                               self->format};
    for (guint k = 0; k < G_N_ELEMENTS(of_headers); k++)
        show_row(of_headers[k], headed);
    for (int k = 0; k < 2; k++) {
        show_row(self->bytes[k], headed && !o->file_order);
        show_row(self->shape[k], raw || (headed && o->file_order));
    }
    show_row(self->shape[2], raw);
    show_row(self->type, raw);
    show_row(self->order, headed || raw);
    gtk_widget_set_visible(self->evidence, headed);
}

void litho_import_load_values(LithoImport *self)
{
    const LithoOpenOptions *o = &self->options;
    int bytes[4] = {o->inline_byte, o->xline_byte, o->x_byte, o->y_byte};
    self->loading = TRUE;
    gtk_drop_down_set_selected(GTK_DROP_DOWN(self->lines), o->file_order ? 1 : 0);
    for (int k = 0; k < 4; k++)
        gtk_spin_button_set_value(GTK_SPIN_BUTTON(self->bytes[k]), bytes[k]);
    for (int a = 0; a < 3; a++)
        gtk_spin_button_set_value(GTK_SPIN_BUTTON(self->shape[a]), o->shape[a]);
    guint type = 0;
    for (guint k = 0; types[k]; k++)
        type = g_strcmp0(types[k], o->dtype) == 0 ? k : type;
    gtk_drop_down_set_selected(GTK_DROP_DOWN(self->type), type);
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(self->scalar), o->xy_scalar);
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(self->spacing[0]), o->dx);
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(self->spacing[1]), o->dy);
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(self->interval),
                              o->domain == 2 ? o->dt : o->dt * 1000);
    gtk_drop_down_set_selected(GTK_DROP_DOWN(self->domain), o->domain);
    gtk_drop_down_set_selected(GTK_DROP_DOWN(self->order), o->endian);
    guint row = 0;
    for (guint k = 0; k < G_N_ELEMENTS(formats); k++)
        row = formats[k] == o->format ? k : row;
    gtk_drop_down_set_selected(GTK_DROP_DOWN(self->format), row);
    show_rows(self);
    self->loading = FALSE;
}

// Sizes count for raw files and for traces in file order, when both lines of them are given.
static void read_shape(LithoImport *self)
{
    LithoOpenOptions *o = &self->options;
    gboolean raw = self->kind == LITHO_IMPORT_RAW;
    for (int a = 0; a < 3; a++)
        o->shape[a] = gtk_spin_button_get_value_as_int(GTK_SPIN_BUTTON(self->shape[a]));
    if (!raw)
        o->shape[2] = 0;
    if (!raw && (!o->file_order || !o->shape[0] || !o->shape[1]))
        o->shape[0] = o->shape[1] = 0;
    guint type = gtk_drop_down_get_selected(GTK_DROP_DOWN(self->type));
    o->dtype = raw && type > 0 ? types[type] : NULL;
}

static void read_values(LithoImport *self)
{
    LithoOpenOptions *o = &self->options;
    int *bytes[4] = {&o->inline_byte, &o->xline_byte, &o->x_byte, &o->y_byte};
    if (self->loading)
        return;
    LithoOpenOptions before = *o;
    o->file_order = gtk_drop_down_get_selected(GTK_DROP_DOWN(self->lines)) == 1;
    for (int k = 0; k < 4; k++)
        *bytes[k] = gtk_spin_button_get_value_as_int(GTK_SPIN_BUTTON(self->bytes[k]));
    o->xy_scalar = gtk_spin_button_get_value_as_int(GTK_SPIN_BUTTON(self->scalar));
    o->dx = gtk_spin_button_get_value(GTK_SPIN_BUTTON(self->spacing[0]));
    o->dy = gtk_spin_button_get_value(GTK_SPIN_BUTTON(self->spacing[1]));
    o->domain = gtk_drop_down_get_selected(GTK_DROP_DOWN(self->domain));
    double interval = gtk_spin_button_get_value(GTK_SPIN_BUTTON(self->interval));
    o->dt = o->domain == 2 ? interval : interval / 1000;
    o->endian = gtk_drop_down_get_selected(GTK_DROP_DOWN(self->order));
    o->format = formats[gtk_drop_down_get_selected(GTK_DROP_DOWN(self->format))];
    read_shape(self);
    show_rows(self);
    if (!litho_open_options_equal(&before, o))
        litho_import_changed(self);
}

// 0 stands for "find out".
static gboolean show_number(GtkSpinButton *spin, gpointer words)
{
    double value = gtk_spin_button_get_value(spin);
    char number[32];
    litho_text_put(number, sizeof number, "%.*f", (int)gtk_spin_button_get_digits(spin), value);
    const char *text = value != 0 ? number : words;
    if (strcmp(gtk_editable_get_text(GTK_EDITABLE(spin)), text) != 0)
        gtk_editable_set_text(GTK_EDITABLE(spin), text);
    return TRUE;
}

// The factor of a unit behind a number; 0 = it does not fit the field.
static double unit_of(GtkSpinButton *spin, const char *word)
{
    const char *const *units = g_object_get_data(G_OBJECT(spin), "litho-units");
    double factor = *word ? 0 : 1;
    for (; units && *units && factor == 0; units++)
        factor = litho_param_unit_size(word, *units);
    return factor;
}

// Units that may stand behind the number, the first of them that of the field.
static void take_units(GtkWidget *spin, const char *const *units)
{
    g_object_set_data(G_OBJECT(spin), "litho-units", (gpointer)units);
}

static int parse_number(GtkSpinButton *spin, double *value, gpointer words)
{
    const char *text = gtk_editable_get_text(GTK_EDITABLE(spin));
    if (strcmp(text, words) == 0 || !*text) {
        *value = 0;
        return TRUE;
    }
    char *end;
    g_autofree char *plain = g_strstrip(g_strdup(text));
    litho_text_unmark(plain);
    *value = g_ascii_strtod(plain, &end);
    const double unit = unit_of(spin, end + strspn(end, " "));
    if (end == plain || unit == 0 || !isfinite(*value))
        *value = gtk_spin_button_get_value(spin); // GTK takes it after an error, too
    else
        *value *= unit;
    return TRUE;
}

static void add_row(GtkWidget *grid, int row, const char *label, const char *doc, GtkWidget *widget)
{
    GtkWidget *name = gtk_label_new(label);
    gtk_label_set_xalign(GTK_LABEL(name), 0);
    gtk_widget_set_hexpand(widget, TRUE);
    g_object_set_data(G_OBJECT(widget), "litho-name", name);
    litho_set_tooltip(widget, doc);
    if (GTK_IS_DROP_DOWN(widget))
        litho_name_choice(widget, label, doc);
    else
        gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                       GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, doc, -1);
    gtk_grid_attach(GTK_GRID(grid), name, 0, row, 1, 1);
    gtk_grid_attach(GTK_GRID(grid), widget, 1, row, 1, 1);
}

static GtkWidget *number(LithoImport *self, double least, double most, int digits, const char *zero)
{
    GtkWidget *spin = gtk_spin_button_new_with_range(least, most, digits ? 0.5 : 1);
    gtk_spin_button_set_digits(GTK_SPIN_BUTTON(spin), digits);
    gtk_spin_button_set_numeric(GTK_SPIN_BUTTON(spin), FALSE); // it says "find out", too
    litho_field_of_numbers(spin);
    g_signal_connect(spin, "output", G_CALLBACK(show_number), (gpointer)zero);
    g_signal_connect(spin, "input", G_CALLBACK(parse_number), (gpointer)zero);
    g_signal_connect_swapped(spin, "value-changed", G_CALLBACK(read_values), self);
    show_number(GTK_SPIN_BUTTON(spin), (gpointer)zero);
    litho_wheel_needs_focus(spin);
    return spin;
}

static GtkWidget *choice(LithoImport *self, const char *const *names)
{
    GtkWidget *drop = gtk_drop_down_new_from_strings(names);
    g_signal_connect_swapped(drop, "notify::selected", G_CALLBACK(read_values), self);
    return drop;
}

static GtkWidget *make_formats(LithoImport *self)
{
    GtkStringList *names = gtk_string_list_new((const char *const[]){_("As the file says"), NULL});
    for (guint k = 1; k < G_N_ELEMENTS(formats); k++)
        gtk_string_list_append(names, litho_text(litho_format_name(formats[k])));
    GtkWidget *drop = gtk_drop_down_new(G_LIST_MODEL(names), NULL);
    g_signal_connect_swapped(drop, "notify::selected", G_CALLBACK(read_values), self);
    return drop;
}

GtkWidget *litho_import_make_form(LithoImport *self)
{
    const char *const lines[] = {_("From line numbers"), _("Traces in file order"), NULL};
    // Bare samples say nothing.
    const char *said = self->kind == LITHO_IMPORT_RAW ? _("Assumed") : _("As the file says");
    static const char *const lengths[] = {"m", NULL}, *const intervals[] = {"ms", "m", NULL};
    const char *const domains[] = {said, _("Time"), _("Depth"), NULL};
    const char *const orders[] = {_("Find out"), _("Big endian"), _("Little endian"), NULL};
    const char *const names[] = {_("Inline byte"), _("Crossline byte"), _("X byte"), _("Y byte")};
    const char *const docs[] = {
        _("First byte of the inline number in the trace header, 1 to 237"),
        _("First byte of the crossline number in the trace header, 1 to 237"),
        _("First byte of the X coordinate in the trace header, 1 to 237"),
        _("First byte of the Y coordinate in the trace header, 1 to 237")};
    GtkWidget *grid = gtk_grid_new();
    gtk_grid_set_row_spacing(GTK_GRID(grid), 6);
    gtk_grid_set_column_spacing(GTK_GRID(grid), 12);
    self->lines = choice(self, lines);
    add_row(grid, 0, _("Geometry"), _("How traces are arranged; file order always works"),
            self->lines);
    for (int k = 0; k < 4; k++) {
        self->bytes[k] = number(self, 0, 237, 0, _("Find out"));
        add_row(grid, 1 + k, names[k], docs[k], self->bytes[k]);
    }
    const char *const sizes[] = {_("Inlines"), _("Crosslines"), _("Samples")};
    const char *const whats[] = {_("Number of inlines: the slowest axis of the file"),
                                 _("Traces per inline"), _("Samples per trace: the fastest axis")};
    for (int a = 0; a < 3; a++) {
        self->shape[a] = number(self, 0, G_MAXINT32, 0, _("Not given"));
        add_row(grid, 5 + a, sizes[a], whats[a], self->shape[a]);
    }
    self->type = choice(self, types);
    add_row(grid, 8, _("Sample type"), _("How the samples are stored"), self->type);
    self->scalar = number(self, -10000, 10000, 0, _("Byte 71"));
    add_row(grid, 9, _("Coordinate scalar"),
            _("In place of trace header byte 71: -100 divides by 100, 10 multiplies by 10"),
            self->scalar);
    for (int k = 0; k < 2; k++) {
        self->spacing[k] = number(self, 0, 10000, 2, said);
        take_units(self->spacing[k], lengths);
        add_row(grid, 10 + k, k ? _("Crossline spacing") : _("Inline spacing"),
                _("Distance from line to line, m"), self->spacing[k]);
    }
    self->interval = number(self, 0, 1000, 3, said);
    take_units(self->interval, intervals);
    add_row(grid, 12, _("Sample interval"), _("ms, or m for depth"), self->interval);
    self->domain = choice(self, domains);
    add_row(grid, 13, _("Sample axis"), _("Time or depth"), self->domain);
    self->format = make_formats(self);
    add_row(grid, 14, _("Sample format"), _("How the samples are stored"), self->format);
    self->order = choice(self, orders);
    add_row(grid, 15, _("Byte order"), _("Of headers and samples"), self->order);
    return grid;
}

// --- profiles -----------------------------------------------------------------------------------

static void on_profile(GtkButton *button, LithoImport *self)
{
    const char *name = gtk_button_get_label(button);
    g_autoptr(GError) error = NULL;
    gtk_menu_button_popdown(GTK_MENU_BUTTON(self->profile_menu));
    LithoOpenOptions options;
    if (!litho_profile_load(name, &options, &error)) {
        litho_import_say(self, error->message);
        return;
    }
    gtk_editable_set_text(GTK_EDITABLE(self->profile), name);
    self->options = options;
    litho_import_load_values(self);
    litho_import_changed(self);
}

static void list_profiles(LithoImport *self)
{
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(self->profile_list)))
        gtk_box_remove(GTK_BOX(self->profile_list), child);
    g_auto(GStrv) names = litho_profiles();
    for (char **name = names; *name; name++) {
        GtkWidget *button = gtk_button_new_with_label(*name);
        gtk_widget_add_css_class(button, "flat");
        g_signal_connect(button, "clicked", G_CALLBACK(on_profile), self);
        gtk_box_append(GTK_BOX(self->profile_list), button);
    }
    gtk_widget_set_sensitive(self->profile_menu, names[0] != NULL);
}

static void profile_typed(LithoImport *self)
{
    const char *name = gtk_editable_get_text(GTK_EDITABLE(self->profile));
    g_auto(GStrv) names = litho_profiles();
    gtk_widget_set_sensitive(self->save, litho_profile_bad_name(name) == NULL);
    gtk_widget_set_sensitive(self->remove, g_strv_contains((const char *const *)names, name));
}

static void on_save(LithoImport *self)
{
    const char *name = gtk_editable_get_text(GTK_EDITABLE(self->profile));
    g_autoptr(GError) error = NULL;
    gboolean ok = litho_profile_save(name, &self->options, self->text ? self->text : "", &error);
    litho_import_say(self, ok ? NULL : error->message);
    list_profiles(self);
    profile_typed(self);
}

static void on_remove(LithoImport *self)
{
    const char *name = gtk_editable_get_text(GTK_EDITABLE(self->profile));
    g_autoptr(GError) error = NULL;
    gboolean ok = litho_profile_delete(name, &error);
    litho_import_say(self, ok ? NULL : error->message);
    list_profiles(self);
    profile_typed(self);
}

GtkWidget *litho_import_make_profiles(LithoImport *self)
{
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *popover = gtk_popover_new(), *joined = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    gtk_widget_add_css_class(joined, "linked");
    self->profile = gtk_entry_new();
    gtk_entry_set_placeholder_text(GTK_ENTRY(self->profile), _("Name of a profile"));
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->profile), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Name of the import profile"), -1);
    g_signal_connect_swapped(self->profile, "changed", G_CALLBACK(profile_typed), self);
    self->profile_menu = gtk_menu_button_new();
    self->profile_list = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_popover_set_child(GTK_POPOVER(popover), self->profile_list);
    gtk_menu_button_set_popover(GTK_MENU_BUTTON(self->profile_menu), popover);
    litho_set_short_tooltip(self->profile_menu, _("Load a profile"));
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->profile_menu),
                                   GTK_ACCESSIBLE_PROPERTY_LABEL, _("Load a profile"), -1);
    self->save = gtk_button_new_with_label(_("Keep"));
    gtk_widget_set_tooltip_text(self->save, _("Keep these choices under this name; files with a "
                                              "similar text header will be offered them"));
    self->remove = gtk_button_new_with_label(_("Delete"));
    gtk_widget_set_tooltip_text(self->remove, _("Delete the profile of this name"));
    g_signal_connect_swapped(self->save, "clicked", G_CALLBACK(on_save), self);
    g_signal_connect_swapped(self->remove, "clicked", G_CALLBACK(on_remove), self);
    gtk_box_append(GTK_BOX(joined), self->profile);
    gtk_box_append(GTK_BOX(joined), self->profile_menu);
    gtk_box_append(GTK_BOX(line), joined);
    gtk_box_append(GTK_BOX(line), self->save);
    gtk_box_append(GTK_BOX(line), self->remove);
    list_profiles(self);
    profile_typed(self);
    return line;
}
