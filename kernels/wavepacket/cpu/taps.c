// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/wavepacket/cpu/taps.h"

#include <math.h>
#include <string.h>

#include "kernels/wavepacket/cpu/vector.h"

// Built for what every processor has, for AVX2 and for AVX-512 (kernels/common/isa.h). Vectors are
// as wide as the registers: GCC 12 builds wider ones float by float.
#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif
typedef float Vec __attribute__((vector_size(LANES * sizeof(float))));
// Vectors of a row of w complex taps.
#define VECTORS(w) ((2 * (w) + LANES - 1) / LANES)

// Points of one row after the other, ready for the taps.
enum { POINTS = 2 * WP_ROW };
typedef struct Points {
    int n;
    gint64 base[POINTS]; // complex index of the first tap
    int l[3][POINTS];    // the first tap itself; for planes alone
    float x[3][POINTS];  // place between the taps, see usfft.h
    float sign[POINTS];  // -1: the point lies in the other half and is its conjugate
    const float *weight[POINTS];
    guint32 at[POINTS]; // of the box's complex values
} Points;

// A lattice row in fine-grid units: g_a = start_a + j3 step_a.
typedef struct Line {
    double start[3], step[3];
} Line;

// A box's lattice in fine-grid units: g_a = start_a + sum_i j_i step_ia.
typedef struct Lattice {
    double start[3], step[3][3];
} Lattice;

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

// Adds points j3 = from .. from+n-1, n <= WP_ROW: the first one's weight and value stand at
// `weight` and number `at`.
// `grid` NULL: in planes.
WP_INLINE void place_points(const WpKernel *kernel, const WpGrid *grid, const Line *line, int from,
                            int n, const float *weight, gint64 at, Points *p)
{
    const double half = 0.5 * kernel->width + WP_SNAP, centre = 0.5 * (kernel->width - 1);
    const int first = p->n;
    for (int i = 0; i < n; i++) {
        double g3 = line->start[2] + (from + i) * line->step[2];
        double s = g3 < -WP_SNAP ? -1 : 1;
        double g1 = s * (line->start[0] + (from + i) * line->step[0]);
        double g2 = s * (line->start[1] + (from + i) * line->step[1]);
        g3 *= s;
        double l1 = ceil(g1 - half), l2 = ceil(g2 - half), l3 = ceil(g3 - half);
        p->x[0][first + i] = (float)(g1 - l1 - centre);
        p->x[1][first + i] = (float)(g2 - l2 - centre);
        p->x[2][first + i] = (float)(g3 - l3 - centre);
        if (grid) {
            p->base[first + i] =
                (((gint64)l1 + grid->origin[0]) * grid->dim[1] + (gint64)l2 + grid->origin[1]) *
                    grid->dim[2] +
                (gint64)l3 + grid->origin[2];
        } else {
            p->l[0][first + i] = (int)l1;
            p->l[1][first + i] = (int)l2;
            p->l[2][first + i] = (int)l3;
        }
        p->sign[first + i] = (float)s;
        p->weight[first + i] = weight + i;
        p->at[first + i] = (guint32)(at + i);
    }
    p->n += n;
}

// --- the taps ---------------------------------------------------------------------------------

// Taps of the points of a flush.
typedef struct Taps {
    const float (*coef)[WP_LANES];                   // of the kernel
    Vec pairs[VECTORS(WP_MAX_WIDTH)][WP_DEGREE + 1]; // the same with tap t in lanes 2 t and 2 t + 1
    // psi along axes 1 and 2, tap by tap.
    float k[2][WP_MAX_WIDTH][POINTS] __attribute__((aligned(64)));
} Taps;

WP_INLINE void make_taps(const WpKernel *kernel, Taps *taps)
{
    taps->coef = kernel->coef;
    for (int d = 0; d <= WP_DEGREE; d++) {
        float pairs[2 * WP_LANES];
        for (int t = 0; t < WP_LANES; t++)
            pairs[2 * t] = pairs[2 * t + 1] = kernel->coef[d][t];
        for (int v = 0; v < VECTORS(WP_MAX_WIDTH); v++)
            memcpy(&taps->pairs[v][d], pairs + v * LANES, sizeof(Vec));
    }
}

// psi along axes 1 and 2, a vector of points at a time; behind the last point lies room.
WP_INLINE void taps_across(int w, const Points *p, Taps *taps)
{
    for (int a = 0; a < 2; a++)
        for (int i = 0; i < p->n; i += LANES) {
            Vec x;
            memcpy(&x, p->x[a] + i, sizeof x);
            for (int t = 0; t < w; t++) {
                Vec v = {0};
                v += taps->coef[WP_DEGREE][t];
                for (int d = WP_DEGREE - 1; d >= 0; d--)
                    v = v * x + taps->coef[d][t];
                memcpy(taps->k[a][t] + i, &v, sizeof v);
            }
        }
}

// psi at the taps of axis 3, in pairs.
WP_INLINE void taps_along(const Vec *pairs, float x, Vec *taps)
{
    Vec v = pairs[WP_DEGREE];
    for (int d = WP_DEGREE - 1; d >= 0; d--)
        v = v * x + pairs[d];
    *taps = v;
}

// Sums of the even and of the odd lanes of n vectors: of lanes 16 apart, 8, 4 and 2, on any
// machine.
WP_INLINE void sum_pairs(int n, const Vec *from, float *re, float *im)
{
    enum { ONE = 16 / LANES };
    Vec sum[ONE] = {{0}};
    for (int v = 0; v < n; v++)
        sum[v % ONE] += from[v];
    for (int m = ONE / 2; m > 0; m /= 2)
        for (int v = 0; v < m; v++)
            sum[v] += sum[v + m];
#if LANES >= 8
    WpHalf half[LANES / 8];
    memcpy(half, sum, sizeof half);
    WpHalf h = half[0];
#if LANES == 16
    h += half[1];
#endif
    h += __builtin_shufflevector(h, h, 4, 5, 6, 7, 0, 1, 2, 3);
    h += __builtin_shufflevector(h, h, 2, 3, 0, 1, 6, 7, 4, 5);
    *re = h[0];
    *im = h[1];
#else
    *re = sum[0][0] + sum[0][2];
    *im = sum[0][1] + sum[0][3];
#endif
}

WP_INLINE void fill_pairs(float re, float im, Vec *v)
{
#if LANES == 16
    *v = (Vec){re, im, re, im, re, im, re, im, re, im, re, im, re, im, re, im};
#elif LANES == 8
    *v = (Vec){re, im, re, im, re, im, re, im};
#else
    *v = (Vec){re, im, re, im};
#endif
}

// `w` is a constant at every call: the loops over taps unroll.
WP_INLINE void gather_points(int w, Taps *taps, const WpGrid *grid, const Points *p, float *out)
{
    const gint64 row = 2 * grid->dim[2], plane = row * grid->dim[1];
    taps_across(w, p, taps);
    for (int i = 0; i < p->n; i++) {
        Vec sum[VECTORS(WP_MAX_WIDTH)] = {{0}}, u0;
        float re, im;
        const float *u = grid->data + 2 * p->base[i];
        for (int t1 = 0; t1 < w; t1++) {
            Vec part[VECTORS(WP_MAX_WIDTH)] = {{0}};
            for (int t2 = 0; t2 < w; t2++)
                for (int v = 0; v < VECTORS(w); v++) {
                    memcpy(&u0, u + t1 * plane + t2 * row + v * LANES, sizeof u0);
                    part[v] += taps->k[1][t2][i] * u0;
                }
            for (int v = 0; v < VECTORS(w); v++)
                sum[v] += taps->k[0][t1][i] * part[v];
        }
        for (int v = 0; v < VECTORS(w); v++) {
            Vec k;
            taps_along(taps->pairs[v], p->x[2][i], &k);
            sum[v] *= k;
        }
        sum_pairs(VECTORS(w), sum, &re, &im);
        out[2 * p->at[i]] = *p->weight[i] * re;
        out[2 * p->at[i] + 1] = *p->weight[i] * p->sign[i] * im;
    }
}

WP_INLINE void spread_points(int w, Taps *taps, const WpGrid *grid, const Points *p,
                             const float *values)
{
    const gint64 row = 2 * grid->dim[2], plane = row * grid->dim[1];
    taps_across(w, p, taps);
    for (int i = 0; i < p->n; i++) {
        const float re = *p->weight[i] * values[2 * p->at[i]];
        const float im = *p->weight[i] * p->sign[i] * values[2 * p->at[i] + 1];
        Vec k[VECTORS(WP_MAX_WIDTH)], value, u0;
        fill_pairs(re, im, &value);
        for (int v = 0; v < VECTORS(w); v++) {
            taps_along(taps->pairs[v], p->x[2][i], &k[v]);
            k[v] *= value;
        }
        float *u = grid->data + 2 * p->base[i];
        for (int t1 = 0; t1 < w; t1++)
            for (int t2 = 0; t2 < w; t2++) {
                float *at = u + t1 * plane + t2 * row;
                const float k12 = taps->k[0][t1][i] * taps->k[1][t2][i];
                for (int v = 0; v < VECTORS(w); v++) {
                    memcpy(&u0, at + v * LANES, sizeof u0);
                    u0 += k12 * k[v];
                    memcpy(at + v * LANES, &u0, sizeof u0);
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

WP_INLINE void gather(const WpKernel *kernel, Taps *taps, const WpGrid *grid, const Points *p,
                      float *out){
#define GATHER(w) gather_points(w, taps, grid, p, out)
    EACH_WIDTH(GATHER)}

WP_INLINE void spread(const WpKernel *kernel, Taps *taps, const WpGrid *grid, const Points *p,
                      const float *values){
#define SPREAD(w) spread_points(w, taps, grid, p, values)
    EACH_WIDTH(SPREAD)}

// --- boxes ------------------------------------------------------------------------------------

void LITHO_ISA_NAME(wp_gather_box)(const WpGeometry *g, const WpGrid *grid, const WpBox *box,
                                   const LithoRun *run, float *out)
{
    Points p;
    Taps taps;
    Lattice lattice;
    make_lattice(g, box, &lattice);
    make_taps(&g->kernel, &taps);
    memset(out, 0, box->floats * sizeof *out);
    p.n = 0;
    for (int j1 = 0; j1 < box->n[0] && litho_run_checkpoint(run); j1++)
        for (int j2 = 0; j2 < box->n[1]; j2++) {
            gint64 r = (gint64)j1 * box->n[1] + j2;
            const WpRow *row = &box->rows[r];
            Line line;
            make_line(&lattice, j1, j2, &line);
            for (int at = 0; at < row->count; at += WP_ROW) {
                place_points(&g->kernel, grid, &line, row->first + at, MIN(WP_ROW, row->count - at),
                             box->weight + row->at + at, r * box->n[2] + row->first + at, &p);
                if (p.n >= WP_ROW) {
                    gather(&g->kernel, &taps, grid, &p, out);
                    p.n = 0;
                }
            }
        }
    gather(&g->kernel, &taps, grid, &p, out);
}

// Range of j3 in [lo, hi) with from <= s (start + j3 step) <= to, or a little more: a thousandth of
// a point on either side. `across`: 1 / step, 0 where a row hardly leaves its plane.
WP_INLINE void narrow(double start, double across, double s, double from, double to, int *lo,
                      int *hi)
{
    enum { REACH = 1 << 20 };
    const double a = from - s * start, b = to - s * start;
    if (across == 0) {
        if (b < -1e-3 || a > 1e-3)
            *hi = *lo;
        return;
    }
    const double t0 = MIN(a * (s * across), b * (s * across)) - 1e-3;
    const double t1 = MAX(a * (s * across), b * (s * across)) + 1e-3;
    *lo = MAX(*lo, (int)ceil(CLAMP(t0, -REACH, REACH)));
    *hi = MIN(*hi, (int)floor(CLAMP(t1, -REACH, REACH)) + 1);
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

// The part of it whose first tap lies in planes [from, to), likewise.
WP_INLINE void planes_of_row(const WpKernel *kernel, const Line *line, double s, int from, int to,
                             int *lo, int *hi)
{
    const double half = 0.5 * kernel->width + WP_SNAP;
#define PLANE(j) ceil(s *(line->start[0] + (j)*line->step[0]) - half)
#define OUTSIDE(j) (PLANE(j) < from || PLANE(j) >= to)
    while (*lo < *hi && OUTSIDE(*lo))
        ++*lo;
    while (*lo < *hi && OUTSIDE(*hi - 1))
        --*hi;
#undef OUTSIDE
#undef PLANE
}

WP_INLINE void spread_row(const WpGeometry *g, Taps *taps, const WpGrid *grid, const WpBox *box,
                          const WpRow *row, const Line *given, double across, const float *values,
                          int from, int to, Points *p)
{
    const Line line = *given;
    const gint64 first = (row - box->rows) * box->n[2];
    for (int s = 1; s >= -1; s -= 2) {
        int lo = row->first, hi = row->first + row->count;
        half_of_row(&line, s, &lo, &hi);
        if (lo >= hi)
            continue;
        narrow(line.start[0], across, s, from + 0.5 * g->kernel.width - 1,
               to + 0.5 * g->kernel.width - 1, &lo, &hi);
        planes_of_row(&g->kernel, &line, s, from, to, &lo, &hi);
        for (int at = lo; at < hi; at += WP_ROW) {
            const float *weight = box->weight + row->at + at - row->first;
            const int n = MIN(WP_ROW, hi - at);
            for (int k = 0; k < n + 7; k += 8)
                __builtin_prefetch(values + 2 * (first + at + MIN(k, n - 1)));
            for (int k = 0; k < n + 15; k += 16)
                __builtin_prefetch(weight + MIN(k, n - 1));
            place_points(&g->kernel, grid, &line, at, n, weight, first + at, p);
            if (p->n >= WP_ROW) {
                spread(&g->kernel, taps, grid, p, values);
                p->n = 0;
            }
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

// Most rows miss a thin slab: whether one from `start` on along axis 1, or its mirror image, can
// reach it.
WP_INLINE gboolean row_reaches(double start, double step, const WpRow *row, double from, double to)
{
    const double a = start + row->first * step, b = a + (row->count - 1) * step;
    const double lo = MIN(a, b), hi = MAX(a, b);
    return (hi >= from && lo <= to) || (-lo >= from && -hi <= to);
}

void LITHO_ISA_NAME(wp_spread_box)(const WpGeometry *g, const WpGrid *grid, const WpBox *box,
                                   const float *values, int from, int to)
{
    const double reach = 0.5 * g->kernel.width + 1;
    double lo, hi;
    Taps taps;
    Lattice lattice;
    box_reach(g, box, &lo, &hi);
    if (lo - reach > to || hi + reach < from)
        return;
    make_lattice(g, box, &lattice);
    make_taps(&g->kernel, &taps);
    const double step = lattice.step[2][0], across = fabs(step) > 1e-6 ? 1 / step : 0;
    const WpRow *row = box->rows;
    Points p;
    p.n = 0;
    for (int j1 = 0; j1 < box->n[0]; j1++)
        for (int j2 = 0; j2 < box->n[1]; j2++, row++) {
            const double start =
                lattice.start[0] + j1 * lattice.step[0][0] + j2 * lattice.step[1][0];
            Line line;
            if (row->count == 0 || !row_reaches(start, step, row, from - reach, to + reach))
                continue;
            make_line(&lattice, j1, j2, &line);
            spread_row(g, &taps, grid, box, row, &line, across, values, from, to, &p);
        }
    spread(&g->kernel, &taps, grid, &p, values);
}

// --- planes
// ---------------------------------------------------------------------------------------

// Sums over the taps across each plane of psi times the plane's phase, from the first tap's on.
typedef struct Across {
    float re[WP_PLANES_AT_ONCE][POINTS] __attribute__((aligned(64)));
    float im[WP_PLANES_AT_ONCE][POINTS] __attribute__((aligned(64)));
} Across;

WP_INLINE void sum_across(const WpPlaneGrid *plane, const float *x, int n, float *re, float *im)
{
    for (int i = 0; i < n; i += LANES) {
        Vec v, a = {0}, b = {0};
        memcpy(&v, x + i, sizeof v);
        a += plane->re[WP_DEGREE];
        b += plane->im[WP_DEGREE];
        for (int d = WP_DEGREE - 1; d >= 0; d--) {
            a = a * v + plane->re[d];
            b = b * v + plane->im[d];
        }
        memcpy(re + i, &a, sizeof a);
        memcpy(im + i, &b, sizeof b);
    }
}

// A point of a plane: w rows of w taps. `along`: psi along the rows, in pairs.
WP_INLINE void add_to_plane(int w, const WpPlaneGrid *plane, const Points *p, int i,
                            const Taps *taps, const Across *across, int k, float re, float im,
                            const Vec *along, float *data)
{
    const int a = plane->axis, rows = a == 0 ? 1 : 0, columns = a == 2 ? 1 : 2;
    const float *turn = plane->turn + 2 * (p->l[a][i] + plane->origin[a]);
    const float fr = across->re[k][i] * turn[0] - across->im[k][i] * turn[1];
    const float fi = across->re[k][i] * turn[1] + across->im[k][i] * turn[0];
    const gint64 row = 2 * plane->dim[1];
    float *at = data + (p->l[rows][i] + plane->origin[rows]) * row +
                2 * (p->l[columns][i] + plane->origin[columns]);
    Vec value, v[VECTORS(WP_MAX_WIDTH)], u;
    fill_pairs(re * fr - im * fi, re * fi + im * fr, &value);
    for (int m = 0; m < VECTORS(w); m++)
        v[m] = along[m] * value;
    for (int t = 0; t < w; t++, at += row)
        for (int m = 0; m < VECTORS(w); m++) {
            memcpy(&u, at + m * LANES, sizeof u);
            u += taps->k[rows][t][i] * v[m];
            memcpy(at + m * LANES, &u, sizeof u);
        }
}

WP_INLINE void points_to_planes(int w, Taps *taps, const WpPlaneGrid *planes, int n,
                                const Points *p, const float *values, float *data)
{
    Across across;
    taps_across(w, p, taps);
    for (int k = 0; k < n; k++)
        sum_across(&planes[k], p->x[planes[k].axis], p->n, across.re[k], across.im[k]);
    for (int i = 0; i < p->n; i++) {
        const float re = *p->weight[i] * values[2 * p->at[i]];
        const float im = *p->weight[i] * p->sign[i] * values[2 * p->at[i] + 1];
        Vec along[2][VECTORS(WP_MAX_WIDTH)]; // axis 2, axis 3
        for (int m = 0; m < VECTORS(w); m++) {
            taps_along(taps->pairs[m], p->x[1][i], &along[0][m]);
            taps_along(taps->pairs[m], p->x[2][i], &along[1][m]);
        }
        for (int k = 0; k < n; k++)
            add_to_plane(w, &planes[k], p, i, taps, &across, k, re, im, along[planes[k].axis != 2],
                         data + planes[k].at);
    }
}

WP_INLINE void to_planes(const WpKernel *kernel, Taps *taps, const WpPlaneGrid *planes, int n,
                         const Points *p, const float *values, float *data)
{
#define TO_PLANES(w) points_to_planes(w, taps, planes, n, p, values, data)
    EACH_WIDTH(TO_PLANES)
}

void LITHO_ISA_NAME(wp_spread_box_to_planes)(const WpGeometry *g, const WpPlaneGrid *planes, int n,
                                             const WpBox *box, const float *values, float *data)
{
    Points p;
    Taps taps;
    Lattice lattice;
    make_lattice(g, box, &lattice);
    make_taps(&g->kernel, &taps);
    const WpRow *row = box->rows;
    p.n = 0;
    for (int j1 = 0; j1 < box->n[0]; j1++)
        for (int j2 = 0; j2 < box->n[1]; j2++, row++) {
            const gint64 first = (row - box->rows) * box->n[2] + row->first;
            Line line;
            make_line(&lattice, j1, j2, &line);
            for (int at = 0; at < row->count; at += WP_ROW) {
                place_points(&g->kernel, NULL, &line, row->first + at, MIN(WP_ROW, row->count - at),
                             box->weight + row->at + at, first + at, &p);
                if (p.n >= WP_ROW) {
                    to_planes(&g->kernel, &taps, planes, n, &p, values, data);
                    p.n = 0;
                }
            }
        }
    to_planes(&g->kernel, &taps, planes, n, &p, values, data);
}
