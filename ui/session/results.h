// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/worker.h"

// The results of wishes: the newest one, the newest whole one below it, and the failure of the
// newest wish. Wishes are known by their tag, which grows by one with each. While only numbers of a
// flow move, wishes are of one kind; results and figures of another operator, mode or file are told
// apart by it. Main thread only.
typedef struct LithoResults LithoResults;

LithoResults *litho_results_new(void);
void litho_results_free(LithoResults *results); // NULL is fine

guint64 litho_results_tag(const LithoResults *results);  // of the newest wish, 0 = none
guint64 litho_results_kind(const LithoResults *results); // how many different kinds there have been
guint64 litho_results_next_tag(LithoResults *results);   // another wish; its tag
// Operators, switches, choices and texts of `flow`, and its input `in` (NULL = none). TRUE when
// wishes from the next one on are of another kind than the newest one.
gboolean litho_results_note_kind(LithoResults *results, const LithoFlow *flow, const LithoCube *in);
// TRUE when `result` (NULL = FALSE) is of the kind of the newest wish.
gboolean litho_results_is_own(const LithoResults *results, const LithoResult *result);

// Takes over `result`, which has parts. FALSE: it is of another kind, of another shape than `out`,
// or older than the one that is kept; it was freed. `whole` (borrowed): the whole result of the
// newest wish, NULL = it is not that.
gboolean litho_results_take(LithoResults *results, LithoResult *result, const LithoGrid *out,
                            LithoCube **whole);
// `known` is the whole result of the present flow, computed earlier: a result of another wish made
// of it, which is newer than all the worker's own. The caller frees it or hands it to take().
LithoResult *litho_results_repeat(LithoResults *results, const LithoResult *known);
const LithoResult *litho_results_newest(const LithoResults *results); // NULL = none; borrowed
LithoCube *litho_results_whole(const LithoResults *results); // of the newest wish; NULL = not yet
// The newest part of a result of the present kind that holds `box`; NULL = none. Borrowed.
LithoCube *litho_results_holding(const LithoResults *results, LithoBox box);
// The sample at grid indices, of the newest part that has it; FALSE when none has.
gboolean litho_results_sample(const LithoResults *results, const gint64 at[3], float *value);
// Likewise of one cube; `cube` may be NULL. FALSE: outside, dead, or on a device only, from which
// nothing is fetched for one number.
gboolean litho_results_sample_of(LithoCube *cube, const gint64 at[3], float *value);
void litho_results_drop(LithoResults *results); // another grid: results and failure go

// Why the newest wish has no result; NULL = no failure. Borrowed.
const GError *litho_results_problem(const LithoResults *results);
void litho_results_set_problem(LithoResults *results, const GError *problem); // copies; NULL = none
