// SPDX-License-Identifier: GPL-3.0-or-later
//
// Pictures drawn with OpenGL against pictures drawn on the CPU, golden pictures, panels and scene.
#include <epoxy/gl.h>
#include <math.h>
#include <string.h>

#include "core/run.h"
#include "render/offscreen.h"
#include "render/picture.h"
#include "render/raster.h"
#include "tests/common.h"
#include "tests/render_gl.h"

enum { W = GL_WIDTH, H = GL_HEIGHT };

// --- OpenGL against the CPU ---------------------------------------------------------------------

// Both paths draw the same picture: every mode, axis, zoom and wiggle form. 2 of 255 is float32
// against double and 8-bit rounding; 0.2 % of pixels may fall on the other side of a cell border,
// where float32 rounds differently. A rule changed on one side only differs on whole cells.
static void test_like_cpu(void)
{
    if (gl_missing())
        return;
    g_autoptr(LithoCube) in = fixture_events(30, 40, 90, 0.3), out = fixture_events(30, 40, 90, 0);
    g_autoptr(GError) error = NULL;
    for (int n = 0; n < 40; n++)
        fixture_kill(in, (n * 7) % 30, (n * 11) % 40);
    litho_cube_trace(in, 12, 20)[30] = NAN;
    LithoVolume *a = gl_volume_with(in), *b = gl_volume_with(out);
    static const double windows[][4] = {{-0.5, 39.5, -0.5, 89.5},
                                        {3.2, 11.9, 20.3, 41.1},
                                        {-30, 70, -80, 170},
                                        {10.5, 39, 60, 130}};
    for (int axis = 0; axis < 3; axis++)
        for (guint w = 0; w < G_N_ELEMENTS(windows); w++)
            for (int mode = 0; mode < 8; mode++) {
                LithoSliceDraw d = gl_draw_of(a, b, &in->grid, axis, 12, (LithoShow)(mode % 4));
                d.view.lo[1] = d.view.lo[0] = windows[w][0];
                d.view.hi[1] = d.view.hi[0] = windows[w][1];
                d.view.lo[2] = windows[w][2];
                d.view.hi[2] = windows[w][3];
                d.look.nearest = mode >= 4 && w % 2;
                d.look.wiggle = mode >= 4 ? LITHO_WIGGLE_FILL : LITHO_WIGGLE_OFF;
                d.look.no_density = mode == 5;
                d.look.removed_gain = 2;
                d.look.reversed = w == 1;
                d.look.agc = w == 2 ? 30 : 0;
                d.look.time_power = w == 3 ? 1.5 : 0;
                d.look.split = 0; // the divider itself is not in the raster
                d.look.grid_lines = FALSE;
                cairo_surface_t *gl = gl_shoot(&d);
                LithoRaster r = {in, out, &in->grid, d.view, d.look, d.show, 1};
                cairo_surface_t *cpu = litho_raster_slice(&r, W, H, &error);
                g_assert_no_error(error);
                LithoRect inner = {6, 0, W - 6, H}; // right of the divider's halo
                double bad = fixture_differing(gl, cpu, &inner, 2);
                if (bad > 0.002)
                    g_test_message("axis %d window %u mode %d: %.3f %%", axis, w, mode, bad * 100);
                g_assert_cmpfloat(bad, <=, 0.002);
                cairo_surface_destroy(gl);
                cairo_surface_destroy(cpu);
            }
    litho_volume_free(a);
    litho_volume_free(b);
}

// The committed pictures of test-render.c, drawn by OpenGL: one truth for both.
static void test_goldens(void)
{
    if (gl_missing())
        return;
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) cube = fixture_events(30, 40, 60, 0),
                         clean = fixture_events(30, 40, 60, 0);
    fixture_kill(cube, 12, 9);
    fixture_kill(cube, 12, 10);
    const LithoRect data = {70, 60, 180, 150};
    for (int k = 0; k < 2; k++) {
        LithoPicture p;
        litho_picture_init(&p, cube, k ? NULL : clean);
        p.with = LITHO_DRAW_GL;
        p.width = 340;
        p.height = 230;
        p.style.font_size = 10;
        if (k == 0) {
            p.look.grid_lines = TRUE;
            p.clip_note = "99 %";
            litho_picture_add_slice(&p, LITHO_INLINE, 12, LITHO_SHOW_SPLIT);
        } else {
            p.look.wiggle = LITHO_WIGGLE_FILL;
            p.look.no_density = TRUE;
            litho_picture_add_slice(&p, LITHO_XLINE, 9, LITHO_SHOW_INPUT);
        }
        cairo_surface_t *s = litho_picture_draw(&p, &error);
        g_assert_no_error(error);
        if (!g_getenv("LITHO_GOLDEN_UPDATE"))
            fixture_golden(s, k ? "wiggles.png" : "section.png", &data, 1);
        cairo_surface_destroy(s);
    }
    LithoPicture p; // only OpenGL draws this one
    litho_picture_init(&p, cube, NULL);
    p.with = LITHO_DRAW_GL;
    p.width = 340;
    p.height = 250;
    p.style.font_size = 10;
    litho_picture_add_scene(&p, LITHO_SHOW_INPUT);
    cairo_surface_t *s = litho_picture_draw(&p, &error);
    g_assert_no_error(error);
    fixture_golden(s, "scene.png", &data, 1);
    cairo_surface_destroy(s);
}

// --- panels, scene ------------------------------------------------------------------------------

// SIDE is two panels of the same window; nothing is painted outside the rectangle; grid lines and
// cross-hair change a few per cent of the pixels and no more.
static void test_panels(void)
{
    if (gl_missing())
        return;
    g_autoptr(LithoCube) in = fixture_events(16, 20, 30, 0.5), out = fixture_events(16, 20, 30, 0);
    LithoVolume *a = gl_volume_with(in), *b = gl_volume_with(out);
    LithoSliceDraw d = gl_draw_of(a, b, &in->grid, LITHO_INLINE, 7, LITHO_SHOW_SIDE);
    d.rect = (LithoRect){20, 30, 206, 100};
    cairo_surface_t *side = gl_shoot(&d);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            if (x < 20 || x >= 226 || y < 30 || y >= 130 || (x >= 120 && x < 126))
                g_assert_cmphex(fixture_pixel(side, x, y), ==, 0x00ff00);
    d.show = LITHO_SHOW_OUTPUT;
    d.rect = (LithoRect){126, 30, 100, 100};
    cairo_surface_t *alone = gl_shoot(&d);
    g_assert_cmpfloat(fixture_differing(side, alone, &d.rect, 0), ==, 0);
    d.look.grid_lines = TRUE;
    d.has_cursor = TRUE;
    d.cursor[1] = 8;
    d.cursor[2] = 12;
    cairo_surface_t *marked = gl_shoot(&d);
    double share = fixture_differing(marked, alone, &d.rect, 4);
    g_assert_cmpfloat(share, >, 0.03);
    g_assert_cmpfloat(share, <, 0.25);
    cairo_surface_destroy(side);
    cairo_surface_destroy(alone);
    cairo_surface_destroy(marked);
    litho_volume_free(a);
    litho_volume_free(b);
}

// At the pixel where a sample projects, the scene shows that sample's colour (where picking says it
// is the nearest slice). Meshes are drawn where their vertices project.
static void test_scene(void)
{
    if (gl_missing())
        return;
    g_autoptr(LithoCube) cube = fixture_numbered(12, 10, 14);
    LithoVolume *volume = gl_volume_with(cube);
    LithoSceneDraw d = {.input = volume,
                        .grid = &cube->grid,
                        .view = litho_scene_view(&cube->grid),
                        .look = litho_look_default(),
                        .rect = {0, 0, W, H}};
    d.look.lo = 0;
    d.look.hi = 12 * 10 * 14;
    d.look.nearest = TRUE;
    litho_renderer_clear(gl_renderer, &gl_target, d.look.background);
    litho_renderer_draw_scene(gl_renderer, &gl_target, &d);
    g_assert_cmpuint(glGetError(), ==, GL_NO_ERROR);
    cairo_surface_t *s = litho_offscreen_read(gl_screen);
    double m[16];
    litho_scene_matrix(&cube->grid, &d.view, d.rect, m);
    int checked = 0, wrong = 0;
    for (int axis = 0; axis < 3; axis++)
        for (gint64 n = 0; n < 12 * 10 * 14; n++) {
            const gint64 c[3] = {n / 140, n / 14 % 10, n % 14};
            const double at[3] = {(double)c[0], (double)c[1], (double)c[2]};
            double x, y;
            LithoScenePick pick;
            if (c[axis] != d.view.index[axis] ||
                !litho_scene_project(m, d.rect, at, &x, &y, NULL) ||
                !litho_scene_pick(&cube->grid, &d.view, d.rect, x, y, &pick) || pick.axis != axis)
                continue;
            checked++;
            guint32 expected = fixture_color(&d.look, LITHO_SHOW_INPUT, (double)n);
            wrong += fixture_distance(fixture_pixel(s, (int)x, (int)y), expected) > 2;
        }
    // A few samples lie under the outlines and borders.
    g_test_message("%d samples looked at, %d under lines", checked, wrong);
    g_assert_cmpint(checked, >, 120);
    g_assert_cmpint(wrong, <, checked / 6);
    cairo_surface_destroy(s);

    const float point[3] = {2, 2, -3}, green[4] = {0, 1, 0, 1};
    g_autoptr(GPtrArray) meshes = g_ptr_array_new_with_free_func((GDestroyNotify)litho_mesh_unref);
    g_ptr_array_add(meshes, litho_mesh_new(LITHO_MESH_POINTS, 1, point, 0, NULL, green, 9, "shot"));
    float depth[12 * 10];
    for (int k = 0; k < 120; k++)
        depth[k] = 1;
    const float blue[4] = {0, 0, 1, 1};
    g_ptr_array_add(meshes, litho_mesh_new_sheet(12, 10, depth, blue, "top"));
    d.meshes = meshes;
    litho_renderer_draw_scene(gl_renderer, &gl_target, &d);
    g_assert_cmpuint(glGetError(), ==, GL_NO_ERROR);
    s = litho_offscreen_read(gl_screen);
    double x, y;
    litho_scene_project(m, d.rect, (double[]){2, 2, -3}, &x, &y, NULL);
    g_assert_cmphex(fixture_pixel(s, (int)x, (int)y), ==, 0x00ff00);
    litho_scene_project(m, d.rect, (double[]){2.3, 2.6, 1}, &x, &y, NULL);
    guint32 sheet = fixture_pixel(s, (int)x, (int)y);
    g_assert_cmpuint(sheet & 255, >, 100);
    g_assert_cmpuint(sheet >> 8, ==, 0);
    cairo_surface_destroy(s);
    litho_volume_free(volume);
}

// Not a pass or fail: what a frame costs, for the reports. Four views of 1280 x 800 with textures
// resident, slices stepping as in scrubbing.
static void test_speed(void)
{
    if (gl_missing())
        return;
    g_autoptr(GError) error = NULL;
    LithoOffscreen *large = litho_offscreen_new(1280, 800, 0, &error);
    g_assert_no_error(error);
    LithoRenderer *own = litho_renderer_new(&error);
    g_assert_no_error(error);
    g_autoptr(LithoCube) cube = fixture_events(100, 120, 300, 0.1);
    LithoVolume *volume = gl_volume_with(cube);
    const LithoTarget all = {1280, 800, 1};
    double best = G_MAXDOUBLE;
    for (int frame = 0; frame < 6; frame++) {
        double start = litho_now_ms();
        for (int axis = 0; axis < 3; axis++) {
            LithoSliceDraw d =
                gl_draw_of(volume, NULL, &cube->grid, axis, 20 + frame, LITHO_SHOW_INPUT);
            d.rect = (LithoRect){axis % 2 * 640, axis / 2 * 400, 640, 400};
            litho_renderer_draw_slice(own, &all, &d);
        }
        LithoSceneDraw d = {.input = volume,
                            .grid = &cube->grid,
                            .view = litho_scene_view(&cube->grid),
                            .look = litho_look_default(),
                            .rect = {640, 400, 640, 400}};
        litho_renderer_draw_scene(own, &all, &d);
        glFinish();
        best = MIN(best, litho_now_ms() - start);
    }
    g_test_message("four views, 1280 x 800, %s: %.1f ms a frame", litho_renderer_name(own), best);
    g_assert_cmpuint(glGetError(), ==, GL_NO_ERROR);
    litho_volume_free(volume);
    litho_renderer_free(own);
    litho_offscreen_free(large);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    gl_begin();
    g_test_add_func("/render-gl/like-cpu", test_like_cpu);
    g_test_add_func("/render-gl/goldens", test_goldens);
    g_test_add_func("/render-gl/panels", test_panels);
    g_test_add_func("/render-gl/scene", test_scene);
    g_test_add_func("/render-gl/speed", test_speed);
    const int status = test_run();
    gl_end();
    return status;
}
