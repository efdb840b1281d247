// SPDX-License-Identifier: GPL-3.0-or-later
//
// Both ends of a chain: the sources' field on the first boundary, and traces from spectra.
#include <complex.h>
#include <math.h>
#include <string.h>

#include "kernels/twsm/setup.h"

// Data that all elements of a first boundary share.
typedef struct Shot {
    const TwsmSetup *setup;
    const TwsmPoints *mesh;
    TwsmContact contact;
    int code;
    double arrive, velocity;
    TwsmBand band;
} Shot;

// Coefficient of all frequencies at one incidence.
static double complex one_coefficient(const Shot *shot, double cos1)
{
    return shot->setup->coef[shot->code] == TWSM_COEF_PLANE
               ? twsm_coef_plane(&shot->contact, cos1)
               : twsm_coef_frozen(&shot->contact, cos1);
}

static void coefficients(const Shot *shot, double r, double cos1, double complex *c)
{
    const TwsmSetup *s = shot->setup;
    if (s->effective[shot->code]) {
        twsm_effective_row(s->effective[shot->code], s->dw * r / shot->velocity, cos1,
                           shot->band.k0, shot->band.n, c);
        return;
    }
    double complex one = one_coefficient(shot, cos1);
    for (int k = 0; k < shot->band.n; k++)
        c[k] = one;
}

// Distance to element j, and the cosine of incidence there; FALSE where no direct wave arrives.
static gboolean incidence(const Shot *shot, int j, const double source[3], double *r, double *cos1)
{
    const TwsmPoints *m = shot->mesh;
    double dx = m->x[j] - source[0], dy = m->y[j] - source[1], dz = m->z[j] - source[2];
    *r = sqrt(dx * dx + dy * dy + dz * dz);
    *cos1 = shot->arrive * (m->nx[j] * dx + m->ny[j] * dy + m->nz[j] * dz) / *r;
    gboolean lit = *cos1 > 0 && m->taper[j] != 0;
    *cos1 = MIN(*cos1, 1);
    return lit;
}

// u(k) = exp(i w r / v) / r * C(k) * taper; `c` is scratch for band.n values. The phase is turned
// on from an exact start in float64: 1e-13 after a thousand frequencies.
static void element_field(const Shot *shot, int j, const double source[3], double complex *c,
                          TwsmValue *u)
{
    const TwsmSetup *s = shot->setup;
    double r, cos1;
    memset(u, 0, shot->band.n * sizeof *u);
    if (!incidence(shot, j, source, &r, &cos1))
        return;
    coefficients(shot, r, cos1, c);
    double phase = s->dw * r / shot->velocity;
    double complex step = cexp(I * phase);
    double complex at = cexp(I * fmod(shot->band.k0 * phase, 2 * G_PI)) * shot->mesh->taper[j] / r *
                        exp(-s->sig * r / shot->velocity);
    // Four phases side by side: none waits for the one before.
    const double complex two = step * step, four = two * two;
    double complex turn[4] = {at, at * step, at * two, at * step * two};
    int k = 0;
    for (; k + 4 <= shot->band.n; k += 4)
        for (int m = 0; m < 4; m++) {
            u[k + m] = (TwsmValue)(turn[m] * c[k + m]);
            turn[m] *= four;
        }
    for (int m = 0; k < shot->band.n; k++, m++)
        u[k] = (TwsmValue)(turn[m] * c[k]);
}

static TwsmRay element_ray(const Shot *shot, int j, const double source[3])
{
    double r, cos1;
    if (!incidence(shot, j, source, &r, &cos1))
        return (TwsmRay){0};
    double complex amplitude = one_coefficient(shot, cos1) * shot->mesh->taper[j] / r *
                               exp(-shot->setup->sig * r / shot->velocity);
    return (TwsmRay){shot->setup->dw * r / (2 * G_PI * shot->velocity), (float)creal(amplitude),
                     (float)cimag(amplitude)};
}

static Shot shot_of(const TwsmSetup *s, int c, TwsmBand band)
{
    const TwsmModel *m = s->model;
    const TwsmCode *code = &m->code[c];
    int layer = code->layer[0], b = code->hit[0].boundary, other = layer == b ? b + 1 : b;
    return (Shot){.setup = s,
                  .mesh = s->mesh[b],
                  .code = c,
                  .band = band,
                  .arrive = layer == b ? 1 : -1,
                  .velocity = m->velocity[layer],
                  .contact = {m->velocity[layer], m->density[layer], m->velocity[other],
                              m->density[other], code->hit[0].transmit}};
}

// Position of source q relative to the model's centre.
static void source_place(const TwsmSetup *s, gint64 q, double at[3])
{
    for (int k = 0; k < 3; k++)
        at[k] = s->model->source[q][k] - s->centre[k];
}

void twsm_source_field(const TwsmSetup *s, int c, TwsmBand band, int threads, TwsmValue *u)
{
    const Shot shot = shot_of(s, c, band);
    int n = shot.mesh->n;
#pragma omp parallel num_threads(threads)
    {
        g_autofree double complex *scratch = g_new(double complex, band.n);
#pragma omp for schedule(static)
        for (gint64 at = 0; at < (gint64)s->model->n_sources * n; at++) {
            double from[3];
            source_place(s, at / n, from);
            element_field(&shot, at % n, from, scratch, u + at * band.n);
        }
    }
}

gboolean twsm_source_rays(const TwsmSetup *s, int c, int threads, TwsmRay *rays)
{
    const Shot shot = shot_of(s, c, (TwsmBand){0});
    int n = shot.mesh->n;
    if (s->effective[c])
        return FALSE;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (gint64 at = 0; at < (gint64)s->model->n_sources * n; at++) {
        double from[3];
        source_place(s, at / n, from);
        rays[at] = element_ray(&shot, at % n, from);
    }
    return TRUE;
}

// Ricker: 4 sqrt(pi) w^2 / wp^3 exp(-(w/wp)^2) exp(i w t0), at w = k dw + i sig.
double complex twsm_wavelet(const TwsmSetup *s, int k)
{
    double complex w = k * s->dw + I * s->sig;
    double wp = 2 * G_PI * s->model->ricker;
    return 4 * sqrt(G_PI) * w * w / (wp * wp * wp) * cexp(-(w / wp) * (w / wp)) *
           cexp(I * w * s->model->delay);
}

enum { GROUP = 32 }; // traces that share a row of cosines

// p(t) = (dw / pi) Re sum_k W_k P_k exp(-i w_k t) for a group of traces: K is far below the number
// of samples, and each cosine serves the whole group, so the plain sum costs little more than an
// FFT.
static void group_of(const TwsmSetup *s, const TwsmValue *spectra, const double complex *wavelet,
                     const double complex *turn, int known, int n_traces, double *row, double *sum,
                     float *traces)
{
    const int n = s->n_time;
    memset(sum, 0, (gsize)n_traces * n * sizeof *sum);
    for (int k = 1; k <= known; k++) {
        double *cosine = row, *sine = row + n;
        for (int t = 0, at = 0; t < n; t++, at = (at + k) % n) {
            cosine[t] = creal(turn[at]);
            sine[t] = cimag(turn[at]);
        }
        for (int r = 0; r < n_traces; r++) {
            double complex p = wavelet[k - 1] * spectra[(gsize)r * s->n_frequencies + k - 1];
            double re = creal(p), im = cimag(p), *to = sum + (gsize)r * n;
            for (int t = 0; t < n; t++)
                to[t] += re * cosine[t] + im * sine[t];
        }
    }
    for (int r = 0; r < n_traces; r++)
        for (int t = 0; t < n; t++)
            traces[(gsize)r * n + t] =
                (float)(s->dw / G_PI * sum[(gsize)r * n + t] * exp(s->sig * t * s->dt));
}

void twsm_traces(const TwsmSetup *s, const TwsmValue *spectra, int known, LithoCube *cube,
                 int threads)
{
    const gint64 n_traces = litho_grid_traces(&cube->grid);
    const int n = s->n_time;
    g_autofree double complex *wavelet = g_new(double complex, s->n_frequencies);
    g_autofree double complex *turn = g_new(double complex, n);
    for (int k = 0; k < s->n_frequencies; k++)
        wavelet[k] = twsm_wavelet(s, k + 1);
    for (int t = 0; t < n; t++)
        turn[t] = cexp(I * 2 * G_PI * t / n);
#pragma omp parallel num_threads(threads)
    {
        g_autofree double *row = g_new(double, 2 * (gsize)n);
        g_autofree double *sum = g_new(double, GROUP *(gsize)n);
#pragma omp for schedule(dynamic)
        for (gint64 r = 0; r < n_traces; r += GROUP)
            group_of(s, spectra + r * s->n_frequencies, wavelet, turn, known,
                     (int)MIN(GROUP, n_traces - r), row, sum, cube->samples + r * n);
    }
}
