// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/backend.h"
#include "core/walk.h"

// Runs a flow on one device, keeping plans and intermediate results between calls so that a change
// costs only the stages behind it. The same engine serves the window's worker and the command
// line; that is why a preview equals a result.
//
// Thread-safety: one engine, one thread at a time.

typedef struct LithoEngine LithoEngine;

// An engine without plans; the device is opened by the first run. litho_engine_free() it, in the
// thread that ran it.
LithoEngine *litho_engine_new(LithoDevice device);
void litho_engine_free(LithoEngine *engine); // NULL is fine
// The next run computes every step anew, with the plans there are: a second time of it is one.
void litho_engine_forget(LithoEngine *engine);
LithoDevice litho_engine_device(const LithoEngine *engine);
// From the next run on so many devices, from the engine's own on, share the work (its device's
// `count`). Steps that share nothing keep plans and results.
void litho_engine_share(LithoEngine *engine, int count);

// The caller takes the steady noise off inputs (core/engine/steadied.h), as a judge does, which
// looks at what the first step sees: from now on no run does.
void litho_engine_expect_steadied(LithoEngine *engine);

// Computes `region` of the flow's output (NULL = all of it) from `in` (NULL for a source).
// Returns a new cube that holds at least the region; an empty flow returns the input itself.
// `in->held` must cover what the region needs (litho_walk_want tells). Files that the steps name
// are read first, unless they are known.
// On cancel or failure the caches stay consistent.
LithoCube *litho_engine_run(LithoEngine *engine, const LithoFlow *flow, const LithoCube *in,
                            const LithoBox *region, LithoRun *run, GError **error);
// TRUE when single slices of the flow's output from `in` (NULL for a source) take less time than
// all of it: every step is local, or the last one has planes (LithoImpl.planes). litho_engine_run()
// then computes a slice that run->views has. Any thread; pure.
gboolean litho_engine_shows_slices(LithoDevice device, const LithoFlow *flow, const LithoGrid *in);
// Device bytes for what the walk wants (litho_walk_want), 0 = not known.
guint64 litho_engine_memory(const LithoEngine *engine, const LithoWalk *walk);
// Host bytes of the input's copy less its steady noise, on whatever device; not in
// litho_engine_memory().
guint64 litho_engine_steadied_bytes(const LithoWalk *walk);
// Host bytes that the pass before takes (core/engine/measure.h), with parts of `part` bytes; 0 =
// nothing is to be measured, or no more than a region takes.
guint64 litho_engine_measure_memory(const LithoEngine *engine, const LithoWalk *walk, guint64 part);
// A change that makes the flow take `over` bytes less: the clause of the first step that knows one
// (LithoImpl.less_memory), owned by the caller; NULL = none knows.
char *litho_engine_less_memory(const LithoEngine *engine, const LithoWalk *walk, guint64 over);
