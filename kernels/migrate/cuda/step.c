// SPDX-License-Identifier: GPL-3.0-or-later
//
// Waves through steps, by each of the kernels.
#include <cufft.h>
#include <math.h>

#include "kernels/migrate/cuda/engine.h"

// --- several degrees on chip --------------------------------------------------------------------

static const MigGpuStep *steps_at(const MigGpuBand *band, int s, int f)
{
    return (const MigGpuStep *)band->steps.data + (size_t)s * band->job->nf + f;
}

static const float *slow_at(const MigGpuBand *band, int s)
{
    return band->slow.data && band->job->slowness
               ? (const float *)band->slow.data + (size_t)s * band->plane.ny * band->plane.pitch
               : NULL;
}

// Array k of the scratch of `count` waves each.
static float *scratch_at(const MigGpu *plan, const MigGpuBand *band, int count, int k)
{
    return (float *)plan->scratch.data + band->plane.size * count * k;
}

// Arguments that every launch from step s on shares.
static MigGpuFused fused_args(MigGpu *plan, const MigGpuBand *band, int n_sets, int s, int n_steps)
{
    const LithoMigrateJob *job = band->job;
    MigGpuFused a = {.plane = band->plane,
                     .n_sets = n_sets,
                     .n_waves = job->nf,
                     .n_steps = n_steps,
                     .slow2 = slow_at(band, s),
                     .steps = steps_at(band, s, 0),
                     .steps_stride = job->nf,
                     .coef = band->coef.data,
                     .all_targets = job->step,
                     .targets = {0, job->step},
                     .progress = plan->progress.data,
                     .degrees = band->degrees_a_pass,
                     .quads = band->quads,
                     .strip = band->strip,
                     .strips = band->strips,
                     .halo = 4 * band->degrees_a_pass};
    for (int k = 0; k < n_steps; k++)
        a.slow2_value[k] = (float)(job->slow_min[s + k] * job->slow_min[s + k]);
    for (int m = 0; m < job->step; m++)
        a.degree[m] = litho_migrate_target_degree(job, m);
    for (int k = 0; k < 4; k++)
        a.between[k / 2][k % 2] = scratch_at(plan, band, n_sets * job->nf, k);
    return a;
}

static gboolean fused_down(MigGpu *plan, const MigGpuBand *band, MigGpuWaves *const *sets,
                           int n_sets, int now, int s, int n_steps, GError **error)
{
    MigGpuFused a = fused_args(plan, band, n_sets, s, n_steps);
    for (int k = 0; k < n_sets; k++) {
        a.wave[k][0] = mig_gpu_wave(band, sets[k], now, 0);
        for (int m = 0; m < n_steps * band->job->step; m++)
            a.wave[k][m + 1] = mig_gpu_wave(band, sets[k], mig_gpu_plane_after(band, now, m), 0);
    }
    a.sponge_x = band->sponge_x.data;
    a.sponge_y = band->sponge_y.data;
    return LITHO_CUDA(mig_gpu_fused(&a, plan->processors, litho_cuda_stream(plan->context)), error);
}

// out = sum over targets m of the adjoint of its polynomial applied to in[m].
static gboolean fused_adjoint(MigGpu *plan, const MigGpuBand *band, float *const *in, float *out,
                              int s, GError **error)
{
    const LithoMigrateJob *job = band->job;
    cudaStream_t stream = litho_cuda_stream(plan->context);
    MigGpuFused a = fused_args(plan, band, 1, s, 1);
    a.conjugate = 1;
    for (int m = 0; m < job->step; m++) {
        a.targets[0] = m;
        a.targets[1] = m + 1;
        a.wave[0][0] = in[m];
        a.wave[0][1] = m == 0 ? out : scratch_at(plan, band, job->nf, 4);
        if (!LITHO_CUDA(mig_gpu_fused(&a, plan->processors, stream), error) ||
            (m > 0 &&
             !LITHO_CUDA(mig_gpu_add(out, a.wave[0][1], band->plane.size * job->nf, stream),
                         error)))
            return FALSE;
    }
    return TRUE;
}

// One polynomial of LITHO_MIGRATE_STOP_DEGREE from plane `now` to plane `to`, no sponge.
static gboolean fused_stop(MigGpu *plan, const MigGpuBand *band, MigGpuWaves *const *sets,
                           int n_sets, int now, int to, int s, GError **error)
{
    MigGpuFused a = fused_args(plan, band, n_sets, s, 1);
    a.coef = band->stop.data;
    a.all_targets = a.targets[1] = 1;
    a.degree[0] = LITHO_MIGRATE_STOP_DEGREE;
    for (int k = 0; k < n_sets; k++) {
        a.wave[k][0] = mig_gpu_wave(band, sets[k], now, 0);
        a.wave[k][1] = mig_gpu_wave(band, sets[k], to, 0);
    }
    return LITHO_CUDA(mig_gpu_fused(&a, plan->processors, litho_cuda_stream(plan->context)), error);
}

// --- one launch a degree ------------------------------------------------------------------------

// Frequencies f .. f + n - 1 in step s.
typedef struct Task {
    MigGpu *plan;
    const MigGpuBand *band;
    int s, f, n;
} Task;

// Frequencies that go through the degrees together.
static int batch_of(const MigGpu *plan, const MigGpuBand *band)
{
    return CLAMP(plan->processors, 1, MAX(band->job->nf, 1));
}

static MigGpuDegree degree_args(const Task *t)
{
    const MigGpuBand *band = t->band;
    const LithoMigrateJob *job = band->job;
    return (MigGpuDegree){.plane = band->plane,
                          .slowness = slow_at(band, t->s),
                          .slow_value = (float)job->slow_min[t->s],
                          .steps = steps_at(band, t->s, t->f),
                          .coef = band->coef.data,
                          .table = job->table[0] ? band->table.data : NULL,
                          .n_table = job->n_table,
                          .n_coefs = job->params.degree + 1,
                          .table_scale =
                              job->table[0] ? (float *)band->table_scale.data + t->f : NULL,
                          .table_offset = (float)(job->table_first / job->table_step),
                          .targets = job->step,
                          .degree = job->params.degree,
                          .n_waves = t->n};
}

// The published loop: T_n after T_n-1, every target's sum on the way. Uses up the waves `p`.
static gboolean degree_after_degree(const MigGpu *plan, MigGpuDegree *a, float *p, GError **error)
{
    float *odd = plan->scratch.data;
    for (a->n = 1; a->n <= a->degree; a->n++) {
        a->now = a->n & 1 ? p : odd;
        a->other = a->n & 1 ? odd : p;
        if (!LITHO_CUDA(mig_gpu_degree(a, litho_cuda_stream(plan->context)), error))
            return FALSE;
    }
    return TRUE;
}

static gboolean degrees_forward(const Task *t, float *p, float *const *out, GError **error)
{
    MigGpuDegree a = degree_args(t);
    for (int m = 0; m < a.targets; m++)
        a.sum[m] = out[m];
    return degree_after_degree(t->plan, &a, p, error);
}

static gboolean degrees_adjoint(const Task *t, float *const *in, float *out, GError **error)
{
    MigGpuDegree a = degree_args(t);
    cudaStream_t stream = litho_cuda_stream(t->plan->context);
    const int batch = batch_of(t->plan, t->band);
    a.adjoint = 1;
    for (int m = 0; m < a.targets; m++)
        a.in[m] = in[m];
    for (a.n = a.degree; a.n >= 0; a.n--) {
        a.now = a.n == a.degree ? NULL : scratch_at(t->plan, t->band, batch, ~a.n & 1);
        a.other = scratch_at(t->plan, t->band, batch, a.n & 1);
        if (!LITHO_CUDA(mig_gpu_degree(&a, stream), error))
            return FALSE;
    }
    return LITHO_CUDA(cudaMemcpyAsync(out, scratch_at(t->plan, t->band, batch, 0),
                                      t->band->plane.size * t->n * sizeof(float),
                                      cudaMemcpyDeviceToDevice, stream),
                      error);
}

// --- split-step -------------------------------------------------------------------------------

// Waves that are transformed together: as many as stay in a large card's second-level cache between
// the passes over them.
static int transformed(const MigGpuBand *band)
{
    const int nf = MAX(band->job->nf, 1);
    const int batches = (int)ceil(nf * (band->plane.size * sizeof(float) / 24e6));
    return (nf + batches - 1) / batches;
}

int mig_gpu_room(const MigGpuBand *band)
{
    const int nf = MAX(band->job->nf, 1), together = transformed(band);
    return band->kernel == MIG_GPU_SPLITSTEP ? (nf + together - 1) / together * together : nf;
}

MigGpuPlane mig_gpu_plane_under_way(const MigGpuBand *band)
{
    MigGpuPlane plane = band->plane;
    if (band->kernel == MIG_GPU_SPLITSTEP) {
        plane.step = 2;
        plane.im = 1;
    }
    return plane;
}

static gboolean need_plane_fft(MigGpu *plan, const MigGpuBand *band, GError **error)
{
    const MigGpuPlane *p = &band->plane;
    const int waves = transformed(band);
    if (plan->fft_plane && plan->fft_plane_nx == p->nx && plan->fft_plane_ny == p->ny &&
        plan->fft_plane_waves == waves)
        return TRUE;
    if (plan->fft_plane)
        cufftDestroy(plan->fft_plane);
    plan->fft_plane = 0;
    int n[2] = {p->ny, p->nx}, rows[2] = {p->ny, p->pitch};
    plan->fft_plane_nx = p->nx;
    plan->fft_plane_ny = p->ny;
    plan->fft_plane_waves = waves;
    return LITHO_CUFFT(cufftPlanMany(&plan->fft_plane, 2, n, rows, 1, p->ny * p->pitch, rows, 1,
                                     p->ny * p->pitch, CUFFT_C2C, waves),
                       error) &&
           LITHO_CUFFT(cufftSetStream(plan->fft_plane, litho_cuda_stream(plan->context)), error);
}

// One plane down (adjoint: up) in place.
static gboolean split_step(MigGpu *plan, const MigGpuBand *band, int s, float *waves,
                           gboolean adjoint, GError **error)
{
    const LithoMigrateJob *job = band->job;
    const MigGpuPlane plane = mig_gpu_plane_under_way(band);
    const double mean = litho_migrate_job_mean(job, s), *omega = band->omega.data;
    const double lens = !job->slowness ? 0 : adjoint ? -job->dz : job->dz;
    const int together = transformed(band);
    cudaStream_t stream = litho_cuda_stream(plan->context);
    for (int f = 0; f < job->nf; f += together) {
        const int n = MIN(together, job->nf - f);
        float *w = waves + plane.size * f;
        cufftComplex *pairs = (cufftComplex *)w;
        if ((adjoint && lens != 0 &&
             !LITHO_CUDA(mig_gpu_lens(plane, w, n, omega + f, lens, slow_at(band, s), mean, stream),
                         error)) ||
            !LITHO_CUFFT(cufftExecC2C(plan->fft_plane, pairs, pairs, CUFFT_FORWARD), error) ||
            !LITHO_CUDA(mig_gpu_phase_shift(plane, w, n, omega + f, mean, job->dz, band->kx2.data,
                                            band->ky2.data, adjoint, stream),
                        error) ||
            !LITHO_CUFFT(cufftExecC2C(plan->fft_plane, pairs, pairs, CUFFT_INVERSE), error) ||
            (!adjoint && lens != 0 &&
             !LITHO_CUDA(mig_gpu_lens(plane, w, n, omega + f, lens, slow_at(band, s), mean, stream),
                         error)))
            return FALSE;
    }
    return TRUE;
}

gboolean mig_gpu_steps_begin(MigGpu *plan, const MigGpuBand *band, MigGpuWaves *const *sets,
                             int n_sets, GError **error)
{
    if (band->kernel != MIG_GPU_SPLITSTEP)
        return TRUE;
    if (!need_plane_fft(plan, band, error))
        return FALSE;
    for (int k = 0; k < n_sets; k++) {
        if (!LITHO_CUDA(mig_gpu_relay(band->plane, mig_gpu_wave(band, sets[k], 0, 0),
                                      mig_gpu_plane_under_way(band),
                                      mig_gpu_wave(band, sets[k], 1, 0), band->job->nf,
                                      litho_cuda_stream(plan->context)),
                        error))
            return FALSE;
        sets[k]->now = 1;
    }
    return TRUE;
}

gboolean mig_gpu_steps_end(MigGpu *plan, const MigGpuBand *band, MigGpuWaves *waves, GError **error)
{
    if (band->kernel != MIG_GPU_SPLITSTEP)
        return TRUE;
    waves->now = 0;
    return LITHO_CUDA(mig_gpu_relay(mig_gpu_plane_under_way(band), mig_gpu_wave(band, waves, 1, 0),
                                    band->plane, mig_gpu_wave(band, waves, 0, 0), band->job->nf,
                                    litho_cuda_stream(plan->context)),
                      error);
}

// --- what is steeper --------------------------------------------------------------------------

static gboolean degrees_stop(MigGpu *plan, const MigGpuBand *band, const MigGpuWaves *waves,
                             int now, int to, int s, GError **error)
{
    const int nf = band->job->nf, batch = batch_of(plan, band);
    for (int f = 0; f < nf; f += batch) {
        const Task t = {plan, band, s, f, MIN(batch, nf - f)};
        MigGpuDegree a = degree_args(&t);
        a.coef = band->stop.data;
        a.targets = 1;
        a.degree = LITHO_MIGRATE_STOP_DEGREE;
        a.sum[0] = mig_gpu_wave(band, waves, to, f);
        if (!degree_after_degree(plan, &a, mig_gpu_wave(band, waves, now, f), error))
            return FALSE;
    }
    return TRUE;
}

gboolean mig_gpu_stop(MigGpu *plan, const MigGpuBand *band, MigGpuWaves *const *sets, int n_sets,
                      int now, int s, GError **error)
{
    const int to = mig_gpu_plane_after(band, now, 0);
    if (band->kernel == MIG_GPU_FUSED)
        return fused_stop(plan, band, sets, n_sets, now, to, s, error);
    for (int k = 0; k < n_sets; k++)
        if (!degrees_stop(plan, band, sets[k], now, to, s, error))
            return FALSE;
    return TRUE;
}

// --- any kernel ---------------------------------------------------------------------------------

float *mig_gpu_wave(const MigGpuBand *band, const MigGpuWaves *waves, int index, int f)
{
    return (float *)waves->planes.data +
           band->plane.size * ((size_t)mig_gpu_room(band) * index + f);
}

int mig_gpu_plane_after(const MigGpuBand *band, int now, int m)
{
    return band->kernel == MIG_GPU_SPLITSTEP ? now : (now + 1 + m) % band->planes;
}

gboolean mig_gpu_scratch_reserve(MigGpu *plan, const MigGpuBand *band, int n_sets, GError **error)
{
    const size_t nf = band->job->nf;
    size_t waves = 1;                  // split-step: none
    if (band->kernel == MIG_GPU_FUSED) // between passes; of the adjoint's targets
        waves = MAX(4 * n_sets, 5) * nf;
    else if (band->kernel == MIG_GPU_PER_DEGREE)
        waves = 2 * batch_of(plan, band);
    return litho_cuda_reserve(plan->context, &plan->progress,
                              (1 + n_sets * nf * band->strips) * sizeof(int), error) &&
           litho_cuda_reserve(plan->context, &plan->scratch,
                              waves * band->plane.size * sizeof(float), error);
}

static gboolean degrees_down(MigGpu *plan, const MigGpuBand *band, const MigGpuWaves *waves,
                             int now, int s, GError **error)
{
    const int nf = band->job->nf, batch = batch_of(plan, band);
    for (int f = 0; f < nf; f += batch) {
        const Task t = {plan, band, s, f, MIN(batch, nf - f)};
        float *out[LITHO_MIGRATE_MAX_STEP];
        for (int m = 0; m < band->job->step; m++)
            out[m] = mig_gpu_wave(band, waves, mig_gpu_plane_after(band, now, m), f);
        if (!degrees_forward(&t, mig_gpu_wave(band, waves, now, f), out, error))
            return FALSE;
    }
    return TRUE;
}

gboolean mig_gpu_steps_down(MigGpu *plan, const MigGpuBand *band, MigGpuWaves *const *sets,
                            int n_sets, int now, int s, int n_steps, GError **error)
{
    if (band->kernel == MIG_GPU_FUSED)
        return fused_down(plan, band, sets, n_sets, now, s, n_steps, error);
    for (int k = 0; k < n_sets; k++)
        if (band->kernel == MIG_GPU_SPLITSTEP
                ? !split_step(plan, band, s, mig_gpu_wave(band, sets[k], now, 0), FALSE, error)
                : !degrees_down(plan, band, sets[k], now, s, error))
            return FALSE;
    return TRUE;
}

gboolean mig_gpu_step_up(MigGpu *plan, const MigGpuBand *band, const MigGpuWaves *up, int now,
                         int s, GError **error)
{
    const int targets = band->job->step, nf = band->job->nf, batch = batch_of(plan, band);
    if (band->kernel == MIG_GPU_SPLITSTEP)
        return split_step(plan, band, s, mig_gpu_wave(band, up, now, 0), TRUE, error);
    for (int f = 0; f < nf; f += batch) {
        float *in[LITHO_MIGRATE_MAX_STEP];
        for (int m = 0; m + 1 < targets; m++)
            in[m] = mig_gpu_wave(band, up, mig_gpu_plane_after(band, now, m), f);
        in[targets - 1] = mig_gpu_wave(band, up, now, f);
        float *out = mig_gpu_wave(band, up, mig_gpu_plane_after(band, now, targets - 1), f);
        if (band->kernel == MIG_GPU_FUSED) // all at once
            return fused_adjoint(plan, band, in, out, s, error);
        const Task t = {plan, band, s, f, MIN(batch, nf - f)};
        if (!degrees_adjoint(&t, in, out, error))
            return FALSE;
    }
    return TRUE;
}
