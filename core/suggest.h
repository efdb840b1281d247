// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"
#include "core/qc.h"

// First guesses for an operator's parameters from what is known about the data: the band of the
// signal, the dips of the events and how plane they are, the size of the survey, missing traces.
// Each comes with its reason; where the data say nothing, nothing is suggested. The operator judges
// (LithoOperator.suggest), this file measures. Pure; any thread.

// Signal band that the spectrum of the input shows.
typedef struct LithoBand {
    gboolean known;   // the spectrum stands out of a floor
    double low, high; // Hz (1/m): where it does
    double floor;     // amplitude of the floor, as in LithoSpectrum
} LithoBand;

LithoBand litho_suggest_band(const LithoSpectrum *spectrum);

enum { LITHO_EVENTS_TRACES = 25 }; // over which events are looked at

// Events along one axis of traces.
typedef struct LithoEventsAlong {
    gboolean known; // there are LITHO_EVENTS_TRACES along it, and neighbours have something alike
    double dip;     // samples a trace; 90 % of the events' energy dips less
    gboolean dips;  // that is 0.08 periods a trace and more
    double share;   // of the energy, that events have
    double bend;    // part of the events' energy that parabolas over these traces hold and planes
                    // do not: 0.05 and less of plane and crossing events, 0.1 to 0.4 of curved ones
} LithoEventsAlong;

typedef struct LithoEvents {
    LithoEventsAlong axis[2]; // along inlines' numbers, along crosslines' numbers
} LithoEvents;

typedef enum LithoEventsKind {
    LITHO_EVENTS_UNKNOWN, // along neither axis
    LITHO_EVENTS_BENT,    // along an axis
    LITHO_EVENTS_FLAT,    // plane along all axes that are known, with small dips
    LITHO_EVENTS_DIPPING, // plane, and dips along one of them at least
} LithoEventsKind;

LithoEventsKind litho_events_kind(const LithoEvents *events);
double litho_events_dip(const LithoEvents *events);   // the larger one of the axes that are known
double litho_events_share(const LithoEvents *events); // likewise the smaller one

// Up to 384 places of 25 traces x 32 samples along each axis: the dip with the largest stack, then
// the parabola that even traces choose and odd ones judge, which noise does not raise. `cube` has
// its samples on the host; traces that are missing or not finite count as zero. `band`: of its
// spectrum, tells how long periods are. A few hundredths of a second. Any thread.
LithoEvents litho_suggest_events(const LithoCube *cube, const LithoBand *band);

// Facts about the data that an operator's suggest() is told.
struct LithoEvidence {
    const LithoGrid *grid;
    LithoBand band;
    LithoEvents events;
    double missing; // part of the traces that are, 0..1
};

typedef struct LithoSuggestion {
    const LithoParam *row;
    double value;
    char *why; // one sentence; the list frees it
} LithoSuggestion;

// Elements are LithoSuggestion, in the order of the operator's suggest(); none when there is
// nothing to say. g_array_unref().
// `events` NULL = not known.
GArray *litho_suggest(const LithoOperator *op, const LithoGrid *grid, const LithoSpectrum *spectrum,
                      const LithoEvents *events, double missing);

// --- for operators ------------------------------------------------------------------------------

// Takes `why`. A key that the operator has not and a value that is no number are passed over; the
// value is brought into the legal range.
void litho_suggest_add(GArray *list, const LithoOperator *op, const char *key, double value,
                       char *why);
// "fmin" and "fmax", a little wider than the band.
void litho_suggest_add_band(GArray *list, const LithoOperator *op, const LithoEvidence *evidence);
// Two figures: such an estimate is worth no more.
double litho_suggest_rounded(double x);
