// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <fftw3.h>

#include "core/qc.h"
#include "kernels/common/noise.h"

// Internal to the measurement of the noise level: noise.c makes the spectra of the windows,
// noise_level.c tells the level from them.

typedef struct LithoNoiseWindows NoiseJob;

struct LithoNoiseWindows {
    const LithoCube *cube; // the part under way
    LithoBox within;       // windows are taken from there
    double dt;             // samples are so far apart
    LithoBox box;
    int n[3];           // window
    int nf;             // frequencies
    gint64 count[3];    // places of windows per axis
    gboolean beyond[3]; // windows begin half a window before the box: every trace counts alike
    double *taper[3];   // per axis
    double energy;      // of the taper over a window's traces
    fftwf_plan plan;    // one window
    gint64 windows;     // taken
    float *power;  // [frequency][window][wavenumber], |F|^2 over the energy of the taper on live
                   // traces
    float *smooth; // of its size, for noise_quiet_levels(); NULL where neighbours tell nothing
    float *share;  // of that energy in the whole taper's, per window; 0 = the window is left out
    float *leak;   // share of the events' power that missing traces spread over all wavenumbers
    guint8 *taken; // per window
    const LithoRun *run; // asked between frequencies while noise_fill() works; borrowed
};

// Frequencies apart by NEAR share no noise behind the taper; those up to FAR tell where events are.
enum { NOISE_NEAR = 2, NOISE_FAR = 6 };
// Windows fall into so many groups, whose levels' scatter gives the interval.
enum { NOISE_GROUPS = 8 };

static inline gint64 noise_wavenumbers(const NoiseJob *job)
{
    return (gint64)job->n[0] * job->n[1];
}

// TRUE where windows are long enough for neighbouring frequencies to tell where events are: 32
// samples and more.
static inline gboolean noise_has_neighbours(const NoiseJob *job)
{
    return job->n[2] >= 32;
}

// The window's place along `axis`.
gint64 noise_place_of(const NoiseJob *job, gint64 number, int axis);
// Start of the k-th place: spread over the axis from end to end, or half a window apart from half a
// window before it.
gint64 noise_start_of(const NoiseJob *job, int axis, gint64 k);
gboolean noise_has_windows(const NoiseJob *job);
// Level, total and, when it is asked for, interval of the spectra. `noise` is cleared by the caller;
// after job->run was told to stop it holds nothing of use.
void noise_fill(const NoiseJob *job, int threads, gboolean interval, LithoNoise *noise);
// Windows fall into two halves along the first axis that holds several.
int noise_half_of(const NoiseJob *job, gint64 w);
// Standard deviations [1 + NOISE_GROUPS][frequency] of all windows and of the groups, last group
// first, from the quiet coefficients; `leaking` [frequency]: without regard to what missing traces
// spread. `noise` gets its level along the traces. Needs noise_has_neighbours().
void noise_quiet_levels(const NoiseJob *job, int threads, double *sigma, double *leaking,
                        LithoNoise *noise);
