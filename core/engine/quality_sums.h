// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <math.h>

#include "core/cube.h"
#include "core/flow.h"
#include "core/qc_noise.h"
#include "core/run.h"

// Sums over the samples of an area that the figures of core/engine/quality.h are made of. Each is
// summed along a trace, over the traces of an inline and over the inlines, in this order whatever
// the number of threads.

// e of the estimate's divergence: small against the noise, large against the rounding of single
// precision.
#define LITHO_QUALITY_STEP 0.1

// One question, on the grid it is computed on. All borrowed.
typedef struct LithoQualityCase {
    const LithoFlow *flow;
    LithoCube *in, *out; // y and f(y); host samples
    LithoCube *guesses;  // of the input where it bursts; NULL = nowhere
    LithoBox area;       // of their grid
    const double *weight; // of the area's samples along the traces; NULL = alike
    gint64 shift[3];     // to the grid of the question
} LithoQualityCase;

typedef struct LithoQualitySums {
    gint64 n;               // finite samples of live traces within their span
    double energy, removed; // |y|^2 and |y - f(y)|^2 of all n
    // Where there is a probe. Samples of bursts count in `guessed` and `off` alone.
    gint64 n_bursts;
    double yy, rr, yr;   // |y|^2, |y - f(y)|^2, y . (y - f(y))
    double div, scatter; // b . (f(y + e b) - f(y)) / e and the variance of that sum
    double pass;         // |f(y + e b) - f(y)|^2 / e^2: noise that passes
    // Where there is LithoQualityCase.weight: |b|^2; of samples by it their sum, `rr`, `div`,
    // `pass` and `bb`; of 1 - weight the sum without signs, and of squares.
    double bb, seen, seen_rr, seen_div, seen_pass, seen_bb, unseen, unseen_squared;
    // Squares of fourth differences along the traces, which tell noise near Nyquist, of what is
    // removed of the input and of b: of all samples, and by weight. Their numbers.
    double rough, rough_probe, rough_n, seen_rough, seen_rough_probe, seen_rough_n;
    // Products of bursts: |guess|^2, |guess - f(y)|^2, guess . (guess - f(y)).
    double guessed, off, guess_off;
} LithoQualitySums;

typedef struct LithoQualityErrors {
    double ss, ee, nn; // truth, its misfit to output and to input
    double sf;         // truth times output
    guint traces;
} LithoQualityErrors;

// 10 lg of a ratio of energies; NAN where it is not above 0.
static inline double litho_quality_decibel(double ratio)
{
    return ratio > 0 ? 10 * log10(ratio) : NAN;
}

// Samples of a trace by their index in the grid; `cube` has host samples and holds the trace.
const float *litho_quality_row(const LithoCube *cube, gint64 i, gint64 j);

// `probe`: b, and `moved`: f(y + e b), over the area; both NULL = `n`, `energy` and `removed`
// alone. `run` lends threads; NULL = all. Never fails.
void litho_quality_sum(const LithoQualityCase *c, const LithoCube *probe, const LithoCube *moved,
                       const LithoRun *run, LithoQualitySums *sums);
// How much the windows that the level was measured in see of each sample along the area's traces,
// closest to 1: they end with the traces, and see less of their ends. g_free(). NULL: they are of
// another area, the level was stated, or, where it is alike everywhere, the input bursts or traces
// hold fewer than three windows.
double *litho_quality_weights(const LithoNoise *noise, const LithoQualityCase *c);
// A probe of local level has the noise's energy only nearly: windows lose some of lines, and at the
// ends of traces its level is guessed. Its products get that energy.
void litho_quality_scale_probe(const LithoNoise *noise, LithoQualitySums *sums);
// Against the truth on the grid of the question; it holds the area and has host samples. Of the
// recorded traces, or of those that were `filled`: missing in the input, live in the output.
void litho_quality_sum_errors(const LithoQualityCase *c, const LithoCube *reference,
                              gboolean filled, LithoQualityErrors *errors);
