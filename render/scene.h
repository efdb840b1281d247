// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "render/axes.h"
#include "render/view.h"

// The 3-D scene without GL: survey box, camera, projection, picking, and the labels around the box.
// Plain values.
//
// World: x east, y north, z up, in metres around the survey's centre, scaled so that the longest
// horizontal side is 2. Time (or depth) goes down; its extent is `z_scale` times the longest side.

typedef struct LithoCamera {
    double yaw;      // degrees; 0 looks north, 90 looks east
    double pitch;    // degrees above the horizon, -89..89
    double distance; // from the target, world units
    double target[3];
} LithoCamera;

typedef struct LithoSceneView {
    LithoCamera camera;
    gint64 index[3];     // position of the inline, crossline and sample slice
    gboolean visible[3]; // which slices are drawn
    double z_scale;      // height of the box / longest horizontal side; 0 = 0.9 for
                         // time, the true ratio for depth (0.2 to 1.2)
    double fit[2]; // tangents that the box takes of the picture, half of its width and height,
                   // at standard distance: litho_scene_fit(); 0 = a square field of view
    double text;   // size of the letters around the box, 1 = 11 pixels; 0 = 1
} LithoSceneView;

// Middle slices, all visible, whole box in view from above; turned by 33 degrees against the
// survey's inlines, first inline in front.
LithoSceneView litho_scene_view(const LithoGrid *grid);
// Standard distance, target and field of view such that the whole box fills any panel under the
// camera's present direction, with room for the labels around it.
void litho_scene_fit(const LithoGrid *grid, LithoSceneView *view);
// Mouse: pixels moved. Orbit keeps the target; pan moves it in the picture plane.
void litho_camera_orbit(LithoCamera *camera, double dx, double dy);
void litho_scene_pan(LithoSceneView *view, LithoRect rect, double dx, double dy);
void litho_camera_zoom(LithoCamera *camera, double factor); // > 1 closer
// Standard directions: 'n', 's', 'e', 'w' (looking that way), 't' from the top; whole box in view.
void litho_camera_look(LithoCamera *camera, char direction);

// Column-major matrix: fractional indices (inline, crossline, sample, 1) -> clip space.
void litho_scene_matrix(const LithoGrid *grid, const LithoSceneView *view, LithoRect rect,
                        double matrix[16]);
// Column-major matrix: fractional indices -> world.
void litho_scene_world(const LithoGrid *grid, const LithoSceneView *view, double matrix[16]);
// Indices -> pixel; FALSE when behind the eye. `depth` (may be NULL) grows away from it.
gboolean litho_scene_project(const double matrix[16], LithoRect rect, const double index[3],
                             double *x, double *y, double *depth);

// Ray through a pixel in index coordinates: the eye and a direction of any length.
void litho_scene_ray(const LithoGrid *grid, const LithoSceneView *view, LithoRect rect, double x,
                     double y, double origin[3], double direction[3]);

typedef struct LithoScenePick {
    int axis;          // slice that was hit
    double index[3];   // fractional indices of the hit
    gint64 nearest[3]; // rounded: trace (0, 1) and sample (2)
} LithoScenePick;

// Nearest visible slice under the pixel. FALSE when there is none.
gboolean litho_scene_pick(const LithoGrid *grid, const LithoSceneView *view, LithoRect rect,
                          double x, double y, LithoScenePick *pick);
// Index boxes of the visible slices, for litho_volume_update() and LithoWish; returns how many.
guint litho_scene_view_boxes(const LithoSceneView *view, const LithoGrid *grid, LithoBox boxes[3]);
// Move of slice `axis`, in indices, when the mouse drags it from pixel (x, y) by (dx, dy).
double litho_scene_drag(const LithoGrid *grid, const LithoSceneView *view, LithoRect rect, int axis,
                        double x, double y, double dx, double dy);

// A piece of text around the box: a rectangle around its middle (x, y), in pixels, turned by
// `angle` (radians, clockwise on the screen).
typedef struct LithoSceneLabel {
    double x, y, w, h, angle;
    char text[96];
} LithoSceneLabel;

typedef struct LithoSceneLabels {
    LithoSceneLabel label[40]; // numbers and titles; no two of them meet
    guint n;
    double tick[48][4]; // strokes from (0, 1) to (2, 3), pixels
    guint n_ticks;
} LithoSceneLabels;

// Where axis numbers and titles stand in `rect`. A title slides along its edge to a free place; in
// a picture too narrow for both, the numbers under it are left out. `cr` measures the letters.
void litho_scene_place_labels(cairo_t *cr, const LithoAxesStyle *style, const LithoGrid *grid,
                              const LithoSceneView *view, LithoRect rect,
                              const LithoAxisText texts[3], LithoSceneLabels *labels);
// The rectangle of the compass: a corner of `rect` that neither the labels nor the box take; where
// all are taken one that the labels leave.
LithoSceneLabel litho_scene_place_compass(const LithoAxesStyle *style, const LithoGrid *grid,
                                          const LithoSceneView *view, LithoRect rect,
                                          const LithoSceneLabels *taken);
// TRUE when the two rectangles have a point inside in common.
gboolean litho_scene_labels_meet(const LithoSceneLabel *a, const LithoSceneLabel *b);

// North arrow, axis numbers and titles along the nearest edges of the box, with cairo over the
// picture (the renderer draws outline and slices). `texts`: how the three axes are called, NULL =
// as the grid's are.
void litho_scene_draw_labels(cairo_t *cr, const LithoAxesStyle *style, const LithoGrid *grid,
                             const LithoSceneView *view, LithoRect rect,
                             const LithoAxisText texts[3]);
