// SPDX-License-Identifier: GPL-3.0-or-later
//
// Data that went through a filter before: their noise is where their events are, and no level tells
// it from them.
#include <glib.h>
#include <math.h>
#include <string.h>

#include "core/engine/find.h"
#include "core/engine/probe.h"
#include "core/engine/quality.h"
#include "kernels/kernels.h"
#include "tests/quality_cubes.h"

// The quality of one pass of `flow` over `in`; the pass's output to `out` where it is not NULL.
static LithoQuality pass(const LithoFlow *flow, LithoCube *in, LithoCube *truth, LithoCube **out)
{
    LithoJudge *judge = litho_judge_new(litho_device_cpu());
    LithoNoise noise;
    LithoQuality q;
    g_assert_true(litho_quality_noise(in, NULL, NULL, &noise, NULL));
    g_test_message("lumps %.2f", noise.lumps);
    const LithoQualityAsk ask = {
        .flow = flow, .in = in, .noise = &noise, .reference = truth, .seed = 1};
    g_assert_true(litho_judge_run(judge, &ask, NULL, &q, NULL));
    if (out)
        *out = litho_cube_copy_box(litho_judge_output(judge), in->held, NULL);
    litho_noise_clear(&noise);
    litho_judge_free(judge);
    g_test_message("told %.2f, true %.2f dB", q.expected_snr_db, q.snr_db);
    return q;
}

// Property: where no SNR can be told the search ends after the setting as it is; it tried all settings
// for half a minute.
static void find_nothing(const LithoFlow *flow, LithoCube *in)
{
    LithoJudge *judge = litho_judge_new(litho_device_cpu());
    LithoNoise noise;
    LithoFind find;
    g_assert_true(litho_quality_noise(in, NULL, NULL, &noise, NULL));
    const LithoFindAsk ask = {.quality = {.flow = flow, .in = in, .noise = &noise, .seed = 1}};
    g_assert_true(litho_find(judge, &ask, NULL, &find, NULL));
    g_assert_cmpuint(find.trials, ==, 1);
    g_assert_cmpfloat(find.gain_db, ==, 0);
    g_assert_true(find.found.is_filtered);
    for (guint k = 0; k < find.n; k++)
        g_assert_cmpfloat(find.item[k].found, ==, find.item[k].now);
    litho_noise_clear(&noise);
    litho_judge_free(judge);
}

// Property: the SNR of a second pass is not told, and why; it was told as 25 dB give or
// take one where 11 were true. The first pass over noise as it is recorded, white or not, weak or
// with traces missing, is told with its interval. Such noise has 1.0 lumps (1.2 where events of 30
// dB lie over it), filtered data 1.6 to 7.
static void test_second_pass(void)
{
    static const char *const settings[] = {"snr=0", "snr=0 noise=low", "snr=30",
                                           "snr=10 missing=10"};
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, litho_operator_find("fx"));
    for (guint k = 0; k < G_N_ELEMENTS(settings); k++) {
        g_autofree char *words =
            g_strdup_printf("inlines=48 xlines=48 samples=128 seed=5 %s", settings[k]);
        g_auto(Cubes) c = quality_make("curved", words);
        g_autoptr(LithoCube) once = NULL;
        const LithoQuality first = pass(flow, c.noisy, c.truth, &once);
        g_assert_false(first.is_filtered);
        g_assert_true(isfinite(first.expected_low_db) && isfinite(first.expected_gain_db));
        if (k > 0)
            continue;
        const LithoQuality second = pass(flow, once, c.truth, NULL);
        g_assert_true(second.is_filtered);
        g_assert_cmpfloat(second.expected_snr_db, >, second.snr_db);
        g_assert_false(isfinite(second.expected_low_db) || isfinite(second.expected_gain_db));
        g_assert_nonnull(strstr(second.why, "clean or filtered"));
        g_autofree char *text = litho_quality_expected_text(&second);
        g_assert_cmpstr(text, ==, "not known");
        find_nothing(flow, once);
    }
}

// Property: data of which next to nothing is noise are told so in words, without a figure that the
// leak of their events makes up: clean events were told as "at most 36 dB" where the truth was 83.
static void test_clean(void)
{
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, litho_operator_find("patch"));
    g_auto(Cubes) c = quality_make("curved", "inlines=32 xlines=32 samples=96 seed=5 snr=300");
    const LithoQuality q = pass(flow, c.noisy, c.truth, NULL);
    g_autofree char *text = litho_quality_expected_text(&q);
    g_test_message("%s", text);
    g_assert_true(q.is_filtered || q.is_clean);
    g_assert_null(strstr(text, "at most"));
    // A level far below the data, and a filter that removes no more than that.
    litho_operator_set(litho_operator_find("patch"), litho_flow_step(flow, 0)->params, "sigma=1e-5",
                       NULL);
    LithoNoise little = litho_noise_white(1e-4, 0.9e-4, 1.1e-4);
    const LithoQualityAsk ask = {.flow = flow, .in = c.noisy, .noise = &little, .seed = 1};
    LithoJudge *judge = litho_judge_new(litho_device_cpu());
    LithoQuality clean;
    g_assert_true(litho_judge_run(judge, &ask, NULL, &clean, NULL));
    litho_judge_free(judge);
    litho_noise_clear(&little);
    g_autofree char *words = litho_quality_expected_text(&clean);
    g_assert_cmpstr(words, ==, "more than 40 dB");
}

// --- noise that keeps to some wavenumbers -------------------------------------------------------

typedef struct Searched {
    LithoFind find;
    double level; // of the noise that was added
} Searched;

// Settings found for `op` on a generated cube whose noise is mixed from trace to trace.
static Searched search_mixed(const char *kind, const char *op, const char *more)
{
    g_autofree char *words =
        g_strdup_printf("inlines=48 xlines=48 samples=160 seed=5 noise=mixed %s", more);
    g_auto(Cubes) c = quality_make(kind, words);
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, litho_operator_find(op));
    LithoJudge *judge = litho_judge_new(litho_device_cpu());
    LithoNoise noise;
    Searched s;
    double sum = 0;
    const gint64 n = litho_cube_held_samples(c.noisy);
    for (gint64 k = 0; k < n; k++)
        sum += pow((double)c.noisy->samples[k] - c.truth->samples[k], 2);
    g_assert_true(litho_quality_noise(c.noisy, NULL, NULL, &noise, NULL));
    s.level = noise.total / sqrt(sum / (double)n);
    const LithoFindAsk ask = {
        .quality = {.flow = flow, .in = c.noisy, .noise = &noise, .reference = c.truth, .seed = 1}};
    g_assert_true(litho_find(judge, &ask, NULL, &s.find, NULL));
    g_test_message(
        "%s %s %s: level %.3f, true %.2f -> %.2f dB, told %+.2f (%.2f to %.2f), %u trials", op,
        kind, more, s.level, s.find.now.snr_db, s.find.found.snr_db, s.find.gain_db,
        s.find.gain_low_db, s.find.gain_high_db, s.find.trials);
    litho_noise_clear(&noise);
    litho_judge_free(judge);
    return s;
}

// Property: where the noise keeps to some wavenumbers settings are found that gain against the
// truth, by the level at each wavenumber, though no SNR can be told. Nothing was tried. Where the
// level is too rough to tell, the settings stay: ranked by the level alone patch was told to gain
// 1.4 dB and lost 4.9. The level is within a tenth; an opening alone tells 0.83.
static void test_rough(void)
{
    static const char *const fx[] = {"curved", "fault"};
    for (guint k = 0; k < G_N_ELEMENTS(fx); k++) {
        const Searched s = search_mixed(fx[k], "fx", "snr=10");
        g_assert_true(s.find.now.is_rough && s.find.now.is_filtered);
        g_assert_cmpuint(s.find.trials, >, 5);
        g_assert_cmpfloat(s.find.gain_low_db, >, 0);
        g_assert_cmpfloat(s.find.found.snr_db - s.find.now.snr_db, >, 0.5);
        g_autofree char *text = litho_quality_expected_text(&s.find.found);
        g_assert_cmpstr(text, ==, "not known");
        g_assert_nonnull(strstr(s.find.found.why, "keeps to some wavenumbers"));
    }
    const Searched s = search_mixed("fault", "patch", "snr=0");
    g_assert_true(s.find.now.is_rough);
    g_assert_cmpfloat(s.level, >, 0.88);
    g_assert_cmpfloat(s.level, <, 1.12);
    g_assert_cmpfloat(s.find.found.snr_db - s.find.now.snr_db, >, -0.1);
}

enum { SIDE = 40, LENGTH = 200 };

// Mean of the squared differences of neighbours along an axis (0: inline, 2: time).
static double roughness(const LithoCube *cube, int axis)
{
    const gint64 step = axis == 0 ? (gint64)SIDE * LENGTH : 1;
    double sum = 0;
    gint64 n = 0;
    for (gint64 k = 0; k + step < (gint64)SIDE * SIDE * LENGTH; k++, n++)
        sum += pow((double)cube->samples[k + step] - cube->samples[k], 2);
    return sum / (double)n;
}

// Property: the probe of noise with a shape has its level and its correlation from trace to trace,
// and none along the trace; it does not depend on the cut.
static void test_probe(void)
{
    LithoGrid grid = litho_grid_new(SIDE, SIDE, LENGTH);
    g_autoptr(LithoCube) like = litho_cube_new(&grid, NULL);
    for (gint64 k = 0; k < litho_grid_samples(&grid); k++)
        like->samples[k] = 1;
    enum { FREQUENCIES = 33, WAVENUMBERS = 16 };
    double sigma[FREQUENCIES];
    g_autofree float *shape = g_new(float, FREQUENCIES *WAVENUMBERS *WAVENUMBERS);
    LithoNoise noise = {.n = FREQUENCIES, .sigma = sigma, .total = 2, .shape = shape};
    noise.window[0] = noise.window[1] = WAVENUMBERS;
    // Power 1 + cos along inlines: neighbours have half of the variance in common.
    for (int f = 0; f < FREQUENCIES; f++) {
        sigma[f] = 2;
        for (int k = 0; k < WAVENUMBERS * WAVENUMBERS; k++)
            shape[f * WAVENUMBERS * WAVENUMBERS + k] =
                (float)(1 + cos(2 * G_PI * (k / WAVENUMBERS) / WAVENUMBERS));
    }
    g_assert_cmpfloat_with_epsilon(litho_noise_fourth(&noise), 16 * 1.5, 1e-4);
    g_autoptr(LithoCube) probe = litho_probe_new(like, like->held, &noise, 1, NULL, NULL);
    double sum = 0;
    const gint64 n = litho_grid_samples(&grid);
    for (gint64 k = 0; k < n; k++)
        sum += (double)probe->samples[k] * probe->samples[k];
    const double variance = sum / (double)n;
    g_test_message("variance %.3f, differences %.3f and %.3f", variance, roughness(probe, 0),
                   roughness(probe, 2));
    g_assert_cmpfloat_with_epsilon(variance, 4, 0.2);
    g_assert_cmpfloat_with_epsilon(roughness(probe, 0) / variance, 1, 0.07);
    g_assert_cmpfloat_with_epsilon(roughness(probe, 2) / variance, 2, 0.07);
    const LithoBox box = {{3, 9, 41}, {20, 31, 170}};
    g_autoptr(LithoCube) part = litho_probe_new(like, box, &noise, 1, NULL, NULL);
    for (gint64 i = box.lo[0]; i < box.hi[0]; i++)
        for (gint64 j = box.lo[1]; j < box.hi[1]; j++) {
            const gsize bytes = (gsize)litho_box_size(box, 2) * sizeof(float);
            g_assert_cmpmem(litho_cube_trace(part, i, j), bytes,
                            litho_cube_trace(probe, i, j) + box.lo[2], bytes);
        }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/quality/second-pass", test_second_pass);
    g_test_add_func("/quality/clean", test_clean);
    g_test_add_func("/quality/shaped-probe", test_probe);
    g_test_add_func("/quality/rough", test_rough);
    return g_test_run();
}
