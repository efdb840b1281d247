// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The noise is measured in windows of which one in so many traces is recorded. Guesses stand in for
// the others (gaps.h): with three quarters of the traces missing at random they leave the level of
// noise that is as strong as the events 1 to 5 % low, and 3 % high where it is 20 dB weaker.
// Results are judged by half of the traces: with 60 % missing an SNR of 25 dB was told of 12.
enum { LITHO_NOISE_ONE_IN = 4, LITHO_NOISE_JUDGED_ONE_IN = 2 };

#ifdef __CUDACC__
#define LITHO_NOISE_INLINE static __host__ __device__ inline
#else
#define LITHO_NOISE_INLINE static inline
#endif

// Frequencies 1, 3, 5, ... of a window tell of the noise at a place (noise_map.c); those between
// are much alike.
LITHO_NOISE_INLINE int noise_map_frequency(int band)
{
    return 2 * band + 1;
}

// Samples of a trace in a window of n that belong to mutes: zeros at its ends, and `run` and more
// of them one after the other.
LITHO_NOISE_INLINE int noise_count_muted(const float *trace, int n, int run)
{
    int muted = 0, zeros = 0;
    for (int t = 0; t <= n; t++) {
        if (t < n && trace[t] == 0) {
            zeros++;
            continue;
        }
        if (t == zeros || t == n || zeros >= run)
            muted += zeros;
        zeros = 0;
    }
    return muted;
}
