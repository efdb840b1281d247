// SPDX-License-Identifier: GPL-3.0-or-later
//
// Swell before the local Fourier filter: noise of low frequency that lasts and is loud on some
// traces, or on all. Cubes of known truth; seeds are fixed.
#include <math.h>
#include <string.h>

#include "core/synth/synth_parts.h"
#include "kernels/kernels.h"
#include "kernels/patch/swell.h"
#include "tests/common.h"
#include "tests/patch_common.h"
#include "tests/quality_cubes.h"

// Traces that have swell: groups of cables, six of sixteen crosslines, twelve of
// 40, runs of eight traces along crosslines, one of four at random, 21 crosslines, all.
static gboolean on_lines(gint64 il, gint64 xl)
{
    (void)xl;
    return il <= 2 || il == 7 || il == 8;
}

static gboolean on_groups(gint64 il, gint64 xl)
{
    (void)il;
    return (xl + 3) % 16 < 6;
}

static gboolean on_wide_groups(gint64 il, gint64 xl)
{
    (void)il;
    return (xl + 3) % 40 < 12;
}

static gboolean on_blocks(gint64 il, gint64 xl)
{
    return litho_hash_uniform(11, 1, (guint64)(il * 1000 + xl / 8)) < 0.25;
}

static gboolean on_run(gint64 il, gint64 xl)
{
    (void)il;
    return xl >= 30 && xl <= 50;
}

static gboolean on_all(gint64 il, gint64 xl)
{
    return il >= 0 && xl >= 0;
}

static LithoCube *make(PatchKind kind, const gint64 n[3], PatchColour colour, double snr,
                       LithoCube **clean)
{
    g_autoptr(LithoCube) noise = patch_noise(colour, n[0], n[1], n[2], pow(10, -snr / 20), 31);
    g_autoptr(LithoCube) truth = patch_cube(kind, n[0], n[1], n[2]);
    LithoCube *in = patch_sum(truth, noise);
    if (clean)
        *clean = g_steal_pointer(&truth);
    return in;
}

static LithoCube *run(const LithoCube *in, const char *words)
{
    const LithoPatchParams p = patch_settings(words);
    return patch_run(&litho_patch_cpu, in, &p, NULL, 0);
}

// Property: swell 6 dB and more above the events leaves them with what other noise leaves, less a
// few dB; with swell=off most of it stays (-3 to 15 dB come out).
static void test_truth(void)
{
    const struct {
        PatchKind kind;
        gint64 n[3];
        PatchColour colour;
        double snr;
        gboolean (*where)(gint64 il, gint64 xl);
        double top, db, least;
    } cases[] = {
        {PATCH_PLANES, {14, 100, 256}, PATCH_WHITE, 20, on_lines, 5, 6, 25},
        {PATCH_PLANES, {14, 100, 256}, PATCH_WHITE, 20, on_all, 5, 6, 19},
        {PATCH_PLANES, {14, 100, 256}, PATCH_WHITE, 20, on_run, 5, 6, 25},
        {PATCH_FAULT, {40, 40, 256}, PATCH_WHITE, 5, on_blocks, 8, 12, 16},
        {PATCH_CURVED, {40, 40, 256}, PATCH_LOW, 10, on_groups, 6, 10, 20},
        {PATCH_CONFLICT, {1, 200, 384}, PATCH_WHITE, 10, on_run, 6, 6, 18},
        {PATCH_CONFLICT, {4, 96, 384}, PATCH_WHITE, 10, on_blocks, 6, 6, 17},
    };
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autoptr(LithoCube) clean = NULL;
        g_autoptr(LithoCube) in =
            make(cases[k].kind, cases[k].n, cases[k].colour, cases[k].snr, &clean);
        patch_add_swell(in, cases[k].where, cases[k].top, pow(10, cases[k].db / 20));
        g_autoptr(LithoCube) out = run(in, ""), left = run(in, "swell=off");
        const double snr = patch_snr(out, clean, NULL), without = patch_snr(left, clean, NULL);
        g_test_message("case %u: in %.2f, swell=off %.2f, out %.2f dB", k,
                       patch_snr(in, clean, NULL), without, snr);
        g_assert_cmpfloat(snr, >, cases[k].least);
        g_assert_cmpfloat(snr, >, without + 4);
    }
}

// Property: where no noise is swell every bit is that of swell=off, and no number is measured:
// white noise, noise of low frequency and of a band, traces of unlike amplitude, bursts, an offset.
static void test_none(void)
{
    const gint64 n[3] = {28, 40, 200};
    for (int colour = PATCH_WHITE; colour <= PATCH_BAND; colour++)
        for (int what = 0; what < 4; what++) {
            g_autoptr(LithoCube) in =
                make(what == 1 ? PATCH_RANDOM : PATCH_FAULT, n, colour, what == 2 ? 30 : 3, NULL);
            for (gint64 k = 0; k < litho_cube_held_samples(in); k++)
                if (what == 3)
                    in->samples[k] += k / n[2] % 50 == 7 && k % n[2] > 90 && k % n[2] < 120
                                          ? 20 * (float)sin(0.3 * (double)k)
                                          : 3;
            g_autoptr(LithoCube) out = run(in, ""), off = run(in, "swell=off");
            const LithoPatchParams p = patch_settings("");
            const LithoReader reader = {.grid = &in->grid, .read = patch_read_part, .data = in};
            PatchSwell found;
            g_assert_true(patch_swell_find(&reader, &p, NULL, &found, NULL));
            g_test_message("colour %d, %d", colour, what);
            g_assert_false(found.found);
            patch_assert_part(out, off);
        }
}

// Property: no sample depends on the region, on what is held beyond the region's input box, or on
// the number of threads; numbers go through a recipe.
static void test_regions(void)
{
    const gint64 n[3] = {80, 80, 480};
    const LithoPatchParams p = patch_settings("window=16 balance=off");
    g_autoptr(LithoCube) in = make(PATCH_FAULT, n, PATCH_WHITE, 10, NULL);
    patch_add_swell(in, on_blocks, 6, 2);
    patch_kill(in, 5, 3);
    in->samples[12345] = in->live[12345 / n[2]] ? NAN : 0;
    const LithoReader reader = {.grid = &in->grid, .read = patch_read_part, .data = in};
    g_autoptr(LithoMeasured) numbers = litho_patch_measure(&p, &reader, NULL, NULL);
    g_assert_nonnull(numbers);
    g_assert_true(patch_swell_from_measured(numbers).found);
    g_autoptr(JsonNode) json = litho_measured_to_json(numbers);
    g_autoptr(LithoMeasured) read = litho_measured_from_json(json, NULL);
    LithoRun one = {.threads = 1}, three = {.threads = 3};
    g_autoptr(LithoCube) whole = patch_run_by(&litho_patch_cpu, in, &p, read, NULL, &three);
    const LithoBox region = {.lo = {2, 3, 5}, .hi = {5, 9, 40}};
    const LithoBox box = litho_operator_patch.measured_box(
        &in->grid, &p, numbers, litho_patch_input_box(&in->grid, &p, region));
    for (int a = 0; a < 3; a++)
        g_assert_cmpint(box.hi[a], <, n[a]);
    g_autoptr(LithoCube) around = litho_cube_copy_box(in, box, NULL);
    g_autoptr(LithoCube) part = patch_run_by(&litho_patch_cpu, around, &p, numbers, &region, &one);
    patch_assert_part(whole, part);
}

// Property: swell of one trace alone among weak noise goes down to the level of the noise, and the
// other traces, its mute and missing traces keep what they have.
static void test_one(void)
{
    enum { N = 32, N_T = 400, AT = 10 * N + 17, MUTE = 60 };
    g_autoptr(LithoCube) in = patch_noise(PATCH_WHITE, N, N, N_T, 0.1, 5);
    g_autoptr(LithoCube) before = litho_cube_copy_box(in, in->held, NULL);
    for (int t = 0; t < N_T; t++)
        in->samples[AT * N_T + t] += 5 * (float)sin(2 * G_PI * 2.5 * 0.004 * t);
    memset(in->samples + AT * N_T, 0, MUTE * sizeof(float));
    in->live[5] = 0;
    PatchSwell swell = {.found = TRUE};
    for (int f = 0; f < PATCH_SWELL_LOW; f++)
        swell.low[f] = 0.01f;
    for (int f = 0; f < PATCH_SWELL_ABOVE; f++)
        swell.above[f] = 0.01f;
    g_autoptr(LithoCube) out = litho_cube_copy_box(in, in->held, NULL);
    double part = 0, left = 0, others = 0;
    g_assert_true(patch_swell_remove(&swell, out, &part, NULL, NULL));
    for (int k = 0; k < N * N; k++)
        for (int t = k == AT ? MUTE + 80 : 0; t < N_T; t++) {
            const double d = out->samples[k * N_T + t] - before->samples[k * N_T + t];
            *(k == AT ? &left : &others) += d * d;
        }
    left = sqrt(left / (N_T - MUTE - 80));
    others = sqrt(others / (N * N - 1) / N_T);
    g_test_message("left %.3f of 3.5, others changed by %.4f of 0.1; %.3f of the traces", left,
                   others, part);
    g_assert_cmpfloat(left, <, 0.12);
    g_assert_cmpfloat(others, <, 0.01);
    for (int t = 0; t < MUTE; t++)
        g_assert_true(out->samples[AT * N_T + t] == 0);
    g_assert_cmpmem(out->samples + 5 * N_T, N_T * sizeof(float), before->samples + 5 * N_T,
                    N_T * sizeof(float));
}

// Property: no SNR is told where a line, or a few of them, have swell on groups of traces, with the
// filter's result or its input's swell in it (20 dB told were 3, -1 were 9 to 23). Without swell
// the level knows none, and the SNR is told and right.
static void test_judged(void)
{
    const gint64 lines[][3] = {{1, 256, 400}, {5, 96, 256}};
    for (int k = 0; k < 4; k++) {
        const gint64 *n = lines[k / 2];
        const char *words[] = {"", "swell=off"};
        LithoCube *clean = NULL;
        g_autoptr(LithoCube) in = make(PATCH_CONFLICT, n, PATCH_WHITE, 10, &clean);
        if (k % 2 == 0)
            patch_add_swell(in, n[0] == 1 ? on_wide_groups : on_run, 5, 2);
        LithoNoise noise;
        g_assert_true(litho_quality_noise(in, NULL, NULL, &noise, NULL));
        g_test_message("%d lines: swell %.2f, level %.2f to %.2f", (int)n[0], noise.swell,
                       noise.total, noise.high);
        g_assert_true(k % 2 ? noise.swell == 0 : noise.swell > 0.7 && noise.swell < 1.6);
        g_assert_cmpfloat(noise.high, >=, hypot(noise.total, noise.swell));
        litho_noise_clear(&noise);
        for (int w = 0; w < 2; w++) {
            g_autoptr(LithoFlow) flow = quality_flow(&litho_operator_patch, words[w]);
            g_autoptr(LithoCube) out = NULL;
            const LithoQuality q = quality_pass(flow, in, clean, &out);
            g_test_message("patch %s: told %.2f, true %.2f dB; %s", words[w], q.expected_snr_db,
                           q.snr_db, q.why);
            if (k % 2) {
                g_assert_cmpfloat(fabs(q.expected_snr_db - q.snr_db), <, 2);
                continue;
            }
            g_assert_true(isnan(q.expected_snr_db) && isnan(q.input_snr_db) && q.is_unsure);
            g_assert_nonnull(strstr(q.why, "swell"));
        }
        litho_cube_unref(clean);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    test_add_answers("/patch-swell/truth", test_truth);
    test_add_answers("/patch-swell/none", test_none);
    g_test_add_func("/patch-swell/regions", test_regions);
    g_test_add_func("/patch-swell/one", test_one);
    test_add_answers("/patch-swell/judged", test_judged);
    return g_test_run();
}
