// SPDX-License-Identifier: GPL-3.0-or-later
//
// Steady noise of recorders and power lines on the traces of a cube of 4 ms.
#pragma once
#include <math.h>

#include "core/cube.h"
#include "core/synth/synth_parts.h"

typedef enum {
    STEADY_NONE,
    STEADY_HUM,       // 50 Hz on all traces, of any phase, with the events' energy
    STEADY_GROUPS,    // on runs of 8 traces, one of four, 6 dB above
    STEADY_FEW,       // on one trace of fifty, 20 dB above
    STEADY_CROSSTALK, // of one phase on all
    STEADY_TWO,       // 16.7 Hz beside 50 Hz, 6 dB below
    STEADY_OFFSETS,   // any on each trace, 6 dB above
    STEADY_SOME,      // on one trace of twenty, 14 dB above
    STEADY_DRIFTS,    // a straight line to any value
    STEADY_KINDS,
} SteadyKind;

// The noise of a trace, at sample `t` of n.
static inline double steady_at(SteadyKind kind, gint64 trace, gint64 t, gint64 n)
{
    const double phase = kind == STEADY_CROSSTALK ? 1 : 2 * G_PI * litho_hash_uniform(1, 5, trace);
    const double wave = G_SQRT2 * cos(2 * G_PI * 0.2 * (double)t + phase);
    const double any = litho_hash_normal(2, 5, trace), chance = litho_hash_uniform(3, 5, trace);
    switch (kind) {
    case STEADY_HUM:
    case STEADY_CROSSTALK:
        return wave;
    case STEADY_GROUPS:
        return trace / 8 % 4 == 0 ? 2 * wave : 0;
    case STEADY_FEW:
        return chance < 0.02 ? 10 * wave : 0;
    case STEADY_TWO:
        return 0.5 * wave + G_SQRT2 * cos(2 * G_PI * 0.0668 * (double)t + 2 * phase);
    case STEADY_OFFSETS:
        return 2 * any;
    case STEADY_SOME:
        return chance < 0.05 ? 5 : 0;
    case STEADY_DRIFTS:
        return any * (double)t / (double)n;
    default:
        return 0;
    }
}

// Adds it to all samples of the cube, in units of `loudness`.
static inline void steady_add(LithoCube *cube, SteadyKind kind, double loudness)
{
    const gint64 n = litho_box_size(cube->held, 2);
    for (gint64 k = 0; k < litho_cube_held_samples(cube); k++)
        cube->samples[k] += (float)(loudness * steady_at(kind, k / n, k % n, n));
    litho_cube_touch(cube);
}
