// SPDX-License-Identifier: GPL-3.0-or-later
//
// Noise that grows towards the edges of a survey, as its fold decreases: the local Fourier filter
// follows it within a few traces.
#include <math.h>

#include "core/error.h"
#include "kernels/common/noise_traces.h"
#include "kernels/kernels.h"
#include "tests/common.h"
#include "tests/patch_common.h"

enum { N_IL = 56, N_XL = 64, N_T = 192, FULL = 12 };

// Amplitude of a trace's noise, where the fold grows up to FULL traces from the edge.
static double louder(gint64 il, gint64 xl)
{
    const gint64 in = MIN(il, N_IL - 1 - il), across = MIN(xl, N_XL - 1 - xl);
    return sqrt(FULL / (double)MIN(MIN(in, across) + 1, FULL));
}

static gboolean is_inside(gint64 il, gint64 xl)
{
    return louder(il, xl) == 1;
}

// Events of `kind` in noise that is `db` below them where the fold is full.
static LithoCube *noisy(PatchKind kind, double db, gboolean grows, LithoCube **truth)
{
    *truth = patch_cube(kind, N_IL, N_XL, N_T);
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, N_IL, N_XL, N_T, pow(10, -db / 20), 7);
    for (gint64 k = 0; grows && k < litho_cube_held_samples(noise); k++)
        noise->samples[k] *= (float)louder(k / N_T / N_XL, k / N_T % N_XL);
    return patch_sum(*truth, noise);
}

// Property: the noise of the traces at one distance from the edge is told within 6 % of its
// amplitude, beside planes, curved events and faults, 20 dB and none above it; that of one trace,
// with an error of 16 %.
static void test_powers(void)
{
    for (int kind = 0; kind < PATCH_RANDOM; kind++)
        for (int db = 0; db <= 20; db += 20) {
            g_autoptr(LithoCube) truth = NULL;
            g_autoptr(LithoCube) in = noisy(kind, db, TRUE, &truth);
            NoiseTraces *traces = noise_traces_new(&in->grid, NULL);
            g_assert_true(noise_traces_add(traces, in, NULL, in->held, NULL, NULL));
            g_autofree float *power = noise_traces_powers(traces, 2, NULL);
            noise_traces_free(traces);
            g_assert_nonnull(power);
            double error[FULL] = {0}, all = 0, middle = 0, inside = 0;
            int n[FULL] = {0}, n_inside = 0, known = 0;
            for (int pass = 0; pass < 2; pass++)
                for (gint64 k = 0; k < N_IL * N_XL; k++) {
                    const double by = louder(k / N_XL, k % N_XL);
                    if (!(power[k] > 0)) // a corner
                        continue;
                    known += pass;
                    const double e = 0.5 * log(power[k]) - log(by);
                    const int d = (int)lrint(FULL / (by * by)) - 1;
                    if (pass == 0 && by == 1) {
                        inside += e;
                        n_inside++;
                    }
                    middle = inside / n_inside;
                    if (pass == 0)
                        continue;
                    error[d] += e - middle;
                    n[d]++;
                    all += (e - middle) * (e - middle);
                }
            g_test_message("kind %d, %d dB: %.3f of a trace, %.3f of the outermost", kind, db,
                           sqrt(all / known), error[0] / n[0]);
            g_assert_cmpint(known, ==, N_IL * N_XL - 4);
            g_assert_cmpfloat(sqrt(all / known), <, 0.16);
            for (int d = 0; d < FULL; d++)
                g_assert_cmpfloat(fabs(error[d] / n[d]), <, 0.06);
        }
}

static double snr_of(const LithoCube *out, const LithoCube *truth, gboolean inside)
{
    double error = 0, energy = 0;
    for (gint64 k = 0; k < litho_cube_held_samples(truth); k++) {
        if (is_inside(k / N_T / N_XL, k / N_T % N_XL) != inside)
            continue;
        error += pow(out->samples[k] - truth->samples[k], 2);
        energy += pow(truth->samples[k], 2);
    }
    return 10 * log10(energy / error);
}

// Property: where the fold decreases, noise of twice the amplitude in the mean costs no more than 7
// dB, and 1.8 inside, where windows reach the edges. With the levels of cells of 16 traces the
// edges of curved events came out with 3.0 dB of 17.3.
static void test_edges(void)
{
    for (int kind = PATCH_CURVED; kind < PATCH_RANDOM; kind++)
        for (int db = 0; db <= 10; db += 10) {
            g_autoptr(LithoCube) truth = NULL, same = NULL;
            g_autoptr(LithoCube) in = noisy(kind, db, TRUE, &truth);
            g_autoptr(LithoCube) even = noisy(kind, db, FALSE, &same);
            const LithoPatchParams params = patch_settings("");
            g_autoptr(LithoCube) out =
                patch_run_by(&litho_patch_cpu, in, &params, NULL, NULL, NULL);
            g_autoptr(LithoCube) alike =
                patch_run_by(&litho_patch_cpu, even, &params, NULL, NULL, NULL);
            g_test_message("kind %d, %d dB: edges %.2f, inside %.2f; alike %.2f, %.2f", kind, db,
                           snr_of(out, truth, FALSE), snr_of(out, truth, TRUE),
                           snr_of(alike, truth, FALSE), snr_of(alike, truth, TRUE));
            g_assert_cmpfloat(snr_of(out, truth, FALSE), >, snr_of(alike, truth, FALSE) - 7);
            g_assert_cmpfloat(snr_of(out, truth, TRUE), >, snr_of(alike, truth, TRUE) - 1.8);
        }
}

static LithoCube *read_cube(const LithoBox *box, LithoRun *run, gpointer data, GError **error)
{
    (void)run;
    return litho_cube_copy_box(data, *box, error);
}

// Property: a survey that is read in parts has the levels of one that is held, to the bit, and so
// has a recipe that states them.
static void test_parts(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) truth = NULL;
    g_autoptr(LithoCube) in = noisy(PATCH_CURVED, 10, TRUE, &truth);
    const LithoReader reader = {.grid = &in->grid, .read = read_cube, .data = in, .bytes = 1};
    const LithoPatchParams params = patch_settings("");
    g_autoptr(LithoMeasured) measured = litho_patch_measure(&params, &reader, NULL, &error);
    g_assert_no_error(error);
    g_autoptr(LithoCube) whole = patch_run_by(&litho_patch_cpu, in, &params, NULL, NULL, NULL);
    g_autoptr(LithoCube) stated = patch_run_by(&litho_patch_cpu, in, &params, measured, NULL, NULL);
    g_assert_cmpmem(whole->samples, litho_cube_held_samples(whole) * sizeof(float), stated->samples,
                    litho_cube_held_samples(stated) * sizeof(float));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/patch-edges/powers", test_powers);
    test_add_answers("/patch-edges/edges", test_edges);
    g_test_add_func("/patch-edges/parts", test_parts);
    return g_test_run();
}
