// SPDX-License-Identifier: GPL-3.0-or-later
//
// Samples of different kinds in the window: amplitudes around zero, velocities, energies.
#include <math.h>
#include <string.h>

#include "core/synth/synth_parts.h"
#include "tests/gui/files.h"
#include "ui/panel/area_panel.h"
#include "ui/window/palette.h"
#include "ui/window/window_private.h"

static Gui gui;

enum { N = 12, SAMPLES = 40 };

// Velocities from 1500 m/s on top to 4500 m/s below, or amplitudes around zero.
static LithoCube *make(gboolean velocities, const char *name)
{
    LithoGrid grid = litho_grid_new(N, N, SAMPLES);
    LithoCube *cube = litho_cube_new(&grid, NULL);
    for (gint64 t = 0; t < N * N; t++)
        for (gint64 k = 0; k < SAMPLES; k++)
            cube->samples[t * SAMPLES + k] =
                velocities ? 1500 + 3000.0f * k / (SAMPLES - 1)
                           : (float)(3 * litho_hash_normal(5, 1, t * SAMPLES + k));
    g_strlcpy(cube->name, name, sizeof cube->name);
    return cube;
}

static const LithoLook *look(void)
{
    return &litho_session_display(gui.session)->look;
}

static gboolean numbers_known(Gui *g)
{
    return litho_session_numbers(g->session, LITHO_NUMBERS_IN) != NULL;
}

static void show(LithoCube *cube)
{
    litho_session_set_input(gui.session, cube);
    g_assert_true(gui_wait(numbers_known, &gui, 20));
}

static void assert_velocities(const char *map)
{
    g_assert_true(litho_session_is_unsigned(gui.session));
    g_assert_cmpstr(look()->map->name, ==, map);
    g_assert_cmpfloat(look()->lo, ==,
                      1500); // each value is a fortieth of all: 1 and 99 % are the ends
    g_assert_cmpfloat(look()->hi, ==, 4500);
    g_assert_cmpstr(litho_session_unit(gui.session), ==, "m/s");
}

static void assert_amplitudes(const char *map)
{
    g_assert_false(litho_session_is_unsigned(gui.session));
    g_assert_cmpstr(look()->map->name, ==, map);
    g_assert_cmpfloat(look()->lo, ==, -look()->hi);
    g_assert_cmpfloat(look()->hi, >, 5);
    g_assert_cmpfloat(look()->hi, <, 12);
    g_assert_null(litho_session_unit(gui.session));
}

// Property: data of one sign open from their least to their largest values in colours that run from
// dark to light, signed data around zero in diverging ones; each kind keeps the colours chosen for
// it, whatever is looked at in between. One look for all, as once, fails at the first change of
// cube.
static void test_kinds(void)
{
    g_autoptr(LithoCube) velocities = make(TRUE, "interval-vel.sgy");
    g_autoptr(LithoCube) amplitudes = make(FALSE, "stack.sgy");
    show(velocities);
    assert_velocities("velocity");
    gui_settle(&gui);
    gui_screenshot(&gui, "samples-velocity");
    show(amplitudes);
    assert_amplitudes("blue-white-red");
    gui_activate(&gui, "win.colours('grey')");
    show(velocities);
    assert_velocities("velocity");
    gui_activate(&gui, "win.colours('lagoon')");
    show(amplitudes);
    assert_amplitudes("grey");
    show(velocities);
    assert_velocities("lagoon");
    gui_activate(&gui, "win.colours('velocity')");
}

// Property: what an operator took from velocities is shown around zero, as large as half the range,
// in diverging colours; input and output keep theirs. The clip's keys narrow the range about its
// middle and never leave the values' sign.
static void test_removed(void)
{
    g_autoptr(LithoCube) velocities = make(TRUE, "interval-vel.sgy");
    double lo, hi;
    show(velocities);
    gui_forget_flow(&gui);
    litho_session_add_step(gui.session, litho_operator_find("template"));
    g_assert_true(gui_wait(gui_has_output, &gui, 20));
    gui_activate(&gui, "win.show('removed')");
    g_assert_cmpint(litho_session_shown(gui.session), ==, LITHO_SHOW_REMOVED);
    litho_look_range(look(), LITHO_SHOW_REMOVED, &lo, &hi);
    g_assert_cmpfloat(lo, ==, -1500);
    g_assert_cmpfloat(hi, ==, 1500);
    g_assert_true(litho_look_map(look(), LITHO_SHOW_REMOVED)->diverging);
    litho_look_range(look(), LITHO_SHOW_OUTPUT, &lo, &hi);
    g_assert_cmpfloat(lo, ==, 1500);
    g_assert_false(litho_look_map(look(), LITHO_SHOW_OUTPUT)->diverging);
    gui_activate(&gui, "win.show('output')");

    gui_activate(&gui, "win.clip-down");
    g_assert_cmpfloat(look()->lo, >, 1500);
    g_assert_cmpfloat_with_epsilon(look()->lo + look()->hi, 6000, 1e-6);
    g_assert_cmpfloat(litho_session_clip_percent(gui.session), <, 99);
    for (int k = 0; k < 30; k++)
        gui_activate(&gui, "win.clip-up");
    g_assert_cmpfloat(look()->lo, ==, 0);
    gui_forget_flow(&gui);
}

// Property: the diagonal of an area is a ruler: 25 traces 25 m apart and 46 samples of 4 ms make
// 600 m and 180 ms, hence 7.5 ms a trace and 3333 m/s; in depth the angle; without coordinates
// nothing in metres; an area that was not drawn has no diagonal.
static void test_ruler(void)
{
    LithoGrid grid = litho_grid_new(30, 40, 100);
    LithoArea area = {.on = TRUE, .axis = LITHO_INLINE, .box = {{0, 5, 10}, {1, 30, 56}}};
    g_assert_null(litho_area_measure(&grid, &area));
    area.diagonal = -1;
    g_autofree char *plain = litho_area_measure(&grid, &area);
    g_assert_cmpstr(plain, ==,
                    "Diagonal up to the right: 7.5 ms a trace. Width 25 traces, height 180 ms, "
                    "one period at 5.56 Hz");
    grid.has_xy = TRUE;
    grid.xy_source = LITHO_FROM_FILE;
    memcpy(grid.inline_step, (double[2]){12.5, 0}, sizeof grid.inline_step);
    memcpy(grid.xline_step, (double[2]){0, 25}, sizeof grid.xline_step);
    area.diagonal = 1;
    g_autofree char *time = litho_area_measure(&grid, &area);
    g_assert_cmpstr(
        time, ==,
        "Diagonal down to the right: 7.5 ms a trace, 3\u2009333 m/s. Width 600 m, height "
        "180 ms, one period at 5.56 Hz");
    grid.is_depth = TRUE;
    grid.axis[2].step = 10; // 450 m down over 600 m
    g_autofree char *depth = litho_area_measure(&grid, &area);
    g_assert_cmpstr(
        depth, ==, "Diagonal down to the right: 18.75 m a trace, 36.9°. Width 600 m, height 450 m");
}

static gboolean clip_is_narrow(Gui *g)
{
    return litho_session_clip(g->session) < 3.5;
}

// Property: slices, clips and ranges can be typed: the slice by the number at its axis, the clip in
// percent, exactly, or as an amplitude; what is no slice or no range does nothing.
static void test_typed(void)
{
    g_autoptr(LithoCube) amplitudes = make(FALSE, "stack.sgy");
    gui_forget_flow(&gui);
    show(amplitudes);
    const LithoDisplay *d = litho_session_display(gui.session);
    g_assert_true(litho_palette_run(gui.window, "inline 3"));
    g_assert_cmpint(d->slice[0], ==, 2); // line numbers from 1
    g_assert_true(litho_palette_run(gui.window, "Cross 12"));
    g_assert_cmpint(d->slice[1], ==, 11);
    g_assert_true(litho_palette_run(gui.window, "time 49"));
    g_assert_cmpint(d->slice[2], ==, 12); // 48 ms
    g_assert_false(litho_palette_run(gui.window, "inline 13"));
    g_assert_true(litho_palette_run(gui.window, "clip 50 %"));
    g_assert_true(gui_wait(clip_is_narrow, &gui, 10));
    g_assert_cmpfloat(litho_session_clip(gui.session), ==, litho_qc_percentile(amplitudes, 50));
    g_assert_true(litho_palette_run(gui.window, "clip 90%"));
    gui_spin(&gui, 0.3);
    g_assert_cmpfloat(look()->lo, ==, -litho_qc_percentile(amplitudes, 90));
    g_assert_true(litho_palette_run(gui.window, "clip 1.5"));
    g_assert_cmpfloat(look()->lo, ==, -1.5);
    g_assert_true(litho_palette_run(gui.window, "clip -1 2"));
    g_assert_cmpfloat(look()->lo, ==, -1);
    g_assert_cmpfloat(look()->hi, ==, 2);
    g_assert_false(litho_palette_run(gui.window, "clip 2 1"));
    g_assert_false(
        litho_palette_run(gui.window, "clip 20 %")); // nobody wants half of the samples clipped
}

static gboolean state_written(Gui *g)
{
    return litho_state_writer_is_settled(g->window->writer);
}

// Property: the range and the colours of velocities come back with the file's session.
static void test_session(void)
{
    g_autoptr(LithoCube) velocities = make(TRUE, "interval-vel.sgy");
    g_autofree char *path = gui_path(&gui, "interval-vel.sgy");
    g_autoptr(GError) error = NULL;
    LithoSaveOptions options = {.force = TRUE};
    g_assert_true(litho_cube_save(velocities, path, &options, NULL, &error));
    g_assert_no_error(error);
    gui_open_file(&gui, path);
    g_assert_true(gui_wait(numbers_known, &gui, 20));
    assert_velocities("velocity");
    gui_activate(&gui, "win.colours('ember')");
    litho_session_set_range(gui.session, 1600, 4000);
    g_assert_true(gui_wait(state_written, &gui, 10));
    gui_reopen(&gui);
    gui_open_file(&gui, path);
    g_assert_true(gui_wait(numbers_known, &gui, 20));
    g_assert_cmpstr(look()->map->name, ==, "ember");
    g_assert_cmpfloat(look()->lo, ==, 1600);
    g_assert_cmpfloat(look()->hi, ==, 4000);
}

int main(int argc, char **argv)
{
    gui_init(&argc, &argv);
    gui_open_sized(&gui);
    g_test_add_func("/samples/kinds", test_kinds);
    g_test_add_func("/samples/removed", test_removed);
    g_test_add_func("/samples/ruler", test_ruler);
    g_test_add_func("/samples/typed", test_typed);
    g_test_add_func("/samples/session", test_session);
    int status = g_test_run();
    gui_close(&gui);
    return status;
}
