// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/view/model_view.h"

#include <math.h>
#include <string.h>

#include "core/text.h"
#include "render/frame_cache.h"
#include "ui/view/camera.h"
#include "ui/view/model_grips.h"
#include "ui/view/small_text.h"

enum { PAD = 6, N_SPACES = 2 };

struct _LithoModelView {
    GtkWidget parent;
    LithoSession *session;
    LithoSpace space;
    gboolean has[N_SPACES];
    gboolean stale;    // newer shapes wait until somebody looks
    LithoModel *model; // NULL = none of this space
    LithoGrid grid;    // whose box the camera was fitted to
    LithoSceneView view, drag_from;
    gboolean fitted, drag_pans, large;
    LithoModelGrips *grips;
    LithoFrame frame;       // in the widget's own pixels
    GskRenderNode *overlay; // labels and legend; NULL = draw them again
};

G_DEFINE_TYPE(LithoModelView, litho_model_view, GTK_TYPE_WIDGET)

// --- contents -----------------------------------------------------------------------------------

static void describe(LithoModelView *self)
{
    g_autofree char *model =
        self->model ? litho_model_describe(self->model) : g_strdup(_("nothing told yet"));
    g_autofree char *grip = litho_model_grips_describe(self->grips);
    g_autofree char *text =
        grip ? g_strdup_printf(_("%s Page Up and Page Down move: %s; Insert takes the next."),
                               model, grip)
             : g_strdup(model);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   self->space == LITHO_SPACE_MODEL ? _("Model")
                                                                    : _("Boxes in frequency"),
                                   GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
}

static void redraw(LithoModelView *self)
{
    g_clear_pointer(&self->overlay, gsk_render_node_unref);
    gtk_widget_queue_draw(GTK_WIDGET(self));
    g_signal_emit_by_name(self, "changed");
}

// Where the box ends when boundaries can be dragged: with room below them, at a round number. It
// stays while one is dragged, and as long as they keep to its lower part.
static double bottom_of(const LithoModelView *self)
{
    const double deepest = litho_model_grips_deepest(self->grips);
    if (litho_model_grips_length(self->grips) == 0 || !(deepest > 0))
        return -INFINITY;
    const double now = self->grid.axis[2].first + 0.5 * self->grid.axis[2].step;
    if (self->fitted && (litho_model_grips_held(self->grips) ||
                         (deepest > 0.5 * now && deepest <= 0.95 * now)))
        return now;
    const double step = pow(10, floor(log10(deepest))) / 4;
    return ceil(1.2 * deepest / step) * step;
}

// The camera on the whole box, which leaves room for the letters as large as a person wants them.
static void look_at_whole(LithoModelView *self)
{
    self->view = litho_model_view(self->model);
    self->view.text = MAX(litho_text_scale(GTK_WIDGET(self)), 1);
}

// The camera stays while the box does: a slider must not turn the model.
static void adopt(LithoModelView *self, GArray *shapes)
{
    g_clear_pointer(&self->model, litho_model_unref);
    litho_model_grips_take(self->grips, shapes, self->space);
    self->model = litho_model_new_down_to(shapes, self->space, bottom_of(self));
    self->stale = FALSE;
    if (self->model && !(self->fitted && litho_grid_equal(&self->grid, &self->model->grid))) {
        self->grid = self->model->grid;
        look_at_whole(self);
        self->fitted = TRUE;
    }
    describe(self);
    redraw(self);
}

static void on_report(LithoModelView *self)
{
    g_autoptr(GArray) shapes = litho_session_report_shapes(self->session);
    gboolean has[N_SPACES] = {FALSE}, changed;
    for (guint k = 0; shapes && k < shapes->len; k++)
        has[g_array_index(shapes, LithoShape, k).space] = TRUE;
    changed = memcmp(has, self->has, sizeof has) != 0;
    memcpy(self->has, has, sizeof has);
    self->stale = TRUE;
    if (gtk_widget_get_mapped(GTK_WIDGET(self)))
        adopt(self, shapes);
    if (changed)
        g_signal_emit_by_name(self, "spaces-changed");
}

static void refresh(LithoModelView *self)
{
    g_autoptr(GArray) shapes = self->stale ? litho_session_report_shapes(self->session) : NULL;
    if (self->stale)
        adopt(self, shapes);
}

gboolean litho_model_view_has(LithoModelView *self, LithoSpace space)
{
    return self->has[space];
}

void litho_model_view_set_space(LithoModelView *self, LithoSpace space)
{
    if (self->space != space) {
        self->space = space;
        self->fitted = FALSE;
        self->stale = TRUE;
    }
    refresh(self);
}

LithoModel *litho_model_view_model(LithoModelView *self)
{
    refresh(self);
    return self->model;
}

const LithoSceneView *litho_model_view_scene(LithoModelView *self)
{
    return &self->view;
}

void litho_model_view_fit(LithoModelView *self)
{
    if (self->model)
        look_at_whole(self);
    redraw(self);
}

void litho_model_view_zoom(LithoModelView *self, double factor)
{
    litho_camera_zoom(&self->view.camera, factor);
    redraw(self);
}

void litho_model_view_turn(LithoModelView *self, double degrees)
{
    self->view.camera.yaw = fmod(self->view.camera.yaw + degrees, 360);
    redraw(self);
}

// --- drawing ------------------------------------------------------------------------------------

static LithoAxesStyle style_of(LithoModelView *self)
{
    double size = (self->large ? 12 : 11) * litho_text_scale(GTK_WIDGET(self));
    return (LithoAxesStyle){
        .font_size = size, .ink = {0.86, 0.86, 0.86, 1}, .font = "sans", .compact = !self->large};
}

static void layout(LithoModelView *self)
{
    LithoAxesStyle style = style_of(self);
    double w = gtk_widget_get_width(GTK_WIDGET(self)), h = gtk_widget_get_height(GTK_WIDGET(self));
    LithoRect area = {PAD, PAD, MAX(w - 2 * PAD, 1), MAX(h - 2 * PAD, 1)};
    self->frame = litho_axes_layout_scene(&style, area, FALSE);
    self->view.text = MAX(litho_text_scale(GTK_WIDGET(self)), 1);
    redraw(self);
}

static LithoGripScene grip_scene(const LithoModelView *self)
{
    return (LithoGripScene){&self->grid, &self->view, self->frame.data};
}

static void make_overlay(LithoModelView *self)
{
    LithoAxesStyle style = style_of(self);
    LithoRect data = self->frame.data;
    g_autoptr(GtkSnapshot) snapshot = gtk_snapshot_new();
    cairo_t *cr = gtk_snapshot_append_cairo(
        snapshot, &GRAPHENE_RECT_INIT(0, 0, gtk_widget_get_width(GTK_WIDGET(self)),
                                      gtk_widget_get_height(GTK_WIDGET(self))));
    litho_axes_draw_title(cr, &style, self->frame.title, litho_space_name(self->space), NULL);
    if (self->model) {
        litho_scene_draw_labels(cr, &style, &self->model->grid, &self->view, data,
                                self->model->axis);
        litho_model_draw_legend(cr, &style, self->model, data);
        const LithoGripScene scene = grip_scene(self);
        litho_model_grips_draw(self->grips, cr, &scene, &style,
                               gtk_widget_has_focus(GTK_WIDGET(self)) ||
                                   litho_model_grips_held(self->grips));
    }
    cairo_destroy(cr);
    self->overlay = gtk_snapshot_to_node(snapshot);
}

static void snapshot_view(GtkWidget *widget, GtkSnapshot *snapshot)
{
    LithoModelView *self = LITHO_MODEL_VIEW(widget);
    if (!self->overlay)
        make_overlay(self);
    if (self->overlay)
        gtk_snapshot_append_node(snapshot, self->overlay);
}

void litho_model_view_draw(LithoModelView *self, LithoRenderer *renderer, const LithoTarget *target,
                           double x, double y)
{
    if (!self->model)
        return;
    LithoRect rect = self->frame.data;
    rect.x += x;
    rect.y += y;
    LithoSceneDraw draw = {.grid = &self->model->grid,
                           .view = self->view,
                           .rect = rect,
                           .look = litho_session_display(self->session)->look,
                           .meshes = self->model->meshes};
    litho_renderer_draw_scene(renderer, target, &draw);
}

guint64 litho_model_view_hash(LithoModelView *self)
{
    guint64 hash = litho_hash_bytes(LITHO_HASH_BEGIN, &self->view, sizeof self->view);
    hash = litho_hash_bytes(hash, &self->frame.data, sizeof self->frame.data);
    for (guint k = 0; self->model && k < self->model->meshes->len; k++) {
        const LithoMesh *mesh = g_ptr_array_index(self->model->meshes, k);
        hash = litho_hash_bytes(hash, &mesh->serial, sizeof mesh->serial);
    }
    return hash;
}

// --- grips --------------------------------------------------------------------------------------

// The chosen grip's place becomes its parameter's text, in the first step of its operator.
static void write_grip(LithoModelView *self)
{
    const LithoGrip *grip = litho_model_grips_chosen(self->grips, NULL);
    const LithoFlow *flow = litho_session_flow(self->session);
    g_autofree char *text = litho_model_grips_text(self->grips);
    g_autoptr(GError) error = NULL;
    for (guint k = 0; grip && k < litho_flow_length(flow); k++) {
        const LithoOperator *op = litho_flow_step(flow, k)->op;
        const LithoParam *row = litho_param_find(&op->params, grip->param);
        if (!row || strcmp(op->key, grip->operator_key) != 0)
            continue;
        if (!litho_session_set_param(self->session, k, row, 0, text, &error))
            g_warning("%s", error->message); // a text of the operator's own making
        break;
    }
    describe(self);
    redraw(self);
}

gboolean litho_model_view_hold(LithoModelView *self, double x, double y)
{
    const LithoGripScene scene = grip_scene(self);
    if (!self->model || !litho_model_grips_hold(self->grips, &scene, x, y))
        return FALSE;
    litho_history_hold(litho_session_history(self->session), TRUE);
    redraw(self);
    return TRUE;
}

void litho_model_view_drag(LithoModelView *self, double dx, double dy)
{
    const LithoGripScene scene = grip_scene(self);
    if (litho_model_grips_drag(self->grips, &scene, dx, dy))
        write_grip(self);
}

void litho_model_view_release(LithoModelView *self)
{
    if (!litho_model_grips_held(self->grips))
        return;
    litho_model_grips_release(self->grips);
    litho_history_hold(litho_session_history(self->session), FALSE);
    self->stale = TRUE; // the box may end elsewhere now
    refresh(self);
}

const LithoGrip *litho_model_view_grip(LithoModelView *self, double *x, double *y, double *at)
{
    const LithoGripScene scene = grip_scene(self);
    refresh(self);
    return self->model && litho_model_grips_where(self->grips, &scene, x, y)
               ? litho_model_grips_chosen(self->grips, at)
               : NULL;
}

static gboolean grip_key(LithoModelView *self, guint key, GdkModifierType state)
{
    const LithoGripScene scene = grip_scene(self);
    const int steps = state & GDK_SHIFT_MASK ? 1 : 10;
    if (litho_model_grips_length(self->grips) == 0 || !self->model)
        return FALSE;
    if (key == GDK_KEY_Insert || key == GDK_KEY_KP_Insert) {
        litho_model_grips_next(self->grips);
        describe(self);
        redraw(self);
        return TRUE;
    }
    if (key != GDK_KEY_Page_Up && key != GDK_KEY_Page_Down)
        return FALSE;
    if (litho_model_grips_step(self->grips, &scene, key == GDK_KEY_Page_Up ? -steps : steps))
        write_grip(self);
    return TRUE;
}

static void on_motion(GtkEventControllerMotion *motion, double x, double y, LithoModelView *self)
{
    (void)motion;
    const LithoGripScene scene = grip_scene(self);
    const gboolean near = self->model && litho_model_grips_under(self->grips, &scene, x, y);
    gtk_widget_set_cursor_from_name(GTK_WIDGET(self), near ? "row-resize" : NULL);
}

// --- mouse and keyboard -------------------------------------------------------------------------

static void on_drag_begin(GtkGestureDrag *gesture, double x, double y, LithoModelView *self)
{
    guint button = gtk_gesture_single_get_current_button(GTK_GESTURE_SINGLE(gesture));
    GdkModifierType state =
        gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(gesture));
    gtk_widget_grab_focus(GTK_WIDGET(self));
    self->drag_from = self->view;
    self->drag_pans = button == GDK_BUTTON_MIDDLE || (state & GDK_SHIFT_MASK);
    if (button == GDK_BUTTON_PRIMARY)
        litho_model_view_hold(self, x, y);
}

static void on_drag_end(GtkGestureDrag *gesture, double dx, double dy, LithoModelView *self)
{
    (void)gesture;
    (void)dx;
    (void)dy;
    litho_model_view_release(self);
}

static void on_drag_cancel(GtkGesture *gesture, GdkEventSequence *sequence, LithoModelView *self)
{
    (void)gesture;
    (void)sequence;
    litho_model_view_release(self);
}

static void on_drag_update(GtkGestureDrag *gesture, double dx, double dy, LithoModelView *self)
{
    (void)gesture;
    if (litho_model_grips_held(self->grips)) {
        litho_model_view_drag(self, dx, dy);
        return;
    }
    self->view = litho_camera_dragged(&self->drag_from, self->frame.data, self->drag_pans, dx, dy);
    redraw(self);
}

static gboolean on_scroll(GtkEventControllerScroll *scroll, double dx, double dy,
                          LithoModelView *self)
{
    (void)scroll;
    (void)dx;
    litho_model_view_zoom(self, pow(1.25, -dy));
    return TRUE;
}

static void on_pressed(GtkGestureClick *click, int n, double x, double y, LithoModelView *self)
{
    (void)click;
    (void)x;
    (void)y;
    if (n == 2)
        g_signal_emit_by_name(self, "maximise");
}

static gboolean on_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
                       LithoModelView *self)
{
    (void)keys;
    (void)code;
    if (state & (GDK_CONTROL_MASK | GDK_ALT_MASK))
        return FALSE;
    if (key == GDK_KEY_Return || key == GDK_KEY_KP_Enter) {
        g_signal_emit_by_name(self, "maximise");
        return TRUE;
    }
    if (grip_key(self, key, state))
        return TRUE;
    if (!litho_camera_key(&self->view, self->frame.data, key, state))
        return FALSE;
    redraw(self);
    return TRUE;
}

static void add_controllers(LithoModelView *self)
{
    GtkWidget *widget = GTK_WIDGET(self);
    GtkGesture *drag = gtk_gesture_drag_new(), *click = gtk_gesture_click_new();
    gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(drag), 0); // any
    g_signal_connect(drag, "drag-begin", G_CALLBACK(on_drag_begin), self);
    g_signal_connect(drag, "drag-update", G_CALLBACK(on_drag_update), self);
    g_signal_connect(drag, "drag-end", G_CALLBACK(on_drag_end), self);
    g_signal_connect(drag, "cancel", G_CALLBACK(on_drag_cancel), self);
    g_signal_connect(click, "pressed", G_CALLBACK(on_pressed), self);
    gtk_widget_add_controller(widget, GTK_EVENT_CONTROLLER(drag));
    gtk_widget_add_controller(widget, GTK_EVENT_CONTROLLER(click));
    GtkEventController *keys = gtk_event_controller_key_new();
    GtkEventController *scroll =
        gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_VERTICAL);
    GtkEventController *motion = gtk_event_controller_motion_new();
    g_signal_connect(motion, "motion", G_CALLBACK(on_motion), self);
    gtk_widget_add_controller(widget, motion);
    g_signal_connect_swapped(widget, "notify::has-focus", G_CALLBACK(redraw), self);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), self);
    g_signal_connect(scroll, "scroll", G_CALLBACK(on_scroll), self);
    gtk_widget_add_controller(widget, keys);
    gtk_widget_add_controller(widget, scroll);
}

// --- the widget ---------------------------------------------------------------------------------

void litho_model_view_set_large(LithoModelView *self, gboolean large)
{
    self->large = large;
    layout(self);
}

static void size_allocate(GtkWidget *widget, int width, int height, int baseline)
{
    (void)width;
    (void)height;
    (void)baseline;
    layout(LITHO_MODEL_VIEW(widget));
}

static void measure(GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum,
                    int *natural, int *minimum_baseline, int *natural_baseline)
{
    (void)widget;
    (void)for_size;
    *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? 120 : 90;
    *natural = 400;
    *minimum_baseline = *natural_baseline = -1;
}

static void map(GtkWidget *widget)
{
    GTK_WIDGET_CLASS(litho_model_view_parent_class)->map(widget);
    refresh(LITHO_MODEL_VIEW(widget));
}

static void dispose(GObject *object)
{
    LithoModelView *self = LITHO_MODEL_VIEW(object);
    g_clear_pointer(&self->overlay, gsk_render_node_unref);
    g_clear_pointer(&self->model, litho_model_unref);
    g_clear_pointer(&self->grips, litho_model_grips_free);
    g_clear_object(&self->session);
    G_OBJECT_CLASS(litho_model_view_parent_class)->dispose(object);
}

static void litho_model_view_init(LithoModelView *self)
{
    GtkWidget *widget = GTK_WIDGET(self);
    gtk_widget_set_direction(widget, GTK_TEXT_DIR_LTR); // in every language
    gtk_widget_set_focusable(widget, TRUE);
    gtk_widget_set_hexpand(widget, TRUE);
    gtk_widget_set_vexpand(widget, TRUE);
    gtk_widget_add_css_class(widget, "litho-view");
    self->stale = TRUE;
    self->grips = litho_model_grips_new();
    add_controllers(self);
}

static void litho_model_view_class_init(LithoModelViewClass *klass)
{
    GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
    G_OBJECT_CLASS(klass)->dispose = dispose;
    widget_class->snapshot = snapshot_view;
    widget_class->size_allocate = size_allocate;
    widget_class->measure = measure;
    widget_class->map = map;
    gtk_widget_class_set_css_name(widget_class, "cubeview");
    gtk_widget_class_set_accessible_role(widget_class, GTK_ACCESSIBLE_ROLE_IMG);
    static const char *const signals[] = {"maximise", "spaces-changed", "changed"};
    for (guint k = 0; k < G_N_ELEMENTS(signals); k++)
        g_signal_new(signals[k], G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                     G_TYPE_NONE, 0);
}

GtkWidget *litho_model_view_new(LithoSession *session)
{
    LithoModelView *self = g_object_new(LITHO_TYPE_MODEL_VIEW, NULL);
    self->session = g_object_ref(session);
    g_signal_connect_object(session, "report-changed", G_CALLBACK(on_report), self,
                            G_CONNECT_SWAPPED);
    describe(self);
    return GTK_WIDGET(self);
}
