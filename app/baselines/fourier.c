// SPDX-License-Identifier: GPL-3.0-or-later
//
// A threshold in the spectrum of the whole cube: once against noise, again and again for missing
// traces (projection onto convex sets; Abma and Kabir, 2006).
#include <fftw3.h>
#include <math.h>
#include <string.h>

#include "app/baselines/baselines.h"
#include "core/memory.h"
#include "core/qc_noise.h"

enum { STEPS = 50 };
#define FLOOR 0.003 // last threshold over the largest coefficient
#define SIGMAS 3.0

typedef struct Volume {
    gint64 samples, bins;
    float *x;
    fftwf_complex *spectrum;
    fftwf_plan forward, inverse;
} Volume;

static void volume_clear(Volume *v)
{
    if (v->forward)
        fftwf_destroy_plan(v->forward);
    if (v->inverse)
        fftwf_destroy_plan(v->inverse);
    g_free(v->x);
    g_free(v->spectrum);
}

static gboolean volume_init(Volume *v, const LithoCube *in, GError **error)
{
    int n[3];
    for (int a = 0; a < 3; a++)
        n[a] = (int)in->grid.axis[a].n;
    memset(v, 0, sizeof *v);
    v->samples = litho_grid_samples(&in->grid);
    v->bins = litho_grid_traces(&in->grid) * (n[2] / 2 + 1);
    v->x = litho_memory_new(v->samples, sizeof *v->x, "a volume", error);
    v->spectrum = v->x ? litho_memory_new(v->bins, sizeof *v->spectrum, "a spectrum", error) : NULL;
    if (!v->spectrum)
        return FALSE;
    v->forward = fftwf_plan_dft_r2c(3, n, v->x, v->spectrum, FFTW_ESTIMATE);
    v->inverse = fftwf_plan_dft_c2r(3, n, v->spectrum, v->x, FFTW_ESTIMATE);
    for (gint64 k = 0; k < v->samples; k++)
        v->x[k] = in->live[k / n[2]] ? in->samples[k] : 0;
    return TRUE;
}

static void threshold(Volume *v, double level)
{
    for (gint64 k = 0; k < v->bins; k++)
        if (hypotf(v->spectrum[k][0], v->spectrum[k][1]) < level)
            v->spectrum[k][0] = v->spectrum[k][1] = 0;
    fftwf_execute(v->inverse);
    for (gint64 k = 0; k < v->samples; k++)
        v->x[k] /= (float)v->samples;
}

static gboolean denoise(const LithoCube *in, LithoCube *out, LithoRun *run, GError **error)
{
    LithoNoise noise;
    Volume v;
    if (!litho_qc_noise(in, NULL, run, &noise, error))
        return FALSE;
    const double level = SIGMAS * noise.total;
    litho_noise_clear(&noise);
    const gboolean ok = volume_init(&v, in, error);
    if (ok) {
        fftwf_execute(v.forward);
        threshold(&v, level * sqrt((double)v.samples));
        memcpy(out->samples, v.x, v.samples * sizeof *v.x);
    }
    volume_clear(&v);
    return ok;
}

// Thresholds fall geometrically from the largest coefficient.
static gboolean project(Volume *v, const LithoCube *in, LithoRun *run, GError **error)
{
    const gint64 n = in->grid.axis[2].n;
    double largest = 0;
    litho_run_begin(run, "baseline", "iterations");
    for (int step = 0; step < STEPS; step++) {
        if (!litho_run_step(run, step, STEPS, error))
            return FALSE;
        fftwf_execute(v->forward);
        for (gint64 k = 0; k < v->bins && step == 0; k++)
            largest = MAX(largest, hypotf(v->spectrum[k][0], v->spectrum[k][1]));
        threshold(v, largest * pow(FLOOR, (double)step / (STEPS - 1)));
        for (gint64 k = 0; k < v->samples; k++)
            if (in->live[k / n])
                v->x[k] = in->samples[k];
    }
    return TRUE;
}

static gboolean fill(const LithoCube *in, LithoCube *out, LithoRun *run, GError **error)
{
    Volume v;
    const gboolean ok = volume_init(&v, in, error) && project(&v, in, run, error);
    if (ok)
        memcpy(out->samples, v.x, v.samples * sizeof *v.x);
    volume_clear(&v);
    return ok;
}

const LithoBaseline litho_baseline_fourier = {
    .name = "fft3d",
    .title = "3-D FFT",
    .doc = "Spectrum of the whole cube: coefficients below 3 standard deviations of the measured "
           "noise are removed; missing traces are filled by 50 projections, whose threshold falls "
           "from the largest coefficient to 0.003 of it (POCS; Abma and Kabir, 2006).",
    .denoise = denoise,
    .fill = fill,
};
