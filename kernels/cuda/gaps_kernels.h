// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <driver_types.h>

#include "kernels/common/gaps_ladder.h"

// Launchers of guesses for missing samples (kernels/common/gaps_plan.h). Each gives
// (int)cudaGetLastError(). All pointers are device pointers.

#ifdef __cplusplus
extern "C" {
#endif

enum { LITHO_GAPS_CUDA_WINDOW = 16 };

typedef struct LithoGapsTask {
    float *x;                  // samples of the held box
    long long lo[3], n[3];     // of that box
    const unsigned char *live; // per trace, before guesses are put in
    const unsigned char *bad;  // [trace][piece]: samples that are missing, too; NULL = none
    long long first, pieces;   // of the survey's pieces
    int length;                // of a piece
    int alone;                 // missing traces stay as they are
    const float *scale;        // per trace: 1 / the sum of its windows' weights
    const long long *columns;  // first inline and crossline of each, 1 where gaps are regular
    int line[3];               // an axis of one trace
    long long first_pair, pairs;
    float taper[3][LITHO_GAPS_CUDA_WINDOW];
    LithoGapsLadder ladders[LITHO_GAPS_LADDERS];
    float flat, noise;
} LithoGapsTask;

// x = in, zeros where samples are missing.
int litho_gaps_clear(const LithoGapsTask *task, const float *in, cudaStream_t stream);
// Adds the guesses of columns [from, to), which share no trace, for pairs of one parity, which
// share no sample.
int litho_gaps_columns(const LithoGapsTask *task, long long from, long long to, int parity,
                       cudaStream_t stream);
// Missing samples times the traces' scale.
int litho_gaps_normalise(const LithoGapsTask *task, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
