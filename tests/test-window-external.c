// SPDX-License-Identifier: GPL-3.0-or-later
//
// A program of the user's own in the window: its panel and sliders, results while one is dragged, a
// program that fails. The program is the example in C, data/examples/operators/agc.c.
#include <math.h>
#include <string.h>

#include "core/synth/synth_parts.h"
#include "kernels/external/external.h"
#include "tests/gui/gui.h"
#include "ui/window/palette.h"
#include "ui/window/window_private.h"

static Gui gui;

enum { NI = 16, NX = 18, SAMPLES = 120 };

static LithoCube *make_cube(void)
{
    LithoGrid grid = litho_grid_new(NI, NX, SAMPLES);
    LithoCube *cube = litho_cube_new(&grid, NULL);
    for (gint64 k = 0; k < litho_grid_samples(&grid); k++)
        cube->samples[k] = (float)(litho_hash_normal(5, 1, k) * (1 + k % SAMPLES));
    g_strlcpy(cube->name, "noise", sizeof cube->name);
    return cube;
}

static void write_panel(const char *folder, const char *key, const char *title, const char *program)
{
    g_autofree char *name = g_strdup_printf("%s.json", key);
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autofree char *text = g_strdup_printf(
        "{\"lithoscope_operator\": 1, \"key\": \"%s\", \"title\": \"%s\", \"summary\": \"Divides "
        "by the root mean square.\", \"command\": [\"%s\"], \"halo\": [0, 0, \"0.55*window\"], "
        "\"amplitudes\": \"own\", "
        "\"parameters\": [{\"key\": \"window\", \"label\": \"Window\", \"type\": \"float\", "
        "\"unit\": \"ms\", \"default\": 200, \"min\": 8, \"max\": 1000, \"log\": true, "
        "\"help\": \"Length of the window.\"}]}",
        key, title, program);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static const LithoStep *step(void)
{
    return litho_flow_step(litho_session_flow(gui.session), 0);
}

static double window_ms(void)
{
    return litho_param_get(&step()->op->params.rows[0], step()->params);
}

static void use(const char *key)
{
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, litho_operator_find(key));
    litho_session_set_flow(gui.session, flow, "test");
}

// The example's result, computed here.
static void assert_result(double window)
{
    const LithoCube *in = litho_session_input(gui.session), *out = litho_session_output(gui.session);
    const gint64 half = lround(window / 4 / 2); // 4 ms
    g_assert_nonnull(out);
    for (gint64 trace = 0; trace < NI * NX; trace += 7) {
        const float *from = in->samples + trace * SAMPLES, *to = out->samples + trace * SAMPLES;
        for (gint64 t = 0; t < SAMPLES; t++) {
            double sum = 0;
            gint64 n = 0;
            for (gint64 k = MAX(t - half, 0); k <= MIN(t + half, SAMPLES - 1); k++, n++)
                sum += (double)from[k] * from[k];
            g_assert_cmpfloat_with_epsilon(to[t], from[t] / sqrt(sum / (double)n), 1e-4);
        }
    }
}

// Property: a panel makes an operator that is chosen and set as any other. Its amplitudes, which
// are its own, have colours of their own.
static void test_panel(void)
{
    g_autoptr(LithoCube) cube = make_cube();
    litho_session_set_input(gui.session, cube);
    g_assert_true(litho_palette_run(gui.window, "own gain"));
    g_assert_cmpstr(step()->op->key, ==, "own");
    g_assert_true(gui_wait(gui_has_output, &gui, 60));
    gui_settle(&gui);
    g_assert_null(litho_window_error(gui.window));
    GtkWidget *row = litho_param_panel_row(litho_window_params(gui.window), "window");
    g_assert_nonnull(row);
    g_assert_nonnull(gui_find_type(row, GTK_TYPE_SCALE));
    g_assert_true(gui_label_says(GTK_WIDGET(gui.window), "Divides by the root mean square."));
    assert_result(200);
    g_assert_false(litho_session_comparable(gui.session));
    g_assert_cmpfloat(litho_session_clip(gui.session), <, 10); // the input's is above 100
    gui_screenshot(&gui, "external");
}

// Property: results come while the slider is dragged, the picture follows, and the last one belongs
// to the last position; undo brings the first one back.
static void test_drag(void)
{
    g_autoptr(GdkTexture) before = gui_picture(&gui);
    GtkWidget *row = litho_param_panel_row(litho_window_params(gui.window), "window");
    GtkRange *slider = GTK_RANGE(gui_find_type(row, GTK_TYPE_SCALE));
    GtkAdjustment *range = gtk_range_get_adjustment(slider);
    const double lo = gtk_adjustment_get_lower(range), hi = gtk_adjustment_get_upper(range);
    const guint64 first = litho_session_result(gui.session)->generation;
    guint64 during = first;
    for (int k = 0; k < 30; k++) {
        gtk_range_set_value(slider, lo + (hi - lo) * (30 - k) / 60);
        gui_spin(&gui, 0.05);
        if (k == 28)
            during = litho_session_result(gui.session)->generation;
    }
    g_assert_cmpuint(during, >=, first + 3);
    gui_settle(&gui);
    g_assert_null(litho_window_error(gui.window));
    g_assert_cmpfloat(window_ms(), <, 20);
    assert_result(window_ms());
    g_autoptr(GdkTexture) after = gui_picture(&gui);
    g_assert_cmpfloat(gui_difference(&gui, before, after), >, 0.05);
    gui_screenshot(&gui, "external-dragged");
    gui_activate(&gui, "win.undo");
    gui_settle(&gui);
    g_assert_cmpfloat(window_ms(), ==, 200);
    assert_result(200);
}

// Property: a program that fails is one sentence; the window goes on, and the next operator works.
static void test_failure(void)
{
    use("failing");
    for (int k = 0; k < 200 && !litho_window_error(gui.window); k++)
        gui_spin(&gui, 0.1);
    const char *said = litho_window_error(gui.window);
    g_assert_nonnull(said);
    g_assert_nonnull(strstr(said, "the program 'false' ended before its answer with status 1"));
    gui_screenshot(&gui, "external-failed");
    use("own");
    g_assert_true(gui_wait(gui_has_output, &gui, 60));
    gui_settle(&gui);
    g_assert_null(litho_window_error(gui.window));
    assert_result(200);
}

int main(int argc, char **argv)
{
    gui_init(&argc, &argv);
    g_autofree char *folder = g_dir_make_tmp("lithoscope-panels-XXXXXX", NULL);
    write_panel(folder, "own", "Own gain", g_getenv("LITHO_AGC"));
    write_panel(folder, "failing", "Failing gain", "false");
    g_assert_true(litho_external_load_folder(folder, NULL));
    g_assert_null(*litho_operators_problems());
    gui_open_sized(&gui);
    g_test_add_func("/window-external/panel", test_panel);
    g_test_add_func("/window-external/drag", test_drag);
    g_test_add_func("/window-external/failure", test_failure);
    int status = g_test_run();
    gui_close(&gui);
    gui_remove_tree(folder);
    return status;
}
