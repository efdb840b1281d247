// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/qc_panel.h"

#include <math.h>
#include <string.h>

#include "core/text.h"
#include "render/ticks.h"
#include "ui/panel/area_panel.h"
#include "ui/panel/data_panel.h"
#include "ui/panel/medium_panel.h"
#include "ui/panel/parts.h"
#include "ui/panel/quality_panel.h"
#include "ui/view/plot.h"
#include "ui/view/tooltip.h"

// Numbers that change sixty times a second cannot be read, curves can be followed.
enum { NUMBERS_MS = 200, CURVES_MS = 33 };

struct _LithoQcPanel {
    GtkBox parent;
    LithoSession *session;
    GtkWidget *details, *numbers, *curves, *missing;
    GPtrArray *plot_keys; // of the plots in `curves`, each a title and a chart
    guint numbers_timeout, curves_timeout;
};

G_DEFINE_TYPE(LithoQcPanel, litho_qc_panel, GTK_TYPE_BOX)

// --- numbers ------------------------------------------------------------------------------------

static void make_row(GtkGrid *grid, int row)
{
    GtkWidget *name = gtk_label_new(NULL), *number = gtk_label_new(NULL);
    gtk_label_set_xalign(GTK_LABEL(name), 0);
    gtk_label_set_wrap(GTK_LABEL(name), TRUE);
    gtk_label_set_width_chars(GTK_LABEL(name), 12);
    gtk_widget_set_hexpand(name, TRUE);
    gtk_label_set_xalign(GTK_LABEL(number), 1);
    gtk_widget_set_valign(number, GTK_ALIGN_START);
    gtk_widget_add_css_class(name, "dim-label");
    gtk_widget_add_css_class(number, "numeric");
    gtk_grid_attach(grid, name, 0, row, 1, 1);
    gtk_grid_attach(grid, number, 1, row, 1, 1);
}

// Rows stay from result to result, and their texts change. `doc` is the row's tooltip, NULL = none.
// `newest`: told by the pass that runs or ran last; other figures are pale until it has told its
// own.
static void add_number(LithoQcPanel *self, int row, const char *label, const char *value,
                       const char *doc, gboolean newest)
{
    g_autofree char *begun = litho_text_begin(label); // operators write their labels either way
    GtkGrid *grid = GTK_GRID(self->numbers);
    if (!gtk_grid_get_child_at(grid, 0, row))
        make_row(grid, row);
    GtkWidget *name = gtk_grid_get_child_at(grid, 0, row);
    GtkWidget *number = gtk_grid_get_child_at(grid, 1, row);
    gtk_label_set_text(GTK_LABEL(name), begun);
    litho_label_set_number(number, value);
    const char *old = _("Of the computation before; the one that runs has not told it yet.");
    g_autofree char *tip = newest ? g_strdup(doc)
                           : doc  ? g_strconcat(doc, " ", old, NULL)
                                  : g_strdup(old);
    if (newest)
        gtk_widget_remove_css_class(number, "dim-label");
    else
        gtk_widget_add_css_class(number, "dim-label");
    litho_set_tooltip(name, tip);
    litho_set_tooltip(number, tip);
}

// The size of the amplitudes; of velocities and energies their mean, from where to where.
static int add_sizes(LithoQcPanel *self, int row)
{
    const char *const labels[2][2] = {{_("RMS in"), _("RMS out")}, {_("Mean in"), _("Mean out")}};
    const char *const ranges[] = {_("Range in"), _("Range out")};
    const char *const docs[] = {_("Root mean square of the samples of recorded traces; "
                                  "what a filter takes away lowers it."),
                                _("Mean of the samples of recorded traces.")};
    const LithoCubeNumbers *both[2];
    litho_data_numbers(self->session, both);
    for (int w = 0; w < 2; w++) {
        const LithoCubeNumbers *numbers = both[w];
        if (!numbers)
            continue;
        const LithoStats *s = &numbers->stats;
        const gboolean is_unsigned = numbers->range.is_unsigned;
        const char *unit = numbers->range.unit;
        g_autofree char *value = litho_format_amplitude(is_unsigned ? s->mean : s->rms);
        g_autofree char *low = litho_format_amplitude(s->min),
                        *high = litho_format_amplitude(s->max);
        g_autofree char *size = g_strdup_printf("%s%s%s", value, unit ? " " : "", unit ? unit : "");
        g_autofree char *range = g_strdup_printf(_("%s to %s"), low, high);
        add_number(self, row++, labels[is_unsigned][w], size, docs[is_unsigned], TRUE);
        if (is_unsigned)
            add_number(self, row++, ranges[w], range, _("Smallest and largest sample."), TRUE);
    }
    return row;
}

// Counts as counts, the rest with four digits.
static void format_value(double value, char *out, gsize size)
{
    if (value == rint(value) && fabs(value) < 1e9) {
        litho_format_number(out, size, value, 1);
        return;
    }
    g_autofree char *text = litho_format_amplitude(value);
    g_strlcpy(out, text, size);
}

// Meaning of a number in the words of the step that told it; NULL = none.
static const char *doc_of(LithoQcPanel *self, const char *key)
{
    const LithoFlow *flow = litho_session_flow(self->session);
    const char *doc = NULL;
    for (guint k = 0; !doc && k < litho_flow_length(flow); k++)
        doc = litho_text(litho_operator_number_doc(litho_flow_step(flow, k)->op, key));
    return doc;
}

static int add_report(LithoQcPanel *self, int row)
{
    g_autoptr(GArray) numbers = litho_session_report_numbers(self->session);
    for (guint k = 0; numbers && k < numbers->len; k++) {
        const LithoNumber *n = &g_array_index(numbers, LithoNumber, k);
        if (litho_number_is_any_used(n))
            continue; // stands in the parameter's row
        char number[48];
        format_value(n->value, number, sizeof number);
        g_autofree char *text =
            g_strdup_printf("%s%s%s", number, *n->unit ? " " : "", litho_text(n->unit));
        add_number(self, row++, *n->label ? litho_text(n->label) : n->key, text,
                   doc_of(self, n->key), litho_session_number_is_newest(self->session, n->key));
    }
    return row;
}

// Says why there are no figures of a result, in the place where they stand otherwise.
static void show_missing(LithoQcPanel *self)
{
    const char *why = litho_session_figures_missing(self->session);
    gtk_label_set_text(GTK_LABEL(self->missing), why ? why : "");
    gtk_widget_set_visible(self->missing, why != NULL);
}

static void load_numbers(LithoQcPanel *self)
{
    const int rows = add_report(self, add_sizes(self, 0));
    while (gtk_grid_get_child_at(GTK_GRID(self->numbers), 0, rows))
        gtk_grid_remove_row(GTK_GRID(self->numbers), rows);
    gtk_widget_set_visible(self->details, rows > 0);
    show_missing(self);
}

// --- the operator's curves ----------------------------------------------------------------------

// Curves of one group share a plot; a curve without group has its own.
static const char *plot_key(const LithoCurve *c)
{
    return *c->group ? c->group : c->key;
}

// The plots that the curves need, in the order of their first curve.
static GPtrArray *plots_of(GArray *curves)
{
    GPtrArray *keys = g_ptr_array_new_with_free_func(g_free);
    for (guint k = 0; curves && k < curves->len; k++) {
        const char *key = plot_key(&g_array_index(curves, LithoCurve, k));
        if (!g_ptr_array_find_with_equal_func(keys, key, g_str_equal, NULL))
            g_ptr_array_add(keys, g_strdup(key));
    }
    return keys;
}

static gboolean same_keys(const GPtrArray *a, const GPtrArray *b)
{
    gboolean same = a->len == b->len;
    for (guint k = 0; same && k < a->len; k++)
        same = g_str_equal(a->pdata[k], b->pdata[k]);
    return same;
}

static void rebuild_plots(LithoQcPanel *self, GPtrArray *keys)
{
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(self->curves)))
        gtk_box_remove(GTK_BOX(self->curves), child);
    for (guint k = 0; k < keys->len; k++) {
        GtkWidget *title = gtk_label_new(NULL);
        gtk_label_set_xalign(GTK_LABEL(title), 0);
        gtk_label_set_wrap(GTK_LABEL(title), TRUE); // longer in other languages
        gtk_widget_add_css_class(title, "litho-plot-title");
        gtk_box_append(GTK_BOX(self->curves), title);
        gtk_box_append(GTK_BOX(self->curves), litho_plot_new(NULL, 132));
    }
    g_ptr_array_unref(self->plot_keys);
    self->plot_keys = g_ptr_array_ref(keys);
}

// Names of a plot's curves; once where they agree.
static char *plot_title(GArray *curves, const char *key)
{
    GString *title = g_string_new(NULL);
    for (guint k = 0; k < curves->len; k++) {
        const LithoCurve *c = &g_array_index(curves, LithoCurve, k);
        const char *own = *c->label ? litho_text(c->label) : c->key;
        if (g_str_equal(plot_key(c), key) && !strstr(title->str, own))
            g_string_append_printf(title, "%s%s", title->len ? ", " : "", own);
    }
    return g_string_free(title, FALSE);
}

static void fill_plot(LithoPlot *plot, GArray *curves, const char *key)
{
    guint n = 0, n_marks = 0;
    double marks[LITHO_CURVE_MARKS];
    gboolean single = TRUE, one_unit = TRUE;
    const LithoCurve *first = NULL;
    for (guint k = 0; k < curves->len; k++) {
        const LithoCurve *c = &g_array_index(curves, LithoCurve, k);
        if (!g_str_equal(plot_key(c), key))
            continue;
        single = single && !first;
        first = first ? first : c;
        one_unit = one_unit && g_str_equal(c->y_label, first->y_label);
    }
    litho_plot_set_axes(plot, litho_text(first->x_label),
                        one_unit ? litho_text(first->y_label) : NULL);
    litho_plot_set_log(plot, first->log_x, first->log_y);
    for (guint k = 0; k < curves->len; k++) {
        const LithoCurve *c = &g_array_index(curves, LithoCurve, k);
        if (!g_str_equal(plot_key(c), key))
            continue;
        // A curve alone needs no legend and takes the accent colour, the second of the palette.
        const char *name = single      ? NULL
                           : *c->name  ? litho_text(c->name)
                           : *c->label ? litho_text(c->label)
                                       : c->key;
        litho_plot_set_curve(plot, ++n, c->n, c->x, c->y, name,
                             c->bars ? LITHO_PLOT_BARS : LITHO_PLOT_LINE);
        for (guint m = 0; m < c->n_marks && n_marks < LITHO_CURVE_MARKS; m++)
            marks[n_marks++] = c->mark[m];
    }
    litho_plot_truncate(plot, n + 1);
    litho_plot_set_marks(plot, n_marks, marks);
}

static void load_curves(LithoQcPanel *self)
{
    g_autoptr(GArray) curves = litho_session_report_curves(self->session);
    g_autoptr(GPtrArray) keys = plots_of(curves);
    if (!same_keys(keys, self->plot_keys))
        rebuild_plots(self, keys);
    GtkWidget *child = gtk_widget_get_first_child(self->curves);
    for (guint k = 0; k < keys->len; k++) {
        GtkWidget *plot = gtk_widget_get_next_sibling(child);
        g_autofree char *title = plot_title(curves, keys->pdata[k]);
        gtk_label_set_text(GTK_LABEL(child), title);
        gtk_accessible_update_property(GTK_ACCESSIBLE(plot), GTK_ACCESSIBLE_PROPERTY_LABEL, title,
                                       -1);
        fill_plot(LITHO_PLOT(plot), curves, keys->pdata[k]);
        child = gtk_widget_get_next_sibling(plot);
    }
}

// --- refresh ------------------------------------------------------------------------------------

static gboolean refresh_numbers(gpointer data)
{
    LithoQcPanel *self = data;
    self->numbers_timeout = 0;
    load_numbers(self);
    return G_SOURCE_REMOVE;
}

static gboolean refresh_curves(gpointer data)
{
    LithoQcPanel *self = data;
    self->curves_timeout = 0;
    load_curves(self);
    return G_SOURCE_REMOVE;
}

static void refresh_soon(LithoQcPanel *self)
{
    if (self->numbers_timeout == 0)
        self->numbers_timeout = g_timeout_add(NUMBERS_MS, refresh_numbers, self);
    if (self->curves_timeout == 0)
        self->curves_timeout = g_timeout_add(CURVES_MS, refresh_curves, self);
}

// --- the widget ---------------------------------------------------------------------------------

static void litho_qc_panel_init(LithoQcPanel *self)
{
    GtkWidget *box = GTK_WIDGET(self);
    gtk_orientable_set_orientation(GTK_ORIENTABLE(self), GTK_ORIENTATION_VERTICAL);
    gtk_widget_add_css_class(box, "litho-panel");
    gtk_widget_add_css_class(box, "litho-qc");
    self->plot_keys = g_ptr_array_new_with_free_func(g_free);
    self->numbers = gtk_grid_new();
    gtk_grid_set_column_spacing(GTK_GRID(self->numbers), 12);
    gtk_grid_set_row_spacing(GTK_GRID(self->numbers), 2);
    gtk_widget_add_css_class(self->numbers, "litho-numbers");
    self->details = litho_disclosure_new(_("Details"), self->numbers);
    gtk_widget_add_css_class(self->details, "litho-details");
    gtk_box_append(GTK_BOX(box), self->details);
    self->missing = litho_label_new(NULL, "dim-label");
    gtk_label_set_wrap(GTK_LABEL(self->missing), TRUE);
    gtk_widget_add_css_class(self->missing, "litho-numbers");
    gtk_box_append(GTK_BOX(box), self->missing);
    self->curves = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_box_append(GTK_BOX(box), self->curves);
}

static void dispose(GObject *object)
{
    LithoQcPanel *self = LITHO_QC_PANEL(object);
    g_clear_handle_id(&self->numbers_timeout, g_source_remove);
    g_clear_handle_id(&self->curves_timeout, g_source_remove);
    g_clear_pointer(&self->plot_keys, g_ptr_array_unref);
    g_clear_object(&self->session);
    G_OBJECT_CLASS(litho_qc_panel_parent_class)->dispose(object);
}

static void litho_qc_panel_class_init(LithoQcPanelClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = dispose;
}

GtkWidget *litho_qc_panel_new(LithoSession *session, LithoJudgement *judgement)
{
    LithoQcPanel *self = g_object_new(LITHO_TYPE_QC_PANEL, NULL);
    self->session = g_object_ref(session);
    gtk_box_prepend(GTK_BOX(self), litho_data_panel_new(session));
    gtk_box_prepend(GTK_BOX(self), litho_medium_panel_new(session));
    gtk_box_prepend(GTK_BOX(self), litho_area_panel_new(session));
    gtk_box_prepend(GTK_BOX(self), litho_quality_panel_new(session, judgement));
    g_signal_connect_object(session, "result", G_CALLBACK(refresh_soon), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(session, "progress", G_CALLBACK(show_missing), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(session, "report-changed", G_CALLBACK(refresh_soon), self,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(session, "stats-changed", G_CALLBACK(load_numbers), self,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(session, "cube-changed", G_CALLBACK(load_numbers), self,
                            G_CONNECT_SWAPPED);
    load_numbers(self);
    return GTK_WIDGET(self);
}
