// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/patch/levels.h"

#include <string.h>

#include "core/error.h"
#include "core/qc.h"

enum { CELL_TRACES = 64, CELL_WINDOWS = 256, ALL_WINDOWS = 2048 };

// Samples of a cell in time: one second; on depth axes, and where a second is less than four
// windows, 256.
static gint64 cell_samples(const LithoGrid *grid)
{
    const double second = 1 / fabs(grid->axis[2].step);
    return grid->is_depth || second < 64 ? 256 : (gint64)(second + 0.5);
}

static void make_cells(PatchLevels *l, const LithoGrid *grid, const LithoPatchGeometry *g)
{
    const gint64 wish[3] = {CELL_TRACES, CELL_TRACES, cell_samples(grid)};
    for (int a = 0; a < 3; a++) {
        const gint64 n = grid->axis[a].n;
        l->table.n[a] =
            l->params.level == LITHO_PATCH_LOCAL ? (int)MAX((n + wish[a] / 2) / wish[a], 1) : 1;
        l->table.step[a] = (float)n / l->table.n[a];
        l->table.first[a] = 0.5f * l->table.step[a] - 0.5f;
    }
    l->table.bins = g->bins;
    l->sigma = g_new0(float, (gsize)l->table.n[0] * l->table.n[1] * l->table.n[2] * g->bins);
    l->table.sigma = l->sigma;
}

static LithoBox cell_box(const PatchLevels *l, const LithoGrid *grid, const int cell[3])
{
    LithoBox box;
    for (int a = 0; a < 3; a++) {
        box.lo[a] = (gint64)((cell[a] - 0.5f) * l->table.step[a]);
        box.hi[a] = (gint64)((cell[a] + 1.5f) * l->table.step[a]);
    }
    return litho_box_intersect(box, litho_box_full(grid));
}

static void put(float *to, const LithoNoise *noise, int bins)
{
    for (int f = 0; f < bins; f++)
        to[f] = (float)noise->sigma[MIN(f, (int)noise->n - 1)];
}

// Cells without a live trace take the level of the whole.
static gboolean measure_cells(PatchLevels *l, const LithoCube *in, const int window[3],
                              const LithoNoise *whole, LithoRun *run, GError **error)
{
    const int *n = l->table.n, cells = n[0] * n[1] * n[2];
    // Cells are small: progress is told here, threads and cancel there.
    LithoRun quiet = {.threads = run ? run->threads : 0,
                      .cancel = run ? run->cancel : NULL,
                      .superseded = run ? run->superseded : NULL,
                      .superseded_data = run ? run->superseded_data : NULL};
    litho_run_begin(run, "noise level", "cells");
    for (int k = 0; k < cells; k++) {
        const int cell[3] = {k / (n[1] * n[2]), k / n[2] % n[1], k % n[2]};
        const LithoBox box = cell_box(l, &in->grid, cell);
        float *sigma = l->sigma + (gsize)k * l->table.bins;
        g_autoptr(GError) trouble = NULL;
        LithoNoise noise;
        if (cells > 1 &&
            litho_qc_noise_windows(in, &box, window, CELL_WINDOWS, &quiet, &noise, &trouble)) {
            put(sigma, &noise, l->table.bins);
            litho_noise_clear(&noise);
        } else if (!trouble || g_error_matches(trouble, LITHO_ERROR, LITHO_ERROR_GEOMETRY)) {
            put(sigma, whole, l->table.bins);
        } else {
            g_propagate_error(error, g_steal_pointer(&trouble));
            return FALSE;
        }
        if (!litho_run_step(run, k + 1, cells, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean measure(PatchLevels *l, const LithoPatchGeometry *g, const LithoCube *in,
                        LithoRun *run, GError **error)
{
    const int window[3] = {g->axis[0].length, g->axis[1].length, g->axis[2].length};
    LithoNoise whole;
    if (!litho_qc_noise_windows(in, NULL, window, ALL_WINDOWS, run, &whole, error))
        return FALSE;
    l->total = whole.total;
    l->low = whole.low;
    l->high = whole.high;
    const gboolean ok = measure_cells(l, in, window, &whole, run, error);
    litho_noise_clear(&whole);
    return ok;
}

static gboolean is_current(const PatchLevels *l, const LithoPatchGeometry *g,
                           const LithoPatchParams *p, const LithoCube *in)
{
    return l->sigma && l->table.bins == g->bins && l->params.sigma == p->sigma &&
           l->params.level == p->level &&
           (p->sigma > 0 ||
            (l->serial == in->serial && l->params.window == p->window &&
             l->params.window_il == p->window_il && l->params.window_xl == p->window_xl &&
             l->params.window_t == p->window_t));
}

gboolean patch_levels_update(PatchLevels *l, const LithoPatchGeometry *g,
                             const LithoPatchParams *params, const LithoCube *in, LithoRun *run,
                             GError **error)
{
    if (is_current(l, g, params, in))
        return TRUE;
    patch_levels_clear(l);
    l->params = *params;
    make_cells(l, &in->grid, g);
    if (params->sigma > 0) {
        const gsize n = (gsize)l->table.n[0] * l->table.n[1] * l->table.n[2] * g->bins;
        for (gsize k = 0; k < n; k++)
            l->sigma[k] = (float)params->sigma;
        l->total = l->low = l->high = params->sigma;
    } else if (!measure(l, g, in, run, error)) {
        patch_levels_clear(l);
        return FALSE;
    }
    static gint stamps; // atomic
    l->serial = in->serial;
    l->stamp = (guint)g_atomic_int_add(&stamps, 1) + 1;
    return TRUE;
}

void patch_levels_clear(PatchLevels *l)
{
    g_free(l->sigma);
    *l = (PatchLevels){0};
}

// RMS over the cells.
static double mean_level(const PatchLevels *l, int f)
{
    const int cells = l->table.n[0] * l->table.n[1] * l->table.n[2];
    double sum = 0;
    for (int k = 0; k < cells; k++) {
        const double s = l->sigma[(gsize)k * l->table.bins + f];
        sum += s * s;
    }
    return sqrt(sum / cells);
}

void patch_levels_report(const PatchLevels *l, const LithoGrid *grid,
                         const LithoPatchParams *params, LithoReport *report)
{
    const LithoPatchGeometry g = litho_patch_grid_geometry(grid, params);
    litho_report_used(report, "patch", "threshold", litho_patch_threshold(&g, params));
    if (!report || !l->sigma)
        return;
    litho_report_number(report, "noise_sigma", "standard deviation of the noise", "", l->total);
    litho_report_used(report, "patch", "sigma", l->total);
    litho_report_number(report, "noise_low", "standard deviation of the noise, at least", "",
                        l->low);
    litho_report_number(report, "noise_high", "standard deviation of the noise, at most", "",
                        l->high);
    g_autofree double *x = g_new(double, l->table.bins), *y = g_new(double, l->table.bins);
    const double per = grid->is_depth ? 1000 : 1;
    for (int f = 0; f < l->table.bins; f++) {
        x[f] = per * f / ((l->table.bins - 1) * 2.0 * fabs(grid->axis[2].step));
        y[f] = mean_level(l, f);
    }
    litho_report_curve(report, "noise_level", "Level of the noise",
                       grid->is_depth ? "wavenumber (1/km)" : "frequency (Hz)",
                       "standard deviation", l->table.bins, x, y);
}
