// SPDX-License-Identifier: GPL-3.0-or-later
//
// The window and its files under a virtual display: sessions that survive closing and crashes,
// snapshots, import, cubes beyond memory, saving and its errors.
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "core/survey.h"
#include "kernels/template/template.h"
#include "tests/gui/gui.h"
#include "ui/state_store.h"
#include "ui/window_private.h"

static Gui gui;

// --- conditions to wait for ---------------------------------------------------------------------

static gboolean not_busy(Gui *g)
{
    return !litho_window_is_busy(g->window);
}

static gboolean has_output(Gui *g)
{
    return litho_session_output(g->session) != NULL;
}

static gboolean state_written(Gui *g)
{
    return !g->window->state_dirty && !g->window->state_job;
}

// --- files to open ------------------------------------------------------------------------------

// A cube whose every sample tells where it belongs.
static LithoCube *make_cube(gint64 n1, gint64 n2, gint64 n3)
{
    LithoGrid grid = litho_grid_new(n1, n2, n3);
    g_autoptr(GError) error = NULL;
    LithoCube *cube = litho_cube_new(&grid, &error);
    g_assert_no_error(error);
    for (gint64 i = 0; i < n1; i++)
        for (gint64 j = 0; j < n2; j++)
            for (gint64 k = 0; k < n3; k++)
                litho_cube_trace(cube, i, j)[k] =
                    (float)(sin(0.21 * i + 0.13 * j) * sin(0.3 * k + 0.02 * i * j));
    return cube;
}

static char *write_cube(const char *name, gint64 n1, gint64 n2, gint64 n3)
{
    char *path = gui_path(&gui, name);
    g_autoptr(LithoCube) cube = make_cube(n1, n2, n3);
    g_autoptr(GError) error = NULL;
    LithoSaveOptions options = {.force = TRUE};
    g_assert_true(litho_cube_save(cube, path, &options, NULL, &error));
    g_assert_no_error(error);
    return path;
}

static void open_file(const char *path)
{
    litho_window_open(gui.window, (const char *const[]){path, NULL});
    g_assert_true(gui_wait(not_busy, &gui, 60));
}

static double gain(void)
{
    const LithoStep *s = litho_flow_step(litho_session_flow(gui.session), 0);
    return litho_param_get(litho_param_find(&s->op->params, "gain"), s->params);
}

static void set_gain(double value)
{
    const LithoParam *row = litho_param_find(&litho_operator_template.params, "gain");
    g_assert_true(litho_session_set_param(gui.session, 0, row, value, NULL, NULL));
}

static void forget_flow(void)
{
    g_autoptr(LithoFlow) none = litho_flow_new();
    litho_session_restore_flow(gui.session, none, -1, litho_history_new());
}

// --- sessions -----------------------------------------------------------------------------------

// Property: what was tuned and how it was looked at is on disk soon after the last change, without
// leaving the program (a crash loses nothing), and a window opened later brings all of it back:
// flow, undo, snapshots, slices, zoom, clip, comparison.
static void test_session(void)
{
    g_autofree char *path = write_cube("tuned.sgy", 20, 24, 60);
    open_file(path);
    litho_session_add_step(gui.session, &litho_operator_template);
    set_gain(3);
    g_assert_true(gui_wait(has_output, &gui, 20));
    gui_activate(&gui, "win.snapshot");
    set_gain(5);
    litho_session_set_slice(gui.session, 0, 7);
    litho_session_set_slice(gui.session, 2, 31);
    double lo[3] = {2, 3, 10}, hi[3] = {15, 16, 40};
    litho_session_set_window(gui.session, lo, hi);
    litho_session_set_clip(gui.session, 0.625);
    gui_activate(&gui, "win.show('split')");
    gui_activate(&gui, "win.maximise(0)");
    g_assert_true(gui_wait(state_written, &gui, 10));
    g_autofree char *key = litho_state_newest();
    g_autoptr(GError) error = NULL;
    JsonNode *state = litho_state_read(key, &error);
    g_assert_no_error(error);
    g_autoptr(LithoFlow) saved = litho_flow_from_json(
        json_object_get_member(json_node_get_object(state), "recipe"), &error);
    g_assert_no_error(error);
    g_assert_true(litho_flow_equal(saved, litho_session_flow(gui.session)));
    json_node_unref(state);

    gui_reopen(&gui);
    g_assert_cmpuint(litho_flow_length(litho_session_flow(gui.session)), ==, 0);
    g_assert_true(gtk_widget_get_visible(gui.window->start_continue));
    gui_screenshot(&gui, "files-continue");
    gui_activate(&gui, "win.continue");
    g_assert_true(gui_wait(not_busy, &gui, 60));
    g_assert_null(litho_window_error(gui.window));
    g_assert_cmpstr(litho_session_path(gui.session), ==, path);
    g_assert_cmpfloat(gain(), ==, 5);
    const LithoDisplay *d = litho_session_display(gui.session);
    g_assert_cmpint(d->slice[0], ==, 7);
    g_assert_cmpint(d->slice[2], ==, 31);
    g_assert_cmpmem(d->lo, sizeof d->lo, lo, sizeof lo);
    g_assert_cmpmem(d->hi, sizeof d->hi, hi, sizeof hi);
    g_assert_cmpint(d->show, ==, LITHO_SHOW_SPLIT);
    g_assert_cmpint(litho_canvas_maximised(litho_window_canvas(gui.window)), ==, 0);
    g_assert_cmpuint(litho_snapshots_count(gui.window->snapshots), ==, 1);
    gui_settle(&gui);
    g_assert_cmpfloat(litho_session_clip(gui.session), ==, 0.625); // numbers have come since
    gui_activate(&gui, "win.maximise(0)");
    gui_screenshot(&gui, "files-continued");
    gui_activate(&gui, "win.undo");
    g_assert_cmpfloat(gain(), ==, 3);
    gui_activate(&gui, "win.redo");
    g_assert_cmpfloat(gain(), ==, 5);
}

// Property: a file opened while a flow is there gets that flow, and its own recipe is one undo away;
// opened with nothing there, it comes as it was left.
static void test_other_file(void)
{
    g_autofree char *first = gui_path(&gui, "tuned.sgy");
    g_autofree char *second = write_cube("other.sgy", 10, 12, 40);
    set_gain(7);
    open_file(second);
    g_assert_cmpfloat(gain(), ==, 7);
    g_assert_cmpuint(litho_snapshots_count(gui.window->snapshots), ==, 0);
    set_gain(2);
    open_file(first);
    g_assert_cmpfloat(gain(), ==, 2);
    gui_activate(&gui, "win.undo");
    g_assert_cmpfloat(gain(), ==, 7);
    forget_flow();
    open_file(second);
    g_assert_cmpfloat(gain(), ==, 2);
    g_assert_null(litho_window_error(gui.window));
}

// Property: a session file that makes no sense costs one sentence and nothing else, whatever is in
// it: no JSON, another JSON, a recipe of an unknown operator, numbers where lists belong.
static void test_broken_session(void)
{
    static const char *const texts[] = {
        "{ \"lithoscope-session\": 1, ", "[1, 2, 3]", "\"text\"",
        "{ \"lithoscope-session\": 1, \"recipe\": { \"lithoscope\": 1, \"flow\": [ { "
        "\"operator\": \"nonsense\" } ] } }",
        "{ \"lithoscope-session\": 1, \"recipe\": 5, \"past\": 3, \"views\": [], \"look\": 1 }",
    };
    g_autofree char *path = gui_path(&gui, "other.sgy");
    g_autofree char *key = litho_state_key((const char *const[]){path, NULL});
    for (guint k = 0; k < G_N_ELEMENTS(texts); k++) {
        open_file(path);
        forget_flow();
        g_assert_true(gui_wait(state_written, &gui, 10));
        gtk_widget_set_visible(gui.window->error_bar, FALSE);
        g_assert_true(litho_state_write(key, texts[k], g_get_monotonic_time(), NULL));
        open_file(path);
        g_test_message("%s", litho_window_error(gui.window));
        g_assert_nonnull(litho_window_error(gui.window));
        g_assert_cmpstr(litho_session_path(gui.session), ==, path);
    }
    gui_screenshot(&gui, "files-broken-session");
    // Odd pieces of a session that is one otherwise are passed over without a word.
    static const char odd[] =
        "{ \"lithoscope-session\": 1, \"recipe\": { \"lithoscope\": 1, \"flow\": [] }, "
        "\"past\": [1, {}, null], \"snapshots\": [3, { \"letter\": \"?\" }], \"selected\": 99, "
        "\"views\": { \"shape\": [10, 12, 40], \"slices\": [-5, 1000, 3], \"lo\": [5, 5, 5], "
        "\"hi\": [1, 1, 1], \"camera\": [0] }, \"look\": { \"clip\": -3, \"wiggle\": 77 } }";
    gtk_widget_set_visible(gui.window->error_bar, FALSE);
    g_assert_true(gui_wait(state_written, &gui, 10));
    g_assert_true(litho_state_write(key, odd, g_get_monotonic_time(), NULL));
    open_file(path);
    g_assert_null(litho_window_error(gui.window));
    g_assert_cmpint(litho_session_display(gui.session)->slice[0], ==, 0);
    g_assert_cmpint(litho_session_display(gui.session)->slice[1], ==, 11);
}

// --- snapshots ----------------------------------------------------------------------------------

static float output_at(gint64 i, gint64 j, gint64 k)
{
    float x = NAN;
    g_assert_true(litho_session_sample(gui.session, TRUE, (const gint64[]){i, j, k}, &x));
    return x;
}

static gboolean compared_ready(Gui *g)
{
    return litho_session_reference_name(g->session) != NULL;
}

// Property: A and B come back with their samples at once and without computing; the output can be
// compared with either, also after their results were dropped (then it is computed); removing one
// leaves the other alone. The template multiplies by its gain: samples tell which one is shown.
static void test_snapshots(void)
{
    g_autofree char *path = write_cube("snap.sgy", 12, 12, 40);
    forget_flow();
    open_file(path);
    LithoSnapshots *s = gui.window->snapshots;
    litho_session_add_step(gui.session, &litho_operator_template);
    set_gain(2);
    g_assert_true(gui_wait(has_output, &gui, 20));
    float one = output_at(3, 4, 5) / 2;
    gui_activate(&gui, "win.snapshot");
    g_assert_false(g_action_group_get_action_enabled(G_ACTION_GROUP(gui.window), "snapshot"));
    set_gain(4);
    gui_activate(&gui, "win.snapshot");
    g_assert_true(gui_wait(has_output, &gui, 20));
    gui_settle(&gui);
    g_assert_cmpuint(litho_snapshots_count(s), ==, 2);
    g_assert_nonnull(litho_snapshots_get(s, 0)->result);
    g_assert_nonnull(litho_snapshots_get(s, 1)->result);
    set_gain(9);
    g_assert_true(gui_wait(has_output, &gui, 20));

    gui_activate(&gui, "win.snapshot-go('A')");
    g_assert_cmpfloat(gain(), ==, 2);
    g_assert_nonnull(litho_session_output(gui.session)); // at once
    g_assert_cmpfloat_with_epsilon(output_at(3, 4, 5), 2 * one, 1e-5);
    gui_activate(&gui, "win.snapshot-go('B')");
    g_assert_cmpfloat_with_epsilon(output_at(3, 4, 5), 4 * one, 1e-5);
    gui_activate(&gui, "win.snapshot-compare('A')");
    g_assert_cmpstr(litho_session_reference_name(gui.session), ==, "A");
    gui_activate(&gui, "win.show('split')");
    gui_spin(&gui, 0.4);
    gui_screenshot(&gui, "files-snapshots");
    float reference;
    g_assert_true(litho_session_sample(gui.session, FALSE, (const gint64[]){3, 4, 5}, &reference));
    g_assert_cmpfloat_with_epsilon(reference, 2 * one, 1e-5);
    gui_activate(&gui, "win.snapshot-compare('')");
    g_assert_null(litho_session_reference_name(gui.session));
    gui_activate(&gui, "win.show('output')");

    open_file(path); // the same file: parameters stay, results go
    g_assert_cmpuint(litho_snapshots_count(s), ==, 2);
    gui_settle(&gui);
    g_assert_null(litho_snapshots_get(s, 0)->result);
    litho_snapshots_compare(s, 0);
    g_assert_true(gui_wait(compared_ready, &gui, 20));
    g_assert_true(litho_session_sample(gui.session, FALSE, (const gint64[]){3, 4, 5}, &reference));
    g_assert_cmpfloat_with_epsilon(reference, 2 * one, 1e-5);
    litho_snapshots_rename(s, 1, "stronger");
    litho_snapshots_remove(s, 0);
    g_assert_null(litho_session_reference_name(gui.session));
    g_assert_cmpuint(litho_snapshots_count(s), ==, 1);
    g_assert_cmpstr(litho_snapshots_get(s, 0)->name, ==, "stronger");
    g_assert_cmpint(litho_snapshots_get(s, 0)->letter, ==, 'B');
}

int main(int argc, char **argv)
{
    gui_init(&argc, &argv);
    const char *size = g_getenv("LITHO_WINDOW_SIZE");
    gboolean large = size && strcmp(size, "large") == 0;
    gui_open(&gui, large ? 2560 : 1280, large ? 1440 : 800);
    g_test_add_func("/files/session", test_session);
    g_test_add_func("/files/other-file", test_other_file);
    g_test_add_func("/files/broken-session", test_broken_session);
    g_test_add_func("/files/snapshots", test_snapshots);
    int status = g_test_run();
    gui_close(&gui);
    return status;
}
