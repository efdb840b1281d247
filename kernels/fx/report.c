// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/fx/report.h"

#include <math.h>

void fx_report(LithoReport *r, const FxTotals *t)
{
    litho_report_number(r, "windows", "windows", "", t->windows);
    litho_report_number(r, "systems", "systems solved", "", t->systems);
    litho_report_number(r, "empty", "windows passed unchanged: too few traces", "", t->empty);
    litho_report_number(r, "failed", "systems without solution, passed unchanged", "", t->failed);
    litho_report_number(r, "fallbacks", "systems that fell back to Cholesky", "", t->fallbacks);
    const double kept = t->input - t->removed - 2 * t->product;
    if (t->input <= 0 || kept <= 0)
        return;
    litho_report_number(r, "removed", "energy removed", "%", 100 * t->removed / t->input);
    if (t->removed <= 0)
        return;
    litho_report_number(r, "leakage", "correlation of output and removed", "",
                        t->product / sqrt(kept * t->removed));
}
