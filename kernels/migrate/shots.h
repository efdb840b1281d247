// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/migrate/job.h"

// Shots of the input: the traces of each, and the places of source and receivers on the image's
// cells.
typedef struct LithoShot {
    double x, y; // source, in cells of the image from its first trace
} LithoShot;

// Origin of shots that trace headers tell.
typedef struct LithoShotsSource {
    LithoSurvey *survey; // a reference; NULL: the shots are not of headers
    guint8 *live;        // of the input's traces; owned
    gint64 traces;
    double origin[2], cell[2]; // of the image, m
    gint64 cells[2];
} LithoShotsSource;

typedef struct LithoShots {
    guint n;
    LithoShot *shot;
    // Traces of shot k: places first[k] .. first[k + 1] - 1 of the other arrays, in the input's
    // order. A trace has the index i * n_crossline + j and its receiver lies in a cell of the
    // image. NULL for a single record whose traces are the image's cells.
    gint64 *first, *trace;
    int *row, *column;
    guint outside; // traces whose receiver lies off the image
    LithoShotsSource source;
} LithoShots;

// The traces of one shot.
typedef struct LithoShotTraces {
    gint64 n;
    const gint64 *trace;
    const int *row, *column;
} LithoShotTraces;

// Shots from parameters (record, line) or trace headers (bytes 69-88 of SEG-Y). NULL with a
// sentence, or cancelled.
LithoShots *litho_shots_new(const LithoMigrateJob *job, const LithoCube *in, LithoRun *run,
                            GError **error);
void litho_shots_free(LithoShots *shots); // NULL is fine
// TRUE when the headers of this input on this image gave these shots: they need not be read again.
gboolean litho_shots_serve(const LithoShots *shots, const LithoMigrateJob *job,
                           const LithoCube *in);
// Borrows from `shots`, which has lists.
LithoShotTraces litho_shots_traces(const LithoShots *shots, guint shot);

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
