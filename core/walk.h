// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/flow.h"

// The one walk over a flow, for checking and for running it: what files, grids and regions every
// enabled step sees, worked out before anything is computed. A value of its maker; refers to the
// flow, which must stay as it is.

typedef struct LithoWalkStep {
    const LithoStep *step;
    gboolean has_in;       // FALSE: a source, `in` means nothing
    LithoGrid in, out;     // that reaches the step, and that it gives
    const LithoVolumeDoc *volume; // that is asked for instead of the result; it is the last step then
    LithoResolved *known;  // what the step's files say; NULL = it names none. A reference
    LithoMeasured *measured; // what was measured before; NULL = nothing. Borrowed from `step`
    LithoBox region, need; // samples of its output and of its input that are wanted
} LithoWalkStep;

typedef struct LithoWalk {
    gboolean waits;    // the last step's files are not read yet: its `out` and later steps are not
                       // known
    gboolean measured; // set it: steps that need numbers of their whole input will have them
    gboolean most; // set it: numbers that nobody has measured yet count as those that ask for the
                   // most samples and memory
    int threads;       // set it: CPU threads of the run, for the memory that it takes; 0 = all
    guint n;           // enabled steps
    LithoGrid in, out; // of the whole flow; `out` not while it waits
    LithoWalkStep *step;
} LithoWalk;

// Checks every enabled step against the grid that reaches it. `in` may be NULL when the first
// enabled step is a source. Pure: files that were read before are known, others let the walk
// wait. NULL: refused, with the sentence.
LithoWalk *litho_walk_look(const LithoFlow *flow, const LithoGrid *in, GError **error);
// Reads the files and checks as litho_walk_look() does; never waits. In a job's thread. NULL:
// refused, cancelled, or a file that cannot be read.
LithoWalk *litho_walk_resolve(const LithoFlow *flow, const LithoGrid *in, LithoRun *run,
                              GError **error);
void litho_walk_free(LithoWalk *walk); // NULL is fine
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LithoWalk, litho_walk_free)

// Works out from the last step backwards what must be computed for `region` of the output (NULL =
// all of it), and gives what part of the input that takes. Not while the walk waits.
LithoBox litho_walk_want(LithoWalk *walk, const LithoBox *region);
// For who wants no more than that of litho_walk_resolve(): the part of the input that `region` of
// the output depends on.
gboolean litho_walk_input_box(const LithoFlow *flow, const LithoGrid *in, LithoBox region,
                              LithoRun *run, LithoBox *need, GError **error);
