// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/migrate/cpu/step.h"

#include <fftw3.h>
#include <math.h>

#include "kernels/migrate/cpu/spectrum.h"

struct LithoSplitStep {
    LithoWaves waves;
    fftwf_plan forward, inverse; // in place; executed on any thread's plane
    double *kx2, *ky2;           // [nx], [ny] squared wavenumbers
};

// Squared wavenumbers of an axis in FFT order.
static double *squared_wavenumbers(int n, double spacing)
{
    double *k2 = g_new0(double, n);
    for (int i = 0; i < n && n > 1; i++) {
        double k = 2 * G_PI * (i <= n / 2 ? i : i - n) / (n * spacing);
        k2[i] = k * k;
    }
    return k2;
}

LithoSplitStep *litho_split_step_new(const LithoWaves *waves, const LithoCells *cells)
{
    LithoSplitStep *split = g_new0(LithoSplitStep, 1);
    split->waves = *waves;
    split->kx2 = squared_wavenumbers(waves->nx, cells->dx);
    split->ky2 = squared_wavenumbers(waves->ny, cells->dy);
    fftwf_complex *plane = litho_split_step_scratch(split);
    if (plane) {
        split->forward =
            fftwf_plan_dft_2d(waves->ny, waves->nx, plane, plane, FFTW_FORWARD, FFTW_ESTIMATE);
        split->inverse =
            fftwf_plan_dft_2d(waves->ny, waves->nx, plane, plane, FFTW_BACKWARD, FFTW_ESTIMATE);
    }
    litho_split_step_scratch_free(plane);
    if (!split->forward || !split->inverse)
        g_clear_pointer(&split, litho_split_step_free);
    return split;
}

void litho_split_step_free(LithoSplitStep *split)
{
    if (!split)
        return;
    fftwf_destroy_plan(split->forward);
    fftwf_destroy_plan(split->inverse);
    g_free(split->kx2);
    g_free(split->ky2);
    g_free(split);
}

gpointer litho_split_step_scratch(const LithoSplitStep *split)
{
    return fftwf_malloc(sizeof(fftwf_complex) * split->waves.nx * split->waves.ny);
}

void litho_split_step_scratch_free(gpointer scratch)
{
    fftwf_free(scratch);
}

// Multiplies by exp(+-i dz kz(k)), decaying where evanescent, and by 1 / (nx ny) for the FFT pair.
static void phase_shift(const LithoSplitStep *split, double kappa, double dz, gboolean adjoint,
                        fftwf_complex *plane)
{
    const int nx = split->waves.nx, ny = split->waves.ny;
    const double scale = 1.0 / ((double)nx * ny), sign = adjoint ? -1 : 1;
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++) {
            float *p = plane[(gsize)y * nx + x];
            double kz2 = kappa * kappa - split->kx2[x] - split->ky2[y];
            if (kz2 < 0) {
                float decay = (float)(scale * exp(-dz * sqrt(-kz2)));
                p[0] *= decay;
                p[1] *= decay;
                continue;
            }
            float phase = (float)(sign * dz * sqrt(kz2));
            float c = (float)scale * cosf(phase), s = (float)scale * sinf(phase);
            float re = c * p[0] - s * p[1];
            p[1] = c * p[1] + s * p[0];
            p[0] = re;
        }
}

// The thin lens: phase of the slowness that the reference leaves out. Reads and writes the wave.
static void thin_lens(const LithoSplitStep *split, double omega, double dz, const float *slowness,
                      double mean, double sign, float *wave)
{
    const LithoWaves *w = &split->waves;
    for (int y = 0; y < w->ny; y++) {
        float *re = litho_wave_row(w, wave, y), *im = re + w->stride;
        const float *s = slowness + (gsize)y * w->nx;
        for (int x = 0; x < w->nx; x++) {
            float phase = (float)(sign * omega * dz * (s[x] - mean));
            float c = cosf(phase), d = sinf(phase), r = c * re[x] - d * im[x];
            im[x] = c * im[x] + d * re[x];
            re[x] = r;
        }
    }
}

// FALSE: told to stop.
static gboolean diffract(const LithoSplitStep *split, fftwf_complex *plane, double kappa, double dz,
                         gboolean adjoint, float *wave, const LithoRun *run)
{
    const LithoWaves *w = &split->waves;
    for (int y = 0; y < w->ny; y++) {
        const float *re = litho_wave_row(w, wave, y), *im = re + w->stride;
        for (int x = 0; x < w->nx; x++) {
            plane[(gsize)y * w->nx + x][0] = re[x];
            plane[(gsize)y * w->nx + x][1] = im[x];
        }
    }
    fftwf_execute_dft(split->forward, plane, plane);
    if (!litho_run_checkpoint(run))
        return FALSE;
    phase_shift(split, kappa, dz, adjoint, plane);
    if (!litho_run_checkpoint(run))
        return FALSE;
    fftwf_execute_dft(split->inverse, plane, plane);
    for (int y = 0; y < w->ny; y++) {
        float *re = litho_wave_row(w, wave, y), *im = re + w->stride;
        for (int x = 0; x < w->nx; x++) {
            re[x] = plane[(gsize)y * w->nx + x][0];
            im[x] = plane[(gsize)y * w->nx + x][1];
        }
    }
    return litho_run_checkpoint(run);
}

gboolean litho_split_step_apply(const LithoSplitStep *split, gpointer scratch, double omega,
                                double dz, const float *slowness, double mean, gboolean adjoint,
                                float *wave, const LithoRun *run)
{
    if (adjoint && slowness)
        thin_lens(split, omega, dz, slowness, mean, -1, wave);
    if (!litho_run_checkpoint(run) ||
        !diffract(split, scratch, omega * mean, dz, adjoint, wave, run))
        return FALSE;
    if (!adjoint && slowness)
        thin_lens(split, omega, dz, slowness, mean, +1, wave);
    return TRUE;
}
