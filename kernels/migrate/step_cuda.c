// SPDX-License-Identifier: GPL-3.0-or-later
//
// Some waves through a step, by each of the kernels.
#include <cufft.h>
#include <math.h>

#include "kernels/migrate/plan_cuda.h"

// --- one step of some waves -------------------------------------------------------------------

static float *scratch_at(const LithoGpuTask *t, int k)
{
    return t->scratch + t->band->plane.size * t->batch * k;
}

static const LithoGpuStep *steps_at(const LithoGpuTask *t)
{
    const LithoGpuBand *band = t->band;
    return (const LithoGpuStep *)band->steps.data + (size_t)t->s * band->job->nf + t->f;
}

static const float *slow_at(const LithoGpuTask *t)
{
    const LithoGpuBand *band = t->band;
    return band->slow.data && band->job->slowness
               ? (const float *)band->slow.data + (size_t)t->s * band->plane.ny * band->plane.pitch
               : NULL;
}

// out = sum_n a_n T_n p for one target, in passes of several degrees.
static gboolean fused_target(const LithoGpuTask *t, int target, gboolean conjugate, const float *p, float *out,
                             GError **error)
{
    const LithoGpuBand *band = t->band;
    const LithoMigrateJob *job = band->job;
    const int degree = litho_migrate_target_degree(job, target), total = degree + 1;
    const int passes = (total + band->degrees_a_pass - 1) / band->degrees_a_pass;
    const float slow = (float)job->slow_min[t->s];
    LithoGpuFused a = {.plane = band->plane, .p = p, .slow2 = slow_at(t), .slow2_value = slow * slow,
                       .steps = steps_at(t), .coef = band->coef.data, .targets = job->step,
                       .target = target, .conjugate = conjugate, .quads = band->quads,
                       .strip = band->strip, .halo = 4 * band->degrees_a_pass, .n_waves = t->n};
    for (int pass = 0, done = 0; pass < passes; pass++) {
        const gboolean last = pass == passes - 1;
        a.degrees = (total - done + passes - pass - 1) / (passes - pass);
        a.top = degree - done;
        a.out1 = last ? out : scratch_at(t, 2 * (pass & 1));
        a.out2 = last ? NULL : scratch_at(t, 2 * (pass & 1) + 1);
        if (!LITHO_CUDA(litho_gpu_fused(&a, t->stream), error))
            return FALSE;
        a.b1 = a.out1;
        a.b2 = a.out2;
        done += a.degrees;
    }
    return TRUE;
}

static LithoGpuDegree degree_args(const LithoGpuTask *t)
{
    const LithoGpuBand *band = t->band;
    const LithoMigrateJob *job = band->job;
    return (LithoGpuDegree){.plane = band->plane, .slowness = slow_at(t),
                            .slow_value = (float)job->slow_min[t->s], .steps = steps_at(t),
                            .coef = band->coef.data, .table = job->table[0] ? band->table.data : NULL,
                            .n_table = job->n_table, .n_coefs = job->params.degree + 1,
                            .table_scale = job->table[0] ? (float *)band->table_scale.data + t->f
                                                         : NULL,
                            .table_offset = (float)(job->table_first / job->table_step),
                            .targets = job->step, .degree = job->params.degree, .n_waves = t->n};
}

// The published loop: T_n after T_n-1, every target's sum on the way. Uses up the waves `p`.
static gboolean degrees_forward(const LithoGpuTask *t, float *p, float *const *out, GError **error)
{
    LithoGpuDegree a = degree_args(t);
    float *odd = scratch_at(t, 0);
    for (int m = 0; m < a.targets; m++)
        a.sum[m] = out[m];
    for (a.n = 1; a.n <= a.degree; a.n++) {
        a.now = a.n & 1 ? p : odd;
        a.other = a.n & 1 ? odd : p;
        if (!LITHO_CUDA(litho_gpu_degree(&a, t->stream), error))
            return FALSE;
    }
    return TRUE;
}

static gboolean degrees_adjoint(const LithoGpuTask *t, float *const *in, float *out, GError **error)
{
    LithoGpuDegree a = degree_args(t);
    a.adjoint = 1;
    for (int m = 0; m < a.targets; m++)
        a.in[m] = in[m];
    for (a.n = a.degree; a.n >= 0; a.n--) {
        a.now = a.n == a.degree ? NULL : scratch_at(t, ~a.n & 1);
        a.other = scratch_at(t, a.n & 1);
        if (!LITHO_CUDA(litho_gpu_degree(&a, t->stream), error))
            return FALSE;
    }
    return LITHO_CUDA(cudaMemcpyAsync(out, scratch_at(t, 0),
                                      t->band->plane.size * t->n * sizeof(float),
                                      cudaMemcpyDeviceToDevice, t->stream), error);
}

static gboolean fused_adjoint(const LithoGpuTask *t, float *const *in, float *out, GError **error)
{
    const LithoGpuBand *band = t->band;
    const size_t n = band->plane.size * t->n;
    for (int m = 0; m < band->job->step; m++) {
        float *to = m == 0 ? out : scratch_at(t, 4);
        if (!fused_target(t, m, TRUE, in[m], to, error) ||
            (m > 0 && !LITHO_CUDA(litho_gpu_add(out, to, n, t->stream), error)))
            return FALSE;
    }
    return TRUE;
}

// --- split-step -------------------------------------------------------------------------------

// Waves that are transformed together: as many as stay in a large card's second-level cache between the
// passes over them.
static int transformed(const LithoGpuBand *band)
{
    const int nf = MAX(band->job->nf, 1);
    const int batches = (int)ceil(nf * (band->plane.size * sizeof(float) / 24e6));
    return (nf + batches - 1) / batches;
}

int litho_gpu_room(const LithoGpuBand *band)
{
    const int nf = MAX(band->job->nf, 1), together = transformed(band);
    return band->kernel == LITHO_GPU_SPLITSTEP ? (nf + together - 1) / together * together : nf;
}

LithoGpuPlane litho_gpu_plane_under_way(const LithoGpuBand *band)
{
    LithoGpuPlane plane = band->plane;
    if (band->kernel == LITHO_GPU_SPLITSTEP) {
        plane.step = 2;
        plane.im = 1;
    }
    return plane;
}

static gboolean need_plane_fft(LithoGpuPlan *plan, const LithoGpuBand *band, GError **error)
{
    const LithoGpuPlane *p = &band->plane;
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
                                     p->ny * p->pitch, CUFFT_C2C, waves), error) &&
           LITHO_CUFFT(cufftSetStream(plan->fft_plane, litho_cuda_stream(plan->context)), error);
}

// One plane down (adjoint: up) in place.
static gboolean split_step(const LithoGpuTask *t, float *waves, gboolean adjoint, GError **error)
{
    LithoGpuPlan *plan = t->plan;
    const LithoGpuBand *band = t->band;
    const LithoMigrateJob *job = band->job;
    const LithoGpuPlane plane = litho_gpu_plane_under_way(band);
    const double mean = band->mean[t->s], *omega = band->omega.data;
    const double lens = !job->slowness ? 0 : adjoint ? -job->dz : job->dz;
    const int together = transformed(band);
    for (int f = 0; f < job->nf; f += together) {
        const int n = MIN(together, job->nf - f);
        float *w = waves + plane.size * f;
        cufftComplex *pairs = (cufftComplex *)w;
        if ((adjoint && lens != 0 &&
             !LITHO_CUDA(litho_gpu_lens(plane, w, n, omega + f, lens, slow_at(t), mean, t->stream), error)) ||
            !LITHO_CUFFT(cufftExecC2C(plan->fft_plane, pairs, pairs, CUFFT_FORWARD), error) ||
            !LITHO_CUDA(litho_gpu_phase_shift(plane, w, n, omega + f, mean, job->dz, band->kx2.data,
                                              band->ky2.data, adjoint, t->stream), error) ||
            !LITHO_CUFFT(cufftExecC2C(plan->fft_plane, pairs, pairs, CUFFT_INVERSE), error) ||
            (!adjoint && lens != 0 &&
             !LITHO_CUDA(litho_gpu_lens(plane, w, n, omega + f, lens, slow_at(t), mean, t->stream), error)))
            return FALSE;
    }
    return TRUE;
}

gboolean litho_gpu_steps_begin(LithoGpuPlan *plan, const LithoGpuBand *band, LithoGpuWaves *waves, GError **error)
{
    if (band->kernel != LITHO_GPU_SPLITSTEP)
        return TRUE;
    waves->now = 1;
    return need_plane_fft(plan, band, error) &&
           LITHO_CUDA(litho_gpu_relay(band->plane, litho_gpu_wave(band, waves, 0, 0),
                                      litho_gpu_plane_under_way(band), litho_gpu_wave(band, waves, 1, 0),
                                      band->job->nf, litho_cuda_stream(plan->context)), error);
}

gboolean litho_gpu_steps_end(LithoGpuPlan *plan, const LithoGpuBand *band, LithoGpuWaves *waves, GError **error)
{
    if (band->kernel != LITHO_GPU_SPLITSTEP)
        return TRUE;
    waves->now = 0;
    return LITHO_CUDA(litho_gpu_relay(litho_gpu_plane_under_way(band), litho_gpu_wave(band, waves, 1, 0),
                                      band->plane, litho_gpu_wave(band, waves, 0, 0), band->job->nf,
                                      litho_cuda_stream(plan->context)), error);
}

// --- any kernel ---------------------------------------------------------------------------------

float *litho_gpu_wave(const LithoGpuBand *band, const LithoGpuWaves *waves, int index, int f)
{
    return (float *)waves->plane[index].data + band->plane.size * f;
}

int litho_gpu_plane_after(const LithoGpuBand *band, int now, int m)
{
    return band->kernel == LITHO_GPU_SPLITSTEP ? now : (now + 1 + m) % band->planes;
}

int litho_gpu_scratch_planes(const LithoGpuBand *band)
{
    return band->kernel == LITHO_GPU_SPLITSTEP ? 0 : 5;
}

gboolean litho_gpu_step_down(const LithoGpuTask *t, const LithoGpuWaves *waves, int now, GError **error)
{
    const LithoGpuBand *band = t->band;
    const int targets = band->job->step;
    float *out[LITHO_MIGRATE_MAX_STEP], *p = litho_gpu_wave(band, waves, now, t->f);
    if (band->kernel == LITHO_GPU_SPLITSTEP)
        return split_step(t, p, FALSE, error);
    for (int m = 0; m < targets; m++)
        out[m] = litho_gpu_wave(band, waves, litho_gpu_plane_after(band, now, m), t->f);
    if (band->kernel == LITHO_GPU_PER_DEGREE)
        return degrees_forward(t, p, out, error);
    for (int m = 0; m < targets; m++)
        if (!fused_target(t, m, FALSE, p, out[m], error))
            return FALSE;
    return TRUE;
}

gboolean litho_gpu_step_up(const LithoGpuTask *t, const LithoGpuWaves *up, int now, GError **error)
{
    const LithoGpuBand *band = t->band;
    const int targets = band->job->step;
    float *in[LITHO_MIGRATE_MAX_STEP], *p = litho_gpu_wave(band, up, now, t->f);
    if (band->kernel == LITHO_GPU_SPLITSTEP)
        return split_step(t, p, TRUE, error);
    for (int m = 0; m + 1 < targets; m++)
        in[m] = litho_gpu_wave(band, up, litho_gpu_plane_after(band, now, m), t->f);
    in[targets - 1] = p;
    float *out = litho_gpu_wave(band, up, litho_gpu_plane_after(band, now, targets - 1), t->f);
    return band->kernel == LITHO_GPU_FUSED ? fused_adjoint(t, in, out, error)
                                           : degrees_adjoint(t, in, out, error);
}
