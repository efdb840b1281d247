// SPDX-License-Identifier: GPL-3.0-or-later
//
// Names of axes and units in the window: records, gathers and velocities are told in their own
// words, in titles, at the cursor and on the page of the survey. Names of files that are saved.
#include <string.h>

#include "tests/gui/files.h"
#include "ui/view/cube_view_private.h"
#include "ui/window/palette.h"
#include "ui/window/window_private.h"

static Gui gui;

// Four gathers of 12 traces from word `slow` and `fast` of the trace header.
static char *write_gathers(const char *name, int slow, int fast)
{
    Make make = make_plain();
    make.n2 = 12;
    make.inline_byte = make.xline_byte = -1;
    g_autoptr(GByteArray) file = make_file(&make);
    make_put_bin16(file, &make, 3255, 1);
    for (int n = 0; n < 48; n++) {
        make_put_head32(file, &make, n, 37, 100 + 25 * (n % 12));
        make_put_head32(file, &make, n, slow, 301 + n / 12);
        if (fast != 37)
            make_put_head32(file, &make, n, fast, 1 + n % 12);
    }
    char *path = gui_path(&gui, name);
    g_assert_true(g_file_set_contents(path, (const char *)file->data, file->len, NULL));
    return path;
}

static const char *cursor_text(void)
{
    GtkWidget *place = gui_find_type(gui.window->status, GTK_TYPE_LABEL);
    return gtk_label_get_text(GTK_LABEL(place));
}

static void assert_title(int view, gint64 index, const char *title)
{
    LithoCanvas *canvas = litho_window_canvas(gui.window);
    g_autofree char *text = litho_cube_view_title(litho_canvas_view(canvas, view),
                                                  litho_session_grid(gui.session), index);
    g_assert_cmpstr(text, ==, title);
}

// Property: shots have channels and CDPs offsets in metres, wherever an axis is named.
static void test_gathers(void)
{
    g_autofree char *shots = write_gathers("shots.sgy", 9, 13);
    gui_open_file(&gui, shots);
    gui_settle(&gui);
    assert_title(LITHO_INLINE, 1, "Shot 302");
    assert_title(LITHO_XLINE, 4, "Channel 5");
    g_test_message("%s", cursor_text());
    g_assert_nonnull(strstr(cursor_text(), "Shot 30"));
    g_assert_nonnull(strstr(cursor_text(), "Channel "));
    gui_screenshot(&gui, "shots");
    g_assert_true(litho_palette_run(gui.window, "shot 304"));
    g_assert_cmpint(litho_session_display(gui.session)->slice[LITHO_INLINE], ==, 3);
    g_assert_true(litho_palette_run(gui.window, "maximise the channel"));
    g_assert_cmpint(litho_canvas_maximised(litho_window_canvas(gui.window)), ==, LITHO_XLINE);
    g_assert_true(litho_palette_run(gui.window, "maximise the channel"));

    g_autofree char *cdps = write_gathers("cdps.sgy", 21, 37);
    gui_open_file(&gui, cdps);
    gui_settle(&gui);
    assert_title(LITHO_INLINE, 1, "CDP 302");
    assert_title(LITHO_XLINE, 2, "Offset 150\u2009m");
    g_assert_nonnull(strstr(cursor_text(), "CDP 30"));
    g_assert_nonnull(strstr(cursor_text(), " m   t "));
    gui_screenshot(&gui, "cdps");
}

// Property: the page of the survey names the axes as the views do, and its times have their unit.
static void test_survey_page(void)
{
    g_autofree char *cdps = write_gathers("page.sgy", 21, 37);
    gui_open_file(&gui, cdps);
    gui_settle(&gui);
    for (int seconds = 0; seconds < 2; seconds++) {
        gui_activate(&gui, seconds ? "win.time-unit('s')" : "win.time-unit('auto')");
        gui_activate(&gui, "win.survey");
        GtkWindow *page = gui_window_titled("Survey");
        g_assert_nonnull(page);
        GtkWidget *widget = GTK_WIDGET(page);
        g_assert_nonnull(gui_find_label(widget, "CDPs"));
        g_assert_nonnull(gui_find_label(widget, "Offsets"));
        g_assert_null(gui_find_label(widget, "Inlines"));
        g_assert_true(gui_label_says(widget, "12: 100 to 375 m, step 25 m"));
        g_assert_true(gui_label_says(widget, seconds ? "30: 0 to 0.116 s, step 0.004 s"
                                                     : "30: 0 to 116 ms, step 4 ms"));
        gui_screenshot_of(&gui, widget, seconds ? "page-seconds" : "page");
        gtk_window_destroy(page);
    }
    gui_activate(&gui, "win.time-unit('auto')");
}

static gboolean numbers_known(Gui *g)
{
    return litho_session_numbers(g->session, LITHO_NUMBERS_IN) != NULL;
}

// Property: a velocity under the cursor has its unit.
static void test_velocity(void)
{
    LithoGrid grid = litho_grid_new(8, 8, 20);
    LithoCube *cube = litho_cube_new(&grid, NULL);
    for (gint64 k = 0; k < litho_grid_samples(&grid); k++)
        cube->samples[k] = (float)(2000 + 10 * (k % 20));
    litho_cube_set_name(cube, "velocity");
    litho_session_set_input(gui.session, cube);
    g_assert_true(gui_wait(numbers_known, &gui, 20));
    const double at[3] = {3, 4, 5};
    litho_session_set_cursor(gui.session, at);
    g_assert_true(gui_label_says(gui.window->status, "in 2\u2009050 m/s"));
    litho_session_set_cursor(gui.session, NULL);
}

// Property: a file that is saved under a name without a suffix gets that of its kind, and replaces
// no file by that; any other name stays as it was given.
static void test_suffix(void)
{
    g_autofree char *bare = gui_path(&gui, "bare"), *there = gui_path(&gui, "there"),
                    *other = gui_path(&gui, "other.npy"), *known = gui_path(&gui, "there.sgy");
    g_autofree char *saved = litho_window_saved_path(bare, ".sgy", NULL);
    g_assert_true(g_str_has_suffix(saved, "/bare.sgy"));
    g_autofree char *as_given = litho_window_saved_path(other, ".sgy", NULL);
    g_assert_cmpstr(as_given, ==, other);
    g_autoptr(GError) error = NULL;
    g_assert_true(g_file_set_contents(known, "x", 1, NULL));
    g_assert_null(litho_window_saved_path(there, ".sgy", &error));
    g_assert_nonnull(strstr(error->message, "there.sgy is there already"));
}

// Property: a sentence begins with a capital letter, a file's name and an operator's key keep
// theirs.
static void test_sentences(void)
{
    static const char *const told[][2] = {{"prestack: 2 offsets", "Prestack: 2 offsets"},
                                          {"the file is short", "The file is short"},
                                          {"fx: window is 3", "fx: window is 3"},
                                          {"data.sgy: no traces", "data.sgy: no traces"}};
    for (guint k = 0; k < G_N_ELEMENTS(told); k++) {
        g_autofree char *plain = litho_plain_sentence(told[k][0]);
        g_assert_cmpstr(plain, ==, told[k][1]);
    }
}

// Property: the sample interval is told in milliseconds beside a record whose axis has seconds.
static void test_long_record(void)
{
    g_autofree char *path = gui_write_cube(&gui, "long.npy", 2, 3, 3000);
    gui_open_file(&gui, path);
    g_assert_nonnull(
        gui_find_label(litho_header_widget(gui.window->header), "2 × 3 × 3\u2009000 · 4 ms"));
}

int main(int argc, char **argv)
{
    gui_init(&argc, &argv);
    gui_open_sized(&gui);
    g_test_add_func("/names/gathers", test_gathers);
    g_test_add_func("/names/survey-page", test_survey_page);
    g_test_add_func("/names/velocity", test_velocity);
    g_test_add_func("/names/suffix", test_suffix);
    g_test_add_func("/names/sentences", test_sentences);
    g_test_add_func("/names/long-record", test_long_record);
    int status = g_test_run();
    gui_close(&gui);
    return status;
}
