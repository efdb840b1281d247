// SPDX-License-Identifier: GPL-3.0-or-later
//
// Shaders compiled in advance for an OpenGL on the processor. In a process of its own: Mesa's
// shader cache must lie in a fresh folder before the first context is made.
#include <glib/gstdio.h>
#include <string.h>

#include "core/error.h"
#include "render/frame_cache.h"
#include "render/offscreen.h"
#include "render/warm_up.h"
#include "tests/common.h"

static char *folder;

// Files below a folder, which is removed with them when `clean`.
static guint count_files(const char *path, gboolean clean)
{
    guint n = 0;
    const char *name;
    GDir *dir = g_dir_open(path, 0, NULL);
    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *child = g_build_filename(path, name, NULL);
        if (g_file_test(child, G_FILE_TEST_IS_DIR)) {
            n += count_files(child, clean);
        } else {
            n++;
            if (clean)
                g_unlink(child);
        }
    }
    if (dir)
        g_dir_close(dir);
    if (clean)
        g_rmdir(path);
    return n;
}

// A thread of Mesa's writes them: the number that has not changed for half a second.
static guint files_written(void)
{
    guint before, now = count_files(folder, FALSE);
    do {
        before = now;
        g_usleep(500000);
        now = count_files(folder, FALSE);
    } while (now != before);
    return now;
}

// Draws a masked cube as a window does when it opens: three sections in two sizes and the scene.
static void draw_as_a_window(LithoShow show)
{
    g_autoptr(GError) error = NULL;
    LithoOffscreen *offscreen = litho_offscreen_new(300, 250, 0, &error);
    g_assert_no_error(error);
    LithoRenderer *renderer = litho_renderer_new(&error);
    g_assert_no_error(error);
    LithoFrameCache *cache = litho_frame_cache_new();
    LithoGrid grid = litho_grid_new(100, 120, 60);
    g_autoptr(LithoCube) cube = litho_cube_new(&grid, &error);
    cube->live[77] = 0;
    LithoVolume *volume = litho_volume_new();
    litho_volume_put(volume, cube);
    litho_volume_update(volume, NULL, 0, -1);
    LithoTarget target = {300, 250, 1};
    litho_frame_cache_begin(cache, &target);
    for (int k = 0; k < 6; k++) {
        LithoSliceDraw draw = {.input = volume,
                               .output = volume,
                               .grid = &grid,
                               .view = litho_slice_view(&grid, k % 3, 30),
                               .look = litho_look_default(),
                               .show = show,
                               .rect = k < 3 ? (LithoRect){10, 20, 250, 200}
                                             : (LithoRect){10, 20, 50, 30}};
        draw.look.grid_lines = TRUE;
        litho_renderer_draw_slice(renderer, &target, &draw);
    }
    LithoSceneDraw scene = {.input = volume,
                            .output = volume,
                            .grid = &grid,
                            .view = litho_scene_view(&grid),
                            .look = litho_look_default(),
                            .show = show,
                            .rect = {10, 20, 250, 200}};
    litho_renderer_draw_scene(renderer, &target, &scene);
    cairo_surface_destroy(litho_frame_cache_read(cache, &target, scene.rect));
    litho_frame_cache_leave(cache);
    litho_volume_free(volume);
    litho_frame_cache_free(cache);
    litho_renderer_free(renderer);
    litho_offscreen_free(offscreen);
}

static char *device(void)
{
    LithoOffscreen *offscreen = litho_offscreen_new(16, 16, 0, NULL);
    char *name = offscreen && litho_gl_is_software() ? litho_gl_device() : NULL;
    litho_offscreen_free(offscreen);
    return name;
}

// Property: after warming up, what a window draws finds every shader in the cache. A variant that
// is forgotten, or one compiled for another kind of texture, adds three files; one or two small
// programs of Mesa's own depend on where in the window a picture lies.
static void test_nothing_left(void)
{
    g_autofree char *name = device();
    if (!name) {
        g_test_skip("no OpenGL on the processor here");
        return;
    }
    g_autoptr(GError) error = NULL;
    g_assert_true(litho_warm_up(name, NULL, &error));
    g_assert_no_error(error);
    guint warm = files_written();
    if (warm == 0) {
        g_test_skip("this OpenGL keeps no shaders");
        return;
    }
    for (int show = LITHO_SHOW_INPUT; show <= LITHO_SHOW_REMOVED; show++)
        draw_as_a_window(show);
    g_test_message("%u files by warming up", warm);
    g_assert_cmpuint(files_written(), <=, warm + 2);
}

// Property: another device than the window's is left alone, and a cancelled warm-up ends.
static void test_refusals(void)
{
    g_autofree char *name = device();
    if (!name) {
        g_test_skip("no OpenGL on the processor here");
        return;
    }
    g_autoptr(GError) other = NULL, cancelled = NULL;
    g_assert_false(litho_warm_up("Another card", NULL, &other));
    g_assert_error(other, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED);
    g_autoptr(GCancellable) cancel = g_cancellable_new();
    g_cancellable_cancel(cancel);
    LithoRun run = {.cancel = cancel};
    g_assert_false(litho_warm_up(name, &run, &cancelled));
    g_assert_true(litho_error_is_cancelled(cancelled));
}

int main(int argc, char **argv)
{
    folder = g_dir_make_tmp("lithoscope-shaders-XXXXXX", NULL);
    g_setenv("MESA_SHADER_CACHE_DIR", folder, TRUE);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/warm-up/nothing-left", test_nothing_left);
    g_test_add_func("/warm-up/refusals", test_refusals);
    int status = test_run();
    count_files(folder, TRUE);
    g_free(folder);
    return status;
}
