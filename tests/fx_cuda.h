// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "tests/common.h"
#include "tests/fx_common.h"

// Helpers that the tests of the F-X filter on a GPU share: cubes with holes, engines, runs.

static inline gboolean no_gpu(void)
{
    if (litho_backend_cuda()->n_devices > 0)
        return FALSE;
    g_test_skip(litho_backend_cuda()->why_not);
    return TRUE;
}

#define EVERY_SECOND 2 // inline is missing
static inline LithoCube *noisy_cube(int n1, int n2, int nt, double missing)
{
    GRand *rand = g_rand_new_with_seed(29);
    LithoCube *cube = fx_noisy_cube(n1, n2, nt, rand);
    for (gint64 k = 0; k < (gint64)n1 * n2; k++) {
        const gboolean here =
            missing == EVERY_SECOND ? k / n2 % 2 == 0 : g_rand_double(rand) >= missing;
        if (here)
            continue;
        if (k % 3 == 0)
            cube->live[k] = 0;
        else
            memset(cube->samples + k * nt, 0, nt * sizeof(float));
        if (k % 5 == 0)
            cube->samples[k * nt + nt / 3] = NAN;
    }
    g_rand_free(rand);
    return cube;
}

static inline LithoEngine *engine_on(const char *where)
{
    LithoDevice device;
    g_assert_true(litho_device_parse(where, &device, NULL));
    return litho_engine_new(device);
}

static inline LithoCube *run_with(LithoEngine *engine, const char *settings, const LithoCube *in,
                                  const LithoBox *region, LithoRun *run)
{
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_fx);
    *(LithoFxParams *)litho_flow_step(flow, 0)->params = fx_params(settings);
    g_autoptr(GError) error = NULL;
    LithoCube *out = litho_engine_run(engine, flow, in, region, run, &error);
    g_assert_no_error(error);
    g_assert_nonnull(litho_cube_host(out, &error));
    g_assert_no_error(error);
    return out;
}

static inline LithoCube *run_once(const char *where, const char *settings, const LithoCube *in,
                                  const LithoBox *region, LithoRun *run)
{
    LithoEngine *engine = engine_on(where);
    LithoCube *out = run_with(engine, settings, in, region, run);
    litho_engine_free(engine);
    return out;
}
