// SPDX-License-Identifier: GPL-3.0-or-later
//
// Guesses for missing traces: what they leave alone, what they do not depend on, and what they are
// for: filters and noise levels on surveys with holes.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/synth/synth_parts.h"
#include "kernels/common/erratic.h"
#include "kernels/common/gaps.h"
#include "kernels/common/noise.h"
#include "kernels/common/window16.h"
#include "kernels/kernels.h"
#include "kernels/patch/patch.h"
#include "tests/patch_common.h"

// Curved events and white noise of standard deviation `sigma` (events have energy 1), every so many
// traces dead.
static LithoCube *survey(double sigma, int dead_of_100, guint32 seed, LithoCube **truth)
{
    *truth = patch_cube(PATCH_CURVED, 48, 48, 160);
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, 48, 48, 160, sigma, seed);
    LithoCube *in = patch_sum(*truth, noise);
    if (dead_of_100 > 0)
        patch_kill(in, dead_of_100, seed);
    return in;
}

static LithoCube *guessed(const LithoCube *in, const LithoGapPieces *pieces, int threads)
{
    LithoRun run = {.threads = threads};
    LithoCube *out = litho_cube_copy_box(in, in->held, NULL);
    g_assert_true(litho_gaps_guess(out, pieces, (LithoGapsRule){0}, &run, NULL));
    return out;
}

// 10 log of energy over that of the difference, on the traces that are live (dead) in `in`.
static double snr_of(gboolean live, const LithoCube *in, const LithoCube *out,
                     const LithoCube *truth)
{
    const gint64 nt = litho_box_size(in->held, 2);
    double energy = 0, off = 0;
    for (gint64 k = 0; k < litho_cube_held_samples(in); k++)
        if (!in->live[k / nt] == !live) {
            const double d = (double)out->samples[k] - truth->samples[k];
            energy += (double)truth->samples[k] * truth->samples[k];
            off += d * d;
        }
    return 10 * log10(energy / off);
}

typedef void (*Transform)(float *re, float *im);

// Numbers that no symmetry hides behind, in [-1, 1].
static void fill_window(float *re, float *im)
{
    guint32 state = 1;
    for (int k = 0; k < 2 * LITHO_WINDOW16; k++) {
        state = state * 1664525u + 1013904223u;
        (k % 2 ? im : re)[k / 2] = (float)(state >> 8) / (1 << 23) - 1;
    }
}

// The coefficient of wavenumbers k in float64.
static void sum_directly(const float *re, const float *im, const int k[3], double sum[2])
{
    sum[0] = sum[1] = 0;
    for (int n = 0; n < LITHO_WINDOW16; n++) {
        const int turns = k[0] * (n / 256) + k[1] * (n / 16 % 16) + k[2] * (n % 16);
        const double c = cos(2 * G_PI * turns / 16), s = -sin(2 * G_PI * turns / 16);
        sum[0] += re[n] * c - im[n] * s;
        sum[1] += re[n] * s + im[n] * c;
    }
}

static void check_transform(Transform forward, Transform backward)
{
    enum { BYTES = LITHO_WINDOW16 * sizeof(float) };
    float *a = aligned_alloc(64, 4 * BYTES), *re = a + 2 * LITHO_WINDOW16;
    float *b = a + LITHO_WINDOW16, *im = re + LITHO_WINDOW16;
    fill_window(a, b);
    memcpy(re, a, 2 * BYTES);
    forward(re, im);
    for (int n = 0; n < LITHO_WINDOW16; n += 37) {
        const int k[3] = {n / 256, n / 16 % 16, n % 16}, at = (k[0] * 16 + k[2]) * 16 + k[1];
        double sum[2];
        sum_directly(a, b, k, sum);
        g_assert_cmpfloat_with_epsilon(re[at], sum[0], 2e-4); // of coefficients near 50
        g_assert_cmpfloat_with_epsilon(im[at], sum[1], 2e-4);
    }
    backward(re, im);
    for (int n = 0; n < LITHO_WINDOW16; n++) {
        g_assert_cmpfloat_with_epsilon(re[n] / LITHO_WINDOW16, a[n], 2e-6);
        g_assert_cmpfloat_with_epsilon(im[n] / LITHO_WINDOW16, b[n], 2e-6);
    }
    free(a);
}

// Property: each build of the transform that this processor can run gives the float64 sums, in the
// order that window16.h tells, and goes back to what it was.
static void test_transform(void)
{
    check_transform(litho_window16_forward, litho_window16_backward);
    check_transform(LITHO_ISA_PICK(litho_window16_forward),
                    LITHO_ISA_PICK(litho_window16_backward));
#ifdef __x86_64__
    if (&litho_window16_forward_avx2 && __builtin_cpu_supports("avx2") &&
        __builtin_cpu_supports("fma"))
        check_transform(litho_window16_forward_avx2, litho_window16_backward_avx2);
#endif
}

// Property: recorded samples stay to the bit, every missing trace gets a guess, which is near the
// truth: 12 dB with a tenth of the traces missing, 6 dB with half of them.
static void test_guess(void)
{
    const struct {
        int dead;
        double least;
    } cases[] = {{10, 12}, {50, 6}};
    for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
        g_autoptr(LithoCube) truth = NULL;
        g_autoptr(LithoCube) in = survey(0.1, cases[c].dead, 3, &truth);
        g_autoptr(LithoCube) out = guessed(in, NULL, 2);
        const gint64 nt = litho_box_size(in->held, 2);
        for (gint64 k = 0; k < 48 * 48; k++) {
            g_assert_cmpint(out->live[k], ==, 1);
            if (in->live[k])
                g_assert_cmpmem(in->samples + k * nt, 4 * nt, out->samples + k * nt, 4 * nt);
        }
        const double snr = snr_of(FALSE, in, out, truth);
        g_test_message("%d %% missing: guesses at %.1f dB", cases[c].dead, snr);
        g_assert_cmpfloat(snr, >, cases[c].least);
    }
}

// Property: any number of threads and any box with what a guess reaches around it give the same
// bits.
static void test_same_bits(void)
{
    g_autoptr(LithoCube) truth = NULL;
    g_autoptr(LithoCube) in = survey(0.3, 20, 4, &truth);
    g_autoptr(LithoCube) whole = guessed(in, NULL, 1), again = guessed(in, NULL, 3);
    g_assert_cmpmem(whole->samples, 4 * litho_cube_held_samples(in), again->samples,
                    4 * litho_cube_held_samples(in));
    const LithoBox boxes[] = {{{9, 0, 0}, {20, 48, 160}}, {{17, 22, 41}, {31, 30, 60}},
                              {{8, 15, 100}, {33, 48, 160}}};
    for (guint b = 0; b < G_N_ELEMENTS(boxes); b++) {
        const LithoBox need = litho_box_grow(
            &in->grid, boxes[b],
            (const gint64[3]){LITHO_GAPS_TRACES, LITHO_GAPS_TRACES, LITHO_GAPS_SAMPLES});
        g_autoptr(LithoCube) part = litho_cube_copy_box(in, need, NULL);
        g_autoptr(LithoCube) out = guessed(part, NULL, 2);
        g_autoptr(LithoCube) mine = litho_cube_copy_box(out, boxes[b], NULL);
        patch_assert_part(whole, mine);
    }
}

// Property: pieces of live traces that are marked read as guesses too; other samples stay.
static void test_pieces(void)
{
    g_autoptr(LithoCube) truth = NULL;
    g_autoptr(LithoCube) in = survey(0.1, 0, 5, &truth);
    const gint64 nt = 160, pieces = 10, bad = 20 * 48 + 30;
    g_autofree guint8 *marks = g_malloc0(48 * 48 * pieces);
    marks[bad * pieces + 4] = 1;
    for (int t = 64; t < 80; t++)
        in->samples[bad * nt + t] = 50;
    const LithoGapPieces list = {.bad = marks, .pieces = pieces, .length = 16};
    g_autoptr(LithoCube) out = guessed(in, &list, 2);
    double off = 0, energy = 0;
    for (gint64 k = 0; k < 48 * 48 * nt; k++)
        if (k / nt == bad && k % nt >= 64 && k % nt < 80) {
            const double d = (double)out->samples[k] - truth->samples[k];
            off += d * d;
            energy += (double)truth->samples[k] * truth->samples[k];
        } else {
            g_assert_cmpfloat(out->samples[k], ==, in->samples[k]);
        }
    g_test_message("burst: %.1f dB", 10 * log10(energy / off));
    g_assert_cmpfloat(off, <, 0.1 * energy);
}

// Property: the level of the noise does not rise with the holes: 3 % with a fifth of the traces
// missing and events of a hundred times the noise's energy, which zeros in their place would turn
// into four times the level.
static void test_level(void)
{
    for (int dead = 0; dead <= 20; dead += 10) {
        g_autoptr(LithoCube) truth = NULL;
        g_autoptr(LithoCube) in = survey(0.1, dead, 6, &truth);
        for (int length = 16; length <= 64; length += 48) {
            LithoNoise noise;
            g_assert_true(litho_noise_measure(in, NULL, (const int[3]){16, 16, length}, 512, NULL,
                                              &noise, NULL));
            g_test_message("%d %% missing, windows of %d: %.4f", dead, length, noise.total);
            g_assert_cmpfloat_with_epsilon(noise.total, 0.1, 0.003);
            litho_noise_clear(&noise);
        }
    }
}

// Property: on traces of one sample guesses are of the size of what is around them, a tenth off at
// most in the mean. Both windows of a pair are the same one there: added twice, guesses are twice
// as large.
static void test_one_sample(void)
{
    const LithoGrid grid = litho_grid_new(40, 36, 1);
    g_autoptr(LithoCube) truth = litho_cube_new(&grid, NULL);
    for (gint64 k = 0; k < litho_grid_traces(&grid); k++)
        truth->samples[k] = (float)(2 + cos(0.3 * (double)(k / 36) - 0.2 * (double)(k % 36)));
    g_autoptr(LithoCube) in = litho_cube_copy_box(truth, truth->held, NULL);
    patch_kill(in, 10, 3);
    g_autoptr(LithoCube) out = guessed(in, NULL, 2);
    double guesses = 0, right = 0;
    for (gint64 k = 0; k < litho_grid_traces(&grid); k++) {
        guesses += in->live[k] ? 0 : out->samples[k];
        right += in->live[k] ? 0 : truth->samples[k];
    }
    g_test_message("guesses are %.3f times the truth", guesses / right);
    g_assert_cmpfloat_with_epsilon(guesses / right, 1, 0.1);
}

// Property: the filter loses no more than 1.5 dB on recorded traces by a fifth of them missing (with
// zeros there 13 dB were lost), and dead traces stay dead.
static void test_filter(void)
{
    double snr[2];
    for (int k = 0; k < 2; k++) {
        g_autoptr(LithoCube) truth = NULL;
        g_autoptr(LithoCube) in = survey(0.18, 20 * k, 7, &truth);
        const LithoPatchParams p = patch_settings("");
        g_autoptr(LithoCube) out = patch_run(&litho_patch_cpu, in, &p, NULL, 2);
        g_assert_cmpmem(in->live, 48 * 48, out->live, 48 * 48);
        snr[k] = snr_of(TRUE, in, out, truth);
    }
    g_test_message("%.2f dB, with a fifth missing %.2f dB", snr[0], snr[1]);
    g_assert_cmpfloat(snr[1], >, snr[0] - 1.5);
}

// Property: where a survey grows sparse, down to traces that stand alone, the filter gains 2 dB on
// events 10 dB above the noise while one trace in seven lives, and makes none louder than it was.
// Windows with fewer than a quarter of their traces once came out as 1 / (their share) times the
// input: -14 dB.
static void test_sparse(void)
{
    g_autoptr(LithoCube) truth = NULL;
    g_autoptr(LithoCube) in = survey(0.32, 0, 8, &truth);
    for (gint64 k = 0; k < 48 * 48; k++)
        in->live[k] = k / 48 < 24 || (k * 2654435761u >> 8) % 1000 < (k / 48 < 40 ? 150 : 10);
    for (gint64 k = 0; k < litho_cube_held_samples(in); k++)
        in->samples[k] *= in->live[k / 160] ? 1 : 0;
    const LithoPatchParams p = patch_settings("");
    g_autoptr(LithoCube) out = patch_run(&litho_patch_cpu, in, &p, NULL, 2);
    double before = 0, after = 0, energy = 0;
    for (gint64 k = 24 * 48; k < 48 * 48; k++) {
        double had = 0, has = 0;
        for (gint64 t = k * 160; in->live[k] && t < (k + 1) * 160; t++) {
            had += in->samples[t] * in->samples[t];
            has += out->samples[t] * out->samples[t];
            if (k / 48 < 40) {
                energy += truth->samples[t] * truth->samples[t];
                before += pow(in->samples[t] - truth->samples[t], 2);
                after += pow(out->samples[t] - truth->samples[t], 2);
            }
        }
        g_assert_cmpfloat(has, <=, 1.1 * had);
    }
    g_test_message("%.2f dB, before %.2f dB", 10 * log10(energy / after),
                   10 * log10(energy / before));
    g_assert_cmpfloat(10 * log10(before / after), >, 2);
}

// A wavelet that moves by `steep` samples from crossline to crossline over next to nothing.
static LithoCube *arrival(gint64 n_il, gint64 n_xl, double steep)
{
    const LithoGrid grid = litho_grid_new(n_il, n_xl, 900);
    LithoCube *cube = litho_cube_new(&grid, NULL);
    for (gint64 k = 0; k < litho_grid_samples(&grid); k++) {
        const double t = (double)(k % 900) - 40 - steep * (double)(k / 900 % n_xl);
        cube->samples[k] = (float)((1 - t * t / 40) * exp(-t * t / 80) + 1e-4 * sin((double)k));
    }
    return cube;
}

// Property: a direct arrival of 38 samples a trace, on a line and on a survey, the trace beside a
// source, six times as strong as most others, and the step to a mute hold no bursts where events are
// to be spared; a burst on either of the first two is one. On the line the plain rule takes the
// arrival for bursts.
static void test_events(void)
{
    const gint64 n_il[] = {1, 9};
    for (guint k = 0; k < G_N_ELEMENTS(n_il); k++) {
        const LithoCleanRule plain = {.above = 4, .missing = LITHO_CLEAN_ABSENT},
                             spare = {.above = 4, .missing = LITHO_CLEAN_ABSENT, .spare_events = 1};
        g_autoptr(LithoCube) in = arrival(n_il[k], 20, 38);
        LithoClean clean = {0};
        g_assert_true(litho_clean(&clean, spare, in, NULL, NULL) == in);
        if (n_il[k] == 1)
            g_assert_true(litho_clean(&clean, plain, in, NULL, NULL) != in);
        litho_clean_clear(&clean);
        float *burst = in->samples + (litho_grid_traces(&in->grid) / 2 + 3) * 900 + 100;
        for (int t = 0; t < 25; t++)
            burst[t] += t % 2 ? 8 : -8;
        const LithoCube *out = litho_clean(&clean, spare, in, NULL, NULL);
        g_assert_true(out != in);
        g_assert_cmpint(clean.traces, ==, 1);
        g_assert_cmpfloat(fabsf(out->samples[burst + 7 - in->samples]), <, 1);
        litho_clean_clear(&clean);
    }
    g_autoptr(LithoCube) muted = arrival(1, 20, 0);
    for (int k = 0; k < 20 * 900; k++)
        muted->samples[k] = k / 900 == 10 && k % 900 > 893 ? 0 : (float)sin(0.1 * (k % 900));
    LithoClean clean = {0};
    const LithoCleanRule spare = {
        .above = 4, .missing = LITHO_CLEAN_ABSENT, .spare_events = TRUE};
    g_assert_true(litho_clean(&clean, spare, muted, NULL, NULL) == muted);
    g_autoptr(LithoCube) shot = arrival(1, 20, 0);
    for (int t = 0; t < 900; t++)
        for (int k = 9; k <= 10; k++)
            shot->samples[k * 900 + t] *= (float)(2 * k - 14);
    g_assert_true(litho_clean(&clean, spare, shot, NULL, NULL) == shot);
    litho_clean_clear(&clean);
}

// White bursts of 30 samples or ringing ones of 90 on 2 % of the traces, single spikes on another
// 2 %, of `above` times the amplitude; marks what they change by more than half of the noise.
static void add_bursts(LithoCube *cube, double above, gboolean ringing, guint8 *changed)
{
    const gint64 nt = cube->grid.axis[2].n, length = ringing ? 90 : 30;
    for (gint64 k = 0; k < litho_grid_traces(&cube->grid); k++) {
        const double u = litho_hash_uniform(19, 1, k);
        const gint64 t0 = (gint64)(litho_hash_uniform(19, 2, k) * (double)(nt - length));
        for (gint64 t = t0; t < t0 + length && (u < 0.02 || u > 0.98); t++) {
            const double s = (double)(t - t0);
            const double x = u > 0.98  ? s == 0
                             : ringing ? 1.4 * exp(-s / 15) * cos(0.7 * s)
                                       : litho_hash_normal(19, 3, k * nt + t);
            cube->samples[k * nt + t] += (float)(above * x);
            changed[k * nt + t] = fabs(above * x) > 0.05;
        }
    }
}

// Property: bursts of 20 and of 6 times the amplitude, their ends, and spikes beside strong events
// are found, on plane, curved, crossing and broken events in weak noise, where what is left of them
// would outweigh it: the cube without them differs from the one that had none by a sixth of the
// noise's amplitude at most (fifteen times that when ends stay), by half of it where they ring. No
// piece is found where there are none.
static void test_all_is_found(void)
{
    const struct {
        double above, least, share;
        gboolean ringing;
    } cases[] = {{20, 35, 0.999, FALSE}, {6, 35, 0.995, FALSE}, {20, 27, 0.4, TRUE}};
    const LithoCleanRule rule = {
        .above = 4, .missing = LITHO_CLEAN_ABSENT, .spare_events = TRUE};
    for (int kind = PATCH_PLANES; kind <= PATCH_FAULT; kind++)
        for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
            g_autoptr(LithoCube) truth = patch_cube((PatchKind)kind, 40, 40, 192);
            g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, 40, 40, 192, 0.1, 8);
            g_autoptr(LithoCube) in = patch_sum(truth, noise);
            g_autoptr(LithoCube) spoilt = litho_cube_copy_box(in, in->held, NULL);
            g_autofree guint8 *changed = g_malloc0(litho_cube_held_samples(in));
            LithoClean clean = {0};
            g_assert_true(litho_clean(&clean, rule, in, NULL, NULL) == in);
            add_bursts(spoilt, cases[c].above, cases[c].ringing, changed);
            const LithoCube *out = litho_clean(&clean, rule, spoilt, NULL, NULL);
            g_assert_nonnull(out);
            double all = 0, found = 0;
            for (gint64 k = 0; k < litho_cube_held_samples(in); k++) {
                all += changed[k];
                found += changed[k] && out->samples[k] != spoilt->samples[k];
            }
            const double snr = patch_snr(out, in, NULL);
            g_test_message("kind %d, %g times%s: %.1f %% found, left %.1f dB below the events",
                           kind, cases[c].above, cases[c].ringing ? ", ringing" : "",
                           100 * found / all, snr);
            g_assert_cmpfloat(found, >=, cases[c].share * all);
            g_assert_cmpfloat(snr, >, cases[c].least);
            litho_clean_clear(&clean);
        }
}

// Property: bursts whose marks grow over borders of regions: a region from what litho_clean_box()
// asks for has the bits of the whole, and so has any number of threads.
static void test_clean_regions(void)
{
    const LithoCleanRule rule = {
        .above = 4, .missing = LITHO_CLEAN_GUESSED, .spare_events = TRUE};
    g_autoptr(LithoCube) truth = NULL;
    g_autoptr(LithoCube) in = survey(0.1, 10, 9, &truth);
    g_autofree guint8 *changed = g_malloc0(litho_cube_held_samples(in));
    add_bursts(in, 20, TRUE, changed);
    LithoClean clean = {0};
    const LithoCube *whole = litho_clean(&clean, rule, in, &(LithoRun){.threads = 1}, NULL);
    for (gint64 lo = 0; lo < 160; lo += 20)
        for (gint64 il = 0; il < 48; il += 24) {
            const LithoBox box = {{il, 13, lo}, {il + 24, 31, lo + 20}};
            g_autoptr(LithoCube) part =
                litho_cube_copy_box(in, litho_clean_box(&in->grid, rule, box), NULL);
            LithoClean other = {0};
            const LithoCube *out = litho_clean(&other, rule, part, &(LithoRun){.threads = 3}, NULL);
            g_autoptr(LithoCube) mine = litho_cube_copy_box(out, box, NULL);
            patch_assert_part(whole, mine);
            litho_clean_clear(&other);
        }
    litho_clean_clear(&clean);
}

// Property: the local Fourier filter finds no burst in a direct arrival and keeps all of it.
static void test_filter_spares(void)
{
    g_autoptr(LithoCube) in = arrival(1, 20, 38);
    const LithoPatchParams p = patch_settings("sigma=1e-6 threshold=0.01");
    g_autoptr(LithoCube) out = patch_run(&litho_patch_cpu, in, &p, NULL, 2);
    const double snr = snr_of(TRUE, in, out, in);
    g_test_message("kept at %.1f dB", snr);
    g_assert_cmpfloat(snr, >, 80);
}

// Property: where every second line of either or of both axes is missing, or every third or fourth,
// guesses hold the events, and regions and threads change no bit of them. An event and its images
// at other wavenumbers are alike there: all or none of them passed, and guesses were zero.
static void test_regular(void)
{
    g_autoptr(LithoCube) truth = NULL;
    g_autoptr(LithoCube) all = survey(0.3, 0, 5, &truth);
    const int every[][2] = {{2, 1}, {1, 2}, {2, 2}, {3, 1}, {1, 4}};
    const double least[] = {12, 12, 9, 9, 5};
    for (guint which = 0; which < G_N_ELEMENTS(every); which++) {
        g_autoptr(LithoCube) in = litho_cube_copy_box(all, all->held, NULL);
        for (gint64 k = 0; k < 48 * 48; k++)
            if (k / 48 % every[which][0] || k % 48 % every[which][1]) {
                in->live[k] = 0;
                memset(in->samples + k * 160, 0, 160 * sizeof(float));
            }
        g_autoptr(LithoCube) out = guessed(in, NULL, 1), again = guessed(in, NULL, 3);
        const double snr = snr_of(FALSE, in, out, truth);
        g_test_message("one in %d inlines and %d crosslines: %.1f dB", every[which][0],
                       every[which][1], snr);
        g_assert_cmpfloat(snr, >, least[which]);
        g_assert_cmpmem(out->samples, 48 * 48 * 160 * sizeof(float), again->samples,
                        48 * 48 * 160 * sizeof(float));
    }
}

// Property: a box has gaps where it holds a live trace and a missing one, whatever lies around it.
static void test_any(void)
{
    const LithoGrid grid = litho_grid_new(7, 9, 3);
    g_autoptr(LithoCube) cube = litho_cube_new(&grid, NULL);
    LithoBox box = {.lo = {2, 3, 0}, .hi = {5, 8, 3}}, none = box;
    none.hi[1] = none.lo[1];
    cube->live[1 * 9 + 4] = cube->live[2 * 9 + 2] = cube->live[4 * 9 + 8] = 0; // beside it
    g_assert_true(litho_gaps_any(cube, litho_box_full(&grid)));
    g_assert_false(litho_gaps_any(cube, box));
    for (int k = 0; k < 15; k++) {
        guint8 *live = &cube->live[(2 + k / 5) * 9 + 3 + k % 5];
        *live = 0;
        g_assert_true(litho_gaps_any(cube, box));
        g_assert_false(litho_gaps_any(cube, none));
        *live = 1;
    }
    memset(cube->live + 2 * 9, 0, 3 * 9);
    g_assert_false(litho_gaps_any(cube, box));
    cube->live[4 * 9 + 7] = 1;
    g_assert_true(litho_gaps_any(cube, box));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/gaps/any", test_any);
    g_test_add_func("/gaps/transform", test_transform);
    g_test_add_func("/gaps/guess", test_guess);
    g_test_add_func("/gaps/one-sample", test_one_sample);
    g_test_add_func("/gaps/same-bits", test_same_bits);
    g_test_add_func("/gaps/pieces", test_pieces);
    g_test_add_func("/gaps/events", test_events);
    g_test_add_func("/gaps/all-is-found", test_all_is_found);
    g_test_add_func("/gaps/clean-regions", test_clean_regions);
    g_test_add_func("/gaps/filter-spares", test_filter_spares);
    g_test_add_func("/gaps/level", test_level);
    g_test_add_func("/gaps/filter", test_filter);
    g_test_add_func("/gaps/sparse", test_sparse);
    g_test_add_func("/gaps/regular", test_regular);
    return g_test_run();
}
