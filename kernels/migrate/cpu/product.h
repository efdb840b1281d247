// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/migrate/job.h"
#include "kernels/migrate/cpu/step.h"

// The image of a shot at one depth: Re U conj(D), summed over frequencies, and |D|^2.
//
// Two waves whose wavenumbers reach k make a product that reaches 2 k: on a grid where each is well
// sampled, the product folds back above half their Nyquist and steep reflectors appear with the
// wrong dip. With params.antialias the waves are interpolated to a grid twice as fine, multiplied
// there, and what the image's own grid cannot hold is filtered out before every second sample is
// taken. Both filters are one half-sample interpolator of twelve taps and its transpose: waves up
// to 0.8 of Nyquist keep their amplitude within 1.1 %, what would fold to below 0.8 of Nyquist is
// down by 40 dB; between 0.8 and 1.2 it falls gradually.

// Planes one thread works in. NULL: no memory.
typedef struct LithoProduct LithoProduct;
LithoProduct *litho_product_new(const LithoWaves *waves);
void litho_product_free(LithoProduct *product); // NULL is fine

// sum += Re up down, light += |down|^2 over the cells under the image; `down` is conj(D). With
// `protect` as above, by 180 multiplications a cell more.
void litho_product_add(const LithoMigrateJob *job, const LithoWaves *waves, LithoProduct *product,
                       gboolean protect, float *up, float *down, float *sum, float *light);
