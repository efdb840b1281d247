// SPDX-License-Identifier: GPL-3.0-or-later
//
// The local Fourier filter's window, rule and threshold on lines where they are left automatic.
#include <math.h>
#include <string.h>

#include "core/engine/settled.h"
#include "kernels/kernels.h"
#include "kernels/patch/levels.h"
#include "tests/patch_common.h"

enum { TRACES = 160, SAMPLES = 256 };

// Settings that lines had before they chose.
#define BEFORE "window=16 rule=single"

static LithoCube *noisy(const LithoCube *clean, PatchColour colour, double noise)
{
    g_autoptr(LithoCube) added = patch_noise(colour, 1, TRACES, SAMPLES, noise, 77);
    return patch_sum(clean, added);
}

// Diffractions of unit energy: they bend within 16 traces.
static LithoCube *diffractions(void)
{
    LithoCube *line = patch_noise(PATCH_WHITE, 1, TRACES, SAMPLES, 0, 1);
    double energy = 0;
    for (int j = 0; j < TRACES; j++)
        for (int k = 0; k < SAMPLES; k++) {
            double sum = 0;
            for (int point = 0; point < 9; point++) {
                const double away = 0.008 * (j - 10 - 53 * point % 140);
                const double x = G_PI * 25 * (0.004 * k - hypot(0.1 + 0.08 * point, away));
                sum += (1 - 2 * x * x) * exp(-x * x);
            }
            line->samples[j * SAMPLES + k] = (float)sum;
            energy += sum * sum;
        }
    for (int k = 0; k < TRACES * SAMPLES; k++)
        line->samples[k] *= (float)sqrt(TRACES * SAMPLES / energy);
    return line;
}

// The same line along inline numbers.
static LithoCube *turned(const LithoCube *line)
{
    const gint64 n = line->grid.axis[1].n;
    LithoCube *to = patch_noise(PATCH_WHITE, n, 1, line->grid.axis[2].n, 0, 1);
    memcpy(to->samples, line->samples, litho_cube_held_samples(line) * sizeof *to->samples);
    return to;
}

static double snr_out(const LithoCube *in, const LithoCube *clean, const char *words)
{
    const LithoPatchParams params = patch_settings(words);
    g_autoptr(LithoCube) out = patch_run(&litho_patch_cpu, in, &params, NULL, 0);
    return patch_snr(out, clean, NULL);
}

// Property: lines come out with more than in windows of 24 traces and 96 ms with the rule `single`,
// by the dB of the table; faint noise loses 0.1 dB at most.
static void test_gain(void)
{
    const struct {
        int events; // PATCH_KINDS: diffractions
        PatchColour colour;
        double noise, gain;
    } cases[] = {
        {PATCH_PLANES, PATCH_WHITE, 1, 0.3},    {PATCH_KINDS, PATCH_WHITE, 1, 0.4},
        {PATCH_FAULT, PATCH_LOW, 1, 1},         {PATCH_CONFLICT, PATCH_BAND, 1, 0.5},
        {PATCH_CURVED, PATCH_LOW, 0.7, 0.4},    {PATCH_PLANES, PATCH_LOW, 0.1, -0.1},
        {PATCH_CURVED, PATCH_WHITE, 0.1, -0.1}, {PATCH_FAULT, PATCH_WHITE, 0.1, -0.1},
    };
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autoptr(LithoCube) clean = cases[k].events == PATCH_KINDS
                                         ? diffractions()
                                         : patch_cube(cases[k].events, 1, TRACES, SAMPLES);
        g_autoptr(LithoCube) in = noisy(clean, cases[k].colour, cases[k].noise);
        const double before = snr_out(in, clean, BEFORE), now = snr_out(in, clean, "");
        g_test_message("case %u: %.2f dB, %.2f dB", k, before, now);
        g_assert_cmpfloat(now - before, >, cases[k].gain);
    }
}

// Property: plane events take windows of more traces than curved ones, faint noise a higher
// threshold than strong noise.
static void test_choice(void)
{
    g_autoptr(LithoCube) planes = patch_cube(PATCH_PLANES, 1, TRACES, SAMPLES);
    g_autoptr(LithoCube) curves = diffractions();
    g_autoptr(LithoCube) plane = noisy(planes, PATCH_WHITE, 1);
    g_autoptr(LithoCube) curved = noisy(curves, PATCH_WHITE, 1);
    g_autoptr(LithoCube) faint = noisy(planes, PATCH_WHITE, 0.1);
    const LithoPatchParams of_plane = patch_chosen(plane, ""), of_curved = patch_chosen(curved, "");
    const LithoPatchParams of_faint = patch_chosen(faint, "");
    g_assert_cmpint(of_plane.window_xl, >=, 32);
    g_assert_cmpint(of_curved.window_xl, ==, 16);
    g_assert_cmpint(of_curved.rule, ==, LITHO_PATCH_ENERGY);
    g_assert_cmpfloat(of_faint.threshold, >, of_plane.threshold);
    g_autoptr(LithoCube) along = turned(plane);
    const LithoPatchParams of_along = patch_chosen(along, "");
    g_assert_cmpint(of_along.window_il, ==, of_plane.window_xl);
    g_assert_cmpfloat(of_along.threshold, ==, of_plane.threshold);
}

static gboolean chooses(const LithoCube *in, const char *words)
{
    return patch_chosen(in, words).window_t > 0;
}

// Property: what is given stays: any length of a window, a level, filling, a rule and a threshold.
// Noise alike in neighbouring traces and lines of a few windows choose nothing.
static void test_given(void)
{
    g_autoptr(LithoCube) clean = patch_cube(PATCH_PLANES, 1, TRACES, SAMPLES);
    g_autoptr(LithoCube) in = noisy(clean, PATCH_WHITE, 1);
    g_assert_true(chooses(in, ""));
    for (const char *const *words =
             (const char *const[]){"window=16", "window_xl=24", "window_t=24", "mode=fill",
                                   "mode=both", "sigma=1", NULL};
         *words; words++)
        g_assert_cmpint(patch_chosen(in, *words).window_t, ==, strstr(*words, "window_t") ? 24 : 0);
    g_assert_cmpint(patch_chosen(in, "rule=single").rule, ==, LITHO_PATCH_SINGLE);
    g_assert_cmpfloat(patch_chosen(in, "rule=single").threshold, ==, 0);
    g_assert_cmpfloat(patch_chosen(in, "threshold=3.3").threshold, ==, 3.3);
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, 1, TRACES, SAMPLES, 1, 5);
    patch_mix(noise);
    g_autoptr(LithoCube) mixed = patch_sum(clean, noise);
    g_assert_false(chooses(mixed, ""));
    g_autoptr(LithoCube) narrow = patch_noise(PATCH_WHITE, 1, 40, SAMPLES, 1, 5);
    g_assert_false(chooses(narrow, ""));
}

// Property: the settings that were chosen give the samples of the default, and so do regions and
// what a recipe keeps; the report tells them, for figures that compare runs.
static void test_same(void)
{
    g_autoptr(LithoCube) clean = patch_cube(PATCH_CURVED, 1, TRACES, SAMPLES);
    g_autoptr(LithoCube) in = noisy(clean, PATCH_LOW, 1);
    const LithoPatchParams p = patch_settings(""), own = patch_chosen(in, "");
    const LithoBox region = {{0, 50, 30}, {1, 90, 110}};
    g_autoptr(LithoCube) whole = patch_run(&litho_patch_cpu, in, &p, NULL, 1);
    g_autoptr(LithoCube) given = patch_run(&litho_patch_cpu, in, &own, NULL, 2);
    g_autoptr(LithoCube) part = patch_run(&litho_patch_cpu, in, &p, &region, 2);
    g_assert_cmpint(own.window_t, >, 0);
    patch_assert_part(whole, given);
    patch_assert_part(whole, part);

    const LithoReader reader = {.grid = &in->grid, .read = patch_read_part, .data = (gpointer)in};
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoMeasured) measured = litho_patch_measure(&p, &reader, NULL, &error);
    g_assert_no_error(error);
    const PatchFound found = patch_levels_found(measured);
    g_assert_cmpint(found.lengths[1], ==, own.window_xl);
    g_assert_cmpfloat(found.threshold, ==, own.threshold);
    LithoReport *report = litho_report_new();
    LithoRun run = {.report = report};
    g_autoptr(LithoCube) out = patch_run_by(&litho_patch_cpu, in, &p, measured, NULL, &run);
    patch_assert_part(whole, out);

    g_autoptr(LithoFlow) flow = patch_flow("");
    g_autoptr(LithoFlow) settled = litho_flow_settled(flow, report);
    const LithoPatchParams *as_told = litho_flow_step(settled, 0)->params;
    g_autoptr(LithoCube) again = patch_run(&litho_patch_cpu, in, as_told, NULL, 0);
    g_assert_true(litho_operator_patch.check(&in->grid, as_told, NULL, &error));
    g_assert_false(litho_flow_has_choices(settled));
    patch_assert_part(whole, again);
    litho_report_unref(report);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/patch-choice-lines/gain", test_gain);
    g_test_add_func("/patch-choice-lines/choice", test_choice);
    g_test_add_func("/patch-choice-lines/given", test_given);
    g_test_add_func("/patch-choice-lines/same", test_same);
    return g_test_run();
}
