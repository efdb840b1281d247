// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <complex.h>
#include "core/cube.h"
#include "core/run.h"

// The shared part of methods in the F-X domain: time windows, their spectra, and windows of traces
// that are blended. All in double precision.

enum { SLICE_TIME = 150, SLICE_OVERLAP = 50 }; // samples, the time windows of operator fx

// One frequency of one time window: n1 x n2 traces, changed in place. Many threads at a time.
typedef void (*LithoSliceFunc)(double complex *slice, gint64 n1, gint64 n2, gconstpointer data);

// Cuts traces into time windows, which overlap and are blended by linear ramps, and applies `func`
// to every frequency of each.
gboolean litho_baseline_slices(const LithoCube *in, LithoSliceFunc func, gconstpointer data,
                               LithoCube *out, LithoRun *run, GError **error);

// Windows along an axis: as few as have at least `overlap` in common, spread from end to end.
gint64 litho_baseline_windows(gint64 n, gint64 window, gint64 overlap);
gint64 litho_baseline_start(gint64 n, gint64 window, gint64 count, gint64 k);
// Weight of sample i of a window in a blend that divides by the sum of weights: it falls to the
// ends, and is positive.
double litho_baseline_ramp(gint64 i, gint64 window, gint64 overlap);
