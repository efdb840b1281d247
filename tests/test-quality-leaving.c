// SPDX-License-Identifier: GPL-3.0-or-later
//
// How much signal leaves, without the truth, against the truth.
#include <math.h>

#include "core/engine/probe.h"
#include "core/engine/quality_leaving.h"
#include "core/synth/synth_parts.h"
#include "kernels/kernels.h"
#include "kernels/template/template.h"
#include "tests/common.h"
#include "tests/quality_cubes.h"

// 1 - <f, s> / <s, s> over the recorded traces.
static double true_loss(const Cubes *c, const LithoCube *out)
{
    double fs = 0, ss = 0;
    for (gint64 i = 0; i < out->grid.axis[0].n; i++)
        for (gint64 j = 0; j < out->grid.axis[1].n; j++)
            for (gint64 t = 0; litho_cube_is_live(c->noisy, i, j) && t < out->grid.axis[2].n; t++) {
                const double s = litho_cube_trace(c->truth, i, j)[t];
                fs += litho_cube_trace(out, i, j)[t] * s;
                ss += s * s;
            }
    return 1 - fs / ss;
}

// The figures of one pass by the measured noise level, and the true loss.
static LithoQuality judge(const Cubes *c, const LithoOperator *op, const char *settings,
                          double *loss)
{
    g_autoptr(LithoFlow) flow = quality_flow(op, settings);
    LithoJudge *judge = litho_judge_new(litho_device_cpu());
    LithoNoise noise;
    LithoQuality q;
    g_assert_true(litho_quality_noise(c->noisy, NULL, NULL, &noise, NULL));
    const LithoQualityAsk ask = {.flow = flow,
                                 .in = c->noisy,
                                 .noise = &noise,
                                 .reference = c->truth,
                                 .seed = 1,
                                 .similarity = TRUE};
    g_assert_true(litho_judge_run(judge, &ask, NULL, &q, NULL));
    *loss = true_loss(c, litho_judge_output(judge));
    g_assert_cmpfloat_with_epsilon(q.true_lost, *loss, 1e-6);
    litho_noise_clear(&noise);
    litho_judge_free(judge);
    g_test_message("%s %s: told %.2f %% (%.2f to %.2f), true %.2f; alike %.3f, beside noise %.3f",
                   op->key, settings, 100 * q.lost, 100 * q.lost_low, 100 * q.lost_high,
                   100 * *loss, q.leak.share, q.leak.beside_noise);
    return q;
}

// Property: the amplitude that leaves is told within 1.2 % of it, and in its interval, of linear
// filters, prediction and thresholds, in white noise and coloured, with absent traces.
static void test_lost(gconstpointer words)
{
    const struct {
        const char *op, *settings;
    } cases[] = {{"patch", ""},
                 {"patch", "threshold=5"},
                 {"fx", ""},
                 {"fx", "prewhitening=100 half_width=1"}};
    g_auto(Cubes) c = quality_make("curved", words);
    double loss;
    LithoQuality q = judge(&c, &litho_operator_template, "halfwidth=0 gain=0.75", &loss);
    g_assert_cmpfloat_with_epsilon(loss, 0.25, 0.005); // products of signal and noise
    g_assert_cmpfloat_with_epsilon(q.lost, 0.25, 0.005);
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        q = judge(&c, litho_operator_find(cases[k].op), cases[k].settings, &loss);
        g_assert_cmpfloat_with_epsilon(q.lost, loss, 0.012);
        g_assert_cmpfloat(q.lost_low, <, loss);
        g_assert_cmpfloat(q.lost_high, >, loss);
    }
}

// Property: on a short line in strong noise the amplitude that leaves has a wide interval. It is
// told where that excludes that nothing leaves, and the reading follows it: a third of the
// amplitude had left with a removed part that looked like noise. Where it does not, nothing is
// told.
static void test_wide(void)
{
    enum { TOO_WIDE = 20 }; // percent, from end to end
    guint told = 0;
    for (int seed = 11; seed < 15; seed++) {
        g_autofree char *words =
            g_strdup_printf("inlines=1 xlines=50 samples=501 snr=-6 seed=%d", seed);
        g_auto(Cubes) c = quality_make("fault", words);
        double loss;
        const LithoQuality q = judge(&c, litho_operator_find("wavepacket"), "", &loss);
        if (!isfinite(q.lost))
            continue;
        const gboolean wide = 100 * (q.lost_high - q.lost_low) >= TOO_WIDE;
        g_assert_cmpfloat(q.lost_low, <, loss);
        g_assert_cmpfloat(q.lost_high, >, loss);
        g_assert_true(!wide || q.lost_low > 0);
        if (!wide || !(q.lost > 0.15))
            continue;
        told++;
        g_assert_cmpfloat(loss, >, 0.1);
        g_assert_cmpint(litho_quality_leak_reading(&q), ==, LITHO_LEAK_EVENTS);
    }
    g_assert_cmpuint(told, >=, 2);
}

// Property: what leaves is no more than the error. Low noise on a short line stays in a few
// coefficients and resembles what leaves beside them by a fifth of it, which read "events leave"
// where 3 % of the amplitude had left. Without an error the similarity alone tells.
static void test_no_more_than_the_error(void)
{
    static const char *const seeds[] = {"2", "6"};
    for (guint k = 0; k < G_N_ELEMENTS(seeds); k++) {
        g_autofree char *words =
            g_strdup_printf("inlines=1 xlines=50 samples=501 snr=-6 noise=low seed=%s", seeds[k]);
        g_auto(Cubes) c = quality_make("mix", words);
        double loss;
        LithoQuality q = judge(&c, litho_operator_find("patch"), "", &loss);
        g_assert_cmpfloat(loss, <, 0.05);
        g_assert_cmpfloat(q.leak.beside_noise, >, 0.15);
        g_assert_cmpfloat(litho_quality_leaving(&q), <, 0.15);
        g_assert_cmpint(litho_quality_leak_reading(&q), <, LITHO_LEAK_EVENTS);
        q.expected_low_db = NAN;
        q.lost = NAN;
        g_assert_cmpint(litho_quality_leak_reading(&q), ==, LITHO_LEAK_EVENTS);
        g_assert_cmpfloat(litho_quality_leaving(&q), ==, q.leak.beside_noise);
    }
}

// Property: noise that stays is no event that leaves, though it resembles what is removed; events
// that lose a fifth of their amplitude are told, though nothing of the removed part resembles them.
static void test_reading(void)
{
    g_auto(Cubes) c =
        quality_make("fault", "inlines=40 xlines=40 samples=128 snr=0 seed=612 noise=white");
    double loss;
    LithoQuality q = judge(&c, litho_operator_find("patch"), "threshold=1.2", &loss);
    g_assert_cmpfloat(loss, <, 0.015);
    g_assert_cmpint(litho_leak_reading(&q.leak), ==, LITHO_LEAK_EVENTS);
    g_assert_cmpfloat(q.leak.beside_noise, <, 0.01);
    g_assert_cmpint(litho_quality_leak_reading(&q), ==, LITHO_LEAK_NOISE);
    g_assert_false(litho_quality_leak_has_place(&q));
    g_assert_cmpstr(litho_quality_leak_sentence(&q), ==, "removed looks like the noise that stays");
    q = judge(&c, litho_operator_find("fx"), "prewhitening=100 half_width=1", &loss);
    g_assert_cmpfloat(loss, >, 0.16);
    g_assert_cmpint(litho_leak_reading(&q.leak), ==, LITHO_LEAK_NOISE);
    g_assert_cmpint(litho_quality_leak_reading(&q), ==, LITHO_LEAK_EVENTS);
    g_assert_cmpstr(litho_quality_leak_sentence(&q), ==, "events lose amplitude");
    g_autofree char *text = litho_quality_leaving_text(&q);
    g_assert_true(g_str_has_suffix(text, " %") && strstr(text, " ±"));
    // Where all events keep their amplitude, what is alike leaves at single places.
    LithoQuality place = q;
    place.lost = 0.01;
    place.leak.share = place.leak.beside_noise = 0.08;
    g_assert_cmpstr(litho_quality_leak_sentence(&place), ==, "some signal leaves in places");
    place.leak.share = place.leak.beside_noise = 0.4;
    place.expected_low_db = NAN;
    g_assert_cmpstr(litho_quality_leak_sentence(&place), ==, "events leave in places");
    // Without a noise level the similarity alone tells.
    q.lost = q.expected_low_db = NAN;
    q.leak.share = q.leak.beside_noise = 0.44;
    g_assert_cmpint(litho_quality_leak_reading(&q), ==, LITHO_LEAK_EVENTS);
    g_assert_cmpstr(litho_quality_leak_sentence(&q), ==, "events leave");
    g_autofree char *alike = litho_quality_leaving_text(&q);
    g_assert_cmpstr(alike, ==, "44 %");
    // With one and no lost amplitude told: what is alike beside the noise, as the reading has it.
    q.leak.share = 0.44;
    q.leak.beside_noise = 0.012;
    g_assert_cmpint(litho_quality_leak_reading(&q), ==, LITHO_LEAK_NOISE);
    g_autofree char *beside = litho_quality_leaving_text(&q);
    g_assert_cmpstr(beside, ==, "1.2 %");
}

// Property: a flow that does nothing loses nothing and one that leaves nothing loses all, whatever
// the level; no figure stands where the probe's noise is another one or the interval says nothing.
static void test_ends(void)
{
    LithoNoise noise = litho_noise_white(1, 0.99, 1.01);
    const LithoQualitySums all = {.n = 100000, .yy = 200000, .div = 100000};
    const LithoQualitySums none = {.n = 100000, .yy = 200000, .rr = 200000, .yr = 200000};
    LithoQuality q = litho_quality_unknown();
    litho_quality_tell_lost(&all, &noise, &q);
    g_assert_cmpfloat_with_epsilon(q.lost, 0, 1e-12);
    g_assert_cmpfloat(q.lost_high - q.lost_low, <, 0.013); // products of signal and noise alone
    litho_quality_tell_lost(&none, &noise, &q);
    g_assert_cmpfloat_with_epsilon(q.lost, 1, 1e-12);
    const double unknown[] = {1, 0.5}; // gains that scatter, a level that may be much lower
    for (int k = 0; k < 2; k++) {
        LithoNoise doubtful = litho_noise_white(1, k ? unknown[k] : 0.99, 1.01);
        doubtful.gains = k ? 0 : unknown[k];
        LithoQualitySums half = all;
        half.div = 10000;
        half.yr = 100000;
        q = litho_quality_unknown();
        litho_quality_tell_lost(&half, &doubtful, &q);
        g_assert_true(isnan(q.lost) && isnan(q.lost_low) && isnan(q.lost_high));
        litho_noise_clear(&doubtful);
    }
    litho_noise_clear(&noise);
}

// Property: a low threshold's map of the similarity is dark beside the noise, which stays in the
// output in part and leaves in part, and bright as it is; where events lose half of their amplitude
// both are bright. The map of a part lies on the grid of the judge's output.
static void test_map(void)
{
    const struct {
        const LithoOperator *op;
        const char *settings;
        double least, most; // mean of the map beside the noise
    } cases[] = {{litho_operator_find("patch"), "threshold=1", 0, 0.15},
                 {&litho_operator_template, "halfwidth=0 gain=0.5", 0.3, 1}};
    g_auto(Cubes) c = quality_make("conflict", "inlines=48 xlines=48 samples=128 snr=0 seed=9");
    LithoNoise noise;
    g_assert_true(litho_quality_noise(c.noisy, NULL, NULL, &noise, NULL));
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autoptr(LithoFlow) flow = quality_flow(cases[k].op, cases[k].settings);
        LithoJudge *judge = litho_judge_new(litho_device_cpu());
        double mean[2];
        for (int beside = 0; beside < 2; beside++) {
            const LithoQualityAsk ask = {.flow = flow,
                                         .in = c.noisy,
                                         .area = {{8, 8, 0}, {40, 40, 128}},
                                         .noise = beside ? &noise : NULL,
                                         .seed = 1};
            LithoQuality q;
            g_autoptr(LithoCube) map = NULL;
            gboolean is_beside;
            g_assert_true(litho_judge_run(judge, &ask, NULL, &q, NULL));
            g_assert_true(litho_judge_similarity(judge, NULL, NULL, &map, &is_beside, NULL));
            g_assert_cmpint(is_beside, ==, beside);
            g_assert_true(litho_grid_same_shape(&map->grid, &litho_judge_output(judge)->grid));
            const gint64 n = litho_box_count(map->held);
            g_assert_cmpint(n, ==, litho_box_count(ask.area));
            mean[beside] = 0;
            for (gint64 x = 0; x < n; x++) {
                g_assert_cmpfloat(map->samples[x], <=, 1);
                mean[beside] += map->samples[x] / (double)n;
            }
        }
        g_test_message("%s: mean %.3f, beside the noise %.3f", cases[k].settings, mean[0], mean[1]);
        g_assert_cmpfloat(mean[0], >, 0.3);
        g_assert_cmpfloat(mean[1], <=, cases[k].most);
        g_assert_cmpfloat(mean[1], >=, cases[k].least);
        litho_judge_free(judge);
    }
    litho_noise_clear(&noise);
}

// Property: noise is taken off, never put on: where it is told 30 times too loud, as before the
// first arrivals of a shot, nothing is more alike than it is, in the map and in the share.
static void test_quiet_part(void)
{
    g_auto(Cubes) c = quality_make("conflict", "inlines=32 xlines=32 samples=128 snr=0 seed=9");
    g_autoptr(LithoFlow) flow =
        quality_flow(litho_operator_find("patch"), "threshold=2 sigma=0.02");
    for (gint64 x = 0; x < litho_box_count(c.noisy->held); x++)
        if (x % 128 < 64)
            c.noisy->samples[x] = 0.02F * (float)litho_hash_normal(5, 1, x);
    LithoNoise noise = litho_noise_white(0.6, 0.59, 0.61);
    LithoJudge *judge = litho_judge_new(litho_device_cpu());
    const LithoQualityAsk ask = {
        .flow = flow, .in = c.noisy, .noise = &noise, .seed = 1, .similarity = TRUE};
    LithoQuality q;
    gboolean is_beside;
    double mean[2] = {0}, above = 0;
    g_autoptr(LithoCube) map = NULL;
    g_autoptr(LithoCube) plain = NULL;
    g_assert_true(litho_judge_run(judge, &ask, NULL, &q, NULL));
    g_assert_true(litho_judge_similarity(judge, NULL, NULL, &map, &is_beside, NULL) && is_beside);
    g_assert_true(litho_similarity(c.noisy, litho_judge_output(judge), c.noisy->held, NULL, NULL,
                                   &plain, NULL));
    for (gint64 x = 0; x < litho_box_count(map->held); x++) {
        above = MAX(above, map->samples[x] - plain->samples[x]);
        mean[0] += plain->samples[x] * (x % 128 < 56);
        mean[1] += map->samples[x] * (x % 128 < 56);
    }
    g_test_message("quiet part: as it is %.3f, beside the noise %.3f; share %.3f, %.3f",
                   mean[0] / (32 * 32 * 56), mean[1] / (32 * 32 * 56), q.leak.share,
                   q.leak.beside_noise);
    g_assert_cmpfloat(above, <=, 1e-5);
    g_assert_cmpfloat(mean[1], <, 0.05 * mean[0]);
    g_assert_cmpfloat(q.leak.beside_noise, <=, q.leak.share);
    litho_noise_clear(&noise);
    litho_judge_free(judge);
}

// Property: what a filter spreads into a part without any input is no event that leaves there, and
// where half of an event leaves all of it is alike.
static void test_spread(void)
{
    const LithoGrid grid = litho_grid_new(24, 24, 64);
    g_autoptr(LithoCube) in = litho_cube_new(&grid, NULL);
    g_autoptr(LithoCube) out = litho_cube_new(&grid, NULL);
    g_autoptr(LithoCube) none = litho_cube_new(&grid, NULL);
    for (gint64 x = 0; x < litho_grid_samples(&grid); x++) {
        const gboolean there = x / (24 * 64) < 12; // inlines with an input
        const float event = (float)litho_hash_normal(7, 1, (guint64)(x % 64));
        in->samples[x] = there ? event : 0;
        out->samples[x] = 0.5F * event;
    }
    const LithoSimilarityNoise noise = {.probe = none, .moved = out, .step = 1, .passing = 1};
    g_autoptr(LithoCube) map = NULL;
    g_assert_true(
        litho_similarity_beside(in, out, litho_box_full(&grid), NULL, &noise, NULL, &map, NULL));
    g_test_message("%.3f where half leaves, %.3f beyond", litho_cube_trace(map, 2, 12)[32],
                   litho_cube_trace(map, 21, 12)[32]);
    g_assert_cmpfloat_with_epsilon(litho_cube_trace(map, 2, 12)[32], 1, 0.01);
    g_assert_cmpfloat(litho_cube_trace(map, 21, 12)[32], <, 0.01);
}

// The largest difference of a map from the samples of `all` that lie `shift` before it.
static double map_off(const LithoCube *map, const LithoCube *all, const gint64 shift[3])
{
    double off = 0;
    for (gint64 i = map->held.lo[0]; i < map->held.hi[0]; i++)
        for (gint64 j = map->held.lo[1]; j < map->held.hi[1]; j++)
            for (gint64 t = map->held.lo[2]; t < map->held.hi[2]; t++) {
                const float *a = litho_cube_trace(map, i, j) - map->held.lo[2];
                const float *b =
                    litho_cube_trace(all, i - shift[0], j - shift[1]) - all->held.lo[2] - shift[2];
                off = MAX(off, fabs((double)a[t] - b[t]));
            }
    return off;
}

// Property: the maps of slices that are made after a question are those of the question, on the
// survey's grid, as far as they were judged, whatever the judge does since; of a slice beside the
// judged part there is none.
static void test_beside(gconstpointer key)
{
    const LithoBox area = {{4, 10, 16}, {28, 36, 64}};
    g_auto(Cubes) c = quality_make("conflict", "inlines=40 xlines=44 samples=96 snr=0 seed=9");
    g_autoptr(LithoFlow) flow = quality_flow(litho_operator_find(key), "threshold=1.5");
    LithoJudge *judge = litho_judge_new(litho_device_cpu());
    LithoQualityAsk ask = {.flow = flow, .in = c.noisy, .area = area, .seed = 1};
    LithoNoise noise = litho_noise_white(1, 0.99, 1.01);
    LithoQuality q;
    g_autoptr(LithoCube) all = NULL;
    gboolean is_beside;
    g_assert_true(litho_judge_run(judge, &ask, NULL, &q, NULL));
    g_assert_null(litho_judge_beside(judge));
    ask.noise = &noise;
    g_assert_true(litho_judge_run(judge, &ask, NULL, &q, NULL));
    g_assert_true(litho_judge_similarity(judge, NULL, NULL, &all, &is_beside, NULL));
    g_autoptr(LithoBeside) beside = litho_judge_beside(judge);
    ask.noise = NULL;
    g_assert_true(litho_judge_run(judge, &ask, NULL, &q, NULL)); // drops its own
    const gboolean own = litho_box_equal(all->held, litho_box_full(&all->grid));
    const gint64 none[3] = {0}, at[3] = {20, 30, 40};
    for (int axis = 0; axis < 3; axis++) {
        g_autoptr(LithoCube) map = NULL;
        const LithoBox slice = litho_box_slice(&c.noisy->grid, axis, at[axis]);
        g_assert_true(litho_beside_map(beside, slice, NULL, NULL, &map, NULL));
        g_assert_true(litho_grid_same_shape(&map->grid, &c.noisy->grid));
        g_assert_true(litho_box_equal(map->held, litho_box_intersect(slice, area)));
        const double off = map_off(map, all, own ? area.lo : none);
        g_test_message("%s, axis %d: off by %g", (const char *)key, axis, off);
        g_assert_cmpfloat(off, <, 1e-3); // sums in another order
    }
    g_assert_true(litho_box_empty(
        litho_beside_part(beside, litho_box_slice(&c.noisy->grid, LITHO_INLINE, 30))));
    g_assert_true(litho_box_empty(litho_beside_part(NULL, area)));
    litho_noise_clear(&noise);
    litho_judge_free(judge);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_data_func("/quality-leaving/lost/white",
                         "inlines=36 xlines=36 samples=128 snr=0 seed=611", test_lost);
    if (!TEST_SANITIZED) // the same code on other noise
        g_test_add_data_func("/quality-leaving/lost/low",
                             "inlines=36 xlines=36 samples=128 snr=5 seed=613 noise=low missing=10",
                             test_lost);
    g_test_add_func("/quality-leaving/wide", test_wide);
    test_add_answers("/quality-leaving/error", test_no_more_than_the_error);
    g_test_add_func("/quality-leaving/reading", test_reading);
    g_test_add_func("/quality-leaving/ends", test_ends);
    g_test_add_func("/leaving/map", test_map);
    g_test_add_func("/leaving/quiet-part", test_quiet_part);
    g_test_add_func("/leaving/spread", test_spread);
    g_test_add_data_func("/leaving/beside/local", "patch", test_beside);
    g_test_add_data_func("/leaving/beside/whole", "wavepacket", test_beside);
    return g_test_run();
}
