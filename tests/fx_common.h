// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <math.h>
#include <string.h>

#include "core/engine/engine.h"
#include "core/error.h"
#include "kernels/fx/cpu/plan.h"
#include "kernels/kernels.h"

// Helpers that the tests of the F-X filter share: running it, comparing cubes, noise.

// Parameters from "key=value ..." on top of the defaults and 10 % prewhitening, which exact answers
// are known for; the test fails on an illegal one.
static inline LithoFxParams fx_params(const char *settings)
{
    LithoFxParams p;
    litho_param_defaults(&litho_operator_fx.params, &p);
    p.prewhitening = 10;
    g_auto(GStrv) words = g_strsplit(settings, " ", -1);
    for (char **word = words; *word; word++) {
        char *equals = strchr(*word, '=');
        if (!equals)
            continue;
        *equals = '\0';
        GError *error = NULL;
        litho_param_parse(&litho_operator_fx.params, &p, *word, equals + 1, &error);
        g_assert_no_error(error);
    }
    return p;
}

// The filter on `in` for `region` (NULL = all) with a fresh engine. `run` may be NULL.
static inline LithoCube *fx_run(const LithoCube *in, const char *settings, const LithoBox *region,
                                LithoRun *run)
{
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_fx);
    *(LithoFxParams *)litho_flow_step(flow, 0)->params = fx_params(settings);
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    GError *error = NULL;
    LithoCube *out = litho_engine_run(engine, flow, in, region, run, &error);
    g_assert_no_error(error);
    litho_engine_free(engine);
    return out;
}

// Normally distributed numbers, the same everywhere for one seed.
static inline double fx_normal(GRand *rand)
{
    double u = g_rand_double(rand), v = g_rand_double(rand);
    return sqrt(-2 * log(1 - u)) * cos(2 * G_PI * v);
}

static inline LithoCube *fx_cube(gint64 n1, gint64 n2, gint64 nt)
{
    LithoGrid grid = litho_grid_new(n1, n2, nt);
    GError *error = NULL;
    LithoCube *cube = litho_cube_new(&grid, &error);
    g_assert_no_error(error);
    return cube;
}

// ||a - b|| / ||b|| over all samples.
static inline double fx_relative(const LithoCube *a, const LithoCube *b)
{
    double difference = 0, norm = 0;
    for (gint64 k = 0; k < litho_cube_held_samples(a); k++) {
        double d = (double)a->samples[k] - b->samples[k];
        difference += d * d;
        norm += (double)b->samples[k] * b->samples[k];
    }
    return sqrt(difference / norm);
}

static inline gboolean fx_same_bits(const LithoCube *a, const LithoCube *b)
{
    return memcmp(a->samples, b->samples, sizeof(float) * litho_cube_held_samples(b)) == 0;
}

typedef struct FxWave {
    double amplitude, k1, k2; // rad per trace
} FxWave;

// Plane waves at bin 9 of 64 samples.
static inline LithoCube *fx_plane_waves(int n1, int n2, const FxWave *waves, int n)
{
    LithoCube *cube = fx_cube(n1, n2, 64);
    for (int i = 0; i < n1; i++)
        for (int j = 0; j < n2; j++)
            for (int t = 0; t < 64; t++) {
                double sum = 0;
                for (int w = 0; w < n; w++)
                    sum += waves[w].amplitude *
                           cos(2 * G_PI * 9 * t / 64 + waves[w].k1 * i + waves[w].k2 * j);
                cube->samples[((gint64)i * n2 + j) * 64 + t] = (float)sum;
            }
    return cube;
}

// Two plane waves and noise.
static inline LithoCube *fx_noisy_cube(int n1, int n2, int nt, GRand *rand)
{
    LithoCube *cube = fx_cube(n1, n2, nt);
    for (int i = 0; i < n1; i++)
        for (int j = 0; j < n2; j++)
            for (int t = 0; t < nt; t++)
                cube->samples[((gint64)i * n2 + j) * nt + t] =
                    (float)(sin(0.5 * t + 0.3 * i + 0.2 * j) +
                            0.7 * cos(0.9 * t - 0.5 * i + 0.1 * j) + 0.4 * fx_normal(rand));
    return cube;
}

static inline LithoCube *fx_random_cube(int n1, int n2, int nt, guint32 seed)
{
    GRand *rand = g_rand_new_with_seed(seed);
    LithoCube *cube = fx_noisy_cube(n1, n2, nt, rand);
    g_rand_free(rand);
    return cube;
}

// Marks a share of the traces missing; with NaN in some of them.
static inline void fx_kill_traces(LithoCube *cube, double share, guint32 seed)
{
    GRand *rand = g_rand_new_with_seed(seed);
    gint64 nt = cube->grid.axis[2].n;
    for (gint64 k = 0; k < litho_grid_traces(&cube->grid); k++) {
        if (g_rand_double(rand) >= share)
            continue;
        if (k % 3 == 0)
            cube->live[k] = 0; // the mask alone: the samples are not looked at
        else
            memset(cube->samples + k * nt, 0, nt * sizeof(float));
        if (k % 5 == 0)
            cube->samples[k * nt + nt / 3] = NAN;
    }
    litho_cube_touch(cube);
    g_rand_free(rand);
}

// The samples of `part` are those of `whole`.
static inline void fx_assert_region_equal(const LithoCube *part, const LithoCube *whole,
                                          LithoBox region)
{
    for (gint64 i = region.lo[0]; i < region.hi[0]; i++)
        for (gint64 j = region.lo[1]; j < region.hi[1]; j++) {
            const float *a = litho_cube_trace(part, i, j) + region.lo[2] - part->held.lo[2];
            const float *b = litho_cube_trace(whole, i, j) + region.lo[2] - whole->held.lo[2];
            gsize bytes = sizeof(float) * litho_box_size(region, 2);
            g_assert_cmpmem(a, bytes, b, bytes);
        }
}

// Recorded zeros instead of missing traces: absent for the filter, which makes no guesses of them.
static inline void fx_blank_missing(LithoCube *cube)
{
    const gint64 nt = cube->grid.axis[2].n;
    for (gint64 k = 0; k < litho_grid_traces(&cube->grid); k++)
        if (!cube->live[k]) {
            memset(cube->samples + k * nt, 0, nt * sizeof(float));
            cube->live[k] = 1;
        }
}
