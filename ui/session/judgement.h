// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/quality.h"
#include "ui/session/session.h"

// Figures of the result on screen that need no truth: expected SNR, signal that leaves with the
// noise, how much is removed (core/engine/quality.h), judged on the area in view in a job beside
// the worker; the newest question wins. And the local similarity of output and removed on the
// visible slices, as long as somebody wants to see it.
//
// Follows the session, which it references; its session never knows. Main thread.
//
// Signal "changed": figures, their reason to be missing, or a map.
#define LITHO_TYPE_JUDGEMENT (litho_judgement_get_type())
G_DECLARE_FINAL_TYPE(LithoJudgement, litho_judgement, LITHO, JUDGEMENT, GObject)

LithoJudgement *litho_judgement_new(LithoSession *session);
// Newest figures of the present file and kind of flow; NULL = none. `fresh` (may be NULL): they
// belong to the parameters as they stand, not to those before. Borrowed until the next signal.
const LithoQuality *litho_judgement_figures(LithoJudgement *self, gboolean *fresh);
// The highest expected SNR in dB of all settings and operators tried so far on this part of this
// input; NAN = none was told.
double litho_judgement_best_db(LithoJudgement *self);
// Why there are none, one sentence; NULL = there are, or nobody expects any. Borrowed.
const char *litho_judgement_missing(LithoJudgement *self);
// TRUE while there are none, and they are about to come.
gboolean litho_judgement_is_pending(LithoJudgement *self);
// Part (0 to 1) of the present question's stage that is done; NAN = it takes no time worth telling.
// Told twice a second by "changed".
double litho_judgement_part(LithoJudgement *self);
// That stage, as "noise level", for litho_text(); NULL = none is told. Static.
const char *litho_judgement_doing(LithoJudgement *self);
// Seconds until it is answered, as its progress tells; NAN or below 1: not known, or at once.
double litho_judgement_left_s(LithoJudgement *self);
// Noise of that area of the input, once it is known; NULL before. Borrowed until the next signal.
const LithoNoise *litho_judgement_noise(LithoJudgement *self, LithoBox area);
// Standard deviation of white noise that a person gives in place of the measured level, which
// litho_judgement_noise() tells then; 0 = measured. Forgotten with the input.
void litho_judgement_set_sigma(LithoJudgement *self, double sigma);
double litho_judgement_sigma(LithoJudgement *self);
// The area in view, as far as the input holds it.
LithoBox litho_judgement_view(LithoSession *session);
// The part of the area in view that questions about the session's flow are asked on
// (litho_quality_area()).
LithoBox litho_judgement_area(LithoSession *session);
// TRUE when output and input of the flow can be compared: it has steps, and all of them filter.
gboolean litho_judgement_applies(LithoSession *session);
// Half widths of the similarity, of its maps and of the share that leaves; all 0 = the default.
void litho_judgement_set_widths(LithoJudgement *self, LithoSimilarityWidths widths);
LithoSimilarityWidths litho_judgement_widths(LithoJudgement *self); // in use

// Hidden traces: `percent` of the live traces in each of two folds are predicted from the others; 0
// = none.
void litho_judgement_hide(LithoJudgement *self, double percent, guint32 seed);
double litho_judgement_hidden(LithoJudgement *self, guint32 *seed); // percent
// TRUE while hidden traces are asked for the present parameters. Their turn comes once the other
// figures are there, since filters that fill take long; litho_judgement_part() is theirs from then
// on. The reason that hidden traces say nothing; NULL = they do. Borrowed until the next signal.
gboolean litho_judgement_is_hiding(LithoJudgement *self);
const char *litho_judgement_hidden_why(LithoJudgement *self);

// A cube of the input's shape that is taken for the truth: the figures then hold the output's SNR
// against it as well. Referenced and forgotten with the input; NULL = none.
void litho_judgement_set_truth(LithoJudgement *self, LithoCube *truth, const char *name);
// Borrowed; `name` (may be NULL) likewise.
LithoCube *litho_judgement_truth(LithoJudgement *self, const char **name);

// |c| of output and removed on the slice of `axis` that is shown; NULL = not wanted, or not there
// (yet). Borrowed until the next signal. Once the figures have told the noise the map is beside it,
// of the same run, and holds the part of the slice that was judged; before, as while a slider
// moves, it holds the slice as it is, and noise that stays in the output is bright.
LithoCube *litho_judgement_map(LithoJudgement *self, int axis);
gboolean litho_judgement_map_is_beside(LithoJudgement *self, int axis); // FALSE without a map
// What maps beside the noise are made from, of the parameters as they stand; NULL = the figures are
// not there yet, or know no level. Borrowed until the next signal.
LithoBeside *litho_judgement_beside(LithoJudgement *self);
// A view has drawn a map. And: how many new ones have been drawn so far, and the time from the wish
// to the last one's drawing.
void litho_judgement_map_drawn(LithoJudgement *self);
guint litho_judgement_map_latency(LithoJudgement *self, double *last_ms);
void litho_judgement_want_maps(LithoJudgement *self, gboolean wanted);
gboolean litho_judgement_wants_maps(LithoJudgement *self);
