// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/synth/synth.h"

// Functions that generators of cubes share. All are pure; everything random is a hash of (seed,
// stream, index), so that samples do not depend on threads, order or machine.

// Uniform in [0, 1), and standard normal.
double litho_hash_uniform(guint64 seed, guint64 stream, guint64 index);
double litho_hash_normal(guint64 seed, guint64 stream, guint64 index);

// Ricker wavelet of peak frequency `f` (Hz) at `t` (s) from its centre: (1 - 2a) exp(-a),
// a = (pi f t)^2.
double litho_ricker(double t, double f);
// Adds `amplitude` * ricker(t - t0) to a trace of `n` samples at `dt`; wavelets reaching over an
// end are cut.
void litho_add_ricker(float *trace, gint64 n, double dt, double t0, double f, double amplitude);

// Spectrum of noise.
typedef enum {
    LITHO_NOISE_WHITE = 0,
    LITHO_NOISE_LOW,   // amplitude 1 / (1 + (f / 15 Hz)^2): swell, ground roll's remains
    LITHO_NOISE_BAND,  // amplitude exp(-((f - 30 Hz) / 18 Hz)^2 / 2): in the band of the signal
    LITHO_NOISE_MIXED, // white along time, neighbouring traces mixed 1 2 1 along inlines and
                       // crosslines: it keeps to low wavenumbers, as in migrated data
} LithoNoiseColour;

// Noise and gaps on top of a clean cube, in a new cube: white Gaussian noise scaled to `snr_db`
// over the whole cube (10 log10 of energies; above 200 = none), then a fraction of traces taken
// away (masked and zero). `density` of missing traces is in percent.
LithoCube *litho_synth_spoil(const LithoCube *clean, double snr_db, double missing_percent,
                             guint64 seed, LithoRun *run, GError **error);

// litho_synth_spoil() with noise of a spectrum; white noise gives the function above.
LithoCube *litho_synth_spoil_with(const LithoCube *clean, LithoNoiseColour colour, double snr_db,
                                  double missing_percent, guint64 seed, LithoRun *run,
                                  GError **error);

// Marks axes and bins of a grid as generated: they are no assumptions, which no file would keep.
void litho_synth_state(LithoGrid *grid);

// Hands the parts to a caller of LithoSynth.make(): takes over the cubes, drops what is not wanted.
void litho_synth_hand_over(LithoCube *made, LithoCube **to);

extern const LithoSynth litho_synth_survey, litho_synth_mix, litho_synth_planes, litho_synth_curved,
    litho_synth_conflict, litho_synth_fault, litho_synth_models;
