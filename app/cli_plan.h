// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "app/peers.h"
#include "core/engine/rates.h"

// The plan of a run for people: grid, devices, slabs, memory, who computes them, and the time.

typedef struct LithoCliPlan {
    const LithoStreamPlan *plan;
    const LithoFlow *flow; // what is planned
    LithoSurvey *survey;
    const LithoStreamOptions *options;
    LithoPeersModule *peers; // NULL = alone
    LithoRatesTold told;
    double opened_s; // that opening the input and the device took just now
} LithoCliPlan;

// Prints on stdout of the first process; all processes call it. FALSE: one of them has gone.
gboolean litho_cli_print_plan(const LithoCliPlan *plan, LithoRun *run, GError **error);
