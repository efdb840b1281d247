// SPDX-License-Identifier: GPL-3.0-or-later
#include "render/scene.h"

#include <math.h>
#include <string.h>

// Text around the box of the 3-D scene. Which edges carry numbers follows the camera: edges of the
// silhouette only, so that text never lies over data; of those the lower ones and the left one.

static double font_size(const LithoAxesStyle *style)
{
    return style->font_size > 0 ? style->font_size : 11;
}

// Text centred on (x, y) with a halo in the background's brightness: legible anywhere.
static void centred_text(cairo_t *cr, const LithoAxesStyle *style, double x, double y,
                         const char *text)
{
    cairo_text_extents_t e;
    cairo_text_extents(cr, text, &e);
    const double *ink = style->ink;
    double dark = ink[3] > 0 && ink[0] + ink[1] + ink[2] > 1.5 ? 0 : 1;
    cairo_move_to(cr, x - e.x_advance / 2, y + 0.36 * font_size(style));
    cairo_text_path(cr, text);
    cairo_set_line_width(cr, 2.5);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    cairo_set_source_rgba(cr, dark, dark, dark, 0.55);
    cairo_stroke_preserve(cr);
    if (ink[3] > 0)
        cairo_set_source_rgba(cr, ink[0], ink[1], ink[2], ink[3]);
    else
        cairo_set_source_rgba(cr, 0, 0, 0, 1);
    cairo_fill(cr);
}

typedef struct Edge {
    int axis;
    double from[3], to[3]; // indices of its ends
    double x0, y0, x1, y1; // pixels
    double out_x, out_y;   // unit vector away from the box on screen
} Edge;

// TRUE when the face of the box at the low or high end of `axis` is turned to the eye.
static gboolean face_visible(const LithoGrid *grid, const LithoSceneView *view, LithoRect rect,
                             int axis, gboolean high)
{
    double origin[3], direction[3];
    litho_scene_ray(grid, view, rect, rect.x + rect.w / 2, rect.y + rect.h / 2, origin, direction);
    return high ? origin[axis] > grid->axis[axis].n - 0.5 : origin[axis] < -0.5;
}

// An edge lies on the silhouette when one of its two faces is seen and the other is not.
static gboolean on_silhouette(const LithoGrid *grid, const LithoSceneView *view, LithoRect rect,
                              int axis, int corner)
{
    gboolean seen[2];
    for (int k = 0, bit = 0; k < 3; k++)
        if (k != axis) {
            seen[bit] = face_visible(grid, view, rect, k, corner >> bit & 1);
            bit++;
        }
    return seen[0] != seen[1];
}

// The four edges parallel to `axis`; FALSE when one lies behind the eye.
static gboolean make_edge(const LithoGrid *grid, const double m[16], LithoRect rect, int axis,
                          int corner, Edge *edge)
{
    edge->axis = axis;
    for (int k = 0, bit = 0; k < 3; k++) {
        double high = grid->axis[k].n - 0.5;
        if (k == axis) {
            edge->from[k] = -0.5;
            edge->to[k] = high;
        } else {
            edge->from[k] = edge->to[k] = corner >> bit & 1 ? high : -0.5;
            bit++;
        }
    }
    return litho_scene_project(m, rect, edge->from, &edge->x0, &edge->y0, NULL) &&
           litho_scene_project(m, rect, edge->to, &edge->x1, &edge->y1, NULL);
}

// Lower is better: vertical edges want to be left, horizontal ones low on the screen (high when the
// eye is below the box).
static double edge_rank(const Edge *edge, gboolean from_below)
{
    if (edge->axis == LITHO_SAMPLE)
        return (edge->x0 + edge->x1) / 2;
    return (edge->y0 + edge->y1) / 2 * (from_below ? 1 : -1);
}

static void point_outwards(Edge *edge, double centre_x, double centre_y)
{
    double dx = edge->x1 - edge->x0, dy = edge->y1 - edge->y0, length = MAX(hypot(dx, dy), 1e-9);
    edge->out_x = -dy / length;
    edge->out_y = dx / length;
    double mx = (edge->x0 + edge->x1) / 2 - centre_x, my = (edge->y0 + edge->y1) / 2 - centre_y;
    if (edge->out_x * mx + edge->out_y * my < 0) {
        edge->out_x = -edge->out_x;
        edge->out_y = -edge->out_y;
    }
}

static void tick_text(char *out, gsize size, const LithoAxisText *text, double value, double step)
{
    if (text->whole)
        g_snprintf(out, size, "%s%.0f", value < 0 ? "\u2212" : "", fabs(value));
    else
        litho_format_number(out, size, value, step);
}

// `at` moved so that half a width `half` on both sides of it lies between low and low + length;
// what is off the picture stays there.
static double kept_inside(double at, double anchor, double half, double low, double length)
{
    if (anchor < low || anchor > low + length || length < 2 * half + 4)
        return at;
    return CLAMP(at, low + half + 2, low + length - half - 2);
}

// The corners' reach of a label along the unit vector (ux, uy), from its middle.
static double reach_along(const LithoSceneLabel *l, double ux, double uy)
{
    const double c = cos(l->angle), s = sin(l->angle);
    return fabs(ux * c + uy * s) * l->w / 2 + fabs(uy * c - ux * s) * l->h / 2;
}

gboolean litho_scene_labels_meet(const LithoSceneLabel *a, const LithoSceneLabel *b)
{
    // Two rectangles are apart when they are along the direction of a side of one of them.
    const double angle[] = {a->angle, a->angle + G_PI / 2, b->angle, b->angle + G_PI / 2};
    for (guint k = 0; k < G_N_ELEMENTS(angle); k++) {
        const double ux = cos(angle[k]), uy = sin(angle[k]);
        if (fabs((a->x - b->x) * ux + (a->y - b->y) * uy) >=
            reach_along(a, ux, uy) + reach_along(b, ux, uy))
            return FALSE;
    }
    return TRUE;
}

static gboolean is_free(const LithoSceneLabels *taken, const LithoSceneLabel *label)
{
    for (guint k = 0; k < taken->n; k++)
        if (litho_scene_labels_meet(&taken->label[k], label))
            return FALSE;
    return TRUE;
}

static void take(LithoSceneLabels *taken, const LithoSceneLabel *label)
{
    if (taken->n < G_N_ELEMENTS(taken->label))
        taken->label[taken->n++] = *label;
}

typedef struct Numbers {
    LithoSceneLabel label[16];
    guint n;
    double widest;
} Numbers;

// The numbers of an edge that meet no label of the edges before it.
static void place_numbers(cairo_t *cr, const LithoAxesStyle *style, const LithoGrid *grid,
                          const LithoAxisText *text, const double m[16], LithoRect rect,
                          const Edge *edge, LithoSceneLabels *all, Numbers *out)
{
    const LithoAxis *axis = &grid->axis[edge->axis];
    const double size = font_size(style), length = hypot(edge->x1 - edge->x0, edge->y1 - edge->y0);
    const LithoTicks ticks =
        litho_ticks(litho_axis_shown(text, axis, -0.5), litho_axis_shown(text, axis, axis->n - 0.5),
                    CLAMP(length / (4.5 * size), 1.01, 8), text->whole);
    for (guint k = 0; k < ticks.n; k++) {
        double at[3], x, y;
        LithoSceneLabel label = {.h = 0.8 * size};
        memcpy(at, edge->from, sizeof at);
        at[edge->axis] = litho_axis_shown_at(text, axis, ticks.value[k]);
        if (!litho_scene_project(m, rect, at, &x, &y, NULL))
            continue;
        if (all->n_ticks < G_N_ELEMENTS(all->tick)) {
            double *tick = all->tick[all->n_ticks++];
            tick[0] = x;
            tick[1] = y;
            tick[2] = x + edge->out_x * 5;
            tick[3] = y + edge->out_y * 5;
        }
        tick_text(label.text, sizeof label.text, text, ticks.value[k], ticks.step);
        cairo_text_extents_t e;
        cairo_text_extents(cr, label.text, &e);
        label.w = e.x_advance;
        out->widest = MAX(out->widest, e.x_advance);
        const double away = 8 + fabs(edge->out_x) * e.x_advance / 2 + fabs(edge->out_y) * size / 2;
        label.x = kept_inside(x + edge->out_x * away, x, e.x_advance / 2, rect.x, rect.w);
        label.y = kept_inside(y + edge->out_y * away, y, size / 2, rect.y, rect.h);
        if (is_free(all, &label) && out->n < G_N_ELEMENTS(out->label))
            out->label[out->n++] = label;
    }
}

// The place of a title along its edge: the nearest to its middle that is free; where a narrow
// picture pushes it over numbers of its own edge everywhere, the place that covers the fewest.
// FALSE: other edges' labels leave none.
static gboolean place_title(const LithoSceneLabels *all, const Numbers *numbers, LithoRect rect,
                            const Edge *edge, double away, LithoSceneLabel *title)
{
    const double length = hypot(edge->x1 - edge->x0, edge->y1 - edge->y0);
    // A title slides up to a letter beyond the ends of a short edge, so that the number there
    // stays.
    const double slide = ((length - title->w) / 2 + title->h) / length;
    const double wide = reach_along(title, 1, 0), high = reach_along(title, 0, 1);
    guint fewest = G_MAXUINT;
    for (int k = 0; k <= 32; k++) {
        const double along = 0.5 + (k % 2 ? -1 : 1) * ((k + 1) / 2) / 16.0 * slide;
        const double on_x = edge->x0 + along * (edge->x1 - edge->x0);
        const double on_y = edge->y0 + along * (edge->y1 - edge->y0);
        LithoSceneLabel label = *title;
        label.x = kept_inside(on_x + edge->out_x * away, on_x, wide, rect.x, rect.w);
        label.y = kept_inside(on_y + edge->out_y * away, on_y, high, rect.y, rect.h);
        guint covered = 0;
        for (guint j = 0; j < numbers->n; j++)
            covered += litho_scene_labels_meet(&numbers->label[j], &label);
        if (covered < fewest && is_free(all, &label)) {
            fewest = covered;
            *title = label;
        }
    }
    return fewest < G_MAXUINT;
}

static void place_edge(cairo_t *cr, const LithoAxesStyle *style, const LithoGrid *grid,
                       const LithoAxisText *how, const double m[16], LithoRect rect,
                       const Edge *edge, LithoSceneLabels *all)
{
    const LithoAxisText text = how ? *how : litho_axis_text(grid, edge->axis, style->units);
    const double size = font_size(style), length = hypot(edge->x1 - edge->x0, edge->y1 - edge->y0);
    Numbers numbers = {.n = 0};
    place_numbers(cr, style, grid, &text, m, rect, edge, all, &numbers);
    LithoSceneLabel title = {.h = size};
    if (*text.unit)
        g_snprintf(title.text, sizeof title.text, "%s (%s)", text.label, text.unit);
    else
        g_strlcpy(title.text, text.label, sizeof title.text);
    cairo_text_extents_t e;
    cairo_text_extents(cr, title.text, &e);
    title.w = e.x_advance + 0.4 * size; // some air to a number before or behind it
    // Along the edge, read from left to right, steep ones from below.
    title.angle = atan2(edge->y1 - edge->y0, edge->x1 - edge->x0);
    if (title.angle > 0.4 * G_PI)
        title.angle -= G_PI;
    if (title.angle < -0.6 * G_PI)
        title.angle += G_PI;
    const double away =
        14 + fabs(edge->out_x) * (numbers.widest + 0.5 * size) + fabs(edge->out_y) * 1.6 * size;
    const gboolean titled =
        length > e.x_advance + size && place_title(all, &numbers, rect, edge, away, &title);
    for (guint k = 0; k < numbers.n; k++)
        if (is_free(all, &numbers.label[k]) &&
            !(titled && litho_scene_labels_meet(&numbers.label[k], &title)))
            take(all, &numbers.label[k]);
    if (titled)
        take(all, &title);
}

// TRUE where the ray through a pixel meets the box of the survey.
static gboolean meets_box(const LithoGrid *grid, const LithoSceneView *view, LithoRect rect,
                          double x, double y)
{
    double o[3], d[3], near = 0, far = G_MAXDOUBLE;
    litho_scene_ray(grid, view, rect, x, y, o, d);
    for (int k = 0; k < 3; k++) {
        const double a = (-0.5 - o[k]) / d[k], b = (grid->axis[k].n - 0.5 - o[k]) / d[k];
        near = fmax(near, fmin(a, b)); // a direction of 0 makes both infinite, of one sign outside
        far = fmin(far, fmax(a, b));
    }
    return near <= far;
}

static gboolean lies_on_box(const LithoGrid *grid, const LithoSceneView *view, LithoRect rect,
                            const LithoSceneLabel *at)
{
    enum { POINTS = 4 };
    for (int i = 0; i <= POINTS; i++)
        for (int j = 0; j <= POINTS; j++)
            if (meets_box(grid, view, rect, at->x + at->w * ((double)i / POINTS - 0.5),
                          at->y + at->h * ((double)j / POINTS - 0.5)))
                return TRUE;
    return FALSE;
}

// How much of its width the compass is high: seen from the side it stays a compass.
static double flatness(const LithoSceneView *view)
{
    const double tilt = sin(view->camera.pitch * G_PI / 180);
    return MAX(fabs(tilt), 0.4) * (tilt < 0 ? -1 : 1);
}

LithoSceneLabel litho_scene_place_compass(const LithoAxesStyle *style, const LithoGrid *grid,
                                          const LithoSceneView *view, LithoRect rect,
                                          const LithoSceneLabels *taken)
{
    const double size = font_size(style), w = 6.6 * size;
    const double h = (5.6 * fabs(flatness(view)) + 1.2) * size;
    const double left = rect.x + w / 2, right = rect.x + rect.w - w / 2, top = rect.y + h / 2,
                 low = rect.y + rect.h - h / 2;
    // Down on the left: the box seen from above leaves that corner free, unless labels are there.
    const double corner[][2] = {{left, low}, {right, low}, {left, top}, {right, top}};
    LithoSceneLabel place = {.x = right, .y = top, .w = w, .h = h};
    for (int on_box = 0; on_box < 2; on_box++)
        for (guint k = 0; k < G_N_ELEMENTS(corner); k++) {
            place.x = corner[k][0];
            place.y = corner[k][1];
            if (is_free(taken, &place) && (on_box || !lies_on_box(grid, view, rect, &place)))
                return place;
        }
    return place;
}

// A compass in the corner. Left out when the coordinates are an assumption: north would be a guess.
static void draw_north(cairo_t *cr, const LithoAxesStyle *style, const LithoGrid *grid,
                       const LithoSceneView *view, LithoRect rect, const LithoSceneLabels *taken)
{
    if (!grid->has_xy || grid->xy_source == LITHO_FROM_ASSUMED || rect.w < 160 || rect.h < 120)
        return;
    double size = font_size(style), r = 2 * size;
    const LithoSceneLabel place = litho_scene_place_compass(style, grid, view, rect, taken);
    const double x = place.x, y = place.y;
    double yaw = view->camera.yaw * G_PI / 180;
    // North on screen: to the left by sin(yaw), up by cos(yaw), foreshortened by the pitch.
    double flat = flatness(view);
    double nx = -sin(yaw), ny = -cos(yaw) * flat, ex = cos(yaw), ey = -sin(yaw) * flat;
    const double *ink = style->ink, alpha = ink[3] > 0 ? ink[3] : 1;
    cairo_set_line_width(cr, 1);
    cairo_set_source_rgba(cr, ink[0], ink[1], ink[2], alpha * 0.5);
    cairo_save(cr);
    cairo_translate(cr, x, y);
    cairo_scale(cr, 1, fabs(flat));
    cairo_arc(cr, 0, 0, r, 0, 2 * G_PI);
    cairo_restore(cr);
    cairo_stroke(cr);
    for (int half = 0; half < 2; half++) { // a needle, one half filled
        double side = half ? 0.28 : -0.28;
        cairo_move_to(cr, x + nx * r, y + ny * r);
        cairo_line_to(cr, x + ex * side * r, y + ey * side * r);
        cairo_line_to(cr, x - nx * r * 0.7, y - ny * r * 0.7);
        cairo_close_path(cr);
        cairo_set_source_rgba(cr, ink[0], ink[1], ink[2], alpha * (half ? 1 : 0.35));
        cairo_fill(cr);
    }
    centred_text(cr, style, x + nx * (r + 0.8 * size), y + ny * (r + 0.8 * size), "N");
}

void litho_scene_place_labels(cairo_t *cr, const LithoAxesStyle *style, const LithoGrid *grid,
                              const LithoSceneView *view, LithoRect rect,
                              const LithoAxisText texts[3], LithoSceneLabels *labels)
{
    double m[16], cx, cy;
    const double middle[3] = {(grid->axis[0].n - 1) / 2.0, (grid->axis[1].n - 1) / 2.0,
                              (grid->axis[2].n - 1) / 2.0};
    labels->n = labels->n_ticks = 0;
    litho_scene_matrix(grid, view, rect, m);
    cairo_save(cr);
    litho_axes_set_font(cr, style, 1, FALSE);
    if (litho_scene_project(m, rect, middle, &cx, &cy, NULL))
        for (int axis = 0; axis < 3; axis++) {
            Edge best = {0}, edge;
            gboolean found = FALSE, below = view->camera.pitch < 0;
            for (int corner = 0; corner < 4; corner++) {
                if (!on_silhouette(grid, view, rect, axis, corner) ||
                    !make_edge(grid, m, rect, axis, corner, &edge))
                    continue;
                if (!found || edge_rank(&edge, below) < edge_rank(&best, below)) {
                    best = edge;
                    found = TRUE;
                }
            }
            if (!found)
                continue;
            point_outwards(&best, cx, cy);
            place_edge(cr, style, grid, texts ? &texts[axis] : NULL, m, rect, &best, labels);
        }
    cairo_restore(cr);
}

void litho_scene_draw_labels(cairo_t *cr, const LithoAxesStyle *style, const LithoGrid *grid,
                             const LithoSceneView *view, LithoRect rect,
                             const LithoAxisText texts[3])
{
    LithoSceneLabels labels;
    litho_scene_place_labels(cr, style, grid, view, rect, texts, &labels);
    cairo_save(cr);
    cairo_rectangle(cr, rect.x, rect.y, rect.w, rect.h);
    cairo_clip(cr);
    litho_axes_set_font(cr, style, 1, FALSE);
    const double *ink = style->ink;
    cairo_set_source_rgba(cr, ink[0], ink[1], ink[2], ink[3] > 0 ? ink[3] : 1);
    cairo_set_line_width(cr, 1);
    for (guint k = 0; k < labels.n_ticks; k++) {
        cairo_move_to(cr, labels.tick[k][0], labels.tick[k][1]);
        cairo_line_to(cr, labels.tick[k][2], labels.tick[k][3]);
    }
    cairo_stroke(cr);
    for (guint k = 0; k < labels.n; k++) {
        cairo_save(cr);
        cairo_translate(cr, labels.label[k].x, labels.label[k].y);
        cairo_rotate(cr, labels.label[k].angle);
        centred_text(cr, style, 0, 0, labels.label[k].text);
        cairo_restore(cr);
    }
    draw_north(cr, style, grid, view, rect, &labels);
    cairo_restore(cr);
}
