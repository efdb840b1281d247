// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/window/window.h"

// One parameter over several values, side by side on the slice in front: same colours, time and
// removed energy under each; a click adopts the value.
void litho_sweep_open(LithoWindow *window);

// `n` values over the slider's range of `row`, in ratios for log rows, whole for ints (then fewer
// when the range holds fewer). Returns how many. For tests.
guint litho_sweep_values(const LithoParam *row, guint n, double *values);
