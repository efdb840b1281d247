// SPDX-License-Identifier: GPL-3.0-or-later
#include "render/scene.h"

#include <math.h>
#include <string.h>

// Vertical field of view: narrow, so that the box is not distorted.
static const double field_of_view = 28 * G_PI / 180;
static const double near_plane = 0.05, far_plane = 60;

// --- small matrices, column-major ---------------------------------------------------------------

static void multiply(const double a[16], const double b[16], double out[16])
{
    double r[16];
    for (int c = 0; c < 4; c++)
        for (int k = 0; k < 4; k++) {
            double sum = 0;
            for (int m = 0; m < 4; m++)
                sum += a[m * 4 + k] * b[c * 4 + m];
            r[c * 4 + k] = sum;
        }
    memcpy(out, r, sizeof r);
}

static void transform(const double m[16], const double v[3], double out[4])
{
    for (int k = 0; k < 4; k++)
        out[k] = m[k] * v[0] + m[4 + k] * v[1] + m[8 + k] * v[2] + m[12 + k];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    const double r[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                         a[0] * b[1] - a[1] * b[0]};
    memcpy(out, r, sizeof r);
}

// Inverse of an affine matrix applied to a point (w = 1) or direction (w = 0).
static void affine_inverse(const double m[16], const double v[3], double w, double out[3])
{
    double d[3] = {v[0] - w * m[12], v[1] - w * m[13], v[2] - w * m[14]};
    double yz[3], zx[3], xy[3];
    cross(m + 4, m + 8, yz);
    cross(m + 8, m, zx);
    cross(m, m + 4, xy);
    double determinant = dot(m, yz);
    out[0] = dot(d, yz) / determinant;
    out[1] = dot(d, zx) / determinant;
    out[2] = dot(d, xy) / determinant;
}

// --- world --------------------------------------------------------------------------------------

static double height_ratio(const LithoGrid *grid, const LithoSceneView *view, double longest)
{
    if (view->z_scale > 0)
        return view->z_scale;
    if (!grid->is_depth)
        return 0.9; // fills a panel that is about square, as those of the window are
    // Depth has a true ratio; kept within what can be looked at.
    const LithoAxis *z = &grid->axis[LITHO_SAMPLE];
    return CLAMP(fabs(z->step) * (z->n - 1) / longest, 0.2, 1.2);
}

// Fractional indices -> world.
static void world_matrix(const LithoGrid *grid, const LithoSceneView *view, double m[16])
{
    static const double plain_inline[2] = {0, 25}, plain_xline[2] = {25, 0};
    const double *di = grid->has_xy ? grid->inline_step : plain_inline;
    const double *dj = grid->has_xy ? grid->xline_step : plain_xline;
    gint64 ni = grid->axis[0].n, nj = grid->axis[1].n, nk = grid->axis[2].n;
    // A step of zero length (one line only) must not flatten the world.
    const double *step[2] = {hypot(di[0], di[1]) > 0 ? di : plain_inline,
                             hypot(dj[0], dj[1]) > 0 ? dj : plain_xline};
    double longest = MAX(hypot(step[0][0], step[0][1]) * MAX(ni - 1, 1),
                         hypot(step[1][0], step[1][1]) * MAX(nj - 1, 1));
    double scale = 2 / longest, height = 2 * height_ratio(grid, view, longest);
    memset(m, 0, 16 * sizeof *m);
    for (int k = 0; k < 2; k++) {
        m[k] = step[0][k] * scale;
        m[4 + k] = step[1][k] * scale;
    }
    m[10] = -height / MAX(nk - 1, 1);
    m[15] = 1;
    for (int k = 0; k < 3; k++)
        m[12 + k] = -(m[k] * (ni - 1) + m[4 + k] * (nj - 1) + m[8 + k] * (nk - 1)) / 2;
}

static void camera_axes(const LithoCamera *camera, double eye[3], double right[3], double up[3],
                        double forward[3])
{
    double yaw = camera->yaw * G_PI / 180, pitch = camera->pitch * G_PI / 180;
    forward[0] = sin(yaw) * cos(pitch);
    forward[1] = cos(yaw) * cos(pitch);
    forward[2] = -sin(pitch);
    right[0] = cos(yaw);
    right[1] = -sin(yaw);
    right[2] = 0;
    cross(right, forward, up);
    for (int k = 0; k < 3; k++)
        eye[k] = camera->target[k] - forward[k] * camera->distance;
}

// Numbers and titles stand around the box at their own size, whatever the panel's: the picture
// leaves them this much, most of it left and below, where they are.
static const struct {
    double left, right, top, bottom;
} margin = {52, 20, 8, 34};

// Field of the camera's lens: tangents at the panel's edges, and where the middle of the box lies
// in the panel (-1..1, up positive).
typedef struct Lens {
    double tan_h, tan_v, shift_h, shift_v;
} Lens;

static Lens lens_of(const LithoSceneView *view, LithoRect rect)
{
    double w = MAX(rect.w, 1), h = MAX(rect.h, 1), plain = tan(field_of_view / 2);
    gboolean fitted = view->fit[0] > 0 && view->fit[1] > 0;
    double text = view->text > 0 ? view->text : 1;
    // A panel too small for labels is used whole.
    double room_h = MAX((w - text * (margin.left + margin.right)) / w, 0.6);
    double room_v = MAX((h - text * (margin.top + margin.bottom)) / h, 0.6);
    double need_h = (fitted ? view->fit[0] : plain) / room_h;
    double need_v = (fitted ? view->fit[1] : plain) / room_v;
    Lens lens = {.tan_v = MAX(need_v, need_h * h / w)};
    lens.tan_h = lens.tan_v * w / h;
    lens.shift_h = CLAMP(text * (margin.left - margin.right) / w, 0, 0.2);
    lens.shift_v = CLAMP(text * (margin.bottom - margin.top) / h, 0, 0.2);
    return lens;
}

static void camera_matrix(const LithoSceneView *scene, LithoRect rect, double m[16])
{
    const LithoCamera *camera = &scene->camera;
    double eye[3], right[3], up[3], forward[3], view[16] = {0}, lens[16] = {0};
    camera_axes(camera, eye, right, up, forward);
    for (int k = 0; k < 3; k++) {
        view[k * 4] = right[k];
        view[k * 4 + 1] = up[k];
        view[k * 4 + 2] = -forward[k];
    }
    view[12] = -dot(right, eye);
    view[13] = -dot(up, eye);
    view[14] = dot(forward, eye);
    view[15] = 1;
    Lens l = lens_of(scene, rect);
    lens[0] = 1 / l.tan_h;
    lens[5] = 1 / l.tan_v;
    lens[8] = -l.shift_h;
    lens[9] = -l.shift_v;
    lens[10] = (far_plane + near_plane) / (near_plane - far_plane);
    lens[11] = -1;
    lens[14] = 2 * far_plane * near_plane / (near_plane - far_plane);
    multiply(lens, view, m);
}

void litho_scene_matrix(const LithoGrid *grid, const LithoSceneView *view, LithoRect rect,
                        double matrix[16])
{
    double world[16], camera[16];
    world_matrix(grid, view, world);
    camera_matrix(view, rect, camera);
    multiply(camera, world, matrix);
}

void litho_scene_world(const LithoGrid *grid, const LithoSceneView *view, double matrix[16])
{
    world_matrix(grid, view, matrix);
}

gboolean litho_scene_project(const double matrix[16], LithoRect rect, const double index[3],
                             double *x, double *y, double *depth)
{
    double clip[4];
    transform(matrix, index, clip);
    if (depth)
        *depth = clip[3];
    if (clip[3] <= near_plane / 2)
        return FALSE;
    *x = rect.x + (clip[0] / clip[3] + 1) / 2 * rect.w;
    *y = rect.y + (1 - clip[1] / clip[3]) / 2 * rect.h;
    return TRUE;
}

// --- camera -------------------------------------------------------------------------------------

static const double first_pitch = 24, first_turn = 33, standard_distance = 6.5;

// Tangents of the box's outline as the camera sees it: left, right, bottom, top.
static void box_outline(const LithoGrid *grid, const LithoSceneView *view, double edge[4])
{
    double world[16], eye[3], right[3], up[3], forward[3];
    world_matrix(grid, view, world);
    camera_axes(&view->camera, eye, right, up, forward);
    edge[0] = edge[2] = G_MAXDOUBLE;
    edge[1] = edge[3] = -G_MAXDOUBLE;
    for (int c = 0; c < 8; c++) {
        double corner[3], at[4];
        for (int k = 0; k < 3; k++)
            corner[k] = c >> k & 1 ? grid->axis[k].n - 0.5 : -0.5;
        transform(world, corner, at);
        for (int k = 0; k < 3; k++)
            at[k] -= eye[k];
        double away = MAX(dot(at, forward), near_plane);
        double h = dot(at, right) / away, v = dot(at, up) / away;
        edge[0] = MIN(edge[0], h);
        edge[1] = MAX(edge[1], h);
        edge[2] = MIN(edge[2], v);
        edge[3] = MAX(edge[3], v);
    }
}

void litho_scene_fit(const LithoGrid *grid, LithoSceneView *view)
{
    LithoCamera *camera = &view->camera;
    double edge[4], eye[3], right[3], up[3], forward[3];
    camera->distance = standard_distance;
    memset(camera->target, 0, sizeof camera->target);
    // Perspective makes the near half larger: the target moves until the outline lies in the
    // middle.
    for (int turn = 0; turn < 3; turn++) {
        box_outline(grid, view, edge);
        camera_axes(camera, eye, right, up, forward);
        for (int k = 0; k < 3; k++)
            camera->target[k] += standard_distance * ((edge[0] + edge[1]) / 2 * right[k] +
                                                      (edge[2] + edge[3]) / 2 * up[k]);
    }
    box_outline(grid, view, edge);
    view->fit[0] = (edge[1] - edge[0]) / 2;
    view->fit[1] = (edge[3] - edge[2]) / 2;
}

LithoSceneView litho_scene_view(const LithoGrid *grid)
{
    LithoSceneView view = {.camera = {.pitch = first_pitch}, .visible = {TRUE, TRUE, TRUE}};
    // Turned against the survey's own lines: a section seen edge-on shows nothing.
    double world[16];
    world_matrix(grid, &view, world);
    double azimuth = atan2(world[0], world[1]) * 180 / G_PI; // of growing inline numbers
    gboolean xline_right = world[4] * world[1] - world[5] * world[0] > 0;
    view.camera.yaw = azimuth + (xline_right ? -first_turn : first_turn);
    litho_scene_fit(grid, &view);
    for (int k = 0; k < 3; k++)
        view.index[k] = grid->axis[k].n / 2;
    return view;
}

void litho_camera_orbit(LithoCamera *camera, double dx, double dy)
{
    const double degrees_per_pixel = 0.35;
    camera->yaw = fmod(camera->yaw + dx * degrees_per_pixel, 360);
    camera->pitch = CLAMP(camera->pitch + dy * degrees_per_pixel, -89, 89);
}

void litho_scene_pan(LithoSceneView *view, LithoRect rect, double dx, double dy)
{
    LithoCamera *camera = &view->camera;
    double eye[3], right[3], up[3], forward[3];
    camera_axes(camera, eye, right, up, forward);
    // World units per pixel at the target's distance.
    double unit = 2 * camera->distance * lens_of(view, rect).tan_v / MAX(rect.h, 1);
    for (int k = 0; k < 3; k++)
        camera->target[k] = CLAMP(camera->target[k] + (-right[k] * dx + up[k] * dy) * unit, -3, 3);
}

void litho_camera_zoom(LithoCamera *camera, double factor)
{
    if (factor > 0)
        camera->distance = CLAMP(camera->distance / factor, 0.3, 40);
}

void litho_camera_look(LithoCamera *camera, char direction)
{
    static const struct {
        char key;
        double yaw, pitch;
    } known[] = {{'n', 0, 4}, {'e', 90, 4}, {'s', 180, 4}, {'w', 270, 4}, {'t', 0, 89}};
    memset(camera->target, 0, sizeof camera->target);
    camera->distance = standard_distance;
    for (guint k = 0; k < G_N_ELEMENTS(known); k++)
        if (known[k].key == direction) {
            camera->yaw = known[k].yaw;
            camera->pitch = known[k].pitch;
        }
}

// --- picking ------------------------------------------------------------------------------------

void litho_scene_ray(const LithoGrid *grid, const LithoSceneView *view, LithoRect rect, double x,
                     double y, double origin[3], double direction[3])
{
    double world[16], eye[3], right[3], up[3], forward[3], d[3];
    world_matrix(grid, view, world);
    camera_axes(&view->camera, eye, right, up, forward);
    Lens lens = lens_of(view, rect);
    double u = (2 * (x - rect.x) / rect.w - 1 - lens.shift_h) * lens.tan_h;
    double v = (1 - 2 * (y - rect.y) / rect.h - lens.shift_v) * lens.tan_v;
    for (int k = 0; k < 3; k++)
        d[k] = forward[k] + right[k] * u + up[k] * v;
    affine_inverse(world, eye, 1, origin);
    affine_inverse(world, d, 0, direction);
}

gboolean litho_scene_pick(const LithoGrid *grid, const LithoSceneView *view, LithoRect rect,
                          double x, double y, LithoScenePick *pick)
{
    double o[3], d[3], best = G_MAXDOUBLE;
    if (!litho_rect_contains(rect, x, y))
        return FALSE;
    litho_scene_ray(grid, view, rect, x, y, o, d);
    for (int axis = 0; axis < 3; axis++) {
        double t = d[axis] != 0 ? (view->index[axis] - o[axis]) / d[axis] : -1;
        if (!view->visible[axis] || !(t > 0) || t >= best)
            continue;
        double at[3];
        gboolean hit = TRUE;
        for (int k = 0; k < 3; k++) {
            at[k] = k == axis ? view->index[axis] : o[k] + t * d[k];
            hit = hit && at[k] >= -0.5 && at[k] < grid->axis[k].n - 0.5;
        }
        if (!hit)
            continue;
        best = t;
        pick->axis = axis;
        for (int k = 0; k < 3; k++) {
            pick->index[k] = at[k];
            pick->nearest[k] = (gint64)floor(at[k] + 0.5);
        }
    }
    return best < G_MAXDOUBLE;
}

double litho_scene_drag(const LithoGrid *grid, const LithoSceneView *view, LithoRect rect, int axis,
                        double x, double y, double dx, double dy)
{
    // The slice follows the mouse along the picture of its normal through the point under it.
    LithoScenePick pick;
    double matrix[16], at[3], x0, y0, x1, y1;
    for (int k = 0; k < 3; k++)
        at[k] = (grid->axis[k].n - 1) / 2.0;
    if (litho_scene_pick(grid, view, rect, x, y, &pick))
        memcpy(at, pick.index, sizeof at);
    litho_scene_matrix(grid, view, rect, matrix);
    double step = MAX(grid->axis[axis].n / 100.0, 1);
    if (!litho_scene_project(matrix, rect, at, &x0, &y0, NULL))
        return 0;
    at[axis] += step;
    if (!litho_scene_project(matrix, rect, at, &x1, &y1, NULL))
        return 0;
    double px = x1 - x0, py = y1 - y0, square = px * px + py * py;
    // A slice seen along its normal would fly: at least a quarter pixel per step.
    return (px * dx + py * dy) / MAX(square, 0.0625) * step;
}

guint litho_scene_view_boxes(const LithoSceneView *view, const LithoGrid *grid, LithoBox boxes[3])
{
    guint n = 0;
    for (int axis = 0; axis < 3; axis++)
        if (view->visible[axis])
            boxes[n++] = litho_box_slice(grid, axis, view->index[axis]);
    return n;
}
