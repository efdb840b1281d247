// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/grid.h"

// Depth (m) against two-way time (s), the curve with the role LITHO_CURVE_DEPTH_TIME of an
// operator's report: samples of a time axis and of a depth axis at one place of the earth. Main
// thread only.
typedef struct LithoDepthTime LithoDepthTime;

LithoDepthTime *litho_depth_time_new(void);        // no curve yet
void litho_depth_time_free(LithoDepthTime *curve); // NULL is fine
// Takes the last curve of that role among `curves` (of LithoCurve; NULL = none), or has none.
void litho_depth_time_take(LithoDepthTime *curve, const GArray *curves);
// Sample index on one grid -> index on the other at the same depth; straight on beyond the ends of
// the curve. Without a curve a time and a depth axis lie upon each other from end to end.
double litho_depth_time_convert(const LithoDepthTime *curve, const LithoGrid *from,
                                const LithoGrid *to, double index);
