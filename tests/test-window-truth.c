// SPDX-License-Identifier: GPL-3.0-or-later
//
// Pictures and figures on the screen belong to the file and the flow that they name: the texture is
// the result, figures and pictures are of the open file and of the flow as it stands.
#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/io/survey.h"
#include "core/synth/synth_parts.h"
#include "tests/gui/files.h"
#include "tests/gui/teller.h"
#include "ui/panel/data_panel.h"
#include "ui/view/plot.h"
#include "ui/window/window_private.h"

static Gui gui;

enum { NI = 10, NX = 12, SAMPLES = 96 };

static LithoCube *make_cube(void)
{
    LithoGrid grid = litho_grid_new(NI, NX, SAMPLES);
    LithoCube *cube = litho_cube_new(&grid, NULL);
    for (gint64 k = 0; k < litho_grid_samples(&grid); k++)
        cube->samples[k] = (float)litho_hash_normal(5, 1, k);
    g_strlcpy(cube->name, "noise", sizeof cube->name);
    return cube;
}

// --- an operator whose result grows -------------------------------------------------------------

typedef struct GrowerParams {
    double gain;
} GrowerParams;

static gpointer grower_plan(const LithoGrid *in, const void *params, LithoResolved *known,
                            LithoRun *run, GError **error)
{
    (void)in, (void)params, (void)known, (void)run, (void)error;
    return g_new0(char, 1);
}

// Shows a cube of ones, waits until it has been drawn, then fills the output: made before it.
static gboolean grower_exec(gpointer data, const LithoPass *pass, LithoRun *run, GError **error)
{
    (void)data;
    const GrowerParams *p = pass->params;
    const gint64 n = litho_box_count(pass->out->held);
    g_autoptr(LithoCube) part = litho_cube_new_box(&pass->out->grid, pass->out->held, error);
    if (!part)
        return FALSE;
    for (gint64 k = 0; k < n; k++)
        part->samples[k] = 1;
    litho_run_partial(run, part);
    litho_run_begin(run, "growing", "steps");
    for (int k = 0; k < 60; k++) {
        g_usleep(10000);
        if (!litho_run_step(run, k, 60, error))
            return FALSE;
    }
    litho_cube_paste(pass->out, pass->in);
    litho_cube_inherit(pass->out, pass->in);
    for (gint64 k = 0; k < n; k++)
        pass->out->samples[k] *= (float)p->gain;
    return TRUE;
}

static const LithoImpl grower_cpu = {.plan = grower_plan, .exec = grower_exec, .destroy = g_free};
static const char *const grower_stages[] = {"plan", "grow", NULL};
static const LithoParam grower_rows[] = {LITHO_FLOAT(GrowerParams, gain, .label = "Gain", .def = 2,
                                                     .min = 0.001, .max = 1000, .stage = 1,
                                                     .doc = "Factor on every sample.")};
static const LithoPreset grower_presets[] = {{"default", "", ""}, {NULL}};

static const LithoOperator grower = {
    .key = "grower",
    .title = "Grower",
    .summary = "Shows other samples before its result.",
    .stages = grower_stages,
    .params = {grower_rows, G_N_ELEMENTS(grower_rows), sizeof(GrowerParams)},
    .presets = grower_presets,
    .needs_input = TRUE,
    .cpu = &grower_cpu,
};

// --- the texture --------------------------------------------------------------------------------

// Texels of the output's texture that differ from the result in memory.
static gint64 count_wrong(void)
{
    LithoCube *out = litho_session_output(gui.session);
    LithoCanvas *canvas = litho_window_canvas(gui.window);
    const gint64 line = out->grid.axis[1].n * out->grid.axis[2].n;
    g_autofree float *texels = g_new(float, line);
    gint64 wrong = 0;
    gtk_gl_area_make_current(GTK_GL_AREA(litho_canvas_area(canvas)));
    for (gint64 i = 0; i < out->grid.axis[0].n; i++) {
        g_assert_true(litho_volume_read_inline(litho_canvas_output(canvas), i, texels));
        for (gint64 k = 0; k < line; k++)
            wrong += memcmp(&texels[k], &out->samples[i * line + k], sizeof(float)) != 0;
    }
    return wrong;
}

// Property: once the result is whole, the texture holds it bit by bit, for every operator that
// shows parts of a result that grows. The output of an operator is made before the parts it shows:
// where the serials of cubes decide which one is newest, the parts stay on the screen.
static void test_texels(void)
{
    static const struct {
        const char *key, *words[6];
    } cases[] = {
        {"grower", {"gain=3"}},
        {"fx", {"fill_passes=2"}},
        {"wavepacket", {"mode=denoise"}},
        {"wavepacket", {"mode=interpolate", "iterations=3"}},
        {"migrate", {"nz=30", "degree=9"}},
        {"migrate", {"nz=30", "degree=9", "form=pointwise"}},
        {"migrate", {"nz=30", "engine=splitstep"}},
        {"migrate", {"nz=30", "mode=demigrate", "nt=60"}},
        {"migrate",
         {"nz=30", "degree=9", "mode=shot", "source_x=100", "source_y=100", "imaging=normalised"}},
        {"twsm", {"frequencies=6"}},
    };
    g_autoptr(LithoCube) cube = make_cube();
    litho_session_set_input(gui.session, cube);
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        const char *words[7] = {0};
        memcpy(words, cases[k].words, sizeof cases[k].words);
        gui_use_flow(&gui, cases[k].key, words);
        g_test_message("%s %s", cases[k].key, words[0]);
        g_assert_true(gui_wait(gui_has_output, &gui, 120));
        gui_settle(&gui);
        g_assert_null(litho_window_error(gui.window));
        g_assert_cmpint(count_wrong(), ==, 0);
    }
}

// --- figures ------------------------------------------------------------------------------------

static void set(const char *key, double value)
{
    const LithoStep *step = litho_flow_step(litho_session_flow(gui.session), 0);
    const LithoParam *row = litho_param_find(&step->op->params, key);
    g_assert_true(litho_session_set_param(gui.session, 0, row, value, NULL, NULL));
}

static gboolean has_figures(Gui *g)
{
    g_autoptr(GArray) curves = litho_session_report_curves(g->session);
    return curves && curves->len > 0 && litho_session_numbers(g->session, LITHO_NUMBERS_OUT);
}

static guint count_times(void)
{
    LithoStage stages[LITHO_TIMINGS_STAGES];
    guint n = litho_timings_snapshot(litho_session_timings(gui.session), stages,
                                     LITHO_TIMINGS_STAGES),
          told = 0;
    for (guint k = 0; k < n; k++)
        told += stages[k].count > 0;
    return told;
}

static void assert_no_figures(void)
{
    double last, median;
    g_autoptr(GArray) numbers = litho_session_report_numbers(gui.session);
    g_autoptr(GArray) curves = litho_session_report_curves(gui.session);
    g_autoptr(GArray) shapes = litho_session_report_shapes(gui.session);
    g_assert_true(!numbers && !curves && !shapes);
    g_assert_null(litho_session_numbers(gui.session, LITHO_NUMBERS_OUT));
    g_assert_cmpuint(count_times(), ==, 0);
    litho_session_latency(gui.session, &last, &median);
    g_assert_cmpfloat(last, ==, 0);
    g_assert_nonnull(litho_session_figures_missing(gui.session));
}

static const char *const slow[] = {"wait_ms=1500", NULL};

static void tell_figures(void)
{
    g_autoptr(LithoCube) cube = make_cube();
    litho_session_set_input(gui.session, cube);
    gui_use_flow(&gui, "teller", (const char *[]){NULL});
    g_assert_true(gui_wait(has_figures, &gui, 20));
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
    gui_settle(&gui);
    g_assert_cmpuint(count_times(), >, 0);
    g_assert_null(litho_session_figures_missing(gui.session));
}

// Property: figures of another operator, of another mode and of another file go at once, and a
// pass of the former kind that still runs brings none of them back; a number that moves leaves
// them until the next pass has told its own.
static void test_figures(void)
{
    tell_figures();
    set("gain", 0.7);
    g_assert_true(has_figures(&gui));
    g_assert_true(gui_wait(gui_has_output, &gui, 20));

    gui_use_flow(&gui, "grower", (const char *[]){NULL});
    assert_no_figures();
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
    g_autoptr(GArray) curves = litho_session_report_curves(gui.session);
    g_assert_null(curves);

    tell_figures();
    gui_use_flow(&gui, "teller", slow);
    gui_spin(&gui, 0.3); // it is telling
    g_assert_true(litho_session_progress(gui.session, NULL));
    set("mode", 1);
    assert_no_figures();
    gui_spin(&gui, 0.02);

    gui_use_flow(&gui, "teller", slow);
    gui_spin(&gui, 0.3);
    g_autoptr(LithoCube) other = make_cube();
    gui_use_flow(&gui, "grower", (const char *[]){NULL});
    litho_session_set_input(gui.session, other);
    assert_no_figures();
    for (int k = 0; k < 20; k++) {
        gui_spin(&gui, 0.05);
        g_autoptr(GArray) told = litho_session_report_curves(gui.session);
        g_assert_null(told);
    }
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
    gui_settle(&gui);

    // Also where the new input refuses the flow, so that no other result takes their place.
    gui_use_flow(&gui, "migrate", (const char *[]){"velocity=2000", "nz=4", NULL});
    g_assert_true(gui_wait(has_figures, &gui, 20));
    gui_settle(&gui);
    g_autoptr(LithoCube) depths = make_cube();
    depths->grid.is_depth = TRUE;
    litho_session_set_input(gui.session, depths);
    g_assert_nonnull(litho_session_flow_problem(gui.session));
    assert_no_figures();
}

// --- refused ------------------------------------------------------------------------------------

// Property: a value that the flow cannot be computed with leaves result, comparison, slices and
// rows where they were, and says why; the next value that can be computed takes it from there.
static void test_refused(void)
{
    g_autoptr(LithoCube) cube = make_cube();
    litho_session_set_input(gui.session, cube);
    gui_use_flow(&gui, "fx", (const char *[]){"window=8", "half_width=1", NULL});
    litho_session_select(gui.session, 0);
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
    litho_session_show(gui.session, LITHO_SHOW_REMOVED);
    gui_settle(&gui);
    GtkWidget *row = litho_param_panel_row(litho_window_params(gui.window), "prewhitening");
    graphene_rect_t before, after;
    g_assert_true(gtk_widget_compute_bounds(row, GTK_WIDGET(gui.window), &before));
    const LithoResult *result = litho_session_result(gui.session);

    set("half_width", 5);
    g_assert_nonnull(litho_session_flow_problem(gui.session));
    gui_settle(&gui);
    gui_screenshot(&gui, "truth-refused");
    g_assert_true(litho_session_result(gui.session) == result);
    g_assert_cmpint(litho_session_shown(gui.session), ==, LITHO_SHOW_REMOVED);
    g_assert_true(litho_session_comparable(gui.session));
    g_assert_true(gtk_widget_compute_bounds(row, GTK_WIDGET(gui.window), &after));
    g_assert_true(graphene_rect_equal(&before, &after));
    g_assert_null(litho_session_output(gui.session)); // it is not the result of the flow shown
    g_autofree char *earlier = litho_session_show_label(gui.session, LITHO_SHOW_REMOVED);
    g_autofree char *input = litho_session_show_label(gui.session, LITHO_SHOW_INPUT);
    g_assert_cmpstr(earlier, ==, "Removed before the change");
    g_assert_cmpstr(input, ==, "Input");
    g_autofree char *picture = gui_path(&gui, "refused.png");
    litho_session_show(gui.session, LITHO_SHOW_OUTPUT);
    litho_window_export(gui.window, picture); // of the last result, which is on screen
    g_assert_true(gui_wait(gui_is_free, &gui, 60));
    g_assert_null(litho_window_error(gui.window));
    litho_session_show(gui.session, LITHO_SHOW_REMOVED);

    set("half_width", 2);
    g_assert_null(litho_session_flow_problem(gui.session));
    g_assert_false(litho_session_shows_earlier(gui.session));
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
    g_assert_true(litho_session_result(gui.session) != result);
    litho_session_show(gui.session, LITHO_SHOW_OUTPUT);
}

// --- places -------------------------------------------------------------------------------------

static gint64 slice_of(int axis)
{
    return litho_session_display(gui.session)->slice[axis];
}

// Property: an operator that turns times into depths and is switched off again leaves slices, zoom
// and camera as they were; switched on it shows the depth of the time that was looked at; what was
// moved meanwhile stays moved.
static void test_places(void)
{
    g_autoptr(LithoCube) cube = make_cube();
    litho_session_set_input(gui.session, cube);
    gui_use_flow(&gui, "teller", (const char *[]){NULL});
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
    litho_session_set_slice(gui.session, LITHO_SAMPLE, 20);
    litho_session_set_slice(gui.session, LITHO_INLINE, 3);
    const double lo[3] = {1, 2, 10}, hi[3] = {8, 9, 50};
    litho_session_set_window(gui.session, lo, hi);
    LithoSceneView scene = litho_session_display(gui.session)->scene;
    scene.camera.yaw += 40;
    litho_session_set_scene(gui.session, &scene);

    gui_use_flow(&gui, "teller", (const char *[]){"mode=depth", NULL});
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
    const LithoGrid *grid = litho_session_grid(gui.session);
    g_assert_true(grid->is_depth);
    g_assert_cmpint(slice_of(LITHO_INLINE), ==, 3);
    g_assert_cmpfloat(litho_session_display(gui.session)->scene.camera.yaw, ==, scene.camera.yaw);
    litho_session_set_slice(gui.session, LITHO_XLINE, 2);
    // The spectrum is that of the record or of the image, each with its own unit.
    GtkWidget *panel = gui_find_type(litho_panels_get(gui.window->panels, LITHO_PANEL_RIGHT),
                                     LITHO_TYPE_DATA_PANEL);
    LithoPlot *spectrum = LITHO_PLOT(gui_find_type(panel, LITHO_TYPE_PLOT));
    gui_settle(&gui);
    g_assert_cmpstr(litho_plot_x_label(spectrum), ==, "1/km");
    gui_activate(&gui, "win.show('input')");
    gui_settle(&gui);
    g_assert_cmpstr(litho_plot_x_label(spectrum), ==, "Hz");
    gui_activate(&gui, "win.show('output')");

    gui_use_flow(&gui, "teller", (const char *[]){NULL});
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
    g_assert_cmpint(slice_of(LITHO_SAMPLE), ==, 20);
    g_assert_cmpint(slice_of(LITHO_INLINE), ==, 3);
    g_assert_cmpint(slice_of(LITHO_XLINE), ==, 2);
    const LithoDisplay *d = litho_session_display(gui.session);
    g_assert_cmpmem(d->lo, sizeof d->lo, lo, sizeof lo);
    g_assert_cmpmem(d->hi, sizeof d->hi, hi, sizeof hi);
    g_assert_cmpmem(&d->scene.camera, sizeof scene.camera, &scene.camera, sizeof scene.camera);
    litho_session_fit(gui.session);
}

// --- titles over pictures -----------------------------------------------------------------------

// TRUE when the middle of the inline's view is of the colours' upper end, which is red.
static gboolean is_red(void)
{
    GtkWidget *window = GTK_WIDGET(gui.window);
    GtkWidget *view = GTK_WIDGET(litho_canvas_view(litho_window_canvas(gui.window), LITHO_INLINE));
    graphene_rect_t bounds;
    const int w = gtk_widget_get_width(window), h = gtk_widget_get_height(window);
    g_assert_true(gtk_widget_compute_bounds(view, window, &bounds));
    g_autoptr(GtkSnapshot) snapshot = gtk_snapshot_new();
    gdk_paintable_snapshot(gui.mirror, snapshot, w, h);
    g_autoptr(GskRenderNode) node = gtk_snapshot_to_node(snapshot);
    g_assert_nonnull(node);
    g_autoptr(GdkTexture) picture = gsk_renderer_render_texture(
        gtk_native_get_renderer(GTK_NATIVE(window)), node, &GRAPHENE_RECT_INIT(0, 0, w, h));
    g_autofree guchar *pixels = g_malloc((gsize)w * h * 4);
    gdk_texture_download(picture, pixels, (gsize)w * 4);
    const int x = (int)(bounds.origin.x + 0.6f * bounds.size.width);
    const int y = (int)(bounds.origin.y + 0.6f * bounds.size.height);
    const guchar *bgra = pixels + ((gsize)y * w + x) * 4;
    return bgra[2] > bgra[0] + 60;
}

static LithoCube *make_flat(const char *name, float value)
{
    LithoCube *cube = make_cube();
    for (gint64 k = 0; k < litho_grid_samples(&cube->grid); k++)
        cube->samples[k] = k % 97 == 0 ? -2 * value : value;
    g_strlcpy(cube->name, name, sizeof cube->name);
    return cube;
}

// Waits for one more frame of the window: title and pictures of a change come with it.
static void draw_frame(void)
{
    GtkWidget *window = GTK_WIDGET(gui.window);
    GdkFrameClock *clock = gtk_widget_get_frame_clock(window);
    const gint64 drawn = gdk_frame_clock_get_frame_counter(clock);
    gtk_widget_queue_draw(window);
    for (int k = 0; k < 1000 && gdk_frame_clock_get_frame_counter(clock) <= drawn; k++)
        gui_spin(&gui, 0.01);
}

// Property: pictures of the file before never stand under the title and the axes of the next one.
static void test_titles(void)
{
    gui_forget_flow(&gui);
    g_autoptr(LithoCube) red = make_flat("red", 1), blue = make_flat("blue", -1);
    litho_session_set_input(gui.session, red);
    gui_settle(&gui);
    g_assert_true(is_red());
    for (int turn = 0; turn < 3; turn++) {
        litho_session_set_input(gui.session, blue);
        draw_frame();
        for (int k = 0; k < 12; k++) {
            gui_spin(&gui, 0.02);
            g_assert_false(is_red());
        }
        gui_settle(&gui);
        litho_session_set_input(gui.session, red);
        gui_settle(&gui);
        g_assert_true(is_red());
    }
}

// --- small truths -------------------------------------------------------------------------------

static gboolean compares_with_truth(Gui *g)
{
    return g_strcmp0(litho_session_reference_name(g->session), "Truth") == 0;
}

static gboolean compares_with_file(Gui *g)
{
    return g_strcmp0(litho_session_reference_name(g->session), "plain") == 0;
}

static gboolean tells_truth(Gui *g)
{
    return *litho_quality_panel_text(gui_quality_panel(g), 3) != 0;
}

static gboolean hides(Gui *g)
{
    return litho_judgement_is_hiding(g->window->judgement);
}

static gboolean has_hidden(Gui *g)
{
    return litho_judgement_hidden_why(g->window->judgement) != NULL;
}

// Property: hidden traces are asked for once the other figures are there, which stay as they are
// and can be read meanwhile; the test can be ended while it runs; a flow that leaves traces empty
// is told so in the figure's own line.
static void test_hidden(void)
{
    g_autofree char *path = gui_write_cube(&gui, "hidden.npy", 8, 9, 40);
    gui_open_file(&gui, path);
    gui_use_operator(&gui, &grower);
    LithoQualityPanel *quality = gui_quality_panel(&gui);
    int before, after;
    gui_spin(&gui, 0.3); // the rows of the figures have their place before these come
    g_assert_false(gui_is_judged(&gui));
    g_assert_true(gui_label_says(GTK_WIDGET(quality), "being computed"));
    gtk_widget_measure(GTK_WIDGET(quality), GTK_ORIENTATION_VERTICAL, 250, &before, NULL, NULL,
                       NULL);
    g_assert_true(gui_wait(gui_is_judged, &gui, 60));
    gtk_widget_measure(GTK_WIDGET(quality), GTK_ORIENTATION_VERTICAL, 250, &after, NULL, NULL,
                       NULL);
    g_test_message("panel %d, then %d high", before, after);
    g_assert_cmpint(abs(after - before), <, 80); // some lines of words more, where they were 250
    g_assert_cmpstr(litho_quality_panel_text(quality, 4), ==, "");
    gui_activate(&gui, "win.hidden");
    g_assert_true(gui_wait(hides, &gui, 20));
    g_assert_true(gui_is_judged(&gui));
    gui_spin(&gui, 0.4);
    g_assert_cmpstr(litho_quality_panel_text(quality, 4), !=, "");
    g_assert_true(gui_label_says(GTK_WIDGET(quality), "being predicted"));
    gui_activate(&gui, "win.hidden");
    g_assert_false(hides(&gui));
    gui_spin(&gui, 2.5); // longer than its folds would take
    g_assert_false(has_hidden(&gui));
    g_assert_cmpstr(litho_quality_panel_text(quality, 4), ==, "");
    gui_activate(&gui, "win.hidden");
    g_assert_true(gui_wait(has_hidden, &gui, 60));
    g_assert_false(hides(&gui));
    g_assert_true(gui_label_says(GTK_WIDGET(quality), "leaves missing traces empty"));
    gui_activate(&gui, "win.hidden");
}

// Property: a truth that lies beside a survey can be compared with, by name, and only there; one of
// another shape is refused with a sentence. The read-out names what is compared: with the truth in
// the input's place nothing was removed.
static void test_truth_file(void)
{
    g_autofree char *plain = gui_write_cube(&gui, "plain.sgy", 8, 9, 40);
    g_autofree char *path = gui_write_cube(&gui, "made.sgy", 8, 9, 40);
    g_autofree char *truth = gui_write_cube(&gui, "made-truth.sgy", 8, 9, 40);
    GAction *action = g_action_map_lookup_action(G_ACTION_MAP(gui.window), "truth");
    GtkWidget *right = litho_panels_get(gui.window->panels, LITHO_PANEL_RIGHT);
    int before, with;
    gui_open_with_gain(&gui, plain, 2);
    g_assert_false(g_action_get_enabled(action));
    gui_open_with_gain(&gui, path, 2);
    g_assert_true(g_action_get_enabled(action));
    gtk_widget_measure(right, GTK_ORIENTATION_HORIZONTAL, -1, &before, NULL, NULL, NULL);
    gui_activate(&gui, "win.truth");
    g_assert_true(gui_wait(compares_with_truth, &gui, 20));
    g_assert_null(litho_window_error(gui.window));
    gui_settle(&gui);
    gtk_widget_measure(right, GTK_ORIENTATION_HORIZONTAL, -1, &with, NULL, NULL, NULL);
    g_assert_cmpint(with, ==, before); // the button that forgets the truth does not push the views
    litho_session_set_cursor(gui.session, (double[]){4, 4, 20});
    gui_spin(&gui, 0.1);
    GtkWidget *status = gui.window->status;
    g_assert_true(gui_label_says(status, "truth "));
    g_assert_true(gui_label_says(status, "difference "));
    g_assert_false(gui_label_says(status, "removed "));
    gui_screenshot(&gui, "truth-beside");
    gui_activate(&gui, "win.truth");
    g_assert_null(litho_session_reference_name(gui.session));
    gui_spin(&gui, 0.1);
    g_assert_true(gui_label_says(status, "removed "));

    // Output less truth, and its SNR: a gain of 2 on the truth itself is an error of 0 dB.
    LithoQualityPanel *quality = LITHO_QUALITY_PANEL(gui_find_type(
        litho_panels_get(gui.window->panels, LITHO_PANEL_RIGHT), LITHO_TYPE_QUALITY_PANEL));
    g_assert_true(gui_wait(tells_truth, &gui, 20));
    g_assert_cmpstr(litho_quality_panel_text(quality, 3), ==, "0.0 dB");
    gui_activate(&gui, "win.truth");
    litho_session_show(gui.session, LITHO_SHOW_REMOVED);
    g_assert_true(litho_session_display(gui.session)->look.reversed);
    g_autofree char *label = litho_session_show_label(gui.session, LITHO_SHOW_REMOVED);
    g_assert_cmpstr(label, ==, "Output − Truth");
    gui_activate(&gui, "win.reference-forget");
    g_assert_null(litho_session_reference_name(gui.session));
    g_assert_false(litho_session_display(gui.session)->look.reversed);
    g_assert_cmpstr(litho_quality_panel_text(quality, 3), ==, "");
    litho_session_show(gui.session, LITHO_SHOW_OUTPUT);
    litho_window_compare_file(gui.window, plain); // any file of the shape
    g_assert_true(gui_wait(compares_with_file, &gui, 20));
    gui_open_file(&gui, plain); // it belonged to the other one
    g_assert_null(litho_session_reference_name(gui.session));
    g_assert_null(litho_judgement_truth(litho_window_judgement(gui.window), NULL));
    gui_open_with_gain(&gui, path, 2);

    // Whether it is there is asked once, when the survey is opened: a disk may be slow.
    g_assert_cmpint(g_unlink(truth), ==, 0);
    litho_window_actions_update(gui.window);
    g_assert_true(g_action_get_enabled(action));
    g_autofree char *wrong = gui_write_cube(&gui, "made-truth.sgy", 8, 9, 41);
    gui_activate(&gui, "win.truth");
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
    g_assert_nonnull(
        strstr(litho_window_error(gui.window), "8 x 9 x 41 samples, and not 8 x 9 x "));
    g_assert_null(litho_session_reference_name(gui.session));
    litho_window_clear_error(gui.window);
}

// Property: a result saved while a picture is drawn is written when that is done; its text header
// says program, version, input and command. Another picture meanwhile is refused with a sentence.
static void test_save_behind_picture(void)
{
    g_autofree char *path = gui_write_cube(&gui, "behind.sgy", 8, 9, 40);
    gui_open_with_gain(&gui, path, 2.5);
    g_autofree char *picture = gui_path(&gui, "behind.pdf"), *out = gui_path(&gui, "out.sgy");
    litho_window_export(gui.window, picture);
    g_assert_true(litho_window_is_busy(gui.window));
    litho_window_save(gui.window, out, TRUE);
    litho_window_export(gui.window, picture);
    g_assert_nonnull(litho_window_error(gui.window));
    g_assert_true(gui_wait(gui_is_free, &gui, 60));
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoSurvey) survey =
        litho_survey_open((const char *[]){out, NULL}, NULL, NULL, &error);
    g_assert_no_error(error);
    const char *text = litho_survey_text(survey);
    g_test_message("%.400s", text);
    const char *program = strstr(text, "Lithoscope ");
    g_assert_true(program && g_ascii_isdigit(program[strlen("Lithoscope ")]));
    g_assert_nonnull(strstr(text, "behind.sgy"));
    litho_window_clear_error(gui.window);
}

int main(int argc, char **argv)
{
    gui_init(&argc, &argv);
    gui_register(&grower);
    gui_register(&gui_teller);
    gui_open_sized(&gui);
    g_test_add_func("/truth/texels", test_texels);
    g_test_add_func("/truth/figures", test_figures);
    g_test_add_func("/truth/refused", test_refused);
    g_test_add_func("/truth/places", test_places);
    g_test_add_func("/truth/titles", test_titles);
    g_test_add_func("/truth/file", test_truth_file);
    g_test_add_func("/truth/hidden", test_hidden);
    g_test_add_func("/truth/save-behind-picture", test_save_behind_picture);
    int status = g_test_run();
    gui_close(&gui);
    return status;
}
