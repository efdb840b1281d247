// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/patch_cubes.h"

#include <fftw3.h>
#include <math.h>
#include <string.h>

#include "core/synth/synth_parts.h"

static const double dt = 0.004;

static double uniform(guint64 stream, guint64 index, double lo, double hi)
{
    return lo + (hi - lo) * litho_hash_uniform(7, stream, index);
}

// --- events --------------------------------------------------------------------------------------

static void plane_events(LithoCube *c, gint64 n[3], int events, double dip)
{
    for (int e = 0; e < events; e++) {
        const double p = uniform(1, e, -dip, dip), q = uniform(2, e, -dip, dip);
        const double t0 = (e + 0.5 + uniform(3, e, -0.3, 0.3)) / events * n[2] * dt;
        const double a = (uniform(4, e, 0, 1) < 0.5 ? -1 : 1) * uniform(5, e, 0.5, 1);
        for (gint64 i = 0; i < n[0]; i++)
            for (gint64 j = 0; j < n[1]; j++)
                litho_add_ricker(litho_cube_trace(c, i, j), n[2], dt,
                                 t0 + p * (i - n[0] / 2.0) + q * (j - n[1] / 2.0),
                                 uniform(6, e, 20, 28), a);
    }
}

// Diffraction-like hyperboloids with their apexes inside the cube, and events folded by sines.
static double curved_time(int e, double x, double y, gint64 n[3])
{
    const double length = n[2] * dt;
    if (e % 2 == 0) {
        const double t0 = (e + 0.5) / 12 * length;
        const double dx = x - uniform(11, e, 0.1, 0.9) * n[0],
                     dy = y - uniform(12, e, 0.1, 0.9) * n[1];
        const double r = uniform(13, e, 0.003, 0.006); // s per trace far from the apex
        return sqrt(t0 * t0 + r * r * (dx * dx + dy * dy));
    }
    const double fold = 0.03 * sin(2 * G_PI * (x / 45 + uniform(14, e, 0, 1))) *
                        cos(2 * G_PI * (y / 60 + uniform(15, e, 0, 1)));
    return (e + 0.5) / 12 * length + fold + 0.0008 * (x - y);
}

static void curved_events(LithoCube *c, gint64 n[3])
{
    for (int e = 0; e < 12; e++)
        for (gint64 i = 0; i < n[0]; i++)
            for (gint64 j = 0; j < n[1]; j++)
                litho_add_ricker(litho_cube_trace(c, i, j), n[2], dt, curved_time(e, i, j, n),
                                 uniform(16, e, 20, 28), uniform(17, e, 0.5, 1) * (e % 3 ? 1 : -1));
}

static void fault_events(LithoCube *c, gint64 n[3])
{
    for (int e = 0; e < 14; e++)
        for (gint64 i = 0; i < n[0]; i++)
            for (gint64 j = 0; j < n[1]; j++) {
                const double x = i / (double)n[0] - 0.5, y = j / (double)n[1] - 0.5;
                double t = (e + 0.3) / 14 * n[2] * dt + 0.12 * (x * x + y * y);
                // The plane's trace moves by ten inlines over the length of the record.
                if (i + 0.3 * j + 10 * t / (n[2] * dt) > 0.65 * n[0] + 5)
                    t += 0.028;
                litho_add_ricker(litho_cube_trace(c, i, j), n[2], dt, t, uniform(18, e, 20, 28),
                                 (e % 2 ? 1 : -1) * uniform(19, e, 0.4, 1));
            }
}

static void scale_traces(LithoCube *c, gint64 n[3])
{
    for (gint64 i = 0; i < n[0]; i++)
        for (gint64 j = 0; j < n[1]; j++) {
            const float a = (float)(1 + 0.3 * litho_hash_normal(7, 20, i * n[1] + j));
            float *trace = litho_cube_trace(c, i, j);
            for (gint64 t = 0; t < n[2]; t++)
                trace[t] *= a;
        }
}

// Sum of squares of the live traces.
static double energy(const LithoCube *c)
{
    double sum = 0;
    for (gint64 k = 0; k < litho_cube_held_samples(c); k++)
        sum += (double)c->samples[k] * c->samples[k];
    return sum;
}

static void normalise(LithoCube *c, double rms)
{
    const gint64 count = litho_cube_held_samples(c);
    const float a = (float)(rms / sqrt(energy(c) / count));
    for (gint64 k = 0; k < count; k++)
        c->samples[k] *= a;
}

LithoCube *patch_cube(PatchKind kind, gint64 n_il, gint64 n_xl, gint64 n_t)
{
    LithoGrid grid = litho_grid_new(n_il, n_xl, n_t);
    LithoCube *c = litho_cube_new(&grid, NULL);
    gint64 n[3] = {n_il, n_xl, n_t};
    if (kind == PATCH_CURVED)
        curved_events(c, n);
    else if (kind == PATCH_CONFLICT)
        plane_events(c, n, 24, 0.005);
    else if (kind == PATCH_FAULT)
        fault_events(c, n);
    else
        plane_events(c, n, 12, 0.0025);
    if (kind == PATCH_RANDOM)
        scale_traces(c, n);
    normalise(c, 1);
    return c;
}

// --- noise ---------------------------------------------------------------------------------------

static double colour_at(PatchColour colour, double f)
{
    if (colour == PATCH_LOW)
        return 1 / (1 + f * f / 225);
    if (colour == PATCH_BAND)
        return exp(-0.5 * (f - 30) * (f - 30) / (18.0 * 18.0));
    return 1;
}

double patch_noise_level(PatchColour colour, double f, gint64 n_t)
{
    double sum = 0;
    for (gint64 k = 0; k < n_t; k++) {
        const double a = colour_at(colour, MIN(k, n_t - k) / (n_t * dt));
        sum += a * a;
    }
    return colour_at(colour, f) / sqrt(sum / n_t);
}

LithoCube *patch_flipped(gint64 n_il, gint64 n_xl, gint64 n_t)
{
    LithoCube *c = patch_cube(PATCH_PLANES, n_il, n_xl, n_t);
    for (gint64 k = 0; k < n_il * n_xl; k++)
        for (gint64 t = 0; t < n_t && 2 * (k / n_xl) + k % n_xl > 3 * n_il / 2; t++)
            c->samples[k * n_t + t] *= -1;
    return c;
}

LithoCube *patch_folded(gint64 n_il, gint64 n_xl, gint64 n_t, double steep, guint32 seed)
{
    const double apart = 1.8, above = 1.5 * n_t; // samples between layers, and beyond the faces
    LithoCube *c = patch_cube(PATCH_PLANES, n_il, n_xl, n_t);
    memset(c->samples, 0, sizeof(float) * n_il * n_xl * n_t);
    for (gint64 k = 0; k < n_il * n_xl; k++) {
        const double il = (double)(k / n_xl), xl = (double)(k % n_xl);
        const double fold = steep * (8 * sin(0.11 * il + 0.04 * xl + seed) +
                                     6 * sin(0.13 * xl - 0.05 * il) + 0.5 * xl);
        const double slow = 1 + 0.4 * sin(0.25 * il) * cos(0.2 * xl + seed);
        for (int e = 0; e * apart < 2 * above; e++) {
            const double at = (e + uniform(19 + seed, e, 0, 1)) * apart - above / 2;
            litho_add_ricker(c->samples + k * n_t, n_t, dt, dt * (at + fold * (0.6 + at / n_t)), 30,
                             slow * uniform(20 + seed, e, -1, 1));
        }
    }
    normalise(c, 1);
    return c;
}

LithoCube *patch_turned(const LithoCube *line)
{
    const gint64 n_xl = line->grid.axis[2].n, n_t = line->grid.axis[1].n;
    LithoGrid grid = litho_grid_new(1, n_xl, n_t);
    grid.axis[2].step = line->grid.axis[2].step;
    LithoCube *c = litho_cube_new(&grid, NULL);
    for (gint64 x = 0; x < n_xl; x++)
        for (gint64 t = 0; t < n_t; t++)
            c->samples[x * n_t + t] = line->samples[t * n_xl + x];
    return c;
}

LithoCube *patch_noise(PatchColour colour, gint64 n_il, gint64 n_xl, gint64 n_t, double sigma,
                       guint64 seed)
{
    LithoGrid grid = litho_grid_new(n_il, n_xl, n_t);
    LithoCube *c = litho_cube_new(&grid, NULL);
    float *trace = fftwf_alloc_real(n_t);
    fftwf_complex *spectrum = fftwf_alloc_complex(n_t / 2 + 1);
    fftwf_plan to = fftwf_plan_dft_r2c_1d((int)n_t, trace, spectrum, FFTW_ESTIMATE);
    fftwf_plan back = fftwf_plan_dft_c2r_1d((int)n_t, spectrum, trace, FFTW_ESTIMATE);
    for (gint64 k = 0; k < n_il * n_xl; k++) {
        for (gint64 t = 0; t < n_t; t++)
            trace[t] = (float)(sigma * litho_hash_normal(seed, 30, k * n_t + t));
        if (colour != PATCH_WHITE) {
            fftwf_execute(to);
            for (gint64 f = 0; f <= n_t / 2; f++)
                for (int part = 0; part < 2; part++)
                    spectrum[f][part] *=
                        (float)(patch_noise_level(colour, f / (n_t * dt), n_t) / n_t);
            fftwf_execute(back);
        }
        memcpy(c->samples + k * n_t, trace, n_t * sizeof *trace);
    }
    fftwf_destroy_plan(to);
    fftwf_destroy_plan(back);
    fftwf_free(trace);
    fftwf_free(spectrum);
    return c;
}

LithoCube *patch_resampled(const LithoCube *cube, int times)
{
    const int n = (int)cube->grid.axis[2].n, more = n * times;
    LithoGrid grid = cube->grid;
    grid.axis[2].n = more;
    grid.axis[2].step /= times;
    LithoCube *c = litho_cube_new(&grid, NULL);
    float *trace = fftwf_alloc_real(more);
    fftwf_complex *spectrum = fftwf_alloc_complex(more / 2 + 1);
    fftwf_plan to = fftwf_plan_dft_r2c_1d(n, trace, spectrum, FFTW_ESTIMATE);
    fftwf_plan back = fftwf_plan_dft_c2r_1d(more, spectrum, trace, FFTW_ESTIMATE);
    for (gint64 k = 0; k < litho_grid_traces(&grid); k++) {
        memset(spectrum, 0, (more / 2 + 1) * sizeof *spectrum);
        memcpy(trace, cube->samples + k * n, n * sizeof *trace);
        fftwf_execute(to);
        fftwf_execute(back);
        for (int t = 0; t < more; t++)
            c->samples[k * more + t] = trace[t] / (float)n;
    }
    fftwf_destroy_plan(to);
    fftwf_destroy_plan(back);
    fftwf_free(trace);
    fftwf_free(spectrum);
    memcpy(c->live, cube->live, litho_grid_traces(&grid));
    return c;
}

// Traces `step` apart in the file, `n` of them from `first` on, mirrored at the ends.
static void mix_line(LithoCube *c, const LithoCube *from, gint64 first, gint64 step, gint64 n)
{
    const gint64 nt = c->grid.axis[2].n;
    const double scale = sqrt(1.0 / 6); // 1, 2, 1 over its root mean square
    for (gint64 k = 0; k < n; k++) {
        const float *own = from->samples + (first + k * step) * nt;
        const float *last = k > 0 ? own - step * nt : own + step * nt;
        const float *next = k + 1 < n ? own + step * nt : own - step * nt;
        for (gint64 t = 0; t < nt; t++)
            c->samples[(first + k * step) * nt + t] =
                (float)(scale * (last[t] + 2 * own[t] + next[t]));
    }
}

void patch_mix(LithoCube *c)
{
    const gint64 n0 = c->grid.axis[0].n, n1 = c->grid.axis[1].n;
    for (int axis = 0; axis < 2; axis++) {
        g_autoptr(LithoCube) from = litho_cube_copy_box(c, c->held, NULL);
        for (gint64 k = 0; (axis ? n1 : n0) > 1 && k < (axis ? n0 : n1); k++)
            mix_line(c, from, axis ? k * n1 : k, axis ? 1 : n1, axis ? n1 : n0);
    }
}

void patch_add_swell(LithoCube *to, gboolean (*has)(gint64 il, gint64 xl), double top, double sigma)
{
    enum { HARMONICS = 64 };
    const gint64 nx = litho_box_size(to->held, 1), nt = litho_box_size(to->held, 2);
    for (gint64 k = 0; k < litho_box_size(to->held, 0) * nx; k++) {
        float *x = to->samples + k * nt;
        for (int h = 0; h < HARMONICS && has(k / nx, k % nx); h++) {
            const guint64 id = (guint64)(k * HARMONICS + h);
            const double f = 0.3 + (top - 0.3) * litho_hash_uniform(12, 1, id);
            const double phase = 2 * G_PI * litho_hash_uniform(12, 2, id);
            for (gint64 t = 0; t < nt; t++)
                x[t] += (float)(sigma * sqrt(2.0 / HARMONICS) *
                                cos(2 * G_PI * f * 0.004 * (double)t + phase));
        }
    }
}

LithoCube *patch_sum(const LithoCube *a, const LithoCube *b)
{
    LithoCube *c = litho_cube_copy_box(a, a->held, NULL);
    for (gint64 k = 0; k < litho_cube_held_samples(c); k++)
        c->samples[k] += b->samples[k];
    return c;
}

void patch_kill(LithoCube *cube, double percent, guint64 seed)
{
    const gint64 nt = cube->grid.axis[2].n;
    for (gint64 k = 0; k < litho_grid_traces(&cube->grid); k++)
        if (100 * litho_hash_uniform(seed, 31, k) < percent) {
            cube->live[k] = 0;
            memset(cube->samples + k * nt, 0, nt * sizeof(float));
        }
}

void patch_decimate(LithoCube *cube, int inlines, int xlines)
{
    const gint64 nx = cube->grid.axis[1].n, nt = cube->grid.axis[2].n;
    for (gint64 k = 0; k < litho_grid_traces(&cube->grid); k++)
        if (k / nx % inlines != 0 || k % nx % xlines != 0) {
            cube->live[k] = FALSE;
            memset(cube->samples + k * nt, 0, nt * sizeof *cube->samples);
        }
}

double patch_snr(const LithoCube *x, const LithoCube *truth, const LithoCube *mask)
{
    const gint64 nt = truth->grid.axis[2].n;
    double signal = 0, error = 0;
    for (gint64 k = 0; k < litho_grid_traces(&truth->grid); k++)
        for (gint64 t = 0; (!mask || !mask->live[k]) && t < nt; t++) {
            const double s = truth->samples[k * nt + t], e = x->samples[k * nt + t] - s;
            signal += s * s;
            error += e * e;
        }
    return 10 * log10(signal / error);
}
