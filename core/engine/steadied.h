// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/flow.h"
#include "core/qc_steady.h"

// A flow's input less its steady noise (core/qc_steady.h): what the first step, its measurements
// and its judge see. Operators know nothing of it, nor do devices: the copy is made on the host.
// Later steps are not asked, as what they are given was recorded by nobody.

// The last input, kept for the next pass with it. One engine or judge, one thread at a time.
typedef struct LithoSteadied {
    LithoCube *cube;         // NULL: the input has none
    guint64 of;              // serial of the input; 0 = none
    LithoMeasured *measured; // that the numbers were taken from; NULL = from the input. A reference
    guint64 in_source, source; // of the inputs, and of the cubes made of them
    LithoSteady steady;
    LithoSteadyTaken taken;
} LithoSteadied;

// `in`, or a cube of it less its steady noise; borrowed. The numbers are those of the step's
// measurement, else those of the input where it is the whole survey or `part` says that a part
// tells as much, as for a judge. NULL: cancelled, no memory, or the input holds parts of traces.
LithoCube *litho_steadied_take(LithoSteadied *s, const LithoStep *step, const LithoCube *in,
                               gboolean part, LithoRun *run, GError **error);
void litho_steadied_clear(LithoSteadied *s);
// The first enabled step, whose input is meant; NULL = there is none.
const LithoStep *litho_steadied_step(const LithoFlow *flow);
// Numbers and a remark with the operator's `key`. NULL report is fine.
void litho_steadied_report(const LithoSteadied *s, const char *key, const LithoGrid *grid,
                           LithoReport *report);
// Standard deviation of what was taken off.
double litho_steadied_rms(const LithoSteadyTaken *taken);
