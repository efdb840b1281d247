// SPDX-License-Identifier: GPL-3.0-or-later
//
// Triangulated sheets: Wavefront and GOCAD files, and the height grid under them.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/contents.h"
#include "core/error.h"
#include "core/text.h"
#include "kernels/twsm/heights.h"

void twsm_sheet_free(TwsmSheet *sheet)
{
    if (!sheet)
        return;
    g_free(sheet->vertex);
    g_free(sheet->triangle);
    g_free(sheet);
}

typedef struct Reader {
    GArray *vertices, *triangles; // double[3], int[3]
    GHashTable *ids;              // GOCAD vertex number -> index + 1
    double sign;                  // -1 when z points up
} Reader;

static gboolean add_vertex(Reader *r, const double v[3])
{
    double down[3] = {v[0], v[1], r->sign * v[2]};
    g_array_append_vals(r->vertices, down, 1);
    return isfinite(v[0] + v[1] + v[2]);
}

// Number of a vertex as the file names it -> index, or -1.
static int vertex_index(Reader *r, int number)
{
    if (g_hash_table_size(r->ids) > 0)
        return GPOINTER_TO_INT(g_hash_table_lookup(r->ids, GINT_TO_POINTER(number))) - 1;
    if (number < 0) // Wavefront: counted from the end
        return (int)r->vertices->len + number;
    return number <= (int)r->vertices->len ? number - 1 : -1;
}

// One line; FALSE when it is a triangle of vertices that are not there, or no whole vertex.
static gboolean read_line(Reader *r, const char *line)
{
    double v[3];
    int id, n[3];
    if (sscanf(line, "v %lf %lf %lf", &v[0], &v[1], &v[2]) == 3) {
        return add_vertex(r, v);
    } else if (sscanf(line, "VRTX %d %lf %lf %lf", &id, &v[0], &v[1], &v[2]) == 4 ||
               sscanf(line, "PVRTX %d %lf %lf %lf", &id, &v[0], &v[1], &v[2]) == 4) {
        gboolean whole = add_vertex(r, v);
        g_hash_table_insert(r->ids, GINT_TO_POINTER(id), GINT_TO_POINTER(r->vertices->len));
        return whole;
    } else if (sscanf(line, "TRGL %d %d %d", &n[0], &n[1], &n[2]) == 3 ||
               sscanf(line, "f %d%*[^ ] %d%*[^ ] %d", &n[0], &n[1], &n[2]) == 3 ||
               sscanf(line, "f %d %d %d", &n[0], &n[1], &n[2]) == 3) {
        for (int k = 0; k < 3; k++) {
            n[k] = vertex_index(r, n[k]);
            if (n[k] < 0)
                return FALSE;
        }
        g_array_append_vals(r->triangles, n, 1);
    } else if (g_str_has_prefix(line, "ZPOSITIVE")) {
        r->sign = strstr(line, "Elevation") || strstr(line, "ELEVATION") ? -1 : 1;
    } else if (g_str_has_prefix(line, "v ") || g_str_has_prefix(line, "f ") ||
               g_str_has_prefix(line, "TRGL") || g_str_has_prefix(line, "VRTX")) {
        return FALSE;
    }
    return TRUE;
}

static gboolean read_lines(Reader *r, char *text, const char *path, GError **error)
{
    int number = 0;
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        number++;
        if (!read_line(r, line)) {
            g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                        _("line %d of %s is not a vertex of three numbers or a triangle of three "
                          "known vertices: %.40s"),
                        number, path, line);
            return FALSE;
        }
    }
    return TRUE;
}

TwsmSheet *twsm_sheet_load(const char *path, GError **error)
{
    g_autofree char *text = litho_contents_load_text(path, LITHO_CONTENTS_TEXT, error);
    if (!text)
        return NULL;
    Reader r = {g_array_new(FALSE, FALSE, sizeof(double[3])),
                g_array_new(FALSE, FALSE, sizeof(int[3])), g_hash_table_new(NULL, NULL), 1};
    TwsmSheet *sheet = NULL;
    if (read_lines(&r, text, path, error)) {
        if (r.triangles->len == 0)
            g_set_error(
                error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                _("%s holds no triangles; \"v\" and \"f\" or \"VRTX\" and \"TRGL\" lines are "
                  "needed"),
                path);
        else
            sheet = g_new0(TwsmSheet, 1);
    }
    g_hash_table_unref(r.ids);
    int n_vertices = r.vertices->len, n_triangles = r.triangles->len;
    gpointer vertex = g_array_free(r.vertices, sheet == NULL);
    gpointer triangle = g_array_free(r.triangles, sheet == NULL);
    if (sheet)
        *sheet = (TwsmSheet){n_vertices, n_triangles, vertex, triangle};
    return sheet;
}

// Depths of the grid points under one triangle.
static void raster_triangle(const TwsmSheet *sheet, int t, TwsmHeights *h, guint8 *known)
{
    const double *a = sheet->vertex[sheet->triangle[t][0]];
    const double *b = sheet->vertex[sheet->triangle[t][1]];
    const double *c = sheet->vertex[sheet->triangle[t][2]];
    double det = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
    if (det == 0)
        return;
    int x0 = (int)ceil((MIN(MIN(a[0], b[0]), c[0]) - h->x0) / h->dx - 1e-9);
    int x1 = (int)floor((MAX(MAX(a[0], b[0]), c[0]) - h->x0) / h->dx + 1e-9);
    int y0 = (int)ceil((MIN(MIN(a[1], b[1]), c[1]) - h->y0) / h->dy - 1e-9);
    int y1 = (int)floor((MAX(MAX(a[1], b[1]), c[1]) - h->y0) / h->dy + 1e-9);
    for (int iy = MAX(y0, 0); iy <= MIN(y1, h->ny - 1); iy++)
        for (int ix = MAX(x0, 0); ix <= MIN(x1, h->nx - 1); ix++) {
            double x = h->x0 + ix * h->dx - a[0], y = h->y0 + iy * h->dy - a[1];
            double u = (x * (c[1] - a[1]) - (c[0] - a[0]) * y) / det;
            double v = ((b[0] - a[0]) * y - x * (b[1] - a[1])) / det;
            if (u < -1e-9 || v < -1e-9 || u + v > 1 + 1e-9)
                continue;
            h->z[(gsize)iy * h->nx + ix] = (float)(a[2] + u * (b[2] - a[2]) + v * (c[2] - a[2]));
            known[(gsize)iy * h->nx + ix] = 1;
        }
}

// Depth of the vertex nearest to (x, y): what lies outside the sheet is taken as its continuation.
static float nearest_depth(const TwsmSheet *sheet, double x, double y)
{
    double best = INFINITY, depth = 0;
    for (int k = 0; k < sheet->n_vertices; k++) {
        const double *v = sheet->vertex[k];
        double d = (v[0] - x) * (v[0] - x) + (v[1] - y) * (v[1] - y);
        if (d < best)
            best = d, depth = v[2];
    }
    return (float)depth;
}

TwsmHeights *twsm_sheet_heights(const TwsmSheet *sheet, const double x[2], const double y[2],
                                int nx, int ny)
{
    TwsmHeights *h = g_new0(TwsmHeights, 1);
    *h = (TwsmHeights){nx,
                       ny,
                       x[0],
                       y[0],
                       (x[1] - x[0]) / (nx - 1),
                       (y[1] - y[0]) / (ny - 1),
                       g_new0(float, (gsize)nx *ny)};
    g_autofree guint8 *known = g_new0(guint8, (gsize)nx * ny);
    for (int t = 0; t < sheet->n_triangles; t++)
        raster_triangle(sheet, t, h, known);
    for (gsize k = 0; k < (gsize)nx * ny; k++)
        if (!known[k])
            h->z[k] = nearest_depth(sheet, h->x0 + (k % nx) * h->dx, h->y0 + (k / nx) * h->dy);
    return h;
}
