// SPDX-License-Identifier: GPL-3.0-or-later
//
// Levels of lines, gathers and surveys of few lines: louder noise, or an event that fills a cell.
//
// A shot's direct wave, air wave or ground roll fills the windows of a cell at all wavenumbers, and
// the level of the cell was the event's, which left. Events raise the level at their own
// frequencies, louder noise at all of them. So a cell exceeds the level of the whole survey by as
// much as around the lower quartile of the frequencies, and by what a frequency has beyond that
// where events are weak there. An event that reaches all frequencies fills some windows and
// wavenumbers more than others: the faintest tenth of the powers in the cell, which have one mean
// where they are noise, tells far less than the level.
#include "kernels/patch/levels_lines.h"

#include <math.h>
#include <string.h>

#include "kernels/common/select.h"

// The faintest part of the powers, and as many as tell something.
static const double FAINTEST = 0.1;
enum { FEWEST = 64 };
// Level by these over the level of the cell: 0.9 to 1.1 in noise, 0.75 and more where it grows 9
// times along the line, 0.1 to 0.35 in a shot's near traces.
static const double EVENT = 0.35, NOISE = 0.6;
// Level over the mean power from which a frequency holds noise and not leak of events.
static const double SOME = 0.2, MUCH = 0.5;
// Share of the frequencies that exceed the survey's level by less than all have in common.
static const double QUARTILE = 0.3;
// Zeros in runs, of a window that tells nothing.
static const float MUTED = 0.06f;

gboolean patch_lines_are_few(const LithoGrid *grid)
{
    return MIN(grid->axis[0].n, grid->axis[1].n) < LITHO_PATCH_WINDOW;
}

// --- a cell's powers -----------------------------------------------------------------------------

// TRUE where window `w` lies about the cell itself, not only in the half of its neighbours that it
// is measured with.
static gboolean is_about(const PatchLevels *l, int cell, const NoiseJob *job, gint64 w)
{
    const int *n = l->table.n;
    const int at[3] = {cell / n[2] / n[1], cell / n[2] % n[1], cell % n[2]};
    gint64 place[3];
    noise_places_of(job, w, place);
    for (int a = 0; a < 3; a++) {
        const double centre = l->table.first[a] + (double)at[a] * l->table.step[a];
        const double own = (double)noise_start_of(job, a, place[a]) + 0.5 * (job->n[a] - 1);
        if (fabs(own - centre) > 0.5 * fmax(l->table.step[a], job->n[a]))
            return FALSE;
    }
    return TRUE;
}

void patch_lines_tell(const PatchLevels *l, int cell, const LithoNoiseWindows *job,
                      PatchFaint *faint)
{
    const gint64 nk = noise_wavenumbers(job);
    g_autofree float *values = g_new(float, job->windows *nk);
    g_autofree gboolean *takes = g_new(gboolean, job->windows);
    for (gint64 w = 0; w < job->windows; w++)
        takes[w] = job->share[w] > 0 && job->muted[w] < MUTED && is_about(l, cell, job, w);
    for (int f = 0; f < job->nf; f++) {
        const float *power = job->power + (gsize)f * job->windows * nk;
        gint64 n = 0;
        for (gint64 w = 0; w < job->windows; w++)
            if (takes[w]) {
                memcpy(values + n, power + w * nk, nk * sizeof *values);
                n += nk;
            }
        if (n < FEWEST)
            continue; // zeros: nothing is told
        faint[f].mean = (float)noise_mean(values, n);
        faint[f].noise =
            (float)(litho_select_kth(values, n, (gint64)(FAINTEST * n)) / -log(1 - FAINTEST));
    }
}

// --- its levels ----------------------------------------------------------------------------------

static double ramp(double x, double from, double to)
{
    return CLAMP((x - from) / (to - from), 0, 1);
}

// The cell's level [frequency], and what belongs to it.
typedef struct Cell {
    const float *sigma;
    const PatchFaint *faint;
    int bins;
} Cell;

// Power by the level at f and the frequencies beside it; *faint: the same of what is told there.
static double power_about(const Cell *c, int f, PatchFaint *faint)
{
    double power = 0;
    *faint = (PatchFaint){0};
    for (int g = MAX(f - 1, 0); g <= MIN(f + 1, c->bins - 1); g++) {
        power += c->sigma[g] * c->sigma[g];
        faint->noise += c->faint[g].noise;
        faint->mean += c->faint[g].mean;
    }
    return power;
}

// Sureness, 0 to 1, that the level is noise, by the faintest powers at f.
static double is_even(const Cell *c, int f)
{
    PatchFaint faint;
    const double power = power_about(c, f, &faint);
    return power > 0 ? ramp(sqrt(faint.noise / power), EVENT, NOISE) : 0;
}

// The same of what all frequencies have in common: of all but a quarter of them.
static double is_common(const Cell *c, float *sorted)
{
    for (int f = 0; f < c->bins; f++)
        sorted[f] = (float)is_even(c, f);
    return litho_select_kth(sorted, c->bins, 3 * c->bins / 4);
}

// Sureness, 0 to 1, that a frequency holds noise and not leak of events.
static double is_noise(const Cell *c, int f)
{
    PatchFaint faint;
    const double power = power_about(c, f, &faint);
    return faint.mean > 0 ? ramp(power / faint.mean, SOME, MUCH) * is_even(c, f) : 0;
}

// Logarithms by which the noise of a cell exceeds `whole`, at most: to[frequency]. `sorted` is
// scratch.
static void exceed(const Cell *c, const float *whole, float *to, float *sorted)
{
    for (int f = 0; f < c->bins; f++)
        to[f] = c->sigma[f] > 0 && whole[f] > 0 ? logf(c->sigma[f] / whole[f]) : 0;
    memcpy(sorted, to, c->bins * sizeof *to);
    const double least = litho_select_kth(sorted, c->bins, (int)(QUARTILE * c->bins));
    const double common = fmax(least, 0) * is_common(c, sorted);
    for (int f = 0; f < c->bins; f++)
        if (to[f] > common)
            to[f] = (float)(common + (to[f] - common) * is_noise(c, f));
}

void patch_lines_settle(PatchLevels *l, const PatchFaint *faint, const float *whole)
{
    const int bins = l->table.bins;
    g_autofree float *by = g_new(float, bins), *sorted = g_new(float, bins);
    for (int k = 0; k < patch_levels_cells(l); k++) {
        float *sigma = l->sigma + (gsize)k * bins;
        const Cell cell = {sigma, faint + (gsize)k * bins, bins};
        exceed(&cell, whole, by, sorted);
        for (int f = 0; f < bins; f++)
            if (whole[f] > 0)
                sigma[f] = MIN(sigma[f], whole[f] * expf(by[f]));
    }
}
