// SPDX-License-Identifier: GPL-3.0-or-later
//
// The unequally spaced FFT of the boxes beside cuFINUFFT's types 2 and 1, on the points of all
// boxes that lie under a window, from white noise. Fine grid, taps and window weights are ours; the
// FFTs of the boxes and the residual box are left out, the same in both.
#include <complex.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "kernels/wavepacket/cuda/nufft.h"
#include "kernels/wavepacket/cuda/wavepacket.h"

typedef double complex Complex;

// Sampled points or samples, with what they should be.
enum { MOST_PICKS = 256 };
typedef struct Picks {
    int n;
    gint64 at[MOST_PICKS]; // number of the point; sample
    double xi[MOST_PICKS][3], weight[MOST_PICKS];
    guint32 index[MOST_PICKS]; // complex coefficient
    Complex want[MOST_PICKS];
} Picks;

typedef struct Duel {
    WpGeometry *g;
    WpCuda *cuda;
    LithoRun *run;
    gint64 n_points, samples;
    float *u;      // host: the cube
    float *c;      // host: coefficients of all boxes, 0 where no window is
    float *at[3];  // host: radians
    float *values; // host: pairs, weight times coefficient of each point
    Picks points, voxels;
    LithoCudaArray dev_u, dev_c, dev_from, modes, sums, dev_values, dev_at[3];
    WpNufftPoints nufft_points;
    WpNufft *nufft;
    int type;
} Duel;

// --- points --------------------------------------------------------------------------------------

static void lattice_point(const WpGeometry *g, const WpDevBox *box, const int j[3], double xi[3])
{
    for (int a = 0; a < 3; a++)
        xi[a] = (box->start[a] + j[0] * box->step[0][a] + j[1] * box->step[1][a] +
                 j[2] * box->step[2][a]) /
                g->nf[a];
}

static void pick_point(Duel *d, gint64 k, const double xi[3], double weight, guint32 index)
{
    Picks *p = &d->points;
    if (p->n == MOST_PICKS || k < p->n * d->n_points / MOST_PICKS)
        return;
    p->at[p->n] = k;
    memcpy(p->xi[p->n], xi, sizeof p->xi[0]);
    p->weight[p->n] = weight;
    p->index[p->n++] = index;
}

static void add_row(Duel *d, const WpDevBox *dev, const WpBox *box, int j1, int j2, gint64 *k)
{
    const WpRow *row = &box->rows[(gint64)j1 * box->n[1] + j2];
    for (int i = 0; i < row->count; i++) {
        const int j[3] = {j1, j2, row->first + i};
        const guint32 index = dev->at + (guint32)(((gint64)j1 * box->n[1] + j2) * box->n[2] + j[2]);
        const double weight = box->weight[row->at + i];
        double xi[3];
        lattice_point(d->g, dev, j, xi);
        for (int a = 0; a < 3; a++)
            d->at[a][*k] = (float)(2 * G_PI * xi[a]);
        d->values[2 * *k] = (float)(weight * d->c[2 * (gint64)index]);
        d->values[2 * *k + 1] = (float)(weight * d->c[2 * (gint64)index + 1]);
        pick_point(d, *k, xi, weight, index);
        ++*k;
    }
}

// Points with a weight other than zero, in the boxes' order.
static gboolean make_points(Duel *d, GError **error)
{
    const WpGeometry *g = d->g;
    d->n_points = g->n_active;
    d->samples = g->n[0] * g->n[1] * g->n[2];
    d->u = g_try_new(float, d->samples);
    d->c = g_try_new0(float, g->floats);
    d->values = g_try_new(float, 2 * MAX(d->n_points, 1));
    for (int a = 0; a < 3; a++)
        d->at[a] = g_try_new(float, MAX(d->n_points, 1));
    if (!d->u || !d->c || !d->values || !d->at[0] || !d->at[1] || !d->at[2])
        return litho_refuse(error, LITHO_ERROR_MEMORY, "there is no memory for %ld points",
                            (long)d->n_points);
    litho_cuda_noise(d->u, d->samples, 1);
    gint64 k = 0;
    for (int b = 0; b < g->n_boxes; b++) {
        const WpBox *box = &g->boxes[b];
        if (box->kind == WP_RESIDUAL)
            continue;
        litho_cuda_noise(d->c + box->at, box->floats, 2 + b);
        for (int j1 = 0; j1 < box->n[0]; j1++)
            for (int j2 = 0; j2 < box->n[1]; j2++)
                add_row(d, &d->cuda->host_boxes[b], box, j1, j2, &k);
    }
    d->n_points = k;
    return k > 0 || litho_refuse(error, LITHO_ERROR_GEOMETRY, "no box has a point in this cube");
}

// --- float64 -------------------------------------------------------------------------------------

// exp(sign 2 pi i xi x), samples counted from the middle one.
static void phases(gint64 n, double xi, double sign, Complex *e)
{
    for (gint64 i = 0; i < n; i++)
        e[i] = cexp(sign * 2 * G_PI * I * xi * (double)(i - n / 2));
}

static Complex spectrum_at(const Duel *d, const double xi[3])
{
    const gint64 *n = d->g->n;
    g_autofree Complex *e1 = g_new(Complex, n[0]), *e2 = g_new(Complex, n[1]),
                       *e3 = g_new(Complex, n[2]);
    phases(n[0], xi[0], -1, e1);
    phases(n[1], xi[1], -1, e2);
    phases(n[2], xi[2], -1, e3);
    Complex sum = 0;
    for (gint64 i = 0; i < n[0]; i++)
        for (gint64 j = 0; j < n[1]; j++) {
            const float *u = d->u + (i * n[1] + j) * n[2];
            double re = 0, im = 0;
            for (gint64 k = 0; k < n[2]; k++) {
                re += u[k] * creal(e3[k]);
                im += u[k] * cimag(e3[k]);
            }
            sum += e1[i] * e2[j] * (re + I * im);
        }
    return sum;
}

// One row's share of all picked samples: Re sum w c exp(2 pi i xi x).
static void add_row_to_voxels(const Duel *d, const WpDevBox *dev, const WpBox *box, int j1, int j2,
                              double *sums)
{
    const WpRow *row = &box->rows[(gint64)j1 * box->n[1] + j2];
    const gint64 *n = d->g->n;
    const float *weight = box->weight + row->at;
    const float *c =
        d->c + 2 * ((gint64)dev->at + ((gint64)j1 * box->n[1] + j2) * box->n[2] + row->first);
    const int j[3] = {j1, j2, row->first};
    double xi[3];
    lattice_point(d->g, dev, j, xi);
    for (int v = 0; v < d->voxels.n; v++) {
        const gint64 at = d->voxels.at[v];
        const double x[3] = {(double)(at / n[2] / n[1] - n[0] / 2),
                             (double)(at / n[2] % n[1] - n[1] / 2), (double)(at % n[2] - n[2] / 2)};
        double first = 0, step = 0;
        for (int a = 0; a < 3; a++) {
            first += xi[a] * x[a];
            step += dev->step[2][a] / d->g->nf[a] * x[a];
        }
        Complex e = cexp(2 * G_PI * I * first);
        const Complex turn = cexp(2 * G_PI * I * step);
        for (int i = 0; i < row->count; i++, e *= turn)
            sums[v] += weight[i] * (c[2 * i] * creal(e) - c[2 * i + 1] * cimag(e));
    }
}

static void sum_voxels(Duel *d)
{
    const WpGeometry *g = d->g;
    for (int b = 0; b < g->n_boxes; b++) {
        const WpBox *box = &g->boxes[b];
        if (box->kind == WP_RESIDUAL)
            continue;
#pragma omp parallel
        {
            double sums[MOST_PICKS] = {0};
#pragma omp for schedule(dynamic)
            for (int j1 = 0; j1 < box->n[0]; j1++)
                for (int j2 = 0; j2 < box->n[1]; j2++)
                    add_row_to_voxels(d, &d->cuda->host_boxes[b], box, j1, j2, sums);
#pragma omp critical(wp_rival)
            for (int v = 0; v < d->voxels.n; v++)
                d->voxels.want[v] += sums[v];
        }
    }
}

// Direct sums at as many points and samples as a few seconds allow.
static void make_references(Duel *d)
{
    const double work = 3e9;
    Picks *p = &d->points, *v = &d->voxels;
    const int n = MIN(p->n, (int)CLAMP(work / (double)d->samples, 32, MOST_PICKS));
    for (int k = 0; k < n; k++) { // every few of those picked
        const int from = (int)((gint64)k * p->n / n);
        p->at[k] = p->at[from];
        memcpy(p->xi[k], p->xi[from], sizeof p->xi[k]);
        p->weight[k] = p->weight[from];
        p->index[k] = p->index[from];
    }
    p->n = n;
#pragma omp parallel for schedule(dynamic)
    for (int k = 0; k < p->n; k++)
        p->want[k] = p->weight[k] * spectrum_at(d, p->xi[k]);
    v->n = (int)CLAMP(work / (double)d->n_points, 16, MOST_PICKS);
    for (int k = 0; k < v->n; k++)
        v->at[k] = (gint64)((k + 0.5) * (double)d->samples / v->n);
    sum_voxels(d);
}

// --- ours ----------------------------------------------------------------------------------------

static gboolean our_forward(gpointer data, GError **error)
{
    const Duel *d = data;
    WpCuda *w = d->cuda;
    return wp_cuda_pad_planes(w, d->dev_u.data, error) && wp_cuda_planes(w, CUFFT_FORWARD, error) &&
           wp_cuda_clear_between(w, error) && wp_cuda_columns(w, CUFFT_FORWARD, error) &&
           LITHO_CUDA(wp_cuda_gather(&w->grid, &w->kernel, w->u.data, w->active.data,
                                     w->first_step.data, w->rounds.data, w->n_active,
                                     w->points.data, d->dev_c.data, litho_cuda_stream(w->context)),
                      error);
}

static gboolean our_adjoint(gpointer data, GError **error)
{
    const Duel *d = data;
    WpCuda *w = d->cuda;
    cudaStream_t stream = litho_cuda_stream(w->context);
    const float *const scale[3] = {w->scale[0].data, w->scale[1].data, w->scale[2].data};
    const int n[3] = {(int)d->g->n[0], (int)d->g->n[1], (int)d->g->n[2]};
    return LITHO_CUDA(wp_cuda_spread(&w->grid, &w->kernel, d->dev_from.data, w->active.data,
                                     w->first_step.data, w->rounds.data, w->n_active,
                                     w->points.data, w->sums.data, stream),
                      error) &&
           LITHO_CUDA(
               wp_cuda_collect(&w->grid, w->sums.data, w->slot.data, NULL, w->u.data, stream),
               error) &&
           wp_cuda_columns(w, CUFFT_INVERSE, error) && wp_cuda_planes(w, CUFFT_INVERSE, error) &&
           LITHO_CUDA(wp_cuda_crop(n, w->grid.nf, 2 * w->grid.half, &w->share, scale, 0.5f,
                                   w->u.data, n, NULL, d->sums.data, stream),
                      error);
}

static gboolean their_work(gpointer data, GError **error)
{
    Duel *d = data;
    return wp_nufft_run(d->nufft, d->dev_values.data, d->modes.data) ||
           litho_refuse(error, LITHO_ERROR_DEVICE, "cuFINUFFT refused to execute a plan");
}

// --- errors --------------------------------------------------------------------------------------

static double relative(const Picks *p, const Complex *got)
{
    double wrong = 0, norm = 0;
    for (int k = 0; k < p->n; k++) {
        wrong += pow(cabs(got[k] - p->want[k]), 2);
        norm += pow(cabs(p->want[k]), 2);
    }
    return sqrt(wrong / norm);
}

// Type 2: coefficients at the picked points (the library's have no weight yet); type 1: samples.
static gboolean error_of(Duel *d, gboolean ours, double *wrong, GError **error)
{
    Complex got[MOST_PICKS];
    const Picks *p = d->type == 2 ? &d->points : &d->voxels;
    for (int k = 0; k < p->n; k++) {
        float z[2] = {0, 0};
        const float *from = d->type == 2 ? (ours ? (float *)d->dev_c.data + 2 * (gint64)p->index[k]
                                                 : (float *)d->dev_values.data + 2 * p->at[k])
                                         : (ours ? (float *)d->sums.data + p->at[k]
                                                 : (float *)d->modes.data + 2 * p->at[k]);
        if (!litho_cuda_fetch(d->cuda->context, z, from, d->type == 2 ? 8 : 4, error))
            return FALSE;
        got[k] = d->type == 2 ? (ours ? 1 : p->weight[k]) * (z[0] + I * z[1]) : z[0];
    }
    *wrong = relative(p, got);
    return TRUE;
}

// --- the library's best --------------------------------------------------------------------------

typedef struct Best {
    WpNufftSettings settings;
    double ms;      // 0: none reached the error
    double nearest; // error of the best of all
} Best;

// Input of cuFINUFFT: the cube as complex modes, or the weighted coefficients.
static gboolean their_input(Duel *d, GError **error)
{
    if (d->type == 1)
        return litho_cuda_send(d->cuda->context, d->dev_values.data, d->values, 8 * d->n_points,
                               error);
    g_autofree float *pairs = g_try_new0(float, 2 * d->samples);
    if (!pairs)
        return litho_refuse(error, LITHO_ERROR_MEMORY, "there is no memory for complex samples");
    for (gint64 k = 0; k < d->samples; k++)
        pairs[2 * k] = d->u[k];
    return litho_cuda_send(d->cuda->context, d->modes.data, pairs, 8 * d->samples, error);
}

// Looser tolerances are faster: the first that reaches the error is this way's best.
static gboolean try_way(Duel *d, WpNufftSettings s, double goal, Best *best, GError **error)
{
    static const float tolerances[] = {3e-2f, 1e-2f, 3e-3f, 1e-3f, 3e-4f,
                                       1e-4f, 3e-5f, 1e-5f, 3e-6f, 1e-6f};
    for (gsize k = 0; k < G_N_ELEMENTS(tolerances); k++) {
        double wrong = 0, ms = 0;
        s.tolerance = tolerances[k];
        if (!litho_run_step(d->run, 0, 0, error))
            return FALSE;
        d->nufft = wp_nufft_new(&d->nufft_points, &s);
        if (!d->nufft)
            return TRUE;
        const gboolean ok = wp_nufft_run(d->nufft, d->dev_values.data, d->modes.data);
        gboolean fine = !ok || error_of(d, FALSE, &wrong, error);
        if (ok && fine && wrong <= goal)
            fine = litho_cuda_in_turn(d->cuda->context, &(LithoCudaSide){NULL, their_work, d}, 1, 3,
                                      &ms, error);
        g_clear_pointer(&d->nufft, wp_nufft_free);
        if (!fine || !ok)
            return fine;
        if (best->nearest == 0 || wrong < best->nearest)
            best->nearest = wrong;
        if (wrong > goal)
            continue;
        if (best->ms == 0 || ms < best->ms) {
            best->ms = ms;
            best->settings = s;
        }
        return TRUE;
    }
    return TRUE;
}

static gboolean find_best(Duel *d, double goal, Best *best, GError **error)
{
    static const double sigmas[] = {2, 1.25, 1.5};
    static const int bins[] = {0, 8, 10};
    for (gsize s = 0; s < G_N_ELEMENTS(sigmas); s++)
        for (int method = 1; method <= (d->type == 1 ? 3 : 2); method++)
            for (gsize b = 0; b < G_N_ELEMENTS(bins); b++)
                if (!try_way(
                        d,
                        (WpNufftSettings){
                            .type = d->type, .method = method, .bin = bins[b], .sigma = sigmas[s]},
                        goal, best, error))
                    return FALSE;
    return TRUE;
}

// --- rows ----------------------------------------------------------------------------------------

static gboolean beside_library(Duel *d, const LithoCudaSide *ours, int repeat, LithoRival *row,
                               GError **error)
{
    Best best = {0};
    double ms[2];
    if (!their_input(d, error) || !find_best(d, 1.05 * row->ours_error, &best, error))
        return FALSE;
    if (best.ms == 0) {
        g_snprintf(row->why_not, sizeof row->why_not,
                   _("none of its settings reached the error of %.1e; the best had %.1e"),
                   row->ours_error, best.nearest);
        return TRUE;
    }
    const double start = litho_now_ms();
    d->nufft = wp_nufft_new(&d->nufft_points, &best.settings);
    cudaStreamSynchronize(litho_cuda_stream(d->cuda->context));
    const double plan_ms = litho_now_ms() - start;
    if (!d->nufft)
        return litho_refuse(error, LITHO_ERROR_DEVICE, "cuFINUFFT refused a plan it made before");
    const LithoCudaSide sides[] = {*ours, {NULL, their_work, d}};
    const gboolean ok = litho_cuda_in_turn(d->cuda->context, sides, 2, repeat, ms, error) &&
                        error_of(d, FALSE, &row->theirs_error, error);
    g_clear_pointer(&d->nufft, wp_nufft_free);
    row->ours_ms = ms[0];
    row->theirs_ms = ok ? ms[1] : 0;
    const WpNufftSettings *s = &best.settings;
    g_snprintf(row->settings, sizeof row->settings,
               _("tolerance %g, upsampling %g, method %d, bins of %d (0 = its own)"), s->tolerance,
               s->sigma, s->method, s->bin);
    g_snprintf(row->note, sizeof row->note,
               _("its plan and points, not counted, take %.1f ms; it takes any points and complex "
                 "samples, ours takes lattices and real samples"),
               plan_ms);
    return ok;
}

static gboolean add_row_of(Duel *d, int type, int repeat, GArray *rows, GError **error)
{
    LithoRival row = {
        .stage = type == 2 ? "forward" : "adjoint", .peer = "cuFINUFFT", .runs = repeat};
    const LithoCudaSide ours = {NULL, type == 2 ? our_forward : our_adjoint, d};
    d->type = type;
    g_snprintf(row.problem, sizeof row.problem,
               _("%.1f million points of %d boxes, %ld x %ld x %ld samples, %d taps, oversampling "
                 "%.3g"),
               d->n_points * 1e-6, wp_cuda_complex_boxes(d->g), (long)d->g->n[0], (long)d->g->n[1],
               (long)d->g->n[2], d->g->kernel.width, d->g->kernel.sigma);
    gboolean ok = litho_cuda_in_turn(d->cuda->context, &ours, 1, repeat, &row.ours_ms, error) &&
                  error_of(d, TRUE, &row.ours_error, error);
    if (ok && wp_nufft_there(row.why_not, sizeof row.why_not))
        ok = beside_library(d, &ours, repeat, &row, error);
    if (ok)
        g_array_append_val(rows, row);
    return ok;
}

static gboolean reserve(Duel *d, GError **error)
{
    LithoCudaContext *c = d->cuda->context;
    const gsize coefficients = 4 * (gsize)d->g->floats, points = d->n_points;
    gboolean ok = litho_cuda_reserve(c, &d->dev_u, 4 * d->samples, error) &&
                  litho_cuda_reserve(c, &d->sums, 4 * d->samples, error) &&
                  litho_cuda_reserve(c, &d->modes, 8 * d->samples, error) &&
                  litho_cuda_reserve(c, &d->dev_c, coefficients, error) &&
                  litho_cuda_reserve(c, &d->dev_from, coefficients, error) &&
                  litho_cuda_reserve(c, &d->dev_values, 8 * points, error) &&
                  LITHO_CUDA(cudaMemsetAsync(d->dev_c.data, 0, coefficients, litho_cuda_stream(c)),
                             error) && // points of weight 0 are not written
                  litho_cuda_send(c, d->dev_u.data, d->u, 4 * d->samples, error) &&
                  litho_cuda_send(c, d->dev_from.data, d->c, coefficients, error);
    d->nufft_points = (WpNufftPoints){.n = d->n_points,
                                      .modes = {(int)d->g->n[0], (int)d->g->n[1], (int)d->g->n[2]},
                                      .ordinal = d->cuda->ordinal,
                                      .stream = litho_cuda_stream(c)};
    for (int a = 0; ok && a < 3; a++) {
        ok = litho_cuda_reserve(c, &d->dev_at[a], 4 * points, error) &&
             litho_cuda_send(c, d->dev_at[a].data, d->at[a], 4 * points, error);
        d->nufft_points.at[a] = d->dev_at[a].data;
    }
    return ok;
}

static void close_duel(Duel *d)
{
    LithoCudaArray *const arrays[] = {&d->dev_u,     &d->dev_c,     &d->dev_from,
                                      &d->modes,     &d->sums,      &d->dev_values,
                                      &d->dev_at[0], &d->dev_at[1], &d->dev_at[2]};
    if (d->cuda) {
        cudaStreamSynchronize(litho_cuda_stream(d->cuda->context));
        for (gsize k = 0; k < G_N_ELEMENTS(arrays); k++)
            litho_cuda_release(d->cuda->context, arrays[k]);
        wp_engine_free(&d->cuda->engine);
    }
    for (int a = 0; a < 3; a++)
        g_free(d->at[a]);
    g_free(d->u);
    g_free(d->c);
    g_free(d->values);
    wp_geometry_free(d->g);
}

gboolean wp_cuda_rivals(const LithoGrid *in, const void *params, int repeat, LithoRun *run,
                        GArray *rows, GError **error)
{
    const LithoWavepacketParams *p = params;
    g_autofree Duel *d = g_new0(Duel, 1);
    WpSpec spec;
    memset(&spec, 0, sizeof spec);
    for (int a = 0; a < 3; a++)
        spec.n[a] = in->axis[a].n;
    spec.design = (WpDesignKind)p->design;
    spec.scales = p->scales;
    spec.directions = p->directions;
    spec.kernel = (WpKernelKind)p->kernel;
    spec.width = p->kernel_width;
    spec.oversampling = p->oversampling;
    d->run = run;
    d->g = wp_geometry_new(&spec, run, error);
    d->cuda = d->g ? (WpCuda *)wp_engine_cuda(d->g, WP_TILES, 0, 1, run, error) : NULL;
    gboolean ok = d->cuda && litho_cuda_enter(d->cuda->context, error) && make_points(d, error);
    if (ok)
        make_references(d);
    ok = ok && reserve(d, error) && add_row_of(d, 2, repeat, rows, error) &&
         add_row_of(d, 1, repeat, rows, error);
    close_duel(d);
    return ok;
}
