// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"
#include "core/run.h"

// Numbers about cubes. Sums in double, dead traces and non-finite samples left out.

typedef struct LithoStats {
    gint64 count, bad; // finite samples of live traces, non-finite samples
    double min, max, mean, rms;
    double p50, p90, p95, p99; // percentiles of |sample|, exact
} LithoStats;

// Statistics of what the cube holds, all zero where no trace lives. Any thread; FALSE: stopped, or
// samples that lie on a device did not come to the host.
gboolean litho_qc_stats(const LithoCube *cube, LithoRun *run, LithoStats *stats, GError **error);
// Exact percentile (0..100) of |sample| over the live traces; 0 for an empty or zero cube.
// Histogram by float bits in two passes: memory does not grow with the cube.
double litho_qc_percentile(const LithoCube *cube, double percent);
// TRUE where no sample is negative, and not all are alike: velocities, energies. Zero is nothing
// special there, and no middle of anything.
gboolean litho_stats_is_unsigned(const LithoStats *stats);

// Amplitudes worth the ends of a colour map.
typedef struct LithoRange {
    double lo, hi; // lo < hi; lo = -hi unless
    gboolean
        is_unsigned;  // from percentile 100 - p to p; else plus and minus percentile p of |sample|
    const char *unit; // "m/s", "km/s", "ft/s" or "kft/s" where the cube's name says velocity and
                      // its values are such; else NULL. Static
    double percent;   // p
} LithoRange;

// `percent`: p, 50 to 100. `stats`: the cube's. LITHO_CLIP_AUTO: 99; of signed samples that are
// quiet but for less than a tenth, as those of modelled records, 99 % of the loud ones.
#define LITHO_CLIP_AUTO 0
LithoRange litho_qc_range(const LithoCube *cube, const LithoStats *stats, double percent);

typedef struct LithoDifference {
    double snr_db; // 10 log10(sum ref^2 / sum (ref-x)^2); +inf when equal
    double relative_l2, max_abs;
    double correlation; // normalised, at zero lag
    double scale;       // <x, ref> / <ref, ref>; 1 = no signal loss
    gint64 count;       // samples compared
    gint64 left_out;    // traces that one of the cubes has not, without a mask
} LithoDifference;

// `mask`: compare only where this cube's traces are live (NULL = where both are live). Shapes must
// agree: LITHO_ERROR_GEOMETRY otherwise.
gboolean litho_qc_compare(const LithoCube *x, const LithoCube *reference, const LithoCube *mask,
                          LithoDifference *difference, GError **error);
// Histogram of samples between lo and hi. Samples on a device alone are counted there, where the
// device can.
void litho_qc_histogram(const LithoCube *cube, double lo, double hi, guint bins, double *counts);

// --- spectrum -----------------------------------------------------------------------------------
//
// core/ has no FFT of its own: the functions below ask the methods of core/qc_methods.h, and give
// LITHO_ERROR_UNSUPPORTED where the program has none.

typedef struct LithoSpectrum {
    guint n;           // frequencies 0, df, 2 df, ...
    double df;         // Hz for time, 1/m for depth
    double *amplitude; // n of them, in sample units; free with litho_spectrum_clear()
    gint64 traces;     // live traces averaged
} LithoSpectrum;

// RMS amplitude spectrum along the sample axis over the live traces of `box` (NULL = all held), of
// at most `max_traces` spread evenly (0 = all). Traces are tapered with a Hann window; a sine of
// amplitude A gives A at its frequency.
gboolean litho_qc_spectrum(const LithoCube *cube, const LithoBox *box, gint64 max_traces,
                           LithoRun *run, LithoSpectrum *spectrum, GError **error);
void litho_spectrum_clear(LithoSpectrum *spectrum);

// --- frequency and wavenumber -------------------------------------------------------------------

typedef struct LithoFk {
    guint n_k, n_f;   // wavenumbers (k - n_k / 2) / n_k cycles per trace, frequencies f / (2 (n_f -
                      // 1)) cycles per sample
    float *amplitude; // n_k rows of n_f: a plane wave of amplitude A gives A; positive wavenumbers
                      // come later to the right
    double *spectrum; // n_f: RMS amplitude spectrum over the live traces, a sine of A gives A
    guint traces;     // live ones
    guint n_x;        // all of them
    float *by_trace;  // n_x rows of n_f: amplitude spectrum of each trace, 0 of missing ones
} LithoFk;

// f-k spectrum of a piece of a section: `traces` rows of `samples` each, Hann windows both ways; a
// row with a sample that is not finite counts as missing. At least 2 traces of 4 samples. Any
// thread.
gboolean litho_qc_fk(const float *section, guint traces, guint samples, LithoFk *fk,
                     GError **error);
void litho_fk_clear(LithoFk *fk);
