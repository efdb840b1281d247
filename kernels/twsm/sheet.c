// SPDX-License-Identifier: GPL-3.0-or-later
//
// Triangulated sheets: Wavefront and GOCAD files, and the height grid under them.
#include <math.h>
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

// --- files ------------------------------------------------------------------------------------

typedef struct Reader {
    GArray *vertices, *triangles; // double[3], int[3]
    GHashTable *ids;              // GOCAD vertex number -> index + 1
    double sign;                  // -1 when z points up
} Reader;

// The word that `*at` stands before, which it is moved behind; "" at the line's end or a comment.
static const char *next_word(char **at)
{
    char *word = *at + strspn(*at, " \t\r\f\v");
    *at = word + strcspn(word, " \t\r\f\v");
    if (*word == '#')
        *at = word + strlen(word);
    if (**at)
        *(*at)++ = '\0';
    return *word == '#' ? "" : word;
}

// Whole number that `word` begins with, up to its end or to `stop`.
static gboolean read_number(const char *word, char stop, int *n)
{
    char *end;
    const gint64 value = g_ascii_strtoll(word, &end, 10);
    *n = (int)CLAMP(value, -G_MAXINT, G_MAXINT);
    return end > word && (*end == '\0' || *end == stop) && *n == value;
}

// Three numbers that come next; FALSE where they are none, or not finite.
static gboolean add_vertex(Reader *r, char **at)
{
    double v[3];
    for (int k = 0; k < 3; k++) {
        const char *word = next_word(at);
        char *end;
        v[k] = g_ascii_strtod(word, &end);
        if (end == word || *end || !isfinite(v[k]))
            return FALSE;
    }
    v[2] *= r->sign;
    g_array_append_vals(r->vertices, v, 1);
    return TRUE;
}

// Corner of a Wavefront face: "7", "7/2", "7//3" or "7/2/3", the vertex first, below 0 counted from
// the last one. Its index, or -1.
static int wavefront_corner(const Reader *r, const char *word)
{
    const int vertices = (int)r->vertices->len;
    int n;
    if (!read_number(word, '/', &n) || n == 0 || n > vertices || n < -vertices)
        return -1;
    return n < 0 ? vertices + n : n - 1;
}

// A face of any number of corners, as a fan of triangles.
static gboolean wavefront_face(Reader *r, char *at)
{
    int corner[3], n = 0;
    for (const char *word = next_word(&at); *word; word = next_word(&at)) {
        const int k = wavefront_corner(r, word);
        if (k < 0)
            return FALSE;
        corner[MIN(n, 2)] = k;
        if (++n < 3)
            continue;
        g_array_append_vals(r->triangles, corner, 1);
        corner[1] = k;
    }
    return n >= 3;
}

static gboolean gocad_vertex(Reader *r, char *at)
{
    int id;
    if (!read_number(next_word(&at), '\0', &id) || !add_vertex(r, &at))
        return FALSE;
    g_hash_table_insert(r->ids, GINT_TO_POINTER(id), GINT_TO_POINTER(r->vertices->len));
    return TRUE;
}

static gboolean gocad_triangle(Reader *r, char *at)
{
    int corner[3], id;
    for (int k = 0; k < 3; k++) {
        if (!read_number(next_word(&at), '\0', &id))
            return FALSE;
        corner[k] = GPOINTER_TO_INT(g_hash_table_lookup(r->ids, GINT_TO_POINTER(id))) - 1;
        if (corner[k] < 0)
            return FALSE;
    }
    g_array_append_vals(r->triangles, corner, 1);
    return TRUE;
}

// One line of either format, which is changed; what is no geometry is passed over. FALSE when it is
// a face of vertices that are not there, or no whole vertex.
static gboolean read_line(Reader *r, char *at)
{
    const char *word = next_word(&at);
    if (strcmp(word, "v") == 0)
        return add_vertex(r, &at);
    if (strcmp(word, "f") == 0)
        return wavefront_face(r, at);
    if (strcmp(word, "VRTX") == 0 || strcmp(word, "PVRTX") == 0)
        return gocad_vertex(r, at);
    if (strcmp(word, "TRGL") == 0)
        return gocad_triangle(r, at);
    if (strcmp(word, "ZPOSITIVE") == 0)
        r->sign = g_ascii_strcasecmp(next_word(&at), "elevation") == 0 ? -1 : 1;
    return TRUE;
}

static gboolean read_lines(Reader *r, char *text, const char *path, LithoRun *run, GError **error)
{
    enum { LINES = 4096, SHOWN = 40 }; // between two looks, a millisecond; bytes that are quoted
    int number = 0;
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        if (number++ % LINES == 0 && !litho_run_step(run, 0, 1, error))
            return FALSE;
        char shown[SHOWN];
        g_strlcpy(shown, line, sizeof shown);
        if (!read_line(r, line)) {
            g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                        _("line %d of %s is not a vertex of three numbers or a face of three or "
                          "more known vertices: %s"),
                        number, path, shown);
            return FALSE;
        }
    }
    return TRUE;
}

TwsmSheet *twsm_sheet_load(const char *path, LithoRun *run, GError **error)
{
    g_autofree char *text = litho_contents_load_text(path, LITHO_CONTENTS_TEXT, error);
    if (!text)
        return NULL;
    Reader r = {g_array_new(FALSE, FALSE, sizeof(double[3])),
                g_array_new(FALSE, FALSE, sizeof(int[3])), g_hash_table_new(NULL, NULL), 1};
    TwsmSheet *sheet = NULL;
    if (read_lines(&r, text, path, run, error)) {
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

// --- heights under it -------------------------------------------------------------------------

// Depths of the grid points under one triangle.
static void raster_triangle(const TwsmSheet *sheet, int t, TwsmHeights *h, guint8 *known)
{
    const double *a = sheet->vertex[sheet->triangle[t][0]];
    const double *b = sheet->vertex[sheet->triangle[t][1]];
    const double *c = sheet->vertex[sheet->triangle[t][2]];
    double det = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
    if (det == 0 || !isfinite(det))
        return;
    // Cut to the grid before they are made whole: a vertex may lie beyond what an int counts.
    const int x0 = (int)CLAMP(ceil((MIN(MIN(a[0], b[0]), c[0]) - h->x0) / h->dx - 1e-9), 0, h->nx);
    const int x1 =
        (int)CLAMP(floor((MAX(MAX(a[0], b[0]), c[0]) - h->x0) / h->dx + 1e-9), -1, h->nx - 1);
    const int y0 = (int)CLAMP(ceil((MIN(MIN(a[1], b[1]), c[1]) - h->y0) / h->dy - 1e-9), 0, h->ny);
    const int y1 =
        (int)CLAMP(floor((MAX(MAX(a[1], b[1]), c[1]) - h->y0) / h->dy + 1e-9), -1, h->ny - 1);
    for (int iy = y0; iy <= y1; iy++)
        for (int ix = x0; ix <= x1; ix++) {
            double x = h->x0 + ix * h->dx - a[0], y = h->y0 + iy * h->dy - a[1];
            double u = (x * (c[1] - a[1]) - (c[0] - a[0]) * y) / det;
            double v = ((b[0] - a[0]) * y - x * (b[1] - a[1])) / det;
            if (u < -1e-9 || v < -1e-9 || u + v > 1 + 1e-9)
                continue;
            h->z[(gsize)iy * h->nx + ix] = (float)(a[2] + u * (b[2] - a[2]) + v * (c[2] - a[2]));
            known[(gsize)iy * h->nx + ix] = 1;
        }
}

// --- beside the sheet -------------------------------------------------------------------------

// Vertices by the bin that they lie in, so that a search looks at those around it only.
typedef struct Bins {
    int n[2];           // bins along x and y
    double lo[2], size; // m
    int *start;         // [n[1] n[0] + 1] of the bins' vertices
    int *vertex;        // in order of bins, and of the file within one
} Bins;

static int bin_along(const Bins *bins, int axis, double at)
{
    return (int)CLAMP(floor((at - bins->lo[axis]) / bins->size), 0, bins->n[axis] - 1);
}

static int bin_of(const Bins *bins, const double v[3])
{
    return bin_along(bins, 1, v[1]) * bins->n[0] + bin_along(bins, 0, v[0]);
}

static void bins_clear(Bins *bins)
{
    g_free(bins->start);
    g_free(bins->vertex);
}

// Square bins of about one vertex; one bin where the vertices have no width, or more than there are
// numbers for.
static void bins_init(Bins *bins, const TwsmSheet *sheet)
{
    enum { MOST = 2048 }; // a side
    double width[2];
    for (int axis = 0; axis < 2; axis++) {
        double lo = INFINITY, hi = -INFINITY;
        for (int k = 0; k < sheet->n_vertices; k++) {
            lo = MIN(lo, sheet->vertex[k][axis]);
            hi = MAX(hi, sheet->vertex[k][axis]);
        }
        bins->lo[axis] = lo;
        width[axis] = hi - lo;
    }
    const double size =
        MAX(sqrt(width[0] * width[1] / sheet->n_vertices), MAX(width[0], width[1]) / MOST);
    const gboolean one = !(size > 0) || !isfinite(size);
    bins->size = one ? 1 : size;
    for (int axis = 0; axis < 2; axis++)
        bins->n[axis] = one ? 1 : 1 + (int)(width[axis] / size);
    const int n = bins->n[0] * bins->n[1];
    bins->start = g_new0(int, n + 1);
    bins->vertex = g_new(int, sheet->n_vertices);
    for (int k = 0; k < sheet->n_vertices; k++)
        bins->start[bin_of(bins, sheet->vertex[k])]++;
    for (int b = 1; b <= n; b++)
        bins->start[b] += bins->start[b - 1];
    for (int k = sheet->n_vertices - 1; k >= 0; k--)
        bins->vertex[--bins->start[bin_of(bins, sheet->vertex[k])]] = k;
}

#define ROUNDED (1 - 1e-9) // of a lower bound that must not be too high by rounding

// The vertex nearest to a place so far; of two as near, the first in the file.
typedef struct Nearest {
    double x, y, distance2;
    int vertex;
} Nearest;

// How far `at` lies from bin `k` of an axis.
static double gap_to(const Bins *bins, int axis, int k, double at)
{
    const double lo = bins->lo[axis] + bins->size * k;
    return MAX(MAX(lo - at, at - lo - bins->size), 0);
}

static void look_into_bin(const TwsmSheet *sheet, const Bins *bins, int ix, int iy, Nearest *at)
{
    const int bin = iy * bins->n[0] + ix;
    const double gx = gap_to(bins, 0, ix, at->x), gy = gap_to(bins, 1, iy, at->y);
    if ((gx * gx + gy * gy) * ROUNDED > at->distance2)
        return;
    for (int m = bins->start[bin]; m < bins->start[bin + 1]; m++) {
        const int k = bins->vertex[m];
        const double dx = sheet->vertex[k][0] - at->x, dy = sheet->vertex[k][1] - at->y;
        const double d = dx * dx + dy * dy;
        if (d < at->distance2 || (d == at->distance2 && k < at->vertex)) {
            at->distance2 = d;
            at->vertex = k;
        }
    }
}

// Depth of the vertex nearest to (x, y): what lies outside the sheet is taken as its continuation.
// Bins are looked into ring by ring around the one that is nearest, until the next ring is farther
// off than what was found.
static float nearest_depth(const TwsmSheet *sheet, const Bins *bins, double x, double y)
{
    const int bx = bin_along(bins, 0, x), by = bin_along(bins, 1, y);
    // Distance from the bins as a whole; their vertices lie on the other side.
    const double ox = fabs(x - CLAMP(x, bins->lo[0], bins->lo[0] + bins->size * bins->n[0]));
    const double oy = fabs(y - CLAMP(y, bins->lo[1], bins->lo[1] + bins->size * bins->n[1]));
    Nearest at = {x, y, INFINITY, 0};
    for (int ring = 0; ring < MAX(bins->n[0], bins->n[1]); ring++) {
        const double in = MAX(ring - 1, 0) * bins->size; // no vertex of the ring is less far inside
        if ((ox * ox + oy * oy + in * (in + 2 * MIN(ox, oy))) * ROUNDED > at.distance2)
            break;
        for (int iy = MAX(by - ring, 0); iy <= MIN(by + ring, bins->n[1] - 1); iy++) {
            const gboolean whole = ring == 0 || abs(iy - by) == ring; // else its two ends
            for (int ix = bx - ring; ix <= bx + ring; ix += whole ? 1 : 2 * ring)
                if (ix >= 0 && ix < bins->n[0])
                    look_into_bin(sheet, bins, ix, iy, &at);
        }
    }
    return (float)sheet->vertex[at.vertex][2];
}

static gboolean fill_beside(const TwsmSheet *sheet, TwsmHeights *h, const guint8 *known,
                            LithoRun *run, GError **error)
{
    Bins bins;
    gboolean ok = TRUE;
    bins_init(&bins, sheet);
    for (int iy = 0; iy < h->ny && ok; iy++) {
        for (int ix = 0; ix < h->nx; ix++)
            if (!known[(gsize)iy * h->nx + ix])
                h->z[(gsize)iy * h->nx + ix] =
                    nearest_depth(sheet, &bins, h->x0 + ix * h->dx, h->y0 + iy * h->dy);
        ok = litho_run_step(run, iy + 1, h->ny, error);
    }
    bins_clear(&bins);
    return ok;
}

TwsmHeights *twsm_sheet_heights(const TwsmSheet *sheet, const double x[2], const double y[2],
                                int nx, int ny, LithoRun *run, GError **error)
{
    enum { TRIANGLES = 256 }; // each the whole grid: 10 ms
    g_autoptr(TwsmHeights) h = g_new0(TwsmHeights, 1);
    *h = (TwsmHeights){nx,
                       ny,
                       x[0],
                       y[0],
                       (x[1] - x[0]) / (nx - 1),
                       (y[1] - y[0]) / (ny - 1),
                       g_new0(float, (gsize)nx *ny)};
    g_autofree guint8 *known = g_new0(guint8, (gsize)nx * ny);
    for (int t = 0; t < sheet->n_triangles; t++) {
        if (t % TRIANGLES == 0 && !litho_run_step(run, t, sheet->n_triangles, error))
            return NULL;
        raster_triangle(sheet, t, h, known);
    }
    return fill_beside(sheet, h, known, run, error) ? g_steal_pointer(&h) : NULL;
}
