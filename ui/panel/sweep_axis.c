// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/sweep_axis.h"

#include "core/error.h"
#include "core/text.h"
#include "ui/panel/param_format.h"
#include "ui/panel/parts.h"

enum { USUAL_VALUES = 9, USUAL_OF_TWO = 3 };

struct _LithoSweepLine {
    GtkBox parent;
    GPtrArray *rows; // of LithoParam, borrowed
    GArray *now;     // double, their values when the line was made
    gboolean second, is_depth;
    GtkWidget *word, *choice, *all, *details, *from, *to, *unit, *n;
};

G_DEFINE_TYPE(LithoSweepLine, litho_sweep_line, GTK_TYPE_BOX)

static guint chosen_signal;

const LithoParam *litho_sweep_line_row(LithoSweepLine *self)
{
    guint k = gtk_drop_down_get_selected(GTK_DROP_DOWN(self->choice));
    k -= self->second; // "none" comes first
    return k < self->rows->len ? g_ptr_array_index(self->rows, k) : NULL;
}

static void show_number(GtkWidget *entry, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    litho_text_put(text, sizeof text, "%.6g", value);
    gtk_editable_set_text(GTK_EDITABLE(entry), text);
}

void litho_sweep_line_set(LithoSweepLine *self, double from, double to, guint n)
{
    show_number(self->from, from);
    show_number(self->to, to);
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(self->n), n);
}

void litho_sweep_line_limit(LithoSweepLine *self, guint most)
{
    gtk_spin_button_set_range(GTK_SPIN_BUTTON(self->n), 1, most);
}

void litho_sweep_lines_align(LithoSweepLine *a, LithoSweepLine *b)
{
    GtkWidget *const pairs[][2] = {{a->word, b->word}, {a->choice, b->choice}, {a->unit, b->unit}};
    for (guint k = 0; k < G_N_ELEMENTS(pairs); k++) {
        g_autoptr(GtkSizeGroup) group = gtk_size_group_new(GTK_SIZE_GROUP_HORIZONTAL);
        gtk_size_group_add_widget(group, pairs[k][0]);
        gtk_size_group_add_widget(group, pairs[k][1]);
    }
}

// The slider's range is where values are usual.
static void on_choice(LithoSweepLine *self)
{
    const LithoParam *row = litho_sweep_line_row(self);
    const char *unit = row ? litho_param_unit(row, self->is_depth) : "";
    const gboolean named = row && litho_sweep_is_named(row); // all of them are tried
    gtk_widget_set_visible(self->details, !named);
    gtk_widget_set_visible(self->all, named);
    gtk_widget_set_sensitive(self->details, row != NULL);
    gtk_label_set_text(GTK_LABEL(self->unit), *unit ? litho_text(unit) : "");
    g_signal_emit(self, chosen_signal, 0);
    if (!row)
        return;
    const guint n = self->second ? USUAL_OF_TWO : USUAL_VALUES;
    if (row->type == LITHO_PARAM_FILE) { // without limits of its own: around what it is
        const guint k = gtk_drop_down_get_selected(GTK_DROP_DOWN(self->choice)) - self->second;
        const double now = g_array_index(self->now, double, k);
        litho_sweep_line_set(self, 0.8 * now, 1.2 * now, n);
        return;
    }
    gboolean soft = row->soft_min != 0 || row->soft_max != 0;
    litho_sweep_line_set(self, soft ? MAX(row->soft_min, row->min) : row->min,
                         soft ? MIN(row->soft_max, row->max) : row->max, n);
}

void litho_sweep_line_choose(LithoSweepLine *self, const LithoParam *row)
{
    for (guint k = 0; k < self->rows->len; k++)
        if (g_ptr_array_index(self->rows, k) == row)
            gtk_drop_down_set_selected(GTK_DROP_DOWN(self->choice), k + self->second);
}

// With a decimal comma, too.
static gboolean read_number(GtkWidget *entry, double *value, GError **error)
{
    g_autofree char *text = g_strstrip(g_strdup(gtk_editable_get_text(GTK_EDITABLE(entry))));
    char *end;
    g_strdelimit(text, ",", '.');
    *value = g_ascii_strtod(text, &end);
    return (*text && !*end) || litho_refuse(error, LITHO_ERROR_PARAMETER,
                                            "'%s' is no number to sweep from or to", text);
}

gboolean litho_sweep_line_fill(LithoSweepLine *self, guint most, double now, LithoSweepAxis *axis,
                               GError **error)
{
    const LithoParam *row = litho_sweep_line_row(self);
    double from = 0, to = 0;
    if (!row)
        return TRUE;
    if (litho_sweep_is_named(row)) {
        litho_sweep_axis_fill(axis, row, from, to, most, now);
        return TRUE;
    }
    if (!read_number(self->from, &from, error) || !read_number(self->to, &to, error))
        return FALSE;
    guint n = (guint)gtk_spin_button_get_value_as_int(GTK_SPIN_BUTTON(self->n));
    litho_sweep_axis_fill(axis, row, from, to, MIN(n, most), now);
    return TRUE;
}

// --- the widget ---------------------------------------------------------------------------------

static GtkWidget *add_entry(GtkWidget *line, const char *label, const char *name)
{
    GtkWidget *entry = gtk_entry_new();
    gtk_editable_set_width_chars(GTK_EDITABLE(entry), 7);
    gtk_editable_set_max_width_chars(GTK_EDITABLE(entry), 7);
    litho_name_widget(entry, name);
    gtk_box_append(GTK_BOX(line), gtk_label_new(label));
    gtk_box_append(GTK_BOX(line), entry);
    return entry;
}

static void litho_sweep_line_init(LithoSweepLine *self)
{
    gtk_box_set_spacing(GTK_BOX(self), 9);
    self->rows = g_ptr_array_new();
    self->now = g_array_new(FALSE, FALSE, sizeof(double));
}

static void finalize(GObject *object)
{
    g_ptr_array_unref(LITHO_SWEEP_LINE(object)->rows);
    g_array_unref(LITHO_SWEEP_LINE(object)->now);
    G_OBJECT_CLASS(litho_sweep_line_parent_class)->finalize(object);
}

static void litho_sweep_line_class_init(LithoSweepLineClass *klass)
{
    G_OBJECT_CLASS(klass)->finalize = finalize;
    chosen_signal = g_signal_new("chosen", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                 NULL, NULL, G_TYPE_NONE, 0);
}

GtkWidget *litho_sweep_line_new(const LithoStep *step, gboolean second, gboolean is_depth)
{
    LithoSweepLine *self = g_object_new(LITHO_TYPE_SWEEP_LINE, NULL);
    GtkStringList *names = gtk_string_list_new(NULL);
    const LithoParam *first = NULL;
    self->second = second;
    self->is_depth = is_depth;
    if (second)
        gtk_string_list_append(names, _("none"));
    const LithoParamTable *table = &step->op->params;
    for (guint r = 0; r < table->n; r++) {
        const LithoParam *row = &table->rows[r];
        if (!litho_sweep_takes(row, step->params) || !litho_param_applies(table, row, step->params))
            continue;
        if (!first && !litho_sweep_is_named(row))
            first = row;
        const double now = litho_sweep_value(row, step->params);
        g_array_append_val(self->now, now);
        g_ptr_array_add(self->rows, (gpointer)row);
        gtk_string_list_append(names, litho_text(row->label));
    }
    self->choice = gtk_drop_down_new(G_LIST_MODEL(names), NULL);
    litho_name_choice(self->choice,
                      second ? _("Second parameter to sweep") : _("Parameter to sweep"),
                      _("Its values run over the range beside"));
    self->word = litho_label_new(second ? _("and") : _("Sweep"), NULL);
    gtk_box_append(GTK_BOX(self), self->word);
    gtk_box_append(GTK_BOX(self), self->choice);
    self->all = litho_label_new(_("all values"), "dim-label");
    gtk_box_append(GTK_BOX(self), self->all);
    self->details = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    self->from = add_entry(self->details, _("from"), _("First value"));
    self->to = add_entry(self->details, _("to"), _("Last value"));
    self->unit = litho_label_new(NULL, NULL);
    gtk_widget_set_margin_end(self->unit, 12);
    gtk_box_append(GTK_BOX(self->details), self->unit);
    self->n =
        gtk_spin_button_new_with_range(1, second ? LITHO_SWEEP_DOUBLE : LITHO_SWEEP_SINGLE, 1);
    litho_field_of_numbers(self->n);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->n), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("How many values"), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                   _("Settings between the first and the last value"), -1);
    gtk_box_append(GTK_BOX(self->details), gtk_label_new(_("values")));
    gtk_box_append(GTK_BOX(self->details), self->n);
    gtk_box_append(GTK_BOX(self), self->details);
    g_signal_connect_swapped(self->choice, "notify::selected", G_CALLBACK(on_choice), self);
    if (!second && first)
        litho_sweep_line_choose(self, first);
    on_choice(self);
    return GTK_WIDGET(self);
}
