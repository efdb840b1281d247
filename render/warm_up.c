// SPDX-License-Identifier: GPL-3.0-or-later
#include "render/warm_up.h"

#include <epoxy/gl.h>
#include <string.h>

#include "core/error.h"
#include "render/frame_cache.h"
#include "render/offscreen.h"

// A small cube and picture. llvmpipe compiles another version for textures whose sizes are powers
// of two; these are none, nor are the rows of the mask (4096 traces each).
enum { LINES = 88, XLINES = 104, SAMPLES = 12, WIDTH = 300, HEIGHT = 250, SIDE = 192 };

typedef struct Warm {
    LithoRenderer *renderer;
    LithoFrameCache *cache;
    LithoVolume *volume[2]; // with all traces live, and with a missing one
    LithoGrid grid;
    LithoTarget target;
    LithoRun *run;
    gint64 done, total;
} Warm;

static LithoVolume *make_volume(const LithoGrid *grid, gboolean masked)
{
    g_autoptr(LithoCube) cube = litho_cube_new(grid, NULL);
    LithoVolume *volume = litho_volume_new();
    if (!cube)
        return volume;
    cube->live[LINES + 1] = !masked;
    litho_volume_put(volume, cube);
    litho_volume_update(volume, NULL, 0, -1);
    return volume;
}

static gboolean step(Warm *w, GError **error)
{
    glFinish();
    return litho_run_step(w->run, ++w->done, w->total, error);
}

// Each section, with pixels smaller and larger than a sample: two programs.
static gboolean warm_sections(Warm *w, LithoShow show, LithoVolume *volume, GError **error)
{
    static const double sides[] = {SIDE, SAMPLES / 2};
    for (int axis = 0; axis < 3; axis++)
        for (guint s = 0; s < G_N_ELEMENTS(sides); s++) {
            LithoSliceDraw draw = {.input = volume,
                                   .output = volume,
                                   .grid = &w->grid,
                                   .view = litho_slice_view(&w->grid, axis, 1),
                                   .look = litho_look_default(),
                                   .show = show,
                                   .rect = {10, 20, 1.25 * sides[s], sides[s]}};
            draw.look.grid_lines = TRUE;
            litho_renderer_draw_slice(w->renderer, &w->target, &draw);
            if (!step(w, error))
                return FALSE;
        }
    return TRUE;
}

static gboolean warm_scene(Warm *w, LithoShow show, LithoVolume *volume, GError **error)
{
    LithoSceneDraw draw = {.input = volume,
                           .output = volume,
                           .grid = &w->grid,
                           .view = litho_scene_view(&w->grid),
                           .look = litho_look_default(),
                           .show = show,
                           .rect = {10, 20, 1.25 * SIDE, SIDE}};
    for (int axis = 0; axis < 3; axis++) {
        for (int k = 0; k < 3; k++)
            draw.view.visible[k] = k <= axis;
        litho_renderer_draw_scene(w->renderer, &w->target, &draw);
        if (!step(w, error))
            return FALSE;
    }
    return TRUE;
}

// Warms in the order in which a user sees: the first picture comes first.
static gboolean warm_all(Warm *w, GError **error)
{
    static const LithoShow shows[] = {LITHO_SHOW_INPUT, LITHO_SHOW_OUTPUT, LITHO_SHOW_REMOVED};
    const int per_show = 3 * 2 + 3;
    gboolean ok = TRUE;
    w->total = per_show * 2 * G_N_ELEMENTS(shows);
    litho_run_begin(w->run, "compiling shaders", "shaders");
    for (guint s = 0; s < G_N_ELEMENTS(shows); s++)
        for (int masked = 0; ok && masked < 2; masked++)
            ok = warm_sections(w, shows[s], w->volume[masked], error) &&
                 warm_scene(w, shows[s], w->volume[masked], error);
    return ok;
}

static gboolean warm_in_context(const char *device, LithoRun *run, GError **error)
{
    Warm w = {
        .grid = litho_grid_new(LINES, XLINES, SAMPLES), .target = {WIDTH, HEIGHT, 1}, .run = run};
    w.renderer = litho_renderer_new(error);
    if (!w.renderer)
        return FALSE;
    gboolean ok = g_str_has_prefix(litho_renderer_name(w.renderer), device);
    if (!ok)
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED,
                    "the window draws with %s, this is %s", device,
                    litho_renderer_name(w.renderer));
    w.cache = litho_frame_cache_new();
    for (int masked = 0; masked < 2; masked++)
        w.volume[masked] = make_volume(&w.grid, masked);
    litho_frame_cache_begin(w.cache, &w.target);
    ok = ok && warm_all(&w, error);
    litho_frame_cache_leave(w.cache);
    for (int masked = 0; masked < 2; masked++)
        litho_volume_free(w.volume[masked]);
    litho_frame_cache_free(w.cache);
    litho_renderer_free(w.renderer);
    return ok;
}

gboolean litho_warm_up(const char *device, LithoRun *run, GError **error)
{
    LithoOffscreen *offscreen = litho_offscreen_new(WIDTH, HEIGHT, 0, error);
    gboolean ok = offscreen && warm_in_context(device, run, error);
    litho_offscreen_free(offscreen);
    return ok;
}
