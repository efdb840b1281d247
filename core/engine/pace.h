// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The processor's pace at this moment, beside whatever else runs: what a time measured under one
// load says under another.

// Seconds that litho_pace() takes. Of 20 runs whose load changed times were told within 25 % for 17
// with 0.2 s and for 10 with 0.05 s, in which the system's turns do not even out; for 11 without
// (two cores, 0 to 3 busy programs beside 10 of others, 2026-11-30).
#define LITHO_PACE_S 0.2

// Work that `threads` threads do in a second, in a unit of its own: figures of one machine compare.
// Any thread; blocks for LITHO_PACE_S.
double litho_pace(int threads);
