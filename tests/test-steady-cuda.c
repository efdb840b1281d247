// SPDX-License-Identifier: GPL-3.0-or-later
//
// Offsets and hum are taken off before the filters on a card as on the processor: operators of
// either see the same input. Skips where there is no card.
#include "core/engine/engine.h"
#include "tests/common.h"
#include "tests/patch_cubes.h"
#include "tests/steady_noise.h"
#include "kernels/kernels.h"

enum { N = 48, N_T = 160 };

static LithoDevice gpu;

static LithoCube *run_on(LithoDevice device, const char *key, const char *settings,
                         const LithoCube *in, const LithoBox *region)
{
    g_autoptr(LithoFlow) flow = litho_flow_new();
    const LithoOperator *op = litho_operator_find(key);
    LithoEngine *engine = litho_engine_new(device);
    g_autoptr(GError) error = NULL;
    litho_flow_append(flow, op);
    g_assert_true(litho_operator_set(op, litho_flow_step(flow, 0)->params, settings, NULL));
    LithoCube *out = litho_engine_run(engine, flow, in, region, NULL, &error);
    g_assert_no_error(error);
    g_assert_nonnull(litho_cube_host(out, NULL));
    litho_engine_free(engine);
    return out;
}

// Property: the card's samples are those of the processor, to a hundredth of what the noise that is
// taken off first changes (1e-4 of its energy), and a region has the samples of the whole.
static void test_same(void)
{
    static const char *const keys[] = {"fx", "patch", "wavepacket"};
    static const SteadyKind kinds[] = {STEADY_GROUPS, STEADY_OFFSETS, STEADY_CROSSTALK};
    const LithoBox region = {{20, 0, 0}, {21, N, N_T}};
    for (guint k = 0; k < G_N_ELEMENTS(keys) * G_N_ELEMENTS(kinds); k++) {
        const char *key = keys[k % 3];
        g_autoptr(LithoCube) clean = patch_cube(PATCH_CURVED, N, N, N_T);
        g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, N, N, N_T, 0.3, 3);
        g_autoptr(LithoCube) in = patch_sum(clean, noise);
        steady_add(in, kinds[k / 3], 1);
        g_autoptr(LithoCube) there = run_on(gpu, key, "steady=auto", in, NULL);
        g_autoptr(LithoCube) here = run_on(litho_device_cpu(), key, "steady=auto", in, NULL);
        g_autoptr(LithoCube) off = run_on(gpu, key, "steady=off", in, NULL);
        double apart = 0, moved = 0, worst = 0;
        for (gint64 s = 0; s < litho_cube_held_samples(in); s++) {
            apart += pow((double)here->samples[s] - there->samples[s], 2);
            moved += pow((double)off->samples[s] - there->samples[s], 2);
        }
        g_test_message("%s, kind %d: %.2f dB, %.2f as it is; apart %.3g", key, kinds[k / 3],
                       patch_snr(there, clean, NULL), patch_snr(off, clean, NULL),
                       sqrt(apart / moved));
        g_assert_cmpfloat(patch_snr(there, clean, NULL), >, patch_snr(off, clean, NULL) + 3);
        g_assert_cmpfloat(apart, <, 1e-4 * moved);
        if (k % 3 == 2)
            continue; // slices of packets differ by rounding
        g_autoptr(LithoCube) part = run_on(gpu, key, "steady=auto", in, &region);
        for (gint64 s = 0; s < (gint64)N * N_T; s++)
            worst = fmax(worst, fabs((double)litho_cube_trace(part, 20, 0)[s] -
                                     litho_cube_trace(there, 20, 0)[s]));
        g_assert_cmpfloat(worst, ==, 0);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    const LithoBackend *cuda = litho_backend_cuda();
    if (cuda->n_devices == 0) {
        g_print("1..0 # SKIP %s\n", cuda->why_not);
        return 0;
    }
    gpu = (LithoDevice){.backend = cuda};
    g_test_add_func("/steady-cuda/same", test_same);
    return g_test_run();
}
