// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Vertical times through the columns of a velocity model, added up from its top: the range of all
// its traces. Whoever fills it owns it; reading is for any thread.
typedef struct LithoReach {
    gint64 n;         // samples of a trace
    double *fast;     // [n + 1] of the column that is crossed soonest, in samples s/m
    double *slow;     // of the column that is crossed last
    double *least;    // of a column of each depth's fastest rock: no wave is sooner
    double last_slow; // the largest slowness of the last samples (s/m)
} LithoReach;

typedef enum LithoColumn { LITHO_COLUMN_FAST, LITHO_COLUMN_SLOW, LITHO_COLUMN_LEAST } LithoColumn;

// For traces of `n` samples, none added yet.
LithoReach *litho_reach_new(gint64 n);
void litho_reach_free(LithoReach *reach);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LithoReach, litho_reach_free)

// Adds a trace of n velocities, all positive; one of its numbers is `unit` m/s.
void litho_reach_add(LithoReach *reach, const float *trace, double unit);
// Adds the traces of `from`, which has as many samples. The order makes no difference.
void litho_reach_merge(LithoReach *reach, const LithoReach *from);
// After the last trace, once.
void litho_reach_finish(LithoReach *reach);
// Time from the model's top to `at`, in samples s/m; edges hold above and below.
double litho_reach_time(const LithoReach *reach, LithoColumn column, double at);
