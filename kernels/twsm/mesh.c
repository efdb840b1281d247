// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/twsm/mesh.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"

enum { MAX_ELEMENTS = 20000000, ARRAYS = 8 };

TwsmPoints *twsm_points_new(int n, GError **error)
{
    static gint serial;
    const int padded = (n + TWSM_PAD - 1) / TWSM_PAD * TWSM_PAD;
    float *storage =
        litho_memory_new((gsize)ARRAYS * padded, sizeof *storage, "elements of a boundary", error);
    if (!storage)
        return NULL;
    TwsmPoints *p = g_new0(TwsmPoints, 1);
    p->n = n;
    p->padded = padded;
    p->storage = storage;
    float **arrays[ARRAYS] = {&p->x, &p->y, &p->z, &p->nx, &p->ny, &p->nz, &p->area, &p->taper};
    for (int k = 0; k < ARRAYS; k++)
        *arrays[k] = p->storage + (gsize)k * p->padded;
    p->serial = 1 + g_atomic_int_add(&serial, 1);
    return p;
}

void twsm_points_free(TwsmPoints *p)
{
    if (!p)
        return;
    g_free(p->storage);
    g_free(p);
}

void twsm_points_pad(TwsmPoints *p)
{
    for (int k = p->n; k < p->padded; k++) {
        p->x[k] = p->x[0], p->y[k] = p->y[0], p->z[k] = p->z[0];
        p->nx[k] = p->nx[0], p->ny[k] = p->ny[0], p->nz[k] = p->nz[0];
    }
}

gboolean twsm_points_lattice(const TwsmPoints *a, const TwsmPoints *b)
{
    return a->flat && b->flat && a->cells[0] > 0 && a->cells[0] == b->cells[0] &&
           a->cells[1] == b->cells[1] && a->origin[0] == b->origin[0] &&
           a->origin[1] == b->origin[1] && a->step[0] == b->step[0] && a->step[1] == b->step[1];
}

// Raised cosine over the fraction `part` of the width at both ends of lo..hi.
static double edge_taper(double at, const double range[2], double part)
{
    double u = MIN(at - range[0], range[1] - at) / (range[1] - range[0]);
    if (part <= 0 || u >= part)
        return 1;
    return u <= 0 ? 0 : 0.5 - 0.5 * cos(G_PI * u / part);
}

// Writes element k from its three corners. FALSE when it has no area or no place.
static gboolean set_element(TwsmPoints *p, int k, const double a[3], const double b[3],
                            const double c[3], const double centre[3])
{
    double u[3], v[3];
    for (int m = 0; m < 3; m++)
        u[m] = b[m] - a[m], v[m] = c[m] - a[m];
    double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    if (!(length > 0) || !isfinite(length))
        return FALSE;
    double sign = n[2] < 0 ? -1 / length : 1 / length;
    p->nx[k] = (float)(n[0] * sign), p->ny[k] = (float)(n[1] * sign);
    p->nz[k] = (float)(n[2] * sign);
    p->x[k] = (float)((a[0] + b[0] + c[0]) / 3 - centre[0]);
    p->y[k] = (float)((a[1] + b[1] + c[1]) / 3 - centre[1]);
    p->z[k] = (float)((a[2] + b[2] + c[2]) / 3 - centre[2]);
    p->area[k] = (float)(0.5 * length);
    return TRUE;
}

static gboolean too_many(double n, GError **error)
{
    if (n <= MAX_ELEMENTS)
        return FALSE;
    litho_refuse(error, LITHO_ERROR_MEMORY,
                 "a boundary would need %.3g elements; the limit is %d: lower fmax or "
                 "cells_per_wavelength, or narrow the extent",
                 n, MAX_ELEMENTS);
    return TRUE;
}

// Depths of the vertices, (cells[0] + 1) x (cells[1] + 1). NULL when one is not finite.
static double *vertex_depths(const TwsmBoundary *b, const TwsmPoints *p, int threads,
                             GError **error)
{
    int nx = p->cells[0] + 1, ny = p->cells[1] + 1;
    double *z = litho_memory_new((gsize)nx * ny, sizeof *z, "depths of a boundary", error);
    gint64 bad = G_MAXINT64;
    if (!z)
        return NULL;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(min : bad)
    for (int iy = 0; iy < ny; iy++)
        for (int ix = 0; ix < nx; ix++) {
            const gint64 at = (gint64)iy * nx + ix;
            z[at] = twsm_boundary_depth(b, p->origin[0] + ix * p->step[0],
                                        p->origin[1] + iy * p->step[1]);
            if (!isfinite(z[at]))
                bad = MIN(bad, at);
        }
    if (bad == G_MAXINT64)
        return z;
    litho_refuse(error, LITHO_ERROR_GEOMETRY,
                 "a boundary has no finite depth at (%g, %g) m, vertex %" PRId64,
                 p->origin[0] + bad % nx * p->step[0], p->origin[1] + bad / nx * p->step[1], bad);
    g_free(z);
    return NULL;
}

// A facet between points of a surface of curvature C lies h^2 C / 8 off it: from second
// differences.
static double largest_sag(const double *z, int nx, int ny)
{
    double sag = 0;
    for (int iy = 0; iy < ny; iy++)
        for (int ix = 0; ix < nx; ix++) {
            const double *at = z + (gsize)iy * nx + ix;
            if (ix > 0 && ix < nx - 1)
                sag = MAX(sag, fabs(at[-1] - 2 * at[0] + at[1]) / 8);
            if (iy > 0 && iy < ny - 1)
                sag = MAX(sag, fabs(at[-nx] - 2 * at[0] + at[nx]) / 8);
        }
    return sag;
}

static void fill_cells(TwsmPoints *p, const double *z, int threads, const double centre[3])
{
    const int nx = p->cells[0] + 1;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int iy = 0; iy < p->cells[1]; iy++)
        for (int ix = 0; ix < p->cells[0]; ix++) {
            double corner[4][3];
            for (int c = 0; c < 4; c++) {
                int jx = ix + (c & 1), jy = iy + (c >> 1);
                corner[c][0] = p->origin[0] + jx * p->step[0];
                corner[c][1] = p->origin[1] + jy * p->step[1];
                corner[c][2] = z[(gsize)jy * nx + jx];
            }
            int k = 2 * (iy * p->cells[0] + ix);
            set_element(p, k, corner[0], corner[1], corner[2], centre);
            set_element(p, k + 1, corner[1], corner[3], corner[2], centre);
        }
}

static void count_cells(const TwsmModel *model, double cell, double n[2])
{
    n[0] = MAX(ceil((model->x[1] - model->x[0]) / cell - 1e-9), 1);
    n[1] = MAX(ceil((model->y[1] - model->y[0]) / cell - 1e-9), 1);
}

double twsm_mesh_count(const TwsmModel *model, int boundary, double cell)
{
    const TwsmBoundary *b = &model->boundary[boundary];
    double n[2];
    if (b->shape == TWSM_SHEET)
        return b->sheet ? b->sheet->n_triangles : 0;
    count_cells(model, cell, n);
    return 2 * n[0] * n[1];
}

static TwsmPoints *regular_mesh(const TwsmModel *model, const TwsmBoundary *b, double cell,
                                int threads, const double centre[3], GError **error)
{
    double n[2];
    count_cells(model, cell, n);
    const double nx = n[0], ny = n[1];
    if (too_many(2 * nx * ny, error))
        return NULL;
    g_autoptr(TwsmPoints) p = twsm_points_new((int)(2 * nx * ny), error);
    if (!p)
        return NULL;
    p->cells[0] = (int)nx, p->cells[1] = (int)ny;
    p->origin[0] = model->x[0], p->origin[1] = model->y[0];
    p->step[0] = (model->x[1] - model->x[0]) / nx;
    p->step[1] = (model->y[1] - model->y[0]) / ny;
    p->edge = MAX(p->step[0], p->step[1]);
    p->flat = b->shape == TWSM_FLAT;
    g_autofree double *z = vertex_depths(b, p, threads, error);
    if (!z)
        return NULL;
    p->sag = largest_sag(z, p->cells[0] + 1, p->cells[1] + 1);
    fill_cells(p, z, threads, centre);
    return g_steal_pointer(&p);
}

static gboolean check_areas(const TwsmPoints *p, const int *triangle, GError **error)
{
    double sum = 0;
    for (int k = 0; k < p->n; k++)
        sum += p->area[k];
    for (int k = 0; k < p->n; k++)
        if (!(p->area[k] >= 1e-12 * sum / p->n)) {
            g_set_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
                        _("triangle %d of a sheet has no area"), triangle[k] + 1);
            return FALSE;
        }
    return TRUE;
}

static TwsmPoints *sheet_mesh(const TwsmModel *model, const TwsmBoundary *b, const double centre[3],
                              GError **error)
{
    const TwsmSheet *sheet = b->sheet;
    if (too_many(sheet->n_triangles, error))
        return NULL;
    g_autoptr(TwsmPoints) p = twsm_points_new(sheet->n_triangles, error);
    g_autofree int *from =
        p ? litho_memory_new(sheet->n_triangles, sizeof *from, "triangles", error) : NULL;
    if (!from)
        return NULL;
    int n = 0;
    for (int t = 0; t < sheet->n_triangles; t++) {
        double v[3][3], x = 0, y = 0;
        for (int m = 0; m < 3; m++) {
            memcpy(v[m], sheet->vertex[sheet->triangle[t][m]], sizeof v[m]);
            v[m][2] += b->shift;
            x += v[m][0] / 3, y += v[m][1] / 3;
        }
        if (x < model->x[0] || x > model->x[1] || y < model->y[0] || y > model->y[1])
            continue;
        p->area[n] = 0;
        set_element(p, n, v[0], v[1], v[2], centre);
        for (int m = 0; m < 3; m++)
            p->edge = MAX(p->edge, hypot(v[m][0] - v[(m + 1) % 3][0], v[m][1] - v[(m + 1) % 3][1]));
        from[n++] = t;
    }
    p->n = n;
    p->padded = (n + TWSM_PAD - 1) / TWSM_PAD * TWSM_PAD;
    if (n == 0) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
                    _("no triangle of %s lies inside the extent"), b->file);
        return NULL;
    }
    return check_areas(p, from, error) ? g_steal_pointer(&p) : NULL;
}

TwsmPoints *twsm_mesh_new(const TwsmModel *model, int boundary, double cell, double taper,
                          int threads, const double centre[3], GError **error)
{
    const TwsmBoundary *b = &model->boundary[boundary];
    g_autoptr(TwsmPoints) p = b->shape == TWSM_SHEET
                                  ? sheet_mesh(model, b, centre, error)
                                  : regular_mesh(model, b, cell, threads, centre, error);
    if (!p)
        return NULL;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int k = 0; k < p->n; k++)
        p->taper[k] = (float)(edge_taper(p->x[k] + centre[0], model->x, taper) *
                              edge_taper(p->y[k] + centre[1], model->y, taper));
    twsm_points_pad(p);
    return g_steal_pointer(&p);
}

TwsmPoints *twsm_receivers_new(const TwsmModel *model, const double centre[3], GError **error)
{
    TwsmPoints *p = twsm_points_new(model->receiver_count[0] * model->receiver_count[1], error);
    if (!p)
        return NULL;
    for (int k = 0; k < p->n; k++) {
        double at[3];
        twsm_model_receiver(model, k % model->receiver_count[0], k / model->receiver_count[0], at);
        p->x[k] = (float)(at[0] - centre[0]);
        p->y[k] = (float)(at[1] - centre[1]);
        p->z[k] = (float)(at[2] - centre[2]);
        p->taper[k] = 1;
    }
    twsm_points_pad(p);
    return p;
}

TwsmBox twsm_points_box(const TwsmPoints *p, int first, int n)
{
    const int last = first + n - 1;
    const float a[3] = {p->x[first], p->y[first], p->z[first]};
    const float b[3] = {p->x[last], p->y[last], p->z[last]};
    TwsmBox box = twsm_box(a, b);
    for (int k = first; k <= last; k++)
        twsm_box_add(&box, p->x[k], p->y[k], p->z[k]);
    return box;
}
