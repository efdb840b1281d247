// SPDX-License-Identifier: GPL-3.0-or-later
//
// One GPU's share of a migration: every n-th frequency, from the record to a sum of images of its
// own.
#include <cufft.h>
#include <string.h>

#include "core/memory.h"
#include "core/peers.h"
#include "kernels/migrate/cuda/engine.h"
#include "kernels/migrate/plan.h"

// --- the engine ---------------------------------------------------------------------------------

static int devices(void)
{
    return litho_cuda_backend()->n_devices;
}

static void gpu_free(MigEngine *engine)
{
    MigGpu *p = mig_gpu_of(engine);
    if (litho_cuda_use(litho_cuda_device(p->context), NULL))
        cudaDeviceSynchronize();
    for (int k = 0; k < LITHO_MIGRATE_MAX_JOBS; k++) {
        mig_gpu_band_clear(p, &p->band[k]);
        litho_cuda_release(p->context, &p->band[k].slow);
    }
    LithoCudaArray *arrays[] = {
        &p->up.planes, &p->down.planes,  &p->scratch,      &p->progress,     &p->image, &p->light,
        &p->coarse,    &p->coarse_light, &p->resampled[0], &p->resampled[1], &p->taps,  &p->growth,
        &p->live,      &p->cells,        &p->listed,       &p->taper,        &p->lines, &p->bins,
        &p->largest,   &p->wavelet,      &p->gathered,     &p->traces,       &p->look,  &p->specs};
    for (guint k = 0; k < G_N_ELEMENTS(arrays); k++)
        litho_cuda_release(p->context, arrays[k]);
    const int ffts[] = {p->fft_forward, p->fft_inverse, p->fft_plane};
    for (guint k = 0; k < G_N_ELEMENTS(ffts); k++)
        if (ffts[k])
            cufftDestroy(ffts[k]);
    mig_gpu_preview_drop(p);
    litho_cuda_context_free(p->context);
    g_free(p);
}

static gboolean card_limits(MigGpu *p, GError **error)
{
    int device, shared = 0;
    if (!LITHO_CUDA(cudaGetDevice(&device), error) ||
        !LITHO_CUDA(
            cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
            error) ||
        !LITHO_CUDA(cudaDeviceGetAttribute(&p->processors, cudaDevAttrMultiProcessorCount, device),
                    error) ||
        !LITHO_CUDA(mig_gpu_fused_prepare(shared), error))
        return FALSE;
    p->shared = shared;
    p->ordinal = device;
    return TRUE;
}

static MigEngine *gpu_open(const LithoGrid *in, int device, GError **error)
{
    LithoCudaContext *context = litho_cuda_context_new(device, error);
    if (!context)
        return NULL;
    MigGpu *card = g_new0(MigGpu, 1);
    card->engine.class = &mig_gpu;
    card->in = *in;
    card->context = context;
    if (card_limits(card, error))
        return &card->engine;
    gpu_free(&card->engine);
    return NULL;
}

static gboolean gpu_attach(MigEngine *engine, gboolean fresh, GError **error)
{
    LithoCudaContext *context = mig_gpu_of(engine)->context;
    return fresh ? litho_cuda_enter(context, error)
                 : litho_cuda_use(litho_cuda_device(context), error);
}

static gboolean gpu_finish(MigEngine *engine, LithoRun *run, GError **error)
{
    return litho_cuda_finish(mig_gpu_of(engine)->context, run, error);
}

static void gpu_drain(MigEngine *engine)
{
    if (litho_cuda_use(litho_cuda_device(mig_gpu_of(engine)->context), NULL))
        cudaDeviceSynchronize();
}

// Direct copies where the machine has them; without, CUDA goes through the host.
static void gpu_link(MigEngine *home, MigEngine *other)
{
    int can = 0;
    const int ordinal = mig_gpu_of(other)->ordinal;
    if (litho_cuda_use(litho_cuda_device(mig_gpu_of(home)->context), NULL) &&
        cudaDeviceCanAccessPeer(&can, mig_gpu_of(home)->ordinal, ordinal) == cudaSuccess && can)
        cudaDeviceEnablePeerAccess(ordinal, 0);
    cudaGetLastError(); // enabled already
}

static gboolean gpu_tables(MigEngine *engine, int b, GError **error)
{
    MigGpu *card = mig_gpu_of(engine);
    // The image's own grid takes longest: two thirds of the processors are for its lane.
    card->quota = engine->lanes == 1  ? 1
                  : engine->lane == 0 ? 2.0 / 3
                                      : 1.0 / 3 / (engine->lanes - 1);
    card->band[b].job = engine->job[b];
    return mig_gpu_band_tables(card, &card->band[b], error);
}

static void gpu_forget(MigEngine *engine, int b)
{
    MigGpu *card = mig_gpu_of(engine);
    mig_gpu_band_clear(card, &card->band[b]);
}

static size_t image_cells(const MigGpu *plan)
{
    return litho_migrate_image_cells(plan->engine.job[0]);
}

static int image_depths(const MigGpu *plan)
{
    return litho_migrate_image_depths(plan->engine.job[0]);
}

static gboolean zeroed(MigGpu *plan, LithoCudaArray *array, size_t floats, GError **error)
{
    return litho_cuda_reserve(plan->context, array, MAX(floats, 1) * sizeof(float), error) &&
           LITHO_CUDA(cudaMemsetAsync(array->data, 0, floats * sizeof(float),
                                      litho_cuda_stream(plan->context)),
                      error);
}

// --- sums ---------------------------------------------------------------------------------------

static gboolean gpu_output(MigEngine *engine, LithoCube *out, gint64 samples, gboolean traces,
                           GError **error)
{
    MigGpu *card = mig_gpu_of(engine);
    const size_t bytes = samples * sizeof(float);
    if (out)
        card->out = litho_cuda_output(card->context, out, error);
    else if (traces)
        card->out = litho_cuda_reserve(card->context, &card->traces, bytes, error)
                        ? card->traces.data
                        : NULL;
    if (!card->out)
        return !out && !traces;
    return !traces ||
           LITHO_CUDA(cudaMemsetAsync(card->out, 0, bytes, litho_cuda_stream(card->context)),
                      error);
}

static gboolean gpu_clear(MigEngine *engine, GError **error)
{
    MigGpu *card = mig_gpu_of(engine);
    const size_t n = image_cells(card) * image_depths(card);
    return zeroed(card, &card->image, n, error) &&
           (!engine->has_light || zeroed(card, &card->light, n, error));
}

static float *sum_of(const MigGpu *card, MigSum sum)
{
    return sum == MIG_TRACES ? card->out : sum == MIG_LIGHT ? card->light.data : card->image.data;
}

static gboolean gpu_gather(MigEngine *engine, const MigEngine *other, MigSum sum, gsize n,
                           GError **error)
{
    MigGpu *first = mig_gpu_of(engine);
    const MigGpu *card = (const MigGpu *)other;
    float *to = sum_of(first, sum);
    const float *from = sum_of(card, sum);
    cudaStream_t stream = litho_cuda_stream(first->context);
    const gboolean linked = card->ordinal != first->ordinal;
    litho_cuda_mark(first->context, "gather", linked ? LITHO_STAGE_TRANSFER : LITHO_STAGE_COMPUTE,
                    linked ? (double)n * sizeof(float) : 0, 0);
    if (!linked)
        return LITHO_CUDA(mig_gpu_add(to, from, n, stream), error);
    return litho_cuda_reserve(first->context, &first->gathered, n * sizeof(float), error) &&
           LITHO_CUDA(cudaMemcpyPeerAsync(first->gathered.data, first->ordinal, from, card->ordinal,
                                          n * sizeof(float), stream),
                      error) &&
           LITHO_CUDA(mig_gpu_add(to, first->gathered.data, n, stream), error);
}

// Other processes are reached through the host.
static gboolean gpu_unite(MigEngine *engine, MigSum sum, gsize n, LithoRun *run, GError **error)
{
    const MigGpu *card = mig_gpu_of(engine);
    const double start = litho_now_ms();
    cudaStream_t stream = litho_cuda_stream(card->context);
    float *x = sum_of(card, sum);
    const size_t bytes = n * sizeof *x;
    g_autofree float *host = litho_memory_new(n, sizeof *host, "sums of other processes", error);
    const gboolean ok =
        host && LITHO_CUDA(cudaMemcpyAsync(host, x, bytes, cudaMemcpyDeviceToHost, stream), error) &&
        LITHO_CUDA(cudaStreamSynchronize(stream), error) &&
        litho_run_sum_floats(run, host, n, error) &&
        LITHO_CUDA(cudaMemcpyAsync(x, host, bytes, cudaMemcpyHostToDevice, stream), error) &&
        LITHO_CUDA(cudaStreamSynchronize(stream), error);
    litho_run_time(run, "exchange", LITHO_STAGE_TRANSFER, litho_now_ms() - start, bytes, 0);
    return ok;
}

// Planes first .. first + n - 1 to traces of n samples at `out`.
static gboolean planes_to_traces(MigGpu *card, int first, int n, float scale, gboolean divide,
                                 double stabilise, float *out, GError **error)
{
    const size_t cells = image_cells(card), at = cells * first;
    cudaStream_t stream = litho_cuda_stream(card->context);
    const float *light = divide ? (const float *)card->light.data + at : NULL;
    if (divide &&
        (!litho_cuda_reserve(card->context, &card->largest, n * sizeof(float), error) ||
         !LITHO_CUDA(mig_gpu_plane_max(light, cells, n, card->largest.data, stream), error)))
        return FALSE;
    return LITHO_CUDA(mig_gpu_planes_to_traces((const float *)card->image.data + at, light,
                                               card->largest.data, (float)stabilise, scale, cells,
                                               n, out, stream),
                      error);
}

// A texture is filled from it without the host (kernels/cuda/gl.c).
static LithoCube *gpu_part(MigEngine *engine, const LithoCube *like, int first, int n, float scale,
                           gboolean divide, double stabilise, LithoRun *run, GError **error)
{
    (void)run;
    MigGpu *card = mig_gpu_of(engine);
    LithoBox box = litho_box_full(&like->grid);
    box.lo[2] = first;
    box.hi[2] = first + n;
    LithoBuffer *buffer =
        litho_cuda_buffer_alloc(litho_cuda_device(card->context), litho_box_count(box), error);
    LithoCube *part = buffer ? litho_cube_new_device(&like->grid, box, buffer, error) : NULL;
    if (!part) {
        if (buffer)
            litho_cuda_buffer_free(buffer);
        return NULL;
    }
    g_strlcpy(part->name, like->name, sizeof part->name);
    float *to = litho_cuda_output(card->context, part, error);
    if (to && planes_to_traces(card, first, n, scale, divide, stabilise, to, error) &&
        LITHO_CUDA(cudaStreamSynchronize(litho_cuda_stream(card->context)), error))
        return part;
    litho_cube_unref(part);
    return NULL;
}

static gboolean gpu_image(MigEngine *engine, gboolean divide, double stabilise, LithoCube *out,
                          LithoRun *run, GError **error)
{
    (void)out;
    (void)run;
    MigGpu *card = mig_gpu_of(engine);
    const size_t cells = image_cells(card);
    const int nz = image_depths(card);
    litho_cuda_mark(card->context, "image", LITHO_STAGE_COMPUTE, 8.0 * cells * nz, 0);
    return planes_to_traces(card, 0, nz, 1, divide, stabilise, card->out, error);
}

// --- record and source --------------------------------------------------------------------------

static gboolean gpu_keep_record(MigEngine *engine, int b, const LithoCube *in, LithoRun *run,
                                GError **error)
{
    MigGpu *plan = mig_gpu_of(engine);
    MigGpuBand *band = &plan->band[b];
    const size_t bytes = band->plane.size * MAX(band->job->nf, 1) * sizeof(float);
    return litho_cuda_reserve(plan->context, &band->spectrum, bytes, error) &&
           mig_gpu_spectrum_forward(plan, band, in, NULL, band->spectrum.data, run, error);
}

static gboolean gpu_take_record(MigEngine *engine, int b, GError **error)
{
    MigGpu *plan = mig_gpu_of(engine);
    const MigGpuBand *band = &plan->band[b];
    const size_t bytes = band->plane.size * band->job->nf * sizeof(float);
    return mig_gpu_waves_reserve(plan, band, &plan->up, error) &&
           LITHO_CUDA(cudaMemcpyAsync(plan->up.planes.data, band->spectrum.data, bytes,
                                      cudaMemcpyDeviceToDevice, litho_cuda_stream(plan->context)),
                      error);
}

static gboolean place_source(MigGpu *plan, const MigGpuBand *band, const LithoShot *shot,
                             GError **error)
{
    const LithoMigrateJob *job = band->job;
    LithoSourceSpread x, y;
    litho_shot_spread(job, shot, &x, &y);
    MigGpuSource source = {(y.first + job->pad_y) * band->plane.pitch + x.first + job->pad_x, x.n,
                           y.n};
    memcpy(source.x, x.weight, sizeof x.weight);
    memcpy(source.y, y.weight, sizeof y.weight);
    g_autofree float *wavelet = g_new(float, 2 * MAX(job->nf, 1));
    litho_shots_wavelet(job, wavelet);
    return mig_gpu_upload(plan, &plan->wavelet, wavelet, 2 * job->nf * sizeof(float), error) &&
           (job->nf == 0 || LITHO_CUDA(mig_gpu_source(plan->down.planes.data, band->plane, &source,
                                                      plan->wavelet.data, job->nf,
                                                      litho_cuda_stream(plan->context)),
                                       error));
}

static gboolean gpu_take_shot(MigEngine *engine, int b, const LithoCube *in,
                              const LithoShotTraces *traces, const LithoShot *shot, LithoRun *run,
                              GError **error)
{
    MigGpu *plan = mig_gpu_of(engine);
    MigGpuBand *band = &plan->band[b];
    return mig_gpu_waves_reserve(plan, band, &plan->up, error) &&
           mig_gpu_waves_reserve(plan, band, &plan->down, error) &&
           mig_gpu_spectrum_forward(plan, band, in, traces, plan->up.planes.data, run, error) &&
           place_source(plan, band, shot, error);
}

// --- down and up --------------------------------------------------------------------------------

static gboolean gpu_down(MigEngine *engine, int b, gboolean shot, MigSlab slab, gpointer data,
                         LithoRun *run, GError **error)
{
    MigGpu *plan = mig_gpu_of(engine);
    MigGpuBand *band = &plan->band[b];
    const LithoMigrateJob *job = band->job;
    // Cards and processes may outnumber a grid's frequencies: this one adds nothing to the sums
    // then.
    if (job->nf == 0)
        return job->ratio > 1 || !slab || slab(0, job->nz, data, error);
    litho_cuda_mark(plan->context, "extrapolate", LITHO_STAGE_COMPUTE, 0,
                    litho_migrate_sweep_flops(job, shot ? 2 : 1));
    if (job->ratio == 1)
        return mig_gpu_sweep_down(plan, band, shot, plan->image.data, plan->light.data, slab, data,
                                  run, error);
    const size_t n = (size_t)job->nz * job->data_ny * job->data_nx;
    return zeroed(plan, &plan->coarse, n, error) &&
           (!shot || zeroed(plan, &plan->coarse_light, n, error)) &&
           mig_gpu_sweep_down(plan, band, shot, plan->coarse.data, plan->coarse_light.data, NULL,
                              NULL, run, error) &&
           mig_gpu_coarse_add(plan, band, plan->coarse.data, plan->image.data, error) &&
           (!shot ||
            mig_gpu_coarse_add(plan, band, plan->coarse_light.data, plan->light.data, error));
}

static gboolean gpu_take_image(MigEngine *engine, const LithoCube *in, LithoRun *run,
                               GError **error)
{
    MigGpu *plan = mig_gpu_of(engine);
    const size_t cells = image_cells(plan);
    cudaStream_t stream = litho_cuda_stream(plan->context);
    const float *samples = litho_cuda_input(plan->context, in, run, error);
    return samples && mig_gpu_upload(plan, &plan->live, in->live, cells, error) &&
           zeroed(plan, &plan->image, cells * image_depths(plan), error) &&
           LITHO_CUDA(mig_gpu_traces_to_planes(samples, plan->live.data, cells, image_depths(plan),
                                               plan->image.data, stream),
                      error);
}

static gboolean gpu_up(MigEngine *engine, int b, LithoRun *run, GError **error)
{
    MigGpu *plan = mig_gpu_of(engine);
    MigGpuBand *band = &plan->band[b];
    const LithoMigrateJob *job = band->job;
    const float *image = plan->image.data;
    if (job->nf == 0)
        return TRUE;
    litho_cuda_mark(plan->context, "extrapolate", LITHO_STAGE_COMPUTE, 0,
                    litho_migrate_sweep_flops(job, 1));
    if (job->ratio > 1) {
        if (!zeroed(plan, &plan->coarse, (size_t)job->nz * job->data_ny * job->data_nx, error) ||
            !mig_gpu_coarse_adjoint(plan, band, image, plan->coarse.data, error))
            return FALSE;
        image = plan->coarse.data;
    }
    return mig_gpu_waves_reserve(plan, band, &plan->up, error) &&
           mig_gpu_sweep_up(plan, band, image, run, error) &&
           mig_gpu_spectrum_adjoint(plan, band, mig_gpu_wave(band, &plan->up, plan->up.now, 0),
                                    plan->out, run, error);
}

const MigEngineClass mig_gpu = {
    .devices = devices,
    .open = gpu_open,
    .free = gpu_free,
    .attach = gpu_attach,
    .finish = gpu_finish,
    .drain = gpu_drain,
    .lanes = mig_gpu_lanes,
    .rounds = mig_gpu_rounds,
    .link = gpu_link,
    .design = mig_gpu_design_polys,
    .tables = gpu_tables,
    .forget = gpu_forget,
    .output = gpu_output,
    .clear = gpu_clear,
    .keep_record = gpu_keep_record,
    .take_record = gpu_take_record,
    .take_shot = gpu_take_shot,
    .down = gpu_down,
    .preview = mig_gpu_preview,
    .preview_flops = 1e11, // some milliseconds
    .take_image = gpu_take_image,
    .up = gpu_up,
    .part = gpu_part,
    .gather = gpu_gather,
    .unite = gpu_unite,
    .image = gpu_image,
};

// --- the operator's backend ---------------------------------------------------------------------

static gpointer plan(const LithoGrid *in, const void *params, LithoResolved *known, LithoRun *run,
                     GError **error)
{
    (void)params;
    (void)known; // a pass brings it
    return mig_plan_new(&mig_gpu, in, run, error);
}

const LithoImpl litho_cuda_migrate = {.plan = plan,
                                      .exec = mig_plan_exec,
                                      .destroy = mig_plan_free,
                                      .memory = mig_gpu_bytes,
                                      .rivals = mig_gpu_rivals};
