// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/baselines/slices.h"

#include <fftw3.h>
#include <string.h>

#include "core/memory.h"

gint64 litho_baseline_windows(gint64 n, gint64 window, gint64 overlap)
{
    const gint64 step = MAX(window - overlap, 1);
    return n <= window ? 1 : 1 + (n - window + step - 1) / step;
}

gint64 litho_baseline_start(gint64 n, gint64 window, gint64 count, gint64 k)
{
    return count > 1 ? k * (n - window) / (count - 1) : 0;
}

double litho_baseline_ramp(gint64 i, gint64 window, gint64 overlap)
{
    return (double)MIN(MIN(i, window - 1 - i) + 1, overlap + 1);
}

typedef struct Slices {
    gint64 n1, n2, nt, window, nfft, nf;
    int threads;
    double complex *spectra; // [nf][traces]
    double *weight;          // sum of ramps per sample of a trace
    fftw_plan forward, inverse;
} Slices;

static void transform(const Slices *s, const LithoCube *in, gint64 start)
{
    const gint64 traces = s->n1 * s->n2;
#pragma omp parallel num_threads(s->threads)
    {
        double *x = fftw_alloc_real(s->nfft);
        fftw_complex *f = fftw_alloc_complex(s->nf);
#pragma omp for
        for (gint64 t = 0; t < traces; t++) {
            memset(x, 0, s->nfft * sizeof *x);
            for (gint64 k = 0; k < s->window && in->live[t]; k++)
                x[k] = in->samples[t * s->nt + start + k];
            fftw_execute_dft_r2c(s->forward, x, f);
            for (gint64 k = 0; k < s->nf; k++)
                s->spectra[k * traces + t] = f[k];
        }
        fftw_free(x);
        fftw_free(f);
    }
}

static void add_back(const Slices *s, gint64 start, LithoCube *out)
{
    const gint64 traces = s->n1 * s->n2;
#pragma omp parallel num_threads(s->threads)
    {
        double *x = fftw_alloc_real(s->nfft);
        fftw_complex *f = fftw_alloc_complex(s->nf);
#pragma omp for
        for (gint64 t = 0; t < traces; t++) {
            for (gint64 k = 0; k < s->nf; k++)
                f[k] = s->spectra[k * traces + t];
            fftw_execute_dft_c2r(s->inverse, f, x);
            float *to = out->samples + t * s->nt + start;
            for (gint64 k = 0; k < s->window; k++)
                to[k] += (float)(x[k] * litho_baseline_ramp(k, s->window, SLICE_OVERLAP) /
                                 ((double)s->nfft * s->weight[start + k]));
        }
        fftw_free(x);
        fftw_free(f);
    }
}

static gboolean work(const Slices *s, const LithoCube *in, LithoSliceFunc func, gconstpointer data,
                     LithoCube *out, LithoRun *run, GError **error)
{
    const gint64 count = litho_baseline_windows(s->nt, s->window, SLICE_OVERLAP);
    enum { TOGETHER = 16 }; // frequencies between two looks at the cancel button
    litho_run_begin(run, "baseline", "frequencies");
    for (gint64 w = 0; w < count; w++)
        for (gint64 k = 0, at = litho_baseline_start(s->nt, s->window, count, w); k < s->window;
             k++)
            s->weight[at + k] += litho_baseline_ramp(k, s->window, SLICE_OVERLAP);
    for (gint64 w = 0; w < count; w++) {
        const gint64 start = litho_baseline_start(s->nt, s->window, count, w);
        transform(s, in, start);
        for (gint64 f = 0; f < s->nf; f += TOGETHER) {
            if (!litho_run_step(run, w * s->nf + f, count * s->nf, error))
                return FALSE;
#pragma omp parallel for schedule(dynamic) num_threads(s->threads)
            for (gint64 k = f; k < MIN(f + TOGETHER, s->nf); k++)
                func(s->spectra + k * s->n1 * s->n2, s->n1, s->n2, data);
        }
        add_back(s, start, out);
    }
    return TRUE;
}

gboolean litho_baseline_slices(const LithoCube *in, LithoSliceFunc func, gconstpointer data,
                               LithoCube *out, LithoRun *run, GError **error)
{
    const LithoAxis *axis = in->grid.axis;
    Slices s = {.n1 = axis[0].n, .n2 = axis[1].n, .nt = axis[2].n};
    s.threads = litho_run_threads(run);
    s.window = MIN(SLICE_TIME, s.nt);
    for (s.nfft = 8; s.nfft < s.window;)
        s.nfft *= 2;
    s.nf = s.nfft / 2 + 1;
    s.spectra = litho_memory_new(s.nf * s.n1 * s.n2, sizeof *s.spectra, "spectra", error);
    if (!s.spectra)
        return FALSE;
    s.weight = g_new0(double, s.nt);
    double *x = fftw_alloc_real(s.nfft);
    fftw_complex *f = fftw_alloc_complex(s.nf);
    s.forward = fftw_plan_dft_r2c_1d((int)s.nfft, x, f, FFTW_ESTIMATE);
    s.inverse = fftw_plan_dft_c2r_1d((int)s.nfft, f, x, FFTW_ESTIMATE);
    const gboolean ok = work(&s, in, func, data, out, run, error);
    fftw_destroy_plan(s.forward);
    fftw_destroy_plan(s.inverse);
    fftw_free(x);
    fftw_free(f);
    g_free(s.weight);
    g_free(s.spectra);
    return ok;
}
