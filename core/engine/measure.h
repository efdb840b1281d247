// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/before.h"
#include "core/io/survey.h"

// The pass before a run in regions: what steps need of their whole input (LithoOperator.measure) is
// measured part by part, first step to last, and stands in the flow from then on.
//
// Thread-safety: the flow is one thread's. In a job's thread: it reads the survey.

// TRUE when an enabled step has yet to be measured before the flow can be computed in regions.
gboolean litho_measure_is_needed(const LithoFlow *flow);
// TRUE when the numbers that `flow` needs are those that `other` needs: what is measured for one
// serves both, on one survey.
gboolean litho_measure_is_same(const LithoFlow *flow, const LithoFlow *other);
// Gives `flow` the numbers of `from`, a flow on the same survey, that hold for it.
void litho_measure_take(LithoFlow *flow, const LithoFlow *from);
// Sets LithoStep.measured where it is needed and not there. A step behind others is measured on
// what they give, computed on `device`. `survey` may be NULL for a flow that begins with a source.
// `bytes`: host memory that a part may take, 0 = any. FALSE: cancelled, or a step's sentence; what
// was measured before stays.
gboolean litho_measure_flow(LithoFlow *flow, LithoSurvey *survey, LithoDevice device, guint64 bytes,
                            LithoRun *run, GError **error);
// litho_measure_flow() for one step, whatever stands in it, when those before it are measured.
// `before`: what steps before it give; NULL = the survey is read.
gboolean litho_measure_step(LithoFlow *flow, guint index, LithoSurvey *survey,
                            const LithoBefore *before, LithoDevice device, guint64 bytes,
                            LithoRun *run, GError **error);
