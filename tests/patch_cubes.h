// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"

// Cubes of known truth on which noise attenuation and interpolation are judged: unit energy per
// sample, Ricker wavelets of 20 to 28 Hz at 4 ms. The same samples on every machine.

typedef enum {
    PATCH_PLANES,   // plane events, dips up to 2.5 ms/trace
    PATCH_CURVED,   // hyperboloids and folded events
    PATCH_CONFLICT, // plane events that cross, dips up to 5 ms/trace
    PATCH_FAULT,    // 14 layers over a dome, thrown by 28 ms on a slanted plane
    PATCH_RANDOM,   // PATCH_PLANES with 30 % random trace amplitudes
    PATCH_KINDS,
} PatchKind;

typedef enum {
    PATCH_WHITE,
    PATCH_LOW,  // amplitude 1 / (1 + (f / 15 Hz)^2)
    PATCH_BAND, // amplitude a Gaussian around 30 Hz, 18 Hz wide
} PatchColour;

LithoCube *patch_cube(PatchKind kind, gint64 n_il, gint64 n_xl, gint64 n_t);
// PATCH_PLANES whose polarity changes across a line that is oblique to both axes.
LithoCube *patch_flipped(gint64 n_il, gint64 n_xl, gint64 n_t);
// Dense layers of one shape, which is folded and dips by up to 2 samples a trace, times `steep`;
// their amplitude varies slowly.
LithoCube *patch_folded(gint64 n_il, gint64 n_xl, gint64 n_t, double steep, guint32 seed);
// A line, turned by 90 degrees: its layers are upright.
LithoCube *patch_turned(const LithoCube *line);
// A cube of noise of standard deviation `sigma`.
LithoCube *patch_noise(PatchColour colour, gint64 n_il, gint64 n_xl, gint64 n_t, double sigma,
                       guint64 seed);
// Standard deviation per frequency of patch_noise(sigma = 1), in the sense of LithoNoise: white
// noise gives 1.
double patch_noise_level(PatchColour colour, double f, gint64 n_t);
// Mixes neighbouring traces of noise, 1 2 1 along inlines and crosslines, as migration does, and
// keeps its standard deviation: it comes to few wavenumbers then.
void patch_mix(LithoCube *noise);
// Adds swell to the traces that `has` it: noise of 0.3 to `top` Hz, independent from trace to
// trace, of standard deviation `sigma`.
void patch_add_swell(LithoCube *to, gboolean (*has)(gint64 il, gint64 xl), double top,
                     double sigma);
// Events, or noise, with samples `times` as close together: nothing above the part of
// Nyquist that the samples given have.
LithoCube *patch_resampled(const LithoCube *cube, int times);
// a + b in a new cube, with the live mask of a.
LithoCube *patch_sum(const LithoCube *a, const LithoCube *b);
// Takes `percent` of the traces away at random: zero and not live.
void patch_kill(LithoCube *cube, double percent, guint64 seed);
// Leaves one of so many inlines and crosslines: traces of the others are zero and not live.
void patch_decimate(LithoCube *cube, int inlines, int xlines);
// 10 lg of the energy of `truth` over that of x - truth; over the traces where `mask` is not live
// (NULL: all).
double patch_snr(const LithoCube *x, const LithoCube *truth, const LithoCube *mask);
