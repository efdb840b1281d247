// SPDX-License-Identifier: GPL-3.0-or-later
//
// Depth migration between its passes and among processes: engines of a team that fails, more
// processes than frequencies, shots by their traces, planes turned into traces.
#include "core/engine/quality.h"
#include "core/peers.h"
#include "kernels/migrate/cpu/engine.h"
#include "kernels/migrate/plan.h"
#include "kernels/migrate/planes.h"
#include "kernels/migrate/reach.h"
#include "tests/common.h"
#include "tests/migrate_helpers.h"
#include "tests/segy_make.h"

// --- engines of a team ------------------------------------------------------------------------

// The CPU's engine as two devices, of which the second may fail before it has anything to do.
static MigEngineClass two;
static gint tables_made;
static gboolean second_fails;

static int two_devices(void)
{
    return 2;
}

static MigEngine *open_of_two(const LithoGrid *in, int device, GError **error)
{
    MigEngine *engine = mig_cpu.open(in, device, error);
    engine->class = &two;
    return engine;
}

static gboolean count_tables(MigEngine *engine, int b, GError **error)
{
    g_atomic_int_inc(&tables_made);
    return mig_cpu.tables(engine, b, error);
}

static gboolean fail_output(MigEngine *engine, LithoCube *out, gint64 samples, gboolean traces,
                            GError **error)
{
    if (!out && second_fails) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_DEVICE, "the second device is gone");
        return FALSE;
    }
    return mig_cpu.output(engine, out, samples, traces, error);
}

static gboolean gather_nothing(MigEngine *engine, const MigEngine *from, MigSum sum, gsize n,
                               GError **error)
{
    (void)engine, (void)from, (void)sum, (void)n, (void)error;
    return TRUE;
}

// Tables that a pass from `first_stage` on makes; -1 when it fails.
static int pass_of_two(MigPlan *plan, const LithoCube *in, LithoFlow *flow, int first_stage)
{
    const LithoMigrateParams *params = litho_flow_step(flow, 0)->params;
    LithoGrid grid;
    g_assert_true(litho_migrate_output_grid(&in->grid, params, NULL, &grid, NULL));
    g_autoptr(LithoCube) out = litho_cube_new(&grid, NULL);
    g_autoptr(GError) error = NULL;
    LithoRun run = {.devices = 2, .threads = 2};
    const LithoPass pass = {.params = params,
                            .first_stage = first_stage,
                            .in = in,
                            .region = litho_box_full(&grid),
                            .out = out};
    g_atomic_int_set(&tables_made, 0);
    return mig_plan_exec(plan, &pass, &run, &error) ? tables_made : -1;
}

// Property: a pass that failed on one of two devices after a new design leaves neither with the
// tables of the old one: the next pass makes both's anew. One whose tables are good makes none.
static void test_failed_member(void)
{
    LithoGrid grid = time_grid(12, 14, 60, 12, 0.004);
    g_autoptr(LithoCube) in = random_cube(&grid, 3);
    g_autoptr(LithoFlow) flow = flow_of("velocity=2000 nz=20 degree=9");
    two = mig_cpu;
    two.devices = two_devices;
    two.open = open_of_two;
    two.tables = count_tables;
    two.output = fail_output;
    two.gather = gather_nothing;
    two.unite = NULL;
    g_autoptr(GError) error = NULL;
    MigPlan *plan = mig_plan_new(&two, &grid, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpint(pass_of_two(plan, in, flow, 1), ==, 2);
    g_assert_cmpint(pass_of_two(plan, in, flow, LITHO_MIGRATE_STAGE_EXTRAPOLATE), ==, 0);
    set(flow, "degree=11");
    second_fails = TRUE;
    g_assert_cmpint(pass_of_two(plan, in, flow, LITHO_MIGRATE_STAGE_DESIGN), ==, -1);
    second_fails = FALSE;
    g_assert_cmpint(pass_of_two(plan, in, flow, LITHO_MIGRATE_STAGE_EXTRAPOLATE), ==, 2);
    g_assert_cmpint(pass_of_two(plan, in, flow, LITHO_MIGRATE_STAGE_EXTRAPOLATE), ==, 0);
    mig_plan_free(plan);
}

// Property: a process beyond the band's frequencies takes part in every mode, and adds nothing.
static void test_surplus(void)
{
    check_surplus(litho_device_cpu());
}

// --- shots ------------------------------------------------------------------------------------

enum { SHOTS = 3, RECEIVERS = 10 };

static LithoCube *shots_by_headers(void)
{
    Make make = make_plain();
    make.format = 5;
    make.n1 = SHOTS;
    make.n2 = RECEIVERS;
    make.ns = 20;
    g_autoptr(GByteArray) file = make_file(&make);
    for (int n = 0; n < SHOTS * RECEIVERS; n++) {
        const int shot = n % SHOTS, receiver = n / SHOTS; // traces of a shot lie apart
        make_put_head16(file, &make, n, 71, 1);
        make_put_head32(file, &make, n, 73, 1000 + 20 * shot);
        make_put_head32(file, &make, n, 77, 500);
        make_put_head32(file, &make, n, 81, receiver == 9 ? 9000 : 1000 + 10 * receiver);
        make_put_head32(file, &make, n, 85, 510);
    }
    g_autofree char *path = scratch_path("litho-test-plan-shots.sgy");
    g_assert_true(g_file_set_contents(path, (char *)file->data, file->len, NULL));
    LithoOpenOptions options = {.file_order = TRUE, .keep_zero_traces = TRUE};
    g_autoptr(GError) error = NULL;
    LithoCube *cube = litho_cube_load(path, &options, NULL, &error);
    g_assert_no_error(error);
    g_unlink(path); // the cube keeps it open
    return cube;
}

// Property: every shot names its own traces in the input's order, with their receivers' cells; dead
// ones and those off the image belong to none. Headers are read again when the live traces or the
// image change, and not else; a cancel ends the reading.
static void test_shots(void)
{
    g_autoptr(LithoCube) in = shots_by_headers();
    g_autoptr(LithoFlow) flow = flow_of("mode=shot geometry=headers nx=10 ny=3 dx=10 dy=10 "
                                        "origin_x=1000 origin_y=500 velocity=2000 nz=10");
    LithoMigrateParams *p = litho_flow_step(flow, 0)->params;
    g_autoptr(LithoMigrateJob) job = litho_migrate_job_new(&in->grid, p, NULL, NULL, NULL, NULL);
    in->live[4] = 0; // shot 1, receiver 1
    LithoShots *shots = litho_shots_new(job, in, NULL, NULL);
    g_assert_nonnull(shots);
    g_assert_cmpint(shots->n, ==, SHOTS);
    g_assert_cmpint(shots->outside, ==, SHOTS);
    for (int k = 0; k < SHOTS; k++) {
        const LithoShotTraces t = litho_shots_traces(shots, k);
        g_assert_cmpint(t.n, ==, k == 1 ? 8 : 9);
        for (int m = 0; m < t.n; m++) {
            const int receiver = k == 1 && m > 0 ? m + 1 : m;
            g_assert_cmpint(t.trace[m], ==, receiver * SHOTS + k);
            g_assert_cmpint(t.row[m], ==, 1);
            g_assert_cmpint(t.column[m], ==, receiver);
        }
    }
    g_assert_true(litho_shots_serve(shots, job, in));
    in->live[4] = 1;
    g_assert_false(litho_shots_serve(shots, job, in));
    in->live[4] = 0;
    job->image.origin[0] += 10;
    g_assert_false(litho_shots_serve(shots, job, in));
    job->image.origin[0] -= 10;
    job->params.geometry = LITHO_MIGRATE_RECORD;
    g_assert_false(litho_shots_serve(shots, job, in));
    job->params.geometry = LITHO_MIGRATE_HEADERS;
    g_assert_true(litho_shots_serve(shots, job, in));
    g_assert_false(litho_shots_serve(NULL, job, in));
    litho_shots_free(shots);

    g_autoptr(GCancellable) cancel = g_cancellable_new();
    g_autoptr(GError) error = NULL;
    LithoRun run = {.cancel = cancel};
    g_cancellable_cancel(cancel);
    g_assert_null(litho_shots_new(job, in, &run, &error));
    g_assert_true(litho_error_is_cancelled(error));
}

// Property: sources far apart on a long image are two shots, also where one number made of both
// coordinates would be the same.
static void test_far_shots(void)
{
    static const int places[2][2] = {{110100, 50000}, {110000, 1050003}}; // cm
    Make make = make_plain();
    make.format = 5;
    make.n1 = 1;
    make.n2 = 2;
    make.ns = 20;
    g_autoptr(GByteArray) file = make_file(&make);
    for (int n = 0; n < 2; n++)
        for (int word = 0; word < 4; word++) // source and receiver
            make_put_head32(file, &make, n, 73 + 4 * word, places[n][word % 2]);
    g_autofree char *path = scratch_path("litho-test-far-shots.sgy");
    g_assert_true(g_file_set_contents(path, (char *)file->data, file->len, NULL));
    LithoOpenOptions options = {.file_order = TRUE, .keep_zero_traces = TRUE, .xy_scalar = -100};
    g_autoptr(LithoCube) in = litho_cube_load(path, &options, NULL, NULL);
    g_autoptr(LithoFlow) flow = flow_of("mode=shot geometry=headers nx=3 ny=10002 dx=100 dy=1 "
                                        "origin_x=1000 origin_y=500 velocity=2000 nz=10");
    LithoMigrateParams *p = litho_flow_step(flow, 0)->params;
    g_autoptr(LithoMigrateJob) job = litho_migrate_job_new(&in->grid, p, NULL, NULL, NULL, NULL);
    LithoShots *shots = litho_shots_new(job, in, NULL, NULL);
    g_assert_cmpint(shots->outside, ==, 0);
    g_assert_cmpint(shots->n, ==, 2);
    litho_shots_free(shots);
    g_unlink(path);
}

// --- planes -----------------------------------------------------------------------------------

// Property: planes and traces turn into each other exactly at sizes that fill no tile, for all
// depths and for some; dead traces and numbers that are none become 0; a cancel ends both.
static void test_planes(void)
{
    enum { NI = 5, NJ = 67, NZ = 70, FIRST = 3, SOME = 41 };
    LithoGrid grid = litho_grid_new(NI, NJ, NZ);
    g_autoptr(LithoCube) cube = random_cube(&grid, 5);
    g_autofree float *planes = g_new(float, NI *NJ *NZ);
    cube->live[NJ + 2] = 0;
    litho_cube_trace(cube, 2, 3)[4] = NAN;
    g_assert_true(litho_migrate_cube_to_planes(cube, planes, NULL, NULL));
    for (int z = 0; z < NZ; z++)
        for (int i = 0; i < NI; i++)
            for (int j = 0; j < NJ; j++) {
                const float v = litho_cube_trace(cube, i, j)[z];
                const gboolean none = (i == 1 && j == 2) || isnan(v);
                g_assert_cmpfloat(planes[(z * NI + i) * NJ + j], ==, none ? 0 : v);
            }
    LithoBox box = litho_box_full(&grid);
    box.lo[2] = FIRST;
    box.hi[2] = FIRST + SOME;
    g_autoptr(LithoCube) part = litho_cube_new_box(&grid, box, NULL);
    g_assert_true(litho_migrate_planes_to_cube(planes + NI * NJ * FIRST, FIRST, SOME, 0.5f, part,
                                               NULL, NULL));
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NJ; j++)
            for (int z = 0; z < SOME; z++)
                g_assert_cmpfloat(litho_cube_trace(part, i, j)[z], ==,
                                  0.5f * planes[((z + FIRST) * NI + i) * NJ + j]);
    g_autoptr(GCancellable) cancel = g_cancellable_new();
    LithoRun run = {.cancel = cancel};
    g_cancellable_cancel(cancel);
    for (int back = 0; back < 2; back++) {
        g_autoptr(GError) error = NULL;
        g_assert_false(back ? litho_migrate_cube_to_planes(cube, planes, &run, &error)
                            : litho_migrate_planes_to_cube(planes, 0, NZ, 1, cube, &run, &error));
        g_assert_true(litho_error_is_cancelled(error));
    }
}

// --- how deep a record sees --------------------------------------------------------------------

// Samples of a trace above `size` that lie more than a wavelength from the depths of both events.
static int strays(const LithoCube *image, const double depth[2], double size)
{
    const LithoAxis *z = &image->grid.axis[2];
    int n = 0;
    for (gint64 k = 5; k < z->n; k++) {
        const double at = k * z->step;
        const gboolean near = fabs(at - depth[0]) < 90 || fabs(at - depth[1]) < 90;
        n += !near && fabs(litho_cube_trace(image, 0, 0)[k]) > size;
    }
    return n;
}

// Property: an image ends where the record's last echo can come from, whatever rock the table has
// deeper and however many lines it gives to it, and nothing comes back from a period later or
// sooner: 1500 m/s down to 3000 m see 750 m in 1 s; a record from 2 to 3 s shows nothing above.
// A mean over the lines of this table gave 2360 m and ghosts of 0.96 of the reflectors.
static void test_reach(void)
{
    g_autoptr(GString) table = g_string_new("0 1500\n3000 1500\n");
    for (int k = 1; k <= 20; k++)
        g_string_append_printf(table, "%d 6000\n", 3000 + k);
    g_autofree char *path = scratch_path("litho-test-reach.txt");
    g_assert_true(g_file_set_contents(path, table->str, table->len, NULL));
    for (int late = 0; late < 2; late++) {
        const double first = late ? 2 : 0, times[2] = {first + 0.3, first + 0.85};
        const double v = late ? 2000 : 1500, depth[2] = {times[0] * v / 2, times[1] * v / 2};
        LithoGrid grid = time_grid(1, 1, 250, 25, 0.004);
        grid.axis[2].first = first;
        g_autoptr(LithoCube) in = litho_cube_new(&grid, NULL);
        for (int k = 0; k < 2; k++)
            add_event(in, 0, 0, times[k], 20, 1);
        g_autoptr(LithoCube) image = migrate(in, "velocity=%s dz=5 engine=splitstep fmax=50 nz=%d",
                                             late ? "2000" : path, late ? 300 : 0);
        g_assert_cmpint(strays(image, depth, 0.1), ==, 0);
        if (!late)
            g_assert_cmpint(image->grid.axis[2].n, ==, 151);
        g_autoptr(LithoCube) deep =
            migrate(in, "velocity=%s dz=5 engine=splitstep fmax=50 nz=600", late ? "2000" : path);
        g_assert_cmpint(strays(deep, depth, 0.1), ==, 0);
    }
    g_unlink(path);
}

// Property: the fastest and the slowest of two columns, and a column of each depth's fastest rock.
static void test_columns(void)
{
    const float traces[2][3] = {{1000, 4000, 4000}, {2000, 2000, 1000}};
    g_autoptr(LithoReach) reach = litho_reach_new(3);
    for (int k = 0; k < 2; k++) {
        g_autoptr(LithoReach) one = litho_reach_new(3);
        litho_reach_add(one, traces[k], 1);
        litho_reach_merge(reach, one);
    }
    litho_reach_finish(reach);
    const double at[] = {-1, 0.5, 2, 4};
    const double ms[3][4] = {{-0.5, 0.25, 1, 1.75}, {-1, 0.5, 1.25, 3}, {-0.5, 0.25, 0.75, 1.25}};
    for (int c = LITHO_COLUMN_FAST; c <= LITHO_COLUMN_LEAST; c++)
        for (int k = 0; k < 4; k++)
            g_assert_cmpfloat_with_epsilon(litho_reach_time(reach, c, at[k]), 1e-3 * ms[c][k],
                                           1e-12);
}

// Property: an image is no filtered record, with as many depths as the record has times either, and
// no noise judges it.
static void test_as_many_depths(void)
{
    LithoGrid grid = time_grid(3, 8, 40, 20, 0.004);
    g_autoptr(LithoCube) in = random_cube(&grid, 3);
    g_autoptr(LithoFlow) flow = flow_of("velocity=2000 nz=40");
    g_autoptr(GError) error = NULL;
    g_assert_false(litho_quality_check(flow, &in->grid, &error));
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, "another grid"));
    LithoGrid image;
    g_assert_true(
        litho_migrate_output_grid(&grid, litho_flow_step(flow, 0)->params, NULL, &image, NULL));
    g_assert_true(litho_grid_same_shape(&grid, &image));
    g_assert_false(litho_grid_matches(&grid, &image));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/migrate-plan/failed-member", test_failed_member);
    g_test_add_func("/migrate-plan/surplus", test_surplus);
    g_test_add_func("/migrate-plan/shots", test_shots);
    g_test_add_func("/migrate-plan/far-shots", test_far_shots);
    g_test_add_func("/migrate-plan/planes", test_planes);
    g_test_add_func("/migrate-plan/reach", test_reach);
    g_test_add_func("/migrate-plan/columns", test_columns);
    g_test_add_func("/migrate-plan/as-many-depths", test_as_many_depths);
    return test_run();
}
