// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The noise is measured in windows of which one in so many traces is recorded. Guesses stand in for
// the others (gaps.h): with three quarters of the traces missing at random they leave the level of
// noise that is as strong as the events 1 to 5 % low, and 3 % high where it is 20 dB weaker.
// Results are judged by half of the traces: with 60 % missing an SNR of 25 dB was told of 12.
enum { LITHO_NOISE_ONE_IN = 4, LITHO_NOISE_JUDGED_ONE_IN = 2 };

// Frequencies 1, 3, 5, ... of a window tell of the noise at a place (noise_map.c); those between
// are much alike.
#ifdef __CUDACC__
__host__ __device__
#endif
    static inline int
    noise_map_frequency(int band)
{
    return 2 * band + 1;
}
