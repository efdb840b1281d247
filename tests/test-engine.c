// SPDX-License-Identifier: GPL-3.0-or-later
//
// The engine, driven with the example operator of kernels/template.
#include <math.h>
#include <string.h>

#include "tests/mean_flow.h"
#include "core/error.h"
#include "core/engine/race.h"

// Property: a change costs the stages behind it and no more. The counts are exact; an engine that
// re-runs everything, or one that re-runs nothing, fails.
static void test_stages(void)
{
    g_autoptr(LithoCube) in = random_cube(9, 5, 16);
    g_autoptr(LithoFlow) flow = mean_flow();
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    LithoTimings *timings = litho_timings_new();
    LithoRun run = {.timings = timings};
    const struct {
        double gain;
        int halfwidth;
        guint plan, mean, gain_passes;
    } steps[] = {{1, 1, 1, 1, 1}, {2, 1, 1, 1, 2}, {2, 2, 1, 2, 3}, {2, 2, 1, 2, 3}};
    for (guint k = 0; k < G_N_ELEMENTS(steps); k++) {
        params_of(flow, 0)->gain = steps[k].gain;
        params_of(flow, 0)->halfwidth = steps[k].halfwidth;
        g_autoptr(LithoCube) out = litho_engine_run(engine, flow, in, NULL, &run, NULL);
        litho_timings_end_pass(timings);
        g_assert_nonnull(out);
        g_assert_cmpuint(test_passes_of(timings, "plan"), ==, steps[k].plan);
        g_assert_cmpuint(test_passes_of(timings, "mean"), ==, steps[k].mean);
        g_assert_cmpuint(test_passes_of(timings, "gain"), ==, steps[k].gain_passes);
    }
    litho_engine_free(engine);
    litho_timings_unref(timings);
}

// Property: a cube that was made in memory is refused as a file of its samples is, when an
// operator's squares would leave the range of a float; a range of its own for these parameters
// counts.
static void wider(const void *params, float *faintest, float *loudest)
{
    if (((const LithoTemplateParams *)params)->halfwidth == 2) {
        *faintest = 1e-30f;
        *loudest = 1e30f;
    }
}

static void test_loudness(void)
{
    LithoOperator op = litho_operator_template;
    op.faintest = 1e-10f;
    op.loudest = 1e10f;
    op.range = wider;
    static const double scales[] = {1, 0x1p-50, 0x1p50};
    for (guint k = 0; k < G_N_ELEMENTS(scales); k++) {
        g_autoptr(LithoCube) in = random_cube(9, 5, 16);
        g_autoptr(LithoFlow) flow = litho_flow_new();
        litho_flow_append(flow, &op);
        LithoEngine *engine = litho_engine_new(litho_device_cpu());
        for (gint64 n = 0; n < litho_grid_samples(&in->grid); n++)
            in->samples[n] *= (float)scales[k];
        for (int halfwidth = 1; halfwidth <= 2; halfwidth++) {
            g_autoptr(GError) error = NULL;
            params_of(flow, 0)->halfwidth = halfwidth;
            g_autoptr(LithoCube) out = litho_engine_run(engine, flow, in, NULL, NULL, &error);
            if (k == 0 || halfwidth == 2)
                g_assert_no_error(error);
            else
                g_assert_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER);
        }
        litho_engine_free(engine);
    }
}

static LithoSplit by_sum(const LithoGrid *in, const void *params)
{
    (void)in;
    (void)params;
    return (LithoSplit){LITHO_SPLIT_SUM, "halves", LITHO_TEMPLATE_STAGE_GAIN};
}

static int given, first_stage;

static gboolean note_devices(gpointer plan, const LithoPass *pass, LithoRun *run, GError **error)
{
    given = litho_run_devices(run);
    first_stage = pass->first_stage;
    litho_run_used_devices(run, MIN(given, 3));
    return litho_operator_template.cpu->exec(plan, pass, run, error);
}

// Property: the devices of the run reach an operator that says that its work can be shared, and no
// other; when their number changes, the stages from the one it names run again, and nothing runs
// again where nothing is shared. How many took part is told.
static void test_devices(void)
{
    LithoImpl impl = *litho_operator_template.cpu;
    LithoOperator alone = litho_operator_template, shared = litho_operator_template;
    impl.exec = note_devices;
    alone.cpu = shared.cpu = &impl;
    shared.split = by_sum;
    const struct {
        const LithoOperator *op;
        int count, given, first, used;
    } cases[] = {{&shared, 0, 1, 1, 1},
                 {&shared, 2, 2, LITHO_TEMPLATE_STAGE_GAIN, 2},
                 {&shared, 2, -1, -1, 1},
                 {&shared, 5, 5, LITHO_TEMPLATE_STAGE_GAIN, 3},
                 {&alone, 5, 1, 1, 1},
                 {&alone, 2, -1, -1, 1}};
    g_autoptr(LithoCube) in = random_cube(9, 5, 16);
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autoptr(LithoFlow) flow = litho_flow_new();
        litho_flow_append(flow, cases[k].op);
        LithoRun run = {0};
        given = first_stage = -1;
        litho_engine_share(engine, cases[k].count);
        g_autoptr(LithoCube) out = litho_engine_run(engine, flow, in, NULL, &run, NULL);
        g_assert_nonnull(out);
        g_assert_cmpint(given, ==, cases[k].given);
        g_assert_cmpint(first_stage, ==, cases[k].first);
        g_assert_cmpint(run.devices_used, ==, cases[k].used);
    }
    litho_engine_free(engine);
}

// Property: a part computed alone equals the same part of the whole, bit for bit, also through a
// chain of two operators whose halos add up, and dead traces stay dead. A halo one trace too small
// fails.
static void test_region(void)
{
    g_autoptr(LithoCube) in = random_cube(20, 4, 8);
    in->live[9] = in->live[44] = 0;
    g_autoptr(LithoFlow) flow = mean_flow();
    litho_flow_append(flow, &litho_operator_template);
    params_of(flow, 0)->halfwidth = 2;
    params_of(flow, 1)->halfwidth = 3;
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    g_autoptr(LithoCube) whole = litho_engine_run(engine, flow, in, NULL, NULL, NULL);
    g_assert_cmpmem(whole->live, 20 * 4, in->live, 20 * 4);
    for (gint64 i = 0; i < 20; i++) {
        LithoBox slice = litho_box_slice(&in->grid, LITHO_INLINE, i);
        g_autoptr(LithoWalk) walk = litho_walk_look(flow, &in->grid, NULL);
        LithoBox need = litho_walk_want(walk, &slice);
        g_assert_cmpint(need.lo[0], ==, MAX(i - 5, 0));
        g_autoptr(LithoCube) piece = litho_cube_copy_box(in, need, NULL);
        g_autoptr(LithoCube) out = litho_engine_run(engine, flow, piece, &slice, NULL, NULL);
        g_assert_cmpmem(litho_cube_trace(out, i, 0), 4 * 8 * 4, litho_cube_trace(whole, i, 0),
                        4 * 8 * 4);
    }
    litho_engine_free(engine);
}

// Property: a cancelled run gives G_IO_ERROR_CANCELLED, nothing else, and the next run is right.
static void test_cancel(void)
{
    g_autoptr(LithoCube) in = random_cube(9, 5, 16);
    g_autoptr(LithoFlow) flow = mean_flow();
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    g_autoptr(GCancellable) cancel = g_cancellable_new();
    g_cancellable_cancel(cancel);
    LithoRun run = {.cancel = cancel};
    g_autoptr(GError) error = NULL;
    g_assert_null(litho_engine_run(engine, flow, in, NULL, &run, &error));
    g_assert_true(litho_error_is_cancelled(error));
    g_autoptr(LithoCube) out = litho_engine_run(engine, flow, in, NULL, NULL, NULL);
    LithoEngine *fresh = litho_engine_new(litho_device_cpu());
    g_autoptr(LithoCube) expected = litho_engine_run(fresh, flow, in, NULL, NULL, NULL);
    g_assert_cmpmem(out->samples, 9 * 5 * 16 * 4, expected->samples, 9 * 5 * 16 * 4);
    litho_engine_free(engine);
    litho_engine_free(fresh);
}

// An operator that tells: in its plan, and once more each time it runs.
typedef struct TellParams {
    double gain;
} TellParams;

static gpointer tell_plan(const LithoGrid *in, const void *params, LithoResolved *known,
                          LithoRun *run, GError **error)
{
    (void)known;
    (void)in;
    (void)params;
    (void)error;
    litho_report_number(run->report, "planned", "planned", "", 1);
    return g_new0(int, 1);
}

static gboolean tell_exec(gpointer plan, const LithoPass *pass, LithoRun *run, GError **error)
{
    (void)error;
    int *passes = plan;
    float at[3] = {1, 2, 3};
    double x[2] = {0, 1};
    litho_report_number(run->report, "passes", "passes", "", ++*passes);
    litho_report_curve(run->report, "curve", "Curve", "x", "y", 2, x, x);
    litho_report_curve_marks(run->report, "curve", 1, x);
    litho_report_shape(run->report, &(LithoShape){.key = "point", .n = 1, .xyz = at});
    litho_cube_paste(pass->out, (LithoCube *)pass->in);
    return TRUE;
}

static const LithoImpl tell_cpu = {tell_plan, tell_exec, g_free, NULL};
static const LithoParam tell_rows[] = {
    LITHO_FLOAT(TellParams, gain, .label = "Gain", .def = 1, .min = 0, .max = 10, .stage = 1)};
static const LithoOperator tell_operator = {.key = "tell",
                                            .title = "Tell",
                                            .params = {tell_rows, 1, sizeof(TellParams)},
                                            .needs_input = TRUE,
                                            .cpu = &tell_cpu};

static void check_told(LithoEngine *engine, const LithoFlow *flow, LithoCube *cube, double passes)
{
    g_autoptr(GError) error = NULL;
    LithoReport *report = litho_report_new();
    LithoRun run = {.report = report};
    g_autoptr(LithoCube) out = litho_engine_run(engine, flow, cube, NULL, &run, &error);
    g_assert_no_error(error);
    g_assert_true(run.report == report);
    double value = 0;
    g_assert_true(litho_report_get(report, "planned", &value));
    g_assert_true(litho_report_get(report, "passes", &value));
    g_assert_cmpfloat(value, ==, passes);
    g_autoptr(GArray) curves = litho_report_curves(report);
    g_autoptr(GArray) shapes = litho_report_shapes(report);
    g_assert_cmpuint(curves->len, ==, 1);
    g_assert_cmpuint(g_array_index(curves, LithoCurve, 0).n_marks, ==, 1);
    g_assert_cmpuint(shapes->len, ==, 1);
    litho_report_unref(report);
}

// Property: a run that leaves a step out, because nothing it depends on has changed, reports what
// the step told when it ran last, and a run with an old plan what the plan told. Without it the
// panels of the first step of a flow would empty while the second one's slider is dragged, and
// those of a step that is switched off and on again.
static void test_report_repeats(void)
{
    g_autoptr(LithoCube) cube = random_cube(9, 5, 16);
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, &tell_operator);
    litho_flow_append(flow, &litho_operator_template);
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    check_told(engine, flow, cube, 1);
    params_of(flow, 1)->gain = 3;
    check_told(engine, flow, cube, 1);
    ((TellParams *)litho_flow_step(flow, 0)->params)->gain = 2;
    check_told(engine, flow, cube, 2);
    litho_engine_free(engine);
}

// --- a device whose memory ends -----------------------------------------------------------------

static gint64 device_left; // floats
static const LithoBackend small_device;

static LithoBuffer *small_alloc(int number, gint64 count, GError **error)
{
    if (count > device_left) {
        litho_refuse(error, LITHO_ERROR_MEMORY, "%d floats are left", (int)device_left);
        return NULL;
    }
    device_left -= count;
    LithoBuffer *buffer = g_new0(LithoBuffer, 1);
    *buffer = (LithoBuffer){&small_device, number, count, g_new0(float, count)};
    return buffer;
}

static void small_free(LithoBuffer *buffer)
{
    device_left += buffer->count;
    g_free(buffer->data);
    g_free(buffer);
}

// A plan that keeps all the memory its first pass finds, as spectra of a filter are kept.
static gpointer greedy_plan(const LithoGrid *in, const void *params, LithoResolved *known,
                            LithoRun *run, GError **error)
{
    (void)in, (void)params, (void)known, (void)run, (void)error;
    return g_new0(gint64, 1);
}

static gboolean greedy_exec(gpointer plan, const LithoPass *pass, LithoRun *run, GError **error)
{
    (void)run, (void)error;
    float *x = pass->out->device->data;
    for (gint64 k = 0; k < pass->out->device->count; k++)
        x[k] = (float)(pass->region.lo[0] + pass->first_stage);
    *(gint64 *)plan += device_left;
    device_left = 0;
    return TRUE;
}

static void greedy_destroy(gpointer plan)
{
    device_left += *(gint64 *)plan;
    g_free(plan);
}

static const LithoImpl *greedy_impl(const LithoOperator *op)
{
    static const LithoImpl impl = {
        .plan = greedy_plan, .exec = greedy_exec, .destroy = greedy_destroy};
    (void)op;
    return &impl;
}

static const LithoBackend small_device = {.abi = LITHO_BACKEND_ABI,
                                          .key = "small",
                                          .title = "A device of little memory",
                                          .n_devices = 1,
                                          .impl = greedy_impl,
                                          .alloc = small_alloc,
                                          .free = small_free};

// Property: an output finds the memory that the plans of all steps keep, also while another output
// is on its way to the host; without that there is the device's own sentence.
static void test_kept_memory(void)
{
    g_autoptr(LithoCube) in = random_cube(9, 5, 16);
    g_autoptr(LithoFlow) flow = mean_flow();
    litho_flow_append(flow, &litho_operator_template);
    LithoEngine *engine = litho_engine_new((LithoDevice){.backend = &small_device, .count = 1});
    const gint64 slab = 3 * 5 * 16,
                 wide = 5 * 5 * 16; // with what the second step asks of the first
    GError *error = NULL;
    device_left = 2 * (slab + wide);
    LithoCube *before = NULL;
    for (int k = 0; k < 3; k++) {
        LithoBox region = litho_box_full(&in->grid);
        region.lo[0] = 3 * k;
        region.hi[0] = 3 * k + 3;
        LithoCube *out = litho_engine_run(engine, flow, in, &region, NULL, &error);
        g_assert_no_error(error);
        g_assert_cmpfloat(*(float *)out->device->data, ==, (float)(3 * k + 1));
        litho_cube_unref(before);
        before = out; // it is on its way to the host
    }
    g_autoptr(LithoCube) whole = litho_engine_run(engine, flow, in, NULL, NULL, &error);
    g_assert_null(whole);
    g_assert_error(error, LITHO_ERROR, LITHO_ERROR_MEMORY);
    g_clear_error(&error);
    litho_cube_unref(before);
    litho_engine_free(engine);
    g_assert_cmpint(device_left, ==, 2 * (slab + wide));
}

static int models; // cubes that the operator without an input has made

static gboolean model_exec(gpointer plan, const LithoPass *pass, LithoRun *run, GError **error)
{
    (void)plan;
    (void)run;
    (void)error;
    models++;
    pass->out->samples[0] = 1;
    return TRUE;
}

static gboolean model_grid(const LithoGrid *in, const void *params, LithoResolved *known,
                           LithoGrid *out, GError **error)
{
    (void)in;
    (void)params;
    (void)known;
    (void)error;
    g_autoptr(LithoCube) cube = random_cube(1, 5, 16);
    *out = cube->grid;
    return TRUE;
}

// Property: a race of an operator that makes its cube without an input computes in each timed run.
// The result of the run before would be had in microseconds.
static void test_race_without_input(void)
{
    static const LithoImpl cpu = {tell_plan, model_exec, g_free, NULL};
    static const LithoOperator op = {.key = "model",
                                     .title = "Model",
                                     .params = {tell_rows, 1, sizeof(TellParams)},
                                     .output_grid = model_grid,
                                     .cpu = &cpu};
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoFlow) flow = litho_flow_new();
    litho_flow_append(flow, &op);
    LithoRace *race = litho_race_new(NULL);
    g_assert_true(litho_race_add(race, flow, "cpu", 1, NULL, NULL, &error));
    g_assert_true(litho_race_add(race, flow, "cpu", 2, NULL, NULL, &error));
    models = 0;
    LithoRun run = {0};
    g_assert_true(litho_race_run(race, NULL, &run, &error));
    g_test_message("%d cubes made", models);
    g_assert_cmpint(models, ==, 2 * (1 + 3)); // the one that is shown, and three timed
    litho_race_free(race);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/engine/stages", test_stages);
    g_test_add_func("/engine/loudness", test_loudness);
    g_test_add_func("/engine/devices", test_devices);
    g_test_add_func("/engine/region", test_region);
    g_test_add_func("/engine/cancel", test_cancel);
    g_test_add_func("/engine/report-repeats", test_report_repeats);
    g_test_add_func("/engine/kept-memory", test_kept_memory);
    g_test_add_func("/engine/race-without-input", test_race_without_input);
    return g_test_run();
}
