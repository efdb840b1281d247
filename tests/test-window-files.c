// SPDX-License-Identifier: GPL-3.0-or-later
//
// The window and its files under a virtual display: sessions that survive closing and crashes,
// snapshots, import, cubes beyond memory, saving and its errors.
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "core/survey.h"
#include "kernels/template/template.h"
#include "tests/segy_make.h"
#include "tests/gui/gui.h"
#include "ui/import_profile.h"
#include "ui/state_store.h"
#include "ui/suggest.h"
#include "ui/survey_map.h"
#include "ui/window_private.h"

static Gui gui;

// --- conditions to wait for ---------------------------------------------------------------------

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
    g_assert_true(gui_wait(gui_is_free, &gui, 60));
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
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
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
    g_autoptr(LithoFlow) saved =
        litho_flow_from_json(json_object_get_member(json_node_get_object(state), "recipe"), &error);
    g_assert_no_error(error);
    g_assert_true(litho_flow_equal(saved, litho_session_flow(gui.session)));
    json_node_unref(state);

    gui_reopen(&gui);
    g_assert_cmpuint(litho_flow_length(litho_session_flow(gui.session)), ==, 0);
    g_assert_true(gtk_widget_get_visible(gui.window->start_continue));
    gui_screenshot(&gui, "files-continue");
    gui_activate(&gui, "win.continue");
    g_assert_true(gui_wait(gui_is_free, &gui, 60));
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

// Property: a file opened while a flow is there gets that flow, and its own recipe is one undo
// away; opened with nothing there, it comes as it was left.
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
        "{ \"lithoscope-session\": 1, ",
        "[1, 2, 3]",
        "\"text\"",
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
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
    float one = output_at(3, 4, 5) / 2;
    gui_activate(&gui, "win.snapshot");
    g_assert_false(g_action_group_get_action_enabled(G_ACTION_GROUP(gui.window), "snapshot"));
    set_gain(4);
    gui_activate(&gui, "win.snapshot");
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
    gui_settle(&gui);
    g_assert_cmpuint(litho_snapshots_count(s), ==, 2);
    g_assert_nonnull(litho_snapshots_get(s, 0)->result);
    g_assert_nonnull(litho_snapshots_get(s, 1)->result);
    set_gain(9);
    g_assert_true(gui_wait(gui_has_output, &gui, 20));

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
// file's samples; what is kept stays under its share; sections of the result have the samples of
// the whole computation, halo included (a missing halo would change the traces beside the section);
// pictures are drawn; saving computes the whole result piece by piece, equal sample by sample. All
// comparisons are exact: the same operations on the same numbers.
static void test_beyond_memory(void)
{
    g_autofree char *path = write_cube("large.sgy", 60, 64, 200);
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) truth = litho_cube_load(path, NULL, NULL, &error);
    g_assert_no_error(error);
    g_setenv("LITHO_MEMORY", "0.004", TRUE);
    forget_flow();
    open_file(path);
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
    set_gain(3);
    g_assert_true(gui_wait(section_ready, &gui, 20));
    gui_settle(&gui);
    g_unsetenv("LITHO_MEMORY");
    g_autoptr(LithoCube) result = reference_result(path);
    const LithoDisplay *d = litho_session_display(gui.session);
    for (int j = 0; j < 64; j++)
        g_assert_cmpfloat(output_at(d->slice[0], j, 77), ==,
                          litho_cube_trace(result, d->slice[0], j)[77]);
    for (int i = 0; i < 60; i++)
        g_assert_cmpfloat(output_at(i, d->slice[1], 78), ==,
                          litho_cube_trace(result, i, d->slice[1])[78]);
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

// --- import -------------------------------------------------------------------------------------

// Line numbers at bytes nobody looks at, and no coordinates; a text header as a company writes it.
static char *write_odd(const char *name, const Make *make, const char *client)
{
    g_autoptr(GByteArray) file = make_file(make);
    g_autofree char *text =
        g_strdup_printf("C 1 CLIENT %-20s RECORDED BY NORTHERN SURVEYS%*s"
                        "C 2 PROCESSING SEQUENCE: REFORMAT, DECONVOLUTION, STACK, MIGRATION%*s"
                        "C 3 LINE NUMBERS WHERE OUR OWN PROGRAM PUTS THEM",
                        client, 20, "", 14, "");
    memset(file->data, ' ', 3200);
    memcpy(file->data, text, MIN(strlen(text), 3200));
    char *path = gui_path(&gui, name);
    g_assert_true(g_file_set_contents(path, (const char *)file->data, file->len, NULL));
    return path;
}

static GtkWindow *window_titled(const char *title)
{
    GListModel *tops = gtk_window_get_toplevels();
    for (guint k = 0; k < g_list_model_get_n_items(tops); k++) {
        g_autoptr(GtkWindow) top = g_list_model_get_item(tops, k);
        if (g_strcmp0(gtk_window_get_title(top), title) == 0)
            return top;
    }
    return NULL;
}

// The n-th widget of a type below `widget` in the order of the tree, or NULL.
static GtkWidget *find_nth(GtkWidget *widget, GType type, int *n)
{
    if (G_TYPE_CHECK_INSTANCE_TYPE(widget, type) && (*n)-- == 0)
        return widget;
    for (GtkWidget *c = gtk_widget_get_first_child(widget); c; c = gtk_widget_get_next_sibling(c)) {
        GtkWidget *found = find_nth(c, type, n);
        if (found)
            return found;
    }
    return NULL;
}

static GtkWidget *nth(GtkWindow *dialog, GType type, int n)
{
    GtkWidget *found = find_nth(GTK_WIDGET(dialog), type, &n);
    g_assert_nonnull(found);
    return found;
}

// The button of that label, wherever in the dialog.
static GtkWidget *button(GtkWindow *dialog, const char *label)
{
    for (int k = 0;; k++) {
        int n = k;
        GtkWidget *found = find_nth(GTK_WIDGET(dialog), GTK_TYPE_BUTTON, &n);
        g_assert_nonnull(found);
        if (g_strcmp0(gtk_button_get_label(GTK_BUTTON(found)), label) == 0)
            return found;
    }
}

// The one that can be seen.
static GtkWidget *shown_button(GtkWindow *dialog, const char *label)
{
    for (int k = 0;; k++) {
        int n = k;
        GtkWidget *found = find_nth(GTK_WIDGET(dialog), GTK_TYPE_BUTTON, &n);
        g_assert_nonnull(found);
        if (gtk_widget_get_visible(found) &&
            g_strcmp0(gtk_button_get_label(GTK_BUTTON(found)), label) == 0)
            return found;
    }
}

static void click(GtkWindow *dialog, const char *label)
{
    GtkWidget *found = button(dialog, label);
    g_assert_true(gtk_widget_get_sensitive(found));
    g_signal_emit_by_name(found, "clicked");
}

static const char *dialog_title;
static const char *awaited;

static gboolean label_says(Gui *g)
{
    (void)g;
    GtkWindow *dialog = window_titled(dialog_title);
    for (int k = 0; dialog; k++) {
        int n = k;
        GtkWidget *found = find_nth(GTK_WIDGET(dialog), GTK_TYPE_LABEL, &n);
        if (!found)
            return FALSE;
        if (strstr(gtk_label_get_text(GTK_LABEL(found)), awaited))
            return TRUE;
    }
    return FALSE;
}

static void await_label(const char *title, const char *text)
{
    dialog_title = title;
    awaited = text;
    g_assert_true(gui_wait(label_says, &gui, 20));
}

static Make odd_make(void)
{
    Make make = make_plain();
    make.inline_byte = 61;
    make.xline_byte = 65;
    make.bin_x = 0;
    make.ascii = TRUE;
    return make;
}

// Property: a file whose line numbers nobody can find opens in file order; bytes typed in the
// import view give the survey and its samples; kept as a profile they are offered for the next file
// of the same origin and not for another one; the session remembers how the file was read.
static void test_import(void)
{
    Make make = odd_make();
    g_autofree char *path = write_odd("odd.sgy", &make, "ACME");
    forget_flow();
    open_file(path);
    g_assert_cmpint(litho_session_grid(gui.session)->axis[0].n, ==, 1); // in file order
    g_assert_true(gtk_widget_get_visible(gui.window->notes_remedy));
    gui_activate(&gui, "win.import");
    await_label("Import odd.sgy", "1 inline × 20");
    GtkWindow *dialog = window_titled("Import odd.sgy");
    g_assert_cmpstr(gtk_editable_get_text(GTK_EDITABLE(nth(dialog, GTK_TYPE_SPIN_BUTTON, 0))), ==,
                    "find out");
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(nth(dialog, GTK_TYPE_SPIN_BUTTON, 0)), 61);
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(nth(dialog, GTK_TYPE_SPIN_BUTTON, 1)), 65);
    await_label("Import odd.sgy", "4 inlines × 5");
    gui_spin(&gui, 0.4);
    gui_screenshot_of(&gui, GTK_WIDGET(dialog), "files-import");
    GtkWidget *name = nth(dialog, GTK_TYPE_ENTRY, 0);
    g_assert_false(gtk_widget_get_sensitive(button(dialog, "Keep")));
    gtk_editable_set_text(GTK_EDITABLE(name), "Northern");
    click(dialog, "Keep");
    click(dialog, "_Open");
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
    const LithoGrid *grid = litho_session_grid(gui.session);
    g_assert_cmpint(grid->axis[0].n, ==, 4);
    g_assert_cmpint(grid->axis[1].n, ==, 5);
    g_assert_cmpfloat(litho_cube_trace(litho_session_input(gui.session), 2, 3)[7], ==,
                      make_value(&make, 2, 3, 7));
    g_assert_cmpint(gui.window->open.inline_byte, ==, 61);

    g_autofree char *next = write_odd("next.sgy", &make, "OTHER CLIENT");
    open_file(next);
    g_assert_cmpint(litho_session_grid(gui.session)->axis[0].n, ==, 1);
    g_assert_true(gtk_widget_get_visible(gui.window->offer_bar));
    gui_spin(&gui, 0.3);
    gui_screenshot(&gui, "files-offer");
    gui_activate(&gui, "win.use-profile");
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
    g_assert_cmpint(litho_session_grid(gui.session)->axis[0].n, ==, 4);
    g_assert_false(gtk_widget_get_visible(gui.window->offer_bar));

    g_autofree char *strange = write_cube("strange.sgy", 4, 5, 30);
    open_file(strange);
    g_assert_false(gtk_widget_get_visible(gui.window->offer_bar));
    open_file(path); // as it was read last time
    g_assert_cmpint(litho_session_grid(gui.session)->axis[0].n, ==, 4);

    g_assert_true(litho_profile_delete("Northern", NULL));
    g_assert_null(litho_profile_match("client recorded northern surveys processing sequence line"));
    g_assert_nonnull(litho_profile_bad_name("../etc/passwd"));
    g_assert_false(litho_profile_save("a/b", &gui.window->open, "", NULL));
}

// Property: a file that says IBM and holds IEEE floats does not open silently; the error offers the
// import view, which shows the traces decoded both ways, and the other one opens with the right
// samples. Traces in file order work there, too.
static void test_import_doubt(void)
{
    Make make = make_plain();
    make.format = 5;
    make.n1 = 12;
    make.n2 = 14;
    g_autoptr(GByteArray) file = make_file(&make);
    for (int t = 0; t < make.n1 * make.n2; t++) // enough different numbers to tell from
        for (int k = 0; k < make.ns; k++)
            make_put_sample(file, &make, t, k, sin(0.7 * t + 0.31 * k * k) * 1234.5);
    make_put_bin16(file, &make, 3225, 1);
    g_autofree char *path = gui_path(&gui, "doubt.sgy");
    g_assert_true(g_file_set_contents(path, (const char *)file->data, file->len, NULL));
    open_file(path);
    g_test_message("%s", litho_window_error(gui.window));
    g_assert_nonnull(litho_window_error(gui.window));
    g_assert_true(gtk_widget_get_visible(gui.window->error_remedy));
    gui_spin(&gui, 0.3);
    gui_screenshot(&gui, "files-doubt-bar");
    gui_activate(&gui, "win.import");
    await_label("Import doubt.sgy", "IEEE float, typical");
    GtkWindow *dialog = window_titled("Import doubt.sgy");
    g_assert_false(gtk_widget_get_sensitive(button(dialog, "_Open")));
    gui_screenshot_of(&gui, GTK_WIDGET(dialog), "files-import-doubt");
    for (int k = 0; k < 2; k++)
        g_assert_nonnull(gtk_picture_get_paintable(GTK_PICTURE(nth(dialog, GTK_TYPE_PICTURE, k))));
    GtkDropDown *format = GTK_DROP_DOWN(nth(dialog, GTK_TYPE_DROP_DOWN, 2));
    g_signal_emit_by_name(shown_button(dialog, "Read it so"), "clicked");
    await_label("Import doubt.sgy", "12 inlines × 14");
    g_assert_cmpuint(gtk_drop_down_get_selected(format), ==, 2); // IEEE
    gtk_drop_down_set_selected(GTK_DROP_DOWN(nth(dialog, GTK_TYPE_DROP_DOWN, 0)), 1);
    await_label("Import doubt.sgy", "1 inline × 168");
    gtk_drop_down_set_selected(GTK_DROP_DOWN(nth(dialog, GTK_TYPE_DROP_DOWN, 0)), 0);
    await_label("Import doubt.sgy", "12 inlines × 14");
    click(dialog, "_Open");
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
    g_assert_null(litho_window_error(gui.window));
    float *trace = litho_cube_trace(litho_session_input(gui.session), 1, 2);
    g_assert_cmpfloat(trace[5], ==, (float)(sin(0.7 * 16 + 0.31 * 25) * 1234.5));
}

// --- saving and pictures ------------------------------------------------------------------------

static void open_with_gain(const char *path, double value)
{
    forget_flow();
    open_file(path);
    forget_flow(); // what its session brought
    litho_session_add_step(gui.session, &litho_operator_template);
    set_gain(value);
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
    gui_settle(&gui);
}

// Property: the result comes back from every format it is saved in, sample by sample (all of them
// hold 32-bit floats), and SEG-Y keeps the headers of the file: a word that means nothing to the
// program is found again at every trace.
static void test_save_formats(void)
{
    static const char *const names[] = {"saved.sgy", "saved.su", "saved.npy", "saved.rsf"};
    Make make = make_plain();
    make.format = 5;
    g_autoptr(GByteArray) file = make_file(&make);
    for (int t = 0; t < 20; t++)
        make_put_head32(file, &make, t, 225, 7000 + t);
    g_autofree char *path = gui_path(&gui, "headers.sgy");
    g_assert_true(g_file_set_contents(path, (const char *)file->data, file->len, NULL));
    open_with_gain(path, 3);
    for (guint k = 0; k < G_N_ELEMENTS(names); k++) {
        g_autofree char *out = gui_path(&gui, names[k]);
        g_autoptr(GError) error = NULL;
        litho_window_save(gui.window, out, FALSE);
        g_assert_true(gui_wait(gui_is_free, &gui, 20));
        g_assert_null(litho_window_error(gui.window));
        g_autoptr(LithoCube) back = litho_cube_load(out, NULL, NULL, &error);
        g_assert_no_error(error);
        gui_assert_same(litho_session_output(gui.session), back);
        if (k > 0)
            continue;
        for (int t = 0; t < 20; t++) {
            guint8 header[240];
            g_assert_true(litho_survey_trace_header(back->survey, t / 5, t % 5, header, &error));
            g_assert_cmpint(header[224] << 24 | header[225] << 16 | header[226] << 8 | header[227],
                            ==, 7000 + t);
        }
    }
}

static gboolean holds(const char *data, gsize length, const char *words)
{
    return memmem(data, length, words, strlen(words)) != NULL;
}

static void count_element(GMarkupParseContext *context, const char *name, const char **keys,
                          const char **values, gpointer data, GError **error)
{
    (void)context, (void)keys, (void)values, (void)error;
    if (strcmp(name, "image") == 0 || strcmp(name, "title") == 0 || strcmp(name, "desc") == 0)
        (*(int *)data)++;
}

// Property: a picture is written in each format, whole (the PDF ends as one, the SVG parses, the
// PNG decodes at the promised size) and says with which parameters it was made.
static void test_pictures(void)
{
    g_autofree char *path = gui_path(&gui, "headers.sgy");
    open_with_gain(path, 2.5);
    static const char *const suffixes[] = {"png", "pdf", "svg"};
    for (guint k = 0; k < G_N_ELEMENTS(suffixes); k++) {
        g_autofree char *name = g_strdup_printf("picture.%s", suffixes[k]);
        g_autofree char *out = gui_path(&gui, name), *data = NULL;
        g_autoptr(GError) error = NULL;
        gsize length;
        litho_window_export(gui.window, out);
        g_assert_true(gui_wait(gui_is_free, &gui, 60));
        g_assert_null(litho_window_error(gui.window));
        g_assert_true(g_file_get_contents(out, &data, &length, &error));
        if (k == 0) {
            g_autoptr(GdkTexture) picture = gdk_texture_new_from_filename(out, &error);
            g_assert_no_error(error);
            g_assert_cmpint(gdk_texture_get_width(picture), ==, 2560);
            g_assert_true(holds(data, length, "gain=2.5"));
        } else if (k == 1) {
            g_assert_true(g_str_has_prefix(data, "%PDF-"));
            g_assert_true(holds(data + length - 16, 16, "%%EOF"));
            g_assert_true(holds(data, length, "gain=2.5") ||
                          holds(data, length, "g\0a\0i\0n")); // UTF-16 in strings with "−"
        } else {
            int found = 0;
            const GMarkupParser parser = {.start_element = count_element};
            GMarkupParseContext *context = g_markup_parse_context_new(&parser, 0, &found, NULL);
            g_assert_true(g_markup_parse_context_parse(context, data, length, &error));
            g_assert_true(g_markup_parse_context_end_parse(context, &error));
            g_assert_cmpint(found, >=, 3);
            g_markup_parse_context_free(context);
            g_assert_true(holds(data, length, "gain=2.5"));
        }
        if (g_getenv("LITHO_SCREENSHOTS")) {
            g_autofree char *copy = g_build_filename(g_getenv("LITHO_SCREENSHOTS"), name, NULL);
            g_file_set_contents(copy, data, length, NULL);
        }
    }
}

// --- the command --------------------------------------------------------------------------------

// Runs the window's command in a shell, in the test's folder.
static void run_command(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *command = litho_window_command(gui.window, &error);
    g_assert_no_error(error);
    g_autofree char *tools = g_path_get_dirname(g_getenv("LITHO_CLI"));
    g_autofree char *line = g_strdup_printf("PATH=%s:$PATH; %s", tools, command);
    char *argv[] = {"sh", "-c", line, NULL};
    g_autofree char *complaint = NULL;
    int status;
    g_test_message("%s", command);
    g_assert_null(strchr(command, '\n'));
    g_assert_true(g_spawn_sync(gui.folder, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL,
                               &complaint, &status, &error));
    if (status != 0)
        g_test_message("%s", complaint);
    g_assert_cmpint(status, ==, 0);
}

// Property: what "Copy as command" writes runs in a shell as it stands and gives the window's
// samples, bit by bit: for one step, for two steps with one switched off, for a file with odd
// letters in its name, and for one read with bytes given by hand.
static void test_command(void)
{
    if (!g_getenv("LITHO_CLI")) {
        g_test_skip("LITHO_CLI does not name the command-line program");
        return;
    }
    const LithoOperator *fx = litho_operator_find("fx");
    const LithoParam *window = litho_param_find(&fx->params, "window");
    g_autoptr(GError) error = NULL;
    g_autofree char *path = write_cube("it's a \"survey\" $x.sgy", 12, 14, 60);
    open_with_gain(path, 2);
    forget_flow();
    litho_session_add_step(gui.session, fx);
    g_assert_true(litho_session_set_param(gui.session, 0, window, 9, NULL, &error));
    g_assert_true(gui_wait(gui_has_output, &gui, 30));
    run_command();
    g_autofree char *out = gui_path(&gui, "it's a \"survey\" $x-result.sgy");
    g_autoptr(LithoCube) one = litho_cube_load(out, NULL, NULL, &error);
    g_assert_no_error(error);
    gui_assert_same(litho_session_output(gui.session), one);
    g_remove(out);

    litho_session_add_step(gui.session, fx);
    litho_session_add_step(gui.session, fx);
    litho_session_enable_step(gui.session, 2, FALSE);
    g_assert_true(litho_session_set_param(gui.session, 1, window, 11, NULL, &error));
    g_assert_true(gui_wait(gui_has_output, &gui, 30));
    run_command();
    g_autoptr(LithoCube) two = litho_cube_load(out, NULL, NULL, &error);
    g_assert_no_error(error);
    gui_assert_same(litho_session_output(gui.session), two);

    Make make = odd_make();
    make.n1 = make.n2 = 8;
    make.format = 5;
    g_autofree char *odd = write_odd("bytes.sgy", &make, "ACME");
    LithoOpenOptions bytes = {.inline_byte = 61, .xline_byte = 65, .dx = 12.5, .dy = 20};
    forget_flow();
    litho_window_open_as(gui.window, (const char *const[]){odd, NULL}, &bytes, LITHO_OPEN_NORMAL);
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
    litho_session_add_step(gui.session, fx);
    g_assert_true(litho_session_set_param(gui.session, 0, window, 7, NULL, &error));
    g_assert_true(gui_wait(gui_has_output, &gui, 30));
    run_command();
    g_autofree char *odd_out = gui_path(&gui, "bytes-result.sgy");
    g_autoptr(LithoCube) three = litho_cube_load(odd_out, &bytes, NULL, &error);
    g_assert_no_error(error);
    gui_assert_same(litho_session_output(gui.session), three);
}

// --- what goes wrong ----------------------------------------------------------------------------

// One sentence stands in the bar; the window still works.
static void assert_survived(const char *what)
{
    const char *sentence = litho_window_error(gui.window);
    g_test_message("%s: %s", what, sentence);
    g_assert_nonnull(sentence);
    g_assert_null(strchr(sentence, '\n'));
    g_assert_cmpuint(strlen(sentence), <, 300);
    g_assert_nonnull(litho_session_grid(gui.session));
    g_assert_false(litho_window_is_busy(gui.window));
    gtk_widget_set_visible(gui.window->error_bar, FALSE);
}

static void save_to(const char *path)
{
    litho_window_save(gui.window, path, TRUE);
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
}

// Property: a folder that cannot be written, a full disk, a file that is not there, may not be
// read, or becomes shorter while it is looked at: one sentence each, no half-written file stays
// behind, and what is open stays open.
static void test_errors(void)
{
    g_autofree char *path = gui_path(&gui, "headers.sgy");
    open_with_gain(path, 2);
    save_to("/proc/no/such/folder/result.sgy");
    assert_survived("no such folder");
    save_to("/proc/result.npy");
    assert_survived("a folder that takes no files");
    litho_window_export(gui.window, "/proc/picture.png");
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
    assert_survived("a picture there");
    litho_window_export(gui.window, "/proc/picture.svg");
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
    assert_survived("a vector picture there");
    save_to(path); // the file that is open
    assert_survived("the input itself");
    open_file("/no/such/file.sgy");
    assert_survived("a file that is not there");
    open_file(gui.folder);
    assert_survived("a folder in place of a file");
    litho_window_load_recipe(gui.window, path);
    assert_survived("a recipe that is none");

    // Larger than its pages, so that slices are read after it was cut.
    g_autofree char *cut = write_cube("cut.sgy", 40, 40, 300);
    g_setenv("LITHO_MEMORY", "0.002", TRUE);
    open_file(cut);
    g_unsetenv("LITHO_MEMORY");
    g_assert_true(litho_session_is_paged(gui.session));
    gui_settle(&gui);
    g_assert_cmpint(truncate(cut, 100000), ==, 0);
    for (int k = 0; k < 40 && !litho_window_error(gui.window); k++) {
        litho_session_set_slice(gui.session, 0, k);
        gui_spin(&gui, 0.1);
    }
    assert_survived("a file cut while it is open");
    open_file(path);
    g_assert_null(litho_window_error(gui.window));
    GDir *dir = g_dir_open(gui.folder, 0, NULL);
    for (const char *name; (name = g_dir_read_name(dir));)
        g_assert_null(strstr(name, ".part"));
    g_dir_close(dir);
}

// A file system of one mebibyte, if this process may mount one (in a namespace of its own that
// would need another process: as root it just mounts).
static char *make_tiny_disk(void)
{
    char *where = gui_path(&gui, "tiny");
    g_autofree char *command =
        g_strdup_printf("mkdir -p '%s' && mount -t tmpfs -o size=256k none '%s'", where, where);
    char *argv[] = {"sh", "-c", command, NULL};
    int status = 1;
    if (g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                     NULL, NULL, &status, NULL) &&
        status == 0)
        return where;
    g_free(where);
    return NULL;
}

// Property: a disk that becomes full while the result is written costs one sentence that says so,
// and nothing of the result stays on it.
static void test_full_disk(void)
{
    g_autofree char *disk = make_tiny_disk();
    if (!disk) {
        g_test_skip("no small file system can be mounted here");
        return;
    }
    g_autofree char *path = write_cube("disk.sgy", 30, 30, 200);
    open_with_gain(path, 2);
    static const char *const names[] = {"full.sgy", "full.npy", "full.rsf"};
    for (guint k = 0; k < G_N_ELEMENTS(names); k++) {
        g_autofree char *out = g_build_filename(disk, names[k], NULL);
        save_to(out);
        g_assert_nonnull(litho_window_error(gui.window));
        assert_survived("a full disk");
        g_autoptr(GDir) dir = g_dir_open(disk, 0, NULL);
        g_assert_null(g_dir_read_name(dir));
    }
    char *argv[] = {"umount", disk, NULL};
    g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
}

// --- dropping -----------------------------------------------------------------------------------

static GtkDropTarget *drop_target(void)
{
    g_autoptr(GListModel) controllers = gtk_widget_observe_controllers(GTK_WIDGET(gui.window));
    for (guint k = 0; k < g_list_model_get_n_items(controllers); k++) {
        g_autoptr(GObject) c = g_list_model_get_item(controllers, k);
        if (GTK_IS_DROP_TARGET(c))
            return GTK_DROP_TARGET(c);
    }
    return NULL;
}

static gboolean drop(const char *path)
{
    GSList *files = g_slist_prepend(NULL, g_file_new_for_path(path));
    GValue value = G_VALUE_INIT;
    gboolean taken = FALSE;
    g_value_init(&value, GDK_TYPE_FILE_LIST);
    g_value_set_boxed(&value, files);
    g_signal_emit_by_name(drop_target(), "drop", &value, 10.0, 10.0, &taken);
    g_value_unset(&value);
    g_slist_free_full(files, g_object_unref);
    return taken;
}

// Property: a cube dropped on the window opens, a recipe dropped there becomes the flow as one step
// of the history; a file opened becomes the first of the recent ones.
static void test_drop(void)
{
    g_autofree char *path = write_cube("dropped.sgy", 9, 10, 40);
    forget_flow();
    g_assert_true(drop(path));
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
    g_assert_cmpstr(litho_session_path(gui.session), ==, path);
    g_autofree char *recipe = gui_path(&gui, "recipe.json");
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_template);
    g_assert_true(litho_flow_save(flow, recipe, NULL));
    g_assert_true(drop(recipe));
    g_assert_true(litho_flow_equal(litho_session_flow(gui.session), flow));
    gui_activate(&gui, "win.undo");
    g_assert_cmpuint(litho_flow_length(litho_session_flow(gui.session)), ==, 0);
    gui_spin(&gui, 0.5); // the recent files are kept by GTK in its own time
    g_autofree char *recent = litho_window_last_path();
    g_assert_cmpstr(recent, ==, path);
}

// --- settings and suggestions -------------------------------------------------------------------

// Property: a colour map from a file is used at once, comes round with the built-in ones, and is
// there again, in use, in a window opened later; a file that is none costs a sentence.
static void test_colours(void)
{
    g_autofree char *csv = gui_path(&gui, "rust.csv"), *bad = gui_path(&gui, "bad.csv");
    g_assert_true(g_file_set_contents(csv, "r,g,b\n0,0,0\n200,80,30\n255,250,240\n", -1, NULL));
    g_assert_true(g_file_set_contents(bad, "no colours\nat all\n", -1, NULL));
    litho_window_load_colours(gui.window, csv);
    g_assert_null(litho_window_error(gui.window));
    g_assert_cmpstr(litho_session_display(gui.session)->look.map->name, ==, "rust");
    litho_window_load_colours(gui.window, bad);
    g_test_message("%s", litho_window_error(gui.window));
    g_assert_nonnull(litho_window_error(gui.window));
    g_assert_cmpstr(litho_session_display(gui.session)->look.map->name, ==, "rust");
    gboolean again = FALSE;
    for (int k = 0; k < 40 && !again; k++) {
        gui_activate(&gui, "win.colours-next");
        again = strcmp(litho_session_display(gui.session)->look.map->name, "rust") == 0;
        g_assert_true(k > 0 || !again);
    }
    g_assert_true(again);
    gui_reopen(&gui);
    g_assert_cmpstr(litho_session_display(gui.session)->look.map->name, ==, "rust");
    gui_activate(&gui, "win.colours-next");
}

static guint32 noise_state = 12345;

// Gaussian, deviation 1.
static double noise(void)
{
    double sum = 0;
    for (int k = 0; k < 12; k++) {
        noise_state = noise_state * 1664525u + 1013904223u;
        sum += (noise_state >> 8) / 16777216.0;
    }
    return sum - 6;
}

static const LithoSuggestion *suggested(GArray *list, const char *key)
{
    for (guint k = 0; k < list->len; k++)
        if (strcmp(g_array_index(list, LithoSuggestion, k).row->key, key) == 0)
            return &g_array_index(list, LithoSuggestion, k);
    return NULL;
}

static gboolean has_numbers(Gui *g)
{
    return litho_session_numbers(g->session, LITHO_NUMBERS_IN) != NULL;
}

// Property: of a cube with a signal of 20 to 40 Hz in white noise of deviation 0.4 the band is
// found within 4 Hz outwards (the Hann window widens it by two lines of 1 Hz at this length, "6 dB
// above the floor" by another), and the noise within 10 % (the median of fifty lines, each the mean
// of 400 traces, scatters by 1 %; the median lies 1 % below the mean). Without noise no level is
// named, and without a signal no band. The button applies them as one step of the history.
static void test_suggest(void)
{
    LithoGrid grid = litho_grid_new(20, 20, 250);
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) cube = litho_cube_new(&grid, &error);
    for (int t = 0; t < 400; t++)
        for (int k = 0; k < 250; k++) {
            double x = 0.4 * noise();
            for (int f = 20; f <= 40; f += 2)
                x += sin(2 * G_PI * f * (k * 0.004 + 0.003 * t) + f);
            litho_cube_trace(cube, t / 20, t % 20)[k] = (float)x;
        }
    LithoSpectrum spectrum;
    g_assert_true(litho_qc_spectrum(cube, NULL, 0, NULL, &spectrum, &error));
    LithoBand band = litho_suggest_band(&spectrum, 250);
    g_test_message("band %.1f to %.1f Hz, noise %.3f", band.low, band.high, band.sigma);
    g_assert_true(band.known);
    g_assert_cmpfloat_with_epsilon(band.low, 18, 4);
    g_assert_cmpfloat_with_epsilon(band.high, 42, 4);
    g_assert_cmpfloat_with_epsilon(band.sigma, 0.4, 0.04);
    for (guint k = 0; k < spectrum.n; k++)
        spectrum.amplitude[k] = 1;
    g_assert_false(litho_suggest_band(&spectrum, 250).known);
    litho_spectrum_clear(&spectrum);

    g_autofree char *path = gui_path(&gui, "band.sgy");
    g_assert_true(litho_cube_save(cube, path, &(LithoSaveOptions){.force = TRUE}, NULL, &error));
    forget_flow();
    open_file(path);
    litho_session_add_step(gui.session, litho_operator_find("fx"));
    g_assert_true(gui_wait(has_numbers, &gui, 20));
    const LithoStep *step = litho_flow_step(litho_session_flow(gui.session), 0);
    const LithoParamTable *table = &step->op->params;
    double before = litho_param_get(litho_param_find(table, "fmax"), step->params);
    int n = 0;
    GtkWidget *suggest = NULL;
    for (; !suggest || g_strcmp0(gtk_menu_button_get_label(GTK_MENU_BUTTON(suggest)), "Suggest");
         n++) {
        int k = n;
        suggest = find_nth(GTK_WIDGET(gui.window), GTK_TYPE_MENU_BUTTON, &k);
        g_assert_nonnull(suggest);
    }
    gtk_menu_button_popup(GTK_MENU_BUTTON(suggest));
    gui_spin(&gui, 0.5);
    step = litho_flow_step(litho_session_flow(gui.session), 0);
    g_assert_cmpfloat_with_epsilon(litho_param_get(litho_param_find(table, "fmax"), step->params),
                                   46, 6);
    GtkWidget *popover = GTK_WIDGET(gtk_menu_button_get_popover(GTK_MENU_BUTTON(suggest)));
    g_test_message("%s",
                   gtk_label_get_text(GTK_LABEL(gtk_popover_get_child(GTK_POPOVER(popover)))));
    gui_screenshot_of(&gui, popover, "files-suggest");
    gtk_menu_button_popdown(GTK_MENU_BUTTON(suggest));
    gui_activate(&gui, "win.undo");
    step = litho_flow_step(litho_session_flow(gui.session), 0);
    g_assert_cmpfloat(litho_param_get(litho_param_find(table, "fmax"), step->params), ==, before);

    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, litho_operator_find("wavepacket"));
    const LithoCubeNumbers *numbers = litho_session_numbers(gui.session, LITHO_NUMBERS_IN);
    GArray *whole = litho_suggest(litho_flow_step(flow, 0), &grid, &numbers->spectrum, 0);
    GArray *holes = litho_suggest(litho_flow_step(flow, 0), &grid, &numbers->spectrum, 0.3);
    g_assert_cmpfloat_with_epsilon(suggested(whole, "sigma")->value, 0.4, 0.04);
    g_assert_null(suggested(holes, "sigma"));
    g_assert_cmpfloat(suggested(holes, "mode")->value, ==, 2);
    for (guint k = 0; k < whole->len; k++)
        g_free(g_array_index(whole, LithoSuggestion, k).why);
    for (guint k = 0; k < holes->len; k++)
        g_free(g_array_index(holes, LithoSuggestion, k).why);
    g_array_unref(whole);
    g_array_unref(holes);
    gui_settle(&gui);
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
    g_test_add_func("/files/beyond-memory", test_beyond_memory);
    g_test_add_func("/files/import", test_import);
    g_test_add_func("/files/import-doubt", test_import_doubt);
    g_test_add_func("/files/save-formats", test_save_formats);
    g_test_add_func("/files/pictures", test_pictures);
    g_test_add_func("/files/command", test_command);
    g_test_add_func("/files/errors", test_errors);
    g_test_add_func("/files/full-disk", test_full_disk);
    g_test_add_func("/files/drop", test_drop);
    g_test_add_func("/files/colours", test_colours);
    g_test_add_func("/files/suggest", test_suggest);
    int status = g_test_run();
    gui_close(&gui);
    return status;
}
