// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <driver_types.h>

// Launchers of the search for bursts and spikes (kernels/common/erratic.h). Each gives
// (int)cudaGetLastError(). All pointers are device pointers.

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LITHO_ERRATIC_CUDA_PIECE = 16,
    LITHO_ERRATIC_CUDA_NEAR = 2,
    LITHO_ERRATIC_CUDA_STEEP = 4,
    LITHO_ERRATIC_CUDA_MUTED = 128,
};

// Numbers that a search counts.
enum {
    LITHO_ERRATIC_CUDA_PIECES,
    LITHO_ERRATIC_CUDA_SPIKES,
    LITHO_ERRATIC_CUDA_WITH,
    LITHO_ERRATIC_CUDA_COUNTS
};

typedef struct LithoErraticTask {
    const float *in;           // samples of the held box
    long long n[3], t0;        // of that box: its sizes, its first sample
    const unsigned char *live; // per trace
    long long first, pieces;   // of the survey's pieces that the box touches
    float above, ratio;        // of amplitudes, of energies
    int spare_events;          // pieces of events are not erratic
    int line;                  // the survey has one inline or one crossline
    float *energy;             // [trace][piece], of one measure, then of the other
    unsigned char *bad;        // [trace][piece]: not 0 where a piece is erratic
    unsigned char *unmuted;    // [trace][piece]: its samples that are not muted, and
                               // LITHO_ERRATIC_CUDA_MUTED where one at an end of it is
    unsigned short *marks;     // [trace][piece]: bit k, sample k stands out
    unsigned short *spikes;    // likewise: it is a spike
    int *counts;               // of erratic pieces, of spikes, of traces with either; 0 before
    const float *share;        // per trace, how much it keeps beside its guess; NULL = all do
    float *to;                 // samples without spikes; guesses, in place of which shares are kept
} LithoErraticTask;

// Marks and counts spikes (kernels/common/spikes.h).
int litho_erratic_find_spikes(const LithoErraticTask *task, cudaStream_t stream);
// Puts other samples in their places in `to`, a copy of `in`.
int litho_erratic_repair_spikes(const LithoErraticTask *task, cudaStream_t stream);
// Marks and counts erratic pieces, and traces that have one or a spike.
int litho_erratic_find(const LithoErraticTask *task, cudaStream_t stream);
// Marks all pieces of live traces whose share is below 1, which are guessed like erratic ones.
int litho_erratic_mark_noisy(const LithoErraticTask *task, cudaStream_t stream);
// Adds to the guesses of such traces the share of what these have beside them.
int litho_erratic_keep_share(const LithoErraticTask *task, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
