// SPDX-License-Identifier: GPL-3.0-or-later
//
// Mouse and keyboard of a view.
//
//   motion            cross-hair in all views        drag         pan; orbit in the scene
//   wheel             step the slice                 Shift+drag   zoom to the rectangle
//   Ctrl+wheel        zoom at the pointer            click        the other slices come here
//   double, Enter     maximise                       drag a slice of the scene with Ctrl: move it
//   drag the colour bar: its end nearer to the press is the clip; click on it: maps by name
//   middle drag, Shift+drag in the scene: pan       drag with the area tool on: its rectangle
//   secondary button, Menu, Shift+F10: the view's menu
#include "ui/view/camera.h"
#include "ui/view/cube_view_private.h"
#include "ui/view/view_menu.h"

#include <math.h>

static const double ZOOM_STEP = 1.25;
static const double GRIP_PX = 8; // how near to the divider a drag takes hold of it

static gboolean is_scene(LithoCubeView *self)
{
    return self->axis == LITHO_VIEW_SCENE;
}

// --- cursor -------------------------------------------------------------------------------------

static gboolean near_divider(LithoCubeView *self, const LithoViewPanel *panel, double x)
{
    const LithoLook *look = &litho_session_display(self->session)->look;
    LithoRect r = panel->frame.data;
    return panel->show == LITHO_SHOW_SPLIT && fabs(x - (r.x + look->split * r.w)) < GRIP_PX;
}

// The colour bar under the point, with a few pixels to spare; NULL = none. That of an input beside
// a result of another kind is not the clip's.
static const LithoRect *bar_at(LithoCubeView *self, double x, double y)
{
    const double beside = 4;
    for (guint k = 0; k < self->n_panels; k++) {
        LithoRect r = self->panel[k].frame.bar;
        r = (LithoRect){r.x - beside, r.y - beside, r.w + 2 * beside, r.h + 2 * beside};
        if (self->panel[k].frame.bar.w > 0 && !self->panel[k].of_input &&
            litho_rect_contains(r, x, y))
            return &self->panel[k].frame.bar;
    }
    return NULL;
}

void litho_cube_view_open_maps(LithoCubeView *self)
{
    LithoRect at = {gtk_widget_get_width(GTK_WIDGET(self)) - 1, 1, 1, 1};
    for (guint k = 0; k < self->n_panels; k++)
        if (self->panel[k].frame.bar.w > 0)
            at = self->panel[k].frame.bar;
    litho_colour_menu_open(GTK_WIDGET(self), at, self->session);
}

// Grid indices under the pointer. FALSE outside the survey.
static gboolean index_at(LithoCubeView *self, double x, double y, double at[3])
{
    const LithoGrid *grid = litho_session_grid(self->session);
    LithoViewPanel *panel = litho_cube_view_panel_at(self, x, y);
    if (!panel || !grid)
        return FALSE;
    if (is_scene(self)) {
        LithoSceneView scene = litho_cube_view_scene(self);
        LithoScenePick pick;
        if (!litho_scene_pick(grid, &scene, panel->frame.data, x, y, &pick))
            return FALSE;
        for (int a = 0; a < 3; a++)
            at[a] = pick.index[a];
        return TRUE;
    }
    litho_slice_map_to_index(&panel->map, x, y, at);
    if (panel->of_input)
        at[LITHO_SAMPLE] = litho_session_from_input(self->session, at[LITHO_SAMPLE]);
    if (panel->of_input && self->axis == LITHO_SAMPLE) // rounded twice: the slice itself is meant
        at[LITHO_SAMPLE] = litho_session_display(self->session)->slice[LITHO_SAMPLE];
    for (int a = 0; a < 3; a++)
        if (at[a] < -0.5 || at[a] > grid->axis[a].n - 0.5)
            return FALSE;
    return TRUE;
}

static void on_motion(GtkEventControllerMotion *motion, double x, double y, LithoCubeView *self)
{
    (void)motion;
    double at[3];
    self->pointer[0] = x;
    self->pointer[1] = y;
    litho_session_set_cursor(self->session, index_at(self, x, y, at) ? at : NULL);
    LithoViewPanel *panel = litho_cube_view_panel_at(self, x, y);
    gboolean grip = panel && near_divider(self, panel, x);
    gtk_widget_set_cursor_from_name(GTK_WIDGET(self), bar_at(self, x, y)         ? "row-resize"
                                                      : grip                     ? "col-resize"
                                                      : panel && !is_scene(self) ? "crosshair"
                                                                                 : NULL);
}

static void on_leave(GtkEventControllerMotion *motion, LithoCubeView *self)
{
    (void)motion;
    litho_session_set_cursor(self->session, NULL);
}

// --- zoom and step ------------------------------------------------------------------------------

static void zoom_at(LithoCubeView *self, double x, double y, double factor)
{
    const LithoGrid *grid = litho_session_grid(self->session);
    if (!grid || self->n_panels == 0)
        return;
    if (is_scene(self)) {
        LithoSceneView scene = litho_session_display(self->session)->scene;
        litho_camera_zoom(&scene.camera, factor);
        litho_session_set_scene(self->session, &scene);
        return;
    }
    LithoViewPanel *panel = litho_cube_view_panel_at(self, x, y);
    panel = panel ? panel : &self->panel[0];
    LithoSliceView view = panel->view;
    litho_slice_zoom(&view, &panel->grid, panel->frame.data, x, y, factor, TRUE, TRUE);
    litho_cube_view_set_window(self, panel, &view);
}

void litho_cube_view_zoom(LithoCubeView *self, double factor)
{
    if (self->n_panels == 0)
        return;
    LithoRect r = self->panel[0].frame.data;
    zoom_at(self, r.x + r.w / 2, r.y + r.h / 2, factor);
}

void litho_cube_view_step(LithoCubeView *self, gint64 by)
{
    int axis = is_scene(self) ? LITHO_INLINE : self->axis;
    litho_session_set_slice(self->session, axis,
                            litho_session_display(self->session)->slice[axis] + by);
}

static gboolean on_scroll(GtkEventControllerScroll *scroll, double dx, double dy,
                          LithoCubeView *self)
{
    (void)dx;
    GdkModifierType state =
        gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(scroll));
    if (is_scene(self) || (state & GDK_CONTROL_MASK)) {
        zoom_at(self, self->pointer[0], self->pointer[1], pow(ZOOM_STEP, -dy));
        return TRUE;
    }
    self->scroll += dy * (state & GDK_SHIFT_MASK ? 10 : 1);
    double steps = trunc(self->scroll);
    self->scroll -= steps;
    if (steps != 0)
        litho_cube_view_step(self, (gint64)steps);
    return TRUE;
}

// --- drags --------------------------------------------------------------------------------------

static void on_drag_begin(GtkGestureDrag *gesture, double x, double y, LithoCubeView *self)
{
    gtk_widget_grab_focus(GTK_WIDGET(self));
    LithoViewPanel *panel = litho_cube_view_panel_at(self, x, y);
    const LithoGrid *grid = litho_session_grid(self->session);
    const LithoRect *bar = grid ? bar_at(self, x, y) : NULL;
    self->drag = DRAG_NONE;
    if (bar) {
        self->drag = DRAG_BAR;
        self->drag_bar = litho_bar_drag_begin(self->session, *bar, y);
    }
    if (!panel || !grid || bar)
        return;
    GdkModifierType state =
        gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(gesture));
    guint button = gtk_gesture_single_get_current_button(GTK_GESTURE_SINGLE(gesture));
    gboolean middle = button == GDK_BUTTON_MIDDLE;
    if (button != GDK_BUTTON_PRIMARY && !middle)
        return;
    self->drag_panel = *panel;
    LithoScenePick pick;
    if (is_scene(self)) {
        self->drag_scene = litho_cube_view_scene(self);
        gboolean slice = (state & GDK_CONTROL_MASK) &&
                         litho_scene_pick(grid, &self->drag_scene, panel->frame.data, x, y, &pick);
        self->drag = slice                                ? DRAG_SLICE
                     : middle || (state & GDK_SHIFT_MASK) ? DRAG_MOVE
                                                          : DRAG_ORBIT;
        self->drag_axis = slice ? pick.axis : 0;
        return;
    }
    gboolean chooses_area =
        litho_session_area(self->session)->on && self->axis != LITHO_SAMPLE && !panel->of_input;
    self->drag_view = panel->view;
    self->drag = middle                         ? DRAG_PAN
                 : near_divider(self, panel, x) ? DRAG_SPLIT
                 : state & GDK_SHIFT_MASK       ? DRAG_RUBBER
                 : chooses_area                 ? DRAG_AREA
                                                : DRAG_PAN;
}

static LithoRect rubber_rect(const LithoViewPanel *panel, double x, double y, double dx, double dy)
{
    LithoRect r = panel->frame.data;
    double x0 = CLAMP(MIN(x, x + dx), r.x, r.x + r.w), x1 = CLAMP(MAX(x, x + dx), r.x, r.x + r.w);
    double y0 = CLAMP(MIN(y, y + dy), r.y, r.y + r.h), y1 = CLAMP(MAX(y, y + dy), r.y, r.y + r.h);
    return (LithoRect){x0, y0, x1 - x0, y1 - y0};
}

static void drag_scene(LithoCubeView *self, double x, double y, double dx, double dy)
{
    const LithoGrid *grid = litho_session_grid(self->session);
    LithoRect rect = self->drag_panel.frame.data;
    if (self->drag == DRAG_SLICE) {
        double by = litho_scene_drag(grid, &self->drag_scene, rect, self->drag_axis, x, y, dx, dy);
        gint64 from = self->drag_scene.index[self->drag_axis];
        litho_session_set_slice(self->session, self->drag_axis, from + llround(by));
        return;
    }
    LithoSceneView scene =
        litho_camera_dragged(&self->drag_scene, rect, self->drag == DRAG_MOVE, dx, dy);
    litho_session_set_scene(self->session, &scene);
}

static void on_drag_update(GtkGestureDrag *gesture, double dx, double dy, LithoCubeView *self)
{
    LithoRect rect = self->drag_panel.frame.data;
    double x, y;
    gtk_gesture_drag_get_start_point(gesture, &x, &y);
    switch (self->drag) {
    case DRAG_SPLIT: {
        LithoLook look = litho_session_display(self->session)->look;
        look.split = CLAMP((x + dx - rect.x) / rect.w, 0, 1);
        litho_session_set_look(self->session, &look);
        break;
    }
    case DRAG_BAR:
        if (fabs(dy) >= 3) // less is a click
            litho_bar_drag_to(&self->drag_bar, self->session, dy);
        break;
    case DRAG_PAN: {
        LithoSliceView view = self->drag_view;
        litho_slice_pan(&view, &self->drag_panel.grid, rect, dx, dy);
        litho_cube_view_set_window(self, &self->drag_panel, &view);
        break;
    }
    case DRAG_RUBBER:
    case DRAG_AREA:
        self->rubber = rubber_rect(&self->drag_panel, x, y, dx, dy);
        self->diagonal = self->drag == DRAG_RUBBER ? 0 : dx * dy < 0 ? -1 : 1;
        gtk_widget_queue_draw(GTK_WIDGET(self));
        break;
    case DRAG_ORBIT:
    case DRAG_MOVE:
    case DRAG_SLICE:
        drag_scene(self, x, y, dx, dy);
        break;
    case DRAG_NONE:
        break;
    }
}

// The traces and samples under the rubber band, which was drawn from one corner to the other.
static void choose_area(LithoCubeView *self, double dx, double dy)
{
    const LithoGrid *grid = &self->drag_panel.grid;
    LithoRect r = self->rubber;
    LithoArea area = {.on = TRUE, .axis = self->axis, .diagonal = dx * dy < 0 ? -1 : 1};
    double a[3], b[3];
    litho_slice_map_to_index(&self->drag_panel.map, r.x, r.y, a);
    litho_slice_map_to_index(&self->drag_panel.map, r.x + r.w, r.y + r.h, b);
    for (int k = 0; k < 3; k++) {
        area.box.lo[k] = CLAMP(llround(MIN(a[k], b[k])), 0, grid->axis[k].n - 1);
        area.box.hi[k] = CLAMP(llround(MAX(a[k], b[k])) + 1, area.box.lo[k] + 1, grid->axis[k].n);
    }
    litho_session_set_area(self->session, &area);
}

// A press without a drag: the other slices come to the point.
static void slices_to(LithoCubeView *self, double x, double y)
{
    double at[3];
    if (!index_at(self, x, y, at))
        return;
    for (int a = 0; a < 3; a++)
        if (a != self->axis)
            litho_session_set_slice(self->session, a, llround(at[a]));
}

static void on_drag_end(GtkGestureDrag *gesture, double dx, double dy, LithoCubeView *self)
{
    double x, y;
    gtk_gesture_drag_get_start_point(gesture, &x, &y);
    gboolean click = fabs(dx) < 3 && fabs(dy) < 3;
    if (click && (self->drag == DRAG_PAN || self->drag == DRAG_AREA)) {
        slices_to(self, x, y);
    } else if (click && self->drag == DRAG_BAR) {
        litho_cube_view_open_maps(self);
    } else if (self->drag == DRAG_AREA) {
        choose_area(self, dx, dy);
    } else if (self->drag == DRAG_RUBBER) {
        LithoSliceView view = self->drag_view;
        litho_slice_zoom_to(&view, &self->drag_panel.grid, self->drag_panel.frame.data,
                            self->rubber);
        litho_cube_view_set_window(self, &self->drag_panel, &view);
    }
    self->rubber = (LithoRect){0};
    self->drag = DRAG_NONE;
}

static void on_pressed(GtkGestureClick *click, int n, double x, double y, LithoCubeView *self)
{
    (void)click;
    if (n == 2 && litho_cube_view_panel_at(self, x, y))
        g_signal_emit_by_name(self, "maximise");
}

// At the release: a popover that opened at the press would get a release without its press.
static void on_menu(GtkGestureClick *click, int n, double x, double y, LithoCubeView *self)
{
    (void)click;
    (void)n;
    gtk_widget_grab_focus(GTK_WIDGET(self));
    if (litho_session_grid(self->session))
        litho_view_menu_open(GTK_WIDGET(self), self->axis, x, y);
}

// --- keyboard -----------------------------------------------------------------------------------

static gboolean move_divider(LithoCubeView *self, double by)
{
    LithoLook look = litho_session_display(self->session)->look;
    if (litho_session_shown(self->session) != LITHO_SHOW_SPLIT)
        return FALSE;
    look.split = CLAMP(look.split + by, 0, 1);
    litho_session_set_look(self->session, &look);
    return TRUE;
}

static gboolean camera_key(LithoCubeView *self, guint key, GdkModifierType state)
{
    if (!is_scene(self) || self->n_panels == 0)
        return FALSE;
    LithoSceneView scene = litho_session_display(self->session)->scene;
    if (!litho_camera_key(&scene, self->panel[0].frame.data, key, state))
        return FALSE;
    litho_session_set_scene(self->session, &scene);
    return TRUE;
}

static gboolean on_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
                       LithoCubeView *self)
{
    (void)keys;
    (void)code;
    if (state & (GDK_CONTROL_MASK | GDK_ALT_MASK))
        return FALSE;
    if (camera_key(self, key, state))
        return TRUE;
    gint64 by = state & GDK_SHIFT_MASK ? 10 : 1;
    switch (key) {
    case GDK_KEY_Left:
        if (!move_divider(self, -0.02 * by))
            litho_cube_view_step(self, -by);
        return TRUE;
    case GDK_KEY_Right:
        if (!move_divider(self, 0.02 * by))
            litho_cube_view_step(self, by);
        return TRUE;
    case GDK_KEY_Up:
        litho_cube_view_step(self, -by);
        return TRUE;
    case GDK_KEY_Down:
        litho_cube_view_step(self, by);
        return TRUE;
    case GDK_KEY_Home:
        litho_cube_view_step(self, -G_MAXINT32);
        return TRUE;
    case GDK_KEY_End:
        litho_cube_view_step(self, G_MAXINT32);
        return TRUE;
    case GDK_KEY_Return:
    case GDK_KEY_KP_Enter:
        g_signal_emit_by_name(self, "maximise");
        return TRUE;
    case GDK_KEY_Menu:
    case GDK_KEY_F10:
        if (key == GDK_KEY_F10 && !(state & GDK_SHIFT_MASK))
            return FALSE;
        litho_view_menu_open(GTK_WIDGET(self), self->axis,
                             gtk_widget_get_width(GTK_WIDGET(self)) / 2,
                             gtk_widget_get_height(GTK_WIDGET(self)) / 2);
        return TRUE;
    default:
        return FALSE;
    }
}

void litho_cube_view_input_init(LithoCubeView *self)
{
    GtkEventController *motion = gtk_event_controller_motion_new();
    g_signal_connect(motion, "enter", G_CALLBACK(on_motion), self);
    g_signal_connect(motion, "motion", G_CALLBACK(on_motion), self);
    g_signal_connect(motion, "leave", G_CALLBACK(on_leave), self);
    gtk_widget_add_controller(GTK_WIDGET(self), motion);

    GtkEventController *scroll =
        gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_VERTICAL);
    g_signal_connect(scroll, "scroll", G_CALLBACK(on_scroll), self);
    gtk_widget_add_controller(GTK_WIDGET(self), scroll);

    GtkGesture *drag = gtk_gesture_drag_new();
    gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(drag), 0); // the middle one, too
    g_signal_connect(drag, "drag-begin", G_CALLBACK(on_drag_begin), self);
    g_signal_connect(drag, "drag-update", G_CALLBACK(on_drag_update), self);
    g_signal_connect(drag, "drag-end", G_CALLBACK(on_drag_end), self);
    gtk_widget_add_controller(GTK_WIDGET(self), GTK_EVENT_CONTROLLER(drag));

    GtkGesture *click = gtk_gesture_click_new();
    g_signal_connect(click, "pressed", G_CALLBACK(on_pressed), self);
    gtk_widget_add_controller(GTK_WIDGET(self), GTK_EVENT_CONTROLLER(click));

    GtkGesture *menu = gtk_gesture_click_new();
    gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(menu), GDK_BUTTON_SECONDARY);
    g_signal_connect(menu, "released", G_CALLBACK(on_menu), self);
    gtk_widget_add_controller(GTK_WIDGET(self), GTK_EVENT_CONTROLLER(menu));

    GtkEventController *keys = gtk_event_controller_key_new();
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), self);
    gtk_widget_add_controller(GTK_WIDGET(self), keys);
}
