// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Resampling of one axis between the image's cells and wider ones, as rows of weighted inputs:
// output o is the sum of weight[o][k] input[first[o] + k], k < count[o]. Wide cell o lies at
// `ratio` o of the image's: the first is shared, the last reaches the image's end or lies beyond
// it. An axis of one cell stays as it is.
typedef struct LithoTaps {
    int n_out, n_in, width;
    int *first, *count; // [n_out]
    float *weight;      // [n_out][width]
} LithoTaps;

// Wide cells that `n` take.
int litho_taps_wide(int n, double ratio);
// To wide cells, behind a low-pass at half their sampling rate; inputs beyond the ends are 0.
LithoTaps litho_taps_decimation(int n_fine, int n_wide, double ratio);
// From wide cells: the twelve nearest samples with the weights that are best for wavenumbers up to
// 0.8 of what the wide cells can hold: 1 % off up to 0.75, 3 % at 0.8; up to 9 % in the first cells
// at an end, where the samples lie on one side.
LithoTaps litho_taps_interpolation(int n_wide, int n_fine, double ratio);
// Means: row o covers `ratio` inputs from `start` + `ratio` o on, input j covering j to j + 1;
// beyond the ends the last input goes on.
LithoTaps litho_taps_mean(int n_fine, int n_wide, double start, double ratio);
LithoTaps litho_taps_transposed(const LithoTaps *taps);
void litho_taps_clear(LithoTaps *taps);

static inline float *litho_taps_row(const LithoTaps *taps, int o)
{
    return taps->weight + (gsize)o * taps->width;
}

// The array seen as [outer][n_in][inner] to [outer][n_out][inner]; may not overlap.
void litho_taps_apply(const LithoTaps *taps, gsize outer, gsize inner, const float *in, float *out,
                      int threads);
