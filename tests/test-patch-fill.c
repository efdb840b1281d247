// SPDX-License-Identifier: GPL-3.0-or-later
//
// Missing traces of surveys as they are recorded: amplitudes that decay along time without gain,
// and gains that scatter from trace to trace. One threshold falls for a whole block, and stopped 50
// dB below the largest coefficient: late traces stayed empty. Events of uneven traces are spread
// over all wavenumbers: what was filled between them was 7 to 9 dB worse.
#include <math.h>

#include "kernels/kernels.h"
#include "tests/common.h"
#include "tests/patch_common.h"

enum { N_IL = 40, N_XL = 44, N_T = 128 };

static LithoCube *filled(const LithoCube *in, const char *setting)
{
    const LithoPatchParams params = patch_settings(setting);
    return patch_run(&litho_patch_cpu, in, &params, NULL, 2);
}

static double decay_of(double db, gint64 t)
{
    return pow(10, -db * (double)t / N_T / 20);
}

static void decay(LithoCube *cube, double db)
{
    for (gint64 k = 0; k < N_IL * N_XL * N_T; k++)
        cube->samples[k] *= (float)decay_of(db, k % N_T);
    litho_cube_touch(cube);
}

// SNR of the filled traces, each sample over the decay.
static double snr_of_filled(const LithoCube *truth, const LithoCube *in, const LithoCube *out,
                            double db)
{
    double signal = 0, error = 0;
    for (gint64 k = 0; k < N_IL * N_XL * N_T; k++)
        if (!in->live[k / N_T]) {
            signal += (double)truth->samples[k] * truth->samples[k];
            error += pow(out->samples[k] / decay_of(db, k % N_T) - truth->samples[k], 2);
        }
    return 10 * log10(signal / error);
}

static LithoCube *with_gaps(const LithoCube *truth, double noise)
{
    g_autoptr(LithoCube) n = patch_noise(PATCH_WHITE, N_IL, N_XL, N_T, noise, 7);
    LithoCube *in = patch_sum(truth, n);
    patch_kill(in, 30, 9);
    return in;
}

static void assert_recorded(const LithoCube *in, const LithoCube *out)
{
    for (gint64 k = 0; k < N_IL * N_XL; k++)
        if (in->live[k])
            g_assert_cmpmem(in->samples + k * N_T, N_T * sizeof(float), out->samples + k * N_T,
                            N_T * sizeof(float));
}

// Property: layers that decay by 40 and 60 dB are filled within 1.5 dB as well as those that do
// not, in which the floor stays, and with it every bit. By one floor it was 5 to 10 dB less.
static void test_decay(void)
{
    for (int noisy = 0; noisy < 2; noisy++) {
        g_autoptr(LithoCube) truth = patch_folded(N_IL, N_XL, N_T, 1, 3);
        g_autoptr(LithoCube) in = with_gaps(truth, noisy ? 0.1 : 0.001);
        g_autoptr(LithoCube) even = filled(in, "mode=fill");
        g_autoptr(LithoCube) as_given = filled(in, "mode=fill floor=0.003");
        const double usual = snr_of_filled(truth, in, even, 0);
        g_assert_cmpmem(even->samples, 4 * litho_cube_held_samples(even), as_given->samples,
                        4 * litho_cube_held_samples(even));
        for (double db = 40; db < 70; db += 20) {
            g_autoptr(LithoCube) late = litho_cube_copy_box(in, in->held, NULL);
            decay(late, db);
            g_autoptr(LithoCube) out = filled(late, "mode=fill");
            g_autoptr(LithoCube) one = filled(late, "mode=fill floor=0.003");
            const double snr = snr_of_filled(truth, in, out, db);
            const double before = snr_of_filled(truth, in, one, db);
            g_test_message("%g dB: %.1f dB, %.1f without decay, %.1f by one floor", db, snr, usual,
                           before);
            g_assert_cmpfloat(snr, >, usual - 1.5);
            g_assert_cmpfloat(before, <, snr - 1);
            assert_recorded(late, out);
        }
    }
}

static void scale_traces(LithoCube *cube, gboolean turned)
{
    for (gint64 k = 0; k < N_IL * N_XL; k++) {
        const double x = k * 0.6180339887 - floor(k * 0.6180339887);
        const double gain = turned ? (k % 47 == 20 ? -1 : 1) : exp(1.0 * (x - 0.5));
        for (gint64 t = 0; t < N_T; t++)
            cube->samples[k * N_T + t] *= (float)gain;
    }
    litho_cube_touch(cube);
}

// Property: traces between those whose amplitudes scatter by 30 %, or of which 2 % are reversed,
// are filled 3 dB better over the gains. Recorded traces keep every bit when they are only filled.
static void test_gains(void)
{
    for (int turned = 0; turned < 2; turned++) {
        g_autoptr(LithoCube) truth = patch_cube(PATCH_PLANES, N_IL, N_XL, N_T);
        g_autoptr(LithoCube) in = with_gaps(truth, 0.1);
        scale_traces(in, turned);
        const char *const words[] = {"mode=fill", "mode=both"};
        for (int k = 0; k < 2; k++) {
            g_autofree char *off = g_strconcat(words[k], " balance=off", NULL);
            g_autoptr(LithoCube) out = filled(in, words[k]), as_is = filled(in, off);
            const double with = snr_of_filled(truth, in, out, 0);
            const double without = snr_of_filled(truth, in, as_is, 0);
            g_test_message("%s, %s: %.1f dB, %.1f without gains", words[k],
                           turned ? "reversed" : "uneven", with, without);
            g_assert_cmpfloat(with, >, without + 3);
            if (k == 0)
                assert_recorded(in, out);
        }
    }
}

// A trace with a sample that is not finite is missing, also where gains are known.
static void test_not_finite(void)
{
    g_autoptr(LithoCube) truth = patch_cube(PATCH_PLANES, N_IL, N_XL, N_T);
    g_autoptr(LithoCube) in = with_gaps(truth, 0.1);
    scale_traces(in, FALSE);
    gint64 at = 20 * N_XL + 20;
    while (!in->live[at])
        at++;
    in->samples[at * N_T + 60] = NAN;
    g_autoptr(LithoCube) out = filled(in, "mode=fill");
    g_assert_true(isfinite(out->samples[at * N_T + 60]));
    g_assert_cmpfloat(fabs(out->samples[at * N_T + 60] - truth->samples[at * N_T + 60]), <, 0.5);
    g_assert_cmpfloat(out->samples[at * N_T + 30], !=, in->samples[at * N_T + 30]);
}

// Property: a region by what was measured of the survey, the floor and the gains among it, has the
// samples of a run in one piece.
static void test_parts(void)
{
    for (int k = 0; k < 2; k++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(LithoCube) truth = patch_cube(PATCH_PLANES, N_IL, N_XL, N_T);
        g_autoptr(LithoCube) in = with_gaps(truth, 0.1);
        scale_traces(in, FALSE);
        decay(in, 60);
        const LithoPatchParams params = patch_settings(k ? "mode=both" : "mode=fill");
        const LithoReader reader = {.grid = &in->grid, .read = patch_read_part, .data = in};
        g_autoptr(LithoMeasured) measured = litho_patch_measure(&params, &reader, NULL, &error);
        g_assert_no_error(error);
        LithoRun run = {.threads = 2};
        const LithoBox region = {{3, 5, 0}, {20, 30, N_T}};
        g_autoptr(LithoCube) whole =
            patch_run_by(&litho_patch_cpu, in, &params, measured, NULL, &run);
        g_autoptr(LithoCube) part =
            patch_run_by(&litho_patch_cpu, in, &params, measured, &region, &run);
        patch_assert_part(whole, part);
        g_autoptr(LithoCube) one = filled(in, k ? "mode=both" : "mode=fill");
        g_assert_cmpfloat(patch_snr(one, whole, NULL), >, 40);
        g_assert_cmpfloat(patch_chosen(in, "mode=fill").floor, <, 0.001);
        g_assert_cmpint(patch_chosen(in, "mode=fill").iterations, >, 30);
        g_assert_cmpfloat(patch_chosen(in, "mode=fill floor=0.01").floor, ==, 0.01);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    test_add_answers("/patch-fill/decay", test_decay);
    test_add_answers("/patch-fill/gains", test_gains);
    g_test_add_func("/patch-fill/not-finite", test_not_finite);
    g_test_add_func("/patch-fill/parts", test_parts);
    return g_test_run();
}
