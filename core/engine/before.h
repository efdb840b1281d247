// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/backend.h"
#include "core/io/survey.h"
#include "core/peers.h"
#include "core/walk.h"

// Blocks that steps behind need a part of, computed once. A step that works in blocks
// (LithoOperator.across) computes a whole block for any part of it, and a step behind that is
// measured on its result reads parts again and again, and so do slabs. Where memory holds what the
// steps up to the last such one give, all processes compute it block by block and have all of it
// from then on: measurements read it, and the run goes on from it.
//
// Thread-safety: one thread, but parts may be read by any number of them once they are complete.

typedef struct LithoBefore LithoBefore;

// Everything is borrowed until the call returns.
typedef struct LithoBeforeOf {
    const LithoFlow *flow; // with what was measured for the steps in question
    LithoSurvey *survey;
    LithoDevice device;
    GPtrArray *notes;  // takes what the operators say, each sentence once; NULL = not told
    LithoPeers *peers; // all call alike; NULL = alone
} LithoBeforeOf;

// Host bytes that results take at a time until every step is measured; 0 = no step that is yet to
// be measured lies behind one that works in blocks.
guint64 litho_before_bytes(const LithoWalk *walk);
// Enabled steps of `flow` from index `first` up to `end`, without a volume: they pass their results
// on. litho_flow_free().
LithoFlow *litho_before_part(const LithoFlow *flow, guint first, guint end);
// Result of the steps before `step` (an index of the flow), up to the last one that works in
// blocks.
// `*before`: NULL, or the result of steps before an earlier one, from which this goes on; replaced
// where there is more. FALSE: cancelled, a read failed, a step refuses, or a process has gone.
gboolean litho_before_extend(LithoBefore **before, const LithoBeforeOf *of, guint step,
                             LithoRun *run, GError **error);
void litho_before_free(LithoBefore *before); // NULL is fine
// Steps of the flow whose result it is, switched off or not.
guint litho_before_steps(const LithoBefore *before);
const LithoGrid *litho_before_grid(const LithoBefore *before);
// The loudest sample of what this process has read of the survey for it (cube.h).
float litho_before_loudest(const LithoBefore *before);
// A new cube with the whole traces of `box`; NULL: no memory.
LithoCube *litho_before_read(const LithoBefore *before, LithoBox box, GError **error);
