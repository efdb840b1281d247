// SPDX-License-Identifier: GPL-3.0-or-later
//
// Both ends of a chain: the sources' field on the first boundary, and traces from spectra.
#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "kernels/twsm/setup.h"

// What all elements of a first boundary share.
typedef struct Shot {
    const TwsmSetup *setup;
    const TwsmPoints *mesh;
    TwsmContact contact;
    int code;
    double arrive, velocity;
    TwsmBand band;
} Shot;

static void coefficients(const Shot *shot, double r, double cos1, double complex *c)
{
    const TwsmSetup *s = shot->setup;
    if (s->effective[shot->code]) {
        twsm_effective_row(s->effective[shot->code], s->dw * r / shot->velocity, cos1,
                           shot->band.k0, shot->band.n, c);
        return;
    }
    double complex one = s->coef[shot->code] == TWSM_COEF_PLANE
                             ? twsm_coef_plane(&shot->contact, cos1)
                             : twsm_coef_frozen(&shot->contact, cos1);
    for (int k = 0; k < shot->band.n; k++)
        c[k] = one;
}

// u(k) = exp(i w r / v) / r * C(k) * taper; `c` is scratch for band.n values. The phase is turned
// on from an exact start in float64: 1e-13 after a thousand frequencies.
static void element_field(const Shot *shot, int j, const double source[3], double complex *c,
                          TwsmValue *u)
{
    const TwsmPoints *m = shot->mesh;
    const TwsmSetup *s = shot->setup;
    double dx = m->x[j] - source[0], dy = m->y[j] - source[1], dz = m->z[j] - source[2];
    double r = sqrt(dx * dx + dy * dy + dz * dz);
    double cos1 = shot->arrive * (m->nx[j] * dx + m->ny[j] * dy + m->nz[j] * dz) / r;
    memset(u, 0, shot->band.n * sizeof *u);
    if (!(cos1 > 0) || m->taper[j] == 0)
        return;
    coefficients(shot, r, MIN(cos1, 1), c);
    double phase = s->dw * r / shot->velocity;
    double complex step = cexp(I * phase);
    double complex at = cexp(I * fmod(shot->band.k0 * phase, 2 * G_PI)) * m->taper[j] / r *
                        exp(-s->sig * r / shot->velocity);
    for (int k = 0; k < shot->band.n; k++, at *= step)
        u[k] = (TwsmValue)(at * c[k]);
}

void twsm_source_field(const TwsmSetup *s, int c, TwsmBand band, int threads, TwsmValue *u)
{
    const TwsmModel *m = s->model;
    const TwsmCode *code = &m->code[c];
    int layer = code->layer[0], b = code->hit[0].boundary, other = layer == b ? b + 1 : b;
    Shot shot = {.setup = s,
                 .mesh = s->mesh[b],
                 .code = c,
                 .band = band,
                 .arrive = layer == b ? 1 : -1,
                 .velocity = m->velocity[layer],
                 .contact = {m->velocity[layer], m->density[layer], m->velocity[other],
                             m->density[other], code->hit[0].transmit}};
    int n = shot.mesh->n;
#pragma omp parallel num_threads(threads)
    {
        g_autofree double complex *scratch = g_new(double complex, band.n);
#pragma omp for schedule(static)
        for (gint64 at = 0; at < (gint64)m->n_sources * n; at++) {
            double from[3];
            for (int k = 0; k < 3; k++)
                from[k] = m->source[at / n][k] - s->centre[k];
            element_field(&shot, at % n, from, scratch, u + at * band.n);
        }
    }
}

// Ricker: 4 sqrt(pi) w^2 / wp^3 exp(-(w/wp)^2) exp(i w t0), at w = k dw + i sig.
double complex twsm_wavelet(const TwsmSetup *s, int k)
{
    double complex w = k * s->dw + I * s->sig;
    double wp = 2 * G_PI * s->model->ricker;
    return 4 * sqrt(G_PI) * w * w / (wp * wp * wp) * cexp(-(w / wp) * (w / wp)) *
           cexp(I * w * s->model->delay);
}

// p(t) = (dw / pi) Re sum_k W_k P_k exp(-i w_k t); FFTW's c2r turns the other way, hence conj, and
// adds the negative frequencies itself.
static void trace_of(const TwsmSetup *s, fftw_plan plan, const TwsmValue *spectrum,
                     const double complex *wavelet, int known, fftw_complex *in, double *out,
                     float *trace)
{
    memset(in, 0, (s->n_time / 2 + 1) * sizeof *in);
    for (int k = 0; k < known; k++)
        in[k + 1] = conj(wavelet[k] * spectrum[k]);
    fftw_execute_dft_c2r(plan, in, out);
    for (int n = 0; n < s->n_time; n++)
        trace[n] = (float)(s->dw / (2 * G_PI) * out[n] * exp(s->sig * n * s->dt));
}

static GMutex fftw_lock; // planning is not thread-safe

gboolean twsm_traces(const TwsmSetup *s, const TwsmValue *spectra, int known, LithoCube *cube,
                     int threads, GError **error)
{
    gint64 n_traces = litho_grid_traces(&cube->grid), bins = s->n_time / 2 + 1;
    threads = (int)MIN(threads, n_traces);
    fftw_complex *in = fftw_alloc_complex(threads * bins);
    double *out = fftw_alloc_real((gsize)threads * s->n_time);
    g_autofree double complex *wavelet = g_new(double complex, s->n_frequencies);
    for (int k = 0; k < s->n_frequencies; k++)
        wavelet[k] = twsm_wavelet(s, k + 1);
    g_mutex_lock(&fftw_lock);
    fftw_plan plan =
        in && out ? fftw_plan_dft_c2r_1d(s->n_time, in, out, FFTW_ESTIMATE | FFTW_UNALIGNED) : NULL;
    g_mutex_unlock(&fftw_lock);
    if (plan) {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int part = 0; part < threads; part++)
            for (gint64 r = part; r < n_traces; r += threads)
                trace_of(s, plan, spectra + r * s->n_frequencies, wavelet, known, in + part * bins,
                         out + (gsize)part * s->n_time, cube->samples + r * s->n_time);
        g_mutex_lock(&fftw_lock);
        fftw_destroy_plan(plan);
        g_mutex_unlock(&fftw_lock);
    } else {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY,
                    "no memory for the inverse transform of %d samples", s->n_time);
    }
    fftw_free(in);
    fftw_free(out);
    return plan != NULL;
}
