// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/twsm/heights.h"

#include <math.h>
#include <string.h>

#include "core/contents.h"
#include "core/error.h"
#include "core/io/npy.h"
#include "core/memory.h"
#include "core/sort.h"
#include "core/text.h"

enum {
    MOST_NODES = 1 << 27, // of a grid or a horizon: a survey of 10,000 x 10,000 bins
    MOST_HOLES = 1 << 18, // cells that a handful of points may be spread over
};

void twsm_heights_free(TwsmHeights *heights)
{
    if (!heights)
        return;
    g_free(heights->z);
    g_free(heights);
}

// Cubic convolution weights (Keys 1981, a = -1/2) of the four neighbours at fraction t of the cell.
static void cubic_weights(double t, double w[4])
{
    w[0] = ((-0.5 * t + 1) * t - 0.5) * t;
    w[1] = (1.5 * t - 2.5) * t * t + 1;
    w[2] = ((-1.5 * t + 2) * t + 0.5) * t;
    w[3] = (0.5 * t - 0.5) * t * t;
}

// Value `k` of a row of `n`, continued beyond both ends by the parabola through the last three.
static double row_at(const float *row, int n, int k)
{
    if (n < 3 || (k >= 0 && k < n))
        return row[CLAMP(k, 0, n - 1)];
    return k < 0 ? 3.0 * row[0] - 3.0 * row[1] + row[2]
                 : 3.0 * row[n - 1] - 3.0 * row[n - 2] + row[n - 3];
}

static double along_row(const TwsmHeights *h, int iy, int ix, const double w[4])
{
    const float *row = h->z + (gsize)iy * h->nx;
    double sum = 0;
    for (int k = 0; k < 4; k++)
        sum += w[k] * row_at(row, h->nx, ix - 1 + k);
    return sum;
}

double twsm_heights_at(const TwsmHeights *h, double x, double y)
{
    double u = CLAMP((x - h->x0) / h->dx, 0, h->nx - 1);
    double v = CLAMP((y - h->y0) / h->dy, 0, h->ny - 1);
    int ix = CLAMP((int)u, 0, MAX(h->nx - 2, 0)), iy = CLAMP((int)v, 0, MAX(h->ny - 2, 0));
    double wx[4], wy[4], rows[4];
    cubic_weights(u - ix, wx);
    cubic_weights(v - iy, wy);
    for (int k = 0; k < 4; k++)
        rows[k] = along_row(h, CLAMP(iy - 1 + k, 0, h->ny - 1), ix, wx);
    if (iy == 0 && h->ny >= 3)
        rows[0] = 3 * rows[1] - 3 * rows[2] + rows[3];
    if (iy == h->ny - 2 && h->ny >= 3)
        rows[3] = 3 * rows[2] - 3 * rows[1] + rows[0];
    return wy[0] * rows[0] + wy[1] * rows[1] + wy[2] * rows[2] + wy[3] * rows[3];
}

static TwsmHeights *heights_new(int nx, int ny, double x0, double y0, double dx, double dy,
                                GError **error)
{
    float *z = litho_memory_new((gsize)nx * ny, sizeof *z, "depths of a boundary", error);
    if (!z)
        return NULL;
    TwsmHeights *h = g_new0(TwsmHeights, 1);
    *h = (TwsmHeights){nx, ny, x0, y0, dx, dy, z};
    return h;
}

TwsmHeights *twsm_heights_from_npy(const char *path, double x0, double y0, double dx, double dy,
                                   GError **error)
{
    gint64 shape[2];
    g_autofree double *z = litho_npy_read(path, 2, MOST_NODES, shape, error);
    if (!z)
        return NULL;
    g_autoptr(TwsmHeights) h = heights_new(shape[1], shape[0], x0, y0, dx, dy, error);
    if (!h)
        return NULL;
    for (gint64 k = 0; k < shape[0] * shape[1]; k++) {
        if (!isfinite(z[k])) {
            g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                        _("%s holds a depth that is not a number at row %d, column %d"), path,
                        (int)(k / shape[1]), (int)(k % shape[1]));
            return NULL;
        }
        h->z[k] = (float)z[k];
    }
    return g_steal_pointer(&h);
}

// --- horizons ---------------------------------------------------------------------------------

typedef struct Point {
    double x, y, z;
} Point;

// "1,5 2,5 30" and "1,5;2,5;30" have decimal commas. "1,5 20 30" has them, or is x,y z and a column
// more: other lines of the file must tell.
typedef enum Commas { COMMAS_NONE, COMMAS_UNCLEAR, COMMAS_DECIMAL } Commas;

static gboolean parts_words(char c)
{
    return g_ascii_isspace(c) || c == ';';
}

// Of a line's first three words, which must be numbers of one comma at most.
static Commas commas_of(const char *line, const char *end)
{
    Commas found = COMMAS_NONE;
    guint numbers = 0;
    for (; line < end && numbers < 3; line++) {
        if (parts_words(*line))
            continue;
        const char *word = line, *comma = NULL;
        for (; line < end && !parts_words(*line); line++) {
            if (!strchr("+-0123456789,.eE", *line) || (*line == ',' && comma))
                return COMMAS_NONE;
            comma = *line == ',' ? line : comma;
        }
        if (comma && (memchr(word, '.', line - word) || comma == word || comma + 1 == line ||
                      !g_ascii_isdigit(comma[-1]) || !g_ascii_isdigit(comma[1])))
            return COMMAS_NONE;
        if (comma)
            found = numbers > 0 || (line < end && *line == ';') ? COMMAS_DECIMAL : COMMAS_UNCLEAR;
        numbers++;
    }
    return numbers == 3 ? found : COMMAS_NONE;
}

// Whether the lines of `text` have decimal commas; LITHO_ERROR_FORMAT where none of them tells.
static gboolean find_commas(const char *text, const char *path, gboolean *decimal, GError **error)
{
    int number = 0, unclear = 0;
    *decimal = FALSE;
    for (const char *line = text, *end; !*decimal && *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        number++;
        const Commas commas = commas_of(line, end);
        *decimal = commas == COMMAS_DECIMAL;
        if (commas == COMMAS_UNCLEAR && !unclear)
            unclear = number;
    }
    if (!unclear || *decimal)
        return TRUE;
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                _("line %d of %s is either x,y z and a column more or three numbers with decimal "
                  "commas; semicolons between columns tell them apart"),
                unclear, path);
    return FALSE;
}

static gboolean parse_point(char *line, gboolean decimal, Point *p)
{
    double v[3];
    char *end;
    if (decimal && commas_of(line, line + strlen(line)) != COMMAS_NONE)
        g_strdelimit(line, ",", '.');
    for (int k = 0; k < 3; k++) {
        while (*line == ',' || *line == ';' || g_ascii_isspace(*line))
            line++;
        v[k] = g_ascii_strtod(line, &end);
        if (end == line)
            return FALSE;
        line = end;
    }
    *p = (Point){v[0], v[1], v[2]};
    return TRUE;
}

static GArray *points_from_text(const char *path, GError **error)
{
    g_autofree char *text = litho_contents_load_text(path, LITHO_CONTENTS_TEXT, error);
    gboolean decimal;
    if (!text || !find_commas(text, path, &decimal, error))
        return NULL;
    g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(Point));
    int number = 0;
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        number++;
        g_strstrip(line);
        Point p;
        if (*line == '\0' || *line == '#' || g_ascii_isalpha(*line))
            continue;
        if (!parse_point(line, decimal, &p) || !isfinite(p.x + p.y + p.z)) {
            g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                        _("line %d of %s is not three numbers x y z"), number, path);
            return NULL;
        }
        g_array_append_val(points, p);
    }
    return g_steal_pointer(&points);
}

static GArray *points_from_npy(const char *path, GError **error)
{
    gint64 shape[2];
    g_autofree double *v = litho_npy_read(path, 2, 3 * MOST_NODES, shape, error);
    if (!v)
        return NULL;
    if (shape[1] != 3) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                    _("%s has %" PRId64 " columns; a horizon needs 3: x, y, z"), path, shape[1]);
        return NULL;
    }
    GArray *points = g_array_new(FALSE, FALSE, sizeof(Point));
    for (gint64 k = 0; k < shape[0]; k++)
        if (isfinite(v[3 * k] + v[3 * k + 1] + v[3 * k + 2]))
            g_array_append_vals(points, v + 3 * k, 1);
    return points;
}

// Spacing and count of the coordinate values when they form a regular row; FALSE otherwise.
static gboolean lattice_axis(const GArray *points, gsize offset, double *first, double *step,
                             int *count)
{
    g_autofree double *v = g_new(double, points->len);
    for (guint k = 0; k < points->len; k++)
        v[k] = *(double *)(points->data + k * sizeof(Point) + offset);
    qsort(v, points->len, sizeof *v, litho_compare_double);
    double span = v[points->len - 1] - v[0], same = 1e-6 * span;
    int n = 1;
    for (guint k = 1; k < points->len; k++)
        n += v[k] - v[k - 1] > same;
    if (n < 2)
        return FALSE;
    double h = span / (n - 1);
    for (guint k = 0; k < points->len; k++) {
        double at = (v[k] - v[0]) / h;
        if (fabs(at - rint(at)) > 0.01)
            return FALSE;
    }
    *first = v[0], *step = h, *count = n;
    return TRUE;
}

static void bounds(const GArray *points, Point *lo, Point *hi)
{
    *lo = *hi = g_array_index(points, Point, 0);
    for (guint k = 1; k < points->len; k++) {
        Point p = g_array_index(points, Point, k);
        lo->x = MIN(lo->x, p.x), lo->y = MIN(lo->y, p.y);
        hi->x = MAX(hi->x, p.x), hi->y = MAX(hi->y, p.y);
    }
}

// Mean of the known neighbours; 0 and `*n` = 0 when there is none.
static float neighbour_mean(const TwsmHeights *h, const guint8 *known, int ix, int iy, int *n)
{
    float sum = 0;
    *n = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            int jx = ix + dx, jy = iy + dy;
            if (jx < 0 || jy < 0 || jx >= h->nx || jy >= h->ny || !known[jy * h->nx + jx])
                continue;
            sum += h->z[jy * h->nx + jx];
            (*n)++;
        }
    return *n ? sum / *n : 0;
}

// Unknown neighbours of cell k, once each: what the next ring consists of.
static void add_neighbours(const TwsmHeights *h, const guint8 *known, guint8 *listed, gsize k,
                           GArray *ring)
{
    int ix = (int)(k % h->nx), iy = (int)(k / h->nx);
    for (int jy = MAX(iy - 1, 0); jy <= MIN(iy + 1, h->ny - 1); jy++)
        for (int jx = MAX(ix - 1, 0); jx <= MIN(ix + 1, h->nx - 1); jx++) {
            gsize cell = (gsize)jy * h->nx + jx;
            if (known[cell] || listed[cell])
                continue;
            listed[cell] = 1;
            g_array_append_val(ring, cell);
        }
}

// Cells of a grid that is being filled.
typedef struct Cells {
    TwsmHeights *h;
    guint8 *known, *listed; // [ny][nx]; owned
    double *sum;            // of the points' depths; owned
    int *hits;              // points; 0 = to be filled; owned
} Cells;

static void cells_clear(Cells *c)
{
    g_free(c->known);
    g_free(c->listed);
    g_free(c->sum);
    g_free(c->hits);
}

static gboolean cells_init(Cells *c, TwsmHeights *h, GError **error)
{
    const gsize n = (gsize)h->nx * h->ny;
    *c = (Cells){.h = h};
    return (c->known = litho_memory_new(n, 1, "depths of a boundary", error)) &&
           (c->listed = litho_memory_new(n, 1, "depths of a boundary", error)) &&
           (c->sum = litho_memory_new(n, sizeof *c->sum, "depths of a boundary", error)) &&
           (c->hits = litho_memory_new(n, sizeof *c->hits, "depths of a boundary", error));
}

enum { LOOK = 1 << 16 }; // cells or points between two looks whether to stop: a millisecond

// Means of the points in each cell. FALSE: told to stop.
static gboolean average(Cells *c, const GArray *points, const LithoRun *run)
{
    TwsmHeights *h = c->h;
    const gsize count = (gsize)h->nx * h->ny;
    for (guint k = 0; k < points->len; k++) {
        const Point p = g_array_index(points, Point, k);
        const int ix = CLAMP((int)rint((p.x - h->x0) / h->dx), 0, h->nx - 1);
        const int iy = CLAMP((int)rint((p.y - h->y0) / h->dy), 0, h->ny - 1);
        if (k % LOOK == 0 && !litho_run_checkpoint(run))
            return FALSE;
        c->sum[(gsize)iy * h->nx + ix] += p.z;
        c->hits[(gsize)iy * h->nx + ix]++;
    }
    for (gsize k = 0; k < count; k++) {
        if (k % LOOK == 0 && !litho_run_checkpoint(run))
            return FALSE;
        c->known[k] = c->hits[k] > 0;
        if (c->known[k])
            h->z[k] = (float)(c->sum[k] / c->hits[k]);
    }
    return TRUE;
}

// Grows the known region into the holes, ring by ring (each cell is visited once), then relaxes the
// filled cells towards a harmonic surface so that no ring edge is left. Of use only where the run
// was not told to stop.
static void fill_holes(Cells *c, const LithoRun *run)
{
    TwsmHeights *h = c->h;
    guint8 *known = c->known;
    gsize count = (gsize)h->nx * h->ny;
    GArray *ring = g_array_new(FALSE, FALSE, sizeof(gsize));
    for (gsize k = 0; k < count; k++) {
        if (k % LOOK == 0 && !litho_run_checkpoint(run))
            break;
        if (known[k])
            add_neighbours(h, known, c->listed, k, ring);
    }
    while (ring->len > 0 && litho_run_checkpoint(run)) {
        GArray *next = g_array_new(FALSE, FALSE, sizeof(gsize));
        int n;
        for (guint r = 0; r < ring->len; r++) {
            gsize k = g_array_index(ring, gsize, r);
            h->z[k] = neighbour_mean(h, known, (int)(k % h->nx), (int)(k / h->nx), &n);
        }
        for (guint r = 0; r < ring->len; r++)
            known[g_array_index(ring, gsize, r)] = 1;
        for (guint r = 0; r < ring->len; r++)
            add_neighbours(h, known, c->listed, g_array_index(ring, gsize, r), next);
        g_array_unref(ring);
        ring = next;
    }
    g_array_unref(ring);
    for (int pass = 0; pass < 200; pass++)
        for (gsize k = 0; k < count; k++) {
            int n;
            if (k % 4096 == 0 && !litho_run_checkpoint(run))
                return;
            if (!c->hits[k])
                h->z[k] = neighbour_mean(h, known, k % h->nx, k / h->nx, &n);
        }
}

// Takes `h` over, which may be NULL. NULL with G_IO_ERROR_CANCELLED when told to stop.
static TwsmHeights *grid_points(const GArray *points, TwsmHeights *h, LithoRun *run,
                                GError **error)
{
    Cells cells;
    if (!h)
        return NULL;
    gboolean ok = cells_init(&cells, h, error);
    if (ok && average(&cells, points, run))
        fill_holes(&cells, run);
    ok = ok && litho_run_step(run, 0, 1, error);
    cells_clear(&cells);
    if (!ok)
        g_clear_pointer(&h, twsm_heights_free);
    return h;
}

TwsmHeights *twsm_heights_from_horizon(const char *path, double spacing, LithoRun *run,
                                       GError **error)
{
    g_autoptr(GArray) points = g_str_has_suffix(path, ".npy") ? points_from_npy(path, error)
                                                              : points_from_text(path, error);
    if (!points)
        return NULL;
    if (points->len < 4) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT,
                    _("the number of points in %s is %u; a horizon needs 4 or more"), path,
                    points->len);
        return NULL;
    }
    Point lo, hi;
    bounds(points, &lo, &hi);
    double x0, y0, dx, dy;
    int nx, ny;
    if (spacing <= 0 && lattice_axis(points, offsetof(Point, x), &x0, &dx, &nx) &&
        lattice_axis(points, offsetof(Point, y), &y0, &dy, &ny) &&
        (double)nx * ny < 4.0 * points->len)
        return grid_points(points, heights_new(nx, ny, x0, y0, dx, dy, error), run, error);
    double area = (hi.x - lo.x) * (hi.y - lo.y);
    double h = spacing > 0 ? spacing : sqrt(area / points->len);
    if (!(area > 0) || (hi.x - lo.x) / h > 20000 || (hi.y - lo.y) / h > 20000) {
        litho_refuse(
            error, LITHO_ERROR_GEOMETRY,
            "%s covers %g x %g m at a spacing of %g m; a horizon needs an area and at most "
            "20000 cells a side",
            path, hi.x - lo.x, hi.y - lo.y, h);
        return NULL;
    }
    nx = (int)((hi.x - lo.x) / h) + 2;
    ny = (int)((hi.y - lo.y) / h) + 2;
    if ((double)nx * ny > MAX(MOST_HOLES, 1000.0 * points->len)) {
        litho_refuse(error, LITHO_ERROR_GEOMETRY,
                     "%s holds %u points for %d x %d cells of %g m; a larger spacing is needed",
                     path, points->len, nx, ny, h);
        return NULL;
    }
    return grid_points(points, heights_new(nx, ny, lo.x, lo.y, h, h, error), run, error);
}
