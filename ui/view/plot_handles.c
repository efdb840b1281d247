// SPDX-License-Identifier: GPL-3.0-or-later
//
// Upright lines of a plot that are moved by hand or by keys.
#include "ui/view/plot_private.h"

#include <math.h>

// The upright lines that can be taken, with a grip at their upper end, and a shade over what lies
// outside the two.
void litho_plot_draw_handles(LithoPlot *self, GtkSnapshot *snapshot, const LithoPlotArea *a)
{
    GtkWidget *widget = GTK_WIDGET(self);
    GdkRGBA accent = litho_plot_colour(widget, 1), shade = litho_plot_ink(widget, 0.10);
    for (guint k = 0; k < self->n_handles; k++) {
        double at = litho_plot_on_axis(self->handle[k].x, a->log_x);
        double x = a->x + CLAMP((at - a->x0) / (a->x1 - a->x0), 0, 1) * a->w;
        if (!isfinite(at))
            continue;
        if (self->band && self->n_handles == 2) {
            double from = k == 0 ? a->x : x, to = k == 0 ? x : a->x + a->w;
            gtk_snapshot_append_color(snapshot, &shade,
                                      &GRAPHENE_RECT_INIT(from, a->y, to - from, a->h));
        }
        gboolean chosen =
            self->dragged == (int)k || (gtk_widget_has_focus(widget) && self->chosen == (int)k);
        double grip = chosen ? 5 : 3.5;
        gtk_snapshot_append_color(snapshot, &accent,
                                  &GRAPHENE_RECT_INIT(floor(x), a->y, chosen ? 2 : 1, a->h));
        GskRoundedRect round;
        gsk_rounded_rect_init_from_rect(
            &round, &GRAPHENE_RECT_INIT(floor(x) + 0.5 - grip, a->y - grip, 2 * grip, 2 * grip),
            grip);
        gtk_snapshot_push_rounded_clip(snapshot, &round);
        gtk_snapshot_append_color(snapshot, &accent, &round.bounds);
        gtk_snapshot_pop(snapshot);
    }
}

// --- moving a handle ----------------------------------------------------------------------------

static const double GRIP_PX = 7; // how near to a line a press takes hold of it

// The handle nearest to x within reach, -1 = none. Of two in one place the one that has room to go.
static int handle_at(LithoPlot *self, const LithoPlotArea *a, double x)
{
    int found = -1;
    double best = GRIP_PX;
    for (guint k = 0; k < self->n_handles; k++) {
        double at = CLAMP(litho_plot_px(a, self->handle[k].x), a->x, a->x + a->w),
               away = fabs(at - x);
        if (away < best || (away == best && x > at)) {
            best = away;
            found = (int)k;
        }
    }
    return found;
}

static double value_at(const LithoPlotArea *a, double x)
{
    double at = a->x0 + CLAMP((x - a->x) / a->w, 0, 1) * (a->x1 - a->x0);
    return a->log_x ? pow(10, at) : at;
}

static void move_handle(LithoPlot *self, int k, double x)
{
    const LithoPlotHandle *h = self->handle;
    if (self->n_handles == 2) // they do not pass each other
        x = k == 0 ? MIN(x, h[1].x) : MAX(x, h[0].x);
    self->handle[k].x = x;
    gtk_widget_queue_draw(GTK_WIDGET(self));
    g_signal_emit_by_name(self, "handle-moved", (guint)k, x);
}

static void on_drag_begin(GtkGestureDrag *gesture, double x, double y, LithoPlot *self)
{
    (void)y;
    LithoPlotArea a;
    self->dragged = litho_plot_area(self, &a) ? handle_at(self, &a, x) : -1;
    if (self->dragged < 0) {
        gtk_gesture_set_state(GTK_GESTURE(gesture), GTK_EVENT_SEQUENCE_DENIED);
        return;
    }
    self->chosen = self->dragged;
    gtk_gesture_set_state(GTK_GESTURE(gesture), GTK_EVENT_SEQUENCE_CLAIMED);
    gtk_widget_queue_draw(GTK_WIDGET(self));
}

static void on_drag_update(GtkGestureDrag *gesture, double dx, double dy, LithoPlot *self)
{
    (void)dy;
    LithoPlotArea a;
    double x, y;
    if (self->dragged < 0 || !litho_plot_area(self, &a))
        return;
    gtk_gesture_drag_get_start_point(gesture, &x, &y);
    move_handle(self, self->dragged, value_at(&a, x + dx));
}

static void on_drag_end(GtkGestureDrag *gesture, double dx, double dy, LithoPlot *self)
{
    (void)gesture;
    (void)dx;
    (void)dy;
    self->dragged = -1;
    gtk_widget_queue_draw(GTK_WIDGET(self));
}

static void on_motion(GtkEventControllerMotion *motion, double x, double y, LithoPlot *self)
{
    (void)motion;
    (void)y;
    LithoPlotArea a;
    gboolean near = litho_plot_area(self, &a) && handle_at(self, &a, x) >= 0;
    gtk_widget_set_cursor_from_name(GTK_WIDGET(self), near ? "col-resize" : NULL);
}

static gboolean on_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
                       LithoPlot *self)
{
    (void)keys;
    (void)code;
    LithoPlotArea a;
    if (self->n_handles == 0 || !litho_plot_area(self, &a) ||
        (state & (GDK_CONTROL_MASK | GDK_ALT_MASK)))
        return FALSE;
    double by = state & GDK_SHIFT_MASK ? 0.05 : 0.01;
    switch (key) {
    case GDK_KEY_Page_Up:
    case GDK_KEY_Page_Down:
        self->chosen = (self->chosen + 1) % (int)self->n_handles;
        gtk_widget_queue_draw(GTK_WIDGET(self));
        return TRUE;
    case GDK_KEY_Left:
    case GDK_KEY_Right: {
        double at = CLAMP(litho_plot_px(&a, self->handle[self->chosen].x), a.x, a.x + a.w);
        move_handle(self, self->chosen, value_at(&a, at + (key == GDK_KEY_Left ? -by : by) * a.w));
        return TRUE;
    }
    default:
        return FALSE;
    }
}

void litho_plot_handles_init(LithoPlot *self)
{
    GtkWidget *widget = GTK_WIDGET(self);
    GtkGesture *drag = gtk_gesture_drag_new();
    GtkEventController *motion = gtk_event_controller_motion_new(),
                       *keys = gtk_event_controller_key_new();
    g_signal_connect(drag, "drag-begin", G_CALLBACK(on_drag_begin), self);
    g_signal_connect(drag, "drag-update", G_CALLBACK(on_drag_update), self);
    g_signal_connect(drag, "drag-end", G_CALLBACK(on_drag_end), self);
    g_signal_connect(motion, "motion", G_CALLBACK(on_motion), self);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), self);
    gtk_widget_add_controller(widget, GTK_EVENT_CONTROLLER(drag));
    gtk_widget_add_controller(widget, motion);
    gtk_widget_add_controller(widget, keys);
}

// --- setting ------------------------------------------------------------------------------------

void litho_plot_set_handles(LithoPlot *self, guint n, const LithoPlotHandle *handles, gboolean band)
{
    gtk_widget_set_focusable(GTK_WIDGET(self), n > 0);
    for (guint k = 0; k < MIN(n, LITHO_PLOT_HANDLES); k++)
        if (self->dragged != (int)k || k >= self->n_handles)
            self->handle[k] = handles[k];
    self->n_handles = MIN(n, LITHO_PLOT_HANDLES);
    self->chosen = self->chosen < (int)self->n_handles ? self->chosen : 0;
    self->band = band;
    litho_plot_changed(self);
}

guint litho_plot_n_handles(LithoPlot *self)
{
    return self->n_handles;
}
