// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synth/synth_parts.h"

#include <math.h>
#include <string.h>

#include "core/mix.h"
#include "core/text.h"

double litho_hash_uniform(guint64 seed, guint64 stream, guint64 index)
{
    return (litho_mix(litho_mix(litho_mix(seed) ^ stream) ^ index) >> 11) * 0x1p-53;
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

// Less than all of it where `run` is cancelled.
static double energy(const LithoCube *cube, const LithoRun *run)
{
    gint64 traces = litho_grid_traces(&cube->grid), n = cube->grid.axis[LITHO_SAMPLE].n;
    double total = 0;
    for (gint64 t = 0; t < traces && litho_run_checkpoint(run); t++) {
        double sum = 0;
        for (gint64 k = 0; k < n; k++)
            sum += (double)cube->samples[t * n + k] * cube->samples[t * n + k];
        total += sum;
    }
    return total;
}

// Amplitude of a colour at `f` Hz, 1 at its largest.
static double colour_at(LithoNoiseColour colour, double f)
{
    const double band = (f - 30) / 18;
    return colour == LITHO_NOISE_LOW    ? 1 / (1 + f * f / (15 * 15))
           : colour == LITHO_NOISE_BAND ? exp(-0.5 * band * band)
                                        : 1;
}

enum { REACH = 64 }; // samples; both colours are smooth over the 2 Hz that this resolves at 4 ms

// Half of a zero-phase filter of that amplitude response, sum of squares over both halves 1.
static void colour_filter(LithoNoiseColour colour, double dt, double h[REACH + 1])
{
    enum { BINS = 512 };
    double sum = 0;
    for (int m = 0; m <= REACH; m++) {
        h[m] = 0;
        for (int k = 0; k < BINS; k++) // midpoints of bins up to Nyquist
            h[m] +=
                colour_at(colour, (k + 0.5) / BINS * 0.5 / dt) * cos(G_PI * (k + 0.5) * m / BINS);
        h[m] *= 0.5 + 0.5 * cos(G_PI * m / (REACH + 1));
        sum += h[m] * h[m] * (m > 0 ? 2 : 1);
    }
    for (int m = 0; m <= REACH; m++)
        h[m] /= sqrt(sum);
}

// Normal noise behind the filter; the noise goes on beyond the ends of the trace.
static void add_coloured(LithoCube *cube, LithoNoiseColour colour, double sigma, guint64 seed,
                         const LithoRun *run)
{
    const gint64 traces = litho_grid_traces(&cube->grid), n = cube->grid.axis[LITHO_SAMPLE].n;
    double h[REACH + 1];
    colour_filter(colour, fabs(cube->grid.axis[LITHO_SAMPLE].step), h);
#pragma omp parallel for
    for (gint64 t = 0; t < traces; t++) {
        if (!litho_run_checkpoint(run))
            continue;
        g_autofree double *white = g_new(double, n + 2 * REACH);
        for (gint64 k = 0; k < n + 2 * REACH; k++)
            white[k] = litho_hash_normal(seed, STREAM_NOISE, t * (n + 2 * REACH) + k);
        for (gint64 k = 0; k < n; k++) {
            double x = h[0] * white[k + REACH];
            for (int m = 1; m <= REACH; m++)
                x += h[m] * (white[k + REACH - m] + white[k + REACH + m]);
            cube->samples[t * n + k] += (float)(sigma * x);
        }
    }
}

// Normal noise of the trace at (i, j) on a grid of one trace more on either side, mixed with that
// of its neighbours; `x` is scratch of n samples.
static void mixed_trace(gint64 i, gint64 j, gint64 n1, gint64 n, guint64 seed, double *x)
{
    memset(x, 0, n * sizeof *x);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            const double weight = (a == 1 ? 2 : 1) * (b == 1 ? 2 : 1) / 6.0; // of unit energy
            const guint64 at = (guint64)((i + a) * (n1 + 2) + j + b) * n;
            for (gint64 k = 0; k < n; k++)
                x[k] += weight * litho_hash_normal(seed, STREAM_NOISE, at + k);
        }
}

static void add_mixed(LithoCube *cube, double sigma, guint64 seed, const LithoRun *run)
{
    const gint64 traces = litho_grid_traces(&cube->grid), n1 = cube->grid.axis[1].n;
    const gint64 n = cube->grid.axis[LITHO_SAMPLE].n;
#pragma omp parallel
    {
        g_autofree double *x = g_new(double, n);
#pragma omp for
        for (gint64 t = 0; t < traces; t++) {
            if (!litho_run_checkpoint(run))
                continue;
            mixed_trace(t / n1, t % n1, n1, n, seed, x);
            for (gint64 k = 0; k < n; k++)
                cube->samples[t * n + k] += (float)(sigma * x[k]);
        }
    }
}

static void add_noise(LithoCube *cube, double sigma, guint64 seed, const LithoRun *run)
{
    gint64 traces = litho_grid_traces(&cube->grid), n = cube->grid.axis[LITHO_SAMPLE].n;
#pragma omp parallel for
    for (gint64 t = 0; t < traces; t++) {
        if (!litho_run_checkpoint(run))
            continue;
        for (gint64 k = 0; k < n; k++)
            cube->samples[t * n + k] +=
                (float)(sigma * litho_hash_normal(seed, STREAM_NOISE, t * n + k));
    }
}

// litho_cube_copy_box() of all of it, line by line: a cube is as large as memory allows.
static LithoCube *copy_of(const LithoCube *clean, LithoRun *run, GError **error)
{
    g_autoptr(LithoCube) cube = litho_cube_new(&clean->grid, error);
    const gint64 n[2] = {clean->grid.axis[0].n, clean->grid.axis[1].n};
    if (!cube)
        return NULL;
    litho_cube_inherit(cube, clean);
    memcpy(cube->live, clean->live, n[0] * n[1] * sizeof *cube->live);
    const gsize line = (gsize)n[1] * clean->grid.axis[LITHO_SAMPLE].n;
    for (gint64 i = 0; i < n[0]; i++) {
        if (!litho_run_step(run, i, n[0], error))
            return NULL;
        memcpy(cube->samples + i * line, clean->samples + i * line, line * sizeof(float));
    }
    return g_steal_pointer(&cube);
}

void litho_synth_state(LithoGrid *grid)
{
    for (int k = 0; k < 3; k++) {
        grid->axis[k].source = LITHO_FROM_COMPUTED;
        g_strlcpy(grid->axis[k].evidence, N_("generated"), sizeof grid->axis[k].evidence);
    }
    grid->xy_source = LITHO_FROM_COMPUTED;
    g_strlcpy(grid->xy_evidence, N_("generated"), sizeof grid->xy_evidence);
}

LithoCube *litho_synth_spoil(const LithoCube *clean, double snr_db, double missing_percent,
                             guint64 seed, LithoRun *run, GError **error)
{
    return litho_synth_spoil_with(clean, LITHO_NOISE_WHITE, snr_db, missing_percent, seed, run,
                                  error);
}

LithoCube *litho_synth_spoil_with(const LithoCube *clean, LithoNoiseColour colour, double snr_db,
                                  double missing_percent, guint64 seed, LithoRun *run,
                                  GError **error)
{
    g_autoptr(LithoCube) cube = copy_of(clean, run, error);
    if (!cube)
        return NULL;
    gint64 traces = litho_grid_traces(&cube->grid), n = cube->grid.axis[LITHO_SAMPLE].n;
    const double sigma = sqrt(energy(clean, run) / (traces * n)) * pow(10, -snr_db / 20);
    if (snr_db <= 200 && colour == LITHO_NOISE_WHITE)
        add_noise(cube, sigma, seed, run);
    else if (snr_db <= 200 && colour == LITHO_NOISE_MIXED)
        add_mixed(cube, sigma, seed, run);
    else if (snr_db <= 200)
        add_coloured(cube, colour, sigma, seed, run);
    for (gint64 t = 0; t < traces && litho_run_checkpoint(run); t++) {
        if (litho_hash_uniform(seed, STREAM_MISSING, t) * 100 >= missing_percent)
            continue;
        cube->live[t] = 0;
        for (gint64 k = 0; k < n; k++)
            cube->samples[t * n + k] = 0;
    }
    if (!litho_run_step(run, 1, 1, error))
        return NULL;
    return g_steal_pointer(&cube);
}

void litho_synth_hand_over(LithoCube *made, LithoCube **to)
{
    if (to)
        *to = made;
    else
        litho_cube_unref(made);
}
