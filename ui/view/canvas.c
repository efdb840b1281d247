// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/view/canvas_private.h"
#include "core/text.h"
#include "ui/view/gl_pane.h"
#include "ui/view/tooltip.h"
#include "core/io/survey.h"

G_DEFINE_TYPE(LithoCanvas, litho_canvas, GTK_TYPE_WIDGET)

// --- which slices are on screen -----------------------------------------------------------------

static void tell_visible(LithoCanvas *self)
{
    int axes[3], n = 0;
    LithoCubeView *active = litho_canvas_active_view(self);
    int first = active ? litho_cube_view_axis(active) : 0;
    gboolean all = self->maximised < 0 || self->maximised == LITHO_VIEW_SCENE;
    if (self->section >= 0 && all)
        first = axes[n++] = self->section;
    else if (first < 3 && (all || self->maximised == first))
        axes[n++] = first;
    for (int a = 0; a < 3; a++)
        if (a != first && all && self->section < 0)
            axes[n++] = a;
    litho_session_set_visible(self->session, n, axes);
}

static void redraw(LithoCanvas *self)
{
    gtk_gl_area_queue_render(GTK_GL_AREA(self->area));
}

// --- views --------------------------------------------------------------------------------------

LithoCubeView *litho_canvas_view(LithoCanvas *self, int axis)
{
    return self->views[axis];
}

LithoCubeView *litho_canvas_active_view(LithoCanvas *self)
{
    if (self->maximised >= 0)
        return self->views[self->maximised];
    for (int k = 0; k < LITHO_N_VIEWS; k++)
        if (gtk_widget_has_focus(GTK_WIDGET(self->views[k])))
            return self->views[k];
    return self->views[MAX(self->section, 0)];
}

int litho_canvas_maximised(LithoCanvas *self)
{
    return self->maximised;
}

// A cube has four views in two rows. A line has its section and the scene, two thirds as wide, in
// one row.
static void place_views(LithoCanvas *self)
{
    const int axis = self->maximised, section = self->section;
    GtkLayoutManager *layout = gtk_widget_get_layout_manager(self->grid);
    for (int k = 0; k < LITHO_N_VIEWS; k++) {
        const gboolean scene = k == LITHO_VIEW_SCENE, line = section >= 0;
        GtkWidget *view = scene ? self->cell : GTK_WIDGET(self->views[k]);
        GtkLayoutChild *child = gtk_layout_manager_get_layout_child(layout, view);
        g_object_set(child, "column",
                     line && scene ? 3
                     : line        ? 0
                                   : k % 2,
                     "row", line ? 0 : k / 2, "column-span",
                     !line   ? 1
                     : scene ? 2
                             : 3,
                     NULL);
        gtk_widget_set_visible(view, axis < 0 ? !line || scene || k == section : axis == k);
        litho_cube_view_set_large(self->views[k], axis == k);
    }
}

// A line has one section, and nothing to see in slices across it.
static void follow_grid(LithoCanvas *self)
{
    const LithoGrid *grid = litho_session_grid(self->session);
    const int section = !grid                             ? -1
                        : grid->axis[LITHO_INLINE].n == 1 ? LITHO_INLINE
                        : grid->axis[LITHO_XLINE].n == 1  ? LITHO_XLINE
                                                          : -1;
    if (section == self->section)
        return;
    self->section = section;
    place_views(self);
    tell_visible(self);
    g_signal_emit_by_name(self, "layout-changed");
}

void litho_canvas_maximise(LithoCanvas *self, int axis)
{
    gboolean other = axis != self->maximised;
    self->maximised = axis;
    place_views(self);
    litho_model_view_set_large(LITHO_MODEL_VIEW(self->model), axis == LITHO_VIEW_SCENE);
    if (axis >= 0)
        gtk_widget_grab_focus(axis == LITHO_VIEW_SCENE && litho_canvas_model(self)
                                  ? self->model
                                  : GTK_WIDGET(self->views[axis]));
    tell_visible(self);
    redraw(self);
    if (other)
        g_signal_emit_by_name(self, "layout-changed");
}

static void on_maximise(LithoCubeView *view, LithoCanvas *self)
{
    litho_canvas_maximise(self, self->maximised < 0 ? litho_cube_view_axis(view) : -1);
}

// --- data or model ------------------------------------------------------------------------------

static void toggle_scene(LithoCanvas *self)
{
    litho_canvas_maximise(self, self->maximised < 0 ? LITHO_VIEW_SCENE : -1);
}

static gboolean has_space(LithoCanvas *self, int space)
{
    return space < 0 || litho_model_view_has(LITHO_MODEL_VIEW(self->model), space);
}

LithoModelView *litho_canvas_model(LithoCanvas *self)
{
    return gtk_widget_get_visible(self->model) ? LITHO_MODEL_VIEW(self->model) : NULL;
}

// A wish without shapes waits: the data are shown, and the model again as soon as there is one.
static void show_wanted(LithoCanvas *self)
{
    int space = has_space(self, self->wanted_space) ? self->wanted_space : -1;
    gboolean had_focus = gtk_widget_has_focus(self->model) ||
                         gtk_widget_has_focus(GTK_WIDGET(self->views[LITHO_VIEW_SCENE]));
    if (space >= 0)
        litho_model_view_set_space(LITHO_MODEL_VIEW(self->model), space);
    gtk_widget_set_visible(self->model, space >= 0);
    gtk_widget_set_visible(GTK_WIDGET(self->views[LITHO_VIEW_SCENE]), space < 0);
    if (had_focus)
        gtk_widget_grab_focus(space >= 0 ? self->model : GTK_WIDGET(self->views[LITHO_VIEW_SCENE]));
    gboolean any = FALSE;
    for (int k = 0; k < LITHO_N_SPACES; k++) {
        gtk_widget_set_visible(self->button[1 + k], has_space(self, k));
        any = any || has_space(self, k);
    }
    gtk_widget_set_visible(self->switches, any);
    int covered = 0;
    if (any)
        gtk_widget_measure(self->switches, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &covered, NULL,
                           NULL);
    litho_cube_view_set_covered(self->views[LITHO_VIEW_SCENE], covered);
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(self->button[1 + space]), TRUE);
    redraw(self);
}

void litho_canvas_show_model(LithoCanvas *self, int space)
{
    self->wanted_space = space;
    show_wanted(self);
}

void litho_canvas_next_model(LithoCanvas *self)
{
    // A section that fills the window, as a line does from the start, hides what M is to show.
    const gboolean hidden = self->maximised >= 0 && self->maximised != LITHO_VIEW_SCENE;
    int space = litho_canvas_model(self) && !hidden ? self->wanted_space : -1;
    do
        space = space + 1 < LITHO_N_SPACES ? space + 1 : -1;
    while (!has_space(self, space));
    if (hidden && space >= 0)
        litho_canvas_maximise(self, -1);
    litho_canvas_show_model(self, space);
}

static void on_switch(GtkToggleButton *button, LithoCanvas *self)
{
    if (!gtk_toggle_button_get_active(button))
        return;
    for (int k = 0; k <= LITHO_N_SPACES; k++)
        if (self->button[k] == GTK_WIDGET(button) && gtk_widget_get_visible(self->switches))
            litho_canvas_show_model(self, k - 1);
}

static void make_switches(LithoCanvas *self)
{
    const char *const tips[] = {_("Slices of the data (M)"),
                                _("Model: what the operator works with, in metres (M)"),
                                _("Boxes of the transform in frequency (M)")};
    self->switches = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    gtk_widget_add_css_class(self->switches, "linked");
    gtk_widget_add_css_class(self->switches, "litho-switch");
    gtk_widget_set_halign(self->switches, GTK_ALIGN_START);
    gtk_widget_set_valign(self->switches, GTK_ALIGN_START);
    for (int k = 0; k <= LITHO_N_SPACES; k++) {
        self->button[k] =
            gtk_toggle_button_new_with_label(k == 0 ? _("Data") : litho_space_name(k - 1));
        litho_set_short_tooltip(self->button[k], tips[k]);
        if (k > 0)
            gtk_toggle_button_set_group(GTK_TOGGLE_BUTTON(self->button[k]),
                                        GTK_TOGGLE_BUTTON(self->button[0]));
        gtk_box_append(GTK_BOX(self->switches), self->button[k]);
        g_signal_connect(self->button[k], "toggled", G_CALLBACK(on_switch), self);
    }
}

static void make_cell(LithoCanvas *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    self->model = litho_model_view_new(self->session);
    gtk_widget_set_visible(self->model, FALSE);
    gtk_box_append(GTK_BOX(box), GTK_WIDGET(self->views[LITHO_VIEW_SCENE]));
    gtk_box_append(GTK_BOX(box), self->model);
    make_switches(self);
    self->cell = gtk_overlay_new();
    gtk_overlay_set_child(GTK_OVERLAY(self->cell), box);
    gtk_overlay_add_overlay(GTK_OVERLAY(self->cell), self->switches);
    g_signal_connect_swapped(self->model, "spaces-changed", G_CALLBACK(show_wanted), self);
    g_signal_connect_swapped(self->model, "changed", G_CALLBACK(redraw), self);
    g_signal_connect_swapped(self->model, "maximise", G_CALLBACK(toggle_scene), self);
}

void litho_canvas_focus(LithoCanvas *self)
{
    GtkWidget *model = GTK_WIDGET(litho_canvas_model(self));
    GtkWidget *view = GTK_WIDGET(litho_canvas_active_view(self));
    if (!gtk_widget_grab_focus(view) && model)
        gtk_widget_grab_focus(model);
}

void litho_canvas_zoom(LithoCanvas *self, double factor)
{
    LithoModelView *model = litho_canvas_model(self);
    if (model && (self->maximised == LITHO_VIEW_SCENE || gtk_widget_has_focus(self->model)))
        litho_model_view_zoom(model, factor);
    else
        litho_cube_view_zoom(litho_canvas_active_view(self), factor);
}

void litho_canvas_fit(LithoCanvas *self)
{
    litho_session_fit(self->session);
    litho_model_view_fit(LITHO_MODEL_VIEW(self->model));
}

static void make_views(LithoCanvas *self)
{
    for (int k = 0; k < LITHO_N_VIEWS; k++) {
        GtkWidget *view = litho_cube_view_new(self->session, k);
        self->views[k] = LITHO_CUBE_VIEW(view);
        g_signal_connect(view, "maximise", G_CALLBACK(on_maximise), self);
        g_signal_connect_swapped(view, "notify::has-focus", G_CALLBACK(tell_visible), self);
        if (k == LITHO_VIEW_SCENE)
            make_cell(self);
        gtk_grid_attach(GTK_GRID(self->grid), k == LITHO_VIEW_SCENE ? self->cell : view, k % 2,
                        k / 2, 1, 1);
    }
    show_wanted(self);
}

// --- the widget ---------------------------------------------------------------------------------

GtkWidget *litho_canvas_area(LithoCanvas *self)
{
    return self->area;
}

const char *litho_canvas_gl_name(LithoCanvas *self, gboolean *failed)
{
    if (failed)
        *failed = self->failed;
    return self->gl_name ? self->gl_name : "";
}

void litho_canvas_volume_info(LithoCanvas *self, LithoVolumeInfo *info)
{
    litho_volume_info(self->output, info);
}

const LithoVolume *litho_canvas_output(LithoCanvas *self)
{
    return self->output;
}

guint64 litho_canvas_paints(LithoCanvas *self, int view)
{
    return self->paints[view];
}

gboolean litho_canvas_is_whole(LithoCanvas *self)
{
    return self->frames > 0 && self->fill_tick == 0;
}

guint64 litho_canvas_frames(LithoCanvas *self)
{
    return self->frames;
}

static void litho_canvas_init(LithoCanvas *self)
{
    self->maximised = self->section = -1;
    self->wanted_space = -1;
    self->input = litho_volume_new();
    self->output = litho_volume_new();
    self->parts_put = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    self->overlay = gtk_overlay_new();
    self->area = litho_gl_pane_new();
    gtk_gl_area_set_required_version(GTK_GL_AREA(self->area), 3, 2);
    gtk_gl_area_set_has_depth_buffer(GTK_GL_AREA(self->area), TRUE);
    gtk_gl_area_set_auto_render(GTK_GL_AREA(self->area), FALSE);
    gtk_widget_set_can_target(self->area, FALSE);
    gtk_accessible_update_state(GTK_ACCESSIBLE(self->area), GTK_ACCESSIBLE_STATE_HIDDEN, TRUE, -1);
    litho_canvas_paint_init(self);
    g_signal_connect_swapped(self->area, "resize", G_CALLBACK(redraw), self);
    self->grid = gtk_grid_new();
    // Inline beside crossline, above its time slice, in every language.
    gtk_widget_set_direction(self->grid, GTK_TEXT_DIR_LTR);
    gtk_grid_set_row_homogeneous(GTK_GRID(self->grid), TRUE);
    gtk_grid_set_column_homogeneous(GTK_GRID(self->grid), TRUE);
    gtk_overlay_set_child(GTK_OVERLAY(self->overlay), self->area);
    gtk_overlay_add_overlay(GTK_OVERLAY(self->overlay), self->grid);
    gtk_widget_set_parent(self->overlay, GTK_WIDGET(self));
    gtk_widget_add_css_class(GTK_WIDGET(self), "litho-canvas");
}

static void dispose(GObject *object)
{
    LithoCanvas *self = LITHO_CANVAS(object);
    g_clear_pointer(&self->overlay, gtk_widget_unparent); // unrealizes the area: textures go there
    g_clear_pointer(&self->input, litho_volume_free);
    g_clear_pointer(&self->output, litho_volume_free);
    g_clear_pointer(&self->parts_put, g_hash_table_unref);
    g_clear_pointer(&self->gl_name, g_free);
    g_clear_pointer(&self->identity, g_free);
    g_clear_object(&self->session);
    G_OBJECT_CLASS(litho_canvas_parent_class)->dispose(object);
}

static void litho_canvas_class_init(LithoCanvasClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(klass), GTK_TYPE_BIN_LAYOUT);
    g_signal_new("layout-changed", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                 G_TYPE_NONE, 0);
}

// Titles and axes are those of the new file at once; pictures of the former one must not stand
// under them until the first of the new one has been painted.
static void on_cube(LithoCanvas *self)
{
    LithoCube *cube = litho_session_input(self->session);
    const char *name = cube && cube->survey ? litho_survey_path(cube->survey)
                       : cube               ? cube->name
                                            : "";
    // A file that is read otherwise has other axes.
    g_autoptr(GString) identity = g_string_new(name);
    for (int k = 0; cube && k < 3; k++)
        g_string_append_printf(identity, " %" G_GINT64_FORMAT, cube->grid.axis[k].n);
    if (g_strcmp0(identity->str, self->identity) != 0) {
        g_free(self->identity);
        self->identity = g_strdup(identity->str);
        litho_canvas_blank(self);
    }
    follow_grid(self);
    redraw(self);
}

// Lines that were left out while the worker was at it.
static void on_progress(LithoCanvas *self)
{
    if (!litho_session_progress(self->session, NULL))
        redraw(self);
}

GtkWidget *litho_canvas_new(LithoSession *session, LithoJudgement *judgement)
{
    LithoCanvas *self = g_object_new(LITHO_TYPE_CANVAS, NULL);
    self->session = g_object_ref(session);
    make_views(self);
    for (int k = 0; judgement && k < LITHO_VIEW_SCENE; k++)
        litho_cube_view_set_judgement(self->views[k], judgement);
    static const char *const signals[] = {"flow-changed", "result", "slices-changed",
                                          "display-changed"};
    g_signal_connect_object(session, "result", G_CALLBACK(follow_grid), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(session, "display-changed", G_CALLBACK(follow_grid), self,
                            G_CONNECT_SWAPPED);
    for (guint k = 0; k < G_N_ELEMENTS(signals); k++)
        g_signal_connect_object(session, signals[k], G_CALLBACK(redraw), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(session, "cube-changed", G_CALLBACK(on_cube), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(session, "progress", G_CALLBACK(on_progress), self, G_CONNECT_SWAPPED);
    tell_visible(self);
    return GTK_WIDGET(self);
}
