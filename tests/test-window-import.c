// SPDX-License-Identifier: GPL-3.0-or-later
//
// Opening files in the window under a virtual display: the import view, profiles, doubts about the
// samples, files dropped on the window.
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "core/io/survey.h"
#include "core/synth/synth_parts.h"
#include "kernels/template/template.h"
#include "tests/gui/files.h"
#include "ui/import/import_guess.h"
#include "ui/import/import_preview.h"
#include "ui/import/import_profile.h"
#include "core/io/open_options.h"
#include "ui/session/points.h"
#include "ui/window/window_private.h"
#include "ui/window/recent.h"
#include "tests/common.h"

static Gui gui;

// The one that can be seen.
static GtkWidget *shown_button(GtkWindow *dialog, const char *label)
{
    for (int k = 0;; k++) {
        int n = k;
        GtkWidget *found = gui_find_nth(GTK_WIDGET(dialog), GTK_TYPE_BUTTON, &n);
        g_assert_nonnull(found);
        if (gtk_widget_get_visible(found) &&
            g_strcmp0(gtk_button_get_label(GTK_BUTTON(found)), label) == 0)
            return found;
    }
}

// Property: a file whose line numbers nobody can find opens in file order; bytes typed in the
// import view give the survey and its samples; kept as a profile they are offered for the next file
// of the same origin and not for another one; the session remembers how the file was read.
static void test_import(void)
{
    Make make = gui_odd_make();
    g_autofree char *path = gui_write_odd(&gui, "odd.sgy", &make, "ACME");
    gui_forget_flow(&gui);
    gui_open_file(&gui, path);
    g_assert_cmpint(litho_session_grid(gui.session)->axis[0].n, ==, 1); // in file order
    g_assert_true(litho_bar_has_remedy(litho_tellers_notes(gui.window->tellers)));
    gui_activate(&gui, "win.import");
    gui_await_label(&gui, "Import odd.sgy", "1 line × 20 traces");
    GtkWindow *dialog = gui_window_titled("Import odd.sgy");
    g_assert_cmpstr(gtk_editable_get_text(GTK_EDITABLE(gui_nth(dialog, GTK_TYPE_SPIN_BUTTON, 0))),
                    ==, "Find out");
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(gui_nth(dialog, GTK_TYPE_SPIN_BUTTON, 0)), 61);
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(gui_nth(dialog, GTK_TYPE_SPIN_BUTTON, 1)), 65);
    gui_await_label(&gui, "Import odd.sgy", "4 inlines × 5");
    gui_spin(&gui, 0.4);
    gui_screenshot_of(&gui, GTK_WIDGET(dialog), "files-import");
    GtkWidget *name = gui_nth(dialog, GTK_TYPE_ENTRY, 0);
    g_assert_false(gtk_widget_get_sensitive(gui_button(dialog, "Keep")));
    gtk_editable_set_text(GTK_EDITABLE(name), "Northern");
    gui_click(dialog, "Keep");
    gui_click(dialog, "_Open");
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
    const LithoGrid *grid = litho_session_grid(gui.session);
    g_assert_cmpint(grid->axis[0].n, ==, 4);
    g_assert_cmpint(grid->axis[1].n, ==, 5);
    g_assert_cmpfloat(litho_cube_trace(litho_session_input(gui.session), 2, 3)[7], ==,
                      make_value(&make, 2, 3, 7));
    g_assert_cmpint(litho_open_file_options(gui.window->file)->inline_byte, ==, 61);

    g_autofree char *next = gui_write_odd(&gui, "next.sgy", &make, "OTHER CLIENT");
    gui_open_file(&gui, next);
    g_assert_cmpint(litho_session_grid(gui.session)->axis[0].n, ==, 1);
    g_assert_nonnull(litho_bar_text(litho_tellers_offer(gui.window->tellers)));
    gui_spin(&gui, 0.3);
    gui_screenshot(&gui, "files-offer");
    gui_activate(&gui, "win.use-profile");
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
    g_assert_cmpint(litho_session_grid(gui.session)->axis[0].n, ==, 4);
    g_assert_null(litho_bar_text(litho_tellers_offer(gui.window->tellers)));

    g_autofree char *strange = gui_write_cube(&gui, "strange.sgy", 4, 5, 30);
    gui_open_file(&gui, strange);
    g_assert_null(litho_bar_text(litho_tellers_offer(gui.window->tellers)));
    gui_open_file(&gui, path); // as it was read last time
    g_assert_cmpint(litho_session_grid(gui.session)->axis[0].n, ==, 4);

    g_assert_true(litho_profile_delete("Northern", NULL));
    g_assert_null(litho_profile_match("client recorded northern surveys processing sequence line"));
    g_assert_nonnull(litho_profile_bad_name("../etc/passwd"));
    g_assert_false(litho_profile_save("a/b", litho_open_file_options(gui.window->file), "", NULL));
}

static gpointer rest(LithoRun *run, gpointer data, GError **error)
{
    (void)run, (void)error;
    g_usleep(500000);
    return data;
}

static void rested(gpointer result, const GError *error, gpointer data)
{
    (void)result;
    litho_window_end_job(data, error);
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
    gui_open_file(&gui, path);
    g_test_message("%s", litho_window_error(gui.window));
    g_assert_nonnull(litho_window_error(gui.window));
    g_assert_true(litho_bar_has_remedy(litho_tellers_error(gui.window->tellers)));
    gui_spin(&gui, 0.3);
    gui_screenshot(&gui, "files-doubt-bar");
    gui_activate(&gui, "win.import");
    gui_await_label(&gui, "Import doubt.sgy", "IEEE float, typical");
    GtkWindow *dialog = gui_window_titled("Import doubt.sgy");
    g_assert_false(gtk_widget_get_sensitive(gui_button(dialog, "_Open")));
    gui_screenshot_of(&gui, GTK_WIDGET(dialog), "files-import-doubt");
    for (int k = 0; k < 2; k++)
        g_assert_nonnull(
            gtk_picture_get_paintable(GTK_PICTURE(gui_nth(dialog, GTK_TYPE_PICTURE, k))));
    GtkDropDown *format = GTK_DROP_DOWN(gui_nth(dialog, GTK_TYPE_DROP_DOWN, 3));
    g_signal_emit_by_name(shown_button(dialog, "Use this"), "clicked");
    gui_await_label(&gui, "Import doubt.sgy", "12 inlines × 14");
    g_assert_cmpuint(gtk_drop_down_get_selected(format), ==, 2); // IEEE
    gtk_drop_down_set_selected(GTK_DROP_DOWN(gui_nth(dialog, GTK_TYPE_DROP_DOWN, 0)), 1);
    gui_await_label(&gui, "Import doubt.sgy", "1 line × 168 traces");
    gtk_drop_down_set_selected(GTK_DROP_DOWN(gui_nth(dialog, GTK_TYPE_DROP_DOWN, 0)), 0);
    gui_await_label(&gui, "Import doubt.sgy", "12 inlines × 14");
    static const LithoJobFuncs funcs = {rest, NULL, rested, NULL};
    litho_window_start_job(gui.window, "test", "Resting", &funcs, gui.window);
    gui_click(dialog, "_Open"); // refused: what was chosen stays
    g_assert_true(gui_window_titled("Import doubt.sgy") == dialog);
    gui_await_label(&gui, "Import doubt.sgy", "cancel it or wait");
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
    gui_click(dialog, "_Open");
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
    g_assert_null(litho_window_error(gui.window));
    float *trace = litho_cube_trace(litho_session_input(gui.session), 1, 2);
    g_assert_cmpfloat(trace[5], ==, (float)(sin(0.7 * 16 + 0.31 * 25) * 1234.5));
}

// --- raw files ----------------------------------------------------------------------------------

// Property: samples without any header are no dead end: the error leads to the import view, which
// shows the three sizes that the name tells, and the traces; the samples are in their places. The
// session and the command line remember the sizes. What would break it: sizes in the wrong order
// (every sample of the cube differs from its neighbours).
static void test_raw(void)
{
    const int n[3] = {6, 9, 40};
    g_autofree float *x = g_new(float, n[0] * n[1] * n[2]);
    for (int k = 0; k < n[0] * n[1] * n[2]; k++)
        x[k] = (float)sin(0.37 * k);
    g_autofree char *path = gui_path(&gui, "cube_40x9x6.bin");
    g_assert_true(g_file_set_contents(path, (const char *)x, n[0] * n[1] * n[2] * 4, NULL));
    gui_forget_flow(&gui);
    gui_open_file(&gui, path);
    g_assert_null(litho_window_error(gui.window)); // it asks, it does not complain
    const char *title = "Import cube_40x9x6.bin";
    gui_await_label(&gui, title, "6 inlines × 9 crosslines × 40 samples");
    GtkWindow *dialog = gui_window_titled(title);
    g_assert_nonnull(gtk_picture_get_paintable(GTK_PICTURE(gui_nth(dialog, GTK_TYPE_PICTURE, 0))));
    gui_screenshot_of(&gui, GTK_WIDGET(dialog), "import-raw");
    GtkWidget *interval_field = NULL; // bare samples say nothing of their interval
    for (int k = 0; !interval_field; k++) {
        GtkWidget *field = gui_nth(dialog, GTK_TYPE_SPIN_BUTTON, k);
        g_assert_nonnull(field);
        if (gtk_spin_button_get_digits(GTK_SPIN_BUTTON(field)) == 3)
            interval_field = field;
    }
    g_assert_cmpstr(gtk_editable_get_text(GTK_EDITABLE(interval_field)), ==, "Assumed");
    static const char *const typed[][2] = {
        {"2 ms", "2.000"}, {"0.003s", "3.000"}, {"5 x", "3.000"}};
    for (guint k = 0; k < G_N_ELEMENTS(typed); k++) { // a number has its unit, or none
        gtk_editable_set_text(GTK_EDITABLE(interval_field), typed[k][0]);
        gtk_spin_button_update(GTK_SPIN_BUTTON(interval_field));
        g_assert_cmpstr(gtk_editable_get_text(GTK_EDITABLE(interval_field)), ==, typed[k][1]);
    }
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(interval_field), 0);
    gui_click(dialog, "_Open");
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
    g_assert_null(litho_window_error(gui.window));
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < n[1]; j++)
            g_assert_cmpmem(litho_cube_trace(litho_session_input(gui.session), i, j), 160,
                            x + (i * n[1] + j) * n[2], 160);
    g_autofree char *words = litho_open_options_words(litho_open_file_options(gui.window->file));
    g_assert_cmpstr(words, ==, " --shape 6,9,40");
    // As people write it, on pages and in a shell: not 0.0040000000000000001.
    g_autofree char *slow = litho_open_options_words(&(LithoOpenOptions){.dt = 0.5});
    g_assert_cmpstr(slow, ==, " --dt 0.5s"); // seconds are believed with their unit
    g_autofree char *deep = litho_open_options_words(&(LithoOpenOptions){.dt = 5, .domain = 2});
    g_assert_nonnull(strstr(deep, " --dt 5 --depth"));
    g_autofree char *interval = litho_open_options_words(&(LithoOpenOptions){.dt = 0.004});
    g_assert_cmpstr(interval, ==, " --dt 0.004");
    g_autofree char *other = gui_write_cube(&gui, "between.sgy", 4, 5, 30);
    gui_open_file(&gui, other);
    gui_open_file(&gui, path); // as it was read last time
    g_assert_null(litho_window_error(gui.window));
    g_assert_cmpint(litho_session_grid(gui.session)->axis[2].n, ==, 40);

    gint64 shape[3] = {0};
    g_assert_true(litho_import_shape_from_name("/a/10x20x300.raw", 60000, shape));
    g_assert_cmpint(shape[2], ==, 300);
    g_assert_false(litho_import_shape_from_name("/a/10x20x300.raw", 60001, shape));
    g_assert_false(litho_import_shape_from_name("/10x20x300/a.raw", 60000, shape));
    g_assert_false(litho_import_shape_from_name("/a/10x20.raw", 200, shape));
}

// Property: sizes are found in the samples where the name tells none: events that dip both ways, a
// third of their size in noise; noise alone says nothing.
static void test_guess(void)
{
    const int n[3] = {12, 17, 150};
    const gint64 total = (gint64)n[0] * n[1] * n[2];
    g_autofree float *x = g_new(float, total);
    gint64 shape[3] = {0};
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < n[1]; j++)
            for (int k = 0; k < n[2]; k++) {
                const double t = 100 + k - 0.7 * i - 1.1 * j;
                const gint64 at = ((gint64)i * n[1] + j) * n[2] + k;
                double event = 0;
                for (int m = (int)t - 6; m < (int)t + 8; m++) // reflectivity with a smooth wavelet
                    event += litho_hash_normal(4, 1, m) * exp(-(t - m) * (t - m) / 8);
                x[at] = (float)(event + 0.5 * litho_hash_normal(3, 1, at));
            }
    g_assert_true(litho_import_shape_from_samples(x, total, total, NULL, shape));
    g_test_message("%d x %d x %d", (int)shape[0], (int)shape[1], (int)shape[2]);
    for (int a = 0; a < 3; a++)
        g_assert_cmpint(shape[a], ==, n[a]);
    for (gint64 k = 0; k < total; k++)
        x[k] = (float)litho_hash_normal(3, 2, k);
    g_assert_false(litho_import_shape_from_samples(x, total, total, NULL, shape));
}

// --- whatever comes -----------------------------------------------------------------------------

// After opening: a cube is on screen, or the one that was there still is and one sentence, short
// and in plain words (no option of the command line), says why.
static void assert_answered(const char *path, const char *before)
{
    const char *sentence = litho_window_error(gui.window);
    if (!sentence) {
        g_assert_cmpstr(litho_session_path(gui.session), ==, path);
        return;
    }
    g_test_message("%s", sentence);
    g_assert_null(strchr(sentence, '\n'));
    g_assert_null(strstr(sentence, " --"));
    g_assert_cmpuint(strlen(sentence), <, 250 + strlen(path));
    g_assert_cmpstr(litho_session_path(gui.session), ==, before);
    g_assert_nonnull(litho_session_grid(gui.session));
    litho_bar_hide(litho_tellers_error(gui.window->tellers));
}

static char *put(const char *name, gconstpointer bytes, gsize n)
{
    char *path = gui_path(&gui, name);
    g_assert_true(g_file_set_contents(path, bytes, n, NULL));
    return path;
}

// Opens `path` over the cube that is there; TRUE = it was taken.
static gboolean opens(const char *path)
{
    g_autofree char *before = g_strdup(litho_session_path(gui.session));
    gui_open_file(&gui, path);
    gboolean refused = litho_window_error(gui.window) != NULL;
    assert_answered(path, before);
    return !refused;
}

// Property: whatever is wrong with a file, the window answers with its cube or with one sentence
// and keeps what was open; nothing crashes, hangs or ends half way. What would break it: a refusal
// that comes after the old cube was let go.
static void test_broken_files(void)
{
    g_autofree char *good = gui_write_cube(&gui, "good.sgy", 8, 9, 40);
    Make make = make_plain();
    g_autoptr(GByteArray) file = make_file(&make);
    g_autofree guint8 *work = g_memdup2(file->data, file->len);
    gui_forget_flow(&gui);
    g_assert_true(opens(good));
    g_autofree char *empty = put("empty.sgy", "", 0);
    g_assert_false(opens(empty));
    g_assert_false(litho_bar_has_remedy(litho_tellers_error(gui.window->tellers))); // nothing to read otherwise
    g_autofree char *text = g_strnfill(9000, 'a'), *renamed = put("text.sgy", text, 9000);
    g_assert_false(opens(renamed));
    g_autofree char *head = put("head.sgy", work, 3600);
    g_assert_false(opens(head));
    g_autofree char *folder = gui_path(&gui, "folder.sgy");
    g_mkdir(folder, 0700);
    g_assert_false(opens(folder));
    g_autofree char *cut = put("cut.sgy", work, file->len - 33); // the whole traces are shown
    g_assert_true(opens(cut));
    memset(work + 3200, 0, file->len - 3200);
    g_autofree char *zeros = put("zeros.sgy", work, file->len);
    g_assert_false(opens(zeros));
    make_put_bin16(file, &make, 3225, 4711);
    g_autofree char *code = put("code.sgy", file->data, file->len);
    g_assert_false(opens(code));
    GRand *rand = g_rand_new_with_seed(11);
    for (guint k = 0; k < file->len; k++)
        work[k] = (guint8)g_rand_int(rand);
    g_rand_free(rand);
    g_autofree char *noise = put("noise.sgy", work, file->len);
    g_assert_false(opens(noise));
    gui_activate(&gui, "win.import"); // with the bar closed it is about the file that is open
    gui_spin(&gui, 0.2);
    GtkWindow *dialog = gui_window_titled("Import cut.sgy");
    g_assert_nonnull(dialog);
    gtk_window_destroy(dialog);
    g_assert_true(opens(good));
}

// Property: a cancel while a file is opened brings back what was open before, as it was, without a
// word of error; the file opens when it is asked for again.
static void test_cancel(void)
{
    g_autofree char *good = gui_path(&gui, "good.sgy");
    g_autofree char *large = gui_write_cube(&gui, "large.sgy", 120, 100, 300);
    g_assert_true(opens(good));
    litho_session_set_slice(gui.session, 0, 5);
    litho_window_open(gui.window, (const char *const[]){large, NULL});
    g_assert_true(litho_window_is_busy(gui.window));
    gui_activate(&gui, "win.cancel");
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
    g_assert_null(litho_window_error(gui.window));
    g_assert_cmpstr(litho_session_path(gui.session), ==, good);
    g_assert_cmpint(litho_session_grid(gui.session)->axis[0].n, ==, 8);
    g_assert_cmpint(litho_session_display(gui.session)->slice[0], ==, 5);
    g_assert_true(opens(large));
    g_assert_cmpint(litho_session_grid(gui.session)->axis[0].n, ==, 120);
}

static gboolean saw_preview;

static void cancel_preview(LithoSession *session)
{
    if (litho_session_previews(session)) {
        saw_preview = TRUE;
        gui_activate(&gui, "win.cancel"); // first: the file may be there soon
        g_autofree char *state = litho_window_state_text(gui.window);
        g_assert_nonnull(strstr(state, "\"name\" : \"mine.sgy\"")); // of what is still open
    }
}

static gboolean has_snapshot(Gui *g)
{
    return litho_snapshots_count(g->window->snapshots) == 1 &&
           litho_snapshots_get(g->window->snapshots, 0)->result != NULL;
}

// Property: a cancel after the first line of another file has been shown loses nothing of what was
// open: slices, zoom, points, the reference, results of snapshots.
static void test_cancel_preview(void)
{
    g_autofree char *mine = gui_write_cube(&gui, "mine.sgy", 8, 9, 40);
    g_autofree char *next = gui_write_cube(&gui, "next.sgy", 320, 200, 400);
    gui_open_with_gain(&gui, mine, 2);
    LithoCube *in = litho_session_input(gui.session);
    LithoPoints *points = litho_points_of(gui.session);
    LithoJudgement *judgement = gui.window->judgement;
    litho_judgement_set_truth(judgement, in, "Kept");
    litho_session_set_reference(gui.session, in, "Kept");
    gui_activate(&gui, "win.snapshot");
    g_assert_true(gui_wait(has_snapshot, &gui, 20));
    litho_points_add(points, (const gint64[]){1, 2, 3});
    litho_session_set_slice(gui.session, 1, 2);
    litho_session_set_window(gui.session, (double[]){1, 1, 5}, (double[]){6, 7, 30});
    gulong handler =
        g_signal_connect(gui.session, "cube-changed", G_CALLBACK(cancel_preview), NULL);
    for (int k = 0; k < 5 && !saw_preview; k++) { // it may be there before its line is shown
        litho_window_open(gui.window, (const char *const[]){next, NULL});
        g_assert_true(gui_wait(gui_is_free, &gui, 60));
    }
    g_signal_handler_disconnect(gui.session, handler);
    g_assert_true(saw_preview);
    const LithoDisplay *d = litho_session_display(gui.session);
    g_assert_true(litho_session_input(gui.session) == in);
    g_assert_cmpint(d->slice[1], ==, 2);
    g_assert_cmpfloat(d->lo[2], ==, 5);
    g_assert_cmpfloat(d->hi[2], ==, 30);
    g_assert_cmpuint(litho_points_count(points), ==, 1);
    g_assert_cmpstr(litho_session_reference_name(gui.session), ==, "Kept");
    g_assert_true(litho_judgement_truth(judgement, NULL) == in);
    g_assert_true(has_snapshot(&gui));
    gui_settle(&gui);
    gui_forget_flow(&gui);
}

// Property: numbers that form no rectangle (a diagonal, a swarm) still show the traces, in a grid
// with holes or in file order.
static void test_irregular(void)
{
    for (int kind = 0; kind < 2; kind++) {
        Make make = make_plain();
        make.bin_x = 0;
        g_autoptr(GByteArray) file = make_file(&make);
        for (int t = 0; t < 20; t++) {
            make_put_head32(file, &make, t, 189, kind ? 17 * t * t : 100 + t);
            make_put_head32(file, &make, t, 193, kind ? 3000 - 13 * t * t * t : 200 + t);
        }
        g_autofree char *path = put(kind ? "swarm.sgy" : "diagonal.sgy", file->data, file->len);
        g_assert_true(opens(path));
        g_assert_cmpint(litho_survey_counts(litho_session_input(gui.session)->survey).live, ==, 20);
    }
}

static void walk(const char *folder, guint *taken, guint *refused)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
            walk(path, taken, refused);
        } else {
            gboolean is_taken = opens(path);
            *taken += is_taken;
            *refused += !is_taken;
            gui_spin(&gui, 0.02); // drawn once
        }
    }
}

// Property: the same for every file from the wild, one after the other.
static void test_real_files(void)
{
    const char *given = g_getenv("LITHO_SHARED_DATA"), *root = g_getenv("LITHO_SOURCE_ROOT");
    g_autofree char *data = given  ? g_strdup(given)
                            : root ? g_build_filename(root, "..", "shared", "data", NULL)
                                   : g_strdup("");
    g_autofree char *folder = g_build_filename(data, "segy_odd", NULL);
    g_autofree char *odd = g_canonicalize_filename(folder, NULL); // as a session has it
    if (!g_file_test(odd, G_FILE_TEST_IS_DIR)) {
        g_test_skip("no shared data (LITHO_SHARED_DATA)");
        return;
    }
    guint taken = 0, refused = 0;
    g_autofree char *good = gui_path(&gui, "good.sgy");
    g_assert_true(opens(good));
    walk(odd, &taken, &refused);
    g_test_message("%u files opened, %u refused", taken, refused);
    g_assert_cmpuint(taken, >, 80);
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

static gboolean is_recent(Gui *g)
{
    g_autofree char *recent = litho_recent_last_path();
    return g_strcmp0(recent, litho_session_path(g->session)) == 0;
}

// Property: a cube dropped on the window opens, a recipe dropped there becomes the flow as one step
// of the history; a file opened becomes the first of the recent ones.
static void test_drop(void)
{
    g_autofree char *path = gui_write_cube(&gui, "dropped.sgy", 9, 10, 40);
    gui_forget_flow(&gui);
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
    g_assert_true(gui_wait(is_recent, &gui, 20)); // GTK keeps the recent files in its own time
}

// Property: "Read otherwise…" beside the survey's headers is dead while a job is at work, and opens
// the import view in the place of its window after it.
static void test_otherwise(void)
{
    static const LithoJobFuncs funcs = {rest, NULL, rested, NULL};
    g_autofree char *path = gui_write_cube(&gui, "otherwise.sgy", 8, 9, 40);
    gui_open_file(&gui, path);
    gui_activate(&gui, "win.survey");
    GtkWindow *survey = gui_window_titled("Survey");
    GtkWidget *button = gui_button(survey, "Read otherwise…");
    g_assert_true(gtk_widget_get_sensitive(button));
    litho_window_start_job(gui.window, "test", "Resting", &funcs, gui.window);
    g_assert_false(gtk_widget_get_sensitive(button));
    g_assert_true(gui_wait(gui_is_free, &gui, 20));
    g_signal_emit_by_name(button, "clicked");
    g_assert_null(gui_window_titled("Survey"));
    GtkWindow *dialog = gui_window_titled("Import otherwise.sgy");
    g_assert_nonnull(dialog);
    gtk_window_destroy(dialog);
}

// Property: a file that was refused can be read otherwise also once its sentence has been closed,
// where nothing else is open.
static void test_refused_later(void)
{
    g_autofree char *bad = gui_path(&gui, "refused.sgy"), *bytes = g_strnfill(5000, 'x');
    gui_reopen(&gui);
    g_assert_true(g_file_set_contents(bad, bytes, -1, NULL));
    gui_open_file(&gui, bad);
    g_assert_nonnull(litho_window_error(gui.window));
    litho_bar_hide(litho_tellers_error(gui.window->tellers));
    g_assert_true(g_action_group_get_action_enabled(G_ACTION_GROUP(gui.window), "import"));
    gui_activate(&gui, "win.import");
    GtkWindow *dialog = gui_window_titled("Import refused.sgy");
    g_assert_nonnull(dialog);
    gtk_window_destroy(dialog);
}

// Property: SEG-Y of floats is shown in both floating-point formats; SU has one, and is shown in
// it.
static void test_decodings(void)
{
    static const char *const names[] = {"floats.sgy", "floats.su"};
    for (guint k = 0; k < G_N_ELEMENTS(names); k++) {
        g_autofree char *path = gui_write_cube(&gui, names[k], 4, 5, 40);
        const LithoOpenOptions options = {0};
        LithoImportPreview *preview =
            litho_import_preview_new((const char *const[]){path, NULL}, &options, NULL, NULL);
        g_assert_cmpuint(preview->n, ==, 2 - k);
        litho_import_preview_free(preview);
        g_assert_cmpint(truncate(path, 300), ==, 0); // no whole trace: it cannot be opened
        preview = litho_import_preview_new((const char *const[]){path, NULL}, &options, NULL, NULL);
        g_assert_null(preview->survey);
        g_assert_cmpuint(preview->n, ==, 2 - k);
        litho_import_preview_free(preview);
    }
}

int main(int argc, char **argv)
{
    gui_init(&argc, &argv);
    gui_open_sized(&gui);
    g_test_add_func("/import/bytes", test_import);
    g_test_add_func("/import/doubt", test_import_doubt);
    g_test_add_func("/import/raw", test_raw);
    g_test_add_func("/import/guess", test_guess);
    g_test_add_func("/import/broken", test_broken_files);
    g_test_add_func("/import/decodings", test_decodings);
    g_test_add_func("/import/cancel", test_cancel);
    g_test_add_func("/import/cancel-preview", test_cancel_preview);
    g_test_add_func("/import/irregular", test_irregular);
    g_test_add_func("/import/real", test_real_files);
    g_test_add_func("/import/drop", test_drop);
    g_test_add_func("/import/otherwise", test_otherwise);
    g_test_add_func("/import/refused-later", test_refused_later);
    int status = test_run();
    gui_close(&gui);
    return status;
}
