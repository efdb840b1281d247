// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/worker.h"

// Times from a change to its first picture, and how many changes each slice has shown. Main thread
// only.
enum { LITHO_LATENCY_RING = 64 };
typedef struct LithoLatency {
    guint64 drawn_tag;    // of the newest result that has been on screen
    guint64 slice_tag[3]; // likewise, of the slice of each axis
    guint64 n_slices[3];  // how many changes that slice has shown
    float ring[LITHO_LATENCY_RING];
    guint n; // times noted, of which the last LITHO_LATENCY_RING are in the ring
} LithoLatency;

// `result` is on screen now. TRUE when it is the first picture of its wish: its time was noted.
gboolean litho_latency_drawn(LithoLatency *latency, const LithoResult *result);
// Last and median time, ms; 0 = none yet.
void litho_latency_get(const LithoLatency *latency, double *last, double *median);
guint litho_latency_ring(const LithoLatency *latency, float ms[LITHO_LATENCY_RING]); // newest last
// Forgets the times, not the counts: those of another operator say nothing about this one.
void litho_latency_restart(LithoLatency *latency);
