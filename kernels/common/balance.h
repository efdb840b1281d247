// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"
#include "core/measured.h"
#include "core/run.h"

// Gains of single traces: factors that differ from trace to trace, as coupling, charges and
// receivers make them, and that spread every event over all wavenumbers of a window. A filter of
// local spectra takes that for noise, or keeps it with the noise; so it is shown the traces over
// their gains, and its result is multiplied by them again.
//
// A window of 16 x 16 traces x 16 samples keeps the coefficients above a part of its largest and
// above three times its noise: that much of the events is the same whatever the gains are. The gain
// of a trace is the slope of its samples on what is kept, in windows half a length apart along all
// axes: of the windows along a trace the median first, weighted by energy; then the mean, in which
// a window counts less the more its misfit exceeds the median, so that bursts count little. It is
// taken relative to the mean logarithm of the 9 x 9 traces around, and drawn to 1 by its own error:
// a slow change of amplitude is no gain.
//
// Missing traces of a window are filled with what it keeps, repeatedly: gaps spread events over all
// wavenumbers, and what is left of these differs from trace to trace as gains do. A trace that is
// muted (core/mute.h) in a part of the window is missing there.
//
// Few coefficients hold no steep or curved event, and what is left of it differs from trace to
// trace by itself; many hold what gains spread, too. So there are two passes: the second keeps more
// of traces over their gains by the first.
//
// Whether gains scatter is asked of the whole survey: in single columns of windows spread over it,
// the blocks, gains are taken from every second piece of time, and from the others. Noise and
// curvature differ between both, gains are the same. The taper and the threshold treat traces by
// their place in the window: what all blocks have in common at a place is taken away. So is the
// part of the scatter that traces side by side have in common, as at steep and curved layers. The
// common scatter of both halves, from medians, is 5 % at most where there is none, with strong
// noise, noise that differs from trace to trace and folded layers. Below LITHO_BALANCE_SCATTER, and
// below three times its own error, nothing is done. Where 16 blocks do not tell, 48 do.
//
// A trace whose slope is negative, by three standard deviations in half of its pieces and in the
// others, has reversed polarity: its gain is negative. Where blocks have such traces they are
// sought in the whole survey.
//
// Noise of single traces: where neither gains nor events explain what is left of a trace in half of
// its pieces and in the others, some traces have more noise than their neighbours. The noise level
// of a window is that of most, and noise of such a trace passes as events. A trace with more than
// LITHO_BALANCE_NOISY times the noise of most around keeps a share of what it has beside the guess
// of its neighbours (kernels/common/erratic.h). Windows in which nearly half of the traces are
// missing tell nothing of that, nor do traces that are muted in a quarter of the windows.
//
// Windows are anchored to the survey: a number depends on whole traces within
// LITHO_BALANCE_TRACES and on the survey's scatter, not on the box that is held, nor on threads.

enum { LITHO_BALANCE_TRACES = 2 * (15 + 4), LITHO_BALANCE_LINES = 32 };
#define LITHO_BALANCE_SCATTER 0.06
#define LITHO_BALANCE_NOISE 0.14
#define LITHO_BALANCE_NOISY 1.5f

// Scatter from trace to trace, standard deviations of logarithms: of the gains, and where they do
// not scatter, of the noise; 0 = none that counts, or a survey of fewer than LITHO_BALANCE_LINES
// along an axis, which tells nothing.
typedef struct LithoScatter {
    double gains, noise;
    gboolean reversed; // some traces have events of reversed polarity; `noise` is 0 then
} LithoScatter;

// Numbers of the traces of a survey; NULL: these do not scatter.
typedef struct LithoUneven {
    float *gain;  // 1 for missing traces, negative where the polarity is reversed
    float *share; // of what a trace has beside the guess of its neighbours; 1 for most traces
} LithoUneven;

// All 1, as far as there is scatter.
void litho_uneven_begin(LithoUneven *uneven, LithoScatter scatter, gint64 traces);
void litho_uneven_clear(LithoUneven *uneven);

// Reads 16 blocks of 16 x 16 traces, up to 48 where these do not tell. `part` (here and below):
// what there is of the survey; NULL = all.
gboolean litho_balance_scatter(const LithoReader *reader, const LithoBox *part, LithoRun *run,
                               LithoScatter *scatter, GError **error);
// The scatter of a cube in memory, which stands for the survey.
gboolean litho_balance_scatter_of(const LithoCube *cube, LithoRun *run, LithoScatter *scatter,
                                  GError **error);
// Numbers of the traces of `within` into those of the survey. `cube` holds whole traces and, as far
// as the survey has them, LITHO_BALANCE_TRACES more around `within`. LITHO_ERROR_MEMORY,
// LITHO_ERROR_CANCELLED.
gboolean litho_balance_find(const LithoCube *cube, const LithoBox *part, LithoBox within,
                            LithoScatter scatter, LithoUneven uneven, LithoRun *run,
                            GError **error);
// Numbers of a cube, which stands for the survey; litho_uneven_clear(). `blocks` reads from a cube
// whose samples are on a device; NULL: it has host samples.
gboolean litho_balance_measure(const LithoCube *cube, const LithoReader *blocks, LithoRun *run,
                               LithoUneven *uneven, GError **error);
// A new cube with the samples of `cube` over their gains.
LithoCube *litho_balance_divide(const LithoCube *cube, const float *gain, LithoRun *run,
                                GError **error);
// Multiplies the samples of `box`, which `cube` holds on the host, by the magnitudes of their
// gains.
void litho_balance_multiply_level(LithoCube *cube, LithoBox box, const float *gain, LithoRun *run);
// Samples of `box` times the gains of their traces.
void litho_balance_multiply(LithoCube *cube, LithoBox box, const float *gain, LithoRun *run);
