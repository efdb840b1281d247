// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <math.h>

#include "core/engine/engine.h"
#include "kernels/wavepacket/wavepacket.h"
#include "tests/common.h"
#include "tests/wavepacket-data.h"

// The wave-packet operator in an engine of its own, with the report and the times of its runs, and
// cubes for it.

typedef struct Bench {
    LithoFlow *flow;
    LithoEngine *engine;
    LithoWavepacketParams *p;
    LithoRun run;
    LithoTimings *timings;
} Bench;

static inline Bench bench_on(LithoDevice device)
{
    Bench b = {.flow = litho_flow_new(),
               .engine = litho_engine_new(device),
               .timings = litho_timings_new()};
    litho_flow_append(b.flow, &litho_operator_wavepacket);
    b.p = litho_flow_step(b.flow, 0)->params;
    b.run = (LithoRun){.timings = b.timings, .report = litho_report_new(), .writes = TRUE};
    return b;
}

static inline Bench bench(void)
{
    return bench_on(litho_device_cpu());
}

static inline void clear(Bench *b)
{
    litho_flow_free(b->flow);
    litho_engine_free(b->engine);
    litho_timings_unref(b->timings);
    litho_report_unref(b->run.report);
}

static inline LithoCube *apply(Bench *b, const LithoCube *in)
{
    g_autoptr(GError) error = NULL;
    LithoCube *out = litho_engine_run(b->engine, b->flow, in, NULL, &b->run, &error);
    g_assert_no_error(error);
    g_assert_nonnull(out);
    g_assert_nonnull(litho_cube_host(out, &error));
    litho_timings_end_pass(b->timings);
    return out;
}

// Passes with a stage since the start.
static inline guint count(const Bench *b, const char *stage)
{
    LithoStage stages[LITHO_TIMINGS_STAGES];
    guint n = litho_timings_snapshot(b->timings, stages, LITHO_TIMINGS_STAGES);
    for (guint k = 0; k < n; k++)
        if (strcmp(stages[k].name, stage) == 0)
            return stages[k].count;
    return 0;
}

// So many looks at the cancel, and the one that finds it: LithoRun.superseded.
typedef struct Looks {
    int n, most;
} Looks;

static inline gboolean look(gpointer data)
{
    Looks *l = data;
    return g_atomic_int_add(&l->n, 1) >= l->most;
}

static inline double number(const Bench *b, const char *key)
{
    double value = NAN;
    g_assert_true(litho_report_get(b->run.report, key, &value));
    return value;
}

static inline LithoCube *events_cube(gint64 n1, gint64 n2, gint64 n3)
{
    LithoGrid grid = litho_grid_new(n1, n2, n3);
    LithoCube *cube = litho_cube_new(&grid, NULL);
    wp_test_events(cube->samples, (const gint64[3]){n1, n2, n3});
    return cube;
}

// Adds white noise of `part` of the signal's amplitude; returns its standard deviation.
static inline double add_some_noise(LithoCube *cube, double part, guint32 seed)
{
    const gsize n = (gsize)litho_grid_samples(&cube->grid);
    double sigma = part * sqrt(wp_test_energy(cube->samples, n) / n);
    g_autofree float *noise = g_new(float, n);
    wp_test_noise(noise, n, seed);
    for (gsize i = 0; i < n; i++)
        cube->samples[i] += (float)sigma * noise[i];
    return sigma;
}

// Noise as strong as the signal: 0 dB.
static inline double add_noise(LithoCube *cube, guint32 seed)
{
    return add_some_noise(cube, 1, seed);
}

// Makes so many percent of the traces dead, at random; their samples hold no numbers.
static inline void kill_traces(LithoCube *cube, int percent, guint32 seed)
{
    const gint64 nt = cube->grid.axis[2].n;
    GRand *rand = g_rand_new_with_seed(seed);
    for (gint64 t = 0; t < litho_grid_traces(&cube->grid); t++)
        if (g_rand_double(rand) * 100 < percent) {
            cube->live[t] = 0;
            for (gint64 k = 0; k < nt; k++)
                cube->samples[t * nt + k] = NAN;
        }
    g_rand_free(rand);
}
