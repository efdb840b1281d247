// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synth/synth_parts.h"

#include <math.h>

// splitmix64's finaliser (Steele, Lea, Flood 2014): full avalanche, so that neighbouring indices
// give unrelated numbers.
static guint64 mix(guint64 x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

double litho_hash_uniform(guint64 seed, guint64 stream, guint64 index)
{
    return (mix(mix(mix(seed) ^ stream) ^ index) >> 11) * 0x1p-53;
}

// Box-Muller; one of the pair is enough.
double litho_hash_normal(guint64 seed, guint64 stream, guint64 index)
{
    double u = 1 - litho_hash_uniform(seed, stream, 2 * index);
    double v = litho_hash_uniform(seed, stream, 2 * index + 1);
    return sqrt(-2 * log(u)) * cos(2 * G_PI * v);
}

double litho_ricker(double t, double f)
{
    double a = G_PI * f * t;
    a *= a;
    return (1 - 2 * a) * exp(-a);
}

void litho_add_ricker(float *trace, gint64 n, double dt, double t0, double f, double amplitude)
{
    // exp(-a) is below 1e-7 of the peak (float noise) beyond this.
    double reach = 4.1 / (G_PI * f);
    gint64 lo = MAX((gint64)ceil((t0 - reach) / dt), 0);
    gint64 hi = MIN((gint64)floor((t0 + reach) / dt), n - 1);
    for (gint64 k = lo; k <= hi; k++)
        trace[k] += (float)(amplitude * litho_ricker(k * dt - t0, f));
}

enum { STREAM_NOISE = 1000, STREAM_MISSING = 1001 };

static double energy(const LithoCube *cube)
{
    gint64 traces = litho_grid_traces(&cube->grid), n = cube->grid.axis[LITHO_SAMPLE].n;
    double total = 0;
    for (gint64 t = 0; t < traces; t++) {
        double sum = 0;
        for (gint64 k = 0; k < n; k++)
            sum += (double)cube->samples[t * n + k] * cube->samples[t * n + k];
        total += sum;
    }
    return total;
}

static void add_noise(LithoCube *cube, double sigma, guint64 seed)
{
    gint64 traces = litho_grid_traces(&cube->grid), n = cube->grid.axis[LITHO_SAMPLE].n;
#pragma omp parallel for
    for (gint64 t = 0; t < traces; t++)
        for (gint64 k = 0; k < n; k++)
            cube->samples[t * n + k] +=
                (float)(sigma * litho_hash_normal(seed, STREAM_NOISE, t * n + k));
}

LithoCube *litho_synth_spoil(const LithoCube *clean, double snr_db, double missing_percent,
                             guint64 seed, GError **error)
{
    LithoCube *cube = litho_cube_copy_box(clean, clean->held, error);
    if (!cube)
        return NULL;
    gint64 traces = litho_grid_traces(&cube->grid), n = cube->grid.axis[LITHO_SAMPLE].n;
    if (snr_db <= 200)
        add_noise(cube, sqrt(energy(clean) / (traces * n)) * pow(10, -snr_db / 20), seed);
    for (gint64 t = 0; t < traces; t++) {
        if (litho_hash_uniform(seed, STREAM_MISSING, t) * 100 >= missing_percent)
            continue;
        cube->live[t] = 0;
        for (gint64 k = 0; k < n; k++)
            cube->samples[t * n + k] = 0;
    }
    return cube;
}

void litho_synth_hand_over(LithoCube *made, LithoCube **to)
{
    if (to)
        *to = made;
    else
        litho_cube_unref(made);
}
