// SPDX-License-Identifier: GPL-3.0-or-later
//
// One GPU's share of a migration: every n-th frequency, from the record to a sum of images of its
// own.
#include <cufft.h>
#include <string.h>

#include "kernels/migrate/cuda/plan.h"
#include "kernels/migrate/planes.h"

void litho_gpu_card_free(LithoGpuPlan *p)
{
    if (!p)
        return;
    if (litho_cuda_use(litho_cuda_device(p->context), NULL))
        cudaDeviceSynchronize();
    for (int k = 0; k < LITHO_MIGRATE_MAX_JOBS; k++)
        litho_gpu_band_clear(p, &p->band[k]);
    LithoCudaArray *arrays[] = {
        &p->up.planes, &p->down.planes,  &p->scratch,      &p->progress,     &p->image, &p->light,
        &p->coarse,    &p->coarse_light, &p->resampled[0], &p->resampled[1], &p->taps,  &p->growth,
        &p->live,      &p->cells,        &p->taper,        &p->lines,        &p->bins,  &p->largest,
        &p->wavelet,   &p->gathered,     &p->traces};
    for (guint k = 0; k < G_N_ELEMENTS(arrays); k++)
        litho_cuda_release(p->context, arrays[k]);
    const int ffts[] = {p->fft_forward, p->fft_inverse, p->fft_plane};
    for (guint k = 0; k < G_N_ELEMENTS(ffts); k++)
        if (ffts[k])
            cufftDestroy(ffts[k]);
    litho_cuda_context_free(p->context);
    g_free(p);
}

static gboolean card_limits(LithoGpuPlan *p, GError **error)
{
    int device, shared = 0;
    if (!LITHO_CUDA(cudaGetDevice(&device), error) ||
        !LITHO_CUDA(
            cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
            error) ||
        !LITHO_CUDA(cudaDeviceGetAttribute(&p->processors, cudaDevAttrMultiProcessorCount, device),
                    error) ||
        !LITHO_CUDA(litho_gpu_fused_prepare(shared), error))
        return FALSE;
    p->shared = shared;
    p->ordinal = device;
    return TRUE;
}

LithoGpuPlan *litho_gpu_card_new(const LithoGrid *in, int device, GError **error)
{
    LithoCudaContext *context = litho_cuda_context_new(device, error);
    if (!context)
        return NULL;
    LithoGpuPlan *card = g_new0(LithoGpuPlan, 1);
    card->in = *in;
    card->context = context;
    if (card_limits(card, error))
        return card;
    litho_gpu_card_free(card);
    return NULL;
}

void litho_gpu_card_forget(LithoGpuPlan *card)
{
    for (int k = 0; k < LITHO_MIGRATE_MAX_JOBS; k++)
        litho_gpu_band_clear(card, &card->band[k]);
    card->n_bands = 0;
}

static int lane_of(int job, int lanes)
{
    return job == 0 || lanes == 1 ? 0 : 1 + (job - 1) % (lanes - 1);
}

gboolean litho_gpu_card_share(LithoGpuPlan *card, const LithoMigrateJobs *jobs,
                              const LithoGpuShare *share, GError **error)
{
    // The image's own grid takes longest: two thirds of the processors are for its lane.
    card->quota = share->lanes == 1 ? 1 : share->lane == 0 ? 2.0 / 3 : 1.0 / 3 / (share->lanes - 1);
    card->n_bands = 0;
    for (int j = 0; j < jobs->n; j++) {
        if (lane_of(j, share->lanes) != share->lane)
            continue;
        LithoGpuBand *band = &card->band[card->n_bands++];
        g_clear_pointer(&band->job, litho_migrate_job_free);
        band->job = litho_migrate_job_share(jobs->job[j], share->k, share->n);
        if (share->n > 1)
            band->have_spectrum = FALSE; // perhaps of other frequencies
        if (!litho_gpu_band_tables(card, band, error)) {
            litho_gpu_card_forget(card); // half-made tables must not be used by the next pass
            return FALSE;
        }
    }
    return TRUE;
}

static size_t image_cells(const LithoGpuPlan *plan)
{
    return litho_migrate_image_cells(plan->band[0].job);
}

static int image_depths(const LithoGpuPlan *plan)
{
    return litho_migrate_image_depths(plan->band[0].job);
}

static gboolean zeroed(LithoGpuPlan *plan, LithoCudaArray *array, size_t floats, GError **error)
{
    return litho_cuda_reserve(plan->context, array, MAX(floats, 1) * sizeof(float), error) &&
           LITHO_CUDA(cudaMemsetAsync(array->data, 0, floats * sizeof(float),
                                      litho_cuda_stream(plan->context)),
                      error);
}

// --- partial results --------------------------------------------------------------------------

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
    const LithoGpuWatch *w = data;
    LithoGpuPlan *plan = w->card;
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
    } else if (w->scale != 1) {
        for (size_t k = 0; k < count; k++)
            planes[k] *= w->scale;
    }
    litho_migrate_show(w->out, planes, first, n, w->run);
    return TRUE;
}

gboolean litho_gpu_card_show(LithoGpuWatch *watch, GError **error)
{
    return show_slab(0, image_depths(watch->card), watch, error);
}

// --- modes ------------------------------------------------------------------------------------

// The band's waves (in plan->up, plan->down) down onto the plan's sums.
static gboolean sweep_band(LithoGpuPlan *plan, LithoGpuBand *band, gboolean shot,
                           LithoGpuWatch *watch, LithoRun *run, GError **error)
{
    const LithoMigrateJob *job = band->job;
    litho_cuda_mark(plan->context, "extrapolate", LITHO_STAGE_COMPUTE, 0,
                    litho_migrate_sweep_flops(job, shot ? 2 : 1));
    if (job->ratio == 1)
        return litho_gpu_sweep_down(plan, band, shot, plan->image.data, plan->light.data, show_slab,
                                    watch, run, error);
    const size_t n = (size_t)job->nz * job->data_ny * job->data_nx;
    return zeroed(plan, &plan->coarse, n, error) &&
           (!shot || zeroed(plan, &plan->coarse_light, n, error)) &&
           litho_gpu_sweep_down(plan, band, shot, plan->coarse.data, plan->coarse_light.data, NULL,
                                NULL, run, error) &&
           litho_gpu_coarse_add(plan, band, plan->coarse.data, plan->image.data, error) &&
           (!shot ||
            litho_gpu_coarse_add(plan, band, plan->coarse_light.data, plan->light.data, error));
}

gboolean litho_gpu_card_clear(LithoGpuPlan *plan, gboolean light, GError **error)
{
    const size_t n = image_cells(plan) * image_depths(plan);
    plan->have_light = light;
    return zeroed(plan, &plan->image, n, error) && (!light || zeroed(plan, &plan->light, n, error));
}

static gboolean band_spectrum(LithoGpuPlan *plan, LithoGpuBand *band, const LithoCube *in,
                              LithoRun *run, GError **error)
{
    if (band->have_spectrum)
        return TRUE;
    const size_t bytes = band->plane.size * MAX(band->job->nf, 1) * sizeof(float);
    band->have_spectrum =
        litho_cuda_reserve(plan->context, &band->spectrum, bytes, error) &&
        litho_gpu_spectrum_forward(plan, band, in, NULL, NULL, band->spectrum.data, run, error);
    return band->have_spectrum;
}

gboolean litho_gpu_card_stack(LithoGpuPlan *plan, const LithoCube *in, LithoGpuWatch *watch,
                              LithoRun *run, GError **error)
{
    for (int k = plan->n_bands - 1; k >= 0; k--) {
        LithoGpuBand *band = &plan->band[k];
        const size_t bytes = band->plane.size * band->job->nf * sizeof(float);
        if (!band_spectrum(plan, band, in, run, error) ||
            !litho_gpu_waves_reserve(plan, band, &plan->up, error) ||
            !LITHO_CUDA(cudaMemcpyAsync(plan->up.planes.data, band->spectrum.data, bytes,
                                        cudaMemcpyDeviceToDevice, litho_cuda_stream(plan->context)),
                        error) ||
            !sweep_band(plan, band, FALSE, watch, run, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean place_source(LithoGpuPlan *plan, const LithoGpuBand *band, const LithoShot *shot,
                             GError **error)
{
    const LithoMigrateJob *job = band->job;
    LithoSourceSpread x, y;
    litho_shot_spread(job, shot, &x, &y);
    LithoGpuSource source = {(y.first + job->pad_y) * band->plane.pitch + x.first + job->pad_x, x.n,
                             y.n};
    memcpy(source.x, x.weight, sizeof x.weight);
    memcpy(source.y, y.weight, sizeof y.weight);
    g_autofree float *wavelet = g_new(float, 2 * MAX(job->nf, 1));
    litho_shots_wavelet(job, wavelet);
    return litho_gpu_upload(plan, &plan->wavelet, wavelet, 2 * job->nf * sizeof(float), error) &&
           (job->nf == 0 || LITHO_CUDA(litho_gpu_source(plan->down.planes.data, band->plane,
                                                        &source, plan->wavelet.data, job->nf,
                                                        litho_cuda_stream(plan->context)),
                                       error));
}

static gboolean band_shot(LithoGpuPlan *plan, LithoGpuBand *band, const LithoShots *shots, guint k,
                          const LithoCube *in, LithoGpuWatch *watch, LithoRun *run, GError **error)
{
    const gint64 traces = litho_grid_traces(&in->grid);
    g_autofree int *row = litho_shots_cells_of(shots, shots->row, k, traces);
    g_autofree int *column = litho_shots_cells_of(shots, shots->column, k, traces);
    return litho_gpu_waves_reserve(plan, band, &plan->up, error) &&
           litho_gpu_waves_reserve(plan, band, &plan->down, error) &&
           litho_gpu_spectrum_forward(plan, band, in, row, column, plan->up.planes.data, run,
                                      error) &&
           place_source(plan, band, &shots->shot[k], error) &&
           sweep_band(plan, band, TRUE, watch, run, error);
}

gboolean litho_gpu_card_shots(LithoGpuPlan *plan, const LithoShots *shots, const LithoCube *in,
                              LithoGpuWatch *watch, LithoRun *run, GError **error)
{
    for (guint k = 0; k < shots->n; k++)
        for (int b = plan->n_bands - 1; b >= 0; b--)
            if (!band_shot(plan, &plan->band[b], shots, k, in, watch, run, error))
                return FALSE;
    return TRUE;
}

static gboolean demigrate_band(LithoGpuPlan *plan, LithoGpuBand *band, float *out, LithoRun *run,
                               GError **error)
{
    const LithoMigrateJob *job = band->job;
    const float *image = plan->image.data;
    if (job->nf == 0)
        return TRUE;
    litho_cuda_mark(plan->context, "extrapolate", LITHO_STAGE_COMPUTE, 0,
                    litho_migrate_sweep_flops(job, 1));
    if (job->ratio > 1) {
        if (!zeroed(plan, &plan->coarse, (size_t)job->nz * job->data_ny * job->data_nx, error) ||
            !litho_gpu_coarse_adjoint(plan, band, image, plan->coarse.data, error))
            return FALSE;
        image = plan->coarse.data;
    }
    return litho_gpu_waves_reserve(plan, band, &plan->up, error) &&
           litho_gpu_sweep_up(plan, band, image, run, error) &&
           litho_gpu_spectrum_adjoint(plan, band, litho_gpu_wave(band, &plan->up, plan->up.now, 0),
                                      out, run, error);
}

gboolean litho_gpu_card_demigrate(LithoGpuPlan *plan, const LithoCube *in, float *out,
                                  LithoRun *run, GError **error)
{
    const size_t cells = image_cells(plan);
    cudaStream_t stream = litho_cuda_stream(plan->context);
    const float *samples = litho_cuda_input(plan->context, in, run, error);
    if (!samples || !litho_gpu_upload(plan, &plan->live, in->live, cells, error) ||
        !zeroed(plan, &plan->image, cells * image_depths(plan), error) ||
        !LITHO_CUDA(litho_gpu_traces_to_planes(samples, plan->live.data, cells, image_depths(plan),
                                               plan->image.data, stream),
                    error))
        return FALSE;
    for (int k = 0; k < plan->n_bands; k++)
        if (!demigrate_band(plan, &plan->band[k], out, run, error))
            return FALSE;
    return TRUE;
}
