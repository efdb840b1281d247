// SPDX-License-Identifier: GPL-3.0-or-later
//
// The transform and its adjoint on CUDA, and the operator's implementation.
#include "kernels/wavepacket/cuda/wavepacket.h"

#include <math.h>
#include <stdlib.h>

#include "core/error.h"
#include "kernels/wavepacket/apply.h"

static const float *const *scales_of(const WpCuda *cuda, const float *scale[3])
{
    for (int a = 0; a < 3; a++)
        scale[a] = cuda->scale[a].data;
    return scale;
}

static void int_sizes(const gint64 n[3], int to[3])
{
    for (int a = 0; a < 3; a++)
        to[a] = (int)n[a];
}

static double grid_points(const WpCuda *cuda)
{
    return (double)cuda->grid.nf[0] * cuda->grid.nf[1] * cuda->grid.nf[2];
}

void wp_cuda_mark_exchange(WpCuda *cuda, double bytes)
{
    litho_cuda_mark(cuda->context, "exchange", LITHO_STAGE_TRANSFER, bytes, 0);
}

// The first of the two steps of the fine FFT counts for both.
void wp_cuda_mark_fine(WpCuda *cuda, const char *name, gboolean first)
{
    const double points = first ? grid_points(cuda) / cuda->share.of : 0;
    wp_cuda_mark(cuda, name, 8 * points, 2.5 * points * log2(grid_points(cuda)));
}

static double samples(const WpGeometry *g)
{
    return (double)g->n[0] * (double)g->n[1] * (double)g->n[2];
}

// --- transform -----------------------------------------------------------------------------------

gboolean wp_cuda_begin_forward(WpCuda *cuda, const float *u, float *c, GError **error)
{
    const WpGeometry *g = cuda->engine.geometry;
    const gint64 complex_floats = wp_residual(g) ? wp_residual(g)->at : g->floats;
    if (!wp_cuda_settle(cuda, error))
        return FALSE;
    wp_cuda_mark(cuda, "pad", 4 * (samples(g) + grid_points(cuda)) / cuda->share.of, 0);
    // Beside: clearing the lattice points that lie under no window.
    if (!wp_cuda_branch_off(cuda, error) ||
        !LITHO_CUDA(cudaMemsetAsync(c, 0, complex_floats * sizeof(float), cuda->beside[1]),
                    error) ||
        !wp_cuda_pad_planes(cuda, u, error))
        return FALSE;
    wp_cuda_mark_fine(cuda, "fine fft", TRUE);
    return wp_cuda_planes(cuda, CUFFT_FORWARD, error);
}

gboolean wp_cuda_end_forward(WpCuda *cuda, const float *u, float *c, GError **error)
{
    const WpGeometry *g = cuda->engine.geometry;
    const WpDevGrid *d = &cuda->grid;
    wp_cuda_mark(cuda, "gather", 24.0 * (double)g->n_active,
                 4 * pow(d->w, 3) * (double)g->n_active);
    // The residual box is bound by memory, the gather is not: they go well together.
    return wp_cuda_join(cuda, 1, cuda->joined[1], error) && wp_cuda_branch_off(cuda, error) &&
           wp_cuda_residual_forward(cuda, u, c, error) &&
           (cuda->n_active == 0 ||
            LITHO_CUDA(wp_cuda_gather(d, &cuda->kernel, cuda->u.data, cuda->active.data,
                                      cuda->first_step.data, cuda->rounds.data, cuda->n_active,
                                      cuda->points.data, (float2 *)c,
                                      litho_cuda_stream(cuda->context)),
                       error)) &&
           wp_cuda_box_ffts(cuda, c, CUFFT_INVERSE, error) && wp_cuda_join_residual(cuda, error);
}

static gboolean cuda_forward(WpEngine *engine, const float *u, float *c, LithoRun *run,
                             GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    gboolean ok = litho_run_step(run, 0, 0, error) && wp_cuda_begin_forward(cuda, u, c, error) &&
                  wp_cuda_clear_between(cuda, error) &&
                  wp_cuda_columns(cuda, CUFFT_FORWARD, error) &&
                  wp_cuda_end_forward(cuda, u, c, error);
    litho_cuda_mark_end(cuda->context);
    return ok;
}

// --- adjoint -------------------------------------------------------------------------------------

static double bytes_of_sums(const WpCuda *cuda)
{
    const double side = WP_TILE + cuda->grid.w - 1;
    return 8 * cuda->n_active * side * side * side;
}

static gboolean spread_to_tiles(WpCuda *cuda, const float *c, GError **error)
{
    const WpDevGrid *d = &cuda->grid;
    const WpGeometry *g = cuda->engine.geometry;
    wp_cuda_mark(cuda, "spread", 24.0 * (double)g->n_active + bytes_of_sums(cuda),
                 4 * pow(d->w, 3) * (double)g->n_active);
    return cuda->n_active == 0 ||
           LITHO_CUDA(wp_cuda_spread(d, &cuda->kernel, (const float2 *)c, cuda->active.data,
                                     cuda->first_step.data, cuda->rounds.data, cuda->n_active,
                                     cuda->points.data, cuda->sums.data,
                                     litho_cuda_stream(cuda->context)),
                      error);
}

static gboolean collect_tiles(WpCuda *cuda, const WpSpan *spans, GError **error)
{
    wp_cuda_mark(cuda, "collect", bytes_of_sums(cuda) + 4 * grid_points(cuda), 0);
    return LITHO_CUDA(wp_cuda_collect(&cuda->grid, cuda->sums.data, cuda->slot.data, spans,
                                      cuda->u.data, litho_cuda_stream(cuda->context)),
                      error);
}

static gboolean add_by_tiles(WpCuda *cuda, const float *c, const WpSpan *spans, GError **error)
{
    return spread_to_tiles(cuda, c, error) && collect_tiles(cuda, spans, error);
}

static gboolean clear_grid(WpCuda *cuda, GError **error)
{
    return LITHO_CUDA(
        cudaMemsetAsync(cuda->u.data, 0,
                        8 * (size_t)cuda->grid.nf[0] * cuda->grid.nf[1] * cuda->grid.half,
                        litho_cuda_stream(cuda->context)),
        error);
}

static void invert3(double m[3][3], double to[3][3])
{
    double det = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            to[j][i] = m[(i + 1) % 3][(j + 1) % 3] * m[(i + 2) % 3][(j + 2) % 3] -
                       m[(i + 1) % 3][(j + 2) % 3] * m[(i + 2) % 3][(j + 1) % 3];
    for (int j = 0; j < 3; j++)
        det += m[0][j] * to[j][0];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            to[i][j] /= det;
}

// The axis-aligned block of grid points around a box, widened by the kernel.
static WpBlockOfBox block_of(const WpDevGrid *d, const WpDevBox *box)
{
    WpBlockOfBox b;
    double A[3][3]; // grid from lattice: A[a][i]
    for (int a = 0; a < 3; a++) {
        double lo = box->start[a], hi = box->start[a];
        for (int i = 0; i < 3; i++) {
            A[a][i] = box->step[i][a];
            lo += MIN(0, (box->n[i] - 1) * A[a][i]);
            hi += MAX(0, (box->n[i] - 1) * A[a][i]);
        }
        b.lo[a] = (int)ceil(lo - 0.5 * d->w);
        b.n[a] = (int)floor(hi + 0.5 * d->w) - b.lo[a] + 1;
    }
    invert3(A, b.inverse);
    for (int i = 0; i < 3; i++)
        b.reach[i] =
            (float)(0.5 * d->w *
                    (fabs(b.inverse[i][0]) + fabs(b.inverse[i][1]) + fabs(b.inverse[i][2])));
    return b;
}

static gboolean add_as_in_papers(WpCuda *cuda, const float *c, LithoRun *run, GError **error)
{
    const WpGeometry *g = cuda->engine.geometry;
    const WpDevGrid *d = &cuda->grid;
    cudaStream_t stream = litho_cuda_stream(cuda->context);
    wp_cuda_mark(cuda, "papers' gather", 24.0 * (double)g->n_active,
                 4 * pow(d->w, 3) * (double)g->n_active);
    if (!clear_grid(cuda, error))
        return FALSE;
    for (int b = 0; b < g->n_boxes; b++) {
        const WpBlockOfBox block = block_of(d, &cuda->host_boxes[b]);
        if (g->boxes[b].kind == WP_RESIDUAL)
            continue;
        if (!LITHO_CUDA(wp_cuda_collect_box(d, &cuda->host_boxes[b], &block, cuda->table.data,
                                            cuda->dense.data, (const float2 *)c, cuda->u.data,
                                            stream),
                        error) ||
            (b % 16 == 15 && !litho_cuda_step(cuda->context, run, b, g->n_boxes, error)))
            return FALSE;
    }
    return LITHO_CUDA(wp_cuda_symmetrize(d, cuda->u.data, stream), error);
}

gboolean wp_cuda_begin_adjoint(WpCuda *cuda, float *c, const WpSpan *spans, LithoRun *run,
                               GError **error)
{
    // The residual box beside what follows the FFTs.
    if (!wp_cuda_box_ffts(cuda, c, CUFFT_FORWARD, error) || !wp_cuda_branch_off(cuda, error) ||
        !wp_cuda_filter_residual(cuda, c, error))
        return FALSE;
    const gboolean ok = cuda->form == WP_GATHER ? add_as_in_papers(cuda, c, run, error)
                                                : add_by_tiles(cuda, c, spans, error);
    return ok && wp_cuda_join_residual(cuda, error);
}

gboolean wp_cuda_end_adjoint(WpCuda *cuda, const WpBox *residual, const float *r, float *u,
                             GError **error)
{
    const WpGeometry *g = cuda->engine.geometry;
    const float *scale[3];
    int n[3];
    int_sizes(g->n, n);
    if (!wp_cuda_planes(cuda, CUFFT_INVERSE, error))
        return FALSE;
    wp_cuda_mark(cuda, "crop", 12 * samples(g) / cuda->share.of, 0);
    return LITHO_CUDA(wp_cuda_crop(n, cuda->grid.nf, 2 * cuda->grid.half, &cuda->share,
                                   scales_of(cuda, scale), 0.5f, cuda->u.data,
                                   residual ? residual->n : n, r, u,
                                   litho_cuda_stream(cuda->context)),
                      error);
}

static gboolean cuda_adjoint(WpEngine *engine, float *c, float *u, LithoRun *run, GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    const WpBox *residual = wp_residual(engine->geometry);
    if (!litho_run_step(run, 0, 0, error) || !wp_cuda_begin_adjoint(cuda, c, NULL, run, error))
        return FALSE;
    wp_cuda_mark_fine(cuda, "fine ifft", TRUE);
    gboolean ok = wp_cuda_columns(cuda, CUFFT_INVERSE, error) &&
                  wp_cuda_end_adjoint(cuda, residual, residual ? c + residual->at : NULL, u, error);
    litho_cuda_mark_end(cuda->context);
    return ok;
}

// In steps: the tiles' sums and the residual box's spectrum stay for the planes and for the rest.
static gboolean cuda_begin_adjoint(WpEngine *engine, float *c, LithoRun *run, GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    g_assert(cuda->form == WP_TILES);
    const gboolean ok =
        litho_run_step(run, 0, 0, error) && wp_cuda_box_ffts(cuda, c, CUFFT_FORWARD, error) &&
        wp_cuda_branch_off(cuda, error) && wp_cuda_residual_spectrum(cuda, c, error) &&
        spread_to_tiles(cuda, c, error);
    litho_cuda_mark_end(cuda->context);
    return ok;
}

static gboolean cuda_end_adjoint(WpEngine *engine, float *c, float *u, LithoRun *run,
                                 GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    const WpBox *residual = wp_residual(engine->geometry);
    if (!litho_run_step(run, 0, 0, error) || !wp_cuda_branch_off(cuda, error) ||
        !wp_cuda_residual_samples(cuda, c, error) || !collect_tiles(cuda, NULL, error) ||
        !wp_cuda_join_residual(cuda, error))
        return FALSE;
    wp_cuda_mark_fine(cuda, "fine ifft", TRUE);
    const gboolean ok =
        wp_cuda_columns(cuda, CUFFT_INVERSE, error) &&
        wp_cuda_end_adjoint(cuda, residual, residual ? c + residual->at : NULL, u, error);
    litho_cuda_mark_end(cuda->context);
    return ok;
}

// --- the operator --------------------------------------------------------------------------------

static void cuda_free(WpEngine *engine)
{
    WpCuda *cuda = (WpCuda *)engine;
    if (litho_cuda_use(litho_cuda_device(cuda->context), NULL))
        wp_cuda_free_plan(cuda);
    litho_cuda_context_free(cuda->context);
    g_free(cuda);
}

// GPUs that have an engine may read each other's memory.
static void link_devices(int device)
{
    static GMutex lock;
    static guint64 in_use;
    g_mutex_lock(&lock);
    for (int other = 0; other < 64; other++)
        if (other != device && (in_use >> other & 1)) {
            litho_cuda_link(device, other);
            litho_cuda_link(other, device);
        }
    in_use |= (guint64)1 << device;
    g_mutex_unlock(&lock);
}

WpEngine *wp_engine_cuda(const WpGeometry *g, int form, int share, int shares, LithoRun *run,
                         GError **error)
{
    static WpEngineClass class;
    static gsize once;
    if (g_once_init_enter(&once)) {
        class = wp_cuda_arrays;
        class.free = cuda_free;
        class.forward = cuda_forward;
        class.adjoint = cuda_adjoint;
        class.begin_adjoint = cuda_begin_adjoint;
        class.planes = wp_cuda_cut_planes;
        class.end_adjoint = cuda_end_adjoint;
        class.drop_plane = wp_cuda_drop_plane_of;
        g_once_init_leave(&once, 1);
    }
    const int device = run ? run->device % litho_cuda_backend()->n_devices : 0;
    LithoCudaContext *context = litho_cuda_context_new(device, error);
    if (!context)
        return NULL;
    WpCuda *cuda = g_new0(WpCuda, 1);
    cuda->engine.class = &class;
    cuda->engine.geometry = g;
    cuda->context = context;
    cuda->form = form;
    cuda->share = (WpShare){.k = share, .of = shares};
    cuda->ordinal = litho_cuda_ordinal(device);
    if (!litho_cuda_enter(context, error) || !wp_cuda_make_plan(cuda, run, error)) {
        cuda_free(&cuda->engine);
        return NULL;
    }
    link_devices(device);
    return &cuda->engine;
}

static WpEngine *engine_new(const WpGeometry *g, int form, LithoRun *run, GError **error)
{
    if (!litho_run_step(run, 0, 2, error))
        return NULL;
    WpEngine *engine = wp_engine_cuda(g, form, 0, 1, run, error);
    if (engine && litho_run_step(run, 2, 2, error))
        return engine;
    wp_engine_free(engine);
    return NULL;
}

// LITHO_WAVEPACKET_DEVICES=N lets tests share the work out where there are fewer GPUs.
static int devices(int wanted)
{
    const char *pretend = g_getenv("LITHO_WAVEPACKET_DEVICES");
    const int n = pretend ? MAX(atoi(pretend), 1) : litho_cuda_backend()->n_devices;
    return MIN(wanted, n);
}

static guint64 available(const LithoRun *run)
{
    guint64 bytes = 0, total;
    return litho_cuda_memory(run ? run->device : 0, &bytes, &total, NULL) ? bytes : 0;
}

static const WpMachine machine = {.gpu = TRUE,
                                  .engine = engine_new,
                                  .windows = wp_cuda_measure_windows,
                                  .level = wp_cuda_level,
                                  .available = available,
                                  .devices = devices,
                                  .spread = wp_engine_multi};

static gpointer plan(const LithoGrid *in, const void *params, LithoResolved *known, LithoRun *run,
                     GError **error)
{
    (void)known;
    WpJob *job = wp_job_new(in, params, &machine, run, error);
    wp_cuda_drop_weights();
    if (job && job->n_lanes == 1)
        wp_cuda_look_ahead(&job->spec, run ? run->device : 0);
    return job;
}

static gboolean exec(gpointer job, const LithoPass *pass, LithoRun *run, GError **error)
{
    return wp_job_run(job, pass, run, error);
}

static void destroy(gpointer job)
{
    wp_job_free(job);
}

static guint64 memory(const LithoGrid *in, const void *params, LithoResolved *known,
                      LithoBox region, int threads)
{
    (void)known;
    return wp_job_memory(in, params, &machine, region, threads);
}

static gboolean has_planes(const LithoGrid *in, const void *params, int devices)
{
    return ((const LithoWavepacketParams *)params)->adjoint == WP_TILES &&
           wp_has_planes(in, params, devices);
}

const LithoImpl litho_cuda_wavepacket = {.plan = plan,
                                         .exec = exec,
                                         .destroy = destroy,
                                         .memory = memory,
                                         .planes = has_planes,
                                         .rivals = wp_cuda_rivals};
