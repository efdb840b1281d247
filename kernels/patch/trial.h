// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <fftw3.h>

#include "core/cube.h"
#include "kernels/patch/patch.h"

// The squared error that a window, a rule and a threshold leave, estimated without the truth
// (Stein, 1981, Annals of Statistics 9, 1135-1151): the energy that the filter removes of a piece,
// less the noise, plus twice the noise that the kept part has in common with the input. That is the
// noise of the coefficients kept and, as noise decides which are, their own part in the decision
// times the density of coefficients at the threshold. Windows overlap twice instead of four times.
// Functions of different pieces and of different sizes may run beside each other.

// Windows of a size in a survey.
typedef struct PatchTrialSize {
    LithoPatchGeometry g;
    int length; // along the lines
    float *taper[3];
    double energy;               // of the tapers
    fftwf_plan forward, inverse; // shared by the threads
} PatchTrialSize;

typedef struct PatchTrialPiece {
    const LithoCube *column; // borrowed; holds the samples of all windows that reach the piece
    LithoBox box;
    float *noise; // power at `bins` frequencies; patch_trial_level() makes it, the owner frees it
    int bins;
    double power;    // of all frequencies, mean of a sample
    double known;    // power that the filter takes for that: thresholds go by it; 0 = `power`
    gboolean varies; // some of its windows hold louder noise than most
    gboolean tells;  // FALSE: muted, or its noise does not come to all wavenumbers alike
} PatchTrialPiece;

typedef struct PatchTrial {
    int rule; // LITHO_PATCH_SINGLE or LITHO_PATCH_ENERGY
    double threshold;
} PatchTrial;

// Windows of `along` traces and `samples` of a survey of few lines; `cubes`: with tapers that tell
// the level. FALSE: no memory. The size is to be ended in any case. One thread at a time.
gboolean patch_trial_size_begin(PatchTrialSize *size, const LithoGrid *grid, int along, int samples,
                                gboolean cubes);
void patch_trial_size_end(PatchTrialSize *size);
// The noise of a piece: at a frequency the quieter 15 % of the coefficients tell it. FALSE: no
// memory.
gboolean patch_trial_level(PatchTrialPiece *piece, const PatchTrialSize *cubes);
// Errors of n trials in windows of one size, in units of the piece's noise. FALSE: no memory.
gboolean patch_trial_errors(const PatchTrialSize *size, const PatchTrialPiece *piece,
                            const PatchTrial *trials, int n, double *error);
