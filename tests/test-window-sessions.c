// SPDX-License-Identifier: GPL-3.0-or-later
//
// Sessions of the window under a virtual display: what survives closing and crashes, and cubes
// beyond memory.
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "core/io/survey.h"
#include "kernels/template/template.h"
#include "tests/gui/files.h"
#include "tests/gui/teller.h"
#include "ui/panel/snapshot_bar.h"
#include "ui/session/state_store.h"
#include "ui/window/window_private.h"

static Gui gui;

// --- conditions to wait for ---------------------------------------------------------------------

static gpointer sleep_on(LithoRun *run, gpointer data, GError **error)
{
    (void)run, (void)error;
    g_usleep(2500000); // longer than a change waits for its being written
    return data;
}

static void awake(gpointer result, const GError *error, gpointer data)
{
    (void)result;
    litho_window_end_job(data, error);
}

static gboolean state_written(Gui *g)
{
    return litho_state_writer_is_settled(g->window->writer);
}

// --- sessions -----------------------------------------------------------------------------------

// Property: what was tuned and how it was looked at is on disk soon after the last change, without
// leaving the program (a crash loses nothing), and a window opened later brings all of it back:
// flow, undo, snapshots, slices, zoom, clip, comparison.
static void test_session(void)
{
    g_autofree char *path = gui_write_cube(&gui, "tuned.sgy", 20, 24, 60);
    gui_open_file(&gui, path);
    litho_session_add_step(gui.session, &litho_operator_template);
    gui_set_gain(&gui, 3);
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
    gui_activate(&gui, "win.snapshot");
    gui_set_gain(&gui, 5);
    litho_session_set_slice(gui.session, 0, 7);
    litho_session_set_slice(gui.session, 2, 31);
    double lo[3] = {2, 3, 10}, hi[3] = {15, 16, 40};
    litho_session_set_window(gui.session, lo, hi);
    litho_session_set_clip(gui.session, 0.625);
    gui_activate(&gui, "win.show('split')");
    g_assert_true(gui_wait(state_written, &gui, 10));
    gui_activate(&gui, "win.maximise(0)"); // alone, with nothing else to save
    g_assert_true(litho_state_writer_is_dirty(gui.window->writer));
    g_assert_true(gui_wait(state_written, &gui, 10));
    g_autofree char *key = litho_state_newest();
    g_autoptr(GError) error = NULL;
    JsonNode *state = litho_state_read(key, &error);
    g_assert_no_error(error);
    g_autoptr(LithoFlow) saved =
        litho_flow_from_json(json_object_get_member(json_node_get_object(state), "recipe"), &error);
    g_assert_no_error(error);
    g_assert_true(litho_flow_equal(saved, litho_session_flow(gui.session)));
    json_node_unref(state);

    gui_reopen(&gui);
    g_assert_cmpuint(litho_flow_length(litho_session_flow(gui.session)), ==, 0);
    g_assert_true(gtk_widget_get_visible(litho_start_page_continue(litho_middle_start(gui.window->middle))));
    GtkWidget *focus = gtk_root_get_focus(GTK_ROOT(gui.window));
    g_assert_true(focus == litho_start_page_continue(litho_middle_start(gui.window->middle)));
    gui_screenshot(&gui, "files-continue");
    gui_activate(&gui, "win.continue");
    g_assert_true(gui_wait(gui_is_free, &gui, 60));
    g_assert_null(litho_window_error(gui.window));
    g_assert_cmpstr(litho_session_path(gui.session), ==, path);
    g_assert_cmpfloat(gui_gain(&gui), ==, 5);
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
    g_assert_cmpfloat(gui_gain(&gui), ==, 3);
    gui_activate(&gui, "win.redo");
    g_assert_cmpfloat(gui_gain(&gui), ==, 5);
}

static double saved_gain(const char *path)
{
    g_autofree char *key = litho_state_key((const char *const[]){path, NULL});
    g_autoptr(GError) error = NULL;
    JsonNode *state = litho_state_read(key, &error);
    g_assert_no_error(error);
    g_autoptr(LithoFlow) flow =
        litho_flow_from_json(json_object_get_member(json_node_get_object(state), "recipe"), &error);
    g_assert_no_error(error);
    json_node_unref(state);
    const LithoStep *step = litho_flow_step(flow, 0);
    return litho_param_get(litho_param_find(&step->op->params, "gain"), step->params);
}

static gboolean is_written_at_work(Gui *g)
{
    return state_written(g) && litho_window_is_busy(g->window);
}

// Property: a change during a long saving is on disk while that goes on; one during an opening,
// when nothing is written and no recipe is taken, soon after it.
static void test_during_job(void)
{
    static const LithoJobFuncs funcs = {sleep_on, NULL, awake, NULL};
    g_autofree char *path = gui_write_cube(&gui, "during.sgy", 10, 12, 40);
    gui_open_with_gain(&gui, path, 2);
    g_assert_true(gui_wait(state_written, &gui, 10));
    litho_window_start_job(gui.window, "save", "Sleeping", &funcs, gui.window);
    gui_set_gain(&gui, 5);
    g_assert_true(gui_wait(is_written_at_work, &gui, 10));
    g_assert_true(gui_wait(gui_is_free, &gui, 10));
    g_assert_cmpfloat(saved_gain(path), ==, 5);
    litho_window_start_job(gui.window, "open", "Sleeping", &funcs, gui.window);
    litho_window_load_recipe(gui.window, path); // refused before it is read
    g_assert_nonnull(strstr(litho_window_error(gui.window), "cancel it or wait"));
    gui_set_gain(&gui, 6);
    g_assert_true(gui_wait(gui_is_free, &gui, 10));
    g_assert_false(state_written(&gui));
    g_assert_true(gui_wait(state_written, &gui, 5));
    g_assert_cmpfloat(saved_gain(path), ==, 6);
}

// Property: a file that was left without a flow takes the present one; a file with a flow of its
// own comes as it was left, and neither opening nor closing changes what was saved with either. A
// flow chosen before any file is open is kept, and the file's own is one undo away.
static void test_other_file(void)
{
    g_autofree char *first = gui_path(&gui, "tuned.sgy");
    g_autofree char *second = gui_write_cube(&gui, "other.sgy", 10, 12, 40);
    gui_set_gain(&gui, 7);
    gui_open_file(&gui, second);
    g_assert_cmpfloat(gui_gain(&gui), ==, 7);
    g_assert_cmpuint(litho_snapshots_count(gui.window->snapshots), ==, 0);
    gui_set_gain(&gui, 2);
    gui_open_file(&gui, first);
    g_assert_cmpfloat(gui_gain(&gui), ==, 7);
    gui_open_file(&gui, second);
    g_assert_cmpfloat(gui_gain(&gui), ==, 2);
    g_assert_null(litho_window_error(gui.window));

    gui_reopen(&gui);
    g_assert_cmpfloat(saved_gain(first), ==, 7);
    g_assert_cmpfloat(saved_gain(second), ==, 2);
    litho_session_add_step(gui.session, &litho_operator_template);
    gui_set_gain(&gui, 9); // as "lithoscope -o template" does
    gui_open_file(&gui, first);
    g_assert_cmpfloat(gui_gain(&gui), ==, 9);
    gui_activate(&gui, "win.undo");
    g_assert_cmpfloat(gui_gain(&gui), ==, 7);
    gui_open_file(&gui, second);
    g_assert_cmpfloat(gui_gain(&gui), ==, 2);
}

// Property: a 2-D line opens with the one section it has filling the window, along either axis, a
// cube with all four views; restored, a line has its section and the scene in the whole height and
// no slice across it; what the user chose instead is remembered, although the first line of
// the next file is shown before that file is there.
static void test_line(void)
{
    static const struct {
        const char *name;
        gint64 n1, n2;
        int maximised;
    } files[] = {{"line.sgy", 1, 30, LITHO_INLINE},
                 {"across.sgy", 30, 1, LITHO_XLINE},
                 {"whole.sgy", 10, 12, -1}};
    for (guint k = 0; k < G_N_ELEMENTS(files); k++) {
        g_autofree char *path = gui_write_cube(&gui, files[k].name, files[k].n1, files[k].n2, 40);
        gui_open_file(&gui, path);
        g_assert_cmpint(litho_canvas_maximised(litho_window_canvas(gui.window)), ==,
                        files[k].maximised);
    }
    g_autofree char *line = gui_path(&gui, "line.sgy"), *whole = gui_path(&gui, "whole.sgy");
    gui_open_file(&gui, line);
    gui_activate(&gui, "win.maximise(0)");
    g_assert_true(gui_wait(state_written, &gui, 10));
    gui_spin(&gui, 0.3);
    LithoCanvas *canvas = litho_window_canvas(gui.window);
    GtkWidget *section = GTK_WIDGET(litho_canvas_view(canvas, LITHO_INLINE));
    g_assert_true(gtk_widget_get_mapped(section));
    g_assert_true(gtk_widget_get_mapped(GTK_WIDGET(litho_canvas_view(canvas, LITHO_VIEW_SCENE))));
    g_assert_false(gtk_widget_get_mapped(GTK_WIDGET(litho_canvas_view(canvas, LITHO_XLINE))));
    g_assert_false(gtk_widget_get_mapped(GTK_WIDGET(litho_canvas_view(canvas, LITHO_SAMPLE))));
    const int height = gtk_widget_get_height(GTK_WIDGET(canvas)); // with a border
    g_assert_cmpint(gtk_widget_get_height(section), >, height - 12);
    g_assert_cmpint(5 * gtk_widget_get_width(section), >,
                    3 * gtk_widget_get_width(GTK_WIDGET(canvas)) - 12);
    gui_open_file(&gui, whole);
    gui_spin(&gui, 0.3);
    g_assert_true(gtk_widget_get_mapped(GTK_WIDGET(litho_canvas_view(canvas, LITHO_SAMPLE))));
    g_assert_cmpint(2 * gtk_widget_get_height(section), <=,
                    gtk_widget_get_height(GTK_WIDGET(canvas)));
    gui_open_file(&gui, line);
    g_assert_cmpint(litho_canvas_maximised(litho_window_canvas(gui.window)), ==, -1);
}

static const char *name_of_row(const char *key)
{
    GtkWidget *row = litho_param_panel_row(litho_window_params(gui.window), key);
    return row ? gtk_label_get_text(GTK_LABEL(gui_find_nth(row, GTK_TYPE_LABEL, &(int){1}))) : NULL;
}

// Property: on a line the filter's window is longer than the row says, and the row says which
// lengths are in use; on a cube they are the row's own, and it says that it is automatic. The row
// of an axis says the window in use, cut to the survey.
static void test_window_of_line(void)
{
    static const char *const names[] = {"line.sgy", "whole.sgy"};
    static const char *const rows[] = {"Window\nhere 24 traces, 24 samples", "Window\nautomatic"};
    static const int inlines[] = {1, 10}; // of the survey: no window is longer
    for (guint k = 0; k < G_N_ELEMENTS(names); k++) {
        g_autofree char *path = gui_path(&gui, names[k]);
        gui_open_file(&gui, path);
        gui_forget_flow(&gui);
        litho_session_add_step(gui.session, litho_operator_find("patch"));
        litho_session_select(gui.session, 0);
        g_assert_true(gui_wait(gui_has_output, &gui, 20));
        gui_settle(&gui);
        g_assert_cmpstr(name_of_row("window"), ==, rows[k]);
        GtkWidget *row = litho_param_panel_row(litho_window_params(gui.window), "window_il");
        g_assert_cmpfloat(litho_param_editor_used(LITHO_PARAM_EDITOR(row)), ==, inlines[k]);
        gui_forget_flow(&gui);
    }
}

// Property: a session file that makes no sense costs one sentence and nothing else, whatever is in
// it: no JSON, another JSON, a recipe of an unknown operator, numbers where lists belong.
static void test_broken_session(void)
{
    static char deep[100001]; // nested so far that a parser's stack would not do
    static const char *const texts[] = {
        "{ \"lithoscope-session\": 1, ",
        "[1, 2, 3]",
        "\"text\"",
        "{ \"lithoscope-session\": 1, \"recipe\": { \"lithoscope\": 1, \"flow\": [ { "
        "\"operator\": \"nonsense\" } ] } }",
        "{ \"lithoscope-session\": 1, \"recipe\": 5, \"past\": 3, \"views\": [], \"look\": 1 }",
        "{ \"lithoscope-session\": 1, \"recipe\": { \"lithoscope\": 1, \"flow\": [ { "
        "\"operator\": 5 } ] } }",
        "{ \"lithoscope-session\": 1, \"recipe\": { \"lithoscope\": 1, \"flow\": [] }, "
        "\"look\": { \"colours_unsigned\": 5 } }",
        deep,
    };
    memset(deep, '[', sizeof deep - 1);
    g_autofree char *path = gui_path(&gui, "other.sgy");
    g_autofree char *key = litho_state_key((const char *const[]){path, NULL});
    for (guint k = 0; k < G_N_ELEMENTS(texts); k++) {
        gui_open_file(&gui, path);
        gui_forget_flow(&gui);
        g_assert_true(gui_wait(state_written, &gui, 10));
        litho_bar_hide(litho_tellers_error(gui.window->tellers));
        g_assert_true(litho_state_write(key, texts[k], g_get_monotonic_time(), NULL));
        gui_open_file(&gui, path);
        g_test_message("%s", litho_window_error(gui.window));
        g_assert_nonnull(litho_window_error(gui.window));
        g_assert_cmpstr(litho_session_path(gui.session), ==, path);
        // A refused session is set aside: it does not come back at the next start.
        // Sessions that were set aside before stay, too.
        g_autofree char *name = k == 0 ? g_strconcat(key, ".json.damaged", NULL)
                                       : g_strdup_printf("%s.json.damaged-%u", key, k + 1);
        g_autofree char *kept = NULL;
        g_autofree char *aside =
            g_build_filename(g_get_user_state_dir(), "lithoscope", "sessions", name, NULL);
        g_assert_true(g_file_get_contents(aside, &kept, NULL, NULL));
        g_assert_cmpstr(kept, ==, texts[k]);
    }
    gui_screenshot(&gui, "files-broken-session");
    // One that the start finds is told although a file is opened at once.
    g_assert_true(gui_wait(state_written, &gui, 10));
    g_assert_true(litho_state_write(key, texts[0], g_get_monotonic_time(), NULL));
    litho_window_update_start(gui.window);
    g_autofree char *told = g_strdup(litho_window_error(gui.window));
    gui_open_file(&gui, path);
    g_assert_cmpstr(litho_window_error(gui.window), ==, told);
    g_assert_nonnull(strstr(told, ".damaged"));
    // Odd pieces of a session that is one otherwise are passed over without a word.
    static const char odd[] =
        "{ \"lithoscope-session\": 1, \"recipe\": { \"lithoscope\": 1, \"flow\": [] }, "
        "\"past\": [1, {}, null], \"snapshots\": [3, { \"letter\": \"?\" }], \"selected\": 99, "
        "\"views\": { \"shape\": [10, 12, 40], \"slices\": [-5, 1000, 3], \"lo\": [5, 5, 5], "
        "\"hi\": [1, 1, 1], \"camera\": [0] }, \"look\": { \"clip\": -3, \"wiggle\": 77 } }";
    litho_bar_hide(litho_tellers_error(gui.window->tellers));
    g_assert_true(gui_wait(state_written, &gui, 10));
    g_assert_true(litho_state_write(key, odd, g_get_monotonic_time(), NULL));
    gui_open_file(&gui, path);
    g_assert_null(litho_window_error(gui.window));
    g_assert_cmpint(litho_session_display(gui.session)->slice[0], ==, 0);
    g_assert_cmpint(litho_session_display(gui.session)->slice[1], ==, 11);
}

// Members of `node`, counted from 0; the one of number `at` becomes `text`. How many there are.
static int replace_member(JsonNode *node, int from, int at, const char *text)
{
    int n = from;
    if (JSON_NODE_HOLDS_OBJECT(node)) {
        JsonObject *object = json_node_get_object(node);
        g_autoptr(GList) names = json_object_get_members(object);
        for (GList *name = names; name; name = name->next) {
            if (n++ == at)
                json_object_set_member(object, name->data, json_from_string(text, NULL));
            else
                n = replace_member(json_object_get_member(object, name->data), n, at, text);
        }
    } else if (JSON_NODE_HOLDS_ARRAY(node)) {
        JsonArray *array = json_node_get_array(node);
        for (guint k = 0; k < json_array_get_length(array); k++)
            n = replace_member(json_array_get_element(array, k), n, at, text);
    }
    return n;
}

static char *session_text(const char *key)
{
    g_autofree char *name = g_strconcat(key, ".json", NULL), *text = NULL;
    g_autofree char *path =
        g_build_filename(g_get_user_state_dir(), "lithoscope", "sessions", name, NULL);
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    return g_steal_pointer(&text);
}

// Property: a session of today's format in which one member is of another type, or far beyond what
// it may be, lets the survey open. Every third of the 67 members: each waits a second for the file.
static void test_session_of_wrong_types(void)
{
    static const char *const values[] = {"5",    "-1e300", "\"text\"", "[]",        "{}",
                                         "null", "true",   "[[1e99]]", "{\"a\":[]}"};
    g_autofree char *path = gui_write_cube(&gui, "types.sgy", 12, 12, 40);
    g_autofree char *key = litho_state_key((const char *const[]){path, NULL});
    gui_forget_flow(&gui);
    gui_open_file(&gui, path);
    litho_session_add_step(gui.session, &litho_operator_template);
    gui_set_gain(&gui, 2);
    gui_activate(&gui, "win.snapshot");
    gui_set_gain(&gui, 4);
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
    g_assert_true(gui_wait(state_written, &gui, 10));
    g_autofree char *good = session_text(key);
    g_autoptr(JsonNode) node = json_from_string(good, NULL);
    const int n = replace_member(node, 0, -1, NULL);
    g_test_message("%d members", n);
    g_assert_cmpint(n, >, 40);
    for (int k = 0; k < n; k += 3) {
        g_autoptr(JsonNode) odd = json_from_string(good, NULL);
        replace_member(odd, 0, k, values[k / 3 % G_N_ELEMENTS(values)]);
        g_autofree char *text = json_to_string(odd, FALSE);
        g_assert_true(gui_wait(state_written, &gui, 10));
        g_assert_true(litho_state_write(key, text, g_get_monotonic_time(), NULL));
        gui_open_file(&gui, path);
        g_assert_cmpstr(litho_session_path(gui.session), ==, path);
    }
    litho_bar_hide(litho_tellers_error(gui.window->tellers));
}

// --- beyond memory ------------------------------------------------------------------------------

// All three slices on screen have been read.
static gboolean page_ready(Gui *g)
{
    const LithoDisplay *d = litho_session_display(g->session);
    guint64 stamp, dropped;
    const GPtrArray *pages = litho_session_pages(g->session, &stamp, &dropped);
    int there = 0;
    for (int a = 0; a < 3; a++) {
        LithoBox slice = litho_box_slice(litho_session_grid(g->session), a, d->slice[a]);
        gboolean found = FALSE;
        for (guint p = 0; p < pages->len; p++)
            found |= litho_box_contains(((LithoCube *)g_ptr_array_index(pages, p))->held, slice);
        there += found;
    }
    return there == 3;
}

static gboolean section_ready(Gui *g)
{
    const LithoDisplay *d = litho_session_display(g->session);
    float x;
    return litho_session_sample(g->session, TRUE, (const gint64[]){d->slice[0], 5, 6}, &x) &&
           litho_session_sample(g->session, TRUE, (const gint64[]){5, d->slice[1], 6}, &x);
}

// The result as the whole cube gives it.
static LithoCube *reference_result(const char *path)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) in = litho_cube_load(path, NULL, NULL, &error);
    g_assert_no_error(error);
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    LithoCube *out =
        litho_engine_run(engine, litho_session_flow(gui.session), in, NULL, NULL, &error);
    g_assert_no_error(error);
    litho_engine_free(engine);
    return out;
}

// Property: a cube three times as large as the memory allows opens; every slice looked at shows the
// file's samples; what is kept stays under its share; slices of the result have the samples of
// the whole computation, halo included (a missing halo would change the traces beside the section);
// pictures are drawn; saving computes the whole result piece by piece, equal sample by sample. All
// comparisons are exact: the same operations on the same numbers.
static void test_beyond_memory(void)
{
    g_autofree char *path = gui_write_cube(&gui, "large.sgy", 60, 64, 200);
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) truth = litho_cube_load(path, NULL, NULL, &error);
    g_assert_no_error(error);
    g_setenv("LITHO_MEMORY", "0.004", TRUE);
    gui_forget_flow(&gui);
    gui_open_file(&gui, path);
    g_assert_null(litho_window_error(gui.window));
    g_assert_true(litho_session_is_paged(gui.session));
    litho_watchdog_reset(litho_window_watchdog(gui.window));
    for (int k = 0; k < 40; k++) {
        litho_session_set_slice(gui.session, 0, 59 - k);
        litho_session_set_slice(gui.session, 1, k);
        litho_session_set_slice(gui.session, 2, 3 * k);
        g_assert_true(gui_wait(page_ready, &gui, 20));
        const gint64 at[3] = {59 - k, 11, 3 * k};
        float x;
        g_assert_true(litho_session_sample(gui.session, FALSE, at, &x));
        g_assert_cmpfloat(x, ==, litho_cube_trace(truth, at[0], at[1])[at[2]]);
        guint64 stamp, dropped, bytes = 0;
        const GPtrArray *pages = litho_session_pages(gui.session, &stamp, &dropped);
        for (guint p = 0; p < pages->len; p++)
            bytes += 4 * (guint64)litho_cube_held_samples(g_ptr_array_index(pages, p));
        g_assert_cmpuint(bytes, <=, (guint64)(0.004 * 1073741824 / 4) + 3 * 4 * 64 * 200);
    }
    g_test_message("longest block while scrubbing: %.1f ms",
                   litho_watchdog_longest_ms(litho_window_watchdog(gui.window)));
    gui_settle(&gui);
    gui_screenshot(&gui, "files-beyond-input");
    litho_session_add_step(gui.session, &litho_operator_template);
    gui_set_gain(&gui, 3);
    g_assert_true(gui_wait(section_ready, &gui, 20));
    gui_settle(&gui);
    g_unsetenv("LITHO_MEMORY");
    g_autoptr(LithoCube) result = reference_result(path);
    const LithoDisplay *d = litho_session_display(gui.session);
    for (int j = 0; j < 64; j++)
        g_assert_cmpfloat(gui_output_at(&gui, d->slice[0], j, 77), ==,
                          litho_cube_trace(result, d->slice[0], j)[77]);
    for (int i = 0; i < 60; i++)
        g_assert_cmpfloat(gui_output_at(&gui, i, d->slice[1], 78), ==,
                          litho_cube_trace(result, i, d->slice[1])[78]);
    for (int i = 0; i < 60; i++)
        for (int j = 0; j < 64; j++)
            if (litho_cube_is_live(result, i, j))
                g_assert_cmpfloat(gui_output_at(&gui, i, j, d->slice[2]), ==,
                                  litho_cube_trace(result, i, j)[d->slice[2]]);
    gui_screenshot(&gui, "files-beyond-output");
    g_assert_null(litho_session_output(gui.session));
    g_autofree char *picture = gui_path(&gui, "beyond.png");
    litho_window_export(gui.window, picture);
    g_assert_true(gui_wait(gui_is_free, &gui, 60));
    g_assert_null(litho_window_error(gui.window));
    g_autofree char *saved = gui_path(&gui, "beyond.npy");
    litho_window_save(gui.window, saved, FALSE);
    g_assert_true(gui_wait(gui_is_free, &gui, 60));
    g_assert_null(litho_window_error(gui.window));
    g_autoptr(LithoCube) back = litho_cube_load(saved, NULL, NULL, &error);
    g_assert_no_error(error);
    for (int i = 0; i < 60; i++)
        for (int j = 0; j < 64; j++)
            if (litho_cube_is_live(result, i, j))
                g_assert_cmpmem(litho_cube_trace(back, i, j), 800, litho_cube_trace(result, i, j),
                                800);
}

static gboolean time_slice_ready(Gui *g)
{
    const gint64 k = litho_session_display(g->session)->slice[2];
    float x;
    return litho_session_sample(g->session, TRUE, (const gint64[]){0, 5, k}, &x) &&
           litho_session_sample(g->session, TRUE, (const gint64[]){59, 5, k}, &x) &&
           !litho_session_progress(g->session, NULL);
}

static void set_fx(const char *key, double value)
{
    const LithoParam *row = litho_param_find(&litho_operator_find("fx")->params, key);
    g_autoptr(GError) error = NULL;
    litho_session_set_param(gui.session, 0, row, value, NULL, &error);
    g_assert_no_error(error);
}

// Property: a time slice of a result whose surroundings do not fit is computed in strips and has
// the samples of the whole computation, also where strips meet; until then the view says that it
// shows the input. An operator that takes all or nothing says so, and the input stays.
static void test_time_slice_in_strips(void)
{
    g_autofree char *path = gui_write_cube(&gui, "strips.sgy", 60, 64, 200);
    g_setenv("LITHO_MEMORY", "0.006", TRUE);
    gui_forget_flow(&gui);
    gui_open_file(&gui, path);
    g_unsetenv("LITHO_MEMORY");
    g_assert_true(litho_session_is_paged(gui.session));
    litho_session_set_slice(gui.session, 2, 30);
    litho_session_add_step(gui.session, litho_operator_find("fx"));
    const struct {
        const char *key;
        double value;
    } small[] = {{"half_width", 1}, {"window", 5}, {"time_overlap", 16}, {"time_window", 64},
                 {"erratic", 0},    {"fill_passes", 0}};
    for (guint k = 0; k < G_N_ELEMENTS(small); k++)
        set_fx(small[k].key, small[k].value);
    g_assert_nonnull(litho_session_not_computed(gui.session, LITHO_SAMPLE));
    gui_settle(&gui); // five parameters came one after the other
    g_assert_true(gui_wait(time_slice_ready, &gui, 60));
    g_assert_null(litho_session_not_computed(gui.session, LITHO_SAMPLE));
    guint strips = 0;
    const GPtrArray *parts = litho_session_result(gui.session)->parts;
    for (guint p = 0; p < parts->len; p++)
        strips += litho_box_size(((LithoCube *)g_ptr_array_index(parts, p))->held, 2) == 1;
    g_assert_cmpuint(strips, >, 1);
    g_autoptr(LithoCube) result = reference_result(path);
    for (int i = 0; i < 60; i++)
        for (int j = 0; j < 64; j++)
            if (litho_cube_is_live(result, i, j))
                g_assert_cmpfloat(gui_output_at(&gui, i, j, 30), ==,
                                  litho_cube_trace(result, i, j)[30]);
    gui_settle(&gui);
    gui_screenshot(&gui, "files-strips");

    litho_session_remove_step(gui.session, 0);
    litho_session_add_step(gui.session, litho_operator_find("wavepacket"));
    gui_settle(&gui);
    const GError *problem = litho_session_problem(gui.session);
    g_assert_nonnull(problem);
    g_assert_nonnull(strstr(problem->message, "whole cube"));
    g_assert_cmpint(litho_session_shown(gui.session), ==, LITHO_SHOW_INPUT);
    gui_forget_flow(&gui);
}

// Property: changes of several steps are undone one by one, however quickly they follow, and the
// removal of an earlier step leaves the same operator selected.
static void test_steps_one_by_one(void)
{
    static const char *const keys[] = {"fx", "fx", "patch"};
    const LithoOperator *fx = litho_operator_find("fx");
    const LithoParam *row = litho_param_find(&fx->params, "half_width");
    gui_forget_flow(&gui);
    for (guint k = 0; k < G_N_ELEMENTS(keys); k++)
        litho_session_add_step(gui.session, litho_operator_find(keys[k]));
    for (guint step = 0; step < 2; step++)
        for (int width = 1; width < 3; width++) // a drag
            g_assert_true(litho_session_set_param(gui.session, step, row, width, NULL, NULL));
    litho_session_undo(gui.session);
    const LithoFlow *flow = litho_session_flow(gui.session);
    g_assert_cmpfloat(litho_param_get(row, litho_flow_step(flow, 1)->params), ==, 3);
    g_assert_cmpfloat(litho_param_get(row, litho_flow_step(flow, 0)->params), ==, 2);
    litho_session_select(gui.session, 1);
    litho_session_remove_step(gui.session, 0);
    g_assert_cmpint(litho_session_selected(gui.session), ==, 0);
    litho_session_remove_step(gui.session, 0);
    litho_session_undo(gui.session);
    g_assert_cmpuint(litho_flow_length(litho_session_flow(gui.session)), ==, 2);
    litho_session_undo(gui.session);
    g_assert_cmpuint(litho_flow_length(litho_session_flow(gui.session)), ==, 3);
    gui_settle(&gui);
}

int main(int argc, char **argv)
{
    gui_init(&argc, &argv);
    gui_register(&gui_teller);
    gui_open_sized(&gui);
    g_test_add_func("/sessions/session", test_session);
    g_test_add_func("/sessions/other-file", test_other_file);
    g_test_add_func("/sessions/line", test_line);
    g_test_add_func("/sessions/window-of-line", test_window_of_line);
    g_test_add_func("/sessions/during-job", test_during_job);
    g_test_add_func("/sessions/broken-session", test_broken_session);
    g_test_add_func("/sessions/wrong-types", test_session_of_wrong_types);
    g_test_add_func("/sessions/steps-one-by-one", test_steps_one_by_one);
    g_test_add_func("/sessions/beyond-memory", test_beyond_memory);
    g_test_add_func("/sessions/time-slice-in-strips", test_time_slice_in_strips);
    int status = g_test_run();
    gui_close(&gui);
    return status;
}
