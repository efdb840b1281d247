// SPDX-License-Identifier: GPL-3.0-or-later
//
// Text around pictures: the unit in the corner of a small panel, the compass of the 3-D scene,
// names of colour maps.
#include <glib/gstdio.h>
#include <string.h>

#include "render/axes.h"
#include "render/colormap.h"
#include "render/scene.h"

// --- axes ---------------------------------------------------------------------------------------

// Columns without ink in the line of the numbers on top, at most, from the first ink to `before`.
static int widest_gap(cairo_surface_t *picture, const LithoSliceMap *map, double size, int before)
{
    const guint8 *data = cairo_image_surface_get_data(picture);
    const int stride = cairo_image_surface_get_stride(picture);
    int gap = 0, widest = 0;
    gboolean begun = FALSE;
    for (int x = 0; x < before; x++) {
        gboolean ink = FALSE;
        for (int y = (int)(map->rect.y - 5 - 1.3 * size); y < map->rect.y - 6; y++)
            ink = ink || data[y * stride + x] > 30;
        widest = ink && begun ? MAX(widest, gap) : widest;
        gap = ink ? 0 : gap + 1;
        begun = begun || ink;
    }
    return MAX(widest, gap);
}

static gboolean has_ink_at_left(cairo_surface_t *picture)
{
    const guint8 *data = cairo_image_surface_get_data(picture);
    gboolean ink = FALSE;
    for (int y = 0; y < cairo_image_surface_get_height(picture); y++)
        ink = ink || data[y * cairo_image_surface_get_stride(picture)] > 30;
    return ink;
}

// Axes of an inline in a small panel; cairo_surface_destroy().
static cairo_surface_t *draw_small(const LithoGrid *grid, const LithoSliceView *view,
                                   LithoSliceMap *map)
{
    const LithoAxesStyle style = {.font_size = 11, .compact = TRUE};
    const LithoRect area = {0, 0, 330, 300};
    const LithoFrame frame = litho_axes_layout(&style, grid, LITHO_INLINE, area, FALSE);
    *map = litho_slice_map(grid, view, frame.data);
    cairo_surface_t *picture = cairo_image_surface_create(CAIRO_FORMAT_A8, 330, 300);
    cairo_t *cr = cairo_create(picture);
    litho_axes_draw(cr, &style, grid, map);
    cairo_destroy(cr);
    cairo_surface_flush(picture);
    return picture;
}

// Property: numbers of the upright axis are whole, whatever few samples it has: those of a cube of
// four samples of 1 ms are "-0.5", "1.5".
static void test_few_samples(void)
{
    static const int samples[] = {1, 2, 4, 9, 15, 40};
    for (guint k = 0; k < G_N_ELEMENTS(samples); k++)
        for (int ms = 1; ms <= 4; ms *= 2) {
            LithoGrid grid = litho_grid_new(2, 3, samples[k]);
            grid.axis[LITHO_SAMPLE].step = 1e-3 * ms;
            const LithoSliceView view = litho_slice_view(&grid, LITHO_INLINE, 0);
            LithoSliceMap map;
            cairo_surface_t *picture = draw_small(&grid, &view, &map);
            g_test_message("%d samples of %d ms", samples[k], ms);
            g_assert_false(has_ink_at_left(picture));
            cairo_surface_destroy(picture);
        }
}

// Property: in a small panel the unit of the upright axis, in the corner, and the first number on
// top stand apart, however long the line numbers are and wherever the window begins. Letters of
// one word are 2 columns apart at most.
static void test_unit(void)
{
    for (int digits = 0; digits < 2; digits++)
        for (int begin = 0; begin < 5; begin++) {
            LithoGrid grid = litho_grid_new(20, 60, 250);
            grid.axis[LITHO_XLINE].first = digits ? 200000 : 10;
            LithoSliceView view = litho_slice_view(&grid, LITHO_INLINE, 3);
            view.lo[LITHO_XLINE] = 9 + 0.25 * begin;
            view.hi[LITHO_XLINE] = 40;
            LithoSliceMap map;
            cairo_surface_t *picture = draw_small(&grid, &view, &map);
            // Up to the second number: the room before it is wide in any case.
            const int gap = widest_gap(picture, &map, 11, (int)map.rect.x + 10);
            g_test_message("%d digits from %g: %d columns", digits ? 6 : 2, view.lo[LITHO_XLINE],
                           gap);
            g_assert_cmpint(gap, >=, 3);
            cairo_surface_destroy(picture);
        }
}

// Property: the compass of the 3-D scene stands beside labels and data: round all directions of a
// survey three times as long as wide, in a small panel.
static void test_compass(void)
{
    const LithoAxesStyle style = {.font_size = 11, .compact = TRUE};
    const LithoRect rect = {0, 0, 250, 290};
    cairo_surface_t *paper = cairo_image_surface_create(CAIRO_FORMAT_A8, 250, 290);
    cairo_t *cr = cairo_create(paper);
    LithoGrid grid = litho_grid_new(18, 52, 226);
    grid.xy_source = LITHO_FROM_FILE;
    grid.axis[LITHO_INLINE].first = 10087;
    grid.axis[LITHO_XLINE].first = 2148;
    guint over = 0;
    for (int yaw = 0; yaw < 360; yaw += 15) {
        LithoSceneView view = litho_scene_view(&grid);
        LithoSceneLabels labels;
        LithoScenePick pick;
        view.camera.yaw += yaw;
        litho_scene_fit(&grid, &view);
        litho_scene_place_labels(cr, &style, &grid, &view, rect, NULL, &labels);
        const LithoSceneLabel c = litho_scene_place_compass(&style, &grid, &view, rect, &labels);
        for (guint k = 0; k < labels.n; k++)
            g_assert_false(litho_scene_labels_meet(&labels.label[k], &c));
        gboolean on_data = FALSE;
        for (int i = 0; i <= 20; i++)
            for (int j = 0; j <= 20; j++)
                on_data = on_data || litho_scene_pick(&grid, &view, rect, c.x + c.w * (i - 10) / 20,
                                                      c.y + c.h * (j - 10) / 20, &pick);
        over += on_data;
        g_test_message("%d degrees: at %g, %g%s", yaw, c.x, c.y, on_data ? ", over data" : "");
    }
    g_assert_cmpuint(over, ==, 0);
    cairo_destroy(cr);
    cairo_surface_destroy(paper);
}

// --- colour maps --------------------------------------------------------------------------------

// Property: a map is called by its file, cut between letters where the name is long.
static void test_names(void)
{
    g_autofree char *folder = g_dir_make_tmp("litho-XXXXXX", NULL);
    g_autoptr(GString) name = g_string_new("x");
    for (int k = 0; k < 18; k++)
        g_string_append(name, "\xc3\xa4");
    g_string_append(name, ".csv");
    g_autofree char *path = g_build_filename(folder, name->str, NULL);
    g_assert_true(g_file_set_contents(path, "0,0,0\n1,1,1\n", -1, NULL));
    g_autofree LithoColormap *map = litho_colormap_load(path, NULL);
    g_assert_nonnull(map);
    g_test_message("%s", map->title);
    g_assert_true(g_utf8_validate(map->name, -1, NULL));
    g_assert_true(g_utf8_validate(map->title, -1, NULL));
    g_assert_cmpuint(strlen(map->name), ==, 31);
    g_assert_cmpuint(strlen(map->title), ==, 37);
    g_unlink(path);
    for (int bytes = 60; bytes < 66; bytes++) { // one of them ends within a letter
        g_autofree char *long_name = g_strnfill(bytes, 'a');
        g_autofree char *file = g_strdup_printf("%s/%s\xc3\xa4\xc3\xa4.csv", folder, long_name);
        g_assert_true(g_file_set_contents(file, "0,0,0\n1,1,1\n", -1, NULL));
        g_autofree LithoColormap *cut = litho_colormap_load(file, NULL);
        g_assert_nonnull(cut);
        g_assert_true(g_utf8_validate(cut->title, -1, NULL));
        g_assert_true(g_utf8_validate(cut->name, -1, NULL));
        g_unlink(file);
    }
    g_rmdir(folder);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/render-axes/few-samples", test_few_samples);
    g_test_add_func("/render-axes/unit", test_unit);
    g_test_add_func("/render-axes/compass", test_compass);
    g_test_add_func("/render-axes/names", test_names);
    return g_test_run();
}
