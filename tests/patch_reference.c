// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/patch_reference.h"

#include <fftw3.h>
#include <math.h>
#include <string.h>

typedef struct Window {
    const LithoCube *in;
    LithoPatchGeometry g;
    int start[3];
    fftw_complex *x;
    const float *shape;
    double *guide; // factors of powers, or NULL
} Window;

static gsize window_size(const LithoPatchGeometry *g)
{
    return (gsize)g->axis[0].length * g->axis[1].length * g->axis[2].length;
}

// Place of element k of the window along the axes.
static void place(const LithoPatchGeometry *g, gsize k, int at[3])
{
    at[2] = (int)(k % g->axis[2].length);
    at[1] = (int)(k / g->axis[2].length % g->axis[1].length);
    at[0] = (int)(k / g->axis[2].length / g->axis[1].length);
}

static double taper(const LithoPatchGeometry *g, const int at[3])
{
    double w = 1;
    for (int a = 0; a < 3; a++)
        w *= sin(G_PI * (at[a] + 0.5) / g->axis[a].length);
    return w;
}

// Fills the window; the share of the taper's energy on live traces.
static double load(Window *w)
{
    double there = 0, all = 0;
    for (gsize k = 0; k < window_size(&w->g); k++) {
        int at[3], from[3];
        place(&w->g, k, at);
        for (int a = 0; a < 3; a++) { // mirrored at the faces
            const int n = w->g.axis[a].n;
            from[a] = w->start[a] + at[a];
            while (from[a] < 0 || from[a] >= n)
                from[a] = from[a] < 0 ? -1 - from[a] : 2 * n - 1 - from[a];
        }
        const float x = litho_cube_trace(w->in, from[0], from[1])[from[2]];
        const gboolean live = litho_cube_is_live(w->in, from[0], from[1]);
        const double t = taper(&w->g, at);
        w->x[k][0] = live && isfinite(x) ? t * x : 0;
        w->x[k][1] = 0;
        all += t * t;
        there += live ? t * t : 0;
    }
    return there / all;
}

// The shape of the level at a coefficient; beyond the middle frequency stand the opposite ones.
static double shape_at(const Window *w, const int at[3])
{
    const LithoPatchAxis *a = w->g.axis;
    const gboolean turned = at[2] > a[2].length / 2;
    const int f = turned ? a[2].length - at[2] : at[2];
    const int i = turned ? (a[0].length - at[0]) % a[0].length : at[0];
    const int j = turned ? (a[1].length - at[1]) % a[1].length : at[1];
    return w->shape ? w->shape[(f * a[0].length + i) * a[1].length + j] : 1;
}

// Number of a coefficient that may lie beyond the ends of its axes.
static gsize number(const LithoPatchGeometry *g, int i, int j, int f)
{
    const int at[3] = {i, j, f};
    gsize k = 0;
    for (int a = 0; a < 3; a++) {
        const int n = g->axis[a].length;
        k = k * n + (at[a] % n + n) % n;
    }
    return k;
}

// The two wavenumbers around half of place k of n; those of the last one are k / 2 and its
// opposite.
static void around_half(int n, int k, int half[2])
{
    const double at = (2 * k > n ? k - n : k) / 2.0;
    half[0] = (int)floor(at);
    half[1] = (int)ceil(at);
    if (2 * k == n) {
        half[0] = k / 2;
        half[1] = -(k / 2);
    }
}

// Sum of |F|^2 around half of the wavenumbers and half of frequency f.
static double guide_at(const Window *w, int i, int j, int f)
{
    int il[2], xl[2];
    double sum = 0;
    around_half(w->g.axis[0].length, i, il);
    around_half(w->g.axis[1].length, j, xl);
    for (int corner = 0; corner < 8; corner++) {
        const double *c =
            w->x[number(&w->g, il[corner & 1], xl[corner >> 1 & 1], (f + (corner >> 2)) / 2)];
        sum += c[0] * c[0] + c[1] * c[1];
    }
    return sum;
}

// Factors of all coefficients; opposite ones have one.
static void find_guides(Window *w)
{
    const LithoPatchAxis *a = w->g.axis;
    for (int f = 0; w->guide && f < w->g.bins; f++) {
        const gboolean last = 2 * f == a[2].length;
        double most = 0;
        for (int pass = 0; pass < 2; pass++)
            for (int i = 0; i < a[0].length; i++)
                for (int j = 0; j < a[1].length; j++) {
                    const double own = guide_at(w, i, j, f);
                    const double g = last ? (own + guide_at(w, -i + a[0].length * (i > 0),
                                                            -j + a[1].length * (j > 0), f)) /
                                                2
                                          : own;
                    most = fmax(most, g);
                    if (pass == 1)
                        w->guide[number(&w->g, i, j, f)] = w->guide[number(&w->g, -i, -j, -f)] =
                            most > 0 ? pow(g / (g + LITHO_PATCH_GUIDE * most), 2) : 0;
                }
    }
}

// In units of the shape.
static double power(const Window *w, const int at[3], int axis, int by)
{
    int to[3] = {at[0], at[1], at[2]};
    const int n = w->g.axis[axis].length;
    to[axis] = (to[axis] + by + n) % n;
    const gsize k = number(&w->g, to[0], to[1], to[2]);
    const double *c = w->x[k];
    return (c[0] * c[0] + c[1] * c[1]) / shape_at(w, to) * (w->guide ? w->guide[k] : 1);
}

static gboolean keep(const Window *w, gsize k, int rule, double limit)
{
    int at[3];
    place(&w->g, k, at);
    const double own = power(w, at, 0, 0);
    double near = 0;
    for (int a = 0; a < 3; a++)
        near += power(w, at, a, 1) + power(w, at, a, -1);
    return rule == LITHO_PATCH_ENERGY ? (own + near / 2) / 4 >= limit : own >= limit;
}

static void add(const Window *w, double scale, double *sum, double *weight)
{
    const LithoGrid *grid = &w->in->grid;
    for (gsize k = 0; k < window_size(&w->g); k++) {
        int at[3];
        gboolean inside = TRUE;
        place(&w->g, k, at);
        const double t = taper(&w->g, at);
        for (int a = 0; a < 3; a++) {
            at[a] += w->start[a];
            inside &= at[a] >= 0 && at[a] < grid->axis[a].n;
        }
        if (!inside)
            continue;
        const gsize to = ((gsize)at[0] * grid->axis[1].n + at[1]) * grid->axis[2].n + at[2];
        sum[to] += scale * t * w->x[k][0];
        weight[to] += t * t;
    }
}

static LithoCube *reference(const LithoCube *in, const LithoPatchParams *params, double sigma,
                            const float *shape, gboolean guided)
{
    const int n[3] = {(int)in->grid.axis[0].n, (int)in->grid.axis[1].n, (int)in->grid.axis[2].n};
    Window w = {.in = in, .g = litho_patch_geometry(n, params), .shape = shape};
    const gsize size = window_size(&w.g), samples = litho_grid_samples(&in->grid);
    w.x = fftw_alloc_complex(size);
    w.guide = guided ? g_new(double, size) : NULL;
    fftw_complex *kept = fftw_alloc_complex(size);
    const LithoPatchAxis *a = w.g.axis;
    fftw_plan to = fftw_plan_dft_3d(a[0].length, a[1].length, a[2].length, w.x, w.x, FFTW_FORWARD,
                                    FFTW_ESTIMATE);
    fftw_plan back = fftw_plan_dft_3d(a[0].length, a[1].length, a[2].length, w.x, w.x,
                                      FFTW_BACKWARD, FFTW_ESTIMATE);
    g_autofree double *sum = g_new0(double, samples), *weight = g_new0(double, samples);
    for (int i = 0; i < a[0].count; i++)
        for (int j = 0; j < a[1].count; j++)
            for (int k = 0; k < a[2].count; k++) {
                w.start[0] = litho_patch_start(a[0], i);
                w.start[1] = litho_patch_start(a[1], j);
                w.start[2] = litho_patch_start(a[2], k);
                const double share = load(&w);
                const double limit =
                    pow(litho_patch_threshold(&w.g, params) * sigma, 2) * share * w.g.energy;
                fftw_execute(to);
                find_guides(&w);
                for (gsize m = 0; m < size; m++)
                    for (int part = 0; part < 2; part++)
                        kept[m][part] = keep(&w, m, params->rule, limit) ? w.x[m][part] : 0;
                memcpy(w.x, kept, size * sizeof *kept);
                fftw_execute(back);
                add(&w, share > 0 ? 1 / (share * size) : 0, sum, weight);
            }
    LithoCube *out = litho_cube_copy_box(in, in->held, NULL);
    for (gsize k = 0; k < samples; k++)
        out->samples[k] = in->live[k / n[2]] ? (float)(sum[k] / weight[k]) : 0;
    fftw_destroy_plan(to);
    fftw_destroy_plan(back);
    fftw_free(w.x);
    fftw_free(kept);
    g_free(w.guide);
    return out;
}

LithoCube *patch_reference(const LithoCube *in, const LithoPatchParams *params, double sigma,
                           const float *shape)
{
    return reference(in, params, sigma, shape, FALSE);
}

LithoCube *patch_reference_guided(const LithoCube *in, const LithoPatchParams *params, double sigma)
{
    return reference(in, params, sigma, NULL, TRUE);
}

double patch_distance(const LithoCube *a, const LithoCube *b)
{
    double off = 0, all = 0;
    for (gint64 k = 0; k < litho_cube_held_samples(a); k++) {
        const double d = (double)a->samples[k] - b->samples[k];
        off += d * d;
        all += (double)a->samples[k] * a->samples[k];
    }
    return sqrt(off / all);
}
