// SPDX-License-Identifier: GPL-3.0-or-later
//
// The solve stage beside cuSOLVER's batched Cholesky: the normal equations of the windows and
// frequencies of one time window, with a fixed prewhitening and one filter a system.
#include <cublas_v2.h>
#include <cusolverDn.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "kernels/fx/cuda/fx.h"

enum { SYSTEMS = 1 << 16, SAMPLE = 256 };
static const double PREWHITENING = 10; // %, where it is automatic

typedef struct Duel {
    LithoCudaContext *context;
    LithoFxParams params;
    LithoFxGeometry g;
    FxLayout *layout;
    FxGroup group; // the largest one
    LithoFxGroup d;
    int n, unknowns; // systems; unknowns of each
    int shared_limit;
    LithoCudaArray spectra, present, spots, matrix, taps, good, scales, out, counters;
    LithoCudaArray full, right;               // what the library starts from
    LithoCudaArray factor, solution;          // what it works in
    LithoCudaArray factors, solutions, infos; // pointers to each system's, and states
    float *packed;                            // host: the matrices of all systems
    cusolverDnHandle_t solver;
    cublasHandle_t blas;
    gboolean by_trsm; // the solution by two triangular solves of cuBLAS
} Duel;

// --- the problem ---------------------------------------------------------------------------------

// Plane waves of three dips and noise of a third of their amplitude.
static gboolean send_spectra(Duel *d, GError **error)
{
    const int n1 = d->g.axis[0].n, n2 = d->g.axis[1].n, bins = d->d.bins;
    const gint64 traces = (gint64)n1 * n2;
    g_autofree float *s = g_try_new(float, 2 * traces * bins);
    if (!s)
        return litho_refuse(error, LITHO_ERROR_MEMORY, "there is no memory for the spectra");
    litho_cuda_noise(s, 2 * traces * bins, 5);
#pragma omp parallel for schedule(static)
    for (int b = 0; b < bins; b++)
        for (gint64 t = 0; t < traces; t++)
            for (int m = 0; m < 3; m++) {
                const double slope[3][2] = {{0.011, 0.004}, {-0.007, 0.009}, {0.002, -0.013}};
                const double phase =
                    b * (slope[m][0] * (double)(t / n2) + slope[m][1] * (double)(t % n2)) + m;
                s[2 * (b * traces + t)] += (float)(2 * cos(phase));
                s[2 * (b * traces + t) + 1] += (float)(2 * sin(phase));
            }
    const gsize bytes = 8 * (gsize)traces * bins;
    return litho_cuda_reserve(d->context, &d->spectra, bytes, error) &&
           litho_cuda_send(d->context, d->spectra.data, s, bytes, error) &&
           litho_cuda_reserve(d->context, &d->present, traces, error) &&
           LITHO_CUDA(cudaMemsetAsync(d->present.data, 1, traces, litho_cuda_stream(d->context)),
                      error);
}

static void largest_group(Duel *d)
{
    for (guint k = 0; k < d->layout->groups->len; k++) {
        const FxGroup *g = &g_array_index(d->layout->groups, FxGroup, k);
        if (k == 0 || g->count > d->group.count)
            d->group = *g;
    }
}

static gboolean reserve(Duel *d, GError **error)
{
    LithoCudaContext *c = d->context;
    const gsize n = d->n, u = d->unknowns, pitch = d->d.matrix_pitch;
    return litho_cuda_reserve(c, &d->matrix, 4 * n * pitch, error) &&
           litho_cuda_reserve(c, &d->taps, 8 * (gsize)d->d.bins * d->d.n_slots * d->d.size,
                              error) &&
           litho_cuda_reserve(c, &d->good, n, error) &&
           litho_cuda_reserve(c, &d->scales, 4 * n, error) &&
           litho_cuda_reserve(c, &d->counters, LITHO_FX_COUNTERS * sizeof(gint64), error) &&
           litho_cuda_reserve(c, &d->full, 4 * n * u * u, error) &&
           litho_cuda_reserve(c, &d->factor, 4 * n * u * u, error) &&
           litho_cuda_reserve(c, &d->right, 4 * n * u, error) &&
           litho_cuda_reserve(c, &d->solution, 4 * n * u, error) &&
           litho_cuda_reserve(c, &d->factors, sizeof(float *) * n, error) &&
           litho_cuda_reserve(c, &d->solutions, sizeof(float *) * n, error) &&
           litho_cuda_reserve(c, &d->infos, sizeof(int) * (n + 1), error);
}

static LithoFxGroup group_of(const Duel *d)
{
    return (LithoFxGroup){
        .n_spots = d->group.count,
        .n_slots = d->group.n_slots,
        .half_il = d->group.half_il,
        .half_xl = d->group.half_xl,
        .size = litho_fx_taps(d->group.half_il, d->group.half_xl) + 1,
        .n_il = d->g.axis[0].n,
        .n_xl = d->g.axis[1].n,
        .held = {0, 0, d->g.axis[0].n, d->g.axis[1].n},
        .plane = (gint64)d->g.axis[0].n * d->g.axis[1].n,
        .bins = CLAMP(SYSTEMS / MAX(d->group.count, 1), 1, MAX(d->g.bins, 1)),
        .out_pitch = d->g.axis[0].length * d->g.axis[1].length,
        .solver = LITHO_FX_CHOLESKY,
        .form = d->params.form,
        .edge = d->params.edge,
    };
}

// The matrices by the operator's own kernel.
static gboolean make_matrices(Duel *d, GError **error)
{
    LithoFxGroup *g = &d->d;
    const gsize bytes = sizeof(LithoFxSpot) * d->group.count;
    const LithoFxSpot *spots = &g_array_index(d->layout->spots, LithoFxSpot, d->group.first);
    *g = group_of(d);
    g->matrix_pitch = litho_fx_packed_size(litho_fx_round4(g->size));
    g->share = litho_fx_share(&d->params) / (float)g->size;
    d->unknowns = g->size - 1;
    d->n = g->n_spots * g->bins;
    if (!send_spectra(d, error) || !reserve(d, error) ||
        !litho_cuda_reserve(d->context, &d->spots, bytes, error) ||
        !litho_cuda_send(d->context, d->spots.data, spots, bytes, error))
        return FALSE;
    g->spots = d->spots.data;
    g->spectra = d->spectra.data;
    g->present = d->present.data;
    g->matrix = d->matrix.data;
    g->taps = d->taps.data;
    g->good = d->good.data;
    g->scales = d->scales.data;
    g->counters = d->counters.data;
    const gsize packed = 4 * (gsize)d->n * g->matrix_pitch;
    d->packed = g_try_malloc(packed);
    return d->packed
               ? LITHO_CUDA(litho_fx_matrix(g, d->group.max_il, d->group.max_xl, 0, d->shared_limit,
                                            litho_cuda_stream(d->context)),
                            error) &&
                     litho_cuda_fetch(d->context, d->packed, d->matrix.data, packed, error)
               : litho_refuse(error, LITHO_ERROR_MEMORY, "there is no memory for the matrices");
}

static float entry(const Duel *d, int k, int row, int column)
{
    return d->packed[(gsize)k * d->d.matrix_pitch +
                     litho_fx_packed(litho_fx_round4(d->d.size), row, column)];
}

static double damping(const Duel *d, int k)
{
    double trace = 0;
    for (int i = 0; i < d->d.size; i++)
        trace += entry(d, k, i, i);
    return d->d.share * trace;
}

// Full matrices, damped, and right-hand sides; one system with nothing in it becomes the unit
// matrix.
static gboolean unpack(Duel *d, GError **error)
{
    const int u = d->unknowns;
    g_autofree float *full = g_try_new(float, (gsize)d->n *u *u);
    g_autofree float *right = g_try_new(float, (gsize)d->n *u);
    g_autofree float **at = g_new(float *, d->n), **to = g_new(float *, d->n);
    if (!full || !right)
        return litho_refuse(error, LITHO_ERROR_MEMORY, "there is no memory for the matrices");
#pragma omp parallel for schedule(static)
    for (int k = 0; k < d->n; k++) {
        const double lambda = damping(d, k);
        for (int column = 0; column < u; column++) {
            for (int row = 0; row < u; row++)
                full[((gsize)k * u + column) * u + row] =
                    entry(d, k, MAX(row, column), MIN(row, column));
            full[((gsize)k * u + column) * u + column] += (float)(lambda > 0 ? lambda : 1);
            right[(gsize)k * u + column] = entry(d, k, u, column);
        }
        at[k] = (float *)d->factor.data + (gsize)k * u * u;
        to[k] = (float *)d->solution.data + (gsize)k * u;
    }
    LithoCudaContext *c = d->context;
    return litho_cuda_send(c, d->full.data, full, 4 * (gsize)d->n * u * u, error) &&
           litho_cuda_send(c, d->right.data, right, 4 * (gsize)d->n * u, error) &&
           litho_cuda_send(c, d->factors.data, at, sizeof *at * d->n, error) &&
           litho_cuda_send(c, d->solutions.data, to, sizeof *to * d->n, error);
}

// --- the two sides -------------------------------------------------------------------------------

static gboolean our_work(gpointer data, GError **error)
{
    Duel *d = data;
    return LITHO_CUDA(litho_fx_solve(&d->d, 0, d->d.n_spots, 0, 0, litho_cuda_stream(d->context)),
                      error);
}

// The factors and solutions take the place of what they were made from.
static gboolean their_start(gpointer data, GError **error)
{
    Duel *d = data;
    const gsize u = d->unknowns, n = d->n;
    cudaStream_t stream = litho_cuda_stream(d->context);
    return LITHO_CUDA(cudaMemcpyAsync(d->factor.data, d->full.data, 4 * n * u * u,
                                      cudaMemcpyDeviceToDevice, stream),
                      error) &&
           LITHO_CUDA(cudaMemcpyAsync(d->solution.data, d->right.data, 4 * n * u,
                                      cudaMemcpyDeviceToDevice, stream),
                      error);
}

static gboolean triangles(Duel *d, GError **error)
{
    static const float one = 1;
    const int u = d->unknowns;
    float *const *a = d->factors.data, *const *x = d->solutions.data;
    return LITHO_CUBLAS(cublasStrsmBatched(d->blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER,
                                           CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, u, 1, &one,
                                           (const float *const *)a, u, (float *const *)x, u, d->n),
                        error) &&
           LITHO_CUBLAS(cublasStrsmBatched(d->blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER,
                                           CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT, u, 1, &one,
                                           (const float *const *)a, u, (float *const *)x, u, d->n),
                        error);
}

static gboolean their_work(gpointer data, GError **error)
{
    Duel *d = data;
    const int u = d->unknowns;
    int *infos = d->infos.data;
    if (!LITHO_CUSOLVER(cusolverDnSpotrfBatched(d->solver, CUBLAS_FILL_MODE_LOWER, u,
                                                d->factors.data, u, infos, d->n),
                        error))
        return FALSE;
    return d->by_trsm
               ? triangles(d, error)
               : LITHO_CUSOLVER(cusolverDnSpotrsBatched(d->solver, CUBLAS_FILL_MODE_LOWER, u, 1,
                                                        d->factors.data, u, d->solutions.data, u,
                                                        infos + d->n, d->n),
                                error);
}

// --- errors --------------------------------------------------------------------------------------

// Cholesky of system k in double, from the numbers that both sides were given.
static gboolean exact(const Duel *d, int k, double *a, double *x)
{
    const int u = d->unknowns;
    const double lambda = damping(d, k);
    for (int i = 0; i < u; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = entry(d, k, i, j) + (i == j ? lambda : 0);
            for (int m = 0; m < j; m++)
                sum -= a[i * u + m] * a[j * u + m];
            if (i == j && sum <= 0)
                return FALSE;
            a[i * u + j] = i == j ? sqrt(sum) : sum / a[j * u + j];
        }
        x[i] = entry(d, k, u, i);
        for (int m = 0; m < i; m++)
            x[i] -= a[i * u + m] * x[m];
        x[i] /= a[i * u + i];
    }
    for (int i = u - 1; i >= 0; i--) {
        for (int m = i + 1; m < u; m++)
            x[i] -= a[m * u + i] * x[m];
        x[i] /= a[i * u + i];
    }
    return TRUE;
}

// Unknown 2 q is sqrt 2 times the real part of tap c + q + 1, unknown 2 q + 1 the imaginary one's.
static gboolean our_solution(Duel *d, int k, float *taps, GError **error)
{
    const int spot = k / d->d.bins, bin = k % d->d.bins, size = d->d.size;
    const int slot = g_array_index(d->layout->spots, LithoFxSpot, d->group.first + spot).slot;
    const LithoFxComplex *at =
        (const LithoFxComplex *)d->taps.data + ((gsize)bin * d->d.n_slots + slot) * size;
    return litho_cuda_fetch(d->context, taps, at + size / 2 + 1, 4 * (gsize)d->unknowns, error);
}

static gboolean measure(Duel *d, LithoRival *row, GError **error)
{
    const int u = d->unknowns;
    g_autofree double *a = g_new(double, u *u), *x = g_new(double, u);
    g_autofree float *ours = g_new(float, u), *theirs = g_new(float, u);
    double wrong[2] = {0}, norm = 0;
    for (int s = 0; s < SAMPLE; s++) {
        const int k = (int)((gint64)s * d->n / SAMPLE);
        if (!our_solution(d, k, ours, error) ||
            !litho_cuda_fetch(d->context, theirs, (float *)d->solution.data + (gsize)k * u, 4 * u,
                              error))
            return FALSE;
        if (!exact(d, k, a, x))
            continue;
        for (int i = 0; i < u; i++) {
            wrong[0] += pow(M_SQRT2 * ours[i] - x[i], 2);
            wrong[1] += pow(theirs[i] - x[i], 2);
            norm += x[i] * x[i];
        }
    }
    row->ours_error = sqrt(wrong[0] / norm);
    row->theirs_error = sqrt(wrong[1] / norm);
    return TRUE;
}

// --- the row -------------------------------------------------------------------------------------

static gboolean open_libraries(Duel *d, GError **error)
{
    cudaStream_t stream = litho_cuda_stream(d->context);
    return LITHO_CUSOLVER(cusolverDnCreate(&d->solver), error) &&
           LITHO_CUSOLVER(cusolverDnSetStream(d->solver, stream), error) &&
           LITHO_CUBLAS(cublasCreate(&d->blas), error) &&
           LITHO_CUBLAS(cublasSetStream(d->blas, stream), error);
}

// The faster of the library's two ways from the factor to the solution.
static gboolean choose_way(Duel *d, GError **error)
{
    double ms[2];
    for (int k = 0; k < 2; k++) {
        d->by_trsm = k;
        if (!litho_cuda_in_turn(d->context, &(LithoCudaSide){their_start, their_work, d}, 1, 3,
                                &ms[k], error))
            return FALSE;
    }
    d->by_trsm = ms[1] < ms[0];
    return TRUE;
}

static gboolean duel(Duel *d, int repeat, LithoRival *row, GError **error)
{
    double ms[2];
    const LithoCudaSide sides[] = {{NULL, our_work, d}, {their_start, their_work, d}};
    if (!make_matrices(d, error) || !unpack(d, error) || !open_libraries(d, error) ||
        !choose_way(d, error) || !litho_cuda_in_turn(d->context, sides, 2, repeat, ms, error) ||
        !measure(d, row, error))
        return FALSE;
    row->runs = repeat;
    row->ours_ms = ms[0];
    row->theirs_ms = ms[1];
    g_snprintf(row->problem, sizeof row->problem,
               _("%d real systems of %d unknowns: %d windows, %d frequencies, prewhitening %g %%"),
               d->n, d->unknowns, d->d.n_spots, d->d.bins, d->params.prewhitening);
    g_snprintf(row->settings, sizeof row->settings, "potrfBatched, %s",
               d->by_trsm ? "2 x cublasStrsmBatched" : "potrsBatched");
    g_snprintf(row->note, sizeof row->note,
               _("the library's matrices are full, and damped already; ours reads half, damps, and "
                 "writes complex filters"));
    return TRUE;
}

static void close_duel(Duel *d)
{
    LithoCudaArray *const arrays[] = {&d->spectra, &d->present,   &d->spots,  &d->matrix,
                                      &d->taps,    &d->good,      &d->scales, &d->counters,
                                      &d->full,    &d->right,     &d->factor, &d->solution,
                                      &d->factors, &d->solutions, &d->infos};
    cudaStreamSynchronize(litho_cuda_stream(d->context));
    for (gsize k = 0; k < G_N_ELEMENTS(arrays); k++)
        litho_cuda_release(d->context, arrays[k]);
    if (d->solver)
        cusolverDnDestroy(d->solver);
    if (d->blas)
        cublasDestroy(d->blas);
    g_free(d->packed);
    fx_layout_free(d->layout);
    litho_cuda_context_free(d->context);
}

gboolean fx_rivals(const LithoGrid *in, const void *params, int repeat, LithoRun *run, GArray *rows,
                   GError **error)
{
    Duel d = {.params = *(const LithoFxParams *)params};
    LithoRival row = {.stage = "solve", .peer = "cuSOLVER"};
    int ordinal = 0;
    d.params.edge = LITHO_FX_ZERO; // one filter a system
    d.params.solver = LITHO_FX_CHOLESKY;
    d.params.post = FALSE;
    if (d.params.prewhitening <= 0)
        d.params.prewhitening = PREWHITENING;
    d.g = litho_fx_grid_geometry(in, &d.params);
    d.context = litho_cuda_context_new(run ? run->device : 0, error);
    if (!d.context)
        return FALSE;
    const FxWindows windows = {0, d.g.axis[0].count, 0, d.g.axis[1].count};
    const LithoFxHeld held = {0, 0, d.g.axis[0].n, d.g.axis[1].n};
    d.layout = fx_layout_new(&d.params, &d.g, windows, held, NULL);
    largest_group(&d);
    gboolean ok =
        litho_cuda_enter(d.context, error) && LITHO_CUDA(cudaGetDevice(&ordinal), error) &&
        LITHO_CUDA(cudaDeviceGetAttribute(&d.shared_limit, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                          ordinal),
                   error);
    if (ok && d.group.half_il == 0 && d.group.half_xl == 0)
        g_strlcpy(row.why_not, _("the survey has too few traces for a filter"), sizeof row.why_not);
    else
        ok = ok && duel(&d, repeat, &row, error);
    close_duel(&d);
    if (ok)
        g_array_append_val(rows, row);
    return ok;
}
