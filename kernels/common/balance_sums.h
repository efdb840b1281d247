// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
// Part of balance.c: what windows keep of each trace, for gains and for the noise of single traces.
#include "kernels/common/balance.h"
#include "kernels/common/window16.h"

enum {
    BALANCE_N = 16,
    BALANCE_HALF = BALANCE_N / 2,
    BALANCE_TRACES = BALANCE_N * BALANCE_N,
    BALANCE_SAMPLES = LITHO_WINDOW16
};

// Sums of a trace in the windows at one place along it: of the product of its samples and what is
// kept, and of the squares of both. Gains need strong events; noise is what is left of all events,
// whose sums are the other ones, of windows with at most BALANCE_GAPS_OF_NOISE of their traces
// missing: among more gaps a trace has hardly a neighbour to be guessed from.
#define BALANCE_GAPS_OF_NOISE 0.45
typedef struct BalanceSums {
    float product, kept, own, all_product, all_kept, all_own;
} BalanceSums;

typedef struct BalanceJob {
    const LithoCube *in;
    LithoBox all;        // the survey, or the part of it that there is; windows are anchored to it
    LithoBox within;     // traces that have sums
    const gint64 *times; // of windows along the traces
    gint64 n_times;
    gboolean of_noise; // sums of all events, too
    float least;       // power of a coefficient that is kept, over that of the largest
    const float *gain; // of the traces of `has_gain`, by which samples are divided; NULL = 1
    LithoBox has_gain;
    BalanceSums *sums; // [trace of within][time]
    float taper[BALANCE_N];
    LithoRun *run;
    int stop; // atomic: 1 = cancelled, 2 = no memory
} BalanceJob;

// Two windows are real and imaginary part of one transform. [part][sample][inline][crossline]
typedef struct BalanceScratch {
    float x[2][BALANCE_SAMPLES] __attribute__((aligned(64))), f[2][BALANCE_SAMPLES],
        all[2][BALANCE_SAMPLES], power[BALANCE_SAMPLES];
    // All bits set for traces that are missing, or have muted samples, in either window.
    int missing[2][BALANCE_TRACES];
} BalanceScratch;

BalanceScratch *balance_scratch_new(void); // free(); NULL: no memory
void balance_set_taper(BalanceJob *job);
// Windows number times[0] and times[1] along the traces, at an inline and a crossline; of one that
// there is not, nothing is added.
void balance_run_pair(BalanceJob *job, const gint64 place[2], const gint64 times[2],
                      BalanceScratch *s);
// The gain by which a trace is divided; 1 where none is known.
float balance_known_gain(const BalanceJob *job, gint64 il, gint64 xl);
// The sums of all windows that reach `within`, to job->sums; g_free().
gboolean balance_sum_up(BalanceJob *job, GError **error);
gboolean balance_no_memory(GError **error);
