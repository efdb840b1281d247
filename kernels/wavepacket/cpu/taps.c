// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/wavepacket/cpu/taps.h"

#include <math.h>
#include <string.h>

#include "kernels/wavepacket/cpu/vector.h"

// Up to WP_ROW points of a lattice row, ready for the taps.
typedef struct Points {
    int n;
    gint64 base[WP_ROW]; // complex index of the first tap
    float x[3][WP_ROW];  // place between the taps, see usfft.h
    float sign[WP_ROW];  // -1: the point lies in the other half and is its conjugate
    float weight[WP_ROW];
    int j3[WP_ROW];
} Points;

// A lattice row in fine-grid units: g_a = start_a + j3 step_a.
typedef struct Line {
    double start[3], step[3];
} Line;

// A box's lattice in fine-grid units: g_a = start_a + sum_i j_i step_ia.
typedef struct Lattice {
    double start[3], step[3][3];
} Lattice;

gint64 wp_grid_layout(const WpGeometry *g, WpGrid *grid)
{
    const int vectors = (2 * g->kernel.width + WP_VEC - 1) / WP_VEC;
    for (int a = 0; a < 3; a++) {
        grid->dim[a] = (a < 2 ? g->nf[a] : g->nf[a] / 2) + 1 + 2 * g->halo[a];
        grid->origin[a] = (a < 2 ? g->nf[a] / 2 : 0) + g->halo[a];
    }
    // Loads of whole vectors reach past the last tap, but never into the next row: rows of
    // different planes belong to different threads while the adjoint adds.
    grid->dim[2] = (grid->dim[2] + vectors * WP_VEC / 2 + 7) / 8 * 8;
    grid->data = NULL;
    return 2 * (gint64)grid->dim[0] * grid->dim[1] * grid->dim[2];
}

WP_INLINE void make_lattice(const WpGeometry *g, const WpBox *box, Lattice *lattice)
{
    for (int a = 0; a < 3; a++) {
        lattice->start[a] = 0;
        for (int i = 0; i < 3; i++) {
            lattice->step[i][a] = g->nf[a] * box->R[i][a] / box->M[i];
            lattice->start[a] += box->j0[i] * lattice->step[i][a];
        }
    }
}

WP_INLINE void make_line(const Lattice *lattice, int j1, int j2, Line *line)
{
    for (int a = 0; a < 3; a++) {
        line->start[a] = lattice->start[a] + j1 * lattice->step[0][a] + j2 * lattice->step[1][a];
        line->step[a] = lattice->step[2][a];
    }
}

// Coordinates of points j3 = from .. from+n-1.
WP_INLINE void place_points(const WpKernel *kernel, const WpGrid *grid, const Line *line, int from,
                            int n, const float *weight, Points *p)
{
    const double half = 0.5 * kernel->width + WP_SNAP, centre = 0.5 * (kernel->width - 1);
    p->n = n;
    for (int i = 0; i < n; i++) {
        double g3 = line->start[2] + (from + i) * line->step[2];
        double s = g3 < -WP_SNAP ? -1 : 1;
        double g1 = s * (line->start[0] + (from + i) * line->step[0]);
        double g2 = s * (line->start[1] + (from + i) * line->step[1]);
        g3 *= s;
        double l1 = ceil(g1 - half), l2 = ceil(g2 - half), l3 = ceil(g3 - half);
        p->x[0][i] = (float)(g1 - l1 - centre);
        p->x[1][i] = (float)(g2 - l2 - centre);
        p->x[2][i] = (float)(g3 - l3 - centre);
        p->base[i] =
            (((gint64)l1 + grid->origin[0]) * grid->dim[1] + (gint64)l2 + grid->origin[1]) *
                grid->dim[2] +
            (gint64)l3 + grid->origin[2];
        p->sign[i] = (float)s;
        p->weight[i] = weight[i];
        p->j3[i] = from + i;
    }
}

// Keeps the points whose first tap lies in planes [from, to).
WP_INLINE void keep_planes(const WpGrid *grid, int from, int to, Points *p)
{
    const gint64 plane = (gint64)grid->dim[1] * grid->dim[2];
    const gint64 lo = (from + grid->origin[0]) * plane, hi = (to + grid->origin[0]) * plane;
    int n = 0;
    for (int i = 0; i < p->n; i++) {
        if (p->base[i] < lo || p->base[i] >= hi)
            continue;
        p->base[n] = p->base[i];
        for (int a = 0; a < 3; a++)
            p->x[a][n] = p->x[a][i];
        p->sign[n] = p->sign[i];
        p->weight[n] = p->weight[i];
        p->j3[n++] = p->j3[i];
    }
    p->n = n;
}

// --- the taps ---------------------------------------------------------------------------------

// psi at the taps of one axis, tap t in lane t.
WP_INLINE void taps_of(const WpVec *coef, float x, WpVec *taps)
{
    WpVec v = coef[WP_DEGREE];
    for (int d = WP_DEGREE - 1; d >= 0; d--)
        v = v * x + coef[d];
    *taps = v;
}

// Lanes 0 0 1 1 .. 7 7 and 8 8 9 9 .. 15 15.
WP_INLINE void pairs_of(const WpVec *v, WpVec *low, WpVec *high)
{
    WpHalf half[2], pairs[4];
    memcpy(half, v, sizeof half);
    for (int k = 0; k < 2; k++) {
        pairs[2 * k] = __builtin_shufflevector(half[k], half[k], 0, 0, 1, 1, 2, 2, 3, 3);
        pairs[2 * k + 1] = __builtin_shufflevector(half[k], half[k], 4, 4, 5, 5, 6, 6, 7, 7);
    }
    memcpy(low, pairs, sizeof *low);
    memcpy(high, pairs + 2, sizeof *high);
}

// Sums of the even and of the odd lanes.
WP_INLINE void sum_pairs(const WpVec *from, float *re, float *im)
{
    WpHalf half[2];
    memcpy(half, from, sizeof half);
    WpHalf v = half[0] + half[1];
    v += __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3);
    v += __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5);
    *re = v[0];
    *im = v[1];
}

// Taps of axes 1 and 2, and those of axis 3 doubled, one for re and one for im.
WP_INLINE void taps_of_point(const WpVec *coef, const Points *p, int i, float k1[WP_VEC],
                             float k2[WP_VEC], WpVec *low, WpVec *high)
{
    WpVec k;
    taps_of(coef, p->x[0][i], &k);
    wp_vec_store(k1, &k);
    taps_of(coef, p->x[1][i], &k);
    wp_vec_store(k2, &k);
    taps_of(coef, p->x[2][i], &k);
    pairs_of(&k, low, high);
}

// `w` is a constant at every call: the loops over taps unroll. A row of w complex taps is one
// vector for w <= 8, else two.
WP_INLINE void gather_points(int w, const WpKernel *kernel, const WpGrid *grid, const Points *p,
                             float *out)
{
    const gint64 row = 2 * grid->dim[2], plane = row * grid->dim[1];
    WpVec coef[WP_DEGREE + 1];
    for (int d = 0; d <= WP_DEGREE; d++)
        wp_vec_load(&coef[d], kernel->coef[d]);
    for (int i = 0; i < p->n; i++) {
        WpVec low, high, sum = {0}, sum_high = {0}, u0;
        float k1[WP_VEC], k2[WP_VEC], re, im;
        taps_of_point(coef, p, i, k1, k2, &low, &high);
        const float *u = grid->data + 2 * p->base[i];
        for (int t1 = 0; t1 < w; t1++) {
            WpVec part = {0}, part_high = {0};
            for (int t2 = 0; t2 < w; t2++) {
                wp_vec_load(&u0, u + t1 * plane + t2 * row);
                part += k2[t2] * u0;
                if (w > 8) {
                    wp_vec_load(&u0, u + t1 * plane + t2 * row + WP_VEC);
                    part_high += k2[t2] * u0;
                }
            }
            sum += k1[t1] * part;
            if (w > 8)
                sum_high += k1[t1] * part_high;
        }
        sum *= low;
        if (w > 8)
            sum += sum_high * high;
        sum_pairs(&sum, &re, &im);
        out[2 * p->j3[i]] = p->weight[i] * re;
        out[2 * p->j3[i] + 1] = p->weight[i] * p->sign[i] * im;
    }
}

WP_INLINE void spread_points(int w, const WpKernel *kernel, const WpGrid *grid, const Points *p,
                             const float *values)
{
    const gint64 row = 2 * grid->dim[2], plane = row * grid->dim[1];
    WpVec coef[WP_DEGREE + 1];
    for (int d = 0; d <= WP_DEGREE; d++)
        wp_vec_load(&coef[d], kernel->coef[d]);
    for (int i = 0; i < p->n; i++) {
        float re = p->weight[i] * values[2 * p->j3[i]];
        float im = p->weight[i] * p->sign[i] * values[2 * p->j3[i] + 1];
        WpVec v = {re, im, re, im, re, im, re, im, re, im, re, im, re, im, re, im};
        WpVec low, high, u0;
        float k1[WP_VEC], k2[WP_VEC];
        taps_of_point(coef, p, i, k1, k2, &low, &high);
        low *= v;
        high *= v;
        float *u = grid->data + 2 * p->base[i];
        for (int t1 = 0; t1 < w; t1++)
            for (int t2 = 0; t2 < w; t2++) {
                float *at = u + t1 * plane + t2 * row;
                const float k12 = k1[t1] * k2[t2];
                wp_vec_load(&u0, at);
                u0 += k12 * low;
                wp_vec_store(at, &u0);
                if (w > 8) {
                    wp_vec_load(&u0, at + WP_VEC);
                    u0 += k12 * high;
                    wp_vec_store(at + WP_VEC, &u0);
                }
            }
    }
}

// One copy of the loops per width.
#define EACH_WIDTH(call)                                                                           \
    switch (kernel->width) {                                                                       \
    case 4:                                                                                        \
        call(4);                                                                                   \
        break;                                                                                     \
    case 5:                                                                                        \
        call(5);                                                                                   \
        break;                                                                                     \
    case 6:                                                                                        \
        call(6);                                                                                   \
        break;                                                                                     \
    case 7:                                                                                        \
        call(7);                                                                                   \
        break;                                                                                     \
    case 8:                                                                                        \
        call(8);                                                                                   \
        break;                                                                                     \
    case 9:                                                                                        \
        call(9);                                                                                   \
        break;                                                                                     \
    case 10:                                                                                       \
        call(10);                                                                                  \
        break;                                                                                     \
    case 11:                                                                                       \
        call(11);                                                                                  \
        break;                                                                                     \
    default:                                                                                       \
        call(12);                                                                                  \
    }

WP_INLINE void gather(const WpKernel *kernel, const WpGrid *grid, const Points *p, float *out){
#define GATHER(w) gather_points(w, kernel, grid, p, out)
    EACH_WIDTH(GATHER)}

WP_INLINE
    void spread(const WpKernel *kernel, const WpGrid *grid, const Points *p, const float *values){
#define SPREAD(w) spread_points(w, kernel, grid, p, values)
        EACH_WIDTH(SPREAD)}

// --- boxes ------------------------------------------------------------------------------------

WP_CLONES void wp_gather_box(const WpGeometry *g, const WpGrid *grid, const WpBox *box,
                             const LithoRun *run, float *out)
{
    Points p;
    Lattice lattice;
    make_lattice(g, box, &lattice);
    memset(out, 0, box->floats * sizeof *out);
    for (int j1 = 0; j1 < box->n[0] && litho_run_checkpoint(run); j1++)
        for (int j2 = 0; j2 < box->n[1]; j2++) {
            gint64 r = (gint64)j1 * box->n[1] + j2;
            const WpRow *row = &box->rows[r];
            Line line;
            if (row->count == 0)
                continue;
            make_line(&lattice, j1, j2, &line);
            for (int at = 0; at < row->count; at += WP_ROW) {
                place_points(&g->kernel, grid, &line, row->first + at, MIN(WP_ROW, row->count - at),
                             box->weight + row->at + at, &p);
                gather(&g->kernel, grid, &p, out + 2 * r * box->n[2]);
            }
        }
}

// Range of j3 in [lo, hi) with from <= s (start + j3 step) <= to, widened by a point on either side
// against rounding (keep_planes() decides).
WP_INLINE void narrow(double start, double step, double s, double from, double to, int *lo, int *hi)
{
    double a = (from - s * start), b = (to - s * start), d = s * step;
    if (fabs(d) < 1e-9) {
        if (b < -1e-6 || a > 1e-6)
            *hi = *lo;
        return;
    }
    double t0 = MIN(a / d, b / d), t1 = MAX(a / d, b / d);
    *lo = (int)MAX(*lo, floor(t0) - 1);
    *hi = (int)MIN(*hi, ceil(t1) + 2);
}

// The part of a row with g3 >= 0 (s = 1) or g3 < 0 (s = -1). Membership is decided by the same
// expression as in place_points(), or a point could be taken twice.
WP_INLINE void half_of_row(const Line *line, int s, int *lo, int *hi)
{
#define MIRRORED(j) (line->start[2] + (j)*line->step[2] < -WP_SNAP)
    if (MIRRORED(*lo) == MIRRORED(*hi - 1)) {
        if (MIRRORED(*lo) != (s < 0))
            *hi = *lo;
        return;
    }
    while (MIRRORED(*lo) != (s < 0))
        ++*lo;
    while (MIRRORED(*hi - 1) != (s < 0))
        --*hi;
#undef MIRRORED
}

WP_INLINE void spread_row(const WpGeometry *g, const WpGrid *grid, const WpBox *box,
                          const WpRow *row, const Line *given, const float *values, int from,
                          int to)
{
    const Line line = *given;
    Points p;
    for (int s = 1; s >= -1; s -= 2) {
        int lo = row->first, hi = row->first + row->count;
        half_of_row(&line, s, &lo, &hi);
        narrow(line.start[0], line.step[0], s, from + 0.5 * g->kernel.width - 1,
               to + 0.5 * g->kernel.width, &lo, &hi);
        for (int at = lo; at < hi; at += WP_ROW) {
            place_points(&g->kernel, grid, &line, at, MIN(WP_ROW, hi - at),
                         box->weight + row->at + at - row->first, &p);
            keep_planes(grid, from, to, &p);
            spread(&g->kernel, grid, &p, values);
        }
    }
}

// Reach of a box along axis 1, grid units: nothing of it lies in planes beyond.
WP_INLINE void box_reach(const WpGeometry *g, const WpBox *box, double *lo, double *hi)
{
    *lo = *hi = 0;
    for (int i = 0; i < 3; i++) {
        double a = box->lo[i] * box->R[i][0], b = box->hi[i] * box->R[i][0];
        *lo += MIN(a, b) * g->nf[0];
        *hi += MAX(a, b) * g->nf[0];
    }
    // Points of the other half appear mirrored.
    double mirrored = -*lo;
    *lo = MIN(*lo, -*hi);
    *hi = MAX(*hi, mirrored);
}

// Most rows miss a thin slab: whether one, or its mirror image, can reach it.
WP_INLINE gboolean row_reaches(const Line *line, const WpRow *row, double from, double to)
{
    const double a = line->start[0] + row->first * line->step[0];
    const double b = a + (row->count - 1) * line->step[0];
    const double lo = MIN(a, b), hi = MAX(a, b);
    return (hi >= from && lo <= to) || (-lo >= from && -hi <= to);
}

WP_CLONES void wp_spread_box(const WpGeometry *g, const WpGrid *grid, const WpBox *box,
                             const float *values, int from, int to)
{
    const double reach = 0.5 * g->kernel.width + 1;
    double lo, hi;
    Lattice lattice;
    box_reach(g, box, &lo, &hi);
    if (lo - reach > to || hi + reach < from)
        return;
    make_lattice(g, box, &lattice);
    const WpRow *row = box->rows;
    for (int j1 = 0; j1 < box->n[0]; j1++)
        for (int j2 = 0; j2 < box->n[1]; j2++, row++, values += 2 * box->n[2]) {
            Line line;
            make_line(&lattice, j1, j2, &line);
            if (row->count && row_reaches(&line, row, from - reach, to + reach))
                spread_row(g, grid, box, row, &line, values, from, to);
        }
}
