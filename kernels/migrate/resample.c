// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/resample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "kernels/migrate/taps.h"

// An array seen as [outer][n][inner]; out gets T in or, transposed, T^t in.
static void apply_axis(const LithoTaps *t, gboolean transposed, gsize outer, gsize inner,
                       const float *in, float *out, int threads)
{
    const gsize n_in = transposed ? t->n_out : t->n_in, n_out = transposed ? t->n_in : t->n_out;
    memset(out, 0, sizeof(float) * outer * n_out * inner);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (gsize a = 0; a < outer; a++)
        for (int o = 0; o < t->n_out; o++)
            for (int k = 0; k < t->count[o]; k++) {
                const gsize i = t->first[o] + k, r = o;
                const gsize from = transposed ? r : i, to = transposed ? i : r;
                const float *src = in + (a * n_in + from) * inner;
                float *dst = out + (a * n_out + to) * inner, w = t->weight[o][k];
                for (gsize x = 0; x < inner; x++)
                    dst[x] += w * src[x];
            }
}

// --- image ------------------------------------------------------------------------------------

typedef struct Sizes {
    int fine[3], coarse[3]; // z, y, x
} Sizes;

static Sizes sizes_of(const LithoMigrateJob *job)
{
    const LithoAxis *axis = job->image.axis;
    return (Sizes){{axis[2].n, axis[0].n, axis[1].n}, {job->nz, job->data_ny, job->data_nx}};
}

void litho_coarse_image_add(const LithoMigrateJob *job, const float *coarse, float *fine,
                            LithoRun *run)
{
    const Sizes s = sizes_of(job);
    const int threads = litho_run_threads(run);
    int n[3] = {s.coarse[0], s.coarse[1], s.coarse[2]};
    g_autofree float *at = g_memdup2(coarse, sizeof(float) * n[0] * n[1] * (gsize)n[2]);
    for (int axis = 2; axis >= 0; axis--) {
        LithoTaps t = litho_taps_interpolation(s.coarse[axis], s.fine[axis]);
        gsize outer = 1, inner = 1;
        for (int k = 0; k < axis; k++)
            outer *= n[k];
        for (int k = axis + 1; k < 3; k++)
            inner *= n[k];
        float *next = g_new(float, outer * s.fine[axis] * inner);
        apply_axis(&t, FALSE, outer, inner, at, next, threads);
        n[axis] = s.fine[axis];
        g_free(at);
        at = next;
        litho_taps_clear(&t);
    }
    for (gsize k = 0; k < (gsize)n[0] * n[1] * n[2]; k++)
        fine[k] += at[k];
}

float *litho_coarse_image_adjoint(const LithoMigrateJob *job, const float *fine, LithoRun *run)
{
    const Sizes s = sizes_of(job);
    const int threads = litho_run_threads(run);
    int n[3] = {s.fine[0], s.fine[1], s.fine[2]};
    float *at = g_memdup2(fine, sizeof(float) * n[0] * n[1] * (gsize)n[2]);
    for (int axis = 0; axis < 3; axis++) {
        LithoTaps t = litho_taps_interpolation(s.coarse[axis], s.fine[axis]);
        gsize outer = 1, inner = 1;
        for (int k = 0; k < axis; k++)
            outer *= n[k];
        for (int k = axis + 1; k < 3; k++)
            inner *= n[k];
        float *next = g_new(float, outer * s.coarse[axis] * inner);
        apply_axis(&t, TRUE, outer, inner, at, next, threads);
        n[axis] = s.coarse[axis];
        g_free(at);
        at = next;
        litho_taps_clear(&t);
    }
    return at;
}

// --- spectrum ---------------------------------------------------------------------------------

// The same frequencies on the image's own cells, without padding.
static LithoMigrateJob fine_twin(const LithoMigrateJob *job)
{
    LithoMigrateJob fine = *job;
    fine.data_nx = fine.cells.nx = job->image.axis[1].n;
    fine.data_ny = fine.cells.ny = job->image.axis[0].n;
    fine.pad_x = fine.pad_y = 0;
    return fine;
}

// One wave between the two grids: to the coarse one, or (adjoint) from it.
static void resample_wave(const LithoMigrateJob *job, const LithoWaves *waves, float *wave,
                          const LithoWaves *fine_waves, float *fine_wave, const LithoTaps *along_x,
                          const LithoTaps *along_y, gboolean adjoint, float *full, float *half,
                          float *small)
{
    const int fx = along_x->n_in, fy = along_y->n_in, cx = along_x->n_out, cy = along_y->n_out;
    for (int c = 0; c < 2; c++) {
        if (!adjoint) {
            for (int y = 0; y < fy; y++)
                memcpy(full + (gsize)y * fx,
                       litho_wave_row(fine_waves, fine_wave, y) + c * fine_waves->stride,
                       sizeof(float) * fx);
            apply_axis(along_y, FALSE, 1, fx, full, half, 1);
            apply_axis(along_x, FALSE, cy, 1, half, small, 1);
        }
        for (int y = 0; y < cy; y++) {
            float *row = litho_wave_row(waves, wave, y + job->pad_y) + c * waves->stride +
                         job->pad_x;
            if (adjoint)
                memcpy(small + (gsize)y * cx, row, sizeof(float) * cx);
            else
                memcpy(row, small + (gsize)y * cx, sizeof(float) * cx);
        }
        if (adjoint) {
            apply_axis(along_x, TRUE, cy, 1, small, half, 1);
            apply_axis(along_y, TRUE, 1, fx, half, full, 1);
            for (int y = 0; y < fy; y++)
                memcpy(litho_wave_row(fine_waves, fine_wave, y) + c * fine_waves->stride,
                       full + (gsize)y * fx, sizeof(float) * fx);
        }
    }
}

static void resample_waves(const LithoMigrateJob *job, const LithoWaves *waves, float *planes,
                           const LithoMigrateJob *fine, const LithoWaves *fine_waves,
                           float *fine_planes, gboolean adjoint, LithoRun *run)
{
    LithoTaps along_x = litho_taps_decimation(fine->data_nx, job->data_nx);
    LithoTaps along_y = litho_taps_decimation(fine->data_ny, job->data_ny);
    const gsize n = (gsize)fine->data_nx * fine->data_ny;
#pragma omp parallel num_threads(litho_run_threads(run))
    {
        float *full = g_new(float, n), *half = g_new(float, n), *small = g_new(float, n);
#pragma omp for schedule(dynamic, 1)
        for (int f = 0; f < job->nf; f++)
            resample_wave(job, waves, planes + waves->size * f, fine_waves,
                          fine_planes + fine_waves->size * f, &along_x, &along_y, adjoint, full,
                          half, small);
        g_free(full);
        g_free(half);
        g_free(small);
    }
    litho_taps_clear(&along_x);
    litho_taps_clear(&along_y);
}

static float *alloc_fine(const LithoMigrateJob *job, const LithoWaves *waves, GError **error)
{
    float *planes = litho_waves_alloc(waves, MAX(job->nf, 1));
    if (!planes)
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY, "no memory for %.2f GiB of waves",
                    4.0 * waves->size * job->nf / (1 << 30));
    return planes;
}

gboolean litho_coarse_spectrum_forward(const LithoMigrateJob *job, const LithoWaves *waves,
                                       const LithoCube *in, const int *row, const int *column,
                                       float *planes, LithoRun *run, GError **error)
{
    LithoMigrateJob fine = fine_twin(job);
    LithoWaves fine_waves = litho_waves_layout(fine.cells.nx, fine.cells.ny);
    float *fine_planes = alloc_fine(job, &fine_waves, error);
    gboolean ok = fine_planes && litho_spectrum_forward(&fine, &fine_waves, in, row, column,
                                                        fine_planes, run, error);
    if (ok)
        resample_waves(job, waves, planes, &fine, &fine_waves, fine_planes, FALSE, run);
    free(fine_planes);
    return ok;
}

gboolean litho_coarse_spectrum_adjoint(const LithoMigrateJob *job, const LithoWaves *waves,
                                       float *planes, LithoCube *out, LithoRun *run,
                                       GError **error)
{
    LithoMigrateJob fine = fine_twin(job);
    LithoWaves fine_waves = litho_waves_layout(fine.cells.nx, fine.cells.ny);
    float *fine_planes = alloc_fine(job, &fine_waves, error);
    if (!fine_planes)
        return FALSE;
    resample_waves(job, waves, planes, &fine, &fine_waves, fine_planes, TRUE, run);
    gboolean ok = litho_spectrum_adjoint(&fine, &fine_waves, fine_planes, out, run, error);
    free(fine_planes);
    return ok;
}
