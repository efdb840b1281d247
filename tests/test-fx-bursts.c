// SPDX-License-Identifier: GPL-3.0-or-later
//
// Bursts and spikes before the F-X filter.
#include "core/synth/synth_parts.h"
#include "tests/fx_common.h"

// Bursts of 20 times the amplitude over 30 samples on every 47th trace, spikes on others.
static void spoil(LithoCube *cube)
{
    const gint64 nt = cube->grid.axis[2].n;
    for (gint64 k = 13; k < litho_grid_traces(&cube->grid); k += 47) {
        const gint64 t0 = 7 * k % (nt - 30);
        for (gint64 t = t0; t < t0 + 30; t++)
            cube->samples[k * nt + t] += (float)(20 * litho_hash_normal(9, 3, k * nt + t));
        cube->samples[(k + 20) % litho_grid_traces(&cube->grid) * nt + t0] = -30;
    }
}

static LithoCube *read_cube(const LithoBox *box, LithoRun *run, gpointer data, GError **error)
{
    (void)run;
    return litho_cube_copy_box(data, *box, error);
}

// The filter's own pass of a region, from an input cropped to what it asks for and what was
// measured on the whole.
static LithoCube *run_cropped(const LithoCube *in, const LithoFxParams *p, LithoBox region)
{
    const LithoReader reader = {.grid = &in->grid, .read = read_cube, .data = (gpointer)in};
    g_autoptr(LithoMeasured) measured = litho_fx_measure(p, &reader, NULL, NULL);
    LithoBox box = litho_operator_fx.input_box(&in->grid, p, region);
    g_assert_cmpint(litho_box_count(box), <, litho_box_count(in->held));
    g_autoptr(LithoCube) cropped = litho_cube_copy_box(in, box, NULL);
    LithoCube *out = litho_cube_new_box(&in->grid, region, NULL);
    FxPlan *plan = litho_fx_cpu.plan(&in->grid, p, NULL, NULL, NULL);
    LithoPass pass = {.params = p,
                      .measured = measured,
                      .first_stage = 1,
                      .in = cropped,
                      .region = region,
                      .out = out};
    g_assert_true(litho_fx_cpu.exec(plan, &pass, NULL, NULL));
    litho_fx_cpu.destroy(plan);
    return out;
}

// Property: bursts and spikes cost less than 1 dB, are told, and are gone from the output, where
// they cost 3 dB and more when they are not looked for. Regions from what input_box() asks for and
// any number of threads give the same bits, beside missing traces, which stay missing. The told
// memory holds the input without bursts.
static void test_bursts(void)
{
    const FxWave waves[] = {{1, 0.3, 0.2}, {0.7, -0.5, 0.1}};
    g_autoptr(LithoCube) truth = fx_plane_waves(52, 47, waves, 2);
    g_autoptr(LithoCube) in = litho_cube_copy_box(truth, truth->held, NULL);
    for (gint64 k = 0; k < litho_grid_samples(&in->grid); k++)
        in->samples[k] += (float)(0.5 * litho_hash_normal(4, 1, k));
    g_autoptr(LithoCube) spoilt = litho_cube_copy_box(in, in->held, NULL);
    spoil(spoilt);
    LithoRun run = {.report = litho_report_new()};
    const char *settings = "half_width=2 window=12 time_window=64";
    g_autoptr(LithoCube) clean = fx_run(in, settings, NULL, NULL);
    g_autoptr(LithoCube) robust = fx_run(spoilt, settings, NULL, &run);
    g_autofree char *without = g_strconcat(settings, " erratic=0", NULL);
    g_autoptr(LithoCube) plain = fx_run(spoilt, without, NULL, NULL);
    const double best = -20 * log10(fx_relative(clean, truth));
    const double with = -20 * log10(fx_relative(robust, truth));
    const double off = -20 * log10(fx_relative(plain, truth));
    double found = 0;
    g_test_message("no bursts %.2f dB, bursts %.2f dB, not looked for %.2f dB", best, with, off);
    g_assert_cmpfloat(with, >, best - 1);
    g_assert_cmpfloat(off, <, best - 3);
    g_assert_true(litho_report_get(run.report, "erratic", &found));
    g_assert_cmpfloat_with_epsilon(found, 200.0 / 47, 0.3);
    litho_report_unref(run.report);

    fx_kill_traces(spoilt, 0.07, 12);
    g_autoptr(LithoCube) whole = fx_run(spoilt, settings, NULL, &(LithoRun){.threads = 1});
    g_autoptr(LithoCube) threads = fx_run(spoilt, settings, NULL, &(LithoRun){.threads = 3});
    g_assert_true(fx_same_bits(threads, whole));
    g_assert_cmpmem(whole->live, 52 * 47, spoilt->live, 52 * 47);
    LithoFxParams p = fx_params(settings);
    const LithoBox regions[] = {{{0, 0, 0}, {9, 47, 64}}, {{43, 20, 30}, {52, 21, 31}}};
    for (guint k = 0; k < G_N_ELEMENTS(regions); k++) {
        g_autoptr(LithoCube) part = run_cropped(spoilt, &p, regions[k]);
        fx_assert_region_equal(part, whole, regions[k]);
    }
    const LithoBox all = litho_box_full(&in->grid);
    const guint64 told = litho_fx_cpu.memory(&in->grid, &p, NULL, all, 2);
    p.erratic = 0;
    p.fill_passes = 0;
    g_assert_cmpuint(told, >=,
                     litho_fx_cpu.memory(&in->grid, &p, NULL, all, 2) +
                         sizeof(float) * (guint64)litho_box_count(all));
}

// Property: where nothing is found, nothing changes, beside missing traces, too.
static void test_no_bursts(void)
{
    g_autoptr(LithoCube) in = fx_random_cube(30, 26, 80, 16);
    fx_kill_traces(in, 0.1, 17);
    g_autoptr(LithoCube) on = fx_run(in, "half_width=2 window=12", NULL, NULL);
    g_autoptr(LithoCube) off = fx_run(in, "half_width=2 window=12 erratic=0", NULL, NULL);
    g_assert_true(fx_same_bits(on, off));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/fx-bursts/bursts", test_bursts);
    g_test_add_func("/fx-bursts/none", test_no_bursts);
    return g_test_run();
}
