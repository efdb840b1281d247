// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "kernels/wavepacket/cuda/kernels.h"

#define DEV __device__ __forceinline__

// Place of samples in a padded axis: sample i of n at (i - n/2) mod m.

DEV int padded_index(int i, int n, int m)
{
    return i < n / 2 ? i - n / 2 + m : i - n / 2;
}

// Sample index of padded index p, or -1.
DEV int sample_of(int p, int n, int m)
{
    const int i = p < n - n / 2 ? p + n / 2 : p - (m - n / 2);
    return i >= 0 && i < n && (p < n - n / 2 || p >= m - n / 2) ? i : -1;
}
