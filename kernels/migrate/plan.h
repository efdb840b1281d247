// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"
#include "kernels/migrate/engine.h"

// A migration on the engines of one backend: the stages of a pass, the frequencies dealt out to the
// run's cards, the images added up. The functions serve a backend's LithoImpl as they are.
typedef struct MigPlan MigPlan;

MigPlan *mig_plan_new(const MigEngineClass *engines, const LithoGrid *in, LithoRun *run,
                      GError **error);
gboolean mig_plan_exec(gpointer plan, const LithoPass *pass, LithoRun *run, GError **error);
void mig_plan_free(gpointer plan);
