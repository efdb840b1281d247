// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/render_gl.h"

#include <epoxy/gl.h>

LithoRenderer *gl_renderer;
const LithoTarget gl_target = {GL_WIDTH, GL_HEIGHT, 1};
LithoOffscreen *gl_screen;
static char why_not[300]; // reason when there is no EGL

void gl_begin(void)
{
    g_autoptr(GError) error = NULL;
    gl_screen = litho_offscreen_new(GL_WIDTH, GL_HEIGHT, 0, &error);
    if (!gl_screen) {
        g_strlcpy(why_not, error->message, sizeof why_not);
        return;
    }
    gl_renderer = litho_renderer_new(&error);
    g_assert_no_error(error);
}

void gl_end(void)
{
    if (gl_screen && litho_offscreen_bind(gl_screen, NULL))
        litho_renderer_free(gl_renderer);
    litho_offscreen_free(gl_screen);
}

gboolean gl_missing(void)
{
    if (!gl_screen) {
        g_test_skip(why_not);
        return TRUE;
    }
    g_autoptr(GError) error = NULL;
    g_assert_true(litho_offscreen_bind(gl_screen, &error));
    return FALSE;
}

cairo_surface_t *gl_shoot(const LithoSliceDraw *draw)
{
    litho_renderer_clear(gl_renderer, &gl_target, (double[]){0, 1, 0});
    litho_renderer_draw_slice(gl_renderer, &gl_target, draw);
    g_assert_cmpuint(glGetError(), ==, GL_NO_ERROR);
    return litho_offscreen_read(gl_screen);
}

LithoVolume *gl_volume_with(LithoCube *cube)
{
    LithoVolume *volume = litho_volume_new();
    litho_volume_put(volume, cube);
    g_assert_true(litho_volume_update(volume, NULL, 0, -1));
    return volume;
}

LithoSliceDraw gl_draw_of(const LithoVolume *in, const LithoVolume *out, const LithoGrid *grid,
                          int axis, gint64 index, LithoShow show)
{
    return (LithoSliceDraw){.input = in,
                            .output = out,
                            .grid = grid,
                            .view = litho_slice_view(grid, axis, index),
                            .look = litho_look_default(),
                            .show = show,
                            .rect = {0, 0, GL_WIDTH, GL_HEIGHT}};
}
