// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/worker.h"
#include "ui/session/pager.h"

// An input beyond memory: slices are read as they are looked at, and a flow is computed for
// sections whose surroundings fit, whole or in strips. Main thread only; litho_pages_free() waits
// as litho_pager_free() does.
typedef struct LithoPages LithoPages;

// `memory`: bytes that may be taken in all. References `survey`. `arrived`: as of
// litho_pager_new().
LithoPages *litho_pages_new(LithoSurvey *survey, guint64 memory, void (*arrived)(gpointer data),
                            gpointer data);
void litho_pages_free(LithoPages *pages); // NULL is fine
LithoSurvey *litho_pages_survey(const LithoPages *pages);
LithoPager *litho_pages_pager(const LithoPages *pages);

// A slice of the result is computed in this many strips at most.
enum { LITHO_PAGES_STRIPS = LITHO_WORKER_MAX_VIEWS / 3 };
// Strips of the section `view` of the result of `flow`, side by side, and the box of the input of
// grid `in` that each needs; returns how many. 0 = it cannot be computed: a strip does not fit, or
// all of them read more than twice the memory.
guint litho_pages_strips(const LithoPages *pages, const LithoFlow *flow, const LithoGrid *in,
                         LithoBox view, LithoBox strips[LITHO_PAGES_STRIPS],
                         LithoBox needs[LITHO_PAGES_STRIPS]);
// Why none of the sections on screen can be computed, a sentence; g_free().
char *litho_pages_refusal(const LithoFlow *flow);
