// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/flow.h"

// Whether a flow can run on an input, and the grid of its result. Opens no file: a flow that names
// files waits until the worker has read them, and keeps the answer of the flow before meanwhile.
// Main thread only.
typedef struct LithoFlowCheck LithoFlowCheck;

LithoFlowCheck *litho_flow_check_new(void);
void litho_flow_check_free(LithoFlowCheck *check); // NULL is fine
// Looks at `flow` behind the grid `in` (NULL = none). TRUE when results have another shape now.
gboolean litho_flow_check_look(LithoFlowCheck *check, const LithoFlow *flow, const LithoGrid *in);
// The worker could not read a file that the flow names, or refuses it; it tries again with the next
// wish.
void litho_flow_check_refuse(LithoFlowCheck *check, const GError *error);
const char *litho_flow_check_problem(const LithoFlowCheck *check); // NULL = it can run; borrowed
// A problem that no file can mend: the worker need not try.
gboolean litho_flow_check_is_hopeless(const LithoFlowCheck *check);
gboolean litho_flow_check_waits(const LithoFlowCheck *check); // its files are not read yet
// Grid of the result: of the flow as it stands while there is no problem and it does not wait, of
// the last one that could run otherwise; zeros before the first. Never NULL, borrowed.
const LithoGrid *litho_flow_check_out(const LithoFlowCheck *check);
