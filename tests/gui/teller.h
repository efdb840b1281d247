// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"

// An operator that tells: the input times a gain, and beside it everything a report can hold: shapes in
// both spaces, curves in a group, on log axes, as bars with a mark. With `wait_ms` the pass takes that
// long after the telling, as a migration does after its design.
extern const LithoOperator gui_teller;

enum { GUI_TELLER_CURVES = 6, GUI_TELLER_BOXES = 8 * 8 * 8 };
