// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/journal.h"
#include "core/engine/stream_plan.h"

// Internal to a stream: slabs on their way into the file. Files take whole inlines, so slabs that
// are a part of theirs meet in a row, and wait in the journal meanwhile. The caller's thread.

// A slab from the process that computed it to the first one. FALSE: one of them has gone or failed.
gboolean litho_stream_send(LithoPeers *peers, const LithoCube *slab, LithoRun *run, GError **error);
LithoCube *litho_stream_receive(LithoPeers *peers, const LithoStreamPlan *plan, gint64 slab,
                                int from, LithoRun *run, GError **error);
// Where the first process computes alone: it tells the others that it has done so, which wait.
// FALSE: it has gone or failed.
gboolean litho_stream_wait_for_first(LithoPeers *peers, LithoRun *run, GError **error);
// Puts slab `slab` of the plan into the file or into *row, which goes into the file with its last
// slab; slabs come in order. A cancel of `run` (may be NULL) is seen
// between blocks of 2 MB. *row: NULL at first; what is left of it is the caller's. `journal` may
// be NULL.
gboolean litho_stream_put(const LithoStreamPlan *plan, gint64 slab, const LithoCube *cube,
                          LithoWriter *writer, LithoJournal *journal, LithoCube **row,
                          LithoRun *run, GError **error);
// Whole inlines into the file, which a journal marks.
gboolean litho_stream_put_inlines(const LithoCube *inlines, LithoWriter *writer,
                                  LithoJournal *journal, LithoRun *run, GError **error);
// Slabs of the plan's first row that the journal of an interrupted run has kept, which become a
// part of *row. 0: none, or there is no memory.
gint64 litho_stream_take_kept(const LithoStreamPlan *plan, LithoJournal *journal, LithoCube **row);
