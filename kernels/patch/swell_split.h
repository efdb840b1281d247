// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <complex.h> // before FFTW, whose coefficients are these then
#include <fftw3.h>

#include "kernels/patch/geometry.h"

// Internal to swell.c and swell_find.c: one frequency of one time in a window of traces.

typedef struct PatchSplit {
    LithoPatchAxis axis[2];
    int traces; // of a window
    float *taper;
    fftwf_plan forward, inverse; // shared by threads
} PatchSplit;

// A thread's room for a window, [trace] each.
typedef struct PatchSplitRoom {
    float complex *x; // in: values; out: what is beside the events, times the taper
    float complex *event, *sum;
    float *weight, *power, *sorted;
} PatchSplitRoom;

// FALSE: no memory; patch_split_end() in any case.
bool patch_split_begin(PatchSplit *split, const LithoPatchAxis axis[2]);
void patch_split_end(PatchSplit *split);
bool patch_split_room(const PatchSplit *split, PatchSplitRoom *room);
void patch_split_room_end(PatchSplitRoom *room);
// Splits the values of a window; a trace of 0 is none. FALSE: there are too few.
bool patch_split(const PatchSplit *split, PatchSplitRoom *room);

// sin^2 tapers times cosines and sines of frequency `bin`, and the taper alone: [sample] each, so
// that the sum of squares of the taper is 1.
void patch_swell_wave(int length, int bin, float complex *wave, float *taper);
// Cosines and sines of all frequencies behind the taper, [sample][frequency][2], side by side, so
// that a sample is read once; g_free(). The sums over x[length]: [frequency][2]; what is not finite
// counts as 0.
float *patch_swell_waves(int length);
void patch_swell_transform(const float *x, int length, const float *waves, float *sum);
// Frequency k of those that are asked, the lowest ones first.
int patch_swell_bin(int k);
// The median power of noise at frequency k of those over its mean.
float patch_swell_median(int k);
// Sureness, 0 to 1, that a power beside the events is swell and not what the windows do not hold of
// events, whose power is `event`: where windows hold events they leave a tenth of these at most.
float patch_swell_is_no_event(float power, float event);

static inline float patch_split_power(float complex z)
{
    return crealf(z) * crealf(z) + cimagf(z) * cimagf(z);
}
