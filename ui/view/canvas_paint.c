// SPDX-License-Identifier: GPL-3.0-or-later
//
// Textures that the canvas keeps, and the painting of its frames.
#include "ui/view/canvas_private.h"
#include "ui/view/gl_pane.h"

#include <string.h>

#include "core/phases.h"

// Time for textures that nobody sees yet, in each frame.
#define FILL_BUDGET_MS 4.0
// Time for telling a software OpenGL what to paint; a view that needs a new shader takes all of it.
#define PAINT_BUDGET_MS 6.0
// A cube beyond memory has no texture of the whole either.
enum { SLICES_ONLY = 1 };

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
    if (result->tag != self->result_tag) {
        litho_volume_begin(self->output);
        g_hash_table_remove_all(self->parts_put);
    }
    self->result_tag = result->tag;
    self->generation = result->generation;
    // Results grow view by view: parts of an earlier result of this wish are in the volume already.
    // Serials tell parts apart and no more: an operator makes its output first and the partial
    // cubes it shows meanwhile after it, so the last cube to arrive may have the least serial.
    for (guint k = 0; k < result->parts->len; k++) {
        LithoCube *part = g_ptr_array_index(result->parts, k);
        gint64 serial = (gint64)part->serial;
        if (g_hash_table_add(self->parts_put, g_memdup2(&serial, sizeof serial)))
            litho_volume_put(self->output, part);
    }
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

static guint64 bytes_copied(LithoCanvas *self)
{
    LithoVolumeInfo in, out;
    litho_volume_info(self->input, &in);
    litho_volume_info(self->output, &out);
    return in.host_bytes + in.shared_bytes + out.host_bytes + out.shared_bytes;
}

static void fill_textures(LithoCanvas *self)
{
    LithoBox boxes[3];
    double start = litho_now_ms();
    const char *around = litho_phase_begin("samples into textures");
    guint64 before = bytes_copied(self);
    put_input(self);
    put_result(self);
    guint n = visible_boxes(self, TRUE, boxes);
    gboolean whole = litho_volume_update(self->input, boxes, n, FILL_BUDGET_MS);
    n = visible_boxes(self, FALSE, boxes);
    whole &= litho_volume_update(self->output, boxes, n, FILL_BUDGET_MS);
    if (!litho_session_progress(self->session, NULL)) { // nothing follows that would paint them
        litho_volume_count_lines(self->input);
        litho_volume_count_lines(self->output);
    }
    if (bytes_copied(self) != before)
        litho_timings_add(litho_session_display_timings(self->session), "texture",
                          LITHO_STAGE_DISPLAY, litho_now_ms() - start, 0, 0);
    litho_phase_end(around);
    if (!whole)
        litho_canvas_want_frame(self);
}

// --- what has changed ---------------------------------------------------------------------------

static gboolean next_frame(GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
    (void)clock;
    (void)data;
    LithoCanvas *self = LITHO_CANVAS(widget);
    self->fill_tick = 0;
    gtk_gl_area_queue_render(GTK_GL_AREA(self->area));
    return G_SOURCE_REMOVE;
}

void litho_canvas_want_frame(LithoCanvas *self)
{
    if (self->fill_tick == 0)
        self->fill_tick = gtk_widget_add_tick_callback(GTK_WIDGET(self), next_frame, NULL, NULL);
}

// Place in the area of a view that is on screen.
static gboolean place_of(LithoCanvas *self, GtkWidget *view, double *x, double *y)
{
    return gtk_widget_get_mapped(view) &&
           gtk_widget_translate_coordinates(view, self->area, 0, 0, x, y);
}

// Stamps of the samples that a view shows; the scene and the model take all slices.
static guint64 hash_of_samples(LithoCanvas *self, guint view)
{
    guint64 hash = LITHO_HASH_BEGIN;
    for (int axis = 0; axis < 3; axis++) {
        if (view < 3 && (int)view != axis)
            continue;
        guint64 stamps[] = {litho_volume_stamp(self->input, axis),
                            litho_volume_stamp(self->output, axis)};
        hash = litho_hash_bytes(hash, stamps, sizeof stamps);
    }
    return hash;
}

// Hash of the views' places; a change (maximise, fold, another size) empties the picture.
static guint64 hash_of_layout(LithoCanvas *self, LithoRect rects[LITHO_N_PAINTED])
{
    for (guint k = 0; k < LITHO_N_PAINTED; k++) {
        GtkWidget *view = k == LITHO_PAINTED_MODEL ? self->model : GTK_WIDGET(self->views[k]);
        double x, y;
        rects[k] = (LithoRect){0};
        if (place_of(self, view, &x, &y))
            rects[k] = (LithoRect){x, y, gtk_widget_get_width(view), gtk_widget_get_height(view)};
    }
    return litho_hash_bytes(LITHO_HASH_BEGIN, rects, LITHO_N_PAINTED * sizeof *rects);
}

static gboolean is_stale(LithoCanvas *self, guint k, guint64 *hash)
{
    guint64 samples = hash_of_samples(self, k);
    guint64 own = k == LITHO_PAINTED_MODEL ? litho_model_view_hash(LITHO_MODEL_VIEW(self->model))
                                           : litho_cube_view_hash(self->views[k]);
    *hash = litho_hash_bytes(samples, &own, sizeof own);
    return litho_frame_cache_stale(self->cache, k, *hash);
}

// --- painting -----------------------------------------------------------------------------------

static LithoTarget target_of(LithoCanvas *self)
{
    return (LithoTarget){gtk_widget_get_width(self->area), gtk_widget_get_height(self->area),
                         gtk_widget_get_scale_factor(self->area)};
}

static void paint_view(LithoCanvas *self, guint k, const LithoTarget *target, LithoRect r)
{
    litho_renderer_clear_rect(self->renderer, target, r,
                              litho_session_display(self->session)->look.background);
    if (k == LITHO_PAINTED_MODEL)
        litho_model_view_draw(LITHO_MODEL_VIEW(self->model), self->renderer, target, r.x, r.y);
    else
        litho_cube_view_draw(self->views[k], self->renderer, target, r.x, r.y, self->input,
                             self->output);
}

// Paints the views that have changed into the cache, which stays bound; `painted` says which. What
// there was no time for, `budget_ms` after the begin, comes first in the next frame. Returns how
// many.
static guint paint_stale(LithoCanvas *self, const LithoTarget *target, double budget_ms,
                         LithoRect rects[LITHO_N_PAINTED], gboolean painted[LITHO_N_PAINTED])
{
    guint64 layout = hash_of_layout(self, rects), hash;
    double start = litho_now_ms();
    guint n = 0, first = self->first_view;
    self->frame.begin_ms = start;
    fill_textures(self);
    self->frame.filled_ms = litho_now_ms();
    if (litho_frame_cache_begin(self->cache, target) || layout != self->layout) {
        litho_frame_cache_forget(self->cache);
        litho_renderer_clear(self->renderer, target,
                             litho_session_display(self->session)->look.background);
    }
    self->layout = layout;
    self->unfinished = FALSE;
    for (guint turn = 0; turn < LITHO_N_PAINTED; turn++) {
        guint k = (first + turn) % LITHO_N_PAINTED;
        painted[k] = rects[k].w > 0 && is_stale(self, k, &hash);
        if (!painted[k])
            continue;
        if (n > 0 && litho_now_ms() - start > budget_ms) {
            if (!self->unfinished)
                self->first_view = k;
            self->unfinished = TRUE;
            painted[k] = FALSE;
            continue;
        }
        const char *around = litho_phase_begin("views");
        paint_view(self, k, target, rects[k]);
        litho_phase_end(around);
        litho_frame_cache_painted(self->cache, k, hash);
        self->paints[k]++;
        n++;
    }
    return n;
}

static void goes_to_screen(LithoCanvas *self, LithoResult *result)
{
    litho_result_unref(self->drawn);
    self->drawn = result ? litho_result_ref(result) : NULL;
    self->frame.painted_ms = litho_now_ms();
    self->drawn_frame = self->frame;
}

static void render_at_once(LithoCanvas *self)
{
    LithoTarget target = target_of(self);
    LithoRect rects[LITHO_N_PAINTED];
    gboolean painted[LITHO_N_PAINTED];
    paint_stale(self, &target, G_MAXDOUBLE, rects, painted);
    litho_frame_cache_end(self->cache);
    goes_to_screen(self, (LithoResult *)litho_session_result(self->session));
}

// --- painting beside the window -----------------------------------------------------------------
//
// With OpenGL on the processor the pictures of a frame take longer than a frame: the window does
// not wait for them. It shows those of the batch before, and takes up the next when its threads are
// done.

void litho_canvas_blank(LithoCanvas *self)
{
    for (guint k = 0; k < LITHO_N_PAINTED; k++)
        litho_gl_pane_show(LITHO_GL_PANE(self->area), k, NULL, self->batch.rect[k]);
    self->batch.stale = TRUE;
    self->layout = 0; // every view is painted again
}

static void show_batch(LithoCanvas *self)
{
    LithoBatch *batch = &self->batch;
    gboolean any = FALSE;
    if (batch->stale)
        memset(batch->painted, 0, sizeof batch->painted);
    for (guint k = 0; k < LITHO_N_PAINTED; k++) {
        if (!batch->painted[k])
            continue;
        cairo_surface_t *picture =
            litho_frame_cache_read(self->cache, &batch->target, batch->rect[k]);
        litho_gl_pane_show(LITHO_GL_PANE(self->area), k, picture, batch->rect[k]);
        if (picture)
            cairo_surface_destroy(picture);
        batch->painted[k] = FALSE;
        any = TRUE;
    }
    if (any && !self->unfinished)
        goes_to_screen(self, batch->result);
    g_clear_pointer(&batch->result, litho_result_unref);
}

static void start_batch(LithoCanvas *self)
{
    LithoBatch *batch = &self->batch;
    const LithoResult *result = litho_session_result(self->session);
    batch->stale = FALSE;
    batch->target = target_of(self);
    guint n = paint_stale(self, &batch->target, PAINT_BUDGET_MS, batch->rect, batch->painted);
    for (guint k = 0; k < LITHO_N_PAINTED; k++)
        if (batch->rect[k].w <= 0) // folded away, or another one fills the canvas
            litho_gl_pane_show(LITHO_GL_PANE(self->area), k, NULL, batch->rect[k]);
    batch->result = result && n > 0 ? litho_result_ref((LithoResult *)result) : NULL;
    if (n > 0) {
        litho_frame_cache_start(self->cache);
        litho_canvas_want_frame(self);
    }
    litho_frame_cache_leave(self->cache);
}

static gboolean on_render(GtkGLArea *area, GdkGLContext *context, LithoCanvas *self)
{
    (void)area;
    (void)context;
    if (!self->renderer)
        return FALSE;
    self->frames++;
    if (!litho_renderer_is_software(self->renderer)) {
        render_at_once(self);
    } else if (litho_frame_cache_ready(self->cache)) {
        show_batch(self);
        start_batch(self);
    } else {
        litho_canvas_want_frame(self);
    }
    return TRUE;
}

// The frame is on its way to the screen.
static void on_after_paint(GdkFrameClock *clock, LithoCanvas *self)
{
    (void)clock;
    LithoResult *drawn = g_steal_pointer(&self->drawn);
    if (self->drawn_frame.begin_ms > 0)
        litho_session_drawn(self->session, drawn, &self->drawn_frame);
    self->drawn_frame.begin_ms = 0;
    litho_result_unref(drawn);
}

// --- the context --------------------------------------------------------------------------------

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
    memset(self->batch.painted, 0, sizeof self->batch.painted);
    g_clear_pointer(&self->batch.result, litho_result_unref);
    g_clear_pointer(&self->drawn, litho_result_unref);
    g_clear_pointer(&self->cache, litho_frame_cache_free);
    g_clear_pointer(&self->renderer, litho_renderer_free);
    g_clear_signal_handler(&self->after_paint, self->clock);
    g_clear_object(&self->clock);
}

void litho_canvas_paint_init(LithoCanvas *self)
{
    g_signal_connect(self->area, "realize", G_CALLBACK(on_realize), self);
    g_signal_connect(self->area, "unrealize", G_CALLBACK(on_unrealize), self);
    g_signal_connect(self->area, "render", G_CALLBACK(on_render), self);
}
