// SPDX-License-Identifier: GPL-3.0-or-later
//
// Single planes of the adjoint on the CPU. Along the axis that a plane lies across the inverse
// transform is a sum with phases at one sample: each lattice point takes it over its own taps, and
// spreads w^2 taps on a grid of two axes instead of w^3. Boxes are dealt out to a fixed number of
// groups with grids of their own, so that no sum depends on the number of threads.
#include "kernels/wavepacket/cpu/wavepacket.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "kernels/wavepacket/cpu/vector.h"

enum { GROUPS = 16 };

G_STATIC_ASSERT((int)WP_PLANES_AT_ONCE == (int)WP_MOST_PLANES);

static int rows_of(int axis)
{
    return axis == 0 ? 1 : 0;
}

static int columns_of(int axis)
{
    return axis == 2 ? 1 : 2;
}

static double complex turn_by(double l, double at, int nf)
{
    return cexp(2 * G_PI * I * fmod(l * at, nf) / nf);
}

// --- the grid of a plane -------------------------------------------------------------------------

// The fine grid's layout (wp_grid_layout()) without one axis. Returns the floats behind it.
static gint64 lay_out(const WpCpu *cpu, const WpPlane *plane, gint64 at, WpPlaneGrid *to)
{
    const WpGeometry *g = cpu->engine.geometry;
    const int a = plane->axis, nf = g->nf[a], columns = columns_of(a), w = g->kernel.width;
    const int vectors = (2 * w + WP_VEC - 1) / WP_VEC, length = cpu->grid.dim[a];
    const double x = (double)(plane->at - g->n[a] / 2);
    *to = (WpPlaneGrid){.axis = a, .at = at, .dim = {cpu->grid.dim[rows_of(a)]}};
    to->dim[1] = (cpu->grid.dim[columns] + vectors * WP_VEC / 2 + 7) / 8 * 8;
    memcpy(to->origin, cpu->grid.origin, sizeof to->origin);
    to->turn = g_new(float, 2 * length);
    for (int l = 0; l < length; l++) {
        const float complex one = (float complex)turn_by(l - to->origin[a], x, nf);
        to->turn[2 * l] = crealf(one);
        to->turn[2 * l + 1] = cimagf(one);
    }
    for (int d = 0; d <= WP_DEGREE; d++) {
        double complex sum = 0;
        for (int t = 0; t < w; t++)
            sum += g->kernel.coef[d][t] * turn_by(t, x, nf);
        to->re[d] = (float)creal(sum);
        to->im[d] = (float)cimag(sum);
    }
    return at + 2 * (gint64)to->dim[0] * to->dim[1];
}

// --- adding up -----------------------------------------------------------------------------------

// Each box goes to the group that has least so far.
static void deal_out(const WpGeometry *g, guint8 *group)
{
    gint64 load[GROUPS] = {0};
    for (int b = 0; b < g->n_boxes; b++) {
        int least = 0;
        for (int k = 1; k < GROUPS; k++)
            least = load[k] < load[least] ? k : least;
        group[b] = (guint8)least;
        load[least] += g->boxes[b].kind == WP_RESIDUAL ? 0 : g->boxes[b].n_weights + 1;
    }
}

static void add_group(const WpCpu *cpu, const WpPlaneGrid *grids, int n, const float *c,
                      const guint8 *group, int k, float *data, const LithoRun *run)
{
    const WpGeometry *g = cpu->engine.geometry;
    for (int b = 0; b < g->n_boxes && litho_run_checkpoint(run); b++) {
        const WpBox *box = &g->boxes[b];
        if (group[b] == k && box->kind != WP_RESIDUAL)
            LITHO_ISA_PICK(wp_spread_box_to_planes)(g, grids, n, box, c + box->at, data);
    }
}

static void add_groups(float *data, gint64 floats, int threads)
{
#pragma omp parallel for schedule(static) num_threads(threads)
    for (gint64 i = 0; i < floats; i++) {
        float sum = data[i];
        for (int k = 1; k < GROUPS; k++)
            sum += data[k * floats + i];
        data[i] = sum;
    }
}

// The boxes' part of all planes, in the first group's floats of *data; fftwf_free().
static gboolean add_boxes(WpCpu *cpu, const float *c, const WpPlaneGrid *grids, int n,
                          gint64 floats, float **data, LithoRun *run, GError **error)
{
    const WpGeometry *g = cpu->engine.geometry;
    g_autofree guint8 *group = g_new(guint8, g->n_boxes);
    deal_out(g, group);
    *data = fftwf_malloc(GROUPS * floats * sizeof **data);
    if (!*data)
        return litho_refuse(error, LITHO_ERROR_MEMORY, "no memory for %.2f GiB of wave-packet data",
                            GROUPS * floats * 4.0 / (1 << 30));
#pragma omp parallel for schedule(dynamic) num_threads(cpu->threads)
    for (int k = 0; k < GROUPS; k++) {
        memset(*data + k * floats, 0, floats * sizeof **data);
        add_group(cpu, grids, n, c, group, k, *data + k * floats, run);
    }
    if (!litho_run_checkpoint(run))
        return litho_run_stopped(error);
    add_groups(*data, floats, cpu->threads);
    return TRUE;
}

// --- from the grid to samples --------------------------------------------------------------------

static int wrapped(gint64 l, int n)
{
    const int m = (int)(l % n);
    return m < 0 ? m + n : m;
}

// Grid points with their halos to a plain spectrum [rows][columns].
static void fold(const WpGeometry *g, const WpPlaneGrid *grid, const float *data, float complex *to)
{
    const int rows = rows_of(grid->axis), columns = columns_of(grid->axis);
    const float complex *from = (const float complex *)(data + grid->at);
    memset(to, 0, (gsize)g->nf[rows] * g->nf[columns] * sizeof *to);
    for (int i = 0; i < grid->dim[0]; i++) {
        float complex *row =
            to + (gsize)wrapped(i - grid->origin[rows], g->nf[rows]) * g->nf[columns];
        for (int j = 0; j < grid->dim[1]; j++)
            row[wrapped(j - grid->origin[columns], g->nf[columns])] += from[i * grid->dim[1] + j];
    }
}

// Phases at sample x of an axis of n points; g_free().
static float complex *turns_of(double x, int n)
{
    float complex *turns = g_new(float complex, n);
    for (int l = 0; l < n; l++)
        turns[l] = (float complex)turn_by(l, x, n);
    return turns;
}

static void add_row(float complex *restrict to, const float complex *restrict from, int n,
                    float complex turn)
{
    for (int k = 0; k < n; k++)
        to[k] += turn * from[k];
}

static float complex sum_row(const float complex *restrict row, const float complex *restrict turns,
                             int n)
{
    float re = 0, im = 0;
    for (int k = 0; k < n; k++) {
        re += crealf(row[k]) * crealf(turns[k]) - cimagf(row[k]) * cimagf(turns[k]);
        im += crealf(row[k]) * cimagf(turns[k]) + cimagf(row[k]) * crealf(turns[k]);
    }
    return re + I * im;
}

// The half that is not stored counts twice in the real part.
static void count_twice(float complex *row, int half, int n)
{
    for (int k = 1; k < half; k++)
        row[k] *= 2 * k == n ? 1 : 2;
}

// The residual box's spectrum summed up to that of a plane.
static void sum_residual(const WpCpu *cpu, const WpPlane *plane, float complex *to)
{
    const WpFft *f = &cpu->residual;
    const int a = plane->axis, half = f->n[2] / 2 + 1, rows = rows_of(a);
    const int columns = f->n[columns_of(a)], across = f->n[a == 0 ? 0 : 1];
    g_autofree float complex *turns =
        turns_of((double)(plane->at - cpu->engine.geometry->n[a] / 2), f->n[a]);
    if (a == 2)
        count_twice(turns, half, f->n[2]);
    memset(to, 0, (gsize)f->n[rows] * columns * sizeof *to);
#pragma omp parallel for num_threads(cpu->threads)
    for (int i = 0; i < f->n[rows]; i++) {
        float complex *row = to + (gsize)i * columns;
        for (int m = 0; m < across; m++) {
            const gint64 at = (a == 0 ? (gint64)m * f->dim[1] + i : (gint64)i * f->dim[1] + m);
            const float complex *from = (const float complex *)cpu->residual_data + at * f->dim[2];
            if (a == 2)
                row[m] = sum_row(from, turns, half);
            else
                add_row(row, from, half, turns[m]);
        }
        if (a < 2)
            count_twice(row, half, f->n[2]);
    }
}

// Adds the real part of the inverse of a spectrum, over the roll-off where there is one.
static void add_samples(const WpGeometry *g, const WpPlane *plane, const int n[2],
                        float complex *spectrum, gboolean corrected)
{
    const int a = plane->axis, axes[2] = {rows_of(a), columns_of(a)};
    fftwf_complex *values = (fftwf_complex *)spectrum;
    fftwf_plan inverse =
        fftwf_plan_dft_2d(n[0], n[1], values, values, FFTW_BACKWARD, FFTW_ESTIMATE);
    fftwf_execute(inverse);
    fftwf_destroy_plan(inverse);
    for (gint64 i = 0; i < g->n[axes[0]]; i++)
        for (gint64 j = 0; j < g->n[axes[1]]; j++) {
            const float complex *row =
                spectrum + (gsize)wrapped(i - g->n[axes[0]] / 2, n[0]) * n[1];
            const double scale = corrected
                                     ? g->deconvolve[a][plane->at] * g->deconvolve[axes[0]][i] *
                                           g->deconvolve[axes[1]][j]
                                     : 1;
            plane->samples[i * g->n[axes[1]] + j] +=
                (float)scale * crealf(row[wrapped(j - g->n[axes[1]] / 2, n[1])]);
        }
}

static gboolean make_samples(WpCpu *cpu, const WpPlane *plane, const WpPlaneGrid *grid,
                             const float *data, GError **error)
{
    const WpGeometry *g = cpu->engine.geometry;
    const WpBox *box = wp_residual(g);
    const int rows = rows_of(plane->axis), columns = columns_of(plane->axis);
    gsize points = (gsize)g->nf[rows] * g->nf[columns];
    if (box)
        points = MAX(points, (gsize)box->n[rows] * box->n[columns]);
    float complex *spectrum = fftwf_malloc(points * sizeof *spectrum);
    if (!spectrum)
        return litho_refuse(error, LITHO_ERROR_MEMORY, "no memory for a slice of wave packets");
    memset(plane->samples, 0, g->n[rows] * g->n[columns] * sizeof *plane->samples);
    fold(g, grid, data, spectrum);
    add_samples(g, plane, (int[2]){g->nf[rows], g->nf[columns]}, spectrum, TRUE);
    if (box) {
        sum_residual(cpu, plane, spectrum);
        add_samples(g, plane, (int[2]){box->n[rows], box->n[columns]}, spectrum, FALSE);
    }
    fftwf_free(spectrum);
    return TRUE;
}

gboolean wp_cpu_planes(WpEngine *engine, const float *c, const WpPlane *planes, int n,
                       LithoRun *run, GError **error)
{
    WpCpu *cpu = (WpCpu *)engine;
    WpPlaneGrid grids[WP_MOST_PLANES];
    const double start = litho_now_ms();
    float *data = NULL;
    gint64 floats = 0;
    cpu->threads = litho_run_threads(run);
    for (int k = 0; k < n; k++)
        floats = lay_out(cpu, &planes[k], floats, &grids[k]);
    gboolean ok = add_boxes(cpu, c, grids, n, floats, &data, run, error);
    for (int k = 0; k < n; k++) {
        ok = ok && make_samples(cpu, &planes[k], &grids[k], data, error);
        g_free(grids[k].turn);
    }
    fftwf_free(data);
    litho_run_time(run, "slices", LITHO_STAGE_COMPUTE, litho_now_ms() - start, 0, 0);
    return ok;
}

gboolean wp_cpu_drop_plane(WpEngine *engine, const float *volume, const gint64 n[3],
                           const WpBlock *block, const float *part, const WpPlane *plane,
                           GError **error)
{
    (void)error;
    const int a = plane->axis, rows = rows_of(a), columns = columns_of(a);
    const gint64 step[3] = {n[1] * n[2], n[2], 1};
    const float *from = volume + plane->at * step[a];
    for (gint64 i = 0; i < n[rows]; i++)
        for (gint64 j = 0; j < n[columns]; j++) {
            const float x = from[i * step[rows] + j * step[columns]];
            plane->samples[i * n[columns] + j] =
                !part ? x
                      : x - part[(i - block->at[rows]) * engine->geometry->n[columns] + j -
                                 block->at[columns]];
        }
    return TRUE;
}
