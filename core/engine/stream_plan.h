// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/stream.h"
#include "core/walk.h"

// Internal to the engine: the size of a stream's slabs, and who computes them. stream.c runs the
// plan. The calls keep nothing; any thread.

// Device of engine `k` of the plan.
LithoDevice litho_stream_device(const LithoStreamOptions *options, const LithoStreamPlan *plan,
                                guint k);
// Slab `slab` of the output, in indices of the output's grid.
LithoBox litho_stream_slab_box(const LithoStreamPlan *plan, gint64 slab);
// The whole inlines that `slab` is a part of.
LithoBox litho_stream_row_box(const LithoStreamPlan *plan, gint64 slab);
// Slabs of the whole output, and how many of them lie before `slab` of the plan.
gint64 litho_stream_all_slabs(const LithoStreamPlan *plan);
gint64 litho_stream_slabs_before(const LithoStreamPlan *plan, gint64 slab);
// Slabs are multiples of so many inlines, whole windows or blocks where an operator says so.
gint64 litho_stream_slab_multiple(const LithoWalk *walk);
// The largest slabs that fit into the budgets of `options`, from inline `first` of the output on.
// `in`: grid of the input, NULL where the flow needs none. FALSE: the smallest piece does not fit.
gboolean litho_stream_make_plan(const LithoFlow *flow, LithoWalk *walk, const LithoGrid *in,
                                const LithoStreamOptions *options, gint64 first,
                                LithoStreamPlan *plan, GError **error);
// A plan is made before the survey is measured. Where the numbers of `own`, the measured flow, ask
// for more samples beyond slabs than were counted, slabs become smaller, so that they take no more
// memory than they may. FALSE: the smallest piece does not fit.
gboolean litho_stream_plan_by_numbers(const LithoFlow *own, const LithoGrid *in,
                                      const LithoStreamOptions *options, LithoStreamPlan *plan,
                                      LithoRun *run, GError **error);
// The plan of `flow`. Where no piece of the flow fits but its work can be divided, the plan of a
// copy with other settings, which becomes *divided with its walk (both the caller's; the walk before
// is freed). *divided is NULL otherwise. FALSE: nothing fits.
gboolean litho_stream_plan_flow(const LithoFlow *flow, LithoWalk **walk, const LithoGrid *in,
                                const LithoStreamOptions *options, LithoRun *run,
                                LithoFlow **divided, LithoStreamPlan *plan, GError **error);
// A sentence on what an interrupted run has kept of this one; NULL: nothing. g_free().
char *litho_stream_kept_text(const LithoStreamPlan *plan);
// The sentence of a run that ends with `problem`, with what stays for the next one: `pieces` slabs,
// and inlines up to plan->begin. g_free().
char *litho_stream_keeps_text(const LithoStreamPlan *plan, gint64 pieces, const char *problem);
