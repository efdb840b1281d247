// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panel/area_pictures.h"

#include <math.h>

#include "core/text.h"
#include "render/ticks.h"
#include "ui/panel/parts.h"
#include "ui/window/dialog.h"

struct _LithoAreaPictures {
    GtkBox parent;
    LithoSession *session;
    gboolean by_trace;
    int decibels; // that are shown
    GtkWidget *view[3];
};

G_DEFINE_TYPE(LithoAreaPictures, litho_area_pictures, GTK_TYPE_BOX)

static const char *const names[] = {N_("input"), N_("output"), N_("removed")};

// --- axes ---------------------------------------------------------------------------------------

static LithoFkAxes axes_of(LithoAreaPictures *self)
{
    const LithoGrid *grid = litho_session_grid(self->session);
    const LithoArea *area = litho_session_area(self->session);
    const int across = area->axis == LITHO_INLINE ? LITHO_XLINE : LITHO_INLINE;
    const gboolean metric = grid->has_xy && grid->xy_source != LITHO_FROM_ASSUMED;
    // Half a cycle a trace; an assumed distance makes no cycles per km.
    const double most = metric ? 500 / litho_grid_spacing(grid, across) : 0.5;
    const double step = fabs(grid->axis[LITHO_SAMPLE].step);
    // Depths have cycles per km upwards, too.
    LithoFkAxes axes = {.f_max = 0.5 / step * (grid->is_depth ? 1000 : 1),
                        .x_lo = -most,
                        .x_hi = most,
                        .decibels = litho_session_display(self->session)->decibels,
                        .f_unit = grid->is_depth ? "1/km" : "Hz"};
    g_strlcpy(axes.x_unit, metric ? "1/km" : _("cycles a trace"), sizeof axes.x_unit);
    if (self->by_trace) {
        axes.x_lo = litho_axis_value(&grid->axis[across], area->box.lo[across] - 0.5);
        axes.x_hi = litho_axis_value(&grid->axis[across], area->box.hi[across] - 0.5);
        axes.by_line = TRUE;
        const LithoAxisText how = litho_axis_text(grid, across, LITHO_UNITS_AUTO);
        g_autofree char *name = litho_text_inside(how.label);
        g_strlcpy(axes.x_unit, name, sizeof axes.x_unit);
    }
    return axes;
}

// --- contents -----------------------------------------------------------------------------------

static void refresh(LithoAreaPictures *self)
{
    const LithoArea *area = litho_session_area(self->session);
    if (!area->on || !litho_session_grid(self->session))
        return;
    const LithoAreaNumbers *numbers = litho_session_area_numbers(self->session);
    const LithoFkAxes axes = axes_of(self);
    self->decibels = axes.decibels;
    LithoFkPicture picture[3] = {{0}};
    // One scale for all three, below the input's top as far as there is one: settings compare, and
    // what is weak looks weak.
    double top = 0;
    for (int w = 0; w < 3 && numbers; w++)
        if (numbers->fk[w].n_f > 0) {
            picture[w] = litho_fk_picture(&numbers->fk[w], self->by_trace);
            top = w < 2 && !(top > 0) ? litho_fk_picture_top(&picture[w]) : top;
        }
    for (int w = 0; w < 3; w++) {
        gboolean has = picture[w].n_f > 0;
        litho_fk_view_set(LITHO_FK_VIEW(self->view[w]), has ? &picture[w] : NULL, top, &axes);
        gtk_widget_set_visible(self->view[w], has || !numbers);
    }
}

// Another range of the colours; a picture of a large area is not drawn anew for each movement.
static void on_display(LithoAreaPictures *self)
{
    if (self->decibels != litho_session_display(self->session)->decibels)
        refresh(self);
}

void litho_area_pictures_show(LithoAreaPictures *self, gboolean by_trace)
{
    self->by_trace = by_trace;
    refresh(self);
}

// --- the widget ---------------------------------------------------------------------------------

static void litho_area_pictures_init(LithoAreaPictures *self)
{
    gtk_box_set_homogeneous(GTK_BOX(self), TRUE);
}

static void dispose(GObject *object)
{
    g_clear_object(&LITHO_AREA_PICTURES(object)->session);
    G_OBJECT_CLASS(litho_area_pictures_parent_class)->dispose(object);
}

static void litho_area_pictures_class_init(LithoAreaPicturesClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = dispose;
}

GtkWidget *litho_area_pictures_new(LithoSession *session, GtkOrientation orientation,
                                   gboolean by_trace)
{
    LithoAreaPictures *self =
        g_object_new(LITHO_TYPE_AREA_PICTURES, "orientation", orientation, NULL);
    self->session = g_object_ref(session);
    self->by_trace = by_trace;
    // The name of one stands before the unit of the next: "output Hz" must not be read as one.
    gtk_box_set_spacing(GTK_BOX(self), orientation == GTK_ORIENTATION_HORIZONTAL ? 24 : 6);
    for (int w = 0; w < 3; w++) {
        self->view[w] =
            litho_fk_view_new(litho_text(names[w]),
                              by_trace ? _("Frequency and trace") : _("Frequency and wavenumber"));
        gtk_box_append(GTK_BOX(self), self->view[w]);
    }
    g_signal_connect_object(session, "area-changed", G_CALLBACK(refresh), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(session, "cube-changed", G_CALLBACK(refresh), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(session, "display-changed", G_CALLBACK(on_display), self,
                            G_CONNECT_SWAPPED);
    refresh(self);
    return GTK_WIDGET(self);
}

static const char window_key[] = "litho-area-window"; // of the parent's one

static void forget_window(GtkWindow *parent)
{
    g_object_set_data(G_OBJECT(parent), window_key, NULL);
}

// Pictures of an area that has gone are of nothing.
static void on_area(LithoSession *session, GtkWindow *window)
{
    if (!litho_session_area(session)->on)
        gtk_window_close(window);
}

GtkWidget *litho_area_window_open(GtkWindow *parent, LithoSession *session)
{
    GtkWidget *there = g_object_get_data(G_OBJECT(parent), window_key);
    if (there) {
        gtk_window_present(GTK_WINDOW(there));
        return there;
    }
    const char *const titles[] = {_("Frequency and wavenumber"), _("Frequency and trace")};
    GtkWidget *window = litho_dialog_new(parent, _("Frequencies of the area"), 980, 640);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    gtk_widget_add_css_class(box, "litho-help");
    gtk_window_set_modal(GTK_WINDOW(window), FALSE); // the area is dragged beside it
    for (int by_trace = 0; by_trace < 2; by_trace++) {
        GtkWidget *pictures =
            litho_area_pictures_new(session, GTK_ORIENTATION_HORIZONTAL, by_trace);
        gtk_widget_set_vexpand(pictures, TRUE);
        gtk_box_append(GTK_BOX(box), litho_label_new(titles[by_trace], "heading"));
        gtk_box_append(GTK_BOX(box), pictures);
    }
    gtk_window_set_child(GTK_WINDOW(window), box);
    g_signal_connect_object(session, "area-changed", G_CALLBACK(on_area), window, 0);
    g_object_set_data(G_OBJECT(parent), window_key, window);
    g_signal_connect_object(window, "destroy", G_CALLBACK(forget_window), parent,
                            G_CONNECT_SWAPPED);
    gtk_window_present(GTK_WINDOW(window));
    return window;
}
