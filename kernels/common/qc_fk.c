// SPDX-License-Identifier: GPL-3.0-or-later
//
// Frequency and wavenumber of a piece of a section, for the window's area tool.
#include "core/text.h"
#include "kernels/kernels.h"

#include <fftw3.h>
#include <math.h>
#include <string.h>

#include "core/error.h"

// A picture with fewer lines than this is a mosaic: the section is padded with zeros.
enum { LEAST_TRACES = 64, LEAST_SAMPLES = 128 };

static guint padded(guint n, guint least)
{
    guint p = least;
    while (p < n)
        p *= 2;
    return p;
}

// Hann over `n`, without zeros at its ends.
static double hann(guint k, guint n)
{
    double s = sin(G_PI * (k + 0.5) / n);
    return s * s;
}

static gboolean is_usable(const float *trace, guint n)
{
    for (guint k = 0; k < n; k++)
        if (!isfinite(trace[k]))
            return FALSE;
    return TRUE;
}

// Traces times the window in time, transformed along time: rows of nf values in `out`.
static guint transform_traces(const float *section, guint traces, guint samples, guint nt,
                              fftwf_complex *out)
{
    guint nf = nt / 2 + 1, live = 0;
    float *in = fftwf_alloc_real(nt);
    fftwf_plan plan = fftwf_plan_dft_r2c_1d((int)nt, in, out, FFTW_ESTIMATE | FFTW_UNALIGNED);
    memset(in, 0, nt * sizeof *in);
    for (guint t = 0; t < traces; t++) {
        const float *trace = section + (gsize)t * samples;
        gboolean usable = is_usable(trace, samples);
        for (guint k = 0; k < samples; k++)
            in[k] = usable ? (float)(trace[k] * hann(k, samples)) : 0;
        fftwf_execute_dft_r2c(plan, in, out + (gsize)t * nf);
        live += usable;
    }
    fftwf_destroy_plan(plan);
    fftwf_free(in);
    return live;
}

// RMS over the live traces; a sine of amplitude A gives A: the window's mean is a half, and half of
// the sine is at the negative frequency.
static double *mean_spectrum(const fftwf_complex *out, guint traces, guint live, guint samples,
                             guint nf)
{
    double *spectrum = g_new0(double, nf);
    for (guint t = 0; t < traces; t++)
        for (guint f = 0; f < nf; f++) {
            const float *c = out[(gsize)t * nf + f];
            spectrum[f] += (double)c[0] * c[0] + (double)c[1] * c[1];
        }
    for (guint f = 0; f < nf; f++)
        spectrum[f] = live > 0 ? 4 * sqrt(spectrum[f] / live) / samples : 0;
    return spectrum;
}

// Amplitude spectrum of each trace alone, scaled as mean_spectrum().
static float *trace_spectra(const fftwf_complex *out, guint traces, guint samples, guint nf)
{
    float *spectra = g_new(float, (gsize)traces *nf);
    for (gsize k = 0; k < (gsize)traces * nf; k++)
        spectra[k] = 4 * hypotf(out[k][0], out[k][1]) / samples;
    return spectra;
}

gboolean litho_fftw_fk(const float *section, guint traces, guint samples, LithoFk *fk,
                       GError **error)
{
    if (traces < 2 || samples < 4) {
        g_set_error(
            error, LITHO_ERROR, LITHO_ERROR_GEOMETRY,
            _("%u x %u samples are too few; frequency and wavenumber need 2 traces of 4 or more"),
            traces, samples);
        return FALSE;
    }
    const guint nx = padded(traces, LEAST_TRACES), nt = padded(samples, LEAST_SAMPLES);
    const guint nf = nt / 2 + 1;
    fftwf_complex *all = fftwf_alloc_complex((gsize)nx * nf);
    memset(all, 0, sizeof *all * nx * nf);
    guint live = transform_traces(section, traces, samples, nt, all);
    fk->spectrum = mean_spectrum(all, traces, live, samples, nf);
    fk->by_trace = trace_spectra(all, traces, samples, nf);
    fk->n_x = traces;
    for (guint t = 0; t < traces; t++)
        for (guint f = 0; f < nf; f++)
            for (int c = 0; c < 2; c++)
                all[(gsize)t * nf + f][c] *= (float)(hann(t, traces) * 8 / traces / samples);
    const int n[] = {(int)nx};
    // Across traces, all frequencies at once. An event that comes later to the right has the phase
    // exp(-i 2 pi f p x); the backward transform puts it at the positive wavenumber f p.
    fftwf_plan plan = fftwf_plan_many_dft(1, n, (int)nf, all, NULL, (int)nf, 1, all, NULL, (int)nf,
                                          1, FFTW_BACKWARD, FFTW_ESTIMATE);
    fftwf_execute(plan);
    fftwf_destroy_plan(plan);
    fk->n_k = nx;
    fk->n_f = nf;
    fk->traces = live;
    fk->amplitude = g_new(float, (gsize)nx *nf);
    for (guint k = 0; k < nx; k++) {
        const fftwf_complex *row = all + (gsize)((k + nx / 2) % nx) * nf;
        for (guint f = 0; f < nf; f++)
            fk->amplitude[(gsize)k * nf + f] = hypotf(row[f][0], row[f][1]);
    }
    fftwf_free(all);
    return TRUE;
}
