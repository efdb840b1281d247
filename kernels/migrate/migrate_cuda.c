// SPDX-License-Identifier: GPL-3.0-or-later
//
// Depth migration on the GPU: the same stages and jobs as cpu.c.
#include <cufft.h>
#include <math.h>

#include "core/error.h"
#include "kernels/migrate/plan_cuda.h"
#include "kernels/migrate/planes.h"
#include "kernels/migrate/shots.h"

static void plan_free(gpointer data)
{
    LithoGpuPlan *p = data;
    cudaStreamSynchronize(litho_cuda_stream(p->context));
    for (int k = 0; k < 2; k++)
        litho_gpu_band_clear(p, &p->band[k]);
    LithoCudaArray *arrays[] = {&p->scratch, &p->part, &p->light_part, &p->image, &p->light,
                                &p->coarse, &p->coarse_light, &p->resampled[0], &p->resampled[1],
                                &p->taps, &p->growth, &p->live, &p->cells, &p->taper, &p->lines,
                                &p->bins, &p->largest, &p->wavelet};
    for (guint k = 0; k < G_N_ELEMENTS(arrays); k++)
        litho_cuda_release(p->context, arrays[k]);
    for (int k = 0; k <= LITHO_MIGRATE_MAX_STEP; k++) {
        litho_cuda_release(p->context, &p->up.plane[k]);
        litho_cuda_release(p->context, &p->down.plane[k]);
    }
    const int ffts[] = {p->fft_forward, p->fft_inverse, p->fft_plane};
    for (guint k = 0; k < G_N_ELEMENTS(ffts); k++)
        if (ffts[k])
            cufftDestroy(ffts[k]);
    for (int g = 0; g < LITHO_GPU_GROUPS; g++) {
        if (p->stream[g])
            cudaStreamDestroy(p->stream[g]);
        if (p->joined[g])
            cudaEventDestroy(p->joined[g]);
    }
    if (p->forked)
        cudaEventDestroy(p->forked);
    litho_cuda_context_free(p->context);
    g_free(p);
}

static gboolean plan_streams(LithoGpuPlan *p, GError **error)
{
    int device, shared = 0;
    if (!LITHO_CUDA(cudaGetDevice(&device), error) ||
        !LITHO_CUDA(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
                    error) ||
        !LITHO_CUDA(litho_gpu_fused_prepare(shared), error) ||
        !LITHO_CUDA(cudaEventCreateWithFlags(&p->forked, cudaEventDisableTiming), error))
        return FALSE;
    p->shared = shared;
    for (int g = 0; g < LITHO_GPU_GROUPS; g++)
        if (!LITHO_CUDA(cudaStreamCreateWithFlags(&p->stream[g], cudaStreamNonBlocking), error) ||
            !LITHO_CUDA(cudaEventCreateWithFlags(&p->joined[g], cudaEventDisableTiming), error))
            return FALSE;
    return TRUE;
}

static gpointer plan_new(const LithoGrid *in, const void *params, LithoRun *run, GError **error)
{
    (void)params;
    LithoCudaContext *context = litho_cuda_context_new(run ? run->device : 0, error);
    if (!context)
        return NULL;
    LithoGpuPlan *plan = g_new0(LithoGpuPlan, 1);
    plan->in = *in;
    plan->context = context;
    if (plan_streams(plan, error))
        return plan;
    plan_free(plan);
    return NULL;
}

// --- stages -----------------------------------------------------------------------------------

static gboolean stage_velocity(LithoGpuPlan *plan, const LithoMigrateParams *params, LithoRun *run,
                               GError **error)
{
    double start = litho_now_ms();
    for (int k = 0; k < 2; k++)
        litho_gpu_band_clear(plan, &plan->band[k]);
    plan->n_bands = params->coarse ? 2 : 1;
    for (int k = 0; k < plan->n_bands; k++) {
        plan->band[k].job = litho_migrate_job_new(&plan->in, params, k + 1, run, error);
        if (!plan->band[k].job)
            return FALSE;
    }
    litho_run_time(run, "velocity", LITHO_STAGE_PLAN, litho_now_ms() - start, 0, 0);
    return TRUE;
}

static gboolean stage_design(LithoGpuPlan *plan, const LithoMigrateParams *params, LithoRun *run,
                             GError **error)
{
    double start = litho_now_ms();
    for (int k = 0; k < plan->n_bands; k++)
        if (!litho_migrate_job_design(plan->band[k].job, params, run, error) ||
            !litho_gpu_band_tables(plan, &plan->band[k], error))
            return FALSE;
    litho_run_time(run, "design", LITHO_STAGE_PLAN, litho_now_ms() - start, 0, 0);
    return TRUE;
}

static size_t image_cells(const LithoGpuPlan *plan)
{
    const LithoMigrateJob *job = plan->band[0].job;
    return (size_t)job->image.axis[0].n * job->image.axis[1].n;
}

static int image_depths(const LithoGpuPlan *plan)
{
    return plan->band[0].job->image.axis[2].n;
}

static gboolean zeroed(LithoGpuPlan *plan, LithoCudaArray *array, size_t floats, GError **error)
{
    return litho_cuda_reserve(plan->context, array, MAX(floats, 1) * sizeof(float), error) &&
           LITHO_CUDA(cudaMemsetAsync(array->data, 0, floats * sizeof(float),
                                      litho_cuda_stream(plan->context)), error);
}

// --- partial results --------------------------------------------------------------------------

typedef struct Watch {
    LithoGpuPlan *plan;
    const LithoMigrateParams *params;
    const LithoCube *out;
    LithoRun *run;
} Watch;

static gboolean download_planes(LithoGpuPlan *plan, const float *from, float *to, size_t n,
                                GError **error)
{
    cudaStream_t stream = litho_cuda_stream(plan->context);
    return LITHO_CUDA(cudaMemcpyAsync(to, from, n * sizeof(float), cudaMemcpyDeviceToHost, stream),
                      error) &&
           LITHO_CUDA(cudaStreamSynchronize(stream), error);
}

static gboolean show_slab(int first, int n, gpointer data, GError **error)
{
    const Watch *w = data;
    LithoGpuPlan *plan = w->plan;
    if (!w->run || !w->run->on_partial || n <= 0)
        return TRUE;
    const size_t cells = image_cells(plan), count = cells * n;
    g_autofree float *planes = g_new(float, count);
    if (!download_planes(plan, (float *)plan->image.data + cells * first, planes, count, error))
        return FALSE;
    if (plan->have_light && w->params->imaging == LITHO_MIGRATE_NORMALISED) {
        g_autofree float *light = g_new(float, count);
        if (!download_planes(plan, (float *)plan->light.data + cells * first, light, count, error))
            return FALSE;
        litho_migrate_normalise(planes, light, cells, n, w->params->stabilise, planes);
    }
    litho_migrate_show(w->out, planes, first, n, w->run);
    return TRUE;
}

// --- modes ------------------------------------------------------------------------------------

static double sweep_flops(const LithoMigrateJob *job, int waves)
{
    double a_degree = 2 * 2 * (8 + (job->cells.ny > 1 ? 8 : 0) + 2) + 8.0 * job->step;
    return a_degree * job->params.degree * job->cells.nx * job->cells.ny * job->nf *
           (double)job->n_steps * waves;
}

// The band's waves (in plan->up, plan->down) down onto the plan's sums.
static gboolean sweep_band(LithoGpuPlan *plan, LithoGpuBand *band, gboolean shot, Watch *watch,
                           LithoRun *run, GError **error)
{
    const LithoMigrateJob *job = band->job;
    litho_cuda_mark(plan->context, "extrapolate", LITHO_STAGE_COMPUTE, 0,
                    sweep_flops(job, shot ? 2 : 1));
    if (job->factor == 1)
        return litho_gpu_sweep_down(plan, band, shot, plan->image.data, plan->light.data, show_slab,
                                    watch, run, error);
    const size_t n = (size_t)job->nz * job->data_ny * job->data_nx;
    return zeroed(plan, &plan->coarse, n, error) &&
           (!shot || zeroed(plan, &plan->coarse_light, n, error)) &&
           litho_gpu_sweep_down(plan, band, shot, plan->coarse.data, plan->coarse_light.data, NULL,
                                NULL, run, error) &&
           litho_gpu_coarse_add(plan, band, plan->coarse.data, plan->image.data, error) &&
           (!shot || litho_gpu_coarse_add(plan, band, plan->coarse_light.data, plan->light.data,
                                          error));
}

static gboolean clear_sums(LithoGpuPlan *plan, gboolean light, GError **error)
{
    const size_t n = image_cells(plan) * image_depths(plan);
    plan->have_image = plan->have_light = FALSE;
    return zeroed(plan, &plan->image, n, error) && (!light || zeroed(plan, &plan->light, n, error));
}

static gboolean band_spectrum(LithoGpuPlan *plan, LithoGpuBand *band, const LithoCube *in,
                              LithoRun *run, GError **error)
{
    if (band->have_spectrum)
        return TRUE;
    const size_t bytes = band->plane.size * MAX(band->job->nf, 1) * sizeof(float);
    band->have_spectrum = litho_cuda_reserve(plan->context, &band->spectrum, bytes, error) &&
                          litho_gpu_spectrum_forward(plan, band, in, NULL, NULL,
                                                     band->spectrum.data, run, error);
    return band->have_spectrum;
}

static gboolean run_zero_offset(LithoGpuPlan *plan, const LithoCube *in, Watch *watch, LithoRun *run,
                                GError **error)
{
    if (!clear_sums(plan, FALSE, error))
        return FALSE;
    for (int k = plan->n_bands - 1; k >= 0; k--) {
        LithoGpuBand *band = &plan->band[k];
        const size_t bytes = band->plane.size * band->job->nf * sizeof(float);
        if (!band_spectrum(plan, band, in, run, error) ||
            !litho_gpu_waves_reserve(plan, band, &plan->up, error) ||
            !LITHO_CUDA(cudaMemcpyAsync(plan->up.plane[0].data, band->spectrum.data, bytes,
                                        cudaMemcpyDeviceToDevice,
                                        litho_cuda_stream(plan->context)), error) ||
            !sweep_band(plan, band, FALSE, watch, run, error))
            return FALSE;
    }
    plan->have_image = TRUE;
    return TRUE;
}

static gboolean place_source(LithoGpuPlan *plan, const LithoGpuBand *band, const LithoShot *shot,
                             GError **error)
{
    const LithoMigrateJob *job = band->job;
    int x[4], y[4], cell[4];
    float weight[4];
    litho_shot_cells(job, shot, x, y, weight);
    for (int k = 0; k < 4; k++)
        cell[k] = (y[k] + job->pad_y) * band->plane.pitch + x[k] + job->pad_x;
    g_autofree float *wavelet = g_new(float, 2 * MAX(job->nf, 1));
    litho_shots_wavelet(job, wavelet);
    return litho_gpu_upload(plan, &plan->wavelet, wavelet, 2 * job->nf * sizeof(float), error) &&
           (job->nf == 0 ||
            LITHO_CUDA(litho_gpu_source(plan->down.plane[0].data, band->plane, cell, weight,
                                        plan->wavelet.data, job->nf,
                                        litho_cuda_stream(plan->context)), error));
}

static int *cells_of_shot(const LithoShots *shots, const int *cell, guint shot, gint64 traces)
{
    if (!cell)
        return NULL;
    int *own = g_new(int, traces);
    for (gint64 k = 0; k < traces; k++)
        own[k] = shots->of[k] == (int)shot ? cell[k] : -1;
    return own;
}

static gboolean run_shot(LithoGpuPlan *plan, LithoGpuBand *band, const LithoShots *shots, guint k,
                         const LithoCube *in, Watch *watch, LithoRun *run, GError **error)
{
    const gint64 traces = litho_grid_traces(&in->grid);
    g_autofree int *row = cells_of_shot(shots, shots->row, k, traces);
    g_autofree int *column = cells_of_shot(shots, shots->column, k, traces);
    return litho_gpu_waves_reserve(plan, band, &plan->up, error) &&
           litho_gpu_waves_reserve(plan, band, &plan->down, error) &&
           litho_gpu_spectrum_forward(plan, band, in, row, column, plan->up.plane[0].data, run,
                                      error) &&
           place_source(plan, band, &shots->shot[k], error) &&
           sweep_band(plan, band, TRUE, watch, run, error);
}

static gboolean run_shots(LithoGpuPlan *plan, const LithoCube *in, Watch *watch, LithoRun *run,
                          GError **error)
{
    LithoShots *shots = litho_shots_new(plan->band[0].job, in, error);
    gboolean ok = shots && clear_sums(plan, TRUE, error);
    plan->have_light = ok;
    for (guint k = 0; ok && k < shots->n; k++)
        for (int b = plan->n_bands - 1; ok && b >= 0; b--)
            ok = run_shot(plan, &plan->band[b], shots, k, in, watch, run, error);
    if (ok && shots->outside > 0)
        litho_cube_note((LithoCube *)watch->out,
                        "%u traces have their source or receiver off the image and were left out",
                        shots->outside);
    if (ok)
        litho_report_number(run ? run->report : NULL, "shots", "Shots", "", shots->n);
    plan->have_image = ok;
    litho_shots_free(shots);
    return ok;
}

static gboolean demigrate_band(LithoGpuPlan *plan, LithoGpuBand *band, float *out, LithoRun *run,
                               GError **error)
{
    const LithoMigrateJob *job = band->job;
    const float *image = plan->image.data;
    if (job->nf == 0)
        return TRUE;
    litho_cuda_mark(plan->context, "extrapolate", LITHO_STAGE_COMPUTE, 0, sweep_flops(job, 1));
    if (job->factor == 2) {
        if (!zeroed(plan, &plan->coarse, (size_t)job->nz * job->data_ny * job->data_nx, error) ||
            !litho_gpu_coarse_adjoint(plan, band, image, plan->coarse.data, error))
            return FALSE;
        image = plan->coarse.data;
    }
    return litho_gpu_waves_reserve(plan, band, &plan->up, error) &&
           litho_gpu_sweep_up(plan, band, image, run, error) &&
           litho_gpu_spectrum_adjoint(plan, band, plan->up.plane[plan->up.now].data, out, run, error);
}

static gboolean run_demigrate(LithoGpuPlan *plan, const LithoCube *in, const LithoCube *cube,
                              float *out, LithoRun *run, GError **error)
{
    const size_t cells = image_cells(plan);
    cudaStream_t stream = litho_cuda_stream(plan->context);
    const float *samples = litho_cuda_input(plan->context, in, run, error);
    plan->have_image = FALSE;
    if (!samples || !litho_gpu_upload(plan, &plan->live, in->live, cells, error) ||
        !zeroed(plan, &plan->image, cells * image_depths(plan), error) ||
        !LITHO_CUDA(litho_gpu_traces_to_planes(samples, plan->live.data, cells, image_depths(plan),
                                               plan->image.data, stream), error) ||
        !LITHO_CUDA(cudaMemsetAsync(out, 0, litho_box_count(cube->held) * sizeof(float), stream),
                    error))
        return FALSE;
    for (int k = 0; k < plan->n_bands; k++)
        if (!demigrate_band(plan, &plan->band[k], out, run, error))
            return FALSE;
    return TRUE;
}

static gboolean stage_image(LithoGpuPlan *plan, const LithoMigrateParams *params, float *out,
                            GError **error)
{
    const size_t cells = image_cells(plan);
    const int nz = image_depths(plan);
    cudaStream_t stream = litho_cuda_stream(plan->context);
    const gboolean divide = plan->have_light && params->imaging == LITHO_MIGRATE_NORMALISED;
    litho_cuda_mark(plan->context, "image", LITHO_STAGE_COMPUTE, 8.0 * cells * nz, 0);
    if (divide && (!litho_cuda_reserve(plan->context, &plan->largest, nz * sizeof(float), error) ||
                   !LITHO_CUDA(litho_gpu_plane_max(plan->light.data, cells, nz, plan->largest.data,
                                                   stream), error)))
        return FALSE;
    return LITHO_CUDA(litho_gpu_planes_to_traces(plan->image.data, divide ? plan->light.data : NULL,
                                                 plan->largest.data, (float)params->stabilise, cells,
                                                 nz, out, stream), error);
}

static gboolean work(LithoGpuPlan *plan, const LithoPass *pass, gboolean fresh, LithoRun *run,
                     GError **error)
{
    const LithoMigrateParams *params = pass->params;
    float *out = litho_cuda_output(plan->context, pass->out, error);
    if (!out)
        return FALSE;
    if (params->mode == LITHO_MIGRATE_DEMIGRATE)
        return run_demigrate(plan, pass->in, pass->out, out, run, error);
    Watch watch = {plan, params, pass->out, run};
    if (fresh || pass->first_stage <= LITHO_MIGRATE_STAGE_EXTRAPOLATE || !plan->have_image) {
        gboolean ok = params->mode == LITHO_MIGRATE_SHOT
                          ? run_shots(plan, pass->in, &watch, run, error)
                          : run_zero_offset(plan, pass->in, &watch, run, error);
        if (!ok)
            return FALSE;
    }
    return stage_image(plan, params, out, error);
}

static gboolean exec(gpointer data, const LithoPass *pass, LithoRun *run, GError **error)
{
    LithoGpuPlan *plan = data;
    const LithoMigrateParams *params = pass->params;
    if (!litho_cuda_enter(plan->context, error))
        return FALSE;
    const int first = pass->first_stage;
    gboolean fresh = first <= LITHO_MIGRATE_STAGE_SPECTRUM || !plan->band[0].job ||
                     (params->coarse && !plan->band[1].job);
    if (fresh && !stage_velocity(plan, params, run, error))
        return FALSE;
    // Which kernel runs decides how the tables lie, so that row counts as design here.
    gboolean other_kernel =
        plan->band[0].job->params.gpu_kernel != params->gpu_kernel;
    gboolean redesign = fresh || first <= LITHO_MIGRATE_STAGE_DESIGN || other_kernel ||
                        !plan->band[plan->n_bands - 1].turn.data;
    if (redesign && !stage_design(plan, params, run, error)) {
        // Half-made tables must not be used by the next pass.
        litho_gpu_band_clear(plan, &plan->band[0]);
        return FALSE;
    }
    for (int k = 0; k < plan->n_bands; k++)
        plan->band[k].job->params = *params;
    memset(pass->out->live, 1,
           litho_box_size(pass->out->held, 0) * litho_box_size(pass->out->held, 1));
    litho_migrate_job_report(plan->band[0].job, run, pass->out);
    if (work(plan, pass, fresh, run, error))
        return litho_cuda_finish(plan->context, run, error);
    cudaDeviceSynchronize(); // the groups' streams too
    return FALSE;
}

static guint64 memory(const LithoGrid *in, const void *params, LithoBox region)
{
    const LithoMigrateParams *p = params;
    (void)region;
    LithoGrid out;
    if (!litho_migrate_output_grid(in, p, &out, NULL))
        return 0;
    double cells = (out.axis[1].n + 2.0 * p->pad + 8) * (out.axis[0].n + 2.0 * p->pad);
    double record = MAX(in->axis[2].n, out.axis[2].n) * fmin(in->axis[2].step, p->dt);
    double waves = 8 * cells * (p->fmax > 0 ? p->fmax : 60) * record * 1.3;
    // Surface, now and next (both waves of a shot), b's of the launches in flight.
    return (guint64)((p->mode == LITHO_MIGRATE_SHOT ? 5 : 4) * waves +
                     LITHO_GPU_GROUPS * 132 * 5 * 8 * cells / 2 +
                     16.0 * litho_grid_samples(&out) + 4.0 * litho_grid_samples(in));
}

const LithoImpl litho_cuda_migrate = {
    .plan = plan_new, .exec = exec, .destroy = plan_free, .memory = memory};
