// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/qc_steady.h"

// Steady noise of traces: offsets, drifts and lines of the spectrum (core/qc_steady.h).
//
// Search, on up to 340 triples of neighbouring whole traces spread over the survey:
//
//   1. Offsets and drifts: the middle trace less the mean of the two beside it, in 8 pieces. An
//      offset's means have one sign, none is further from their mean than half of it, and that is
//      5.5 times its error by their scatter; a drift's lie on a straight line (9 parts of 10 of
//      their scatter). 4 % of the triples tell. What varies smoothly from trace to trace, as the
//      means of velocities do, cancels, and where less than a quarter of the means' scatter is left
//      by it there are none. Nor where the means of all triples have less than 10 times the energy
//      of their slow changes along a trace (their first cosines), as red noise and events of few
//      cycles a trace have them: a random walk has 7 times. A survey whose mean is above what most
//      traces stray from theirs holds no recorded traces (envelopes, impedances), and nothing is
//      taken off.
//   2. Lines: spectra of single traces under a Hann taper. A peak is a candidate where it is 6
//      times the mean of the frequencies 3 to 10 bins beside it, on 0.8 % of the traces. Its
//      frequency is refined by the turn of its phase from the first half of traces to the second.
//      It is a line where its amplitude and phase last on such traces: those of the thirds of a
//      trace are within half of their mean, and the mean of 8 pieces is 5.5 times its error. Events
//      pass, and their spectra change from piece to piece. Nor is one whose phase goes on from
//      trace to trace, as that of evenly spaced layers does: hum has any phase on each trace, one
//      on all, or one on runs of them. A third of the peaks last, or a hundredth where the phases
//      of neighbours have nothing in common.
//   3. Where lines hold more than nine tenths of the energy of most traces, they are the data.
//
// A trace is fitted over its live span, from the first sample that is not zero to the last. Offset
// and drift by least squares: wavelets have no mean, so that events cost nothing. Lines by weights,
// 1 over the energy of the rest in 9 samples, in four rounds: least squares would take an event's
// part at the line's frequency, too, and smear it over the trace (1 % of its energy), where weights
// read the line between events. Double precision.

enum {
    LITHO_STEADY_SHORTEST = 64, // samples of a trace, or of its span
    LITHO_STEADY_FEWEST = 24,   // traces of a survey: fewer do not tell steady noise from chance
    LITHO_STEADY_BASES = 2 + 2 * LITHO_STEADY_LINES,
    LITHO_STEADY_ROUNDS = 4,
    LITHO_STEADY_NEAR = 4 // samples on either side whose energy weighs one
};

// Help of the row `steady`, of operators that may be given a noise level.
#define LITHO_STEADY_DOC                                                                           \
    N_("Where traces have offsets or drifts of their recorder, or hum of a power line or a pump, " \
       "which last along whole traces with one amplitude, these are taken off before anything "    \
       "else is done. Looked for once a survey; nothing changes where there is none; off = "       \
       "never. Not with a noise level that is given.")

// Waves of the lines at all samples of a trace, and places to work in. One thread.
typedef struct LithoSteadyFit {
    gint64 n; // samples of a trace
    int lines;
    double *wave;             // [2 lines][n]: cosines and sines
    double *x, *rest, *weigh; // n each
} LithoSteadyFit;

// Steady noise of a trace by its fit.
typedef struct LithoSteadyTrace {
    gint64 lo, hi;                       // its live span; empty = nothing can be told
    double offset, drift;                // value at the middle of the span, slope a sample
    double wave[2 * LITHO_STEADY_LINES]; // of cosine and sine, of each line
    double amplitude[LITHO_STEADY_LINES];
    double rms; // of what is left
} LithoSteadyTrace;

LithoSteadyFit *litho_steady_fit_new(gint64 n, const double *line, int lines);
void litho_steady_fit_free(LithoSteadyFit *fit);
// Fits a trace of fit->n samples with all lines. `offset`, `drift`: these, too.
void litho_steady_fit(LithoSteadyFit *fit, const float *trace, gboolean offset, gboolean drift,
                      LithoSteadyTrace *to);
// litho_steady_fit() with the lines that `use` names alone; the others have amplitude 0.
void litho_steady_fit_some(LithoSteadyFit *fit, const float *trace, gboolean offset, gboolean drift,
                           const guint8 *use, LithoSteadyTrace *to);

// litho_qc_steady_find(), litho_qc_steady_without(), set by litho_kernels_init().
gboolean litho_steady_find(const LithoReader *survey, LithoRun *run, LithoSteady *steady,
                           GError **error);
LithoCube *litho_steady_without(const LithoCube *cube, const LithoSteady *steady, LithoRun *run,
                                LithoSteadyTaken *taken, GError **error);
