// SPDX-License-Identifier: GPL-3.0-or-later
//
// Where events break off signal leaves with the noise, and is put back: rule 6 of
// kernels/fx/geometry.h.
#include "core/synth/synth_parts.h"
#include "tests/fx_common.h"
#include "tests/patch_cubes.h"

enum { SIZE = 48, SAMPLES = 192 };

// Events of one area end where others begin.
static LithoCube *ended(void)
{
    LithoCube *c = patch_cube(PATCH_PLANES, SIZE, SIZE, SAMPLES);
    g_autoptr(LithoCube) other = patch_cube(PATCH_CONFLICT, SIZE, SIZE, SAMPLES);
    for (gint64 k = 0; k < SIZE * SIZE; k++)
        if (3 * (k / SIZE) + k % SIZE > 2 * SIZE)
            memcpy(c->samples + k * SAMPLES, other->samples + k * SAMPLES, SAMPLES * sizeof(float));
    return c;
}

// Noise of the samples' energy less `snr` dB, `factor` times as strong on some traces.
static LithoCube *with_noise(const LithoCube *truth, PatchColour colour, double snr,
                             gboolean (*strong)(gint64 il, gint64 xl), float factor)
{
    g_autoptr(LithoCube) noise = patch_noise(colour, SIZE, SIZE, SAMPLES, pow(10, -snr / 20), 11);
    for (gint64 k = 0; k < SIZE * SIZE; k++)
        for (gint64 t = 0; t < SAMPLES && strong && strong(k / SIZE, k % SIZE); t++)
            noise->samples[k * SAMPLES + t] *= factor;
    return patch_sum(truth, noise);
}

// SNR of live traces.
static double snr_of(const LithoCube *in, const LithoCube *truth, const char *settings)
{
    g_autoptr(LithoCube) out = fx_run(in, settings, NULL, NULL);
    double signal = 0, error = 0;
    for (gint64 n = 0; n < litho_cube_held_samples(in); n++)
        if (in->live[n / SAMPLES]) {
            signal += pow(truth->samples[n], 2);
            error += pow((double)out->samples[n] - truth->samples[n], 2);
        }
    return 10 * log10(signal / error);
}

// Property: weak noise over a fault, over flips of polarity and over events that end leaves, as on
// plane events. The plain prediction is behind the input there, at 30 dB by 2 dB and more.
static void test_weak_noise(void)
{
    LithoCube *const truths[] = {patch_cube(PATCH_FAULT, SIZE, SIZE, SAMPLES),
                                 patch_flipped(SIZE, SIZE, SAMPLES), ended()};
    for (guint k = 0; k < G_N_ELEMENTS(truths); k++) {
        for (double snr = 20; snr <= 40; snr += 10) {
            g_autoptr(LithoCube) in = with_noise(truths[k], PATCH_WHITE, snr, NULL, 1);
            const double plain = snr_of(in, truths[k], "faults=off");
            const double kept = snr_of(in, truths[k], "");
            g_test_message("cube %u, %.0f dB: plain %.2f, kept %.2f", k, snr, plain, kept);
            if (snr >= 30)
                g_assert_cmpfloat(plain, <, snr - 1);
            g_assert_cmpfloat(kept, >, plain + (snr < 30 ? 1 : 2.5));
        }
        litho_cube_unref(truths[k]);
    }
}

static gboolean on_traces(gint64 il, gint64 xl)
{
    return (il * 31 + xl * 17) % 37 == 0;
}

static gboolean on_lines(gint64 il, gint64 xl)
{
    (void)xl;
    return il % 13 == 5;
}

static gboolean in_a_patch(gint64 il, gint64 xl)
{
    return (il - 20) * (il - 20) + (xl - 28) * (xl - 28) < 50;
}

// Property: noise is not put back, be it strong on single traces, on lines or in one place, and of
// the signal's own band; nor where traces are missing. The plain prediction is ahead by 0.1 dB at
// most.
static void test_noise_leaves(void)
{
    gboolean (*const places[])(gint64, gint64) = {NULL, on_traces, on_lines, in_a_patch};
    static const PatchKind kinds[] = {PATCH_PLANES, PATCH_CONFLICT, PATCH_CURVED};
    for (guint k = 0; k < G_N_ELEMENTS(kinds); k++) {
        g_autoptr(LithoCube) truth = patch_cube(kinds[k], SIZE, SIZE, SAMPLES);
        for (int colour = PATCH_WHITE; colour <= (k == 0 ? PATCH_BAND : PATCH_WHITE); colour++)
            for (guint m = 0; m < G_N_ELEMENTS(places); m++)
                for (double snr = -6; snr <= 20; snr += 16) {
                    g_autoptr(LithoCube) in = with_noise(truth, colour, snr, places[m], 4);
                    if (m == 0)
                        patch_kill(in, 10, 3);
                    const double plain = snr_of(in, truth, "faults=off");
                    const double kept = snr_of(in, truth, "");
                    g_test_message("cube %u, colour %d, place %u, %.0f dB: %.2f, %+.3f", k, colour,
                                   m, snr, plain, kept - plain);
                    g_assert_cmpfloat(kept, >, plain - 0.1);
                }
    }
}

// Property: filled traces take the prediction, bit for bit; recorded ones beside them gain.
static void test_filled(void)
{
    g_autoptr(LithoCube) truth = patch_flipped(SIZE, SIZE, SAMPLES);
    g_autoptr(LithoCube) in = with_noise(truth, PATCH_WHITE, 30, NULL, 1);
    patch_kill(in, 30, 7);
    g_autoptr(LithoCube) kept = fx_run(in, "fill_dead=on", NULL, NULL);
    g_autoptr(LithoCube) plain = fx_run(in, "fill_dead=on faults=off", NULL, NULL);
    int filled = 0;
    for (gint64 k = 0; k < SIZE * SIZE; k++)
        if (!in->live[k]) {
            filled += kept->live[k];
            g_assert_cmpmem(kept->samples + k * SAMPLES, SAMPLES * sizeof(float),
                            plain->samples + k * SAMPLES, SAMPLES * sizeof(float));
        }
    g_test_message("%d traces filled", filled);
    g_assert_cmpint(filled, >, SIZE * SIZE / 5);
    g_assert_cmpfloat(snr_of(in, truth, "fill_dead=on"), >,
                      snr_of(in, truth, "fill_dead=on faults=off") + 1);
}

// Property: the samples depend neither on the region, nor on the threads, nor on whether spectra
// are kept; with both ways of treating the rest of the spectrum they are the same.
static void test_same(void)
{
    const char *settings = "window=14";
    g_autoptr(LithoCube) truth = patch_flipped(SIZE, SIZE, SAMPLES);
    g_autoptr(LithoCube) in = with_noise(truth, PATCH_WHITE, 30, NULL, 1);
    g_autoptr(LithoCube) whole = fx_run(in, settings, NULL, NULL);
    g_autoptr(LithoCube) plain = fx_run(in, "window=14 faults=off", NULL, NULL);
    g_assert_cmpfloat(fx_relative(whole, plain), >, 0.02); // there was something to put back
    for (int threads = 1; threads <= 3; threads += 2) {
        g_autoptr(LithoCube) same = fx_run(in, settings, NULL, &(LithoRun){.threads = threads});
        g_assert_true(fx_same_bits(same, whole));
    }
    const LithoBox parts[] = {{{20, 0, 0}, {21, SIZE, SAMPLES}},
                              {{0, 33, 0}, {SIZE, 34, SAMPLES}},
                              {{11, 7, 30}, {40, 30, 122}}};
    for (guint k = 0; k < G_N_ELEMENTS(parts); k++) {
        g_autoptr(LithoCube) part = fx_run(in, settings, &parts[k], NULL);
        fx_assert_region_equal(part, whole, parts[k]);
    }
    g_autoptr(LithoCube) muted = fx_run(in, "window=14 outband=mute", NULL, NULL);
    g_assert_cmpfloat(fx_relative(muted, whole), <, 2e-6);
}

// Property: faint and loud samples are treated alike, in windows larger than a piece, too.
static void test_scale(void)
{
    static const char *const settings[] = {"erratic=0", "window=60 erratic=0"};
    g_autoptr(LithoCube) truth = patch_flipped(SIZE, SIZE, SAMPLES);
    g_autoptr(LithoCube) in = with_noise(truth, PATCH_WHITE, 30, NULL, 1);
    for (guint k = 0; k < G_N_ELEMENTS(settings); k++) {
        g_autoptr(LithoCube) out = fx_run(in, settings[k], NULL, NULL);
        for (int power = -50; power <= 40; power += 90) {
            g_autoptr(LithoCube) other = litho_cube_copy_box(in, in->held, NULL);
            for (gint64 n = 0; n < litho_cube_held_samples(in); n++)
                other->samples[n] = ldexpf(other->samples[n], power);
            g_autoptr(LithoCube) scaled = fx_run(other, settings[k], NULL, NULL);
            for (gint64 n = 0; n < litho_cube_held_samples(in); n++)
                scaled->samples[n] = ldexpf(scaled->samples[n], -power);
            g_assert_cmpfloat(fx_relative(scaled, out), <, 1e-6);
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/fx-faults/weak-noise", test_weak_noise);
    g_test_add_func("/fx-faults/noise-leaves", test_noise_leaves);
    g_test_add_func("/fx-faults/filled", test_filled);
    g_test_add_func("/fx-faults/same", test_same);
    g_test_add_func("/fx-faults/scale", test_scale);
    return g_test_run();
}
