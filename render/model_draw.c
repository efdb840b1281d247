// SPDX-License-Identifier: GPL-3.0-or-later
//
// The model with cairo: painter's order, far to near, flat shading as mesh.frag's.
#include "core/text.h"
#include "render/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- shapes -------------------------------------------------------------------------------------

typedef struct Projected {
    float x, y, depth; // depth < 0 = behind the eye
} Projected;

typedef struct Piece {
    float depth;
    guint mesh;
    guint32 first; // index (triangles, lines) or vertex (points) it begins with
} Piece;

typedef struct Painter {
    cairo_t *cr;
    GPtrArray *meshes;
    Projected **at; // per mesh and vertex
    double world[16], light[3];
} Painter;

static int farther_first(const void *a, const void *b)
{
    float x = ((const Piece *)a)->depth, y = ((const Piece *)b)->depth;
    return (x < y) - (x > y);
}

static guint vertices_per_piece(const LithoMesh *mesh)
{
    return mesh->kind == LITHO_MESH_TRIANGLES ? 3 : mesh->kind == LITHO_MESH_LINES ? 2 : 1;
}

static guint vertex_of(const LithoMesh *mesh, const Piece *piece, guint k)
{
    return mesh->n_index > 0 ? mesh->index[piece->first + k] : piece->first + k;
}

static GArray *collect(const Painter *p)
{
    GArray *pieces = g_array_new(FALSE, FALSE, sizeof(Piece));
    for (guint m = 0; m < p->meshes->len; m++) {
        const LithoMesh *mesh = g_ptr_array_index(p->meshes, m);
        guint step = vertices_per_piece(mesh), n = mesh->n_index > 0 ? mesh->n_index : mesh->n;
        guint next = mesh->kind == LITHO_MESH_LINES && mesh->n_index == 0 ? 1 : step;
        for (guint first = 0; first + step <= n; first += next) {
            Piece piece = {0, m, first};
            gboolean seen = TRUE;
            for (guint k = 0; k < step; k++) {
                const Projected *at = &p->at[m][vertex_of(mesh, &piece, k)];
                seen = seen && at->depth > 0;
                piece.depth += at->depth / step;
            }
            // A line or mark on a surface is drawn over it, as the depth bias does on the device.
            if (mesh->kind != LITHO_MESH_TRIANGLES)
                piece.depth *= 0.999f;
            if (seen)
                g_array_append_val(pieces, piece);
        }
    }
    qsort(pieces->data, pieces->len, sizeof(Piece), farther_first);
    return pieces;
}

static void mean_colour(const LithoMesh *mesh, const Piece *piece, double rgba[4])
{
    guint n = vertices_per_piece(mesh);
    for (int c = 0; c < 4; c++) {
        rgba[c] = mesh->colour ? 0 : mesh->rgba[c];
        for (guint k = 0; k < n && mesh->colour; k++)
            rgba[c] += mesh->colour[4 * (gsize)vertex_of(mesh, piece, k) + c] / 255.0 / n;
    }
}

// Cosine between the triangle's normal in the world and the light.
static double facing_of(const Painter *p, const LithoMesh *mesh, const Piece *piece)
{
    double v[3][3];
    for (guint k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++) {
            const float *at = &mesh->position[3 * (gsize)vertex_of(mesh, piece, k)];
            v[k][c] = p->world[c] * at[0] + p->world[4 + c] * at[1] + p->world[8 + c] * at[2];
        }
    double a[3], b[3];
    for (int c = 0; c < 3; c++) {
        a[c] = v[1][c] - v[0][c];
        b[c] = v[2][c] - v[0][c];
    }
    const double n[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                         a[0] * b[1] - a[1] * b[0]};
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    return fabs(n[0] * p->light[0] + n[1] * p->light[1] + n[2] * p->light[2]) / MAX(length, 1e-20);
}

static void paint(const Painter *p, const Piece *piece)
{
    const LithoMesh *mesh = g_ptr_array_index(p->meshes, piece->mesh);
    double rgba[4], shade = 1;
    mean_colour(mesh, piece, rgba);
    if (mesh->kind == LITHO_MESH_TRIANGLES)
        shade = 0.45 + 0.55 * facing_of(p, mesh, piece);
    for (guint k = 0; k < vertices_per_piece(mesh); k++) {
        const Projected *at = &p->at[piece->mesh][vertex_of(mesh, piece, k)];
        cairo_line_to(p->cr, at->x, at->y);
    }
    if (mesh->kind == LITHO_MESH_POINTS)
        cairo_close_path(p->cr); // a dot, by the round cap
    cairo_set_source_rgba(p->cr, rgba[0] * shade, rgba[1] * shade, rgba[2] * shade, rgba[3]);
    if (mesh->kind == LITHO_MESH_TRIANGLES) {
        // Without smoothing: it would leave a seam between neighbours.
        cairo_set_antialias(p->cr, CAIRO_ANTIALIAS_NONE);
        cairo_fill(p->cr);
        return;
    }
    cairo_set_antialias(p->cr, CAIRO_ANTIALIAS_DEFAULT);
    cairo_set_line_width(p->cr, mesh->size);
    cairo_stroke(p->cr);
}

static void project(Painter *p, const double matrix[16], LithoRect rect)
{
    p->at = g_new0(Projected *, p->meshes->len);
    for (guint m = 0; m < p->meshes->len; m++) {
        const LithoMesh *mesh = g_ptr_array_index(p->meshes, m);
        p->at[m] = g_new(Projected, MAX(mesh->n, 1));
        for (guint k = 0; k < mesh->n; k++) {
            const float *at = &mesh->position[3 * (gsize)k];
            double x = 0, y = 0, depth;
            if (!litho_scene_project(matrix, rect, (double[]){at[0], at[1], at[2]}, &x, &y, &depth))
                depth = -1;
            p->at[m][k] = (Projected){(float)x, (float)y, (float)depth};
        }
    }
}

static void draw_outline(cairo_t *cr, const double matrix[16], LithoRect rect)
{
    for (int c = 0; c < 8; c++)
        for (int k = 0; k < 3; k++) {
            double from[3], to[3], x0, y0, x1, y1;
            for (int a = 0; a < 3; a++)
                from[a] = to[a] = c >> a & 1 ? 0.5 : -0.5;
            to[k] = 0.5;
            if (c >> k & 1 || !litho_scene_project(matrix, rect, from, &x0, &y0, NULL) ||
                !litho_scene_project(matrix, rect, to, &x1, &y1, NULL))
                continue;
            gboolean top = k != 2 && !(c >> 2 & 1);
            cairo_set_line_width(cr, top ? 1.6 : 1);
            cairo_set_source_rgba(cr, top ? 0.85 : 0.62, top ? 0.85 : 0.62, top ? 0.85 : 0.62, 0.8);
            cairo_move_to(cr, x0, y0);
            cairo_line_to(cr, x1, y1);
            cairo_stroke(cr);
        }
}

void litho_model_draw(cairo_t *cr, const LithoModel *model, const LithoSceneView *view,
                      LithoRect rect, const double background[3])
{
    double matrix[16], yaw = (view->camera.yaw - 40) * G_PI / 180;
    Painter p = {
        .cr = cr, .meshes = model->meshes, .light = {-sin(yaw) * 0.6, -cos(yaw) * 0.6, 0.53}};
    double length = hypot(0.6, 0.53);
    for (int c = 0; c < 3; c++)
        p.light[c] /= length;
    litho_scene_matrix(&model->grid, view, rect, matrix);
    litho_scene_world(&model->grid, view, p.world);
    cairo_save(cr);
    cairo_rectangle(cr, rect.x, rect.y, rect.w, rect.h);
    cairo_clip(cr);
    cairo_set_source_rgb(cr, background[0], background[1], background[2]);
    cairo_paint(cr);
    cairo_set_line_cap(cr, CAIRO_LINE_CAP_ROUND);
    project(&p, matrix, rect);
    GArray *pieces = collect(&p);
    for (guint k = 0; k < pieces->len; k++)
        paint(&p, &g_array_index(pieces, Piece, k));
    g_array_unref(pieces);
    for (guint m = 0; m < p.meshes->len; m++)
        g_free(p.at[m]);
    g_free(p.at);
    draw_outline(cr, matrix, rect);
    cairo_restore(cr);
}

// --- legend -------------------------------------------------------------------------------------

static void draw_swatch(cairo_t *cr, const LithoModelEntry *e, double x, double y, double size)
{
    double w = 1.6 * size;
    if (e->by_value) {
        for (int k = 0; k < 16; k++) {
            double rgb[3];
            litho_colormap_at(litho_model_colours(), 0.25 + 0.75 * k / 15, rgb);
            cairo_set_source_rgb(cr, rgb[0], rgb[1], rgb[2]);
            cairo_rectangle(cr, x + w * k / 16, y - 0.3 * size, w / 16 + 0.5, 0.6 * size);
            cairo_fill(cr);
        }
        return;
    }
    cairo_set_source_rgb(cr, e->rgba[0], e->rgba[1], e->rgba[2]);
    if (e->kind == LITHO_SHAPE_POINTS) {
        cairo_arc(cr, x + w / 2, y, 0.32 * size, 0, 2 * G_PI);
        cairo_fill(cr);
    } else if (e->kind == LITHO_SHAPE_LINE) {
        cairo_rectangle(cr, x, y - 1, w, 2);
        cairo_fill(cr);
    } else {
        cairo_rectangle(cr, x, y - 0.3 * size, w, 0.6 * size);
        cairo_fill(cr);
    }
}

static double text_width(cairo_t *cr, const char *text)
{
    cairo_text_extents_t e;
    cairo_text_extents(cr, text, &e);
    return e.x_advance;
}

void litho_model_draw_legend(cairo_t *cr, const LithoAxesStyle *style, const LithoModel *model,
                             LithoRect rect)
{
    double size = style->font_size > 0 ? style->font_size : 11, line = 1.5 * size, widest = 0;
    guint n = model->legend->len, room = (guint)MAX((rect.h * 0.6 - size) / line, 0);
    gboolean cut = n > room;
    guint lines = MIN(n, room);
    if (lines == 0)
        return;
    g_autofree char *more = g_strdup_printf(_("and %u more"), n - lines + 1);
    cairo_save(cr);
    cairo_rectangle(cr, rect.x, rect.y, rect.w, rect.h);
    cairo_clip(cr);
    litho_axes_set_font(cr, style, 1, FALSE);
    for (guint k = 0; k < lines; k++)
        widest =
            MAX(widest, text_width(cr, g_array_index(model->legend, LithoModelEntry, k).label));
    cairo_set_source_rgba(cr, 0.12, 0.12, 0.12, 0.6);
    cairo_rectangle(cr, rect.x, rect.y, MIN(widest + 3.6 * size, rect.w),
                    lines * line + 0.5 * size);
    cairo_fill(cr);
    for (guint k = 0; k < lines; k++) {
        const LithoModelEntry *e = &g_array_index(model->legend, LithoModelEntry, k);
        double y = rect.y + 0.25 * size + (k + 0.5) * line;
        gboolean last = cut && k + 1 == lines;
        if (!last)
            draw_swatch(cr, e, rect.x + 0.6 * size, y, size);
        cairo_set_source_rgba(cr, 0.9, 0.9, 0.9, 1);
        cairo_move_to(cr, rect.x + 2.8 * size, y + 0.36 * size);
        g_autofree char *fitted = litho_axes_fit(cr, last ? more : e->label, rect.w - 3.6 * size);
        cairo_show_text(cr, fitted);
    }
    cairo_restore(cr);
}
