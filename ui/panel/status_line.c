// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/status_line.h"

#include <math.h>

#include "core/axis_names.h"
#include "core/text.h"
#include "render/ticks.h"
#include "ui/panel/parts.h"
#include "ui/session/medium.h"
#include "ui/view/tooltip.h"

struct _LithoStatusLine {
    GtkBox parent;
    LithoSession *session;
    GtkWidget *place, *amplitudes, *clip, *latency;
};

G_DEFINE_TYPE(LithoStatusLine, litho_status_line, GTK_TYPE_BOX)

// --- texts --------------------------------------------------------------------------------------

static void append_axis(GString *text, const LithoGrid *grid, int axis, gint64 index,
                        LithoUnits units)
{
    if (litho_axis_is_unnumbered(grid, axis))
        return;
    LithoAxisText how = litho_axis_text(grid, axis, units & LITHO_UNITS_TIME);
    char number[48];
    double value = litho_axis_shown(&how, &grid->axis[axis], index);
    if (how.whole) // line numbers are names: no thin spaces
        litho_text_put(number, sizeof number, "%.0f", value);
    else
        litho_format_number(number, sizeof number, value,
                            litho_axis_place(&how, &grid->axis[axis]));
    g_string_append_printf(text, "%s%s %s%s%s", text->len ? "   " : "",
                           litho_axis_short(grid, axis), number, *how.unit ? " " : "", how.unit);
}

static void append_xy(GString *text, const LithoGrid *grid, const gint64 at[3])
{
    char number[48];
    const gboolean known = litho_grid_is_placed(grid);
    // A bent line has distances from its first trace, no coordinates.
    if (known && (grid->axis[0].n == 1 || grid->axis[1].n == 1) && grid->origin[0] == 0 &&
        grid->origin[1] == 0) {
        const double along = at[0] * litho_grid_spacing(grid, LITHO_INLINE) +
                             at[1] * litho_grid_spacing(grid, LITHO_XLINE);
        litho_format_number(number, sizeof number, along, 1);
        g_string_append_printf(text, _("   %s m along the line"), number);
        return;
    }
    for (int c = 0; known && !grid->has_no_place && c < 2; c++) {
        double value = grid->origin[c] + at[0] * grid->inline_step[c] + at[1] * grid->xline_step[c];
        litho_format_number(number, sizeof number, value, 1);
        g_string_append_printf(text, "   %c %s m", "XY"[c], number);
    }
}

static void append_amplitudes(LithoStatusLine *self, GString *text, const gint64 at[3])
{
    float in, out;
    gint64 there[3] = {at[0], at[1], at[2]}; // the same place in the input
    gboolean comparable = litho_session_comparable(self->session);
    if (!comparable && litho_session_side_by_side(self->session))
        there[2] = llround(litho_session_to_input(self->session, at[2]));
    gboolean has_in = litho_session_sample(self->session, FALSE, there, &in);
    gboolean has_out =
        litho_session_result(self->session) && litho_session_sample(self->session, TRUE, at, &out);
    const char *unit = litho_session_unit(self->session) ? litho_session_unit(self->session) : "";
    const char *space = *unit ? " " : "";
    if (has_in) {
        g_autofree char *number = litho_format_amplitude(in);
        const char *name = litho_session_reference_name(self->session);
        g_autofree char *inside =
            g_strcmp0(name, _("Truth")) == 0 ? litho_text_inside(name) : g_strdup(name);
        g_string_append_printf(text, "%s %s%s%s", inside ? inside : _("in"), number, space, unit);
    } else if (!has_out) {
        g_string_append(text, _("no trace here"));
    }
    if (has_out) {
        g_autofree char *number = litho_format_amplitude(out);
        g_string_append(text, has_in ? "   " : "");
        g_string_append_printf(text, _("out %s%s%s"), number, space, unit);
    }
    if (has_in && has_out && comparable) {
        const gboolean removed = !litho_session_reference_name(self->session);
        g_autofree char *number =
            litho_format_amplitude(removed ? (double)in - out : (double)out - in);
        g_string_append_printf(text, "   %s %s%s%s", removed ? _("removed") : _("difference"),
                               number, space, unit);
    }
}

// "Velocity 2 140 m/s": what the flow assumes there.
static void append_medium(LithoStatusLine *self, GString *text, const double at[3])
{
    LithoMedium *medium = litho_medium_of(self->session);
    double value;
    if (!litho_medium_value(medium, at, &value))
        return;
    const LithoLayer *layer = litho_medium_layer(medium);
    g_autofree char *number = litho_format_amplitude(value);
    g_autofree char *name = litho_text_inside(litho_text(layer->label));
    g_string_append_printf(text, "   %s %s %s", name, number, layer->unit);
}

static void show_cursor(LithoStatusLine *self)
{
    const LithoGrid *grid = litho_session_grid(self->session);
    const LithoDisplay *d = litho_session_display(self->session);
    GString *place = g_string_new(NULL), *amplitudes = g_string_new(NULL);
    if (grid) {
        gint64 at[3];
        for (int a = 0; a < 3; a++)
            at[a] =
                d->has_cursor ? CLAMP(llround(d->cursor[a]), 0, grid->axis[a].n - 1) : d->slice[a];
        // Coordinates come last: where the line has no room for all they are cut, not the time.
        for (int a = 0; a < 3; a++)
            append_axis(place, grid, a, at[a], d->units);
        append_xy(place, grid, at);
        if (d->has_cursor)
            append_amplitudes(self, amplitudes, at);
        if (d->has_cursor)
            append_medium(self, amplitudes, d->cursor);
    }
    gtk_label_set_text(GTK_LABEL(self->place), place->str);
    gtk_label_set_text(GTK_LABEL(self->amplitudes), amplitudes->str);
    g_string_free(place, TRUE);
    g_string_free(amplitudes, TRUE);
}

static void show_clip(LithoStatusLine *self)
{
    if (!litho_session_grid(self->session)) {
        gtk_label_set_text(GTK_LABEL(self->clip), "");
        return;
    }
    const LithoLook *look = &litho_session_display(self->session)->look;
    const char *unit = litho_session_unit(self->session);
    g_autofree char *low = litho_format_amplitude(look->lo);
    g_autofree char *clip = litho_format_amplitude(look->hi);
    double percent = litho_session_clip_percent(self->session);
    g_autofree char *text =
        !litho_look_is_signed(look) ? g_strdup_printf(_("colours %s to %s%s%s"), low, clip,
                                                      unit ? " " : "", unit ? unit : "")
        : percent < 0
            ? g_strdup_printf(_("clip %s"), clip)
            : litho_text_printf(_("clip %.*g %% = %s"), percent > 99 ? 4 : 3, percent, clip);
    gtk_label_set_text(GTK_LABEL(self->clip), text);
}

static void show_latency(LithoStatusLine *self)
{
    double last, median;
    litho_session_latency(self->session, &last, &median);
    if (last <= 0 || !litho_session_grid(self->session)) { // of a cube that is no longer there
        gtk_label_set_text(GTK_LABEL(self->latency), "");
        return;
    }
    g_autofree char *took = litho_format_duration(last), *usual = litho_format_duration(median);
    g_autofree char *text = g_strdup_printf(_("%s to pixel"), took);
    g_autofree char *tip = g_strdup_printf(
        _("From the last change to its picture on screen; median of the last changes %s"), usual);
    gtk_label_set_text(GTK_LABEL(self->latency), text);
    litho_set_tooltip(self->latency, tip);
}

static void show_all(LithoStatusLine *self)
{
    show_cursor(self);
    show_clip(self);
    show_latency(self);
}

// --- the widget ---------------------------------------------------------------------------------

static GtkWidget *add_label(LithoStatusLine *self, double xalign, gboolean expand, const char *name)
{
    GtkWidget *label = gtk_label_new(NULL);
    gtk_label_set_xalign(GTK_LABEL(label), xalign);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    gtk_widget_set_hexpand(label, expand);
    gtk_widget_add_css_class(label, "numeric");
    gtk_accessible_update_property(GTK_ACCESSIBLE(label), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, name,
                                   -1);
    gtk_box_append(GTK_BOX(self), label);
    return label;
}

static void litho_status_line_init(LithoStatusLine *self)
{
    gtk_widget_add_css_class(GTK_WIDGET(self), "litho-status");
    gtk_box_set_spacing(GTK_BOX(self), 24);
    self->place = add_label(self, 0, TRUE, _("Position of the pointer"));
    self->amplitudes = add_label(self, 0, TRUE, _("Amplitudes at the pointer"));
    self->clip = add_label(self, 1, FALSE, _("Clip of the colours"));
    self->latency = add_label(self, 1, FALSE, _("Time from a change to its picture"));
    gtk_label_set_ellipsize(GTK_LABEL(self->clip), PANGO_ELLIPSIZE_NONE);
    gtk_label_set_ellipsize(GTK_LABEL(self->latency), PANGO_ELLIPSIZE_NONE);
}

static void dispose(GObject *object)
{
    g_clear_object(&LITHO_STATUS_LINE(object)->session);
    G_OBJECT_CLASS(litho_status_line_parent_class)->dispose(object);
}

static void litho_status_line_class_init(LithoStatusLineClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = dispose;
}

GtkWidget *litho_status_line_new(LithoSession *session)
{
    LithoStatusLine *self = g_object_new(LITHO_TYPE_STATUS_LINE, NULL);
    self->session = g_object_ref(session);
    const struct {
        const char *signal;
        void (*show)(LithoStatusLine *self);
    } wires[] = {{"cube-changed", show_all},      {"slices-changed", show_cursor},
                 {"cursor-changed", show_cursor}, {"result", show_all},
                 {"display-changed", show_clip},  {"stats-changed", show_clip},
                 {"progress", show_latency}};
    for (guint k = 0; k < G_N_ELEMENTS(wires); k++)
        g_signal_connect_object(session, wires[k].signal, G_CALLBACK(wires[k].show), self,
                                G_CONNECT_SWAPPED);
    return GTK_WIDGET(self);
}
