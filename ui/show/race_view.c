// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/show/race_view.h"

#include <math.h>
#include <string.h>

#include "core/engine/race_result.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "ui/panel/parts.h"
#include "ui/session/job.h"
#include "ui/show/race_panel.h"
#include "ui/view/small_text.h"
#include "ui/view/tooltip.h"
#include "ui/window/window_private.h"

enum { SHOWN = LITHO_SCRIPT_LANES, MADE_SHARES = 8, TICK_MS = 40, GAP = 12 };

typedef struct Panel {
    LithoRacePanel picture;
    guint stage;     // as LithoRaceWatch tells
    gint64 began_us; // the clock of the stage started; 0 = it has not
} Panel;

struct _LithoRaceView {
    GtkBox parent;
    LithoWindow *window; // borrowed
    GtkWidget *verdict, *status, *area, *data, *left, *right, *published, *again, *replay;
    GtkWidget *stop;
    LithoJob *job;
    LithoRace *race; // under way or over; NULL = none
    gboolean over;   // it has its result
    char *trouble;   // why there is none; or NULL
    Panel panel[SHOWN];
    LithoRaceSection section;
    gint64 replay_us; // when the replay began, 0 = everything is shown
    guint tick;
    GArray *choice; // of Choice: entries of `left` and `right`
};

typedef struct Choice {
    const char *device;
    int threads;
    gboolean published;
} Choice;

G_DEFINE_TYPE(LithoRaceView, litho_race_view, GTK_TYPE_BOX)

enum { SIGNAL_OVER, N_SIGNALS };
static guint signals[N_SIGNALS];

static void panels_clear(LithoRaceView *self)
{
    for (int k = 0; k < SHOWN; k++) {
        Panel *p = &self->panel[k];
        litho_race_panel_clear(&p->picture);
        p->stage = 0;
        p->began_us = 0;
    }
}

// --- drawing ------------------------------------------------------------------------------------

static guint n_panels(LithoRaceView *self)
{
    return self->race ? MIN(self->race->lanes->len, SHOWN) : 0;
}

static LithoRect panel_rect(LithoRaceView *self, guint k, double width, double height)
{
    // A clock and the name beside it are read as two.
    const double scale = litho_text_scale(GTK_WIDGET(self)), head = 30 * scale,
                 between = 24 * scale, n = MAX(n_panels(self), 1),
                 w = (width - 2 * GAP - (n - 1) * between) / n;
    return (LithoRect){GAP + k * (w + between), head, MAX(w, 1), MAX(height - head - GAP, 1)};
}

// Text of a lane's clock; *is_words: not a time.
static char *clock_text(LithoRaceView *self, guint k, gboolean *is_words)
{
    const LithoRaceLane *lane = g_ptr_array_index(self->race->lanes, k);
    const Panel *p = &self->panel[k];
    const gint64 now = g_get_monotonic_time();
    *is_words = TRUE;
    if (lane->why)
        return g_strdup(_("does not run"));
    *is_words = FALSE;
    if (self->replay_us > 0)
        return litho_format_duration(MIN((double)(now - self->replay_us) / 1000, lane->shown_ms));
    if (self->over)
        return litho_format_duration(lane->ms);
    if (p->began_us > 0 && p->stage == 1)
        return litho_format_duration((double)(now - p->began_us) / 1000);
    *is_words = TRUE;
    if (p->stage > 1)
        return g_strdup_printf(_("timed run %u"), p->stage - 1);
    return g_strdup(p->began_us > 0 ? _("making plans") : _("waits"));
}

static void draw_text(LithoRaceView *self, cairo_t *cr, const char *text, LithoRect r, double align,
                      double size)
{
    const double scale = litho_text_scale(GTK_WIDGET(self));
    g_autoptr(PangoLayout) layout = gtk_widget_create_pango_layout(self->area, text);
    PangoFontDescription *font = pango_font_description_from_string("sans bold");
    pango_font_description_set_absolute_size(font, size * scale * PANGO_SCALE);
    pango_layout_set_font_description(layout, font);
    pango_font_description_free(font);
    pango_layout_set_width(layout, (int)(r.w * PANGO_SCALE));
    pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END);
    pango_layout_set_alignment(layout, align > 0.5 ? PANGO_ALIGN_RIGHT : PANGO_ALIGN_LEFT);
    cairo_set_source_rgb(cr, 0.92, 0.92, 0.92);
    cairo_move_to(cr, r.x, r.y);
    pango_cairo_show_layout(cr, layout);
}

static void draw(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
    LithoRaceView *self = data;
    (void)area;
    const double scale = litho_text_scale(GTK_WIDGET(self));
    for (guint k = 0; k < n_panels(self); k++) {
        const LithoRaceLane *lane = g_ptr_array_index(self->race->lanes, k);
        const LithoRect r = panel_rect(self, k, width, height);
        const double ms = self->replay_us > 0
                              ? (double)(g_get_monotonic_time() - self->replay_us) / 1000
                              : INFINITY;
        cairo_set_source_surface(cr,
                                 litho_race_panel_picture(&self->panel[k].picture, &self->section,
                                                          (int)r.w, (int)r.h, ms),
                                 floor(r.x), floor(r.y));
        cairo_paint(cr);
        gboolean words;
        g_autofree char *clock = clock_text(self, k, &words);
        draw_text(self, cr, lane->label, (LithoRect){r.x, 5 * scale, r.w * 0.62, 24}, 0, 15);
        draw_text(self, cr, clock,
                  (LithoRect){r.x + r.w * 0.62, (words ? 6 : 3) * scale, r.w * 0.38, 24}, 1,
                  words ? 13 : 18);
        if (lane->why)
            draw_text(self, cr, lane->why, (LithoRect){r.x + 12, r.y + 12, r.w - 24, 24}, 0, 12);
    }
}

static gboolean redraw(gpointer data)
{
    LithoRaceView *self = data;
    gtk_widget_queue_draw(self->area);
    if (self->replay_us > 0) {
        double longest = 0;
        for (guint k = 0; k < n_panels(self); k++)
            longest =
                fmax(longest, ((LithoRaceLane *)g_ptr_array_index(self->race->lanes, k))->shown_ms);
        if ((double)(g_get_monotonic_time() - self->replay_us) / 1000 > longest + 1500)
            self->replay_us = 0;
    }
    if (self->job || self->replay_us > 0)
        return G_SOURCE_CONTINUE;
    self->tick = 0;
    return G_SOURCE_REMOVE;
}

static void run_clocks(LithoRaceView *self)
{
    if (!self->tick)
        self->tick = g_timeout_add(TICK_MS, redraw, self);
}

// --- the job ------------------------------------------------------------------------------------

typedef struct Task {
    LithoRaceView *view;  // a reference
    LithoRace *race;      // owned until it is given to the view
    LithoScriptCube make; // a cube made in memory in place of the open one; or empty
    int axis;
    gint64 index;
} Task;

typedef struct News {
    LithoRaceView *view;
    guint lane, stage;
    LithoCube *piece; // NULL: a stage
    double ms;        // of the piece, since the clock of its lane started
} News;

static void task_free(gpointer data)
{
    Task *t = data;
    litho_script_cube_clear(&t->make);
    g_object_unref(t->view);
    g_free(t);
}

static gboolean take_news(gpointer data)
{
    News *n = data;
    LithoRaceView *self = n->view;
    if (self->job && n->lane < SHOWN) {
        Panel *p = &self->panel[n->lane];
        if (n->piece) {
            litho_race_panel_add(&p->picture, g_steal_pointer(&n->piece), n->ms);
        } else {
            p->stage = n->stage;
            p->began_us = g_get_monotonic_time();
        }
        gtk_widget_queue_draw(self->area);
    }
    return G_SOURCE_REMOVE;
}

static void news_free(gpointer data)
{
    News *n = data;
    litho_cube_unref(n->piece);
    g_object_unref(n->view);
    g_free(n);
}

static void send(Task *t, News news)
{
    News *n = g_memdup2(&news, sizeof news);
    n->view = g_object_ref(t->view);
    g_idle_add_full(G_PRIORITY_DEFAULT, take_news, n, news_free);
}

static void on_stage(guint lane, guint stage, gpointer data)
{
    send(data, (News){.lane = lane, .stage = stage});
}

// The section alone is kept: a piece of 512^3 would fill the memory.
static void on_piece(guint lane, LithoCube *piece, double ms, gpointer data)
{
    Task *t = data;
    const gint64 index = MIN(t->index, piece->grid.axis[t->axis].n - 1);
    LithoBox box = piece->held;
    box.lo[t->axis] = MAX(box.lo[t->axis], index);
    box.hi[t->axis] = MIN(box.hi[t->axis], index + 1);
    if (litho_box_empty(box))
        return;
    LithoCube *cut = litho_cube_copy_box(piece, box, NULL);
    if (cut)
        send(t, (News){.lane = lane, .piece = cut, .ms = ms});
}

static gpointer work(LithoRun *run, gpointer data, GError **error)
{
    Task *t = data;
    const LithoRaceWatch watch = {on_stage, on_piece, t};
    if (t->make.synth) {
        litho_cube_unref(t->race->in);
        t->race->in = litho_script_cube_open(&t->make, run, error);
        if (!t->race->in)
            return NULL;
    }
    return litho_race_run(t->race, &watch, run, error) ? t->race : NULL;
}

static void progress(const LithoProgress *p, gpointer data)
{
    LithoRaceView *self = ((Task *)data)->view;
    if (!self->job || p->total <= 0)
        return;
    g_autofree char *text = litho_text_printf("%s %.0f %%", p->what ? litho_text(p->what) : "",
                                              100.0 * p->done / p->total);
    gtk_label_set_text(GTK_LABEL(self->status), text);
}

// The whole section in place of its parts, between which nothing is interpolated.
static void join_pieces(LithoRaceView *self)
{
    for (guint k = 0; k < n_panels(self); k++) {
        const LithoRaceLane *lane = g_ptr_array_index(self->race->lanes, k);
        if (!lane->out)
            continue;
        const LithoGrid *grid = &lane->out->grid;
        const LithoRaceSection *s = &self->section;
        const LithoBox box =
            litho_box_slice(grid, s->axis, MIN(s->index, grid->axis[s->axis].n - 1));
        LithoCube *whole = litho_cube_copy_box(lane->out, box, NULL);
        if (whole)
            litho_race_panel_add(&self->panel[k].picture, whole, lane->shown_ms);
    }
}

double litho_race_view_ratio(LithoRaceView *self)
{
    return self->over ? litho_race_ratio(self->race) : NAN;
}

static void tell_result(LithoRaceView *self)
{
    const double ratio = litho_race_ratio(self->race);
    g_autofree char *text = litho_race_sentence(self->race);
    gtk_label_set_text(GTK_LABEL(self->status), text);
    if (isnan(ratio))
        return;
    g_autofree char *verdict = litho_text_printf("× %.3g", ratio);
    gtk_label_set_text(GTK_LABEL(self->verdict), verdict);
    gtk_accessible_update_property(GTK_ACCESSIBLE(self->area), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                   text, -1);
}

static void set_buttons(LithoRaceView *self)
{
    gtk_widget_set_sensitive(self->again, self->job == NULL);
    gtk_widget_set_sensitive(self->replay, self->job == NULL && self->over);
    gtk_button_set_label(GTK_BUTTON(self->stop), self->job ? _("Stop") : _("Close"));
}

static void done(gpointer result, const GError *error, gpointer data)
{
    Task *t = data;
    LithoRaceView *self = t->view;
    self->job = NULL;
    self->over = result != NULL;
    if (!self->window || !self->window->session)
        return;
    if (self->over) {
        join_pieces(self);
        tell_result(self);
    } else if (error)
        gtk_label_set_text(GTK_LABEL(self->status),
                           litho_error_is_cancelled(error) ? _("Stopped.") : error->message);
    set_buttons(self);
    gtk_widget_queue_draw(self->area);
    g_signal_emit(self, signals[SIGNAL_OVER], 0);
}

// --- starting -----------------------------------------------------------------------------------

static const char *published_settings(const LithoFlow *flow)
{
    for (guint k = 0; k < litho_flow_length(flow); k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        for (const LithoPreset *p = step->op->presets; step->enabled && p && p->name; p++)
            if (strcmp(p->name, "published") == 0)
                return p->settings;
        if (step->enabled)
            return NULL;
    }
    return NULL;
}

static gboolean add_chosen(LithoRaceView *self, LithoRace *race, const LithoFlow *flow,
                           GError **error)
{
    GtkWidget *const drop[] = {self->left, self->right};
    const char *published = published_settings(flow);
    const Choice *c = NULL;
    for (int k = 0; k < 2; k++) {
        guint at = gtk_drop_down_get_selected(GTK_DROP_DOWN(drop[k]));
        c = &g_array_index(self->choice, Choice, MIN(at, self->choice->len - 1));
        if (!litho_race_add(race, flow, c->device, c->threads, NULL, NULL, error))
            return FALSE;
    }
    if (!published || !gtk_check_button_get_active(GTK_CHECK_BUTTON(self->published)))
        return TRUE;
    g_autofree char *label = g_strdup_printf(_("As published, %s"), c->device);
    return litho_race_add(race, flow, c->device, c->threads, published, label, error);
}

static gboolean add_lanes(LithoRaceView *self, LithoRace *race, const GArray *lanes, GError **error)
{
    const LithoFlow *flow = litho_session_flow(self->window->session);
    for (guint k = 0; lanes && k < lanes->len; k++) {
        const LithoScriptLane *lane = &g_array_index(lanes, LithoScriptLane, k);
        if (!litho_race_add(race, flow, lane->device, lane->threads, lane->settings, lane->label,
                            error))
            return FALSE;
    }
    return (lanes && lanes->len > 0) || add_chosen(self, race, flow, error);
}

// A survey of n x n x n, where the memory can hold it and the results.
static gboolean make_cube(Task *t, int n, GError **error)
{
    const guint64 bytes = 4 * (guint64)n * n * n, free = litho_memory_available();
    if (bytes * MADE_SHARES > free)
        return litho_refuse(
            error, LITHO_ERROR_MEMORY,
            "a race on %d x %d x %d samples needs %.3g GiB of memory; %.3g are free", n, n, n,
            (double)bytes * MADE_SHARES / 1073741824, (double)free / 1073741824);
    static const char *const keys[] = {"inlines", "xlines", "samples"};
    t->make.synth = litho_synths()[0];
    t->make.params = g_malloc0(t->make.synth->params.size);
    litho_param_defaults(&t->make.synth->params, t->make.params);
    for (int k = 0; k < 3; k++)
        litho_param_set(litho_param_find(&t->make.synth->params, keys[k]), t->make.params, n, NULL);
    return TRUE;
}

static int wanted_size(LithoRaceView *self)
{
    static const int sizes[] = {0, 256, 512};
    return sizes[MIN(gtk_drop_down_get_selected(GTK_DROP_DOWN(self->data)), 2)];
}

// The section in front, or the inline one.
static void choose_section(LithoRaceView *self, int size)
{
    LithoSession *session = self->window->session;
    const LithoGrid *grid = litho_session_grid(session);
    const int front = litho_canvas_maximised(litho_window_canvas(self->window));
    LithoRaceSection *s = &self->section;
    s->axis = front == LITHO_XLINE ? LITHO_XLINE : LITHO_INLINE;
    s->index = size > 0 ? size / 2 : litho_session_display(session)->slice[s->axis];
    if (grid && grid->axis[s->axis].n > 1 && grid->axis[1 - s->axis].n == 1 && size == 0) {
        s->axis = 1 - s->axis; // a line is its own section
        s->index = 0;
    }
    s->look = litho_session_look_for(session, LITHO_SHOW_OUTPUT);
}

static gboolean start(LithoRaceView *self, const GArray *lanes, GError **error)
{
    static const LithoJobFuncs funcs = {work, progress, done, task_free};
    LithoSession *session = self->window->session;
    const char *problem = litho_session_flow_problem(session);
    const int size =
        litho_session_input(session) && (!lanes || lanes->len == 0) ? wanted_size(self) : 0;
    if (problem || litho_flow_length(litho_session_flow(session)) == 0)
        return litho_refuse(error, LITHO_ERROR_PARAMETER, "%s",
                            problem ? problem : _("a race needs an operator in the flow"));
    Task *t = g_new0(Task, 1);
    t->view = g_object_ref(self);
    t->race = litho_race_new(size > 0 ? NULL : litho_session_input(session));
    if ((size > 0 && !make_cube(t, size, error)) || !add_lanes(self, t->race, lanes, error)) {
        litho_race_free(t->race);
        task_free(t);
        return FALSE;
    }
    choose_section(self, size);
    t->axis = self->section.axis;
    t->index = self->section.index;
    t->race->axis = 1 - self->section.axis;
    panels_clear(self);
    litho_race_free(self->race);
    self->race = t->race;
    self->over = FALSE;
    self->replay_us = 0;
    gtk_label_set_text(GTK_LABEL(self->verdict), "");
    gtk_label_set_text(GTK_LABEL(self->status), _("One lane after the other, so that none takes "
                                                  "another's processors"));
    litho_session_cancel(session); // the worker must not take processors from the race
    self->job = litho_job_start(&funcs, t);
    set_buttons(self);
    run_clocks(self);
    return TRUE;
}

// --- choices ------------------------------------------------------------------------------------

static void fill_choices(LithoRaceView *self)
{
    LithoDevice card;
    const gboolean has_card = litho_device_parse("cuda", &card, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    const Choice all[] = {
        {"cpu", 1, FALSE}, {"cpu", 0, FALSE}, {"cuda", 0, FALSE}, {"cuda:all", 0, FALSE}};
    g_array_set_size(self->choice, 0);
    for (guint k = 0; k < (!has_card ? 2u : card.backend->n_devices > 1 ? 4u : 3u); k++) {
        LithoDevice device;
        litho_device_parse(all[k].device, &device, NULL);
        g_array_append_val(self->choice, all[k]);
        g_ptr_array_add(names, litho_device_label(device, all[k].threads));
    }
    g_ptr_array_add(names, NULL);
    GtkWidget *const drop[] = {self->left, self->right};
    for (guint k = 0; k < 2; k++) {
        g_autoptr(GtkStringList) list = gtk_string_list_new((const char *const *)names->pdata);
        gtk_drop_down_set_model(GTK_DROP_DOWN(drop[k]), G_LIST_MODEL(list));
        gtk_drop_down_set_selected(GTK_DROP_DOWN(drop[k]), has_card ? k + 1 : k);
    }
}

static void on_again(LithoRaceView *self)
{
    g_autoptr(GError) error = NULL;
    if (!self->job && !start(self, NULL, &error))
        gtk_label_set_text(GTK_LABEL(self->status), error->message);
}

void litho_race_view_replay(LithoRaceView *self)
{
    if (!self->over)
        return;
    for (int k = 0; k < SHOWN; k++)
        litho_race_panel_repaint(&self->panel[k].picture);
    self->replay_us = g_get_monotonic_time();
    run_clocks(self);
}

gboolean litho_race_view_open(LithoRaceView *self, const GArray *lanes, GError **error)
{
    if (self->job) { // the one before has not ended yet: it is seen to end
        gtk_widget_set_visible(GTK_WIDGET(self), TRUE);
        return TRUE;
    }
    if (self->choice->len == 0)
        fill_choices(self);
    gtk_widget_set_visible(self->published,
                           published_settings(litho_session_flow(self->window->session)) != NULL);
    gtk_widget_set_visible(self->data, litho_session_input(self->window->session) != NULL);
    if (!start(self, lanes, error))
        return FALSE;
    gtk_widget_set_visible(GTK_WIDGET(self), TRUE);
    gtk_widget_grab_focus(self->stop);
    return TRUE;
}

void litho_race_view_close(LithoRaceView *self)
{
    litho_job_cancel(self->job);
    gtk_widget_set_visible(GTK_WIDGET(self), FALSE);
    if (!self->window->session)
        return;
    if (litho_session_grid(self->window->session) && !litho_session_output(self->window->session) &&
        litho_flow_length(litho_session_flow(self->window->session)) > 0)
        litho_session_recompute(self->window->session);
    gtk_widget_grab_focus(GTK_WIDGET(litho_canvas_active_view(litho_window_canvas(self->window))));
}

gboolean litho_race_view_is_running(LithoRaceView *self)
{
    return self->job != NULL;
}

char *litho_race_view_clock(LithoRaceView *self, guint k)
{
    gboolean words;
    return k < n_panels(self) ? clock_text(self, k, &words) : NULL;
}

guint litho_race_view_pieces(LithoRaceView *self, guint k)
{
    return k < n_panels(self) ? self->panel[k].picture.pieces->len : 0;
}

const LithoRace *litho_race_view_result(LithoRaceView *self)
{
    return self->over ? self->race : NULL;
}

// --- the object ---------------------------------------------------------------------------------

static GtkWidget *add_drop(LithoRaceView *self, GtkWidget *bar, const char *name)
{
    (void)self;
    GtkWidget *drop = gtk_drop_down_new(NULL, NULL);
    litho_name_widget(drop, name);
    litho_set_short_tooltip(drop, name);
    gtk_box_append(GTK_BOX(bar), drop);
    return drop;
}

static GtkWidget *add_button(GtkWidget *bar, const char *label, const char *tip)
{
    GtkWidget *button = gtk_button_new_with_label(label);
    litho_set_short_tooltip(button, tip);
    gtk_box_append(GTK_BOX(bar), button);
    return button;
}

static GtkWidget *add_row(GtkWidget *bar)
{
    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    gtk_widget_set_halign(row, GTK_ALIGN_CENTER);
    gtk_box_append(GTK_BOX(bar), row);
    return row;
}

static void add_choices(LithoRaceView *self, GtkWidget *bar)
{
    const char *const data[] = {_("Open cube"), _("256³ in memory"), _("512³ in memory"), NULL};
    self->data = add_drop(self, bar, _("Data of the race"));
    g_autoptr(GtkStringList) list = gtk_string_list_new(data);
    gtk_drop_down_set_model(GTK_DROP_DOWN(self->data), G_LIST_MODEL(list));
    self->left = add_drop(self, bar, _("Left runner"));
    self->right = add_drop(self, bar, _("Right runner"));
    self->published = gtk_check_button_new_with_label(_("As published too"));
    gtk_widget_set_tooltip_text(
        self->published, _("One more lane: the scheme of the paper on the right runner's device"));
    gtk_box_append(GTK_BOX(bar), self->published);
}

// Two rows: side by side they are wider than the room between the panels of a small window.
static GtkWidget *make_bar(LithoRaceView *self)
{
    GtkWidget *rows = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    gtk_widget_add_css_class(rows, "litho-race-bar");
    add_choices(self, add_row(rows));
    GtkWidget *bar = add_row(rows);
    self->again = add_button(bar, _("Race"), _("Run it with these choices"));
    self->replay = add_button(bar, _("Replay"), _("All lanes at once, as their pictures came"));
    self->stop = add_button(bar, _("Close"), _("Back to the views (Escape)"));
    g_signal_connect_swapped(self->again, "clicked", G_CALLBACK(on_again), self);
    g_signal_connect_swapped(self->replay, "clicked", G_CALLBACK(litho_race_view_replay), self);
    g_signal_connect_swapped(self->stop, "clicked", G_CALLBACK(litho_race_view_close), self);
    return rows;
}

static void dispose(GObject *object)
{
    LithoRaceView *self = LITHO_RACE_VIEW(object);
    g_clear_handle_id(&self->tick, g_source_remove);
    litho_job_cancel(self->job); // its end comes later and finds no window
    self->window = NULL;
    G_OBJECT_CLASS(litho_race_view_parent_class)->dispose(object);
}

static void finalize(GObject *object)
{
    LithoRaceView *self = LITHO_RACE_VIEW(object);
    for (int k = 0; k < SHOWN; k++)
        litho_race_panel_free(&self->panel[k].picture);
    litho_race_free(self->race);
    g_array_unref(self->choice);
    G_OBJECT_CLASS(litho_race_view_parent_class)->finalize(object);
}

static void litho_race_view_class_init(LithoRaceViewClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = dispose;
    G_OBJECT_CLASS(klass)->finalize = finalize;
    gtk_widget_class_set_css_name(GTK_WIDGET_CLASS(klass), "raceview");
    signals[SIGNAL_OVER] = g_signal_new("over", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0,
                                        NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void litho_race_view_init(LithoRaceView *self)
{
    gtk_orientable_set_orientation(GTK_ORIENTABLE(self), GTK_ORIENTATION_VERTICAL);
    self->choice = g_array_new(FALSE, FALSE, sizeof(Choice));
    for (int k = 0; k < SHOWN; k++)
        litho_race_panel_init(&self->panel[k].picture);
    self->verdict = gtk_label_new(NULL);
    gtk_widget_add_css_class(self->verdict, "litho-verdict");
    self->status = gtk_label_new(NULL);
    gtk_label_set_wrap(GTK_LABEL(self->status), TRUE);
    gtk_label_set_justify(GTK_LABEL(self->status), GTK_JUSTIFY_CENTER);
    self->area =
        g_object_new(GTK_TYPE_DRAWING_AREA, "accessible-role", GTK_ACCESSIBLE_ROLE_IMG, NULL);
    litho_name_widget(self->area, _("Race: one panel for each runner"));
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(self->area), draw, self, NULL);
    gtk_widget_set_vexpand(self->area, TRUE);
    gtk_widget_set_hexpand(self->area, TRUE);
    gtk_box_append(GTK_BOX(self), self->verdict);
    gtk_box_append(GTK_BOX(self), self->status);
    gtk_box_append(GTK_BOX(self), self->area);
    gtk_box_append(GTK_BOX(self), make_bar(self));
    gtk_widget_set_visible(GTK_WIDGET(self), FALSE);
}

GtkWidget *litho_race_view_new(LithoWindow *window)
{
    LithoRaceView *self = g_object_new(LITHO_TYPE_RACE_VIEW, NULL);
    self->window = window;
    return GTK_WIDGET(self);
}
