// SPDX-License-Identifier: GPL-3.0-or-later
//
// Both ends of a chain: the sources' field on the first boundary, and traces from spectra.
#include <complex.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "kernels/twsm/chain.h"
#include "kernels/twsm/setup.h"

// --- source field -----------------------------------------------------------------------------

enum { LANES = 64 }; // frequencies of an element worked on at a time

// Coefficient at the n frequencies of `column`.
static void coefficients(const TwsmShot *shot, const TwsmRayRule *rule, const TwsmRay *ray,
                         const double *column, int n, float *value)
{
    double one[2] = {0, 0};
    if (rule->first == TWSM_FIRST_EFFECTIVE) {
        twsm_effective_row(shot->effective, 2 * G_PI * ray->turns, ray->cos1, column, n, value);
        return;
    }
    if (rule->first == TWSM_FIRST_PLANE)
        twsm_contact_plane(&rule->contact, ray->cos1, &one[0], &one[1]);
    else
        one[0] = twsm_contact_frozen(&rule->contact, ray->cos1);
    for (int k = 0; k < n; k++)
        value[2 * k] = (float)one[0], value[2 * k + 1] = (float)one[1];
}

// u(k) = exp(i w r / v) / r * C(k) * taper. Whole turns of the phase leave in float64.
static void element_field(const TwsmShot *shot, const TwsmRayRule *rule, int j,
                          const double *column, TwsmBand band, TwsmValue *u)
{
    const TwsmPoints *m = shot->mesh;
    const TwsmRay ray =
        twsm_ray(rule, m->x[j], m->y[j], m->z[j], m->nx[j], m->ny[j], m->nz[j], m->taper[j]);
    if (ray.amp == 0) {
        memset(u, 0, band.n * sizeof *u);
        return;
    }
    const float amp = (float)ray.amp;
    const double whole = 0x1.8p52;
    for (int done = 0; done < band.n; done += LANES) {
        const int n = MIN(band.n - done, LANES), k0 = band.k0 + done;
        float value[2 * LANES], *to = (float *)(u + done);
        coefficients(shot, rule, &ray, column + done, n, value);
#pragma omp simd
        for (int k = 0; k < n; k++) {
            const double turns = (k0 + k) * ray.turns;
            float c, s;
            twsm_turn((float)(turns - ((turns + whole) - whole)), &c, &s);
            to[2 * k] = amp * (c * value[2 * k] - s * value[2 * k + 1]);
            to[2 * k + 1] = amp * (c * value[2 * k + 1] + s * value[2 * k]);
        }
    }
}

gboolean twsm_source_field(const TwsmSetup *s, int c, TwsmBand band, TwsmValue *u, LithoRun *run,
                           GError **error)
{
    enum { PIECE = 64 }; // elements: a few tenths of a millisecond
    const TwsmShot *shot = &s->shot[c];
    const int n = shot->mesh->n;
    g_autofree double *column = litho_memory_new(band.n, sizeof *column, "frequencies", error);
    if (!column)
        return FALSE;
    twsm_effective_columns(band.k0, band.n, column);
    const gint64 all = (gint64)s->model->n_sources * n;
    gint stop = 0;
#pragma omp parallel for schedule(static) num_threads(litho_run_threads(run))
    for (gint64 first = 0; first < all; first += PIECE) {
        if (g_atomic_int_get(&stop) || !litho_run_checkpoint(run)) {
            g_atomic_int_set(&stop, 1);
            continue;
        }
        for (gint64 at = first; at < MIN(first + PIECE, all); at++)
            element_field(shot, &shot->rule[at / n], (int)(at % n), column, band, u + at * band.n);
    }
    return twsm_stopped(stop, error);
}

// --- traces -----------------------------------------------------------------------------------

// Ricker: 4 sqrt(pi) w^2 / wp^3 exp(-(w/wp)^2) exp(i w t0), at w = k dw + i sig.
double complex twsm_wavelet(const TwsmSetup *s, int k)
{
    double complex w = k * s->dw + I * s->sig;
    double wp = 2 * G_PI * s->model->ricker;
    return 4 * sqrt(G_PI) * w * w / (wp * wp * wp) * cexp(-(w / wp) * (w / wp)) *
           cexp(I * w * s->model->delay);
}

enum {
    GROUP = 32,   // traces that share a row of cosines
    TILE = 256,   // samples of a piece of work
    ASKED = 1024, // frequencies of a piece between two looks whether to stop: a few milliseconds
};

// Numbers that all traces share.
typedef struct Sums {
    const TwsmSetup *setup;
    const TwsmValue *spectra;
    const double complex *wavelet, *turn;
    int known;
    const LithoRun *run;
} Sums;

// p(t) = (dw / pi) Re sum_k W_k P_k exp(-i w_k t) for a group of traces from `first` on and
// samples t0 .. t0 + n - 1: K is far below the number of samples, and each cosine serves the whole
// group, so the plain sum costs little more than an FFT. FALSE: told to stop.
static gboolean tile_of(const Sums *s, gint64 first, int n_traces, int t0, int n, float *traces)
{
    const int n_time = s->setup->n_time, n_k = s->setup->n_frequencies;
    double cosine[TILE], sine[TILE], sum[GROUP][TILE];
    memset(sum, 0, n_traces * sizeof *sum);
    for (int k = 1; k <= s->known; k++) {
        if (k % ASKED == 1 && !litho_run_checkpoint(s->run))
            return FALSE;
        for (int t = 0, at = (int)((gint64)k * t0 % n_time); t < n; t++) {
            cosine[t] = creal(s->turn[at]);
            sine[t] = cimag(s->turn[at]);
            at += k % n_time;
            at -= at >= n_time ? n_time : 0;
        }
        for (int r = 0; r < n_traces; r++) {
            const double complex p = s->wavelet[k - 1] * s->spectra[(first + r) * n_k + k - 1];
            const double re = creal(p), im = cimag(p);
            double *to = sum[r];
            for (int t = 0; t < n; t++)
                to[t] += re * cosine[t] + im * sine[t];
        }
    }
    double rise[TILE];
    for (int t = 0; t < n; t++)
        rise[t] = s->setup->dw / G_PI * exp(s->setup->sig * (t0 + t) * s->setup->dt);
    for (int r = 0; r < n_traces; r++)
        for (int t = 0; t < n; t++)
            traces[(first + r) * n_time + t0 + t] = (float)(sum[r][t] * rise[t]);
    return TRUE;
}

void twsm_trace_factors(const TwsmSetup *s, double complex *wavelet, double complex *turn)
{
    for (int k = 0; k < s->n_frequencies; k++)
        wavelet[k] = twsm_wavelet(s, k + 1);
    for (int t = 0; t < s->n_time; t++)
        turn[t] = cexp(I * 2 * G_PI * t / s->n_time);
}

gboolean twsm_traces(const TwsmSetup *s, const TwsmValue *spectra, int known, LithoCube *cube,
                     LithoRun *run, GError **error)
{
    const gint64 n_traces = litho_grid_traces(&cube->grid);
    const int n = s->n_time, tiles = (n + TILE - 1) / TILE;
    g_autofree double complex *factor = litho_memory_new(
        (gsize)s->n_frequencies + n, sizeof *factor, "factors of the traces", error);
    gint stop = 0;
    if (!factor)
        return FALSE;
    double complex *turn = factor + s->n_frequencies;
    twsm_trace_factors(s, factor, turn);
    const Sums sums = {s, spectra, factor, turn, known, run};
#pragma omp parallel for collapse(2) schedule(dynamic) num_threads(litho_run_threads(run))
    for (gint64 r = 0; r < n_traces; r += GROUP)
        for (int tile = 0; tile < tiles; tile++)
            if (g_atomic_int_get(&stop) ||
                !tile_of(&sums, r, (int)MIN(GROUP, n_traces - r), tile * TILE,
                         MIN(TILE, n - tile * TILE), cube->samples))
                g_atomic_int_set(&stop, 1);
    return twsm_stopped(stop, error);
}
