// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"

// Spikes: single samples that stand out of their trace. A piece of a trace that holds one is far
// less lost than a burst is: fifteen of its sixteen samples are good, and where one sample of two
// hundred is a spike, every fourth piece of three has one.
//
// A sample stands out by its distance from the median of the four beside it, two before and two
// behind, which one spike among these leaves where it is, and from the cubic through them, on which
// smooth events lie: the smaller one counts. It is a spike when
// - that distance exceeds ten times the mean one of three pieces of its own trace,
// - and `above` times the largest one within four samples at most of the neighbours, the traces
//   within two inlines and crosslines, of which at least four have five such samples;
// - its neighbours in the trace are not zero, as beside a mute, and their own distances stay below
//   half of its: a wavelet has several samples;
// - at most two samples within eight, and one within two, stand out as it does: more are a burst,
//   which erratic.h tells.
// It is replaced by a cubic through those four samples, or the mean of the nearest two that are
// none.
//
// Nothing depends on samples further away than LITHO_SPIKE_TRACES and LITHO_SPIKE_SAMPLES.

enum {
    LITHO_SPIKE_PIECE = 16, // samples of a trace, anchored to sample 0 of the survey
    LITHO_SPIKE_TRACES = 2, // reach of the neighbours
    LITHO_SPIKE_SAMPLES =
        48 // of a repaired sample: 5 to the cubic's, 8 to a burst's, 34 to a mean's
};

// A search, of host samples.
typedef struct LithoSpikes {
    const LithoCube *in;
    gint64 first, pieces; // of the survey's pieces that in->held touches
    float above;          // ratio of amplitudes
    guint16 *at;          // [trace][piece]: bit k is sample k of the piece; the caller's, 0 before
} LithoSpikes;

// Marks the spikes of trace k of in->held. Any thread; traces may be searched side by side.
void litho_spikes_find(const LithoSpikes *spikes, gint64 k);
// Sample t of trace k of in->held is a spike.
gboolean litho_spikes_at(const LithoSpikes *spikes, gint64 k, gint64 t);
// Replaces those of trace k in `to`, the samples of that trace in a copy. Likewise.
void litho_spikes_repair(const LithoSpikes *spikes, gint64 k, float *to);
