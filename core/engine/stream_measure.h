// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/before.h"
#include "core/engine/stream_plan.h"

// Numbers that a flow measures on the whole survey before its first slab. The caller's thread.

// Measures what the steps of `flow` need, in parts that take `bytes` of host memory, and keeps it
// in them. Under ranks the first one measures and sends the numbers to the others; all call this.
// Where the plan keeps what steps before give, *before becomes that, the caller's; else NULL.
// FALSE: cancelled, a read failed, or a step refuses the
// survey.
gboolean litho_stream_measure(LithoFlow *flow, LithoSurvey *survey,
                              const LithoStreamOptions *options, const LithoStreamPlan *plan,
                              guint64 bytes, LithoBefore **before, LithoRun *run, GError **error);
