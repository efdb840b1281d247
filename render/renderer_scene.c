// SPDX-License-Identifier: GPL-3.0-or-later
#include "render/renderer_gl.h"

#include <epoxy/gl.h>
#include <math.h>
#include <string.h>

// --- the scene ----------------------------------------------------------------------------------

typedef struct Scene {
    const LithoSceneDraw *draw;
    const LithoTarget *target;
    double matrix[16];
    double width, height; // of the panel, device pixels
    const LithoSliceUniforms *slice;
} Scene;

// Corner `c` (0..3) of the slice of `axis`, in indices; outer edges of the outer cells.
static void slice_corner(const LithoGrid *grid, int axis, gint64 index, int c, double at[3])
{
    for (int k = 0, bit = 0; k < 3; k++)
        at[k] = k == axis ? index : c >> bit++ & 1 ? grid->axis[k].n - 0.5 : -0.5;
}

static void draw_quad(LithoRenderer *renderer, guint program, gpointer data)
{
    const Scene *scene = data;
    (void)renderer;
    float corners[12];
    for (int c = 0; c < 4; c++) {
        double at[3];
        slice_corner(scene->draw->grid, scene->slice->axis, scene->slice->index, c, at);
        for (int k = 0; k < 3; k++)
            corners[3 * c + k] = at[k];
    }
    glUniform3fv(glGetUniformLocation(program, "u_corner"), 4, corners);
    litho_set_matrix(program, "u_matrix", scene->matrix);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

static void draw_slices(LithoRenderer *renderer, Scene *scene, LithoRect rect, LithoShow show,
                        LithoPixels panel)
{
    const LithoSceneDraw *draw = scene->draw;
    LithoPanelData data[2];
    LithoPixels scissors[2];
    guint n = litho_panel_data(scene->target, draw->input, draw->output, draw->grid, show,
                               draw->look.split, rect, data, scissors);
    for (guint k = 0; k < n; k++) {
        glScissor(scissors[k].x, scissors[k].y, scissors[k].w, scissors[k].h);
        for (int axis = 0; axis < 3; axis++) {
            LithoSliceUniforms slice = {
                draw->grid,           &draw->look, axis,          draw->view.index[axis],
                scene->target->scale, rect,        scene->target, FALSE};
            scene->slice = &slice;
            if (draw->view.visible[axis])
                litho_renderer_each_cover(renderer, &data[k], &slice, TRUE, draw_quad, scene);
        }
    }
    glScissor(panel.x, panel.y, panel.w, panel.h);
}

static void scene_lines(LithoRenderer *renderer, const Scene *scene, const LithoLines *lines,
                        double width, const double rgba[4], double bias)
{
    const LithoPen pen = {.matrix = scene->matrix,
                          .view_w = scene->width,
                          .view_h = scene->height,
                          .width = width * scene->target->scale,
                          .rgba = rgba,
                          .bias = bias};
    litho_renderer_draw_lines(renderer, lines, &pen);
}

// The survey's box, its top (the survey's outline) stronger, and a border around each slice.
static void draw_outlines(LithoRenderer *renderer, const Scene *scene)
{
    static const int pairs[12][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3},
                                     {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
    static const int around[5] = {0, 1, 3, 2, 0};
    const LithoGrid *grid = scene->draw->grid;
    LithoLines box, top, border;
    litho_lines_init(&box);
    litho_lines_init(&top);
    litho_lines_init(&border);
    double corner[8][3];
    for (int c = 0; c < 8; c++)
        for (int k = 0; k < 3; k++)
            corner[c][k] = c >> k & 1 ? grid->axis[k].n - 0.5 : -0.5;
    for (int e = 0; e < 12; e++)
        litho_lines_add(pairs[e][0] < 4 && pairs[e][1] < 4 ? &top : &box, corner[pairs[e][0]],
                        corner[pairs[e][1]]);
    for (int axis = 0; axis < 3; axis++)
        for (int c = 0; c < 4 && scene->draw->view.visible[axis]; c++) {
            double a[3], b[3];
            slice_corner(grid, axis, scene->draw->view.index[axis], around[c], a);
            slice_corner(grid, axis, scene->draw->view.index[axis], around[c + 1], b);
            litho_lines_add(&border, a, b);
        }
    scene_lines(renderer, scene, &box, 1, (double[]){0.62, 0.62, 0.62, 0.8}, 0);
    scene_lines(renderer, scene, &top, 1.6, (double[]){0.85, 0.85, 0.85, 0.9}, 0);
    scene_lines(renderer, scene, &border, 1.2, (double[]){0.93, 0.93, 0.93, 0.85}, 2e-4);
    litho_lines_clear(&box);
    litho_lines_clear(&top);
    litho_lines_clear(&border);
}

static void draw_cursor(LithoRenderer *renderer, const Scene *scene)
{
    const LithoGrid *grid = scene->draw->grid;
    LithoLines lines;
    litho_lines_init(&lines);
    for (int k = 0; k < 3; k++) {
        double a[3], b[3];
        memcpy(a, scene->draw->cursor, sizeof a);
        memcpy(b, scene->draw->cursor, sizeof b);
        a[k] = -0.5;
        b[k] = grid->axis[k].n - 0.5;
        litho_lines_add(&lines, a, b);
    }
    scene_lines(renderer, scene, &lines, 3, (double[]){0, 0, 0, 0.35}, 4e-4);
    scene_lines(renderer, scene, &lines, 1, (double[]){1, 1, 1, 0.95}, 5e-4);
    litho_lines_clear(&lines);
}

static void draw_panel(LithoRenderer *renderer, const LithoTarget *target,
                       const LithoSceneDraw *draw, LithoRect rect, LithoShow show)
{
    LithoPixels panel = litho_target_pixels(target, rect);
    Scene scene = {.draw = draw, .target = target, .width = panel.w, .height = panel.h};
    litho_scene_matrix(draw->grid, &draw->view, rect, scene.matrix);
    const double *ground = draw->look.background;
    glViewport(panel.x, panel.y, panel.w, panel.h);
    glScissor(panel.x, panel.y, panel.w, panel.h);
    glClearColor(ground[0], ground[1], ground[2], 1);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_LEQUAL);
    draw_slices(renderer, &scene, rect, show, panel);
    LithoMeshDraw meshes = {draw->meshes, draw->grid,   &draw->view,  scene.matrix,
                            scene.width,  scene.height, target->scale};
    litho_renderer_draw_meshes(renderer, &meshes, FALSE);
    glDepthMask(GL_FALSE); // what follows is soft-edged or translucent
    litho_renderer_draw_meshes(renderer, &meshes, TRUE);
    draw_outlines(renderer, &scene);
    if (draw->has_cursor)
        draw_cursor(renderer, &scene);
    glDepthMask(GL_TRUE);
    glDisable(GL_DEPTH_TEST);
    if (show == LITHO_SHOW_SPLIT) {
        LithoPixels all =
            litho_target_pixels(target, (LithoRect){0, 0, target->width, target->height});
        glViewport(all.x, all.y, all.w, all.h);
        litho_renderer_draw_divider(renderer, target, rect, draw->look.split);
    }
}

void litho_renderer_draw_scene(LithoRenderer *renderer, const LithoTarget *target,
                               const LithoSceneDraw *draw)
{
    LithoRect panels[2];
    LithoShow shows[2];
    GLint viewport[4], scissor[4];
    guint n = litho_show_panels(draw->show, draw->rect, panels, shows);
    glGetIntegerv(GL_VIEWPORT, viewport);
    glGetIntegerv(GL_SCISSOR_BOX, scissor);
    litho_renderer_begin(renderer);
    for (guint k = 0; k < n; k++)
        draw_panel(renderer, target, draw, panels[k], shows[k]);
    litho_renderer_end(renderer);
    litho_renderer_age_meshes(renderer);
    glViewport(viewport[0], viewport[1], viewport[2], viewport[3]);
    glScissor(scissor[0], scissor[1], scissor[2], scissor[3]);
}
