// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "ui/window/window.h"

// One parameter over up to 25 values, or two over 5 x 5, side by side on the slice in front:
// output, removed part or similarity in the same colours, expected SNR, leakage and time under
// each; a click adopts the values.
void litho_sweep_open(LithoWindow *window);

// `n` values over the slider's range of `row`, in ratios for log rows, whole for ints (then fewer
// when the range holds fewer). Returns how many. For tests.
guint litho_sweep_values(const LithoParam *row, guint n, double *values);
