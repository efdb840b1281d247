// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
// Part of balance.c: numbers of one trace from the sums of its windows.
#include "kernels/common/balance_sums.h"

typedef struct BalancePiece {
    float ratio, weight;
} BalancePiece;

// The gain from every `step`-th of n windows; 0 = not known. `variance` is that of its logarithm.
// `pieces` and `off`: n of each, scratch.
float balance_gain_of(const BalanceSums *s, gint64 n, gint64 step, BalancePiece *pieces, float *off,
                      float *variance);
// TRUE: the trace's events stand against those around it, in each half of its windows.
gboolean balance_is_reversed(const BalanceSums *s, gint64 n);
// Windows, every `step`-th of n, that tell of the trace's noise.
int balance_windows_of(const BalanceSums *s, gint64 n, gint64 step);
// Logarithm of the amplitude of the noise, from every `step`-th of n windows: that of the median of
// what is left of the trace when all events, times its gain, are taken off. NAN = not known.
// `list`: n floats. `events`: the logarithm of their amplitude.
float balance_level_of(const BalanceSums *s, gint64 n, gint64 step, float *list, float *events);
// Logarithms of n[0] x n[1] traces less their mean over those within `reach`; NAN = not known.
void balance_less_mean(const float *log, const gint64 n[2], int reach, float *to);
