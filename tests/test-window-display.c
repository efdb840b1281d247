// SPDX-License-Identifier: GPL-3.0-or-later
//
// Display of data: gain for the eye, the colour bar under the hand, the history as a list, pictures
// of the area's frequencies.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/io/survey.h"
#include "kernels/template/template.h"
#include "tests/gui/files.h"
#include "tests/gui/keys.h"
#include "ui/panel/area_panel.h"
#include "ui/panel/area_pictures.h"
#include "ui/panel/preset_line.h"
#include "ui/panel/snapshot_bar.h"
#include "ui/panel/sweep_axis.h"
#include "ui/session/medium.h"
#include "ui/session/points.h"
#include "ui/session/presets.h"
#include "ui/view/cube_view_private.h"
#include "ui/view/plot.h"
#include "ui/window/window_private.h"

static Gui gui;

static const LithoLook *look(void)
{
    return &litho_session_display(gui.session)->look;
}

// --- gain for the eye ---------------------------------------------------------------------------

static gboolean title_says(const char *text)
{
    g_autofree char *name = litho_look_gain_name(look(), litho_session_grid(gui.session), 0);
    return name && strstr(name, text);
}

// Property: a gain of the picture changes pixels and no sample, is named by the views, has its
// check mark in the menu, and comes back with the session.
static void test_gain(void)
{
    g_autofree char *path = gui_write_cube(&gui, "gain.sgy", 24, 30, 120);
    g_autofree char *other = gui_write_cube(&gui, "other.sgy", 24, 30, 120);
    gui_open_with_gain(&gui, path, 2);
    gui_settle(&gui);
    LithoCube *out = litho_session_output(gui.session);
    const float before = litho_cube_trace(out, 3, 4)[50];
    g_autoptr(GdkTexture) plain = gui_picture(&gui);
    gui_activate(&gui, "win.agc");
    gui_settle(&gui);
    g_assert_true(title_says("AGC 400 ms"));
    g_autoptr(GdkTexture) balanced = gui_picture(&gui);
    g_assert_cmpfloat(gui_difference(&gui, plain, balanced), >, 0.05);
    g_assert_true(litho_session_output(gui.session) == out);
    g_assert_cmpfloat(litho_cube_trace(out, 3, 4)[50], ==, before);
    gui_screenshot(&gui, "display-agc");
    gui_activate(&gui, "win.time-gain");
    gui_activate(&gui, "win.time-gain");
    g_assert_cmpint(look()->agc, ==, 0);
    g_assert_true(title_says("gain t²"));
    GAction *action = g_action_map_lookup_action(G_ACTION_MAP(gui.window), "display-gain");
    g_autoptr(GVariant) state = g_action_get_state(action);
    g_assert_cmpstr(g_variant_get_string(state, NULL), ==, "t2");
    gui_activate(&gui, "win.display-gain::t1.5");
    g_assert_true(title_says("gain t^1.5"));
    gui_activate(&gui, "win.time-gain"); // the next one up of the key's own
    g_assert_true(title_says("gain t²"));
    gui_activate(&gui, "win.density");
    g_assert_true(look()->no_density && look()->wiggle != LITHO_WIGGLE_OFF);
    gui_settle(&gui);
    gui_screenshot(&gui, "display-wiggles");
    gui_open_file(&gui, other);
    gui_activate(&gui, "win.display-gain('none')");
    gui_open_file(&gui, path);
    g_assert_cmpfloat(look()->time_power, ==, 2);
    g_assert_true(look()->no_density);
    gui_activate(&gui, "win.wiggle");
    g_assert_false(look()->no_density); // nothing would be seen
    gui_activate(&gui, "win.display-gain('none')");
    g_assert_null(litho_look_gain_name(look(), litho_session_grid(gui.session), 0));
}

// --- the colour bar -----------------------------------------------------------------------------

// Property: the amplitude under the hand becomes the end of the colours; zero stays in the middle
// of signed data; an end never passes the other one.
static void test_bar(void)
{
    const LithoRect bar = {0, 100, 14, 200};
    litho_session_set_clip(gui.session, 4);
    LithoBarDrag upper = litho_bar_drag_begin(gui.session, bar, 110);
    LithoBarDrag lower = litho_bar_drag_begin(gui.session, bar, 290);
    litho_bar_drag_to(&upper, gui.session, 50); // half way to the middle
    g_assert_cmpfloat_with_epsilon(look()->hi, 2, 1e-9);
    g_assert_cmpfloat_with_epsilon(look()->lo, -2, 1e-9);
    litho_bar_drag_to(&lower, gui.session, 50); // outwards
    g_assert_cmpfloat_with_epsilon(look()->hi, 6, 1e-9);
    litho_bar_drag_to(&upper, gui.session, 1000);
    g_assert_cmpfloat(look()->hi, >, 0);
    gui_activate(&gui, "win.maximise(0)");
    gui_settle(&gui);
    LithoCubeView *view = litho_canvas_view(litho_window_canvas(gui.window), LITHO_INLINE);
    g_assert_cmpfloat(view->panel[0].frame.bar.w, >, 0);
    gui_activate(&gui, "win.colours-menu");
    gui_spin(&gui, 0.5);
    GtkWidget *popover = gui_find_type(GTK_WIDGET(view), GTK_TYPE_POPOVER);
    g_assert_nonnull(popover);
    gui_spin(&gui, 0.3);
    float left[2];
    for (int m = 0; m < 2; m++) { // names begin in one column
        graphene_rect_t at;
        int nth = m;
        GtkWidget *name = gui_find_nth(popover, GTK_TYPE_LABEL, &nth);
        g_assert_true(gtk_widget_compute_bounds(name, popover, &at));
        left[m] = at.origin.x;
        g_test_message("a name begins at %g", left[m]);
    }
    g_assert_cmpfloat(left[0], ==, left[1]);
    gui_screenshot(&gui, "display-colours");
    int n = 2; // the third of the list
    GtkWidget *third = gui_find_nth(popover, GTK_TYPE_TOGGLE_BUTTON, &n);
    const LithoColormap *map = look()->map;
    g_signal_emit_by_name(third, "clicked");
    gui_spin(&gui, 0.5);
    g_assert_true(look()->map != map);
    g_assert_null(gui_find_type(GTK_WIDGET(view), GTK_TYPE_POPOVER));
    gui_activate(&gui, "win.maximise(0)");
}

// Property: the menu of a view opens by the Menu key with all of its rows in sight, changes the
// display, and gives the keyboard back to the view.
static void test_menu(void)
{
    LithoCubeView *view = litho_canvas_view(litho_window_canvas(gui.window), LITHO_XLINE);
    const LithoWiggle before = look()->wiggle;
    if (!gui_can_type()) {
        g_test_skip("no xdotool");
        return;
    }
    gtk_widget_grab_focus(GTK_WIDGET(view));
    gui_type_into(&gui, NULL, "key Menu", 0.8);
    GtkWidget *popover = gui_find_type(GTK_WIDGET(view), GTK_TYPE_POPOVER_MENU);
    g_assert_nonnull(popover);
    GtkWidget *rows = gui_find_type(popover, GTK_TYPE_STACK);
    int least;
    gtk_widget_measure(rows, GTK_ORIENTATION_VERTICAL, -1, &least, NULL, NULL, NULL);
    g_assert_cmpint(gtk_widget_get_height(gtk_popover_get_child(GTK_POPOVER(popover))), >=, least);
    gui_screenshot(&gui, "display-menu");
    gui_type_into(&gui, NULL, "key Down Down Down Return", 0.5);
    g_assert_cmpint(look()->wiggle, !=, before);
    g_assert_null(gui_find_type(GTK_WIDGET(view), GTK_TYPE_POPOVER_MENU));
    g_assert_true(gtk_root_get_focus(GTK_ROOT(gui.window)) == GTK_WIDGET(view));
    gui_activate(&gui, "win.wiggle");
    gui_activate(&gui, "win.wiggle");
    gui_type_into(&gui, NULL, "key shift+F10", 0.8);
    g_assert_nonnull(gui_find_type(GTK_WIDGET(view), GTK_TYPE_POPOVER_MENU));
    gui_type_into(&gui, NULL, "key Escape", 0.5);
    g_assert_null(gui_find_type(GTK_WIDGET(view), GTK_TYPE_POPOVER_MENU));
}

// --- history ------------------------------------------------------------------------------------

static GtkWidget *history_popover(void)
{
    GtkWidget *header = gtk_window_get_titlebar(GTK_WINDOW(gui.window)), *button;
    for (int k = 0;; k++) {
        int n = k;
        button = gui_find_nth(header, GTK_TYPE_MENU_BUTTON, &n);
        if (!button)
            return NULL;
        const char *tip = gtk_widget_get_tooltip_text(button);
        if (tip && g_str_has_prefix(tip, "History"))
            return GTK_WIDGET(gtk_menu_button_get_popover(GTK_MENU_BUTTON(button)));
    }
}

// Property: the list names every change with its values; going to one gives the flow behind it in
// one step, and what was taken back stays in the list to go forward to.
static void test_history(void)
{
    gui_forget_flow(&gui);
    litho_session_add_step(gui.session, &litho_operator_template);
    for (int k = 2; k <= 5; k++) {
        litho_history_seal(litho_session_history(gui.session));
        gui_set_gain(&gui, k);
    }
    LithoHistory *history = litho_session_history(gui.session);
    const guint n = litho_history_length(history, FALSE);
    g_assert_cmpuint(n, >=, 5);
    g_assert_nonnull(strstr(litho_history_name(history, FALSE, 0), "Gain"));
    litho_session_travel(gui.session, -2);
    g_assert_cmpfloat(gui_gain(&gui), ==, 3);
    g_assert_cmpuint(litho_history_length(history, TRUE), ==, 2);
    litho_session_travel(gui.session, 1);
    g_assert_cmpfloat(gui_gain(&gui), ==, 4);
    litho_session_travel(gui.session, 99);
    g_assert_cmpfloat(gui_gain(&gui), ==, 5);
    litho_session_travel(gui.session, -99);
    g_assert_cmpuint(litho_history_length(history, FALSE), ==, 0);
    litho_session_travel(gui.session, 99);
    GtkWidget *popover = history_popover();
    g_assert_nonnull(popover);
    gtk_popover_popup(GTK_POPOVER(popover));
    gui_spin(&gui, 0.3);
    gui_screenshot(&gui, "display-history");
    for (int k = 0; k < 3; k++) { // names are whole
        int nth = k;
        GtkWidget *name = gui_find_nth(popover, GTK_TYPE_LABEL, &nth);
        g_assert_false(pango_layout_is_ellipsized(gtk_label_get_layout(GTK_LABEL(name))));
    }
    int changed = 1; // below the newest name
    GtkWidget *values = gui_find_nth(popover, GTK_TYPE_LABEL, &changed);
    g_assert_cmpstr(gtk_label_get_text(GTK_LABEL(values)), ==, "4 \u2192 5");
    int third = 2; // two changes before the newest
    GtkWidget *row = gui_find_nth(popover, GTK_TYPE_BUTTON, &third);
    g_signal_emit_by_name(row, "clicked");
    g_assert_cmpfloat(gui_gain(&gui), ==, 3);
    litho_session_travel(gui.session, 99);
}

// Text that a screen reader reads behind the name of the widget; g_free().
static char *description_of(GtkWidget *widget)
{
    return gtk_test_accessible_check_property(
        GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, "nothing like it");
}

// --- frequencies of the area --------------------------------------------------------------------

static gboolean area_known(Gui *g)
{
    return litho_session_area_numbers(g->session) != NULL;
}

// Property: the area's pictures can be had trace by trace and in a window of their own, which
// follows the area, is one, however often it is asked for, and closes with Escape and with the
// area.
static void test_area(void)
{
    gui_settle(&gui);
    gui_activate(&gui, "win.area");
    g_assert_true(gui_wait(area_known, &gui, 10));
    const LithoFk *fk = &litho_session_area_numbers(gui.session)->fk[0];
    g_assert_cmpuint(fk->n_x, ==, 30);
    GtkWidget *pictures = gui_find_type(litho_panels_get(gui.window->panels, LITHO_PANEL_RIGHT),
                                        LITHO_TYPE_AREA_PICTURES);
    // Distances of traces that are assumed make no wavenumbers per km.
    const LithoGrid *grid = litho_session_grid(gui.session);
    const gboolean metric = grid->has_xy && grid->xy_source != LITHO_FROM_ASSUMED;
    GtkWidget *view = gui_find_type(pictures, LITHO_TYPE_FK_VIEW);
    g_autofree char *waves = description_of(view);
    g_test_message("%s", waves);
    g_assert_nonnull(strstr(waves, metric ? "1/km" : "cycles a trace"));
    // Letters twice as large do not take the room of the curves: at 2.5 nothing was left of it.
    GtkWidget *right = litho_panels_get(gui.window->panels, LITHO_PANEL_RIGHT);
    GtkWidget *const charts[] = {view, gui_find_type(right, LITHO_TYPE_PLOT)};
    GtkSettings *settings = gtk_widget_get_settings(view);
    int usual, height[2][2];
    g_object_get(settings, "gtk-xft-dpi", &usual, NULL);
    for (int large = 0; large < 2; large++) {
        g_object_set(settings, "gtk-xft-dpi", (1 + large) * 96 * 1024, NULL);
        gui_spin(&gui, 0.3); // the next frame has the letters
        for (int k = 0; k < 2; k++)
            gtk_widget_measure(charts[k], GTK_ORIENTATION_VERTICAL, -1, &height[large][k], NULL,
                               NULL, NULL);
        const LithoCubeView *section = litho_canvas_view(litho_window_canvas(gui.window), 0);
        const LithoViewPanel *panel = &section->panel[0]; // whose title has the whole panel's width
        g_assert_cmpint(panel->frame.title.x == panel->area.x, ==, large);
    }
    g_object_set(settings, "gtk-xft-dpi", usual, NULL);
    for (int k = 0; k < 2; k++)
        g_assert_cmpint(height[1][k], ==, 2 * height[0][k]);
    litho_area_pictures_show(LITHO_AREA_PICTURES(pictures), TRUE);
    gui_spin(&gui, 0.3);
    gui_screenshot(&gui, "display-fx");
    // The strongest trace has a line number, not a place between two.
    g_autofree char *traces = description_of(view);
    g_test_message("%s", traces);
    g_assert_true(g_regex_match_simple("Hz and \\d+ crossline", traces, 0, 0));
    GtkWidget *window = litho_area_window_open(GTK_WINDOW(gui.window), gui.session);
    gui_spin(&gui, 0.5);
    gui_screenshot_of(&gui, window, "display-area-window");
    g_assert_true(litho_area_window_open(GTK_WINDOW(gui.window), gui.session) == window);
    gtk_window_destroy(GTK_WINDOW(window));
    window = litho_area_window_open(GTK_WINDOW(gui.window), gui.session);
    gtk_window_set_title(GTK_WINDOW(window), "of the area");
    gui_activate(&gui, "win.area");
    gui_settle(&gui);
    g_assert_null(gui_window_titled("of the area"));
}

// --- points and dips ----------------------------------------------------------------------------

// Property: two slopes give the dips of a plane and its apparent velocity: 3 ms over 25 m and 4 ms
// over 25 m are 5 ms over 25 m, 5000 m/s. One alone gives nothing.
static void test_dips(void)
{
    LithoGrid grid = litho_grid_new(20, 30, 100);
    grid.axis[LITHO_SAMPLE].step = 0.004;
    grid.has_xy = TRUE;
    grid.xy_source = LITHO_FROM_FILE;
    grid.inline_step[0] = grid.xline_step[1] = 25;
    grid.inline_step[1] = grid.xline_step[0] = 0;
    g_assert_null(litho_area_dips(&grid, (const double[]){0.003, NAN}));
    g_autofree char *text = litho_area_dips(&grid, (const double[]){0.003, -0.004});
    g_test_message("%s", text);
    g_assert_nonnull(strstr(text, "3 ms per crossline"));
    g_assert_nonnull(strstr(text, "−4 ms per inline"));
    g_assert_true(g_regex_match_simple("together 5\\D{0,3}000 m/s", text, 0, 0));
}

// Property: N notes the point under the pointer; the table holds its line numbers, time and both
// amplitudes; another file begins without points.
static void test_points(void)
{
    LithoPoints *points = litho_points_of(gui.session);
    g_autofree char *path = gui_path(&gui, "points.csv"), *text = NULL;
    const LithoGrid *grid = litho_session_grid(gui.session);
    g_assert_cmpuint(litho_points_count(points), ==, 0);
    litho_session_set_slice(gui.session, LITHO_INLINE, 3);
    litho_session_set_cursor(gui.session, (const double[]){3, 4.2, 49.8});
    gui_activate(&gui, "win.point");
    g_assert_cmpuint(litho_points_count(points), ==, 1);
    g_assert_cmpuint(litho_points_add(points, (const gint64[]){0, 0, 5000}), ==, 0);
    const LithoPoint *p = litho_points_get(points, 0);
    LithoCube *in = litho_session_input(gui.session), *out = litho_session_output(gui.session);
    g_assert_cmpfloat(p->line[1], ==, litho_axis_value(&grid->axis[1], 4));
    g_assert_cmpfloat(p->sample, ==, litho_axis_value(&grid->axis[2], 50));
    g_assert_cmpfloat(p->in, ==, litho_cube_trace(in, 3, 4)[50]);
    g_assert_cmpfloat(p->out, ==, litho_cube_trace(out, 3, 4)[50]);
    gui_settle(&gui);
    gui_screenshot(&gui, "display-points");
    litho_window_save_points(gui.window, path);
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_assert_cmpuint(g_strv_length(lines), ==, 3); // the last one is empty
    g_assert_true(g_str_has_prefix(lines[0], "point,inline,crossline,x_m,"));
    g_auto(GStrv) fields = g_strsplit(lines[1], ",", -1);
    g_assert_cmpuint(g_strv_length(fields), ==, 9);
    g_assert_cmpfloat(g_ascii_strtod(fields[5], NULL), ==, p->sample);
    g_assert_cmpstr(fields[6], ==, ""); // no depth
    g_autofree char *other = gui_write_cube(&gui, "third.sgy", 8, 9, 40);
    gui_open_file(&gui, other);
    g_assert_cmpuint(litho_points_count(points), ==, 0);
    LithoGrid gathers = *litho_session_grid(gui.session);
    gathers.axis[LITHO_INLINE].counts = LITHO_COUNTS_SHOTS;
    gathers.axis[LITHO_XLINE].counts = LITHO_COUNTS_CHANNELS;
    g_autoptr(LithoCube) shots = litho_cube_new(&gathers, NULL);
    litho_session_set_input(gui.session, shots);
    g_autofree char *named = litho_points_csv(points);
    g_assert_true(g_str_has_prefix(named, "point,shot,channel,x_m,"));
}

// Property: traces of which only the distances are known, as those of gathers by their offsets,
// have no X and Y, in the foot and in the table.
static void test_no_place(void)
{
    LithoPoints *points = litho_points_of(gui.session);
    LithoGrid grid = litho_grid_new(6, 7, 40);
    grid.has_xy = TRUE;
    grid.xy_source = LITHO_FROM_FILE;
    for (int placed = 0; placed < 2; placed++) {
        grid.has_no_place = !placed;
        g_autoptr(LithoCube) cube = litho_cube_new(&grid, NULL);
        litho_session_set_input(gui.session, cube);
        litho_session_set_cursor(gui.session, (const double[]){3, 4, 20});
        gui_spin(&gui, 0.2);
        g_assert_cmpint(gui_label_says(gui.window->status, "X 100 m"), ==, placed);
        g_assert_cmpuint(litho_points_add(points, (const gint64[]){3, 4, 20}), >, 0);
        const LithoPoint *p = litho_points_get(points, litho_points_count(points) - 1);
        g_assert_cmpint(isfinite(p->xy[0]), ==, placed);
    }
}

// --- the medium ---------------------------------------------------------------------------------

static gboolean has_layer(Gui *g)
{
    return litho_medium_layer(litho_medium_of(g->session)) != NULL;
}

// Property: the chip of a snapshot tells the value that was changed, whole: "Highest frequency 57.9
// Hz" is not cut to "Highest frequency 5...".
static void test_chip(void)
{
    g_autofree char *path = gui_write_cube(&gui, "chip.sgy", 12, 14, 60);
    const LithoOperator *fx = litho_operator_find("fx");
    gui_forget_flow(&gui);
    gui_open_file(&gui, path);
    litho_session_add_step(gui.session, fx);
    gui_set_param(&gui, fx, "fmax", 57.9);
    g_assert_true(gui_wait(gui_has_output, &gui, 30));
    gui_activate(&gui, "win.snapshot");
    gui_settle(&gui);
    const char *name = litho_snapshots_get(gui.window->snapshots, 0)->name;
    g_assert_nonnull(strstr(name, "57.9"));
    GtkWidget *bar = gui_find_type(GTK_WIDGET(gui.window), LITHO_TYPE_SNAPSHOT_BAR);
    GtkLabel *label = gui_find_label(bar, name);
    g_assert_nonnull(label);
    g_assert_false(pango_layout_is_ellipsized(gtk_label_get_layout(label)));
    gui_screenshot(&gui, "display-chip");
    litho_snapshots_remove(gui.window->snapshots, 0);
    gui_forget_flow(&gui);
    gui_settle(&gui);
}

// Property: the velocity that a migration runs through is told as a layer on the image: a table
// v(z) has its value at every depth (1 %: a step sees the mean slowness of its depths), the
// read-out says it, it lies over the sections as strongly as wanted, and it goes with the operator.
static void test_medium(void)
{
    g_autofree char *path = gui_write_cube(&gui, "medium.sgy", 12, 14, 80);
    g_autofree char *table = gui_path(&gui, "velocity.txt");
    g_assert_true(g_file_set_contents(table, "0 2000\n400 4000\n", -1, NULL));
    gui_forget_flow(&gui);
    gui_open_file(&gui, path);
    g_autoptr(LithoFlow) flow = litho_flow_new();
    const LithoOperator *op = litho_operator_find("migrate");
    LithoStep *step = litho_flow_step(flow, litho_flow_append(flow, op));
    g_autofree char *velocity = g_strdup_printf("velocity=%s", table);
    const char *const words[] = {velocity, "nz=40", "dz=10", "degree=9", "step=1"};
    for (guint k = 0; k < G_N_ELEMENTS(words); k++)
        g_assert_true(litho_operator_set(op, step->params, words[k], NULL));
    litho_session_set_flow(gui.session, flow, "test");
    g_assert_true(gui_wait(gui_has_output, &gui, 60));
    g_assert_true(gui_wait(has_layer, &gui, 10));
    gui_settle(&gui);
    LithoParamPanel *params = litho_window_params(gui.window);
    g_test_message("%s", litho_param_panel_remarks(params)); // what the operator says of its image
    g_assert_nonnull(strstr(litho_param_panel_remarks(params), "dz = 10 m is too coarse"));
    LithoMedium *medium = litho_medium_of(gui.session);
    for (int z = 0; z < 38; z += 9) {
        double value, at[3] = {4, 5, z};
        g_assert_true(litho_medium_value(medium, at, &value));
        g_test_message("%d m: %.1f m/s", 10 * z, value);
        g_assert_cmpfloat_with_epsilon(value, 2000 + 5 * (10 * z + 5), 0.01 * value);
    }
    litho_session_set_cursor(gui.session, (const double[]){4, 5, 20});
    gui_spin(&gui, 0.1);
    g_assert_true(gui_label_says(gui.window->status, "velocity 3"));
    litho_session_set_cursor(gui.session, NULL);
    gui_settle(&gui);
    g_autoptr(GdkTexture) without = gui_picture(&gui);
    gui_activate(&gui, "win.medium");
    g_assert_cmpfloat(litho_medium_opacity(medium), >, 0);
    gui_settle(&gui);
    g_autoptr(GdkTexture) with = gui_picture(&gui);
    g_assert_cmpfloat(gui_difference(&gui, without, with), >, 0.05);
    gui_screenshot(&gui, "display-medium");
    LithoCubeView *view = litho_canvas_view(litho_window_canvas(gui.window), LITHO_INLINE);
    g_autofree char *named = litho_cube_view_note(view, LITHO_SHOW_OUTPUT);
    g_assert_cmpstr(named, ==, "Output, velocity");
    for (int k = 0; k < 3; k++)
        gui_activate(&gui, "win.medium");
    g_assert_cmpfloat(litho_medium_opacity(medium), ==, 0);
    const LithoParam *row = litho_param_find(&op->params, "velocity"); // a number has its unit
    g_assert_true(litho_session_set_param(gui.session, 0, row, NAN, "2.5km/s", NULL));
    step = litho_flow_step((LithoFlow *)litho_session_flow(gui.session), 0);
    g_autofree char *text = litho_param_print(row, step->params);
    g_assert_cmpstr(text, ==, "2500");
    gui_forget_flow(&gui);
    gui_settle(&gui);
    g_assert_null(litho_medium_layer(medium));
    g_assert_cmpstr(litho_param_panel_remarks(params), ==, "");
}

// --- a pass that is stopped ---------------------------------------------------------------------

static gboolean is_running(Gui *g)
{
    return litho_session_progress(g->session, NULL);
}

// Property: figures do not come "being computed" from a pass that was stopped.
static void test_stopped(void)
{
    g_autofree char *path = gui_write_cube(&gui, "stopped.sgy", 100, 100, 300);
    GtkWidget *right = litho_panels_get(gui.window->panels, LITHO_PANEL_RIGHT);
    gui_forget_flow(&gui);
    gui_open_file(&gui, path);
    litho_session_add_step(gui.session, litho_operator_find("wavepacket"));
    g_assert_true(gui_wait(is_running, &gui, 10));
    litho_session_cancel(gui.session);
    gui_spin(&gui, 0.5);
    g_assert_null(litho_session_output(gui.session));
    g_assert_true(gui_label_says(right, "no result yet"));
    gui_forget_flow(&gui);
}

// --- blinking, and the read-out -----------------------------------------------------------------

static gboolean blinks(void)
{
    g_autoptr(GVariant) state =
        g_action_group_get_action_state(G_ACTION_GROUP(gui.window), "blink");
    g_assert_cmpint(g_variant_get_boolean(state), ==, litho_blink_is_on(gui.window->blink));
    return litho_blink_is_on(gui.window->blink);
}

// Property: blinking ends where there is nothing to compare any more, as its key is dead there.
static void test_blink_ends(void)
{
    gui_use_operator(&gui, &litho_operator_template);
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
    gui_activate(&gui, "win.blink");
    g_assert_true(blinks());
    gui_forget_flow(&gui);
    g_assert_false(litho_session_comparable(gui.session));
    g_assert_false(blinks());
    gui_spin(&gui, 0.6); // a blink and a half
    g_assert_false(litho_session_display(gui.session)->hold_input);
    gui_settle(&gui);
}

// Property: the read-out tells a sample's depth and time with the decimals that they have.
static void test_read_out(void)
{
    static const struct {
        double step;
        gboolean is_depth;
        const char *text;
    } cases[] = {{12.5, TRUE, "z 37.5 m"}, {0.00025, FALSE, "t 0.75 ms"}, {0.002, FALSE, "t 6 ms"}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        LithoGrid grid = litho_grid_new(8, 9, 40);
        grid.is_depth = cases[k].is_depth;
        grid.axis[LITHO_SAMPLE].step = cases[k].step;
        g_autoptr(LithoCube) cube = litho_cube_new(&grid, NULL);
        litho_session_set_input(gui.session, cube);
        litho_session_set_cursor(gui.session, (const double[]){3, 4, 3});
        gui_spin(&gui, 0.1);
        g_assert_true(gui_label_says(gui.window->status, cases[k].text));
    }
    gui_settle(&gui);
}

// Property: a view's description tells the amplitude that the view shows: of removed samples what
// was removed. A slice of depths is called one.
static void test_described(void)
{
    g_autofree char *path = gui_write_cube(&gui, "described.sgy", 12, 14, 60);
    gui_open_with_gain(&gui, path, 2);
    gui_settle(&gui);
    GtkWidget *view =
        GTK_WIDGET(litho_canvas_view(litho_window_canvas(gui.window), LITHO_INLINE));
    const gint64 at[3] = {3, 4, 20};
    float in, out;
    litho_session_set_cursor(gui.session, (const double[]){3, 4, 20});
    g_assert_true(litho_session_sample(gui.session, FALSE, at, &in));
    g_assert_true(litho_session_sample(gui.session, TRUE, at, &out));
    const double shown[] = {in, out, (double)in - out};
    const char *const names[] = {"input", "output", "removed"};
    for (int k = 0; k < 3; k++) {
        g_autofree char *action = g_strdup_printf("win.show('%s')", names[k]);
        g_autofree char *number = litho_format_amplitude(shown[k]);
        g_autofree char *said = g_strdup_printf("amplitude %s at the cursor", number);
        gui_activate(&gui, action);
        g_autofree char *text = description_of(view);
        g_test_message("%s: %s", said, text);
        g_assert_nonnull(strstr(text, said));
    }
    gui_activate(&gui, "win.show('output')");
    litho_session_set_cursor(gui.session, NULL);
    GtkWidget *map = GTK_WIDGET(litho_canvas_view(litho_window_canvas(gui.window), LITHO_SAMPLE));
    for (int is_depth = 0; is_depth < 2; is_depth++) {
        LithoGrid grid = litho_grid_new(8, 9, 40);
        grid.is_depth = is_depth;
        g_autoptr(LithoCube) cube = litho_cube_new(&grid, NULL);
        litho_session_set_input(gui.session, cube);
        g_autofree char *wrong = gtk_test_accessible_check_property(
            GTK_ACCESSIBLE(map), GTK_ACCESSIBLE_PROPERTY_LABEL,
            is_depth ? "Depth slice" : "Time slice");
        g_assert_cmpstr(wrong, ==, NULL);
    }
    gui_forget_flow(&gui);
    gui_settle(&gui);
}

// Property: time comes before coordinates in the status line, whose end is what a narrow window cuts;
// a flow whose steps are all off misses no result.
static void test_place_and_missing(void)
{
    LithoGrid grid = litho_grid_new(8, 9, 40);
    grid.has_xy = TRUE;
    grid.xy_source = LITHO_FROM_FILE;
    grid.origin[0] = 450000;
    g_autoptr(LithoCube) cube = litho_cube_new(&grid, NULL);
    litho_session_set_input(gui.session, cube);
    GtkWidget *label = gui_find_type(gui.window->status, GTK_TYPE_LABEL);
    const char *place = gtk_label_get_text(GTK_LABEL(label));
    g_test_message("%s", place);
    g_assert_nonnull(strstr(place, "X 450"));
    g_assert_true(strstr(place, "   t ") < strstr(place, "   X "));
    gui_use_operator(&gui, &litho_operator_template);
    litho_session_enable_step(gui.session, 0, FALSE);
    gui_settle(&gui);
    g_assert_cmpstr(litho_session_figures_missing(gui.session), ==, NULL);
    gui_forget_flow(&gui);
    gui_settle(&gui);
}

int main(int argc, char **argv)
{
    g_setenv("GTK_A11Y", "test", TRUE); // descriptions can be read without a bus
    gui_init(&argc, &argv);
    gui_open_sized(&gui);
    g_test_add_func("/display/gain", test_gain);
    g_test_add_func("/display/bar", test_bar);
    g_test_add_func("/display/menu", test_menu);
    g_test_add_func("/display/history", test_history);
    g_test_add_func("/display/area", test_area);
    g_test_add_func("/display/dips", test_dips);
    g_test_add_func("/display/points", test_points);
    g_test_add_func("/display/no-place", test_no_place);
    g_test_add_func("/display/chip", test_chip);
    g_test_add_func("/display/medium", test_medium);
    g_test_add_func("/display/stopped", test_stopped);
    g_test_add_func("/display/blink-ends", test_blink_ends);
    g_test_add_func("/display/read-out", test_read_out);
    g_test_add_func("/display/described", test_described);
    g_test_add_func("/display/place-and-missing", test_place_and_missing);
    int status = g_test_run();
    gui_close(&gui);
    return status;
}
