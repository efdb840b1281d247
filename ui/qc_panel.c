// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/qc_panel.h"

#include <math.h>
#include <string.h>

#include "render/ticks.h"
#include "ui/plot.h"

enum { HISTOGRAM_BARS = 101, REFRESH_MS = 200 };

struct _LithoQcPanel {
    GtkBox parent;
    LithoSession *session;
    GtkWidget *spectrum, *histogram, *numbers, *curves;
    GPtrArray *curve_keys; // of the plots in `curves`
    guint timeout;
};

G_DEFINE_TYPE(LithoQcPanel, litho_qc_panel, GTK_TYPE_BOX)

// --- spectrum -----------------------------------------------------------------------------------

// Numbers of input and result; of the result alone when the two are not of one kind (other axes,
// other amplitudes) and it is what is shown.
static void both_numbers(LithoQcPanel *self, const LithoCubeNumbers *both[2])
{
    for (int w = 0; w < 2; w++)
        both[w] = litho_session_numbers(self->session, w);
    if (both[1] && !litho_session_comparable(self->session) &&
        litho_session_shown(self->session) != LITHO_SHOW_INPUT)
        both[0] = NULL;
    else if (!litho_session_comparable(self->session))
        both[1] = NULL;
}

static void load_spectrum(LithoQcPanel *self)
{
    const LithoCubeNumbers *both[2];
    static const char *const labels[] = {"in", "out"};
    const LithoGrid *grid = litho_session_grid(self->session);
    both_numbers(self, both);
    double top = 0;
    for (int w = 0; w < 2; w++)
        for (guint k = 0; both[w] && k < both[w]->spectrum.n; k++)
            top = MAX(top, both[w]->spectrum.amplitude[k]);
    for (int w = 0; w < 2; w++) {
        guint n = both[w] && top > 0 ? both[w]->spectrum.n : 0;
        g_autofree double *x = g_new(double, n + 1), *y = g_new(double, n + 1);
        for (guint k = 0; k < n; k++) {
            x[k] = k * both[w]->spectrum.df;
            y[k] = 20 * log10(MAX(both[w]->spectrum.amplitude[k] / top, 1e-9));
        }
        litho_plot_set_curve(LITHO_PLOT(self->spectrum), w, n, x, y, labels[w], w == 0);
    }
    litho_plot_set_axes(LITHO_PLOT(self->spectrum), grid && grid->is_depth ? "1/m" : "Hz", "dB");
}

// --- histogram ----------------------------------------------------------------------------------

// The fine histogram, spanning -max..max, in bars between -limit and limit; returns the largest
// bar.
static double rebin(const LithoCubeNumbers *numbers, double limit, double bars[HISTOGRAM_BARS])
{
    double top = 0;
    memset(bars, 0, HISTOGRAM_BARS * sizeof *bars);
    for (guint k = 0; k < numbers->bins; k++) {
        double x = ((k + 0.5) / numbers->bins * 2 - 1) * numbers->histogram_max;
        int bar = (int)floor((x / limit + 1) / 2 * HISTOGRAM_BARS);
        if (bar >= 0 && bar < HISTOGRAM_BARS)
            bars[bar] += numbers->histogram[k];
    }
    for (int k = 0; k < HISTOGRAM_BARS; k++)
        top = MAX(top, bars[k]);
    return top;
}

static void load_histogram(LithoQcPanel *self)
{
    static const char *const labels[] = {"in", "out"};
    const LithoCubeNumbers *both[2];
    double clip = litho_session_clip(self->session), limit = 1.5 * clip;
    both_numbers(self, both);
    for (int w = 0; w < 2; w++) {
        const LithoCubeNumbers *numbers = both[w];
        double x[HISTOGRAM_BARS], y[HISTOGRAM_BARS];
        guint n = 0;
        if (numbers && numbers->histogram_max > 0) {
            double total = MAX((double)numbers->stats.count, 1);
            rebin(numbers, limit, y);
            for (n = 0; n < HISTOGRAM_BARS; n++) {
                x[n] = ((n + 0.5) / HISTOGRAM_BARS * 2 - 1) * limit;
                y[n] *= 100 / total;
            }
        }
        litho_plot_set_curve(LITHO_PLOT(self->histogram), w, n, x, y, labels[w], w == 0);
    }
    litho_plot_set_axes(LITHO_PLOT(self->histogram), "amplitude", "%");
    litho_plot_set_marks(LITHO_PLOT(self->histogram), 2, (double[2]){-clip, clip});
}

// --- numbers ------------------------------------------------------------------------------------

static void add_number(LithoQcPanel *self, int row, const char *label, const char *value)
{
    GtkWidget *name = gtk_label_new(label), *number = gtk_label_new(value);
    gtk_label_set_xalign(GTK_LABEL(name), 0);
    gtk_label_set_wrap(GTK_LABEL(name), TRUE);
    gtk_label_set_width_chars(GTK_LABEL(name), 12);
    gtk_widget_set_hexpand(name, TRUE);
    gtk_label_set_xalign(GTK_LABEL(number), 1);
    gtk_widget_set_valign(number, GTK_ALIGN_START);
    gtk_widget_add_css_class(name, "dim-label");
    gtk_widget_add_css_class(number, "numeric");
    gtk_grid_attach(GTK_GRID(self->numbers), name, 0, row, 1, 1);
    gtk_grid_attach(GTK_GRID(self->numbers), number, 1, row, 1, 1);
}

static int add_rms(LithoQcPanel *self, int row)
{
    static const char *const labels[] = {"RMS in", "RMS out"};
    const LithoCubeNumbers *both[2];
    both_numbers(self, both);
    for (int w = 0; w < 2; w++) {
        const LithoCubeNumbers *numbers = both[w];
        if (!numbers)
            continue;
        g_autofree char *value = litho_format_amplitude(numbers->stats.rms);
        add_number(self, row++, labels[w], value);
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

static int add_report(LithoQcPanel *self, int row)
{
    const LithoResult *result = litho_session_result(self->session);
    if (!result || !result->report)
        return row;
    GArray *numbers = litho_report_numbers(result->report);
    for (guint k = 0; k < numbers->len; k++) {
        const LithoNumber *n = &g_array_index(numbers, LithoNumber, k);
        char number[48];
        format_value(n->value, number, sizeof number);
        g_autofree char *text = g_strdup_printf("%s%s%s", number, *n->unit ? " " : "", n->unit);
        add_number(self, row++, *n->label ? n->label : n->key, text);
    }
    g_array_unref(numbers);
    return row;
}

static void load_numbers(LithoQcPanel *self)
{
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(self->numbers)))
        gtk_grid_remove(GTK_GRID(self->numbers), child);
    int rows = add_report(self, add_rms(self, 0));
    gtk_widget_set_visible(self->numbers, rows > 0);
}

// --- the operator's curves ----------------------------------------------------------------------

static gboolean same_curves(LithoQcPanel *self, GArray *curves)
{
    guint n = curves ? curves->len : 0;
    if (n != self->curve_keys->len)
        return FALSE;
    for (guint k = 0; k < n; k++)
        if (strcmp(g_array_index(curves, LithoCurve, k).key,
                   g_ptr_array_index(self->curve_keys, k)) != 0)
            return FALSE;
    return TRUE;
}

static void rebuild_curves(LithoQcPanel *self, GArray *curves)
{
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(self->curves)))
        gtk_box_remove(GTK_BOX(self->curves), child);
    g_ptr_array_set_size(self->curve_keys, 0);
    for (guint k = 0; curves && k < curves->len; k++) {
        const LithoCurve *c = &g_array_index(curves, LithoCurve, k);
        GtkWidget *title = gtk_label_new(*c->label ? c->label : c->key);
        gtk_label_set_xalign(GTK_LABEL(title), 0);
        gtk_label_set_ellipsize(GTK_LABEL(title), PANGO_ELLIPSIZE_END);
        gtk_widget_add_css_class(title, "litho-plot-title");
        gtk_box_append(GTK_BOX(self->curves), title);
        gtk_box_append(GTK_BOX(self->curves), litho_plot_new(c->label, 120));
        g_ptr_array_add(self->curve_keys, g_strdup(c->key));
    }
}

static void load_curves(LithoQcPanel *self)
{
    const LithoResult *result = litho_session_result(self->session);
    GArray *curves = result && result->report ? litho_report_curves(result->report) : NULL;
    if (!same_curves(self, curves))
        rebuild_curves(self, curves);
    GtkWidget *child = gtk_widget_get_first_child(self->curves);
    for (guint k = 0; curves && k < curves->len; k++) {
        const LithoCurve *c = &g_array_index(curves, LithoCurve, k);
        GtkWidget *plot = gtk_widget_get_next_sibling(child);
        litho_plot_set_axes(LITHO_PLOT(plot), c->x_label, c->y_label);
        litho_plot_set_curve(LITHO_PLOT(plot), 1, c->n, c->x, c->y, NULL, FALSE);
        child = gtk_widget_get_next_sibling(plot);
    }
    if (curves)
        g_array_unref(curves);
}

// --- refresh ------------------------------------------------------------------------------------

static void load_curves_of_data(LithoQcPanel *self)
{
    load_spectrum(self);
    load_histogram(self);
}

static void load_plots(LithoQcPanel *self)
{
    load_spectrum(self);
    load_histogram(self);
    load_numbers(self);
}

static gboolean refresh(gpointer data)
{
    LithoQcPanel *self = data;
    self->timeout = 0;
    load_numbers(self);
    load_curves(self);
    return G_SOURCE_REMOVE;
}

// Numbers that change sixty times a second cannot be read: five times are enough.
static void refresh_soon(LithoQcPanel *self)
{
    if (self->timeout == 0)
        self->timeout = g_timeout_add(REFRESH_MS, refresh, self);
}

// --- the widget ---------------------------------------------------------------------------------

static GtkWidget *add_title(GtkWidget *box, const char *text, const char *css)
{
    GtkWidget *label = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_widget_add_css_class(label, css);
    gtk_box_append(GTK_BOX(box), label);
    return label;
}

static void litho_qc_panel_init(LithoQcPanel *self)
{
    GtkWidget *box = GTK_WIDGET(self);
    gtk_orientable_set_orientation(GTK_ORIENTABLE(self), GTK_ORIENTATION_VERTICAL);
    gtk_widget_add_css_class(box, "litho-panel");
    gtk_widget_add_css_class(box, "litho-qc");
    self->curve_keys = g_ptr_array_new_with_free_func(g_free);
    add_title(box, "Spectrum", "heading");
    self->spectrum = litho_plot_new("Spectrum of input and output", 136);
    gtk_box_append(GTK_BOX(box), self->spectrum);
    add_title(box, "Amplitudes", "heading");
    self->histogram = litho_plot_new("Histogram of input and output, with the clip", 120);
    gtk_box_append(GTK_BOX(box), self->histogram);
    self->numbers = gtk_grid_new();
    gtk_grid_set_column_spacing(GTK_GRID(self->numbers), 12);
    gtk_grid_set_row_spacing(GTK_GRID(self->numbers), 2);
    gtk_widget_add_css_class(self->numbers, "litho-numbers");
    gtk_box_append(GTK_BOX(box), self->numbers);
    self->curves = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_box_append(GTK_BOX(box), self->curves);
}

static void dispose(GObject *object)
{
    LithoQcPanel *self = LITHO_QC_PANEL(object);
    g_clear_handle_id(&self->timeout, g_source_remove);
    g_clear_pointer(&self->curve_keys, g_ptr_array_unref);
    g_clear_object(&self->session);
    G_OBJECT_CLASS(litho_qc_panel_parent_class)->dispose(object);
}

static void litho_qc_panel_class_init(LithoQcPanelClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = dispose;
}

GtkWidget *litho_qc_panel_new(LithoSession *session)
{
    LithoQcPanel *self = g_object_new(LITHO_TYPE_QC_PANEL, NULL);
    self->session = g_object_ref(session);
    g_signal_connect_object(session, "result", G_CALLBACK(refresh_soon), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(session, "stats-changed", G_CALLBACK(load_plots), self,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(session, "cube-changed", G_CALLBACK(load_plots), self,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(session, "display-changed", G_CALLBACK(load_curves_of_data), self,
                            G_CONNECT_SWAPPED);
    load_plots(self);
    return GTK_WIDGET(self);
}
