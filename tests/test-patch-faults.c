// SPDX-License-Identifier: GPL-3.0-or-later
//
// Where events break off windows lose them, and the second pass puts them back
// (kernels/patch/faults.h). Its samples are those of the rules in test-patch.c.
#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "kernels/patch/faults.h"
#include "kernels/patch/patch.h"
#include "tests/common.h"
#include "tests/patch_common.h"

enum { SIZE = 48, SAMPLES = 192 };

static LithoCube *with_noise(const LithoCube *truth, PatchColour colour, double sigma)
{
    g_autoptr(LithoCube) noise = patch_noise(colour, SIZE, SIZE, SAMPLES, sigma, 11);
    return patch_sum(truth, noise);
}

static double snr_of(const LithoCube *in, const LithoCube *truth, const char *words)
{
    const LithoPatchParams p = patch_settings(words);
    g_autoptr(LithoCube) out = patch_run(&litho_patch_cpu, in, &p, NULL, 0);
    return patch_snr(out, truth, NULL);
}

// Property: over a fault and over flips of polarity more of the events comes back than of the
// noise; the level is measured. In weak noise what leaves at a flip is below the limits of small
// windows, too, but nothing is lost.
static void test_gain(void)
{
    LithoCube *const truths[] = {patch_cube(PATCH_FAULT, SIZE, SIZE, SAMPLES),
                                 patch_flipped(SIZE, SIZE, SAMPLES)};
    const double gains[][3] = {{0.7, 0.9, 0}, {0.3, -0.02, -0.02}}; // at 10, 20 and 30 dB, at least
    for (guint k = 0; k < G_N_ELEMENTS(truths); k++) {
        for (int n = 0; n < 3; n++) {
            const int snr = 10 * (n + 1);
            g_autoptr(LithoCube) in = with_noise(truths[k], PATCH_WHITE, pow(10, -snr / 20.0));
            const double plain = snr_of(in, truths[k], "faults=off");
            const double kept = snr_of(in, truths[k], "");
            g_test_message("cube %u, %d dB: without %.2f, with it %.2f", k, snr, plain, kept);
            g_assert_cmpfloat(kept, >, plain + gains[k][n]);
        }
        litho_cube_unref(truths[k]);
    }
}

// Property: where events are whole nothing but chance comes back: 0.15 dB at most, in white noise
// and in the events' own band.
static void test_chance(void)
{
    const PatchKind kinds[] = {PATCH_PLANES, PATCH_CURVED, PATCH_CONFLICT};
    const PatchColour colours[] = {PATCH_WHITE, PATCH_BAND};
    for (guint k = 0; k < G_N_ELEMENTS(kinds); k++)
        for (guint c = 0; c < G_N_ELEMENTS(colours); c++) {
            g_autoptr(LithoCube) truth = patch_cube(kinds[k], SIZE, SIZE, SAMPLES);
            g_autoptr(LithoCube) in = with_noise(truth, colours[c], 1);
            const double plain = snr_of(in, truth, "faults=off"), kept = snr_of(in, truth, "");
            g_test_message("kind %u, noise %u: without %.2f, with it %.2f", k, c, plain, kept);
            g_assert_cmpfloat(kept, >, plain - 0.15);
        }
}

// Property: noise that is 1.7 times as loud as its level says, in a part of the cube, stays away:
// it is loud at all frequencies.
static void test_louder(void)
{
    g_autoptr(LithoCube) truth = patch_cube(PATCH_PLANES, SIZE, SIZE, SAMPLES);
    g_autoptr(LithoCube) in = with_noise(truth, PATCH_WHITE, 0.5);
    for (gint64 k = 0; k < SIZE * SIZE; k++)
        for (gint64 t = 90; t < 120 && k / SIZE >= 16 && k / SIZE < 34 && k % SIZE < 20; t++) {
            const gint64 at = k * SAMPLES + t;
            in->samples[at] += 0.7f * (in->samples[at] - truth->samples[at]);
        }
    const double plain = snr_of(in, truth, "sigma=0.5 faults=off");
    const double kept = snr_of(in, truth, "sigma=0.5");
    g_test_message("without %.2f, with it %.2f", plain, kept);
    g_assert_cmpfloat(kept, >, plain - 0.1);
}

// Property: noise of single traces stays away: bursts of six times the amplitude, of which one of
// twenty traces has one. 0.6 dB at most; they were 1.1 where the largest trace and its share of the
// energy did not count.
static void test_single(void)
{
    g_autoptr(LithoCube) truth = patch_cube(PATCH_PLANES, SIZE, SIZE, SAMPLES);
    g_autoptr(LithoCube) in = with_noise(truth, PATCH_WHITE, 0.3);
    for (gint64 k = 7; k < SIZE * SIZE; k += 20)
        for (gint64 t = k % (SAMPLES - 30); t < k % (SAMPLES - 30) + 30; t++) {
            const gint64 at = k * SAMPLES + t;
            in->samples[at] += 5 * (in->samples[at] - truth->samples[at]);
        }
    const double plain = snr_of(in, truth, "faults=off"), kept = snr_of(in, truth, "");
    g_test_message("without %.2f, with it %.2f", plain, kept);
    g_assert_cmpfloat(kept, >, plain - 0.6);
}

// Property: nothing comes back on traces that were not recorded, and surveys of few lines have no
// such pass.
static void test_recorded(void)
{
    g_autoptr(LithoCube) truth = patch_cube(PATCH_FAULT, SIZE, SIZE, SAMPLES);
    g_autoptr(LithoCube) in = with_noise(truth, PATCH_WHITE, 0.1);
    patch_kill(in, 10, 3);
    const LithoPatchParams on = patch_settings("sigma=0.1"),
                           off = patch_settings("sigma=0.1 faults=off");
    g_autoptr(LithoCube) with = patch_run(&litho_patch_cpu, in, &on, NULL, 0);
    g_autoptr(LithoCube) without = patch_run(&litho_patch_cpu, in, &off, NULL, 0);
    gint64 changed = 0;
    for (gint64 k = 0; k < SIZE * SIZE; k++) {
        const gboolean same = memcmp(with->samples + k * SAMPLES, without->samples + k * SAMPLES,
                                     SAMPLES * sizeof(float)) == 0;
        g_assert_true(in->live[k] || same);
        changed += !same;
    }
    g_assert_cmpint(changed, >, SIZE);
    const LithoGrid lines = litho_grid_new(7, 200, 300), cube = litho_grid_new(8, 200, 300);
    const LithoPatchGeometry few = litho_patch_grid_geometry(&lines, &on);
    const LithoPatchGeometry enough = litho_patch_grid_geometry(&cube, &on);
    g_assert_false(litho_patch_keeps_faults(&few, &on));
    g_assert_true(litho_patch_keeps_faults(&enough, &on));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    test_add_answers("/patch-faults/gain", test_gain);
    test_add_answers("/patch-faults/chance", test_chance);
    g_test_add_func("/patch-faults/louder", test_louder);
    g_test_add_func("/patch-faults/single", test_single);
    g_test_add_func("/patch-faults/recorded", test_recorded);
    return g_test_run();
}
