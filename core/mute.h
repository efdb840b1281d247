// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"

// Muted samples of a survey: exact zeros, LITHO_MUTE_RUN and more of them one after the other in a
// live trace, zeros beyond both ends of the trace counted. A trace without a finite sample other than
// zero is missing, not muted. A filter's windows spread into mutes; an operator with `keeps_mute`
// leaves them zero. Samples that are merely small, as behind the tail of a filter, are data: a level
// below which a sample counts as nothing could be found from a whole survey only. LITHO_MUTE_RUN - 1
// samples on either side tell of a sample whether it is muted, so that it does not matter how much of
// the survey is held.

enum { LITHO_MUTE_RUN = 16 };

// `region` and LITHO_MUTE_RUN - 1 samples before and behind it, clipped to the grid: what must be
// held to know which of its samples are muted.
LithoBox litho_mute_box(const LithoGrid *grid, LithoBox region);

// Writes zeros to the samples of `region` in `out` that are muted in `in`; both cubes have one
// grid and host samples, `in` holds litho_mute_box() of `region`. Any thread.
void litho_mute_keep(const LithoCube *in, LithoCube *out, LithoBox region, int threads);
// Writes zeros to `to` where the n samples of a piece of a trace, `from`, are muted: in runs of
// LITHO_MUTE_RUN zeros, and in zeros at its ends.
void litho_mute_trace(const float *from, gint64 n, float *to);
