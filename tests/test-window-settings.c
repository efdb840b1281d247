// SPDX-License-Identifier: GPL-3.0-or-later
//
// Settings of the window under a virtual display, which a window opened later finds again,
// suggestions for parameters, recent files, menus and long names.
#include <math.h>
#include <string.h>

#include "core/io/survey.h"
#include "core/suggest.h"
#include "tests/gui/files.h"
#include "ui/panel/data_panel.h"
#include "ui/panel/find_window.h"
#include "ui/panel/param_format.h"
#include "ui/panel/preset_line.h"
#include "ui/view/plot.h"
#include "ui/window/recent.h"
#include "ui/window/window_private.h"

static Gui gui;

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

// Property: a window opened later has the size of the one before, its folded panels and its device;
// a file of settings that makes no sense gives the defaults.
static void test_settings(void)
{
    int width, height;
    g_autofree char *path = gui_write_cube(&gui, "panels.sgy", 20, 24, 60);
    gui_open_file(&gui, path);
    gtk_window_get_default_size(GTK_WINDOW(gui.window), &width, &height);
    gtk_window_set_default_size(GTK_WINDOW(gui.window), 1150, 720);
    gui_activate(&gui, "win.fold-right");
    litho_session_set_device(gui.session, "cpu");
    const LithoSimilarityWidths wide = {.traces = {5, 0}, .seconds = 0.032};
    litho_judgement_set_widths(gui.window->judgement, wide);
    gui_spin(&gui, 0.3);
    gui_reopen(&gui);
    g_assert_true(
        litho_similarity_widths_equal(litho_judgement_widths(gui.window->judgement), wide));
    litho_judgement_set_widths(gui.window->judgement, litho_similarity_widths());
    int w, h;
    gtk_window_get_default_size(GTK_WINDOW(gui.window), &w, &h);
    g_assert_cmpint(w, ==, 1150);
    g_assert_cmpint(h, ==, 720);
    gui_open_file(&gui, path); // beside nothing there are no panels
    gui_spin(&gui, 0.3);
    g_assert_false(gtk_widget_get_visible(litho_panels_get(gui.window->panels, LITHO_PANEL_RIGHT)));
    g_assert_true(gtk_widget_get_visible(litho_panels_get(gui.window->panels, LITHO_PANEL_LEFT)));
    g_assert_cmpstr(litho_session_wanted_device(gui.session), ==, "cpu");
    gui_activate(&gui, "win.fold-right");
    litho_session_set_device(gui.session, "auto");
    gtk_window_set_default_size(GTK_WINDOW(gui.window), width, height);
    gui_spin(&gui, 0.2);

    g_autofree char *broken = gui_path(&gui, "broken.ini");
    g_autofree char *aside = g_strconcat(broken, ".damaged", NULL), *kept = NULL;
    static const char bad[] = "[window]\nwidth=wide\n\xff\xfe[[[";
    g_assert_true(g_file_set_contents(broken, bad, -1, NULL));
    LithoSettings *settings = litho_settings_new(broken);
    g_assert_cmpint(litho_settings_int(settings, "width", 1280), ==, 1280);
    litho_settings_set_int(settings, "width", 900);
    litho_settings_free(settings);
    // Settings that could not be read are not written over.
    g_assert_true(g_file_get_contents(aside, &kept, NULL, NULL));
    g_assert_cmpstr(kept, ==, bad);
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

static gboolean is_found(Gui *g)
{
    guint n;
    (void)g;
    GtkWindow *find = gui_window_titled("Find: F-X prediction filter");
    return find && litho_find_is_done(GTK_WIDGET(find), &n);
}

// Sets the tick of that name below `widget`.
static void tick(GtkWidget *widget, const char *name)
{
    if (GTK_IS_CHECK_BUTTON(widget) &&
        g_strcmp0(gtk_check_button_get_label(GTK_CHECK_BUTTON(widget)), name) == 0)
        gtk_check_button_set_active(GTK_CHECK_BUTTON(widget), TRUE);
    for (GtkWidget *c = gtk_widget_get_first_child(widget); c; c = gtk_widget_get_next_sibling(c))
        tick(c, name);
}

static gboolean has_numbers(Gui *g)
{
    return litho_session_numbers(g->session, LITHO_NUMBERS_IN) != NULL;
}

// Sines of 20 to 40 Hz and noise of this deviation on 400 traces.
static void fill_band(LithoCube *cube, double sigma)
{
    for (int t = 0; t < 400; t++)
        for (int k = 0; k < cube->grid.axis[2].n; k++) {
            double x = sigma * noise();
            for (int f = 20; f <= 40; f += 2)
                x += sin(2 * G_PI * f * (k * 0.004 + 0.003 * t) + f);
            litho_cube_trace(cube, t / 20, t % 20)[k] = (float)x;
        }
}

// Property: of a cube with a signal of 20 to 40 Hz in white noise of deviation 0.4 the band is
// found within 4 Hz outwards (the Hann window widens it by two lines of 1 Hz at this length, "3 dB
// above the floor" by another), and without a signal no band. A migration is suggested the band,
// packets filling where traces are missing and events have most of the energy.
static void test_suggest(void)
{
    LithoGrid grid = litho_grid_new(20, 20, 250);
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) cube = litho_cube_new(&grid, &error);
    fill_band(cube, 0.4);
    LithoSpectrum spectrum;
    g_assert_true(litho_qc_spectrum(cube, NULL, 0, NULL, &spectrum, &error));
    LithoBand band = litho_suggest_band(&spectrum);
    g_test_message("band %.1f to %.1f Hz", band.low, band.high);
    g_assert_true(band.known);
    g_assert_cmpfloat_with_epsilon(band.low, 18, 4);
    g_assert_cmpfloat_with_epsilon(band.high, 42, 4);
    litho_spectrum_clear(&spectrum);
    fill_band(cube, 3); // more energy than that of the sines
    g_assert_true(litho_qc_spectrum(cube, NULL, 0, NULL, &spectrum, &error));
    band = litho_suggest_band(&spectrum);
    g_test_message("in strong noise %.1f to %.1f Hz", band.low, band.high);
    g_assert_true(band.known);
    g_assert_cmpfloat_with_epsilon(band.low, 18, 4);
    g_assert_cmpfloat_with_epsilon(band.high, 42, 4);
    fill_band(cube, 0.4);
    for (guint k = 0; k < spectrum.n; k++)
        spectrum.amplitude[k] = 1;
    g_assert_false(litho_suggest_band(&spectrum).known);
    litho_spectrum_clear(&spectrum);

    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, litho_operator_find("wavepacket"));
    g_assert_true(litho_qc_spectrum(cube, NULL, 0, NULL, &spectrum, &error));
    GArray *whole = litho_suggest(litho_flow_step(flow, 0)->op, &grid, &spectrum, NULL, 0);
    GArray *holes = litho_suggest(litho_flow_step(flow, 0)->op, &grid, &spectrum, NULL, 0.3);
    LithoEvents events = {.axis = {{.known = TRUE, .share = 0.5}}}; // the rest is noise
    GArray *noisy = litho_suggest(litho_flow_step(flow, 0)->op, &grid, &spectrum, &events, 0.3);
    g_assert_cmpfloat(suggested(whole, "mode")->value, ==, 0);
    g_assert_cmpfloat(suggested(holes, "mode")->value, ==, 2);
    g_assert_cmpfloat(suggested(noisy, "mode")->value, ==, 0);
    g_array_unref(whole);
    g_array_unref(holes);
    g_array_unref(noisy);
    whole = litho_suggest(litho_operator_find("migrate"), &grid, &spectrum, NULL, 0);
    // Two figures are suggested.
    g_assert_cmpfloat_with_epsilon(suggested(whole, "fmin")->value, 16, 4);
    g_assert_cmpfloat_with_epsilon(suggested(whole, "fmax")->value, 42, 4);
    g_assert_cmpfloat(fmod(suggested(whole, "fmax")->value, 1), ==, 0);
    g_array_unref(whole);
    litho_spectrum_clear(&spectrum);
}

// Property: Find lists what the size of the data suggests beside the values of the highest expected
// SNR and changes nothing before Apply, which is one step of the history. Traces of 36 samples are
// one time window of the F-X filter; 21 are suggested.
static void test_suggest_window(void)
{
    LithoGrid grid = litho_grid_new(20, 20, 36);
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) cube = litho_cube_new(&grid, &error);
    fill_band(cube, 0.4);
    g_autofree char *path = gui_path(&gui, "short.sgy");
    g_assert_true(litho_cube_save(cube, path, &(LithoSaveOptions){.force = TRUE}, NULL, &error));
    gui_forget_flow(&gui);
    gui_open_file(&gui, path);
    litho_session_add_step(gui.session, litho_operator_find("fx"));
    g_assert_true(gui_wait(has_numbers, &gui, 20));
    const LithoStep *step = litho_flow_step(litho_session_flow(gui.session), 0);
    const LithoParam *row = litho_param_find(&step->op->params, "time_window");
    g_assert_cmpfloat(litho_param_get(row, step->params), ==, 0);
    g_assert_true(gui_wait(gui_has_output, &gui, 60));
    gui_activate(&gui, "win.find");
    GtkWindow *find = gui_window_titled("Find: F-X prediction filter");
    g_assert_nonnull(find);
    g_assert_true(gui_wait(is_found, &gui, 100));
    guint rows;
    litho_find_is_done(GTK_WIDGET(find), &rows);
    g_assert_cmpuint(rows, >=, 3); // the time window and what the operator names
    step = litho_flow_step(litho_session_flow(gui.session), 0);
    g_assert_cmpfloat(litho_param_get(row, step->params), ==, 0);
    tick(GTK_WIDGET(find), "Time window");
    gui_screenshot_of(&gui, GTK_WIDGET(find), "sessions-find");
    gui_click(find, "Apply");
    gui_spin(&gui, 0.3);
    step = litho_flow_step(litho_session_flow(gui.session), 0);
    g_assert_cmpfloat(litho_param_get(row, step->params), ==, 21);
    gui_activate(&gui, "win.undo");
    step = litho_flow_step(litho_session_flow(gui.session), 0);
    g_assert_cmpfloat(litho_param_get(row, step->params), ==, 0);
    gui_settle(&gui);
}

// Property: Find is offered where the selected operator has something to find.
static void test_find_possible(void)
{
    const struct {
        const char *key;
        gboolean has;
    } cases[] = {{"fx", TRUE}, {"twsm", FALSE}, {"patch", TRUE}};
    GAction *find = g_action_map_lookup_action(G_ACTION_MAP(gui.window), "find");
    g_autofree char *path = gui_write_cube(&gui, "found.sgy", 10, 12, 60);
    gui_open_file(&gui, path);
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        gui_show_operator(&gui, litho_operator_find(cases[k].key));
        g_assert_cmpint(g_action_get_enabled(find), ==, cases[k].has);
    }
    gui_forget_flow(&gui);
    g_assert_false(g_action_get_enabled(find));
}

// Property: the list of recent files holds cubes that could be opened: neither a file that was
// refused nor a picture that was written.
static void test_recent(void)
{
    g_autofree char *good = gui_write_cube(&gui, "recent.sgy", 8, 9, 40);
    g_autofree char *bad = gui_path(&gui, "refused.sgy"), *picture = gui_path(&gui, "recent.png");
    g_assert_true(g_file_set_contents(bad, "no cube at all", -1, NULL));
    gui_open_file(&gui, good);
    gui_open_file(&gui, bad);
    g_assert_nonnull(litho_window_error(gui.window));
    litho_window_clear_error(gui.window);
    litho_window_export(gui.window, picture);
    g_assert_true(gui_wait(gui_is_free, &gui, 60));
    gui_spin(&gui, 0.5); // the recent files are kept by GTK in its own time
    g_autofree char *last = litho_recent_last_path();
    g_assert_cmpstr(last, ==, good);

    // Names as long as a file system allows: in letters of two bytes, where it is cut between two,
    // and in wide ones, which the start page has no room for.
    g_autoptr(GString) name = g_string_new(NULL);
    while (name->len < 240)
        g_string_append(name, "\u0444");
    g_string_append(name, ".sgy");
    g_autofree char *tall = gui_write_cube(&gui, name->str, 8, 9, 40);
    gui_open_file(&gui, tall);
    g_assert_true(g_utf8_validate(litho_session_input(gui.session)->name, -1, NULL));
    g_string_truncate(name, 0);
    while (name->len < 240)
        g_string_append_c(name, 'w');
    g_string_append(name, ".npy");
    g_autofree char *wide = gui_write_cube(&gui, name->str, 8, 9, 40);
    gui_open_file(&gui, wide);
    gui_spin(&gui, 0.5);
    gui_reopen(&gui);
    gui_spin(&gui, 0.5);
    int least;
    GtkWidget *page = litho_start_page_widget(litho_middle_start(gui.window->middle));
    GtkWidget *inside = gtk_widget_get_first_child(page); // of what scrolls
    gtk_widget_measure(inside, GTK_ORIENTATION_HORIZONTAL, -1, &least, NULL, NULL, NULL);
    g_assert_cmpint(least, <=, 1280);
    gui_screenshot(&gui, "settings-long-name");
}

// Property: sliders of whole numbers stop at their row's step, so that one of even windows never
// asks for an odd one; both ends can be reached.
static void test_steps(void)
{
    guint stepped = 0;
    for (const LithoOperator *const *op = litho_operators(); *op; op++)
        for (guint r = 0; r < (*op)->params.n; r++) {
            const LithoParam *row = &(*op)->params.rows[r];
            if (row->type != LITHO_PARAM_INT || row->step <= 1)
                continue;
            double lo, hi;
            litho_param_slider_range(row, &lo, &hi);
            for (double at = lo; at <= hi; at += 0.37) {
                const double value = litho_param_slider_to_value(row, at);
                g_assert_cmpfloat(fmod(value, row->step), ==, 0);
                g_assert_cmpfloat(fabs(value - at), <=, row->step / 2);
            }
            g_assert_cmpfloat(litho_param_slider_to_value(row, lo), ==, lo);
            g_assert_cmpfloat(litho_param_slider_to_value(row, hi), ==, hi);
            stepped++;
        }
    g_assert_cmpuint(stepped, >, 0);
}

static gboolean has_failed(Gui *g)
{
    return litho_session_problem(g->session) && !litho_session_progress(g->session, NULL);
}

// Property: after a run of another mode that fails, nothing in the panels is of the result before
// it, which the views still show: no remark, and no ends of its colours among the input's
// amplitudes.
static void test_failed_run(void)
{
    g_autofree char *path = gui_write_cube(&gui, "failing.sgy", 8, 20, 100);
    gui_open_file(&gui, path);
    g_autoptr(LithoFlow) flow = litho_flow_new();
    const LithoOperator *op = litho_operator_find("migrate");
    LithoStep *step = litho_flow_step(flow, litho_flow_append(flow, op));
    const char *const words[] = {"velocity=2000", "nz=30", "dz=10", "degree=9", "source_x=1e5"};
    for (guint k = 0; k < G_N_ELEMENTS(words); k++)
        g_assert_true(litho_operator_set(op, step->params, words[k], NULL));
    litho_session_set_flow(gui.session, flow, "test");
    g_assert_true(gui_wait(gui_has_output, &gui, 60));
    gui_settle(&gui);
    GtkWidget *panel = gui_find_type(GTK_WIDGET(gui.window), LITHO_TYPE_DATA_PANEL);
    LithoPlot *histogram = LITHO_PLOT(litho_data_panel_histogram(LITHO_DATA_PANEL(panel)));
    LithoParamPanel *params = litho_window_params(gui.window);
    g_assert_cmpstr(litho_param_panel_remarks(params), !=, "");
    g_assert_cmpuint(litho_plot_n_handles(histogram), ==, 2);
    g_assert_true(litho_session_set_param(gui.session, 0, litho_param_find(&op->params, "mode"),
                                          NAN, "shot", NULL));
    g_assert_true(gui_wait(has_failed, &gui, 60));
    gui_settle(&gui);
    g_test_message("%s", litho_session_problem(gui.session)->message);
    g_assert_nonnull(litho_session_result(gui.session));
    g_assert_cmpstr(litho_param_panel_remarks(params), ==, "");
    g_assert_cmpuint(litho_plot_n_handles(histogram), ==, 0);
    gui_screenshot(&gui, "settings-failed-run");
    gui_forget_flow(&gui);
}

// --- menus --------------------------------------------------------------------------------------

static gboolean shows_tooltip(GtkWidget *widget)
{
    g_autoptr(GtkTooltip) tooltip = g_object_new(GTK_TYPE_TOOLTIP, NULL);
    gboolean shows = FALSE;
    g_signal_emit_by_name(widget, "query-tooltip", 1, 1, FALSE, tooltip, &shows);
    return shows;
}

// Opens each menu and choice that has a tooltip; their number.
static guint check_menus(GtkWidget *widget)
{
    const gboolean menu = GTK_IS_MENU_BUTTON(widget), choice = GTK_IS_DROP_DOWN(widget);
    guint n = 0;
    if (!gtk_widget_get_mapped(widget))
        return 0;
    if ((menu || choice) && gtk_widget_get_tooltip_text(widget) &&
        gtk_widget_is_sensitive(widget)) {
        g_test_message("%s", gtk_widget_get_tooltip_text(widget));
        g_assert_true(shows_tooltip(widget));
        GtkWidget *button = choice ? gtk_widget_get_first_child(widget) : NULL;
        if (menu)
            gtk_menu_button_popup(GTK_MENU_BUTTON(widget));
        else
            g_signal_emit_by_name(button, "clicked");
        gui_spin(&gui, 0.05);
        g_assert_false(shows_tooltip(widget));
        if (menu)
            gtk_menu_button_popdown(GTK_MENU_BUTTON(widget));
        else
            gtk_popover_popdown(GTK_POPOVER(gui_find_type(widget, GTK_TYPE_POPOVER)));
        gui_spin(&gui, 0.3); // it fades
        g_assert_true(shows_tooltip(widget));
        return 1;
    }
    for (GtkWidget *c = gtk_widget_get_first_child(widget); c; c = gtk_widget_get_next_sibling(c))
        n += check_menus(c);
    return n;
}

// Property: the tooltip of a button that opens a menu does not lie over the menu. Keys go to a view
// where nothing had the focus when a file was opened.
static void test_menus(void)
{
    g_autofree char *path = gui_write_cube(&gui, "menus.sgy", 12, 14, 60);
    gtk_window_set_focus(GTK_WINDOW(gui.window), NULL);
    gui_open_file(&gui, path);
    g_assert_true(LITHO_IS_CUBE_VIEW(gtk_window_get_focus(GTK_WINDOW(gui.window))));
    gui_use_operator(&gui, litho_operator_find("patch"));
    g_assert_true(gui_wait(gui_has_output, &gui, 60));
    gui_settle(&gui);
    g_assert_cmpuint(check_menus(gtk_window_get_titlebar(GTK_WINDOW(gui.window))), >=, 3);
    g_assert_cmpuint(check_menus(litho_panels_get(gui.window->panels, LITHO_PANEL_LEFT)), >=, 4);
}

// A preset that cannot be read is told among the others, where it can be removed, and is no choice.
static void check_unreadable(GtkDropDown *choice, LithoPresetLine *line)
{
    g_autofree char *broken = g_build_filename(g_get_user_config_dir(), "lithoscope", "presets",
                                               "patch", "broken.json", NULL);
    g_assert_true(g_file_set_contents(broken, "no recipe", -1, NULL));
    const guint n = g_list_model_get_n_items(gtk_drop_down_get_model(choice));
    g_assert_true(litho_preset_menu_save(litho_preset_line_menu(line), "one more"));
    g_assert_cmpuint(g_list_model_get_n_items(gtk_drop_down_get_model(choice)), ==, n + 1);
    g_assert_nonnull(gui_find_label(GTK_WIDGET(line), "broken, which cannot be read"));
}

// Property: a preset's long name, and that of a file on the page of the survey, take no more width
// than there is; "custom", which is no set, leaves the choice as it was.
static void test_long_names(void)
{
    g_autofree char *stem = g_strnfill(150, 'w'), *name = g_strconcat(stem, ".sgy", NULL);
    g_autofree char *path = gui_write_cube(&gui, name, 12, 14, 60);
    gui_open_file(&gui, path);
    gui_use_operator(&gui, litho_operator_find("patch"));
    gui_set_param(&gui, litho_operator_find("patch"), "window", 20);
    GtkWidget *left = litho_panels_get(gui.window->panels, LITHO_PANEL_LEFT);
    LithoPresetLine *line = LITHO_PRESET_LINE(gui_find_type(left, LITHO_TYPE_PRESET_LINE));
    GtkDropDown *choice = litho_preset_line_choice(line);
    gui_spin(&gui, 0.2);
    const int width = gtk_widget_get_width(left);
    g_assert_true(litho_preset_menu_save(litho_preset_line_menu(line),
                                         "a name that says all there is to say of it"));
    const guint mine = gtk_drop_down_get_selected(choice);
    gui_spin(&gui, 0.2);
    g_assert_cmpint(gtk_widget_get_width(left), ==, width);
    gtk_drop_down_set_selected(choice,
                               g_list_model_get_n_items(gtk_drop_down_get_model(choice)) - 1);
    g_assert_cmpuint(gtk_drop_down_get_selected(choice), ==, mine);
    check_unreadable(choice, line);
    gui_activate(&gui, "win.survey");
    gui_spin(&gui, 0.5);
    GtkWindow *survey = gui_window_titled("Survey");
    g_assert_nonnull(survey);
    g_assert_cmpint(gtk_widget_get_width(GTK_WIDGET(survey)), <=, 760 + 60); // its shadow
    gtk_window_destroy(survey);
    gui_forget_flow(&gui);
}

// Property: the choice of light or dark is on disk at once: a program that is killed has kept it.
static void test_appearance(void)
{
    g_autofree char *ini = gui_path(&gui, "settings.ini"), *text = NULL;
    g_action_group_activate_action(G_ACTION_GROUP(gui.app), "appearance",
                                   g_variant_new_string("dark"));
    g_assert_true(g_file_get_contents(ini, &text, NULL, NULL));
    g_assert_nonnull(strstr(text, "appearance=dark"));
    gui_settle(&gui);
    gui_screenshot(&gui, "settings-dark");
    g_action_group_activate_action(G_ACTION_GROUP(gui.app), "appearance",
                                   g_variant_new_string("light"));
}

int main(int argc, char **argv)
{
    gui_init(&argc, &argv);
    gui_open_sized(&gui);
    g_test_add_func("/settings/colours", test_colours);
    g_test_add_func("/settings/settings", test_settings);
    g_test_add_func("/settings/steps", test_steps);
    g_test_add_func("/settings/suggest", test_suggest);
    g_test_add_func("/settings/suggest-window", test_suggest_window);
    g_test_add_func("/settings/find-possible", test_find_possible);
    g_test_add_func("/settings/recent", test_recent);
    g_test_add_func("/settings/failed-run", test_failed_run);
    g_test_add_func("/settings/menus", test_menus);
    g_test_add_func("/settings/long-names", test_long_names);
    g_test_add_func("/settings/appearance", test_appearance);
    int status = g_test_run();
    gui_close(&gui);
    return status;
}
