// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <string.h>

#include "core/io/segy_geometry.h"
#include "core/io/xy_fit.h"
#include "core/text.h"

// A lattice from coordinates alone, in any order and at any rotation: the two shortest independent
// differences within a small neighbourhood are a basis; the lattice then grows outwards, refitted
// at each doubling of the radius, so that rounding of the coordinates cannot add up to a wrong
// index.

enum { NEIGHBOURS = 500 };

typedef struct Basis {
    double origin[2], a[2], b[2];
} Basis;

static double cross(const double *a, const double *b)
{
    return a[0] * b[1] - a[1] * b[0];
}

static double length(const double *a)
{
    return hypot(a[0], a[1]);
}

// Up to NEIGHBOURS points around point `centre`.
static int gather(const LithoScan *scan, gint64 centre, double (*points)[2])
{
    double cx = scan->key[0][centre], cy = scan->key[1][centre];
    for (double radius = 1;; radius *= 1.5) {
        gint64 found = 0;
        for (gint64 t = 0; t < scan->n; t++) {
            if (scan->flags[t] & LITHO_SCAN_OUT)
                continue;
            double dx = scan->key[0][t] - cx, dy = scan->key[1][t] - cy;
            if (hypot(dx, dy) > radius)
                continue;
            if (found < NEIGHBOURS) {
                points[found][0] = dx;
                points[found][1] = dy;
            }
            found++;
        }
        // 5e9: beyond the diagonal of 32-bit coordinates.
        if (found >= 60 || radius > 5e9)
            return (int)MIN(found, NEIGHBOURS);
        if (radius < 1e3 && found < 2)
            radius *= 4; // still inside the first cell
    }
}

static gboolean find_basis(double (*points)[2], int n, Basis *basis)
{
    double best = INFINITY, second = INFINITY;
    for (int pass = 0; pass < 2; pass++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                double d[2] = {points[q][0] - points[p][0], points[q][1] - points[p][1]};
                double l = length(d);
                // Below a key unit two points are one (rounding, gathers).
                if (l < 1.5)
                    continue;
                if (pass == 0 && l < best) {
                    best = l;
                    memcpy(basis->a, d, sizeof d);
                } else if (pass == 1 && l < second &&
                           fabs(cross(basis->a, d)) > 0.4 * l * length(basis->a)) {
                    second = l;
                    memcpy(basis->b, d, sizeof d);
                }
            }
    if (best == INFINITY)
        return FALSE;
    if (second == INFINITY) { // one straight line
        basis->b[0] = -basis->a[1];
        basis->b[1] = basis->a[0];
    }
    return TRUE;
}

static void to_indices(const Basis *basis, double x, double y, double ij[2])
{
    double d[2] = {x - basis->origin[0], y - basis->origin[1]};
    double det = cross(basis->a, basis->b);
    ij[0] = cross(d, basis->b) / det;
    ij[1] = cross(basis->a, d) / det;
}

// One round: all points within `radius` cells of the origin get their nearest index and the basis
// is fitted to them. Returns the points used.
static gint64 refine(const LithoScan *scan, Basis *basis, double radius, double *rms)
{
    LithoXyFit fit = {.di = {basis->a[0], basis->a[1]}, .dj = {basis->b[0], basis->b[1]}};
    for (gint64 t = 0; t < scan->n; t++) {
        if (scan->flags[t] & LITHO_SCAN_OUT)
            continue;
        double ij[2];
        to_indices(basis, scan->key[0][t], scan->key[1][t], ij);
        if (fabs(ij[0]) <= radius && fabs(ij[1]) <= radius)
            litho_xy_fit_add(&fit, rint(ij[0]), rint(ij[1]), scan->key[0][t], scan->key[1][t]);
    }
    if (fit.n < 2)
        return fit.n;
    litho_xy_fit_solve(&fit);
    memcpy(basis->origin, fit.origin, sizeof fit.origin);
    memcpy(basis->a, fit.di, sizeof fit.di);
    memcpy(basis->b, fit.dj, sizeof fit.dj);
    *rms = fit.rms;
    return fit.n;
}

static void swap_axes(Basis *basis)
{
    double t[2] = {basis->a[0], basis->a[1]};
    memcpy(basis->a, basis->b, sizeof t);
    memcpy(basis->b, t, sizeof t);
}

// The crossline axis (b) is the one along which the file moves from trace to trace; both point the
// way the file does.
static void orient(const LithoScan *scan, Basis *basis)
{
    gint64 moves[2] = {0, 0}, sign[2] = {0, 0};
    double before[2] = {0, 0};
    gboolean first = TRUE;
    for (gint64 t = 0; t < scan->n; t++) {
        if (scan->flags[t] & LITHO_SCAN_OUT)
            continue;
        double ij[2];
        to_indices(basis, scan->key[0][t], scan->key[1][t], ij);
        double d[2] = {rint(ij[0] - before[0]), rint(ij[1] - before[1])};
        for (int c = 0; !first && c < 2; c++) {
            moves[c] += d[c] != 0 && d[1 - c] == 0;
            sign[c] += (d[c] > 0) - (d[c] < 0);
        }
        memcpy(before, ij, sizeof before);
        first = FALSE;
    }
    for (int c = 0; c < 2; c++) {
        double *v = c == 0 ? basis->a : basis->b;
        if (sign[c] < 0) {
            v[0] = -v[0];
            v[1] = -v[1];
        }
    }
    if (moves[0] > moves[1])
        swap_axes(basis);
}

static void write_indices(LithoScan *scan, LithoSurvey *survey, const Basis *basis, double rms)
{
    gint64 low[2] = {G_MAXINT64, G_MAXINT64};
    for (int pass = 0; pass < 2; pass++)
        for (gint64 t = 0; t < scan->n; t++) {
            if (scan->flags[t] & LITHO_SCAN_OUT)
                continue;
            double ij[2];
            to_indices(basis, scan->key[0][t], scan->key[1][t], ij);
            for (int c = 0; c < 2; c++)
                if (pass == 0)
                    low[c] = MIN(low[c], (gint64)rint(ij[c]));
            if (pass == 1)
                for (int c = 0; c < 2; c++)
                    scan->key[c][t] = (gint32)((gint64)rint(ij[c]) - low[c] + 1);
        }
    LithoGrid *g = &survey->grid;
    g->has_xy = TRUE;
    for (int c = 0; c < 2; c++) {
        g->inline_step[c] = basis->a[c] * scan->scale;
        g->xline_step[c] = basis->b[c] * scan->scale;
        g->origin[c] =
            (basis->origin[c] + low[0] * basis->a[c] + low[1] * basis->b[c]) * scan->scale;
    }
    g->xy_source = LITHO_FROM_FILE;
    litho_text_put(g->xy_evidence, sizeof g->xy_evidence,
                   _("bytes %d/%d, lattice fitted, residual %.2f of a bin"), scan->byte[0],
                   scan->byte[1], rms / MIN(length(basis->a), length(basis->b)));
}

gboolean litho_lattice_from_xy(LithoScan *scan, LithoSurvey *survey, char why[96])
{
    gint64 centre = scan->n / 2;
    while (centre < scan->n - 1 && scan->flags[centre] & LITHO_SCAN_OUT)
        centre++;
    g_autofree double(*points)[2] = g_malloc(NEIGHBOURS * sizeof *points);
    int n = gather(scan, centre, points);
    Basis basis = {.origin = {scan->key[0][centre], scan->key[1][centre]}};
    g_strlcpy(why, _("all points are the same"), 96);
    if (n < 2 || !find_basis(points, n, &basis))
        return FALSE;
    double rms = 0, limit = MIN(length(basis.a), length(basis.b));
    gint64 inside = 0, before = -1;
    for (double radius = 3.5; radius < 4e9 && (inside < scan->n || before != inside); radius *= 2) {
        before = inside;
        inside = refine(scan, &basis, radius, &rms);
        double area = fabs(cross(basis.a, basis.b));
        if (inside < 2 || rms > 0.22 * limit || area < 1e-3 * length(basis.a) * length(basis.b)) {
            litho_text_put(why, 96,
                           _("coordinates form no regular lattice (residual %.2f of a bin)"),
                           rms / limit);
            return FALSE;
        }
    }
    orient(scan, &basis);
    write_indices(scan, survey, &basis, rms);
    return TRUE;
}
