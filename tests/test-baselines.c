// SPDX-License-Identifier: GPL-3.0-or-later
//
// The published methods that `compare --operators` sets beside the operators, against what their
// theory says: plane waves are of low rank and predictable, gaps in a sparse spectrum are filled.
#include <math.h>

#include "app/baselines/baselines.h"
#include "core/qc.h"
#include "kernels/kernels.h"
#include "tests/common.h"

enum { N1 = 26, N2 = 23, NT = 120 };

static double ricker(double t, double f)
{
    const double a = pow(G_PI * f * t, 2);
    return (1 - 2 * a) * exp(-a);
}

// `events` plane events that stay inside of one time window.
static LithoCube *planes(int events)
{
    static const double at[][3] = {{0.2, 0.001, 0.002}, {0.27, -0.002, 0.001}, {0.24, 0.002, -0.002}};
    LithoGrid grid = litho_grid_new(N1, N2, NT);
    grid.axis[2].step = 0.004;
    LithoCube *cube = litho_cube_new(&grid, NULL);
    for (int e = 0; e < events; e++)
        for (int t = 0; t < N1 * N2; t++)
            for (int k = 0; k < NT; k++)
                cube->samples[t * NT + k] +=
                    (float)ricker(k * 0.004 - at[e][0] - at[e][1] * (t / N2 - N1 / 2) -
                                      at[e][2] * (t % N2 - N2 / 2),
                                  25);
    return cube;
}

static double snr(const LithoCube *out, const LithoCube *truth)
{
    LithoDifference d;
    g_assert_true(litho_qc_compare(out, truth, NULL, &d, NULL));
    g_test_message("SNR %.1f dB", d.snr_db);
    return d.snr_db;
}

static LithoCube *with_noise(const LithoCube *truth)
{
    LithoCube *cube = litho_cube_copy_box(truth, truth->held, NULL);
    g_autoptr(LithoCube) noise = test_random_cube(N1, N2, NT, 7, FALSE);
    double signal = 0, energy = 0;
    const gint64 n = litho_cube_held_samples(cube);
    for (gint64 k = 0; k < n; k++) {
        signal += truth->samples[k] * truth->samples[k];
        energy += noise->samples[k] * noise->samples[k];
    }
    for (gint64 k = 0; k < n; k++)
        cube->samples[k] += (float)sqrt(signal / energy) * noise->samples[k];
    return cube;
}

// SNR in dB of what `method` makes of `in`.
static double denoised(const LithoBaseline *method, const LithoCube *in, const LithoCube *truth)
{
    g_autoptr(LithoCube) out = litho_cube_new(&truth->grid, NULL);
    LithoRun run = {0};
    g_assert_true(method->denoise(in, out, &run, NULL));
    return snr(out, truth);
}

// Without noise the error of a plane event is that of the damping, 1 % over four taps.
static void test_fxdecon(void)
{
    g_autoptr(LithoCube) truth = planes(1), noisy = with_noise(truth);
    g_assert_cmpfloat(denoised(&litho_baseline_fxdecon, truth, truth), >, 48);
    g_assert_cmpfloat(denoised(&litho_baseline_fxdecon, noisy, truth), >, 3.5);
}

// Three events are of rank three at every frequency: rank five changes nothing.
static void test_rank(void)
{
    g_autoptr(LithoCube) truth = planes(3), noisy = with_noise(truth);
    g_assert_cmpfloat(denoised(&litho_baseline_rank, truth, truth), >, 90);
    g_assert_cmpfloat(denoised(&litho_baseline_rank, noisy, truth), >, 13);
}

static void take_traces(LithoCube *cube, guint one_in)
{
    GRand *rand = g_rand_new_with_seed(3);
    for (int t = 0; t < N1 * N2; t++)
        if (g_rand_int_range(rand, 0, one_in) == 0) {
            cube->live[t] = 0;
            memset(cube->samples + t * NT, 0, NT * sizeof *cube->samples);
        }
    g_rand_free(rand);
}

// Recorded traces keep their bits; those missing, which are told by `missing`, come back.
static double filled(const LithoBaseline *b, const LithoCube *truth)
{
    g_autoptr(LithoCube) in = litho_cube_copy_box(truth, truth->held, NULL);
    g_autoptr(LithoCube) out = litho_cube_new(&truth->grid, NULL);
    g_autoptr(LithoCube) missing = litho_cube_copy_box(truth, truth->held, NULL);
    LithoDifference d;
    LithoRun run = {0};
    take_traces(in, 3);
    g_assert_true(b->fill(in, out, &run, NULL));
    for (int t = 0; t < N1 * N2; t++) {
        missing->live[t] = !in->live[t];
        if (in->live[t])
            g_assert_cmpmem(in->samples + t * NT, NT * sizeof(float), out->samples + t * NT,
                            NT * sizeof(float));
    }
    g_assert_true(litho_qc_compare(out, truth, missing, &d, NULL));
    g_test_message("%s: filled traces %.1f dB", b->name, d.snr_db);
    return d.snr_db;
}

static void test_rank_fills(void)
{
    g_autoptr(LithoCube) truth = planes(3);
    g_assert_cmpfloat(filled(&litho_baseline_rank, truth), >, 12);
}

// Waves on the grid of wavenumbers: a few coefficients are all there is.
static void test_fourier_fills(void)
{
    g_autoptr(LithoCube) truth = planes(0);
    for (int t = 0; t < N1 * N2; t++)
        for (int k = 0; k < NT; k++)
            truth->samples[t * NT + k] =
                (float)(cos(2 * G_PI * (2.0 * (t / N2) / N1 + 3.0 * (t % N2) / N2 + 12.0 * k / NT)) +
                        0.5 * sin(2 * G_PI * (5.0 * (t / N2) / N1 + 20.0 * k / NT)));
    g_assert_cmpfloat(filled(&litho_baseline_fourier, truth), >, 50);
    g_autoptr(LithoCube) noisy = with_noise(truth), out = litho_cube_new(&truth->grid, NULL);
    LithoRun run = {0};
    g_assert_true(litho_baseline_fourier.denoise(noisy, out, &run, NULL));
    g_assert_cmpfloat(snr(out, truth), >, 13);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/baselines/fxdecon", test_fxdecon);
    g_test_add_func("/baselines/rank", test_rank);
    g_test_add_func("/baselines/rank fills", test_rank_fills);
    g_test_add_func("/baselines/fourier", test_fourier_fills);
    return test_run();
}
