// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"
#include "core/qc.h"

// First guesses for an operator's parameters from what is known about the data: the band of the
// signal, the level of the noise, the sample interval, missing traces. Each comes with its reason;
// where the data say nothing, nothing is suggested. The operator judges (LithoOperator.suggest),
// this file measures. Pure; any thread.

// Signal band that the spectrum of the input shows.
typedef struct LithoBand {
    gboolean known;   // the spectrum stands out of a floor
    double low, high; // Hz (1/m): where it does
    double floor;     // amplitude of the floor, as in LithoSpectrum
    double sigma;     // standard deviation of white noise with this floor, 0 = not known
} LithoBand;

LithoBand litho_suggest_band(const LithoSpectrum *spectrum, gint64 samples);

// Facts about the data that an operator's suggest() is told.
struct LithoEvidence {
    const LithoGrid *grid;
    LithoBand band;
    double missing; // part of the traces that are, 0..1
};

typedef struct LithoSuggestion {
    const LithoParam *row;
    double value;
    char *why; // one sentence; the list frees it
} LithoSuggestion;

// Elements are LithoSuggestion, in the order of the operator's suggest(); none when there is
// nothing to say. g_array_unref().
GArray *litho_suggest(const LithoOperator *op, const LithoGrid *grid, const LithoSpectrum *spectrum,
                      double missing);

// --- for operators ------------------------------------------------------------------------------

// Takes `why`. A key that the operator has not and a value that is no number are passed over; the
// value is brought into the legal range.
void litho_suggest_add(GArray *list, const LithoOperator *op, const char *key, double value,
                       char *why);
// "fmin" and "fmax", a little wider than the band.
void litho_suggest_add_band(GArray *list, const LithoOperator *op, const LithoEvidence *evidence);
// Two figures: such an estimate is worth no more.
double litho_suggest_rounded(double x);
