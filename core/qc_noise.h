// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"
#include "core/run.h"

// The random noise of a cube: its level by frequency, direction and place, and samples that are not
// to count as noise. Measured by the methods of core/qc_methods.h: LITHO_ERROR_UNSUPPORTED where
// the program has no Fourier transform.

enum { LITHO_NOISE_TIMES = 64, LITHO_NOISE_NAMED = 3 };

// Noise that varies from place to place: the logarithm of its deviation in units of
// LithoNoise.sigma, [inline][crossline][sample] at knots along the axes, straight lines between
// them and one step beyond. NULL = alike.
typedef struct LithoNoiseMap {
    int n[3];
    float *at; // knots along the axes, one axis behind the other: samples of the grid
    float *level;
    int bands; // equal ones from 0 to Nyquist, with levels [band] of their own; 0 = all alike
} LithoNoiseMap;

// Standard deviation of the random noise, per frequency.
typedef struct LithoNoise {
    guint n;       // frequencies 0, df, 2 df, ... up to Nyquist
    double df;     // Hz for time, 1/m for depth
    double *sigma; // n: white noise of standard deviation s gives s at every frequency; free with
                   // litho_noise_clear()
    float *used;   // n: share of the coefficients that tell `sigma`; NULL = not told, as where
                   // windows are not alike
    double total;  // standard deviation of a sample: the noise of all frequencies
    double low, high; // of `total`: 95 % by its scatter over the cube
    double scatter;   // what of that comes from groups of windows that differ
    // Level along the traces in units of `total`, at samples first_time + k time_step of the grid;
    // straight lines lead through them and one step beyond either end. n_times = 0: alike.
    guint n_times;
    double first_time, time_step;
    float at_time[LITHO_NOISE_TIMES];
    // Power of the quiet local Fourier coefficients: mean square over twice the squared mean. 1 in
    // noise as it is recorded, which comes to all wavenumbers alike; a filter leaves holes there.
    double lumps; // 0 = not told
    double
        gains; // scatter of single traces' gains, where it clearly is there; 0 = none, or not told
    double
        noisy; // scatter of single traces' noise, where gains do not scatter; 0 = none, or not told
    double offset; // mean of the samples over what they stray from it (rms)
    // Noise of migrated or mixed data does not come to all wavenumbers alike: its power at
    // [frequency] [inline wavenumber][crossline wavenumber] of windows of so many traces, in units
    // of the frequency's mean. NULL = alike.
    int window[2];
    float *shape;
    // Middles of windows: places at first + k step of the grid; n_places 0 = a level that is
    // stated. Noise that varies from place to place: power there,
    // [frequency][inline][crossline][sample], in units of the frequency's mean and of the place's
    // loudness, which `map` has. NULL = alike, but for at_time.
    int n_places[3];
    double first_place[3], place_step[3];
    float *local;
    // Beside `local` the loudness in cells finer than windows. Else maps of a filter's own level:
    // one that all frequencies have in common, and those of bands of them beyond it.
    LithoNoiseMap map, bands;
    // Figures that `local` comes with: energy in lines of the spectrum, a part of the noise's; the
    // strongest line (Hz, 1/m); rank correlation of the noise with the events behind gain control,
    // 0 = there is none; variation of the power from window to window in the band that varies
    // least.
    double lines, line_at, levelled, varies;
    double windows, fewest; // that do not overlap, and as many as tell a level; 0 = not counted
    double doubt;  // standard deviation of `total` by what nothing tells, relative; 0 = none known,
                   // 1 = of so few windows it says nothing
    double events; // of the doubt of `local`: by events that leak into all wavenumbers
    double ends;   // energy of the noise over that in these windows, which see less of the ends
    // Coherent noise of low frequency, as ground roll is: its energy as a part of that of all
    // events (0 = none that counts), and what it is: steeper than so many samples a trace, and of
    // frequencies below (Hz, 1/m).
    double steep, steep_slope, steep_below;
    double steady; // rms of the steady noise that was taken off before (core/qc_steady.h); 0 = none
    double swell;  // standard deviation of the swell where windows do not tell it
                   // (litho_qc_swell()); 0 = none, or not asked for
    double shifts; // rms of single traces' shifts in time, samples, where they clearly are there
                   // and cost a filter more than 20 dB leave; 0 = none, or not told
    guint reversed; // single traces whose polarity is against that of their neighbours
    double reversed_at[LITHO_NOISE_NAMED][2]; // numbers along both axes of the first of them
} LithoNoise;

// Data with more lumps look filtered: noise is left where their events are, and none beside.
#define LITHO_NOISE_LUMPS 1.4
// Lines that hold more of the noise's energy make its level `local`.
#define LITHO_NOISE_LINES 0.1

// From local Fourier windows of 16 x 16 traces x 16 samples (shorter where `box` is) spread over
// `box` (NULL = all held): median of |F|^2 over windows and wavenumbers (kernels/common/noise.h has
// the derivation). Dead traces are left out. The same numbers for any number of threads.
// LITHO_ERROR_GEOMETRY when there is nothing live to measure; `noise` needs no clearing then.
gboolean litho_qc_noise(const LithoCube *cube, const LithoBox *box, LithoRun *run,
                        LithoNoise *noise, GError **error);
// From at most `most` windows of these sizes (inlines, crosslines, samples). Where single traces of
// a host cube burst, guesses are measured (litho_qc_bursts()).
gboolean litho_qc_noise_windows(const LithoCube *cube, const LithoBox *box, const int window[3],
                                int most, LithoRun *run, LithoNoise *noise, GError **error);
void litho_noise_clear(LithoNoise *noise);
void litho_noise_map_clear(LithoNoiseMap *map);
LithoNoiseMap litho_noise_map_copy(const LithoNoiseMap *map);
LithoNoise litho_noise_copy(const LithoNoise *noise);
// The shape at a frequency of `xi` cycles per trace along inlines and crosslines and per sample, of
// any period and sign, between its values; 1 where there is none.
double litho_noise_shape(const LithoNoise *noise, const double xi[3]);
// Amplitudes [noise->n] around a sample of the grid, in units of `sigma`: between places and, as
// far as half of their steps, beyond them. 1 where noise->local is NULL.
void litho_noise_local(const LithoNoise *noise, const double at[3], double *amplitude);

// Windows of the filter behind litho_qc_colour(): half of them is the step from one to the next.
enum { LITHO_COLOUR_TRACES = 16, LITHO_COLOUR_SAMPLES = 64 };

// Noise of the spectrum, the shape and the local level of `noise` into `to`, from independent
// numbers of variance 1 that begin at sample `at` of the grid: both [n[0]][n[1]][n[2]], n = k + 1
// half windows of LITHO_COLOUR_TRACES (any number along an axis on which noise->window is 1) and
// LITHO_COLOUR_SAMPLES, k > 0. The first and the last half window hold less than the noise. FALSE:
// stopped, no memory, a program without a Fourier transform.
gboolean litho_qc_colour(const LithoNoise *noise, const gint64 at[3], const gint64 n[3],
                         const float *from, float *to, LithoRun *run, GError **error);

// Standard deviation of the swell in `box` of a host cube (NULL = in all of it): noise of low
// frequency that lasts and is clearly louder on some traces, or on all, than above its frequencies
// (kernels/patch/swell.h). 0 = none, or the program has no search.
gboolean litho_qc_swell(const LithoCube *cube, const LithoBox *box, LithoRun *run, double *level,
                        GError **error);

// Finds bursts and spikes on single traces of a host cube (kernels/common/erratic.h). *guesses: a
// copy of the held samples with guesses in their place; NULL = none were found, or the program has
// no search. The caller's.
gboolean litho_qc_bursts(const LithoCube *cube, LithoRun *run, LithoCube **guesses, GError **error);

// Puts guesses of what events go through missing traces into these, which become live
// (kernels/common/gaps.h): `cube` is the caller's own copy. Nothing happens where the program has
// none.
gboolean litho_qc_guess_gaps(LithoCube *cube, LithoRun *run, GError **error);
// `box`, one slice of `axis` wide, with guesses in place of its missing traces, for pictures that
// these would spread events over, such as f-k: a cube that holds it and up to `around` slices on
// either side. NULL: no trace is missing, there is nothing to guess from, or it was cancelled. The
// caller's. `cube` is a host cube that holds the box.
LithoCube *litho_qc_without_gaps(const LithoCube *cube, LithoBox box, int axis, int around,
                                 LithoRun *run);
