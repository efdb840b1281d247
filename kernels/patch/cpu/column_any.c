// SPDX-License-Identifier: GPL-3.0-or-later
//
// Windows of any size, one after the other, with FFTW.
#include <math.h>
#include <string.h>

#include "kernels/patch/cpu/column.h"

static gsize align(gsize bytes)
{
    return (bytes + 63) / 64 * 64;
}

static gsize samples_of(const LithoPatchGeometry *g)
{
    return (gsize)g->axis[0].length * g->axis[1].length * g->axis[2].length;
}

static gsize coefficients_of(const LithoPatchGeometry *g)
{
    return (gsize)g->axis[0].length * g->axis[1].length * g->bins;
}

gsize patch_column_any_scratch(const LithoPatchGeometry *g)
{
    return align(4 * samples_of(g)) + align(8 * coefficients_of(g)) +
           align(4 * coefficients_of(g)) + align(4 * g->bins) + align(g->bins);
}

static void load_window(const PatchColumn *c, int k, float *to)
{
    const LithoPatchAxis *axis = c->sweep->g.axis;
    const int n = axis[2].length, t0 = litho_patch_start(axis[2], k);
    for (int il = 0; il < axis[0].length; il++)
        for (int xl = 0; xl < axis[1].length; xl++, to += n) {
            patch_column_load(c, il * axis[1].length + xl, t0, n, to);
            const float w = c->taper[0][il] * c->taper[1][xl];
            for (int t = 0; t < n; t++)
                to[t] *= w * c->taper[2][t];
        }
}

// |F|^2 over the limit of its frequency, or of its wavenumber where levels have a shape.
static void powers(const PatchSweep *sweep, fftwf_complex *spectrum, const float *limits,
                   float *power)
{
    const LithoPatchGeometry *g = &sweep->g;
    const float *shape = sweep->levels->shape;
    const float least = litho_patch_least(sweep->least);
    const gsize rows = (gsize)g->axis[0].length * g->axis[1].length;
    for (gsize row = 0; row < rows; row++, spectrum += g->bins, power += g->bins)
        for (int f = 0; f < g->bins; f++) {
            const float limit = shape ? fmaxf(limits[f] * shape[f * rows + row], least) : limits[f];
            power[f] = (spectrum[f][0] * spectrum[f][0] + spectrum[f][1] * spectrum[f][1]) / limit;
        }
}

// Powers at wavenumbers i, j modulo the lengths.
static const float *power_row(const LithoPatchGeometry *g, const float *power, int i, int j)
{
    const int n0 = g->axis[0].length, n1 = g->axis[1].length;
    return power + ((gsize)((i + n0) % n0) * n1 + (j + n1) % n1) * g->bins;
}

// Judges wavenumbers i, j by a coefficient (weight 1) and its six neighbours (1/2). One frequency
// beyond the bins stand the opposite wavenumbers.
static void judge_energy(const LithoPatchGeometry *g, const float *power, int i, int j,
                         guint8 *keep)
{
    const int n2 = g->axis[2].length, last = g->bins - 1;
    const float *own = power_row(g, power, i, j);
    const float *opposite = n2 > 1 ? power_row(g, power, -i, -j) : own;
    const float *beside[] = {power_row(g, power, i + 1, j), power_row(g, power, i - 1, j),
                             power_row(g, power, i, j + 1), power_row(g, power, i, j - 1)};
    for (int f = 0; f <= last; f++) {
        const float above = f < last ? own[f + 1] : opposite[n2 > 1 ? n2 - f - 1 : 0];
        const float below = f > 0 ? own[f - 1] : opposite[n2 > 1 ? 1 : 0];
        const float near =
            beside[0][f] + beside[1][f] + beside[2][f] + beside[3][f] + above + below;
        keep[f] = own[f] + 0.5f * near >= 4;
    }
}

static void threshold(const PatchColumn *c, fftwf_complex *spectrum, const float *power,
                      guint8 *keep)
{
    const LithoPatchGeometry *g = &c->sweep->g;
    const float *own = power;
    for (int i = 0; i < g->axis[0].length; i++)
        for (int j = 0; j < g->axis[1].length; j++, own += g->bins, spectrum += g->bins) {
            if (c->sweep->rule == LITHO_PATCH_ENERGY)
                judge_energy(g, power, i, j, keep);
            else
                for (int f = 0; f < g->bins; f++)
                    keep[f] = own[f] >= 1;
            for (int f = 0; f < g->bins; f++) {
                spectrum[f][0] = keep[f] ? spectrum[f][0] : 0;
                spectrum[f][1] = keep[f] ? spectrum[f][1] : 0;
            }
        }
}

static void add_window(const PatchColumn *c, int k, const float *from)
{
    const LithoPatchAxis *axis = c->sweep->g.axis;
    const int n = axis[2].length, n_xl = c->clip_hi[1] - c->clip_lo[1];
    const float scale = 1 / (samples_of(&c->sweep->g) * c->share);
    float *strip = c->strip + (k - 2 * c->pair0) * axis[2].stride;
    for (int il = c->clip_lo[0]; il < c->clip_hi[0]; il++)
        for (int xl = c->clip_lo[1]; xl < c->clip_hi[1]; xl++) {
            const float *x = from + ((gsize)il * axis[1].length + xl) * n;
            const float w = scale * c->taper[0][il] * c->taper[1][xl];
            float *to =
                strip + ((gsize)(il - c->clip_lo[0]) * n_xl + xl - c->clip_lo[1]) * c->length;
            for (int t = 0; t < n; t++)
                to[t] += w * c->taper[2][t] * x[t];
        }
}

static float largest(const PatchColumn *c, fftwf_complex *spectrum)
{
    const gsize n = coefficients_of(&c->sweep->g);
    float most = 0;
    for (gsize k = 0; k < n; k++)
        most = fmaxf(most, spectrum[k][0] * spectrum[k][0] + spectrum[k][1] * spectrum[k][1]);
    return most;
}

void patch_column_any(PatchColumn *c, void *scratch)
{
    const LithoPatchGeometry *g = &c->sweep->g;
    float *window = scratch;
    fftwf_complex *spectrum = (void *)((guint8 *)scratch + align(4 * samples_of(g)));
    float *power = (void *)((guint8 *)spectrum + align(8 * coefficients_of(g)));
    float *limits = (void *)((guint8 *)power + align(4 * coefficients_of(g)));
    guint8 *keep = (void *)((guint8 *)limits + align(4 * g->bins));
    for (int k = 2 * c->pair0; k < 2 * c->pair1 && patch_column_goes_on(c, k); k++) {
        load_window(c, k, window);
        fftwf_execute_dft_r2c(c->sweep->transforms->forward, window, spectrum);
        if (c->sweep->largest) {
            c->largest = fmaxf(c->largest, largest(c, spectrum));
            continue;
        }
        patch_column_limits(c, k, limits);
        powers(c->sweep, spectrum, limits, power);
        threshold(c, spectrum, power, keep);
        fftwf_execute_dft_c2r(c->sweep->transforms->inverse, spectrum, window);
        add_window(c, k, window);
    }
}
