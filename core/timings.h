// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>
#include <json-glib/json-glib.h>

// Wall-clock times per named stage, with what the stage moved and computed, over the last passes.
// One writer (the worker or the command line) and any number of readers through snapshots.
// Thread-safety: all functions may be called from any thread.

enum { LITHO_TIMINGS_RING = 64, LITHO_TIMINGS_STAGES = 32 };

typedef enum {
    LITHO_STAGE_COMPUTE = 0, // kernels on the device or on the CPU
    LITHO_STAGE_TRANSFER,    // host <-> device
    LITHO_STAGE_IO,          // disk
    LITHO_STAGE_DISPLAY,     // GL share and drawing
    LITHO_STAGE_PLAN,        // made once, kept until a plan parameter changes
} LithoStageKind;

typedef struct LithoStage {
    char name[32];
    LithoStageKind kind;
    guint count;                       // passes seen since the start
    float last_ms, median_ms, min_ms;  // over the ring
    float p25_ms, p75_ms;              // spread: the middle half
    float ring_ms[LITHO_TIMINGS_RING]; // newest last, min(count, RING) entries valid
    double bytes, flops;               // of the last pass; 0 = not counted
} LithoStage;

typedef struct LithoTimings LithoTimings;

LithoTimings *litho_timings_new(void);
void litho_timings_unref(LithoTimings *timings);

// Adds to stage `name` of the pass under way (several calls in one pass add up).
void litho_timings_add(LithoTimings *timings, const char *name, LithoStageKind kind, double ms,
                       double bytes, double flops);
// Ends a pass: the sums since the last call become one entry of each stage's ring.
void litho_timings_end_pass(LithoTimings *timings);
// The sums since the last end_pass are of a part computed first: they count for the pass that ends
// next, in those stages that it does not run again.
void litho_timings_hold_pass(LithoTimings *timings);
// Drops the sums since the last end_pass (a cancelled pass says nothing about speed).
void litho_timings_drop_pass(LithoTimings *timings);
// Drops everything: another operator or device.
void litho_timings_reset(LithoTimings *timings);

// Stages in order of first appearance, up to `max`; returns how many were written.
guint litho_timings_snapshot(LithoTimings *timings, LithoStage *stages, guint max);
// Time of a stage in the last pass; 0 = it was never run, or `timings` is NULL.
double litho_timings_last_ms(LithoTimings *timings, const char *name);
// { "stages": [ { "name", "kind", "last_ms", "median_ms", "min_ms", "p25_ms", "p75_ms", "count",
//   "bytes", "flops" } ] }; the caller owns it.
JsonNode *litho_timings_to_json(LithoTimings *timings);
// The timings as aligned lines; g_free().
char *litho_timings_to_text(LithoTimings *timings);
