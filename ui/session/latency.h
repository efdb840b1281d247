// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/worker.h"

// Times from a change to its first picture, and how many changes each slice has shown. Main thread
// only.
enum { LITHO_LATENCY_RING = 64 };

// The parts of the way from a change to the screen, in order.
typedef enum {
    LITHO_WAY_WORKER, // for the worker, which is at a former change
    LITHO_WAY_COMPUTE,
    LITHO_WAY_TAKEN,    // for the main thread to see the result
    LITHO_WAY_FRAME,    // for the next frame
    LITHO_WAY_TEXTURES, // samples go into textures
    LITHO_WAY_VIEWS,    // views are painted
    LITHO_WAY_SCREEN,   // the toolkit draws, and the frame goes to the screen
    LITHO_N_WAYS
} LithoWay;

extern const char *const litho_way_names[LITHO_N_WAYS]; // in English, "computes"

// When a frame began, had its samples in textures, and had painted its views; litho_now_ms().
typedef struct LithoFrameTimes {
    double begin_ms, filled_ms, painted_ms;
} LithoFrameTimes;

typedef struct LithoLatency {
    guint64 drawn_tag;    // of the newest result that has been on screen
    guint64 slice_tag[3]; // likewise, of the slice of each axis
    guint64 n_slices[3];  // how many changes that slice has shown
    float ring[LITHO_LATENCY_RING];
    guint n;                 // times noted, of which the last LITHO_LATENCY_RING are in the ring
    float way[LITHO_N_WAYS]; // parts of the last time, ms; their sum is the last time in the ring
} LithoLatency;

// `result` is on screen now. TRUE when it is the first picture of its wish: its time was noted.
// `frame`: the one that brought it.
gboolean litho_latency_drawn(LithoLatency *latency, const LithoResult *result,
                             const LithoFrameTimes *frame);
// Last and median time, ms; 0 = none yet.
void litho_latency_get(const LithoLatency *latency, double *last, double *median);
guint litho_latency_ring(const LithoLatency *latency, float ms[LITHO_LATENCY_RING]); // newest last
// Forgets the times, not the counts: those of another operator say nothing about this one.
void litho_latency_restart(LithoLatency *latency);
