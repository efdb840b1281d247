// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"

// An operator that tells: the input times a gain, and beside it everything a report can hold:
// shapes in both spaces, curves in a group, on log axes, as bars with a mark. With `wait_ms` the
// pass takes that long after the telling, as a migration does after its design. Mode "depth" makes
// 210 depths of 5 m of the times, and tells the curve in "depth_time".
extern const LithoOperator gui_teller;
double gui_teller_time(double depth); // two-way time, s

enum { GUI_TELLER_CURVES = 6, GUI_TELLER_BOXES = 8 * 8 * 8 };
enum { GUI_TELLER_PATIENCE = 12 }; // turns that "as needed" stands for
