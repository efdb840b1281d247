// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/qc_noise.h"

// Level of random noise per frequency, from local Fourier windows.
//
// A window's coefficients F(k_il, k_xl, f) hold the events in few wavenumbers and random noise in
// all. Where n is the noise and w the taper, |F|^2 of noise is distributed exponentially about
// sigma(f)^2 sum w^2, whose median is ln 2 times its mean: the median over windows and wavenumbers
// gives sigma(f) without a model of the events (Donoho & Johnstone 1994 use the median likewise for
// wavelets, doi:10.1093/biomet/81.3.425). Two steps make it exact.
//
// Windows of 32 samples and more: events are local, so that the power of a coefficient's
// neighbourhood at other frequencies, whose noise is independent, and the loud wavenumbers of its
// own frequency, which the taper spreads, tell whether there is one. The level is the mean over the
// coefficients without, 40 % and as many more as hold no more power: all at a frequency without
// events, where windows that events of other frequencies make seem loud would fill the quiet 40 %.
// Windows reach beyond the faces by half, which lets every trace count alike. On events of the
// noise's energy it is within 0.1 % rms of the energy of this noise. Missing traces spread events
// over all wavenumbers: guesses stand in for them (gaps.h), which hold the events without noise;
// where there is none the share that is spread is taken off.
//
// Shorter windows have too few frequencies for that: only the half of the wavenumbers counts that
// is quiet in the other half of the windows, and the mean of what lies below three times the noise
// takes the place of the median: 0.4 %.
//
// Windows are picked from a fixed pattern and medians are exact, so that the numbers depend neither
// on threads nor on the machine.

// Levels for at most `most` windows of `window` inlines, crosslines and samples, each cut to `box`
// (NULL = all held), tapered with the square root of a Hann window: bins f = 0 .. window[2] / 2 of
// the result. Traces that are not live, that are zero throughout the window or hold a sample that
// is not finite are left out; a window needs a quarter of its traces. LITHO_ERROR_GEOMETRY when no
// window has. Where results are judged a window needs half of them, and so must most windows.
//
// A cube that does not fit into memory is shown part by part: the windows are picked from the whole
// `box`, and each is taken from the first part that holds it; the numbers are those of the whole.
typedef struct LithoNoiseWindows LithoNoiseWindows;

// NULL: LITHO_ERROR_GEOMETRY, LITHO_ERROR_MEMORY. Memory: `most` windows of power, 19 MB for 2048
// of 16 x 16 x 16.
LithoNoiseWindows *litho_noise_windows_new(const LithoGrid *grid, const LithoBox *box,
                                           const int window[3], int most, GError **error);
// Takes the windows that lie in `within` (held by `part`, host samples) and have not been taken
// yet. `recorded`: one byte a trace of part->held, 1 where its samples were recorded; live traces
// that are not hold guesses. NULL: all live traces were recorded.
gboolean litho_noise_windows_add(LithoNoiseWindows *windows, const LithoCube *part,
                                 const guint8 *recorded, LithoBox within, LithoRun *run,
                                 GError **error);
// The noise of the windows taken so far.
gboolean litho_noise_windows_finish(LithoNoiseWindows *windows, LithoRun *run, LithoNoise *noise,
                                    GError **error);
// TRUE where the noise comes to all wavenumbers, as few windows tell: no more need be asked. FALSE:
// it does not, or they do not tell.
gboolean litho_noise_windows_fill(LithoNoiseWindows *windows, LithoRun *run);
// The level with its shape, where this is clearly one of noise; else noise->shape is NULL, and the
// other figures say nothing. No interval.
gboolean litho_noise_windows_shape(LithoNoiseWindows *windows, LithoRun *run, LithoNoise *noise,
                                   GError **error);
void litho_noise_windows_free(LithoNoiseWindows *windows); // NULL is fine
// Bytes of the windows, for what an operator tells before it runs.
guint64 litho_noise_windows_memory(const LithoGrid *grid, const int window[3], int most);
// Bytes of the windows that hold something before the level is asked for.
guint64 litho_noise_powers_memory(const LithoGrid *grid, const int window[3], int most);
// Bytes that each thread takes while the level is found.
guint64 litho_noise_thread_memory(const LithoGrid *grid, const int window[3], int most);

// The level of one cube. Guesses stand in for its missing traces: those that a filter takes, so
// that filters of both backends have one level.
gboolean litho_noise_measure(const LithoCube *cube, const LithoBox *box, const int window[3],
                             int most, LithoRun *run, LithoNoise *noise, GError **error);
// litho_qc_noise_windows(), set by litho_kernels_init(): the level as results are judged by, with
// its shape where lumps are more than LITHO_NOISE_LUMPS. Guesses hold next to no noise
// (litho_gaps_guess_events()): where a fifth of the traces is missing it is within 0.3 % (rms
// 0.16), with a filter's guesses 0.3 % low and up to 0.55.
gboolean litho_noise_measure_survey(const LithoCube *cube, const LithoBox *box, const int window[3],
                                    int most, LithoRun *run, LithoNoise *noise, GError **error);
// The level of a cube that has its guesses already, without the interval, which takes twice as long
// as the level: low and high say nothing. `recorded` as above. `floor` takes the power at each
// frequency and wavenumber (noise_floor() in noise_job.h); NULL = is not asked for.
gboolean litho_noise_measure_level(const LithoCube *cube, const guint8 *recorded,
                                   const LithoBox *box, const int window[3], int most,
                                   LithoRun *run, LithoNoise *noise, float *floor, GError **error);
// litho_qc_colour(), set by litho_kernels_init(): a filter in local Fourier windows, tapered twice.
gboolean litho_noise_colour(const LithoNoise *noise, const gint64 at[3], const gint64 n[3],
                            const float *from, float *to, LithoRun *run, GError **error);
