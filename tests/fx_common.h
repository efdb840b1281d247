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
