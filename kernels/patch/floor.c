// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/patch/floor.h"

#include <math.h>
#include <string.h>

#include "kernels/common/noise_job.h"
#include "kernels/common/select.h"
#include "kernels/patch/levels_cells.h"

static gsize wavenumbers(const PatchFloor *p)
{
    return (gsize)p->n[0] * p->n[1];
}

void patch_floor_init(PatchFloor *p, const LithoPatchGeometry *g, int cells)
{
    *p = (PatchFloor){.n = {g->axis[0].length, g->axis[1].length}, .bins = g->bins, .cells = cells};
    p->narrow = patch_is_narrow(p->n);
    p->sum = g_new0(gint64, p->bins * wavenumbers(p));
    p->middle = g_new0(gint64, p->bins * wavenumbers(p));
    p->mean = g_new0(float, (gsize)cells * p->bins);
    p->below = g_new0(float, (gsize)cells * p->bins);
    p->scratch = g_new(float, wavenumbers(p));
}

void patch_floor_clear(PatchFloor *p)
{
    g_free(p->sum);
    g_free(p->middle);
    g_free(p->mean);
    g_free(p->below);
    g_free(p->scratch);
    *p = (PatchFloor){0};
}

guint64 patch_floor_bytes(const LithoPatchGeometry *g, int cells)
{
    const guint64 plane = (guint64)g->axis[0].length * g->axis[1].length;
    // The sums, the powers of a cell, each by a tenth and by a half, and both levels.
    return 2 * g->bins * plane * (sizeof(gint64) + sizeof(float)) +
           2 * sizeof(float) * (guint64)cells * g->bins;
}

PatchCellPowers patch_powers_new(const PatchFloor *p)
{
    const gsize n = p->bins * wavenumbers(p);
    return (PatchCellPowers){g_new(float, n), g_new0(float, n), g_new(float, p->bins),
                             g_new(float, p->bins), 0};
}

void patch_powers_clear(PatchCellPowers *powers)
{
    g_free(powers->tenth);
    g_free(powers->half);
    g_free(powers->mean);
    g_free(powers->below);
}

static void tell_half(const LithoNoiseWindows *job, int threads, float *half)
{
    const gint64 nk = noise_wavenumbers(job);
#pragma omp parallel num_threads(threads)
    {
        g_autofree const float **row = g_new(const float *, job->windows);
#pragma omp for schedule(dynamic)
        for (int f = 0; f < job->nf; f++) {
            float *to = half + f * nk;
            const gint64 n = noise_take_rows(job, f, row);
            memset(to, 0, nk * sizeof *to);
            if (n < NOISE_FLOOR_WINDOWS || !litho_run_checkpoint(job->run))
                continue;
            litho_select_columns(row, n, n / 2, nk, to);
            for (gint64 k = 0; k < nk; k++)
                to[k] /= (float)G_LN2;
        }
    }
}

// Part of the traces that is recorded, of the windows that are not left out.
static double recorded_in(const LithoNoiseWindows *job)
{
    double sum = 0;
    gint64 n = 0;
    for (gint64 w = 0; w < job->windows; w++) {
        sum += job->share[w];
        n += job->share[w] > 0;
    }
    return n > 0 ? sum / (double)n : 0;
}

// Mean powers of all wavenumbers and below events, 0 where there are none.
static void tell_means(const PatchFloor *p, int threads, PatchCellPowers *to)
{
    const gsize nk = wavenumbers(p);
#pragma omp parallel num_threads(threads)
    {
        g_autofree float *below = g_new(float, nk);
#pragma omp for schedule(dynamic)
        for (int f = 0; f < p->bins; f++) {
            const float *power = to->tenth + f * nk, mean = (float)noise_mean(power, nk);
            to->mean[f] = to->below[f] = 0;
            if (!(mean > 0 && mean <= G_MAXFLOAT))
                continue;
            noise_below_events(p->n, power, below);
            to->mean[f] = mean;
            to->below[f] = (float)noise_mean(below, nk);
        }
    }
}

void patch_powers_tell(const PatchFloor *p, const LithoNoiseWindows *job, int threads,
                       PatchCellPowers *to)
{
    noise_floor(job, threads, to->tenth);
    if (p->narrow)
        tell_half(job, threads, to->half);
    to->recorded = recorded_in(job);
    tell_means(p, threads, to);
}

void patch_floor_add(PatchFloor *p, int cell, const PatchCellPowers *powers)
{
    const gsize nk = wavenumbers(p);
    const float *power = powers->tenth, *middle = powers->half;
    p->recorded += (gint64)(powers->recorded * PATCH_FLOOR_UNIT);
    for (int f = 0; f < p->bins; f++, power += nk, middle += nk) {
        const float mean = powers->mean[f];
        if (!(mean > 0))
            continue;
        for (gsize k = 0; k < nk; k++)
            p->sum[f * nk + k] += (gint64)(power[k] / mean * PATCH_FLOOR_UNIT);
        for (gsize k = 0; p->narrow && k < nk; k++)
            p->middle[f * nk + k] += (gint64)(middle[k] / mean * PATCH_FLOOR_UNIT);
        p->mean[(gsize)cell * p->bins + f] = mean;
        p->below[(gsize)cell * p->bins + f] = powers->below[f];
    }
}

PatchFloorSums patch_floor_sums_new(const PatchFloor *p, int n)
{
    return (PatchFloorSums){g_new0(gint64, p->bins * wavenumbers(p)),
                            g_new0(float, (gsize)n * p->bins), g_new0(float, (gsize)n * p->bins)};
}

void patch_floor_sums_clear(PatchFloorSums *sums)
{
    g_free(sums->sum);
    g_free(sums->mean);
    g_free(sums->below);
    *sums = (PatchFloorSums){0};
}

void patch_floor_add_sums(PatchFloor *p, const int *cells, int n, const PatchFloorSums *sums)
{
    for (gsize k = 0; k < p->bins * wavenumbers(p); k++)
        p->sum[k] += sums->sum[k];
    for (int c = 0; c < n; c++) {
        const gsize to = (gsize)cells[c] * p->bins, from = (gsize)c * p->bins;
        memcpy(p->mean + to, sums->mean + from, p->bins * sizeof *p->mean);
        memcpy(p->below + to, sums->below + from, p->bins * sizeof *p->below);
    }
}

// shape[wavenumber] of frequency f, whose mean is 1; the factor by which it holds more than the
// cells' own planes, which scatter more and so lose more below their events. `plain`: the factor
// without what the opening takes of hills.
static double shape_of(PatchFloor *p, int f, float *shape, double *plain)
{
    const gsize nk = wavenumbers(p);
    double parts = 0;
    for (gsize k = 0; k < nk; k++)
        p->scratch[k] = (float)(p->sum[f * nk + k] / PATCH_FLOOR_UNIT);
    noise_below_events(p->n, p->scratch, shape);
    const double opened = noise_mean(shape, nk);
    noise_refine_below(p->n, p->scratch, shape);
    const float mean = (float)noise_mean(shape, nk);
    for (int c = 0; c < p->cells; c++) {
        const gsize at = (gsize)c * p->bins + f;
        parts += p->mean[at] > 0 ? p->below[at] / p->mean[at] : 0;
    }
    for (gsize k = 0; k < nk; k++)
        shape[k] = mean > 0 ? fmaxf(shape[k] / mean, 1e-12f) : 1;
    *plain = parts > 0 ? opened / parts : 0;
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

// Power of the planes at a frequency, all known cells together: by the levels, and below events.
static double sum_known(const PatchFloor *p, const gboolean *known, const float *each, int f,
                        gboolean squares)
{
    double sum = 0;
    for (int c = 0; c < p->cells; c++) {
        const double x = each[(gsize)c * p->bins + f];
        sum += !known[c] ? 0 : squares ? x * x : x;
    }
    return sum;
}

// The faintest tenth of the wavenumbers holds more than this part of the middle one where the noise
// comes to all of them, though dense events raise many: 0.5 to 0.9, of a line that steep ones fill
// 0.33. Noise that keeps to some wavenumbers leaves 0.3 and less, traces mixed 1 2 1 0.02 and those
// mixed 1 4 1 0.26. Missing traces spread it: means of 3 traces leave 0.21, 0.34 and 0.49 with 0,
// 30 and 50 % missing.
#define FILLED 0.3
#define SPREAD 0.3
// A frequency holds next to no noise where its level is this part of the others': the power.
#define EMPTY 0.01

// TRUE where the planes, as the opening leaves them, hold clearly more than the levels, at half of
// the frequencies at least: an offset of the samples is spread over the lowest ones. Frequencies
// without noise, as beside a band, hold leak of events and do not count. plain[f]: part of `below`
// that the opening leaves.
static gboolean holds_more(const PatchFloor *p, const gboolean *known, const double *plain,
                           const PatchLevels *l)
{
    g_autofree float *own = g_new(float, p->bins), *sorted = g_new(float, p->bins);
    double flat = 0, opened = 0;
    int n = 0, n_more = 0;
    for (int f = 0; f < p->bins; f++)
        own[f] = sorted[f] = (float)sum_known(p, known, l->sigma, f, TRUE);
    const int window[3] = {p->n[0], p->n[1], 2 * (p->bins - 1)}, told = patch_levels_told(window);
    const float empty = EMPTY * litho_select_kth(sorted, told, 3 * told / 4);
    for (int f = 0; f < p->bins; f++) {
        const double below = sum_known(p, known, p->below, f, FALSE) * plain[f];
        flat += times(p, f) * own[f];
        opened += times(p, f) * below;
        n += own[f] >= empty;
        n_more += own[f] >= empty && below > NOISE_CLEARLY_MORE * own[f];
    }
    return opened > NOISE_CLEARLY_MORE * flat && 2 * n_more >= n;
}

// TRUE where the noise comes to all wavenumbers. `measured` cells are known.
static gboolean fills_all(const PatchFloor *p, const gboolean *known, int measured,
                          const float *shape)
{
    const double recorded = (double)p->recorded / PATCH_FLOOR_UNIT / MAX(measured, 1);
    const gsize nk = wavenumbers(p);
    g_autofree float *plane = g_new(float, nk);
    NoiseFilling filling = {0};
    for (int f = 0; f < p->bins; f++) {
        memcpy(plane, shape + f * nk, nk * sizeof *plane);
        noise_add_filling(&filling, times(p, f) * sum_known(p, known, p->below, f, FALSE),
                          (gint64)nk, plane);
    }
    return filling.faint > (FILLED + SPREAD * (1 - recorded)) * filling.middle;
}

// The part that is like noise of what the planes hold above the levels, by the floors of a tenth
// and a half of the windows.
static double likeness(const PatchFloor *p, const gboolean *known, const float *shape,
                       const PatchLevels *l, const float *tenth, const float *half)
{
    const gsize nk = wavenumbers(p);
    g_autofree float *plane = g_new(float, nk);
    double all = 0, like = 0;
    for (int f = 0; f < p->bins; f++) {
        const double own = sum_known(p, known, l->sigma, f, TRUE);
        const double below = sum_known(p, known, p->below, f, FALSE);
        for (gsize k = 0; k < nk; k++)
            plane[k] = (float)(shape[f * nk + k] * below);
        noise_add_likeness(times(p, f), plane, own, tenth + f * nk, half + f * nk, (gint64)nk,
                           &like, &all);
    }
    return all > 0 ? like / all : 0;
}

// In lines with white noise of 20 dB and less likeness() is 0.05 to 0.47, of mixed noise and noise
// of limited dip at 0 to 20 dB 0.54 to 0.9; in cubes of dense, folded layers 0.2 to 0.42 at 20 and
// 30 dB, and of mixed noise 0.58 and more.
static const double LIKE = 0.5;

// Sets `like` where most of what the planes hold above the levels is like noise.
static gboolean ask_likeness(const PatchFloor *p, const gboolean *known, const float *shape,
                             const PatchLevels *l, const PatchFloorOfWhole *whole, gboolean *like,
                             GError **error)
{
    const gsize n = p->bins * wavenumbers(p);
    g_autofree float *tenth = g_new0(float, n), *half = g_new0(float, n);
    for (gsize k = 0; p->narrow && k < n; k++) {
        tenth[k] = (float)(p->sum[k] / PATCH_FLOOR_UNIT);
        half[k] = (float)(p->middle[k] / PATCH_FLOOR_UNIT);
    }
    if (!p->narrow && !whole->tell(whole->data, tenth, half, error))
        return FALSE;
    *like = likeness(p, known, shape, l, tenth, half) > LIKE;
    return TRUE;
}

gboolean patch_floor_end(PatchFloor *p, const guint8 *done, gboolean varies,
                         const PatchFloorOfWhole *whole, PatchLevels *l, GError **error)
{
    const gsize nk = wavenumbers(p);
    g_autofree float *shape = g_new(float, p->bins *nk);
    g_autofree double *plain = g_new(double, p->bins);
    g_autofree gboolean *known = g_new0(gboolean, p->cells);
    double shaped = 0;
    int measured = 0;
    gboolean like = FALSE;
    if (!noise_tells_shape(p->n))
        return TRUE;
    for (int f = 0; f < p->bins; f++) {
        const float more = (float)shape_of(p, f, shape + f * nk, &plain[f]);
        if (f == 0 || f == p->bins - 1)
            noise_make_even(p->n, shape + f * nk);
        plain[f] = more > 0 ? plain[f] / more : 1;
        for (int c = 0; c < p->cells; c++)
            p->below[(gsize)c * p->bins + f] *= more;
    }
    for (int c = 0; c < p->cells; c++) {
        known[c] = done[c] == 1 && has_floor(p, c);
        measured += known[c];
        for (int f = 0; f < p->bins && known[c]; f++)
            shaped += times(p, f) * p->below[(gsize)c * p->bins + f];
    }
    if (!holds_more(p, known, plain, l) ||
        ((p->narrow || varies) && fills_all(p, known, measured, shape)))
        return TRUE;
    if (!ask_likeness(p, known, shape, l, whole, &like, error))
        return FALSE;
    if (!like)
        return TRUE;
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
    return TRUE;
}
