// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/fx/report.h"

#include <math.h>

#include "kernels/fx/fx.h"

// Numbers that stand for "automatic" in the panel, as the filter's own geometry has them: the
// highest frequency is that of its last bin.
static void report_used(LithoReport *r, const FxTotals *t, const LithoGrid *grid,
                        const LithoFxParams *p)
{
    const LithoFxGeometry g = litho_fx_grid_geometry(grid, p);
    const double step = fabs(grid->axis[2].step) / (grid->is_depth ? 1000 : 1);
    if (!(p->prewhitening > 0) && t->systems > 0)
        litho_report_used(r, "fx", "prewhitening",
                          exp2((double)t->octaves / (16.0 * (double)t->systems)));
    if (!(p->fmax > 0))
        litho_report_used(r, "fx", "fmax", (g.bin + g.bins - 1) / (step * g.nfft));
    const LithoFxParams used = litho_fx_in_use(grid, p);
    litho_report_used(r, "fx", "time_window", g.axis[2].length);
    litho_report_used(r, "fx", "time_overlap", g.axis[2].count > 1 ? used.time_overlap : 0);
    litho_report_used(r, "fx", "fft_length", g.nfft);
    litho_report_used(r, "fx", "stride", g.axis[0].stride);
    litho_report_used(r, "fx", "window_il", litho_fx_window_length(p, 0));
    litho_report_used(r, "fx", "window_xl", litho_fx_window_length(p, 1));
}

// Parts of "design + filter" on a CPU, which does all of a window before the next.
static void report_parts(LithoReport *r, const FxTotals *t)
{
    const double all = t->seconds[0] + t->seconds[1] + t->seconds[2];
    if (!(all > 0))
        return;
    litho_report_number(r, "matrix", "time for equations", "%", 100 * t->seconds[0] / all);
    litho_report_number(r, "solve", "time for filters", "%", 100 * t->seconds[1] / all);
    litho_report_number(r, "apply", "time for predictions", "%", 100 * t->seconds[2] / all);
}

void fx_report(LithoReport *r, const FxTotals *t, const LithoGrid *grid,
               const LithoFxParams *params)
{
    const LithoFxGeometry g = litho_fx_grid_geometry(grid, params);
    report_used(r, t, grid, params);
    litho_report_number(r, "windows", "windows", "", t->windows);
    litho_report_number(r, "systems", "systems solved", "", t->systems);
    litho_report_number(r, "empty", "windows passed unchanged: too few traces", "", t->empty);
    litho_report_number(r, "failed", "systems without solution, passed unchanged", "", t->failed);
    litho_report_number(r, "fallbacks", "systems that fell back to Cholesky", "", t->fallbacks);
    report_parts(r, t);
    if (t->shared > 0)
        litho_report_number(r, "shared", "noise shared by neighbours", "", t->shared);
    if (t->alone)
        litho_report_remark(r,
                            "fx: recorded traces with fewer than %d recorded ones near them stay "
                            "as they are",
                            litho_fx_fewest(&g));
    if (t->gaps)
        litho_report_remark(r, "fx: missing traces too far from recorded ones stay empty");
    const double kept = t->input - t->removed - 2 * t->product;
    if (t->input <= 0 || kept <= 0)
        return;
    litho_report_number(r, "removed", "energy removed", "%", 100 * t->removed / t->input);
    if (t->removed <= 0)
        return;
    litho_report_number(r, "leakage", "correlation of output and removed", "",
                        t->product / sqrt(kept * t->removed));
}
