// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/engine.h"

// One flow on one cube by several runners, one after another: all processors, one thread, a card,
// the scheme as it was published. Every lane is run twice over: once to be looked at, in pieces
// that are handed out as they are finished, and then to be timed, the whole cube in one call. Plans
// are made before the clocks start, copies to and from a card are inside, and every timed run gets
// an input that the engine has not seen in the run before.

typedef struct LithoRaceLane {
    char *label; // "CPU, 16 threads"
    LithoDevice device;
    int threads;     // CPU threads, 0 = all
    LithoFlow *flow; // of this lane
    char *why;       // why it does not run, a sentence; NULL = it runs

    // Filled by the race; 0 / NULL until then.
    double shown_ms;   // of the run that is looked at, its plan not counted where it is local
    double ms;         // median of the timed runs
    guint runs;        // that were timed
    LithoCube *out;    // whole result, on the host
    double difference; // relative L2 to the first lane that ran; NAN = this one, or no result
} LithoRaceLane;

typedef struct LithoRaceWatch {
    // A lane begins its stage: 0 = plans are made, 1 = it is looked at, 2, 3, ... = timed runs.
    void (*on_stage)(guint lane, guint stage, gpointer data);
    // Samples that are finished: a box of the result `ms` after the clock started. Borrowed.
    void (*on_piece)(guint lane, LithoCube *piece, double ms, gpointer data);
    gpointer data;
} LithoRaceWatch;

typedef struct LithoRace {
    LithoCube *in;    // NULL for a source
    int axis;         // pieces are cut across this axis: the horizontal one of the section in view
    guint pieces;     // at most, 1 or more
    GPtrArray *lanes; // of LithoRaceLane
} LithoRace;

LithoRace *litho_race_new(LithoCube *in); // adds a reference
void litho_race_free(LithoRace *race);    // NULL is fine
// Adds a lane; `settings` ("key=value ...", NULL = none) are laid over the first enabled step.
// FALSE: they are refused. A device that is not there, or that has not all operators, gives a lane
// that says why.
gboolean litho_race_add(LithoRace *race, const LithoFlow *flow, const char *device, int threads,
                        const char *settings, const char *label, GError **error);
// Without a card: one thread and all; with one: all threads and the card.
gboolean litho_race_add_usual(LithoRace *race, const LithoFlow *flow, GError **error);
// In a job's thread; `watch` may be NULL, its functions too. FALSE: cancelled, or a lane failed.
gboolean litho_race_run(LithoRace *race, const LithoRaceWatch *watch, LithoRun *run,
                        GError **error);
