// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/scrub.h"
#include "core/axis_names.h"
#include "core/sort.h"
#include "core/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BOXES = LITHO_N_VIEWS, MAX_FRAMES = 1 << 14, REST_MS = 600 };

static const double degrees_per_frame = 1.5;

typedef struct Scrub {
    LithoWindow *window;
    LithoSession *session;
    LithoCanvas *canvas;
    GdkFrameClock *clock;
    double seconds;
    void (*done)(const LithoScrub *scrubs, guint n, gpointer data);
    gpointer data;

    LithoScrub figures[LITHO_N_SCRUBS];
    char label[LITHO_N_SCRUBS][80];
    guint n;                  // movements that are over
    int what;                 // the present one: LITHO_INLINE .. LITHO_VIEW_SCENE, BOXES
    double began_ms, last_ms; // last_ms: of the picture before
    guint64 frames, pictures; // at the begin
    guint64 seen;             // pictures at the last after-paint
    gint64 step;
    float *gap; // ms between pictures
    guint n_gaps;
    gint64 slice[3]; // as they were
    LithoSceneView scene;
    gulong after_paint;
} Scrub;

static const struct {
    const char *key, *label;
} names[LITHO_N_SCRUBS] = {{NULL, NULL}, // lines and traces have the names of the grid
                           {NULL, NULL},
                           {"sample", N_("time slice sweeps")},
                           {"scene", N_("3-D scene turns")},
                           {"boxes", N_("boxes in frequency turn")}};

static void begin(Scrub *s);

// --- one step a frame ---------------------------------------------------------------------------

// From end to end and back.
static gint64 bounce(gint64 step, gint64 n)
{
    gint64 at = n > 1 ? step % (2 * n - 2) : 0;
    return at < n ? at : 2 * n - 2 - at;
}

static void move(Scrub *s)
{
    LithoModelView *model = litho_canvas_model(s->canvas);
    s->step++;
    if (s->what < LITHO_VIEW_SCENE) {
        gint64 n = litho_session_grid(s->session)->axis[s->what].n;
        litho_session_set_slice(s->session, s->what, bounce(s->slice[s->what] + s->step, n));
    } else if (s->what == LITHO_VIEW_SCENE) {
        LithoSceneView scene = s->scene;
        scene.camera.yaw += degrees_per_frame * s->step;
        litho_session_set_scene(s->session, &scene);
    } else if (model) {
        litho_model_view_turn(model, degrees_per_frame);
    }
}

static void on_after_paint(GdkFrameClock *clock, Scrub *s)
{
    (void)clock;
    guint64 pictures = litho_canvas_paints(s->canvas, s->what);
    if (pictures == s->seen)
        return; // the rest of the window was drawn, not this view
    double now = litho_now_ms();
    if (s->n_gaps < MAX_FRAMES && s->seen != s->pictures)
        s->gap[s->n_gaps++] = (float)(now - s->last_ms);
    s->last_ms = now;
    s->seen = pictures;
}

static const char *key_of(const Scrub *s)
{
    return names[s->what].key ? names[s->what].key
                              : litho_axis_key(litho_session_grid(s->session), s->what);
}

static const char *label_of(Scrub *s)
{
    char *label = s->label[s->what];
    if (names[s->what].label)
        return names[s->what].label;
    g_autofree char *word = litho_axis_word(litho_session_grid(s->session), s->what);
    g_snprintf(label, sizeof s->label[0], _("%s sweeps"), word);
    return label;
}

static void end(Scrub *s)
{
    qsort(s->gap, s->n_gaps, sizeof *s->gap, litho_compare_float);
    guint last = MAX(s->n_gaps, 1) - 1;
    guint frames = (guint)(litho_canvas_frames(s->canvas) - s->frames);
    const LithoWatchdog *watchdog = litho_window_watchdog(s->window);
    s->figures[s->n++] = (LithoScrub){
        .key = key_of(s),
        .label = label_of(s),
        .seconds = (litho_now_ms() - s->began_ms) * 1e-3,
        .frames = frames,
        .pictures = (guint)(litho_canvas_paints(s->canvas, s->what) - s->pictures),
        .median_ms = s->n_gaps ? s->gap[last / 2] : 0,
        .p95_ms = s->n_gaps ? s->gap[(guint)(0.95 * last + 0.5)] : 0,
        .longest_ms = s->n_gaps ? s->gap[last] : 0,
        .block_ms = litho_watchdog_longest_ms(watchdog),
        .busy_ms = litho_watchdog_longest_busy_ms(watchdog),
        .busy_frame_ms = litho_watchdog_busy_ms(watchdog) / MAX(frames, 1),
    };
    g_clear_signal_handler(&s->after_paint, s->clock);
    for (int axis = 0; axis < 3; axis++)
        litho_session_set_slice(s->session, axis, s->slice[axis]);
    litho_session_set_scene(s->session, &s->scene);
}

static void finish(Scrub *s)
{
    litho_canvas_show_model(s->canvas, -1);
    litho_canvas_maximise(s->canvas, -1);
    s->done(s->figures, s->n, s->data);
    g_object_unref(s->clock);
    g_free(s->gap);
    g_free(s);
}

static gboolean on_tick(GtkWidget *canvas, GdkFrameClock *clock, gpointer data)
{
    (void)canvas;
    (void)clock;
    Scrub *s = data;
    if (litho_now_ms() - s->began_ms < s->seconds * 1000) {
        move(s);
        return G_SOURCE_CONTINUE;
    }
    end(s);
    s->what++;
    begin(s);
    return G_SOURCE_REMOVE;
}

// --- one movement after another -----------------------------------------------------------------

static gboolean start(gpointer data)
{
    Scrub *s = data;
    s->began_ms = s->last_ms = litho_now_ms();
    s->frames = litho_canvas_frames(s->canvas);
    s->pictures = s->seen = litho_canvas_paints(s->canvas, s->what);
    s->n_gaps = 0;
    s->step = 0;
    litho_watchdog_reset(litho_window_watchdog(s->window));
    s->after_paint = g_signal_connect(s->clock, "after-paint", G_CALLBACK(on_after_paint), s);
    gtk_widget_add_tick_callback(GTK_WIDGET(s->canvas), on_tick, s, NULL);
    return G_SOURCE_REMOVE;
}

// The views of the present movement are brought up first and drawn once: that is not part of it.
static void begin(Scrub *s)
{
    if (s->what == BOXES) {
        litho_canvas_show_model(s->canvas, LITHO_SPACE_FREQUENCY);
        litho_canvas_maximise(s->canvas, LITHO_VIEW_SCENE);
        if (!litho_canvas_model(s->canvas))
            s->what++;
    }
    if (s->what > BOXES)
        finish(s);
    else
        g_timeout_add(REST_MS, start, s);
}

void litho_scrub_start(LithoWindow *window, double seconds,
                       void (*done)(const LithoScrub *scrubs, guint n, gpointer data),
                       gpointer data)
{
    Scrub *s = g_new0(Scrub, 1);
    s->window = window;
    s->session = litho_window_session(window);
    s->canvas = litho_window_canvas(window);
    s->clock = g_object_ref(gtk_widget_get_frame_clock(GTK_WIDGET(s->canvas)));
    s->seconds = seconds;
    s->done = done;
    s->data = data;
    s->gap = g_new(float, MAX_FRAMES);
    const LithoDisplay *display = litho_session_display(s->session);
    memcpy(s->slice, display->slice, sizeof s->slice);
    s->scene = display->scene;
    litho_canvas_show_model(s->canvas, -1); // the scene of the data
    begin(s);
}
