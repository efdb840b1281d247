// SPDX-License-Identifier: GPL-3.0-or-later
//
// The noise level per frequency against noise that is known.
#include <math.h>

#include "core/error.h"
#include "core/qc_noise.h"
#include "kernels/kernels.h"
#include "tests/common.h"
#include "tests/patch_common.h"

enum { N_IL = 64, N_XL = 64, N_T = 256 };

// Property: on events of unit energy and white noise of standard deviation 1 the level is 1 within
// 0.4 % in all (more would be half a decibel of an expected SNR of 15 dB) and 4 % at every
// frequency, and the truth is inside the interval. Amplitudes that vary by 30 % from trace to trace
// without connection are noise of 0.09 / 1.09 of the events' energy, which is strong where events
// are and nothing between them: 1.5 %, and no interval.
static void test_white(void)
{
    for (int kind = 0; kind < PATCH_KINDS; kind++) {
        g_autoptr(LithoCube) clean = patch_cube(kind, N_IL, N_XL, N_T);
        g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, N_IL, N_XL, N_T, 1, 5);
        g_autoptr(LithoCube) both = patch_sum(clean, noise);
        LithoNoise level;
        g_assert_true(litho_qc_noise(both, NULL, NULL, &level, NULL));
        g_test_message("cube %d: total %.4f, %.4f to %.4f", kind, level.total, level.low,
                       level.high);
        g_assert_cmpuint(level.n, ==, 9);
        g_assert_cmpfloat_with_epsilon(level.df, 1 / (16 * 0.004), 1e-9);
        const double truth = kind == PATCH_RANDOM ? sqrt(1 + 0.09 / 1.09) : 1;
        const gboolean even = kind != PATCH_RANDOM;
        g_assert_cmpfloat_with_epsilon(level.total / truth, 1, even ? 0.004 : 0.015);
        g_assert_true(!even || (level.low <= truth && truth <= level.high));
        for (guint f = 0; even && f < level.n; f++)
            g_assert_cmpfloat_with_epsilon(level.sigma[f], 1, 0.04);
        litho_noise_clear(&level);
    }
}

// A spectrum as windows of 16 tapered samples see it: smoothed by the taper's own spectrum.
static double seen(PatchColour colour, int bin)
{
    double sum = 0, weight = 0;
    for (int k = 0; k < N_T; k++) {
        const double f = k / (N_T * 0.004);
        double re = 0, im = 0;
        for (int t = 0; t < 16; t++) {
            const double w = sin(G_PI * (t + 0.5) / 16),
                         a = 2 * G_PI * t * (k / (double)N_T - bin / 16.0);
            re += w * cos(a);
            im += w * sin(a);
        }
        const double level = patch_noise_level(colour, MIN(f, 250 - f), N_T),
                     share = re * re + im * im;
        sum += share * level * level;
        weight += share;
    }
    return sqrt(sum / weight);
}

// Property: noise that is not white is told per frequency, within 4 % where it is a tenth of the
// strongest or more (events fill what is below); the total is 1.
static void test_coloured(void)
{
    for (int colour = PATCH_LOW; colour <= PATCH_BAND; colour++) {
        g_autoptr(LithoCube) clean = patch_cube(PATCH_CONFLICT, N_IL, N_XL, N_T);
        g_autoptr(LithoCube) noise = patch_noise(colour, N_IL, N_XL, N_T, 1, 6);
        g_autoptr(LithoCube) both = patch_sum(clean, noise);
        LithoNoise level;
        g_assert_true(litho_qc_noise(both, NULL, NULL, &level, NULL));
        double most = 0;
        for (guint f = 0; f < level.n; f++)
            most = fmax(most, level.sigma[f]);
        for (guint f = 0; f < level.n; f++) {
            const double truth = seen(colour, f);
            g_test_message("colour %d bin %u: %.4f, truth %.4f", colour, f, level.sigma[f], truth);
            if (truth > 0.1 * most)
                g_assert_cmpfloat_with_epsilon(level.sigma[f] / truth, 1, 0.04);
        }
        g_assert_cmpfloat_with_epsilon(level.total, 1, 0.02);
        litho_noise_clear(&level);
    }
}

// Property: dead traces (full of NaN here) and traces of zeros do not count, in all windows.
static void test_dead(void)
{
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, 40, 40, 100, 2, 7);
    for (gint64 k = 0; k < 1600; k += 7)
        for (gint64 t = 0; t < 100; t++)
            noise->samples[k * 100 + t] = k % 2 ? NAN : 0;
    for (gint64 k = 0; k < 1600; k += 9) {
        noise->live[k] = 0;
        noise->samples[k * 100] = 1e9f;
    }
    LithoNoise level;
    g_assert_true(litho_qc_noise(noise, NULL, NULL, &level, NULL));
    g_assert_cmpfloat_with_epsilon(level.total, 2, 0.04);
    litho_noise_clear(&level);
}

// Property: lines and short cubes are measured too: one inline, ten crosslines, short traces.
static void test_short(void)
{
    const gint64 sizes[][3] = {
        {1, 400, 300}, {300, 10, 200}, {60, 60, 9}, {1, 1, 20000}, {5, 5, 4}};
    for (guint k = 0; k < G_N_ELEMENTS(sizes); k++) {
        const gint64 *n = sizes[k];
        g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, n[0], n[1], n[2], 1, 8);
        LithoNoise level;
        g_assert_true(litho_qc_noise(noise, NULL, NULL, &level, NULL));
        g_test_message("%d: total %.4f, %.4f to %.4f", (int)k, level.total, level.low, level.high);
        g_assert_cmpfloat(level.low, <=, 1);
        g_assert_cmpfloat(level.high, >=, 1);
        if (n[0] * n[1] * n[2] > 1000) // 100 samples are one window
            g_assert_cmpfloat_with_epsilon(level.total, 1, 0.03);
        litho_noise_clear(&level);
    }
}

// Property: the numbers are the same for one thread and for three, a box is a cube of its own, a
// cancel is a cancel, and a cube without a live trace is refused.
static void test_contract(void)
{
    g_autoptr(LithoCube) noise = patch_noise(PATCH_BAND, 50, 40, 120, 1, 9);
    LithoNoise one, three, part, alone;
    LithoRun run = {.threads = 1};
    g_assert_true(litho_qc_noise(noise, NULL, &run, &one, NULL));
    run.threads = 3;
    g_assert_true(litho_qc_noise(noise, NULL, &run, &three, NULL));
    g_assert_cmpmem(one.sigma, one.n * sizeof(double), three.sigma, three.n * sizeof(double));
    const LithoBox box = {{10, 5, 20}, {40, 37, 90}};
    g_autoptr(LithoCube) cut = litho_cube_copy_box(noise, box, NULL);
    g_assert_true(litho_qc_noise(noise, &box, NULL, &part, NULL));
    g_assert_true(litho_qc_noise(cut, NULL, NULL, &alone, NULL));
    g_assert_cmpmem(part.sigma, part.n * sizeof(double), alone.sigma, alone.n * sizeof(double));
    g_autoptr(GCancellable) cancel = g_cancellable_new();
    g_autoptr(GError) stopped = NULL, refused = NULL;
    g_cancellable_cancel(cancel);
    LithoRun cancelled = {.cancel = cancel};
    LithoNoise none;
    g_assert_false(litho_qc_noise(noise, NULL, &cancelled, &none, &stopped));
    g_assert_error(stopped, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    memset(noise->live, 0, 50 * 40);
    g_assert_false(litho_qc_noise(noise, NULL, NULL, &none, &refused));
    g_assert_error(refused, LITHO_ERROR, LITHO_ERROR_GEOMETRY);
    litho_noise_clear(&one);
    litho_noise_clear(&three);
    litho_noise_clear(&part);
    litho_noise_clear(&alone);
}

// Property: dense, folded layers fill all windows at most wavenumbers, but are no noise that keeps
// to some: they lost 8 to 16 dB at 30 dB to a level five times too high.
static void test_dense(void)
{
    enum { N = 48, LONG = 192 };
    for (int steep = 1; steep < 3; steep++) {
        g_autoptr(LithoCube) truth = patch_folded(N, N, LONG, steep, 3);
        g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, N, N, LONG, 0.0316, 5);
        g_autoptr(LithoCube) in = patch_sum(truth, noise);
        const LithoPatchParams params = patch_settings("");
        g_autoptr(LithoCube) out = patch_run(&litho_patch_cpu, in, &params, NULL, 2);
        g_test_message("steep %d: %.2f dB", steep, patch_snr(out, truth, NULL));
        g_assert_cmpfloat(patch_snr(out, truth, NULL), >, 32);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    test_add_answers("/patch-noise/white", test_white);
    test_add_answers("/patch-noise/coloured", test_coloured);
    test_add_answers("/patch-noise/dense", test_dense);
    g_test_add_func("/patch-noise/dead", test_dead);
    g_test_add_func("/patch-noise/short", test_short);
    g_test_add_func("/patch-noise/contract", test_contract);
    return g_test_run();
}
