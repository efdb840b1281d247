// SPDX-License-Identifier: GPL-3.0-or-later
#include <cufft.h>

#include "core/error.h"
#include "kernels/migrate/cuda/engine.h"

// A band on its way down (one or two sets of waves) or up.
typedef struct Sweep {
    MigGpu *plan;
    MigGpuBand *band;
    gboolean shot;
} Sweep;

static size_t data_cells(const LithoMigrateJob *job)
{
    return (size_t)job->data_nx * job->data_ny;
}

gboolean mig_gpu_waves_reserve(MigGpu *plan, const MigGpuBand *band, MigGpuWaves *waves,
                               GError **error)
{
    const size_t bytes = band->planes * band->plane.size * mig_gpu_room(band) * sizeof(float);
    waves->now = 0;
    return litho_cuda_reserve(plan->context, &waves->planes, bytes, error) &&
           LITHO_CUDA(
               cudaMemsetAsync(waves->planes.data, 0, bytes, litho_cuda_stream(plan->context)),
               error);
}

// --- a slab -----------------------------------------------------------------------------------

static MigGpuFrame frame_of(const Sweep *sweep)
{
    const LithoMigrateJob *job = sweep->band->job;
    return (MigGpuFrame){mig_gpu_plane_under_way(sweep->band),
                         job->pad_x,
                         job->pad_y,
                         job->data_nx,
                         job->data_ny,
                         sweep->band->sponge_x.data,
                         sweep->band->sponge_y.data,
                         job->nf};
}

// Sums of one slab: steps s0 .. s1 - 1.
typedef struct Slab {
    int s0, s1;
    float *image, *light; // of all planes
} Slab;

// Product of both waves in plane z.
static gboolean correlate(const Sweep *sweep, int z, int index, float *sum, float *light,
                          int sponge, GError **error)
{
    const LithoMigrateJob *job = sweep->band->job;
    const MigGpuFrame frame = frame_of(sweep);
    cudaStream_t stream = litho_cuda_stream(sweep->plan->context);
    float *up = mig_gpu_wave(sweep->band, &sweep->plan->up, index, 0);
    float *down = mig_gpu_wave(sweep->band, &sweep->plan->down, index, 0);
    int plain = 0; // waves to be protected are the shorter ones
    while (plain < job->nf && !litho_migrate_job_protects(job, MAX(z - 1, 0) / job->step, plain))
        plain++;
    return (!sum || plain == job->nf ||
            LITHO_CUDA(mig_gpu_protect(&frame, up, down, plain, sum, light, sponge, stream),
                       error)) &&
           LITHO_CUDA(mig_gpu_correlate(&frame, up, down, plain, sum, light, sponge, stream),
                      error);
}

static gboolean image_plane(const Sweep *sweep, const Slab *slab, int z, int index, int sponge,
                            GError **error)
{
    const LithoMigrateJob *job = sweep->band->job;
    float *sum = z < job->nz ? slab->image + data_cells(job) * z : NULL;
    if (sweep->shot)
        return correlate(sweep, z, index, sum, sum ? slab->light + data_cells(job) * z : NULL,
                         sponge, error);
    const MigGpuFrame frame = frame_of(sweep);
    return LITHO_CUDA(mig_gpu_image(&frame, mig_gpu_wave(sweep->band, &sweep->plan->up, index, 0),
                                    2.0f / job->nfft, sum, sponge,
                                    litho_cuda_stream(sweep->plan->context)),
                      error);
}

static gboolean watch_growth(const Sweep *sweep, int index, GError **error)
{
    const LithoMigrateJob *job = sweep->band->job;
    if (!job->table[0] || job->params.growth <= 0)
        return TRUE;
    double *energy = sweep->plan->growth.data;
    cudaStream_t stream = litho_cuda_stream(sweep->plan->context);
    return LITHO_CUDA(mig_gpu_energy(&sweep->band->plane,
                                     mig_gpu_wave(sweep->band, &sweep->plan->up, index, 0), job->nf,
                                     energy, stream),
                      error) &&
           LITHO_CUDA(mig_gpu_growth(energy, energy + job->nf, energy + 2 * job->nf,
                                     job->params.growth, job->nf, stream),
                      error);
}

static gboolean stop_steep(const Sweep *sweep, MigGpuWaves *const *sets, int s, GError **error)
{
    MigGpu *plan = sweep->plan;
    const int now = plan->up.now;
    if (!mig_gpu_stop(plan, sweep->band, sets, sweep->shot ? 2 : 1, now, s, error))
        return FALSE;
    plan->up.now = plan->down.now = mig_gpu_plane_after(sweep->band, now, 0);
    return TRUE;
}

// Steps from s on up to the one before which steeper waves are taken away, at most up to `end`.
static int steps_together(const LithoMigrateJob *job, int s, int end)
{
    int n = 1;
    while (s + n < end && !litho_migrate_job_stops(job, s + n))
        n++;
    return n;
}

// The fused kernel takes a slab's steps in one launch and leaves every plane behind the sponge; the
// others take a step at a time, and the imaging applies the sponge.
static gboolean slab_down(const Sweep *sweep, const Slab *slab, GError **error)
{
    MigGpu *plan = sweep->plan;
    const LithoMigrateJob *job = sweep->band->job;
    MigGpuWaves *const sets[] = {&plan->up, &plan->down};
    const gboolean fused = sweep->band->kernel == MIG_GPU_FUSED;
    const int at_end = fused ? MIG_GPU_SPONGE_DONE : MIG_GPU_SPONGE;
    for (int s = slab->s0, steps; s < slab->s1; s += steps) {
        if (litho_migrate_job_stops(job, s) && !stop_steep(sweep, sets, s, error))
            return FALSE;
        const int now = plan->up.now;
        steps = fused ? slab->s1 - s : 1;
        if (!mig_gpu_steps_down(plan, sweep->band, sets, sweep->shot ? 2 : 1, now, s, steps, error))
            return FALSE;
        for (int k = 0; k < steps * job->step; k++)
            if (!image_plane(sweep, slab, s * job->step + k + 1,
                             mig_gpu_plane_after(sweep->band, now, k),
                             k % job->step == job->step - 1 ? at_end : MIG_GPU_NO_SPONGE, error))
                return FALSE;
        plan->up.now = plan->down.now =
            mig_gpu_plane_after(sweep->band, now, steps * job->step - 1);
        if (!watch_growth(sweep, plan->up.now, error))
            return FALSE;
    }
    return TRUE;
}

// The step behind a slab from step s on. Steeper waves are taken away between two launches: slabs
// end there, of even length on the way, for a launch of few steps fills the processors badly.
static int slab_end(const MigGpuBand *band, int s)
{
    const int all = band->job->n_steps, most = band->slab_steps;
    if (s >= all) // the surface alone
        return all;
    const int n = steps_together(band->job, s, all);
    if (n <= most)
        return s + n;
    return s + (n < 2 * most ? (n + 1) / 2 : most);
}

static gboolean begin_growth(const Sweep *sweep, GError **error)
{
    MigGpu *plan = sweep->plan;
    const LithoMigrateJob *job = sweep->band->job;
    if (!job->table[0] || job->params.growth <= 0)
        return TRUE;
    const size_t bytes = job->nf * sizeof(double);
    cudaStream_t stream = litho_cuda_stream(plan->context);
    if (!litho_cuda_reserve(plan->context, &plan->growth, 3 * bytes, error))
        return FALSE;
    double *energy = plan->growth.data;
    return LITHO_CUDA(mig_gpu_energy(&sweep->band->plane,
                                     mig_gpu_wave(sweep->band, &plan->up, 0, 0), job->nf,
                                     energy + job->nf, stream),
                      error) &&
           LITHO_CUDA(cudaMemsetAsync(energy + 2 * job->nf, 0, bytes, stream), error);
}

static gboolean check_growth(const Sweep *sweep, int step, GError **error)
{
    MigGpu *plan = sweep->plan;
    const LithoMigrateJob *job = sweep->band->job;
    if (!job->table[0] || job->params.growth <= 0)
        return TRUE;
    g_autofree double *grown = g_new(double, job->nf);
    cudaStream_t stream = litho_cuda_stream(plan->context);
    if (!LITHO_CUDA(cudaMemcpyAsync(grown, (double *)plan->growth.data + 2 * job->nf,
                                    job->nf * sizeof(double), cudaMemcpyDeviceToHost, stream),
                    error) ||
        !LITHO_CUDA(cudaStreamSynchronize(stream), error))
        return FALSE;
    for (int f = 0; f < job->nf; f++)
        if (grown[f] != 0) {
            litho_migrate_job_grew(job, f, step, grown[f], error);
            return FALSE;
        }
    return TRUE;
}

gboolean mig_gpu_sweep_down(MigGpu *plan, MigGpuBand *band, gboolean shot, float *image,
                            float *light, MigSlab done, gpointer data, LithoRun *run,
                            GError **error)
{
    const LithoMigrateJob *job = band->job;
    const Sweep sweep = {plan, band, shot};
    MigGpuWaves *const sets[] = {&plan->up, &plan->down};
    if (!mig_gpu_scratch_reserve(plan, band, shot ? 2 : 1, error) || !begin_growth(&sweep, error) ||
        !mig_gpu_steps_begin(plan, band, sets, shot ? 2 : 1, error))
        return FALSE;
    litho_run_begin(run, "extrapolate", "steps");
    Slab slab = {.image = image, .light = light};
    if (job->nz > 0 && !image_plane(&sweep, &slab, 0, plan->up.now, MIG_GPU_SPONGE, error))
        return FALSE;
    for (int first = 0; first < job->nz;) {
        slab.s1 = slab_end(band, slab.s0);
        const int n = MIN(slab.s1 * job->step + 1, job->nz) - first;
        if (!slab_down(&sweep, &slab, error) || !check_growth(&sweep, slab.s1, error) ||
            (done && !done(first, n, data, error)) ||
            !litho_cuda_step(plan->context, run, slab.s1, MAX(job->n_steps, 1), error))
            return FALSE;
        first += n;
        slab.s0 = slab.s1;
    }
    return TRUE;
}

// --- upward -----------------------------------------------------------------------------------

static gboolean inject(const Sweep *sweep, const float *image, int z, int index, gboolean sponge,
                       GError **error)
{
    const LithoMigrateJob *job = sweep->band->job;
    const MigGpuFrame frame = frame_of(sweep);
    return LITHO_CUDA(mig_gpu_inject(&frame, mig_gpu_wave(sweep->band, &sweep->plan->up, index, 0),
                                     z < job->nz ? image + data_cells(job) * z : NULL,
                                     1.0f / job->nfft, sponge,
                                     litho_cuda_stream(sweep->plan->context)),
                      error);
}

// Depth planes inside the step, into cleared waves.
static gboolean inject_between(const Sweep *sweep, const float *image, int s, int now,
                               GError **error)
{
    const LithoMigrateJob *job = sweep->band->job;
    const size_t bytes = sweep->band->plane.size * job->nf * sizeof(float);
    for (int m = 0; m + 1 < job->step; m++) {
        const int index = mig_gpu_plane_after(sweep->band, now, m);
        if (!LITHO_CUDA(cudaMemsetAsync(mig_gpu_wave(sweep->band, &sweep->plan->up, index, 0), 0,
                                        bytes, litho_cuda_stream(sweep->plan->context)),
                        error) ||
            !inject(sweep, image, s * job->step + m + 1, index, FALSE, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean step_up(const Sweep *sweep, const float *image, int s, GError **error)
{
    MigGpu *plan = sweep->plan;
    const LithoMigrateJob *job = sweep->band->job;
    const int now = plan->up.now;
    // The sponge of the step below comes with the injection.
    if (!inject(sweep, image, (s + 1) * job->step, now, s < job->n_steps - 1, error) ||
        !inject_between(sweep, image, s, now, error) ||
        !mig_gpu_step_up(plan, sweep->band, &plan->up, now, s, error))
        return FALSE;
    plan->up.now = mig_gpu_plane_after(sweep->band, now, job->step - 1);
    if (!litho_migrate_job_stops(job, s))
        return TRUE;
    MigGpuWaves *const sets[] = {&plan->up};
    return stop_steep(sweep, sets, s, error);
}

gboolean mig_gpu_sweep_up(MigGpu *plan, MigGpuBand *band, const float *image, LithoRun *run,
                          GError **error)
{
    const LithoMigrateJob *job = band->job;
    const Sweep sweep = {plan, band, FALSE};
    MigGpuWaves *const sets[] = {&plan->up};
    if (!mig_gpu_scratch_reserve(plan, band, 1, error) ||
        !mig_gpu_steps_begin(plan, band, sets, 1, error))
        return FALSE;
    litho_run_begin(run, "extrapolate", "steps");
    for (int s = job->n_steps - 1; s >= 0; s--) {
        const int done = job->n_steps - s;
        if (!step_up(&sweep, image, s, error) ||
            ((done % band->slab_steps == 0 || s == 0) &&
             !litho_cuda_step(plan->context, run, done, job->n_steps, error)))
            return FALSE;
    }
    return inject(&sweep, image, 0, plan->up.now, job->n_steps > 0, error) &&
           mig_gpu_steps_end(plan, band, &plan->up, error);
}
