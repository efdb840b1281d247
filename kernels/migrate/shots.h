// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/migrate/job.h"

// Shots of the input: the traces of each, and the places of source and receivers on the image's
// cells.
typedef struct LithoShot {
    double x, y; // source, in cells of the image from its first trace
} LithoShot;

typedef struct LithoShots {
    guint n;
    LithoShot *shot;
    // Per trace of the input (index i * n_crossline + j): shot, and cell of the receiver; -1 =
    // none. NULL for a single record whose traces are the image's cells.
    int *of, *row, *column;
    guint outside; // traces whose receiver lies off the image
} LithoShots;

// From parameters (record, line) or trace headers (bytes 69-88 of SEG-Y). FALSE with a sentence.
LithoShots *litho_shots_new(const LithoMigrateJob *job, const LithoCube *in, GError **error);
void litho_shots_free(LithoShots *shots); // NULL is fine

// `cell` (row or column) for the traces of one shot, -1 for all others; NULL stays NULL. g_free().
int *litho_shots_cells_of(const LithoShots *shots, const int *cell, guint shot, gint64 traces);

// Spectrum of the source's wavelet at each of the job's frequencies: re, im pairs.
void litho_shots_wavelet(const LithoMigrateJob *job, float *spectrum);
// Spread of a source over a job's cells: weights x.weight[i] y.weight[j] of cells x.first + i,
// y.first
// + j. Between two cells of the image it is spread over them; on wider cells over what their
// low-pass makes of that, so that it is as strong and as sharp as a trace of the record in the same
// place.
enum { LITHO_SPREAD = 16 };
typedef struct LithoSourceSpread {
    int first, n;
    float weight[LITHO_SPREAD];
} LithoSourceSpread;
void litho_shot_spread(const LithoMigrateJob *job, const LithoShot *shot, LithoSourceSpread *x,
                       LithoSourceSpread *y);
