// SPDX-License-Identifier: GPL-3.0-or-later
#include <cufft.h>
#include <math.h>

#include "core/error.h"
#include "kernels/migrate/plan_cuda.h"

enum {
    SLAB_PLANES = 32, // image planes between two partial results, at most
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
    int n_groups, batch; // frequencies a launch takes
    int scratch_planes;  // a frequency of a batch
    int slab_planes;     // room of the sums
} Sweep;

static size_t data_cells(const LithoMigrateJob *job)
{
    return (size_t)job->data_nx * job->data_ny;
}

gboolean litho_gpu_waves_reserve(LithoGpuPlan *plan, const LithoGpuBand *band, LithoGpuWaves *waves,
                                 GError **error)
{
    const size_t bytes = band->plane.size * litho_gpu_room(band) * sizeof(float);
    for (int k = 0; k < band->planes; k++)
        if (!litho_cuda_reserve(plan->context, &waves->plane[k], bytes, error) ||
            !LITHO_CUDA(cudaMemsetAsync(waves->plane[k].data, 0, bytes,
                                        litho_cuda_stream(plan->context)), error))
            return FALSE;
    waves->now = 0;
    return TRUE;
}

// Frequencies of a launch: blocks enough for the device.
static int batch_of(const Sweep *sweep)
{
    const LithoGpuBand *band = sweep->band;
    const int most = MAX(sweep->group[sweep->n_groups - 1].n, 1);
    return CLAMP(sweep->plan->processors / band->strips, 1, most);
}

static gboolean sweep_init(Sweep *sweep, LithoGpuPlan *plan, LithoGpuBand *band, gboolean shot,
                           GError **error)
{
    const LithoMigrateJob *job = band->job;
    *sweep = (Sweep){.plan = plan, .band = band, .shot = shot};
    const gboolean split = band->kernel == LITHO_GPU_SPLITSTEP;
    // Groups hide each other's last blocks; where half of the processors are idle there are none to hide, and
    // launches are fewer.
    const gboolean few = 2 * job->nf * band->strips <= plan->processors;
    sweep->n_groups = split || few || job->nf < 2 * LITHO_GPU_GROUPS ? 1 : LITHO_GPU_GROUPS;
    for (int g = 0; g < sweep->n_groups; g++) {
        int first = (int)((gint64)job->nf * g / sweep->n_groups);
        int next = (int)((gint64)job->nf * (g + 1) / sweep->n_groups);
        sweep->group[g] = (Group){g, first, next - first,
                                  sweep->n_groups == 1 ? litho_cuda_stream(plan->context)
                                                       : plan->stream[g]};
    }
    sweep->batch = batch_of(sweep);
    sweep->scratch_planes = litho_gpu_scratch_planes(band);
    // About 12 ms of work a slab: what a cancel may have to wait for twice.
    double updates = (double)job->cells.nx * job->cells.ny * job->nf * (job->params.degree + 1) *
                     job->step * (shot ? 2 : 1);
    const int steps = (int)CLAMP(3e9 / fmax(updates, 1), 1, fmax(SLAB_PLANES / job->step, 1));
    sweep->slab_planes = steps * job->step;
    const size_t part = (sweep->slab_planes + 1) * data_cells(job) * sweep->n_groups * sizeof(float);
    const size_t scratch = MAX(sweep->scratch_planes * band->plane.size * sweep->batch *
                                   sweep->n_groups * sizeof(float), 16);
    return litho_cuda_reserve(plan->context, &plan->scratch, scratch, error) &&
           litho_cuda_reserve(plan->context, &plan->part, part, error) &&
           (!shot || litho_cuda_reserve(plan->context, &plan->light_part, part, error));
}

// --- a group through one step -----------------------------------------------------------------

static LithoGpuTask group_task(const Sweep *sweep, const Group *g, int s, int f)
{
    float *scratch = sweep->plan->scratch.data;
    scratch += sweep->band->plane.size * sweep->batch * sweep->scratch_planes * g->index;
    const int left = g->first + g->n - f;
    return (LithoGpuTask){sweep->plan, sweep->band, g->stream, scratch, sweep->batch, s, f,
                          sweep->band->kernel == LITHO_GPU_SPLITSTEP ? left
                                                                     : MIN(sweep->batch, left)};
}

static gboolean group_down(const Sweep *sweep, const Group *g, int s, int now, GError **error)
{
    for (int f = g->first; f < g->first + g->n;) {
        const LithoGpuTask t = group_task(sweep, g, s, f);
        if (!litho_gpu_step_down(&t, &sweep->plan->up, now, error) ||
            (sweep->shot && !litho_gpu_step_down(&t, &sweep->plan->down, now, error)))
            return FALSE;
        f += t.n;
    }
    return TRUE;
}

static LithoGpuFrame frame_of(const Sweep *sweep, int n_waves)
{
    const LithoMigrateJob *job = sweep->band->job;
    return (LithoGpuFrame){litho_gpu_plane_under_way(sweep->band), job->pad_x, job->pad_y, job->data_nx, job->data_ny,
                           sweep->band->sponge_x.data, sweep->band->sponge_y.data, n_waves};
}

// What one slab adds up into.
typedef struct Slab {
    int s0, s1, first, n;
} Slab;

// Product of both waves in plane z, and the sponge.
static gboolean correlate(const Sweep *sweep, const Group *g, const LithoGpuFrame *frame, int z, int index,
                          float *sum, float *light, gboolean sponge, GError **error)
{
    const LithoMigrateJob *job = sweep->band->job;
    float *up = litho_gpu_wave(sweep->band, &sweep->plan->up, index, g->first);
    float *down = litho_gpu_wave(sweep->band, &sweep->plan->down, index, g->first);
    int plain = 0; // waves to be protected are the shorter ones
    while (plain < g->n &&
           !litho_migrate_job_protects(job, MAX(z - 1, 0) / job->step, g->first + plain))
        plain++;
    return (!sum || plain == g->n ||
            LITHO_CUDA(litho_gpu_protect(frame, up, down, plain, sum, light, g->stream), error)) &&
           LITHO_CUDA(litho_gpu_correlate(frame, up, down, plain, sum, light, sponge, g->stream),
                      error);
}

static gboolean image_plane(const Sweep *sweep, const Group *g, const Slab *slab, int z, int index,
                            gboolean sponge, GError **error)
{
    LithoGpuPlan *plan = sweep->plan;
    const LithoMigrateJob *job = sweep->band->job;
    const LithoGpuFrame frame = frame_of(sweep, g->n);
    const gboolean inside = z >= slab->first && z < slab->first + slab->n;
    const size_t at = ((size_t)g->index * slab->n + z - slab->first) * data_cells(job);
    float *sum = inside ? (float *)plan->part.data + at : NULL;
    float *up = litho_gpu_wave(sweep->band, &plan->up, index, g->first);
    if (!sweep->shot)
        return LITHO_CUDA(litho_gpu_image(&frame, up, 2.0f / job->nfft, sum, sponge, g->stream),
                          error);
    return correlate(sweep, g, &frame, z, index, sum,
                     inside ? (float *)plan->light_part.data + at : NULL, sponge, error);
}

static gboolean watch_growth(const Sweep *sweep, const Group *g, int index, GError **error)
{
    const LithoMigrateJob *job = sweep->band->job;
    if (!job->table[0] || job->params.growth <= 0)
        return TRUE;
    double *energy = (double *)sweep->plan->growth.data + g->first;
    return LITHO_CUDA(litho_gpu_energy(&sweep->band->plane,
                                       litho_gpu_wave(sweep->band, &sweep->plan->up, index, g->first), g->n,
                                       energy, g->stream), error) &&
           LITHO_CUDA(litho_gpu_growth(energy, energy + job->nf, energy + 2 * job->nf,
                                       job->params.growth, g->n, g->stream), error);
}

static gboolean group_slab(const Sweep *sweep, const Group *g, const Slab *slab, int now,
                           GError **error)
{
    const LithoMigrateJob *job = sweep->band->job;
    if (slab->first == 0 && !image_plane(sweep, g, slab, 0, now, TRUE, error))
        return FALSE;
    for (int s = slab->s0; s < slab->s1; s++) {
        if (!group_down(sweep, g, s, now, error))
            return FALSE;
        for (int m = 0; m < job->step; m++)
            if (!image_plane(sweep, g, slab, s * job->step + m + 1,
                             litho_gpu_plane_after(sweep->band, now, m), m == job->step - 1, error))
                return FALSE;
        now = litho_gpu_plane_after(sweep->band, now, job->step - 1);
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
        !litho_gpu_steps_begin(plan, band, &plan->up, error) ||
        (shot && !litho_gpu_steps_begin(plan, band, &plan->down, error)))
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
        if (slab.s1 > slab.s0)
            plan->up.now = plan->down.now = litho_gpu_plane_after(
                band, plan->up.now, (slab.s1 - slab.s0) * job->step - 1);
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
    return LITHO_CUDA(litho_gpu_inject(&frame, litho_gpu_wave(sweep->band, &sweep->plan->up, index, g->first),
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
        const int index = litho_gpu_plane_after(sweep->band, now, m);
        if (!LITHO_CUDA(cudaMemsetAsync(litho_gpu_wave(sweep->band, &sweep->plan->up, index, g->first), 0, bytes,
                                        g->stream), error) ||
            !inject(sweep, g, image, s * job->step + m + 1, index, FALSE, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean group_up(const Sweep *sweep, const Group *g, const float *image, int s, int now,
                         GError **error)
{
    const LithoMigrateJob *job = sweep->band->job;
    // The sponge of the step below comes with the injection.
    if (!inject(sweep, g, image, (s + 1) * job->step, now, s < job->n_steps - 1, error))
        return FALSE;
    if (!inject_between(sweep, g, image, s, now, error))
        return FALSE;
    for (int f = g->first; f < g->first + g->n;) {
        const LithoGpuTask t = group_task(sweep, g, s, f);
        if (!litho_gpu_step_up(&t, &sweep->plan->up, now, error))
            return FALSE;
        f += t.n;
    }
    return TRUE;
}

gboolean litho_gpu_sweep_up(LithoGpuPlan *plan, LithoGpuBand *band, const float *image,
                            LithoRun *run, GError **error)
{
    const LithoMigrateJob *job = band->job;
    Sweep sweep;
    if (!sweep_init(&sweep, plan, band, FALSE, error) ||
        !litho_gpu_steps_begin(plan, band, &plan->up, error))
        return FALSE;
    litho_run_begin(run, "extrapolate", "steps");
    const int chunk = MAX(sweep.slab_planes / job->step, 1);
    for (int s1 = job->n_steps; s1 > 0; s1 -= MIN(chunk, s1)) {
        gboolean ok = fork_groups(&sweep, error);
        const int s0 = MAX(s1 - chunk, 0);
        for (int g = 0; ok && g < sweep.n_groups; g++)
            for (int s = s1 - 1, now = plan->up.now; ok && s >= s0; s--) {
                ok = group_up(&sweep, &sweep.group[g], image, s, now, error);
                now = litho_gpu_plane_after(band, now, job->step - 1);
            }
        if (!join_groups(&sweep, ok ? error : NULL) || !ok ||
            !litho_cuda_step(plan->context, run, job->n_steps - s0, job->n_steps, error))
            return FALSE;
        plan->up.now = litho_gpu_plane_after(band, plan->up.now, (s1 - s0) * job->step - 1);
    }
    Group all = {0, 0, job->nf, litho_cuda_stream(plan->context)};
    return inject(&sweep, &all, image, 0, plan->up.now, job->n_steps > 0, error) &&
           litho_gpu_steps_end(plan, band, &plan->up, error);
}
