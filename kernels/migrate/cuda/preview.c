// SPDX-License-Identifier: GPL-3.0-or-later
//
// A first look at a stack's image. It works in the memory of the waves under way, which are not yet
// there.
#include <cufft.h>

#include "kernels/migrate/cuda/engine.h"
#include "kernels/migrate/preview.h"

// Rooms in the memory of the waves: spectra [nf][ny][nx] and sums [nz][ny][nx], pairs of floats.
typedef struct Look {
    MigGpu *plan;
    const MigGpuBand *band;
    const LithoPreview *preview;
    float *waves, *image;
} Look;

void mig_gpu_preview_drop(MigGpu *plan)
{
    for (int k = 0; k < 2; k++) {
        if (plan->fft_look[k])
            cufftDestroy(plan->fft_look[k]);
        plan->fft_look[k] = 0;
    }
}

// Transforms of `count` planes of the preview; FALSE: there is no memory.
static gboolean need_fft(const Look *look, int which, int count)
{
    MigGpu *plan = look->plan;
    const LithoPreview *p = look->preview;
    int n[2] = {p->ny, p->nx}, *key = plan->fft_look_key[which];
    if (plan->fft_look[which] && key[0] == n[0] && key[1] == n[1] && key[2] == count)
        return TRUE;
    if (plan->fft_look[which])
        cufftDestroy(plan->fft_look[which]);
    plan->fft_look[which] = 0;
    int handle = 0;
    if (cufftPlanMany(&handle, 2, n, NULL, 1, 0, NULL, 1, 0, CUFFT_C2C, count) != CUFFT_SUCCESS ||
        cufftSetStream(handle, litho_cuda_stream(plan->context)) != CUFFT_SUCCESS) {
        if (handle)
            cufftDestroy(handle);
        cudaGetLastError();
        return FALSE;
    }
    plan->fft_look[which] = handle;
    key[0] = n[0];
    key[1] = n[1];
    key[2] = count;
    return TRUE;
}

static gboolean find_room(Look *look, GError **error)
{
    MigGpu *plan = look->plan;
    const MigGpuBand *band = look->band;
    const LithoMigrateJob *job = band->job;
    const size_t cells = (size_t)look->preview->nx * look->preview->ny,
                 bytes = 2 * cells * (job->nf + (size_t)job->nz) * sizeof(float);
    if (!mig_gpu_waves_reserve(plan, band, &plan->up, error))
        return FALSE;
    if (plan->up.planes.bytes < bytes || !need_fft(look, 0, job->nf) || !need_fft(look, 1, job->nz))
        return TRUE; // the run does without
    look->waves = plan->up.planes.data;
    look->image = look->waves + 2 * cells * job->nf;
    return TRUE;
}

// Flags, mean slowness and vertical times on the device, in this order.
static gboolean upload_tables(const Look *look, GError **error)
{
    const LithoMigrateJob *job = look->band->job;
    const LithoPreview *p = look->preview;
    const gsize n = job->n_steps, times = p->time ? job->nz : 0;
    g_autofree float *packed = g_new(float, 2 * n + times);
    memcpy(packed, p->slow2, n * sizeof(float));
    if (times)
        memcpy(packed + n, p->time, times * sizeof(float));
    int *flags = (int *)(packed + n + times);
    for (gsize s = 0; s < n; s++)
        flags[s] = p->flags[s];
    return mig_gpu_upload(look->plan, &look->plan->look, packed, (2 * n + times) * sizeof(float),
                          error);
}

static gboolean look_down(const Look *look, GError **error)
{
    MigGpu *plan = look->plan;
    const MigGpuBand *band = look->band;
    const LithoMigrateJob *job = band->job;
    const LithoPreview *p = look->preview;
    const gsize times = p->time ? job->nz : 0;
    const float *tables = plan->look.data;
    cudaStream_t stream = litho_cuda_stream(plan->context);
    MigGpuPreview down = {.nx = p->nx,
                          .ny = p->ny,
                          .nf = job->nf,
                          .nz = job->nz,
                          .n_steps = job->n_steps,
                          .targets = job->step,
                          .steps = band->steps.data,
                          .coef = band->coef.data,
                          .stop = band->stop.data,
                          .stop_degree = LITHO_MIGRATE_STOP_DEGREE,
                          .slow2 = tables,
                          .flags = (const int *)(tables + job->n_steps + times),
                          .waves = look->waves,
                          .image = look->image};
    for (int m = 0; m < job->step; m++)
        down.degree[m] = litho_migrate_target_degree(job, m);
    const MigGpuPreviewImage image = {.nx = p->nx,
                                      .ny = p->ny,
                                      .nz = job->nz,
                                      .data_nx = job->data_nx,
                                      .data_ny = job->data_ny,
                                      .image = look->image,
                                      .scale = p->scale,
                                      .time = times ? tables + job->n_steps : NULL,
                                      .slow = band->slow.data,
                                      .squared = band->slow_squared,
                                      .pad_x = job->pad_x,
                                      .pad_y = job->pad_y,
                                      .pitch = band->plane.pitch,
                                      .slow_plane = (size_t)band->plane.pitch * band->plane.ny,
                                      .step = job->step,
                                      .n_steps = job->n_steps,
                                      .planes = plan->image.data};
    cufftComplex *waves = (cufftComplex *)look->waves, *sums = (cufftComplex *)look->image;
    return LITHO_CUDA(mig_gpu_preview_load(band->plane, band->spectrum.data, job->pad_x, job->pad_y,
                                           job->data_nx, job->data_ny, p->nx, p->ny, job->nf,
                                           look->waves, stream),
                      error) &&
           LITHO_CUFFT(cufftExecC2C(plan->fft_look[0], waves, waves, CUFFT_FORWARD), error) &&
           LITHO_CUDA(mig_gpu_preview_down(&down, stream), error) &&
           LITHO_CUFFT(cufftExecC2C(plan->fft_look[1], sums, sums, CUFFT_INVERSE), error) &&
           LITHO_CUDA(mig_gpu_preview_planes(&image, stream), error);
}

gboolean mig_gpu_preview(MigEngine *engine, int b, gboolean *made, LithoRun *run, GError **error)
{
    (void)run;
    MigGpu *plan = mig_gpu_of(engine);
    g_autoptr(LithoPreview) preview = litho_preview_new(engine->job[b]);
    Look look = {.plan = plan, .band = &plan->band[b], .preview = preview};
    *made = FALSE;
    litho_cuda_mark(plan->context, "preview", LITHO_STAGE_COMPUTE, 0, 0);
    if (!find_room(&look, error))
        return FALSE;
    if (!look.waves)
        return TRUE;
    *made = upload_tables(&look, error) && look_down(&look, error);
    return *made;
}
