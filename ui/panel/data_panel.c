// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/data_panel.h"

#include <math.h>
#include <string.h>

#include "core/text.h"
#include "render/ticks.h"
#include "ui/panel/parts.h"
#include "ui/view/plot.h"

enum { HISTOGRAM_BARS = 101 };

static const int decibels[] = {40, 60, 80, 120};
enum { USUAL_DECIBELS = 1 };

struct _LithoDataPanel {
    GtkBox parent;
    LithoSession *session;
    GtkWidget *spectrum, *histogram, *range;
};

G_DEFINE_TYPE(LithoDataPanel, litho_data_panel, GTK_TYPE_BOX)

void litho_data_numbers(LithoSession *session, const LithoCubeNumbers *both[2])
{
    for (int w = 0; w < 2; w++)
        both[w] = litho_session_numbers(session, w);
    if (both[1] && !litho_session_comparable(session) &&
        litho_session_shown(session) != LITHO_SHOW_INPUT)
        both[0] = NULL;
    else if (!litho_session_comparable(session))
        both[1] = NULL;
}

// --- spectrum -----------------------------------------------------------------------------------

// Samples of the cube whose spectrum is drawn are depths: of the input's, where that is drawn,
// which may be a record beside an image.
static gboolean is_of_depth(LithoDataPanel *self, gboolean input)
{
    LithoCube *in = litho_session_input(self->session);
    const LithoGrid *grid = input && in ? &in->grid : litho_session_grid(self->session);
    return grid && grid->is_depth;
}

static double largest(const LithoSpectrum *s)
{
    double top = 0;
    for (guint k = 0; s && k < s->n; k++)
        top = MAX(top, s->amplitude[k]);
    return top;
}

// The parameter of the selected step with that role, NULL = none; `step` may be NULL.
static const LithoParam *row_with_role(LithoSession *session, LithoParamRole role, LithoStep **step)
{
    int k = litho_session_selected(session);
    if (k < 0)
        return NULL;
    *step = litho_flow_step(litho_session_flow(session), k);
    const LithoParamTable *table = &(*step)->op->params;
    for (guint r = 0; r < table->n; r++)
        if (table->rows[r].role == role &&
            litho_param_applies(table, &table->rows[r], (*step)->params))
            return &table->rows[r];
    return NULL;
}

// End of the band: the parameter, or the operator's own choice where it is left to it.
static double band_edge(LithoDataPanel *self, const LithoStep *step, const LithoParam *row,
                        double nyquist)
{
    if (!litho_param_special(row, step->params))
        return litho_param_get(row, step->params);
    g_autoptr(GArray) numbers = litho_session_report_numbers(self->session);
    for (guint k = 0; numbers && k < numbers->len; k++)
        if (litho_number_is_used(&g_array_index(numbers, LithoNumber, k), step->op->key, row->key))
            return g_array_index(numbers, LithoNumber, k).value;
    return row->role == LITHO_ROLE_BAND_LOW ? 0 : nyquist;
}

static void load_band(LithoDataPanel *self, double nyquist)
{
    LithoStep *step = NULL;
    const LithoParam *low = row_with_role(self->session, LITHO_ROLE_BAND_LOW, &step);
    const LithoParam *high = row_with_role(self->session, LITHO_ROLE_BAND_HIGH, &step);
    if (!low || !high || !(nyquist > 0)) {
        litho_plot_set_handles(LITHO_PLOT(self->spectrum), 0, NULL, FALSE);
        return;
    }
    LithoPlotHandle handles[] = {{litho_text(low->label), band_edge(self, step, low, nyquist)},
                                 {litho_text(high->label), band_edge(self, step, high, nyquist)}};
    litho_plot_set_handles(LITHO_PLOT(self->spectrum), 2, handles, TRUE);
}

// A frequency that a hand has chosen: three digits.
static void on_band(LithoPlot *plot, guint k, double x, LithoDataPanel *self)
{
    (void)plot;
    LithoStep *step = NULL;
    const LithoParam *row =
        row_with_role(self->session, k == 0 ? LITHO_ROLE_BAND_LOW : LITHO_ROLE_BAND_HIGH, &step);
    if (!row)
        return;
    double unit = pow(10, floor(log10(MAX(fabs(x), 1e-6))) - 2);
    x = CLAMP(rint(x / unit) * unit, row->min, row->max);
    // The refusal of a value stands in the row, where the person may type another.
    litho_session_set_param(self->session, litho_session_selected(self->session), row, x, NULL,
                            NULL);
}

// All three below the largest amplitude of the input, or of the result where that stands alone.
static void load_spectrum(LithoDataPanel *self)
{
    const char *const labels[] = {_("in"), _("out"), _("removed")};
    const LithoCubeNumbers *both[2];
    litho_data_numbers(self->session, both);
    const LithoSpectrum *spectra[3] = {both[0] ? &both[0]->spectrum : NULL,
                                       both[1] ? &both[1]->spectrum : NULL,
                                       both[0] && both[1] ? &both[1]->removed : NULL};
    const gboolean is_depth = is_of_depth(self, both[0] != NULL);
    const double factor = is_depth ? 1000 : 1; // Hz, and 1/km where samples are depths
    double top = largest(spectra[0] ? spectra[0] : spectra[1]);
    double nyquist = 0, floor = -litho_session_display(self->session)->decibels;
    for (int w = 0; w < 3; w++) {
        const LithoSpectrum *s = spectra[w];
        guint n = s && top > 0 ? s->n : 0;
        g_autofree double *x = g_new(double, n + 1), *y = g_new(double, n + 1);
        for (guint k = 0; k < n; k++) {
            x[k] = k * s->df * factor;
            y[k] = 20 * log10(MAX(s->amplitude[k] / top, 1e-9));
        }
        nyquist = n > 0 ? MAX(nyquist, x[n - 1]) : nyquist;
        litho_plot_set_curve(LITHO_PLOT(self->spectrum), w, n, x, y, labels[w],
                             w == 0 ? LITHO_PLOT_FILLED : LITHO_PLOT_LINE);
    }
    litho_plot_set_y_range(LITHO_PLOT(self->spectrum), floor, 3);
    litho_plot_set_x_range(LITHO_PLOT(self->spectrum), 0, nyquist);
    litho_plot_set_axes(LITHO_PLOT(self->spectrum), is_depth ? "1/km" : "Hz",
                        both[0] ? _("dB below the input") : _("dB below its top"));
    // The band is one of the input's: in Hz it has no place among the wavenumbers of an image.
    load_band(self, is_depth == is_of_depth(self, TRUE) ? nyquist : 0);
}

// --- histogram ----------------------------------------------------------------------------------

// Ends of the histogram's axis: the clip at two thirds of the half width, as far as the data go.
// The axis stays while a hand moves an end, or the line would run away from it.
// `ends`: those of the colours are on it.
static void histogram_span(LithoDataPanel *self, const LithoCubeNumbers *both[2], gboolean ends,
                           double *lo, double *hi)
{
    const LithoLook *look = &litho_session_display(self->session)->look;
    const LithoCubeNumbers *numbers = both[0] ? both[0] : both[1];
    LithoRange range = numbers ? numbers->range : (LithoRange){.lo = look->lo, .hi = look->hi};
    const double beyond = (range.hi - range.lo) / 2, margin = 0.1 * (look->hi - look->lo);
    *lo = MIN(range.lo - beyond, ends ? look->lo - margin : range.lo);
    *hi = MAX(range.hi + beyond, ends ? look->hi + margin : range.hi);
}

static void load_histogram(LithoDataPanel *self)
{
    const char *const labels[] = {_("in"), _("out")};
    const LithoCubeNumbers *both[2];
    const LithoLook *look = &litho_session_display(self->session)->look;
    double lo, hi;
    litho_data_numbers(self->session, both);
    // The ends of a result's own colours have no place among the input's amplitudes, which stand
    // alone after a run that failed.
    const gboolean own = litho_session_shows_own_range(self->session);
    const gboolean has_ends = both[1] || (both[0] && !own);
    histogram_span(self, both, has_ends, &lo, &hi);
    for (int w = 0; w < 2; w++) {
        const LithoCubeNumbers *numbers = both[w];
        double x[HISTOGRAM_BARS], y[HISTOGRAM_BARS];
        guint n = 0;
        for (; numbers && numbers->counted > 0 && n < HISTOGRAM_BARS; n++) {
            const double bar = (hi - lo) / HISTOGRAM_BARS, from = lo + n * bar;
            x[n] = from + bar / 2;
            y[n] = 100 * litho_cube_numbers_share(numbers, from, from + bar);
        }
        litho_plot_set_curve(LITHO_PLOT(self->histogram), w, n, x, y, labels[w],
                             w == 0 ? LITHO_PLOT_FILLED : LITHO_PLOT_LINE);
    }
    const char *unit = litho_session_unit(self->session);
    const LithoPlotHandle ends[] = {{_("Lower end of the colours"), look->lo},
                                    {_("Upper end of the colours"), look->hi}};
    litho_plot_set_x_range(LITHO_PLOT(self->histogram), lo, hi);
    litho_plot_set_axes(LITHO_PLOT(self->histogram), unit ? unit : _("amplitude"), "%");
    litho_plot_set_handles(LITHO_PLOT(self->histogram), has_ends ? 2 : 0, ends, TRUE);
}

// Signed data keep their zero in the middle of the colours: both ends move.
static void on_end(LithoPlot *plot, guint k, double x, LithoDataPanel *self)
{
    (void)plot;
    const LithoLook *look = &litho_session_display(self->session)->look;
    double least = 1e-3 * (look->hi - look->lo);
    if (!litho_session_is_unsigned(self->session))
        litho_session_set_clip(self->session, MAX(fabs(x), least));
    else if (k == 0)
        litho_session_set_range(self->session, MIN(x, look->hi - least), look->hi);
    else
        litho_session_set_range(self->session, look->lo, MAX(x, look->lo + least));
}

// --- the widget ---------------------------------------------------------------------------------

static void load_all(LithoDataPanel *self)
{
    load_spectrum(self);
    load_histogram(self);
}

// Spectra and f-k pictures of an area, too.
static void on_range(LithoDataPanel *self)
{
    const guint k = gtk_drop_down_get_selected(GTK_DROP_DOWN(self->range));
    litho_session_set_decibels(self->session, decibels[k]);
}

static GtkWidget *make_range(LithoDataPanel *self)
{
    GtkStringList *names = gtk_string_list_new(NULL);
    for (guint k = 0; k < G_N_ELEMENTS(decibels); k++) {
        g_autofree char *name = g_strdup_printf("%d dB", decibels[k]);
        gtk_string_list_append(names, name);
    }
    self->range = gtk_drop_down_new(G_LIST_MODEL(names), NULL);
    gtk_drop_down_set_selected(GTK_DROP_DOWN(self->range), USUAL_DECIBELS);
    gtk_widget_add_css_class(self->range, "litho-small-choice");
    gtk_widget_set_valign(self->range, GTK_ALIGN_CENTER);
    litho_name_choice(self->range, _("Range of the spectrum"),
                      _("How far below the input's largest amplitude curves and f-k pictures are "
                        "shown"));
    g_signal_connect_swapped(self->range, "notify::selected", G_CALLBACK(on_range), self);
    return self->range;
}

static void litho_data_panel_init(LithoDataPanel *self)
{
    gtk_orientable_set_orientation(GTK_ORIENTABLE(self), GTK_ORIENTATION_VERTICAL);
    GtkWidget *box = GTK_WIDGET(self), *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *title = litho_label_new(_("Spectrum"), "heading");
    gtk_widget_set_hexpand(title, TRUE);
    gtk_widget_add_css_class(head, "litho-head");
    gtk_box_append(GTK_BOX(head), title);
    self->spectrum = litho_plot_new(_("Spectrum of input, output and removed"), 148);
    gtk_box_append(GTK_BOX(head), make_range(self));
    gtk_box_append(GTK_BOX(box), head);
    gtk_box_append(GTK_BOX(box), self->spectrum);
    gtk_box_append(GTK_BOX(box), litho_label_new(_("Amplitudes"), "heading"));
    self->histogram = litho_plot_new(_("Histogram of input and output, with the clip"), 120);
    gtk_box_append(GTK_BOX(box), self->histogram);
    g_signal_connect(self->spectrum, "handle-moved", G_CALLBACK(on_band), self);
    g_signal_connect(self->histogram, "handle-moved", G_CALLBACK(on_end), self);
}

static void dispose(GObject *object)
{
    g_clear_object(&LITHO_DATA_PANEL(object)->session);
    G_OBJECT_CLASS(litho_data_panel_parent_class)->dispose(object);
}

static void litho_data_panel_class_init(LithoDataPanelClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = dispose;
}

GtkWidget *litho_data_panel_histogram(LithoDataPanel *self)
{
    return self->histogram;
}

GtkWidget *litho_data_panel_new(LithoSession *session)
{
    LithoDataPanel *self = g_object_new(LITHO_TYPE_DATA_PANEL, NULL);
    self->session = g_object_ref(session);
    static const char *const of_all[] = {"stats-changed", "cube-changed"};
    static const char *const of_band[] = {"params-changed", "flow-changed", "report-changed"};
    for (guint k = 0; k < G_N_ELEMENTS(of_all); k++)
        g_signal_connect_object(session, of_all[k], G_CALLBACK(load_all), self, G_CONNECT_SWAPPED);
    for (guint k = 0; k < G_N_ELEMENTS(of_band); k++)
        g_signal_connect_object(session, of_band[k], G_CALLBACK(load_spectrum), self,
                                G_CONNECT_SWAPPED);
    g_signal_connect_object(session, "display-changed", G_CALLBACK(load_all), self,
                            G_CONNECT_SWAPPED);
    load_all(self);
    return GTK_WIDGET(self);
}
