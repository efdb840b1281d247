// SPDX-License-Identifier: GPL-3.0-or-later
//
// Contents of the views beside the samples: the operator's plots, rows and pictures, memory before
// a run.
// Driven with an operator made for it (gui/teller.h), whose report is known.
#include <math.h>
#include <string.h>

#include "tests/gui/gui.h"
#include "tests/gui/keys.h"
#include "tests/gui/teller.h"
#include "ui/panel/data_panel.h"
#include "ui/panel/parts.h"
#include "ui/panel/qc_panel.h"
#include "ui/panel/quality_panel.h"
#include "ui/view/plot.h"
#include "ui/window/scrub.h"
#include "ui/window/window_private.h"

static Gui gui;

static LithoCanvas *canvas(void)
{
    return litho_window_canvas(gui.window);
}

static guint count_type(GtkWidget *widget, GType type)
{
    guint n = G_TYPE_CHECK_INSTANCE_TYPE(widget, type) ? 1 : 0;
    for (GtkWidget *c = gtk_widget_get_first_child(widget); c; c = gtk_widget_get_next_sibling(c))
        n += count_type(c, type);
    return n;
}

// Property: curves of one group share a plot, others have their own; the plots go with the
// operator.
static void test_plots(void)
{
    const guint of_the_data = 3; // spectrum, histogram, and the area's spectrum
    litho_window_open_demo(gui.window);
    g_assert_true(gui_wait(gui_has_input, &gui, 60));
    gui_use_operator(&gui, &gui_teller);
    g_assert_true(gui_wait(gui_has_output, &gui, 60));
    gui_settle(&gui);
    g_assert_cmpuint(count_type(GTK_WIDGET(gui.window), LITHO_TYPE_PLOT), ==, of_the_data + 2);
    gui_use_operator(&gui, litho_operator_find("template"));
    g_assert_true(gui_wait(gui_has_output, &gui, 60));
    gui_settle(&gui);
    g_assert_cmpuint(count_type(GTK_WIDGET(gui.window), LITHO_TYPE_PLOT), ==, of_the_data);
    gui_use_operator(&gui, &gui_teller);
    g_assert_true(gui_wait(gui_has_output, &gui, 60));
    gui_settle(&gui);
}

static GtkWidget *find_label(GtkWidget *widget, const char *text)
{
    if (GTK_IS_LABEL(widget) && strcmp(gtk_label_get_text(GTK_LABEL(widget)), text) == 0)
        return widget;
    for (GtkWidget *c = gtk_widget_get_first_child(widget); c; c = gtk_widget_get_next_sibling(c)) {
        GtkWidget *found = find_label(c, text);
        if (found)
            return found;
    }
    return NULL;
}

// Property: every number of the panel says what it is; what parameters stand for is not among them.
static void test_numbers(void)
{
    GtkWidget *panel = gui_find_type(GTK_WIDGET(gui.window), LITHO_TYPE_QC_PANEL);
    GtkWidget *details = gui_find_type(panel, GTK_TYPE_TOGGLE_BUTTON);
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(details), TRUE);
    static const char *const names[] = {"RMS in", "RMS out", "Kept"};
    for (guint k = 0; k < G_N_ELEMENTS(names); k++) {
        GtkWidget *label = find_label(panel, names[k]);
        g_assert_nonnull(label);
        g_assert_nonnull(gtk_widget_get_tooltip_text(label));
    }
    g_assert_null(find_label(panel, "Used:teller.patience"));
    gui_screenshot(&gui, "views-details");
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(details), FALSE);
}

static gboolean has_removed(Gui *g)
{
    const LithoCubeNumbers *out = litho_session_numbers(g->session, LITHO_NUMBERS_OUT);
    return out && out->removed.n > 0;
}

// Property: the spectrum of what is removed is that of input less output: 20 lg 0.2 below the
// input's where the operator leaves 0.8 of each sample; the ends of the colours follow the lines of
// the histogram, on both sides of zero, and never cross.
static void test_data_plots(void)
{
    g_assert_true(gui_wait(has_removed, &gui, 20));
    const LithoSpectrum *in = &litho_session_numbers(gui.session, LITHO_NUMBERS_IN)->spectrum;
    const LithoSpectrum *removed = &litho_session_numbers(gui.session, LITHO_NUMBERS_OUT)->removed;
    g_assert_cmpuint(in->n, ==, removed->n);
    double all = 0, gone = 0;
    for (guint k = 0; k < in->n; k++) {
        all += in->amplitude[k] * in->amplitude[k];
        gone += removed->amplitude[k] * removed->amplitude[k];
    }
    g_test_message("removed over input: %g", sqrt(gone / all));
    g_assert_cmpfloat_with_epsilon(sqrt(gone / all), 0.2, 0.01); // of other traces
    GtkWidget *panel = gui_find_type(GTK_WIDGET(gui.window), LITHO_TYPE_DATA_PANEL);
    GtkWidget *histogram = litho_data_panel_histogram(LITHO_DATA_PANEL(panel));
    const LithoLook *look = &litho_session_display(gui.session)->look;
    double before = look->hi;
    g_signal_emit_by_name(histogram, "handle-moved", 0, -before / 2);
    g_assert_cmpfloat(look->hi, ==, before / 2);
    g_assert_cmpfloat(look->lo, ==, -before / 2);
    g_signal_emit_by_name(histogram, "handle-moved", 1, 0.0);
    g_assert_cmpfloat(look->hi, >, look->lo);
    litho_session_set_clip(gui.session, before);
}

static LithoQualityPanel *quality(void)
{
    return LITHO_QUALITY_PANEL(gui_find_type(GTK_WIDGET(gui.window), LITHO_TYPE_QUALITY_PANEL));
}

static gboolean is_judged(Gui *g)
{
    gboolean fresh;
    return litho_judgement_figures(g->window->judgement, &fresh) && fresh;
}

static gboolean has_map(Gui *g)
{
    return litho_judgement_map(g->window->judgement, LITHO_INLINE) != NULL;
}

static LithoCube *old_map; // of the parameters before

static gboolean has_new_map(Gui *g)
{
    LithoCube *map = litho_judgement_map(g->window->judgement, LITHO_INLINE);
    return map && map != old_map;
}

// Property: the figures belong to the operator on the screen. Of an operator that leaves 0.8 of
// each sample 4 % of the energy are removed, which is signal and noise alike, so that all of it is
// similar; the map covers the section, stays as the section does while a slider moves, and follows
// it. An operator that has gone takes its figures and its map along.
static void test_quality(void)
{
    g_assert_true(gui_wait(is_judged, &gui, 60));
    const LithoQuality *q = litho_judgement_figures(gui.window->judgement, NULL);
    g_test_message("expected %.2f dB, leak %.3f, removed %.4f", q->expected_snr_db, q->leak.share,
                   q->removed);
    g_assert_cmpfloat_with_epsilon(q->removed, 0.04, 1e-4);
    g_assert_cmpfloat(q->leak.share, >, 0.5);
    // 0.8 (s + n) is off by 0.2 s and 0.8 n: of the noise's energy 0.04 snr + 0.64 are left.
    double snr = pow(10, q->input_snr_db / 10);
    g_assert_cmpfloat_with_epsilon(q->expected_gain_db, -10 * log10(0.04 * snr + 0.64), 0.1);
    g_assert_cmpstr(litho_quality_panel_text(quality(), 2), ==, "4.0 %");
    g_autoptr(GdkTexture) plain = gui_picture(&gui);
    gui_activate(&gui, "win.similarity");
    g_assert_true(gui_wait(has_map, &gui, 20));
    gui_settle(&gui);
    gui_screenshot(&gui, "views-similarity");
    g_autoptr(GdkTexture) mapped = gui_picture(&gui);
    g_assert_cmpfloat(gui_difference(&gui, plain, mapped), >, 0.1);
    old_map = litho_cube_ref(litho_judgement_map(gui.window->judgement, LITHO_INLINE));
    gui_set_param(&gui, &gui_teller, "gain", 0.9);
    g_assert_true(has_map(&gui)); // a drag that took it away would show none
    g_assert_true(gui_wait(has_new_map, &gui, 20));
    g_clear_pointer(&old_map, litho_cube_unref);
    g_assert_true(gui_wait(is_judged, &gui, 60));
    g_assert_cmpfloat_with_epsilon(litho_judgement_figures(gui.window->judgement, NULL)->removed,
                                   0.01, 1e-4);
    gui_use_operator(&gui, litho_operator_find("template"));
    g_assert_false(has_map(&gui));
    gui_activate(&gui, "win.similarity");
    g_assert_null(litho_judgement_figures(gui.window->judgement, NULL));
    g_assert_cmpstr(litho_quality_panel_text(quality(), 2), ==, "");
    gui_use_operator(&gui, &gui_teller);
    g_assert_true(gui_wait(gui_has_output, &gui, 60));
    gui_settle(&gui);
}

static double drag_gain;
static double bins_before[3];
static guint maps_before;

static gboolean drag_on(gpointer data)
{
    (void)data;
    drag_gain = drag_gain < 0.5 ? 0.7 : drag_gain - 0.001;
    gui_set_param(&gui, &gui_teller, "gain", drag_gain);
    return G_SOURCE_CONTINUE;
}

static void some_bins(double bins[3])
{
    const LithoCubeNumbers *out = litho_session_numbers(gui.session, LITHO_NUMBERS_OUT);
    for (guint k = 0; k < 3; k++)
        bins[k] = out ? out->whole.count[(4 + k) * LITHO_HISTOGRAM_BINS / 8] / out->counted : 0;
}

static gboolean follows_drag(Gui *g)
{
    double unused, bins[3];
    some_bins(bins);
    return litho_judgement_map_latency(g->window->judgement, &unused) >= maps_before + 3 &&
           memcmp(bins, bins_before, sizeof bins) != 0;
}

// Property: similarity and histogram follow a drag whose wishes come faster than results: a pass
// takes 20 ms, and a wish of less than 4 ms ago waits whenever a result is taken, since the hand
// goes before. Most frames have a new map; where maps wait for the newest wish, one of fifty has.
static void test_drag(void)
{
    double unused;
    gui_activate(&gui, "win.similarity");
    g_assert_true(gui_wait(has_map, &gui, 20));
    gui_set_param(&gui, &gui_teller, "wait_ms", 20);
    g_assert_true(gui_wait(gui_has_output, &gui, 60));
    gui_spin(&gui, 0.5); // the numbers of the result at rest
    g_assert_nonnull(litho_session_numbers(gui.session, LITHO_NUMBERS_OUT));
    some_bins(bins_before);
    maps_before = litho_judgement_map_latency(gui.window->judgement, &unused);
    const guint64 frames_before = litho_canvas_frames(canvas());
    drag_gain = 0.7;
    const guint hand = g_timeout_add_full(G_PRIORITY_HIGH, 4, drag_on, NULL, NULL);
    g_assert_true(gui_wait(follows_drag, &gui, 60));
    g_source_remove(hand);
    const guint64 frames = litho_canvas_frames(canvas()) - frames_before;
    g_test_message("3 maps in %d frames", (int)frames);
    g_assert_cmpuint(frames, <=, 30);
    gui_set_param(&gui, &gui_teller, "gain", 0.8);
    gui_set_param(&gui, &gui_teller, "wait_ms", 0);
    gui_activate(&gui, "win.similarity");
    gui_settle(&gui);
}

static GtkWidget *row_of(const char *key)
{
    GtkWidget *row = litho_param_panel_row(litho_window_params(gui.window), key);
    g_assert_nonnull(row);
    return row;
}

// Property: a row that the chosen mode does not use is out of sight, keeps its value, and is back
// with the mode; asking for it by name shows it.
static void test_rows(void)
{
    gui_set_param(&gui, &gui_teller, "patience", 7);
    g_assert_false(gtk_widget_get_visible(row_of("patience")));
    g_assert_true(litho_param_panel_focus(litho_window_params(gui.window), "patience"));
    g_assert_true(gtk_widget_get_visible(row_of("patience")));
    gui_set_param(&gui, &gui_teller, "mode", 1);
    g_assert_true(gtk_widget_get_visible(row_of("patience")));
    GtkEditable *number = GTK_EDITABLE(gui_find_type(row_of("patience"), GTK_TYPE_SPIN_BUTTON));
    g_assert_cmpstr(gtk_editable_get_text(number), ==, "7 turns");
    gui_screenshot(&gui, "views-rows");
    gui_set_param(&gui, &gui_teller, "mode", 0);
    g_assert_false(gtk_widget_get_visible(row_of("patience")));
}

static gboolean says_turns(Gui *g)
{
    (void)g;
    GtkWidget *spin = gui_find_type(row_of("patience"), GTK_TYPE_SPIN_BUTTON);
    return strcmp(gtk_editable_get_text(GTK_EDITABLE(spin)), "12 turns") == 0;
}

// Limits are numbers without exponents, and none of them is a special value's word.
static void test_bounds(void)
{
    for (const LithoOperator *const *op = litho_operators(); *op; op++)
        for (guint k = 0; k < (*op)->params.n; k++) {
            const LithoParam *row = &(*op)->params.rows[k];
            if (row->type != LITHO_PARAM_FLOAT && row->type != LITHO_PARAM_INT)
                continue;
            double lo, hi;
            litho_param_slider_range(row, &lo, &hi);
            g_autofree char *typical = litho_param_format_range(row, lo, hi, FALSE);
            g_autofree char *possible = litho_param_format_range(row, row->min, row->max, FALSE);
            g_test_message("%s.%s: typical %s, possible %s", (*op)->key, row->key, typical,
                           possible);
            g_assert_null(strstr(typical, "e+"));
            g_assert_null(strstr(possible, "e+"));
            g_assert_true(!row->special_text || !strstr(typical, row->special_text));
            g_assert_true(!row->special_text || !strstr(possible, row->special_text));
        }
    const LithoParam *sigma = litho_param_find(&litho_operator_find("patch")->params, "sigma");
    GtkWidget *editor = g_object_ref_sink(litho_param_editor_new(sigma));
    GtkWidget *spin = gui_find_type(editor, GTK_TYPE_SPIN_BUTTON);
    gtk_editable_set_text(GTK_EDITABLE(spin), "-1");
    gtk_spin_button_update(GTK_SPIN_BUTTON(spin));
    g_assert_true(gui_label_says(editor, "-1 is less than 0"));
    g_object_unref(editor);
}

// Property: a number of samples can be typed as a time, as on the command line, and a unit that the
// row does not have is refused by its name, which no tooltip covers; one trace is no plural, and a
// minus is a minus.
static void test_units(void)
{
    const LithoOperator *op = litho_operator_find("fx");
    const LithoParam *window = litho_param_find(&op->params, "time_window");
    const LithoAxis time = {.n = 300, .step = 0.004, .unit = "s"};
    GtkWidget *editor = g_object_ref_sink(litho_param_editor_new(window));
    GtkWidget *spin = gui_find_type(editor, GTK_TYPE_SPIN_BUTTON);
    litho_param_editor_set_axis(LITHO_PARAM_EDITOR(editor), &time, FALSE);
    const struct {
        const char *typed;
        double value;
    } cases[] = {{"600ms", 150}, {"0.4 s", 100}, {"80 samples", 80},
                 {"70", 70},     {"1 Hz", 70},   {"many", 70}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        gtk_editable_set_text(GTK_EDITABLE(spin), cases[k].typed);
        gtk_spin_button_update(GTK_SPIN_BUTTON(spin));
        g_assert_cmpfloat(gtk_spin_button_get_value(GTK_SPIN_BUTTON(spin)), ==, cases[k].value);
        g_assert_cmpint(gui_label_says(editor, "its unit is samples"), ==, k == 4);
        g_assert_cmpint(gui_label_says(editor, "is not a number"), ==, k == 5);
        g_assert_cmpint(gtk_widget_get_has_tooltip(spin), ==, k < 4);
    }
    g_object_unref(editor);
    test_bounds();
    char text[32];
    const LithoParam *width = litho_param_find(&op->params, "half_width");
    litho_param_format_unit(width, 1, FALSE, text, sizeof text);
    g_assert_cmpstr(text, ==, "1 trace");
    litho_param_format_unit(width, 3, FALSE, text, sizeof text);
    g_assert_cmpstr(text, ==, "3 traces");
    const struct {
        double db;
        gboolean change;
        const char *text;
    } levels[] = {{15.42, FALSE, "15.4 dB"},
                  {-2.71, FALSE, "−2.7 dB"},
                  {0.36, TRUE, "+0.4 dB"},
                  {-0.04, TRUE, "0.0 dB"}};
    for (guint k = 0; k < G_N_ELEMENTS(levels); k++) {
        g_autofree char *shown = litho_format_decibels(levels[k].db, 1, levels[k].change);
        g_assert_cmpstr(shown, ==, levels[k].text);
    }
}

// Property: a special value is shown as its words until the operator tells which number it stands
// for; then as that number, with the knob there, without the parameter becoming it.
static void test_special_row(void)
{
    const LithoParam *row = litho_param_find(&gui_teller.params, "patience");
    g_autofree void *params = g_malloc0(gui_teller.params.size);
    litho_param_defaults(&gui_teller.params, params);
    GtkWidget *editor = g_object_ref_sink(litho_param_editor_new(row));
    GtkWidget *spin = gui_find_type(editor, GTK_TYPE_SPIN_BUTTON);
    GtkWidget *slider = gui_find_type(editor, GTK_TYPE_SCALE);
    litho_param_editor_load(LITHO_PARAM_EDITOR(editor), params, params);
    g_assert_cmpstr(gtk_editable_get_text(GTK_EDITABLE(spin)), ==, "as needed");
    g_assert_false(gtk_widget_get_visible(slider)); // it has nothing to show
    litho_param_editor_set_used(LITHO_PARAM_EDITOR(editor), 12);
    g_assert_cmpstr(gtk_editable_get_text(GTK_EDITABLE(spin)), ==, "12 turns");
    g_assert_cmpfloat(gtk_range_get_value(GTK_RANGE(slider)), ==, 12);
    g_assert_true(gtk_widget_get_visible(slider));
    gtk_spin_button_update(GTK_SPIN_BUTTON(spin)); // as when the field is left
    g_assert_cmpfloat(gtk_spin_button_get_value(GTK_SPIN_BUTTON(spin)), ==, 0);
    litho_param_editor_set_used(LITHO_PARAM_EDITOR(editor), NAN);
    g_assert_cmpstr(gtk_editable_get_text(GTK_EDITABLE(spin)), ==, "as needed");
    gtk_spin_button_update(GTK_SPIN_BUTTON(spin));
    g_assert_cmpfloat(gtk_spin_button_get_value(GTK_SPIN_BUTTON(spin)), ==, 0);
    g_object_unref(editor);
}

// Property: what the operator tells of its automatic value arrives in the row; words can be typed
// back, as an empty field can, and a number with its unit.
static void test_special(void)
{
    gui_set_param(&gui, &gui_teller, "mode", 1);
    gui_set_param(&gui, &gui_teller, "patience", 0);
    g_assert_true(gui_wait(says_turns, &gui, 20));
    GtkWidget *spin = gui_find_type(row_of("patience"), GTK_TYPE_SPIN_BUTTON);
    gui_spin(&gui, 0.2);
    gui_settle(&gui);
    g_assert_cmpfloat(gtk_spin_button_get_value(GTK_SPIN_BUTTON(spin)), ==, 0);
    gtk_spin_button_update(GTK_SPIN_BUTTON(spin));
    g_assert_cmpfloat(gtk_spin_button_get_value(GTK_SPIN_BUTTON(spin)), ==, 0);
    gui_screenshot(&gui, "views-special");
    // The row is as high with "as needed" under its name as without: the rows below stay.
    GtkWidget *const editor = row_of("patience");
    const int height = gtk_widget_get_height(editor);
    gtk_editable_set_text(GTK_EDITABLE(spin), "9");
    gtk_spin_button_update(GTK_SPIN_BUTTON(spin));
    gui_settle(&gui);
    g_assert_cmpint(gtk_widget_get_height(editor), ==, height);
    static const char *const typed[] = {"9", "As needed", "4 turns", ""};
    static const double wanted[] = {9, 0, 4, 0};
    for (guint k = 0; k < G_N_ELEMENTS(typed); k++) {
        gtk_editable_set_text(GTK_EDITABLE(spin), typed[k]);
        gtk_spin_button_update(GTK_SPIN_BUTTON(spin));
        const LithoStep *step = litho_flow_step(litho_session_flow(gui.session), 0);
        const LithoParam *row = litho_param_find(&gui_teller.params, "patience");
        g_assert_cmpfloat(litho_param_get(row, step->params), ==, wanted[k]);
    }
    gui_set_param(&gui, &gui_teller, "mode", 0);
    gui_settle(&gui);
}

static gboolean memory_known(Gui *g)
{
    return *litho_param_panel_memory(litho_window_params(g->window)) != 0;
}

static gboolean memory_short(Gui *g)
{
    return strstr(litho_param_panel_memory(litho_window_params(g->window)), "does not fit") != NULL;
}

// Property: what a run needs stands there before it ends, and says so in words when there is not
// that much; the operator's own figure counts (gui/teller.c: 8 bytes a sample times the gain
// squared).
static void test_memory(void)
{
    gui_set_param(&gui, &gui_teller, "gain", 1);
    g_assert_true(gui_wait(memory_known, &gui, 10));
    gui_settle(&gui);
    const LithoMemoryPlan *plan = litho_session_memory(gui.session);
    g_assert_cmpuint(plan->need, ==, 8 * litho_grid_samples(litho_session_grid(gui.session)));
    g_assert_cmpuint(plan->total, >, plan->need);
    g_test_message("%s", litho_param_panel_memory(litho_window_params(gui.window)));
    g_assert_false(memory_short(&gui));
    gui_set_param(&gui, &gui_teller, "gain", 1e5); // some petabytes; 64 bits hold them
    g_assert_true(gui_wait(memory_short, &gui, 10));
    gui_spin(&gui, 0.3);
    gui_screenshot(&gui, "views-memory");
    gui_set_param(&gui, &gui_teller, "gain", 0.8);
    gui_settle(&gui);
    g_assert_false(memory_short(&gui));
}

// Property: an exported picture shows the model where the panel does, in every format.
static void test_picture(void)
{
    static const char *const names[] = {"model.png", "model.pdf", "model.svg"};
    for (guint k = 0; k < G_N_ELEMENTS(names); k++) {
        g_autofree char *path = gui_path(&gui, names[k]), *text = NULL;
        gsize size;
        litho_window_export(gui.window, path);
        g_assert_true(gui_wait(gui_is_free, &gui, 60));
        g_assert_null(litho_window_error(gui.window));
        g_assert_true(g_file_get_contents(path, &text, &size, NULL));
        g_assert_cmpuint(size, >, 20000);
        if (g_getenv("LITHO_SCREENSHOTS")) {
            g_autofree char *copy = g_build_filename(g_getenv("LITHO_SCREENSHOTS"), names[k], NULL);
            g_file_set_contents(copy, text, (gssize)size, NULL);
        }
    }
}

// Property: time before and depth after stand side by side; what is under the pointer in one is
// marked in the other at the time that the operator's curve gives (1e-3 of a sample: linear between
// 5 m), and both ways agree; the read-out's two amplitudes belong together.
static void test_side_by_side(void)
{
    gui_set_param(&gui, &gui_teller, "mode", 2);
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
    gui_settle(&gui);
    const LithoGrid *grid = litho_session_grid(gui.session);
    g_assert_true(grid->is_depth);
    g_assert_false(litho_session_comparable(gui.session));
    g_assert_true(litho_session_side_by_side(gui.session));
    gui_activate(&gui, "win.show('side')");
    g_assert_cmpint(litho_session_shown(gui.session), ==, LITHO_SHOW_SIDE);
    const LithoGrid *in = &litho_session_input(gui.session)->grid;
    int agree = 0;
    for (int k = 0; k < 200; k += 7) {
        double t = gui_teller_time(litho_axis_value(&grid->axis[2], k));
        double there = litho_session_to_input(gui.session, k);
        g_assert_cmpfloat_with_epsilon(litho_axis_value(&in->axis[2], there), t, 1e-6);
        g_assert_cmpfloat_with_epsilon(litho_session_from_input(gui.session, there), k, 1e-3);
        float before, after;
        const gint64 out_at[3] = {50, 60, k}, in_at[3] = {50, 60, llround(there)};
        if (litho_session_sample(gui.session, FALSE, in_at, &before) &&
            litho_session_sample(gui.session, TRUE, out_at, &after)) {
            g_assert_cmpfloat_with_epsilon(after, 0.8f * before, 1e-5 * fabsf(before));
            agree++;
        }
    }
    g_assert_cmpint(agree, >, 20);
    litho_session_set_cursor(gui.session, (double[]){50, 60, 100});
    gui_spin(&gui, 0.4);
    gui_screenshot(&gui, "views-side-depth");
    g_autoptr(GdkTexture) side = gui_picture(&gui);
    gui_activate(&gui, "win.maximise(0)");
    gui_activate(&gui, "win.zoom-in");
    gui_spin(&gui, 0.4);
    gui_screenshot(&gui, "views-side-depth-large");
    gui_activate(&gui, "win.fit");
    gui_activate(&gui, "win.maximise(0)");
    gui_activate(&gui, "win.show('output')");
    gui_spin(&gui, 0.3);
    g_autoptr(GdkTexture) output = gui_picture(&gui);
    g_assert_cmpfloat(gui_difference(&gui, side, output), >, 0.1);
    gui_set_param(&gui, &gui_teller, "mode", 0);
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
}

// Property: a frame paints what has changed: turning the scene leaves the sections alone, stepping
// a section paints it and the scene, and a frame without news paints nothing.
static void test_paints(void)
{
    guint64 before[LITHO_N_VIEWS];
    litho_canvas_show_model(canvas(), -1);
    gui_settle(&gui);
    for (int step = 0; step < 3; step++) {
        for (int k = 0; k < LITHO_N_VIEWS; k++)
            before[k] = litho_canvas_paints(canvas(), k);
        guint64 frames = litho_canvas_frames(canvas());
        LithoSceneView scene = litho_session_display(gui.session)->scene;
        scene.camera.yaw += 10;
        if (step == 0)
            litho_session_set_scene(gui.session, &scene);
        else if (step == 1)
            litho_cube_view_step(litho_canvas_view(canvas(), LITHO_XLINE), 3);
        else
            gtk_gl_area_queue_render(GTK_GL_AREA(litho_canvas_area(canvas())));
        gui_spin(&gui, 0.5);
        g_assert_cmpuint(litho_canvas_frames(canvas()), >, frames);
        static const gboolean painted[3][LITHO_N_VIEWS] = {
            {FALSE, FALSE, FALSE, TRUE}, {FALSE, TRUE, FALSE, TRUE}, {FALSE, FALSE, FALSE, FALSE}};
        for (int k = 0; k < LITHO_N_VIEWS; k++)
            g_assert_cmpint(litho_canvas_paints(canvas(), k) > before[k], ==, painted[step][k]);
    }
}

static gboolean area_known(Gui *g)
{
    return litho_session_area_numbers(g->session) != NULL;
}

// RMS over the frequencies of what the area holds.
static double level(int which)
{
    const LithoFk *fk = &litho_session_area_numbers(gui.session)->fk[which];
    double sum = 0;
    for (guint f = 0; f < fk->n_f; f++)
        sum += fk->spectrum[f] * fk->spectrum[f];
    return sqrt(sum);
}

static gboolean area_is_half(Gui *g)
{
    return area_known(g) && fabs(level(1) / level(0) - 0.5) < 1e-3;
}

// Property: the area tool shows input, output and removed of the rectangle, and follows the
// parameter: the operator multiplies by its gain, so do the spectra (1e-3: single precision). Off
// leaves nothing.
static void test_area(void)
{
    gui_settle(&gui);
    gui_activate(&gui, "win.area");
    g_assert_true(litho_session_area(gui.session)->on);
    LithoArea area = *litho_session_area(gui.session);
    area.box = (LithoBox){{0, 30, 60}, {1, 80, 200}};
    litho_session_set_area(gui.session, &area);
    g_assert_true(gui_wait(area_known, &gui, 10));
    gui_settle(&gui);
    g_assert_cmpfloat_with_epsilon(level(1) / level(0), 0.8, 1e-3);
    g_assert_cmpfloat_with_epsilon(level(2) / level(0), 0.2, 1e-3);
    gui_screenshot(&gui, "views-area");
    gui_set_param(&gui, &gui_teller, "gain", 0.5);
    g_assert_true(gui_wait(area_is_half, &gui, 10));
    gui_set_param(&gui, &gui_teller, "gain", 0.8);
    gui_set_param(&gui, &gui_teller, "wait_ms", 0);
    gui_activate(&gui, "win.area");
    g_assert_false(litho_session_area(gui.session)->on);
    g_assert_null(litho_session_area_numbers(gui.session));
    gui_settle(&gui);
}

static gboolean has_told(Gui *g)
{
    g_autoptr(GArray) curves = litho_session_report_curves(g->session);
    for (guint k = 0; curves && k < curves->len; k++) {
        const LithoCurve *c = &g_array_index(curves, LithoCurve, k);
        if (strcmp(c->key, "magnitudes") == 0 && c->mark[0] == 0.5)
            return TRUE;
    }
    return FALSE;
}

// Property: what an operator tells at the begin of a long pass is on the screen long before its
// end.
static void test_live(void)
{
    gui_set_param(&gui, &gui_teller, "wait_ms", 4000);
    gui_set_param(&gui, &gui_teller, "threshold", 0.5);
    g_assert_true(gui_wait(has_told, &gui, 2));
    g_assert_true(litho_session_progress(gui.session, NULL));
    g_assert_null(litho_session_output(gui.session));
    gui_spin(&gui, 0.3);
    gui_screenshot(&gui, "views-live");
    gui_set_param(&gui, &gui_teller, "wait_ms", 0);
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
    g_assert_true(has_told(&gui));
}

static gboolean is_idle(Gui *g)
{
    return !litho_session_progress(g->session, NULL);
}

// Property: who stops a long computation is told that the result is not whole, and how to have it.
static void test_stopped(void)
{
    gui_set_param(&gui, &gui_teller, "wait_ms", 8000);
    gui_spin(&gui, 0.5);
    g_assert_true(litho_session_progress(gui.session, NULL));
    gui_activate(&gui, "win.cancel");
    g_assert_true(gui_wait(is_idle, &gui, 3));
    GtkWidget *notice = litho_notice_widget(litho_tellers_notice(gui.window->tellers));
    g_assert_true(gtk_widget_get_visible(notice));
    g_assert_nonnull(strstr(gtk_label_get_text(GTK_LABEL(notice)), "Ctrl+Return"));
    g_assert_null(litho_session_output(gui.session));
    gui_set_param(&gui, &gui_teller, "wait_ms", 0);
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
}

typedef struct Scrubbed {
    LithoScrub scrubs[LITHO_N_SCRUBS];
    guint n;
    gboolean done;
} Scrubbed;

static void keep_scrubs(const LithoScrub *scrubs, guint n, gpointer data)
{
    Scrubbed *scrubbed = data;
    g_assert_cmpuint(n, <=, LITHO_N_SCRUBS);
    memcpy(scrubbed->scrubs, scrubs, n * sizeof *scrubs);
    scrubbed->n = n;
    scrubbed->done = TRUE;
}

// Property: the measurement of scrubbing moves every view there is (the boxes, too, where an
// operator tells some), each of its frames shows something new, and it leaves slices, camera and
// panels as they were. Figures that do not fit each other (a longest frame below the median, more
// time in the gaps than there was) would be of no use.
static void test_scrub(void)
{
    static Scrubbed scrubbed;
    gui_use_operator(&gui, &gui_teller);
    g_assert_true(gui_wait(gui_has_output, &gui, 60));
    gui_settle(&gui);
    LithoDisplay before = *litho_session_display(gui.session);
    litho_scrub_start(gui.window, 0.6, keep_scrubs, &scrubbed);
    for (int k = 0; k < 200 && !scrubbed.done; k++)
        gui_spin(&gui, 0.1);
    g_assert_true(scrubbed.done);
    g_assert_cmpuint(scrubbed.n, ==, LITHO_N_SCRUBS);
    for (guint k = 0; k < scrubbed.n; k++) {
        const LithoScrub *s = &scrubbed.scrubs[k];
        g_test_message("%s: %u frames in %.2f s, median %.1f ms, longest %.1f ms", s->label,
                       s->frames, s->seconds, s->median_ms, s->longest_ms);
        g_assert_cmpuint(s->pictures, >=, 1);
        g_assert_cmpuint(s->frames, >=, s->pictures);
        g_assert_cmpfloat(s->median_ms, <=, s->p95_ms);
        g_assert_cmpfloat(s->p95_ms, <=, s->longest_ms);
        g_assert_cmpfloat(s->median_ms * (s->pictures - 1) / 2, <=, s->seconds * 1000);
    }
    const LithoDisplay *after = litho_session_display(gui.session);
    g_assert_cmpmem(before.slice, sizeof before.slice, after->slice, sizeof after->slice);
    g_assert_cmpmem(&before.scene, sizeof before.scene, &after->scene, sizeof after->scene);
    g_assert_cmpint(litho_canvas_maximised(canvas()), ==, -1);
}

int main(int argc, char **argv)
{
    gui_init(&argc, &argv);
    gui_register(&gui_teller);
    gui_open_sized(&gui);
    g_test_add_func("/views/plots", test_plots);
    g_test_add_func("/views/numbers", test_numbers);
    g_test_add_func("/views/data-plots", test_data_plots);
    g_test_add_func("/views/quality", test_quality);
    g_test_add_func("/views/drag", test_drag);
    g_test_add_func("/views/rows", test_rows);
    g_test_add_func("/views/units", test_units);
    g_test_add_func("/views/special-row", test_special_row);
    g_test_add_func("/views/special", test_special);
    g_test_add_func("/views/memory", test_memory);
    g_test_add_func("/views/picture", test_picture);
    g_test_add_func("/views/paints", test_paints);
    g_test_add_func("/views/scrub", test_scrub);
    g_test_add_func("/views/area", test_area);
    g_test_add_func("/views/side-by-side", test_side_by_side);
    g_test_add_func("/views/live", test_live);
    g_test_add_func("/views/stopped", test_stopped);
    int status = g_test_run();
    gui_close(&gui);
    return status;
}
