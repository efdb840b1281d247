// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"
#include "core/run.h"

// Noise of single traces, relative to that of most: the fold of a survey decreases towards its
// edges, and with it the noise grows within a few traces, where windows of 16 and more see their
// mean alone.
//
// A trace less the mean of its neighbours, on both sides along an axis or both, holds its noise and
// what events have left of curvature. Powers of that are taken in up to six pieces of 32 samples,
// spread over the trace, and eight bands of frequencies. Where the median over the traces is about
// as much as noise leaves of its own power, which is the same at all traces, noise is all that
// there is; these pieces and bands are taken, and of a trace the median of its powers over those of
// the survey.
//
// On folded, faulted layers of 0 to 30 dB the amplitude of a trace's noise is told with an error of
// 8 to 12 %, and in the mean of the traces at one distance from the edge of 3 %. Those at corners
// have no neighbours on both sides and are not known.
typedef struct NoiseTraces NoiseTraces;

// NULL: traces are too short or too few to tell, or with an error LITHO_ERROR_MEMORY.
NoiseTraces *noise_traces_new(const LithoGrid *grid, GError **error);
void noise_traces_free(NoiseTraces *traces);
// Takes the traces of `within`, which `part` holds, whose neighbours lie in it, too, and which were
// not taken before. `recorded`: one byte a trace of part->held, other live traces are guesses; NULL
// = all were. A part on a device stays there.
gboolean noise_traces_add(NoiseTraces *traces, const LithoCube *part, const guint8 *recorded,
                          LithoBox within, LithoRun *run, GError **error);
// Powers of the traces' noise, [trace of the survey], 1 for the middle one; 0 where it is not
// known. g_free(). NULL: too few traces, or nothing but events, or with an error
// LITHO_ERROR_MEMORY.
float *noise_traces_powers(const NoiseTraces *traces, int threads, GError **error);
// Bytes of all that stands here.
guint64 noise_traces_bytes(const LithoGrid *grid);
