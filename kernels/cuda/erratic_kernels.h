// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <driver_types.h>

// Launchers of the search for bursts and spikes (kernels/common/erratic.h). Each gives
// (int)cudaGetLastError(). All pointers are device pointers.

#ifdef __cplusplus
extern "C" {
#endif

enum { LITHO_ERRATIC_CUDA_PIECE = 16, LITHO_ERRATIC_CUDA_TRACES = 2, LITHO_ERRATIC_CUDA_STEEP = 4 };

// Numbers that a search counts.
enum { LITHO_ERRATIC_CUDA_PIECES, LITHO_ERRATIC_CUDA_WITH, LITHO_ERRATIC_CUDA_COUNTS };

typedef struct LithoErraticTask {
    const float *in;           // samples of the held box
    long long n[3], t0;        // of that box: its sizes, its first sample
    const unsigned char *live; // per trace
    long long first, pieces;   // of the survey's pieces that the box touches
    float ratio;               // of energies
    int spare_events;          // pieces of events are not erratic
    int line;                  // the survey has one inline or one crossline
    float *energy;             // [trace][piece], of one measure, then of the other
    unsigned char *bad;        // [trace][piece]: not 0 where a piece is erratic
    int *counts;               // of erratic pieces, of traces with one; 0 before
} LithoErraticTask;

int litho_erratic_find(const LithoErraticTask *task, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
