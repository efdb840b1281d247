// SPDX-License-Identifier: GPL-3.0-or-later
//
// Showing the program: the tour played and left, presenter mode, recording, the race, a measured
// drag.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/gui/files.h"
#include "core/json.h"
#include "ui/panel/snapshot_bar.h"
#include "ui/session/points.h"
#include "ui/show/recorder.h"
#include "ui/window/measure.h"
#include "ui/window/window_private.h"

static Gui gui;

static LithoPlayer *player(void)
{
    return litho_podium_player(gui.window->podium);
}

static guint step(void)
{
    guint at = 0;
    g_assert_nonnull(litho_player_script(player(), &at));
    return at;
}

static gboolean at_end(Gui *g)
{
    (void)g;
    return litho_player_is_at_end(player());
}

// A script of three quick steps with a ramp, on a small cube.
static char *write_script(void)
{
    g_autoptr(GError) error = NULL;
    char *path = gui_path(&gui, "quick.json");
    g_assert_true(g_file_set_contents(
        path,
        "{\"lithoscope-demo\": 1, \"title\": \"Quick\", \"steps\": ["
        "{\"caption\": \"one\", \"cube\": {\"generate\": \"mix\", \"params\": {\"inlines\": 12, "
        "\"xlines\": 14, \"samples\": 64}}, \"show\": \"input\", \"dwell\": 0.3},"
        "{\"caption\": \"two\", \"flow\": [{\"operator\": \"template\"}], \"show\": \"split\", "
        "\"split\": [0.2, 0.8], \"ramps\": [{\"parameter\": \"gain\", \"from\": 0.5, \"to\": 2}], "
        "\"slices\": {\"inline\": [0, 1]}, \"dwell\": 0.5},"
        "{\"caption\": \"three\", \"view\": \"inline\", \"show\": \"output\", \"act\": \"race\", "
        "\"lanes\": [{\"device\": \"cpu\", \"threads\": 1}, {\"device\": \"cpu\"}], \"dwell\": "
        "0.2}]}",
        -1, &error));
    g_assert_no_error(error);
    return path;
}

// Property: a script opens its cube, moves its parameter, divider and slice to their ends, holds
// its race and stops at its end; Escape brings back file, flow and what was compared.
static void test_play(void)
{
    g_autofree char *path = write_script(), *file = gui_write_cube(&gui, "mine.npy", 9, 10, 40);
    gui_open_with_gain(&gui, file, 3);
    gui_activate(&gui, "win.show('removed')");
    litho_podium_play(gui.window->podium, path);
    g_assert_true(gui_wait(at_end, &gui, 60));
    g_assert_cmpuint(step(), ==, 2);
    g_assert_cmpint(litho_session_input(gui.session)->grid.axis[1].n, ==, 14);
    g_assert_cmpfloat(gui_gain(&gui), ==, 2);
    g_assert_cmpfloat(litho_session_display(gui.session)->look.split, ==, 0.8);
    g_assert_cmpint(litho_session_display(gui.session)->slice[0], ==, 11);
    g_assert_cmpint(litho_canvas_maximised(litho_window_canvas(gui.window)), ==, LITHO_INLINE);
    LithoRaceView *race = litho_podium_race_view(gui.window->podium);
    g_assert_nonnull(litho_race_view_result(race));
    g_assert_true(gtk_widget_get_visible(GTK_WIDGET(race)));
    gui_screenshot(&gui, "show-race");
    litho_player_end(player());
    g_assert_false(gtk_widget_get_visible(GTK_WIDGET(race)));
    g_assert_false(litho_player_is_playing(player()));
    g_assert_cmpint(litho_session_input(gui.session)->grid.axis[1].n, ==, 10);
    g_assert_cmpfloat(gui_gain(&gui), ==, 3);
    g_assert_cmpint(litho_session_display(gui.session)->show, ==, LITHO_SHOW_REMOVED);
    g_assert_cmpstr(litho_open_file_path(gui.window->file), ==, file);
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
    gui_settle(&gui);
}

// Property: the race of an operator with a published scheme, which has one choice more, stays
// between the panels: at 1280 pixels its second clock and the button Close lay beneath the right
// one.
static void test_race_fits(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = gui_path(&gui, "fits.json");
    g_file_set_contents(
        path,
        "{\"lithoscope-demo\": 1, \"title\": \"Fits\", \"steps\": [{\"cube\": {\"generate\": "
        "\"mix\", \"params\": {\"inlines\": 24, \"xlines\": 24, \"samples\": 64}}, \"flow\": "
        "[{\"operator\": \"fx\"}], \"view\": \"inline\", \"show\": \"output\", \"act\": "
        "\"race\", \"dwell\": 0.2}]}",
        -1, &error);
    g_assert_no_error(error);
    litho_podium_play(gui.window->podium, path);
    g_assert_true(gui_wait(at_end, &gui, 60));
    gui_screenshot(&gui, "show-race-fx");
    graphene_rect_t race, panel;
    GtkWidget *window = GTK_WIDGET(gui.window);
    g_assert_true(gtk_widget_compute_bounds(
        GTK_WIDGET(litho_podium_race_view(gui.window->podium)), window, &race));
    g_assert_true(gtk_widget_compute_bounds(
        litho_panels_get(gui.window->panels, LITHO_PANEL_RIGHT), window, &panel));
    g_assert_cmpfloat(race.origin.x + race.size.width, <=, panel.origin.x + 1);
    litho_player_end(player());
    gui_settle(&gui);
}

// Property: a script can be held, stepped to and fro, and left in the middle of a job.
static void test_steps(void)
{
    g_autofree char *path = write_script();
    GActionGroup *actions = G_ACTION_GROUP(gui.window);
    g_assert_false(g_action_group_get_action_enabled(actions, "demo-next"));
    litho_podium_play(gui.window->podium, path);
    g_assert_true(g_action_group_get_action_enabled(actions, "demo-next"));
    litho_player_pause(player(), TRUE);
    gui_spin(&gui, 1.2);
    g_assert_cmpuint(step(), ==, 0);
    gui_activate(&gui, "win.demo-next");
    g_assert_cmpuint(step(), ==, 1);
    gui_activate(&gui, "win.demo-back");
    gui_activate(&gui, "win.demo-back"); // nothing before the first
    g_assert_cmpuint(step(), ==, 0);
    gui_activate(&gui, "win.demo-end");
    litho_podium_play(gui.window->podium, path);
    gui_activate(&gui, "win.demo-end"); // while its cube is made
    g_assert_false(g_action_group_get_action_enabled(actions, "demo-next"));
    gui_spin(&gui, 0.3);
    g_assert_cmpint(litho_session_input(gui.session)->grid.axis[1].n, ==, 10);
    litho_podium_play(gui.window->podium, "turo");
    g_assert_nonnull(strstr(litho_window_error(gui.window), "tour"));
    gui_settle(&gui);
}

// Property: a file that is opened while a demonstration plays ends it: no later step touches the
// file, its flow is its own or that of before, and what was open keeps its session.
static void test_open_during(void)
{
    g_autofree char *path = write_script(), *mine = gui_write_cube(&gui, "mine.npy", 9, 10, 40);
    g_autofree char *other = gui_write_cube(&gui, "other.npy", 7, 8, 30);
    gui_open_with_gain(&gui, mine, 3);
    litho_podium_play(gui.window->podium, path);
    gui_spin(&gui, 0.5);
    gui_open_file(&gui, other);
    g_assert_false(litho_player_is_playing(player()));
    gui_spin(&gui, 1);
    g_assert_cmpint(litho_session_input(gui.session)->grid.axis[1].n, ==, 8);
    g_assert_cmpfloat(gui_gain(&gui), ==, 3);
    gui_set_gain(&gui, 5);
    gui_open_file(&gui, mine);
    g_assert_cmpfloat(gui_gain(&gui), ==, 3);
    gui_settle(&gui);
}

// Property: what is not saved with a file comes back behind a demonstration, too: noted points, the
// area tool, the reference and whether it is compared with.
static void test_place(void)
{
    g_autofree char *path = write_script();
    LithoPoints *points = litho_points_of(gui.session);
    LithoCube *in = litho_session_input(gui.session);
    const LithoArea area = {.on = TRUE, .axis = LITHO_INLINE, .box = {{2, 1, 5}, {3, 7, 20}}};
    litho_points_add(points, (const gint64[]){1, 2, 3});
    litho_session_set_area(gui.session, &area);
    litho_judgement_set_truth(gui.window->judgement, in, "Kept");
    litho_session_set_reference(gui.session, in, "Kept");
    litho_podium_play(gui.window->podium, path);
    g_assert_true(gui_wait(at_end, &gui, 60));
    g_assert_cmpuint(litho_points_count(points), ==, 0);
    litho_player_end(player());
    g_assert_cmpuint(litho_points_count(points), ==, 1);
    g_assert_true(litho_box_equal(litho_session_area(gui.session)->box, area.box));
    g_assert_true(litho_judgement_truth(gui.window->judgement, NULL) == in);
    g_assert_cmpstr(litho_session_reference_name(gui.session), ==, "Kept");
    gui_activate(&gui, "win.reference-forget");
    litho_session_set_area(gui.session, NULL);
    gui_settle(&gui);
}

// Property: what is being recorded is not thrown away by a demonstration.
static void test_record_stays(void)
{
    g_autofree char *path = write_script();
    g_autofree char *mine = gui_write_cube(&gui, "mine.npy", 9, 10, 40);
    LithoPodium *podium = gui.window->podium;
    gui_open_file(&gui, mine);
    litho_podium_record(podium);
    litho_podium_play(podium, path);
    g_assert_false(litho_player_is_playing(player()));
    g_assert_nonnull(strstr(litho_window_error(gui.window), "recording"));
    g_autoptr(GVariant) state =
        g_action_group_get_action_state(G_ACTION_GROUP(gui.window), "record");
    g_assert_true(g_variant_get_boolean(state));
    gui_reopen(&gui); // ends it
}

// Property: a script that is presented has the window to itself: neither an earlier error nor the
// line that explains snapshots stands above the views.
static void test_nothing_above(void)
{
    g_autofree char *path = write_script();
    GtkWidget *line = gui_find_type(GTK_WIDGET(gui.window), LITHO_TYPE_SNAPSHOT_BAR);
    litho_podium_play(gui.window->podium, "turo");
    g_assert_nonnull(litho_window_error(gui.window));
    gui_activate(&gui, "win.present");
    litho_podium_play(gui.window->podium, path);
    g_assert_true(gui_wait(at_end, &gui, 60));
    g_assert_null(litho_window_error(gui.window));
    g_assert_false(gtk_widget_get_visible(line));
    gui_screenshot(&gui, "show-presented-race");
    litho_player_end(player());
    gui_activate(&gui, "win.present");
    g_assert_true(gtk_widget_get_visible(line));
    gui_settle(&gui);
}

// Property: presenting folds the panels and notes about the file, makes text larger and shows
// device, time and ratio; leaving it brings panels, notes and text back.
static void test_present(void)
{
    int before, during, after;
    g_autofree char *file = gui_write_cube(&gui, "mine.npy", 9, 10, 40);
    gui_open_with_gain(&gui, file, 3);
    GtkSettings *settings = gtk_widget_get_settings(GTK_WIDGET(gui.window));
    GtkWidget *notes = litho_bar_widget(litho_tellers_notes(gui.window->tellers));
    g_object_get(settings, "gtk-xft-dpi", &before, NULL);
    g_assert_true(gtk_widget_get_visible(notes)); // the file states no sample interval
    gui_activate(&gui, "win.present");
    gui_spin(&gui, 1);
    g_assert_false(gtk_widget_get_visible(notes));
    g_object_get(settings, "gtk-xft-dpi", &during, NULL);
    g_assert_cmpint(during, >=, before > 0 ? before * 3 / 2 : 1);
    g_assert_false(gtk_widget_get_visible(litho_panels_get(gui.window->panels, LITHO_PANEL_LEFT)));
    g_assert_false(gtk_widget_get_visible(litho_panels_get(gui.window->panels, LITHO_PANEL_RIGHT)));
    gui_settle(&gui);
    gui_screenshot(&gui, "show-presenter");
    gui_activate(&gui, "win.present");
    gui_spin(&gui, 1);
    g_object_get(settings, "gtk-xft-dpi", &after, NULL);
    g_assert_cmpint(after, ==, before);
    g_assert_true(gtk_widget_get_visible(notes));
    g_assert_true(gtk_widget_get_visible(litho_panels_get(gui.window->panels, LITHO_PANEL_LEFT)));
    g_assert_true(gtk_widget_get_visible(litho_panels_get(gui.window->panels, LITHO_PANEL_RIGHT)));
    gui_settle(&gui);
}

// Property: a window that is closed while it presents opens with its panels the next time.
static void test_present_closed(void)
{
    gui_activate(&gui, "win.present");
    gui_spin(&gui, 0.5);
    gui_reopen(&gui);
    g_assert_false(litho_podium_is_presenting(gui.window->podium));
    for (int k = 0; k < 2; k++)
        g_assert_true(litho_window_wants_panel(gui.window, k));
}

// Property: presenting without a cube leaves the start page as it was: no line of snapshots.
static void test_present_nothing(void)
{
    gui_reopen(&gui);
    GtkWidget *line = gui_find_type(GTK_WIDGET(gui.window), LITHO_TYPE_SNAPSHOT_BAR);
    g_assert_null(litho_session_input(gui.session));
    g_assert_false(gtk_widget_get_visible(line));
    gui_activate(&gui, "win.present");
    gui_spin(&gui, 0.5);
    gui_activate(&gui, "win.present");
    gui_spin(&gui, 0.5);
    g_assert_false(gtk_widget_get_visible(line));
}

// Property: what is done while a recording runs can be read back as steps: a dragged value as a
// ramp, a comparison as a step.
static void test_record(void)
{
    g_autoptr(GError) error = NULL;
    LithoRecorder *recorder = litho_recorder_start(gui.window, &error);
    g_assert_no_error(error);
    gui_set_gain(&gui, 3.5);
    gui_set_gain(&gui, 4);
    gui_spin(&gui, 1.2);
    gui_activate(&gui, "win.show('split')");
    gui_spin(&gui, 1.2);
    g_autoptr(LithoScript) script = litho_recorder_stop(recorder);
    g_autofree char *text = litho_script_print(script);
    g_autoptr(LithoScript) again = litho_script_parse(text, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(again->steps->len, ==, 3);
    const LithoScriptStep *drag = g_ptr_array_index(again->steps, 1),
                          *last = g_ptr_array_index(again->steps, 2);
    g_assert_cmpuint(drag->ramps->len, ==, 1);
    const LithoScriptRamp *ramp = &g_array_index(drag->ramps, LithoScriptRamp, 0);
    g_assert_cmpstr(ramp->row->key, ==, "gain");
    g_assert_cmpfloat(ramp->from, ==, 3);
    g_assert_cmpfloat(ramp->to, ==, 4);
    g_assert_cmpint(last->show, ==, LITHO_SCRIPT_SPLIT);
    g_assert_true(g_str_has_suffix(last->cube.file, "mine.npy"));
}

// Property: the shipped tour goes to its end in the window, presented; its Find and its race tell
// something.
static void test_tour(void)
{
    if (!g_test_slow()) {
        g_test_skip("a minute and more: run with -m slow");
        return;
    }
    gui_activate(&gui, "win.present");
    litho_podium_play(gui.window->podium, "tour");
    guint shown = G_MAXUINT;
    for (int k = 0; k < 1800 && !at_end(&gui); k++) {
        gui_spin(&gui, 0.1);
        if (step() != shown && litho_session_output(gui.session)) {
            g_autofree char *name = g_strdup_printf("tour-%u", shown = step());
            gui_spin(&gui, 1.5);
            gui_screenshot(&gui, name);
        }
    }
    g_assert_true(at_end(&gui));
    gui_screenshot(&gui, "tour-end");
    g_assert_cmpfloat(litho_race_view_ratio(litho_podium_race_view(gui.window->podium)), >=, 1);
    litho_player_end(player());
    gui_activate(&gui, "win.present");
    gui_settle(&gui);
}

static gboolean is_gone(Gui *g)
{
    return g->window == NULL;
}

static double figure(JsonObject *figures, const char *key)
{
    g_assert_true(json_object_has_member(figures, key));
    return json_object_get_double_member(figures, key);
}

// Standard output into a file, and back to where it went.
static int into_file(const char *path)
{
    fflush(stdout);
    const int before = dup(STDOUT_FILENO);
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    g_assert_cmpint(file, >=, 0);
    dup2(file, STDOUT_FILENO);
    close(file);
    return before;
}

static void back_to(int before)
{
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
}

// Lines of the file, all of which begin as asked.
static guint count_lines(const char *path, const char *prefix)
{
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    guint n = 0;
    for (; lines[n] && *lines[n]; n++)
        g_assert_true(g_str_has_prefix(lines[n], prefix));
    return n;
}

// Property: a drag that ends where the flow is refused, here on a band without a frequency, is
// measured like any other: the slider goes back to where it was, a whole result comes, and the
// figures say how many events were refused and what the longest block was spent in; the picture of
// the window at the end of the drag is there, and each line of the table is behind its prefix.
static void test_measure(void)
{
    const LithoOperator *fx = litho_operator_find("fx");
    g_autofree char *path = gui_write_cube(&gui, "dragged.npy", 12, 14, 64);
    g_autofree char *json = gui_path(&gui, "figures.json");
    g_autofree char *picture = gui_path(&gui, "dragged.png");
    gui_open_file(&gui, path);
    gui_use_operator(&gui, fx);
    gui_set_param(&gui, fx, "fmin", 100);
    g_assert_true(gui_wait(gui_has_output, &gui, 60));
    g_autoptr(LithoSession) session = g_object_ref(gui.session);
    g_object_add_weak_pointer(G_OBJECT(gui.window), (gpointer *)&gui.window);
    int status = -1;
    const LithoMeasure measure = {
        .seconds = 2, .param = "fmax", .json = json, .picture = picture, .prefix = "# "};
    g_autofree char *table = gui_path(&gui, "table.txt");
    const int before = into_file(table);
    litho_measure_start(gui.window, &measure, &status); // closes the window at its end
    const gboolean gone = gui_wait(is_gone, &gui, 60);
    back_to(before);
    g_assert_true(gone);
    g_assert_cmpuint(count_lines(table, "# "), >, 20);
    g_assert_cmpint(status, ==, 0);
    const LithoStep *step = litho_flow_step(litho_session_flow(session), 0);
    g_assert_cmpfloat(litho_param_get(litho_param_find(&fx->params, "fmax"), step->params), ==, 0);
    g_autoptr(GError) error = NULL;
    g_autoptr(JsonNode) node = litho_json_load(json, &error);
    g_assert_no_error(error);
    JsonObject *figures = json_node_get_object(node);
    g_assert_cmpfloat(figure(figures, "refused"), >, 0);
    g_assert_cmpfloat(figure(figures, "refused"), <, figure(figures, "events"));
    g_assert_cmpfloat(figure(figures, "wrong"), ==, 0);
    const char *spent = json_object_get_string_member(figures, "longest_block_in");
    g_test_message("longest block: %s", spent);
    g_assert_true(strstr(spent, " ms") || g_str_equal(spent, "nothing that is timed"));
    g_assert_true(g_file_test(picture, G_FILE_TEST_IS_REGULAR));
    gui_reopen(&gui);
}

int main(int argc, char **argv)
{
    gui_init(&argc, &argv);
    const char *size = g_getenv("LITHO_WINDOW_SIZE");
    if (g_strcmp0(size, "1920") == 0)
        gui_open(&gui, 1920, 1080);
    else
        gui_open(&gui, 1280, 720);
    g_test_add_func("/show/play", test_play);
    g_test_add_func("/show/race-fits", test_race_fits);
    g_test_add_func("/show/steps", test_steps);
    g_test_add_func("/show/open-during", test_open_during);
    g_test_add_func("/show/place", test_place);
    g_test_add_func("/show/nothing-above", test_nothing_above);
    g_test_add_func("/show/present", test_present);
    g_test_add_func("/show/record", test_record);
    g_test_add_func("/show/tour", test_tour);
    g_test_add_func("/show/measure", test_measure);
    g_test_add_func("/show/present-nothing", test_present_nothing);
    g_test_add_func("/show/present-closed", test_present_closed);
    g_test_add_func("/show/record-stays", test_record_stays);
    int status = g_test_run();
    gui_close(&gui);
    return status;
}
