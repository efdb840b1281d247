// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/patch/levels_bands.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "kernels/common/places.h"
#include "kernels/common/select.h"
#include "kernels/patch/levels_cells.h"

// Noise is louder by so much, in logarithms of its amplitude: below the lower end it may be chance,
// from the upper one on it counts as it is.
static const double CHANCE = 0.15, SURE = 0.3;
// Level over the mean power in a cell: events leak into quiet wavenumbers, too, but 10 dB and more
// below themselves. Where a frequency is known for louder noise a third of it will do.
static const double SOME = 0.1, MUCH = 0.2, KNOWN = 1.0 / 3;
// Level over the mean power of the loudest frequency, a decimal logarithm: the taper spreads events
// along frequencies, too.
static const double LEAK = -3, CLEAR = -2;
// Noise varies where it exceeds that of the faintest quarter of the cells by LOUDER, at so many
// frequencies and cells.
static const double LOUDER = 0.3;
enum { LOUDER_CELLS = 10 };
// Level over the mean power at the quarter of the frequencies that holds most noise: where it is
// less, what all frequencies have in common is a broad-band event, as a first break is.
static const double BROAD = 0.4, NO_EVENT = 0.7;

// Missing traces spread events over all wavenumbers, by about their share of the mean power in the
// mean and several times that in places.
static const double SPREAD = 4, MOST_SPREAD = 0.2, NONE_MISSING = 1e-4;

static double ramp(double x, double from, double to)
{
    return CLAMP((x - from) / (to - from), 0, 1);
}

static gsize at_of(const NoiseCells *c, int f, int cell)
{
    return (gsize)f * c->all + cell;
}

// Mean power of the loudest frequency of a cell.
static double loudest_of(const NoiseCells *c, int cell)
{
    double most = 0;
    for (int f = 0; f < c->nf; f++) {
        const float part = c->part[at_of(c, f, cell)];
        most = fmax(most, part > 0 ? c->power[at_of(c, f, cell)] / part : 0);
    }
    return most;
}

// Decimal logarithm of the noise over that.
static double of_loudest(const NoiseCells *c, int f, int cell, double loudest)
{
    return loudest > 0 ? log10(fmax(c->power[at_of(c, f, cell)] / loudest, 1e-30)) : -30;
}

// Share of the traces that are missing, of the windows that lie inside: those at faces hold fewer.
static double missing_of(const LithoNoiseWindows *job)
{
    g_autofree float *share = g_memdup2(job->share, job->windows * sizeof *share);
    const double inside =
        litho_select_kth(share, job->windows, job->windows - 1 - job->windows / 4);
    return 1 - inside > NONE_MISSING ? 1 - inside : 0;
}

// Sureness, 0 to 1, that quiet wavenumbers of a cell hold noise and no leak of events. `spread`: so
// much of the mean power may be leak by missing traces. `is_known`: there is louder noise at the
// frequency.
static double is_noise(const NoiseCells *c, int f, int cell, double spread, gboolean is_known)
{
    const double known = is_known ? KNOWN : 1;
    return ramp(c->part[at_of(c, f, cell)] - spread, known * SOME, known * MUCH) *
           ramp(of_loudest(c, f, cell, loudest_of(c, cell)), LEAK, CLEAR);
}

// Sureness, 0 to 1, that noise is what all frequencies of a cell have in common. Frequencies beside
// a band hold leak of events, which all of them have in common. `sorted` is scratch.
static double is_common_noise(const NoiseCells *c, int cell, float *sorted)
{
    const double loudest = loudest_of(c, cell);
    int n = 0;
    for (int f = 0; f < c->told; f++) {
        n += of_loudest(c, f, cell, loudest) > LEAK;
        sorted[f] = c->part[at_of(c, f, cell)];
    }
    const float most = litho_select_kth(sorted, c->told, c->told - 1 - c->told / 4);
    return 4 * n >= 3 * c->told ? ramp(most, BROAD, NO_EVENT) : 0;
}

// --- finding -------------------------------------------------------------------------------------

// Power that a quarter of the cells does not exceed.
static double faint_power(const NoiseCells *c, int f, float *sorted)
{
    int n = 0;
    for (int cell = 0; cell < c->all; cell++)
        if (c->count[cell] > 0)
            sorted[n++] = c->power[at_of(c, f, cell)];
    return n > 0 ? litho_select_kth(sorted, n, n / 4) : 0;
}

// Power of each cell over that of the faintest ones, [cell][frequency]; 0 where none is known.
static float *over_faint(const NoiseCells *c)
{
    float *over = g_new0(float, (gsize)c->nf * c->all);
    g_autofree float *scratch = g_new(float, c->all);
    for (int f = 0; f < c->nf; f++) {
        const float faint = (float)faint_power(c, f, scratch);
        for (int cell = 0; faint > 0 && cell < c->all; cell++)
            over[(gsize)cell * c->nf + f] =
                c->count[cell] > 0 ? c->power[at_of(c, f, cell)] / faint : 0;
    }
    return over;
}

// The part of by[frequency] that all frequencies which may hold noise have in common: the quarter
// of them that says least. `sorted` is scratch.
static double in_common(const NoiseCells *c, const float *by, float *sorted)
{
    const int n = c->told;
    memcpy(sorted, by, n * sizeof *sorted);
    const float low = litho_select_kth(sorted, n, n / 4);
    const float high = litho_select_kth(sorted, n, n - 1 - n / 4);
    return low > 0 ? low : high < 0 ? high : 0;
}

static gboolean any_above(const float *x, int n, float limit)
{
    gboolean any = FALSE;
    for (int k = 0; k < n; k++)
        any |= x[k] > limit;
    return any;
}

// The number of frequencies at which the noise of a cell is louder; marks in `found` those at which
// it is beyond what all of them have in common. over[frequency]: power over the faintest. `by` and
// `sorted` are scratch.
static int find_louder(const NoiseCells *c, int cell, double spread, const float *over, float *by,
                       float *sorted, guint8 *found)
{
    const int nf = c->told;
    int louder = 0;
    if (!any_above(over, nf, expf(2 * (float)LOUDER)))
        return 0;
    for (int f = 0; f < nf; f++)
        by[f] = over[f] > 0 ? 0.5f * logf(over[f]) : 0;
    const double common = fmax(in_common(c, by, sorted), 0) * is_common_noise(c, cell, sorted);
    for (int f = 0; f < nf; f++) {
        const double noise = by[f] > LOUDER ? is_noise(c, f, cell, spread, FALSE) : 0;
        louder += noise * by[f] > LOUDER;
        for (int g = MAX(f - 1, 0); g <= MIN(f + 1, nf - 1); g++)
            found[g] |= noise * (by[f] - common) > LOUDER;
    }
    return louder;
}

PatchBands patch_bands_find(const LithoNoiseWindows *whole, const float *quiet)
{
    PatchBands b = {.known = TRUE,
                    .cells = noise_cells_new(whole, quiet),
                    .times = noise_cells_of_times(whole, quiet),
                    .found = g_malloc0(whole->nf)};
    const double spread = fmin(SPREAD * missing_of(whole), MOST_SPREAD);
    const NoiseCells *c = &b.cells;
    g_autofree float *over = over_faint(c), *by = g_new(float, c->nf);
    g_autofree float *sorted = g_new(float, c->nf);
    int louder = 0;
    for (int cell = 0; cell < c->all; cell++)
        louder += find_louder(c, cell, spread, over + (gsize)cell * c->nf, by, sorted, b.found);
    b.vary = louder >= LOUDER_CELLS;
    return b;
}

void patch_bands_clear(PatchBands *b)
{
    noise_cells_clear(&b->cells);
    noise_cells_clear(&b->times);
    g_free(b->found);
    *b = (PatchBands){0};
}

guint64 patch_bands_bytes(const LithoPatchGeometry *g)
{
    // Two powers of each window and frequency; of each cell, which has two windows, two more, two
    // levels and the scratch of one frequency; levels at up to five times of each cell.
    return (guint64)PATCH_ALL_WINDOWS * (g->bins + 1) * 7 * sizeof(float);
}

// --- settling ------------------------------------------------------------------------------------

// Logarithms by which the noise of a cell exceeds `level`, to[frequency]: first by as much as at
// all frequencies, which events do not raise alike.
static void compare(const PatchBands *b, int cell, gboolean few, const LithoPatchLevels *level,
                    float *to)
{
    const NoiseCells *c = &b->cells;
    const int nf = c->nf;
    const float place[3] = {c->at[cell / c->n[2] / c->n[1]],
                            c->at[c->n[0] + cell / c->n[2] % c->n[1]],
                            c->at[c->n[0] + c->n[1] + cell % c->n[2]]};
    g_autofree float *sorted = g_new(float, nf);
    for (int f = 0; f < nf; f++) {
        const double own = c->power[at_of(c, f, cell)], old = litho_patch_level(level, place, f);
        to[f] = own > 0 && old > 0 ? (float)(0.5 * log(own) - log(old)) : 0;
    }
    const double least = in_common(c, to, sorted);
    const double all = least * ramp(fabs(least), CHANCE, SURE) * is_common_noise(c, cell, sorted);
    for (int f = 0; f < nf; f++) {
        const double own = to[f] - all;
        const double sure = f >= c->told ? 0
                            : own < 0    ? 1
                            : few        ? 0
                                         : is_noise(c, f, cell, 0, b->found[f]);
        to[f] = (float)(all + own * ramp(fabs(own), CHANCE, SURE) * sure);
    }
}

// Between the cells' knots, constant beyond them.
static float value_at(const NoiseCells *c, const float *values, const float x[3])
{
    const WpPlaces places = {.n = {c->n[0], c->n[1], c->n[2]},
                             .at = {c->at, c->at + c->n[0], c->at + c->n[0] + c->n[1]},
                             .level = values};
    float share[3];
    int k[3];
    for (int a = 0; a < 3; a++) {
        k[a] = wp_place(places.at[a], places.n[a], x[a], &share[a]);
        share[a] = CLAMP(share[a], 0, 1);
    }
    return wp_place_level(&places, k, share);
}

// RMS over the cells, all frequencies together.
static double total_of(const PatchLevels *l)
{
    const int bins = l->table.bins, cells = patch_levels_cells(l);
    double sum = 0;
    for (int k = 0; k < cells * bins; k++) {
        const int f = k % bins;
        sum += (double)l->sigma[k] * l->sigma[k] * (f == 0 || f == bins - 1 ? 1 : 2);
    }
    return sqrt(sum / cells / MAX(2 * (bins - 1), 1));
}

static void take_total(PatchLevels *l)
{
    const double total = total_of(l), by = l->total > 0 ? total / l->total : 1;
    l->total = total;
    l->low *= by;
    l->high *= by;
}

// Gives `l` cells at least as fine as those of `c` along all axes, and there the levels that it has
// by exp(by[frequency][cell of c]).
static gboolean refine(const NoiseCells *c, const float *by, PatchLevels *l, GError **error)
{
    const int bins = l->table.bins, last = c->n[2] - 1;
    const float *times = c->at + c->n[0] + c->n[1];
    const LithoPatchLevels old = l->table;
    const int *n = l->table.n;
    gsize levels = bins;
    for (int a = 0; a < 3; a++)
        levels *= MAX(c->n[a], old.n[a]);
    float *sigma = litho_memory_new(levels, sizeof *sigma, "levels of the noise", error);
    if (!sigma)
        return FALSE;
    g_autofree float *old_sigma = l->sigma;
    for (int a = 0; a < 3; a++)
        patch_levels_divide(l, a, MAX(c->n[a], old.n[a]));
    l->table.sigma = l->sigma = sigma;
    for (int k = 0; k < patch_levels_cells(l); k++) {
        const int at[3] = {k / n[2] / n[1], k / n[2] % n[1], k % n[2]};
        float x[3];
        for (int a = 0; a < 3; a++)
            x[a] = l->table.first[a] + (float)at[a] * l->table.step[a];
        if (c->all == c->n[2]) // the outermost ones hold windows that begin before the traces
            x[2] = at[2] == 0          ? MIN(x[2], times[0])
                   : at[2] == n[2] - 1 ? MAX(x[2], times[last])
                                       : x[2];
        for (int f = 0; f < bins; f++)
            l->sigma[(gsize)k * bins + f] =
                litho_patch_level(&old, x, f) * expf(value_at(c, by + at_of(c, f, 0), x));
    }
    return TRUE;
}

gboolean patch_levels_refine(const NoiseCells *cells, const float *by, PatchLevels *l,
                             GError **error)
{
    gint32 n[3];
    memcpy(n, l->table.n, sizeof n);
    if (!refine(cells, by, l, error))
        return FALSE;
    if (!l->fine)
        memcpy(l->own, n, sizeof n);
    l->fine = TRUE;
    take_total(l);
    return TRUE;
}

// The level at frequency f and a time: the middle one of the columns of cells.
static float middle_at(const LithoPatchLevels *level, float time, int f, float *sorted)
{
    const int columns = level->n[0] * level->n[1];
    for (int k = 0; k < columns; k++) {
        const float place[3] = {level->first[0] + (float)(k / level->n[1]) * level->step[0],
                                level->first[1] + (float)(k % level->n[1]) * level->step[1], time};
        sorted[k] = litho_patch_level(level, place, f);
    }
    return litho_select_kth(sorted, columns, columns / 2);
}

// Half the logarithm of what all frequencies have in common of power[frequency] over `unit`, where
// it is noise of the windows that begin at time `t`. `by` and `sorted` are scratch.
static double common_at(const NoiseCells *c, int t, const float *unit, float *by, float *sorted)
{
    for (int f = 0; f < c->nf; f++) {
        const float own = c->power[at_of(c, f, t)];
        by[f] = own > 0 && unit[f] > 0 ? 0.5f * logf(own / unit[f]) : 0;
    }
    const double least = in_common(c, by, sorted);
    return least * ramp(fabs(least), CHANCE, SURE) * is_common_noise(c, t, sorted);
}

// Windows lie inside the survey, those of the filter begin before it: the level goes on from the
// outermost two times, the further one at `in`, to the face.
static double beyond(const NoiseCells *c, int out, int in, double face, float *unit, float *by,
                     float *sorted)
{
    const float *at = c->at + c->n[0] + c->n[1];
    if (!(c->count[out] > 0 && c->count[in] > 0))
        return 0;
    for (int f = 0; f < c->nf; f++)
        unit[f] = c->power[at_of(c, f, in)];
    return common_at(c, out, unit, by, sorted) * (face - at[out]) / (at[out] - at[in]);
}

// Noise that grows or decays within a cell: all cells of a time go up or down by as much as the
// windows that begin there exceed them at all frequencies.
static gboolean settle_times(const NoiseCells *w, PatchLevels *l, GError **error)
{
    const int bins = l->table.bins, n = w->n[2];
    const float *times = w->at + w->n[0] + w->n[1];
    const float last = l->table.step[2] * (float)l->table.n[2] - 1;
    g_autofree float *unit = g_new(float, bins), *own = g_new(float, bins);
    g_autofree float *sorted = g_new(float, MAX(bins, l->table.n[0] * l->table.n[1]));
    g_autofree float *at = g_new(float, n + 4), *more = g_new0(float, n + 2);
    g_autofree float *by = g_new(float, (gsize)bins *(n + 2));
    const NoiseCells c = {.n = {1, 1, n + 2}, .all = n + 2, .nf = bins, .told = w->told, .at = at};
    for (int t = 0; t < n; t++) {
        for (int f = 0; f < bins; f++) {
            const float old = middle_at(&l->table, times[t], f, sorted);
            unit[f] = old * old;
        }
        more[t + 1] = w->count[t] > 0 ? (float)common_at(w, t, unit, own, sorted) : 0;
    }
    gboolean any = FALSE;
    for (int t = 1; t <= n; t++)
        any |= more[t] != 0;
    if (n < 2 || !any)
        return TRUE;
    memcpy(at, w->at, 2 * sizeof *at);
    memcpy(at + 3, times, n * sizeof *times);
    at[2] = MIN(0, times[0] - 1);
    at[n + 3] = MAX(last, times[n - 1] + 1);
    more[0] = more[1] + (float)beyond(w, 0, 1, at[2], unit, own, sorted);
    more[n + 1] = more[n] + (float)beyond(w, n - 1, n - 2, at[n + 3], unit, own, sorted);
    for (int f = 0; f < bins; f++)
        memcpy(by + at_of(&c, f, 0), more, (n + 2) * sizeof *more);
    return refine(&c, by, l, error);
}

gboolean patch_bands_settle(const PatchBands *b, gboolean few, PatchLevels *l, GError **error)
{
    const NoiseCells *c = &b->cells;
    const int bins = l->table.bins;
    g_autofree float *own = g_new(float, bins), *by = g_new0(float, (gsize)bins * c->all);
    for (int cell = 0; cell < c->all; cell++) {
        compare(b, cell, few, &l->table, own);
        for (int f = 0; f < bins && c->count[cell] > 0; f++)
            by[at_of(c, f, cell)] = own[f];
    }
    for (int f = 0; f < bins; f++)
        noise_cells_fill(c, by + at_of(c, f, 0));
    if (!patch_levels_refine(c, by, l, error) || !settle_times(&b->times, l, error))
        return FALSE;
    take_total(l);
    return TRUE;
}

gboolean patch_times_settle(const PatchBands *b, PatchLevels *l, GError **error)
{
    gint32 n[3];
    memcpy(n, l->table.n, sizeof n);
    if (!settle_times(&b->times, l, error))
        return FALSE;
    if (memcmp(n, l->table.n, sizeof n)) {
        if (!l->fine)
            memcpy(l->own, n, sizeof n);
        l->fine = TRUE;
        take_total(l);
    }
    return TRUE;
}
