// SPDX-License-Identifier: GPL-3.0-or-later
#include <cufft.h>
#include <math.h>

#include "kernels/migrate/cuda/engine.h"

gboolean mig_gpu_upload(MigGpu *plan, LithoCudaArray *to, const void *from, size_t bytes,
                        GError **error)
{
    cudaStream_t stream = litho_cuda_stream(plan->context);
    return litho_cuda_reserve(plan->context, to, MAX(bytes, 16), error) &&
           (bytes == 0 ||
            LITHO_CUDA(cudaMemcpyAsync(to->data, from, bytes, cudaMemcpyHostToDevice, stream),
                       error)) &&
           LITHO_CUDA(cudaStreamSynchronize(stream), error);
}

void mig_gpu_band_clear(MigGpu *plan, MigGpuBand *band)
{
    LithoCudaArray *arrays[] = {&band->steps,    &band->coef,        &band->stop,
                                &band->table,    &band->table_scale, &band->sponge_x,
                                &band->sponge_y, &band->omega,       &band->kx2,
                                &band->ky2,      &band->turn,        &band->spectrum};
    for (guint k = 0; k < G_N_ELEMENTS(arrays); k++)
        litho_cuda_release(plan->context, arrays[k]);
    band->job = NULL;
}

static gboolean upload_steps(MigGpu *plan, MigGpuBand *band, GError **error)
{
    const LithoMigrateJob *job = band->job;
    const gsize n = (gsize)job->n_steps * job->nf;
    g_autofree MigGpuStep *steps = g_new0(MigGpuStep, MAX(n, 1));
    for (int s = 0; s < job->n_steps; s++)
        for (int f = 0; f < job->nf; f++) {
            gsize k = (gsize)s * job->nf + f;
            steps[k].stencil = litho_migrate_job_stencil(job, s, f);
            steps[k].entry = job->entry[k];
        }
    return mig_gpu_upload(plan, &band->steps, steps, n * sizeof *steps, error);
}

static gboolean upload_coefficients(MigGpu *plan, MigGpuBand *band, GError **error)
{
    const LithoMigrateJob *job = band->job;
    const gsize row = 2 * MIG_GPU_COEFS, n = (gsize)job->entries->len * job->step;
    g_autofree float *coef = g_new0(float, MAX(n, 1) * row);
    for (gsize k = 0; k < n; k++) {
        const LithoEntry *entry = &g_array_index(job->entries, LithoEntry, k / job->step);
        const LithoPoly *poly = entry->poly[k % job->step];
        memcpy(coef + k * row, poly->re, sizeof poly->re);
        memcpy(coef + k * row + MIG_GPU_COEFS, poly->im, sizeof poly->im);
    }
    return mig_gpu_upload(plan, &band->coef, coef, n * row * sizeof(float), error);
}

static gboolean upload_stops(MigGpu *plan, MigGpuBand *band, GError **error)
{
    const LithoMigrateJob *job = band->job;
    if (!job->stops)
        return TRUE;
    const gsize row = 2 * MIG_GPU_COEFS, n = job->entries->len;
    g_autofree float *coef = g_new0(float, MAX(n, 1) * row);
    for (gsize k = 0; k < n; k++) {
        const LithoPoly *poly = g_array_index(job->entries, LithoEntry, k).stop;
        if (poly) // real: imaginary parts are 0
            memcpy(coef + k * row, poly->re, sizeof poly->re);
    }
    return mig_gpu_upload(plan, &band->stop, coef, n * row * sizeof(float), error);
}

// [target][n][entry][re, im], and each frequency's way from slowness to entry.
static gboolean upload_table(MigGpu *plan, MigGpuBand *band, GError **error)
{
    const LithoMigrateJob *job = band->job;
    if (!job->table[0])
        return TRUE;
    const gsize n1 = job->params.degree + 1, count = 2 * n1 * job->n_table * job->step;
    g_autofree float *table = g_new(float, count);
    g_autofree float *scale = g_new(float, MAX(job->nf, 1));
    gsize at = 0;
    for (int m = 0; m < job->step; m++)
        for (gsize n = 0; n < n1; n++)
            for (int k = 0; k < job->n_table; k++) {
                table[at++] = job->table[m][k]->re[n];
                table[at++] = job->table[m][k]->im[n];
            }
    for (int f = 0; f < job->nf; f++)
        scale[f] = (float)(job->omega[f] * job->dz * job->step / job->table_step);
    return mig_gpu_upload(plan, &band->table, table, count * sizeof(float), error) &&
           mig_gpu_upload(plan, &band->table_scale, scale, job->nf * sizeof(float), error);
}

static gboolean upload_slowness(MigGpu *plan, MigGpuBand *band, GError **error)
{
    const LithoMigrateJob *job = band->job;
    const gboolean squared = band->kernel == MIG_GPU_FUSED;
    if (!job->slowness || job->n_steps == 0) {
        litho_cuda_release(plan->context, &band->slow);
        band->slow_serial = 0;
        return TRUE;
    }
    if (band->slow_serial == job->slowness_serial && band->slow_squared == squared)
        return TRUE; // taken over with at least as many steps
    const gsize pitch = band->plane.pitch, rows = (gsize)job->cells.ny * job->n_steps;
    cudaStream_t stream = litho_cuda_stream(plan->context);
    band->slow_serial = 0;
    if (!litho_cuda_reserve(plan->context, &band->slow, rows * pitch * sizeof(float), error) ||
        !LITHO_CUDA(cudaMemsetAsync(band->slow.data, 0, rows * pitch * sizeof(float), stream),
                    error) ||
        !LITHO_CUDA(cudaMemcpy2DAsync(band->slow.data, pitch * sizeof(float), job->slowness,
                                      job->cells.nx * sizeof(float), job->cells.nx * sizeof(float),
                                      rows, cudaMemcpyHostToDevice, stream),
                    error) ||
        (squared && !LITHO_CUDA(mig_gpu_square(band->slow.data, rows * pitch, stream), error)))
        return FALSE;
    band->slow_serial = job->slowness_serial;
    band->slow_squared = squared;
    return TRUE;
}

static gboolean upload_sponge(MigGpu *plan, MigGpuBand *band, GError **error)
{
    const LithoMigrateJob *job = band->job;
    if (!job->sponge_x && !job->sponge_y)
        return TRUE;
    const int nx = job->cells.nx, ny = job->cells.ny, pitch = band->plane.pitch;
    g_autofree float *factors = g_new(float, pitch + ny);
    for (int k = 0; k < pitch; k++)
        factors[k] = job->sponge_x && k < nx ? job->sponge_x[k] : 1;
    for (int k = 0; k < ny; k++)
        factors[pitch + k] = job->sponge_y ? job->sponge_y[k] : 1;
    return mig_gpu_upload(plan, &band->sponge_x, factors, pitch * sizeof(float), error) &&
           mig_gpu_upload(plan, &band->sponge_y, factors + pitch, ny * sizeof(float), error);
}

static gboolean upload_wavenumbers(MigGpu *plan, LithoCudaArray *to, int n, double spacing,
                                   GError **error)
{
    g_autofree double *k2 = g_new0(double, n);
    for (int i = 0; i < n && n > 1; i++) {
        double k = 2 * G_PI * (i <= n / 2 ? i : i - n) / (n * spacing);
        k2[i] = k * k;
    }
    return mig_gpu_upload(plan, to, k2, n * sizeof(double), error);
}

static gboolean upload_split_step(MigGpu *plan, MigGpuBand *band, GError **error)
{
    const LithoMigrateJob *job = band->job;
    return mig_gpu_upload(plan, &band->omega, job->omega, job->nf * sizeof(double), error) &&
           upload_wavenumbers(plan, &band->kx2, job->cells.nx, job->cells.dx, error) &&
           upload_wavenumbers(plan, &band->ky2, job->cells.ny, job->cells.dy, error);
}

// A record that does not start at t = 0 turns by exp(-i w t0); the band's ramps.
static gboolean upload_turn(MigGpu *plan, MigGpuBand *band, GError **error)
{
    const LithoMigrateJob *job = band->job;
    g_autofree float *turn = g_new(float, 2 * MAX(job->nf, 1));
    for (int f = 0; f < job->nf; f++) {
        turn[2 * f] = (float)(job->weight[f] * cos(job->omega[f] * job->t0));
        turn[2 * f + 1] = (float)(-job->weight[f] * sin(job->omega[f] * job->t0));
    }
    return mig_gpu_upload(plan, &band->turn, turn, 2 * job->nf * sizeof(float), error);
}

int mig_gpu_slab_steps(double updates, int step)
{
    return (int)CLAMP(3e9 / fmax(updates, 1), 1, (MIG_GPU_PLANES - 1) / step);
}

// Steps of a slab, at most `most`, that leave the multiprocessors least to wait for at its end.
static int even_steps(const MigGpu *plan, const MigGpuBand *band, int most)
{
    const LithoMigrateJob *job = band->job;
    int passes = 0, best = most;
    for (int m = 0; m < job->step; m++)
        passes +=
            (litho_migrate_target_degree(job, m) + band->degrees_a_pass) / band->degrees_a_pass;
    const double rounds = (double)MAX(job->nf, 1) *
                          (job->params.mode == LITHO_MIGRATE_SHOT ? 2 : 1) * band->strips * passes /
                          mig_gpu_fused_blocks(band->quads, plan->processors);
    double least = 2;
    for (int n = most; n > most / 2; n--) {
        const double waste = ceil(rounds * n) / (rounds * n);
        if (waste < least - 0.005) {
            least = waste;
            best = n;
        }
    }
    return best;
}

static void choose_kernel(const MigGpu *plan, MigGpuBand *band)
{
    const LithoMigrateJob *job = band->job;
    const LithoMigrateParams *p = &job->params;
    const gboolean shot = p->mode == LITHO_MIGRATE_SHOT;
    band->slab_steps = mig_gpu_slab_steps((double)job->cells.nx * job->cells.ny * job->nf *
                                              (p->degree + 1) * job->step * (shot ? 2 : 1),
                                          job->step);
    band->strips = 1;
    band->planes = job->step + 1;
    if (p->engine == LITHO_MIGRATE_SPLITSTEP) {
        band->kernel = MIG_GPU_SPLITSTEP;
        band->planes = 2; // as others have them, and interleaved
        return;
    }
    if (p->form == LITHO_MIGRATE_POINTWISE || p->gpu_kernel == LITHO_MIGRATE_PER_DEGREE) {
        band->kernel = MIG_GPU_PER_DEGREE;
        return;
    }
    band->kernel = MIG_GPU_FUSED;
    const int beside = (int)(plan->quota * plan->processors / MAX(job->nf, 1));
    mig_gpu_fused_plan(job->cells.nx, p->degree + 1, MAX(beside, 1), plan->shared,
                       &band->degrees_a_pass, &band->quads, &band->strip);
    band->strips = (job->cells.nx + band->strip - 1) / band->strip;
    if (p->mode == LITHO_MIGRATE_DEMIGRATE)
        return;
    const double step_bytes =
        (double)sizeof(float) * band->plane.size * MAX(job->nf, 1) * job->step;
    band->slab_steps =
        even_steps(plan, band, (int)MIN(band->slab_steps, 1 + plan->spare / step_bytes));
    band->planes = band->slab_steps * job->step + 1;
}

gboolean mig_gpu_band_tables(MigGpu *plan, MigGpuBand *band, GError **error)
{
    const LithoMigrateJob *job = band->job;
    const int pitch = (job->cells.nx + 7) / 8 * 8;
    const size_t points = (size_t)job->cells.ny * pitch;
    band->plane = (MigGpuPlane){job->cells.nx, job->cells.ny, pitch, 2 * points, 1, points};
    choose_kernel(plan, band);
    litho_cuda_release(plan->context, &band->sponge_x);
    litho_cuda_release(plan->context, &band->sponge_y);
    if (!upload_sponge(plan, band, error) || !upload_turn(plan, band, error) ||
        !upload_slowness(plan, band, error))
        return FALSE;
    if (job->nf == 0 || job->n_steps == 0)
        return TRUE;
    return band->kernel == MIG_GPU_SPLITSTEP
               ? upload_split_step(plan, band, error)
               : upload_steps(plan, band, error) && upload_coefficients(plan, band, error) &&
                     upload_stops(plan, band, error) && upload_table(plan, band, error);
}
