// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/report.h"
#include "core/run.h"
#include "kernels/common/gaps.h"
#include "kernels/common/spikes.h"

// Erratic noise: spikes and bursts on single traces. Single samples that stand out go first
// (spikes.h); the rest of their trace stays as it is.
//
// Two measures of a piece of 16 samples of a trace tell of bursts: its energy; and the largest
// square of its second difference, in which a short one stands out of events (these are smooth from
// sample to sample), or a quarter of the energy where that is more. A piece is erratic when either
// is above `erratic`^2 times that of most of its neighbours, the traces within two inlines and
// crosslines (the strongest of the three pieces of a neighbour that lie above, beside and below
// counts, so that dipping events are not taken for bursts). Traces end at different times, by mutes
// (core/mute.h): the step there is no second difference, and a neighbour with more muted samples
// in the piece than the trace itself has there does not count.
//
// Bursts end within pieces that they hardly raise, and decay. The pieces before and behind an
// erratic one are erratic, too, and so is the next one where the piece between is above
// (`erratic` / 2)^2 times most of its neighbours.
//
// Erratic pieces, and missing traces where the operator asks for it, read as guesses of their
// surroundings (kernels/common/gaps.h): holes would spread every event over all coefficients of a
// window.
//
// A steep event leaves those three pieces from one trace to the next, as the direct arrival of a
// shot does, and goes on at opposite places of the two traces beside it. With `spare_events` such a
// piece is not erratic, nor on a survey of one line one with half of its amplitude on a trace
// beside, nor elsewhere one with fewer than eight neighbours, unless it is beside an erratic one.
//
// Pieces are anchored to the survey and depend on no more than LITHO_ERRATIC_TRACES and
// LITHO_ERRATIC_SAMPLES (or LITHO_ERRATIC_STEEP_SAMPLES) around them, so that samples do not depend
// on the box that is held.

enum {
    LITHO_ERRATIC_PIECE = 16,
    LITHO_ERRATIC_NEAR = 2, // traces that a piece is held against
    LITHO_ERRATIC_TRACES = LITHO_ERRATIC_NEAR + LITHO_SPIKE_TRACES,
    LITHO_ERRATIC_GROWTH = 2, // pieces from one found to the last that it makes erratic
    LITHO_ERRATIC_SAMPLES = (2 + LITHO_ERRATIC_GROWTH) * LITHO_ERRATIC_PIECE + LITHO_SPIKE_SAMPLES,
    LITHO_ERRATIC_STEEP = 4, // pieces that a steep event moves a trace, at most
    LITHO_ERRATIC_STEEP_SAMPLES = LITHO_ERRATIC_SAMPLES + LITHO_ERRATIC_STEEP * LITHO_ERRATIC_PIECE
};

// Fate of missing traces.
typedef enum LithoCleanMissing {
    LITHO_CLEAN_GUESSED, // guesses take their place
    LITHO_CLEAN_BESIDE,  // guesses where any piece is erratic, else the caller sees to them
    LITHO_CLEAN_ABSENT,  // they stay missing, with the samples that they have
} LithoCleanMissing;

// An operator's choices.
typedef struct LithoCleanRule {
    double above; // ratio of amplitudes, the parameter `erratic`; 0 = no piece is erratic
    LithoCleanMissing missing;
    gboolean spare_events;
    LithoGapsRule gaps; // its `regular` is not looked at
    // How much each trace of the survey keeps of what it has beside its guess: 1 = all, and
    // it is not guessed. NULL = all do. `share_of` tells one list from another.
    const float *share;
    guint64 share_of;
} LithoCleanRule;

// The input with guesses for its erratic pieces, kept for the next pass with it. One operator's
// plan, one thread at a time.
typedef struct LithoClean {
    LithoCube *cube;       // NULL: nothing is erratic, no trace is to be guessed
    guint64 serial;        // of the input it was made from; 0 = none
    LithoCleanRule rule;   // it was made with
    gboolean regular;      // some gaps are: the rule's `faint` mattered
    gint64 pieces, spikes; // erratic ones; single samples
    gint64 traces;         // with either
} LithoClean;

// Gives the cube that is to be filtered: `in` itself, which has host samples, when there is nothing
// to guess, else clean->cube, a host cube whose live traces that `in` has not are guesses.
// Borrowed. NULL: cancelled, or no memory.
const LithoCube *litho_clean(LithoClean *clean, LithoCleanRule rule, const LithoCube *in,
                             LithoRun *run, GError **error);
// TRUE when `clean` was made with the rule from `in`: the next pass takes it as it is.
gboolean litho_clean_is_of(const LithoClean *clean, LithoCleanRule rule, const LithoCube *in);
// `box` with all that its samples depend on after litho_clean().
LithoBox litho_clean_box(const LithoGrid *grid, LithoCleanRule rule, LithoBox box);
// Bytes that litho_clean() takes for a cube of so many samples beside it, at most; on a device,
// too.
guint64 litho_clean_bytes(gint64 samples);
void litho_clean_clear(LithoClean *clean);
// litho_qc_bursts(), set by litho_kernels_init(): by the operators' default rule.
gboolean litho_clean_bursts(const LithoCube *cube, LithoRun *run, LithoCube **guesses,
                            GError **error);
void litho_clean_report(const LithoClean *clean, const LithoCube *in, LithoReport *report);
