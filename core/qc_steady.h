// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"
#include "core/measured.h"
#include "core/run.h"

// Steady noise: what a recorder or a power line adds to a trace from its first sample to its last,
// so that one or two numbers a trace describe it. An offset, a drift (a straight line), and lines
// of the spectrum (hum of 50, 60 or 16.7 Hz and their harmonics, pumps). The program looks once a
// survey whether there is any, by some hundred traces; each trace is then fitted by itself, so that
// its samples depend on nothing but the trace and these numbers. kernels/common/steady.h has the
// method.

enum { LITHO_STEADY_LINES = 8 };

// Steady noise of a survey. Plain bytes without padding: recipes hold them.
typedef struct LithoSteady {
    gint32 offset, drift;             // 1: traces have them
    gint32 n, unused;                 // lines
    double mean;                      // of the survey: offsets are taken off down to it
    double line[LITHO_STEADY_LINES];  // cycles per sample
    double above[LITHO_STEADY_LINES]; // amplitude in units of the rms of the rest of a trace: from
                                      // here on a line is taken off it
} LithoSteady;

// Noise that was taken off a cube.
typedef struct LithoSteadyTaken {
    gint64 traces;                     // live ones that were looked at
    gint64 hum[LITHO_STEADY_LINES];    // those that had the line
    double offset, drift, hum_squares; // sums of squares of all samples
    double samples;                    // that these are of
} LithoSteadyTaken;

// TRUE: there is none.
gboolean litho_steady_is_none(const LithoSteady *steady);
// Numbers that stand in `measured` (may be NULL); none where they are not there, or are no numbers.
LithoSteady litho_steady_of(const LithoMeasured *measured);
// TRUE: there are some.
gboolean litho_steady_stands_in(const LithoMeasured *measured);
// "hum of 50 Hz, offsets of traces": what it is, for people; `dt` in seconds, 0 = no time axis.
// g_free().
char *litho_steady_text(const LithoSteady *steady, double dt);

// Looks at a survey, some hundred whole traces of it. None where the program has no method, of
// traces of fewer than 64 samples and of surveys of fewer than 24 traces. FALSE: cancelled,
// unreadable, no memory.
gboolean litho_qc_steady_find(const LithoReader *survey, LithoRun *run, LithoSteady *steady,
                              GError **error);
// Looks at all that a cube holds, as at a survey of its own; one that is on a device only stays
// there. Findings of the last cubes are kept by their serials.
gboolean litho_qc_steady_in(const LithoCube *cube, LithoRun *run, LithoSteady *steady,
                            GError **error);
// A new cube with the samples of `cube` less its steady noise; samples that are zero, dead traces
// and those with samples that are not finite stay as they are. `cube` has host samples and holds
// whole traces. `taken` may be NULL. NULL: cancelled, no memory.
LithoCube *litho_qc_steady_without(const LithoCube *cube, const LithoSteady *steady, LithoRun *run,
                                   LithoSteadyTaken *taken, GError **error);
