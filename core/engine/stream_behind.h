// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/journal.h"
#include "core/engine/stream_plan.h"

// Internal to a stream: the steps behind one that works in blocks (LithoStreamPlan.behind). They
// need a part of the neighbouring blocks, which other processes have computed; the first process
// has all of them, so it computes these steps, of rows of slabs as they become whole. The caller's
// thread.

typedef struct LithoStreamBehind LithoStreamBehind;

// A copy of `flow` whose last `behind` enabled steps are switched off.
LithoFlow *litho_stream_steps_before(const LithoFlow *flow, guint behind);
// A copy of `flow` whose steps before index `first` are switched off.
LithoFlow *litho_stream_steps_from(const LithoFlow *flow, guint first);
// For the last steps of `flow`, with what was measured for it, from inline plan->begin on. `lock`
// guards options->notes. NULL: a step is refused.
LithoStreamBehind *litho_stream_behind_new(const LithoFlow *flow, const LithoStreamPlan *plan,
                                           const LithoStreamOptions *options, GMutex *lock,
                                           LithoRun *run, GError **error);
// Takes slab `slab` of the steps before, in order, and writes what can be computed now.
gboolean litho_stream_behind_put(LithoStreamBehind *behind, const LithoStreamPlan *plan,
                                 gint64 slab, const LithoCube *cube, LithoWriter *writer,
                                 LithoJournal *journal, LithoRun *run, GError **error);
void litho_stream_behind_free(LithoStreamBehind *behind); // NULL is fine
