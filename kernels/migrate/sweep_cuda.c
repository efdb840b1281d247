// SPDX-License-Identifier: GPL-3.0-or-later
#include <cufft.h>
#include <math.h>

#include "core/error.h"
#include "kernels/migrate/plan_cuda.h"

enum {
    SLAB_PLANES = 32,       // image planes between two partial results, at most
    BLOCKS_A_LAUNCH = 132,  // fused blocks of one launch: about one a multiprocessor
    SCRATCH_PLANES = 5,     // waves of scratch a wave in flight needs
};

typedef struct Group {
    int index, first, n; // frequencies
    cudaStream_t stream;
} Group;

typedef struct Sweep {
    LithoGpuPlan *plan;
    LithoGpuBand *band;
    gboolean shot;
    Group group[LITHO_GPU_GROUPS];
    int n_groups, batch; // waves a launch takes
    int slab_planes;     // room of the sums
} Sweep;

static size_t data_cells(const LithoMigrateJob *job)
{
    return (size_t)job->data_nx * job->data_ny;
}

gboolean litho_gpu_waves_reserve(LithoGpuPlan *plan, const LithoGpuBand *band, LithoGpuWaves *waves,
                                 GError **error)
{
    const LithoMigrateJob *job = band->job;
    const size_t bytes = band->plane.size * MAX(job->nf, 1) * sizeof(float);
    // The split-step engine works in place.
    const int n = job->params.engine == LITHO_MIGRATE_SPLITSTEP ? 1 : job->step + 1;
    for (int k = 0; k < n; k++)
        if (!litho_cuda_reserve(plan->context, &waves->plane[k], bytes, error) ||
            !LITHO_CUDA(cudaMemsetAsync(waves->plane[k].data, 0, bytes,
                                        litho_cuda_stream(plan->context)), error))
            return FALSE;
    waves->now = 0;
    return TRUE;
}

static gboolean sweep_init(Sweep *sweep, LithoGpuPlan *plan, LithoGpuBand *band, gboolean shot,
                           GError **error)
{
    const LithoMigrateJob *job = band->job;
    *sweep = (Sweep){.plan = plan, .band = band, .shot = shot};
    const gboolean split = job->params.engine == LITHO_MIGRATE_SPLITSTEP;
    sweep->n_groups = split || job->nf < 2 * LITHO_GPU_GROUPS ? 1 : LITHO_GPU_GROUPS;
    for (int g = 0; g < sweep->n_groups; g++) {
        int first = (int)((gint64)job->nf * g / sweep->n_groups);
        int next = (int)((gint64)job->nf * (g + 1) / sweep->n_groups);
        sweep->group[g] = (Group){g, first, next - first,
                                  sweep->n_groups == 1 ? litho_cuda_stream(plan->context)
                                                       : plan->stream[g]};
    }
    int strips = band->fused ? (job->cells.nx + band->strip - 1) / band->strip : 1;
    sweep->batch = CLAMP(BLOCKS_A_LAUNCH / strips, 1, MAX(sweep->group[sweep->n_groups - 1].n, 1));
    // About 12 ms of work a slab: what a cancel may have to wait for twice.
    double updates = (double)job->cells.nx * job->cells.ny * job->nf * (job->params.degree + 1) *
                     job->step * (shot ? 2 : 1);
    int steps = (int)CLAMP(3e9 / fmax(updates, 1), 1, fmax(SLAB_PLANES / job->step, 1));
    sweep->slab_planes = steps * job->step;
    const size_t part = (sweep->slab_planes + 1) * data_cells(job) * sweep->n_groups * sizeof(float);
    const size_t scratch = split ? 16
                                 : SCRATCH_PLANES * band->plane.size * sweep->batch *
                                       sweep->n_groups * sizeof(float);
    return litho_cuda_reserve(plan->context, &plan->scratch, scratch, error) &&
           litho_cuda_reserve(plan->context, &plan->part, part, error) &&
           (!shot || litho_cuda_reserve(plan->context, &plan->light_part, part, error));
}

// --- one step of some waves -------------------------------------------------------------------

// n waves from frequency f on, of one set, in one step.
typedef struct Task {
    const Sweep *sweep;
    cudaStream_t stream;
    int s, f, n;
    float *scratch; // SCRATCH_PLANES * batch waves
} Task;

static float *scratch_at(const Task *t, int k)
{
    return t->scratch + t->sweep->band->plane.size * t->sweep->batch * k;
}

static const LithoGpuStep *steps_at(const Task *t)
{
    const LithoGpuBand *band = t->sweep->band;
    return (const LithoGpuStep *)band->steps.data + (size_t)t->s * band->job->nf + t->f;
}

static const float *slow_at(const Task *t)
{
    const LithoGpuBand *band = t->sweep->band;
    return band->slow.data && band->job->slowness
               ? (const float *)band->slow.data + (size_t)t->s * band->plane.ny * band->plane.pitch
               : NULL;
}

// out = sum_n a_n T_n p for one target, in passes of several degrees.
static gboolean fused_target(const Task *t, int target, gboolean conjugate, const float *p, float *out,
                             GError **error)
{
    const LithoGpuBand *band = t->sweep->band;
    const LithoMigrateJob *job = band->job;
    const int total = job->params.degree + 1;
    const int passes = (total + band->degrees_a_pass - 1) / band->degrees_a_pass;
    const float slow = (float)job->slow_min[t->s];
    LithoGpuFused a = {.plane = band->plane, .p = p, .slow2 = slow_at(t), .slow2_value = slow * slow,
                       .steps = steps_at(t), .coef = band->coef.data, .targets = job->step,
                       .target = target, .conjugate = conjugate, .quads = band->quads,
                       .strip = band->strip, .halo = 4 * band->degrees_a_pass, .n_waves = t->n};
    for (int pass = 0, done = 0; pass < passes; pass++) {
        const gboolean last = pass == passes - 1;
        a.degrees = (total - done + passes - pass - 1) / (passes - pass);
        a.top = job->params.degree - done;
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

static LithoGpuDegree degree_args(const Task *t)
{
    const LithoGpuBand *band = t->sweep->band;
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
static gboolean degrees_forward(const Task *t, float *p, float *const *out, GError **error)
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

static gboolean degrees_adjoint(const Task *t, float *const *in, float *out, GError **error)
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
                                      t->sweep->band->plane.size * t->n * sizeof(float),
                                      cudaMemcpyDeviceToDevice, t->stream), error);
}

static gboolean fused_adjoint(const Task *t, float *const *in, float *out, GError **error)
{
    const LithoGpuBand *band = t->sweep->band;
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

static gboolean need_plane_fft(LithoGpuPlan *plan, const LithoGpuPlane *p, GError **error)
{
    if (plan->fft_plane && plan->fft_plane_nx == p->nx && plan->fft_plane_ny == p->ny)
        return TRUE;
    if (plan->fft_plane)
        cufftDestroy(plan->fft_plane);
    plan->fft_plane = 0;
    int n[2] = {p->ny, p->nx};
    plan->fft_plane_nx = p->nx;
    plan->fft_plane_ny = p->ny;
    return LITHO_CUFFT(cufftPlanMany(&plan->fft_plane, 2, n, NULL, 1, 0, NULL, 1, 0, CUFFT_C2C,
                                     LITHO_GPU_FFT_BATCH), error) &&
           LITHO_CUFFT(cufftSetStream(plan->fft_plane, litho_cuda_stream(plan->context)), error);
}

// One plane down (adjoint: up) in place, all frequencies.
static gboolean split_step(const Task *t, float *waves, gboolean adjoint, GError **error)
{
    LithoGpuPlan *plan = t->sweep->plan;
    const LithoGpuBand *band = t->sweep->band;
    const LithoMigrateJob *job = band->job;
    const double mean = band->mean[t->s], *omega = band->omega.data;
    const gboolean lens = job->slowness != NULL;
    for (int f = 0; f < t->n; f += LITHO_GPU_FFT_BATCH) {
        const int n = MIN(LITHO_GPU_FFT_BATCH, t->n - f);
        float *w = waves + band->plane.size * f;
        if ((adjoint && lens &&
             !LITHO_CUDA(litho_gpu_lens(band->plane, w, n, omega + f, job->dz, slow_at(t), mean, -1,
                                        t->stream), error)) ||
            !LITHO_CUDA(litho_gpu_interleave(band->plane, w, n, band->pairs.data, t->stream),
                        error) ||
            !LITHO_CUFFT(cufftExecC2C(plan->fft_plane, band->pairs.data, band->pairs.data,
                                      CUFFT_FORWARD), error) ||
            !LITHO_CUDA(litho_gpu_phase_shift(band->plane, band->pairs.data, n, omega + f, mean,
                                              job->dz, band->kx2.data, band->ky2.data, adjoint,
                                              t->stream), error) ||
            !LITHO_CUFFT(cufftExecC2C(plan->fft_plane, band->pairs.data, band->pairs.data,
                                      CUFFT_INVERSE), error) ||
            !LITHO_CUDA(litho_gpu_deinterleave(band->plane, band->pairs.data, n, w, t->stream),
                        error) ||
            (!adjoint && lens &&
             !LITHO_CUDA(litho_gpu_lens(band->plane, w, n, omega + f, job->dz, slow_at(t), mean, 1,
                                        t->stream), error)))
            return FALSE;
    }
    return TRUE;
}

// --- a group through one step -----------------------------------------------------------------

// Index of the array that target m of a step is written to, when the waves are in `now`.
static int target_index(int now, int m, int targets)
{
    return (now + 1 + m) % (targets + 1);
}

static float *wave_at(const Sweep *sweep, const LithoGpuWaves *waves, int index, int f)
{
    return (float *)waves->plane[index].data + sweep->band->plane.size * f;
}

static Task group_task(const Sweep *sweep, const Group *g, int s, int f)
{
    float *scratch = sweep->plan->scratch.data;
    scratch += sweep->band->plane.size * sweep->batch * SCRATCH_PLANES * g->index;
    return (Task){sweep, g->stream, s, f, MIN(sweep->batch, g->first + g->n - f), scratch};
}

static gboolean group_down(const Sweep *sweep, const Group *g, const LithoGpuWaves *waves, int s,
                           int now, GError **error)
{
    const LithoGpuBand *band = sweep->band;
    const int targets = band->job->step;
    if (band->job->params.engine == LITHO_MIGRATE_SPLITSTEP) {
        Task t = group_task(sweep, g, s, 0);
        t.n = g->n;
        return split_step(&t, waves->plane[0].data, FALSE, error);
    }
    for (int f = g->first; f < g->first + g->n; f += sweep->batch) {
        Task t = group_task(sweep, g, s, f);
        float *out[LITHO_MIGRATE_MAX_STEP], *p = wave_at(sweep, waves, now, f);
        for (int m = 0; m < targets; m++)
            out[m] = wave_at(sweep, waves, target_index(now, m, targets), f);
        for (int m = 0; m < targets && band->fused; m++)
            if (!fused_target(&t, m, FALSE, p, out[m], error))
                return FALSE;
        if (!band->fused && !degrees_forward(&t, p, out, error))
            return FALSE;
    }
    return TRUE;
}

static LithoGpuFrame frame_of(const Sweep *sweep, int n_waves)
{
    const LithoMigrateJob *job = sweep->band->job;
    return (LithoGpuFrame){sweep->band->plane, job->pad_x, job->pad_y, job->data_nx, job->data_ny,
                           sweep->band->sponge_x.data, sweep->band->sponge_y.data, n_waves};
}

// What one slab adds up into.
typedef struct Slab {
    int s0, s1, first, n;
} Slab;

static gboolean image_plane(const Sweep *sweep, const Group *g, const Slab *slab, int z, int index,
                            gboolean sponge, GError **error)
{
    LithoGpuPlan *plan = sweep->plan;
    const LithoMigrateJob *job = sweep->band->job;
    const LithoGpuFrame frame = frame_of(sweep, g->n);
    const gboolean inside = z >= slab->first && z < slab->first + slab->n;
    const size_t at = ((size_t)g->index * slab->n + z - slab->first) * data_cells(job);
    float *sum = inside ? (float *)plan->part.data + at : NULL;
    float *up = wave_at(sweep, &plan->up, index, g->first);
    if (!sweep->shot)
        return LITHO_CUDA(litho_gpu_image(&frame, up, 2.0f / job->nfft, sum, sponge, g->stream),
                          error);
    return LITHO_CUDA(litho_gpu_correlate(&frame, up, wave_at(sweep, &plan->down, index, g->first),
                                          sum, inside ? (float *)plan->light_part.data + at : NULL,
                                          sponge, g->stream), error);
}

static gboolean watch_growth(const Sweep *sweep, const Group *g, int index, GError **error)
{
    const LithoMigrateJob *job = sweep->band->job;
    if (!job->table[0] || job->params.growth <= 0)
        return TRUE;
    double *energy = (double *)sweep->plan->growth.data + g->first;
    return LITHO_CUDA(litho_gpu_energy(&sweep->band->plane,
                                       wave_at(sweep, &sweep->plan->up, index, g->first), g->n,
                                       energy, g->stream), error) &&
           LITHO_CUDA(litho_gpu_growth(energy, energy + job->nf, energy + 2 * job->nf,
                                       job->params.growth, g->n, g->stream), error);
}

static gboolean group_slab(const Sweep *sweep, const Group *g, const Slab *slab, int now,
                           GError **error)
{
    LithoGpuPlan *plan = sweep->plan;
    const LithoMigrateJob *job = sweep->band->job;
    const gboolean split = job->params.engine == LITHO_MIGRATE_SPLITSTEP;
    if (slab->first == 0 && !image_plane(sweep, g, slab, 0, now, TRUE, error))
        return FALSE;
    for (int s = slab->s0; s < slab->s1; s++) {
        if (!group_down(sweep, g, &plan->up, s, now, error) ||
            (sweep->shot && !group_down(sweep, g, &plan->down, s, now, error)))
            return FALSE;
        for (int m = 0; m < job->step; m++)
            if (!image_plane(sweep, g, slab, s * job->step + m + 1,
                             split ? 0 : target_index(now, m, job->step), m == job->step - 1, error))
                return FALSE;
        now = split ? 0 : target_index(now, job->step - 1, job->step);
        if (!watch_growth(sweep, g, now, error))
            return FALSE;
    }
    return TRUE;
}

// Groups wait for the main stream, and it for them.
static gboolean fork_groups(const Sweep *sweep, GError **error)
{
    LithoGpuPlan *plan = sweep->plan;
    if (sweep->n_groups == 1)
        return TRUE;
    if (!LITHO_CUDA(cudaEventRecord(plan->forked, litho_cuda_stream(plan->context)), error))
        return FALSE;
    for (int g = 0; g < sweep->n_groups; g++)
        if (!LITHO_CUDA(cudaStreamWaitEvent(sweep->group[g].stream, plan->forked, 0), error))
            return FALSE;
    return TRUE;
}

static gboolean join_groups(const Sweep *sweep, GError **error)
{
    LithoGpuPlan *plan = sweep->plan;
    for (int g = 0; g < sweep->n_groups && sweep->n_groups > 1; g++)
        if (!LITHO_CUDA(cudaEventRecord(plan->joined[g], sweep->group[g].stream), error) ||
            !LITHO_CUDA(cudaStreamWaitEvent(litho_cuda_stream(plan->context), plan->joined[g], 0),
                        error))
            return FALSE;
    return TRUE;
}

static gboolean slab_down(const Sweep *sweep, const Slab *slab, int now, float *image, float *light,
                          GError **error)
{
    LithoGpuPlan *plan = sweep->plan;
    const size_t cells = data_cells(sweep->band->job), n = cells * slab->n;
    cudaStream_t stream = litho_cuda_stream(plan->context);
    gboolean ok = fork_groups(sweep, error);
    for (int g = 0; ok && g < sweep->n_groups; g++)
        ok = group_slab(sweep, &sweep->group[g], slab, now, error);
    // Joined even after a failure, so that nothing runs on when the arrays go.
    if (!join_groups(sweep, ok ? error : NULL) || !ok)
        return FALSE;
    return LITHO_CUDA(litho_gpu_add_groups(image + cells * slab->first, plan->part.data, n, n,
                                           sweep->n_groups, stream), error) &&
           (!sweep->shot ||
            LITHO_CUDA(litho_gpu_add_groups(light + cells * slab->first, plan->light_part.data, n, n,
                                            sweep->n_groups, stream), error));
}

static gboolean begin_growth(const Sweep *sweep, GError **error)
{
    LithoGpuPlan *plan = sweep->plan;
    const LithoMigrateJob *job = sweep->band->job;
    if (!job->table[0] || job->params.growth <= 0)
        return TRUE;
    const size_t bytes = job->nf * sizeof(double);
    cudaStream_t stream = litho_cuda_stream(plan->context);
    if (!litho_cuda_reserve(plan->context, &plan->growth, 3 * bytes, error))
        return FALSE;
    double *energy = plan->growth.data;
    return LITHO_CUDA(litho_gpu_energy(&sweep->band->plane, plan->up.plane[0].data, job->nf,
                                       energy + job->nf, stream), error) &&
           LITHO_CUDA(cudaMemsetAsync(energy + 2 * job->nf, 0, bytes, stream), error);
}

static gboolean check_growth(const Sweep *sweep, int step, GError **error)
{
    LithoGpuPlan *plan = sweep->plan;
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

gboolean litho_gpu_sweep_down(LithoGpuPlan *plan, LithoGpuBand *band, gboolean shot, float *image,
                              float *light, LithoGpuSlab done, gpointer data, LithoRun *run,
                              GError **error)
{
    const LithoMigrateJob *job = band->job;
    Sweep sweep;
    if (!sweep_init(&sweep, plan, band, shot, error) || !begin_growth(&sweep, error) ||
        (job->params.engine == LITHO_MIGRATE_SPLITSTEP &&
         !need_plane_fft(plan, &band->plane, error)))
        return FALSE;
    litho_run_begin(run, "extrapolate", "steps");
    Slab slab = {0};
    while (slab.first < job->nz) {
        slab.s1 = MIN(slab.s0 + sweep.slab_planes / job->step, job->n_steps);
        slab.n = MIN(slab.s1 * job->step + 1, job->nz) - slab.first;
        if (!slab_down(&sweep, &slab, plan->up.now, image, light, error) ||
            !check_growth(&sweep, slab.s1, error) ||
            (done && !done(slab.first, slab.n, data, error)) ||
            !litho_cuda_step(plan->context, run, slab.s1, MAX(job->n_steps, 1), error))
            return FALSE;
        // Every step moves the waves on by `step` of the step + 1 arrays.
        if (job->params.engine != LITHO_MIGRATE_SPLITSTEP)
            plan->up.now = plan->down.now =
                (plan->up.now + (slab.s1 - slab.s0) * job->step) % (job->step + 1);
        slab.first += slab.n;
        slab.s0 = slab.s1;
    }
    return TRUE;
}

// --- upward -----------------------------------------------------------------------------------

static gboolean inject(const Sweep *sweep, const Group *g, const float *image, int z, int index,
                       gboolean sponge, GError **error)
{
    const LithoMigrateJob *job = sweep->band->job;
    const LithoGpuFrame frame = frame_of(sweep, g->n);
    return LITHO_CUDA(litho_gpu_inject(&frame, wave_at(sweep, &sweep->plan->up, index, g->first),
                                       z < job->nz ? image + data_cells(job) * z : NULL,
                                       1.0f / job->nfft, sponge, g->stream), error);
}

// Depth planes inside the step, into cleared waves.
static gboolean inject_between(const Sweep *sweep, const Group *g, const float *image, int s, int now,
                               GError **error)
{
    const LithoMigrateJob *job = sweep->band->job;
    const size_t bytes = sweep->band->plane.size * g->n * sizeof(float);
    for (int m = 0; m + 1 < job->step; m++) {
        const int index = target_index(now, m, job->step);
        if (!LITHO_CUDA(cudaMemsetAsync(wave_at(sweep, &sweep->plan->up, index, g->first), 0, bytes,
                                        g->stream), error) ||
            !inject(sweep, g, image, s * job->step + m + 1, index, FALSE, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean group_up(const Sweep *sweep, const Group *g, const float *image, int s, int now,
                         GError **error)
{
    const LithoGpuBand *band = sweep->band;
    const LithoMigrateJob *job = band->job;
    const LithoGpuWaves *up = &sweep->plan->up;
    // The sponge of the step below comes with the injection.
    if (!inject(sweep, g, image, (s + 1) * job->step, now, s < job->n_steps - 1, error))
        return FALSE;
    if (job->params.engine == LITHO_MIGRATE_SPLITSTEP) {
        Task t = group_task(sweep, g, s, 0);
        t.n = g->n;
        return split_step(&t, up->plane[0].data, TRUE, error);
    }
    if (!inject_between(sweep, g, image, s, now, error))
        return FALSE;
    for (int f = g->first; f < g->first + g->n; f += sweep->batch) {
        Task t = group_task(sweep, g, s, f);
        float *in[LITHO_MIGRATE_MAX_STEP];
        for (int m = 0; m + 1 < job->step; m++)
            in[m] = wave_at(sweep, up, target_index(now, m, job->step), f);
        in[job->step - 1] = wave_at(sweep, up, now, f);
        float *out = wave_at(sweep, up, target_index(now, job->step - 1, job->step), f);
        if (!(band->fused ? fused_adjoint(&t, in, out, error) : degrees_adjoint(&t, in, out, error)))
            return FALSE;
    }
    return TRUE;
}

gboolean litho_gpu_sweep_up(LithoGpuPlan *plan, LithoGpuBand *band, const float *image,
                            LithoRun *run, GError **error)
{
    const LithoMigrateJob *job = band->job;
    const gboolean split = job->params.engine == LITHO_MIGRATE_SPLITSTEP;
    Sweep sweep;
    if (!sweep_init(&sweep, plan, band, FALSE, error) ||
        (split && !need_plane_fft(plan, &band->plane, error)))
        return FALSE;
    litho_run_begin(run, "extrapolate", "steps");
    const int chunk = MAX(sweep.slab_planes / job->step, 1);
    for (int s1 = job->n_steps; s1 > 0; s1 -= MIN(chunk, s1)) {
        gboolean ok = fork_groups(&sweep, error);
        const int s0 = MAX(s1 - chunk, 0);
        for (int g = 0; ok && g < sweep.n_groups; g++)
            for (int s = s1 - 1, now = plan->up.now; ok && s >= s0; s--) {
                ok = group_up(&sweep, &sweep.group[g], image, s, now, error);
                now = split ? 0 : target_index(now, job->step - 1, job->step);
            }
        if (!join_groups(&sweep, ok ? error : NULL) || !ok ||
            !litho_cuda_step(plan->context, run, job->n_steps - s0, job->n_steps, error))
            return FALSE;
        if (!split)
            plan->up.now = (plan->up.now + (s1 - s0) * job->step) % (job->step + 1);
    }
    Group all = {0, 0, job->nf, litho_cuda_stream(plan->context)};
    return inject(&sweep, &all, image, 0, plan->up.now, job->n_steps > 0, error);
}
