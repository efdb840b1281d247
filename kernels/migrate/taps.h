// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Resampling of one axis by a factor of two, as rows of weighted inputs: output o is the sum of
// weight[o][k] input[first[o] + k], k < count[o]. Both directions and both adjoints are one loop on
// this.
enum { LITHO_TAPS = 16 };

typedef struct LithoTaps {
    int n_out, n_in;
    int *first, *count;          // [n_out]
    float (*weight)[LITHO_TAPS]; // [n_out]
} LithoTaps;

// Every second cell behind a half-band low-pass.
LithoTaps litho_taps_decimation(int n_fine, int n_coarse);
// Eight points around every half cell.
LithoTaps litho_taps_interpolation(int n_coarse, int n_fine);
LithoTaps litho_taps_transposed(const LithoTaps *taps);
void litho_taps_clear(LithoTaps *taps);
