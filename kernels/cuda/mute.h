// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <driver_types.h>

#ifdef __cplusplus
extern "C" {
#endif

// A dense array of samples that begins at sample `at` of each trace; `n` samples of a trace follow
// one another. Traces: [inline][crossline], the first one is trace (il, xl) of the grid.
typedef struct LithoMuteBox {
    long long il, xl, at;
    long long n_xl, n;
} LithoMuteBox;

typedef struct LithoMute {
    const float *in;
    float *out;
    unsigned char *live; // one byte a trace of `in`; traces that hold nothing lose it
    LithoMuteBox in_box, out_box;
    LithoMuteBox region;   // samples of `out` to write
    long long traces, all; // of the region; samples of a whole trace
    long long in_traces;   // of `in`
    int run;               // LITHO_MUTE_RUN
} LithoMute;

// litho_mute_keep() of core/mute.h on a device. Returns cudaGetLastError().
int litho_mute_launch(const LithoMute *mute, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
