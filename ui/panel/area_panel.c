// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/area_panel.h"

#include <math.h>

#include "render/ticks.h"
#include "ui/view/fk_view.h"
#include "ui/panel/parts.h"
#include "ui/view/plot.h"

struct _LithoAreaPanel {
    GtkBox parent;
    LithoSession *session;
    GtkWidget *place, *ruler, *spectrum, *fk[3];
};

G_DEFINE_TYPE(LithoAreaPanel, litho_area_panel, GTK_TYPE_BOX)

static const char *const names[] = {"input", "output", "removed"};

// --- contents -----------------------------------------------------------------------------------

// "Inline 1051, crossline 2010 to 2040, time 200 to 600 ms".
static void show_place(LithoAreaPanel *self)
{
    const LithoGrid *grid = litho_session_grid(self->session);
    const LithoArea *area = litho_session_area(self->session);
    const LithoDisplay *d = litho_session_display(self->session);
    g_autofree char *slice = litho_slice_label(grid, area->axis, d->slice[area->axis], d->units);
    GString *text = g_string_new(slice);
    for (int a = 0; a < 3; a++) {
        if (a == area->axis)
            continue;
        LithoAxisText how = litho_axis_text(grid, a, d->units);
        g_autofree char *name = g_ascii_strdown(how.label, -1);
        double lo = litho_axis_shown(&how, &grid->axis[a], area->box.lo[a]);
        double hi = litho_axis_shown(&how, &grid->axis[a], area->box.hi[a] - 1);
        g_string_append_printf(text, ", %s %.5g to %.5g%s%s", name, lo, hi, *how.unit ? " " : "",
                               how.unit);
    }
    text->str[0] = g_ascii_toupper(text->str[0]);
    gtk_label_set_text(GTK_LABEL(self->place), text->str);
    g_string_free(text, TRUE);
}

// What the diagonal measures: "down to the right: 7.5 ms a trace, 3 333 m/s", in depth the dip, and
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
    g_string_append_printf(text, "Diagonal %s to the right: %s %s a trace",
                           area->diagonal > 0 ? "down" : "up", dip, grid->is_depth ? "m" : "ms");
    if (metric && grid->is_depth)
        g_string_append_printf(text, ", %.1f°", atan2(high, wide) * 180 / G_PI);
    else if (metric)
        g_string_append_printf(text, ", %s m/s", speed);
    g_string_append_printf(text, ". Width %s %s, height %s %s", width, metric ? "m" : "traces",
                           height, grid->is_depth ? "m" : "ms");
    if (!grid->is_depth)
        g_string_append_printf(text, ", one period at %.3g Hz", 1 / high);
    return g_string_free(text, FALSE);
}

static void show_ruler(LithoAreaPanel *self)
{
    g_autofree char *text =
        litho_area_measure(litho_session_grid(self->session), litho_session_area(self->session));
    gtk_label_set_text(GTK_LABEL(self->ruler), text ? text : "");
    gtk_widget_set_visible(self->ruler, text != NULL);
}

static LithoFkAxes axes_of(LithoAreaPanel *self)
{
    const LithoGrid *grid = litho_session_grid(self->session);
    int across =
        litho_session_area(self->session)->axis == LITHO_INLINE ? LITHO_XLINE : LITHO_INLINE;
    double metres = litho_grid_spacing(grid, across), step = fabs(grid->axis[LITHO_SAMPLE].step);
    // Depths have cycles per km upwards, too.
    return (LithoFkAxes){.f_max = 0.5 / step * (grid->is_depth ? 1000 : 1),
                         .k_max = 500 / metres,
                         .f_unit = grid->is_depth ? "1/km" : "Hz",
                         .k_unit = "1/km"};
}

static double largest(const LithoFk *fk)
{
    double top = 0;
    for (gsize k = 0; k < (gsize)fk->n_k * fk->n_f; k++)
        top = MAX(top, fk->amplitude[k]);
    return top;
}

static void show_spectrum(LithoAreaPanel *self, const LithoAreaNumbers *numbers,
                          const LithoFkAxes *axes)
{
    double top = 0;
    for (int w = 0; w < 3 && numbers; w++)
        for (guint f = 0; f < numbers->fk[w].n_f; f++)
            top = MAX(top, numbers->fk[w].spectrum[f]);
    for (int w = 0; w < 3; w++) {
        const LithoFk *fk = numbers ? &numbers->fk[w] : NULL;
        guint n = fk && top > 0 ? fk->n_f : 0;
        g_autofree double *x = g_new(double, n + 1), *y = g_new(double, n + 1);
        for (guint f = 0; f < n; f++) {
            x[f] = axes->f_max * f / (n - 1);
            y[f] = 20 * log10(MAX(fk->spectrum[f] / top, 1e-4));
        }
        litho_plot_set_curve(LITHO_PLOT(self->spectrum), w, n, x, y, names[w],
                             w == 0 ? LITHO_PLOT_FILLED : LITHO_PLOT_LINE);
    }
    litho_plot_set_axes(LITHO_PLOT(self->spectrum), axes->f_unit, "dB");
}

static void refresh(LithoAreaPanel *self)
{
    const LithoArea *area = litho_session_area(self->session);
    gboolean on = area->on && litho_session_grid(self->session);
    gtk_widget_set_visible(GTK_WIDGET(self), on);
    if (!on)
        return;
    const LithoAreaNumbers *numbers = litho_session_area_numbers(self->session);
    LithoFkAxes axes = axes_of(self);
    show_place(self);
    show_ruler(self);
    show_spectrum(self, numbers, &axes);
    // One scale for all three: what is weak in one looks weak.
    double top = numbers ? MAX(largest(&numbers->fk[0]), largest(&numbers->fk[1])) : 0;
    for (int w = 0; w < 3; w++) {
        gboolean has = numbers && numbers->fk[w].n_f > 0;
        litho_fk_view_set(LITHO_FK_VIEW(self->fk[w]), has ? &numbers->fk[w] : NULL, top, &axes);
        gtk_widget_set_visible(self->fk[w], has || !numbers);
    }
}

// --- the widget ---------------------------------------------------------------------------------

static void litho_area_panel_init(LithoAreaPanel *self)
{
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *title = litho_label_new("Area", "heading");
    GtkWidget *close =
        litho_icon_button_new("window-close-symbolic", "Close the area", "Close the area (F)");
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
    self->spectrum = litho_plot_new("Spectrum of the area", 132);
    gtk_box_append(GTK_BOX(self), self->spectrum);
    for (int w = 0; w < 3; w++) {
        self->fk[w] = litho_fk_view_new(names[w]);
        gtk_box_append(GTK_BOX(self), self->fk[w]);
    }
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
    g_signal_connect_object(session, "area-changed", G_CALLBACK(refresh), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(session, "cube-changed", G_CALLBACK(refresh), self, G_CONNECT_SWAPPED);
    refresh(self);
    return GTK_WIDGET(self);
}
