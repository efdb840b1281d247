// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/patch/floor.h"

#include <math.h>
#include <string.h>

#include "kernels/common/noise_job.h"

// Sums of integers do not depend on their order; a cell counts in steps of 2^-32 of its mean.
#define UNIT 0x1p32
static gsize wavenumbers(const PatchFloor *p)
{
    return (gsize)p->n[0] * p->n[1];
}

void patch_floor_init(PatchFloor *p, const LithoPatchGeometry *g, int cells)
{
    *p = (PatchFloor){.n = {g->axis[0].length, g->axis[1].length}, .bins = g->bins, .cells = cells};
    p->sum = g_new0(gint64, p->bins * wavenumbers(p));
    p->mean = g_new0(float, (gsize)cells * p->bins);
    p->below = g_new0(float, (gsize)cells * p->bins);
    p->scratch = g_new(float, wavenumbers(p));
}

void patch_floor_clear(PatchFloor *p)
{
    g_free(p->sum);
    g_free(p->mean);
    g_free(p->below);
    g_free(p->scratch);
    *p = (PatchFloor){0};
}

guint64 patch_floor_bytes(const LithoPatchGeometry *g, int cells)
{
    const guint64 plane = (guint64)g->axis[0].length * g->axis[1].length;
    // The sums, the powers of a cell, and both levels.
    return g->bins * plane * (sizeof(gint64) + sizeof(float)) +
           2 * sizeof(float) * (guint64)cells * g->bins;
}

void patch_floor_add(PatchFloor *p, int cell, float *power)
{
    const gsize nk = wavenumbers(p);
    for (int f = 0; f < p->bins; f++, power += nk) {
        const float mean = (float)noise_mean(power, nk);
        if (!(mean > 0 && mean <= G_MAXFLOAT))
            continue;
        for (gsize k = 0; k < nk; k++)
            p->sum[f * nk + k] += (gint64)(power[k] / mean * UNIT);
        noise_below_events(p->n, power, p->scratch);
        p->mean[(gsize)cell * p->bins + f] = mean;
        p->below[(gsize)cell * p->bins + f] = (float)noise_mean(power, nk);
    }
}

// shape[wavenumber] of frequency f, whose mean is 1; the factor by which it holds more than the
// cells' own planes, which scatter more and so lose more below their events.
static double shape_of(PatchFloor *p, int f, float *shape)
{
    const gsize nk = wavenumbers(p);
    double parts = 0;
    for (gsize k = 0; k < nk; k++)
        shape[k] = (float)(p->sum[f * nk + k] / UNIT);
    noise_below_events(p->n, shape, p->scratch);
    const float mean = (float)noise_mean(shape, nk);
    for (int c = 0; c < p->cells; c++) {
        const gsize at = (gsize)c * p->bins + f;
        parts += p->mean[at] > 0 ? p->below[at] / p->mean[at] : 0;
    }
    for (gsize k = 0; k < nk; k++)
        shape[k] = mean > 0 ? fmaxf(shape[k] / mean, 1e-12f) : 1;
    return parts > 0 ? mean / parts : 0;
}

// Frequencies but the first and the last of an even length stand for two.
static double times(const PatchFloor *p, int f)
{
    return f == 0 || f == p->bins - 1 ? 1 : 2;
}

// FALSE where a cell had too few windows.
static gboolean has_floor(const PatchFloor *p, int cell)
{
    for (int f = 0; f < p->bins; f++)
        if (p->mean[(gsize)cell * p->bins + f] > 0)
            return TRUE;
    return FALSE;
}

void patch_floor_end(PatchFloor *p, const guint8 *done, PatchLevels *l)
{
    const gsize nk = wavenumbers(p);
    g_autofree float *shape = g_new(float, p->bins *nk);
    g_autofree gboolean *known = g_new0(gboolean, p->cells);
    double flat = 0, shaped = 0;
    int measured = 0, n_more = 0;
    g_autofree double *ratio = g_new0(double, 2 * p->bins); // flat and shaped by frequency
    if (!noise_tells_shape(p->n))
        return;
    for (int f = 0; f < p->bins; f++) {
        const float more = (float)shape_of(p, f, shape + f * nk);
        if (f == 0 || f == p->bins - 1)
            noise_make_even(p->n, shape + f * nk);
        for (int c = 0; c < p->cells; c++)
            p->below[(gsize)c * p->bins + f] *= more;
    }
    for (int c = 0; c < p->cells; c++) {
        known[c] = done[c] == 1 && has_floor(p, c);
        measured += known[c];
        for (int f = 0; f < p->bins && known[c]; f++) {
            const gsize at = (gsize)c * p->bins + f;
            flat += times(p, f) * l->sigma[at] * l->sigma[at];
            shaped += times(p, f) * p->below[at];
            ratio[2 * f] += l->sigma[at] * l->sigma[at];
            ratio[2 * f + 1] += p->below[at];
        }
    }
    for (int f = 0; f < p->bins; f++)
        n_more += ratio[2 * f + 1] > NOISE_CLEARLY_MORE * ratio[2 * f];
    // An offset of the samples is spread over the lowest frequencies alone.
    if (!(shaped > NOISE_CLEARLY_MORE * flat) || 2 * n_more < p->bins)
        return;
    l->total = sqrt(shaped / measured / MAX(2 * (p->bins - 1), 1));
    l->low = NOISE_FLOOR_LOW * l->total;
    l->high = NOISE_FLOOR_HIGH * l->total;
    for (int f = 0; f < p->bins; f++) {
        double mean = 0; // what the other cells take
        for (int c = 0; c < p->cells; c++)
            mean += known[c] ? p->below[(gsize)c * p->bins + f] / measured : 0;
        for (int c = 0; c < p->cells; c++) {
            const gsize at = (gsize)c * p->bins + f;
            l->sigma[at] = (float)sqrt(known[c] ? p->below[at] : mean);
        }
    }
    l->shape = g_steal_pointer(&shape);
    l->table.shape = l->shape;
}
