// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/cpu/resample.h"

#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"

// --- image ------------------------------------------------------------------------------------

// The array n[0] x n[1] x n[2] along one axis through the taps, or their transpose; a new array, n
// changed.
static float *along_axis(const LithoTaps *taps, int axis, int n[3], const float *in, int threads,
                         GError **error)
{
    gsize outer = 1, inner = 1;
    for (int k = 0; k < axis; k++)
        outer *= n[k];
    for (int k = axis + 1; k < 3; k++)
        inner *= n[k];
    float *out =
        litho_memory_new(outer * taps->n_out * inner, sizeof *out, "an image between grids", error);
    if (!out)
        return NULL;
    litho_taps_apply(taps, outer, inner, in, out, threads);
    n[axis] = taps->n_out;
    return out;
}

gboolean litho_coarse_image_add(const LithoMigrateJob *job, const float *coarse, float *fine,
                                LithoRun *run, GError **error)
{
    const int threads = litho_run_threads(run);
    int n[3] = {job->nz, job->data_ny, job->data_nx};
    g_autofree float *at = NULL;
    for (int axis = 2; axis >= 0; axis--) { // z last: it makes the array larger by most
        LithoTaps taps = litho_migrate_job_interpolation(job, axis);
        float *next = along_axis(&taps, axis, n, at ? at : coarse, threads, error);
        litho_taps_clear(&taps);
        g_free(at);
        at = next;
        if (!at)
            return FALSE;
    }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (gsize k = 0; k < (gsize)n[0] * n[1] * n[2]; k++)
        fine[k] += at[k];
    return TRUE;
}

float *litho_coarse_image_adjoint(const LithoMigrateJob *job, const float *fine, LithoRun *run,
                                  GError **error)
{
    const LithoAxis *axes = job->image.axis;
    int n[3] = {job->depths, axes[0].n, axes[1].n};
    float *at = NULL;
    for (int axis = 0; axis < 3; axis++) {
        LithoTaps taps = litho_migrate_job_interpolation(job, axis);
        LithoTaps turned = litho_taps_transposed(&taps);
        float *next = along_axis(&turned, axis, n, at ? at : fine, litho_run_threads(run), error);
        litho_taps_clear(&taps);
        litho_taps_clear(&turned);
        g_free(at);
        at = next;
        if (!at)
            return NULL;
    }
    return at;
}

// --- spectrum ---------------------------------------------------------------------------------

// A job with the same frequencies on the image's own cells, without padding.
static LithoMigrateJob fine_twin(const LithoMigrateJob *job)
{
    LithoMigrateJob fine = *job;
    fine.data_nx = fine.cells.nx = job->image.axis[1].n;
    fine.data_ny = fine.cells.ny = job->image.axis[0].n;
    fine.pad_x = fine.pad_y = 0;
    return fine;
}

// Taps between the two grids, in the direction of the work, and room for one plane on the way.
typedef struct Between {
    LithoTaps x, y;
    float *fine, *half, *coarse;
} Between;

static Between between_new(const LithoMigrateJob *job, gboolean adjoint)
{
    const int fx = job->image.axis[1].n, fy = job->image.axis[0].n;
    Between b = {litho_migrate_job_decimation(job, 2), litho_migrate_job_decimation(job, 1)};
    if (adjoint) {
        LithoTaps x = b.x, y = b.y;
        b.x = litho_taps_transposed(&x);
        b.y = litho_taps_transposed(&y);
        litho_taps_clear(&x);
        litho_taps_clear(&y);
    }
    b.fine = g_new(float, (gsize)fx *fy);
    b.half =
        g_new(float, (gsize)fx * job->data_ny); // along y first, x last; the adjoint turns round
    b.coarse = g_new(float, (gsize)job->data_nx * job->data_ny);
    return b;
}

static void between_clear(Between *b)
{
    litho_taps_clear(&b->x);
    litho_taps_clear(&b->y);
    g_free(b->fine);
    g_free(b->half);
    g_free(b->coarse);
}

static void copy_rows(const LithoWaves *waves, float *wave, int part, int pad_x, int pad_y, int nx,
                      int ny, float *plane, gboolean to_wave)
{
    for (int y = 0; y < ny; y++) {
        float *row = litho_wave_row(waves, wave, y + pad_y) + part * waves->stride + pad_x;
        float *line = plane + (gsize)y * nx;
        memcpy(to_wave ? row : line, to_wave ? line : row, sizeof(float) * nx);
    }
}

// One wave between the two grids: to the coarse one, or (adjoint) from it.
static void resample_wave(const LithoMigrateJob *job, const Between *b, const LithoWaves *waves,
                          float *wave, const LithoWaves *fine_waves, float *fine_wave,
                          gboolean adjoint)
{
    const int fx = fine_waves->nx, fy = fine_waves->ny, cx = job->data_nx, cy = job->data_ny;
    if (adjoint)
        memset(fine_wave, 0, sizeof(float) * fine_waves->size);
    else
        memset(wave, 0, sizeof(float) * waves->size);
    for (int part = 0; part < 2; part++) {
        if (adjoint) {
            copy_rows(waves, wave, part, job->pad_x, job->pad_y, cx, cy, b->coarse, FALSE);
            litho_taps_apply(&b->x, cy, 1, b->coarse, b->half, 1);
            litho_taps_apply(&b->y, 1, fx, b->half, b->fine, 1);
            copy_rows(fine_waves, fine_wave, part, 0, 0, fx, fy, b->fine, TRUE);
        } else {
            copy_rows(fine_waves, fine_wave, part, 0, 0, fx, fy, b->fine, FALSE);
            litho_taps_apply(&b->y, 1, fx, b->fine, b->half, 1);
            litho_taps_apply(&b->x, cy, 1, b->half, b->coarse, 1);
            copy_rows(waves, wave, part, job->pad_x, job->pad_y, cx, cy, b->coarse, TRUE);
        }
    }
}

static void resample_waves(const LithoMigrateJob *job, const LithoWaves *waves, float *planes,
                           const LithoWaves *fine_waves, float *fine_planes, gboolean adjoint,
                           LithoRun *run)
{
#pragma omp parallel num_threads(litho_run_threads(run))
    {
        Between between = between_new(job, adjoint);
#pragma omp for schedule(dynamic, 1)
        for (int f = 0; f < job->nf; f++)
            if (litho_run_checkpoint(run))
                resample_wave(job, &between, waves, planes + waves->size * f, fine_waves,
                              fine_planes + fine_waves->size * f, adjoint);
        between_clear(&between);
    }
}

static float *alloc_fine(const LithoMigrateJob *job, const LithoWaves *waves, GError **error)
{
    float *planes = litho_waves_room(waves, MAX(job->nf, 1));
    if (!planes)
        litho_refuse(error, LITHO_ERROR_MEMORY, "no memory for %.2f GiB of waves",
                     4.0 * waves->size * job->nf / (1 << 30));
    return planes;
}

gboolean litho_coarse_spectrum_forward(const LithoMigrateJob *job, const LithoWaves *waves,
                                       const LithoCube *in, const LithoShotTraces *traces,
                                       float *planes, LithoRun *run, GError **error)
{
    LithoMigrateJob fine = fine_twin(job);
    LithoWaves fine_waves = litho_waves_layout(fine.cells.nx, fine.cells.ny);
    float *fine_planes = alloc_fine(job, &fine_waves, error);
    gboolean ok = fine_planes &&
                  litho_spectrum_forward(&fine, &fine_waves, in, traces, fine_planes, run, error);
    if (ok)
        resample_waves(job, waves, planes, &fine_waves, fine_planes, FALSE, run);
    free(fine_planes);
    return ok && litho_run_step(run, job->nf, job->nf, error);
}

gboolean litho_coarse_spectrum_adjoint(const LithoMigrateJob *job, const LithoWaves *waves,
                                       float *planes, LithoCube *out, LithoRun *run, GError **error)
{
    LithoMigrateJob fine = fine_twin(job);
    LithoWaves fine_waves = litho_waves_layout(fine.cells.nx, fine.cells.ny);
    float *fine_planes = alloc_fine(job, &fine_waves, error);
    if (!fine_planes)
        return FALSE;
    resample_waves(job, waves, planes, &fine_waves, fine_planes, TRUE, run);
    gboolean ok = litho_spectrum_adjoint(&fine, &fine_waves, fine_planes, out, run, error);
    free(fine_planes);
    return ok;
}
