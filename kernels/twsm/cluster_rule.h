// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
// When two squares of elements may meet through a few points of interpolation (clusters.h): the
// same decision on the CPU and on the device.
#include "kernels/twsm/pair.h"

enum {
    TWSM_MAX_NODES = 8, // a side
    TWSM_ALL_NODES = 4 + 9 + 16 + 25 + 36 + 49 + 64,
};

// Place of the m x m nodes among those of all m from 2 on.
TWSM_INLINE int twsm_nodes_first(int m)
{
    return (m - 1) * m * (2 * m - 1) / 6 - 1;
}

// Size and place of a square, metres.
typedef struct TwsmSquare {
    float centre[3]; // mean of its elements, relative to the model's centre
    float half;      // half the longer side in plan
    float reach;     // largest distance of an element from the centre
} TwsmSquare;

// Rule for clusters that stand for their pairs. `most`: nodes a side, 5 or TWSM_MAX_NODES.
typedef struct TwsmClusterRule {
    float tolerance;
    int most;
} TwsmClusterRule;

// Nodes a side that keep the error of a block under the tolerance at the highest frequency `k`, by
// a bound that is seldom reached; 0 = sum its pairs directly.
TWSM_INLINE int twsm_square_rule(float turns, TwsmClusterRule rule, const TwsmSquare *to,
                                 const TwsmSquare *from, int k)
{
    float dx = to->centre[0] - from->centre[0], dy = to->centre[1] - from->centre[1];
    float dz = to->centre[2] - from->centre[2], r = sqrtf(dx * dx + dy * dy + dz * dz);
    // Closer than this the amplitude itself is no low polynomial over the squares.
    if (r < 2.5f * (to->reach + from->reach))
        return 0;
    // Residual phase b s over |s| <= 1: Chebyshev interpolation through m nodes leaves
    // 2 (b/2)^m / m!; four interpolations (two axes, two squares).
    float near = r - 0.5f * (to->reach + from->reach);
    float b = 6.2831853f * (float)k * turns * to->half * from->half / near;
    float left = 8 * (b / 2) * (b / 2) / 2;
    // The amplitude's own error, of order (half / R)^m / 2^(m-1).
    float ratio = (to->half > from->half ? to->half : from->half) / near;
    float amplitude = 4 * ratio * ratio / 2;
    for (int nodes = 2; nodes <= rule.most; nodes++) {
        if (left + amplitude < rule.tolerance)
            return nodes;
        left *= b / 2 / (float)(nodes + 1);
        amplitude *= ratio / 2;
    }
    return 0;
}

// Factor of a facet's beam towards d against the smooth surface through the facets, whose normal s
// the nodes know: facets of one cell tilt to either side. 1 near grazing, where nothing is sent.
TWSM_INLINE float twsm_facet_factor(float side, float nx, float ny, float nz, float sx, float sy,
                                    float sz, float dx, float dy, float dz)
{
    float smooth = sx * dx + sy * dy + sz * dz;
    float least = 0.05f * sqrtf(dx * dx + dy * dy + dz * dz);
    return side * smooth > least ? (nx * dx + ny * dy + nz * dz) / smooth : 1.0f;
}
