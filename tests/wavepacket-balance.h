// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "tests/uneven_traces.h"
#include "tests/wavepacket-planes.h"

// Cubes whose traces differ in gain, polarity or noise.

// Noise of deviation `level` and `events`, which become those times the gains of their traces.
static inline LithoCube *make_uneven(LithoCube *events, Traces traces, double level)
{
    const gint64 nt = events->grid.axis[2].n;
    LithoCube *in = litho_cube_copy_box(events, events->held, NULL);
    for (gint64 s = 0; s < litho_grid_samples(&in->grid); s++) {
        const gint64 k = s / nt;
        events->samples[s] *= (float)gain_of(traces, k);
        in->samples[s] =
            events->samples[s] + (float)(level * noise_of(traces, k) * litho_hash_normal(4, 1, s));
    }
    litho_cube_touch(events);
    litho_cube_touch(in);
    return in;
}

static inline LithoCube *uneven_events(Traces traces)
{
    g_autoptr(LithoCube) events = events_cube(48, 48, 96);
    return make_uneven(events, traces, 0.2);
}

// Property: slices of uneven traces are those of the whole, which comes behind them to the bit, and
// what differs is told.
static inline void check_uneven(LithoDevice device)
{
    static const char *const keys[] = {"", "gain_scatter", "reversed_traces", "noisy_traces"};
    for (Traces traces = SCATTERED; traces <= NOISIER; traces++) {
        Bench b = bench_on(device);
        g_autoptr(LithoCube) in = uneven_events(traces);
        g_assert_cmpfloat(worst_slice(in, "threshold=2.75", 0.5, &b), <, 1e-6);
        g_assert_cmpfloat(worst_slice(in, "threshold=3", 0.3, &b), <, 1e-6);
        g_assert_cmpfloat(number(&b, keys[traces]), >, 1);
        clear(&b);
    }
}
