// SPDX-License-Identifier: GPL-3.0-or-later
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "render/axes.h"
#include "render/cover.h"
#include "render/raster.h"
#include "render/scene.h"
#include "tests/render_fixture.h"

// --- numbers on axes ----------------------------------------------------------------------------

// Ticks are 1, 2 or 5 times a power of ten, lie inside the range, and are as many as there is room
// for: never more, and at least a fifth (the largest gap between 1, 2, 5 is 2.5, and ends may fall
// short by one each). A wrong rounding of the step breaks it within a few of 2000 ranges.
static void test_ticks(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    for (int n = 0; n < 2000; n++) {
        double size = pow(10, g_rand_double_range(rand, -6, 7));
        double lo = g_rand_double_range(rand, -3, 3) * size, hi = lo + size;
        double count = g_rand_double_range(rand, 3, 20);
        gboolean whole = n % 3 == 0;
        LithoTicks t =
            n % 2 ? litho_ticks(lo, hi, count, whole) : litho_ticks(hi, lo, count, whole);
        double mantissa = t.step / pow(10, floor(log10(t.step) + 1e-9));
        g_assert_true(fabs(mantissa - 1) < 1e-6 || fabs(mantissa - 2) < 1e-6 ||
                      fabs(mantissa - 5) < 1e-6);
        g_assert_cmpfloat(t.n, <=, floor(count) + 1);
        if (whole)
            g_assert_cmpfloat(t.step, >=, 1);
        else
            g_assert_cmpfloat(t.n, >=, floor(count / 5));
        for (guint k = 0; k < t.n; k++) {
            g_assert_cmpfloat(t.value[k], >=, lo - 1e-9 * size);
            g_assert_cmpfloat(t.value[k], <=, hi + 1e-9 * size);
            g_assert_cmpfloat(fabs(t.value[k] / t.step - rint(t.value[k] / t.step)), <, 1e-6);
        }
    }
}

static void assert_number(double value, double step, const char *expected)
{
    char out[64];
    litho_format_number(out, sizeof out, value, step);
    g_assert_cmpstr(out, ==, expected);
}

// Numbers as people write them: thin spaces, a true minus, no "-0", only the decimals the step has.
static void test_numbers(void)
{
    assert_number(1240, 20, "1\u2009240");
    assert_number(6073411, 1, "6\u2009073\u2009411");
    assert_number(-0.5, 0.5, "\u22120.5");
    assert_number(-0.0, 0.5, "0");
    assert_number(-1e-12, 0.5, "0");
    assert_number(2, 0.02, "2.00");
    assert_number(1.5e8, 1e7, "1.5e8");
    assert_number(12345678, 1, "12\u2009345\u2009678"); // a coordinate in feet, a count
    assert_number(-20345678.4, 1, "\u221220\u2009345\u2009678");
    assert_number(12345678.25, 0.25, "12\u2009345\u2009678.2");
    assert_number(12340500, 500, "12\u2009340\u2009500"); // metres along an axis
    assert_number(1e16, 1, "1.00000000e16");
    assert_number(NAN, 1, "none");
    g_autofree char *a = litho_format_amplitude(0.0000183249), *b = litho_format_amplitude(18320.4);
    g_autofree char *c = litho_format_amplitude(0.9);
    g_assert_cmpstr(c, ==, "0.9");
    g_autofree char *d = litho_format_amplitude(0.03634), *e = litho_format_amplitude(-0.00123456);
    g_assert_cmpstr(d, ==, "0.03634");
    g_assert_cmpstr(e, ==, "\u22120.001235");
    g_assert_cmpstr(a, ==, "1.832e\u22125");
    g_assert_cmpstr(b, ==, "18\u2009320");

    LithoGrid grid = fixture_grid(200, 100, 500);
    g_autofree char *line = litho_slice_label(&grid, LITHO_XLINE, 10, LITHO_UNITS_AUTO);
    g_autofree char *time = litho_slice_label(&grid, LITHO_SAMPLE, 310, LITHO_UNITS_AUTO);
    // Metres: distances from the first line where the file tells them, line numbers where it does
    // not.
    LithoGrid metric = grid;
    metric.has_xy = TRUE;
    metric.xy_source = LITHO_FROM_FILE;
    metric.inline_step[0] = 0;
    metric.inline_step[1] = 12.5;
    LithoAxisText metres = litho_axis_text(&metric, LITHO_INLINE, LITHO_UNITS_METRES);
    g_assert_cmpstr(metres.unit, ==, "m");
    g_assert_cmpfloat_with_epsilon(litho_axis_shown(&metres, &metric.axis[0], 0), 0, 1e-9);
    g_assert_cmpfloat_with_epsilon(litho_axis_shown(&metres, &metric.axis[0], 10), 125, 1e-9);
    g_assert_cmpfloat_with_epsilon(litho_axis_shown_at(&metres, &metric.axis[0], 125), 10, 1e-9);
    metric.xy_source = LITHO_FROM_ASSUMED;
    g_assert_true(litho_axis_text(&metric, LITHO_INLINE, LITHO_UNITS_METRES).whole);
    g_autofree char *seconds = litho_slice_label(&grid, LITHO_SAMPLE, 310, LITHO_UNITS_S);
    g_assert_cmpstr(line, ==, "crossline 2025");
    g_assert_cmpstr(time, ==, "time 1\u2009240\u2009ms");
    g_assert_cmpstr(seconds, ==, "time 1.240\u2009s");

    // Samples at 12.5 m and at 0.25 ms are told as they are.
    LithoGrid deep = litho_grid_new(10, 10, 500), fine = litho_grid_new(10, 10, 500);
    deep.is_depth = TRUE;
    deep.axis[LITHO_SAMPLE].step = 12.5;
    fine.axis[LITHO_SAMPLE].step = 0.00025;
    g_autofree char *half = litho_slice_label(&deep, LITHO_SAMPLE, 3, LITHO_UNITS_AUTO);
    g_autofree char *whole = litho_slice_label(&deep, LITHO_SAMPLE, 4, LITHO_UNITS_AUTO);
    g_autofree char *quarter = litho_slice_label(&fine, LITHO_SAMPLE, 3, LITHO_UNITS_AUTO);
    g_assert_cmpstr(half, ==, "depth 37.5\u2009m");
    g_assert_cmpstr(whole, ==, "depth 50\u2009m");
    g_assert_cmpstr(quarter, ==, "time 0.75\u2009ms");

    // A line has no number, unless it was cut from a survey.
    LithoGrid alone = litho_grid_new(1, 100, 500), cut = fixture_grid(1, 100, 500);
    g_autofree char *of_alone = litho_slice_label(&alone, LITHO_INLINE, 0, LITHO_UNITS_AUTO);
    g_autofree char *of_cut = litho_slice_label(&cut, LITHO_INLINE, 0, LITHO_UNITS_AUTO);
    g_autofree char *crossing = litho_slice_label(&alone, LITHO_XLINE, 0, LITHO_UNITS_AUTO);
    g_assert_cmpstr(of_alone, ==, "line");
    g_autofree char *numbered = g_strdup_printf("line %.0f", cut.axis[LITHO_INLINE].first);
    g_assert_cmpstr(of_cut, ==, numbered);
    g_assert_cmpstr(crossing, ==, "trace 1");
}

// --- colour maps --------------------------------------------------------------------------------

static double luminance(const guint8 c[4])
{
    double y = 0;
    static const double weight[3] = {0.2126, 0.7152, 0.0722};
    for (int k = 0; k < 3; k++) {
        double s = c[k] / 255.0;
        y += weight[k] * (s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4));
    }
    return y;
}

// Brightness never turns back within a branch (a map that does shows events that are not there),
// zero is neutral in the maps built around white, and no map has a visible step: neighbouring
// entries differ by 9 of 255 at most (saturated ramps reach 8; a copied wrong anchor makes 20).
static void test_colormaps(void)
{
    for (const LithoColormap *const *m = litho_colormaps(); *m; m++) {
        const LithoColormap *map = *m;
        g_assert_true(litho_colormap_find(map->name) == map);
        int turns = 0, direction = 0;
        for (int k = 1; k < LITHO_COLORMAP_SIZE; k++) {
            double d = luminance(map->rgba[k]) - luminance(map->rgba[k - 1]);
            int sign = d > 1e-9 ? 1 : d < -1e-9 ? -1 : direction;
            // One unit of rounding may dip by itself.
            if (sign != direction && direction != 0 && fabs(d) > 0.004)
                turns++;
            direction = fabs(d) > 0.004 || direction == 0 ? sign : direction;
            for (int c = 0; c < 3; c++)
                g_assert_cmpint(abs(map->rgba[k][c] - map->rgba[k - 1][c]), <=, 9);
        }
        g_assert_cmpint(turns, <=, map->diverging ? 1 : 0);
    }
    double zero[3];
    litho_colormap_at(litho_colormap_default(), 0.5, zero);
    g_assert_cmpfloat(MIN(zero[0], MIN(zero[1], zero[2])), >, 0.96);
    g_assert_cmpfloat(MAX(zero[0], MAX(zero[1], zero[2])) - MIN(zero[0], MIN(zero[1], zero[2])), <,
                      0.02);
    const LithoColormap *map = litho_colormap_default();
    g_assert_cmpint(map->rgba[10][2], >, map->rgba[10][0]);   // negative: blue
    g_assert_cmpint(map->rgba[245][0], >, map->rgba[245][2]); // positive: red
}

static LithoColormap *load_text(const char *text, GError **error)
{
    g_autofree char *path = NULL;
    int fd = g_file_open_tmp("litho-XXXXXX.csv", &path, NULL);
    g_close(fd, NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    LithoColormap *map = litho_colormap_load(path, error);
    g_unlink(path);
    return map;
}

// Property: one map in 0..1 and in 0..255, with header, comments and other separators, is one map;
// damage is named with its line.
static void test_colormap_files(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree LithoColormap *a = load_text("r,g,b\n0,0,255\n255,255,255\n255,0,0\n", &error);
    g_assert_no_error(error);
    g_autofree LithoColormap *b = load_text("# mine\n0 0 1\n1;1;1 # white\n\n1,0,0\n", &error);
    g_assert_no_error(error);
    g_assert_cmpmem(a->rgba, sizeof a->rgba, b->rgba, sizeof b->rgba);
    g_assert_true(a->diverging);
    g_assert_cmpint(a->rgba[64][2], ==, 255);
    g_assert_null(load_text("0,0,0\n1,2\n", &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT);
    g_assert_nonnull(strstr(error->message, "line 2"));
    g_clear_error(&error);
    g_assert_null(load_text("300,0,0\n0,0,0\n", &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT);
    g_clear_error(&error);
    g_assert_null(load_text("0,0,0\n", &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT);
    g_clear_error(&error);
    // Programs of other systems write it with a mark, ends of lines, opacities, decimal commas,
    // names.
    static const char *const foreign[] = {"\xef\xbb\xbf"
                                          "0,0,255\r\n255,255,255\r\n255,0,0\r\n",
                                          "0,0;0,0;1,0\r1;1;1\r1,0;0;0,0\r",
                                          "0,0,1,1\n1,1,1,1\n1,0,0,1\n",
                                          "0 0 255 Infrared\n255 255 255 100%\n255 0 0 red\n"};
    for (guint k = 0; k < G_N_ELEMENTS(foreign); k++) {
        g_autofree LithoColormap *map = load_text(foreign[k], &error);
        g_assert_no_error(error);
        g_assert_cmpmem(a->rgba, sizeof a->rgba, map->rgba, sizeof map->rgba);
    }
    // Positions before the colours are no colours; lines are counted as an editor counts them.
    static const char *const odd[] = {"# x r g b\r\n0.5 0 0 0.3\r\n1 1 0 0\r\n",
                                      "0 0 1\r\n1 2\r\n"};
    for (guint k = 0; k < G_N_ELEMENTS(odd); k++) {
        g_assert_null(load_text(odd[k], &error));
        g_assert_nonnull(strstr(error->message, "line 2: three numbers"));
        g_clear_error(&error);
    }
}

// --- pixels and samples -------------------------------------------------------------------------

// Orientation: time downwards, first inline (crossline) left, on maps inlines upwards. Pixels and
// indices are inverse to each other; the point under the mouse stays when zooming, also at limits.
static void test_mapping(void)
{
    LithoGrid grid = fixture_grid(40, 30, 100);
    LithoRect rect = {10, 20, 300, 200};
    double top_left[3], bottom_right[3];
    for (int axis = 0; axis < 3; axis++) {
        LithoSliceView view = litho_slice_view(&grid, axis, 5);
        view.keep_aspect = FALSE;
        LithoSliceMap map = litho_slice_map(&grid, &view, rect);
        litho_slice_map_to_index(&map, rect.x, rect.y, top_left);
        litho_slice_map_to_index(&map, rect.x + rect.w, rect.y + rect.h, bottom_right);
        g_assert_cmpfloat(top_left[axis], ==, 5);
        if (axis != LITHO_SAMPLE) {
            int across = axis == LITHO_INLINE ? LITHO_XLINE : LITHO_INLINE;
            g_assert_cmpfloat(top_left[across], ==, -0.5);
            g_assert_cmpfloat(top_left[LITHO_SAMPLE], ==, -0.5);
            g_assert_cmpfloat_with_epsilon(bottom_right[LITHO_SAMPLE], 99.5, 1e-9);
        } else {
            g_assert_cmpfloat(top_left[LITHO_XLINE], ==, -0.5);
            g_assert_cmpfloat_with_epsilon(top_left[LITHO_INLINE], 39.5, 1e-9);
            g_assert_cmpfloat_with_epsilon(bottom_right[LITHO_INLINE], -0.5, 1e-9);
        }
    }
    g_autoptr(GRand) rand = g_rand_new_with_seed(3);
    for (int n = 0; n < 300; n++) {
        LithoSliceView view = litho_slice_view(&grid, n % 3, 3);
        for (int step = 0; step < 5; step++) {
            // Inside the survey: zooming there never shifts the window to keep its middle inside.
            double x = rect.x + rect.w * g_rand_double_range(rand, 0.35, 0.65);
            double y = rect.y + rect.h * g_rand_double_range(rand, 0.35, 0.65), before[3], after[3];
            LithoSliceMap map = litho_slice_map(&grid, &view, rect);
            litho_slice_map_to_index(&map, x, y, before);
            litho_slice_zoom(&view, &grid, rect, x, y, exp(g_rand_double_range(rand, 0, 1.2)), TRUE,
                             TRUE);
            map = litho_slice_map(&grid, &view, rect);
            litho_slice_map_to_index(&map, x, y, after);
            double px, py;
            litho_slice_map_to_pixel(&map, before, &px, &py);
            g_assert_cmpfloat_with_epsilon(px, x, 1e-6);
            g_assert_cmpfloat_with_epsilon(py, y, 1e-6);
        }
    }
    // Equal metres: 30 crosslines of 25 m over 40 inlines of 25 m.
    LithoSliceView map_view = litho_slice_view(&grid, LITHO_SAMPLE, 0);
    LithoSliceMap map = litho_slice_map(&grid, &map_view, rect);
    g_assert_cmpfloat_with_epsilon((map.right - map.left) / rect.w, (map.top - map.bottom) / rect.h,
                                   1e-9);
}

// Property: the map of a few lines takes two fifths of its view, with one stretch at every zoom; a
// survey that is not thin keeps its shape.
static void test_thin_map(void)
{
    const LithoRect rect = {0, 0, 300, 200};
    LithoGrid grid = fixture_grid(10, 100, 50);
    LithoSliceView view = litho_slice_view(&grid, LITHO_SAMPLE, 0);
    LithoSliceMap map = litho_slice_map(&grid, &view, rect);
    g_assert_cmpfloat_with_epsilon(10 / (map.top - map.bottom), 0.4, 1e-9);
    g_assert_cmpfloat_with_epsilon(map.right - map.left, 100, 1e-9);
    const double stretch = (map.right - map.left) / (map.top - map.bottom);
    litho_slice_zoom(&view, &grid, rect, 150, 100, 1.7, TRUE, TRUE);
    map = litho_slice_map(&grid, &view, rect);
    g_assert_cmpfloat_with_epsilon((map.right - map.left) / (map.top - map.bottom), stretch, 1e-9);
    grid = fixture_grid(100, 10, 50);
    view = litho_slice_view(&grid, LITHO_SAMPLE, 0);
    map = litho_slice_map(&grid, &view, rect);
    g_assert_cmpfloat_with_epsilon(10 / (map.right - map.left), 0.4, 1e-9);
}

// A list of boxes against a grid of flags, through random additions and subtractions. With few
// boxes nothing may be forgotten; never may a box be claimed that was not added.
static void test_cover(void)
{
    enum { N = 7 };
    g_autoptr(GRand) rand = g_rand_new_with_seed(11);
    for (int round = 0; round < 200; round++) {
        LithoCover cover = {0};
        gboolean flag[N][N][N] = {{{0}}};
        gboolean full = FALSE;
        for (int step = 0; step < 8; step++) {
            LithoBox b;
            for (int k = 0; k < 3; k++) {
                b.lo[k] = g_rand_int_range(rand, 0, N);
                b.hi[k] = g_rand_int_range(rand, (gint32)b.lo[k] + 1, N + 1);
            }
            gboolean add = g_rand_int_range(rand, 0, 3) > 0;
            add ? litho_cover_add(&cover, b) : litho_cover_subtract(&cover, b);
            full |= cover.n == LITHO_COVER_MAX;
            for (gint64 i = b.lo[0]; i < b.hi[0]; i++)
                for (gint64 j = b.lo[1]; j < b.hi[1]; j++)
                    for (gint64 k = b.lo[2]; k < b.hi[2]; k++)
                        flag[i][j][k] = add;
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++)
                    for (int k = 0; k < N; k++) {
                        LithoBox one = {{i, j, k}, {i + 1, j + 1, k + 1}};
                        gboolean there = litho_cover_contains(&cover, one);
                        g_assert_true(flag[i][j][k] || !there);
                        g_assert_true(full || there == flag[i][j][k]);
                    }
        }
    }
    LithoCover cover = {0}; // slabs arriving one by one become one box
    for (gint64 i = 0; i < 500; i++)
        litho_cover_add(&cover, (LithoBox){{i, 0, 0}, {i + 1, 9, 9}});
    g_assert_cmpuint(cover.n, ==, 1);
}

// --- 3-D ----------------------------------------------------------------------------------------

// Property: a pick finds the slice drawn at the pixel: points of the slices are projected and
// picked again, from many directions. The nearest slice wins.
static void test_pick(void)
{
    LithoGrid grid = fixture_grid(40, 30, 100);
    LithoRect rect = {5, 7, 500, 400};
    g_autoptr(GRand) rand = g_rand_new_with_seed(5);
    int same = 0, nearer = 0;
    for (int n = 0; n < 600; n++) {
        LithoSceneView view = litho_scene_view(&grid);
        litho_camera_orbit(&view.camera, g_rand_double_range(rand, -500, 500),
                           g_rand_double_range(rand, -150, 60));
        int axis = n % 3;
        double at[3], matrix[16], x, y, depth, hit_depth, hx, hy;
        for (int k = 0; k < 3; k++)
            at[k] = k == axis ? (double)view.index[k]
                              : g_rand_double_range(rand, 0, (double)grid.axis[k].n - 1);
        litho_scene_matrix(&grid, &view, rect, matrix);
        g_assert_true(litho_scene_project(matrix, rect, at, &x, &y, &depth));
        LithoScenePick pick;
        if (!litho_scene_pick(&grid, &view, rect, x, y, &pick)) {
            g_assert_false(litho_rect_contains(rect, x, y));
            continue;
        }
        g_assert_true(litho_scene_project(matrix, rect, pick.index, &hx, &hy, &hit_depth));
        g_assert_cmpfloat_with_epsilon(hx, x, 1e-4);
        g_assert_cmpfloat_with_epsilon(hy, y, 1e-4);
        g_assert_cmpfloat(hit_depth, <=, depth + 1e-6);
        if (fabs(hit_depth - depth) > 1e-6) {
            nearer++;
            continue;
        }
        same++;
        for (int k = 0; k < 3; k++)
            g_assert_cmpfloat_with_epsilon(pick.index[k], at[k], 1e-3);
    }
    g_test_message("%d picked themselves, %d were hidden behind another slice", same, nearer);
    g_assert_cmpint(same, >, 200);
    g_assert_cmpint(nearer, >, 20);
}

// Time goes down, north is up seen from the top, and the first view shows the whole box.
static void test_scene_orientation(void)
{
    LithoGrid grid = fixture_grid(40, 30, 100);
    LithoRect rect = {0, 0, 400, 300};
    LithoSceneView view = litho_scene_view(&grid);
    double m[16], x0, y0, x1, y1;
    litho_scene_matrix(&grid, &view, rect, m);
    litho_scene_project(m, rect, (double[]){20, 15, 0}, &x0, &y0, NULL);
    litho_scene_project(m, rect, (double[]){20, 15, 99}, &x1, &y1, NULL);
    g_assert_cmpfloat(y1, >, y0 + 50);
    for (int c = 0; c < 8; c++) {
        double corner[3];
        for (int k = 0; k < 3; k++)
            corner[k] = c >> k & 1 ? (double)grid.axis[k].n : -1;
        g_assert_true(litho_scene_project(m, rect, corner, &x0, &y0, NULL));
        g_assert_true(litho_rect_contains(rect, x0, y0));
    }
    litho_camera_look(&view.camera, 't');
    litho_scene_matrix(&grid, &view, rect, m); // inlines grow to the north here
    litho_scene_project(m, rect, (double[]){0, 15, 0}, &x0, &y0, NULL);
    litho_scene_project(m, rect, (double[]){39, 15, 0}, &x1, &y1, NULL);
    g_assert_cmpfloat(y1, <, y0 - 50);
    g_assert_cmpfloat_with_epsilon(x0, x1, 1);
    // Dragging along the picture of the normal moves the slice that way.
    view = litho_scene_view(&grid);
    g_assert_cmpfloat(litho_scene_drag(&grid, &view, rect, LITHO_SAMPLE, 200, 150, 0, 10), >, 1);
}

// Property: no number or title around the box lies on another, whatever the camera, the size of the
// letters and the shape of the picture, and none is pushed out of it; the depth has its title where
// its edge has room for one.
static void test_scene_labels(void)
{
    LithoGrid grid = fixture_grid(60, 80, 151);
    grid.axis[LITHO_SAMPLE] = (LithoAxis){.n = 151, .step = 10, .unit = "m"};
    grid.is_depth = TRUE;
    static const double sizes[][2] = {{240, 200}, {300, 420}, {520, 360}, {900, 700}};
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, 8, 8);
    cairo_t *cr = cairo_create(surface);
    guint titles = 0, pictures = 0;
    for (guint s = 0; s < G_N_ELEMENTS(sizes); s++)
        for (double font = 11; font < 26; font += 4)
            for (double yaw = 0; yaw < 360; yaw += 15)
                for (double pitch = -30; pitch <= 60; pitch += 30) {
                    const LithoRect rect = {10, 20, sizes[s][0], sizes[s][1]};
                    const LithoAxesStyle style = {.ink = {1, 1, 1, 1}, .font_size = font};
                    LithoSceneView view = litho_scene_view(&grid);
                    view.text = font / 11;
                    view.camera.yaw = yaw;
                    view.camera.pitch = pitch;
                    litho_scene_fit(&grid, &view);
                    LithoSceneLabels labels;
                    litho_scene_place_labels(cr, &style, &grid, &view, rect, NULL, &labels);
                    pictures++;
                    for (guint k = 0; k < labels.n; k++) {
                        const LithoSceneLabel *a = &labels.label[k];
                        titles += g_str_has_prefix(a->text, "Depth");
                        g_assert_true(litho_rect_contains(rect, a->x, a->y));
                        for (guint j = 0; j < k; j++)
                            if (litho_scene_labels_meet(a, &labels.label[j]))
                                g_error("%s lies on %s: %g x %g, font %g, yaw %g, pitch %g",
                                        a->text, labels.label[j].text, rect.w, rect.h, font, yaw,
                                        pitch);
                    }
                }
    g_test_message("%u titles of the depth in %u pictures", titles, pictures);
    g_assert_cmpuint(titles, >, pictures / 2);
    // A rectangle that is turned meets no more than it covers.
    const LithoSceneLabel turned = {.w = 100, .h = 10, .angle = G_PI / 4};
    const LithoSceneLabel corner = {.x = 30, .y = -30, .w = 20, .h = 20};
    const LithoSceneLabel along = {.x = 30, .y = 30, .w = 20, .h = 20};
    g_assert_false(litho_scene_labels_meet(&turned, &corner));
    g_assert_true(litho_scene_labels_meet(&turned, &along));
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
}

// --- the rasteriser -----------------------------------------------------------------------------

static cairo_surface_t *raster(const LithoCube *in, const LithoCube *out, LithoSliceView view,
                               LithoLook look, LithoShow show, double w, double h)
{
    g_autoptr(GError) error = NULL;
    LithoRaster r = {in, out, &in->grid, view, look, show, 1};
    cairo_surface_t *surface = litho_raster_slice(&r, w, h, &error);
    g_assert_no_error(error);
    return surface;
}

// A slice shows the samples it should: every cell 8 pixels large, its middle in the colour of the
// sample's own number. A transposed or mirrored axis, or an offset by one, breaks it.
static void test_samples(void)
{
    g_autoptr(LithoCube) cube = fixture_numbered(7, 9, 11);
    LithoLook look = litho_look_default();
    look.lo = 0;
    look.hi = 7 * 9 * 11;
    for (int axis = 0; axis < 3; axis++)
        for (int nearest = 0; nearest < 2; nearest++) {
            LithoSliceView view = litho_slice_view(&cube->grid, axis, 2 + axis);
            view.keep_aspect = FALSE;
            look.nearest = nearest;
            LithoSliceMap map = litho_slice_map(&cube->grid, &view, (LithoRect){0, 0, 1, 1});
            int w = (int)cube->grid.axis[map.h_axis].n * 9,
                h = (int)cube->grid.axis[map.v_axis].n * 9;
            map = litho_slice_map(&cube->grid, &view, (LithoRect){0, 0, w, h});
            cairo_surface_t *s = raster(cube, NULL, view, look, LITHO_SHOW_INPUT, w, h);
            for (int y = 4; y < h; y += 9)
                for (int x = 4; x < w; x += 9) {
                    gint64 c[3];
                    g_assert_true(litho_slice_map_pick(&map, &cube->grid, x + 0.5, y + 0.5, c));
                    double value = litho_cube_trace(cube, c[0], c[1])[c[2]];
                    g_assert_cmpint(
                        fixture_distance(fixture_pixel(s, x, y), fixture_color(&look, 0, value)),
                        <=, 1);
                }
            cairo_surface_destroy(s);
        }
}

// Zero is the middle colour, amplitudes beyond the clip take the end colours, gain scales.
static void test_colors(void)
{
    LithoGrid grid = fixture_grid(1, 5, 1);
    g_autoptr(LithoCube) cube = litho_cube_new(&grid, NULL);
    const float values[5] = {0, 100, -100, 0.25f, INFINITY};
    memcpy(cube->samples, values, sizeof values);
    LithoLook look = litho_look_default();
    look.nearest = TRUE;
    litho_look_set_clip(&look, 0.5);
    look.gain = 2; // so 0.25 reaches the end of the map
    cairo_surface_t *s =
        raster(cube, NULL, litho_slice_view(&grid, LITHO_INLINE, 0), look, LITHO_SHOW_INPUT, 50, 4);
    double middle[3];
    litho_colormap_at(look.map, 0.5, middle);
    g_assert_cmpint(fixture_pixel(s, 5, 2) >> 16, ==, (guint32)lrint(middle[0] * 255));
    const guint8(*map)[4] = look.map->rgba;
    for (int k = 0; k < 2; k++) {
        const guint8 *c = map[k ? 0 : 255];
        g_assert_cmpuint(fixture_pixel(s, 15 + 10 * k, 2), ==,
                         (guint32)c[0] << 16 | (guint32)c[1] << 8 | c[2]);
    }
    g_assert_cmpuint(fixture_pixel(s, 35, 2), ==, fixture_pixel(s, 15, 2));
    g_assert_true(fixture_is_hatch(fixture_pixel(s, 45, 2))); // infinity is no amplitude
    cairo_surface_destroy(s);
}

// The hatch lies exactly on the cells of missing traces, interpolated or not, and neighbours keep
// their own colour: a missing trace's samples (NaN here) enter no average.
static void test_missing(void)
{
    g_autoptr(LithoCube) cube = fixture_events(6, 10, 12, 0);
    for (gint64 k = 0; k < 12; k++)
        litho_cube_trace(cube, 2, 4)[k] = NAN;
    fixture_kill(cube, 2, 4);
    fixture_kill(cube, 3, 7);
    LithoLook look = litho_look_default();
    for (int nearest = 0; nearest < 2; nearest++) {
        look.nearest = nearest;
        cairo_surface_t *s = raster(cube, NULL, litho_slice_view(&cube->grid, LITHO_INLINE, 2),
                                    look, LITHO_SHOW_INPUT, 100, 60);
        for (int y = 0; y < 60; y++)
            for (int x = 0; x < 100; x++)
                g_assert_true(fixture_is_hatch(fixture_pixel(s, x, y)) == (x / 10 == 4));
        cairo_surface_destroy(s);
    }
}

// SPLIT shows the input left of the divider and the output right of it; REMOVED their difference
// with its own gain; where either is missing, removed is hatched.
static void test_split_and_removed(void)
{
    g_autoptr(LithoCube) in = fixture_events(6, 10, 12, 0.2), out = fixture_events(6, 10, 12, 0);
    fixture_kill(in, 2, 1);
    LithoLook look = litho_look_default();
    look.split = 0.37;
    look.removed_gain = 4;
    LithoSliceView view = litho_slice_view(&in->grid, LITHO_INLINE, 2);
    cairo_surface_t *a = raster(in, out, view, look, LITHO_SHOW_INPUT, 100, 60);
    cairo_surface_t *b = raster(in, out, view, look, LITHO_SHOW_OUTPUT, 100, 60);
    cairo_surface_t *split = raster(in, out, view, look, LITHO_SHOW_SPLIT, 100, 60);
    look.nearest = TRUE;
    cairo_surface_t *removed = raster(in, out, view, look, LITHO_SHOW_REMOVED, 100, 60);
    g_assert_cmpfloat(fixture_differing(a, b, NULL, 4), >, 0.5); // or the test says nothing
    for (int y = 0; y < 60; y++)
        for (int x = 0; x < 100; x++) {
            g_assert_cmpuint(fixture_pixel(split, x, y), ==, fixture_pixel(x < 37 ? a : b, x, y));
            gint64 j = x / 10, k = y / 5;
            double d = litho_cube_trace(in, 2, j)[k] - litho_cube_trace(out, 2, j)[k];
            if (j == 1)
                g_assert_true(fixture_is_hatch(fixture_pixel(removed, x, y)));
            else
                g_assert_cmpint(fixture_distance(fixture_pixel(removed, x, y),
                                                 fixture_color(&look, LITHO_SHOW_REMOVED, d)),
                                <=, 1);
        }
    cairo_surface_destroy(a);
    cairo_surface_destroy(b);
    cairo_surface_destroy(split);
    cairo_surface_destroy(removed);
}

// Wiggles thin themselves: between 6 px and 15 px apart at every zoom. Constant traces draw
// straight lines, so the number of dark runs along a row is the number of wiggles.
static void test_wiggles(void)
{
    LithoGrid grid = fixture_grid(1, 400, 50);
    g_autoptr(LithoCube) cube = litho_cube_new(&grid, NULL);
    LithoLook look = litho_look_default();
    look.wiggle = LITHO_WIGGLE_LINE;
    look.no_density = TRUE;
    static const int shown[] = {400, 200, 90, 33, 10};
    for (guint n = 0; n < G_N_ELEMENTS(shown); n++) {
        LithoSliceView view = litho_slice_view(&grid, LITHO_INLINE, 0);
        view.hi[LITHO_XLINE] = shown[n] - 0.5;
        cairo_surface_t *s = raster(cube, NULL, view, look, LITHO_SHOW_INPUT, 600, 40);
        int lines = 0;
        for (int x = 1; x < 600; x++)
            lines +=
                (fixture_pixel(s, x, 20) & 255) < 150 && (fixture_pixel(s, x - 1, 20) & 255) >= 150;
        int step = litho_wiggle_step(600.0 / shown[n]);
        g_test_message("%d traces in 600 px: %d wiggles, every %d", shown[n], lines, step);
        g_assert_cmpint(lines, >=, (shown[n] - 1) / step); // the first line may lie on the edge
        g_assert_cmpint(lines, <=, (shown[n] - 1) / step + 1);
        g_assert_cmpfloat(600.0 / shown[n] * step, >=, 6);
        cairo_surface_destroy(s);
    }
    g_assert_cmpint(litho_wiggle_step(6), ==, 1);
    g_assert_cmpint(litho_wiggle_step(5.9), ==, 2);
    g_assert_cmpint(litho_wiggle_step(0.1), ==, 100);
}

// A positive amplitude deflects to the right and is filled, a negative one to the left and is not.
static void test_wiggle_fill(void)
{
    LithoGrid grid = fixture_grid(1, 3, 40);
    g_autoptr(LithoCube) cube = litho_cube_new(&grid, NULL);
    for (int k = 0; k < 40; k++)
        litho_cube_trace(cube, 0, 1)[k] = k < 20 ? 0.5f : -0.5f;
    LithoLook look = litho_look_default();
    look.wiggle = LITHO_WIGGLE_FILL;
    look.no_density = TRUE;
    cairo_surface_t *s = raster(cube, NULL, litho_slice_view(&grid, LITHO_INLINE, 0), look,
                                LITHO_SHOW_INPUT, 300, 200);  // base lines at 50, 150, 250
    g_assert_cmpuint(fixture_pixel(s, 175, 50) & 255, <, 80); // inside the fill
    g_assert_cmpuint(fixture_pixel(s, 199, 50) & 255, <, 80); // the curve, half a spacing right
    g_assert_cmpuint(fixture_pixel(s, 215, 50) & 255, >, 200);
    g_assert_cmpuint(fixture_pixel(s, 125, 150) & 255, >, 200); // negative: not filled
    g_assert_cmpuint(fixture_pixel(s, 100, 150) & 255, <, 150);
    cairo_surface_destroy(s);
}

// A cube that holds one part shows it and background elsewhere.
static void test_part(void)
{
    g_autoptr(LithoCube) whole = fixture_events(6, 10, 12, 0);
    LithoBox box = {{0, 3, 2}, {6, 8, 9}};
    g_autoptr(LithoCube) part = litho_cube_copy_box(whole, box, NULL);
    LithoLook look = litho_look_default();
    LithoSliceView view = litho_slice_view(&whole->grid, LITHO_INLINE, 2);
    cairo_surface_t *s = raster(part, NULL, view, look, LITHO_SHOW_INPUT, 100, 120);
    guint32 ground = 0;
    for (int k = 0; k < 3; k++)
        ground = ground << 8 | (guint32)lrint(look.background[k] * 255);
    for (int y = 0; y < 120; y++)
        for (int x = 0; x < 100; x++) {
            gboolean there = x / 10 >= 3 && x / 10 < 8 && y / 10 >= 2 && y / 10 < 9;
            g_assert_true((fixture_pixel(s, x, y) == ground) == !there);
        }
    cairo_surface_destroy(s);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/render/ticks", test_ticks);
    g_test_add_func("/render/numbers", test_numbers);
    g_test_add_func("/render/colormaps", test_colormaps);
    g_test_add_func("/render/colormap-files", test_colormap_files);
    g_test_add_func("/render/mapping", test_mapping);
    g_test_add_func("/render/thin-map", test_thin_map);
    g_test_add_func("/render/cover", test_cover);
    g_test_add_func("/render/pick", test_pick);
    g_test_add_func("/render/scene-orientation", test_scene_orientation);
    g_test_add_func("/render/samples", test_samples);
    g_test_add_func("/render/colors", test_colors);
    g_test_add_func("/render/scene-labels", test_scene_labels);
    g_test_add_func("/render/missing", test_missing);
    g_test_add_func("/render/split-and-removed", test_split_and_removed);
    g_test_add_func("/render/wiggles", test_wiggles);
    g_test_add_func("/render/wiggle-fill", test_wiggle_fill);
    g_test_add_func("/render/part", test_part);
    return g_test_run();
}
