// SPDX-License-Identifier: GPL-3.0-or-later
//
// Data that went through a filter before: their noise is where their events are, and no level tells
// it from them.
#include <glib.h>
#include <math.h>

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

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/quality/second-pass", test_second_pass);
    g_test_add_func("/quality/clean", test_clean);
    return g_test_run();
}
