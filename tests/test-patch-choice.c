// SPDX-License-Identifier: GPL-3.0-or-later
//
// The local Fourier filter's window where it is left automatic.
#include <math.h>
#include <string.h>

#include "core/engine/engine.h"
#include "core/engine/settled.h"
#include "kernels/kernels.h"
#include "kernels/patch/levels.h"
#include "tests/common.h"
#include "tests/patch_common.h"

enum { N_IL = 60, N_XL = 56, N_T = 128 };

// Events in noise of a colour with so many times their amplitude.
static LithoCube *noisy(PatchKind events, PatchColour colour, double noise)
{
    g_autoptr(LithoCube) clean = patch_cube(events, N_IL, N_XL, N_T);
    g_autoptr(LithoCube) added = patch_noise(colour, N_IL, N_XL, N_T, noise, 5);
    return patch_sum(clean, added);
}

static int window_of(const LithoCube *in, const char *words)
{
    return patch_chosen(in, words).window;
}

// Property: plane and crossing events and layers over a fault are filtered in windows of 24, curved
// events in windows of 16; noise alike in neighbouring traces, and noise alone, leave them at 16.
static void test_events(void)
{
    const struct {
        PatchKind events;
        PatchColour colour;
        double noise;
        int window;
    } cases[] = {
        {PATCH_PLANES, PATCH_WHITE, 1, LITHO_PATCH_WIDE},
        {PATCH_CONFLICT, PATCH_LOW, 1, LITHO_PATCH_WIDE},
        {PATCH_FAULT, PATCH_WHITE, 1, LITHO_PATCH_WIDE},
        {PATCH_CURVED, PATCH_WHITE, 1, LITHO_PATCH_WINDOW},
        {PATCH_CURVED, PATCH_WHITE, 0.3, LITHO_PATCH_WINDOW},
        {PATCH_CURVED, PATCH_BAND, 1, LITHO_PATCH_WINDOW},
    };
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autoptr(LithoCube) in = noisy(cases[k].events, cases[k].colour, cases[k].noise);
        g_test_message("case %u", k);
        g_assert_cmpint(window_of(in, ""), ==, cases[k].window);
    }
    g_autoptr(LithoCube) planes = patch_cube(PATCH_PLANES, N_IL, N_XL, N_T);
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, N_IL, N_XL, N_T, 1, 9);
    g_assert_cmpint(window_of(noise, ""), ==, LITHO_PATCH_WINDOW);
    patch_mix(noise);
    g_autoptr(LithoCube) mixed = patch_sum(planes, noise);
    g_assert_cmpint(window_of(mixed, ""), ==, LITHO_PATCH_WINDOW);
}

// Property: the energy of neighbours decides where events bend in strong noise, not in faint noise,
// nor in wide windows; a rule that is given stays.
static void test_rule(void)
{
    g_autoptr(LithoCube) strong = noisy(PATCH_CURVED, PATCH_WHITE, 2);
    g_autoptr(LithoCube) faint = noisy(PATCH_CURVED, PATCH_WHITE, 0.3);
    g_autoptr(LithoCube) plane = noisy(PATCH_PLANES, PATCH_WHITE, 2);
    g_assert_cmpint(patch_chosen(strong, "").rule, ==, LITHO_PATCH_ENERGY);
    g_assert_cmpint(patch_chosen(strong, "").window, ==, LITHO_PATCH_WINDOW);
    g_assert_cmpint(patch_chosen(strong, "rule=single").rule, ==, LITHO_PATCH_SINGLE);
    g_assert_cmpint(patch_chosen(strong, "window=16").rule, ==, LITHO_PATCH_SINGLE);
    g_assert_cmpint(patch_chosen(faint, "").rule, ==, LITHO_PATCH_SINGLE);
    g_assert_cmpint(patch_chosen(faint, "rule=energy").rule, ==, LITHO_PATCH_ENERGY);
    g_assert_cmpint(patch_chosen(plane, "").rule, ==, LITHO_PATCH_SINGLE);
}

// Property: a window that is given stays; filling, a level that is given and surveys that do not
// hold a few wide windows take 16.
static void test_given(void)
{
    g_autoptr(LithoCube) in = noisy(PATCH_PLANES, PATCH_WHITE, 1);
    g_autoptr(LithoCube) narrow = litho_cube_new_box(
        &(LithoGrid){
            .axis = {{.n = 26, .step = 1}, {.n = 56, .step = 1}, {.n = 128, .step = 0.004}}},
        (LithoBox){{0, 0, 0}, {26, 56, 128}}, NULL);
    g_assert_cmpint(window_of(in, "window=12"), ==, 12);
    g_assert_cmpint(window_of(in, "mode=fill"), ==, LITHO_PATCH_WINDOW);
    g_assert_cmpint(window_of(in, "sigma=1"), ==, LITHO_PATCH_WINDOW);
    g_assert_cmpint(window_of(in, "window_t=32"), ==, LITHO_PATCH_WINDOW);
    g_assert_cmpint(window_of(narrow, ""), ==, LITHO_PATCH_WINDOW);
}

// Property: where samples are two or four times as close together as the frequencies of noise and
// events need, windows hold as many more of them along time; not in depth, where noise or events
// reach further, where noise decays towards Nyquist, nor where a window is given.
static void test_dense(void)
{
    const struct {
        PatchKind events;
        int times, window, samples;
    } cases[] = {{PATCH_CURVED, 1, 16, 0},
                 {PATCH_CURVED, 2, 16, 32},
                 {PATCH_CURVED, 4, 16, 64},
                 {PATCH_FAULT, 2, 24, 48},
                 {PATCH_FAULT, 4, 16, 64}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++)
        for (int db = 0; db <= 40; db += 20) {
            g_autoptr(LithoCube) coarse = noisy(cases[k].events, PATCH_WHITE, pow(10, -db / 20.0));
            g_autoptr(LithoCube) in = patch_resampled(coarse, cases[k].times);
            const LithoPatchParams p = patch_chosen(in, "");
            g_test_message("case %u, %d dB: %d x %d", k, db, p.window, p.window_t);
            if (db == 0)
                g_assert_cmpint(p.window, ==, cases[k].window);
            g_assert_cmpint(
                p.window_t, ==,
                cases[k].times == 1 ? 0 : litho_patch_dense_length(p.window, cases[k].times));
            g_assert_cmpint(p.window_il, ==, p.window_t > 0 ? p.window : 0);
        }
    g_autoptr(LithoCube) coarse = noisy(PATCH_CURVED, PATCH_WHITE, 1);
    g_autoptr(LithoCube) in = patch_resampled(coarse, 2);
    g_assert_cmpint(patch_chosen(in, "window=16").window_t, ==, 0);
    in->grid.is_depth = TRUE;
    g_assert_cmpint(patch_chosen(in, "").window_t, ==, 0);
    in->grid.is_depth = FALSE;
    g_autoptr(LithoCube) white = patch_noise(PATCH_WHITE, N_IL, N_XL, 2 * N_T, 0.05, 8);
    g_autoptr(LithoCube) reaches = patch_sum(in, white);
    g_assert_cmpint(patch_chosen(reaches, "").window_t, ==, 0);
    g_autoptr(LithoCube) low = noisy(PATCH_CURVED, PATCH_LOW, 1);
    low->grid.axis[2].step /= 2;
    g_assert_cmpint(patch_chosen(low, "").window_t, ==, 0);
}

// Property: samples closer together cost less than half a decibel: 0.15 to 0.38. Windows of 16
// samples cost 0.7 to 2.3.
static void test_dense_snr(void)
{
    const double noise[] = {1, 0.3};
    for (guint k = 0; k < G_N_ELEMENTS(noise); k++) {
        g_autoptr(LithoCube) truth = patch_cube(PATCH_CURVED, N_IL, N_XL, N_T);
        g_autoptr(LithoCube) coarse = noisy(PATCH_CURVED, PATCH_WHITE, noise[k]);
        double snr[3], short_snr[3];
        for (int fold = 0; fold < 3; fold++) {
            const LithoPatchParams given = patch_settings("window=16"), own = patch_settings("");
            g_autoptr(LithoCube) in = patch_resampled(coarse, 1 << fold);
            g_autoptr(LithoCube) same = patch_resampled(truth, 1 << fold);
            g_autoptr(LithoCube) out = patch_run(&litho_patch_cpu, in, &own, NULL, 2);
            g_autoptr(LithoCube) brief = patch_run(&litho_patch_cpu, in, &given, NULL, 2);
            snr[fold] = patch_snr(out, same, NULL);
            short_snr[fold] = patch_snr(brief, same, NULL);
            g_test_message("noise %g, samples %d times as close: %.2f dB, windows of 16: %.2f dB",
                           noise[k], 1 << fold, snr[fold], short_snr[fold]);
        }
        for (int fold = 1; fold < 3; fold++) {
            g_assert_cmpfloat(snr[fold], >, snr[0] - 0.45);
            g_assert_cmpfloat(snr[fold], >, short_snr[fold] + 0.3 * fold);
        }
    }
}

// Property: bursts, spikes and missing traces do not change the choice.
static void test_bursts(void)
{
    const struct {
        PatchKind events;
        int window;
    } cases[] = {{PATCH_FAULT, LITHO_PATCH_WIDE}, {PATCH_CURVED, LITHO_PATCH_WINDOW}};
    for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
        g_autoptr(LithoCube) in = noisy(cases[c].events, PATCH_WHITE, 1);
        for (gint64 trace = 11; trace < N_IL * N_XL; trace += 53)
            for (int t = 0; t < 30; t++)
                in->samples[trace * N_T + (trace * 7) % (N_T - 30) + t] += t % 2 ? 30 : -30;
        patch_kill(in, 10, 4);
        g_assert_cmpint(window_of(in, ""), ==, cases[c].window);
    }
}

static LithoCube *run_flow(LithoFlow *flow, const LithoCube *in, const LithoBox *region,
                           LithoReport *report)
{
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    LithoRun how = {.report = report};
    g_autoptr(GError) error = NULL;
    LithoCube *out = litho_engine_run(engine, flow, in, region, &how, &error);
    g_assert_no_error(error);
    litho_engine_free(engine);
    return out;
}

// Property: an automatic window and rule give the samples of those that they take, in any region,
// the window told beside the result; so does what was measured part by part, which the recipe
// keeps.
static void test_same(void)
{
    const struct {
        PatchKind events;
        double noise;
        int times;
    } cases[] = {{PATCH_FAULT, 1, 1}, {PATCH_CURVED, 2, 1}, {PATCH_CURVED, 1, 2}};
    const LithoBox region = {{20, 0, 30}, {21, N_XL, 110}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autoptr(LithoCube) coarse = noisy(cases[k].events, PATCH_WHITE, cases[k].noise);
        g_autoptr(LithoCube) in = patch_resampled(coarse, cases[k].times);
        const LithoPatchParams p = patch_settings(""), own = patch_chosen(in, "");
        g_assert_cmpint(own.window_t, ==, cases[k].times > 1 ? 32 : 0);
        g_autofree char *words =
            g_strdup_printf("window=%d window_t=%d rule=%s", own.window, own.window_t,
                            own.rule == LITHO_PATCH_ENERGY ? "energy" : "single");
        g_autoptr(LithoFlow) automatic = patch_flow(""), given = patch_flow(words);
        LithoReport *report = litho_report_new();
        g_autoptr(LithoCube) whole = run_flow(automatic, in, NULL, report);
        g_autoptr(LithoCube) other = run_flow(given, in, NULL, NULL);
        g_autoptr(LithoCube) part = run_flow(automatic, in, &region, NULL);
        patch_assert_part(whole, other);
        patch_assert_part(whole, part);
        g_assert_cmpint(patch_window_told(report), ==, own.window);
        litho_report_unref(report);

        const LithoReader reader = {
            .grid = &in->grid, .read = patch_read_part, .data = (gpointer)in};
        g_autoptr(GError) error = NULL;
        g_autoptr(LithoMeasured) measured = litho_patch_measure(&p, &reader, NULL, &error);
        g_assert_no_error(error);
        g_autofree char *key = litho_patch_measure_key(&p);
        g_assert_cmpstr(key, ==, litho_measured_key(measured));
        litho_flow_step(automatic, 0)->measured = litho_measured_ref(measured);
        g_autoptr(LithoCube) by_recipe = run_flow(automatic, in, NULL, NULL);
        patch_assert_part(whole, by_recipe);
    }
}

// Property: figures that compare runs hold the choices that the first run told: parameters left to
// the data get them, those that are given stay, and so does all of an operator that stands twice.
static void test_settled(void)
{
    g_autoptr(LithoFlow) flow = patch_flow("threshold=2.5"), given = patch_flow("window=12");
    const LithoPatchParams used = {.window = 24, .rule = LITHO_PATCH_ENERGY}, asked = {0};
    LithoReport *report = litho_report_new();
    patch_choice_report(&asked, &used, report);
    for (const char *const *key = (const char *const[]){"window_il", "window_xl", "window_t", NULL};
         *key; key++)
        litho_report_used(report, "patch", *key, 24);
    g_assert_true(litho_flow_has_choices(flow));
    g_autoptr(LithoFlow) settled = litho_flow_settled(flow, report);
    const LithoPatchParams *p = litho_flow_step(settled, 0)->params;
    g_assert_cmpint(p->window, ==, 24);
    g_assert_cmpint(p->rule, ==, LITHO_PATCH_ENERGY);
    g_assert_cmpfloat(p->threshold, ==, 2.5);
    g_assert_false(litho_flow_has_choices(settled));
    g_autoptr(LithoFlow) kept = litho_flow_settled(given, report);
    g_assert_cmpint(((LithoPatchParams *)litho_flow_step(kept, 0)->params)->window, ==, 12);
    litho_flow_append(flow, &litho_operator_patch);
    g_autoptr(LithoFlow) twice = litho_flow_settled(flow, report);
    g_assert_cmpint(((LithoPatchParams *)litho_flow_step(twice, 0)->params)->window, ==, 0);
    litho_report_unref(report);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/patch-choice/events", test_events);
    g_test_add_func("/patch-choice/rule", test_rule);
    g_test_add_func("/patch-choice/given", test_given);
    g_test_add_func("/patch-choice/dense", test_dense);
    test_add_answers("/patch-choice/dense-snr", test_dense_snr);
    g_test_add_func("/patch-choice/bursts", test_bursts);
    g_test_add_func("/patch-choice/same", test_same);
    g_test_add_func("/patch-choice/settled", test_settled);
    return g_test_run();
}
