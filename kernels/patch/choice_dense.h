// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/cube.h"

// The ratio by which samples of a survey are closer together than its frequencies need.
//
// Windows of 16 samples follow events where the survey's frequencies fill its sampling. At 2 or 1
// ms most stacks end at half or a quarter of Nyquist, noise as well as events, and 16 samples hold
// half or a quarter of the time. Such windows have as many more samples along time. Pieces of 64
// samples behind a Blackman-Harris taper (Harris, 1978, Proceedings of the IEEE 66, 51-83), whose
// side lobes are 92 dB down, tell the power above a part of Nyquist; it must be less than LEAST of
// what the noise has below.
//
// A factor leaves samples of 4.4 ms at most: 16 of them hold 70 ms. Surveys in depth, and of
// samples further apart, are not asked.

// The largest factor that may be found for a grid: 1, 2 or 4; 1 = nobody asks.
int patch_dense_most(const LithoGrid *grid);

enum { PATCH_DENSE_SAMPLES = 64, PATCH_DENSE_BINS = PATCH_DENSE_SAMPLES / 2 + 1 };

// Powers of the pieces seen so far. Zero before the first; one thread.
typedef struct PatchDense {
    double power[PATCH_DENSE_BINS]; // sums of |F|^2 over the energy of the taper
    gint64 pieces;
} PatchDense;

// Adds traces of a column of whole traces. FALSE: no memory.
gboolean patch_dense_add(PatchDense *d, const LithoCube *column);
// The factor, up to `most`: noise[n] is the power of the noise of a sample by frequency, from 0 to
// Nyquist.
int patch_dense_find(const PatchDense *d, int most, const double *noise, int n);
