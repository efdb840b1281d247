// SPDX-License-Identifier: GPL-3.0-or-later
//
// Where pictures over and beside the sections lie, how places are told, and the pictures of a
// sweep; without a display.
#include <string.h>

#include "core/synth/synth_parts.h"
#include "kernels/kernels.h"
#include "ui/panel/area_panel.h"
#include "ui/panel/sweep_run.h"
#include "ui/view/fk_view.h"
#include "ui/view/medium_picture.h"

// --- frequency and wavenumber -------------------------------------------------------------------

// Property: the middle of each cell of an f-k picture lies at its own place of the axes: wavenumber
// 0 in the middle, frequency 0 and the largest one on the edges; traces lie between the edges.
static void test_fk_place(void)
{
    const LithoRect data = {100, 50, 320, 128};
    for (guint n = 32; n <= 33; n++) {
        const LithoFkPicture picture = {NULL, n, 65};
        const LithoRect waves = litho_fk_place(&picture, FALSE, data);
        const LithoRect traces = litho_fk_place(&picture, TRUE, data);
        g_assert_cmpfloat_with_epsilon(waves.x + (n / 2 + 0.5) / n * waves.w, 260, 1e-9);
        g_assert_cmpfloat_with_epsilon(waves.y + waves.h * (1 - 0.5 / 65), 178, 1e-9);
        g_assert_cmpfloat_with_epsilon(waves.y + waves.h * 0.5 / 65, 50, 1e-9);
        g_assert_cmpfloat(traces.x, ==, data.x);
        g_assert_cmpfloat(traces.w, ==, data.w);
    }
}

// Property: a picture of many cells is made of few pixels, each the largest of its cells: the peak
// stays, and no cell is left out.
static void test_fk_reduced(void)
{
    enum { N_X = 1000, N_F = 1025, MOST = 512 };
    g_autofree float *cells = g_new0(float, N_X * N_F);
    const guint at[][2] = {{0, 0}, {999, 1024}, {501, 3}, {700, 1024}};
    for (guint n = 0; n < G_N_ELEMENTS(at); n++)
        cells[at[n][0] * N_F + at[n][1]] = 1 + (float)n;
    guint by[2];
    const LithoFkPicture all = {cells, N_X, N_F};
    const LithoFkPicture few = litho_fk_reduced(&all, MOST, by);
    g_assert_cmpuint(few.n_x, <=, MOST);
    g_assert_cmpuint(few.n_f, <=, MOST);
    g_assert_cmpuint(few.n_x * by[0], >=, N_X);
    g_assert_cmpuint(few.n_f * by[1], >=, N_F);
    for (guint n = 0; n < G_N_ELEMENTS(at); n++)
        g_assert_cmpfloat(few.amplitude[at[n][0] / by[0] * few.n_f + at[n][1] / by[1]], ==, 1 + n);
    g_assert_cmpfloat(litho_fk_picture_top(&few), ==, litho_fk_picture_top(&all));
    g_free((gpointer)few.amplitude);
}

// --- sections -----------------------------------------------------------------------------------

// Property: an area is told by its line numbers, however long they are, and by times as they are.
static void test_area_place(void)
{
    LithoGrid grid = litho_grid_new(30, 40, 250);
    grid.axis[LITHO_INLINE].first = 10115;
    grid.axis[LITHO_INLINE].step = 5;
    grid.axis[LITHO_XLINE].first = 200003;
    grid.axis[LITHO_XLINE].step = 4;
    grid.axis[LITHO_SAMPLE].first = 1.0025;
    grid.axis[LITHO_SAMPLE].step = 0.0005;
    const LithoArea area = {.on = TRUE, .axis = LITHO_INLINE, .box = {{15, 7, 0}, {16, 34, 4}}};
    g_autofree char *text = litho_area_place(&grid, &area, 15, LITHO_UNITS_AUTO);
    g_assert_cmpstr(text, ==,
                    "Inline 10190, crossline 200031 to 200135, time 1\u2009002.5 to "
                    "1\u2009004.0 ms");
    grid.axis[LITHO_INLINE].counts = LITHO_COUNTS_CDPS;
    grid.axis[LITHO_XLINE].counts = LITHO_COUNTS_OFFSETS;
    g_strlcpy(grid.axis[LITHO_XLINE].unit, "m", sizeof grid.axis[LITHO_XLINE].unit);
    g_autofree char *gather = litho_area_place(&grid, &area, 15, LITHO_UNITS_AUTO);
    g_assert_cmpstr(gather, ==,
                    "CDP 10190, offset 200031 to 200135 m, time 1\u2009002.5 to "
                    "1\u2009004.0 ms");
}

// Property: each sample of a coarse layer lies where its own place of the grid does, on sections and,
// upside down, on maps.
static void test_medium_place(void)
{
    const LithoGrid grid = litho_grid_new(100, 90, 80);
    LithoGrid layer = grid;
    const gint64 by[3] = {4, 1, 3};
    for (int a = 0; a < 3; a++) {
        layer.axis[a].n = (grid.axis[a].n - 1) / by[a] + 1;
        layer.axis[a].step *= by[a];
    }
    for (int axis = 0; axis < 3; axis++) {
        const LithoSliceView view = litho_slice_view(&grid, axis, 8);
        const LithoSliceMap map = litho_slice_map(&grid, &view, (LithoRect){10, 20, 333, 222});
        double from[2], to[2], at[3], x, y;
        litho_medium_place(&layer, &grid, &map, from, to);
        for (int a = 0; a < 3; a++)
            at[a] = 5.0 * by[a];
        litho_slice_map_to_pixel(&map, at, &x, &y);
        g_assert_cmpfloat_with_epsilon(
            from[0] + (to[0] - from[0]) * 5.5 / layer.axis[map.h_axis].n, x, 1e-6);
        g_assert_cmpfloat_with_epsilon(
            from[1] + (to[1] - from[1]) * 5.5 / layer.axis[map.v_axis].n, y, 1e-6);
    }
}

// --- sweeps -------------------------------------------------------------------------------------

static void count_colours(LithoSweepShot *shot, gpointer data)
{
    cairo_surface_t *picture = shot->picture[LITHO_SWEEP_OUTPUT];
    g_assert_cmpstr(shot->refused, ==, NULL);
    const guint8 *pixels = cairo_image_surface_get_data(picture);
    const int n = cairo_image_surface_get_stride(picture);
    gboolean uniform = TRUE;
    for (int k = 4; k < n; k++)
        uniform = uniform && pixels[k] == pixels[k % 4];
    *(guint *)data += !uniform;
    litho_sweep_shot_free(shot);
}

// Property: a setting whose result ends above the depth slice in front has a picture all the same:
// that of its last depth.
static void test_sweep_of_depths(void)
{
    LithoGrid grid = litho_grid_new(6, 12, 120);
    g_autoptr(LithoCube) cube = litho_cube_new(&grid, NULL);
    for (gint64 k = 0; k < litho_grid_samples(&grid); k++)
        cube->samples[k] = (float)(k * 7919 % 101) - 50;
    const LithoOperator *op = litho_operator_find("migrate");
    LithoSweepTask *task = g_new0(LithoSweepTask, 1);
    task->flow = litho_flow_new();
    LithoStep *step = litho_flow_step(task->flow, litho_flow_append(task->flow, op));
    const char *const words[] = {"velocity=2000", "dz=10", "degree=9"};
    for (guint k = 0; k < G_N_ELEMENTS(words); k++)
        g_assert_true(litho_operator_set(op, step->params, words[k], NULL));
    litho_sweep_axis_fill(&task->axis[0], litho_param_find(&op->params, "nz"), 10, 40, 2, NAN);
    task->in = litho_cube_ref(cube);
    task->device = litho_device_cpu();
    task->look = litho_look_default();
    grid.axis[LITHO_SAMPLE].n = 40;
    task->view = litho_slice_view(&grid, LITHO_SAMPLE, 35);
    task->view.keep_aspect = FALSE;
    task->width = task->height = 60;
    litho_look_set_clip(&task->look, 1e-3); // any amplitude has a colour
    guint drawn = 0;
    LithoRun run = {.threads = 1};
    g_assert_true(litho_sweep_run(task, &run, count_colours, &drawn, NULL));
    g_assert_cmpuint(drawn, ==, 2);
    litho_sweep_task_free(task);
}

typedef struct Removed {
    guint judged;
    double part[2]; // of the shots' energies
} Removed;

static void take_removed(LithoSweepShot *shot, gpointer data)
{
    Removed *removed = data;
    g_assert_cmpstr(shot->refused, ==, NULL);
    removed->part[shot->judged] = shot->removed;
    removed->judged += shot->judged;
    if (shot->judged)
        g_assert_cmpfloat(shot->removed, ==, shot->quality.removed);
    litho_sweep_shot_free(shot);
}

// Property: the removed part of a judged setting is of the judged area, as the leakage beside it;
// that of a setting that is not judged is of the section, here of the one line without noise.
static void test_sweep_removed(void)
{
    LithoGrid grid = litho_grid_new(24, 24, 64);
    g_autoptr(LithoCube) cube = litho_cube_new(&grid, NULL);
    for (gint64 k = 0; k < litho_grid_samples(&grid); k++) // one inline is smooth, others are noise
        cube->samples[k] = k / (24 * 64) == 12 ? (float)sin(0.2 * (double)(k % 64))
                                               : (float)litho_hash_normal(5, 1, k);
    const LithoOperator *op = litho_operator_find("patch");
    Removed removed = {0};
    LithoRun run = {.threads = 1};
    for (int judged = 0; judged < 2; judged++) {
        LithoSweepTask *task = g_new0(LithoSweepTask, 1);
        task->flow = litho_flow_new();
        litho_flow_append(task->flow, op);
        litho_sweep_axis_fill(&task->axis[0], litho_param_find(&op->params, "threshold"), 3, 3, 1,
                              NAN);
        task->in = litho_cube_ref(cube);
        task->device = litho_device_cpu();
        task->look = litho_look_default();
        task->view = litho_slice_view(&grid, LITHO_INLINE, 12);
        task->width = task->height = 60;
        litho_look_set_clip(&task->look, 1);
        task->judged = judged;
        task->area = litho_box_full(&grid);
        g_assert_true(litho_sweep_run(task, &run, take_removed, &removed, NULL));
        litho_sweep_task_free(task);
    }
    g_test_message("removed of the section %g, of the area %g", removed.part[0], removed.part[1]);
    g_assert_cmpuint(removed.judged, ==, 1);
    g_assert_cmpfloat(removed.part[1], >, removed.part[0] + 0.1);
}

// Property: a choice and a switch are swept, too: all values, as many as a sheet takes, and the
// present one in any case.
static void test_sweep_named(void)
{
    const LithoOperator *op = litho_operator_find("patch");
    const LithoParam *rule = litho_param_find(&op->params, "rule");
    LithoSweepAxis axis;
    g_assert_true(litho_sweep_takes(rule, NULL) && litho_sweep_is_named(rule));
    litho_sweep_axis_fill(&axis, rule, 0, 0, LITHO_SWEEP_SINGLE, 0);
    g_assert_cmpuint(axis.n, ==, litho_param_n_choices(rule));
    for (guint k = 0; k < axis.n; k++)
        g_assert_cmpfloat(axis.value[k], ==, k);
    litho_sweep_axis_fill(&axis, rule, 0, 0, 2, axis.n - 1);
    g_assert_cmpuint(axis.n, ==, 2);
    g_assert_cmpfloat(axis.value[1], ==, litho_param_n_choices(rule) - 1);
    static const LithoParam on = {.type = LITHO_PARAM_BOOL, .key = "on", .max = 1};
    litho_sweep_axis_fill(&axis, &on, 0, 0, LITHO_SWEEP_DOUBLE, 1);
    g_assert_cmpuint(axis.n, ==, 2);
    static const LithoParam text = {.type = LITHO_PARAM_TEXT, .key = "text"};
    g_assert_false(litho_sweep_takes(&text, NULL));
}

static void take_hidden(LithoSweepShot *shot, gpointer data)
{
    double **next = data;
    g_assert_cmpstr(shot->refused, ==, NULL);
    g_assert_true(shot->judged && shot->quality.fills_alone);
    *(*next)++ = shot->quality.hidden_recorded_db;
    litho_sweep_shot_free(shot);
}

// Property: settings of a flow that only fills, of which no expected SNR is told, are told apart by
// hidden traces: more passes are better.
static void test_sweep_fills(void)
{
    const LithoSynth *synth = litho_synth_find("planes");
    g_autofree void *params = g_malloc0(synth->params.size);
    litho_param_defaults(&synth->params, params);
    const char *const words[][2] = {
        {"inlines", "24"}, {"xlines", "24"}, {"samples", "64"}, {"snr", "40"}, {"missing", "30"}};
    for (guint k = 0; k < G_N_ELEMENTS(words); k++)
        g_assert_true(litho_param_parse(&synth->params, params, words[k][0], words[k][1], NULL));
    g_autoptr(LithoCube) cube = NULL;
    g_assert_true(synth->make(params, NULL, &cube, NULL, NULL, NULL));
    const LithoOperator *op = litho_operator_find("patch");
    LithoSweepTask *task = g_new0(LithoSweepTask, 1);
    task->flow = litho_flow_new();
    LithoStep *step = litho_flow_step(task->flow, litho_flow_append(task->flow, op));
    g_assert_true(litho_operator_set(op, step->params, "mode=fill", NULL));
    litho_sweep_axis_fill(&task->axis[0], litho_param_find(&op->params, "iterations"), 2, 20, 2,
                          NAN);
    task->in = litho_cube_ref(cube);
    task->device = litho_device_cpu();
    task->look = litho_look_default();
    task->view = litho_slice_view(&cube->grid, LITHO_INLINE, 12);
    task->width = task->height = 60;
    litho_look_set_clip(&task->look, 1);
    task->judged = TRUE;
    task->area = litho_box_full(&cube->grid);
    double told[2] = {NAN, NAN}, *next = told;
    LithoRun run = {.threads = 1};
    g_assert_true(litho_sweep_run(task, &run, take_hidden, &next, NULL));
    litho_sweep_task_free(task);
    g_test_message("%g dB, then %g", told[0], told[1]);
    g_assert_cmpfloat(told[1], >, told[0]);
}

// Mean distance of a picture's colours from that of 0, over that of 1 from it.
static double brightness(cairo_surface_t *picture)
{
    LithoLook look = litho_look_default();
    const LithoRange range = {.lo = 0, .hi = 1, .is_unsigned = TRUE};
    litho_look_set_range(&look, &range);
    const guint8 *zero = look.map->rgba[0], *one = look.map->rgba[255];
    const double all = abs(one[0] - zero[0]) + abs(one[1] - zero[1]) + abs(one[2] - zero[2]);
    const int w = cairo_image_surface_get_width(picture);
    const int h = cairo_image_surface_get_height(picture);
    double sum = 0;
    cairo_surface_flush(picture);
    for (int y = 0; y < h; y++) {
        const guint32 *row =
            (const guint32 *)(gconstpointer)(cairo_image_surface_get_data(picture) +
                                             y * cairo_image_surface_get_stride(picture));
        for (int x = 0; x < w; x++)
            sum += abs((int)(row[x] >> 16 & 255) - zero[0]) +
                   abs((int)(row[x] >> 8 & 255) - zero[1]) + abs((int)(row[x] & 255) - zero[2]);
    }
    return sum / (all * w * h);
}

typedef struct Similar {
    double bright;
    gboolean is_beside;
} Similar;

static void take_similar(LithoSweepShot *shot, gpointer data)
{
    Similar *similar = data;
    g_assert_cmpstr(shot->refused, ==, NULL);
    similar->bright = brightness(shot->picture[LITHO_SWEEP_SIMILARITY]);
    similar->is_beside = shot->is_beside;
    litho_sweep_shot_free(shot);
}

// Property: where the question knows the noise, the similarity of a low threshold, of which half of
// the noise stays, is dark and is said to be beside the noise; without a question it is bright, and
// is not said to be so.
static void test_sweep_beside(void)
{
    const LithoSynth *synth = litho_synth_find("conflict");
    g_autofree void *params = g_malloc0(synth->params.size);
    litho_param_defaults(&synth->params, params);
    const char *const words[][2] = {
        {"inlines", "32"}, {"xlines", "32"}, {"samples", "96"}, {"snr", "0"}, {"seed", "9"}};
    for (guint k = 0; k < G_N_ELEMENTS(words); k++)
        g_assert_true(litho_param_parse(&synth->params, params, words[k][0], words[k][1], NULL));
    g_autoptr(LithoCube) cube = NULL;
    g_assert_true(synth->make(params, NULL, &cube, NULL, NULL, NULL));
    const LithoOperator *op = litho_operator_find("patch");
    Similar told[2] = {0};
    LithoRun run = {.threads = 1};
    for (int judged = 0; judged < 2; judged++) {
        LithoSweepTask *task = g_new0(LithoSweepTask, 1);
        task->flow = litho_flow_new();
        litho_flow_append(task->flow, op);
        litho_sweep_axis_fill(&task->axis[0], litho_param_find(&op->params, "threshold"), 1, 1, 1,
                              NAN);
        task->in = litho_cube_ref(cube);
        task->device = litho_device_cpu();
        task->look = litho_look_default();
        task->view = litho_slice_view(&cube->grid, LITHO_INLINE, 12);
        task->view.keep_aspect = FALSE;
        task->width = task->height = 60;
        litho_look_set_clip(&task->look, 1);
        task->judged = judged;
        task->area = litho_box_full(&cube->grid);
        g_assert_true(litho_sweep_run(task, &run, take_similar, &told[judged], NULL));
        litho_sweep_task_free(task);
    }
    g_test_message("brightness %.3f, beside the noise %.3f", told[0].bright, told[1].bright);
    g_assert_true(!told[0].is_beside && told[1].is_beside);
    g_assert_cmpfloat(told[0].bright, >, 0.3);
    g_assert_cmpfloat(told[1].bright, <, 0.15);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/view-places/fk", test_fk_place);
    g_test_add_func("/view-places/fk-reduced", test_fk_reduced);
    g_test_add_func("/view-places/area", test_area_place);
    g_test_add_func("/view-places/medium", test_medium_place);
    g_test_add_func("/view-places/sweep-of-depths", test_sweep_of_depths);
    g_test_add_func("/view-places/sweep-removed", test_sweep_removed);
    g_test_add_func("/view-places/sweep-named", test_sweep_named);
    g_test_add_func("/view-places/sweep-fills", test_sweep_fills);
    g_test_add_func("/view-places/sweep-beside", test_sweep_beside);
    return g_test_run();
}
