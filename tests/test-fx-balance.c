// SPDX-License-Identifier: GPL-3.0-or-later
//
// The F-X filter on traces whose gains, polarity or noise differ from trace to trace: it filters
// them over their gains. Where nothing differs no bit changes, and parts have the samples of the
// whole.
#include "core/engine/quality.h"
#include "kernels/fx/gains.h"
#include "kernels/fx/shared.h"
#include "tests/common.h"
#include "tests/fx_common.h"
#include "tests/patch_cubes.h"
#include "tests/uneven_traces.h"

#define AUTOMATIC "prewhitening=automatic "

enum { N = 48, N_T = 128 };

// Events times the gains in white noise of `level`; they have unit energy.
static LithoCube *cube_of(PatchKind kind, Traces traces, double level, LithoCube **truth)
{
    *truth = patch_cube(kind, N, N, N_T);
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, N, N, N_T, level, 7);
    for (gint64 k = 0; k < N * N * N_T; k++) {
        (*truth)->samples[k] *= (float)gain_of(traces, k / N_T);
        noise->samples[k] *= (float)noise_of(traces, k / N_T);
    }
    return patch_sum(*truth, noise);
}

static LithoCube *filtered(const LithoCube *in, const char *settings)
{
    g_autofree char *words = g_strconcat(AUTOMATIC, settings, NULL);
    return fx_run(in, words, NULL, NULL);
}

// Property: gains, turned and noisy traces cost most of what the filter gains without a look at
// them: bounds are 1 dB below what was measured.
static void test_gain(void)
{
    static const struct {
        PatchKind kind;
        Traces traces;
        double level, gained;
    } rows[] = {
        {PATCH_PLANES, SCATTERED, 0.1, 10.8}, {PATCH_PLANES, REVERSED, 0.1, 19},
        {PATCH_PLANES, NOISIER, 0.1, 1.5},    {PATCH_CURVED, SCATTERED, 0.1, 9.8},
        {PATCH_CURVED, REVERSED, 0.1, 14.3},  {PATCH_CURVED, SCATTERED, 1, 2.4},
        {PATCH_CURVED, REVERSED, 1, 2.6},     {PATCH_FAULT, SCATTERED, 0.1, 11.7},
        {PATCH_FAULT, REVERSED, 0.1, 13.5},   {PATCH_FAULT, NOISIER, 0.1, 0.6},
    };
    for (guint k = 0; k < G_N_ELEMENTS(rows); k++) {
        g_autoptr(LithoCube) truth = NULL;
        g_autoptr(LithoCube) in = cube_of(rows[k].kind, rows[k].traces, rows[k].level, &truth);
        g_autoptr(LithoCube) on = filtered(in, ""), off = filtered(in, "balance=off");
        const double with = patch_snr(on, truth, NULL), without = patch_snr(off, truth, NULL);
        g_test_message("row %u: %.2f dB, %.2f as they are", k, with, without);
        g_assert_cmpfloat(with, >, without + rows[k].gained);
    }
}

static LithoMeasured *measured_on(LithoCube *in, const char *settings, guint64 bytes)
{
    const LithoFxParams p = fx_params(settings);
    const LithoReader reader = {.grid = &in->grid, .read = read_part, .data = in, .bytes = bytes};
    g_autoptr(GError) error = NULL;
    LithoMeasured *measured = litho_fx_measure(&p, &reader, NULL, &error);
    g_assert_no_error(error);
    return measured;
}

// Property: where nothing differs from trace to trace no bit changes, and neither do the numbers of
// the recipe, nor their key of before.
static void test_alike(void)
{
    static const double levels[] = {0.01, 0.1, 1};
    for (guint k = 0; k < 3 * G_N_ELEMENTS(levels); k++) {
        static const PatchKind kinds[] = {PATCH_PLANES, PATCH_CURVED, PATCH_FAULT};
        g_autoptr(LithoCube) truth = NULL;
        g_autoptr(LithoCube) in = cube_of(kinds[k % 3], ALIKE, levels[k / 3], &truth);
        g_autoptr(LithoCube) on = filtered(in, ""), off = filtered(in, "balance=off");
        g_assert_true(fx_same_bits(on, off));
        g_autoptr(LithoMeasured) measured = measured_on(in, "", 0);
        g_autoptr(LithoMeasured) before = measured_on(in, "balance=off", 0);
        gsize n[2];
        gconstpointer bytes[2] = {litho_measured_bytes(measured, &n[0]),
                                  litho_measured_bytes(before, &n[1])};
        g_assert_cmpmem(bytes[0], n[0], bytes[1], n[1]);
        g_assert_cmpstr(litho_measured_key(measured), ==,
                        "shared noise, bursts 4, missing traces guessed");
    }
}

// Property: surveys of few lines tell no gains.
static void test_few_lines(void)
{
    enum { FEW = LITHO_BALANCE_LINES - 1 };
    g_autoptr(LithoCube) in = patch_cube(PATCH_PLANES, FEW, N, N_T);
    for (gint64 k = 0; k < FEW * N * N_T; k++)
        in->samples[k] *= (float)gain_of(SCATTERED, k / N_T);
    g_autoptr(LithoCube) on = filtered(in, ""), off = filtered(in, "balance=off");
    g_assert_true(fx_same_bits(on, off));
    const LithoFxParams p = fx_params("");
    g_assert_cmpuint(fx_gains_bytes(&in->grid, &p, in->held), ==, 0);
}

// Muted down to a slanted line, with dead traces and a hole in which one trace stands alone.
static void spoil(LithoCube *cube)
{
    fx_kill_traces(cube, 0.04, 5);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float *trace = litho_cube_trace(cube, i, j);
            memset(trace, 0, (size_t)(i / 3) * sizeof *trace);
            if (abs(i - 24) < 6 && abs(j - 24) < 6 && (i != 24 || j != 24))
                cube->live[i * N + j] = 0;
        }
    litho_cube_touch(cube);
}

// Property: turned traces are turned for the filter and back again, so that the samples are those
// of the survey as it was, turned, to the bit: with mutes, missing traces, one that stands alone,
// filled ones.
static void test_turned(void)
{
    static const char *const settings[] = {"", "fill_dead=on", "fill_passes=0 outband=mute fmin=8",
                                           "shared=off half_width=2"};
    for (guint k = 0; k < G_N_ELEMENTS(settings); k++) {
        g_autoptr(LithoCube) truth = NULL;
        g_autoptr(LithoCube) in = cube_of(PATCH_PLANES, ALIKE, 0.1, &truth);
        spoil(in);
        g_autoptr(LithoCube) expected = filtered(in, settings[k]);
        g_autoptr(LithoCube) turned = litho_cube_copy_box(in, in->held, NULL);
        for (gint64 s = 0; s < N * N * N_T; s++)
            if (is_turned(s / N_T) && in->live[s / N_T]) {
                turned->samples[s] *= -1;
                expected->samples[s] *= -1;
            }
        g_autoptr(LithoCube) out = filtered(turned, settings[k]);
        for (gint64 s = 0; s < N * N * N_T; s++)
            if (isfinite(expected->samples[s]) || isfinite(out->samples[s]))
                g_assert_cmpfloat(out->samples[s], ==, expected->samples[s]);
        g_assert_cmpmem(out->live, N * N, expected->live, N * N);
    }
}

// Property: a trace that stands alone has no gain: its samples stay to the bit.
static void test_alone(void)
{
    g_autoptr(LithoCube) truth = NULL;
    g_autoptr(LithoCube) in = cube_of(PATCH_PLANES, SCATTERED, 0.1, &truth);
    spoil(in);
    LithoRun run = {.report = litho_report_new()};
    double scatter = 0, reversed = 0;
    g_autoptr(LithoCube) out = fx_run(in, AUTOMATIC, NULL, &run);
    g_assert_true(litho_report_get(run.report, "gain_scatter", &scatter));
    g_assert_false(litho_report_get(run.report, "reversed_traces", &reversed));
    g_assert_cmpfloat_with_epsilon(scatter, 30, 6);
    litho_report_unref(run.report);
    const gsize bytes = N_T * sizeof(float);
    g_assert_cmpmem(litho_cube_trace(out, 24, 24), bytes, litho_cube_trace(in, 24, 24), bytes);
    for (gint64 k = 0; k < N * N; k++)
        if (!in->live[k])
            g_assert_cmpmem(out->samples + k * N_T, bytes, in->samples + k * N_T, bytes);
}

// The filter's own pass of a region, from an input cropped to what it asks for.
static LithoCube *run_cropped(const LithoCube *in, const LithoFxParams *p, LithoMeasured *measured,
                              LithoBox region, int threads)
{
    const LithoBox box = litho_operator_fx.input_box(&in->grid, p, region);
    g_autoptr(LithoCube) cropped = litho_cube_copy_box(in, box, NULL);
    LithoCube *out = litho_cube_new_box(&in->grid, region, NULL);
    LithoRun run = {.threads = threads};
    FxPlan *plan = litho_fx_cpu.plan(&in->grid, p, NULL, NULL, NULL);
    const LithoPass pass = {.params = p,
                            .measured = measured,
                            .first_stage = 1,
                            .in = cropped,
                            .region = region,
                            .out = out};
    g_assert_true(litho_fx_cpu.exec(plan, &pass, &run, NULL));
    litho_fx_cpu.destroy(plan);
    return out;
}

// Property: regions of a part, on any number of threads, have the samples of the whole by what was
// measured part by part, with shared noise and bursts, too; it goes through the recipe's text. Of
// half as many numbers none is taken.
static void check_parts(LithoCube *in, const char *settings)
{
    static const LithoBox regions[] = {{{0, 0, 0}, {9, 30, N_T}}, {{30, 20, 40}, {N, 21, 41}}};
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) whole = filtered(in, settings);
    g_autofree char *words = g_strconcat(AUTOMATIC, settings, NULL);
    const LithoFxParams p = fx_params(words);
    g_autoptr(LithoMeasured) found = measured_on(in, words, 1);
    JsonNode *node = litho_measured_to_json(found);
    g_autoptr(LithoMeasured) measured = litho_measured_from_json(node, &error);
    json_node_unref(node);
    g_assert_no_error(error);
    for (guint k = 0; k < G_N_ELEMENTS(regions); k++) {
        g_autoptr(LithoCube) part = run_cropped(in, &p, measured, regions[k], 1 + (int)k);
        fx_assert_region_equal(part, whole, regions[k]);
    }
    gsize n;
    gconstpointer bytes = litho_measured_bytes(measured, &n);
    g_assert_cmpuint(n, >, N * N * sizeof(float));
    g_autoptr(LithoMeasured) half =
        litho_measured_new(litho_measured_key(measured), "", bytes, n - N * N * 2);
    LithoPass pass = {.params = &p, .measured = half, .in = in};
    FxShared shared = {0};
    if (p.shared) {
        g_assert_false(fx_shared_known(&shared, &pass, &error));
        g_assert_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER);
    }
    fx_shared_clear(&shared);
}

static void test_parts(void)
{
    g_autoptr(LithoCube) of_scattered = NULL, of_noisier = NULL;
    g_autoptr(LithoCube) scattered = cube_of(PATCH_PLANES, SCATTERED, 0.1, &of_scattered);
    g_autoptr(LithoCube) noisier = cube_of(PATCH_CURVED, NOISIER, 0.1, &of_noisier);
    g_autoptr(LithoCube) mixed = patch_noise(PATCH_WHITE, N, N, N_T, 0.5, 9);
    patch_mix(mixed);
    for (gint64 k = 0; k < N * N * N_T; k++)
        mixed->samples[k] =
            (float)gain_of(REVERSED, k / N_T) * (mixed->samples[k] + of_noisier->samples[k]);
    litho_cube_touch(mixed);
    scattered->samples[N_T * 431 + 60] *= 100;
    fx_kill_traces(noisier, 0.03, 4);
    check_parts(scattered, "half_width=2 window=14");
    check_parts(scattered, "half_width=2 window=14 shared=off");
    check_parts(noisier, "half_width=2 window=14");
    check_parts(mixed, "half_width=2 window=14 erratic=0");
}

// Property: a part of a survey of which nothing was measured tells no gains.
static void test_part_alone(void)
{
    g_autoptr(LithoCube) truth = NULL;
    g_autoptr(LithoCube) in = cube_of(PATCH_PLANES, REVERSED, 0.1, &truth);
    const LithoBox region = {{0, 0, 0}, {N, 8, N_T}};
    const LithoFxParams on = fx_params("half_width=1 window=6 erratic=0");
    const LithoFxParams off = fx_params("half_width=1 window=6 erratic=0 balance=off");
    g_autoptr(LithoCube) a = run_cropped(in, &on, NULL, region, 1);
    g_autoptr(LithoCube) b = run_cropped(in, &off, NULL, region, 1);
    g_assert_cmpint(litho_box_size(litho_operator_fx.input_box(&in->grid, &on, region), 1), <, N);
    g_assert_true(fx_same_bits(a, b));
}

// Property: the SNR that is told of a survey with turned traces is that of the result, within 0.5
// dB, whose level is measured with them turned; 0.2 were measured. With the traces as they are,
// events of the fault passed for noise: 25.7 dB and more were told of 18.9.
static void test_judged(void)
{
    static const PatchKind kinds[] = {PATCH_PLANES, PATCH_CURVED, PATCH_FAULT};
    for (guint k = 0; k < G_N_ELEMENTS(kinds); k++) {
        g_autoptr(LithoCube) truth = NULL;
        g_autoptr(LithoCube) in = cube_of(kinds[k], REVERSED, 0.5, &truth);
        g_autoptr(LithoFlow) flow = litho_flow_new();
        g_autoptr(GError) error = NULL;
        LithoNoise noise = {0};
        LithoQuality quality;
        litho_flow_append(flow, &litho_operator_fx);
        litho_quality_noise(in, NULL, NULL, &noise, &error);
        g_assert_no_error(error);
        LithoJudge *judge = litho_judge_new(litho_device_cpu());
        litho_judge_run(judge, &(LithoQualityAsk){.flow = flow, .in = in, .noise = &noise}, NULL,
                        &quality, &error);
        g_assert_no_error(error);
        g_autoptr(LithoCube) out = filtered(in, "");
        const double is = patch_snr(out, truth, NULL);
        g_test_message("told %.2f dB, is %.2f: %s", quality.expected_snr_db, is, quality.why);
        g_assert_cmpfloat_with_epsilon(quality.expected_snr_db, is, 0.5);
        g_assert_nonnull(strstr(quality.why, "this flow turns"));
        litho_judge_free(judge);
        litho_noise_clear(&noise);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    test_add_answers("/fx-balance/gain", test_gain);
    test_add_answers("/fx-balance/alike", test_alike);
    g_test_add_func("/fx-balance/few-lines", test_few_lines);
    g_test_add_func("/fx-balance/turned", test_turned);
    g_test_add_func("/fx-balance/alone", test_alone);
    g_test_add_func("/fx-balance/parts", test_parts);
    g_test_add_func("/fx-balance/part-alone", test_part_alone);
    test_add_answers("/fx-balance/judged", test_judged);
    return g_test_run();
}
