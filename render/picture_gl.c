// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>

#include "core/error.h"
#include "render/offscreen.h"
#include "render/picture_draw.h"
#include "render/renderer.h"

// Enough to make one whole-cube texture impossible: a picture needs its slices only.
static const guint64 slices_only = 1;

static LithoVolume *volume_of(const LithoCube *cube, const GPtrArray *parts, const LithoBox *boxes,
                              guint n)
{
    if (!cube)
        return NULL;
    LithoVolume *volume = litho_volume_new();
    litho_volume_set_budget(volume, slices_only);
    litho_volume_put(volume, (LithoCube *)cube);
    for (guint k = 0; parts && k < parts->len; k++)
        litho_volume_put(volume, g_ptr_array_index(parts, k));
    litho_volume_update(volume, boxes, n, -1);
    return volume;
}

static guint panel_boxes(const LithoPicture *picture, LithoBox *boxes)
{
    const LithoGrid *grid = &picture->input->grid;
    guint n = 0;
    for (guint k = 0; k < picture->n_panels; k++) {
        const LithoPanel *panel = &picture->panels[k];
        if (panel->model)
            continue;
        if (panel->scene)
            n += litho_scene_view_boxes(&panel->view, grid, &boxes[n]);
        else
            boxes[n++] = litho_box_slice(grid, panel->slice.axis, panel->slice.index);
    }
    return n;
}

static void draw_panel(LithoRenderer *renderer, const LithoTarget *target,
                       const LithoPicture *picture, const LithoPanel *panel, LithoRect rect,
                       const LithoVolume *input, const LithoVolume *output)
{
    LithoLook look = picture->look;
    look.grid_lines = FALSE; // drawn with cairo, as on the CPU
    if (panel->scene) {
        LithoSceneDraw draw = {.input = input,
                               .output = output,
                               .grid = &picture->input->grid,
                               .view = panel->view,
                               .look = look,
                               .show = panel->show,
                               .rect = rect,
                               .meshes = picture->meshes};
        litho_renderer_draw_scene(renderer, target, &draw);
        return;
    }
    LithoSliceDraw draw = {.input = input,
                           .output = output,
                           .grid = &picture->input->grid,
                           .view = panel->slice,
                           .look = look,
                           .show = panel->show,
                           .rect = rect};
    litho_renderer_draw_slice(renderer, target, &draw);
}

static cairo_surface_t *draw_all(const LithoPicture *picture, const LithoRect *rects, double scale,
                                 LithoOffscreen *offscreen, GError **error)
{
    LithoRenderer *renderer = litho_renderer_new(error);
    if (!renderer)
        return NULL;
    LithoBox boxes[3 * LITHO_PICTURE_PANELS];
    guint n = panel_boxes(picture, boxes);
    LithoTarget target = {picture->width, picture->height, scale};
    LithoVolume *input = volume_of(picture->input, picture->input_parts, boxes, n);
    LithoVolume *output = volume_of(picture->output, picture->output_parts, boxes, n);
    litho_renderer_clear(renderer, &target, picture->look.background);
    for (guint k = 0; k < picture->n_panels; k++)
        if (!picture->panels[k].model)
            draw_panel(renderer, &target, picture, &picture->panels[k], rects[k], input, output);
    cairo_surface_t *surface = litho_offscreen_read(offscreen);
    litho_volume_free(input);
    litho_volume_free(output);
    litho_renderer_free(renderer);
    return surface;
}

cairo_surface_t *litho_picture_draw_gl(const LithoPicture *picture, const LithoRect *rects,
                                       double scale, GError **error)
{
    gboolean scene = FALSE;
    for (guint k = 0; k < picture->n_panels; k++)
        scene |= picture->panels[k].scene;
    // Slices cut each other in the scene: multisampling smooths the cuts. Flat slices have no
    // edges.
    LithoOffscreen *offscreen =
        litho_offscreen_new((int)lrint(picture->width * scale), (int)lrint(picture->height * scale),
                            scene ? 4 : 0, error);
    if (!offscreen)
        return NULL;
    cairo_surface_t *surface = draw_all(picture, rects, scale, offscreen, error);
    litho_offscreen_free(offscreen);
    return surface;
}
