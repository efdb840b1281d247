// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/measured.h"
#include "kernels/patch/patch.h"

// Swell: noise of low frequency that lasts, and that is louder on some traces, or on all of them,
// than what lies above its frequencies. In the filter's windows it is no narrow band, its level is
// that of a whole cell, and what it leaves on a few neighbouring traces looks like a fault. So it
// is drawn down to the level of the other noise before anything else is done, for both backends.
//
// Windows of PATCH_SWELL_S along time, four over a sample, tell frequencies 3 Hz apart. At each of
// the lowest ones events are few wavenumbers of 24 x 24 traces. They are sought as in gaps: a trace
// counts the less the more it has beside the events found so far, and coefficients above four times
// the level stay; three times. What a trace has beside its events is swell where its power, the
// median of nine windows along time, exceeds that of most traces, times what frequencies above
// exceed theirs on the same trace, more than fourfold: noise that is loud at all frequencies, and
// bursts, are none. Events that such windows do not hold, as at faults, come and go along time.
//
// Samples of the survey tell whether there is swell, and the power of most traces; these numbers
// stand in the recipe. Where there is none, nothing changes, bit for bit. A sample depends on the
// traces and samples of patch_swell_box() and on these numbers alone, not on threads.

enum {
    PATCH_SWELL_LOW = 5,   // frequencies from 0 on, 3 Hz apart, at which swell is sought,
    PATCH_SWELL_ABOVE = 3, // and of the other noise,
    PATCH_SWELL_ASKED = PATCH_SWELL_LOW + PATCH_SWELL_ABOVE,
    PATCH_SWELL_BESIDE = 8,  // which begin with this one
    PATCH_SWELL_APART = 4,   // and are so far apart
    PATCH_SWELL_LEAST = 40,  // samples that a window has at least
    PATCH_SWELL_TRACES = 24, // of windows along an axis,
    PATCH_SWELL_ALONG = 48,  // along lines and surveys of few lines,
    PATCH_SWELL_FEW = 8,     // which have fewer than this,
    PATCH_SWELL_AROUND = 4,  // windows along time, before and behind, of the median
};
#define PATCH_SWELL_S 0.32 // of a window along time

// Mean powers of most traces beside their events; `found` FALSE: there is no swell.
typedef struct PatchSwell {
    gboolean found;
    float low[PATCH_SWELL_LOW], above[PATCH_SWELL_ABOVE];
    double level; // standard deviation of what samples of the survey have beyond these
} PatchSwell;

// Numbers and cube that a plan keeps from one pass to the next. One thread at a time.
typedef struct PatchCalm {
    PatchSwell of;
    LithoCube *cube;         // the input without its swell, on the host; NULL = none
    guint64 serial;          // of the input that `cube` is of; 0 = none
    guint64 of_serial;       // of the input that the numbers were measured on; 0 = none
    double part;             // of the live traces of `cube` that had swell
    LithoMeasured *measured; // that they were taken from; NULL = none. A reference
} PatchCalm;

// TRUE where swell is sought: noise is removed, its level is measured, and traces are long enough.
gboolean patch_swell_asked(const LithoGrid *grid, const LithoPatchParams *params);
// Windows along the axes. Those of a survey that is too short have 0 samples.
void patch_swell_windows(const LithoGrid *grid, LithoPatchAxis axis[3]);
// litho_qc_swell().
gboolean patch_swell_level(const LithoCube *cube, const LithoBox *box, LithoRun *run, double *level,
                           GError **error);
// `box` with all that its samples depend on where there is swell; `box` itself where none is
// sought.
LithoBox patch_swell_box(const LithoGrid *grid, const LithoPatchParams *params, LithoBox box);
// Bytes of the input's copy without its swell, of a box; 0 where no swell is sought.
guint64 patch_swell_copy_bytes(const LithoGrid *grid, const LithoPatchParams *params, LithoBox box);
// Bytes that patch_swell_remove() takes beside a cube of `box`: those of about 60 rows of its
// traces, 120 along lines. 0 where no swell is sought.
guint64 patch_swell_bytes(const LithoGrid *grid, const LithoPatchParams *params, LithoBox box);
// swell_find.c. Looks at samples of the survey: up to nine columns of traces. FALSE: cancelled,
// unreadable, no memory.
gboolean patch_swell_find(const LithoReader *survey, const LithoPatchParams *params, LithoRun *run,
                          PatchSwell *found, GError **error);
// Takes the swell off `cube`, which has host samples; at samples whose patch_swell_box() it does
// not hold the result is of no use. `part`: of its live traces that had some; NULL = is not asked.
gboolean patch_swell_remove(const PatchSwell *swell, LithoCube *cube, double *part, LithoRun *run,
                            GError **error);
// The input without swell: `in` itself where there is none. The numbers are those of `measured`,
// else of `in`. `blocks`: boxes of whole traces of `in`, whose samples are on a device; NULL = the
// host has them. Borrowed. NULL: cancelled, or no memory.
const LithoCube *patch_swell_calm(PatchCalm *calm, const LithoPatchParams *params,
                                  const LithoCube *in, const LithoReader *blocks,
                                  LithoMeasured *measured, LithoRun *run, GError **error);
void patch_swell_clear(PatchCalm *calm);
void patch_swell_report(const PatchCalm *calm, LithoReport *report);

// A reader of `survey` without its swell. `survey` and this are borrowed by what reads.
typedef struct PatchCalmReader {
    const LithoReader *survey;
    const LithoPatchParams *params;
    PatchSwell swell;
    LithoReader reader; // to be used instead of `survey`
} PatchCalmReader;

void patch_swell_read(PatchCalmReader *calm, const LithoReader *survey,
                      const LithoPatchParams *params, PatchSwell swell);
// levels_recipe.c: numbers that stand in `measured`.
PatchSwell patch_swell_from_measured(const LithoMeasured *measured);
