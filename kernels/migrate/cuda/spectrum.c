// SPDX-License-Identifier: GPL-3.0-or-later
#include <cufft.h>
#include <math.h>

#include "kernels/migrate/cuda/engine.h"

static void drop_fft(int *handle)
{
    if (*handle)
        cufftDestroy(*handle);
    *handle = 0;
}

// Time transforms of `nfft` samples, for so many traces or as many as go at a time. Shots differ:
// what is there serves up to a quarter of its lines, for making it takes longer than they do.
static gboolean need_fft(MigGpu *plan, int nfft, gint64 traces, GError **error)
{
    const int wanted = (int)CLAMP(traces, 1, mig_gpu_lines(nfft)), bins = nfft / 2 + 1;
    if (plan->fft_length != nfft || plan->fft_batch < wanted || plan->fft_batch / 4 > wanted) {
        const int batch = wanted;
        drop_fft(&plan->fft_forward);
        drop_fft(&plan->fft_inverse);
        plan->fft_length = 0;
        if (!LITHO_CUFFT(cufftPlan1d(&plan->fft_forward, nfft, CUFFT_R2C, batch), error) ||
            !LITHO_CUFFT(cufftPlan1d(&plan->fft_inverse, nfft, CUFFT_C2R, batch), error) ||
            !LITHO_CUFFT(cufftSetStream(plan->fft_forward, litho_cuda_stream(plan->context)),
                         error) ||
            !LITHO_CUFFT(cufftSetStream(plan->fft_inverse, litho_cuda_stream(plan->context)),
                         error))
            return FALSE;
        plan->fft_length = nfft;
        plan->fft_batch = batch;
    }
    const size_t lines = plan->fft_batch;
    return litho_cuda_reserve(plan->context, &plan->lines, lines * nfft * sizeof(float), error) &&
           litho_cuda_reserve(plan->context, &plan->bins, lines * bins * sizeof(float2), error);
}

static gboolean upload_taper(MigGpu *plan, const LithoMigrateJob *job, GError **error)
{
    g_autofree float *taper = litho_migrate_job_taper(job);
    return mig_gpu_upload(plan, &plan->taper, taper, job->nt * sizeof(float), error);
}

// Place of the time transform's waves: the band's own plane, or for the coarse band the image's
// cells.
typedef struct Place {
    MigGpuPlane plane;
    int pad_x, pad_y;
} Place;

static Place place_of(const MigGpuBand *band)
{
    const LithoMigrateJob *job = band->job;
    if (job->ratio == 1)
        return (Place){band->plane, job->pad_x, job->pad_y};
    const int nx = job->image.axis[1].n, ny = job->image.axis[0].n, pitch = (nx + 7) / 8 * 8;
    return (Place){{nx, ny, pitch, 2 * (size_t)ny * pitch}, 0, 0};
}

static int cell_at(const Place *place, gint64 y, gint64 x)
{
    return (int)((y + place->pad_y) * place->plane.pitch + x + place->pad_x);
}

// Every trace's own cell.
static gboolean upload_cells(MigGpu *plan, const Place *place, gint64 ni, gint64 nj, GError **error)
{
    g_autofree int *cells = g_new(int, ni *nj);
    for (gint64 k = 0; k < ni * nj; k++)
        cells[k] = cell_at(place, k / nj, k % nj);
    return mig_gpu_upload(plan, &plan->cells, cells, ni * nj * sizeof(int), error);
}

// Uploads the numbers of a shot's live traces, `n` of them, and their receivers' cells.
static gboolean upload_shot(MigGpu *plan, const Place *place, const LithoShotTraces *traces,
                            const guint8 *live, gint64 *n, GError **error)
{
    g_autofree int *cells = g_new(int, MAX(traces->n, 1));
    g_autofree long long *list = g_new(long long, MAX(traces->n, 1));
    *n = 0;
    for (gint64 k = 0; k < traces->n; k++) {
        if (!live[traces->trace[k]])
            continue;
        cells[*n] = cell_at(place, traces->row[k], traces->column[k]);
        list[(*n)++] = traces->trace[k];
    }
    return mig_gpu_upload(plan, &plan->cells, cells, *n * sizeof *cells, error) &&
           mig_gpu_upload(plan, &plan->listed, list, *n * sizeof *list, error);
}

// --- resampling of one axis -------------------------------------------------------------------

// in -> out (device), the array seen as [outer][n][inner]; n_in and n_out may exceed the taps'.
static gboolean apply_taps(MigGpu *plan, const LithoTaps *taps, int n_in, size_t outer,
                           size_t inner, const float *in, float *out, gboolean add, GError **error)
{
    const gsize n = taps->n_out, weights = n * taps->width * sizeof(float);
    const gsize bytes = 2 * n * sizeof(int) + weights;
    g_autofree guint8 *packed = g_malloc(bytes);
    memcpy(packed, taps->first, n * sizeof(int));
    memcpy(packed + n * sizeof(int), taps->count, n * sizeof(int));
    memcpy(packed + 2 * n * sizeof(int), taps->weight, weights);
    if (!mig_gpu_upload(plan, &plan->taps, packed, bytes, error))
        return FALSE;
    const int *first = plan->taps.data;
    const MigGpuTaps on_device = {first,       first + n, (const float *)(first + 2 * n),
                                  taps->width, n_in,      taps->n_out};
    return LITHO_CUDA(
        mig_gpu_taps(&on_device, outer, inner, in, out, add, litho_cuda_stream(plan->context)),
        error);
}

static gboolean copy_rows(MigGpu *plan, float *to, int to_pitch, int to_rows, const float *from,
                          int from_pitch, int from_rows, int nx, int ny, int n, GError **error)
{
    const struct cudaMemcpy3DParms copy = {
        .srcPtr = {(void *)from, from_pitch * sizeof(float), from_pitch, from_rows},
        .dstPtr = {to, to_pitch * sizeof(float), to_pitch, to_rows},
        .extent = {nx * sizeof(float), ny, n},
        .kind = cudaMemcpyDeviceToDevice};
    return LITHO_CUDA(cudaMemcpy3DAsync(&copy, litho_cuda_stream(plan->context)), error);
}

// Waves on the image's cells to the coarse band's plane, or (adjoint) back.
static gboolean resample_waves(MigGpu *plan, const MigGpuBand *band, const Place *fine,
                               float *fine_waves, float *waves, gboolean adjoint, GError **error)
{
    const LithoMigrateJob *job = band->job;
    const int cx = job->data_nx, cy = job->data_ny, nx = fine->plane.nx, ny = fine->plane.ny;
    const int pitch = fine->plane.pitch, n = 2 * job->nf;
    LithoTaps ty = litho_migrate_job_decimation(job, 1), tx = litho_migrate_job_decimation(job, 2);
    gboolean ok = litho_cuda_reserve(plan->context, &plan->resampled[1],
                                     (size_t)n * ny * pitch * sizeof(float), error);
    float *half = plan->resampled[1].data;
    float *corner = waves + (size_t)job->pad_y * band->plane.pitch + job->pad_x;
    if (ok && !adjoint) {
        // fine -> half (along y), half -> fine's room (along x), fine's room -> the plane.
        ok = apply_taps(plan, &ty, ny, n, pitch, fine_waves, half, FALSE, error) &&
             apply_taps(plan, &tx, pitch, (size_t)n * cy, 1, half, fine_waves, FALSE, error) &&
             copy_rows(plan, corner, band->plane.pitch, band->plane.ny, fine_waves, cx, cy, cx, cy,
                       n, error);
    } else if (ok) {
        LithoTaps sy = litho_taps_transposed(&ty), sx = litho_taps_transposed(&tx);
        ok = copy_rows(plan, fine_waves, cx, cy, corner, band->plane.pitch, band->plane.ny, cx, cy,
                       n, error) &&
             apply_taps(plan, &sx, cx, (size_t)n * cy, 1, fine_waves, half, FALSE, error) &&
             apply_taps(plan, &sy, cy, n, nx, half, fine_waves, FALSE, error) &&
             copy_rows(plan, half, pitch, ny, fine_waves, nx, ny, nx, ny, n, error) &&
             LITHO_CUDA(cudaMemcpyAsync(fine_waves, half, (size_t)n * ny * pitch * sizeof(float),
                                        cudaMemcpyDeviceToDevice, litho_cuda_stream(plan->context)),
                        error);
        litho_taps_clear(&sy);
        litho_taps_clear(&sx);
    }
    litho_taps_clear(&ty);
    litho_taps_clear(&tx);
    return ok;
}

// --- spectra ----------------------------------------------------------------------------------

// Traces on their way to waves: n of the input, or the n that plan->listed names.
typedef struct Lines {
    const float *samples;
    gint64 n;
    gboolean listed;
} Lines;

static gboolean lines_to_waves(MigGpu *plan, const MigGpuBand *band, const Place *place,
                               const Lines *lines, float *waves, GError **error)
{
    const LithoMigrateJob *job = band->job;
    cudaStream_t stream = litho_cuda_stream(plan->context);
    const int bins = job->nfft / 2 + 1;
    for (gint64 first = 0; first < lines->n; first += plan->fft_batch) {
        const int n = (int)MIN(plan->fft_batch, lines->n - first);
        if (!LITHO_CUDA(mig_gpu_load_lines(lines->samples, lines->listed ? plan->listed.data : NULL,
                                           lines->listed ? NULL : plan->live.data, plan->taper.data,
                                           first, n, job->nt, job->nfft, plan->lines.data, stream),
                        error) ||
            !LITHO_CUFFT(cufftExecR2C(plan->fft_forward, plan->lines.data, plan->bins.data),
                         error) ||
            !LITHO_CUDA(mig_gpu_scatter(plan->bins.data, n, bins, job->k_first, job->k_stride,
                                        job->nf, band->turn.data,
                                        (const int *)plan->cells.data + first, place->plane, waves,
                                        stream),
                        error))
            return FALSE;
    }
    return TRUE;
}

// Everything the transforms of the input's traces need on the card.
static gboolean lines_init(MigGpu *plan, const MigGpuBand *band, const Place *place,
                           const LithoCube *in, const LithoShotTraces *traces, Lines *lines,
                           LithoRun *run, GError **error)
{
    const LithoMigrateJob *job = band->job;
    const gint64 ni = in->grid.axis[0].n, nj = in->grid.axis[1].n;
    *lines = (Lines){litho_cuda_input(plan->context, in, run, error), ni * nj, traces != NULL};
    if (!lines->samples || !upload_taper(plan, job, error))
        return FALSE;
    return (traces ? upload_shot(plan, place, traces, in->live, &lines->n, error)
                   : upload_cells(plan, place, ni, nj, error) &&
                         mig_gpu_upload(plan, &plan->live, in->live, ni * nj, error)) &&
           need_fft(plan, job->nfft, lines->n, error);
}

gboolean mig_gpu_spectrum_forward(MigGpu *plan, MigGpuBand *band, const LithoCube *in,
                                  const LithoShotTraces *traces, float *waves, LithoRun *run,
                                  GError **error)
{
    const LithoMigrateJob *job = band->job;
    if (job->nf == 0)
        return TRUE;
    const Place place = place_of(band);
    cudaStream_t stream = litho_cuda_stream(plan->context);
    const size_t bytes = place.plane.size * job->nf * sizeof(float);
    Lines lines;
    if (!lines_init(plan, band, &place, in, traces, &lines, run, error) ||
        !LITHO_CUDA(cudaMemsetAsync(waves, 0, band->plane.size * job->nf * sizeof(float), stream),
                    error))
        return FALSE;
    litho_cuda_mark(plan->context, "spectrum", LITHO_STAGE_COMPUTE,
                    4.0 * lines.n * (job->nt + 4.0 * job->nfft) + bytes, 0);
    if (job->ratio == 1)
        return lines_to_waves(plan, band, &place, &lines, waves, error);
    if (!litho_cuda_reserve(plan->context, &plan->resampled[0], bytes, error) ||
        !LITHO_CUDA(cudaMemsetAsync(plan->resampled[0].data, 0, bytes, stream), error))
        return FALSE;
    float *fine = plan->resampled[0].data;
    return lines_to_waves(plan, band, &place, &lines, fine, error) &&
           resample_waves(plan, band, &place, fine, waves, FALSE, error);
}

gboolean mig_gpu_spectrum_adjoint(MigGpu *plan, MigGpuBand *band, const float *waves, float *out,
                                  LithoRun *run, GError **error)
{
    const LithoMigrateJob *job = band->job;
    const gint64 ni = job->image.axis[0].n, nj = job->image.axis[1].n, traces = ni * nj;
    const Place place = place_of(band);
    cudaStream_t stream = litho_cuda_stream(plan->context);
    (void)run;
    if (!need_fft(plan, job->nfft, traces, error) || !upload_taper(plan, job, error) ||
        !upload_cells(plan, &place, ni, nj, error))
        return FALSE;
    const float *from = waves;
    if (job->ratio > 1) {
        if (!litho_cuda_reserve(plan->context, &plan->resampled[0],
                                place.plane.size * job->nf * sizeof(float), error) ||
            !resample_waves(plan, band, &place, plan->resampled[0].data, (float *)waves, TRUE,
                            error))
            return FALSE;
        from = plan->resampled[0].data;
    }
    const int bins = job->nfft / 2 + 1;
    litho_cuda_mark(plan->context, "spectrum", LITHO_STAGE_COMPUTE, 0, 0);
    for (gint64 first = 0; first < traces; first += plan->fft_batch) {
        const int n = (int)MIN(plan->fft_batch, traces - first);
        if (!LITHO_CUDA(mig_gpu_gather(from, place.plane, (const int *)plan->cells.data + first,
                                       band->turn.data, n, bins, job->k_first, job->k_stride,
                                       job->nf, plan->bins.data, stream),
                        error) ||
            !LITHO_CUFFT(cufftExecC2R(plan->fft_inverse, plan->bins.data, plan->lines.data),
                         error) ||
            !LITHO_CUDA(mig_gpu_store_lines(plan->lines.data, plan->taper.data, first, n, job->nt,
                                            job->nfft, out, stream),
                        error))
            return FALSE;
    }
    return TRUE;
}

// --- the coarse image -------------------------------------------------------------------------

// Axis after axis through two work arrays. The last axis writes `to`, or adds to it.
static gboolean resample_image(MigGpu *plan, const LithoMigrateJob *job, const float *from,
                               gboolean adjoint, float *to, GError **error)
{
    const int fine[3] = {job->depths, job->image.axis[0].n, job->image.axis[1].n};
    const int coarse[3] = {job->nz, job->data_ny, job->data_nx};
    int n[3];
    memcpy(n, adjoint ? fine : coarse, sizeof n);
    // From coarse to fine along x, y, z, and back along z, y, x: arrays on the way hold coarse
    // depths.
    const size_t most[2] = {(size_t)coarse[0] * fine[1] * fine[2],
                            (size_t)coarse[0] * coarse[1] * fine[2]};
    for (int k = 0; k < 2; k++)
        if (!litho_cuda_reserve(plan->context, &plan->resampled[k], most[k] * sizeof(float), error))
            return FALSE;
    for (int pass = 0; pass < 3; pass++) {
        const int axis = adjoint ? pass : 2 - pass;
        size_t outer = 1, inner = 1;
        for (int k = 0; k < axis; k++)
            outer *= n[k];
        for (int k = axis + 1; k < 3; k++)
            inner *= n[k];
        LithoTaps taps = litho_migrate_job_interpolation(job, axis);
        if (adjoint) {
            LithoTaps turned = litho_taps_transposed(&taps);
            litho_taps_clear(&taps);
            taps = turned;
        }
        // The larger of the two arrays is the one beside the depth axis.
        float *out = pass == 2 ? to : plan->resampled[adjoint ? pass : 1 - pass].data;
        gboolean ok =
            apply_taps(plan, &taps, n[axis], outer, inner, from, out, pass == 2 && !adjoint, error);
        n[axis] = taps.n_out;
        litho_taps_clear(&taps);
        if (!ok)
            return FALSE;
        from = out;
    }
    return TRUE;
}

gboolean mig_gpu_coarse_add(MigGpu *plan, const MigGpuBand *band, const float *coarse, float *fine,
                            GError **error)
{
    return resample_image(plan, band->job, coarse, FALSE, fine, error);
}

gboolean mig_gpu_coarse_adjoint(MigGpu *plan, const MigGpuBand *band, const float *fine,
                                float *coarse, GError **error)
{
    return resample_image(plan, band->job, fine, TRUE, coarse, error);
}
