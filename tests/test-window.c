// SPDX-License-Identifier: GPL-3.0-or-later
//
// The window as a person uses it, under a virtual display: demo cube, slider, compare, undo, save,
// picture, a broken file. The main loop is watched throughout.
#include <string.h>

#include "core/io/survey.h"
#include "core/sort.h"
#include "ui/window/window_private.h"
#include "tests/gui/files.h"
#include "tests/gui/keys.h"
#include "ui/window/palette.h"
#include "ui/window/survey_window.h"
#include "ui/panel/sweep.h"
#include "ui/panel/sweep_axis.h"
#include "tests/common.h"

static Gui gui;

static GtkWidget *control(const char *key, GType type)
{
    GtkWidget *row = litho_param_panel_row(litho_window_params(gui.window), key);
    g_assert_nonnull(row);
    return gui_find_type(row, type);
}

static const LithoStep *step(void)
{
    return litho_flow_step(litho_session_flow(gui.session), 0);
}

static double value_of(const char *key)
{
    const LithoStep *s = step();
    return litho_param_get(litho_param_find(&s->op->params, key), s->params);
}

// Property: the demo opens without a click too many, shows itself, and says what it is.
static void test_demo(void)
{
    gui_screenshot(&gui, "start");
    litho_window_open_demo(gui.window);
    g_assert_true(gui_wait(gui_has_input, &gui, 60));
    gui_settle(&gui);
    gui_screenshot(&gui, "input");
    const LithoGrid *grid = litho_session_grid(gui.session);
    g_assert_nonnull(grid);
    g_assert_cmpint(litho_grid_samples(grid), >, 100000);
    g_assert_cmpfloat(litho_session_clip(gui.session), >, 0);
    g_assert_null(litho_window_error(gui.window));
}

static void empty_flow(void)
{
    while (litho_flow_length(litho_session_flow(gui.session)) > 0)
        litho_session_remove_step(gui.session, 0);
}

// Longest time the loop was away while the picture was drawn again and again and nothing computed:
// what this machine's OpenGL costs.
static double longest_of_drawing(void)
{
    LithoWatchdog *watchdog = litho_window_watchdog(gui.window);
    LithoSceneView scene = litho_session_display(gui.session)->scene, turned = scene;
    litho_watchdog_reset(watchdog);
    for (int k = 0; k < 20; k++) {
        turned.camera.yaw += 1;
        litho_session_set_scene(gui.session, &turned);
        gui_spin(&gui, 0.05);
    }
    double longest = litho_watchdog_longest_ms(watchdog);
    litho_session_set_scene(gui.session, &scene);
    gui_spin(&gui, 0.2);
    return longest;
}

// Property: while a slider is dragged through 30 positions, new results arrive during the drag (not
// only after it), the picture changes, and the last result belongs to the last position.
static void test_drag(void)
{
    empty_flow();
    litho_session_add_step(gui.session, litho_operator_find("template"));
    g_assert_true(gui_wait(gui_has_output, &gui, 60));
    gui_settle(&gui);
    gui_screenshot(&gui, "output");
    g_autoptr(GdkTexture) before = gui_picture(&gui);
    double drawing = longest_of_drawing();
    GtkRange *slider = GTK_RANGE(control("gain", GTK_TYPE_SCALE));
    GtkAdjustment *range = gtk_range_get_adjustment(slider);
    double lo = gtk_adjustment_get_lower(range), hi = gtk_adjustment_get_upper(range);
    guint64 first = litho_session_result(gui.session)->generation, during = first;
    guint64 frames = litho_canvas_frames(litho_window_canvas(gui.window));
    // Other work on the machine keeps the loop away at a few positions, the program's own at all.
    double blocks[30];
    for (int k = 0; k < 30; k++) {
        litho_watchdog_reset(litho_window_watchdog(gui.window));
        gtk_range_set_value(slider, lo + (hi - lo) * (k + 1) / 40);
        gui_spin(&gui, 0.05);
        blocks[k] = litho_watchdog_longest_ms(litho_window_watchdog(gui.window));
        if (k == 28)
            during = litho_session_result(gui.session)->generation;
    }
    qsort(blocks, 30, sizeof *blocks, litho_compare_double);
    g_test_message("results during the drag: %u, frames: %u, blocks median %.1f, fourth longest "
                   "%.1f, longest %.1f ms, of drawing alone %.1f ms",
                   (guint)(during - first),
                   (guint)(litho_canvas_frames(litho_window_canvas(gui.window)) - frames),
                   blocks[15], blocks[26], blocks[29], drawing);
    g_assert_cmpuint(during, >=, first + 5);
    g_assert_cmpfloat(blocks[26], <, 3 * drawing + 100);
    g_assert_cmpfloat(blocks[29], <, 3 * drawing + 1000);
    gui_settle(&gui);
    g_assert_nonnull(litho_session_output(gui.session));
    double expected = litho_param_slider_to_value(litho_param_find(&step()->op->params, "gain"),
                                                  lo + (hi - lo) * 30 / 40);
    g_assert_cmpfloat_with_epsilon(value_of("gain"), expected, 1e-9 * expected);
    g_autoptr(GdkTexture) after = gui_picture(&gui);
    g_assert_cmpfloat(gui_difference(&gui, before, after), >, 0.1);
    double last, median;
    litho_session_latency(gui.session, &last, &median);
    g_test_message("slider to pixel: last %.1f ms, median %.1f ms", last, median);
    g_assert_cmpfloat(median, >, 0);
}

// Property: a drag is one step of the history; undo takes back exactly it, and the result of the
// old value comes back.
static void test_undo(void)
{
    double dragged = value_of("gain");
    gui_activate(&gui, "win.undo");
    g_assert_cmpfloat(value_of("gain"), ==, 1);
    gui_settle(&gui);
    gui_activate(&gui, "win.redo");
    g_assert_cmpfloat(value_of("gain"), ==, dragged);
    gui_activate(&gui, "win.undo");
    gui_settle(&gui);
    g_assert_nonnull(litho_session_output(gui.session));
}

// Property: every way to compare shows another picture, none of them computes anything.
static void test_compare(void)
{
    const char *const *names = litho_show_keys;
    GtkRange *width = GTK_RANGE(control("halfwidth", GTK_TYPE_SCALE));
    gtk_range_set_value(width, 4);
    gui_settle(&gui);
    guint64 generation = litho_session_result(gui.session)->generation;
    g_autoptr(GdkTexture) last = NULL;
    for (guint k = 0; k < G_N_ELEMENTS(litho_show_keys); k++) {
        g_autofree char *action = g_strdup_printf("win.show('%s')", names[k]);
        gui_activate(&gui, action);
        g_assert_cmpint(litho_session_shown(gui.session), ==, (int)k);
        gui_spin(&gui, 0.4);
        g_autofree char *file = g_strdup_printf("compare-%s", names[k]);
        gui_screenshot(&gui, file);
        GdkTexture *now = gui_picture(&gui);
        if (last)
            g_assert_cmpfloat(gui_difference(&gui, last, now), >, 0.01);
        g_set_object(&last, now);
        g_object_unref(now);
    }
    gui_activate(&gui, "win.show('output')");
    g_assert_cmpuint(litho_session_result(gui.session)->generation, ==, generation);
}

// Property: zoom, colours, wiggles and slices change the picture and nothing of the result.
static void test_views(void)
{
    gui_activate(&gui, "win.maximise(0)");
    gui_spin(&gui, 0.3);
    gui_screenshot(&gui, "maximised");
    g_autoptr(GdkTexture) plain = gui_picture(&gui);
    gui_activate(&gui, "win.wiggle");
    gui_activate(&gui, "win.zoom-in");
    gui_activate(&gui, "win.zoom-in");
    gui_spin(&gui, 0.3);
    gui_screenshot(&gui, "wiggles");
    g_autoptr(GdkTexture) wiggles = gui_picture(&gui);
    g_assert_cmpfloat(gui_difference(&gui, plain, wiggles), >, 0.05);
    gui_activate(&gui, "win.wiggle");
    gui_activate(&gui, "win.fit");
    gint64 slice = litho_session_display(gui.session)->slice[0];
    litho_cube_view_step(litho_canvas_active_view(litho_window_canvas(gui.window)), 5);
    g_assert_cmpint(litho_session_display(gui.session)->slice[0], ==, slice + 5);
    gui_activate(&gui, "win.maximise(3)");
    gui_spin(&gui, 0.3);
    gui_screenshot(&gui, "scene");
    gui_activate(&gui, "win.maximise(3)");
    g_assert_cmpint(litho_canvas_maximised(litho_window_canvas(gui.window)), ==, -1);
}

// Property: what is saved is what is shown, sample by sample, and the picture is a picture. Missing
// traces are left out: the format has its own way to write them.
static void test_save(void)
{
    g_autofree char *cube = gui_path(&gui, "result.npy"), *png = gui_path(&gui, "picture.png");
    litho_window_save(gui.window, cube, FALSE);
    g_assert_true(gui_wait(gui_is_free, &gui, 60));
    g_assert_null(litho_window_error(gui.window));
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) back = litho_cube_load(cube, NULL, NULL, &error);
    g_assert_no_error(error);
    gui_assert_same(litho_session_output(gui.session), back);
    litho_window_export(gui.window, png);
    g_assert_true(gui_wait(gui_is_free, &gui, 60));
    g_assert_null(litho_window_error(gui.window));
    g_autoptr(GdkTexture) picture = gdk_texture_new_from_filename(png, &error);
    g_assert_no_error(error);
    g_assert_cmpint(gdk_texture_get_width(picture), >, 800);
}

// Property: a broken file gives a sentence in the bar; what was open stays open and works.
static void test_broken(void)
{
    g_autofree char *path = gui_path(&gui, "broken.sgy");
    LithoCube *before = litho_session_input(gui.session);
    g_assert_true(g_file_set_contents(path, "this is no seismic file", -1, NULL));
    const char *paths[] = {path, NULL};
    litho_window_open(gui.window, paths);
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
    g_test_message("%s", litho_window_error(gui.window));
    g_assert_nonnull(litho_window_error(gui.window));
    g_assert_true(litho_session_input(gui.session) == before);
    gui_spin(&gui, 0.3);
    gui_screenshot(&gui, "error");
    gtk_range_set_value(GTK_RANGE(control("halfwidth", GTK_TYPE_SCALE)), 2);
    gui_settle(&gui);
    g_assert_nonnull(litho_session_output(gui.session));
}

static void type_keys(const char *words)
{
    gui_type_into(&gui, NULL, words, 0.4);
}

// Property: single keys switch views when no widget wants them, and a person who types into a
// number field switches nothing.
static void test_keys(void)
{
    LithoCanvas *canvas = litho_window_canvas(gui.window);
    gtk_widget_grab_focus(GTK_WIDGET(litho_canvas_view(canvas, 0)));
    if (!gui_can_type()) {
        g_test_skip("there is no xdotool");
        return;
    }
    type_keys("key d");
    g_assert_cmpint(litho_session_shown(gui.session), ==, LITHO_SHOW_REMOVED);
    type_keys("keydown space");
    g_assert_cmpint(litho_session_shown(gui.session), ==, LITHO_SHOW_INPUT);
    type_keys("keyup space");
    g_assert_cmpint(litho_session_shown(gui.session), ==, LITHO_SHOW_REMOVED);
    type_keys("key braceright");
    g_assert_cmpfloat(litho_session_display(gui.session)->look.removed_gain, ==, 2);
    gui_screenshot(&gui, "removed-x2");
    type_keys("key braceleft key d");
    g_assert_cmpint(litho_session_shown(gui.session), ==, LITHO_SHOW_OUTPUT);
    gint64 slice = litho_session_display(gui.session)->slice[0];
    type_keys("key Down key Down key shift+Down");
    g_assert_cmpint(litho_session_display(gui.session)->slice[0], ==, slice + 12);
    type_keys("key Return");
    g_assert_cmpint(litho_canvas_maximised(canvas), ==, 0);
    type_keys("key 1");
    g_assert_cmpint(litho_canvas_maximised(canvas), ==, -1);
    double clip = litho_session_clip(gui.session);
    type_keys("key bracketleft");
    g_assert_cmpfloat(litho_session_clip(gui.session), <, clip);
    type_keys("key bracketright");

    double gain = value_of("gain");
    litho_param_panel_focus(litho_window_params(gui.window), "gain");
    type_keys("key ctrl+a key 2 key d key Return");
    g_assert_cmpint(litho_session_shown(gui.session), ==, LITHO_SHOW_OUTPUT);
    gui_screenshot(&gui, "complaint");
    g_assert_cmpfloat(value_of("gain"), ==, gain);
    type_keys("key ctrl+a key 2 key period key 5 key Return");
    g_assert_cmpfloat(value_of("gain"), ==, 2.5);
    type_keys("key d"); // no letter of the number any more
    g_assert_cmpint(litho_session_shown(gui.session), ==, LITHO_SHOW_REMOVED);
    type_keys("key d key ctrl+z");
    g_assert_cmpfloat(value_of("gain"), ==, gain);
    type_keys("key ctrl+shift+p");
    g_assert_nonnull(gui_window_titled("Commands"));
    gtk_window_destroy(gui_window_titled("Commands"));
}

// Property: a command that has become impossible while the palette shows it is not replaced by the
// one that stands in its place now; and one of a snapshot that is not there is not offered.
static void test_palette_changes(void)
{
    GAction *pause = g_action_map_lookup_action(G_ACTION_MAP(gui.window), "pause");
    g_simple_action_set_enabled(G_SIMPLE_ACTION(pause), TRUE);
    litho_palette_open(gui.window);
    GtkWindow *palette = gui_window_titled("Commands");
    GtkWidget *entry = gui_find_type(GTK_WIDGET(palette), GTK_TYPE_SEARCH_ENTRY);
    GtkListBox *list = GTK_LIST_BOX(gui_find_type(GTK_WIDGET(palette), GTK_TYPE_LIST_BOX));
    gtk_editable_set_text(GTK_EDITABLE(entry), "full");
    gtk_editable_set_text(GTK_EDITABLE(entry), "pa");
    GtkListBoxRow *row;
    int k = 0;
    while ((row = gtk_list_box_get_row_at_index(list, k)) &&
           !gui_find_label(GTK_WIDGET(row), "Pause and go on"))
        k++;
    g_assert_nonnull(row);
    g_assert_nonnull(gtk_list_box_get_row_at_index(list, k + 1));
    gtk_list_box_select_row(list, row);
    g_simple_action_set_enabled(G_SIMPLE_ACTION(pause), FALSE);
    g_signal_emit_by_name(entry, "activate");
    g_assert_true(gui_window_titled("Commands") == palette);
    g_assert_null(gui_find_label(GTK_WIDGET(palette), "Pause and go on"));
    gtk_window_destroy(palette);
    g_autofree char *none = litho_palette_first(gui.window, "go snapshot D");
    g_assert_cmpstr(none, ==, NULL);
}

// Property: the palette finds commands by the beginnings of their words, operators also by the keys
// of the command line, and sets parameters.
static void test_palette(void)
{
    double before = value_of("gain");
    g_autofree char *first = litho_palette_first(gui.window, "gain 3");
    g_assert_cmpstr(first, ==, "Gain = 3");
    g_assert_true(litho_palette_run(gui.window, "gain 3"));
    g_assert_cmpfloat(value_of("gain"), ==, 3);
    g_assert_true(litho_palette_run(gui.window, "gain 5000"));
    g_assert_nonnull(litho_window_error(gui.window));
    g_assert_cmpfloat(value_of("gain"), ==, 3);
    g_assert_true(litho_palette_run(gui.window, "gain 4"));
    g_assert_null(litho_window_error(gui.window)); // it has been overcome
    g_assert_true(litho_palette_run(gui.window, "undo"));
    g_assert_true(litho_palette_run(gui.window, "undo"));
    g_assert_cmpfloat(value_of("gain"), ==, before);
    g_autofree char *colour = litho_palette_first(gui.window, "colour next");
    g_assert_cmpstr(colour, ==, "Next colour map");
    // Words that are in no title, and a title that goes on from what was typed before all others.
    static const char *const found[][2] = {{"spectrum", "Frequencies of an area"},
                                           {"dark", "Appearance: dark"},
                                           {"about", "About Lithoscope"},
                                           {"licence", "About Lithoscope"},
                                           {"report", "Report: slices"},
                                           {"Add wave", "Add Wave packets"},
                                           {"wavepacket", "Add Wave packets"},
                                           {"add fx", "Add F-X"},
                                           {"twsm", "Add Tip-wave"},
                                           {"patch", "Add Local Fourier"},
                                           {"color", "Next colour map"},
                                           {"fullscreen", "Full screen"},
                                           {"quit", "Close the window"},
                                           {"screenshot", "Export the picture"},
                                           {"terminal", "Copy as command"},
                                           {"histogram", "Fold the right panel"},
                                           {"hold-out", "Test on hidden traces"},
                                           {"missing traces", "Test on hidden traces"},
                                           {"random noise", "Add "},
                                           {"local", "Add Local Fourier"},
                                           {"prewhitening", "Add F-X"}};
    for (guint k = 0; k < G_N_ELEMENTS(found); k++) {
        g_autofree char *title = litho_palette_first(gui.window, found[k][0]);
        g_assert_nonnull(title);
        g_assert_true(g_str_has_prefix(title, found[k][1]));
    }
    g_assert_false(litho_palette_run(gui.window, "no such thing"));
    gui_activate(&gui, "win.palette");
    GtkWindow *palette = gui_window_titled("Commands");
    GtkWidget *entry = gui_find_type(GTK_WIDGET(palette), GTK_TYPE_SEARCH_ENTRY);
    gtk_editable_set_text(GTK_EDITABLE(entry), "no such thing");
    gui_spin(&gui, 0.3);
    GtkLabel *nothing = gui_find_label(GTK_WIDGET(palette), "Nothing is called so.");
    g_assert_true(nothing && gtk_widget_get_mapped(GTK_WIDGET(nothing)));
    gtk_editable_set_text(GTK_EDITABLE(entry), "local");
    gui_spin(&gui, 0.3);
    g_assert_false(gtk_widget_get_mapped(GTK_WIDGET(nothing)));
    gtk_window_destroy(palette);
    gui_settle(&gui);
}

static gboolean sheet_full(Gui *g)
{
    (void)g;
    GtkWidget *box =
        gui_find_type(GTK_WIDGET(gui_window_titled("Parameter sweep")), GTK_TYPE_FLOW_BOX);
    return gtk_flow_box_get_child_at_index(GTK_FLOW_BOX(box), 8) != NULL;
}

// Property: a sweep shows one picture for each value over the slider's range, and a click on one
// adopts its value as one step of the history.
static void test_sweep(void)
{
    double values[9], before = value_of("gain");
    const LithoParam *row = litho_param_find(&step()->op->params, "gain");
    g_assert_cmpuint(litho_sweep_values(row, 9, values), ==, 9);
    g_assert_cmpfloat_with_epsilon(values[0], 0.1, 1e-9);
    g_assert_cmpfloat_with_epsilon(values[4], 1, 1e-9); // log: the middle is the geometric mean
    g_assert_cmpfloat_with_epsilon(values[8], 10, 1e-9);
    gui_activate(&gui, "win.sweep");
    g_assert_true(gui_wait(sheet_full, &gui, 60));
    gui_spin(&gui, 0.5);
    GtkWindow *sheet = gui_window_titled("Parameter sweep");
    gui_screenshot_of(&gui, GTK_WIDGET(sheet), "sweep");
    GtkWidget *box = gui_find_type(GTK_WIDGET(sheet), GTK_TYPE_FLOW_BOX);
    GtkWidget *card = gui_find_type(
        GTK_WIDGET(gtk_flow_box_get_child_at_index(GTK_FLOW_BOX(box), 2)), GTK_TYPE_BUTTON);
    g_signal_emit_by_name(card, "clicked");
    g_assert_cmpfloat(value_of("gain"), ==, values[2]);
    gui_settle(&gui);
    gui_activate(&gui, "win.undo");
    g_assert_cmpfloat(value_of("gain"), ==, before);
    gui_settle(&gui);
}

// Property: a value that is left to the operator is one of the sweep's own. Its number stands for
// many (fx takes a prewhitening for each frequency): the number alone as the present value had
// 14.2 dB beside a panel that told 15.4.
static void test_sweep_automatic(void)
{
    const LithoOperator *op = litho_operator_find("fx");
    const LithoParam *row = op ? litho_param_find(&op->params, "prewhitening") : NULL;
    LithoSweepAxis axis;
    if (!row || !row->special_text) {
        g_test_skip("no operator chooses a value by itself");
        return;
    }
    litho_sweep_axis_fill(&axis, row, 1, 100, 3, row->special);
    g_assert_cmpuint(axis.n, ==, 4);
    g_assert_cmpfloat(axis.value[0], ==, row->special);
    litho_sweep_axis_fill(&axis, row, 1, 100, 3, 20);
    g_assert_cmpuint(axis.n, ==, 4);
    g_assert_cmpfloat(axis.value[2], ==, 20);
    litho_sweep_axis_fill(&axis, row, 1, 100, 3, 200); // outside what was asked for
    g_assert_cmpuint(axis.n, ==, 3);
    litho_sweep_axis_fill(&axis, row, 0, 10, 3, NAN); // in ratios there is no way to 0
    g_assert_cmpuint(axis.n, ==, 3);
    g_assert_cmpfloat_with_epsilon(axis.value[0], row->soft_min, 1e-9);
    g_assert_cmpfloat_with_epsilon(axis.value[2], 10, 1e-9);
}

static gboolean sheet_of_two(Gui *g)
{
    (void)g;
    GtkWindow *sheet = gui_window_titled("Parameter sweep");
    return gui_label_says(GTK_WIDGET(sheet), "Click a picture");
}

// Property: two parameters make a square of cards that is no wider than its window, with no more
// values of the first than are taken; one of the cards is named as the best; the same parameter
// twice is refused in words.
static void test_sweep_of_two(void)
{
    gui_activate(&gui, "win.sweep");
    g_assert_true(gui_wait(sheet_full, &gui, 60));
    GtkWindow *sheet = gui_window_titled("Parameter sweep");
    GtkWidget *second = gui_nth(sheet, LITHO_TYPE_SWEEP_LINE, 1);
    litho_sweep_line_choose(
        LITHO_SWEEP_LINE(second),
        litho_sweep_line_row(LITHO_SWEEP_LINE(gui_nth(sheet, LITHO_TYPE_SWEEP_LINE, 0))));
    gui_click(sheet, "Start");
    gui_await_label(&gui, "Parameter sweep", "name the same parameter");
    litho_sweep_line_choose(LITHO_SWEEP_LINE(second),
                            litho_param_find(&step()->op->params, "halfwidth"));
    g_assert_cmpfloat(
        gtk_spin_button_get_value(GTK_SPIN_BUTTON(gui_nth(sheet, GTK_TYPE_SPIN_BUTTON, 0))), ==,
        LITHO_SWEEP_DOUBLE);
    gui_click(sheet, "Start");
    g_assert_true(gui_wait(sheet_of_two, &gui, 120));
    gui_spin(&gui, 0.5);
    gui_screenshot_of(&gui, GTK_WIDGET(sheet), "sweep-of-two");
    GtkWidget *box = gui_find_type(GTK_WIDGET(sheet), GTK_TYPE_FLOW_BOX);
    g_assert_cmpint(gtk_widget_get_width(box), <=, gtk_widget_get_width(GTK_WIDGET(sheet)));
    g_assert_true(gui_label_says(box, "highest SNR"));
    gtk_window_destroy(sheet);
    gui_settle(&gui);
}

// Property: of data whose SNR cannot be told, as of migrated ones, a sweep tells none, and names
// none as the best: the window says "not known", and Find that no value gains.
static void test_sweep_without_snr(void)
{
    g_autofree char *path = gui_path(&gui, "mixed.sgy");
    const char *const make[] = {g_getenv("LITHO_CLI"), "synth",     "curved",      "noise=mixed",
                                "inlines=16",          "xlines=40", "samples=200", "snr=20",
                                "--no-truth",          "-o",        path,          NULL};
    if (!make[0]) {
        g_test_skip("the command line is not known");
        return;
    }
    g_assert_true(g_spawn_sync(NULL, (char **)make, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                               NULL, NULL, NULL, NULL));
    gui_forget_flow(&gui);
    gui_open_file(&gui, path);
    litho_session_add_step(gui.session, litho_operator_find("patch"));
    g_assert_true(gui_wait(gui_has_output, &gui, 60));
    gui_activate(&gui, "win.sweep");
    g_assert_true(gui_wait(sheet_of_two, &gui, 60));
    gui_spin(&gui, 0.5);
    GtkWindow *sheet = gui_window_titled("Parameter sweep");
    GtkWidget *box = gui_find_type(GTK_WIDGET(sheet), GTK_TYPE_FLOW_BOX);
    g_assert_true(gui_label_says(box, "leaves"));
    g_assert_false(gui_label_says(box, "SNR"));
    gtk_window_destroy(sheet);
    gui_forget_flow(&gui);
}

// Property: each operator of the program shows its parameters, and its defaults either give a
// result on the demo cube or a sentence that says what is missing; never silence.
static gboolean answered(Gui *g)
{
    return litho_session_output(g->session) || litho_session_problem(g->session) ||
           litho_session_flow_problem(g->session);
}

// Property: a cube that went through SEG-Y shows its file's headers, and the header of the trace
// under the slices holds that trace's line numbers (the writer puts them at bytes 189 and 193).
static void test_survey(void)
{
    g_autofree char *path = gui_path(&gui, "cube.sgy");
    litho_window_save(gui.window, path, FALSE);
    g_assert_true(gui_wait(gui_is_free, &gui, 60));
    litho_window_open(gui.window, (const char *const[]){path, NULL});
    g_assert_true(gui_wait(gui_is_free, &gui, 60));
    g_assert_null(litho_window_error(gui.window));
    LithoCube *cube = litho_session_input(gui.session);
    g_assert_nonnull(cube->survey);
    gint64 i = 3, j = 0;
    while (!litho_cube_is_live(cube, i, j))
        j++;
    g_autofree char *header = litho_survey_header_text(cube->survey, i, j, NULL);
    g_assert_nonnull(header);
    g_auto(GStrv) rows = g_strsplit(header, "\n", -1);
    for (guint k = 0; rows[k][0]; k++) // numbers stand in one column
        g_assert_cmpuint(strlen(rows[k]), ==, strlen(rows[0]));
    for (int a = 0; a < 2; a++) {
        double line = litho_axis_value(&cube->grid.axis[a], a ? j : i);
        g_autofree char *row = g_strdup_printf(" %d  ", a ? 193 : 189);
        const char *found = strstr(header, row);
        g_assert_nonnull(found);
        g_autofree char *wanted = g_strdup_printf(" %.0f\n", line);
        g_assert_nonnull(strstr(found, wanted));
    }
    gui_activate(&gui, "win.survey");
    gui_spin(&gui, 0.5);
    gui_screenshot_of(&gui, GTK_WIDGET(gui_window_titled("Survey")), "survey");
    gtk_window_destroy(gui_window_titled("Survey"));
    gui_settle(&gui);
    gui_screenshot(&gui, "reopened");
}

// Property: a unit is shown whole or not at all, and the number never loses a digit to it.
static void test_unit(void)
{
    empty_flow();
    litho_session_add_step(gui.session, litho_operator_find("wavepacket"));
    gui_spin(&gui, 0.3);
    GtkWidget *number = control("threshold", GTK_TYPE_SPIN_BUTTON);
    static const struct {
        double value;
        const char *text;
    } shown[] = {{3.5, "3.5 sigma"}, {2.5046, "2.5046"}, {3, "3 sigma"}};
    for (guint k = 0; k < G_N_ELEMENTS(shown); k++) {
        gtk_spin_button_set_value(GTK_SPIN_BUTTON(number), shown[k].value);
        g_assert_cmpstr(gtk_editable_get_text(GTK_EDITABLE(number)), ==, shown[k].text);
        g_assert_cmpfloat(value_of("threshold"), ==, shown[k].value);
    }
    empty_flow();
}

// A number field shows the default as the declaration's row formats it, with its unit.
static void check_row(const LithoParam *row)
{
    if (row->type != LITHO_PARAM_FLOAT && row->type != LITHO_PARAM_INT) {
        g_assert_nonnull(litho_param_panel_row(litho_window_params(gui.window), row->key));
        return;
    }
    char text[64];
    litho_param_format_unit(row, row->def, FALSE, text, sizeof text);
    GtkWidget *number = control(row->key, GTK_TYPE_SPIN_BUTTON);
    // A value left to the operator shows the number it stands for as soon as that is told.
    g_assert_cmpfloat(gtk_spin_button_get_value(GTK_SPIN_BUTTON(number)), ==, row->def);
    if (!row->special_text || row->def != row->special)
        g_assert_cmpstr(gtk_editable_get_text(GTK_EDITABLE(number)), ==, text);
}

static void test_operators(void)
{
    for (const LithoOperator *const *op = litho_operators(); *op; op++) {
        empty_flow();
        litho_session_add_step(gui.session, *op);
        g_assert_true(gui_wait(answered, &gui, 120));
        const GError *problem = litho_session_problem(gui.session);
        const char *refused = litho_session_flow_problem(gui.session);
        g_test_message("%s: %s", (*op)->key, refused ? refused : problem ? problem->message : "ok");
        gui_settle(&gui);
        for (guint k = 0; k < (*op)->params.n; k++)
            check_row(&(*op)->params.rows[k]);
        // The shown cube has the shape of the result, also when that is not the input's.
        LithoCube *output = litho_session_output(gui.session);
        if (output)
            g_assert_true(litho_grid_same_shape(&output->grid, litho_session_grid(gui.session)));
        g_autofree char *file = g_strdup_printf("operator-%s", (*op)->key);
        gui_screenshot(&gui, file);
    }
}

// Property: the appearance follows at once, and the data background stays the same dark grey.
static void test_dark(void)
{
    g_action_group_activate_action(G_ACTION_GROUP(gui.app), "appearance",
                                   g_variant_new_string("dark"));
    gui_spin(&gui, 0.4);
    gboolean dark;
    g_object_get(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", &dark, NULL);
    g_assert_true(dark);
    gui_screenshot(&gui, "dark");
    gui_activate(&gui, "win.fold-left");
    gui_activate(&gui, "win.fold-right");
    gui_spin(&gui, 0.4);
    gui_screenshot(&gui, "folded");
    gui_activate(&gui, "win.fold-left");
    gui_activate(&gui, "win.fold-right");
}

// Property: the widths of the side panels and the units of the axes are those of the last time. A
// panel that is folded when the window is closed has its width when it comes back.
static void test_settings(void)
{
    GtkPaned *left = GTK_PANED(gui_find_type(GTK_WIDGET(gui.window), GTK_TYPE_PANED));
    GtkPaned *right = GTK_PANED(gtk_paned_get_end_child(left));
    gtk_paned_set_position(left, 340);
    gtk_paned_set_position(right, gtk_paned_get_position(right) - 60);
    gui_activate(&gui, "win.time-unit('s')");
    gui_activate(&gui, "win.lines('metres')");
    gui_spin(&gui, 0.3);
    int width = gtk_widget_get_width(gtk_paned_get_end_child(right));
    gui_reopen(&gui);
    litho_window_open_demo(gui.window);
    g_assert_true(gui_wait(gui_has_input, &gui, 60));
    gui_spin(&gui, 0.5);
    left = GTK_PANED(gui_find_type(GTK_WIDGET(gui.window), GTK_TYPE_PANED));
    right = GTK_PANED(gtk_paned_get_end_child(left));
    g_assert_cmpint(gtk_widget_get_width(gtk_paned_get_start_child(left)), ==, 340);
    g_assert_cmpint(ABS(gtk_widget_get_width(gtk_paned_get_end_child(right)) - width), <=, 2);
    g_assert_cmpint(litho_session_display(gui.session)->units, ==,
                    LITHO_UNITS_S | LITHO_UNITS_METRES);
    gui_activate(&gui, "win.time-unit('auto')");
    gui_activate(&gui, "win.lines('numbers')");
    g_assert_cmpint(litho_session_display(gui.session)->units, ==, LITHO_UNITS_AUTO);
}

int main(int argc, char **argv)
{
    gui_init(&argc, &argv);
    gui_open_sized(&gui);
    g_test_add_func("/window/demo", test_demo);
    g_test_add_func("/window/drag", test_drag);
    g_test_add_func("/window/undo", test_undo);
    g_test_add_func("/window/compare", test_compare);
    g_test_add_func("/window/views", test_views);
    g_test_add_func("/window/save", test_save);
    g_test_add_func("/window/palette", test_palette);
    g_test_add_func("/window/palette-changes", test_palette_changes);
    g_test_add_func("/window/keys", test_keys);
    g_test_add_func("/window/sweep", test_sweep);
    g_test_add_func("/window/sweep-automatic", test_sweep_automatic);
    g_test_add_func("/window/sweep-of-two", test_sweep_of_two);
    g_test_add_func("/window/survey", test_survey);
    g_test_add_func("/window/broken-file", test_broken);
    g_test_add_func("/window/operators", test_operators);
    g_test_add_func("/window/unit", test_unit);
    g_test_add_func("/window/dark", test_dark);
    g_test_add_func("/window/settings", test_settings);
    g_test_add_func("/window/sweep-without-snr", test_sweep_without_snr);
    int status = test_run();
    gui_close(&gui);
    return status;
}
