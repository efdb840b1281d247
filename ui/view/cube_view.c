// SPDX-License-Identifier: GPL-3.0-or-later
//
// Drawing of a view. Mouse and keyboard: cube_view_input.c.
#include "core/axis_names.h"
#include "core/text.h"
#include "render/frame_cache.h"
#include "ui/view/cube_view_private.h"
#include "ui/view/medium_picture.h"
#include "ui/view/points_layer.h"
#include "ui/view/similarity_layer.h"
#include "ui/view/small_text.h"

#include <math.h>
#include <string.h>

G_DEFINE_TYPE(LithoCubeView, litho_cube_view, GTK_TYPE_WIDGET)

enum { PAD = 6 };

// "Inline section", "Shot section", "Time slice"; before there is a grid that of a survey.
// g_free().
static char *view_name(int axis, const LithoGrid *grid)
{
    if (axis == LITHO_VIEW_SCENE)
        return g_strdup(_("3-D scene"));
    if (axis == LITHO_SAMPLE)
        return g_strdup(grid && grid->is_depth ? _("Depth slice") : _("Time slice"));
    const LithoGrid survey = litho_grid_new(2, 2, 2);
    return g_strdup_printf(_("%s section"), litho_axis_name(grid ? grid : &survey, axis));
}

int litho_cube_view_axis(LithoCubeView *self)
{
    return self->axis;
}

// --- layout -------------------------------------------------------------------------------------

static LithoRect inset(double w, double h)
{
    return (LithoRect){PAD, PAD, MAX(w - 2 * PAD, 1), MAX(h - 2 * PAD, 1)};
}

// Beside a result of another kind the input keeps its own samples.
static void choose_grid(LithoCubeView *self, LithoViewPanel *panel, const LithoGrid *grid)
{
    LithoCube *input = litho_session_input(self->session);
    panel->of_input = panel->show == LITHO_SHOW_INPUT && input &&
                      litho_session_shown(self->session) == LITHO_SHOW_SIDE &&
                      !litho_grid_equal(&input->grid, grid);
    panel->grid = panel->of_input ? input->grid : *grid;
    panel->view = panel->of_input ? litho_session_input_view(self->session, self->axis)
                                  : litho_session_slice_view(self->session, self->axis);
}

// The numbers of one time axis stand once, left of both panels, whose sections stay equally wide.
static void share_upright(LithoCubeView *self, const LithoAxesStyle *style, gboolean bar,
                          LithoRect rects[2])
{
    LithoAxesStyle bare = *style;
    bare.beside = self->panel[1].beside = TRUE;
    const LithoRect with =
        litho_axes_layout(style, &self->panel[0].grid, self->axis, rects[0], FALSE).data;
    const LithoRect without =
        litho_axes_layout(&bare, &self->panel[1].grid, self->axis, rects[1], bar).data;
    const double move = floor((without.w - with.w) / 2);
    rects[0].w += move;
    rects[1].x += move;
    rects[1].w -= move;
}

// TRUE where titles need the room above the numbers of the upright axis: beside a result of another
// kind each panel has a name and a number to tell, and large letters cut the number of a slice.
static gboolean begins_left(LithoCubeView *self)
{
    const double large = 1.2;
    return self->panel[0].of_input || litho_text_scale(GTK_WIDGET(self)) > large;
}

void litho_cube_view_layout(LithoCubeView *self)
{
    LithoAxesStyle style = litho_cube_view_style(self);
    LithoRect area =
        inset(gtk_widget_get_width(GTK_WIDGET(self)), gtk_widget_get_height(GTK_WIDGET(self)));
    const LithoGrid *grid = litho_session_grid(self->session);
    self->n_panels = 0;
    if (!grid || area.w < 40 || area.h < 40)
        return;
    LithoShow show = litho_session_shown(self->session);
    gboolean bar = self->large || self->axis == LITHO_VIEW_SCENE;
    if (self->axis == LITHO_VIEW_SCENE) {
        self->panel[0].area = area;
        self->panel[0].show = show == LITHO_SHOW_SIDE ? LITHO_SHOW_OUTPUT : show;
        self->panel[0].frame = litho_axes_layout_scene(&style, area, bar);
        self->panel[0].grid = *grid;
        self->panel[0].of_input = FALSE;
        self->n_panels = 1;
        return;
    }
    LithoRect rects[2];
    LithoShow shows[2];
    self->n_panels = litho_show_panels(show, area, rects, shows);
    for (guint k = 0; k < self->n_panels; k++) {
        LithoViewPanel *panel = &self->panel[k];
        panel->show = shows[k];
        panel->beside = FALSE;
        choose_grid(self, panel, grid);
    }
    if (self->n_panels == 2 && !self->panel[0].of_input)
        share_upright(self, &style, bar, rects);
    for (guint k = 0; k < self->n_panels; k++) {
        LithoViewPanel *panel = &self->panel[k];
        panel->area = rects[k];
        style.beside = panel->beside;
        panel->frame = litho_axes_layout(&style, &panel->grid, self->axis, rects[k],
                                         bar && (panel->of_input || k + 1 == self->n_panels));
        panel->map = litho_slice_map(&panel->grid, &panel->view, panel->frame.data);
        if (begins_left(self)) {
            panel->frame.title.w += panel->frame.title.x - rects[k].x;
            panel->frame.title.x = rects[k].x;
        }
    }
}

void litho_cube_view_set_window(LithoCubeView *self, const LithoViewPanel *panel,
                                const LithoSliceView *view)
{
    LithoSliceView whole = *view;
    if (panel->of_input) {
        const int a = LITHO_SAMPLE;
        whole.lo[a] = litho_session_from_input(self->session, view->lo[a]);
        whole.hi[a] = litho_session_from_input(self->session, view->hi[a]);
        if (self->axis == a) { // the map does not touch the samples' window
            LithoSliceView shown = litho_session_slice_view(self->session, a);
            whole.lo[a] = shown.lo[a];
            whole.hi[a] = shown.hi[a];
        }
    }
    litho_session_set_window(self->session, whole.lo, whole.hi);
}

LithoViewPanel *litho_cube_view_panel_at(LithoCubeView *self, double x, double y)
{
    for (guint k = 0; k < self->n_panels; k++)
        if (litho_rect_contains(self->panel[k].frame.data, x, y))
            return &self->panel[k];
    return NULL;
}

// --- overlay ------------------------------------------------------------------------------------

// The cross-hair: thin and grey, with a dark halo, so that it is neither the divider nor a frame.
static void append_line(GtkSnapshot *snapshot, double x, double y, double w, double h)
{
    gtk_snapshot_append_color(snapshot, &(GdkRGBA){0, 0, 0, 0.30},
                              &GRAPHENE_RECT_INIT(x - 1, y - 1, w + 2, h + 2));
    gtk_snapshot_append_color(snapshot, &(GdkRGBA){0.78, 0.78, 0.78, 0.8},
                              &GRAPHENE_RECT_INIT(x, y, w, h));
}

static void append_cursor(GtkSnapshot *snapshot, const LithoSliceMap *map, const double at[3])
{
    const double gap = 8;
    double x, y;
    LithoRect r = map->rect;
    litho_slice_map_to_pixel(map, at, &x, &y);
    x = floor(x);
    y = floor(y);
    if (x >= r.x && x < r.x + r.w) {
        double above = CLAMP(y - gap - r.y, 0, r.h), below = CLAMP(r.y + r.h - y - gap, 0, r.h);
        append_line(snapshot, x, r.y, 1, above);
        append_line(snapshot, x, r.y + r.h - below, 1, below);
    }
    if (y >= r.y && y < r.y + r.h) {
        double left = CLAMP(x - gap - r.x, 0, r.w), right = CLAMP(r.x + r.w - x - gap, 0, r.w);
        append_line(snapshot, r.x, y, left, 1);
        append_line(snapshot, r.x + r.w - right, y, right, 1);
    }
}

// The diagonal of an area: black around white, seen on any colours.
static void append_diagonal(GtkSnapshot *snapshot, LithoRect r, int diagonal)
{
    if (diagonal == 0 || r.w < 2 || r.h < 2)
        return;
    cairo_t *cr = gtk_snapshot_append_cairo(snapshot, &GRAPHENE_RECT_INIT(r.x, r.y, r.w, r.h));
    for (int pass = 0; pass < 2; pass++) {
        cairo_set_line_width(cr, pass ? 1 : 3);
        cairo_set_source_rgba(cr, pass, pass, pass, pass ? 1 : 0.7);
        cairo_move_to(cr, r.x, diagonal > 0 ? r.y : r.y + r.h);
        cairo_line_to(cr, r.x + r.w, diagonal > 0 ? r.y + r.h : r.y);
        cairo_stroke(cr);
    }
    cairo_destroy(cr);
}

static void append_rubber(GtkSnapshot *snapshot, LithoRect r)
{
    gtk_snapshot_append_color(snapshot, &(GdkRGBA){1, 1, 1, 0.12},
                              &GRAPHENE_RECT_INIT(r.x, r.y, r.w, r.h));
    append_line(snapshot, r.x, r.y, r.w, 1);
    append_line(snapshot, r.x, r.y + r.h, r.w, 1);
    append_line(snapshot, r.x, r.y, 1, r.h);
    append_line(snapshot, r.x + r.w, r.y, 1, r.h);
}

// The area's rectangle on the section it belongs to.
static void append_area(LithoCubeView *self, GtkSnapshot *snapshot, const LithoViewPanel *panel)
{
    const LithoArea *area = litho_session_area(self->session);
    LithoRect r = panel->frame.data;
    double lo[3], hi[3], x0, y0, x1, y1;
    for (int a = 0; a < 3; a++) {
        lo[a] = area->box.lo[a] - 0.5;
        hi[a] = area->box.hi[a] - 0.5;
    }
    litho_slice_map_to_pixel(&panel->map, lo, &x0, &y0);
    litho_slice_map_to_pixel(&panel->map, hi, &x1, &y1);
    LithoRect box = {CLAMP(x0, r.x, r.x + r.w - 1), CLAMP(y0, r.y, r.y + r.h - 1), 0, 0};
    box.w = CLAMP(x1, r.x, r.x + r.w - 1) - box.x;
    box.h = CLAMP(y1, r.y, r.y + r.h - 1) - box.y;
    gtk_snapshot_append_color(snapshot, &(GdkRGBA){0, 0, 0, 0.10},
                              &GRAPHENE_RECT_INIT(box.x, box.y, box.w, box.h));
    // White dashes on black: seen on any colours, and no other line is dashed.
    cairo_t *cr = gtk_snapshot_append_cairo(
        snapshot, &GRAPHENE_RECT_INIT(box.x - 1, box.y - 1, box.w + 3, box.h + 3));
    for (int pass = 0; pass < 2; pass++) {
        cairo_set_line_width(cr, pass ? 1.5 : 3);
        cairo_set_dash(cr, (const double[]){6, 4}, pass ? 2 : 0, 0);
        cairo_set_source_rgba(cr, pass, pass, pass, pass ? 1 : 0.75);
        cairo_rectangle(cr, box.x + 0.5, box.y + 0.5, MAX(box.w, 1), MAX(box.h, 1));
        cairo_stroke(cr);
    }
    cairo_destroy(cr);
    append_diagonal(snapshot, box, area->diagonal);
}

// The map of the slice that is shown, as a picture; NULL = none is wanted, or there is none yet.
static GdkTexture *map_picture(LithoCubeView *self, const LithoViewPanel *panel)
{
    LithoCube *map = self->judgement ? litho_judgement_map(self->judgement, self->axis) : NULL;
    if (!map || !litho_grid_same_shape(&map->grid, &panel->grid))
        return NULL;
    if (map->serial != self->map_serial || panel->map.index != self->map_index) {
        g_clear_object(&self->map_picture);
        self->map_picture = litho_similarity_picture(map, &panel->map);
        self->map_serial = map->serial;
        self->map_index = panel->map.index;
    }
    return self->map_picture;
}

// The velocity over the section, where the flow tells one and a person wants it.
static void append_medium(LithoCubeView *self, GtkSnapshot *snapshot)
{
    LithoMedium *medium = litho_medium_of(self->session);
    if (self->axis == LITHO_VIEW_SCENE || litho_medium_opacity(medium) <= 0)
        return;
    g_autoptr(GdkTexture) picture = litho_medium_picture(medium, self->session, self->axis);
    for (guint k = 0; picture && k < self->n_panels; k++)
        if (!self->panel[k].of_input && self->panel[k].show != LITHO_SHOW_INPUT)
            litho_medium_append(snapshot, medium, picture, &self->panel[k].grid,
                                &self->panel[k].map);
}

static void append_maps(LithoCubeView *self, GtkSnapshot *snapshot)
{
    LithoAxesStyle style = litho_cube_view_style(self);
    for (guint k = 0; self->axis != LITHO_VIEW_SCENE && k < self->n_panels; k++) {
        const LithoViewPanel *panel = &self->panel[k];
        GdkTexture *picture =
            panel->show == LITHO_SHOW_INPUT || panel->of_input ? NULL : map_picture(self, panel);
        if (!picture)
            continue;
        litho_similarity_append(snapshot, picture, &panel->grid, &panel->map);
        litho_similarity_append_edges(snapshot, litho_judgement_map(self->judgement, self->axis),
                                      &panel->map);
        litho_similarity_append_legend(snapshot, &style, panel->frame.data,
                                       litho_judgement_map_is_beside(self->judgement, self->axis));
        litho_judgement_map_drawn(self->judgement);
    }
}

void litho_cube_view_set_judgement(LithoCubeView *self, LithoJudgement *judgement)
{
    g_set_object(&self->judgement, judgement);
    if (judgement)
        g_signal_connect_object(judgement, "changed", G_CALLBACK(gtk_widget_queue_draw), self,
                                G_CONNECT_SWAPPED);
}

static void snapshot_view(GtkWidget *widget, GtkSnapshot *snapshot)
{
    LithoCubeView *self = LITHO_CUBE_VIEW(widget);
    const LithoDisplay *d = litho_session_display(self->session);
    append_medium(self, snapshot);
    append_maps(self, snapshot);
    litho_cube_view_overlay_append(self, snapshot);
    for (guint k = 0; d->has_cursor && self->axis != LITHO_VIEW_SCENE && k < self->n_panels; k++) {
        double at[3] = {d->cursor[0], d->cursor[1], d->cursor[2]};
        if (self->panel[k].of_input) // the time that belongs to the depth under the pointer
            at[LITHO_SAMPLE] = litho_session_to_input(self->session, at[LITHO_SAMPLE]);
        append_cursor(snapshot, &self->panel[k].map, at);
    }
    const LithoAxesStyle style = litho_cube_view_style(self);
    for (guint k = 0; self->axis != LITHO_VIEW_SCENE && k < self->n_panels; k++)
        if (!self->panel[k].of_input)
            litho_points_append(snapshot, litho_points_of(self->session), &style,
                                &self->panel[k].map);
    const LithoArea *area = litho_session_area(self->session);
    for (guint k = 0; area->on && area->axis == self->axis && k < self->n_panels; k++)
        if (!self->panel[k].of_input && self->rubber.w <= 0)
            append_area(self, snapshot, &self->panel[k]);
    if (self->rubber.w > 0 && self->rubber.h > 0)
        append_rubber(snapshot, self->rubber);
    if (self->rubber.w > 0 && self->rubber.h > 0)
        append_diagonal(snapshot, self->rubber, self->diagonal);
}

// --- samples ------------------------------------------------------------------------------------

LithoSceneView litho_cube_view_scene(LithoCubeView *self)
{
    const LithoDisplay *d = litho_session_display(self->session);
    LithoSceneView scene = d->scene;
    for (int a = 0; a < 3; a++)
        scene.index[a] = d->slice[a];
    scene.text = MAX(litho_text_scale(GTK_WIDGET(self)), 1);
    return scene;
}

static LithoRect moved(LithoRect rect, double x, double y)
{
    return (LithoRect){rect.x + x, rect.y + y, rect.w, rect.h};
}

void litho_cube_view_draw(LithoCubeView *self, LithoRenderer *renderer, const LithoTarget *target,
                          double x, double y, const LithoVolume *input, const LithoVolume *output)
{
    for (guint k = 0; k < self->n_panels; k++) {
        const LithoViewPanel *panel = &self->panel[k];
        LithoRect rect = moved(panel->frame.data, x, y);
        LithoLook look = litho_session_look_for(self->session, panel->show);
        if (self->axis == LITHO_VIEW_SCENE) {
            LithoSceneDraw draw = {.input = input,
                                   .output = output,
                                   .grid = &panel->grid,
                                   .view = litho_cube_view_scene(self),
                                   .look = look,
                                   .show = panel->show,
                                   .rect = rect};
            litho_renderer_draw_scene(renderer, target, &draw);
        } else {
            LithoSliceDraw draw = {.input = input,
                                   .output = output,
                                   .grid = &panel->grid,
                                   .view = panel->view,
                                   .look = look,
                                   .show = panel->show,
                                   .rect = rect,
                                   .units = litho_session_display(self->session)->units};
            LithoBox slice = litho_box_slice(&panel->grid, self->axis, panel->view.index);
            if (panel->show == LITHO_SHOW_OUTPUT && litho_session_is_paged(self->session) &&
                !litho_volume_has(output, slice)) {
                LithoSliceDraw below = draw; // until the result lies over it; a note says so
                below.show = LITHO_SHOW_INPUT;
                below.look.grid_lines = FALSE;
                litho_renderer_draw_slice(renderer, target, &below);
                draw.over = TRUE;
            }
            litho_renderer_draw_slice(renderer, target, &draw);
        }
    }
}

guint64 litho_cube_view_hash(LithoCubeView *self)
{
    guint64 hash = litho_hash_bytes(LITHO_HASH_BEGIN, &self->n_panels, sizeof self->n_panels);
    for (guint k = 0; k < self->n_panels; k++) {
        const LithoViewPanel *panel = &self->panel[k];
        LithoLook look = litho_session_look_for(self->session, panel->show);
        hash = litho_hash_bytes(hash, &panel->show, sizeof panel->show);
        hash = litho_hash_bytes(hash, &panel->frame.data, sizeof panel->frame.data);
        hash = litho_hash_bytes(hash, &panel->grid, sizeof panel->grid);
        hash = litho_hash_bytes(hash, &look, sizeof look);
        if (self->axis == LITHO_VIEW_SCENE) {
            LithoSceneView scene = litho_cube_view_scene(self);
            hash = litho_hash_bytes(hash, &scene, sizeof scene);
        } else {
            const LithoUnits units = litho_session_display(self->session)->units;
            hash = litho_hash_bytes(hash, &panel->view, sizeof panel->view);
            hash = litho_hash_bytes(hash, &units, sizeof units); // of the grid lines
        }
    }
    return hash;
}

// --- accessibility ------------------------------------------------------------------------------

// The sample that the pixel at the cursor shows; in two panels and beside the divider the output's.
static gboolean shown_sample(LithoSession *session, const gint64 at[3], double *value)
{
    const LithoShow show = litho_session_shown(session);
    float in = 0, out = 0;
    if ((show == LITHO_SHOW_INPUT || show == LITHO_SHOW_REMOVED) &&
        !litho_session_sample(session, FALSE, at, &in))
        return FALSE;
    if (show != LITHO_SHOW_INPUT && !litho_session_sample(session, TRUE, at, &out))
        return FALSE;
    const double removed = (double)in - out; // less what was left, or of a reference the error
    *value = show == LITHO_SHOW_INPUT     ? in
             : show != LITHO_SHOW_REMOVED ? out
             : litho_session_reference_name(session) ? -removed
                                                     : removed;
    return TRUE;
}

// Description of the view for a screen reader: where it is, what it shows, what lies under the
// cursor.
static void describe(LithoCubeView *self)
{
    const LithoGrid *grid = litho_session_grid(self->session);
    const LithoDisplay *d = litho_session_display(self->session);
    if (!grid)
        return;
    g_autofree char *name = view_name(self->axis, grid);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    GString *text = g_string_new(NULL);
    if (self->axis != LITHO_VIEW_SCENE) {
        g_autofree char *label = litho_cube_view_title(self, grid, d->slice[self->axis]);
        label[0] = g_ascii_tolower(label[0]);
        g_string_append_printf(text, "%s, ", label);
    }
    g_autofree char *shown =
        litho_session_show_label(self->session, litho_session_shown(self->session));
    g_string_append(text, shown);
    if (d->has_cursor) {
        gint64 at[3];
        double value;
        for (int a = 0; a < 3; a++)
            at[a] = CLAMP(llround(d->cursor[a]), 0, grid->axis[a].n - 1);
        if (shown_sample(self->session, at, &value)) {
            g_autofree char *amplitude = litho_format_amplitude(value);
            g_string_append_printf(text, _(", amplitude %s at the cursor"), amplitude);
        }
    }
    gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                   text->str, -1);
    g_string_free(text, TRUE);
}

// --- changes ------------------------------------------------------------------------------------

// Turning the scene changes nothing about the sections, a clip nothing about their axes: text is
// drawn again only where it may differ.
static void changed(LithoCubeView *self)
{
    litho_cube_view_layout(self);
    describe(self);
    if (litho_cube_view_overlay_update(self))
        gtk_widget_queue_draw(GTK_WIDGET(self));
}

// The time of a depth may be known only now.
static void report_changed(LithoCubeView *self)
{
    if (self->n_panels == 2 && self->panel[0].of_input)
        changed(self);
}

// The title names what lies over the section.
static void medium_changed(LithoCubeView *self)
{
    changed(self);
    gtk_widget_queue_draw(GTK_WIDGET(self));
}

static void cursor_moved(LithoCubeView *self)
{
    describe(self);
    gtk_widget_queue_draw(GTK_WIDGET(self));
}

void litho_cube_view_set_covered(LithoCubeView *self, double width)
{
    if (self->covered == width)
        return;
    self->covered = width;
    gtk_widget_queue_draw(GTK_WIDGET(self));
}

void litho_cube_view_set_large(LithoCubeView *self, gboolean large)
{
    if (self->large == large)
        return;
    self->large = large;
    changed(self);
}

static void size_allocate(GtkWidget *widget, int width, int height, int baseline)
{
    (void)width;
    (void)height;
    (void)baseline;
    changed(LITHO_CUBE_VIEW(widget));
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

static void dispose(GObject *object)
{
    LithoCubeView *self = LITHO_CUBE_VIEW(object);
    litho_cube_view_overlay_clear(self);
    g_clear_object(&self->map_picture);
    g_clear_object(&self->judgement);
    g_clear_object(&self->session);
    G_OBJECT_CLASS(litho_cube_view_parent_class)->dispose(object);
}

static void litho_cube_view_init(LithoCubeView *self)
{
    gtk_widget_set_direction(GTK_WIDGET(self), GTK_TEXT_DIR_LTR); // in every language
    gtk_widget_set_focusable(GTK_WIDGET(self), TRUE);
    gtk_widget_set_hexpand(GTK_WIDGET(self), TRUE);
    gtk_widget_set_vexpand(GTK_WIDGET(self), TRUE);
    gtk_widget_add_css_class(GTK_WIDGET(self), "litho-view");
}

static void litho_cube_view_class_init(LithoCubeViewClass *klass)
{
    GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(klass);
    G_OBJECT_CLASS(klass)->dispose = dispose;
    widget_class->snapshot = snapshot_view;
    widget_class->size_allocate = size_allocate;
    widget_class->measure = measure;
    gtk_widget_class_set_css_name(widget_class, "cubeview");
    gtk_widget_class_set_accessible_role(widget_class, GTK_ACCESSIBLE_ROLE_IMG);
    g_signal_new("maximise", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                 G_TYPE_NONE, 0);
}

GtkWidget *litho_cube_view_new(LithoSession *session, int axis)
{
    LithoCubeView *self = g_object_new(LITHO_TYPE_CUBE_VIEW, NULL);
    self->session = g_object_ref(session);
    self->axis = axis;
    g_autofree char *name = view_name(axis, litho_session_grid(session));
    gtk_accessible_update_property(GTK_ACCESSIBLE(self), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    static const char *const signals[] = {"cube-changed",   "flow-changed",    "result",
                                          "slices-changed", "display-changed", "stats-changed"};
    for (guint k = 0; k < G_N_ELEMENTS(signals); k++)
        g_signal_connect_object(session, signals[k], G_CALLBACK(changed), self, G_CONNECT_SWAPPED);
    g_signal_connect_object(session, "area-changed", G_CALLBACK(gtk_widget_queue_draw), self,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(session, "report-changed", G_CALLBACK(report_changed), self,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(session, "cursor-changed", G_CALLBACK(cursor_moved), self,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(litho_medium_of(session), "changed", G_CALLBACK(medium_changed), self,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(litho_points_of(session), "changed", G_CALLBACK(gtk_widget_queue_draw),
                            self, G_CONNECT_SWAPPED);
    litho_cube_view_input_init(self);
    return GTK_WIDGET(self);
}
