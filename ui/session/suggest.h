// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/session/session.h"

// First guesses for an operator's parameters from what is known about the data: the band of the
// signal, the level of the noise, the sample interval, missing traces. Each comes with its reason;
// where the data say nothing, nothing is suggested.
typedef struct LithoSuggestion {
    const LithoParam *row;
    double value;
    char *why; // one sentence
} LithoSuggestion;

// What the spectrum of the input says. Pure.
typedef struct LithoBand {
    gboolean known;   // the spectrum stands out of a floor
    double low, high; // Hz (1/m): where it does
    double floor;     // amplitude of the floor, as in LithoSpectrum
    double sigma;     // standard deviation of white noise with this floor, 0 = not known
} LithoBand;
LithoBand litho_suggest_band(const LithoSpectrum *spectrum, gint64 samples);

// Of LithoSuggestion, rows of the step's operator in the table's order; empty when there is nothing
// to say. `missing` is the part of the traces that are. g_array_unref().
GArray *litho_suggest(const LithoStep *step, const LithoGrid *grid, const LithoSpectrum *spectrum,
                      double missing);
