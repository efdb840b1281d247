// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <math.h>

#ifdef __CUDACC__
#define LITHO_SPIKES_INLINE static __device__ inline
#else
#include "kernels/common/clones.h"
#define LITHO_SPIKES_INLINE LITHO_INLINE
#endif

// The rules of kernels/common/spikes.h, for host and device: a sum of products that are not exact
// is of double precision, so that contracted ones decide alike.

enum {
    LITHO_SPIKES_PIECE = 16,
    LITHO_SPIKES_REACH = 2,    // traces
    LITHO_SPIKES_LEAST = 4,    // neighbours that tell: all of a line's
    LITHO_SPIKES_OWN = 10,     // ratio to the own trace's mean: 7.5 deviations of noise
    LITHO_SPIKES_BESIDE = 2,   // samples on either side that the median and the cubic take
    LITHO_SPIKES_AROUND = 4,   // samples by which a neighbour's event may lie higher or lower
    LITHO_SPIKES_BURST = 8,    // samples on either side within which
    LITHO_SPIKES_IN_BURST = 3, // more marks make a burst,
    LITHO_SPIKES_CLOSE = 2     // and more within LITHO_SPIKES_BESIDE
};
#define LITHO_SPIKES_NOTHING 1e-6f // of a spike: a sample that a mute leaves

// Distance of x[0] from the median of the four samples beside it.
LITHO_SPIKES_INLINE float litho_spikes_from_median(const float *x)
{
    const float a = x[-2], b = x[-1], c = x[1], d = x[2];
    const float low = a < b ? a : b, high = a < b ? b : a;
    const float other_low = c < d ? c : d, other_high = c < d ? d : c;
    const float second = low > other_low ? low : other_low;
    const float third = high < other_high ? high : other_high;
    return fabsf(x[0] - 0.5f * (second + third));
}

// The smaller one of that and the distance from the cubic through them: tops of wavelets lie far
// from the median, samples beside a spike far from the cubic. 0 where one is not a number.
LITHO_SPIKES_INLINE float litho_spikes_distance(const float *x)
{
    const float median = litho_spikes_from_median(x);
    const float cubic = fabsf(x[0] + (x[-2] + x[2] - 4 * (x[-1] + x[1])) / 6);
    const float distance = median < cubic ? median : cubic;
    return distance - distance == 0 ? distance : 0;
}

// Largest distance within LITHO_SPIKES_AROUND samples of sample t of n; 0 where fewer than half of
// them have any, as in a mute.
LITHO_SPIKES_INLINE float litho_spikes_largest(const float *x, long long n, long long t)
{
    const long long lo = t - LITHO_SPIKES_AROUND, hi = t + LITHO_SPIKES_AROUND;
    float most = 0;
    int there = 0;
    for (long long u = lo; u <= hi; u++) {
        if (u < LITHO_SPIKES_BESIDE || u >= n - LITHO_SPIKES_BESIDE)
            continue;
        const float distance = litho_spikes_distance(x + u);
        there += distance > 0;
        most = distance > most ? distance : most;
    }
    return there > LITHO_SPIKES_AROUND ? most : 0;
}

// None of the four samples beside is zero, or what a format makes of it.
LITHO_SPIKES_INLINE int litho_spikes_has_beside(const float *x, float distance)
{
    const float least = LITHO_SPIKES_NOTHING * distance;
    return fabsf(x[-2]) > least && fabsf(x[-1]) > least && fabsf(x[1]) > least &&
           fabsf(x[2]) > least;
}

// Marks of the samples around sample `bit` of piece p of a trace's `row`: bit 16 + k of them tells
// of the sample k behind it, -16 to 15.
LITHO_SPIKES_INLINE unsigned litho_spikes_marks(const unsigned short *row, long long pieces,
                                                long long p, int bit)
{
    const unsigned long long before = p > 0 ? row[p - 1] : 0;
    const unsigned long long behind = p + 1 < pieces ? row[p + 1] : 0;
    return (unsigned)((before | (unsigned long long)row[p] << 16 | behind << 32) >> bit);
}

// The cubic through the nearest two samples before x[0] and the nearest two behind it that have no
// mark; there are such within five.
LITHO_SPIKES_INLINE double litho_spikes_through(const float *x, unsigned marks)
{
    int node[4] = {0, 0, 0, 0}, k = 0;
    double sum = 0;
    for (int p = -1; k < 2 && p >= -LITHO_SPIKES_BURST; p--)
        if (!(marks >> (16 + p) & 1))
            node[k++] = p;
    for (int p = 1; k < 4 && p <= LITHO_SPIKES_BURST; p++)
        if (!(marks >> (16 + p) & 1))
            node[k++] = p;
    for (int i = 0; i < 4; i++) {
        double weight = 1;
        for (int j = 0; j < 4; j++)
            weight *= j == i ? 1 : (double)node[j] / (node[j] - node[i]);
        sum += weight * x[node[i]];
    }
    return sum;
}

LITHO_SPIKES_INLINE double litho_spikes_from_others(const float *x, unsigned marks)
{
    return fabs(x[0] - litho_spikes_through(x, marks));
}

LITHO_SPIKES_INLINE int litho_spikes_count(unsigned marks, int within)
{
    int n = 0;
    for (int p = -within; p <= within; p++)
        n += marks >> (16 + p) & 1;
    return n;
}

// x[0], which has a mark, is neither in a burst nor a part of a wavelet. `before` and `behind`: the
// samples that its trace has on either side.
LITHO_SPIKES_INLINE int litho_spikes_stands_alone(const float *x, unsigned marks, long long before,
                                                  long long behind)
{
    if (litho_spikes_count(marks, LITHO_SPIKES_BURST) > LITHO_SPIKES_IN_BURST ||
        litho_spikes_count(marks, LITHO_SPIKES_BESIDE) > LITHO_SPIKES_CLOSE)
        return 0;
    const double own = litho_spikes_from_others(x, marks);
    for (int p = -LITHO_SPIKES_BESIDE; p <= LITHO_SPIKES_BESIDE; p++) {
        const unsigned theirs = p < 0 ? marks << -p : marks >> p;
        if (before + p >= LITHO_SPIKES_BESIDE && behind - p >= LITHO_SPIKES_BESIDE &&
            !(theirs >> 16 & 1) && 2 * litho_spikes_from_others(x + p, theirs) >= own)
            return 0;
    }
    return 4 * own >= 3 * (double)litho_spikes_from_median(x);
}
