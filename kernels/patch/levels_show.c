// SPDX-License-Identifier: GPL-3.0-or-later
//
// The levels as a user sees them: a volume, and numbers and a curve of the report.
#include <math.h>
#include <omp.h>
#include <string.h>

#include "core/text.h"
#include "kernels/patch/levels.h"

// Squares of all frequencies of a cell together; those but the first and the last stand for two.
static float square_of(const PatchLevels *l, int cell)
{
    const int bins = l->table.bins;
    const float *sigma = l->sigma + (gsize)cell * bins;
    double sum = 0;
    for (int f = 0; f < bins; f++)
        sum += (double)sigma[f] * sigma[f] * (f == 0 || f == bins - 1 ? 1 : 2);
    return (float)(sum / MAX(2 * (bins - 1), 1));
}

// Levels of one number a cell along a trace, at samples [from, upto): the four columns of cells
// around it blended into `column`, which is interpolated along time.
static void volume_trace(const LithoPatchLevels *l, float il, float xl, gint64 from, gint64 upto,
                         float *column, float *to)
{
    float share[2];
    const int first = litho_patch_cell(l, 0, il, &share[0]);
    const int second = litho_patch_cell(l, 1, xl, &share[1]);
    memset(column, 0, l->n[2] * sizeof *column);
    for (int corner = 0; corner < 4; corner++) {
        const int up[2] = {corner / 2, corner % 2};
        const float weight = (up[0] ? share[0] : 1 - share[0]) * (up[1] ? share[1] : 1 - share[1]);
        const float *level = l->sigma + ((first + up[0]) * l->n[1] + second + up[1]) * l->n[2];
        for (int k = 0; weight > 0 && k < l->n[2]; k++)
            column[k] += weight * level[k];
    }
    for (gint64 t = from; t < upto; t++) {
        float along;
        const int k = litho_patch_cell(l, 2, (float)t, &along);
        to[t - from] = along > 0 ? (1 - along) * column[k] + along * column[k + 1] : column[k];
    }
}

gboolean patch_levels_volume(const PatchLevels *l, LithoBox region, LithoCube *out, LithoRun *run,
                             GError **error)
{
    const int cells = patch_levels_cells(l), threads = litho_run_threads(run);
    const gint64 rows = litho_box_size(region, 0);
    g_autofree float *level = g_new(float, cells), *columns = g_new(float, threads * l->table.n[2]);
    LithoPatchLevels table = l->table; // of one number a cell
    gint64 done = 0;
    gint stop = 0;
    for (int k = 0; k < cells; k++)
        level[k] = sqrtf(square_of(l, k));
    table.bins = 1;
    table.sigma = level;
    litho_run_begin(run, "noise level", "inlines");
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (gint64 il = region.lo[0]; il < region.hi[0]; il++) {
        float *column = columns + omp_get_thread_num() * table.n[2];
        for (gint64 xl = region.lo[1]; !g_atomic_int_get(&stop) && xl < region.hi[1]; xl++)
            volume_trace(&table, il, xl, region.lo[2], region.hi[2], column,
                         litho_cube_trace(out, il, xl) + region.lo[2] - out->held.lo[2]);
        const gint64 told = __atomic_add_fetch(&done, 1, __ATOMIC_RELAXED);
        if (omp_get_thread_num() == 0 ? !litho_run_step(run, told, rows, NULL)
                                      : !litho_run_checkpoint(run))
            g_atomic_int_set(&stop, 1);
    }
    return !stop || litho_run_stopped(error);
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

static void remark_range(const PatchLevels *l, LithoReport *report)
{
    float least = G_MAXFLOAT, most = 0;
    for (int k = 0; k < patch_levels_cells(l); k++) {
        const float square = square_of(l, k);
        least = MIN(least, square);
        most = MAX(most, square);
    }
    litho_report_remark(report,
                        "patch: the noise varies from place to place, from %.3g to %.3g (standard "
                        "deviation), some of it at some frequencies alone; the threshold follows "
                        "it",
                        sqrt(least), sqrt(most));
}

void patch_levels_report(const PatchLevels *l, const LithoGrid *grid,
                         const LithoPatchParams *params, LithoReport *report)
{
    static const char *const lengths[] = {"window_il", "window_xl", "window_t"};
    const LithoPatchGeometry g = litho_patch_grid_geometry(grid, params);
    for (int k = 0; k < 3; k++)
        litho_report_used(report, "patch", lengths[k], g.axis[k].length);
    if (l->absent == PATCH_ALL_ZERO || l->absent == PATCH_ALL_ALIKE) {
        litho_report_remark(report, l->absent == PATCH_ALL_ZERO
                                        ? "patch: all samples are 0 and stay so"
                                        : "patch: all samples are alike and stay so");
        return;
    }
    if (l->absent) {
        litho_report_remark(report,
                            "patch: no window of %d x %d traces has a quarter of them live, so "
                            "that the noise cannot be measured; filling goes on without it",
                            g.axis[0].length, g.axis[1].length);
        return;
    }
    if (l->shape && patch_is_narrow(l->table.window))
        litho_report_remark(report,
                            "patch: the noise of this line keeps to some wavenumbers, as in "
                            "mixed data, and its level was measured at each of them; "
                            "upright dense events look alike: where the output lacks them "
                            "state \"sigma\"");
    else if (l->shape)
        litho_report_remark(report, "patch: the noise keeps to some wavenumbers, as in migrated "
                                    "or mixed data; its level was measured at each of them");
    if (l->fine)
        remark_range(l, report);
    if (params->mode != LITHO_PATCH_BOTH || params->rule != LITHO_PATCH_ENERGY) // which has two
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
    litho_report_curve(report, N_("noise_level"), N_("Level of the noise"),
                       grid->is_depth ? N_("wavenumber (1/km)") : N_("frequency (Hz)"),
                       N_("standard deviation"), l->table.bins, x, y);
}

gboolean patch_levels_exec(PatchLevels *l, LithoClean *clean, LithoCleanRule rule,
                           const LithoGrid *grid, const LithoPass *pass, LithoRun *run,
                           LithoCube *out, GError **error)
{
    const LithoPatchParams *params = pass->params;
    const LithoPatchGeometry g = litho_patch_grid_geometry(grid, params);
    if (!litho_cube_host(pass->in, error))
        return FALSE;
    const LithoCube *in = litho_clean(clean, rule, pass->in, run, error);
    if (!in ||
        !patch_levels_update(l, &g, params, in, pass->in->live, pass->measured, NULL, run, error) ||
        !patch_levels_are_there(l, &g, error))
        return FALSE;
    if (!patch_levels_volume(l, pass->region, out, run, error))
        return FALSE;
    if (run)
        patch_levels_report(l, grid, params, run->report);
    return TRUE;
}
