// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/qc_noise.h"

// Cubes of known randomness for questions about operators: each number is a hash of the seed and of
// its place in the grid, so that it depends on no region, thread or machine.

// A cube that covers `held` with noise of the spectrum `noise`: random signs times the standard
// deviation where the noise is white, else signs behind a zero-phase filter of that amplitude
// response, in time or, where the noise has a shape, in windows of all axes. Zero in absent traces
// of `like`, outside the span of its samples that are not zero and in its mutes; `like` must hold
// `held`. Live mask as in `like`.
LithoCube *litho_probe_new(const LithoCube *like, LithoBox held, const LithoNoise *noise,
                           guint32 seed, LithoRun *run, GError **error);
// TRUE for `percent` of the traces in fold 0, as many others in fold 1, ...: a trace is in one fold
// at most while percent * folds is 100 or less.
gboolean litho_probe_hides(gint64 i, gint64 j, double percent, guint fold, guint32 seed);

// First sample (grid index) of a trace that is not zero and one past the last, within lo..hi;
// FALSE: absent, or nothing but zeros.
gboolean litho_trace_span(const LithoCube *cube, gint64 i, gint64 j, gint64 lo, gint64 hi,
                          gint64 *from, gint64 *to);

// Mean of the squared power over frequencies and wavenumbers: tr(C C) / N of the noise.
double litho_noise_fourth(const LithoNoise *noise);
// White noise of standard deviation `sigma`, known as well as `low` and `high` say.
LithoNoise litho_noise_white(double sigma, double low, double high);
