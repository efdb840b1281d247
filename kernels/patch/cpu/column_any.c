// SPDX-License-Identifier: GPL-3.0-or-later
//
// Windows of any size, guided or not, one after the other, with FFTW.
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
           3 * align(4 * coefficients_of(g)) + 3 * align(4 * g->bins) + align(g->bins);
}

static void load_window(const PatchColumn *c, int k, float *to)
{
    const LithoPatchAxis *axis = c->sweep->g.axis;
    const int n = axis[2].length;
    int at[LITHO_PATCH_MAX_WINDOW];
    patch_column_times(c, litho_patch_start(axis[2], k), n, at);
    for (int il = 0; il < axis[0].length; il++)
        for (int xl = 0; xl < axis[1].length; xl++, to += n) {
            patch_load(c->rows[il * axis[1].length + xl], at, n, to);
            const float w = c->taper[0][il] * c->taper[1][xl];
            for (int t = 0; t < n; t++)
                to[t] *= w * c->taper[2][t];
        }
}

// Numbers of the frequencies, row after row, as long as the vector units like them.
enum { ROWS = 16 };
typedef float Tile[ROWS * (LITHO_PATCH_MAX_WINDOW / 2 + 1)];

static void tile(const float *from, int bins, Tile to)
{
    for (int row = 0; row < ROWS; row++)
        memcpy(to + row * bins, from, bins * sizeof *to);
}

// |F|^2 over the limit of its frequency.
static void flat_powers(const LithoPatchGeometry *g, fftwf_complex *restrict spectrum,
                        const float *limits, float *restrict power)
{
    const gsize n = coefficients_of(g), most = (gsize)ROWS * g->bins;
    Tile limit;
    tile(limits, g->bins, limit);
    for (gsize first = 0; first < n; first += most, spectrum += most, power += most)
        for (gsize k = 0; k < MIN(most, n - first); k++)
            power[k] =
                (spectrum[k][0] * spectrum[k][0] + spectrum[k][1] * spectrum[k][1]) / limit[k];
}

// |F|^2 over the limit of its wavenumber where levels have a shape.
static void powers(const PatchSweep *sweep, fftwf_complex *spectrum, const float *limits,
                   float *power)
{
    const LithoPatchGeometry *g = &sweep->g;
    const float *shape = sweep->levels->shape;
    const float least = litho_patch_least(sweep->least);
    const gsize rows = (gsize)g->axis[0].length * g->axis[1].length;
    if (!shape) {
        flat_powers(g, spectrum, limits, power);
        return;
    }
    for (gsize row = 0; row < rows; row++, spectrum += g->bins, power += g->bins)
        for (int f = 0; f < g->bins; f++) {
            const float limit = fmaxf(limits[f] * shape[f * rows + row], least);
            power[f] = (spectrum[f][0] * spectrum[f][0] + spectrum[f][1] * spectrum[f][1]) / limit;
        }
}

// Powers at wavenumbers i, j modulo the lengths.
static const float *power_row(const LithoPatchGeometry *g, const float *power, int i, int j)
{
    const int n0 = g->axis[0].length, n1 = g->axis[1].length;
    return power + ((gsize)((i + n0) % n0) * n1 + (j + n1) % n1) * g->bins;
}

static void energies(const LithoPatchGeometry *g, fftwf_complex *spectrum, float *raw)
{
    const gsize n = coefficients_of(g);
    for (gsize k = 0; k < n; k++)
        raw[k] = spectrum[k][0] * spectrum[k][0] + spectrum[k][1] * spectrum[k][1];
}

// Sums at the four places around half of wavenumbers i, j, of half the frequencies.
static void sum_halves(const LithoPatchGeometry *g, const float *raw, int i, int j,
                       float *restrict sum)
{
    int il[2], xl[2];
    litho_patch_halves(g->axis[0].length, i, il);
    litho_patch_halves(g->axis[1].length, j, xl);
    const float *restrict a = power_row(g, raw, il[0], xl[0]);
    const float *restrict b = power_row(g, raw, il[0], xl[1]);
    const float *restrict c = power_row(g, raw, il[1], xl[0]);
    const float *restrict d = power_row(g, raw, il[1], xl[1]);
    for (int f = 0; f <= g->bins / 2; f++)
        sum[f] = a[f] + b[f] + c[f] + d[f];
}

// Energies around half of each coefficient's wavenumbers and frequency, and the largest of each
// frequency (geometry.h). `sum`: room for a row.
static void guide(const LithoPatchGeometry *g, const float *raw, float *sum, float *to, float *most)
{
    const int n0 = g->axis[0].length, n1 = g->axis[1].length, last = g->bins - 1;
    memset(most, 0, g->bins * sizeof *most);
    for (int i = 0; i < n0; i++)
        for (int j = 0; j < n1; j++) {
            float *own = to + ((gsize)i * n1 + j) * g->bins;
            sum_halves(g, raw, i, j, sum);
            for (int f = 0; f < last; f += 2) {
                own[f] = sum[f / 2] + sum[f / 2];
                own[f + 1] = sum[f / 2] + sum[f / 2 + 1];
            }
            if (last % 2 == 0)
                own[last] = sum[last / 2] + sum[last / 2];
        }
    for (int i = 0; i < n0; i++)
        for (int j = 0; j < n1; j++) {
            float *own = to + ((gsize)i * n1 + j) * g->bins;
            // The last frequency is its own opposite: its wavenumbers are judged two by two.
            if (g->axis[2].length > 1) {
                float *opposite = to + ((gsize)((n0 - i) % n0) * n1 + (n1 - j) % n1) * g->bins;
                own[last] = opposite[last] = 0.5f * (own[last] + opposite[last]);
            }
            for (int f = 0; f <= last; f++)
                most[f] = own[f] > most[f] ? own[f] : most[f];
        }
}

// Powers times the factors of their guides.
static void apply_guide(const LithoPatchGeometry *g, const float *restrict guides,
                        const float *most, float *restrict power)
{
    const gsize n = coefficients_of(g), at_once = (gsize)ROWS * g->bins;
    Tile largest;
    tile(most, g->bins, largest);
    for (gsize first = 0; first < n; first += at_once, guides += at_once, power += at_once)
        for (gsize k = 0; k < MIN(at_once, n - first); k++)
            power[k] *= litho_patch_guide_factor(guides[k], largest[k]);
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

// Coefficients whose power reaches 1; without a branch, for the vector units.
static void keep_single(const float *restrict power, gsize n, fftwf_complex *restrict spectrum)
{
    for (gsize k = 0; k < n; k++) {
        const gboolean keep = power[k] >= 1;
        const float re = spectrum[k][0], im = spectrum[k][1];
        spectrum[k][0] = keep ? re : 0;
        spectrum[k][1] = keep ? im : 0;
    }
}

static void threshold(const PatchColumn *c, fftwf_complex *spectrum, const float *power,
                      guint8 *keep)
{
    const LithoPatchGeometry *g = &c->sweep->g;
    if (c->sweep->rule != LITHO_PATCH_ENERGY) {
        keep_single(power, coefficients_of(g), spectrum);
        return;
    }
    for (int i = 0; i < g->axis[0].length; i++)
        for (int j = 0; j < g->axis[1].length; j++, spectrum += g->bins) {
            judge_energy(g, power, i, j, keep);
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
        for (int xl = c->clip_lo[1]; patch_column_makes(c, il) && xl < c->clip_hi[1]; xl++) {
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
    float *raw = (void *)((guint8 *)power + align(4 * coefficients_of(g)));
    float *guides = (void *)((guint8 *)raw + align(4 * coefficients_of(g)));
    float *limits = (void *)((guint8 *)guides + align(4 * coefficients_of(g)));
    float *sum = (void *)((guint8 *)limits + align(4 * g->bins));
    float *most = (void *)((guint8 *)sum + align(4 * g->bins));
    guint8 *keep = (void *)((guint8 *)most + align(4 * g->bins));
    for (int k = 2 * c->pair0; k < 2 * c->pair1 && patch_column_goes_on(c, k); k++) {
        load_window(c, k, window);
        fftwf_execute_dft_r2c(c->sweep->transforms->forward, window, spectrum);
        if (c->sweep->largest) {
            c->largest = fmaxf(c->largest, largest(c, spectrum));
            continue;
        }
        patch_column_limits(c, k, limits);
        powers(c->sweep, spectrum, limits, power);
        if (c->sweep->guided) {
            energies(g, spectrum, raw);
            guide(g, raw, sum, guides, most);
            apply_guide(g, guides, most, power);
        }
        threshold(c, spectrum, power, keep);
        fftwf_execute_dft_c2r(c->sweep->transforms->inverse, spectrum, window);
        add_window(c, k, window);
    }
}
