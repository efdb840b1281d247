// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/backend.h"
#include "core/flow.h"

// Memory of the device that computes, for the whole result.
typedef struct LithoMemoryPlan {
    guint64 need;  // bytes: input, output, plans and scratch
    guint64 total; // bytes that jobs of this program may take there
} LithoMemoryPlan;

// Memory that the whole result of a flow will take, known before it is computed. Asked in a thread,
// since opening a driver or laying out a plan may take a while; the newest question wins. Main
// thread only.
typedef struct LithoMemoryQuestion LithoMemoryQuestion;

// `changed`: the plan is another one, or not known any more.
LithoMemoryQuestion *litho_memory_question_new(void (*changed)(gpointer owner), gpointer owner);
void litho_memory_question_free(LithoMemoryQuestion *question); // no call follows; NULL is fine
// Copies `flow` and `in`; `in` NULL: the flow begins without a cube.
void litho_memory_question_ask(LithoMemoryQuestion *question, const LithoFlow *flow,
                               LithoDevice device, const LithoGrid *in);
void litho_memory_question_forget(LithoMemoryQuestion *question); // nothing is to be computed
const LithoMemoryPlan *litho_memory_question_plan(const LithoMemoryQuestion *question); // or NULL
