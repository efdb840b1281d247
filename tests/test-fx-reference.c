// SPDX-License-Identifier: GPL-3.0-or-later
//
// The F-X filter against a direct double precision implementation (fx_reference.c).
#include <math.h>

#include "tests/common.h"
#include "tests/fx_common.h"
#include "tests/fx_reference.h"

static void compare_with_reference(int n1, int n2, int nt, double dead, const char *settings,
                                   double limit)
{
    g_autoptr(LithoCube) in = fx_random_cube(n1, n2, nt, 7);
    LithoFxParams p = fx_params(settings);
    fx_kill_traces(in, dead, 8);
    if (p.fill_passes > 0)
        fx_blank_missing(in);
    g_autofree char *plain = g_strconcat(settings, " faults=off", NULL);
    g_autoptr(LithoCube) out = fx_run(in, plain, NULL, NULL);
    LithoFxGeometry g = litho_fx_grid_geometry(&in->grid, &p);
    FxRef ref = fx_ref_defaults(0.004);
    ref.time_window = litho_fx_in_use(&in->grid, &p).time_window;
    ref.time_overlap = litho_fx_in_use(&in->grid, &p).time_overlap;
    ref.nfft = g.nfft;
    ref.window_il = p.window_il > 0 ? p.window_il : p.window;
    ref.window_xl = p.window_xl > 0 ? p.window_xl : p.window;
    ref.stride = p.stride > 0 ? p.stride : ref.stride;
    ref.half = p.half_width;
    ref.fill_passes = p.fill_passes;
    ref.prewhitening = p.prewhitening;
    ref.fmin = p.fmin;
    ref.fmax = p.fmax > 0 ? p.fmax : ref.fmax;
    ref.acf = p.form == LITHO_FX_ACF;
    ref.mute = p.outband == LITHO_FX_MUTE;
    ref.post = p.post;
    ref.edge = p.edge == LITHO_FX_FIT      ? FX_REF_FIT
               : p.edge == LITHO_FX_RENORM ? FX_REF_RENORM
                                           : FX_REF_ZERO;
    if (ref.acf && ref.edge == FX_REF_FIT)
        ref.edge = FX_REF_RENORM;
    gint64 n = litho_cube_held_samples(in);
    g_autofree double *expected = g_new(double, n);
    fx_ref_cube(&ref, n1, n2, nt, 0.004, in->samples, (const char *)in->live, expected);
    double difference = 0, norm = 0, removed = 0;
    for (gint64 k = 0; k < n; k++) {
        g_assert_cmpint(isfinite(expected[k]), ==, isfinite(out->samples[k]));
        if (!isfinite(expected[k]))
            continue;
        difference += pow(out->samples[k] - expected[k], 2);
        removed += pow(expected[k] - in->samples[k], 2);
        norm += expected[k] * expected[k];
    }
    g_test_message("%d x %d x %d, %.0f %% dead, %s: %.2e (removed %.2e)", n1, n2, nt, 100 * dead,
                   settings, sqrt(difference / norm), sqrt(removed / norm));
    g_assert_cmpfloat(sqrt(difference / norm), <, limit);
    g_assert_cmpfloat(sqrt(removed / norm), >, 0.05); // the filter did something
}

// Property: samples equal those of a direct double precision implementation to 2e-5 of their norm
// (acceptance 5 of the design; the filter is 0.1 of it, so an error in one tap shows). Settings
// cover every branch: forms, edges, rescaling, shapes, strides, time windows, bands, absent traces.
static void test_reference(void)
{
    const struct {
        int n1, n2, nt;
        double dead;
        const char *settings;
    } cases[] = {
        {23, 26, 32, 0, "prewhitening=0.1"},
        {23, 26, 32, 0, "prewhitening=automatic"},
        {23, 26, 32, 0, "prewhitening=automatic window=14 stride=11"},
        {23, 26, 32, 0, "prewhitening=automatic post=on"},
        {23, 26, 32, 0.1, "prewhitening=automatic"},
        {23, 26, 32, 0, ""},
        {23, 26, 32, 0, "prewhitening=100"},
        {23, 26, 32, 0, "prewhitening=100 post=on"},
        {23, 26, 32, 0, "edge=renorm"},
        {23, 26, 32, 0, "edge=zero"},
        {23, 26, 32, 0, "form=acf"},
        {21, 22, 40, 0, "form=acf edge=zero half_width=2"},
        {30, 12, 170, 0, "half_width=1 time_window=60 time_overlap=25 outband=mute fmax=40"},
        {22, 9, 50, 0, "half_width=4 fft_length=75 fmin=0 fmax=125"},
        {19, 17, 40, 0, "half_width=2 window_il=9 window_xl=6 stride=5"},
        {23, 26, 32, 0.05, ""},
        {23, 26, 32, 0.05, "fill_passes=1 edge=renorm"},
        {23, 26, 32, 0.3, "half_width=2 fill_passes=2 post=on"},
        {23, 26, 32, 0.7, "half_width=1"},
        {23, 26, 32, 0.1, "fill_passes=0"},
        {30, 1, 32, 0.1, ""},
        {2, 30, 32, 0, ""},
    };
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++)
        compare_with_reference(cases[k].n1, cases[k].n2, cases[k].nt, cases[k].dead,
                               cases[k].settings, 2e-5);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/fx-reference/settings", test_reference);
    return g_test_run();
}
