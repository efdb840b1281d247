// SPDX-License-Identifier: GPL-3.0-or-later
//
// Depth migration as an operator: threads, parts, stages, small grids, refusals, cancel.
#include "tests/common.h"
#include "core/engine/worker.h"
#include "kernels/migrate/stages.h"
#include "tests/migrate_helpers.h"

// The design of the default operator takes minutes under a sanitizer, whatever the grid.
#define SHORT_OPERATOR (TEST_SANITIZED ? "degree=9" : "")

// Property: the samples do not depend on the number of threads, and the parts shown on the way are
// the final samples and cover all depths.
typedef struct Parts {
    LithoCube *image;
    int count;
} Parts;

static void take_part(LithoCube *part, gpointer data)
{
    Parts *parts = data;
    if (!parts->image)
        parts->image = litho_cube_new(&part->grid, NULL);
    litho_cube_paste(parts->image, part);
    parts->count++;
}

static void test_threads_and_parts(void)
{
    LithoGrid grid = time_grid(20, 30, 200, 12.5, 0.004);
    g_autoptr(LithoCube) in = random_cube(&grid, 9);
    Parts parts = {0};
    LithoRun one = {.threads = 1},
             three = {.threads = 3, .on_partial = take_part, .partial_data = &parts};
    const char *settings = "velocity=2200 dz=5 nz=130 fmax=40 coarse=on";
    g_autoptr(LithoCube) a = try_migrate(in, &one, NULL, settings);
    g_autoptr(LithoCube) b = try_migrate(in, &three, NULL, settings);
    gsize bytes = litho_grid_samples(&a->grid) * sizeof(float);
    g_assert_cmpmem(a->samples, bytes, b->samples, bytes);
    g_assert_cmpint(parts.count, >, 2);
    g_assert_cmpmem(parts.image->samples, bytes, b->samples, bytes);
    litho_cube_unref(parts.image);
}

// Property: a move of the degree runs design and extrapolation, not the time FFT; going back to an
// earlier degree designs nothing; the result is that of a fresh run.
static void test_stages(void)
{
    LithoGrid grid = time_grid(12, 14, 200, 12.5, 0.004);
    g_autoptr(LithoCube) in = random_cube(&grid, 9);
    g_autoptr(LithoFlow) flow = flow_of("velocity=2200 nz=30 degree=15");
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    LithoTimings *timings = litho_timings_new();
    LithoReport *report = litho_report_new();
    LithoRun run = {.timings = timings, .report = report};
    static const char *const moves[] = {"degree=15", "degree=21", "degree=15"};
    guint64 made = 0;
    for (int k = 0; k < 3; k++) {
        set(flow, moves[k]);
        made = litho_poly_designs_made();
        g_autoptr(LithoCube) out = litho_engine_run(engine, flow, in, NULL, &run, NULL);
        litho_timings_end_pass(timings);
        g_assert_nonnull(out);
        if (k == 2) {
            g_autoptr(LithoCube) fresh = migrate(in, "velocity=2200 nz=30 degree=15");
            gsize bytes = litho_grid_samples(&out->grid) * sizeof(float);
            g_assert_cmpmem(out->samples, bytes, fresh->samples, bytes);
        }
    }
    g_assert_cmpuint(litho_poly_designs_made(), ==, made);
    g_assert_cmpuint(test_passes_of(timings, "spectrum"), ==, 1);
    g_assert_cmpuint(test_passes_of(timings, "extrapolate"), ==, 3);
    litho_engine_free(engine);
    litho_timings_unref(timings);
    litho_report_unref(report);
}

// Property: the velocity under the image is told with each pass, as one cube while neither velocity
// nor depths change, and as that of the new ones once they do.
static void test_velocity_layer(void)
{
    const struct {
        const char *move;
        gboolean same;
        float velocity;
    } cases[] = {{"degree=15", FALSE, 2200}, {"degree=21", TRUE, 2200},
                 {"fmax=50", TRUE, 2200},    {"velocity=2300", FALSE, 2300},
                 {"max_dip=50", TRUE, 2300}, {"nz=20", FALSE, 2300}};
    LithoGrid grid = time_grid(12, 14, 100, 12.5, 0.004);
    g_autoptr(LithoCube) in = random_cube(&grid, 9), before = NULL;
    g_autoptr(LithoFlow) flow = flow_of("velocity=2200 nz=30 step=1");
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        set(flow, cases[k].move);
        LithoReport *report = litho_report_new();
        LithoRun run = {.report = report};
        g_autoptr(LithoCube) out = litho_engine_run(engine, flow, in, NULL, &run, NULL);
        g_assert_nonnull(out);
        g_autoptr(GArray) layers = litho_report_layers(report);
        g_assert_cmpuint(layers->len, ==, 1);
        LithoCube *now = g_array_index(layers, LithoLayer, 0).cube;
        g_assert_cmpint(now->grid.axis[2].n, ==, out->grid.axis[2].n);
        g_assert_cmpfloat_with_epsilon(now->samples[7], cases[k].velocity, 1e-2);
        g_assert_true((now == before) == cases[k].same);
        litho_cube_unref(before);
        before = litho_cube_ref(now);
        litho_report_unref(report);
    }
    litho_engine_free(engine);
}

static const LithoCurve *curve_named(GArray *curves, const char *key)
{
    for (guint k = 0; k < curves->len; k++)
        if (strcmp(g_array_index(curves, LithoCurve, k).key, key) == 0)
            return &g_array_index(curves, LithoCurve, k);
    g_test_message("no curve \"%s\"", key);
    g_assert_not_reached();
}

// The report as it stands when the first depths are shown.
typedef struct Early {
    LithoReport *report;
    guint curves;
    double max_dip;
} Early;

static void look_at_report(LithoCube *part, gpointer data)
{
    Early *early = data;
    (void)part;
    if (early->curves > 0)
        return;
    g_autoptr(GArray) curves = litho_report_curves(early->report);
    early->curves = curves->len;
    early->max_dip = curve_named(curves, "phase_high")->mark[0];
}

// Property: the design's curves are told before the long computation, again after a move of the
// largest dip, three frequencies in one plot; the phase goes up to that dip or to half a cycle,
// beyond which a wave is lost, without jumps by whole turns of a step; and the curve that a cursor
// goes by between record and image is the two-way time: 2 z / v, also in a step of several depths.
// 1e-6: slowness is kept in single precision.
static void test_report(void)
{
    LithoGrid grid = time_grid(12, 14, 200, 12.5, 0.004);
    g_autoptr(LithoCube) in = random_cube(&grid, 9);
    g_autoptr(LithoFlow) flow = flow_of("velocity=2200 nz=30 degree=15 step=2");
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    LithoReport *report = litho_report_new();
    static const char *const moves[] = {"max_dip=65", "max_dip=40", "mode=shot"};
    const double half_turn = 180 * 1000 / (10 * 2.0); // of one step, over 1000 m of 20 m steps
    double steep = 0;
    for (int k = 0; k < 3; k++) {
        set(flow, moves[k]);
        Early early = {.report = report};
        LithoRun run = {.report = report, .on_partial = look_at_report, .partial_data = &early};
        g_autoptr(LithoCube) out = litho_engine_run(engine, flow, in, NULL, &run, NULL);
        g_assert_nonnull(out);
        g_autoptr(GArray) curves = litho_report_curves(report);
        g_assert_cmpuint(early.curves, ==, curves->len);
        g_assert_cmpfloat(early.max_dip, ==, k == 0 ? 65 : 40);
        const LithoCurve *phase = curve_named(curves, "phase_middle");
        g_assert_cmpstr(phase->group, ==, curve_named(curves, "phase_low")->group);
        g_assert_cmpstr(phase->group, !=, curve_named(curves, "amplitude_low")->group);
        for (int c = 0; c < 2; c++) {
            phase = curve_named(curves, c ? "phase_high" : "phase_middle");
            const double last = fabs(phase->y[phase->n - 1]), end = phase->x[phase->n - 1];
            g_test_message("phase error at %g degrees: %g", end, last);
            g_assert_true(end == phase->mark[0] || fabs(last - 180) < 1e-9);
            for (guint d = 1; d < phase->n; d++) {
                g_assert_cmpfloat(fabs(phase->x[d] - d), <, d + 1 < phase->n ? 1e-9 : 1);
                g_assert_cmpfloat(fabs(phase->y[d] - phase->y[d - 1]), <, half_turn);
                g_assert_cmpfloat(fabs(phase->y[d]), <=, 180);
            }
        }
        const LithoCurve *amplitude = curve_named(curves, "amplitude_middle");
        if (k == 0)
            steep = fabs(amplitude->y[60] - 1);
        else if (k == 1) // beyond the largest dip
            g_assert_cmpfloat(fabs(amplitude->y[60] - 1), >, 3 * steep);
        const LithoCurve *time = curve_named(curves, "depth_time");
        g_assert_cmpuint(time->n, ==, 30);
        for (guint z = 0; z < time->n; z++) {
            g_assert_cmpfloat(time->x[z], ==, 10 * z);
            g_assert_cmpfloat(fabs(time->y[z] - 2 * 10 * z / 2200.0), <, 1e-6);
        }
    }
    litho_engine_free(engine);
    litho_report_unref(report);
}

// --- pause --------------------------------------------------------------------------------------

static void wake(gpointer data)
{
    (void)data;
}

// Newest result within `ms`, or NULL.
static LithoResult *result_within(LithoWorker *worker, double ms)
{
    const double end = litho_now_ms() + ms;
    LithoResult *result = NULL;
    while (!(result = litho_worker_take(worker)) && litho_now_ms() < end)
        g_usleep(2000);
    return result;
}

static LithoResult *whole_of(LithoWorker *worker, guint64 tag)
{
    for (;;) {
        LithoResult *result = result_within(worker, 30000);
        g_assert_nonnull(result);
        g_assert_no_error(result->error);
        if (result->complete && result->tag == tag)
            return result;
        litho_result_unref(result);
    }
}

// Starts a pass and pauses it when its first depths are there.
static void start_and_pause(LithoWorker *worker, const LithoWish *wish)
{
    litho_worker_submit(worker, wish);
    LithoResult *first = result_within(worker, 30000);
    g_assert_nonnull(first);
    litho_worker_pause(worker, TRUE);
    g_assert_true(litho_worker_is_paused(worker));
    litho_result_unref(first);
    litho_result_unref(result_within(worker, 50)); // what was under way
}

// Property: a pass that is paused shows nothing more and stays under way; going on gives the
// samples of an undisturbed run; a cancel and a new wish end a pause. 200 ms are a dozen slabs of
// this job.
static void test_pause(void)
{
    LithoGrid grid = time_grid(24, 30, 200, 12.5, 0.004);
    g_autoptr(LithoCube) in = random_cube(&grid, 9);
    const char *settings = TEST_SANITIZED
                               ? "velocity=2200 dz=2 nz=400 step=1 fmax=60 degree=21 pad=0"
                               : "velocity=2200 dz=2 nz=400 step=1 fmax=60 degree=47 pad=0";
    g_autoptr(LithoFlow) flow = flow_of(settings);
    LithoWish wish = {
        .flow = flow, .in = in, .device = litho_device_cpu(), .whole = TRUE, .tag = 1};
    LithoWorker *worker = litho_worker_new(wake, NULL);
    LithoProgress progress;

    litho_worker_pause(worker, TRUE); // idle: nothing to pause
    g_assert_false(litho_worker_is_paused(worker));
    start_and_pause(worker, &wish);
    g_assert_null(result_within(worker, 200));
    g_assert_true(litho_worker_progress(worker, &progress));
    litho_worker_pause(worker, FALSE);
    LithoResult *result = whole_of(worker, 1);
    g_autoptr(LithoCube) plain = migrate(in, "%s", settings);
    const LithoCube *out = g_ptr_array_index(result->parts, 0);
    g_assert_cmpmem(out->samples, litho_grid_samples(&out->grid) * sizeof(float), plain->samples,
                    litho_grid_samples(&plain->grid) * sizeof(float));
    litho_result_unref(result);

    set(flow, TEST_SANITIZED ? "degree=19" : "degree=45");
    wish.tag = 2;
    start_and_pause(worker, &wish);
    litho_worker_cancel(worker);
    for (int k = 0; k < 500 && litho_worker_progress(worker, &progress); k++)
        g_usleep(2000);
    g_assert_false(litho_worker_progress(worker, &progress));
    g_assert_false(litho_worker_is_paused(worker));

    start_and_pause(worker, &wish);
    set(flow, "degree=9 step=4");
    wish.tag = 3;
    litho_worker_submit(worker, &wish);
    litho_result_unref(whole_of(worker, 3));
    litho_worker_free(worker);
}

// Property: grids with axes of one cell, smaller than the stencil, and records of a few samples
// work and give finite samples; energy does not appear from nowhere.
static void test_small_grids(void)
{
    static const int shapes[][3] = {{1, 1, 100}, {1, 2, 50}, {5, 1, 64}, {3, 4, 33}, {1, 200, 7}};
    static const char *const cases[] = {
        "", "form=pointwise", "engine=splitstep", "coarse=on", "step=4 nz=2", "mode=shot", "nz=1"};
    for (guint s = 0; s < G_N_ELEMENTS(shapes); s++)
        for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
            LithoGrid grid = time_grid(shapes[s][0], shapes[s][1], shapes[s][2], 12.5, 0.004);
            g_autoptr(LithoCube) in = random_cube(&grid, 4);
            g_autoptr(LithoCube) out =
                migrate(in, "velocity=2000 fmax=100 nz=12 %s %s", SHORT_OPERATOR, cases[c]);
            for (gint64 k = 0; k < litho_grid_samples(&out->grid); k++)
                g_assert_true(isfinite(out->samples[k]));
            // A trace of its own is its own image: t = 2 z / v, whatever the engine.
            if (s == 0 && c == 0)
                g_assert_cmpfloat(fabsf(out->samples[3]), >, 0);
        }
}

static void expect_refusal(const LithoCube *in, const char *settings, const char *word)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) out = try_migrate(in, NULL, &error, settings);
    g_assert_null(out);
    g_assert_nonnull(error);
    g_test_message("%s -> %s", settings, error->message);
    g_assert_nonnull(strstr(error->message, word));
}

// Property: models and settings that make no sense are refused with a sentence that names what was
// found; nothing is clamped in silence.
static void test_refusals(void)
{
    LithoGrid grid = time_grid(6, 7, 60, 12.5, 0.004);
    g_autoptr(LithoCube) in = random_cube(&grid, 4);
    expect_refusal(in, "velocity=0", "10 to 100000 m/s");
    expect_refusal(in, "velocity=1e300", "10 to 100000 m/s");
    expect_refusal(in, "velocity=1e-3", "10 to 100000 m/s");
    expect_refusal(in, "velocity=2.5", "10 to 100000 m/s"); // kilometres a second
    expect_refusal(in, "velocity=/dev/zero", "regular file");
    expect_refusal(in, "velocity=-1500", "-1500");
    expect_refusal(in, "velocity=/nowhere/v.txt", "nowhere");
    expect_refusal(in, "fmax=200", "half the sampling rate");
    expect_refusal(in, "fmin=50 fmax=20", "no band");
    expect_refusal(in, "mode=shot source_x=5000", "off the image");
    expect_refusal(in, "mode=shot geometry=headers", "nx");
    expect_refusal(in, "mode=shot geometry=headers nx=4 ny=4", "trace headers");
    in->grid.is_depth = TRUE;
    expect_refusal(in, "velocity=2000", "depth");
    in->grid.is_depth = FALSE;
    expect_refusal(in, "mode=demigrate", "depth");

    g_autofree char *text = scratch_path("litho-test-bad.txt");
    g_autofree char *use_text = g_strdup_printf("velocity=%s", text);
    static const char *const tables[][2] = {{"0 2000\n100 -5\n", "line 2"},
                                            {"100 2000\n0 2100\n", "below"},
                                            {"0 2000\n0 2100\n0 2200\n", "a jump"},
                                            {"depth (km) v\n0 2000\n", "names km"},
                                            {"depth velocity\n", "no line"},
                                            {"0 2000\ndepth velocity\n", "line 2"},
                                            {"velocity depth\n2000 0\n", "velocity first"},
                                            {"TWT (ms), velocity\n0 2000\n", "times"},
                                            {"depth (ft);velocity\n0 2000\n", "feet"},
                                            {"# nothing\n", "no line"},
                                            {"0 nan\n", "line 1"}};
    for (guint k = 0; k < G_N_ELEMENTS(tables); k++) {
        g_assert_true(g_file_set_contents(text, tables[k][0], -1, NULL));
        g_usleep(2000); // another modification time
        expect_refusal(in, use_text, tables[k][1]);
    }
    g_unlink(text);

    LithoGrid vg = time_grid(6, 7, 20, 12.5, 10);
    vg.is_depth = TRUE;
    for (int bad = 0; bad < 3; bad++) {
        g_autoptr(LithoCube) v = litho_cube_new(&vg, NULL);
        for (gint64 k = 0; k < litho_grid_samples(&vg); k++)
            v->samples[k] = 2000;
        litho_cube_trace(v, 2, 3)[11] = (float[]){0, NAN, INFINITY}[bad];
        g_autoptr(GError) error = NULL;
        g_assert_null(litho_migrate_model_from_cube(v, NULL, &error));
        g_assert_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER);
        g_assert_nonnull(strstr(error->message, "inline 3, crossline 4, sample 11"));
    }
}

// Property: a panel opens with at most eight rows whatever is chosen, and they hold all that a
// choice asks for.
static void test_rows(void)
{
    const LithoParamTable *table = &litho_operator_migrate.params;
    static const char *const choices[] = {"mode=zero-offset", "mode=demigrate",
                                          "mode=shot geometry=record", "mode=shot geometry=line",
                                          "mode=shot geometry=headers"};
    for (guint c = 0; c < G_N_ELEMENTS(choices); c++) {
        g_autoptr(LithoFlow) flow = flow_of(choices[c]);
        const void *params = litho_flow_step(flow, 0)->params;
        int rows = 0;
        for (guint k = 0; k < table->n; k++)
            rows += !table->rows[k].advanced && litho_param_applies(table, &table->rows[k], params);
        g_assert_cmpint(rows, <=, 8);
    }
    g_assert_false(litho_param_find(table, "nx")->advanced);
    g_assert_false(litho_param_find(table, "ny")->advanced);
}

// Property: a velocity cube on a coarser grid of its own, given by coordinates, is interpolated to
// the image's cells: a linear field comes back exactly, and beyond the cube its edge holds.
static void test_velocity_grid(void)
{
    LithoGrid vg = time_grid(5, 4, 30, 40, 20);
    vg.is_depth = TRUE;
    vg.axis[2].source = vg.xy_source = LITHO_FROM_FILE;
    vg.origin[0] = 100;
    vg.origin[1] = 200;
    g_autoptr(LithoCube) v = litho_cube_new(&vg, NULL);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 30; k++)
                litho_cube_trace(v, i, j)[k] = (float)(2000 + 2 * (40 * i) + 3 * (40 * j));
    LithoGrid image = time_grid(12, 10, 50, 10, 10);
    image.is_depth = TRUE;
    image.xy_source = LITHO_FROM_USER;
    image.origin[0] = 130;
    image.origin[1] = 220;
    g_autoptr(LithoMigrateModel) model = litho_migrate_model_from_cube(v, NULL, NULL);
    LithoModelMap map;
    g_assert_true(litho_migrate_model_map(model, &image, &map, NULL));
    float slow[12 * 10];
    litho_migrate_model_slowness(model, &map, (gint64[]){0, 0}, (gint64[]){12, 10}, 100, 110, slow);
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 10; j++) {
            double x = fmin(30 + 10 * j, 120), y = fmin(20 + 10 * i, 160);
            g_assert_cmpfloat(fabs(1 / slow[i * 10 + j] - (2000 + 2 * y + 3 * x)), <, 0.05);
        }
    image.origin[0] = 5000;
    g_autoptr(GError) error = NULL;
    g_assert_false(litho_migrate_model_map(model, &image, &map, &error));
    g_assert_nonnull(strstr(error->message, "coordinates"));
    image.has_no_place = TRUE; // the distances alone are known
    g_assert_true(litho_migrate_model_map(model, &image, &map, NULL));
}

// Property: a bent line, whose coordinates the reader gives up, is not placed by them.
static void test_velocity_bent_line(void)
{
    LithoGrid vg = time_grid(5, 4, 30, 40, 20), image = time_grid(1, 10, 50, 10, 10);
    vg.is_depth = image.is_depth = TRUE;
    vg.xy_source = image.xy_source = LITHO_FROM_FILE;
    vg.axis[0].source = image.axis[0].source = LITHO_FROM_FILE;
    image.has_no_place = TRUE;
    g_autoptr(LithoCube) v = litho_cube_new(&vg, NULL);
    for (int k = 0; k < 600; k++)
        v->samples[k] = 2000;
    g_autoptr(LithoMigrateModel) model = litho_migrate_model_from_cube(v, NULL, NULL);
    LithoModelMap map;
    g_assert_true(litho_migrate_model_map(model, &image, &map, NULL)); // by equal line numbers
    image.axis[0].first = 700;
    g_autoptr(GError) error = NULL;
    g_assert_false(litho_migrate_model_map(model, &image, &map, &error));
    g_assert_nonnull(strstr(error->message, "bent line"));
}

// Two-way time to the image's last depth, and whether a note speaks of velocity_dz.
static double time_through(const LithoCube *in, const char *path, const char *settings,
                           gboolean *noted)
{
    g_autofree char *all =
        g_strdup_printf("velocity=%s dz=10 nz=61 %s %s", path, SHORT_OPERATOR, settings);
    LithoReport *report = litho_report_new();
    LithoRun run = {.report = report};
    g_autoptr(LithoCube) out = try_migrate(in, &run, NULL, all);
    g_assert_nonnull(out);
    *noted = FALSE;
    for (guint k = 0; k < out->notes->len; k++)
        *noted = *noted || strstr(g_ptr_array_index(out->notes, k), "velocity_dz");
    g_autoptr(GArray) curves = litho_report_curves(report);
    const LithoCurve *time = curve_named(curves, "depth_time");
    const double t = time->y[time->n - 1];
    litho_report_unref(report);
    return t;
}

// Property: a velocity cube whose format states no depth interval is taken as sampled like the
// image, and a note says so; velocity_dz states it. 1500 m/s in ten samples, 3000 below. 3e-3 s:
// the interface is interpolated over a sample.
static void test_velocity_interval(void)
{
    LithoGrid vg = time_grid(2, 2, 40, 12.5, 1), grid = time_grid(6, 7, 60, 12.5, 0.004);
    g_autoptr(LithoCube) in = random_cube(&grid, 4), v = litho_cube_new(&vg, NULL);
    for (int k = 0; k < 160; k++)
        v->samples[k] = k % 40 < 10 ? 1500 : 3000;
    g_autofree char *path = scratch_path("litho-test-interval.npy");
    LithoSaveOptions save = {.force = TRUE};
    g_assert_true(litho_cube_save(v, path, &save, NULL, NULL));
    gboolean noted;
    double t = time_through(in, path, "velocity_dz=20", &noted);
    g_assert_false(noted);
    assert_below(fabs(t - 2 * (200 / 1500.0 + 400 / 3000.0)), 3e-3);
    t = time_through(in, path, "", &noted);
    g_assert_true(noted);
    assert_below(fabs(t - 2 * (100 / 1500.0 + 500 / 3000.0)), 3e-3);
    g_unlink(path);
}

// Property: a velocity cube whose SEG-Y headers count its samples as times is refused with the way
// out; velocity_dz says that they are depths.
static void test_velocity_in_time(void)
{
    LithoGrid vg = time_grid(2, 2, 40, 12.5, 0.02), grid = time_grid(6, 7, 60, 12.5, 0.004);
    g_autoptr(LithoCube) in = random_cube(&grid, 4), v = litho_cube_new(&vg, NULL);
    for (int k = 0; k < 160; k++)
        v->samples[k] = k % 40 < 10 ? 1500 : 3000;
    g_autofree char *path = scratch_path("litho-test-in-time.sgy");
    LithoSaveOptions save = {.force = TRUE};
    g_assert_true(litho_cube_save(v, path, &save, NULL, NULL));
    g_autofree char *settings = g_strdup_printf("velocity=%s dz=10 nz=61 %s", path, SHORT_OPERATOR);
    g_autoptr(GError) error = NULL;
    g_assert_null(try_migrate(in, NULL, &error, settings));
    g_assert_nonnull(strstr(error->message, "velocity_dz=20"));
    gboolean noted;
    const double t = time_through(in, path, "velocity_dz=20", &noted);
    g_assert_false(noted);
    assert_below(fabs(t - 2 * (200 / 1500.0 + 400 / 3000.0)), 3e-3);
    g_unlink(path);
}

// Property: numbers that are left to the operator are told as it uses them: the padding is the
// border's width, cells and depths are the input's.
static void test_used(void)
{
    LithoGrid grid = time_grid(6, 7, 60, 12.5, 0.004);
    g_autoptr(LithoCube) in = random_cube(&grid, 4);
    LithoReport *report = litho_report_new();
    LithoRun run = {.report = report};
    g_autoptr(LithoCube) out = try_migrate(in, &run, NULL, "velocity=2000 dz=20 sponge=9 degree=9");
    g_assert_nonnull(out);
    double value;
    g_assert_true(litho_report_get(report, "used:migrate.pad", &value));
    g_assert_cmpfloat(value, ==, 9);
    g_assert_true(litho_report_get(report, "used:migrate.nz", &value));
    g_assert_cmpfloat(value, ==, out->grid.axis[LITHO_SAMPLE].n);
    g_assert_true(litho_report_get(report, "used:migrate.dx", &value));
    g_assert_cmpfloat_with_epsilon(value, 12.5, 1e-9);
    g_assert_true(litho_report_get(report, "used:migrate.dy", &value));
    g_assert_cmpfloat_with_epsilon(value, 12.5, 1e-9);
    g_assert_false(litho_report_get(report, "used:migrate.velocity_dz", &value));
    litho_report_unref(report);
}

// A velocity cube that varies in all directions.
static char *varying_velocity(void)
{
    LithoGrid vg = time_grid(9, 8, 40, 40, 20);
    vg.is_depth = TRUE;
    g_autoptr(LithoCube) v = litho_cube_new(&vg, NULL);
    for (gint64 k = 0; k < litho_grid_samples(&vg); k++)
        v->samples[k] = (float)(2000 + 400 * sin(0.37 * k));
    char *path = scratch_path("litho-test-kept.npy");
    LithoSaveOptions save = {.force = TRUE};
    g_assert_true(litho_cube_save(v, path, &save, NULL, NULL));
    return path;
}

static void same_slowness(const LithoMigrateJobs *a, const LithoMigrateJobs *b)
{
    g_assert_cmpint(a->n, ==, b->n);
    for (int k = 0; k < a->n; k++) {
        const LithoMigrateJob *x = a->job[k], *y = b->job[k];
        g_assert_cmpint(x->n_steps, ==, y->n_steps);
        const gsize plane = (gsize)x->cells.nx * x->cells.ny * sizeof(float);
        g_assert_cmpmem(x->slowness, plane * x->n_steps, y->slowness, plane * y->n_steps);
        g_assert_cmpmem(x->slow_min, sizeof(double) * x->n_steps, y->slow_min,
                        sizeof(double) * y->n_steps);
        g_assert_cmpmem(x->slow_max, sizeof(double) * x->n_steps, y->slow_max,
                        sizeof(double) * y->n_steps);
    }
}

// Property: the slowness of all grids is kept while the band or the design moves, made anew when
// cells, steps or the rock do, and always what a fresh start makes.
static void test_kept_velocity(void)
{
    static const struct {
        const char *move;
        gboolean kept;
    } moves[] = {{"fmax=40", TRUE},   {"fmin=5", TRUE},          {"degree=15 max_dip=50", TRUE},
                 {"sponge=4", FALSE}, {"velocity_dz=12", FALSE}, {"step=2", FALSE},
                 {"fmax=45", TRUE}};
    g_autofree char *path = varying_velocity();
    LithoGrid in = time_grid(40, 36, 300, 12.5, 0.004);
    g_autofree char *all =
        g_strdup_printf("velocity=%s velocity_dz=20 nz=120 sponge=6 coarse=on fmax=50", path);
    g_autoptr(LithoFlow) flow = flow_of(all);
    const LithoMigrateParams *p = litho_flow_step(flow, 0)->params;
    g_autoptr(LithoResolved) known = litho_migrate_model_resolve(path, NULL, NULL);
    LithoMigrateJobs jobs = {.n = 0};
    g_assert_true(litho_migrate_jobs_velocity(&jobs, &in, p, known, NULL, NULL));
    g_assert_cmpint(jobs.n, >, 1);
    for (guint k = 0; k < G_N_ELEMENTS(moves); k++) {
        const guint64 serial = jobs.job[0]->slowness_serial;
        set(flow, moves[k].move);
        g_assert_true(litho_migrate_jobs_velocity(&jobs, &in, p, known, NULL, NULL));
        g_test_message("%s: %d grids", moves[k].move, jobs.n);
        g_assert_true((jobs.job[0]->slowness_serial == serial) == moves[k].kept);
        LithoMigrateJobs fresh = {.n = 0};
        g_assert_true(litho_migrate_jobs_velocity(&fresh, &in, p, known, NULL, NULL));
        same_slowness(&jobs, &fresh);
        litho_migrate_jobs_clear(&fresh);
    }
    litho_migrate_jobs_clear(&jobs);
    g_unlink(path);
}

static gpointer cancel_later(gpointer data)
{
    g_usleep(150000);
    g_cancellable_cancel(data);
    return GSIZE_TO_POINTER(g_get_monotonic_time());
}

// Property: a cancel is obeyed within 100 ms on a grid whose run takes many seconds, and the next
// run with the same engine is right.
static void test_cancel(void)
{
    LithoGrid grid = time_grid(150, 150, 200, 12.5, 0.004);
    g_autoptr(LithoCube) in = random_cube(&grid, 4);
    g_autofree char *settings = g_strdup_printf("velocity=2000 dz=2 nz=400 %s", SHORT_OPERATOR);
    g_autoptr(LithoFlow) flow = flow_of(settings);
    LithoEngine *engine = litho_engine_new(litho_device_cpu());
    g_autoptr(GCancellable) cancel = g_cancellable_new();
    LithoRun run = {.cancel = cancel};
    GThread *thread = g_thread_new("cancel", cancel_later, cancel);
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoCube) out = litho_engine_run(engine, flow, in, NULL, &run, &error);
    gint64 back = g_get_monotonic_time();
    gint64 asked = (gint64)GPOINTER_TO_SIZE(g_thread_join(thread));
    g_assert_null(out);
    g_assert_true(litho_error_is_cancelled(error));
    // 100 ms on an idle machine; three times that where other work shares the cores.
    assert_below((back - asked) * 1e-3, 300);

    LithoGrid small = time_grid(9, 9, 100, 12.5, 0.004);
    g_autoptr(LithoCube) other = random_cube(&small, 4);
    g_autoptr(LithoCube) again = litho_engine_run(engine, flow, other, NULL, NULL, NULL);
    g_autoptr(LithoCube) fresh = migrate(other, "%s", settings);
    gsize bytes = litho_grid_samples(&fresh->grid) * sizeof(float);
    g_assert_cmpmem(again->samples, bytes, fresh->samples, bytes);
    litho_engine_free(engine);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/migrate/threads-and-parts", test_threads_and_parts);
    g_test_add_func("/migrate/stages", test_stages);
    g_test_add_func("/migrate/velocity-layer", test_velocity_layer);
    g_test_add_func("/migrate/report", test_report);
    g_test_add_func("/migrate/pause", test_pause);
    g_test_add_func("/migrate/small-grids", test_small_grids);
    g_test_add_func("/migrate/refusals", test_refusals);
    g_test_add_func("/migrate/rows", test_rows);
    g_test_add_func("/migrate/velocity-grid", test_velocity_grid);
    g_test_add_func("/migrate/velocity-interval", test_velocity_interval);
    g_test_add_func("/migrate/velocity-bent-line", test_velocity_bent_line);
    g_test_add_func("/migrate/velocity-in-time", test_velocity_in_time);
    g_test_add_func("/migrate/used", test_used);
    g_test_add_func("/migrate/kept-velocity", test_kept_velocity);
    g_test_add_func("/migrate/cancel", test_cancel);
    return g_test_run();
}
