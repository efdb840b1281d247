// SPDX-License-Identifier: GPL-3.0-or-later
//
// The local Fourier filter's noise level measured part by part: what makes a run in slabs give the
// samples of a run in one piece.
#include <glib/gstdio.h>
#include <string.h>

#include "core/engine/engine.h"
#include "core/engine/measure.h"
#include "core/engine/stream.h"
#include "core/error.h"
#include "kernels/kernels.h"
#include "kernels/patch/patch.h"
#include "tests/common.h"
#include "tests/patch_common.h"

static char *folder;

// Events, noise that is stronger at one side, dead traces, samples that are not finite, and bursts.
static LithoCube *make_cube(gint64 n_il, gint64 n_xl, gint64 n_t)
{
    LithoCube *cube = patch_spoilt(n_il, n_xl, n_t);
    for (gint64 il = 0; il < n_il; il++)
        for (gint64 xl = 0; xl < n_xl; xl++) {
            float *trace = litho_cube_trace(cube, il, xl);
            const gboolean burst = (il * n_xl + xl) % 211 == 0;
            for (gint64 t = 0; t < n_t; t++)
                trace[t] *= (1 + 2.0f * il / n_il) * (burst && t / 16 == 3 ? 40 : 1);
        }
    return cube;
}

static LithoSurvey *survey_of(const LithoCube *cube)
{
    g_autofree char *path = g_build_filename(folder, "in.npy", NULL);
    g_autoptr(GError) error = NULL;
    litho_cube_save(cube, path, &(LithoSaveOptions){.force = TRUE}, NULL, &error);
    g_assert_no_error(error);
    const char *paths[] = {path, NULL};
    LithoSurvey *survey = litho_survey_open(paths, NULL, NULL, &error);
    g_assert_no_error(error);
    return survey;
}

static LithoSurvey *make_survey(gint64 n_il, gint64 n_xl, gint64 n_t)
{
    g_autoptr(LithoCube) cube = make_cube(n_il, n_xl, n_t);
    return survey_of(cube);
}

// Events, and noise that keeps to some wavenumbers.
static LithoSurvey *make_mixed(gint64 n_il, gint64 n_xl, gint64 n_t)
{
    g_autoptr(LithoCube) clean = patch_cube(PATCH_PLANES, n_il, n_xl, n_t);
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, n_il, n_xl, n_t, 0.5, 3);
    patch_mix(noise);
    g_autoptr(LithoCube) cube = patch_sum(clean, noise);
    return survey_of(cube);
}

// "fx window=8 + patch".
static LithoFlow *make_flow(const char *text)
{
    LithoFlow *flow = litho_flow_new();
    g_auto(GStrv) steps = g_strsplit(text, " + ", -1);
    for (char **s = steps; *s; s++) {
        g_auto(GStrv) words = g_strsplit(*s, " ", -1);
        const LithoOperator *op = litho_operator_find(words[0]);
        LithoStep *step = litho_flow_step(flow, litho_flow_append(flow, op));
        for (char **word = words + 1; *word; word++)
            g_assert_true(litho_operator_set(op, step->params, *word, NULL));
    }
    return flow;
}

static int threads_for(guint64 memory)
{
    return 1 + (int)(memory % 3);
}

// The file of a run within `memory` bytes; FALSE: the plan says that it does not fit.
static gboolean stream(const LithoFlow *flow, LithoSurvey *survey, guint64 memory, gint64 *slabs,
                       LithoFlow **ran, GBytes **file)
{
    g_autofree char *path = g_build_filename(folder, "out.npy", NULL);
    const LithoStreamOptions options = {
        .memory = memory, .threads = threads_for(memory), .save = {.force = TRUE}, .ran = ran};
    LithoStreamPlan plan;
    g_autoptr(GError) error = NULL;
    if (!litho_stream_plan(flow, survey, &options, NULL, &plan, NULL))
        return FALSE;
    *slabs = plan.n_slabs;
    litho_stream_run(flow, survey, path, &options, NULL, &error);
    g_assert_no_error(error);
    char *bytes;
    gsize n;
    g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
    *file = g_bytes_new_take(bytes, n);
    return TRUE;
}

// The file of a run in memory, which has no slabs.
static GBytes *run_in_memory(const LithoFlow *flow, LithoSurvey *survey)
{
    g_autofree char *path = g_build_filename(folder, "whole.npy", NULL);
    g_autoptr(GError) error = NULL;
    const LithoBox all = litho_box_full(litho_survey_grid(survey));
    g_autoptr(LithoCube) in = litho_survey_read(survey, &all, NULL, &error);
    g_assert_no_error(error);
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    g_autoptr(LithoCube) out = litho_engine_run(engine, flow, in, NULL, NULL, &error);
    g_assert_no_error(error);
    litho_cube_save(out, path, &(LithoSaveOptions){.force = TRUE}, NULL, &error);
    g_assert_no_error(error);
    litho_engine_free(engine);
    char *bytes;
    gsize n;
    g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
    return g_bytes_new_take(bytes, n);
}

// Bytes within which a run takes at least so many slabs; 0 = it takes fewer always.
static guint64 memory_for(const LithoFlow *flow, LithoSurvey *survey, gint64 slabs)
{
    LithoStreamOptions options = {.memory = (guint64)1 << 31};
    LithoStreamPlan plan;
    for (int failed = 0; failed < 3;) { // more threads take more memory
        options.threads = threads_for(options.memory);
        if (!litho_stream_plan(flow, survey, &options, NULL, &plan, NULL)) {
            failed++;
            options.memory--;
        } else if (plan.n_slabs >= slabs) {
            return options.memory;
        } else {
            failed = 0;
            options.memory = MIN(options.memory, plan.host_bytes) - 1;
        }
    }
    return 0;
}

// Property: with the level of the noise and bursts looked for, the file of a run in slabs is that
// of a run in one piece, whatever the memory, bit for bit; also behind another step. Levels
// measured in a slab by itself, or on bursts at a slab's border, give other samples.
static void assert_slabs(LithoSurvey *survey, const char *const *flows, guint n_flows, gint64 least)
{
    for (guint f = 0; f < n_flows; f++) {
        g_autoptr(LithoFlow) flow = make_flow(flows[f]);
        g_autoptr(GBytes) whole = run_in_memory(flow, survey);
        gint64 most = 1;
        g_autoptr(GBytes) file = NULL;
        g_assert_true(stream(flow, survey, memory_for(flow, survey, least), &most, NULL, &file));
        g_assert_true(g_bytes_equal(file, whole));
        g_test_message("%s: %d slabs", flows[f], (int)most);
        g_assert_cmpint(most, >=, least);
    }
}

static void test_slabs(void)
{
    const char *const flows[] = {"patch", "patch level=whole window=12",
                                 "fx window=10 half_width=2 + patch"};
    g_autoptr(LithoSurvey) survey = make_survey(200, 20, 60);
    assert_slabs(survey, flows, G_N_ELEMENTS(flows), 5);
    g_autoptr(LithoSurvey) mixed = make_mixed(200, 20, 60);
    assert_slabs(mixed, flows, 2, 5);
    // A cell of nine along 600 inlines begins a trace lower in single precision than in double.
    g_autoptr(LithoSurvey) cells = make_survey(600, 20, 32);
    assert_slabs(cells, flows, 1, 5);
    // Slabs of filling are blocks.
    const char *const fills[] = {"patch mode=fill iterations=2 overlap=2",
                                 "patch mode=both iterations=2 overlap=2"};
    g_autoptr(LithoSurvey) blocks = make_survey(650, 6, 32);
    assert_slabs(blocks, fills, G_N_ELEMENTS(fills), 3);
}

typedef struct Parts {
    LithoCube *cube;
    gint64 largest; // part that was read, samples
    int n;
} Parts;

static LithoCube *read_part(const LithoBox *box, LithoRun *run, gpointer data, GError **error)
{
    Parts *parts = data;
    if (!litho_run_step(run, 0, 1, error))
        return NULL;
    parts->n++;
    parts->largest = MAX(parts->largest, litho_box_count(*box));
    return litho_cube_copy_box(parts->cube, *box, error);
}

static LithoMeasured *measure(Parts *parts, guint64 bytes, const LithoPatchParams *p)
{
    const LithoReader reader = {
        .grid = &parts->cube->grid, .bytes = bytes, .read = read_part, .data = parts};
    g_autoptr(GError) error = NULL;
    LithoMeasured *m = litho_patch_measure(p, &reader, NULL, &error);
    g_assert_no_error(error);
    return m;
}

// Property: the numbers do not depend on the parts that they are measured on, and where memory is
// little a part is no larger than two cells along both axes, with what guesses and
// bursts need around it (17 traces).
static void test_parts(void)
{
    const char *const words[] = {"window=16", "window=16 level=whole",
                                 "window_il=64 window_xl=48 erratic=0"};
    g_autoptr(LithoCube) cube = make_cube(200, 260, 40);
    for (guint w = 0; w < G_N_ELEMENTS(words); w += 1 + TEST_SANITIZED) {
        const LithoPatchParams p = patch_settings(words[w]);
        Parts wide = {.cube = cube}, small = {.cube = cube};
        g_autoptr(LithoMeasured) a = measure(&wide, 0, &p), b = measure(&small, 1, &p);
        gsize n, m;
        gconstpointer x = litho_measured_bytes(a, &n), y = litho_measured_bytes(b, &m);
        g_assert_cmpmem(x, n, y, m);
        g_assert_cmpint(wide.n, >=, 3);
        g_assert_cmpint(small.n, >=, 3 * wide.n);
        g_assert_cmpint(small.largest, <=, (150 + 2 * 17) * (150 + 2 * 17) * 40);
        g_test_message("%s: %d parts and %d of at most %d samples, %s", words[w], wide.n, small.n,
                       (int)small.largest, litho_measured_text(a));
    }
}

// Property: a survey that is measured in one piece, and one that is measured part by part, give the
// same samples where cells lie across the borders of parts: 96 inlines are two parts and three
// cells.
static void test_across(void)
{
    g_autoptr(LithoCube) cube = make_cube(96, 96, 260);
    const LithoPatchParams p = patch_settings("window=16 faults=off");
    Parts parts = {.cube = cube};
    g_autoptr(LithoMeasured) measured = measure(&parts, 0, &p);
    LithoCube *out[2];
    for (int k = 0; k < 2; k++) {
        g_autoptr(LithoFlow) flow = make_flow("patch");
        g_autoptr(GError) error = NULL;
        LithoStep *step = litho_flow_step(flow, 0);
        *(LithoPatchParams *)step->params = p;
        step->measured = k ? litho_measured_ref(measured) : NULL;
        LithoEngine *engine = litho_engine_new(litho_device_cpu());
        out[k] = litho_engine_run(engine, flow, cube, NULL, NULL, &error);
        g_assert_no_error(error);
        litho_engine_free(engine);
    }
    patch_assert_part(out[0], out[1]);
    litho_cube_unref(out[0]);
    litho_cube_unref(out[1]);
}

// Property: what was measured stands in the recipe to the bit and is used from there; it goes when
// a parameter changes that it depends on, stays when another changes, and is refused on a survey of
// another size.
static void test_recipe(void)
{
    g_autoptr(LithoSurvey) survey = make_survey(300, 24, 70);
    g_autoptr(LithoFlow) flow = make_flow("patch"), ran = NULL;
    g_autoptr(GBytes) first = NULL, second = NULL;
    g_autoptr(GError) error = NULL;
    gint64 slabs = 0;
    g_assert_true(litho_measure_is_needed(flow));
    g_assert_true(stream(flow, survey, memory_for(flow, survey, 3), &slabs, &ran, &first));
    g_assert_false(litho_measure_is_needed(ran));
    g_autofree char *text = litho_flow_print(ran);
    g_autoptr(LithoFlow) again = litho_flow_parse(text, &error);
    g_assert_no_error(error);
    g_autofree char *twice = litho_flow_print(again);
    g_assert_cmpstr(text, ==, twice);
    g_assert_true(stream(again, survey, 1 << 30, &slabs, NULL, &second));
    g_assert_true(g_bytes_equal(first, second));

    LithoStep *step = litho_flow_step(again, 0);
    g_assert_true(litho_operator_set(step->op, step->params, "threshold=2", NULL));
    g_assert_false(litho_measure_is_needed(again));
    g_autoptr(LithoFlow) copy = litho_flow_copy(again);
    g_assert_true(litho_operator_set(step->op, step->params, "window=12", NULL));
    g_assert_true(litho_measure_is_needed(again));

    g_autoptr(LithoSurvey) other = make_survey(400, 24, 70);
    g_autofree char *path = g_build_filename(folder, "other.npy", NULL);
    g_assert_false(litho_stream_run(copy, other, path, &(LithoStreamOptions){0}, NULL, &error));
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER);
    g_assert_nonnull(strstr(error->message, "another survey"));
}

// Property: the noise level as a volume is what was put in, everywhere, on the CPU by regions and
// whole alike, in front of another step too; the result comes back when it is asked for, without
// the engine being made anew; a name that no step has is refused with those there are.
static void test_volume(void)
{
    g_autoptr(LithoCube) clean = patch_cube(PATCH_PLANES, 130, 70, 200);
    g_autoptr(LithoCube) noise = patch_noise(PATCH_WHITE, 130, 70, 200, 0.8, 3);
    g_autoptr(LithoCube) in = patch_sum(clean, noise);
    g_autoptr(LithoFlow) flow = make_flow("patch + fx");
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    g_autoptr(GError) error = NULL;
    g_assert_false(litho_flow_set_volume(flow, "dip", &error));
    g_assert_nonnull(strstr(error->message, LITHO_PATCH_NOISE_LEVEL));
    g_clear_error(&error);
    g_autoptr(LithoCube) before = litho_engine_run(engine, flow, in, NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(litho_flow_set_volume(flow, LITHO_PATCH_NOISE_LEVEL, &error));
    g_autoptr(LithoCube) level = litho_engine_run(engine, flow, in, NULL, NULL, &error);
    g_assert_no_error(error);
    for (gint64 k = 0; k < litho_cube_held_samples(level); k++)
        g_assert_cmpfloat(fabs(level->samples[k] / 0.8 - 1), <, 0.05);
    const LithoBox region = {{40, 10, 50}, {41, 60, 190}};
    LithoEngine *fresh = litho_engine_new(litho_device_cpu());
    g_autoptr(LithoCube) part = litho_engine_run(fresh, flow, in, &region, NULL, &error);
    g_assert_no_error(error);
    patch_assert_part(level, part);
    g_autofree char *text = litho_flow_print(flow);
    g_autoptr(LithoFlow) read = litho_flow_parse(text, &error);
    g_assert_no_error(error);
    g_assert_true(litho_flow_equal(flow, read));
    g_assert_true(litho_flow_set_volume(flow, NULL, &error));
    g_assert_false(litho_flow_equal(flow, read));
    g_autoptr(LithoCube) after = litho_engine_run(engine, flow, in, NULL, NULL, &error);
    patch_assert_part(before, after);
    litho_engine_free(engine);
    litho_engine_free(fresh);
}

// Property: a cancel ends the measuring before the next part is read.
static void test_cancel(void)
{
    g_autoptr(LithoCube) cube = make_cube(200, 40, 70);
    g_autoptr(GCancellable) cancel = g_cancellable_new();
    g_cancellable_cancel(cancel);
    LithoRun run = {.cancel = cancel};
    Parts parts = {.cube = cube};
    const LithoPatchParams p = patch_settings("");
    const LithoReader reader = {.grid = &cube->grid, .read = read_part, .data = &parts};
    g_autoptr(GError) error = NULL;
    g_assert_null(litho_patch_measure(&p, &reader, &run, &error));
    g_assert_true(litho_error_is_cancelled(error));
    g_assert_cmpint(parts.n, ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    litho_kernels_init();
    folder = g_dir_make_tmp("lithoscope-XXXXXX", NULL);
    g_test_add_func("/patch-measure/slabs", test_slabs);
    g_test_add_func("/patch-measure/parts", test_parts);
    g_test_add_func("/patch-measure/across", test_across);
    g_test_add_func("/patch-measure/recipe", test_recipe);
    g_test_add_func("/patch-measure/volume", test_volume);
    g_test_add_func("/patch-measure/cancel", test_cancel);
    const int status = g_test_run();
    for (const char *const *name = (const char *const[]){"in.npy", "out.npy", NULL}; *name; name++) {
        g_autofree char *path = g_build_filename(folder, *name, NULL);
        g_remove(path);
    }
    g_rmdir(folder);
    g_free(folder);
    return status;
}
