// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/measure.h"
#include "core/io/output.h"
#include "core/json.h"
#include "core/sort.h"
#include "ui/window/scrub.h"
#include "ui/window/window_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// As GTK does with the mouse's: however many events there are, a frame comes between them.
enum { EVENT_PRIORITY = GDK_PRIORITY_REDRAW + 10 };
enum { EVENT_MS = 8, POLL_MS = 20, CALM_POLLS = 15, PATIENCE_S = 120, MAX_LATENCIES = 1 << 16 };

typedef struct Measure {
    LithoMeasure what;
    char *param, *json, *picture, *race; // owned copies behind `what`
    LithoWindow *window;
    LithoSession *session;
    const LithoParam *row;
    int *status;

    double began_ms, ends_ms;
    double give_up_ms;
    double rest; // the parameter before the drag
    guint events, results;
    guint refused;          // events whose value the flow refused
    guint calm;             // polls since which nothing has been under way
    guint64 frames;         // at the begin, then over the drag
    LithoVolumeInfo before; // at the begin
    LithoVolumeInfo after;
    double longest_block_ms, longest_busy_ms;
    LithoPhase phases[LITHO_PHASES_MAX]; // of the longest block
    guint n_phases;
    LithoPhase all[LITHO_PHASES_MAX]; // of the whole drag
    guint n_all;
    LithoStage stages[LITHO_TIMINGS_STAGES]; // of the passes during the drag
    guint n_stages;
    guint late;
    guint64 drawn;            // serial of the last latency seen
    float *latency;           // ms, of every picture during the drag
    float *way[LITHO_N_WAYS]; // their parts
    guint n_latencies;
    double last_latency;
    float *map_ms; // likewise of every similarity map
    guint n_maps, maps_seen;
    guint64 slices[3];   // of each axis, drawn before the drag, then during it
    JsonObject *figures; // once measured
    int verdict;         // status to end with
} Measure;

static void measure_free(Measure *m)
{
    g_free(m->param);
    g_free(m->json);
    g_free(m->picture);
    g_free(m->race);
    g_free(m->latency);
    for (int k = 0; k < LITHO_N_WAYS; k++)
        g_free(m->way[k]);
    g_free(m->map_ms);
    if (m->figures)
        json_object_unref(m->figures);
    g_free(m);
}

static void finish(Measure *m, int status)
{
    *m->status = status;
    gtk_window_destroy(GTK_WINDOW(m->window));
    measure_free(m);
}

// A line of figures to standard output.
static void say(const Measure *m, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void say(const Measure *m, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fputs(m->what.prefix ? m->what.prefix : "", stdout);
    vprintf(format, values);
    putchar('\n');
    va_end(values);
}

static void give_up(Measure *m, const char *why)
{
    fprintf(stderr, "measure: %s\n", why);
    finish(m, 1);
}

// --- figures ----------------------------------------------------------------------------------

static double quantile(const float *sorted, guint n, double q)
{
    return n > 0 ? sorted[(guint)(q * (n - 1) + 0.5)] : NAN;
}

// Samples of the output's texture that differ from the result in memory; -1 = could not be read.
static gint64 count_wrong(Measure *m, gint64 *compared)
{
    LithoCube *out = litho_session_output(m->session);
    const float *expected = litho_cube_host(out, NULL);
    gint64 line = out->grid.axis[1].n * out->grid.axis[2].n, wrong = 0;
    g_autofree float *line_samples = g_new(float, line);
    *compared = 0;
    gtk_gl_area_make_current(GTK_GL_AREA(litho_canvas_area(litho_window_canvas(m->window))));
    const LithoVolume *volume = litho_canvas_output(litho_window_canvas(m->window));
    for (gint64 i = 0; i < out->grid.axis[0].n; i++) {
        if (!litho_volume_read_inline(volume, i, line_samples))
            return -1;
        for (gint64 k = 0; k < line; k++)
            wrong += memcmp(&line_samples[k], &expected[i * line + k], sizeof(float)) != 0;
        *compared += line;
    }
    return wrong;
}

static void save_picture(GtkWidget *widget, const char *path)
{
    g_autoptr(GdkPaintable) paintable = gtk_widget_paintable_new(widget);
    GtkSnapshot *snapshot = gtk_snapshot_new();
    gdk_paintable_snapshot(paintable, snapshot, gtk_widget_get_width(widget),
                           gtk_widget_get_height(widget));
    GskRenderNode *node = gtk_snapshot_free_to_node(snapshot);
    if (!node) {
        fprintf(stderr, "measure: the window has nothing to draw\n");
        return;
    }
    // Not the window's own renderer: a texture of that one cannot be read back on every driver.
    GskRenderer *renderer = gsk_cairo_renderer_new();
    if (gsk_renderer_realize(renderer, gtk_native_get_surface(gtk_widget_get_native(widget)),
                             NULL)) {
        g_autoptr(GdkTexture) texture = gsk_renderer_render_texture(renderer, node, NULL);
        if (!texture || !gdk_texture_save_to_png(texture, path))
            fprintf(stderr, "measure: %s could not be written\n", path);
        gsk_renderer_unrealize(renderer);
    }
    g_object_unref(renderer);
    gsk_render_node_unref(node);
}

// The time of each part of the way from slider to pixel, and of the worker's passes: medians, ms.
static void report_ways(Measure *m, JsonObject *object)
{
    JsonObject *ways = json_object_new(), *stages = json_object_new();
    for (int k = 0; k < LITHO_N_WAYS; k++) {
        qsort(m->way[k], m->n_latencies, sizeof(float), litho_compare_float);
        const double median = quantile(m->way[k], m->n_latencies, 0.5);
        if (!isfinite(median))
            continue;
        say(m, "%-32s %.3g ms, 95 %% %.3g ms", litho_way_names[k], median,
            quantile(m->way[k], m->n_latencies, 0.95));
        json_object_set_double_member(ways, litho_way_names[k], median);
    }
    for (guint k = 0; k < m->n_stages; k++) {
        const LithoStage *s = &m->stages[k];
        say(m, "  %-30s %.3g ms, last %.3g ms, %u times", s->name, s->median_ms, s->last_ms,
            s->count);
        json_object_set_double_member(stages, s->name, s->median_ms);
    }
    json_object_set_object_member(object, "way_ms", ways);
    json_object_set_object_member(object, "stages_ms", stages);
    for (guint k = 0; k < m->n_all; k++)
        m->all[k].ms /= MAX(m->frames, 1);
    g_autofree char *phases = litho_phases_text(m->all, m->n_all, 0.02);
    say(m, "%-32s %s", "the main thread, a frame", phases);
    json_object_set_string_member(object, "main_thread_a_frame", phases);
}

static void report(Measure *m)
{
    gint64 compared = 0, wrong = count_wrong(m, &compared);
    qsort(m->latency, m->n_latencies, sizeof(float), litho_compare_float);
    qsort(m->map_ms, m->n_maps, sizeof(float), litho_compare_float);
    double seconds = (m->ends_ms - m->began_ms) * 1e-3;
    guint64 host = m->after.host_bytes - m->before.host_bytes;
    const char *why = NULL;
    const char *device = litho_session_device_label(m->session, &why);
    const LithoGrid *grid = litho_session_grid(m->session);
    const char *gl = litho_canvas_gl_name(litho_window_canvas(m->window), NULL);
    const struct {
        const char *key, *label, *unit;
        double value;
    } rows[] = {
        {"seconds", "dragged for", "s", seconds},
        {"events", "slider events", "", m->events},
        {"refused", "of them refused by the flow", "", m->refused},
        {"frames_per_s", "frames", "/s", m->frames / seconds},
        {"results_per_s", "results", "/s", m->results / seconds},
        {"latency_median_ms", "slider to pixel, median", "ms",
         quantile(m->latency, m->n_latencies, 0.5)},
        {"latency_p95_ms", "slider to pixel, 95 %", "ms",
         quantile(m->latency, m->n_latencies, 0.95)},
        {"similarities_per_s", "similarity follows", "/s", m->n_maps / seconds},
        {"similarity_median_ms", "slider to similarity, median", "ms",
         quantile(m->map_ms, m->n_maps, 0.5)},
        {"similarity_p95_ms", "slider to similarity, 95 %", "ms",
         quantile(m->map_ms, m->n_maps, 0.95)},
        {"inlines_per_s", "inline follows", "/s", m->slices[LITHO_INLINE] / seconds},
        {"xlines_per_s", "crossline follows", "/s", m->slices[LITHO_XLINE] / seconds},
        {"time_slices_per_s", "time slice follows", "/s", m->slices[LITHO_SAMPLE] / seconds},
        {"longest_block_ms", "longest main-thread block", "ms", m->longest_block_ms},
        {"longest_busy_ms", "of it computing, at most", "ms", m->longest_busy_ms},
        {"host_bytes", "result bytes through the host", "", (double)host},
        {"shared_bytes", "result bytes on the device", "",
         (double)(m->after.shared_bytes - m->before.shared_bytes)},
        {"compared", "texels read back and compared", "", (double)compared},
        {"wrong", "texels that differ", "", (double)wrong},
    };
    JsonObject *object = json_object_new();
    json_object_set_string_member(object, "device", device);
    json_object_set_string_member(object, "opengl", gl);
    json_object_set_boolean_member(object, "interop", m->after.shared);
    say(m, "%-32s %s", "computed by", device);
    say(m, "%-32s %s", "drawn by", gl);
    say(m, "%-32s %ld x %ld x %ld, %s", "result", (long)grid->axis[0].n, (long)grid->axis[1].n,
        (long)grid->axis[2].n, m->row->label);
    say(m, "%-32s %s", "shared with OpenGL",
        m->after.shared ? "yes, device to device" : m->after.why_not);
    for (guint k = 0; k < G_N_ELEMENTS(rows); k++) {
        if (!m->what.similarity && g_str_has_prefix(rows[k].key, "similar"))
            continue;
        say(m, "%-32s %.6g %s", rows[k].label, rows[k].value, rows[k].unit);
        if (isfinite(rows[k].value))
            json_object_set_double_member(object, rows[k].key, rows[k].value);
    }
    g_autofree char *phases = litho_phases_text(m->phases, m->n_phases, 0.1);
    const char *spent = *phases ? phases : "nothing that is timed"; // it waited for a processor
    say(m, "%-32s %s", "the longest block was spent in", spent);
    json_object_set_string_member(object, "longest_block_in", spent);
    report_ways(m, object);
    fflush(stdout);
    m->figures = object;
    const gboolean drawn = m->n_latencies > 0 && (m->n_maps > 0 || !m->what.similarity);
    m->verdict = wrong == 0 && drawn ? 0 : 1;
}

// The head of the figures of scrubbing alone.
static void report_drawing(Measure *m)
{
    const char *gl = litho_canvas_gl_name(litho_window_canvas(m->window), NULL);
    const LithoGrid *grid = litho_session_grid(m->session);
    say(m, "%-32s %s", "drawn by", gl);
    say(m, "%-32s %ld x %ld x %ld", "cube", (long)grid->axis[0].n, (long)grid->axis[1].n,
        (long)grid->axis[2].n);
    m->figures = json_object_new();
    json_object_set_string_member(m->figures, "opengl", gl);
    m->verdict = 0;
}

static void conclude(Measure *m)
{
    g_autofree char *text = litho_json_object_text(g_steal_pointer(&m->figures));
    g_autoptr(GError) error = NULL;
    if (m->json && !litho_output_save(m->json, text, -1, LITHO_REPLACE_ANY, &error)) {
        g_printerr("%s\n", error->message);
        m->verdict = 1;
    }
    finish(m, m->verdict);
}

// --- scrubbing ----------------------------------------------------------------------------------

static void start_race(Measure *m);

static void next_after_scrub(Measure *m)
{
    if (m->race)
        start_race(m);
    else
        conclude(m);
}

static void report_scrub(const LithoScrub *scrubs, guint n, gpointer data)
{
    Measure *m = data;
    JsonObject *all = json_object_new();
    say(m, "%s", "");
    say(m, "%-26s %9s %11s %9s %8s %10s %9s %9s %9s", "one step with every frame", "frames/s",
        "pictures/s", "median", "95 %", "longest", "block ms", "own ms", "a frame");
    for (guint k = 0; k < n; k++) {
        const LithoScrub *s = &scrubs[k];
        say(m, "%-26s %9.1f %11.1f %9.1f %8.1f %10.1f %9.1f %9.1f %9.1f", s->label,
            s->frames / s->seconds, s->pictures / s->seconds, s->median_ms, s->p95_ms,
            s->longest_ms, s->block_ms, s->busy_ms, s->busy_frame_ms);
        JsonObject *one = json_object_new();
        json_object_set_double_member(one, "frames_per_s", s->frames / s->seconds);
        json_object_set_double_member(one, "pictures_per_s", s->pictures / s->seconds);
        json_object_set_double_member(one, "frame_median_ms", s->median_ms);
        json_object_set_double_member(one, "frame_p95_ms", s->p95_ms);
        json_object_set_double_member(one, "frame_longest_ms", s->longest_ms);
        json_object_set_double_member(one, "longest_block_ms", s->block_ms);
        json_object_set_double_member(one, "longest_busy_ms", s->busy_ms);
        json_object_set_double_member(one, "busy_a_frame_ms", s->busy_frame_ms);
        json_object_set_object_member(all, s->key, one);
        if (s->frames == 0)
            m->verdict = 1;
    }
    fflush(stdout);
    json_object_set_object_member(m->figures, "scrub", all);
    next_after_scrub(m);
}

static void next_after_drag(Measure *m)
{
    if (m->what.scrub > 0)
        litho_scrub_start(m->window, m->what.scrub, report_scrub, m);
    else
        next_after_scrub(m);
}

// --- the race -----------------------------------------------------------------------------------

static void tell_race(Measure *m, const LithoRace *race)
{
    const char *const keys[] = {"race_cpu_ms", "race_gpu_ms"};
    for (guint k = 0; race && k < MIN(race->lanes->len, 2); k++) {
        const LithoRaceLane *lane = g_ptr_array_index(race->lanes, k);
        g_autofree char *name = g_strdup_printf("race, %s", lane->label);
        say(m, "%-32s %.6g ms", name, lane->ms);
        json_object_set_double_member(m->figures, keys[k], lane->ms);
        if (isfinite(lane->difference)) {
            say(m, "%-32s %.6g", "race, relative difference", lane->difference);
            json_object_set_double_member(m->figures, "race_difference", lane->difference);
        }
    }
    fflush(stdout);
    if (!race)
        m->verdict = 1; // a race that did not finish
}

static gboolean wait_race(gpointer data)
{
    Measure *m = data;
    LithoRaceView *view = litho_podium_race_view(m->window->podium);
    // CALM_POLLS: the panels are drawn some frames after their pieces have come.
    m->calm = litho_race_view_is_running(view) ? 0 : m->calm + 1;
    if (m->calm < CALM_POLLS && litho_now_ms() < m->give_up_ms)
        return G_SOURCE_CONTINUE;
    save_picture(GTK_WIDGET(m->window), m->race);
    tell_race(m, litho_race_view_result(view));
    litho_race_view_close(view);
    conclude(m);
    return G_SOURCE_REMOVE;
}

static void start_race(Measure *m)
{
    g_autoptr(GError) error = NULL;
    if (!litho_race_view_open(litho_podium_race_view(m->window->podium), NULL, &error)) {
        give_up(m, error->message);
        return;
    }
    m->calm = 0;
    m->give_up_ms = litho_now_ms() + PATIENCE_S * 1000;
    g_timeout_add(POLL_MS, wait_race, m);
}

// --- the course of events -----------------------------------------------------------------------

// Up and down the slider once in four seconds, in ratios where the slider moves in ratios.
static double value_at(const LithoParam *row, double seconds)
{
    double lo = row->soft_min, hi = row->soft_max;
    if (lo == hi) {
        lo = row->min;
        hi = row->max;
    }
    double phase = fabs(fmod(seconds / 2, 2) - 1);
    double value = row->log ? lo * pow(hi / lo, phase) : lo + (hi - lo) * phase;
    return row->type == LITHO_PARAM_INT ? round(value) : value;
}

// TRUE when the picture shows the whole of the newest result: nothing to compute or to copy for
// some frames, since a result reaches its texture in the frame after it came.
static gboolean settled(Measure *m)
{
    LithoProgress progress;
    LithoVolumeInfo info;
    litho_canvas_volume_info(litho_window_canvas(m->window), &info);
    LithoCanvas *canvas = litho_window_canvas(m->window);
    gboolean quiet =
        !litho_session_progress(m->session, &progress) && litho_canvas_is_whole(canvas);
    if (m->what.seconds > 0)
        quiet = quiet && litho_session_output(m->session) && info.pending_bytes == 0 &&
                info.layout != LITHO_LAYOUT_NONE;
    m->calm = quiet ? m->calm + 1 : 0;
    return m->calm >= CALM_POLLS;
}

static gboolean wait_after(gpointer data)
{
    Measure *m = data;
    if (!settled(m)) {
        if (litho_now_ms() < m->give_up_ms)
            return G_SOURCE_CONTINUE;
        const char *problem = litho_session_flow_problem(m->session);
        give_up(m, problem ? problem : "no whole result came after the drag");
        return G_SOURCE_REMOVE;
    }
    litho_canvas_volume_info(litho_window_canvas(m->window), &m->after);
    report(m);
    next_after_drag(m);
    return G_SOURCE_REMOVE;
}

static void on_result(LithoSession *session, Measure *m)
{
    (void)session;
    m->results++;
}

static void note_latency(Measure *m)
{
    double last = 0, median = 0;
    litho_session_latency(m->session, &last, &median);
    if (last > 0 && last != m->last_latency && m->n_latencies < MAX_LATENCIES) {
        const float *way = litho_session_latency_way(m->session);
        for (int k = 0; k < LITHO_N_WAYS; k++)
            m->way[k][m->n_latencies] = way[k];
        m->latency[m->n_latencies++] = (float)last;
    }
    m->last_latency = last;
    const guint drawn = litho_judgement_map_latency(m->window->judgement, &last);
    if (drawn != m->maps_seen && m->n_maps < MAX_LATENCIES)
        m->map_ms[m->n_maps++] = (float)last;
    m->maps_seen = drawn;
}

static void move_slider(Measure *m, double value)
{
    const char *around = litho_phase_begin("slider event");
    litho_session_set_param(m->session, 0, m->row, value, NULL, NULL);
    litho_phase_end(around);
    m->events++;
    m->refused += litho_session_flow_problem(m->session) != NULL;
}

// Slices drawn of each axis since the last call.
static void count_slices(Measure *m)
{
    for (int a = 0; a < 3; a++)
        m->slices[a] = litho_session_slices_drawn(m->session, a) - m->slices[a];
}

// The drag is over and has been looked at.
static void rest(Measure *m)
{
    // A refused value has ended what was under way, and nothing would follow it.
    if (litho_session_flow_problem(m->session))
        litho_session_set_param(m->session, 0, m->row, m->rest, NULL, NULL);
    m->give_up_ms = litho_now_ms() + PATIENCE_S * 1000;
    m->calm = 0;
    g_timeout_add(POLL_MS, wait_after, m);
}

static void on_painted(GdkFrameClock *clock, Measure *m)
{
    g_signal_handlers_disconnect_by_func(clock, on_painted, m);
    save_picture(GTK_WIDGET(m->window), m->picture);
    rest(m);
}

// Pictures the window that the drag leaves, behind its next frame: between frames widgets wait for
// their places, and there is nothing to draw.
static void ask_picture(Measure *m)
{
    GtkWidget *window = GTK_WIDGET(m->window);
    g_signal_connect(gtk_widget_get_frame_clock(window), "after-paint", G_CALLBACK(on_painted), m);
    gtk_widget_queue_draw(window);
}

static gboolean drag(gpointer data)
{
    Measure *m = data;
    double now = litho_now_ms();
    note_latency(m);
    if (now < m->began_ms + m->what.seconds * 1000) {
        move_slider(m, value_at(m->row, (now - m->began_ms) * 1e-3));
        return G_SOURCE_CONTINUE;
    }
    m->ends_ms = now;
    count_slices(m);
    m->frames = litho_canvas_frames(litho_window_canvas(m->window)) - m->frames;
    m->longest_block_ms = litho_watchdog_longest_ms(litho_window_watchdog(m->window));
    m->longest_busy_ms = litho_watchdog_longest_busy_ms(litho_window_watchdog(m->window));
    m->n_phases = litho_watchdog_longest_phases(litho_window_watchdog(m->window), m->phases);
    m->n_all = litho_watchdog_all_phases(litho_window_watchdog(m->window), m->all);
    m->n_stages =
        litho_timings_snapshot(litho_session_timings(m->session), m->stages, LITHO_TIMINGS_STAGES);
    m->late = litho_watchdog_late(litho_window_watchdog(m->window));
    g_signal_handlers_disconnect_by_data(m->session, m);
    if (m->picture)
        ask_picture(m);
    else
        rest(m);
    return G_SOURCE_REMOVE;
}

static const LithoParam *pick_row(const Measure *m)
{
    const LithoOperator *op = litho_flow_step(litho_session_flow(m->session), 0)->op;
    if (m->param)
        return litho_param_find(&op->params, m->param);
    for (guint k = 0; k < op->params.n; k++)
        if (op->params.rows[k].type == LITHO_PARAM_FLOAT && op->params.rows[k].stage > 0)
            return &op->params.rows[k];
    return NULL;
}

static gboolean wait_before(gpointer data)
{
    Measure *m = data;
    gboolean drags = m->what.seconds > 0;
    // A flow that begins with a source has a result and no input.
    gboolean ready = litho_session_grid(m->session) &&
                     (!drags || litho_flow_length(litho_session_flow(m->session)) > 0) &&
                     settled(m);
    if (!ready) {
        if (litho_now_ms() < m->give_up_ms)
            return G_SOURCE_CONTINUE;
        give_up(m,
                "no first result; a cube and an operator are needed (--demo --operator fx), or an "
                "operator that brings its own model (--operator twsm)");
        return G_SOURCE_REMOVE;
    }
    if (!drags) {
        report_drawing(m);
        next_after_drag(m);
        return G_SOURCE_REMOVE;
    }
    m->row = pick_row(m);
    if (!m->row) {
        give_up(m, "the first operator has no such parameter");
        return G_SOURCE_REMOVE;
    }
    m->rest = litho_param_get(m->row, litho_flow_step(litho_session_flow(m->session), 0)->params);
    double unused;
    m->maps_seen = litho_judgement_map_latency(m->window->judgement, &unused);
    m->began_ms = litho_now_ms();
    count_slices(m);
    m->frames = litho_canvas_frames(litho_window_canvas(m->window));
    litho_canvas_volume_info(litho_window_canvas(m->window), &m->before);
    litho_watchdog_reset(litho_window_watchdog(m->window));
    g_signal_connect(m->session, "result", G_CALLBACK(on_result), m);
    g_timeout_add_full(EVENT_PRIORITY, EVENT_MS, drag, m, NULL);
    return G_SOURCE_REMOVE;
}

void litho_measure_start(LithoWindow *window, const LithoMeasure *measure, int *status)
{
    Measure *m = g_new0(Measure, 1);
    m->what = *measure;
    m->param = g_strdup(measure->param);
    m->json = g_strdup(measure->json);
    m->picture = g_strdup(measure->picture);
    m->race = g_strdup(measure->race);
    m->window = window;
    m->session = litho_window_session(window);
    m->latency = g_new(float, MAX_LATENCIES);
    m->map_ms = g_new(float, MAX_LATENCIES);
    for (int k = 0; k < LITHO_N_WAYS; k++)
        m->way[k] = g_new(float, MAX_LATENCIES);
    m->status = status;
    m->give_up_ms = litho_now_ms() + PATIENCE_S * 1000;
    *status = 1;
    if (m->what.similarity)
        litho_judgement_want_maps(m->window->judgement, TRUE);
    g_timeout_add(POLL_MS, wait_before, m);
}
