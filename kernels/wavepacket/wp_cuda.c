// SPDX-License-Identifier: GPL-3.0-or-later
//
// The transform and its adjoint on CUDA, and the operator's implementation.
#include "kernels/wavepacket/wp_cuda.h"

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

static void mark(WpCuda *cuda, const char *name, double bytes, double flops)
{
    litho_cuda_mark(cuda->context, name, LITHO_STAGE_COMPUTE, bytes, flops);
}

static double grid_points(const WpCuda *cuda)
{
    return (double)cuda->grid.nf[0] * cuda->grid.nf[1] * cuda->grid.nf[2];
}

static double samples(const WpGeometry *g)
{
    return (double)g->n[0] * (double)g->n[1] * (double)g->n[2];
}

// --- streams beside the context's -----------------------------------------------------------------

// What is launched into the streams beside from now on waits for all launched so far.
static gboolean branch_off(WpCuda *cuda, GError **error)
{
    if (!LITHO_CUDA(cudaEventRecord(cuda->forked, litho_cuda_stream(cuda->context)), error))
        return FALSE;
    for (int i = 0; i < WP_LANES_BESIDE; i++)
        if (!LITHO_CUDA(cudaStreamWaitEvent(cuda->beside[i], cuda->forked, 0), error))
            return FALSE;
    return TRUE;
}

// The context's stream waits for what stream `i` beside it has so far.
static gboolean join(WpCuda *cuda, int i, cudaEvent_t event, GError **error)
{
    return LITHO_CUDA(cudaEventRecord(event, cuda->beside[i]), error) &&
           LITHO_CUDA(cudaStreamWaitEvent(litho_cuda_stream(cuda->context), event, 0), error);
}

// --- the residual box: a plain real FFT, on stream 1 ------------------------------------------------

// c = irfft(phi rfft(c)) in place.
static gboolean filter_residual(WpCuda *cuda, float *c, GError **error)
{
    const WpBox *box = wp_residual(cuda->engine.geometry);
    const gint64 half = (gint64)box->n[0] * box->n[1] * (box->n[2] / 2 + 1);
    return LITHO_CUFFT(cufftExecR2C(cuda->residual_forward, c, cuda->residual.data), error) &&
           LITHO_CUDA(wp_cuda_scale_complex(cuda->residual.data, cuda->residual_weight.data, half,
                                            cuda->beside[0]), error) &&
           LITHO_CUFFT(cufftExecC2R(cuda->residual_inverse, cuda->residual.data, c), error);
}

static gboolean residual_forward(WpCuda *cuda, const float *u, float *c, GError **error)
{
    const WpBox *box = wp_residual(cuda->engine.geometry);
    const float *none[3] = {NULL};
    int n[3];
    if (!box)
        return TRUE;
    int_sizes(cuda->engine.geometry->n, n);
    return LITHO_CUDA(wp_cuda_pad(n, box->n, box->n[2], none, u, c + box->at, cuda->beside[0]),
                      error) &&
           filter_residual(cuda, c + box->at, error);
}

// --- boxes ----------------------------------------------------------------------------------------

// The mark spans all three streams: it ends when the context's stream has joined them.
static gboolean box_ffts(WpCuda *cuda, float *c, int direction, GError **error)
{
    const WpGeometry *g = cuda->engine.geometry;
    const gint64 reals = wp_residual(g) ? wp_residual(g)->floats : 0;
    const double points = (double)(g->n_points - reals);
    mark(cuda, direction == CUFFT_FORWARD ? "box fft" : "box ifft", 16 * points,
         5 * points * log2(1e5));
    if (!branch_off(cuda, error))
        return FALSE;
    for (int r = 0; r < cuda->n_runs; r++) {
        cufftComplex *data = (cufftComplex *)(c + cuda->runs[r].at);
        if (!LITHO_CUFFT(cufftExecC2C(cuda->runs[r].plan, data, data, direction), error))
            return FALSE;
    }
    return join(cuda, 0, cuda->joined[0], error) && join(cuda, 1, cuda->joined[1], error);
}

static gboolean cuda_forward(WpEngine *engine, const float *u, float *c, LithoRun *run,
                             GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    const WpGeometry *g = engine->geometry;
    const WpDevGrid *d = &cuda->grid;
    const double taps = pow(d->w, 3) * (double)g->n_active;
    const gint64 complex_floats = wp_residual(g) ? wp_residual(g)->at : g->floats;
    cudaStream_t stream = litho_cuda_stream(cuda->context);
    const float *scale[3];
    int n[3];
    int_sizes(g->n, n);
    mark(cuda, "pad", 4 * (samples(g) + grid_points(cuda)), 0);
    // Beside: the residual box, and clearing the lattice points that lie under no window.
    if (!litho_run_step(run, 0, 0, error) || !branch_off(cuda, error) ||
        !residual_forward(cuda, u, c, error) ||
        !LITHO_CUDA(cudaMemsetAsync(c, 0, complex_floats * sizeof(float), cuda->beside[1]),
                    error) ||
        !LITHO_CUDA(wp_cuda_pad(n, d->nf, 2 * d->half, scales_of(cuda, scale), u, cuda->u.data,
                                stream), error))
        return FALSE;
    mark(cuda, "fine fft", 8 * grid_points(cuda),
         2.5 * grid_points(cuda) * log2(grid_points(cuda)));
    if (!LITHO_CUFFT(cufftExecR2C(cuda->fine_forward, cuda->u.data, cuda->u.data), error))
        return FALSE;
    mark(cuda, "gather", 24.0 * (double)g->n_active, 4 * taps);
    if (!join(cuda, 1, cuda->joined[1], error) ||
        (cuda->n_active > 0 &&
         !LITHO_CUDA(wp_cuda_gather(d, &cuda->kernel, cuda->u.data, cuda->active.data,
                                    cuda->first_step.data, cuda->rounds.data, cuda->n_active,
                                    cuda->points.data, (float2 *)c, stream), error)))
        return FALSE;
    gboolean ok = box_ffts(cuda, c, CUFFT_INVERSE, error);
    litho_cuda_mark_end(cuda->context);
    return ok;
}

// --- adjoint --------------------------------------------------------------------------------------

static gboolean add_by_tiles(WpCuda *cuda, const float *c, GError **error)
{
    const WpDevGrid *d = &cuda->grid;
    const WpGeometry *g = cuda->engine.geometry;
    cudaStream_t stream = litho_cuda_stream(cuda->context);
    const double side = WP_TILE + d->w - 1, sums = 8 * cuda->n_active * side * side * side;
    mark(cuda, "spread", 24.0 * (double)g->n_active + sums, 4 * pow(d->w, 3) * (double)g->n_active);
    if (cuda->n_active > 0 &&
        !LITHO_CUDA(wp_cuda_spread(d, &cuda->kernel, (const float2 *)c, cuda->active.data,
                                   cuda->first_step.data, cuda->rounds.data, cuda->n_active,
                                   cuda->points.data, cuda->sums.data, stream),
                    error))
        return FALSE;
    mark(cuda, "collect", sums + 4 * grid_points(cuda), 0);
    return LITHO_CUDA(wp_cuda_collect(d, cuda->sums.data, cuda->slot.data, cuda->u.data, stream),
                      error);
}

static gboolean clear_grid(WpCuda *cuda, GError **error)
{
    return LITHO_CUDA(cudaMemsetAsync(cuda->u.data, 0,
                                      8 * (size_t)cuda->grid.nf[0] * cuda->grid.nf[1] *
                                          cuda->grid.half, litho_cuda_stream(cuda->context)),
                      error);
}

static gboolean add_by_atomics(WpCuda *cuda, const float *c, GError **error)
{
    const WpDevGrid *d = &cuda->grid;
    const double points = (double)cuda->engine.geometry->n_active;
    cudaStream_t stream = litho_cuda_stream(cuda->context);
    mark(cuda, "scatter", 24.0 * points, 4 * pow(d->w, 3) * points);
    return clear_grid(cuda, error) &&
           LITHO_CUDA(wp_cuda_scatter(d, &cuda->kernel, (const float2 *)c, cuda->active.data,
                                      cuda->first_step.data, cuda->n_active, cuda->points.data,
                                      cuda->u.data, stream), error) &&
           LITHO_CUDA(wp_cuda_symmetrize(d, cuda->u.data, stream), error);
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
        b.reach[i] = (float)(0.5 * d->w * (fabs(b.inverse[i][0]) + fabs(b.inverse[i][1]) +
                                           fabs(b.inverse[i][2])));
    return b;
}

static gboolean add_as_in_papers(WpCuda *cuda, const float *c, LithoRun *run, GError **error)
{
    const WpGeometry *g = cuda->engine.geometry;
    const WpDevGrid *d = &cuda->grid;
    cudaStream_t stream = litho_cuda_stream(cuda->context);
    mark(cuda, "papers' gather", 24.0 * (double)g->n_active,
         4 * pow(d->w, 3) * (double)g->n_active);
    if (!clear_grid(cuda, error))
        return FALSE;
    for (int b = 0; b < g->n_boxes; b++) {
        const WpBlockOfBox block = block_of(d, &cuda->host_boxes[b]);
        if (g->boxes[b].kind == WP_RESIDUAL)
            continue;
        if (!LITHO_CUDA(wp_cuda_collect_box(d, &cuda->host_boxes[b], &block, cuda->table.data,
                                            cuda->dense.data, (const float2 *)c, cuda->u.data,
                                            stream), error) ||
            (b % 16 == 15 && !litho_cuda_step(cuda->context, run, b, g->n_boxes, error)))
            return FALSE;
    }
    return LITHO_CUDA(wp_cuda_symmetrize(d, cuda->u.data, stream), error);
}

static gboolean cuda_adjoint(WpEngine *engine, float *c, float *u, LithoRun *run, GError **error)
{
    WpCuda *cuda = (WpCuda *)engine;
    const WpGeometry *g = engine->geometry;
    const WpDevGrid *d = &cuda->grid;
    const WpBox *residual = wp_residual(g);
    const float *scale[3];
    int n[3];
    int_sizes(g->n, n);
    if (!litho_run_step(run, 0, 0, error) || !box_ffts(cuda, c, CUFFT_FORWARD, error) ||
        (residual && !filter_residual(cuda, c + residual->at, error))) // beside what follows
        return FALSE;
    gboolean ok = cuda->form == WP_SCATTER  ? add_by_atomics(cuda, c, error)
                  : cuda->form == WP_GATHER ? add_as_in_papers(cuda, c, run, error)
                                            : add_by_tiles(cuda, c, error);
    if (!ok)
        return FALSE;
    mark(cuda, "fine ifft", 8 * grid_points(cuda),
         2.5 * grid_points(cuda) * log2(grid_points(cuda)));
    if (!LITHO_CUFFT(cufftExecC2R(cuda->fine_inverse, cuda->u.data, cuda->u.data), error) ||
        !join(cuda, 0, cuda->residual_done, error))
        return FALSE;
    mark(cuda, "crop", 12 * samples(g), 0);
    ok = LITHO_CUDA(wp_cuda_crop(n, d->nf, 2 * d->half, scales_of(cuda, scale), 0.5f, cuda->u.data,
                                 residual ? residual->n : n, residual ? c + residual->at : NULL,
                                 u, litho_cuda_stream(cuda->context)), error);
    litho_cuda_mark_end(cuda->context);
    return ok;
}

// --- the operator ---------------------------------------------------------------------------------

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

WpEngine *wp_engine_cuda(const WpGeometry *g, int form, const LithoRun *run, GError **error)
{
    static WpEngineClass class;
    static gsize once;
    if (g_once_init_enter(&once)) {
        class = wp_cuda_arrays;
        class.free = cuda_free;
        class.forward = cuda_forward;
        class.adjoint = cuda_adjoint;
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
    cuda->ordinal = litho_cuda_ordinal(device);
    if (!litho_cuda_enter(context, error) || !wp_cuda_make_plan(cuda, error)) {
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
    WpEngine *engine = wp_engine_cuda(g, form, run, error);
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
    return wanted > 0 ? MIN(wanted, n) : n;
}

static guint64 available(const LithoRun *run)
{
    guint64 bytes = 0, total;
    return litho_cuda_memory(run ? run->device : 0, &bytes, &total, NULL) ? bytes : 0;
}

static const WpMachine machine = {.gpu = TRUE, .engine = engine_new, .available = available,
                                  .devices = devices, .spread = wp_engine_multi};

static gpointer plan(const LithoGrid *in, const void *params, LithoRun *run, GError **error)
{
    return wp_job_new(in, params, &machine, run, error);
}

static gboolean exec(gpointer job, const LithoPass *pass, LithoRun *run, GError **error)
{
    return wp_job_run(job, pass, run, error);
}

static void destroy(gpointer job)
{
    wp_job_free(job);
}

static guint64 memory(const LithoGrid *in, const void *params, LithoBox region)
{
    (void)region;
    return wp_job_memory(in, params, TRUE);
}

const LithoImpl litho_cuda_wavepacket = {
    .plan = plan, .exec = exec, .destroy = destroy, .memory = memory};
