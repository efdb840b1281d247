// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/twsm/model.h"
#include "core/report.h"
#include "core/run.h"

// The report of a run for the window. `report` may be NULL everywhere.

// Boundaries as sheets, sources and receivers as points, and for every wave code the ray that comes
// back to the source; needs the codes' layers (twsm_model_trace_codes()). Before the long sum.
void twsm_report_model(const TwsmModel *model, LithoReport *report);

// The ray of a code from the first source through its hits back to the place over the source, at
// the receivers' depth: p[0] source, p[1 + h] hit h, p[n + 1] end. Stationary in time among
// neighbouring ways (Fermat), found by coordinate descent from the vertical: 1 cm.
void twsm_normal_ray(const TwsmModel *model, const TwsmCode *code, double (*p)[3]);

// Measured times of one model, by strip width or number of GPUs.
enum { TWSM_COSTS = 64 };
typedef struct TwsmCost {
    guint n;
    double at[TWSM_COSTS], ms[TWSM_COSTS]; // ascending
} TwsmCost;
void twsm_cost_add(TwsmCost *cost, double at, double ms);

// Time of stored strips against their width M, per billion pairs and frequencies, with the paper's
// figures; their memory against M for `elements` columns of `per_element` bytes.
void twsm_report_strips(const TwsmCost *cost, double beams, double elements, double per_element,
                        int width, LithoReport *report);
// Time against GPUs, with the paper's table and its ideal.
void twsm_report_gpus(const TwsmCost *cost, double beams, LithoReport *report);
