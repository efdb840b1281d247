// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// Lengths that Fourier transforms are fast at: products of small primes.

// The first of n, n + step, n + 2 step, ... without a prime factor above `prime` (5: FFTW and cuFFT
// alike; 7: cuFFT). n > 0; with an even n a step of 2 keeps it even.
static inline int litho_smooth_length(int n, int step, int prime)
{
    for (;; n += step) {
        int rest = n;
        for (int p = 2; p <= prime; p++)
            while (rest % p == 0)
                rest /= p;
        if (rest == 1)
            return n;
    }
}
