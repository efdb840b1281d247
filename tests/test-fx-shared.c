// SPDX-License-Identifier: GPL-3.0-or-later
//
// The F-X filter in noise that neighbouring traces share, as in migrated or mixed data.
#include <glib/gstdio.h>

#include "core/engine/stream.h"
#include "core/io/survey.h"
#include "kernels/fx/shared.h"
#include "tests/fx_common.h"
#include "tests/patch_cubes.h"

#define AUTOMATIC "prewhitening=automatic "

// Events, and noise of deviation `level` on neighbouring traces that are mixed 1 2 1.
static LithoCube *mixed(PatchKind events, gint64 n_il, gint64 n_xl, gint64 n_t, double level,
                        guint32 seed, LithoCube **clean)
{
    g_autoptr(LithoCube) signal = patch_cube(events, n_il, n_xl, n_t);
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, n_il, n_xl, n_t, level, seed);
    patch_mix(noise);
    LithoCube *in = patch_sum(signal, noise);
    if (clean)
        *clean = g_steal_pointer(&signal);
    return in;
}

static double snr(const LithoCube *cube, const LithoCube *clean)
{
    return -20 * log10(fx_relative(cube, clean));
}

// Property: most of the noise leaves, at the survey's edge and on a line, too, with two kinds of
// events and seeds; without a look at the noise next to nothing leaves.
static void test_quality(void)
{
    const struct {
        PatchKind events;
        gint64 n_il, n_xl;
        guint32 seed;
        double gain;
    } cases[] = {{PATCH_PLANES, 32, 32, 11, 7.5},
                 {PATCH_CURVED, 32, 32, 12, 6},
                 {PATCH_PLANES, 1, 200, 13, 5}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autoptr(LithoCube) clean = NULL;
        g_autoptr(LithoCube) in =
            mixed(cases[k].events, cases[k].n_il, cases[k].n_xl, 64, 1, cases[k].seed, &clean);
        g_autoptr(LithoCube) out = fx_run(in, AUTOMATIC, NULL, NULL);
        g_autoptr(LithoCube) plain = fx_run(in, AUTOMATIC "shared=off", NULL, NULL);
        g_test_message("%d x %d, seed %u: %.1f dB become %.1f, %.1f without", (int)cases[k].n_il,
                       (int)cases[k].n_xl, cases[k].seed, snr(in, clean), snr(out, clean),
                       snr(plain, clean));
        g_assert_cmpfloat(snr(out, clean), >, snr(in, clean) + cases[k].gain);
        g_assert_cmpfloat(snr(plain, clean), <, snr(in, clean) + 3);
    }
}

// Property: every form, edge and damping takes the noise off.
static void test_settings(void)
{
    static const char *const settings[] = {"edge=renorm",
                                           "form=acf",
                                           "post=on",
                                           "half_width=2 window=14",
                                           "half_width=4",
                                           "prewhitening=30",
                                           "outband=mute fmin=8 fmax=60",
                                           "solver=jacobi",
                                           "faults=off"};
    g_autoptr(LithoCube) clean = NULL;
    g_autoptr(LithoCube) in = mixed(PATCH_PLANES, 28, 28, 40, 1, 21, &clean);
    for (guint k = 0; k < G_N_ELEMENTS(settings); k++) {
        g_autofree char *words = g_strconcat(AUTOMATIC, settings[k], NULL);
        g_autoptr(LithoCube) out = fx_run(in, words, NULL, NULL);
        g_test_message("%s: %.1f dB become %.1f", settings[k], snr(in, clean), snr(out, clean));
        g_assert_cmpfloat(snr(out, clean), >, snr(in, clean) + 3);
    }
}

// Property: where noise comes to all wavenumbers alike, a cube has the samples that it has without
// a look at the noise, to the bit; so has one without noise.
static void test_alike(void)
{
    const PatchColour kinds[] = {PATCH_WHITE, PATCH_LOW, PATCH_BAND};
    g_autoptr(LithoCube) clean = patch_cube(PATCH_FAULT, 28, 28, 48);
    for (guint k = 0; k <= G_N_ELEMENTS(kinds); k++) {
        g_autoptr(LithoCube) noise =
            k < G_N_ELEMENTS(kinds) ? patch_noise(kinds[k], 28, 28, 48, k == 0 ? 0.03 : 1, 5 + k)
                                    : NULL;
        g_autoptr(LithoCube) in = noise ? patch_sum(clean, noise) : litho_cube_ref(clean);
        g_autoptr(LithoCube) on = fx_run(in, AUTOMATIC, NULL, NULL);
        g_autoptr(LithoCube) off = fx_run(in, AUTOMATIC "shared=off", NULL, NULL);
        g_assert_true(fx_same_bits(on, off));
    }
}

static LithoCube *read_part(const LithoBox *box, LithoRun *run, gpointer data, GError **error)
{
    (void)run;
    return litho_cube_copy_box(data, *box, error);
}

static LithoCube *run_flow(const LithoFlow *flow, const LithoCube *in, const LithoBox *region)
{
    g_autoptr(GError) error = NULL;
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    LithoCube *out = litho_engine_run(engine, flow, in, region, NULL, &error);
    g_assert_no_error(error);
    litho_engine_free(engine);
    return out;
}

// Property: a region has the samples of the whole cube, measured with it or before, from a survey
// larger than its columns and with missing traces and bursts; what was measured goes through the
// recipe's text; bytes that are no level are refused.
static void test_measured(void)
{
    const LithoBox region = {{70, 5, 16}, {95, 30, 30}};
    g_autoptr(LithoCube) in = mixed(PATCH_PLANES, 116, 84, 32, 1, 31, NULL);
    fx_kill_traces(in, 0.03, 4);
    in->samples[32 * 4321 + 20] *= 100;
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_fx);
    LithoStep *step = litho_flow_step(flow, 0);
    const LithoFxParams p = fx_params(AUTOMATIC "half_width=1 window=14");
    *(LithoFxParams *)step->params = p;
    g_autoptr(LithoCube) whole = run_flow(flow, in, NULL);
    g_autoptr(LithoCube) part = run_flow(flow, in, &region);
    fx_assert_region_equal(part, whole, region);

    const LithoReader reader = {.grid = &in->grid, .read = read_part, .data = in};
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoMeasured) measured = litho_fx_measure(&p, &reader, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(g_str_has_prefix(litho_measured_text(measured), "shared noise"));
    JsonNode *node = litho_measured_to_json(measured);
    step->measured = litho_measured_from_json(node, &error);
    g_assert_no_error(error);
    json_node_unref(node);
    g_assert_nonnull(litho_step_measured(step, NULL));
    g_autoptr(LithoCube) by_recipe = run_flow(flow, in, &region);
    fx_assert_region_equal(by_recipe, whole, region);
    ((LithoFxParams *)step->params)->shared = false;
    g_assert_null(litho_step_measured(step, NULL));

    *(LithoFxParams *)step->params = p;
    litho_measured_unref(step->measured);
    step->measured = litho_measured_new(litho_measured_key(measured), "", "level", 5);
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    g_assert_null(litho_engine_run(engine, flow, in, &region, NULL, &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER);
    litho_engine_free(engine);
}

// Property: a run in slabs gives the samples of a run in memory.
static void test_slabs(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = g_dir_make_tmp("lithoscope-XXXXXX", &error);
    g_assert_no_error(error);
    g_autofree char *from = g_build_filename(folder, "in.npy", NULL);
    g_autofree char *to = g_build_filename(folder, "out.npy", NULL);
    g_autoptr(LithoCube) in = mixed(PATCH_PLANES, 140, 30, 32, 1, 41, NULL);
    litho_cube_save(in, from, &(LithoSaveOptions){.force = TRUE}, NULL, &error);
    g_assert_no_error(error);
    const char *paths[] = {from, NULL}, *results[] = {to, NULL};
    g_autoptr(LithoSurvey) survey = litho_survey_open(paths, NULL, NULL, &error);
    g_assert_no_error(error);
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, &litho_operator_fx);
    *(LithoFxParams *)litho_flow_step(flow, 0)->params =
        fx_params(AUTOMATIC "half_width=1 window=10 erratic=0 fill_passes=0");
    LithoStreamOptions options = {.memory = 64 << 20, .threads = 1, .save = {.force = TRUE}};
    LithoStreamPlan plan = {0};
    for (;; options.memory = MIN(options.memory, plan.host_bytes) - 1) {
        g_assert_true(litho_stream_plan(flow, survey, &options, NULL, &plan, &error));
        if (plan.n_slabs >= 3)
            break;
    }
    litho_stream_run(flow, survey, to, &options, NULL, &error);
    g_assert_no_error(error);
    g_autoptr(LithoSurvey) written = litho_survey_open(results, NULL, NULL, &error);
    g_assert_no_error(error);
    const LithoBox all = litho_box_full(&in->grid);
    g_autoptr(LithoCube) streamed = litho_survey_read(written, &all, NULL, &error);
    g_assert_no_error(error);
    g_autoptr(LithoCube) whole = run_flow(flow, in, NULL);
    g_test_message("%d slabs", (int)plan.n_slabs);
    g_assert_true(fx_same_bits(streamed, whole));
    g_remove(from);
    g_remove(to);
    g_autofree char *note = g_strconcat(to, ".provenance", NULL);
    g_remove(note);
    g_rmdir(folder);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    g_test_add_func("/fx-shared/quality", test_quality);
    g_test_add_func("/fx-shared/settings", test_settings);
    g_test_add_func("/fx-shared/alike", test_alike);
    g_test_add_func("/fx-shared/measured", test_measured);
    g_test_add_func("/fx-shared/slabs", test_slabs);
    return g_test_run();
}
