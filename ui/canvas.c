// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas.h"

#include "render/frame-cache.h"
#include "ui/gl_pane.h"

#include <string.h>

enum { LITHO_N_SPACES = 2 };

// Time for textures that nobody sees yet, in each frame.
#define FILL_BUDGET_MS 4.0
// A cube beyond memory has no texture of the whole either.
enum { SLICES_ONLY = 1 };

struct _LithoCanvas {
    GtkWidget parent;
    LithoSession *session;
    GtkWidget *overlay, *area, *grid;
    LithoCubeView *views[LITHO_N_VIEWS];
    GtkWidget *cell, *model; // the 3-D panel: the scene of the data, or the operators' model
    GtkWidget *switches, *button[1 + LITHO_N_SPACES]; // data, then one per LithoSpace
    int wanted_space; // of the model; -1 = the data
    int maximised;

    LithoRenderer *renderer;
    LithoFrameCache *cache; // lives with the renderer
    guint64 layout;         // hash of where the views lie in the cache
    guint first_view;       // whose turn it is when a frame has not time for all
    gboolean unfinished;    // views wait for the next frame
    guint64 paints[LITHO_N_VIEWS + 1];
    LithoVolume *input, *output;
    guint64 input_serial, generation; // what was put into the volumes
    guint64 result_tag;
    guint64 newest_page, pages_dropped; // slices of a cube beyond memory
    char *gl_name;
    gboolean failed;
    guint fill_tick; // runs while textures are not whole
    gboolean drew;   // since the frame clock's last after-paint
    double draw_ms;
    guint64 frames;
    gulong after_paint;
    GdkFrameClock *clock;
};

G_DEFINE_TYPE(LithoCanvas, litho_canvas, GTK_TYPE_WIDGET)

// --- what has to be in the textures -------------------------------------------------------------

static void put_input(LithoCanvas *self)
{
    LithoCube *cube = litho_session_against(self->session);
    guint64 serial = cube ? cube->serial : 0, stamp, dropped;
    const GPtrArray *pages = litho_session_pages(self->session, &stamp, &dropped);
    if (serial != self->input_serial || dropped != self->pages_dropped) {
        self->input_serial = serial;
        self->pages_dropped = dropped;
        self->newest_page = 0;
        litho_volume_clear(self->input);
        litho_volume_set_budget(self->input, pages ? SLICES_ONLY : 0);
        litho_volume_set_budget(self->output, pages ? SLICES_ONLY : 0);
        if (cube)
            litho_volume_put(self->input, cube);
    }
    guint64 newest = self->newest_page;
    for (guint k = 0; pages && k < pages->len; k++) {
        LithoCube *page = g_ptr_array_index(pages, k);
        if (page->serial > self->newest_page)
            litho_volume_put(self->input, page);
        newest = MAX(newest, page->serial);
    }
    self->newest_page = newest;
}

static void put_result(LithoCanvas *self)
{
    const LithoResult *result = litho_session_result(self->session);
    if (!result) {
        if (self->generation != 0)
            litho_volume_clear(self->output);
        self->generation = 0;
        return;
    }
    if (result->generation == self->generation)
        return;
    if (result->tag != self->result_tag)
        litho_volume_begin(self->output);
    self->result_tag = result->tag;
    self->generation = result->generation;
    for (guint k = 0; k < result->parts->len; k++)
        litho_volume_put(self->output, g_ptr_array_index(result->parts, k));
}

// Boxes of the slices on screen; of the input they may be others than of the result.
static guint visible_boxes(LithoCanvas *self, gboolean of_input, LithoBox boxes[3])
{
    const LithoGrid *grid = litho_session_grid(self->session);
    const LithoDisplay *d = litho_session_display(self->session);
    LithoCube *input = litho_session_input(self->session);
    gint64 sample = d->slice[LITHO_SAMPLE];
    if (of_input && input && litho_session_side_by_side(self->session)) {
        grid = &input->grid;
        sample = litho_session_input_view(self->session, LITHO_SAMPLE).index;
    }
    if (!grid)
        return 0;
    gboolean scene = self->maximised < 0 || self->maximised == LITHO_VIEW_SCENE;
    guint n = 0;
    for (int a = 0; a < 3; a++)
        if (scene || self->maximised == a)
            boxes[n++] = litho_box_slice(grid, a, a == LITHO_SAMPLE ? sample : d->slice[a]);
    return n;
}

static void tell_visible(LithoCanvas *self)
{
    int axes[3], n = 0;
    LithoCubeView *active = litho_canvas_active_view(self);
    int first = active ? litho_cube_view_axis(active) : 0;
    gboolean all = self->maximised < 0 || self->maximised == LITHO_VIEW_SCENE;
    if (first < 3 && (all || self->maximised == first))
        axes[n++] = first;
    for (int a = 0; a < 3; a++)
        if (a != first && all)
            axes[n++] = a;
    litho_session_set_visible(self->session, n, axes);
}

// --- painting -----------------------------------------------------------------------------------

static gboolean keep_filling(GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
    (void)clock;
    (void)data;
    LithoCanvas *self = LITHO_CANVAS(widget);
    self->fill_tick = 0;
    gtk_gl_area_queue_render(GTK_GL_AREA(self->area));
    return G_SOURCE_REMOVE;
}

static void fill_textures(LithoCanvas *self)
{
    LithoBox boxes[3];
    double start = litho_now_ms();
    put_input(self);
    put_result(self);
    guint n = visible_boxes(self, TRUE, boxes);
    gboolean whole = litho_volume_update(self->input, boxes, n, FILL_BUDGET_MS);
    n = visible_boxes(self, FALSE, boxes);
    whole &= litho_volume_update(self->output, boxes, n, FILL_BUDGET_MS);
    litho_timings_add(litho_session_display_timings(self->session), "texture",
                      LITHO_STAGE_DISPLAY, litho_now_ms() - start, 0, 0);
    if (!whole && self->fill_tick == 0)
        self->fill_tick = gtk_widget_add_tick_callback(GTK_WIDGET(self), keep_filling, NULL, NULL);
}

// Where a view that is on screen lies in the area.
static gboolean place_of(LithoCanvas *self, GtkWidget *view, double *x, double *y)
{
    return gtk_widget_get_mapped(view) &&
           gtk_widget_translate_coordinates(view, self->area, 0, 0, x, y);
}

enum { MODEL = LITHO_N_VIEWS, N_PAINTED }; // the model's place behind the views of the data

// A rasteriser on the CPU keeps the window from answering while it paints: after this time the rest
// waits for the next frame.
static const double software_budget_ms = 12;

static GtkWidget *painted_widget(LithoCanvas *self, guint k)
{
    return k == MODEL ? self->model : GTK_WIDGET(self->views[k]);
}

// What the samples in the textures are; differs after every upload.
static guint64 hash_of_samples(LithoCanvas *self)
{
    LithoVolumeInfo info[2];
    litho_volume_info(self->input, &info[0]);
    litho_volume_info(self->output, &info[1]);
    guint64 parts[] = {self->input_serial,  self->generation,      info[0].layout,
                       info[0].host_bytes,  info[0].shared_bytes,  info[1].layout,
                       info[1].host_bytes,  info[1].shared_bytes};
    return litho_hash_bytes(LITHO_HASH_BEGIN, parts, sizeof parts);
}

// Where each view lies; a change (maximise, fold, another size) empties the picture.
static guint64 hash_of_layout(LithoCanvas *self, LithoRect rects[N_PAINTED])
{
    for (guint k = 0; k < N_PAINTED; k++) {
        GtkWidget *view = painted_widget(self, k);
        double x, y;
        rects[k] = (LithoRect){0};
        if (place_of(self, view, &x, &y))
            rects[k] = (LithoRect){x, y, gtk_widget_get_width(view), gtk_widget_get_height(view)};
    }
    return litho_hash_bytes(LITHO_HASH_BEGIN, rects, N_PAINTED * sizeof *rects);
}

static void paint_view(LithoCanvas *self, guint k, const LithoTarget *target, LithoRect r)
{
    litho_renderer_clear_rect(self->renderer, target, r,
                              litho_session_display(self->session)->look.background);
    if (k == MODEL)
        litho_model_view_draw(LITHO_MODEL_VIEW(self->model), self->renderer, target, r.x, r.y);
    else
        litho_cube_view_draw(self->views[k], self->renderer, target, r.x, r.y, self->input,
                             self->output);
}

// What was painted of one view, as a picture for the pane.
static void show_picture(LithoCanvas *self, guint k, const LithoTarget *target, LithoRect rect)
{
    cairo_surface_t *picture = litho_frame_cache_read(self->cache, target, rect);
    litho_gl_pane_show(LITHO_GL_PANE(self->area), k, picture, rect);
    if (picture)
        cairo_surface_destroy(picture);
}

// Paints the views that have changed. With a rasteriser on the CPU as many as there is time for, each
// frame beginning with another one.
static void paint_stale(LithoCanvas *self, const LithoTarget *target,
                        const LithoRect rects[N_PAINTED])
{
    gboolean slow = litho_renderer_is_software(self->renderer);
    guint64 samples = hash_of_samples(self);
    double start = litho_now_ms();
    guint first = self->first_view;
    self->unfinished = FALSE;
    for (guint n = 0; n < N_PAINTED; n++) {
        guint k = (first + n) % N_PAINTED;
        if (rects[k].w <= 0)
            continue;
        guint64 own = k == MODEL ? litho_model_view_hash(LITHO_MODEL_VIEW(self->model))
                                 : litho_cube_view_hash(self->views[k]);
        guint64 hash = litho_hash_bytes(samples, &own, sizeof own);
        if (!litho_frame_cache_stale(self->cache, k, hash))
            continue;
        if (slow && litho_now_ms() - start > software_budget_ms) {
            if (!self->unfinished)
                self->first_view = k;
            self->unfinished = TRUE;
            continue;
        }
        paint_view(self, k, target, rects[k]);
        litho_frame_cache_painted(self->cache, k, hash);
        self->paints[k]++;
        if (slow)
            show_picture(self, k, target, rects[k]);
    }
}

static gboolean on_render(GtkGLArea *area, GdkGLContext *context, LithoCanvas *self)
{
    (void)context;
    if (!self->renderer)
        return FALSE;
    double start = litho_now_ms();
    LithoTarget target = {gtk_widget_get_width(GTK_WIDGET(area)),
                          gtk_widget_get_height(GTK_WIDGET(area)),
                          gtk_widget_get_scale_factor(GTK_WIDGET(area))};
    LithoRect rects[N_PAINTED];
    guint64 layout = hash_of_layout(self, rects);
    fill_textures(self);
    gboolean fresh = litho_frame_cache_begin(self->cache, &target);
    gboolean slow = litho_renderer_is_software(self->renderer);
    if (fresh || layout != self->layout) {
        for (guint k = 0; slow && k < N_PAINTED; k++)
            litho_gl_pane_show(LITHO_GL_PANE(area), k, NULL, rects[k]);
        litho_frame_cache_forget(self->cache);
        litho_renderer_clear(self->renderer, &target,
                             litho_session_display(self->session)->look.background);
    }
    self->layout = layout;
    paint_stale(self, &target, rects);
    if (slow)
        litho_frame_cache_leave(self->cache);
    else
        litho_frame_cache_end(self->cache);
    if (self->unfinished && self->fill_tick == 0)
        self->fill_tick = gtk_widget_add_tick_callback(GTK_WIDGET(self), keep_filling, NULL, NULL);
    self->draw_ms = litho_now_ms() - start;
    self->drew = !self->unfinished;
    self->frames++;
    return TRUE;
}

// The frame is on its way to the screen: the picture belongs to the newest result now.
static void on_after_paint(GdkFrameClock *clock, LithoCanvas *self)
{
    (void)clock;
    if (!self->drew)
        return;
    self->drew = FALSE;
    litho_session_drawn(self->session, self->draw_ms);
}

static void on_realize(GtkGLArea *area, LithoCanvas *self)
{
    g_autoptr(GError) error = NULL;
    gtk_gl_area_make_current(area);
    const GError *trouble = gtk_gl_area_get_error(area);
    if (!trouble)
        self->renderer = litho_renderer_new(&error);
    if (self->renderer)
        self->cache = litho_frame_cache_new();
    litho_gl_pane_set_pictures(LITHO_GL_PANE(area),
                               self->renderer && litho_renderer_is_software(self->renderer));
    g_free(self->gl_name);
    self->failed = !self->renderer;
    self->gl_name = g_strdup(self->renderer ? litho_renderer_name(self->renderer)
                             : trouble      ? trouble->message
                                            : error->message);
    if (!trouble && error)
        gtk_gl_area_set_error(area, error); // shown in place of the picture
    self->clock = g_object_ref(gtk_widget_get_frame_clock(GTK_WIDGET(area)));
    self->after_paint =
        g_signal_connect(self->clock, "after-paint", G_CALLBACK(on_after_paint), self);
}

static void on_unrealize(GtkGLArea *area, LithoCanvas *self)
{
    gtk_gl_area_make_current(area);
    if (!gtk_gl_area_get_error(area) && self->renderer) {
        litho_volume_release(self->input);
        litho_volume_release(self->output);
    }
    g_clear_pointer(&self->cache, litho_frame_cache_free);
    g_clear_pointer(&self->renderer, litho_renderer_free);
    g_clear_signal_handler(&self->after_paint, self->clock);
    g_clear_object(&self->clock);
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
    return self->views[0];
}

int litho_canvas_maximised(LithoCanvas *self)
{
    return self->maximised;
}

void litho_canvas_maximise(LithoCanvas *self, int axis)
{
    self->maximised = axis;
    for (int k = 0; k < LITHO_N_VIEWS; k++) {
        gtk_widget_set_visible(k == LITHO_VIEW_SCENE ? self->cell : GTK_WIDGET(self->views[k]),
                               axis < 0 || axis == k);
        litho_cube_view_set_large(self->views[k], axis == k);
    }
    litho_model_view_set_large(LITHO_MODEL_VIEW(self->model), axis == LITHO_VIEW_SCENE);
    if (axis >= 0)
        gtk_widget_grab_focus(axis == LITHO_VIEW_SCENE && litho_canvas_model(self)
                                  ? self->model
                                  : GTK_WIDGET(self->views[axis]));
    tell_visible(self);
    redraw(self);
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
        gtk_widget_grab_focus(space >= 0 ? self->model
                                         : GTK_WIDGET(self->views[LITHO_VIEW_SCENE]));
    gboolean any = FALSE;
    for (int k = 0; k < LITHO_N_SPACES; k++) {
        gtk_widget_set_visible(self->button[1 + k], has_space(self, k));
        any = any || has_space(self, k);
    }
    gtk_widget_set_visible(self->switches, any);
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
    int space = litho_canvas_model(self) ? self->wanted_space : -1;
    do
        space = space + 1 < LITHO_N_SPACES ? space + 1 : -1;
    while (!has_space(self, space));
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
    static const char *const tips[] = {"Slices of the data (M)",
                                       "Model: what the operator works with, in metres (M)",
                                       "Boxes of the transform in frequency (M)"};
    self->switches = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    gtk_widget_add_css_class(self->switches, "linked");
    gtk_widget_add_css_class(self->switches, "litho-switch");
    gtk_widget_set_halign(self->switches, GTK_ALIGN_START);
    gtk_widget_set_valign(self->switches, GTK_ALIGN_START);
    for (int k = 0; k <= LITHO_N_SPACES; k++) {
        self->button[k] =
            gtk_toggle_button_new_with_label(k == 0 ? "Data" : litho_space_name(k - 1));
        gtk_widget_set_tooltip_text(self->button[k], tips[k]);
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
    self->maximised = -1;
    self->wanted_space = -1;
    self->input = litho_volume_new();
    self->output = litho_volume_new();
    self->overlay = gtk_overlay_new();
    self->area = litho_gl_pane_new();
    gtk_gl_area_set_required_version(GTK_GL_AREA(self->area), 3, 2);
    gtk_gl_area_set_has_depth_buffer(GTK_GL_AREA(self->area), TRUE);
    gtk_gl_area_set_auto_render(GTK_GL_AREA(self->area), FALSE);
    gtk_widget_set_can_target(self->area, FALSE);
    gtk_accessible_update_state(GTK_ACCESSIBLE(self->area), GTK_ACCESSIBLE_STATE_HIDDEN, TRUE, -1);
    g_signal_connect(self->area, "realize", G_CALLBACK(on_realize), self);
    g_signal_connect(self->area, "unrealize", G_CALLBACK(on_unrealize), self);
    g_signal_connect(self->area, "render", G_CALLBACK(on_render), self);
    g_signal_connect_swapped(self->area, "resize", G_CALLBACK(redraw), self);
    self->grid = gtk_grid_new();
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
    g_clear_pointer(&self->gl_name, g_free);
    g_clear_object(&self->session);
    G_OBJECT_CLASS(litho_canvas_parent_class)->dispose(object);
}

static void litho_canvas_class_init(LithoCanvasClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(klass), GTK_TYPE_BIN_LAYOUT);
}

GtkWidget *litho_canvas_new(LithoSession *session)
{
    LithoCanvas *self = g_object_new(LITHO_TYPE_CANVAS, NULL);
    self->session = g_object_ref(session);
    make_views(self);
    static const char *const signals[] = {"cube-changed", "flow-changed", "result",
                                          "slices-changed", "display-changed"};
    for (guint k = 0; k < G_N_ELEMENTS(signals); k++)
        g_signal_connect_object(session, signals[k], G_CALLBACK(redraw), self, G_CONNECT_SWAPPED);
    tell_visible(self);
    return GTK_WIDGET(self);
}
