// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/area_panel.h"

#include <math.h>

#include "core/axis_names.h"
#include "core/text.h"
#include "render/ticks.h"
#include "ui/panel/area_pictures.h"
#include "ui/panel/parts.h"
#include "ui/view/plot.h"

struct _LithoAreaPanel {
    GtkBox parent;
    LithoSession *session;
    GtkWidget *place, *ruler, *spectrum, *pictures;
    double slope[2]; // of the last diagonal on inlines and on crosslines, s or m a trace; NAN = none
    LithoGrid grid;  // that these slopes are of
};

G_DEFINE_TYPE(LithoAreaPanel, litho_area_panel, GTK_TYPE_BOX)

static const char *const names[] = {N_("in"), N_("out"), N_("removed")};

static void refresh(LithoAreaPanel *self);

// --- contents -----------------------------------------------------------------------------------

// Line numbers are names of any length; times and depths are told as they are.
static void format_place(char *out, gsize size, const LithoAxisText *how, const LithoAxis *axis,
                         double index)
{
    const double value = litho_axis_shown(how, axis, index);
    if (how->whole)
        litho_text_put(out, size, "%.0f", value);
    else
        litho_format_number(out, size, value, litho_axis_place(how, axis));
}

char *litho_area_place(const LithoGrid *grid, const LithoArea *area, gint64 index, LithoUnits units)
{
    g_autofree char *slice = litho_slice_label(grid, area->axis, index, units);
    GString *text = g_string_new(slice);
    for (int a = 0; a < 3; a++) {
        if (a == area->axis)
            continue;
        char lo[48], hi[48];
        const LithoAxisText how = litho_axis_text(grid, a, units);
        g_autofree char *name = litho_text_inside(how.label);
        format_place(lo, sizeof lo, &how, &grid->axis[a], area->box.lo[a]);
        format_place(hi, sizeof hi, &how, &grid->axis[a], area->box.hi[a] - 1);
        g_string_append_printf(text, _(", %s %s to %s%s%s"), name, lo, hi, *how.unit ? " " : "",
                               how.unit);
    }
    text->str[0] = g_ascii_toupper(text->str[0]);
    return g_string_free(text, FALSE);
}

static void show_place(LithoAreaPanel *self)
{
    const LithoArea *area = litho_session_area(self->session);
    const LithoDisplay *d = litho_session_display(self->session);
    g_autofree char *place = litho_area_place(litho_session_grid(self->session), area,
                                              d->slice[area->axis], d->units);
    litho_label_set_unbroken(self->place, place);
}

// Measure of the diagonal: "down to the right: 7.5 ms a trace, 3 333 m/s", in depth the dip, and
// the frequency of which the height is a period.
char *litho_area_measure(const LithoGrid *grid, const LithoArea *area)
{
    const int across = area->axis == LITHO_INLINE ? LITHO_XLINE : LITHO_INLINE;
    const double traces = litho_box_size(area->box, across) - 1;
    const double high =
        (litho_box_size(area->box, LITHO_SAMPLE) - 1) * fabs(grid->axis[LITHO_SAMPLE].step);
    if (area->diagonal == 0 || traces < 1 || !(high > 0))
        return NULL;
    const gboolean metric = grid->has_xy && grid->xy_source != LITHO_FROM_ASSUMED;
    const double wide = traces * litho_grid_spacing(grid, across);
    g_autofree char *dip = litho_format_amplitude(high / traces * (grid->is_depth ? 1 : 1000));
    g_autofree char *speed = litho_format_amplitude(wide / high);
    g_autofree char *width = litho_format_amplitude(metric ? wide : traces + 1);
    g_autofree char *height = litho_format_amplitude(high * (grid->is_depth ? 1 : 1000));
    GString *text = g_string_new(NULL);
    g_string_append_printf(text,
                           area->diagonal > 0 ? _("Diagonal down to the right: %s %s a trace")
                                              : _("Diagonal up to the right: %s %s a trace"),
                           dip, grid->is_depth ? "m" : "ms");
    if (metric && grid->is_depth)
        litho_text_add(text, ", %.1f°", atan2(high, wide) * 180 / G_PI);
    else if (metric)
        g_string_append_printf(text, ", %s m/s", speed);
    g_string_append_printf(text, _(". Width %s %s, height %s %s"), width, metric ? "m" : _("traces"),
                           height, grid->is_depth ? "m" : "ms");
    if (!grid->is_depth)
        litho_text_add(text, _(", one period at %.3g Hz"), 1 / high);
    return g_string_free(text, FALSE);
}

double litho_area_slope(const LithoGrid *grid, const LithoArea *area)
{
    const int across = area->axis == LITHO_INLINE ? LITHO_XLINE : LITHO_INLINE;
    const double traces = litho_box_size(area->box, across) - 1;
    const double high =
        (litho_box_size(area->box, LITHO_SAMPLE) - 1) * fabs(grid->axis[LITHO_SAMPLE].step);
    return area->diagonal != 0 && traces >= 1 && high > 0 ? area->diagonal * high / traces : NAN;
}

char *litho_area_dips(const LithoGrid *grid, const double slope[2])
{
    if (!isfinite(slope[0]) || !isfinite(slope[1]))
        return NULL;
    const gboolean metric = grid->has_xy && grid->xy_source != LITHO_FROM_ASSUMED;
    const double unit = grid->is_depth ? 1 : 1000;
    // A diagonal on an inline crosses crosslines, one on a crossline inlines.
    const double along = slope[0] / litho_grid_spacing(grid, LITHO_XLINE);
    const double beside = slope[1] / litho_grid_spacing(grid, LITHO_INLINE),
                 both = hypot(along, beside);
    g_autofree char *first = litho_format_amplitude(slope[0] * unit);
    g_autofree char *second = litho_format_amplitude(slope[1] * unit);
    const char *what = grid->is_depth ? "m" : "ms";
    GString *text = g_string_new(NULL);
    g_autofree char *trace = litho_axis_word(grid, LITHO_XLINE);
    g_autofree char *line = litho_axis_word(grid, LITHO_INLINE);
    g_string_append_printf(text, _("Two dips: %s %s per %s, %s %s per %s"), first, what, trace,
                           second, what, line);
    if (metric && grid->is_depth)
        litho_text_add(text, _("; together %.1f°"), atan(both) * 180 / G_PI);
    else if (metric && both > 0) {
        g_autofree char *speed = litho_format_amplitude(1 / both);
        g_string_append_printf(text, _("; together %s m/s"), speed);
    }
    return g_string_free(text, FALSE);
}

// The diagonal that stands, and with it the last one on the other sections.
static void show_ruler(LithoAreaPanel *self)
{
    const LithoGrid *grid = litho_session_grid(self->session);
    const LithoArea *area = litho_session_area(self->session);
    g_autofree char *text = litho_area_measure(grid, area);
    const double slope = litho_area_slope(grid, area);
    // Milliseconds of a record and metres of its image are no two dips of one plane.
    if (!litho_grid_equal(grid, &self->grid))
        self->slope[0] = self->slope[1] = NAN;
    self->grid = *grid;
    if (isfinite(slope))
        self->slope[area->axis] = slope;
    g_autofree char *dips = litho_area_dips(grid, self->slope);
    g_autofree char *all = g_strdup_printf("%s%s%s", text ? text : "", text && dips ? "\n" : "",
                                           text && dips ? dips : "");
    litho_label_set_unbroken(self->ruler, all);
    gtk_widget_set_visible(self->ruler, text != NULL);
}

static void on_cube(LithoAreaPanel *self)
{
    self->slope[0] = self->slope[1] = NAN;
    refresh(self);
}

static void show_spectrum(LithoAreaPanel *self, const LithoAreaNumbers *numbers)
{
    const LithoGrid *grid = litho_session_grid(self->session);
    const double nyquist = 0.5 / fabs(grid->axis[LITHO_SAMPLE].step) * (grid->is_depth ? 1000 : 1);
    const LithoFk *first = numbers ? &numbers->fk[numbers->fk[0].n_f > 0 ? 0 : 1] : NULL;
    double top = 0; // of the input, or of the result where that stands alone
    for (guint f = 0; first && f < first->n_f; f++)
        top = MAX(top, first->spectrum[f]);
    for (int w = 0; w < 3; w++) {
        const LithoFk *fk = numbers ? &numbers->fk[w] : NULL;
        guint n = fk && top > 0 ? fk->n_f : 0;
        g_autofree double *x = g_new(double, n + 1), *y = g_new(double, n + 1);
        for (guint f = 0; f < n; f++) {
            x[f] = nyquist * f / (n - 1);
            y[f] = 20 * log10(MAX(fk->spectrum[f] / top, 1e-9));
        }
        litho_plot_set_curve(LITHO_PLOT(self->spectrum), w, n, x, y, litho_text(names[w]),
                             w == 0 ? LITHO_PLOT_FILLED : LITHO_PLOT_LINE);
    }
    litho_plot_set_y_range(LITHO_PLOT(self->spectrum),
                           -litho_session_display(self->session)->decibels, 3);
    litho_plot_set_axes(LITHO_PLOT(self->spectrum), grid->is_depth ? "1/km" : "Hz",
                        first && first == &numbers->fk[1] ? _("dB below its top")
                                                          : _("dB below the input"));
}

static void refresh(LithoAreaPanel *self)
{
    const LithoArea *area = litho_session_area(self->session);
    gboolean on = area->on && litho_session_grid(self->session);
    gtk_widget_set_visible(GTK_WIDGET(self), on);
    if (!on)
        return;
    const LithoAreaNumbers *numbers = litho_session_area_numbers(self->session);
    show_place(self);
    show_ruler(self);
    show_spectrum(self, numbers);
}

static void on_kind(GtkDropDown *kind, GParamSpec *spec, LithoAreaPanel *self)
{
    (void)spec;
    litho_area_pictures_show(LITHO_AREA_PICTURES(self->pictures),
                             gtk_drop_down_get_selected(kind) == 1);
}

static void on_larger(GtkWidget *button, LithoAreaPanel *self)
{
    litho_area_window_open(GTK_WINDOW(gtk_widget_get_root(button)), self->session);
}

// --- the widget ---------------------------------------------------------------------------------

static void litho_area_panel_init(LithoAreaPanel *self)
{
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *title = litho_label_new(_("Area"), "heading");
    GtkWidget *close = litho_icon_button_new("window-close-symbolic", _("Close the area"),
                                             _("Close the area (F)"));
    gtk_orientable_set_orientation(GTK_ORIENTABLE(self), GTK_ORIENTATION_VERTICAL);
    gtk_widget_set_hexpand(title, TRUE);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(close), "win.area");
    gtk_box_append(GTK_BOX(line), title);
    gtk_box_append(GTK_BOX(line), close);
    self->place = litho_label_new(NULL, "dim-label");
    gtk_label_set_wrap(GTK_LABEL(self->place), TRUE);
    gtk_label_set_width_chars(GTK_LABEL(self->place), 12);
    gtk_box_append(GTK_BOX(self), line);
    gtk_box_append(GTK_BOX(self), self->place);
    self->ruler = litho_label_new(NULL, "numeric");
    gtk_label_set_wrap(GTK_LABEL(self->ruler), TRUE);
    gtk_label_set_width_chars(GTK_LABEL(self->ruler), 12);
    gtk_box_append(GTK_BOX(self), self->ruler);
    self->spectrum = litho_plot_new(_("Spectrum of the area"), 132);
    gtk_box_append(GTK_BOX(self), self->spectrum);
}

// The choice between the pictures, and the button of a window of their own.
static GtkWidget *make_choice(LithoAreaPanel *self)
{
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *kind = gtk_drop_down_new_from_strings((const char *const[]){"f-k", "f-x", NULL});
    GtkWidget *larger = gtk_button_new_with_label(_("Larger…"));
    gtk_widget_add_css_class(kind, "litho-small-choice");
    gtk_widget_add_css_class(line, "litho-tools");
    litho_name_choice(kind, _("Pictures of the area"), _("Against wavenumber, or trace by trace"));
    gtk_widget_set_tooltip_text(larger, _("f-k and f-x in a window of their own"));
    g_signal_connect(kind, "notify::selected", G_CALLBACK(on_kind), self);
    g_signal_connect(larger, "clicked", G_CALLBACK(on_larger), self);
    gtk_box_append(GTK_BOX(line), kind);
    gtk_box_append(GTK_BOX(line), larger);
    return line;
}

static void dispose(GObject *object)
{
    g_clear_object(&LITHO_AREA_PANEL(object)->session);
    G_OBJECT_CLASS(litho_area_panel_parent_class)->dispose(object);
}

static void litho_area_panel_class_init(LithoAreaPanelClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = dispose;
}

GtkWidget *litho_area_panel_new(LithoSession *session)
{
    LithoAreaPanel *self = g_object_new(LITHO_TYPE_AREA_PANEL, NULL);
    self->session = g_object_ref(session);
    self->pictures = litho_area_pictures_new(session, GTK_ORIENTATION_VERTICAL, FALSE);
    gtk_box_append(GTK_BOX(self), make_choice(self));
    gtk_box_append(GTK_BOX(self), self->pictures);
    g_signal_connect_object(session, "area-changed", G_CALLBACK(refresh), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(session, "display-changed", G_CALLBACK(refresh), self,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(session, "cube-changed", G_CALLBACK(on_cube), self, G_CONNECT_SWAPPED);
    on_cube(self);
    return GTK_WIDGET(self);
}
